//! Writes the section "Cost" of the text.

use std::fmt::Write as _;

use regauge_measure::cost::bandwidth_text;
use regauge_measure::report::{Cost, Costs, Report};
use regauge_measure::{bytes, groups, plain, time};

use super::{Layout, grid};

/// Ways shown of each runtime: the rest are in the JSON.
const SHOWN: usize = 6;
/// The number of documents that storage is given for.
const MILLION: f64 = 1e6;

/// Writes the cheapest ways of each runtime under the assumptions, and where the cheapest changes.
pub(super) fn section(text: &mut String, report: &Report, layout: Layout) {
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
    let mut table = grid::table(layout, &header);
    for (runtime, gives) in groups(report) {
        let mut rows: Vec<&Cost> =
            costs.rows.iter().filter(|one| one.runtime == runtime && one.gives == gives).collect();
        rows.sort_by(|one, other| one.total_ns.median.total_cmp(&other.total_ns.median));
        for one in rows.iter().take(SHOWN) {
            table.add_row([
                runtime.name().to_owned(),
                named(one),
                one.compression.clone(),
                time(one.write_ns),
                time(one.move_ns),
                time(one.read_ns),
                grid::time_with_margin(one.total_ns),
                three(one.core_hours_per_million),
                bytes((one.bytes * MILLION) as u64),
            ]);
        }
        if rows.len() > SHOWN {
            let more = format!("{} others cost more", rows.len() - SHOWN);
            table.add_row([runtime.name().to_owned(), more]);
        }
    }
    grid::align(&mut table, 3..9);
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

fn three(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 0.1 => format!("{value:.2}"),
        value => format!("{value:.4}"),
    }
}
