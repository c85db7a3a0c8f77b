//! Published comparisons, measured again by name.
//!
//! A task is one file, `lab/tasks/NAME.toml`: question, source, data, contenders, operation, the
//! published tables, and the wording for what has changed. Each sentence is derived from the
//! samples (`changed`); a task file contains no outcome.

mod calls;
mod changed;
mod codec;
mod crossing;
mod figure;
mod fill;
mod plan;
mod program;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use regauge::Format;

use crate::measure;
use crate::model::error::Error;
use crate::model::machine::Machine;
use crate::model::report::{self, Axis, Chart, Input, Line, Method, Report, Rounds};
use crate::model::wire::Wire;
use crate::model::{assets, runtime, stats};
use crate::plan::folders::{file_name, subfolder, work_dir};
use crate::plan::options::{Options, PartSize, Progress, Stage};
use crate::plan::reference::{Needed, References};
use crate::plan::sample::{self, Kind};
use crate::run::interpreters;

use calls::Batch;
use codec::Codec;
use plan::{DataPlan, Operation, Plan};
use program::{Both, Program, Programs};

/// The processor's share of the time below which a machine counts as busy. Programs use one core
/// and rarely wait for the disk, so on a quiet machine it is almost 1.
const BUSY: f64 = 0.8;
/// With less than this part of its own time, a task checks and times a part of its data.
const SHORT: f64 = 0.4;

/// A task, as `regauge measure --task` lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// What it is called by.
    pub name: String,
    /// The question that it answers.
    pub question: String,
    /// Whether it needs a file of the user's.
    pub needs_file: bool,
}

/// Which task, on what.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Request {
    /// Its name.
    pub name: String,
    /// The user's own data instead of the task's sample: [`Options::input`] names it.
    pub file: bool,
    /// The number of documents, records or objects, instead of the task's default.
    pub records: Option<u64>,
    /// Whether [`Options::budget`] was given explicitly; otherwise the task's own applies.
    pub budget: bool,
}

/// Returns every task.
#[must_use]
pub fn list() -> Vec<Summary> {
    plan::all()
        .into_iter()
        .map(|plan| Summary {
            needs_file: plan.needs_file(),
            name: plan.name,
            question: plan.question,
        })
        .collect()
}

