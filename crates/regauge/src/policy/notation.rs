//! The wrapped notation in both directions: see the table in [`crate::policy::fidelity`].
//!
//! Here are the values that only some formats have: written, and read back. Names are those of MongoDB
//! Extended JSON v2 if it has one for exactly this value. [`Escape`] guards a user's own maps on writing,
//! and [`Unwrap`] reads the whole notation.

mod escape;
mod meaning;
mod unwrap;

pub use escape::Escape;
pub use unwrap::Unwrap;

pub(crate) use meaning::{is_name, meaning};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::model::text::{hex, unhex, uuid_text};
use crate::model::value::Value;
use crate::model::{decimal128, number};
use crate::policy::event::{Ext, Sink};
use crate::{Origin, Result};

/// The keys that open the notation of a value that only some formats have.
pub(crate) const NAMES: [&str; 19] = [
    "$symbol",
    "$localDate",
    "$localTime",
    "$localDateTime",
    "$offsetDateTime",
    "$duration",
    "$numberDecimal",
    "$oid",
    "$uuid",
    "$binary",
    "$regularExpression",
    "$timestamp",
    "$minKey",
    "$maxKey",
    "$undefined",
    "$code",
    "$dbPointer",
    "$simple",
    "$complex",
];

/// Returns the key that opens the notation of `v`, if this module writes it.
pub(crate) fn name_of(v: Ext<'_>) -> Option<&'static str> {
    Some(match v {
        Ext::Symbol(_) => "$symbol",
        Ext::Date(_) => "$localDate",
        Ext::Time(_) => "$localTime",
        Ext::DateTime(_) => "$localDateTime",
        Ext::OffsetDateTime(_) => "$offsetDateTime",
        Ext::Duration { .. } => "$duration",
        Ext::Decimal128(_) => "$numberDecimal",
        Ext::ObjectId(_) => "$oid",
        Ext::Uuid(_) => "$uuid",
        Ext::Binary(..) => "$binary",
        Ext::Regex { .. } => "$regularExpression",
        Ext::BsonTimestamp { .. } => "$timestamp",
        Ext::MinKey => "$minKey",
        Ext::MaxKey => "$maxKey",
        Ext::Undefined => "$undefined",
        Ext::Code(_) => "$code",
        Ext::DbPointer { .. } => "$dbPointer",
        Ext::Simple(_) => "$simple",
        Ext::Complex(..) => "$complex",
        _ => return None,
    })
}

/// Writes the notation of `v`, which must be one that [`NAMES`] lists.
pub(crate) fn write<S: Sink + ?Sized>(sink: &mut S, v: Ext<'_>) -> Result {
    match v {
        Ext::Symbol(v) => text(sink, "$symbol", v),
        Ext::Date(v) => text(sink, "$localDate", v),
        Ext::Time(v) => text(sink, "$localTime", v),
        Ext::DateTime(v) => text(sink, "$localDateTime", v),
        Ext::OffsetDateTime(v) => text(sink, "$offsetDateTime", v),
        Ext::Code(v) => text(sink, "$code", v),
        Ext::ObjectId(v) => text(sink, "$oid", &hex(&v)),
        Ext::Uuid(v) => text(sink, "$uuid", &uuid_text(&v)),
        Ext::Decimal128(v) => match decimal128::to_text(&v) {
            Some(digits) => text(sink, "$numberDecimal", &digits),
            None => fields(sink, "$numberDecimal", |sink| {
                sink.key("base64")?;
                sink.str(&BASE64.encode(v))
            }),
        },
        Ext::Duration { seconds, nanoseconds } => fields(sink, "$duration", |sink| {
            sink.key("seconds")?;
            sink.i64(seconds)?;
            sink.key("nanoseconds")?;
            sink.i64(i64::from(nanoseconds))
        }),
        Ext::Binary(subtype, payload) => fields(sink, "$binary", |sink| {
            sink.key("base64")?;
            sink.str(&BASE64.encode(payload))?;
            sink.key("subType")?;
            sink.str(&format!("{subtype:02x}"))
        }),
        Ext::Regex { pattern, options } => fields(sink, "$regularExpression", |sink| {
            sink.key("pattern")?;
            sink.str(pattern)?;
            sink.key("options")?;
            sink.str(options)
        }),
        Ext::BsonTimestamp { seconds, increment } => fields(sink, "$timestamp", |sink| {
            sink.key("t")?;
            sink.i64(i64::from(seconds))?;
            sink.key("i")?;
            sink.i64(i64::from(increment))
        }),
        Ext::DbPointer { namespace, id } => fields(sink, "$dbPointer", |sink| {
            sink.key("$ref")?;
            sink.str(namespace)?;
            sink.key("$id")?;
            text(sink, "$oid", &hex(&id))
        }),
        Ext::MinKey => one(sink, "$minKey", |sink| sink.i64(1)),
        Ext::MaxKey => one(sink, "$maxKey", |sink| sink.i64(1)),
        Ext::Undefined => one(sink, "$undefined", |sink| sink.bool(true)),
        Ext::Simple(v) => one(sink, "$simple", |sink| sink.i64(i64::from(v))),
        Ext::Complex(real, imaginary) => one(sink, "$complex", |sink| {
            sink.begin_array(Some(2))?;
            sink.f64(real)?;
            sink.f64(imaginary)?;
            sink.end_array()
        }),
        Ext::Int64(v) => sink.i64(v),
        Ext::Timestamp(_)
        | Ext::Decimal(_)
        | Ext::MsgpackExt(..)
        | Ext::Surrogates(_)
        | Ext::BrokenText(_) => unreachable!("written where their policy is"),
    }
}

fn one<S: Sink + ?Sized>(
    sink: &mut S,
    name: &str,
    content: impl FnOnce(&mut S) -> Result,
) -> Result {
    sink.begin_map(Some(1))?;
    sink.key(name)?;
    content(sink)?;
    sink.end_map()
}

fn text<S: Sink + ?Sized>(sink: &mut S, name: &str, v: &str) -> Result {
    one(sink, name, |sink| sink.str(v))
}

fn fields<S: Sink + ?Sized>(
    sink: &mut S,
    name: &str,
    content: impl FnOnce(&mut S) -> Result,
) -> Result {
    one(sink, name, |sink| {
        sink.begin_map(None)?;
        content(sink)?;
        sink.end_map()
    })
}

/// Returns the value that `{name: content}` stands for, if it matches the notation exactly.
pub(crate) fn read(name: &str, content: &Value) -> Option<Value> {
    let value = read_ext(name, content)?;
    Some(Value::Ext(value))
}

fn read_ext(name: &str, content: &Value) -> Option<crate::ExtBuf> {
    let ext: Ext<'_> = match (name, content) {
        ("$symbol", Value::Text(v)) => Ext::Symbol(v),
        ("$localDate", Value::Text(v)) => Ext::Date(v),
        ("$localTime", Value::Text(v)) => Ext::Time(v),
        ("$localDateTime", Value::Text(v)) => Ext::DateTime(v),
        ("$offsetDateTime", Value::Text(v)) => Ext::OffsetDateTime(v),
        ("$code", Value::Text(v)) => Ext::Code(v),
        ("$oid", Value::Text(v)) => Ext::ObjectId(unhex(v)?),
        ("$uuid", Value::Text(v)) => Ext::Uuid(uuid(v)?),
        ("$numberDecimal", Value::Text(v)) => Ext::Decimal128(decimal128::from_text(v)?),
        ("$numberDecimal", Value::Map(_)) => {
            let [Value::Text(v)] = members(content, ["base64"])? else { return None };
            Ext::Decimal128(BASE64.decode(v).ok()?.try_into().ok()?)
        }
        ("$duration", Value::Map(_)) => {
            let [seconds, parts] = members(content, ["seconds", "nanoseconds"])?;
            Ext::Duration { seconds: int(seconds)?, nanoseconds: nanoseconds(parts)? }
        }
        ("$binary", Value::Map(_)) => {
            let [Value::Text(payload), Value::Text(subtype)] =
                members(content, ["base64", "subType"])?
            else {
                return None;
            };
            let subtype: [u8; 1] = unhex(subtype)?;
            return Some(Ext::Binary(subtype[0], &BASE64.decode(payload).ok()?).into());
        }
        ("$regularExpression", Value::Map(_)) => {
            let [Value::Text(pattern), Value::Text(options)] =
                members(content, ["pattern", "options"])?
            else {
                return None;
            };
            Ext::Regex { pattern, options }
        }
        ("$timestamp", Value::Map(_)) => {
            let [seconds, increment] = members(content, ["t", "i"])?;
            let narrow = |v: &Value| u32::try_from(int(v)?).ok();
            Ext::BsonTimestamp { seconds: narrow(seconds)?, increment: narrow(increment)? }
        }
        ("$dbPointer", Value::Map(_)) => {
            let [Value::Text(namespace), id] = members(content, ["$ref", "$id"])? else {
                return None;
            };
            let [Value::Text(id)] = members(id, ["$oid"])? else { return None };
            Ext::DbPointer { namespace, id: unhex(id)? }
        }
        ("$minKey", one) if int(one) == Some(1) => Ext::MinKey,
        ("$maxKey", one) if int(one) == Some(1) => Ext::MaxKey,
        ("$undefined", Value::Bool(true)) => Ext::Undefined,
        ("$simple", v) => Ext::Simple(u8::try_from(int(v)?).ok()?),
        ("$complex", Value::Array(parts)) => {
            let [real, imaginary] = parts.as_slice() else { return None };
            Ext::Complex(double(real)?, double(imaginary)?)
        }
        _ => return None,
    };
    Some(ext.into())
}

