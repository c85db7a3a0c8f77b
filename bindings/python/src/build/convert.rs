//! Conversions of text and containers by a dialect: `raw` and `use_list` of msgpack, for example.

use pyo3::prelude::*;
use pyo3::types::PyString;
use regauge::event::{BigInt, Ext, ShortText, Sink, Type};
use regauge::{Fidelity, Result, Value};

use super::{Builder, Object, values};

/// The functions of a dialect that every text, array or length goes through.
#[derive(Clone)]
pub struct Conversions<'py> {
    /// Called with each text.
    text: Option<Object<'py>>,
    /// Called with each list.
    array: Option<Object<'py>>,
    /// Called with "str", "bin", "array", "map" or "ext", and a length.
    length: Option<Object<'py>>,
}

impl<'py> Conversions<'py> {
    /// Gathers them, if there are any.
    pub fn some(
        text: Option<Object<'py>>,
        array: Option<Object<'py>>,
        length: Option<Object<'py>>,
    ) -> Option<Conversions<'py>> {
        let any = text.is_some() || array.is_some() || length.is_some();
        any.then_some(Conversions { text, array, length })
    }

    fn takes_text(&self) -> bool {
        self.text.is_some() || self.length.is_some()
    }
}

/// Passes events on to a builder, and replaces what it has built.
pub struct Converter<'b, 'py> {
    builder: &'b mut Builder<'py>,
    conversions: Conversions<'py>,
}

impl<'b, 'py> Converter<'b, 'py> {
    /// Creates one for a document.
    pub fn new(builder: &'b mut Builder<'py>, conversions: Conversions<'py>) -> Self {
        Converter { builder, conversions }
    }

    fn length(&mut self, of: &str, length: Option<u64>) -> Result {
        let (Some(hook), Some(length)) = (&self.conversions.length, length) else { return Ok(()) };
        let checked = hook.call1((of, length));
        checked.map(|_| ()).map_err(|raised| self.builder.raise(raised))
    }

    fn text(&mut self, v: &str) -> Option<Result> {
        let hook = self.conversions.text.as_ref()?;
        let made = hook.call1((PyString::new(self.builder.py(), v),));
        Some(self.builder.push_called(made))
    }
}

impl Sink for Converter<'_, '_> {
    fn null(&mut self) -> Result {
        self.builder.null()
    }
    fn bool(&mut self, v: bool) -> Result {
        self.builder.bool(v)
    }
    fn i64(&mut self, v: i64) -> Result {
        self.builder.i64(v)
    }
    fn u64(&mut self, v: u64) -> Result {
        self.builder.u64(v)
    }
    fn f64(&mut self, v: f64) -> Result {
        self.builder.f64(v)
    }
    fn str(&mut self, v: &str) -> Result {
        self.length("str", Some(v.len() as u64))?;
        self.text(v).unwrap_or_else(|| self.builder.str(v))
    }
    fn short_str(&mut self, v: ShortText<'_>) -> Result {
        if self.conversions.takes_text() {
            return self.str(v.as_str());
        }
        self.builder.short_str(v)
    }
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        self.length("array", len)?;
        self.builder.begin_array(len)
    }
    fn end_array(&mut self) -> Result {
        self.builder.end_array()?;
        let Some(hook) = &self.conversions.array else { return Ok(()) };
        let Some(list) = self.builder.stack.pop() else { return Ok(()) };
        let made = hook.call1((list,));
        self.builder.push_called(made)
    }
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        self.length("map", len)?;
        self.builder.begin_map(len)
    }
    fn key(&mut self, k: &str) -> Result {
        self.length("str", Some(k.len() as u64))?;
        self.text(k).unwrap_or_else(|| self.builder.key(k))
    }
    fn short_key(&mut self, k: ShortText<'_>) -> Result {
        if self.conversions.takes_text() {
            return self.key(k.as_str());
        }
        self.builder.short_key(k)
    }
    fn end_map(&mut self) -> Result {
        self.builder.end_map()
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        self.builder.fidelity()
    }
    fn f32(&mut self, v: f32) -> Result {
        self.builder.f32(v)
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.length("bin", Some(v.len() as u64))?;
        self.builder.bytes(v)
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        self.builder.big_int(v)
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        if let Ext::MsgpackExt(_, bytes) = &v {
            self.length("ext", Some(bytes.len() as u64))?;
        }
        self.builder.ext(v)
    }
    fn key_value(&mut self, k: &Value) -> Result {
        k.drive(self)?;
        let Some(key) = self.builder.stack.pop() else { return Ok(()) };
        let made = values::as_key(self.builder.py(), key);
        let made = made.and_then(|key| self.builder.converted_key(key));
        self.builder.push_called(made)
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        self.builder.begin_typed(t)
    }
    fn end_typed(&mut self) -> Result {
        self.builder.end_typed()
    }
    fn holds_references(&mut self) -> bool {
        true
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        self.builder.begin_anchor(id)
    }
    fn end_anchor(&mut self) -> Result {
        self.builder.end_anchor()
    }
    fn alias(&mut self, id: u64) -> Result {
        self.builder.alias(id)
    }
}
