//! Finds the delimiters of a record, 64 bytes at a time.
//!
//! A leaf module: it may use `unsafe`, each block with its reason.

#![allow(unsafe_code, reason = "SIMD intrinsics")]

use super::{RECORD_TERMINATOR, SUBFIELD_DELIMITER};

/// Fills `places` with the index of every byte of `bytes` that is a record terminator, a field
/// terminator or a subfield delimiter (0x1D to 0x1F). Returns how many of them are terminators.
///
/// # Panics
/// If `bytes` is 4 GiB or longer.
pub(super) fn delimiters(bytes: &[u8], places: &mut Vec<u32>) -> usize {
    assert!(u32::try_from(bytes.len()).is_ok(), "a record is shorter than 4 GiB");
    places.clear();
    let mut chunks = bytes.chunks_exact(64);
    let (mut start, mut terminators) = (0u32, 0);
    for chunk in &mut chunks {
        let chunk: &[u8; 64] = chunk.try_into().expect("chunks are exact");
        let mut found = mask::<2>(chunk);
        terminators += mask::<1>(chunk).count_ones() as usize;
        places.reserve(64);
        while found != 0 {
            let length = places.len();
            // SAFETY: there is room for 64 more, reserved above, and a chunk has no more places.
            unsafe {
                places.as_mut_ptr().add(length).write(start + found.trailing_zeros());
                places.set_len(length + 1);
            }
            found &= found - 1;
        }
        start += 64;
    }
    for (index, &byte) in chunks.remainder().iter().enumerate() {
        if is_delimiter(byte) {
            places.push(start + index as u32);
            terminators += usize::from(byte != SUBFIELD_DELIMITER);
        }
    }
    terminators
}

/// Returns the number of delimiters in `bytes`.
pub(super) fn count(bytes: &[u8]) -> usize {
    let mut chunks = bytes.chunks_exact(64);
    let mut found = 0;
    for chunk in &mut chunks {
        found += mask::<2>(chunk.try_into().expect("chunks are exact")).count_ones() as usize;
    }
    found + chunks.remainder().iter().filter(|byte| is_delimiter(**byte)).count()
}

#[inline]
fn is_delimiter(byte: u8) -> bool {
    byte.wrapping_sub(RECORD_TERMINATOR) <= 2
}

/// Returns a bit for each byte, set from the record terminator (0x1D) up to `ABOVE` more.
#[cfg(target_arch = "x86_64")]
#[inline]
fn mask<const ABOVE: u8>(chunk: &[u8; 64]) -> u64 {
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
            let above = _mm_subs_epu8(from_first, _mm_set1_epi8(ABOVE as i8));
            _mm_movemask_epi8(_mm_cmpeq_epi8(above, _mm_setzero_si128()))
        };
        bits |= u64::from(mask as u16) << (16 * index);
    }
    bits
}

/// Returns a bit for each byte, set from the record terminator (0x1D) up to `ABOVE` more.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn mask<const ABOVE: u8>(chunk: &[u8; 64]) -> u64 {
    let mut bits = 0;
    for (index, &byte) in chunk.iter().enumerate() {
        bits |= u64::from(byte.wrapping_sub(RECORD_TERMINATOR) <= ABOVE) << index;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_delimiter_at_every_place() {
        for byte in 0..=255u8 {
            for length in [1, 63, 64, 65, 130] {
                for place in 0..length {
                    let mut bytes = vec![b'x'; length];
                    bytes[place] = byte;
                    let mut places = Vec::new();
                    let terminators = delimiters(&bytes, &mut places);
                    assert_eq!(terminators, usize::from(matches!(byte, 0x1D | 0x1E)));
                    let expected: &[u32] =
                        if matches!(byte, 0x1D..=0x1F) { &[place as u32] } else { &[] };
                    assert_eq!(places, expected, "{byte:#x} at {place} of {length}");
                    assert_eq!(count(&bytes), expected.len());
                }
            }
        }
    }
}
