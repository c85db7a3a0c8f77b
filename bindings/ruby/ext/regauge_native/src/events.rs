//! Reads the events of a stream in batches: the native part of `Regauge.events`.

use std::io::Read;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use regauge::Error;
use regauge::pull::{Event, Pull};

use crate::build::Build;
use crate::data::{DataType, Held};
use crate::errors::{Phase, exception};
use crate::load::{in_utf8, located};
use crate::names::names;
use crate::options::Settings;
use crate::ruby::{self, Jump, NIL, Raise, VALUE};
use crate::scratch;
use crate::stream::{FromRead, bad_record};

/// `Regauge::Native::EventStream`.
pub struct EventStream {
    /// Taken out while events are read, because Ruby methods may run meanwhile.
    inner: Option<Inner>,
    /// What the reader and the settings refer to.
    held: [VALUE; 3],
    class: VALUE,
}

struct Inner {
    pull: Pull<'static>,
    settings: Settings,
    jump: Arc<AtomicI32>,
    string: VALUE,
    /// What went wrong after the events of the last batch.
    failed: Option<Error>,
}

impl Held for EventStream {
    const NAME: &'static std::ffi::CStr = c"Regauge::Native::EventStream";
    fn mark(&self) {
        self.held.iter().for_each(|value| ruby::mark(*value));
        ruby::mark(self.class);
    }
}

static STREAM: DataType<EventStream> = DataType::new();

/// The events without a value, which are the same frozen arrays each time.
fn bare(index: usize) -> VALUE {
    const KINDS: [&str; 6] =
        ["begin_document", "end_document", "begin_map", "end_map", "begin_array", "end_array"];
    static EVENTS: OnceLock<[VALUE; 6]> = OnceLock::new();
    EVENTS.get_or_init(|| {
        KINDS.map(|kind| {
            let event = ruby::array(&[ruby::symbol(kind), NIL]);
            ruby::freeze(event);
            ruby::keep_for_good(event);
            event
        })
    })[index]
}

/// `Native.events(format, source, keywords)`: the events of a string, or of what `read` returns.
pub fn open(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[format, source, keywords] = arguments else {
        return Err(ruby::argument_error("events takes a format, a source and keywords"));
    };
    let format = crate::convert::format_of(format)?;
    let settings = Settings::loading(format, keywords)?;
    let jump = Arc::new(AtomicI32::new(0));
    let is_string = ruby::kind_of(source) == rb_sys::ruby_value_type::RUBY_T_STRING;
    let string = match is_string {
        true => ruby::frozen_string(in_utf8(source, settings.core.from)?),
        false => NIL,
    };
    // The string is frozen, and held by the object that holds the reader; it is marked, so it does
    // not move.
    let bytes: &'static [u8] = if is_string { ruby::bytes_of(string) } else { &[] };
    let read: Box<dyn Read + Send> = match is_string {
        true => Box::new(bytes),
        false => Box::new(FromRead::new(source, &jump)?),
    };
    let held = [if is_string { string } else { source }, settings.permit, settings.default];
    let pull = Pull::new(read, &settings.core);
    let class = names().event_stream;
    let inner = Inner { pull, settings, jump, string, failed: None };
    let object = STREAM.wrap(class, EventStream { inner: Some(inner), held, class });
    ruby::keep(string);
    Ok(object)
}

fn taken(receiver: VALUE) -> Result<Inner, Raise> {
    STREAM.get(receiver)?.inner.take().ok_or_else(|| {
        ruby::argument_error("the stream is already being read, was closed, or has failed")
    })
}

impl Inner {
    fn raised(&self, error: Error) -> Raise {
        if let Some(jump) = Jump::from_state(self.jump.swap(0, Ordering::Relaxed)) {
            return jump.into();
        }
        let error = match self.string {
            NIL => error,
            string => located(error, ruby::bytes_of(string), self.settings.core.from),
        };
        exception(&error, self.settings.call(Phase::Decode))
    }

    /// Adds events to the list, up to a number of them, and only what is in memory after the first.
    fn batch(&mut self, list: VALUE, most: usize) -> Result<(), Raise> {
        let scratch = scratch::take();
        let mut build = Build::new(&scratch, &self.settings);
        for count in 0..most {
            if count > 0 && !self.pull.is_ready() {
                break;
            }
            let event = match self.pull.next() {
                Ok(Some(event)) => event,
                Ok(None) => break,
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            };
            let (kind, part) = match event {
                Event::BeginDocument => (0, None),
                Event::EndDocument => (1, None),
                Event::BeginMap => (2, None),
                Event::EndMap => (3, None),
                Event::BeginArray => (4, None),
                Event::EndArray => (5, None),
                Event::Key(part) => (6, Some(part)),
                Event::Value(part) => (7, Some(part)),
                Event::Bad(bad) => {
                    let pair = [ruby::symbol("bad_record"), bad_record(&bad)?];
                    ruby::array_extend(list, &[ruby::array(&pair)]);
                    continue;
                }
            };
            let Some(part) = part else {
                ruby::array_extend(list, &[bare(kind)]);
                continue;
            };
            if let Err(error) = part.drive(&mut build) {
                if let Some(jump) = build.jump {
                    return Err(jump.into());
                }
                build.reset();
                self.failed = Some(error.in_format(self.settings.core.from));
                break;
            }
            let value = build.take();
            let pair = [ruby::symbol(if kind == 6 { "key" } else { "value" }), value];
            let pair = ruby::array(&pair);
            ruby::freeze(pair);
            ruby::array_extend(list, &[pair]);
            ruby::keep(value);
        }
        Ok(())
    }
}

/// `stream.advance(most)`: an array of the next events, which is empty at the end.
pub fn advance(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let most = arguments.first().and_then(|most| ruby::small_integer(*most)).unwrap_or(1);
    let mut inner = taken(receiver)?;
    let list = ruby::array(&[]);
    let was = inner.failed.take();
    if was.is_none() {
        inner.batch(list, usize::try_from(most).unwrap_or(1))?;
    }
    if ruby::array_length(list) == 0
        && let Some(error) = was.or_else(|| inner.failed.take())
    {
        return Err(inner.raised(error));
    }
    STREAM.get(receiver)?.inner = Some(inner);
    ruby::keep(receiver);
    ruby::keep(list);
    Ok(list)
}

/// `stream.skip(levels)`: skips up to the end of what began so many levels out.
pub fn skip(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let levels = arguments.first().and_then(|levels| ruby::small_integer(*levels)).unwrap_or(0);
    let mut inner = taken(receiver)?;
    let done = match inner.failed.take() {
        Some(error) => Err(error),
        None => inner.pull.skip_out(u64::try_from(levels).unwrap_or(0)),
    };
    if let Err(error) = done {
        return Err(inner.raised(error));
    }
    STREAM.get(receiver)?.inner = Some(inner);
    ruby::keep(receiver);
    Ok(NIL)
}

/// `stream.close`: releases what the reader holds. Further reading is an error.
pub fn close(_: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    STREAM.get(receiver)?.inner = None;
    Ok(NIL)
}
