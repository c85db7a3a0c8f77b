//! `dumps`: one object to bytes.

use std::cell::Cell;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use regauge::convert::Options;
use regauge::event::{Sink, Writer};
use regauge::fidelity::Fidelity;
use regauge::out::Out;
use regauge::wrap::Escape;
use regauge::{
    BigInt, Ext, Format, Result, Type, Value, bson, cbor, json, marc, marshal, msgpack, pickle,
    yaml,
};

use crate::errors::{self, Way};
use crate::load::unknown;
use crate::options::{For, Given};
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
    arguments: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let given = Given::parse(format, format, For::Dumping, arguments)?;
    written(object, &given, |bytes| match given.text {
        true => PyString::new(py, &String::from_utf8_lossy(bytes)).into_any(),
        false => PyBytes::new(py, bytes).into_any(),
    })
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
    // Every exit except a panic keeps the buffer for the next call.
    let mut buffer = IDLE.take();
    buffer.clear();
    let bytes = match write(object, &given.options, &mut walker, buffer) {
        Ok(bytes) => bytes,
        Err(error) => {
            let raised = walker.raised();
            return Err(raised
                .unwrap_or_else(|| errors::exception(py, &error, Way::Encode, given.keywords)));
        }
    };
    // The newline at the end of a JSON file is not part of the document.
    let held = match given.options.to {
        Format::Json => bytes.strip_suffix(b"\n").unwrap_or(&bytes),
        _ => &bytes,
    };
    let taken = take(held);
    if bytes.capacity() <= KEPT_BYTES {
        IDLE.set(bytes);
    }
    Ok(taken)
}

/// Creates a walker with the caller's options.
pub fn walker<'py>(py: Python<'py>, given: &Given<'py>) -> Walker<'py> {
    let mut walker = Walker::new(py, given.options.to, given.options.limits);
    walker.sort_keys = given.sort_keys;
    walker.default.clone_from(&given.default);
    walker
}

/// Creates the writer for the options, and runs something with it.
macro_rules! with_writer {
    ($options:expr, $out:expr, |$writer:ident| $act:expr) => {{
        let options: &Options = $options;
        let out = $out;
        let fidelity =
            Fidelity::new(options.on_loss, options.to).with_objects(options.resolved_objects());
        match options.to {
            Format::Json | Format::Ndjson => {
                let mut write = options.json_write;
                write.lines = options.to != Format::Json;
                let $writer = json::Writer::new(out, write, fidelity);
                $act
            }
            Format::Yaml => {
                let $writer = yaml::Writer::new(out, options.yaml_write.clone(), fidelity);
                $act
            }
            // The notation's escapes change the number of pairs in a map.
            Format::Msgpack if options.wraps() => {
                let $writer = msgpack::Writer::new(out, fidelity);
                $act
            }
            Format::Msgpack => {
                let $writer = msgpack::Promised::new(out, fidelity);
                $act
            }
            Format::Bson => {
                let $writer = bson::Writer::new(out, options.bson.clone(), fidelity);
                $act
            }
            Format::Cbor => {
                let $writer = cbor::Writer::new(out, options.cbor.clone(), fidelity);
                $act
            }
            Format::Marshal => {
                let $writer = marshal::Writer::new(out, options.marshal.clone(), fidelity);
                $act
            }
            Format::Pickle => {
                let $writer = pickle::Writer::new(out, options.pickle.clone(), fidelity);
                $act
            }
            Format::Marc => {
                let writer = marc::iso2709::Writer::new(out, options.marc.clone(), fidelity);
                let $writer = writer.with_limits(&options.limits);
                $act
            }
            Format::MarcXml => {
                let writer = marc::xml::Writer::new(out, options.marc.clone(), fidelity);
                let $writer = writer.with_limits(&options.limits);
                $act
            }
            Format::MarcJson => {
                let $writer = marc::json::Writer::new(out, fidelity);
                $act
            }
            other => Err(unknown(other)),
        }
    }};
}
pub(crate) use with_writer;

fn write<'py>(
    object: &Bound<'py, PyAny>,
    options: &Options,
    walker: &mut Walker<'py>,
    buffer: Vec<u8>,
) -> Result<Vec<u8>> {
    let mut buffer = buffer;
    if holds_references(options) {
        walker.want_references();
        let out = Out::reusing(std::mem::take(&mut buffer));
        match with_writer!(options, out, |writer| finish(writer, object, options, walker)) {
            Err(_) if walker.is_counting() => {
                walker.document(object, &mut Nothing::new(options.to))?;
                walker.starts_again();
            }
            done => return done,
        }
    }
    with_writer!(options, Out::reusing(buffer), |writer| finish(writer, object, options, walker))
}

/// Returns whether shared values are written once.
pub fn holds_references(options: &Options) -> bool {
    match options.to {
        Format::Yaml | Format::Marshal | Format::Pickle => true,
        Format::Cbor => !options.cbor.deterministic,
        _ => false,
    }
}

/// A writer that returns its bytes.
pub trait IntoBytes<'o>: Writer {
    /// Returns the bytes.
    fn into_bytes(self) -> Vec<u8>;
}

macro_rules! into_bytes {
    ($($writer:ty)*) => {
        $(impl<'o> IntoBytes<'o> for $writer {
            fn into_bytes(self) -> Vec<u8> {
                self.into_out().into_vec()
            }
        })*
    };
}
into_bytes! {
    json::Writer<'o> yaml::Writer<'o> msgpack::Writer<'o> msgpack::Promised<'o> bson::Writer<'o> cbor::Writer<'o>
    marshal::Writer<'o> pickle::Writer<'o> marc::iso2709::Writer<'o> marc::xml::Writer<'o>
    marc::json::Writer<'o>
}

fn finish<'o, 'py, W: IntoBytes<'o>>(
    mut writer: W,
    object: &Bound<'py, PyAny>,
    options: &Options,
    walker: &mut Walker<'py>,
) -> Result<Vec<u8>> {
    match object.cast::<PyList>() {
        Ok(list) if is_stream(options.to) => {
            for record in list.iter() {
                document(&mut writer, &record, options, walker)?;
            }
        }
        _ => document(&mut writer, object, options, walker)?,
    }
    writer.finish()?;
    Ok(writer.into_bytes())
}

/// Returns whether a list is a stream of its elements.
fn is_stream(format: Format) -> bool {
    format == Format::Ndjson || format.is_marc()
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
