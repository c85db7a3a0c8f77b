//! Writes events as MessagePack from a source that knows the exact count of every container in
//! advance: objects in memory.
//!
//! Nothing has to be remembered for open containers, so nothing has to be done at their end: on
//! canada.json, where pairs of numbers are half of the work, [`Writer`](super::Writer) takes 1.5
//! times as long. The caller must send exactly as many values as it promised; otherwise the bytes
//! mean something else.

use super::token::{self, SHORT_BYTES};
use super::types::*;
use crate::bytes::buffer::Out;
use crate::model::value::Value;
use crate::policy::event::{Ext, ShortText, Sink};
use crate::policy::fidelity::{self, Fidelity};
use crate::{Error, Result};

/// Turns events into MessagePack; every count must be promised and kept.
#[derive(Debug)]
pub struct Promised<'o> {
    out: Out<'o>,
    fidelity: Fidelity,
}

impl<'o> Promised<'o> {
    /// Creates a writer into `out`. Values that MessagePack cannot hold follow the policy of
    /// `fidelity`.
    pub fn new(out: Out<'o>, fidelity: Fidelity) -> Promised<'o> {
        Promised { out, fidelity }
    }

    /// Returns the buffer, with everything not yet flushed to an output.
    #[inline]
    pub fn into_out(self) -> Out<'o> {
        self.out
    }

    #[inline(always)]
    fn room(&mut self, n: usize) -> Result {
        self.out.room(n, u64::MAX)
    }

    #[inline(always)]
    fn begin(&mut self, map: bool, count: Option<u64>) -> Result {
        let Some(count) = count else { return Err(unknown()) };
        self.room(5)?;
        token::container(&mut self.out, map, count)
    }

    #[inline(always)]
    fn text(&mut self, bytes: &[u8]) -> Result {
        // A slice is never long enough for this to overflow.
        self.room(bytes.len() + 5)?;
        token::text(&mut self.out, bytes)
    }

    #[inline(always)]
    fn short_text(&mut self, text: ShortText<'_>) -> Result {
        self.room(SHORT_BYTES)?;
        token::short_text(&mut self.out, text);
        Ok(())
    }
}

#[cold]
fn unknown() -> Error {
    Error::unrepresentable("found a container without a count, expected a count in advance")
}

impl Sink for Promised<'_> {
    #[inline]
    fn null(&mut self) -> Result {
        self.room(1)?;
        self.out.push(NIL);
        Ok(())
    }
    #[inline]
    fn bool(&mut self, v: bool) -> Result {
        self.room(1)?;
        self.out.push(FALSE + u8::from(v));
        Ok(())
    }
    #[inline]
    fn constant(&mut self, v: Option<bool>) -> Result {
        self.room(1)?;
        self.out.push([FALSE, TRUE, NIL][v.map_or(2, usize::from)]);
        Ok(())
    }
    #[inline]
    fn i64(&mut self, v: i64) -> Result {
        self.room(HEADER_MAX)?;
        token::integer(&mut self.out, v);
        Ok(())
    }
    #[inline]
    fn u64(&mut self, v: u64) -> Result {
        match i64::try_from(v) {
            Ok(v) => self.i64(v),
            Err(_) => {
                self.room(HEADER_MAX)?;
                token::unsigned(&mut self.out, v);
                Ok(())
            }
        }
    }
    #[inline]
    fn f64(&mut self, v: f64) -> Result {
        self.room(HEADER_MAX)?;
        token::double(&mut self.out, v);
        Ok(())
    }
    #[inline]
    fn f32(&mut self, v: f32) -> Result {
        self.room(HEADER_MAX)?;
        token::single(&mut self.out, v);
        Ok(())
    }
    #[inline]
    fn str(&mut self, v: &str) -> Result {
        self.text(v.as_bytes())
    }
    #[inline]
    fn short_str(&mut self, v: ShortText<'_>) -> Result {
        self.short_text(v)
    }
    #[inline]
    fn key(&mut self, k: &str) -> Result {
        self.text(k.as_bytes())
    }
    #[inline]
    fn short_key(&mut self, k: ShortText<'_>) -> Result {
        self.short_text(k)
    }
    #[inline]
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        self.begin(false, len)
    }
    #[inline]
    fn end_array(&mut self) -> Result {
        Ok(())
    }
    #[inline]
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        self.begin(true, len)
    }
    #[inline]
    fn end_map(&mut self) -> Result {
        Ok(())
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.room(v.len() + 5)?;
        token::binary(&mut self.out, v)
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        match v {
            Ext::Timestamp(at) => {
                self.room(18)?;
                token::timestamp(&mut self.out, at)
            }
            Ext::MsgpackExt(kind, payload) => {
                self.room(payload.len() + 6)?;
                token::extension(&mut self.out, kind, payload)
            }
            // The specification allows any bytes in a str.
            Ext::BrokenText(raw) => self.text(raw),
            _ => fidelity::ext(self, v),
        }
    }
    fn key_value(&mut self, k: &Value) -> Result {
        k.drive(self)
    }
}

impl crate::Writer for Promised<'_> {
    fn end_document(&mut self) -> Result {
        Ok(())
    }
    fn finish(&mut self) -> Result {
        self.out.finish()
    }
    fn checkpoint(&mut self) {
        self.out.checkpoint();
    }
    fn rollback(&mut self) {
        self.out.rollback();
    }
}
