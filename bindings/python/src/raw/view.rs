//! What an object is, and what is in it, without a copy.

use std::marker::PhantomData;

use pyo3::ffi;
use pyo3::prelude::*;
use regauge::event::ShortText;

/// The types that are told apart by their pointer alone.
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
    /// `True` or `False`.
    Bool,
    /// `None`.
    Null,
    /// `bytes` itself.
    Bytes,
    /// Anything else, subclasses of these included.
    Other,
}

/// What the object is.
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
        } else if object == ffi::Py_None() {
            Kind::Null
        } else if of == &raw mut ffi::PyBool_Type {
            Kind::Bool
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
    /// Less than 32 bytes of ASCII, with others behind.
    Short(ShortText<'a>),
    /// Any other.
    Long(&'a str),
    /// It holds lone surrogates.
    Broken,
}

/// The text of a `str`, in the form that is quickest to copy.
#[inline(always)]
pub fn text_of<'a>(object: &'a Bound<'_, PyAny>) -> Text<'a> {
    #[cfg(all(not(Py_LIMITED_API), not(Py_GIL_DISABLED)))]
    // SAFETY: the caller knows the object to be a `str`. A compact ASCII object has its characters
    // behind its header. Memory is there by pages of 4,096 bytes and more: so if the first of 32
    // bytes is, and no page ends among them, all are. Those behind the text belong to who knows
    // whom, but nobody writes there as long as this thread has the lock; and nobody makes anything
    // of what they are.
    unsafe {
        let pointer = object.as_ptr();
        if ffi::PyUnicode_IS_COMPACT_ASCII(pointer) != 0 {
            let header = pointer.cast::<ffi::PyASCIIObject>();
            let (length, start) = ((*header).length as usize, header.add(1).cast::<u8>());
            if length < 32 && start as usize % 4096 <= 4096 - 32 {
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

/// The text of a `str`; `None` where it holds lone surrogates.
#[inline(always)]
pub fn text<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a str> {
    #[cfg(not(Py_LIMITED_API))]
    // SAFETY: the caller knows the object to be a `str`. A compact ASCII object has its characters
    // behind its header, and ASCII is UTF-8.
    unsafe {
        let pointer = object.as_ptr();
        if ffi::PyUnicode_IS_COMPACT_ASCII(pointer) != 0 {
            let header = pointer.cast::<ffi::PyASCIIObject>();
            let length = (*header).length as usize;
            let bytes = std::slice::from_raw_parts(header.add(1).cast::<u8>(), length);
            return Some(std::str::from_utf8_unchecked(bytes));
        }
        // The UTF-8 that an earlier call has left with the text.
        if ffi::PyUnicode_IS_COMPACT(pointer) != 0 {
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

/// The UTF-8 that Python makes of a text, and keeps with it.
#[inline(never)]
fn wide_text<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a str> {
    let mut length = 0;
    // SAFETY: a live `str`; what Python gives is UTF-8 and lives as long as the object.
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

/// The bytes of a compact ASCII `str`, which the caller knows it to be.
#[cfg(not(Py_LIMITED_API))]
#[inline(always)]
pub fn ascii(object: &Py<PyAny>) -> &[u8] {
    // SAFETY: as in `text`.
    unsafe {
        let header = object.as_ptr().cast::<ffi::PyASCIIObject>();
        std::slice::from_raw_parts(header.add(1).cast::<u8>(), (*header).length as usize)
    }
}

/// Whether two references are to one object that is `True`.
#[inline(always)]
pub fn is_true(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: `True` is always there.
    object.as_ptr() == unsafe { ffi::Py_True() }
}

/// How many references there are to an object, or more than one where that cannot be told.
#[inline(always)]
pub fn references(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: a live object.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}

/// The pairs of a dict, one after the other. Python code may run between two of them: whoever
/// changes the dict gets fewer or other pairs, and the count at the end tells.
pub struct Pairs<'a, 'py> {
    dict: Bound<'py, PyAny>,
    at: isize,
    _dict: PhantomData<&'a ()>,
}

impl<'a, 'py> Pairs<'a, 'py> {
    /// The pairs of `dict`, and how many there are.
    #[inline(always)]
    pub fn new(dict: &'a Bound<'py, PyAny>) -> Option<(Pairs<'a, 'py>, usize)> {
        // Without the global lock another thread may change it, so that one is a copy.
        #[cfg(Py_GIL_DISABLED)]
        // SAFETY: a live dict, as the caller knows; a null pointer becomes `None`.
        let dict =
            &unsafe { Bound::from_owned_ptr_or_opt(dict.py(), ffi::PyDict_Copy(dict.as_ptr()))? };
        let count = super::container::dict_len(dict);
        Some((Pairs { dict: dict.clone(), at: 0, _dict: PhantomData }, count))
    }

    /// The next pair. Both are good until Python code runs: whoever lets it run holds them before.
    #[inline(always)]
    pub fn next(&mut self) -> Option<(Borrowed<'a, 'py, PyAny>, Borrowed<'a, 'py, PyAny>)> {
        let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
        #[cfg(all(
            Py_3_11,
            not(Py_3_15),
            not(Py_LIMITED_API),
            not(Py_GIL_DISABLED),
            target_pointer_width = "64"
        ))]
        if let Some(pair) = self.next_inline() {
            return pair;
        }
        // SAFETY: a live dict and three places for the results, which are borrowed from it.
        unsafe {
            let (dict, py) = (self.dict.as_ptr(), self.dict.py());
            if ffi::PyDict_Next(dict, &mut self.at, &mut key, &mut value) == 0 {
                return None;
            }
            Some((Borrowed::from_ptr(py, key), Borrowed::from_ptr(py, value)))
        }
    }
}

/// A dict as it lies in memory, from 3.11 to 3.14 with the global lock (`cpython/dictobject.h`).
#[cfg(all(
    Py_3_11,
    not(Py_3_15),
    not(Py_LIMITED_API),
    not(Py_GIL_DISABLED),
    target_pointer_width = "64"
))]
#[repr(C)]
struct Dict {
    _object: ffi::PyObject,
    _used: isize,
    _version: u64,
    keys: *const DictKeys,
    /// Null but for the attributes of instances.
    values: *const std::ffi::c_void,
}

/// The head of a dict's table (`internal/pycore_dict.h`). Behind it stand indexes and the entries.
#[cfg(all(
    Py_3_11,
    not(Py_3_15),
    not(Py_LIMITED_API),
    not(Py_GIL_DISABLED),
    target_pointer_width = "64"
))]
#[repr(C)]
struct DictKeys {
    _references: isize,
    _log2_size: u8,
    log2_index_bytes: u8,
    kind: u8,
    _version: u32,
    _usable: isize,
    entries: isize,
}

/// All keys are `str`, and an entry is a key and a value.
#[cfg(all(
    Py_3_11,
    not(Py_3_15),
    not(Py_LIMITED_API),
    not(Py_GIL_DISABLED),
    target_pointer_width = "64"
))]
const UNICODE_KEYS: u8 = 1;

