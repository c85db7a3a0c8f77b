//! regauge itself, to its tree ([`Value`]), which is what the other libraries build.
//!
//! Some formats have a second row with a [`Tape`] of events, which is what a conversion works on:
//! nobody can look anything up in a tape, so those rows are never ranked with the others.

use std::marker::PhantomData;

use regauge::out::Out;
use regauge::reader::{Parse, Reader};
use regauge::tape::Tape;
use regauge::value::{Builder, Value};
use regauge::{Fidelity, Format, Limits, OnLoss, Source, Writer};
use regauge::{bson, cbor, json, marc, marshal, msgpack, pickle, yaml};

use super::Codec;

/// What a document is decoded to.
pub(super) trait Document: Sized {
    /// What the version in a report says of it.
    const WHAT: &str;

    /// The next document; nothing at the end.
    fn read<S: Source>(source: &mut S) -> regauge::Result<Option<Self>>;

    /// Gives its events to a writer.
    fn write<W: Writer>(&self, writer: &mut W) -> regauge::Result;
}

impl Document for Value {
    const WHAT: &str = "a tree";

    fn read<S: Source>(source: &mut S) -> regauge::Result<Option<Value>> {
        let mut builder = Builder::new(&Limits::default());
        source.next(&mut builder)?;
        Ok(builder.take())
    }

    fn write<W: Writer>(&self, writer: &mut W) -> regauge::Result {
        self.drive(writer)
    }
}

impl Document for Tape {
    const WHAT: &str = "a tape";

    fn read<S: Source>(source: &mut S) -> regauge::Result<Option<Tape>> {
        Tape::read(source)
    }

    fn write<W: Writer>(&self, writer: &mut W) -> regauge::Result {
        self.drive(writer)
    }
}

fn version_text<D: Document>() -> String {
    format!("{} to {}", env!("CARGO_PKG_VERSION"), D::WHAT)
}

fn read_all<D: Document, P: Parse>(
    parser: P,
    data: &[u8],
    each: &mut dyn FnMut(D),
) -> Result<(), String> {
    let mut reader = Reader::from_slice(parser, data);
    while let Some(document) = D::read(&mut reader).map_err(|error| error.to_string())? {
        each(document);
    }
    Ok(())
}

fn write_all<D: Document, W: Writer>(writer: &mut W, documents: &[D]) -> Result<(), String> {
    let mut write = || -> regauge::Result {
        for document in documents {
            document.write(writer)?;
            writer.end_document()?;
        }
        writer.finish()
    };
    write().map_err(|error| error.to_string())
}

/// JSON, or NDJSON where there are several documents.
pub(super) struct Json<D> {
    lines: bool,
    to: PhantomData<D>,
}

impl<D> Default for Json<D> {
    fn default() -> Json<D> {
        Json { lines: false, to: PhantomData }
    }
}

impl<D: Document> Codec for Json<D> {
    type Object = D;
    const STREAM: bool = true;

    fn version() -> String {
        version_text::<D>()
    }

    fn many(&mut self, many: bool) {
        self.lines = many;
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(D)) -> Result<(), String> {
        let mut options = json::ReadOptions::default();
        if self.lines {
            options.framing = json::Framing::Lines;
        }
        read_all(json::Parser::new(options, Limits::default()), data, each)
    }

    fn encode(&mut self, documents: &[D]) -> Result<Vec<u8>, String> {
        let options = json::WriteOptions { lines: self.lines, ..Default::default() };
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Json);
        let mut writer = json::Writer::new(Out::in_memory(), options, fidelity);
        write_all(&mut writer, documents)?;
        Ok(writer.into_out().into_vec())
    }
}

/// MessagePack.
pub(super) struct Msgpack<D>(PhantomData<D>);

impl<D> Default for Msgpack<D> {
    fn default() -> Msgpack<D> {
        Msgpack(PhantomData)
    }
}

impl<D: Document> Codec for Msgpack<D> {
    type Object = D;
    const STREAM: bool = true;

    fn version() -> String {
        version_text::<D>()
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(D)) -> Result<(), String> {
        read_all(msgpack::Parser::new(Limits::default()), data, each)
    }

    fn encode(&mut self, documents: &[D]) -> Result<Vec<u8>, String> {
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Msgpack);
        let mut writer = msgpack::Writer::new(Out::in_memory(), fidelity);
        write_all(&mut writer, documents)?;
        Ok(writer.into_out().into_vec())
    }
}

