//! Streams: reads documents from a file one by one, and writes documents to a file.

use std::fs::File;
use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use regauge::codec::{Codec, Visitor};
use regauge::convert::{self, Input as CoreInput, Options};
use regauge::event::Writer as CoreWriter;
use regauge::out::Out;
use regauge::output::{FileOutput, Output, StreamOutput};
use regauge::reader::{BadRecord, Parse, Reader};
use regauge::{Error, Format};

use crate::build::{Builder, Hooks};
use crate::dump::{self, Nothing};
use crate::errors::{self, Way};
use crate::load;
use crate::options::{For, Given, Keywords};
use crate::python;
use crate::raw::bytes::Input;
use crate::raw::collector::Pause;
use crate::turn::Turn;

/// Returns the format of a name that Python passes.
pub fn format(name: &str) -> PyResult<Format> {
    name.parse().map_err(PyValueError::new_err)
}

/// Returns a path, if the object is one.
pub fn path(object: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    if object.is_instance_of::<PyString>() || object.hasattr("__fspath__")? {
        return object.extract().map(Some);
    }
    Ok(None)
}

/// A Python file object, read through its `read`.
struct PyRead(Py<PyAny>);

impl Read for PyRead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let mut read = || -> PyResult<usize> {
                let part = self.0.bind(py).call_method1("read", (buffer.len(),))?;
                if part.is_none() {
                    let error =
                        python::files(py)?.call_method1("not_ready", ("nothing to read yet",))?;
                    return Err(PyErr::from_value(error));
                }
                if part.is_instance_of::<PyString>() {
                    return Err(PyTypeError::new_err(
                        "found a file opened in text mode, expected one in binary mode ('rb')",
                    ));
                }
                let part = Input::new(&part)?;
                let part = part.as_slice();
                // A `read` that returns more than requested is broken.
                let Some(room) = buffer.get_mut(..part.len()) else {
                    return Err(PyValueError::new_err("read() returned more than requested"));
                };
                room.copy_from_slice(part);
                Ok(part.len())
            };
            read().map_err(io::Error::other)
        })
    }
}

/// What may wait for another thread or process, such as a pipe: it is read without the GIL.
struct Pipe(File);

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let read = py.detach(|| self.0.read(buffer));
            if read.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {
                // Nothing else looks for Ctrl-C meanwhile.
                py.check_signals().map_err(io::Error::other)?;
            }
            read
        })
    }
}

/// Opens a file by its name; returns it, and whether it can be read again: not a pipe.
///
/// # Errors
/// `OSError` with the name.
pub fn open(py: Python<'_>, path: &Path) -> io::Result<(Box<dyn Read + Send>, bool)> {
    let file = py.detach(|| errors::open(path))?;
    match file.metadata()?.is_file() {
        true => Ok((Box::new(file), true)),
        false => Ok((Box::new(Pipe(file)), false)),
    }
}

/// Text is written in parts, which may end within a character.
const TEXT_MODE: &str = "found a file opened in text mode, expected one in binary mode ('wb')";

/// A Python file object, written through its `write`.
struct PyWrite(Py<PyAny>);

impl Write for PyWrite {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let data = PyBytes::new(py, bytes);
            let written = python::files(py)
                .and_then(|files| files.call_method1("write_all", (self.0.bind(py), data)));
            written.map(|_| bytes.len()).map_err(io::Error::other)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The source of the bytes: a path, the bytes themselves, or a file object.
pub enum From {
    /// A file by its name.
    Path(PathBuf),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Any object with a `read`.
    File(Py<PyAny>),
}

impl From {
    /// Interprets the caller's source.
    ///
    /// # Errors
    /// `TypeError` for anything else.
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<From> {
        if let Some(path) = path(object)? {
            return Ok(From::Path(path));
        }
        if object.hasattr("read")? {
            return Ok(From::File(object.clone().unbind()));
        }
        match Input::new(object) {
            Ok(input) => Ok(From::Bytes(input.as_slice().to_vec())),
            Err(_) => Err(PyTypeError::new_err(format!(
                "found {}, expected a path, a file opened in binary mode, or bytes",
                object.get_type().name()?
            ))),
        }
    }

