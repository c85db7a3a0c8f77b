//! Fills the report's rows from the results of checks and race.

use std::collections::BTreeMap;

use crate::judge::summary::{self, Moments};
use crate::judge::verdict::Untimed;
use crate::model::report::{self, Dropped, Missing, NotTimed, Reference, Report, Row};
use crate::model::runtime::Runtime;
use crate::plan::contender::Contender;
use crate::plan::options::Options;
use crate::plan::reference::References;
use crate::run::check::{Blame, Outcome};
use crate::run::gzip::gzip_of;
use crate::run::safety;
use crate::run::sampler::{self, CHECK_SLOWS, Runner};

/// Adds the sizes: of regauge's references, and of those that a runtime wrote itself.
pub(crate) fn report_references(
    references: &References,
    gzip: &[(String, u64)],
    compressions: Vec<Vec<report::Compression>>,
    contenders: &[Contender],
    outcomes: &[Outcome],
) -> Vec<Reference> {
    let mut list: Vec<Reference> = references
        .list
        .iter()
        .zip(compressions)
        .map(|(one, compressions)| Reference {
            format: one.name(),
            bytes: one.bytes,
            gzip_bytes: gzip_of(gzip, &one.name()),
            written_by: "regauge".to_owned(),
            losses: one.losses.clone(),
            compressions,
        })
        .collect();
    for (contender, outcome) in contenders.iter().zip(outcomes) {
        if let Outcome::Compared(compared) = outcome
            && let Some((bytes, gzip_bytes)) = compared.own_reference
        {
            list.push(Reference {
                format: contender.wire.name().to_owned(),
                bytes,
                gzip_bytes,
                written_by: format!("{} ({})", contender.name, contender.runtime.name()),
                losses: Vec::new(),
                compressions: Vec::new(),
            });
        }
    }
    list
}

/// The results of checks and race.
pub(crate) struct Findings {
    pub outcomes: Vec<Outcome>,
    pub runners: Vec<Runner>,
    pub moments: Moments,
}

