//! Median, and how sure we are of it.
//!
//! A run has some ten samples of each contender, with outliers on one side only (another process
//! took the core). The median does not care for those; its interval comes from the percentile
//! bootstrap (Efron 1979): draw as many samples with replacement as there are, take their median,
//! do so 4,000 times, and cut off 2.5% at both ends. It assumes no shape of the distribution.
//!
//! Samples of one process are more alike than those of two: where its memory lies differs from
//! process to process, and stays for its life. So each contender runs in several processes, one
//! after the other, and a draw takes processes first and samples of each second (Davison and
//! Hinkley 1997, §3.8). That alone is too narrow for so few processes: see `WIDER`.

use serde::{Deserialize, Serialize};

use crate::random::Random;

/// Draws per interval: the ends of a 95% interval are then the 100th smallest and largest of
/// them, which moves by about a tenth of a standard error between seeds.
const DRAWS: usize = 4_000;

/// By how much a process's distance from the middle is widened before drawing, for 2, 3, 4, …
/// processes. With few of them a draw cannot reach beyond the outermost, though the next process
/// may. Found by simulation: with these factors the interval holds the true value in at least 95%
/// of runs when processes differ three times as much as the samples of one (a test repeats it).
const WIDER: [f64; 7] = [9.0, 3.1, 2.0, 1.5, 1.4, 1.25, 1.2];
/// The same for more.
const WIDER_BEYOND: f64 = 1.1;

/// Samples in the order they were taken, and how many of them each process gave.
#[derive(Debug, Clone, Copy)]
pub struct Grouped<'s> {
    /// The samples, process by process.
    pub samples: &'s [f64],
    /// How many each process gave. Empty, one, or not the sum: they count as one process's.
    pub sizes: &'s [usize],
}

/// The same, owned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct List {
    /// The samples, process by process.
    pub samples: Vec<f64>,
    /// How many each process gave, as in [`Grouped`].
    pub sizes: Vec<usize>,
}

impl From<Vec<f64>> for List {
    fn from(samples: Vec<f64>) -> List {
        List { samples, sizes: Vec::new() }
    }
}

impl<'s> From<&'s List> for Grouped<'s> {
    fn from(list: &'s List) -> Grouped<'s> {
        Grouped { samples: &list.samples, sizes: &list.sizes }
    }
}

impl<'s> From<&'s [f64]> for Grouped<'s> {
    fn from(samples: &'s [f64]) -> Grouped<'s> {
        Grouped { samples, sizes: &[] }
    }
}

impl Grouped<'_> {
    /// The samples of each process, each moved away from the middle as [`WIDER`] says.
    fn blocks(&self) -> Vec<Vec<f64>> {
        let sizes: Vec<usize> = self.sizes.iter().copied().filter(|size| *size > 0).collect();
        if sizes.len() < 2 || sizes.iter().sum::<usize>() != self.samples.len() {
            return vec![self.samples.to_vec()];
        }
        let factor = WIDER.get(sizes.len() - 2).copied().unwrap_or(WIDER_BEYOND);
        let whole = median(self.samples);
        let mut rest = self.samples;
        sizes
            .into_iter()
            .map(|size| {
                let (block, behind) = rest.split_at(size);
                rest = behind;
                // As a factor: a time that is moved stays above 0.
                let scale =
                    if whole > 0.0 { (median(block) / whole).powf(factor - 1.0) } else { 1.0 };
                block.iter().map(|sample| sample * scale).collect()
            })
            .collect()
    }
}

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

/// A number made of the medians of several lists of samples (a sum, a ratio), and its interval:
/// every list is drawn from anew for each draw.
pub fn estimate_of(lists: &[&[f64]], seed: u64, number: impl Fn(&[f64]) -> f64) -> Estimate {
    let lists: Vec<Grouped> = lists.iter().map(|list| Grouped::from(*list)).collect();
    estimate_of_processes(&lists, seed, number)
}

