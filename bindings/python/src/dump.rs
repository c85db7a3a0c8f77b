//! `dumps`: one object to bytes.

use std::cell::Cell;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use regauge::codec::{Codec, Visitor};
use regauge::convert::Options;
use regauge::event::{Sink, Writer};
use regauge::fidelity::Fidelity;
use regauge::memory::Memory;
use regauge::notation::Escape;
use regauge::out::Out;
use regauge::{BigInt, Ext, Format, Result, Type, Value};

use crate::errors::{self, Way};
use crate::options::{For, Given, Keywords};
use crate::pyyaml::Bare;
use crate::raw::growing::Growing;
use crate::raw::text;
use crate::walk::Walker;

thread_local! {
    /// The buffer of this thread's last `dumps`.
    static IDLE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A buffer larger than this is not kept: 4 MiB.
const KEPT_BYTES: usize = 4 << 20;

/// Returns the bytes of `object`; for a stream of records those of the list's elements.
///
/// # Errors
/// `EncodeError` and `LimitError`; whatever `default` raises.
pub fn dumps<'py>(
    format: Format,
    object: &Bound<'py, PyAny>,
    is_generic: bool,
    arguments: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    if arguments.is_none() {
        let options = Given::usual(format);
        let mut walker = Walker::new(py, format, options.limits);
        return in_place(object, options, &mut walker, |error, exception| {
            raised(py, error, exception, Keywords::new(For::Dumping, format, is_generic))
        });
    }
    let given = Given::parse(format, format, For::Dumping, is_generic, arguments)?;
    if given.text {
        return written(object, &given, |bytes| returned(py, bytes, true))?;
    }
    let mut walker = walker(py, &given);
    in_place(object, &given.options, &mut walker, |error, exception| {
        raised(py, error, exception, given.keywords)
    })
}

/// Writes `object` with a walker into a `bytes` object, and returns that.
///
/// # Errors
/// What `raise` makes of an error, and of Python's exception if that was the cause.
fn in_place<'py>(
    object: &Bound<'py, PyAny>,
    options: &Options,
    walker: &mut Walker<'py>,
    raise: impl FnOnce(&regauge::Error, Option<PyErr>) -> PyErr,
) -> PyResult<Bound<'py, PyAny>> {
    let growing = Growing::new(object.py());
    let memory = write(object, options, walker, |buffer| growing.memory(buffer))
        .map_err(|error| raise(&error, walker.raised()))?;
    let length = document_of(&memory, options.to).len();
    let (buffer, moved) = memory.into_left();
    let made = growing.finish(&buffer, moved.is_some(), length);
    keep(buffer);
    Ok(made)
}

/// Returns the document as `bytes`, or as `str`.
pub fn returned<'py>(py: Python<'py>, bytes: &[u8], as_text: bool) -> PyResult<Bound<'py, PyAny>> {
    if !as_text {
        return Ok(PyBytes::new(py, bytes).into_any());
    }
    let text = match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => text::new(py, text),
        Err(_) => Some(PyString::new(py, &String::from_utf8_lossy(bytes)).into_any()),
    };
    text.ok_or_else(|| PyErr::fetch(py))
}

/// Writes `object` according to the options, and passes its bytes to `take`, which may let other
/// threads run.
///
/// # Errors
/// Those of [`dumps`].
pub fn written<'py, T>(
    object: &Bound<'py, PyAny>,
    given: &Given<'py>,
    take: impl FnOnce(&[u8]) -> T,
) -> PyResult<T> {
    let py = object.py();
    let mut walker = walker(py, given);
    written_by(object, &given.options, &mut walker, |written| match written {
        Ok(bytes) => Ok(take(bytes)),
        Err((error, exception)) => Err(raised(py, &error, exception, given.keywords)),
    })
}

/// Returns the exception for an object that could not be written: Python's own, if that was the cause.
#[cold]
pub fn raised(
    py: Python<'_>,
    error: &regauge::Error,
    exception: Option<PyErr>,
    keywords: Keywords,
) -> PyErr {
    exception.unwrap_or_else(|| errors::exception(py, error, Way::Encode, keywords))
}

/// Writes `object` with a walker, and passes its bytes to `take`, or why there are none: the error, and
/// Python's exception if that was the cause.
pub fn written_by<'py, T>(
    object: &Bound<'py, PyAny>,
    options: &Options,
    walker: &mut Walker<'py>,
    take: impl FnOnce(std::result::Result<&[u8], (regauge::Error, Option<PyErr>)>) -> T,
) -> T {
    let bytes = match write(object, options, walker, Memory::new) {
        Ok(memory) => memory.into_vec(),
        Err(error) => return take(Err((error, walker.raised()))),
    };
    let taken = take(Ok(document_of(&bytes, options.to)));
    keep(bytes);
    taken
}

