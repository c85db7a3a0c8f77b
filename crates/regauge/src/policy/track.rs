//! The adapter that knows where in a document its sink is.

use crate::Result;
use crate::model::path::{Path, Step};
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, Sink, Type, Writer, forward};
use crate::policy::fidelity::Fidelity;

/// A sink adapter that tracks the current position: it passes every event on, keeps the path of the
/// current value, and adds that path to each loss that the inner sink notes.
///
/// It copies every key, so the fast path does without it: a conversion that fails is run again with
/// a `Tracker` in between, to find the path.
pub struct Tracker<S> {
    inner: S,
    stack: Vec<Frame>,
}

#[derive(Debug)]
enum Frame {
    /// The index of the next value.
    Array(u64),
    /// The key of the current value; `None` before the first key.
    Map(Option<String>),
}

impl<S: Sink> Tracker<S> {
    /// Creates a tracker at the root, in front of `inner`.
    pub fn new(inner: S) -> Self {
        Tracker { inner, stack: Vec::new() }
    }

    /// Returns the path of the latest value; after an error, of the value that failed.
    pub fn path(&self) -> Path {
        Path(
            self.stack
                .iter()
                .filter_map(|frame| match frame {
                    Frame::Array(next) => Some(Step::Index(*next)),
                    Frame::Map(key) => key.as_deref().map(|key| Step::Key(key.into())),
                })
                .collect(),
        )
    }

    /// Returns the inner sink.
    pub fn inner(&mut self) -> &mut S {
        &mut self.inner
    }

    /// Runs after every event, before a failure is returned: losses noted during the event happened
    /// at the current path.
    #[inline]
    fn settle(&mut self, result: Result) -> Result {
        if self.inner.fidelity().has_pending() {
            let path = self.path();
            self.inner.fidelity().place_pending(&path);
        }
        result
    }

    #[inline]
    fn value(&mut self, result: Result) -> Result {
        self.settle(result)?;
        self.advance();
        Ok(())
    }

    #[inline]
    fn advance(&mut self) {
        if let Some(Frame::Array(next)) = self.stack.last_mut() {
            *next += 1;
        }
    }
}

impl<S: Sink> Sink for Tracker<S> {
    fn null(&mut self) -> Result {
        let result = self.inner.null();
        self.value(result)
    }
    fn bool(&mut self, v: bool) -> Result {
        let result = self.inner.bool(v);
        self.value(result)
    }
    fn i64(&mut self, v: i64) -> Result {
        let result = self.inner.i64(v);
        self.value(result)
    }
    fn u64(&mut self, v: u64) -> Result {
        let result = self.inner.u64(v);
        self.value(result)
    }
    fn f64(&mut self, v: f64) -> Result {
        let result = self.inner.f64(v);
        self.value(result)
    }
    fn f32(&mut self, v: f32) -> Result {
        let result = self.inner.f32(v);
        self.value(result)
    }
    fn str(&mut self, v: &str) -> Result {
        let result = self.inner.str(v);
        self.value(result)
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        let result = self.inner.bytes(v);
        self.value(result)
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        let result = self.inner.big_int(v);
        self.value(result)
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        let result = self.inner.ext(v);
        self.value(result)
    }
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        let result = self.inner.begin_array(len);
        self.settle(result)?;
        self.stack.push(Frame::Array(0));
        Ok(())
    }
    fn end_array(&mut self) -> Result {
        let result = self.inner.end_array();
        self.stack.pop();
        self.value(result)
    }
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        let result = self.inner.begin_map(len);
        self.settle(result)?;
        self.stack.push(Frame::Map(None));
        Ok(())
    }
    fn key(&mut self, k: &str) -> Result {
        if let Some(Frame::Map(key)) = self.stack.last_mut() {
            let key = key.get_or_insert_default();
            key.clear();
            key.push_str(k);
        }
        let result = self.inner.key(k);
        self.settle(result)
    }
    fn key_value(&mut self, k: &Value) -> Result {
        if let Some(Frame::Map(key)) = self.stack.last_mut() {
            *key = Some(k.to_string());
        }
        let result = self.inner.key_value(k);
        self.settle(result)
    }
    fn end_map(&mut self) -> Result {
        let result = self.inner.end_map();
        self.stack.pop();
        self.value(result)
    }
    // A type and an anchor have the path of the value in them.
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        let result = self.inner.begin_typed(t);
        self.settle(result)
    }
    fn end_typed(&mut self) -> Result {
        let result = self.inner.end_typed();
        self.settle(result)
    }
    fn holds_references(&mut self) -> bool {
        self.inner.holds_references()
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        let result = self.inner.begin_anchor(id);
        self.settle(result)
    }
    fn end_anchor(&mut self) -> Result {
        let result = self.inner.end_anchor();
        self.settle(result)
    }
    fn alias(&mut self, id: u64) -> Result {
        let result = self.inner.alias(id);
        self.value(result)
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        self.inner.fidelity()
    }
}

impl<S: Writer> Writer for Tracker<S> {
    forward!(columns);

    fn end_document(&mut self) -> Result {
        self.inner.end_document()
    }
    fn finish(&mut self) -> Result {
        self.inner.finish()
    }
    fn checkpoint(&mut self) {
        self.inner.checkpoint();
    }
    fn path(&self) -> Option<Path> {
        Some(Tracker::path(self))
    }
    fn rollback(&mut self) {
        self.stack.clear();
        self.inner.rollback();
    }
}
