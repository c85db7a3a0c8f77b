//! Exact conversions of values for columns.

use std::borrow::Cow;

use regauge::{Ext, Origin, Timestamp, Type, Value};

use crate::moment;

/// Nanoseconds in a second.
const NANOSECONDS: i64 = 1_000_000_000;

/// Returns whether a type adds nothing to its value: tuples, sets.
pub fn is_plain_type(of: &Type<'_>) -> bool {
    of.origin == Origin::Python && matches!(of.kind, "tuple" | "set" | "frozenset")
}

/// Returns whether a double can hold an integer exactly.
fn as_double(v: i128) -> Option<f64> {
    let double = v as f64;
    (double as i128 == v).then_some(double)
}

/// Returns an integer as a number.
pub fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Int(v) => Some(i128::from(*v)),
        Value::UInt(v) => Some(i128::from(*v)),
        Value::Ext(ext) => match ext.as_ext() {
            Ext::Int64(v) => Some(i128::from(v)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the number of a double, or of an integer that a double holds.
pub fn double(value: &Value) -> Option<f64> {
    match value {
        Value::F64(v) => Some(*v),
        Value::F32(v) => Some(f64::from(*v)),
        other => as_double(integer(other)?),
    }
}

/// Returns whether a number is read back from a column of decimals as it is: an integer if the column has no
/// fraction, otherwise a decimal in plain notation with as many digits after the point.
pub fn has_digits(value: &Value, scale: i8) -> bool {
    match value {
        Value::Decimal(text) => {
            let fraction = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
            let is_negative_zero =
                || text.starts_with('-') && !text.contains(|c| matches!(c, '1'..='9'));
            scale > 0
                && usize::try_from(scale) == Ok(fraction)
                && !text.contains(['e', 'E', '+'])
                && !is_negative_zero()
        }
        Value::Ext(_) => false,
        _ => scale <= 0,
    }
}

/// Returns text, or a value's canonical form as text.
pub fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Text(v) => Some(v.as_str().into()),
        Value::Ext(ext) => match ext.as_ext() {
            Ext::Uuid(v) => {
                let hex: String = v.iter().map(|byte| format!("{byte:02x}")).collect();
                let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
                Some(parts.join("-").into())
            }
            Ext::ObjectId(v) => {
                Some(v.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into())
            }
            _ => None,
        },
        // A map without keys: see the inference.
        Value::Map(pairs) if pairs.is_empty() => Some("{}".into()),
        _ => None,
    }
}

/// Returns the bytes of binary data.
pub fn binary(value: &Value) -> Option<&[u8]> {
    match value {
        Value::Bytes(v) => Some(v),
        Value::Ext(ext) => match ext.as_ext() {
            Ext::Binary(_, v) => Some(v),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the bytes of a UUID.
pub fn uuid(value: &Value) -> Option<[u8; 16]> {
    match ext(value)? {
        Ext::Uuid(bytes) => Some(bytes),
        _ => None,
    }
}

/// Returns a date in days since 1970.
pub fn days(value: &Value) -> Option<i32> {
    match ext(value)? {
        Ext::Date(text) => moment::days(text),
        _ => None,
    }
}

/// Returns a point in time, or, in a column without a zone, a date and time without one, in units, and whether
/// that is exact. A column without a zone takes points in time as well: they are in UTC.
pub fn units(value: &Value, per_second: i64, has_zone: bool) -> Option<(i64, bool)> {
    let at = match value {
        Value::Timestamp(at) => *at,
        _ if has_zone => return None,
        other => match ext(other)? {
            Ext::DateTime(text) => moment::local(text)?,
            _ => return None,
        },
    };
    moment::units(at, per_second)
}

/// Returns a time of day in units since midnight, and whether that is exact.
pub fn clock(value: &Value, per_second: i64) -> Option<(i64, bool)> {
    let Ext::Time(text) = ext(value)? else { return None };
    moment::units(moment::timestamp(moment::time_of_day(text)?, NANOSECONDS), per_second)
}

/// Returns a duration in units, and whether that is exact.
pub fn duration(value: &Value, per_second: i64) -> Option<(i64, bool)> {
    let Ext::Duration { seconds, nanoseconds } = ext(value)? else { return None };
    moment::units(Timestamp { seconds, nanoseconds }, per_second)
}

fn ext(value: &Value) -> Option<Ext<'_>> {
    match value {
        Value::Ext(ext) => Some(ext.as_ext()),
        _ => None,
    }
}
