//! Axes: where a value lies, and which round values get a tick.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::text::Unit;

/// An axis with its unit.
#[derive(Debug, Clone)]
pub struct Scale {
    low: f64,
    high: f64,
    log: bool,
    unit: Unit,
}

impl Scale {
    /// Makes a scale from zero to a little beyond the largest value.
    pub fn from_zero(values: impl IntoIterator<Item = f64>, unit: Unit) -> Scale {
        let high = values.into_iter().filter(|value| value.is_finite()).fold(0.0, f64::max);
        Scale { low: 0.0, high: if high > 0.0 { high * 1.02 } else { 1.0 }, log: false, unit }
    }

    /// Makes a scale around all values, with equal steps for equal differences.
    pub fn linear(values: impl IntoIterator<Item = f64>, unit: Unit) -> Scale {
        let (low, high) = ends(values, |value| value.is_finite());
        let pad = if high > low { (high - low) * 0.04 } else { high.abs().max(1.0) * 0.1 };
        Scale { low: low - pad, high: high + pad, log: false, unit }
    }

    /// Makes a scale around all values above zero, with equal steps for equal factors.
    pub fn log(values: impl IntoIterator<Item = f64>, unit: Unit) -> Scale {
        let (low, high) = ends(values, |value| value.is_finite() && *value > 0.0);
        let (low, high) = if low > 0.0 { (low, high) } else { (1.0, 10.0) };
        // At least a factor of two, so that equal values are in the middle.
        let pad = ((high / low).ln() * 0.04).max((2.0 / (high / low)).ln() / 2.0).exp();
        Scale { low: low / pad, high: high * pad, log: true, unit }
    }

    /// Makes a scale exactly between two ends.
    pub fn between(low: f64, high: f64, log: bool, unit: Unit) -> Scale {
        Scale { low, high, log, unit }
    }

