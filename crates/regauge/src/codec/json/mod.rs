//! JSON (RFC 8259) and NDJSON (one document per line).
//!
//! The reader is strict unless [`ReadOptions`] says otherwise. Choices that the RFC leaves open: a
//! byte order mark at the start is skipped, integers are exact at any size, a number with a
//! fraction or an exponent is the nearest double, `-0` is the double -0.0, duplicate keys and the
//! order of keys are kept, a lone surrogate is kept ([`Ext::Surrogates`](crate::Ext::Surrogates)),
//! text that is not UTF-8 is refused.
//!
//! The writer preserves all of that: a double is always written with a fraction or an exponent, so
//! that it reads back as a double. NaN, infinities, bytes, points in time, keys that are not text
//! and similar values are subject to the policy of [`crate::policy::fidelity`].
//!
//! `docs/formats/json.md` has the tables.

mod escape;
mod numbers;
pub(crate) mod places;
mod rare;
mod reader;
mod string;
#[cfg(test)]
mod tests;
mod value;
mod writer;

pub use crate::model::number::is_number;
pub use crate::options::json::{FloatStyle, Framing, ReadOptions, WriteOptions};
pub use reader::Parser;
pub use value::{to_vec, to_writer};
pub use writer::Writer;

use crate::bytes::buffer::Out;
use crate::codec::contract::Codec;
use crate::codec::contract::Looks;
use crate::model::format::Format;
use crate::options::Options;
use crate::policy::fidelity::Fidelity;

/// Bytes to events: a [`Parser`] over a slice or a stream.
pub type Reader<'a> = crate::bytes::reader::Reader<'a, Parser>;

crate::codec::grid::grid!(@read Json, "value");

/// JSON in one document.
#[derive(Clone, Copy, Debug)]
pub enum Json {}

/// JSON documents, one per line.
#[derive(Clone, Copy, Debug)]
pub enum Ndjson {}

impl Codec for Json {
    const FORMAT: Format = Format::Json;
    type Parser = Parser;
    type Writer<'o> = Writer<'o>;

    fn parser(options: &Options) -> Parser {
        match options.json_read.framing {
            Framing::Concatenated => parser(options, Framing::Concatenated),
            Framing::Single | Framing::Lines => parser(options, Framing::Single),
        }
    }

    fn writer<'o>(out: Out<'o>, options: &Options, fidelity: Fidelity) -> Writer<'o> {
        writer(out, options, fidelity, false)
    }

    #[inline]
    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o> {
        writer.into_out()
    }

    fn is_contradicted(looks: Looks, _: &[u8]) -> bool {
        looks.is_neither_json_nor_yaml()
    }
}

impl Codec for Ndjson {
    const FORMAT: Format = Format::Ndjson;
    type Parser = Parser;
    type Writer<'o> = Writer<'o>;

    fn parser(options: &Options) -> Parser {
        parser(options, Framing::Lines)
    }

    fn writer<'o>(out: Out<'o>, options: &Options, fidelity: Fidelity) -> Writer<'o> {
        writer(out, options, fidelity, true)
    }

    #[inline]
    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o> {
        writer.into_out()
    }

    fn is_contradicted(looks: Looks, _: &[u8]) -> bool {
        looks.is_neither_json_nor_yaml()
    }
}

/// Returns a parser for documents that are arranged like this.
pub(crate) fn parser(options: &Options, framing: Framing) -> Parser {
    let mut read = options.json_read;
    read.framing = framing;
    read.count_rounded |= options.report;
    Parser::new(read, options.limits)
}

fn writer<'o>(out: Out<'o>, options: &Options, fidelity: Fidelity, lines: bool) -> Writer<'o> {
    let mut write = options.json_write;
    write.lines = lines;
    write.exact_numbers |= options.json_read.exact_numbers;
    Writer::new(out, write, fidelity)
}
