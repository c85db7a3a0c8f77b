//! Shows a task's tables: the published figures beside today's.

use regauge_measure::report::{Cell, Task, TaskTable};
use regauge_measure::{bytes, time};

use super::line::{Line, Style, cut, width, wrapped};
use crate::text::{Unit, visible};

/// Characters of a row's name.
const NAME_MAX: usize = 30;
/// All tables are shown while this many rows of each have room.
const ROWS_MIN: usize = 3;
/// Else the first tables, with as many rows as this.
const ROWS_FEW: usize = 5;
/// Lines of what follows from the tables.
const SAID_MAX: usize = 8;

/// Returns the question and the tables, in at most this many lines.
pub fn lines(task: &Task, width_max: usize, room: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = wrapped(&format!("{}: {}", task.name, task.question), width_max)
        .into_iter()
        .map(|text| Line::of(text, Style::Strong))
        .collect();
    if !task.source.is_empty() {
        let text = cut(&format!("then: {}", visible(&task.source)), width_max);
        lines.push(Line::of(text, Style::Faint));
    }
    let mut said: Vec<Line> = Vec::new();
    for sentence in task.changed.iter().chain(&task.crossings) {
        let parts = wrapped(&visible(sentence), width_max.saturating_sub(2));
        said.extend(parts.into_iter().enumerate().map(|(index, text)| {
            Line::of(format!("{} {text}", if index == 0 { "-" } else { " " }), Style::Plain)
        }));
    }
    // What follows from the tables comes before further rows of them.
    if room < usize::MAX {
        said.truncate(SAID_MAX);
    }
    let spare = if said.is_empty() { 0 } else { said.len() + 1 };
    let left = room.saturating_sub(lines.len() + spare);
    lines.extend(tables(task, width_max, left));
    if !said.is_empty() {
        lines.push(Line::default());
        lines.extend(said);
    }
    lines
}

/// Returns the tables, with as many rows of each as fit beside the others; drops whole tables if
/// not even a few rows fit.
fn tables(task: &Task, width_max: usize, room: usize) -> Vec<Line> {
    let most = task.tables.iter().map(|table| table.rows.len()).max().unwrap_or(0);
    let with = |count: usize, rows: usize| -> Vec<Line> {
        let some = task.tables[..count].iter();
        some.flat_map(|table| table_lines(table, width_max, rows)).collect()
    };
    let all = task.tables.len();
    let fitting = (ROWS_MIN..=most.max(ROWS_MIN))
        .rev()
        .map(|rows| with(all, rows))
        .find(|one| one.len() <= room);
    fitting.unwrap_or_else(|| {
        // Fewer tables, of as many rows as there is room for then.
        let count = (1..all).rev().find(|count| with(*count, ROWS_FEW).len() < room).unwrap_or(0);
        let rows = (ROWS_FEW..=most).rev().find(|rows| with(count, *rows).len() < room);
        let mut lines = with(count, rows.unwrap_or(ROWS_FEW));
        lines.push(Line::of(format!("({} more tables: --full)", all - count), Style::Faint));
        lines
    })
}

/// A column of a task: what was published, if anything was, and what came out today.
struct Column {
    index: usize,
    title: String,
    unit: String,
    then: bool,
}

