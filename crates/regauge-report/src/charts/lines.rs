//! Charts lines over a common axis, named at their ends.

use regauge_measure::report::Chart;

use super::{Drawing, Figure, NORMAL, Part, Room, SMALL};
use super::{fitted, heading, heading_height, spread, within};
use crate::canvas::{Anchor, Canvas, Font, Ink, Plot};
use crate::scale::Scale;
use crate::table::{Cell, Column, Table};
use crate::text::{Unit, label, visible};

/// A chart of lines.
pub struct Lines {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Scale,
    /// What it counts.
    pub x_title: String,
    /// The vertical axis.
    pub y: Scale,
    /// What it counts.
    pub y_title: String,
    /// Those that are not the point of the chart: thin, and without a name.
    pub faint: Vec<Vec<(f64, f64)>>,
    /// The others.
    pub lines: Vec<Line>,
    /// Places to look at, with a few words at the top of the chart.
    pub marks: Vec<Mark>,
}

/// A line with a name.
pub struct Line {
    /// What it is.
    pub name: String,
    /// Places on both axes, from left to right.
    pub points: Vec<(f64, f64)>,
    /// Whether its points are marked.
    pub dotted: bool,
}

/// A place to look at.
pub struct Mark {
    /// Where.
    pub x: f64,
    /// The height of a dot there, if there is one.
    pub y: Option<f64>,
    /// The cases that exist.
    pub text: String,
}

/// With more points than this, they are not marked.
const MARKED_MAX: usize = 40;

/// Returns a task's chart.
pub fn figure(id: String, chart: &Chart) -> Figure {
    let (x_unit, y_unit) = (Unit::of(&chart.x.unit), Unit::of(&chart.y.unit));
    let values = |part: usize| -> Vec<f64> {
        chart.lines.iter().flat_map(|line| line.points.iter().map(move |one| one[part])).collect()
    };
    let scale = |axis: &regauge_measure::report::Axis, part: usize, unit: &Unit| {
        let values = values(part);
        let is_positive = values.iter().all(|value| *value >= 0.0);
        match axis.log {
            true => Scale::log(values, unit.clone()),
            false if is_positive => Scale::from_zero(values, unit.clone()),
            false => Scale::linear(values, unit.clone()),
        }
    };
    let lines = Lines {
        title: visible(&chart.title),
        x: scale(&chart.x, 0, &x_unit),
        x_title: axis_title(&chart.x),
        y: scale(&chart.y, 1, &y_unit),
        y_title: axis_title(&chart.y),
        faint: Vec::new(),
        lines: chart
            .lines
            .iter()
            .map(|line| Line {
                name: label(&line.name, 40),
                points: line
                    .points
                    .iter()
                    .filter(|point| point.iter().all(|value| value.is_finite()))
                    .map(|point| (point[0], point[1]))
                    .collect(),
                dotted: line.points.len() <= MARKED_MAX,
            })
            .collect(),
        marks: Vec::new(),
    };
    let data = data(chart, &x_unit, &y_unit);
    let ends: Vec<String> = lines
        .lines
        .iter()
        .filter_map(|line| {
            let (x, y) = line.points.last()?;
            Some(format!("{}: {} at {}", line.name, y_unit.figure(*y), x_unit.figure(*x)))
        })
        .collect();
    let description = format!("{} lines. At their ends, {}.", lines.lines.len(), ends.join("; "));
    let title = lines.title.clone();
    Figure::new(Part::Task, id, title, data, |room| drawing(&lines, room))
        .described(description, "")
}

fn axis_title(axis: &regauge_measure::report::Axis) -> String {
    let label = label(&axis.label, 60);
    match Unit::of(&axis.unit) {
        Unit::Other(unit) if !unit.is_empty() && !label.contains(&unit) => {
            format!("{label} ({unit})")
        }
        _ => label,
    }
}

/// Returns a row for each place on the horizontal axis, a column for each line.
fn data(chart: &Chart, x_unit: &Unit, y_unit: &Unit) -> Table {
    let mut places: Vec<f64> =
        chart.lines.iter().flat_map(|line| line.points.iter().map(|point| point[0])).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let mut columns = vec![Column::number(axis_title(&chart.x))];
    columns.extend(chart.lines.iter().map(|line| Column::number(label(&line.name, 60))));
    let mut data = Table::new(&chart.title, columns);
    for place in places {
        let mut cells = vec![Cell::figure(place, x_unit)];
        for line in &chart.lines {
            let found = line.points.iter().find(|point| point[0] == place);
            cells.push(Cell::maybe(found.map(|point| point[1]), y_unit));
        }
        data.push(cells);
    }
    data
}

const NAME_MAX: f64 = 240.0;

