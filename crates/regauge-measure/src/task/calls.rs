//! Makes a thousand calls on one document like Ruby's `bmbm` (a rehearsal, then the run), and times
//! batches of several hundred documents at once.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use regauge::Format;

use crate::model::assets;
use crate::model::error::Error;
use crate::model::protocol::{Command, Counted, Op, Sampled};
use crate::model::random::Random;
use crate::model::report::Report;
use crate::model::runtime::{self, Runtime};
use crate::plan::contender::{self, Contender};
use crate::plan::folders::work_dir;
use crate::plan::launch::{self, Launch};
use crate::plan::options::{Options, Progress, Stage};
use crate::plan::order;
use crate::plan::reference::{References, Shape};
use crate::run::check;
use crate::run::process::Process;

use super::figure::Figure;

/// Calls of a sample, as in the post.
const CALLS: u64 = 1_000;
/// A contender that would take longer for a thousand calls makes fewer, and is scaled up.
const SAMPLE_NS_MAX: f64 = 1e9;
const CALLS_MIN: u64 = 10;
const ROUNDS_MIN: u64 = 5;
const ROUNDS_MAX: u64 = 15;
/// The part of the budget in which processes are started, and what the first round may take beyond its own.
const START_SHARE: f64 = 0.2;
const LATEST_SHARE: f64 = 0.1;

/// What was measured of one contender, in nanoseconds of a thousand calls, and of a batch.
#[derive(Debug, Default)]
pub(super) struct Calls {
    lists: HashMap<&'static str, Vec<f64>>,
}

impl Calls {
    /// Returns the figure of this name.
    pub(super) fn figure(&self, name: &str) -> Option<Figure> {
        self.lists
            .get(name)
            .filter(|list| !list.is_empty())
            .map(|list| Figure::sum(vec![list.clone().into()]))
    }
}

/// One contender with one load: a document, or a batch of them.
struct Worker<'c> {
    contender: &'c Contender,
    process: Option<Process>,
    batch: bool,
    calls: u64,
    lists: HashMap<&'static str, Vec<Taken>>,
}

/// One sample.
#[derive(Debug, Clone, Copy)]
struct Taken {
    ns: f64,
    /// The processor's share of it, if the runtime reports it.
    cpu_ns: Option<f64>,
}

impl Worker<'_> {
    fn sample(&mut self, op: Op, options: &Options) -> Option<Taken> {
        let command = Command::Sample { op, iterations: self.calls, gc: false };
        let answer = self.process.as_mut()?.ask::<Sampled>(&command, options.patience);
        match answer {
            Ok(sampled) => {
                let wanted = if self.batch { 1.0 } else { CALLS as f64 };
                let scale = wanted / self.calls as f64;
                let cpu_ns = sampled.cpu_ns.map(|ns| ns as f64 * scale);
                Some(Taken { ns: sampled.ns as f64 * scale, cpu_ns })
            }
            Err(_) => {
                // It did the same a minute ago; its row keeps what it has.
                self.process = None;
                None
            }
        }
    }

    fn keep(&mut self, list: &'static str, taken: Option<Taken>) {
        if let Some(taken) = taken {
            self.lists.entry(list).or_default().push(taken);
        }
    }
}

/// The documents of a batch, one a line.
pub(super) struct Batch {
    pub lines: PathBuf,
    /// Where that is not written yet: the measured document, so many times.
    pub times: Option<u64>,
}

/// The figures of every contender.
pub(super) type All = HashMap<(Runtime, String), Calls>;

