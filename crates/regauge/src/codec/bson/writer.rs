//! Writes events as BSON.
//!
//! A document begins with its length, which is known only at its end. So its place is reserved, and
//! filled in then. With an output, everything from the outermost open document on waits in memory;
//! a document of more than [`HOLD_BYTES`] is released, and its lengths are filled in in the output
//! (see [`Output::hold`](crate::bytes::output::Output::hold)).
//!
//! An element's type precedes its name, but is known only when its value comes: its place is
//! reserved too, and never leaves memory before that.

mod events;

use super::Options;
use super::names::{SHORT_INDEXES, has_zero, short_index};
use super::types::*;
use crate::bytes::buffer::{HOLD_BYTES, Out};
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::policy::event::{Ext, ShortText, Timestamp};
use crate::policy::fidelity::{self, Fidelity};
use crate::{Error, Format, OnLoss, Result};

/// Stands for no number, in place of `Option`, whose two words are written separately and then read
/// at once, which stalls the processor. That took a tenth of the time for small containers.
const NONE: u64 = u64::MAX;

/// The longest prefix of a value for which [`Writer::element`] makes room: a type and an array
/// index.
const INDEX_MAX: usize = 22;

/// The largest length that an `int32` holds.
const LENGTH_MAX: u64 = i32::MAX as u64;

/// Turns events into BSON.
#[derive(Debug)]
pub struct Writer<'o> {
    out: Out<'o>,
    options: Options,
    fidelity: Fidelity,
    stack: Vec<Open>,
    /// The index of the current array's next value. [`NONE`] in a map and outside.
    index: u64,
    /// Where the type of the current element belongs, or [`NONE`].
    kind_at: u64,
    /// The length of the outermost open document while it is in memory: nothing from there on may
    /// be flushed. [`NONE`] if there is none.
    pinned: u64,
    /// Whether lengths are filled in in the output.
    held: bool,
    hold_bytes: u64,
    /// Where to write the length of code with a scope whose map has not begun yet, or [`NONE`].
    scope: u64,
    /// The depth at the checkpoint.
    mark: usize,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    /// Where its length belongs.
    at: u64,
    /// The index of the surrounding array, or [`NONE`].
    outer_index: u64,
    /// Where to write the length of the code that this is the scope of, or [`NONE`].
    scope: u64,
}

