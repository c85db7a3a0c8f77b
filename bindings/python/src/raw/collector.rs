//! The cyclic garbage collector, held off while objects are built.
//!
//! A document's objects are all reachable and none of them is in a cycle, so each collection that
//! their number sets off is work for nothing: it took up to half of the time of `loads`.

use pyo3::ffi;
use pyo3::prelude::*;

/// Holds the collector off until it is dropped, which happens on every way out, panics included.
/// Only for as long as no Python code can run.
pub struct Pause<'py> {
    restore: bool,
    _py: Python<'py>,
}

impl<'py> Pause<'py> {
    /// Holds the collector off, if `wanted` and if it runs at all.
    pub fn new(py: Python<'py>, wanted: bool) -> Pause<'py> {
        // Without the global lock other threads allocate beside us, and the collector is theirs
        // as well.
        let wanted = wanted && cfg!(not(Py_GIL_DISABLED));
        // SAFETY: the thread is attached. The function gives the former state.
        let restore = wanted && unsafe { ffi::PyGC_Disable() } == 1;
        Pause { restore, _py: py }
    }
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        if self.restore {
            // SAFETY: the thread is still attached, as `_py` says.
            unsafe { ffi::PyGC_Enable() };
        }
    }
}
