//! Builds lists, tuples, dicts and sets from values on a stack.

use pyo3::ffi;
use pyo3::prelude::*;

/// Builds a list from the values from `start` on, removing them from the stack; `None` with
/// Python's error.
#[inline(always)]
pub fn list<'py>(
    py: Python<'py>,
    stack: &mut Vec<Bound<'py, PyAny>>,
    start: usize,
) -> Option<Bound<'py, PyAny>> {
    let count = stack.len().checked_sub(start)?;
    // SAFETY: a new list of `count` has room for as many pointers, all null. `Bound` is just a
    // pointer (`repr(transparent)`), and the stack forgets those that it hands over.
    unsafe {
        let object = ffi::PyList_New(count as isize);
        if object.is_null() {
            return None;
        }
        let from = stack.as_ptr().add(start).cast::<*mut ffi::PyObject>();
        stack.set_len(start);
        #[cfg(not(Py_LIMITED_API))]
        if super::switch::reads_memory() {
            if count > 0 {
                let to = (*object.cast::<ffi::PyListObject>()).ob_item;
                to.copy_from_nonoverlapping(from, count);
            }
            return Some(Bound::from_owned_ptr(py, object));
        }
        for index in 0..count {
            // Takes over the reference, and cannot fail for an existing index.
            ffi::PyList_SetItem(object, index as isize, *from.add(index));
        }
        Some(Bound::from_owned_ptr(py, object))
    }
}

/// Builds a dict from the keys and values from `start` on, removing them from the stack; of equal
/// keys the last wins. `None` with Python's error, for an unhashable key.
#[inline(always)]
pub fn dict<'py>(
    py: Python<'py>,
    stack: &mut Vec<Bound<'py, PyAny>>,
    start: usize,
) -> Option<Bound<'py, PyAny>> {
    // Without reserving room for its pairs: the function for that creates a table for keys of any
    // type, in which text lookups are slower.
    // SAFETY: the thread is attached.
    let dict = unsafe { Bound::from_owned_ptr_or_opt(py, ffi::PyDict_New()) }?;
    fill(&dict, stack, start)?;
    Some(dict)
}

/// Inserts the keys and values from `start` on into a dict.
#[inline(always)]
pub fn fill<'py>(
    dict: &Bound<'py, PyAny>,
    stack: &mut Vec<Bound<'py, PyAny>>,
    start: usize,
) -> Option<()> {
    for pair in stack.get(start..)?.chunks_exact(2) {
        let [key, value] = pair else { continue };
        // SAFETY: all three are live objects, and the first is a dict.
        if unsafe { ffi::PyDict_SetItem(dict.as_ptr(), key.as_ptr(), value.as_ptr()) } != 0 {
            return None;
        }
    }
    stack.truncate(start);
    Some(())
}

/// Returns the number of pairs in a dict.
#[inline(always)]
pub fn dict_len(dict: &Bound<'_, PyAny>) -> usize {
    #[cfg(all(not(Py_LIMITED_API), not(Py_GIL_DISABLED)))]
    if super::switch::reads_memory() {
        // SAFETY: a live dict, as the caller knows; its length has the same offset in every
        // version.
        return unsafe { (*dict.as_ptr().cast::<ffi::PyDictObject>()).ma_used as usize };
    }
    // SAFETY: a live object; anything but a dict returns -1.
    unsafe { ffi::PyDict_Size(dict.as_ptr()) as usize }
}
