//! Runs a measurement from beginning to end: references, checks, race, report.

mod data;
mod finals;

use std::time::{Duration, Instant};

use crate::judge::cost;
use crate::judge::fill::{self, Findings};
use crate::judge::summary::Moments;
use crate::judge::verdict::{self, Untimed};
use crate::model::error::Error;
use crate::model::machine::Machine;
use crate::model::report::{self, Input, Method, Report, Row};
use crate::model::runtime::{self, Runtime};
use crate::model::{assets, noise};
use crate::plan::contender::Contender;
use crate::plan::folders::{file_name, subfolder, work_dir};
use crate::plan::input::Files;
use crate::plan::options::{Options, Progress, Stage, When};
use crate::plan::reference::{References, Shape};
use crate::plan::{contender, launch, order};
use crate::run::check::Outcome;
use crate::run::checks::{Absent, Check};
use crate::run::timed::Timed;
use crate::run::{compression, interpreters, sift, timed};
use data::Data;
use finals::Finals;

/// The part of the budget that compression may take.
const COMPRESSION_SHARE: f64 = 0.05;
/// The part of the budget after which the race is over, where the finals follow: the winners on the
/// whole of large data.
const RACE_SHARE: f64 = 0.75;
/// What is left at the end of the budget for the report: a part of it, and this at most.
const REPORT_SHARE: f64 = 0.04;
const FOR_THE_REPORT: Duration = Duration::from_millis(1_000);

/// Measures, and returns the report. Contenders that are missing, broken or wrong are part of it.
///
/// # Errors
/// `Input` for data that cannot be measured, `Adapter` and `NoContender` for the choice of
/// contenders, `Io` for the work folder.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report, Error> {
    let began = Instant::now();
    let machine = Machine::here();
    let files = options.input_files()?;
    let work = work_dir(options)?;
    assets::unpack(work.path()).map_err(Error::io("write", work.path()))?;

    let runners = runtime::with(&options.runners)?;
    order::known_runtimes(options, &runners)?;
    interpreters::try_given(options, work.path())?;
    let mut options = options.clone();
    if order::any_starts_slowly(&options, &runners) {
        options.budget += options.slow_start;
    }
    let options = &options;
    if options.rounds.is_none() {
        progress.left(options.budget);
    }
    progress.begin(Stage::References, 1);
    let needed = order::needed(options, &runners)?;
    let mut whole = References::write_needed(&files, needed, &subfolder(work.path(), "whole")?)?;
    let mut contenders = order::chosen(options, &runners, &files, &mut whole)?;
    let mut data = Data::of(whole, options, work.path())?;
    progress.step("");
    let (launches, translations) = launch::all(options, &runners, &mut contenders, work.path());

    let check = Check {
        contenders: &contenders,
        launches: &launches,
        translations: &translations,
        work: work.path(),
        options,
        runners: &runners,
        began,
        outputs: &compression::Outputs::default(),
        absent: &Absent::default(),
    };
    let mut outcomes = check_all(&check, &mut data, progress)?;
    let tried = check.safety(&outcomes, progress)?;
    let budget = options.budget.mul_f64(COMPRESSION_SHARE);
    let stopped = || options.is_stopped() || options.safety == When::Only;
    let compressions = compression::measure(&data.timed, budget, options.seed, &stopped, progress)?;
    let has_finals = data.smaller.is_some() && !options.part_only;
    let until = race_ends(options, has_finals);
    let timed = timed::all(&check, &mut outcomes, &data.timed, until, progress)?;
    let moments = Moments::of(&timed.runners, timed.best_probe, options.processor_time);

    let compressions = data.grown(compressions);
    let report = blank(options, &files, machine, &data, &timed)?;
    let report = Report {
        references: fill::report_references(
            &data.whole,
            &data.whole_gzip,
            compressions,
            &contenders,
            &outcomes,
        ),
        notes: data.whole.notes.iter().cloned().chain(timed.notes).collect(),
        noise: noise::told(timed.probes_ns, moments.quiet_share),
        ..report
    };
    let bundled = contender::bundled(&contenders);
    let names: Vec<(Runtime, String)> =
        contenders.iter().map(|one| (one.runtime, one.name.clone())).collect();
    let found = Findings { outcomes, runners: timed.runners, moments };
    let (mut report, mut untimed) = fill::fill(report, &contenders, found, &data.timed, options);
    fill::note_safety(&mut report, &names, tried);
    if data.smaller.is_some() {
        let finals = Finals { check: &check, data: &data };
        finals.enlarge(&mut report);
        if has_finals {
            finals.hold(&mut report, &mut untimed, progress)?;
        }
    }
    judge(&mut report, options, &bundled, &untimed);
    report.method.took_s = began.elapsed().as_secs_f64();
    Ok(report)
}

