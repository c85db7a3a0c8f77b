//! Keeps a builder for this thread's next document, with the memory that it has allocated.

use std::cell::Cell;

use pyo3::prelude::*;

use crate::build::Builder;

thread_local! {
    static IDLE: Cell<Option<Box<Builder<'static>>>> = const { Cell::new(None) };
}

/// Returns this thread's builder, as it was put back; `None` if there is none yet, or if it is in use further up the
/// stack.
pub fn take(_py: Python<'_>) -> Option<Box<Builder<'_>>> {
    // SAFETY: types that only differ in lifetimes have the same layout. A builder that was put back has no objects of
    // its documents, so nothing outlives its lifetime; and the thread is attached now.
    IDLE.take().map(|builder| unsafe {
        std::mem::transmute::<Box<Builder<'static>>, Box<Builder<'_>>>(builder)
    })
}

/// Empties a builder and puts it back.
pub fn put_back(mut builder: Box<Builder<'_>>) {
    builder.rest();
    // SAFETY: as above.
    IDLE.set(Some(unsafe {
        std::mem::transmute::<Box<Builder<'_>>, Box<Builder<'static>>>(builder)
    }));
}
