//! Turns samples into estimates, ratios and an order.

use crate::model::noise;
use crate::model::report::{Cold, Dropped, Report, Row, Series, Timing};
use crate::model::runtime::Runtime;
use crate::model::stats::{self, Estimate, Grouped, List};
use crate::model::wire::Gives;
use crate::run::sampler::{Runner, Samples, kept};

/// What the samples of a whole run show, in addition to those of each contender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moments {
    /// The machine's best time for a probe.
    pub best_probe: f64,
    /// The share of all samples that were quiet.
    pub quiet_share: Option<f64>,
    /// Whether the caller wants processor time.
    pub processor_time: bool,
}

impl Moments {
    pub(crate) fn of(runners: &[Runner], best_probe: f64, processor_time: bool) -> Moments {
        let all = || runners.iter().flat_map(|runner| [&runner.decode, &runner.encode]);
        let count: usize = all().map(|samples| samples.per_pass.len()).sum();
        let quiet: f64 = all()
            .filter_map(|samples| {
                Some(samples.quiet_share(best_probe)? * samples.per_pass.len() as f64)
            })
            .sum();
        let quiet_share = (count > 0).then(|| quiet / count as f64);
        Moments { best_probe, quiet_share, processor_time }
    }

    /// Returns whether processor time counts: it is wanted, or the clock tells more of the machine than of the
    /// contenders.
    fn is_by_processor_time(&self) -> bool {
        self.processor_time || self.quiet_share.is_some_and(|share| share < noise::HARDLY)
    }
}

/// Returns the times of one contender, without its place among the others, or nothing if there are
/// none.
pub(crate) fn timing(
    runner: &Runner,
    moments: &Moments,
    process_spread: f64,
    seed: u64,
) -> Option<Timing> {
    if runner.trouble.is_some() || runner.decode.taken.is_empty() || runner.encode.taken.is_empty()
    {
        return None;
    }
    let one_thread = runner.pinned && moments.is_by_processor_time();
    let series = |samples| series(samples, moments, one_thread, process_spread, seed);
    let (decode, encode) = (series(&runner.decode), series(&runner.encode));
    let total_ns = estimate(&[&decode, &encode], seed, |medians| medians.iter().sum());
    Some(Timing {
        decode,
        encode,
        total_ns,
        ratio: Estimate::exact(1.0),
        decode_ratio: None,
        encode_ratio: None,
        memory: runner.memory,
    })
}

fn series(
    samples: &Samples,
    moments: &Moments,
    one_thread: bool,
    process_spread: f64,
    seed: u64,
) -> Series {
    let processor = samples.processor_time().filter(|_| one_thread);
    let by_processor_time = processor.is_some();
    let samples_ns = processor.unwrap_or_else(|| samples.per_pass.clone());
    let left_out =
        if by_processor_time { Vec::new() } else { samples.left_out(moments.best_probe) };
    let mut series = Series {
        iterations: samples.iterations,
        outliers: stats::outliers(&samples_ns),
        samples_ns,
        estimate_ns: Estimate::exact(0.0),
        cpu_share: samples.cpu_share(),
        gc_share: samples.gc_share(),
        gc_count: samples.gc_count(),
        allocations: samples.allocations(),
        sittings: samples.sittings.clone(),
        probes_ns: samples.around.clone(),
        quiet_share: samples.quiet_share(moments.best_probe),
        left_out,
        process_spread,
        by_processor_time,
    };
    series.estimate_ns = estimate(&[&series], seed, |medians| medians[0]);
    series
}

/// Returns a number made of the medians of these series, and its interval, which knows which
/// samples came from the same process.
pub(crate) fn estimate(these: &[&Series], seed: u64, number: impl Fn(&[f64]) -> f64) -> Estimate {
    let lists: Vec<List> = these.iter().map(|series| list(series)).collect();
    let grouped: Vec<Grouped> = lists.iter().map(Grouped::from).collect();
    judged(stats::estimate_of_processes(&grouped, seed, number), &grouped)
}

/// Two samples of one process may be alike by chance.
const SAMPLES_MIN: usize = 3;

/// Returns an estimate that says so when the samples are too few for it: one process gave fewer than
/// three, or the interval is too wide.
pub(crate) fn judged(mut estimate: Estimate, lists: &[Grouped]) -> Estimate {
    estimate.too_few |= lists.iter().any(|list| {
        let processes = list.sizes.iter().filter(|size| **size > 0).count();
        processes < 2 && (1..SAMPLES_MIN).contains(&list.samples.len())
    });
    estimate.unless_too_wide()
}

/// Returns the samples of a series that count, and which process gave which.
pub(crate) fn list(series: &Series) -> List {
    let spread = match series.process_spread {
        0.0 => stats::SPREAD,
        spread => spread,
    };
    kept(&series.samples_ns, &series.sittings, &series.left_out, spread)
}

/// Returns the time that fresh processes took until their first document, or nothing without any.
pub(crate) fn cold(runner: &Runner, seed: u64) -> Option<Cold> {
    if runner.cold_start_ns.is_empty() || runner.cold_decode_ns.is_empty() {
        return None;
    }
    Some(Cold {
        start_ns: stats::estimate(&runner.cold_start_ns, seed).unless_too_wide(),
        first_decode_ns: stats::estimate(&runner.cold_decode_ns, seed).unless_too_wide(),
    })
}

