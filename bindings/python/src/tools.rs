//! Operations without Python objects: conversion, inspection, detection. The GIL is released
//! meanwhile.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use regauge::Format;
use regauge::convert::{self, Input as CoreInput, Options, Summary};
use regauge::detect::HEAD_BYTES;
use regauge::envelope::{self, Peeled};
use regauge::hint::literals;
use regauge::options::{Language, OPTIONS, Opt, Row};
use regauge::output::{FileOutput, Output as _};
use regauge::shape::{self, Shape};
use regauge::stage::Stage;
use regauge_os::NewFile;

use crate::enveloped;
use crate::errors::{self, Way};
use crate::interrupt::{Stop, interruptible};
use crate::map::Map;
use crate::options::{self, For, Given, Keywords};
use crate::raw::bytes::Input;
use crate::stream;

/// A row of the core's table, for the tests: the keyword in a format's module and in functions of all
/// formats, the old names in both, the values in Python notation, the side ("Read", "Write", "Both",
/// "Convert"), and the formats (none means all).
type TableRow =
    (&'static str, &'static str, [Vec<&'static str>; 2], Vec<String>, String, Vec<&'static str>);

/// Returns the core's table of options for the tests.
#[pyfunction]
pub fn option_table() -> Vec<TableRow> {
    let rows = OPTIONS.iter().filter_map(|row| {
        let name = row.spelled(Language::Python, false)?;
        Some((name, row.spelled(Language::Python, true)?, row))
    });
    let formats = |row: &Row| row.formats.iter().map(|of| of.name()).collect();
    rows.map(|(name, full, row)| {
        let old = [false, true].map(|of| row.old_names(Language::Python, of).collect());
        let values = literals(row.opt, Language::Python);
        (name, full, old, values, format!("{:?}", row.side), formats(row))
    })
    .collect()
}

/// Returns the keyword arguments of `loads`, `dumps` or `events` of a format, for the tests.
#[pyfunction]
pub fn keywords(function: &str, format: &str) -> PyResult<Vec<&'static str>> {
    let purpose = match function {
        "loads" => For::Loading,
        "dumps" => For::Dumping,
        _ => For::Events,
    };
    Ok(Keywords::new(purpose, stream::format(format)?, false).names())
}

/// Detects the format of these bytes: its name, or `None`.
#[pyfunction]
pub fn detect(data: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
    let input = Input::new(data)?;
    let bytes = input.as_slice();
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    Ok(Format::from_magic(head).map(Format::name))
}

/// Detects the format from a file's name or its first bytes: its name, or `None`. Raises
/// `DecodeError` if the two contradict each other.
#[pyfunction]
pub fn detect_path(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Option<&'static str>> {
    Ok(of_path(py, &path, Keywords::NONE)?.map(Format::name))
}

fn of_path(py: Python<'_>, path: &Path, keywords: Keywords) -> PyResult<Option<Format>> {
    let (head, _) = enveloped::head(path).map_err(|error| errors::of_file(&error, path))?;
    regauge::detect::detect(&file_name(path), &head)
        .map_err(|error| errors::exception(py, &error, Way::Decode, keywords))
}

fn file_name(path: &Path) -> Cow<'_, str> {
    path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default()
}

/// Returns the format of this name, or the one detected from the file.
fn source_format(
    py: Python<'_>,
    (argument, name): (&str, Option<&str>),
    path: &Path,
    keywords: Keywords,
) -> PyResult<Format> {
    match name {
        Some(name) => stream::format(name),
        None => of_path(py, path, keywords)?.ok_or_else(|| unknown(path, argument)),
    }
}

#[cold]
fn unknown(path: &Path, argument: &str) -> PyErr {
    PyValueError::new_err(format!(
        "found no format in the name of {}; pass {argument}= with one of {}",
        path.display(),
        Format::ALL.map(Format::name).join(", ")
    ))
}

const LAST_OF_MAP: &str = "found 'last' as duplicate_keys, which says what the function of map= gets, expected 'keep' or \
                           'refuse' without map=";

/// Puts the caller's function between reader and writer.
///
/// # Errors
/// `TypeError` for what is no function, `ValueError` for an option that needs one.
fn mapped(
    function: Option<Bound<'_, PyAny>>,
    arguments: Option<&Bound<'_, PyDict>>,
    converting: &mut Options,
) -> PyResult<Option<Arc<Map>>> {
    let name = Opt::DuplicateKeys.name(Language::Python).unwrap_or_default();
    let given = arguments.map(|arguments| arguments.get_item(name)).transpose()?.flatten();
    // Not "keep", which no dict can.
    let takes_last = given.is_some_and(|word| word.eq("last").unwrap_or(false));
    let Some(function) = function else {
        return match takes_last {
            true => Err(PyValueError::new_err(LAST_OF_MAP)),
            false => Ok(None),
        };
    };
    options::function("map", &function)?;
    let map = Arc::new(Map::new(function, converting, takes_last));
    converting.stage = Some(Arc::clone(&map) as Arc<dyn Stage>);
    Ok(Some(map))
}

