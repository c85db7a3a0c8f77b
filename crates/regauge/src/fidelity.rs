//! What a target format cannot hold, and what then happens: kept, reported or refused, never
//! dropped in silence.
//!
//! Every event that a writer cannot hold exactly comes through one of the functions here, and the
//! [`OnLoss`] policy decides.
//!
//! # The wrapped notation
//!
//! With [`OnLoss::Wrap`] such a value becomes a map that begins with a key that starts with `$`, and
//! reading with [`Options::unwrap`](crate::Options::unwrap) turns it back (see [`crate::wrap`]). The
//! two are separate: what is written is guarded whatever the target, and plain data that looks like
//! the notation is read as the data that it is, unless the caller says that it is in the notation.
//! Then every map that begins with a `$` key has to be one of these:
//!
//! | value | notation |
//! |---|---|
//! | bytes | `{"$binary": {"base64": "AQI=", "subType": "00"}}` (MongoDB Extended JSON v2) |
//! | NaN, infinities | `{"$numberDouble": "NaN"}`, `"Infinity"`, `"-Infinity"` (the same); a NaN with other bits than the usual `7ff8000000000000` as `{"$numberDouble": {"bits": "7ff8000000000001"}}` |
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
//! | a map of the user's own whose first key starts with `$` | `{"$literal": {"$binary": "mine"}}` |
//! | a text key of the user's own that starts with `$key:` | `{"$key:\"$key:1\"": 1}` |

mod bodies;

use std::fmt::Write as _;

pub use bodies::{
    KEY_PREFIX, alias, begin_anchor, begin_typed, big_int, bytes, end_anchor, end_typed, ext,
    key_value, nan_payload, non_finite,
};

use crate::format::Format;
use crate::hint::Hint;
use crate::options::Opt;
use crate::path::Path;
use crate::{Error, ErrorKind};

/// What to do with a value that the target cannot hold exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// Stop, naming the path, the value and the way on.
    #[default]
    Refuse,
    /// Write the reversible notation, which [`Options::unwrap`](crate::Options::unwrap) undoes.
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
    /// NaN or an infinity became null, or a NaN lost its payload.
    NonFinite,
    /// An integer became the nearest double.
    Integer,
    /// A decimal became a double: of the same digits, or the nearest.
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
    /// An element of a BSON array had another name than its position.
    ArrayName,
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
            LossKind::ArrayName => "array-name",
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
    /// Whether decimals are how the source spells its numbers, and no type of their own.
    numbers_as_decimals: bool,
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
            numbers_as_decimals: false,
        }
    }

    /// The same for a source that has no decimals beside its doubles, such as JSON: a number that
    /// comes as a decimal, and that a double prints again, is that double.
    pub fn with_numbers_as_decimals(mut self) -> Fidelity {
        self.numbers_as_decimals = true;
        self
    }

    /// The same with another policy for classes, tags and symbols.
    pub fn with_objects(mut self, objects: Objects) -> Fidelity {
        self.objects = objects;
        self
    }

    /// Whether decimals are how the source spells its numbers.
    pub fn numbers_as_decimals(&self) -> bool {
        self.numbers_as_decimals
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
        .hint(
            Hint::set(Opt::OnLoss, "wrap")
                .to(format!("write {wrapped} (reversible)"))
                .or(Hint::set(Opt::OnLoss, "approximate").to(format!("write {nearest}"))),
        )
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
        .hint(
            Hint::set(Opt::Objects, "data")
                .to(format!("write {data}"))
                .or(Hint::set(Opt::Objects, "wrap").to(format!("write {wrapped} (reversible)")))
                .then(Hint::command("`regauge inspect` lists all that the file has")),
        )
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
