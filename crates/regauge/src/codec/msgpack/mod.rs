//! MessagePack: a binary notation for everything that JSON holds, and for bytes, points in time and
//! keys of any type.
//!
//! The specification is <https://github.com/msgpack/msgpack/blob/master/spec.md> (of 2017, with
//! `str`, `bin`, `ext` and the timestamp extension). Every type in it is read and written; a file
//! is any number of concatenated documents.
//!
//! # Deviations
//! - A `str` whose bytes are not UTF-8 is read as [`Ext::BrokenText`](crate::Ext::BrokenText), and
//!   written back unchanged: the specification allows such bytes in a `str`.
//! - An extension of type -1 that is not a timestamp (5 bytes, or 2,000,000,000 nanoseconds) is
//!   read as an extension.
//!
//! # What a round trip loses
//! Only the choice of encodings: everything, timestamps included, is written in its shortest
//! encoding; `float 32` stays `float 32`. An array or map of unknown length that does not fit into
//! memory gets the widest header: see [`HOLD_BYTES`].

mod promised;
mod reader;
mod sinks;
mod skip;
#[cfg(test)]
mod tests;
mod token;
pub mod types;
mod writer;

pub use crate::bytes::buffer::HOLD_BYTES;
pub use promised::Promised;
pub use reader::Parser;
pub use skip::{Splitter, documents_end};
pub use writer::Writer;

use crate::bytes::buffer::Out;
use crate::codec::contract::Codec;
use crate::codec::contract::Looks;
use crate::model::limits::Limits;
use crate::policy::event::{Sink, Source as _};
use crate::{Error, Fidelity, Format, Result, options};

/// Reads MessagePack.
pub type Reader<'a> = crate::bytes::reader::Reader<'a, Parser>;

/// Reads one document, which nothing may follow.
fn one_document<S: Sink>(bytes: &[u8], limits: Limits, sink: &mut S) -> Result {
    let mut reader = Reader::from_slice(Parser::new(limits), bytes);
    let located = |error: Error| error.in_format(Format::Msgpack);
    if !reader.next(sink)? {
        return Err(located(Error::truncated("found no bytes, expected a value").at(0)));
    }
    let end = reader.offset();
    if end < bytes.len() as u64 {
        let left = bytes.len() as u64 - end;
        let message =
            format!("found {left} trailing bytes after the value, expected the end of the input");
        return Err(located(Error::syntax(message).at(end)));
    }
    Ok(())
}

/// Checks whether [`from_slice`] could read the bytes, within the limits, without building a value.
///
/// # Errors
/// Same as [`from_slice`].
pub fn check(bytes: &[u8], limits: &Limits) -> Result<()> {
    one_document(bytes, *limits, &mut sinks::Null::new())
}

crate::codec::grid::grid! {
    /// Returns the value as MessagePack, in the shortest encoding. Values that the format cannot hold
    /// follow `policy`.
    ///
    /// ```
    /// use regauge::{OnLoss, Value, msgpack};
    /// let value = Value::Array(vec![Value::Int(1), Value::Text("a".into())]);
    /// let bytes = msgpack::to_vec(&value, OnLoss::Refuse)?;
    /// assert_eq!(bytes, b"\x92\x01\xA1a");
    /// assert_eq!(msgpack::from_slice(&bytes)?, value);
    /// # Ok::<(), regauge::Error>(())
    /// ```
    Msgpack, "value"
}

/// MessagePack.
#[derive(Clone, Copy, Debug)]
pub enum Msgpack {}

/// MessagePack from a source that knows the length of every array and map in advance, as objects in
/// memory do. Not a row of the table: see [`options::Options::visit_sized`].
#[derive(Clone, Copy, Debug)]
pub enum Sized {}

impl Codec for Sized {
    const FORMAT: Format = Format::Msgpack;
    type Parser = Parser;
    type Writer<'o> = Promised<'o>;

    fn parser(options: &options::Options) -> Parser {
        Msgpack::parser(options)
    }

    fn writer<'o>(out: Out<'o>, _: &options::Options, fidelity: Fidelity) -> Promised<'o> {
        Promised::new(out, fidelity)
    }

    #[inline]
    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o> {
        writer.into_out()
    }
}

impl Codec for Msgpack {
    const FORMAT: Format = Format::Msgpack;
    type Parser = Parser;
    type Writer<'o> = Writer<'o>;

    fn parser(options: &options::Options) -> Parser {
        Parser::new(options.limits)
    }

    fn writer<'o>(out: Out<'o>, _: &options::Options, fidelity: Fidelity) -> Writer<'o> {
        Writer::new(out, fidelity)
    }

    #[inline]
    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o> {
        writer.into_out()
    }

    fn is_contradicted(looks: Looks, head: &[u8]) -> bool {
        match looks {
            Looks::Like(Format::Msgpack) => false,
            // A length can begin like a large array.
            Looks::Like(Format::Bson) => head.first().is_some_and(u8::is_ascii),
            // Letters are small integers.
            Looks::Like(_) | Looks::Other(_) | Looks::Text => true,
        }
    }
}
