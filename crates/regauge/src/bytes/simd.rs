//! What the reader and the writer search for in text, sixteen bytes at a time.
//!
//! SSE2 is part of every x86-64, so nothing is dispatched at run time: an AVX2 intrinsic in a
//! function without the target feature is a call per intrinsic, and costs more than it gains. Other
//! machines compute the same masks with plain loops, which compilers vectorize.

#![allow(unsafe_code, reason = "SIMD intrinsics")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Sixteen bytes of text. In every mask, bit `i` is set if byte `i` is of the kind.
#[derive(Clone, Copy)]
pub(crate) struct Block(
    #[cfg(target_arch = "x86_64")] __m128i,
    #[cfg(not(target_arch = "x86_64"))] [u8; 16],
);

impl Block {
    /// Loads the first and the last sixteen of thirty-two bytes.
    #[inline(always)]
    pub(crate) fn load_two(bytes: &[u8; 32]) -> (Block, Block) {
        let (first, last) = bytes.split_at(16);
        match (first.first_chunk(), last.first_chunk()) {
            (Some(first), Some(last)) => (Block::load(first), Block::load(last)),
            _ => unreachable!("16 and 16 bytes"),
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Block {
    #[inline(always)]
    pub(crate) fn load(bytes: &[u8; 16]) -> Block {
        // SAFETY: sixteen bytes are readable at the reference; SSE2 is always available.
        Block(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
    }

    /// Combines the bytes of two registers, the lowest first.
    #[inline(always)]
    pub(crate) fn of(low: u64, high: u64) -> Block {
        // SAFETY: SSE2 is always available.
        Block(unsafe { _mm_set_epi64x(high as i64, low as i64) })
    }

    #[inline(always)]
    fn mask(found: __m128i) -> u32 {
        // SAFETY: SSE2 is always available.
        (unsafe { _mm_movemask_epi8(found) }) as u32
    }

    /// Marks where a plain run of a string ends: quote, backslash, control character.
    #[inline(always)]
    pub(crate) fn string_stops(self) -> u32 {
        // SAFETY: SSE2 is always available.
        Block::mask(unsafe {
            let quote = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(b'"' as i8));
            let backslash = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(b'\\' as i8));
            let control = _mm_cmpeq_epi8(_mm_min_epu8(self.0, _mm_set1_epi8(0x1F)), self.0);
            _mm_or_si128(_mm_or_si128(quote, backslash), control)
        })
    }

    /// Same, but valid only for ASCII bytes. Control characters and the quote form one range once
    /// the second bit is flipped, so two signed byte comparisons replace three and a minimum.
    #[inline(always)]
    pub(crate) fn ascii_stops(self) -> u32 {
        // SAFETY: SSE2 is always available.
        Block::mask(unsafe {
            let flipped = _mm_xor_si128(self.0, _mm_set1_epi8(2));
            let quote_or_control = _mm_cmpgt_epi8(_mm_set1_epi8(0x21), flipped);
            let backslash = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(b'\\' as i8));
            _mm_or_si128(quote_or_control, backslash)
        })
    }

    /// Marks bytes outside ASCII.
    #[inline(always)]
    pub(crate) fn high(self) -> u32 {
        Block::mask(self.0)
    }

    /// Marks space, tab, carriage return, and `line_end` (a newline, or a space again if a newline
    /// is not whitespace).
    #[inline(always)]
    pub(crate) fn spaces(self, line_end: u8) -> u32 {
        // SAFETY: SSE2 is always available.
        Block::mask(unsafe {
            let space = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(b' ' as i8));
            let newline = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(line_end as i8));
            let tab = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(b'\t' as i8));
            let cr = _mm_cmpeq_epi8(self.0, _mm_set1_epi8(b'\r' as i8));
            _mm_or_si128(_mm_or_si128(space, newline), _mm_or_si128(tab, cr))
        })
    }

    /// Returns the number of leading decimal digits.
    #[inline(always)]
    pub(crate) fn digits(self) -> u32 {
        // SAFETY: SSE2 is always available.
        let digits = Block::mask(unsafe {
            let value = _mm_sub_epi8(self.0, _mm_set1_epi8(b'0' as i8));
            _mm_cmpeq_epi8(_mm_min_epu8(value, _mm_set1_epi8(9)), value)
        });
        // The mask has sixteen bits, so above them there is always an unset bit.
        (!digits).trailing_zeros()
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Block {
    #[inline(always)]
    pub(crate) fn load(bytes: &[u8; 16]) -> Block {
        Block(*bytes)
    }

    /// Combines the bytes of two registers, the lowest first.
    #[inline(always)]
    pub(crate) fn of(low: u64, high: u64) -> Block {
        Block((u128::from(high) << 64 | u128::from(low)).to_le_bytes())
    }

    #[inline(always)]
    fn mask(self, kind: impl Fn(u8) -> bool) -> u32 {
        let mut mask = 0;
        for (index, byte) in self.0.into_iter().enumerate() {
            mask |= u32::from(kind(byte)) << index;
        }
        mask
    }

    /// Marks where a plain run of a string ends: quote, backslash, control character.
    #[inline(always)]
    pub(crate) fn string_stops(self) -> u32 {
        self.mask(|byte| (byte == b'"') | (byte == b'\\') | (byte < 0x20))
    }

    /// Same, but valid only for ASCII bytes.
    #[inline(always)]
    pub(crate) fn ascii_stops(self) -> u32 {
        self.string_stops()
    }

    /// Marks bytes outside ASCII.
    #[inline(always)]
    pub(crate) fn high(self) -> u32 {
        self.mask(|byte| byte >= 0x80)
    }

    /// Marks space, tab, carriage return, and `line_end` (a newline, or a space again if a newline
    /// is not whitespace).
    #[inline(always)]
    pub(crate) fn spaces(self, line_end: u8) -> u32 {
        self.mask(|byte| (byte == b' ') | (byte == line_end) | (byte == b'\t') | (byte == b'\r'))
    }

    /// Returns the number of leading decimal digits.
    #[inline(always)]
    pub(crate) fn digits(self) -> u32 {
        (!self.mask(|byte| byte.is_ascii_digit())).trailing_zeros()
    }
}

/// Whether any [`string_stops`](Block::string_stops) occur in several blocks, regardless of where:
/// keeps the minimum of each kind, which takes two operations fewer per block than the masks.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Found {
    /// The minimum byte with its second bit flipped, so that the quote and control characters sort
    /// below the others.
    low: __m128i,
    /// The minimum byte with the bits of a backslash flipped.
    backslash: __m128i,
}

