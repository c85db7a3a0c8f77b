//! Integers of any size, floats, and times.

use std::ffi::c_int;

use super::jump::{Jump, keep, protect};
use super::object::id;
use super::text::text;
use super::{NIL, VALUE};

/// Creates an integer.
#[inline(always)]
pub fn integer(v: i64) -> VALUE {
    let doubled = v.wrapping_mul(2);
    if doubled >> 1 == v {
        return (doubled as VALUE) | 1;
    }
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_ll2inum(v) }
}

/// Creates an integer above `i64::MAX`.
pub fn unsigned(v: u64) -> VALUE {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_ull2inum(v) }
}

/// Returns the number in an immediate value, if it is one.
#[inline(always)]
pub fn small_integer(value: VALUE) -> Option<i64> {
    (value & 1 == 1).then_some(value as i64 >> 1)
}

/// Creates a double. Most are immediate.
#[inline(always)]
pub fn float(v: f64) -> VALUE {
    match simple_float(v) {
        Some(float) => float,
        // SAFETY: the lock; no exception.
        None => unsafe { rb_sys::rb_float_new(v) },
    }
}

/// Creates an immediate double (`rb_float_new_inline`).
#[inline(always)]
pub fn simple_float(v: f64) -> Option<VALUE> {
    let bits = v.to_bits();
    let top = bits >> 60 & 7;
    if (top == 3 || top == 4) && bits != 0x3000_0000_0000_0000 {
        return Some((bits.rotate_left(3) & !3 | 2) as VALUE);
    }
    (bits == 0).then_some(0x8000_0000_0000_0002)
}

/// Returns the double of a float value.
#[inline(always)]
pub fn float_value(value: VALUE) -> f64 {
    if value & 3 == 2 {
        if value == 0x8000_0000_0000_0002 {
            return 0.0;
        }
        let bits = (2 - (value >> 63)) | (value & !3);
        return f64::from_bits(bits.rotate_right(3));
    }
    // SAFETY: the lock; callers pass floats.
    unsafe { rb_sys::rb_float_value(value) }
}

/// Returns a big integer as sign and magnitude, the least significant byte first, without trailing
/// zero bytes.
pub fn big_parts(value: VALUE) -> (bool, Vec<u8>) {
    // SAFETY: the lock; no exception; the buffer has the stated size.
    unsafe {
        let size = rb_sys::rb_absint_size(value, std::ptr::null_mut()) as usize;
        let mut magnitude = vec![0u8; size];
        let sign = rb_sys::rb_integer_pack(
            value,
            magnitude.as_mut_ptr().cast(),
            size as _,
            1,
            0,
            LITTLE_ENDIAN,
        );
        while magnitude.last() == Some(&0) {
            magnitude.pop();
        }
        (sign < 0, magnitude)
    }
}

/// `INTEGER_PACK_LSWORD_FIRST | INTEGER_PACK_LSBYTE_FIRST`.
const LITTLE_ENDIAN: c_int = 0x02 | 0x20;
/// `INTEGER_PACK_NEGATIVE`.
const NEGATIVE: c_int = 0x200;

/// Creates a big integer from its parts.
pub fn big_integer(negative: bool, magnitude: &[u8]) -> VALUE {
    let flags = LITTLE_ENDIAN | if negative { NEGATIVE } else { 0 };
    // SAFETY: the lock; no exception for what fits in memory; the bytes are only read.
    unsafe {
        rb_sys::rb_integer_unpack(magnitude.as_ptr().cast(), magnitude.len() as _, 1, 0, flags)
    }
}

/// Creates a big integer from decimal digits.
pub fn decimal_integer(negative: bool, digits: &str) -> VALUE {
    let text = text(digits);
    // SAFETY: the lock; no exception: the digits are digits.
    let value = unsafe { rb_sys::rb_str_to_inum(text, 10, 0) };
    keep(text);
    if !negative {
        return value;
    }
    // SAFETY: the lock; no exception for an integer.
    unsafe { rb_sys::rb_funcallv(value, id(c"-@"), 0, std::ptr::null()) }
}

/// Creates a time in UTC.
pub fn time(seconds: i64, nanoseconds: u32) -> VALUE {
    let at = rb_sys::timespec { tv_sec: seconds, tv_nsec: i64::from(nanoseconds) };
    // SAFETY: the lock; no exception: the nanoseconds are below one billion, and the offset is the
    // one that denotes UTC.
    unsafe { rb_sys::rb_time_timespec_new(&at, c_int::MAX - 1) }
}

/// Returns seconds and nanoseconds of a time.
///
/// # Errors
/// If its seconds exceed 64 bits.
pub fn time_parts(time: VALUE) -> Result<(i64, u32), Jump> {
    let mut at = (0, 0);
    // SAFETY: the lock; under `protect`; callers pass times.
    protect(|| unsafe {
        let spec = rb_sys::rb_time_timespec(time);
        at = (spec.tv_sec, spec.tv_nsec as u32);
        NIL
    })?;
    Ok(at)
}