/// Puts the results of checks and race into the report. Also returns the contenders without times.
pub(crate) fn fill(
    mut report: Report,
    contenders: &[Contender],
    Findings { outcomes, runners, moments }: Findings,
    references: &References,
    options: &Options,
) -> (Report, Vec<Untimed>) {
    let mut untimed = Vec::new();
    let (mut late, mut cold) = (Vec::new(), Vec::new());
    // Checks are of all documents, times perhaps of every n-th.
    let timed = report.method.timed_documents.max(1);
    let part = timed as f64 / references.documents.max(1) as f64;
    let compiled: Vec<Runtime> =
        runners.iter().filter(|one| one.compiles()).map(|one| one.group.0).collect();
    let out_of_time =
        if options.is_stopped() { "the run was interrupted" } else { "the budget ran out" };
    for (index, (contender, outcome)) in contenders.iter().zip(outcomes).enumerate() {
        let mut row = blank(contender, references);
        // Why it has no times, and whether it cannot win for that reason.
        let mut why = None;
        match outcome {
            Outcome::NotReached => {
                untimed.push(no_times(&row, out_of_time.to_owned(), false));
                continue;
            }
            Outcome::Missing(reason) => {
                report.missing.push(Missing {
                    contender: contender.name.clone(),
                    runtime: contender.runtime,
                    install: contender.install.clone(),
                    reason,
                    usual: contender.is_usual,
                    gives: Some(contender.gives),
                });
                continue;
            }
            Outcome::Failed { hello, why: reason, blame } => {
                why = Some((reason.clone(), blame == Blame::Library));
                if let Some(hello) = hello {
                    (row.runtime_version, row.version) = (hello.runtime, hello.version);
                }
                row.failure = Some(reason);
            }
            Outcome::Late { hello, after, why: reason } => {
                if let Some(hello) = hello {
                    (row.runtime_version, row.version) = (hello.runtime, hello.version);
                }
                match after {
                    Some(after) => late.push((report.rows.len(), after.as_nanos() as f64)),
                    None => why = Some((reason.clone(), false)),
                }
                row.failure = Some(reason);
            }
            Outcome::Compared(compared) => {
                let first_ns = compared.first_decode_ns + compared.checked.encode_ns as f64;
                cold.push((report.rows.len(), first_ns));
                row.runtime_version = compared.hello.runtime;
                row.version = compared.hello.version;
                row.output_bytes = Some(compared.output_bytes);
                row.output_gzip_bytes = Some(compared.output_gzip_bytes);
                row.output_compressed = compared.output_compressed;
                row.losses = compared.losses;
                row.wrong = compared.wrong;
                row.wrong_documents = compared.wrong_documents;
                if let Some(runner) = runners.iter().find(|runner| runner.index == index) {
                    let spread = sampler::spread_of(&runners, row.runtime, moments.best_probe);
                    row.timing = summary::timing(runner, &moments, spread, options.seed);
                    row.cold = summary::cold(runner, options.seed);
                    row.dropped = runner.dropped.map(|at_least| Dropped {
                        at_least,
                        processes: runner.decode.processes() as u64,
                    });
                    row.failure = match (&runner.trouble, &row.timing, &runner.late) {
                        (Some(trouble), _, _) => Some(trouble.to_string()),
                        (None, Some(_), _) => None,
                        (None, None, None) => Some(out_of_time.to_owned()),
                        (None, None, Some(trouble)) => {
                            // The race may have left it no time: its check tells how slow it is.
                            late.push((report.rows.len(), runner.guess.total() / part));
                            Some(trouble.to_string())
                        }
                    };
                }
                why = match &row.failure {
                    _ if !row.wrong.is_empty() => Some(("its output is wrong".into(), true)),
                    // Those are handled below.
                    Some(_) if late.last().is_some_and(|one| one.0 == report.rows.len()) => None,
                    Some(failure) => Some((failure.clone(), false)),
                    None if row.timing.is_none() => Some(("nothing was timed".into(), false)),
                    None => None,
                };
            }
        }
        if let Some((why, is_ruled_out)) = why {
            untimed.push(no_times(&row, why, is_ruled_out));
        }
        report.rows.push(row);
    }
    for (place, at_least_ns) in late {
        let compiles = compiled.contains(&report.rows[place].runtime);
        untimed.push(leave_late(
            &mut report,
            place,
            at_least_ns,
            &Firsts { cold: &cold, part, compiles },
        ));
    }
    summary::rank(&mut report, options.seed);
    if !options.processor_time {
        note_processor_time(&mut report);
    }
    (report, untimed)
}

/// Says so if times are processor time instead of wall-clock time.
fn note_processor_time(report: &mut Report) {
    let decodes = || report.rows.iter().filter_map(|row| Some(&row.timing.as_ref()?.decode));
    let count = decodes().filter(|series| series.by_processor_time).count();
    let timed = decodes().count();
    if count > 0 {
        report.notes.push(format!(
            "The machine was rarely quiet, so {count} of the {timed} contenders, those that work on \
             one thread, are timed by processor time, not by the clock."
        ));
    }
}

/// A contender that takes at least this many times as long as the best of its group cannot win,
/// whatever the others' samples say.
const LATE: f64 = 3.0;
/// In a runtime that compiles, a first call says little: it must take so many times as long as the
/// slowest first call of its group.
const LATE_COLD: f64 = 10.0;
/// What a first call may take for other things than the data, such as imports, in nanoseconds.
const FIRST_CALL_NS: f64 = 0.3e9;

/// What first calls take, to judge one that did not come back.
struct Firsts<'f> {
    /// The first decoding and encoding of all documents in nanoseconds, by the place of the row.
    cold: &'f [(usize, f64)],
    /// The part of the documents that was timed.
    part: f64,
    /// Whether the runtime compiles while it runs.
    compiles: bool,
}

/// Reports a contender that was stopped, one call of which takes at least so long.
fn leave_late(report: &mut Report, place: usize, at_least_ns: f64, firsts: &Firsts) -> Untimed {
    let row = &report.rows[place];
    let best = report
        .rows
        .iter()
        .filter(|one| summary::is_in(one, row.runtime, row.gives))
        .filter_map(|one| Some(one.timing.as_ref()?.total_ns.median))
        .fold(f64::INFINITY, f64::min)
        / firsts.part;
    let slowest_cold = firsts
        .cold
        .iter()
        .filter(|one| summary::is_in(&report.rows[one.0], row.runtime, row.gives))
        .map(|one| one.1)
        .fold(best, f64::max);
    let (at_least, limit) = match firsts.compiles {
        true => (at_least_ns / slowest_cold, LATE_COLD),
        false => ((at_least_ns / CHECK_SLOWS - FIRST_CALL_NS) / best, LATE),
    };
    let why = row.failure.clone().unwrap_or_default();
    let row = &mut report.rows[place];
    if at_least >= limit {
        row.dropped = Some(Dropped { at_least, processes: 0 });
        return no_times(row, format!("{why}: at least {at_least:.0}x slower than the best"), true);
    }
    no_times(row, why, false)
}

