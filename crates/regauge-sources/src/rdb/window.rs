//! The bytes of a dump, as many as are needed at a time.

use std::io::{ErrorKind, Read};

use regauge::{Error, Result};

use super::crc64;

/// How much is in memory at a time: system calls are cheap with it, and it stays in the second-level cache while
/// its checksum is taken.
const WINDOW_BYTES: usize = 256 << 10;
/// A window that a long value has made larger than this becomes small again after it.
const KEPT_BYTES: usize = 4 << 20;

/// A window on the input, with the checksum of everything before it.
pub(super) struct Window<R> {
    read: R,
    buffer: Vec<u8>,
    /// The next byte in the buffer.
    pos: usize,
    /// The end of what was read into the buffer.
    filled: usize,
    /// How many bytes of input were before the buffer.
    base: u64,
    /// The end of the bytes in the buffer that are in the checksum.
    hashed: usize,
    crc: u64,
}

impl<R: Read> Window<R> {
    pub fn new(read: R) -> Window<R> {
        Window { read, buffer: Vec::new(), pos: 0, filled: 0, base: 0, hashed: 0, crc: 0 }
    }

    /// Returns the offset of the next byte.
    pub fn offset(&self) -> u64 {
        self.base + self.pos as u64
    }

    /// Returns the checksum of all bytes before the next one.
    pub fn checksum(&mut self) -> u64 {
        self.hash();
        self.crc
    }

    fn hash(&mut self) {
        self.crc = crc64::update(self.crc, &self.buffer[self.hashed..self.pos]);
        self.hashed = self.pos;
    }

    /// Takes the next byte.
    #[inline]
    pub fn byte(&mut self) -> Result<u8> {
        self.need(1)?;
        let byte = self.buffer[self.pos];
        self.pos += 1;
        Ok(byte)
    }

    /// Takes so many bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// Takes so many bytes, all of which are in memory then.
    #[inline]
    pub fn take(&mut self, count: usize) -> Result<&[u8]> {
        self.need(count)?;
        let start = self.pos;
        self.pos += count;
        Ok(&self.buffer[start..self.pos])
    }

    /// Returns so many bytes without taking them.
    pub fn peek(&mut self, count: usize) -> Result<&[u8]> {
        self.need(count)?;
        Ok(&self.buffer[self.pos..self.pos + count])
    }

    /// Takes so many bytes, which are never in memory at once.
    #[inline]
    pub fn skip(&mut self, count: u64) -> Result<()> {
        if count <= (self.filled - self.pos) as u64 {
            self.pos += count as usize;
            return Ok(());
        }
        self.skip_windows(count)
    }

    fn skip_windows(&mut self, mut count: u64) -> Result<()> {
        while count > (self.filled - self.pos) as u64 {
            count -= (self.filled - self.pos) as u64;
            self.pos = self.filled;
            self.make_room(1);
            if self.fill()? == 0 {
                return Err(self.cut(count));
            }
        }
        self.pos += count as usize;
        Ok(())
    }

    /// Returns whether the input ends here.
    pub fn is_at_end(&mut self) -> Result<bool> {
        if self.pos < self.filled {
            return Ok(false);
        }
        self.make_room(1);
        Ok(self.fill()? == 0)
    }

    #[inline]
    fn need(&mut self, count: usize) -> Result<()> {
        if self.filled - self.pos >= count { Ok(()) } else { self.read_until(count) }
    }

    #[cold]
    fn read_until(&mut self, count: usize) -> Result<()> {
        self.make_room(count);
        while self.filled < count {
            if self.filled == self.buffer.len() {
                // Twice what has arrived, whatever length the input claims.
                let larger = self.buffer.len().saturating_mul(2).min(count);
                self.buffer.resize(larger, 0);
            }
            if self.fill()? == 0 {
                return Err(self.cut((count - self.filled) as u64));
            }
        }
        Ok(())
    }

    /// Moves what is left to the beginning of the buffer, for a value of so many bytes.
    fn make_room(&mut self, count: usize) {
        self.hash();
        self.buffer.copy_within(self.pos..self.filled, 0);
        self.base += self.pos as u64;
        self.filled -= self.pos;
        (self.pos, self.hashed) = (0, 0);
        if self.buffer.len() > KEPT_BYTES && self.filled.max(count) <= WINDOW_BYTES {
            self.buffer.truncate(WINDOW_BYTES);
            self.buffer.shrink_to_fit();
        }
        if self.buffer.len() < WINDOW_BYTES {
            self.buffer.resize(WINDOW_BYTES, 0);
        }
    }

    fn fill(&mut self) -> Result<usize> {
        loop {
            match self.read.read(&mut self.buffer[self.filled..]) {
                Ok(count) => {
                    self.filled += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(Error::from(error).at(self.base + self.filled as u64));
                }
            }
        }
    }

    #[cold]
    fn cut(&self, missing: u64) -> Error {
        let more = if missing == 1 { "another byte" } else { &format!("{missing} more bytes") };
        Error::truncated(format!("found the end of the dump, expected {more}"))
            .at(self.base + self.filled as u64)
            .hint("the dump is incomplete; copy it again, or take a new one")
    }
}