    /// Opens the stream; returns it, and the name of a file that can be read again.
    ///
    /// # Errors
    /// Those of opening the file.
    pub fn open(self, py: Python<'_>) -> io::Result<(Box<dyn Read + Send>, Option<PathBuf>)> {
        Ok(match self {
            From::Path(path) => {
                let (read, again) = open(py, &path)?;
                (read, again.then_some(path))
            }
            From::Bytes(bytes) => (Box::new(Cursor::new(bytes)), None),
            From::File(file) => (Box::new(PyRead(file)), None),
        })
    }
}

/// A reader of any format.
trait Documents: Send {
    fn next(&mut self, options: &Options, builder: &mut Builder<'_>) -> regauge::Result<bool>;
    fn skip(&mut self, error: Error) -> regauge::Result<BadRecord>;
    fn offset(&self) -> u64;
}

impl<P: Parse + Send> Documents for Reader<'static, P> {
    fn next(&mut self, options: &Options, builder: &mut Builder<'_>) -> regauge::Result<bool> {
        load::next(self, options, builder)
    }
    fn skip(&mut self, error: Error) -> regauge::Result<BadRecord> {
        self.skip_bad(error)
    }
    fn offset(&self) -> u64 {
        regauge::event::Source::offset(self)
    }
}

/// Opens a reader of a format.
struct Open<'o> {
    read: Box<dyn Read + Send>,
    options: &'o Options,
}

impl Visitor for Open<'_> {
    type Output = Box<dyn Documents>;

    fn visit<C: Codec>(self) -> Box<dyn Documents> {
        let mut reader = Reader::from_read(C::parser(self.options), self.read);
        reader.keep_records(self.options.skip_bad);
        Box::new(reader)
    }
}

struct Stream {
    documents: Box<dyn Documents>,
    options: Options,
    hooks: [Option<Py<PyAny>>; 5],
    on_bad: Option<Py<PyAny>>,
    keywords: Keywords,
    unique: bool,
    /// The file, to read it again for the path of an error.
    path: Option<PathBuf>,
}

/// Iterates over the documents of a stream: the result of `iter_load`. Threads that share one get
/// different documents.
#[pyclass(module = "regauge", name = "Documents", frozen)]
pub struct PyDocuments {
    stream: Turn<Stream>,
    /// State that can be queried while the stream is in use.
    bad: AtomicU64,
    offset: AtomicU64,
    ended: AtomicBool,
}

/// Implements `iter_load` of every format.
#[pyfunction]
#[pyo3(signature = (format, source, arguments = None, generic = false))]
pub fn iter_load<'py>(
    format: &str,
    source: &Bound<'py, PyAny>,
    arguments: Option<&Bound<'py, PyDict>>,
    generic: bool,
) -> PyResult<PyDocuments> {
    let format = self::format(format)?;
    let given = Given::parse(format, format, For::Loading, generic, arguments)?;
    let unique = given.unique();
    let Given { options, hooks, on_bad, keywords, .. } = given;
    let (read, path) = From::new(source)?.open(source.py())?;
    let documents = options.from.visit(Open { read, options: &options });
    let hooks = [hooks.object, hooks.pairs, hooks.ext, hooks.tag, hooks.types];
    let hooks = hooks.map(|hook| hook.map(Bound::unbind));
    let on_bad = on_bad.map(Bound::unbind);
    let offset = AtomicU64::new(documents.offset());
    let stream = Stream { documents, options, hooks, on_bad, keywords, unique, path };
    let stream = Turn::new(stream, "a stream");
    Ok(PyDocuments { stream, bad: AtomicU64::new(0), offset, ended: AtomicBool::new(false) })
}

