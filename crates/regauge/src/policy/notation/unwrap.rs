//! The adapter that reads the notation back: maps become the values that they stand for.
//!
//! It is used only when the caller says that the input is in the notation, with
//! [`Options::unwrap`](crate::Options::unwrap). A document does not state whether it is in the
//! notation, so a reader that guessed would change plain data.

use super::escape::{LITERAL, may_hold_maps};
use crate::model::hint::Hint;
use crate::model::limits::Limits;
use crate::model::number;
use crate::model::option::Opt;
use crate::model::value::Value;
use crate::policy::event::{Ext, Sink, Type, Writer, forward, leaves};
use crate::policy::fidelity::KEY_PREFIX;
use crate::policy::notation;
use crate::policy::tree::Builder;
use crate::{Error, Result};

/// Turns the notation into the values that it stands for, and refuses anything else.
///
/// In the output of [`Escape`](super::Escape), only the notation's own maps have a first key that
/// starts with `$`. Any other such map shows that the document is not in the notation, or is
/// broken.
pub struct Unwrap<S> {
    inner: S,
    limits: Limits,
    stack: Vec<Open>,
    /// A map before its first key, with its length.
    fresh: Option<Option<u64>>,
    /// A map that opens a type or an anchor.
    opening: Option<Opening>,
    /// A map that stands for a value, and how many containers are open in it.
    capture: Option<(Builder, usize)>,
    /// Whether decimals are just how the source spells its numbers.
    numbers_as_decimals: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Open {
    Container,
    /// After a `$literal` key: the next map is its content.
    LiteralKey,
    /// The map under `$literal`.
    LiteralMap,
    /// A type is open, before or after its value.
    Typed,
    /// An anchor is open.
    Anchor,
    /// A map that stands around a document that is no map: nothing of it is passed on.
    Bare,
}

/// The parts read so far of a map that opens a type or an anchor.
enum Opening {
    /// The key: `$ruby:object`, `$anchor`.
    Key(String),
    /// The key with its name or number: the key `value` is next.
    Named(String, Value),
}

/// The key of an anchor's number.
const ANCHOR: &str = "$anchor";

/// The key of a document that is no map, where documents are maps.
const DOCUMENT: &str = "$value";

/// The key of the value in a type or an anchor.
const VALUE: &str = "value";

impl<S: Sink> Unwrap<S> {
    /// Creates an adapter in front of `inner`. A value under the notation is held in memory within
    /// `limits`.
    pub fn new(inner: S, limits: &Limits) -> Self {
        Unwrap {
            inner,
            limits: *limits,
            stack: Vec::new(),
            fresh: None,
            opening: None,
            capture: None,
            numbers_as_decimals: false,
        }
    }

    /// Adapts to a reader that sends its numbers as decimals, such as JSON's with exact numbers: a
    /// number that a double prints the same way becomes that double, because real decimals are in
    /// the notation.
    pub fn with_numbers_as_decimals(mut self) -> Self {
        self.numbers_as_decimals = true;
        self
    }

    /// Returns the inner sink.
    pub(crate) fn inner(&mut self) -> &mut S {
        &mut self.inner
    }

    /// Handles a scalar.
    fn leaf(&mut self, event: impl FnOnce(&mut dyn Sink) -> Result) -> Result {
        if let Some((builder, _)) = &mut self.capture {
            return event(builder);
        }
        if self.opening.is_some() {
            return self.name(event);
        }
        self.check_no_literal()?;
        event(&mut self.inner)
    }

    /// Handles the first value of a map that opens a type: its name, or the anchor's number.
    #[cold]
    fn name(&mut self, event: impl FnOnce(&mut dyn Sink) -> Result) -> Result {
        let Some(Opening::Key(key)) = self.opening.take() else {
            unreachable!("a key follows the name")
        };
        let mut builder = Builder::new(&self.limits);
        event(&mut builder)?;
        let name = match builder.take().expect("a leaf is a whole value") {
            text @ Value::Text(_) if key != ANCHOR => text,
            id if key == ANCHOR => match notation::int(&id) {
                Some(id @ 1..) => Value::Int(id),
                _ => return Err(malformed(&key)),
            },
            _ => return Err(malformed(&key)),
        };
        self.opening = Some(Opening::Named(key, name));
        Ok(())
    }

    /// Handles the key after a name, which must be `value`.
    #[cold]
    fn open_typed(&mut self, opening: Opening, k: &str) -> Result {
        let (key, name) = match opening {
            Opening::Named(key, name) if k == VALUE => (key, name),
            Opening::Named(key, _) | Opening::Key(key) => return Err(malformed(&key)),
        };
        let open = self.stack.last_mut().expect("a map is open");
        match name {
            Value::Int(id) => {
                *open = Open::Anchor;
                self.inner.begin_anchor(id.unsigned_abs())
            }
            Value::Text(name) => {
                *open = Open::Typed;
                let (origin, kind) = notation::parse_type_key(&key).expect("checked before");
                self.inner.begin_typed(&Type { origin, kind, name: &name })
            }
            _ => unreachable!("checked before"),
        }
    }

    /// Refuses a container in place of a name.
    fn check_no_opening(&self) -> Result {
        match &self.opening {
            None => Ok(()),
            Some(Opening::Key(key) | Opening::Named(key, _)) => Err(malformed(key)),
        }
    }

    /// Refuses a value other than a map under `$literal`.
    fn check_no_literal(&self) -> Result {
        match self.stack.last() {
            Some(Open::LiteralKey) => Err(malformed(LITERAL)),
            _ => Ok(()),
        }
    }

