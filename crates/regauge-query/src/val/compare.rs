//! The order of values: null, false, true, numbers, texts, what JSON lacks, arrays, maps. Types
//! around values do not count.

use std::cmp::Ordering;

use regauge::{Ext, Value};

use super::{Map, Rare, Val};

/// The place of a kind of value in the order.
fn rank(val: &Val) -> u8 {
    match val.untyped() {
        Val::Null => 0,
        Val::Bool(false) => 1,
        Val::Bool(true) => 2,
        Val::Int(_) | Val::Float(_) => 3,
        Val::Text(_) => 4,
        Val::Array(_) => 8,
        Val::Map(_) => 9,
        Val::Rare(rare) => match &**rare {
            Rare::Big(_) | Rare::Single(_) | Rare::Decimal(_) => 3,
            Rare::Bytes(_) => 5,
            Rare::Other(Value::Timestamp(_)) => 6,
            Rare::Other(Value::Ext(ext)) => match ext.as_ext() {
                Ext::Int64(_) | Ext::Decimal128(_) => 3,
                Ext::Symbol(_) => 4,
                _ => 7,
            },
            Rare::Typed(..) | Rare::Other(_) => 7,
        },
    }
}

impl Ord for Val {
    fn cmp(&self, other: &Val) -> Ordering {
        let (a, b) = (self.untyped(), other.untyped());
        match (a, b) {
            (Val::Int(a), Val::Int(b)) => return a.cmp(b),
            (Val::Text(a), Val::Text(b)) => return a.cmp(b),
            (Val::Array(a), Val::Array(b)) => return a.values.cmp(&b.values),
            (Val::Map(a), Val::Map(b)) => return compare_maps(a, b),
            _ => {}
        }
        let by_rank = rank(a).cmp(&rank(b));
        if by_rank.is_ne() {
            return by_rank;
        }
        if let (Some(a), Some(b)) = (a.num(), b.num()) {
            return a.compare(&b);
        }
        if let (Some(a), Some(b)) = (a.text(), b.text()) {
            return a.cmp(b);
        }
        match (a.other(), b.other()) {
            (Some(Value::Timestamp(a)), Some(Value::Timestamp(b))) => a.cmp(b),
            (Some(Value::Ext(x)), Some(Value::Ext(y))) => match (x.as_ext(), y.as_ext()) {
                (Ext::Date(x), Ext::Date(y))
                | (Ext::Time(x), Ext::Time(y))
                | (Ext::DateTime(x), Ext::DateTime(y)) => x.cmp(y),
                (
                    Ext::Duration { seconds: x, nanoseconds: i },
                    Ext::Duration { seconds: y, nanoseconds: j },
                ) => (x, i).cmp(&(y, j)),
                (x, y) if x == y => Ordering::Equal,
                (x, y) => x.type_name().cmp(y.type_name()).then_with(|| shown(a).cmp(&shown(b))),
            },
            _ => match (a.binary(), b.binary()) {
                (Some(a), Some(b)) => a.cmp(b),
                _ => shown(a).cmp(&shown(b)),
            },
        }
    }
}

/// Orders the values that have no other order by their notation.
fn shown(val: &Val) -> String {
    match val {
        Val::Null | Val::Bool(_) => String::new(),
        val => val.to_string(),
    }
}

/// Compares the sorted keys first, then the values in the order of the keys, as jq does.
fn compare_maps(a: &Map, b: &Map) -> Ordering {
    let sorted = |map: &Map| {
        let mut pairs: Vec<_> = map.pairs().to_vec();
        pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
        pairs
    };
    let (a, b) = (sorted(a), sorted(b));
    let keys = a.iter().map(|pair| &pair.0).cmp(b.iter().map(|pair| &pair.0));
    keys.then_with(|| a.iter().map(|pair| &pair.1).cmp(b.iter().map(|pair| &pair.1)))
}

impl PartialOrd for Val {
    fn partial_cmp(&self, other: &Val) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether a value is, or holds, NaN, which differs from itself.
fn is_nan(val: &Val) -> bool {
    match val {
        Val::Float(v) => v.is_nan(),
        Val::Rare(rare) => matches!(**rare, Rare::Single(v) if v.is_nan()),
        _ => false,
    }
}

impl PartialEq for Val {
    fn eq(&self, other: &Val) -> bool {
        match (self, other) {
            (Val::Text(a), Val::Text(b)) => a == b,
            (Val::Int(a), Val::Int(b)) => a == b,
            (Val::Array(a), Val::Array(b)) => a.values == b.values,
            (Val::Map(a), Val::Map(b)) => {
                let same = |(key, value): &(Val, Val)| b.get(key).is_some_and(|v| v == value);
                a.pairs().len() == b.pairs().len() && a.pairs().iter().all(same)
            }
            (a, b) => !is_nan(a.untyped()) && self.cmp(other).is_eq() && !is_nan(b.untyped()),
        }
    }
}

impl Eq for Val {}
