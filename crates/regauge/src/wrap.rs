//! The wrapped notation, read back: see the table in [`crate::fidelity`].
//!
//! [`Escape`] stands in front of a writer and sees to it that a user's own map is not taken for
//! the notation; [`Unwrap`] stands behind a reader and turns the notation into the values that it
//! stands for. Both are used only with [`OnLoss::Wrap`](crate::OnLoss::Wrap).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::event::{BigInt, Ext, Sink, Timestamp, Writer, forward};
use crate::fidelity::KEY_PREFIX;
use crate::limits::Limits;
use crate::value::{Builder, Value};
use crate::{Error, Result, number, time};

/// The key that says: this map is the user's own, whatever it looks like.
const LITERAL: &str = "$literal";

/// Guards a user's own maps: one whose first key starts with `$` goes under `$literal`, a key that
/// starts with `$key:` is written as that notation's text.
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
    /// A map that had to be put under `$literal`.
    Literal,
}

impl<S> Escape<S> {
    /// An adapter in front of `inner`.
    pub fn new(inner: S) -> Self {
        Escape { inner, stack: Vec::new() }
    }

    /// The sink behind.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S: Sink> Sink for Escape<S> {
    forward!(null bool i64 u64 f64 f32 str bytes big_int ext fidelity);

    fn begin_array(&mut self, len: Option<u64>) -> Result {
        self.stack.push(Level::Array);
        self.inner.begin_array(len)
    }
    fn end_array(&mut self) -> Result {
        self.stack.pop();
        self.inner.end_array()
    }
    fn begin_map(&mut self, _len: Option<u64>) -> Result {
        // The length is not passed on: it is one, should the map turn out to need `$literal`.
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
        if !matches!(k, Value::Array(_) | Value::Map(_)) {
            return self.inner.key_value(k);
        }
        // A map in a key can look like the notation as well.
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

    fn rollback(&mut self) {
        self.stack.clear();
        self.inner.rollback();
    }
}

/// Turns the notation into what it stands for. A map that is not the notation passes unchanged,
/// also one whose first key happens to start with `$`.
pub struct Unwrap<S> {
    inner: S,
    limits: Limits,
    stack: Vec<Open>,
    /// A map whose first key has not come yet, with its length.
    fresh: Option<Option<u64>>,
    /// A map that may be the notation, and how many containers are open in it.
    capture: Option<(Builder, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Open {
    Container,
    /// A `$literal` key has come: the next map is its content.
    LiteralKey,
    /// The map under `$literal`.
    LiteralMap,
}

impl<S: Sink> Unwrap<S> {
    /// An adapter in front of `inner`. A value under the notation is held in memory within
    /// `limits`.
    pub fn new(inner: S, limits: &Limits) -> Self {
        Unwrap { inner, limits: *limits, stack: Vec::new(), fresh: None, capture: None }
    }

    /// An event that is not a key has come: a fresh map can only have ended, which is handled by
    /// `end_map`, so nothing waits here but a capture.
    fn leaf(&mut self, event: impl FnOnce(&mut dyn Sink) -> Result) -> Result {
        if let Some((builder, _)) = &mut self.capture {
            return event(builder);
        }
        self.not_literal()?;
        event(&mut self.inner)
    }

    /// A value that is no map has come: if it stands under `$literal`, that was no notation.
    fn not_literal(&mut self) -> Result {
        if let Some(open @ Open::LiteralKey) = self.stack.last_mut() {
            *open = Open::Container;
            self.inner.begin_map(None)?;
            self.inner.key(LITERAL)?;
        }
        Ok(())
    }

    /// A key has come after a whole `$literal` map.
    fn check_alone(&self) -> Result {
        if self.stack.last() == Some(&Open::LiteralMap) {
            return Err(second_key());
        }
        Ok(())
    }

    fn open_fresh(&mut self) -> Result {
        if let Some(len) = self.fresh.take() {
            self.inner.begin_map(len)?;
        }
        Ok(())
    }

    /// The captured map is whole: is it the notation?
    fn finish_capture(&mut self) -> Result {
        let (mut builder, _) = self.capture.take().expect("a capture is open");
        let map = builder.take().expect("the map is whole");
        match unwrapped(&map, &self.limits) {
            Some(value) => value.drive(&mut self.inner),
            // Something that only looks like it: its parts may still be the notation.
            None => self.replay_map(&map),
        }
    }

    fn replay(&mut self, value: &Value) -> Result {
        match value {
            Value::Array(values) => {
                self.inner.begin_array(Some(values.len() as u64))?;
                values.iter().try_for_each(|value| self.replay(value))?;
                self.inner.end_array()
            }
            Value::Map(pairs) => {
                if let Some(value) = unwrapped(value, &self.limits) {
                    return value.drive(&mut self.inner);
                }
                match pairs.as_slice() {
                    [(Value::Text(name), content @ Value::Map(_)), rest @ ..]
                        if name == LITERAL =>
                    {
                        if !rest.is_empty() {
                            return Err(second_key());
                        }
                        self.replay_map(content)
                    }
                    _ => self.replay_map(value),
                }
            }
            leaf => leaf.drive(&mut self.inner),
        }
    }

    /// A map that is not the notation itself.
    fn replay_map(&mut self, map: &Value) -> Result {
        let Value::Map(pairs) = map else { return self.replay(map) };
        self.inner.begin_map(Some(pairs.len() as u64))?;
        for (key, value) in pairs {
            match key {
                Value::Text(key) => pass_key(&mut self.inner, key)?,
                key => pass_key_value(&mut self.inner, key, &self.limits)?,
            }
            self.replay(value)?;
        }
        self.inner.end_map()
    }
}

#[cold]
fn second_key() -> Error {
    Error::syntax("found a second key beside `$literal`, expected none")
        .hint("read without --on-loss wrap if this is not our notation")
}

/// A key of a map that is not the notation: text, or a key value in its own notation.
fn pass_key<S: Sink>(sink: &mut S, k: &str) -> Result {
    match k.strip_prefix(KEY_PREFIX).and_then(|text| text.parse::<Value>().ok()) {
        Some(Value::Text(text)) => sink.key(&text),
        Some(key) => {
            key.check_key()?;
            sink.key_value(&key)
        }
        None => sink.key(k),
    }
}

/// A key that is no text, and may hold the notation where its format could not hold a value.
fn pass_key_value<S: Sink>(sink: &mut S, k: &Value, limits: &Limits) -> Result {
    if !matches!(k, Value::Array(_) | Value::Map(_)) {
        return sink.key_value(k);
    }
    let mut unwrapped = Builder::new(limits);
    k.drive(&mut Unwrap::new(&mut unwrapped, limits))?;
    match unwrapped.take().expect("a whole value") {
        Value::Text(text) => sink.key(&text),
        key => sink.key_value(&key),
    }
}

/// The names that open the notation, `$literal` aside.
const NAMES: [&str; 8] =
    ["$binary", "$numberDouble", "$integer", "$decimal", "$time", "$ext", "$surrogates", "$text"];

/// The value that a map stands for, if it is the notation and well formed to the letter.
fn unwrapped(map: &Value, limits: &Limits) -> Option<Value> {
    let Value::Map(pairs) = map else { return None };
    let [(Value::Text(name), content)] = pairs.as_slice() else { return None };
    let text = |value: &Value| match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    let field = |name: &str| match content {
        Value::Map(pairs) => pairs
            .iter()
            .find(|(key, _)| matches!(key, Value::Text(key) if key == name))
            .map(|(_, value)| value),
        _ => None,
    };
    let fields = match content {
        Value::Map(pairs) => pairs.len(),
        _ => 0,
    };
    let base64 = || BASE64.decode(text(field("base64")?)?).ok();
    match name.as_str() {
        "$binary" if fields == 2 && text(field("subType")?)? == "00" => {
            Some(Value::Bytes(base64()?))
        }
        "$numberDouble" => match text(content)?.as_str() {
            "NaN" => Some(Value::F64(f64::NAN)),
            "Infinity" => Some(Value::F64(f64::INFINITY)),
            "-Infinity" => Some(Value::F64(f64::NEG_INFINITY)),
            _ => None,
        },
        "$integer" => integer(&text(content)?, limits),
        "$decimal" => {
            let text = text(content)?;
            crate::json::is_number(&text).then_some(Value::Decimal(text))
        }
        "$time" => match content {
            Value::Text(text) => time::parse_rfc3339(text).map(Value::Timestamp),
            _ if fields == 2 => {
                let Value::Int(seconds) = *field("seconds")? else { return None };
                let Value::Int(nanoseconds) = *field("nanoseconds")? else { return None };
                let nanoseconds = u32::try_from(nanoseconds).ok().filter(|n| *n < 1_000_000_000)?;
                Some(Value::Timestamp(Timestamp { seconds, nanoseconds }))
            }
            _ => None,
        },
        "$ext" if fields == 2 => {
            let Value::Int(kind) = *field("type")? else { return None };
            Some(Value::MsgpackExt(i8::try_from(kind).ok()?, base64()?))
        }
        "$surrogates" if fields == 1 => Some(Value::Surrogates(base64()?)),
        "$text" if fields == 1 => Some(Value::BrokenText(base64()?)),
        _ => None,
    }
}

/// The integer of a text of digits, as narrow as it goes.
fn integer(text: &str, limits: &Limits) -> Option<Value> {
    if let Ok(v) = text.parse::<i64>() {
        return Some(Value::Int(v));
    }
    if let Ok(v) = text.parse::<u64>() {
        return Some(Value::UInt(v));
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let valid = !digits.is_empty()
        && !digits.starts_with('0')
        && digits.len() <= limits.integer_digits as usize
        && digits.bytes().all(|b| b.is_ascii_digit());
    valid.then(|| Value::BigInt { negative, magnitude: number::magnitude(digits) })
}

impl<S: Sink> Sink for Unwrap<S> {
    fn null(&mut self) -> Result {
        self.leaf(|sink| sink.null())
    }
    fn bool(&mut self, v: bool) -> Result {
        self.leaf(|sink| sink.bool(v))
    }
    fn i64(&mut self, v: i64) -> Result {
        self.leaf(|sink| sink.i64(v))
    }
    fn u64(&mut self, v: u64) -> Result {
        self.leaf(|sink| sink.u64(v))
    }
    fn f64(&mut self, v: f64) -> Result {
        self.leaf(|sink| sink.f64(v))
    }
    fn f32(&mut self, v: f32) -> Result {
        self.leaf(|sink| sink.f32(v))
    }
    fn str(&mut self, v: &str) -> Result {
        self.leaf(|sink| sink.str(v))
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.leaf(|sink| sink.bytes(v))
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        self.leaf(|sink| sink.big_int(v))
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        self.leaf(|sink| sink.ext(v))
    }
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        if let Some((builder, depth)) = &mut self.capture {
            *depth += 1;
            return builder.begin_array(len);
        }
        self.not_literal()?;
        self.stack.push(Open::Container);
        self.inner.begin_array(len)
    }
    fn end_array(&mut self) -> Result {
        if let Some((builder, depth)) = &mut self.capture {
            *depth -= 1;
            return builder.end_array();
        }
        self.stack.pop();
        self.inner.end_array()
    }
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        if let Some((builder, depth)) = &mut self.capture {
            *depth += 1;
            return builder.begin_map(len);
        }
        if let Some(open @ Open::LiteralKey) = self.stack.last_mut() {
            *open = Open::LiteralMap;
            self.stack.push(Open::Container);
            return self.inner.begin_map(len);
        }
        self.stack.push(Open::Container);
        self.fresh = Some(len);
        Ok(())
    }
    fn key(&mut self, k: &str) -> Result {
        if let Some((builder, _)) = &mut self.capture {
            return builder.key(k);
        }
        if let Some(len) = self.fresh.take() {
            if k == LITERAL {
                *self.stack.last_mut().expect("a map is open") = Open::LiteralKey;
                return Ok(());
            }
            if NAMES.contains(&k) {
                self.stack.pop();
                let mut builder = Builder::new(&self.limits);
                builder.begin_map(len)?;
                builder.key(k)?;
                self.capture = Some((builder, 1));
                return Ok(());
            }
            self.inner.begin_map(len)?;
        }
        self.check_alone()?;
        pass_key(&mut self.inner, k)
    }
    fn key_value(&mut self, k: &Value) -> Result {
        if let Some((builder, _)) = &mut self.capture {
            return builder.key_value(k);
        }
        self.open_fresh()?;
        self.check_alone()?;
        pass_key_value(&mut self.inner, k, &self.limits)
    }
    fn end_map(&mut self) -> Result {
        if let Some((builder, depth)) = &mut self.capture {
            *depth -= 1;
            builder.end_map()?;
            return if *depth == 0 { self.finish_capture() } else { Ok(()) };
        }
        self.open_fresh()?;
        match self.stack.pop() {
            // The map around the literal one was never passed on.
            Some(Open::LiteralMap) => Ok(()),
            _ => self.inner.end_map(),
        }
    }
    fn fidelity(&mut self) -> &mut crate::Fidelity {
        self.inner.fidelity()
    }
}

impl<S: Writer> Writer for Unwrap<S> {
    forward!(end_document finish checkpoint);

    fn rollback(&mut self) {
        self.stack.clear();
        (self.fresh, self.capture) = (None, None);
        self.inner.rollback();
    }
}
