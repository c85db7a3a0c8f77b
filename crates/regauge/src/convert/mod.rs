//! The loop from a reader to a writer, and the adapters between the two.

pub mod parallel;

use std::io::Read;

use crate::bytes::buffer::Out;
use crate::bytes::excerpt;
use crate::bytes::output::Output;
use crate::bytes::reader::{Parse, Reader, Skipped};
use crate::codec::bson::extended::{FromExtended, ToExtended};
use crate::codec::contract::{Codec, Visitor};
use crate::model::format::Format;
pub use crate::options::{DuplicateKeys, Options};
use crate::policy::documents::{Documents, Duplicates, Join, Split};
use crate::policy::event::{Source as _, Writer};
use crate::policy::fidelity::{Fidelity, OnLoss};
use crate::policy::notation::{Escape, Unwrap};
use crate::policy::track::Tracker;
use crate::{Error, ErrorKind, Result};

/// The source of the input bytes.
pub enum Input<'a> {
    /// Bytes in memory.
    Bytes(&'a [u8]),
    /// A stream that can be read once, such as a pipe.
    Once(Box<dyn Read + Send + 'a>),
    /// A stream that can be opened again, such as a file: after a failure it is read a second time
    /// to find the path and the line of the fault, which the first run does not track.
    Again(&'a (dyn Fn() -> std::io::Result<Box<dyn Read + Send + 'a>> + Sync)),
    /// An input that several threads can read at any position, such as an uncompressed file.
    At(&'a dyn ReadAt),
}

/// Reads at any position.
pub trait ReadAt: Sync {
    /// Reads into `buffer` from `offset` on, possibly less than fits; returns 0 at the end.
    ///
    /// # Errors
    /// `Io` errors from the system.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize>;

    /// Returns the size in bytes.
    ///
    /// # Errors
    /// `Io` errors from the system.
    fn size(&self) -> std::io::Result<u64>;

    /// Opens the bytes as a stream from the beginning.
    ///
    /// # Errors
    /// `Io` errors from the system.
    fn open(&self) -> std::io::Result<Box<dyn Read + Send + '_>>;
}

/// Returns the error for an input that ends at byte `end`, before the size it had when reading
/// began.
#[cold]
#[must_use]
pub fn shrunk(end: u64) -> Error {
    Error::truncated("found the end of a file that has shrunk since reading began")
        .hint("convert it again when nothing is writing to it")
        .at(end)
}

impl<'a> Input<'a> {
    /// Returns the input for a second reading, if it can be read again.
    fn repeat(&self) -> Option<Input<'a>> {
        match self {
            Input::Bytes(bytes) => Some(Input::Bytes(bytes)),
            Input::Again(open) => Some(Input::Again(*open)),
            Input::At(at) => Some(Input::At(*at)),
            Input::Once(_) => None,
        }
    }

    pub(crate) fn open(self) -> Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Input::Bytes(bytes) => Box::new(bytes),
            Input::Once(read) => read,
            Input::Again(open) => open()?,
            Input::At(at) => at.open()?,
        })
    }

    pub(crate) fn reader<P: Parse>(self, parser: P) -> Result<Reader<'a, P>> {
        Ok(match self {
            Input::Bytes(bytes) => Reader::from_slice(parser, bytes),
            stream => Reader::from_read(parser, stream.open()?),
        })
    }
}

/// What a conversion did.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Documents (records) read and written.
    pub documents: u64,
    /// Records that were skipped.
    pub bad_records: u64,
    /// Values that were not kept exactly.
    pub fidelity: Fidelity,
}

/// Called for each skipped record, in input order: with the error for the first
/// [`NAMED_BAD_RECORDS`], with only the bytes for the rest. A long record arrives in pieces, and
/// several short ones may arrive as one.
pub type OnBad<'b> = dyn FnMut(Skipped) -> Result + 'b;

/// How many broken records are reported with their error. An error takes a few hundred bytes of
/// memory and of output, and a broken record may be a single byte.
pub const NAMED_BAD_RECORDS: u64 = 1000;

