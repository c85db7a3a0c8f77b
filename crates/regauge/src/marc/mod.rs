//! MARC 21 and UNIMARC records in their three serialisations: ISO 2709 ([`iso2709`]), MARCXML
//! ([`xml`]) and MARC-in-JSON ([`json`]).
//!
//! A record is a leader of 24 characters and fields. A *control field* (tag `00X`) is text; a
//! *data field* has two indicators and subfields, each a code of one character and a text.
//!
//! # The shape that every format carries a record in
//!
//! All three readers give, and all three writers take, the events of MARC-in-JSON (Ross Singer's
//! proposal, the one that ruby-marc, pymarc, MARC4J and yaz write), so a record can lie in JSON,
//! MessagePack or any other format and come back:
//!
//! ```json
//! {"leader": "00714cam a2200205 a 4500", "fields": [
//!   {"001": "12883376"},
//!   {"245": {"ind1": "1", "ind2": "0", "subfields": [{"a": "Transformations"}]}}]}
//! ```
//!
//! What ISO 2709 can hold beyond that has a place in this shape too, so that it comes back:
//!
//! * `"charset": "utf-8"` (or `"marc-8"`) stands behind the leader when the bytes of a record are
//!   in another charset than leader/09 says, and only then.
//! * Indicators: the first character before the first subfield is `ind1`, all others are `ind2`,
//!   so a field with one, three or no indicators keeps them.
//! * A field with a tag other than `00X` that has no subfields is text, as a control field is
//!   (Aleph's `FMT`), unless it is just two indicators.
//! * A subfield without a code (a delimiter right before another) has the code `""`.
//! * The leader is text of 24 characters, a byte each (ISO 8859-1 should one be beyond ASCII).
//!
//! # What is not kept
//!
//! Record length, base address and directory are computed anew, so that wrong ones become right;
//! each record where the reader met that is counted (see
//! [`LossKind::Marc`](crate::fidelity::LossKind::Marc)). Line ends and the like between records
//! go. `docs/formats/marc.md` has the whole list.

pub(crate) mod charset;
pub mod iso2709;
pub mod json;
pub mod leader;
pub mod marc8;
pub mod record;
mod shape;
pub mod xml;

pub use charset::{Charset, CharsetChoice};
pub use record::{Field, Record, RecordBuilder};
pub use shape::TakeRecord;

/// How MARC is read and written.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The charset of ISO 2709 on reading: by default what the record says.
    pub charset: CharsetChoice,
    /// The charset of ISO 2709 on writing: by default the one that the record had, or that its
    /// leader says. Another choice changes leader/09 along with the bytes.
    pub write_charset: CharsetChoice,
    /// Read a record whose directory is wrong by its field terminators, if there are as many of
    /// them as directory entries. Each such record is counted as a loss.
    pub repair: bool,
    /// Write a field above 9,999 bytes and a record above 99,999 to ISO 2709 all the same, with
    /// nines where the number does not fit. Most readers cope; the standard does not know it.
    pub oversize: bool,
    /// On reading MARC-8, turn the references of the lossless technique (`&#x4E2D;`) into the
    /// characters that they stand for, where MARC-8 has none for them. A part of the
    /// wrapped notation: [`OnLoss::Wrap`](crate::OnLoss::Wrap) writes them, and
    /// [`Options::unwrap`](crate::Options::unwrap) turns this on.
    pub references: bool,
    /// Write MARCXML without line breaks and indentation.
    pub compact: bool,
}

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

/// Tells whether the tag is that of a control field: `001` to `009`, and any other `00X`.
#[inline]
pub fn is_control_tag(tag: &[u8]) -> bool {
    tag.starts_with(b"00")
}

/// Tells whether a character is one that MARC 21 has as an indicator: a blank, a digit or a small
/// letter. Decides only whether a field of two characters is two indicators or text.
#[inline]
pub(crate) fn is_indicator(c: u8) -> bool {
    matches!(c, b' ' | b'0'..=b'9' | b'a'..=b'z')
}
