//! What becomes of single classes: the adapter that applies a rule for each.
//!
//! [`ByClass`] is a [`Stage`]. A value whose class has a rule is written as the rule says; for every other value the
//! [policies](crate::policy::fidelity) of the conversion hold. Names are those of the source: `Money` and `Time` of
//! Ruby, `shop.Cart` and `datetime.date` of Python. A type without a name, such as Python's set, is called by its
//! kind: `set`, `ivars`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::ext::{Ext, Type};
use crate::model::format::Format;
use crate::model::limits::Limits;
use crate::model::text::{shorten, uuid_text};
use crate::model::time;
use crate::model::value::Value;
use crate::policy::event::{Sink, Writer, forward, leaves};
use crate::policy::fidelity::{Fidelity, Objects, OnLoss};
use crate::policy::stage::Stage;
use crate::policy::tree::Builder;
use crate::{Error, ErrorKind, Result};

/// What becomes of the values of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The data in it, such as the map of its fields, without the class. What is nested in it has rules of its own.
    Fields,
    /// The one text, number or time in it, as text.
    Text,
    /// The whole document is refused.
    Stay,
}

impl Rule {
    /// Every rule, with the word for it.
    pub const ALL: [(&'static str, Rule); 3] =
        [("fields", Rule::Fields), ("text", Rule::Text), ("stay", Rule::Stay)];
}

/// What was met in the documents of a conversion.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The classes that have a rule.
    pub ruled: BTreeSet<String>,
    /// The classes that the policies refuse, with the rule that fits: only of a survey.
    pub refused: BTreeMap<String, Rule>,
    /// Whether a document was refused by [`Rule::Stay`].
    pub stays: bool,
}

/// Applies a rule to the values of each class.
#[derive(Debug)]
pub struct ByClass {
    rules: Arc<BTreeMap<String, Rule>>,
    from: Format,
    /// What is refused otherwise, if this is a survey.
    survey: Option<(OnLoss, Objects)>,
    found: Mutex<Found>,
}

impl ByClass {
    /// Creates a stage with these rules for documents of a format.
    pub fn new(rules: Arc<BTreeMap<String, Rule>>, from: Format) -> ByClass {
        ByClass { rules, from, survey: None, found: Mutex::default() }
    }

    /// Same, for a conversion that only lists what these policies refuse: its own policies must refuse nothing.
    #[must_use]
    pub fn surveying(mut self, on_loss: OnLoss, objects: Objects) -> ByClass {
        self.survey = Some((on_loss, objects));
        self
    }

    /// Returns what was met so far.
    pub fn found(&self) -> Found {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the rule of a class, and notes that it was met.
    fn rule(&self, class: &str) -> Option<Rule> {
        let rule = *self.rules.get(class)?;
        let mut found = self.lock();
        found.ruled.insert(class.to_owned());
        found.stays |= rule == Rule::Stay;
        Some(rule)
    }
}

impl Stage for ByClass {
    fn open<'w>(&'w self, inner: Box<dyn Writer + 'w>, _: Format) -> Box<dyn Writer + 'w> {
        Box::new(Adapter { inner, by: self, opened: Vec::new(), text: None })
    }

    fn is_divisible(&self) -> bool {
        true
    }

    fn stack_bytes(&self) -> usize {
        0
    }

    fn begin_thread(&self) {}
}

/// How an open type was begun.
#[derive(Clone, Copy, PartialEq)]
enum Opened {
    /// It was passed on.
    Held,
    /// Only the data in it were.
    Bare,
    /// The data in it are collected, to become text.
    Text,
}

struct Adapter<'w> {
    inner: Box<dyn Writer + 'w>,
    by: &'w ByClass,
    opened: Vec<Opened>,
    /// The class that becomes text, and what is in it.
    text: Option<(String, Builder)>,
}

impl Adapter<'_> {
    /// Sends an event to what collects a text, or else on.
    fn leaf(&mut self, send: impl FnOnce(&mut dyn Sink) -> Result) -> Result {
        match &mut self.text {
            Some((_, builder)) => send(builder),
            None => send(&mut self.inner),
        }
    }