/// Reads `input`, writes `output`, and returns a summary.
///
/// `on_bad` is called for each record that was skipped under [`Options::skip_bad`].
///
/// # Errors
/// The reader's and the writer's, with offset, path and record; line, column and excerpt are added
/// if the input can be read again. On an error, the output is incomplete.
pub fn convert<'a>(
    input: Input<'a>,
    output: impl Output + Send + 'a,
    options: &Options,
    on_bad: &mut OnBad<'_>,
) -> Result<Summary> {
    let again = input.repeat();
    let result = if options.jobs > 1 && parallel::can_split_input(&input, options) {
        parallel::convert(input, output, options, on_bad)
    } else {
        let out = Out::to_output(output, options.limits.record_bytes);
        // A stream cannot be read again to locate a fault, and a second reading for every broken
        // record would be too slow, so their paths are tracked on the way.
        let tracked = options.report
            || options.on_loss == OnLoss::Approximate
            || options.skip_bad
            || again.is_none();
        run(input, out, options, tracked, on_bad).map(|(summary, _)| summary)
    };
    result.map_err(|error| explain(error, again, options))
}

/// The largest initial capacity of an output in memory.
const ROOM_BYTES: usize = 256 << 10;

/// Converts bytes in memory and returns the bytes of the other format.
///
/// # Errors
/// Same as [`convert`].
pub fn convert_bytes(input: &[u8], options: &Options) -> Result<Vec<u8>> {
    convert_counted(input, options).map(|(bytes, _)| bytes)
}

/// Same as [`convert_bytes`], and also returns the number of documents.
///
/// # Errors
/// Same as [`convert`].
pub fn convert_counted(input: &[u8], options: &Options) -> Result<(Vec<u8>, u64)> {
    let tracked = options.report || options.on_loss == OnLoss::Approximate;
    // Most formats take about the same space: the buffer of a small document need not move as it
    // grows.
    let room = input.len().saturating_add(64).min(ROOM_BYTES);
    let out = Out::reusing(Vec::with_capacity(room));
    match run(Input::Bytes(input), out, options, tracked, &mut |_| Ok(())) {
        Ok((summary, out)) => Ok((out.into_vec(), summary.documents)),
        Err(error) => Err(explain(error, Some(Input::Bytes(input)), options)),
    }
}

/// Adds to an error what a second reading of its input reveals: the path, the line, and an excerpt.
/// `options` must be those that the input was read with.
#[cold]
pub fn explain(mut error: Error, again: Option<Input<'_>>, options: &Options) -> Error {
    if error.kind() == ErrorKind::Io {
        return error;
    }
    let Some(again) = again else { return error };
    if error.path().is_none() {
        let Some(second) = again.repeat() else { return error };
        let quiet = Options { jobs: 1, report: false, ..options.clone() };
        let out = Out::to_output(Discard, options.limits.record_bytes);
        if let Err(replayed) = run(second, out, &quiet, true, &mut |_| Ok(()))
            && replayed.kind() == error.kind()
            && replayed.offset() == error.offset()
            && let Some(path) = replayed.path()
        {
            error = error.at_path(path.clone());
        }
    }
    let is_text = options.from.is_text();
    if let Some(offset) = error.offset()
        && let Ok(bytes) = again.open()
        && let Ok(place) = excerpt::place(bytes, offset, is_text)
    {
        error = error.with_excerpt(place.excerpt);
        if let Some((line, column)) = place.line_column {
            error = error.at_line(line, column);
        }
    }
    error
}

/// An output that discards its bytes.
struct Discard;

impl Output for Discard {
    fn write(&mut self, _: &[u8]) -> std::io::Result<()> {
        Ok(())
    }
    fn hold(&mut self) -> std::io::Result<()> {
        Ok(())
    }
    fn patch(&mut self, _: u64, _: &[u8]) -> std::io::Result<()> {
        Ok(())
    }
    fn release(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Drives a custom reader into the writer that the options ask for. With `tracked`, errors and losses
/// have their path, and a copy of each key is made for it.
///
/// # Errors
/// Same as [`convert`].
pub(crate) fn write_with<'a, P: Parse>(
    reader: Reader<'a, P>,
    out: Out<'a>,
    options: &Options,
    tracked: bool,
) -> Result<(Summary, Out<'a>)> {
    let job = Job { options, tracked };
    job.to_writer(reader, out, &mut |_| Ok(()))
}

/// Reads `input`, a stream of [`Options::from`], into a custom sink, on the calling thread.
/// [`Options::to`] should be the same format; options for writing have no effect.
///
/// # Errors
/// Same as [`convert`], and those of the sink.
pub fn read<'a>(
    input: Input<'a>,
    options: &Options,
    sink: &mut impl Writer,
    on_bad: &mut OnBad<'_>,
) -> Result<Summary> {
    let again = input.repeat();
    let kept = options.for_trees();
    let job = Job { options: &kept, tracked: options.report || again.is_none() };
    let result = options.from.visit(ReadFrom { job, input, sink, on_bad });
    result.map_err(|error| explain(error, again, options))
}

