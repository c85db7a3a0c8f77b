//! Writes the section "Safety" of the text.

use std::fmt::Write as _;

use regauge_measure::bytes;
use regauge_measure::report::{Bomb, BombOutcome, Reach, Report, Row, Safety};

use super::{Layout, grid};

/// Writes what decoding hostile documents did, contender by contender.
pub(super) fn section(text: &mut String, report: &Report, layout: Layout) {
    let rows: Vec<(&Row, &Safety)> =
        report.rows.iter().filter_map(|row| Some((row, row.safety.as_ref()?))).collect();
    if rows.is_empty() {
        return;
    }
    text.push_str("Safety: effects of hostile documents, each limited to 512 MB and 5 s\n\n");
    let header = ["library", "runtime", "format", "a document can", "bombs", "limits found"];
    let mut table = grid::table(layout, &header);
    for (row, safety) in &rows {
        table.add_row([
            format!("{} {}", row.contender, row.version).trim_end().to_owned(),
            row.runtime.name().to_owned(),
            row.format.clone(),
            reach(safety).to_owned(),
            bombs(safety),
            if safety.limits.is_empty() { "none".to_owned() } else { safety.limits.clone() },
        ]);
    }
    let _ = writeln!(text, "{table}\n");
    let mut list = String::new();
    for (row, safety) in &rows {
        let contender = format!("{} ({})", row.contender, row.runtime.name());
        if safety.reach > Reach::Data {
            let _ = writeln!(list, "- {contender}: {}.", safety.proof);
        }
        for bomb in safety.bombs.iter().filter(|bomb| stops(bomb.outcome)) {
            let _ = writeln!(
                list,
                "- {contender}: {} ({}): {}",
                bomb.kind,
                bytes(bomb.bytes),
                bomb.detail
            );
        }
    }
    if !list.is_empty() {
        let _ = writeln!(text, "{list}");
    }
}

fn reach(safety: &Safety) -> &'static str {
    match (safety.reach, safety.runs_code) {
        (Reach::Code, _) => "run functions",
        (Reach::Methods, _) => "call methods",
        (Reach::Objects, _) => "make objects",
        (Reach::Data, Some(_)) => "hold data only",
        (Reach::Data, None) => "hold data (no code in the format)",
    }
}

/// Returns whether it ended the process, or would have taken the machine.
fn stops(outcome: BombOutcome) -> bool {
    matches!(outcome, BombOutcome::Crashed | BombOutcome::OutOfMemory | BombOutcome::OutOfTime)
}

/// Returns text such as "1 crashed, 5 refused, 1 decoded": what is bad first.
fn bombs(safety: &Safety) -> String {
    let count =
        |outcome| safety.bombs.iter().filter(|bomb: &&Bomb| bomb.outcome == outcome).count();
    let parts: Vec<String> = [
        (BombOutcome::Crashed, "crashed"),
        (BombOutcome::OutOfMemory, "out of memory"),
        (BombOutcome::OutOfTime, "out of time"),
        (BombOutcome::Refused, "refused"),
        (BombOutcome::Decoded, "decoded"),
    ]
    .iter()
    .map(|(outcome, word)| (count(*outcome), word))
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{count} {word}"))
    .collect();
    if parts.is_empty() { "not tested".to_owned() } else { parts.join(", ") }
}
