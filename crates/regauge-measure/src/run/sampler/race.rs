//! Decides which contenders continue: all have one short lap; then those that cannot be among the
//! best of their group drop out, and the time goes to the rest, in more processes, until their
//! ratios to the best are known well enough.

use std::time::Duration;

use super::lap::Lap;
use super::{Plan, Ran, Runner, World};
use crate::model::random::Random;
use crate::model::runtime::Runtime;
use crate::model::stats::{self, Estimate, Grouped, List};
use crate::plan::options::{Progress, Stage};

/// A contender slower than the best by more than this factor drops out.
const BEHIND: f64 = 2.0;
/// The same for the first of a group, whose ratios to the best are shown first.
const BEHIND_IN_FRONT: f64 = 5.0;
/// The same for one that still compiles: it may gain more than the best by it.
const BEHIND_COLD: f64 = 4.0;
/// The same for one whose samples all come from its check: other checks ran beside it.
const BEHIND_BESIDE_CHECKS: f64 = 5.0;
/// A contender has no lap if its passes in the check took longer than this, and longer than those of the
/// best of its group by this factor: to time it exactly would take the time of ten others.
const SLOW_CHECK_NS: f64 = 20e6;
const BEHIND_IN_CHECK: f64 = 10.0;
/// Its reported factor is divided by this: a pass beside other checks may take twice as long as one alone.
pub(crate) const CHECK_SLOWS: f64 = 2.0;
/// Rounds of the first lap, of the later ones, and of those of a runtime that compiles: to start and warm up
/// its processes takes far longer than a few samples more.
const FIRST: u64 = 3;
const ROUNDS: u64 = 4;
const ROUNDS_COMPILED: u64 = 10;
/// This many of a group must be known within `CLOSE`, the others within `NEAR`.
const FRONT: usize = 3;
const CLOSE: f64 = 0.04;
const NEAR: f64 = 0.15;
/// The fewest processes of those in contention, and of a runtime that compiles; the most laps.
const PROCESSES: usize = 3;
const PROCESSES_COMPILED: usize = 2;
const LAPS_MAX: usize = 9;
/// A lap that has begun must end: one that would take more than this share of the remaining time
/// does not begin.
const FITS: f64 = 0.9;

/// The standing of each contender of a group.
struct Standing {
    place: usize,
    total: f64,
    /// Decoding and encoding against the best of the group; the best's own time, against itself.
    ratio: Estimate,
}

/// The contenders of a group that need more samples, the best first.
#[derive(Default)]
struct Next {
    /// Only the first three of the group.
    front: Vec<usize>,
    all: Vec<usize>,
}

/// A race in progress.
pub(super) struct Race<'r> {
    pub runners: &'r mut [Runner],
    pub world: &'r mut dyn World,
    pub plan: &'r Plan,
    pub progress: &'r mut dyn Progress,
    pub random: Random,
    pub ran: Ran,
}

