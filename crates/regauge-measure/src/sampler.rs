//! The clock's part: calibrated samples in shuffled rounds over all contenders.
//!
//! All decoding comes first, then every process makes the objects that it will encode and keeps
//! them, then all encoding. So no collector walks over kept objects while decoding is timed. In
//! a round each contender gives one sample, in a new random order: whatever slows the machine for
//! a while hits all of them alike.

use std::time::{Duration, Instant};

use crate::check::Load;
use crate::options::{Progress, Stage};
use crate::process::{Launch, Process, Trouble};
use crate::protocol::{Command, Counted, Op, Sampled};
use crate::random::Random;
use crate::report::Memory;
use crate::runtime::Runtime;

/// Fewer samples give no interval worth the name.
const ROUNDS_MIN: u64 = 5;
/// More samples make the interval no narrower that matters: the machine's own drift is larger.
const ROUNDS_MAX: u64 = 40;

/// Samples in which the collector is watched, and the time at which that is enough.
const WATCHED_SAMPLES: usize = 10;
const WATCHED_NS: u64 = 300_000_000;

/// A contender that is being timed.
pub(crate) struct Runner {
    /// Its place in the list of contenders.
    pub index: usize,
    pub name: String,
    pub runtime: Runtime,
    pub decode: Samples,
    pub encode: Samples,
    pub memory: Option<Memory>,
    /// Why it was dropped on the way.
    pub trouble: Option<Trouble>,
    process: Option<Process>,
}

/// The samples of one kind of work.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    pub iterations: u64,
    pub taken: Vec<Sampled>,
    /// The collector's part, 0 to 1.
    pub gc_share: Option<f64>,
    /// A guess of the time of one pass.
    pass_ns: f64,
}

impl Samples {
    /// The expected time of a sample.
    fn sample_ns(&self) -> f64 {
        self.pass_ns * self.iterations as f64
    }

    /// Nanoseconds of one pass, sample by sample.
    pub(crate) fn per_pass(&self) -> Vec<f64> {
        self.taken.iter().map(|sample| sample.ns as f64 / self.iterations as f64).collect()
    }

    /// Processor time against time by the clock, over all samples.
    pub(crate) fn cpu_share(&self) -> Option<f64> {
        let cpu: Option<u64> = self.taken.iter().map(|sample| sample.cpu_ns).sum();
        let clock: u64 = self.taken.iter().map(|sample| sample.ns).sum();
        cpu.filter(|_| clock > 0).map(|cpu| cpu as f64 / clock as f64)
    }
}

/// What the rounds may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// A fixed number of rounds, instead of as many as fit.
    pub rounds: Option<u64>,
    pub sample_min: Duration,
    pub patience: Duration,
    pub seed: u64,
}

impl Runner {
    /// Starts the process and loads the reference bytes. A contender that fails here is kept,
    /// with its trouble.
    pub(crate) fn start(
        (index, name, runtime): (usize, String, Runtime),
        launch: &Launch,
        load: &Load,
        patience: Duration,
    ) -> Runner {
        let mut runner = Runner::empty((index, name, runtime));
        let started = Process::start(launch, patience).and_then(|(mut process, _)| {
            runner.memory = process.memory().map(|(resident, _)| Memory {
                idle: resident,
                decode_peak: resident,
                peak: resident,
            });
            let command = Command::Load { path: &load.path, spans: load.spans.as_deref() };
            process.ask::<Counted>(&command, patience)?;
            Ok(process)
        });
        match started {
            Ok(process) => runner.process = Some(process),
            Err(trouble) => runner.trouble = Some(trouble),
        }
        runner
    }

    /// One that cannot even be started.
    pub(crate) fn failed(who: (usize, String, Runtime), trouble: Trouble) -> Runner {
        Runner { trouble: Some(trouble), ..Runner::empty(who) }
    }

    fn empty((index, name, runtime): (usize, String, Runtime)) -> Runner {
        Runner {
            index,
            name,
            runtime,
            decode: Samples::default(),
            encode: Samples::default(),
            memory: None,
            trouble: None,
            process: None,
        }
    }

    fn series(&mut self, op: Op) -> &mut Samples {
        match op {
            Op::Decode => &mut self.decode,
            Op::Encode => &mut self.encode,
        }
    }

    /// Asks for one sample; on trouble drops the contender and gives nothing.
    fn sample(&mut self, op: Op, iterations: u64, gc: bool, patience: Duration) -> Option<Sampled> {
        let expected = Duration::from_nanos(self.series(op).pass_ns as u64 * iterations);
        let patience = patience.max(expected * 20);
        match self.process.as_mut()?.ask(&Command::Sample { op, iterations, gc }, patience) {
            Ok(sampled) => Some(sampled),
            Err(trouble) => self.drop_out(trouble),
        }
    }

