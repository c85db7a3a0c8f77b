//! The median, and how certain it is.
//!
//! A run has some ten samples of each contender, with outliers on one side only (another process
//! took the core). The median is robust against those; its interval comes from the percentile
//! bootstrap (Efron 1979): draw as many samples with replacement as there are, take their median,
//! repeat 4,000 times, and cut off 2.5% at both ends. It assumes no shape of the distribution.
//!
//! Samples of one process are more alike than those of two: memory layout differs between processes
//! and stays for the life of one. So each contender runs in several processes, and the differences
//! between them make the interval. Two or three processes say little about that, so they are not
//! trusted alone: all contenders of a run together show how much processes differ, and a
//! contender's own processes correct this, each by its weight (the moderated t of Smyth 2004:
//! `PRIOR` degrees of freedom for all, one less than its processes for its own).
//!
//! One process, or few, may differ by less than their samples scatter. Then the scatter widens the
//! interval to what it would be by itself, also by Student's t: three noisy samples say very little.

use serde::{Deserialize, Serialize};

use crate::model::random::Random;

/// An interval wider than this, to either side, is meaningless.
const TOO_WIDE: f64 = 0.5;

/// Draws per interval: the ends of a 95% interval are then the 100th smallest and largest of
/// them, which moves by about a tenth of a standard error between seeds.
const DRAWS: usize = 4_000;
/// The same where processes are drawn: each draw takes some twenty deviates.
const DRAWS_OF_PROCESSES: usize = 2_000;

/// The prior from all contenders counts as much as this many more processes of one.
const PRIOR: f64 = 4.0;
/// How much the processes of a contender differ where no run tells: the standard deviation of the
/// logarithm. On idle machines it is 1 to 3%.
pub(crate) const SPREAD: f64 = 0.03;

/// Samples in the order they were taken, and how many of them each process gave.
#[derive(Debug, Clone, Copy)]
pub struct Grouped<'s> {
    /// The samples, process by process.
    pub samples: &'s [f64],
    /// How many each process gave. If empty, or not the sum, nothing is known about processes, and
    /// the samples count individually.
    pub sizes: &'s [usize],
    /// How much processes of this kind differ: the standard deviation of the logarithm.
    pub spread: f64,
}

/// The same, owned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct List {
    /// The samples, process by process.
    pub samples: Vec<f64>,
    /// How many each process gave, as in [`Grouped`].
    pub sizes: Vec<usize>,
    /// As in [`Grouped`].
    pub spread: f64,
}

impl From<Vec<f64>> for List {
    fn from(samples: Vec<f64>) -> List {
        List { samples, ..List::default() }
    }
}

impl<'s> From<&'s List> for Grouped<'s> {
    fn from(list: &'s List) -> Grouped<'s> {
        Grouped { samples: &list.samples, sizes: &list.sizes, spread: list.spread }
    }
}

impl<'s> From<&'s [f64]> for Grouped<'s> {
    fn from(samples: &'s [f64]) -> Grouped<'s> {
        Grouped { samples, sizes: &[], spread: SPREAD }
    }
}

impl Grouped<'_> {
    /// Returns the samples of each process, or nothing if there are no processes.
    fn blocks(&self) -> Option<Vec<&[f64]>> {
        let sizes: Vec<usize> = self.sizes.iter().copied().filter(|size| *size > 0).collect();
        if sizes.is_empty() || sizes.iter().sum::<usize>() != self.samples.len() {
            return None;
        }
        let mut rest = self.samples;
        let blocks = sizes.into_iter().map(|size| {
            let (block, others) = rest.split_at(size);
            rest = others;
            block
        });
        Some(blocks.collect())
    }

    /// Returns the logarithm of the median of each process, or nothing if there are no processes.
    fn processes(&self) -> Option<Vec<f64>> {
        let medians: Vec<f64> = self.blocks()?.into_iter().map(median).collect();
        medians.iter().all(|one| *one > 0.0).then(|| medians.into_iter().map(f64::ln).collect())
    }

    /// Returns what the scatter within processes adds to the uncertainty of the median, or nothing if
    /// the differences between them show as much. `squares` is the sum of those, squared.
    fn scatter(&self, squares: f64) -> Option<Scatter> {
        let blocks = self.blocks()?;
        let count = blocks.len() as f64;
        let (mut sum, mut weights, mut freedom) = (0.0, 0, 0);
        for block in blocks.iter().filter(|block| block.len() > 1) {
            let logarithms: Vec<f64> = block.iter().map(|sample| sample.ln()).collect();
            let (low, high) = quartiles(&logarithms);
            let size = block.len();
            // Quartiles leave outliers out. Those of few samples are too close to each other.
            let deviation = (high - low) / NORMAL_QUARTILES / (1.0 - 1.2 / size as f64);
            sum += deviation * deviation * (size - 1) as f64;
            weights += size - 1;
            // They use about half of what the samples tell.
            freedom += (size / 2).max(2).min(size - 1);
        }
        let variance = sum / weights as f64;
        let of_medians: f64 =
            blocks.iter().map(|block| MEDIAN_VARIANCE * variance / block.len() as f64).sum();
        let shown =
            (PRIOR * self.spread * self.spread + squares) / (count * freedom_of(blocks.len()));
        let more = of_medians / (count * count) - shown;
        (more > 0.0).then(|| Scatter { deviation: more.sqrt(), freedom })
    }
}

