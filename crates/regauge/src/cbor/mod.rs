//! CBOR: a binary notation for what JSON holds, and for bytes, big integers, tagged values and keys
//! of any type.
//!
//! The specification is RFC 8949 (Internet Standard 94); a file is any number of documents, one
//! behind the other, which is a CBOR sequence (RFC 8742). Every item that is well-formed is read:
//! lengths definite and indefinite, halves, singles and doubles, simple values, tags. What is not
//! (Appendix F) is an error.
//!
//! Tags that mean something that other formats know have an event of their own: bignums (2, 3),
//! dates and times (0, 1, 1001, 1002, 1004), decimal fractions (4), regular expressions (35), UUIDs
//! (37), identifiers (39), shared values (28, 29). Every other tag is a [`Type`](crate::Type) of
//! origin `cbor` and kind `tag`, whose name is its number.
//!
//! # Deviations
//! - Text that is not UTF-8 is read as [`Ext::BrokenText`](crate::Ext::BrokenText), where the
//!   specification calls it not valid; written it is refused, wrapped or repaired.
//! - Keys that stand twice are kept. `--duplicate-keys refuse` stops at them.
//! - A character may be parted between two chunks of a text of indefinite length.
//! - A tag over content that the tag is not made for stays a type with that content.
//!
//! # What a round trip loses
//! The choice of encodings: lengths become definite, integers and lengths shortest, a single that a
//! half holds becomes one; a double stays a double. From CBOR to CBOR tags stay as they are, but for
//! bignums that an integer holds.

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

pub use diagnostic::diagnostic;
pub use reader::Parser;
pub use writer::{HOLD_BYTES, Writer};

use crate::event::{Source as _, Writer as _};
use crate::limits::Limits;
use crate::value::{Builder, Value};
use crate::{Error, Format, OnLoss, Result};

/// How CBOR is read and written.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Tags stay types in reading, also those that have an event of their own, bignums and references
    /// aside, and the writer gives back the very tags; a conversion from CBOR to CBOR sets it.
    /// Without, the writer leaves those tags to the policy: who reads them would take what is in
    /// them for a date, a decimal, ….
    pub keep_tags: bool,
    /// Writing: the core deterministic encoding of RFC 8949 §4.2.1. Lengths are definite, integers,
    /// lengths and floats shortest, the keys of a map in the order of their bytes. A document is
    /// held in memory until it is whole; references are not written.
    pub deterministic: bool,
    /// Writing: arrays and maps of unknown length have indefinite length, so that nothing waits in
    /// memory.
    pub indefinite: bool,
}

/// Reads CBOR.
pub type Reader<'a> = crate::reader::Reader<'a, Parser>;

/// The value as CBOR, in the shortest encoding. What the format cannot hold goes by `policy`.
///
/// ```
/// use regauge::{OnLoss, Value, cbor};
/// let value = Value::Array(vec![Value::Int(1), Value::Text("a".into())]);
/// let bytes = cbor::to_vec(&value, &cbor::Options::default(), OnLoss::Refuse)?;
/// assert_eq!(bytes, b"\x82\x01\x61a");
/// assert_eq!(cbor::from_slice(&bytes)?, value);
/// # Ok::<(), regauge::Error>(())
/// ```
///
/// # Errors
/// `Refused` by the policy.
pub fn to_vec(value: &Value, options: &Options, policy: OnLoss) -> Result<Vec<u8>> {
    let mut writer = Writer::in_memory(options.clone(), policy);
    value.drive(&mut writer)?;
    writer.end_document()?;
    Ok(writer.into_vec())
}

/// The one document that the bytes hold, within the default limits.
///
/// # Errors
/// `Syntax` and `Truncated` with their offset, also where a second document follows; `Limit`.
pub fn from_slice(bytes: &[u8]) -> Result<Value> {
    let limits = Limits::default();
    let mut builder = Builder::new(&limits);
    let mut reader = Reader::from_slice(Parser::new(Options::default(), limits), bytes);
    let located = |error: Error| error.in_format(Format::Cbor);
    if !reader.next(&mut builder)? {
        return Err(located(Error::truncated("found no bytes, expected an item").at(0)));
    }
    let end = reader.offset();
    if end < bytes.len() as u64 {
        let left = bytes.len() as u64 - end;
        let message = format!("found {left} more bytes behind the item, expected the end");
        return Err(located(Error::syntax(message).at(end)));
    }
    Ok(builder.take().expect("a whole document was read"))
}
