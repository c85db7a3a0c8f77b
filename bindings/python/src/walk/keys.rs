//! Keys that are not plain text, and dicts with an order of their own.

use std::collections::HashSet;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use regauge::event::Sink;
use regauge::tree::Builder as ValueBuilder;
use regauge::{Error, Fidelity, Format, OnLoss, Result, Value, fidelity, json};

use super::shared::Shared;
use super::{Object, Walker, changed};
use crate::build::{Builder, as_key};
use crate::python;
use crate::raw::container;
use crate::raw::view::{self, Kind};

/// The keys of a dict that is being written.
pub(super) struct Keys<'a, 'py> {
    dict: &'a Object<'py>,
    /// Those so far that may be written like another one, as they are written.
    written: Option<HashSet<Vec<u8>>>,
}

impl<'a, 'py> Keys<'a, 'py> {
    pub(super) fn new(dict: &'a Object<'py>) -> Keys<'a, 'py> {
        Keys { dict, written: None }
    }
}

impl<'py> Walker<'py> {
    /// Emits a key that is not plain text as a value.
    #[cold]
    #[inline(never)]
    pub(super) fn other_key<S: Sink + ?Sized>(
        &mut self,
        keys: Option<&mut Keys<'_, 'py>>,
        key: &Object<'py>,
        sink: &mut S,
    ) -> Result {
        let done = self.key_as_value(keys, key, sink);
        done.map_err(|error| self.failed_under(error, key))
    }

    fn key_as_value<S: Sink + ?Sized>(
        &mut self,
        keys: Option<&mut Keys<'_, 'py>>,
        key: &Object<'py>,
        sink: &mut S,
    ) -> Result {
        let ran = self.ran;
        let mut builder = ValueBuilder::new(&self.limits);
        let shared = std::mem::replace(&mut self.shared, Shared::None);
        let walked = self.value(key, &mut builder);
        self.shared = shared;
        // Whether another key can be written alike: not one of these types, which Python compares as the formats do.
        let is_odd = match view::kind(key) {
            Kind::Int | Kind::Float | Kind::Constant | Kind::Bytes => false,
            Kind::Tuple => self.ran != ran,
            _ => true,
        };
        self.ran += 1;
        walked?;
        let Some(value) = builder.take() else { return Ok(()) };
        // Another library writes both.
        if let Some(keys) = keys
            && !self.is_counting()
            && self.values.is_none()
        {
            let nearest = self.nearest(&value, sink.fidelity());
            let is_text = matches!(value, Value::Text(_));
            if nearest.is_some() || is_odd && (is_text || !has_own_values(key)) {
                self.check_key(keys, key, nearest.as_ref().unwrap_or(&value))?;
            }
        }
        match &value {
            Value::Text(text) => sink.key(text),
            value => sink.key_value(value),
        }
    }

    /// Returns the text that is written in place of a key that the format cannot hold.
    fn nearest(&self, key: &Value, fidelity: &Fidelity) -> Option<Value> {
        if let Value::Text(_) = key {
            return None;
        }
        let nearest = fidelity::nearest_key(fidelity, key)?;
        match (self.format, key) {
            (Format::Json | Format::Ndjson, Value::Surrogates(_)) => None,
            (Format::Json | Format::Ndjson | Format::Toml | Format::Bson, _)
            | (Format::Csv | Format::Tsv, _) => Some(Value::Text(nearest)),
            (Format::Pickle, _) => None,
            (_, Value::Surrogates(text)) => {
                Some(Value::Text(String::from_utf8_lossy(text).into_owned()))
            }
            _ => None,
        }
    }

    /// Refuses a key if another key of its dict is written in the same way.
    fn check_key(
        &mut self,
        keys: &mut Keys<'_, 'py>,
        key: &Object<'py>,
        written: &Value,
    ) -> Result {
        if let Some(same) = self.as_python(written)
            && let Ok(dict) = keys.dict.cast::<PyDict>()
        {
            let has = dict.contains(&same).map_err(|raised| self.raise(raised))?;
            if has && !is_same(key, &same) {
                return Err(written_twice(written));
            }
        }
        let notation = json::to_vec(written, OnLoss::Wrap)?;
        match keys.written.get_or_insert_default().insert(notation) {
            true => Ok(()),
            false => Err(written_twice(written)),
        }
    }

    /// Returns the key that has this value in Python, if there is one with a hash.
    fn as_python(&self, key: &Value) -> Option<Object<'py>> {
        if let Value::Text(text) = key {
            return Some(PyString::new(self.py, text).into_any());
        }
        let mut builder = Builder::new(self.py, self.format, None);
        match key.drive(&mut *builder) {
            Ok(()) => as_key(self.py, builder.take()?).ok().filter(|key| key.hash().is_ok()),
            Err(_) => builder.fail().and(None),
        }
    }

    /// Walks an OrderedDict, whose order is not that of its table once a key was moved.
    #[inline(never)]
    pub(super) fn ordered<S: Sink + ?Sized>(
        &mut self,
        object: &Object<'py>,
        sink: &mut S,
    ) -> Result {
        if self.sort_keys {
            return self.dict(object, sink);
        }
        if self.is_shared(object) && self.anchor(object, sink)? {
            return Ok(());
        }
        self.enter()?;
        let names = ordered_keys(object).map_err(|raised| self.raise(raised))?;
        let Ok(dict) = object.cast::<PyDict>() else { return Ok(()) };
        let (count, mut keys) = (container::dict_len(object), Keys::new(object));
        if names.len() != count {
            return Err(changed("dict"));
        }
        sink.begin_map(Some(count as u64))?;
        for key in &names {
            let value = dict.get_item(&key).map_err(|raised| self.raise(raised))?;
            let Some(value) = value else { return Err(changed("dict")) };
            self.pair(Some(&mut keys), (&key, &value), sink)?;
        }
        let has_changed = container::dict_len(object) != count;
        self.end_dict(object, 0, has_changed, sink)
    }
}

/// Returns whether a key is of a class of Python's library that compares its values as the formats do, if it is not
/// written as text.
fn has_own_values(key: &Object<'_>) -> bool {
    let module = key.get_type().module();
    module.is_ok_and(|name| matches!(name.to_str(), Ok("datetime" | "uuid" | "decimal")))
}

/// Returns the keys of an OrderedDict in its order, whatever a subclass says.
fn ordered_keys<'py>(dict: &Object<'py>) -> PyResult<Bound<'py, PyList>> {
    let class = python::lower(dict.py())?.getattr("OrderedDict")?;
    let keys = class.call_method1("__iter__", (dict,))?;
    keys.try_iter()?.collect::<PyResult<Vec<_>>>().and_then(|keys| PyList::new(dict.py(), keys))
}

/// Returns whether a dict takes both for one key.
fn is_same<'py>(key: &Object<'py>, other: &Object<'py>) -> bool {
    key.is(other)
        || key.hash().ok() == other.hash().ok() && key.eq(other).is_ok_and(|is_equal| is_equal)
}

#[cold]
fn written_twice(key: &Value) -> Error {
    let what = match (key, json::to_vec(key, OnLoss::Wrap)) {
        (Value::Text(text), _) => format!("the text {text:?}"),
        (_, Ok(notation)) => String::from_utf8_lossy(&notation).into_owned(),
        (key, Err(_)) => key.type_name().to_owned(),
    };
    Error::unrepresentable(format!(
        "found a key that is written as {what}, which is a key of the same dict too"
    ))
    .hint("rename one of the two")
}
