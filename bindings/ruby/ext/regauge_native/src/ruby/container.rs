//! Arrays, hashes and structs.

use std::ffi::{c_int, c_long};

use super::jump::{Jump, keep, protect};
use super::number::integer;
use super::object::{call, id};
use super::{NIL, TRUE, VALUE, heap_kind, is_heap};

/// The values of an array: valid until it is changed or moved.
#[inline(always)]
pub fn array_length(array: VALUE) -> usize {
    // SAFETY: callers give arrays.
    unsafe { rb_sys::macros::RARRAY_LEN(array) as usize }
}

/// The value at an index below the array's length.
#[inline(always)]
pub fn array_at(array: VALUE, index: usize) -> VALUE {
    // SAFETY: callers give arrays; an index that is out of range gives `nil`.
    unsafe { rb_sys::rb_ary_entry(array, index as c_long) }
}

/// An array of these values, which must be visible to the collector.
#[inline]
pub fn array(values: &[VALUE]) -> VALUE {
    // SAFETY: the lock; no exception; the values are copied.
    unsafe { rb_sys::rb_ary_new_from_values(values.len() as c_long, values.as_ptr()) }
}

/// Appends values to an array that is not frozen.
pub fn array_extend(array: VALUE, values: &[VALUE]) {
    // SAFETY: the lock; the array was made here, and is not frozen yet.
    unsafe { rb_sys::rb_ary_cat(array, values.as_ptr(), values.len() as c_long) };
}

/// The value at an index, or nothing where the array is shorter by now.
#[inline(always)]
pub fn array_get(array: VALUE, index: usize) -> Option<VALUE> {
    // SAFETY: callers give arrays; the index is checked against the length at this moment.
    unsafe {
        let length = rb_sys::macros::RARRAY_LEN(array) as usize;
        (index < length).then(|| *rb_sys::macros::RARRAY_CONST_PTR(array).add(index))
    }
}

/// The values of an array: good until it is changed, collected or moved.
#[inline(always)]
pub fn array_values<'a>(array: VALUE) -> &'a [VALUE] {
    // SAFETY: callers give arrays, keep them, and let nobody change them meanwhile.
    unsafe {
        let length = rb_sys::macros::RARRAY_LEN(array) as usize;
        if length == 0 {
            return &[];
        }
        std::slice::from_raw_parts(rb_sys::macros::RARRAY_CONST_PTR(array), length)
    }
}

/// An empty hash.
#[inline]
pub fn hash() -> VALUE {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_hash_new() }
}

/// Puts pairs (key, value, key, …) into a hash, whose keys are all strings or symbols.
#[inline]
pub fn hash_insert_plain(hash: VALUE, pairs: &[VALUE]) {
    // SAFETY: the lock; the hash was made here, and no key has a method `hash` of its own.
    unsafe { rb_sys::rb_hash_bulk_insert(pairs.len() as c_long, pairs.as_ptr(), hash) };
}

/// Puts pairs (key, value, key, …) into a hash. Keys that are no strings or symbols may call Ruby
/// code: `plain` says that there are none.
#[inline]
pub fn hash_insert(hash: VALUE, pairs: &[VALUE], plain: bool) -> Result<(), Jump> {
    if plain {
        hash_insert_plain(hash, pairs);
        return Ok(());
    }
    // What keys call runs under `protect`.
    protect(|| {
        hash_insert_plain(hash, pairs);
        NIL
    })
    .map(drop)
}

/// How many pairs a hash has.
#[inline]
pub fn hash_size(hash: VALUE) -> usize {
    // SAFETY: the lock; callers give hashes.
    unsafe { rb_sys::rb_hash_size_num(hash) as usize }
}

/// Calls `act` with every key and value, until it says `false`. Jumps of Ruby must not leave it.
pub fn each_pair<F: FnMut(VALUE, VALUE) -> bool>(hash: VALUE, mut act: F) {
    unsafe extern "C" fn step<F: FnMut(VALUE, VALUE) -> bool>(
        key: VALUE,
        value: VALUE,
        act: VALUE,
    ) -> c_int {
        // SAFETY: the address of the closure below, which outlives the loop.
        let act = unsafe { &mut *(act as *mut F) };
        // ST_CONTINUE and ST_STOP.
        if act(key, value) { 0 } else { 1 }
    }
    // SAFETY: the lock; callers give hashes; the function gets the closure that it expects.
    unsafe { rb_sys::rb_hash_foreach(hash, Some(step::<F>), &raw mut act as VALUE) };
}

/// Whether a value is a hash.
#[inline]
pub fn is_hash(value: VALUE) -> bool {
    is_heap(value) && heap_kind(value) == 8
}

/// Whether a hash has a default procedure, is one of keywords, or compares its keys by identity.
#[inline]
pub fn is_unusual_hash(hash: VALUE) -> Result<bool, Jump> {
    // SAFETY: callers give hashes.
    let flags = unsafe { (*(hash as *const rb_sys::RBasic)).flags };
    // RHASH_PASS_AS_KEYWORDS, RHASH_PROC_DEFAULT; only a hash with a table can be by identity.
    if flags & (1 << 13 | 1 << 14) != 0 || flags & 1 << 15 == 0 {
        return Ok(flags & (1 << 13 | 1 << 14) != 0);
    }
    if super::is_usual(hash) {
        return Ok(false);
    }
    Ok(call(hash, crate::names::names().id_by_identity, &[])? == TRUE)
}

/// Which word of a hash is its default value: the third or the fourth, as [`find_hash_default`]
/// found; 0 where neither is.
static DEFAULT_WORD: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// Finds where this Ruby keeps the default value of a hash, which it offers no function for: a hash
/// that has one is looked at.
///
/// # Errors
/// None in a Ruby that is whole.
pub fn find_hash_default() -> Result<(), Jump> {
    const SENTINEL: i64 = 0x1357_9BDF;
    let with = hash();
    call(with, id(c"default="), &[integer(SENTINEL)])?;
    let without = hash();
    let word = |hash: VALUE, index: usize| {
        // SAFETY: an object of Ruby has five words at least, and a hash four in every version.
        unsafe { *(hash as *const VALUE).add(index) }
    };
    for index in [2, 3] {
        if word(with, index) == integer(SENTINEL) && word(without, index) == NIL {
            DEFAULT_WORD.store(index, std::sync::atomic::Ordering::Relaxed);
        }
    }
    keep(with);
    keep(without);
    Ok(())
}

/// The default value of a hash without a default procedure; none where it cannot be known.
#[inline]
pub fn hash_default(hash: VALUE) -> Option<VALUE> {
    match DEFAULT_WORD.load(std::sync::atomic::Ordering::Relaxed) {
        0 => None,
        // SAFETY: callers give hashes, and `find_hash_default` looked where it is.
        index => Some(unsafe { *(hash as *const VALUE).add(index) }),
    }
}

/// The members of a struct: an array of symbols.
pub fn struct_members(structure: VALUE) -> VALUE {
    // SAFETY: the lock; callers give structs.
    unsafe { rb_sys::rb_struct_members(structure) }
}

/// The value of a struct's member.
pub fn struct_value(structure: VALUE, index: usize) -> VALUE {
    // SAFETY: the lock; callers give structs and indexes of their members.
    unsafe { rb_sys::rb_struct_aref(structure, integer(index as i64)) }
}
