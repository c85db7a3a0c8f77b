//! Positions to which a buffer returns, so that half a record never stays.

use super::Out;

/// A checkpoint whose bytes may leave for the output, which drops them on a rollback.
#[derive(Clone, Copy)]
pub(super) struct Undo {
    position: u64,
    /// The byte before it.
    before: Option<u8>,
}

impl Out<'_> {
    /// Records this position for [`rollback`](Out::rollback).
    pub fn checkpoint(&mut self) {
        self.checkpoint = Some(self.position());
    }

    /// Records this position for [`rollback`](Out::rollback) if the output can be truncated, so that
    /// nothing after it has to stay in memory. Returns `false` if it cannot. The byte before the
    /// position is in memory after a rollback.
    pub fn checkpoint_in_output(&mut self) -> bool {
        let can_truncate = self.output.as_ref().is_some_and(|output| output.can_truncate());
        let before = self.buf.last().copied();
        self.undo = can_truncate.then(|| Undo { position: self.position(), before });
        can_truncate
    }

    /// Drops everything since the checkpoint.
    pub fn rollback(&mut self) {
        if let Some(Undo { position, before }) = self.undo {
            let first = position - u64::from(before.is_some());
            if first < self.base {
                self.buf.clear();
                self.buf.extend_from_slice(before.as_slice());
                (self.base, self.cut) = (first, Some(first));
            }
            return self.buf.truncate((position - self.base) as usize);
        }
        let checkpoint = self.checkpoint.expect("a checkpoint was taken");
        self.buf.truncate((checkpoint - self.base) as usize);
    }

    /// Returns the position of the latest checkpoint.
    #[inline]
    pub fn checkpoint_position(&self) -> Option<u64> {
        self.checkpoint
    }
}
