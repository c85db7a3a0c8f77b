//! Writes events as MessagePack, everything in its shortest encoding.
//!
//! A container's header holds its count. If the count is promised, it is written at once. If not
//! (JSON does not know it), a header as wide as the last one at this depth is reserved, and
//! corrected when the container ends: by a patch if the width was right, as it nearly always is;
//! otherwise the body moves if that is cheap, and if not, the header is recorded as an [`Edit`] and
//! all edits are made in one pass when the outermost such container ends. So the bytes are those of
//! a writer that knows every count in advance, and the work is linear.
//!
//! With an output, an open container pins everything after its header in memory. One that pins more
//! than [`HOLD_BYTES`] is *committed*, together with all containers open around it and those inside
//! it that pin half as much: they get the widest header, whose number is patched in the output when
//! the container ends.
//!
//! Advice for editors: positions count from the first byte ever written, and edits shift everything
//! that follows. `pinned` is never after an edit, and no edit is in a body that is moved.

use super::token::{self, SHORT_BYTES};
use super::types::*;
use crate::bytes::buffer::{Edit, HOLD_BYTES, Out};
use crate::model::value::Value;
use crate::policy::event::{Ext, ShortText, Sink};
use crate::policy::fidelity::{self, Fidelity};
use crate::{Error, Format, OnLoss, Result};

/// The largest body that is moved when its header turns out wider or narrower than reserved. Moving
/// 64 KiB costs a few microseconds, less than an edit of a whole document.
const MOVE_BYTES: u64 = 64 << 10;

/// Moves may cost this many times the bytes written, in total. Widths are predicted well, so only
/// hostile nesting comes near: a thousand levels, each of which moves the same bytes.
const MOVE_RATIO: u64 = 4;

/// How many depths have their own prediction.
const PREDICTED_DEPTHS: usize = 64;

/// Turns events into MessagePack.
#[derive(Debug)]
pub struct Writer<'o> {
    out: Out<'o>,
    fidelity: Fidelity,
    /// Values, or pairs, in the current container so far.
    count: u64,
    stack: Vec<Open>,
    /// The header of the outermost open container whose width may still change: nothing from there
    /// on may be flushed. `u64::MAX` if there is none.
    pinned: u64,
    /// How many open containers have been committed.
    committed: usize,
    /// The last correct header width, by depth.
    widths: [u8; PREDICTED_DEPTHS],
    /// Headers that must change their width, innermost containers first.
    edits: Vec<Edit>,
    /// The highest position of an edit, counted from 1; 0 if there is none.
    edits_end: u64,
    /// Bytes moved so far.
    moved: u64,
    hold_bytes: u64,
    /// Depth and count at the checkpoint.
    mark: (usize, u64),
}

#[derive(Clone, Copy, Debug)]
struct Open {
    /// The position of the header.
    at: u64,
    /// The count of the surrounding container, including this one.
    outer_count: u64,
    /// The count in the header, or [`UNKNOWN`].
    promised: u64,
    /// How many bytes are reserved for a header whose width may change; 0 for a promised or
    /// committed one.
    width: u8,
    map: bool,
}

/// No count was promised. No header can hold this number.
const UNKNOWN: u64 = u64::MAX;

impl Open {
    /// Returns whether the header may still change its width.
    fn is_loose(&self) -> bool {
        self.width > 0
    }
}

impl<'o> Writer<'o> {
    /// Creates a writer into `out`. Values that MessagePack cannot hold follow the policy of
    /// `fidelity`.
    pub fn new(out: Out<'o>, fidelity: Fidelity) -> Writer<'o> {
        Writer {
            out,
            fidelity,
            count: 0,
            stack: Vec::new(),
            pinned: u64::MAX,
            committed: 0,
            widths: [1; PREDICTED_DEPTHS],
            edits: Vec::new(),
            edits_end: 0,
            moved: 0,
            hold_bytes: HOLD_BYTES,
            mark: (0, 0),
        }
    }

    /// Creates a writer that keeps everything: see [`into_vec`](Writer::into_vec).
    pub fn in_memory(policy: OnLoss) -> Writer<'o> {
        Writer::new(Out::in_memory(), Fidelity::new(policy, Format::Msgpack))
    }

