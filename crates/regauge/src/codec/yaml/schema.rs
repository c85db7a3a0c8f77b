//! Resolves plain scalars: the core, JSON and failsafe schemas (YAML 1.2.2 §10).

use std::borrow::Cow;

use super::{schema_11, schema_psych};
use crate::options::yaml::Schema;

/// How a schema interprets the text of a scalar.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning<'t> {
    Text,
    /// The name of a symbol (Psych).
    Symbol(&'t str),
    Null,
    Bool(bool),
    I64(i64),
    U64(u64),
    /// Beyond both: the digits, in this radix, without leading zeros.
    BigInt {
        negative: bool,
        radix: u32,
        digits: Cow<'t, str>,
    },
    /// A number with a fraction or an exponent, in a form that Rust parses.
    Decimal(Cow<'t, str>),
    /// A double that its text does not spell out: sexagesimal ones of YAML 1.1.
    Double(f64),
    /// NaN and infinities.
    NonFinite(f64),
    /// A date, perhaps with a time (YAML 1.1).
    Time(Time),
    /// The merge key (YAML 1.1).
    Merge,
    /// The JSON schema has no such plain scalar, or Psych fails on it.
    Unknown,
}

/// A date, or a date and time, in RFC 3339 notation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Time {
    Date(String),
    /// Without a zone.
    Local(String),
    /// In UTC, with `Z` and at most nine digits of a second.
    Utc(String),
    Offset(String),
}

/// Returns whether the schema can make anything but text of a plain scalar that begins with this
/// byte. A shortcut: most scalars begin with a letter that begins none of the words.
#[inline(always)]
pub(super) fn may_mean(first: u8) -> bool {
    // One bit per byte; the digits and signs, and the first letters of all words.
    const WORDS: [u64; 4] = {
        let mut bits = [0u64; 4];
        let bytes = b"0123456789+-.~nNtTfF";
        let mut index = 0;
        while index < bytes.len() {
            bits[(bytes[index] >> 6) as usize] |= 1 << (bytes[index] & 63);
            index += 1;
        }
        bits
    };
    WORDS[usize::from(first >> 6)] >> (first & 63) & 1 != 0
}

/// Resolves the text of a plain scalar.
pub(super) fn resolve(schema: Schema, text: &str) -> Meaning<'_> {
    match schema {
        Schema::Core => core(text),
        Schema::Json => json(text),
        Schema::Failsafe => Meaning::Text,
        Schema::Yaml11 => schema_11::resolve(text),
        Schema::Psych => schema_psych::resolve(text),
    }
}

/// Resolves by the core schema (§10.3.2).
#[inline]
pub(super) fn core(text: &str) -> Meaning<'_> {
    let bytes = text.as_bytes();
    match bytes {
        [] | b"~" | b"null" | b"Null" | b"NULL" => Meaning::Null,
        [b'0'..=b'9' | b'+' | b'-' | b'.', ..] => number(text),
        [b't' | b'T', ..] if matches!(text, "true" | "True" | "TRUE") => Meaning::Bool(true),
        [b'f' | b'F', ..] if matches!(text, "false" | "False" | "FALSE") => Meaning::Bool(false),
        _ => Meaning::Text,
    }
}

