//! A document as a tree, for data that must be held in memory: keys that are not text, values under
//! a wrapper, tests.
//!
//! ```
//! use regauge::{Format, Options, Value, read_values};
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
mod change;
mod from;

use crate::model::ext::{ExtBuf, Timestamp, TypeBuf};
use crate::{Error, Result};

/// Any value of the event model. Displays in the wrapped notation (see [`crate::policy::fidelity`]).
///
/// `Value::from` takes Rust's own types. `Vec<u8>` and `&[u8]` are bytes; there is no `From<Vec<T>>`
/// for other elements, because it would make an array of integers out of bytes. An iterator of
/// values collects into an array, and one of pairs into a map.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// Null.
    #[default]
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
    /// A decimal with its digits: [`Ext::Decimal`](crate::Ext::Decimal).
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
}
