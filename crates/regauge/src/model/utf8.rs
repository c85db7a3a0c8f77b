//! Checks that bytes are UTF-8, tuned for the short text in typical documents.
//!
//! A leaf module: it may use `unsafe`, and every block states its reason.

#![allow(unsafe_code, reason = "text that was checked to be UTF-8")]

/// Returns the bytes as text, or `None` if they are not UTF-8.
///
/// Up to 64 bytes of ASCII are checked with a few overlapping loads, without a loop or a call;
/// anything else goes to `simdutf8`.
#[inline]
pub fn from_utf8(bytes: &[u8]) -> Option<&str> {
    if is_short_ascii(bytes) {
        // SAFETY: ASCII is UTF-8.
        return Some(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    simdutf8::basic::from_utf8(bytes).ok()
}

/// Text of less than 32 bytes in a readable window of 32 bytes, so that it can be inspected and
/// copied without a branch on its length, which is hard to predict.
#[derive(Clone, Copy)]
pub struct ShortText<'a> {
    window: &'a [u8; 32],
    /// Below 32; this many bytes of the window are UTF-8.
    length: usize,
}

impl<'a> ShortText<'a> {
    /// Returns the first `length` bytes of the window; `None` unless all of them are ASCII and
    /// `length` is at most 31.
    #[inline(always)]
    pub fn ascii(window: &'a [u8; 32], length: usize) -> Option<ShortText<'a>> {
        (length < 32 && high_bits(window) & ((1 << length) - 1) == 0)
            .then_some(ShortText { window, length })
    }

    /// Same as [`ascii`](ShortText::ascii), for bytes that are known to be ASCII.
    ///
    /// # Safety
    /// `length` must be below 32, and this many bytes of the window must be ASCII.
    #[inline(always)]
    pub unsafe fn known(window: &'a [u8; 32], length: usize) -> ShortText<'a> {
        debug_assert!(ShortText::ascii(window, length).is_some());
        ShortText { window, length }
    }

    /// Returns the bytes before the first zero byte of the window; `None` if there is no zero byte
    /// or if any of them is not ASCII.
    #[inline(always)]
    pub fn until_zero(window: &'a [u8; 32]) -> Option<ShortText<'a>> {
        let length = zero_bytes(window).trailing_zeros() as usize;
        ShortText::ascii(window, length)
    }

    /// Returns the text and the bytes after it, which can be anything.
    #[inline(always)]
    pub fn window(self) -> &'a [u8; 32] {
        self.window
    }

    /// Returns the length in bytes, less than 32.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        self.length
    }

    /// Returns whether one of its bytes is zero.
    #[inline(always)]
    pub fn has_zero(self) -> bool {
        zero_bytes(self.window) & ((1 << self.length) - 1) != 0
    }

    /// Returns the text.
    #[inline(always)]
    pub fn as_str(self) -> &'a str {
        // SAFETY: the length is below 32, and this many bytes were checked to be ASCII.
        unsafe { std::str::from_utf8_unchecked(self.window.get_unchecked(..self.length)) }
    }

    /// Appends the text, by a copy of the whole window.
    #[inline(always)]
    pub fn push_to(self, text: &mut String) {
        // SAFETY: what the window holds after the text is cut off before the string is used again;
        // a failed allocation changes nothing.
        let bytes = unsafe { text.as_mut_vec() };
        let end = bytes.len() + self.length;
        bytes.extend_from_slice(self.window);
        bytes.truncate(end);
    }
}

impl std::fmt::Debug for ShortText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_str().fmt(f)
    }
}

/// Returns the highest bit of every byte; the first byte's bit is the lowest.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn high_bits(chunk: &[u8; 32]) -> u32 {
    chunk.iter().rev().fold(0, |bits, byte| bits << 1 | u32::from(byte >> 7))
}

/// Returns the highest bit of every byte; the first byte's bit is the lowest.
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

/// Returns a bit for every zero byte; the first byte's bit is the lowest.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn zero_bytes(chunk: &[u8; 32]) -> u32 {
    chunk.iter().rev().fold(0, |bits, byte| bits << 1 | u32::from(*byte == 0))
}

/// Returns a bit for every zero byte; the first byte's bit is the lowest.
#[cfg(target_arch = "x86_64")]
#[inline]
fn zero_bytes(chunk: &[u8; 32]) -> u32 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_setzero_si128,
    };
    // SAFETY: both halves lie in the chunk; SSE2 is part of x86-64.
    unsafe {
        let zero = _mm_setzero_si128();
        let low = _mm_cmpeq_epi8(_mm_loadu_si128(chunk.as_ptr().cast()), zero);
        let high = _mm_cmpeq_epi8(_mm_loadu_si128(chunk.as_ptr().add(16).cast()), zero);
        _mm_movemask_epi8(low) as u32 | (_mm_movemask_epi8(high) as u32) << 16
    }
}

/// Returns whether the bytes are at most 64, and all ASCII. The loads overlap, so they never reach
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
    *bytes.first_chunk().expect("the caller checked the length")
}

#[inline]
fn tail<const N: usize>(bytes: &[u8]) -> [u8; N] {
    *bytes.last_chunk().expect("the caller checked the length")
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
                    // Only the bytes before the end count.
                    for end in place.saturating_sub(2)..length.min(place + 40) {
                        let Some(window) = bytes.first_chunk() else { continue };
                        let short = ShortText::ascii(window, end);
                        assert_eq!(short.is_some(), end < 32 && end <= place);
                        if let Some(short) = short {
                            assert_eq!(short.as_str().as_bytes(), &bytes[..end]);
                            assert_eq!(short.window()[..], bytes[..32]);
                        }
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

    #[test]
    fn text_until_a_zero_byte() {
        for length in 0..=32 {
            let mut window = [b'a'; 32];
            window[length..].fill(0);
            let text = ShortText::until_zero(&window);
            assert_eq!(text.map(|text| text.len()), (length < 32).then_some(length));
            for cut in 0..32 {
                let has_zero = ShortText::ascii(&window, cut).map(|text| text.has_zero());
                assert_eq!(has_zero, Some(length < cut));
            }
            for place in 0..32 {
                let before = std::mem::replace(&mut window[place], 0xC3);
                let text = ShortText::until_zero(&window);
                assert_eq!(text.is_some(), length < place, "{length} {place}");
                window[place] = before;
            }
        }
    }
}
