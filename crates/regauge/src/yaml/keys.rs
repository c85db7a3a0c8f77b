//! Keys that are not text: which can be written, and where they stand.

use crate::event::{Ext, Origin};
use crate::value::Value;
use crate::{number, time};

/// Keys longer than this stand behind `? `: YAML allows 1,024 characters for the others, quotes
/// and escapes included.
pub(super) const KEY_BYTES: usize = 1000;

/// Whether the key can be written as it is, through and through.
pub(super) fn is_held(key: &Value) -> bool {
    match key {
        Value::MsgpackExt(..) | Value::Surrogates(_) | Value::BrokenText(_) => false,
        // Digits that a double does not keep would be lost to who reads the key.
        Value::Decimal(digits) => number::double_of_same_digits(digits).is_some(),
        Value::Timestamp(at) => time::rfc3339(*at).is_some(),
        Value::Ext(v) => matches!(
            v.as_ext(),
            Ext::Int64(_) | Ext::Date(_) | Ext::DateTime(_) | Ext::OffsetDateTime(_)
        ),
        // A node has one tag, and these need their own.
        Value::Typed(t, value) => {
            let needs_tag = matches!(
                **value,
                Value::Bytes(_) | Value::Timestamp(_) | Value::Ext(_) | Value::Typed(..)
            );
            t.as_type().origin == Origin::Yaml && !needs_tag && is_held(value)
        }
        Value::Anchor(_, value) => is_held(value),
        Value::Array(values) => values.iter().all(is_held),
        Value::Map(pairs) => pairs.iter().all(|(key, value)| is_held(key) && is_held(value)),
        _ => true,
    }
}

/// Whether a key that is not text is short enough to stand before a colon on its line.
pub(super) fn is_short(key: &Value) -> bool {
    match key {
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::UInt(_) => true,
        Value::F32(_) | Value::F64(_) | Value::Decimal(_) | Value::Timestamp(_) => true,
        Value::BigInt { magnitude, .. } => magnitude.len() < KEY_BYTES / 3,
        Value::Bytes(bytes) => bytes.len() < KEY_BYTES / 2,
        _ => false,
    }
}