#[cfg(target_arch = "x86_64")]
impl Found {
    #[inline(always)]
    pub(crate) fn nothing() -> Found {
        // SAFETY: SSE2 is always available.
        let most = unsafe { _mm_set1_epi8(-1) };
        Found { low: most, backslash: most }
    }

    #[inline(always)]
    pub(crate) fn look_at(&mut self, block: Block) {
        // SAFETY: SSE2 is always available.
        unsafe {
            self.low = _mm_min_epu8(self.low, _mm_xor_si128(block.0, _mm_set1_epi8(2)));
            let backslash = _mm_xor_si128(block.0, _mm_set1_epi8(b'\\' as i8));
            self.backslash = _mm_min_epu8(self.backslash, backslash);
        }
    }

    #[inline(always)]
    pub(crate) fn stop(self) -> bool {
        // SAFETY: SSE2 is always available.
        let found = Block::mask(unsafe {
            let low = _mm_cmpeq_epi8(_mm_min_epu8(self.low, _mm_set1_epi8(0x20)), self.low);
            _mm_or_si128(low, _mm_cmpeq_epi8(self.backslash, _mm_setzero_si128()))
        });
        found != 0
    }
}

/// Whether any [`string_stops`](Block::string_stops) occur in several blocks, regardless of where.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Copy)]
pub(crate) struct Found(u32);

#[cfg(not(target_arch = "x86_64"))]
impl Found {
    #[inline(always)]
    pub(crate) fn nothing() -> Found {
        Found(0)
    }

    #[inline(always)]
    pub(crate) fn look_at(&mut self, block: Block) {
        self.0 |= block.string_stops();
    }

    #[inline(always)]
    pub(crate) fn stop(self) -> bool {
        self.0 != 0
    }
}

/// Returns the sixteen bytes at `at`, if there are that many.
#[inline(always)]
pub(crate) fn sixteen(bytes: &[u8], at: usize) -> Option<&[u8; 16]> {
    bytes.get(at..)?.first_chunk()
}

