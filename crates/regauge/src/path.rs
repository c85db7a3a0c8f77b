//! The position of a value in a document: `$.items[2].when`.

use std::fmt;

use crate::Result;
use crate::event::{BigInt, Ext, Sink, Type, Writer};
use crate::fidelity::Fidelity;
use crate::value::Value;

/// One step down from a container to a value in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The value under this key of a map. A key that is not text is given in its notation.
    Key(Box<str>),
    /// The value at this index of an array, from 0.
    Index(u64),
}

/// The path from the root of a document to one of its values. Displays as `$.items[2].when`; a key
/// that is not a plain word is quoted: `$["two words"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path(pub Vec<Step>);

/// Keys and paths longer than this are cut in messages, never in [`Path`] itself.
const SHOWN_KEY_CHARS: usize = 60;
const SHOWN_STEPS: usize = 24;

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        let hidden = self.0.len().saturating_sub(SHOWN_STEPS);
        for (index, step) in self.0.iter().enumerate() {
            // A deep path keeps its head and its tail.
            if hidden > 0 && index >= SHOWN_STEPS / 2 && index < SHOWN_STEPS / 2 + hidden {
                if index == SHOWN_STEPS / 2 {
                    write!(f, "…({hidden} more)…")?;
                }
                continue;
            }
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) if is_word(key) => write!(f, ".{key}")?,
                Step::Key(key) => {
                    let mut chars = key.chars();
                    let shown: String = chars.by_ref().take(SHOWN_KEY_CHARS).collect();
                    let more = if chars.next().is_some() { "…" } else { "" };
                    write!(f, "[\"{}{more}\"]", shown.escape_debug())?;
                }
            }
        }
        Ok(())
    }
}

/// Returns whether a key can appear in a path without quotes.
fn is_word(key: &str) -> bool {
    key.len() <= SHOWN_KEY_CHARS
        && !key.is_empty()
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-' || b == b'$')
}

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
