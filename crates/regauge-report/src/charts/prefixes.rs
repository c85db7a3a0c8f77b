//! Charts the bytes of the prefixes of a cache, by what loading the values would do.

use regauge_caches::look::Danger;
use regauge_caches::tally::Tally;
use regauge_caches::{Report, Row};

use super::{Drawing, Figure, NORMAL, Part, Room, SMALL, fitted, heading, heading_height};
use crate::canvas::{Anchor, Canvas, Font, Ink};
use crate::scale::Scale;
use crate::table::{Cell, Column, Table};
use crate::text::{Unit, label, visible};

const BAR: f64 = 14.0;
const BETWEEN: f64 = 9.0;
const SWATCH: f64 = 10.0;
/// How many prefixes have a bar.
const ROWS: usize = 15;
/// The most characters of a prefix.
const PREFIX: usize = 44;

/// What bars are made of, with its colour.
const PARTS: [(&str, &[Danger], Ink); 4] = [
    ("the format cannot run code", &[Danger::None], Ink::Series(0)),
    ("plain data or types of its language", &[Danger::Data, Danger::Harmless], Ink::Series(2)),
    (
        "needs classes or runs code",
        &[Danger::Incomplete, Danger::Classes, Danger::Attack],
        Ink::Series(1),
    ),
    ("not recognised", &[Danger::Unknown], Ink::Faint),
];

/// The bytes of a prefix, part by part.
type Bar = (String, [u64; PARTS.len()]);

/// Returns the chart, if values were looked into.
pub fn figure(report: &Report) -> Option<Figure> {
    let rows = report.rows.iter().take(ROWS).filter(|row| !row.tally.dangers.is_empty());
    let bars: Vec<Bar> = rows.map(|row| (visible(&row.prefix), parts(&row.tally))).collect();
    if bars.is_empty() {
        return None;
    }
    let title = "Bytes by prefix, and what loading the values would do";
    let mut columns = vec![Column::text("prefix")];
    columns.extend(PARTS.map(|(name, ..)| Column::number(name)));
    let mut data = Table::new(title, columns);
    for (row, (_, parts)) in report.rows.iter().zip(&bars) {
        let mut cells = vec![Cell::code(prefix(row))];
        cells.extend(parts.map(|bytes| Cell::figure(bytes as f64, &Unit::Bytes)));
        data.push(cells);
    }
    let totals = PARTS.iter().enumerate().map(|(at, (name, ..))| {
        let bytes: u64 = bars.iter().map(|(_, parts)| parts[at]).sum();
        format!("{name}: {}", Unit::Bytes.figure(bytes as f64))
    });
    let description =
        format!("Bars for {} prefixes. {}.", bars.len(), totals.collect::<Vec<_>>().join("; "));
    let caption = match report.rows.len() > bars.len() {
        true => format!(
            "The {} prefixes with the most bytes: {:.0}% of all bytes.",
            bars.len(),
            100.0 * share(report, bars.len())
        ),
        false => String::new(),
    };
    let draw = |room| drawing(title, &bars, room);
    let figure = Figure::new(Part::Answer, "prefixes", title, data, draw);
    Some(figure.described(description, &caption))
}

fn prefix(row: &Row) -> &str {
    if row.prefix.is_empty() { "(empty)" } else { &row.prefix }
}

fn parts(tally: &Tally) -> [u64; PARTS.len()] {
    PARTS.map(|(_, dangers, _)| {
        dangers.iter().filter_map(|danger| tally.dangers.get(danger)).map(|one| one.bytes).sum()
    })
}

/// Returns the share of all bytes that the first prefixes have.
fn share(report: &Report, rows: usize) -> f64 {
    let shown: u64 = report.rows.iter().take(rows).map(|row| row.tally.all.bytes).sum();
    shown as f64 / report.all.all.bytes.max(1) as f64
}

fn drawing(title: &str, bars: &[Bar], room: Room) -> Drawing {
    let name = Font::new(NORMAL, Ink::Text);
    let value = Font::new(SMALL, Ink::Muted);
    // Names are beside the bars if there is room, otherwise above them.
    let names_above = !room.is_wide();
    let longest = bars.iter().map(|(prefix, _)| name.width(&label(prefix, PREFIX)));
    let left = if names_above { 4.0 } else { longest.fold(0.0, f64::max).min(300.0) + 16.0 };
    let figure = |parts: &[u64]| Unit::Bytes.figure(parts.iter().sum::<u64>() as f64);
    let room_of_figures =
        bars.iter().map(|(_, parts)| value.width(&figure(parts))).fold(0.0, f64::max) + 12.0;
    let sums = bars.iter().map(|(_, parts)| parts.iter().sum::<u64>() as f64);
    let scale = Scale::from_zero(sums, Unit::Bytes);
    let width = (room.width() - left - room_of_figures).max(60.0);
    let legend_lines = if room.is_wide() { 1.0 } else { PARTS.len() as f64 };
    let top = heading_height(title, room) + legend_lines * 18.0 + 8.0;
    let name_height = if names_above { 17.0 } else { 0.0 };
    let step = name_height + BAR + BETWEEN;
    Drawing::new(room.width(), top + step * bars.len() as f64, |canvas: &Canvas| {
        let below = heading(canvas, title, room);
        legend(canvas, below + 8.0, room);
        let mut y = top;
        for (prefix, parts) in bars {
            let middle = y + name_height + BAR / 2.0;
            if names_above {
                let text = fitted(&label(prefix, PREFIX), name, room.width() - 8.0);
                canvas.text(&text, (left, y + 7.0), Anchor::Start, name);
            } else {
                let text = fitted(&label(prefix, PREFIX), name, left - 16.0);
                canvas.text(&text, (left - 12.0, middle), Anchor::End, name);
            }
            y += name_height;
            let mut sum = 0;
            for (bytes, (.., ink)) in parts.iter().zip(PARTS) {
                let from = left + width * scale.share(sum as f64);
                sum += bytes;
                let to = left + width * scale.share(sum as f64);
                if *bytes > 0 {
                    canvas.rect((from, y), (to.max(from + 1.0), y + BAR), ink, 1.0);
                }
            }
            let end = left + width * scale.share(sum as f64);
            canvas.text(&figure(parts), (end + 6.0, middle), Anchor::Start, value);
            canvas.line(&[(left, y - 2.0), (left, y + BAR + 2.0)], Ink::Faint, 1.0);
            y += BAR + BETWEEN;
        }
    })
}

/// Draws what the colours mean: in one line, or one below the other.
fn legend(canvas: &Canvas, top: f64, room: Room) {
    let font = Font::new(SMALL, Ink::Text);
    let (mut x, mut y) = (4.0, top);
    for (name, _, ink) in PARTS {
        canvas.rect((x, y - SWATCH / 2.0), (x + SWATCH, y + SWATCH / 2.0), ink, 1.0);
        canvas.text(name, (x + SWATCH + 6.0, y), Anchor::Start, font);
        match room {
            Room::Wide => x += SWATCH + 6.0 + font.width(name) + 22.0,
            Room::Narrow => y += 18.0,
        }
    }
}
