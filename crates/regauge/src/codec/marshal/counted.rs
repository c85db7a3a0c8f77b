//! A buffer with containers whose counts come before their contents.
//!
//! Works like MessagePack's writer: a promised count is written at once. Otherwise as many bytes
//! are reserved as the last count at this depth took, and the count is fixed when the container
//! ends. If the width was right, it is patched; otherwise a small body is moved, or an [`Edit`] is
//! recorded, and all edits are made in one pass when the outermost such container ends. The bytes
//! are therefore those of a writer that knows every count in advance. When the buffer feeds an
//! output, an open container pins everything after its count in memory; one that pins more than
//! [`HOLD_BYTES`] is committed: it gets the widest count, which is patched in the output.
//!
//! Advice for those who change this file: positions count from the first byte ever written, and
//! edits change the positions of everything that follows. `pinned` is never past an edit, and no
//! edit lies in a body that is moved.

use super::types::{LONG_BYTES, long_bytes};
use crate::bytes::buffer::{Edit, HOLD_BYTES, Out};
use crate::{Error, Result};

/// The largest body that is moved if its count turns out wider or narrower than reserved.
const MOVE_BYTES: u64 = 64 << 10;

/// Bound on all moves together, as a multiple of the bytes written.
const MOVE_RATIO: u64 = 4;

/// Number of depths that have a prediction of their own.
const PREDICTED_DEPTHS: usize = 64;

/// What the entries of a container are; the writer has to know this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Values.
    Array,
    /// Keys and values.
    Map,
    /// The same, where some of the keys may be equal to others in Ruby.
    WatchedMap,
    /// The same, where no key equals another: they are compared by identity.
    IdentityMap,
    /// Symbols and values: fields, instance variables.
    Fields,
    /// Keys, each followed by a true.
    Set,
    /// Entries of the map of a value and its instance variables: nothing is written for the map.
    Ivars,
    /// Entries of the map of a hash and its default: nothing is written for the map.
    Default,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    /// The position of the count.
    at: u64,
    /// The count of the enclosing container, including this one.
    outer_count: u64,
    /// The count that was written, or [`UNKNOWN`].
    promised: u64,
    /// How many bytes are reserved for an unknown count; 0 for a promised or committed one, and if
    /// nothing is written.
    width: u8,
    kind: Kind,
}

/// No count has been promised.
const UNKNOWN: u64 = u64::MAX;

/// The highest count that Ruby reads back: `w_long` refuses anything over 31 bits.
const COUNT_MAX: u64 = i32::MAX as u64;

/// See the module documentation.
pub(super) struct Counted<'o> {
    pub out: Out<'o>,
    /// Entries of the current container so far: values or pairs.
    pub count: u64,
    stack: Vec<Open>,
    /// The first byte that has to stay in memory.
    pinned: u64,
    /// The first byte of a value that has only begun and may still move.
    pub floor: u64,
    committed: usize,
    widths: [u8; PREDICTED_DEPTHS],
    edits: Vec<Edit>,
    /// The highest position of an edit, counted from 1; 0 if there is none.
    edits_end: u64,
    moved: u64,
    hold_bytes: u64,
    mark: (usize, u64),
}