/// Returns the exception for a conversion that failed: the function's own, if it raised one.
fn failed(py: Python<'_>, error: &regauge::Error, map: Option<&Map>, from: Format) -> PyErr {
    map.and_then(Map::raised).unwrap_or_else(|| {
        errors::exception(py, error, way(error), Keywords::new(For::Converting, from, true))
    })
}

/// Converts a file, and returns a summary: a dict with `documents`, `bad_records` and `losses`,
/// and with a selection the rules that are `unmatched`.
#[pyfunction]
#[pyo3(signature = (source, target, from_, to, arguments = None, map = None))]
pub fn convert_file<'py>(
    py: Python<'py>,
    source: std::path::PathBuf,
    target: std::path::PathBuf,
    from_: Option<&str>,
    to: Option<&str>,
    arguments: Option<&Bound<'py, PyDict>>,
    map: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let keywords = Keywords::new(For::Converting, Format::Json, true);
    let to = match to {
        Some(to) => stream::format(to)?,
        None => Format::from_name(&file_name(&target)).ok_or_else(|| unknown(&target, "to"))?,
    };
    let parse = |from| Given::parse(from, to, For::Converting, true, arguments);
    let raised = |error| errors::exception(py, &error, Way::Decode, keywords);
    let named = from_.map(stream::format).transpose()?;
    let told = named.or_else(|| Format::from_name(&file_name(&source)));
    let wanted = parse(told.unwrap_or(to))?.options;
    let (head, is_whole) =
        enveloped::head(&source).map_err(|error| errors::of_file(&error, &source))?;
    let mut peeled = None;
    if enveloped::may_peel(&head, is_whole, told, &wanted) {
        let bytes = envelope::read_all(errors::open(&source)?, &wanted.limits).map_err(raised)?;
        peeled = match py.detach(|| enveloped::peel(bytes, told, &wanted)).map_err(raised)? {
            Peeled::Opened(opened) => Some(opened),
            Peeled::Bare(_) => None,
        };
    }
    let from = match (named, &peeled) {
        (None, Some(opened)) => opened.format,
        _ => source_format(py, ("from_", from_), &source, keywords)?,
    };
    let mut options = as_converted(parse(from)?.options);
    let map = mapped(map, arguments, &mut options)?;
    if source.canonicalize().ok() == target.canonicalize().ok() && target.exists() {
        return Err(PyValueError::new_err("found the same file as source and target"));
    }
    let new = NewFile::create(&target).map_err(|error| errors::of_file(&error, &target))?;
    let work = |stop: &Stop| {
        let open = || stop.open(&source);
        let mut output = FileOutput::new(new.file().try_clone()?)?;
        let summary = match &peeled {
            None => convert::convert(CoreInput::Again(&open), output, &options, &mut |_| Ok(()))?,
            Some(opened) => {
                let (bytes, summary) = enveloped::convert(opened, &options)?;
                output.write(&bytes)?;
                summary
            }
        };
        new.commit()?;
        Ok(summary)
    };
    let done = match &map {
        // Python handles signals itself where it runs the function.
        Some(_) => py.detach(|| work(&Stop::default())),
        None => interruptible(py, &source, work)?,
    };
    let summary = done.map_err(|error| failed(py, &error, map.as_deref(), from))?;
    report(py, &summary, &options)
}

/// A conversion behaves like the command, not like functions that build Python objects.
fn as_converted(mut options: Options) -> Options {
    options.pickle.exact = false;
    options.json_write.exact_numbers = options.json_read.exact_numbers;
    options.yaml_write.exact_numbers = options.json_read.exact_numbers;
    options
}

fn way(error: &regauge::Error) -> Way {
    match error.kind() {
        regauge::ErrorKind::Refused | regauge::ErrorKind::Unrepresentable => Way::Encode,
        _ => Way::Decode,
    }
}

