//! The contents of a task file, `lab/tasks/NAME.toml`, built into the binary.
//!
//! The numbers in it are the post's own, in the post's units; `unit` is the report's unit.
//! lab/README.md lists the keys.

use serde::Deserialize;

use crate::model::assets;

/// A task file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Plan {
    pub name: String,
    pub question: String,
    /// In which order `--task` lists it.
    pub order: u32,
    pub source: Option<SourcePlan>,
    pub data: Option<DataPlan>,
    pub operation: Operation,
    /// Seconds that its own data need; nothing for those of every measurement.
    pub budget: Option<u64>,
    /// Which contenders take part: `runtime/data`, `runtime/record` or `runtime/name`. All by
    /// default; none for programs.
    #[serde(default)]
    pub take_part: Vec<String>,
    #[serde(default)]
    pub program: Vec<ProgramPlan>,
    #[serde(default)]
    pub table: Vec<TablePlan>,
    #[serde(default)]
    pub chart: Vec<ChartPlan>,
    #[serde(default)]
    pub changed: Vec<ChangePlan>,
    #[serde(default)]
    pub crossing: Vec<CrossingPlan>,
}

impl Plan {
    /// Returns the contenders of rows with published figures, as `runtime/name`.
    pub(crate) fn published(&self) -> Vec<String> {
        let rows =
            self.table.iter().flat_map(|table| table.row.iter().map(move |row| (table, row)));
        rows.filter(|(_, row)| !row.published.is_empty() || !row.published_ratio.is_empty())
            .flat_map(|(table, row)| {
                let runtime = row.runtime.as_ref().or(table.runtime.as_ref());
                row.contender.iter().filter_map(move |name| Some(format!("{}/{name}", runtime?)))
            })
            .collect()
    }
}

/// The source of the published figures: a public reference.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct SourcePlan {
    pub title: String,
    pub date: Option<String>,
    pub author: Option<String>,
    pub site: Option<String>,
}

impl std::fmt::Display for SourcePlan {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "\"{}\"", self.title)?;
        for part in [&self.author, &self.site, &self.date].into_iter().flatten() {
            write!(out, ", {part}")?;
        }
        Ok(())
    }
}

/// The data: a kind of sample, unless the user names a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct DataPlan {
    /// A kind of `regauge sample`; without one the programs make their own objects.
    pub sample: Option<String>,
    /// How many documents, records or objects.
    pub documents: u64,
    /// What a step of a line counts.
    pub step: Option<u64>,
    /// Documents of a batch that is decoded at once.
    pub batch: Option<u64>,
    /// Whether the user's file may replace it.
    #[serde(default)]
    pub file: bool,
}

/// The operation on the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Operation {
    /// Decoding and encoding, as in every measurement.
    Codec,
    /// The same, and a thousand calls with a rehearsal, and batches.
    Calls,
    /// What the task's own programs do.
    Program,
}

/// A program of the task's own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ProgramPlan {
    /// "Ruby" or "Python"; "Rust" for one that the caller's own binary serves.
    pub runtime: String,
    /// Its path below `lab/tasks`; the name of one in Rust.
    pub file: String,
    /// How to install the interpreter.
    pub install: String,
}

/// A table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct TablePlan {
    pub title: String,
    /// The runtime of its rows, unless they name their own.
    pub runtime: Option<String>,
    /// The label of the row that ratios refer to.
    pub baseline: Option<String>,
    /// Whether every other contender that takes part (or every other format, of a table of
    /// references) gets a row below: `data` or `record`, what they give, or `formats`.
    pub since: Option<String>,
    pub column: Vec<ColumnPlan>,
    pub row: Vec<RowPlan>,
}

/// A column.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ColumnPlan {
    pub name: String,
    /// Which figure of a row it shows.
    pub figure: String,
    /// The end of the case's name, for programs.
    pub case: Option<String>,
    pub unit: String,
    /// The unit of the published numbers, if it differs.
    pub published_unit: Option<String>,
    #[serde(default = "yes")]
    pub less_is_better: bool,
}

fn yes() -> bool {
    true
}

impl ColumnPlan {
    /// Converts a published number to the report's unit.
    pub(crate) fn published(&self, number: f64) -> Option<f64> {
        let factor = match self.published_unit.as_deref() {
            Some("s") => 1e9,
            Some("ms") => 1e6,
            Some("MB") => 1e6,
            _ => 1.0,
        };
        // `nan` is a cell that the post leaves empty.
        (!number.is_nan()).then_some(number * factor)
    }
}

/// A row.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct RowPlan {
    /// As the post calls it.
    pub label: String,
    /// The contender's name; of several, the first that takes part.
    #[serde(default)]
    pub contender: Vec<String>,
    pub runtime: Option<String>,
    /// A format of the reference bytes, for sizes.
    pub format: Option<String>,
    /// A case of a program, and another that it is divided by.
    pub case: Option<String>,
    pub over: Option<String>,
    /// In the order of the columns; `nan` if there is none.
    #[serde(default)]
    pub published: Vec<f64>,
    /// The upper ends, if the post gives ranges.
    #[serde(default)]
    pub published_to: Vec<f64>,
    /// Ratios to the baseline as the post prints them; `nan` if it prints none.
    #[serde(default)]
    pub published_ratio: Vec<f64>,
    pub note: Option<String>,
}

/// Lines over the steps of a program.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ChartPlan {
    pub title: String,
    pub runtime: String,
    pub x: String,
    pub y: String,
    /// Cases, and what to call them.
    pub line: Vec<LinePlan>,
}

/// A line of a chart.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct LinePlan {
    pub name: String,
    pub case: String,
}

/// A sentence about what has changed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ChangePlan {
    /// The title of the table that it is about.
    pub table: String,
    /// The name of its column.
    pub column: String,
    /// Two rows to compare, by label; a row alone is a ratio itself; without any, the best then is
    /// compared with the best now.
    pub row: Option<String>,
    pub against: Option<String>,
    #[serde(default)]
    pub form: Form,
    /// The sentence for each outcome. `{row}`, `{against}`, `{then}`, `{now}`, `{trend}`; for the
    /// best: `{old}`, `{new}`, `{now}`.
    pub same: String,
    pub turned: String,
    pub close: String,
}

/// A sentence about two rows of a table whose columns have growing numbers ("10 tenants"): which of
/// the two is less, and where they cross.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct CrossingPlan {
    /// The title of the table.
    pub table: String,
    /// The row that the sentence is about, and the one that it is compared with.
    pub row: String,
    pub against: String,
    /// What the numbers count: "tenants".
    pub of: String,
    /// What the sentence begins with.
    pub words: String,
}

/// The wording of a ratio.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Form {
    /// "1.67x slower".
    #[default]
    Factor,
    /// "5.3% more".
    Percent,
}

/// Returns every task, in order.
pub(crate) fn all() -> Vec<Plan> {
    let mut plans: Vec<Plan> = assets::FILES
        .iter()
        .filter(|(path, _)| path.starts_with("tasks/") && path.ends_with(".toml"))
        .map(|(path, text)| {
            toml::from_str(text).unwrap_or_else(|error| {
                unreachable!("a test reads every task that is carried; {path}: {error}")
            })
        })
        .collect();
    plans.sort_by_key(|plan: &Plan| plan.order);
    plans
}
