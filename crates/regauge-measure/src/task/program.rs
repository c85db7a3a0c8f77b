//! Tasks with their own work: programs that list cases, are checked, and timed in rounds.
//!
//! A program speaks the protocol of contenders' runners (`crate::model::protocol`): it says hello, is told
//! the data with `ready` and answers with its cases; `try` runs a case once and checks the result;
//! `work` runs it and says how long it took. A case with a wrong result is not timed.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::model::error::Error;
use crate::model::protocol::{Command, Hello};
use crate::model::random::Random;
use crate::model::runtime::{Places, RunnerFile, Runtime};
use crate::plan::folders;
use crate::plan::launch::{Launch, given};
use crate::plan::native::program::DATABASES;
use crate::plan::options::{Options, Progress, Stage};
use crate::run::process::{Process, Trouble};

use super::codec::Codec;
use super::figure::Figure;
use super::fill::Results;
use super::plan::{ColumnPlan, DataPlan, ProgramPlan, RowPlan, TablePlan};

/// Fewer samples give no useful interval; more add nothing.
const ROUNDS_MIN: u64 = 5;
const ROUNDS_MAX: u64 = 40;
/// How long a program may take to put away what it has made.
const LEAVE: Duration = Duration::from_secs(120);

/// A program and what it has reported.
pub(super) struct Program {
    /// The runtime's name, as tables have it.
    pub runtime: String,
    pub hello: Option<Hello>,
    pub cases: Vec<Case>,
    pub absent: Vec<Absent>,
    /// Why there is nothing of it.
    pub trouble: Option<String>,
    /// Why it cannot use the data.
    refusal: Option<String>,
    process: Option<Process>,
}

/// One kind of work.
pub(super) struct Case {
    pub name: String,
    pub version: String,
    /// Numbers other than times, such as bytes.
    pub figures: BTreeMap<String, f64>,
    /// Nanoseconds of one iteration, sample by sample.
    pub samples: Vec<f64>,
    /// Nanoseconds since the start of a sample at each step.
    pub marks: Vec<Vec<f64>>,
    /// The processor's share of each sample's time; empty if only wall-clock time counts, because
    /// waiting is part of the work.
    shares: Vec<f64>,
    /// Why it has no times.
    pub trouble: Option<String>,
    iterations: u64,
    pass_ns: f64,
}

/// A case that this machine lacks something for.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Absent {
    pub name: String,
    pub install: String,
    /// The full reason, unless something has to be installed.
    #[serde(default)]
    pub why: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Readied {
    cases: Vec<Told>,
    #[serde(default)]
    absent: Vec<Absent>,
}

#[derive(Debug, Deserialize)]
struct Told {
    name: String,
    #[serde(default)]
    version: String,
}

#[derive(Debug, Deserialize)]
struct Tried {
    #[serde(default)]
    figures: BTreeMap<String, f64>,
    /// What was wrong with the result.
    #[serde(default)]
    wrong: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Worked {
    ns: u64,
    /// Processor time; nothing if the program waits for others.
    #[serde(default)]
    cpu_ns: Option<u64>,
    #[serde(default)]
    marks: Vec<u64>,
}

impl Program {
    /// Starts it and hears which cases it has.
    #[expect(clippy::too_many_arguments, reason = "each is one thing that a program is told")]
    pub(super) fn start(
        plan: &ProgramPlan,
        runners: &[RunnerFile],
        data: &DataPlan,
        documents: u64,
        input: Option<&Path>,
        folder: &Path,
        work: &Path,
        options: &Options,
    ) -> Program {
        let mut program = Program {
            refusal: None,
            runtime: plan.runtime.clone(),
            hello: None,
            cases: Vec::new(),
            absent: Vec::new(),
            trouble: None,
            process: None,
        };
        let step = data.step.map(|step| step.min(documents));
        let ready = Command::Ready { documents, step, path: input, folder };
        let started = launch(plan, runners, work, options)
            .and_then(|launch| Process::start(&launch, options.patience))
            .and_then(|(mut process, hello)| {
                program.hello = Some(hello);
                let told: Readied = process.ask(&ready, options.patience)?;
                Ok((process, told))
            });
        match started {
            Ok((process, told)) => {
                program.process = Some(process);
                program.absent = told.absent;
                program.cases = told.cases.into_iter().map(Case::new).collect();
            }
            Err(Trouble::NoRuntime(_) | Trouble::Missing(_)) => {
                program.trouble = Some(format!("not installed: {}", plan.install));
            }
            Err(trouble) => {
                program.trouble = Some(format!("failed: {trouble}"));
                if let Trouble::Raised(why) = trouble {
                    program.refusal = Some(why);
                }
            }
        }
        program
    }