impl Race<'_> {
    pub(super) fn run(mut self) -> Ran {
        let mut groups = super::groups(self.runners);
        // Slow warm-ups come last, so that the others are timed if time is short.
        groups.sort_by_key(|group| self.runners[group[0]].compiles());
        for group in &groups {
            self.drop_slow(group);
        }
        self.progress.begin(Stage::Lap(1), 2 * 2 * FIRST * groups.len() as u64);
        // The usual libraries come first: without them there is no verdict.
        for usual in [true, false] {
            for group in &groups {
                let part = group.iter().copied();
                let part = part.filter(|place| {
                    let runner = &self.runners[*place];
                    runner.is_usual == usual && !runner.has_samples()
                });
                self.lap(part.collect(), FIRST, false);
            }
        }
        let mut wave = 2;
        loop {
            self.waves(&mut groups, &mut wave);
            // The last lap may have put more of them out of reach, and a new best may have put some of those
            // that left within reach.
            let mut is_open = false;
            for group in &groups {
                self.still_racing(group);
                is_open |= self.bring_back(group);
            }
            if !is_open {
                return self.ran;
            }
        }
    }

    /// Runs laps until all ratios are known, or nothing more fits into the time.
    fn waves(&mut self, groups: &mut [Vec<usize>], wave: &mut u64) {
        loop {
            let next: Vec<Next> = groups.iter().map(|group| self.still_racing(group)).collect();
            // The first three are read first, so they are decided first. Without a compiler a lap is
            // cheap, and all get a second one.
            let first = next.iter().zip(&*groups).map(|(next, group)| {
                let is_cheap = *wave == 2 && !self.runners[group[0]].compiles();
                if is_cheap { next.all.clone() } else { next.front.clone() }
            });
            let first = first.collect();
            if !self.laps(*wave, first) {
                let all = next.into_iter().map(|next| next.all).collect();
                if !self.laps(*wave, all) {
                    return;
                }
            }
            self.random.shuffle(groups);
            *wave += 1;
        }
    }

    /// Compares those that dropped out with the best, which may be another one now. Those that may be among
    /// the best are back in the race; returns whether there are any.
    fn bring_back(&mut self, group: &[usize]) -> bool {
        let has_run = |runner: &Runner| runner.trouble.is_none() && runner.late.is_none();
        let standings = standings(self.runners, group, &self.ran, has_run);
        let mut any = false;
        for one in standings {
            let runner = &mut self.runners[one.place];
            let Some(before) = runner.dropped else { continue };
            // A pass in a check says less than samples: it may only lower the factor.
            let is_from_check = runner.decode.taken.len() == 1;
            let factor = if is_from_check { before.min(one.ratio.low) } else { one.ratio.low };
            runner.dropped = (factor > BEHIND).then_some(factor);
            any |= runner.dropped.is_none();
        }
        any
    }

    /// Runs a lap for each group with as many as fit into the remaining time; returns whether there
    /// was one.
    fn laps(&mut self, wave: u64, groups: Vec<Vec<usize>>) -> bool {
        let rounds = |runners: &[Runner], group: &[usize]| match group.first() {
            Some(first) if runners[*first].compiles() => ROUNDS_COMPILED,
            Some(_) => ROUNDS,
            None => 0,
        };
        let sum: u64 = groups.iter().map(|group| rounds(self.runners, group)).sum();
        if sum > 0 {
            self.progress.begin(Stage::Lap(wave), 2 * sum);
        }
        let mut any = false;
        for group in groups {
            let time = self.plan.until.saturating_sub(self.world.now());
            let rounds = rounds(self.runners, &group);
            let fits = those_that_fit(self.runners, group, time);
            any |= !fits.is_empty() && self.lap(fits, rounds, wave == 2);
        }
        any
    }

    /// Drops the contenders whose checks took many times as long as the best of their group. In a
    /// runtime that compiles, a first pass says nothing.
    fn drop_slow(&mut self, group: &[usize]) {
        let totals = group.iter().map(|place| self.runners[*place].guess.total());
        let best = totals.fold(f64::INFINITY, f64::min);
        for place in group {
            let runner = &mut self.runners[*place];
            let total = runner.guess.total();
            let is_behind = total > SLOW_CHECK_NS && total > best * BEHIND_IN_CHECK;
            let is_behind = is_behind && !runner.has_samples();
            if is_behind && !runner.compiles() && !runner.is_published && !runner.is_out() {
                runner.count_check();
                runner.dropped = Some(total / best / CHECK_SLOWS);
                runner.subject = None;
            }
        }
    }

    /// Runs a lap with the contenders that are still in the race; returns whether there was one.
    fn lap(&mut self, group: Vec<usize>, rounds: u64, watch: bool) -> bool {
        let group: Vec<usize> =
            group.into_iter().filter(|place| !self.runners[*place].is_out()).collect();
        if group.is_empty() || self.plan.is_over(self.world) {
            return false;
        }
        let (runners, plan, random) = (&mut *self.runners, self.plan, &mut self.random);
        // The first lap only shows which are far behind, and all must have had it.
        let again = rounds > FIRST;
        let lap = Lap { runners, group, plan, random, rounds, again, watch };
        lap.hold(self.world, &mut self.ran, self.progress);
        true
    }

    /// Drops the contenders that cannot win any more, and returns the others that need more samples.
    fn still_racing(&mut self, group: &[usize]) -> Next {
        let mut next = Next::default();
        let standings = standings(self.runners, group, &self.ran, |runner| !runner.is_out());
        let Some(best) = standings.first() else { return next };
        let leader = &self.runners[best.place];
        self.progress.leader(leader.group.0, leader.group.1, &leader.name, best.total);
        for (rank, one) in standings.iter().enumerate() {
            let runner = &mut self.runners[one.place];
            let limit = match runner.decode.is_cold() {
                _ if rank < FRONT => BEHIND_IN_FRONT,
                _ if runner.is_all_beside_checks => BEHIND_BESIDE_CHECKS,
                true => BEHIND_COLD,
                false => BEHIND,
            };
            if rank > 0 && one.ratio.low > limit {
                runner.dropped = Some(one.ratio.low);
                runner.subject = None;
                continue;
            }
            let (least, laps) = match runner.compiles() {
                true => (PROCESSES_COMPILED, runner.decode.laps()),
                false => (PROCESSES, runner.decode.processes()),
            };
            let goal = if rank < FRONT { CLOSE } else { NEAR };
            let is_known = runner.decode.processes() >= least
                && one.ratio.spread().is_some_and(|spread| spread <= goal);
            if !is_known && laps < LAPS_MAX {
                next.all.push(one.place);
                if rank < FRONT {
                    next.front.push(one.place);
                }
            }
        }
        // The one that the others are compared with has to run beside them.
        for list in [&mut next.front, &mut next.all] {
            if !list.is_empty() && !list.contains(&best.place) {
                list.insert(0, best.place);
            }
        }
        next
    }
}

