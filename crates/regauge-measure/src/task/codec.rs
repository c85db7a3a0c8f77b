//! Tasks whose work is ordinary decoding and encoding: the cells come from the report's rows.

use std::collections::HashMap;

use crate::judge::summary;
use crate::model::report::{Report, Row};
use crate::model::runtime::Runtime;
use crate::model::wire::Gives;

use super::calls::Calls;
use super::figure::Figure;
use super::fill::Results;
use super::plan::{ColumnPlan, RowPlan, TablePlan};

/// A report, and for some tasks additional measurements.
pub(super) struct Codec<'r> {
    pub report: &'r Report,
    /// By runtime and contender.
    pub calls: HashMap<(Runtime, String), Calls>,
}

impl<'r> Codec<'r> {
    /// Returns the report's row for a row of a table: the first of its contenders that was run.
    fn row(&self, table: &TablePlan, row: &RowPlan) -> Option<&'r Row> {
        let runtime = row.runtime.as_deref().or(table.runtime.as_deref());
        row.contender.iter().find_map(|name| {
            self.report.rows.iter().find(|one| {
                one.contender == *name && runtime.is_none_or(|this| is(one.runtime, this))
            })
        })
    }

    /// Says why a contender has no figures.
    fn absent(&self, table: &TablePlan, row: &RowPlan) -> String {
        let runtime = row.runtime.as_deref().or(table.runtime.as_deref());
        let missing = row.contender.iter().find_map(|name| {
            self.report.missing.iter().find(|one| {
                one.contender == *name && runtime.is_none_or(|this| is(one.runtime, this))
            })
        });
        let fields = self.report.verdict.iter().flat_map(|verdict| &verdict.fields);
        let untimed = fields
            .filter(|field| runtime.is_none_or(|this| is(field.runtime, this)))
            .flat_map(|field| &field.not_timed)
            .find(|one| row.contender.contains(&one.contender));
        match (missing, untimed) {
            (Some(missing), _) => format!("not installed: {}", missing.install),
            (None, Some(untimed)) => format!("not timed: {}", untimed.why),
            (None, None) if row.contender.is_empty() => "not measured".to_owned(),
            (None, None) if runtime.is_some_and(|this| !self.has(this)) => {
                format!("no contender of {} took part", runtime.unwrap_or_default())
            }
            (None, None) => format!("{} did not take part", row.contender[0]),
        }
    }

    /// Returns whether any contender of this runtime was tried.
    fn has(&self, runtime: &str) -> bool {
        self.report.rows.iter().any(|one| is(one.runtime, runtime))
            || self.report.missing.iter().any(|one| is(one.runtime, runtime))
    }

    /// Times are of a part of long streams; published ones are of the whole.
    fn whole(&self) -> f64 {
        let timed = self.report.method.timed_documents.max(1);
        self.report.input.documents.max(1) as f64 / timed as f64
    }

    fn size(&self, row: &RowPlan, gzipped: bool) -> Result<Figure, String> {
        let format = row.format.as_deref().unwrap_or_default();
        self.report
            .references
            .iter()
            .find(|one| one.format == format)
            .map(|one| Figure::exact(if gzipped { one.gzip_bytes } else { one.bytes } as f64))
            .ok_or_else(|| format!("the data was not written as {format}"))
    }
}

fn is(runtime: Runtime, name: &str) -> bool {
    runtime.name().eq_ignore_ascii_case(name)
}