/// Orders the rows by runtime, kind and total time, and gives each its ratios to the best of its
/// group. Rows without times come last in their group, in order of name.
pub fn rank(report: &mut Report, seed: u64) {
    let total = |row: &Row| row.timing.as_ref().map_or(f64::INFINITY, |one| one.total_ns.median);
    report.rows.sort_by(|one, other| {
        (one.runtime, one.gives)
            .cmp(&(other.runtime, other.gives))
            .then_with(|| total(one).total_cmp(&total(other)))
            .then_with(|| one.contender.cmp(&other.contender))
    });
    for (runtime, gives) in groups(report) {
        let timed: Vec<Timing> = report
            .rows
            .iter()
            .filter(|row| is_in(row, runtime, gives))
            .filter_map(|row| row.timing.clone())
            .collect();
        let least = |time: fn(&Timing) -> f64| {
            timed.iter().min_by(|one, other| time(one).total_cmp(&time(other)))
        };
        let (Some(best), Some(decoder), Some(encoder)) = (
            timed.first(),
            least(|one| one.decode.estimate_ns.median),
            least(|one| one.encode.estimate_ns.median),
        ) else {
            continue;
        };
        for row in report.rows.iter_mut().filter(|row| is_in(row, runtime, gives)) {
            let Some(timing) = row.timing.as_mut() else { continue };
            // The best against itself is 1, whatever its samples do.
            let against = |these: &[&Series], those: &[&Series]| {
                if these == those { Estimate::exact(1.0) } else { ratio(these, those, seed) }
            };
            let (decode, encode) = (&timing.decode, &timing.encode);
            let both = against(&[decode, encode], &[&best.decode, &best.encode]);
            timing.decode_ratio = Some(against(&[decode], &[&decoder.decode]));
            timing.encode_ratio = Some(against(&[encode], &[&encoder.encode]));
            timing.ratio = both;
            row.dropped = row.dropped.and_then(|dropped| confirmed(dropped, timing));
        }
    }
}

/// Returns how much slower than the best a contender that left the race is at least, or nothing if its
/// interval does not say so: when it left, another one may have been the best.
fn confirmed(dropped: Dropped, timing: &Timing) -> Option<Dropped> {
    // One sample may be the pass of a check, which is divided by what other checks may have cost it.
    let at_least = match timing.decode.samples_ns.len() {
        0 | 1 => dropped.at_least.min(timing.ratio.low),
        _ => timing.ratio.low,
    };
    (at_least > 1.0).then_some(Dropped { at_least, ..dropped })
}

/// Returns the runtime and kind of every group of rows that may be compared, in the order of the
/// rows.
#[must_use]
pub fn groups(report: &Report) -> Vec<(Runtime, Gives)> {
    let mut groups: Vec<(Runtime, Gives)> =
        report.rows.iter().map(|row| (row.runtime, row.gives)).collect();
    groups.dedup();
    groups
}

/// Returns whether a row belongs to a group.
#[must_use]
pub fn is_in(row: &Row, runtime: Runtime, gives: Gives) -> bool {
    row.runtime == runtime && row.gives == gives
}

/// Returns the ratio of the total time of `these` to that of `those`.
#[must_use]
pub fn ratio(these: &[&Series], those: &[&Series], seed: u64) -> Estimate {
    let lists: Vec<List> = these.iter().chain(those).map(|series| list(series)).collect();
    let grouped: Vec<Grouped> = lists.iter().map(Grouped::from).collect();
    let split = these.len();
    let number = |medians: &[f64]| {
        medians[..split].iter().sum::<f64>() / medians[split..].iter().sum::<f64>()
    };
    judged(stats::ratio_of_processes(&grouped, seed, number), &grouped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::report::small;

    #[test]
    fn at_least_is_against_the_best_that_is_shown() {
        let mut report = small::empty();
        let around = |ns: f64| [ns, ns * 1.01, ns * 1.02, ns * 1.03];
        let row = |name: &str, ns: f64| small::row(name, "json", 10, &around(ns), &around(ns));
        let left = |at_least: f64, row: Row| Row {
            dropped: Some(Dropped { at_least, processes: 1 }),
            ..row
        };
        report.rows = vec![
            left(2.2, row("first", 100.0)),
            row("best", 120.0),
            left(9.0, row("middling", 240.0)),
            left(3.0, small::row("check", "json", 10, &[1_000.0], &[1_000.0])),
        ];
        rank(&mut report, 1);
        let dropped = |name: &str| {
            let row = report.rows.iter().find(|row| row.contender == name).unwrap();
            (row.dropped.map(|one| one.at_least), row.timing.as_ref().unwrap().ratio.low)
        };
        assert_eq!(dropped("first").0, None, "it has the best time");
        let (at_least, low) = dropped("middling");
        assert_eq!(at_least, Some(low));
        assert!(low > 1.5 && low < 2.5, "{low}");
        assert_eq!(dropped("check").0, Some(3.0), "a pass of a check proves less");
    }
}
