//! Finds what decides whether text can be written without quotes, sixteen bytes at a time.
//!
//! SSE2 is part of every x86-64, so nothing is dispatched at run time. Other machines compute the
//! same masks with plain loops.

#![allow(unsafe_code, reason = "SIMD intrinsics")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Masks of sixteen bytes: bit `i` is set if byte `i` is of the kind.
#[derive(Clone, Copy, Default)]
pub(super) struct Marks {
    /// Control characters of ASCII.
    pub(super) control: u32,
    /// Bytes outside ASCII.
    pub(super) high: u32,
    /// Spaces.
    pub(super) space: u32,
    /// `:`
    pub(super) colon: u32,
    /// `#`
    pub(super) hash: u32,
}

impl Marks {
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn of(bytes: &[u8; 16]) -> Marks {
        // SAFETY: sixteen bytes are readable at the reference; SSE2 is always available.
        unsafe {
            let bytes = _mm_loadu_si128(bytes.as_ptr().cast());
            let equal = |byte: u8| mask(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte.cast_signed())));
            let low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
            let delete = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7F));
            Marks {
                control: mask(_mm_or_si128(low, delete)),
                high: mask(bytes),
                space: equal(b' '),
                colon: equal(b':'),
                hash: equal(b'#'),
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    pub(super) fn of(bytes: &[u8; 16]) -> Marks {
        Marks {
            control: mask(bytes, |byte| (byte < 0x20) | (byte == 0x7F)),
            high: mask(bytes, |byte| byte >= 0x80),
            space: mask(bytes, |byte| byte == b' '),
            colon: mask(bytes, |byte| byte == b':'),
            hash: mask(bytes, |byte| byte == b'#'),
        }
    }

    /// Combines these with the sixteen that follow them.
    #[inline(always)]
    pub(super) fn and(self, next: Marks) -> Marks {
        Marks {
            control: self.control | next.control << 16,
            high: self.high | next.high << 16,
            space: self.space | next.space << 16,
            colon: self.colon | next.colon << 16,
            hash: self.hash | next.hash << 16,
        }
    }

    /// Marks what plain text cannot contain, as far as ASCII is concerned: a control character, a
    /// `:` before a space, a `#` after one. The byte before the first is ignored.
    #[inline(always)]
    pub(super) fn bad(self) -> u32 {
        self.control | (self.colon << 1) & self.space | (self.space << 1) & self.hash
    }
}

/// Marks bytes that begin a character which may be unprintable: U+0080 to U+00BF (0xC2), U+2000 to
/// U+2FFF (0xE2), U+F000 to U+FFFF (0xEF).
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn doubtful(bytes: &[u8; 16]) -> u32 {
    // SAFETY: sixteen bytes are readable at the reference; SSE2 is always available.
    unsafe {
        let bytes = _mm_loadu_si128(bytes.as_ptr().cast());
        let equal = |byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte.cast_signed()));
        mask(_mm_or_si128(_mm_or_si128(equal(0xC2), equal(0xE2)), equal(0xEF)))
    }
}

/// Same as above.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn doubtful(bytes: &[u8; 16]) -> u32 {
    mask(bytes, |byte| (byte == 0xC2) | (byte == 0xE2) | (byte == 0xEF))
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn mask(found: __m128i) -> u32 {
    // SAFETY: SSE2 is always available.
    (unsafe { _mm_movemask_epi8(found) }).cast_unsigned()
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn mask(bytes: &[u8; 16], kind: impl Fn(u8) -> bool) -> u32 {
    bytes.iter().rev().fold(0, |bits, byte| bits << 1 | u32::from(kind(*byte)))
}
