//! What each event becomes.

use super::super::types::*;
use super::{Token, Writer};
use crate::model::number;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, Origin, ShortText, Sink, Type};
use crate::policy::fidelity::{self, Fidelity};
use crate::{Error, OnLoss, Result};

impl Sink for Writer<'_> {
    #[inline]
    fn null(&mut self) -> Result {
        self.count += 1;
        if self.out.try_push([], 0, [NULL]) { Ok(()) } else { self.slow(Token::Byte(NULL)) }
    }
    #[inline]
    fn bool(&mut self, v: bool) -> Result {
        self.count += 1;
        let byte = FALSE + u8::from(v);
        if self.out.try_push([], 0, [byte]) { Ok(()) } else { self.slow(Token::Byte(byte)) }
    }
    #[inline]
    fn i64(&mut self, v: i64) -> Result {
        self.count += 1;
        if !self.out.has_room(HEAD_MAX) {
            return self.slow(Token::Integer(v));
        }
        self.whole_number(v);
        Ok(())
    }
    #[inline]
    fn u64(&mut self, v: u64) -> Result {
        if v <= i64::MAX as u64 {
            return self.i64(v as i64);
        }
        self.room(HEAD_MAX)?;
        self.count += 1;
        self.out.push_with_header([UNSIGNED | 27], v.to_be_bytes());
        Ok(())
    }
    #[inline]
    fn f64(&mut self, v: f64) -> Result {
        self.count += 1;
        if !self.out.has_room(HEAD_MAX) {
            return self.slow(Token::Double(v));
        }
        self.double(v);
        Ok(())
    }
    #[inline]
    fn f32(&mut self, v: f32) -> Result {
        self.room(5)?;
        self.half_or_single(v);
        self.count += 1;
        Ok(())
    }
    #[inline]
    fn str(&mut self, v: &str) -> Result {
        self.count += 1;
        self.string(major::TEXT, v.as_bytes())
    }
    #[inline]
    fn key(&mut self, k: &str) -> Result {
        if self.options.deterministic {
            return self.held_key(|writer| writer.string(major::TEXT, k.as_bytes()));
        }
        self.string(major::TEXT, k.as_bytes())
    }
    #[inline]
    fn short_str(&mut self, v: ShortText<'_>) -> Result {
        self.count += 1;
        self.short_string(v)
    }
    #[inline]
    fn short_key(&mut self, k: ShortText<'_>) -> Result {
        if self.options.deterministic {
            return self.key(k.as_str());
        }
        self.short_string(k)
    }
    #[inline]
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        self.begin(false, len)
    }
    #[inline]
    fn end_array(&mut self) -> Result {
        self.end()
    }
    #[inline]
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        self.begin(true, len)
    }
    #[inline]
    fn end_map(&mut self) -> Result {
        self.end()
    }
    #[inline]
    fn text_pair(&mut self, k: &str, v: &str) -> Result {
        self.room(1)?;
        self.out.push(MAP | 1);
        self.string(major::TEXT, k.as_bytes())?;
        self.string(major::TEXT, v.as_bytes())?;
        self.count += 1;
        Ok(())
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.count += 1;
        self.string(major::BYTES, v)
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        match v {
            BigInt::Binary { negative, magnitude } => self.bignum(negative, magnitude.to_vec()),
            BigInt::Decimal { negative, digits } => {
                self.bignum(negative, number::magnitude(digits))
            }
        }
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        self.special(v)
    }
    fn key_value(&mut self, k: &Value) -> Result {
        if self.options.deterministic {
            self.held_key(|writer| k.drive(writer))?;
        } else {
            k.drive(self)?;
        }
        // A key is not an entry.
        self.count -= 1;
        Ok(())
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        match tag_number(t) {
            Some(number) => {
                self.fidelity.hold_typed();
                self.tag(number)
            }
            None => fidelity::begin_typed(self, t),
        }
    }
    fn end_typed(&mut self) -> Result {
        if self.fidelity.end_held() { Ok(()) } else { fidelity::end_typed(self) }
    }
    fn holds_references(&mut self) -> bool {
        // Sorting changes the positions that references count by.
        !self.options.deterministic || self.fidelity.policy() == OnLoss::Wrap
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        if self.options.deterministic {
            return fidelity::begin_anchor(self, id);
        }
        if id != self.anchors + 1 {
            self.renumbered.insert(id, self.anchors);
        }
        self.anchors += 1;
        self.fidelity.hold_typed();
        self.tag(tag::SHAREABLE)
    }
    fn end_anchor(&mut self) -> Result {
        if self.fidelity.end_held() { Ok(()) } else { fidelity::end_anchor(self) }
    }
    fn alias(&mut self, id: u64) -> Result {
        if self.options.deterministic {
            return fidelity::alias(self, id);
        }
        let index = self.renumbered.get(&id).copied().unwrap_or(id.wrapping_sub(1));
        if index >= self.anchors {
            return Err(Error::unrepresentable(format!(
                "found a reference to value {id}, which has not been written yet"
            )));
        }
        self.tag(tag::REFERENCE)?;
        self.u64(index)
    }
}

/// Returns the tag for this type, if it can be written as one: references have events of their own.
fn tag_number(t: &Type<'_>) -> Option<u64> {
    if t.origin != Origin::Cbor || t.kind != "tag" {
        return None;
    }
    let number: u64 = t.name.parse().ok()?;
    let is_reference = matches!(number, tag::SHAREABLE | tag::REFERENCE);
    (!is_reference && itoa::Buffer::new().format(number) == t.name).then_some(number)
}

impl crate::Writer for Writer<'_> {
    fn end_document(&mut self) -> Result {
        debug_assert!(self.stack.is_empty(), "a document ends when its containers have");
        self.count = 0;
        if self.anchors > 0 {
            self.anchors = 0;
            self.renumbered.clear();
        }
        Ok(())
    }
    fn finish(&mut self) -> Result {
        self.out.finish_closed(self.stack.len())
    }
    fn checkpoint(&mut self) {
        self.mark = (self.stack.len(), self.count);
        self.out.checkpoint();
    }
    fn rollback(&mut self) {
        let (depth, count) = self.mark;
        self.drop_held(depth);
        self.out.rollback();
        self.stack.truncate(depth);
        self.count = count;
        let end = self.out.position();
        self.edits.retain(|edit| edit.at < end);
        self.edits_end = self.edits.iter().map(|edit| edit.at + 1).max().unwrap_or(0);
        self.find_pin();
        self.fidelity.close_all();
    }
}
