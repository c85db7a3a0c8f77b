//! The clock's part: laps of fresh processes, warm-up, and samples in shuffled rounds.
//!
//! In a process all decoding comes first, then it makes the objects that it will encode and keeps
//! them, then all encoding: so no collector walks over kept objects while decoding is timed. In a
//! round each contender of a group gives one sample, in a new random order: whatever slows the
//! machine for a while hits all of them alike. Contenders that are not compared (another runtime,
//! other objects) are not alive at the same time: their memory and their background threads would
//! weigh on each other. Between the rounds the machine itself is timed, see `crate::noise`.

mod processes;
mod schedule;
#[cfg(test)]
mod tests;
mod warm;

use std::time::Duration;

use crate::contender::Gives;
use crate::options::{Progress, Stage};
use crate::process::Trouble;
use crate::protocol::{Op, Sampled};
use crate::random::Random;
use crate::report::{Memory, Sitting};
use crate::runtime::Runtime;
use crate::stats;

pub(crate) use processes::Processes;
pub(crate) use schedule::Guess;
use schedule::{LAPS_MAX, Pace, Schedule};
use warm::{Pool, Warmth};

/// Samples in which the collector is watched, and the time at which that is enough.
const WATCHED_SAMPLES: usize = 10;
const WATCHED_NS: u64 = 300_000_000;

/// The world as the sampler sees it: contenders can be started, and there is a clock. Tests have
/// a world of their own.
pub(crate) trait World {
    /// Starts the contender of this index and has it load its bytes.
    fn start(&mut self, index: usize, patience: Duration) -> Result<Started, Trouble>;
    /// Time since some moment.
    fn now(&self) -> Duration;
    /// Times the fixed piece of work, in nanoseconds.
    fn probe(&mut self) -> f64;
    /// Whether the user wants an end.
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
    /// One sample.
    fn sample(
        &mut self,
        op: Op,
        iterations: u64,
        gc: bool,
        patience: Duration,
    ) -> Result<Sampled, Trouble>;
    /// Decodes everything and keeps the objects.
    fn hold(&mut self, patience: Duration) -> Result<(), Trouble>;
    /// The most memory that it took so far, in bytes.
    fn peak(&self) -> Option<u64>;
}

/// A contender that is being timed.
pub(crate) struct Runner {
    /// Its place in the list of contenders.
    pub index: usize,
    pub name: String,
    /// Only contenders of the same group are compared.
    pub group: (Runtime, Gives),
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
    /// What its part of the last lap took, without the watching of the collector.
    lap_time: Duration,
    /// What it would need, if it is too slow for the budget.
    pub too_slow: Option<Duration>,
    subject: Option<Box<dyn Subject>>,
}

/// The samples of one kind of work.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    pub iterations: u64,
    pub taken: Vec<Sampled>,
    /// Nanoseconds of one pass, sample by sample.
    pub per_pass: Vec<f64>,
    /// Passes in all samples together.
    passes: u64,
    pub sittings: Vec<Sitting>,
    watched_gc_share: Option<f64>,
}

impl Samples {
    fn push(&mut self, sampled: Sampled) {
        self.per_pass.push(sampled.ns as f64 / self.iterations as f64);
        self.taken.push(sampled);
        self.passes += self.iterations;
        if let Some(sitting) = self.sittings.last_mut() {
            sitting.samples += 1;
        }
    }

    /// The sum of a figure over all samples, where every sample tells it.
    fn sum(&self, figure: impl Fn(&Sampled) -> Option<u64>) -> Option<f64> {
        let sum: Option<u64> = self.taken.iter().map(figure).sum();
        sum.filter(|_| !self.taken.is_empty()).map(|sum| sum as f64)
    }

    fn share(&self, figure: impl Fn(&Sampled) -> Option<u64>) -> Option<f64> {
        let clock = self.taken.iter().map(|sample| sample.ns).sum::<u64>();
        self.sum(figure).filter(|_| clock > 0).map(|sum| sum / clock as f64)
    }

    /// In how many processes it was not settled when the clock started.
    pub(crate) fn cold(&self) -> usize {
        self.sittings.iter().filter(|sitting| sitting.settled == Some(false)).count()
    }

    /// Processor time against time by the clock.
    pub(crate) fn cpu_share(&self) -> Option<f64> {
        self.share(|sample| sample.cpu_ns)
    }

    /// The collector's part, 0 to 1.
    pub(crate) fn gc_share(&self) -> Option<f64> {
        self.share(|sample| sample.gc_ns).or(self.watched_gc_share)
    }