    /// Asks about a case; notes trouble for it, or for all cases if the process is gone.
    fn ask<T: serde::de::DeserializeOwned>(
        &mut self,
        at: usize,
        command: impl FnOnce(&str) -> Command<'_>,
        patience: Duration,
    ) -> Option<T> {
        let name = self.cases[at].name.clone();
        match self.process.as_mut()?.ask(&command(&name), patience) {
            Ok(answer) => return Some(answer),
            Err(Trouble::Raised(why)) => self.cases[at].trouble = Some(why),
            Err(trouble) => {
                self.process = None;
                for case in self.cases.iter_mut().filter(|case| case.trouble.is_none()) {
                    case.trouble = Some(trouble.to_string());
                }
            }
        }
        None
    }

    fn check(&mut self, at: usize, patience: Duration) {
        if let Some(tried) = self.ask::<Tried>(at, |case| Command::Try { case }, patience) {
            let case = &mut self.cases[at];
            case.figures = tried.figures;
            case.trouble = tried.wrong;
        }
    }

    /// Works once or more; gives the time of one iteration.
    fn work(&mut self, at: usize, iterations: u64, patience: Duration) -> Option<Worked> {
        self.ask(at, |case| Command::Work { case, iterations }, patience)
    }

    /// Warms up, and finds how many iterations make a sample long enough.
    fn calibrate(&mut self, at: usize, options: &Options) {
        let goal = options.sample_min.as_nanos() as f64;
        let mut iterations = 1;
        for _ in 0..6 {
            let Some(worked) = self.work(at, iterations, options.patience) else { return };
            let ns = (worked.ns as f64).max(1.0);
            let case = &mut self.cases[at];
            case.pass_ns = ns / iterations as f64;
            case.iterations = iterations;
            if ns >= goal * 0.8 {
                return;
            }
            iterations = ((goal / case.pass_ns).ceil() as u64).clamp(1, iterations * 20);
        }
        self.cases[at].iterations = iterations;
    }

    /// Returns whether it is served by this binary, and asks databases.
    pub(super) fn is_native(&self) -> bool {
        self.runtime == Runtime::NATIVE.name() && self.hello.is_some()
    }

