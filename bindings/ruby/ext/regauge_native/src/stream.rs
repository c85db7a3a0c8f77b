//! Reads documents one by one, from a string or from anything with a method `read`.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use regauge::Error;
use regauge::codec::{Codec, Visitor};
use regauge::notation::Unwrap;
use regauge::reader::{BadRecord, Parse, Reader};

use crate::build::Build;
use crate::data::{DataType, Held};
use crate::errors::{Phase, exception};
use crate::load::{in_utf8, located, no_source};
use crate::names::names;
use crate::options::Settings;
use crate::ruby::{self, ID, Jump, NIL, Raise, VALUE};
use crate::scratch;

/// `Regauge::Native::Stream`.
pub struct Stream {
    /// Taken out while a document is read, because Ruby methods may run meanwhile.
    inner: Option<Inner>,
    /// What the reader and the settings refer to.
    held: [VALUE; 3],
    class: VALUE,
}

struct Inner {
    reader: Box<dyn Documents>,
    settings: Settings,
    jump: Arc<AtomicI32>,
    string: VALUE,
}

impl Held for Stream {
    const NAME: &'static std::ffi::CStr = c"Regauge::Native::Stream";
    fn mark(&self) {
        self.held.iter().for_each(|value| ruby::mark(*value));
        ruby::mark(self.class);
    }
}

static STREAM: DataType<Stream> = DataType::new();

/// A reader of any format.
trait Documents {
    fn next(&mut self, build: &mut Build<'_>, unwraps: bool) -> regauge::Result<bool>;
    fn skip(&mut self, error: Error) -> regauge::Result<BadRecord>;
}

impl<P: Parse> Documents for Reader<'static, P> {
    fn next(&mut self, build: &mut Build<'_>, unwraps: bool) -> regauge::Result<bool> {
        if unwraps {
            let limits = *self.parser().limits();
            let mut unwrap = Unwrap::new(build, &limits);
            return regauge::Source::next(self, &mut unwrap as &mut dyn regauge::Sink);
        }
        regauge::Source::next(self, build as &mut dyn regauge::Sink)
    }
    fn skip(&mut self, error: Error) -> regauge::Result<BadRecord> {
        self.skip_bad(error)
    }
}

/// Bytes from a method `read`.
pub struct FromRead {
    /// The object with that method.
    io: VALUE,
    /// That method, or `readpartial`.
    method: ID,
    /// The method's non-local exit, or 0.
    jump: Arc<AtomicI32>,
}

impl FromRead {
    /// Reads from a source that has a method `read`.
    ///
    /// # Errors
    /// A `TypeError` for any other.
    pub fn new(source: VALUE, jump: &Arc<AtomicI32>) -> Result<FromRead, Raise> {
        let names = names();
        if !ruby::responds(source, names.id_read)? {
            return Err(no_source(source));
        }
        let method = match waits_for_all(source) {
            true => names.id_read,
            false => names.id_readpartial,
        };
        Ok(FromRead { io: source, method, jump: Arc::clone(jump) })
    }

    fn ended(&self, jump: Jump) -> bool {
        let is_partial = self.method == names().id_readpartial;
        is_partial && ruby::is_pending(jump, names().eof_error)
    }
}

/// Returns whether a source has no method that returns the bytes that have come: `readpartial` of the
/// same owner as its `read`, so that a `read` of a subclass is not passed over.
fn waits_for_all(source: VALUE) -> bool {
    let names = names();
    if !ruby::defines(source, names.id_readpartial) {
        return true;
    }
    let owner = |name| {
        ruby::call(source, names.id_get_method, &[ruby::symbol(name)])
            .and_then(|method| ruby::call(method, names.id_owner, &[]))
    };
    match (owner("read"), owner("readpartial")) {
        (Ok(read), Ok(partial)) => read != partial,
        (Err(jump), _) | (_, Err(jump)) => {
            ruby::rescue(jump);
            true
        }
    }
}

impl Read for FromRead {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let wanted = ruby::integer(buffer.len().min(1 << 20) as i64);
        match ruby::call(self.io, self.method, &[wanted]) {
            Ok(NIL) => Ok(0),
            Ok(string) if ruby::kind_of(string) == rb_sys::ruby_value_type::RUBY_T_STRING => {
                let bytes = ruby::bytes_of(string);
                let Some(room) = buffer.get_mut(..bytes.len()) else {
                    return Err(std::io::Error::other("read returned more bytes than requested"));
                };
                room.copy_from_slice(bytes);
                let count = bytes.len();
                ruby::keep(string);
                Ok(count)
            }
            Ok(_) => Err(std::io::Error::other("read returned something that is not a string")),
            Err(jump) if self.ended(jump) => {
                ruby::rescue(jump);
                Ok(0)
            }
            Err(jump) => {
                self.jump.store(jump.state(), Ordering::Relaxed);
                Err(std::io::Error::other("read raised an exception"))
            }
        }
    }
}

