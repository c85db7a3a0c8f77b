//! Hashes whose keys came before in the same order: documents repeat the shape of their maps.
//!
//! To make a hash of pairs Ruby computes the hash value of every key. Where a map has just the keys
//! of an earlier one, that has been done: an empty-handed copy of the earlier hash is kept, and the
//! next of its kind is a copy of that copy, whose values are then set in place. On the data that the
//! benches run on, this makes building hashes about twice as fast.
//!
//! Where the values of a hash lie is Ruby's own affair. So [`init`] looks at hashes that it knows,
//! and all of this stays unused where they are not as expected: then hashes are made pair by pair.
//!
//! A leaf module: it may use `unsafe`, each block with its reason.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::ruby::{self, VALUE};

/// How many shapes are remembered.
const SHAPES: usize = 256;
/// Larger maps are rarely alike.
const KEYS_MAX: usize = 64;
/// Up to so many pairs a hash of Ruby's is a plain list (`RHASH_AR_TABLE_MAX_SIZE`).
const LIST_MAX: usize = 8;
/// `RHASH_ST_TABLE_FLAG`.
const TABLE_FLAG: VALUE = 1 << 15;

/// Where the pairs of a small hash lie.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Layout {
    /// Not as expected: nothing here is used.
    Unknown,
    /// Ruby 3.1 and 3.2: behind a pointer in the third word, after a word of hints.
    Pointer,
    /// Ruby 3.3 and later: in the object itself, after three words and one of hints.
    Inside,
}

static LAYOUT: AtomicU8 = AtomicU8::new(Layout::Unknown as u8);

fn layout() -> Layout {
    match LAYOUT.load(Ordering::Relaxed) {
        1 => Layout::Pointer,
        2 => Layout::Inside,
        _ => Layout::Unknown,
    }
}

/// The pairs of a hash in memory: the first key, and the words from one key to the next. The value
/// is the word behind its key.
#[derive(Clone, Copy)]
struct Pairs {
    first: *mut VALUE,
    stride: usize,
}

impl Pairs {
    /// Those of a hash that is not empty and has never lost a pair.
    fn of(hash: VALUE, layout: Layout) -> Pairs {
        let words = hash as *mut VALUE;
        // SAFETY: an object begins with its flags.
        let flags = unsafe { *words };
        if flags & TABLE_FLAG != 0 {
            // SAFETY: the lock; a hash with a table, so that nothing is converted.
            let table = unsafe { rb_sys::rb_hash_tbl(hash, c"".as_ptr(), 0) };
            // SAFETY: the table lives as long as the hash has it. An entry is three words: the
            // hash value, the key and the value.
            let first = unsafe { (*table).entries.cast::<VALUE>().add(1) };
            return Pairs { first, stride: 3 };
        }
        let first = match layout {
            // SAFETY: `init` saw that hashes of this Ruby look so.
            Layout::Inside => unsafe { words.add(4) },
            // SAFETY: the same.
            _ => unsafe { (*words.add(2) as *mut VALUE).add(1) },
        };
        Pairs { first, stride: 2 }
    }

    #[inline(always)]
    fn key(self, index: usize) -> VALUE {
        // SAFETY: callers give indexes below the size of the hash.
        unsafe { *self.first.add(index * self.stride) }
    }

    #[inline(always)]
    fn value(self, index: usize) -> VALUE {
        // SAFETY: the same.
        unsafe { *self.first.add(index * self.stride + 1) }
    }

    #[inline(always)]
    fn set(self, index: usize, value: VALUE) {
        // SAFETY: the same; whoever sets tells the collector.
        unsafe { *self.first.add(index * self.stride + 1) = value }
    }

    /// Whether the keys are those of these pairs (key, value, key, …), in their order.
    #[inline(always)]
    fn have_keys_of(self, pairs: &[VALUE]) -> bool {
        pairs.iter().step_by(2).enumerate().all(|(index, key)| self.key(index) == *key)
    }
}

