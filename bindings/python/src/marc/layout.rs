//! The bytes of a record (ISO 2709): its directory, and whether it conforms to the standard.

use std::ops::Range;

use pyo3::prelude::*;
use regauge::marc::{FIELD_TERMINATOR, RECORD_TERMINATOR, SUBFIELD_DELIMITER, is_control_tag};

/// Bytes of a leader.
pub const LEADER_BYTES: usize = 24;
/// Bytes of a directory entry.
pub const ENTRY_BYTES: usize = 12;

/// Parses ASCII digits.
fn digits(bytes: &[u8]) -> Option<usize> {
    bytes.iter().try_fold(0usize, |sum, byte| {
        byte.is_ascii_digit().then(|| sum * 10 + usize::from(byte - b'0'))
    })
}

/// The directory and the data of a record.
pub struct Parts<'a> {
    directory: &'a [u8],
    data: &'a [u8],
}

/// Returns both, if the record has them where its leader says.
pub fn parts(record: &[u8]) -> Option<Parts<'_>> {
    let leader = record.get(..LEADER_BYTES)?;
    let base = digits(&leader[12..17])?;
    let directory = record.get(LEADER_BYTES..base.checked_sub(1)?)?;
    let data = record.get(base..record.len() - 1)?;
    let whole = record.last() == Some(&RECORD_TERMINATOR)
        && record[base - 1] == FIELD_TERMINATOR
        && !directory.is_empty()
        && directory.len().is_multiple_of(ENTRY_BYTES);
    whole.then_some(Parts { directory, data })
}

impl<'a> Parts<'a> {
    /// Returns the data as text, if it is valid: checked in one go, which is faster than field by
    /// field.
    pub fn text(&self) -> Option<&'a str> {
        simdutf8::basic::from_utf8(self.data).ok()
    }
}

/// Iterates over the tags, and the position of each field's content in the data, without its
/// terminator; `None` for an invalid entry.
pub fn entries<'a>(parts: &Parts<'a>) -> impl Iterator<Item = Option<(&'a str, Range<usize>)>> {
    let data = parts.data;
    parts.directory.chunks_exact(ENTRY_BYTES).map(move |entry| {
        let tag = std::str::from_utf8(&entry[..3]).ok().filter(|tag| tag.is_ascii())?;
        let (length, start) = (digits(&entry[3..7])?, digits(&entry[7..12])?);
        let end = start.checked_add(length.checked_sub(1)?)?;
        (data.get(end) == Some(&FIELD_TERMINATOR)).then_some((tag, start..end))
    })
}

/// Returns whether a data field conforms to the standard: two ASCII indicators, subfields with
/// ASCII codes.
fn is_regular_field(field: &[u8]) -> bool {
    if field.len() < 2 || !field[..2].is_ascii() || field[..2].contains(&SUBFIELD_DELIMITER) {
        return false;
    }
    if field.len() > 2 && field[2] != SUBFIELD_DELIMITER {
        return false;
    }
    memchr::memchr_iter(SUBFIELD_DELIMITER, field).all(|at| {
        field.get(at + 1).is_some_and(|code| code.is_ascii() && *code != SUBFIELD_DELIMITER)
    })
}

/// Returns whether a record can be kept as its bytes, and turned into fields later without an
/// error: its directory is valid, and its text is UTF-8 (with `utf8`), or ASCII without escapes,
/// which all MARC charsets share.
#[pyfunction]
pub fn is_regular(record: &[u8], utf8: bool) -> bool {
    let Some(parts) = parts(record) else { return false };
    if !record[..LEADER_BYTES].is_ascii() {
        return false;
    }
    if digits(&record[..5]) != Some(record.len()) {
        return false;
    }
    let text = match utf8 {
        true => parts.text().is_some(),
        false => parts.data.is_ascii() && !parts.data.contains(&0x1B),
    };
    // A rewritten record has its fields in order, without gaps.
    let mut next = 0;
    let mut is_regular = |tag: &str, place: Range<usize>| {
        let in_order = place.start == next;
        next = place.end + 1;
        in_order
            && ((is_control_tag(tag.as_bytes()) && tag.as_bytes()[2].is_ascii_digit())
                || is_regular_field(&parts.data[place]))
    };
    text && entries(&parts).all(|entry| entry.is_some_and(|(tag, place)| is_regular(tag, place)))
        && next == parts.data.len()
}
