//! Builds the tables of contenders: which columns there are, and which of them fit a terminal.

use std::fmt::Write as _;

use comfy_table::{ColumnConstraint, Table};
use regauge_measure::report::{Memory, Row, Timing};
use regauge_measure::{Gives, Runtime, bytes, time};

use super::Layout;
use super::grid::{align, dash, kinds, table, time_with_margin};
use crate::words::without_times;

/// One column of the tables of contenders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Library,
    Format,
    Size,
    Gzipped,
    Decode,
    Encode,
    Total,
    ToBest,
    Cold,
    Memory,
    Collector,
    Lost,
}

impl Column {
    const ALL: [Column; 12] = [
        Column::Library,
        Column::Format,
        Column::Size,
        Column::Gzipped,
        Column::Decode,
        Column::Encode,
        Column::Total,
        Column::ToBest,
        Column::Cold,
        Column::Memory,
        Column::Collector,
        Column::Lost,
    ];
    /// The same in two tables, for a narrow terminal.
    const TIMES: [Column; 6] = [
        Column::Library,
        Column::Format,
        Column::Decode,
        Column::Encode,
        Column::Total,
        Column::ToBest,
    ];
    const OTHERS: [Column; 7] = [
        Column::Library,
        Column::Size,
        Column::Gzipped,
        Column::Cold,
        Column::Memory,
        Column::Collector,
        Column::Lost,
    ];

    fn head(self) -> &'static str {
        match self {
            Column::Library => "library",
            Column::Format => "format",
            Column::Size => "size",
            Column::Gzipped => "gzipped",
            Column::Decode => "decode",
            Column::Encode => "encode",
            Column::Total => "total",
            Column::ToBest => "vs best",
            Column::Cold => "cold",
            Column::Memory => "memory",
            Column::Collector => "GC",
            Column::Lost => "lost",
        }
    }

    /// Returns whether cells may wrap: text may, figures may not.
    fn is_text(self) -> bool {
        matches!(self, Column::Library | Column::Lost)
    }

    fn cell(self, row: &Row) -> String {
        let timed = |cell: fn(&Timing) -> String| row.timing.as_ref().map_or(dash(), cell);
        match self {
            Column::Library => format!("{} {}", row.contender, row.version).trim_end().to_owned(),
            Column::Format => row.format.clone(),
            Column::Size => row.output_bytes.map_or(dash(), bytes),
            Column::Gzipped => row.output_gzip_bytes.map_or(dash(), bytes),
            Column::Decode => match &row.timing {
                Some(timing) => time_with_margin(timing.decode.estimate_ns),
                None if !row.wrong.is_empty() => "wrong".to_owned(),
                None if !row.wrong.is_empty() => "wrong".to_owned(),
                None => without_times(row).to_owned(),
            },
            Column::Encode => timed(|timing| time_with_margin(timing.encode.estimate_ns)),
            Column::Total => timed(|timing| time(timing.total_ns.median)),
            Column::ToBest => match &row.dropped {
                Some(dropped) => format!("at least {:.1}", dropped.at_least),
                None => timed(to_best),
            },
            Column::Cold => row.cold.as_ref().map_or(dash(), |cold| {
                format!("{} + {}", time(cold.start_ns.median), time(cold.first_decode_ns.median))
            }),
            Column::Memory => timed(|timing| {
                let above = |memory: Memory| bytes(memory.peak.saturating_sub(memory.idle));
                timing.memory.map_or(dash(), above)
            }),
            Column::Collector => timed(collector),
            Column::Lost => match () {
                () if row.failure.is_some() => dash(),
                () if !row.wrong.is_empty() => format!("wrong: {}", kinds(&row.wrong)),
                () if row.losses.is_empty() => "nothing".to_owned(),
                () => kinds(&row.losses),
            },
        }
    }
}

pub(super) fn group(
    text: &mut String,
    (runtime, gives): (Runtime, Gives),
    rows: &[&Row],
    layout: Layout,
) {
    let version = rows
        .iter()
        .map(|row| row.runtime_version.as_str())
        .find(|version| !version.is_empty())
        .unwrap_or(runtime.name());
    let _ = writeln!(text, "{version}, to {}\n", gives.what());
    let Some(width) = layout.width.filter(|_| layout.lines).map(usize::from) else {
        let _ = writeln!(text, "{}\n", columns(&Column::ALL, rows, layout));
        return;
    };
    let fits = |list: &[Column]| width_of(list, rows) <= width;
    let parts: &[&[Column]] = match fits(&Column::ALL) {
        true => &[&Column::ALL],
        false => &[&Column::TIMES, &Column::OTHERS],
    };
    for part in parts {
        let mut part = part.to_vec();
        // The total is the sum of two other columns; sizes are listed above, by format.
        for expendable in [Column::Total, Column::Gzipped, Column::Size] {
            if !fits(&part) {
                part.retain(|column| *column != expendable);
            }
        }
        let _ = writeln!(text, "{}\n", columns(&part, rows, layout));
    }
}

/// Returns a table of these columns.
fn columns(list: &[Column], rows: &[&Row], layout: Layout) -> Table {
    let header: Vec<&str> = list.iter().map(|column| column.head()).collect();
    let mut table = table(layout, &header);
    for row in rows {
        table.add_row(list.iter().map(|column| column.cell(row)));
    }
    for (place, _) in list.iter().enumerate().filter(|(_, column)| !column.is_text()) {
        if list[place] != Column::Format {
            align(&mut table, place..place + 1);
        }
        if layout.lines
            && let Some(shown) = table.column_mut(place)
        {
            shown.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table
}

/// Returns the minimum width of a table. Text columns shrink before figures, down to a minimum.
fn width_of(list: &[Column], rows: &[&Row]) -> usize {
    const TEXT_MIN: usize = 14;
    let widest = |column: &Column| {
        let cells = rows.iter().map(|row| column.cell(row).chars().count());
        let widest = cells.chain([column.head().chars().count()]).max().unwrap_or(0);
        // A space on both sides, and a line.
        3 + if column.is_text() { widest.min(TEXT_MIN) } else { widest }
    };
    1 + list.iter().map(widest).sum::<usize>()
}

fn to_best(timing: &Timing) -> String {
    let ratio = timing.ratio;
    if ratio.too_few || ratio.low == ratio.high {
        format!("{:.2}", ratio.median)
    } else {
        format!("{:.2} ({:.2}–{:.2})", ratio.median, ratio.low, ratio.high)
    }
}

fn collector(timing: &Timing) -> String {
    let share = |share: Option<f64>| share.map(|share| format!("{:.0}", share * 100.0));
    match (share(timing.decode.gc_share), share(timing.encode.gc_share)) {
        (Some(decode), Some(encode)) => format!("{decode}/{encode}%"),
        _ => dash(),
    }
}