/// Times the contenders that have times in `report`. Also returns the processor's share of the
/// time; if that is below `busy`, the figures are processor time.
pub(super) fn measure(
    report: &Report,
    batch: &Batch,
    options: &Options,
    busy: f64,
    progress: &mut dyn Progress,
) -> Result<(All, Option<f64>), Error> {
    let work = work_dir(options)?;
    assets::unpack(work.path()).map_err(Error::io("write", work.path()))?;
    let runners = runtime::with(&options.runners)?;
    let mut contenders = contender::with(&runners);
    for path in &options.adapters {
        contenders.extend(Contender::from_file(path, &runners)?);
    }
    let timed = |one: &Contender| {
        report
            .rows
            .iter()
            .find(|row| row.is_timed() && row.contender == one.name && row.runtime == one.runtime)
    };
    contenders.retain(|one| timed(one).is_some());
    // The published rows come first: if time is short, the task is about them.
    contenders.sort_by_key(|one| !order::is_published(one, &options.published));
    let (launches, translations) = launch::all(options, &runners, &mut contenders, work.path());
    let folder = |name: &str| -> Result<PathBuf, Error> {
        let folder = work.path().join(name);
        std::fs::create_dir_all(&folder).map_err(Error::io("make", &folder))?;
        Ok(folder)
    };
    let began = Instant::now();
    let one = References::write(&options.input_files()?, &folder("one")?)?;
    if one.shape != Shape::Document {
        return Err(Error::Input(format!(
            "{} is a stream of documents; this task needs a file with one document",
            options.input.display()
        )));
    }
    let lines = &batch.lines;
    if let Some(times) = batch.times {
        let base = folder("one")?.join("base");
        let line = std::fs::read(&base).map_err(Error::io("read", &base))?;
        let failed = || Error::io("write", lines);
        let mut file = BufWriter::new(File::create(lines).map_err(failed())?);
        for _ in 0..times {
            file.write_all(&line).map_err(failed())?;
        }
        file.flush().map_err(failed())?;
    }
    let input = lines.clone();
    let stream =
        Options { input, files: Vec::new(), from: Some(Format::Ndjson), ..options.clone() };
    let many = References::write(&stream.input_files()?, &folder("batch")?)?;
    let mut workers = Vec::new();
    for (at, contender) in contenders.iter().enumerate() {
        // It could be translated a moment ago, or would have no time in the report.
        if translations[at].as_ref().is_some_and(|translation| translation.make().is_err()) {
            continue;
        }
        // Two processes each: if time is short, the rest has no figures.
        if is_over(options, began, START_SHARE) && !workers.is_empty() {
            continue;
        }
        for (batch, references) in [(false, &one), (true, &many)] {
            let folder = folder(&format!("calls-{at}-{batch}"))?;
            let process = start(contender, &launches[at], references, &folder, options);
            workers.push(Worker { contender, process, batch, calls: 1, lists: HashMap::new() });
        }
    }
    let estimate = |contender: &Contender, op: Op| {
        let timing = timed(contender).and_then(|row| row.timing.as_ref());
        timing.map_or(1.0, |timing| match op {
            Op::Decode => timing.decode.estimate_ns.median,
            Op::Encode => timing.encode.estimate_ns.median,
        })
    };
    rounds(&mut workers, Op::Decode, &estimate, began, options, progress);
    rounds(&mut workers, Op::Encode, &estimate, began, options, progress);
    for process in workers.iter_mut().filter_map(|worker| worker.process.take()) {
        process.stop();
    }
    let share = cpu_share(&workers);
    let by_cpu = share.is_some_and(|share| share < busy);
    let mut calls = All::new();
    for worker in workers {
        let key = (worker.contender.runtime, worker.contender.name.clone());
        let lists = &mut calls.entry(key).or_default().lists;
        for (name, taken) in worker.lists {
            let figure = |one: &Taken| one.cpu_ns.filter(|_| by_cpu).unwrap_or(one.ns);
            lists.insert(name, taken.iter().map(figure).collect());
        }
    }
    Ok((calls, share))
}

/// Returns the processor's share of the time of all samples, or nothing if a runtime does not
/// report it.
fn cpu_share(workers: &[Worker]) -> Option<f64> {
    let taken = || workers.iter().flat_map(|worker| worker.lists.values().flatten());
    let cpu: Option<f64> = taken().map(|one| one.cpu_ns).sum();
    let clock: f64 = taken().map(|one| one.ns).sum();
    cpu.filter(|_| clock > 0.0).map(|cpu| cpu / clock)
}