impl<'o> Writer<'o> {
    /// Creates a writer into `out`. Values that BSON cannot hold follow the policy of `fidelity`.
    pub fn new(out: Out<'o>, options: Options, fidelity: Fidelity) -> Writer<'o> {
        Writer {
            out,
            options,
            fidelity,
            stack: Vec::new(),
            index: NONE,
            kind_at: NONE,
            pinned: NONE,
            held: false,
            hold_bytes: HOLD_BYTES,
            scope: NONE,
            mark: 0,
        }
    }

    /// Creates a writer that keeps everything: see [`into_vec`](Writer::into_vec).
    pub fn in_memory(options: Options, policy: OnLoss) -> Writer<'o> {
        Writer::new(Out::in_memory(), options, Fidelity::new(policy, Format::Bson))
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

    #[inline(always)]
    fn room(&mut self, n: usize) -> Result {
        if self.out.has_room(n) { Ok(()) } else { self.make_room(n) }
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, n: usize) -> Result {
        let keep_from = self.pinned.min(self.kind_at);
        if self.out.has_output() && self.pinned != NONE {
            let checkpoint = self.out.checkpoint_position().unwrap_or(u64::MAX);
            let pinned = self.out.position() + n as u64 - self.pinned;
            if pinned > self.hold_bytes && self.pinned < checkpoint {
                self.out.flush_before(self.pinned)?;
                self.out.hold()?;
                (self.held, self.pinned) = (true, NONE);
                self.out.flush_before(self.kind_at)?;
                self.out.shrink();
                return self.out.room(n, self.kind_at);
            }
        }
        self.out.room(n, keep_from)
    }

    /// Begins a value of this type, with room for `n` bytes of it.
    #[inline(always)]
    fn element(&mut self, kind: u8, n: usize) -> Result {
        // In an array there is never a type to fill in.
        if self.kind_at == NONE {
            return self.indexed(kind, n);
        }
        self.room(n)?;
        self.set_kind(kind);
        Ok(())
    }

    /// Fills in the type of the current element.
    #[inline(always)]
    fn set_kind(&mut self, kind: u8) {
        let at = (self.kind_at - self.out.base()) as usize;
        self.out.held_mut()[at] = kind;
        self.kind_at = NONE;
    }

    /// Same, for a value in an array, whose name is its index. Out of line: most values are in
    /// maps.
    #[inline(never)]
    fn indexed(&mut self, kind: u8, n: usize) -> Result {
        let index = self.index;
        if index == NONE {
            return Err(if self.scope != NONE { no_scope() } else { no_document(kind) });
        }
        self.room(n + INDEX_MAX)?;
        self.index = index + 1;
        if index >= SHORT_INDEXES {
            self.out.push(kind);
            self.out.extend_short(itoa::Buffer::new().format(index).as_bytes());
            self.out.push(0);
            return Ok(());
        }
        let (element, count) = short_index(kind, index);
        self.out.push_filled(count, |bytes| *bytes = element);
        Ok(())
    }

    /// Writes a value of fixed size.
    #[inline]
    fn fixed<const N: usize>(&mut self, kind: u8, bytes: [u8; N]) -> Result {
        if self.kind_at == NONE {
            return self.fixed_in_array(kind, bytes);
        }
        if self.out.try_push([], 0, bytes) {
            self.set_kind(kind);
            return Ok(());
        }
        self.fixed_in_room(kind, bytes)
    }

    #[inline(never)]
    fn fixed_in_array<const N: usize>(&mut self, kind: u8, bytes: [u8; N]) -> Result {
        if self.index < SHORT_INDEXES {
            let (element, count) = short_index(kind, self.index);
            if self.out.try_push(element, count, bytes) {
                self.index += 1;
                return Ok(());
            }
        }
        self.fixed_in_room(kind, bytes)
    }

    /// Writes a value of fixed size that may need more room.
    #[inline(never)]
    fn fixed_in_room<const N: usize>(&mut self, kind: u8, bytes: [u8; N]) -> Result {
        self.element(kind, N)?;
        self.out.push_array(bytes);
        Ok(())
    }

    /// Writes a string: its length including the final zero byte, its bytes and that byte.
    #[inline]
    fn string(&mut self, kind: u8, text: &str) -> Result {
        // A slice is never long enough for this to overflow.
        self.element(kind, text.len() + 5)?;
        self.bare_string(text)
    }

    /// Writes a string without a type. There must be room.
    #[inline]
    fn bare_string(&mut self, text: &str) -> Result {
        let length = length(text.len() + 1)?;
        self.out.extend_with_header(length.to_le_bytes(), text.as_bytes());
        self.out.push(0);
        Ok(())
    }

    /// Writes the name of an element whose type is to follow.
    #[inline]
    fn name(&mut self, name: &str) -> Result {
        if has_zero(name.as_bytes()) {
            return Err(zero_byte("a key", name));
        }
        self.room(name.len() + 2)?;
        self.kind_at = self.out.position();
        self.out.extend_with_header([0], name.as_bytes());
        self.out.push(0);
        Ok(())
    }

    /// Same as [`name`](Writer::name), with no branch on the length.
    #[inline]
    fn short_name(&mut self, name: ShortText<'_>) -> Result {
        let at = self.out.position();
        if !name.has_zero() && self.out.try_extend_window([0], name.window(), name.len(), 0) {
            self.kind_at = at;
            return Ok(());
        }
        self.name_in_room(name.as_str())
    }

    #[cold]
    #[inline(never)]
    fn name_in_room(&mut self, name: &str) -> Result {
        self.name(name)
    }

    /// Begins a container, usually inside another and with room available.
    #[inline]
    fn begin(&mut self, array: bool) -> Result {
        let kind = if array { ARRAY } else { DOCUMENT };
        if self.kind_at == NONE {
            return self.begin_in_array(array, kind);
        }
        let at = self.out.position();
        if self.stack.len() < self.stack.capacity() && self.out.try_push([], 0, [0; 4]) {
            self.set_kind(kind);
            self.open(array, Open { at, outer_index: self.index, scope: NONE });
            return Ok(());
        }
        self.begin_anywhere(array)
    }

    #[inline(never)]
    fn begin_in_array(&mut self, array: bool, kind: u8) -> Result {
        let is_scope = self.scope != NONE;
        if !is_scope && self.index < SHORT_INDEXES && self.stack.len() < self.stack.capacity() {
            let (element, count) = short_index(kind, self.index);
            let at = self.out.position() + count as u64;
            if self.out.try_push(element, count, [0; 4]) {
                self.open(array, Open { at, outer_index: self.index + 1, scope: NONE });
                return Ok(());
            }
        }
        self.begin_anywhere(array)
    }

    #[inline(never)]
    fn begin_anywhere(&mut self, array: bool) -> Result {
        let scope = std::mem::replace(&mut self.scope, NONE);
        if self.stack.is_empty() {
            if array {
                return Err(no_document(ARRAY));
            }
            self.room(4)?;
            if !self.held {
                self.pinned = self.out.position();
            }
        } else if scope != NONE {
            if array {
                return Err(no_scope());
            }
            self.room(4)?;
        } else {
            self.element(if array { ARRAY } else { DOCUMENT }, 4)?;
        }
        let at = self.out.position();
        self.out.push_array([0; 4]);
        self.open(array, Open { at, outer_index: self.index, scope });
        Ok(())
    }

    #[inline(always)]
    fn open(&mut self, array: bool, open: Open) {
        self.stack.push(open);
        self.index = if array { 0 } else { NONE };
    }

    /// Ends a container, usually one inside another that is in memory.
    #[inline]
    fn end(&mut self) -> Result {
        if let [_, .., Open { at, outer_index, scope: NONE }] = self.stack[..]
            && at >= self.out.base()
        {
            let size = self.out.position() + 1 - at;
            if size <= LENGTH_MAX && self.out.try_push([], 0, [0]) {
                self.patch_held(at, (size as u32).to_le_bytes());
                self.index = outer_index;
                self.stack.truncate(self.stack.len() - 1);
                return Ok(());
            }
        }
        self.end_anywhere()
    }

    #[inline(never)]
    fn end_anywhere(&mut self) -> Result {
        let open = self.stack.pop().expect("begin before end");
        self.room(1)?;
        self.out.push(0);
        self.index = open.outer_index;
        self.fill_in(open.at)?;
        if open.scope != NONE {
            self.fill_in(open.scope)?;
        }
        if self.stack.is_empty() {
            self.end_outermost(open.at)?;
        }
        Ok(())
    }

    /// Returns the length of the document or array that ends here.
    fn fill_in(&mut self, at: u64) -> Result {
        let size = self.out.position() - at;
        let length = i32::try_from(size).map_err(|_| too_large(size))?.to_le_bytes();
        if at >= self.out.base() {
            self.patch_held(at, length);
            return Ok(());
        }
        self.out.patch(at, &length)
    }

    /// Replaces four bytes that are in memory.
    #[inline(always)]
    fn patch_held(&mut self, at: u64, bytes: [u8; 4]) {
        let at = (at - self.out.base()) as usize;
        self.out.held_mut()[at..at + 4].copy_from_slice(&bytes);
    }

    fn end_outermost(&mut self, at: u64) -> Result {
        let size = self.out.position() - at;
        if let Some(most) = self.options.document_bytes
            && size > most
        {
            return Err(Error::unrepresentable(format!(
                "found a document of {size} bytes of BSON, more than {most}, the configured maximum"
            ))
            .hint(Hint::give(Opt::BsonDocumentBytes).to("raise it, or leave it out")));
        }
        self.pinned = NONE;
        if std::mem::take(&mut self.held) {
            self.out.release()?;
        }
        Ok(())
    }

    /// Writes an array in a document with so few doubles that each index is one digit: its length
    /// is known.
    #[inline]
    fn doubles(&mut self, values: &[f64]) -> Result {
        // Type, digit, zero byte and value of each.
        let length = 4 + 11 * values.len() + 1;
        if values.is_empty() {
            return self.fixed(ARRAY, [5, 0, 0, 0, 0]);
        }
        self.element(ARRAY, length)?;
        if let [x, y] = values {
            self.out.push_filled(27, |bytes: &mut [u8; 27]| {
                bytes[..7].copy_from_slice(&[27, 0, 0, 0, DOUBLE, b'0', 0]);
                bytes[7..15].copy_from_slice(&x.to_le_bytes());
                bytes[15..18].copy_from_slice(&[DOUBLE, b'1', 0]);
                bytes[18..26].copy_from_slice(&y.to_le_bytes());
            });
            return Ok(());
        }
        self.out.push_array((length as u32).to_le_bytes());
        for (index, value) in values.iter().enumerate() {
            self.out.push_with_header([DOUBLE, b'0' + index as u8, 0], value.to_le_bytes());
        }
        self.out.push(0);
        Ok(())
    }

    fn binary(&mut self, subtype: u8, payload: &[u8]) -> Result {
        self.element(BINARY, payload.len() + 9)?;
        if subtype == OLD_BINARY {
            let inner = length(payload.len())?;
            self.out.push_array(length(payload.len() + 4)?.to_le_bytes());
            self.out.push(subtype);
            self.out.push_array(inner.to_le_bytes());
        } else {
            self.out.push_array(length(payload.len())?.to_le_bytes());
            self.out.push(subtype);
        }
        self.out.extend(payload);
        Ok(())
    }

    fn timestamp(&mut self, at: Timestamp) -> Result {
        let (milliseconds, rest) = (at.nanoseconds / 1_000_000, at.nanoseconds % 1_000_000);
        let milliseconds = i128::from(at.seconds) * 1000 + i128::from(milliseconds);
        match i64::try_from(milliseconds) {
            Ok(milliseconds) if rest == 0 => self.fixed(DATE_TIME, milliseconds.to_le_bytes()),
            _ => fidelity::ext(self, Ext::Timestamp(at)),
        }
    }

    fn regex(&mut self, pattern: &str, options: &str) -> Result {
        for part in [pattern, options] {
            if part.contains('\0') {
                return Err(zero_byte("a regular expression", part));
            }
        }
        self.element(REGEX, pattern.len() + options.len() + 2)?;
        self.out.extend(pattern.as_bytes());
        self.out.push(0);
        if options.bytes().is_sorted() {
            self.out.extend(options.as_bytes());
        } else {
            // The specification requires them in alphabetical order.
            let mut sorted: Vec<char> = options.chars().collect();
            sorted.sort_unstable();
            self.out.extend(sorted.into_iter().collect::<String>().as_bytes());
        }
        self.out.push(0);
        Ok(())
    }
}

/// Returns a length that fits an `int32`, or an error.
#[inline]
fn length(bytes: usize) -> Result<i32> {
    i32::try_from(bytes).map_err(|_| too_large(bytes as u64))
}

#[cold]
fn too_large(bytes: u64) -> Error {
    Error::unrepresentable(format!(
        "found a value of {bytes} bytes of BSON, which cannot hold more than {}",
        i32::MAX
    ))
    .hint(Hint::set(Opt::Documents, "split").to("write its parts as separate documents"))
}

#[cold]
fn zero_byte(what: &str, text: &str) -> Error {
    let shown = crate::model::text::shorten(&text.escape_debug().to_string());
    Error::unrepresentable(format!(
        "found {what} with a zero byte (\"{shown}\"), which BSON cannot hold"
    ))
}

#[cold]
fn no_document(kind: u8) -> Error {
    let what = match kind {
        ARRAY => "an array",
        STRING => "text",
        INT32 | INT64 => "an integer",
        DOUBLE => "a double",
        BOOL => "a boolean",
        NULL => "null",
        _ => "a single value",
    };
    let error = Error::unrepresentable(format!(
        "found {what} as a top-level document, expected a map: every BSON document is one"
    ));
    let split = "write the elements of an array as documents";
    if kind == ARRAY { error.hint(Hint::set(Opt::Documents, "split").to(split)) } else { error }
}

#[cold]
fn no_scope() -> Error {
    Error::unrepresentable("found a scope of JavaScript code that is not a map, expected a map")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::event::Sink as _;

    #[test]
    fn indexes_are_decimal() {
        let mut writer = Writer::in_memory(Options::default(), OnLoss::Refuse);
        writer.begin_map(None).unwrap();
        writer.key("a").unwrap();
        writer.begin_array(None).unwrap();
        for _ in 0..10_120 {
            writer.null().unwrap();
        }
        writer.end_array().unwrap();
        writer.end_map().unwrap();
        let bytes = writer.into_vec();
        // Length, type, name, length; then the elements, and two ends.
        let mut expected = Vec::new();
        for index in 0..10_120 {
            expected.push(NULL);
            expected.extend_from_slice(index.to_string().as_bytes());
            expected.push(0);
        }
        assert_eq!(bytes[11..bytes.len() - 2], expected);
    }
}
