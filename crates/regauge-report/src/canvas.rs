//! Drawing: plotters' elements and its SVG backend, in points of the page.
//!
//! plotters counts whole pixels, so everything is drawn [`FINE`] times as large and scaled back by
//! the `viewBox`. Colours are few and fixed ([`Ink`]); the page's style sheet turns each of them
//! into one of its theme, which is why nothing else may set a colour.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider as _};

use crate::scale::Scale;

/// Drawn pixels for each point.
const FINE: f64 = 10.0;

/// The fonts of labels: Inter, cut down to Latin, Greek, Cyrillic and signs (see `fonts/LICENSE.txt`).
pub const REGULAR: &[u8] = include_bytes!("fonts/Inter-Regular.otf");
/// The heavier cut.
pub const SEMIBOLD: &[u8] = include_bytes!("fonts/Inter-SemiBold.otf");

/// What a text asks for, in the order of preference.
const FAMILY: &str = "Inter, system-ui, sans-serif";

/// A colour by its role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// The background.
    Surface,
    /// Primary text.
    Text,
    /// Secondary text.
    Muted,
    /// Lines that only guide the eye.
    Grid,
    /// Lines that are not the point of the chart.
    Faint,
    /// One of [`SERIES`], turning round.
    Series(usize),
}

/// Colours that people with any kind of colour vision can distinguish, each with a contrast of at
/// least 3 to 1 against white (Okabe and Ito's, darkened if needed). No chart relies on colour
/// alone.
pub const SERIES: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xC9, 0x51, 0x00),
    RGBColor(0x00, 0x80, 0x5E),
    RGBColor(0xA6, 0x46, 0x88),
    RGBColor(0x85, 0x6A, 0x00),
    RGBColor(0x3E, 0x4A, 0x89),
];

impl Ink {
    fn rgb(self) -> RGBColor {
        match self {
            Ink::Surface => RGBColor(0xFF, 0xFF, 0xFF),
            Ink::Text => RGBColor(0x1C, 0x1F, 0x24),
            Ink::Muted => RGBColor(0x5B, 0x61, 0x6B),
            Ink::Grid => RGBColor(0xE3, 0xE5, 0xE9),
            Ink::Faint => RGBColor(0xB9, 0xBE, 0xC7),
            Ink::Series(index) => SERIES[index % SERIES.len()],
        }
    }
}

/// The position of a text relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins there.
    Start,
    /// It has its middle there.
    Middle,
    /// It ends there.
    End,
}

/// How a text looks.
#[derive(Debug, Clone, Copy)]
pub struct Font {
    /// Points.
    pub size: f64,
    /// Heavier.
    pub bold: bool,
    /// Its colour.
    pub ink: Ink,
}

impl Font {
    /// Returns a plain font of this size.
    pub fn new(size: f64, ink: Ink) -> Font {
        Font { size, bold: false, ink }
    }

    /// Returns a bold font of this size.
    pub fn bold(self) -> Font {
        Font { bold: true, ..self }
    }

    /// Returns the width of a text, in points. Characters that the font lacks count as one em.
    pub fn width(self, text: &str) -> f64 {
        let data = if self.bold { SEMIBOLD } else { REGULAR };
        let font = FontRef::new(data).expect("the font is whole");
        let metrics = font.glyph_metrics(Size::new(self.size as f32), LocationRef::default());
        let glyphs = font.charmap();
        let width = |character| match glyphs.map(character) {
            Some(glyph) => f64::from(metrics.advance_width(glyph).unwrap_or(0.0)),
            None => self.size,
        };
        // Other fonts of the kind, which a page may use instead, are a little wider.
        text.chars().map(width).sum::<f64>() * 1.04
    }
}

/// A marker's outline.
const SHAPES: [&[(f64, f64)]; 4] = [
    &[],
    &[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)],
    &[(0.0, -1.35), (1.25, 0.95), (-1.25, 0.95)],
    &[(0.0, -1.4), (1.4, 0.0), (0.0, 1.4), (-1.4, 0.0)],
];

/// A drawing in the making.
pub struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

/// Draws a chart of this size in points: the inner part of an SVG document whose `viewBox` is ten
/// times as large.
pub fn draw(width: f64, height: f64, picture: impl FnOnce(&Canvas)) -> String {
    let mut text = String::new();
    {
        let size = (fine(width) as u32, fine(height) as u32);
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let canvas = Canvas { area };
        canvas.rect((0.0, 0.0), (width, height), Ink::Surface, 1.0);
        picture(&canvas);
        done(canvas.area.present());
    }
    let inner = text.split_once('>').map_or("", |(_, inner)| inner);
    inner.trim_end().trim_end_matches("</svg>").trim().replace("opacity=\"1\" ", "")
}