/// Converts bytes. Without `from_`, their format is detected, or told by their envelope.
#[pyfunction]
#[pyo3(signature = (data, from_, to, arguments = None, map = None))]
pub fn convert_bytes<'py>(
    data: &Bound<'py, PyAny>,
    from_: Option<&str>,
    to: &str,
    arguments: Option<&Bound<'py, PyDict>>,
    map: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = data.py();
    let (told, to) = (from_.map(stream::format).transpose()?, stream::format(to)?);
    let parse = |from| Given::parse(from, to, For::Converting, true, arguments);
    // A copy, because Python's memory must not be referenced while other threads run.
    let bytes = Input::new(data)?.as_slice().to_vec();
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let detected = Format::from_magic(head);
    let mut given = parse(told.or(detected).unwrap_or(to))?;
    let is_whole = head.len() == bytes.len();
    let peeled = match enveloped::may_peel(head, is_whole, told, &given.options) {
        true => {
            let wanted = &given.options;
            py.detach(|| enveloped::peel(bytes, told.or(detected), wanted))
                .map_err(|error| errors::exception(py, &error, Way::Decode, given.keywords))?
        }
        false => Peeled::Bare(bytes),
    };
    let inside = match &peeled {
        Peeled::Opened(opened) => Some(opened.format),
        Peeled::Bare(_) => detected,
    };
    let Some(from) = told.or(inside) else {
        let names = Format::ALL.map(Format::name).join(", ");
        return Err(PyValueError::new_err(format!(
            "found no format in the first bytes; pass from_ with one of {names}"
        )));
    };
    if from != given.options.from {
        given = parse(from)?;
    }
    let mut options = as_converted(given.options);
    let map = mapped(map, arguments, &mut options)?;
    let done = py.detach(|| match &peeled {
        Peeled::Bare(bytes) => convert::convert_bytes(bytes, &options),
        Peeled::Opened(opened) => enveloped::convert(opened, &options).map(|(bytes, _)| bytes),
    });
    match done {
        Ok(bytes) => Ok(PyBytes::new(py, &bytes)),
        Err(error) => Err(failed(py, &error, map.as_deref(), from)),
    }
}

fn report<'py>(
    py: Python<'py>,
    summary: &Summary,
    options: &Options,
) -> PyResult<Bound<'py, PyDict>> {
    let losses = PyDict::new(py);
    for loss in summary.fidelity.losses() {
        losses.set_item(loss.kind.name(), loss.count)?;
    }
    let report = PyDict::new(py);
    report.set_item("documents", summary.documents)?;
    report.set_item("bad_records", summary.bad_records)?;
    report.set_item("exact", summary.fidelity.is_exact())?;
    report.set_item("losses", losses)?;
    if !options.select.is_empty() {
        let rules = summary.matches.unmatched(&options.select).map(ToString::to_string);
        report.set_item("unmatched", rules.collect::<Vec<_>>())?;
    }
    Ok(report)
}

/// Describes a file: its types, paths, sizes and depth, as a dict.
#[pyfunction]
#[pyo3(signature = (path, format = None, arguments = None))]
pub fn inspect_file<'py>(
    py: Python<'py>,
    path: std::path::PathBuf,
    format: Option<&str>,
    arguments: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let format = source_format(py, ("format", format), &path, Keywords::NONE)?;
    let given = Given::parse(format, format, For::Loading, true, arguments)?;
    let keywords = given.keywords;
    let mut options = as_converted(given.options);
    // Continue if possible: a broken record is exactly what the user wants to see.
    options.skip_bad = Opt::Bad.row().is_for(format);
    options.report = true;
    let mut shape = Shape::new(format);
    let mut bad = Vec::new();
    let ran = interruptible(py, &path, |stop| {
        let open = || stop.open(&path);
        open()?;
        convert::read(CoreInput::Again(&open), &options, &mut shape, &mut |one| {
            if bad.len() < BAD_SHOWN {
                bad.extend(one.error.map(|error| errors::text(&error, keywords)));
            }
            Ok(())
        })
    })?;
    let summary = ran.map_err(|error| errors::exception(py, &error, Way::Decode, keywords))?;
    let found = PyDict::new(py);
    found.set_item("format", format.name())?;
    found.set_item("documents", shape.documents())?;
    found.set_item("bad_records", summary.bad_records)?;
    found.set_item("errors", bad)?;
    found.set_item("depth", shape.depth())?;
    found.set_item("bytes_as_json", shape.bytes())?;
    found.set_item("kinds", kinds(py, &shape.kinds())?)?;
    found.set_item("longest_key", shape.longest_key())?;
    found.set_item("duplicate_keys", shape.duplicate_keys())?;
    let tags = PyDict::new(py);
    for (tag, count) in shape.tags() {
        tags.set_item(tag, count)?;
    }
    found.set_item("tags", tags)?;
    let types = PyDict::new(py);
    for (of, count) in shape.types().0 {
        types.set_item(of.as_type().to_string(), count)?;
    }
    found.set_item("types", types)?;
    let paths = PyDict::new(py);
    for path in shape.paths() {
        let one = PyDict::new(py);
        one.set_item("kinds", kinds(py, &path.kinds)?)?;
        one.set_item("bytes", path.bytes)?;
        paths.set_item(path.path, one)?;
    }
    found.set_item("paths", paths)?;
    Ok(found)
}

/// Errors of broken records that are listed; the rest are counted.
const BAD_SHOWN: usize = 20;

fn kinds<'py>(py: Python<'py>, kinds: &shape::Kinds) -> PyResult<Bound<'py, PyDict>> {
    let counts = PyDict::new(py);
    for (kind, count) in kinds.seen() {
        counts.set_item(kind.name(), count)?;
    }
    Ok(counts)
}
