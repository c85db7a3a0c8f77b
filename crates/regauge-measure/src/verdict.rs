//! Says in words which contenders are fastest, as far as the samples support it.
//!
//! Two contenders are tied when the 95% interval of the ratio of their times includes 1: another run
//! might well reverse their order.

mod choose;
mod field;

use std::fmt::Write as _;

use crate::report::{Report, Row, Series, Timing};
use crate::summary;
use crate::table;

pub use choose::Allow;
pub(crate) use choose::{decide, leaders, refusal};
pub(crate) use field::Untimed;

/// Writes the section "What to use" of the text.
pub(crate) fn section(text: &mut String, report: &Report) {
    let Some(verdict) = &report.verdict else { return };
    if verdict.summary.is_empty() {
        return;
    }
    text.push_str("What to use\n\n");
    for sentence in &verdict.summary {
        let _ = writeln!(text, "- {sentence}");
    }
    text.push('\n');
}

/// Returns one sentence each for decoding, encoding and both together, or nothing if fewer than two
/// rows have times.
#[must_use]
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
    let against_best = |timing: &Timing| summary::ratio(&part(timing), &part(best), seed);
    let close: Vec<&str> = order[1..]
        .iter()
        .take_while(|(_, timing)| against_best(timing).low <= 1.0)
        .map(|(name, _)| *name)
        .collect();
    let rest = &order[1 + close.len()..];
    let next = rest.first().map(|(name, timing)| {
        let ratio = against_best(timing);
        format!("{name} is {:.2}x slower ({:.2}–{:.2})", ratio.median, ratio.low, ratio.high)
    });
    let best_time = table::time(median(best));
    match (close.as_slice(), next) {
        ([], Some(next)) => format!("{name}: {best_name} is fastest, {best_time}; {next}."),
        ([], None) => format!("{name}: {best_name} is fastest, {best_time}."),
        (close, next) => {
            let next = next.map_or(String::new(), |next| format!("; {next}"));
            format!("{name}: {best_name} ({best_time}) and {} are tied{next}.", close.join(", "))
        }
    }
}
