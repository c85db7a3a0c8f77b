//! Charts times as dots with intervals on one logarithmic axis, with a panel for each runtime.

use regauge_measure::report::{Series, Timing};
use regauge_measure::{Report, groups, is_in};

use super::{Drawing, Figure, NORMAL, Part, Room, SMALL};
use super::{fitted, heading, heading_height, within};
use crate::canvas::{Anchor, Canvas, Font, Ink};
use crate::names;
use crate::scale::Scale;
use crate::table::{Cell, Column, Table};
use crate::text::{Unit, label, margin};

/// One contender's dot.
struct Dot<'a> {
    name: String,
    format: String,
    /// Which of the formats it is: gives shape and colour.
    kind: usize,
    series: &'a Series,
}

/// The contenders of one runtime that give the same.
struct Panel<'a> {
    title: String,
    dots: Vec<Dot<'a>>,
}

/// Returns the charts for decoding and encoding, if anything was timed.
pub fn figures(report: &Report) -> Vec<Figure> {
    type Part = fn(&Timing) -> &Series;
    let parts: [(&str, &str, Part); 2] = [
        ("decode", "Time to decode, bytes to objects", |timing| &timing.decode),
        ("encode", "Time to encode, objects to bytes", |timing| &timing.encode),
    ];
    parts.iter().filter_map(|(id, title, part)| figure(report, id, title, *part)).collect()
}

fn figure(report: &Report, id: &str, title: &str, part: fn(&Timing) -> &Series) -> Option<Figure> {
    let mut formats: Vec<&str> = report.rows.iter().map(|row| row.format.as_str()).collect();
    formats.sort_unstable();
    formats.dedup();
    let mut panels = Vec::new();
    for (runtime, gives) in groups(report) {
        let title = label(&names::group(report, runtime, gives), 60);
        let mut panel = Panel { title, dots: Vec::new() };
        for row in report.rows.iter().filter(|row| is_in(row, runtime, gives)) {
            let Some(timing) = &row.timing else { continue };
            let series = part(timing);
            if !(series.estimate_ns.median.is_finite() && series.estimate_ns.median > 0.0) {
                continue;
            }
            panel.dots.push(Dot {
                name: label(&names::versioned(row), 48),
                format: label(&row.format, 20),
                kind: formats.iter().position(|one| *one == row.format).unwrap_or(0),
                series,
            });
        }
        let median = |dot: &Dot| dot.series.estimate_ns.median;
        panel.dots.sort_by(|one, other| median(one).total_cmp(&median(other)));
        if !panel.dots.is_empty() {
            panels.push(panel);
        }
    }
    if panels.is_empty() {
        return None;
    }
    let figure = Figure::new(Part::Speed, id, title, data(title, &panels), |room| {
        drawing(title, &panels, room)
    });
    let caption = "A dot is the median, the line through it the 95% interval; rings are outliers, \
                   which are included like all other samples. The axis is logarithmic: equal steps \
                   are equal factors.";
    Some(figure.described(description(&panels), caption))
}

fn description(panels: &[Panel]) -> String {
    let sentences: Vec<String> = panels
        .iter()
        .map(|panel| {
            let figure = |dot: &Dot| Unit::Time.figure(dot.series.estimate_ns.median);
            let (first, last) = (&panel.dots[0], &panel.dots[panel.dots.len() - 1]);
            match panel.dots.len() {
                1 => format!("{}: {} {}.", panel.title, first.name, figure(first)),
                count => format!(
                    "{}: {count} libraries, from {} with {} to {} with {}.",
                    panel.title,
                    first.name,
                    figure(first),
                    last.name,
                    figure(last)
                ),
            }
        })
        .collect();
    sentences.join(" ")
}

fn data(title: &str, panels: &[Panel]) -> Table {
    let mut data = Table::new(
        title,
        vec![
            Column::text("library"),
            Column::text("format"),
            Column::text("runtime"),
            Column::number("median"),
            Column::number("95% interval"),
            Column::number("samples"),
            Column::number("outliers"),
        ],
    );
    for panel in panels {
        for dot in &panel.dots {
            let estimate = &dot.series.estimate_ns;
            let interval = format!(
                "{} – {}",
                Unit::Time.figure(estimate.low),
                Unit::Time.figure(estimate.high)
            );
            data.push(vec![
                Cell::text(&dot.name),
                Cell::text(&dot.format),
                Cell::text(&panel.title),
                Cell::figure(estimate.median, &Unit::Time),
                Cell::text(interval),
                Cell::count(dot.series.samples_ns.len() as u64),
                Cell::count(dot.series.outliers.len() as u64),
            ]);
        }
    }
    data
}

/// Returns the samples that the report calls outliers.
fn outliers(series: &Series) -> impl Iterator<Item = f64> + '_ {
    series
        .outliers
        .iter()
        .filter_map(|index| series.samples_ns.get(usize::try_from(*index).ok()?).copied())
        .filter(|sample| sample.is_finite() && *sample > 0.0)
}

/// Returns everything that has to fit on the axis.
fn extent(panels: &[Panel]) -> Vec<f64> {
    let mut values = Vec::new();
    for panel in panels {
        for dot in &panel.dots {
            let estimate = &dot.series.estimate_ns;
            values.extend([estimate.low, estimate.median, estimate.high]);
            values.extend(outliers(dot.series));
        }
    }
    values
}

/// Where things stand.
struct Layout {
    room: Room,
    left: f64,
    right: f64,
    row: f64,
    panel_head: f64,
}

