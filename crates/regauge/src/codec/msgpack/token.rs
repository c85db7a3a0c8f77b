//! Scalars and headers, each in its shortest encoding: shared by both writers.
//!
//! Every function needs room for what it writes, which its caller must have made.

use super::types::*;
use crate::bytes::buffer::Out;
use crate::policy::event::{ShortText, Timestamp};
use crate::{Error, Result};

/// The room that a [`short_text`] needs: a header and a window.
pub(super) const SHORT_BYTES: usize = 33;

/// Writes text. Needs room for the longest header, five bytes, and the text.
#[inline]
pub(super) fn text(out: &mut Out<'_>, bytes: &[u8]) -> Result {
    if bytes.len() < 32 {
        fixed_text(out, bytes);
        return Ok(());
    }
    long_text(out, bytes)
}

/// Writes text of less than 32 bytes. Needs room for [`SHORT_BYTES`].
#[inline(always)]
pub(super) fn fixed_text(out: &mut Out<'_>, bytes: &[u8]) {
    debug_assert!(bytes.len() < 32);
    out.extend_with_header([FIXSTR | bytes.len() as u8], bytes);
}

fn long_text(out: &mut Out<'_>, bytes: &[u8]) -> Result {
    let length = payload_length("text", bytes.len())?;
    match length {
        0..=0xFF => out.extend_with_header([STR8, length as u8], bytes),
        _ => with_long_header(out, STR16, length, bytes),
    }
    Ok(())
}

/// Same as [`text`], with no branch on the length. Needs room for [`SHORT_BYTES`].
#[inline(always)]
pub(super) fn short_text(out: &mut Out<'_>, text: ShortText<'_>) {
    out.extend_window([FIXSTR | text.len() as u8], text.window(), text.len());
}

/// Writes bytes after a header with a length of two or four bytes: the marker `medium`, or the one
/// after it.
fn with_long_header(out: &mut Out<'_>, medium: u8, length: u32, bytes: &[u8]) {
    let [a, b, c, d] = length.to_be_bytes();
    match length {
        0..=0xFFFF => out.extend_with_header([medium, c, d], bytes),
        _ => out.extend_with_header([medium + 1, a, b, c, d], bytes),
    }
}

/// Writes binary data. Needs room for five more bytes.
#[inline]
pub(super) fn binary(out: &mut Out<'_>, bytes: &[u8]) -> Result {
    let length = payload_length("binary data", bytes.len())?;
    match length {
        0..=0xFF => out.extend_with_header([BIN8, length as u8], bytes),
        _ => with_long_header(out, BIN16, length, bytes),
    }
    Ok(())
}

/// Writes an extension. Needs room for six more bytes.
pub(super) fn extension(out: &mut Out<'_>, kind: i8, payload: &[u8]) -> Result {
    let length = payload_length("an extension", payload.len())?;
    match length {
        1 | 2 | 4 | 8 | 16 => out.push(FIXEXT1 + length.trailing_zeros() as u8),
        0..=0xFF => out.push_array([EXT8, length as u8]),
        _ => with_long_header(out, EXT16, length, &[]),
    }
    out.extend_with_header([kind as u8], payload);
    Ok(())
}

/// Writes a point in time as an extension of 4, 8 or 12 bytes. Needs room for 18.
pub(super) fn timestamp(out: &mut Out<'_>, at: Timestamp) -> Result {
    let nanoseconds = u64::from(at.nanoseconds);
    match u64::try_from(at.seconds) {
        Ok(seconds) if seconds < 1 << 32 && nanoseconds == 0 => {
            extension(out, TIMESTAMP, &(seconds as u32).to_be_bytes())
        }
        Ok(seconds) if seconds < 1 << 34 => {
            extension(out, TIMESTAMP, &(nanoseconds << 34 | seconds).to_be_bytes())
        }
        _ => {
            let mut payload = [0; 12];
            payload[..4].copy_from_slice(&at.nanoseconds.to_be_bytes());
            payload[4..].copy_from_slice(&at.seconds.to_be_bytes());
            extension(out, TIMESTAMP, &payload)
        }
    }
}

/// Writes an integer. Needs room for [`HEADER_MAX`].
#[inline(always)]
pub(super) fn integer(out: &mut Out<'_>, v: i64) {
    if (-32..128).contains(&v) {
        out.push(v as u8);
    } else {
        wide_integer(out, v);
    }
}

/// Writes an integer beyond the one-byte forms.
#[inline]
fn wide_integer(out: &mut Out<'_>, v: i64) {
    if v >= 0 {
        unsigned(out, v as u64);
    } else if v >= i64::from(i8::MIN) {
        out.push_array([INT8, v as u8]);
    } else if v >= i64::from(i16::MIN) {
        out.push_with_header([INT16], (v as i16).to_be_bytes());
    } else if v >= i64::from(i32::MIN) {
        out.push_with_header([INT32], (v as i32).to_be_bytes());
    } else {
        out.push_with_header([INT64], v.to_be_bytes());
    }
}

/// Writes an integer from 128 on. Needs room for [`HEADER_MAX`].
#[inline]
pub(super) fn unsigned(out: &mut Out<'_>, v: u64) {
    if v <= u64::from(u8::MAX) {
        out.push_array([UINT8, v as u8]);
    } else if v <= u64::from(u16::MAX) {
        out.push_with_header([UINT16], (v as u16).to_be_bytes());
    } else if v <= u64::from(u32::MAX) {
        out.push_with_header([UINT32], (v as u32).to_be_bytes());
    } else {
        out.push_with_header([UINT64], v.to_be_bytes());
    }
}

/// Writes a double. Needs room for [`HEADER_MAX`].
#[inline(always)]
pub(super) fn double(out: &mut Out<'_>, v: f64) {
    out.push_with_header([FLOAT64], v.to_be_bytes());
}

/// Writes a single-precision number. Needs room for [`HEADER_MAX`].
#[inline(always)]
pub(super) fn single(out: &mut Out<'_>, v: f32) {
    out.push_with_header([FLOAT32], v.to_be_bytes());
}

/// Writes the header of an array or a map. Needs room for five bytes.
#[inline(always)]
pub(super) fn container(out: &mut Out<'_>, map: bool, count: u64) -> Result {
    if count < 16 {
        out.push(if map { FIXMAP } else { FIXARRAY } | count as u8);
        return Ok(());
    }
    long_container(out, map, count)
}

fn long_container(out: &mut Out<'_>, map: bool, count: u64) -> Result {
    match container_header(map, container_count(map, count)?) {
        ([a, b, c, ..], 3) => out.push_array([a, b, c]),
        (header, _) => out.push_array(header),
    }
    Ok(())
}

/// Returns a count that fits a header, or an error.
#[inline]
pub(super) fn container_count(map: bool, count: u64) -> Result<u32> {
    u32::try_from(count).map_err(|_| {
        let (what, of) = if map { ("a map", "pairs") } else { ("an array", "values") };
        too_large(format!("found {what} of {count} {of}"))
    })
}

/// Returns a length that fits a header, or an error.
#[inline]
fn payload_length(what: &str, length: usize) -> Result<u32> {
    u32::try_from(length).map_err(|_| too_large(format!("found {what} of {length} bytes")))
}

#[cold]
fn too_large(found: String) -> Error {
    Error::unrepresentable(format!(
        "{found}, which MessagePack cannot hold: its largest count is {}",
        u32::MAX
    ))
}
