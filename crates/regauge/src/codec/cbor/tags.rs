//! Tags that have an event of their own, and the content each requires.
//!
//! Whether a tag is such an event depends only on the value of its content, never on how that is
//! encoded, so values survive being read, written and read again. Anything else under one of these
//! numbers is a type with that tag's number, and loses nothing.

use std::borrow::Cow;

use super::skip::Frame;
use super::types::*;
use crate::model::hint::Hint;
use crate::model::limits::{Limit, Limits};
use crate::model::number;
use crate::model::time;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, ExtBuf, Timestamp};
use crate::{Error, Result};

/// Whether a tag's content must be read as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Capture {
    /// No: it is the content of a type.
    No,
    /// Yes. It is no deeper than a bignum in an array.
    Yes,
    /// There are too few bytes to tell.
    More,
}

impl Capture {
    fn when(condition: bool) -> Capture {
        if condition { Capture::Yes } else { Capture::No }
    }
}

/// Returns whether the content of this tag, which begins `content`, may be an event.
///
/// Looks only at heads, so that hostile nesting cannot make every level read its content twice.
pub(super) fn capture(number: u64, content: &[u8], keep_tags: bool) -> Capture {
    let Some(&first) = content.first() else { return Capture::More };
    let (major, info) = (first >> 5, first & 31);
    if (28..INDEFINITE).contains(&info) {
        return Capture::No;
    }
    let is_integer = || match integer_end(content, 0) {
        // The content of a tag of its own: how an integer is encoded does not matter.
        _ if major <= major::NEGATIVE => Capture::when(info != INDEFINITE),
        Some(end) => Capture::when(end.is_some()),
        None => Capture::More,
    };
    match number {
        tag::BIG_POSITIVE | tag::BIG_NEGATIVE => Capture::when(major == major::BYTES),
        tag::REFERENCE => is_integer(),
        _ if keep_tags => Capture::No,
        tag::DATE_TIME | tag::REGEX | tag::IDENTIFIER | tag::DATE => {
            Capture::when(major == major::TEXT)
        }
        tag::EPOCH if (FLOAT16..=FLOAT64).contains(&first) => Capture::Yes,
        tag::EPOCH => is_integer(),
        tag::UUID => Capture::when(major == major::BYTES),
        tag::DECIMAL if major == major::ARRAY => numbers(content, &[2]),
        tag::EXTENDED_TIME | tag::DURATION if major == major::MAP => numbers(content, &[2, 4]),
        _ => Capture::No,
    }
}

/// The most bytes of content that [`numbers`] looks at. Longer integers are far beyond the default
/// limit on their digits.
const NUMBERS_BYTES: usize = 8 << 10;

/// Returns whether an array or a map holds exactly this many items, all of them integers.
fn numbers(content: &[u8], counts: &[Frame]) -> Capture {
    let Some((initial, word)) = token(content) else { return Capture::More };
    let per_count = if initial >> 5 == major::MAP { 2 } else { 1 };
    let promised =
        (initial & 31 != INDEFINITE).then(|| argument(initial, word).saturating_mul(per_count));
    if promised.is_some_and(|promised| !counts.contains(&promised)) {
        return Capture::No;
    }
    let (mut at, mut found) = (head_bytes(initial), 0);
    loop {
        if promised == Some(found) {
            return Capture::Yes;
        }
        if at > NUMBERS_BYTES {
            return Capture::No;
        }
        let Some((initial, _)) = content.get(at..).and_then(token) else { return Capture::More };
        if initial == BREAK {
            return Capture::when(promised.is_none() && counts.contains(&found));
        }
        at = match integer_end(content, at) {
            Some(Some(end)) => end,
            Some(None) => return Capture::No,
            None => return Capture::More,
        };
        found += 1;
        if found > 4 {
            return Capture::No;
        }
    }
}

