//! The page: what to do, what is there, and the details, folded.

mod details;
mod prefixes;

use maud::{Markup, html};
use regauge_caches::Report;
use regauge_measure::{bytes, thousands};

use super::advice::{self, Advice, Topic};
use super::reading::{self, OTHERS};
use super::{About, Candidate, DANGERS, Reading, in_dangerous_formats, values};
use crate::charts;
use crate::page::{Frame, Section};
use crate::table::{Cell, Column, Table, Tone, breakable, tag};
use crate::text::{Unit, visible};
use crate::words::{self, share_of};

/// How many prefixes a card of advice names.
const NAMED: usize = 6;

/// Returns the report as a page: one file that works offline, with everything from the cache escaped.
pub fn page(report: &Report, about: &About<'_>) -> String {
    let sections: Vec<Section> = [
        summary(report, about),
        prefixes::section(report),
        times(about.readings),
        prefixes::all(report),
        prefixes::sizes(report),
        details::classes(report),
        details::repeated(report),
        details::largest(report),
        details::unknown(report),
        details::limits(report, about),
    ]
    .into_iter()
    .flatten()
    .collect();
    let all = &report.all;
    let title = visible(&about.summary.title);
    Frame {
        title: visible(about.name),
        subtitle: "looked into by regauge",
        kind: "regauge xray".to_owned(),
        facts: [
            (!title.is_empty()).then_some(title),
            Some(format!("{} keys", thousands(all.keys))),
            Some(values(all.all.values)),
            Some(bytes(all.all.bytes)),
        ]
        .into_iter()
        .flatten()
        .collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        made_from: String::new(),
        answer: "summary",
    }
    .html(&sections)
}

/// Returns the section with the answer.
fn summary(report: &Report, about: &About<'_>) -> Option<Section> {
    let advice = advice::of(report, about.readings);
    let body = html! {
        (warnings(about))
        p.lead { (lead(report, &advice)) }
        @if !advice.is_empty() {
            ul.cards.wide { @for one in &advice { (card(one)) } }
        }
        (loading(report))
    };
    Section::open("summary", "What to do", body)
}

/// Says what limits every number on the page.
fn warnings(about: &About<'_>) -> Markup {
    html! {
        @if !about.summary.is_whole {
            p.warning { strong { "Not read to its end." } " The page shows what precedes the error." }
        }
        @if about.one_in > 1 {
            p.warning {
                strong { "One key in " (thousands(about.one_in)) " was looked at." }
                " Numbers of keys, values and bytes are those of these keys."
            }
        }
    }
}

fn lead(report: &Report, advice: &[Advice]) -> String {
    let all = &report.all;
    if all.keys == 0 {
        return "There are no keys.".to_owned();
    }
    let dangerous = in_dangerous_formats(all).values;
    let formats = match dangerous {
        _ if all.dangers.is_empty() => String::new(),
        0 => "No value is in a format that can run code when it is loaded. ".to_owned(),
        _ => format!(
            "{} ({}) {} in formats that can run code when they are loaded. ",
            values(dangerous),
            share_of(dangerous, all.all.values),
            if dangerous == 1 { "is" } else { "are" }
        ),
    };
    let rest = match (advice.is_empty(), all.dangers.is_empty()) {
        (false, _) => "The most urgent comes first.",
        (true, false) => "Nothing was found that is worth the work.",
        (true, true) => "Values were not looked into, so there is nothing to advise.",
    };
    formats + rest
}

/// Returns one piece of advice.
fn card(advice: &Advice) -> Markup {
    let (head, mark, tone) = match advice.topic {
        Topic::Attack => ("Do not load", "attack", Tone::Bad),
        Topic::Leave => ("Move to MessagePack", "saves", Tone::Good),
        Topic::Classes => ("Plan for classes", "classes", Tone::Care),
        Topic::Partly => ("Try a dry run", "mixed", Tone::Care),
        Topic::Smaller => ("Compress", "saves", Tone::Good),
        Topic::Repeated => ("Store once", "repeated", Tone::Plain),
        Topic::Forever => ("Let keys expire", "never expire", Tone::Plain),
    };
    let mark = match (mark, advice.bytes) {
        ("saves", 0) => None,
        ("saves", saved) => Some(format!("saves {}", bytes(saved))),
        (mark, about) => Some(format!("{mark}, {}", bytes(about))),
    };
    let more = advice.prefixes.len().saturating_sub(NAMED);
    html! {
        li {
            p.winner { (head) @if let Some(mark) = mark { " " (tag(&mark, tone)) } }
            p { (breakable(&sentence(&advice.text))) }
            p.why {
                @for (at, prefix) in advice.prefixes.iter().take(NAMED).enumerate() {
                    @if at > 0 { ", " }
                    code { (breakable(prefix_or_empty(prefix))) }
                }
                @if more > 0 { " and " (thousands(more as u64)) " more" }
            }
        }
    }
}

