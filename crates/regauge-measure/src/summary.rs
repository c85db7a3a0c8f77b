//! From samples to estimates, ratios and an order.

use crate::contender::Gives;
use crate::report::{Cold, Report, Row, Series, Timing};
use crate::runtime::Runtime;
use crate::sampler::{Runner, Samples};
use crate::stats::{self, Estimate, Grouped, List};

/// The times of one contender, without its place among the others; nothing when it dropped out.
pub(crate) fn timing(runner: &Runner, seed: u64) -> Option<Timing> {
    if runner.trouble.is_some()
        || runner.too_slow.is_some()
        || runner.decode.taken.is_empty()
        || runner.encode.taken.is_empty()
    {
        return None;
    }
    let (decode, encode) = (series(&runner.decode, seed), series(&runner.encode, seed));
    let total_ns = estimate(&[&decode, &encode], seed, |medians| medians.iter().sum());
    let ratio = Estimate { median: 1.0, low: 1.0, high: 1.0 };
    Some(Timing { decode, encode, total_ns, ratio, memory: runner.memory })
}

fn series(samples: &Samples, seed: u64) -> Series {
    let mut series = Series {
        iterations: samples.iterations,
        samples_ns: samples.per_pass.clone(),
        estimate_ns: Estimate { median: 0.0, low: 0.0, high: 0.0 },
        cpu_share: samples.cpu_share(),
        gc_share: samples.gc_share(),
        gc_count: samples.gc_count(),
        allocations: samples.allocations(),
        outliers: stats::outliers(&samples.per_pass),
        sittings: samples.sittings.clone(),
    };
    series.estimate_ns = estimate(&[&series], seed, |medians| medians[0]);
    series
}

/// A number made of the medians of these series, and its interval, which knows which samples came
/// from the same process.
pub(crate) fn estimate(these: &[&Series], seed: u64, number: impl Fn(&[f64]) -> f64) -> Estimate {
    let lists: Vec<List> = these.iter().map(|series| list(series)).collect();
    let lists: Vec<Grouped> = lists.iter().map(Grouped::from).collect();
    stats::estimate_of_processes(&lists, seed, number)
}

/// The samples of a series, and which process gave which.
pub(crate) fn list(series: &Series) -> List {
    List { samples: series.samples_ns.clone(), sizes: series.sizes() }
}

/// What fresh processes took to their first document; nothing when there were none.
pub(crate) fn cold(runner: &Runner, seed: u64) -> Option<Cold> {
    if runner.cold_start_ns.is_empty() || runner.cold_decode_ns.is_empty() {
        return None;
    }
    Some(Cold {
        start_ns: stats::estimate(&runner.cold_start_ns, seed),
        first_decode_ns: stats::estimate(&runner.cold_decode_ns, seed),
    })
}

/// Orders the rows by runtime, kind and total time, and gives each its ratio to the best of its
/// group. Rows without times come last in their group, in order of name.
pub(crate) fn rank(report: &mut Report, seed: u64) {
    // On a machine that is too noisy the order would be chance: there it is that of the names.
    let is_ranked = report.is_ranked();
    let total = |row: &Row| match &row.timing {
        None => f64::INFINITY,
        Some(_) if !is_ranked => 0.0,
        Some(timing) => timing.total_ns.median,
    };
    report.rows.sort_by(|one, other| {
        (one.runtime, one.gives)
            .cmp(&(other.runtime, other.gives))
            .then_with(|| other.is_floor.cmp(&one.is_floor))
            .then_with(|| total(one).total_cmp(&total(other)))
            .then_with(|| one.contender.cmp(&other.contender))
    });
    if !is_ranked {
        return;
    }
    for (runtime, gives) in groups(report) {
        // The floor is no contender: it stands against the best as all others do.
        let best = report
            .rows
            .iter()
            .filter(|row| is_in(row, runtime, gives) && !row.is_floor)
            .find_map(|row| row.timing.clone().map(|timing| (row.contender.clone(), timing)));
        let Some((name, best)) = best else { continue };
        for row in report.rows.iter_mut().filter(|row| is_in(row, runtime, gives)) {
            if row.contender == name {
                continue;
            }
            if let Some(timing) = row.timing.as_mut() {
                timing.ratio =
                    ratio(&[&timing.decode, &timing.encode], &[&best.decode, &best.encode], seed);
            }
        }
    }
}

/// Runtime and kind of every group of rows that may be compared, in the order of the rows.
#[must_use]
pub fn groups(report: &Report) -> Vec<(Runtime, Gives)> {
    let mut groups: Vec<(Runtime, Gives)> =
        report.rows.iter().map(|row| (row.runtime, row.gives)).collect();
    groups.dedup();
    groups
}

/// Whether a row belongs to a group.
#[must_use]
pub fn is_in(row: &Row, runtime: Runtime, gives: Gives) -> bool {
    row.runtime == runtime && row.gives == gives
}

/// How many times as long `these` take together as `those`.
pub(crate) fn ratio(these: &[&Series], those: &[&Series], seed: u64) -> Estimate {
    let all: Vec<&Series> = these.iter().chain(those).copied().collect();
    let split = these.len();
    estimate(&all, seed, move |medians| {
        medians[..split].iter().sum::<f64>() / medians[split..].iter().sum::<f64>()
    })
}