/// Returns the end of the integer or bignum that begins at `at`; `Some(None)` if it is neither,
/// `None` if it is incomplete.
fn integer_end(content: &[u8], mut at: usize) -> Option<Option<usize>> {
    let (initial, word) = token(content.get(at..)?)?;
    let info = initial & 31;
    if info > 27 {
        return Some(None);
    }
    match initial >> 5 {
        major::UNSIGNED | major::NEGATIVE => return Some(Some(at + head_bytes(initial))),
        major::TAG if matches!(argument(initial, word), tag::BIG_POSITIVE | tag::BIG_NEGATIVE) => {}
        _ => return Some(None),
    }
    at += head_bytes(initial);
    let (initial, word) = token(content.get(at..)?)?;
    if initial >> 5 != major::BYTES || (28..INDEFINITE).contains(&(initial & 31)) {
        return Some(None);
    }
    let length = |initial, word| usize::try_from(argument(initial, word)).unwrap_or(usize::MAX);
    if initial & 31 != INDEFINITE {
        return Some(Some(
            at.saturating_add(head_bytes(initial)).saturating_add(length(initial, word)),
        ));
    }
    at += 1;
    loop {
        let (initial, word) = token(content.get(at..)?)?;
        if initial == BREAK {
            return Some(Some(at + 1));
        }
        if initial >> 5 != major::BYTES || initial & 31 > 27 || at > NUMBERS_BYTES {
            return Some(None);
        }
        at = at.saturating_add(head_bytes(initial)).saturating_add(length(initial, word));
    }
}

/// Returns the event for a tag over this content, if it is one.
///
/// # Errors
/// `Limit` for an integer of more digits than [`Limits::integer_digits`].
pub(super) fn event(number: u64, content: Value, limits: &Limits) -> Result<Option<Value>> {
    let ext = |ext: Ext<'_>| Some(Value::Ext(ExtBuf::from(ext)));
    let content = settled(content, limits)?;
    Ok(match (number, &content) {
        (tag::BIG_POSITIVE | tag::BIG_NEGATIVE, Value::Bytes(bytes)) => {
            Some(big_int(number == tag::BIG_NEGATIVE, bytes, limits)?)
        }
        (tag::DATE_TIME, Value::Text(text)) => {
            let text = without_zeros(text);
            match time::parse_rfc3339(&text) {
                Some(at) => Some(Value::Timestamp(at)),
                None if is_offset_date_time(&text) => ext(Ext::OffsetDateTime(&text)),
                None => None,
            }
        }
        (tag::EPOCH, Value::Int(seconds)) => {
            Some(Value::Timestamp(Timestamp { seconds: *seconds, nanoseconds: 0 }))
        }
        (tag::EPOCH, Value::F32(seconds)) => timestamp(f64::from(*seconds)).map(Value::Timestamp),
        (tag::EPOCH, Value::F64(seconds)) => timestamp(*seconds).map(Value::Timestamp),
        (tag::DECIMAL, Value::Array(parts)) => match parts.as_slice() {
            [Value::Int(exponent), mantissa] => integer_text(mantissa)
                .map(|mantissa| Value::Decimal(decimal_text(*exponent, &mantissa))),
            _ => None,
        },
        (tag::REGEX, Value::Text(pattern)) => ext(Ext::Regex { pattern, options: "" }),
        (tag::UUID, Value::Bytes(bytes)) => match <[u8; 16]>::try_from(bytes.as_slice()) {
            Ok(uuid) => ext(Ext::Uuid(uuid)),
            Err(_) => None,
        },
        (tag::IDENTIFIER, Value::Text(name)) => ext(Ext::Symbol(name)),
        (tag::DATE, Value::Text(text)) if is_date(text) => ext(Ext::Date(text)),
        (tag::EXTENDED_TIME | tag::DURATION, Value::Map(pairs)) => {
            let (seconds, nanoseconds) = match pairs.as_slice() {
                [(Value::Int(1), Value::Int(seconds))] => (*seconds, 0),
                [
                    (Value::Int(1), Value::Int(seconds)),
                    (Value::Int(-9), Value::Int(nanoseconds @ 0..1_000_000_000)),
                ] => (*seconds, *nanoseconds as u32),
                _ => return Ok(None),
            };
            match number {
                tag::DURATION => ext(Ext::Duration { seconds, nanoseconds }),
                _ => Some(Value::Timestamp(Timestamp { seconds, nanoseconds })),
            }
        }
        _ => None,
    })
}

/// Returns whether the text is a `full-date` of RFC 3339 for a day that exists.
pub(super) fn is_date(text: &str) -> bool {
    text.len() == 10 && time::parse_rfc3339(&format!("{text}T00:00:00Z")).is_some()
}

/// Returns a `date-time` without the trailing zeros of its fraction, which do not change the point
/// in time (many encoders always write three or six digits). Any other text is returned unchanged.
fn without_zeros(text: &str) -> Cow<'_, str> {
    let Some((seconds, rest)) = text.split_once('.') else { return Cow::Borrowed(text) };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (fraction, offset) = rest.split_at(digits);
    match fraction.trim_end_matches('0') {
        kept if kept.len() == digits => Cow::Borrowed(text),
        "" => Cow::Owned(format!("{seconds}{offset}")),
        kept => Cow::Owned(format!("{seconds}.{kept}{offset}")),
    }
}

