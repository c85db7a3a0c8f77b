//! Compares the entries of a dict by the addresses of its objects.

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

    fn is(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> bool {
        key.is(&self.key)
            && value.is(&self.value)
            && self.items.as_ref().is_none_or(|items| has_items(value, items))
    }
}

fn has_items(list: &Bound<'_, PyAny>, items: &[Py<PyAny>]) -> bool {
    let Ok(list) = list.cast::<PyList>() else { return false };
    #[cfg(not(any(Py_LIMITED_API, Py_GIL_DISABLED)))]
    // SAFETY: a list whose length is checked; this thread has the GIL, and runs no Python code meanwhile.
    unsafe {
        list.len() == items.len()
            && items.iter().enumerate().all(|(index, item)| {
                pyo3::ffi::PyList_GET_ITEM(list.as_ptr(), index as isize) == item.as_ptr()
            })
    }
    #[cfg(any(Py_LIMITED_API, Py_GIL_DISABLED))]
    {
        list.len() == items.len() && list.iter().zip(items).all(|(found, item)| found.is(item))
    }
}

/// Returns whether a dict has exactly these entries, in this order.
pub fn has_entries(dict: &Bound<'_, PyDict>, entries: &[Entry]) -> bool {
    dict.len() == entries.len()
        && dict.iter().zip(entries).all(|((key, value), entry)| entry.is(&key, &value))
}
