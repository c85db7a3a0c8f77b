//! Compares two values that are not both containers.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use unicode_normalization::UnicodeNormalization;

use super::{ChangeKind, same};
use crate::model::ext::Origin;
use crate::model::value::Value;
use crate::model::{decimal128, number, text, time};
use crate::policy::event::{BigInt, Ext, Timestamp};

/// Returns the kind of the difference; `None` if there is none.
pub(super) fn scalar_change(before: &Value, after: &Value) -> Option<ChangeKind> {
    if same(before, after) {
        return None;
    }
    Some(match (before, after) {
        // Writers choose the width of floats; a single that became the equal double lost nothing.
        (Value::F32(one), Value::F64(other)) => {
            return scalar_change(&Value::F64(f64::from(*one)), &Value::F64(*other));
        }
        (Value::F64(one), Value::F32(other)) => {
            return scalar_change(&Value::F64(*one), &Value::F64(f64::from(*other)));
        }
        (Value::F64(one), Value::F64(other)) => double_change(*one, *other),
        (Value::F64(one), Value::Null) if !one.is_finite() => ChangeKind::NonFinite,
        (Value::F32(one), Value::Null) if !one.is_finite() => ChangeKind::NonFinite,
        (Value::F64(one), Value::Int(0)) if *one == 0.0 && one.is_sign_negative() => {
            ChangeKind::NegativeZero
        }
        (Value::F64(double), integer) if nearest_double(integer) == Some(*double) => {
            // 2^53 + 1 is not a double: it cannot come from one.
            match integer_text(integer).is_some_and(|text| number::is_value_kept(&text, *double)) {
                true => ChangeKind::DoubleToInteger,
                false => ChangeKind::Value,
            }
        }
        (integer, Value::F64(double)) if nearest_double(integer) == Some(*double) => {
            ChangeKind::IntegerToDouble
        }
        (integer, Value::Text(text)) if integer_text(integer).as_ref() == Some(text) => {
            ChangeKind::IntegerToText
        }
        // The width is specific to BSON.
        (Value::Ext(one), Value::Int(other)) if one.as_ext() == Ext::Int64(*other) => return None,
        (Value::Int(one), Value::Ext(other)) if other.as_ext() == Ext::Int64(*one) => return None,
        (Value::Bytes(bytes), Value::Text(text)) if is_text_of(bytes, text) => {
            ChangeKind::BytesToText
        }
        (Value::BrokenText(raw) | Value::Surrogates(raw), Value::Text(text))
            if String::from_utf8_lossy(raw) == *text =>
        {
            ChangeKind::TextRepaired
        }
        (Value::Text(one), Value::Text(other)) if one.nfc().eq(other.nfc()) => {
            ChangeKind::Normalization
        }
        (Value::MsgpackExt(_, raw), Value::Text(text)) if is_text_of(raw, text) => {
            ChangeKind::SpecialToText
        }
        (before, after) => {
            if let (Some(one), Some(other)) = (decimal_text(before), decimal_text(after)) {
                return Some(match is_same_decimal(&one, &other) {
                    true => ChangeKind::DecimalDigits,
                    false => ChangeKind::Value,
                });
            }
            if let Some(kind) = decimal_change(before, after) {
                return Some(kind);
            }
            if let (Some(one), Some(other)) = (instant(before), instant(after)) {
                return Some(time_change(one, other));
            }
            special_change(before, after)
        }
    })
}

