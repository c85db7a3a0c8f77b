//! Keys that came before: the same keys stand in map after map, and making a `str` costs more than
//! finding one. Without this, `loads` takes a third more time where keys repeat.

use std::cell::Cell;

use pyo3::prelude::*;

/// How many keys are remembered: 32 KiB beside the texts. A key that falls on another's place
/// replaces it.
const SLOTS: usize = 2048;
/// The longest key that is remembered, in bytes.
const KEY_BYTES: usize = 64;

struct Slot {
    hash: u64,
    key: Option<Py<PyAny>>,
}

/// The table: direct mapped, keys of ASCII only.
pub struct Keys(Box<[Slot]>);

thread_local! {
    /// The table of this thread, when nobody uses it.
    static IDLE: Cell<Option<Keys>> = const { Cell::new(None) };
}

impl Keys {
    /// This thread's table; a new one if it is in use further down the stack.
    pub fn take() -> Keys {
        IDLE.take()
            .unwrap_or_else(|| Keys((0..SLOTS).map(|_| Slot { hash: 0, key: None }).collect()))
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
                let hash = hash(bytes);
                let slot = &self.0[(hash >> 32) as usize % SLOTS];
                // The table has ASCII only, so equal bytes say that the key is ASCII too.
                if slot.hash == hash
                    && let Some(found) = &slot.key
                    && same(crate::raw::view::ascii(found), bytes)
                {
                    return Some(found.bind(py).clone());
                }
                return self.add(py, key, hash);
            }
        }
        crate::raw::text::new(py, key)
    }

    #[cfg(not(Py_LIMITED_API))]
    #[inline(never)]
    fn add<'py>(&mut self, py: Python<'py>, key: &str, hash: u64) -> Option<Bound<'py, PyAny>> {
        let text = crate::raw::text::new(py, key)?;
        if key.is_ascii() {
            // Python keeps a text's hash with it: this computes it once for all maps.
            text.hash().ok()?;
            let kept = Some(text.clone().unbind());
            self.0[(hash >> 32) as usize % SLOTS] = Slot { hash, key: kept };
        }
        Some(text)
    }
}

/// Whether the bytes are the same, without a call for so few of them.
#[cfg(not(Py_LIMITED_API))]
#[inline(always)]
fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let word = |bytes: &[u8], at: usize| -> u64 {
        bytes[at..].first_chunk().map_or(0, |chunk| u64::from_ne_bytes(*chunk))
    };
    match one.len() {
        0..8 => one.iter().zip(other).all(|(one, other)| one == other),
        8..=16 => {
            let tail = one.len() - 8;
            word(one, 0) == word(other, 0) && word(one, tail) == word(other, tail)
        }
        _ => one == other,
    }
}

/// A number that keys of up to 64 bytes are told apart by; who finds a key compares its bytes.
#[cfg(not(Py_LIMITED_API))]
#[inline(always)]
fn hash(bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let length = bytes.len();
    let fold = |hash: u64, word: u64| {
        let wide = u128::from(hash ^ word) * u128::from(ODD);
        wide as u64 ^ (wide >> 64) as u64
    };
    let seed = (length as u64).wrapping_mul(ODD);
    if length >= 8 {
        let mut hash = seed;
        let mut rest = bytes;
        while let Some((chunk, tail)) = rest.split_first_chunk::<8>()
            && !tail.is_empty()
        {
            hash = fold(hash, u64::from_le_bytes(*chunk));
            rest = tail;
        }
        let last = bytes.last_chunk::<8>().map_or(0, |chunk| u64::from_le_bytes(*chunk));
        fold(fold(hash, last), ODD)
    } else {
        let word = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(head), Some(tail)) => {
                u64::from(u32::from_le_bytes(*head)) | u64::from(u32::from_le_bytes(*tail)) << 32
            }
            _ => {
                let middle = bytes[length / 2];
                u64::from(bytes[0]) | u64::from(middle) << 8 | u64::from(bytes[length - 1]) << 16
            }
        };
        fold(fold(seed, word), ODD)
    }
}