fn number(text: &str) -> Meaning<'_> {
    let (negative, rest) = sign(text);
    let bytes = rest.as_bytes();
    if let Some(meaning) = decimal_integer(negative, rest) {
        return meaning;
    }
    match bytes {
        [b'0', b'o', digits @ ..]
            if rest.len() == text.len() && is_all(digits, |byte| matches!(byte, b'0'..=b'7')) =>
        {
            return integer(false, 8, Cow::Borrowed(&rest[2..]));
        }
        [b'0', b'x', digits @ ..]
            if rest.len() == text.len() && is_all(digits, u8::is_ascii_hexdigit) =>
        {
            return integer(false, 16, Cow::Borrowed(&rest[2..]));
        }
        b".inf" | b".Inf" | b".INF" => {
            return Meaning::NonFinite(if negative { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        b".nan" | b".NaN" | b".NAN" if rest.len() == text.len() => {
            return Meaning::NonFinite(f64::NAN);
        }
        _ if is_decimal(bytes) => return Meaning::Decimal(Cow::Borrowed(text)),
        _ => {}
    }
    Meaning::Text
}

fn is_all(digits: &[u8], is: impl FnMut(&u8) -> bool) -> bool {
    !digits.is_empty() && digits.iter().all(is)
}

/// Returns the text without its sign, and whether that was a minus.
pub(super) fn sign(text: &str) -> (bool, &str) {
    match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    }
}

/// Returns the integer if the text is only decimal digits.
#[inline]
pub(super) fn decimal_integer(negative: bool, digits: &str) -> Option<Meaning<'_>> {
    let bytes = digits.as_bytes();
    if bytes.is_empty() {
        return None;
    }
    if bytes.len() > 18 {
        return bytes
            .iter()
            .all(u8::is_ascii_digit)
            .then(|| integer(negative, 10, Cow::Borrowed(digits)));
    }
    let mut value = 0i64;
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(Meaning::I64(if negative { -value } else { value }))
}

/// Returns the integer of checked digits.
pub(super) fn integer(negative: bool, radix: u32, digits: Cow<'_, str>) -> Meaning<'_> {
    let digits = match digits {
        Cow::Borrowed(digits) => Cow::Borrowed(digits.trim_start_matches('0')),
        Cow::Owned(digits) => Cow::Owned(digits.trim_start_matches('0').to_owned()),
    };
    if digits.is_empty() {
        return Meaning::I64(0);
    }
    match u64::from_str_radix(&digits, radix) {
        Ok(value) if !negative => match i64::try_from(value) {
            Ok(value) => Meaning::I64(value),
            Err(_) => Meaning::U64(value),
        },
        Ok(value) if value <= 1 << 63 => Meaning::I64((value as i64).wrapping_neg()),
        _ => Meaning::BigInt { negative, radix, digits },
    }
}

/// Returns whether the bytes, without a sign, are a number with a point or an exponent:
/// `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn is_decimal(bytes: &[u8]) -> bool {
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(bytes);
    let mut rest = &bytes[whole..];
    if let [b'.', after @ ..] = rest {
        let fraction = digits(after);
        if whole == 0 && fraction == 0 {
            return false;
        }
        rest = &after[fraction..];
    } else if whole == 0 {
        return false;
    }
    match rest {
        [] => true,
        [b'e' | b'E', b'+' | b'-', power @ ..] | [b'e' | b'E', power @ ..] => {
            !power.is_empty() && digits(power) == power.len()
        }
        _ => false,
    }
}

/// Resolves by the JSON schema (§10.2.2).
fn json(text: &str) -> Meaning<'_> {
    match text {
        "null" => Meaning::Null,
        "true" => Meaning::Bool(true),
        "false" => Meaning::Bool(false),
        _ => {
            let (negative, digits) = match text.strip_prefix('-') {
                Some(digits) => (true, digits),
                None => (false, text),
            };
            let bytes = digits.as_bytes();
            if !matches!(bytes, [b'0'] | [b'1'..=b'9', ..] | [b'0', b'.' | b'e' | b'E', ..]) {
                return Meaning::Unknown;
            }
            match decimal_integer(negative, digits) {
                Some(meaning) => meaning,
                None if is_decimal(bytes) => Meaning::Decimal(Cow::Borrowed(text)),
                None => Meaning::Unknown,
            }
        }
    }
}

/// Returns a decimal as JSON writes it: no plus sign, digits on both sides of the point.
pub(super) fn json_decimal(text: &str) -> Cow<'_, str> {
    if crate::model::number::is_number(text) {
        return Cow::Borrowed(text);
    }
    let (negative, rest) = sign(text);
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(index) => rest.split_at(index),
        None => (rest, ""),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, "")) => (whole, Some("0")),
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let whole = whole.trim_start_matches('0');
    let mut out = String::with_capacity(text.len() + 2);
    if negative {
        out.push('-');
    }
    out.push_str(if whole.is_empty() { "0" } else { whole });
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out.push_str(exponent);
    Cow::Owned(out)
}