    /// Collections in one pass.
    pub(crate) fn gc_count(&self) -> Option<f64> {
        self.sum(|sample| sample.gc_count).map(|sum| sum / self.passes as f64)
    }

    /// Objects allocated in one pass.
    pub(crate) fn allocations(&self) -> Option<f64> {
        self.sum(|sample| sample.allocations).map(|sum| sum / self.passes as f64)
    }
}

/// What the samples may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// So many samples of each contender, instead of as many as fit.
    pub rounds: Option<u64>,
    pub budget: Duration,
    pub sample_min: Duration,
    pub warm_max: Duration,
    pub patience: Duration,
    pub seed: u64,
}

/// What came of all laps, beside the samples.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// The most samples that a contender has of decoding and of encoding.
    pub decode: u64,
    pub encode: u64,
    /// The machine's own time, in the order it was taken.
    pub probes_ns: Vec<f64>,
}

impl Runner {
    pub(crate) fn new(
        index: usize,
        name: String,
        group: (Runtime, Gives),
        guess: Guess,
        trouble: Option<Trouble>,
    ) -> Runner {
        Runner {
            index,
            name,
            group,
            guess,
            decode: Samples::default(),
            encode: Samples::default(),
            memory: None,
            cold_start_ns: Vec::new(),
            cold_decode_ns: Vec::new(),
            pinned: false,
            trouble,
            lap_time: Duration::ZERO,
            too_slow: None,
            subject: None,
        }
    }

    fn series(&mut self, op: Op) -> &mut Samples {
        match op {
            Op::Decode => &mut self.decode,
            Op::Encode => &mut self.encode,
        }
    }

    fn is_out(&self) -> bool {
        self.trouble.is_some() || self.too_slow.is_some()
    }

    fn drop_out<T>(&mut self, trouble: Trouble) -> Option<T> {
        self.trouble = Some(trouble);
        self.subject = None;
        None
    }

    /// Starts its process, and takes the first decoding in it.
    fn start(&mut self, world: &mut dyn World, plan: &Plan) {
        let started = match world.start(self.index, plan.patience) {
            Ok(started) => started,
            Err(trouble) => return self.drop_out(trouble).unwrap_or(()),
        };
        self.cold_start_ns.push(started.start_ns);
        self.pinned = started.pinned;
        self.subject = Some(started.subject);
        let idle = started.idle;
        if let Some(first) = self.sample(Op::Decode, 1, false, plan) {
            self.cold_decode_ns.push(first.ns as f64);
        }
        if let (None, Some(idle)) = (self.memory, idle) {
            self.memory = Some(Memory { idle, decode_peak: idle, peak: idle });
        }
    }

    /// Asks for one sample; on trouble drops the contender and gives nothing.
    fn sample(&mut self, op: Op, iterations: u64, gc: bool, plan: &Plan) -> Option<Sampled> {
        let guess = match op {
            Op::Decode => self.guess.decode_ns,
            Op::Encode => self.guess.encode_ns,
        };
        // A guess of the check is rough, and nothing at all of a document that takes no time.
        let expected = Duration::from_nanos(guess as u64).max(plan.sample_min);
        let patience = plan.patience.max(expected * 20);
        match self.subject.as_mut()?.sample(op, iterations, gc, patience) {
            Ok(sampled) => Some(sampled),
            Err(trouble) => self.drop_out(trouble),
        }
    }

    fn hold(&mut self, patience: Duration) {
        if let Some(Err(trouble)) = self.subject.as_mut().map(|subject| subject.hold(patience)) {
            self.drop_out::<()>(trouble);
        }
    }

    /// Warms up by the rule of `warm`, and finds how many passes make a sample long enough.
    fn warm_up(&mut self, op: Op, limit: Duration, world: &dyn World, plan: &Plan) {
        let began = world.now();
        let goal = plan.sample_min.as_nanos() as f64;
        let mut iterations = self.series(op).iterations.max(1);
        let mut per_pass = Vec::new();
        let mut taken = 0;
        // Short passes are taken more and more at once: ten steps reach from 1 ns to any goal.
        let settled = loop {
            let Some(sampled) = self.sample(op, iterations, false, plan) else { return };
            taken += 1;
            let pass_ns = (sampled.ns as f64).max(1.0) / iterations as f64;
            if sampled.ns as f64 >= 0.8 * goal {
                per_pass.push(pass_ns);
            }
            let settled = warm::is_settled(&per_pass);
            let over = world.now() - began > limit && !per_pass.is_empty();
            if settled == Some(true) || over || world.is_stopped() {
                break settled;
            }
            if sampled.ns as f64 <= 0.8 * goal {
                let wanted = warm::iterations(pass_ns, plan.sample_min);
                iterations = wanted.clamp(1, iterations.saturating_mul(20));
            }
        };
        let spent = world.now() - began;
        let series = self.series(op);
        if series.taken.is_empty() && !per_pass.is_empty() {
            let last = &per_pass[per_pass.len().saturating_sub(warm::WINDOW)..];
            series.iterations = warm::iterations(stats::median(last), plan.sample_min);
        } else {
            series.iterations = iterations;
        }
        series
            .sittings
            .push(Warmth { samples: taken, ns: spent.as_nanos() as f64, settled }.into());
    }

