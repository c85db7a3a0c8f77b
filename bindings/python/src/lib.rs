//! The Python package's native part: Python objects from events, and events from Python objects.
//!
//! [`build`] is the sink of `loads`, [`walk`] the source of `dumps`; both are generic over the
//! core's readers and writers. `unsafe` is confined to [`raw`].

#![deny(unsafe_code)]

mod arrow;
mod build;
mod dialect;
mod dump;
mod enveloped;
mod errors;
mod events;
mod formats;
mod interrupt;
mod load;
mod map;
mod marc;
mod options;
mod python;
mod pyyaml;
#[allow(unsafe_code, reason = "the C API")]
mod raw;
mod store;
mod stream;
mod tools;
mod turn;
mod walk;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Decodes bytes in a format of this name.
#[pyfunction]
#[pyo3(signature = (format, data, options = None))]
fn loads_as<'py>(
    format: &str,
    data: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    load::loads(stream::format(format)?, data, true, options)
}

/// Encodes a value in a format of this name.
#[pyfunction]
#[pyo3(signature = (format, value, options = None))]
fn dumps_as<'py>(
    format: &str,
    value: &Bound<'py, PyAny>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    dump::dumps(stream::format(format)?, value, true, options)
}

/// Returns the format that a file's name implies, or `None`.
#[pyfunction]
fn format_of_name(name: &str) -> Option<&'static str> {
    regauge::Format::from_name(name).map(regauge::Format::name)
}

/// The native part of the package `regauge`.
#[pymodule(gil_used = false)]
fn _regauge(module: &Bound<'_, PyModule>) -> PyResult<()> {
    raw::switch::set(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("FORMATS", regauge::Format::ALL.map(regauge::Format::name).to_vec())?;
    formats::add(module)?;
    marc::add(module)?;
    module.add_function(wrap_pyfunction!(loads_as, module)?)?;
    module.add_function(wrap_pyfunction!(dumps_as, module)?)?;
    module.add_function(wrap_pyfunction!(format_of_name, module)?)?;
    module.add_function(wrap_pyfunction!(stream::iter_load, module)?)?;
    module.add_function(wrap_pyfunction!(stream::writer, module)?)?;
    module.add_function(wrap_pyfunction!(tools::detect, module)?)?;
    module.add_function(wrap_pyfunction!(pyyaml::yaml_differs, module)?)?;
    module.add_function(wrap_pyfunction!(tools::option_table, module)?)?;
    module.add_function(wrap_pyfunction!(tools::keywords, module)?)?;
    module.add_function(wrap_pyfunction!(tools::detect_path, module)?)?;
    module.add_function(wrap_pyfunction!(tools::convert_file, module)?)?;
    module.add_function(wrap_pyfunction!(tools::convert_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(enveloped::open_envelope, module)?)?;
    module.add_function(wrap_pyfunction!(tools::inspect_file, module)?)?;
    module.add_function(wrap_pyfunction!(events::events, module)?)?;
    module.add_function(wrap_pyfunction!(events::parse_events, module)?)?;
    module.add_class::<dialect::PyDialect>()?;
    module.add_class::<pyyaml::PyRegistered>()?;
    module.add_class::<dialect::PySplitter>()?;
    module.add_class::<events::PyEvents>()?;
    module.add_class::<stream::PyDocuments>()?;
    module.add_class::<stream::PyWriter>()?;
    module.add_class::<arrow::PyArrowStream>()?;
    module.add_function(wrap_pyfunction!(arrow::to_arrow, module)?)?;
    module.add_class::<store::PyStore>()?;
    module.add_class::<store::PyScan>()?;
    module.add_function(wrap_pyfunction!(store::adopt::adopt, module)?)?;
    module.add_function(wrap_pyfunction!(store::adopt::collections, module)?)?;
    module.add_function(wrap_pyfunction!(store::series::series_key, module)?)?;
    module.add_function(wrap_pyfunction!(store::series::series_range, module)?)?;
    module.add_function(wrap_pyfunction!(store::series::series_time, module)?)?;
    Ok(())
}