    fn drop_out<T>(&mut self, trouble: Trouble) -> Option<T> {
        self.trouble = Some(trouble);
        self.process = None;
        None
    }

    /// Warms up, and finds how many passes make a sample long enough.
    fn calibrate(&mut self, op: Op, plan: &Plan) {
        let goal = plan.sample_min.as_nanos() as f64;
        let mut iterations = 1;
        let mut best = f64::INFINITY;
        // Five steps take a pass of 1 µs to 10 ms: each is ten times longer, or as long as needed.
        for step in 0..8 {
            let Some(sampled) = self.sample(op, iterations, false, plan.patience) else { return };
            let ns = (sampled.ns as f64).max(1.0);
            best = best.min(ns / iterations as f64);
            self.series(op).pass_ns = best;
            // One pass that takes long is warm-up enough; short ones get three long samples.
            if step >= 2 && ns >= 0.8 * goal || ns >= 100.0 * goal {
                break;
            }
            let wanted = (goal / best).ceil() as u64;
            iterations = wanted.clamp(1, iterations.saturating_mul(20));
        }
        let samples = self.series(op);
        samples.iterations = ((goal / samples.pass_ns).ceil() as u64).max(1);
    }

    /// Ends the process.
    pub(crate) fn stop(&mut self) {
        if let Some(process) = self.process.take() {
            process.stop();
        }
    }
}

/// Times one kind of work of all contenders; gives the number of rounds.
pub(crate) fn rounds(
    runners: &mut [Runner],
    op: Op,
    budget: Duration,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> u64 {
    let began = Instant::now();
    let (warming, sampling) = match op {
        Op::Decode => (Stage::WarmDecode, Stage::Decode),
        Op::Encode => (Stage::WarmEncode, Stage::Encode),
    };
    progress.begin(warming, runners.len() as u64);
    for runner in runners.iter_mut() {
        progress.step(&runner.name);
        if op == Op::Encode
            && let Some(process) = runner.process.as_mut()
            && let Err(trouble) = process.ask::<Counted>(&Command::Hold, plan.patience)
        {
            runner.drop_out::<()>(trouble);
        }
        runner.calibrate(op, plan);
    }
    let round_ns: f64 = runners
        .iter_mut()
        .filter(|runner| runner.trouble.is_none())
        .map(|runner| runner.series(op).sample_ns())
        .sum();
    let left = budget.saturating_sub(began.elapsed());
    let planned = plan.rounds.unwrap_or_else(|| {
        ((left.as_nanos() as f64 / round_ns.max(1.0)) as u64).clamp(ROUNDS_MIN, ROUNDS_MAX)
    });
    progress.begin(sampling, planned);
    let mut random = Random::new(plan.seed ^ op as u64);
    let mut order: Vec<usize> = (0..runners.len()).collect();
    let mut done = 0;
    while done < planned {
        let over = plan.rounds.is_none() && done >= ROUNDS_MIN && began.elapsed() > budget;
        if over || runners.iter().all(|runner| runner.trouble.is_some()) {
            break;
        }
        random.shuffle(&mut order);
        for &place in &order {
            let runner = &mut runners[place];
            let iterations = runner.series(op).iterations;
            if let Some(sampled) = runner.sample(op, iterations, false, plan.patience) {
                runner.series(op).taken.push(sampled);
            }
        }
        done += 1;
        progress.step("");
    }
    for runner in runners.iter_mut() {
        watch_collector(runner, op, plan);
        if let Some((_, peak)) = runner.process.as_ref().and_then(Process::memory)
            && let Some(memory) = runner.memory.as_mut()
        {
            memory.peak = peak;
            if op == Op::Decode {
                memory.decode_peak = peak;
            }
        }
    }
    done
}

/// The collector's share: from the samples where they tell it, else from a few samples more, whose
/// times do not count, because watching costs time.
fn watch_collector(runner: &mut Runner, op: Op, plan: &Plan) {
    let samples = runner.series(op);
    let told: Option<u64> = samples.taken.iter().map(|sample| sample.gc_ns).sum();
    let clock: u64 = samples.taken.iter().map(|sample| sample.ns).sum();
    let iterations = samples.iterations;
    if let Some(collector) = told.filter(|_| clock > 0) {
        samples.gc_share = Some(collector as f64 / clock as f64);
        return;
    }
    if runner.runtime == Runtime::NATIVE {
        return;
    }
    // A full collection comes every few samples: one sample would show all of it or nothing.
    let (mut collector, mut clock) = (0, 0);
    for _ in 0..WATCHED_SAMPLES {
        let Some(sampled) = runner.sample(op, iterations, true, plan.patience) else { return };
        let Some(spent) = sampled.gc_ns else { return };
        collector += spent;
        clock += sampled.ns;
        if clock > WATCHED_NS {
            break;
        }
    }
    runner.series(op).gc_share = Some(collector as f64 / clock.max(1) as f64);
}
