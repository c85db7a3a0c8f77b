//! Values that are not plain data in Python: dates, decimals, tags, objects.
//!
//! The functions that create them are in `regauge._values`; this calls them.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyComplex, PyFrozenSet, PyList, PySet, PyTuple};
use regauge::decimal128;
use regauge::event::{BigInt, Ext, Origin, Type};

use super::{Builder, Object};
use crate::python;
use crate::raw::text;

/// Creates an integer of any size.
pub fn big_int<'py>(py: Python<'py>, v: BigInt<'_>) -> PyResult<Object<'py>> {
    match v {
        // Through hexadecimal digits, because Python limits the conversion from decimal ones, and
        // our own limit has been applied already.
        BigInt::Decimal { negative, digits } => {
            let magnitude = regauge::number::magnitude(digits);
            big_int(py, BigInt::Binary { negative, magnitude: &magnitude })
        }
        BigInt::Binary { negative, magnitude } => {
            let bytes = PyBytes::new(py, magnitude);
            let int = py.get_type::<pyo3::types::PyInt>();
            let value = int.call_method1("from_bytes", (bytes, "little"))?;
            if negative { value.neg() } else { Ok(value) }
        }
    }
}

/// Makes a key immutable: lists become tuples, and sets become frozensets.
pub fn as_key<'py>(py: Python<'py>, key: Object<'py>) -> PyResult<Object<'py>> {
    if let Ok(list) = key.cast::<PyList>() {
        let items = list.iter().map(|item| as_key(py, item)).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyTuple::new(py, items)?.into_any());
    }
    match key.cast_exact::<PySet>() {
        Ok(set) => Ok(PyFrozenSet::new(py, set.iter())?.into_any()),
        Err(_) => Ok(key),
    }
}

impl<'py> Builder<'py> {
    /// Returns what converts values that are not plain data.
    fn values(&self) -> PyResult<Object<'py>> {
        match &self.values {
            Some(values) => Ok(values.object.clone()),
            None => Ok(python::values(self.py)?.clone().into_any()),
        }
    }

    /// Creates an inert object without a value so far.
    pub(super) fn object(&self, t: Type<'_>) -> PyResult<Object<'py>> {
        let object = self.values()?.getattr("Object")?;
        object.call1((t.origin.name(), t.kind, t.name, self.py.None()))
    }

    /// Creates a value that only some formats have.
    #[inline(never)]
    pub(super) fn ext_value(&mut self, v: Ext<'_>) -> PyResult<Object<'py>> {
        let py = self.py;
        let values = self.values()?;
        let call = |name: &str, text: &str| values.getattr(name)?.call1((text,));
        let bytes = |v: &[u8]| PyBytes::new(py, v);
        match v {
            Ext::Surrogates(v) => match text::surrogates(py, v) {
                Some(text) => self.converted("surrogates", text),
                None => Err(PyErr::fetch(py)),
            },
            Ext::Complex(real, imaginary) => {
                Ok(PyComplex::from_doubles(py, real, imaginary).into_any())
            }
            Ext::Timestamp(at) => values.getattr("timestamp")?.call1((at.seconds, at.nanoseconds)),
            Ext::Duration { seconds, nanoseconds } => {
                values.getattr("duration")?.call1((seconds, nanoseconds))
            }
            Ext::Decimal(v) => call("decimal", v),
            Ext::Date(v) => call("date", v),
            Ext::Time(v) => call("time", v),
            Ext::DateTime(v) | Ext::OffsetDateTime(v) => call("datetime", v),
            Ext::Symbol(v) => call("Symbol", v),
            Ext::Code(v) => call("Code", v),
            Ext::Decimal128(v) => match decimal128::to_text(&v) {
                Some(text) if self.values.is_none() => call("decimal", &text),
                _ => values.getattr("Decimal128")?.call1((bytes(&v),)),
            },
            Ext::Uuid(v) => values.getattr("uuid")?.call1((bytes(&v),)),
            Ext::ObjectId(v) => values.getattr("ObjectId")?.call1((bytes(&v),)),
            Ext::BrokenText(v) => values.getattr("BrokenText")?.call1((bytes(v),)),
            Ext::Binary(subtype, v) => values.getattr("Binary")?.call1((bytes(v), subtype)),
            Ext::Regex { pattern, options } => values.getattr("Regex")?.call1((pattern, options)),
            Ext::BsonTimestamp { seconds, increment } => {
                values.getattr("BsonTimestamp")?.call1((seconds, increment))
            }
            Ext::DbPointer { namespace, id } => {
                let id = values.getattr("ObjectId")?.call1((bytes(&id),))?;
                values.getattr("DbPointer")?.call1((namespace, id))
            }
            Ext::Simple(v) => values.getattr("Simple")?.call1((v,)),
            Ext::MinKey => values.getattr("MIN_KEY"),
            Ext::MaxKey => values.getattr("MAX_KEY"),
            Ext::Undefined => values.getattr("UNDEFINED"),
            Ext::MsgpackExt(code, v) => {
                match self.hooks.as_ref().and_then(|hooks| hooks.ext.as_ref()) {
                    Some(hook) => hook.call1((code, bytes(v))),
                    None => values.getattr("ExtType")?.call1((code, bytes(v))),
                }
            }
            other => Err(pyo3::exceptions::PyNotImplementedError::new_err(format!(
                "found {}, which this version has no Python value for",
                other.type_name()
            ))),
        }
    }

    /// Creates a typed value. `early` is the object that already stands for it.
    #[inline(never)]
    pub(super) fn typed_value(
        &mut self,
        t: Type<'_>,
        value: Object<'py>,
        early: Option<&Object<'py>>,
    ) -> PyResult<Object<'py>> {
        if early.is_none() && t.origin == Origin::Python {
            // The most frequent types, without a call.
            match (t.kind, value.cast::<PyList>()) {
                ("tuple", Ok(list)) => return Ok(list.to_tuple().into_any()),
                ("set", Ok(list)) => return Ok(PySet::new(self.py, list.iter())?.into_any()),
                _ => {}
            }
        }
        if let Some(hooks) = &self.hooks {
            if let Some(hook) = &hooks.tag
                && matches!(t.origin, Origin::Cbor | Origin::Yaml)
            {
                // CBOR's tags are numbers, YAML's are text.
                return match t.name.parse::<u64>() {
                    Ok(number) if t.origin == Origin::Cbor => hook.call1((number, value)),
                    _ => hook.call1((t.name, value)),
                };
            }
            if let Some(types) = &hooks.types
                && let Some(made) = registered(types, t, &value, early)?
            {
                return Ok(made);
            }
        }
        let early = early.map(|early| early.clone().unbind());
        self.values()?.getattr("typed")?.call1((t.origin.name(), t.kind, t.name, value, early))
    }
}

/// Returns the result of the caller's constructor for this class, if there is one.
fn registered<'py>(
    types: &Bound<'py, PyAny>,
    t: Type<'_>,
    value: &Object<'py>,
    early: Option<&Object<'py>>,
) -> PyResult<Option<Object<'py>>> {
    if t.name.is_empty() || !types.contains(t.name)? {
        return Ok(None);
    }
    if early.is_some() {
        return Err(pyo3::exceptions::PyValueError::new_err(format!(
            "found an object of {} that holds itself, which no constructor can make from its parts",
            t.name
        )));
    }
    let construct = types.get_item(t.name)?;
    Ok(Some(python::values(types.py())?.getattr("construct")?.call1((construct, t.kind, value))?))
}
