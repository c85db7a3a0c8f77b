//! Streams that stay on the thread of a call: the locks of standard input and output are not [`Send`].
#![allow(unsafe_code, reason = "a stream that never leaves its thread")]

use std::io::{IoSlice, IoSliceMut, Read, Result, Write};

/// A stream for readers and writers that ask for [`Send`], because a conversion may move them to
/// another thread.
pub(crate) struct Here<S>(S);

// SAFETY: `Here::new` requires that the stream is used and dropped on its thread, so it never moves to another.
unsafe impl<S> Send for Here<S> {}

impl<S> Here<S> {
    /// Wraps a stream.
    ///
    /// # Safety
    /// It must be used and dropped on this thread.
    pub unsafe fn new(stream: S) -> Here<S> {
        Here(stream)
    }
}

impl<S: Read> Read for Here<S> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.0.read(buffer)
    }

    fn read_vectored(&mut self, buffers: &mut [IoSliceMut<'_>]) -> Result<usize> {
        self.0.read_vectored(buffers)
    }
}

impl<S: Write> Write for Here<S> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.0.write(bytes)
    }

    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> Result<usize> {
        self.0.write_vectored(buffers)
    }

    fn flush(&mut self) -> Result<()> {
        self.0.flush()
    }
}
