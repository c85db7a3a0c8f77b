//! What happens to values that a target format cannot hold: they are kept, reported or refused,
//! never dropped in silence.
//!
//! Every event that a writer cannot hold exactly goes through one of the functions here, and the
//! [`OnLoss`] policy decides.
//!
//! # The wrapped notation
//!
//! With [`OnLoss::Wrap`] such a value becomes a map whose first key starts with `$`, and reading
//! with [`Options::unwrap`](crate::Options::unwrap) turns it back (see [`crate::policy::notation`]). The two
//! are independent: writing always guards user data that looks like the notation, while reading
//! treats it as plain data unless the caller says that the input is in the notation. Then every map
//! that begins with a `$` key must be one of these:
//!
//! | value | notation |
//! |---|---|
//! | bytes | `{"$binary": {"base64": "AQI=", "subType": "00"}}` (MongoDB Extended JSON v2) |
//! | NaN, infinities | `{"$numberDouble": "NaN"}`, `"Infinity"`, `"-Infinity"` (the same); a NaN with other bits than the usual `7ff8000000000000` as `{"$numberDouble": {"bits": "7ff8000000000001"}}` |
//! | integer beyond the target | `{"$integer": "170141183460469231731687303715884105728"}` |
//! | decimal with its digits | `{"$decimal": "1.10"}` |
//! | point in time | `{"$time": "2026-11-21T12:00:00.5Z"}`; outside the years 0000 to 9999 `{"$time": {"seconds": 253402300800, "nanoseconds": 0}}` |
//! | MessagePack extension | `{"$ext": {"type": 5, "base64": "AQI="}}` |
//! | text with surrogates, alone or in pairs | `{"$surrogates": {"base64": "7aCA"}}`: its generalized UTF-8 |
//! | text that is not UTF-8 | `{"$text": {"base64": "/w=="}}` |
//! | a key that is not text | the key `$key:` and the key's own notation: `{"$key:1": "one"}` |
//! | an object, a tag: any type around a value | `{"$ruby:object": "Foo", "value": …}`, `{"$yaml:tag": "!foo", "value": …}`, with `python`, `cbor` and `bson` alike |
//! | a shared value, and the same value again | `{"$anchor": 1, "value": …}`, `{"$alias": 1}` |
//! | symbol | `{"$symbol": "name"}` |
//! | dates and times | `{"$localDate": "2026-11-21"}`, `{"$localTime": "12:00:00"}`, `{"$localDateTime": "2026-11-21T12:00:00"}`, `{"$offsetDateTime": "2026-11-21T12:00:00+02:00"}` |
//! | duration | `{"$duration": {"seconds": 90, "nanoseconds": 0}}` |
//! | UUID, ObjectId | `{"$uuid": "…"}`, `{"$oid": "…"}` |
//! | decimal128, regular expression, code, BSON's other types | `$numberDecimal`, `$regularExpression`, `$code`, `$timestamp`, `$dbPointer`, `$minKey`, `$maxKey`, `$undefined`, as MongoDB Extended JSON v2 has them |
//! | CBOR simple value, complex number | `{"$simple": 32}`, `{"$complex": [1.0, -2.0]}` |
//! | null, in TOML, which has none | `{"$null": true}` |
//! | a document that is not a map, in TOML and CSV | `{"$value": [1, 2]}` |
//! | a map of the user's own whose first key starts with `$` | `{"$literal": {"$binary": "mine"}}` |
//! | a text key of the user's own that starts with `$key:` | `{"$key:\"$key:1\"": 1}` |
//! | a value that is not text, in a field of CSV | the field `$value:` and its notation: `$value:null` |
//! | a duplicate text key, in TOML and CSV | `{"a": 1, "$key:\"a\"": 2, "$key: \"a\"": 3}` |

mod bodies;

pub(crate) use bodies::key_text;
pub use bodies::{
    KEY_PREFIX, alias, begin_anchor, begin_typed, big_int, bytes, end_anchor, end_typed, ext,
    key_value, nan_payload, nearest_key, non_finite,
};

use crate::model::format::Format;
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::model::path::Path;
use crate::{Error, ErrorKind};

/// What to do with a value that the target cannot hold exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// Stop, naming the path, the value and the alternatives.
    #[default]
    Refuse,
    /// Write the reversible notation, which [`Options::unwrap`](crate::Options::unwrap) undoes.
    Wrap,
    /// Write the nearest value and count it.
    Approximate,
}

/// What to do with a class, a tag or a symbol that the target cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objects {
    /// Stop, naming it.
    Refuse,
    /// Write the data without it and count the loss.
    Data,
    /// Write the reversible notation.
    Wrap,
}

impl From<OnLoss> for Objects {
    /// Applies the general policy to objects.
    fn from(policy: OnLoss) -> Objects {
        match policy {
            OnLoss::Refuse => Objects::Refuse,
            OnLoss::Wrap => Objects::Wrap,
            OnLoss::Approximate => Objects::Data,
        }
    }
}