/// Where a stream's bytes come from.
enum Source {
    Bytes(&'static [u8]),
    Read(FromRead),
}

/// Opens a reader of a format.
struct Open<'o> {
    source: Source,
    settings: &'o Settings,
    keep: bool,
}

impl Visitor for Open<'_> {
    type Output = Box<dyn Documents>;

    fn visit<C: Codec>(self) -> Box<dyn Documents> {
        let parser = C::parser(&self.settings.core);
        let mut reader = match self.source {
            Source::Bytes(bytes) => Reader::from_slice(parser, bytes),
            Source::Read(read) => Reader::from_read(parser, read),
        };
        reader.keep_records(self.keep);
        Box::new(reader)
    }
}

/// `Native.stream(format, source, keywords)`: the documents of a string, or of what `read` returns.
pub fn open(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[format, source, keywords] = arguments else {
        return Err(ruby::argument_error("stream takes a format, a source and keywords"));
    };
    let format = crate::convert::format_of(format)?;
    let settings = Settings::loading(format, keywords)?;
    let jump = Arc::new(AtomicI32::new(0));
    let is_string = ruby::kind_of(source) == rb_sys::ruby_value_type::RUBY_T_STRING;
    let (string, held) = match is_string {
        true => {
            let frozen = ruby::frozen_string(in_utf8(source, settings.core.from)?);
            (frozen, frozen)
        }
        false => (NIL, source),
    };
    let held = [held, settings.permit, settings.default];
    // The string is frozen, and held by the object that holds the reader; it is marked, so it does
    // not move.
    let bytes: &'static [u8] = if is_string { ruby::bytes_of(string) } else { &[] };
    let keep = settings.core.skip_bad;
    let source = match is_string {
        true => Source::Bytes(bytes),
        false => Source::Read(FromRead::new(source, &jump)?),
    };
    let reader = settings.core.from.visit(Open { source, settings: &settings, keep });
    let class = names().stream_class;
    let inner = Inner { reader, settings, jump, string };
    let object = STREAM.wrap(class, Stream { inner: Some(inner), held, class });
    ruby::keep(string);
    Ok(object)
}

/// `stream.advance`: the next document's object, or the stream itself at the end. With `skip_bad`,
/// a broken record returns a `Regauge::BadRecord`.
pub fn advance(_: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let Some(mut inner) = STREAM.get(receiver)?.inner.take() else {
        return Err(ruby::argument_error("the stream is already being read, or has failed"));
    };
    let scratch = scratch::take();
    let mut build = Build::new(&scratch, &inner.settings);
    let result = inner.reader.next(&mut build, inner.settings.core.unwraps());
    let jump = build.jump.or(Jump::from_state(inner.jump.swap(0, Ordering::Relaxed)));
    if let Some(jump) = jump {
        return Err(jump.into());
    }
    let value = match result {
        Ok(true) => build.take(),
        Ok(false) => receiver,
        Err(error) if inner.settings.core.skip_bad => match inner.reader.skip(error) {
            Ok(bad) => bad_record(&bad)?,
            Err(error) => return Err(exception(&error, inner.settings.call(Phase::Decode))),
        },
        Err(error) => {
            let bytes = match inner.string {
                NIL => &[][..],
                string => ruby::bytes_of(string),
            };
            let error = match bytes {
                [] => error,
                bytes => located(error, bytes, inner.settings.core.from),
            };
            return Err(exception(&error, inner.settings.call(Phase::Decode)));
        }
    };
    STREAM.get(receiver)?.inner = Some(inner);
    ruby::keep(receiver);
    Ok(value)
}

/// `stream.close`: releases what the reader holds. Further reading is an error.
pub fn close(_: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    STREAM.get(receiver)?.inner = None;
    Ok(NIL)
}

/// Creates a `Regauge::BadRecord` with the error and the bytes.
pub fn bad_record(bad: &BadRecord) -> Result<VALUE, Raise> {
    let error = match exception(&bad.error, Phase::Decode) {
        Raise::Exception(error) => error,
        jump => return Err(jump),
    };
    let bytes = ruby::binary(&bad.bytes);
    Ok(ruby::call(names().bad_record, names().id_new, &[error, bytes])?)
}