/// Returns the members of a map that has exactly these keys, in this order.
fn members<'v, const N: usize>(map: &'v Value, names: [&str; N]) -> Option<[&'v Value; N]> {
    let Value::Map(pairs) = map else { return None };
    if pairs.len() != N {
        return None;
    }
    let fits = pairs
        .iter()
        .zip(names)
        .all(|((key, _), name)| matches!(key, Value::Text(key) if key == name));
    fits.then(|| std::array::from_fn(|index| &pairs[index].1))
}

/// Returns an integer, including one whose source declares its width.
pub(crate) fn int(v: &Value) -> Option<i64> {
    match v {
        Value::Int(v) => Some(*v),
        Value::Ext(v) => match v.as_ext() {
            Ext::Int64(v) => Some(v),
            _ => None,
        },
        _ => None,
    }
}

fn nanoseconds(v: &Value) -> Option<u32> {
    u32::try_from(int(v)?).ok().filter(|nanoseconds| *nanoseconds < 1_000_000_000)
}

/// Returns a double, or parses the notation of one that the format cannot write as a number.
fn double(v: &Value) -> Option<f64> {
    match v {
        Value::F64(v) => Some(*v),
        Value::F32(v) => Some(number::widened(*v)),
        Value::Decimal(digits) => digits.parse().ok(),
        _ => {
            let [content] = members(v, ["$numberDouble"])?;
            non_finite(content)
        }
    }
}

