//! The bytes of the wire, as `marshal.c` names them, and the number encoding that counts
//! everything.

/// Major and minor version: the first two bytes of every document.
pub const VERSION: [u8; 2] = [4, 8];

/// `nil`
pub const NIL: u8 = b'0';
/// `true`
pub const TRUE: u8 = b'T';
/// `false`
pub const FALSE: u8 = b'F';
/// An integer of 31 bits: a [`long`].
pub const FIXNUM: u8 = b'i';
/// A larger integer: sign, count of 16-bit words, words.
pub const BIGNUM: u8 = b'l';
/// A double as text.
pub const FLOAT: u8 = b'f';
/// Bytes.
pub const STRING: u8 = b'"';
/// A symbol at its first occurrence.
pub const SYMBOL: u8 = b':';
/// A link to an earlier symbol, by number.
pub const SYMLINK: u8 = b';';
/// A link to an earlier object, by number.
pub const LINK: u8 = b'@';
/// Count and values.
pub const ARRAY: u8 = b'[';
/// Count and pairs.
pub const HASH: u8 = b'{';
/// A hash, with the default value after its pairs.
pub const HASH_DEFAULT: u8 = b'}';
/// Class name, count, pairs of name and value.
pub const OBJECT: u8 = b'o';
/// Class name, count, pairs of member and value.
pub const STRUCT: u8 = b'S';
/// A value followed by its instance variables.
pub const IVARS: u8 = b'I';
/// The name of a subclass of String, Array, Hash or Regexp, and the value.
pub const USER_CLASS: u8 = b'C';
/// The name of a module that extends the following value.
pub const EXTENDED: u8 = b'e';
/// Bytes and a byte of options.
pub const REGEXP: u8 = b'/';
/// The name of a class.
pub const CLASS: u8 = b'c';
/// The name of a module.
pub const MODULE: u8 = b'm';
/// The name of a class or module (Ruby 1.6).
pub const MODULE_OLD: u8 = b'M';
/// Class name and the bytes that its `_dump` returned.
pub const USER_DUMP: u8 = b'u';
/// Class name and the value that its `marshal_dump` returned.
pub const USER_MARSHAL: u8 = b'U';
/// Class name and the value that its `_dump_data` returned.
pub const DATA: u8 = b'd';

/// Returns the number at `at` and the place after it, or `None` if the bytes end before that. A
/// number takes one byte for -123 to 122, otherwise a byte with the count of little-endian bytes
/// that follow (`marshal.c` `r_long`).
#[inline(always)]
pub fn long(bytes: &[u8], at: usize) -> Option<(i64, usize)> {
    let head = *bytes.get(at)? as i8;
    match head {
        5.. => Some((i64::from(head) - 5, at + 1)),
        // Links to objects are two-byte numbers in nearly every document.
        1..=4 => match bytes[at + 1..].first_chunk::<4>() {
            Some(tail) => {
                let word = u32::from_le_bytes(*tail) & (u32::MAX >> (32 - 8 * head as u32));
                Some((i64::from(word), at + 1 + head as usize))
            }
            None => other_long(bytes, at, head),
        },
        _ => other_long(bytes, at, head),
    }
}

/// Reads a number other than the positive one-byte ones.
#[inline(never)]
fn other_long(bytes: &[u8], at: usize, head: i8) -> Option<(i64, usize)> {
    Some(match head {
        0 => (0, at + 1),
        ..=-5 => (i64::from(head) + 5, at + 1),
        _ => {
            let count = usize::from(head.unsigned_abs());
            let tail = bytes.get(at + 1..at + 1 + count)?;
            // A negative number begins with all bits set, and its bytes replace the lowest.
            let fill: u8 = if head < 0 { 0xFF } else { 0 };
            let mut word = [fill; 8];
            for (byte, tail) in word.iter_mut().zip(tail) {
                *byte = *tail;
            }
            (i64::from_le_bytes(word), at + 1 + count)
        }
    })
}

/// The longest encoding of a [`long`].
pub const LONG_BYTES: usize = 5;

/// Returns the bytes of a number, and how many of them are used (`marshal.c` `w_long`).
#[inline]
pub fn long_bytes(v: i32) -> ([u8; LONG_BYTES], usize) {
    match v {
        0 => ([0; 5], 1),
        1..=122 => ([v as u8 + 5, 0, 0, 0, 0], 1),
        -123..=-1 => ([(v - 5) as u8, 0, 0, 0, 0], 1),
        _ => {
            let [a, b, c, d] = v.to_le_bytes();
            let spent = if v < 0 { !v } else { v } as u32;
            // The bytes up to the highest that says more than the sign, which has its own byte.
            let count = (4 - spent.leading_zeros() as usize / 8).max(1);
            let head = if v < 0 { -(count as i8) } else { count as i8 };
            ([head as u8, a, b, c, d], 1 + count)
        }
    }
}

/// The integers that are written as [`FIXNUM`]; all others are written as [`BIGNUM`].
pub const FIXNUM_RANGE: std::ops::RangeInclusive<i64> = -(1 << 30)..=(1 << 30) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(v: i32, bytes: &[u8]) {
        let (written, count) = long_bytes(v);
        assert_eq!(&written[..count], bytes, "{v}");
        assert_eq!(long(bytes, 0), Some((i64::from(v), bytes.len())));
        for cut in 0..bytes.len() {
            assert_eq!(long(&bytes[..cut], 0), None);
        }
    }

    #[test]
    fn numbers_at_every_width() {
        check(0, &[0]);
        check(1, &[6]);
        check(122, &[0x7F]);
        check(123, &[1, 123]);
        check(255, &[1, 255]);
        check(256, &[2, 0, 1]);
        check(65_535, &[2, 255, 255]);
        check(65_536, &[3, 0, 0, 1]);
        check((1 << 24) - 1, &[3, 255, 255, 255]);
        check(1 << 24, &[4, 0, 0, 0, 1]);
        check((1 << 30) - 1, &[4, 255, 255, 255, 63]);
        check(i32::MAX, &[4, 255, 255, 255, 127]);
        check(-1, &[0xFA]);
        check(-123, &[0x80]);
        check(-124, &[0xFF, 0x84]);
        check(-129, &[0xFF, 0x7F]);
        check(-256, &[0xFF, 0]);
        check(-257, &[0xFE, 0xFF, 0xFE]);
        check(-65_536, &[0xFE, 0, 0]);
        check(-65_537, &[0xFD, 0xFF, 0xFF, 0xFE]);
        check(-(1 << 24), &[0xFD, 0, 0, 0]);
        check(-(1 << 24) - 1, &[0xFC, 0xFF, 0xFF, 0xFF, 0xFE]);
        check(-(1 << 30), &[0xFC, 0, 0, 0, 0xC0]);
        check(i32::MIN, &[0xFC, 0, 0, 0, 0x80]);
    }

    #[test]
    fn numbers_that_are_not_in_their_shortest_form() {
        assert_eq!(long(&[5], 0), Some((0, 1)));
        assert_eq!(long(&[0xFB], 0), Some((0, 1)));
        assert_eq!(long(&[4, 1, 0, 0, 0], 0), Some((1, 5)));
        assert_eq!(long(&[0xFC, 0xFE, 0xFF, 0xFF, 0xFF], 0), Some((-2, 5)));
    }
}