/// Returns the contenders of a group that have times and that `counts` accepts, the best first.
fn standings(
    runners: &[Runner],
    group: &[usize],
    ran: &Ran,
    counts: impl Fn(&Runner) -> bool,
) -> Vec<Standing> {
    let places: Vec<usize> = group
        .iter()
        .copied()
        .filter(|place| {
            let runner = &runners[*place];
            counts(runner) && runner.has_samples()
        })
        .collect();
    let Some(first) = places.first() else { return Vec::new() };
    let spread = spread_of(runners, runners[*first].group.0, ran.best);
    let lists: Vec<[List; 2]> = places
        .iter()
        .map(|place| {
            let runner = &runners[*place];
            [&runner.decode, &runner.encode].map(|samples| samples.list(ran.best, spread))
        })
        .collect();
    let totals: Vec<f64> =
        lists.iter().map(|two| two.iter().map(|one| stats::median(&one.samples)).sum()).collect();
    let Some(best) = (0..lists.len()).min_by(|one, other| totals[*one].total_cmp(&totals[*other]))
    else {
        return Vec::new();
    };
    let mut standings: Vec<Standing> = places
        .iter()
        .enumerate()
        .map(|(at, place)| {
            let own = lists[at].iter().map(Grouped::from);
            let ratio = if at == best {
                let lists: Vec<Grouped> = own.collect();
                stats::estimate_of_processes(&lists, 1, |ns| (ns[0] + ns[1]) / totals[best])
            } else {
                let lists: Vec<Grouped> =
                    own.chain(lists[best].iter().map(Grouped::from)).collect();
                stats::ratio_of_processes(&lists, 1, |ns| (ns[0] + ns[1]) / (ns[2] + ns[3]))
            };
            Standing { place: *place, total: totals[at], ratio }
        })
        .collect();
    standings.sort_by(|one, other| one.total.total_cmp(&other.total));
    standings
}

/// Returns how much processes of a runtime differ in this run; what is usual counts as some
/// contenders more.
pub(crate) fn spread_of(runners: &[Runner], runtime: Runtime, best_probe: f64) -> f64 {
    /// Even on an idle machine with a library that allocates nothing.
    const LEAST: f64 = 0.005;
    let lists: Vec<List> = runners
        .iter()
        .filter(|runner| runner.group.0 == runtime)
        .flat_map(|runner| [&runner.decode, &runner.encode])
        .map(|samples| samples.list(best_probe, 0.0))
        .collect();
    let lists: Vec<Grouped> = lists.iter().map(Grouped::from).collect();
    stats::spread_of_processes(&lists).unwrap_or(stats::SPREAD).max(LEAST)
}

/// Returns as many contenders as fit into another lap, the best first; none if only the best would
/// fit.
fn those_that_fit(runners: &[Runner], wanted: Vec<usize>, left: Duration) -> Vec<usize> {
    let mut sum = Duration::ZERO;
    let count = wanted.len();
    let fits: Vec<usize> = wanted
        .into_iter()
        .filter(|place| {
            let time = runners[*place].next_lap();
            let fits = sum + time <= left.mul_f64(FITS);
            if fits {
                sum += time;
            }
            fits
        })
        .collect();
    if fits.len() < 2 && count > 1 { Vec::new() } else { fits }
}
