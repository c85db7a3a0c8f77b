//! Passes over a whole collection: verifying every value, and re-encoding them. Both use a separate
//! handle, so that others can read and write meanwhile.

use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use regauge_store::reencode::{self, Outcome, Plan};
use regauge_store::{Codec, Error, Range, Settings, Store, verify as checking};

use super::{PyStore, place};
use crate::errors::{self, Way};

/// Errors listed in a report; the rest are counted.
const SHOWN: usize = 100;
/// Values between two calls of `progress`.
const STEP: u64 = 500;

/// A database in memory exists only for its own connection.
fn has_one_connection(url: &str) -> bool {
    url == "sqlite::memory:"
}

/// Runs something long with a separate handle, if possible.
fn alone<T: Send>(
    store: &PyStore,
    py: Python<'_>,
    act: impl FnOnce(&mut Store) -> regauge_store::Result<T> + Send,
) -> PyResult<T> {
    if has_one_connection(&store.url) {
        return store.with(py, Way::Decode, act);
    }
    // The handle of a closed store is closed.
    store.with(py, Way::Decode, |_| Ok(()))?;
    let done = py.detach(|| act(&mut store.another(None)?));
    done.map_err(|error| errors::stored(py, &error, Way::Decode))
}

/// An exception from a callback, on its way through the store.
#[derive(Default)]
struct Told {
    shown: Vec<String>,
    raised: Option<PyErr>,
}

impl Told {
    /// Records an error, and calls the caller's function with it.
    fn tell(&mut self, error: &Error, function: Option<&Py<PyAny>>) -> regauge_store::Result<()> {
        let Some(function) = function else {
            if self.shown.len() < SHOWN {
                self.shown.push(errors::stored_text(error));
            }
            return Ok(());
        };
        let called = Python::attach(|py| {
            let told = errors::stored(py, error, Way::Decode);
            function.call1(py, (told.into_value(py),)).map(drop)
        });
        called.map_err(|raised| self.stop(raised))
    }

    fn stop(&mut self, raised: PyErr) -> Error {
        self.raised = Some(raised);
        Error::Usage("a function raised an exception".to_owned())
    }
}

/// Verifies every value.
pub fn verify<'py>(
    store: &PyStore,
    py: Python<'py>,
    prefix: Option<&Bound<'py, PyAny>>,
    on_bad: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let range = match prefix {
        Some(prefix) => Range::prefix(&store.key(prefix)?),
        None => Range::all(),
    };
    let on_bad = on_bad.map(Bound::unbind);
    let mut told = Told::default();
    let found = alone(store, py, |store| {
        let mut on_bad = |error: &Error| told.tell(error, on_bad.as_ref());
        checking::verify(store, &range, &mut on_bad, &mut |_| ())
    });
    if let Some(raised) = told.raised {
        return Err(raised);
    }
    let found = found?;
    let codecs = PyDict::new(py);
    for (codec, values, bytes) in &found.codecs {
        codecs.set_item(codec.to_string(), (values, bytes))?;
    }
    let report = PyDict::new(py);
    report.set_item("values", found.values)?;
    report.set_item("bad", found.bad)?;
    report.set_item("bare", found.bare)?;
    report.set_item("stored_bytes", found.stored_bytes)?;
    report.set_item("document_bytes", found.document_bytes)?;
    report.set_item("codecs", codecs)?;
    report.set_item("errors", PyList::new(py, told.shown)?)?;
    Ok(report)
}

/// Re-encodes every value with another codec.
pub fn reencode<'py>(
    store: &PyStore,
    py: Python<'py>,
    to: &str,
    dry_run: bool,
    rate: Option<f64>,
    on_refused: Option<Bound<'py, PyAny>>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let to: Codec = to.parse().map_err(|error| errors::stored(py, &error, Way::Encode))?;
    let plan = Plan { to, dry_run, rate };
    if !dry_run {
        // First, so that this handle also uses the new codec from now on, whatever happens.
        store.with(py, Way::Encode, |inner| {
            if !Store::collections(inner.engine())?.iter().any(|name| name == inner.name()) {
                let name = inner.name();
                return Err(Error::Usage(format!("the database has no collection {name}")));
            }
            inner.save(Settings { codec: to, ..inner.settings().clone() })
        })?;
        store.format.store(place(to.format), Ordering::Relaxed);
    }
    let (on_refused, progress) = (on_refused.map(Bound::unbind), progress.map(Bound::unbind));
    let mut told = Told::default();
    let mut stopped: Option<PyErr> = None;
    let done = alone(store, py, |store| {
        let mut on_refused = |error: &Error| told.tell(error, on_refused.as_ref());
        let mut on_progress = |outcome: &Outcome| {
            if let Some(function) = &progress
                && stopped.is_none()
                && outcome.values.is_multiple_of(STEP)
            {
                let called = Python::attach(|py| {
                    function.call1(py, (outcome.values, outcome.changed)).map(drop)
                });
                stopped = called.err();
            }
        };
        reencode::reencode(store, &plan, &mut on_refused, &mut on_progress)
    });
    if let Some(raised) = told.raised.or(stopped) {
        return Err(raised);
    }
    let done = done?;
    let report = PyDict::new(py);
    report.set_item("values", done.values)?;
    report.set_item("changed", done.changed)?;
    report.set_item("already", done.already)?;
    report.set_item("overtaken", done.overtaken)?;
    report.set_item("refused", done.refused)?;
    report.set_item("bytes_before", done.bytes_before)?;
    report.set_item("bytes_after", done.bytes_after)?;
    report.set_item("resumed", done.resumed_after.is_some())?;
    report.set_item("errors", PyList::new(py, told.shown)?)?;
    Ok(report)
}
