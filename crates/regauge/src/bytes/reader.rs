//! The driver of every reader: windows of input around a parser's state machine.
//!
//! A format implements [`Parse`]: a state machine over one window of bytes, which stops before an
//! incomplete token. [`Reader`] feeds it: a slice is a single, last window; a stream is read in
//! windows of [`WINDOW_BYTES`], which grow only for a single token larger than that. So whole
//! buffers and streams run the same code, and memory is bounded by the longest token.

use std::io::Read;

use crate::model::format::{Format, Framing};
use crate::model::hint::Hint;
use crate::model::limits::{Limit, Limits};
use crate::model::value::Value;
use crate::policy::event::{Sink, Source};
use crate::{Error, ErrorKind, Result};

/// How much of a stream is in memory at a time: large enough to make system calls cheap, small
/// enough to stay in the second-level cache together with the output.
pub const WINDOW_BYTES: usize = 256 << 10;

/// Smaller windows double when they are full. The system's allocator extends memory of this size without
/// copying it.
const LARGE_WINDOW_BYTES: usize = 4 << 20;

/// How a call to [`Parse::parse`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Everything before `pos` has been consumed; an incomplete token follows. Never returned for
    /// the last window.
    More,
    /// A document is complete.
    Document,
    /// The stream ended cleanly, with no further document.
    End,
}

/// Where to continue after a broken record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resync {
    /// The next record begins at this index of the window.
    At(usize),
    /// No record begins in this window.
    More,
    /// No record begins before this index, and the bytes before it need not stay in memory. The
    /// next call is for a record that begins and fails at this index. Never returned for the last
    /// window.
    Past(usize),
    /// The format has no place to continue from.
    Never,
}

/// A format's grammar as a state machine over windows of bytes.
pub trait Parse {
    /// The format.
    const FORMAT: Format;

    /// Whether [`resync`](Parse::resync) looks at the bytes before the place of the error.
    const RESYNCS_BY_RECORD: bool = true;

    /// Consumes `bytes[*pos..]`, driving `sink`, until a document ends, the input ends, or a token
    /// is cut off by the end of the window. Sets `*pos` to the end of what it consumed or, on an
    /// error, to the place of the event that failed. The state between calls is kept in the parser.
    ///
    /// With `last`, nothing follows the window.
    ///
    /// # Errors
    /// The parser's own, whose offset counts from the start of `bytes`, and the sink's, without an
    /// offset.
    fn parse<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status>;

    /// Finds the next record after an error in a record that began at `start` and failed at `pos`.
    /// Resets the state to the beginning of a record.
    fn resync(&mut self, bytes: &[u8], start: usize, pos: usize, last: bool) -> Resync {
        let _ = (bytes, start, pos, last);
        Resync::Never
    }

    /// Returns the identifier of the current record (field 001 of a MARC record), if it has been
    /// read.
    fn record_id(&self) -> Option<&str> {
        None
    }

    /// Returns the columns of a table as a row of empty text; `None` before they were read, and without a table.
    fn columns(&self) -> Option<Value> {
        None
    }

    /// Returns the bytes before the first record without which no record can be read: the header of a table.
    fn head(&self) -> &[u8] {
        &[]
    }

    /// Returns the format that errors name: [`FORMAT`](Parse::FORMAT), or a framing of it.
    fn format(&self) -> Format {
        Self::FORMAT
    }

    /// Returns the limits that the reader must enforce.
    fn limits(&self) -> &Limits;
}

/// A broken record that was skipped.
#[derive(Debug)]
pub struct BadRecord {
    /// What is wrong, with record number, identifier and offset.
    pub error: Error,
    /// Its raw bytes, up to where the next record begins.
    pub bytes: Vec<u8>,
}

/// Skipped input: a broken record, or a further piece of one.
#[derive(Debug)]
pub struct Skipped {
    /// What is wrong, with record number, identifier and offset. `None` for a further piece of the
    /// previous record, and for records beyond the number that are reported with an error.
    pub error: Option<Error>,
    /// Whether these are further bytes of the previous record.
    pub continues: bool,
    /// The offset of the bytes in the input.
    pub offset: u64,
    /// What a file of broken records needs before these bytes: for the first of them, the header of a table. It is
    /// empty if `bytes` begins with the header, because the input's first record is broken.
    pub head: Vec<u8>,
    /// The raw bytes, up to where the next record begins.
    pub bytes: Vec<u8>,
}

