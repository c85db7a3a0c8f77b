//! Says in words which contenders are fastest, as far as the samples support it.
//!
//! Two contenders are tied when the 95% interval of the ratio of their times includes 1: another run
//! might well reverse their order. Where there are too few samples for the interval, nothing is said about
//! the order of two that are close.

use regauge_measure::report::{Row, Series, Timing};
use regauge_measure::{ratio, time};

use crate::answer::times;

/// Too few samples tell all the same which of two is faster, if one takes more than twice as long.
const NEAR: f64 = 2.0;

/// Returns one sentence each for decoding, encoding and both together, or nothing if fewer than two
/// rows have times.
pub fn sentences(rows: &[&Row], seed: u64) -> Vec<String> {
    let timed: Vec<(&str, &Timing)> = rows
        .iter()
        .filter_map(|row| Some((row.contender.as_str(), row.timing.as_ref()?)))
        .collect();
    if timed.len() < 2 {
        return Vec::new();
    }
    type Part = fn(&Timing) -> Vec<&Series>;
    let parts: [(&str, Part); 3] = [
        ("Decoding", |timing| vec![&timing.decode]),
        ("Encoding", |timing| vec![&timing.encode]),
        ("Both", |timing| vec![&timing.decode, &timing.encode]),
    ];
    parts.iter().map(|(name, part)| sentence(name, &timed, *part, seed)).collect()
}

fn sentence(
    name: &str,
    timed: &[(&str, &Timing)],
    part: fn(&Timing) -> Vec<&Series>,
    seed: u64,
) -> String {
    let median = |timing: &Timing| -> f64 {
        part(timing).iter().map(|series| series.estimate_ns.median).sum()
    };
    let mut order: Vec<(&str, &Timing)> = timed.to_vec();
    order.sort_by(|one, other| median(one.1).total_cmp(&median(other.1)));
    let (best_name, best) = order[0];
    let against_best = |timing: &Timing| ratio(&part(timing), &part(best), seed);
    let is_unknown = |timing: &Timing| {
        let ratio = against_best(timing);
        ratio.too_few && ratio.median <= NEAR
    };
    let is_close = |timing: &Timing| {
        let ratio = against_best(timing);
        is_unknown(timing) || (!ratio.too_few && ratio.low <= 1.0)
    };
    let close = order[1..].iter().take_while(|(_, timing)| is_close(timing)).count();
    let (close, rest) = order[1..].split_at(close);
    let next = rest.first().map(|(name, timing)| match against_best(timing) {
        slower if slower.too_few => format!("{name} is about {} slower", times(slower.median)),
        slower => {
            format!("{name} is {:.2}x slower ({:.2}–{:.2})", slower.median, slower.low, slower.high)
        }
    });
    let best_time = time(median(best));
    let names: Vec<&str> = close.iter().map(|(name, _)| *name).collect();
    match (names.as_slice(), next) {
        ([], Some(next)) => format!("{name}: {best_name} is fastest, {best_time}; {next}."),
        ([], None) => format!("{name}: {best_name} is fastest, {best_time}."),
        (names, next) => {
            let next = next.map_or(String::new(), |next| format!("; {next}"));
            let names = names.join(", ");
            match close.iter().any(|(_, timing)| is_unknown(timing)) {
                true => format!(
                    "{name}: too few samples to tell {best_name} ({best_time}) from {names}{next}."
                ),
                false => format!("{name}: {best_name} ({best_time}) and {names} are tied{next}."),
            }
        }
    }
}
