//! Compares the entries of a dict by the addresses of its objects.

#[cfg(not(any(Py_LIMITED_API, Py_GIL_DISABLED)))]
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// An entry: the key, the value, and the items of a value that is a list.
pub struct Entry {
    key: Py<PyAny>,
    value: Py<PyAny>,
    items: Option<Vec<Py<PyAny>>>,
}

impl Entry {
    /// Remembers one.
    pub fn new(key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> Entry {
        let items = value.cast::<PyList>().ok();
        let items = items.map(|items| items.iter().map(Bound::unbind).collect());
        Entry { key: key.clone().unbind(), value: value.clone().unbind(), items }
    }

    #[cfg(any(Py_LIMITED_API, Py_GIL_DISABLED))]
    fn is(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> bool {
        let has_items = |items: &Vec<Py<PyAny>>| {
            value.cast::<PyList>().is_ok_and(|list| {
                list.len() == items.len()
                    && list.iter().zip(items).all(|(found, item)| found.is(item))
            })
        };
        key.is(&self.key) && value.is(&self.value) && self.items.as_ref().is_none_or(has_items)
    }
}

/// Returns whether a dict has exactly these entries, in this order.
pub fn has_entries(dict: &Bound<'_, PyDict>, entries: &[Entry]) -> bool {
    if dict.len() != entries.len() {
        return false;
    }
    #[cfg(any(Py_LIMITED_API, Py_GIL_DISABLED))]
    {
        dict.iter().zip(entries).all(|((key, value), entry)| entry.is(&key, &value))
    }
    #[cfg(not(any(Py_LIMITED_API, Py_GIL_DISABLED)))]
    // SAFETY: the dict is alive, and so are its entries, because this thread has the GIL and runs no Python
    // code meanwhile; a value that is the same object as a list that an entry holds is a list.
    unsafe {
        let (mut at, mut key, mut value) = (0, std::ptr::null_mut(), std::ptr::null_mut());
        entries.iter().all(|entry| {
            ffi::PyDict_Next(dict.as_ptr(), &mut at, &mut key, &mut value) != 0
                && key == entry.key.as_ptr()
                && value == entry.value.as_ptr()
                && entry.items.as_ref().is_none_or(|items| {
                    ffi::PyList_GET_SIZE(value) as usize == items.len()
                        && items.iter().enumerate().all(|(index, item)| {
                            ffi::PyList_GET_ITEM(value, index as isize) == item.as_ptr()
                        })
                })
        })
    }
}
