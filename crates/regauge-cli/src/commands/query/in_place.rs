//! `regauge query --in-place`: changes files, and keeps every byte that need not change.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use regauge::{Error, ErrorKind, Format, Options, Result as Edited, Value, edit, excerpt};
use regauge_query::{Stage, on_large_stack};

use super::{Query, exit_status, settings, text_of};
use crate::args::When;
use crate::commands::convert::{self, is_stream};
use crate::failure::{Failure, Result};
use crate::output::Destination;
use crate::progress::Meter;

/// Changes each file on its own. One that fails is left as it is, and the others are changed.
pub fn run(arguments: &mut Query) -> Result {
    check(arguments)?;
    let files = take_files(arguments)?;
    let Some(stage) = arguments.convert.filter.stage(settings(arguments))? else { return Ok(()) };
    if stage.reads_inputs() {
        return Err(Failure::usage(
            "--in-place changes each document on its own, so the filter cannot call `input` or `inputs`",
        ));
    }
    let mut failed = None;
    for path in &files {
        if let Err(failure) = change(path, arguments, &stage) {
            failure.report();
            failed.get_or_insert(failure.status());
        }
    }
    match failed {
        Some(status) => Err(Failure::Quiet(status)),
        None => exit_status(arguments.exit_status.then_some(&*stage)),
    }
}

/// Refuses options that need an output of its own, and says why.
fn check(arguments: &Query) -> Result {
    let convert = &arguments.convert;
    let reasons = [
        (
            convert.to.is_some(),
            "--to",
            "a file that is changed keeps its format; name another file to write",
        ),
        (arguments.slurp, "--slurp", "each document is changed on its own"),
        (arguments.null_input, "--null-input", "without an input there is nothing to change"),
        (
            arguments.raw_output,
            "--raw-output",
            "text without quotes would be read as something else",
        ),
        (
            convert.filter.each.is_some(),
            "--each",
            "a document gets one new value; change its parts with |=, as in '.items[] |= …'",
        ),
    ];
    match reasons.iter().find(|(given, ..)| *given) {
        Some((_, option, reason)) => {
            Err(Failure::usage(format!("--in-place cannot be used with {option}: {reason}")))
        }
        None => Ok(()),
    }
}

/// Finds the filter, the first argument or a file, and the files to change: all other arguments.
fn take_files(arguments: &mut Query) -> Result<Vec<PathBuf>> {
    if arguments.convert.filter.filter.is_some() {
        return Err(Failure::usage("the filter of `query` is its first argument; drop --filter"));
    }
    let program = arguments.program.take();
    let mut files = Vec::new();
    arguments.convert.filter.filter = match &arguments.from_file {
        Some(path) => {
            files.extend(program.map(PathBuf::from));
            Some(text_of(path)?)
        }
        None => program,
    };
    if arguments.convert.filter.filter.is_none() {
        return Err(Failure::usage("no filter was given, and no file to change"));
    }
    let convert = &arguments.convert;
    // Both are `-` if they were not given.
    let rest = [&convert.input, &convert.output].into_iter().filter(|path| !is_stream(path));
    files.extend(rest.chain(&arguments.more).cloned());
    if files.is_empty() || files.iter().any(|path| is_stream(path)) {
        return Err(Failure::usage(
            "--in-place changes files, and standard input is none; name the files to change",
        ));
    }
    Ok(files)
}

/// Changes a file, unless the filter leaves its values as they are.
fn change(path: &Path, arguments: &Query, stage: &Stage) -> Result {
    let meter = Meter::new(When::Never, true);
    let source = convert::open(path, &arguments.convert.reading, meter)?;
    let name = &source.name;
    if source.compression.is_some() || !source.can_repeat() {
        let what = if source.compression.is_some() { "compressed" } else { "no regular file" };
        return Err(Failure::usage(format!(
            "{name}: is {what}, and cannot be changed in place; leave out --in-place and name \
             another file to write"
        )));
    }
    if let Some(table) = source.table {
        return Err(Failure::usage(format!(
            "{name}: is {}, and cannot be changed in place; leave out --in-place and name another file to write",
            table.title
        )));
    }
    let options = convert::options(&arguments.convert, &source, source.format)?;
    let mut bytes = Vec::new();
    // One byte more shows that there are too many.
    let most = options.limits.record_bytes.saturating_add(1);
    let read = source.again().and_then(|read| read.take(most).read_to_end(&mut bytes));
    read.map_err(|error| Failure::io(name, &error))?;
    let edited = on_large_stack(|| edit_with(&bytes, &options, stage));
    let edited = edited.map_err(|error| Failure::data(name, located(error, &bytes)))?;
    let Some(edited) = edited else { return Ok(()) };
    source.close();
    let destination = Destination::open(path, true)?;
    destination.write_all(&edited)?;
    destination.commit()
}

/// Runs the filter over each document of a file.
fn edit_with(bytes: &[u8], options: &Options, stage: &Stage) -> Edited<Option<Vec<u8>>> {
    let mut count = 0_u64;
    let edited = edit(bytes, options, &mut |document: &Value| {
        count += 1;
        let mut outputs = stage.over(document)?;
        match (outputs.pop(), outputs.len()) {
            (Some(output), 0)
                if options.json_read.exact_numbers && options.from != Format::Toml =>
            {
                Ok(with_decimals(output))
            }
            (Some(output), 0) => Ok(output),
            (last, before) => Err(Error::new(
                ErrorKind::Data,
                format!(
                    "the filter gave {} outputs for a document, and --in-place needs one to put in \
                     its place",
                    before + usize::from(last.is_some())
                ),
            )),
        }
    })?;
    // A file of comments would stay as it is without a word.
    if count == 0 && options.from != Format::Ndjson {
        let message = "found no document, expected one to change; write a first one, such as {}";
        return Err(Error::new(ErrorKind::Data, message));
    }
    Ok(edited)
}

/// Adds line, column and excerpt to an error with an offset.
fn located(error: Error, bytes: &[u8]) -> Error {
    let place = error.offset().and_then(|offset| excerpt::place(bytes, offset, true).ok());
    let Some(place) = place else { return error };
    let error = match place.line_column {
        Some((line, column)) => error.at_line(line, column),
        None => error,
    };
    error.with_excerpt(place.excerpt)
}

/// Returns a value with its doubles as `--numbers exact` reads them back from JSON and YAML.
fn with_decimals(value: Value) -> Value {
    match value {
        Value::F64(v) if v.is_finite() => Value::Decimal(format!("{v:?}")),
        Value::Array(values) => values.into_iter().map(with_decimals).collect(),
        Value::Map(pairs) => {
            Value::Map(pairs.into_iter().map(|(key, one)| (key, with_decimals(one))).collect())
        }
        Value::Typed(of, inside) => Value::Typed(of, Box::new(with_decimals(*inside))),
        value => value,
    }
}
