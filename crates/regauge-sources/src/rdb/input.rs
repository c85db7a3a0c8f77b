//! Lengths and strings, of which everything in a dump is made (Redis `src/rdb.c`, `rdbLoadLenByRef` and
//! `rdbGenericLoadStringObject`).
//!
//! A length begins with two bits: 6 bits follow, or 14, or 32 or 64 after a byte of their own. The fourth choice
//! is a string that is not stored byte by byte: an integer of 8, 16 or 32 bits, or one that LZF has compressed.

use std::io::Read;

use regauge::{Error, Result};

use super::lzf;
use super::window::Window;

/// A length, or how a string is stored that has none.
enum Length {
    Bytes(u64),
    Encoded(u8),
}

/// The input, and the string that was read last if it is not in the window.
pub(super) struct Input<R> {
    pub window: Window<R>,
    scratch: Vec<u8>,
    /// The longest string that is held.
    pub bytes_max: u64,
}

impl<R: Read> Input<R> {
    pub fn new(read: R) -> Input<R> {
        Input { window: Window::new(read), scratch: Vec::new(), bytes_max: u64::MAX }
    }

    /// Returns the offset of the next byte.
    pub fn offset(&self) -> u64 {
        self.window.offset()
    }

    #[inline]
    fn length_or_encoding(&mut self) -> Result<Length> {
        let first = self.window.byte()?;
        Ok(match first >> 6 {
            0 => Length::Bytes(first.into()),
            1 => Length::Bytes(u64::from(first & 0x3F) << 8 | u64::from(self.window.byte()?)),
            2 => match first {
                0x80 => Length::Bytes(u32::from_be_bytes(self.window.array()?).into()),
                0x81 => Length::Bytes(u64::from_be_bytes(self.window.array()?)),
                _ => return Err(self.wrong_byte(first, "a length")),
            },
            _ => Length::Encoded(first & 0x3F),
        })
    }

    /// Reads a length, a number of elements or another number.
    #[inline]
    pub fn length(&mut self) -> Result<u64> {
        match self.length_or_encoding()? {
            Length::Bytes(length) => Ok(length),
            Length::Encoded(encoding) => Err(self.wrong_byte(0xC0 | encoding, "a length")),
        }
    }

    /// Reads a string. It is valid until the next one is read.
    #[inline]
    pub fn string(&mut self) -> Result<&[u8]> {
        let start = self.offset();
        match self.length_or_encoding()? {
            Length::Bytes(length) => {
                let length = self.bounded(length, start)?;
                self.window.take(length)
            }
            Length::Encoded(encoding) => self.encoded(encoding, start),
        }
    }

    fn encoded(&mut self, encoding: u8, start: u64) -> Result<&[u8]> {
        let number = match encoding {
            0 => i8::from_le_bytes(self.window.array()?).into(),
            1 => i16::from_le_bytes(self.window.array()?).into(),
            2 => i32::from_le_bytes(self.window.array()?),
            3 => return self.compressed(start),
            _ => return Err(self.wrong_byte(0xC0 | encoding, "a string")),
        };
        self.scratch.clear();
        self.scratch.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        Ok(&self.scratch)
    }

    fn compressed(&mut self, start: u64) -> Result<&[u8]> {
        let (compressed, length) = (self.length()?, self.length()?);
        let room = self.bounded(length, start)?;
        let taken = self.bounded(compressed, start)?;
        if !lzf::is_possible(compressed, length) {
            return Err(impossible(compressed, length, start));
        }
        let bytes = self.window.take(taken)?;
        // What one long value needed is not kept for all others.
        if self.scratch.capacity() > SCRATCH_KEPT_BYTES && room <= SCRATCH_KEPT_BYTES {
            self.scratch = Vec::new();
        }
        match lzf::decompress(bytes, room, &mut self.scratch) {
            Ok(()) => Ok(&self.scratch),
            Err(fault) => Err(wrong_lzf(fault, length, start)),
        }
    }

    /// Skips a string.
    #[inline]
    pub fn skip_string(&mut self) -> Result<()> {
        let count = match self.length_or_encoding()? {
            Length::Bytes(length) => length,
            Length::Encoded(0) => 1,
            Length::Encoded(1) => 2,
            Length::Encoded(2) => 4,
            Length::Encoded(3) => {
                let compressed = self.length()?;
                self.length()?;
                compressed
            }
            Length::Encoded(encoding) => {
                return Err(self.wrong_byte(0xC0 | encoding, "a string"));
            }
        };
        self.window.skip(count)
    }

    /// Skips a string, and returns its first bytes: at least `count`, unless it has fewer or is stored as an
    /// integer.
    pub fn skip_string_after(&mut self, count: usize) -> Result<&[u8]> {
        self.scratch.clear();
        match self.length_or_encoding()? {
            Length::Bytes(length) => {
                let shown = self.window.peek(length.min(count as u64) as usize)?;
                self.scratch.extend_from_slice(shown);
                self.window.skip(length)?;
            }
            Length::Encoded(3) => {
                let compressed = self.length()?;
                self.length()?;
                let shown = self.window.peek(compressed.min(LZF_HEAD_BYTES) as usize)?;
                lzf::head(shown, count, &mut self.scratch);
                self.window.skip(compressed)?;
            }
            Length::Encoded(encoding) => {
                return Err(self.wrong_byte(0xC0 | encoding, "a string of packed values"));
            }
        }
        Ok(&self.scratch)
    }

    /// Returns a length as one that may be held in memory.
    #[inline]
    fn bounded(&self, length: u64, start: u64) -> Result<usize> {
        match usize::try_from(length) {
            Ok(held) if length <= self.bytes_max => Ok(held),
            _ => Err(too_long(length, self.bytes_max, start)),
        }
    }

    #[cold]
    fn wrong_byte(&self, byte: u8, expected: &str) -> Error {
        Error::syntax(format!("found byte 0x{byte:02X}, expected {expected}"))
            .at(self.offset() - 1)
            .hint(super::DAMAGED)
    }
}

/// As many compressed bytes give the head of any packed value, which takes 10 bytes: each step gives one at
/// least, and takes three at most, but for the last, which may be a literal of 33.
const LZF_HEAD_BYTES: u64 = 64;

/// A buffer for compressed strings larger than this is not kept.
const SCRATCH_KEPT_BYTES: usize = 4 << 20;

#[cold]
fn too_long(length: u64, most: u64, start: u64) -> Error {
    let message = format!("found a string of {length} bytes, expected at most {most}");
    Error::limit(message).at(start).hint("raise the limit, or read the keys without their values")
}

#[cold]
fn impossible(compressed: u64, length: u64, start: u64) -> Error {
    let message = format!(
        "found {compressed} bytes of LZF for a string of {length}, which is more than 88 times as many"
    );
    Error::syntax(message).at(start).hint(super::DAMAGED)
}

#[cold]
fn wrong_lzf(fault: lzf::Fault, length: u64, start: u64) -> Error {
    let found = match fault {
        lzf::Fault::Cut => "that end within a step",
        lzf::Fault::Before => "that refer to what is before them",
        lzf::Fault::Length => "of another length",
    };
    Error::syntax(format!("found LZF bytes {found}, expected a string of {length} bytes"))
        .at(start)
        .hint(super::DAMAGED)
}
