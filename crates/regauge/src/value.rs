//! A document as a tree, for data that must be held in memory: keys that are not text, values under
//! a wrapper, tests.
//!
//! ```
//! use regauge::{Format, Options, Value, values::read_values};
//!
//! let options = Options::new(Format::Json, Format::Json);
//! let value = read_values(br#"{"name": "Ada", "born": 1815}"#, &options)?.remove(0);
//! assert_eq!(value["name"].as_str(), Some("Ada"));
//! assert_eq!(value["born"].as_i64(), Some(1815));
//! assert!(value["died"].is_null());
//! assert_eq!(value.to_string(), r#"{"name":"Ada","born":1815}"#);
//! # Ok::<(), regauge::Error>(())
//! ```

mod access;
mod from;

use std::fmt;

use crate::event::{BigInt, Ext, ExtBuf, Sink, Timestamp, Type, TypeBuf, Writer as _};
use crate::fidelity::{Fidelity, OnLoss};
use crate::format::Format;
use crate::limits::Limits;
use crate::out::Out;
use crate::wrap::Escape;
use crate::{Error, Result, json};

/// Any value of the event model. Displays in the wrapped notation (see [`crate::fidelity`]).
///
/// `Value::from` takes Rust's own types. `Vec<u8>` and `&[u8]` are bytes; there is no `From<Vec<T>>`
/// for other elements, because it would make an array of integers out of bytes. An iterator of
/// values collects into an array, and one of pairs into a map.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer that fits `i64`.
    Int(i64),
    /// An integer above `i64::MAX`.
    UInt(u64),
    /// An integer beyond both: sign, and magnitude with the least significant byte first.
    BigInt {
        /// Below zero.
        negative: bool,
        /// Little-endian; the last byte is not 0.
        magnitude: Vec<u8>,
    },
    /// A single-precision number.
    F32(f32),
    /// A double.
    F64(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// An array.
    Array(Vec<Value>),
    /// A map in its original order, including duplicate keys.
    Map(Vec<(Value, Value)>),
    /// A point in time.
    Timestamp(Timestamp),
    /// A decimal with its digits: [`Ext::Decimal`].
    Decimal(String),
    /// A MessagePack extension.
    MsgpackExt(i8, Vec<u8>),
    /// Text with lone surrogates in generalized UTF-8.
    Surrogates(Vec<u8>),
    /// Text whose bytes are not UTF-8.
    BrokenText(Vec<u8>),
    /// Any other value that only some formats have.
    Ext(ExtBuf),
    /// A value with a type around it.
    Typed(Box<TypeBuf>, Box<Value>),
    /// A value that aliases refer to.
    Anchor(u64, Box<Value>),
    /// The value of that anchor, repeated.
    Alias(u64),
}

