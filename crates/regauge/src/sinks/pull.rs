//! Events one by one, as the caller asks for them: the pull form of a reader.
//!
//! A [`Reader`] drives a sink through a whole document. A caller that wants to hold the loop itself (an
//! iterator in Python or Ruby, a search that stops early) uses a [`Pull`]. It parses one window of the
//! input at a time into a queue, and hands out the events in it.
//!
//! Memory is bounded by a window, its events and the longest token, however large the document is.
//! Two things are held as a whole: a document of a format whose reader needs all of it (TOML, pickle,
//! Marshal: within [`Limits::record_bytes`](crate::Limits)), and a value with a type around it (a tag,
//! a class), which is one event. A value that the document refers to again is repeated, within
//! [`Limits::aliases`](crate::Limits); one that contains itself is an error.
//!
//! ```
//! use regauge::sinks::pull::{Event, Pull};
//! use regauge::{Format, Options, Value};
//!
//! let json = br#"{"items": [{"id": 1, "tags": ["a"]}, {"id": 2}]}"#;
//! let mut pull = Pull::new(&json[..], &Options::new(Format::Json, Format::Json));
//! let mut ids = Vec::new();
//! while let Some(event) = pull.next()? {
//!     match event {
//!         Event::Key(key) if key.as_str() == Some("id") => {
//!             if let Some(Event::Value(id)) = pull.next()? {
//!                 ids.push(id.to_value());
//!             }
//!         }
//!         Event::Key(key) if key.as_str() == Some("tags") => pull.skip()?,
//!         _ => {}
//!     }
//! }
//! assert_eq!(ids, [Value::Int(1), Value::Int(2)]);
//! # Ok::<(), regauge::Error>(())
//! ```

mod queue;
#[cfg(test)]
mod tests;

pub use queue::Part;

use std::io::Read;

use crate::bytes::reader::{BadRecord, Parse, Reader, Status};
use crate::codec::{Codec, Visitor};
use crate::options::{DuplicateKeys, Options};
use crate::policy::documents::Duplicates;
use crate::policy::event::{Sink, Source as _};
use crate::policy::notation::Unwrap;
use crate::{Error, Result};
use queue::{Node, Queue};

/// An event of a document, or around one.
#[derive(Debug)]
pub enum Event<'q> {
    /// A document begins.
    BeginDocument,
    /// The document ends.
    EndDocument,
    /// A map begins: keys and values follow in turn.
    BeginMap,
    /// The map ends.
    EndMap,
    /// An array begins.
    BeginArray,
    /// The array ends.
    EndArray,
    /// The key of the value that follows.
    Key(Part<'q>),
    /// A value that is not a map or an array; or any value with a type around it, as a whole.
    Value(Part<'q>),
    /// A broken record, with [`Options::skip_bad`]. It has no other events.
    Bad(Box<BadRecord>),
}

/// Reads the events of a stream one by one.
pub struct Pull<'a> {
    source: Box<dyn Windows + Send + 'a>,
    front: Front,
    /// The next node of the queue.
    at: usize,
    latest: Latest,
    is_inside: bool,
    /// Whether records are read whole, so that a broken one leaves no events.
    skip_bad: Option<Box<Options>>,
    bad: Option<Box<BadRecord>>,
    /// What went wrong after the events that are still in the queue.
    failed: Option<Error>,
    is_over: bool,
}

/// What the latest event was, for [`Pull::skip`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Latest {
    Key,
    Begin,
    Other,
}

/// A reader of any format.
trait Windows {
    fn step(&mut self, sink: &mut dyn Sink) -> Result<Status>;
    fn record(&mut self, sink: &mut dyn Sink) -> Result<bool>;
    fn skip_bad(&mut self, error: Error) -> Result<BadRecord>;
    fn offset(&self) -> u64;
}

