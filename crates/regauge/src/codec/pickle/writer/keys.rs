//! Map keys that are in the memo of a document, so that a repeated key takes two bytes.

/// The most keys kept at a time.
const SLOTS: usize = 1024;

/// Longer keys are written in full each time.
pub(super) const KEY_BYTES: usize = 64;

/// The most bytes of keys that are kept. This limits the memo of the loading program, not our
/// memory.
const TEXT_BYTES: usize = 64 << 10;

#[derive(Clone, Copy, Debug)]
struct Slot {
    start: u32,
    length: u8,
    number: u32,
}

/// A table with one slot per hash. A document of a few keys initialises only the two kilobytes of `indexes`.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// The index of each place's slot, and one more; 0 if it has none.
    indexes: Vec<u16>,
    slots: Vec<Slot>,
    text: Vec<u8>,
}

/// The result of [`Keys::find`].
pub(super) enum Found {
    /// The key has this number in the memo.
    Number(u32),
    /// It has none; this is its slot in the table.
    Place(usize),
    /// It has none, and will not get one.
    Nothing,
}

impl Keys {
    pub fn clear(&mut self) {
        self.indexes.clear();
        self.slots.clear();
        self.text.clear();
    }

    /// Looks up the key in the memo.
    #[inline]
    pub fn find(&self, key: &[u8]) -> Found {
        // An empty or one-byte key is as short as its number.
        if !(2..=KEY_BYTES).contains(&key.len()) {
            return Found::Nothing;
        }
        let place = hash(key) as usize % SLOTS;
        if let Some(slot) = self.indexes.get(place).and_then(|index| self.slot(*index)) {
            let start = slot.start as usize;
            if self.text.get(start..start + usize::from(slot.length)) == Some(key) {
                return Found::Number(slot.number);
            }
        }
        if self.text.len() < TEXT_BYTES { Found::Place(place) } else { Found::Nothing }
    }

    #[inline]
    fn slot(&self, index: u16) -> Option<&Slot> {
        self.slots.get(usize::from(index).wrapping_sub(1))
    }

    /// Records that the key has this number in the memo.
    pub fn insert(&mut self, place: usize, key: &[u8], number: u32) {
        if self.indexes.is_empty() {
            self.indexes.resize(SLOTS, 0);
        }
        let slot = Slot { start: self.text.len() as u32, length: key.len() as u8, number };
        self.text.extend_from_slice(key);
        let index = &mut self.indexes[place];
        if *index == 0 {
            self.slots.push(slot);
            *index = self.slots.len() as u16;
        } else {
            self.slots[usize::from(*index) - 1] = slot;
        }
    }
}

/// Hashes two bytes or more; any value will do, because the table has a fixed size.
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