/// Opens a format's reader, and drives it into a sink.
struct ReadFrom<'j, 'a, 'b, W> {
    job: Job<'j>,
    input: Input<'a>,
    sink: &'j mut W,
    on_bad: &'j mut OnBad<'b>,
}

impl<W: Writer> Visitor for ReadFrom<'_, '_, '_, W> {
    type Output = Result<Summary>;

    fn visit<C: Codec>(self) -> Result<Summary> {
        let reader = self.input.reader(C::parser(self.job.options))?;
        self.job.drive(reader, self.sink, self.on_bad)
    }
}

/// Runs one conversion on the calling thread: selects the reader.
pub(crate) fn run<'a>(
    input: Input<'a>,
    out: Out<'a>,
    options: &Options,
    tracked: bool,
    on_bad: &mut OnBad<'_>,
) -> Result<(Summary, Out<'a>)> {
    let mut identity;
    let mut options = options;
    if options.from == options.to {
        identity = options.clone();
        identity.identity = true;
        options = &identity;
    }
    let job = Job { options, tracked };
    options.from.visit(ConvertFrom { job, input, out, on_bad })
}

/// Opens a format's reader, and goes on to the writer.
struct ConvertFrom<'j, 'a, 'b> {
    job: Job<'j>,
    input: Input<'a>,
    out: Out<'a>,
    on_bad: &'j mut OnBad<'b>,
}

impl<'a> Visitor for ConvertFrom<'_, 'a, '_> {
    type Output = Result<(Summary, Out<'a>)>;

    fn visit<C: Codec>(self) -> Self::Output {
        let reader = self.input.reader(C::parser(self.job.options))?;
        self.job.to_writer(reader, self.out, self.on_bad)
    }
}

/// Opens a format's writer, and runs a reader into it. They are compiled together for the pairs that
/// matter most; for the others the reader drives the writer through dynamic dispatch.
struct ConvertTo<'j, 'a, 'b, P> {
    job: Job<'j>,
    reader: Reader<'a, P>,
    out: Out<'a>,
    fidelity: Fidelity,
    on_bad: &'j mut OnBad<'b>,
}

impl<'a, P: Parse> Visitor for ConvertTo<'_, 'a, '_, P> {
    type Output = Result<(Summary, Out<'a>)>;

    fn visit<C: Codec>(self) -> Self::Output {
        let ConvertTo { job, reader, out, fidelity, on_bad } = self;
        let mut writer = C::writer(out, job.options, fidelity);
        let summary = if let Some(form) = job.options.writes_extended_json() {
            let mut writer = ToExtended::new(&mut writer, form);
            job.drive(reader, &mut writer as &mut dyn Writer, on_bad)?
        } else if const { is_hot(P::FORMAT, C::FORMAT) } {
            job.drive(reader, &mut writer, on_bad)?
        } else {
            job.drive(reader, &mut writer as &mut dyn Writer, on_bad)?
        };
        Ok((summary, C::into_out(writer)))
    }
}

#[derive(Clone, Copy)]
struct Job<'o> {
    options: &'o Options,
    tracked: bool,
}

