//! The sinks that the reader itself drives.

use crate::model::hint::Hint;
use crate::model::limits::{Limit, Limits};
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, Sink};
use crate::policy::fidelity::Fidelity;
use crate::{Error, Format, OnLoss, Result};

/// Ignores every event.
pub(super) struct Null {
    fidelity: Fidelity,
}

impl Null {
    pub(super) fn new() -> Null {
        Null { fidelity: Fidelity::new(OnLoss::Refuse, Format::Msgpack) }
    }
}

impl Sink for Null {
    fn null(&mut self) -> Result {
        Ok(())
    }
    fn bool(&mut self, _: bool) -> Result {
        Ok(())
    }
    fn i64(&mut self, _: i64) -> Result {
        Ok(())
    }
    fn u64(&mut self, _: u64) -> Result {
        Ok(())
    }
    fn f64(&mut self, _: f64) -> Result {
        Ok(())
    }
    fn str(&mut self, _: &str) -> Result {
        Ok(())
    }
    fn bytes(&mut self, _: &[u8]) -> Result {
        Ok(())
    }
    fn ext(&mut self, _: Ext<'_>) -> Result {
        Ok(())
    }
    fn begin_array(&mut self, _: Option<u64>) -> Result {
        Ok(())
    }
    fn end_array(&mut self) -> Result {
        Ok(())
    }
    fn begin_map(&mut self, _: Option<u64>) -> Result {
        Ok(())
    }
    fn key(&mut self, _: &str) -> Result {
        Ok(())
    }
    fn key_value(&mut self, _: &Value) -> Result {
        Ok(())
    }
    fn end_map(&mut self) -> Result {
        Ok(())
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

/// Builds a key from events in which the keys of maps arrive as values.
pub(super) struct KeyBuilder {
    open: Vec<Vec<Value>>,
    done: Option<Value>,
    nodes_left: u64,
    fidelity: Fidelity,
}

impl KeyBuilder {
    pub(super) fn new(limits: &Limits) -> KeyBuilder {
        KeyBuilder {
            open: Vec::new(),
            done: None,
            nodes_left: limits.nodes,
            fidelity: Fidelity::new(OnLoss::Refuse, Format::Msgpack),
        }
    }

    /// Returns the key if it is complete.
    pub(super) fn into_value(self) -> Option<Value> {
        self.done
    }

    fn spend(&mut self) -> Result {
        match self.nodes_left.checked_sub(1) {
            Some(left) => {
                self.nodes_left = left;
                Ok(())
            }
            None => Err(Error::limit("found a key with more values than the limit of nodes")
                .hint(Hint::raise(Limit::Nodes))),
        }
    }

    fn leaf(&mut self, value: impl FnOnce() -> Value) -> Result {
        self.spend()?;
        self.put(value())
    }

    fn put(&mut self, value: Value) -> Result {
        match self.open.last_mut() {
            Some(values) => values.push(value),
            None => self.done = Some(value),
        }
        Ok(())
    }

    fn close(&mut self) -> Vec<Value> {
        self.open.pop().expect("begin before end")
    }
}

impl Sink for KeyBuilder {
    fn null(&mut self) -> Result {
        self.leaf(|| Value::Null)
    }
    fn bool(&mut self, v: bool) -> Result {
        self.leaf(|| Value::Bool(v))
    }
    fn i64(&mut self, v: i64) -> Result {
        self.leaf(|| Value::Int(v))
    }
    fn u64(&mut self, v: u64) -> Result {
        self.leaf(|| Value::UInt(v))
    }
    fn f64(&mut self, v: f64) -> Result {
        self.leaf(|| Value::F64(v))
    }
    fn f32(&mut self, v: f32) -> Result {
        self.leaf(|| Value::F32(v))
    }
    fn str(&mut self, v: &str) -> Result {
        self.leaf(|| Value::Text(v.to_owned()))
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.leaf(|| Value::Bytes(v.to_owned()))
    }
    fn big_int(&mut self, _: BigInt<'_>) -> Result {
        unreachable!("MessagePack has no such integers")
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        self.leaf(|| match v {
            Ext::Timestamp(v) => Value::Timestamp(v),
            Ext::MsgpackExt(kind, v) => Value::MsgpackExt(kind, v.to_owned()),
            Ext::BrokenText(v) => Value::BrokenText(v.to_owned()),
            _ => unreachable!("MessagePack has no other"),
        })
    }
    fn begin_array(&mut self, _: Option<u64>) -> Result {
        self.spend()?;
        self.open.push(Vec::new());
        Ok(())
    }
    fn end_array(&mut self) -> Result {
        let values = self.close();
        self.put(Value::Array(values))
    }
    fn begin_map(&mut self, _: Option<u64>) -> Result {
        self.begin_array(None)
    }
    fn key(&mut self, _: &str) -> Result {
        unreachable!("keys arrive as values")
    }
    fn end_map(&mut self) -> Result {
        let mut values = self.close().into_iter();
        let mut pairs = Vec::with_capacity(values.len() / 2);
        while let (Some(key), Some(value)) = (values.next(), values.next()) {
            pairs.push((key, value));
        }
        self.put(Value::Map(pairs))
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}
