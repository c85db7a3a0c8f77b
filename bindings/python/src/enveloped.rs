//! Envelopes of frameworks: taken off, and put back around what a conversion wrote.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use regauge::convert::Summary;
use regauge::detect::HEAD_BYTES;
use regauge::envelope::{self, Fact, Keys, Layer, Opened, Peeled, Tools};
use regauge::options::Envelopes;
use regauge::{Format, Options, Value};
use regauge_packing::{Secrets, Values};

use crate::errors::{self, Way};
use crate::options::{For, Given};
use crate::python;
use crate::raw::bytes::Input;
use crate::stream;

/// Returns the first bytes of a file, and whether they are all.
pub fn head(path: &Path) -> io::Result<(Vec<u8>, bool)> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    let is_whole = head.len() < HEAD_BYTES;
    Ok((head, is_whole))
}

/// Returns whether [`peel`] may take something off of an input that begins with `head`.
pub fn may_peel(head: &[u8], is_whole: bool, told: Option<Format>, options: &Options) -> bool {
    envelope::may_peel(head, is_whole, told, options.envelope, options.secret.is_some())
}

/// Takes off what the options ask for. `told` is the format of the bytes, if one is known.
pub fn peel(bytes: Vec<u8>, told: Option<Format>, options: &Options) -> regauge::Result<Peeled> {
    envelope::peel(bytes, told, options.envelope, &tools(options))
}

/// Converts the value that was in envelopes.
pub fn convert(opened: &Opened, options: &Options) -> regauge::Result<(Vec<u8>, Summary)> {
    envelope::convert(opened, options, &Values, &mut |_| Ok(()))
}

fn tools(options: &Options) -> Tools<'_> {
    Tools { limits: &options.limits, packer: &Values, keys: Keys::of(options, &Secrets) }
}

/// What `open_envelope` returns: the layers, from the outermost, the format inside and the bytes.
type Inside<'py> = (Bound<'py, PyList>, &'static str, Bound<'py, PyBytes>);

/// Takes off every envelope of these bytes; `None` if there is none. With a `secret` in `arguments`, that is an
/// error.
#[pyfunction]
#[pyo3(signature = (data, format = None, arguments = None))]
pub fn open_envelope<'py>(
    data: &Bound<'py, PyAny>,
    format: Option<&str>,
    arguments: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Inside<'py>>> {
    let py = data.py();
    let told = format.map(stream::format).transpose()?;
    let bytes = Input::new(data)?.as_slice().to_vec();
    let given = Given::parse(Format::Json, Format::Json, For::Converting, true, arguments)?;
    let (options, keywords) = (given.options, given.keywords);
    let opened = py.detach(|| match envelope::find_whole(&bytes, told) {
        None if options.secret.is_none() => Ok(None),
        _ => match envelope::peel(bytes, told, Envelopes::Open, &tools(&options))? {
            Peeled::Opened(opened) => Ok(Some(opened)),
            Peeled::Bare(_) => Ok(None),
        },
    });
    let opened = opened.map_err(|error| errors::exception(py, &error, Way::Decode, keywords))?;
    let Some(opened) = opened else { return Ok(None) };
    let layers = PyList::empty(py);
    for one in &opened.layers {
        layers.append(layer(py, one)?)?;
    }
    Ok(Some((layers, opened.format.name(), PyBytes::new(py, &opened.bytes))))
}

fn layer<'py>(py: Python<'py>, layer: &Layer) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", layer.row.name)?;
    dict.set_item("title", layer.row.title)?;
    dict.set_item("steps", &layer.steps)?;
    dict.set_item("holds", layer.format.name())?;
    for Fact { name, value } in &layer.facts {
        let key = name.replace(' ', "_");
        match value {
            Value::Text(text) => dict.set_item(key, text)?,
            Value::Int(number) => dict.set_item(key, *number)?,
            Value::Timestamp(at) => {
                let made = python::values(py)?.getattr("timestamp")?;
                dict.set_item(key, made.call1((at.seconds, at.nanoseconds))?)?;
            }
            other => dict.set_item(key, other.to_string())?,
        }
    }
    Ok(dict)
}
