//! Compares two runs: what changed, and whether it is more than noise.
//!
//! A time has changed when the 95% interval of its ratio to the earlier one excludes 1. The interval
//! knows which samples came from the same process, so it covers differences between processes, but
//! not between two days on the same machine. For those, the fixed piece of work that both runs timed is
//! compared, too.

use crate::judge::summary;
use crate::model::report::{Report, Row, SCHEMA, Series};
use crate::model::runtime::Runtime;
use crate::model::stats::{self, Estimate};
use crate::model::text::{bytes, thousands};

/// A difference in the fixed work that gets a warning.
const PACE_DIFFERS: f64 = 0.05;

/// What changed from one run to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Why the two are not quite comparable, in sentences.
    pub warnings: Vec<String>,
    /// Contenders that are in both.
    pub rows: Vec<Compared>,
    /// Contenders that only the earlier run has, and those that only the later has.
    pub gone: Vec<String>,
    /// See `gone`.
    pub new: Vec<String>,
}

/// One contender in both runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Its name, with both versions if they differ.
    pub name: String,
    /// Where it ran.
    pub runtime: Runtime,
    /// Decoding, if both have times.
    pub decode: Option<Change>,
    /// Encoding.
    pub encode: Option<Change>,
    /// What changed besides times: size, losses, correctness.
    pub remarks: Vec<String>,
}

/// The change of a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Nanoseconds of a pass before and now.
    pub before_ns: f64,
    /// See `before_ns`.
    pub now_ns: f64,
    /// Now relative to before.
    pub ratio: Estimate,
    /// Whether either run has too few samples for its time, so that the ratio says nothing.
    pub too_few: bool,
}

impl Change {
    fn of(before: &Series, now: &Series, seed: u64) -> Change {
        let lists = [summary::list(before), summary::list(now)];
        let lists = lists.each_ref().map(stats::Grouped::from);
        let ratio = stats::estimate_of_runs(&lists, seed, |medians| medians[1] / medians[0]);
        let ratio = summary::judged(ratio, &lists);
        Change {
            before_ns: before.estimate_ns.median,
            now_ns: now.estimate_ns.median,
            too_few: before.estimate_ns.too_few || now.estimate_ns.too_few || ratio.too_few,
            ratio,
        }
    }

    /// Returns whether the time has changed by more than noise.
    #[must_use]
    pub fn is_change(&self) -> bool {
        matches!(self.word(), "faster" | "slower")
    }

    /// Returns "faster" or "slower" if it is more than noise, "too few" if there are too few samples to
    /// tell, otherwise "same".
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self.ratio {
            _ if self.too_few => "too few",
            ratio if ratio.high < 1.0 => "faster",
            ratio if ratio.low > 1.0 => "slower",
            _ => "same",
        }
    }
}

/// Compares two runs, the earlier one first.
#[must_use]
pub fn compare(before: &Report, now: &Report) -> Comparison {
    let same = |one: &Row, other: &Row| {
        one.contender == other.contender
            && one.runtime == other.runtime
            && one.gives == other.gives
            && one.format == other.format
    };
    let name = |row: &Row| format!("{} ({})", row.contender, row.runtime.name());
    let only = |these: &Report, those: &Report| -> Vec<String> {
        let without = |row: &&Row| !those.rows.iter().any(|other| same(row, other));
        these.rows.iter().filter(without).map(name).collect()
    };
    let rows = now
        .rows
        .iter()
        .filter_map(|row| Some((before.rows.iter().find(|other| same(row, other))?, row)))
        .map(|(old, row)| compared(old, row, now.method.seed))
        .collect();
    Comparison {
        warnings: warnings(before, now),
        rows,
        gone: only(before, now),
        new: only(now, before),
    }
}

