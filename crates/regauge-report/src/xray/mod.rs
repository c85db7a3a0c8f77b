//! Shows what is in a cache: on a screen, as JSON, and as a page.

mod advice;
mod json;
mod page;
mod reading;

pub use advice::{Advice, Topic};
pub use json::{json, line};
pub use page::page;
pub use reading::{Candidate, OTHERS, Reading};

use std::fmt::Write as _;

use regauge_caches::look::{Codec, Danger};
use regauge_caches::tally::{Count, Expiry, Tally};
use regauge_caches::{Report, Row};
use regauge_measure::{bytes, thousands};
use regauge_sources::Summary;

use crate::text::visible;
use crate::words::share_of;

/// The width of the screen.
const COLUMNS: usize = 80;
/// How many prefixes and pieces of advice are shown, unless all are asked for.
const ROWS: usize = 20;
const ADVICE: usize = 8;
/// The width of the first column.
const PREFIX: usize = 25;

/// Where the values are from.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The name of the source: a file, or a server without its password.
    pub name: &'a str,
    /// What was read.
    pub summary: &'a Summary,
    /// Only one key in so many was looked at.
    pub one_in: u64,
    /// Only keys that begin with this were looked at.
    pub prefix: &'a str,
    /// Only this database was looked at.
    pub database: Option<u64>,
    /// Whether values were looked into.
    pub has_values: bool,
    /// How long the values take to read, if that was measured.
    pub readings: &'a [Reading],
}

/// Writes the report as text.
pub fn screen(report: &Report, about: &About<'_>, full: bool) -> String {
    let mut text = String::new();
    heading(&mut text, report, about);
    let shown = if full { report.rows.len() } else { ROWS };
    rows(&mut text, report, shown);
    danger(&mut text, &report.all);
    unknown(&mut text, &report.all);
    skipped(&mut text, about.summary);
    reading::screen(&mut text, about.readings);
    let advice = advice::of(report, about.readings);
    let most = if full { advice.len() } else { ADVICE };
    what_to_do(&mut text, &advice, most);
    text
}

fn heading(text: &mut String, report: &Report, about: &About<'_>) {
    let all = &report.all;
    // What failed has none.
    let title = match about.summary.title.as_str() {
        "" => String::new(),
        title => format!("{title}, "),
    };
    let _ = write!(
        text,
        "{}: {title}{} key{}, {}, {}",
        visible(about.name),
        thousands(all.keys),
        if all.keys == 1 { "" } else { "s" },
        values(all.all.values),
        bytes(all.all.bytes)
    );
    if about.one_in > 1 {
        let _ = write!(text, "; one key in {} was looked at", thousands(about.one_in));
    }
    if !about.summary.is_whole {
        let _ = write!(text, "; not read to its end");
    }
    text.push_str("\n\n");
}

fn rows(text: &mut String, report: &Report, shown: usize) {
    let _ = writeln!(
        text,
        "{:<PREFIX$} {:>9} {:>8} {:>6}  what the values are",
        "prefix", "values", "bytes", "expire"
    );
    for row in report.rows.iter().take(shown) {
        let start = format!(
            "{:<PREFIX$} {:>9} {:>8} {:>6}  ",
            cut(&visible(&row.prefix), PREFIX),
            thousands(row.tally.all.values),
            bytes(row.tally.all.bytes),
            expiring(row.tally.expiry),
        );
        let room = COLUMNS.saturating_sub(start.chars().count());
        let _ = writeln!(text, "{start}{}", cut(&what(row), room));
    }
    let more = report.rows.len().saturating_sub(shown);
    if more > 0 {
        let _ = writeln!(text, "… and {} more prefixes; --full shows them", thousands(more as u64));
    }
}

/// Says what the values of a prefix are: the form with the most bytes, by the names in reports.
fn what(row: &Row) -> String {
    let forms = row.tally.forms();
    let Some((form, count)) = forms.first() else {
        let kinds: Vec<_> = row.tally.kinds.keys().map(|kind| kind.name()).collect();
        return kinds.join(", ");
    };
    let mut words = form.codec.name().to_owned();
    // What is nearest to the value says most, and comes first, because the rest may be cut off.
    let around: Vec<_> = form.steps.iter().chain(&form.rows).rev().copied().collect();
    if !around.is_empty() {
        words += &format!(" in {}", around.join(", "));
    }
    match forms.len() - 1 {
        0 => words,
        _ => format!("{} {words}", share_of(count.values, row.tally.all.values)),
    }
}

/// Shown for what is not known.
const UNKNOWN: &str = "–";