/// Checks all contenders. In a stream, the documents that the libraries disagree on are dropped, if
/// the options ask for those that they have in common, and all are checked again on the others.
fn check_all(
    check: &Check,
    data: &mut Data,
    progress: &mut dyn Progress,
) -> Result<Vec<Outcome>, Error> {
    let mut outcomes = check.all(&data.timed, &data.gzip, progress)?;
    if check.options.common
        && data.timed.shape != Shape::Document
        && let Some((gone, note)) = sift::disputed(check, &outcomes, &data.timed, progress)?
    {
        data.drop_documents(&gone, note)?;
        // The second pass has a time of its own: nobody may be lost to the first.
        outcomes.clear();
        let again = Check { began: Instant::now(), ..*check };
        outcomes = again.all(&data.timed, &data.gzip, progress)?;
    }
    check.settle(&mut outcomes, progress)?;
    Ok(outcomes)
}

/// Returns when the race ends, counted from the beginning: in time for the finals, if there are
/// any, and for the report.
fn race_ends(options: &Options, has_finals: bool) -> Duration {
    let share = if has_finals { RACE_SHARE } else { 1.0 };
    let for_the_report = options.budget.mul_f64(REPORT_SHARE).min(FOR_THE_REPORT);
    options.budget.mul_f64(share).saturating_sub(for_the_report)
}

/// Returns a report that says what was measured and how, with no row.
fn blank(
    options: &Options,
    files: &Files,
    machine: Machine,
    data: &Data,
    timed: &Timed,
) -> Result<Report, Error> {
    let (every, part) = data.smaller.clone().unwrap_or((1, None));
    Ok(Report {
        schema: report::SCHEMA.to_owned(),
        regauge: env!("CARGO_PKG_VERSION").to_owned(),
        command: options.command.clone(),
        input: Input {
            name: options.name.clone().unwrap_or_else(|| file_name(&options.input)),
            format: files.format_name(),
            bytes: files.bytes()?,
            documents: data.whole.documents,
        },
        machine,
        method: Method {
            seed: options.seed,
            rounds: timed.rounds,
            sample_min_ns: u64::try_from(options.sample_min.as_nanos()).unwrap_or(u64::MAX),
            budget_s: options.budget.as_secs_f64(),
            took_s: 0.0,
            timed_documents: timed.documents,
            every: timed.every * every,
            part,
            checked_on_part: data.smaller.is_some(),
            has_finals: data.smaller.is_some() && !options.part_only,
        },
        references: Vec::new(),
        rows: Vec::new(),
        missing: Vec::new(),
        notes: Vec::new(),
        noise: None,
        costs: None,
        verdict: None,
        task: None,
        interrupted: options.is_stopped(),
    })
}

/// Returns the contenders that [`run`] would check and time, in that order, whether they are installed or
/// not.
///
/// # Errors
/// `Input` for data that cannot be measured, `Adapter` and `NoContender` for the choice of
/// contenders, `Io` for the work folder.
pub fn chosen(options: &Options) -> Result<Vec<Contender>, Error> {
    let work = work_dir(options)?;
    let runners = runtime::with(&options.runners)?;
    order::known_runtimes(options, &runners)?;
    let files = options.input_files()?;
    let needed = order::needed(options, &runners)?;
    let folder = subfolder(work.path(), "whole")?;
    let mut references = References::write_needed(&files, needed, &folder)?;
    order::chosen(options, &runners, &files, &mut references)
}

/// Adds the costs and the recommendation to the report.
fn judge(
    report: &mut Report,
    options: &Options,
    bundled: &[(Runtime, String)],
    untimed: &[Untimed],
) {
    // The costs are those of documents that are sent: text is no candidate.
    let may_win =
        |row: &Row| !row.is_text && verdict::refusal(report, row, options.allow).is_none();
    report.costs = Some(cost::costs(report, &options.assumed, &may_win));
    let bundled = |row: &Row| {
        bundled.iter().any(|(runtime, name)| *runtime == row.runtime && *name == row.contender)
    };
    let assumed = &options.assumed;
    report.verdict = Some(verdict::decide(report, assumed, options.allow, &bundled, untimed));
}