/// Measures a task, and returns a report with `task` filled in.
///
/// # Errors
/// `Task` when there is none of that name, or it cannot be done on this data; those of
/// [`crate::run`].
pub fn run(
    request: &Request,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Report, Error> {
    let plan = named(&request.name)?;
    let takes_file = plan.needs_file() || plan.data.as_ref().is_some_and(|data| data.file);
    if request.file && !takes_file {
        return Err(Error::Task(format!(
            "the task {} makes its own objects and does not accept a FILE",
            plan.name
        )));
    }
    if !request.file && plan.needs_file() {
        return Err(Error::Task(format!("the task {} needs a FILE", plan.name)));
    }
    if request.file && request.records.is_some() && plan.operation != Operation::Calls {
        return Err(Error::Task(
            "a FILE is measured whole: --records is for what a task makes itself".to_owned(),
        ));
    }
    if request.file {
        accepts(&plan, options)?;
    }
    let folder = work_dir(options)?;
    let mut options = options.clone();
    if let Some((path, name)) = own_data(&plan, request, folder.path())? {
        (options.input, options.name, options.from) = (path, Some(name), None);
        options.files.clear();
    }
    options.take_part.clone_from(&plan.take_part);
    options.published = plan.published();
    // A task has a time of its own.
    options.slow_start = Duration::ZERO;
    // A few records, or a file, need no larger budget than any other measurement.
    let whole = !request.file && request.records.is_none();
    if let Some(seconds) = plan.budget.filter(|_| whole && !request.budget) {
        options.budget = Duration::from_secs(seconds);
    }
    let is_short = |seconds| options.budget < Duration::from_secs(seconds).mul_f64(SHORT);
    if plan.operation == Operation::Codec && whole && plan.budget.is_some_and(is_short) {
        (options.part_only, options.part_size) = (true, PartSize::TASK);
    }
    match plan.operation {
        Operation::Codec => codec(&plan, options, progress),
        Operation::Calls => calls(&plan, request, options, folder.path(), progress),
        Operation::Program => programs(&plan, request, &options, folder.path(), progress),
    }
}

impl Plan {
    fn needs_file(&self) -> bool {
        self.data.is_none()
    }
}

fn named(name: &str) -> Result<Plan, Error> {
    let plans = plan::all();
    let names: Vec<String> = plans.iter().map(|plan| plan.name.clone()).collect();
    plans.into_iter().find(|plan| plan.name == name).ok_or_else(|| {
        Error::Task(format!("found task \"{name}\", expected one of {}", names.join(", ")))
    })
}

/// Refuses data that the task says nothing about: one on a catalogue takes MARC records.
fn accepts(plan: &Plan, options: &Options) -> Result<(), Error> {
    let sample = plan.data.as_ref().and_then(|data| data.sample.as_deref());
    if sample != Some(Kind::Catalog.name()) {
        return Ok(());
    }
    let files = options.input_files()?;
    if files.are_marc() {
        return Ok(());
    }
    let marc = Format::ALL.iter().filter(|one| one.is_marc()).map(|one| one.name());
    Err(Error::Task(format!(
        "the task {} measures MARC records: found {}, expected one of {}",
        plan.name,
        files.format_name(),
        marc.collect::<Vec<_>>().join(", ")
    )))
}

/// Writes the task's sample into a file and returns its name, or nothing if the user's file is
/// measured or programs make their own objects.
fn own_data(
    plan: &Plan,
    request: &Request,
    folder: &Path,
) -> Result<Option<(PathBuf, String)>, Error> {
    let Some(data) = &plan.data else { return Ok(None) };
    let Some(kind) = data.sample.as_deref().filter(|_| !request.file) else { return Ok(None) };
    let kind: Kind = kind.parse().map_err(Error::Task)?;
    // Of a task of calls on one document, `--records` says how large its batches are.
    let count = match plan.operation {
        Operation::Calls => data.documents,
        _ => documents(data, request),
    };
    let path = sampled(kind, count, folder, plan.name.as_str())?;
    Ok(Some((path, format!("{kind} sample"))))
}

fn documents(data: &DataPlan, request: &Request) -> u64 {
    request.records.unwrap_or(data.documents).max(1)
}

fn sampled(kind: Kind, count: u64, folder: &Path, name: &str) -> Result<PathBuf, Error> {
    let path = folder.join(format!("{name}.{}", kind.suffix(count)));
    let failed = || Error::io("write", &path);
    let mut file = BufWriter::new(File::create(&path).map_err(failed())?);
    let how = sample::Options { count: Some(count), seed: 0 };
    sample::generate(kind, &how, &mut file).map_err(failed())?;
    file.flush().map_err(failed())?;
    Ok(path)
}

fn codec(plan: &Plan, mut options: Options, progress: &mut dyn Progress) -> Result<Report, Error> {
    // One record that a library of 2014 stumbles over must not cost the table a row.
    options.common |= !plan.needs_file();
    let mut report = measure::run(&options, progress)?;
    let results = Codec { report: &report, calls: HashMap::new() };
    report.task = Some(fill::task(plan, &results, options.seed));
    Ok(report)
}

fn calls(
    plan: &Plan,
    request: &Request,
    options: Options,
    folder: &Path,
    progress: &mut dyn Progress,
) -> Result<Report, Error> {
    let began = Instant::now();
    // Work on databases comes last, and gets a fifth of the time.
    let whole = options.budget;
    let last = if plan.program.is_empty() { Duration::ZERO } else { whole.mul_f64(0.2) };
    let options = Options { budget: whole.saturating_sub(last), ..options };
    // Sizes, correctness and single calls first, with half of the time.
    let half = Options { budget: options.budget.mul_f64(0.5), ..options.clone() };
    let mut report = measure::run(&half, progress)?;
    let size = plan.data.as_ref().and_then(|data| data.batch).unwrap_or(300);
    let size = request.records.unwrap_or(size).max(2);
    let batch = match request.file {
        true => Batch { lines: folder.join("batch.ndjson"), times: Some(size) },
        false => Batch { lines: sampled(Kind::TimeSlice, size, folder, "batch")?, times: None },
    };
    let (measured, share) = calls::measure(&report, &batch, &options, BUSY, progress)?;
    let mut list = Vec::new();
    if !plan.program.is_empty() && !options.is_stopped() {
        let options = Options { budget: last, ..options.clone() };
        list = start_all(plan, size, Some(&batch.lines), folder, &options, progress)?;
        program::run(&mut list, &options, Instant::now(), progress)?;
    }
    let results =
        Both { codec: Codec { report: &report, calls: measured }, programs: Programs(&list) };
    report.task = Some(fill::task(plan, &results, options.seed));
    report.interrupted |= options.is_stopped();
    report
        .notes
        .push(format!("A batch is {size} documents, decoded or encoded one after another."));
    report.notes.extend(busy_note(share));
    report.notes.extend(database_note(&list));
    report.method.budget_s = whole.as_secs_f64();
    report.method.took_s = began.elapsed().as_secs_f64();
    Ok(report)
}

fn programs(
    plan: &Plan,
    request: &Request,
    options: &Options,
    folder: &Path,
    progress: &mut dyn Progress,
) -> Result<Report, Error> {
    let began = Instant::now();
    let machine = Machine::here();
    let data = plan.data.as_ref().expect("a test sees that every program has data");
    let given = match &data.sample {
        _ if request.file => Some(Given::of_file(options, folder)?),
        Some(_) => Some(Given::of_sample(options, documents(data, request))?),
        None => None,
    };
    let count = given.as_ref().map_or_else(|| documents(data, request), |given| given.documents);
    let input = given.as_ref().map(|given| given.path.as_path());
    let mut list = start_all(plan, count, input, folder, options, progress)?;
    if request.file
        && let Some(why) = program::refusal(&list)
    {
        return Err(Error::Task(format!("the task {} cannot use this data: {why}", plan.name)));
    }
    let rounds = program::run(&mut list, options, began, progress)?;
    let share = program::cpu_share(&list);
    if share.is_some_and(|share| share < BUSY) {
        program::take_cpu_time(&mut list);
    }
    let results = Programs(&list);
    let mut task = fill::task(plan, &results, options.seed);
    task.charts = charts(plan, data, count, &results);
    let told = given.iter().flat_map(|given| given.notes.clone());
    Ok(Report {
        schema: report::SCHEMA.to_owned(),
        regauge: env!("CARGO_PKG_VERSION").to_owned(),
        command: options.command.clone(),
        input: Input {
            name: options.name.clone().unwrap_or_else(|| match given {
                Some(_) => file_name(&options.input),
                None => "objects made by the task".to_owned(),
            }),
            format: given.as_ref().map_or("objects", |given| &given.format).to_owned(),
            bytes: given.as_ref().map_or(0, |given| given.bytes),
            documents: count,
        },
        machine,
        method: Method {
            seed: options.seed,
            rounds: Rounds { decode: rounds, encode: rounds },
            sample_min_ns: u64::try_from(options.sample_min.as_nanos()).unwrap_or(u64::MAX),
            budget_s: options.budget.as_secs_f64(),
            took_s: began.elapsed().as_secs_f64(),
            timed_documents: count,
            every: 1,
            part: None,
            checked_on_part: false,
            has_finals: false,
        },
        references: Vec::new(),
        rows: Vec::new(),
        missing: Vec::new(),
        notes: told.chain(notes(&list, share)).collect(),
        noise: None,
        costs: None,
        verdict: None,
        task: Some(task),
        interrupted: options.is_stopped(),
    })
}

/// The data of a task's programs: JSON, one document a line.
struct Given {
    path: PathBuf,
    /// What it was made from: its format, and the size in that.
    format: String,
    bytes: u64,
    documents: u64,
    notes: Vec<String>,
}

impl Given {
    /// Writes the user's data, in whatever format it is, for the programs.
    fn of_file(options: &Options, folder: &Path) -> Result<Given, Error> {
        let files = options.input_files()?;
        let needed = Needed { above: 0, wires: vec![Wire::Json] };
        let lines = subfolder(folder, "lines")?;
        let references = References::write_needed(&files, Some(needed), &lines)?;
        let json = references.of(Wire::Json).ok_or_else(|| {
            let why = references.notes.join(" ");
            Error::Task(format!("the programs of the task read JSON. {why}"))
        })?;
        let lost = json.losses.iter().map(|one| format!("{} ×{}", one.kind, one.count));
        let lost: Vec<String> = lost.collect();
        let mut notes = references.notes.clone();
        if !lost.is_empty() {
            notes
                .push(format!("The programs read JSON, which does not hold: {}.", lost.join(", ")));
        }
        Ok(Given {
            path: json.path.clone(),
            format: files.format_name(),
            bytes: files.bytes()?,
            documents: references.documents,
            notes,
        })
    }

    /// Returns the task's sample.
    fn of_sample(options: &Options, documents: u64) -> Result<Given, Error> {
        let path = options.input.clone();
        let bytes = std::fs::metadata(&path).map_err(Error::io("read", &path))?.len();
        Ok(Given { path, format: "ndjson".to_owned(), bytes, documents, notes: Vec::new() })
    }
}

/// Starts the programs of a task on this many documents, records or objects.
fn start_all(
    plan: &Plan,
    count: u64,
    input: Option<&Path>,
    folder: &Path,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Vec<Program>, Error> {
    let work = folder.join("programs");
    std::fs::create_dir_all(&work).map_err(Error::io("make", &work))?;
    assets::unpack(&work).map_err(Error::io("write", &work))?;
    let data = plan.data.as_ref().expect("a test sees that every program has data");
    progress.begin(Stage::Prepare, plan.program.len() as u64);
    let runners = runtime::with(&options.runners)?;
    interpreters::try_given(options, &work)?;
    plan.program
        .iter()
        .enumerate()
        .map(|(at, one)| {
            progress.step(&one.file);
            let own = folder.join(format!("program-{at}"));
            std::fs::create_dir_all(&own).map_err(Error::io("make", &own))?;
            Ok(Program::start(one, &runners, data, count, input, &own, &work, options))
        })
        .collect()
}

/// Says how programs that query databases are timed, if there are any.
fn database_note(programs: &[Program]) -> Option<String> {
    programs.iter().any(Program::is_native).then(|| {
        "Through regauge's own engines, databases are timed by the clock: waiting for them is \
         part of their cost."
            .to_owned()
    })
}

/// Warns that a busy machine affects the task's own times.
fn busy_note(share: Option<f64>) -> Option<String> {
    let share = share.filter(|share| *share < BUSY)?;
    Some(format!(
        "The machine was busy: what this task times had the processor for {:.0}% of the time. So \
         its times are the processor's, not the clock's; trust ratios, not times.",
        100.0 * share
    ))
}

/// Says which interpreters ran, and whether the machine was busy.
fn notes(programs: &[Program], share: Option<f64>) -> Vec<String> {
    let mut notes: Vec<String> = programs
        .iter()
        .filter(|one| !one.is_native())
        .filter_map(|one| {
            let hello = one.hello.as_ref()?;
            let library = match hello.version.as_str() {
                "" => String::new(),
                version => format!(", {version}"),
            };
            Some(format!("{}{library}; collector: {}.", hello.runtime, hello.gc))
        })
        .collect();
    notes.extend(busy_note(share));
    notes.extend(database_note(programs));
    notes
}

/// Returns the lines of a task: the median at each step over all samples.
fn charts(plan: &Plan, data: &DataPlan, count: u64, results: &Programs) -> Vec<Chart> {
    let step = data.step.unwrap_or(count).min(count).max(1);
    plan.chart
        .iter()
        .map(|chart| Chart {
            title: chart.title.clone(),
            x: Axis { label: chart.x.clone(), unit: "count".into(), log: false },
            y: Axis { label: chart.y.clone(), unit: "ns".into(), log: false },
            lines: chart
                .line
                .iter()
                .filter_map(|line| {
                    let case = results.case(&chart.runtime, &line.case).ok()?;
                    let steps = case.marks.iter().map(Vec::len).min()?;
                    let points = (0..steps)
                        .map(|at| {
                            let list: Vec<f64> = case.marks.iter().map(|one| one[at]).collect();
                            [((at as u64 + 1) * step).min(count) as f64, stats::median(&list)]
                        })
                        .collect();
                    Some(Line { name: line.name.clone(), points })
                })
                .collect(),
        })
        .filter(|chart| !chart.lines.is_empty())
        .collect()
}
