//! Turns Extended JSON into the events that it stands for.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::NAMES;
use crate::model::hint::Hint;
use crate::model::limits::Limits;
use crate::model::option::Opt;
use crate::model::value::Value;
use crate::model::{decimal128, time};
use crate::policy::event::{
    Ext, ExtBuf, Origin, Sink, Timestamp, Type, TypeBuf, Writer, forward, leaves,
};
use crate::policy::tree::Builder;
use crate::{Error, Result};

/// Turns maps in the notation into their values. A map is in the notation if its first key is one
/// of its names; then it must be well formed. All other maps pass unchanged.
pub struct FromExtended<S> {
    inner: S,
    limits: Limits,
    /// A map before its first key, with its length.
    fresh: Option<Option<u64>>,
    /// A map in the notation, and how many containers are open in it.
    capture: Option<(Builder, usize)>,
}

impl<S: Sink> FromExtended<S> {
    /// Creates an adapter in front of `inner`. A value in the notation is held in memory within
    /// `limits`.
    pub fn new(inner: S, limits: &Limits) -> Self {
        FromExtended { inner, limits: *limits, fresh: None, capture: None }
    }

    #[inline]
    fn leaf(&mut self, event: impl FnOnce(&mut dyn Sink) -> Result) -> Result {
        match &mut self.capture {
            Some((builder, _)) => event(builder),
            None => event(&mut self.inner),
        }
    }

    fn open_fresh(&mut self) -> Result {
        match self.fresh.take() {
            Some(len) => self.inner.begin_map(len),
            None => Ok(()),
        }
    }
}

/// Replaces all of the notation in the value. Recurses as deep as the value nests, which
/// [`Limits::depth`] bounds.
fn replaced(value: Value) -> Result<Value> {
    Ok(match value {
        Value::Array(values) => {
            Value::Array(values.into_iter().map(replaced).collect::<Result<_>>()?)
        }
        Value::Map(pairs) => match pairs.first() {
            Some((Value::Text(name), _)) if NAMES.contains(&name.as_str()) => meaning(pairs)?,
            _ => Value::Map(
                pairs
                    .into_iter()
                    .map(|(key, value)| Ok((key, replaced(value)?)))
                    .collect::<Result<_>>()?,
            ),
        },
        leaf => leaf,
    })
}

/// Returns the value of a map in the notation.
fn meaning(pairs: Vec<(Value, Value)>) -> Result<Value> {
    let Some((Value::Text(name), _)) = pairs.first() else { unreachable!("the caller checked") };
    let name = name.clone();
    if name == "$code" || name == "$scope" {
        return code(pairs);
    }
    let expected = match name.as_str() {
        "$oid" => "24 hexadecimal digits",
        "$numberInt" => "the digits of a 32-bit integer as text",
        "$numberLong" => "the digits of a 64-bit integer as text",
        "$numberDouble" => "the digits of a number as text",
        "$numberDecimal" => "the digits of a decimal128 as text",
        "$binary" => r#"{"base64": …, "subType": …}"#,
        "$uuid" => "a UUID as text",
        "$timestamp" => r#"{"t": …, "i": …} with integers of 32 bits"#,
        "$regularExpression" => r#"{"pattern": …, "options": …} with text"#,
        "$dbPointer" => r#"{"$ref": …, "$id": …}"#,
        "$date" => r#"a date as text, or {"$numberLong": …}"#,
        "$minKey" | "$maxKey" => "1",
        "$undefined" => "true",
        _ => "text",
    };
    let value = match pairs.as_slice() {
        [(_, content)] => one(&name, content),
        _ => None,
    };
    value.ok_or_else(|| malformed(&name, &Value::Map(pairs), expected))
}

#[cold]
fn malformed(name: &str, found: &Value, expected: &str) -> Error {
    let found = crate::model::text::shorten(&found.to_string());
    Error::syntax(format!(
        "found {found}, which is not a `{name}` of Extended JSON, expected {expected} and nothing else"
    ))
    .hint(Hint::without("read", Opt::ExtendedJson).when("this is not MongoDB's notation"))
}

/// Returns code, with or without a scope.
fn code(pairs: Vec<(Value, Value)>) -> Result<Value> {
    let expected = r#"{"$code": text} or {"$code": text, "$scope": map}"#;
    match pairs.as_slice() {
        [(_, Value::Text(code))] if is(&pairs[0], "$code") => {
            return Ok(ext(Ext::Code(code)));
        }
        [(_, Value::Text(name)), (_, scope @ Value::Map(_))]
        | [(_, scope @ Value::Map(_)), (_, Value::Text(name))]
            if (is(&pairs[0], "$code") && is(&pairs[1], "$scope"))
                || (is(&pairs[0], "$scope") && is(&pairs[1], "$code")) =>
        {
            let of = Type { origin: Origin::Bson, kind: "scope", name };
            // A scope is a map, even if it looks like the notation.
            if let scope @ Value::Map(_) = replaced(scope.clone())? {
                return Ok(Value::Typed(Box::new(TypeBuf::from(&of)), Box::new(scope)));
            }
        }
        _ => {}
    }
    Err(malformed("$code", &Value::Map(pairs), expected))
}

