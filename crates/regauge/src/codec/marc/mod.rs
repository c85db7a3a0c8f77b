//! MARC 21 and UNIMARC records in their serialisations: ISO 2709 ([`iso2709`]), MARCXML ([`xml`]),
//! MARC-in-JSON ([`json`]), and the lines of MARCMaker ([`mrk`]) and Aleph ([`aleph`]).
//!
//! A record is a leader of 24 characters and fields. A *control field* (tag `00X`) is text; a
//! *data field* has two indicators and subfields, each a code of one character and a text.
//!
//! # The shape of a record in every format
//!
//! All readers emit, and all writers accept, the events of MARC-in-JSON (Ross Singer's
//! proposal, which ruby-marc, pymarc, MARC4J and yaz write), so a record can be stored as JSON,
//! MessagePack or any other format and come back:
//!
//! ```json
//! {"leader": "00714cam a2200205 a 4500", "fields": [
//!   {"001": "12883376"},
//!   {"245": {"ind1": "1", "ind2": "0", "subfields": [{"a": "Transformations"}]}}]}
//! ```
//!
//! Whatever ISO 2709 can hold beyond that has a place in this shape too, so that it round-trips:
//!
//! * `"charset": "utf-8"` (or `"marc-8"`) follows the leader if, and only if, the bytes of a record
//!   are in a different charset from what leader/09 says.
//! * Indicators: the first character before the first subfield is `ind1`, all others are `ind2`, so
//!   a field with one, three or no indicators keeps them.
//! * A field with a tag other than `00X` that has no subfields is text, like a control field
//!   (Aleph's `FMT`), unless it is exactly two indicators.
//! * A subfield without a code (a delimiter right before another) has the code `""`.
//! * The leader is text of 24 characters, one byte each (ISO 8859-1 if one is beyond ASCII).
//!
//! # What is lost
//!
//! Record length, base address and directory are recomputed, so that wrong ones become right; each
//! record in which the reader found a wrong one is counted (see
//! [`LossKind::Marc`](crate::policy::fidelity::LossKind::Marc)). Line ends and similar bytes between
//! records are dropped. `docs/formats/marc.md` has the complete list.

pub mod aleph;
mod body;
mod builder;
pub(crate) mod charset;
pub mod iso2709;
pub mod json;
pub mod leader;
mod lines;
#[cfg(test)]
mod lines_tests;
pub mod marc8;
pub mod mrk;
mod scan;
mod shape;
pub mod xml;

pub use crate::model::record::{Charset, Field, Record};
pub use crate::options::marc::{CharsetChoice, Options};
pub use builder::RecordBuilder;
pub use shape::TakeRecord;

/// Ends a record in ISO 2709.
pub const RECORD_TERMINATOR: u8 = 0x1D;
/// Ends a field, and the directory.
pub const FIELD_TERMINATOR: u8 = 0x1E;
/// Begins a subfield.
pub const SUBFIELD_DELIMITER: u8 = 0x1F;

/// The longest record whose length fits the leader's five digits.
pub const RECORD_BYTES_MAX: usize = 99_999;
/// The longest field, with its terminator, whose length fits the directory's four digits.
pub const FIELD_BYTES_MAX: usize = 9_999;

/// Returns whether the tag is that of a control field: `001` to `009`, and any other `00X`.
#[inline]
pub fn is_control_tag(tag: &[u8]) -> bool {
    tag.starts_with(b"00")
}

/// Returns whether MARC 21 allows the character as an indicator: a blank, a digit or a lower-case
/// letter. Decides only whether a field of two characters is two indicators or text.
#[inline]
fn is_indicator(c: u8) -> bool {
    matches!(c, b' ' | b'0'..=b'9' | b'a'..=b'z')
}

/// Returns whether a field without a delimiter is a data field without subfields, consisting of its
/// indicators.
#[inline]
fn is_pair(content: &[u8]) -> bool {
    matches!(content, [a, b] if is_indicator(*a) && is_indicator(*b))
}

/// Returns the length of bytes that may be between two records without belonging to one.
fn between(rest: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += match &rest[at..] {
            [b'\n' | b'\r' | b' ' | b'\t' | 0 | 0x1A, ..] => 1,
            [0xEF, 0xBB, 0xBF, ..] => 3,
            _ => return at,
        };
    }
}
