//! Fills the report's rows from the results of checks and race.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::judge::summary::{self, Moments};
use crate::judge::verdict::Untimed;
use crate::model::report::{self, Dropped, Missing, NotTimed, Reference, Report, Row};
use crate::model::runtime::Runtime;
use crate::plan::contender::Contender;
use crate::plan::options::Options;
use crate::plan::reference::References;
use crate::run::check::{Blame, Outcome};
use crate::run::gzip::gzip_of;
use crate::run::process::Trouble;
use crate::run::safety;
use crate::run::sampler::{self, Runner};

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
    let mut late = Vec::new();
    for (index, (contender, outcome)) in contenders.iter().zip(outcomes).enumerate() {
        let mut row = blank(contender, references);
        // Why it has no times, and whether it cannot win for that reason.
        let mut why = None;
        match outcome {
            Outcome::NotReached => {
                let stopped = options.is_stopped();
                let reason = if stopped { "the run was interrupted" } else { "the budget ran out" };
                untimed.push(no_times(&row, reason.to_owned(), false));
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
                (row.runtime_version, row.version) = (hello.runtime, hello.version);
                late.push((report.rows.len(), after));
                row.failure = Some(reason);
            }
            Outcome::Compared(compared) => {
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
                    row.failure = match (&runner.trouble, &row.timing, runner.late) {
                        (Some(trouble), _, _) => Some(trouble.to_string()),
                        (None, Some(_), _) => None,
                        (None, None, None) => Some("the budget ran out".into()),
                        (None, None, Some(after)) => {
                            late.push((report.rows.len(), after));
                            Some(Trouble::Silent(after).to_string())
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
    untimed.extend(late.into_iter().map(|(place, after)| leave_late(&mut report, place, after)));
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

/// A contender that did not answer within this multiple of the best of its group cannot win,
/// whatever the others' samples say.
const LATE: f64 = 3.0;

/// Reports a contender that was stopped before it answered: it takes at least the time that it was
/// given.
fn leave_late(report: &mut Report, place: usize, after: Duration) -> Untimed {
    let row = &report.rows[place];
    let best = report
        .rows
        .iter()
        .filter(|one| summary::is_in(one, row.runtime, row.gives))
        .filter_map(|one| Some(one.timing.as_ref()?.total_ns.median))
        .fold(f64::INFINITY, f64::min);
    let at_least = after.as_nanos() as f64 / best;
    let why = row.failure.clone().unwrap_or_default();
    let row = &mut report.rows[place];
    if at_least >= LATE {
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