/// Returns the `viewBox` of a drawing of this size.
pub fn view_box(width: f64, height: f64) -> String {
    format!("0 0 {} {}", fine(width), fine(height))
}

fn fine(points: f64) -> i32 {
    (points * FINE).round() as i32
}

fn at((x, y): (f64, f64)) -> (i32, i32) {
    (fine(x), fine(y))
}

fn done<E: std::fmt::Debug>(result: Result<(), E>) {
    result.expect("a drawing in memory does not fail");
}

impl<'a> Canvas<'a> {
    /// Draws a filled rectangle.
    pub fn rect(&self, from: (f64, f64), to: (f64, f64), ink: Ink, opacity: f64) {
        let style = ink.rgb().mix(opacity).filled();
        done(self.area.draw(&Rectangle::new([at(from), at(to)], style)));
    }

    /// Draws a line through points.
    pub fn line(&self, points: &[(f64, f64)], ink: Ink, width: f64) {
        let points: Vec<(i32, i32)> = points.iter().map(|point| at(*point)).collect();
        let style = ink.rgb().stroke_width(fine(width) as u32);
        done(self.area.draw(&PathElement::new(points, style)));
    }

    /// Draws a dashed straight line.
    pub fn dashes(&self, from: (f64, f64), to: (f64, f64), ink: Ink, width: f64) {
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let (dash, gap) = (4.0, 3.0);
        let along = |way: f64| {
            let share = (way / length).min(1.0);
            (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share)
        };
        let mut way = 0.0;
        while way < length {
            self.line(&[along(way), along(way + dash)], ink, width);
            way += dash + gap;
        }
    }

    /// Draws a filled marker; `shape` cycles like colours do, so that both identify the same thing.
    pub fn marker(&self, place: (f64, f64), radius: f64, shape: usize, ink: Ink) {
        let outline = SHAPES[shape % SHAPES.len()];
        let style = ink.rgb().filled();
        if outline.is_empty() {
            done(self.area.draw(&Circle::new(at(place), fine(radius), style)));
        } else {
            let points: Vec<(i32, i32)> = outline
                .iter()
                .map(|(x, y)| at((place.0 + x * radius * 0.95, place.1 + y * radius * 0.95)))
                .collect();
            done(self.area.draw(&Polygon::new(points, style)));
        }
    }

    /// Draws a ring.
    pub fn ring(&self, place: (f64, f64), radius: f64, ink: Ink) {
        let style = ink.rgb().stroke_width(fine(1.1) as u32);
        done(self.area.draw(&Circle::new(at(place), fine(radius), style)));
    }

    /// Draws a line of text, vertically centred at this height.
    pub fn text(&self, text: &str, place: (f64, f64), anchor: Anchor, font: Font) {
        let h_pos = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let style = if font.bold { FontStyle::Bold } else { FontStyle::Normal };
        // The backend divides by 1.24.
        let size = font.size * FINE * 1.24;
        let style = FontDesc::new(FontFamily::Name(FAMILY), size, style)
            .color(&font.ink.rgb())
            .pos(Pos::new(h_pos, VPos::Center));
        done(self.area.draw_text(text, &style, at(place)));
    }

    /// Returns a part of the drawing with its own axes, from the top left to the bottom right; `y`
    /// grows upwards.
    pub fn plot(&self, from: (f64, f64), to: (f64, f64), x: &Scale, y: &Scale) -> Plot<'a> {
        let ((left, top), (right, bottom)) = (at(from), at(to));
        let axes = Cartesian2d::new(x.clone(), y.clone(), (left..right, bottom..top));
        Plot { area: self.area.apply_coord_spec(axes) }
    }
}

/// A part of a drawing with axes.
pub struct Plot<'a> {
    area: DrawingArea<SVGBackend<'a>, Cartesian2d<Scale, Scale>>,
}

impl Plot<'_> {
    /// Draws a line through places on the axes.
    pub fn line(&self, points: &[(f64, f64)], ink: Ink, width: f64) {
        let style = ink.rgb().stroke_width(fine(width) as u32);
        done(self.area.draw(&PathElement::new(points.to_vec(), style)));
    }

    /// Returns the position of a place on the axes, in points.
    pub fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let (x, y) = self.area.map_coordinate(&(x, y));
        (f64::from(x) / FINE, f64::from(y) / FINE)
    }
}
