//! What a selection does with each event.

use super::{Given, Held, Kind, Mode, Select, symbol};
use crate::Result;
use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, ShortText, Sink, Type, Writer, forward};
use crate::policy::tree::Builder;

macro_rules! values {
    ($($name:ident($type:ty))*) => {
        $(#[inline]
        fn $name(&mut self, v: $type) -> Result {
            self.one(|inner| inner.$name(v))
        })*
    };
}

impl<S: Sink> Sink for Select<'_, S> {
    forward!(fidelity);
    values!(bool(bool) i64(i64) u64(u64) f64(f64) f32(f32) str(&str) short_str(ShortText<'_>));
    values!(bytes(&[u8]) big_int(BigInt<'_>) ext(Ext<'_>) alias(u64));

    #[inline]
    fn null(&mut self) -> Result {
        self.one(|inner| inner.null())
    }
    #[inline]
    fn key(&mut self, k: &str) -> Result {
        match self.mode {
            Mode::Skip => Ok(()),
            Mode::Copy => self.inner.key(k),
            Mode::Between | Mode::Walk(_) => self.pair(k, Given::Text(k)),
        }
    }
    #[inline]
    fn short_key(&mut self, k: ShortText<'_>) -> Result {
        match self.mode {
            Mode::Skip => Ok(()),
            Mode::Copy => self.inner.short_key(k),
            Mode::Between | Mode::Walk(_) => self.pair(k.as_str(), Given::Short(k)),
        }
    }
    fn key_value(&mut self, k: &Value) -> Result {
        match self.mode {
            Mode::Skip => Ok(()),
            Mode::Copy => self.inner.key_value(k),
            Mode::Between | Mode::Walk(_) => match symbol(k) {
                Some(name) => self.pair(name, Given::Other(k)),
                None => self.pair(&k.to_string(), Given::Other(k)),
            },
        }
    }
    #[inline]
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        match self.mode {
            Mode::Skip => {}
            Mode::Copy | Mode::Between => self.inner.begin_array(len)?,
            Mode::Walk(state) => {
                if !self.state(state).has_indexes && self.frames.is_empty() {
                    self.marks.arrays.set(true);
                }
                self.enter(Kind::Array, state, len)?;
                return Ok(());
            }
        }
        self.depth += 1;
        Ok(())
    }
    #[inline]
    fn end_array(&mut self) -> Result {
        self.end(|inner| inner.end_array())
    }
    #[inline]
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        match self.mode {
            Mode::Skip => {}
            Mode::Copy | Mode::Between => self.inner.begin_map(len)?,
            Mode::Walk(state) => {
                self.enter(Kind::Map, state, len)?;
                return Ok(());
            }
        }
        self.depth += 1;
        Ok(())
    }
    #[inline]
    fn end_map(&mut self) -> Result {
        self.end(|inner| inner.end_map())
    }
    #[inline]
    fn text_pair(&mut self, k: &str, v: &str) -> Result {
        if self.walks() {
            self.begin_map(Some(1))?;
            self.key(k)?;
            self.str(v)?;
            return self.end_map();
        }
        self.one(|inner| inner.text_pair(k, v))
    }
    #[inline]
    fn f64_array(&mut self, values: &[f64]) -> Result {
        if self.walks() {
            self.begin_array(Some(values.len() as u64))?;
            values.iter().try_for_each(|v| self.f64(*v))?;
            return self.end_array();
        }
        self.one(|inner| inner.f64_array(values))
    }
    #[inline]
    fn f64_pair(&mut self, x: f64, y: f64) -> Result {
        if self.walks() {
            return self.f64_array(&[x, y]);
        }
        self.one(|inner| inner.f64_pair(x, y))
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        self.around(|| Held::Typed(t.into()), |inner| inner.begin_typed(t))
    }
    fn end_typed(&mut self) -> Result {
        self.end(|inner| inner.end_typed())
    }
    // The anchor of an alias may be left out.
    fn holds_references(&mut self) -> bool {
        false
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        self.around(|| Held::Anchor(id), |inner| inner.begin_anchor(id))
    }
    fn end_anchor(&mut self) -> Result {
        self.end(|inner| inner.end_anchor())
    }
}

impl<S: Writer> Writer for Select<'_, S> {
    forward!(finish checkpoint);

    fn columns(&mut self, row: &Value) -> Result {
        let mut changed = Builder::new(&Limits::NONE);
        row.drive(&mut Select::new(&mut changed, self.plan, self.marks))?;
        changed.take().map_or(Ok(()), |row| self.inner.columns(&row))
    }
    fn end_document(&mut self) -> Result {
        self.reset();
        self.inner.end_document()
    }
    fn rollback(&mut self) {
        self.reset();
        self.inner.rollback();
    }
}
