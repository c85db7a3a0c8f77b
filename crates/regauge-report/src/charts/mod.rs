//! Every chart: drawn for a wide page and for a phone, with the figures that it shows.

pub mod costs;
mod dots;
mod front;
mod labels;
mod lines;
mod noise;
pub mod prefixes;
mod sizes;

use maud::{Markup, PreEscaped, html};
use regauge_measure::Report;

use crate::canvas::{self, Anchor, Canvas, Font, Ink};
use crate::table::Table;
use crate::text::{self, slug};

/// A page has room for this many points, and so has an SVG or PNG file.
const WIDE: f64 = 860.0;
/// A phone has room for this many.
const NARROW: f64 = 340.0;

/// Which part of the report a chart belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Size against time, beside the answer.
    Answer,
    /// Sizes.
    Sizes,
    /// Times.
    Speed,
    /// Cost over bandwidth.
    Costs,
    /// The named task's own.
    Task,
    /// How quiet the machine was.
    Noise,
}

/// A chart.
pub struct Figure {
    /// The section it belongs to.
    pub part: Part,
    /// Its name in file names and in the page: letters, digits and hyphens.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// A description for people who cannot see it.
    pub description: String,
    /// How to read it, below.
    pub caption: String,
    /// Its figures.
    pub data: Table,
    wide: Drawing,
    narrow: Drawing,
}

/// A drawing of a chart at one width.
struct Drawing {
    width: f64,
    height: f64,
    inner: String,
}

impl Drawing {
    fn new(width: f64, height: f64, picture: impl FnOnce(&Canvas)) -> Drawing {
        Drawing { width, height, inner: canvas::draw(width, height, picture) }
    }
}

/// Room on the page, as far as drawings mind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    Wide,
    Narrow,
}

impl Room {
    fn width(self) -> f64 {
        match self {
            Room::Wide => WIDE,
            Room::Narrow => NARROW,
        }
    }

    fn is_wide(self) -> bool {
        self == Room::Wide
    }
}

impl Figure {
    fn new(
        part: Part,
        id: impl Into<String>,
        title: impl AsRef<str>,
        data: Table,
        draw: impl Fn(Room) -> Drawing,
    ) -> Figure {
        Figure {
            part,
            id: id.into(),
            title: text::visible(title.as_ref()),
            description: String::new(),
            caption: String::new(),
            data,
            wide: draw(Room::Wide),
            narrow: draw(Room::Narrow),
        }
    }

    fn described(mut self, description: impl AsRef<str>, caption: &str) -> Figure {
        self.description = text::visible(description.as_ref());
        caption.clone_into(&mut self.caption);
        self
    }

    /// Returns the chart as an SVG file.
    pub fn svg(&self) -> String {
        html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(self.wide.width) height=(self.wide.height)
                viewBox=(canvas::view_box(self.wide.width, self.wide.height)) role="img" {
                title { (self.title) }
                desc { (self.description) }
                (PreEscaped(&self.wide.inner))
            }
        }
        .into_string()
    }

    /// Returns the chart in the page, with its figures to unfold.
    pub fn html(&self) -> Markup {
        let id = &self.id;
        html! {
            figure id={ "chart-" (id) } {
                (self.drawing(&self.wide, "wide"))
                (self.drawing(&self.narrow, "narrow"))
                @if !self.caption.is_empty() { figcaption { (self.caption) } }
                details {
                    summary { "The figures of this chart" }
                    (self.data.html(&format!("data-{id}")))
                }
            }
        }
    }

    fn drawing(&self, drawing: &Drawing, class: &str) -> Markup {
        let (title, description) =
            (format!("t-{}-{class}", self.id), format!("d-{}-{class}", self.id));
        html! {
            svg class={ "chart " (class) } role="img"
                aria-labelledby=(title) aria-describedby=(description)
                viewBox=(canvas::view_box(drawing.width, drawing.height)) {
                title id=(title) { (self.title) }
                desc id=(description) { (self.description) }
                (PreEscaped(&drawing.inner))
            }
        }
    }
}

