//! How long values take to read: in the format they are in, and in those that they could move to.

use std::fmt::Write as _;

use regauge::Format;
use regauge_measure::report::Row;
use regauge_measure::stats::Estimate;
use regauge_measure::{Gives, Runtime, thousands, three_digits, time};
use serde_json::{Value, json};

use super::{COLUMNS, wrapped};
use crate::text::visible;
use crate::words;

/// What is said if the intervals of two times overlap.
const NO_DIFFERENCE: &str = "no clear difference";
/// The formats that values could move to.
pub use regauge_caches::recode::FORMATS as OTHERS;

/// How long sampled values of one format take to decode in one runtime. Times are of one value and one core;
/// microseconds per value are seconds of processor time per million reads. Decompression is not in them.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The format that the values are in.
    pub format: Format,
    /// The runtime: `Ruby`.
    pub runtime: String,
    /// How many sampled values were decoded.
    pub values: u64,
    /// How many prefixes they are from.
    pub prefixes: u64,
    /// The runtime's usual library for the format, if it was timed.
    pub now: Option<Candidate>,
    /// The fastest library of each format that the values could move to; the fastest first.
    pub best: Vec<Candidate>,
    /// How many libraries were timed and gave the right data.
    pub timed: u64,
    /// How many of those that regauge knows are not installed.
    pub missing: u64,
    /// Why there are no times, if there are none.
    pub not_timed: Option<String>,
    /// The part of its time for which a library typically had the processor, if the machine was busy and times are by
    /// the clock.
    pub busy: Option<f64>,
}

/// A library that was timed.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The format that it decodes.
    pub format: Format,
    /// Its name.
    pub library: String,
    /// Its version.
    pub version: String,
    /// Nanoseconds per value.
    pub ns: Estimate,
    /// Whether that is processor time. Where a process cannot be pinned to a core, it is time by the clock.
    pub is_processor_time: bool,
    /// Of how many libraries of this format it is the fastest.
    pub of: u64,
}

impl Reading {
    /// Returns the times of a measurement of sampled values, which are from so many prefixes.
    pub fn new(
        format: Format,
        runtime: Runtime,
        prefixes: u64,
        report: &regauge_measure::Report,
    ) -> Reading {
        let timed: Vec<_> = report.rows.iter().filter_map(|row| candidate(row, report)).collect();
        let now = timed.iter().find(|(one, row)| {
            one.format == format && row.contender == format.name() && row.losses.is_empty()
        });
        let mut best: Vec<_> = OTHERS.iter().filter_map(|to| fastest(&timed, *to)).collect();
        best.sort_by(|a, b| a.ns.median.total_cmp(&b.ns.median));
        Reading {
            format,
            runtime: runtime.name().to_owned(),
            values: report.method.timed_documents,
            prefixes,
            now: now.map(|(one, _)| one.clone()),
            best,
            timed: timed.len() as u64,
            missing: report.missing.len() as u64,
            not_timed: timed.is_empty().then(|| why_none(runtime, report)),
            // Whatever else the machine did is not in processor time.
            busy: report
                .busy_share()
                .filter(|_| !timed.iter().all(|(one, _)| one.is_processor_time)),
        }
    }

    /// Returns one that says why there are no times.
    pub fn not_timed(format: Format, runtime: Runtime, reason: impl Into<String>) -> Reading {
        Reading {
            format,
            runtime: runtime.name().to_owned(),
            values: 0,
            prefixes: 0,
            now: None,
            best: Vec::new(),
            timed: 0,
            missing: 0,
            not_timed: Some(reason.into()),
            busy: None,
        }
    }

    /// Returns the fastest library of a format that the values could move to.
    pub fn best_of(&self, format: Format) -> Option<&Candidate> {
        self.best.iter().find(|one| one.format == format)
    }

    /// Compares reading as it is with reading another format: `2.00x faster`. Without a clear difference there is no
    /// ratio: the intervals overlap.
    pub fn change(&self, to: &Candidate) -> Option<String> {
        let now = &self.now.as_ref()?.ns;
        if now.median <= 0.0 || to.ns.median <= 0.0 {
            return None;
        }
        let times = now.median / to.ns.median;
        Some(if to.ns.high < now.low {
            format!("{}x faster", three_digits(times))
        } else if to.ns.low > now.high {
            format!("{}x slower", three_digits(1.0 / times))
        } else {
            NO_DIFFERENCE.to_owned()
        })
    }

    /// Says how reading changes with the values in another format, and how many libraries that rests on.
    pub fn words(&self, to: Format) -> Option<String> {
        let (now, best) = (self.now.as_ref()?, self.best_of(to)?);
        let change = self.change(best)?;
        let times = format!("{} instead of {}", time(best.ns.median), time(now.ns.median));
        let what = match change.as_str() {
            NO_DIFFERENCE => format!("in {times} a value, no clear difference"),
            _ => format!("{change}, in {times} a value"),
        };
        let library = visible(&best.library);
        let mut words =
            format!("{} reads it {what} (with {library}, {})", self.runtime, best.among());
        // Another format may be the better choice by far.
        let first = self.best.first().filter(|one| one.format != to && one.ns.high < best.ns.low);
        if let Some(first) = first.filter(|one| one.ns.median < 0.8 * best.ns.median) {
            let _ = write!(
                words,
                "; the fastest format is {}, in {} (with {})",
                first.format.title(),
                time(first.ns.median),
                visible(&first.library)
            );
        }
        Some(words)
    }
}

impl Candidate {
    /// Says among how many of its format it is the fastest.
    fn among(&self) -> String {
        match self.of {
            1 => "the only library timed".to_owned(),
            of => format!("the fastest of {} libraries timed", thousands(of)),
        }
    }
}

