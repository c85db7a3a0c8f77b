//! Numbers and the three singletons.

use pyo3::ffi;
use pyo3::prelude::*;

/// Creates an integer.
#[inline(always)]
pub fn i64(py: Python<'_>, v: i64) -> Option<Bound<'_, PyAny>> {
    // SAFETY: the thread is attached; a null pointer becomes `None`.
    unsafe { Bound::from_owned_ptr_or_opt(py, ffi::PyLong_FromLongLong(v)) }
}

/// Creates an unsigned integer.
pub fn u64(py: Python<'_>, v: u64) -> Option<Bound<'_, PyAny>> {
    // SAFETY: as above.
    unsafe { Bound::from_owned_ptr_or_opt(py, ffi::PyLong_FromUnsignedLongLong(v)) }
}

/// Creates a double.
#[inline(always)]
pub fn f64(py: Python<'_>, v: f64) -> Option<Bound<'_, PyAny>> {
    // SAFETY: as above.
    unsafe { Bound::from_owned_ptr_or_opt(py, ffi::PyFloat_FromDouble(v)) }
}

/// Returns `None`.
#[inline(always)]
pub fn none(py: Python<'_>) -> Bound<'_, PyAny> {
    // SAFETY: `None` always exists.
    unsafe { Bound::from_borrowed_ptr(py, ffi::Py_None()) }
}

/// Returns `True` or `False`.
#[inline(always)]
pub fn bool(py: Python<'_>, v: bool) -> Bound<'_, PyAny> {
    // SAFETY: both always exist.
    unsafe { Bound::from_borrowed_ptr(py, if v { ffi::Py_True() } else { ffi::Py_False() }) }
}

/// The value of an `int`.
pub enum Whole {
    /// It fits.
    Int(i64),
    /// It fits only without a sign.
    UInt(u64),
    /// It exceeds both.
    Big,
    /// Python has raised an error.
    Failed,
}

/// The header of an `int`: the number of its 30-bit digits and its sign, and the first two digits.
#[cfg(all(not(Py_LIMITED_API), target_pointer_width = "64"))]
#[repr(C)]
struct Head {
    _object: ffi::PyObject,
    tag: isize,
    digits: [u32; 2],
}

/// Returns the value of an `int` of at most two digits: below 2^60 in magnitude. `None` for a
/// larger one, and for any if the public API is to be used.
#[inline(always)]
pub fn small(object: &Bound<'_, PyAny>) -> Option<i64> {
    #[cfg(all(not(Py_LIMITED_API), target_pointer_width = "64"))]
    if super::switch::reads_memory() {
        // SAFETY: the caller knows the object to be an int, which begins like this in every version
        // that the switch is on for: up to 3.11 the tag is the digit count with the number's sign,
        // and from 3.12 on the count is above three bits, of which the lowest two are the sign (0
        // is plus, 1 zero, 2 minus). Zero has room for a digit too, but it need not be set. The
        // second digit exists only if the count says so.
        unsafe {
            let head = object.as_ptr().cast::<Head>();
            let tag = (*head).tag;
            let first = (&raw const (*head).digits).cast::<u32>();
            let (most_one, two, sign) = match cfg!(Py_3_12) {
                true => (tag < 2 << 3, tag >> 3 == 2, 1 - (tag & 3)),
                // With one digit or none, the tag is the sign.
                false => ((-1..=1).contains(&tag), tag == 2 || tag == -2, tag >> 1),
            };
            if most_one {
                // Zero times whatever is stored there.
                let sign = if cfg!(Py_3_12) { sign } else { tag };
                return Some(sign as i64 * i64::from(*first));
            }
            if two {
                return Some(sign as i64 * (i64::from(*first) | i64::from(*first.add(1)) << 30));
            }
        }
    }
    #[cfg(any(Py_LIMITED_API, not(target_pointer_width = "64")))]
    let _ = object;
    None
}

/// Returns the value of an `int`, or of one of its subclasses.
#[inline(never)]
pub fn whole(object: &Bound<'_, PyAny>) -> Whole {
    let mut overflow = 0;
    // SAFETY: a live object, and a place for the second result.
    let v = unsafe { ffi::PyLong_AsLongLongAndOverflow(object.as_ptr(), &mut overflow) };
    if v != -1 {
        return Whole::Int(v);
    }
    larger(object, overflow)
}

#[cold]
fn larger(object: &Bound<'_, PyAny>, overflow: i32) -> Whole {
    // SAFETY: a live object; the error that an overflow leaves is cleared.
    unsafe {
        if overflow == 0 {
            return if ffi::PyErr_Occurred().is_null() { Whole::Int(-1) } else { Whole::Failed };
        }
        if overflow < 0 {
            return Whole::Big;
        }
        let v = ffi::PyLong_AsUnsignedLongLong(object.as_ptr());
        if v == u64::MAX && !ffi::PyErr_Occurred().is_null() {
            ffi::PyErr_Clear();
            return Whole::Big;
        }
        Whole::UInt(v)
    }
}

/// Returns the value of a `float`, or of one of its subclasses.
#[inline(always)]
pub fn double(object: &Bound<'_, PyAny>) -> f64 {
    // SAFETY: a live object that the caller knows to be a float.
    #[cfg(not(Py_LIMITED_API))]
    unsafe {
        ffi::PyFloat_AS_DOUBLE(object.as_ptr())
    }
    // SAFETY: the same.
    #[cfg(Py_LIMITED_API)]
    unsafe {
        ffi::PyFloat_AsDouble(object.as_ptr())
    }
}