impl Stream {
    /// Returns the next document; `bad_records` counts skipped ones.
    fn next<'py>(
        &mut self,
        py: Python<'py>,
        bad_records: &AtomicU64,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let bound = |index: usize| self.hooks[index].as_ref().map(|hook| hook.bind(py).clone());
        let hooks = Hooks {
            object: bound(0),
            pairs: bound(1),
            ext: bound(2),
            tag: bound(3),
            types: bound(4),
        };
        let mut builder = Builder::new(py, self.options.from, hooks.some());
        builder.unique_keys(self.unique);
        loop {
            // Reading may run Python code: that of a file object. It creates only its own objects.
            let pause = Pause::new(py, !builder.runs_python() && self.path.is_some());
            let done = self.documents.next(&self.options, &mut builder);
            drop(pause);
            let error = match done {
                Ok(false) => return Ok(None),
                Ok(true) => return Ok(Some(builder.take_or_none())),
                Err(error) => error,
            };
            if let Some(raised) = builder.fail() {
                return Err(raised);
            }
            let error = if self.options.skip_bad {
                match self.documents.skip(error) {
                    Ok(bad) => {
                        bad_records.fetch_add(1, Ordering::Relaxed);
                        if let Some(on_bad) = &self.on_bad {
                            let told =
                                errors::exception(py, &bad.error, Way::Decode, self.keywords);
                            on_bad
                                .call1(py, (told.into_value(py), PyBytes::new(py, &bad.bytes)))?;
                        }
                        continue;
                    }
                    Err(error) => error,
                }
            } else {
                error
            };
            return Err(self.explained(py, error));
        }
    }

    #[cold]
    fn explained(&self, py: Python<'_>, error: Error) -> PyErr {
        let error = match &self.path {
            Some(path) => {
                let open =
                    || -> io::Result<Box<dyn Read + Send>> { Ok(Box::new(errors::open(path)?)) };
                convert::explain(error, Some(CoreInput::Again(&open)), &self.options)
            }
            None => error,
        };
        errors::exception(py, &error, Way::Decode, self.keywords)
    }
}

#[pymethods]
impl PyDocuments {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(mut stream) = self.stream.take(py)? else { return Ok(None) };
        let next = stream.next(py, &self.bad);
        self.offset.store(stream.documents.offset(), Ordering::Relaxed);
        // After an error, or the end, there is nothing more.
        if !matches!(next, Ok(Some(_))) {
            self.ended.store(true, Ordering::Relaxed);
            stream.end();
        }
        next
    }

    /// Returns the number of bytes read so far; `None` after the end.
    #[getter]
    fn offset(&self) -> Option<u64> {
        let ended = self.ended.load(Ordering::Relaxed);
        (!ended).then(|| self.offset.load(Ordering::Relaxed))
    }

    /// Returns how many records were skipped so far (with `bad="skip"`).
    #[getter]
    fn bad_records(&self) -> u64 {
        self.bad.load(Ordering::Relaxed)
    }

    /// Ends the stream and closes what was opened. If a hook calls it, the stream ends after the
    /// current document.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.ended.store(true, Ordering::Relaxed);
        if !self.stream.end_after_use() {
            self.stream.end(py)?;
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

/// A writer of any format, for Python.
trait Target: Send {
    fn write<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        options: &Options,
        walker: &mut crate::walk::Walker<'py>,
    ) -> regauge::Result;
    fn finish(&mut self) -> regauge::Result;
}

impl<W: CoreWriter + Send> Target for W {
    fn write<'py>(
        &mut self,
        object: &Bound<'py, PyAny>,
        options: &Options,
        walker: &mut crate::walk::Walker<'py>,
    ) -> regauge::Result {
        // A document that turns out to have shared values is rewritten from its beginning; and one
        // that fails leaves no trace.
        self.checkpoint();
        let references = dump::holds_references(options);
        if references {
            walker.want_references();
        }
        let mut done = dump::document(self, object, options, walker);
        if done.is_err() && walker.is_counting() {
            self.rollback();
            self.fidelity().set_record(0);
            done = walker.document(object, &mut Nothing::new(options.to)).and_then(|()| {
                walker.starts_again();
                dump::document(self, object, options, walker)
            });
        }
        if done.is_err() {
            self.rollback();
            self.fidelity().set_record(0);
        }
        done
    }

    fn finish(&mut self) -> regauge::Result {
        CoreWriter::finish(self)
    }
}

/// Creates a writer of a format.
struct Create<'o> {
    out: Out<'static>,
    options: &'o Options,
}

impl Visitor for Create<'_> {
    type Output = Box<dyn Target>;

    fn visit<C: Codec>(self) -> Box<dyn Target> {
        Box::new(C::writer(self.out, self.options, self.options.fidelity()))
    }
}

struct Sending {
    target: Box<dyn Target>,
    options: Options,
    default: Option<Py<PyAny>>,
    sort_keys: bool,
    keywords: Keywords,
}

/// Writes documents to a file, one by one. Threads may share one: documents are never interleaved.
#[pyclass(module = "regauge", name = "Writer", frozen)]
pub struct PyWriter {
    sending: Turn<Sending>,
    /// A file object that we flush but do not close.
    file: Option<Py<PyAny>>,
}

