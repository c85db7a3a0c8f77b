//! `regauge report`: a saved measurement as page, tables and charts.

use std::fs;
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use regauge_measure::report::SCHEMA;
use regauge_report::{Destination, Error, Layout, PAGE, View, render, screen};
use serde_json::Value;

use crate::args::Report;
use crate::failure::{Failure, Result};
use crate::output;
use crate::report::print;

/// Reads a measurement, and shows it or writes the report.
pub fn run(arguments: &Report) -> Result {
    let name = arguments.input.display().to_string();
    let out = arguments.out.as_deref().map(|out| open(out, arguments.force)).transpose()?;
    let text = if arguments.input == Path::new("-") {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(&arguments.input)
    };
    let text = text.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::usage(format!("{name}: no such file")),
        _ => Failure::io(&name, &error),
    })?;
    let report = read(&text).map_err(|reason| Failure::Io(format!("{name}: {reason}")))?;
    match out {
        Some(out) => print(format!("{}\n", put(out, &report)?.display()).as_bytes()),
        None => print(told(&report, arguments.full, 0).as_bytes()),
    }
}

/// Returns the first screen of a report, and with `full` all tables below it. `reserved` lines of the
/// screen are the caller's.
pub fn told(report: &regauge_measure::Report, full: bool, reserved: usize) -> String {
    let layout = layout();
    // <https://no-color.org>
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let takes_colours = std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb");
    let colours = layout.lines && wanted && takes_colours && regauge_os::takes_escapes();
    let mut text = screen(report, View { width: layout.width, full, colours, reserved });
    if full {
        text.push('\n');
        text.push_str(&render(report, layout));
    }
    text
}

/// Returns what fits on standard output.
pub fn layout() -> Layout {
    let is_terminal = io::stdout().is_terminal();
    let size = terminal_size::terminal_size_of(io::stdout());
    Layout { width: size.map(|(width, _)| width.0), lines: is_terminal }
}

/// Where a report goes.
pub enum Out {
    /// Page, tables, charts and results, in a folder.
    Folder(Destination),
    /// The page alone, and its path.
    Page(output::Destination, PathBuf),
}

/// Opens a folder for a report, or a file for its page if the name ends in `.html`.
pub fn open(out: &Path, force: bool) -> Result<Out> {
    let is_page = out.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("html"));
    // A folder that has such a name already is one.
    if is_page && !out.is_dir() {
        return Ok(Out::Page(output::Destination::open(out, force)?, out.to_owned()));
    }
    Destination::open(out, force).map(Out::Folder).map_err(failure)
}

/// Writes the report and returns the path of its page.
pub fn put(out: Out, report: &regauge_measure::Report) -> Result<PathBuf> {
    match out {
        Out::Folder(folder) => {
            let files = regauge_report::files(report).map_err(failure)?;
            folder.put(&files).map_err(failure)?;
            Ok(folder.folder().join(PAGE))
        }
        Out::Page(file, path) => {
            file.write_all(regauge_report::page(report).as_bytes())?;
            file.commit()?;
            Ok(path)
        }
    }
}

fn failure(error: Error) -> Failure {
    match error {
        Error::NotEmpty(_) | Error::Foreign { .. } | Error::NotAFolder(_) => Failure::usage(error),
        other => Failure::Io(other.to_string()),
    }
}

/// Parses results of this version, or of another with the same shape as far as we read it.
fn read(text: &str) -> std::result::Result<regauge_measure::Report, String> {
    let wrong = match serde_json::from_str(text) {
        Ok(report) => return Ok(report),
        Err(wrong) => wrong,
    };
    let what_to_do = "name what `regauge measure --json FILE` wrote";
    let schema = match serde_json::from_str::<Value>(text) {
        Err(wrong) => return Err(format!("found no JSON ({wrong}); {what_to_do}")),
        Ok(value) => value.get("schema").and_then(Value::as_str).map(str::to_owned),
    };
    match schema.as_deref() {
        Some(SCHEMA) => Err(format!("{wrong}; the file was changed after it was written")),
        Some(other) if other.starts_with("regauge-measure/") => Err(format!(
            "found schema {other}, expected {SCHEMA} ({wrong}); measure again, or use the version \
             of regauge that wrote it"
        )),
        _ => Err(format!("found JSON that is not a measurement; {what_to_do}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_measurement_is_refused_with_what_to_do() {
        let check = |text: &str, expected: &str| {
            let message = read(text).unwrap_err();
            assert!(message.contains(expected), "{message}");
        };
        check("{\"a\": 1", "found no JSON");
        check("[1]", "found JSON that is not a measurement; name what");
        check("{\"schema\": 1}", "found JSON that is not a measurement");
        check("{\"schema\": \"regauge-measure/1\"}", "found schema regauge-measure/1, expected");
        check(&format!("{{\"schema\": \"{SCHEMA}\"}}"), "missing field");
    }
}
