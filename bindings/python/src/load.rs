//! `loads`: bytes to one object.

use std::cell::Cell;
use std::thread::LocalKey;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use regauge::codec::{Codec, Framing, Visitor};
use regauge::convert::{self, Input as CoreInput};
use regauge::event::{Sink, Source as _};
use regauge::notation::Unwrap;
use regauge::reader::{Parse, Reader};
use regauge::{Error, Format, Limits, Options, marshal, pickle};

use crate::build::{Builder, Converter};
use crate::errors::{self, Way};
use crate::options::{For, Given, Keywords};
use crate::raw::bytes::Input;
use crate::raw::collector::Pause;

/// A document smaller than this creates too few objects to trigger the collector.
const PAUSE_BYTES: usize = 256;

/// Returns the object in `data`; for a stream of records the list of them.
///
/// # Errors
/// `DecodeError` and `LimitError`; whatever a hook raises.
pub fn loads<'py>(
    format: Format,
    data: &Bound<'py, PyAny>,
    is_generic: bool,
    arguments: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    let input = Input::new(data)?;
    if arguments.is_none() {
        let (bytes, options) = (input.as_slice(), Given::usual(format));
        let mut builder = Builder::new(py, format, None);
        return document(py, bytes, options, &mut builder).map_err(|failed| {
            let keywords = Keywords::new(For::Loading, format, is_generic);
            raised(failed, &mut builder, bytes, options, keywords)
        });
    }
    let given = Given::parse(format, format, For::Loading, is_generic, arguments)?;
    loads_with(py, input.as_slice(), given)
}

/// The same with parsed options.
pub fn loads_with<'py>(
    py: Python<'py>,
    bytes: &[u8],
    given: Given<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let unique = given.unique();
    let Given { options, hooks, keywords, .. } = given;
    let mut builder = Builder::new(py, options.from, hooks.some());
    builder.unique_keys(unique);
    document(py, bytes, &options, &mut builder)
        .map_err(|failed| raised(failed, &mut builder, bytes, &options, keywords))
}

/// Returns the object of one document.
///
/// # Errors
/// What [`raised`] turns into an exception.
pub fn document<'py>(
    py: Python<'py>,
    bytes: &[u8],
    options: &Options,
    builder: &mut Builder<'py>,
) -> Result<Bound<'py, PyAny>, Failed> {
    let _pause = Pause::new(py, !builder.runs_python() && bytes.len() > PAUSE_BYTES);
    parse(bytes, options, builder)
}

/// Returns the exception for a document that could not be read: with path, line and excerpt.
#[cold]
pub fn raised(
    failed: Failed,
    builder: &mut Builder<'_>,
    bytes: &[u8],
    options: &Options,
    keywords: Keywords,
) -> PyErr {
    match failed {
        Failed::Python(raised) => raised,
        Failed::Core(error) => builder.fail().unwrap_or_else(|| {
            let error = convert::explain(error, Some(CoreInput::Bytes(bytes)), options);
            errors::exception(builder.py(), &error, Way::Decode, keywords)
        }),
    }
}

/// Returns the first documents in `bytes`, at most so many, where they end, and the error that
/// ended the stream earlier.
pub fn first<'py>(
    bytes: &[u8],
    count: usize,
    builder: &mut Builder<'py>,
    options: &Options,
    keywords: Keywords,
) -> (Bound<'py, PyList>, u64, Option<PyErr>) {
    let list = PyList::empty(builder.py());
    let documents = First { bytes, count, options, builder: &mut *builder, list: &list };
    let (end, done) = options.from.visit(documents);
    let raised = done.err().map(|failed| raised(failed, builder, bytes, options, keywords));
    (list, end, raised)
}

/// Reads the first documents of a stream.
struct First<'l, 'py> {
    bytes: &'l [u8],
    count: usize,
    options: &'l Options,
    builder: &'l mut Builder<'py>,
    list: &'l Bound<'py, PyList>,
}

impl Visitor for First<'_, '_> {
    type Output = (u64, Result<(), Failed>);

    fn visit<C: Codec>(self) -> Self::Output {
        let First { bytes, count, options, builder, list } = self;
        let mut reader = Reader::from_slice(C::parser(options), bytes);
        let mut end = 0;
        while list.len() < count {
            match next(&mut reader, options, builder) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return (end, Err(error.into())),
            }
            if let Err(raised) = list.append(builder.take_or_none()) {
                return (end, Err(Failed::Python(raised)));
            }
            end = reader.offset();
        }
        (end, Ok(()))
    }
}

/// Why a document could not be read.
pub enum Failed {
    /// Its reader or its builder failed.
    Core(Error),
    /// Python raised an exception.
    Python(PyErr),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Core(error)
    }
}

fn parse<'py>(
    bytes: &[u8],
    options: &Options,
    builder: &mut Builder<'py>,
) -> Result<Bound<'py, PyAny>, Failed> {
    if options.limits == Limits::default() {
        match options.from {
            Format::Pickle if options.pickle.strings == pickle::Strings::default() => {
                return kept(&PICKLE, bytes, options, builder, || {
                    pickle::Parser::new(options.pickle.clone(), options.limits)
                });
            }
            Format::Marshal if options.marshal == marshal::Options::default() => {
                if let Some(value) = plain_marshal(bytes, options, builder) {
                    return Ok(value);
                }
                return kept(&MARSHAL, bytes, options, builder, || {
                    marshal::Parser::new(options.marshal.clone(), options.limits)
                });
            }
            _ => {}
        }
    }
    options.from.visit(One { bytes, options, builder })
}

