//! Scalars: numbers, text, bytes.

use super::Walk;
use crate::codec::pickle::Strings;
use crate::codec::pickle::arena::{Arena, Node, Span};
use crate::codec::pickle::text;
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::model::utf8::{ShortText, from_utf8};
use crate::policy::event::{BigInt, Ext, Sink};
use crate::{Error, Result};

/// Longer text counts against the limit on repeated text.
const LONG_TEXT: usize = 64;

impl Walk<'_> {
    #[inline(always)]
    pub(super) fn leaf<S: Sink + ?Sized>(&mut self, node: Node, sink: &mut S) -> Result {
        self.at = node.at();
        match node {
            Node::Text(_, span) => self.text(span, sink),
            Node::Int(_, v) => sink.i64(v),
            Node::Float(_, v) => sink.f64(v),
            Node::None(_) => sink.null(),
            Node::Bool(_, v) => sink.bool(v),
            other => self.rare_leaf(other, sink),
        }
    }

    #[inline(always)]
    pub(super) fn text<S: Sink + ?Sized>(&mut self, span: Span, sink: &mut S) -> Result {
        let (at, length) = (span.at as usize, span.length as usize);
        if let Some(window) = self.input.get(at..).and_then(|rest| rest.first_chunk())
            && let Some(short) = ShortText::ascii(window, length)
        {
            return sink.short_str(short);
        }
        self.long_text(span.of(self.input), sink)
    }

    #[inline(never)]
    pub(super) fn long_text<S: Sink + ?Sized>(&mut self, bytes: &[u8], sink: &mut S) -> Result {
        self.spend_text(bytes.len())?;
        match from_utf8(bytes) {
            Some(text) => sink.str(text),
            None => sink.ext(Ext::Surrogates(self.surrogates(bytes)?)),
        }
    }

    /// Returns the bytes, if they are what Python writes for text with surrogates.
    pub(super) fn surrogates<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8]> {
        if text::is_utf8_with_surrogates(bytes) {
            return Ok(bytes);
        }
        Err(Error::syntax("found text that is not UTF-8").at(self.at()))
    }

    /// Emits text. Text that occurs once costs nothing: all of it together is no longer than the
    /// input.
    #[inline]
    pub(in crate::codec::pickle) fn spend_text(&mut self, length: usize) -> Result {
        if length <= LONG_TEXT {
            return Ok(());
        }
        match self.text_left.checked_sub(length as u64) {
            Some(left) => {
                self.text_left = left;
                Ok(())
            }
            None => Err(self.too_many_aliases("long text that repeats")),
        }
    }

    #[inline(never)]
    pub(super) fn rare_leaf<S: Sink + ?Sized>(&mut self, node: Node, sink: &mut S) -> Result {
        match node {
            Node::Bytes(_, span) => {
                self.spend_text(span.length as usize)?;
                sink.bytes(span.of(self.input))
            }
            Node::Escaped(_, span) => {
                let bytes = text::unescape_unicode(span.of(self.input))
                    .map_err(|what| Error::syntax(format!("found {what}")).at(self.at()))?;
                self.long_text(&bytes, sink)
            }
            Node::Old(..) | Node::OldEscaped(..) => self.old_text(node, sink),
            Node::Long(_, span) => long(span.of(self.input), sink),
            Node::LongText(_, span) => {
                let digits = std::str::from_utf8(span.of(self.input)).unwrap_or_default();
                match (digits.parse::<u64>(), digits.strip_prefix('-')) {
                    (Ok(v), _) => sink.u64(v),
                    (_, Some(digits)) => sink.big_int(BigInt::Decimal { negative: true, digits }),
                    _ => sink.big_int(BigInt::Decimal { negative: false, digits }),
                }
            }
            _ => unreachable!("the others are not rare, or no leaves"),
        }
    }

    /// Emits an 8-bit string of Python 2, which may be text or bytes.
    pub(super) fn old_text<S: Sink + ?Sized>(&mut self, node: Node, sink: &mut S) -> Result {
        let input = self.input;
        let bytes = Arena::old_bytes(node, input).unwrap_or_default();
        self.spend_text(bytes.len())?;
        match self.options.strings {
            Strings::Bytes => return sink.bytes(&bytes),
            Strings::Latin1 => return sink.str(&text::latin1_text(&bytes)),
            Strings::Utf8 => {
                if let Some(text) = from_utf8(&bytes) {
                    return sink.str(text);
                }
            }
            Strings::Ascii => {
                if let Some(text) = from_utf8(&bytes).filter(|text| text.is_ascii()) {
                    return sink.str(text);
                }
            }
        }
        let shown: String = text::latin1_text(&bytes).chars().take(40).collect();
        Err(Error::syntax(format!(
            "found the 8-bit string {shown:?} of Python 2, expected {}",
            if self.options.strings == Strings::Utf8 { "UTF-8" } else { "ASCII" }
        ))
        .hint(
            Hint::set_any(Opt::PickleStrings, &["utf8", "latin1", "bytes"]).to("read it that way"),
        )
        .at(self.at()))
    }
}

/// Emits a two's complement integer of more than eight bytes, not counting those that repeat the
/// sign.
fn long<S: Sink + ?Sized>(bytes: &[u8], sink: &mut S) -> Result {
    let negative = bytes.last().is_some_and(|top| *top >= 0x80);
    if !negative {
        let magnitude = match bytes {
            [magnitude @ .., 0] => magnitude,
            magnitude => magnitude,
        };
        if let Ok(eight) = magnitude.try_into() {
            return sink.u64(u64::from_le_bytes(eight));
        }
        return sink.big_int(BigInt::Binary { negative, magnitude });
    }
    let mut carry = true;
    let mut magnitude: Vec<u8> = bytes
        .iter()
        .map(|byte| {
            let (sum, over) = (!byte).overflowing_add(u8::from(carry));
            carry = over;
            sum
        })
        .collect();
    while magnitude.last() == Some(&0) {
        magnitude.pop();
    }
    sink.big_int(BigInt::Binary { negative, magnitude: &magnitude })
}
