//! The parts of ISO 2709 that are looked at byte by byte: delimiters, found sixty-four bytes at a
//! time, and tags.
//!
//! A leaf module: it may use `unsafe`, each block with its reason.

use crate::marc::RECORD_TERMINATOR;

/// A tag: three printable ASCII characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag([u8; 3]);

impl Tag {
    /// The tag of these bytes, if they are one.
    #[inline]
    pub(super) fn new(bytes: [u8; 3]) -> Option<Tag> {
        bytes.iter().all(|byte| matches!(byte, b' '..=b'~')).then_some(Tag(bytes))
    }

    /// The tag as text.
    #[inline]
    pub(super) fn as_str(&self) -> &str {
        // SAFETY: the bytes are ASCII, checked when the tag was made and not changed since.
        unsafe { std::str::from_utf8_unchecked(&self.0) }
    }
}

/// Appends to `places` the index of every byte of `bytes` that is a record terminator, a field
/// terminator or a subfield delimiter (0x1D to 0x1F).
///
/// # Panics
/// If `bytes` is 4 GiB or longer.
pub(super) fn delimiters(bytes: &[u8], places: &mut Vec<u32>) {
    assert!(u32::try_from(bytes.len()).is_ok(), "a record is shorter than 4 GiB");
    let mut chunks = bytes.chunks_exact(64);
    let mut start = 0u32;
    for chunk in &mut chunks {
        let chunk: &[u8; 64] = chunk.try_into().expect("chunks are exact");
        let mut found = mask(chunk);
        while found != 0 {
            places.push(start + found.trailing_zeros());
            found &= found - 1;
        }
        start += 64;
    }
    for (index, &byte) in chunks.remainder().iter().enumerate() {
        if is_delimiter(byte) {
            places.push(start + index as u32);
        }
    }
}

/// How many delimiters there are in `bytes`.
pub(super) fn count(bytes: &[u8]) -> usize {
    let mut chunks = bytes.chunks_exact(64);
    let mut found = 0;
    for chunk in &mut chunks {
        found += mask(chunk.try_into().expect("chunks are exact")).count_ones() as usize;
    }
    found + chunks.remainder().iter().filter(|byte| is_delimiter(**byte)).count()
}

#[inline]
fn is_delimiter(byte: u8) -> bool {
    byte.wrapping_sub(RECORD_TERMINATOR) <= 2
}

/// A bit for each byte that is a delimiter.
#[cfg(target_arch = "x86_64")]
#[inline]
fn mask(chunk: &[u8; 64]) -> u64 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8, _mm_setzero_si128,
        _mm_sub_epi8, _mm_subs_epu8,
    };
    let mut bits = 0;
    for (index, part) in chunk.chunks_exact(16).enumerate() {
        // SAFETY: SSE2 is part of every x86-64, and `part` is sixteen bytes long.
        let mask = unsafe {
            let bytes = _mm_loadu_si128(part.as_ptr().cast());
            let from_first = _mm_sub_epi8(bytes, _mm_set1_epi8(RECORD_TERMINATOR as i8));
            let above = _mm_subs_epu8(from_first, _mm_set1_epi8(2));
            _mm_movemask_epi8(_mm_cmpeq_epi8(above, _mm_setzero_si128()))
        };
        bits |= u64::from(mask as u16) << (16 * index);
    }
    bits
}

/// A bit for each byte that is a delimiter.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn mask(chunk: &[u8; 64]) -> u64 {
    let mut bits = 0;
    for (index, &byte) in chunk.iter().enumerate() {
        bits |= u64::from(is_delimiter(byte)) << index;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_printable() {
        assert_eq!(Tag::new(*b"245").as_ref().map(Tag::as_str), Some("245"));
        assert_eq!(Tag::new(*b" ~A").as_ref().map(Tag::as_str), Some(" ~A"));
        for byte in [0, 0x1F, 0x7F, 0x80, 0xFF] {
            assert_eq!(Tag::new([b'2', byte, b'5']), None);
        }
    }

    #[test]
    fn every_delimiter_at_every_place() {
        for byte in 0..=255u8 {
            for length in [1, 63, 64, 65, 130] {
                for place in 0..length {
                    let mut bytes = vec![b'x'; length];
                    bytes[place] = byte;
                    let mut places = Vec::new();
                    delimiters(&bytes, &mut places);
                    let expected: &[u32] =
                        if matches!(byte, 0x1D..=0x1F) { &[place as u32] } else { &[] };
                    assert_eq!(places, expected, "{byte:#x} at {place} of {length}");
                    assert_eq!(count(&bytes), expected.len());
                }
            }
        }
    }
}