pub(crate) fn no_times(row: &Row, why: String, is_ruled_out: bool) -> Untimed {
    let told = NotTimed { contender: row.contender.clone(), usual: row.usual, why, is_ruled_out };
    Untimed { runtime: row.runtime, gives: row.gives, told }
}

/// Returns the row of a contender about which nothing is known yet.
fn blank(contender: &Contender, references: &References) -> Row {
    let own = || contender.wire.name().to_owned();
    let format = match references.of(contender.wire) {
        Some(reference) if !contender.made_from_json => reference.name(),
        _ => own(),
    };
    Row {
        contender: contender.name.clone(),
        runtime: contender.runtime,
        runtime_version: String::new(),
        library: contender.library.clone(),
        version: String::new(),
        format,
        gives: contender.gives,
        unsafe_because: contender.unsafe_because.clone(),
        output_bytes: None,
        output_gzip_bytes: None,
        output_compressed: BTreeMap::new(),
        losses: Vec::new(),
        wrong: Vec::new(),
        wrong_documents: 0,
        failure: None,
        timing: None,
        cold: None,
        safety: None,
        usual: contender.is_usual,
        is_text: contender.is_text,
        dropped: None,
        whole: None,
    }
}

/// Puts what hostile documents did into the rows; what was not tried is noted.
pub(crate) fn note_safety(
    report: &mut Report,
    names: &[(Runtime, String)],
    tried: Vec<Option<safety::Found>>,
) {
    let mut untested = 0;
    for ((runtime, name), found) in names.iter().zip(tried) {
        match found {
            None => {}
            Some(safety::Found::NotTested) => untested += 1,
            Some(safety::Found::Failed(why)) => report
                .notes
                .push(format!("{name} ({}) could not be safety-tested: {why}", runtime.name())),
            Some(safety::Found::Safety(safety)) => {
                let row = report
                    .rows
                    .iter_mut()
                    .find(|row| row.runtime == *runtime && row.contender == *name);
                if let Some(row) = row {
                    row.safety = Some(*safety);
                }
            }
        }
    }
    if untested > 0 {
        let (who, them) = match untested {
            1 => ("1 contender has".to_owned(), "it"),
            _ => (format!("{untested} contenders have"), "them"),
        };
        report.notes.push(format!(
            "{who} not been safety-tested in this version; --safety all tests {them}."
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::report::small;

    /// Returns by how much a late contender is slower at least, if that rules it out. The best takes
    /// 150 µs warm and 60 ms at first.
    fn ruled_out(late_ms: f64, compiles: bool) -> Option<f64> {
        let mut report = small::empty();
        report.rows = vec![
            small::row("best", "json", 10, &[50e3; 5], &[100e3; 5]),
            Row { timing: None, ..small::row("late", "json", 10, &[1.0], &[1.0]) },
        ];
        let firsts = Firsts { cold: &[(0, 60e6)], part: 1.0, compiles };
        let told = leave_late(&mut report, 1, late_ms * 1e6, &firsts).told;
        let dropped = report.rows[1].dropped.map(|one| one.at_least);
        assert_eq!(told.is_ruled_out, dropped.is_some());
        dropped
    }

    #[test]
    fn a_cold_first_call_rules_nothing_out() {
        assert_eq!(ruled_out(100.0, true), None, "what a slow start left");
        assert_eq!(ruled_out(590.0, true), None);
        assert_eq!(ruled_out(2_000.0, true).map(f64::round), Some(33.0), "not 2 s over 150 µs");
        assert_eq!(ruled_out(600.0, false), None, "imports, beside other checks");
        assert!(ruled_out(1_000.0, false).is_some_and(|factor| factor > 1_000.0));
    }
}
