//! Ruby's Marshal 4.8, read as inert data: no class is looked up, no object created, no method
//! called.
//!
//! There is no specification except `marshal.c` of CRuby and its documentation
//! (`doc/marshal.rdoc`); this code was checked against Ruby 3.1. A file is any number of documents
//! in sequence. `docs/formats/marshal.md` describes how objects are represented.

mod classes;
mod counted;
mod direct;
mod encoding;
mod float;
mod keys;
mod known;
mod leaves;
mod links;
mod moment;
mod objects;
mod read;
mod reader;
mod scan;
mod skip;
mod survey;
#[cfg(test)]
mod tests;
mod typed;
pub mod types;
mod walk;
mod writer;

pub use float::{TEXT_BYTES as FLOAT_BYTES, read_at as float_at, text as float_text};
pub use reader::Parser;
pub use survey::{Call, Class, Risk, Survey, Verdict, survey};
pub use writer::Writer;

use crate::codec::contract::Codec;
use crate::codec::contract::Looks;
use crate::convert;
use crate::fidelity::{Fidelity, OnLoss};
use crate::format::Format;
use crate::out::Out;

/// Reads Ruby Marshal.
pub type Reader<'a> = crate::reader::Reader<'a, Parser>;

/// Options for reading and writing Ruby Marshal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How a string without an encoding is read.
    pub binary: Binary,
    /// Read everything that is needed to write the same bytes again. Set this if the target is
    /// Marshal too.
    pub exact: bool,
    /// Read everything that Ruby itself needs to recreate the same objects: those of Ruby's
    /// standard library stay types, text keeps its encoding, and a string shared between several
    /// places stays one string, except for keys.
    pub inert: bool,
    /// Keep a DateTime as an object, instead of converting it to a time with an offset. The wrapped
    /// notation needs this to give back the class.
    pub date_times: bool,
    /// Read objects as their data (`--objects data`): keys that are symbols become text, and the
    /// default values and instance variables of hashes and text are omitted. Each such change is
    /// counted as a loss.
    pub data: bool,
}

impl Options {
    /// Returns whether objects of Ruby's standard library stay types.
    fn keeps_objects(&self) -> bool {
        self.exact || self.inert
    }
}

/// How to read a string without an encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binary {
    /// As bytes, like Ruby (`ASCII-8BIT`).
    #[default]
    Bytes,
    /// As text if its bytes are UTF-8, for files of Ruby 1.8, which had no encodings.
    Text,
}

/// Ruby's Marshal.
#[derive(Clone, Copy, Debug)]
pub enum Marshal {}

impl Codec for Marshal {
    const FORMAT: Format = Format::Marshal;
    type Parser = Parser;
    type Writer<'o> = Writer<'o>;

    fn parser(options: &convert::Options) -> Parser {
        let mut marshal = options.marshal.clone();
        marshal.exact |= options.identity;
        marshal.date_times |= options.on_loss == OnLoss::Wrap;
        marshal.data |= options.symbols_become_text() && !marshal.exact;
        Parser::new(marshal, options.limits)
    }

    fn writer<'o>(out: Out<'o>, options: &convert::Options, fidelity: Fidelity) -> Writer<'o> {
        Writer::new(out, options.marshal.clone(), fidelity)
    }

    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o> {
        writer.into_out()
    }

    fn is_contradicted(looks: Looks, _: &[u8]) -> bool {
        match looks {
            // A length can begin like this.
            Looks::Like(other) => other != Self::FORMAT && other != Format::Bson,
            Looks::Other(_) => true,
            Looks::Text => false,
        }
    }
}