impl Value {
    /// Returns the kind of value as messages name it: `an integer`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Int(_) | Value::UInt(_) | Value::BigInt { .. } => "an integer",
            Value::F32(_) | Value::F64(_) => "a double",
            Value::Text(_) => "text",
            Value::Bytes(_) => "binary data",
            Value::Array(_) => "an array",
            Value::Map(_) => "a map",
            Value::Timestamp(_) => "a point in time",
            Value::Decimal(_) => "a decimal",
            Value::MsgpackExt(..) => "a MessagePack extension",
            Value::Surrogates(_) => "text with lone surrogates",
            Value::BrokenText(_) => "text that is not UTF-8",
            Value::Ext(v) => v.as_ext().type_name(),
            Value::Typed(..) => "a value with a type",
            Value::Anchor(_, value) => value.type_name(),
            Value::Alias(_) => "a reference",
        }
    }

    /// Checks that the value can be a key: keys that contain maps with such keys may nest
    /// [`Value::KEY_NESTING`] deep.
    ///
    /// # Errors
    /// `Limit` if they nest deeper.
    pub fn check_key(&self) -> Result {
        Value::check_key_in(self.key_nesting())
    }

    /// Same as [`Value::check_key`], for readers that build a key with a walk of their own: checks
    /// whether a key may begin inside this many others.
    ///
    /// # Errors
    /// `Limit` if it may not.
    pub(crate) fn check_key_in(open: usize) -> Result {
        if open <= Value::KEY_NESTING {
            return Ok(());
        }
        Err(Error::limit(format!(
            "found maps nested more than {} deep in one another's keys",
            Value::KEY_NESTING
        )))
    }

    /// How deep keys that are not text may nest in one another. Their notation doubles its
    /// backslashes with each level, so a hundred levels would not fit into memory; no real document
    /// has more than one level.
    pub const KEY_NESTING: usize = 8;

    /// Returns how many keys that are not text nest in this one.
    fn key_nesting(&self) -> usize {
        match self {
            Value::Array(values) => values.iter().map(Value::key_nesting).max().unwrap_or(0),
            Value::Map(pairs) => pairs
                .iter()
                .map(|(key, value)| match key {
                    Value::Text(_) => value.key_nesting(),
                    key => value.key_nesting().max(1 + key.key_nesting()),
                })
                .max()
                .unwrap_or(0),
            Value::Typed(_, value) | Value::Anchor(_, value) => value.key_nesting(),
            _ => 0,
        }
    }

    /// Sends the value's events to `sink`.
    ///
    /// # Errors
    /// The sink's.
    pub fn drive<S: Sink + ?Sized>(&self, sink: &mut S) -> Result {
        match self {
            Value::Null => sink.null(),
            Value::Bool(v) => sink.bool(*v),
            Value::Int(v) => sink.i64(*v),
            Value::UInt(v) => sink.u64(*v),
            Value::BigInt { negative, magnitude } => {
                sink.big_int(BigInt::Binary { negative: *negative, magnitude })
            }
            Value::F32(v) => sink.f32(*v),
            Value::F64(v) => sink.f64(*v),
            Value::Text(v) => sink.str(v),
            Value::Bytes(v) => sink.bytes(v),
            Value::Array(values) => {
                sink.begin_array(Some(values.len() as u64))?;
                for value in values {
                    value.drive(sink)?;
                }
                sink.end_array()
            }
            Value::Map(pairs) => {
                sink.begin_map(Some(pairs.len() as u64))?;
                for (key, value) in pairs {
                    match key {
                        Value::Text(key) => sink.key(key)?,
                        key => sink.key_value(key)?,
                    }
                    value.drive(sink)?;
                }
                sink.end_map()
            }
            Value::Timestamp(v) => sink.ext(Ext::Timestamp(*v)),
            Value::Decimal(v) => sink.ext(Ext::Decimal(v)),
            Value::MsgpackExt(kind, v) => sink.ext(Ext::MsgpackExt(*kind, v)),
            Value::Surrogates(v) => sink.ext(Ext::Surrogates(v)),
            Value::BrokenText(v) => sink.ext(Ext::BrokenText(v)),
            Value::Ext(v) => sink.ext(v.as_ext()),
            Value::Typed(t, value) => {
                sink.begin_typed(&t.as_type())?;
                value.drive(sink)?;
                sink.end_typed()
            }
            Value::Anchor(id, value) => {
                sink.begin_anchor(*id)?;
                value.drive(sink)?;
                sink.end_anchor()
            }
            Value::Alias(id) => sink.alias(*id),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fidelity = Fidelity::new(OnLoss::Wrap, Format::Json);
        let writer = json::Writer::new(Out::in_memory(), json::WriteOptions::default(), fidelity);
        let mut escape = Escape::new(writer);
        self.drive(&mut escape).map_err(|_| fmt::Error)?;
        escape.end_document().map_err(|_| fmt::Error)?;
        let bytes = escape.into_inner().into_out().into_vec();
        f.write_str(std::str::from_utf8(bytes.trim_ascii_end()).map_err(|_| fmt::Error)?)
    }
}

impl std::str::FromStr for Value {
    type Err = Error;

    /// Parses a text in the wrapped notation. A number with a fraction or an exponent is a double
    /// if the double is written exactly so, and a decimal otherwise: thus every value round-trips
    /// through its text.
    fn from_str(text: &str) -> Result<Value> {
        Value::from_notation(text, Limits::default())
    }
}

impl Value {
    /// As [`FromStr`](std::str::FromStr) has it, within these limits.
    pub(crate) fn from_notation(text: &str, limits: Limits) -> Result<Value> {
        let mut builder = Builder::new(&limits);
        let unwrap = crate::wrap::Unwrap::new(&mut builder, &limits);
        let mut unwrap = unwrap.with_numbers_as_decimals();
        let exact = crate::json::ReadOptions { exact_numbers: true, ..Default::default() };
        let parser = crate::json::Parser::new(exact, limits);
        let mut reader = crate::json::Reader::from_slice(parser, text.as_bytes());
        crate::Source::next(&mut reader, &mut unwrap)?;
        crate::Source::next(&mut reader, &mut unwrap)?;
        builder.take().ok_or_else(|| Error::truncated("found no value"))
    }
}

/// A sink that builds a [`Value`], within the limits on nodes and bytes.
#[derive(Debug)]
pub struct Builder {
    stack: Vec<(Value, Option<Value>)>,
    done: Option<Value>,
    nodes_left: u64,
    bytes_left: u64,
    fidelity: Fidelity,
}

impl Builder {
    /// Creates an empty builder, bounded by [`Limits::nodes`] and [`Limits::record_bytes`].
    pub fn new(limits: &Limits) -> Builder {
        Builder {
            stack: Vec::new(),
            done: None,
            nodes_left: limits.nodes,
            bytes_left: limits.record_bytes,
            fidelity: Fidelity::new(OnLoss::Refuse, Format::Json),
        }
    }

    /// Returns the value if it is complete.
    pub fn take(&mut self) -> Option<Value> {
        self.done.take()
    }

    /// Returns whether the value is complete.
    pub fn is_done(&self) -> bool {
        self.done.is_some()
    }