impl<'o> Counted<'o> {
    pub fn new(out: Out<'o>) -> Counted<'o> {
        Counted {
            out,
            count: 0,
            stack: Vec::new(),
            pinned: u64::MAX,
            floor: u64::MAX,
            committed: 0,
            widths: [1; PREDICTED_DEPTHS],
            edits: Vec::new(),
            edits_end: 0,
            moved: 0,
            hold_bytes: HOLD_BYTES,
            mark: (0, 0),
        }
    }

    /// Replaces [`HOLD_BYTES`], for tests.
    #[cfg(test)]
    pub fn set_hold_bytes(&mut self, bytes: u64) {
        self.hold_bytes = bytes;
    }

    /// Returns how many containers are open.
    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Returns the kind of the current container, or `Array` if none is open.
    #[inline]
    pub fn kind(&self) -> Kind {
        self.stack.last().map_or(Kind::Array, |open| open.kind)
    }

    /// Watches the keys of the current container, which is a map.
    pub fn watch(&mut self) {
        if let Some(open) = self.stack.last_mut() {
            open.kind = Kind::WatchedMap;
        }
    }

    /// Returns the entries of the current container so far, or nothing if some are no longer in memory.
    pub fn entries(&mut self) -> Option<&[u8]> {
        // The counts in it are final then.
        self.splice();
        let open = self.stack.last()?;
        let width = match (open.promised, open.width) {
            (UNKNOWN, 0) => LONG_BYTES,
            (UNKNOWN, width) => usize::from(width),
            (promised, _) => long_bytes(checked(promised).ok()?).1,
        };
        let at = open.at.checked_sub(self.out.base())? as usize;
        self.out.held().get(at + width..)
    }

    #[inline(always)]
    pub fn room(&mut self, n: usize) -> Result {
        if self.out.has_room(n) { Ok(()) } else { self.make_room(n) }
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, n: usize) -> Result {
        if self.out.has_output() {
            let checkpoint = self.out.checkpoint_position().unwrap_or(u64::MAX);
            let end = self.out.position() + n as u64;
            if self.pinned < checkpoint && end.saturating_sub(self.pinned) > self.hold_bytes {
                self.commit(checkpoint.min(end - self.hold_bytes / 2))?;
            }
        }
        self.out.room(n, self.pinned.min(self.floor))
    }

    /// Gives the widest count to every open container of unknown length that began before
    /// `barrier`, and releases the bytes.
    fn commit(&mut self, barrier: u64) -> Result {
        self.out.flush_before(self.pinned.min(self.floor))?;
        for open in &mut self.stack {
            if open.width > 0 && open.at < barrier {
                let old = usize::from(std::mem::take(&mut open.width));
                self.committed += 1;
                let header = widest(0);
                self.edits.push(Edit { at: open.at, old, header, length: LONG_BYTES });
            }
        }
        self.splice();
        self.find_pin();
        self.out.hold()?;
        self.out.flush_before(self.pinned.min(self.floor))?;
        self.out.shrink();
        Ok(())
    }

    /// Applies all edits.
    fn splice(&mut self) {
        self.edits.sort_unstable_by_key(|edit| edit.at);
        self.moved += self.out.splice(&self.edits);
        // Both are in order, so one pass over them finds every shift.
        let mut edits = self.edits.iter().peekable();
        let mut growth = 0;
        for open in &mut self.stack {
            while let Some(edit) = edits.next_if(|edit| edit.at < open.at) {
                growth += edit.growth();
            }
            open.at = open.at.wrapping_add_signed(growth);
        }
        if self.floor != u64::MAX {
            // A value that has only begun comes after all counts.
            let growth: i64 = self.edits.iter().map(Edit::growth).sum();
            self.floor = self.floor.wrapping_add_signed(growth);
        }
        self.edits.clear();
        self.edits_end = 0;
    }

    fn find_pin(&mut self) {
        let loose = self.stack.iter().find(|open| open.width > 0);
        self.pinned = loose.map_or(u64::MAX, |open| open.at);
    }

    /// Begins a container: writes its count or reserves space for it. It already has `before`
    /// entries.
    #[inline]
    pub fn begin(&mut self, kind: Kind, length: Option<u64>, before: u64) -> Result {
        self.room(LONG_BYTES)?;
        let at = self.out.position();
        let (mut promised, mut width) = (UNKNOWN, 0);
        match length {
            Some(length) => {
                promised = length + before;
                let (bytes, count) = long_bytes(checked(promised)?);
                match count {
                    1 => self.out.push(bytes[0]),
                    _ => self.out.extend(&bytes[..count]),
                }
            }
            None => {
                width = self.widths[self.stack.len().min(PREDICTED_DEPTHS - 1)];
                self.out.extend(&[0; LONG_BYTES][..usize::from(width)]);
                self.pinned = self.pinned.min(at);
            }
        }
        self.stack.push(Open { at, outer_count: self.count + 1, promised, width, kind });
        self.count = before;
        Ok(())
    }

    /// Begins a container for which nothing is written.
    pub fn begin_silent(&mut self, kind: Kind) {
        let (at, outer_count) = (self.out.position(), self.count + 1);
        self.stack.push(Open { at, outer_count, promised: UNKNOWN, width: 0, kind });
        self.count = 0;
    }

    /// Ends a container for which nothing was written.
    pub fn end_silent(&mut self) {
        let open = self.stack.pop().expect("begin before end");
        self.count = open.outer_count;
    }

    #[inline]
    pub fn end(&mut self) -> Result {
        let open = self.stack.pop().expect("begin before end");
        let count = self.count;
        self.count = open.outer_count;
        if open.promised == count {
            return Ok(());
        }
        self.end_unknown(open, count)
    }

    #[inline(never)]
    fn end_unknown(&mut self, open: Open, count: u64) -> Result {
        if open.promised != UNKNOWN {
            return Err(Error::unrepresentable(format!(
                "found a container declared with {} entries but ended after {count}",
                open.promised
            )));
        }
        let number = checked(count)?;
        if open.width == 0 {
            // It was committed.
            self.out.patch(open.at, &widest(number))?;
            self.committed -= 1;
            return if self.committed == 0 { self.out.release() } else { Ok(()) };
        }
        let (bytes, needed) = long_bytes(number);
        if needed == usize::from(open.width) {
            let at = (open.at - self.out.base()) as usize;
            self.out.held_mut()[at..at + needed].copy_from_slice(&bytes[..needed]);
        } else {
            self.widen(open.at, usize::from(open.width), bytes, needed);
        }
        if self.pinned == open.at {
            self.pinned = u64::MAX;
            if !self.edits.is_empty() {
                self.splice();
            }
        }
        Ok(())
    }

    /// Writes a count of a different width than was reserved.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, at: u64, old: usize, header: [u8; LONG_BYTES], length: usize) {
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

    /// Inserts a byte at position `at`, before a value that has only begun, so no count comes after
    /// it.
    pub fn insert(&mut self, at: u64, byte: u8) -> Result {
        self.room(1)?;
        let place = (at - self.out.base()) as usize;
        self.out.held_mut().insert(place, &[byte]);
        Ok(())
    }

    pub fn finish(&mut self) -> Result {
        self.out.finish_closed(self.stack.len())
    }

    pub fn checkpoint(&mut self) {
        self.mark = (self.stack.len(), self.count);
        self.out.checkpoint();
    }

    pub fn rollback(&mut self) {
        self.out.rollback();
        let (depth, count) = self.mark;
        self.stack.truncate(depth);
        self.count = count;
        let end = self.out.position();
        self.edits.retain(|edit| edit.at < end);
        self.edits_end = self.edits.iter().map(|edit| edit.at + 1).max().unwrap_or(0);
        self.floor = u64::MAX;
        self.find_pin();
    }
}

/// Returns the count as a number that Ruby reads, or an error.
#[inline]
fn checked(count: u64) -> Result<i32> {
    i32::try_from(count).map_err(|_| {
        Error::unrepresentable(format!(
            "found {count} entries, which Ruby Marshal cannot hold: its largest count is {COUNT_MAX}"
        ))
    })
}

/// Returns the count in five bytes, whatever its value.
fn widest(count: i32) -> [u8; LONG_BYTES] {
    let [a, b, c, d] = count.to_le_bytes();
    [4, a, b, c, d]
}
