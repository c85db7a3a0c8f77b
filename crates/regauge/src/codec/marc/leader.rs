//! The leader: 24 characters at the start of a record. Two numbers in it belong to ISO 2709, the
//! rest to the cataloguer (MARC 21 Format for Bibliographic Data, "Leader").

pub use crate::model::record::CHARSET_POSITION;

/// The number of characters in a leader.
pub const LEADER_BYTES: usize = 24;

/// The leader of a record that has none, in a file whose text is UTF-8: that, and nothing else specified.
pub(super) const NO_LEADER: &str = "00000    a2200000   4500";

/// Parses ASCII digits; returns `None` if one of the bytes is not a digit.
#[inline]
pub fn number(digits: &[u8]) -> Option<usize> {
    let mut value = 0;
    let mut wrong = 0;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        wrong |= u8::from(digit > 9);
        value = value * 10 + usize::from(digit);
    }
    (wrong == 0).then_some(value)
}

/// Writes `value` with leading zeros into all of `digits`; a value too long becomes nines, as is
/// customary (see [`crate::codec::marc::iso2709`]).
#[inline]
pub fn write_number(digits: &mut [u8], value: usize) {
    let mut rest = value;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    if rest > 0 {
        digits.fill(b'9');
    }
}

/// Returns the nine digits of a number below 1,000,000,000: the length and start of a directory
/// entry together.
#[inline]
pub(crate) fn nine_digits(value: u32) -> [u8; 9] {
    let (first, rest) = (value / 100_000_000, value % 100_000_000);
    // Eight digits side by side in a word, split into halves, quarters and eighths, each step for
    // all parts at once. Division by 100 and by 10 is a multiplication that is exact in its range.
    let quads = u64::from(rest / 10_000) | u64::from(rest % 10_000) << 32;
    let hundreds = ((quads * 10_486) >> 20) & 0x0000_007F_0000_007F;
    let pairs = hundreds | (quads - 100 * hundreds) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000F_000F_000F_000F;
    let digits = tens | (pairs - 10 * tens) << 8;
    let mut bytes = [b'0' + first as u8; 9];
    bytes[1..].copy_from_slice(&(digits + 0x3030_3030_3030_3030).to_le_bytes());
    bytes
}

/// Parses nine ASCII digits as a number below 1,000,000,000; returns `None` if one of them is not a
/// digit.
#[inline]
pub(crate) fn from_nine_digits(digits: &[u8; 9]) -> Option<u32> {
    let [first, rest @ ..] = digits;
    let word = u64::from_le_bytes(*rest);
    // A digit has 3 in its high half, and still has it after 6 is added.
    let high = word & 0xF0F0_F0F0_F0F0_F0F0;
    let more = (word.wrapping_add(0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0) >> 4;
    if high | more != 0x3333_3333_3333_3333 || !first.is_ascii_digit() {
        return None;
    }
    let digits = word & 0x0F0F_0F0F_0F0F_0F0F;
    let pairs = (digits * 10 + (digits >> 8)) & 0x00FF_00FF_00FF_00FF;
    let quads = (pairs * 100 + (pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    let all = (quads * 10_000 + (quads >> 32)) & 0xFFFF_FFFF;
    Some(u32::from(first - b'0') * 100_000_000 + all as u32)
}

/// The sizes that the leader states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Leader/00-04, the length of the record in bytes, if it is a number.
    pub record_length: Option<usize>,
    /// Leader/12-16, the start of the data in bytes from the start of the record, if it is a
    /// number.
    pub base_address: Option<usize>,
}

impl Sizes {
    /// Reads the sizes from a leader, or from the part of one that has arrived.
    pub fn of(leader: &[u8]) -> Sizes {
        Sizes {
            record_length: leader.get(..5).and_then(number),
            base_address: leader.get(12..17).and_then(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_both_ways() {
        assert_eq!(number(b"00714"), Some(714));
        assert_eq!(number(b"0071 "), None);
        assert_eq!(number(b"\xB0\xB1"), None);
        let mut digits = [0; 5];
        for (value, text) in [(0, b"00000"), (714, b"00714"), (99_999, b"99999")] {
            write_number(&mut digits, value);
            assert_eq!(&digits, text);
        }
        write_number(&mut digits, 100_000);
        assert_eq!(&digits, b"99999");
    }

    #[test]
    fn nine_digits_go_both_ways() {
        let mut value = 1u32;
        for step in 0..200_000u32 {
            value = value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let value = if step < 11_000 { step } else { value % 1_000_000_000 };
            let digits = nine_digits(value);
            assert_eq!(digits, *format!("{value:09}").as_bytes());
            assert_eq!(from_nine_digits(&digits), Some(value));
        }
        for place in 0..9 {
            for byte in 0..=255u8 {
                let mut digits = *b"123456789";
                digits[place] = byte;
                let expected = std::str::from_utf8(&digits)
                    .ok()
                    .and_then(|text| byte.is_ascii_digit().then(|| text.parse().unwrap()));
                assert_eq!(from_nine_digits(&digits), expected, "{byte} at {place}");
            }
        }
    }
}
