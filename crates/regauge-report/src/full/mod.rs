//! The whole report as text: tables like those of the posts that started it (size, gzipped, decode,
//! encode, total, relative to the best), what was lost, and a verdict in words.

mod columns;
mod comparison;
mod costs;
mod grid;
mod safety;
mod task;

use std::fmt::Write as _;

use regauge_measure::report::{Loss, Report, Row};
use regauge_measure::{bytes, groups, is_in, thousands};

use crate::fastest;
use crate::words::busy;
use columns::group;
use grid::{align, dash, kinds, table, time_with_margin};

pub use comparison::render as render_comparison;

/// How the text is laid out.
#[derive(Debug, Clone, Copy, Default)]
pub struct Layout {
    /// Columns of the terminal; tables wrap their cells to fit. Nothing for no limit.
    pub width: Option<u16>,
    /// Lines of Unicode for a terminal; without, Markdown.
    pub lines: bool,
}

/// What the columns hold.
const LEGEND: &str = "\
size, gzipped: size of the library's output. decode, encode: median time of one pass, ± the 95%
interval. vs best: total relative to the best in the table, with its 95% interval; \"at least\":
dropped early because it was too slow. cold: start of a fresh process + its first decode. memory:
peak above the bare interpreter with the library loaded. GC: the collector's share of decoding /
encoding. lost: what a round trip loses, as regauge reads both sides.

";

/// Returns the whole report as text.
#[must_use]
pub fn render(report: &Report, layout: Layout) -> String {
    let mut text = String::new();
    head(&mut text, report);
    if let Some(task) = &report.task {
        task::render(&mut text, task, layout);
    }
    // A task with its own programs has no contenders to list.
    if report.rows.is_empty() && report.references.is_empty() && report.task.is_some() {
        notes(&mut text, report);
        return text;
    }
    sizes(&mut text, report, layout);
    for (runtime, gives) in groups(report) {
        let rows: Vec<&Row> = report.rows.iter().filter(|row| is_in(row, runtime, gives)).collect();
        group(&mut text, (runtime, gives), &rows, layout);
        for sentence in fastest::sentences(&rows, report.method.seed) {
            let _ = writeln!(text, "{sentence}");
        }
        text.push('\n');
    }
    text.push_str(LEGEND);
    format_losses(&mut text, report);
    costs::section(&mut text, report, layout);
    safety::section(&mut text, report, layout);
    differences(&mut text, report);
    missing(&mut text, report);
    advice(&mut text, report);
    notes(&mut text, report);
    match layout.width {
        Some(width) => wrapped(&text, width.into()),
        None => text,
    }
}

/// Returns the safety section alone, for a run that timed nothing.
#[must_use]
pub fn render_safety(report: &Report, layout: Layout) -> String {
    let mut text = String::new();
    safety::section(&mut text, report, layout);
    missing(&mut text, report);
    notes(&mut text, report);
    match layout.width {
        Some(width) => wrapped(&text, width.into()),
        None => text,
    }
}

