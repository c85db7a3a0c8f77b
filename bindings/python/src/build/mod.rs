//! Builds Python objects from events: the sink of `loads`.
//!
//! Values gather on one stack, and a container takes what was pushed since it began: so it does not
//! matter whether its length was known. Only data is built: a typed value becomes whatever
//! `regauge._values` maps it to, or an inert `regauge.Object`.

mod convert;
mod equal;
mod hooks;
mod keys;
mod values;

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};

use pyo3::prelude::*;
use regauge::event::{BigInt, Ext, ShortText, Sink, Type, TypeBuf};
use regauge::{Error, ErrorKind, Fidelity, Format, OnLoss, Result, Value};

pub use convert::{Conversions, Converter};
pub use hooks::Hooks;
pub use keys::Keys;
pub use values::as_key;

use crate::dialect::Values;
use crate::raw::{container, idle, number, text};

type Object<'py> = Bound<'py, PyAny>;

/// An open container.
struct Frame {
    /// Where its values begin on the stack.
    start: usize,
    /// Whether the container is on the stack already, just before its values: because an alias in
    /// it may refer to it.
    made: bool,
    /// Whether it is a map, whose values on the stack are keys and values in turn.
    map: bool,
}

impl Frame {
    /// Returns where the container and its values begin on the stack.
    fn begin(&self) -> usize {
        self.start - usize::from(self.made)
    }
}

/// A stack with room for more values than this is not kept: 512 KiB.
const KEPT_VALUES: usize = 64 << 10;

/// An open type.
struct Open<'py> {
    name: TypeBuf,
    /// The anchor that it has, if that was just opened.
    anchor: Option<u64>,
    /// The object that an alias in it asked for.
    early: Option<Object<'py>>,
}

/// Builds the values of consecutive documents.
pub struct Builder<'py> {
    py: Python<'py>,
    stack: Vec<Object<'py>>,
    frames: Vec<Frame>,
    keys: Keys,
    hooks: Option<Box<Hooks<'py>>>,
    /// Whether duplicate keys in a map are refused.
    unique: bool,
    /// The conversions to call in place of `regauge._values`.
    values: Option<Values<'py>>,
    /// Whether these convert integers beyond 32 bits.
    converts_int64: bool,
    fidelity: Fidelity,
    /// The exception that Python raised, if a method failed because of one.
    raised: Option<PyErr>,
    types: Vec<Open<'py>>,
    /// Open anchors, innermost last.
    anchors: Vec<u64>,
    /// The most recently opened anchor, until its value begins.
    fresh: Option<u64>,
    named: Option<HashMap<u64, Object<'py>>>,
}

