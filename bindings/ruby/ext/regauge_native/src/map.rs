//! A conversion with a block: Ruby objects between reader and writer.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use regauge::codec::Codec as _;
use regauge::limits::Limits;
use regauge::marshal::Marshal;
use regauge::reader::Reader;
use regauge::stage::Stage;
use regauge::tape::Tape;
use regauge::whole::whole;
use regauge::{Error, ErrorKind, Format, Result, Sink, Source as _, Writer};

use crate::build::Build;
use crate::marshal_dump;
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
        let again = self.build(tape)?;
        let same = if self.writes_marshal() {
            have_same_bytes(object, again).map_or_else(|| self.have_same_events(object, again), Ok)
        } else {
            // A walk ends at a value that contains itself.
            self.have_same_events(object, again).or_else(|error| match self.has_jumped() {
                true => Err(error),
                false => Ok(have_same_bytes(object, again) == Some(true)),
            })
        };
        ruby::keep(again);
        same
    }

    fn have_same_events(&self, object: VALUE, again: VALUE) -> Result<bool> {
        let (mut now, mut fresh) = (Tape::new(), Tape::new());
        self.walk(object, &mut now)?;
        self.walk(again, &mut fresh)?;
        Ok(now.is_same(&fresh))
    }

    fn has_jumped(&self) -> bool {
        self.jump.load(Ordering::Relaxed) != 0
    }

    fn writes_marshal(&self) -> bool {
        self.settings.core.to == Format::Marshal
    }

    /// Writes a changed document. For Marshal, Ruby's bytes are read again: they have what a walk over
    /// the objects does not see, such as the default of a Hash, and links.
    fn changed(&self, object: VALUE, writer: &mut dyn Writer) -> Result {
        if !self.writes_marshal() {
            return self.walk(object, writer);
        }
        let string = marshal_dump::dump(object).map_err(|jump| self.jumped(jump))?;
        let bytes = ruby::bytes_of(string);
        if SPECIALS.iter().any(|name| memchr::memmem::find(bytes, name).is_some()) {
            return self.walk(object, writer);
        }
        let core = &self.settings.core;
        let mut options = core.clone();
        options.marshal.exact = true;
        options.limits = Limits::NONE;
        options.limits.depth = core.limits.depth;
        let parser = Marshal::parser(&options);
        let read = Reader::from_slice(parser, bytes).next(writer);
        ruby::keep(string);
        read.map(drop)
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
            self.changed(returned, writer)
        };
        ruby::keep(object);
        ruby::keep(returned);
        written?;
        writer.end_document()
    }
}

/// How Marshal writes the classes of values that only other formats have.
const SPECIALS: [&[u8]; 2] = [b":\x15Regauge::Special", b":\x13Regauge::Typed"];

/// Returns whether two objects are the same in Marshal; `None` if one cannot be written.
fn have_same_bytes(one: VALUE, other: VALUE) -> Option<bool> {
    let [one, other] = [one, other].map(|object| match marshal_dump::dump(object) {
        Ok(string) => Some(string),
        Err(jump) => {
            ruby::rescue(jump);
            None
        }
    });
    let (one, other) = (one?, other?);
    let same = ruby::bytes_of(one) == ruby::bytes_of(other);
    ruby::keep(one);
    ruby::keep(other);
    Some(same)
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
