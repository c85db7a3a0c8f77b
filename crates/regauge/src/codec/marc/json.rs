//! MARC-in-JSON: JSON lines of MARC records.
//!
//! Reading is left to [`crate::codec::json`]: a file may hold an array of records, one record, one per
//! line, or several in sequence. So is writing from ISO 2709 and MARCXML, because those readers
//! emit only records, with the customary order of keys. For any other source, including
//! MARC-in-JSON, [`Writer`] goes first: it checks that each document is a record and puts the keys
//! in that order.

use super::builder::RecordBuilder;
use crate::bytes::buffer::Out;
use crate::codec::contract::Codec;
use crate::codec::contract::Looks;
use crate::codec::json;
use crate::model::format::Format;
use crate::policy::event::{Sink, forward};
use crate::{Fidelity, Limits, Result, options};

/// Checks that documents are MARC records, and writes them one per line.
pub struct Writer<'o> {
    /// Accepts the events.
    inner: RecordBuilder,
    lines: json::Writer<'o>,
}

impl<'o> Writer<'o> {
    /// Creates a writer into `out`.
    pub fn new(out: Out<'o>, fidelity: Fidelity) -> Writer<'o> {
        let options = json::WriteOptions { lines: true, ..json::WriteOptions::default() };
        let lines = json::Writer::new(out, options, fidelity.clone());
        Writer { inner: RecordBuilder::new(&Limits::default(), fidelity), lines }
    }

    /// Returns the buffer, with whatever is still in memory.
    pub fn into_out(self) -> Out<'o> {
        self.lines.into_out()
    }
}

impl Sink for Writer<'_> {
    forward!(null bool i64 u64 f64 f32 str bytes big_int ext begin_array end_array);
    forward!(begin_map key key_value end_map text_pair fidelity);
}

impl crate::policy::event::Writer for Writer<'_> {
    fn end_document(&mut self) -> Result {
        // JSON holds all text, so nothing of a record is lost and `inner` has all losses.
        self.inner.record().drive(&mut self.lines)?;
        self.lines.end_document()
    }
    fn finish(&mut self) -> Result {
        self.lines.finish()
    }
    fn checkpoint(&mut self) {
        self.lines.checkpoint();
    }
    fn rollback(&mut self) {
        self.inner.reset();
        self.lines.rollback();
    }
}

crate::codec::grid::grid! {
    /// Returns the value, which has the shape of MARC-in-JSON, as a line of MARC-in-JSON. What the format cannot hold goes
    /// by `policy`.
    MarcJson, "record"
}

/// MARC-in-JSON.
#[derive(Clone, Copy, Debug)]
pub enum MarcJson {}

impl Codec for MarcJson {
    const FORMAT: Format = Format::MarcJson;
    type Parser = json::Parser;
    type Writer<'o> = Writer<'o>;

    fn parser(options: &options::Options) -> Self::Parser {
        json::parser(options, json::Framing::Concatenated)
    }

    fn writer<'o>(out: Out<'o>, _: &options::Options, fidelity: Fidelity) -> Writer<'o> {
        Writer::new(out, fidelity)
    }

    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o> {
        writer.into_out()
    }

    fn is_contradicted(looks: Looks, _: &[u8]) -> bool {
        looks.is_neither_json_nor_yaml()
    }
}
