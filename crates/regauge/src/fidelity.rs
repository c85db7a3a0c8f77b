//! What a target format cannot hold, and what then happens: kept, reported or refused, never
//! dropped in silence.
//!
//! Every event that a writer cannot hold exactly comes through one of the functions here, and the
//! [`OnLoss`] policy decides.
//!
//! # The wrapped notation
//!
//! With [`OnLoss::Wrap`] such a value becomes a map with one key that starts with `$`, and reading
//! with the same policy turns it back (see [`crate::wrap`]):
//!
//! | value | notation |
//! |---|---|
//! | bytes | `{"$binary": {"base64": "AQI=", "subType": "00"}}` (MongoDB Extended JSON v2) |
//! | NaN, infinities | `{"$numberDouble": "NaN"}`, `"Infinity"`, `"-Infinity"` (the same) |
//! | integer beyond the target | `{"$integer": "170141183460469231731687303715884105728"}` |
//! | decimal with its digits | `{"$decimal": "1.10"}` |
//! | point in time | `{"$time": "2026-11-21T12:00:00.5Z"}`; outside the years 0000 to 9999 `{"$time": {"seconds": 253402300800, "nanoseconds": 0}}` |
//! | MessagePack extension | `{"$ext": {"type": 5, "base64": "AQI="}}` |
//! | text with lone surrogates | `{"$surrogates": {"base64": "7aCA"}}`: its generalized UTF-8 |
//! | text that is not UTF-8 | `{"$text": {"base64": "/w=="}}` |
//! | a key that is not text | the key `$key:` and the key's own notation: `{"$key:1": "one"}` |
//! | an object, a tag: any type around a value | `{"$ruby:object": "Foo", "value": …}`, `{"$yaml:tag": "!foo", "value": …}`, with `python`, `cbor` and `bson` alike |
//! | a shared value, and the same value again | `{"$anchor": 1, "value": …}`, `{"$alias": 1}` |
//! | symbol | `{"$symbol": "name"}` |
//! | dates and times | `{"$localDate": "2026-11-21"}`, `{"$localTime": "12:00:00"}`, `{"$localDateTime": "2026-11-21T12:00:00"}`, `{"$offsetDateTime": "2026-11-21T12:00:00+02:00"}` |
//! | length of time | `{"$duration": {"seconds": 90, "nanoseconds": 0}}` |
//! | UUID, ObjectId | `{"$uuid": "…"}`, `{"$oid": "…"}` |
//! | decimal128, regular expression, code, BSON's other types | `$numberDecimal`, `$regularExpression`, `$code`, `$timestamp`, `$dbPointer`, `$minKey`, `$maxKey`, `$undefined`, as MongoDB Extended JSON v2 has them |
//! | CBOR simple value, complex number | `{"$simple": 32}`, `{"$complex": [1.0, -2.0]}` |
//! | a map whose first key starts with `$` | `{"$literal": {"$binary": "mine"}}` |

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::event::{BigInt, Ext, Sink, Type};
use crate::format::Format;
use crate::path::Path;
use crate::value::Value;
use crate::{Error, ErrorKind, Result, decimal128, notation, number, time};

/// What to do with a value that the target cannot hold exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// Stop, naming the path, the value and the way on.
    #[default]
    Refuse,
    /// Write the reversible notation, and undo it on reading.
    Wrap,
    /// Write the nearest value, and count it.
    Approximate,
}

/// What to do with a class, a tag or a symbol that the target cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objects {
    /// Stop, naming it.
    Refuse,
    /// Write the data without it, and count that.
    Data,
    /// Write the reversible notation.
    Wrap,
}

impl From<OnLoss> for Objects {
    /// What the policy for everything says about objects.
    fn from(policy: OnLoss) -> Objects {
        match policy {
            OnLoss::Refuse => Objects::Refuse,
            OnLoss::Wrap => Objects::Wrap,
            OnLoss::Approximate => Objects::Data,
        }
    }
}

/// How a type or an anchor that is open was begun.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Opened {
    /// As a map, which has to end.
    Map,
    /// With nothing: its value stands alone.
    Bare,
    /// In the format's own way.
    Held,
}

