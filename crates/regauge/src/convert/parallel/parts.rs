//! Splits an input into parts of whole records: ranges of a file, or pieces of a stream.

use std::io::Read;

use crate::convert::input::{Input, ReadAt, shrunk};
use crate::model::format::Format;
use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::model::option::Opt;
use crate::options::Options;
use crate::{Error, Result};

/// The size of a part: large enough that the handover costs nothing, small enough to stay in the
/// cache of the worker's core together with its output.
const PART_BYTES: usize = 512 << 10;

/// The byte that ends a record. Only inputs that have one are cut into parts: see
/// [`can_split`](super::can_split).
fn record_end(format: Format) -> u8 {
    format.info().record_end.unwrap_or(b'\n')
}

/// A part of the input to convert.
pub(super) enum Part {
    /// Whole records that begin at this offset.
    Bytes { start: u64, bytes: Vec<u8> },
    /// The records that begin in this range, to be read into the buffer.
    Range { start: u64, end: u64, buffer: Vec<u8> },
}

/// The parts of an input, in order.
pub(super) enum Parts<'a> {
    Stream { read: Box<dyn Read + Send + 'a>, cutter: Cutter },
    Ranges { at: &'a dyn ReadAt, next: u64, size: u64 },
}

impl<'a> Parts<'a> {
    pub fn new(input: Input<'a>, options: &Options) -> Result<Parts<'a>> {
        Ok(match input {
            Input::At(at) => Parts::Ranges { at, next: 0, size: at.size()? },
            stream => Parts::Stream { read: stream.open()?, cutter: Cutter::new(options) },
        })
    }

    pub fn at(&self) -> Option<&'a dyn ReadAt> {
        match self {
            Parts::Ranges { at, .. } => Some(*at),
            Parts::Stream { .. } => None,
        }
    }

    /// Returns the next part, in the given buffer; `None` at the end.
    pub fn next(&mut self, buffer: Vec<u8>) -> Result<Option<Part>> {
        match self {
            Parts::Stream { read, cutter } => {
                let start = cutter.offset;
                let bytes = cutter.next(read, buffer)?;
                Ok(bytes.map(|bytes| Part::Bytes { start, bytes }))
            }
            Parts::Ranges { next, size, .. } if *next < *size => {
                let start = *next;
                *next = (start + PART_BYTES as u64).min(*size);
                Ok(Some(Part::Range { start, end: *next, buffer }))
            }
            Parts::Ranges { .. } => Ok(None),
        }
    }
}

/// Cuts a stream at record boundaries.
pub(super) struct Cutter {
    format: Format,
    record_bytes: u64,
    /// The beginning of a record whose end has not been read yet.
    rest: Vec<u8>,
    /// Where the next part begins in the input.
    offset: u64,
    eof: bool,
}

impl Cutter {
    fn new(options: &Options) -> Cutter {
        let record_bytes = options.limits.record_bytes.max(options.limits.token_bytes);
        Cutter { format: options.from, record_bytes, rest: Vec::new(), offset: 0, eof: false }
    }

    /// Returns the next part, in the given buffer; `None` at the end.
    fn next(&mut self, read: &mut dyn Read, mut bytes: Vec<u8>) -> Result<Option<Vec<u8>>> {
        bytes.clear();
        bytes.append(&mut self.rest);
        let mut searched = 0;
        while !self.eof {
            let want = PART_BYTES.max(bytes.len() / 2);
            let start = bytes.len();
            let room = if start < want { want - start } else { want };
            bytes.resize(start + room, 0);
            let mut filled = start;
            while filled < bytes.len() && !self.eof {
                match read.read(&mut bytes[filled..]) {
                    Ok(0) => self.eof = true,
                    Ok(got) => filled += got,
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error.into()),
                }
            }
            bytes.truncate(filled);
            if self.eof {
                break;
            }
            let ends = record_end(self.format);
            if let Some(last) = memchr::memrchr(ends, &bytes[searched..]) {
                let end = searched + last + 1;
                self.rest.extend_from_slice(&bytes[end..]);
                bytes.truncate(end);
                self.offset += end as u64;
                return Ok(Some(bytes));
            }
            searched = bytes.len();
            if bytes.len() as u64 > self.record_bytes {
                return Err(too_long(self.format, self.record_bytes));
            }
        }
        Ok((!bytes.is_empty()).then_some(bytes))
    }
}

