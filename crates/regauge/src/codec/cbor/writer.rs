//! Events to bytes, everything in its shortest encoding.
//!
//! A container's head holds its count. If the count is promised, the head is written at once. If
//! not (JSON does not know it), a head as wide as the last one at this depth is reserved and fixed
//! when the container ends. If the width was right, as it nearly always is, the head is patched.
//! Otherwise the body moves if that is cheap; if not, the head is recorded as an [`Edit`], and all
//! edits are made in one pass when the outermost such container ends. The bytes are therefore those
//! of a writer that knows every count in advance, and the work is linear in them.
//!
//! When the writer feeds an output, an open container pins everything after its head in memory. A
//! container that pins more than [`HOLD_BYTES`] is *committed*, together with all open containers
//! around it and those inside it that pin at least half as much: they get a five-byte head, whose
//! count is patched in the output when the container ends. With [`Options::indefinite`], none of
//! this happens.
//!
//! Advice for those who change this file: positions count from the first byte ever written, and
//! edits change the positions of everything that follows. `pinned` is never past an edit, and no
//! edit lies in a body that is moved. The deterministic encoding works differently: see
//! [`super::sorted`].

mod events;

use std::collections::HashMap;

use super::Options;
use super::half;
use super::sorted::Body;
use super::types::*;
use crate::bytes::buffer::{Edit, HOLD_BYTES, Out};
use crate::policy::event::ShortText;
use crate::policy::fidelity::Fidelity;
use crate::{Format, OnLoss, Result};

/// Number of depths that have a prediction of their own.
pub(super) const PREDICTED_DEPTHS: usize = 64;

/// Turns events into CBOR.
#[derive(Debug)]
pub struct Writer<'o> {
    pub(super) out: Out<'o>,
    fidelity: Fidelity,
    pub(super) options: Options,
    /// Values, or pairs, in the current container so far.
    pub(super) count: u64,
    pub(super) stack: Vec<Open>,
    /// The head of the outermost open container that may still change its width: nothing from there
    /// on may leave. `u64::MAX` if there is none.
    pub(super) pinned: u64,
    /// How many open containers have been committed.
    pub(super) committed: usize,
    /// The head width that was last right, by depth.
    pub(super) widths: [u8; PREDICTED_DEPTHS],
    /// Heads that have to change their width, innermost containers first.
    pub(super) edits: Vec<Edit>,
    /// The highest position of an edit, counted from 1; 0 if there is none.
    pub(super) edits_end: u64,
    /// Number of bytes moved.
    pub(super) moved: u64,
    hold_bytes: u64,
    /// Depth and count at the checkpoint.
    mark: (usize, u64),
    /// Open containers of the deterministic encoding, and what was written before each.
    pub(super) bodies: Vec<Body<'o>>,
    /// How many values of this document have been marked as shared.
    anchors: u64,
    /// Anchors whose number differs from their position.
    renumbered: HashMap<u64, u64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// The position of the head.
    pub(super) at: u64,
    /// The count of the enclosing container, including this one.
    pub(super) outer_count: u64,
    /// The count in the head, or [`UNKNOWN`] or [`TO_BREAK`].
    pub(super) promised: u64,
    /// How many bytes are reserved for a head whose width may change; 0 for all others.
    pub(super) width: u8,
    pub(super) map: bool,
}

/// No count has been promised.
pub(super) const UNKNOWN: u64 = u64::MAX;
/// No count has been promised, and none will be written: a break ends the container.
pub(super) const TO_BREAK: u64 = u64::MAX - 1;

impl Open {
    /// Returns whether the head may still change its width.
    pub(super) fn is_loose(&self) -> bool {
        self.width > 0
    }

    /// Creates a container of the deterministic encoding, whose head is written when it ends.
    pub(super) fn held(map: bool, outer_count: u64) -> Open {
        Open { at: 0, outer_count, promised: UNKNOWN, width: 0, map }
    }
}

impl<'o> Writer<'o> {
    /// Creates a writer into `out`. The policy of `fidelity` decides what happens to values that
    /// CBOR cannot hold.
    pub fn new(out: Out<'o>, options: Options, fidelity: Fidelity) -> Writer<'o> {
        Writer {
            out,
            fidelity,
            options,
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
            bodies: Vec::new(),
            anchors: 0,
            renumbered: HashMap::new(),
        }
    }

    /// Creates a writer that keeps everything: see [`into_vec`](Writer::into_vec).
    pub fn in_memory(options: Options, policy: OnLoss) -> Writer<'o> {
        Writer::new(Out::in_memory(), options, Fidelity::new(policy, Format::Cbor))
    }

