//! Iterates over the pairs of a hash directly in Ruby's memory (see [`super::layout`]).
//!
//! `rb_hash_foreach` sets up a jump target for every hash and calls a function for every pair: for
//! a document of many small hashes, that was more than half of the time of writing it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use super::container::{hash, hash_insert};
use super::jump::{Jump, keep};
use super::layout::{SMALL, pairs_of, table_of, word};
use super::number::integer;
use super::object::{call, id};
use super::{NIL, VALUE};

/// Whether hashes have the expected layout.
static IS_KNOWN: AtomicBool = AtomicBool::new(false);
/// The type pointer of a table that compares its keys as usual; 0 if unknown.
static USUAL_TYPE: AtomicUsize = AtomicUsize::new(0);

/// `RHASH_ST_TABLE_FLAG`: the hash has a table.
const HAS_TABLE: VALUE = 1 << 15;
/// Without a table: the number of pairs, and of slots in use; four bits each.
const COUNT_SHIFT: u32 = 16;
const BOUND_SHIFT: u32 = 20;
/// The flags that say how pairs are stored.
const SHAPE: VALUE = HAS_TABLE | 0xF << COUNT_SHIFT | 0xF << BOUND_SHIFT;

/// Iterates over the pairs of a hash. Ruby code may run between two of them: changing the hash then
/// ends the iteration.
pub struct Pairs {
    hash: VALUE,
    shape: VALUE,
    /// For a table: how often it was rebuilt, the number of its pairs, the first slot and the
    /// bound.
    table: [VALUE; 4],
    index: usize,
    count: usize,
    /// The last key returned.
    last: VALUE,
    is_whole: bool,
}

impl Pairs {
    /// Returns the pairs of a hash; `None` if they have to be requested one by one: in an unknown
    /// Ruby, and for a hash from which pairs were deleted.
    #[inline(always)]
    pub fn of(hash: VALUE) -> Option<Pairs> {
        if !IS_KNOWN.load(Relaxed) {
            return None;
        }
        let shape = word(hash, 0) & SHAPE;
        let (table, count, places) = if shape & HAS_TABLE == 0 {
            ([0; 4], shape >> COUNT_SHIFT & 0xF, shape >> BOUND_SHIFT & 0xF)
        } else {
            let table = numbers(hash);
            let [_, count, first, end] = table;
            (table, count, end.wrapping_sub(first))
        };
        let count = count as usize;
        (count == places as usize).then_some(Pairs {
            hash,
            shape,
            table,
            index: 0,
            count,
            last: NIL,
            is_whole: true,
        })
    }

    /// Returns how many there are.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns whether the hash was unchanged up to the last pair returned.
    #[inline(always)]
    pub fn are_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns whether the hash is unchanged after the last pair; takes whether Ruby code may have run
    /// since the iteration began.
    #[inline(always)]
    pub fn are_whole_after(&self, code: bool) -> bool {
        self.is_whole && (!code || self.index == 0 || !self.has_changed_since())
    }

    #[cold]
    fn has_changed_since(&self) -> bool {
        let has_table = self.shape & HAS_TABLE != 0;
        if self.has_changed(has_table) {
            return true;
        }
        let (first, step) = pairs_of(self.hash, has_table);
        let at = (self.index - 1 + self.table[2] as usize) * step;
        // SAFETY: as in `next_after`, of whose pairs this is the last one.
        unsafe { *first.add(at) != self.last }
    }

    /// Returns the next pair. Both are valid as long as the hash or the caller holds them.
    #[inline(always)]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<(VALUE, VALUE)> {
        self.next_after(true)
    }

    /// Returns the next pair; takes whether Ruby code may have run since the iteration began.
    #[inline(always)]
    pub fn next_after(&mut self, code: bool) -> Option<(VALUE, VALUE)> {
        if self.index >= self.count {
            return None;
        }
        let has_table = self.shape & HAS_TABLE != 0;
        if code && self.has_changed(has_table) {
            self.is_whole = false;
            return None;
        }
        let (first, step) = pairs_of(self.hash, has_table);
        let at = (self.index + self.table[2] as usize) * step;
        // SAFETY: the hash has `count` contiguous pairs, which was checked when the iteration began
        // and whenever something may have changed since, and is alive, because its caller holds it.
        unsafe {
            // One was removed and another added: Ruby may have moved up those after the removed
            // one.
            if code && self.index > 0 && *first.add(at - step) != self.last {
                self.is_whole = false;
                return None;
            }
            self.index += 1;
            self.last = *first.add(at);
            Some((self.last, *first.add(at + 1)))
        }
    }

    #[inline(always)]
    fn has_changed(&self, has_table: bool) -> bool {
        word(self.hash, 0) & SHAPE != self.shape || has_table && numbers(self.hash) != self.table
    }
}

