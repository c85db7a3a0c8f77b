//! The bytes of one field in a window.

use memchr::memchr;

use super::faults;
use crate::{Error, Result};

/// A field that is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// The bytes between the quotes, or all of them: indexes of the window.
    pub start: usize,
    pub end: usize,
    pub is_quoted: bool,
    /// There are doubled quotes in it.
    pub is_escaped: bool,
    /// The index after the field: of the delimiter or the end of the line, or the end of the input.
    pub stop: usize,
    /// The index after that delimiter or end of line.
    pub next: usize,
    /// Whether the record ends here.
    pub is_last: bool,
}

/// Finds the ends of fields. A field that does not end in the window is continued where the scan
/// stopped.
#[derive(Debug)]
pub(super) struct Scanner {
    delimiter: u8,
    /// The bytes that may not stand in a field without quotes.
    ends: [bool; 256],
    /// Bytes of the current field that need not be looked at again.
    scanned: usize,
    is_escaped: bool,
}

/// What ends a field.
enum Stop {
    Delimiter,
    /// The end of a line, and its length.
    Line(usize),
    /// A carriage return at the end of the window: a line may end there.
    Open,
    /// Something else.
    Other,
}

impl Scanner {
    pub fn new(delimiter: u8) -> Scanner {
        let mut ends = [false; 256];
        for byte in [delimiter, b'"', b'\n', b'\r'] {
            ends[usize::from(byte)] = true;
        }
        Scanner { delimiter, ends, scanned: 0, is_escaped: false }
    }

    /// Forgets the field that was not whole.
    pub fn reset(&mut self) {
        (self.scanned, self.is_escaped) = (0, false);
    }

    /// Returns the field that begins at `start`; `None` if the window ends before it does.
    pub fn field(&mut self, bytes: &[u8], start: usize, last: bool) -> Result<Option<Field>> {
        let found = match bytes.get(start) {
            Some(b'"') => self.quoted(bytes, start, last),
            _ => self.plain(bytes, start, last),
        };
        if !matches!(found, Ok(None)) {
            self.reset();
        }
        found
    }

    fn plain(&mut self, bytes: &[u8], start: usize, last: bool) -> Result<Option<Field>> {
        let from = start + self.scanned;
        let rest = bytes.get(from..).unwrap_or_default();
        let length = rest.iter().position(|byte| self.ends[usize::from(*byte)]);
        let end = length.map_or(bytes.len(), |length| from + length);
        let field = Field {
            start,
            end,
            is_quoted: false,
            is_escaped: false,
            stop: end,
            next: end,
            is_last: true,
        };
        if length.is_none() {
            self.scanned = end - start;
            return Ok(last.then_some(field));
        }
        match self.stop(bytes, end, last) {
            Stop::Delimiter => Ok(Some(Field { next: end + 1, is_last: false, ..field })),
            Stop::Line(length) => Ok(Some(Field { next: end + length, ..field })),
            Stop::Open => {
                self.scanned = end - start;
                Ok(None)
            }
            Stop::Other if bytes[end] == b'"' => Err(faults::stray_quote().at(end as u64)),
            Stop::Other => Err(faults::lone_return().at(end as u64)),
        }
    }

    fn quoted(&mut self, bytes: &[u8], start: usize, last: bool) -> Result<Option<Field>> {
        let mut from = start + self.scanned.max(1);
        loop {
            let Some(length) = memchr(b'"', &bytes[from..]) else {
                self.scanned = bytes.len() - start;
                return if last { Err(faults::unclosed().at(start as u64)) } else { Ok(None) };
            };
            let quote = from + length;
            if bytes.get(quote + 1) == Some(&b'"') {
                self.is_escaped = true;
                from = quote + 2;
                continue;
            }
            let field = Field {
                start: start + 1,
                end: quote,
                is_quoted: true,
                is_escaped: self.is_escaped,
                stop: quote + 1,
                next: quote + 1,
                is_last: true,
            };
            if quote + 1 == bytes.len() {
                self.scanned = quote - start;
                return Ok(last.then_some(field));
            }
            return match self.stop(bytes, quote + 1, last) {
                Stop::Delimiter => Ok(Some(Field { next: quote + 2, is_last: false, ..field })),
                Stop::Line(length) => Ok(Some(Field { next: quote + 1 + length, ..field })),
                Stop::Open => {
                    self.scanned = quote - start;
                    Ok(None)
                }
                Stop::Other => Err(after_quote(bytes, quote + 1)),
            };
        }
    }

    fn stop(&self, bytes: &[u8], at: usize, last: bool) -> Stop {
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(byte), _) if *byte == self.delimiter => Stop::Delimiter,
            (Some(b'\n'), _) => Stop::Line(1),
            (Some(b'\r'), Some(b'\n')) => Stop::Line(2),
            (Some(b'\r'), None) if !last => Stop::Open,
            _ => Stop::Other,
        }
    }
}

#[cold]
fn after_quote(bytes: &[u8], at: usize) -> Error {
    match bytes[at] {
        b'\r' => faults::lone_return(),
        _ => faults::after_quote(),
    }
    .at(at as u64)
}

/// Finds the end of a broken record, without an opinion on what is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Skipper {
    /// At the start of a field.
    #[default]
    Start,
    Plain,
    Quoted,
    /// After a quote in a quoted field: its end, or the first of two.
    Closed,
}

impl Skipper {
    /// Returns the index after the record; `None` if it does not end in the window, all of which has
    /// then been looked at.
    pub fn skip(&mut self, delimiter: u8, bytes: &[u8], from: usize) -> Option<usize> {
        for (at, byte) in bytes.iter().enumerate().skip(from) {
            *self = match (*self, *byte) {
                (Skipper::Start | Skipper::Closed, b'"') => Skipper::Quoted,
                (Skipper::Quoted, b'"') => Skipper::Closed,
                (Skipper::Quoted, _) => Skipper::Quoted,
                (_, b'\n') => return Some(at + 1),
                (_, byte) if byte == delimiter => Skipper::Start,
                _ => Skipper::Plain,
            };
        }
        None
    }
}
