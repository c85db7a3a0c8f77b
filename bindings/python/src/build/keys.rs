//! A cache of keys: the same keys recur in map after map, and creating a `str` costs more than
//! finding one. Without it, `loads` takes a third longer if keys repeat. The dicts for recurring
//! sets of keys ([`Shapes`]) are kept with it.
//!
//! A key is usually followed by the same key as last time, so that one is checked first, without
//! waiting for a hash.

use std::cell::Cell;

use pyo3::prelude::*;
use regauge::event::ShortText;

use crate::raw::shape::Shapes;

/// Number of keys in the cache. A key has two possible slots: with one, two keys of a document of a
/// hundred often collided, and were recreated each time.
const PLACES: usize = 2048;
/// The longest key in the cache, in bytes: so that a slot is one cache line.
const KEY_BYTES: usize = 48;

/// The table, with ASCII keys only. The stable ABI cannot tell whether a `str` is ASCII, and so
/// leaves it empty.
#[cfg_attr(Py_LIMITED_API, allow(dead_code))]
pub struct Keys {
    places: Box<[Place; PLACES]>,
    /// The slot of the last key.
    last: usize,
    /// The predicted slot of the next key.
    guess: usize,
    /// Which of two slots was last taken from another key.
    taken: usize,
    pub shapes: Shapes,
}

/// A cached key.
#[cfg_attr(Py_LIMITED_API, allow(dead_code))]
#[repr(align(64))]
struct Place {
    /// Zeros after the key.
    bytes: [u8; KEY_BYTES],
    text: Option<Py<PyAny>>,
    length: u8,
    /// The slot of the key that followed it last time.
    next: u16,
}

thread_local! {
    /// This thread's table, while nobody uses it.
    static IDLE: Cell<Option<Keys>> = const { Cell::new(None) };
}

impl Keys {
    /// Returns this thread's table; a new one if it is in use further up the stack.
    pub fn take() -> Keys {
        IDLE.take().unwrap_or_else(Keys::new)
    }

    /// Returns an empty table.
    #[cold]
    pub fn new() -> Keys {
        let empty = || Place { bytes: [0; KEY_BYTES], text: None, length: 0, next: 0 };
        let places: Box<[Place]> = (0..PLACES).map(|_| empty()).collect();
        let Ok(places) = places.try_into() else { unreachable!("so many were made") };
        Keys { places, last: 0, guess: 0, taken: 0, shapes: Shapes::default() }
    }

    /// Puts the table back for the next user.
    pub fn give_back(self) {
        IDLE.set(Some(self));
    }

    /// Returns the `str` of a key; `None` with Python's error if memory ran out.
    #[inline(always)]
    pub fn get<'py>(&mut self, py: Python<'py>, key: &str) -> Option<Bound<'py, PyAny>> {
        #[cfg(not(Py_LIMITED_API))]
        {
            let bytes = key.as_bytes();
            if bytes.len().wrapping_sub(1) < KEY_BYTES {
                // The table has only ASCII keys, so equal bytes imply that the key is ASCII too.
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

    /// The same for a short key.
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

    /// Returns the text in a slot, whose key another one follows.
    #[cfg(not(Py_LIMITED_API))]
    #[inline(always)]
    fn found(&mut self, at: usize) -> Option<&Py<PyAny>> {
        let place = &self.places[at % PLACES];
        self.last = at;
        self.guess = usize::from(place.next);
        place.text.as_ref()
    }

    /// Handles a key that is not in its first slot: it is in the second, or in neither.
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
            // Python stores a text's hash with it: this computes it once for all maps.
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
    /// Returns whether this is the key with these bytes, of which there is at least one. Compares
    /// such short keys inline, with overlapping loads.
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

    /// The same for a short key: without a branch on its length, because the bytes after it are
    /// masked.
    #[inline(always)]
    fn holds_short(&self, key: ShortText<'_>) -> bool {
        /// The relevant part of a window starts at `32 - length`.
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

/// Returns the slot of a key of 1 to 48 bytes.
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
        // All but the last eight, which overlap with the preceding ones.
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