fn is(pair: &(Value, Value), name: &str) -> bool {
    matches!(&pair.0, Value::Text(key) if key == name)
}

fn ext(ext: Ext<'_>) -> Value {
    Value::Ext(ExtBuf::from(ext))
}

/// Returns the value of `{name: content}`, if it is well formed.
fn one(name: &str, content: &Value) -> Option<Value> {
    Some(match (name, content) {
        ("$oid", Value::Text(digits)) => ext(Ext::ObjectId(unhex(digits)?)),
        ("$symbol", Value::Text(name)) => ext(Ext::Symbol(name)),
        ("$numberInt", Value::Text(digits)) => {
            Value::Int(i64::from(plain(digits)?.parse::<i32>().ok()?))
        }
        ("$numberLong", Value::Text(digits)) => {
            let value: i64 = plain(digits)?.parse().ok()?;
            match i32::try_from(value) {
                Ok(_) => ext(Ext::Int64(value)),
                Err(_) => Value::Int(value),
            }
        }
        ("$numberDouble", Value::Text(digits)) => Value::F64(double(digits)?),
        ("$numberDecimal", Value::Text(digits)) => {
            ext(Ext::Decimal128(decimal128::from_text(digits)?))
        }
        ("$binary", Value::Map(_)) => {
            let [Value::Text(payload), Value::Text(subtype)] =
                members(content, ["base64", "subType"])?
            else {
                return None;
            };
            let payload = BASE64.decode(payload).ok()?;
            if !(1..=2).contains(&subtype.len()) || subtype.starts_with('+') {
                return None;
            }
            match (u8::from_str_radix(subtype, 16).ok()?, <[u8; 16]>::try_from(&payload[..])) {
                (0, _) => Value::Bytes(payload),
                (4, Ok(uuid)) => ext(Ext::Uuid(uuid)),
                (subtype, _) => ext(Ext::Binary(subtype, &payload)),
            }
        }
        ("$uuid", Value::Text(text)) => {
            let hyphens = text.match_indices('-').map(|(at, _)| at);
            if !hyphens.eq([8, 13, 18, 23]) {
                return None;
            }
            ext(Ext::Uuid(unhex(&text.replace('-', ""))?))
        }
        ("$timestamp", Value::Map(_)) => {
            let [Value::Int(seconds), Value::Int(increment)] = members(content, ["t", "i"])? else {
                return None;
            };
            let narrow = |v: &i64| u32::try_from(*v).ok();
            ext(Ext::BsonTimestamp { seconds: narrow(seconds)?, increment: narrow(increment)? })
        }
        ("$regularExpression", Value::Map(_)) => {
            let [Value::Text(pattern), Value::Text(options)] =
                members(content, ["pattern", "options"])?
            else {
                return None;
            };
            // The specification requires them in alphabetical order.
            let mut sorted: Vec<char> = options.chars().collect();
            sorted.sort_unstable();
            ext(Ext::Regex { pattern, options: &sorted.into_iter().collect::<String>() })
        }
        ("$dbPointer", Value::Map(_)) => {
            let [Value::Text(namespace), id] = members(content, ["$ref", "$id"])? else {
                return None;
            };
            let [Value::Text(id)] = members(id, ["$oid"])? else { return None };
            ext(Ext::DbPointer { namespace, id: unhex(id)? })
        }
        ("$date", Value::Text(text)) => Value::Timestamp(date(text)?),
        ("$date", Value::Map(_)) => {
            let [Value::Text(digits)] = members(content, ["$numberLong"])? else { return None };
            let milliseconds: i64 = plain(digits)?.parse().ok()?;
            Value::Timestamp(Timestamp {
                seconds: milliseconds.div_euclid(1000),
                nanoseconds: milliseconds.rem_euclid(1000) as u32 * 1_000_000,
            })
        }
        ("$minKey", Value::Int(1)) => ext(Ext::MinKey),
        ("$maxKey", Value::Int(1)) => ext(Ext::MaxKey),
        ("$undefined", Value::Bool(true)) => ext(Ext::Undefined),
        _ => return None,
    })
}

/// Returns the members of a map that has exactly these keys, in any order.
fn members<'v, const N: usize>(map: &'v Value, names: [&str; N]) -> Option<[&'v Value; N]> {
    let Value::Map(pairs) = map else { return None };
    if pairs.len() != N {
        return None;
    }
    let mut found = [map; N];
    for (place, name) in found.iter_mut().zip(names) {
        *place = &pairs.iter().find(|pair| is(pair, name))?.1;
    }
    Some(found)
}

