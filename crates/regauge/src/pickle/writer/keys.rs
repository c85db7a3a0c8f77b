//! The keys of maps that the memo of a document has, so that a key that repeats takes two bytes.

/// How many keys can be kept at a time.
const SLOTS: usize = 1024;

/// Longer keys are written again each time.
pub(super) const KEY_BYTES: usize = 64;

/// How many bytes of keys are kept before no more are taken up: with the memo of whoever loads the
/// pickle in mind, not ours.
const TEXT_BYTES: usize = 64 << 10;

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    start: u32,
    length: u8,
    number: u32,
}

/// A table with one place for each hash.
#[derive(Debug, Default)]
pub(super) struct Keys {
    slots: Vec<Slot>,
    text: Vec<u8>,
}

/// What [`Keys::find`] tells.
pub(super) enum Found {
    /// The key has this number in the memo.
    Number(u32),
    /// It has none; this is its place in the table.
    Place(usize),
    /// It has none, and shall have none.
    Nothing,
}

impl Keys {
    pub fn clear(&mut self) {
        self.slots.clear();
        self.text.clear();
    }

    /// Where the key is in the memo.
    #[inline]
    pub fn find(&self, key: &[u8]) -> Found {
        // An empty key or one of one byte is as short as its number.
        if !(2..=KEY_BYTES).contains(&key.len()) {
            return Found::Nothing;
        }
        let place = hash(key) as usize % SLOTS;
        if let Some(slot) = self.slots.get(place) {
            let start = slot.start as usize;
            if self.text.get(start..start + usize::from(slot.length)) == Some(key) {
                return Found::Number(slot.number);
            }
        }
        if self.text.len() < TEXT_BYTES { Found::Place(place) } else { Found::Nothing }
    }

    /// The key got this number in the memo.
    pub fn insert(&mut self, place: usize, key: &[u8], number: u32) {
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, Slot::default());
        }
        let start = self.text.len() as u32;
        self.text.extend_from_slice(key);
        self.slots[place] = Slot { start, length: key.len() as u8, number };
    }
}

/// Of two bytes or more; any value does, as the table is of fixed size.
#[inline]
fn hash(key: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut mixed = key.len() as u64;
    let mut chunks = key.chunks_exact(8);
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().expect("eight bytes"));
        mixed = (mixed.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    }
    let rest = chunks.remainder();
    let word = match rest.len() {
        0 => 0,
        4.. => {
            let head = u32::from_le_bytes(*rest.first_chunk().expect("four bytes"));
            let tail = u32::from_le_bytes(*rest.last_chunk().expect("four bytes"));
            u64::from(head) << 32 | u64::from(tail)
        }
        length => {
            u64::from(rest[0]) << 16
                | u64::from(rest[length / 2]) << 8
                | u64::from(rest[length - 1])
        }
    };
    mixed = (mixed.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    mixed >> 40
}
