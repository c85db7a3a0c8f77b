//! What every conversion keeps, for each kind of value and each pair of formats, measured by
//! converting an example.
//!
//! Nothing here is a list of claims. An example of the kind is written in one format, converted to
//! the other and read back; the result is the entry.

use crate::bytes::output::StreamOutput;
use crate::convert::{Input, Options, convert, convert_bytes};
use crate::model::ext::{Ext, Origin, Timestamp, Type};
use crate::model::format::Format;
use crate::model::number;
use crate::model::value::Value;
use crate::policy::documents::Documents;
use crate::policy::fidelity::OnLoss;
use crate::policy::notation;
use crate::sinks::memory::{read_values, write_values};

/// What happens to a kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It comes back unchanged.
    Exact,
    /// Written with a change that is counted and reported, such as a shared value written again.
    Reported,
    /// Refused by default; comes back unchanged with `--on-loss wrap`.
    Wrapped,
    /// Refused by default; with `--on-loss approximate` a near value is written and counted.
    Approximated,
    /// Refused under every policy.
    Refused,
    /// Changed in silence, which must never happen.
    Silent,
    /// The source format has no such value.
    Absent,
}

impl Outcome {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Exact => "exact",
            Outcome::Reported => "reported",
            Outcome::Silent => "silent",
            Outcome::Wrapped => "wrapped",
            Outcome::Approximated => "approximated",
            Outcome::Refused => "refused",
            Outcome::Absent => "absent",
        }
    }

    /// Returns one letter for a table: `=`, `+`, `w`, `~`, `x`, or a space; `!` for what must never
    /// happen.
    pub fn letter(self) -> char {
        match self {
            Outcome::Exact => '=',
            Outcome::Reported => '+',
            Outcome::Silent => '!',
            Outcome::Wrapped => 'w',
            Outcome::Approximated => '~',
            Outcome::Refused => 'x',
            Outcome::Absent => ' ',
        }
    }
}

/// A kind of value, with an example.
#[derive(Clone, Debug)]
pub struct Kind {
    /// The name in tables: `bytes`, `keys that are integers`.
    pub name: &'static str,
    /// A document that contains one.
    pub example: Value,
}