/// Returns a document without the newline at the end of a JSON file, which is no part of it.
fn document_of(bytes: &[u8], format: Format) -> &[u8] {
    match format {
        Format::Json => bytes.strip_suffix(b"\n").unwrap_or(bytes),
        _ => bytes,
    }
}

/// Keeps a buffer for the next call: after every exit except a panic and an error.
fn keep(buffer: Vec<u8>) {
    if buffer.capacity() <= KEPT_BYTES {
        IDLE.set(buffer);
    }
}

/// Creates a walker with the caller's options.
pub fn walker<'py>(py: Python<'py>, given: &Given<'py>) -> Walker<'py> {
    let mut walker = Walker::new(py, given.options.to, given.options.limits);
    walker.sort_keys = given.sort_keys;
    walker.default.clone_from(&given.default);
    walker
}

/// Writes `object` into the memory that `memory` makes of a buffer.
fn write<'py, 'm>(
    object: &Bound<'py, PyAny>,
    options: &Options,
    walker: &mut Walker<'py>,
    memory: impl Fn(Vec<u8>) -> Memory<'m>,
) -> Result<Memory<'m>> {
    let mut buffer = IDLE.take();
    buffer.clear();
    if holds_references(options) && !walker.special.repeats {
        walker.want_references();
        let memory = memory(std::mem::take(&mut buffer));
        match options.visit_sized(Dump { memory, object, options, walker: &mut *walker }) {
            Err(_) if walker.is_counting() && !walker.special.bare => {
                walker.document(object, &mut Nothing::new(options.to))?;
                walker.starts_again();
            }
            done => return done,
        }
    }
    options.visit_sized(Dump { memory: memory(buffer), object, options, walker })
}

/// Returns whether shared values are written once.
pub fn holds_references(options: &Options) -> bool {
    options.to.info().has_references && !options.cbor.deterministic
}

/// Writes objects into a buffer in a format.
struct Dump<'d, 'py, 'm> {
    memory: Memory<'m>,
    object: &'d Bound<'py, PyAny>,
    options: &'d Options,
    walker: &'d mut Walker<'py>,
}

impl<'m> Visitor for Dump<'_, '_, 'm> {
    type Output = Result<Memory<'m>>;

    fn visit<C: Codec>(self) -> Self::Output {
        let Dump { memory, object, options, walker } = self;
        let mut writer = C::writer(Out::in_place(memory), options, options.fidelity());
        match object.cast::<PyList>() {
            Ok(list) if is_stream(options.to) => {
                for (index, record) in list.iter().enumerate() {
                    document(&mut writer, &record, options, walker)
                        .map_err(|error| error.in_record(index as u64 + 1))?;
                }
            }
            _ => document(&mut writer, object, options, walker)?,
        }
        writer.finish()?;
        Ok(C::into_out(writer).into_memory())
    }
}

/// Returns whether a list is a stream of its elements.
fn is_stream(format: Format) -> bool {
    format == Format::Ndjson || format.is_marc() || format.is_table()
}

/// Writes one document.
pub fn document<'py, W: Writer>(
    writer: &mut W,
    object: &Bound<'py, PyAny>,
    options: &Options,
    walker: &mut Walker<'py>,
) -> Result {
    if options.wraps() {
        let mut escape = Escape::new(&mut *writer);
        let sink: &mut dyn Writer = &mut escape;
        walker.document(object, sink)?;
    } else if walker.special.bare {
        let mut bare = Bare::new(&mut *writer);
        let sink: &mut dyn Sink = &mut bare;
        walker.document(object, sink)?;
    } else {
        walker.document(object, writer)?;
    }
    writer.end_document()
}

/// A sink for a walk whose events are not needed.
pub struct Nothing(Fidelity);

impl Nothing {
    /// Returns it.
    pub fn new(format: Format) -> Nothing {
        Nothing(Fidelity::new(regauge::OnLoss::Approximate, format))
    }
}

macro_rules! nothing {
    ($($name:ident($($of:ty)?))*) => {
        $(fn $name(&mut self $(, _: $of)?) -> Result { Ok(()) })*
    };
}

impl Sink for Nothing {
    nothing! {
        null() bool(bool) i64(i64) u64(u64) f64(f64) f32(f32) str(&str) bytes(&[u8])
        big_int(BigInt<'_>) ext(Ext<'_>) begin_array(Option<u64>) end_array()
        begin_map(Option<u64>) key(&str) key_value(&Value) end_map() begin_typed(&Type<'_>)
        end_typed() begin_anchor(u64) end_anchor() alias(u64)
    }
    fn holds_references(&mut self) -> bool {
        true
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.0
    }
}