/// The largest record that is read whole before it is parsed when broken records are skipped: the
/// rest of a longer one may be nothing but garbage. MARC ends at a tenth of that.
const LONG_BYTES: u64 = 1 << 20;

/// The records of a range.
pub(super) enum Records {
    /// Their offset in the input, and their range in the buffer.
    Read(u64, std::ops::Range<usize>),
    /// Their offset; the last of them is too long to be read before it is parsed.
    Long(u64),
}

/// How much is first read past a range to find the end of its last record.
const SLACK_BYTES: u64 = 4 << 10;

/// Reads the records that begin in a range: from after the first terminator at or after `start - 1`
/// to the first one at or after `end - 1`. Returns their offset in the input and their range in the
/// buffer. The contents of the buffer are overwritten and its length is kept: filling it with zeros
/// first would cost as much as reading.
pub(super) fn read_range(
    at: &dyn ReadAt,
    start: u64,
    end: u64,
    buffer: &mut Vec<u8>,
    options: &Options,
) -> Result<Records> {
    let ends = record_end(options.from);
    let base = start.saturating_sub(1);
    let size = at.size()?;
    let mut filled = 0;
    // Reads up to this offset, or to the end of the input; returns whether there is more.
    let mut read_to = |buffer: &mut Vec<u8>, to: u64| -> Result<(usize, bool)> {
        let want = (to - base) as usize;
        if buffer.len() < want {
            buffer.resize(want, 0);
        }
        while filled < want {
            match at.read_at(&mut buffer[filled..want], base + filled as u64) {
                Ok(0) if base + (filled as u64) < size => {
                    return Err(shrunk(base + filled as u64).in_format(options.from));
                }
                Ok(0) => return Ok((filled, false)),
                Ok(got) => filled += got,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok((filled, true))
    };
    let (mut filled, mut more) = read_to(buffer, end + SLACK_BYTES)?;
    let own = filled.min((end - base) as usize);
    let first = match start {
        0 => 0,
        // A terminator that is the last byte of the range starts a record of the next range.
        _ => match memchr::memchr(ends, &buffer[..own.saturating_sub(1)]) {
            Some(index) => index + 1,
            None => return Ok(Records::Read(end, 0..0)),
        },
    };
    let mut searched = ((end - 1 - base) as usize).max(first);
    let limit = options.limits.record_bytes.max(options.limits.token_bytes);
    loop {
        if searched < filled
            && let Some(index) = memchr::memchr(ends, &buffer[searched..filled])
        {
            filled = searched + index + 1;
            break;
        }
        if !more {
            break;
        }
        searched = filled;
        if options.skip_bad && searched as u64 > (end - base) + LONG_BYTES {
            return Ok(Records::Long(base + first as u64));
        }
        if searched as u64 > limit {
            return Err(too_long(options.from, limit).at(base + first as u64));
        }
        (filled, more) = read_to(buffer, base + 2 * filled as u64)?;
    }
    Ok(Records::Read(base + first as u64, first..filled))
}

/// Reads from an offset to the first terminator at or after `end - 1`.
pub(super) struct ToTerminator<'a> {
    at: &'a dyn ReadAt,
    offset: u64,
    end: u64,
    terminator: u8,
    done: bool,
}

impl<'a> ToTerminator<'a> {
    pub(super) fn new(at: &'a dyn ReadAt, start: u64, end: u64, format: Format) -> Self {
        ToTerminator { at, offset: start, end, terminator: record_end(format), done: false }
    }
}

impl Read for ToTerminator<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.done || buffer.is_empty() {
            return Ok(0);
        }
        let mut got = self.at.read_at(buffer, self.offset)?;
        if got == 0 && self.offset < self.at.size()? {
            return Err(std::io::Error::other(shrunk(self.offset)));
        }
        let from = (self.end - 1).saturating_sub(self.offset).min(got as u64) as usize;
        if let Some(index) = memchr::memchr(self.terminator, &buffer[from..got]) {
            got = from + index + 1;
            self.done = true;
        }
        self.offset += got as u64;
        Ok(got)
    }
}

#[cold]
fn too_long(format: Format, limit: u64) -> Error {
    Error::limit(format!("found a record of more than {limit} bytes"))
        .in_format(format)
        .hint(Hint::raise(Limit::RecordBytes).to("raise the limit").or(Hint::set(Opt::Jobs, "1")))
}
