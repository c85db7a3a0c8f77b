//! The names of elements: array indexes, and keys, which must not contain a zero byte.

/// Indexes below this have at most four digits.
pub(super) const SHORT_INDEXES: u64 = 10_000;

/// Returns the type and the name of an array value with such an index, and their size in bytes.
#[inline(always)]
pub(super) fn short_index(kind: u8, index: u64) -> ([u8; 8], usize) {
    debug_assert!(index < SHORT_INDEXES);
    let (digits, count) = match index {
        0..=9 => (u64::from(b'0') + index, 1),
        10..=99 => (u64::from(pair(index)), 2),
        100..=999 => {
            let first = u64::from(b'0') + index / 100;
            (first | u64::from(pair(index % 100)) << 8, 3)
        }
        _ => (u64::from(pair(index / 100)) | u64::from(pair(index % 100)) << 16, 4),
    };
    // The type in the lowest byte, then the digits, then zero bytes.
    ((u64::from(kind) | digits << 8).to_le_bytes(), count + 2)
}

/// Returns both digits of a number below 100, the first in the low byte.
#[inline(always)]
fn pair(v: u64) -> u16 {
    static PAIRS: [u16; 100] = {
        let mut pairs = [0; 100];
        let mut v = 0;
        while v < 100 {
            pairs[v] = u16::from_le_bytes([b'0' + (v / 10) as u8, b'0' + (v % 10) as u8]);
            v += 1;
        }
        pairs
    };
    PAIRS[v as usize]
}

/// Returns whether any byte is zero. Keys are short: up to 32 bytes are checked with overlapping
/// loads, without calls.
#[inline(always)]
pub(super) fn has_zero(bytes: &[u8]) -> bool {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zeros = |word: u64| word.wrapping_sub(LOW) & !word & HIGH;
    let word = |at: usize| -> u64 {
        bytes[at..].first_chunk().map_or(LOW, |chunk| u64::from_le_bytes(*chunk))
    };
    match bytes.len() {
        0..4 => bytes.contains(&0),
        4..8 => {
            let half = |at: usize| -> u32 {
                bytes[at..].first_chunk().map_or(1, |chunk| u32::from_le_bytes(*chunk))
            };
            let (head, tail) = (half(0), half(bytes.len() - 4));
            zeros(u64::from(head) << 32 | u64::from(tail)) != 0
        }
        8..=16 => zeros(word(0)) | zeros(word(bytes.len() - 8)) != 0,
        17..=32 => {
            let tail = bytes.len() - 16;
            zeros(word(0)) | zeros(word(8)) | zeros(word(tail)) | zeros(word(tail + 8)) != 0
        }
        _ => memchr::memchr(0, bytes).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_is_seen_wherever_it_stands() {
        for length in 0..80 {
            for filler in [1, 0x7F, 0x80, 0x81, 0xFF] {
                let mut bytes = vec![filler; length];
                assert!(!has_zero(&bytes), "{length} of {filler}");
                for at in 0..length {
                    bytes[at] = 0;
                    assert!(has_zero(&bytes), "{length} of {filler}, at {at}");
                    bytes[at] = filler;
                }
            }
        }
    }
}
