//! Measures regauge itself, decoding to its tree ([`Value`]), which is what the other libraries
//! build.
//!
//! Some formats have a second row with a [`Tape`] of events, which a conversion works on. Nothing
//! can be looked up in a tape, so those rows are never ranked with the others.

use std::marker::PhantomData;

use regauge::codec::{self, Visitor};
use regauge::out::Out;
use regauge::reader::Reader;
use regauge::tape::Tape;
use regauge::tree::Builder;
use regauge::{Fidelity, Format, Limits, OnLoss, Options, Source, Value, Writer};

use super::Codec;
use crate::model::wire::marc_options;
use crate::plan::reference::told;

/// What a document is decoded to.
pub(super) trait Document: Sized {
    /// The suffix of the version in a report.
    const WHAT: &str;

    /// Returns the next document, or nothing at the end.
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

/// regauge with one format.
pub(super) struct Ours<D> {
    options: Options,
    to: PhantomData<D>,
}

impl<D> Ours<D> {
    /// With this format, and the options that the reference bytes are written with.
    pub(super) fn new(format: Format) -> Ours<D> {
        let mut options = Options::new(format, format);
        options.marc = marc_options();
        // Tuples are told apart from lists.
        options.pickle.exact = true;
        Ours { options, to: PhantomData }
    }
}

impl<D: Document> Codec for Ours<D> {
    type Object = D;

    fn version() -> String {
        format!("{} to {}", env!("CARGO_PKG_VERSION"), D::WHAT)
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(D)) -> Result<(), String> {
        let decode = Decode { options: &self.options, data, each };
        self.options.from.visit(decode).map_err(|error| told(&error))
    }

    fn encode(&mut self, documents: &[D]) -> Result<Vec<u8>, String> {
        let encode = Encode { options: &self.options, documents };
        self.options.to.visit(encode).map_err(|error| told(&error))
    }
}

struct Decode<'a, D> {
    options: &'a Options,
    data: &'a [u8],
    each: &'a mut dyn FnMut(D),
}

impl<D: Document> Visitor for Decode<'_, D> {
    type Output = regauge::Result;

    fn visit<C: codec::Codec>(self) -> regauge::Result {
        let mut reader = Reader::from_slice(C::parser(self.options), self.data);
        while let Some(document) = D::read(&mut reader)? {
            (self.each)(document);
        }
        Ok(())
    }
}

struct Encode<'a, D> {
    options: &'a Options,
    documents: &'a [D],
}

impl<D: Document> Visitor for Encode<'_, D> {
    type Output = regauge::Result<Vec<u8>>;

    fn visit<C: codec::Codec>(self) -> Self::Output {
        let fidelity = Fidelity::new(OnLoss::Refuse, C::FORMAT);
        let mut writer = C::writer(Out::in_memory(), self.options, fidelity);
        for document in self.documents {
            document.write(&mut writer)?;
            writer.end_document()?;
        }
        writer.finish()?;
        let mut bytes = C::into_out(writer).into_vec();
        // The newline at the end of a JSON file is not part of the document.
        if C::FORMAT == Format::Json {
            bytes.pop();
        }
        Ok(bytes)
    }
}
