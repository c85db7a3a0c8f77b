//! Writes the section "Cost" of the text.

use std::fmt::Write as _;

use super::{MILLION, bandwidth_text};
use crate::report::{Cost, Costs, Report};
use crate::summary;
use crate::table::{self, Layout};

/// Ways shown of each runtime: the rest are in the JSON.
const SHOWN: usize = 6;

/// Writes the cheapest ways of each runtime under the assumptions, and where the cheapest changes.
pub(crate) fn section(text: &mut String, report: &Report, layout: Layout) {
    let Some(costs) = report.costs.as_ref().filter(|costs| !costs.rows.is_empty()) else { return };
    let assumed = &costs.assumed;
    let _ = writeln!(
        text,
        "Cost per document: written once, moved at {} and read {} times, stored for {} months\n\
         (--bandwidth, --reads-per-write, --store-months). Compression is applied to the whole\n\
         stream; a single small document compresses less.\n",
        bandwidth_text(assumed.bandwidth),
        plain(assumed.reads_per_write),
        plain(assumed.store_months),
    );
    let header = [
        "runtime",
        "library",
        "compressed",
        "write",
        "transfer",
        "read",
        "total",
        "core hours per 10^6",
        "storage per 10^6",
    ];
    let mut table = table::table(layout, &header);
    for (runtime, gives) in summary::groups(report) {
        let mut rows: Vec<&Cost> =
            costs.rows.iter().filter(|one| one.runtime == runtime && one.gives == gives).collect();
        rows.sort_by(|one, other| one.total_ns.median.total_cmp(&other.total_ns.median));
        for one in rows.iter().take(SHOWN) {
            table.add_row([
                runtime.name().to_owned(),
                named(one),
                one.compression.clone(),
                table::time(one.write_ns),
                table::time(one.move_ns),
                table::time(one.read_ns),
                table::time_with_margin(one.total_ns),
                three(one.core_hours_per_million),
                table::bytes((one.bytes * MILLION) as u64),
            ]);
        }
        if rows.len() > SHOWN {
            let more = format!("{} others cost more", rows.len() - SHOWN);
            table.add_row([runtime.name().to_owned(), more]);
        }
    }
    table::align(&mut table, 3..9);
    let _ = writeln!(text, "{table}\n");
    crossings(text, costs);
}

fn named(cost: &Cost) -> String {
    if cost.contender.to_lowercase().contains(&cost.format) {
        return cost.contender.clone();
    }
    format!("{}, {}", cost.contender, cost.format)
}

fn crossings(text: &mut String, costs: &Costs) {
    for one in &costs.crossings {
        let _ = writeln!(
            text,
            "{}: below {} {} is cheapest, above it {}.",
            one.runtime.name(),
            bandwidth_text(one.bandwidth),
            one.below,
            one.above
        );
    }
    if !costs.crossings.is_empty() {
        text.push('\n');
    }
}

/// Formats a number without insignificant zeros.
pub(crate) fn plain(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value}") }
}

fn three(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 0.1 => format!("{value:.2}"),
        value => format!("{value:.4}"),
    }
}
