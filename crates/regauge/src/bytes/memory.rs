//! The memory of a buffer: a vector of bytes, which may move into memory of another owner when it grows.
//!
//! A binding wants its result in an object of its language. What is written there at once need not be copied at the
//! end, which took a third of the time of long texts.

#![allow(unsafe_code, reason = "memory of another owner")]

use std::mem::{ManuallyDrop, replace};
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::slice;

/// Where bytes may move that have outgrown their vector.
///
/// # Safety
/// The memory that [`grow`](Home::grow) returns is valid, and used by nobody else, until the next call or until the
/// memory is dropped; it begins with the bytes before.
pub unsafe trait Home: Sync {
    /// Whether bytes move here that have grown to so many. The others stay in their vector.
    fn wants(&self, bytes: usize) -> bool;

    /// Returns memory for `bytes`, or better for more, and for how many. `before` has the first of them: it is the
    /// vector, or what the last call returned.
    fn grow(&self, before: &[u8], bytes: usize) -> (NonNull<u8>, usize);
}

/// Bytes that grow.
pub struct Memory<'o> {
    start: NonNull<u8>,
    length: usize,
    capacity: usize,
    home: Option<&'o dyn Home>,
    /// The vector, if the bytes have moved out of it.
    left: Option<Vec<u8>>,
}

// SAFETY: the memory belongs to this value, and the home is `Sync`.
unsafe impl Send for Memory<'_> {}

impl<'o> Memory<'o> {
    /// Takes a vector, with its bytes.
    #[inline]
    pub fn new(bytes: Vec<u8>) -> Memory<'o> {
        let mut memory =
            Memory { start: NonNull::dangling(), length: 0, capacity: 0, home: None, left: None };
        memory.take_parts(bytes);
        memory
    }

    /// Takes a vector, with its bytes, and where they may move.
    #[inline]
    pub fn with_home(bytes: Vec<u8>, home: &'o dyn Home) -> Memory<'o> {
        let mut memory = Memory::new(bytes);
        memory.home = Some(home);
        memory
    }

    /// Returns the bytes: in the vector, or copied into one.
    pub fn into_vec(mut self) -> Vec<u8> {
        match self.left {
            Some(_) => self.to_vec(),
            None => self.take_vec(),
        }
    }

    /// Returns the vector, and the number of bytes at home if they have moved there.
    #[inline]
    pub fn into_left(mut self) -> (Vec<u8>, Option<usize>) {
        match self.left.take() {
            Some(vector) => {
                let length = replace(&mut self.length, 0);
                // What is dropped now is an empty vector.
                (self.start, self.capacity) = (NonNull::dangling(), 0);
                (vector, Some(length))
            }
            None => (self.take_vec(), None),
        }
    }

    #[inline(always)]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns where the bytes begin.
    #[inline(always)]
    pub fn start(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Sets how many bytes there are.
    ///
    /// # Safety
    /// That many fit, and have been written.
    #[inline(always)]
    pub unsafe fn set_length(&mut self, length: usize) {
        debug_assert!(length <= self.capacity);
        self.length = length;
    }

    /// Ensures that `more` bytes fit.
    #[inline]
    pub fn reserve(&mut self, more: usize) {
        if self.capacity - self.length < more {
            self.grow(more);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) {
        let wanted = self.length.checked_add(more).expect("a length fits usize");
        let moves = self.left.is_some() || self.home.is_some_and(|home| home.wants(wanted));
        if !moves {
            let mut bytes = self.take_vec();
            bytes.reserve(more);
            return self.take_parts(bytes);
        }
        // SAFETY: the bytes that are there; growing replaces them.
        let before = unsafe { slice::from_raw_parts(self.start.as_ptr(), self.length) };
        let home = self.home.expect("bytes move to a home");
        let (start, capacity) = home.grow(before, wanted);
        if self.left.is_none() {
            self.left = Some(self.vector());
        }
        (self.start, self.capacity) = (start, capacity);
    }

    /// Returns the vector that the parts are of, and forgets them.
    #[inline]
    fn take_vec(&mut self) -> Vec<u8> {
        let bytes = self.vector();
        (self.start, self.length, self.capacity) = (NonNull::dangling(), 0, 0);
        bytes
    }

    /// Returns the vector that the parts are of. They must be replaced at once.
    fn vector(&self) -> Vec<u8> {
        debug_assert!(self.left.is_none());
        // SAFETY: these are the parts of a vector, as `take_parts` has set them: nothing has moved out of it yet, and
        // only as many bytes were counted as were written.
        unsafe { Vec::from_raw_parts(self.start.as_ptr(), self.length, self.capacity) }
    }

    #[inline]
    fn take_parts(&mut self, bytes: Vec<u8>) {
        let mut bytes = ManuallyDrop::new(bytes);
        (self.length, self.capacity) = (bytes.len(), bytes.capacity());
        self.start = NonNull::new(bytes.as_mut_ptr()).expect("a vector's pointer is not null");
    }

    /// Releases memory beyond this capacity, if it is the vector's.
    pub fn shrink_to(&mut self, capacity: usize) {
        if self.left.is_none() {
            let mut bytes = self.take_vec();
            bytes.shrink_to(capacity);
            self.take_parts(bytes);
        }
    }

    #[inline]
    pub fn clear(&mut self) {
        self.length = 0;
    }

    #[inline]
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    #[inline]
    pub fn pop(&mut self) -> Option<u8> {
        let last = self.last().copied()?;
        self.length -= 1;
        Some(last)
    }

    #[inline]
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        // SAFETY: so many bytes fit after the length, and the two do not overlap, because the memory is borrowed
        // exclusively.
        unsafe {
            self.start().add(self.length).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
        self.length += bytes.len();
    }

    /// Inserts bytes before those at `at`.
    pub fn insert(&mut self, at: usize, bytes: &[u8]) {
        let end = self.length;
        self.extend_from_slice(bytes);
        self.copy_within(at..end, at + bytes.len());
        self[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Takes bytes out of the middle.
    pub fn remove(&mut self, bytes: Range<usize>) {
        let length = self.length - bytes.len();
        self.copy_within(bytes.end.., bytes.start);
        self.truncate(length);
    }

    /// Appends zeros up to this length.
    pub fn pad_to(&mut self, length: usize) {
        let more = length.saturating_sub(self.length);
        self.reserve(more);
        // SAFETY: so many bytes fit after the length.
        unsafe { self.start().add(self.length).write_bytes(0, more) };
        self.length += more;
    }
}

impl Deref for Memory<'_> {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        // SAFETY: the first `length` bytes were written.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl DerefMut for Memory<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: the first `length` bytes were written, and are borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl Drop for Memory<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.left.is_none() {
            drop(self.take_vec());
        }
    }
}

#[cfg(test)]
mod tests;