/// Reads the one document of some bytes in a format.
struct One<'l, 'py> {
    bytes: &'l [u8],
    options: &'l Options,
    builder: &'l mut Builder<'py>,
}

impl<'py> Visitor for One<'_, 'py> {
    type Output = Result<Bound<'py, PyAny>, Failed>;

    fn visit<C: Codec>(self) -> Self::Output {
        let mut reader = Reader::from_slice(C::parser(self.options), self.bytes);
        one(&mut reader, self.bytes, self.options, self.builder)
    }
}

thread_local! {
    /// This thread's parsers of the last pickle and of the last Marshal document, which keep the
    /// memory they have allocated.
    static PICKLE: Cell<Option<pickle::Parser>> = const { Cell::new(None) };
    static MARSHAL: Cell<Option<marshal::Parser>> = const { Cell::new(None) };
}

thread_local! {
    /// Number of Marshal documents for which the fast path is skipped.
    static PLAIN_REST: Cell<u8> = const { Cell::new(0) };
}

/// Skips the fast path for this many documents after one that was not plain data: the next are
/// probably not either.
const PLAIN_REST_AFTER: u8 = 7;

/// Decodes a Marshal document that is plain data without shared mutable values: in one pass instead
/// of two, which takes a sixth less time. `None` for any other.
fn plain_marshal<'py>(
    bytes: &[u8],
    options: &Options,
    builder: &mut Builder<'py>,
) -> Option<Bound<'py, PyAny>> {
    // The arguments of a hook occur once.
    if builder.runs_python() || options.unwraps() {
        return None;
    }
    let rest = PLAIN_REST.get();
    if rest > 0 {
        PLAIN_REST.set(rest - 1);
        return None;
    }
    let mut parser = MARSHAL
        .take()
        .unwrap_or_else(|| marshal::Parser::new(options.marshal.clone(), options.limits));
    let is_plain = parser.plain(bytes, builder);
    if bytes.len() <= KEPT_BYTES {
        MARSHAL.set(Some(parser));
    }
    if is_plain {
        return builder.take();
    }
    PLAIN_REST.set(PLAIN_REST_AFTER);
    builder.fail();
    None
}

/// A parser of a larger document is not kept: it uses up to eight times the memory.
const KEPT_BYTES: usize = 1 << 20;

/// Reads a document with the parser of the previous one, which had the same options. Reallocating
/// its memory takes a tenth of the time of a small document.
fn kept<'py, P: Parse>(
    idle: &'static LocalKey<Cell<Option<P>>>,
    bytes: &[u8],
    options: &Options,
    builder: &mut Builder<'py>,
    make: impl FnOnce() -> P,
) -> Result<Bound<'py, PyAny>, Failed> {
    let parser = idle.take().unwrap_or_else(make);
    let mut reader = Reader::from_slice(parser, bytes);
    let value = one(&mut reader, bytes, options, builder)?;
    if bytes.len() <= KEPT_BYTES {
        idle.set(Some(reader.into_parser()));
    }
    Ok(value)
}

/// Reads the next document: `Ok(false)` at the end of the stream.
pub fn next<P: Parse>(
    reader: &mut Reader<'_, P>,
    options: &Options,
    builder: &mut Builder<'_>,
) -> regauge::Result<bool> {
    if options.unwraps() {
        let mut unwrap = Unwrap::new(builder, &options.limits);
        let sink: &mut dyn Sink = &mut unwrap;
        return reader.next(sink);
    }
    if let Some(conversions) = builder.conversions() {
        let mut converter = Converter::new(builder, conversions);
        let sink: &mut dyn Sink = &mut converter;
        return reader.next(sink);
    }
    reader.next(builder)
}

fn one<'py, P: Parse>(
    reader: &mut Reader<'_, P>,
    bytes: &[u8],
    options: &Options,
    builder: &mut Builder<'py>,
) -> Result<Bound<'py, PyAny>, Failed> {
    let format = options.from;
    let more = next(reader, options, builder)?;
    if format.framing() == Framing::Records && format != Format::Bson {
        return all(reader, more, options, builder);
    }
    if !more {
        if format == Format::Yaml {
            // An empty stream has no document; YAML loaders return None for it.
            return Ok(builder.take_or_none());
        }
        let error = Error::truncated("found no bytes, expected a value").at(0).in_format(format);
        return Err(error.into());
    }
    let value = builder.take_or_none();
    let end = reader.offset();
    if end < bytes.len() as u64 {
        let one_document = |at: u64| {
            let left = bytes.len() as u64 - at;
            let message = format!(
                "found {left} trailing bytes after the value, expected the end of the input"
            );
            let error = Error::syntax(message).at(at).in_format(format);
            error.hint("use iter_load for a stream of documents")
        };
        if !format.is_text() {
            return Err(one_document(end).into());
        }
        if next(reader, options, builder)? {
            builder.fail();
            return Err(one_document(end).into());
        }
    }
    Ok(value)
}

/// Returns all records as a list.
fn all<'py, P: Parse>(
    reader: &mut Reader<'_, P>,
    mut more: bool,
    options: &Options,
    builder: &mut Builder<'py>,
) -> Result<Bound<'py, PyAny>, Failed> {
    let list = PyList::empty(builder.py());
    while more {
        list.append(builder.take_or_none()).map_err(Failed::Python)?;
        more = next(reader, options, builder)?;
    }
    Ok(list.into_any())
}
