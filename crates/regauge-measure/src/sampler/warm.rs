//! When a contender is warm.
//!
//! Compilers that work while the program runs (JRuby, Node, Java) make a library several times
//! faster within its first seconds; caches and allocators do the same on a small scale. The rule:
//! a contender is settled when the median of its last three samples lies within 5% of the median
//! of the three before. It gets that chance after each sample, until its time for warming up is
//! over; the report says how long it took and whether it settled.

use std::time::Duration;

use crate::stats::median;

/// How many samples are compared with as many before them.
pub(crate) const WINDOW: usize = 3;
/// How close the two medians must be: the machine has noise of its own, and
/// a compiler's next stage makes code at least a tenth faster.
pub(crate) const WITHIN: f64 = 0.05;

/// What warming up came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Warmth {
    pub samples: u64,
    pub ns: f64,
    /// Nothing when there were too few samples to tell.
    pub settled: Option<bool>,
}

/// The time that all warm-ups of a lap have together. Most settle at once and leave their time to
/// those that do not; on a noisy machine nobody does, and nobody may take all of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pool {
    /// The longest time of one warm-up.
    pub most: Duration,
    /// What is left for those that are left; nothing for as much as they like.
    pub left: Option<Duration>,
    pub remaining: u32,
}

impl Pool {
    /// How long the next warm-up may take: up to three equal shares of what is left, and never all
    /// of it while there are others.
    pub(crate) fn limit(&self) -> Duration {
        let Some(left) = self.left else { return self.most };
        let share = left * 3 / self.remaining.max(1);
        share.min(if self.remaining > 1 { left / 2 } else { left }).min(self.most)
    }

    /// One has taken this long.
    pub(crate) fn spend(&mut self, time: Duration) {
        self.remaining = self.remaining.saturating_sub(1);
        self.left = self.left.map(|left| left.saturating_sub(time));
    }
}

/// Whether the samples, in nanoseconds of one pass, have come to rest; nothing when there are too
/// few to tell.
pub(crate) fn is_settled(per_pass: &[f64]) -> Option<bool> {
    let (head, last) = per_pass.split_at(per_pass.len().checked_sub(WINDOW)?);
    let before = &head[head.len().checked_sub(WINDOW)?..];
    let (before, last) = (median(before), median(last));
    Some((last - before).abs() <= WITHIN * before)
}

/// How many passes make a sample of at least this length.
pub(crate) fn iterations(pass_ns: f64, sample_min: Duration) -> u64 {
    ((sample_min.as_nanos() as f64 / pass_ns.max(1.0)).ceil() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_is_when_two_medians_agree() {
        for (samples, settled) in [
            (&[][..], None),
            (&[10.0; 5], None),
            (&[10.0; 6], Some(true)),
            // What came long before does not count.
            (&[90.0, 50.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0], Some(true)),
            // One outlier in each window does not count either.
            (&[10.0, 90.0, 10.0, 10.0, 10.0, 70.0], Some(true)),
            (&[10.0, 10.0, 10.0, 10.5, 10.5, 10.5], Some(true)),
            (&[10.0, 10.0, 10.0, 10.6, 10.6, 10.6], Some(false)),
            (&[10.0, 10.0, 10.0, 9.4, 9.4, 9.4], Some(false)),
        ] {
            assert_eq!(is_settled(samples), settled, "{samples:?}");
        }
    }

    #[test]
    fn a_pool_is_never_overdrawn_and_leaves_time_to_those_that_need_it() {
        let ms = Duration::from_millis;
        let mut pool = Pool { most: ms(2_000), left: Some(ms(1_000)), remaining: 10 };
        assert_eq!(pool.limit(), ms(300));
        // Nine that settle at once: the last may have what they left.
        for _ in 0..9 {
            pool.spend(ms(10));
        }
        assert_eq!(pool.limit(), ms(910));
        // Ten that never do: each takes its limit.
        let mut pool = Pool { most: ms(2_000), left: Some(ms(1_000)), remaining: 10 };
        let taken: Vec<Duration> = (0..10)
            .map(|_| {
                let limit = pool.limit();
                pool.spend(limit);
                limit
            })
            .collect();
        assert!(taken.iter().sum::<Duration>() <= ms(1_000), "{taken:?}");
        assert!(taken[8] > Duration::ZERO, "{taken:?}");
        let free = Pool { most: ms(2_000), left: None, remaining: 10 };
        assert_eq!(free.limit(), ms(2_000));
    }

    #[test]
    fn a_sample_is_as_long_as_it_must_be() {
        let of = |pass_ns| iterations(pass_ns, Duration::from_millis(10));
        assert_eq!([of(1e3), of(3e6), of(1e7), of(2e9), of(0.0)], [10_000, 4, 1, 1, 10_000_000]);
    }
}
