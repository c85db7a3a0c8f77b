//! Hashes with the same keys: similar records recur.
//!
//! Copying a hash with the same keys, and filling in the values, costs a fraction of looking up
//! every key again. Keys are interned, so equal ones are the same object.
//!
//! A list of keys gets its template when it occurs a second time, so documents that never repeat
//! themselves pay only for a comparison.

use std::cell::Cell;

use crate::ruby::{self, VALUE};

/// Maximum number of pairs in a cached hash.
const PAIRS: usize = 48;
/// Number of cached lists of keys.
const SHAPES: usize = 64;
/// The fraction of the golden ratio in 64 bits, odd.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// A list of keys, and a hash that has them.
struct Shape {
    /// Zero for none.
    template: Cell<VALUE>,
    count: Cell<usize>,
    keys: [Cell<VALUE>; PAIRS],
    /// A hash of the most recent keys that differ from those.
    candidate: Cell<u64>,
}

impl Shape {
    fn is(&self, pairs: &[VALUE]) -> bool {
        self.count.get() * 2 == pairs.len()
            && pairs.chunks_exact(2).zip(&self.keys).all(|(pair, key)| pair[0] == key.get())
    }
}

/// Direct mapped. Cached objects are visible to the collector, which does not move them.
pub struct Shapes(Box<[Shape; SHAPES]>);

impl Shapes {
    /// Creates an empty cache.
    pub fn new() -> Shapes {
        let shape = || Shape {
            template: Cell::new(0),
            count: Cell::new(0),
            keys: [const { Cell::new(0) }; PAIRS],
            candidate: Cell::new(0),
        };
        Shapes(Box::new(std::array::from_fn(|_| shape())))
    }

    fn place(&self, pairs: &[VALUE]) -> Option<&Shape> {
        let count = pairs.len() / 2;
        if count == 0 || count > PAIRS {
            return None;
        }
        let ends = pairs[0] ^ pairs[pairs.len() - 2].rotate_left(21);
        let mixed = (ends ^ (count as u64) << 54).wrapping_mul(MIX);
        Some(&self.0[(mixed >> (64 - SHAPES.trailing_zeros())) as usize])
    }

    /// Builds a hash from these pairs (key, value, key, …), whose keys are interned, if the same
    /// keys occurred before.
    #[inline]
    pub fn hash(&self, pairs: &[VALUE]) -> Option<VALUE> {
        let shape = self.place(pairs)?;
        shape.is(pairs).then(|| ruby::hash_like(shape.template.get(), pairs))
    }

    /// Caches a hash that was just built from these pairs, if they recur.
    pub fn learn(&self, hash: VALUE, pairs: &[VALUE]) {
        let Some(shape) = self.place(pairs) else { return };
        let mix = |mixed: u64, pair: &[VALUE]| (mixed ^ pair[0]).wrapping_mul(MIX);
        let candidate = pairs.chunks_exact(2).fold(1, mix);
        if shape.candidate.replace(candidate) != candidate
            || ruby::hash_size(hash) * 2 != pairs.len()
        {
            return;
        }
        let Some(template) = ruby::template_of(hash, pairs) else { return };
        // The keys are visible in the template until they are here.
        shape.template.set(template);
        shape.count.set(pairs.len() / 2);
        shape.keys.iter().zip(pairs.chunks_exact(2)).for_each(|(key, pair)| key.set(pair[0]));
    }

    /// Marks the cached objects for the collector.
    pub fn mark(&self) {
        for shape in self.0.iter().filter(|shape| shape.template.get() != 0) {
            ruby::mark(shape.template.get());
            shape.keys[..shape.count.get()].iter().for_each(|key| ruby::mark(key.get()));
        }
    }
}
