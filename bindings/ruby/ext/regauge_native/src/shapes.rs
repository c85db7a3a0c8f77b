//! Hashes with the same keys: records of a kind come again and again.
//!
//! To make a copy of a hash that had the same keys, and to put the values in, costs a fraction of
//! looking up every key anew. Keys are interned, so the same ones are the same objects.
//!
//! A list of keys gets its template when it comes a second time, so documents that never repeat
//! themselves pay for a comparison only.

use std::cell::Cell;

use crate::ruby::{self, VALUE};

/// How many pairs a hash may have to be remembered.
const PAIRS: usize = 48;
/// How many lists of keys are remembered.
const SHAPES: usize = 64;
/// The fraction of the golden ratio in 64 bits, odd.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// A list of keys, and a hash that has them.
struct Shape {
    /// Zero where there is none.
    template: Cell<VALUE>,
    count: Cell<usize>,
    keys: [Cell<VALUE>; PAIRS],
    /// A mix of the keys that came last and are not those.
    candidate: Cell<u64>,
}

impl Shape {
    fn is(&self, pairs: &[VALUE]) -> bool {
        self.count.get() * 2 == pairs.len()
            && pairs.chunks_exact(2).zip(&self.keys).all(|(pair, key)| pair[0] == key.get())
    }
}

/// Direct mapped. What is remembered is visible to the collector, which does not move it.
pub struct Shapes(Box<[Shape; SHAPES]>);

impl Shapes {
    /// None yet.
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

    /// A hash of these pairs (key, value, key, …), whose keys are interned, if the same keys came
    /// before.
    #[inline]
    pub fn hash(&self, pairs: &[VALUE]) -> Option<VALUE> {
        let shape = self.place(pairs)?;
        shape.is(pairs).then(|| ruby::hash_like(shape.template.get(), pairs))
    }

    /// Remembers a hash that was just made of these pairs, if they come again.
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

    /// Shows the collector what is remembered.
    pub fn mark(&self) {
        for shape in self.0.iter().filter(|shape| shape.template.get() != 0) {
            ruby::mark(shape.template.get());
            shape.keys[..shape.count.get()].iter().for_each(|key| ruby::mark(key.get()));
        }
    }
}
