//! Number helpers that several formats share: big integers as text, digits that a double keeps.

pub mod float;
pub(crate) mod grammar;

pub use grammar::is_number;

use crate::model::ext::BigInt;

/// Returns the integer in decimal, with a `-` if it is negative.
pub fn big_int_text(v: BigInt<'_>) -> String {
    match v {
        BigInt::Decimal { negative, digits } => {
            format!("{}{digits}", if negative { "-" } else { "" })
        }
        BigInt::Binary { negative, magnitude } => {
            let digits = decimal_digits(magnitude);
            format!("{}{digits}", if negative { "-" } else { "" })
        }
    }
}

/// Converts a little-endian magnitude to decimal. Quadratic: readers bound the size with
/// [`crate::Limits::integer_digits`].
fn decimal_digits(magnitude: &[u8]) -> String {
    const BASE: u64 = 1_000_000_000;
    // Nine decimal digits per limb, least significant limb first.
    let mut limbs: Vec<u32> = vec![0];
    for &byte in magnitude.iter().rev() {
        let mut carry = u64::from(byte);
        for limb in &mut limbs {
            carry += u64::from(*limb) << 8;
            *limb = (carry % BASE) as u32;
            carry /= BASE;
        }
        if carry > 0 {
            limbs.push(carry as u32);
        }
    }
    let mut text = limbs.pop().expect("one limb at least").to_string();
    for limb in limbs.iter().rev() {
        text.push_str(&format!("{limb:09}"));
    }
    text
}

/// Converts decimal digits (no sign, no leading zero) to a little-endian magnitude without trailing
/// zero bytes. Quadratic, as above.
pub fn magnitude(digits: &str) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::with_capacity(digits.len() / 2);
    for digit in digits.bytes() {
        let mut carry = u32::from(digit - b'0');
        for byte in &mut bytes {
            carry += u32::from(*byte) * 10;
            *byte = carry as u8;
            carry >>= 8;
        }
        if carry > 0 {
            bytes.push(carry as u8);
        }
    }
    bytes
}

/// Returns a magnitude in bytes, the least significant first, without trailing zero bytes.
pub(crate) fn to_magnitude(v: u128) -> Vec<u8> {
    let bytes = v.to_le_bytes();
    bytes[..bytes.len() - v.leading_zeros() as usize / 8].to_vec()
}

/// Returns a little-endian magnitude as an integer, if it fits.
pub(crate) fn to_u128(magnitude: &[u8]) -> Option<u128> {
    let mut bytes = [0; 16];
    bytes.get_mut(..magnitude.len())?.copy_from_slice(magnitude);
    Some(u128::from_le_bytes(bytes))
}

/// Returns a sign and a little-endian magnitude as an integer, if it fits.
pub(crate) fn to_i128(negative: bool, magnitude: &[u8]) -> Option<i128> {
    let magnitude = to_u128(magnitude)?;
    if negative { 0_i128.checked_sub_unsigned(magnitude) } else { magnitude.try_into().ok() }
}

/// Returns the double that is the same number as the integer, if there is one.
pub(crate) fn exact_double(v: i128) -> Option<f64> {
    let double = v as f64;
    // 2¹²⁷ as an integer again would be one less.
    (double < i128::MAX as f64 && double as i128 == v).then_some(double)
}

/// Returns the double of a decimal text (JSON's grammar) if its shortest notation has the same
/// digits and exponent, so that the double loses nothing. `1.10` has the value of `1.1` but more
/// digits; it is not the same.
pub fn double_of_same_digits(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    (same_notation(text) == same_notation(zmij::Buffer::new().format_finite(value)))
        .then_some(value)
}

/// Returns the double with the same value as a single. Keeps the bits of a NaN, which a conversion
/// by the processor may change: it turns a signalling NaN into a quiet one.
#[inline]
pub fn widened(v: f32) -> f64 {
    if v.is_nan() {
        let bits = u64::from(v.to_bits());
        return f64::from_bits((bits >> 31) << 63 | 0x7FF << 52 | (bits & 0x7F_FFFF) << 29);
    }
    f64::from(v)
}

/// Returns whether a double has the value of the text: its shortest notation and the text are equal
/// as decimals, however they are spelled.
pub fn is_value_kept(text: &str, value: f64) -> bool {
    let mut buffer = zmij::Buffer::new();
    let (ours, theirs) = (normal_form(buffer.format_finite(value)), normal_form(text));
    ours == theirs || (ours.1.is_empty() && theirs.1.is_empty())
}

/// Returns the sign, the digits as written without the point, and the exponent of the last digit.
fn same_notation(text: &str) -> (bool, String, i64) {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().unwrap_or(i64::MAX / 2)),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    // Writers of doubles print `1.0` for `1`; a single zero says nothing about precision.
    let fraction = if fraction == "0" { "" } else { fraction };
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    (negative, digits.to_owned(), exponent - fraction.len() as i64)
}

/// Same as [`same_notation`], without trailing zeros, so that equal values compare equal.
fn normal_form(text: &str) -> (bool, String, i64) {
    let (negative, digits, exponent) = same_notation(text);
    let short = digits.trim_end_matches('0');
    let exponent = exponent + (digits.len() - short.len()) as i64;
    (negative, short.to_owned(), exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_and_decimal_agree() {
        for digits in
            ["1", "255", "256", "18446744073709551616", "999999999000000000", "1000000000"]
        {
            let bytes = magnitude(digits);
            assert_ne!(bytes.last(), Some(&0));
            assert_eq!(decimal_digits(&bytes), digits);
        }
        assert_eq!(magnitude("65536"), [0, 0, 1]);
        let v = BigInt::Binary { negative: true, magnitude: &[0, 1] };
        assert_eq!(big_int_text(v), "-256");
    }

    #[test]
    fn digits_that_a_double_keeps() {
        for text in ["0.1", "1.5", "-2.25", "1e300", "1.0", "1", "123456.789", "0.0"] {
            assert!(double_of_same_digits(text).is_some(), "{text}");
        }
        for text in
            ["1.10", "0.1000000000000000055511151231257827", "1e400", "100000000000000000001"]
        {
            assert!(double_of_same_digits(text).is_none(), "{text}");
        }
    }

    #[test]
    fn rounding_is_seen() {
        assert!(is_value_kept("1.10", 1.1));
        assert!(is_value_kept("110e-2", 1.1));
        assert!(is_value_kept("-0.0", -0.0));
        assert!(is_value_kept("0e5", 0.0));
        assert!(!is_value_kept("0.30000000000000000001", 0.3));
        assert!(!is_value_kept("9007199254740993.0", 9007199254740992.0));
    }
}