/// Returns what was timed of a library that gave the right data, per value.
fn candidate<'r>(row: &'r Row, report: &regauge_measure::Report) -> Option<(Candidate, &'r Row)> {
    let timing = row.timing.as_ref().filter(|_| row.gives == Gives::Data)?;
    let values = report.method.timed_documents.max(1) as f64;
    let pass = &timing.decode.estimate_ns;
    let format = match row.format.as_str() {
        "ndjson" => Format::Json,
        name => *Format::ALL.iter().find(|format| format.name() == name)?,
    };
    let ns = Estimate {
        median: pass.median / values,
        low: pass.low / values,
        high: pass.high / values,
        too_few: pass.too_few,
    };
    let (library, version) = (row.contender.clone(), row.version.clone());
    let is_processor_time = timing.decode.by_processor_time;
    Some((Candidate { format, library, version, ns, is_processor_time, of: 1 }, row))
}

/// Returns the fastest library of a format that is safe and loses nothing.
fn fastest(timed: &[(Candidate, &Row)], format: Format) -> Option<Candidate> {
    let may_win = |(one, row): &&(Candidate, &Row)| {
        one.format == format && row.losses.is_empty() && row.unsafe_because.is_none()
    };
    let list = || timed.iter().filter(may_win).map(|(one, _)| one);
    let best = list().min_by(|a, b| a.ns.median.total_cmp(&b.ns.median))?;
    Some(Candidate { of: list().count() as u64, ..best.clone() })
}

/// Says why a measurement has no times.
fn why_none(runtime: Runtime, report: &regauge_measure::Report) -> String {
    let name = runtime.name();
    let failed = report.rows.iter().find_map(|row| row.failure.as_deref());
    match (report.rows.is_empty(), report.missing.first(), failed) {
        (true, Some(missing), _) => {
            let reason = missing.reason.lines().next().unwrap_or_default();
            format!("{name} or its libraries are not installed ({})", visible(reason))
        }
        (_, _, Some(failed)) => visible(failed.lines().next().unwrap_or_default()),
        _ => format!("no library of {name} gave the right data in time"),
    }
}

/// Writes the times as a table of the screen.
pub(super) fn screen(text: &mut String, readings: &[Reading]) {
    if readings.is_empty() {
        return;
    }
    let title = "processor time to read a value, in µs (= seconds per million reads)";
    let _ = writeln!(text, "\n{title}");
    let (is_timed, not_timed): (Vec<&Reading>, Vec<&Reading>) =
        readings.iter().partition(|one| one.not_timed.is_none());
    if !is_timed.is_empty() {
        let _ = writeln!(
            text,
            "  {:<13} {:>6} {:<7} {:>8} {:>11} {:>8} {:>8}  libraries",
            "values in", "sample", "runtime", "now", "MessagePack", "JSON", "CBOR"
        );
    }
    for one in &is_timed {
        let best = OTHERS.map(|format| micros(one.best_of(format)));
        let _ = writeln!(
            text,
            "  {:<13} {:>6} {:<7} {:>8} {:>11} {:>8} {:>8}  {} timed",
            one.format.title(),
            thousands(one.values),
            one.runtime,
            micros(one.now.as_ref()),
            best[0],
            best[1],
            best[2],
            one.timed
        );
    }
    for one in not_timed {
        let reason = one.not_timed.as_deref().unwrap_or_default();
        let words = format!("{} in {}: not timed: {reason}", one.format.title(), one.runtime);
        let _ = writeln!(text, "  {}", wrapped(&words, COLUMNS - 2).join("\n  "));
    }
    let lacks = |one: &&Reading| one.now.is_none() || one.best.len() < OTHERS.len();
    let gap = is_timed.iter().any(lacks).then(|| format!("{GAP}; `{SETUP}` installs more."));
    for note in [gap, busy(readings).map(words::busy), Some(NOTE.to_owned())].into_iter().flatten()
    {
        let _ = writeln!(text, "  {}", wrapped(&note, COLUMNS - 2).join("\n  "));
    }
}

/// Why a format has no time.
pub(super) const GAP: &str = "–: no library that is installed, loses nothing and is safe was timed";
/// What installs more libraries.
pub(super) const SETUP: &str = "regauge measure --setup";

/// What the times are of.
pub(super) const NOTE: &str = "Decoding alone, without decompression and network. Only sampled values that are plain \
                               data were timed, written again by regauge.";

/// Returns how busy the machine was, if it was.
pub(super) fn busy(readings: &[Reading]) -> Option<f64> {
    readings.iter().filter_map(|one| one.busy).min_by(f64::total_cmp)
}

fn micros(candidate: Option<&Candidate>) -> String {
    candidate.map_or("–".to_owned(), |one| three_digits(one.ns.median / 1e3))
}

/// Returns the times for programs.
pub(super) fn json(reading: &Reading) -> Value {
    let candidate = |one: &Candidate| {
        json!({
            "format": one.format.name(),
            "library": one.library,
            "version": one.version,
            "us_per_read": one.ns.median / 1e3,
            "us_low": one.ns.low / 1e3,
            "us_high": one.ns.high / 1e3,
            "is_processor_time": one.is_processor_time,
            "libraries_timed": one.of,
        })
    };
    json!({
        "format": reading.format.name(),
        "runtime": reading.runtime,
        "values": reading.values,
        "prefixes": reading.prefixes,
        "now": reading.now.as_ref().map(candidate),
        "best": reading.best.iter().map(candidate).collect::<Vec<_>>(),
        "libraries_timed": reading.timed,
        "libraries_missing": reading.missing,
        "not_timed": reading.not_timed,
        "busy_share": reading.busy,
    })
}
