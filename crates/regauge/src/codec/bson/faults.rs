//! The reader's errors about bytes that are not BSON.

use crate::Error;

#[cold]
pub(super) fn bad_length(what: &str, length: i32, least: i32) -> Error {
    Error::syntax(format!("found {length} as the length of {what}, expected at least {least}"))
}

#[cold]
pub(super) fn beyond(size: usize, left: usize) -> Error {
    // The last byte of a document is reserved for its end.
    let left = left.saturating_sub(1);
    Error::syntax(format!(
        "found a value of at least {size} bytes with only {left} left in the document around it"
    ))
}

#[cold]
pub(super) fn misplaced_end(byte: u8, left: usize) -> Error {
    match byte {
        0 => Error::syntax(format!(
            "found a document's final zero byte {} bytes before its declared end",
            left - 1
        )),
        _ => Error::syntax(format!(
            "found the byte {byte:#04X} at the declared end of the document, expected a zero byte"
        )),
    }
}

#[cold]
pub(super) fn unterminated(string: &[u8]) -> Error {
    let byte = string.last().copied().unwrap_or(0);
    Error::syntax(format!(
        "found the byte {byte:#04X} at the end of a string, expected a zero byte"
    ))
}

#[cold]
pub(super) fn not_utf8(what: &str, bytes: &[u8]) -> Error {
    let shown: String = String::from_utf8_lossy(bytes).chars().take(40).collect();
    Error::syntax(format!("found {what} that is not UTF-8 ({shown:?}), expected UTF-8"))
}

#[cold]
pub(super) fn bad_bool(byte: u8) -> Error {
    Error::syntax(format!("found the byte {byte:#04X} as a boolean, expected 0 or 1"))
}

#[cold]
pub(super) fn bad_old_binary(payload: &[u8]) -> Error {
    match payload.first_chunk() {
        Some(length) => Error::syntax(format!(
            "found {} as the inner length of binary data of subtype 2, expected {}",
            i32::from_le_bytes(*length),
            payload.len() - 4
        )),
        None => Error::syntax(format!(
            "found binary data of subtype 2 with {} bytes, expected its inner length of 4",
            payload.len()
        )),
    }
}

#[cold]
pub(super) fn bad_scope(total: usize, before: usize, length: i32) -> Error {
    Error::syntax(format!(
        "found a scope of {length} bytes in code with a scope of {total}, expected {}",
        total.saturating_sub(before)
    ))
}

#[cold]
pub(super) fn bad_type(kind: u8) -> Error {
    Error::syntax(format!(
        "found an element of type {kind:#04X}, expected 0x01 to 0x13, 0x7F or 0xFF"
    ))
}