/// YAML, several documents of which begin with `---` each.
pub(super) struct Yaml<D> {
    many: bool,
    to: PhantomData<D>,
}

impl<D> Default for Yaml<D> {
    fn default() -> Yaml<D> {
        Yaml { many: false, to: PhantomData }
    }
}

impl<D: Document> Codec for Yaml<D> {
    type Object = D;
    const STREAM: bool = true;

    fn version() -> String {
        version_text::<D>()
    }

    fn many(&mut self, many: bool) {
        self.many = many;
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(D)) -> Result<(), String> {
        read_all(yaml::Parser::new(yaml::Options::default(), Limits::default()), data, each)
    }

    fn encode(&mut self, documents: &[D]) -> Result<Vec<u8>, String> {
        let mut options = yaml::WriteOptions::default();
        options.document_start = self.many;
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Yaml);
        let mut writer = yaml::Writer::new(Out::in_memory(), options, fidelity);
        write_all(&mut writer, documents)?;
        Ok(writer.into_out().into_vec())
    }
}

/// A format whose documents stand one behind the other, and whose options are the usual ones.
macro_rules! plain_stream {
    ($(#[$doc:meta])* $name:ident, $module:ident, $read:expr) => {
        $(#[$doc])*
        pub(super) struct $name<D>(PhantomData<D>);

        impl<D> Default for $name<D> {
            fn default() -> $name<D> {
                $name(PhantomData)
            }
        }

        impl<D: Document> Codec for $name<D> {
            type Object = D;
            const STREAM: bool = true;

            fn version() -> String {
                version_text::<D>()
            }

            fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(D)) -> Result<(), String> {
                read_all($module::Parser::new($read, Limits::default()), data, each)
            }

            fn encode(&mut self, documents: &[D]) -> Result<Vec<u8>, String> {
                let fidelity = Fidelity::new(OnLoss::Refuse, Format::$name);
                let options = $module::Options::default();
                let mut writer = $module::Writer::new(Out::in_memory(), options, fidelity);
                write_all(&mut writer, documents)?;
                Ok(writer.into_out().into_vec())
            }
        }
    };
}

plain_stream!(
    /// BSON.
    Bson, bson, bson::Options::default()
);
plain_stream!(
    /// CBOR.
    Cbor, cbor, cbor::Options::default()
);
plain_stream!(
    /// Ruby's Marshal.
    Marshal, marshal, marshal::Options::default()
);
plain_stream!(
    /// Python's pickle, tuples told apart from lists.
    Pickle, pickle, {
        let mut options = pickle::Options::default();
        options.exact = true;
        options
    }
);

/// MARC 21.
pub(super) struct Marc<D>(PhantomData<D>);

impl<D> Default for Marc<D> {
    fn default() -> Marc<D> {
        Marc(PhantomData)
    }
}

impl<D: Document> Codec for Marc<D> {
    type Object = D;
    const STREAM: bool = true;

    fn version() -> String {
        version_text::<D>()
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(D)) -> Result<(), String> {
        let options = marc::Options::default();
        read_all(marc::iso2709::Parser::new(options, Limits::default()), data, each)
    }

    fn encode(&mut self, documents: &[D]) -> Result<Vec<u8>, String> {
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Marc);
        let options = marc::Options::default();
        let mut writer = marc::iso2709::Writer::new(Out::in_memory(), options, fidelity);
        write_all(&mut writer, documents)?;
        Ok(writer.into_out().into_vec())
    }
}

/// MARCXML.
pub(super) struct MarcXml<D>(PhantomData<D>);

impl<D> Default for MarcXml<D> {
    fn default() -> MarcXml<D> {
        MarcXml(PhantomData)
    }
}

impl<D: Document> Codec for MarcXml<D> {
    type Object = D;
    const STREAM: bool = true;

    fn version() -> String {
        version_text::<D>()
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(D)) -> Result<(), String> {
        let options = marc::Options::default();
        read_all(marc::xml::Parser::new(options, Limits::default()), data, each)
    }

    fn encode(&mut self, documents: &[D]) -> Result<Vec<u8>, String> {
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::MarcXml);
        let options = crate::reference::marc_options();
        let mut writer = marc::xml::Writer::new(Out::in_memory(), options, fidelity);
        write_all(&mut writer, documents)?;
        Ok(writer.into_out().into_vec())
    }
}
