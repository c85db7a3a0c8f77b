//! Charts size against time: a dot for each library, and a line through the best of each runtime.
//!
//! A library is on the front of its runtime if no other is both smaller and faster. Only libraries
//! that may be recommended can be on it; the others are rings.

use regauge_measure::report::Row;
use regauge_measure::{Gives, Report, Runtime};

use super::labels::{Area, Segment, places};
use super::{Drawing, Figure, NORMAL, Part, Room, SMALL};
use super::{fitted, heading, heading_height, within};
use crate::answer;
use crate::canvas::{Anchor, Canvas, Font, Ink};
use crate::scale::Scale;
use crate::table::{Cell, Column, Table, Tone};
use crate::text::{Unit, label};
use crate::words;

const TITLE: &str = "Size vs time: lower left is better";

/// One library.
struct Dot {
    name: String,
    format: String,
    bytes: f64,
    time_ns: f64,
    /// Whether it is safe and loses nothing, as far as tested.
    is_sound: bool,
}

/// The libraries of one runtime that give the same.
struct Group {
    name: String,
    dots: Vec<Dot>,
    /// Indices of the front, from the smallest to the fastest.
    front: Vec<usize>,
}

/// Returns the chart, if two libraries were timed.
pub fn figure(report: &Report) -> Option<Figure> {
    let groups: Vec<Group> = regauge_measure::groups(report)
        .into_iter()
        .filter(|(_, gives)| *gives != Gives::Tree)
        .map(|(runtime, gives)| group(report, runtime, gives))
        .filter(|group| !group.dots.is_empty())
        .collect();
    if groups.iter().map(|group| group.dots.len()).sum::<usize>() < 2 {
        return None;
    }
    let figure =
        Figure::new(Part::Answer, "front", TITLE, data(&groups), |room| drawing(&groups, room));
    let caption = "Each dot is a library: the size of its uncompressed output, and the time to \
                   decode and encode it. A line joins the best of a runtime: no library there is \
                   both smaller and faster. Rings lose some of this data or are unsafe with hostile \
                   input. Both axes are logarithmic.";
    Some(figure.described(description(&groups), caption))
}

fn group(report: &Report, runtime: Runtime, gives: Gives) -> Group {
    let rows = report.rows.iter();
    let rows = rows.filter(|row| regauge_measure::is_in(row, runtime, gives));
    let mut dots: Vec<Dot> = rows.filter_map(|row| dot(report, row)).collect();
    dots.sort_by(|one, other| {
        one.bytes.total_cmp(&other.bytes).then(one.time_ns.total_cmp(&other.time_ns))
    });
    let mut front: Vec<usize> = Vec::new();
    for (index, dot) in dots.iter().enumerate().filter(|(_, dot)| dot.is_sound) {
        if front.last().is_none_or(|last| dot.time_ns < dots[*last].time_ns) {
            front.push(index);
        }
    }
    Group { name: label(&answer::name(runtime, gives), 30), dots, front }
}

fn dot(report: &Report, row: &Row) -> Option<Dot> {
    let is_plain = |value: &f64| value.is_finite() && *value > 0.0;
    let time_ns = Some(row.timing.as_ref()?.total_ns.median).filter(is_plain)?;
    let bytes = Some(row.output_bytes? as f64).filter(is_plain)?;
    let is_sound =
        words::keeps(report, row).1 != Tone::Care && !matches!(words::hostile(row).1, Tone::Bad);
    Some(Dot {
        name: label(&row.contender, 40),
        format: label(&row.format, 20),
        bytes,
        time_ns,
        is_sound,
    })
}

fn description(groups: &[Group]) -> String {
    let sentences: Vec<String> = groups
        .iter()
        .map(|group| {
            let front: Vec<&str> =
                group.front.iter().map(|index| group.dots[*index].name.as_str()).collect();
            match front.is_empty() {
                true => format!("{}: {} libraries.", group.name, group.dots.len()),
                false => format!(
                    "{}: {} libraries; from the smallest to the fastest: {}.",
                    group.name,
                    group.dots.len(),
                    front.join(", ")
                ),
            }
        })
        .collect();
    sentences.join(" ")
}

