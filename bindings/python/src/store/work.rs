//! Passes over a whole collection: verifying every value, and re-encoding them. Both use a separate
//! handle, so that others can read and write meanwhile.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::current;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use regauge_store::reencode::{self, Outcome, Plan};
use regauge_store::{Codec, Error, Range, Store, verify as checking};

use super::{PyStore, place};
use crate::errors::{self, Way};

/// Errors listed in a report; the rest are counted.
const SHOWN: usize = 100;
/// Values between two calls of `progress`.
const STEP: u64 = 500;

/// Runs a long walk with a separate handle, if possible. The walk checks for signals through the [`Watch`].
///
/// # Errors
/// Those of the walk; the exception that the handler of a signal or a callback has raised.
fn alone<T: Send>(
    store: &PyStore,
    py: Python<'_>,
    act: impl FnOnce(&mut Store, &mut Watch) -> regauge_store::Result<T> + Send,
) -> PyResult<T> {
    let mut watch = Watch::default();
    let act = |store: &mut Store| {
        store.stop = Some(Arc::clone(&watch.stop));
        let done = act(store, &mut watch);
        store.stop = None;
        done
    };
    // A closed store raises here.
    let done = match store._is_temporary(py)? {
        true => store.with(py, Way::Decode, |inner| {
            let caller = |thread| *store.caller.lock().expect("no panic while locked") = thread;
            caller(Some(current().id()));
            let done = act(inner);
            caller(None);
            done
        }),
        false => {
            let done = py.detach(|| act(&mut store.another(None)?));
            done.map_err(|error| errors::stored(py, &error, Way::Decode))
        }
    };
    match watch.raised {
        Some(raised) => Err(raised),
        None => done,
    }
}

/// How often signals are checked for.
const LOOK: Duration = Duration::from_millis(20);

/// Ends a walk once a callback or the handler of a signal has raised an exception.
#[derive(Default)]
struct Watch {
    stop: Arc<AtomicBool>,
    raised: Option<PyErr>,
    looked: Option<Instant>,
}

impl Watch {
    /// Calls into Python, unless it has raised before.
    fn call(&mut self, call: impl FnOnce(Python<'_>) -> PyResult<()>) {
        if self.raised.is_none()
            && let Err(raised) = Python::attach(call)
        {
            self.raised = Some(raised);
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Calls the handlers of signals now and then.
    fn look(&mut self) {
        if self.looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
            self.call(|py| py.check_signals());
            self.looked = Some(Instant::now());
        }
    }
}

/// Records an error, or passes it to the caller's function.
fn tell(error: &Error, shown: &mut Vec<String>, function: Option<&Py<PyAny>>, watch: &mut Watch) {
    match function {
        Some(function) => watch.call(|py| {
            let told = errors::stored(py, error, Way::Decode);
            function.call1(py, (told.into_value(py),)).map(drop)
        }),
        None if shown.len() < SHOWN => shown.push(errors::stored_text(error)),
        None => {}
    }
}

/// Returns a report of these counts, with the errors that were not passed to a function.
fn report<'py>(
    py: Python<'py>,
    counts: &[(&str, u64)],
    errors: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let report = PyDict::new(py);
    for (name, count) in counts {
        report.set_item(name, count)?;
    }
    report.set_item("errors", PyList::new(py, errors)?)?;
    Ok(report)
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
    let mut shown = Vec::new();
    let found = alone(store, py, |store, watch| {
        let watch = RefCell::new(watch);
        let mut on_bad = |error: &Error| {
            tell(error, &mut shown, on_bad.as_ref(), &mut watch.borrow_mut());
            Ok(())
        };
        checking::verify(store, &range, &mut on_bad, &mut |_| watch.borrow_mut().look())
    })?;
    let codecs = PyDict::new(py);
    for (codec, values, bytes) in &found.codecs {
        codecs.set_item(codec.to_string(), (values, bytes))?;
    }
    let counts = [
        ("values", found.values),
        ("bad", found.bad),
        ("bare", found.bare),
        ("stored_bytes", found.stored_bytes),
        ("document_bytes", found.document_bytes),
    ];
    let report = report(py, &counts, shown)?;
    report.set_item("codecs", codecs)?;
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
    let (on_refused, progress) = (on_refused.map(Bound::unbind), progress.map(Bound::unbind));
    let mut shown = Vec::new();
    let done = alone(store, py, |store, watch| {
        let watch = RefCell::new(watch);
        let mut on_refused = |error: &Error| {
            tell(error, &mut shown, on_refused.as_ref(), &mut watch.borrow_mut());
            Ok(())
        };
        let mut told = 0;
        let mut on_progress = |outcome: &Outcome| {
            let mut watch = watch.borrow_mut();
            watch.look();
            if let Some(function) = &progress
                && outcome.values.is_multiple_of(STEP)
                && outcome.values != std::mem::replace(&mut told, outcome.values)
            {
                watch.call(|py| function.call1(py, (outcome.values, outcome.changed)).map(drop));
            }
        };
        reencode::reencode(store, &plan, &mut on_refused, &mut on_progress)
    });
    if !dry_run {
        // Even if it was interrupted, new values have to use the new codec.
        let format = store.with(py, Way::Decode, |inner| {
            if !inner.engine().is_temporary() {
                *inner = store.another(None)?;
            }
            Ok(inner.settings().codec.format)
        })?;
        store.format.store(place(format), Ordering::Relaxed);
    }
    let done = done?;
    let counts = [
        ("values", done.values),
        ("changed", done.changed),
        ("already", done.already),
        ("overtaken", done.overtaken),
        ("refused", done.refused),
        ("bytes_before", done.bytes_before),
        ("bytes_after", done.bytes_after),
    ];
    let report = report(py, &counts, shown)?;
    report.set_item("resumed", done.resumed_after.is_some())?;
    Ok(report)
}