impl Results for Codec<'_> {
    fn find(
        &self,
        table: &TablePlan,
        row: &RowPlan,
        column: &ColumnPlan,
    ) -> Result<Figure, String> {
        let figure = column.figure.as_str();
        let found = self.row(table, row);
        if matches!(figure, "bytes" | "gzip-bytes") {
            let gzipped = figure == "gzip-bytes";
            let written = found
                .and_then(|one| if gzipped { one.output_gzip_bytes } else { one.output_bytes });
            return match written {
                Some(bytes) => Ok(Figure::exact(bytes as f64)),
                None if row.format.is_some() => self.size(row, gzipped),
                None => Err(self.absent(table, row)),
            };
        }
        let Some(found) = found else { return Err(self.absent(table, row)) };
        if let Some(failure) = &found.failure {
            let late = ["the budget ran out", "the run was", "gave no answer", "did not start"];
            let is_late = late.iter().any(|words| failure.starts_with(words));
            let what = if is_late { "not timed" } else { "failed" };
            return Err(format!("{what}: {failure}"));
        }
        if !found.wrong.is_empty() {
            return Err(format!(
                "returned wrong data in {} documents, so it was not timed",
                found.wrong_documents
            ));
        }
        let Some(timing) = &found.timing else { return Err("was not timed".to_owned()) };
        let (decode, encode) = (summary::list(&timing.decode), summary::list(&timing.encode));
        let whole = self.whole();
        match figure {
            "decode" => Ok(Figure::sum(vec![decode]).times(whole)),
            "encode" => Ok(Figure::sum(vec![encode]).times(whole)),
            "total" => Ok(Figure::sum(vec![decode, encode]).times(whole)),
            other => {
                let calls = self.calls.get(&(found.runtime, found.contender.clone()));
                calls
                    .and_then(|calls| calls.figure(other))
                    .ok_or_else(|| "was not timed".to_owned())
            }
        }
    }

    fn version(&self, table: &TablePlan, row: &RowPlan) -> Option<String> {
        let found = self.row(table, row)?;
        let named = row.label.eq_ignore_ascii_case(&found.contender);
        // The label of the post, and the contender that represents it today.
        Some(match named {
            true => found.version.clone(),
            false => format!("{} {}", found.contender, found.version).trim_end().to_owned(),
        })
    }

    fn since(&self, table: &TablePlan) -> Vec<RowPlan> {
        let Some(since) = table.since.as_deref() else { return Vec::new() };
        if since == "formats" {
            return self
                .report
                .references
                .iter()
                .filter(|one| {
                    // A format that already has a row from the post is not new.
                    let named = |row: &RowPlan| {
                        row.format.as_deref() == Some(&one.format)
                            || self.row(table, row).is_some_and(|row| row.format == one.format)
                    };
                    !table.row.iter().any(named)
                })
                .map(|one| {
                    // Bytes that only a contender's own runtime can write are listed under its
                    // name.
                    let wrote = |row: &&Row| {
                        one.written_by == format!("{} ({})", row.contender, row.runtime.name())
                    };
                    match self.report.rows.iter().find(wrote) {
                        Some(row) => RowPlan {
                            label: row.contender.clone(),
                            contender: vec![row.contender.clone()],
                            runtime: Some(row.runtime.name().to_owned()),
                            ..RowPlan::default()
                        },
                        None => RowPlan {
                            label: one.format.clone(),
                            format: Some(one.format.clone()),
                            ..RowPlan::default()
                        },
                    }
                })
                .collect();
        }
        let gives: &[Gives] = match since {
            "record" => &[Gives::Record],
            _ => &[Gives::Data, Gives::Tree],
        };
        let taken: Vec<&str> = table
            .row
            .iter()
            .filter_map(|row| self.row(table, row))
            .map(|one| one.contender.as_str())
            .collect();
        let time = |row: &Row| row.timing.as_ref().map_or(f64::INFINITY, |one| one.total_ns.median);
        let mut rows: Vec<&Row> = self
            .report
            .rows
            .iter()
            .filter(|row| gives.contains(&row.gives) && !taken.contains(&row.contender.as_str()))
            .filter(|row| table.runtime.as_deref().is_none_or(|this| is(row.runtime, this)))
            .collect();
        rows.sort_by(|one, other| time(one).total_cmp(&time(other)));
        rows.into_iter()
            .map(|row| RowPlan {
                label: row.contender.clone(),
                contender: vec![row.contender.clone()],
                runtime: Some(row.runtime.name().to_owned()),
                ..RowPlan::default()
            })
            .collect()
    }
}