    /// Returns the share of the axis, 0 to 1, at which the value lies. Values beyond an end are
    /// clamped to it.
    pub fn share(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the value at a share of the axis.
    pub fn value(&self, share: f64) -> f64 {
        if self.log {
            self.low * (self.high / self.low).powf(share)
        } else {
            self.low + (self.high - self.low) * share
        }
    }

    /// Returns round values inside the axis, at most this many, but at least two if there are two.
    pub fn ticks(&self, count_max: usize) -> Vec<f64> {
        let count_max = count_max.max(2);
        if self.log { self.log_ticks(count_max) } else { steps(self.low, self.high, count_max) }
    }

    fn log_ticks(&self, count_max: usize) -> Vec<f64> {
        let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let inside =
            |value: &f64| *value >= self.low * 0.999_999 && *value <= self.high * 1.000_001;
        let all = |of_decade: &[f64], every: i32| -> Vec<f64> {
            decades
                .clone()
                .filter(|decade| decade.rem_euclid(every) == 0)
                .flat_map(|decade| of_decade.iter().map(move |digit| digit * 10_f64.powi(decade)))
                .filter(inside)
                .collect()
        };
        let choices = [
            all(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 1),
            all(&[1.0, 2.0, 5.0], 1),
            all(&[1.0, 3.0], 1),
            all(&[1.0], 1),
            all(&[1.0], 2),
            all(&[1.0], 3),
            all(&[1.0], 6),
        ];
        // Two ticks do not show that the axis is logarithmic, nor where a dot between them lies.
        let linear = steps(self.low, self.high, count_max);
        let within_a_decade = self.high < self.low * 10.0;
        let few = count_max.min(3);
        choices
            .iter()
            .find(|ticks| (few..=count_max).contains(&ticks.len()))
            .or(Some(&linear).filter(|ticks| within_a_decade && ticks.len() >= few))
            .or_else(|| choices.iter().find(|ticks| (2..=count_max).contains(&ticks.len())))
            .unwrap_or(&linear)
            .clone()
    }

    /// Returns the text at a tick.
    pub fn tick(&self, value: f64) -> String {
        self.unit.tick(value)
    }
}

fn ends(values: impl IntoIterator<Item = f64>, take: impl Fn(&f64) -> bool) -> (f64, f64) {
    let ends = values.into_iter().filter(take).fold(None, |ends: Option<(f64, f64)>, value| {
        Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    });
    ends.unwrap_or((0.0, 0.0))
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn steps(low: f64, high: f64, count_max: usize) -> Vec<f64> {
    let span = high - low;
    if !(span.is_finite() && span > 0.0) {
        return vec![low];
    }
    let rough = 10_f64.powf((span / count_max as f64).log10().floor());
    let count = |step: f64| ((high / step).floor() - (low / step).ceil()) as usize + 1;
    let step = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
        .iter()
        .map(|digit| digit * rough)
        .find(|step| count(*step) <= count_max)
        .unwrap_or(rough * 100.0);
    let first = (low / step).ceil();
    (0..count(step)).map(|index| (first + index as f64) * step).collect()
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        (f64::from(start) + f64::from(end - start) * self.share(*value)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        self.ticks(hint.max_num_points())
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        self.tick(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: &Scale, count_max: usize) -> Vec<String> {
        scale.ticks(count_max).iter().map(|tick| scale.tick(*tick)).collect()
    }

    #[test]
    fn ticks_of_time_over_decades() {
        let scale = Scale::log([40.0, 3e9], Unit::Time);
        assert_eq!(
            texts(&scale, 9),
            ["100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]
        );
        assert_eq!(texts(&scale, 5), ["100 ns", "10 µs", "1 ms", "100 ms"]);
    }

    #[test]
    fn ticks_of_time_within_a_decade() {
        let scale = Scale::log([1.1e6, 6e6], Unit::Time);
        assert_eq!(texts(&scale, 6), ["2 ms", "3 ms", "4 ms", "5 ms", "6 ms"]);
        assert_eq!(texts(&scale, 4), ["2 ms", "4 ms", "6 ms"]);
    }

    #[test]
    fn a_short_axis_has_more_than_two_ticks() {
        let scale = Scale::log([21_000.0, 42_000.0], Unit::Bytes);
        for count_max in [8, 4] {
            assert_eq!(texts(&scale, count_max), ["25 kB", "30 kB", "35 kB", "40 kB"]);
        }
    }

    #[test]
    fn ticks_of_bytes_from_zero() {
        let scale = Scale::from_zero([31e6, 93e6], Unit::Bytes);
        assert_eq!(texts(&scale, 6), ["0", "20 MB", "40 MB", "60 MB", "80 MB"]);
        assert_eq!(texts(&scale, 3), ["0", "50 MB"]);
    }

    #[test]
    fn no_axis_is_without_room_or_without_end() {
        for values in [vec![], vec![0.0], vec![5.0], vec![f64::NAN, f64::INFINITY], vec![-3.0]] {
            for scale in [
                Scale::from_zero(values.clone(), Unit::Time),
                Scale::linear(values.clone(), Unit::Time),
                Scale::log(values.clone(), Unit::Time),
            ] {
                for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e300] {
                    assert!((0.0..=1.0).contains(&scale.share(value)), "{scale:?} {value}");
                }
                for count in [0, 1, 2, 100] {
                    assert!(scale.ticks(count).len() <= count.max(2), "{scale:?}");
                }
            }
        }
    }

    #[test]
    fn one_value_stands_in_the_middle_of_a_logarithmic_axis() {
        assert!((Scale::log([7.0], Unit::Time).share(7.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn shares_and_values_turn_each_other_back() {
        for scale in [Scale::log([1.0, 1e6], Unit::Time), Scale::linear([1.0, 50.0], Unit::Time)] {
            for share in [0.0, 0.25, 1.0] {
                assert!((scale.share(scale.value(share)) - share).abs() < 1e-9);
            }
        }
    }
}
