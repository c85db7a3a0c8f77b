//! What the scan finds: where the objects and the symbols of a document are.

/// What the first pass found. Places count from the start of the document.
#[derive(Debug, Default)]
pub(in crate::codec::marshal) struct Tables {
    /// Where each object begins, including its wrappers, by its number.
    pub objects: Vec<u32>,
    /// The symbols by their number.
    pub symbols: Vec<Symbol>,
    /// One bit per object: whether a link names it.
    linked: Vec<u64>,
    /// How many links there are.
    pub links: u64,
    /// The number of the first symbol `E`, which is in nearly every string.
    pub encoding_flag: Option<u32>,
}

/// A symbol at its first occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codec::marshal) struct Symbol {
    /// The place of its bytes.
    pub at: u32,
    /// How many bytes it has.
    pub length: u32,
    /// Whether instance variables follow, which give its encoding.
    pub ivars: bool,
}

impl Tables {
    /// Returns the place and the number of every object that a link names, ordered by place.
    pub fn linked(&self) -> Vec<(u32, u32)> {
        let mut linked = Vec::new();
        for (word, bits) in self.linked.iter().enumerate() {
            let mut bits = *bits;
            while bits != 0 {
                let index = word as u32 * 64 + bits.trailing_zeros();
                linked.push((self.objects[index as usize], index));
                bits &= bits - 1;
            }
        }
        linked.sort_unstable();
        linked
    }

    #[inline(always)]
    pub(super) fn link(&mut self, index: usize) {
        let word = index / 64;
        if self.linked.len() <= word {
            self.linked.resize(word + 1, 0);
        }
        self.linked[word] |= 1 << (index % 64);
        self.links += 1;
    }

    pub(super) fn clear(&mut self) {
        self.objects.clear();
        self.symbols.clear();
        self.linked.clear();
        (self.links, self.encoding_flag) = (0, None);
    }
}