    fn is_live(&self, at: usize) -> bool {
        self.process.is_some() && self.cases[at].trouble.is_none()
    }
}

impl Case {
    fn new(told: Told) -> Case {
        Case {
            name: told.name,
            version: told.version,
            figures: BTreeMap::new(),
            samples: Vec::new(),
            marks: Vec::new(),
            shares: Vec::new(),
            trouble: None,
            iterations: 1,
            pass_ns: 0.0,
        }
    }
}

/// Starts the program in place of its runtime's runner.
fn launch(
    plan: &ProgramPlan,
    runners: &[RunnerFile],
    work: &Path,
    options: &Options,
) -> Result<Launch, Trouble> {
    if plan.runtime == Runtime::NATIVE.name() {
        let (program, rest) = options.native.split_first().ok_or_else(|| {
            Trouble::NoRuntime("no command for native programs was given".to_owned())
        })?;
        let mut arguments = rest.to_vec();
        arguments.push(format!("program/{}", plan.file).into());
        return Ok(Launch {
            program: program.clone(),
            arguments,
            // Not among the arguments, which anybody on the machine may read.
            environment: vec![(DATABASES.into(), options.databases.join("\n").into())],
            folder: work.to_path_buf(),
        });
    }
    let runtime = Runtime::of(&plan.runtime.to_lowercase());
    let runner = runners
        .iter()
        .find(|one| one.runtime == runtime)
        .ok_or_else(|| Trouble::NoRuntime(format!("there is no runner for {}", plan.runtime)))?;
    let program = work.join("tasks").join(&plan.file);
    let places = Places {
        runner: program.clone(),
        adapter: program,
        data: folders::set_up(options),
        lab: work.to_path_buf(),
        ..Places::default()
    };
    let started =
        runner.command(given(options, runtime).as_deref(), &places).map_err(Trouble::NoRuntime)?;
    Ok(Launch::of(started, work))
}

/// Returns why the data cannot be used, if every program says so.
pub(super) fn refusal(programs: &[Program]) -> Option<&str> {
    let is_refused = programs.iter().all(|one| one.refusal.is_some());
    programs.first().filter(|_| is_refused)?.refusal.as_deref()
}

/// Checks every case of every program, then times those that were right, in rounds that are
/// shuffled over all of them. Gives the number of rounds.
pub(super) fn run(
    programs: &mut [Program],
    options: &Options,
    began: Instant,
    progress: &mut dyn Progress,
) -> Result<u64, Error> {
    let mut order: Vec<(usize, usize)> = programs
        .iter()
        .enumerate()
        .flat_map(|(program, one)| (0..one.cases.len()).map(move |case| (program, case)))
        .collect();
    progress.begin(Stage::Check, order.len() as u64);
    for &(program, case) in &order {
        if options.is_stopped() {
            break;
        }
        progress.step(&programs[program].cases[case].name);
        programs[program].check(case, options.patience);
    }
    progress.begin(Stage::Warm, order.len() as u64);
    for &(program, case) in &order {
        if options.is_stopped() {
            break;
        }
        progress.step(&programs[program].cases[case].name);
        if programs[program].is_live(case) {
            programs[program].calibrate(case, options);
        }
    }
    let live = |programs: &[Program], order: &[(usize, usize)]| -> Vec<(usize, usize)> {
        order.iter().copied().filter(|&(program, case)| programs[program].is_live(case)).collect()
    };
    order = live(programs, &order);
    let round_ns: f64 = order
        .iter()
        .map(|&(program, case)| &programs[program].cases[case])
        .map(|case| case.pass_ns * case.iterations as f64)
        .sum();
    let left = options.budget.saturating_sub(began.elapsed()).max(options.budget.mul_f64(0.4));
    let rounds = options.rounds.unwrap_or_else(|| {
        ((left.as_nanos() as f64 / round_ns.max(1.0)) as u64).clamp(ROUNDS_MIN, ROUNDS_MAX)
    });
    progress.begin(Stage::Rounds, rounds);
    let mut random = Random::new(options.seed);
    let rounding = Instant::now();
    let mut done = 0;
    for _ in 0..rounds {
        // What was planned on a quiet machine may take longer on one that has become busy.
        let is_late = options.rounds.is_none() && done >= ROUNDS_MIN && rounding.elapsed() > left;
        if options.is_stopped() || is_late {
            break;
        }
        done += 1;
        order = live(programs, &order);
        random.shuffle(&mut order);
        for &(program, at) in &order {
            let program = &mut programs[program];
            let iterations = program.cases[at].iterations;
            let expected =
                Duration::from_nanos((program.cases[at].pass_ns * iterations as f64) as u64);
            let patience = options.patience.max(expected * 20);
            if !program.is_live(at) {
                continue;
            }
            if let Some(worked) = program.work(at, iterations, patience) {
                let case = &mut program.cases[at];
                case.samples.push(worked.ns as f64 / iterations as f64);
                let share = worked.cpu_ns.map(|cpu| cpu as f64 / worked.ns.max(1) as f64);
                case.shares.extend(share);
                if !worked.marks.is_empty() {
                    case.marks.push(worked.marks.iter().map(|ns| *ns as f64).collect());
                }
            }
        }
        progress.step("");
    }
    for program in programs.iter_mut() {
        if let Some(process) = program.process.take() {
            // Databases that it has made are dropped first.
            process.stop_within(LEAVE);
        }
    }
    Ok(done)
}

/// Returns the processor's share of the total time of all samples, or nothing without samples. Far
/// below 1, the machine was busy with something else.
pub(super) fn cpu_share(programs: &[Program]) -> Option<f64> {
    let timed = |case: &&Case| !case.shares.is_empty();
    let cases = || programs.iter().flat_map(|one| &one.cases).filter(timed);
    let clock: f64 = cases().flat_map(|case| &case.samples).sum();
    let cpu: f64 = cases()
        .flat_map(|case| case.samples.iter().zip(&case.shares).map(|(ns, share)| ns * share))
        .sum();
    (clock > 0.0).then(|| cpu / clock)
}

/// Turns times by the clock into times of the processor.
pub(super) fn take_cpu_time(programs: &mut [Program]) {
    for case in programs.iter_mut().flat_map(|one| &mut one.cases) {
        for (ns, share) in case.samples.iter_mut().zip(&case.shares) {
            *ns *= share;
        }
        for (marks, share) in case.marks.iter_mut().zip(&case.shares) {
            marks.iter_mut().for_each(|ns| *ns *= share);
        }
    }
}

/// The programs of a task, as tables look things up.
pub(super) struct Programs<'p>(pub &'p [Program]);

