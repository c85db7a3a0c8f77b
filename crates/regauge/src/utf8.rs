//! The check that bytes are UTF-8, tuned for the short text that documents are made of.
//!
//! A leaf module: it may use `unsafe`, each block with its reason.

#![allow(unsafe_code, reason = "text that was checked to be UTF-8")]

/// The bytes as text, or `None` where they are not UTF-8.
///
/// Up to 64 bytes of ASCII are seen by a few overlapping loads, without a loop or a call; anything
/// else goes to `simdutf8`.
#[inline]
pub(crate) fn from_utf8(bytes: &[u8]) -> Option<&str> {
    if is_short_ascii(bytes) {
        // SAFETY: ASCII is UTF-8.
        return Some(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    simdutf8::basic::from_utf8(bytes).ok()
}

/// As [`from_utf8`] of the first `length` of `bytes`, which must be so many. Under 32 bytes, and
/// with as many there, it needs no branch on the length: lengths of keys are hard to predict.
#[inline]
pub(crate) fn from_utf8_prefix(bytes: &[u8], length: usize) -> Option<&str> {
    let text = &bytes[..length];
    #[cfg(target_arch = "x86_64")]
    if length < 32
        && let Some(chunk) = bytes.first_chunk()
        && high_bits(chunk) & ((1 << length) - 1) == 0
    {
        // SAFETY: the first `length` bytes are ASCII, which is UTF-8.
        return Some(unsafe { std::str::from_utf8_unchecked(text) });
    }
    from_utf8(text)
}

/// The highest bit of every byte, the first lowest.
#[cfg(target_arch = "x86_64")]
#[inline]
fn high_bits(chunk: &[u8; 32]) -> u32 {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_movemask_epi8};
    // SAFETY: both halves lie in the chunk; SSE2 is part of x86-64.
    unsafe {
        let low = _mm_movemask_epi8(_mm_loadu_si128(chunk.as_ptr().cast())) as u32;
        let high = _mm_movemask_epi8(_mm_loadu_si128(chunk.as_ptr().add(16).cast())) as u32;
        low | high << 16
    }
}

/// Tells whether the bytes are at most 64, and ASCII. The loads overlap, so that they never reach
/// past the bytes.
#[inline]
fn is_short_ascii(bytes: &[u8]) -> bool {
    const HIGH_BITS: u128 = 0x8080_8080_8080_8080_8080_8080_8080_8080;
    let mixed = match bytes.len() {
        0 => 0,
        1..4 => {
            let middle = bytes[bytes.len() / 2];
            u128::from(bytes[0] | middle | bytes[bytes.len() - 1])
        }
        4..8 => u128::from(u32::from_ne_bytes(head(bytes)) | u32::from_ne_bytes(tail(bytes))),
        8..16 => u128::from(u64::from_ne_bytes(head(bytes)) | u64::from_ne_bytes(tail(bytes))),
        16..=32 => u128::from_ne_bytes(head(bytes)) | u128::from_ne_bytes(tail(bytes)),
        33..=64 => {
            u128::from_ne_bytes(head(bytes))
                | u128::from_ne_bytes(head(&bytes[16..]))
                | u128::from_ne_bytes(tail(&bytes[..bytes.len() - 16]))
                | u128::from_ne_bytes(tail(bytes))
        }
        _ => return false,
    };
    mixed & HIGH_BITS == 0
}

#[inline]
fn head<const N: usize>(bytes: &[u8]) -> [u8; N] {
    *bytes.first_chunk().expect("the caller looked at the length")
}

#[inline]
fn tail<const N: usize>(bytes: &[u8]) -> [u8; N] {
    *bytes.last_chunk().expect("the caller looked at the length")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_and_every_place() {
        for length in 0..130 {
            let mut bytes: Vec<u8> = (0..length).map(|i| b'a' + (i % 26) as u8).collect();
            assert_eq!(from_utf8(&bytes), std::str::from_utf8(&bytes).ok());
            for place in 0..length {
                let before = bytes[place];
                for broken in [0x80, 0xC3, 0xFF] {
                    bytes[place] = broken;
                    assert_eq!(from_utf8(&bytes), None, "{length} bytes, {broken:#x} at {place}");
                    // Only what comes before the end counts.
                    for end in place.saturating_sub(2)..length.min(place + 40) {
                        assert_eq!(from_utf8_prefix(&bytes, end).is_some(), end <= place);
                    }
                }
                bytes[place] = before;
                if place + 1 < length {
                    let pair = [bytes[place], bytes[place + 1]];
                    bytes[place..place + 2].copy_from_slice("é".as_bytes());
                    assert_eq!(from_utf8(&bytes), std::str::from_utf8(&bytes).ok());
                    bytes[place..place + 2].copy_from_slice(&pair);
                }
            }
        }
    }
}