/// What was lost, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LossKind {
    /// Bytes became Base64 text.
    Bytes,
    /// NaN or an infinity became null.
    NonFinite,
    /// An integer became the nearest double.
    Integer,
    /// A decimal's digits became the nearest double.
    Decimal,
    /// A number's digits were rounded to a double while reading.
    Rounded,
    /// A point in time became text.
    Timestamp,
    /// A MessagePack extension became its payload as Base64 text.
    MsgpackExt,
    /// Broken text got replacement characters (U+FFFD).
    Text,
    /// A key that is not text became text.
    Key,
    /// A key stands twice in a map. The target keeps both; most readers keep the last.
    DuplicateKey,
    /// Something about a MARC record: what, the example says.
    Marc,
    /// A class or a tag is gone, and its data is left.
    Type,
    /// A value that stands in several places was written again in each.
    Reference,
    /// A symbol became text.
    Symbol,
    /// A value that only one format knows became the nearest thing: what, the example says.
    Special,
}

impl LossKind {
    /// The name in reports: `"bytes"`, `"non-finite"`, …
    pub fn name(self) -> &'static str {
        match self {
            LossKind::Bytes => "bytes",
            LossKind::NonFinite => "non-finite",
            LossKind::Integer => "integer",
            LossKind::Decimal => "decimal",
            LossKind::Rounded => "rounded",
            LossKind::Timestamp => "timestamp",
            LossKind::MsgpackExt => "msgpack-ext",
            LossKind::Text => "text",
            LossKind::Key => "key",
            LossKind::DuplicateKey => "duplicate-key",
            LossKind::Marc => "marc",
            LossKind::Type => "type",
            LossKind::Reference => "reference",
            LossKind::Symbol => "symbol",
            LossKind::Special => "special",
        }
    }
}

/// All losses of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// What was lost.
    pub kind: LossKind,
    /// How many times.
    pub count: u64,
    /// The first of them, [`Fidelity::EXAMPLES`] at most.
    pub examples: Vec<Example>,
}

/// One loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Where: known when a [`crate::path::Tracker`] stood in front of the writer.
    pub path: Option<Path>,
    /// The document, from 1: known under the same condition.
    pub record: Option<u64>,
    /// What stood there.
    pub found: String,
    /// What was written for it.
    pub written: String,
}

/// A sink's policy, and the losses so far.
#[derive(Clone, Debug)]
pub struct Fidelity {
    policy: OnLoss,
    objects: Objects,
    target: Format,
    losses: Vec<Loss>,
    pending: bool,
    record: u64,
    /// Types and anchors that are open, outermost first.
    opened: Vec<Opened>,
}

impl Fidelity {
    /// How many losses of a kind are kept one by one; the others are counted.
    pub const EXAMPLES: usize = 1000;

    /// No losses yet, under this policy, writing this format.
    pub fn new(policy: OnLoss, target: Format) -> Fidelity {
        Fidelity {
            policy,
            objects: policy.into(),
            target,
            losses: Vec::new(),
            pending: false,
            record: 0,
            opened: Vec::new(),
        }
    }

    /// The same with another policy for classes, tags and symbols.
    pub fn with_objects(mut self, objects: Objects) -> Fidelity {
        self.objects = objects;
        self
    }

    /// The policy for classes, tags and symbols.
    pub fn objects(&self) -> Objects {
        self.objects
    }

    /// The format that is written.
    pub fn target(&self) -> Format {
        self.target
    }

    /// A type or an anchor was begun in the format's own way: [`end_held`](Fidelity::end_held)
    /// tells so at its end.
    pub fn hold_typed(&mut self) {
        self.opened.push(Opened::Held);
    }

    /// Whether the type or the anchor that ends here was begun in the format's own way. If not,
    /// [`end_typed`] or [`end_anchor`] has to end it.
    pub fn end_held(&mut self) -> bool {
        self.opened.pop_if(|opened| *opened == Opened::Held).is_some()
    }

    /// A new document begins, or the one at hand is dropped: no type is open.
    pub(crate) fn close_all(&mut self) {
        self.opened.clear();
    }

