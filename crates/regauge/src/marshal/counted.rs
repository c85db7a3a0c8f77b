//! A buffer with containers whose counts stand in front of what is in them.
//!
//! As in MessagePack's writer: a count that is promised is written at once. One that is not gets
//! as many bytes as the last at this depth took, and is put right when the container ends: by a
//! patch if the width was right, else by moving a small body, else by an [`Edit`] among others, made
//! in one pass when the outermost such container ends. So the bytes are those of a writer that
//! knows every count beforehand. With an output behind, an open container pins what is behind its
//! count in memory; one that pins more than [`HOLD_BYTES`] is committed: it gets the widest count,
//! which is patched in the output.
//!
//! Advice for those who change this file: positions count from the first byte ever written, and
//! edits change those of all that follows. `pinned` is never behind an edit, and no edit lies in a
//! body that is moved.

use super::types::{LONG_BYTES, long_bytes};
use crate::out::{Edit, Out};
use crate::{Error, Result};

/// The most that open containers of unknown length may pin in memory: see
/// [`crate::msgpack::HOLD_BYTES`].
const HOLD_BYTES: u64 = crate::msgpack::HOLD_BYTES;

/// The largest body that is moved when its count turns out wider or narrower than reserved.
const MOVE_BYTES: u64 = 64 << 10;

/// Moves may cost this many times the bytes written, all in all.
const MOVE_RATIO: u64 = 4;

/// Depths that have a prediction of their own.
const PREDICTED_DEPTHS: usize = 64;

/// What the entries of a container are, which the writer has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Values.
    Array,
    /// Keys and values.
    Map,
    /// Symbols and values: fields, instance variables.
    Fields,
    /// Keys, each of which is followed by a true.
    Set,
    /// Of the map of a value and its instance variables: nothing is written for it.
    Ivars,
    /// Of the map of a hash and its default: nothing is written for it.
    Default,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    /// The position of the count.
    at: u64,
    /// The count of the container around, this one included.
    outer_count: u64,
    /// The count that was written, or [`UNKNOWN`].
    promised: u64,
    /// How many bytes are reserved for a count that is not known; 0 for a promised and for a
    /// committed one, and where nothing is written.
    width: u8,
    kind: Kind,
}

/// No count has been promised.
const UNKNOWN: u64 = u64::MAX;

/// The highest count that Ruby reads back: `w_long` refuses what has more than 31 bits.
const COUNT_MAX: u64 = i32::MAX as u64;

/// See the module.
pub(super) struct Counted<'o> {
    pub out: Out<'o>,
    /// Entries of the container at hand so far: values or pairs.
    pub count: u64,
    stack: Vec<Open>,
    /// The first byte that has to stay in memory.
    pinned: u64,
    /// The first byte of a value that is only begun, and may yet move.
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

    /// How many containers are open.
    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    /// What the container at hand is; an array's, where none is open.
    #[inline]
    pub fn kind(&self) -> Kind {
        self.stack.last().map_or(Kind::Array, |open| open.kind)
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
    /// `barrier`, and lets the bytes go.
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

    /// Makes all edits.
    fn splice(&mut self) {
        self.edits.sort_unstable_by_key(|edit| edit.at);
        self.moved += self.out.splice(&self.edits);
        // Both are in order, so one walk along them finds every shift.
        let mut edits = self.edits.iter().peekable();
        let mut growth = 0;
        for open in &mut self.stack {
            while let Some(edit) = edits.next_if(|edit| edit.at < open.at) {
                growth += edit.growth();
            }
            open.at = open.at.wrapping_add_signed(growth);
        }
        if self.floor != u64::MAX {
            // What is only begun stands behind all counts.
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

    /// Begins a container: writes its count or makes place for it. `before` entries are there
    /// already.
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
                "found a container announced with {} entries that ended after {count}",
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

    /// A count of another width than was reserved.
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

    /// Puts a byte before what stands from the position `at` on: before a value that is only begun,
    /// so that no count stands behind.
    pub fn insert(&mut self, at: u64, byte: u8) -> Result {
        self.room(1)?;
        let place = (at - self.out.base()) as usize;
        self.out.held_mut().insert(place, byte);
        Ok(())
    }

    pub fn finish(&mut self) -> Result {
        if !self.stack.is_empty() {
            let open = self.stack.len();
            return Err(Error::unrepresentable(format!(
                "the last document is not whole: {open} arrays and maps are open"
            )));
        }
        self.out.finish()
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

/// A count that Ruby reads.
#[inline]
fn checked(count: u64) -> Result<i32> {
    i32::try_from(count).map_err(|_| {
        Error::unrepresentable(format!(
            "found {count} entries, which Ruby Marshal cannot hold: its counts end at {COUNT_MAX}"
        ))
    })
}

/// A count in five bytes, whatever it is.
fn widest(count: i32) -> [u8; LONG_BYTES] {
    let [a, b, c, d] = count.to_le_bytes();
    [4, a, b, c, d]
}
