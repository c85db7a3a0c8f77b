//! Passes on some of the documents of a stream: the first ones, or a random sample.
//!
//! In a format of one document, and if arrays are split into documents, what counts are the elements
//! of an array at the top instead of the array.
//!
//! A sample takes two readings: one that counts, and one that selects. With `left` documents still to
//! be taken and `rest` still to come, the next one is taken with the probability `left / rest`
//! (selection sampling, Knuth's algorithm S), so every set of documents is equally likely, they stay
//! in their order, and nothing is kept in memory.

use std::cell::Cell;

use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, ShortText, Sink, Type, Writer, forward};
use crate::{Error, ErrorKind, Result};

/// Which documents are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// The first ones.
    First(u64),
    /// None: they are only counted.
    Count,
    /// This many of that many, by the state of a random generator.
    Sample { left: u64, rest: u64, random: u64 },
}

impl Pick {
    /// Decides about the next document.
    fn next(&mut self) -> bool {
        match self {
            Pick::First(left) => {
                *left = left.saturating_sub(1);
                true
            }
            Pick::Count => false,
            Pick::Sample { left, rest, random } => {
                // The next number of splitmix64, below `rest`: its upper half of 128 bits.
                *random = random.wrapping_add(0x9E37_79B9_7F4A_7C15);
                let mut mixed = *random;
                mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
                mixed ^= mixed >> 31;
                let below = ((u128::from(mixed) * u128::from(*rest)) >> 64) as u64;
                let takes = below < *left;
                *left -= u64::from(takes);
                *rest = rest.saturating_sub(1);
                takes
            }
        }
    }
}

/// What an adapter tells the loop that drives it.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Whether enough was taken: the rest of the input need not be read.
    stopped: Cell<bool>,
    /// How many documents there were, and how many of them were taken.
    seen: Cell<u64>,
    kept: Cell<u64>,
}

impl Taken {
    pub(crate) fn has_stopped(&self) -> bool {
        self.stopped.get()
    }

    pub(crate) fn seen(&self) -> u64 {
        self.seen.get()
    }

    pub(crate) fn kept(&self) -> u64 {
        self.kept.get()
    }
}

/// A sink adapter that passes on the documents that [`Pick`] takes.
pub(crate) struct Take<'t, S> {
    inner: S,
    pick: Pick,
    taken: &'t Taken,
    /// Whether the elements of an array at the top are what counts.
    elements: bool,
    /// The open containers, and how many of them are around what counts: 1 in an array at the top.
    depth: u64,
    base: u64,
    /// Whether the current document or element is passed on.
    keeps: bool,
    /// The state at the last checkpoint.
    saved: (Pick, u64, u64),
}

impl<'t, S: Writer> Take<'t, S> {
    /// Creates an adapter in front of `inner`.
    pub(crate) fn new(inner: S, pick: Pick, elements: bool, taken: &'t Taken) -> Self {
        let saved = (pick, 0, 0);
        Take { inner, pick, taken, elements, depth: 0, base: 0, keeps: true, saved }
    }

    /// Decides, if this is the first event of a document or an element.
    #[inline]
    fn begin(&mut self) {
        if self.depth == self.base {
            self.keeps = self.pick.next();
            self.taken.seen.set(self.taken.seen.get() + 1);
            self.taken.kept.set(self.taken.kept.get() + u64::from(self.keeps));
        }
    }

    /// Stops after the last element that is wanted.
    #[inline]
    fn end(&mut self) -> Result {
        let is_done = self.depth == 1 && self.base == 1 && self.pick == Pick::First(0);
        if is_done { self.stop() } else { Ok(()) }
    }

    /// Ends the array at the top, and the reading of the input: by an error that the loop knows.
    #[cold]
    fn stop(&mut self) -> Result {
        self.inner.end_array()?;
        self.inner.end_document()?;
        self.taken.stopped.set(true);
        Err(Error::new(ErrorKind::Io, "enough was read"))
    }

    #[inline]
    fn value(&mut self, send: impl FnOnce(&mut S) -> Result) -> Result {
        self.begin();
        if self.keeps {
            send(&mut self.inner)?;
        }
        self.end()
    }

    #[inline]
    fn open(&mut self, send: impl FnOnce(&mut S) -> Result) -> Result {
        self.begin();
        self.depth += 1;
        if self.keeps { send(&mut self.inner) } else { Ok(()) }
    }

