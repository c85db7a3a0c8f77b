//! Access to `bytes` and other objects that contain bytes.

use pyo3::exceptions::PyTypeError;
#[cfg(not(Py_LIMITED_API))]
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The bytes of an object, held for as long as this lives.
///
/// For `str` these are its UTF-8, for `bytes` the object itself; anything else uses the buffer
/// protocol. While a buffer is held, its owner cannot resize it. If another thread changes the
/// bytes of a `bytearray` at the same time, the result is some value or an error: readers check
/// every index.
pub struct Input<'py> {
    object: Bound<'py, PyAny>,
    held: Held,
}

enum Held {
    Bytes,
    /// The UTF-8 that Python caches with the text.
    Text(*const u8, usize),
    /// A copy of data that another thread might change meanwhile.
    Copy(Vec<u8>),
}

impl<'py> Input<'py> {
    /// Returns the bytes of `object`.
    ///
    /// # Errors
    /// `TypeError` for objects without bytes.
    #[inline]
    pub fn new(object: &Bound<'py, PyAny>) -> PyResult<Input<'py>> {
        if object.is_instance_of::<PyBytes>() {
            return Ok(Input { object: object.clone(), held: Held::Bytes });
        }
        Input::of_others(object.clone())
    }

    #[inline(never)]
    fn of_others(object: Bound<'py, PyAny>) -> PyResult<Input<'py>> {
        if let Ok(text) = object.cast::<pyo3::types::PyString>() {
            let text = text.to_str()?;
            let held = Held::Text(text.as_ptr(), text.len());
            return Ok(Input { object, held });
        }
        let copy = copy(&object)?;
        Ok(Input { object, held: Held::Copy(copy) })
    }

    /// Returns the bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        match &self.held {
            Held::Copy(bytes) => bytes,
            // SAFETY: Python keeps the UTF-8 for as long as the text lives, and does not change it.
            Held::Text(start, length) => unsafe { std::slice::from_raw_parts(*start, *length) },
            Held::Bytes => match self.object.cast::<PyBytes>() {
                Ok(bytes) => bytes.as_bytes(),
                Err(_) => &[],
            },
        }
    }
}

/// Copies the bytes of a buffer. `bytearray`, `memoryview`, `mmap` and the like can change while a
/// hook or another thread runs, and a reader must not see that.
pub fn copy(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let wrong = || {
        let _ = PyErr::take(object.py());
        let name = match object.get_type().name() {
            Ok(name) => name.to_string(),
            Err(raised) => return raised,
        };
        PyTypeError::new_err(format!(
            "found {name}, expected bytes, str, bytearray, memoryview or another contiguous buffer"
        ))
    };
    // The stable ABI of 3.10 has no buffers, but it has memoryviews.
    #[cfg(Py_LIMITED_API)]
    {
        let view = pyo3::types::PyMemoryView::from(object).map_err(|_| wrong())?;
        view.call_method0("tobytes")?.extract()
    }
    #[cfg(not(Py_LIMITED_API))]
    // SAFETY: an all-zero view is what the function expects; it is released on every exit. A
    // contiguous view has `len` bytes at `buf`, which nobody can free until then.
    unsafe {
        let mut view: ffi::Py_buffer = std::mem::zeroed();
        if ffi::PyObject_GetBuffer(object.as_ptr(), &mut view, ffi::PyBUF_SIMPLE) != 0 {
            return Err(wrong());
        }
        let mut bytes = vec![0; view.len as usize];
        if view.len > 0 {
            bytes.as_mut_ptr().copy_from_nonoverlapping(view.buf.cast(), view.len as usize);
        }
        ffi::PyBuffer_Release(&mut view);
        Ok(bytes)
    }
}
