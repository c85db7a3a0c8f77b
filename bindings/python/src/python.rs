//! What is looked up in Python once and kept.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The module `regauge._values`: values that are no plain data, and what they become.
pub fn values(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("regauge._values").map(Bound::unbind))?;
    Ok(module.bind(py))
}

/// The module `regauge._errors`.
pub fn errors(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("regauge._errors").map(Bound::unbind))?;
    Ok(module.bind(py))
}