impl<'py> Builder<'py> {
    /// Returns a builder of values that are read from `format`: this thread's last one, if it is idle. With its memory, a
    /// document of less than 400 bytes takes 0.82 to 0.90 of the time, an array of 10,000 numbers 0.83; others the same.
    #[expect(clippy::new_ret_no_self, reason = "on loan")]
    pub fn new(py: Python<'py>, format: Format, hooks: Option<Box<Hooks<'py>>>) -> Lent<'py> {
        let Some(mut builder) = idle::take(py) else {
            return Lent(Some(Builder::made(py, Fidelity::new(OnLoss::Refuse, format), hooks)));
        };
        builder.fidelity.reset(OnLoss::Refuse, format);
        builder.hooks = hooks;
        Lent(Some(builder))
    }

    #[cold]
    fn made(
        py: Python<'py>,
        fidelity: Fidelity,
        hooks: Option<Box<Hooks<'py>>>,
    ) -> Box<Builder<'py>> {
        Box::new(Builder {
            py,
            stack: Vec::new(),
            frames: Vec::new(),
            keys: Keys::new(),
            hooks,
            unique: false,
            values: None,
            converts_int64: false,
            fidelity,
            raised: None,
            types: Vec::new(),
            anchors: Vec::new(),
            fresh: None,
            named: None,
        })
    }

    /// Drops everything but memory, and the keys and shapes of earlier documents.
    pub fn rest(&mut self) {
        self.fail();
        (self.hooks, self.values) = (None, None);
        (self.unique, self.converts_int64) = (false, false);
        if self.stack.capacity() > KEPT_VALUES || self.frames.capacity() > KEPT_VALUES {
            (self.stack, self.frames) = (Vec::new(), Vec::new());
        }
    }

    /// Refuses keys of a map that are equal in Python, instead of keeping the last.
    pub fn unique_keys(&mut self, unique: bool) {
        self.unique = unique;
    }

    /// Converts values that are not plain data with these functions, in place of `regauge._values`.
    pub fn convert_with(&mut self, values: Values<'py>) {
        self.converts_int64 = values.int64.is_some();
        self.values = Some(values);
    }

    /// Returns the dialect's functions for text and containers, for a [`Converter`].
    pub fn conversions(&self) -> Option<Conversions<'py>> {
        self.values.as_ref().and_then(|values| values.conversions.clone())
    }

    /// Returns what the dialect makes of a value, if it has a function of that name.
    fn converted(&self, name: &str, value: Object<'py>) -> PyResult<Object<'py>> {
        let Some(values) = &self.values else { return Ok(value) };
        match values.object.getattr_opt(name)? {
            Some(convert) => convert.call1((value,)),
            None => Ok(value),
        }
    }

    /// Returns what the dialect makes of a key that is not text.
    fn converted_key(&self, key: Object<'py>) -> PyResult<Object<'py>> {
        match self.values.as_ref().and_then(|values| values.key.as_ref()) {
            Some(convert) => convert.call1((key,)),
            None => Ok(key),
        }
    }

    /// Adds an `int64` of BSON that the dialect converts. One that 32 bits hold comes as
    /// [`Ext::Int64`].
    #[cold]
    fn int64(&mut self, v: i64) -> Result {
        let Some(convert) = self.values.as_ref().and_then(|values| values.int64.as_ref()) else {
            let v = number::i64(self.py, v);
            return self.push(v);
        };
        let made = convert.call1((v,));
        self.push_called(made)
    }

    /// Returns whether Python code may run while a document is built.
    pub fn runs_python(&self) -> bool {
        self.hooks.is_some() || self.conversions().is_some()
    }

    /// Returns the value of the document that has just ended.
    pub fn take(&mut self) -> Option<Object<'py>> {
        self.frames.clear();
        self.types.clear();
        self.anchors.clear();
        self.named = None;
        let value = self.stack.pop();
        self.stack.clear();
        value
    }

    /// Returns the value of the document that has just ended, or `None` if there was none.
    pub fn take_or_none(&mut self) -> Object<'py> {
        self.take().unwrap_or_else(|| number::none(self.py))
    }

    /// Returns the value that was built last, outside of any container, or `None` if there is none.
    #[inline]
    pub fn pop_or_none(&mut self) -> Object<'py> {
        self.stack.pop().unwrap_or_else(|| number::none(self.py))
    }

    /// Returns the thread's token.
    pub fn py(&self) -> Python<'py> {
        self.py
    }

    /// Discards a document that failed, and returns Python's exception, if that was the cause.
    pub fn fail(&mut self) -> Option<PyErr> {
        self.take();
        self.fresh = None;
        self.raised.take()
    }

    /// Records an exception that Python raised while an object was created.
    #[cold]
    #[inline(never)]
    fn python(&mut self) -> Error {
        let Some(raised) = PyErr::take(self.py) else {
            return self.raise(pyo3::exceptions::PySystemError::new_err(
                "found a failure without an exception",
            ));
        };
        self.unhashable(&raised).unwrap_or_else(|| self.raise(raised))
    }

    /// Creates the error for an unhashable object used as a key: the document's fault.
    #[cold]
    fn unhashable(&self, raised: &PyErr) -> Option<Error> {
        if !raised.is_instance_of::<pyo3::exceptions::PyTypeError>(self.py) {
            return None;
        }
        // Python 3.14 and later: "cannot use 'dict' as a dict key (unhashable type: 'dict')".
        let shown = raised.value(self.py).to_string();
        let why = shown[shown.find("unhashable type")?..].trim_end_matches(')');
        let message =
            format!("found a key that no dict can have ({why}), expected one with a hash");
        let error = Error::new(ErrorKind::Unsupported, message);
        Some(error.hint("pass object_pairs_hook=list to get the pairs"))
    }

    #[cold]
    fn raise(&mut self, raised: PyErr) -> Error {
        // An exception from a hook is the caller's; without hooks it is due to the document.
        if self.hooks.is_none()
            && let Some(error) = self.unhashable(&raised)
        {
            return error;
        }
        self.raised = Some(raised);
        Error::new(ErrorKind::Io, "Python raised an exception")
    }

    /// Returns whether the keys of the current map may occur in other maps, so that it pays to remember them: not those
    /// of a large map, which are data themselves.
    #[inline(always)]
    fn keys_recur(&self) -> bool {
        const LARGE: usize = 2 * 512;
        self.frames.last().is_some_and(|frame| self.stack.len() - frame.start < LARGE)
    }

    #[inline(always)]
    fn push(&mut self, value: Option<Object<'py>>) -> Result {
        match value {
            Some(value) => {
                self.stack.push(value);
                Ok(())
            }
            None => Err(self.python()),
        }
    }

    #[inline(always)]
    fn begin(&mut self, map: bool) -> Result {
        if self.fresh.is_some() {
            return self.begin_named(map);
        }
        self.frames.push(Frame { start: self.stack.len(), made: false, map });
        Ok(())
    }

    /// Opens a container that an alias in it may refer to: it has to exist from the beginning.
    #[cold]
    fn begin_named(&mut self, map: bool) -> Result {
        let mut nothing = Vec::new();
        let made = match map {
            true => container::dict(self.py, &mut nothing, 0),
            false => container::list(self.py, &mut nothing, 0),
        };
        self.push(made)?;
        if let (Some(id), Some(object)) = (self.fresh.take(), self.stack.last()) {
            // A hook returns another object instead, which is registered once it exists.
            if self.hooks.as_ref().is_none_or(|hooks| !map || !hooks.takes_maps()) {
                self.named.get_or_insert_default().insert(id, object.clone());
            }
        }
        self.frames.push(Frame { start: self.stack.len(), made: true, map });
        Ok(())
    }

    /// Closes a container that is on the stack already.
    #[cold]
    fn end_made(&mut self, map: bool, start: usize) -> Result {
        let Some(object) = start.checked_sub(1).and_then(|at| self.stack.get(at)).cloned() else {
            return Ok(());
        };
        if map {
            if container::fill(&object, &mut self.stack, start).is_none() {
                return Err(self.python());
            }
            return Ok(());
        }
        let values: Vec<_> = self.stack.drain(start..).collect();
        for value in values {
            let done = object.cast::<pyo3::types::PyList>().map(|list| list.append(value));
            if let Ok(Err(error)) = done {
                return Err(self.raise(error));
            }
        }
        Ok(())
    }

    /// Closes a map that a hook or a check needs to see.
    #[cold]
    #[inline(never)]
    fn end_map_with_care(&mut self, frame: Frame) -> Result {
        let keys: Vec<_> = match self.unique {
            true => self.stack[frame.start..].iter().step_by(2).cloned().collect(),
            false => Vec::new(),
        };
        if let Some(hooks) = &self.hooks
            && let Some(hook) = hooks.pairs.clone()
        {
            if let Some(error) = self.twice(&keys, frame.begin()) {
                return Err(error);
            }
            let made = self.pairs(frame.start).and_then(|list| hook.call1((list,)));
            return self.replace(frame.made, made);
        }
        let (begin, start) = (frame.begin(), frame.start);
        if frame.made {
            self.end_made(true, start)?;
        } else {
            let dict = container::dict(self.py, &mut self.stack, start);
            self.push(dict)?;
        }
        let Some(dict) = self.stack.last().cloned() else { return Ok(()) };
        if container::dict_len(&dict) < keys.len()
            && let Some(error) = self.twice(&keys, begin)
        {
            return Err(error);
        }
        if let Some(hooks) = &self.hooks
            && let Some(hook) = hooks.object.clone()
        {
            let made = hook.call1((dict,));
            self.stack.pop();
            self.push_called(made)?;
        }
        Ok(())
    }

    /// Replaces the container on the stack by a hook's result.
    fn replace(&mut self, made: bool, value: PyResult<Object<'py>>) -> Result {
        if made {
            self.stack.pop();
        }
        self.push_called(value)
    }

    fn push_called(&mut self, value: PyResult<Object<'py>>) -> Result {
        match value {
            Ok(value) => {
                self.stack.push(value);
                Ok(())
            }
            Err(raised) => Err(self.raise(raised)),
        }
    }

    /// Returns the keys and values from `start` on as a list of pairs.
    fn pairs(&mut self, start: usize) -> PyResult<Object<'py>> {
        let values: Vec<_> = self.stack.drain(start..).collect();
        let pairs = values.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
        Ok(pyo3::types::PyList::new(self.py, pairs.collect::<Vec<_>>())?.into_any())
    }
}

