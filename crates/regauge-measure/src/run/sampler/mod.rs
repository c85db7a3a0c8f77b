//! Takes the samples: a race in laps of fresh processes, with samples in shuffled rounds.
//!
//! A process does all decoding first, then makes the objects that it will encode and keeps them,
//! then does all encoding: so no collector walks over kept objects while decoding is timed. In a
//! round, each contender of a group gives one sample, in a new random order, so whatever slows the
//! machine for a while affects all of them alike. The machine itself is timed before and after each
//! sample; see `crate::model::noise`.
//!
//! A runtime that compiles while it runs keeps its processes for several laps: servers rarely
//! answer from a process that has just started, and warming up again would take most of the time.

mod first;
mod lap;
mod processes;
mod race;
mod samples;
#[cfg(test)]
mod tests;
mod warm;

use std::time::Duration;

use crate::model::protocol::{Op, Sampled};
use crate::model::random::Random;
use crate::model::report::{Memory, Sitting};
use crate::model::runtime::Runtime;
use crate::model::wire::Gives;
use crate::model::{noise, stats};
use crate::plan::options::{Progress, Stage};
use crate::run::process::Trouble;

pub(crate) use first::{FirstLap, first_lap};
use lap::Lap;
pub(crate) use processes::{Live, Load, Processes};
use race::Race;
pub(crate) use race::spread_of;
pub(crate) use samples::{Samples, kept};
use warm::Warmth;

/// Samples in which the collector is watched, and the time at which that is enough.
const WATCHED_SAMPLES: usize = 4;
const WATCHED_NS: u64 = 100_000_000;
/// Laps that a process of a runtime that compiles lives for.
const LAPS_IN_PROCESS: usize = 2;

/// The world as the sampler sees it: contenders can be started, and there is a clock. Tests have
/// a world of their own.
pub(crate) trait World {
    /// Starts the contender of this index and has it load its bytes.
    fn start(&mut self, index: usize, patience: Duration) -> Result<Started, Trouble>;
    /// Returns the time since some moment.
    fn now(&self) -> Duration;
    /// Times the short fixed piece of work, in nanoseconds.
    fn probe(&mut self) -> f64;
    /// Returns whether the user wants an end.
    fn is_stopped(&self) -> bool;
}

/// A contender that is running, and its bytes loaded.
pub(crate) struct Started {
    pub subject: Box<dyn Subject>,
    /// From its start to its first word.
    pub start_ns: f64,
    /// Its memory then: interpreter and library.
    pub idle: Option<u64>,
    /// Whether it may only use one core.
    pub pinned: bool,
}

/// A running contender.
pub(crate) trait Subject {
    /// Takes one sample.
    fn sample(
        &mut self,
        op: Op,
        iterations: u64,
        gc: bool,
        patience: Duration,
    ) -> Result<Sampled, Trouble>;
    /// Decodes everything and keeps the objects.
    fn hold(&mut self, patience: Duration) -> Result<(), Trouble>;
    /// Lets go of what it keeps, and reads its bytes again.
    fn reload(&mut self, patience: Duration) -> Result<(), Trouble>;
    /// Returns the most memory that it took so far, in bytes.
    fn peak(&self) -> Option<u64>;
}

/// What is known of a contender from its check: one pass, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Guess {
    pub decode_ns: f64,
    pub encode_ns: f64,
    /// The probes before and after.
    pub around: [f64; 2],
}

impl Guess {
    fn total(self) -> f64 {
        self.decode_ns + self.encode_ns
    }
}

/// A contender that is being timed.
pub(crate) struct Runner {
    /// Its place in the list of contenders.
    pub index: usize,
    pub name: String,
    /// Only contenders of the same group are compared.
    pub group: (Runtime, Gives),
    pub is_usual: bool,
    /// Whether a task is about it.
    pub is_published: bool,
    /// What its check told about its speed.
    pub guess: Guess,
    pub decode: Samples,
    pub encode: Samples,
    pub memory: Option<Memory>,
    /// Fresh processes: start, and the first decoding.
    pub cold_start_ns: Vec<f64>,
    pub cold_decode_ns: Vec<f64>,
    pub pinned: bool,
    /// What broke it on the way.
    pub trouble: Option<Trouble>,
    /// It left because it takes at least so many times as long as the best.
    pub dropped: Option<f64>,
    /// It had given no sample after this time, when the race was over.
    pub late: Option<Duration>,
    /// What its part of the last lap took, without the watching of the collector.
    lap_time: Duration,
    /// Whether `memory` comes from its check: what that wrote is in the highest mark of its process.
    is_weighed: bool,
    /// Whether its first process is that of its check.
    is_checked: bool,
    /// Whether all its samples were taken in its check, beside other checks.
    is_all_beside_checks: bool,
    /// Processes so far, and laps of the one that is alive.
    processes: u64,
    laps: usize,
    subject: Option<Box<dyn Subject>>,
}

