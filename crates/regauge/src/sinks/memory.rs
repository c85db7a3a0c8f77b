//! Documents as trees: bytes to values, and values to bytes, in every format.
//!
//! For documents that fit into memory and callers that want to inspect them. The readers and
//! writers are the same as in a conversion, including policies and limits.

use std::borrow::Borrow;

use crate::bytes::buffer::Out;
use crate::bytes::output::Output;
use crate::bytes::reader::{Parse, Reader, Status};
use crate::codec::contract::{Codec, Visitor};
#[cfg(feature = "serde")]
use crate::convert::Events;
use crate::convert::{Input, Options, Summary, write_with};
use crate::model::format::Format;
use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::policy::documents::Documents;
use crate::policy::event::{Sink, Source};
use crate::policy::notation::Unwrap;
use crate::policy::tree::Builder;
use crate::sinks::references;
use crate::sinks::tape::Tape;
use crate::{Error, ErrorKind, OnLoss, Result};

pub use crate::sinks::references::{Anchors, without_references};

/// Returns the documents of `bytes`, a stream of [`Options::from`]. The wrapped notation is undone
/// with [`Options::unwrap`].
///
/// # Errors
/// The reader's, with their offset, `Limit` if a document is larger than [`Limits::nodes`] or
/// [`Limits::record_bytes`] allow, and `Unsupported` for options that only a conversion follows
/// (`select`, `head`, `sample`, `skip_bad`).
pub fn read_values(bytes: &[u8], options: &Options) -> Result<Vec<Value>> {
    let mut values = Values::open(Input::Bytes(bytes), options)?;
    let mut list = Vec::new();
    while let Some(value) = values.next()? {
        list.push(value);
    }
    Ok(list)
}

/// Returns the only document of `bytes` as a [`Tape`]; `None` if there is none, or more than one.
/// The wrapped notation is undone with [`Options::unwrap`].
///
/// # Errors
/// Same as [`read_values`].
pub fn read_tape(bytes: &[u8], options: &Options) -> Result<Option<Tape>> {
    let mut tape = Tape::bounded(&options.limits);
    Ok((fill_tape(Input::Bytes(bytes), options, &mut tape)? == 1).then_some(tape))
}

/// Adds the first document to a tape, and returns how many there are: at most 2.
///
/// # Errors
/// Same as [`read_values`].
pub(crate) fn fill_tape(input: Input<'_>, options: &Options, tape: &mut Tape) -> Result<u32> {
    refuse_ignored(options)?;
    if let Input::Bytes(bytes) = &input {
        tape.reserve(bytes.len());
        if !options.unwraps() {
            return options.from.visit(Fill { bytes, options: &options.for_trees(), tape });
        }
    }
    let mut values = Values::open(input, options)?;
    if !values.next_tape(tape)? {
        return Ok(0);
    }
    Ok(1 + u32::from(values.next_tape(&mut Tape::bounded(&options.limits))?))
}

/// Fills a tape from memory, with the reader on the stack: moving it into a box, as [`Values`] does,
/// takes a good part of the time for a small document.
struct Fill<'f> {
    bytes: &'f [u8],
    options: &'f Options,
    tape: &'f mut Tape,
}

impl Visitor for Fill<'_> {
    type Output = Result<u32>;

    fn visit<C: Codec>(self) -> Result<u32> {
        let mut reader = Reader::from_slice(C::parser(self.options), self.bytes);
        if !next_tape(&mut reader, self.tape)? {
            return Ok(0);
        }
        let mut rest = Tape::bounded(&self.options.limits);
        Ok(1 + u32::from(next_tape(&mut reader, &mut rest)?))
    }
}

/// Not inlined, so that there is one copy of each parser for a tape.
#[inline(never)]
fn next_tape<P: Parse>(reader: &mut Reader<'_, P>, tape: &mut Tape) -> Result<bool> {
    reader.next(tape)
}

/// Refuses the options that only a conversion follows: they would be ignored.
#[inline]
fn refuse_ignored(options: &Options) -> Result {
    let ignored = [
        ("select", !options.select.is_empty()),
        ("head", options.head.is_some()),
        ("sample", options.sample.is_some()),
        ("skip_bad", options.skip_bad),
    ];
    match ignored.iter().find(|(_, is_set)| *is_set) {
        Some((name, _)) => Err(ignored_option(name)),
        None => Ok(()),
    }
}

#[cold]
fn ignored_option(name: &str) -> Error {
    let message = format!("found the option `{name}`, which only a conversion follows");
    Error::new(ErrorKind::Unsupported, message)
        .hint("convert the input first, or choose among the documents")
}

