//! Reads YAML into events: the grammar, and a composer that turns its events into those of the
//! sink.

use super::breaks::Breaks;
use super::compose::{Compose, Composer};
use super::event::Handler;
use super::machine::Machine;
use super::notation::drive;
use crate::bytes::reader::{Parse, Resync, Status};
use crate::model::limits::Limits;
use crate::options::yaml::Options;
use crate::policy::event::Sink;
use crate::{Format, Result};

/// The state machine: see [`Parse`].
#[derive(Debug)]
pub struct Parser {
    machine: Machine,
    composer: Composer,
    /// The line breaks of YAML 1.1, for that schema.
    breaks: Option<Breaks>,
}

impl Default for Parser {
    fn default() -> Parser {
        Parser::new(Options::default(), Limits::default())
    }
}

impl Parser {
    /// Creates a parser at the start of a stream.
    pub fn new(options: Options, limits: Limits) -> Parser {
        let breaks = options.schema.is_old().then(Breaks::default);
        Parser { machine: Machine::new(limits), composer: Composer::new(options, limits), breaks }
    }
}

impl Parse for Parser {
    const FORMAT: Format = Format::Yaml;
    const RESYNCS_BY_RECORD: bool = false;

    fn limits(&self) -> &Limits {
        &self.machine.limits
    }

    #[inline]
    fn parse<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        let mut handler = Compose { c: &mut self.composer, sink };
        run(&mut self.machine, &mut self.breaks, &mut handler, bytes, pos, last)
    }

    /// Skips to the next line that is `---`, where the next document begins.
    fn resync(&mut self, bytes: &[u8], _start: usize, pos: usize, last: bool) -> Resync {
        self.breaks = self.breaks.take().map(|_| Breaks::default());
        let mut from = pos.saturating_sub(1);
        loop {
            let Some(found) = memchr::memmem::find(&bytes[from..], b"\n---") else {
                if !last {
                    // The marker may be cut off.
                    let keep = bytes.len().saturating_sub(4).max(pos);
                    self.machine.restart(keep - pos);
                    return Resync::Past(keep);
                }
                self.machine.restart(bytes.len() - pos);
                return Resync::At(bytes.len());
            };
            let line = from + found + 1;
            match bytes.get(line + 3) {
                None if !last => return Resync::More,
                None | Some(b' ' | b'\t' | b'\n' | b'\r') if line > pos => {
                    self.machine.restart(line - pos);
                    return Resync::At(line);
                }
                _ => from = line,
            }
        }
    }
}

/// Runs the grammar over a window, with the line breaks of YAML 1.1 if there are `breaks`.
#[inline]
pub(super) fn run<H: Handler + ?Sized>(
    machine: &mut Machine,
    breaks: &mut Option<Breaks>,
    handler: &mut H,
    bytes: &[u8],
    pos: &mut usize,
    last: bool,
) -> Result<Status> {
    let Some(breaks) = breaks else { return drive(machine, handler, bytes, None, pos, last) };
    loop {
        let start = *pos;
        let piece = breaks.piece(bytes, start);
        let (end, whole) = (piece.end, piece.whole);
        let ran = drive(machine, handler, &bytes[..end], piece.copy, pos, last && whole);
        breaks.advance(pos.saturating_sub(start));
        match ran {
            Ok(Status::More) if !whole => breaks.enlarge(),
            ran => return ran,
        }
    }
}
