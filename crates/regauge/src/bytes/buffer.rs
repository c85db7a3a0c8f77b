//! The buffer that writers write into: bytes in memory, flushed piece by piece to an [`Output`].
//!
//! Advice for editors: everything here is hot. A writer asks for [`room`](Out::room) once per token
//! and then pushes without further capacity checks; the unsafe blocks rely on that contract only.
//! `make sanitize` runs the tests under AddressSanitizer.

#![allow(unsafe_code, reason = "writes into reserved room")]

mod checkpoint;

use checkpoint::Undo;

use crate::bytes::memory::Memory;
use crate::bytes::output::Output;
use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::model::option::Opt;
use crate::{Error, Result};

/// Bytes are flushed when the buffer reaches this size. It fits the second-level cache together
/// with a window of input.
const FLUSH_BYTES: usize = 256 << 10;

/// The most that open containers of unknown length may pin in memory. Including the buffer's
/// doubling on the way there, the splice that follows and a window of input, the total stays below
/// 32 MiB, half of what a conversion may use; up to this size every document gets the shortest
/// headers.
pub const HOLD_BYTES: u64 = 8 << 20;

/// A growing buffer with an optional output.
pub struct Out<'o> {
    buf: Memory<'o>,
    /// Bytes that have been flushed to the output.
    base: u64,
    output: Option<Box<dyn Output + Send + 'o>>,
    /// Nothing from this absolute position on may be flushed: a record may yet be rolled back.
    checkpoint: Option<u64>,
    /// See [`Out::checkpoint_in_output`].
    undo: Option<Undo>,
    /// The output has yet to drop what it has from here on.
    cut: Option<u64>,
    /// The limit on the bytes that a checkpoint may hold back.
    record_bytes: u64,
    flush_bytes: usize,
}

impl<'o> Out<'o> {
    /// Creates a buffer that keeps everything: see [`into_vec`](Out::into_vec).
    pub fn in_memory() -> Self {
        Out {
            buf: Memory::new(Vec::new()),
            base: 0,
            output: None,
            checkpoint: None,
            undo: None,
            cut: None,
            record_bytes: u64::MAX,
            flush_bytes: FLUSH_BYTES,
        }
    }

    /// Creates a buffer in front of `output`.
    pub fn to_output(output: impl Output + Send + 'o, record_bytes: u64) -> Self {
        Out::flushing_at(FLUSH_BYTES, output, record_bytes)
    }

    /// Creates a buffer in front of `output`, with a flush size that tests choose.
    pub(crate) fn flushing_at(
        flush_bytes: usize,
        output: impl Output + Send + 'o,
        record_bytes: u64,
    ) -> Self {
        Out {
            buf: Memory::new(Vec::with_capacity(flush_bytes)),
            base: 0,
            output: Some(Box::new(output)),
            checkpoint: None,
            undo: None,
            cut: None,
            record_bytes,
            flush_bytes,
        }
    }

    /// Reuses a buffer, keeping its capacity and dropping its contents.
    pub fn reusing(mut buf: Vec<u8>) -> Self {
        buf.clear();
        Out::in_place(Memory::new(buf))
    }

    /// Creates a buffer in this memory, with its home, dropping its contents: see [`into_memory`](Out::into_memory).
    #[inline]
    pub fn in_place(mut memory: Memory<'o>) -> Self {
        memory.clear();
        Out { buf: memory, ..Out::in_memory() }
    }

    /// Returns everything that was written and not flushed.
    pub fn into_vec(self) -> Vec<u8> {
        self.buf.into_vec()
    }

