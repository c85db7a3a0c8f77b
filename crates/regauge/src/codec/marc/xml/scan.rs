//! Finds the bytes with a meaning in XML, sixteen at a time.

#![allow(unsafe_code, reason = "SIMD intrinsics")]

/// Returns the index of the first byte that is not plain text in an element, or the length: control
/// characters, `& < >`, and 0xEF, the lead byte of U+FFFE and U+FFFF (and of other characters). In
/// an attribute, quotes count too.
#[inline]
pub(super) fn first_special(bytes: &[u8]) -> usize {
    let mut chunks = bytes.chunks_exact(16);
    let mut start = 0;
    for chunk in &mut chunks {
        let found = mask(chunk.try_into().expect("chunks are exact"));
        if found != 0 {
            return start + found.trailing_zeros() as usize;
        }
        start += 16;
    }
    let rest = chunks.remainder();
    if bytes.len() < 16 {
        return rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len());
    }
    // The last sixteen bytes again; the first of them are known to be plain.
    let tail = bytes.len() - 16;
    match mask(bytes[tail..].try_into().expect("sixteen bytes")) {
        0 => bytes.len(),
        found => tail + found.trailing_zeros() as usize,
    }
}

#[inline]
fn is_special(byte: u8) -> bool {
    byte < b' ' || matches!(byte, b'&' | b'<' | b'>' | 0xEF)
}

/// Returns a bit for each byte that is special.
#[cfg(target_arch = "x86_64")]
#[inline]
fn mask(chunk: &[u8; 16]) -> u32 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8,
    };
    // SAFETY: SSE2 is part of every x86-64, and the chunk is sixteen bytes long.
    unsafe {
        let bytes = _mm_loadu_si128(chunk.as_ptr().cast());
        let is = |byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8));
        let control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
        // `<` and `>` differ in one bit.
        let angle = _mm_cmpeq_epi8(_mm_or_si128(bytes, _mm_set1_epi8(2)), _mm_set1_epi8(0x3E));
        let others = _mm_or_si128(is(b'&'), is(0xEF));
        _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(control, angle), others)) as u32
    }
}

/// Returns a bit for each byte that is special.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn mask(chunk: &[u8; 16]) -> u32 {
    let mut bits = 0;
    for (index, &byte) in chunk.iter().enumerate() {
        bits |= u32::from(is_special(byte)) << index;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_special_byte_at_every_place() {
        for byte in 0..=255u8 {
            for length in [1, 15, 16, 17, 31, 32, 40] {
                for place in 0..length {
                    let mut bytes = vec![b'x'; length];
                    bytes[place] = byte;
                    let expected = if is_special(byte) { place } else { length };
                    assert_eq!(first_special(&bytes), expected, "{byte:#x} at {place} of {length}");
                }
            }
        }
        assert_eq!(first_special(b""), 0);
    }
}