/// Implements `Writer` of every format.
#[pyfunction]
#[pyo3(signature = (format, target, arguments = None, generic = false))]
pub fn writer<'py>(
    format: &str,
    target: &Bound<'py, PyAny>,
    arguments: Option<&Bound<'py, PyDict>>,
    generic: bool,
) -> PyResult<PyWriter> {
    let py = target.py();
    let format = self::format(format)?;
    let given = Given::parse(format, format, For::Dumping, generic, arguments)?;
    let (output, file): (Box<dyn Output + Send>, _) = match path(target)? {
        Some(path) => {
            let file = File::create(&path).map_err(|error| errors::of_file(&error, &path))?;
            (Box::new(FileOutput::new(file)?), None)
        }
        None if target.hasattr("encoding")? => {
            return Err(PyTypeError::new_err(TEXT_MODE));
        }
        None if target.hasattr("write")? => {
            let file = target.clone().unbind();
            (Box::new(StreamOutput::new(PyWrite(file.clone_ref(py)))), Some(file))
        }
        None => {
            return Err(PyTypeError::new_err(format!(
                "found {}, expected a path, or a file opened in binary mode for writing",
                target.get_type().name()?
            )));
        }
    };
    let Given { options, default, sort_keys, keywords, .. } = given;
    let out = Out::to_output(Boxed(output), options.limits.record_bytes);
    let target = options.visit_sized(Create { out, options: &options });
    let default = default.map(Bound::unbind);
    let sending = Sending { target, options, default, sort_keys, keywords };
    Ok(PyWriter { sending: Turn::new(sending, "a writer"), file })
}

/// A boxed output.
struct Boxed(Box<dyn Output + Send>);

impl Output for Boxed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write(bytes)
    }
    fn hold(&mut self) -> io::Result<()> {
        self.0.hold()
    }
    fn patch(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.patch(offset, bytes)
    }
    fn release(&mut self) -> io::Result<()> {
        self.0.release()
    }
}

/// A writer that nobody has closed is closed when it goes, as Python's own files are.
impl Drop for PyWriter {
    fn drop(&mut self) {
        Python::try_attach(|py| {
            let Ok(Some(sending)) = self.sending.end(py) else { return };
            // An exception may be on its way meanwhile.
            let raised = PyErr::take(py);
            let warning = py.get_type::<pyo3::exceptions::PyResourceWarning>();
            let warned = PyErr::warn(py, &warning, c"found a Writer that was not closed", 1);
            if let Err(error) = self.finish(py, sending).and(warned) {
                error.write_unraisable(py, None);
            }
            if let Some(raised) = raised {
                raised.restore(py);
            }
        });
    }
}

impl PyWriter {
    fn finish(&self, py: Python<'_>, mut sending: Sending) -> PyResult<()> {
        let done = sending.target.finish();
        let keywords = sending.keywords;
        done.map_err(|error| errors::exception(py, &error, Way::Encode, keywords))?;
        drop(sending);
        if let Some(file) = &self.file
            && file.bind(py).hasattr("flush")?
        {
            file.call_method0(py, "flush")?;
        }
        Ok(())
    }
}

#[pymethods]
impl PyWriter {
    /// Writes one document. One that fails leaves no trace in the file.
    fn write(&self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = object.py();
        let Some(mut sending) = self.sending.take(py)? else {
            return Err(PyValueError::new_err("found a closed writer, expected an open one"));
        };
        let mut given = Given::new(sending.options.from, sending.options.to);
        given.options.limits = sending.options.limits;
        given.sort_keys = sending.sort_keys;
        given.default = sending.default.as_ref().map(|default| default.bind(py).clone());
        let mut walker = dump::walker(py, &given);
        walker.sink_runs_python = self.file.is_some();
        let keywords = sending.keywords;
        let Sending { target, options, .. } = &mut *sending;
        let done = target.write(object, options, &mut walker);
        done.map_err(|error| match walker.raised() {
            Some(raised) => raised,
            None => errors::exception(py, &error, Way::Encode, keywords),
        })
    }

    /// Writes what is still in memory, and closes the file if the writer opened it.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        match self.sending.end(py)? {
            Some(sending) => self.finish(py, sending),
            None => Ok(()),
        }
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*args))]
    fn __exit__(&self, py: Python<'_>, args: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
        let failed = args.get_item(0).is_ok_and(|raised| !raised.is_none());
        match self.close(py) {
            // The first error is the one the caller should see.
            Err(_) if failed => Ok(()),
            done => done,
        }
    }
}
