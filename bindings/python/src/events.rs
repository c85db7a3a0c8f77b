//! `events`: what is in a document one by one, and `parse_events`: the same for a handler.
//!
//! The core parses one window of the input at a time; here its events become Python objects in small
//! batches, because a [`Builder`] lives no longer than a call. Nothing is read ahead for a batch.

use std::collections::VecDeque;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString, PyType};
use regauge::convert::{self, Input as CoreInput};
use regauge::pull::{Event, Part, Pull};
use regauge::reader::BadRecord;
use regauge::{Error, Options};

use crate::build::{Builder, Hooks, Lent};
use crate::errors::{self, Way};
use crate::options::{For, Given, Keywords};
use crate::raw::marc;
use crate::stream::{self, From};
use crate::turn::Turn;

/// The kinds of events, which are also the names of a handler's methods.
const KINDS: [&str; 8] = [
    "begin_document",
    "end_document",
    "begin_map",
    "end_map",
    "begin_array",
    "end_array",
    "key",
    "value",
];

/// An index into [`KINDS`].
type Kind = usize;

const KEY: Kind = 6;
const VALUE: Kind = 7;

/// Returns the kind of an event, and its key or value.
fn parts<'q>(event: &'q Event<'q>) -> Result<(Kind, Option<&'q Part<'q>>), &'q BadRecord> {
    Ok(match event {
        Event::BeginDocument => (0, None),
        Event::EndDocument => (1, None),
        Event::BeginMap => (2, None),
        Event::EndMap => (3, None),
        Event::BeginArray => (4, None),
        Event::EndArray => (5, None),
        Event::Key(part) => (KEY, Some(part)),
        Event::Value(part) => (VALUE, Some(part)),
        Event::Bad(bad) => return Err(bad),
    })
}

/// Whether an event opens something (1) or closes it (-1).
fn nesting(kind: Kind) -> i64 {
    match kind {
        0 | 2 | 4 => 1,
        1 | 3 | 5 => -1,
        _ => 0,
    }
}

/// The class `Event`, its kinds, and the events without a value, which are the same objects each time.
struct Class {
    class: Py<PyType>,
    key: Py<PyString>,
    value: Py<PyString>,
    bare: [Py<PyAny>; KEY],
}

impl Class {
    fn get(py: Python<'_>) -> PyResult<&Class> {
        static CLASS: PyOnceLock<Class> = PyOnceLock::new();
        CLASS.get_or_try_init(py, || {
            let class = py.import("regauge._events")?.getattr("Event")?.cast_into::<PyType>()?;
            if !marc::is_tuple(&class)? {
                return Err(PyTypeError::new_err("found an Event that is not a plain tuple"));
            }
            let name = |kind: Kind| PyString::intern(py, KINDS[kind]).unbind();
            let bare = |kind: Kind| class.call1((name(kind), py.None())).map(Bound::unbind);
            Ok(Class {
                key: name(KEY),
                value: name(VALUE),
                bare: [bare(0)?, bare(1)?, bare(2)?, bare(3)?, bare(4)?, bare(5)?],
                class: class.unbind(),
            })
        })
    }

    /// Creates an event with a value, or returns the one without.
    fn event<'py>(
        &self,
        py: Python<'py>,
        kind: Kind,
        value: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let Some(value) = value else { return Ok(self.bare[kind].clone_ref(py)) };
        let name = if kind == KEY { &self.key } else { &self.value };
        marc::pair(self.class.bind(py), name.bind(py).clone().into_any(), value)
            .map(Bound::unbind)
            .ok_or_else(|| PyErr::fetch(py))
    }
}

/// The source, to read it again for the path of an error.
enum Again {
    Path(PathBuf),
    Bytes(Arc<[u8]>),
    No,
}

struct Stream {
    pull: Pull<'static>,
    options: Options,
    hooks: [Option<Py<PyAny>>; 3],
    on_bad: Option<Py<PyAny>>,
    keywords: Keywords,
    unique: bool,
    again: Again,
    /// Whether reading runs no Python code.
    is_ours: bool,
    bad_records: u64,
}

impl Stream {
    fn open(
        format: &str,
        source: &Bound<'_, PyAny>,
        arguments: Option<&Bound<'_, PyDict>>,
        generic: bool,
    ) -> PyResult<Stream> {
        let format = stream::format(format)?;
        let given = Given::parse(format, format, For::Events, generic, arguments)?;
        let unique = given.unique();
        let Given { options, hooks, on_bad, keywords, .. } = given;
        let (read, again): (Box<dyn Read + Send>, _) = match From::new(source)? {
            From::Path(path) => {
                let (file, again) = stream::open(source.py(), &path)?;
                (file, if again { Again::Path(path) } else { Again::No })
            }
            From::Bytes(bytes) => {
                let bytes: Arc<[u8]> = bytes.into();
                (Box::new(Cursor::new(Arc::clone(&bytes))), Again::Bytes(bytes))
            }
            file @ From::File(_) => (file.open(source.py())?.0, Again::No),
        };
        let hooks = [hooks.ext, hooks.tag, hooks.types].map(|hook| hook.map(Bound::unbind));
        Ok(Stream {
            pull: Pull::new(read, &options),
            options,
            hooks,
            on_bad: on_bad.map(Bound::unbind),
            keywords,
            unique,
            is_ours: !matches!(again, Again::No),
            again,
            bad_records: 0,
        })
    }

