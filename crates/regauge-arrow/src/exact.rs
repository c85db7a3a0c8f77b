//! Exact conversions of values for columns.

use std::borrow::Cow;

use regauge::{Ext, Origin, Type, Value};

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

/// Parses `2026-11-21` into days since 1970.
pub fn days(value: &Value) -> Option<i32> {
    let Value::Ext(ext) = value else { return None };
    let Ext::Date(text) = ext.as_ext() else { return None };
    let at = regauge::time::parse_rfc3339(&format!("{text}T00:00:00Z"))?;
    i32::try_from(at.seconds / 86_400).ok()
}

/// Returns a point in time in units, and whether that is exact.
pub fn units(value: &Value, per_second: i64) -> Option<(i64, bool)> {
    let Value::Timestamp(at) = value else { return None };
    let nanoseconds_each = 1_000_000_000 / per_second;
    let fraction = i64::from(at.nanoseconds);
    let whole = at.seconds.checked_mul(per_second)?.checked_add(fraction / nanoseconds_each)?;
    Some((whole, fraction % nanoseconds_each == 0))
}
