//! The bytes of a file at any position.

use std::io::{self, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

use ::parquet::errors::{ParquetError, Result as Decoded};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;
use regauge::convert::ReadAt;
use regauge::{Error, Result};

/// A file, and its size when it was opened.
#[derive(Clone)]
pub struct At {
    file: Arc<dyn ReadAt + Send>,
    size: u64,
    /// Why the last reading failed: the crate passes on no more than its text.
    fault: Arc<Mutex<Option<Error>>>,
}

impl At {
    /// Creates it.
    ///
    /// # Errors
    /// `Io`.
    pub fn new(file: Arc<dyn ReadAt + Send>) -> Result<At> {
        let size = file.size()?;
        Ok(At { file, size, fault: Arc::default() })
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the error of a reading that failed while the crate decoded, or else what it made of that.
    pub fn explain(&self, error: Error) -> Error {
        let own = self.fault.lock().unwrap_or_else(PoisonError::into_inner).take();
        own.unwrap_or(error)
    }

    /// Reads bytes, all of which must be there.
    ///
    /// # Errors
    /// `Io`; `Truncated` if the file ends before.
    pub fn bytes(&self, start: u64, length: u64) -> Result<Vec<u8>> {
        let short = || Error::truncated("found the end of the file inside of a page").at(self.size);
        let is_inside = start.checked_add(length).is_some_and(|end| end <= self.size);
        let length = usize::try_from(length).ok().filter(|_| is_inside).ok_or_else(short)?;
        let mut bytes = vec![0; length];
        let mut read = Cursor { at: self.clone(), pos: start };
        read.read_exact(&mut bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => short(),
            _ => error.into(),
        })?;
        Ok(bytes)
    }
}

/// A place in the file.
pub struct Cursor {
    at: At,
    pos: u64,
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.at.file.read_at(buffer, self.pos)?;
        self.pos += got as u64;
        Ok(got)
    }
}

impl Length for At {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for At {
    type T = BufReader<Cursor>;

    fn get_read(&self, start: u64) -> Decoded<Self::T> {
        // A header takes about 30 bytes, and is read byte by byte.
        Ok(BufReader::with_capacity(256, Cursor { at: self.clone(), pos: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Decoded<Bytes> {
        let bytes = self.bytes(start, length as u64);
        bytes.map(Bytes::from).map_err(|error| {
            let text = error.to_string();
            *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            ParquetError::General(text)
        })
    }
}