/// Returns a key's prefix, or words for the empty one.
fn prefix_or_empty(prefix: &str) -> &str {
    if prefix.is_empty() { "(empty)" } else { prefix }
}

/// Returns a text as a sentence, in which numbers stay with their units.
fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let mut sentence: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    sentence.push_str(rest.as_str());
    for unit in ["B", "kB", "MB", "GB", "ns", "µs", "ms", "s"] {
        for end in [" ", ",", ";", ":"] {
            sentence = sentence.replace(&format!(" {unit}{end}"), &format!("\u{A0}{unit}{end}"));
        }
        if sentence.ends_with(&format!(" {unit}")) {
            sentence.replace_range(
                sentence.len() - unit.len() - 1..sentence.len() - unit.len(),
                "\u{A0}",
            );
        }
    }
    sentence + "."
}

/// Returns what loading values in formats that can run code would do.
fn loading(report: &Report) -> Markup {
    let all = &report.all;
    let total = in_dangerous_formats(all).values;
    html! {
        @if total > 0 {
            p.legend { "Of the " (values(total)) " in formats that can run code:" }
            ul.notes {
                @for (danger, words) in DANGERS {
                    @if let Some(count) = all.dangers.get(&danger).filter(|count| count.values > 0) {
                        li { strong { (thousands(count.values)) } " " (words) }
                    }
                }
            }
        }
    }
}

/// Returns the section on the time that reading takes.
fn times(readings: &[Reading]) -> Option<Section> {
    if readings.is_empty() {
        return None;
    }
    let mut columns =
        vec![Column::text("values in"), Column::text("runtime"), Column::number("now")];
    columns.extend(OTHERS.map(|format| Column::number(format.title())));
    columns.extend([
        Column::text("fastest other format"),
        Column::number("values"),
        Column::text("libraries"),
    ]);
    let mut table = Table::new("Processor time to read a value", columns);
    for one in readings.iter().filter(|one| one.not_timed.is_none()) {
        table.push(row(one));
    }
    let body = html! {
        p { "Time of one core to decode a value: a microsecond per value is a second of processor time per million reads. " (reading::NOTE) }
        @if let Some(share) = reading::busy(readings) { p.warning { (words::busy(share)) } }
        @if !table.rows.is_empty() {
            (table.html("c-times"))
            p.legend { (reading::GAP) "; " code { (reading::SETUP) } " installs more." }
        }
        @for one in readings {
            @if let Some(reason) = &one.not_timed {
                p { strong { (one.format.title()) " in " (visible(&one.runtime)) ":" } " not timed: " (visible(reason)) "." }
            }
        }
    };
    Section::open("times", "Processor time", body)
}

fn row(reading: &Reading) -> Vec<Cell> {
    let most = reading.now.iter().chain(&reading.best).map(|one| one.ns.median).fold(0.0, f64::max);
    let cell = |one: Option<&Candidate>| {
        one.map_or_else(Cell::none, |one| {
            Cell::estimate(&one.ns, &Unit::Time).also(&one.library).bar(one.ns.median / most)
        })
    };
    let first = reading.best.iter().find(|one| one.format != reading.format);
    let first = first.and_then(|one| {
        let change = reading.change(one)?;
        Some(Cell::text(format!("{}, {change}", one.format.title())).below(&one.library))
    });
    let mut cells = vec![
        Cell::text(reading.format.title()),
        Cell::text(&reading.runtime),
        cell(reading.now.as_ref()),
    ];
    cells.extend(OTHERS.map(|format| cell(reading.best_of(format))));
    cells.push(first.unwrap_or_else(Cell::none));
    cells.push(Cell::count(reading.values));
    let timed = Cell::text(format!("{} timed", reading.timed));
    cells.push(timed.below(format!("{} not installed", reading.missing)));
    cells
}

/// Returns the chart of what loading would do.
fn chart(report: &Report) -> Markup {
    html! { @if let Some(figure) = charts::prefixes::figure(report) { (figure.html()) } }
}
