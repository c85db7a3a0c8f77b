//! The core's errors as Python's exceptions.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use regauge::{Error, ErrorKind};

use crate::python;

/// Which way the data went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Bytes to objects.
    Decode,
    /// Objects to bytes.
    Encode,
}

/// The exception for an error: `DecodeError`, `EncodeError` or `LimitError` with the attributes
/// `kind`, `offset`, `path`, `record`, `line`, `column` and `excerpt`; what the system or Python
/// itself raised as it is.
#[cold]
pub fn exception(py: Python<'_>, error: &Error, way: Way) -> PyErr {
    if error.kind() == ErrorKind::Io {
        return io(py, error);
    }
    let name = match (error.kind(), way) {
        (ErrorKind::Limit, _) => "LimitError",
        (_, Way::Decode) => "DecodeError",
        (_, Way::Encode) => "EncodeError",
    };
    let text = in_python_words(&error.to_string());
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
        made.setattr("excerpt", error.excerpt())?;
        Ok(PyErr::from_value(made))
    };
    make().unwrap_or_else(|raised| raised)
}

/// The exception for an error of the store: `StoreError` with `kind`, `passing` and `key`, or that of
/// the document, which then names its key.
#[cold]
pub fn stored(py: Python<'_>, error: &regauge_store::Error, way: Way) -> PyErr {
    use regauge_store::Error as Store;
    let (kind, passing, key) = match error {
        Store::Document { key, error } => {
            let way = match error.kind() {
                ErrorKind::Refused | ErrorKind::Unrepresentable => Way::Encode,
                _ => way,
            };
            return keyed(py, exception(py, error, way), key);
        }
        Store::Usage(_) => ("usage", false, None),
        Store::Engine { passing, .. } => ("engine", *passing, None),
        Store::Damaged { key, .. } => ("damaged", false, Some(key)),
        Store::Conflict { key } => ("conflict", true, Some(key)),
        _ => ("engine", false, None),
    };
    let text = in_python_words(&error.to_string());
    let make = || -> PyResult<PyErr> {
        let made = python::errors(py)?.getattr("StoreError")?.call1((text,))?;
        made.setattr("kind", kind)?;
        made.setattr("passing", passing)?;
        made.setattr("key", key)?;
        Ok(PyErr::from_value(made))
    };
    make().unwrap_or_else(|raised| raised)
}

/// An exception of ours with the key of the document that it is about in front.
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

/// What the system said, or an exception that had to pass through a reader or a writer.
fn io(py: Python<'_>, error: &Error) -> PyErr {
    let source =
        std::error::Error::source(error).and_then(|it| it.downcast_ref::<std::io::Error>());
    let Some(source) = source else { return PyOSError::new_err(error.to_string()) };
    match source.get_ref().and_then(|inner| inner.downcast_ref::<PyErr>()) {
        Some(raised) => raised.clone_ref(py),
        None => match source.raw_os_error() {
            Some(code) => PyOSError::new_err((code, source.to_string())),
            None => PyOSError::new_err(error.to_string()),
        },
    }
}

/// Flags that say all by being there.
const SWITCHES: [&str; 6] =
    ["comments", "trailing-commas", "non-finite", "repair", "oversize", "cbor-deterministic"];

/// The text with options spelt as keyword arguments: `--on-loss wrap` as `on_loss="wrap"`.
fn in_python_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let tail = &tail[2..];
        let end = tail.find(|c: char| c != '-' && !c.is_ascii_lowercase()).unwrap_or(tail.len());
        let (flag, behind) = tail.split_at(end);
        let is_flag = flag.len() > 1 && !flag.starts_with('-') && !flag.ends_with('-');
        if !is_flag || before.ends_with(|c: char| !c.is_whitespace() && c != '`' && c != '(') {
            out.push_str("--");
            rest = tail;
            continue;
        }
        let name = flag.strip_prefix("yaml-").or(flag.strip_prefix("cbor-")).unwrap_or(flag);
        let name = name.strip_prefix("pickle-").or(name.strip_prefix("ruby-")).unwrap_or(name);
        let name = name.replace('-', "_");
        let value = behind.strip_prefix(' ').unwrap_or_default();
        let stop = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '=' | '…' | '.'));
        let value = value[..value.find(stop).unwrap_or(value.len())].trim_end_matches('.');
        if SWITCHES.contains(&flag) || value.is_empty() || value == "to" {
            out.push_str(&format!("{name}=True"));
            rest = behind;
            continue;
        }
        rest = &behind[1 + value.len()..];
        match value.split_once('=') {
            Some((key, value)) if flag == "limit" => {
                out.push_str(&format!("limits={{\"{key}\": {value}}}"));
            }
            _ if flag == "duplicate-keys" => out.push_str("duplicate_keys=\"last\""),
            _ => out.push_str(&format!("{name}=\"{value}\"")),
        }
    }
    out.push_str(rest);
    out
}