/// The same for samples of several processes. Lists of equally many processes are drawn from
/// alike: their processes of one number ran side by side, and what the machine did to both then
/// drops out of a ratio.
pub fn estimate_of_processes(
    lists: &[Grouped],
    seed: u64,
    number: impl Fn(&[f64]) -> f64,
) -> Estimate {
    bootstrap(lists, seed, true, number)
}

/// The same for lists of different runs: no process of one ran beside one of the other, so each
/// list is drawn from by itself.
pub fn estimate_of_runs(lists: &[Grouped], seed: u64, number: impl Fn(&[f64]) -> f64) -> Estimate {
    bootstrap(lists, seed, false, number)
}

fn bootstrap(
    lists: &[Grouped],
    seed: u64,
    side_by_side: bool,
    number: impl Fn(&[f64]) -> f64,
) -> Estimate {
    let mut medians: Vec<f64> = lists.iter().map(|list| median(list.samples)).collect();
    let middle_value = number(&medians);
    let blocks: Vec<Vec<Vec<f64>>> = lists.iter().map(Grouped::blocks).collect();
    let most = blocks.iter().map(Vec::len).max().unwrap_or(1);
    let mut random = Random::new(seed);
    let mut scratch = Vec::new();
    let mut places = vec![0; most];
    let mut drawn: Vec<f64> = (0..DRAWS)
        .map(|_| {
            if most > 1 {
                places.iter_mut().for_each(|place| *place = random.below(most));
            }
            for (list, median) in blocks.iter().zip(&mut medians) {
                scratch.clear();
                for &place in places.iter().take(list.len()) {
                    let alike = side_by_side && list.len() == most;
                    let place = if alike { place } else { random.below(list.len()) };
                    let block = &list[place];
                    scratch.extend((0..block.len()).map(|_| block[random.below(block.len())]));
                }
                *median = middle(&mut scratch);
            }
            number(&medians)
        })
        .collect();
    drawn.sort_unstable_by(f64::total_cmp);
    let cut = DRAWS / 40;
    // Blocks that were moved may leave a lopsided list's median just outside.
    Estimate {
        median: middle_value,
        low: drawn[cut].min(middle_value),
        high: drawn[DRAWS - 1 - cut].max(middle_value),
    }
}

/// The quartiles, by linear interpolation between the samples; 0 when there are none.
#[must_use]
pub fn quartiles(samples: &[f64]) -> (f64, f64) {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| -> f64 {
        let place = share * (sorted.len().max(1) - 1) as f64;
        let below = sorted.get(place.floor() as usize).copied().unwrap_or(0.0);
        let above = sorted.get(place.ceil() as usize).copied().unwrap_or(below);
        below + (above - below) * place.fract()
    };
    (at(0.25), at(0.75))
}

/// Half of the distance between the quartiles, divided by the median; 0 when there are no samples.
#[must_use]
pub fn spread(samples: &[f64]) -> f64 {
    let (low, high) = quartiles(samples);
    let middle = median(samples);
    if middle > 0.0 { (high - low) / 2.0 / middle } else { 0.0 }
}