/// Looks whether hashes are as expected. `version` is Ruby's, as 303 for 3.3.
pub fn init(version: u32) {
    let layout = match version {
        301..=302 => Layout::Pointer,
        303..=304 => Layout::Inside,
        _ => return,
    };
    for size in [1, 2, 5, LIST_MAX, LIST_MAX + 1, 20, KEYS_MAX] {
        let pairs: Vec<VALUE> = (0..size as i64)
            .flat_map(|n| [n * 2 + 1000, n * 7 + 5000].map(ruby::integer))
            .collect();
        let hash = ruby::hash();
        if ruby::hash_insert(hash, &pairs, true).is_err() {
            return;
        }
        // SAFETY: a hash begins with its flags.
        let is_table = unsafe { *(hash as *const VALUE) } & TABLE_FLAG != 0;
        if is_table != (size > LIST_MAX) || ruby::hash_size(hash) != size {
            return;
        }
        let copy = copy_of(hash);
        for one in [hash, copy] {
            let found = Pairs::of(one, layout);
            let good = (0..size).all(|index| {
                found.key(index) == pairs[index * 2] && found.value(index) == pairs[index * 2 + 1]
            });
            if !good {
                return;
            }
        }
        ruby::keep(hash);
        ruby::keep(copy);
    }
    LAYOUT.store(layout as u8, Ordering::Relaxed);
}

fn copy_of(hash: VALUE) -> VALUE {
    // SAFETY: the lock; no exception: a plain hash, without a method of anybody's.
    unsafe { rb_sys::rb_hash_dup(hash) }
}

/// A shape that came before.
struct Shape {
    /// What the keys were, in short, when they came last.
    seen: Cell<u64>,
    /// A hash with those keys, and `nil` for every value; 0 until they came twice.
    hash: Cell<VALUE>,
}

/// Shapes that came before. Direct mapped.
pub struct Shapes(Box<[Shape; SHAPES]>);

/// What to do with the hash of pairs that are no copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missed {
    /// Nothing.
    Forget,
    /// These keys came a second time: keep a copy at this place.
    Keep(usize),
}

impl Shapes {
    /// None yet.
    pub fn new() -> Shapes {
        Shapes(Box::new([const { Shape { seen: Cell::new(0), hash: Cell::new(0) } }; SHAPES]))
    }

    /// A new hash of these pairs (key, value, key, …) where their keys came before. All of them
    /// have to be visible to the collector, and the keys to be interned.
    #[inline]
    pub fn hash(&self, pairs: &[VALUE]) -> Result<VALUE, Missed> {
        let size = pairs.len() / 2;
        let layout = layout();
        if size == 0 || size > KEYS_MAX || layout == Layout::Unknown {
            return Err(Missed::Forget);
        }
        let (first, last) = (pairs[0], pairs[pairs.len() - 2]);
        let mixed = (first ^ last.rotate_left(21) ^ (size as u64) << 57).wrapping_mul(MIX);
        let place = (mixed >> (64 - SHAPES.trailing_zeros())) as usize;
        let shape = &self.0[place];
        let known = shape.hash.get();
        if known != 0
            && ruby::hash_size(known) == size
            && Pairs::of(known, layout).have_keys_of(pairs)
        {
            let hash = copy_of(known);
            let found = Pairs::of(hash, layout);
            for (index, value) in pairs.iter().skip(1).step_by(2).enumerate() {
                found.set(index, *value);
                if ruby::is_heap(*value) {
                    // SAFETY: the lock; the hash has just got the value.
                    unsafe { rb_sys::rb_gc_writebarrier(hash, *value) };
                }
            }
            return Ok(hash);
        }
        let seen = pairs.iter().step_by(2).fold(mixed, |sum, key| (sum ^ key).wrapping_mul(MIX));
        Err(match shape.seen.replace(seen) == seen {
            true => Missed::Keep(place),
            false => Missed::Forget,
        })
    }

    /// Keeps a copy of a hash that was just made, if its keys were all different.
    #[cold]
    pub fn keep(&self, place: usize, hash: VALUE, pairs: &[VALUE]) {
        let size = pairs.len() / 2;
        if ruby::hash_size(hash) != size {
            return;
        }
        let copy = copy_of(hash);
        let found = Pairs::of(copy, layout());
        // Text that is a key is there once, as the hash has it: keys that are no text are not kept.
        if found.have_keys_of(pairs) {
            (0..size).for_each(|index| found.set(index, ruby::NIL));
            self.0[place].hash.set(copy);
        }
        ruby::keep(copy);
    }

    /// Shows what is kept to the collector.
    pub fn mark(&self) {
        for shape in self.0.iter().filter(|shape| shape.hash.get() != 0) {
            ruby::mark(shape.hash.get());
        }
    }
}

/// The fraction of the golden ratio in 64 bits, odd.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
