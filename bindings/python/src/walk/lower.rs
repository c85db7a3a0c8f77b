//! Objects that are not plain data: `regauge._lower.lower` describes each, and this emits the
//! events.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use regauge::event::{Ext, Origin, Sink, Timestamp, Type};
use regauge::{Error, Format, Result, decimal128};

use super::{ASKED_MAX, Asked, Object, Walker};
use crate::python;
use crate::raw::number;
use crate::raw::view::{self, Kind};

/// The type of an array that represents a tuple.
pub(super) const TUPLE: Type<'static> = Type { origin: Origin::Python, kind: "tuple", name: "" };

/// Returns sign and magnitude of an `int`, the least significant byte first.
pub(super) fn magnitude(object: &Object<'_>) -> PyResult<(bool, Vec<u8>)> {
    let negative = object.lt(0)?;
    let absolute = object.abs()?;
    let bits: usize = absolute.call_method0("bit_length")?.extract()?;
    let bytes = absolute.call_method1("to_bytes", (bits.div_ceil(8), "little"))?;
    Ok((negative, bytes.extract()?))
}

/// Returns whether an object that was described as one of Python's own types is one. A proxy may say so of itself:
/// `isinstance` believes its `__class__`.
fn is_really(kind: &str, object: &Object<'_>) -> bool {
    match kind {
        "int" => object.is_instance_of::<PyInt>(),
        "float" => object.is_instance_of::<PyFloat>(),
        "str" => object.is_instance_of::<PyString>(),
        "dict" | "ordered" => object.is_instance_of::<PyDict>(),
        "list" => object.is_instance_of::<PyList>(),
        "tuple" => object.is_instance_of::<PyTuple>(),
        _ => true,
    }
}

/// Creates the error for an object of one of our classes that was given what it cannot hold.
#[cold]
fn out_of_range(object: &Object<'_>) -> Error {
    let shown = object.repr().map(|repr| repr.to_string()).unwrap_or_default();
    Error::unrepresentable(format!(
        "found {shown:.80}, of which a part is out of range or of another type than its class says"
    ))
}