    /// Returns the same where it is.
    #[inline]
    pub fn into_memory(self) -> Memory<'o> {
        self.buf
    }

    /// Returns the position of the next byte, counted from the first byte ever written.
    #[inline]
    pub fn position(&self) -> u64 {
        self.base + self.buf.len() as u64
    }

    /// Returns the position of the first byte that is still in memory.
    #[inline]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns the bytes that are still in memory.
    #[inline]
    pub fn held(&self) -> &[u8] {
        &self.buf
    }

    /// Returns the bytes that are still in memory, to patch or to move.
    #[inline]
    pub fn held_mut(&mut self) -> &mut Memory<'o> {
        &mut self.buf
    }

    /// Returns whether `n` more bytes fit without a call to [`room`](Out::room).
    #[inline]
    pub fn has_room(&self, n: usize) -> bool {
        self.buf.capacity() - self.buf.len() >= n
    }

    /// Returns whether there is an output, so that bytes do not simply accumulate.
    #[inline]
    pub fn has_output(&self) -> bool {
        self.output.is_some()
    }

    /// Ensures that `n` more bytes fit, flushing everything before the position `keep_from` if
    /// needed.
    ///
    /// # Errors
    /// `Io` from the output, `Limit` when a record that may be rolled back grows too large.
    #[inline]
    pub fn room(&mut self, n: usize, keep_from: u64) -> Result {
        if self.has_room(n) {
            return Ok(());
        }
        self.make_room(n, keep_from)
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, n: usize, keep_from: u64) -> Result {
        if self.output.is_some() {
            self.flush_before(keep_from)?;
            if let Some(checkpoint) = self.checkpoint {
                let held = self.position() - checkpoint;
                if held > self.record_bytes {
                    return Err(Error::limit(format!(
                        "found a record of {held} bytes, which exceeds the rollback limit"
                    ))
                    .hint(
                        Hint::set(Opt::Bad, "stop")
                            .or(Hint::raise(Limit::RecordBytes).to("raise the limit")),
                    ));
                }
            }
        }
        self.buf.reserve(n);
        Ok(())
    }

    /// Flushes everything before the position `keep_from`, or before the checkpoint.
    ///
    /// # Errors
    /// `Io` from the output.
    pub fn flush_before(&mut self, keep_from: u64) -> Result {
        let Some(output) = &mut self.output else { return Ok(()) };
        if let Some(position) = self.cut.take() {
            output.truncate(position)?;
        }
        let keep_from = keep_from.min(self.checkpoint.unwrap_or(u64::MAX));
        let count = keep_from.saturating_sub(self.base).min(self.buf.len() as u64) as usize;
        if count > 0 {
            output.write(&self.buf[..count])?;
            self.buf.copy_within(count.., 0);
            self.buf.truncate(self.buf.len() - count);
            self.base += count as u64;
        }
        Ok(())
    }

    /// Flushes everything and settles the output.
    ///
    /// # Errors
    /// `Io` from the output.
    pub fn finish(&mut self) -> Result {
        self.checkpoint = None;
        self.flush_before(u64::MAX)?;
        match &mut self.output {
            Some(output) => Ok(output.release()?),
            None => Ok(()),
        }
    }

    /// Does the same for a writer in which this many arrays and maps are open: none, if its last
    /// document has ended.
    ///
    /// # Errors
    /// Also `Unrepresentable` if some are.
    pub(crate) fn finish_closed(&mut self, open: usize) -> Result {
        if open > 0 {
            return Err(Error::unrepresentable(format!(
                "the last document is incomplete: {open} arrays and maps are still open"
            )));
        }
        self.finish()
    }

    /// See [`Output::hold`]. Bytes in memory have not been flushed, so they count as held.
    ///
    /// # Errors
    /// `Io` from the output.
    pub fn hold(&mut self) -> Result {
        match &mut self.output {
            Some(output) => Ok(output.hold()?),
            None => Ok(()),
        }
    }

    /// Replaces bytes at a position, in memory or in the output.
    ///
    /// # Errors
    /// `Io` from the output.
    pub fn patch(&mut self, position: u64, bytes: &[u8]) -> Result {
        if position >= self.base {
            let at = (position - self.base) as usize;
            self.buf[at..at + bytes.len()].copy_from_slice(bytes);
            return Ok(());
        }
        // A header can straddle the edge: its start has been flushed, its end has not.
        let outside = (bytes.len() as u64).min(self.base - position) as usize;
        let output = self.output.as_mut().expect("bytes have left for an output");
        output.patch(position, &bytes[..outside])?;
        self.buf[..bytes.len() - outside].copy_from_slice(&bytes[outside..]);
        Ok(())
    }

    /// See [`Output::release`].
    ///
    /// # Errors
    /// `Io` from the output.
    pub fn release(&mut self) -> Result {
        match &mut self.output {
            Some(output) => Ok(output.release()?),
            None => Ok(()),
        }
    }

    /// Releases the memory that a buffer grew to, if it now holds little.
    pub fn shrink(&mut self) {
        self.buf.shrink_to(self.flush_bytes);
    }

    /// Replaces headers that are still in memory with longer or shorter ones, in one pass over the
    /// bytes after the first. `edits` are sorted by position, counted before any edit; a checkpoint
    /// moves along. Returns how many bytes were moved.
    pub fn splice(&mut self, edits: &[Edit]) -> u64 {
        let Some(first) = edits.first() else { return 0 };
        let growth: usize = edits.iter().map(|edit| edit.length.saturating_sub(edit.old)).sum();
        let first = (first.at - self.base) as usize;
        let end = self.buf.len();
        // All bytes first move up by the total growth, then piece by piece down to their places, so
        // that no piece is overwritten before it has moved.
        self.buf.pad_to(end + growth);
        let mut moved = 0;
        if growth > 0 {
            self.buf.copy_within(first..end, first + growth);
            moved += (end - first) as u64;
        }
        let (mut from, mut to) = (first + growth, first);
        for (index, edit) in edits.iter().enumerate() {
            self.buf[to..to + edit.length].copy_from_slice(&edit.header[..edit.length]);
            (from, to) = (from + edit.old, to + edit.length);
            let piece_end = match edits.get(index + 1) {
                Some(next) => (next.at - self.base) as usize + growth,
                None => end + growth,
            };
            if from != to {
                self.buf.copy_within(from..piece_end, to);
                moved += (piece_end - from) as u64;
            }
            (from, to) = (piece_end, to + (piece_end - from));
        }
        self.buf.truncate(to);
        if let Some(checkpoint) = self.checkpoint {
            let before = edits.iter().take_while(|edit| edit.at < checkpoint);
            let growth = before.map(Edit::growth).sum();
            self.checkpoint = Some(checkpoint.wrapping_add_signed(growth));
        }
        moved
    }

    /// Appends one byte. There must be [`room`](Out::room).
    #[inline]
    pub fn push(&mut self, byte: u8) {
        debug_assert!(self.has_room(1));
        let length = self.buf.len();
        if length == self.buf.capacity() {
            // Never true by contract; the check keeps the function sound and is well predicted.
            self.buf.reserve(1);
        }
        // SAFETY: there is room for one more byte, checked just above.
        unsafe {
            self.buf.start().add(length).write(byte);
            self.buf.set_length(length + 1);
        }
    }

    /// Appends bytes. Fast if there is [`room`](Out::room).
    #[inline]
    pub fn extend(&mut self, bytes: &[u8]) {
        self.buf.extend_from_slice(bytes);
    }

    /// Appends bytes that are usually few: up to 64 with overlapping fixed-size copies, which are
    /// cheaper than a call to memcpy. Fast if there is room.
    #[inline]
    pub fn extend_short(&mut self, bytes: &[u8]) {
        self.extend_with_header([], bytes);
    }

    /// Appends a header and bytes in one step: a header followed by
    /// [`extend_short`](Out::extend_short). Fast if there is room.
    #[inline]
    pub fn extend_with_header<const N: usize>(&mut self, header: [u8; N], bytes: &[u8]) {
        let (count, length) = (bytes.len(), self.buf.len());
        if self.buf.capacity() - length < N.saturating_add(count) {
            self.buf.reserve(N.saturating_add(count));
        }
        let from = bytes.as_ptr();
        // SAFETY: `N + count` bytes fit after the length, checked just above, or `reserve` would
        // not have returned; `count` bytes can be read at `from`. Every copy lies within the first
        // `count` bytes of both, which do not overlap because the vector is borrowed exclusively.
        unsafe {
            let to = self.buf.start().add(length);
            to.cast::<[u8; N]>().write_unaligned(header);
            let to = to.add(N);
            match count {
                65.. => to.copy_from_nonoverlapping(from, count),
                33.. => copy_both_ends::<32>(from, to, count),
                16.. => copy_both_ends::<16>(from, to, count),
                8.. => copy_both_ends::<8>(from, to, count),
                4.. => copy_both_ends::<4>(from, to, count),
                2.. => copy_both_ends::<2>(from, to, count),
                1 => to.write(from.read()),
                0 => {}
            }
            self.buf.set_length(length + N + count);
        }
    }

    /// Appends a header and a number with a separate store for each. Combining them first goes
    /// through memory and stalls on store forwarding, which took half of the time of an array of
    /// doubles. Fast if there is room.
    #[inline(always)]
    pub fn push_with_header<const N: usize, const M: usize>(
        &mut self,
        header: [u8; N],
        bytes: [u8; M],
    ) {
        let length = self.buf.len();
        if self.buf.capacity() - length < N + M {
            self.buf.reserve(N + M);
        }
        // SAFETY: both fit after the length, checked just above.
        unsafe {
            let to = self.buf.start().add(length);
            to.cast::<[u8; N]>().write_unaligned(header);
            to.add(N).cast::<[u8; M]>().write_unaligned(bytes);
            self.buf.set_length(length + N + M);
        }
    }

    /// Appends the first `count` of `N` bytes, which are zero until `fill` changes them. Fast if
    /// there is room for `N`.
    #[inline(always)]
    pub fn push_filled<const N: usize>(&mut self, count: usize, fill: impl FnOnce(&mut [u8; N])) {
        debug_assert!(count <= N);
        let length = self.buf.len();
        if self.buf.capacity() - length < N {
            self.buf.reserve(N);
        }
        // SAFETY: `N` bytes fit after the length, checked just above, and at most these become part
        // of the vector after they were written.
        unsafe {
            let to = self.buf.start().add(length).cast::<[u8; N]>();
            to.write([0; N]);
            fill(&mut *to);
            self.buf.set_length(length + count.min(N));
        }
    }

    /// Appends a header and the first `count` bytes of a window. Copies all 32, which avoids a
    /// branch on their number. Fast if there is room for the header and 32.
    #[inline(always)]
    pub fn extend_window<const N: usize>(
        &mut self,
        header: [u8; N],
        window: &[u8; 32],
        count: usize,
    ) {
        debug_assert!(count <= 32);
        let length = self.buf.len();
        if self.buf.capacity() - length < N + 32 {
            self.buf.reserve(N + 32);
        }
        // SAFETY: the header and 32 bytes fit after the length, checked just above, and of these at
        // most 32 become part of the vector after they were written.
        unsafe {
            let to = self.buf.start().add(length);
            to.cast::<[u8; N]>().write_unaligned(header);
            to.add(N).cast::<[u8; 32]>().write_unaligned(*window);
            self.buf.set_length(length + N + count.min(32));
        }
    }

    /// Appends the first `count` bytes of a header and all of `bytes` if both fit without growing;
    /// otherwise appends nothing and returns `false`. It makes no call, so a caller whose only call
    /// is a tail call saves no registers on the stack, which took a tenth of the time of short
    /// tokens.
    #[inline(always)]
    pub fn try_push<const N: usize, const M: usize>(
        &mut self,
        header: [u8; N],
        count: usize,
        bytes: [u8; M],
    ) -> bool {
        debug_assert!(count <= N);
        let (length, count) = (self.buf.len(), count.min(N));
        if self.buf.capacity() - length < N + M {
            return false;
        }
        // SAFETY: `N + M` bytes fit after the length, checked just above. Those of `bytes` follow
        // at most `N`, and what becomes part of the vector was written.
        unsafe {
            let to = self.buf.start().add(length);
            to.cast::<[u8; N]>().write_unaligned(header);
            to.add(count).cast::<[u8; M]>().write_unaligned(bytes);
            self.buf.set_length(length + count + M);
        }
        true
    }

    /// Same as [`extend_window`](Out::extend_window) with one more byte at the end, if the header
    /// and 33 bytes fit; otherwise appends nothing and returns `false`: see
    /// [`try_push`](Out::try_push).
    #[inline(always)]
    pub fn try_extend_window<const N: usize>(
        &mut self,
        header: [u8; N],
        window: &[u8; 32],
        count: usize,
        end: u8,
    ) -> bool {
        debug_assert!(count <= 32);
        let (length, count) = (self.buf.len(), count.min(32));
        if self.buf.capacity() - length < N + 33 {
            return false;
        }
        // SAFETY: the header and 33 bytes fit after the length, checked just above; the one at the
        // end follows at most 32, and what becomes part of the vector was written.
        unsafe {
            let to = self.buf.start().add(length);
            to.cast::<[u8; N]>().write_unaligned(header);
            to.add(N).cast::<[u8; 32]>().write_unaligned(*window);
            to.add(N + count).write(end);
            self.buf.set_length(length + N + count + 1);
        }
        true
    }

    /// Returns a pointer to the next byte, with room for `most` bytes: tokens of many small parts
    /// need only one check. [`advance`](Out::advance) then appends what was written there. The
    /// pointer is valid until the buffer is used in any other way.
    #[inline(always)]
    pub fn spare(&mut self, most: usize) -> *mut u8 {
        if self.buf.capacity() - self.buf.len() < most {
            self.buf.reserve(most);
        }
        self.buf.start().wrapping_add(self.buf.len())
    }

    /// Appends the first `count` bytes after the end.
    ///
    /// # Safety
    /// [`spare`](Out::spare) was called for at least as many, and they have been written since.
    #[inline(always)]
    pub unsafe fn advance(&mut self, count: usize) {
        let length = self.buf.len() + count;
        debug_assert!(length <= self.buf.capacity());
        // SAFETY: the caller promises that the bytes are there and initialised.
        unsafe { self.buf.set_length(length) };
    }

    /// Returns the last byte written, if it is still in memory.
    #[inline]
    pub fn last(&self) -> Option<u8> {
        self.buf.last().copied()
    }

    /// Replaces the last byte written, which must still be in memory.
    #[inline]
    pub fn replace_last(&mut self, byte: u8) {
        if let Some(last) = self.buf.last_mut() {
            *last = byte;
        }
    }

    /// Appends `N` bytes at once. Fast if there is room.
    #[inline]
    pub fn push_array<const N: usize>(&mut self, bytes: [u8; N]) {
        let length = self.buf.len();
        if self.buf.capacity() - length < N {
            self.buf.reserve(N);
        }
        // SAFETY: `N` bytes fit after the length, checked just above.
        unsafe {
            self.buf.start().add(length).cast::<[u8; N]>().write_unaligned(bytes);
            self.buf.set_length(length + N);
        }
    }
}