impl<'p> Programs<'p> {
    pub(super) fn case(&self, runtime: &str, name: &str) -> Result<&'p Case, String> {
        let Some(program) = self.0.iter().find(|one| one.runtime.eq_ignore_ascii_case(runtime))
        else {
            return Err(format!("there is no program for {runtime}"));
        };
        if let Some(case) = program.cases.iter().find(|case| case.name == name) {
            return match &case.trouble {
                Some(why) => Err(why.clone()),
                None => Ok(case),
            };
        }
        if let Some(absent) = program.absent.iter().find(|one| one.name == name) {
            let install = || format!("not installed: {}", absent.install);
            return Err(absent.why.clone().unwrap_or_else(install));
        }
        Err(program.trouble.clone().unwrap_or_else(|| format!("there is no case \"{name}\"")))
    }
}

fn case_name(case: &str, column: &ColumnPlan) -> String {
    match &column.case {
        Some(end) => format!("{case} {end}"),
        None => case.to_owned(),
    }
}

impl Results for Programs<'_> {
    fn find(
        &self,
        table: &TablePlan,
        row: &RowPlan,
        column: &ColumnPlan,
    ) -> Result<Figure, String> {
        let runtime = row.runtime.as_deref().or(table.runtime.as_deref()).unwrap_or("Ruby");
        let figure = |case: &str| -> Result<Figure, String> {
            let case = self.case(runtime, &case_name(case, column))?;
            let timed = || match case.samples.is_empty() {
                true => Err("was not timed".to_owned()),
                false => Ok(case.samples.clone()),
            };
            match column.figure.as_str() {
                "time" => Ok(Figure::sum(vec![timed()?.into()])),
                "per-second" => Ok(Figure::per_second(timed()?.into())),
                other => case
                    .figures
                    .get(other)
                    .map(|value| Figure::exact(*value))
                    .ok_or_else(String::new),
            }
        };
        let one = figure(row.case.as_deref().unwrap_or(&row.label))?;
        match &row.over {
            Some(other) => Ok(one.divided_by(&figure(other)?)),
            None => Ok(one),
        }
    }

    fn version(&self, table: &TablePlan, row: &RowPlan) -> Option<String> {
        let runtime = row.runtime.as_deref().or(table.runtime.as_deref())?;
        let start = row.case.as_deref().unwrap_or(&row.label);
        let named = |column: &ColumnPlan| self.case(runtime, &case_name(start, column)).ok();
        table.column.iter().find_map(named).map(|case| case.version.clone())
    }

    fn since(&self, _: &TablePlan) -> Vec<RowPlan> {
        Vec::new()
    }
}

/// The results of a task of calls that has programs, too: a row that names a case is one of theirs.
pub(super) struct Both<'p> {
    pub codec: Codec<'p>,
    pub programs: Programs<'p>,
}

impl Results for Both<'_> {
    fn find(
        &self,
        table: &TablePlan,
        row: &RowPlan,
        column: &ColumnPlan,
    ) -> Result<Figure, String> {
        match row.case {
            Some(_) => self.programs.find(table, row, column),
            None => self.codec.find(table, row, column),
        }
    }

    fn version(&self, table: &TablePlan, row: &RowPlan) -> Option<String> {
        match row.case {
            Some(_) => self.programs.version(table, row),
            None => self.codec.version(table, row),
        }
    }

    fn since(&self, table: &TablePlan) -> Vec<RowPlan> {
        self.codec.since(table)
    }
}