/// Draws it. Names are at the ends of their lines if there is room, otherwise below.
pub fn drawing(chart: &Lines, room: Room) -> Drawing {
    let name = Font::new(NORMAL, Ink::Text);
    let small = Font::new(SMALL, Ink::Muted);
    let wide = room.is_wide();
    let top = heading_height(&chart.title, room) + 18.0;
    let top = if chart.marks.is_empty() { top + 6.0 } else { top + 20.0 };
    let y_ticks = chart.y.ticks(if wide { 7 } else { 5 });
    let left =
        y_ticks.iter().map(|tick| small.width(&chart.y.tick(*tick))).fold(0.0, f64::max) + 12.0;
    let names_width = chart.lines.iter().map(|line| name.width(&line.name)).fold(0.0, f64::max);
    let right =
        if wide { room.width() - names_width.min(NAME_MAX) - 26.0 } else { room.width() - 12.0 };
    let names = chart.lines.len() as f64 * 18.0;
    let plot_height = if wide { 300.0_f64.max(names) } else { 230.0 };
    let bottom = top + plot_height;
    let legend = if wide { 0.0 } else { names + 8.0 };
    Drawing::new(room.width(), bottom + 42.0 + legend, |canvas| {
        heading(canvas, &chart.title, room);
        let y_title = fitted(&chart.y_title, small, room.width() - 8.0);
        canvas.text(
            &y_title,
            (4.0, top - if chart.marks.is_empty() { 14.0 } else { 28.0 }),
            Anchor::Start,
            small,
        );
        let plot = canvas.plot((left, top), (right, bottom), &chart.x, &chart.y);
        axes(canvas, chart, &plot, (left, top, right, bottom), room, &y_ticks);
        for line in &chart.faint {
            plot.line(line, Ink::Faint, 0.8);
        }
        for (index, line) in chart.lines.iter().enumerate() {
            draw_line(canvas, &plot, line, index);
        }
        draw_marks(canvas, chart, &plot, (left, top, right, bottom), room);
        if wide {
            names_at_ends(canvas, chart, &plot, (top, right, bottom), room);
        } else {
            for (index, line) in chart.lines.iter().enumerate() {
                let y = bottom + 52.0 + 18.0 * index as f64;
                canvas.line(&[(6.0, y), (26.0, y)], Ink::Series(index), 2.2);
                canvas.marker((16.0, y), 3.4, index, Ink::Series(index));
                let text = fitted(&line.name, name, room.width() - 38.0);
                canvas.text(&text, (33.0, y), Anchor::Start, name);
            }
        }
    })
}

/// Left, top, right, bottom.
type Frame = (f64, f64, f64, f64);

fn axes(canvas: &Canvas, chart: &Lines, plot: &Plot, frame: Frame, room: Room, y_ticks: &[f64]) {
    let (left, top, right, bottom) = frame;
    let small = Font::new(SMALL, Ink::Muted);
    for tick in y_ticks {
        let (_, y) = plot.place(chart.x.value(0.0), *tick);
        canvas.line(&[(left, y), (right, y)], Ink::Grid, 1.0);
        canvas.text(&chart.y.tick(*tick), (left - 7.0, y), Anchor::End, small);
    }
    for tick in chart.x.ticks(if room.is_wide() { 8 } else { 4 }) {
        let (x, _) = plot.place(tick, chart.y.value(0.0));
        canvas.line(&[(x, top), (x, bottom)], Ink::Grid, 0.6);
        canvas.line(&[(x, bottom), (x, bottom + 4.0)], Ink::Faint, 1.0);
        let text = chart.x.tick(tick);
        let half = small.width(&text) / 2.0;
        let place = within(x, half, 0.0, room.width());
        canvas.text(&text, (place, bottom + 13.0), Anchor::Middle, small);
    }
    canvas.line(&[(left, bottom), (right, bottom)], Ink::Faint, 1.0);
    let title = fitted(&chart.x_title, small, room.width() - 8.0);
    let half = small.width(&title) / 2.0;
    let middle = within((left + right) / 2.0, half, 0.0, room.width());
    canvas.text(&title, (middle, bottom + 31.0), Anchor::Middle, small);
}

fn draw_line(canvas: &Canvas, plot: &Plot, line: &Line, index: usize) {
    let ink = Ink::Series(index);
    plot.line(&line.points, ink, 2.2);
    // Every shape is seen a few times on a line that has too many points to mark them all.
    let every = if line.dotted { 1 } else { (line.points.len() / 6).max(1) };
    for (place, (x, y)) in line.points.iter().enumerate() {
        if place % every == every / 2 || line.points.len() == 1 {
            canvas.marker(plot.place(*x, *y), 3.4, index, ink);
        }
    }
}

fn draw_marks(canvas: &Canvas, chart: &Lines, plot: &Plot, frame: Frame, room: Room) {
    let (_, top, _, bottom) = frame;
    let font = Font::new(SMALL, Ink::Text).bold();
    let mut free = 0.0;
    for mark in &chart.marks {
        let (x, _) = plot.place(mark.x, chart.y.value(0.0));
        canvas.dashes((x, top - 4.0), (x, bottom), Ink::Muted, 1.0);
        if let Some(y) = mark.y {
            let place = plot.place(mark.x, y);
            canvas.marker(place, 5.4, 0, Ink::Surface);
            canvas.marker(place, 4.0, 0, Ink::Text);
        }
        let half = font.width(&mark.text) / 2.0;
        let place = within(x, half, 0.0, room.width());
        // If two marks are too close, only the table of crossings has the second.
        if place - half >= free {
            canvas.text(&mark.text, (place, top - 11.0), Anchor::Middle, font);
            free = place + half + 8.0;
        }
    }
}

fn names_at_ends(
    canvas: &Canvas,
    chart: &Lines,
    plot: &Plot,
    (top, right, bottom): (f64, f64, f64),
    room: Room,
) {
    let name = Font::new(NORMAL, Ink::Text);
    let wishes: Vec<f64> = chart
        .lines
        .iter()
        .map(|line| line.points.last().map_or(bottom, |(x, y)| plot.place(*x, *y).1))
        .collect();
    let places = spread(&wishes, 17.0, top + 2.0, bottom - 2.0);
    for (index, line) in chart.lines.iter().enumerate() {
        let ink = Ink::Series(index);
        canvas.line(&[(right, wishes[index]), (right + 9.0, places[index])], ink, 1.0);
        canvas.marker((right + 12.0, places[index]), 3.4, index, ink);
        let text = fitted(&line.name, name, room.width() - right - 20.0);
        canvas.text(&text, (right + 19.0, places[index]), Anchor::Start, name);
    }
}
