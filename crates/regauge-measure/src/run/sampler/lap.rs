//! Runs one lap of one group: processes are started or woken, warm up, and give samples in rounds.

use std::time::Duration;

use super::{Plan, Ran, Runner, World};
use crate::model::noise;
use crate::model::protocol::Op;
use crate::model::random::Random;
use crate::plan::options::Progress;

/// A contender whose pass takes longer gives one sample in a lap, and none again.
const SLOW_NS: f64 = 50e6;
/// So many times a sample that was not quiet is taken again, at the end of its round.
const AGAIN: usize = 2;

/// What a lap needs to know.
pub(super) struct Lap<'l> {
    pub runners: &'l mut [Runner],
    pub group: Vec<usize>,
    pub plan: &'l Plan,
    pub random: &'l mut Random,
    pub rounds: u64,
    /// Whether samples that were not quiet are taken again.
    pub again: bool,
    /// Whether to look at the collectors of runtimes that do not tell of them.
    pub watch: bool,
}

impl Lap<'_> {
    pub(super) fn hold(
        mut self,
        world: &mut dyn World,
        ran: &mut Ran,
        progress: &mut dyn Progress,
    ) {
        // One after the other: nothing else runs while a fresh process is timed.
        self.random.shuffle(&mut self.group);
        for place in self.group.clone() {
            if !self.plan.is_over(world) {
                let runner = &mut self.runners[place];
                progress.name(&runner.name);
                let began = world.now();
                runner.wake(world, self.plan);
                runner.warm_through(world, self.plan);
                runner.lap_time = world.now() - began;
            }
        }
        self.group.retain(|place| self.runners[*place].is_awake());
        for op in [Op::Decode, Op::Encode] {
            self.warm_up(op, world, progress);
            for round in 0..self.rounds {
                if self.plan.is_over(world) {
                    break;
                }
                self.round(op, round, world, ran);
                progress.step(op.name());
            }
            for &place in &self.group {
                let runner = &mut self.runners[place];
                if self.watch {
                    runner.watch_collector(op, &*world, self.plan);
                }
                runner.weigh(op);
            }
        }
        for &place in &self.group {
            self.runners[place].rest();
        }
    }

    fn warm_up(&mut self, op: Op, world: &mut dyn World, progress: &mut dyn Progress) {
        for &place in &self.group {
            if self.plan.is_over(world) {
                break;
            }
            let runner = &mut self.runners[place];
            progress.name(&runner.name);
            let began = world.now();
            if op == Op::Encode {
                runner.hold(world, self.plan);
            }
            let limit = if runner.compiles() { self.plan.warm_compiler } else { self.plan.warm };
            runner.warm_up(op, Duration::ZERO, limit, &*world, self.plan);
            runner.lap_time += world.now() - began;
        }
    }

    /// Takes one sample of each, in a new order, and repeats those that were not quiet.
    fn round(&mut self, op: Op, round: u64, world: &mut dyn World, ran: &mut Ran) {
        let mut due: Vec<usize> = self
            .group
            .iter()
            .copied()
            .filter(|place| round == 0 || self.plan.rounds.is_some() || !self.is_slow(*place, op))
            .collect();
        self.random.shuffle(&mut due);
        let tries = if self.again { 1 + AGAIN } else { 1 };
        for _ in 0..tries {
            let mut again = Vec::new();
            let mut before = ran.probe(world);
            for &place in &due {
                if self.plan.is_over(world) {
                    return;
                }
                let runner = &mut self.runners[place];
                let began = world.now();
                let iterations = runner.series(op).iterations;
                let sampled = runner.sample(op, iterations, false, world.now(), self.plan);
                runner.lap_time += world.now() - began;
                let after = ran.probe(world);
                if let Some(sampled) = sampled {
                    runner.series(op).push(sampled, [before, after]);
                    runner.is_all_beside_checks = false;
                    if !noise::is_quiet([before, after], ran.best) && !self.is_slow(place, op) {
                        again.push(place);
                    }
                }
                before = after;
            }
            due = again;
            if due.is_empty() {
                break;
            }
        }
        ran.update();
    }

    fn is_slow(&self, place: usize, op: Op) -> bool {
        let runner = &self.runners[place];
        let series = match op {
            Op::Decode => &runner.decode,
            Op::Encode => &runner.encode,
        };
        series.per_pass.last().is_some_and(|ns| *ns > SLOW_NS)
    }
}

impl Plan {
    /// Returns whether nothing more is to begin.
    pub(super) fn is_over(&self, world: &dyn World) -> bool {
        world.is_stopped() || (self.rounds.is_none() && world.now() >= self.until)
    }

    /// Returns how long to wait for an answer that is expected after `expected`: not far beyond the
    /// end.
    pub(super) fn patience(&self, now: Duration, expected: Duration) -> Duration {
        let patience = self.patience.max(expected * 20);
        match self.rounds {
            Some(_) => patience,
            None => patience.min(self.until.saturating_sub(now) + OVERTIME),
        }
    }
}

/// How long after its end a race waits for an answer that was asked for before.
const OVERTIME: Duration = Duration::from_millis(600);