/// What the samples may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// A fixed number of samples for each contender, instead of a race.
    pub rounds: Option<u64>,
    /// When the race ends, by the clock of its world.
    pub until: Duration,
    pub sample_min: Duration,
    /// The longest warm-up of decoding or encoding in a process; that of one that compiles.
    pub warm: Duration,
    pub warm_compiler: Duration,
    pub patience: Duration,
    pub seed: u64,
}

/// The results of all laps, except for the samples.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// The most samples that a contender has of decoding and of encoding.
    pub decode: u64,
    pub encode: u64,
    /// The machine's own time, in the order it was taken.
    pub probes_ns: Vec<f64>,
    /// The best of it.
    pub best: f64,
}

impl Ran {
    fn probe(&mut self, world: &mut dyn World) -> f64 {
        let probe = world.probe();
        self.probes_ns.push(probe);
        if self.best == 0.0 {
            self.best = probe;
        }
        probe
    }

    fn update(&mut self) {
        self.best = noise::best(&self.probes_ns);
    }
}

impl Runner {
    pub(crate) fn new(index: usize, name: String, group: (Runtime, Gives), guess: Guess) -> Runner {
        Runner {
            index,
            name,
            group,
            is_usual: false,
            is_published: false,
            guess,
            decode: Samples::default(),
            encode: Samples::default(),
            memory: None,
            cold_start_ns: Vec::new(),
            cold_decode_ns: Vec::new(),
            pinned: false,
            trouble: None,
            dropped: None,
            late: None,
            lap_time: Duration::ZERO,
            is_weighed: false,
            is_checked: false,
            is_all_beside_checks: false,
            processes: 0,
            laps: 0,
            subject: None,
        }
    }

    /// Returns whether its runtime compiles while it runs.
    pub(crate) fn compiles(&self) -> bool {
        self.decode.compiles
    }

    /// Sets whether its runtime compiles while it runs.
    pub(crate) fn set_compiles(&mut self, compiles: bool) {
        self.decode.compiles = compiles;
        self.encode.compiles = compiles;
    }

    /// Continues with the process of its check.
    pub(crate) fn goes_on(&mut self, subject: Box<dyn Subject>, memory: Option<Memory>) {
        self.subject = Some(subject);
        self.is_checked = true;
        self.is_weighed = memory.is_some();
        self.memory = memory;
        self.processes = 1;
    }

    fn series(&mut self, op: Op) -> &mut Samples {
        match op {
            Op::Decode => &mut self.decode,
            Op::Encode => &mut self.encode,
        }
    }

    fn is_out(&self) -> bool {
        self.trouble.is_some() || self.dropped.is_some() || self.late.is_some()
    }

    fn is_awake(&self) -> bool {
        self.subject.is_some()
    }

    fn has_samples(&self) -> bool {
        !self.decode.taken.is_empty() && !self.encode.taken.is_empty()
    }

    /// Counts samples that it gave in its check.
    pub(crate) fn has_begun(&mut self, first: &FirstLap) {
        self.processes = 1;
        self.is_all_beside_checks = true;
        self.lap_time = first.took;
        for (op, samples) in [(Op::Decode, &first.decode), (Op::Encode, &first.encode)] {
            let (count, ns) = (samples.warm_up_samples, samples.warm_up_ns);
            let series = self.series(op);
            series.iterations = samples.iterations;
            series.sittings.push(Warmth { samples: count, ns, settled: None }.in_process(1));
            for (sampled, around) in &samples.taken {
                series.push(*sampled, *around);
            }
        }
    }

    /// Counts the passes of its check as its samples.
    fn count_check(&mut self) {
        for op in [Op::Decode, Op::Encode] {
            let sampled = Sampled::of_ns(self.guess_ns(op) as u64);
            let around = self.guess.around;
            let series = self.series(op);
            series.iterations = 1;
            series.sittings.push(Warmth { samples: 0, ns: 0.0, settled: None }.in_process(1));
            series.push(sampled, around);
        }
    }

    /// Drops it: it is in trouble, or late if it did not answer before the end.
    fn drop_out<T>(&mut self, trouble: Trouble, plan: &Plan) -> Option<T> {
        match trouble {
            Trouble::Silent(after) if after < plan.patience => self.late = Some(after),
            trouble => self.trouble = Some(trouble),
        }
        self.subject = None;
        None
    }