    /// The policy.
    pub fn policy(&self) -> OnLoss {
        self.policy
    }

    /// The losses so far, by kind in order of their first appearance.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// How many values were not kept exactly, of all kinds.
    pub fn count(&self) -> u64 {
        self.losses.iter().map(|loss| loss.count).sum()
    }

    /// Whether every value was kept exactly. A key that stands twice and was written twice is.
    pub fn is_exact(&self) -> bool {
        self.losses.iter().all(|loss| loss.kind == LossKind::DuplicateKey)
    }

    /// The number, from 1, of the document that losses from now on belong to.
    pub fn set_record(&mut self, record: u64) {
        self.record = record;
        self.close_all();
    }

    /// Counts a loss.
    #[cold]
    pub fn note(&mut self, kind: LossKind, found: impl Into<String>, written: impl Into<String>) {
        let loss = match self.losses.iter_mut().position(|loss| loss.kind == kind) {
            Some(index) => &mut self.losses[index],
            None => {
                self.losses.push(Loss { kind, count: 0, examples: Vec::new() });
                self.losses.last_mut().expect("just pushed")
            }
        };
        loss.count += 1;
        if loss.examples.len() < Fidelity::EXAMPLES {
            let record = (self.record > 0).then_some(self.record);
            let (found, written) = (found.into(), written.into());
            loss.examples.push(Example { path: None, record, found, written });
            self.pending = true;
        }
    }

    /// Adds the losses that another sink counted on a later part of the same stream, whose first
    /// document is the `records_before + 1`-th.
    pub fn merge(&mut self, later: &Fidelity, records_before: u64) {
        for loss in &later.losses {
            let mine = match self.losses.iter_mut().position(|mine| mine.kind == loss.kind) {
                Some(index) => &mut self.losses[index],
                None => {
                    self.losses.push(Loss { kind: loss.kind, count: 0, examples: Vec::new() });
                    self.losses.last_mut().expect("just pushed")
                }
            };
            mine.count += loss.count;
            let room = Fidelity::EXAMPLES.saturating_sub(mine.examples.len());
            mine.examples.extend(loss.examples.iter().take(room).cloned().map(|mut example| {
                example.record = example.record.map(|record| record + records_before);
                example
            }));
        }
    }

    /// Whether examples wait for their path.
    #[inline]
    pub(crate) fn has_pending(&self) -> bool {
        self.pending
    }

    /// Gives the waiting examples their path.
    #[cold]
    pub(crate) fn place_pending(&mut self, path: &Path) {
        self.pending = false;
        for example in self.losses.iter_mut().filter_map(|loss| loss.examples.last_mut()) {
            example.path.get_or_insert_with(|| path.clone());
        }
    }

    /// The refusal of `found`, which could be written as `wrapped` or as `nearest`.
    #[cold]
    pub fn refusal(&self, found: &str, wrapped: &str, nearest: &str) -> Error {
        Error::new(
            ErrorKind::Refused,
            format!("found {found}, which {} cannot hold", self.target.title()),
        )
        .hint(format!(
            "pass --on-loss wrap to write {wrapped} (reversible), \
             or --on-loss approximate to write {nearest}"
        ))
    }
}

impl Fidelity {
    /// The refusal of a class, a tag or a symbol.
    #[cold]
    fn refuse_object(&self, found: &str, wrapped: &str, data: &str) -> Error {
        Error::new(
            ErrorKind::Refused,
            format!("found {found}, which {} cannot hold", self.target.title()),
        )
        .hint(format!(
            "pass --objects data to write {data}, or --objects wrap to write {wrapped} \
             (reversible); `regauge inspect` lists all that the file has"
        ))
    }
}

