//! The symbols of a document.

use super::Unusual;
use crate::numbers::Numbers;

/// The numbers of symbols, by their text, which is in the output.
pub(super) struct Symbols {
    /// The start and the length of each.
    pub(super) entries: Vec<(u32, u32)>,
    /// Their numbers by the hash of their text.
    hashes: Numbers,
}

impl Symbols {
    pub(super) fn new() -> Symbols {
        Symbols { entries: Vec::new(), hashes: Numbers::new() }
    }

    /// Returns a hash that is not 0.
    #[inline]
    pub(super) fn hash(text: &[u8]) -> u64 {
        let mut hash = text.len() as u64 | 1 << 32;
        for chunk in text.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            hash ^= hash >> 29;
        }
        hash.max(1)
    }

    #[inline]
    pub(super) fn get(&self, out: &[u8], text: &[u8], hash: u64) -> Option<u32> {
        let number = self.hashes.get(hash)?;
        let (start, length) = self.entries[number as usize];
        (&out[start as usize..(start + length) as usize] == text).then_some(number)
    }

    /// Looks up a symbol whose text begins at `start` of the output.
    pub(super) fn add(&mut self, start: usize, length: usize, hash: u64) -> Result<(), Unusual> {
        let number = self.entries.len() as u32;
        // Two texts with the same hash are extremely rare: Ruby can write those.
        if self.hashes.find_or_add(hash, number).is_some() {
            return Err(Unusual);
        }
        let place = |v: usize| u32::try_from(v).map_err(|_| Unusual);
        self.entries.push((place(start)?, place(length)?));
        Ok(())
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.hashes.clear();
    }
}
