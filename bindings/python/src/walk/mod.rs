//! Turns Python objects into events: the source of `dumps`.
//!
//! The types that make up nearly all data are recognised by their pointer and handled here; for
//! other types, `regauge._lower.lower` decides, called from [`lower`].

mod keys;
mod list;
mod lower;
mod shared;

use pyo3::prelude::*;
use regauge::event::{Ext, Sink};
use regauge::path::{Path, Step};
use regauge::{Error, ErrorKind, Format, Limits, Result};

use crate::dialect::Special;
use crate::raw::inside::{HeldPairs, Pairs};
use crate::raw::number::Whole;
use crate::raw::view::{self, Kind, Text};
use crate::raw::{container, number};
use keys::Keys;
use shared::Shared;

type Object<'py> = Bound<'py, PyAny>;

/// Writes a value that cannot run Python code; breaks to the label for any other.
macro_rules! leaf {
    ($apart:lifetime, $kind:expr, $object:expr, $sink:expr) => {
        match $kind {
            Kind::Text => match view::text_of($object) {
                Text::Short(text) => $sink.short_str(text),
                Text::Long(text) => $sink.str(text),
                Text::Broken => break $apart,
            },
            Kind::Int => match number::small($object) {
                Some(v) => $sink.i64(v),
                None => break $apart,
            },
            Kind::Float => $sink.f64(number::double($object)),
            Kind::Constant => $sink.constant(view::constant($object)),
            _ => break $apart,
        }
    };
}
use leaf;

/// Walks objects, and drives a sink with their content.
pub struct Walker<'py> {
    py: Python<'py>,
    format: Format,
    depth: u32,
    limits: Limits,
    /// Whether map keys are sorted.
    pub sort_keys: bool,
    /// Called for unknown objects.
    pub default: Option<Object<'py>>,
    /// The conversions to call in place of `regauge._values`.
    pub values: Option<Object<'py>>,
    /// What else they decide.
    pub special: Special,
    /// Whether the sink may run Python code, which every event could then do.
    pub sink_runs_python: bool,
    /// How many times Python code may have run: iterations over a table then look it up again.
    ran: u64,
    asked: Asked,
    shared: Shared<'py>,
    raised: Option<PyErr>,
    /// The steps to the failing value, innermost first.
    steps: Vec<Step>,
}

/// How many times in a row `default` was called for its own result.
#[derive(Clone, Copy, Default)]
struct Asked {
    times: u32,
    /// The depth of that result.
    depth: u32,
}

/// How often `default` may be called for its own results.
const ASKED_MAX: u32 = 64;

impl<'py> Walker<'py> {
    /// Creates a walker of documents for `format`.
    pub fn new(py: Python<'py>, format: Format, limits: Limits) -> Walker<'py> {
        Walker {
            py,
            format,
            depth: 0,
            limits,
            sort_keys: false,
            default: None,
            values: None,
            special: Special::default(),
            sink_runs_python: false,
            ran: 0,
            asked: Asked::default(),
            shared: Shared::None,
            raised: None,
            steps: Vec::new(),
        }
    }

    /// Drives `sink` with one document.
    ///
    /// # Errors
    /// The sink's, with the path; `Unrepresentable` for an object of an unknown type; Python's
    /// exception is in [`raised`](Walker::raised).
    #[inline]
    pub fn document<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        (self.depth, self.asked) = (0, Asked::default());
        self.steps.clear();
        self.value(object, sink).map_err(|error| self.placed(error))
    }

    /// Returns Python's exception, if that is why a document failed.
    pub fn raised(&mut self) -> Option<PyErr> {
        self.raised.take()
    }

    #[cold]
    fn placed(&mut self, error: Error) -> Error {
        self.steps.reverse();
        error.at_path(Path(std::mem::take(&mut self.steps)))
    }

    #[cold]
    fn raise(&mut self, raised: PyErr) -> Error {
        self.raised = Some(raised);
        Error::new(ErrorKind::Io, "Python raised an exception")
    }

    #[cold]
    fn python(&mut self) -> Error {
        let raised = PyErr::fetch(self.py);
        self.raise(raised)
    }

