//! Inspects objects, and accesses their content without a copy.

use pyo3::ffi;
use pyo3::prelude::*;
use regauge::event::ShortText;

/// The types that are recognised by their pointer alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `str` itself.
    Text,
    /// `int` itself.
    Int,
    /// `float` itself.
    Float,
    /// `dict` itself.
    Dict,
    /// `list` itself.
    List,
    /// `tuple` itself.
    Tuple,
    /// `None`, `True` or `False`.
    Constant,
    /// `bytes` itself.
    Bytes,
    /// Anything else, subclasses of these included.
    Other,
}

/// Returns the type of the object.
#[inline(always)]
pub fn kind(object: &Bound<'_, PyAny>) -> Kind {
    // SAFETY: a live object has a type; the addresses of the types are only compared.
    unsafe {
        let object = object.as_ptr();
        let of = ffi::Py_TYPE(object);
        if of == &raw mut ffi::PyUnicode_Type {
            Kind::Text
        } else if of == &raw mut ffi::PyLong_Type {
            Kind::Int
        } else if of == &raw mut ffi::PyFloat_Type {
            Kind::Float
        } else if of == &raw mut ffi::PyDict_Type {
            Kind::Dict
        } else if of == &raw mut ffi::PyList_Type {
            Kind::List
        } else if is_constant(object) {
            Kind::Constant
        } else if of == &raw mut ffi::PyTuple_Type {
            Kind::Tuple
        } else if of == &raw mut ffi::PyBytes_Type {
            Kind::Bytes
        } else {
            Kind::Other
        }
    }
}

