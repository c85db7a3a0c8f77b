//! One contender in the race: its process, its warm-up, its samples.

use std::time::Duration;

use super::first::FirstLap;
use super::samples::Samples;
use super::warm::{self, Warmth};
use super::{Plan, Subject, World};
use crate::model::protocol::{Op, Sampled};
use crate::model::report::Memory;
use crate::model::runtime::Runtime;
use crate::model::stats;
use crate::model::wire::Gives;
use crate::run::process::Trouble;

/// Samples in which the collector is watched, and the time at which that is enough.
const WATCHED_SAMPLES: usize = 4;
const WATCHED_NS: u64 = 100_000_000;
/// Laps that a process of a runtime that compiles lives for.
const LAPS_IN_PROCESS: usize = 2;

/// What is known of a contender from its check: one pass, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Guess {
    pub decode_ns: f64,
    pub encode_ns: f64,
    /// The probes before and after.
    pub around: [f64; 2],
}

impl Guess {
    pub(crate) fn total(self) -> f64 {
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
    /// Its process had not started, or it had given no sample, when the race was over.
    pub late: Option<Trouble>,
    /// What its part of the last lap took, without the watching of the collector.
    pub(super) lap_time: Duration,
    /// Whether `memory` comes from its check: what that wrote is in the highest mark of its process.
    pub(super) is_weighed: bool,
    /// Whether its first process is that of its check.
    pub(super) is_checked: bool,
    /// Whether all its samples were taken in its check, beside other checks.
    pub(super) is_all_beside_checks: bool,
    /// Processes so far, and laps of the one that is alive.
    pub(super) processes: u64,
    pub(super) laps: usize,
    pub(super) subject: Option<Box<dyn Subject>>,
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

    pub(super) fn series(&mut self, op: Op) -> &mut Samples {
        match op {
            Op::Decode => &mut self.decode,
            Op::Encode => &mut self.encode,
        }
    }

    pub(super) fn is_out(&self) -> bool {
        self.trouble.is_some() || self.dropped.is_some() || self.late.is_some()
    }

    pub(super) fn is_awake(&self) -> bool {
        self.subject.is_some()
    }

    pub(super) fn has_samples(&self) -> bool {
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
    pub(super) fn count_check(&mut self) {
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
    pub(super) fn drop_out<T>(&mut self, trouble: Trouble, plan: &Plan) -> Option<T> {
        match trouble {
            Trouble::Silent(after) | Trouble::NotStarted(after) if after < plan.patience => {
                self.late = Some(trouble);
            }
            trouble => self.trouble = Some(trouble),
        }
        self.subject = None;
        None
    }

    /// Starts a process and takes the first decoding in it, or goes on with the one that is alive.
    pub(super) fn wake(&mut self, world: &mut dyn World, plan: &Plan) {
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
    pub(super) fn next_lap(&self) -> Duration {
        let starts = !self.is_awake();
        let start = stats::median(&self.cold_start_ns) + stats::median(&self.cold_decode_ns);
        let start = Duration::from_nanos(start as u64);
        self.lap_time + if starts { start } else { Duration::ZERO }
    }

    /// Warms up a fresh process of a runtime that compiles, without taking samples. The compiler
    /// can finish decoding while encoding warms up.
    pub(super) fn warm_through(&mut self, world: &mut dyn World, plan: &Plan) {
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
    pub(super) fn rest(&mut self) {
        self.laps += 1;
        if !self.compiles() || self.laps >= LAPS_IN_PROCESS {
            self.subject = None;
        }
    }

    /// Asks for one sample; on trouble drops the contender and gives nothing.
    pub(super) fn sample(
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

    pub(super) fn guess_ns(&self, op: Op) -> f64 {
        match op {
            Op::Decode => self.guess.decode_ns,
            Op::Encode => self.guess.encode_ns,
        }
    }

    pub(super) fn hold(&mut self, world: &dyn World, plan: &Plan) {
        let expected = Duration::from_nanos(self.guess.decode_ns as u64);
        let patience = plan.patience(world.now(), expected);
        if let Some(Err(trouble)) = self.subject.as_mut().map(|subject| subject.hold(patience)) {
            self.drop_out::<()>(trouble, plan);
        }
    }

    /// Warms up by the rule of `warm`, for at least `least` and little more than `limit`, and finds
    /// how many passes make a sample long enough.
    pub(super) fn warm_up(
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
    pub(super) fn watch_collector(&mut self, op: Op, world: &dyn World, plan: &Plan) {
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
    pub(super) fn weigh(&mut self, op: Op) {
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