fn table_lines(table: &TaskTable, width_max: usize, rows_max: usize) -> Vec<Line> {
    let columns: Vec<Column> = table
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| Column {
            index,
            title: visible(&column.name),
            unit: column.unit.clone(),
            then: table.rows.iter().any(|row| {
                let cell = &row.cells[index];
                cell.published.is_some() || cell.published_ratio.is_some()
            }),
        })
        .collect();
    let shown = rows_max.min(table.rows.len());
    let rows: Vec<(String, Vec<Option<[String; 2]>>)> = table.rows[..shown]
        .iter()
        .map(|row| {
            let is_baseline = table.baseline.as_deref() == Some(row.name.as_str());
            let cells = columns.iter().map(|column| {
                let cell = row.cells.get(column.index)?;
                Some([published(cell, column, is_baseline), today(cell, column, is_baseline)])
            });
            (short(&row.name), cells.collect())
        })
        .collect();
    let figure = |column: usize, part: usize| {
        let cells = rows.iter().filter_map(|(_, cells)| cells[column].as_ref());
        cells.map(|cell| width(&cell[part])).max().unwrap_or(1)
    };
    let name = rows.iter().map(|(name, _)| width(name) + 1).max().unwrap_or(0).min(NAME_MAX);
    // The ends of both figures of each column.
    let mut places: Vec<(Option<usize>, usize)> = Vec::new();
    let mut at = name;
    let mut kept = 0;
    for (index, column) in columns.iter().enumerate() {
        let today = figure(index, 1).max(5);
        let then = if column.then { figure(index, 0).max(4) + 2 } else { 0 };
        let wide = (today + then).max(width(&column.title)) + 3;
        if at + wide > width_max {
            break;
        }
        at += wide;
        kept += 1;
        places.push((column.then.then_some(at - today - 2), at));
    }
    let mut lines = vec![Line::default()];
    let mut title = Line::of(visible(&table.title), Style::Strong);
    if kept < columns.len() {
        let more = match columns.len() - kept {
            1 => "1 more column".to_owned(),
            more => format!("{more} more columns"),
        };
        title.push(format!("  ({more}: --full)"), Style::Faint);
    }
    let heads: Vec<(&Column, usize)> =
        columns.iter().zip(places.iter().map(|(_, end)| *end)).collect();
    let first_head = heads.first().map_or(0, |(column, end)| end - width(&column.title));
    if title.width() + 3 <= first_head {
        // Heads and title share a line.
        heads
            .iter()
            .for_each(|(column, end)| title.push_to(*end, column.title.clone(), Style::Faint));
        lines.push(title);
    } else {
        let mut line = Line::default();
        heads
            .iter()
            .for_each(|(column, end)| line.push_to(*end, column.title.clone(), Style::Faint));
        lines.extend([title, line]);
    }
    if columns.iter().take(kept).any(|column| column.then) {
        let mut line = Line::default();
        for (then, end) in &places {
            if let Some(then) = then {
                line.push_to(*then, "then", Style::Faint);
            }
            line.push_to(*end, "today", Style::Faint);
        }
        lines.push(line);
    }
    for (label, cells) in &rows {
        let mut line = Line::of(format!(" {}", cut(label, name.saturating_sub(1))), Style::Plain);
        for (cell, (then, end)) in cells.iter().zip(&places) {
            let Some([published, today]) = cell else { continue };
            if let Some(then) = then {
                line.push_to(*then, published.clone(), Style::Faint);
            }
            line.push_to(*end, today.clone(), Style::Plain);
        }
        lines.push(line);
    }
    if let Some(why) = why_empty(table, shown) {
        lines.push(Line::of(cut(&format!(" –: {why}"), width_max), Style::Faint));
    }
    if shown < table.rows.len() {
        let mut line = Line::of(" …", Style::Faint);
        line.push_to(at, format!("({} more: --full)", table.rows.len() - shown), Style::Faint);
        lines.push(line);
    }
    lines
}

/// Says why shown rows have no figures for today: the first reason.
fn why_empty(table: &TaskTable, shown: usize) -> Option<String> {
    let empty = |cell: &Cell| cell.today.is_none() && cell.today_ratio.is_none();
    let rows = table.rows[..shown].iter();
    let mut notes =
        rows.filter(|row| row.cells.iter().all(empty)).filter_map(|row| row.note.as_ref());
    notes.next().map(|note| visible(note))
}

/// Returns a row's name without library and version.
fn short(name: &str) -> String {
    visible(name.split_once(" · ").map_or(name, |(label, _)| label))
}

/// Formats the baseline in its unit, and all others relative to it.
fn published(cell: &Cell, column: &Column, is_baseline: bool) -> String {
    match (cell.published, cell.published_ratio.filter(|_| !is_baseline)) {
        (_, Some(ratio)) => times(ratio),
        (Some(value), None) => match cell.published_to {
            Some(to) => format!("{} to {}", figure(value, &column.unit), figure(to, &column.unit)),
            None => figure(value, &column.unit),
        },
        (None, None) => "–".to_owned(),
    }
}

fn today(cell: &Cell, column: &Column, is_baseline: bool) -> String {
    match (cell.today, cell.today_ratio.filter(|_| !is_baseline)) {
        (_, Some(ratio)) => times(ratio.median),
        (Some(value), None) => figure(value.median, &column.unit),
        (None, None) => "–".to_owned(),
    }
}

fn times(ratio: f64) -> String {
    format!("{ratio:.2}x")
}

fn figure(value: f64, unit: &str) -> String {
    match unit {
        "ns" => time(value),
        "bytes" => bytes(value.round() as u64),
        unit => Unit::of(unit).figure(value),
    }
}
