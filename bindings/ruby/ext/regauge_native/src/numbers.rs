//! Numbers of earlier items, by identity: for links.

/// Maps keys to numbers: open addressing, at most half full. A slot counts only in the generation
/// that wrote it, so that clearing costs nothing.
pub struct Numbers {
    slots: Vec<Slot>,
    count: u32,
    generation: u32,
}

#[derive(Clone, Copy)]
struct Slot {
    key: u64,
    number: u32,
    generation: u32,
}

/// Number of slots that are kept for the next document: 8 MiB, for half as many keys.
const KEPT_SLOTS: usize = 1 << 19;

impl Numbers {
    /// Creates an empty table.
    pub fn new() -> Numbers {
        Numbers { slots: Numbers::slots(64), count: 0, generation: 1 }
    }

    fn slots(count: usize) -> Vec<Slot> {
        vec![Slot { key: 0, number: 0, generation: 0 }; count]
    }

    /// Returns a key's first slot: the highest bits of the product, which depend on all bits of an
    /// address, and on those of an immediate float.
    #[inline(always)]
    fn place(&self, key: u64) -> usize {
        let bits = self.slots.len().trailing_zeros();
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - bits)) as usize
    }

    /// Returns the slot of a key, or the free one where it belongs.
    #[inline(always)]
    fn find(&self, key: u64) -> (usize, Option<u32>) {
        let mask = self.slots.len() - 1;
        let mut at = self.place(key);
        loop {
            let slot = self.slots[at];
            if slot.generation != self.generation {
                return (at, None);
            }
            if slot.key == key {
                return (at, Some(slot.number));
            }
            at = (at + 1) & mask;
        }
    }

    /// Returns the number of a key.
    #[inline(always)]
    pub fn get(&self, key: u64) -> Option<u32> {
        self.find(key).1
    }

    /// Returns the number of a key, or `None` after assigning `number`.
    #[inline(always)]
    pub fn find_or_add(&mut self, key: u64, number: u32) -> Option<u32> {
        let (at, found) = self.find(key);
        if found.is_none() {
            self.slots[at] = Slot { key, number, generation: self.generation };
            self.count += 1;
            if self.count as usize * 2 > self.slots.len() {
                self.grow();
            }
        }
        found
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let larger = Numbers::slots(self.slots.len() * 4);
        let old = std::mem::replace(&mut self.slots, larger);
        for slot in old.into_iter().filter(|slot| slot.generation == self.generation) {
            let (at, _) = self.find(slot.key);
            self.slots[at] = slot;
        }
    }

    /// Clears the table, and frees memory that a large document used.
    pub fn clear(&mut self) {
        self.count = 0;
        match self.generation.checked_add(1) {
            Some(next) if self.slots.len() <= KEPT_SLOTS => self.generation = next,
            _ => *self = Numbers::new(),
        }
    }
}

/// Numbers by the address of an object. Objects of a document are usually allocated next to one
/// another in order of appearance, and so are their numbers here: a hash table would miss the cache
/// for each of a hundred thousand objects, which was half of the time of writing them.
pub struct Addresses {
    /// The blocks by the addresses of their memory, shifted by [`BLOCK_BITS`].
    blocks: Numbers,
    /// The numbers, [`PLACES`] per block: in the lower half of a word, with the generation that
    /// wrote it in the upper half.
    words: Vec<u64>,
    /// The number of blocks.
    count: u32,
    generation: u32,
    /// Recently used blocks, by the lowest bits of their key; a key of 0 for none.
    recent: [(u64, u32); RECENT],
}

/// A block is 4 KiB.
const BLOCK_BITS: u32 = 12;
/// Objects begin at multiples of eight bytes.
const PLACES: usize = 1 << (BLOCK_BITS - 3);
const RECENT: usize = 16;
/// Number of words that are kept for the next document: 16 MiB.
const KEPT_WORDS: usize = 1 << 21;

impl Addresses {
    /// Creates an empty table.
    pub fn new() -> Addresses {
        Addresses {
            blocks: Numbers::new(),
            words: Vec::new(),
            count: 0,
            generation: 1,
            recent: [(0, 0); RECENT],
        }
    }

    /// Returns the number of the object at an address, or `None` after assigning `number`.
    #[inline(always)]
    pub fn find_or_add(&mut self, address: u64, number: u32) -> Option<u32> {
        let key = address >> BLOCK_BITS;
        let (recent, block) = self.recent[key as usize % RECENT];
        let block = if recent == key { block } else { self.block(key) };
        let at = block as usize * PLACES + (address >> 3) as usize % PLACES;
        let word = &mut self.words[at];
        if *word >> 32 == u64::from(self.generation) {
            return Some(*word as u32);
        }
        *word = u64::from(self.generation) << 32 | u64::from(number);
        None
    }

    /// Assigns another number to the object at an address that has one.
    pub fn renumber(&mut self, address: u64, number: u32) {
        let block = self.block(address >> BLOCK_BITS) as usize;
        self.words[block * PLACES + (address >> 3) as usize % PLACES] =
            u64::from(self.generation) << 32 | u64::from(number);
    }

    #[inline(never)]
    fn block(&mut self, key: u64) -> u32 {
        let block = self.blocks.find_or_add(key, self.count).unwrap_or_else(|| {
            self.count += 1;
            let words = self.count as usize * PLACES;
            if self.words.len() < words {
                self.words.resize(words, 0);
            }
            self.count - 1
        });
        self.recent[key as usize % RECENT] = (key, block);
        block
    }

    /// Clears the table, and frees memory that a large document used.
    pub fn clear(&mut self) {
        match self.generation.checked_add(1) {
            Some(next) if self.words.len() <= KEPT_WORDS => {
                self.generation = next;
                self.blocks.clear();
                self.count = 0;
                self.recent = [(0, 0); RECENT];
            }
            _ => *self = Addresses::new(),
        }
    }
}
