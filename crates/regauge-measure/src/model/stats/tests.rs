//! Intervals that hold the true value, and what makes them wide.

use super::*;

#[test]
fn medians() {
    assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    assert_eq!(median(&[]), 0.0);
}

/// The bootstrap of the median of an odd number of different samples is known exactly:
/// the drawn median is at most the k-th smallest when more than half of n draws are among the k
/// smallest, which is binomial. So the exact ends of the interval are order statistics.
fn exact_interval(n: usize) -> Option<(usize, usize)> {
    let at_most = |k: usize| -> f64 {
        let p = k as f64 / n as f64;
        (n / 2 + 1..=n)
            .map(|hits| {
                let ways = (1..=hits).fold(1.0, |ways, i| ways * (n - hits + i) as f64 / i as f64);
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
    assert_eq!(estimate(&[2.0; 8], 3), Estimate::exact(2.0));
}

#[test]
fn an_interval_of_more_than_half_to_either_side_is_none() {
    let of = |low, high| Estimate::between(low, 1.0, high).unless_too_wide().too_few;
    assert!(!of(0.6, 1.6) && !of(1.0, 1.0));
    assert!(of(0.4, 1.6) && of(1.0, 2.5));
}

#[test]
fn the_ratio_of_a_list_to_its_double_is_two_and_is_inside() {
    let one: Vec<f64> = (0..15).map(|i| 100.0 + f64::from(i * 7 % 15)).collect();
    let two: Vec<f64> = one.iter().map(|value| value * 2.0).collect();
    let ratio = estimate_of(&[&two, &one], 9, |medians| medians[0] / medians[1]);
    assert_eq!(ratio.median, 2.0);
    assert!(ratio.low < 2.0 && ratio.high > 2.0 && ratio.low > 1.7 && ratio.high < 2.3);
}

/// Contenders of one run: how many processes each has, and by how much those differ. Gives how
/// often the interval holds the true value, and its mean half width.
fn coverage(processes: usize, uneven: f64, spread: f64) -> (f64, f64) {
    coverage_of((processes, 4), uneven, spread, 0.01)
}

/// Returns the same for any number of samples in a process, and noise within it.
fn coverage_of(
    (processes, size): (usize, usize),
    uneven: f64,
    spread: f64,
    noise: f64,
) -> (f64, f64) {
    const TRIALS: u64 = 400;
    let (mut hits, mut width) = (0_u32, 0.0);
    for trial in 0..TRIALS {
        let mut random = Random::new(trial * 7_919 + processes as u64);
        // Some contenders' processes differ more than others'.
        let between = spread * (uneven * random.normal()).exp();
        let mut samples = Vec::new();
        for _ in 0..processes {
            let own = between * random.normal();
            samples.extend((0..size).map(|_| 1e6 * (own + noise * random.normal()).exp()));
        }
        let sizes = vec![size; processes];
        let list = Grouped { samples: &samples, sizes: &sizes, spread };
        let found = estimate_of_processes(&[list], trial, |medians| medians[0]);
        hits += u32::from(found.low <= 1e6 && 1e6 <= found.high);
        width += found.spread().unwrap();
    }
    (f64::from(hits) / TRIALS as f64, width / TRIALS as f64)
}

#[test]
fn the_interval_holds_the_true_value_although_processes_differ() {
    for processes in [1, 2, 3, 5, 8] {
        for uneven in [0.0, 0.4] {
            let (found, width) = coverage(processes, uneven, 0.03);
            eprintln!("{processes} processes, {uneven}: {found:.3} hold it, ±{width:.3}");
            assert!(found >= 0.93, "{processes} processes, {uneven}: {found}");
            // Student's t for the least of them, and a little more for what samples add.
            let most = 2.9 * 0.035 / (processes as f64).sqrt() * (1.0 + uneven);
            assert!(width <= most, "{processes} processes, {uneven}: {width}");
        }
    }
}

#[test]
fn the_interval_holds_the_true_value_although_few_samples_scatter() {
    // Fewer than three of one process are too few: see `judged`.
    for (processes, size) in [(1, 3), (1, 5), (1, 9), (1, 20), (2, 3), (3, 3), (3, 4)] {
        for noise in [0.05, 0.1, 0.25] {
            let (found, width) = coverage_of((processes, size), 0.0, 0.03, noise);
            eprintln!("{processes} × {size}, {noise}: {found:.3} hold it, ±{width:.3}");
            assert!(found >= 0.93, "{processes} × {size}, {noise}: {found}");
        }
    }
}

#[test]
fn quiet_samples_do_not_widen_an_interval() {
    for processes in [1, 3, 8] {
        let of = |noise| coverage_of((processes, 4), 0.0, 0.03, noise).1;
        let (without, with) = (of(0.0), of(0.01));
        assert!(with <= without * 1.05, "{processes}: ±{with} with noise, ±{without} without");
    }
}

/// Samples of decoding from one process, which once were 193 to 228 µs.
#[test]
fn three_samples_of_one_process_that_differ_are_too_few() {
    let list = Grouped { samples: &[210.0, 281.0, 176.0], sizes: &[3], spread: SPREAD };
    let found = estimate_of_processes(&[list], 1, |ns| ns[0]);
    assert!(found.low < 176.0 && found.high > 281.0, "{found:?}");
    assert!(found.unless_too_wide().too_few, "{found:?}");
    let ratio = ratio_of_processes(&[list, list], 1, |ns| ns[0] / ns[1]);
    assert!(ratio.low.is_finite() && ratio.high.is_finite());
    assert!(ratio.unless_too_wide().too_few, "{ratio:?}");
}

#[test]
fn ratios_hold_the_true_ratio_on_a_machine_whose_pace_changes() {
    const TRIALS: u64 = 300;
    let mut hits = 0;
    for trial in 0..TRIALS {
        let mut random = Random::new(trial * 104_729 + 5);
        let sizes = [3; 4];
        let pace: Vec<f64> = (0..4).map(|_| 0.15 * random.normal()).collect();
        let mut list = |time: f64| -> Vec<f64> {
            let laps = pace.iter().flat_map(|pace| {
                let own = 0.02 * random.normal();
                (0..3).map(|_| pace + own + 0.01 * random.normal()).collect::<Vec<_>>()
            });
            laps.map(|log| time * log.exp()).collect()
        };
        let (one, two) = (list(2e6), list(1e6));
        // Most of what processes differ by here is the pace, which both share.
        let list = |samples| Grouped { samples, sizes: &sizes, spread: 0.02 };
        let ratio = ratio_of_processes(&[list(&one), list(&two)], trial, |ns| ns[0] / ns[1]);
        hits += u32::from(ratio.low <= 2.0 && 2.0 <= ratio.high);
    }
    let share = f64::from(hits) / TRIALS as f64;
    eprintln!("ratio: {share:.3} hold it");
    assert!(share >= 0.93, "{share}");
}

#[test]
fn the_contenders_of_a_run_tell_together_how_much_processes_differ() {
    let mut random = Random::new(11);
    let sizes = [2; 3];
    let lists: Vec<Vec<f64>> = (0..200)
        .map(|_| {
            let processes = (0..3).map(|_| 1e6 * (0.05 * random.normal()).exp());
            processes.flat_map(|own| [own, own]).collect()
        })
        .collect();
    let lists: Vec<Grouped> =
        lists.iter().map(|samples| Grouped { samples, sizes: &sizes, spread: 0.0 }).collect();
    let found = spread_of_processes(&lists).unwrap();
    assert!((0.04..0.06).contains(&found), "{found}");
    assert_eq!(spread_of_processes(&[Grouped::from(&[1.0, 2.0][..])]), None);
}

#[test]
fn what_hits_two_lists_side_by_side_drops_out_of_their_ratio() {
    let pace = [1.0, 1.5, 0.7, 1.2, 0.9];
    let one: Vec<f64> = pace.iter().flat_map(|pace| [pace * 100.0, pace * 101.0]).collect();
    let two: Vec<f64> = one.iter().map(|sample| sample * 2.0).collect();
    let sizes = [2; 5];
    let list = |samples| Grouped { samples, sizes: &sizes, spread: 0.005 };
    let ratio = |lists: &[Grouped]| ratio_of_processes(lists, 1, |medians| medians[1] / medians[0]);
    let side_by_side = ratio(&[list(&one), list(&two)]);
    assert!(side_by_side.high - side_by_side.low < 0.1, "{side_by_side:?}");
    let plain = ratio(&[one.as_slice().into(), two.as_slice().into()]);
    assert!(plain.high - plain.low > 0.5, "{plain:?}");
    // Two runs share no hour, whatever numbers their processes have.
    let apart = estimate_of_runs(&[list(&one), list(&two)], 1, |ns| ns[1] / ns[0]);
    assert!(apart.high - apart.low > 0.5, "{apart:?}");
}

#[test]
fn sizes_that_do_not_fit_leave_the_samples_to_themselves() {
    let samples = [1.0, 2.0, 3.0, 4.0];
    let plain = estimate(&samples, 1);
    for sizes in [&[][..], &[3, 3]] {
        let list = Grouped { samples: &samples, sizes, spread: SPREAD };
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