/// Iterates over the documents of a stream.
pub struct Values<'a> {
    reader: Box<dyn Documented + Send + 'a>,
    limits: Limits,
    unwraps: bool,
    numbers_as_decimals: bool,
}

impl<'a> Values<'a> {
    /// Opens a stream of [`Options::from`]; [`Options::to`] should be the same. The wrapped
    /// notation is undone with [`Options::unwrap`].
    ///
    /// # Errors
    /// `Io` if the input cannot be opened, `Unsupported` for options that only a conversion follows.
    pub fn open(input: Input<'a>, options: &Options) -> Result<Values<'a>> {
        refuse_ignored(options)?;
        let unwraps = options.unwraps();
        let reader = options.from.visit(Open { input, options: &options.for_trees() })?;
        let numbers_as_decimals = options.numbers_as_decimals();
        Ok(Values { reader, limits: options.limits, unwraps, numbers_as_decimals })
    }

    /// Returns the next document; `None` at a clean end.
    ///
    /// # Errors
    /// Same as [`read_values`].
    #[allow(clippy::should_implement_trait, reason = "an iterator would go on after an error")]
    pub fn next(&mut self) -> Result<Option<Value>> {
        let mut builder = Builder::new(&self.limits);
        let more = match self.unwraps {
            true => {
                let unwrap = Unwrap::new(&mut builder, &self.limits);
                match self.numbers_as_decimals {
                    true => self.reader.next_unwrapped(&mut unwrap.with_numbers_as_decimals())?,
                    false => self.reader.next_unwrapped(&mut { unwrap })?,
                }
            }
            false => self.reader.next_plain(&mut builder)?,
        };
        Ok(if more { builder.take() } else { None })
    }

    /// Adds the next document to a tape, as it stands in the input; `false` at a clean end. The
    /// wrapped notation is undone with [`Options::unwrap`].
    ///
    /// # Errors
    /// As [`read_values`].
    pub fn next_tape(&mut self, tape: &mut Tape) -> Result<bool> {
        if !self.unwraps {
            return self.reader.next_tape(tape);
        }
        match self.next()? {
            Some(value) => value.drive(tape).map(|()| true),
            None => Ok(false),
        }
    }

    /// Returns how many bytes of input have been consumed.
    pub fn offset(&self) -> u64 {
        self.reader.offset()
    }
}

/// Opens a reader of a format.
struct Open<'o, 'a> {
    input: Input<'a>,
    options: &'o Options,
}

impl<'a> Visitor for Open<'_, 'a> {
    type Output = Result<Box<dyn Documented + Send + 'a>>;

    fn visit<C: Codec>(self) -> Self::Output {
        Ok(Box::new(self.input.reader(C::parser(self.options))?))
    }
}

/// A reader of any format.
trait Documented {
    fn next_plain(&mut self, builder: &mut Builder) -> Result<bool>;
    fn next_unwrapped(&mut self, unwrap: &mut Unwrap<&mut Builder>) -> Result<bool>;
    fn next_tape(&mut self, tape: &mut Tape) -> Result<bool>;
    fn offset(&self) -> u64;
}

impl<P: Parse> Documented for Reader<'_, P> {
    fn next_plain(&mut self, builder: &mut Builder) -> Result<bool> {
        self.next(builder)
    }

    fn next_unwrapped(&mut self, unwrap: &mut Unwrap<&mut Builder>) -> Result<bool> {
        self.next(unwrap)
    }

    fn next_tape(&mut self, tape: &mut Tape) -> Result<bool> {
        next_tape(self, tape)
    }

    fn offset(&self) -> u64 {
        Source::offset(self)
    }
}

/// Writes documents in the format [`Options::to`]; returns the bytes, and what was not kept.
///
/// # Errors
/// Those of the policy and of the writer, with the path.
pub fn write_values(values: &[Value], options: &Options) -> Result<(Vec<u8>, Summary)> {
    let mut values = values.iter();
    let parser = Given::new(|| Ok(values.next()), options);
    let reader = Reader::from_slice(parser, &[]);
    let (summary, out) = write_with(reader, Out::in_memory(), &taken_as_given(options), true, None)
        .map_err(|error| error.of_given().in_format(options.to))?;
    Ok((out.into_vec(), summary))
}

