//! Keys that are not text: which can be written, and where.

use super::schema::Time;
use super::schema_11;
use super::tags::{self, Node};
use crate::model::value::Value;
use crate::model::{number, time};
use crate::options::yaml::Schema;
use crate::policy::event::{Ext, Origin};
use crate::policy::notation;

/// Longer keys are written after `? `: YAML limits the others to 1,024 characters, including quotes
/// and escapes.
pub(super) const KEY_BYTES: usize = 1000;

/// Returns whether the whole key can be written directly; `wraps` if the wrapped notation is
/// available for what cannot.
pub(super) fn is_held(key: &Value, wraps: bool, schema: Schema) -> bool {
    match key {
        Value::MsgpackExt(..) | Value::Surrogates(_) | Value::BrokenText(_) => false,
        // Digits that a double does not keep would be lost to the reader of the key.
        Value::Decimal(digits) => !wraps && number::double_of_same_digits(digits).is_some(),
        Value::F32(v) => !v.is_nan() || !notation::has_payload(number::widened(*v)),
        Value::F64(v) => !notation::has_payload(*v),
        Value::Timestamp(at) => time::rfc3339(*at).is_some(),
        Value::Ext(v) => matches!(v.as_ext(), Ext::Int64(_)) || is_timestamp(v.as_ext()),
        // A node has one tag, and these need their own.
        Value::Typed(t, value) => {
            let needs_tag = matches!(
                **value,
                Value::Bytes(_) | Value::Timestamp(_) | Value::Ext(_) | Value::Typed(..)
            );
            let tag = t.as_type();
            let node = match &**value {
                Value::Text(text) => Node::Text(text),
                Value::Array(_) => Node::Sequence,
                Value::Map(_) => Node::Mapping,
                _ => Node::Other,
            };
            tag.origin == Origin::Yaml
                && !needs_tag
                && (!tags::is_yamls(tag.name) || tags::is_kept(schema, tag.name, node))
                && is_held(value, wraps, schema)
        }
        Value::Anchor(_, value) => is_held(value, wraps, schema),
        Value::Array(values) => values.iter().all(|value| is_held(value, wraps, schema)),
        Value::Map(pairs) => pairs
            .iter()
            .all(|(key, value)| is_held(key, wraps, schema) && is_held(value, wraps, schema)),
        _ => true,
    }
}

/// Returns whether a YAML reader turns the text of a date or time back into the same value. Not
/// with seconds in the offset: neither RFC 3339 nor YAML allows them, and PyYAML fails on them.
pub(super) fn is_timestamp(v: Ext<'_>) -> bool {
    match v {
        Ext::Date(text) => schema_11::timestamp(text) == Some(Time::Date(text.to_owned())),
        Ext::DateTime(text) => schema_11::timestamp(text) == Some(Time::Local(text.to_owned())),
        Ext::OffsetDateTime(text) => {
            schema_11::timestamp(text) == Some(Time::Offset(text.to_owned()))
        }
        _ => false,
    }
}

/// Returns whether a time with an offset from UTC has offset zero.
pub(super) fn is_at_zero(text: &str) -> bool {
    text.strip_suffix("+00:00")
        .is_some_and(|local| schema_11::timestamp(text) == Some(Time::Utc(format!("{local}Z"))))
}

/// Returns whether a key that is not text is short enough to precede a colon on its line.
pub(super) fn is_short(key: &Value) -> bool {
    match key {
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::UInt(_) => true,
        Value::F32(_) | Value::F64(_) | Value::Decimal(_) | Value::Timestamp(_) => true,
        Value::BigInt { magnitude, .. } => magnitude.len() < KEY_BYTES / 3,
        Value::Bytes(bytes) => bytes.len() < KEY_BYTES / 2,
        _ => false,
    }
}
