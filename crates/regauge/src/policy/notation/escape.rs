//! The adapter that guards a user's own maps, when the notation is written.
//!
//! It is used with [`OnLoss::Wrap`](crate::OnLoss::Wrap): [`Unwrap`](super::Unwrap) then finds nothing
//! that is not the notation.

use crate::Result;
use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::policy::event::{Sink, Writer, forward};
use crate::policy::fidelity::KEY_PREFIX;
use crate::policy::tree::Builder;

/// The key that marks a map as the user's own, whatever it looks like.
pub(super) const LITERAL: &str = "$literal";

/// Guards a user's own maps: one whose first key starts with `$` goes under `$literal`, and a key
/// that starts with `$key:` is written in that notation.
pub struct Escape<S> {
    inner: S,
    stack: Vec<Level>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Level {
    Array,
    /// A map before its first key.
    Fresh,
    Map,
    /// A map that had to go under `$literal`.
    Literal,
}

impl<S> Escape<S> {
    /// Creates an adapter in front of `inner`.
    pub fn new(inner: S) -> Self {
        Escape { inner, stack: Vec::new() }
    }

    /// Returns the inner sink.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S: Sink> Sink for Escape<S> {
    forward!(null bool i64 u64 f64 f32 str bytes big_int ext typed fidelity);

    fn begin_array(&mut self, len: Option<u64>) -> Result {
        self.stack.push(Level::Array);
        self.inner.begin_array(len)
    }
    fn end_array(&mut self) -> Result {
        self.stack.pop();
        self.inner.end_array()
    }
    fn begin_map(&mut self, _len: Option<u64>) -> Result {
        // The length is not passed on: it becomes one if the map turns out to need `$literal`.
        self.stack.push(Level::Fresh);
        self.inner.begin_map(None)
    }
    fn key(&mut self, k: &str) -> Result {
        if let Some(level @ Level::Fresh) = self.stack.last_mut() {
            *level = Level::Map;
            if k.starts_with('$') && !k.starts_with(KEY_PREFIX) {
                *level = Level::Literal;
                self.inner.key(LITERAL)?;
                self.inner.begin_map(None)?;
            }
        }
        if k.starts_with(KEY_PREFIX) {
            let notation = Value::Text(k.to_owned()).to_string();
            return self.inner.key(&format!("{KEY_PREFIX}{notation}"));
        }
        self.inner.key(k)
    }
    fn key_value(&mut self, k: &Value) -> Result {
        if let Some(level @ Level::Fresh) = self.stack.last_mut() {
            *level = Level::Map;
        }
        if !may_hold_maps(k) {
            return self.inner.key_value(k);
        }
        // A map in a key can look like the notation too.
        let mut escaped = Builder::new(&Limits::NONE);
        k.drive(&mut Escape::new(&mut escaped))?;
        self.inner.key_value(&escaped.take().expect("a whole value"))
    }
    fn end_map(&mut self) -> Result {
        if self.stack.pop() == Some(Level::Literal) {
            self.inner.end_map()?;
        }
        self.inner.end_map()
    }
}

impl<S: Writer> Writer for Escape<S> {
    forward!(end_document finish checkpoint);

    fn columns(&mut self, row: &Value) -> Result {
        let mut changed = Builder::new(&Limits::NONE);
        row.drive(&mut Escape::new(&mut changed))?;
        changed.take().map_or(Ok(()), |row| self.inner.columns(&row))
    }
    fn rollback(&mut self) {
        self.stack.clear();
        self.inner.rollback();
    }
}

/// Returns whether a key can contain maps.
pub(super) fn may_hold_maps(k: &Value) -> bool {
    matches!(k, Value::Array(_) | Value::Map(_) | Value::Typed(..) | Value::Anchor(..))
}
