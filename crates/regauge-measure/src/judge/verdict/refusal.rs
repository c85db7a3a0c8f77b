//! Says which rows may not win, and why; and the caveats of an answer.

use crate::model::report::{BombOutcome, Loss, Report, Row};
use crate::model::text::bytes;
use crate::plan::options::Allow;

/// Why a row may not win whose format holds classes that the data has.
const CLASSES_LEFT_OUT: &str = "classes were left out of its test";

/// Returns in a few words why a row may not win, or nothing if it may.
pub(crate) fn refusal(report: &Report, row: &Row, allow: Allow) -> Option<String> {
    if !allow.unsafe_ones {
        let safety = row.safety.as_ref();
        if safety.is_some_and(|safety| safety.runs_code == Some(true)) {
            return Some("decoding ran code that the document named".to_owned());
        }
        if let Some(reason) = &row.unsafe_because {
            return Some(reason.clone());
        }
        let bombs = safety.map_or(&[][..], |safety| &safety.bombs);
        let stopped = bombs.iter().filter(|bomb| bomb.ended).find_map(|bomb| {
            let does = match bomb.outcome {
                BombOutcome::Crashed => "crashes it",
                BombOutcome::OutOfMemory => "exhausts memory",
                BombOutcome::OutOfTime => "hangs it",
                BombOutcome::Refused | BombOutcome::Decoded => return None,
            };
            Some(format!("a hostile document of {} ({}) {does}", bytes(bomb.bytes), bomb.kind))
        });
        if stopped.is_some() {
            return stopped;
        }
    }
    if !allow.lossy {
        let format = report.references.iter().find(|one| one.format == row.format);
        let of_format = format.map_or(&[][..], |one| &one.losses);
        // Objects come back from their language's own loader, but none was put before it.
        let is_own_loader = row.unsafe_because.is_some();
        let (left_out, of_format): (Vec<&Loss>, Vec<&Loss>) =
            of_format.iter().partition(|loss| loss.was_left_out(&row.format));
        let of_library = row.losses.iter().collect();
        for (losses, who) in [(of_library, "loses"), (of_format, "its format loses")] {
            if !losses.is_empty() {
                let kinds: Vec<&str> = losses.iter().map(|loss| loss.kind.as_str()).collect();
                return Some(format!("{who} {}", kinds.join(", ")));
            }
        }
        if !left_out.is_empty() && !is_own_loader {
            return Some(CLASSES_LEFT_OUT.to_owned());
        }
    }
    None
}

/// Returns the caveats.
pub(super) fn caveats(report: &Report, allow: Allow) -> Vec<String> {
    let mut list = Vec::new();
    let refused: Vec<(&Row, String)> = report
        .rows
        .iter()
        .filter(|row| row.is_timed())
        .filter_map(|row| Some((row, refusal(report, row, allow)?)))
        .collect();
    if !refused.is_empty() {
        let names: Vec<String> = refused
            .iter()
            .map(|(row, why)| format!("{} ({}): {why}", row.contender, row.runtime.name()))
            .collect();
        list.push(format!(
            "Left out (--allow unsafe or --allow lossy includes them): {}.",
            names.join("; ")
        ));
    }
    if allow.unsafe_ones {
        list.push(
            "Unsafe libraries were allowed: never use them to decode untrusted input.".to_owned(),
        );
    }
    let has_left_out = |row: &Row| {
        let of_format = report.references.iter().filter(|one| one.format == row.format);
        of_format.flat_map(|one| &one.losses).any(|loss| loss.was_left_out(&row.format))
    };
    if allow.unsafe_ones && report.rows.iter().any(|row| row.is_timed() && has_left_out(row)) {
        list.push(
            "Classes were left out of the test of Marshal and pickle, as loading them could run code."
                .to_owned(),
        );
    }
    let untried = report.rows.iter().filter(|row| row.is_timed() && row.safety.is_none());
    let untried = untried.count();
    if untried > 0 && !allow.unsafe_ones {
        let (were, their, them) = match untried {
            1 => ("was", "its", "it"),
            _ => ("were", "their", "them"),
        };
        list.push(format!(
            "{untried} of the libraries {were} not safety-tested; rated from {their} documentation \
             (--safety all tests {them})."
        ));
    }
    if report.references.iter().all(|one| one.compressions.is_empty()) {
        list.push("Compression was not measured, so none is recommended.".to_owned());
    }
    if report.interrupted {
        list.push("The run was interrupted, so these results are partial.".to_owned());
    }
    list.push(
        "This applies to this file on this machine; --bandwidth, --reads-per-write and \
         --store-months change the weights."
            .to_owned(),
    );
    list
}