impl Layout {
    fn new(panels: &[Panel], room: Room) -> Layout {
        let dots = || panels.iter().flat_map(|panel| &panel.dots);
        let widest = |width: fn(&Dot) -> f64| dots().map(width).fold(0.0, f64::max);
        let figures = widest(|dot| {
            Font::new(SMALL, Ink::Text).bold().width(&figure_of(dot))
                + Font::new(SMALL, Ink::Muted).width(&margin_of(dot))
        });
        if room.is_wide() {
            let names = widest(|dot| {
                Font::new(NORMAL, Ink::Text).width(&dot.name)
                    + Font::new(SMALL, Ink::Muted).width(&dot.format)
            });
            let left = (names + 30.0).min(310.0);
            Layout { room, left, right: room.width() - figures - 26.0, row: 22.0, panel_head: 26.0 }
        } else {
            let right = room.width() - 10.0;
            Layout { room, left: 10.0, right, row: 38.0, panel_head: 24.0 }
        }
    }

    fn height(&self, panel: &Panel) -> f64 {
        self.panel_head + panel.dots.len() as f64 * self.row + 14.0
    }
}

fn figure_of(dot: &Dot) -> String {
    Unit::Time.figure(dot.series.estimate_ns.median)
}

fn margin_of(dot: &Dot) -> String {
    margin(&dot.series.estimate_ns)
}

fn drawing(title: &str, panels: &[Panel], room: Room) -> Drawing {
    let layout = Layout::new(panels, room);
    let scale = Scale::log(extent(panels), Unit::Time);
    let top = heading_height(title, room);
    let body: f64 = panels.iter().map(|panel| layout.height(panel)).sum();
    let axis = 34.0;
    Drawing::new(room.width(), top + body + axis, |canvas: &Canvas| {
        heading(canvas, title, room);
        let x = |value: f64| layout.left + (layout.right - layout.left) * scale.share(value);
        let ticks = scale.ticks(if room.is_wide() { 8 } else { 4 });
        for tick in &ticks {
            canvas.line(&[(x(*tick), top + 4.0), (x(*tick), top + body)], Ink::Grid, 1.0);
        }
        let mut y = top;
        for panel in panels {
            draw_panel(canvas, panel, &layout, y, &x);
            y += layout.height(panel);
        }
        canvas.line(&[(layout.left, y), (layout.right, y)], Ink::Faint, 1.0);
        for tick in &ticks {
            canvas.line(&[(x(*tick), y), (x(*tick), y + 4.0)], Ink::Faint, 1.0);
            let text = scale.tick(*tick);
            let font = Font::new(SMALL, Ink::Muted);
            let half = font.width(&text) / 2.0;
            let place = within(x(*tick), half, 0.0, room.width());
            canvas.text(&text, (place, y + 13.0), Anchor::Middle, font);
        }
    })
}

fn draw_panel(canvas: &Canvas, panel: &Panel, layout: &Layout, top: f64, x: &impl Fn(f64) -> f64) {
    let wide = layout.room.is_wide();
    let head = Font::new(NORMAL, Ink::Text).bold();
    canvas.rect((0.0, top), (layout.room.width(), top + 20.0), Ink::Grid, 0.55);
    canvas.text(
        &fitted(&panel.title, head, layout.room.width() - 8.0),
        (4.0, top + 10.0),
        Anchor::Start,
        head,
    );
    let rows_top = top + layout.panel_head;
    for (index, dot) in panel.dots.iter().enumerate() {
        let row = rows_top + layout.row * index as f64;
        let line = if wide { row + layout.row / 2.0 } else { row + 27.0 };
        let words = if wide { line } else { row + 11.0 };
        draw_words(canvas, dot, layout, words);
        let ink = Ink::Series(dot.kind);
        let estimate = &dot.series.estimate_ns;
        canvas.line(&[(layout.left, line), (layout.right, line)], Ink::Grid, 0.6);
        canvas.line(&[(x(estimate.low), line), (x(estimate.high), line)], ink, 2.2);
        for end in [estimate.low, estimate.high] {
            canvas.line(&[(x(end), line - 3.5), (x(end), line + 3.5)], ink, 1.4);
        }
        for sample in outliers(dot.series) {
            canvas.ring((x(sample), line), 3.2, ink);
        }
        canvas.marker((x(estimate.median), line), 4.2, dot.kind, ink);
    }
}

fn draw_words(canvas: &Canvas, dot: &Dot, layout: &Layout, y: f64) {
    let (name, format) = (Font::new(NORMAL, Ink::Text), Font::new(SMALL, Ink::Muted));
    let (figure, side) = (Font::new(SMALL, Ink::Text).bold(), Font::new(SMALL, Ink::Muted));
    let margin = margin_of(dot);
    let edge = layout.room.width() - 4.0;
    let figure_end = edge - side.width(&margin) - 5.0;
    canvas.text(&margin, (edge, y), Anchor::End, side);
    canvas.text(&figure_of(dot), (figure_end, y), Anchor::End, figure);
    // What the name may take: up to the axis, or up to the figure.
    let end = if layout.room.is_wide() {
        layout.left - 14.0
    } else {
        figure_end - figure.width(&figure_of(dot)) - 8.0
    };
    let text = fitted(&dot.name, name, end - 10.0 - format.width(&dot.format));
    canvas.text(&text, (4.0, y), Anchor::Start, name);
    let beside = 4.0 + name.width(&text) + 6.0;
    canvas.text(&dot.format, (beside, y), Anchor::Start, format);
}
