//! The one switch for code that reads CPython's memory instead of calling its API.
//!
//! What depends on it: the tables of dicts ([`inside`](super::inside), [`shape`](super::shape)), the
//! arrays of lists ([`inside`](super::inside), [`container`](super::container)), the digits of ints
//! ([`number`](super::number)), the bytes after a short text ([`view`](super::view)) and the slots
//! of classes ([`marc`](super::marc)). New code of this kind asks [`reads_memory`] first. What
//! documented macros do, such as `PyList_GET_ITEM` and `PyUnicode_DATA`, belongs to the API.
//!
//! The `abi3` wheel has none of that code, and builds without the GIL have little of it.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

/// The versions of CPython whose memory this code was written for and tested with, by their minor
/// number.
const TRIED: std::ops::RangeInclusive<u8> = 10..=14;

static READS_MEMORY: AtomicBool = AtomicBool::new(false);

/// Returns whether the layouts that are known here may be used.
#[cfg(not(Py_LIMITED_API))]
#[inline(always)]
pub fn reads_memory() -> bool {
    READS_MEMORY.load(Ordering::Relaxed)
}

/// Sets the switch, on import: off if `REGAUGE_PUBLIC_API` is set, or was compiled in, and off with a note if
/// this CPython is an unknown one.
///
/// # Errors
/// Python's, if its filters turn the note into an error.
pub fn set(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let version = py.import("sys")?.getattr("version_info")?;
    let (major, minor) =
        (version.get_item(0)?.extract::<u8>()?, version.get_item(1)?.extract::<u8>()?);
    let is_tried = major == 3 && TRIED.contains(&minor);
    let is_wanted = cfg!(not(any(Py_LIMITED_API, regauge_public_api)))
        && std::env::var_os("REGAUGE_PUBLIC_API").is_none();
    if is_wanted && !is_tried {
        let note = format!(
            "regauge was not tested with the memory layout of CPython {major}.{minor}: it uses \
             Python's public API, which is slower"
        );
        // A category that is hidden by default, because the results are the same.
        let category = py.get_type::<pyo3::exceptions::PyImportWarning>();
        PyErr::warn(py, &category, &std::ffi::CString::new(note)?, 1)?;
    }
    let reads_memory = is_wanted && is_tried;
    READS_MEMORY.store(reads_memory, Ordering::Relaxed);
    module.add("READS_MEMORY", reads_memory)
}
