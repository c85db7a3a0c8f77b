//! What was not kept in the columns.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use regauge::fidelity::LossKind;
use regauge::path::{Path, Step};
use regauge::{Fidelity, Format, OnLoss};

/// How a value was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// A number became the nearest that the column holds.
    Rounded,
    /// A value became a null.
    Value,
    /// A value became text of JSON.
    Text,
    /// A key that is not text was left out, with its value.
    Key,
    /// A field that the schema lacks was left out.
    Field,
    /// A document lacks a field that others have, and has a null there now.
    Absent,
    /// A value of a type that only some formats have became its text.
    Canonical,
    /// A type that adds nothing to its value was dropped: that of a tuple.
    Type,
    /// An integer became the double of the same value.
    Double,
    /// A decimal has the digits of its column now, or is an integer of the same value.
    Digits,
}

impl Lost {
    /// The name in the counts.
    fn name(self) -> &'static str {
        match self {
            Lost::Rounded => "rounded",
            Lost::Value => "value",
            Lost::Text => "text",
            Lost::Key => "key",
            Lost::Field => "field",
            Lost::Absent => "absent",
            Lost::Canonical => "canonical",
            Lost::Type => "type",
            Lost::Double => "integer",
            Lost::Digits => "decimal",
        }
    }

    fn kind(self) -> LossKind {
        match self {
            Lost::Rounded => LossKind::Rounded,
            Lost::Key => LossKind::Key,
            Lost::Absent => LossKind::Absent,
            Lost::Type => LossKind::Type,
            Lost::Double => LossKind::Integer,
            Lost::Digits => LossKind::Decimal,
            Lost::Value | Lost::Text | Lost::Field | Lost::Canonical => LossKind::Special,
        }
    }

    fn written(self) -> &'static str {
        match self {
            Lost::Rounded => "the nearest number",
            Lost::Value | Lost::Absent => "null",
            Lost::Text => "its JSON as text",
            Lost::Key | Lost::Field => "nothing",
            Lost::Canonical => "its text",
            Lost::Type => "its data",
            Lost::Double => "a double",
            Lost::Digits => "the digits of the column",
        }
    }
}

/// What was not kept, shared by the thread that fills the columns and the one that reports it.
#[derive(Clone, Debug)]
pub struct Losses {
    inner: Arc<Mutex<Inner>>,
    /// Whether what any table does to documents counts too: missing fields, numbers of another type, and types that
    /// become text.
    is_strict: bool,
}

#[derive(Debug)]
struct Inner {
    counts: BTreeMap<&'static str, u64>,
    fidelity: Fidelity,
}

impl Losses {
    /// Counts what the policy allows to be lost.
    pub fn new() -> Losses {
        let fidelity = Fidelity::new(OnLoss::Approximate, Format::Ndjson);
        let inner = Inner { counts: BTreeMap::new(), fidelity };
        Losses { inner: Arc::new(Mutex::new(inner)), is_strict: false }
    }

    /// Also counts the fields that a document lacks, numbers that are read back as another type or with other digits,
    /// and UUIDs and ObjectIds that became text.
    pub fn strict() -> Losses {
        Losses { is_strict: true, ..Losses::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the counts so far, by kind.
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.lock().counts.clone()
    }

    /// Returns the losses so far, each with its first places.
    pub fn fidelity(&self) -> Fidelity {
        self.lock().fidelity.clone()
    }

    #[cold]
    pub(crate) fn note(&self, lost: Lost, found: &'static str, record: u64, path: &[Step]) {
        let mut inner = self.lock();
        *inner.counts.entry(lost.name()).or_default() += 1;
        let path = || Path(path.to_vec());
        inner.fidelity.note_at(record, path, lost.kind(), found, lost.written());
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.is_strict
    }
}

impl Default for Losses {
    fn default() -> Losses {
        Losses::new()
    }
}