/// The interquartile range of the normal distribution, in standard deviations.
const NORMAL_QUARTILES: f64 = 1.349;
/// The variance of a median relative to that of a mean, for many normal samples: half of pi.
const MEDIAN_VARIANCE: f64 = std::f64::consts::FRAC_PI_2;

/// How much the samples within processes scatter beyond what processes differ.
struct Scatter {
    /// Of the logarithm of the median.
    deviation: f64,
    freedom: usize,
}

impl Scatter {
    /// Draws by how much it moves the median: a logarithm. Beyond a factor of 150 an interval is
    /// meaningless anyway.
    fn draw(&self, random: &mut Random) -> f64 {
        let deviate = random.normal() * t_scale(self.freedom as f64, random);
        (self.deviation * deviate).clamp(-5.0, 5.0)
    }
}

/// Returns how much the processes of these lists differ: the standard deviation of the logarithm of
/// their medians, in the middle of the lists. Nothing where none has two processes.
pub(crate) fn spread_of_processes(lists: &[Grouped]) -> Option<f64> {
    let variances: Vec<f64> = lists
        .iter()
        .filter_map(|list| list.processes().filter(|medians| medians.len() > 1))
        .map(|medians| {
            deviations(&medians).iter().map(|one| one * one).sum::<f64>()
                / (medians.len() - 1) as f64
        })
        .collect();
    // The median of variances of few processes is too low by about this much (chi-square).
    const TOO_LOW: f64 = 0.75;
    (!variances.is_empty()).then(|| (median(&variances) / TOO_LOW).sqrt())
}

fn deviations(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|value| value - mean).collect()
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
    /// Whether the samples are too few for an interval: then `low` and `high` are the outermost
    /// samples, and must not be shown as an interval ("too few").
    #[serde(default, skip_serializing_if = "is_false")]
    pub too_few: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(what: &bool) -> bool {
    !what
}

impl Estimate {
    /// Returns a number that is known exactly.
    #[must_use]
    pub const fn exact(value: f64) -> Estimate {
        Estimate::between(value, value, value)
    }

    /// Returns a number with its interval.
    #[must_use]
    pub const fn between(low: f64, median: f64, high: f64) -> Estimate {
        Estimate { median, low, high, too_few: false }
    }

    /// Returns half the width of the interval relative to the median: 0.05 is ±5%. Nothing if the
    /// samples are too few.
    #[must_use]
    pub fn spread(&self) -> Option<f64> {
        let is_known = !self.too_few && self.median > 0.0;
        is_known.then(|| (self.high - self.low) / 2.0 / self.median)
    }

    /// Marks the samples as too few if the interval is too wide to mean anything.
    #[must_use]
    pub(crate) fn unless_too_wide(mut self) -> Estimate {
        self.too_few |= self.spread().is_some_and(|spread| spread > TOO_WIDE);
        self
    }
}

/// Returns the median of the samples; 0 when there are none.
#[must_use]
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    middle(&mut sorted)
}

/// Sorts, and returns the middle.
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

/// Returns the median of the samples and its interval.
#[must_use]
pub fn estimate(samples: &[f64], seed: u64) -> Estimate {
    estimate_of(&[samples], seed, |medians| medians[0])
}

