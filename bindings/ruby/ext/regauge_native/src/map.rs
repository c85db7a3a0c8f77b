//! A conversion with a block: Ruby objects between reader and writer.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use regauge::stage::Stage;
use regauge::tape::Tape;
use regauge::whole::whole;
use regauge::{Error, ErrorKind, Format, Result, Sink, Writer};

use crate::build::Build;
use crate::names::names;
use crate::options::Settings;
use crate::ruby::{self, Jump, NIL, Raise, VALUE};
use crate::scratch;
use crate::walk::Walk;

/// The caller's block, for [`regauge::Options::stage`]. The GVL is held while documents go through it.
pub struct Map {
    /// Anything that has a method `call`.
    function: VALUE,
    /// What it returns for a document to leave out.
    omit: VALUE,
    settings: Settings,
    /// The state of a jump out of the block; 0 for none.
    jump: AtomicI32,
    /// Whether it returned nil for something else.
    is_nil: AtomicBool,
}

impl std::fmt::Debug for Map {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Map")
    }
}

impl Map {
    /// Creates a stage for a conversion with these settings.
    pub fn new(function: VALUE, omit: VALUE, settings: Settings) -> Map {
        let (jump, is_nil) = (AtomicI32::new(0), AtomicBool::new(false));
        Map { function, omit, settings, jump, is_nil }
    }

    /// Returns what to raise, if the block is why the conversion failed.
    pub fn raised(&self) -> Option<Raise> {
        if self.is_nil.load(Ordering::Relaxed) {
            return Some(ruby::type_error(
                "the block returned nil for a document that is not nil, expected the document to write, \
                 or Regauge::OMIT to leave it out",
            ));
        }
        Jump::from_state(self.jump.load(Ordering::Relaxed)).map(Raise::Jump)
    }

    fn stopped() -> Error {
        Error::new(ErrorKind::Io, "the block ended the conversion")
    }

    fn jumped(&self, jump: Jump) -> Error {
        self.jump.store(jump.state(), Ordering::Relaxed);
        Map::stopped()
    }

    /// Returns the document as a Ruby object.
    fn build(&self, tape: &Tape) -> Result<VALUE> {
        let scratch = scratch::take();
        let mut build = Build::new(&scratch, &self.settings);
        let built = tape.drive(&mut build);
        match build.jump.take() {
            Some(jump) => Err(self.jumped(jump)),
            None => built.map(|()| build.take()),
        }
    }

    fn walk<S: Sink + ?Sized>(&self, object: VALUE, sink: &mut S) -> Result {
        let mut walk = Walk::new(sink, &self.settings);
        let walked = walk.document(object);
        match walk.jump {
            Some(jump) => Err(self.jumped(jump)),
            None => walked,
        }
    }

    /// Returns whether the document's object is still what it says: that which another reading gives.
    fn is_untouched(&self, object: VALUE, tape: &Tape) -> Result<bool> {
        let (mut now, mut fresh) = (Tape::new(), Tape::new());
        self.walk(object, &mut now)?;
        let again = self.build(tape)?;
        let walked = self.walk(again, &mut fresh);
        ruby::keep(again);
        walked.map(|()| now.is_same(&fresh))
    }

    /// Calls the block, and writes what it returns.
    fn document(&self, tape: &Tape, writer: &mut dyn Writer) -> Result {
        let object = self.build(tape)?;
        let returned = ruby::call(self.function, names().id_call, &[object]);
        let returned = returned.map_err(|jump| self.jumped(jump))?;
        if returned == self.omit {
            return Ok(());
        }
        if returned == NIL && object != NIL {
            self.is_nil.store(true, Ordering::Relaxed);
            return Err(Map::stopped());
        }
        let written = if returned == object && self.is_untouched(object, tape)? {
            tape.drive(writer)
        } else {
            self.walk(returned, writer)
        };
        ruby::keep(object);
        ruby::keep(returned);
        written?;
        writer.end_document()
    }
}

impl Stage for Map {
    fn open<'w>(&'w self, inner: Box<dyn Writer + 'w>, _: Format) -> Box<dyn Writer + 'w> {
        whole(inner, &self.settings.core.limits, |tape, writer| self.document(tape, writer))
    }

    fn is_divisible(&self) -> bool {
        false
    }

    fn stack_bytes(&self) -> usize {
        // It goes through documents on the caller's thread.
        0
    }

    fn begin_thread(&self) {}
}
