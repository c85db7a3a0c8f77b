//! The random numbers of the samples: xoshiro256** seeded by SplitMix64.
//!
//! The generator is written out here, rather than taken from a crate, because a sample is only
//! worth something if it is the same bytes on every machine and in every later version. Nothing
//! below uses floating point, and no caller may let a hash map's order choose anything.
//!
//! Every document draws from a generator of its own, keyed by the seed, a domain and the
//! document's index. That is why the first K documents do not depend on how many follow, and why
//! the author numbered 17 has the same name wherever the catalogue cites them without a table of
//! authors in memory.

use crate::model::random::Random;

/// A stream of random numbers: xoshiro256** of Blackman and Vigna.
pub(super) struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Returns the generator of item `index` of `domain` (a small number that each user of this
    /// type keeps to itself) under `seed`.
    pub(super) fn for_item(seed: u64, domain: u64, index: u64) -> Rng {
        let mut key = seed;
        // Chained, not added up, so that (seed 1, index 2) and (seed 2, index 1) have no state
        // in common.
        for part in [domain, index] {
            key = Random::new(key).next() ^ part;
        }
        let mut random = Random::new(key);
        Rng { state: std::array::from_fn(|_| random.next()) }
    }

    /// Returns the next 64 random bits.
    pub(super) fn next(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let result = s1.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= shifted;
        *s3 = s3.rotate_left(45);
        result
    }

    /// Returns a number from 0 to `bound` - 1; 0 if `bound` is 0. The high half of a 128-bit
    /// product: its bias is under `bound` / 2^64, which no sample can show.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True in `per_mille` of 1,000 calls.
    pub(super) fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    /// Returns an index into `weights`, each as likely as its weight.
    pub(super) fn weighted(&mut self, weights: &[u64]) -> usize {
        let mut left = self.below(weights.iter().sum());
        for (index, &weight) in weights.iter().enumerate() {
            if left < weight {
                return index;
            }
            left -= weight;
        }
        weights.len() - 1
    }

    /// Returns a rank from 0 to `bound` - 1, low ranks more often: about as Zipf found words in
    /// use, rank r in proportion to 1 / (r + 16).
    ///
    /// An octave is drawn evenly, then a place in it, which gives that curve in steps with no
    /// logarithm and no table. The 16 keeps the very first from filling the catalogue.
    pub(super) fn skewed(&mut self, bound: u64) -> u64 {
        let top = u64::from((bound + 15).max(16).ilog2());
        loop {
            let octave = 1u64 << self.between(4, top);
            let rank = octave - 16 + self.below(octave);
            if rank < bound {
                return rank;
            }
            if bound == 0 {
                return 0;
            }
        }
    }

    /// One of `items`, each as likely. `items` must not be empty.
    pub(super) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }

    /// One of `items`, the first more often. `items` must not be empty.
    pub(super) fn pick_skewed<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.skewed(items.len() as u64) as usize]
    }

    /// Returns how many of something that has a mean of `mean` / 1000 and a long tail: a geometric
    /// draw, ended at `max`.
    pub(super) fn count(&mut self, mean: u64, max: u64) -> u64 {
        let mut count = 0;
        while count < max && self.below(mean + 1000) < mean {
            count += 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xoshiro_gives_the_published_numbers() {
        // State 1, 2, 3, 4, as in the test of the reference implementation's ports.
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let outputs: Vec<u64> = (0..4).map(|_| rng.next()).collect();
        assert_eq!(outputs, [11520, 0, 1_509_978_240, 1_215_971_899_390_074_240]);
    }

    #[test]
    fn draws_stay_inside_their_bounds_and_reach_them() {
        let mut rng = Rng::for_item(1, 2, 3);
        for bound in [1, 2, 15, 16, 17, 1000] {
            let mut seen = vec![0u32; bound as usize];
            for _ in 0..bound * 400 {
                seen[rng.below(bound) as usize] += 1;
                seen[rng.skewed(bound) as usize] += 1;
            }
            assert!(seen.iter().all(|&n| n > 0), "bound {bound}: some rank never came");
        }
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.skewed(0), 0);
        let low = (0..1000).filter(|_| rng.skewed(1000) < 100).count();
        assert!((400..600).contains(&low), "{low} of 1000 draws in the first tenth");
    }

    #[test]
    fn neighbouring_items_share_nothing() {
        let first = |seed, domain, index| Rng::for_item(seed, domain, index).next();
        let mut all = Vec::new();
        for seed in 0..10 {
            for domain in 0..10 {
                for index in 0..10 {
                    all.push(first(seed, domain, index));
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 1000);
    }
}