/// Returns whether the text is a `date-time` of RFC 3339 with an offset other than `Z`, for a
/// second that exists, without trailing zeros in its fraction, which a reader would drop.
pub(super) fn is_offset_date_time(text: &str) -> bool {
    let Some((local, offset)) = text.split_at_checked(text.len().saturating_sub(6)) else {
        return false;
    };
    let offset = match *offset.as_bytes() {
        [b'+' | b'-', a, b, b':', c, d] => [a, b, c, d],
        _ => return false,
    };
    let [h, i, m, n] = offset.map(|digit| digit.wrapping_sub(b'0'));
    // Fractions of a second may have any number of digits.
    let (second, fraction) = match local.split_once('.') {
        Some((second, fraction)) => (second, fraction),
        None => (local, "1"),
    };
    h < 10
        && i < 10
        && m < 6
        && n < 10
        && h * 10 + i < 24
        && !fraction.is_empty()
        && !fraction.ends_with('0')
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
        && time::parse_rfc3339(&format!("{second}Z")).is_some()
}

/// Returns the integer of a bignum: -1 minus the magnitude if `negative`.
fn big_int(negative: bool, bytes: &[u8], limits: &Limits) -> Result<Value> {
    let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    // A byte is 2.41 digits: 8 bits of log10(2) = 0.30103 each.
    let digits = (bytes.len() - start) as u64 * 241 / 100;
    if digits > u64::from(limits.integer_digits) {
        return Err(Error::limit(format!(
            "found an integer of about {digits} digits, more than {}, the limit of integer_digits",
            limits.integer_digits
        ))
        .hint(Hint::raise(Limit::IntegerDigits)));
    }
    let mut magnitude: Vec<u8> = bytes[start..].iter().rev().copied().collect();
    if negative {
        // Add one: up to the first byte that does not overflow.
        match magnitude.iter().position(|byte| *byte != 0xFF) {
            Some(place) => {
                magnitude[..place].fill(0);
                magnitude[place] += 1;
            }
            None => {
                magnitude.fill(0);
                magnitude.push(1);
            }
        }
    }
    Ok(integer(negative, magnitude))
}

/// Returns an integer in the narrowest variant that holds it.
fn integer(negative: bool, magnitude: Vec<u8>) -> Value {
    let mut word = [0; 16];
    if magnitude.len() < 16 {
        word[..magnitude.len()].copy_from_slice(&magnitude);
        let value = i128::from_le_bytes(word);
        let value = if negative { -value } else { value };
        if let Ok(value) = i64::try_from(value) {
            return Value::Int(value);
        }
        if let Ok(value) = u64::try_from(value) {
            return Value::UInt(value);
        }
    }
    Value::BigInt { negative, magnitude }
}

/// Returns the value with its bignums, including those in an array or a map, as integers.
pub(super) fn settled(value: Value, limits: &Limits) -> Result<Value> {
    Ok(match value {
        Value::Typed(of, content) => match (of.name.as_str(), *content) {
            (name @ ("2" | "3"), Value::Bytes(bytes)) => big_int(name == "3", &bytes, limits)?,
            (_, content) => Value::Typed(of, Box::new(content)),
        },
        Value::Array(values) => {
            let values = values.into_iter().map(|value| settled(value, limits));
            Value::Array(values.collect::<Result<_>>()?)
        }
        Value::Map(pairs) => {
            let pairs = pairs.into_iter().map(|(key, value)| Ok((key, settled(value, limits)?)));
            Value::Map(pairs.collect::<Result<_>>()?)
        }
        other => other,
    })
}

/// Returns a mantissa in decimal.
fn integer_text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Int(v) => v.to_string(),
        Value::UInt(v) => v.to_string(),
        Value::BigInt { negative, magnitude } => {
            number::big_int_text(BigInt::Binary { negative: *negative, magnitude })
        }
        _ => return None,
    })
}

/// The most leading zeros of a decimal that are written out; more become an exponent.
const LEADING_ZEROS: usize = 6;

/// Returns the one text that a decimal fraction is read as: with a point and no exponent if the
/// exponent is negative and not much below the number of digits, otherwise the mantissa and the
/// exponent.
fn decimal_text(exponent: i64, mantissa: &str) -> String {
    let (sign, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", mantissa),
    };
    let places = usize::try_from(exponent.unsigned_abs()).unwrap_or(usize::MAX);
    if exponent >= 0 || places > digits.len() + LEADING_ZEROS {
        return format!("{sign}{digits}e{exponent}");
    }
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    format!("{sign}{whole}.{fraction}")
}

