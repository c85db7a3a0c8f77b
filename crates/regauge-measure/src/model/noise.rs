//! Detects quiet moments: a short fixed piece of work is timed before and after every sample.
//!
//! A shared machine is not slow all the time: a neighbour on the same core comes and goes. A sample
//! counts for the estimate if the probes on both sides took about as long as the machine's best.
//! Nothing is rejected outright: remaining noise widens the intervals, and a tenfold difference
//! stays one.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::model::report::Noise;
use crate::model::stats;

/// A probe within this factor of the machine's best is quiet.
const NEAR: f64 = 1.08;
/// The machine's best is this quantile of all probes: the least of thousands would be luck.
const BEST: f64 = 0.05;
/// With a smaller share of quiet samples than this, wall-clock times say more about the machine
/// than about the contenders.
pub(crate) const HARDLY: f64 = 0.10;
/// Fewer probes say nothing.
const PROBES_MIN: usize = 5;

/// Does the fixed work: 100,000 dependent steps over a 32 KB table, about a quarter of a
/// millisecond. It uses the processor and its L1 cache, and allocates nothing.
pub(crate) fn work() -> Duration {
    const STEPS: u64 = 100_000;
    let mut table = [0_u64; 4096];
    let began = Instant::now();
    let mut state = 1_u64;
    for step in 0..STEPS {
        state = state.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) ^ step;
        let place = (state >> 52) as usize;
        table[place] = table[place].wrapping_add(state);
        state ^= table[place];
    }
    black_box((state, &table));
    began.elapsed()
}

/// Returns the machine's best time for the probe; 0 without any.
pub(crate) fn best(probes_ns: &[f64]) -> f64 {
    let mut sorted = probes_ns.to_vec();
    let place = (sorted.len() as f64 * BEST) as usize;
    if sorted.is_empty() {
        return 0.0;
    }
    *sorted.select_nth_unstable_by(place, f64::total_cmp).1
}

/// Returns whether a sample was quiet, by the probes before and after it.
pub(crate) fn is_quiet(around: [f64; 2], best: f64) -> bool {
    around.iter().all(|probe| *probe <= NEAR * best)
}

/// Summarises the probes; `quiet_share` covers all samples.
pub(crate) fn told(probes_ns: Vec<f64>, quiet_share: Option<f64>) -> Option<Noise> {
    (probes_ns.len() >= PROBES_MIN).then(|| Noise {
        spread: stats::spread(&probes_ns),
        best_probe_ns: best(&probes_ns),
        quiet_share,
        probes_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_quiet_when_both_probes_are_near_the_best() {
        // Half of the time a neighbour is on the core.
        let probes: Vec<f64> = (0..100)
            .map(|i| if i % 2 == 0 { 250.0 + f64::from(i) / 10.0 } else { 370.0 })
            .collect();
        let best = best(&probes);
        assert!((250.0..252.0).contains(&best), "{best}");
        assert!(is_quiet([251.0, 265.0], best));
        assert!(!is_quiet([251.0, 370.0], best));
        assert!(!is_quiet([370.0, 251.0], best));
    }

    #[test]
    fn one_lucky_probe_is_not_the_best() {
        let mut probes = vec![250.0; 100];
        probes[3] = 100.0;
        assert_eq!(best(&probes), 250.0);
        assert_eq!(best(&[]), 0.0);
    }

    #[test]
    fn few_probes_say_nothing() {
        assert!(told(vec![1e6; 4], None).is_none());
        let noise = told(vec![1e6; 9], Some(1.0)).unwrap();
        assert_eq!((noise.spread, noise.best_probe_ns, noise.quiet_share), (0.0, 1e6, Some(1.0)));
    }

    #[test]
    fn the_work_takes_time() {
        assert!(work() > Duration::from_micros(25));
    }
}