/// Returns all kinds, in the order of the documentation.
pub fn kinds() -> Vec<Kind> {
    let text = |v: &str| Value::Text(v.to_owned());
    let of = |name, value: Value| Kind { name, example: Value::Map(vec![(text("v"), value)]) };
    let ext = |name, v: Ext<'_>| of(name, Value::Ext(v.into()));
    let keyed = |name, key: Value| Kind { name, example: Value::Map(vec![(key, Value::Int(1))]) };
    let typed = |name, origin, kind: &str, class: &str, value: Value| {
        let t = Type { origin, kind, name: class };
        of(name, Value::Typed(Box::new((&t).into()), Box::new(value)))
    };
    let record = Value::Map(vec![
        (text("leader"), text("00000nam a2200000 a 4500")),
        (text("fields"), Value::Array(vec![Value::Map(vec![(text("001"), text("1"))])])),
    ]);
    let shared = Value::Array(vec![
        Value::Anchor(1, Box::new(Value::Array(vec![Value::Int(1)]))),
        Value::Alias(1),
    ]);
    let cycle = Value::Anchor(1, Box::new(Value::Array(vec![Value::Alias(1)])));
    let at = |nanoseconds| Value::Timestamp(Timestamp { seconds: 1_600_000_000, nanoseconds });
    vec![
        of("null", Value::Null),
        of("true and false", Value::Bool(true)),
        of("integers of 64 bits", Value::Int(i64::MIN)),
        of("integers above 2⁶³", Value::UInt(u64::MAX)),
        of("integers of any size", Value::BigInt { negative: true, magnitude: vec![1; 20] }),
        of("doubles", Value::F64(0.1)),
        of("-0.0", Value::F64(-0.0)),
        of("NaN and infinities", Value::F64(f64::NAN)),
        of("decimals with their digits", Value::Decimal("1.10000000000000000001".to_owned())),
        of("text", text("naïve \u{1F600}\u{0}")),
        of("text that is not UTF-8", Value::BrokenText(b"caf\xE9".to_vec())),
        of("text with lone surrogates", Value::Surrogates(b"a\xED\xA0\x80".to_vec())),
        of("bytes", Value::Bytes(vec![0, 255])),
        of("arrays", Value::Array(vec![Value::Int(1), Value::Array(vec![])])),
        of("maps in their order", {
            Value::Map(vec![(text("b"), Value::Int(1)), (text("a"), Value::Map(vec![]))])
        }),
        of("duplicate keys", {
            Value::Map(vec![(text("a"), Value::Int(1)), (text("a"), Value::Int(2))])
        }),
        keyed("keys that are integers", Value::Int(1)),
        keyed("keys that are symbols", Value::Ext(Ext::Symbol("name").into())),
        keyed("keys that are arrays", Value::Array(vec![Value::Int(1), text("a")])),
        Kind { name: "a document that is not a map", example: Value::Int(1) },
        of("points in time, to the millisecond", at(500_000_000)),
        of("points in time, to the microsecond", at(500_001_000)),
        of("points in time, to the nanosecond", at(500_000_001)),
        ext("dates", Ext::Date("2026-11-21")),
        ext("times of day", Ext::Time("12:00:00.5")),
        ext("dates and times without zone", Ext::DateTime("2026-11-21T12:00:00")),
        ext("dates and times with offset", Ext::OffsetDateTime("2026-11-21T12:00:00+02:00")),
        ext("durations", Ext::Duration { seconds: 90, nanoseconds: 500_000_000 }),
        ext("symbols", Ext::Symbol("name")),
        ext("UUIDs", Ext::Uuid([0x5E; 16])),
        ext("regular expressions", Ext::Regex { pattern: "^a+$", options: "i" }),
        ext("complex numbers", Ext::Complex(1.0, -2.0)),
        ext("undefined", Ext::Undefined),
        ext("JavaScript code", Ext::Code("f()")),
        ext("ObjectIds", Ext::ObjectId([7; 12])),
        ext("decimal128", {
            // 1.1: eleven times ten to the power of -1, whose biased exponent is 6,175.
            let mut bytes = [0; 16];
            (bytes[0], bytes[14], bytes[15]) = (11, 0x3E, 0x30);
            Ext::Decimal128(bytes)
        }),
        ext("BSON timestamps", Ext::BsonTimestamp { seconds: 1, increment: 2 }),
        ext("MinKey and MaxKey", Ext::MinKey),
        ext("DBPointers", Ext::DbPointer { namespace: "db.c", id: [7; 12] }),
        ext("bytes with a BSON subtype", Ext::Binary(128, b"mine")),
        typed("code with a scope", Origin::Bson, "scope", "f(x)", {
            Value::Map(vec![(text("x"), Value::Int(1))])
        }),
        of("MessagePack extensions", Value::MsgpackExt(5, vec![1, 2])),
        ext("CBOR simple values", Ext::Simple(99)),
        typed("CBOR tags", Origin::Cbor, "tag", "4711", text("tagged")),
        typed("YAML tags", Origin::Yaml, "tag", "!mine", text("tagged")),
        typed("Ruby objects", Origin::Ruby, "object", "Point", {
            Value::Map(vec![(text("@x"), Value::Int(1))])
        }),
        typed("Python sets", Origin::Python, "set", "", Value::Array(vec![Value::Int(1)])),
        typed("Python classes", Origin::Python, "global", "shop.Order", Value::Null),
        of("shared values", shared),
        of("cycles", cycle),
        Kind { name: "MARC records", example: record },
    ]
}