impl<'py> Walker<'py> {
    /// Handles an object of any other type.
    #[cold]
    #[inline(never)]
    pub(super) fn other<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        self.ran += 1;
        let lowered = match &self.values {
            Some(values) => values.getattr("lower"),
            None => python::lower(self.py).and_then(|module| module.getattr("lower")),
        };
        let lowered = lowered.and_then(|lower| lower.call1((object, self.format.name())));
        let lowered = lowered.map_err(|raised| self.raise(raised))?;
        let Ok(lowered) = lowered.cast_into::<PyTuple>() else {
            return self.unknown(object, &[], sink);
        };
        let parts: Vec<Object<'py>> = lowered.iter().collect();
        let said = parts.first().map(|kind| kind.extract::<String>());
        match said {
            Some(Ok(kind)) => self.said(&kind, &parts[1..], object, sink),
            _ => self.unknown(object, &[], sink),
        }
    }

    /// Handles an unknown object: calls the caller's `default`. Without one, `words` are the message and
    /// the hint of the error, if there are any.
    fn unknown<S: Sink + ?Sized>(
        &mut self,
        object: &Object<'py>,
        words: &[Object<'py>],
        sink: &mut S,
    ) -> Result {
        let Some(default) = self.default.clone() else {
            if let [message, hint] = words {
                return Err(Error::unrepresentable(message.to_string()).hint(hint.to_string()));
            }
            let name = object.get_type().fully_qualified_name();
            let name = name.map_err(|raised| self.raise(raised))?.to_string();
            return Err(Error::unrepresentable(format!(
                "found an object of type {name}, which has no form in {}",
                self.format.title()
            ))
            .hint("pass default= with a function that returns a replacement"));
        };
        let before = self.asked;
        // At the same depth it is asked for its own result.
        let times = if before.depth == self.depth { before.times } else { 0 };
        if times >= ASKED_MAX {
            return Err(Error::limit(format!(
                "`default` returned unknown objects {ASKED_MAX} times in a row"
            )));
        }
        let given = default.call1((object,)).map_err(|raised| self.raise(raised))?;
        self.enter()?;
        self.asked = Asked { times: times + 1, depth: self.depth };
        self.value(&given, sink)?;
        self.asked = before;
        self.depth -= 1;
        Ok(())
    }

    /// Emits the events for an object's description.
    fn said<S: Sink + ?Sized>(
        &mut self,
        kind: &str,
        parts: &[Object<'py>],
        object: &Object<'py>,
        sink: &mut S,
    ) -> Result {
        macro_rules! part {
            ($index:expr) => {
                match parts.get($index).map(|part| part.extract()) {
                    Some(Ok(part)) => part,
                    Some(Err(_)) => return Err(out_of_range(object)),
                    None => return Err(Error::unrepresentable("an object said too little")),
                }
            };
        }
        if !is_really(kind, object) {
            return self.unknown(object, &[], sink);
        }
        match kind {
            // Another object, which is walked instead.
            "value" => match parts.first() {
                Some(value) => {
                    self.enter()?;
                    self.value(value, sink)?;
                    self.depth -= 1;
                    Ok(())
                }
                None => sink.null(),
            },
            "unknown" => self.unknown(object, parts, sink),
            "int" => self.large(object, sink),
            "int64" => {
                let v: i64 = part!(0);
                sink.ext(Ext::Int64(v))
            }
            "float" => sink.f64(number::double(object)),
            "float32" => {
                let v: f64 = part!(0);
                sink.f32(v as f32)
            }
            "text" => {
                let text: String = part!(0);
                sink.str(&text)
            }
            "str" => match view::text(object) {
                Some(text) => sink.str(text),
                None => self.surrogates(object, sink),
            },
            "bytes" => {
                let bytes: Object<'py> = part!(0);
                self.bytes(&bytes, sink)
            }
            "dict" => self.dict(object, sink),
            "ordered" => self.ordered(object, sink),
            "list" => self.list(object, Kind::List, sink),
            "tuple" => self.list(object, Kind::Tuple, sink),
            "fields" => {
                if self.is_shared(object) && self.anchor(object, sink)? {
                    return Ok(());
                }
                let names: Object<'py> = part!(0);
                self.fields(object, &names, sink)?;
                self.end_anchor(object, sink)
            }
            "typed" => {
                if self.is_shared(object) && self.anchor(object, sink)? {
                    return Ok(());
                }
                let (origin, kind): (String, String) = (part!(0), part!(1));
                let (name, value): (String, Object<'py>) = (part!(2), part!(3));
                let Some(origin) = Origin::ALL.into_iter().find(|one| one.name() == origin) else {
                    return Err(Error::unrepresentable(format!(
                        "found a type of origin {origin:?}, expected ruby, python, yaml, cbor or bson"
                    )));
                };
                self.enter()?;
                sink.begin_typed(&Type { origin, kind: &kind, name: &name })?;
                self.value(&value, sink)?;
                sink.end_typed()?;
                self.depth -= 1;
                self.end_anchor(object, sink)
            }
            "timestamp" | "duration" | "exact_duration" => {
                self.moment(kind, (part!(0), part!(1)), object, sink)
            }
            "date" | "time" | "datetime" | "offset_datetime" | "decimal" | "symbol" | "code" => {
                let text: String = part!(0);
                sink.ext(match kind {
                    "date" => Ext::Date(&text),
                    "time" => Ext::Time(&text),
                    "datetime" => Ext::DateTime(&text),
                    "offset_datetime" => Ext::OffsetDateTime(&text),
                    "decimal" if self.format == Format::Bson => {
                        match decimal128::from_text(&text) {
                            Some(v) => return sink.ext(Ext::Decimal128(v)),
                            None => Ext::Decimal(&text),
                        }
                    }
                    "decimal" => Ext::Decimal(&text),
                    "symbol" => Ext::Symbol(&text),
                    _ => Ext::Code(&text),
                })
            }
            "uuid" => {
                let bytes: [u8; 16] = part!(0);
                sink.ext(Ext::Uuid(bytes))
            }
            "objectid" => {
                let bytes: [u8; 12] = part!(0);
                sink.ext(Ext::ObjectId(bytes))
            }
            "decimal128" => {
                let bytes: [u8; 16] = part!(0);
                sink.ext(Ext::Decimal128(bytes))
            }
            "ext" => {
                let (code, bytes): (i8, Vec<u8>) = (part!(0), part!(1));
                sink.ext(Ext::MsgpackExt(code, &bytes))
            }
            "binary" => {
                let (bytes, subtype): (Vec<u8>, u8) = (part!(0), part!(1));
                sink.ext(Ext::Binary(subtype, &bytes))
            }
            "broken_text" => {
                let bytes: Vec<u8> = part!(0);
                sink.ext(Ext::BrokenText(&bytes))
            }
            "regex" => {
                let (pattern, options): (String, String) = (part!(0), part!(1));
                sink.ext(Ext::Regex { pattern: &pattern, options: &options })
            }
            "bson_timestamp" => {
                let (seconds, increment): (u32, u32) = (part!(0), part!(1));
                sink.ext(Ext::BsonTimestamp { seconds, increment })
            }
            "dbpointer" => {
                let (namespace, id): (String, [u8; 12]) = (part!(0), part!(1));
                sink.ext(Ext::DbPointer { namespace: &namespace, id })
            }
            "simple" => {
                let v: u8 = part!(0);
                sink.ext(Ext::Simple(v))
            }
            "complex" => {
                let (real, imaginary): (f64, f64) = (part!(0), part!(1));
                sink.ext(Ext::Complex(real, imaginary))
            }
            "min_key" => sink.ext(Ext::MinKey),
            "max_key" => sink.ext(Ext::MaxKey),
            "undefined" => sink.ext(Ext::Undefined),
            other => Err(Error::unrepresentable(format!("an object said that it is {other:?}"))),
        }
    }

    /// Emits a time or a duration, whose parts have been read.
    fn moment<S: Sink + ?Sized>(
        &mut self,
        kind: &str,
        (seconds, nanoseconds): (i64, u32),
        object: &Object<'py>,
        sink: &mut S,
    ) -> Result {
        if nanoseconds >= 1_000_000_000 {
            return Err(out_of_range(object));
        }
        match kind {
            "timestamp" => sink.ext(Ext::Timestamp(Timestamp { seconds, nanoseconds })),
            "duration" if !matches!(self.format, Format::Pickle | Format::Cbor) => {
                sink.str(&regauge::time::iso8601_duration(seconds, nanoseconds))
            }
            _ => sink.ext(Ext::Duration { seconds, nanoseconds }),
        }
    }

    /// Emits the attributes of these names as a map.
    fn fields<S: Sink + ?Sized>(
        &mut self,
        object: &Object<'py>,
        names: &Object<'py>,
        sink: &mut S,
    ) -> Result {
        let Ok(names) = names.cast::<PyTuple>() else {
            return Err(Error::unrepresentable("found fields without names"));
        };
        if self.sort_keys {
            let dict = PyDict::new(self.py);
            for name in names.iter() {
                let set = name
                    .cast::<pyo3::types::PyString>()
                    .map_err(PyErr::from)
                    .and_then(|text| object.getattr(text))
                    .and_then(|value| dict.set_item(&name, value));
                set.map_err(|raised| self.raise(raised))?;
            }
            return self.sorted(dict.as_any(), sink);
        }
        self.enter()?;
        sink.begin_map(Some(names.len() as u64))?;
        for name in names.iter() {
            let value = match name.cast::<pyo3::types::PyString>() {
                Ok(text) => object.getattr(text),
                Err(error) => Err(error.into()),
            };
            let value = value.map_err(|raised| self.raise(raised))?;
            self.pair(None, (&name, &value), sink)?;
        }
        sink.end_map()?;
        self.depth -= 1;
        Ok(())
    }
}