    fn builder<'py>(&self, py: Python<'py>) -> Lent<'py> {
        let bound = |index: usize| self.hooks[index].as_ref().map(|hook| hook.bind(py).clone());
        let hooks = Hooks { ext: bound(0), tag: bound(1), types: bound(2), ..Hooks::default() };
        let mut builder = Builder::new(py, self.options.from, hooks.some());
        builder.unique_keys(self.unique);
        builder
    }

    /// Gets the next events into memory; other threads run meanwhile.
    fn fetch(&mut self, py: Python<'_>) {
        if self.pull.is_ready() {
            return;
        }
        match self.is_ours {
            true => py.detach(|| self.pull.fetch()),
            false => self.pull.fetch(),
        }
    }

    /// Passes the next event on; `false` at the end.
    fn next<'py>(
        &mut self,
        builder: &mut Builder<'py>,
        wants: impl Fn(Kind) -> bool,
        take: &mut dyn FnMut(Kind, Option<Bound<'py, PyAny>>) -> PyResult<()>,
    ) -> PyResult<bool> {
        let py = builder.py();
        self.fetch(py);
        let error = match self.pull.next() {
            Ok(None) => return Ok(false),
            Ok(Some(event)) => match parts(&event) {
                Ok((kind, _)) if !wants(kind) => return Ok(true),
                Ok((kind, None)) => return take(kind, None).map(|()| true),
                Ok((kind, Some(part))) => match part.drive(builder) {
                    Ok(()) => return take(kind, Some(builder.pop_or_none())).map(|()| true),
                    Err(error) => match builder.fail() {
                        Some(raised) => return Err(raised),
                        None => error.in_format(self.options.from),
                    },
                },
                Err(bad) => {
                    self.bad_records += 1;
                    if let Some(on_bad) = &self.on_bad {
                        let told = errors::exception(py, &bad.error, Way::Decode, self.keywords);
                        on_bad.call1(py, (told.into_value(py), PyBytes::new(py, &bad.bytes)))?;
                    }
                    return Ok(true);
                }
            },
            Err(error) => error,
        };
        Err(self.explained(py, error))
    }

    #[cold]
    fn explained(&self, py: Python<'_>, error: Error) -> PyErr {
        let error = match &self.again {
            Again::Path(path) => {
                let open =
                    || -> io::Result<Box<dyn Read + Send>> { Ok(Box::new(errors::open(path)?)) };
                convert::explain(error, Some(CoreInput::Again(&open)), &self.options)
            }
            Again::Bytes(bytes) => {
                convert::explain(error, Some(CoreInput::Bytes(bytes)), &self.options)
            }
            Again::No => error,
        };
        errors::exception(py, &error, Way::Decode, self.keywords)
    }
}

/// A stream, and the events that have been made of it.
struct Ready {
    stream: Stream,
    events: VecDeque<(Kind, Py<PyAny>)>,
    /// What follows them.
    raised: Option<PyErr>,
    is_over: bool,
    /// How many events the next batch has.
    batch: usize,
    /// The kind of the event that was given out last.
    latest: Kind,
}

/// A batch begins small, because events that are skipped were made for nothing.
const FIRST: usize = 16;
const MOST: usize = 256;

impl Ready {
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        if self.events.is_empty() && !self.is_over {
            self.fill(py);
        }
        match self.events.pop_front() {
            Some((kind, event)) => {
                self.latest = kind;
                Ok(Some(event))
            }
            None => self.raised.take().map_or(Ok(None), Err),
        }
    }

    fn fill(&mut self, py: Python<'_>) {
        let Ready { stream, events, raised, is_over, batch, .. } = self;
        let mut make = || -> PyResult<()> {
            let class = Class::get(py)?;
            let mut builder = stream.builder(py);
            loop {
                let more = stream.next(&mut builder, |_| true, &mut |kind, value| {
                    events.push_back((kind, class.event(py, kind, value)?));
                    Ok(())
                })?;
                if !more {
                    *is_over = true;
                    return Ok(());
                }
                if events.len() >= *batch || !events.is_empty() && !stream.pull.is_ready() {
                    return Ok(());
                }
            }
        };
        if let Err(error) = make() {
            (*raised, *is_over) = (Some(error), true);
        }
        self.batch = (self.batch * 2).min(MOST);
    }

    /// Skips what the latest event announced: see `regauge.pull.Pull.skip`.
    fn skip(&mut self, py: Python<'_>) -> PyResult<()> {
        let mut depth = match self.latest {
            KEY => 0,
            kind if nesting(kind) > 0 => 1,
            _ => return Ok(()),
        };
        (self.latest, self.batch) = (VALUE, FIRST);
        while let Some((kind, _)) = self.events.pop_front() {
            depth += nesting(kind);
            if depth == 0 {
                return Ok(());
            }
        }
        if self.is_over {
            return self.raised.take().map_or(Ok(()), Err);
        }
        let (stream, levels) = (&mut self.stream, depth.unsigned_abs());
        let done = match stream.is_ours {
            true => py.detach(|| stream.pull.skip_out(levels)),
            false => stream.pull.skip_out(levels),
        };
        done.map_err(|error| {
            self.is_over = true;
            self.stream.explained(py, error)
        })
    }
}