    #[inline]
    fn close(&mut self, send: impl FnOnce(&mut S) -> Result) -> Result {
        self.depth -= 1;
        if self.keeps {
            send(&mut self.inner)?;
        }
        self.end()
    }

    fn reset(&mut self) {
        (self.depth, self.base, self.keeps) = (0, 0, true);
    }
}

macro_rules! values {
    ($($name:ident($type:ty))*) => {
        $(#[inline]
        fn $name(&mut self, v: $type) -> Result {
            self.value(|inner| inner.$name(v))
        })*
    };
}

impl<S: Writer> Sink for Take<'_, S> {
    forward!(fidelity);
    values!(bool(bool) i64(i64) u64(u64) f64(f64) f32(f32) str(&str) short_str(ShortText<'_>));
    values!(bytes(&[u8]) big_int(BigInt<'_>) ext(Ext<'_>) alias(u64));

    fn null(&mut self) -> Result {
        self.value(|inner| inner.null())
    }
    fn text_pair(&mut self, k: &str, v: &str) -> Result {
        self.value(|inner| inner.text_pair(k, v))
    }
    fn f64_array(&mut self, values: &[f64]) -> Result {
        if self.elements && self.depth == 0 {
            self.begin_array(Some(values.len() as u64))?;
            values.iter().try_for_each(|v| self.f64(*v))?;
            return self.end_array();
        }
        self.value(|inner| inner.f64_array(values))
    }
    fn f64_pair(&mut self, x: f64, y: f64) -> Result {
        if self.elements && self.depth == 0 {
            return self.f64_array(&[x, y]);
        }
        self.value(|inner| inner.f64_pair(x, y))
    }
    fn key(&mut self, k: &str) -> Result {
        if self.keeps { self.inner.key(k) } else { Ok(()) }
    }
    fn short_key(&mut self, k: ShortText<'_>) -> Result {
        if self.keeps { self.inner.short_key(k) } else { Ok(()) }
    }
    fn key_value(&mut self, k: &Value) -> Result {
        if self.keeps { self.inner.key_value(k) } else { Ok(()) }
    }
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        if self.elements && self.depth == 0 {
            (self.depth, self.base) = (1, 1);
            return match self.pick {
                Pick::Count => Ok(()),
                Pick::First(left) => self.inner.begin_array(len.map(|len| len.min(left))),
                Pick::Sample { .. } => self.inner.begin_array(None),
            };
        }
        self.open(|inner| inner.begin_array(len))
    }
    fn end_array(&mut self) -> Result {
        if self.depth == 1 && self.base == 1 {
            (self.depth, self.base, self.keeps) = (0, 0, self.pick != Pick::Count);
            return if self.keeps { self.inner.end_array() } else { Ok(()) };
        }
        self.close(|inner| inner.end_array())
    }
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        self.open(|inner| inner.begin_map(len))
    }
    fn end_map(&mut self) -> Result {
        self.close(|inner| inner.end_map())
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        self.open(|inner| inner.begin_typed(t))
    }
    fn end_typed(&mut self) -> Result {
        self.close(|inner| inner.end_typed())
    }
    fn holds_references(&mut self) -> bool {
        self.inner.holds_references()
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        self.open(|inner| inner.begin_anchor(id))
    }
    fn end_anchor(&mut self) -> Result {
        self.close(|inner| inner.end_anchor())
    }
}

impl<S: Writer> Writer for Take<'_, S> {
    forward!(columns);

    /// A count writes nothing, and JSON lacks a document then.
    fn finish(&mut self) -> Result {
        if self.pick == Pick::Count { Ok(()) } else { self.inner.finish() }
    }
    fn end_document(&mut self) -> Result {
        let keeps = self.keeps;
        self.reset();
        if self.pick == Pick::First(0) {
            self.taken.stopped.set(true);
        }
        if keeps { self.inner.end_document() } else { Ok(()) }
    }
    fn checkpoint(&mut self) {
        self.saved = (self.pick, self.taken.seen.get(), self.taken.kept.get());
        self.inner.checkpoint();
    }
    fn rollback(&mut self) {
        let (pick, seen, kept) = self.saved;
        self.pick = pick;
        self.taken.seen.set(seen);
        self.taken.kept.set(kept);
        self.reset();
        self.inner.rollback();
    }
}