/// Says how many keys expire; – if that is not known.
fn expiring(expiry: Expiry) -> String {
    match (expiry.expiring, expiry.never) {
        (0, 0) => UNKNOWN.into(),
        (0, _) => "never".into(),
        (_, 0) => "all".into(),
        (expiring, never) => share_of(expiring, expiring + never),
    }
}

/// What loading values in a format that can run code would do, in words that follow their number.
const DANGERS: [(Danger, &str); 5] = [
    (Danger::Data, "are plain data"),
    (Danger::Harmless, "have only dates, sets and the like of their own language"),
    (Danger::Incomplete, "are broken, or rely on what the program supplies"),
    (Danger::Classes, "need classes of the application, or run code of it"),
    (Danger::Attack, "have classes or calls that are known from attacks"),
];

/// Returns how many values are in formats that can run code when they are loaded.
fn in_dangerous_formats(tally: &Tally) -> Count {
    let counts = DANGERS.iter().filter_map(|(danger, _)| tally.dangers.get(danger));
    counts.fold(Count::default(), |sum, count| Count {
        values: sum.values + count.values,
        bytes: sum.bytes + count.bytes,
    })
}

/// Says how many values are in formats that run code, and what they would do.
fn danger(text: &mut String, all: &Tally) {
    let total = in_dangerous_formats(all).values;
    if total == 0 {
        return;
    }
    let _ = writeln!(
        text,
        "\nin formats that can run code when they are loaded: {} ({})",
        values(total),
        share_of(total, all.all.values)
    );
    for (danger, words) in DANGERS {
        let Count { values, .. } = all.dangers.get(&danger).copied().unwrap_or_default();
        if values > 0 {
            let _ = writeln!(text, "  {:>9} {words}", thousands(values));
        }
    }
}

/// Returns the values that nothing recognises, and how they begin, the most frequent first.
fn unrecognised(all: &Tally) -> (Count, Vec<(String, u64)>) {
    let unknown = all.forms.iter().filter(|(form, _)| form.codec == Codec::Unknown).fold(
        Count::default(),
        |sum, (_, count)| Count {
            values: sum.values + count.values,
            bytes: sum.bytes + count.bytes,
        },
    );
    let mut begins: Vec<_> = all.begins.iter().collect();
    begins.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let shown = begins.into_iter().map(|(begin, count)| {
        let digits: Vec<_> = begin.iter().map(|byte| format!("{byte:02x}")).collect();
        (digits.join(" "), *count)
    });
    (unknown, shown.collect())
}

/// Says how values begin that nothing recognises.
fn unknown(text: &mut String, all: &Tally) {
    let (unknown, begins) = unrecognised(all);
    if unknown.values == 0 {
        return;
    }
    let shown: Vec<_> = begins
        .iter()
        .take(4)
        .map(|(begin, count)| format!("{begin} ({})", thousands(*count)))
        .collect();
    let line = format!(
        "not recognised: {} ({}), beginning with {}",
        values(unknown.values),
        share_of(unknown.values, all.all.values),
        shown.join(", ")
    );
    let _ = writeln!(text, "\n{}", wrapped(&line, COLUMNS).join("\n"));
}

/// Says what has no values to look into.
fn skipped(text: &mut String, summary: &Summary) {
    let shown = not_looked_into(summary);
    if !shown.is_empty() {
        let _ = writeln!(text, "\nNot looked into: {}", shown.join(", "));
    }
}

/// Returns what has no values to look into: `31 streams`.
fn not_looked_into(summary: &Summary) -> Vec<String> {
    let skipped = &summary.skipped;
    let counts = [
        (skipped.streams, "streams"),
        (skipped.modules, "keys of modules"),
        (skipped.functions, "libraries of functions"),
        (skipped.absent, "rows or documents without a value"),
        (skipped.others, "documents with another type in the field"),
        (summary.vanished, "keys that vanished meanwhile"),
    ];
    let there = counts.iter().filter(|(count, _)| *count > 0);
    there.map(|(count, noun)| format!("{noun} ({})", thousands(*count))).collect()
}

fn what_to_do(text: &mut String, advice: &[Advice], most: usize) {
    if advice.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nwhat to do");
    for one in advice.iter().take(most) {
        let words = format!("{}: {}", one.place(), one.text);
        for (at, line) in wrapped(&words, COLUMNS - 4).iter().enumerate() {
            let _ = writeln!(text, "{}{line}", if at == 0 { "  - " } else { "    " });
        }
    }
    let more = advice.len().saturating_sub(most);
    if more > 0 {
        let _ = writeln!(text, "  … and {} more; --full shows them", thousands(more as u64));
    }
}

fn values(count: u64) -> String {
    format!("{} value{}", thousands(count), if count == 1 { "" } else { "s" })
}

/// Cuts a text to a width.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Breaks a text into lines, between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is one");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
