//! How much longer one way takes than another.

use std::time::{Duration, Instant};

/// Rounds in which the ways take turns.
const ROUNDS: usize = 41;
/// The least time that a way takes in a round.
const SLICE: Duration = Duration::from_millis(5);

/// Returns the median of `slow`'s time divided by `fast`'s, over rounds in which they take turns.
pub fn ratio(mut fast: impl FnMut(), mut slow: impl FnMut()) -> f64 {
    let times = repetitions(&mut slow);
    let mut ratios: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let fast = time(times, &mut fast);
            time(times, &mut slow) / fast
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ROUNDS / 2]
}

/// Returns how often to repeat it in a round.
fn repetitions(act: &mut impl FnMut()) -> u32 {
    act();
    let once = time(1, act).max(1e-7);
    (SLICE.as_secs_f64() / once).ceil() as u32
}

/// Returns the seconds of some repetitions.
fn time(times: u32, act: &mut impl FnMut()) -> f64 {
    let begun = Instant::now();
    for _ in 0..times {
        act();
    }
    begun.elapsed().as_secs_f64()
}
