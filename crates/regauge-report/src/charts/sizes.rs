//! Charts the sizes of all formats as bars, uncompressed and compressed.

use regauge_measure::Report;
use regauge_measure::report::Reference;

use super::{Drawing, Figure, NORMAL, Part, Room, SMALL, heading, heading_height};
use crate::canvas::{Anchor, Canvas, Font, Ink};
use crate::scale::Scale;
use crate::table::{Cell, Column, Table};
use crate::text::{Unit, label};

const BAR: f64 = 11.0;
const GAP: f64 = 3.0;
const BETWEEN: f64 = 15.0;

/// A bar: what the bytes went through, and how many they are.
type Bar = (String, u64);

/// Returns the chart, if there is anything to show.
pub fn figure(report: &Report) -> Option<Figure> {
    if report.references.is_empty() {
        return None;
    }
    let mut formats: Vec<(String, Vec<Bar>)> =
        report.references.iter().map(|one| (label(&one.format, 30), bars(one))).collect();
    formats.sort_by_key(|(_, bars)| bars[0].1);
    let title = "Size of the whole file in each format";
    let columns = vec![Column::text("format"), Column::text("compression"), Column::number("size")];
    let mut data = Table::new(title, columns);
    for (format, bars) in &formats {
        for (codec, bytes) in bars {
            let size = Cell::figure(*bytes as f64, &Unit::Bytes);
            data.push(vec![Cell::text(format), Cell::text(codec), size]);
        }
    }
    let (smallest, largest) = (&formats[0], &formats[formats.len() - 1]);
    let description = format!(
        "Bars for {} formats. The smallest uncompressed: {}, {}; the largest: {}, {}.",
        formats.len(),
        smallest.0,
        Unit::Bytes.figure(smallest.1[0].1 as f64),
        largest.0,
        Unit::Bytes.figure(largest.1[0].1 as f64),
    );
    let figure =
        Figure::new(Part::Sizes, "sizes", title, data, |room| drawing(title, &formats, room));
    Some(figure.described(description, ""))
}

fn bars(reference: &Reference) -> Vec<Bar> {
    let mut bars = vec![("uncompressed".to_owned(), reference.bytes)];
    if reference.compressions.is_empty() {
        bars.push(("gzip -6".to_owned(), reference.gzip_bytes));
    }
    let compressed = reference.compressions.iter().map(|one| (label(&one.codec, 16), one.bytes));
    bars.extend(compressed);
    bars
}

fn drawing(title: &str, formats: &[(String, Vec<Bar>)], room: Room) -> Drawing {
    let name = Font::new(NORMAL, Ink::Text).bold();
    let value = Font::new(SMALL, Ink::Text);
    let codec = Font::new(SMALL, Ink::Muted);
    let top = heading_height(title, room);
    // Names are beside the bars if there is room, otherwise above them.
    let names_above = !room.is_wide();
    let left = if names_above {
        4.0
    } else {
        formats.iter().map(|(format, _)| name.width(format)).fold(0.0, f64::max) + 16.0
    };
    let all = || formats.iter().flat_map(|(_, bars)| bars);
    let text = |(codec_name, bytes): &Bar| (Unit::Bytes.figure(*bytes as f64), codec_name.clone());
    let label_width = all()
        .map(|bar| {
            let (figure, name) = text(bar);
            value.width(&figure) + codec.width(&name) + 20.0
        })
        .fold(0.0, f64::max);
    let scale = Scale::from_zero(all().map(|(_, bytes)| *bytes as f64), Unit::Bytes);
    let width = (room.width() - left - label_width).max(60.0);
    let name_height = if names_above { 17.0 } else { 0.0 };
    let group = |bars: &[Bar]| name_height + bars.len() as f64 * (BAR + GAP) - GAP + BETWEEN;
    let height = top + formats.iter().map(|(_, bars)| group(bars)).sum::<f64>();
    Drawing::new(room.width(), height, |canvas: &Canvas| {
        heading(canvas, title, room);
        let mut y = top;
        for (format, bars) in formats {
            if names_above {
                canvas.text(format, (left, y + 7.0), Anchor::Start, name);
                y += name_height;
            } else {
                let middle = y + (bars.len() as f64 * (BAR + GAP) - GAP) / 2.0;
                canvas.text(format, (left - 12.0, middle), Anchor::End, name);
            }
            let start = y;
            for (index, bar) in bars.iter().enumerate() {
                let end = left + width * scale.share(bar.1 as f64);
                let ink = Ink::Series(index);
                canvas.rect((left, y), (end.max(left + 1.0), y + BAR), ink, 1.0);
                let (figure, name) = text(bar);
                let middle = y + BAR / 2.0;
                canvas.text(&figure, (end + 6.0, middle), Anchor::Start, value);
                let beside = end + 11.0 + value.width(&figure);
                canvas.text(&name, (beside, middle), Anchor::Start, codec);
                y += BAR + GAP;
            }
            canvas.line(&[(left, start - 2.0), (left, y - GAP + 2.0)], Ink::Faint, 1.0);
            y += BETWEEN - GAP;
        }
    })
}
