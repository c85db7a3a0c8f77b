//! YAML 1.2 (revision 1.2.2), all of it: block and flow style, every scalar style, anchors and
//! aliases, tags, directives, streams of documents.
//!
//! The reader resolves plain scalars by the core schema unless [`Options`] says otherwise: `1` is
//! an integer of any size, `1.5` a double, `true` and `null` are what they say, and anything else
//! is text. Keys are resolved the same way, so `1: a` has an integer key. Anchors become references
//! if the target holds them; otherwise their values are repeated, within
//! [`Limits::aliases`](crate::Limits::aliases).
//!
//! Deviations from the specification, and what is lost in conversions to other formats, are listed
//! in `docs/formats/yaml.md`. Comments, styles, the order of directives and the names of anchors
//! are read but not kept.

mod block;
mod breaks;
mod compose;
mod event;
mod fault;
mod flow;
mod keys;
mod literal;
mod machine;
mod marks;
mod meaning;
mod merge;
mod notation;
mod peer;
pub(crate) mod places;
mod plain;
mod props;
mod quote;
mod quote_simd;
mod quoted;
mod reader;
mod references;
mod scalar;
mod schema;
mod schema_11;
mod schema_psych;
mod simd;
mod tags;
#[cfg(test)]
mod tests;
mod view;
mod writer;

pub use crate::options::yaml::{Options, Schema, WriteOptions};
pub use notation::events;
#[doc(hidden)]
pub use peer::{Peer, differs};
pub(crate) use quote::separates;
pub use reader::Parser;
pub use writer::Writer;

use crate::bytes::buffer::Out;
use crate::codec::contract::Codec;
use crate::codec::contract::{Looks, skip_blank};
use crate::model::format::Format;
use crate::options;
use crate::policy::fidelity::Fidelity;

/// Bytes to events: a [`Parser`] over a slice or a stream.
pub type Reader<'a> = crate::bytes::reader::Reader<'a, Parser>;

crate::codec::grid::grid! {
    /// Returns the value as a document of YAML. What the format cannot hold goes by `policy`.
    ///
    /// ```
    /// use regauge::{OnLoss, Value, yaml};
    /// let value = Value::from([("a", 1)]);
    /// let bytes = yaml::to_vec(&value, OnLoss::Refuse)?;
    /// assert_eq!(yaml::from_slice(&bytes)?, value);
    /// # Ok::<(), regauge::Error>(())
    /// ```
    Yaml, "document"
}

/// YAML 1.2, or 1.1 if asked.
#[derive(Clone, Copy, Debug)]
pub enum Yaml {}

impl Codec for Yaml {
    const FORMAT: Format = Format::Yaml;
    type Parser = Parser;
    type Writer<'o> = Writer<'o>;

    fn parser(options: &options::Options) -> Parser {
        let mut read = options.yaml.clone();
        read.count_rounded |= options.report;
        Parser::new(read, options.limits)
    }

    fn writer<'o>(out: Out<'o>, options: &options::Options, fidelity: Fidelity) -> Writer<'o> {
        let mut write = options.yaml_write.clone();
        write.schema = options.yaml.schema;
        write.exact_numbers |= options.json_read.exact_numbers;
        Writer::new(out, write, fidelity)
    }

    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o> {
        writer.into_out()
    }

    fn is_contradicted(looks: Looks, head: &[u8]) -> bool {
        match looks {
            // `<<: *other` is a key.
            Looks::Like(Format::MarcXml) => skip_blank(head).starts_with(b"<?xml"),
            // Text of other formats is a plain scalar, or a flow collection.
            Looks::Like(other) => !other.is_text(),
            Looks::Other(_) => true,
            Looks::Text => false,
        }
    }
}
