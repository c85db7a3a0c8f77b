//! What each event becomes.

use super::super::keys::{KEY_BYTES, is_at_zero, is_held, is_short, is_timestamp};
use super::super::quote::{is_plain, is_plain_short};
use super::super::scalar::{self, NUMBER_BYTES, room};
use super::super::tags;
use super::{At, OwnTag, Writer};
use crate::model::value::Value;
use crate::model::{number, time};
use crate::policy::event::{BigInt, Ext, Origin, ShortText, Sink, Type};
use crate::policy::fidelity::{self, Fidelity, LossKind, OnLoss};
use crate::policy::notation;
use crate::{Error, Result};

impl Sink for Writer<'_> {
    #[inline]
    fn null(&mut self) -> Result {
        self.word(b"null")
    }
    #[inline]
    fn bool(&mut self, v: bool) -> Result {
        self.word(if v { b"true" } else { b"false" })
    }
    #[inline]
    fn i64(&mut self, v: i64) -> Result {
        let mut buffer = itoa::Buffer::new();
        self.word(buffer.format(v).as_bytes())
    }
    #[inline]
    fn u64(&mut self, v: u64) -> Result {
        let mut buffer = itoa::Buffer::new();
        self.word(buffer.format(v).as_bytes())
    }
    #[inline]
    fn f64(&mut self, v: f64) -> Result {
        if notation::has_payload(v) && fidelity::nan_payload(self, v)? {
            return Ok(());
        }
        self.lead(NUMBER_BYTES)?;
        scalar::number(&mut self.out, v);
        self.tail();
        Ok(())
    }
    #[inline]
    fn str(&mut self, v: &str) -> Result {
        if self.frame.is_flow() || !is_plain(v.as_bytes()) {
            return self.quoted_text(v);
        }
        self.lead(v.len())?;
        self.out.extend_short(v.as_bytes());
        self.tail();
        Ok(())
    }
    #[inline]
    fn short_str(&mut self, v: ShortText<'_>) -> Result {
        if self.frame.is_flow() || !is_plain_short(v.window(), v.len()) {
            return self.quoted_text(v.as_str());
        }
        self.lead(32)?;
        let end = v.len() + self.out_place();
        self.out.push_array(*v.window());
        self.out.held_mut().truncate(end);
        self.tail();
        Ok(())
    }
    #[inline]
    fn begin_array(&mut self, _len: Option<u64>) -> Result {
        self.begin(At::Item, At::FlowItem, b'[')
    }
    #[inline]
    fn end_array(&mut self) -> Result {
        self.end(*b"[]")
    }
    #[inline]
    fn begin_map(&mut self, _len: Option<u64>) -> Result {
        self.begin(At::Pair, At::FlowPair, b'{')
    }
    #[inline]
    fn key(&mut self, k: &str) -> Result {
        if self.frame.is_flow() || k.len() > KEY_BYTES || !is_plain(k.as_bytes()) {
            return self.quoted_key(k);
        }
        self.lead_key(k.len())?;
        self.out.extend_short(k.as_bytes());
        self.out.push(b':');
        self.at = At::Key;
        Ok(())
    }
    #[inline]
    fn short_key(&mut self, k: ShortText<'_>) -> Result {
        if self.frame.is_flow() || !is_plain_short(k.window(), k.len()) {
            return self.quoted_key(k.as_str());
        }
        self.lead_key(32)?;
        let end = k.len() + self.out_place();
        self.out.push_array(*k.window());
        self.out.held_mut().truncate(end);
        self.out.push(b':');
        self.at = At::Key;
        Ok(())
    }
    #[inline]
    fn end_map(&mut self) -> Result {
        self.end(*b"{}")
    }

    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }

    fn bytes(&mut self, v: &[u8]) -> Result {
        if self.is_tagged() {
            return fidelity::bytes(self, v);
        }
        self.lead(0)?;
        scalar::binary(&mut self.out, v)?;
        room(&mut self.out, 1)?;
        self.tail();
        Ok(())
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        self.token(&number::big_int_text(v))
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        if self.is_tagged() {
            return fidelity::ext(self, v);
        }
        match v {
            Ext::Timestamp(at) => match time::rfc3339(at) {
                Some(text) => self.tagged("!!timestamp", &text),
                None => fidelity::ext(self, v),
            },
            Ext::Date(text) | Ext::DateTime(text) | Ext::OffsetDateTime(text)
                if is_timestamp(v) =>
            {
                self.tagged("!!timestamp", text)
            }
            // The zero offset is lost: YAML readers take it for `Z`.
            Ext::OffsetDateTime(text)
                if self.fidelity.policy() != OnLoss::Wrap && is_at_zero(text) =>
            {
                self.fidelity.note(LossKind::Timestamp, format!("the time {text}"), "UTC");
                self.tagged("!!timestamp", text)
            }
            // A number with any number of digits is a number in YAML too, but its reader may keep
            // only a double, and the reversible notation promises more.
            Ext::Decimal(text) if self.exact_numbers || self.fidelity.policy() != OnLoss::Wrap => {
                self.lead(text.len() + 3)?;
                scalar::exponent(&mut self.out, text);
                self.tail();
                Ok(())
            }
            _ => fidelity::ext(self, v),
        }
    }

    fn key_value(&mut self, k: &Value) -> Result {
        if let Value::Text(key) = k {
            return self.key(key);
        }
        if !is_held(k, self.fidelity.policy() == OnLoss::Wrap, self.schema) {
            return fidelity::key_value(self, k);
        }
        self.lead_key(2)?;
        let explicit = !is_short(k);
        if explicit {
            self.out.push_array(*b"? ");
        }
        // Treated as if between brackets, so that it stays on its line.
        let frame = self.frame;
        self.frame.next = At::FlowItem;
        self.at = At::FlowFirst;
        k.drive(self)?;
        self.frame = frame;
        self.end_key(explicit)
    }

    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        let is_tag = t.origin == Origin::Yaml && t.kind == "tag" && !t.name.is_empty();
        if self.at == At::OwnTag {
            self.place_tag(tags::Node::Other)?;
        }
        if !is_tag || self.is_tagged() {
            return fidelity::begin_typed(self, t);
        }
        if !tags::is_yamls(t.name) {
            return self.write_tag(t.name);
        }
        self.own_tag = Some(OwnTag { name: t.name.to_owned(), at: self.at, frame: self.frame });
        self.at = At::OwnTag;
        self.frame.next = At::OwnTag;
        Ok(())
    }
    fn end_typed(&mut self) -> Result {
        if self.fidelity.end_held() { Ok(()) } else { fidelity::end_typed(self) }
    }
    fn holds_references(&mut self) -> bool {
        true
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        if let Some(first) = self.anchor() {
            // A value has one anchor, but two if a type between them was dropped.
            self.same.insert(id, first);
            self.fidelity.hold_typed();
            return Ok(());
        }
        self.property()?;
        self.fidelity.hold_typed();
        self.out.push(b'&');
        self.out.extend(itoa::Buffer::new().format(id).as_bytes());
        self.node.anchor = Some(id);
        self.node.end = Some(self.out.position());
        Ok(())
    }
    fn end_anchor(&mut self) -> Result {
        self.end_typed()
    }
    fn alias(&mut self, id: u64) -> Result {
        if self.is_tagged() {
            return fidelity::alias(self, id);
        }
        let id = self.same.get(&id).copied().unwrap_or(id);
        if let Some(anchor) = self.anchor() {
            // An alias has no anchor: the other name refers to the same value.
            if anchor == id {
                return Err(Error::unrepresentable("found a value that is a reference to itself"));
            }
            let length = 1 + itoa::Buffer::new().format(anchor).len();
            let start = self.out_place() - length;
            self.out.held_mut().truncate(start);
            self.same.insert(anchor, id);
            self.out.push(b'*');
            self.out.extend(itoa::Buffer::new().format(id).as_bytes());
            room(&mut self.out, 1)?;
            self.tail();
            return Ok(());
        }
        let mut text = [0; 24];
        let mut buffer = itoa::Buffer::new();
        let digits = buffer.format(id).as_bytes();
        text[0] = b'*';
        text[1..=digits.len()].copy_from_slice(digits);
        self.word(&text[..=digits.len()])
    }
}

impl crate::policy::event::Writer for Writer<'_> {
    fn end_document(&mut self) -> Result {
        debug_assert!(self.stack.is_empty(), "a document ends when its containers have");
        self.same.clear();
        Ok(())
    }

    fn finish(&mut self) -> Result {
        self.out.finish_closed(self.stack.len())
    }

    fn checkpoint(&mut self) {
        self.checkpoint = (self.at, self.frame, self.stack.len());
        self.out.checkpoint();
    }

    fn rollback(&mut self) {
        let depth;
        (self.at, self.frame, depth) = self.checkpoint;
        self.stack.truncate(depth);
        self.own_tag = None;
        self.out.rollback();
    }
}