#[cfg(all(
    Py_3_11,
    not(Py_3_15),
    not(Py_LIMITED_API),
    not(Py_GIL_DISABLED),
    target_pointer_width = "64"
))]
impl<'a, 'py> Pairs<'a, 'py> {
    /// What [`next`](Pairs::next) gives, without a call: that was a sixth of the time of `dumps`.
    /// `None` for a dict of another make, which only Python itself knows.
    #[allow(clippy::type_complexity)]
    #[inline(always)]
    fn next_inline(
        &mut self,
    ) -> Option<Option<(Borrowed<'a, 'py, PyAny>, Borrowed<'a, 'py, PyAny>)>> {
        // SAFETY: a live dict of a version that has this layout. The table is looked up anew each
        // time, as Python code may have replaced it, and the index is checked against the entries
        // that it has now; an entry that was deleted has no value.
        unsafe {
            let dict = self.dict.as_ptr().cast::<Dict>();
            let keys = (*dict).keys;
            if !(*dict).values.is_null() || (*keys).kind != UNICODE_KEYS {
                return None;
            }
            let indexes = 1usize << (*keys).log2_index_bytes;
            let entries = keys.add(1).cast::<u8>().add(indexes).cast::<[*mut ffi::PyObject; 2]>();
            while self.at < (*keys).entries {
                let [key, value] = *entries.offset(self.at);
                self.at += 1;
                #[cfg(target_arch = "x86_64")]
                if self.at < (*keys).entries {
                    // The value of the next pair is asked for before it is looked at.
                    let [_, next] = *entries.offset(self.at);
                    std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(
                        next.cast(),
                    );
                }
                if !value.is_null() {
                    let py = self.dict.py();
                    return Some(Some((
                        Borrowed::from_ptr(py, key),
                        Borrowed::from_ptr(py, value),
                    )));
                }
            }
            Some(None)
        }
    }
}

/// How many values a list or tuple has.
#[inline(always)]
pub fn count(object: &Bound<'_, PyAny>, of: Kind) -> usize {
    // SAFETY: the caller knows the object to be a list or a tuple, whose length is at one place.
    #[cfg(not(Py_LIMITED_API))]
    unsafe {
        let _ = of;
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

/// Asks for the memory of a list's value at an index, if there is one, before it is looked at: a list
/// is walked faster than memory answers. This says nothing about the value, nor does it wait.
#[inline(always)]
pub fn prefetch(list: &Bound<'_, PyAny>, of: Kind, index: usize) {
    #[cfg(all(not(Py_LIMITED_API), not(Py_GIL_DISABLED), target_arch = "x86_64"))]
    // SAFETY: as in `item`; an address of any kind may be asked for.
    unsafe {
        if index < count(list, of) {
            let (pointer, at) = (list.as_ptr(), index as isize);
            let item = match of {
                Kind::List => ffi::PyList_GET_ITEM(pointer, at),
                _ => ffi::PyTuple_GET_ITEM(pointer, at),
            };
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(item.cast());
        }
    }
    #[cfg(not(all(not(Py_LIMITED_API), not(Py_GIL_DISABLED), target_arch = "x86_64")))]
    let _ = (list, of, index);
}

/// The value at an index of a list or tuple, if there still is one. It is good until Python code
/// runs: whoever lets it run holds it before.
#[cfg(all(not(Py_GIL_DISABLED), not(Py_LIMITED_API)))]
#[inline(always)]
pub fn item<'a, 'py>(
    object: &'a Bound<'py, PyAny>,
    of: Kind,
    index: usize,
) -> Option<Borrowed<'a, 'py, PyAny>> {
    // SAFETY: the caller knows the object to be a list or a tuple; the index is checked against
    // the length that it has now.
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

/// The same where others may change the list meanwhile, or its parts cannot be seen.
#[cfg(any(Py_GIL_DISABLED, Py_LIMITED_API))]
pub fn item<'py>(object: &Bound<'py, PyAny>, _of: Kind, index: usize) -> Option<Bound<'py, PyAny>> {
    // SAFETY: a live sequence; an index that is none any more gives a null pointer and an error.
    unsafe {
        let item = ffi::PySequence_GetItem(object.as_ptr(), index as isize);
        if item.is_null() {
            ffi::PyErr_Clear();
            return None;
        }
        Some(Bound::from_owned_ptr(object.py(), item))
    }
}