fn compared(old: &Row, row: &Row, seed: u64) -> Compared {
    let both = old.timing.as_ref().zip(row.timing.as_ref());
    let change = |part: fn(&crate::model::report::Timing) -> &Series| {
        both.map(|(old, now)| Change::of(part(old), part(now), seed))
    };
    let name = match old.version == row.version {
        true => format!("{} {}", row.contender, row.version).trim_end().to_owned(),
        false => format!("{} {}, was {}", row.contender, row.version, old.version),
    };
    let mut remarks = Vec::new();
    if let (Some(old), Some(now)) = (old.output_bytes, row.output_bytes)
        && old != now
    {
        remarks.push(format!("size {}, was {}", bytes(now), bytes(old)));
    }
    match (old.timing.is_some(), row.timing.is_some()) {
        (true, false) => remarks.push("no longer timed".to_owned()),
        (false, true) => remarks.push("not timed before".to_owned()),
        _ => {}
    }
    if old.wrong.is_empty() != row.wrong.is_empty() {
        remarks
            .push(if row.wrong.is_empty() { "was wrong before" } else { "now wrong" }.to_owned());
    }
    if old.runtime_version != row.runtime_version && !old.runtime_version.is_empty() {
        remarks.push(format!("in {}, was {}", row.runtime_version, old.runtime_version));
    }
    Compared {
        name,
        runtime: row.runtime,
        decode: change(|timing| &timing.decode),
        encode: change(|timing| &timing.encode),
        remarks,
    }
}

