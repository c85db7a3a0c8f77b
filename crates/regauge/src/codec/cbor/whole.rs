//! Items that the reader must see whole before their event is known: chunked strings, keys that are
//! not text, the content of tags that have an event of their own, shared values.
//!
//! [`Skip`] first finds the end of such an item, resuming where it stopped when more bytes arrive;
//! then the item is read in one go.

use super::reader::{OpenTag, Parser, Tagged, name, reserved};
use super::skip::Skip;
use super::tags::{self, Capture};
use super::types::*;
use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::model::utf8::from_utf8;
use crate::model::value::Value;
use crate::policy::event::{Ext, Origin, Sink, Type};
use crate::policy::fidelity::LossKind;
use crate::policy::tree::Builder;
use crate::{Error, ErrorKind, Result};

impl Parser {
    /// Handles a tag, `at` its position and the size of its head, and what follows it.
    #[cold]
    #[inline(never)]
    pub(super) fn tag<S: Sink + ?Sized>(
        &mut self,
        number: u64,
        content: &[u8],
        (pos, head, last): (usize, usize, bool),
        sink: &mut S,
    ) -> Result<Tagged> {
        match number {
            _ if self.raw => return Ok(Tagged::Open(OpenTag::Typed)),
            tag::SELF_DESCRIBED if self.describes_document() => {
                return Ok(Tagged::Open(OpenTag::Silent));
            }
            tag::SHAREABLE | tag::REFERENCE if self.keys > 0 => {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    "found a shared value inside a key, expected the key written out",
                )
                .at(pos as u64));
            }
            tag::SHAREABLE => return self.shareable(content, (pos, head, last), sink),
            _ => {}
        }
        match tags::capture(number, content, self.keep_tags) {
            Capture::Yes => {}
            Capture::More if !last => return Ok(Tagged::More),
            Capture::No | Capture::More => return Ok(Tagged::Open(OpenTag::Typed)),
        }
        let (at, what) = (pos + head, "the content of a tag");
        let Some(size) = self.extent(content, at, last, self.limits.token_bytes, what)? else {
            return Ok(Tagged::More);
        };
        let mut inner = Parser::nested(self.limits, self.depth.saturating_sub(self.open));
        inner.raw = true;
        let value = inner.value(&content[..size], at)?;
        if number == tag::REFERENCE {
            let index = tags::settled(value, &self.limits).map_err(|error| error.at(pos as u64))?;
            self.reference(&index, pos, sink)?;
            return Ok(Tagged::Done(size));
        }
        match tags::event(number, value, &self.limits).map_err(|error| error.at(pos as u64))? {
            Some(event) => {
                event.drive(sink)?;
                Ok(Tagged::Done(size))
            }
            None => Ok(Tagged::Open(OpenTag::Typed)),
        }
    }

    /// Returns whether a tag at this place is about the whole document.
    fn describes_document(&self) -> bool {
        let silent = self.tags.iter().filter(|tag| **tag == OpenTag::Silent).count();
        silent == self.open && self.keys == 0 && !self.keep_tags && !self.sharing.is_replaying()
    }

    /// Returns the value of bytes that hold one item; `base` is their position in the window.
    pub(super) fn value(mut self, bytes: &[u8], base: usize) -> Result<Value> {
        let mut builder = Builder::new(&self.limits);
        let mut pos = 0;
        match self.run(bytes, &mut pos, true, &mut builder) {
            Ok(_) => Ok(builder.take().expect("a whole item was read")),
            Err(error) => {
                let offset = error.offset().unwrap_or(pos as u64);
                Err(error.at(base as u64 + offset))
            }
        }
    }

    pub(super) fn begin_tag<S: Sink + ?Sized>(
        &mut self,
        kind: OpenTag,
        number: u64,
        sink: &mut S,
    ) -> Result {
        match kind {
            OpenTag::Silent | OpenTag::Shared(_) => Ok(()),
            OpenTag::Anchor => sink.begin_anchor(self.sharing.next_anchor()),
            OpenTag::Typed => {
                let mut buffer = itoa::Buffer::new();
                let name = buffer.format(number);
                sink.begin_typed(&Type { origin: Origin::Cbor, kind: "tag", name })
            }
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn end_tag<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        match self.tags.pop().expect("a tag is open") {
            OpenTag::Silent => Ok(()),
            OpenTag::Typed => sink.end_typed(),
            OpenTag::Anchor => sink.end_anchor(),
            OpenTag::Shared(index) => {
                self.sharing.finish(index);
                Ok(())
            }
        }
    }

    /// Reads a shared value.
    fn shareable<S: Sink + ?Sized>(
        &mut self,
        content: &[u8],
        (pos, head, last): (usize, usize, bool),
        sink: &mut S,
    ) -> Result<Tagged> {
        if sink.holds_references() {
            return Ok(Tagged::Open(OpenTag::Anchor));
        }
        if self.sharing.is_replaying() {
            return Ok(Tagged::Open(OpenTag::Silent));
        }
        let what = "a shared value";
        let Some(size) = self.extent(content, pos + head, last, self.limits.record_bytes, what)?
        else {
            return Ok(Tagged::More);
        };
        // Its bytes are kept, because a reference reads them again.
        let (items, offset) = (self.items, self.base + pos as u64);
        let kept = self.sharing.keep(&content[..size], items, offset, &self.limits);
        let index = kept.map_err(|error| error.at(pos as u64))?;
        Ok(Tagged::Open(OpenTag::Shared(index)))
    }

    /// Reads a reference to an earlier value.
    fn reference<S: Sink + ?Sized>(&mut self, index: &Value, pos: usize, sink: &mut S) -> Result {
        let located = |error: Error| error.at(pos as u64);
        if sink.holds_references() {
            let id = self.sharing.anchor(index).map_err(located)?;
            return sink.alias(id);
        }
        let offset = self.base + pos as u64;
        let bytes = self.sharing.begin_replay(index, offset, &self.limits, sink.fidelity());
        let bytes = bytes.map_err(located)?;
        if !self.sharing.is_nested() {
            let found = format!("a reference to shared value {index}");
            sink.fidelity().note(LossKind::Reference, found, "a copy of its value");
        }
        let mut inner = Parser::nested(self.limits, self.depth.saturating_sub(self.open));
        inner.keep_tags = self.keep_tags;
        inner.sharing = std::mem::take(&mut self.sharing);
        let result = inner.run(&bytes, &mut 0, true, sink);
        self.sharing = std::mem::take(&mut inner.sharing);
        self.sharing.end_replay();
        result.map(|_| ()).map_err(located)
    }

    /// Reads a chunked string that begins `rest`. Returns its size, or `None` if it is incomplete.
    #[cold]
    #[inline(never)]
    pub(super) fn chunks<S: Sink + ?Sized>(
        &mut self,
        rest: &[u8],
        pos: usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Option<usize>> {
        let Some((size, string)) = self.joined(rest, pos, last)? else { return Ok(None) };
        if rest[0] >> 5 == major::BYTES {
            sink.bytes(&string)?;
        } else {
            match from_utf8(&string) {
                Some(text) => sink.str(text)?,
                None => sink.ext(Ext::BrokenText(&string))?,
            }
        }
        Ok(Some(size))
    }

    /// Joins the chunks of a string; also returns its size including all heads.
    fn joined(&mut self, rest: &[u8], pos: usize, last: bool) -> Result<Option<(usize, Vec<u8>)>> {
        let bound = self.limits.token_bytes;
        let Some(size) = self.extent(rest, pos, last, bound, "a chunked string")? else {
            return Ok(None);
        };
        let mut string = Vec::new();
        let mut at = 1;
        loop {
            // The extent ends after the break, or right after the first byte of a fault.
            let initial = rest[at];
            if initial == BREAK {
                return Ok(Some((size, string)));
            }
            let error = |message: String| Err(Error::syntax(message).at((pos + at) as u64));
            if (28..INDEFINITE).contains(&(initial & 31)) {
                return Err(reserved(initial).at((pos + at) as u64));
            }
            if initial >> 5 != rest[0] >> 5 {
                let expected = if rest[0] >> 5 == major::BYTES { "byte" } else { "text" };
                return error(format!(
                    "found {} inside a {expected} string of indefinite length, expected a \
                     {expected} string or the break",
                    name(initial)
                ));
            }
            if initial & 31 == INDEFINITE {
                return error(
                    "found a chunk of indefinite length inside a string, expected a chunk with a \
                     length"
                        .to_owned(),
                );
            }
            let (_, word) = token(&rest[at..size]).expect("every head but a faulty one is whole");
            let from = at + head_bytes(initial);
            at = from + argument(initial, word) as usize;
            string.extend_from_slice(&rest[from..at]);
        }
    }

    /// Reads a key that is not a text string of known length and that begins `rest`. Returns its
    /// size, or `None` if it is incomplete.
    #[cold]
    #[inline(never)]
    pub(super) fn key<S: Sink + ?Sized>(
        &mut self,
        rest: &[u8],
        pos: usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Option<usize>> {
        if rest[0] == TEXT | INDEFINITE {
            let Some((size, string)) = self.joined(rest, pos, last)? else { return Ok(None) };
            match from_utf8(&string) {
                Some(text) => sink.key(text)?,
                None => sink.key_value(&Value::BrokenText(string))?,
            }
            return Ok(Some(size));
        }
        if rest[0] == BREAK {
            return Err(self.misplaced_break(self.frame, self.open).at(pos as u64));
        }
        Value::check_key_in(self.keys.into()).map_err(|error| error.at(pos as u64))?;
        let Some(size) = self.extent(rest, pos, last, self.limits.record_bytes, "a key")? else {
            return Ok(None);
        };
        let mut inner = Parser::nested(self.limits, self.depth - self.open);
        inner.keys = self.keys + 1;
        let key = inner.value(&rest[..size], pos)?;
        match key {
            // A tag with no meaning of its own, for example, may leave text.
            Value::Text(key) => sink.key(&key)?,
            key => {
                key.check_key().map_err(|error| error.at(pos as u64))?;
                sink.key_value(&key)?;
            }
        }
        Ok(Some(size))
    }

    /// Returns the size of the item that begins `rest`, at most `bound` bytes, or `None` if it is
    /// incomplete.
    fn extent(
        &mut self,
        rest: &[u8],
        pos: usize,
        last: bool,
        bound: u64,
        what: &str,
    ) -> Result<Option<usize>> {
        let end = self.skip.end(rest, self.depth);
        if end.unwrap_or(rest.len()) as u64 > bound {
            let limit = match bound == self.limits.record_bytes {
                true => Limit::RecordBytes,
                false => Limit::TokenBytes,
            };
            return Err(Error::limit(format!(
                "found {what} of more than {bound} bytes, the limit of {}",
                limit.name()
            ))
            .hint(Hint::raise(limit))
            .at(pos as u64));
        }
        match end {
            Some(end) => {
                self.items = self.skip.items();
                self.skip = Skip::new();
                Ok(Some(end))
            }
            None if last => {
                Err(Error::truncated(format!("the input ends inside {what}")).at(pos as u64))
            }
            None => Ok(None),
        }
    }
}
