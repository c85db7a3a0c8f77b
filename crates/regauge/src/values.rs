//! Documents as trees: bytes to values, and values to bytes, in every format.
//!
//! For documents that fit into memory, and for whoever wants to look at them. The way through
//! readers and writers is the same as in a conversion, policies and limits included.

use crate::convert::{Input, Options, Summary, with_reader, write_with};
use crate::documents::Documents;
use crate::event::{Sink, Source as _};
use crate::format::Format;
use crate::limits::Limits;
use crate::out::Out;
use crate::reader::{Parse, Reader, Status};
use crate::value::{Builder, Value};
use crate::wrap::Unwrap;
use crate::{Result, bson, cbor, json, marc, marshal, msgpack, pickle, yaml};

/// The documents of `bytes`, a stream of [`Options::from`]. The reversible notation is undone
/// where the options ask for it.
///
/// # Errors
/// The reader's, with their offset, and `Limit` where a document is larger than
/// [`Limits::nodes`] and [`Limits::record_bytes`] let it be.
pub fn read_values(bytes: &[u8], options: &Options) -> Result<Vec<Value>> {
    with_reader!(Input::Bytes(bytes), options, |reader| {
        let mut reader = reader;
        let mut values = Vec::new();
        loop {
            let mut builder = Builder::new(&options.limits);
            let more = match options.wraps() && !options.from.is_marc() {
                true => reader.next(&mut Unwrap::new(&mut builder, &options.limits))?,
                false => reader.next(&mut builder)?,
            };
            if !more {
                return Ok(values);
            }
            values.push(builder.take().expect("a document is a value"));
        }
    })
}

/// The bytes of documents in the format [`Options::to`], and what was not kept.
///
/// # Errors
/// Those of the policy and of the writer, with the path.
pub fn write_values(values: &[Value], options: &Options) -> Result<(Vec<u8>, Summary)> {
    let mut options = options.clone();
    // What is given is taken as it is: no part of it is the notation, none a stream to be cut.
    options.from = Format::Msgpack;
    if options.documents == Documents::Auto {
        options.documents = Documents::Keep;
    }
    let parser = Given { values, next: 0, limits: options.limits };
    let (summary, out) = write_with(Reader::from_slice(parser, &[]), Out::in_memory(), &options)?;
    Ok((out.into_vec(), summary))
}

/// Values in the place of a parser.
struct Given<'v> {
    values: &'v [Value],
    next: usize,
    limits: Limits,
}

impl Parse for Given<'_> {
    const FORMAT: Format = Format::Msgpack;

    fn parse<S: Sink + ?Sized>(
        &mut self,
        _bytes: &[u8],
        _pos: &mut usize,
        _last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        let Some(value) = self.values.get(self.next) else { return Ok(Status::End) };
        self.next += 1;
        value.drive(sink)?;
        Ok(Status::Document)
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}