impl Skipped {
    /// Creates a piece that begins at `offset`: a broken record, or more of one if there is no error.
    fn at(offset: u64, error: Option<Error>, head: Vec<u8>) -> Skipped {
        Skipped { continues: error.is_none(), error, offset, head, bytes: Vec::new() }
    }

    /// Adds bytes. Hands over pieces of [`WINDOW_BYTES`], so that no long record is held twice.
    fn add(&mut self, bytes: &[u8], take: &mut dyn FnMut(Skipped) -> Result) -> Result {
        for bytes in bytes.chunks(WINDOW_BYTES) {
            if self.bytes.len() >= WINDOW_BYTES {
                let offset = self.offset + self.bytes.len() as u64;
                let next = Skipped::at(offset, None, Vec::new());
                take(std::mem::replace(self, next))?;
            }
            self.bytes.extend_from_slice(bytes);
        }
        Ok(())
    }
}

enum Input<'a> {
    Slice(&'a [u8]),
    Stream { read: Box<dyn Read + Send + 'a>, buffer: Vec<u8>, filled: usize, eof: bool },
}

/// Turns bytes into events: a [`Parse`] over a slice or a stream.
pub struct Reader<'a, P> {
    parser: P,
    input: Input<'a>,
    /// The index in the window of the next byte to parse.
    pos: usize,
    /// The index in the window where the current document begins.
    start: usize,
    /// Bytes of input before the window.
    base: u64,
    /// Where the current document begins in the input.
    origin: u64,
    records: u64,
    keep_record: bool,
    /// Whether broken records may be passed over.
    skips: bool,
    has_skipped: bool,
    /// Whether the rest of the input was skipped, within a document.
    is_over: bool,
}

impl<'a, P: Parse> Reader<'a, P> {
    /// Creates a reader of bytes in memory.
    pub fn from_slice(parser: P, bytes: &'a [u8]) -> Self {
        Reader {
            parser,
            input: Input::Slice(bytes),
            pos: 0,
            start: 0,
            base: 0,
            origin: 0,
            records: 0,
            keep_record: false,
            skips: false,
            has_skipped: false,
            is_over: false,
        }
    }

    /// Creates a reader of a stream, which needs no buffer of its own.
    pub fn from_read(parser: P, read: impl Read + Send + 'a) -> Self {
        let mut reader = Reader::from_slice(parser, &[]);
        reader.input =
            Input::Stream { read: Box::new(read), buffer: Vec::new(), filled: 0, eof: false };
        reader
    }

    /// Keeps the whole current record in memory, so that [`skip_bad`](Reader::skip_bad) can return
    /// its bytes. [`Limits::record_bytes`] bounds it.
    pub fn keep_records(&mut self, keep: bool) {
        (self.keep_record, self.skips) = (keep, keep);
    }

    /// Lets broken records be [passed over](Reader::pass_over) by a caller who has no use for their
    /// bytes: those that have left the window may be missing from the pieces.
    pub fn skip_records(&mut self) {
        (self.keep_record, self.skips) = (P::RESYNCS_BY_RECORD, true);
    }

    /// Returns how many documents were completed or skipped.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Returns the parser, for what it has counted.
    pub fn parser(&self) -> &P {
        &self.parser
    }

    /// Returns the parser with its allocated memory, for another reader. It must be between two
    /// documents.
    pub fn into_parser(self) -> P {
        self.parser
    }

    fn drive<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result<bool> {
        if self.is_over {
            return Ok(false);
        }
        self.start = self.pos;
        self.origin = self.base + self.start as u64;
        loop {
            match self.step(sink)? {
                Status::Document => return Ok(true),
                Status::End => return Ok(false),
                Status::More => {}
            }
        }
    }

