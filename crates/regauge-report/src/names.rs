//! Names of things in tables and charts.

use regauge_measure::report::Row;
use regauge_measure::{Gives, Report, Runtime, is_in};

/// Returns the name of a group of rows that may be compared: "CPython 3.11.7, to plain values".
pub fn group(report: &Report, runtime: Runtime, gives: Gives) -> String {
    let version = report
        .rows
        .iter()
        .filter(|row| is_in(row, runtime, gives))
        .map(|row| row.runtime_version.as_str())
        .find(|version| !version.is_empty())
        .unwrap_or(runtime.name());
    format!("{version}, to {}", gives.what())
}

/// Returns a contender with its version.
pub fn versioned(row: &Row) -> String {
    format!("{} {}", row.contender, row.version).trim_end().to_owned()
}
