//! Keys that came before: the same keys stand in map after map, and making a `str` costs more than
//! finding one. Without this, `loads` takes a third more time where keys repeat. The dicts of keys
//! that came before ([`Shapes`]) are kept with them.
//!
//! Behind a key mostly comes the one that came behind it last time: so that is looked at first, and
//! nothing waits for a hash.

use std::cell::Cell;

use pyo3::prelude::*;
use regauge::event::ShortText;

use crate::raw::shape::Shapes;

/// How many keys are remembered. A key may stand in two places: where there was one, two keys of a
/// document of a hundred often fell on the same, and were made anew each time.
const PLACES: usize = 2048;
/// The longest key that is remembered, in bytes: so that a place is a line of the cache.
const KEY_BYTES: usize = 48;

/// The table, with keys of ASCII only. The stable ABI cannot see whether a `str` is, and so
/// leaves it empty.
#[cfg_attr(Py_LIMITED_API, allow(dead_code))]
pub struct Keys {
    places: Box<[Place; PLACES]>,
    /// Where the last key is.
    last: usize,
    /// Where the next one may be.
    guess: usize,
    /// Which of two places was taken last from another key.
    taken: usize,
    pub shapes: Shapes,
}

/// A key that came before.
#[cfg_attr(Py_LIMITED_API, allow(dead_code))]
#[repr(align(64))]
struct Place {
    /// Zeros behind the key.
    bytes: [u8; KEY_BYTES],
    text: Option<Py<PyAny>>,
    length: u8,
    /// Where the key is that came behind it last.
    next: u16,
}

thread_local! {
    /// The table of this thread, when nobody uses it.
    static IDLE: Cell<Option<Keys>> = const { Cell::new(None) };
}

impl Keys {
    /// This thread's table; a new one if it is in use further down the stack.
    pub fn take() -> Keys {
        IDLE.take().unwrap_or_else(Keys::new)
    }

    #[cold]
    fn new() -> Keys {
        let empty = || Place { bytes: [0; KEY_BYTES], text: None, length: 0, next: 0 };
        let places: Box<[Place]> = (0..PLACES).map(|_| empty()).collect();
        let Ok(places) = places.try_into() else { unreachable!("so many were made") };
        Keys { places, last: 0, guess: 0, taken: 0, shapes: Shapes::default() }
    }

    /// Leaves the table for the next who asks.
    pub fn give_back(self) {
        IDLE.set(Some(self));
    }

    /// The `str` of a key; `None` with Python's error when memory ran out.
    #[inline(always)]
    pub fn get<'py>(&mut self, py: Python<'py>, key: &str) -> Option<Bound<'py, PyAny>> {
        #[cfg(not(Py_LIMITED_API))]
        {
            let bytes = key.as_bytes();
            if bytes.len().wrapping_sub(1) < KEY_BYTES {
                // The table has ASCII only, so equal bytes say that the key is ASCII too.
                let mut at = self.guess;
                if !self.places[at % PLACES].holds(bytes) {
                    at = place(bytes);
                    self.places[self.last % PLACES].next = at as u16;
                    if !self.places[at].holds(bytes) {
                        return self.find(py, key, at ^ 1);
                    }
                }
                if let Some(text) = self.found(at) {
                    return Some(text.bind(py).clone());
                }
            }
        }
        crate::raw::text::new(py, key)
    }

    /// The same of a short key.
    #[inline(always)]
    pub fn get_short<'py>(
        &mut self,
        py: Python<'py>,
        key: ShortText<'_>,
    ) -> Option<Bound<'py, PyAny>> {
        #[cfg(not(Py_LIMITED_API))]
        {
            if key.len() > 0 {
                let mut at = self.guess;
                if !self.places[at % PLACES].holds_short(key) {
                    at = place(key.as_str().as_bytes());
                    self.places[self.last % PLACES].next = at as u16;
                    if !self.places[at].holds_short(key) {
                        return self.find(py, key.as_str(), at ^ 1);
                    }
                }
                if let Some(text) = self.found(at) {
                    return Some(text.bind(py).clone());
                }
            }
        }
        crate::raw::text::new(py, key.as_str())
    }

    /// The text at a place, behind whose key another comes.
    #[cfg(not(Py_LIMITED_API))]
    #[inline(always)]
    fn found(&mut self, at: usize) -> Option<&Py<PyAny>> {
        let place = &self.places[at % PLACES];
        self.last = at;
        self.guess = usize::from(place.next);
        place.text.as_ref()
    }

    /// A key that is not at its first place: at its second, or at neither.
    #[cfg(not(Py_LIMITED_API))]
    #[inline(never)]
    fn find<'py>(
        &mut self,
        py: Python<'py>,
        key: &str,
        second: usize,
    ) -> Option<Bound<'py, PyAny>> {
        let bytes = key.as_bytes();
        let place = &self.places[second % PLACES];
        if place.holds(bytes) {
            self.places[self.last % PLACES].next = second as u16;
            return self.found(second).map(|text| text.bind(py).clone());
        }
        let text = crate::raw::text::new(py, key)?;
        if key.is_ascii() {
            // Python keeps a text's hash with it: this computes it once for all maps.
            text.hash().ok()?;
            self.taken ^= 1;
            let both = [second ^ 1, second];
            let free = both.into_iter().find(|at| self.places[at % PLACES].text.is_none());
            let at = free.unwrap_or(both[self.taken]);
            self.places[self.last % PLACES].next = at as u16;
            self.last = at;
            let place = &mut self.places[at % PLACES];
            self.guess = usize::from(place.next);
            place.bytes = [0; KEY_BYTES];
            place.bytes[..bytes.len()].copy_from_slice(bytes);
            place.length = bytes.len() as u8;
            place.text = Some(text.clone().unbind());
        }
        Some(text)
    }
}

