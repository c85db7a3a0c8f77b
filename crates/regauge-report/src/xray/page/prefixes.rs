//! The tables of prefixes: what the values are, and what they take in other formats.

use maud::html;
use regauge_caches::look::Danger;
use regauge_caches::recode::{Recoded, Way};
use regauge_caches::tally::Tally;
use regauge_caches::{Report, Row};
use regauge_measure::thousands;

use super::super::{OTHERS, expiring};
use super::{chart, prefix_or_empty};
use crate::page::Section;
use crate::table::{Cell, Column, Table, Tone};
use crate::text::Unit;
use crate::words::{share, share_of};

/// How many prefixes are shown without unfolding.
const ROWS: usize = 20;

/// Returns the section with the prefixes that have the most bytes.
pub fn section(report: &Report) -> Option<Section> {
    if report.rows.is_empty() {
        return None;
    }
    let more = report.rows.len().saturating_sub(ROWS);
    let body = html! {
        (table(report, ROWS, "Prefixes of the keys, those with the most bytes first").html("c-prefixes"))
        p.legend {
            "What differs between keys is " code { "*" } ". MessagePack, JSON and CBOR are what sampled values take there, as a share of what they take now; with zstd below."
            @if more > 0 { " " (thousands(more as u64)) " more prefixes are in “All prefixes”." }
        }
        (chart(report))
    };
    Section::open("prefixes", "What is there", body)
}

/// Returns the section with all prefixes, if there are more.
pub fn all(report: &Report) -> Option<Section> {
    if report.rows.len() <= ROWS {
        return None;
    }
    let table = table(report, usize::MAX, "All prefixes, those with the most bytes first");
    Section::new("all", "All prefixes", table.html("c-all"))
}

fn table(report: &Report, most: usize, caption: &str) -> Table {
    let mut columns = vec![Column::text("prefix")];
    columns.extend(["values", "bytes", "expire"].map(Column::number));
    columns.extend(["what the values are", "when loaded"].map(Column::text));
    columns.extend(OTHERS.map(|format| Column::number(format.title())));
    let mut table = Table::new(caption, columns);
    table.headed = true;
    let largest = report.rows.first().map_or(1, |row| row.tally.all.bytes.max(1));
    for row in report.rows.iter().take(most) {
        let tally = &row.tally;
        let mut cells = vec![
            Cell::code(prefix_or_empty(&row.prefix)),
            Cell::count(tally.all.values),
            Cell::figure(tally.all.bytes as f64, &Unit::Bytes)
                .bar(tally.all.bytes as f64 / largest as f64),
            expiry(tally),
            what(row),
            loading(tally),
        ];
        cells.extend(OTHERS.map(|format| size(row.recoded.as_ref(), format)));
        table.push(cells);
    }
    table.without_empty_columns()
}

fn expiry(tally: &Tally) -> Cell {
    let words = expiring(tally.expiry);
    let share =
        tally.expiry.expiring as f64 / (tally.expiry.expiring + tally.expiry.never).max(1) as f64;
    if tally.expiry.is_unknown() { Cell::none() } else { Cell::text(words).key(share) }
}

/// Says what the values are: the form with the most bytes, and how many others there are.
fn what(row: &Row) -> Cell {
    let forms = row.tally.forms();
    let Some((form, count)) = forms.first() else {
        let kinds: Vec<_> = row.tally.kinds.keys().map(|kind| kind.name()).collect();
        return Cell::text(kinds.join(", "));
    };
    let cell = Cell::text(form.words());
    match forms.len() - 1 {
        0 => cell,
        1 => cell.below(format!("{} of the values", share_of(count.values, row.tally.all.values))),
        more => cell.below(format!(
            "{} of the values, the rest in {more} other forms",
            share_of(count.values, row.tally.all.values)
        )),
    }
}