fn start(
    contender: &Contender,
    launch: &Launch,
    references: &References,
    folder: &Path,
    options: &Options,
) -> Option<Process> {
    let load = check::load_for(contender, launch, references, folder, options.patience).ok()?;
    let (mut process, _) = Process::start(launch, options.patience).ok()?;
    let command = Command::Load { path: &load.path, spans: load.spans.as_deref() };
    process.ask::<Counted>(&command, options.patience).ok()?;
    Some(process)
}

/// Returns whether this share of the budget is used up. A number of rounds that was asked for takes what it
/// takes.
fn is_over(options: &Options, began: Instant, share: f64) -> bool {
    options.rounds.is_none() && began.elapsed() >= options.budget.mul_f64(share)
}

/// Returns how many calls a sample has, if all samples of `workers` are to fit into `left`.
fn calls_of(call_ns: f64, left: Duration, workers: usize) -> u64 {
    let samples = (workers.max(1) as u64 * (1 + ROUNDS_MIN)) as f64;
    let most = SAMPLE_NS_MAX.min(left.as_nanos() as f64 / samples);
    ((most / call_ns.max(1.0)) as u64).clamp(CALLS_MIN, CALLS)
}

/// Runs the rehearsal of all contenders, then rounds in shuffled order.
fn rounds(
    workers: &mut [Worker],
    op: Op,
    estimate: &dyn Fn(&Contender, Op) -> f64,
    began: Instant,
    options: &Options,
    progress: &mut dyn Progress,
) {
    let (rehearsal, run, batch) = match op {
        Op::Decode => ("decode-rehearsal", "decode-calls", "batch-decode"),
        Op::Encode => ("encode-rehearsal", "encode-calls", "batch-encode"),
    };
    // Half of the task's budget is for this; what the starts leave of it is shared.
    let share = if op == Op::Decode { 0.35 } else { 0.5 };
    let time = match options.rounds {
        Some(_) => Duration::MAX,
        None => options.budget.mul_f64(share).saturating_sub(began.elapsed()),
    };
    let count = workers.len();
    progress.begin(Stage::Warm, count as u64);
    let rehearsing = Instant::now();
    for worker in workers.iter_mut() {
        progress.step(&worker.contender.name);
        if op == Op::Encode
            && let Some(process) = worker.process.as_mut()
            && process.ask::<Counted>(&Command::Hold, options.patience).is_err()
        {
            worker.process = None;
        }
        if worker.batch {
            worker.calls = 1;
        } else {
            worker.calls = calls_of(estimate(worker.contender, op), time, count);
        }
        if is_over(options, began, share) {
            continue;
        }
        let taken = worker.sample(op, options);
        if !worker.batch {
            worker.keep(rehearsal, taken);
        }
    }
    let round = rehearsing.elapsed();
    let left = options.budget.mul_f64(share).saturating_sub(began.elapsed());
    let planned = options.rounds.unwrap_or_else(|| {
        ((left.as_secs_f64() / round.as_secs_f64().max(1e-6)) as u64).clamp(ROUNDS_MIN, ROUNDS_MAX)
    });
    progress.begin(Stage::Rounds, planned);
    let mut random = Random::new(options.seed ^ op as u64);
    let mut order: Vec<usize> = (0..workers.len()).collect();
    for round in 0..planned {
        // The first round gives every contender its figure.
        if round > 0 && is_over(options, began, share) {
            return;
        }
        random.shuffle(&mut order);
        if options.is_stopped() {
            return;
        }
        for &at in &order {
            if is_over(options, began, share + LATEST_SHARE) {
                return;
            }
            let worker = &mut workers[at];
            let taken = worker.sample(op, options);
            worker.keep(if worker.batch { batch } else { run }, taken);
        }
        progress.step("");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_as_many_calls_as_fit() {
        let (long, short) = (Duration::MAX, Duration::from_secs(3));
        assert_eq!(calls_of(1e3, long, 80), 1_000);
        assert_eq!(calls_of(1e7, long, 80), 100, "a second at most");
        // 3 s for six samples each of 50 workers: 10 ms each.
        assert_eq!(calls_of(1e4, short, 50), 1_000);
        assert_eq!(calls_of(1e5, short, 50), 100);
        assert_eq!(calls_of(1e8, short, 50), CALLS_MIN);
    }
}
