//! Shows in a few lines what is not ranked, and the notes.

use regauge_measure::Report;
use regauge_measure::report::Row;

use super::line::{Line, Style, cut, width, wrapped};
use crate::answer::listed;
use crate::text::visible;
use crate::words::without_times;

/// Lines for the notes.
const NOTES_MAX: usize = 3;

/// Returns what could not be measured, and the notes: an empty line and a few more.
pub fn lines(report: &Report, width_max: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |text: String, lines_max: usize| {
        let mut parts = wrapped(&text, width_max);
        if parts.len() > lines_max {
            parts.truncate(lines_max);
            if let Some(last) = parts.last_mut() {
                *last = format!("{} …", cut(last, width_max - 2).trim_end_matches('…'));
            }
        }
        lines.extend(parts.into_iter().map(|text| Line::of(text, Style::Faint)));
    };
    let names_max = (width_max / 12).max(2);
    if let Some(text) = unranked(report, names_max) {
        add(text, 2);
    }
    if let Some(text) = missing(report, names_max) {
        add(text, 2);
    }
    let notes = notes(report);
    let shown = if notes.len() <= NOTES_MAX { notes.len() } else { NOTES_MAX - 1 };
    for note in &notes[..shown] {
        add(format!("Note: {note}"), 1);
    }
    if shown < notes.len() {
        add(format!("{} more notes: --full", notes.len() - shown), 1);
    }
    if !lines.is_empty() {
        lines.insert(0, Line::default());
    }
    lines
}

/// Returns text such as "No times: oj (Ruby, failed), …".
fn unranked(report: &Report, names_max: usize) -> Option<String> {
    let rows: Vec<&Row> = report.rows.iter().filter(|row| !row.is_timed()).collect();
    let mut names: Vec<(bool, String)> = rows
        .iter()
        .map(|row| {
            let name =
                format!("{} ({}, {})", row.contender, row.runtime.name(), without_times(row));
            (!row.usual, name)
        })
        .collect();
    names.sort_by_key(|(is_unusual, _)| *is_unusual);
    let names: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
    // Each comes with two words.
    let names_max = names_max.div_ceil(2);
    (!names.is_empty()).then(|| format!("No times: {}", listed(&names, names_max)))
}

/// Returns text such as "Not installed: oj (Ruby) and 22 more; --setup installs them".
fn missing(report: &Report, names_max: usize) -> Option<String> {
    let mut missing: Vec<_> = report.missing.iter().collect();
    missing.sort_by_key(|one| !one.usual);
    let names: Vec<String> =
        missing.iter().map(|one| format!("{} ({})", one.contender, one.runtime.name())).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if names.is_empty() {
        return None;
    }
    let names_max = names_max.saturating_sub(2).div_ceil(2).max(1);
    let how = match report.machine.can_set_up() {
        true => "--setup installs them",
        false => "--list says how to get them",
    };
    Some(format!("Not installed: {}; {how}", listed(&names, names_max)))
}

fn notes(report: &Report) -> Vec<String> {
    let mut notes: Vec<String> = report.notes.iter().map(|note| visible(note)).collect();
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
