//! Creates `str` objects from UTF-8, written straight into the object.

use pyo3::ffi;
use pyo3::prelude::*;

#[cfg(not(Py_LIMITED_API))]
use super::wide;

/// Creates a `str`; `None` if memory ran out, and Python has raised the error.
#[inline(always)]
pub fn new<'py>(py: Python<'py>, v: &str) -> Option<Bound<'py, PyAny>> {
    #[cfg(not(Py_LIMITED_API))]
    {
        let bytes = v.as_bytes();
        // The empty text and single characters are preallocated objects.
        if bytes.len() > 1 {
            return match is_ascii(bytes) {
                true => ascii(py, bytes),
                false => wide(py, bytes),
            };
        }
    }
    plain(py, v)
}

#[cold]
#[inline(never)]
fn plain<'py>(py: Python<'py>, v: &str) -> Option<Bound<'py, PyAny>> {
    // SAFETY: the pointer and the length are those of text; a null pointer becomes `None`.
    unsafe {
        let object = ffi::PyUnicode_FromStringAndSize(v.as_ptr().cast(), v.len() as isize);
        Bound::from_owned_ptr_or_opt(py, object)
    }
}

/// Creates text with lone surrogates, from generalized UTF-8; `None` with Python's error if it is
/// not that.
pub fn surrogates<'py>(py: Python<'py>, v: &[u8]) -> Option<Bound<'py, PyAny>> {
    // SAFETY: pointer and length are those of the bytes, the name ends with a zero byte.
    unsafe {
        let how = c"surrogatepass".as_ptr();
        let object = ffi::PyUnicode_DecodeUTF8(v.as_ptr().cast(), v.len() as isize, how);
        Bound::from_owned_ptr_or_opt(py, object)
    }
}

/// Returns whether all bytes are ASCII. Up to 128 bytes inline, with overlapping loads.
#[cfg(not(Py_LIMITED_API))]
#[inline(always)]
fn is_ascii(bytes: &[u8]) -> bool {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let word = |at: usize| -> u64 {
        bytes[at..].first_chunk().map_or(0, |chunk| u64::from_ne_bytes(*chunk))
    };
    match bytes.len() {
        0..8 => bytes.iter().fold(0, |all, byte| all | byte) < 0x80,
        8..=16 => (word(0) | word(bytes.len() - 8)) & HIGH == 0,
        17..=32 => {
            let tail = bytes.len() - 16;
            (word(0) | word(8) | word(tail) | word(tail + 8)) & HIGH == 0
        }
        33..=128 => {
            // So that the loop's loads do not wait for one another.
            let all = bytes.chunks_exact(16).fold([0; 2], |[low, high], chunk| {
                let half = |at: usize| -> u64 {
                    chunk[at..].first_chunk().map_or(0, |half| u64::from_ne_bytes(*half))
                };
                [low | half(0), high | half(8)]
            });
            let tail = bytes.len() - 16;
            (all[0] | all[1] | word(tail) | word(tail + 8)) & HIGH == 0
        }
        _ => bytes.is_ascii(),
    }
}

/// Creates a `str` from bytes below 0x80.
#[cfg(not(Py_LIMITED_API))]
#[inline(always)]
pub fn ascii<'py>(py: Python<'py>, bytes: &[u8]) -> Option<Bound<'py, PyAny>> {
    debug_assert!(bytes.is_ascii());
    // SAFETY: a compact ASCII object has its characters, one byte each and followed by a zero byte,
    // directly after its header, and nobody else has seen it yet.
    unsafe {
        let object = ffi::PyUnicode_New(bytes.len() as isize, 0x7F);
        if object.is_null() {
            return None;
        }
        let data = object.cast::<ffi::PyASCIIObject>().add(1).cast::<u8>();
        data.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        Some(Bound::from_owned_ptr(py, object))
    }
}

/// Creates a `str` from bytes that are UTF-8 and not all ASCII. The highest byte determines the
/// width of the characters, the number of non-continuation bytes their number.
#[cfg(not(Py_LIMITED_API))]
#[inline(never)]
fn wide<'py>(py: Python<'py>, bytes: &[u8]) -> Option<Bound<'py, PyAny>> {
    let mut highest = 0;
    let mut count = 0;
    for chunk in bytes.chunks(128) {
        // Counted in a byte, so that sixteen are counted at once.
        let mut begins = 0u8;
        for &byte in chunk {
            highest = highest.max(byte);
            begins += u8::from((byte as i8) >= -0x40);
        }
        count += usize::from(begins);
    }
    let most = match highest {
        0xF0.. => 0x10_FFFF,
        0xC4.. => 0xFFFF,
        _ => 0xFF,
    };
    // SAFETY: the header of a compact non-ASCII object is followed by `count` characters of one,
    // two or four bytes, as `most` says, and a zero character; nobody else has seen it yet.
    unsafe {
        let object = ffi::PyUnicode_New(count as isize, most);
        if object.is_null() {
            return None;
        }
        let data = object.cast::<ffi::PyCompactUnicodeObject>().add(1);
        match most {
            0xFF => wide::latin(bytes, std::slice::from_raw_parts_mut(data.cast(), count)),
            0xFFFF => wide::two(bytes, std::slice::from_raw_parts_mut(data.cast(), count)),
            _ => wide::four(bytes, std::slice::from_raw_parts_mut(data.cast(), count)),
        }
        Some(Bound::from_owned_ptr(py, object))
    }
}
