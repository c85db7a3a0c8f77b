//! Finds where the plain run of a scalar ends, sixteen bytes at a time.
//!
//! As in JSON, this uses only what every x86-64 has, so nothing is dispatched at run time; other
//! machines compute the same masks with plain loops.

#![allow(unsafe_code, reason = "SIMD intrinsics")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Sixteen bytes. In every mask, bit `i` is set if byte `i` is of the kind.
#[derive(Clone, Copy)]
pub(super) struct Block(
    #[cfg(target_arch = "x86_64")] __m128i,
    #[cfg(not(target_arch = "x86_64"))] [u8; 16],
);

/// Returns the sixteen bytes at `at`, if there are that many.
#[inline(always)]
pub(super) fn sixteen(bytes: &[u8], at: usize) -> Option<&[u8; 16]> {
    bytes.get(at..)?.first_chunk()
}

/// Returns the index of the first byte from `at` on that is not a space, or the end of the bytes.
#[inline(always)]
pub(super) fn skip_spaces(bytes: &[u8], mut at: usize) -> usize {
    while let Some(block) = sixteen(bytes, at) {
        let others = Block::load(block).others();
        if others != 0 {
            return at + others.trailing_zeros() as usize;
        }
        at += 16;
    }
    while bytes.get(at) == Some(&b' ') {
        at += 1;
    }
    at
}