    /// Returns everything that was written and not passed on to an output.
    pub fn into_vec(self) -> Vec<u8> {
        self.out.into_vec()
    }

    /// Returns the buffer, with everything that has not been passed on to an output.
    #[inline]
    pub fn into_out(self) -> Out<'o> {
        self.out
    }

    /// Replaces [`HOLD_BYTES`], for tests.
    #[cfg(test)]
    pub(super) fn set_hold_bytes(&mut self, bytes: u64) {
        self.hold_bytes = bytes;
    }

    #[inline(always)]
    pub(super) fn room(&mut self, n: usize) -> Result {
        if self.out.has_room(n) { Ok(()) } else { self.make_room(n) }
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, n: usize) -> Result {
        if self.options.deterministic {
            self.check_held(n)?;
        } else if self.out.has_output() {
            let checkpoint = self.out.checkpoint_position().unwrap_or(u64::MAX);
            let end = self.out.position() + n as u64;
            if self.pinned < checkpoint && end.saturating_sub(self.pinned) > self.hold_bytes {
                // A container that has just begun may end soon, and committing would not release
                // what a checkpoint holds back.
                self.commit(checkpoint.min(end - self.hold_bytes / 2))?;
            }
        }
        self.out.room(n, self.pinned)
    }

    /// Begins a container, usually one of unknown length that is assumed to be short.
    #[inline]
    fn begin(&mut self, map: bool, length: Option<u64>) -> Result {
        let depth = self.stack.len();
        if length.is_none()
            && self.widths[depth.min(PREDICTED_DEPTHS - 1)] == 1
            && depth < self.stack.capacity()
            && !self.options.deterministic
            && !self.options.indefinite
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
        if self.options.deterministic {
            return self.begin_held(map);
        }
        self.room(HEAD_MAX)?;
        let at = self.out.position();
        let (mut promised, mut width) = (UNKNOWN, 0);
        match length {
            Some(count) => {
                promised = count.min(TO_BREAK - 1);
                if count < u64::from(ARGUMENT8) {
                    self.out.push(if map { MAP } else { ARRAY } | count as u8);
                } else {
                    self.head(container(map), count);
                }
            }
            None if self.options.indefinite => {
                promised = TO_BREAK;
                self.out.push(if map { MAP } else { ARRAY } | INDEFINITE);
            }
            None => {
                width = self.widths[self.stack.len().min(PREDICTED_DEPTHS - 1)];
                match width {
                    1 => self.out.push(0),
                    2 => self.out.push_array([0; 2]),
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
        if self.options.deterministic {
            return self.end_held();
        }
        let open = self.stack.pop().expect("begin before end");
        let count = self.count;
        self.count = open.outer_count;
        if open.promised == count {
            return Ok(());
        }
        // The most common of the others: a short one that was predicted to be short, inside
        // another.
        if open.width == 1 && count < u64::from(ARGUMENT8) && open.at > self.pinned {
            let at = (open.at - self.out.base()) as usize;
            self.out.held_mut()[at] = if open.map { MAP } else { ARRAY } | count as u8;
            return Ok(());
        }
        self.end_unknown(open, count)
    }

    /// Writes a head in as few bytes as possible. There must be room for [`HEAD_MAX`].
    #[inline]
    pub(super) fn head(&mut self, major: u8, argument: u64) {
        let initial = major << 5;
        let [a, b, c, d, e, f, g, h] = argument.to_be_bytes();
        match argument {
            0..=23 => self.out.push(initial | h),
            24..=0xFF => self.out.push_array([initial | 24, h]),
            0x100..=0xFFFF => self.out.push_array([initial | 25, g, h]),
            0x1_0000..=0xFFFF_FFFF => self.out.push_array([initial | 26, e, f, g, h]),
            _ => self.out.push_array([initial | 27, a, b, c, d, e, f, g, h]),
        }
    }

    /// Writes a string: its head and its bytes.
    #[inline]
    pub(super) fn string(&mut self, major: u8, bytes: &[u8]) -> Result {
        if bytes.len() < usize::from(ARGUMENT8) && self.out.has_room(usize::from(ARGUMENT8)) {
            self.out.extend_with_header([major << 5 | bytes.len() as u8], bytes);
            return Ok(());
        }
        self.long_string(major, bytes)
    }

    #[inline(never)]
    fn long_string(&mut self, major: u8, bytes: &[u8]) -> Result {
        // Room for the longest head; a slice is never long enough for this to overflow.
        self.room(bytes.len() + HEAD_MAX)?;
        let initial = major << 5;
        match bytes.len() {
            length @ 0..=23 => self.out.extend_with_header([initial | length as u8], bytes),
            length @ 24..=0xFF => {
                self.out.extend_with_header([initial | ARGUMENT8, length as u8], bytes);
            }
            length => {
                self.head(major, length as u64);
                self.out.extend(bytes);
            }
        }
        Ok(())
    }

    /// Writes text, with no branch on its length except for the length of its head.
    #[inline(always)]
    fn short_string(&mut self, text: ShortText<'_>) -> Result {
        if !self.out.has_room(2 + 32) {
            return self.slow(Token::Text(text.as_str()));
        }
        let (window, length) = (text.window(), text.len());
        match length {
            0..=23 => self.out.extend_window([TEXT | length as u8], window, length),
            _ => self.out.extend_window([TEXT | ARGUMENT8, length as u8], window, length),
        }
        Ok(())
    }

    /// Makes room for a token and writes it. Callers that find no room leave the whole token to
    /// this function, so that the fast path has no call in it.
    #[cold]
    #[inline(never)]
    fn slow(&mut self, token: Token<'_>) -> Result {
        self.room(HEAD_MAX)?;
        match token {
            Token::Byte(byte) => self.out.push(byte),
            Token::Integer(v) => self.whole_number(v),
            Token::Double(v) => self.double(v),
            Token::Text(text) => return self.long_string(major::TEXT, text.as_bytes()),
        }
        Ok(())
    }

    /// Writes a tag, whose content follows.
    pub(super) fn tag(&mut self, number: u64) -> Result {
        self.room(HEAD_MAX)?;
        self.head(major::TAG, number);
        Ok(())
    }

    pub(super) fn integer(&mut self, v: i64) -> Result {
        self.room(HEAD_MAX)?;
        match u64::try_from(v) {
            Ok(v) => self.head(major::UNSIGNED, v),
            Err(_) => self.head(major::NEGATIVE, !v as u64),
        }
        Ok(())
    }

    /// Writes an integer. There must be room for [`HEAD_MAX`].
    #[inline(always)]
    fn whole_number(&mut self, v: i64) {
        if (0..24).contains(&v) {
            self.out.push(v as u8);
        } else {
            self.wide_i64(v);
        }
    }

    /// Writes a double. There must be room for [`HEAD_MAX`].
    #[inline(always)]
    fn double(&mut self, v: f64) {
        if self.options.deterministic {
            self.shortest_float(v);
        } else {
            self.out.push_with_header([FLOAT64], v.to_be_bytes());
        }
    }

    /// Writes a float in as few bytes as hold it exactly.
    fn shortest_float(&mut self, v: f64) {
        match half::f32_of(v) {
            Some(single) => self.half_or_single(single),
            None => self.out.push_with_header([FLOAT64], v.to_be_bytes()),
        }
    }

    fn half_or_single(&mut self, v: f32) {
        match half::from_f32(v) {
            Some(half) => self.out.push_with_header([FLOAT16], half.to_be_bytes()),
            None => self.out.push_with_header([FLOAT32], v.to_be_bytes()),
        }
    }

    /// Writes an integer beyond the one-byte forms.
    #[inline]
    fn wide_i64(&mut self, v: i64) {
        // A negative one is the complement, under the next major type.
        let negative = ((v >> 63) as u8) & NEGATIVE;
        let value = (v ^ v >> 63) as u64;
        if value <= 23 {
            self.out.push(negative | value as u8);
        } else if value <= u64::from(u8::MAX) {
            self.out.push_array([negative | 24, value as u8]);
        } else if value <= u64::from(u16::MAX) {
            self.out.push_with_header([negative | 25], (value as u16).to_be_bytes());
        } else if value <= u64::from(u32::MAX) {
            self.out.push_with_header([negative | 26], (value as u32).to_be_bytes());
        } else {
            self.out.push_with_header([negative | 27], value.to_be_bytes());
        }
    }
}

/// A piece of output that must not be split.
enum Token<'a> {
    Byte(u8),
    Integer(i64),
    Double(f64),
    Text(&'a str),
}

/// Returns the major type of an array or a map.
#[inline(always)]
pub(super) fn container(map: bool) -> u8 {
    if map { major::MAP } else { major::ARRAY }
}