/// Returns the value of the last `count` of sixteen bytes, 1 to 16, which are ASCII digits. The
/// bytes before them do not matter.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn last_digits(bytes: &[u8; 16], count: u32) -> u64 {
    /// For each count, a mask of the bytes that belong to it.
    static MASKS: [[u8; 16]; 17] = {
        let mut masks = [[0; 16]; 17];
        let mut count = 0;
        while count <= 16 {
            let mut index = 16 - count;
            while index < 16 {
                masks[count][index] = 0xFF;
                index += 1;
            }
            count += 1;
        }
        masks
    };
    let mask = Block::load(&MASKS[count as usize]);
    // SAFETY: SSE2 is always available.
    let both = unsafe {
        let values = _mm_sub_epi8(Block::load(bytes).0, _mm_set1_epi8(b'0' as i8));
        let values = _mm_and_si128(values, mask.0);
        // Combines digits to groups of two, four and eight; the first group is the lowest.
        let first = _mm_and_si128(values, _mm_set1_epi16(0xFF));
        let twos =
            _mm_add_epi16(_mm_mullo_epi16(first, _mm_set1_epi16(10)), _mm_srli_epi16::<8>(values));
        let fours = _mm_madd_epi16(twos, _mm_set1_epi32(1 << 16 | 100));
        let eights =
            _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10_000));
        _mm_cvtsi128_si64(eights) as u64
    };
    (both & 0xFFFF_FFFF) * 100_000_000 + (both >> 32)
}

/// Returns the value of the last `count` of sixteen bytes, 1 to 16, which are ASCII digits. The
/// bytes before them do not matter.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn last_digits(bytes: &[u8; 16], count: u32) -> u64 {
    let both = u128::from_le_bytes(*bytes) ^ 0x3030_3030_3030_3030_3030_3030_3030_3030;
    let kept = both >> (128 - 8 * count) << (128 - 8 * count);
    let eight = |digits: u64| {
        let twos = digits.wrapping_mul(10).wrapping_add(digits >> 8);
        let low = (twos & 0x0000_00FF_0000_00FF).wrapping_mul(0x000F_4240_0000_0064);
        let high = ((twos >> 16) & 0x0000_00FF_0000_00FF).wrapping_mul(0x0000_2710_0000_0001);
        low.wrapping_add(high) >> 32
    };
    eight(kept as u64) * 100_000_000 + eight((kept >> 64) as u64)
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
                assert_eq!(
                    block.string_stops(),
                    bit(byte < 0x20 || byte == b'"' || byte == b'\\'),
                    "{byte}"
                );
                let mut found = Found::nothing();
                found.look_at(Block::load(&[b'~'; 16]));
                found.look_at(block);
                found.look_at(Block::load(&[0xFF; 16]));
                assert_eq!(found.stop(), block.string_stops() != 0, "{byte}");
                if byte < 0x80 {
                    assert_eq!(block.ascii_stops(), block.string_stops(), "{byte}");
                }
                assert_eq!(block.high(), bit(byte >= 0x80));
                let both = u128::from_le_bytes(bytes);
                let block = Block::of(both as u64, (both >> 64) as u64);
                assert_eq!(block.high(), bit(byte >= 0x80));
                assert_eq!(block.spaces(b'\n'), bit(b" \t\r\n".contains(&byte)));
                assert_eq!(block.spaces(b' '), bit(b" \t\r".contains(&byte)));
            }
        }
    }

    #[test]
    fn digits_of_every_count() {
        let text = b"9876543210123456";
        for count in 1..=16 {
            let mut cut = *text;
            cut[count..].fill(b':');
            assert_eq!(Block::load(&cut).digits(), count as u32);
            for before in [b'0', b'9', b'[', 0, 0xFF] {
                let mut cut = *text;
                cut[..16 - count].fill(before);
                let wanted = std::str::from_utf8(&text[16 - count..]).unwrap().parse();
                assert_eq!(Ok(last_digits(&cut, count as u32)), wanted);
                cut[16 - count..].fill(b'9');
                assert_eq!(last_digits(&cut, count as u32), 10u64.pow(count as u32) - 1);
            }
        }
        for byte in (0..=255).filter(|byte: &u8| !byte.is_ascii_digit()) {
            assert_eq!(Block::load(&[byte; 16]).digits(), 0);
        }
    }
}