/// Converts digits of a radix that is a power of two to a little-endian magnitude, whose last byte
/// is not 0.
pub(super) fn magnitude(radix: u32, digits: &str) -> Vec<u8> {
    let width = radix.trailing_zeros();
    let mut bytes = Vec::with_capacity(digits.len() / 2 + 1);
    let (mut held, mut bits) = (0u32, 0);
    for digit in digits.bytes().rev() {
        held |= char::from(digit).to_digit(radix).unwrap_or(0) << bits;
        bits += width;
        if bits >= 8 {
            bytes.push(held as u8);
            held >>= 8;
            bits -= 8;
        }
    }
    if held > 0 {
        bytes.push(held as u8);
    }
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, meaning: Meaning<'_>) {
        assert_eq!(core(text), meaning, "{text}");
        // The shortcut must let every scalar through that is not text.
        if meaning != Meaning::Text && !text.is_empty() {
            assert!(may_mean(text.as_bytes()[0]), "{text}");
        }
    }

    #[test]
    fn core_schema() {
        for text in ["", "~", "null", "Null", "NULL"] {
            check(text, Meaning::Null);
        }
        for (text, value) in [("true", true), ("True", true), ("FALSE", false)] {
            check(text, Meaning::Bool(value));
        }
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("+12", 12),
            ("0123", 123),
            ("0o17", 15),
            ("0x1F", 31),
            ("-9223372036854775808", i64::MIN),
            ("9223372036854775807", i64::MAX),
            ("0x7fffffffffffffff", i64::MAX),
            ("00000000000000000000000000000000000001", 1),
        ] {
            check(text, Meaning::I64(value));
        }
        check("18446744073709551615", Meaning::U64(u64::MAX));
        check("0o1777777777777777777777", Meaning::U64(u64::MAX));
        for (text, negative, radix, digits) in [
            ("18446744073709551616", false, 10, "18446744073709551616"),
            ("-9223372036854775809", true, 10, "9223372036854775809"),
            ("0x10000000000000000", false, 16, "10000000000000000"),
        ] {
            check(text, Meaning::BigInt { negative, radix, digits: Cow::Borrowed(digits) });
        }
        for text in ["1.", ".5", "+.5", "1e3", "1.5E-3", "-0.0", "12e03", "1.e5"] {
            check(text, Meaning::Decimal(Cow::Borrowed(text)));
        }
        check(".inf", Meaning::NonFinite(f64::INFINITY));
        check("-.INF", Meaning::NonFinite(f64::NEG_INFINITY));
        assert!(matches!(core(".NaN"), Meaning::NonFinite(v) if v.is_nan()));
        for text in [
            "yes",
            "No",
            "nULL",
            "tRue",
            "0o8",
            "-0x1",
            "+0o1",
            "1_000",
            "1e",
            "e1",
            ".",
            "-",
            "+",
            "1.2.3",
            "1:20",
            "0x",
            "-.nan",
            ".Nan",
            "inf",
            "2001-01-01",
            "=",
            "<<",
            "0b1",
            "é",
        ] {
            check(text, Meaning::Text);
        }
    }

    #[test]
    fn json_schema() {
        assert_eq!(json("null"), Meaning::Null);
        assert_eq!(json("-12"), Meaning::I64(-12));
        assert_eq!(json("0.5e1"), Meaning::Decimal("0.5e1".into()));
        for text in ["", "~", "True", "+1", "01", "0x1", ".5", "abc", ".inf", "-"] {
            assert_eq!(json(text), Meaning::Unknown, "{text}");
        }
    }

    #[test]
    fn decimals_as_json_writes_them() {
        for (text, wanted) in [
            ("1.5", "1.5"),
            ("+1.5", "1.5"),
            (".5", "0.5"),
            ("-.5e3", "-0.5e3"),
            ("1.", "1.0"),
            ("007.50", "7.50"),
            ("12e03", "12e03"),
        ] {
            assert_eq!(json_decimal(text), wanted);
            assert!(crate::model::number::is_number(&json_decimal(text)), "{text}");
        }
    }

    #[test]
    fn magnitudes() {
        assert_eq!(magnitude(16, "10000000000000000"), [0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(magnitude(8, "777"), [0xFF, 1]);
        assert_eq!(magnitude(2, "100000000"), [0, 1]);
    }
}
