//! Python objects to events: the source of `dumps`.
//!
//! The types that nearly all data is made of are told apart by their pointer and walked here; what
//! other types become is said by `regauge._values.lower`, in [`lower`].

mod lower;
mod shared;

use pyo3::prelude::*;
use regauge::event::{Ext, Sink};
use regauge::path::{Path, Step};
use regauge::value::Builder as ValueBuilder;
use regauge::{Error, ErrorKind, Format, Limits, Result, Value};

use crate::raw::number::Whole;
use crate::raw::view::{self, Kind, Pairs, Text};
use crate::raw::{container, number};
use shared::Shared;

type Object<'py> = Bound<'py, PyAny>;

/// Walks objects, and drives a sink with what is in them.
pub struct Walker<'py> {
    py: Python<'py>,
    format: Format,
    depth: u32,
    limits: Limits,
    /// Whether the keys of maps come in order.
    pub sort_keys: bool,
    /// Called for what nothing else is known of.
    pub default: Option<Object<'py>>,
    /// How many times in a row `default` gave something to ask it for again.
    asked: u32,
    shared: Shared<'py>,
    raised: Option<PyErr>,
    /// The steps to where it failed, the innermost first.
    steps: Vec<Step>,
}

/// So many values ahead of the one at hand memory is asked for.
const AHEAD: usize = 4;

/// How often `default` may be asked for what it has given itself.
const ASKED_MAX: u32 = 64;

impl<'py> Walker<'py> {
    /// A walker of documents that become `format`.
    pub fn new(py: Python<'py>, format: Format, limits: Limits) -> Walker<'py> {
        Walker {
            py,
            format,
            depth: 0,
            limits,
            sort_keys: false,
            default: None,
            asked: 0,
            shared: Shared::None,
            raised: None,
            steps: Vec::new(),
        }
    }

    /// Drives `sink` with one document.
    ///
    /// # Errors
    /// The sink's, with the path; `Unrepresentable` for an object of an unknown type; what Python
    /// raised is in [`raised`](Walker::raised).
    #[inline]
    pub fn document<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        (self.depth, self.asked) = (0, 0);
        self.steps.clear();
        self.value(object, sink).map_err(|error| self.placed(error))
    }

    /// What Python raised, if that is why a document failed.
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

