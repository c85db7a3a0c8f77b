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
mod runner;
mod samples;
#[cfg(test)]
mod tests;
mod warm;

use std::time::Duration;

use crate::model::noise;
use crate::model::protocol::{Op, Sampled};
use crate::model::random::Random;
use crate::plan::options::{Progress, Stage};
use crate::run::process::Trouble;

pub(crate) use first::{FirstLap, first_lap};
use lap::Lap;
pub(crate) use processes::{Live, Load, Processes};
use race::Race;
pub(crate) use race::{CHECK_SLOWS, spread_of};
pub(crate) use runner::{Guess, Runner};
pub(crate) use samples::{Samples, kept};

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
