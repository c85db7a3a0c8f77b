//! The folded details: classes, duplicates, the largest values, what no reader knows, what was looked at.

use std::collections::BTreeMap;

use maud::html;
use regauge_caches::look::Risk;
use regauge_caches::tally::Tally;
use regauge_caches::{Report, Row};
use regauge_measure::{bytes, thousands};

use super::super::json::shown;
use super::super::{About, not_looked_into, unrecognised, values};
use super::prefix_or_empty;
use crate::page::Section;
use crate::table::{Cell, Column, Table, Tone};
use crate::text::{Unit, visible};
use crate::words::share_of;

/// How many classes, and how many of the largest values, are listed.
const CLASSES: usize = 200;
const LARGEST: usize = 20;
/// How many beginnings are listed.
const BEGINS: usize = 20;
/// How many prefixes are named with a class.
const NAMED: usize = 3;

/// Where a class is named.
struct Found<'r> {
    risk: Risk,
    values: u64,
    prefixes: Vec<&'r str>,
}

/// Returns the section on the classes and functions that values name.
pub fn classes(report: &Report) -> Option<Section> {
    let mut found: BTreeMap<&str, Found<'_>> = BTreeMap::new();
    for row in &report.rows {
        for (name, class) in &row.tally.classes {
            let one = found.entry(name).or_insert_with(|| Found {
                risk: class.risk,
                values: 0,
                prefixes: Vec::new(),
            });
            one.risk = one.risk.max(class.risk);
            one.values += class.values;
            one.prefixes.push(&row.prefix);
        }
    }
    if found.is_empty() {
        return None;
    }
    let mut list: Vec<_> = found.into_iter().collect();
    list.sort_by(|(_, a), (_, b)| b.risk.cmp(&a.risk).then(b.values.cmp(&a.values)));
    let more = list.len().saturating_sub(CLASSES);
    let columns = vec![
        Column::text("class or function"),
        Column::text("judged"),
        Column::number("values").more_is_better(),
        Column::text("prefixes"),
    ];
    let mut table = Table::new("Classes and functions that values name", columns);
    for (name, one) in list.into_iter().take(CLASSES) {
        table.push(vec![Cell::code(name), judged(one.risk), Cell::count(one.values), places(&one)]);
    }
    let is_cut = report.rows.iter().any(|row| row.tally.has_more_classes);
    let body = html! {
        p { "Nothing was loaded or called: these are names in the values." }
        (table.html("c-classes"))
        @if more > 0 { p.legend { (thousands(more as u64)) " more; " code { "--json" } " lists them." } }
        @if is_cut { p.legend { "Some prefixes name more classes than are counted by name." } }
    };
    Section::new("classes", "Classes", body)
}

fn judged(risk: Risk) -> Cell {
    let (words, tone) = match risk {
        Risk::Harmless => ("harmless", Tone::Good),
        Risk::Unknown => ("unknown", Tone::Care),
        Risk::Notorious => ("known from attacks", Tone::Bad),
    };
    Cell::text(words).tone(tone)
}

fn places(found: &Found<'_>) -> Cell {
    let named = found.prefixes.iter().take(NAMED).map(|prefix| prefix_or_empty(prefix));
    let cell = Cell::code(named.collect::<Vec<_>>().join(", "));
    match found.prefixes.len().saturating_sub(NAMED) {
        0 => cell,
        more => cell.below(format!("and {} more", thousands(more as u64))),
    }
}

/// Returns the section on values that another one equals.
pub fn repeated(report: &Report) -> Option<Section> {
    let mut rows: Vec<&Row> =
        report.rows.iter().filter(|row| row.tally.repeated.values > 0).collect();
    if rows.is_empty() {
        return None;
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.tally.repeated.bytes));
    let columns = vec![
        Column::text("prefix"),
        Column::number("repeated").more_is_better(),
        Column::number("bytes").more_is_better(),
        Column::number("of the prefix").more_is_better(),
    ];
    let mut table = Table::new("Values that another one equals", columns);
    for row in rows {
        let Tally { repeated, all, .. } = &row.tally;
        let part = repeated.bytes as f64 / all.bytes.max(1) as f64;
        table.push(vec![
            Cell::code(prefix_or_empty(&row.prefix)),
            Cell::count(repeated.values),
            Cell::figure(repeated.bytes as f64, &Unit::Bytes),
            Cell::text(share_of(repeated.bytes, all.bytes)).key(part),
        ]);
    }
    let repeated = report.all.repeated;
    let body = html! {
        p {
            strong { (values(repeated.values)) " with " (bytes(repeated.bytes)) }
            " equal another one. The first of each is not counted, nor is any of fewer than 32 bytes; the first million different values are remembered."
        }
        (table.html("c-repeated"))
    };
    Section::new("repeated", "Duplicates", body)
}

