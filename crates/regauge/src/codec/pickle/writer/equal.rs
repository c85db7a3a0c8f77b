//! Keys that are different here and equal in Python, whose dict then keeps only one entry: `1`, `True` and `1.0`; `0.0`
//! and `-0.0`; a point in time with two offsets; tuples and frozensets of them (Python's language reference, §6.10.1 and
//! §3.3.1, `object.__hash__`; the library's, `datetime` objects).

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _, RandomState};

use super::times;
use crate::model::number;
use crate::model::value::Value;
use crate::policy::event::Ext;

/// Keys that are remembered, in all open maps together: 26 MB at most.
pub(super) const KEYS_MAX: usize = 1 << 18;

/// What a key may be to Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clash {
    /// Another key of the map.
    Equal,
    /// Perhaps another key: there are too many to remember.
    Unknown,
}

/// The keys of the open maps that may equal others.
#[derive(Debug, Default)]
pub(super) struct EqualKeys {
    maps: Vec<Keys>,
    /// How many are remembered.
    count: usize,
    hasher: RandomState,
}

/// The keys of a map: numbers, times and containers.
#[derive(Debug, Default)]
struct Keys {
    depth: usize,
    /// Those that were written as integers, as long as there are no others and nothing is looked up.
    first: Vec<i64>,
    /// Those that were written as integers, once there are others.
    integers: HashSet<i128>,
    /// The others, and how each was written first.
    others: HashMap<Number, Kind>,
    /// Times and containers: what Python compares, and how it was written first; as hashes.
    rest: HashMap<u64, u64>,
    /// The kinds of number of which there were too many to remember all, a bit for each.
    forgotten: u8,
    /// Whether there were too many times and containers to remember all.
    forgotten_rest: bool,
}

/// A number as Python compares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Number {
    Integer(i128),
    /// The bits of a double that is no integer.
    Double(u64),
}

/// The ways to write a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bool,
    Integer,
    Double,
    NegativeZero,
    Decimal,
}

impl EqualKeys {
    /// Adds a key of the map at this depth; returns whether Python takes it for another one that came before. A key
    /// that occurs twice as the same is none of these.
    pub(super) fn add(&mut self, depth: usize, key: &Value) -> Option<Clash> {
        let Some((number, kind)) = numeric(key) else { return self.add_rest(depth, key) };
        self.open(depth);
        let map = self.maps.last_mut()?;
        if kind != Kind::Integer && !map.first.is_empty() {
            self.count -= map.first.len() + map.integers.len();
            map.integers.extend(map.first.drain(..).map(i128::from));
            self.count += map.integers.len();
        }
        if map.has_other(number, kind) {
            return Some(Clash::Equal);
        }
        let own = 1 << kind as u8;
        if map.forgotten & !own != 0 {
            return Some(Clash::Unknown);
        }
        match self.count < KEYS_MAX {
            true => self.count += usize::from(map.insert(number, kind)),
            false => map.forgotten |= own,
        }
        None
    }

    /// Adds a key that is a time or a container; others equal only themselves.
    fn add_rest(&mut self, depth: usize, key: &Value) -> Option<Clash> {
        let may_equal = match key {
            Value::Timestamp(_) | Value::Array(_) | Value::Typed(..) | Value::Anchor(..) => true,
            Value::Ext(time) => matches!(time.as_ext(), Ext::OffsetDateTime(_)),
            _ => false,
        };
        if !may_equal {
            return None;
        }
        let compared = self.hash(|hasher| hash_compared(key, hasher));
        let written = self.hash(|hasher| key.to_string().hash(hasher));
        self.open(depth);
        let map = self.maps.last_mut()?;
        if let Some(first) = map.rest.get(&compared) {
            return (*first != written).then_some(Clash::Equal);
        }
        if map.forgotten_rest {
            return Some(Clash::Unknown);
        }
        match self.count < KEYS_MAX {
            true => {
                self.count += 1;
                map.rest.insert(compared, written);
            }
            false => map.forgotten_rest = true,
        }
        None
    }

    /// Makes the map at this depth the innermost one.
    fn open(&mut self, depth: usize) {
        self.close(depth + 1);
        if self.maps.last().is_none_or(|map| map.depth < depth) {
            self.maps.push(Keys { depth, ..Keys::default() });
        }
    }

