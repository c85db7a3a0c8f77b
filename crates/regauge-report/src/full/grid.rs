//! Draws the tables of the text, and writes what their cells share.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use regauge_measure::report::Loss;
use regauge_measure::stats::Estimate;
use regauge_measure::{thousands, time};

use super::Layout;

pub(super) fn table(layout: Layout, header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(if layout.lines {
            presets::UTF8_FULL_CONDENSED
        } else {
            presets::ASCII_MARKDOWN
        })
        .set_header(header.iter().copied());
    if let Some(width) = layout.width.filter(|_| layout.lines) {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    table
}

/// Right-aligns the numeric columns, starting at `first`.
pub(super) fn align(table: &mut Table, columns: std::ops::Range<usize>) {
    for index in columns {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

pub(super) fn dash() -> String {
    "–".to_owned()
}

pub(super) fn kinds(losses: &[Loss]) -> String {
    let list: Vec<String> =
        losses.iter().map(|loss| format!("{} ×{}", loss.kind, thousands(loss.count))).collect();
    list.join(", ")
}

pub(super) fn time_with_margin(estimate: Estimate) -> String {
    if estimate.too_few {
        return format!("{}, too few", time(estimate.median));
    }
    let margin = (estimate.high - estimate.median).max(estimate.median - estimate.low);
    if margin == 0.0 {
        // One sample has no interval.
        return time(estimate.median);
    }
    let percent = 100.0 * margin / estimate.median.max(1.0);
    let percent = if percent < 1.0 { format!("{percent:.1}") } else { format!("{percent:.0}") };
    format!("{} ±{percent}%", time(estimate.median))
}