    /// Walks a value that its caller holds.
    #[inline(never)]
    fn value<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        let kind = view::kind(object);
        'apart: {
            return leaf!('apart, kind, object, sink);
        }
        self.apart(kind, object, sink)
    }

    /// Walks a value that is not a [`leaf`], held by its caller.
    #[inline(always)]
    fn apart<S: Sink + ?Sized>(
        &mut self,
        kind: Kind,
        object: &Object<'py>,
        sink: &mut S,
    ) -> Result {
        if let Some(done) = self.bare(kind, object, sink) {
            return done;
        }
        match kind {
            Kind::Dict => self.dict(object, sink),
            Kind::List => self.list(object, Kind::List, sink),
            _ => self.rare(kind, object, sink),
        }
    }

    /// Writes a dict or list if it is empty, and nothing else needs to be known about it.
    #[inline(always)]
    fn bare<S: Sink + ?Sized>(
        &mut self,
        kind: Kind,
        object: &Object<'py>,
        sink: &mut S,
    ) -> Option<Result> {
        let count = match kind {
            Kind::Dict => container::dict_len(object),
            Kind::List => view::count(object, kind),
            _ => return None,
        };
        if count > 0 || !matches!(self.shared, Shared::None) || self.depth >= self.limits.depth {
            return None;
        }
        Some(match kind {
            Kind::Dict => sink.begin_map(Some(0)).and_then(|()| sink.end_map()),
            _ => sink.begin_array(Some(0)).and_then(|()| sink.end_array()),
        })
    }

    #[inline(never)]
    fn rare<S: Sink + ?Sized>(&mut self, kind: Kind, object: &Object<'py>, sink: &mut S) -> Result {
        // Held, because its processing may change its container.
        let object = &object.clone();
        match kind {
            Kind::Tuple if !self.special.tuples => self.tuple(object, sink),
            Kind::Bytes if !self.special.bytes => self.bytes(object, sink),
            Kind::Int => self.large(object, sink),
            Kind::Text => self.surrogates(object, sink),
            _ => self.other(object, sink),
        }
    }

    fn bytes<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        match object.cast::<pyo3::types::PyBytes>() {
            Ok(bytes) => sink.bytes(bytes.as_bytes()),
            Err(_) => Ok(()),
        }
    }

    /// Handles text that UTF-8 cannot represent.
    #[cold]
    fn surrogates<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        if self.special.surrogates {
            return self.other(object, sink);
        }
        let bytes = self.generalized(object)?;
        sink.ext(Ext::Surrogates(&bytes))
    }

    /// Returns the generalized UTF-8 of a text.
    #[cold]
    fn generalized(&mut self, object: &Object<'py>) -> Result<Vec<u8>> {
        self.ran += 1;
        let encoded = object.call_method1("encode", ("utf-8", "surrogatepass"));
        let bytes = encoded.and_then(|bytes| bytes.extract::<Vec<u8>>());
        bytes.map_err(|raised| self.raise(raised))
    }

    /// Handles an integer that is not [`small`](number::small).
    fn large<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        self.ran += 1;
        match number::whole(object) {
            Whole::Int(v) => sink.i64(v),
            Whole::UInt(v) => sink.u64(v),
            Whole::Failed => Err(self.python()),
            Whole::Big if self.special.ints => self.other(object, sink),
            Whole::Big => {
                let (negative, magnitude) =
                    lower::magnitude(object).map_err(|raised| self.raise(raised))?;
                sink.big_int(regauge::BigInt::Binary { negative, magnitude: &magnitude })
            }
        }
    }

    #[inline(always)]
    fn enter(&mut self) -> Result {
        if self.depth >= self.limits.depth {
            return Err(self.too_deep());
        }
        self.depth += 1;
        Ok(())
    }

    #[cold]
    fn too_deep(&self) -> Error {
        let most = self.limits.depth;
        Error::limit(format!(
            "found more than {most} nested containers, the limit of depth; an object may hold itself"
        ))
        .hint_depth(most)
    }

    /// Returns whether tables need not be looked up again for each value.
    #[inline(always)]
    fn may_go_along(&self) -> bool {
        !self.sink_runs_python
    }

    /// Returns whether a container may have changed since it was started, when `ran` was recorded.
    /// Without the GIL a copy is walked: changes by other threads do not matter, but a change by
    /// our own calls is an error, as it is elsewhere.
    #[inline(always)]
    fn may_have_changed(&self, ran: u64) -> bool {
        cfg!(not(Py_GIL_DISABLED)) || self.ran != ran || self.sink_runs_python
    }

    /// Every step outwards adds itself to the path.
    #[cold]
    fn failed_at(&mut self, error: Error, step: Step) -> Error {
        self.steps.push(step);
        error
    }

    #[inline(never)]
    fn dict<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        // Held, because its content may change its container.
        let object = &object.clone();
        if self.is_shared(object) && self.anchor(object, sink)? {
            return Ok(());
        }
        if self.sort_keys {
            self.sorted(object, sink)?;
            return self.end_anchor(object, sink);
        }
        self.enter()?;
        let Some(mut pairs) = self.may_go_along().then(|| Pairs::new(object)).flatten() else {
            return self.dict_step_by_step(object, sink);
        };
        let count = container::dict_len(object);
        sink.begin_map(Some(count as u64))?;
        let mut left = count;
        let mut ran = self.ran;
        while let Some((key, value)) = pairs.next() {
            if left == 0 {
                return Err(changed("dict"));
            }
            left -= 1;
            match view::text_of(&key) {
                Text::Short(text) => sink.short_key(text)?,
                Text::Long(text) => sink.key(text)?,
                Text::Broken => {
                    // Finding that out may have run Python code.
                    self.ran += 1;
                    return self.rest_of_dict(object, (count, left + 1), sink);
                }
            }
            let of = view::kind(&value);
            let done = 'done: {
                'apart: {
                    break 'done leaf!('apart, of, &value, sink);
                }
                if of == Kind::Text {
                    self.ran += 1;
                    let Some((key, value)) = pairs.clone().again() else {
                        return Err(changed("dict"));
                    };
                    let done = self.value(&value, sink);
                    done.map_err(|error| self.failed_under(error, &key))?;
                } else {
                    // Held, because the value's content may change its container.
                    let key = &(*key).clone();
                    let done = self.apart(of, &value, sink);
                    done.map_err(|error| self.failed_under(error, key))?;
                }
                if self.ran != ran {
                    ran = self.ran;
                    if !pairs.renew() {
                        return Err(changed("dict"));
                    }
                }
                Ok(())
            };
            done.map_err(|error| self.failed_under(error, &key))?;
        }
        self.end_dict(object, left, container::dict_len(object) != count, sink)
    }

    #[inline(always)]
    fn end_dict<S: Sink + ?Sized>(
        &mut self,
        object: &Object<'py>,
        left: usize,
        has_changed: bool,
        sink: &mut S,
    ) -> Result {
        if left != 0 || has_changed {
            return Err(changed("dict"));
        }
        sink.end_map()?;
        self.depth -= 1;
        self.end_anchor(object, sink)
    }

    /// Walks a dict of any layout, using Python's own iteration.
    #[inline(never)]
    fn dict_step_by_step<S: Sink + ?Sized>(
        &mut self,
        object: &Object<'py>,
        sink: &mut S,
    ) -> Result {
        let Some((pairs, count)) = HeldPairs::new(object) else { return Err(self.python()) };
        sink.begin_map(Some(count as u64))?;
        self.held_pairs(object, pairs, (count, count), sink)
    }

    /// Walks the last `left` pairs of a dict that had `count` of them, from one whose key is not plain text.
    #[cold]
    #[inline(never)]
    fn rest_of_dict<S: Sink + ?Sized>(
        &mut self,
        object: &Object<'py>,
        (count, left): (usize, usize),
        sink: &mut S,
    ) -> Result {
        let Some((mut pairs, now)) = HeldPairs::new(object) else { return Err(self.python()) };
        if now != count {
            return Err(changed("dict"));
        }
        for _ in left..count {
            pairs.next();
        }
        self.held_pairs(object, pairs, (count, left), sink)
    }

    /// Walks `left` pairs of a dict, which had `count` of them.
    fn held_pairs<S: Sink + ?Sized>(
        &mut self,
        object: &Object<'py>,
        mut pairs: HeldPairs<'py>,
        (count, mut left): (usize, usize),
        sink: &mut S,
    ) -> Result {
        let (mut keys, ran) = (Keys::new(object), self.ran);
        while let Some((key, value)) = pairs.next() {
            if left == 0 {
                return Err(changed("dict"));
            }
            left -= 1;
            self.pair(Some(&mut keys), (&key, &value), sink)?;
        }
        let has_changed = self.may_have_changed(ran) && container::dict_len(object) != count;
        self.end_dict(object, left, has_changed, sink)
    }

    /// Walks a key and a value that the caller holds, of a dict if they are of one.
    #[inline(never)]
    fn pair<S: Sink + ?Sized>(
        &mut self,
        keys: Option<&mut Keys<'_, 'py>>,
        (key, value): (&Object<'py>, &Object<'py>),
        sink: &mut S,
    ) -> Result {
        match view::kind(key) {
            Kind::Text => match view::text_of(key) {
                Text::Short(text) => sink.short_key(text)?,
                Text::Long(text) => sink.key(text)?,
                Text::Broken => self.other_key(keys, key, sink)?,
            },
            _ => self.other_key(keys, key, sink)?,
        }
        self.value(value, sink).map_err(|error| self.failed_under(error, key))
    }

    #[cold]
    fn failed_under(&mut self, error: Error, key: &Object<'py>) -> Error {
        let step = self.step(key);
        self.failed_at(error, step)
    }

    #[cold]
    fn step(&self, key: &Object<'py>) -> Step {
        let shown = match view::kind(key) {
            Kind::Text => view::text(key).map(str::to_owned),
            _ => None,
        };
        let shown = shown.or_else(|| key.repr().ok().map(|repr| repr.to_string()));
        Step::Key(shown.unwrap_or_default().into())
    }

    /// Returns the pairs of a dict, sorted by key.
    #[inline(never)]
    fn sorted<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        self.enter()?;
        let Some((mut pairs, count)) = HeldPairs::new(object) else { return Err(self.python()) };
        let mut list = Vec::with_capacity(count);
        while let Some(pair) = pairs.next() {
            list.push(pair);
        }
        // Text by its characters, whose order is that of its UTF-8; other keys follow, by their
        // representation.
        let mut ran = false;
        list.sort_by_cached_key(|(key, _)| {
            let is_text = view::kind(key) == Kind::Text;
            if is_text && let Some(text) = view::text(key) {
                return (false, text.to_owned());
            }
            ran = true;
            let shown = (!is_text).then(|| key.repr().ok()).flatten();
            (!is_text, shown.map(|repr| repr.to_string()).unwrap_or_default())
        });
        // A key's representation may run its own code.
        self.ran += u64::from(ran);
        sink.begin_map(Some(list.len() as u64))?;
        let mut keys = Keys::new(object);
        for (key, value) in &list {
            self.pair(Some(&mut keys), (key, value), sink)?;
        }
        sink.end_map()?;
        self.depth -= 1;
        Ok(())
    }

    #[inline(never)]
    fn tuple<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        if self.format != Format::Pickle {
            return self.list(object, Kind::Tuple, sink);
        }
        let object = &object.clone();
        // The type is a part of the value, so it is within the anchor.
        if self.is_shared(object) && self.anchor(object, sink)? {
            return Ok(());
        }
        sink.begin_typed(&lower::TUPLE)?;
        self.items(object, Kind::Tuple, sink)?;
        sink.end_typed()?;
        self.end_anchor(object, sink)
    }
}

/// Creates the error for a container that changed while it was written.
#[cold]
fn changed(what: &str) -> Error {
    Error::unrepresentable(format!("the {what} changed its size while it was written"))
}
