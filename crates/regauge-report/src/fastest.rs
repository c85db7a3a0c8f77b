//! Says in words which contenders are fastest, as far as the samples support it.
//!
//! Two contenders are tied when the 95% interval of the ratio of their times includes 1: another run
//! might well reverse their order.

use regauge_measure::report::{Row, Series, Timing};
use regauge_measure::{ratio, time};

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
    let close: Vec<&str> = order[1..]
        .iter()
        .take_while(|(_, timing)| against_best(timing).low <= 1.0)
        .map(|(name, _)| *name)
        .collect();
    let rest = &order[1 + close.len()..];
    let next = rest.first().map(|(name, timing)| {
        let slower = against_best(timing);
        format!("{name} is {:.2}x slower ({:.2}–{:.2})", slower.median, slower.low, slower.high)
    });
    let best_time = time(median(best));
    match (close.as_slice(), next) {
        ([], Some(next)) => format!("{name}: {best_name} is fastest, {best_time}; {next}."),
        ([], None) => format!("{name}: {best_name} is fastest, {best_time}."),
        (close, next) => {
            let next = next.map_or(String::new(), |next| format!("; {next}"));
            format!("{name}: {best_name} ({best_time}) and {} are tied{next}.", close.join(", "))
        }
    }
}
