//! Bytes to events: documents are gathered, scanned and walked.

use super::scan::Scanner;
use super::types::VERSION;
use super::walk::{Room, Walk};
use super::{Options, direct};
use crate::bytes::reader::{Parse, Status};
use crate::model::format::Format;
use crate::model::limits::Limits;
use crate::policy::event::Sink;
use crate::{Error, ErrorKind, Result};

/// The state of the Marshal reader: see [`mod@crate::codec::marshal`].
#[derive(Debug)]
pub struct Parser {
    options: Options,
    /// Limits of documents and what is in them.
    inner: Limits,
    /// Limits of the driver, to which a document is one token.
    outer: Limits,
    scanner: Scanner,
    room: Room,
    /// Where to do both passes in one.
    direct: Option<direct::State>,
    /// Whether the version of the current document has been read.
    begun: bool,
    /// Do both passes one after the other, for comparison.
    #[cfg(test)]
    pub(super) two_passes: bool,
}

impl Parser {
    /// Creates a parser at the beginning of a stream.
    pub fn new(options: Options, limits: Limits) -> Parser {
        let token_bytes = limits.token_bytes.max(limits.record_bytes);
        Parser {
            options,
            inner: limits,
            outer: Limits { token_bytes, ..limits },
            scanner: Scanner::default(),
            room: Room::default(),
            direct: None,
            begun: false,
            #[cfg(test)]
            two_passes: false,
        }
    }
}

impl Parser {
    /// Emits the events of the one document in `bytes` in one pass, if it is plain data in which no
    /// link names an array or a hash. A sink that holds references gets the same events for such a
    /// document from [`Parse::parse`], which has to see the links first. Returns `false` for any
    /// other document and for a malformed one: the sink, which may have received a part, must then
    /// discard it, and the bytes must be parsed.
    pub fn plain<S: Sink + ?Sized>(&mut self, bytes: &[u8], sink: &mut S) -> bool {
        if self.options.keeps_objects() || !matches!(begin(bytes, true), Ok(true)) {
            return false;
        }
        self.scanner.begin();
        self.begun = false;
        let Parser { scanner, options, inner: limits, room, .. } = self;
        let input =
            direct::Input { document: bytes, last: true, options, limits, only_plain: true };
        let mut state = direct::State::new(limits, room);
        state.plain(input, scanner, room, sink) == Some(bytes.len())
    }
}

impl Default for Parser {
    /// Creates a parser with the default options and limits.
    fn default() -> Parser {
        Parser::new(Options::default(), Limits::default())
    }
}

impl Parse for Parser {
    const FORMAT: Format = Format::Marshal;

    fn parse<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        let start = *pos;
        let document = &bytes[start..];
        let result = self.document(document, last, sink);
        match result {
            Ok(None) => Ok(if document.is_empty() && last { Status::End } else { Status::More }),
            Ok(Some(length)) => {
                *pos = start + length;
                self.begun = false;
                Ok(Status::Document)
            }
            Err((error, at)) => {
                *pos = start + at;
                Err(match error.offset() {
                    Some(at) => error.at(start as u64 + at),
                    None => error,
                })
            }
        }
    }

    fn limits(&self) -> &Limits {
        &self.outer
    }
}

impl Parser {
    /// Reads the document that begins the bytes. Returns its length, or `None` if more bytes are
    /// needed. An error has its place in the document.
    fn document<S: Sink + ?Sized>(
        &mut self,
        document: &[u8],
        last: bool,
        sink: &mut S,
    ) -> std::result::Result<Option<usize>, (Error, usize)> {
        if !self.begun {
            if !begin(document, last).map_err(placed)? {
                return Ok(None);
            }
            self.scanner.begin();
            self.begun = true;
            let in_one = !self.options.keeps_objects() && !sink.holds_references();
            #[cfg(test)]
            let in_one = in_one && !self.two_passes;
            self.direct = in_one.then(|| direct::State::new(&self.inner, &mut self.room));
        }
        let Parser { scanner, options, inner: limits, room, direct, .. } = self;
        if let Some(direct) = direct {
            let input = direct::Input { document, last, options, limits, only_plain: false };
            return direct.run(input, scanner, room, sink);
        }
        let Some(length) = self.scanner.run(document, last, &self.inner).map_err(placed)? else {
            return Ok(None);
        };
        let Parser { scanner, options, inner, room, .. } = self;
        Walk::run(&document[..length], &scanner.tables, options, inner, room, sink)?;
        Ok(Some(length))
    }
}

pub(super) fn placed(error: Error) -> (Error, usize) {
    let at = error.offset().unwrap_or(0) as usize;
    (error, at)
}

/// Checks the version. Returns `false` if it is incomplete, or nothing is left.
pub(super) fn begin(document: &[u8], last: bool) -> Result<bool> {
    let [major, minor] = VERSION;
    match *document {
        [] => Ok(false),
        [found, ..] if found != major => Err(Error::syntax(format!(
            "found the byte 0x{found:02X}, expected the version of Ruby Marshal (04 08)"
        ))
        .at(0)),
        [_] if last => {
            Err(Error::truncated("found the end of the input in the version (04 08)").at(0))
        }
        [_] => Ok(false),
        [_, found, ..] if found > minor => Err(Error::new(
            ErrorKind::Unsupported,
            format!("found version 4.{found} of Ruby Marshal, expected 4.8 or earlier"),
        )
        .at(1)),
        _ => Ok(true),
    }
}