/// Copies `count` bytes, `N <= count <= 2 * N`, as their first `N` and their last `N`.
///
/// # Safety
/// `count` bytes can be read at `from` and written at `to`, and the two do not overlap.
#[inline(always)]
unsafe fn copy_both_ends<const N: usize>(from: *const u8, to: *mut u8, count: usize) {
    // SAFETY: both chunks lie within `count` bytes, as `N <= count`.
    unsafe {
        let head = from.cast::<[u8; N]>().read_unaligned();
        let tail = from.add(count - N).cast::<[u8; N]>().read_unaligned();
        to.cast::<[u8; N]>().write_unaligned(head);
        to.add(count - N).cast::<[u8; N]>().write_unaligned(tail);
    }
}

/// A header to replace: see [`Out::splice`].
#[derive(Clone, Copy, Debug)]
pub struct Edit {
    /// The position of its first byte.
    pub at: u64,
    /// The number of bytes it has.
    pub old: usize,
    /// The replacement.
    pub header: [u8; 5],
    /// The number of bytes used in `header`.
    pub length: usize,
}

impl Edit {
    /// Returns how many bytes the header grows.
    pub fn growth(&self) -> i64 {
        self.length as i64 - self.old as i64
    }
}

impl std::fmt::Debug for Out<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Out({} bytes, {} in memory)", self.position(), self.buf.len())
    }
}

#[cfg(test)]
mod tests;
