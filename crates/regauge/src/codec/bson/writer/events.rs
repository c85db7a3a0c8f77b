//! What each event becomes.

use super::super::types::*;
use super::{NONE, Writer, no_scope};
use crate::policy::event::{BigInt, Ext, Origin, ShortText, Sink, Type};
use crate::policy::fidelity::{self, Fidelity};
use crate::{Error, Result};

impl Sink for Writer<'_> {
    #[inline]
    fn null(&mut self) -> Result {
        self.fixed(NULL, [])
    }
    #[inline]
    fn bool(&mut self, v: bool) -> Result {
        self.fixed(BOOL, [u8::from(v)])
    }
    #[inline]
    fn i64(&mut self, v: i64) -> Result {
        match i32::try_from(v) {
            Ok(v) => self.fixed(INT32, v.to_le_bytes()),
            Err(_) => self.fixed(INT64, v.to_le_bytes()),
        }
    }
    fn u64(&mut self, v: u64) -> Result {
        match i64::try_from(v) {
            Ok(v) => self.i64(v),
            Err(_) => {
                let mut buffer = itoa::Buffer::new();
                let digits = buffer.format(v);
                fidelity::big_int(self, BigInt::Decimal { negative: false, digits })
            }
        }
    }
    #[inline]
    fn f64(&mut self, v: f64) -> Result {
        self.fixed(DOUBLE, v.to_le_bytes())
    }
    #[inline]
    fn f64_array(&mut self, values: &[f64]) -> Result {
        if values.len() <= 10 && !self.stack.is_empty() && self.scope == NONE {
            return self.doubles(values);
        }
        self.begin(true)?;
        values.iter().try_for_each(|v| self.f64(*v))?;
        self.end()
    }
    #[inline]
    fn str(&mut self, v: &str) -> Result {
        self.string(STRING, v)
    }
    #[inline]
    fn begin_array(&mut self, _: Option<u64>) -> Result {
        self.begin(true)
    }
    #[inline]
    fn end_array(&mut self) -> Result {
        self.end()
    }
    #[inline]
    fn begin_map(&mut self, _: Option<u64>) -> Result {
        self.begin(false)
    }
    #[inline]
    fn key(&mut self, k: &str) -> Result {
        self.name(k)
    }
    #[inline]
    fn short_str(&mut self, v: ShortText<'_>) -> Result {
        if self.kind_at != NONE {
            let length = (v.len() as u32 + 1).to_le_bytes();
            if self.out.try_extend_window(length, v.window(), v.len(), 0) {
                self.set_kind(STRING);
                return Ok(());
            }
        }
        self.string(STRING, v.as_str())
    }
    #[inline]
    fn short_key(&mut self, k: ShortText<'_>) -> Result {
        self.short_name(k)
    }
    #[inline]
    fn end_map(&mut self) -> Result {
        self.end()
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.binary(GENERIC, v)
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        match v {
            Ext::Timestamp(at) => self.timestamp(at),
            Ext::Int64(v) => self.fixed(INT64, v.to_le_bytes()),
            Ext::Symbol(name) => self.string(SYMBOL, name),
            Ext::Code(code) => self.string(CODE, code),
            Ext::Decimal128(v) => self.fixed(DECIMAL128, v),
            Ext::ObjectId(id) => self.fixed(OBJECT_ID, id),
            Ext::Uuid(uuid) => self.binary(UUID, &uuid),
            Ext::Binary(subtype, payload) => self.binary(subtype, payload),
            Ext::Regex { pattern, options } => self.regex(pattern, options),
            Ext::BsonTimestamp { seconds, increment } => {
                let bits = u64::from(seconds) << 32 | u64::from(increment);
                self.fixed(TIMESTAMP, bits.to_le_bytes())
            }
            Ext::MinKey => self.fixed(MIN_KEY, []),
            Ext::MaxKey => self.fixed(MAX_KEY, []),
            Ext::Undefined => self.fixed(UNDEFINED, []),
            Ext::DbPointer { namespace, id } => {
                self.element(DB_POINTER, namespace.len() + 5 + id.len())?;
                self.bare_string(namespace)?;
                self.out.push_array(id);
                Ok(())
            }
            _ => fidelity::ext(self, v),
        }
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        if t.origin != Origin::Bson || t.kind != "scope" {
            return fidelity::begin_typed(self, t);
        }
        self.fidelity.hold_typed();
        self.element(SCOPED_CODE, 4 + 5 + t.name.len())?;
        self.scope = self.out.position();
        self.out.push_array([0; 4]);
        self.bare_string(t.name)
    }
    fn end_typed(&mut self) -> Result {
        if !self.fidelity.end_held() {
            return fidelity::end_typed(self);
        }
        // The map that belongs there would have consumed it.
        if self.scope != NONE { Err(no_scope()) } else { Ok(()) }
    }
}

impl crate::Writer for Writer<'_> {
    fn end_document(&mut self) -> Result {
        debug_assert!(self.stack.is_empty(), "a document ends when its containers have");
        Ok(())
    }
    fn finish(&mut self) -> Result {
        if !self.stack.is_empty() {
            let open = self.stack.len();
            return Err(Error::unrepresentable(format!(
                "the last document is incomplete: {open} documents and arrays are still open"
            )));
        }
        self.out.finish()
    }
    fn checkpoint(&mut self) {
        self.mark = self.stack.len();
        self.out.checkpoint();
    }
    fn rollback(&mut self) {
        self.out.rollback();
        self.stack.truncate(self.mark);
        (self.index, self.kind_at, self.scope) = (NONE, NONE, NONE);
        if self.stack.is_empty() {
            self.pinned = NONE;
        }
        self.fidelity.close_all();
    }
}
