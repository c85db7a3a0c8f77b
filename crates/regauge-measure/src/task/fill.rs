//! Fills the tables of a report from a task file and the measurements.

use crate::model::report::{Cell, Column, Task, TaskRow, TaskTable};

use super::changed;
use super::crossing;
use super::figure::{Figure, published_against};
use super::plan::{ColumnPlan, Plan, RowPlan, TablePlan};

/// What was measured, looked up cell by cell.
pub(super) trait Results {
    /// Returns the figure of a cell, or why there is none.
    fn find(&self, table: &TablePlan, row: &RowPlan, column: &ColumnPlan)
    -> Result<Figure, String>;

    /// Returns the library and version of a row, for its name.
    fn version(&self, table: &TablePlan, row: &RowPlan) -> Option<String>;

    /// Rows for what came since, best first.
    fn since(&self, table: &TablePlan) -> Vec<RowPlan>;
}

/// A table with the figures that its cells were made of.
#[derive(Debug, Clone)]
pub(super) struct Filled {
    pub table: TaskTable,
    /// Row by row, column by column.
    pub figures: Vec<Vec<Option<Figure>>>,
    /// What the task file calls the rows.
    pub labels: Vec<String>,
}

impl Filled {
    /// Returns the index of the row with this label.
    pub(super) fn place(&self, label: &str) -> Result<usize, String> {
        self.labels
            .iter()
            .position(|one| one == label)
            .ok_or_else(|| format!("there is no row \"{label}\""))
    }

    /// Returns the figure of a cell.
    pub(super) fn figure(&self, row: usize, column: usize) -> Result<&Figure, String> {
        self.figures[row][column]
            .as_ref()
            .ok_or_else(|| format!("\"{}\" was not measured", self.labels[row]))
    }
}

/// Returns everything that a task says about its measurement, except for the charts.
pub(super) fn task(plan: &Plan, results: &dyn Results, seed: u64) -> Task {
    let tables: Vec<Filled> = plan.table.iter().map(|one| table(one, results, seed)).collect();
    Task {
        name: plan.name.clone(),
        question: plan.question.clone(),
        source: plan.source.as_ref().map_or(String::new(), ToString::to_string),
        changed: plan
            .changed
            .iter()
            .map(|change| changed::sentence(change, &tables, seed))
            .collect(),
        crossings: plan
            .crossing
            .iter()
            .filter_map(|one| crossing::sentence(one, &tables, seed))
            .collect(),
        tables: tables.into_iter().map(|one| one.table).collect(),
        charts: Vec::new(),
    }
}

fn table(plan: &TablePlan, results: &dyn Results, seed: u64) -> Filled {
    let mut rows = plan.row.clone();
    let published = rows.len();
    rows.extend(results.since(plan));
    let found: Vec<Vec<Result<Figure, String>>> = rows
        .iter()
        .map(|row| plan.column.iter().map(|column| results.find(plan, row, column)).collect())
        .collect();
    let base =
        plan.baseline.as_ref().and_then(|label| rows.iter().position(|row| row.label == *label));
    let mut filled = Filled {
        table: TaskTable {
            title: plan.title.clone(),
            columns: plan
                .column
                .iter()
                .map(|column| Column {
                    name: column.name.clone(),
                    unit: column.unit.clone(),
                    less_is_better: column.less_is_better,
                })
                .collect(),
            rows: Vec::new(),
            baseline: None,
        },
        figures: Vec::new(),
        labels: rows.iter().map(|row| row.label.clone()).collect(),
    };
    for (place, row) in rows.iter().enumerate() {
        let cells = plan
            .column
            .iter()
            .enumerate()
            .map(|(at, column)| {
                let figure = found[place][at].as_ref().ok();
                let base_figure = base.and_then(|base| found[base][at].as_ref().ok());
                let number = |row: &RowPlan| column.published(*row.published.get(at)?);
                let then = number(row);
                let given = printed_ratio(row, at);
                Cell {
                    today: figure.map(|one| one.estimate(seed)),
                    today_ratio: figure
                        .zip(base_figure)
                        .map(|(one, base)| one.against(base, column.less_is_better, seed)),
                    published: then,
                    published_to: row.published_to.get(at).and_then(|to| column.published(*to)),
                    // Calculated only if the post prints no ratios in this column.
                    published_ratio: given.or_else(|| {
                        if rows.iter().any(|row| printed_ratio(row, at).is_some()) {
                            return None;
                        }
                        let base = number(&rows[base?])?;
                        Some(published_against(then?, base, column.less_is_better))
                    }),
                }
            })
            .collect();
        let name = match results.version(plan, row) {
            Some(version) if !version.is_empty() => format!("{} · {version}", row.label),
            _ => row.label.clone(),
        };
        if base == Some(place) {
            filled.table.baseline = Some(name.clone());
        }
        filled.table.rows.push(TaskRow {
            name,
            published: place < published
                && (!row.published.is_empty() || !row.published_ratio.is_empty()),
            cells,
            note: note(row, &found[place]),
        });
        filled.figures.push(found[place].iter().map(|one| one.clone().ok()).collect());
    }
    filled
}

/// Returns the ratio that the post prints in this column.
fn printed_ratio(row: &RowPlan, column: usize) -> Option<f64> {
    row.published_ratio.get(column).copied().filter(|one| !one.is_nan())
}

/// Returns the row's own note, and why cells are empty, each reason once.
fn note(row: &RowPlan, found: &[Result<Figure, String>]) -> Option<String> {
    let mut parts: Vec<&str> = row.note.as_deref().into_iter().collect();
    for why in found.iter().filter_map(|one| one.as_ref().err()) {
        if !why.is_empty() && !parts.contains(&why.as_str()) {
            parts.push(why);
        }
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}
