//! The leader: 24 characters at the head of a record, of which two numbers belong to ISO 2709
//! and the others to the cataloguer (MARC 21 Format for Bibliographic Data, "Leader").

/// How many characters a leader has.
pub const LEADER_BYTES: usize = 24;

/// The position of the character that tells the charset: `a` is UTF-8, a blank MARC-8.
pub const CHARSET_POSITION: usize = 9;

/// The number that ASCII digits write; `None` if one of the bytes is no digit.
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

/// Writes `value` with leading zeros into all of `digits`; a value too long becomes nines, which
/// is how such a number is written (see [`crate::marc::iso2709`]).
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

/// What the leader says about the record's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Leader/00-04, the length of the record in bytes, if it is a number.
    pub record_length: Option<usize>,
    /// Leader/12-16, where the data begins, in bytes from the record's first, if it is a number.
    pub base_address: Option<usize>,
}

impl Sizes {
    /// Reads them from a leader, or from as much of one as there is.
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
}