    /// Returns everything that was written and not flushed to an output.
    pub fn into_vec(self) -> Vec<u8> {
        self.out.into_vec()
    }

    /// Returns the buffer, with everything not yet flushed to an output.
    #[inline]
    pub fn into_out(self) -> Out<'o> {
        self.out
    }

    /// Replaces [`HOLD_BYTES`], for tests.
    #[cfg(test)]
    pub(super) fn set_hold_bytes(&mut self, bytes: u64) {
        self.hold_bytes = bytes;
    }

    /// Returns how many bytes are in memory.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.out.held().len()
    }

    /// Returns how many bytes were moved so far.
    #[cfg(test)]
    pub(super) fn moved(&self) -> u64 {
        self.moved
    }

    #[inline(always)]
    fn room(&mut self, n: usize) -> Result {
        if self.out.has_room(n) { Ok(()) } else { self.make_room(n) }
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, n: usize) -> Result {
        if self.out.has_output() {
            let checkpoint = self.out.checkpoint_position().unwrap_or(u64::MAX);
            let end = self.out.position() + n as u64;
            if self.pinned < checkpoint && end.saturating_sub(self.pinned) > self.hold_bytes {
                // A container that just began may end soon, and committing does not release what a
                // checkpoint holds back.
                self.commit(checkpoint.min(end - self.hold_bytes / 2))?;
            }
        }
        self.out.room(n, self.pinned)
    }

    /// Gives the widest header to every open container of unknown length that began before
    /// `barrier`, and releases its bytes.
    fn commit(&mut self, barrier: u64) -> Result {
        self.out.flush_before(self.pinned)?;
        for open in &mut self.stack {
            if open.is_loose() && open.at < barrier {
                let old = usize::from(std::mem::take(&mut open.width));
                self.committed += 1;
                self.edits.push(Edit {
                    at: open.at,
                    old,
                    header: wide_header(open.map, 0),
                    length: 5,
                });
            }
        }
        self.splice();
        self.find_pin();
        self.out.hold()?;
        self.out.flush_before(self.pinned)?;
        self.out.shrink();
        Ok(())
    }

    /// Applies all edits.
    fn splice(&mut self) {
        self.edits.sort_unstable_by_key(|edit| edit.at);
        self.moved += self.out.splice(&self.edits);
        // Both are sorted, so one walk along them finds every shift.
        let mut edits = self.edits.iter().peekable();
        let mut growth = 0;
        for open in &mut self.stack {
            while let Some(edit) = edits.next_if(|edit| edit.at < open.at) {
                growth += edit.growth();
            }
            open.at = open.at.wrapping_add_signed(growth);
        }
        self.edits.clear();
        self.edits_end = 0;
    }

    fn find_pin(&mut self) {
        let loose = self.stack.iter().find(|open| open.is_loose());
        self.pinned = loose.map_or(u64::MAX, |open| open.at);
    }

    /// Begins a container, usually one of unknown length that is predicted to be short.
    #[inline]
    fn begin(&mut self, map: bool, length: Option<u64>) -> Result {
        let depth = self.stack.len();
        if length.is_none()
            && self.widths[depth.min(PREDICTED_DEPTHS - 1)] == 1
            && depth < self.stack.capacity()
        {
            let at = self.out.position();
            if self.out.try_push([], 0, [0]) {
                self.pinned = self.pinned.min(at);
                let outer_count = self.count + 1;
                self.stack.push(Open { at, outer_count, promised: UNKNOWN, width: 1, map });
                self.count = 0;
                return Ok(());
            }
        }
        self.begin_anyhow(map, length)
    }

    #[inline(never)]
    fn begin_anyhow(&mut self, map: bool, length: Option<u64>) -> Result {
        self.room(5)?;
        let at = self.out.position();
        let (mut promised, mut width) = (UNKNOWN, 0);
        match length {
            Some(count) => {
                promised = count;
                token::container(&mut self.out, map, count)?;
            }
            None => {
                width = self.widths[self.stack.len().min(PREDICTED_DEPTHS - 1)];
                match width {
                    1 => self.out.push(0),
                    3 => self.out.push_array([0; 3]),
                    _ => self.out.push_array([0; 5]),
                }
                self.pinned = self.pinned.min(at);
            }
        }
        let outer_count = self.count + 1;
        self.stack.push(Open { at, outer_count, promised, width, map });
        self.count = 0;
        Ok(())
    }

    #[inline]
    fn end(&mut self) -> Result {
        let open = self.stack.pop().expect("begin before end");
        let count = self.count;
        self.count = open.outer_count;
        if open.promised == count {
            return Ok(());
        }
        // The most common of the others: predicted short and short, inside another.
        if open.width == 1 && count < 16 && open.at > self.pinned {
            let at = (open.at - self.out.base()) as usize;
            let fix = if open.map { FIXMAP } else { FIXARRAY };
            self.out.held_mut()[at] = fix | count as u8;
            return Ok(());
        }
        self.end_unknown(open, count)
    }

    /// Ends a container whose header is still to be written.
    #[inline(never)]
    fn end_unknown(&mut self, open: Open, count: u64) -> Result {
        if open.promised != UNKNOWN {
            return Err(broken_promise(open.map, open.promised, count));
        }
        let count = token::container_count(open.map, count)?;
        if open.width == 0 {
            // It was committed.
            self.out.patch(open.at, &wide_header(open.map, count))?;
            self.committed -= 1;
            return if self.committed == 0 { self.out.release() } else { Ok(()) };
        }
        let (header, needed) = container_header(open.map, count);
        if needed == usize::from(open.width) {
            let at = (open.at - self.out.base()) as usize;
            let held = &mut self.out.held_mut()[at..];
            match needed {
                1 => held[0] = header[0],
                3 => held[..3].copy_from_slice(&header[..3]),
                _ => held[..5].copy_from_slice(&header),
            }
        } else {
            self.widen(open.at, usize::from(open.width), header, needed);
        }
        if self.pinned == open.at {
            self.pinned = u64::MAX;
            if !self.edits.is_empty() {
                self.splice();
            }
        }
        Ok(())
    }

    /// Replaces a header by one of another width than was reserved.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, at: u64, old: usize, header: [u8; 5], length: usize) {
        self.widths[self.stack.len().min(PREDICTED_DEPTHS - 1)] = length as u8;
        let edit = Edit { at, old, header, length };
        let body = self.out.position() - at;
        let affordable = self.moved + body <= MOVE_BYTES + MOVE_RATIO * self.out.position();
        if body <= MOVE_BYTES && affordable && self.edits_end <= at {
            self.moved += self.out.splice(&[edit]);
        } else {
            self.edits_end = self.edits_end.max(at + 1);
            self.edits.push(edit);
        }
    }

    #[inline]
    fn text(&mut self, bytes: &[u8]) -> Result {
        if bytes.len() < 32 && self.out.has_room(SHORT_BYTES) {
            token::fixed_text(&mut self.out, bytes);
            return Ok(());
        }
        self.long_text(bytes)
    }

    #[inline(never)]
    fn long_text(&mut self, bytes: &[u8]) -> Result {
        // Room for the longest header; a slice is never long enough for this to overflow.
        self.room(bytes.len() + 5)?;
        token::text(&mut self.out, bytes)
    }

    #[inline(always)]
    fn short_text(&mut self, text: ShortText<'_>) -> Result {
        if !self.out.has_room(SHORT_BYTES) {
            return self.slow(Token::Text(text.as_str()));
        }
        token::short_text(&mut self.out, text);
        Ok(())
    }

    /// Makes room for a token, and writes it. A caller without room leaves the whole token to this,
    /// so that the fast path contains no call.
    #[cold]
    #[inline(never)]
    fn slow(&mut self, token: Token<'_>) -> Result {
        self.room(HEADER_MAX)?;
        match token {
            Token::Byte(byte) => self.out.push(byte),
            Token::Integer(v) => token::integer(&mut self.out, v),
            Token::Unsigned(v) => token::unsigned(&mut self.out, v),
            Token::Double(v) => token::double(&mut self.out, v),
            Token::Single(v) => token::single(&mut self.out, v),
            Token::Text(text) => return self.long_text(text.as_bytes()),
        }
        Ok(())
    }
}

