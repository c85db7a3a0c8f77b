//! Decides when a contender is warm.
//!
//! Compilers that work while the program runs (JRuby, Node, Java) make a library several times
//! faster within its first seconds; caches and allocators do the same on a small scale. The rule: a
//! contender is settled when the median of its last three samples is within 5% of the median of the
//! three before. This is checked after each sample until the warm-up time is over; the report says
//! how long it took and whether it settled.

use std::time::Duration;

use crate::model::report::Sitting;
use crate::model::stats::median;

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
    /// Nothing if there were too few samples.
    pub settled: Option<bool>,
}

impl Warmth {
    /// Returns the part of this process in a series, before its samples.
    pub(super) fn in_process(self, process: u64) -> Sitting {
        Sitting {
            samples: 0,
            process,
            warm_up_samples: self.samples,
            warm_up_ns: self.ns,
            settled: self.settled,
        }
    }
}

/// Returns whether the samples, in nanoseconds of one pass, have come to rest, or nothing if there
/// are too few to tell.
pub(crate) fn is_settled(per_pass: &[f64]) -> Option<bool> {
    let (head, last) = per_pass.split_at(per_pass.len().checked_sub(WINDOW)?);
    let before = &head[head.len().checked_sub(WINDOW)?..];
    let (before, last) = (median(before), median(last));
    Some((last - before).abs() <= WITHIN * before)
}

/// Returns how many passes make a sample of at least this length.
pub(crate) fn iterations(pass_ns: f64, sample_min: Duration) -> u64 {
    ((sample_min.as_nanos() as f64 / pass_ns.max(1.0)).ceil() as u64).max(1)
}

/// Returns how many passes to try next, after so many took `ns`, until a sample is long enough. The
/// first pass may be much slower than the later ones, so a sample has at most twenty times as many
/// passes as the one before.
pub(crate) fn next(passes: u64, ns: u64, sample_min: Duration) -> u64 {
    let pass_ns = (ns as f64).max(1.0) / passes as f64;
    iterations(pass_ns, sample_min).clamp(1, passes.saturating_mul(20))
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
    fn samples_grow_until_they_are_long_enough() {
        let of = |passes, ns| next(passes, ns, Duration::from_millis(10));
        assert_eq!(
            [of(1, 10), of(20, 200), of(400, 4_000), of(8, 40_000_000)],
            [20, 400, 8_000, 2]
        );
        assert_eq!([of(1, 0), of(1, 20_000_000)], [20, 1]);
    }

    #[test]
    fn a_sample_is_as_long_as_it_must_be() {
        let of = |pass_ns| iterations(pass_ns, Duration::from_millis(10));
        assert_eq!([of(1e3), of(3e6), of(1e7), of(2e9), of(0.0)], [10_000, 4, 1, 1, 10_000_000]);
    }
}
