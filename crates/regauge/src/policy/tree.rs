//! Values and events: a [`Value`] sends its events, and [`Builder`] makes a value of those it receives.

use crate::model::format::Format;
use crate::model::hint::Hint;
use crate::model::limits::{Limit, Limits};
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, Sink, Type};
use crate::policy::fidelity::{Fidelity, OnLoss};
use crate::{Error, Result};

impl Value {
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

/// Refuses a value that would take too much memory.
#[cold]
pub(crate) fn too_large(what: &str, limit: Limit) -> Error {
    let name = limit.name();
    Error::limit(format!(
        "found a value of too many {what} to hold in memory, expected no more than the limit {name}"
    ))
    .hint(Hint::raise(limit))
}

/// A sink that builds a [`Value`], within the limits on nodes and bytes.
#[derive(Debug)]
pub struct Builder {
    stack: Vec<(Value, Option<Value>)>,
    done: Option<Value>,
    nodes_left: u64,
    bytes_left: u64,
    references: bool,
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
            references: true,
            fidelity: Fidelity::new(OnLoss::Refuse, Format::Json),
        }
    }

    /// Returns this builder without references: a reader repeats a shared value in each of its places, within
    /// [`Limits::aliases`], and refuses one that contains itself.
    #[must_use]
    pub fn without_references(mut self) -> Builder {
        self.references = false;
        self
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
        let Some(nodes) = self.nodes_left.checked_sub(1) else {
            return Err(too_large("nodes", Limit::Nodes));
        };
        let Some(bytes) = self.bytes_left.checked_sub(bytes as u64) else {
            return Err(too_large("bytes", Limit::RecordBytes));
        };
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
                    magnitude: crate::model::number::magnitude(digits),
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
        self.references
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
