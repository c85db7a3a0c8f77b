//! A figure in a task's table: samples, and the number made of their medians.

use crate::model::stats::{self, Estimate, Grouped, List};

/// A number made of samples: `scale` times its factors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    factors: Vec<Factor>,
    scale: f64,
}

/// The sum of the medians of lists of samples, or one divided by it.
#[derive(Debug, Clone, PartialEq)]
struct Factor {
    lists: Vec<List>,
    inverse: bool,
}

impl Figure {
    /// Returns an exact number: a size.
    pub(crate) fn exact(value: f64) -> Figure {
        Figure::sum(vec![vec![value].into()])
    }

    /// Returns the sum of the medians of these lists.
    pub(crate) fn sum(lists: Vec<List>) -> Figure {
        Figure { factors: vec![Factor { lists, inverse: false }], scale: 1.0 }
    }

    /// Converts a time in nanoseconds to a rate per second.
    pub(crate) fn per_second(ns: List) -> Figure {
        Figure { factors: vec![Factor { lists: vec![ns], inverse: true }], scale: 1e9 }
    }

    /// Multiplies by `factor`.
    pub(crate) fn times(mut self, factor: f64) -> Figure {
        self.scale *= factor;
        self
    }

    /// Divides this by another.
    pub(crate) fn divided_by(&self, other: &Figure) -> Figure {
        let mut factors = self.factors.clone();
        factors.extend(
            other
                .factors
                .iter()
                .map(|one| Factor { lists: one.lists.clone(), inverse: !one.inverse }),
        );
        Figure { factors, scale: self.scale / other.scale }
    }

    /// Returns the number and its interval.
    pub(crate) fn estimate(&self, seed: u64) -> Estimate {
        let lists: Vec<Grouped> =
            self.factors.iter().flat_map(|factor| &factor.lists).map(Grouped::from).collect();
        if lists.iter().all(|list| list.samples.len() == 1) {
            let values: Vec<f64> = lists.iter().map(|list| list.samples[0]).collect();
            let value = self.number(&values);
            return Estimate::exact(value);
        }
        stats::estimate_of_processes(&lists, seed, |medians| self.number(medians))
    }

    fn number(&self, mut medians: &[f64]) -> f64 {
        self.factors.iter().fold(self.scale, |product, factor| {
            let (own, rest) = medians.split_at(factor.lists.len());
            medians = rest;
            let sum: f64 = own.iter().sum();
            if factor.inverse { product / sum } else { product * sum }
        })
    }

    /// Compares this with a baseline: a ratio that is above 1 if this is worse, whether less or
    /// more is better.
    pub(crate) fn against(&self, baseline: &Figure, less_is_better: bool, seed: u64) -> Estimate {
        if self == baseline {
            return Estimate::exact(1.0);
        }
        match less_is_better {
            true => self.divided_by(baseline).estimate(seed),
            false => baseline.divided_by(self).estimate(seed),
        }
    }
}

/// Compares published numbers in the same way.
pub(crate) fn published_against(value: f64, baseline: f64, less_is_better: bool) -> f64 {
    if less_is_better { value / baseline } else { baseline / value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_rates_and_quotients() {
        let total = Figure::sum(vec![vec![2.0, 3.0, 4.0].into(), vec![10.0].into()]);
        assert_eq!(total.estimate(1).median, 13.0);
        let rate = Figure::per_second(vec![2e6, 1e6, 3e6].into());
        assert_eq!(rate.estimate(1).median, 500.0);
        assert_eq!(rate.clone().times(2.0).estimate(1).median, 1000.0);
        let slow = Figure::per_second(vec![4e6].into());
        assert_eq!(slow.against(&rate, false, 1).median, 2.0);
        let tax = Figure::exact(6.0).divided_by(&Figure::exact(4.0));
        let other = Figure::exact(9.0).divided_by(&Figure::exact(3.0));
        assert_eq!(tax.against(&other, true, 1).median, 0.5);
        assert_eq!(published_against(68.3, 62.7, true), 68.3 / 62.7);
    }

    #[test]
    fn samples_of_one_process_count_as_alike() {
        let samples: Vec<f64> = [10.0, 11.0, 20.0, 21.0].repeat(6);
        let mixed = Figure::sum(vec![samples.clone().into()]).estimate(1);
        let mut sorted = samples;
        sorted.sort_by(f64::total_cmp);
        let apart = Figure::sum(vec![List { samples: sorted, sizes: vec![12, 12], spread: 0.03 }])
            .estimate(1);
        assert_eq!(apart.median, mixed.median);
        assert!(apart.low < mixed.low && apart.high > mixed.high, "{apart:?} {mixed:?}");
    }

    #[test]
    fn what_is_exact_has_no_width_and_nothing_differs_from_itself() {
        let exact = Figure::exact(7.0).estimate(1);
        assert_eq!((exact.low, exact.high), (7.0, 7.0));
        let noisy = Figure::sum(vec![(1..20).map(f64::from).collect::<Vec<_>>().into()]);
        let itself = noisy.against(&noisy.clone(), true, 1);
        assert_eq!((itself.low, itself.median, itself.high), (1.0, 1.0, 1.0));
        let wide = noisy.estimate(1);
        assert!(wide.low < wide.median && wide.median < wide.high);
    }
}