/// Iterates over the events of a stream: the result of `events`. Threads that share one get
/// different events.
#[pyclass(module = "regauge", name = "Events", frozen)]
pub struct PyEvents {
    /// Boxed, because it moves at each event.
    ready: Turn<Box<Ready>>,
    /// State that can be queried while the stream is in use.
    bad: AtomicU64,
    offset: AtomicU64,
}

/// Implements `events` of every format.
#[pyfunction]
#[pyo3(signature = (format, source, arguments = None, generic = false))]
pub fn events(
    format: &str,
    source: &Bound<'_, PyAny>,
    arguments: Option<&Bound<'_, PyDict>>,
    generic: bool,
) -> PyResult<PyEvents> {
    let ready = Ready {
        stream: Stream::open(format, source, arguments, generic)?,
        events: VecDeque::new(),
        raised: None,
        is_over: false,
        batch: FIRST,
        latest: VALUE,
    };
    Ok(PyEvents {
        ready: Turn::new(Box::new(ready), "a stream"),
        bad: AtomicU64::new(0),
        offset: AtomicU64::new(0),
    })
}

/// Implements `parse_events` of every format.
#[pyfunction]
#[pyo3(signature = (format, source, handler, arguments = None, generic = false))]
pub fn parse_events(
    format: &str,
    source: &Bound<'_, PyAny>,
    handler: &Bound<'_, PyAny>,
    arguments: Option<&Bound<'_, PyDict>>,
    generic: bool,
) -> PyResult<()> {
    let py = source.py();
    let mut methods = Vec::with_capacity(KINDS.len());
    for kind in KINDS {
        methods.push(handler.getattr_opt(kind)?);
    }
    if methods.iter().all(Option::is_none) {
        return Err(PyTypeError::new_err(format!(
            "found a handler ({}) with none of the methods {}",
            handler.get_type().name()?,
            KINDS.join(", ")
        )));
    }
    let mut stream = Stream::open(format, source, arguments, generic)?;
    let mut builder = stream.builder(py);
    let mut call = |kind: Kind, value: Option<Bound<'_, PyAny>>| -> PyResult<()> {
        if let Some(method) = &methods[kind] {
            match value {
                Some(value) => method.call1((value,))?,
                None => method.call0()?,
            };
        }
        Ok(())
    };
    let mut count = 0_u32;
    while stream.next(&mut builder, |kind| methods[kind].is_some(), &mut call)? {
        // Without a call into Python nothing else looks for Ctrl-C.
        count = count.wrapping_add(1);
        if count.is_multiple_of(1 << 16) {
            py.check_signals()?;
        }
    }
    Ok(())
}

#[pymethods]
impl PyEvents {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Some(mut ready) = self.ready.take(py)? else { return Ok(None) };
        let was_empty = ready.events.is_empty();
        let next = ready.next(py);
        if was_empty {
            self.bad.store(ready.stream.bad_records, Ordering::Relaxed);
            self.offset.store(ready.stream.pull.offset(), Ordering::Relaxed);
        }
        // After an error, or the end, there is nothing more.
        if !matches!(next, Ok(Some(_))) {
            ready.end();
        }
        next
    }

    /// Skips what the latest event announced: after a key its value, after the beginning of a map,
    /// an array or a document everything up to its end, with that. After any other event it does
    /// nothing. Skipping is several times faster than ignoring events, because no objects are made.
    fn skip(&self, py: Python<'_>) -> PyResult<()> {
        let Some(mut ready) = self.ready.take(py)? else { return Ok(()) };
        let done = ready.skip(py);
        self.bad.store(ready.stream.bad_records, Ordering::Relaxed);
        self.offset.store(ready.stream.pull.offset(), Ordering::Relaxed);
        done
    }

    /// Returns the number of bytes parsed so far, which is up to a window ahead of the events.
    #[getter]
    fn offset(&self) -> u64 {
        self.offset.load(Ordering::Relaxed)
    }

    /// Returns how many records were skipped so far (with `bad="skip"`).
    #[getter]
    fn bad_records(&self) -> u64 {
        self.bad.load(Ordering::Relaxed)
    }

    /// Ends the stream and closes what was opened.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.ready.end_after_use() {
            self.ready.end(py)?;
        }
        Ok(())
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }
}
