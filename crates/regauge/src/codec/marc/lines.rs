//! Lines: what the formats with a line for each field have in common.

use std::ops::Range;

use super::shape::{record_limit, too_long};
use crate::bytes::reader::Resync;
use crate::model::record::Record;
use crate::{Limits, Result};

/// Where a search for a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The line begins here, or the input ends.
    At(usize),
    /// The line that begins here is not whole, and none before it is the right one.
    Open(usize),
}

/// Finds the first line from `from` on for which `is_it` holds, given where the line begins and the
/// line without its end.
pub(super) fn find_line(
    bytes: &[u8],
    from: usize,
    last: bool,
    mut is_it: impl FnMut(usize, &[u8]) -> bool,
) -> Found {
    let mut at = from;
    while at < bytes.len() {
        let (line, next) = match memchr::memchr(b'\n', &bytes[at..]) {
            Some(length) => (at..at + length, at + length + 1),
            None if last => (at..bytes.len(), bytes.len()),
            None => return Found::Open(at),
        };
        if is_it(at, without_return(&bytes[line])) {
            return Found::At(at);
        }
        at = next;
    }
    if last { Found::At(bytes.len()) } else { Found::Open(bytes.len()) }
}

/// Finds the line to resume at after a broken record, whose own first line is `bytes[start..]` up to its
/// end, whatever it is.
pub(super) fn resume(
    bytes: &[u8],
    start: usize,
    last: bool,
    is_next: impl FnMut(usize, &[u8]) -> bool,
) -> Resync {
    let second = memchr::memchr(b'\n', &bytes[start..]).map(|length| start + length + 1);
    match second.map(|second| find_line(bytes, second, last, is_next)) {
        Some(Found::At(next)) => Resync::At(next),
        // The line end before it stays: whatever comes first is taken for the record's own.
        Some(Found::Open(at)) => Resync::Past(at - 1),
        None if last => Resync::At(bytes.len()),
        None if bytes.len() == start => Resync::More,
        None => Resync::Past(bytes.len()),
    }
}

/// Returns the range of the line at `at` without its end, and where the next one begins.
pub(super) fn line_at(bytes: &[u8], at: usize) -> (Range<usize>, usize) {
    let (end, next) = match memchr::memchr(b'\n', &bytes[at..]) {
        Some(length) => (at + length, at + length + 1),
        None => (bytes.len(), bytes.len()),
    };
    (at..at + without_return(&bytes[at..end]).len(), next)
}

/// Returns the first line without its end, if it is whole.
pub(super) fn whole_line(bytes: &[u8], last: bool) -> Option<&[u8]> {
    let (line, next) = line_at(bytes, 0);
    (last || bytes[..next].ends_with(b"\n")).then(|| &bytes[line])
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns the first character of a text, which may be empty, and the rest.
#[inline]
pub(super) fn split_first(text: &str) -> (&str, &str) {
    text.split_at(text.chars().next().map_or(0, char::len_utf8))
}

/// Checks that a record is within its bound.
///
/// # Errors
/// `Limit`.
#[inline]
pub(super) fn check_weight(record: &Record, limits: &Limits) -> Result {
    let bound = record_limit(limits);
    if record.weight() > bound { Err(too_long(bound)) } else { Ok(()) }
}