/// Returns the section on the largest values.
pub fn largest(report: &Report) -> Option<Section> {
    let of_row = |row| {
        let Row { prefix, tally, .. }: &Row = row;
        tally.largest.iter().map(move |(bytes, key)| (*bytes, key, prefix.as_str()))
    };
    let mut list: Vec<_> = report.rows.iter().flat_map(of_row).collect();
    if list.is_empty() {
        return None;
    }
    list.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let columns =
        vec![Column::text("key"), Column::number("bytes").more_is_better(), Column::text("prefix")];
    let mut table = Table::new("The largest values", columns);
    for (bytes, key, prefix) in list.into_iter().take(LARGEST) {
        table.push(vec![
            Cell::code(prefix_or_empty(&shown(key))),
            Cell::figure(bytes as f64, &Unit::Bytes),
            Cell::code(prefix_or_empty(prefix)),
        ]);
    }
    let body = html! {
        p { "The largest of the five largest values of each prefix. Keys are cut after 200 bytes." }
        (table.html("c-largest"))
    };
    Section::new("largest", "Largest values", body)
}

/// Returns the section on values that nothing recognises.
pub fn unknown(report: &Report) -> Option<Section> {
    let all = &report.all;
    let (unknown, begins) = unrecognised(all);
    if unknown.values == 0 {
        return None;
    }
    let columns = vec![Column::text("first bytes"), Column::number("values").more_is_better()];
    let mut table = Table::new("How they begin", columns);
    let more = begins.len().saturating_sub(BEGINS);
    for (begin, count) in begins.into_iter().take(BEGINS) {
        table.push(vec![Cell::code(begin), Cell::count(count)]);
    }
    let body = html! {
        p {
            strong { (values(unknown.values)) " (" (share_of(unknown.values, all.all.values)) ")" }
            " with " (bytes(unknown.bytes)) " are in no format that regauge knows."
        }
        (table.html("c-unknown"))
        @if more > 0 { p.legend { (thousands(more as u64)) " more; " code { "--json" } " lists them." } }
    };
    Section::new("unknown", "Not recognised", body)
}

/// Returns the section on what was looked at, and what the numbers rest on.
pub fn limits(report: &Report, about: &About<'_>) -> Option<Section> {
    let summary = about.summary;
    let skipped = not_looked_into(summary);
    let recoded = report.rows.iter().filter(|row| row.recoded.is_some()).count() as u64;
    let sampled: u64 =
        report.rows.iter().filter_map(|row| row.recoded.as_ref()).map(|one| one.tried).sum();
    let body = html! {
        dl.facts {
            dt { "source" } dd { (visible(about.name)) @if !summary.title.is_empty() { ", " (visible(&summary.title)) } }
            dt { "read" } dd {
                (bytes(summary.bytes))
                @if summary.is_whole { ", to its end" } @else { "; not to its end" }
                @if summary.has_tail { "; more bytes follow the end of the dump" }
            }
            dt { "keys" } dd {
                @if about.one_in > 1 { "one in " (thousands(about.one_in)) } @else { "all" }
                @if !about.prefix.is_empty() { " that begin with " code { (visible(about.prefix)) } }
                @if let Some(database) = about.database { ", of database " (database) }
                @if summary.passed_over > 0 { "; " (thousands(summary.passed_over)) " were passed over" }
            }
            dt { "values" } dd {
                @if about.has_values { "each was read to its end; nothing was loaded or called" }
                @else { "were not looked into" }
            }
            @if !skipped.is_empty() { dt { "not looked into" } dd { (skipped.join(", ")) } }
            @if recoded > 0 {
                dt { "other formats" } dd {
                    "tried with " (thousands(sampled)) " values of " (thousands(recoded))
                    " prefixes: 32 values or 16 KiB of each at most, spread evenly over the keys. "
                    code { "regauge migrate" } " tries every value."
                }
            }
            dt { "time to read" } dd {
                @if about.readings.is_empty() { "was not measured; " code { "--time" } " measures it" }
                @else { "measured on the sampled values that are plain data" }
            }
        }
    };
    Section::new("limits", "What was looked at", body)
}