/// Sentences that are longer than a line of the terminal, broken between words; tables are left.
fn wrapped(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let length = |part: &str| part.chars().count();
        if length(line) <= width || line.starts_with(['│', '┌', '╞', '└', '├']) {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let body = line.trim_start();
        // What follows a dash stands below what follows it.
        let indent = length(line) - length(body) + if body.starts_with("- ") { 2 } else { 0 };
        let mut column = 0;
        out.extend(std::iter::repeat_n(' ', length(line) - length(body)));
        column += length(line) - length(body);
        for (place, word) in body.split(' ').enumerate() {
            if place > 0 && column + 1 + length(word) > width {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', indent));
                column = indent;
            } else if place > 0 {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += length(word);
        }
        out.push('\n');
    }
    out
}

fn head(text: &mut String, report: &Report) {
    let (input, machine, method) = (&report.input, &report.machine, &report.method);
    let documents = match (input.documents, input.format.as_str()) {
        (1, _) => "one document".to_owned(),
        (count, "marc" | "marcxml" | "marc-json") => format!("{} records", thousands(count)),
        (count, "objects") => format!("{} objects", thousands(count)),
        (count, _) => format!("{} documents", thousands(count)),
    };
    if input.bytes == 0 {
        let _ = writeln!(text, "{}: {documents}", input.name);
    } else {
        let size = bytes(input.bytes);
        let _ = writeln!(text, "{}: {}, {documents}, {size}", input.name, input.format);
    }
    let _ = writeln!(
        text,
        "{}, {} cores, {}; {}",
        machine.processor,
        machine.cores,
        machine.memory_bytes.map_or("memory unknown".to_owned(), bytes),
        machine.system
    );
    let _ = write!(
        text,
        "regauge {}; {} samples of decoding, {} of encoding, seed {}; {:.0} s in all",
        report.regauge, method.rounds.decode, method.rounds.encode, method.seed, method.took_s
    );
    if let Some(noise) = &report.noise {
        let _ = write!(text, "\nMachine noise: ±{:.1}%", noise.spread * 100.0);
        if let Some(share) = noise.quiet_share {
            let _ = write!(text, "; {:.0}% of the samples were quiet", share * 100.0);
        }
    }
    if method.every > 1 {
        let _ = write!(
            text,
            "\nTimed: {} of them, every {}; {}.",
            thousands(method.timed_documents),
            ordinal(method.every),
            method.beyond_the_part()
        );
    }
    text.push_str("\n\n");
}

fn sizes(text: &mut String, report: &Report, layout: Layout) {
    let Some(base) = report
        .references
        .iter()
        .find(|one| one.format == "marc")
        .or_else(|| report.references.first())
    else {
        return;
    };
    let against = format!("vs {}", base.format);
    // Most data every format can hold: then a column of "nothing" would say nothing.
    let any_loss = report.references.iter().any(|one| !one.losses.is_empty());
    let mut header = vec!["format", "size", &against, "gzipped", &against, "written by"];
    if any_loss {
        header.push("lost by the format");
    }
    let mut table = table(layout, &header);
    let percent = |part: u64, whole: u64| format!("{:.0}%", 100.0 * part as f64 / whole as f64);
    for one in &report.references {
        let mut cells = vec![
            one.format.clone(),
            bytes(one.bytes),
            percent(one.bytes, base.bytes),
            bytes(one.gzip_bytes),
            percent(one.gzip_bytes, base.gzip_bytes),
            one.written_by.clone(),
        ];
        if any_loss {
            cells.push(if one.losses.is_empty() { dash() } else { kinds(&one.losses) });
        }
        table.add_row(cells);
    }
    align(&mut table, 1..5);
    let _ = writeln!(text, "Sizes of all documents\n\n{table}\n");
    compressions(text, report, layout);
}

/// Writes the times and sizes of each compressed reference.
fn compressions(text: &mut String, report: &Report, layout: Layout) {
    let header = ["format", "compression", "size", "vs original", "compress", "decompress"];
    let mut table = table(layout, &header);
    for one in &report.references {
        for compression in &one.compressions {
            table.add_row([
                one.format.clone(),
                compression.codec.clone(),
                bytes(compression.bytes),
                format!("{:.1}%", 100.0 * compression.bytes as f64 / one.bytes.max(1) as f64),
                time_with_margin(compression.compress_ns),
                time_with_margin(compression.decompress_ns),
            ]);
        }
    }
    align(&mut table, 2..6);
    if table.row_count() > 0 {
        let _ = writeln!(text, "Compressed, on one thread\n\n{table}\n");
    }
}

/// Writes what the formats themselves lose, with the first cases.
fn format_losses(text: &mut String, report: &Report) {
    let mut list = String::new();
    for one in report.references.iter().filter(|one| !one.losses.is_empty()) {
        let _ = writeln!(list, "- {}:", one.format);
        for loss in &one.losses {
            example(&mut list, loss);
        }
    }
    if !list.is_empty() {
        let _ = writeln!(
            text,
            "Lost by the formats themselves; the nearest value was written, for all contenders\n\n\
             {list}"
        );
    }
}

/// Writes what each contender lost or got wrong, with the first cases, what stopped it, and what is
/// unsafe.
fn differences(text: &mut String, report: &Report) {
    let mut list = String::new();
    for row in &report.rows {
        let contender = format!("{} ({})", row.contender, row.runtime.name());
        if let Some(failure) = &row.failure {
            let is_untimed = row.output_bytes.is_some() || crate::words::is_late(row);
            let word = if is_untimed { "was not timed" } else { "failed" };
            let _ = writeln!(list, "- {contender} {word}: {failure}");
        }
        if !row.wrong.is_empty() {
            let _ = writeln!(
                list,
                "- {contender} returned wrong data in {} of {} documents, so it was not timed:",
                thousands(row.wrong_documents),
                thousands(report.input.documents)
            );
            for loss in &row.wrong {
                example(&mut list, loss);
            }
        }
        if !row.losses.is_empty() {
            let _ = writeln!(list, "- {contender} lost:");
            for loss in &row.losses {
                example(&mut list, loss);
            }
        }
        if let Some(reason) = &row.unsafe_because {
            let _ = writeln!(list, "- {contender} {reason}");
        }
    }
    if !list.is_empty() {
        let _ = writeln!(text, "Good to know about these contenders\n\n{list}");
    }
}

fn example(list: &mut String, loss: &Loss) {
    let _ = write!(list, "    {} × {}", thousands(loss.count), loss.kind);
    if let Some(first) = loss.examples.first() {
        let _ = write!(list, "; first in document {} at {}", first.document, first.path);
        match (first.before.as_str(), first.after.as_str()) {
            (before, "") => {
                let _ = write!(list, ": {before} is missing");
            }
            ("", after) => {
                let _ = write!(list, ": {after} was added");
            }
            (before, after) => {
                let _ = write!(list, ": {before} became {after}");
            }
        }
    }
    list.push('\n');
}

fn missing(text: &mut String, report: &Report) {
    if report.missing.is_empty() {
        return;
    }
    text.push_str("Not installed");
    if report.machine.can_set_up() {
        text.push_str(" (`regauge measure --setup` installs what it can)");
    }
    text.push_str("\n\n");
    for one in &report.missing {
        let reason = one.reason.lines().next().unwrap_or("");
        let _ = writeln!(
            text,
            "- {} ({}): {}  [{reason}]",
            one.contender,
            one.runtime.name(),
            one.install
        );
    }
    text.push('\n');
}

/// Writes the section "What to use" of the text.
fn advice(text: &mut String, report: &Report) {
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

fn notes(text: &mut String, report: &Report) {
    let mut list = report.notes.clone();
    if report.interrupted {
        list.insert(0, "The run was interrupted; these are the results so far.".into());
    }
    list.extend(report.busy_share().map(busy));
    for note in list {
        let _ = writeln!(text, "Note: {note}");
    }
}

fn ordinal(count: u64) -> String {
    let suffix = match (count % 10, count % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{count}{suffix}")
}

#[cfg(test)]
pub(crate) mod tests;
