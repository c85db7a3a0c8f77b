//! Python objects that are looked up once and cached.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Returns the module `regauge._values`: conversions of values that are not plain data.
pub fn values(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("regauge._values").map(Bound::unbind))?;
    Ok(module.bind(py))
}

/// Returns the module `regauge._errors`.
pub fn errors(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("regauge._errors").map(Bound::unbind))?;
    Ok(module.bind(py))
}

/// Returns `regauge.OMIT`.
pub fn omit(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static OMIT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let find = || py.import("regauge._types")?.getattr("OMIT").map(Bound::unbind);
    Ok(OMIT.get_or_try_init(py, find)?.bind(py))
}
