//! Fields of a MARC record as instances of Python's classes, made without calling them.
//!
//! `Field` is a class with slots, `Subfield` and `Indicators` are tuples: each is allocated by its
//! type and filled in place, which is several times faster than a call.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

/// A tuple of two in a class of its own.
#[inline(always)]
pub fn pair<'py>(
    class: &Bound<'py, PyType>,
    first: Bound<'py, PyAny>,
    second: Bound<'py, PyAny>,
) -> Option<Bound<'py, PyAny>> {
    // SAFETY: the class is a subclass of tuple without fields of its own, as the caller has
    // checked, so that its instances of two hold two pointers, which are null until they are set.
    unsafe {
        let made = ffi::PyType_GenericAlloc(class.as_ptr().cast(), 2);
        if made.is_null() {
            return None;
        }
        ffi::PyTuple_SetItem(made, 0, first.into_ptr());
        ffi::PyTuple_SetItem(made, 1, second.into_ptr());
        Some(Bound::from_owned_ptr(class.py(), made))
    }
}

/// Whether instances of the class are tuples and nothing more.
pub fn is_tuple(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let tuple = class.py().get_type::<pyo3::types::PyTuple>();
    let same = |name: &str| -> PyResult<bool> {
        let mine: isize = class.getattr(name)?.extract()?;
        Ok(mine == tuple.getattr(name)?.extract::<isize>()?)
    };
    Ok(class.is_subclass(&tuple)? && same("__basicsize__")? && same("__itemsize__")?)
}

/// An instance of a class with slots, all of them empty.
#[inline(always)]
pub fn empty<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyAny>> {
    // SAFETY: a class that Python code has defined, whose instances are allocated this way by
    // `object.__new__`, too. The caller passes no other.
    unsafe {
        let made = ffi::PyType_GenericAlloc(class.as_ptr().cast(), 0);
        Bound::from_owned_ptr_or_opt(class.py(), made)
    }
}

/// Sets an attribute by a name that is interned.
#[inline(always)]
pub fn set(object: &Bound<'_, PyAny>, name: &Bound<'_, PyString>, v: &Bound<'_, PyAny>) -> bool {
    // SAFETY: three live objects.
    unsafe { ffi::PyObject_SetAttr(object.as_ptr(), name.as_ptr(), v.as_ptr()) == 0 }
}
