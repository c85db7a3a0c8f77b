//! Keys that came before: the same keys stand in map after map, and making a `str` costs more than
//! finding one. Without this, `loads` takes a third more time where keys repeat. The dicts of keys
//! that came before ([`Shapes`]) are kept with them.

use std::cell::Cell;

use pyo3::prelude::*;

use crate::raw::shape::Shapes;

/// How many keys are remembered: 16 KiB beside the texts, so that the first-level cache has room for
/// others. A key that falls on another's place replaces it.
const SLOTS: usize = 2048;
/// The longest key that is remembered, in bytes.
#[cfg(not(Py_LIMITED_API))]
const KEY_BYTES: usize = 64;

/// The table: direct mapped, keys of ASCII only. The stable ABI cannot see the text of a `str`, and
/// so leaves it empty.
#[cfg_attr(Py_LIMITED_API, allow(dead_code))]
pub struct Keys {
    texts: Box<[Option<Py<PyAny>>]>,
    pub shapes: Shapes,
}

thread_local! {
    /// The table of this thread, when nobody uses it.
    static IDLE: Cell<Option<Keys>> = const { Cell::new(None) };
}

impl Keys {
    /// This thread's table; a new one if it is in use further down the stack.
    pub fn take() -> Keys {
        IDLE.take().unwrap_or_else(|| Keys {
            texts: (0..SLOTS).map(|_| None).collect(),
            shapes: Shapes::default(),
        })
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
                let place = place(bytes);
                // The table has ASCII only, so equal bytes say that the key is ASCII too.
                if let Some(found) = &self.texts[place]
                    && same(crate::raw::view::ascii(found), bytes)
                {
                    return Some(found.bind(py).clone());
                }
                return self.add(py, key, place);
            }
        }
        crate::raw::text::new(py, key)
    }

    #[cfg(not(Py_LIMITED_API))]
    #[inline(never)]
    fn add<'py>(&mut self, py: Python<'py>, key: &str, place: usize) -> Option<Bound<'py, PyAny>> {
        let text = crate::raw::text::new(py, key)?;
        if key.is_ascii() {
            // Python keeps a text's hash with it: this computes it once for all maps.
            text.hash().ok()?;
            self.texts[place] = Some(text.clone().unbind());
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

/// The place of a key of 1 to 64 bytes.
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
    (hash >> 32) as usize % SLOTS
}