/// Returns the digits unless they have a plus sign, which Rust would accept.
fn plain(digits: &str) -> Option<&str> {
    (!digits.starts_with('+')).then_some(digits)
}

fn double(digits: &str) -> Option<f64> {
    match digits {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        // Rust would accept other spellings of words.
        _ if digits.bytes().any(|b| b.is_ascii_alphabetic() && !b.eq_ignore_ascii_case(&b'e')) => {
            None
        }
        _ => digits.parse().ok().filter(|value: &f64| value.is_finite()),
    }
}

fn unhex<const N: usize>(digits: &str) -> Option<[u8; N]> {
    crate::model::text::unhex(&digits.to_ascii_lowercase())
}

/// Parses an RFC 3339 date, to the millisecond or finer: in UTC or with an offset, with or without
/// trailing zeros in its fraction.
fn date(text: &str) -> Option<Timestamp> {
    let (local, minutes) = match text.strip_suffix('Z') {
        Some(local) => (local, 0),
        None => {
            let (local, offset) = text.split_at_checked(text.len().checked_sub(6)?)?;
            let (hours, minutes) = offset[1..].split_once(':')?;
            let number = |digits: &str, below: i64| {
                let number = plain(digits)?.parse().ok().filter(|n| (0..below).contains(n))?;
                (digits.len() == 2).then_some(number)
            };
            let minutes = number(hours, 24)? * 60 + number(minutes, 60)?;
            match offset.as_bytes()[0] {
                b'+' => (local, minutes),
                b'-' => (local, -minutes),
                _ => return None,
            }
        }
    };
    let local = match local.split_once('.') {
        Some((_, "")) => return None,
        Some((second, fraction)) => match fraction.trim_end_matches('0') {
            "" => second.to_owned(),
            digits => format!("{second}.{digits}"),
        },
        None => local.to_owned(),
    };
    let at = time::parse_rfc3339(&format!("{local}Z"))?;
    Some(Timestamp { seconds: at.seconds - minutes * 60, ..at })
}

impl<S: Sink> Sink for FromExtended<S> {
    forward!(fidelity);

    leaves!();

    fn ext(&mut self, v: Ext<'_>) -> Result {
        self.leaf(|sink| sink.ext(v))
    }
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        match &mut self.capture {
            Some((builder, depth)) => {
                *depth += 1;
                builder.begin_array(len)
            }
            None => self.inner.begin_array(len),
        }
    }
    fn end_array(&mut self) -> Result {
        match &mut self.capture {
            Some((builder, depth)) => {
                *depth -= 1;
                builder.end_array()
            }
            None => self.inner.end_array(),
        }
    }
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        match &mut self.capture {
            Some((builder, depth)) => {
                *depth += 1;
                builder.begin_map(len)
            }
            None => {
                self.fresh = Some(len);
                Ok(())
            }
        }
    }
    fn key(&mut self, k: &str) -> Result {
        if let Some((builder, _)) = &mut self.capture {
            return builder.key(k);
        }
        if let Some(len) = self.fresh
            && k.starts_with('$')
            && NAMES.contains(&k)
        {
            self.fresh = None;
            let mut builder = Builder::new(&self.limits);
            builder.begin_map(len)?;
            builder.key(k)?;
            self.capture = Some((builder, 1));
            return Ok(());
        }
        self.open_fresh()?;
        self.inner.key(k)
    }
    fn key_value(&mut self, k: &Value) -> Result {
        if let Some((builder, _)) = &mut self.capture {
            return builder.key_value(k);
        }
        self.open_fresh()?;
        self.inner.key_value(k)
    }
    fn end_map(&mut self) -> Result {
        let Some((builder, depth)) = &mut self.capture else {
            self.open_fresh()?;
            return self.inner.end_map();
        };
        *depth -= 1;
        builder.end_map()?;
        if *depth > 0 {
            return Ok(());
        }
        let map = builder.take().expect("the map is whole");
        self.capture = None;
        let Value::Map(pairs) = map else { unreachable!("a map was begun") };
        meaning(pairs)?.drive(&mut self.inner)
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        self.leaf(|sink| sink.begin_typed(t))
    }
    fn end_typed(&mut self) -> Result {
        self.leaf(|sink| sink.end_typed())
    }
    fn holds_references(&mut self) -> bool {
        self.inner.holds_references()
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        self.leaf(|sink| sink.begin_anchor(id))
    }
    fn end_anchor(&mut self) -> Result {
        self.leaf(|sink| sink.end_anchor())
    }
    fn alias(&mut self, id: u64) -> Result {
        self.leaf(|sink| sink.alias(id))
    }
}

impl<S: Writer> Writer for FromExtended<S> {
    forward!(end_document finish checkpoint columns);

    fn rollback(&mut self) {
        (self.fresh, self.capture) = (None, None);
        self.inner.rollback();
    }
    fn path(&self) -> Option<crate::model::path::Path> {
        self.inner.path()
    }
}