/// Returns the numbers of a table (`st_table`): see [`Pairs::table`].
#[inline(always)]
fn numbers(hash: VALUE) -> [VALUE; 4] {
    let table = table_of(hash);
    [word(table, 0), word(table, 2), word(table, 4), word(table, 5)]
}

/// Returns whether a hash is known to compare its keys as usual; `false` also if that cannot be
/// determined.
#[inline(always)]
pub fn is_usual(hash: VALUE) -> bool {
    // Hashes that compare by identity always have a table.
    IS_KNOWN.load(Relaxed)
        && (word(hash, 0) & HAS_TABLE == 0
            || word(table_of(hash), 1) as usize == USUAL_TYPE.load(Relaxed))
}

/// Learns whether pairs have the expected layout, after [`super::layout::learn_pairs`].
///
/// # Errors
/// None in an intact Ruby.
pub fn learn_walks() -> Result<(), Jump> {
    if !super::layout::are_pairs_known() {
        return Ok(());
    }
    IS_KNOWN.store(true, Relaxed);
    let mut known = true;
    for count in [0, 1, 3, SMALL, SMALL + 1, SMALL + 3, 100] {
        known &= is_walked_as_known(count)?;
    }
    let by_identity = sample(SMALL + 3)?;
    let usual = sample(SMALL + 3)?;
    call(by_identity, id(c"compare_by_identity"), &[])?;
    let kinds = [usual, by_identity].map(|hash| word(table_of(hash), 1) as usize);
    if kinds[0] != kinds[1] {
        USUAL_TYPE.store(kinds[0], Relaxed);
    }
    keep(by_identity);
    keep(usual);
    IS_KNOWN.store(known, Relaxed);
    Ok(())
}

/// Returns a sample's number for a slot.
fn number(at: usize) -> VALUE {
    integer(0x2468_ACE0_0000 + at as i64)
}

/// Creates a hash of numbers.
fn sample(count: usize) -> Result<VALUE, Jump> {
    let pairs: Vec<VALUE> = (0..2 * count).map(number).collect();
    let sample = hash();
    hash_insert(sample, &pairs, true)?;
    Ok(sample)
}

/// Checks that an iteration returns all pairs of a hash, notices additions and removals, and
/// declines a hash from which one was deleted.
fn is_walked_as_known(count: usize) -> Result<bool, Jump> {
    let hash = sample(count)?;
    let Some(mut pairs) = Pairs::of(hash) else { return Ok(false) };
    let (mut known, mut found) = (pairs.count() == count, 0);
    while known && let Some(pair) = pairs.next() {
        known = pair == (number(2 * found), number(2 * found + 1));
        found += 1;
    }
    known &= found == count && pairs.are_whole();
    keep(hash);
    if count == 0 {
        return Ok(known);
    }
    let (grown, shrunk) = (sample(count)?, sample(count)?);
    let (Some(mut of_grown), Some(mut of_shrunk)) = (Pairs::of(grown), Pairs::of(shrunk)) else {
        return Ok(false);
    };
    hash_insert(grown, &[number(1), NIL], true)?;
    known &= of_grown.next().is_none() && !of_grown.are_whole();
    call(shrunk, id(c"delete"), &[number(count / 2 * 2)])?;
    known &= of_shrunk.next().is_none() && !of_shrunk.are_whole();
    known &= count == 1 || Pairs::of(shrunk).is_none();
    keep(grown);
    keep(shrunk);
    Ok(known)
}