/// How an open type or anchor was begun.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Opened {
    /// As a map, which must be closed.
    Map,
    /// Without any bytes: only its value is written.
    Bare,
    /// In the format's native way.
    Held,
}

/// A kind of loss, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LossKind {
    /// Bytes became Base64 text.
    Bytes,
    /// NaN or an infinity became null, or a NaN lost its payload.
    NonFinite,
    /// An integer became a double: of the same value, or the nearest.
    Integer,
    /// A decimal became a double, of the same digits or the nearest, or has other digits of the same value.
    Decimal,
    /// A number's digits were rounded to a double while reading.
    Rounded,
    /// A point in time became text.
    Timestamp,
    /// A MessagePack extension became its payload as Base64 text.
    MsgpackExt,
    /// Broken text got replacement characters (U+FFFD).
    Text,
    /// A key that is not text became text, or a key that stands twice was written once.
    Key,
    /// A key occurs twice in a map. The target keeps both; most readers keep the last.
    DuplicateKey,
    /// Something about a MARC record; the example says what.
    Marc,
    /// A class or a tag was dropped, its data kept.
    Type,
    /// A shared value was written again in each place.
    Reference,
    /// A symbol became text.
    Symbol,
    /// A value that only one format has became the nearest thing; the example says what.
    Special,
    /// A null was left out, or became text.
    Null,
    /// The name of a BSON array element differed from its position.
    ArrayName,
    /// A number, true or false became text, in a format that has only text.
    Untyped,
    /// A field that a document lacks became a null, in a table whose rows have all the same fields.
    Absent,
}

impl LossKind {
    /// Returns the name used in reports: `"bytes"`, `"non-finite"`, …
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
            LossKind::Null => "null",
            LossKind::ArrayName => "array-name",
            LossKind::Untyped => "untyped",
            LossKind::Absent => "absent",
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
    /// The first few, at most [`Fidelity::EXAMPLES`].
    pub examples: Vec<Example>,
}

/// One loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The path; known if a [`crate::policy::track::Tracker`] was in front of the writer.
    pub path: Option<Path>,
    /// The number of the document, from 1; known under the same condition.
    pub record: Option<u64>,
    /// What the source had.
    pub found: String,
    /// What was written instead.
    pub written: String,
}

/// A sink's policy, and the losses so far.
#[derive(Clone, Debug)]
pub struct Fidelity {
    policy: OnLoss,
    objects: Objects,
    target: Format,
    /// What cannot hold a value that is refused, as messages name it.
    holder: &'static str,
    losses: Vec<Loss>,
    pending: bool,
    record: u64,
    /// Open types and anchors, outermost first.
    opened: Vec<Opened>,
    /// Whether decimals are just how the source spells numbers, not a type of their own.
    numbers_as_decimals: bool,
    /// Whether a filter or a selection comes first, which take values without references.
    is_filtered: bool,
}

impl Fidelity {
    /// How many losses of each kind are kept as examples; the rest are only counted.
    pub const EXAMPLES: usize = 1000;

    /// Creates an empty record of losses for this policy and target format.
    pub fn new(policy: OnLoss, target: Format) -> Fidelity {
        Fidelity {
            policy,
            objects: policy.into(),
            target,
            holder: target.title(),
            losses: Vec::new(),
            pending: false,
            record: 0,
            opened: Vec::new(),
            numbers_as_decimals: false,
            is_filtered: false,
        }
    }

    /// Turns it into an empty record for this policy and target format.
    #[inline]
    pub fn reset(&mut self, policy: OnLoss, target: Format) {
        // Field by field: a new record, copied here, would wait until it had been written elsewhere.
        (self.policy, self.objects, self.target) = (policy, policy.into(), target);
        self.holder = target.title();
        self.losses.clear();
        self.opened.clear();
        (self.pending, self.record) = (false, 0);
        (self.numbers_as_decimals, self.is_filtered) = (false, false);
    }

    /// Notes that a filter or a selection of paths comes before the sink: errors about references then name it.
    pub fn note_filter(&mut self) {
        self.is_filtered = true;
    }

    /// Treats decimals as doubles if the double prints the same digits: for a source such as JSON
    /// that has no decimals besides its doubles.
    pub fn with_numbers_as_decimals(mut self) -> Fidelity {
        self.numbers_as_decimals = true;
        self
    }

    /// Sets a separate policy for classes, tags and symbols.
    pub fn with_objects(mut self, objects: Objects) -> Fidelity {
        self.objects = objects;
        self
    }

    /// Sets both policies, and returns those that held before.
    pub(crate) fn replace_policies(
        &mut self,
        policy: OnLoss,
        objects: Objects,
    ) -> (OnLoss, Objects) {
        (std::mem::replace(&mut self.policy, policy), std::mem::replace(&mut self.objects, objects))
    }