    fn spend(&mut self, bytes: usize) -> Result {
        let over = |what: &str| {
            Err(Error::limit(format!("found a value with too many {what} to hold in memory")))
        };
        let Some(nodes) = self.nodes_left.checked_sub(1) else { return over("nodes") };
        let Some(bytes) = self.bytes_left.checked_sub(bytes as u64) else { return over("bytes") };
        (self.nodes_left, self.bytes_left) = (nodes, bytes);
        Ok(())
    }

    fn add(&mut self, value: Value) -> Result {
        match self.stack.last_mut() {
            None => self.done = Some(value),
            Some((Value::Array(values), _)) => values.push(value),
            Some((Value::Map(pairs), key)) => {
                let key = key.take().expect("a reader sends a key before its value");
                pairs.push((key, value));
            }
            Some((Value::Typed(_, inside) | Value::Anchor(_, inside), _)) => **inside = value,
            Some(_) => unreachable!("only containers are pushed"),
        }
        Ok(())
    }

    fn leaf(&mut self, bytes: usize, value: impl FnOnce() -> Value) -> Result {
        self.spend(bytes)?;
        self.add(value())
    }
}

impl Sink for Builder {
    fn null(&mut self) -> Result {
        self.leaf(0, || Value::Null)
    }
    fn bool(&mut self, v: bool) -> Result {
        self.leaf(0, || Value::Bool(v))
    }
    fn i64(&mut self, v: i64) -> Result {
        self.leaf(0, || Value::Int(v))
    }
    fn u64(&mut self, v: u64) -> Result {
        self.leaf(0, || Value::UInt(v))
    }
    fn f64(&mut self, v: f64) -> Result {
        self.leaf(0, || Value::F64(v))
    }
    fn f32(&mut self, v: f32) -> Result {
        self.leaf(0, || Value::F32(v))
    }
    fn str(&mut self, v: &str) -> Result {
        self.leaf(v.len(), || Value::Text(v.to_owned()))
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.leaf(v.len(), || Value::Bytes(v.to_owned()))
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        match v {
            BigInt::Binary { negative, magnitude } => self.leaf(magnitude.len(), || {
                Value::BigInt { negative, magnitude: magnitude.to_owned() }
            }),
            BigInt::Decimal { negative, digits } => {
                if digits.len() > Limits::default().integer_digits as usize {
                    return Err(Error::limit(format!(
                        "found an integer of {} digits, too many to convert",
                        digits.len()
                    )));
                }
                self.leaf(digits.len(), || Value::BigInt {
                    negative,
                    magnitude: crate::number::magnitude(digits),
                })
            }
        }
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        match v {
            Ext::Timestamp(v) => self.leaf(0, || Value::Timestamp(v)),
            Ext::Decimal(v) => self.leaf(v.len(), || Value::Decimal(v.to_owned())),
            Ext::MsgpackExt(kind, v) => {
                self.leaf(v.len(), || Value::MsgpackExt(kind, v.to_owned()))
            }
            Ext::Surrogates(v) => self.leaf(v.len(), || Value::Surrogates(v.to_owned())),
            Ext::BrokenText(v) => self.leaf(v.len(), || Value::BrokenText(v.to_owned())),
            v => self.leaf(v.payload_bytes(), || Value::Ext(v.into())),
        }
    }
    fn begin_array(&mut self, _len: Option<u64>) -> Result {
        self.spend(0)?;
        self.stack.push((Value::Array(Vec::new()), None));
        Ok(())
    }
    fn end_array(&mut self) -> Result {
        let (value, _) = self.stack.pop().expect("begin before end");
        self.add(value)
    }
    fn begin_map(&mut self, _len: Option<u64>) -> Result {
        self.spend(0)?;
        self.stack.push((Value::Map(Vec::new()), None));
        Ok(())
    }
    fn key(&mut self, k: &str) -> Result {
        self.spend(k.len())?;
        if let Some((_, key)) = self.stack.last_mut() {
            *key = Some(Value::Text(k.to_owned()));
        }
        Ok(())
    }
    fn key_value(&mut self, k: &Value) -> Result {
        self.spend(0)?;
        if let Some((_, key)) = self.stack.last_mut() {
            *key = Some(k.clone());
        }
        Ok(())
    }
    fn end_map(&mut self) -> Result {
        self.end_array()
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        self.spend(t.kind.len() + t.name.len())?;
        self.stack.push((Value::Typed(Box::new(t.into()), Box::new(Value::Null)), None));
        Ok(())
    }
    fn end_typed(&mut self) -> Result {
        self.end_array()
    }
    fn holds_references(&mut self) -> bool {
        true
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        self.spend(0)?;
        self.stack.push((Value::Anchor(id, Box::new(Value::Null)), None));
        Ok(())
    }
    fn end_anchor(&mut self) -> Result {
        self.end_array()
    }
    fn alias(&mut self, id: u64) -> Result {
        self.leaf(0, || Value::Alias(id))
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}
