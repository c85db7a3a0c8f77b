//! Keys that are different here and equal in Ruby, whose Hash then keeps only one entry (`Hash`, "Hash keys" in Ruby's
//! documentation: `eql?` and `hash`): text and the same bytes without an encoding, as long as they are ASCII; `0.0` and
//! `-0.0`; a point in time with two offsets; and arrays and maps of them.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _, RandomState};

use super::counted;
use super::writer::Writer;
use super::{moment, skip};
use crate::model::hint::Hint;
use crate::model::number;
use crate::model::option::Opt;
use crate::model::value::Value;
use crate::policy::event::Ext;
use crate::policy::fidelity::{self, LossKind, OnLoss};
use crate::{Error, ErrorKind, Result};

/// Keys that are remembered, in all open maps together: 12 MB at most.
const KEYS_MAX: usize = 1 << 18;

/// What a key may be to Ruby.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clash {
    /// Another key of the map.
    Equal,
    /// Perhaps another key: those before it are no longer known.
    Unknown,
}

/// The kinds of keys that may equal others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Bytes,
    Zero,
    Time,
    Container,
}

impl Kind {
    /// Returns the kind of a key, or `None` if no other key equals it.
    fn of(key: &Value) -> Option<Kind> {
        Some(match key {
            Value::Text(text) if text.is_ascii() => Kind::Text,
            Value::Bytes(bytes) if bytes.is_ascii() => Kind::Bytes,
            Value::F64(v) if *v == 0.0 => Kind::Zero,
            Value::F32(v) if *v == 0.0 => Kind::Zero,
            Value::Timestamp(_) => Kind::Time,
            Value::Ext(time) if matches!(time.as_ext(), Ext::OffsetDateTime(_)) => Kind::Time,
            Value::Array(_) | Value::Map(_) | Value::Typed(..) => Kind::Container,
            _ => return None,
        })
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The kinds of which a key of this kind may equal one, a bit for each.
    fn rivals(self) -> u8 {
        match self {
            Kind::Text => Kind::Bytes.bit(),
            Kind::Bytes => Kind::Text.bit(),
            kind => kind.bit(),
        }
    }
}

/// The keys of the open maps that may equal others.
#[derive(Debug, Default)]
pub(super) struct EqualKeys {
    maps: Vec<Keys>,
    /// How many are remembered.
    count: usize,
    hasher: RandomState,
}

/// The keys of a map.
#[derive(Debug, Default)]
struct Keys {
    /// What Ruby compares, and how it was written first; as hashes.
    seen: HashMap<u64, u64>,
    /// The kinds that are not all remembered, a bit for each.
    forgotten: u8,
}

impl EqualKeys {
    /// Begins a map.
    fn open(&mut self) {
        self.maps.push(Keys::default());
    }

    /// Forgets the innermost map: it has ended.
    pub(super) fn close(&mut self) {
        if let Some(map) = self.maps.pop() {
            self.count -= map.seen.len();
        }
    }

    /// Returns how many maps are open.
    pub(super) fn depth(&self) -> usize {
        self.maps.len()
    }

    /// Says that earlier keys of this kind are not known.
    fn forget(&mut self, kind: Kind) {
        if let Some(map) = self.maps.last_mut() {
            map.forgotten |= kind.bit();
        }
    }

    /// Adds a key of the innermost map; returns whether Ruby takes it for another one that came before. A key that
    /// occurs twice as the same is none of these.
    fn add(&mut self, key: &Value) -> Option<Clash> {
        let kind = Kind::of(key)?;
        match key {
            Value::Text(text) => self.add_string(kind, text.as_bytes()),
            Value::Bytes(bytes) => self.add_string(kind, bytes),
            _ => {
                let compared = self.hash(|hasher| hash_value(key, true, hasher));
                let written = self.hash(|hasher| hash_value(key, false, hasher));
                self.insert(kind, compared, written)
            }
        }
    }

    /// Adds text or bytes, if they are ASCII.
    fn add_string(&mut self, kind: Kind, string: &[u8]) -> Option<Clash> {
        let compared = string.is_ascii().then(|| self.hash(|hasher| string.hash(hasher)))?;
        self.insert(kind, compared, u64::from(kind.bit()))
    }

    fn hash(&self, write: impl FnOnce(&mut DefaultHasher)) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        write(&mut hasher);
        hasher.finish()
    }

    fn insert(&mut self, kind: Kind, compared: u64, written: u64) -> Option<Clash> {
        let map = self.maps.last_mut()?;
        if let Some(first) = map.seen.get(&compared) {
            return (*first != written).then_some(Clash::Equal);
        }
        if map.forgotten & kind.rivals() != 0 {
            return Some(Clash::Unknown);
        }
        if self.count < KEYS_MAX {
            self.count += 1;
            map.seen.insert(compared, written);
        } else {
            map.forgotten |= kind.bit();
        }
        None
    }
}