    /// Applies the rule of a value of a single event: `write` writes its text, `send` sends it on as it is.
    fn single(
        &mut self,
        v: Option<Ext<'_>>,
        write: impl FnOnce(&mut dyn Sink, &str) -> Result,
        send: impl Fn(&mut dyn Sink) -> Result,
    ) -> Result {
        let of = v.and_then(|v| Some((v, class_of(self.by.from, v)?)));
        let Some((v, class)) = of.filter(|_| self.text.is_none()) else {
            return self.leaf(|sink| send(sink));
        };
        match self.by.rule(class) {
            None => self.policy(class, Rule::Text, send),
            Some(Rule::Text) => {
                let text = text_of(v).ok_or_else(|| no_text(class, "something else"))?;
                write(&mut self.inner, &text)
            }
            Some(Rule::Fields) => Err(no_fields(class)),
            Some(Rule::Stay) => Err(stays(class)),
        }
    }

    /// Sends an event that has a class on. In a survey it is tried with the policies asked about: what they refuse is
    /// listed, and sent again without them.
    fn policy(
        &mut self,
        class: &str,
        fits: Rule,
        send: impl Fn(&mut dyn Sink) -> Result,
    ) -> Result {
        let Some((on_loss, objects)) = self.by.survey else { return self.leaf(|sink| send(sink)) };
        if self.text.is_some() {
            return self.leaf(|sink| send(sink));
        }
        let before = self.inner.fidelity().replace_policies(on_loss, objects);
        let tried = send(&mut self.inner);
        self.inner.fidelity().replace_policies(before.0, before.1);
        match tried {
            Err(error) if error.kind() == ErrorKind::Refused => {
                self.by.lock().refused.insert(class.to_owned(), fits);
                send(&mut self.inner)
            }
            tried => tried,
        }
    }
}

impl Sink for Adapter<'_> {
    leaves!();

    fn begin_array(&mut self, len: Option<u64>) -> Result {
        self.leaf(|sink| sink.begin_array(len))
    }
    fn end_array(&mut self) -> Result {
        self.leaf(|sink| sink.end_array())
    }
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        self.leaf(|sink| sink.begin_map(len))
    }
    fn key(&mut self, k: &str) -> Result {
        self.leaf(|sink| sink.key(k))
    }
    fn end_map(&mut self) -> Result {
        self.leaf(|sink| sink.end_map())
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        self.leaf(|sink| sink.begin_anchor(id))
    }
    fn end_anchor(&mut self) -> Result {
        self.leaf(|sink| sink.end_anchor())
    }
    fn alias(&mut self, id: u64) -> Result {
        self.leaf(|sink| sink.alias(id))
    }
    fn holds_references(&mut self) -> bool {
        self.inner.holds_references()
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        self.inner.fidelity()
    }

    fn ext(&mut self, v: Ext<'_>) -> Result {
        self.single(Some(v), |sink, text| sink.str(text), |sink| sink.ext(v))
    }

    fn key_value(&mut self, k: &Value) -> Result {
        let ext = match k {
            Value::Ext(v) => Some(v.as_ext()),
            Value::Timestamp(v) => Some(Ext::Timestamp(*v)),
            Value::Decimal(v) => Some(Ext::Decimal(v)),
            _ => None,
        };
        self.single(ext, |sink, text| sink.key(text), |sink| sink.key_value(k))
    }

    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        let class = match t.kind {
            // Their name is something else than a class.
            "defaultdict" | "deque" | "regexp" | "encoding" => t.kind,
            kind if t.name.is_empty() => kind,
            _ => t.name,
        };
        let rule = match &self.text {
            None => self.by.rule(class),
            Some(_) => None,
        };
        let opened = match rule {
            None => {
                self.policy(class, fitting(t), |sink| sink.begin_typed(t))?;
                Opened::Held
            }
            Some(Rule::Fields) => Opened::Bare,
            Some(Rule::Text) => {
                self.text = Some((class.to_owned(), Builder::new(&Limits::default())));
                Opened::Text
            }
            Some(Rule::Stay) => return Err(stays(class)),
        };
        self.opened.push(opened);
        Ok(())
    }

    fn end_typed(&mut self) -> Result {
        match self.opened.pop() {
            Some(Opened::Bare) => Ok(()),
            Some(Opened::Text) => {
                let Some((class, mut builder)) = self.text.take() else { return Ok(()) };
                let value = builder.take().unwrap_or(Value::Null);
                let text = value_text(&value).ok_or_else(|| no_text(&class, value.type_name()))?;
                self.inner.str(&text)
            }
            _ => self.leaf(|sink| sink.end_typed()),
        }
    }
}

