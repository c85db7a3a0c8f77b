//! The memory layout of hashes in this Ruby: allows creating one as a copy of another with the same
//! keys, without looking up any of them.
//!
//! Ruby has no function for that. The layout is learned from sample hashes, and is not used if they
//! do not look as expected.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::container::{hash, hash_insert};
use super::jump::keep;
use super::number::integer;
use super::object::id;
use super::text::bytes_of;
use super::{NIL, VALUE, is_heap};

/// Maximum number of pairs in a hash without a table.
pub(super) const SMALL: usize = 8;

/// Unknown.
const UNKNOWN: usize = 0;
/// The third word of a hash points to its pairs, or to its table (Ruby 3.1 and 3.2).
const BESIDE: usize = 1;
/// They begin at the fourth word (Ruby 3.3 and later); one more word precedes the pairs.
const WITHIN: usize = 2;

/// The layout of pairs in small hashes, and of the table in large ones.
static SMALL_PLACE: AtomicUsize = AtomicUsize::new(UNKNOWN);
static LARGE_PLACE: AtomicUsize = AtomicUsize::new(UNKNOWN);

/// Returns whether `REGAUGE_PUBLIC_API` is set, or was compiled in: then the layout known here and in
/// [`super::variables`] is not used.
pub fn wants_public_api() -> bool {
    cfg!(regauge_public_api) || std::env::var_os("REGAUGE_PUBLIC_API").is_some()
}

/// Returns whether this is one of the Rubies that the layout was tested with, if the collector is
/// running.
pub fn is_tried() -> bool {
    // SAFETY: the lock; every Ruby has both constants.
    let text = |name| bytes_of(unsafe { rb_sys::rb_const_get(rb_sys::rb_cObject, id(name)) });
    let version = text(c"RUBY_VERSION");
    text(c"RUBY_ENGINE") == b"ruby"
        && [&b"3.1."[..], b"3.3."].iter().any(|tried| version.starts_with(tried))
}

/// Learns the layout of pairs.
pub fn learn_pairs() {
    for (place, count) in [(&SMALL_PLACE, 3), (&LARGE_PLACE, SMALL + 3)] {
        // Numbers unlike anything else in a hash, and that are immediate.
        let pairs: Vec<_> = (0..2 * count as i64).map(|v| integer(0x2468_ACE0_0000 + v)).collect();
        let sample = hash();
        if hash_insert(sample, &pairs, true).is_ok() {
            // If there is no pointer, it is the default value: `nil`.
            let third = word(sample, 2);
            let found = if third == NIL { WITHIN } else { BESIDE };
            if found == WITHIN || is_heap(third) && third > 1 << 16 {
                place.store(found, Ordering::Relaxed);
                if !is_as_known(sample, &pairs) {
                    place.store(UNKNOWN, Ordering::Relaxed);
                }
            }
        }
        keep(sample);
    }
}

/// Returns whether that worked, for small hashes and for large ones.
pub(super) fn are_pairs_known() -> bool {
    [&SMALL_PLACE, &LARGE_PLACE].iter().all(|place| place.load(Ordering::Relaxed) != UNKNOWN)
}

/// Returns a word of an object.
#[inline(always)]
pub(super) fn word(object: VALUE, index: usize) -> VALUE {
    // SAFETY: callers request words within the object, or within the block that it points to.
    unsafe { *(object as *const VALUE).add(index) }
}

/// Returns where the pairs of a hash begin, with a table or without, and the number of words from
/// one to the next.
#[inline(always)]
pub(super) fn pairs_of(hash: VALUE, has_table: bool) -> (*mut VALUE, usize) {
    if !has_table {
        let first = match SMALL_PLACE.load(Ordering::Relaxed) {
            BESIDE => word(hash, 2),
            // After a word of hints.
            _ => hash + 4 * size_of::<VALUE>() as VALUE,
        };
        return (first as *mut VALUE, 2);
    }
    // `st_table`: its last word points to entries of hash, key and value.
    ((word(table_of(hash), 6) as *mut VALUE).wrapping_add(1), 3)
}

/// Returns the table of a hash that has one.
#[inline(always)]
pub(super) fn table_of(hash: VALUE) -> VALUE {
    match LARGE_PLACE.load(Ordering::Relaxed) {
        BESIDE => word(hash, 2),
        _ => hash + 3 * size_of::<VALUE>() as VALUE,
    }
}

/// Returns whether a hash with exactly these pairs has the expected layout.
fn is_as_known(hash: VALUE, pairs: &[VALUE]) -> bool {
    let count = pairs.len() / 2;
    let place = if count <= SMALL { &SMALL_PLACE } else { &LARGE_PLACE };
    // `RHASH_ST_TABLE_FLAG`.
    let has_table = word(hash, 0) & 1 << 15 != 0;
    let place = place.load(Ordering::Relaxed);
    if place == UNKNOWN || has_table != (count > SMALL) {
        return false;
    }
    if has_table {
        let table = table_of(hash);
        // The number of entries, the first, and the bound.
        let numbers = [word(table, 2), word(table, 4), word(table, 5)];
        if numbers != [count as VALUE, 0, count as VALUE] {
            return false;
        }
    }
    let (first, step) = pairs_of(hash, has_table);
    pairs.chunks_exact(2).enumerate().all(|(index, pair)| {
        // SAFETY: there are as many as the hash says; the comparison stops at the first mismatch.
        unsafe { [*first.add(index * step), *first.add(index * step + 1)] == *pair }
    })
}

/// Copies a hash that has exactly these keys in this order, with new values: pairs, including keys.
/// The template must come from [`template_of`].
#[inline]
pub fn hash_like(template: VALUE, pairs: &[VALUE]) -> VALUE {
    // SAFETY: the lock; no exception. The copy has the layout of the template, which was checked;
    // nothing is allocated until its values are in place, and each is then reported to the
    // collector, because the copy may have been marked while its table was created.
    unsafe {
        let hash = rb_sys::rb_hash_dup(template);
        let (first, step) = pairs_of(hash, pairs.len() / 2 > SMALL);
        if step == 2 {
            std::ptr::copy_nonoverlapping(pairs.as_ptr(), first, pairs.len());
        } else {
            for (index, pair) in pairs.chunks_exact(2).enumerate() {
                *first.add(index * step + 1) = pair[1];
            }
        }
        for pair in pairs.chunks_exact(2) {
            if is_heap(pair[1]) {
                rb_sys::rb_gc_writebarrier(hash, pair[1]);
            }
        }
        hash
    }
}

/// Creates a template of a hash with exactly these pairs: a copy with `nil` for every value; `None`
/// if the layout is unknown.
pub fn template_of(hash: VALUE, pairs: &[VALUE]) -> Option<VALUE> {
    if !is_as_known(hash, pairs) {
        return None;
    }
    let mut empty = pairs.to_vec();
    empty.iter_mut().skip(1).step_by(2).for_each(|value| *value = NIL);
    Some(hash_like(hash, &empty))
}