/// Returns all charts of a report.
pub fn all(report: &Report) -> Vec<Figure> {
    let mut figures = Vec::new();
    figures.extend(front::figure(report));
    figures.extend(sizes::figure(report));
    figures.extend(dots::figures(report));
    if let Some(costs) = &report.costs {
        figures.extend(costs::figures(report, costs));
    }
    if let Some(task) = &report.task {
        for (index, chart) in task.charts.iter().enumerate() {
            let id = match slug(&chart.title) {
                name if name.is_empty() => format!("task-{}", index + 1),
                name => format!("task-{}-{name}", index + 1),
            };
            figures.push(lines::figure(id, chart));
        }
    }
    figures.extend(report.noise.as_ref().and_then(noise::figure));
    figures
}

/// The size of labels.
const SMALL: f64 = 11.0;
/// The size of the names of rows.
const NORMAL: f64 = 12.5;

/// Draws the title above a drawing; returns the height at which it ends.
fn heading(canvas: &Canvas, title: &str, room: Room) -> f64 {
    let font = Font::new(if room.is_wide() { 15.0 } else { 14.0 }, Ink::Text).bold();
    let mut y = 14.0;
    for line in wrapped(&text::label(title, 160), font, room.width() - 8.0) {
        // A single word may be longer than a line.
        let line = fitted(&line, font, room.width() - 8.0);
        canvas.text(&line, (4.0, y), Anchor::Start, font);
        y += 19.0;
    }
    y - 4.0
}

/// Returns the height that a title takes.
fn heading_height(title: &str, room: Room) -> f64 {
    let font = Font::new(if room.is_wide() { 15.0 } else { 14.0 }, Ink::Text).bold();
    let lines = wrapped(&text::label(title, 160), font, room.width() - 8.0).len();
    16.0 + 19.0 * lines as f64
}

/// Wraps text to a width.
fn wrapped(text: &str, font: Font, width: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is one");
        let with = if last.is_empty() { word.to_owned() } else { format!("{last} {word}") };
        if font.width(&with) <= width || last.is_empty() {
            *last = with;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Returns the centre position that keeps a text between two ends, as close to the wanted position
/// as possible. A text that does not fit begins at the first end.
fn within(wish: f64, half: f64, low: f64, high: f64) -> f64 {
    wish.min(high - half).max(low + half)
}

/// Cuts text to a width, with an ellipsis.
fn fitted(text: &str, font: Font, width: f64) -> String {
    if font.width(text) <= width {
        return text.to_owned();
    }
    let mut cut = text.to_owned();
    while cut.pop().is_some() {
        let with = format!("{}…", cut.trim_end());
        if font.width(&with) <= width {
            return with;
        }
    }
    String::new()
}

/// Moves overlapping labels apart: at least `gap` between neighbours, inside `top..bottom`, each as
/// close to its wanted position as possible.
fn spread(wishes: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wishes.len()).collect();
    order.sort_by(|one, other| wishes[*one].total_cmp(&wishes[*other]));
    let mut places = wishes.to_vec();
    let mut least = top;
    for &index in &order {
        places[index] = places[index].max(least);
        least = places[index] + gap;
    }
    let mut most = bottom;
    for &index in order.iter().rev() {
        places[index] = places[index].min(most);
        most = places[index] - gap;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stand_apart_and_inside() {
        let places = spread(&[50.0, 50.0, 52.0, 99.0], 12.0, 0.0, 100.0);
        let mut sorted = places.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= 12.0 - 1e-9), "{places:?}");
        assert!(places.iter().all(|place| (0.0..=100.0).contains(place)), "{places:?}");
        assert_eq!(spread(&[10.0, 90.0], 12.0, 0.0, 100.0), [10.0, 90.0]);
    }

    #[test]
    fn text_is_cut_to_a_width_and_wrapped_into_it() {
        let font = Font::new(12.0, Ink::Text);
        assert_eq!(fitted("short", font, 200.0), "short");
        let cut = fitted("a name that is longer than its column", font, 90.0);
        assert!(cut.ends_with('…') && font.width(&cut) <= 90.0, "{cut}");
        let lines = wrapped("one two three four five six", font, 60.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| font.width(line) <= 60.0), "{lines:?}");
        assert_eq!(lines.join(" "), "one two three four five six");
    }
}