fn data(groups: &[Group]) -> Table {
    let mut data = Table::new(
        "Size and time",
        vec![
            Column::text("library"),
            Column::text("runtime"),
            Column::number("decode and encode"),
            Column::number("size"),
            Column::text("format"),
        ],
    );
    for group in groups {
        for (index, dot) in group.dots.iter().enumerate() {
            let name = Cell::text(&dot.name);
            let name = match group.front.contains(&index) {
                true => name.tag("on the front", Tone::Good),
                false => name,
            };
            data.push(vec![
                name,
                Cell::text(&group.name),
                Cell::figure(dot.time_ns, &Unit::Time),
                Cell::figure(dot.bytes, &Unit::Bytes),
                Cell::text(&dot.format),
            ]);
        }
    }
    data
}

/// Where things stand.
struct Frame<'s> {
    room: Room,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: &'s Scale,
    y: &'s Scale,
}

impl Frame<'_> {
    fn place(&self, dot: &Dot) -> (f64, f64) {
        let x = self.left + (self.right - self.left) * self.x.share(dot.bytes);
        let y = self.bottom - (self.bottom - self.top) * self.y.share(dot.time_ns);
        (x, y)
    }
}

fn drawing(groups: &[Group], room: Room) -> Drawing {
    let wide = room.is_wide();
    let dots = || groups.iter().flat_map(|group| &group.dots);
    let x = Scale::log(dots().map(|dot| dot.bytes), Unit::Bytes);
    let y = Scale::log(dots().map(|dot| dot.time_ns), Unit::Time);
    let key = key(groups, room);
    // The title of the axis of times is above it.
    let top = heading_height(TITLE, room) + key.len() as f64 * 18.0 + 8.0 + 20.0;
    let bottom = top + if wide { 330.0 } else { 380.0 };
    Drawing::new(room.width(), bottom + 40.0, |canvas: &Canvas| {
        let mut row = heading(canvas, TITLE, room) + 10.0;
        for line in &key {
            for (at, index) in line {
                let ink = Ink::Series(*index);
                canvas.marker((at + 5.0, row), 4.0, *index, ink);
                let font = Font::new(SMALL, Ink::Text);
                canvas.text(&groups[*index].name, (at + 14.0, row), Anchor::Start, font);
            }
            row += 18.0;
        }
        let font = Font::new(SMALL, Ink::Muted);
        let y_ticks = y.ticks(7);
        let left = y_ticks.iter().map(|tick| font.width(&y.tick(*tick))).fold(0.0, f64::max) + 14.0;
        let frame = Frame { room, left, right: room.width() - 10.0, top, bottom, x: &x, y: &y };
        axes(canvas, &frame, &y_ticks);
        for (index, group) in groups.iter().enumerate() {
            draw_group(canvas, group, index, &frame);
        }
        names(canvas, groups, &frame);
    })
}

/// Lays out the legend of colours and shapes, in lines that fit.
fn key(groups: &[Group], room: Room) -> Vec<Vec<(f64, usize)>> {
    let font = Font::new(SMALL, Ink::Text);
    let mut lines: Vec<Vec<(f64, usize)>> = vec![Vec::new()];
    let mut at = 4.0;
    for (index, group) in groups.iter().enumerate() {
        let width = 14.0 + font.width(&group.name) + 18.0;
        if at + width > room.width() && at > 4.0 {
            lines.push(Vec::new());
            at = 4.0;
        }
        lines.last_mut().expect("there is one").push((at, index));
        at += width;
    }
    lines
}

