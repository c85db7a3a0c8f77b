//! The filter of `convert` and `query`.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use regauge::{Format, Options, Value, read_values};
use regauge_query::{Each, Filter, Settings, Stage};

use crate::failure::{Failure, Result};
use crate::words;

/// What changes the documents on the way.
#[derive(Debug, Args)]
#[group(skip)]
pub struct FilterFlags {
    /// Run this filter of the jq language over each document, and write its outputs: `regauge query
    /// --help`
    #[arg(help_heading = "Filter", long, value_name = "FILTER")]
    pub filter: Option<String>,
    /// Run the filter over each value at a path such as .items[], and hold only that in memory:
    /// for one large document
    #[arg(help_heading = "Filter", long, value_name = "PATH")]
    pub each: Option<Each>,
    /// Set the variable $NAME to a text; repeatable
    #[arg(help_heading = "Filter", long, num_args = 2, value_names = ["NAME", "TEXT"])]
    pub arg: Vec<String>,
    /// Set the variable $NAME to a value written as JSON; repeatable
    #[arg(help_heading = "Filter", long, num_args = 2, value_names = ["NAME", "JSON"])]
    pub argjson: Vec<String>,
}

impl FilterFlags {
    /// Returns the filter with its settings; `None` without one.
    ///
    /// # Errors
    /// `Usage` if the filter or a variable is wrong.
    pub fn stage(&self, settings: Settings) -> Result<Option<Arc<Stage>>> {
        let settings = Settings { each: self.each.clone(), ..settings };
        let Some(text) = &self.filter else {
            if self.each.is_some() || !self.arg.is_empty() || !self.argjson.is_empty() {
                return Err(Failure::usage("--each, --arg and --argjson need --filter"));
            }
            return Ok(None);
        };
        let mut named = Vec::new();
        for pair in self.arg.chunks(2) {
            named.push((name("--arg", &pair[0])?, Value::from(pair[1].as_str())));
        }
        for pair in self.argjson.chunks(2) {
            let value = json(&pair[0], &pair[1], settings.exact_numbers)?;
            named.push((name("--argjson", &pair[0])?, value));
        }
        let mut variables = named.clone();
        let pairs = named.into_iter();
        let arguments = [
            ("positional", Value::Array(Vec::new())),
            ("named", Value::Map(pairs.map(|(name, value)| (Value::from(name), value)).collect())),
        ];
        variables.push(("ARGS", Value::from_iter(arguments)));
        let environment = std::env::vars_os().map(|(name, value)| {
            let text = |one: std::ffi::OsString| Value::from(one.to_string_lossy().into_owned());
            (text(name), text(value))
        });
        variables.push(("ENV", Value::Map(environment.collect())));
        let compiled = |text| {
            Filter::compile(text, &variables).map_err(|fault| match Path::new(text).is_file() {
                true => Failure::usage(format!(
                    "found the file {text}, expected a filter; `query` takes the filter first, then \
                     the files"
                )),
                false => Failure::Filter(fault.message(), fault.excerpt()),
            })
        };
        let filter = compiled(text)?;
        let may_split = settings.each.is_none() && !settings.slurp && !settings.null_input;
        let (filter, each) = match Each::split(text) {
            Some((each, rest)) if may_split && !filter.reads_inputs() => {
                (compiled(rest)?, Some(each))
            }
            _ => (filter, settings.each),
        };
        Ok(Some(Arc::new(filter.into_stage(Settings { each, ..settings }))))
    }
}

/// Returns the name of a variable, if a filter can call it so.
fn name<'n>(option: &str, name: &'n str) -> Result<&'n str> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.chars().all(is_letter)
        || name.starts_with(|c: char| c.is_ascii_digit())
        || name.is_empty()
    {
        return Err(Failure::usage(format!(
            "{option}: found the name {name:?}, expected letters, digits and _, the first of them no digit"
        )));
    }
    match name {
        "ENV" => Err(Failure::usage(format!(
            "{option}: $ENV is the environment of the command; choose another name"
        ))),
        name => Ok(name),
    }
}

/// Parses the value of a variable.
fn json(name: &str, text: &str, exact_numbers: bool) -> Result<Value> {
    let mut options = Options::new(Format::Json, Format::Json);
    options.json_read.exact_numbers = exact_numbers;
    let mut values = read_values(text.as_bytes(), &options)
        .map_err(|error| Failure::usage(format!("--argjson {name}: {}", words::text(&error))))?;
    Ok(values.pop().unwrap_or(Value::Null))
}
