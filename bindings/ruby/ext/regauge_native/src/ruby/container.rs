//! Arrays, hashes and structs.

use std::ffi::{c_int, c_long};

use super::jump::{Jump, keep, protect};
use super::number::integer;
use super::object::{call, id};
use super::{NIL, TRUE, VALUE, heap_kind, is_heap};

/// Returns the values of an array: valid until it is changed or moved.
#[inline(always)]
pub fn array_length(array: VALUE) -> usize {
    // SAFETY: callers pass arrays.
    unsafe { rb_sys::macros::RARRAY_LEN(array) as usize }
}

/// Returns the value at an index below the array's length.
#[inline(always)]
pub fn array_at(array: VALUE, index: usize) -> VALUE {
    // SAFETY: callers pass arrays; an index that is out of range returns `nil`.
    unsafe { rb_sys::rb_ary_entry(array, index as c_long) }
}

/// Creates an array of these values, which must be visible to the collector.
#[inline]
pub fn array(values: &[VALUE]) -> VALUE {
    // SAFETY: the lock; no exception; the values are copied.
    unsafe { rb_sys::rb_ary_new_from_values(values.len() as c_long, values.as_ptr()) }
}

/// Appends values to an array that is not frozen.
pub fn array_extend(array: VALUE, values: &[VALUE]) {
    // SAFETY: the lock; the array was created here, and is not frozen yet.
    unsafe { rb_sys::rb_ary_cat(array, values.as_ptr(), values.len() as c_long) };
}

/// Returns the value at an index, or `None` if the array has become shorter.
#[inline(always)]
pub fn array_get(array: VALUE, index: usize) -> Option<VALUE> {
    // SAFETY: callers pass arrays; the index is checked against the current length.
    unsafe {
        let length = rb_sys::macros::RARRAY_LEN(array) as usize;
        (index < length).then(|| *rb_sys::macros::RARRAY_CONST_PTR(array).add(index))
    }
}

/// Returns the values of an array: valid until it is changed, collected or moved.
#[inline(always)]
pub fn array_values<'a>(array: VALUE) -> &'a [VALUE] {
    // SAFETY: callers pass arrays, keep them alive, and let nobody change them meanwhile.
    unsafe {
        let length = rb_sys::macros::RARRAY_LEN(array) as usize;
        if length == 0 {
            return &[];
        }
        std::slice::from_raw_parts(rb_sys::macros::RARRAY_CONST_PTR(array), length)
    }
}

/// Creates an empty hash.
#[inline]
pub fn hash() -> VALUE {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_hash_new() }
}

/// Inserts pairs (key, value, key, …) into a hash, whose keys are all strings or symbols.
#[inline]
pub fn hash_insert_plain(hash: VALUE, pairs: &[VALUE]) {
    // SAFETY: the lock; the hash was created here, and no key has a custom `hash` method.
    unsafe { rb_sys::rb_hash_bulk_insert(pairs.len() as c_long, pairs.as_ptr(), hash) };
}

/// Inserts pairs (key, value, key, …) into a hash. Keys other than strings and symbols may call
/// Ruby code: `plain` says that there are none.
#[inline]
pub fn hash_insert(hash: VALUE, pairs: &[VALUE], plain: bool) -> Result<(), Jump> {
    if plain {
        hash_insert_plain(hash, pairs);
        return Ok(());
    }
    // Whatever keys call runs under `protect`.
    protect(|| {
        hash_insert_plain(hash, pairs);
        NIL
    })
    .map(drop)
}

/// Makes an empty hash compare its keys by identity, and inserts pairs (key, value, key, …).
pub fn fill_by_identity(hash: VALUE, pairs: &[VALUE]) -> Result<(), Jump> {
    call(hash, id(c"compare_by_identity"), &[])?;
    protect(|| {
        for pair in pairs.chunks_exact(2) {
            // SAFETY: the lock; under `protect`; the hash was created here.
            unsafe { rb_sys::rb_hash_aset(hash, pair[0], pair[1]) };
        }
        NIL
    })
    .map(drop)
}

/// Returns the number of pairs in a hash.
#[inline]
pub fn hash_size(hash: VALUE) -> usize {
    // SAFETY: the lock; callers pass hashes.
    unsafe { rb_sys::rb_hash_size_num(hash) as usize }
}

/// Calls `act` with every key and value, until it returns `false`. Ruby jumps must not leave it.
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
    // SAFETY: the lock; callers pass hashes; the function gets the closure that it expects.
    unsafe { rb_sys::rb_hash_foreach(hash, Some(step::<F>), &raw mut act as VALUE) };
}

/// Returns whether a value is a hash.
#[inline]
pub fn is_hash(value: VALUE) -> bool {
    is_heap(value) && heap_kind(value) == 8
}

/// Returns whether a hash has a default procedure, is a keyword hash, or compares its keys by
/// identity.
#[inline]
pub fn is_unusual_hash(hash: VALUE) -> Result<bool, Jump> {
    // SAFETY: callers pass hashes.
    let flags = unsafe { (*(hash as *const rb_sys::RBasic)).flags };
    // RHASH_PASS_AS_KEYWORDS, RHASH_PROC_DEFAULT; only a hash with a table can compare by identity.
    if flags & (1 << 13 | 1 << 14) != 0 || flags & 1 << 15 == 0 {
        return Ok(flags & (1 << 13 | 1 << 14) != 0);
    }
    if super::is_usual(hash) {
        return Ok(false);
    }
    Ok(call(hash, crate::names::names().id_by_identity, &[])? == TRUE)
}

/// Which word of a hash is its default value: the third or the fourth, as determined by
/// [`find_hash_default`]; 0 if neither is.
static DEFAULT_WORD: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// Determines where this Ruby stores the default value of a hash, for which it has no function: by
/// examining a hash with one.
///
/// # Errors
/// None in an intact Ruby.
pub fn find_hash_default() -> Result<(), Jump> {
    const SENTINEL: i64 = 0x1357_9BDF;
    let with = hash();
    call(with, id(c"default="), &[integer(SENTINEL)])?;
    let without = hash();
    let word = |hash: VALUE, index: usize| {
        // SAFETY: a Ruby object has at least five words, and a hash four in every version.
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

/// Returns the default value of a hash without a default procedure.
#[inline]
pub fn hash_default(hash: VALUE) -> Option<VALUE> {
    match DEFAULT_WORD.load(std::sync::atomic::Ordering::Relaxed) {
        // Hash's own method, whatever the class of this one has: no code of a program runs.
        0 => {
            let names = crate::names::names();
            call(names.own_marshal, names.id_hash_default, &[hash]).ok()
        }
        // SAFETY: callers pass hashes, and `find_hash_default` determined where it is.
        index => Some(unsafe { *(hash as *const VALUE).add(index) }),
    }
}

/// Returns the members of a struct: an array of symbols.
pub fn struct_members(structure: VALUE) -> VALUE {
    // SAFETY: the lock; callers pass structs.
    unsafe { rb_sys::rb_struct_members(structure) }
}

/// Returns the value of a struct's member.
pub fn struct_value(structure: VALUE, index: usize) -> VALUE {
    // SAFETY: the lock; callers pass structs and indexes of their members.
    unsafe { rb_sys::rb_struct_aref(structure, integer(index as i64)) }
}
