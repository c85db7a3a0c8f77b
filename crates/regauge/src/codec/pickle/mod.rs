//! Python's pickle, protocols 0 to 5, read as inert data.
//!
//! A pickle is a program for a small stack machine (`pickletools.py` and `pickle.py` of CPython;
//! PEP 307, 3154, 574). [`Parser`] runs it over nodes that hold data and names: nothing is looked
//! up, imported or called, and there is no code here that could. A call is read as a value if a
//! table of harmless constructors says so (`known.rs`: dates, decimals, sets, …), and otherwise
//! described, as a name with its arguments. [`survey`] lists everything that loading would import
//! and call. Plain data, which most pickles are, is read without the machine (`flat.rs`), which
//! handles everything that is not plain or not valid. A pickle is read as a whole, within
//! [`Limits::record_bytes`]; a large one is first checked to be whole (`extent.rs`). A file is any
//! number of pickles in sequence.
//!
//! # Deviations
//! - Persistent ids, extension codes and out-of-band buffers are described; `pickle.loads` needs
//!   outside input for them.
//! - An argument of `INT` or `LONG` with underscores, or beyond 64 bits and not decimal, is an
//!   error.
//! - A call whose result is discarded is refused: it would leave no trace in the document.
//!
//! # What a round trip loses
//! The choice of opcodes, and whether equal strings are one object. A call of a function in the
//! table is written as Python would write its result.

mod arena;
mod arrays;
mod cell;
mod describe;
mod extent;
mod flat;
mod known;
mod machine;
mod names;
mod notorious;
mod numpy;
mod rare;
mod stop;
mod survey;
mod table_names;
#[cfg(test)]
mod tests;
mod text;
pub mod types;
mod understand;
mod walk;
mod writer;

pub use crate::model::risk::Risk;
pub use crate::options::pickle::{Options, Strings};
pub use known::harmless;
pub use survey::{Call, Import, Survey, Verdict, survey, survey_stream};
pub use writer::Writer;

use crate::bytes::buffer::Out;
use crate::bytes::reader::{Parse, Resync, Status};
use crate::codec::contract::Codec;
use crate::codec::contract::Looks;
use crate::model::format::Format;
use crate::model::limits::Limits;
use crate::policy::event::Sink;
use crate::{Error, Fidelity, Result, options};

use flat::{Flat, Ran};
use machine::Machine;
use walk::Walk;

/// Reads pickle.
pub type Reader<'a> = crate::bytes::reader::Reader<'a, Parser>;

/// The state machine of the pickle reader: see [`mod@crate::codec::pickle`].
#[derive(Debug)]
pub struct Parser {
    options: Options,
    limits: Limits,
    flat: Flat,
    machine: Machine,
    /// The length of a complete pickle whose value was refused.
    refused: Option<usize>,
}

impl Parser {
    /// Creates a parser at the start of a stream.
    pub fn new(options: Options, limits: Limits) -> Parser {
        let mut machine = Machine::new(&limits);
        machine.looks_ahead = true;
        let flat = Flat::new(&limits, machine.bytes_max);
        Parser { options, limits, flat, machine, refused: None }
    }
}

/// Returns whether nothing is left but the line end that some editors put at the end of every file.
/// No instruction begins with one.
fn is_blank(input: &[u8]) -> bool {
    matches!(input, [] | [b'\n'] | [b'\r'] | [b'\r', b'\n'])
}

impl Parse for Parser {
    const FORMAT: Format = Format::Pickle;

    fn parse<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        let start = *pos;
        let input = bytes.get(start..).unwrap_or_default();
        if is_blank(input) {
            *pos = if last { bytes.len() } else { start };
            return Ok(if last { Status::End } else { Status::More });
        }
        // An instruction that has nothing to work on here.
        if input[0] == types::STACK_GLOBAL {
            if !last && input.len() < arrays::NPY_HEADER_BYTES {
                return Ok(Status::More);
            }
            if let Some(error) = arrays::npy(input) {
                return Err(error.at(start as u64));
            }
        }
        let mut place = |error: Error, at: u64| {
            *pos = start + at as usize;
            // The reader supplies the place of a sink's error.
            match error.offset() {
                Some(offset) => error.at(start as u64 + offset),
                None => error,
            }
        };
        match self.flat.run(input, last, self.options.exact) {
            Ran::Whole => {
                let end = self.flat.pos();
                let Parser { flat, machine, options, limits, .. } = self;
                let mut walk = Walk::new(&mut machine.arena, input, options, limits);
                if let Err(error) = walk.flat(flat.cells(), sink) {
                    let at = walk.at();
                    self.refused = Some(end);
                    return Err(place(error, at));
                }
                self.flat.reset();
                *pos = start + end;
                return Ok(Status::Document);
            }
            Ran::More => return Ok(Status::More),
            Ran::GivenUp => {}
            Ran::TooLong => {
                let error = stop::too_long(self.machine.bytes_max);
                return Err(place(error, self.flat.pos() as u64));
            }
        }
        let root = match self.machine.run(input, last) {
            Ok(Some(root)) => root,
            Ok(None) => return Ok(Status::More),
            Err(error) => return Err(place(error, self.machine.pos() as u64)),
        };
        let end = self.machine.pos();
        let mut walk = Walk::new(&mut self.machine.arena, input, &self.options, &self.limits);
        if let Err(error) = walk.run(root, sink) {
            let at = walk.at();
            self.refused = Some(end);
            return Err(place(error, at));
        }
        self.machine.reset();
        self.flat.reset();
        *pos = start + end;
        Ok(Status::Document)
    }

    fn resync(&mut self, bytes: &[u8], start: usize, _pos: usize, _last: bool) -> Resync {
        self.machine.reset();
        self.flat.reset();
        match self.refused.take() {
            Some(end) if start + end <= bytes.len() => Resync::At(start + end),
            // Nothing in a broken pickle shows where the next one begins.
            _ => Resync::Never,
        }
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}

crate::codec::grid::grid! {
    /// Returns the value as a pickle. What the format cannot hold goes by `policy`.
    ///
    /// ```
    /// use regauge::{OnLoss, Value, pickle};
    /// let value = Value::from([("a", 1)]);
    /// let bytes = pickle::to_vec(&value, OnLoss::Refuse)?;
    /// assert_eq!(pickle::from_slice(&bytes)?, value);
    /// # Ok::<(), regauge::Error>(())
    /// ```
    Pickle, "document"
}

/// Python's pickle.
#[derive(Clone, Copy, Debug)]
pub enum Pickle {}

impl Codec for Pickle {
    const FORMAT: Format = Format::Pickle;
    type Parser = Parser;
    type Writer<'o> = Writer<'o>;

    fn parser(options: &options::Options) -> Parser {
        let mut pickle = options.pickle.clone();
        pickle.exact |= options.identity || options.wraps();
        Parser::new(pickle, options.limits)
    }

    fn writer<'o>(out: Out<'o>, options: &options::Options, fidelity: Fidelity) -> Writer<'o> {
        let mut pickle = options.pickle.clone();
        // What a pickle calls already runs on load.
        pickle.calls |= options.identity;
        Writer::new(out, pickle, fidelity)
    }

    #[inline]
    fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o> {
        writer.into_out()
    }

    fn is_contradicted(looks: Looks, _: &[u8]) -> bool {
        match looks {
            // A length can begin like this.
            Looks::Like(other) => other != Self::FORMAT && other != Format::Bson,
            Looks::Other(_) => true,
            Looks::Text => false,
        }
    }
}
