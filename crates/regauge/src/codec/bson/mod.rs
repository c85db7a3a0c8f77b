//! BSON: the binary documents of MongoDB.
//!
//! The specification is <https://bsonspec.org/spec.html>, including the types that MongoDB has
//! deprecated and the subtypes of binary data that it has added. A file is any number of
//! concatenated documents, as mongodump writes them. On request, JSON is read and written as
//! MongoDB's Extended JSON v2: see [`extended`].
//!
//! # Deviations
//! - Text that is not UTF-8 is read as [`Ext::BrokenText`](crate::Ext::BrokenText); in code,
//!   symbols, namespaces and regular expressions it is an error.
//! - The names of an array's elements are ignored: only their order counts.
//! - An `int64` that would fit 32 bits is an ordinary integer, unless BSON or canonical Extended
//!   JSON is written.
//!
//! # What a round trip loses
//! The names of an array's elements, if they are not its indexes, and the order of a regular
//! expression's options, which becomes alphabetical.

pub mod extended;
mod faults;
mod names;
mod reader;
#[cfg(test)]
mod tests;
mod types;
mod writer;

pub use crate::bytes::buffer::HOLD_BYTES;
pub use crate::options::bson::{ExtendedJson, Options};
pub use reader::Parser;
pub use writer::Writer;

use crate::bytes::buffer::Out;
use crate::codec::contract::Codec;
use crate::codec::contract::Looks;
use crate::{Fidelity, Format, options};

/// Reads BSON.
pub type Reader<'a> = crate::bytes::reader::Reader<'a, Parser>;

/// Returns whether the document at the start of these bytes is complete.
pub(crate) fn is_whole(head: &[u8]) -> bool {
    let length = head.first_chunk().map(|length| i32::from_le_bytes(*length));
    length.is_some_and(|length| usize::try_from(length).is_ok_and(|length| length <= head.len()))
}

/// Returns whether the first bytes of a file look like a document: a length, a type and a name; and
/// a zero byte at the end, if the end is among them.
pub(crate) fn is_likely(head: &[u8]) -> bool {
    let Some((length, rest)) = head.split_first_chunk() else { return false };
    let length = i32::from_le_bytes(*length);
    // Documents larger than MongoDB accepts exist, but not by a wide margin.
    if !(types::DOCUMENT_MIN..1 << 28).contains(&length) {
        return false;
    }
    let last = head.get(length as usize - 1);
    if length == types::DOCUMENT_MIN {
        return last == Some(&0);
    }
    let Some((&kind, name)) = rest.split_first() else { return false };
    let name = &name[..name.len().min(256)];
    let is_name = memchr::memchr(0, name)
        .is_some_and(|end| !name[..end].iter().any(|byte| byte.is_ascii_control()));
    types::is_type(kind) && is_name && last.is_none_or(|last| *last == 0)
}

crate::codec::grid::grid! {
    /// Returns the value, a map, as BSON. Values that the format cannot hold follow `policy`.
    ///
    /// ```
    /// use regauge::{OnLoss, Value, bson};
    /// let value = Value::Map(vec![(Value::Text("a".into()), Value::Int(1))]);
    /// let bytes = bson::to_vec(&value, OnLoss::Refuse)?;
    /// assert_eq!(bytes, b"\x0C\0\0\0\x10a\0\x01\0\0\0\0");
    /// assert_eq!(bson::from_slice(&bytes)?, value);
    /// # Ok::<(), regauge::Error>(())
    /// ```
    Bson, "document"
}

/// BSON.
#[derive(Clone, Copy, Debug)]
pub enum Bson {}

impl Codec for Bson {
    const FORMAT: Format = Format::Bson;
    type Parser = Parser;
    type Writer<'o> = Writer<'o>;

    fn parser(options: &options::Options) -> Parser {
        let mut bson = options.bson.clone();
        bson.int64 |= options.keeps_int64();
        bson.count_names |= options.report;
        Parser::new(bson, options.limits)
    }

    fn writer<'o>(out: Out<'o>, options: &options::Options, fidelity: Fidelity) -> Writer<'o> {
        Writer::new(out, options.bson.clone(), fidelity)
    }

    #[inline]
    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o> {
        writer.into_out()
    }

    fn is_contradicted(looks: Looks, _: &[u8]) -> bool {
        match looks {
            Looks::Like(other) => other.is_text() || other == Format::Marc,
            Looks::Other(_) => true,
            Looks::Text => false,
        }
    }
}