    /// Starts a process and takes the first decoding in it, or goes on with the one that is alive.
    fn wake(&mut self, world: &mut dyn World, plan: &Plan) {
        let patience = plan.patience(world.now(), Duration::ZERO);
        if let Some(subject) = &mut self.subject {
            if let Err(trouble) = subject.reload(patience) {
                self.drop_out::<()>(trouble, plan);
            }
            return;
        }
        let started = match world.start(self.index, patience) {
            Ok(started) => started,
            Err(trouble) => return self.drop_out(trouble, plan).unwrap_or(()),
        };
        self.processes += 1;
        self.laps = 0;
        self.cold_start_ns.push(started.start_ns);
        self.pinned = started.pinned;
        self.subject = Some(started.subject);
        let idle = started.idle;
        if let Some(first) = self.sample(Op::Decode, 1, false, world.now(), plan) {
            self.cold_decode_ns.push(first.ns as f64);
        }
        if let (None, Some(idle)) = (self.memory, idle) {
            self.memory = Some(Memory { idle, decode_peak: idle, peak: idle });
        }
    }

    /// Estimates how long its part of the next lap will take.
    fn next_lap(&self) -> Duration {
        let starts = !self.is_awake();
        let start = stats::median(&self.cold_start_ns) + stats::median(&self.cold_decode_ns);
        let start = Duration::from_nanos(start as u64);
        self.lap_time + if starts { start } else { Duration::ZERO }
    }

    /// Warms up a fresh process of a runtime that compiles, without taking samples. The compiler
    /// can finish decoding while encoding warms up.
    fn warm_through(&mut self, world: &mut dyn World, plan: &Plan) {
        let is_from_check = self.processes == 1 && self.is_checked;
        if !self.compiles() || self.laps > 0 || is_from_check {
            return;
        }
        self.warm_up(Op::Decode, plan.warm_compiler, plan.warm_compiler, world, plan);
        self.hold(world, plan);
        self.warm_up(Op::Encode, plan.warm_compiler, plan.warm_compiler, world, plan);
        let patience = plan.patience(world.now(), Duration::ZERO);
        if let Some(Err(trouble)) = self.subject.as_mut().map(|subject| subject.reload(patience)) {
            self.drop_out::<()>(trouble, plan);
        }
    }

    /// Ends the process after a lap, unless its runtime compiles and the process is young.
    fn rest(&mut self) {
        self.laps += 1;
        if !self.compiles() || self.laps >= LAPS_IN_PROCESS {
            self.subject = None;
        }
    }

    /// Asks for one sample; on trouble drops the contender and gives nothing.
    fn sample(
        &mut self,
        op: Op,
        iterations: u64,
        gc: bool,
        now: Duration,
        plan: &Plan,
    ) -> Option<Sampled> {
        // A guess of the check is rough, and nothing at all of a document that takes no time.
        let expected = Duration::from_nanos(self.guess_ns(op) as u64).max(plan.sample_min);
        let patience = plan.patience(now, expected);
        match self.subject.as_mut()?.sample(op, iterations, gc, patience) {
            Ok(sampled) => Some(sampled),
            Err(trouble) => self.drop_out(trouble, plan),
        }
    }

    fn guess_ns(&self, op: Op) -> f64 {
        match op {
            Op::Decode => self.guess.decode_ns,
            Op::Encode => self.guess.encode_ns,
        }
    }

    fn hold(&mut self, world: &dyn World, plan: &Plan) {
        let expected = Duration::from_nanos(self.guess.decode_ns as u64);
        let patience = plan.patience(world.now(), expected);
        if let Some(Err(trouble)) = self.subject.as_mut().map(|subject| subject.hold(patience)) {
            self.drop_out::<()>(trouble, plan);
        }
    }

    /// Warms up by the rule of `warm`, for at least `least` and little more than `limit`, and finds
    /// how many passes make a sample long enough.
    fn warm_up(
        &mut self,
        op: Op,
        least: Duration,
        limit: Duration,
        world: &dyn World,
        plan: &Plan,
    ) {
        let began = world.now();
        let goal = plan.sample_min.as_nanos() as f64;
        let mut iterations = self.series(op).iterations.max(1);
        let mut per_pass = Vec::new();
        let mut taken = 0;
        // Short passes are taken more and more at once: ten steps reach from 1 ns to any goal.
        let settled = loop {
            let sampled = self.sample(op, iterations, false, world.now(), plan);
            let Some(sampled) = sampled else { return };
            taken += 1;
            let pass_ns = (sampled.ns as f64).max(1.0) / iterations as f64;
            if sampled.ns as f64 >= 0.8 * goal {
                per_pass.push(pass_ns);
            }
            let series = self.series(op);
            series.fastest = series.fastest.min(pass_ns);
            let is_at_pace = series.is_at_pace(&per_pass);
            let settled = warm::is_settled(&per_pass).map(|settled| settled && is_at_pace);
            let over = world.now() - began > limit && !per_pass.is_empty();
            let spent = world.now() - began;
            if (settled == Some(true) && spent >= least) || over || plan.is_over(world) {
                break settled;
            }
            if sampled.ns as f64 <= 0.8 * goal {
                iterations = warm::next(iterations, sampled.ns, plan.sample_min);
            }
        };
        let spent = world.now() - began;
        let process = self.processes;
        let is_first = self.series(op).taken.is_empty() || self.compiles();
        let series = self.series(op);
        if is_first && !per_pass.is_empty() {
            let last = &per_pass[per_pass.len().saturating_sub(warm::WINDOW)..];
            series.iterations = warm::iterations(stats::median(last), plan.sample_min);
        } else {
            series.iterations = iterations;
        }
        let warmth = Warmth { samples: taken, ns: spent.as_nanos() as f64, settled };
        series.sittings.push(warmth.in_process(process));
    }

