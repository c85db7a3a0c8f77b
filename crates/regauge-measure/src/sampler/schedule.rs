//! How the time for the clock is shared out.
//!
//! The contenders run in *laps*. In a lap each contender gets a fresh process, warms it up and
//! gives a few samples. Several laps are what the interval is made of: processes of one program
//! differ. So the schedule keeps at least three laps, and gives up samples per lap before laps.
//! A contender that takes many times its share gives one sample a lap, and where time is short so
//! does everybody who is far behind the best of its group: how far needs no narrow interval. If not
//! even that fits, those that take the most time and are the furthest behind are not timed, and the
//! report says what they would need.

use std::time::Duration;

/// Laps and samples a lap, the best first.
const CHOICES: [(usize, u64); 8] = [(5, 8), (5, 5), (5, 4), (5, 3), (5, 2), (4, 2), (3, 2), (3, 1)];
/// Where the best choice has fewer samples than this one, those far behind make room.
const ENOUGH: usize = 3;
/// So many times the guess of the best of a group is far behind. First passes tell within a factor
/// of two or so.
const FAR_BEHIND: f64 = 4.0;
/// More laps make the interval no narrower that matters.
pub(crate) const LAPS_MAX: usize = 10;
/// Samples that a contender which settles at once needs for warming up.
const WARM_SAMPLES: f64 = 6.0;

/// The part of a lap that warming up may take.
const WARM_SHARE: f64 = 0.45;

/// What is known of a contender from its check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Guess {
    pub start_ns: f64,
    pub decode_ns: f64,
    pub encode_ns: f64,
}

/// Who gives how many samples.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Schedule {
    /// Samples in each lap that is planned for; more laps follow where there is time, as the last.
    pub laps: Vec<u64>,
    /// Whether the laps are fixed, whatever time they take.
    pub fixed: bool,
    /// For each contender, what is special.
    pub pace: Vec<Pace>,
    /// The time that the warm-ups of a lap may take together; nothing for no limit.
    pub warm_pool: Option<Duration>,
}

/// How a contender takes part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Pace {
    /// A sample in every round.
    Full,
    /// One sample in each lap, and no warm-up but the first pass.
    Once,
    /// Not at all: it would take this long.
    TooSlow(Duration),
}

impl Guess {
    /// One sample of each kind.
    fn sample_ns(&self, sample_min: Duration) -> f64 {
        let least = sample_min.as_nanos() as f64;
        self.decode_ns.max(least) + self.encode_ns.max(least)
    }

    /// A lap: start, first decoding, holding the objects, warming up, samples.
    fn lap_ns(&self, samples: f64, warm: f64, sample_min: Duration) -> f64 {
        let sample = self.sample_ns(sample_min);
        self.start_ns + 2.0 * self.decode_ns + (samples + warm) * sample
    }
}

/// Plans so many rounds in all, whatever time they take.
pub(crate) fn fixed(contenders: usize, rounds: u64) -> Schedule {
    let laps = (rounds / 3).clamp(1, 5);
    let laps = (0..laps).map(|lap| rounds / laps + u64::from(lap < rounds % laps)).collect();
    Schedule { laps, fixed: true, pace: vec![Pace::Full; contenders], warm_pool: None }
}

/// Plans for a budget. A group is the places of those that are compared with each other.
pub(crate) fn within(
    guesses: &[Guess],
    groups: &[Vec<usize>],
    budget: Duration,
    sample_min: Duration,
) -> Schedule {
    let budget_ns = budget.as_nanos() as f64;
    // A contender whose samples take twice an equal share of a lap would take the time of others.
    let share = budget_ns / guesses.len().max(1) as f64;
    let mut pace: Vec<Pace> = guesses
        .iter()
        .map(|guess| match 3.0 * 4.0 * guess.sample_ns(sample_min) > 2.0 * share {
            true => Pace::Once,
            false => Pace::Full,
        })
        .collect();
    let cost = |pace: &[Pace], laps: usize, samples: u64| -> f64 {
        let lap = |(guess, pace): (&Guess, &Pace)| match pace {
            Pace::Full => guess.lap_ns(samples as f64, WARM_SAMPLES, sample_min),
            Pace::Once => guess.lap_ns(1.0, 0.0, sample_min),
            Pace::TooSlow(_) => 0.0,
        };
        laps as f64 * guesses.iter().zip(pace).map(lap).sum::<f64>()
    };
    let best = |pace: &[Pace]| {
        let fits = |(laps, samples): &(usize, u64)| cost(pace, *laps, *samples) <= budget_ns;
        CHOICES.iter().position(fits).unwrap_or(CHOICES.len() - 1)
    };
    let behind = behind(guesses, groups);
    if best(&pace) > ENOUGH {
        for (pace, behind) in pace.iter_mut().zip(&behind) {
            if *behind > FAR_BEHIND {
                *pace = Pace::Once;
            }
        }
    }
    // The least that is worth showing: three laps of one sample.
    let (least_laps, least_samples) = CHOICES[CHOICES.len() - 1];
    let mut slowest: Vec<usize> = (0..guesses.len()).collect();
    let lap = |place: &usize| guesses[*place].lap_ns(1.0, 0.0, sample_min);
    let weight = |place: &usize| lap(place) * behind[*place];
    slowest.sort_by(|one, other| weight(one).total_cmp(&weight(other)));
    while cost(&pace, least_laps, least_samples) > budget_ns {
        let Some(&place) = slowest.last() else { break };
        if pace[place] == Pace::Full {
            pace[place] = Pace::Once;
            continue;
        }
        // Somebody is timed in any case.
        if slowest.len() == 1 {
            break;
        }
        slowest.pop();
        pace[place] = Pace::TooSlow(Duration::from_nanos((least_laps as f64 * lap(&place)) as u64));
    }
    let (laps, samples) = CHOICES[best(&pace)];
    // What is planned for samples is an upper guess, too: first passes are the slowest.
    let warm_pool = Some(budget.mul_f64(WARM_SHARE / laps as f64));
    Schedule { laps: vec![samples; laps], fixed: false, pace, warm_pool }
}