/// Classifies a change to a value that only some formats have, except points in time.
fn special_change(before: &Value, after: &Value) -> ChangeKind {
    let of_time = |text: &str| match after {
        Value::Text(after) if is_time_text(text, after) => ChangeKind::TimeToText,
        _ => ChangeKind::Value,
    };
    let of_text = |text: &str, kind| match after {
        Value::Text(after) if after == text => kind,
        _ => ChangeKind::Value,
    };
    let special = ChangeKind::SpecialToText;
    let ext = match before {
        Value::Timestamp(at) => {
            let plain = || format!("{}.{:09}", at.seconds, at.nanoseconds);
            return of_time(&time::rfc3339(*at).unwrap_or_else(plain));
        }
        Value::Ext(ext) => ext.as_ext(),
        _ => return ChangeKind::Value,
    };
    match ext {
        Ext::Symbol(name) => of_text(name, ChangeKind::SymbolToText),
        Ext::Date(text) | Ext::Time(text) | Ext::DateTime(text) | Ext::OffsetDateTime(text) => {
            of_time(text)
        }
        Ext::Duration { seconds, nanoseconds } => {
            of_text(&time::iso8601_duration(seconds, nanoseconds), ChangeKind::TimeToText)
        }
        Ext::Binary(_, raw) => match after {
            Value::Bytes(after) if after == raw => ChangeKind::BytesSubtype,
            Value::Text(text) if is_text_of(raw, text) => ChangeKind::BytesToText,
            _ => ChangeKind::Value,
        },
        Ext::Uuid(raw) => match after {
            Value::Bytes(after) if *after == raw => special,
            _ => of_text(&text::uuid_text(&raw), special),
        },
        Ext::ObjectId(raw) => of_text(&text::hex(&raw), special),
        Ext::Regex { pattern, options } => of_text(&format!("/{pattern}/{options}"), special),
        Ext::Code(text) => of_text(text, special),
        Ext::DbPointer { namespace, id } => {
            of_text(&format!("{namespace}/{}", text::hex(&id)), special)
        }
        Ext::BsonTimestamp { seconds, increment } => {
            of_text(&format!("{seconds}.{increment}"), special)
        }
        Ext::Simple(number) => of_text(&format!("simple({number})"), special),
        Ext::Complex(real, imaginary) => of_text(&format!("{real:?}{imaginary:+?}i"), special),
        Ext::MinKey | Ext::MaxKey | Ext::Undefined if *after == Value::Null => special,
        _ => ChangeKind::Value,
    }
}

fn double_change(before: f64, after: f64) -> ChangeKind {
    if before == after {
        return ChangeKind::NegativeZero;
    }
    let digits = |double: f64| format!("{double:.14e}");
    if digits(before) == digits(after) { ChangeKind::DoubleRounded } else { ChangeKind::Value }
}

fn integer_text(value: &Value) -> Option<String> {
    match value {
        Value::Int(integer) => Some(integer.to_string()),
        Value::UInt(integer) => Some(integer.to_string()),
        Value::BigInt { negative, magnitude } => {
            Some(number::big_int_text(BigInt::Binary { negative: *negative, magnitude }))
        }
        _ => None,
    }
}

fn nearest_double(value: &Value) -> Option<f64> {
    integer_text(value)?.parse().ok()
}

/// Returns the digits of either kind of decimal.
fn decimal_text(value: &Value) -> Option<String> {
    match value {
        Value::Decimal(text) => Some(text.clone()),
        Value::Ext(ext) => match ext.as_ext() {
            Ext::Decimal(text) => Some(text.to_owned()),
            Ext::Decimal128(raw) => decimal128::to_text(&raw),
            _ => None,
        },
        _ => None,
    }
}

fn decimal_change(before: &Value, after: &Value) -> Option<ChangeKind> {
    let text = decimal_text(before)?;
    let nearest = || text.parse::<f64>().ok();
    match after {
        Value::F64(double) => (nearest() == Some(*double)).then_some(ChangeKind::DecimalToDouble),
        Value::Text(after) => is_same_decimal(&text, after).then_some(ChangeKind::DecimalToText),
        integer => {
            let after = integer_text(integer)?;
            is_same_decimal(&text, &after).then_some(ChangeKind::DecimalDigits)
        }
    }
}

