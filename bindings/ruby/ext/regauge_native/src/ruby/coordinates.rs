//! Arrays of two or three floats, filled in place: coordinates arrive by the ten thousand.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::container::{array, array_at, array_length};
use super::jump::keep;
use super::layout::word;
use super::number::float;
use super::{VALUE, is_heap};

/// Maximum number of values embedded in an array in every Ruby.
const MOST: usize = 3;
/// The position of their number in its flags (`RARRAY_EMBED_LEN_SHIFT`).
const LENGTH_SHIFT: u32 = 15;
/// The words of an object before its content: flags and class.
const HEAD: usize = 2;

/// Whether small arrays have the expected layout.
static ARE_KNOWN: AtomicBool = AtomicBool::new(false);

/// Creates an array of a few immediate values.
#[inline(always)]
pub fn array_of_simple(values: &[VALUE]) -> VALUE {
    debug_assert!(!values.iter().any(|value| is_heap(*value)));
    match values.len() {
        1..=MOST if ARE_KNOWN.load(Relaxed) => match values {
            // Sizes are constant: calling memcpy for two words was a twentieth of the time.
            [x, y] => filled(&[*x, *y]),
            [x, y, z] => filled(&[*x, *y, *z]),
            _ => filled(values),
        },
        _ => array(values),
    }
}

#[inline(always)]
fn filled(values: &[VALUE]) -> VALUE {
    // SAFETY: the lock; no exception; nobody else has the array yet, it has room for embedded
    // values, which was checked, and immediate values need no write barrier.
    unsafe {
        let array = rb_sys::rb_ary_new_capa(values.len() as _);
        let words = array as *mut VALUE;
        std::ptr::copy_nonoverlapping(values.as_ptr(), words.add(HEAD), values.len());
        *words |= (values.len() as VALUE) << LENGTH_SHIFT;
        array
    }
}

/// Determines whether small arrays have the expected layout.
pub fn learn_small_arrays() {
    let values = [0.5, -1.25, 3.0].map(float);
    let are_known = (1..=MOST).all(|count| {
        let values = &values[..count];
        let made = array(values);
        // SAFETY: the lock; no exception.
        let empty = unsafe { rb_sys::rb_ary_new_capa(count as _) };
        let length = (count as VALUE) << LENGTH_SHIFT;
        let looks_known = word(empty, 0) & length == 0
            && word(made, 0) == word(empty, 0) | length
            && word(made, 1) == word(empty, 1)
            && values.iter().enumerate().all(|(at, value)| word(made, HEAD + at) == *value);
        keep(made);
        keep(empty);
        if !looks_known {
            return false;
        }
        let tried = filled(values);
        let is_whole = array_length(tried) == count
            && values.iter().enumerate().all(|(at, value)| array_at(tried, at) == *value);
        keep(tried);
        is_whole
    });
    ARE_KNOWN.store(are_known, Relaxed);
}