/// Says what loading the values would do at worst, and how many would.
fn loading(tally: &Tally) -> Cell {
    let there = tally.dangers.iter().filter(|(_, count)| count.values > 0);
    let Some((danger, count)) = there.max_by_key(|(danger, _)| **danger) else {
        return Cell::none();
    };
    let (words, tone) = match danger {
        Danger::None => ("cannot run code", Tone::Good),
        Danger::Data => ("plain data", Tone::Good),
        Danger::Harmless => ("types of its language", Tone::Care),
        Danger::Unknown => ("not known", Tone::Care),
        Danger::Incomplete => ("broken, or relies on the program", Tone::Care),
        Danger::Classes => ("needs classes", Tone::Bad),
        Danger::Attack => ("known from attacks", Tone::Bad),
    };
    let cell = Cell::text(words).key(f64::from(*danger as u8)).tone(tone);
    match count.values < tally.all.values {
        true => cell.below(format!("{} of the values", share_of(count.values, tally.all.values))),
        false => cell,
    }
}

/// Returns what the sample takes in a format, as a share of what it takes now: uncompressed, and with zstd.
fn size(recoded: Option<&Recoded>, format: regauge::Format) -> Cell {
    let Some(recoded) = recoded.filter(|recoded| recoded.stored > 0) else { return Cell::none() };
    let of = |way: &Way| way.bytes as f64 / recoded.stored as f64;
    let find = |packing: Option<&str>| {
        let is_it = |way: &&Way| {
            way.format == format && way.packing.map(|packing| packing.name()) == packing
        };
        recoded.ways.iter().find(is_it).map(of)
    };
    let Some(plain) = find(None) else { return Cell::none() };
    let cell = Cell::text(share(plain)).key(plain);
    match find(Some("zstd")) {
        Some(packed) => cell.below(format!("zstd {}", share(packed))).bar(packed),
        None => cell,
    }
}

/// Returns the section on what samples take in every format and compression.
pub fn sizes(report: &Report) -> Option<Section> {
    let mut columns = vec![Column::text("prefix"), Column::text("values in")];
    columns.extend(["values", "now"].map(Column::number));
    columns.extend(OTHERS.map(|format| Column::number(format.title())));
    let mut table = Table::new("Bytes of the sampled values in each format", columns);
    let mut columns = vec![Column::text("prefix"), Column::text("values in")];
    columns.extend([Column::number("exact"), Column::text("the first that is not")]);
    let mut refused = Table::new("Samples that these formats do not hold exactly", columns);
    for row in &report.rows {
        let (Some(recoded), Some(format)) = (&row.recoded, row.format()) else { continue };
        let head = [Cell::code(prefix_or_empty(&row.prefix)), Cell::text(format.title())];
        if let Some(reason) = &recoded.refused {
            let exact = format!("{} of {}", thousands(recoded.exact), thousands(recoded.tried));
            let share = recoded.exact as f64 / recoded.tried.max(1) as f64;
            let exact = Cell::text(exact).key(share);
            refused.push([&head[..], &[exact, Cell::text(reason)]].concat());
        }
        if recoded.exact > 0 {
            let mut cells = head.to_vec();
            cells.push(Cell::count(recoded.exact));
            cells.push(Cell::figure(recoded.stored as f64, &Unit::Bytes));
            cells.extend(OTHERS.map(|format| bytes_in(recoded, format)));
            table.push(cells);
        }
    }
    if table.rows.is_empty() && refused.rows.is_empty() {
        return None;
    }
    let body = html! {
        p { "Each value compressed alone, as caches do, and left as it is if that is shorter. Only values that every format holds exactly are counted." }
        @if !table.rows.is_empty() { (table.html("c-sizes")) }
        @if !refused.rows.is_empty() { (refused.html("c-refused")) }
    };
    Section::new("sizes", "Size in each format", body)
}

/// Returns the bytes of the sample in a format: uncompressed, and below with each compression.
fn bytes_in(recoded: &Recoded, format: regauge::Format) -> Cell {
    let ways = || recoded.ways.iter().filter(|way| way.format == format);
    let plain = ways().find(|way| way.packing.is_none()).map(|way| way.bytes as f64);
    let packed = ways().filter_map(|way| Some((way.packing?, way.bytes)));
    packed.fold(Cell::maybe(plain, &Unit::Bytes), |cell, (packing, bytes)| {
        cell.also(format!("{} {}", packing.name(), Unit::Bytes.figure(bytes as f64)))
    })
}
