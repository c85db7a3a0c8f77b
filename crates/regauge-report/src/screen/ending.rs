//! Shows in a few lines what is not ranked, and the notes.

use regauge_measure::Report;
use regauge_measure::report::{Missing, Row};

use super::line::{Line, Style, width, wrapped};
use crate::answer::listed;
use crate::text::prose;
use crate::words::{busy, without_times};

/// Lines for a list of names, and for a note.
const EACH_MAX: usize = 2;
/// Lines for all notes, and for how many more there are.
const NOTES_MAX: usize = 4;

/// Returns what could not be measured, and the notes: an empty line and a few more.
pub fn lines(report: &Report, width_max: usize) -> Vec<Line> {
    let mut texts = Vec::new();
    texts.extend(unranked(report).and_then(|list| list.fitted(width_max)));
    texts.extend(missing(report).and_then(|list| list.fitted(width_max)));
    let notes = notes(report);
    let (mut shown, mut taken) = (0, 0);
    for note in &notes {
        let Some(lines) = fitted(&format!("Note: {note}"), width_max) else { continue };
        let is_last = shown + 1 == notes.len();
        if taken + lines.len() + usize::from(!is_last) > NOTES_MAX {
            continue;
        }
        taken += lines.len();
        shown += 1;
        texts.push(lines);
    }
    if shown < notes.len() {
        let more = notes.len() - shown;
        let text = if more == 1 { "1 more note" } else { &format!("{more} more notes") };
        texts.push(vec![format!("{text}: --full")]);
    }
    let mut lines: Vec<Line> =
        texts.into_iter().flatten().map(|text| Line::of(text, Style::Faint)).collect();
    if !lines.is_empty() {
        lines.insert(0, Line::default());
    }
    lines
}

/// Wraps a note. A list of names at its end is shortened to fit; a note without one that does not fit
/// is left to `--full`, because its reason would be cut.
fn fitted(text: &str, width_max: usize) -> Option<Vec<String>> {
    let lines = wrapped(text, width_max);
    if lines.len() <= EACH_MAX {
        return Some(lines);
    }
    let (reason, names) = text.rsplit_once(": ")?;
    let names: Vec<&str> = names.trim_end_matches('.').split(", ").collect();
    (1..names.len()).rev().find_map(|count| {
        let lines = wrapped(&format!("{reason}: {}, …", names[..count].join(", ")), width_max);
        (lines.len() <= EACH_MAX).then_some(lines)
    })
}

/// Names that are listed, as many as have room, between fixed words.
struct List {
    begin: &'static str,
    names: Vec<String>,
    end: &'static str,
}

impl List {
    /// Returns the lines with as many names as fit.
    fn fitted(&self, width_max: usize) -> Option<Vec<String>> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        (1..=names.len()).rev().find_map(|count| {
            let text = format!("{}{}{}", self.begin, listed(&names, count), self.end);
            let lines = wrapped(&text, width_max);
            (lines.len() <= EACH_MAX || count == 1).then_some(lines)
        })
    }
}

/// Returns text such as "No times: oj (Ruby, failed), …".
fn unranked(report: &Report) -> Option<List> {
    let mut rows: Vec<&Row> = report.rows.iter().filter(|row| !row.is_timed()).collect();
    rows.sort_by_key(|row| !row.usual);
    let name =
        |row: &&Row| format!("{} ({}, {})", row.contender, row.runtime.name(), without_times(row));
    let names: Vec<String> = rows.iter().map(name).collect();
    (!names.is_empty()).then_some(List { begin: "No times: ", names, end: "" })
}

/// Returns text such as "Not installed: oj (Ruby) and 22 more; --setup installs them".
fn missing(report: &Report) -> Option<List> {
    // What a runtime cannot have is not to be installed.
    let missing = report.missing.iter().filter(|one| !one.reason.starts_with("not available on "));
    let mut missing: Vec<_> = missing.collect();
    missing.sort_by_key(|one| !one.usual);
    // The set-up does not build regauge's own packages, and has no newer Python.
    let can_set_up = |one: &&Missing| {
        let by = ["pip ", "npm ", "gem ", "apt-get ", "jruby -S gem ", "regauge measure --setup"];
        by.iter().any(|by| one.install.starts_with(by)) && !one.install.contains("(needs Python")
    };
    let installable = missing.iter().copied().filter(|one| can_set_up(one)).count();
    let names: Vec<String> =
        missing.iter().map(|one| format!("{} ({})", one.contender, one.runtime.name())).collect();
    let end = match report.machine.can_set_up() {
        true if installable == missing.len() => "; --setup installs them",
        true if installable > 0 => "; --setup installs most, --list says how to get each",
        _ => "; --list says how to get them",
    };
    (!names.is_empty()).then_some(List { begin: "Not installed: ", names, end })
}

fn notes(report: &Report) -> Vec<String> {
    let mut notes: Vec<String> = report.busy_share().map(busy).into_iter().collect();
    notes.extend(report.notes.iter().map(|note| prose(note)));
    if let Some(share) = report.noise.as_ref().and_then(|noise| noise.quiet_share)
        && share < 0.9
    {
        notes.push(format!(
            "{:.0}% of the samples were quiet; estimates use those if there are enough.",
            share * 100.0
        ));
    }
    notes.retain(|note| width(note) > 0);
    notes
}