/// Returns whether two decimal texts have the same value.
fn is_same_decimal(one: &str, other: &str) -> bool {
    match (decimal_parts(one), decimal_parts(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

/// Returns the sign, the digits without zeros at either end, and the power of ten of the last
/// digit.
fn decimal_parts(text: &str) -> Option<(bool, String, i64)> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(place) => (&text[..place], text[place + 1..].parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let significant = digits.trim_end_matches('0');
    if significant.trim_start_matches('0').is_empty() {
        return Some((negative, String::new(), 0));
    }
    let power = exponent
        .checked_sub(i64::try_from(fraction.len()).ok()?)?
        .checked_add(i64::try_from(digits.len() - significant.len()).ok()?)?;
    Some((negative, significant.trim_start_matches('0').to_owned(), power))
}

/// Returns the point in time of a value that gives one, and whether it has an offset.
fn instant(value: &Value) -> Option<(Timestamp, bool)> {
    match value {
        Value::Timestamp(at) => Some((*at, false)),
        Value::Ext(ext) => match ext.as_ext() {
            Ext::Timestamp(at) => Some((at, false)),
            Ext::OffsetDateTime(text) => {
                // The last sign is the offset's: the ten characters of the date contain two others.
                let place = text.rfind(['+', '-']).filter(|place| *place > 10)?;
                let at = time::parse_rfc3339(&format!("{}Z", &text[..place]))?;
                let mut parts = text[place + 1..].split(':').map(|part| part.parse::<i64>().ok());
                let mut next = || parts.next().unwrap_or(Some(0));
                let offset = next()? * 3600 + next()? * 60 + next()?;
                let seconds = match text.as_bytes()[place] {
                    b'-' => at.seconds + offset,
                    _ => at.seconds - offset,
                };
                Some((Timestamp { seconds, ..at }, true))
            }
            _ => None,
        },
        _ => None,
    }
}

fn time_change(before: (Timestamp, bool), after: (Timestamp, bool)) -> ChangeKind {
    let nanoseconds =
        |at: Timestamp| i128::from(at.seconds) * 1_000_000_000 + i128::from(at.nanoseconds);
    let (one, other) = (nanoseconds(before.0), nanoseconds(after.0));
    // Rounded or truncated to a thousandth or a millionth of a second.
    let is_rounded = [1_000, 1_000_000]
        .iter()
        .any(|unit| other % unit == 0 && one % unit != 0 && (one - other).abs() < *unit);
    match one == other {
        true => ChangeKind::TimeOffset,
        false if is_rounded => ChangeKind::TimeRounded,
        false => ChangeKind::Value,
    }
}

/// Returns the kind of the difference if one of two times is CBOR's tag 1 over a double of seconds
/// (RFC 8949 §3.4.2), which stays a tag if it is no whole number of nanoseconds: the nearest double of
/// the other, or of its milliseconds or microseconds, is that time rounded.
pub(super) fn epoch_change(before: &Value, after: &Value) -> Option<ChangeKind> {
    let (one, other) = (epoch_seconds(before), epoch_seconds(after));
    let double = other.or(one)?;
    if same(before, after) {
        return None;
    }
    let nanoseconds = |value: &Value, seconds: Option<f64>| match seconds {
        Some(seconds) => {
            let whole = seconds.floor();
            Some(whole as i128 * 1_000_000_000 + ((seconds - whole) * 1e9).round() as i128)
        }
        None => instant(value)
            .map(|(at, _)| i128::from(at.seconds) * 1_000_000_000 + i128::from(at.nanoseconds)),
    };
    let (one, other) = (nanoseconds(before, one)?, nanoseconds(after, other)?);
    // The distance to the next double, and what rounding it to nanoseconds may add.
    let slack = ((double.abs().next_up() - double.abs()) * 1e9).ceil() as i128 + 1;
    let is_rounded = [1, 1_000, 1_000_000].iter().any(|unit| {
        let near = (other + unit / 2).div_euclid(*unit) * unit;
        (near - other).abs() <= slack && (near - one).abs() < (*unit).max(slack + 1)
    });
    Some(if is_rounded { ChangeKind::TimeRounded } else { ChangeKind::Value })
}

/// Returns the seconds of CBOR's tag 1 over a double, if that is a time.
fn epoch_seconds(value: &Value) -> Option<f64> {
    let Value::Typed(t, inside) = value else { return None };
    if t.origin != Origin::Cbor || t.kind != "tag" || t.name != "1" {
        return None;
    }
    let seconds = match **inside {
        Value::F64(seconds) => seconds,
        Value::F32(seconds) => f64::from(seconds),
        _ => return None,
    };
    (seconds.abs() < 1e19).then_some(seconds)
}

/// Returns whether a text gives the same date and time as another, in the spelling of any library:
/// `2026-11-21 12:00:00 UTC` for `2026-11-21T12:00:00Z`.
fn is_time_text(original: &str, text: &str) -> bool {
    if original == text {
        return true;
    }
    match original.split_once('T') {
        Some((date, rest)) => {
            let time = rest.get(..8).unwrap_or(rest);
            text.strip_prefix(date)
                .and_then(|rest| rest.strip_prefix(['T', ' ', 't']))
                .is_some_and(|rest| rest.starts_with(time))
        }
        None => false,
    }
}

/// Returns whether the text is the bytes themselves or one of their Base64 forms.
pub(super) fn is_text_of(bytes: &[u8], text: &str) -> bool {
    text.as_bytes() == bytes
        || [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD]
            .iter()
            .any(|engine| engine.encode(bytes) == text)
}

/// Returns the text that a key becomes in formats with text keys; keys are matched by it.
pub(super) fn key_text(key: &Value) -> String {
    match key {
        Value::Text(text) => text.clone(),
        Value::Bytes(raw) => STANDARD.encode(raw),
        Value::Ext(ext) => match ext.as_ext() {
            Ext::Symbol(name) => name.to_owned(),
            _ => key.to_string(),
        },
        other => other.to_string(),
    }
}