impl Writer for Adapter<'_> {
    forward!(end_document finish checkpoint columns);

    fn rollback(&mut self) {
        self.opened.clear();
        self.text = None;
        self.inner.rollback();
    }
}

/// Returns the class that a value has in the language of its format, if it has one that some formats lack.
fn class_of(from: Format, v: Ext<'_>) -> Option<&'static str> {
    Some(match (from, v) {
        (Format::Marshal, Ext::Timestamp(_) | Ext::OffsetDateTime(_)) => "Time",
        (Format::Marshal, Ext::Date(_)) => "Date",
        (Format::Marshal, Ext::Symbol(_)) => "Symbol",
        (Format::Marshal, Ext::Decimal(_)) => "BigDecimal",
        (Format::Marshal, Ext::Complex(..)) => "Complex",
        (Format::Pickle, Ext::Timestamp(_) | Ext::DateTime(_) | Ext::OffsetDateTime(_)) => {
            "datetime.datetime"
        }
        (Format::Pickle, Ext::Date(_)) => "datetime.date",
        (Format::Pickle, Ext::Time(_)) => "datetime.time",
        (Format::Pickle, Ext::Duration { .. }) => "datetime.timedelta",
        (Format::Pickle, Ext::Decimal(_)) => "decimal.Decimal",
        (Format::Pickle, Ext::Uuid(_)) => "uuid.UUID",
        (Format::Pickle, Ext::Complex(..)) => "complex",
        _ => return None,
    })
}

/// Returns a value as text: RFC 3339, digits, or seconds.
fn text_of(v: Ext<'_>) -> Option<String> {
    Some(match v {
        Ext::Symbol(v)
        | Ext::Date(v)
        | Ext::Time(v)
        | Ext::DateTime(v)
        | Ext::OffsetDateTime(v)
        | Ext::Decimal(v) => v.to_owned(),
        Ext::Timestamp(at) => time::rfc3339(at)?,
        Ext::Uuid(v) => uuid_text(&v),
        Ext::Duration { seconds, nanoseconds } => seconds_text(seconds, nanoseconds),
        Ext::Complex(real, imaginary) => format!("{real}{imaginary:+}i"),
        _ => return None,
    })
}

/// Returns a duration in seconds: `-1.5`.
fn seconds_text(seconds: i64, nanoseconds: u32) -> String {
    let all = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
    let sign = if all < 0 { "-" } else { "" };
    let (whole, rest) = (all.unsigned_abs() / 1_000_000_000, all.unsigned_abs() % 1_000_000_000);
    let text = format!("{sign}{whole}.{rest:09}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) | Value::Decimal(text) => Some(text.clone()),
        Value::Int(_) | Value::UInt(_) | Value::BigInt { .. } | Value::F64(_) => {
            Some(value.to_string())
        }
        Value::Timestamp(at) => text_of(Ext::Timestamp(*at)),
        Value::Ext(v) => text_of(v.as_ext()),
        _ => None,
    }
}

/// Returns the rule that keeps most of a type. What a call or a dump takes are arguments, which need not be all there is
/// to the object.
fn fitting(t: &Type<'_>) -> Rule {
    match t.kind {
        "fraction" | "decimal" | "path" | "symbol" | "encoding" => Rule::Text,
        "object" | "struct" | "reconstructed" | "instance" | "set" | "frozenset" | "tuple"
        | "subclass" | "ordered_dict" | "counter" | "defaultdict" | "deque" | "named_tuple"
        | "identity" | "bytearray" => Rule::Fields,
        _ => Rule::Stay,
    }
}

#[cold]
fn refused(found: String) -> Error {
    Error::new(ErrorKind::Refused, found)
}

#[cold]
fn stays(class: &str) -> Error {
    refused(format!("found a value of the class {}, which stays by a rule", shorten(class)))
}

#[cold]
fn no_fields(class: &str) -> Error {
    let class = shorten(class);
    refused(format!(
        "found a value of the class {class} without fields, expected the rule text or stay"
    ))
}

#[cold]
fn no_text(class: &str, inside: &str) -> Error {
    let class = shorten(class);
    refused(format!(
        "found {inside} in the class {class}, expected one text, number or time; its rule must be fields or stay"
    ))
}
