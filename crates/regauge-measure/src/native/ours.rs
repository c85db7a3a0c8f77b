//! regauge itself: bytes to a [`Tape`] of events, and the tape to bytes.
//!
//! A tape holds everything that a tree would, but one walks it rather than looking things up in
//! it: that is what conversion does, and the names of the contenders' libraries say it in
//! `version`.

use regauge::out::Out;
use regauge::reader::{Parse, Reader};
use regauge::tape::Tape;
use regauge::{Fidelity, Format, Limits, OnLoss, Writer};
use regauge::{bson, cbor, json, marc, marshal, msgpack, pickle, yaml};

use super::Codec;

fn version_text() -> String {
    format!("{} to a tape", env!("CARGO_PKG_VERSION"))
}

fn read_all<P: Parse>(parser: P, data: &[u8], each: &mut dyn FnMut(Tape)) -> Result<(), String> {
    let mut reader = Reader::from_slice(parser, data);
    while let Some(tape) = Tape::read(&mut reader).map_err(|error| error.to_string())? {
        each(tape);
    }
    Ok(())
}

fn write_all<W: Writer>(writer: &mut W, tapes: &[Tape]) -> Result<(), String> {
    let mut write = || -> regauge::Result {
        for tape in tapes {
            tape.drive(writer)?;
            writer.end_document()?;
        }
        writer.finish()
    };
    write().map_err(|error| error.to_string())
}

/// JSON, or NDJSON where there are several documents.
#[derive(Default)]
pub(super) struct Json {
    lines: bool,
}

impl Codec for Json {
    type Object = Tape;
    const STREAM: bool = true;

    fn version() -> String {
        version_text()
    }

    fn many(&mut self, many: bool) {
        self.lines = many;
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Tape)) -> Result<(), String> {
        let mut options = json::ReadOptions::default();
        if self.lines {
            options.framing = json::Framing::Lines;
        }
        read_all(json::Parser::new(options, Limits::default()), data, each)
    }

    fn encode(&mut self, tapes: &[Tape]) -> Result<Vec<u8>, String> {
        let options = json::WriteOptions { lines: self.lines, ..Default::default() };
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Json);
        let mut writer = json::Writer::new(Out::in_memory(), options, fidelity);
        write_all(&mut writer, tapes)?;
        Ok(writer.into_out().into_vec())
    }
}

/// MessagePack.
pub(super) struct Msgpack;

impl Codec for Msgpack {
    type Object = Tape;
    const STREAM: bool = true;

    fn version() -> String {
        version_text()
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Tape)) -> Result<(), String> {
        read_all(msgpack::Parser::new(Limits::default()), data, each)
    }

    fn encode(&mut self, tapes: &[Tape]) -> Result<Vec<u8>, String> {
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Msgpack);
        let mut writer = msgpack::Writer::new(Out::in_memory(), fidelity);
        write_all(&mut writer, tapes)?;
        Ok(writer.into_out().into_vec())
    }
}

/// YAML, several documents of which begin with `---` each.
#[derive(Default)]
pub(super) struct Yaml {
    many: bool,
}

impl Codec for Yaml {
    type Object = Tape;
    const STREAM: bool = true;

    fn version() -> String {
        version_text()
    }

    fn many(&mut self, many: bool) {
        self.many = many;
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Tape)) -> Result<(), String> {
        read_all(yaml::Parser::new(yaml::Options::default(), Limits::default()), data, each)
    }

    fn encode(&mut self, tapes: &[Tape]) -> Result<Vec<u8>, String> {
        let mut options = yaml::WriteOptions::default();
        options.document_start = self.many;
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Yaml);
        let mut writer = yaml::Writer::new(Out::in_memory(), options, fidelity);
        write_all(&mut writer, tapes)?;
        Ok(writer.into_out().into_vec())
    }
}

/// A format whose documents stand one behind the other, and whose options are the usual ones.
macro_rules! plain_stream {
    ($(#[$doc:meta])* $name:ident, $module:ident, $read:expr) => {
        $(#[$doc])*
        pub(super) struct $name;

        impl Codec for $name {
            type Object = Tape;
            const STREAM: bool = true;

            fn version() -> String {
                version_text()
            }

            fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Tape)) -> Result<(), String> {
                read_all($module::Parser::new($read, Limits::default()), data, each)
            }

            fn encode(&mut self, tapes: &[Tape]) -> Result<Vec<u8>, String> {
                let fidelity = Fidelity::new(OnLoss::Refuse, Format::$name);
                let options = $module::Options::default();
                let mut writer = $module::Writer::new(Out::in_memory(), options, fidelity);
                write_all(&mut writer, tapes)?;
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
pub(super) struct Marc;

impl Codec for Marc {
    type Object = Tape;
    const STREAM: bool = true;

    fn version() -> String {
        version_text()
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Tape)) -> Result<(), String> {
        let options = marc::Options::default();
        read_all(marc::iso2709::Parser::new(options, Limits::default()), data, each)
    }

    fn encode(&mut self, tapes: &[Tape]) -> Result<Vec<u8>, String> {
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Marc);
        let options = marc::Options::default();
        let mut writer = marc::iso2709::Writer::new(Out::in_memory(), options, fidelity);
        write_all(&mut writer, tapes)?;
        Ok(writer.into_out().into_vec())
    }
}

/// MARCXML.
pub(super) struct MarcXml;

impl Codec for MarcXml {
    type Object = Tape;
    const STREAM: bool = true;

    fn version() -> String {
        version_text()
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Tape)) -> Result<(), String> {
        let options = marc::Options::default();
        read_all(marc::xml::Parser::new(options, Limits::default()), data, each)
    }

    fn encode(&mut self, tapes: &[Tape]) -> Result<Vec<u8>, String> {
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::MarcXml);
        let options = crate::reference::marc_options();
        let mut writer = marc::xml::Writer::new(Out::in_memory(), options, fidelity);
        write_all(&mut writer, tapes)?;
        Ok(writer.into_out().into_vec())
    }
}
