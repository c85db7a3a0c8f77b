//! A small seeded generator: rounds and resamples must be the same for the same seed, on every
//! machine and with every version of every crate.

use std::sync::LazyLock;

/// Quantiles of the normal distribution, each as likely as the others. They come from sixteen times
/// as many deviates (Box and Muller), made symmetric and of variance 1.
static NORMALS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    const COUNT: usize = 4_096;
    const EACH: usize = 16;
    let mut random = Random::new(1);
    let mut drawn: Vec<f64> = (0..COUNT * EACH)
        .map(|_| {
            let radius = (-2.0 * random.unit().ln()).sqrt();
            radius * (std::f64::consts::TAU * random.unit()).cos()
        })
        .collect();
    drawn.sort_unstable_by(f64::total_cmp);
    let last = drawn.len() - 1;
    let mut list: Vec<f64> = (0..COUNT)
        .map(|place| place * EACH + EACH / 2)
        .map(|place| (drawn[place] - drawn[last - place]) / 2.0)
        .collect();
    let variance = list.iter().map(|one| one * one).sum::<f64>() / COUNT as f64;
    list.iter_mut().for_each(|one| *one /= variance.sqrt());
    list
});

/// SplitMix64 (Steele, Lea and Flood, 2014): one multiply-add chain, full period.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns the next 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, which must not be 0. The bias of the multiplication is below
    /// bound / 2^64: negligible for lists of samples.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// Returns a number between 0 and 1, exclusive.
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.next() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Returns a normal deviate: one of 4,096 quantiles. An interval needs several hundred thousand
    /// of them.
    pub(crate) fn normal(&mut self) -> f64 {
        NORMALS[self.below(NORMALS.len())]
    }

    /// Puts a list in random order (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_first_numbers() {
        // Reference values of SplitMix64 for seed 1234567, from its public-domain C code.
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn a_shuffle_is_the_same_for_the_same_seed_and_keeps_every_item() {
        let shuffled = |seed| {
            let mut list: Vec<u32> = (0..30).collect();
            Random::new(seed).shuffle(&mut list);
            list
        };
        assert_eq!(shuffled(7), shuffled(7));
        assert_ne!(shuffled(7), shuffled(8));
        let mut sorted = shuffled(7);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..30).collect::<Vec<_>>());
    }

    #[test]
    fn normal_deviates_have_mean_0_and_variance_1() {
        let mut random = Random::new(3);
        let list: Vec<f64> = (0..40_000).map(|_| random.normal()).collect();
        let mean = list.iter().sum::<f64>() / list.len() as f64;
        let variance = list.iter().map(|one| one * one).sum::<f64>() / list.len() as f64;
        let beyond = list.iter().filter(|one| one.abs() > 1.96).count() as f64 / list.len() as f64;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
        assert!((beyond - 0.05).abs() < 0.005, "{beyond}");
    }

    #[test]
    fn every_place_is_reached_about_as_often() {
        let mut random = Random::new(1);
        let mut counts = [0_u32; 5];
        for _ in 0..10_000 {
            counts[random.below(5)] += 1;
        }
        assert!(counts.iter().all(|count| (1_850..2_150).contains(count)), "{counts:?}");
    }
}