fn warnings(before: &Report, now: &Report) -> Vec<String> {
    let mut list = Vec::new();
    if before.schema != SCHEMA {
        list.push(format!("The earlier run uses schema {}, this one {SCHEMA}.", before.schema));
    }
    if before.input.name != now.input.name
        || before.input.bytes != now.input.bytes
        || before.method.timed_documents != now.method.timed_documents
    {
        list.push(format!(
            "The data differ: {} ({}, {} timed) before, {} ({}, {} timed) now. Times for \
             different data cannot be compared.",
            before.input.name,
            bytes(before.input.bytes),
            thousands(before.method.timed_documents),
            now.input.name,
            bytes(now.input.bytes),
            thousands(now.method.timed_documents)
        ));
    }
    let (old, new) = (&before.machine, &now.machine);
    if (&old.processor, old.cores, &old.system) != (&new.processor, new.cores, &new.system) {
        list.push(format!(
            "The machine differs: {}, {} cores, {} before; {}, {} cores, {} now.",
            old.processor, old.cores, old.system, new.processor, new.cores, new.system
        ));
    }
    if before.regauge != now.regauge {
        list.push(format!("regauge {} before, {} now.", before.regauge, now.regauge));
    }
    let pace = |report: &Report| report.noise.as_ref().map(|noise| stats::median(&noise.probes_ns));
    if let (Some(old), Some(new)) = (pace(before), pace(now))
        && old > 0.0
        && (new / old - 1.0).abs() > PACE_DIFFERS
    {
        list.push(format!(
            "The machine now takes {:.2}x as long for a fixed piece of work: a ratio near that is not \
             a change in a library.",
            new / old
        ));
    }
    for (report, word) in [(before, "earlier"), (now, "later")] {
        if report.interrupted {
            list.push(format!("The {word} run was interrupted."));
        }
        if let Some(share) = report.busy_share() {
            list.push(format!(
                "The machine was busy in the {word} run: contenders had the processor for only {:.0}% of \
                 their time. Trust no change that is small.",
                share * 100.0
            ));
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::report::small;

    /// Returns a fixed report with three libraries.
    fn report() -> Report {
        let quick = [1.00e6, 1.01e6, 1.02e6, 1.03e6, 1.04e6, 1.05e6, 1.06e6];
        let close = [1.02e6, 1.00e6, 1.07e6, 1.03e6, 1.05e6, 1.04e6, 1.08e6];
        let slow = [3.00e6, 3.03e6, 3.06e6, 3.09e6, 3.12e6, 3.15e6, 3.18e6];
        let mut report = small::empty();
        report.rows = [("quick", quick), ("close", close), ("slow", slow)]
            .map(|(name, times)| small::row(name, "json", 31_000_000, &times, &times))
            .into();
        report
    }

    /// Returns the fixed report, with the times of one row changed by a factor.
    fn with(factor: f64, name: &str) -> Report {
        let mut report = report();
        for row in report.rows.iter_mut().filter(|row| row.contender == name) {
            let decode = &mut row.timing.as_mut().unwrap().decode;
            decode.samples_ns.iter_mut().for_each(|sample| *sample *= factor);
            decode.estimate_ns = stats::estimate(&decode.samples_ns, 1);
        }
        report
    }

    fn word(comparison: &Comparison, name: &str) -> &'static str {
        let row = comparison.rows.iter().find(|row| row.name.starts_with(name)).unwrap();
        row.decode.unwrap().word()
    }

    #[test]
    fn too_few_samples_are_no_change() {
        let mut later = with(1.5, "quick");
        let quick = later.rows.iter_mut().find(|row| row.contender == "quick").unwrap();
        quick.timing.as_mut().unwrap().decode.estimate_ns.too_few = true;
        let comparison = compare(&report(), &later);
        assert_eq!(word(&comparison, "quick"), "too few");
        assert!(!comparison.rows.iter().any(|row| row.decode.unwrap().is_change()));
    }

    #[test]
    fn a_busy_machine_gets_a_warning() {
        let mut later = report();
        for timing in later.rows.iter_mut().filter_map(|row| row.timing.as_mut()) {
            timing.decode.cpu_share = Some(0.6);
            timing.encode.cpu_share = Some(0.6);
        }
        let warnings = compare(&report(), &later).warnings;
        assert!(warnings.iter().any(|one| one.contains("busy in the later run")), "{warnings:?}");
    }

    #[test]
    fn a_run_is_the_same_as_itself() {
        let comparison = compare(&report(), &report());
        assert!(comparison.warnings.is_empty() && comparison.gone.is_empty());
        assert_eq!(comparison.rows.len(), report().rows.len());
        for row in &comparison.rows {
            assert!(row.remarks.is_empty());
            for change in [row.decode, row.encode].into_iter().flatten() {
                assert_eq!((change.word(), change.ratio.median), ("same", 1.0));
            }
        }
    }

    #[test]
    fn what_is_beyond_the_noise_is_named_and_what_is_not_is_not() {
        let slower = compare(&report(), &with(1.3, "quick"));
        assert_eq!((word(&slower, "quick"), word(&slower, "close")), ("slower", "same"));
        assert_eq!(word(&compare(&report(), &with(0.8, "quick")), "quick"), "faster");
        // The samples spread by 3%, so half a percent is noise.
        assert_eq!(word(&compare(&report(), &with(1.005, "quick")), "quick"), "same");
    }

    #[test]
    fn other_data_another_machine_and_another_pace_are_told() {
        let mut other = report();
        other.input.bytes += 1;
        other.machine.processor = "Example 9001".into();
        other.regauge = "0.2.0".into();
        other.interrupted = true;
        let noise = |ns| crate::model::noise::told(vec![ns; 9], None);
        other.noise = noise(1.5e6);
        let mut before = report();
        before.noise = noise(1e6);
        let warnings = compare(&before, &other).warnings;
        let starts = [
            "The data differ: a.json (4,000 B, 1 timed) before",
            "The machine differs: a processor, 2 cores",
            "regauge 0.0.0 before, 0.2.0 now",
            "The machine now takes 1.50x as long",
            "The later run was interrupted",
        ];
        assert_eq!(warnings.len(), starts.len(), "{warnings:?}");
        for (warning, start) in warnings.iter().zip(starts) {
            assert!(warning.starts_with(start), "{warning}");
        }
    }

    #[test]
    fn rows_that_come_and_go_and_change_otherwise() {
        let mut later = report();
        later.rows.retain(|row| row.contender != "close");
        let quick = later.rows.iter_mut().find(|row| row.contender == "quick").unwrap();
        quick.version = "1.3".into();
        quick.output_bytes = Some(30_000_000);
        quick.timing = None;
        let comparison = compare(&report(), &later);
        assert_eq!(comparison.gone, ["close (Python)"]);
        assert!(comparison.new.is_empty());
        let quick = comparison.rows.iter().find(|row| row.name.starts_with("quick")).unwrap();
        assert_eq!(quick.name, "quick 1.3, was 1");
        assert_eq!(quick.remarks, ["size 30.0 MB, was 31.0 MB", "no longer timed"]);
        assert_eq!(quick.decode, None);
        assert_eq!(compare(&later, &report()).new, ["close (Python)"]);
    }
}