    /// Parses to the end of the document or of the window. At the latter it reads the next window, and
    /// returns [`Status::More`]: the document goes on with the next call.
    ///
    /// # Errors
    /// Those of [`Source::next`].
    #[inline]
    pub(crate) fn step<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result<Status> {
        let (bytes, last) = match &self.input {
            Input::Slice(bytes) => (*bytes, true),
            Input::Stream { buffer, filled, eof, .. } => (&buffer[..*filled], *eof),
        };
        let status = match self.parser.parse(bytes, &mut self.pos, last, sink) {
            Ok(status) => status,
            Err(error) => return Err(self.locate(error)),
        };
        match status {
            Status::Document => self.records += 1,
            Status::End => {}
            Status::More => {
                debug_assert!(!last, "{}: asked for more than there is", P::FORMAT);
                self.refill()?;
            }
        }
        Ok(status)
    }

    /// Adds what the reader knows about the place to the error.
    #[cold]
    fn locate(&self, error: Error) -> Error {
        if error.kind() == ErrorKind::Io {
            return error;
        }
        let format = self.parser.format();
        // It is about a document before, which the writer has kept in memory.
        if error.record().is_some_and(|record| record != self.records + 1) {
            return error.in_format(format);
        }
        let offset = self.base + error.offset().unwrap_or(self.pos as u64);
        let mut error = error.at(offset).in_format(format);
        if self.records > 0 || format.framing() == Framing::Records {
            error = error.in_record(self.records + 1);
        }
        match self.parser.record_id() {
            Some(id) => error.in_record_id(id),
            None => error,
        }
    }

    /// Slides the window forward and reads as much as fits.
    #[cold]
    fn refill(&mut self) -> Result {
        let limits = *self.parser.limits();
        let Input::Stream { read, buffer, filled, eof } = &mut self.input else {
            return Err(Error::truncated("the input ends inside a value").at(self.pos as u64));
        };
        let keep = if self.keep_record { self.start } else { self.pos };
        buffer.copy_within(keep..*filled, 0);
        *filled -= keep;
        self.pos -= keep;
        self.start = self.start.saturating_sub(keep);
        self.base += keep as u64;
        // Little room is left: one token (or one kept record) takes up nearly the whole window.
        let little = if *filled < LARGE_WINDOW_BYTES { *filled / 4 } else { *filled / 16 };
        if buffer.len() - *filled < little || buffer.is_empty() {
            let (bound, limit) = match self.keep_record {
                true => (limits.record_bytes, Limit::RecordBytes),
                false => (limits.token_bytes, Limit::TokenBytes),
            };
            if *filled as u64 > bound {
                let place = self.base + self.pos as u64;
                return Err(Error::limit(format!(
                    "found a single value of more than {bound} bytes, the limit of {}",
                    limit.name()
                ))
                .hint(Hint::raise(limit))
                .in_format(self.parser.format())
                .at(place));
            }
            // Large windows grow by an eighth in place, so that a token never takes memory twice.
            let more =
                if buffer.len() < LARGE_WINDOW_BYTES { buffer.len() } else { buffer.len() / 8 };
            buffer.resize((buffer.len() + more).max(WINDOW_BYTES), 0);
        }
        let got = loop {
            match read.read(&mut buffer[*filled..]) {
                Ok(got) => break got,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        };
        *filled += got;
        *eof = got == 0;
        Ok(())
    }

    /// Skips a broken record after [`Source::next`] failed, and returns the error with the record's
    /// bytes. An error that is not the fault of one record (the output failed, the policy refused a
    /// loss, the format has no records) is returned as an error.
    ///
    /// Needs [`keep_records`](Reader::keep_records).
    ///
    /// # Errors
    /// `error` itself, an error from reading on, or `Limit` if the record is longer than
    /// [`Limits::record_bytes`].
    pub fn skip_bad(&mut self, error: Error) -> Result<BadRecord> {
        let bound = self.parser.limits().record_bytes;
        let mut found: Option<BadRecord> = None;
        self.pass_over(error, &mut |piece| {
            match (&mut found, piece.error) {
                (_, Some(error)) => found = Some(BadRecord { error, bytes: piece.bytes }),
                (Some(found), None) => found.bytes.extend_from_slice(&piece.bytes),
                (None, None) => {}
            }
            match &found {
                Some(found) if found.bytes.len() as u64 > bound => {
                    let message = "found a broken record of more than";
                    Err(Error::limit(format!("{message} {bound} bytes, the limit of record_bytes"))
                        .hint(Hint::raise(Limit::RecordBytes)))
                }
                _ => Ok(()),
            }
        })?;
        Ok(found.expect("the first piece carries the error"))
    }

    /// Same as [`skip_bad`](Reader::skip_bad), in pieces: the first carries the error. Memory is
    /// limited to one window, however long the record is.
    ///
    /// # Errors
    /// `error` itself, an error from reading on, or an error of `take`.
    pub fn pass_over(&mut self, error: Error, take: &mut dyn FnMut(Skipped) -> Result) -> Result {
        if matches!(error.kind(), ErrorKind::Io | ErrorKind::Refused) || !self.skips {
            return Err(error);
        }
        let mut piece = Skipped::at(self.origin, Some(error), self.take_head());
        loop {
            let (bytes, last) = match &self.input {
                Input::Slice(bytes) => (*bytes, true),
                Input::Stream { buffer, filled, eof, .. } => (&buffer[..*filled], *eof),
            };
            let found = self.parser.resync(bytes, self.start, self.pos, last);
            if let Resync::At(next) | Resync::Past(next) = found {
                piece.add(&bytes[self.start..next.max(self.start)], take)?;
                (self.pos, self.start) = (next, next);
            }
            match found {
                Resync::Never if last && self.is_cut(piece.error.as_ref()) => {
                    piece.add(&bytes[self.start..], take)?;
                    (self.pos, self.start) = (bytes.len(), bytes.len());
                    self.is_over = true;
                    self.records += 1;
                    return take(piece);
                }
                Resync::Never => {
                    let end = self.base + bytes.len() as u64;
                    return Err(piece.error.unwrap_or_else(|| {
                        Error::truncated("found the end of the input inside a broken record")
                            .at(end)
                    }));
                }
                Resync::At(_) => {
                    self.records += 1;
                    return take(piece);
                }
                Resync::Past(_) | Resync::More => {
                    self.refill()?;
                }
            }
        }
    }
}

impl<P: Parse> Reader<'_, P> {
    /// Returns whether the input ends inside a document that is not the first: what is left of it is one
    /// broken record, even if the format gives no way to find a next one.
    fn is_cut(&self, error: Option<&Error>) -> bool {
        let is_stream = self.parser.format().framing() != Framing::Single;
        is_stream && self.records > 0 && error.is_some_and(|it| it.kind() == ErrorKind::Truncated)
    }