    /// Measures the collector's share for a runtime that does not report it with every sample: from
    /// a few extra samples, whose times do not count, because watching costs time.
    fn watch_collector(&mut self, op: Op, world: &dyn World, plan: &Plan) {
        let samples = self.series(op);
        let iterations = samples.iterations;
        if samples.taken.iter().all(|sample| sample.gc_ns.is_some()) {
            return;
        }
        // A full collection comes every few samples: one sample would show all of it or nothing.
        let (mut collector, mut clock) = (0, 0);
        for _ in 0..WATCHED_SAMPLES {
            if plan.is_over(world) {
                return;
            }
            let sampled = self.sample(op, iterations, true, world.now(), plan);
            let Some(sampled) = sampled else { return };
            let Some(spent) = sampled.gc_ns else { return };
            collector += spent;
            clock += sampled.ns;
            if clock > WATCHED_NS {
                break;
            }
        }
        self.series(op).watched_gc_share = Some(collector as f64 / clock.max(1) as f64);
    }

    /// Takes note of the most memory so far.
    fn weigh(&mut self, op: Op) {
        if self.is_weighed && self.processes == 1 {
            return;
        }
        let peak = self.subject.as_ref().and_then(|subject| subject.peak());
        if let (Some(peak), Some(memory)) = (peak, self.memory.as_mut()) {
            memory.peak = memory.peak.max(peak);
            if op == Op::Decode {
                memory.decode_peak = memory.decode_peak.max(peak);
            }
        }
    }
}

impl Warmth {
    fn in_process(self, process: u64) -> Sitting {
        Sitting {
            samples: 0,
            process,
            warm_up_samples: self.samples,
            warm_up_ns: self.ns,
            settled: self.settled,
        }
    }
}

/// Returns the places of those that are compared with each other.
fn groups(runners: &[Runner]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, runner) in runners.iter().enumerate() {
        match groups.iter_mut().find(|group| runners[group[0]].group == runner.group) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups
}

/// Times all runners.
pub(crate) fn run(
    runners: &mut [Runner],
    world: &mut dyn World,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Ran {
    let mut ran = match plan.rounds {
        Some(rounds) => fixed(runners, rounds, world, plan, progress),
        None => {
            let random = Random::new(plan.seed);
            let ran = Ran::default();
            Race { runners: &mut *runners, world, plan, progress, random, ran }.run()
        }
    };
    for runner in runners.iter_mut() {
        runner.subject = None;
    }
    ran.update();
    let most = |samples: fn(&Runner) -> usize| runners.iter().map(samples).max().unwrap_or(0);
    ran.decode = most(|runner| runner.decode.taken.len()) as u64;
    ran.encode = most(|runner| runner.encode.taken.len()) as u64;
    ran
}

/// Takes a fixed number of samples of every contender, in up to five laps of three or more,
/// regardless of time.
fn fixed(
    runners: &mut [Runner],
    rounds: u64,
    world: &mut dyn World,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Ran {
    let mut ran = Ran::default();
    let mut random = Random::new(plan.seed);
    let mut groups = groups(runners);
    let laps = (rounds / 3).clamp(1, 5);
    for lap in 0..laps {
        let rounds = rounds / laps + u64::from(lap < rounds % laps);
        progress.begin(Stage::Lap(lap + 1), 2 * rounds * groups.len() as u64);
        random.shuffle(&mut groups);
        for group in &groups {
            let group: Vec<usize> =
                group.iter().copied().filter(|place| !runners[*place].is_out()).collect();
            if group.is_empty() || world.is_stopped() {
                continue;
            }
            let watch = lap == 0;
            let lap =
                Lap { runners, group, plan, random: &mut random, rounds, again: false, watch };
            lap.hold(world, &mut ran, progress);
        }
    }
    ran
}