#[cfg(not(Py_LIMITED_API))]
impl Place {
    /// Whether this is the key of these bytes, of which there is one at least. Without a call for so few
    /// of them, by loads that overlap.
    #[inline(always)]
    fn holds(&self, bytes: &[u8]) -> bool {
        if usize::from(self.length) != bytes.len() {
            return false;
        }
        let other = &self.bytes;
        let word = |bytes: &[u8], at: usize| -> u64 {
            bytes[at..].first_chunk().map_or(0, |chunk| u64::from_ne_bytes(*chunk))
        };
        let half = |bytes: &[u8], at: usize| -> u32 {
            bytes[at..].first_chunk().map_or(0, |chunk| u32::from_ne_bytes(*chunk))
        };
        let differs = |at: usize| word(bytes, at) ^ word(other, at);
        match bytes.len() {
            0..4 => {
                let ([first, .., last] | [first @ last]) = bytes else { return false };
                let (middle, end) = (bytes.len() / 2, bytes.len() - 1);
                *first == other[0] && bytes[middle] == other[middle] && *last == other[end]
            }
            4..8 => {
                let tail = bytes.len() - 4;
                half(bytes, 0) == half(other, 0) && half(bytes, tail) == half(other, tail)
            }
            8..=16 => differs(0) | differs(bytes.len() - 8) == 0,
            17..=32 => {
                let tail = bytes.len() - 16;
                differs(0) | differs(8) | differs(tail) | differs(tail + 8) == 0
            }
            length @ 33..=KEY_BYTES => {
                let tail = length - 16;
                let begins = differs(0) | differs(8) | differs(16) | differs(24);
                begins | differs(tail) | differs(tail + 8) == 0
            }
            _ => false,
        }
    }

    /// The same of a short key: with no branch on its length, as what is behind it does not count.
    #[inline(always)]
    fn holds_short(&self, key: ShortText<'_>) -> bool {
        /// From `32 - length` on, what counts of a window.
        static COUNTS: [u8; 64] = {
            let mut counts = [0; 64];
            let mut at = 0;
            while at < 32 {
                counts[at] = 0xFF;
                at += 1;
            }
            counts
        };
        if usize::from(self.length) != key.len() {
            return false;
        }
        let (Some(counts), Some(kept)) =
            (COUNTS[32 - key.len() % 32..].first_chunk::<32>(), self.bytes.first_chunk::<32>())
        else {
            return false;
        };
        let word = |bytes: &[u8; 32], at: usize| -> u64 {
            bytes[at..].first_chunk().map_or(0, |chunk| u64::from_ne_bytes(*chunk))
        };
        let window = key.window();
        let differs = |at: usize| (word(window, at) ^ word(kept, at)) & word(counts, at);
        differs(0) | differs(8) | differs(16) | differs(24) == 0
    }
}

/// The place of a key of 1 to 48 bytes.
#[cfg(not(Py_LIMITED_API))]
#[inline(always)]
fn place(bytes: &[u8]) -> usize {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let length = bytes.len();
    let fold = |hash: u64, word: u64| {
        let wide = u128::from(hash ^ word) * u128::from(ODD);
        wide as u64 ^ (wide >> 64) as u64
    };
    let seed = length as u64;
    let hash = if let (Some(first), Some(last)) =
        (bytes.first_chunk::<8>(), bytes.last_chunk::<8>())
    {
        let mut hash = fold(seed, u64::from_le_bytes(*first));
        let mut rest = &bytes[8..];
        // All but the last eight, which overlap with what is before them.
        while rest.len() > 8
            && let Some((chunk, tail)) = rest.split_first_chunk::<8>()
        {
            hash = fold(hash, u64::from_le_bytes(*chunk));
            rest = tail;
        }
        fold(hash, u64::from_le_bytes(*last))
    } else if let (Some(head), Some(tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (head, tail) = (u32::from_le_bytes(*head), u32::from_le_bytes(*tail));
        fold(seed, u64::from(head) | u64::from(tail) << 32)
    } else {
        let middle = u64::from(bytes[length / 2]);
        fold(seed, u64::from(bytes[0]) | middle << 8 | u64::from(bytes[length - 1]) << 16)
    };
    (hash >> 32) as usize % PLACES
}
