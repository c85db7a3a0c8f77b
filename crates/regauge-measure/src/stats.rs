//! Median, and how sure we are of it.
//!
//! A run has some ten samples of each contender, with outliers on one side only (another process
//! took the core). The median does not care for those; its interval comes from the percentile
//! bootstrap (Efron 1979): draw as many samples with replacement as there are, take their median,
//! do so 4,000 times, and cut off 2.5% at both ends. It assumes no shape of the distribution.

use serde::{Deserialize, Serialize};

use crate::random::Random;

/// Draws per interval: the ends of a 95% interval are then the 100th smallest and largest of
/// them, which moves by about a tenth of a standard error between seeds.
const DRAWS: usize = 4_000;

/// A median with its 95% interval, in the unit of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The middle of the samples (of an even number: the mean of the two in the middle).
    pub median: f64,
    /// Lower end of the 95% bootstrap interval.
    pub low: f64,
    /// Upper end of the 95% bootstrap interval.
    pub high: f64,
}

/// The median of the samples; 0 when there are none.
#[must_use]
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    middle(&mut sorted)
}

/// Sorts, and takes the middle.
fn middle(samples: &mut [f64]) -> f64 {
    if samples.is_empty() {
        return 0.0;
    }
    samples.sort_unstable_by(f64::total_cmp);
    let half = samples.len() / 2;
    if samples.len() % 2 == 1 {
        samples[half]
    } else {
        f64::midpoint(samples[half - 1], samples[half])
    }
}

/// The median of the samples and its interval.
#[must_use]
pub fn estimate(samples: &[f64], seed: u64) -> Estimate {
    estimate_of(&[samples], seed, |medians| medians[0])
}

/// A number made of the medians of several independent lists of samples (a sum, a ratio), and
/// its interval: every list is drawn from anew for each draw.
pub fn estimate_of(lists: &[&[f64]], seed: u64, number: impl Fn(&[f64]) -> f64) -> Estimate {
    let mut medians: Vec<f64> = lists.iter().map(|list| median(list)).collect();
    let middle_value = number(&medians);
    let mut random = Random::new(seed);
    let mut scratch = Vec::new();
    let mut drawn: Vec<f64> = (0..DRAWS)
        .map(|_| {
            for (list, median) in lists.iter().zip(&mut medians) {
                scratch.clear();
                scratch.extend((0..list.len()).map(|_| list[random.below(list.len())]));
                *median = middle(&mut scratch);
            }
            number(&medians)
        })
        .collect();
    drawn.sort_unstable_by(f64::total_cmp);
    let cut = DRAWS / 40;
    Estimate { median: middle_value, low: drawn[cut], high: drawn[DRAWS - 1 - cut] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&[]), 0.0);
    }

    /// The bootstrap of the median of an odd number of different samples is known exactly: the
    /// drawn median is at most the k-th smallest when more than half of n draws are among the k
    /// smallest, which is binomial. So the exact ends of the interval are order statistics.
    fn exact_interval(n: usize) -> Option<(usize, usize)> {
        let at_most = |k: usize| -> f64 {
            let p = k as f64 / n as f64;
            (n / 2 + 1..=n)
                .map(|hits| {
                    let ways =
                        (1..=hits).fold(1.0, |ways, i| ways * (n - hits + i) as f64 / i as f64);
                    ways * p.powi(hits as i32) * (1.0 - p).powi((n - hits) as i32)
                })
                .sum()
        };
        // 4,000 draws estimate these shares to about 0.25%: an end that is closer to a step than
        // four times that would be a matter of luck.
        for k in 1..=n {
            let share = at_most(k);
            if (share - 0.025).abs() < 0.01 || (share - 0.975).abs() < 0.01 {
                return None;
            }
        }
        let low = (1..=n).find(|k| at_most(*k) > 0.025)?;
        let high = (1..=n).find(|k| at_most(*k) >= 0.975)?;
        Some((low - 1, high - 1))
    }

    #[test]
    fn the_interval_is_that_of_the_exact_bootstrap() {
        let mut compared = 0;
        for n in (5..60).step_by(2) {
            // Unequal steps, so that a wrong place cannot give the right number.
            let samples: Vec<f64> = (0..n).map(|i| 100.0 + (i * i) as f64).collect();
            let Some((low, high)) = exact_interval(n) else { continue };
            compared += 1;
            let found = estimate(&samples, 1);
            assert_eq!((found.low, found.high), (samples[low], samples[high]), "{n} samples");
        }
        assert!(compared >= 5, "{compared}");
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let samples: Vec<f64> = (0..12).map(|i| f64::from(i * 37 % 101)).collect();
        assert_eq!(estimate(&samples, 5), estimate(&samples, 5));
    }

    #[test]
    fn equal_samples_have_no_width() {
        assert_eq!(estimate(&[2.0; 8], 3), Estimate { median: 2.0, low: 2.0, high: 2.0 });
    }

    #[test]
    fn the_ratio_of_a_list_to_its_double_is_two_and_is_inside() {
        let one: Vec<f64> = (0..15).map(|i| 100.0 + f64::from(i * 7 % 15)).collect();
        let two: Vec<f64> = one.iter().map(|value| value * 2.0).collect();
        let ratio = estimate_of(&[&two, &one], 9, |medians| medians[0] / medians[1]);
        assert_eq!(ratio.median, 2.0);
        assert!(ratio.low < 2.0 && ratio.high > 2.0 && ratio.low > 1.7 && ratio.high < 2.3);
    }
}
