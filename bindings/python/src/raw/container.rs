//! Lists, tuples, dicts and sets out of values on a stack.

use pyo3::ffi;
use pyo3::prelude::*;

/// A list of the values from `start` on, which leave the stack; `None` with Python's error.
#[inline(always)]
pub fn list<'py>(
    py: Python<'py>,
    stack: &mut Vec<Bound<'py, PyAny>>,
    start: usize,
) -> Option<Bound<'py, PyAny>> {
    let count = stack.len().checked_sub(start)?;
    // SAFETY: a new list of `count` has room for as many pointers, all null. `Bound` is a pointer
    // and nothing else (`repr(transparent)`), and the stack forgets those that it gives away.
    unsafe {
        let object = ffi::PyList_New(count as isize);
        if object.is_null() {
            return None;
        }
        let from = stack.as_ptr().add(start).cast::<*mut ffi::PyObject>();
        #[cfg(not(Py_LIMITED_API))]
        if count > 0 {
            let to = (*object.cast::<ffi::PyListObject>()).ob_item;
            to.copy_from_nonoverlapping(from, count);
        }
        #[cfg(Py_LIMITED_API)]
        for index in 0..count {
            // Takes the reference over, and cannot fail for an index that is there.
            ffi::PyList_SetItem(object, index as isize, *from.add(index));
        }
        stack.set_len(start);
        Some(Bound::from_owned_ptr(py, object))
    }
}

/// A dict of the keys and values from `start` on, which leave the stack; a later key wins over one
/// that is equal. `None` with Python's error, for a key that has no hash.
#[inline(always)]
pub fn dict<'py>(
    py: Python<'py>,
    stack: &mut Vec<Bound<'py, PyAny>>,
    start: usize,
) -> Option<Bound<'py, PyAny>> {
    // Without room for its pairs from the beginning: the function for that makes a table for keys
    // of any type, in which text is found more slowly.
    // SAFETY: the thread is attached.
    let dict = unsafe { Bound::from_owned_ptr_or_opt(py, ffi::PyDict_New()) }?;
    fill(&dict, stack, start)?;
    Some(dict)
}

/// Puts the keys and values from `start` on into a dict.
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

/// How many pairs a dict has.
#[inline(always)]
pub fn dict_len(dict: &Bound<'_, PyAny>) -> usize {
    // SAFETY: a live dict, as the caller knows, whose length is at one place in every version.
    #[cfg(all(not(Py_LIMITED_API), not(Py_GIL_DISABLED)))]
    unsafe {
        (*dict.as_ptr().cast::<ffi::PyDictObject>()).ma_used as usize
    }
    // SAFETY: a live object; anything but a dict gives -1.
    #[cfg(any(Py_LIMITED_API, Py_GIL_DISABLED))]
    unsafe {
        ffi::PyDict_Size(dict.as_ptr()) as usize
    }
}