/// The text of a `str`.
pub enum Text<'a> {
    /// Less than 32 bytes of ASCII, followed by others.
    #[cfg_attr(any(Py_LIMITED_API, Py_GIL_DISABLED), allow(dead_code))]
    Short(ShortText<'a>),
    /// Any other text.
    Long(&'a str),
    /// It contains lone surrogates.
    Broken,
}

/// Returns the text of a `str`, in the form that is fastest to copy.
#[inline(always)]
pub fn text_of<'a>(object: &'a Bound<'_, PyAny>) -> Text<'a> {
    #[cfg(all(not(Py_LIMITED_API), not(Py_GIL_DISABLED)))]
    // SAFETY: the caller knows the object to be a `str`. A compact ASCII object has its characters
    // after its header. Memory is mapped in pages of at least 4,096 bytes: so if the first of 32
    // bytes is mapped, and they do not cross a page, all are. The bytes after the text belong to
    // something unknown, but nobody writes to them as long as this thread has the GIL; and their
    // values are never used.
    unsafe {
        let pointer = object.as_ptr();
        if is_compact(pointer, true) {
            let header = pointer.cast::<ffi::PyASCIIObject>();
            let (length, start) = ((*header).length as usize, header.add(1).cast::<u8>());
            let is_short = length < 32 && start as usize % 4096 <= 4096 - 32;
            if is_short && super::switch::reads_memory() {
                return Text::Short(ShortText::known(&*start.cast::<[u8; 32]>(), length));
            }
            let bytes = std::slice::from_raw_parts(start, length);
            return Text::Long(std::str::from_utf8_unchecked(bytes));
        }
    }
    match text(object) {
        Some(text) => Text::Long(text),
        None => Text::Broken,
    }
}

/// Returns the text of a `str`; `None` if it contains lone surrogates.
#[inline(always)]
pub fn text<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a str> {
    #[cfg(not(Py_LIMITED_API))]
    // SAFETY: the caller knows the object to be a `str`. A compact ASCII object has its characters
    // after its header, and ASCII is UTF-8.
    unsafe {
        let pointer = object.as_ptr();
        if is_compact(pointer, true) {
            let header = pointer.cast::<ffi::PyASCIIObject>();
            let length = (*header).length as usize;
            let bytes = std::slice::from_raw_parts(header.add(1).cast::<u8>(), length);
            return Some(std::str::from_utf8_unchecked(bytes));
        }
        // The UTF-8 that an earlier call has cached with the text. Without the GIL, another thread
        // may be about to cache it.
        #[cfg(not(Py_GIL_DISABLED))]
        if is_compact(pointer, false) {
            let header = pointer.cast::<ffi::PyCompactUnicodeObject>();
            if !(*header).utf8.is_null() {
                let length = (*header).utf8_length as usize;
                let bytes = std::slice::from_raw_parts((*header).utf8.cast::<u8>(), length);
                return Some(std::str::from_utf8_unchecked(bytes));
            }
        }
    }
    wide_text(object)
}

/// Returns whether the characters of a `str` follow its header, and are all `ascii`.
///
/// # Safety
/// A live `str`.
#[cfg(not(Py_LIMITED_API))]
#[inline(always)]
unsafe fn is_compact(text: *mut ffi::PyObject, ascii: bool) -> bool {
    #[cfg(not(Py_3_14))]
    // SAFETY: a live `str`, as the caller knows.
    unsafe {
        if ascii {
            ffi::PyUnicode_IS_COMPACT_ASCII(text) != 0
        } else {
            ffi::PyUnicode_IS_COMPACT(text) != 0
        }
    }
    #[cfg(Py_3_14)]
    {
        // `cpython/unicodeobject.h`: the order of bit fields depends on the machine.
        if cfg!(target_endian = "big") {
            return false;
        }
        // Preceded by three bits of the kind, and two or eight of the interning state.
        let compact = if cfg!(Py_GIL_DISABLED) { 1 << 11 } else { 1 << 5 };
        let wanted = if ascii { compact | compact << 1 } else { compact };
        // SAFETY: a live `str`, as the caller knows; another thread may change the first eight
        // bits.
        let state =
            unsafe { (&raw const (*text.cast::<ffi::PyASCIIObject>()).state).read_volatile() };
        state & wanted == wanted
    }
}

/// Returns the UTF-8 that Python creates for a text, and caches with it.
#[inline(never)]
fn wide_text<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a str> {
    let mut length = 0;
    // SAFETY: a live `str`; what Python returns is UTF-8 and lives as long as the object.
    unsafe {
        let start = ffi::PyUnicode_AsUTF8AndSize(object.as_ptr(), &mut length);
        if start.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        let bytes = std::slice::from_raw_parts(start.cast::<u8>(), length as usize);
        Some(std::str::from_utf8_unchecked(bytes))
    }
}

/// Returns whether two references are to one object that is `True`.
#[inline(always)]
pub fn is_true(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: `True` always exists.
    object.as_ptr() == unsafe { ffi::Py_True() }
}

/// Returns whether this is the address of a [constant](Kind::Constant).
#[inline(always)]
pub fn is_constant(object: *mut ffi::PyObject) -> bool {
    // SAFETY: the three always exist.
    unsafe { (object == ffi::Py_None()) | (object == ffi::Py_True()) | (object == ffi::Py_False()) }
}

/// Returns which [constant](Kind::Constant) an object is: `None`, or its truth value.
#[inline(always)]
pub fn constant(object: &Bound<'_, PyAny>) -> Option<bool> {
    // SAFETY: `None` always exists.
    (object.as_ptr() != unsafe { ffi::Py_None() }).then_some(is_true(object))
}

/// Returns the number of references to an object, or more than one if that cannot be determined.
#[inline(always)]
pub fn references(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: a live object.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}

/// Returns the number of values in a list or tuple.
#[inline(always)]
pub fn count(object: &Bound<'_, PyAny>, of: Kind) -> usize {
    // SAFETY: the caller knows the object to be a list or a tuple, whose length has the same
    // offset. Without the GIL, another thread may change that of a list: the function reads it
    // atomically.
    #[cfg(not(Py_LIMITED_API))]
    unsafe {
        if cfg!(Py_GIL_DISABLED) && of == Kind::List {
            return ffi::PyList_Size(object.as_ptr()) as usize;
        }
        ffi::Py_SIZE(object.as_ptr()) as usize
    }
    // SAFETY: the same.
    #[cfg(Py_LIMITED_API)]
    unsafe {
        match of {
            Kind::List => ffi::PyList_Size(object.as_ptr()) as usize,
            _ => ffi::PyTuple_Size(object.as_ptr()) as usize,
        }
    }
}

/// An object that can be walked without being changed by another thread: see [`still`].
#[cfg(not(Py_GIL_DISABLED))]
pub type Still<'a, 'py> = Borrowed<'a, 'py, PyAny>;

/// The same without the GIL.
#[cfg(Py_GIL_DISABLED)]
pub type Still<'a, 'py> = Bound<'py, PyAny>;

/// Returns a snapshot of a list or tuple, and which of the two it is; `None` with Python's error.
///
/// With the GIL it is the object itself, which nobody changes as long as no Python code runs.
/// Without it, a list is copied: otherwise values that another thread inserts would shift the
/// following ones, and a walk by index would return one twice, or skip one.
#[inline(always)]
pub fn still<'a, 'py>(object: &'a Bound<'py, PyAny>, of: Kind) -> Option<(Still<'a, 'py>, Kind)> {
    #[cfg(not(Py_GIL_DISABLED))]
    {
        Some((object.as_borrowed(), of))
    }
    #[cfg(Py_GIL_DISABLED)]
    {
        if of != Kind::List {
            return Some((object.clone(), of));
        }
        // SAFETY: a live list, as the caller knows, which the function locks; a null pointer
        // becomes `None`.
        let copy = unsafe {
            Bound::from_owned_ptr_or_opt(object.py(), ffi::PyList_AsTuple(object.as_ptr()))
        };
        copy.map(|copy| (copy, Kind::Tuple))
    }
}

/// Returns the value at an index of a list or tuple, if there still is one. It is valid until
/// Python code runs: a caller that lets it run must hold it before.
#[cfg(all(not(Py_GIL_DISABLED), not(Py_LIMITED_API)))]
#[inline(always)]
pub fn item<'a, 'py>(
    object: &'a Bound<'py, PyAny>,
    of: Kind,
    index: usize,
) -> Option<Borrowed<'a, 'py, PyAny>> {
    // SAFETY: the caller knows the object to be a list or a tuple; the index is checked against its
    // current length.
    unsafe {
        if index >= count(object, of) {
            return None;
        }
        let (pointer, at) = (object.as_ptr(), index as isize);
        let item = match of {
            Kind::List => ffi::PyList_GET_ITEM(pointer, at),
            _ => ffi::PyTuple_GET_ITEM(pointer, at),
        };
        Some(Borrowed::from_ptr(object.py(), item))
    }
}

/// The same if others may change a list meanwhile, or its layout is inaccessible.
#[cfg(any(Py_GIL_DISABLED, Py_LIMITED_API))]
#[inline(always)]
pub fn item<'py>(object: &Bound<'py, PyAny>, of: Kind, index: usize) -> Option<Bound<'py, PyAny>> {
    #[cfg(not(Py_LIMITED_API))]
    if of != Kind::List {
        // SAFETY: a tuple, as the caller knows, which nobody changes; the index is checked.
        return unsafe {
            (index < count(object, of)).then(|| {
                let item = ffi::PyTuple_GET_ITEM(object.as_ptr(), index as isize);
                Bound::from_borrowed_ptr(object.py(), item)
            })
        };
    }
    let _ = of;
    // SAFETY: a live sequence; an invalid index returns a null pointer and an error.
    unsafe {
        let item = ffi::PySequence_GetItem(object.as_ptr(), index as isize);
        if item.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        Some(Bound::from_owned_ptr(object.py(), item))
    }
}
