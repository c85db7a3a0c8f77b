//! What each event adds to the shape.

use super::{Kind, Measure, Place, Shape};
use crate::Result;
use crate::model::number;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, Sink, Type, TypeBuf, Writer};
use crate::policy::fidelity::Fidelity;

impl Sink for Shape {
    fn null(&mut self) -> Result {
        self.leaf(Kind::Null, 4, Measure::None);
        Ok(())
    }
    fn bool(&mut self, v: bool) -> Result {
        self.leaf(Kind::Bool, if v { 4 } else { 5 }, Measure::None);
        Ok(())
    }
    fn i64(&mut self, v: i64) -> Result {
        let v = i128::from(v);
        self.leaf(Kind::Integer, integer_bytes(v), Measure::Integer(v));
        Ok(())
    }
    fn u64(&mut self, v: u64) -> Result {
        let v = i128::from(v);
        self.leaf(Kind::Integer, integer_bytes(v), Measure::Integer(v));
        Ok(())
    }
    fn f64(&mut self, v: f64) -> Result {
        if v.is_finite() {
            let bytes = zmij::Buffer::new().format_finite(v).len() as u64;
            self.leaf(Kind::Float, bytes, Measure::Float(v));
        } else {
            self.leaf(Kind::Float, 4, Measure::None);
        }
        Ok(())
    }
    fn str(&mut self, v: &str) -> Result {
        let length = v.len() as u64;
        let node = self.leaf(Kind::Text, length + 2, Measure::Length(length));
        if self.is_marc
            && self.stack.len() == 1
            && matches!(&self.node(node).place, Place::Key(key) if &**key == "leader")
        {
            let mut chars = v.chars().skip(6);
            let kind = chars.next().unwrap_or('?');
            self.leader = Some((kind, chars.nth(2).unwrap_or('?')));
        }
        Ok(())
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.leaf(Kind::Bytes, base64_bytes(v.len()), Measure::Length(v.len() as u64));
        Ok(())
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        let text = number::big_int_text(v);
        let measure = text.parse().map_or(Measure::None, Measure::Integer);
        self.leaf(Kind::Integer, text.len() as u64, measure);
        Ok(())
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        match v {
            Ext::Timestamp(_) => self.leaf(Kind::Timestamp, 22, Measure::None),
            Ext::Decimal(text) => self.leaf(Kind::Decimal, text.len() as u64, Measure::None),
            Ext::MsgpackExt(_, v) => {
                self.leaf(Kind::Extension, base64_bytes(v.len()), Measure::Length(v.len() as u64))
            }
            Ext::Surrogates(v) | Ext::BrokenText(v) => {
                let length = v.len() as u64;
                self.leaf(Kind::BrokenText, length + 2, Measure::Length(length))
            }
            Ext::Int64(v) => return self.i64(v),
            Ext::Symbol(v) => {
                let length = v.len() as u64;
                self.leaf(Kind::Symbol, length + 2, Measure::Length(length))
            }
            Ext::Date(v) | Ext::Time(v) | Ext::DateTime(v) | Ext::OffsetDateTime(v) => {
                self.leaf(Kind::Timestamp, v.len() as u64 + 2, Measure::None)
            }
            Ext::Decimal128(_) => self.leaf(Kind::Decimal, 16, Measure::None),
            Ext::Binary(_, v) => {
                self.leaf(Kind::Bytes, base64_bytes(v.len()), Measure::Length(v.len() as u64))
            }
            other => {
                let length = other.payload_bytes() as u64;
                self.leaf(Kind::Extension, length + 24, Measure::Length(length))
            }
        };
        Ok(())
    }
    fn begin_array(&mut self, _: Option<u64>) -> Result {
        self.begin(Kind::Array);
        Ok(())
    }
    fn end_array(&mut self) -> Result {
        self.stack.pop();
        Ok(())
    }
    fn begin_map(&mut self, _: Option<u64>) -> Result {
        self.begin(Kind::Map);
        Ok(())
    }
    fn key(&mut self, k: &str) -> Result {
        self.key_at(k);
        Ok(())
    }
    fn key_value(&mut self, k: &Value) -> Result {
        self.other_keys += 1;
        self.key_at(&k.to_string());
        Ok(())
    }
    fn end_map(&mut self) -> Result {
        self.stack.pop();
        Ok(())
    }
    // A type is counted here; its value keeps the path.
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        if let Some(count) = self.types.get_mut(&TypeBuf::from(t)) {
            *count += 1;
        } else if self.types.len() < Shape::TYPES {
            self.types.insert(t.into(), 1);
        } else {
            self.other_types += 1;
        }
        Ok(())
    }
    fn end_typed(&mut self) -> Result {
        Ok(())
    }
    fn holds_references(&mut self) -> bool {
        true
    }
    fn begin_anchor(&mut self, _: u64) -> Result {
        Ok(())
    }
    fn end_anchor(&mut self) -> Result {
        Ok(())
    }
    fn alias(&mut self, _: u64) -> Result {
        self.leaf(Kind::Alias, 4, Measure::None);
        Ok(())
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

impl Writer for Shape {
    fn end_document(&mut self) -> Result {
        self.settle();
        self.documents += 1;
        if let Some((kind, charset)) = self.leader.take() {
            *self.leaders.types.entry(kind).or_default() += 1;
            *self.leaders.charsets.entry(charset).or_default() += 1;
        }
        Ok(())
    }
    fn finish(&mut self) -> Result {
        Ok(())
    }
    fn checkpoint(&mut self) {
        self.settle();
        self.journal.get_or_insert_default();
    }
    fn rollback(&mut self) {
        self.stack.clear();
        self.leader = None;
        if let Some(journal) = &mut self.journal {
            journal.clear();
        }
    }
}

/// Returns the size of this many bytes as quoted Base64.
fn base64_bytes(length: usize) -> u64 {
    (length as u64).div_ceil(3) * 4 + 2
}

fn integer_bytes(v: i128) -> u64 {
    u64::from(v < 0) + u64::from(v.unsigned_abs().checked_ilog10().unwrap_or(0)) + 1
}