    /// Refuses a key after a complete `$literal` map.
    fn check_alone(&self) -> Result {
        match self.stack.last() {
            Some(Open::LiteralMap) => Err(second_key("`$literal`")),
            Some(Open::Bare) => Err(second_key("`$value`")),
            Some(Open::Typed | Open::Anchor) => Err(second_key("`value` in a map with a type")),
            _ => Ok(()),
        }
    }

    fn open_fresh(&mut self) -> Result {
        match self.fresh.take() {
            Some(len) => self.inner.begin_map(len),
            None => Ok(()),
        }
    }

    /// Handles the first key of a map that starts with `$`: decides what the map is.
    #[cold]
    fn begin_notation(&mut self, k: &str, len: Option<u64>) -> Result {
        if k == LITERAL {
            *self.stack.last_mut().expect("a map is open") = Open::LiteralKey;
            return Ok(());
        }
        if k == DOCUMENT && self.stack.len() == 1 {
            self.stack[0] = Open::Bare;
            return Ok(());
        }
        if k == ANCHOR || notation::parse_type_key(k).is_some() {
            self.opening = Some(Opening::Key(k.to_owned()));
            return Ok(());
        }
        if !notation::is_name(k) {
            return Err(unknown(k));
        }
        self.stack.pop();
        let mut builder = Builder::new(&self.limits);
        builder.begin_map(len)?;
        builder.key(k)?;
        self.capture = Some((builder, 1));
        Ok(())
    }

    /// Finishes the captured map.
    #[cold]
    fn finish_capture(&mut self) -> Result {
        let (mut builder, _) = self.capture.take().expect("a capture is open");
        let map = builder.take().expect("the map is whole");
        if let Some(value) = notation::meaning(&map, &self.limits) {
            return value.drive(&mut self.inner);
        }
        let Value::Map(pairs) = &map else { unreachable!("a map was captured") };
        match pairs.first() {
            Some((Value::Text(name), _)) => Err(malformed(name)),
            _ => unreachable!("it begins with a name"),
        }
    }
}

/// Returns the remedy for a document that was never in the notation.
fn hint() -> Hint {
    Hint::without("read", Opt::Unwrap).when("the input is not in the notation")
}

#[cold]
fn malformed(name: &str) -> Error {
    Error::syntax(format!(
        "found a map that begins with `{name}` but does not match the notation of that name"
    ))
    .hint(hint())
}

#[cold]
fn unknown(name: &str) -> Error {
    let shown = crate::model::text::shorten(name);
    Error::syntax(format!(
        "found a map that begins with `{shown}`, expected a name of the wrapped notation"
    ))
    .hint(hint())
}

#[cold]
fn second_key(beside: &str) -> Error {
    Error::syntax(format!("found a second key next to {beside}, expected none")).hint(hint())
}

/// Passes on a key of a plain map: text, or a non-text key in its notation.
fn pass_key<S: Sink>(sink: &mut S, k: &str) -> Result {
    let Some(text) = k.strip_prefix(KEY_PREFIX) else { return sink.key(k) };
    match text.parse::<Value>() {
        Ok(Value::Text(text)) => sink.key(&text),
        Ok(key) => {
            key.check_key()?;
            sink.key_value(&key)
        }
        Err(error) if error.kind() == crate::ErrorKind::Limit => Err(error),
        Err(_) => {
            let shown = crate::model::text::shorten(k);
            Err(Error::syntax(format!("found the key `{shown}`, expected a value after `$key:`"))
                .hint(hint()))
        }
    }
}

/// Passes on a key that is not text, and may contain the notation if its format could not hold a
/// value.
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

impl<S: Sink> Sink for Unwrap<S> {
    leaves!();

    fn ext(&mut self, v: Ext<'_>) -> Result {
        if self.numbers_as_decimals
            && let Ext::Decimal(text) = v
            && let Some(double) = number::double_of_same_digits(text)
        {
            return self.f64(double);
        }
        self.leaf(|sink| sink.ext(v))
    }
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        if let Some((builder, depth)) = &mut self.capture {
            *depth += 1;
            return builder.begin_array(len);
        }
        self.check_no_opening()?;
        self.check_no_literal()?;
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
        self.check_no_opening()?;
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
        if let Some(opening) = self.opening.take() {
            return self.open_typed(opening, k);
        }
        if let Some(len) = self.fresh.take() {
            if k.starts_with('$') && !k.starts_with(KEY_PREFIX) {
                return self.begin_notation(k, len);
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
        self.check_no_opening()?;
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
        self.check_no_opening()?;
        self.open_fresh()?;
        match self.stack.pop() {
            // The map around the literal one was never sent.
            Some(Open::LiteralMap | Open::Bare) => Ok(()),
            Some(Open::Typed) => self.inner.end_typed(),
            Some(Open::Anchor) => self.inner.end_anchor(),
            _ => self.inner.end_map(),
        }
    }
    // A source with types of its own may contain the notation of other types inside them.
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        match &mut self.capture {
            Some((builder, _)) => builder.begin_typed(t),
            None => {
                self.check_no_opening()?;
                self.check_no_literal()?;
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
                self.check_no_opening()?;
                self.check_no_literal()?;
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

    fn columns(&mut self, row: &Value) -> Result {
        let mut changed = Builder::new(&self.limits);
        // Names of the notation without its values are names: no row says what they stand for.
        let is_undone = row.drive(&mut Unwrap::new(&mut changed, &self.limits)).is_ok();
        let changed = changed.take().filter(|_| is_undone);
        self.inner.columns(changed.as_ref().unwrap_or(row))
    }
    fn rollback(&mut self) {
        self.stack.clear();
        (self.fresh, self.opening, self.capture) = (None, None, None);
        self.inner.rollback();
    }
}