#[cfg(target_arch = "x86_64")]
impl Block {
    #[inline(always)]
    pub(super) fn load(bytes: &[u8; 16]) -> Block {
        // SAFETY: sixteen bytes are readable at the reference; SSE2 is always available.
        Block(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
    }

    /// For characters outside ASCII, marks all bytes except the first of those that may be
    /// unprintable: U+0080 to U+00BF, and U+F000 to U+FFFF.
    #[inline(always)]
    pub(super) fn printable_high(self) -> u32 {
        // SAFETY: SSE2 is always available.
        unsafe {
            let high = _mm_movemask_epi8(self.0) as u32;
            if high == 0 {
                return 0;
            }
            let low = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(0xC2_u8 as i8));
            let last = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(0xEF_u8 as i8));
            high & !(_mm_movemask_epi8(_mm_or_si128(low, last)) as u32)
        }
    }

    /// Marks control characters and everything outside ASCII.
    #[inline(always)]
    pub(super) fn unusual(self) -> u32 {
        // Bytes outside ASCII are negative, and so also below the space.
        // SAFETY: SSE2 is always available.
        unsafe {
            let low = _mm_cmplt_epi8(self.0, _mm_set1_epi8(0x20));
            let delete = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(0x7F));
            _mm_movemask_epi8(_mm_or_si128(low, delete)) as u32
        }
    }

    /// Marks everything except spaces.
    #[inline(always)]
    pub(super) fn others(self) -> u32 {
        // SAFETY: SSE2 is always available.
        let spaces =
            unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self.0, _mm_set1_epi8(b' ' as i8))) as u32 };
        !spaces & 0xFFFF
    }

    /// Marks where a plain scalar may end: colon, hash, and [`unusual`](Block::unusual) bytes.
    #[inline(always)]
    pub(super) fn plain_stops(self) -> u32 {
        // SAFETY: SSE2 is always available.
        unsafe {
            let low = _mm_cmplt_epi8(self.0, _mm_set1_epi8(0x20));
            let delete = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(0x7F));
            let colon = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(b':' as i8));
            let hash = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(b'#' as i8));
            _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(low, delete), _mm_or_si128(colon, hash)))
                as u32
        }
    }

    /// Marks the indicators of flow collections: `,`, `[`, `]`, `{` and `}`.
    #[inline(always)]
    pub(super) fn flow_indicators(self) -> u32 {
        // SAFETY: SSE2 is always available.
        unsafe {
            // The square brackets and the curly ones differ in one bit.
            let folded = _mm_or_si128(self.0, _mm_set1_epi8(0x20));
            let open = _mm_cmpeq_epi8(folded, _mm_set1_epi8(b'{' as i8));
            let close = _mm_cmpeq_epi8(folded, _mm_set1_epi8(b'}' as i8));
            let comma = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(b',' as i8));
            _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(open, close), comma)) as u32
        }
    }

    /// Marks where the plain run of a quoted scalar ends: its quote, a backslash (which does not
    /// matter in single quotes), an ASCII control character.
    #[inline(always)]
    pub(super) fn quoted_stops(self, quote: u8) -> u32 {
        // SAFETY: SSE2 is always available.
        unsafe {
            let control = _mm_cmpeq_epi8(_mm_min_epu8(self.0, _mm_set1_epi8(0x1F)), self.0);
            let quote = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(quote as i8));
            let escape = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(b'\\' as i8));
            _mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, escape))) as u32
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Block {
    #[inline(always)]
    pub(super) fn load(bytes: &[u8; 16]) -> Block {
        Block(*bytes)
    }

    #[inline(always)]
    fn mask(self, is: impl Fn(u8) -> bool) -> u32 {
        self.0.iter().rev().fold(0, |mask, byte| mask << 1 | u32::from(is(*byte)))
    }

    /// For characters outside ASCII, marks all bytes except the first of those that may be
    /// unprintable: U+0080 to U+00BF, and U+F000 to U+FFFF.
    #[inline(always)]
    pub(super) fn printable_high(self) -> u32 {
        self.mask(|byte| byte >= 0x80 && byte != 0xC2 && byte != 0xEF)
    }

    /// Marks control characters and everything outside ASCII.
    #[inline(always)]
    pub(super) fn unusual(self) -> u32 {
        self.mask(|byte| byte < 0x20 || byte >= 0x7F)
    }

    /// Marks everything except spaces.
    #[inline(always)]
    pub(super) fn others(self) -> u32 {
        self.mask(|byte| byte != b' ')
    }

    /// Marks where a plain scalar may end: colon, hash, and [`unusual`](Block::unusual) bytes.
    #[inline(always)]
    pub(super) fn plain_stops(self) -> u32 {
        self.mask(|byte| byte < 0x20 || byte >= 0x7F || byte == b':' || byte == b'#')
    }

    /// Marks the indicators of flow collections: `,`, `[`, `]`, `{` and `}`.
    #[inline(always)]
    pub(super) fn flow_indicators(self) -> u32 {
        self.mask(|byte| matches!(byte, b',' | b'[' | b']' | b'{' | b'}'))
    }

    /// Marks where the plain run of a quoted scalar ends: its quote, a backslash (which does not
    /// matter in single quotes), an ASCII control character.
    #[inline(always)]
    pub(super) fn quoted_stops(self, quote: u8) -> u32 {
        self.mask(|byte| byte < 0x20 || byte == quote || byte == b'\\')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_say_what_stands_where() {
        for byte in 0..=255u8 {
            for at in 0..16 {
                let mut bytes = [b'a'; 16];
                bytes[at] = byte;
                let block = Block::load(&bytes);
                let bit = |is: bool| u32::from(is) << at;
                let unusual = !(0x20..0x7F).contains(&byte);
                assert_eq!(block.unusual(), bit(unusual));
                assert_eq!(block.plain_stops(), bit(unusual || byte == b':' || byte == b'#'));
                let printable = byte >= 0x80 && byte != 0xC2 && byte != 0xEF;
                assert_eq!(block.printable_high(), bit(printable));
                let mut spaces = [b' '; 16];
                spaces[at] = byte;
                assert_eq!(Block::load(&spaces).others(), bit(byte != b' '));
                assert_eq!(block.flow_indicators(), bit(b",[]{}".contains(&byte)));
                assert_eq!(
                    block.quoted_stops(b'"'),
                    bit(byte < 0x20 || byte == b'"' || byte == b'\\')
                );
            }
        }
        for count in 0..70 {
            let text = format!("{}x{}", " ".repeat(count), " ".repeat(70 - count));
            assert_eq!(skip_spaces(text.as_bytes(), 0), count);
            assert_eq!(skip_spaces(&text.as_bytes()[..count], 0), count);
        }
        assert!(sixteen(&[0; 20], 4).is_some() && sixteen(&[0; 20], 5).is_none());
    }
}
