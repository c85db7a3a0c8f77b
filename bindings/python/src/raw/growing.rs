//! A `bytes` object that a document is written into, once it has outgrown its buffer.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub use of::Growing;

/// A longer document is written into its object: 32 KiB. Copying a shorter one costs less than an object of the wrong
/// size.
#[cfg(not(Py_LIMITED_API))]
const BUFFER_BYTES: usize = 32 << 10;

#[cfg(not(Py_LIMITED_API))]
mod of {
    use std::cell::Cell;
    use std::ptr::NonNull;

    use pyo3::ffi;
    use regauge::memory::{Home, Memory};

    use super::*;

    thread_local! {
        /// The capacity that the last document needed that outgrew its buffer: the next one is often as long.
        static LAST: Cell<usize> = const { Cell::new(0) };
    }

    /// An object that is not finished, and how many bytes it has.
    #[derive(Default)]
    struct Object(Option<Py<PyBytes>>, usize);

    /// The object, if there is one yet.
    pub struct Growing<'py> {
        py: Python<'py>,
        object: Cell<Object>,
    }

    impl<'py> Growing<'py> {
        pub fn new(py: Python<'py>) -> Growing<'py> {
            Growing { py, object: Cell::default() }
        }

        /// Returns memory for a document, which begins in `buffer`.
        #[inline]
        pub fn memory(&self, buffer: Vec<u8>) -> Memory<'_> {
            Memory::with_home(buffer, self)
        }

        /// Returns an object with the first `length` bytes of a document. They are in `buffer`, unless they have moved.
        pub fn finish(self, buffer: &[u8], has_moved: bool, length: usize) -> Bound<'py, PyAny> {
            // There may be an object of an attempt that was given up, although this document has not moved.
            let (true, Object(Some(object), capacity)) = (has_moved, self.object.take()) else {
                return PyBytes::new(self.py, &buffer[..length]).into_any();
            };
            let object = object.into_bound(self.py);
            // SAFETY: it is an object of this type.
            let start = unsafe { ffi::PyBytes_AS_STRING(object.as_ptr()) }.cast_mut().cast::<u8>();
            if capacity - length > length / 8 {
                LAST.set(length + length / 16 + 2048);
                // SAFETY: so many of the object's bytes have been written.
                let written = unsafe { std::slice::from_raw_parts(start, length) };
                return PyBytes::new(self.py, written).into_any();
            }
            // An eighth more than is needed stays with the object: if it were returned to the system, the allocator would
            // have to ask for it again for the next document.
            LAST.set(capacity);
            // SAFETY: the object was made here, and nobody else has it yet. It becomes shorter, all of its bytes have been
            // written, and the one after them is zero as in every object.
            unsafe {
                start.add(length).write(0);
                (*object.as_ptr().cast::<ffi::PyVarObject>()).ob_size = length as ffi::Py_ssize_t;
            }
            object.into_any()
        }
    }

    // SAFETY: it is used by the walk over Python's objects alone, in one thread, which is attached to the interpreter.
    unsafe impl Sync for Growing<'_> {}

    // SAFETY: the memory is that of an object that nobody else has, of as many bytes as it says, and it is kept until the
    // next call or until it is finished.
    unsafe impl Home for Growing<'_> {
        fn wants(&self, bytes: usize) -> bool {
            bytes > BUFFER_BYTES
        }

        fn grow(&self, before: &[u8], bytes: usize) -> (NonNull<u8>, usize) {
            let last = LAST.get();
            let is_likely = (bytes..bytes.saturating_mul(64)).contains(&last);
            let capacity = if is_likely { last } else { bytes.saturating_mul(2) };
            // SAFETY: the thread is attached, and memory that is not initialised is what is asked for.
            let (object, start) = unsafe {
                let made =
                    ffi::PyBytes_FromStringAndSize(std::ptr::null(), capacity as ffi::Py_ssize_t);
                let object = Bound::from_owned_ptr_or_opt(self.py, made).expect("out of memory");
                (object.cast_into_unchecked(), ffi::PyBytes_AS_STRING(made).cast_mut().cast::<u8>())
            };
            // SAFETY: it has room for more than those before, which are elsewhere.
            unsafe { start.copy_from_nonoverlapping(before.as_ptr(), before.len()) };
            self.object.set(Object(Some(object.unbind()), capacity));
            (NonNull::new(start).expect("an object has an address"), capacity)
        }
    }
}

#[cfg(Py_LIMITED_API)]
mod of {
    use regauge::memory::Memory;

    use super::*;

    /// Nothing: the stable ABI has no object that grows.
    pub struct Growing<'py>(Python<'py>);

    impl<'py> Growing<'py> {
        pub fn new(py: Python<'py>) -> Growing<'py> {
            Growing(py)
        }

        /// Returns memory for a document, which begins in `buffer`.
        pub fn memory(&self, buffer: Vec<u8>) -> Memory<'_> {
            Memory::new(buffer)
        }

        /// Returns an object with the first `length` bytes of a document, which are in `buffer`.
        pub fn finish(self, buffer: &[u8], _: bool, length: usize) -> Bound<'py, PyAny> {
            PyBytes::new(self.0, &buffer[..length]).into_any()
        }
    }
}