fn axes(canvas: &Canvas, frame: &Frame, y_ticks: &[f64]) {
    let font = Font::new(SMALL, Ink::Muted);
    for tick in y_ticks {
        let y = frame.bottom - (frame.bottom - frame.top) * frame.y.share(*tick);
        canvas.line(&[(frame.left, y), (frame.right, y)], Ink::Grid, 1.0);
        canvas.text(&frame.y.tick(*tick), (frame.left - 6.0, y), Anchor::End, font);
    }
    for tick in frame.x.ticks(if frame.room.is_wide() { 8 } else { 4 }) {
        let x = frame.left + (frame.right - frame.left) * frame.x.share(tick);
        let text = frame.x.tick(tick);
        canvas.line(&[(x, frame.top), (x, frame.bottom)], Ink::Grid, 1.0);
        let place = within(x, font.width(&text) / 2.0, 0.0, frame.room.width());
        canvas.text(&text, (place, frame.bottom + 12.0), Anchor::Middle, font);
    }
    canvas.line(&[(frame.left, frame.bottom), (frame.right, frame.bottom)], Ink::Faint, 1.0);
    let end = (frame.right, frame.bottom + 30.0);
    canvas.text("bytes, uncompressed →", end, Anchor::End, font);
    canvas.text("↑ time to decode and encode", (4.0, frame.top - 12.0), Anchor::Start, font);
}

fn draw_group(canvas: &Canvas, group: &Group, index: usize, frame: &Frame) {
    let ink = Ink::Series(index);
    let front: Vec<(f64, f64)> =
        group.front.iter().map(|index| frame.place(&group.dots[*index])).collect();
    if front.len() > 1 {
        canvas.line(&front, ink, 1.6);
    }
    for dot in &group.dots {
        let place = frame.place(dot);
        if dot.is_sound {
            canvas.marker(place, 4.2, index, ink);
        } else {
            canvas.ring(place, 3.8, ink);
        }
    }
}

/// Writes the names of the libraries on a front, with the runtime where several have the name.
fn names(canvas: &Canvas, groups: &[Group], frame: &Frame) {
    let font = Font::new(if frame.room.is_wide() { NORMAL } else { SMALL }, Ink::Text);
    let is_shared = |name: &str| {
        let has = |group: &&Group| group.dots.iter().any(|dot| dot.name == name);
        groups.iter().filter(has).count() > 1
    };
    let mut labels: Vec<(String, (f64, f64))> = Vec::new();
    for group in groups {
        // A phone has room for the two ends of a front.
        let inner = |place: usize| place > 0 && place + 1 < group.front.len();
        for (place, index) in group.front.iter().enumerate() {
            if frame.room.is_wide() || !inner(place) {
                let dot = &group.dots[*index];
                let text = match is_shared(&dot.name) {
                    true => format!("{} ({})", dot.name, group.name),
                    false => dot.name.clone(),
                };
                let text = fitted(&text, font, (frame.right - frame.left) * 0.45);
                labels.push((text, frame.place(dot)));
            }
        }
    }
    let wanted: Vec<((f64, f64), f64)> =
        labels.iter().map(|(text, point)| (*point, font.width(text))).collect();
    let dots = groups.iter().flat_map(|group| &group.dots);
    let points: Vec<(f64, f64)> = dots.map(|dot| frame.place(dot)).collect();
    let area = Area(frame.left, frame.top, frame.right, frame.bottom);
    let lines: Vec<Segment> = groups
        .iter()
        .flat_map(|group| {
            group.front.windows(2).map(|two| (&group.dots[two[0]], &group.dots[two[1]]))
        })
        .map(|(from, to)| (frame.place(from), frame.place(to)))
        .collect();
    for ((text, (x, y)), place) in labels.iter().zip(places(&wanted, &points, &lines, area)) {
        let Some(place) = place else { continue };
        let side = if place.is_left { -1.0 } else { 1.0 };
        if (place.y - y).abs() > 10.0 {
            canvas.line(&[(x + side * 4.0, *y), (x + side * 9.0, place.y)], Ink::Faint, 1.0);
        }
        let anchor = if place.is_left { Anchor::End } else { Anchor::Start };
        canvas.text(text, (place.x, place.y), anchor, font);
    }
}