impl Writer<'_> {
    /// Adds a key to those of its map; returns whether Ruby takes it for another one. Watches the map if that may be.
    #[inline(never)]
    pub(super) fn clash(&mut self, k: &Value) -> Option<Clash> {
        let kind = Kind::of(k)?;
        if self.counted.kind() == counted::Kind::Map {
            if kind == Kind::Text {
                return None;
            }
            self.counted.watch();
            self.equal_keys.open();
            self.look_back();
        }
        self.equal_keys.add(k)
    }

    /// Adds the texts among the earlier keys of a map, which was not watched so far.
    fn look_back(&mut self) {
        if self.counted.count == 0 {
            return;
        }
        let Writer { counted, equal_keys, .. } = self;
        match counted.entries() {
            Some(entries) => texts(entries, |text| {
                equal_keys.add_string(Kind::Text, text);
            }),
            None => equal_keys.forget(Kind::Text),
        }
    }

    /// Applies the policy to a key that Ruby takes for another one of its map: in the notation it is a key of its own.
    #[cold]
    pub(super) fn equal_key(&mut self, k: &Value, clash: Clash) -> Result {
        match (self.fidelity.policy(), k) {
            (OnLoss::Refuse, _) => {}
            // There is no other text for text.
            (OnLoss::Approximate, Value::Text(text)) => {
                let found = format!("the key {k} beside an equal one");
                self.fidelity.note(LossKind::Key, found, "both, of which Ruby keeps one");
                return self.plain_text(text);
            }
            _ => return fidelity::key_value(self, k),
        }
        let message = match clash {
            Clash::Equal => format!(
                "found the key {k}, which equals another key of the map in Ruby: a Hash keeps only one of them"
            ),
            Clash::Unknown => format!(
                "found the key {k} in a map whose earlier keys are no longer known, or are more than {KEYS_MAX}: Ruby \
                 may take it for one of them"
            ),
        };
        let wrap = Hint::set(Opt::OnLoss, "wrap").to("write it in the notation (reversible)");
        Err(Error::new(ErrorKind::Refused, message).hint(wrap))
    }

    /// Writes a text key of a map that has no fast path.
    #[cold]
    pub(super) fn watched_text(&mut self, k: &str) -> Result {
        match self.equal_keys.add_string(Kind::Text, k.as_bytes()) {
            Some(clash) => self.equal_key(&Value::Text(k.to_owned()), clash),
            None => self.plain_text(k),
        }
    }
}

/// Hashes a value: what Ruby compares of it, or how it is written.
fn hash_value(v: &Value, compared: bool, hasher: &mut DefaultHasher) {
    let double = |v: f64| if compared && v == 0.0 { 0 } else { v.to_bits() };
    match v {
        Value::F64(v) => double(*v).hash(hasher),
        Value::F32(v) => double(number::widened(*v)).hash(hasher),
        Value::Text(text) if compared && text.is_ascii() => text.as_bytes().hash(hasher),
        Value::Bytes(bytes) if compared && bytes.is_ascii() => bytes[..].hash(hasher),
        Value::Timestamp(at) if compared => (at.seconds, at.nanoseconds).hash(hasher),
        Value::Array(elements) => {
            elements.len().hash(hasher);
            elements.iter().for_each(|one| hash_value(one, compared, hasher));
        }
        Value::Map(entries) => {
            entries.len().hash(hasher);
            for (key, value) in entries {
                hash_value(key, compared, hasher);
                hash_value(value, compared, hasher);
            }
        }
        Value::Typed(t, inner) => {
            format!("{t:?}").hash(hasher);
            hash_value(inner, compared, hasher);
        }
        Value::Ext(one) => match one.as_ext() {
            Ext::OffsetDateTime(text) if compared => match moment::parse(text) {
                Some((at, _)) => (at.seconds, at.nanoseconds).hash(hasher),
                None => text.hash(hasher),
            },
            _ => v.to_string().hash(hasher),
        },
        v => v.to_string().hash(hasher),
    }
}

/// Calls `see` with each text among the keys of entries that were just written.
fn texts(entries: &[u8], mut see: impl FnMut(&[u8])) {
    use super::types::{IVARS, STRING};
    let mut at = 0;
    while at < entries.len() {
        if entries[at..].starts_with(&[IVARS, STRING]) {
            see(skip::bytes(entries, at + 2).0);
        }
        at = skip::value(entries, skip::value(entries, at));
    }
}
