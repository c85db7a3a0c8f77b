//! Keys that are different here and equal in Python, whose dict then keeps only one entry: `1`, `True` and `1.0`; `0.0`
//! and `-0.0` (Python's language reference, §6.10.1 and §3.3.1, `object.__hash__`).

use std::collections::{HashMap, HashSet};

use crate::model::number;
use crate::model::value::Value;

/// Numbers that are remembered, in all open maps together: 48 MB at most.
const NUMBERS_MAX: usize = 1 << 20;

/// The numeric keys of the open maps.
#[derive(Debug, Default)]
pub(super) struct EqualKeys {
    maps: Vec<Numbers>,
    /// How many are remembered.
    count: usize,
}

/// The numeric keys of a map.
#[derive(Debug, Default)]
struct Numbers {
    depth: usize,
    /// Those that were written as integers, while there are no others: nothing is looked up yet.
    first: Vec<i64>,
    /// Those that were written as integers, once there are others.
    integers: HashSet<i128>,
    /// The others, and how each was written first.
    others: HashMap<Number, Kind>,
    /// Whether there are too many to remember all of them.
    is_full: bool,
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
    /// Adds a key of the map at this depth; returns whether Python takes it for another one that came before, or may
    /// do so among too many to remember. A key that occurs twice as the same is none of these.
    pub(super) fn has_other(&mut self, depth: usize, key: &Value) -> bool {
        let Some((number, kind)) = numeric(key) else { return false };
        self.close(depth + 1);
        if self.maps.last().is_none_or(|map| map.depth < depth) {
            self.maps.push(Numbers { depth, ..Numbers::default() });
        }
        let map = self.maps.last_mut().expect("just added");
        map.is_full |= self.count >= NUMBERS_MAX;
        if let (Kind::Integer, Number::Integer(integer)) = (kind, number) {
            if map.others.is_empty()
                && let Ok(integer) = i64::try_from(integer)
            {
                if !map.is_full {
                    self.count += 1;
                    map.first.push(integer);
                }
                return false;
            }
            if map.others.contains_key(&number) {
                return true;
            }
            self.count += usize::from(!map.is_full && map.integers.insert(integer));
            return false;
        }
        if !map.first.is_empty() {
            self.count -= map.first.len() + map.integers.len();
            map.integers.extend(map.first.drain(..).map(i128::from));
            self.count += map.integers.len();
        }
        if let Some(other) = map.others.get(&number) {
            return *other != kind;
        }
        let may_be_there = match number {
            Number::Integer(integer) => map.is_full || map.integers.contains(&integer),
            Number::Double(_) => false,
        };
        if !may_be_there && !map.is_full {
            self.count += 1;
            map.others.insert(number, kind);
        }
        may_be_there
    }

    /// Forgets the maps from this depth on: they have ended.
    #[inline]
    pub(super) fn close(&mut self, depth: usize) {
        while let Some(map) = self.maps.pop_if(|map| map.depth >= depth) {
            self.count -= map.first.len() + map.integers.len() + map.others.len();
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

/// Not a NaN, which equals nothing, and no integer beyond 128 bits.
fn double(v: f64) -> Option<(Number, Kind)> {
    /// 2¹²⁷.
    const LIMIT: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    let kind = if v == 0.0 && v.is_sign_negative() { Kind::NegativeZero } else { Kind::Double };
    match v.fract() == 0.0 && v.abs() < LIMIT {
        true => Some((Number::Integer(v as i128), kind)),
        false => (!v.is_nan()).then(|| (Number::Double(v.to_bits()), kind)),
    }
}