/// Returns a number made of the medians of several lists of samples (a sum, a ratio), and its
/// interval: every list is drawn from anew for each draw.
pub fn estimate_of(lists: &[&[f64]], seed: u64, number: impl Fn(&[f64]) -> f64) -> Estimate {
    let lists: Vec<Grouped> = lists.iter().map(|list| Grouped::from(*list)).collect();
    estimate_of_processes(&lists, seed, number)
}

/// Returns the same for samples of several processes. Lists of equally many processes are drawn
/// from alike: their processes of one number ran side by side, and what the machine did to both
/// then drops out of a ratio.
pub fn estimate_of_processes(
    lists: &[Grouped],
    seed: u64,
    number: impl Fn(&[f64]) -> f64,
) -> Estimate {
    bootstrap(lists, seed, true, number)
}

/// Returns a ratio of lists whose processes of one number ran side by side: it is taken lap by lap,
/// so that a machine whose pace changes between laps changes nothing. Where the lists have
/// different numbers of processes, or only one, it is that of their medians.
pub fn ratio_of_processes(
    lists: &[Grouped],
    seed: u64,
    number: impl Fn(&[f64]) -> f64,
) -> Estimate {
    let processes: Option<Vec<Vec<f64>>> = lists.iter().map(Grouped::processes).collect();
    let laps = processes.as_ref().map_or(0, |lists| lists.first().map_or(0, Vec::len));
    let Some(processes) =
        processes.filter(|all| laps > 1 && all.iter().all(|one| one.len() == laps))
    else {
        return estimate_of_processes(lists, seed, number);
    };
    let of_lap = |lap: usize| -> f64 {
        let medians: Vec<f64> = processes.iter().map(|medians| medians[lap].exp()).collect();
        number(&medians).ln()
    };
    let ratios: Vec<f64> = (0..laps).map(of_lap).collect();
    let middle_value = ratios.iter().sum::<f64>() / laps as f64;
    if !middle_value.is_finite() {
        return estimate_of_processes(lists, seed, number);
    }
    let far = deviations(&ratios);
    let squares: f64 = far.iter().map(|one| one * one).sum();
    let scatter: Vec<Option<Scatter>> = lists.iter().map(|list| list.scatter(squares)).collect();
    let medians: Vec<f64> = lists.iter().map(|list| median(list.samples)).collect();
    let whole = number(&medians);
    let count = laps as f64;
    let (mut random, mut luck) = (Random::new(seed), Luck::default());
    let mut moved = medians.clone();
    let mut drawn: Vec<f64> = (0..DRAWS_OF_PROCESSES)
        .map(|_| {
            luck.draw(laps, &mut random);
            let weight = luck.scale / (count * freedom_of(laps)).sqrt();
            for (place, moved) in moved.iter_mut().enumerate() {
                let known = weight * lists[place].spread * PRIOR.sqrt() * random.normal();
                let more = scatter[place].as_ref().map_or(0.0, |one| one.draw(&mut random));
                *moved = medians[place] * (known + more).exp();
            }
            let own: f64 = far.iter().zip(&luck.laps).map(|(far, lap)| far * lap).sum();
            middle_value.exp() * (weight * own).exp() * number(&moved) / whole
        })
        .collect();
    drawn.sort_unstable_by(f64::total_cmp);
    let cut = drawn.len() / 40;
    Estimate::between(drawn[cut], middle_value.exp(), drawn[drawn.len() - 1 - cut])
}

/// Returns the same for lists of different runs: no process of one ran beside one of the other, so
/// each list is drawn from by itself.
pub fn estimate_of_runs(lists: &[Grouped], seed: u64, number: impl Fn(&[f64]) -> f64) -> Estimate {
    bootstrap(lists, seed, false, number)
}

/// How a list is drawn from.
enum Model<'s> {
    /// Samples with replacement.
    Samples(&'s [f64]),
    /// Around the median, by how much processes differ.
    Processes {
        median: f64,
        /// Each process's distance from their mean, as a logarithm.
        deviations: Vec<f64>,
        spread: f64,
        scatter: Option<Scatter>,
    },
}

