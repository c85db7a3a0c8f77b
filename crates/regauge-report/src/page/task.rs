//! The section on a published comparison: the published figures beside today's.

use maud::html;
use regauge_measure::Report;
use regauge_measure::report::{Cell as Figures, TaskTable};

use super::{Section, charts};
use crate::charts::{Figure, Part};
use crate::table::{Cell, Column, Table, Tone};
use crate::text::{Unit, visible};

/// Returns the section.
pub fn section(report: &Report, figures: &[Figure]) -> Option<Section> {
    let task = report.task.as_ref()?;
    let body = html! {
        p.lead { (visible(&task.question)) }
        @if !task.source.is_empty() {
            p.source { "Published in: " (visible(&task.source)) }
        }
        @for (index, one) in task.tables.iter().enumerate() {
            (table(one).html(&format!("c-task-{index}")))
        }
        @if !task.tables.is_empty() {
            p.legend { "Published times come from another machine: compare the ratios, shown beside the figures if the table has a baseline." }
        }
        @if !task.changed.is_empty() {
            h3 { "What has changed since" }
            ul { @for sentence in &task.changed { li { (visible(sentence)) } } }
        }
        @if !task.crossings.is_empty() {
            h3 { "At scale" }
            ul { @for sentence in &task.crossings { li { (visible(sentence)) } } }
        }
        (charts(figures, Part::Task))
    };
    Section::open("task", "Then and now", body)
}

/// Returns a table with a column for the published figure and one for today's, if either has any.
fn table(of: &TaskTable) -> Table {
    let mut columns = vec![Column::text("contender")];
    let mut shown: Vec<(usize, bool)> = Vec::new();
    for (index, column) in of.columns.iter().enumerate() {
        let any = |has: fn(&Figures) -> bool| {
            of.rows.iter().filter_map(|row| row.cells.get(index)).any(has)
        };
        let sorted = |head: String| {
            let head = Column::number(head);
            if column.less_is_better { head } else { head.more_is_better() }
        };
        if any(|cell| cell.published.is_some() || cell.published_ratio.is_some()) {
            columns.push(sorted(format!("{}, published", column.name)));
            shown.push((index, true));
        }
        if any(|cell| cell.today.is_some() || cell.today_ratio.is_some()) {
            columns.push(sorted(format!("{}, today", column.name)));
            shown.push((index, false));
        }
    }
    let notes = of.rows.iter().any(|row| row.note.is_some());
    if notes {
        columns.push(Column::text("note"));
    }
    let caption = match &of.baseline {
        Some(baseline) => format!("{} (ratios to {baseline})", of.title),
        None => of.title.clone(),
    };
    let mut table = Table::new(caption, columns);
    for row in &of.rows {
        let mut name = Cell::text(&row.name);
        if !row.published {
            name = name.tag("new", Tone::Plain);
        }
        if of.baseline.as_deref() == Some(row.name.as_str()) {
            name = name.tag("baseline", Tone::Plain);
        }
        let mut cells = vec![name];
        for (index, published) in &shown {
            let unit = Unit::of(&of.columns[*index].unit);
            cells.push(
                row.cells
                    .get(*index)
                    .map_or_else(Cell::none, |cell| figure(cell, *published, &unit)),
            );
        }
        if notes {
            cells.push(row.note.as_ref().map_or_else(Cell::none, Cell::text));
        }
        table.push(cells);
    }
    table
}

fn figure(cell: &Figures, published: bool, unit: &Unit) -> Cell {
    let (value, ratio) = if published {
        let value = cell.published.map(|value| match cell.published_to {
            Some(to) => {
                Cell::text(format!("{} to {}", unit.figure(value), unit.figure(to))).key(value)
            }
            None => Cell::figure(value, unit),
        });
        (value, cell.published_ratio)
    } else {
        let today = cell.today.as_ref().map(|today| Cell::estimate(today, unit));
        (today, cell.today_ratio.map(|ratio| ratio.median))
    };
    match (value, ratio) {
        (Some(value), Some(ratio)) => value.emphasis(Unit::Ratio.figure(ratio)),
        (Some(value), None) => value,
        (None, Some(ratio)) => Cell::figure(ratio, &Unit::Ratio),
        (None, None) => Cell::none(),
    }
}
