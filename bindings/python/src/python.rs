//! Python objects that are looked up once and cached.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Returns the module `regauge._values`: classes of values that are not plain data, and how they are
/// decoded.
pub fn values(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    imported(py, &MODULE, "regauge._values")
}

/// Returns the module `regauge._lower`: how values that are not plain data are encoded.
pub fn lower(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    imported(py, &MODULE, "regauge._lower")
}

/// Returns the module `regauge._errors`.
pub fn errors(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    imported(py, &MODULE, "regauge._errors")
}

/// Returns the module `regauge._files`.
pub fn files(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    imported(py, &MODULE, "regauge._files")
}

fn imported<'py>(
    py: Python<'py>,
    module: &'static PyOnceLock<Py<PyModule>>,
    name: &str,
) -> PyResult<&'py Bound<'py, PyModule>> {
    let module = module.get_or_try_init(py, || py.import(name).map(Bound::unbind))?;
    Ok(module.bind(py))
}

/// Returns `regauge.OMIT`.
pub fn omit(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static OMIT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let find = || py.import("regauge._types")?.getattr("OMIT").map(Bound::unbind);
    Ok(OMIT.get_or_try_init(py, find)?.bind(py))
}
