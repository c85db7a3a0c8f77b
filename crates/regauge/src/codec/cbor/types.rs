//! The wire: initial bytes, and the contents of an item's head (RFC 8949 §3).

/// Major types, in the upper three bits of an initial byte.
pub(super) mod major {
    /// An unsigned integer.
    pub(in super::super) const UNSIGNED: u8 = 0;
    /// A negative integer: -1 minus the argument.
    pub(in super::super) const NEGATIVE: u8 = 1;
    /// A byte string.
    pub(in super::super) const BYTES: u8 = 2;
    /// A text string.
    pub(in super::super) const TEXT: u8 = 3;
    /// An array.
    pub(in super::super) const ARRAY: u8 = 4;
    /// A map.
    pub(in super::super) const MAP: u8 = 5;
    /// A tag.
    pub(in super::super) const TAG: u8 = 6;
    /// Simple values, floats and the break.
    pub(in super::super) const OTHER: u8 = 7;
}

/// Unsigned integers, 0 to 23 in the byte itself.
pub(super) const UNSIGNED: u8 = 0x00;
/// Negative integers, -1 to -24 in the byte itself.
pub(super) const NEGATIVE: u8 = 0x20;
/// Byte strings, with a length of up to 23 in the byte itself.
pub(super) const BYTES: u8 = 0x40;
/// Text strings, likewise.
pub(super) const TEXT: u8 = 0x60;
/// Arrays, likewise.
pub(super) const ARRAY: u8 = 0x80;
/// Maps, likewise.
pub(super) const MAP: u8 = 0xA0;
/// Simple values in the byte itself.
pub(super) const SIMPLE: u8 = 0xE0;
/// `false`.
pub(super) const FALSE: u8 = 0xF4;
/// `true`.
pub(super) const TRUE: u8 = 0xF5;
/// `null`.
pub(super) const NULL: u8 = 0xF6;
/// `undefined`.
pub(super) const UNDEFINED: u8 = 0xF7;
/// A simple value in the next byte.
pub(super) const SIMPLE8: u8 = 0xF8;
/// A half.
pub(super) const FLOAT16: u8 = 0xF9;
/// A single.
pub(super) const FLOAT32: u8 = 0xFA;
/// A double.
pub(super) const FLOAT64: u8 = 0xFB;
/// The end of an item of indefinite length.
pub(super) const BREAK: u8 = 0xFF;

/// Additional information: the argument is in the next byte; 25, 26, 27: in the next 2, 4, 8.
pub(super) const ARGUMENT8: u8 = 24;
/// Additional information: the length is indefinite, or the byte is the break.
pub(super) const INDEFINITE: u8 = 31;

/// The longest head: an initial byte and eight of argument.
pub(super) const HEAD_MAX: usize = 9;

/// Tag numbers that have an event of their own: see [`super::tags`].
pub(super) mod tag {
    /// Date and time as text (RFC 8949 §3.4.1).
    pub(in super::super) const DATE_TIME: u64 = 0;
    /// Date and time as seconds since 1970 (§3.4.2).
    pub(in super::super) const EPOCH: u64 = 1;
    /// An unsigned bignum (§3.4.3).
    pub(in super::super) const BIG_POSITIVE: u64 = 2;
    /// A negative bignum.
    pub(in super::super) const BIG_NEGATIVE: u64 = 3;
    /// A decimal fraction (§3.4.4).
    pub(in super::super) const DECIMAL: u64 = 4;
    /// A shared value (<http://cbor.schmorp.de/value-sharing>).
    pub(in super::super) const SHAREABLE: u64 = 28;
    /// A reference to a shared value, by its number.
    pub(in super::super) const REFERENCE: u64 = 29;
    /// A regular expression (§3.4.5.3).
    pub(in super::super) const REGEX: u64 = 35;
    /// A UUID.
    pub(in super::super) const UUID: u64 = 37;
    /// An identifier, a symbol.
    pub(in super::super) const IDENTIFIER: u64 = 39;
    /// A point in time as a map (RFC 9581 §3).
    pub(in super::super) const EXTENDED_TIME: u64 = 1001;
    /// A duration as a map (RFC 9581 §4).
    pub(in super::super) const DURATION: u64 = 1002;
    /// A date as text (RFC 8943).
    pub(in super::super) const DATE: u64 = 1004;
    /// "This is CBOR" (RFC 8949 §3.4.6).
    pub(in super::super) const SELF_DESCRIBED: u64 = 55_799;
}

/// Returns the size of a head in bytes, by the additional information of its initial byte. Reserved
/// and indefinite heads are the initial byte only.
#[inline]
pub(super) const fn head_bytes(initial: u8) -> usize {
    match initial & 31 {
        24 => 2,
        25 => 3,
        26 => 5,
        27 => 9,
        _ => 1,
    }
}

/// Returns a head, in as few bytes as possible.
#[inline]
pub(super) const fn head(major: u8, argument: u64) -> ([u8; HEAD_MAX], usize) {
    let initial = major << 5;
    let [a, b, c, d, e, f, g, h] = argument.to_be_bytes();
    match argument {
        0..=23 => ([initial | h, 0, 0, 0, 0, 0, 0, 0, 0], 1),
        24..=0xFF => ([initial | 24, h, 0, 0, 0, 0, 0, 0, 0], 2),
        0x100..=0xFFFF => ([initial | 25, g, h, 0, 0, 0, 0, 0, 0], 3),
        0x1_0000..=0xFFFF_FFFF => ([initial | 26, e, f, g, h, 0, 0, 0, 0], 5),
        _ => ([initial | 27, a, b, c, d, e, f, g, h], 9),
    }
}

/// Returns the argument of a head: the number in the initial byte, or the big-endian bytes of
/// `word` after it. Meaningless for a reserved or indefinite head.
#[inline(always)]
pub(super) const fn argument(initial: u8, word: u64) -> u64 {
    match initial & 31 {
        24 => word >> 56,
        25 => word >> 48,
        26 => word >> 32,
        27 => word,
        inside => inside as u64,
    }
}

/// Returns the initial byte of a head and the next eight bytes, big-endian, with zeros in place of
/// missing bytes. `None` if the head is incomplete.
#[inline(always)]
pub(super) fn token(rest: &[u8]) -> Option<(u8, u64)> {
    match rest.first_chunk::<HEAD_MAX>() {
        Some(&[initial, word @ ..]) => Some((initial, u64::from_be_bytes(word))),
        None => token_near_the_end(rest),
    }
}

#[cold]
#[inline(never)]
fn token_near_the_end(rest: &[u8]) -> Option<(u8, u64)> {
    let (&initial, after) = rest.split_first()?;
    let mut word = [0; 8];
    word[..after.len()].copy_from_slice(after);
    (rest.len() >= head_bytes(initial)).then_some((initial, u64::from_be_bytes(word)))
}