/// Returns the exponent and the mantissa (a sign and digits without leading zeros) of a decimal, and whether reading
/// them gives the same text again: `1E-7` is read as `0.0000001`, which has the same digits and exponent. `None` for a
/// negative zero, which has no mantissa, and for what is no number.
pub(super) fn decimal_parts(text: &str) -> Option<(i64, String, bool)> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text),
    };
    let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i64>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits = format!("{whole}{fraction}");
    let digits = match digits.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let mantissa = format!("{sign}{digits}");
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && mantissa != "-0";
    let is_same = is_number && decimal_text(exponent, &mantissa) == text;
    is_number.then_some((exponent, mantissa, is_same))
}

/// Nanoseconds in 2^-9 s, the smallest fraction of a second that is exact both in nanoseconds and
/// in a double.
const NANOSECONDS_PER_512TH: u32 = 1_953_125;

/// Returns the point in time for a number of seconds, if it is a whole number of nanoseconds.
fn timestamp(seconds: f64) -> Option<Timestamp> {
    let whole = seconds.floor();
    // Both are exact: a double minus its floor, and a product with a power of two.
    let parts = (seconds - whole) * 512.0;
    let range = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;
    (range.contains(&whole) && parts.fract() == 0.0).then(|| Timestamp {
        seconds: whole as i64,
        nanoseconds: parts as u32 * NANOSECONDS_PER_512TH,
    })
}

/// Returns the number of seconds for this point in time, if a double holds it exactly.
pub(super) fn epoch_seconds(at: Timestamp) -> Option<f64> {
    if !at.nanoseconds.is_multiple_of(NANOSECONDS_PER_512TH) {
        return None;
    }
    let parts = f64::from(at.nanoseconds / NANOSECONDS_PER_512TH) / 512.0;
    let seconds = at.seconds as f64 + parts;
    (timestamp(seconds) == Some(at)).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_there_and_back() {
        for (exponent, mantissa, text) in [
            (-2, "27315", "273.15"),
            (-2, "110", "1.10"),
            (-1, "-5", "-0.5"),
            (-3, "0", "0.000"),
            (0, "5", "5e0"),
            (400, "1", "1e400"),
            (-8, "12", "0.00000012"),
            (-9, "12", "12e-9"),
            (i64::MIN, "-1", "-1e-9223372036854775808"),
            (-1, "123456789012345678901234567890", "12345678901234567890123456789.0"),
        ] {
            assert_eq!(decimal_text(exponent, mantissa), text);
            assert_eq!(decimal_parts(text), Some((exponent, mantissa.to_owned(), true)), "{text}");
        }
        // Read back in another spelling.
        for (exponent, mantissa, text) in [
            (0, "5", "5"),
            (5, "1", "1E5"),
            (5, "1", "1e+5"),
            (2, "15", "1.5e3"),
            (-1, "15", "01.5"),
            (-9, "0", "0E-9"),
            (-9, "-4", "-4E-9"),
            (400, "1", "1E+400"),
        ] {
            assert_eq!(decimal_parts(text), Some((exponent, mantissa.to_owned(), false)), "{text}");
        }
        for text in ["-0.0", "-0", "", "e5", "junk", "NaN", "1e99999999999999999999"] {
            assert_eq!(decimal_parts(text), None, "{text}");
        }
    }

    #[test]
    fn seconds_there_and_back() {
        for (seconds, whole, nanoseconds) in [
            (0.5, 0, 500_000_000),
            (-0.25, -1, 750_000_000),
            (1363896240.5, 1363896240, 500_000_000),
        ] {
            let at = Timestamp { seconds: whole, nanoseconds };
            assert_eq!(timestamp(seconds), Some(at));
            assert_eq!(epoch_seconds(at), Some(seconds));
        }
        for seconds in [0.1, f64::NAN, f64::INFINITY, 1e19, -1e19, 2f64.powi(-10), 5e-324] {
            assert_eq!(timestamp(seconds), None, "{seconds}");
        }
        for (seconds, nanoseconds) in [(0, 1), (1 << 60, 500_000_000), (i64::MAX, 0)] {
            assert_eq!(epoch_seconds(Timestamp { seconds, nanoseconds }), None);
        }
    }
}