impl<P: Parse> Windows for Reader<'_, P> {
    fn step(&mut self, sink: &mut dyn Sink) -> Result<Status> {
        Reader::step(self, sink)
    }
    fn record(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        self.next(sink)
    }
    fn skip_bad(&mut self, error: Error) -> Result<BadRecord> {
        Reader::skip_bad(self, error)
    }
    fn offset(&self) -> u64 {
        crate::policy::event::Source::offset(self)
    }
}

/// The queue, with the adapters in front of it that the options ask for.
enum Front {
    Plain(Queue),
    Unique(Duplicates<Queue>),
    Unwrap(Box<Unwrap<Queue>>),
    UnwrapUnique(Box<Unwrap<Duplicates<Queue>>>),
}

impl Front {
    fn new(options: &Options) -> Front {
        let is_unique = options.duplicate_keys == DuplicateKeys::Refuse;
        let (queue, limits) = (Queue::new(options.from), &options.limits);
        match (options.unwraps(), is_unique) {
            (false, false) => Front::Plain(queue),
            (false, true) => Front::Unique(Duplicates::new(queue, true)),
            (true, false) => Front::Unwrap(Box::new(Unwrap::new(queue, limits))),
            (true, true) => {
                let unique = Duplicates::new(queue, true);
                Front::UnwrapUnique(Box::new(Unwrap::new(unique, limits)))
            }
        }
    }

    fn queue(&mut self) -> &mut Queue {
        match self {
            Front::Plain(queue) => queue,
            Front::Unique(unique) => unique.inner(),
            Front::Unwrap(unwrap) => unwrap.inner(),
            Front::UnwrapUnique(unwrap) => unwrap.inner().inner(),
        }
    }

    fn sink(&mut self) -> &mut dyn Sink {
        match self {
            Front::Plain(queue) => queue,
            Front::Unique(unique) => unique,
            Front::Unwrap(unwrap) => &mut **unwrap,
            Front::UnwrapUnique(unwrap) => &mut **unwrap,
        }
    }
}

/// Opens a reader of a format.
struct Open<'o, 'a> {
    read: Box<dyn Read + Send + 'a>,
    options: &'o Options,
}

impl<'a> Visitor for Open<'_, 'a> {
    type Output = Box<dyn Windows + Send + 'a>;

    fn visit<C: Codec>(self) -> Self::Output {
        let mut reader = Reader::from_read(C::parser(self.options), self.read);
        reader.keep_records(self.options.skip_bad);
        Box::new(reader)
    }
}

impl<'a> Pull<'a> {
    /// Creates a reader of a stream in the format [`Options::from`].
    pub fn new(read: impl Read + Send + 'a, options: &Options) -> Pull<'a> {
        Pull {
            source: options.from.visit(Open { read: Box::new(read), options }),
            front: Front::new(options),
            at: 0,
            latest: Latest::Other,
            is_inside: false,
            skip_bad: options.skip_bad.then(|| Box::new(options.clone())),
            bad: None,
            failed: None,
            is_over: false,
        }
    }

    /// Returns the next event; `None` at the end of the input, and after an error.
    ///
    /// # Errors
    /// The reader's, after the events before it.
    #[allow(clippy::should_implement_trait, reason = "an event borrows from the queue")]
    pub fn next(&mut self) -> Result<Option<Event<'_>>> {
        self.fetch();
        if self.at >= self.front.queue().complete() {
            if let Some(bad) = self.bad.take() {
                self.latest = Latest::Other;
                return Ok(Some(Event::Bad(bad)));
            }
            return match self.failed.take() {
                Some(error) => Err(error),
                None => Ok(None),
            };
        }
        let at = self.at;
        let queue = self.front.queue();
        self.at = queue.end(at);
        let node = queue.node(at);
        self.latest = match node {
            Node::BeginDocument | Node::BeginMap | Node::BeginArray => Latest::Begin,
            Node::Key { .. } | Node::KeyValue(_) => Latest::Key,
            _ => Latest::Other,
        };
        Ok(Some(match node {
            Node::BeginDocument => Event::BeginDocument,
            Node::EndDocument => Event::EndDocument,
            Node::BeginMap => Event::BeginMap,
            Node::EndMap => Event::EndMap,
            Node::BeginArray => Event::BeginArray,
            Node::EndArray => Event::EndArray,
            Node::Key { .. } | Node::KeyValue(_) => Event::Key(queue.part(at..self.at)),
            _ => Event::Value(queue.part(at..self.at)),
        }))
    }

