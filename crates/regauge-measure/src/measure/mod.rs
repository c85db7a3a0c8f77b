//! Runs a measurement from beginning to end: references, checks, race, report.

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
use crate::plan::options::{BUDGET, Options, Progress, Stage, When};
use crate::plan::reference::{References, Shape};
use crate::plan::{contender, launch, order};
use crate::run::checks::{Absent, Check};
use crate::run::gzip::{gzip_all, gzip_scaled};
use crate::run::{compression, sift, timed};
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
    // Large data is checked and timed on a part, the same for all, and the winners on the whole.
    let smaller = match may_be_smaller(options) {
        true => whole.smaller(options.part_size, &subfolder(work.path(), "part")?)?,
        false => None,
    };
    let (mut references, mut gzip) = match &smaller {
        Some(smaller) => (smaller.references.clone(), gzip_all(&smaller.references)?),
        None => (whole.clone(), gzip_all(&whole)?),
    };
    // Compressing large data in every format takes more time than a quick look has.
    let whole_gzip = match &smaller {
        Some(_) if options.budget >= BUDGET => Some(gzip_all(&whole)?),
        _ => None,
    };
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
    let mut outcomes = check.all(&references, &gzip, progress)?;
    if options.common
        && references.shape != Shape::Document
        && let Some((gone, note)) = sift::disputed(&check, &outcomes, &references, progress)?
    {
        references = references.without(&gone)?;
        gzip = gzip_all(&references)?;
        if smaller.is_none() {
            whole = references.clone();
        }
        whole.notes.push(note);
        // The second pass has a time of its own: nobody may be lost to the first.
        outcomes.clear();
        outcomes = Check { began: Instant::now(), ..check }.all(&references, &gzip, progress)?;
    }
    let is_gzip_scaled = whole_gzip.is_none();
    check.settle(&mut outcomes, progress)?;
    let whole_gzip = whole_gzip.unwrap_or_else(|| gzip_scaled(&gzip, &references, &whole));

    let tried = check.safety(&outcomes, progress)?;
    let budget = options.budget.mul_f64(COMPRESSION_SHARE);
    let stopped = || options.is_stopped() || options.safety == When::Only;
    let mut compressions =
        compression::measure(&references, budget, options.seed, &stopped, progress)?;
    if smaller.is_some() {
        compressions = compression::of_the_whole(&compressions, &references, &whole, &whole_gzip);
    }
    let has_finals = smaller.is_some() && !options.part_only;
    let share = if has_finals { RACE_SHARE } else { 1.0 };
    let for_the_report = options.budget.mul_f64(REPORT_SHARE).min(FOR_THE_REPORT);
    let until = options.budget.mul_f64(share).saturating_sub(for_the_report);
    let timed = timed::all(&check, &mut outcomes, &references, until, progress)?;
    let moments = Moments::of(&timed.runners, timed.best_probe, options.processor_time);

    let report = Report {
        schema: report::SCHEMA.to_owned(),
        regauge: env!("CARGO_PKG_VERSION").to_owned(),
        command: options.command.clone(),
        input: Input {
            name: options.name.clone().unwrap_or_else(|| file_name(&options.input)),
            format: files.format_name(),
            bytes: files.bytes()?,
            documents: whole.documents,
        },
        machine,
        method: Method {
            seed: options.seed,
            rounds: timed.rounds,
            sample_min_ns: u64::try_from(options.sample_min.as_nanos()).unwrap_or(u64::MAX),
            budget_s: options.budget.as_secs_f64(),
            took_s: 0.0,
            timed_documents: timed.documents,
            every: timed.every * smaller.as_ref().map_or(1, |one| one.every),
            part: smaller.as_ref().and_then(|one| one.part.clone()),
            checked_on_part: smaller.is_some(),
            has_finals,
        },
        references: fill::report_references(
            &whole,
            &whole_gzip,
            compressions,
            &contenders,
            &outcomes,
        ),
        rows: Vec::new(),
        missing: Vec::new(),
        notes: whole.notes.iter().cloned().chain(timed.notes).collect(),
        noise: noise::told(timed.probes_ns, moments.quiet_share),
        costs: None,
        verdict: None,
        task: None,
        interrupted: options.is_stopped(),
    };
    let bundled = contender::bundled(&contenders);
    let names: Vec<(Runtime, String)> =
        contenders.iter().map(|one| (one.runtime, one.name.clone())).collect();
    let found = Findings { outcomes, runners: timed.runners, moments };
    let (mut report, mut untimed) = fill::fill(report, &contenders, found, &references, options);
    fill::note_safety(&mut report, &names, tried);
    if smaller.is_some() {
        let finals = Finals {
            check: &check,
            part: &references,
            part_gzip: &gzip,
            whole: &whole,
            gzip: &whole_gzip,
            is_gzip_scaled,
        };
        finals.enlarge(&mut report);
        if has_finals {
            finals.hold(&mut report, &mut untimed, progress)?;
        }
    }
    judge(&mut report, options, &bundled, &untimed);
    report.method.took_s = began.elapsed().as_secs_f64();
    Ok(report)
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

/// Returns whether large data may be timed on a part: not where everything was asked for, and not
/// for a task, whose figures are of the whole, unless it is short of time.
fn may_be_smaller(options: &Options) -> bool {
    let is_for_all = options.take_part.is_empty() && !options.common;
    options.rounds.is_none() && (is_for_all || options.part_only)
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
