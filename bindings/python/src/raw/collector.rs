//! Pauses the cyclic garbage collector while objects are built.
//!
//! All objects of a document are reachable and none is part of a cycle, so each collection that
//! their number triggers is wasted: it took up to half of the time of `loads`.

use pyo3::ffi;
use pyo3::prelude::*;

/// Pauses the collector until dropped, which happens on every exit, including panics. Only for
/// periods in which no Python code can run.
pub struct Pause<'py> {
    restore: bool,
    _py: Python<'py>,
}

impl<'py> Pause<'py> {
    /// Pauses the collector, if `wanted` and if it is enabled.
    pub fn new(py: Python<'py>, wanted: bool) -> Pause<'py> {
        // Without the GIL, other threads allocate concurrently, and the collector is theirs as
        // well.
        let wanted = wanted && cfg!(not(Py_GIL_DISABLED));
        // SAFETY: the thread is attached. The function returns the previous state.
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
