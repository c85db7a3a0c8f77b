//! Holds a founding comparison that was measured again: its tables and charts.

use serde::{Deserialize, Serialize};

use crate::model::stats::Estimate;

/// A founding comparison, measured again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its name: "marc-catalog" …
    pub name: String,
    /// The question that it answers.
    pub question: String,
    /// Where the published figures come from.
    pub source: String,
    /// Its tables: the same rows and columns as published, and what came since.
    pub tables: Vec<TaskTable>,
    /// Lines over a common axis.
    pub charts: Vec<Chart>,
    /// What has changed since, a sentence each.
    pub changed: Vec<String>,
    /// Where two alternatives cross as numbers grow, in a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossings: Vec<String>,
}

/// A table of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskTable {
    /// What it shows.
    pub title: String,
    /// The columns after the first, which names the row.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<TaskRow>,
    /// The row that ratios refer to.
    pub baseline: Option<String>,
}

/// A column of a task's table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its head.
    pub name: String,
    /// The unit of its numbers, as `table` prints them: "ns", "bytes", "per second", "ratio".
    pub unit: String,
    /// Whether less is better.
    pub less_is_better: bool,
}

/// A row of a task's table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRow {
    /// What it is: as the post calls it, with the library and version of today.
    pub name: String,
    /// Whether the post has it.
    pub published: bool,
    /// One for each column.
    pub cells: Vec<Cell>,
    /// Why there are no figures, or what to know about them.
    pub note: Option<String>,
}

/// A figure in a task's table, beside the published one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Measured now.
    pub today: Option<Estimate>,
    /// Measured now, against the table's baseline.
    pub today_ratio: Option<Estimate>,
    /// What the post says, in the same unit.
    pub published: Option<f64>,
    /// Its upper end, if the post gives a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_to: Option<f64>,
    /// The same against the post's own figure for the baseline.
    pub published_ratio: Option<f64>,
}

/// Lines over a common axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis, with its unit.
    pub x: Axis,
    /// The vertical axis, with its unit.
    pub y: Axis,
    /// The lines.
    pub lines: Vec<Line>,
}

/// An axis of a chart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What it counts.
    pub label: String,
    /// The unit, as of a table's column.
    pub unit: String,
    /// Whether equal steps are equal factors.
    pub log: bool,
}

/// A line of a chart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// What it is.
    pub name: String,
    /// Places on both axes, from left to right.
    pub points: Vec<[f64; 2]>,
}