/// The places of samples that lie more than three times the distance of the quartiles beyond
/// them (Tukey's "far out").
#[must_use]
pub fn outliers(samples: &[f64]) -> Vec<u64> {
    let (low, high) = quartiles(samples);
    let reach = 3.0 * (high - low);
    let is_far = |sample: f64| sample < low - reach || sample > high + reach;
    (0_u64..).zip(samples).filter(|(_, sample)| is_far(**sample)).map(|(place, _)| place).collect()
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

    /// A normal deviate by the sum of twelve (close enough in the middle, and bounded).
    fn normal(random: &mut Random) -> f64 {
        (0..12).map(|_| random.below(1 << 30) as f64 / f64::from(1 << 30)).sum::<f64>() - 6.0
    }

    /// How often the interval holds the true value, and its mean width, when processes differ by
    /// `between` and the samples of one by 1.
    fn coverage(processes: usize, between: f64, hierarchical: bool) -> (f64, f64) {
        const TRIALS: u64 = 200;
        let (mut hits, mut width) = (0_u32, 0.0);
        for trial in 0..TRIALS {
            let mut random = Random::new(trial * 7_919 + processes as u64);
            let mut samples = Vec::new();
            for _ in 0..processes {
                let own = between * normal(&mut random);
                samples.extend((0..3).map(|_| 1_000.0 + own + normal(&mut random)));
            }
            let sizes = vec![3; processes];
            let list =
                Grouped { samples: &samples, sizes: if hierarchical { &sizes } else { &[] } };
            let found = estimate_of_processes(&[list], trial, |medians| medians[0]);
            hits += u32::from(found.low <= 1_000.0 && 1_000.0 <= found.high);
            width += found.high - found.low;
        }
        (f64::from(hits) / TRIALS as f64, width / TRIALS as f64)
    }

    #[test]
    fn the_interval_holds_the_true_value_although_processes_differ() {
        for processes in [3, 4, 5, 6, 8, 10] {
            let (found, width) = coverage(processes, 3.0, true);
            eprintln!("{processes} processes: {found:.3} hold it, width {width:.2}");
            assert!(found >= 0.93, "{processes} processes: {found}");
        }
        // What it is for: as one list, the same samples claim far too much.
        assert!(coverage(5, 3.0, false).0 < 0.85);
        // Where processes do not differ, it may claim a little less than it could.
        assert!(coverage(5, 0.0, true).0 >= 0.95);
    }

    #[test]
    fn what_hits_two_lists_side_by_side_drops_out_of_their_ratio() {
        let pace = [1.0, 1.5, 0.7, 1.2, 0.9];
        let one: Vec<f64> = pace.iter().flat_map(|pace| [pace * 100.0, pace * 101.0]).collect();
        let two: Vec<f64> = one.iter().map(|sample| sample * 2.0).collect();
        let sizes = [2; 5];
        let list = |samples| Grouped { samples, sizes: &sizes };
        let ratio =
            |lists: &[Grouped]| estimate_of_processes(lists, 1, |medians| medians[1] / medians[0]);
        let side_by_side = ratio(&[list(&one), list(&two)]);
        assert!(side_by_side.high - side_by_side.low < 0.1, "{side_by_side:?}");
        let plain = ratio(&[one.as_slice().into(), two.as_slice().into()]);
        assert!(plain.high - plain.low > 0.5, "{plain:?}");
        // Two runs share no hour, whatever numbers their processes have.
        let apart = estimate_of_runs(&[list(&one), list(&two)], 1, |ns| ns[1] / ns[0]);
        assert!(apart.high - apart.low > 0.5, "{apart:?}");
    }

    #[test]
    fn sizes_that_do_not_fit_count_as_one_process() {
        let samples = [1.0, 2.0, 3.0, 4.0];
        let plain = estimate(&samples, 1);
        for sizes in [&[][..], &[4], &[0, 4], &[3, 3]] {
            let list = Grouped { samples: &samples, sizes };
            assert_eq!(estimate_of_processes(&[list], 1, |medians| medians[0]), plain);
        }
    }

    #[test]
    fn quartiles_spread_and_outliers() {
        assert_eq!(quartiles(&[1.0, 2.0, 3.0, 4.0, 5.0]), (2.0, 4.0));
        assert_eq!(quartiles(&[1.0, 2.0]), (1.25, 1.75));
        assert_eq!(quartiles(&[]), (0.0, 0.0));
        assert_eq!(spread(&[8.0, 9.0, 10.0, 11.0, 12.0]), 0.1);
        assert_eq!(spread(&[]), 0.0);
        // The quartiles are 10 and 12: beyond 18, or below 4.
        let samples = [11.0, 10.0, 12.0, 18.5, 10.0, 12.0, 11.0, 3.5, 11.0];
        assert_eq!(outliers(&samples), [3, 7]);
        assert_eq!(outliers(&[10.0, 12.0, 11.0, 17.9]), Vec::<u64>::new());
        assert_eq!(outliers(&[5.0; 9]), Vec::<u64>::new());
    }
}