/// Returns what happens to a kind of value on the way from one format to the other.
pub fn outcome(kind: &Kind, from: Format, to: Format) -> Outcome {
    let options = |from, to, on_loss| {
        let mut options = Options::new(from, to);
        options.on_loss = on_loss;
        options.documents = Documents::Keep;
        options.json_read.exact_numbers = true;
        options.yaml.exact_numbers = true;
        options.json_read.non_finite = true;
        options
    };
    let read = |bytes: &[u8], format, unwrap| {
        let mut options = options(format, format, OnLoss::Refuse);
        options.unwrap = unwrap;
        read_values(bytes, &options).ok()
    };
    // Start from what the source gives back, which is what it can hold.
    let given = [kind.example.clone()];
    let Ok((source, _)) = write_values(&given, &options(from, from, OnLoss::Refuse)) else {
        return Outcome::Absent;
    };
    let Some(before) = read(&source, from, false) else { return Outcome::Absent };
    if !same(&before, &given) && !is_record(&before) {
        return Outcome::Absent;
    }
    let alike = |after: &[Value]| same(&before, after) || is_record(&before) && is_record(after);
    let mut output = Vec::new();
    let mut strict = options(from, to, OnLoss::Refuse);
    strict.report = true;
    let stream = StreamOutput::new(&mut output);
    if let Ok(summary) = convert(Input::Bytes(&source), stream, &strict, &mut |_| Ok(())) {
        let exact = read(&output, to, false).is_some_and(|after| alike(&after));
        return match (exact, summary.fidelity.is_exact()) {
            (true, _) => Outcome::Exact,
            (false, false) => Outcome::Reported,
            (false, true) => Outcome::Silent,
        };
    }
    if let Ok(bytes) = convert_bytes(&source, &options(from, to, OnLoss::Wrap))
        && read(&bytes, to, true).is_some_and(|after| alike(&after))
    {
        return Outcome::Wrapped;
    }
    match convert_bytes(&source, &options(from, to, OnLoss::Approximate)) {
        Ok(_) => Outcome::Approximated,
        Err(_) => Outcome::Refused,
    }
}

/// Returns whether the values are equal apart from the width of numbers, which is the format's
/// business: a single equals the double of the same value, and so do integers of any width. An
/// array that is a key or a member of a set equals a Python tuple there: no other array can be
/// hashed.
pub fn same(before: &[Value], after: &[Value]) -> bool {
    before.len() == after.len()
        && before.iter().zip(after).all(|(one, other)| {
            let (mut one, mut other) = (one.clone(), other.clone());
            settle(&mut one);
            settle(&mut other);
            format!("{one:?}") == format!("{other:?}")
        })
}

/// Returns a double, or the bits of a NaN with a payload, which `Debug` does not show.
fn settled_double(v: f64) -> Value {
    match notation::has_payload(v) {
        true => Value::Text(format!("NaN {:x}", v.abs().to_bits())),
        false => Value::F64(if v.is_nan() { f64::NAN } else { v }),
    }
}

fn settle(value: &mut Value) {
    match value {
        Value::F32(v) => *value = settled_double(number::widened(*v)),
        Value::F64(v) => *value = settled_double(*v),
        Value::Ext(v) => {
            if let Ext::Int64(v) = v.as_ext() {
                *value = Value::Int(v);
            }
        }
        Value::Decimal(text) => {
            if let Some(double) = crate::model::number::double_of_same_digits(text) {
                *value = Value::F64(double);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(settle),
        Value::Map(pairs) => pairs.iter_mut().for_each(|(key, value)| {
            settle(key);
            settle_hashed(key);
            settle(value);
        }),
        Value::Typed(t, value) => {
            settle(value);
            if t.origin == Origin::Python
                && matches!(t.kind.as_str(), "set" | "frozenset")
                && let Value::Array(members) = &mut **value
            {
                members.iter_mut().for_each(settle_hashed);
            }
        }
        Value::Anchor(_, value) => settle(value),
        _ => {}
    }
}

fn settle_hashed(value: &mut Value) {
    if let Value::Typed(t, inside) = value
        && t.origin == Origin::Python
        && t.kind == "tuple"
    {
        *value = std::mem::replace(inside, Value::Null);
    }
    if let Value::Array(values) = value {
        values.iter_mut().for_each(settle_hashed);
    }
}

/// Returns whether this is a MARC record, which is the same in all its formats except for the
/// lengths in its leader.
fn is_record(values: &[Value]) -> bool {
    let [Value::Map(pairs)] = values else { return false };
    let [(Value::Text(leader), _), (Value::Text(fields), _)] = pairs.as_slice() else {
        return false;
    };
    leader == "leader" && fields == "fields"
}
