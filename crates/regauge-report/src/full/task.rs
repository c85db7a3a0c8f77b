//! Renders a task for people: the post's tables with today's figures beside the published ones.

use std::fmt::Write as _;

use regauge_measure::report::{Cell, Column, Task, TaskRow, TaskTable};
use regauge_measure::stats::Estimate;
use regauge_measure::{bytes, three_digits, time};

use super::{Layout, grid};

/// Writes the question, the tables and what has changed.
pub(super) fn render(text: &mut String, task: &Task, layout: Layout) {
    let _ = writeln!(text, "Task {}: {}", task.name, task.question);
    if !task.source.is_empty() {
        let _ = writeln!(text, "Published: {}", task.source);
    }
    text.push('\n');
    for one in &task.tables {
        write_table(text, one, layout);
    }
    for chart in &task.charts {
        let _ = writeln!(
            text,
            "Lines of \"{}\" over {}: in the report of --json.",
            chart.title, chart.x.label
        );
    }
    if !task.charts.is_empty() {
        text.push('\n');
    }
    if !task.changed.is_empty() {
        text.push_str("What has changed\n\n");
        for sentence in &task.changed {
            let _ = writeln!(text, "- {sentence}");
        }
        text.push('\n');
    }
    if !task.crossings.is_empty() {
        text.push_str("At scale\n\n");
        for sentence in &task.crossings {
            let _ = writeln!(text, "- {sentence}");
        }
        text.push('\n');
    }
}

fn write_table(text: &mut String, task: &TaskTable, layout: Layout) {
    // A column that the post has nothing of shows today alone.
    let then = |at: usize| {
        task.rows.iter().any(|row| {
            let cell = &row.cells[at];
            cell.published.is_some() || cell.published_ratio.is_some()
        })
    };
    let mut header = vec![String::new()];
    for (at, column) in task.columns.iter().enumerate() {
        if then(at) {
            header.push(format!("{}, published", column.name));
            header.push("today".to_owned());
        } else {
            header.push(column.name.clone());
        }
    }
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = grid::table(layout, &header);
    for row in &task.rows {
        let mut cells = vec![row.name.clone()];
        for (at, column) in task.columns.iter().enumerate() {
            let cell = &row.cells[at];
            if then(at) {
                cells.push(published(cell, column));
            }
            cells.push(today(cell, column));
        }
        table.add_row(cells);
    }
    grid::align(&mut table, 1..header.len());
    let against = match (&task.baseline, task.columns.iter().all(|one| one.less_is_better)) {
        (None, _) => String::new(),
        (Some(baseline), true) => format!(" (after the dot: ratio to {})", label(baseline)),
        (Some(baseline), false) => {
            format!(" (after the dot: times slower than {})", label(baseline))
        }
    };
    let _ = writeln!(text, "{}{against}\n\n{table}\n", task.title);
    write_notes(text, &task.rows);
}

/// Writes why rows are empty, and notes about them, each text once.
fn write_notes(text: &mut String, rows: &[TaskRow]) {
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in rows {
        let Some(note) = row.note.as_deref() else { continue };
        match notes.iter_mut().find(|(known, _)| *known == note) {
            Some((_, labels)) => labels.push(label(&row.name)),
            None => notes.push((note, vec![label(&row.name)])),
        }
    }
    for (note, labels) in &notes {
        let _ = writeln!(text, "- {}: {note}", labels.join(", "));
    }
    if !notes.is_empty() {
        text.push('\n');
    }
}

/// Returns a row's name without library and version.
fn label(name: &str) -> &str {
    name.split_once(" · ").map_or(name, |(label, _)| label)
}

fn published(cell: &Cell, column: &Column) -> String {
    let value = cell.published.map(|value| match cell.published_to {
        Some(to) => format!("{} to {}", number(value, &column.unit), number(to, &column.unit)),
        None => number(value, &column.unit),
    });
    let ratio = cell.published_ratio.map(|ratio| format!("{ratio:.2}"));
    joined(value, ratio)
}

