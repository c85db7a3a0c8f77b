//! Where the bytes of a conversion come from.

use std::io::Read;

use crate::bytes::reader::{Parse, Reader};
use crate::{Error, Result};

/// The source of the input bytes.
pub enum Input<'a> {
    /// Bytes in memory.
    Bytes(&'a [u8]),
    /// A stream that can be read once, such as a pipe.
    Once(Box<dyn Read + Send + 'a>),
    /// A stream that can be opened again, such as a file: after a failure it is read a second time
    /// to find the path and the line of the fault, which the first run does not track.
    Again(&'a (dyn Fn() -> std::io::Result<Box<dyn Read + Send + 'a>> + Sync)),
    /// An input that several threads can read at any position, such as an uncompressed file.
    At(&'a dyn ReadAt),
}

/// Reads at any position.
pub trait ReadAt: Sync {
    /// Reads into `buffer` from `offset` on, possibly less than fits; returns 0 at the end.
    ///
    /// # Errors
    /// `Io` errors from the system.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize>;

    /// Returns the size in bytes.
    ///
    /// # Errors
    /// `Io` errors from the system.
    fn size(&self) -> std::io::Result<u64>;

    /// Opens the bytes as a stream from the beginning.
    ///
    /// # Errors
    /// `Io` errors from the system.
    fn open(&self) -> std::io::Result<Box<dyn Read + Send + '_>>;
}

/// Bytes in memory.
impl ReadAt for Vec<u8> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..));
        let rest = rest.unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn size(&self) -> std::io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn open(&self) -> std::io::Result<Box<dyn Read + Send + '_>> {
        Ok(Box::new(&self[..]))
    }
}

/// Returns the error for an input that ends at byte `end`, before the size it had when reading
/// began.
#[cold]
#[must_use]
pub fn shrunk(end: u64) -> Error {
    Error::truncated("found the end of a file that has shrunk since reading began")
        .hint("convert it again when nothing is writing to it")
        .at(end)
}

impl<'a> Input<'a> {
    /// Returns the input for a second reading, if it can be read again.
    pub(super) fn repeat(&self) -> Option<Input<'a>> {
        match self {
            Input::Bytes(bytes) => Some(Input::Bytes(bytes)),
            Input::Again(open) => Some(Input::Again(*open)),
            Input::At(at) => Some(Input::At(*at)),
            Input::Once(_) => None,
        }
    }

    pub(crate) fn open(self) -> Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Input::Bytes(bytes) => Box::new(bytes),
            Input::Once(read) => read,
            Input::Again(open) => open()?,
            Input::At(at) => at.open()?,
        })
    }

    pub(crate) fn reader<P: Parse>(self, parser: P) -> Result<Reader<'a, P>> {
        Ok(match self {
            Input::Bytes(bytes) => Reader::from_slice(parser, bytes),
            stream => Reader::from_read(parser, stream.open()?),
        })
    }
}
