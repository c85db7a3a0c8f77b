//! From samples to estimates, ratios and an order.

use crate::contender::Gives;
use crate::report::{Report, Row, Series, Timing};
use crate::runtime::Runtime;
use crate::sampler::{Runner, Samples};
use crate::stats::{self, Estimate};

/// The times of one contender, without its place among the others; nothing when it dropped out.
pub(crate) fn timing(runner: &Runner, seed: u64) -> Option<Timing> {
    if runner.trouble.is_some() || runner.decode.taken.is_empty() || runner.encode.taken.is_empty()
    {
        return None;
    }
    let (decode, encode) = (series(&runner.decode, seed), series(&runner.encode, seed));
    let total_ns = stats::estimate_of(&[&decode.samples_ns, &encode.samples_ns], seed, |medians| {
        medians[0] + medians[1]
    });
    let ratio = Estimate { median: 1.0, low: 1.0, high: 1.0 };
    Some(Timing { decode, encode, total_ns, ratio, memory: runner.memory })
}

fn series(samples: &Samples, seed: u64) -> Series {
    let samples_ns = samples.per_pass();
    Series {
        iterations: samples.iterations,
        estimate_ns: stats::estimate(&samples_ns, seed),
        samples_ns,
        cpu_share: samples.cpu_share(),
        gc_share: samples.gc_share,
        gc_count: None,
        allocations: None,
        outliers: Vec::new(),
    }
}

/// Orders the rows by runtime, kind and total time, and gives each its ratio to the best of its
/// group. Rows without times come last in their group, in order of name.
pub(crate) fn rank(report: &mut Report, seed: u64) {
    let total = |row: &Row| row.timing.as_ref().map_or(f64::INFINITY, |one| one.total_ns.median);
    report.rows.sort_by(|one, other| {
        (one.runtime, one.gives)
            .cmp(&(other.runtime, other.gives))
            .then_with(|| total(one).total_cmp(&total(other)))
            .then_with(|| one.contender.cmp(&other.contender))
    });
    let groups = groups(report);
    for (runtime, gives) in groups {
        let mut best: Option<Timing> = None;
        for row in report.rows.iter_mut().filter(|row| is_in(row, runtime, gives)) {
            let Some(timing) = row.timing.as_mut() else { continue };
            match &best {
                None => best = Some(timing.clone()),
                Some(best) => {
                    timing.ratio = ratio(
                        &[&timing.decode, &timing.encode],
                        &[&best.decode, &best.encode],
                        seed,
                    );
                }
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
    let lists: Vec<&[f64]> =
        these.iter().chain(those).map(|series| series.samples_ns.as_slice()).collect();
    let split = these.len();
    stats::estimate_of(&lists, seed, move |medians| {
        medians[..split].iter().sum::<f64>() / medians[split..].iter().sum::<f64>()
    })
}
