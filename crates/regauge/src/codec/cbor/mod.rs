//! CBOR: a binary notation for what JSON holds, plus bytes, big integers, tagged values and keys of
//! any type.
//!
//! The specification is RFC 8949 (Internet Standard 94). A file is any number of documents in
//! sequence, which is a CBOR sequence (RFC 8742). Every well-formed item is read: definite and
//! indefinite lengths, halves, singles and doubles, simple values, tags. Anything malformed
//! (Appendix F) is an error.
//!
//! Tags with a meaning that other formats share have an event of their own: bignums (2, 3), dates
//! and times (0, 1, 1001, 1002, 1004), decimal fractions (4), regular expressions (35), UUIDs (37),
//! identifiers (39), shared values (28, 29). Every other tag is a [`Type`](crate::Type) with origin
//! `cbor`, kind `tag` and its number as the name.
//!
//! # Deviations
//! - Text that is not UTF-8, which the specification calls invalid, is read as
//!   [`Ext::BrokenText`](crate::Ext::BrokenText). On writing it is refused, wrapped or repaired.
//! - Duplicate keys are kept. `--duplicate-keys refuse` stops at them.
//! - A character may be split between two chunks of an indefinite-length text string.
//! - A tag over content of the wrong kind stays a type with that content.
//!
//! # What a round trip loses
//! The choice of encodings: lengths become definite, integers and lengths become shortest, and a
//! single that fits in a half becomes one; a double stays a double. From CBOR to CBOR, tags are
//! preserved, except for bignums that fit in an integer.

mod diagnostic;
mod half;
mod late;
mod reader;
mod scalars;
mod sharing;
mod skip;
mod sorted;
mod tags;
#[cfg(test)]
mod tests;
mod types;
mod whole;
mod writer;

pub use crate::bytes::buffer::HOLD_BYTES;
pub use crate::options::cbor::Options;
pub use diagnostic::diagnostic;
pub use reader::Parser;
pub use writer::Writer;

use crate::bytes::buffer::Out;
use crate::codec::contract::Codec;
use crate::codec::contract::Looks;
use crate::policy::event::Writer as _;
use crate::{Fidelity, Format, OnLoss, Result, Value, options};

/// Reads CBOR.
pub type Reader<'a> = crate::bytes::reader::Reader<'a, Parser>;

crate::codec::grid::grid! {
    /// Returns the value as CBOR, in the shortest encoding. `policy` decides what happens to values
    /// that CBOR cannot hold.
    ///
    /// ```
    /// use regauge::{OnLoss, Value, cbor};
    /// let value = Value::Array(vec![Value::Int(1), Value::Text("a".into())]);
    /// let bytes = cbor::to_vec(&value, OnLoss::Refuse)?;
    /// assert_eq!(bytes, b"\x82\x01\x61a");
    /// assert_eq!(cbor::from_slice(&bytes)?, value);
    /// # Ok::<(), regauge::Error>(())
    /// ```
    Cbor, "item"
}

/// Same as [`to_vec`], with options: [`Options::deterministic`] and the like.
///
/// # Errors
/// Same as [`to_vec`].
pub fn to_vec_with(value: &Value, options: &Options, policy: OnLoss) -> Result<Vec<u8>> {
    let mut writer = Writer::in_memory(options.clone(), policy);
    value.drive(&mut writer)?;
    writer.end_document()?;
    Ok(writer.into_vec())
}

/// CBOR.
#[derive(Clone, Copy, Debug)]
pub enum Cbor {}

impl Codec for Cbor {
    const FORMAT: Format = Format::Cbor;
    type Parser = Parser;
    type Writer<'o> = Writer<'o>;

    fn parser(options: &options::Options) -> Parser {
        let mut cbor = options.cbor.clone();
        // The writer gives back the very tags, also those that others have a value for.
        cbor.keep_tags |= options.identity;
        Parser::new(cbor, options.limits)
    }

    fn writer<'o>(out: Out<'o>, options: &options::Options, fidelity: Fidelity) -> Writer<'o> {
        let mut cbor = options.cbor.clone();
        cbor.keep_tags |= options.identity;
        Writer::new(out, cbor, fidelity)
    }

    #[inline]
    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o> {
        writer.into_out()
    }

    fn is_contradicted(looks: Looks, head: &[u8]) -> bool {
        match looks {
            // Their first bytes are small integers here.
            Looks::Like(Format::Marshal | Format::Bson | Format::Cbor) => false,
            Looks::Text => !is_short_text(head),
            Looks::Like(_) | Looks::Other(_) => true,
        }
    }
}

/// Returns whether this is a sequence of short texts alone, whose heads are letters: `e` is a text of five bytes.
fn is_short_text(mut head: &[u8]) -> bool {
    while let [first, rest @ ..] = head {
        let 0x60..=0x77 = first else { return false };
        // The last one may be cut off.
        head = rest.get(usize::from(first - 0x60)..).unwrap_or_default();
    }
    true
}