    /// Returns the same policy for something that is no format, which messages name: "columns".
    #[must_use]
    pub fn with_holder(mut self, holder: &'static str) -> Fidelity {
        self.holder = holder;
        self
    }

    /// Returns whether decimals are just how the source spells numbers.
    pub fn numbers_as_decimals(&self) -> bool {
        self.numbers_as_decimals
    }

    /// Returns the policy for classes, tags and symbols.
    pub fn objects(&self) -> Objects {
        self.objects
    }

    /// Returns the target format.
    pub fn target(&self) -> Format {
        self.target
    }

    /// Returns why a value that contains itself cannot be passed on to a sink without references, and what to do.
    #[cold]
    pub(crate) fn no_cycles(&self) -> (String, Hint) {
        if self.is_filtered {
            let hint = Hint::say("convert without it");
            return ("a filter or a selection of paths cannot hold a cycle".to_owned(), hint);
        }
        // The notation has references, but it is one of formats.
        let hint = match self.holder == self.target.title() {
            true => Hint::set(Opt::OnLoss, "wrap").to("write references (reversible)"),
            false => Hint::say("write another format"),
        };
        (format!("{} cannot hold a cycle", self.holder), hint)
    }

    /// Records that a type or an anchor was begun in the format's native way;
    /// [`end_held`](Fidelity::end_held) returns this when it ends.
    pub fn hold_typed(&mut self) {
        self.opened.push(Opened::Held);
    }

    /// Returns whether the type or anchor that ends here was begun in the format's native way. If
    /// not, end it with [`end_typed`] or [`end_anchor`].
    pub fn end_held(&mut self) -> bool {
        self.opened.pop_if(|opened| *opened == Opened::Held).is_some()
    }

    /// Forgets all open types: a new document begins, or the current one is dropped.
    pub(crate) fn close_all(&mut self) {
        self.opened.clear();
    }

    /// Returns the policy.
    pub fn policy(&self) -> OnLoss {
        self.policy
    }

    /// Returns the losses so far, by kind in order of first appearance.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Returns how many values were not kept exactly, over all kinds.
    pub fn count(&self) -> u64 {
        self.losses.iter().map(|loss| loss.count).sum()
    }

    /// Returns whether every value was kept exactly. A duplicate key that was written twice counts
    /// as kept.
    pub fn is_exact(&self) -> bool {
        self.losses.iter().all(|loss| loss.kind == LossKind::DuplicateKey)
    }

    /// Sets the number, from 1, of the document that further losses belong to.
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

    /// Same as [`note`](Fidelity::note), for a sink that knows the place itself. The path is asked for if the loss
    /// becomes an example.
    #[cold]
    pub fn note_at(
        &mut self,
        record: u64,
        path: impl FnOnce() -> Path,
        kind: LossKind,
        found: impl Into<String>,
        written: impl Into<String>,
    ) {
        self.record = record;
        self.note(kind, found, written);
        if self.pending {
            self.place_pending(&path());
        }
    }

    /// Adds the losses that another sink counted on a later part of the same stream, whose first
    /// document has number `records_before + 1`.
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

    /// Returns whether any examples still lack their path.
    #[inline]
    pub(crate) fn has_pending(&self) -> bool {
        self.pending
    }

    /// Sets the path of the examples that lack one.
    #[cold]
    pub(crate) fn place_pending(&mut self, path: &Path) {
        self.pending = false;
        for example in self.losses.iter_mut().filter_map(|loss| loss.examples.last_mut()) {
            example.path.get_or_insert_with(|| path.clone());
        }
    }

    /// Builds the refusal of `found`, which could be written as `wrapped` or as `nearest`.
    #[cold]
    pub fn refusal(&self, found: &str, wrapped: &str, nearest: &str) -> Error {
        Error::new(ErrorKind::Refused, format!("found {found}, which {} cannot hold", self.holder))
            .hint(
                Hint::set(Opt::OnLoss, "wrap")
                    .to(format!("write {wrapped} (reversible)"))
                    .or(Hint::set(Opt::OnLoss, "approximate").to(format!("write {nearest}"))),
            )
    }
}

impl Fidelity {
    /// Builds the refusal of a class, a tag or a symbol, which could be written as `wrapped`, with what
    /// becomes of that later, or as `data`.
    #[cold]
    fn refuse_object(&self, found: &str, (wrapped, later): (&str, &str), data: &str) -> Error {
        Error::new(ErrorKind::Refused, format!("found {found}, which {} cannot hold", self.holder))
            .hint(
                Hint::set(Opt::Objects, "data")
                    .to(format!("write {data}"))
                    .or(Hint::set(Opt::Objects, "wrap").to(format!("write {wrapped} ({later})")))
                    .then(Hint::command("`regauge inspect` lists everything in the file")),
            )
    }
}
