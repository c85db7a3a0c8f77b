//! Converts the core's errors to Python exceptions.

use std::fs::File;
use std::io;
use std::path::Path;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use regauge::hint::Surface;
use regauge::options::Language;
use regauge::{Error, ErrorKind, Format};

use crate::options::{For, Keywords};
use crate::python;

/// The direction of the conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Bytes to objects.
    Decode,
    /// Objects to bytes.
    Encode,
}

/// Returns the text of an error, with a hint for a function with these keyword arguments.
pub fn text(error: &Error, keywords: Keywords) -> String {
    let takes = |opt| keywords.takes(opt);
    error
        .display(&Surface {
            language: Language::Python,
            is_generic: keywords.is_generic(),
            takes: &takes,
        })
        .to_string()
}

/// Returns the exception for an error of a function with these keyword arguments: `DecodeError`,
/// `EncodeError` or `LimitError` with the attributes `kind`, `offset`, `path`, `record`, `line`,
/// `column`, `hint` and `excerpt`; system errors and Python's own exceptions are passed on.
#[cold]
pub fn exception(py: Python<'_>, error: &Error, way: Way, keywords: Keywords) -> PyErr {
    if error.kind() == ErrorKind::Io {
        return system(py, error);
    }
    let name = match (error.kind(), way) {
        (ErrorKind::Limit, _) => "LimitError",
        (_, Way::Decode) => "DecodeError",
        (_, Way::Encode) => "EncodeError",
    };
    let text = text(error, keywords);
    let takes = |opt| keywords.takes(opt);
    let hint = error.hint_for(&Surface {
        language: Language::Python,
        is_generic: keywords.is_generic(),
        takes: &takes,
    });
    let make = || -> PyResult<PyErr> {
        let made = python::errors(py)?.getattr(name)?.call1((text,))?;
        made.setattr("kind", error.kind().name())?;
        made.setattr("offset", error.offset())?;
        made.setattr("path", error.path().map(ToString::to_string))?;
        made.setattr("record", error.record())?;
        made.setattr("record_id", error.record_id())?;
        let (line, column) = error.line_column().unzip();
        made.setattr("line", line)?;
        made.setattr("column", column)?;
        made.setattr("hint", hint)?;
        made.setattr("excerpt", error.excerpt())?;
        Ok(PyErr::from_value(made))
    };
    make().unwrap_or_else(|raised| raised)
}

/// Returns the exception for a store error: `StoreError` with `kind`, `passing` and `key`, or that
/// of the document, with its key added.
#[cold]
pub fn stored(py: Python<'_>, error: &regauge_store::Error, way: Way) -> PyErr {
    use regauge_store::Error as Store;
    let (kind, passing, key) = match error {
        Store::Document { key, error } => {
            let way = match error.kind() {
                ErrorKind::Refused | ErrorKind::Unrepresentable => Way::Encode,
                _ => way,
            };
            return keyed(py, exception(py, error, way, stored_keywords(error)), key);
        }
        Store::Usage(_) => ("usage", false, None),
        Store::Engine { passing, .. } => ("engine", *passing, None),
        Store::Damaged { key, .. } => ("damaged", false, Some(key)),
        Store::Conflict { key } => ("conflict", true, Some(key)),
        _ => ("engine", false, None),
    };
    let make = || -> PyResult<PyErr> {
        let made = python::errors(py)?.getattr("StoreError")?.call1((error.to_string(),))?;
        made.setattr("kind", kind)?;
        made.setattr("passing", passing)?;
        made.setattr("key", key)?;
        Ok(PyErr::from_value(made))
    };
    make().unwrap_or_else(|raised| raised)
}

/// Returns the text of a store error.
pub fn stored_text(error: &regauge_store::Error) -> String {
    match error {
        regauge_store::Error::Document { key, error } => {
            format!("key {key}: {}", text(error, stored_keywords(error)))
        }
        other => other.to_string(),
    }
}

fn stored_keywords(error: &Error) -> Keywords {
    Keywords::new(For::Storing, error.format().unwrap_or(Format::Json), false)
}

/// Prefixes one of our exceptions with the key of its document.
#[cold]
pub fn keyed(py: Python<'_>, raised: PyErr, key: &str) -> PyErr {
    let value = raised.value(py);
    let ours = python::errors(py).and_then(|module| module.getattr("Error"));
    if ours.and_then(|ours| value.is_instance(&ours)).unwrap_or(false) {
        let text = format!("key {key}: {value}");
        let set = || -> PyResult<()> {
            value.setattr("args", (text,))?;
            value.setattr("key", key)
        };
        if let Err(failed) = set() {
            return failed;
        }
    }
    raised
}

/// Opens a file to read it; a failure becomes the exception that Python's `open` raises.
pub fn open(path: &Path) -> io::Result<File> {
    File::open(path).map_err(|error| of_file(&error, path).into())
}

/// Creates the exception for a file that cannot be opened: with its name, as Python's `open` raises it.
#[cold]
pub fn of_file(error: &io::Error, path: &Path) -> PyErr {
    match error.raw_os_error() {
        Some(code) => {
            PyOSError::new_err((code, without_code(error, code), path.as_os_str().to_owned()))
        }
        None => PyOSError::new_err(format!("{}: {error}", path.display())),
    }
}

/// Returns what the system says of an error, without the number, which Python shows in front of it.
fn without_code(error: &io::Error, code: i32) -> String {
    let text = error.to_string();
    text.strip_suffix(&format!(" (os error {code})")).unwrap_or(&text).to_owned()
}

/// Extracts a system error, or an exception that passed through a reader or a writer.
fn system(py: Python<'_>, error: &Error) -> PyErr {
    let source = std::error::Error::source(error).and_then(|it| it.downcast_ref::<io::Error>());
    let Some(source) = source else { return PyOSError::new_err(error.to_string()) };
    match source.get_ref().and_then(|inner| inner.downcast_ref::<PyErr>()) {
        Some(raised) => raised.clone_ref(py),
        None => match source.raw_os_error() {
            Some(code) => PyOSError::new_err((code, without_code(source, code))),
            None => PyOSError::new_err(error.to_string()),
        },
    }
}
