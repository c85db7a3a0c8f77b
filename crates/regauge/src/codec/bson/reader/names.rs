//! Text that ends with a zero byte: names, and the parts of regular expressions.

use super::Parser;
use crate::{Error, Result};

/// The longest options of a regular expression, in bytes. Only six options exist, one byte each.
const REGEX_OPTIONS: usize = 4096;

/// Returns the number of bytes before the first zero byte among eight.
#[inline(always)]
pub(super) fn until_zero(eight: [u8; 8]) -> Option<usize> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_le_bytes(eight);
    // The lowest set bit is that of the first zero byte.
    let zeros = word.wrapping_sub(LOW) & !word & LOW << 7;
    (zeros != 0).then_some(zeros.trailing_zeros() as usize / 8)
}

impl Parser {
    /// Returns the size of a text that ends with a zero byte, within `most` bytes including it;
    /// `None` if it is incomplete.
    #[cold]
    #[inline(never)]
    pub(super) fn zero(&mut self, bytes: &[u8], most: usize, at: usize) -> Result<Option<usize>> {
        let inside = &bytes[..most.min(bytes.len())];
        let place = self.base + at as u64;
        let from = if self.scanned.0 == place { self.scanned.1.min(inside.len()) } else { 0 };
        match memchr::memchr(0, &inside[from..]) {
            Some(found) => {
                self.scanned = (place, from + found);
                Ok(Some(from + found))
            }
            None if inside.len() == most => Err(Error::syntax(
                "found no zero byte at the end of a name before the end of its document",
            )),
            None => {
                self.scanned = (place, inside.len());
                Ok(None)
            }
        }
    }

    /// Splits off pattern and options.
    #[cold]
    #[inline(never)]
    pub(super) fn regex<'b>(
        &mut self,
        bytes: &'b [u8],
        most: usize,
        at: usize,
    ) -> Result<Option<(&'b [u8], &'b [u8])>> {
        let Some(size) = self.zero(bytes, most, at)? else { return Ok(None) };
        let (pattern, after) = (&bytes[..size], &bytes[size + 1..]);
        let most = most - size - 1;
        let options = &after[..most.min(after.len()).min(REGEX_OPTIONS)];
        match memchr::memchr(0, options) {
            Some(length) => Ok(Some((pattern, &options[..length]))),
            None if options.len() == most || options.len() == REGEX_OPTIONS => Err(Error::syntax(
                "found no zero byte at the end of the options of a regular expression",
            )),
            None => Ok(None),
        }
    }
}
