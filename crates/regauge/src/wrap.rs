//! The wrapped notation, read back: see the table in [`crate::fidelity`].
//!
//! [`Escape`] stands in front of a writer and sees to it that a user's own map is not taken for
//! the notation; [`Unwrap`] stands behind a reader and turns the notation into the values that it
//! stands for. Both are used only with [`OnLoss::Wrap`](crate::OnLoss::Wrap).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::event::{BigInt, Ext, Sink, Timestamp, Type, Writer, forward};
use crate::fidelity::KEY_PREFIX;
use crate::limits::Limits;
use crate::value::{Builder, Value};
use crate::{Error, Result, notation, number, time};

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
        if !may_hold_maps(k) {
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

/// Whether maps can stand in a key.
fn may_hold_maps(k: &Value) -> bool {
    matches!(k, Value::Array(_) | Value::Map(_) | Value::Typed(..) | Value::Anchor(..))
}

/// Turns the notation into what it stands for. A map that is not the notation passes unchanged,
/// also one whose first key happens to start with `$`.
pub struct Unwrap<S> {
    inner: S,
    limits: Limits,
    stack: Vec<Open>,
    /// A map whose first key has not come yet, with its length.
    fresh: Option<Option<u64>>,
    /// A map that may open a type or an anchor.
    opening: Option<Opening>,
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
    /// A type is open: its value comes, or has come.
    Typed,
    /// An anchor is open.
    Anchor,
}

/// What the map that opens a type, or an anchor, has said so far.
enum Opening {
    /// The key has come: `$ruby:object`, `$anchor`.
    Key(String, Option<u64>),
    /// The name or the number too: the key `value` is next.
    Named(String, Option<u64>, Value),
}

impl<S: Sink> Unwrap<S> {
    /// An adapter in front of `inner`. A value under the notation is held in memory within
    /// `limits`.
    pub fn new(inner: S, limits: &Limits) -> Self {
        Unwrap {
            inner,
            limits: *limits,
            stack: Vec::new(),
            fresh: None,
            opening: None,
            capture: None,
        }
    }

    /// An event that is not a key has come: a fresh map can only have ended, which is handled by
    /// `end_map`, so nothing waits here but a capture.
    fn leaf(&mut self, event: impl FnOnce(&mut dyn Sink) -> Result) -> Result {
        if let Some((builder, _)) = &mut self.capture {
            return event(builder);
        }
        if self.opening.is_some() {
            return self.name(event);
        }
        self.not_literal()?;
        event(&mut self.inner)
    }

    /// The first value of a map that may open a type has come: its name, or the anchor's number.
    #[cold]
    fn name(&mut self, event: impl FnOnce(&mut dyn Sink) -> Result) -> Result {
        let Some(Opening::Key(key, len)) = self.opening.take() else {
            unreachable!("a key follows the name")
        };
        let mut builder = Builder::new(&self.limits);
        event(&mut builder)?;
        let name = builder.take().expect("a leaf is a whole value");
        let fits = match &name {
            Value::Text(_) => key != ANCHOR,
            Value::Int(id) => key == ANCHOR && *id > 0,
            _ => false,
        };
        if fits {
            self.opening = Some(Opening::Named(key, len, name));
            return Ok(());
        }
        self.inner.begin_map(len)?;
        self.inner.key(&key)?;
        name.drive(&mut self.inner)
    }

    /// A map that began as one that opens a type is none: its events so far, as they were.
    #[cold]
    fn not_typed(&mut self) -> Result {
        match self.opening.take() {
            None => Ok(()),
            Some(Opening::Key(key, len)) => {
                self.inner.begin_map(len)?;
                self.inner.key(&key)
            }
            Some(Opening::Named(key, len, name)) => {
                self.inner.begin_map(len)?;
                self.inner.key(&key)?;
                name.drive(&mut self.inner)
            }
        }
    }

    /// The key after a name has come: is it `value`?
    #[cold]
    fn open_typed(&mut self, k: &str) -> Result<bool> {
        if k != VALUE {
            self.not_typed()?;
            return Ok(false);
        }
        let Some(Opening::Named(key, _, name)) = self.opening.take() else {
            unreachable!("a key comes after the name")
        };
        let open = self.stack.last_mut().expect("a map is open");
        match name {
            Value::Int(id) => {
                *open = Open::Anchor;
                self.inner.begin_anchor(id.unsigned_abs())?;
            }
            Value::Text(name) => {
                *open = Open::Typed;
                let (origin, kind) = notation::parse_type_key(&key).expect("checked before");
                self.inner.begin_typed(&Type { origin, kind, name: &name })?;
            }
            _ => unreachable!("checked before"),
        }
        Ok(true)
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
        match self.stack.last() {
            Some(Open::LiteralMap) => Err(second_key("`$literal`")),
            Some(Open::Typed | Open::Anchor) => Err(second_key("`value` in a map with a type")),
            _ => Ok(()),
        }
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
                    [(Value::Text(key), Value::Text(name)), (Value::Text(next), content)]
                        if next == VALUE && notation::parse_type_key(key).is_some() =>
                    {
                        let (origin, kind) = notation::parse_type_key(key).expect("just parsed");
                        self.inner.begin_typed(&Type { origin, kind, name })?;
                        self.replay(content)?;
                        self.inner.end_typed()
                    }
                    [(Value::Text(key), Value::Int(id @ 1..)), (Value::Text(next), content)]
                        if next == VALUE && key == ANCHOR =>
                    {
                        self.inner.begin_anchor(id.unsigned_abs())?;
                        self.replay(content)?;
                        self.inner.end_anchor()
                    }
                    [(Value::Text(name), content @ Value::Map(_)), rest @ ..]
                        if name == LITERAL =>
                    {
                        if !rest.is_empty() {
                            return Err(second_key("`$literal`"));
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
fn second_key(beside: &str) -> Error {
    Error::syntax(format!("found a second key beside {beside}, expected none"))
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
    if !may_hold_maps(k) {
        return sink.key_value(k);
    }
    let mut unwrapped = Builder::new(limits);
    k.drive(&mut Unwrap::new(&mut unwrapped, limits))?;
    match unwrapped.take().expect("a whole value") {
        Value::Text(text) => sink.key(&text),
        key => sink.key_value(&key),
    }
}

/// The key of an anchor's number.
const ANCHOR: &str = "$anchor";

/// The key of the value in a type or an anchor.
const VALUE: &str = "value";

/// The names that open the notation, beside those in [`notation`], `$literal` and the openings of
/// types and anchors.
const NAMES: [&str; 8] =
    ["$numberDouble", "$integer", "$decimal", "$time", "$ext", "$surrogates", "$text", "$alias"];

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
        "$numberDouble" => notation::non_finite(&text(content)?).map(Value::F64),
        "$alias" => match content {
            Value::Int(id @ 1..) => Some(Value::Alias(id.unsigned_abs())),
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
        // What is text after all only looks like these: it would be written as what it is.
        "$surrogates" if fields == 1 => {
            base64().filter(|bytes| has_lone_surrogates(bytes)).map(Value::Surrogates)
        }
        "$text" if fields == 1 => {
            base64().filter(|bytes| std::str::from_utf8(bytes).is_err()).map(Value::BrokenText)
        }
        name => notation::read(name, content),
    }
}

/// Whether bytes are UTF-8 but for surrogates, none of them in a pair, and there is one at least
/// (WTF-8, §3).
fn has_lone_surrogates(bytes: &[u8]) -> bool {
    let (mut rest, mut found, mut high) = (bytes, false, false);
    loop {
        let Err(error) = std::str::from_utf8(rest) else { return found };
        let valid = error.valid_up_to();
        let [0xED, second @ 0xA0..=0xBF, 0x80..=0xBF, behind @ ..] = &rest[valid..] else {
            return false;
        };
        let low = *second >= 0xB0;
        if low && high && valid == 0 {
            return false;
        }
        (found, high, rest) = (true, !low, behind);
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
        self.not_typed()?;
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
        self.not_typed()?;
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
        if self.opening.is_some() && self.open_typed(k)? {
            return Ok(());
        }
        if let Some(len) = self.fresh.take() {
            if k == LITERAL {
                *self.stack.last_mut().expect("a map is open") = Open::LiteralKey;
                return Ok(());
            }
            if k == ANCHOR || k.starts_with('$') && notation::parse_type_key(k).is_some() {
                self.opening = Some(Opening::Key(k.to_owned(), len));
                return Ok(());
            }
            if k.starts_with('$') && (NAMES.contains(&k) || notation::NAMES.contains(&k)) {
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
        self.not_typed()?;
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
        self.not_typed()?;
        self.open_fresh()?;
        match self.stack.pop() {
            // The map around the literal one was never passed on.
            Some(Open::LiteralMap) => Ok(()),
            Some(Open::Typed) => self.inner.end_typed(),
            Some(Open::Anchor) => self.inner.end_anchor(),
            _ => self.inner.end_map(),
        }
    }
    // A source with types of its own may hold the notation of others in them.
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        match &mut self.capture {
            Some((builder, _)) => builder.begin_typed(t),
            None => {
                self.not_typed()?;
                self.not_literal()?;
                self.inner.begin_typed(t)
            }
        }
    }
    fn end_typed(&mut self) -> Result {
        match &mut self.capture {
            Some((builder, _)) => builder.end_typed(),
            None => self.inner.end_typed(),
        }
    }
    fn holds_references(&mut self) -> bool {
        self.inner.holds_references()
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        match &mut self.capture {
            Some((builder, _)) => builder.begin_anchor(id),
            None => {
                self.not_typed()?;
                self.not_literal()?;
                self.inner.begin_anchor(id)
            }
        }
    }
    fn end_anchor(&mut self) -> Result {
        match &mut self.capture {
            Some((builder, _)) => builder.end_anchor(),
            None => self.inner.end_anchor(),
        }
    }
    fn alias(&mut self, id: u64) -> Result {
        self.leaf(|sink| sink.alias(id))
    }
    fn fidelity(&mut self) -> &mut crate::Fidelity {
        self.inner.fidelity()
    }
}

impl<S: Writer> Writer for Unwrap<S> {
    forward!(end_document finish checkpoint);

    fn rollback(&mut self) {
        self.stack.clear();
        (self.fresh, self.opening, self.capture) = (None, None, None);
        self.inner.rollback();
    }
}