/// Writes documents until `next` returns none, and returns what was not kept.
///
/// # Errors
/// Those of `next`, of the policy and of the writer, with the path.
pub fn write_each<'a, V: Borrow<Value>>(
    next: impl FnMut() -> Result<Option<V>>,
    output: impl Output + Send + 'a,
    options: &Options,
) -> Result<Summary> {
    let parser = Given::new(next, options);
    let out = Out::to_output(output, options.limits.record_bytes);
    write_with(Reader::from_slice(parser, &[]), out, &taken_as_given(options), true, None)
        .map(|(summary, _)| summary)
        .map_err(|error| error.of_given().in_format(options.to))
}

/// Writes documents that drive the writer themselves, until `next` has none left.
///
/// # Errors
/// Those of `next`, which are the policy's and the writer's. They have neither path nor offset.
#[cfg(feature = "serde")]
pub(crate) fn write_events<'a>(
    next: &mut dyn FnMut(&mut dyn Sink) -> Result<bool>,
    out: Out<'a>,
    options: &Options,
) -> Result<(Summary, Out<'a>)> {
    let tracked = options.report || options.on_loss == OnLoss::Approximate;
    // There is no input: errors are about the output.
    let parser = Events { next, limits: options.limits, format: options.to };
    write_with(Reader::from_slice(parser, &[]), out, &taken_as_given(options), tracked, None)
        .map_err(Error::without_place)
}

/// Returns options that take the given values literally: no part of them is the notation, none a
/// stream to be cut.
fn taken_as_given(options: &Options) -> Options {
    let mut options = options.clone();
    options.from = Format::Msgpack;
    options.unwrap = false;
    if options.documents == Documents::Auto {
        options.documents = Documents::Keep;
    }
    options
}

/// Values in place of a parser.
struct Given<N> {
    next: N,
    limits: Limits,
    /// Whether a shared value may be written as copies.
    copies: bool,
}

impl<N> Given<N> {
    fn new(next: N, options: &Options) -> Given<N> {
        let copies = options.on_loss == OnLoss::Approximate;
        Given { next, limits: options.limits, copies }
    }
}

impl<V: Borrow<Value>, N: FnMut() -> Result<Option<V>>> Parse for Given<N> {
    const FORMAT: Format = Format::Msgpack;

    fn parse<S: Sink + ?Sized>(
        &mut self,
        _bytes: &[u8],
        _pos: &mut usize,
        _last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        let Some(value) = (self.next)()? else { return Ok(Status::End) };
        let value = value.borrow();
        match self.copies && !sink.holds_references() && references::has_any(value) {
            true => without_references(value, &self.limits)?.0.drive(sink)?,
            false => value.drive(sink)?,
        }
        Ok(Status::Document)
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_only_a_conversion_follows_are_refused() {
        let mut select = crate::policy::select::Selection::new();
        select.only("a").unwrap();
        type Change<'c> = (&'static str, &'c dyn Fn(&mut Options));
        let changes: [Change<'_>; 4] = [
            ("select", &|options| options.select = select.clone()),
            ("head", &|options| options.head = Some(1)),
            ("sample", &|options| options.sample = Some(1)),
            ("skip_bad", &|options| options.skip_bad = true),
        ];
        for (name, change) in changes {
            let mut options = Options::new(Format::Ndjson, Format::Ndjson);
            change(&mut options);
            for error in [
                read_values(b"{}\n{}\n", &options).unwrap_err(),
                read_tape(b"{}", &options).unwrap_err(),
            ] {
                assert_eq!(error.kind(), ErrorKind::Unsupported);
                assert!(error.message().contains(&format!("the option `{name}`")), "{error}");
            }
        }
    }

    #[test]
    fn documents_come_one_after_the_other_in_every_format() {
        let documents: Vec<Value> = (0..3)
            .map(|index| Value::Map(vec![(Value::Text("n".into()), Value::Int(index))]))
            .collect();
        for format in Format::ALL {
            if format.is_marc() || format.framing() == crate::model::format::Framing::Single {
                continue;
            }
            let mut options = Options::new(format, format);
            // Numbers are text there otherwise.
            options.csv.types = crate::options::csv::Types::Infer;
            let mut given = documents.clone().into_iter();
            let mut bytes = Vec::new();
            let output = crate::bytes::output::StreamOutput::new(&mut bytes);
            write_each(|| Ok(given.next()), output, &options).unwrap();
            let mut values = Values::open(Input::Bytes(&bytes), &options).unwrap();
            for document in &documents {
                assert_eq!(values.next().unwrap().as_ref(), Some(document), "{format}");
                assert!(values.offset() > 0);
            }
            assert_eq!(values.next().unwrap(), None);
        }
    }
}