impl<'s> Model<'s> {
    fn of(list: &Grouped<'s>) -> Model<'s> {
        match list.processes() {
            None => Model::Samples(list.samples),
            Some(medians) => {
                let deviations = deviations(&medians);
                Model::Processes {
                    median: median(list.samples),
                    spread: list.spread,
                    scatter: list.scatter(deviations.iter().map(|one| one * one).sum()),
                    deviations,
                }
            }
        }
    }

    fn processes(&self) -> usize {
        match self {
            Model::Samples(_) => 0,
            Model::Processes { deviations, .. } => deviations.len(),
        }
    }

    /// Returns a resampled median. `luck` is what happened to the processes.
    fn draw(&self, luck: &Luck, random: &mut Random, scratch: &mut Vec<f64>) -> f64 {
        match self {
            Model::Samples(samples) => {
                scratch.clear();
                scratch.extend((0..samples.len()).map(|_| samples[random.below(samples.len())]));
                middle(scratch)
            }
            Model::Processes { median, deviations, spread, scatter } => {
                let count = deviations.len() as f64;
                // Of the variance, what its own processes and what all contenders say.
                let own: f64 = deviations.iter().zip(&luck.laps).map(|(far, lap)| far * lap).sum();
                let known = spread * (PRIOR / count).sqrt() * random.normal();
                let moved = (own / count.sqrt() + known) / freedom_of(deviations.len()).sqrt();
                let more = scatter.as_ref().map_or(0.0, |one| one.draw(random));
                median * (moved * luck.scale + more).exp()
            }
        }
    }
}

fn freedom_of(processes: usize) -> f64 {
    PRIOR + processes as f64 - 1.0
}

/// What happens to processes that run side by side.
#[derive(Default)]
struct Luck {
    /// Normal deviates, one for each process.
    laps: Vec<f64>,
    /// What makes them deviates of Student's t.
    scale: f64,
}

impl Luck {
    fn draw(&mut self, processes: usize, random: &mut Random) {
        self.laps.clear();
        self.laps.extend((0..processes).map(|_| random.normal()));
        self.scale = t_scale(freedom_of(processes.max(1)), random);
    }
}

/// Returns the factor that turns a normal deviate into one of Student's t: the root of the degrees
/// of freedom over a chi-square with as many.
fn t_scale(freedom: f64, random: &mut Random) -> f64 {
    let square: f64 = (0..freedom as usize).map(|_| random.normal().powi(2)).sum();
    (freedom / square.max(f64::MIN_POSITIVE)).sqrt()
}

fn bootstrap(
    lists: &[Grouped],
    seed: u64,
    side_by_side: bool,
    number: impl Fn(&[f64]) -> f64,
) -> Estimate {
    let mut medians: Vec<f64> = lists.iter().map(|list| median(list.samples)).collect();
    let middle_value = number(&medians);
    let models: Vec<Model> = lists.iter().map(Model::of).collect();
    let most = models.iter().map(Model::processes).max().unwrap_or(0);
    let mut random = Random::new(seed);
    let mut scratch = Vec::new();
    let draws = if most > 0 { DRAWS_OF_PROCESSES } else { DRAWS };
    let (mut shared, mut own) = (Luck::default(), Luck::default());
    let mut drawn: Vec<f64> = (0..draws)
        .map(|_| {
            shared.draw(most, &mut random);
            for (model, median) in models.iter().zip(&mut medians) {
                // What a lap did to processes that ran side by side drops out of their ratio.
                let alike = side_by_side && model.processes() == most;
                if !alike {
                    own.draw(model.processes(), &mut random);
                }
                let luck = if alike { &shared } else { &own };
                *median = model.draw(luck, &mut random, &mut scratch);
            }
            number(&medians)
        })
        .collect();
    drawn.sort_unstable_by(f64::total_cmp);
    let cut = draws / 40;
    Estimate::between(
        drawn[cut].min(middle_value),
        middle_value,
        drawn[draws - 1 - cut].max(middle_value),
    )
}

/// Returns the quartiles, by linear interpolation between the samples; 0 when there are none.
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

/// Returns half the interquartile range divided by the median; 0 if there are no samples.
#[must_use]
pub fn spread(samples: &[f64]) -> f64 {
    let (low, high) = quartiles(samples);
    let middle = median(samples);
    if middle > 0.0 { (high - low) / 2.0 / middle } else { 0.0 }
}

/// Returns the indexes of samples more than three interquartile ranges beyond the quartiles
/// (Tukey's "far out").
#[must_use]
pub fn outliers(samples: &[f64]) -> Vec<u64> {
    let (low, high) = quartiles(samples);
    let reach = 3.0 * (high - low);
    let is_far = |sample: f64| sample < low - reach || sample > high + reach;
    (0_u64..).zip(samples).filter(|(_, sample)| is_far(**sample)).map(|(place, _)| place).collect()
}

#[cfg(test)]
mod tests;