/// A token that is written in one piece.
enum Token<'a> {
    Byte(u8),
    Integer(i64),
    Unsigned(u64),
    Double(f64),
    Single(f32),
    Text(&'a str),
}

#[cold]
fn broken_promise(map: bool, promised: u64, count: u64) -> Error {
    let what = if map { "a map" } else { "an array" };
    Error::unrepresentable(format!(
        "found {what} declared with {promised} entries but ended after {count}"
    ))
}

impl Sink for Writer<'_> {
    #[inline]
    fn null(&mut self) -> Result {
        self.count += 1;
        if self.out.try_push([], 0, [NIL]) { Ok(()) } else { self.slow(Token::Byte(NIL)) }
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
        if !self.out.has_room(HEADER_MAX) {
            return self.slow(Token::Integer(v));
        }
        token::integer(&mut self.out, v);
        Ok(())
    }
    #[inline]
    fn u64(&mut self, v: u64) -> Result {
        if v <= i64::MAX as u64 {
            return self.i64(v as i64);
        }
        self.count += 1;
        if !self.out.has_room(HEADER_MAX) {
            return self.slow(Token::Unsigned(v));
        }
        token::unsigned(&mut self.out, v);
        Ok(())
    }
    #[inline]
    fn f64(&mut self, v: f64) -> Result {
        self.count += 1;
        if !self.out.has_room(HEADER_MAX) {
            return self.slow(Token::Double(v));
        }
        token::double(&mut self.out, v);
        Ok(())
    }
    #[inline]
    fn f32(&mut self, v: f32) -> Result {
        self.count += 1;
        if !self.out.has_room(HEADER_MAX) {
            return self.slow(Token::Single(v));
        }
        token::single(&mut self.out, v);
        Ok(())
    }
    #[inline]
    fn str(&mut self, v: &str) -> Result {
        self.count += 1;
        self.text(v.as_bytes())
    }
    #[inline]
    fn short_str(&mut self, v: ShortText<'_>) -> Result {
        self.count += 1;
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
        self.out.push(FIXMAP | 1);
        self.text(k.as_bytes())?;
        self.text(v.as_bytes())?;
        self.count += 1;
        Ok(())
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.count += 1;
        self.room(v.len() + 5)?;
        token::binary(&mut self.out, v)
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        match v {
            Ext::Timestamp(at) => {
                self.count += 1;
                self.room(18)?;
                token::timestamp(&mut self.out, at)
            }
            Ext::MsgpackExt(kind, payload) => {
                self.count += 1;
                self.room(payload.len() + 6)?;
                token::extension(&mut self.out, kind, payload)
            }
            // The specification allows any bytes in a str.
            Ext::BrokenText(raw) => {
                self.count += 1;
                self.text(raw)
            }
            _ => fidelity::ext(self, v),
        }
    }
    fn key_value(&mut self, k: &Value) -> Result {
        k.drive(self)?;
        // A key is not an entry of its own.
        self.count -= 1;
        Ok(())
    }
}

impl crate::Writer for Writer<'_> {
    fn end_document(&mut self) -> Result {
        debug_assert!(self.stack.is_empty(), "a document ends when its containers have");
        self.count = 0;
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
        self.out.rollback();
        let (depth, count) = self.mark;
        self.stack.truncate(depth);
        self.count = count;
        let end = self.out.position();
        self.edits.retain(|edit| edit.at < end);
        self.edits_end = self.edits.iter().map(|edit| edit.at + 1).max().unwrap_or(0);
        self.find_pin();
    }
}