/// A builder on loan, which is this thread's next one when it is dropped.
pub struct Lent<'py>(Option<Box<Builder<'py>>>);

impl<'py> Deref for Lent<'py> {
    type Target = Builder<'py>;
    fn deref(&self) -> &Builder<'py> {
        self.0.as_ref().expect("there until it is dropped")
    }
}

impl<'py> DerefMut for Lent<'py> {
    fn deref_mut(&mut self) -> &mut Builder<'py> {
        self.0.as_mut().expect("there until it is dropped")
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(builder) = self.0.take() {
            idle::put_back(builder);
        }
    }
}

impl<'py> Sink for Builder<'py> {
    #[inline(always)]
    fn null(&mut self) -> Result {
        self.stack.push(number::none(self.py));
        Ok(())
    }
    #[inline(always)]
    fn bool(&mut self, v: bool) -> Result {
        self.stack.push(number::bool(self.py, v));
        Ok(())
    }
    #[inline(always)]
    fn i64(&mut self, v: i64) -> Result {
        if self.converts_int64 && i32::try_from(v).is_err() {
            return self.int64(v);
        }
        let v = number::i64(self.py, v);
        self.push(v)
    }
    fn u64(&mut self, v: u64) -> Result {
        let v = number::u64(self.py, v);
        self.push(v)
    }
    #[inline(always)]
    fn f64(&mut self, v: f64) -> Result {
        let v = number::f64(self.py, v);
        self.push(v)
    }
    #[inline(always)]
    fn str(&mut self, v: &str) -> Result {
        let v = text::new(self.py, v);
        self.push(v)
    }
    #[inline(always)]
    fn short_str(&mut self, v: ShortText<'_>) -> Result {
        #[cfg(not(Py_LIMITED_API))]
        if v.len() > 1 {
            let v = text::ascii(self.py, v.as_str().as_bytes());
            return self.push(v);
        }
        self.str(v.as_str())
    }
    #[inline(always)]
    fn begin_array(&mut self, _len: Option<u64>) -> Result {
        self.begin(false)
    }
    #[inline(always)]
    fn end_array(&mut self) -> Result {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        if frame.made {
            return self.end_made(false, frame.start);
        }
        let list = container::list(self.py, &mut self.stack, frame.start);
        self.push(list)
    }
    #[inline(always)]
    fn begin_map(&mut self, _len: Option<u64>) -> Result {
        self.begin(true)
    }
    #[inline(always)]
    fn key(&mut self, k: &str) -> Result {
        let recurs = self.keys_recur();
        let key = match recurs {
            true => self.keys.get(self.py, k),
            false => text::new(self.py, k),
        };
        self.push(key)
    }
    #[inline(always)]
    fn short_key(&mut self, k: ShortText<'_>) -> Result {
        let recurs = self.keys_recur();
        let key = match recurs {
            true => self.keys.get_short(self.py, k),
            false => text::new(self.py, k.as_str()),
        };
        self.push(key)
    }
    #[inline(always)]
    fn end_map(&mut self) -> Result {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        if frame.made || self.unique || self.hooks.is_some() {
            return self.end_map_with_care(frame);
        }
        let dict = self.keys.shapes.dict(self.py, &mut self.stack, frame.start);
        self.push(dict)
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.stack.push(pyo3::types::PyBytes::new(self.py, v).into_any());
        Ok(())
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        let made = values::big_int(self.py, v);
        let made = made.and_then(|made| self.converted("big_int", made));
        self.push_called(made)
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        if let Ext::Int64(v) = v {
            return self.int64(v);
        }
        let made = self.ext_value(v);
        self.push_called(made)
    }
    fn key_value(&mut self, k: &Value) -> Result {
        // The values of a key are handled like others, and it is built from immutable objects.
        k.drive(self)?;
        let Some(key) = self.stack.pop() else { return Ok(()) };
        let made = values::as_key(self.py, key).and_then(|key| self.converted_key(key));
        self.push_called(made)
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        self.types.push(Open { name: t.into(), anchor: self.fresh.take(), early: None });
        Ok(())
    }
    fn end_typed(&mut self) -> Result {
        let (Some(open), Some(value)) = (self.types.pop(), self.stack.pop()) else { return Ok(()) };
        let made = self.typed_value(open.name.as_type(), value, open.early.as_ref());
        self.push_called(made)
    }
    fn holds_references(&mut self) -> bool {
        true
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        self.anchors.push(id);
        self.fresh = Some(id);
        Ok(())
    }
    fn end_anchor(&mut self) -> Result {
        self.fresh = None;
        if let (Some(id), Some(value)) = (self.anchors.pop(), self.stack.last()) {
            self.named.get_or_insert_default().insert(id, value.clone());
        }
        Ok(())
    }
    fn alias(&mut self, id: u64) -> Result {
        if let Some(value) = self.named.as_ref().and_then(|named| named.get(&id)) {
            self.stack.push(value.clone());
            return Ok(());
        }
        // A value that contains itself, but is created after its content: only an inert object can
        // exist earlier.
        let Some(open) = self.types.iter().position(|open| open.anchor == Some(id)) else {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "found a value that holds itself, and is neither a list, a dict nor an object",
            ));
        };
        let made = self.object(self.types[open].name.as_type());
        match made {
            Ok(object) => {
                self.types[open].early = Some(object.clone());
                self.named.get_or_insert_default().insert(id, object.clone());
                self.stack.push(object);
                Ok(())
            }
            Err(raised) => Err(self.raise(raised)),
        }
    }
}