    /// Rejects a document that was read whole but that its writer could not use. Returns the broken
    /// record if broken records are skipped.
    ///
    /// # Errors
    /// `error` with its place, unless `skip` is set and the error concerns a single record.
    #[cold]
    pub fn reject(&mut self, error: Error, skip: bool) -> Result<Skipped> {
        let io = error.kind() == ErrorKind::Io;
        let error = if io {
            error
        } else {
            let place = error.offset().unwrap_or(self.origin);
            let error = error.in_format(self.parser.format());
            match error.record() {
                // It is about a document before, which the writer has kept in memory.
                Some(record) if record != self.records => error,
                _ => error.at(place).in_record(self.records),
            }
        };
        if io || !skip || error.kind() == ErrorKind::Refused {
            return Err(error);
        }
        let head = self.take_head();
        let bytes = match &self.input {
            Input::Slice(bytes) => &bytes[self.start..self.pos],
            Input::Stream { buffer, .. } => &buffer[self.start..self.pos],
        };
        Ok(Skipped { bytes: bytes.to_vec(), ..Skipped::at(self.origin, Some(error), head) })
    }

    /// Returns the head for the first broken record; nothing if that is the input's first record, which contains it.
    fn take_head(&mut self) -> Vec<u8> {
        match std::mem::replace(&mut self.has_skipped, true) || self.origin == 0 {
            true => Vec::new(),
            false => self.parser.head().to_vec(),
        }
    }
}

impl<P: Parse> Source for Reader<'_, P> {
    fn next<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result<bool> {
        self.drive(sink)
    }

    fn offset(&self) -> u64 {
        self.base + self.pos as u64
    }
}
