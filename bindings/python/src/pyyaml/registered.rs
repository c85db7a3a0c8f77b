//! Whether a class of PyYAML still has the constructors, representers and resolvers that it had.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::raw::registered::{Entry, has_entries};

/// Remembers what the dicts in some attributes of a class hold: functions, or lists. Programs register
/// theirs at any time, so each call looks again.
#[pyclass(frozen, name = "Registered", module = "regauge._regauge")]
pub struct PyRegistered(Vec<(Py<PyString>, Vec<Entry>)>);

#[pymethods]
impl PyRegistered {
    #[new]
    fn new(of: &Bound<'_, PyAny>, attributes: Vec<Bound<'_, PyString>>) -> PyResult<PyRegistered> {
        let found = attributes.into_iter().map(|name| {
            let dict = of.getattr(&name)?;
            let entries =
                dict.cast::<PyDict>()?.iter().map(|(key, value)| Entry::new(&key, &value));
            Ok((name.unbind(), entries.collect()))
        });
        Ok(PyRegistered(found.collect::<PyResult<_>>()?))
    }

    /// Returns whether the class has the same now: the very same objects, in this order.
    fn is_same(&self, of: &Bound<'_, PyAny>) -> PyResult<bool> {
        for (name, entries) in &self.0 {
            let found = of.getattr(name.bind(of.py()))?;
            if !found.cast::<PyDict>().is_ok_and(|dict| has_entries(dict, entries)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