impl Job<'_> {
    /// Selects the writer.
    fn to_writer<'a, P: Parse>(
        self,
        reader: Reader<'a, P>,
        out: Out<'a>,
        on_bad: &mut OnBad<'_>,
    ) -> Result<(Summary, Out<'a>)> {
        let options = self.options;
        let mut fidelity = options.fidelity();
        if options.numbers_as_decimals() && !options.unwraps() {
            fidelity = fidelity.with_numbers_as_decimals();
        }
        let to = match options.to {
            // Their records are MARC-in-JSON already, which any JSON need not be.
            Format::MarcJson if matches!(options.from, Format::Marc | Format::MarcXml) => {
                Format::Ndjson
            }
            to => to,
        };
        to.visit(ConvertTo { job: self, reader, out, fidelity, on_bad })
    }

    /// Puts the adapters that the options ask for between reader and writer, and runs. Without any,
    /// the reader drives the writer directly; otherwise it drives a chain of adapters.
    fn drive<P: Parse, W: Writer + ?Sized>(
        &self,
        mut reader: Reader<'_, P>,
        writer: &mut W,
        on_bad: &mut OnBad<'_>,
    ) -> Result<Summary> {
        let options = self.options;
        let documents = options.resolved_documents();
        let (wrap, unwrap) = (options.wraps(), options.unwraps());
        let refuse_duplicates = options.duplicate_keys == DuplicateKeys::Refuse;
        reader.keep_records(options.skip_bad);
        let extended = options.reads_extended_json();
        let bad_records = if !self.tracked
            && !wrap
            && !unwrap
            && !extended
            && !refuse_duplicates
            && matches!(documents, Documents::Keep | Documents::Auto)
        {
            pump(&mut reader, writer, options.skip_bad, on_bad)?
        } else {
            // Built from the writer's end to the reader's.
            let mut chain: Box<dyn Writer + '_> = Box::new(&mut *writer);
            if wrap {
                chain = Box::new(Escape::new(chain));
            }
            match documents {
                Documents::Split => chain = Box::new(Split::new(chain)),
                Documents::Join => chain = Box::new(Join::new(chain)?),
                Documents::Keep | Documents::Auto => {}
            }
            if refuse_duplicates || options.report {
                chain = Box::new(Duplicates::new(chain, refuse_duplicates));
            }
            if unwrap {
                let unwrap = Unwrap::new(chain, &options.limits);
                chain = match options.numbers_as_decimals() {
                    true => Box::new(unwrap.with_numbers_as_decimals()),
                    false => Box::new(unwrap),
                };
            }
            if extended {
                chain = Box::new(FromExtended::new(chain, &options.limits));
            }
            if self.tracked {
                let mut tracker = Tracker::new(chain);
                pump(&mut reader, &mut tracker, options.skip_bad, on_bad)
                    .map_err(|error| placed(error, &tracker))?
            } else {
                pump(&mut reader, &mut chain, options.skip_bad, on_bad)?
            }
        };
        Ok(Summary {
            documents: reader.records() - bad_records,
            bad_records,
            fidelity: writer.fidelity().clone(),
        })
    }
}

/// Returns whether a pair of formats gets its own compiled code: everything to JSON and
/// MessagePack, JSON to everything, and the three MARC formats among themselves. Dynamic dispatch
/// costs up to a fifth of the time; compiling all pairs would add a megabyte of code, and minutes
/// to the build.
const fn is_hot(from: Format, to: Format) -> bool {
    let marc = from.is_marc() && to.is_marc();
    to.is_json() || matches!(to, Format::Msgpack) || matches!(from, Format::Json) || marc
}

/// Adds the path that the writer tracks, if it does.
#[cold]
fn placed<W: Writer + ?Sized>(error: Error, writer: &W) -> Error {
    match writer.path() {
        Some(path) if error.path().is_none() && error.kind() != ErrorKind::Io => {
            error.at_path(path)
        }
        _ => error,
    }
}

/// Runs the main loop: one document after the other. Returns the number of broken records skipped.
fn pump<P: Parse, W: Writer + ?Sized>(
    reader: &mut Reader<'_, P>,
    writer: &mut W,
    skip_bad: bool,
    on_bad: &mut OnBad<'_>,
) -> Result<u64> {
    let mut bad_records = 0;
    loop {
        if skip_bad {
            writer.checkpoint();
        }
        writer.fidelity().set_record(reader.records() + 1);
        let mut take = |mut piece: Skipped| {
            piece.error = piece.error.filter(|_| bad_records < NAMED_BAD_RECORDS);
            on_bad(piece)
        };
        match reader.next(writer) {
            Ok(false) => break,
            Ok(true) => match writer.end_document() {
                Ok(()) => continue,
                Err(error) => take(reader.reject(placed(error, writer), skip_bad)?)?,
            },
            Err(error) if skip_bad => reader.pass_over(placed(error, writer), &mut take)?,
            Err(error) => return Err(error),
        }
        writer.rollback();
        bad_records += 1;
    }
    writer.finish()?;
    Ok(bad_records)
}
