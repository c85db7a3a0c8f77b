//! How quiet the machine is: a fixed piece of work, timed again and again between the rounds.
//!
//! What is measured is half of the distance between the quartiles of those times, divided by
//! their median. Beyond the limit nothing is ranked. The limit, 10%, is a choice: once
//! another program takes the core for a quarter of the probes or more, the upper quartile is a
//! probe that was interrupted; then a median may come from either kind of sample, and no interval
//! tells of the other.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::report::Noise;
use crate::stats;

/// The spread beyond which nothing is ranked, unless the user says otherwise.
pub(crate) const LIMIT: f64 = 0.10;

/// Fewer probes say nothing.
const PROBES_MIN: usize = 5;

/// The fixed work: 400,000 dependent steps over a table of 32 KB, about a millisecond. It uses the
/// processor and its first cache, and allocates nothing.
pub(crate) fn work() -> Duration {
    const STEPS: u64 = 400_000;
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

/// What the probes say. With `rank_anyway` there is no advice, and everything is ranked.
pub(crate) fn judge(probes_ns: Vec<f64>, limit: f64, rank_anyway: bool) -> Option<Noise> {
    if probes_ns.len() < PROBES_MIN {
        return None;
    }
    let spread = stats::spread(&probes_ns);
    let advice = (spread > limit && !rank_anyway).then(|| {
        format!(
            "Nothing is ranked: the machine was too noisy. A fixed piece of work, timed {} times \
             between the rounds, took from {:.2} to {:.2} ms in the middle half: ±{:.0}%, and \
             {:.0}% is the limit. Close other programs, wait until the machine is idle, and \
             measure again, with a longer --budget if it is never quite idle; or set another \
             --noise-limit, or take the ranking as it is with --rank-anyway.",
            probes_ns.len(),
            stats::quartiles(&probes_ns).0 / 1e6,
            stats::quartiles(&probes_ns).1 / 1e6,
            spread * 100.0,
            limit * 100.0
        )
    });
    Some(Noise { probes_ns, spread, limit, advice })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_machine_is_ranked_and_a_noisy_one_is_not() {
        let quiet: Vec<f64> = (0..20).map(|i| 1e6 + f64::from(i % 5) * 1e4).collect();
        let noise = judge(quiet, LIMIT, false).unwrap();
        assert!(noise.spread < 0.02 && noise.advice.is_none(), "{noise:?}");
        // Every third probe was interrupted.
        let noisy: Vec<f64> = (0..21).map(|i| if i % 3 == 0 { 5e6 } else { 1e6 }).collect();
        let noise = judge(noisy.clone(), LIMIT, false).unwrap();
        assert_eq!((noise.spread, noise.limit), (2.0, 0.1));
        let advice = noise.advice.unwrap();
        assert!(
            advice.starts_with("Nothing is ranked") && advice.contains("timed 21 times"),
            "{advice}"
        );
        assert!(judge(noisy.clone(), 2.5, false).unwrap().advice.is_none());
        let anyway = judge(noisy, LIMIT, true).unwrap();
        assert!(anyway.advice.is_none() && anyway.spread > anyway.limit);
        assert!(judge(vec![1e6; 4], LIMIT, false).is_none());
    }

    #[test]
    fn one_interrupted_probe_in_ten_is_no_noise() {
        let probes: Vec<f64> = (0..40).map(|i| if i % 10 == 0 { 5e6 } else { 1e6 }).collect();
        assert_eq!(judge(probes, LIMIT, false).unwrap().spread, 0.0);
    }

    #[test]
    fn the_work_takes_time() {
        assert!(work() > Duration::from_micros(100));
    }
}
