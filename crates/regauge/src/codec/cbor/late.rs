//! Heads whose count is known only at the end: fixed in memory, or patched in the output.

use super::types::*;
use super::writer::{Open, PREDICTED_DEPTHS, TO_BREAK, UNKNOWN, Writer, container};
use crate::bytes::buffer::Edit;
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::{Error, Result};

/// The largest body that is moved if its head turns out wider or narrower than reserved. Moving 64
/// KiB takes a few microseconds, less than an edit of a whole document.
const MOVE_BYTES: u64 = 64 << 10;

/// Bound on all moves together, as a multiple of the bytes written. Widths are predicted well, so
/// only hostile nesting comes close: a thousand levels that each move the same bytes.
const MOVE_RATIO: u64 = 4;

impl Writer<'_> {
    /// Gives a five-byte head to every open container of unknown length that began before
    /// `barrier`, and releases the bytes.
    pub(super) fn commit(&mut self, barrier: u64) -> Result {
        self.out.flush_before(self.pinned)?;
        for open in &mut self.stack {
            if open.is_loose() && open.at < barrier {
                let old = usize::from(std::mem::take(&mut open.width));
                self.committed += 1;
                let header = five_bytes(open.map, 0);
                self.edits.push(Edit { at: open.at, old, header, length: 5 });
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
    pub(super) fn splice(&mut self) {
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
        self.edits.clear();
        self.edits_end = 0;
    }

    pub(super) fn find_pin(&mut self) {
        let loose = self.stack.iter().find(|open| open.is_loose());
        self.pinned = loose.map_or(u64::MAX, |open| open.at);
    }

    /// Ends a container whose head is still to be written.
    #[inline(never)]
    pub(super) fn end_unknown(&mut self, open: Open, count: u64) -> Result {
        if open.promised == TO_BREAK {
            self.room(1)?;
            self.out.push(BREAK);
            return Ok(());
        }
        if open.promised != UNKNOWN {
            return Err(broken_promise(open.map, open.promised, count));
        }
        let count = u32::try_from(count).map_err(|_| too_many(open.map, count))?;
        if open.width == 0 {
            // It was committed.
            self.out.patch(open.at, &five_bytes(open.map, count))?;
            self.committed -= 1;
            return if self.committed == 0 { self.out.release() } else { Ok(()) };
        }
        let (head, needed) = head(container(open.map), u64::from(count));
        let header = [head[0], head[1], head[2], head[3], head[4]];
        if needed == usize::from(open.width) {
            let at = (open.at - self.out.base()) as usize;
            let held = &mut self.out.held_mut()[at..];
            match needed {
                1 => held[0] = header[0],
                2 => held[..2].copy_from_slice(&header[..2]),
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

    /// Writes a head of a different width than was reserved.
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
}

/// Returns a five-byte head, for any count that fits in one.
fn five_bytes(map: bool, count: u32) -> [u8; 5] {
    let [a, b, c, d] = count.to_be_bytes();
    [if map { MAP } else { ARRAY } | 26, a, b, c, d]
}

#[cold]
fn too_many(map: bool, count: u64) -> Error {
    let (what, of) = if map { ("a map", "pairs") } else { ("an array", "values") };
    Error::unrepresentable(format!(
        "found {what} of {count} {of} with no length given in advance, expected at most {}",
        u32::MAX
    ))
    .hint(Hint::on(Opt::CborIndefinite))
}

#[cold]
fn broken_promise(map: bool, promised: u64, count: u64) -> Error {
    let what = if map { "a map" } else { "an array" };
    Error::unrepresentable(format!(
        "found {what} declared with {promised} entries but ended after {count}"
    ))
}