    #[inline(always)]
    fn value<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        match view::kind(object) {
            Kind::Text => match view::text_of(object) {
                Text::Short(text) => sink.short_str(text),
                Text::Long(text) => sink.str(text),
                Text::Broken => self.surrogates(object, sink),
            },
            Kind::Int => match number::whole(object) {
                Whole::Int(v) => sink.i64(v),
                _ => self.large(object, sink),
            },
            Kind::Float => sink.f64(number::double(object)),
            Kind::Dict => self.dict(object, sink),
            Kind::List => self.list(object, Kind::List, sink),
            Kind::Tuple => self.tuple(object, sink),
            Kind::Null => sink.null(),
            Kind::Bool => sink.bool(view::is_true(object)),
            Kind::Bytes => self.bytes(object, sink),
            Kind::Other => self.other(object, sink),
        }
    }

    #[inline(never)]
    fn bytes<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        match object.cast::<pyo3::types::PyBytes>() {
            Ok(bytes) => sink.bytes(bytes.as_bytes()),
            Err(_) => Ok(()),
        }
    }

    /// Text that no UTF-8 can hold.
    #[cold]
    fn surrogates<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        let bytes = self.generalized(object)?;
        sink.ext(Ext::Surrogates(&bytes))
    }

    /// The generalized UTF-8 of a text.
    #[cold]
    fn generalized(&mut self, object: &Object<'py>) -> Result<Vec<u8>> {
        let encoded = object.call_method1("encode", ("utf-8", "surrogatepass"));
        let bytes = encoded.and_then(|bytes| bytes.extract::<Vec<u8>>());
        bytes.map_err(|raised| self.raise(raised))
    }

    /// An integer beyond 64 bits with sign.
    #[cold]
    fn large<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        match number::whole(object) {
            Whole::Int(v) => sink.i64(v),
            Whole::UInt(v) => sink.u64(v),
            Whole::Failed => Err(self.python()),
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
        .hint(format!("pass --limit depth=… to raise it, up to {}", Limits::DEPTH_CEILING))
    }

    #[inline(never)]
    fn list<S: Sink + ?Sized>(&mut self, object: &Object<'py>, kind: Kind, sink: &mut S) -> Result {
        // Held, as what is in it may change what holds it.
        let object = &object.clone();
        if self.is_shared(object) && self.anchor(object, sink)? {
            return Ok(());
        }
        self.enter()?;
        let count = view::count(object, kind);
        sink.begin_array(Some(count as u64))?;
        for index in 0..count {
            view::prefetch(object, kind, index + AHEAD);
            let Some(item) = view::item(object, kind, index) else {
                return Err(changed("list"));
            };
            if let Err(error) = self.value(&item, sink) {
                return Err(self.failed_at(error, Step::Index(index as u64)));
            }
        }
        if view::count(object, kind) != count {
            return Err(changed("list"));
        }
        sink.end_array()?;
        self.depth -= 1;
        self.end_anchor(object, sink)
    }

    /// Every step outwards adds itself to the path.
    #[cold]
    fn failed_at(&mut self, error: Error, step: Step) -> Error {
        self.steps.push(step);
        error
    }

    #[inline(never)]
    fn dict<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        // Held, as what is in it may change what holds it.
        let object = &object.clone();
        if self.is_shared(object) && self.anchor(object, sink)? {
            return Ok(());
        }
        if self.sort_keys {
            self.sorted(object, sink)?;
            return self.end_anchor(object, sink);
        }
        self.enter()?;
        let Some((mut pairs, count)) = Pairs::new(object) else { return Err(self.python()) };
        sink.begin_map(Some(count as u64))?;
        let mut left = count;
        while let Some((key, value)) = pairs.next() {
            if left == 0 {
                return Err(changed("dict"));
            }
            left -= 1;
            self.pair(&key, &value, sink)?;
        }
        if left != 0 || container::dict_len(object) != count {
            return Err(changed("dict"));
        }
        sink.end_map()?;
        self.depth -= 1;
        self.end_anchor(object, sink)
    }

    #[inline(always)]
    fn pair<S: Sink + ?Sized>(
        &mut self,
        key: &Object<'py>,
        value: &Object<'py>,
        sink: &mut S,
    ) -> Result {
        match view::kind(key) {
            Kind::Text => match view::text_of(key) {
                Text::Short(text) => sink.short_key(text)?,
                Text::Long(text) => sink.key(text)?,
                Text::Broken => self.other_key(key, sink)?,
            },
            _ => self.other_key(key, sink)?,
        }
        match view::kind(value) {
            // No Python code runs for these, so both are still there behind it.
            Kind::Text | Kind::Int | Kind::Float | Kind::Null | Kind::Bool => {
                self.value(value, sink).map_err(|error| self.failed_under(error, key))
            }
            _ => {
                let key = &key.clone();
                self.value(value, sink).map_err(|error| self.failed_under(error, key))
            }
        }
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

    /// A key that is not plain text comes as a value.
    #[cold]
    #[inline(never)]
    fn other_key<S: Sink + ?Sized>(&mut self, key: &Object<'py>, sink: &mut S) -> Result {
        let failed = |walker: &mut Self, error| {
            let step = walker.step(key);
            walker.failed_at(error, step)
        };
        // Held, as what it is made of may run Python code.
        let key = &key.clone();
        let mut builder = ValueBuilder::new(&self.limits);
        let shared = std::mem::replace(&mut self.shared, Shared::None);
        let walked = self.value(key, &mut builder);
        self.shared = shared;
        if let Err(error) = walked {
            return Err(failed(self, error));
        }
        let done = match builder.take() {
            Some(Value::Text(text)) => sink.key(&text),
            Some(value) => sink.key_value(&value),
            None => Ok(()),
        };
        done.map_err(|error| failed(self, error))
    }

    /// The pairs of a dict in the order of their keys.
    #[inline(never)]
    fn sorted<S: Sink + ?Sized>(&mut self, object: &Object<'py>, sink: &mut S) -> Result {
        self.enter()?;
        let Some((mut pairs, count)) = Pairs::new(object) else { return Err(self.python()) };
        let mut list = Vec::with_capacity(count);
        while let Some((key, value)) = pairs.next() {
            list.push((key.to_owned(), value.to_owned()));
        }
        // Text by its characters, whose order is that of its UTF-8; other keys behind, as shown.
        list.sort_by_cached_key(|(key, _)| match view::kind(key) {
            Kind::Text => (false, view::text(key).unwrap_or_default().to_owned()),
            _ => (true, key.repr().map(|repr| repr.to_string()).unwrap_or_default()),
        });
        sink.begin_map(Some(list.len() as u64))?;
        for (key, value) in &list {
            self.pair(key, value, sink)?;
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
        sink.begin_typed(&lower::TUPLE)?;
        self.list(object, Kind::Tuple, sink)?;
        sink.end_typed()
    }
}

/// A container that changed while it was walked.
#[cold]
fn changed(what: &str) -> Error {
    Error::unrepresentable(format!("the {what} changed its size while it was written"))
}