/// Bytes, for a sink without a type for them.
#[cold]
pub fn bytes<S: Sink + ?Sized>(sink: &mut S, v: &[u8]) -> Result {
    let found = || format!("{} bytes of binary data", v.len());
    match sink.fidelity().policy {
        OnLoss::Refuse => {
            Err(sink.fidelity().refusal(&found(), r#"{"$binary": …}"#, "Base64 text"))
        }
        OnLoss::Wrap => {
            sink.begin_map(Some(1))?;
            sink.key("$binary")?;
            sink.begin_map(Some(2))?;
            sink.key("base64")?;
            sink.str(&BASE64.encode(v))?;
            sink.key("subType")?;
            sink.str("00")?;
            sink.end_map()?;
            sink.end_map()
        }
        OnLoss::Approximate => {
            sink.fidelity().note(LossKind::Bytes, found(), "Base64 text");
            sink.str(&BASE64.encode(v))
        }
    }
}

/// NaN or an infinity, for a sink without them.
#[cold]
pub fn non_finite<S: Sink + ?Sized>(sink: &mut S, v: f64) -> Result {
    let name = match v {
        _ if v.is_nan() => "NaN",
        _ if v > 0.0 => "Infinity",
        _ => "-Infinity",
    };
    match sink.fidelity().policy {
        OnLoss::Refuse => {
            let found = format!("the number {name}");
            Err(sink.fidelity().refusal(&found, r#"{"$numberDouble": …}"#, "null"))
        }
        OnLoss::Wrap => wrapped_text(sink, "$numberDouble", name),
        OnLoss::Approximate => {
            sink.fidelity().note(LossKind::NonFinite, name, "null");
            sink.null()
        }
    }
}

/// A big integer, for a sink whose integers are narrower.
#[cold]
pub fn big_int<S: Sink + ?Sized>(sink: &mut S, v: BigInt<'_>) -> Result {
    let text = number::big_int_text(v);
    let found = || format!("the integer {}", shorten(&text));
    match sink.fidelity().policy {
        OnLoss::Refuse => {
            Err(sink.fidelity().refusal(&found(), r#"{"$integer": …}"#, "the nearest double"))
        }
        OnLoss::Wrap => wrapped_text(sink, "$integer", &text),
        OnLoss::Approximate => {
            let nearest = finite(&text)?;
            sink.fidelity().note(LossKind::Integer, found(), format!("{nearest:e}"));
            sink.f64(nearest)
        }
    }
}

/// A value that only some formats know, for a sink that does not know it.
#[cold]
pub fn ext<S: Sink + ?Sized>(sink: &mut S, v: Ext<'_>) -> Result {
    match v {
        Ext::Timestamp(at) => timestamp(sink, at),
        Ext::Decimal(text) => decimal(sink, text),
        Ext::MsgpackExt(kind, payload) => msgpack_ext(sink, kind, payload),
        Ext::Surrogates(wtf8) => {
            broken_text(sink, wtf8, "text with lone surrogates", "$surrogates")
        }
        Ext::BrokenText(raw) => broken_text(sink, raw, "text that is not UTF-8", "$text"),
        Ext::Int64(v) => sink.i64(v),
        Ext::Symbol(v) => symbol(sink, v),
        Ext::Decimal128(v) => decimal128(sink, v),
        _ => special(sink, v),
    }
}

/// Text of a symbol, for a sink without symbols.
fn symbol<S: Sink + ?Sized>(sink: &mut S, v: &str) -> Result {
    match sink.fidelity().objects {
        Objects::Refuse => {
            let found = format!("the symbol {}", shorten(v));
            Err(sink.fidelity().refuse_object(&found, r#"{"$symbol": …}"#, "its text"))
        }
        Objects::Wrap => notation::write(sink, Ext::Symbol(v)),
        Objects::Data => {
            sink.fidelity().note(LossKind::Symbol, format!(":{}", shorten(v)), "text");
            sink.str(v)
        }
    }
}

fn decimal128<S: Sink + ?Sized>(sink: &mut S, v: [u8; 16]) -> Result {
    let text = decimal128::to_text(&v);
    match sink.fidelity().policy {
        OnLoss::Wrap => notation::write(sink, Ext::Decimal128(v)),
        OnLoss::Refuse => {
            let found = format!("the decimal128 {}", text.as_deref().unwrap_or("(not canonical)"));
            let wrapped = r#"{"$numberDecimal": …}"#;
            Err(sink.fidelity().refusal(&found, wrapped, "the nearest double"))
        }
        OnLoss::Approximate => {
            let text = text.unwrap_or_else(|| "0".to_owned());
            let nearest = match text.as_str() {
                "NaN" => f64::NAN,
                "Infinity" => f64::INFINITY,
                "-Infinity" => f64::NEG_INFINITY,
                digits => finite(digits)?,
            };
            let found = format!("the decimal128 {text}");
            sink.fidelity().note(LossKind::Decimal, found, format!("{nearest:e}"));
            sink.f64(nearest)
        }
    }
}

/// A value of a kind that few formats know and that has a nearest text, for a sink without it.
fn special<S: Sink + ?Sized>(sink: &mut S, v: Ext<'_>) -> Result {
    let (kind, text) = match v {
        Ext::Date(v) | Ext::Time(v) | Ext::DateTime(v) | Ext::OffsetDateTime(v) => {
            (LossKind::Timestamp, Some(v.to_owned()))
        }
        Ext::Duration { seconds, nanoseconds } => {
            (LossKind::Timestamp, Some(time::iso8601_duration(seconds, nanoseconds)))
        }
        Ext::ObjectId(v) => (LossKind::Special, Some(notation::hex(&v))),
        Ext::Uuid(v) => (LossKind::Special, Some(notation::uuid_text(&v))),
        Ext::Binary(_, v) => (LossKind::Bytes, Some(BASE64.encode(v))),
        Ext::Regex { pattern, options } => {
            (LossKind::Special, Some(format!("/{pattern}/{options}")))
        }
        Ext::Code(v) => (LossKind::Special, Some(v.to_owned())),
        Ext::DbPointer { namespace, id } => {
            (LossKind::Special, Some(format!("{namespace}/{}", notation::hex(&id))))
        }
        Ext::BsonTimestamp { seconds, increment } => {
            (LossKind::Special, Some(format!("{seconds}.{increment}")))
        }
        Ext::Simple(v) => (LossKind::Special, Some(format!("simple({v})"))),
        Ext::Complex(real, imaginary) => {
            (LossKind::Special, Some(format!("{real:?}{imaginary:+?}i")))
        }
        _ => (LossKind::Special, None),
    };
    let nearest = if text.is_some() { "text" } else { "null" };
    match sink.fidelity().policy {
        OnLoss::Wrap => notation::write(sink, v),
        OnLoss::Refuse => {
            let found = match &text {
                Some(text) => format!("{} ({})", v.type_name(), shorten(text)),
                None => v.type_name().to_owned(),
            };
            let name = notation::name_of(v).unwrap_or("$…");
            Err(sink.fidelity().refusal(&found, &format!(r#"{{"{name}": …}}"#), nearest))
        }
        OnLoss::Approximate => {
            sink.fidelity().note(kind, v.type_name(), nearest);
            match text {
                Some(text) => sink.str(&text),
                None => sink.null(),
            }
        }
    }
}

/// The beginning of a type, for a sink that does not know it.
#[cold]
pub fn begin_typed<S: Sink + ?Sized>(sink: &mut S, t: &Type<'_>) -> Result {
    match sink.fidelity().objects {
        Objects::Refuse => {
            let wrapped = format!(r#"{{"{}": …}}"#, notation::type_key(t));
            Err(sink.fidelity().refuse_object(&t.to_string(), &wrapped, "its data without it"))
        }
        Objects::Wrap => {
            sink.fidelity().opened.push(Opened::Map);
            sink.begin_map(Some(2))?;
            sink.key(&notation::type_key(t))?;
            sink.str(t.name)?;
            sink.key("value")
        }
        Objects::Data => {
            sink.fidelity().note(LossKind::Type, t.to_string(), "its data");
            sink.fidelity().opened.push(Opened::Bare);
            Ok(())
        }
    }
}

/// The end of what [`begin_typed`] began.
#[cold]
pub fn end_typed<S: Sink + ?Sized>(sink: &mut S) -> Result {
    match sink.fidelity().opened.pop() {
        Some(Opened::Map) => sink.end_map(),
        _ => Ok(()),
    }
}

/// The beginning of an anchor, for a sink that does not know them.
#[cold]
pub fn begin_anchor<S: Sink + ?Sized>(sink: &mut S, id: u64) -> Result {
    if sink.fidelity().policy != OnLoss::Wrap {
        sink.fidelity().opened.push(Opened::Bare);
        return Ok(());
    }
    sink.fidelity().opened.push(Opened::Map);
    sink.begin_map(Some(2))?;
    sink.key("$anchor")?;
    number(sink, id)?;
    sink.key("value")
}

/// The end of what [`begin_anchor`] began.
#[cold]
pub fn end_anchor<S: Sink + ?Sized>(sink: &mut S) -> Result {
    end_typed(sink)
}

/// An alias, for a sink that does not know them.
#[cold]
pub fn alias<S: Sink + ?Sized>(sink: &mut S, id: u64) -> Result {
    if sink.fidelity().policy != OnLoss::Wrap {
        let found = "a value that stands in another place too";
        return Err(sink.fidelity().refusal(found, r#"{"$alias": …}"#, "it again"));
    }
    sink.begin_map(Some(1))?;
    sink.key("$alias")?;
    number(sink, id)?;
    sink.end_map()
}

fn number<S: Sink + ?Sized>(sink: &mut S, v: u64) -> Result {
    match i64::try_from(v) {
        Ok(v) => sink.i64(v),
        Err(_) => sink.u64(v),
    }
}

fn timestamp<S: Sink + ?Sized>(sink: &mut S, at: crate::event::Timestamp) -> Result {
    let text = time::rfc3339(at);
    let plain = || match &text {
        Some(text) => text.clone(),
        None => format!("{}.{:09}", at.seconds, at.nanoseconds),
    };
    match sink.fidelity().policy {
        OnLoss::Refuse => {
            let found = format!("the point in time {}", plain());
            Err(sink.fidelity().refusal(&found, r#"{"$time": …}"#, "text (RFC 3339)"))
        }
        OnLoss::Wrap => match text {
            Some(text) => wrapped_text(sink, "$time", &text),
            None => {
                sink.begin_map(Some(1))?;
                sink.key("$time")?;
                sink.begin_map(Some(2))?;
                sink.key("seconds")?;
                sink.i64(at.seconds)?;
                sink.key("nanoseconds")?;
                sink.i64(i64::from(at.nanoseconds))?;
                sink.end_map()?;
                sink.end_map()
            }
        },
        OnLoss::Approximate => {
            let text = plain();
            sink.fidelity().note(LossKind::Timestamp, "a point in time", text.clone());
            sink.str(&text)
        }
    }
}

fn decimal<S: Sink + ?Sized>(sink: &mut S, text: &str) -> Result {
    // A decimal that the double prints again is held: no digit is lost.
    if let Some(same) = number::double_of_same_digits(text) {
        return sink.f64(same);
    }
    let found = || format!("the decimal {}", shorten(text));
    match sink.fidelity().policy {
        OnLoss::Refuse => {
            Err(sink.fidelity().refusal(&found(), r#"{"$decimal": …}"#, "the nearest double"))
        }
        OnLoss::Wrap => wrapped_text(sink, "$decimal", text),
        OnLoss::Approximate => {
            let nearest = finite(text)?;
            sink.fidelity().note(LossKind::Decimal, found(), format!("{nearest:e}"));
            sink.f64(nearest)
        }
    }
}

fn msgpack_ext<S: Sink + ?Sized>(sink: &mut S, kind: i8, payload: &[u8]) -> Result {
    let found = || format!("a MessagePack extension of type {kind}, {} bytes", payload.len());
    match sink.fidelity().policy {
        OnLoss::Refuse => Err(sink.fidelity().refusal(&found(), r#"{"$ext": …}"#, "Base64 text")),
        OnLoss::Wrap => {
            sink.begin_map(Some(1))?;
            sink.key("$ext")?;
            sink.begin_map(Some(2))?;
            sink.key("type")?;
            sink.i64(i64::from(kind))?;
            sink.key("base64")?;
            sink.str(&BASE64.encode(payload))?;
            sink.end_map()?;
            sink.end_map()
        }
        OnLoss::Approximate => {
            sink.fidelity().note(LossKind::MsgpackExt, found(), "Base64 text");
            sink.str(&BASE64.encode(payload))
        }
    }
}

fn broken_text<S: Sink + ?Sized>(sink: &mut S, raw: &[u8], what: &str, name: &str) -> Result {
    match sink.fidelity().policy {
        OnLoss::Refuse => {
            let shown: String = String::from_utf8_lossy(raw).chars().take(40).collect();
            let found = format!("{what} ({:?}, {} bytes)", shown, raw.len());
            let wrapped = format!(r#"{{"{name}": …}}"#);
            Err(sink.fidelity().refusal(&found, &wrapped, "U+FFFD for each broken part"))
        }
        OnLoss::Wrap => {
            sink.begin_map(Some(1))?;
            sink.key(name)?;
            sink.begin_map(Some(1))?;
            sink.key("base64")?;
            sink.str(&BASE64.encode(raw))?;
            sink.end_map()?;
            sink.end_map()
        }
        OnLoss::Approximate => {
            let text = String::from_utf8_lossy(raw);
            sink.fidelity().note(LossKind::Text, what, "text with U+FFFD");
            sink.str(&text)
        }
    }
}

/// A key that is not text, for a sink whose keys are text.
#[cold]
pub fn key_value<S: Sink + ?Sized>(sink: &mut S, k: &Value) -> Result {
    let notation = k.to_string();
    // A symbol is a key by nature, and its policy is the one for objects.
    if let Value::Ext(name) = k
        && let Ext::Symbol(name) = name.as_ext()
        && sink.fidelity().policy != OnLoss::Wrap
    {
        match sink.fidelity().objects {
            Objects::Refuse => {
                let found = format!("the symbol {} as a key", shorten(name));
                let wrapped = r#"{"$key:…": …}"#;
                return Err(sink.fidelity().refuse_object(&found, wrapped, "its text"));
            }
            Objects::Data => {
                sink.fidelity().note(
                    LossKind::Symbol,
                    format!("the key :{}", shorten(name)),
                    "text",
                );
                return sink.key(name);
            }
            Objects::Wrap => {
                return sink.key(&format!("{KEY_PREFIX}{}", crate::json::notation(k)?));
            }
        }
    }
    match sink.fidelity().policy {
        OnLoss::Refuse => {
            let found = format!("the key {}, which is {}", shorten(&notation), k.type_name());
            Err(sink.fidelity().refusal(&found, r#"{"$key:…": …}"#, "its text"))
        }
        // [`Escape`](crate::wrap::Escape) has guarded the maps in it already.
        OnLoss::Wrap => {
            let notation = crate::json::notation(k)?;
            sink.key(&format!("{KEY_PREFIX}{notation}"))
        }
        OnLoss::Approximate => {
            let text = match k {
                Value::Text(text) => text.clone(),
                Value::Bytes(raw) => BASE64.encode(raw),
                _ => notation,
            };
            sink.fidelity().note(LossKind::Key, k.type_name(), format!("{:?}", shorten(&text)));
            sink.key(&text)
        }
    }
}

/// What a key that is not text begins with in the wrapped notation.
pub const KEY_PREFIX: &str = "$key:";

fn wrapped_text<S: Sink + ?Sized>(sink: &mut S, name: &str, text: &str) -> Result {
    sink.begin_map(Some(1))?;
    sink.key(name)?;
    sink.str(text)?;
    sink.end_map()
}

/// The nearest double, which has to be finite: an infinity is not near to anything.
fn finite(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(Error::new(
            ErrorKind::Refused,
            format!("found the number {}, which is beyond the range of a double", shorten(text)),
        )
        .hint("pass --on-loss wrap to keep its digits")),
    }
}

/// A number's or a key's text, cut to what a message can carry.
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN: usize = 40;
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    let mut shown: String = text.chars().take(SHOWN).collect();
    let _ = write!(shown, "… ({} characters)", text.chars().count());
    shown
}