fn today(cell: &Cell, column: &Column) -> String {
    let value = cell.today.map(|one| match column.unit.as_str() {
        "ratio" => with_interval(one),
        unit => number(one.median, unit),
    });
    joined(value, cell.today_ratio.map(with_interval))
}

fn joined(value: Option<String>, ratio: Option<String>) -> String {
    match (value, ratio) {
        (Some(value), Some(ratio)) => format!("{value} · {ratio}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => "–".to_owned(),
    }
}

fn with_interval(one: Estimate) -> String {
    // An interval narrower than its own digits is meaningless.
    if format!("{:.2}", one.low) == format!("{:.2}", one.high) {
        return format!("{:.2}", one.median);
    }
    format!("{:.2} ({:.2}–{:.2})", one.median, one.low, one.high)
}

fn number(value: f64, unit: &str) -> String {
    match unit {
        "ns" => time(value),
        "bytes" => bytes(value.round() as u64),
        "per second" => format!("{}/s", three_digits(value)),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(median: f64, low: f64, high: f64) -> Estimate {
        Estimate::between(low, median, high)
    }

    fn task() -> Task {
        let column = |name: &str, unit: &str| Column {
            name: name.into(),
            unit: unit.into(),
            less_is_better: true,
        };
        Task {
            name: "marc-catalog".into(),
            question: "Which?".into(),
            source: "\"Title\", 2014-10-09".into(),
            tables: vec![TaskTable {
                title: "MRI Ruby".into(),
                columns: vec![column("Total", "ns"), column("Size", "bytes")],
                rows: vec![
                    TaskRow {
                        name: "marc21 · ruby-marc 1.3".into(),
                        published: true,
                        cells: vec![
                            Cell {
                                today: Some(estimate(2e9, 1.9e9, 2.1e9)),
                                today_ratio: Some(estimate(1.0, 1.0, 1.0)),
                                published: Some(18.2e9),
                                published_to: None,
                                published_ratio: Some(1.0),
                            },
                            Cell { today: Some(estimate(31e6, 31e6, 31e6)), ..Cell::default() },
                        ],
                        note: None,
                    },
                    TaskRow {
                        name: "json (oj)".into(),
                        published: true,
                        cells: vec![
                            Cell {
                                published: Some(9.9e9),
                                published_to: None,
                                published_ratio: Some(0.544),
                                ..Cell::default()
                            },
                            Cell::default(),
                        ],
                        note: Some("not installed: gem install oj".into()),
                    },
                    TaskRow {
                        name: "new".into(),
                        published: false,
                        cells: vec![
                            Cell {
                                today: Some(estimate(1e9, 0.9e9, 1.1e9)),
                                today_ratio: Some(estimate(0.5, 0.45, 0.55)),
                                ..Cell::default()
                            },
                            Cell::default(),
                        ],
                        note: None,
                    },
                ],
                baseline: Some("marc21 · ruby-marc 1.3".into()),
            }],
            charts: Vec::new(),
            changed: vec!["All of it.".into()],
            crossings: vec!["They cross at about 300.".into()],
        }
    }

    #[test]
    fn published_and_today_stand_beside_each_other() {
        let mut text = String::new();
        render(&mut text, &task(), Layout::default());
        assert_eq!(
            text,
            "\
Task marc-catalog: Which?
Published: \"Title\", 2014-10-09

MRI Ruby (after the dot: ratio to marc21)

|                        | Total, published |                     today |    Size |
|------------------------|------------------|---------------------------|---------|
| marc21 · ruby-marc 1.3 |    18.2 s · 1.00 |             2.00 s · 1.00 | 31.0 MB |
| json (oj)              |    9.90 s · 0.54 |                         – |       – |
| new                    |                – | 1.00 s · 0.50 (0.45–0.55) |       – |

- json (oj): not installed: gem install oj

What has changed

- All of it.

At scale

- They cross at about 300.

"
        );
    }

    #[test]
    fn a_terminal_is_not_overrun() {
        let mut text = String::new();
        render(&mut text, &task(), Layout { width: Some(70), lines: true });
        for line in text.lines().filter(|line| line.contains(['┆', '─'])) {
            assert!(line.chars().count() <= 70, "{line}");
        }
    }
}