    /// No warm-up: one pass is a sample, and the first has been.
    fn is_warm_enough(&mut self, op: Op, plan: &Plan) {
        let guess = match op {
            Op::Decode => self.guess.decode_ns,
            Op::Encode => self.guess.encode_ns,
        };
        let series = self.series(op);
        series.iterations = warm::iterations(guess, plan.sample_min);
        series.sittings.push(Warmth { samples: 0, ns: 0.0, settled: None }.into());
    }

    /// The collector's share, for a runtime that does not tell it with every sample: from a few
    /// samples more, whose times do not count, because watching costs time.
    fn watch_collector(&mut self, op: Op, world: &dyn World, plan: &Plan) {
        let samples = self.series(op);
        let iterations = samples.iterations;
        if samples.taken.iter().all(|sample| sample.gc_ns.is_some()) {
            return;
        }
        // A full collection comes every few samples: one sample would show all of it or nothing.
        let (mut collector, mut clock) = (0, 0);
        for _ in 0..WATCHED_SAMPLES {
            if world.is_stopped() {
                return;
            }
            let Some(sampled) = self.sample(op, iterations, true, plan) else { return };
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
        let peak = self.subject.as_ref().and_then(|subject| subject.peak());
        if let (Some(peak), Some(memory)) = (peak, self.memory.as_mut()) {
            memory.peak = memory.peak.max(peak);
            if op == Op::Decode {
                memory.decode_peak = memory.decode_peak.max(peak);
            }
        }
    }
}

impl From<Warmth> for Sitting {
    fn from(warmth: Warmth) -> Sitting {
        Sitting {
            samples: 0,
            warm_up_samples: warmth.samples,
            warm_up_ns: warmth.ns,
            settled: warmth.settled,
        }
    }
}

/// Times all runners in laps.
pub(crate) fn run(
    runners: &mut [Runner],
    world: &mut dyn World,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Ran {
    let mut ran = Ran::default();
    let began = world.now();
    let guesses: Vec<Guess> = runners.iter().map(|runner| runner.guess).collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, runner) in runners.iter().enumerate() {
        match groups.iter_mut().find(|group| runners[group[0]].group == runner.group) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    let schedule = match plan.rounds {
        Some(rounds) => schedule::fixed(runners.len(), rounds),
        None => schedule::within(&guesses, &groups, plan.budget, plan.sample_min),
    };
    for (runner, pace) in runners.iter_mut().zip(&schedule.pace) {
        if let Pace::TooSlow(needed) = pace {
            runner.too_slow = Some(*needed);
        }
    }
    let behind = schedule::behind(&guesses, &groups);
    let mut random = Random::new(plan.seed);
    let mut longest = Duration::ZERO;
    for lap in 0..LAPS_MAX {
        let elapsed = world.now() - began;
        if !another(&schedule, lap, elapsed, longest, plan.budget) {
            break;
        }
        if !schedule.fixed {
            progress.left(plan.budget.saturating_sub(elapsed));
        }
        let rounds = schedule.laps[lap.min(schedule.laps.len() - 1)];
        progress.begin(Stage::Lap(lap as u64 + 1), 2 * rounds * groups.len() as u64);
        random.shuffle(&mut groups);
        let full = |place: &usize| !runners[*place].is_out() && schedule.pace[*place] == Pace::Full;
        let mut pool = Pool {
            most: plan.warm_max,
            left: schedule.warm_pool,
            remaining: 2 * groups.iter().flatten().filter(|place| full(place)).count() as u32,
        };
        for group in &groups {
            let group: Vec<usize> =
                group.iter().copied().filter(|place| !runners[*place].is_out()).collect();
            if group.is_empty() || world.is_stopped() {
                continue;
            }
            let mut sitting = Round {
                runners,
                group,
                schedule: &schedule,
                plan,
                random: &mut random,
                pool: &mut pool,
                first: lap == 0,
                rounds,
            };
            sitting.hold(world, &mut ran.probes_ns, progress);
        }
        longest = longest.max(world.now() - began - elapsed);
        if world.is_stopped() {
            break;
        }
        if lap == 0 && !schedule.fixed {
            let left = plan.budget.saturating_sub(world.now() - began);
            longest = leave_out(runners, &behind, left);
        }
    }
    let most = |samples: fn(&Runner) -> usize| runners.iter().map(samples).max().unwrap_or(0);
    ran.decode = most(|runner| runner.decode.taken.len()) as u64;
    ran.encode = most(|runner| runner.encode.taken.len()) as u64;
    ran
}

/// After the first lap it is known what a lap takes: some are left out until two more fit, those
/// first that take the most time and are the furthest behind the best of their group.
/// Fewer than three processes make no interval, and a time without one says too little. Gives
/// what a lap will take.
fn leave_out(runners: &mut [Runner], behind: &[f64], left: Duration) -> Duration {
    let mut places: Vec<usize> =
        (0..runners.len()).filter(|place| !runners[*place].is_out()).collect();
    let weight = |place: &usize| runners[*place].lap_time.as_secs_f64() * behind[*place];
    places.sort_by(|one, other| weight(one).total_cmp(&weight(other)));
    let lap = |places: &[usize], runners: &[Runner]| -> Duration {
        places.iter().map(|place| runners[*place].lap_time).sum()
    };
    while places.len() > 1 && 2 * lap(&places, runners) > left {
        if let Some(place) = places.pop() {
            runners[place].too_slow = Some(3 * runners[place].lap_time);
        }
    }
    lap(&places, runners)
}

/// Whether there is to be another lap: three in any case, and more while they fit.
fn another(
    schedule: &Schedule,
    lap: usize,
    elapsed: Duration,
    longest: Duration,
    budget: Duration,
) -> bool {
    if schedule.fixed {
        return lap < schedule.laps.len();
    }
    // Three processes are the fewest that an interval can be made of.
    lap < 3 || elapsed + longest < budget
}

/// One lap of one group.
struct Round<'r> {
    runners: &'r mut [Runner],
    group: Vec<usize>,
    schedule: &'r Schedule,
    plan: &'r Plan,
    random: &'r mut Random,
    pool: &'r mut Pool,
    first: bool,
    rounds: u64,
}

impl Round<'_> {
    fn hold(
        &mut self,
        world: &mut dyn World,
        probes_ns: &mut Vec<f64>,
        progress: &mut dyn Progress,
    ) {
        // One after the other: nothing else runs while a fresh process is timed.
        self.random.shuffle(&mut self.group);
        for &place in &self.group {
            if !world.is_stopped() {
                let runner = &mut self.runners[place];
                progress.name(&runner.name);
                let began = world.now();
                runner.start(world, self.plan);
                runner.lap_time = world.now() - began;
            }
        }
        for op in [Op::Decode, Op::Encode] {
            for &place in &self.group {
                if world.is_stopped() {
                    break;
                }
                let runner = &mut self.runners[place];
                progress.name(&runner.name);
                let began = world.now();
                if op == Op::Encode {
                    runner.hold(self.plan.patience);
                }
                match self.schedule.pace[place] {
                    Pace::Full => {
                        let began = world.now();
                        runner.warm_up(op, self.pool.limit(), &*world, self.plan);
                        self.pool.spend(world.now() - began);
                    }
                    _ => runner.is_warm_enough(op, self.plan),
                }
                runner.lap_time += world.now() - began;
            }
            for round in 0..self.rounds {
                if world.is_stopped() {
                    break;
                }
                self.one(op, round, world);
                probes_ns.push(world.probe());
                progress.step(op.name());
            }
            for &place in &self.group {
                let runner = &mut self.runners[place];
                if self.first {
                    runner.watch_collector(op, &*world, self.plan);
                }
                runner.weigh(op);
            }
        }
        for &place in &self.group {
            self.runners[place].subject = None;
        }
    }

    /// One sample of each, in a new order.
    fn one(&mut self, op: Op, round: u64, world: &dyn World) {
        self.random.shuffle(&mut self.group);
        for &place in &self.group {
            let runner = &mut self.runners[place];
            let is_due = round == 0 || self.schedule.pace[place] == Pace::Full;
            if !is_due || world.is_stopped() {
                continue;
            }
            let iterations = runner.series(op).iterations;
            let began = world.now();
            if let Some(sampled) = runner.sample(op, iterations, false, self.plan) {
                runner.series(op).push(sampled);
            }
            runner.lap_time += world.now() - began;
        }
    }
}