/// How many times the best guess of its group everybody's is. Who costs time and is behind is the
/// first to go: the best of a slow runtime tells more than the last of a fast one.
pub(crate) fn behind(guesses: &[Guess], groups: &[Vec<usize>]) -> Vec<f64> {
    let time = |place: usize| (guesses[place].decode_ns + guesses[place].encode_ns).max(1.0);
    let mut behind = vec![1.0; guesses.len()];
    for group in groups {
        let least = group.iter().map(|place| time(*place)).fold(f64::INFINITY, f64::min);
        group.iter().for_each(|place| behind[*place] = time(*place) / least);
    }
    behind
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(ms: f64) -> Guess {
        Guess { start_ns: 20e6, decode_ns: ms * 1e6, encode_ns: ms * 1e6 }
    }

    fn plan(guesses: &[Guess], seconds: u64) -> Schedule {
        let group = (0..guesses.len()).collect();
        within(guesses, &[group], Duration::from_secs(seconds), Duration::from_millis(10))
    }

    #[test]
    fn much_time_gives_five_laps_of_eight() {
        let schedule = plan(&[guess(1.0); 4], 60);
        assert_eq!(schedule.laps, [8; 5]);
        assert_eq!(schedule.pace, [Pace::Full; 4]);
        assert_eq!(schedule.warm_pool, Some(Duration::from_millis(5_400)));
    }

    #[test]
    fn less_time_gives_fewer_samples_and_then_fewer_laps() {
        let laps = |seconds| plan(&[guess(20.0); 20], seconds).laps;
        assert_eq!(laps(120), [8; 5]);
        assert_eq!(laps(40), [2; 5]);
        assert_eq!(laps(21), [1; 3]);
    }

    #[test]
    fn where_time_is_short_those_far_behind_make_room() {
        let mut guesses = vec![guess(10.0); 10];
        guesses.extend([guess(60.0); 10]);
        let all = (0..20).collect::<Vec<_>>();
        let (front, behind) = ((0..10).collect::<Vec<_>>(), (10..20).collect::<Vec<_>>());
        let plan = |groups: &[Vec<usize>], seconds| {
            within(&guesses, groups, Duration::from_secs(seconds), Duration::from_millis(10))
        };
        let short = plan(std::slice::from_ref(&all), 30);
        assert_eq!(short.pace[..10], [Pace::Full; 10]);
        assert_eq!(short.pace[10..], [Pace::Once; 10]);
        assert!(short.laps.len() == 5 && short.laps[0] >= 3, "{:?}", short.laps);
        // Nobody is behind in a group of equals, and nobody has to be where there is time.
        assert!(plan(&[front, behind], 60).pace.iter().all(|pace| *pace == Pace::Full));
        assert!(plan(&[all], 300).pace.iter().all(|pace| *pace == Pace::Full));
    }

    #[test]
    fn a_slow_contender_gives_one_sample_a_lap() {
        let mut guesses = vec![guess(10.0); 9];
        guesses.push(guess(900.0));
        let schedule = plan(&guesses, 60);
        assert_eq!(schedule.pace[..9], [Pace::Full; 9]);
        assert_eq!(schedule.pace[9], Pace::Once);
        assert!(schedule.laps.len() >= 3);
    }

    #[test]
    fn what_does_not_fit_at_all_is_named_with_what_it_would_take() {
        let mut guesses = vec![guess(10.0); 9];
        guesses.push(guess(9_000.0));
        let schedule = plan(&guesses, 20);
        // Three laps of a start and four passes: 3 × (0.02 + 4 × 9) s.
        assert_eq!(schedule.pace[9], Pace::TooSlow(Duration::from_millis(108_060)));
        assert!(schedule.pace[..9].iter().all(|pace| *pace == Pace::Full));
        // Somebody is always timed.
        assert_eq!(plan(&[guess(60_000.0)], 1).pace, [Pace::Once]);
    }

    #[test]
    fn the_best_of_a_slow_group_stays_before_the_last_of_a_fast_one() {
        let guesses = [guess(10.0), guess(90.0), guess(200.0), guess(210.0)];
        let groups = [vec![0, 1], vec![2, 3]];
        let times = |seconds| {
            within(&guesses, &groups, Duration::from_secs(seconds), Duration::from_millis(10)).pace
        };
        let is_timed = |pace: &Pace| !matches!(pace, Pace::TooSlow(_));
        // Laps of 0.06, 0.38, 0.82 and 0.86 s: the second is nine times behind.
        let pace = times(5);
        assert_eq!(pace.iter().map(is_timed).collect::<Vec<_>>(), [true, false, true, false]);
    }

    #[test]
    fn rounds_that_are_asked_for_are_kept() {
        let laps = |rounds| fixed(2, rounds).laps;
        assert_eq!(laps(1), [1]);
        assert_eq!(laps(5), [5]);
        assert_eq!(laps(7), [4, 3]);
        assert_eq!(laps(40), [8; 5]);
        assert_eq!(laps(41).iter().sum::<u64>(), 41);
    }
}