/// Writes NaN or an infinity. A NaN other than the usual one keeps its bits, most significant
/// first.
pub(crate) fn write_non_finite<S: Sink + ?Sized>(sink: &mut S, v: f64) -> Result {
    if v.is_nan() && v.to_bits() != f64::NAN.to_bits() {
        return fields(sink, "$numberDouble", |sink| {
            sink.key("bits")?;
            sink.str(&hex(&v.to_be_bytes()))
        });
    }
    text(sink, "$numberDouble", non_finite_name(v))
}

/// Returns the name of NaN or an infinity.
pub(crate) fn non_finite_name(v: f64) -> &'static str {
    match v {
        _ if v.is_nan() => "NaN",
        _ if v > 0.0 => "Infinity",
        _ => "-Infinity",
    }
}

/// Parses the content of `$numberDouble`: a number that JSON has no digits for.
fn non_finite(content: &Value) -> Option<f64> {
    match content {
        Value::Text(name) => non_finite_of(name),
        _ => {
            let [Value::Text(bits)] = members(content, ["bits"])? else { return None };
            Some(f64::from_be_bytes(unhex(bits)?)).filter(|v| v.is_nan())
        }
    }
}

/// Returns the number with this name.
pub(crate) fn non_finite_of(name: &str) -> Option<f64> {
    match name {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Returns whether a double is a NaN with a payload beyond the one bit that every quiet NaN has.
/// The sign of a NaN carries no meaning (IEEE 754-2019, §6.3), and processors set it arbitrarily.
pub(crate) fn has_payload(v: f64) -> bool {
    v.is_nan() && v.abs().to_bits() != f64::NAN.to_bits()
}

/// Returns the key that a type is written as, such as `$ruby:object`.
pub(crate) fn type_key(t: &crate::Type<'_>) -> String {
    format!("${}:{}", t.origin.name(), t.kind)
}

/// Returns the origin and the kind of a key that opens a type.
pub(crate) fn parse_type_key(key: &str) -> Option<(Origin, &str)> {
    let (origin, kind) = key.strip_prefix('$')?.split_once(':')?;
    let origin = Origin::ALL.into_iter().find(|known| known.name() == origin)?;
    (!kind.is_empty()).then_some((origin, kind))
}

fn uuid(text: &str) -> Option<[u8; 16]> {
    let v = unhex(&text.replace('-', ""))?;
    (uuid_text(&v) == text).then_some(v)
}