    /// Skips what the latest event announced: after the beginning of a map, an array or a document,
    /// everything up to its end, and that; after a key, its value. After any other event, nothing.
    ///
    /// # Errors
    /// Those of [`next`](Pull::next).
    pub fn skip(&mut self) -> Result {
        match self.latest {
            Latest::Other => Ok(()),
            Latest::Begin => self.skip_out(1),
            Latest::Key => self.skip_out(0),
        }
    }

    /// Skips everything up to the end of the map, array or document that is so many levels out, with
    /// its end; with 0, the next value.
    ///
    /// # Errors
    /// Those of [`next`](Pull::next).
    pub fn skip_out(&mut self, levels: u64) -> Result {
        let mut levels = levels;
        loop {
            match self.next()? {
                Some(Event::BeginDocument | Event::BeginMap | Event::BeginArray) => levels += 1,
                Some(Event::EndDocument | Event::EndMap | Event::EndArray) => {
                    levels = levels.saturating_sub(1);
                }
                Some(_) => {}
                None => break,
            }
            if levels == 0 {
                break;
            }
        }
        self.latest = Latest::Other;
        Ok(())
    }

    /// Returns whether the next event is in memory already, so that asking for it neither reads nor
    /// parses.
    pub fn is_ready(&mut self) -> bool {
        self.at < self.front.queue().complete()
    }

    /// Reads and parses until the next event, the next error or the end of the input is in memory.
    pub fn fetch(&mut self) {
        while !self.is_ready() && self.bad.is_none() && self.failed.is_none() && !self.is_over {
            self.fill();
        }
    }

    /// Returns how many bytes of input have been parsed. That is up to a window ahead of the events.
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// Parses the next window, or the next record, into the queue.
    fn fill(&mut self) {
        let queue = self.front.queue();
        // Otherwise a typed value is incomplete.
        if self.at == queue.len() {
            queue.clear();
            self.at = 0;
        }
        let start = queue.len();
        if !self.is_inside {
            queue.push(Node::BeginDocument);
        }
        let done = match &self.skip_bad {
            None => self.source.step(self.front.sink()),
            Some(_) => self.source.record(self.front.sink()).map(|more| match more {
                true => Status::Document,
                false => Status::End,
            }),
        };
        let queue = self.front.queue();
        // The document has not begun before its first event.
        match !self.is_inside && queue.len() == start + 1 {
            true => queue.truncate(start),
            false => self.is_inside = true,
        }
        match done {
            Ok(Status::More) => {}
            Ok(Status::Document) => {
                if std::mem::take(&mut self.is_inside) {
                    queue.push(Node::EndDocument);
                }
            }
            Ok(Status::End) => self.is_over = true,
            Err(error) => self.fail(error),
        }
    }

    #[cold]
    fn fail(&mut self, error: Error) {
        let Some(options) = &self.skip_bad else {
            (self.failed, self.is_over) = (Some(error), true);
            return;
        };
        // Nothing of it was given to the caller: records are read whole.
        self.front = Front::new(options);
        (self.at, self.is_inside) = (0, false);
        match self.source.skip_bad(error) {
            Ok(bad) => self.bad = Some(Box::new(bad)),
            Err(error) => (self.failed, self.is_over) = (Some(error), true),
        }
    }
}

/// The most nodes that a window of a stream can become, one for each byte, are some megabytes.
const _: () = assert!(size_of::<Node>() * crate::bytes::reader::WINDOW_BYTES <= 4 << 20);
