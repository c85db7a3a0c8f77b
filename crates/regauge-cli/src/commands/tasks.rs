//! `regauge measure --task`: the published comparisons, by name.

use std::fmt::Write as _;

use regauge_measure::{Error, Options, Progress, Report, task};

use crate::args::Measure;
use crate::failure::{Failure, Result};
use crate::report::print;

/// Returns whether there is a task of this name.
pub fn is_one(name: &str) -> bool {
    task::list().iter().any(|one| one.name == name)
}

/// Lists the tasks; an unknown name is wrong usage.
pub fn list(name: &str) -> Result {
    let tasks = task::list();
    let width = tasks.iter().map(|one| one.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for one in tasks {
        let file = if one.needs_file { " (needs a FILE)" } else { "" };
        let _ = writeln!(text, "  {:width$}  {}{file}", one.name, one.question);
    }
    if name.is_empty() {
        return print(format!("Tasks, each for `regauge measure --task NAME`:\n{text}").as_bytes());
    }
    Err(Failure::usage(format!("found task \"{name}\", expected one of\n{}", text.trim_end())))
}

/// Measures a task.
pub fn measure(
    name: &str,
    arguments: &Measure,
    options: &Options,
    progress: &mut dyn Progress,
) -> std::result::Result<Report, Error> {
    let mut request = task::Request::default();
    name.clone_into(&mut request.name);
    request.file = arguments.input.is_some();
    request.records = arguments.records;
    request.budget = arguments.budget.is_some() || arguments.quick;
    task::run(&request, options, progress)
}