    fn hash(&self, write: impl FnOnce(&mut DefaultHasher)) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        write(&mut hasher);
        hasher.finish()
    }

    /// Forgets the maps from this depth on: they have ended.
    #[inline]
    pub(super) fn close(&mut self, depth: usize) {
        while let Some(map) = self.maps.pop_if(|map| map.depth >= depth) {
            self.count -= map.first.len() + map.integers.len() + map.others.len() + map.rest.len();
        }
    }
}

impl Keys {
    /// Returns whether the number is remembered, written in another way.
    fn has_other(&self, number: Number, kind: Kind) -> bool {
        if !self.others.is_empty()
            && let Some(other) = self.others.get(&number)
        {
            return *other != kind;
        }
        match number {
            Number::Integer(integer) if kind != Kind::Integer => self.integers.contains(&integer),
            _ => false,
        }
    }

    /// Remembers a number; returns whether it is new, as far as that is looked up.
    fn insert(&mut self, number: Number, kind: Kind) -> bool {
        match (number, kind) {
            (Number::Integer(integer), Kind::Integer) => match i64::try_from(integer) {
                Ok(integer) if self.others.is_empty() && self.integers.is_empty() => {
                    self.first.push(integer);
                    true
                }
                _ => self.integers.insert(integer),
            },
            _ => self.others.insert(number, kind).is_none(),
        }
    }
}

/// Returns the number that Python compares, and how it is written.
fn numeric(key: &Value) -> Option<(Number, Kind)> {
    Some(match key {
        Value::Bool(v) => (Number::Integer(i128::from(*v)), Kind::Bool),
        Value::Int(v) => (Number::Integer(i128::from(*v)), Kind::Integer),
        Value::UInt(v) => (Number::Integer(i128::from(*v)), Kind::Integer),
        Value::BigInt { negative, magnitude } => {
            (Number::Integer(number::to_i128(*negative, magnitude)?), Kind::Integer)
        }
        Value::F32(v) => double(number::widened(*v))?,
        Value::F64(v) => double(*v)?,
        Value::Decimal(text) => {
            let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
            let is_whole = fraction.bytes().all(|digit| digit == b'0');
            let number = match is_whole.then(|| whole.parse()) {
                Some(Ok(whole)) => Number::Integer(whole),
                _ => double(text.parse().ok()?)?.0,
            };
            (number, Kind::Decimal)
        }
        _ => return None,
    })
}

/// Returns the number of a double; `None` for a NaN, which equals nothing.
fn double(v: f64) -> Option<(Number, Kind)> {
    /// 2¹²⁷.
    const LIMIT: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    let kind = if v == 0.0 && v.is_sign_negative() { Kind::NegativeZero } else { Kind::Double };
    match v.fract() == 0.0 && v.abs() < LIMIT {
        true => Some((Number::Integer(v as i128), kind)),
        false => (!v.is_nan()).then(|| (Number::Double(v.to_bits()), kind)),
    }
}

/// Hashes what Python compares of a key.
fn hash_compared(key: &Value, hasher: &mut DefaultHasher) {
    if let Some((number, _)) = numeric(key) {
        return number.hash(hasher);
    }
    match key {
        Value::Timestamp(at) => (at.seconds, at.nanoseconds / 1000).hash(hasher),
        Value::Ext(one) => match one.as_ext() {
            Ext::OffsetDateTime(text) => match times::instant(text) {
                Some(at) => at.hash(hasher),
                None => text.hash(hasher),
            },
            _ => key.to_string().hash(hasher),
        },
        Value::Anchor(_, inner) => hash_compared(inner, hasher),
        Value::Array(elements) => {
            elements.len().hash(hasher);
            elements.iter().for_each(|one| hash_compared(one, hasher));
        }
        Value::Typed(t, inner) => match (t.kind.as_str(), &**inner) {
            ("tuple" | "fold", inner) => hash_compared(inner, hasher),
            ("frozenset", Value::Array(elements)) => {
                // In any order.
                let hash = |one| {
                    let mut hasher = DefaultHasher::new();
                    hash_compared(one, &mut hasher);
                    hasher.finish()
                };
                elements.iter().fold(0, |sum: u64, one| sum.wrapping_add(hash(one))).hash(hasher);
            }
            (_, inner) => {
                format!("{t:?}").hash(hasher);
                hash_compared(inner, hasher);
            }
        },
        key => key.to_string().hash(hasher),
    }
}
