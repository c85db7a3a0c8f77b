//! Keys that are different here and equal in Python, whose dict then keeps only one entry: `1`, `True` and `1.0`; `0.0`
//! and `-0.0`; a point in time with two offsets; tuples and frozensets of them (Python's language reference, §6.10.1 and
//! §3.3.1, `object.__hash__`; the library's, `datetime` objects).

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _, RandomState};

use super::times;
use crate::model::number;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext};

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
    others: HashMap<Number, Form>,
    /// Times and containers: what Python compares, and how it was written first; as hashes.
    rest: HashMap<u64, u64>,
    /// The kinds of number of which there were too many to remember all, a bit for each.
    forgotten: u8,
    /// Whether there were too many times and containers to remember all.
    forgotten_rest: bool,
}

/// A number as Python compares it: exactly, whatever its types are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Number {
    Integer(i128),
    /// The bits of a double that is no integer.
    Double(u64),
    /// What is neither: its [`Digits`], as a hash.
    Decimal(u64),
}

/// The digits of a number without zeros at the ends, and its power of ten.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Digits {
    is_negative: bool,
    digits: String,
    exponent: i64,
}

/// How a number is written: its kind, and for a decimal its spelling, as a hash.
type Form = (Kind, u64);

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
        let Some((number, kind)) = numeric(key, &self.hasher) else {
            return self.add_rest(depth, key);
        };
        let spelling = match key {
            Value::Decimal(text) => self.hasher.hash_one(text),
            _ => 0,
        };
        let form = (kind, spelling);
        self.open(depth);
        let map = self.maps.last_mut()?;
        if kind != Kind::Integer && !map.first.is_empty() {
            self.count -= map.first.len() + map.integers.len();
            map.integers.extend(map.first.drain(..).map(i128::from));
            self.count += map.integers.len();
        }
        if map.has_other(number, form) {
            return Some(Clash::Equal);
        }
        let own = 1 << kind as u8;
        if map.forgotten & !own != 0 {
            return Some(Clash::Unknown);
        }
        match self.count < KEYS_MAX {
            true => self.count += usize::from(map.insert(number, form)),
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
        let mut compared = self.hasher.build_hasher();
        hash_compared(key, &self.hasher, &mut compared);
        let (compared, written) = (compared.finish(), self.hasher.hash_one(key.to_string()));
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
    fn has_other(&self, number: Number, form: Form) -> bool {
        if !self.others.is_empty()
            && let Some(other) = self.others.get(&number)
        {
            return *other != form;
        }
        match number {
            Number::Integer(integer) if form.0 != Kind::Integer => self.integers.contains(&integer),
            _ => false,
        }
    }

    /// Remembers a number; returns whether it is new, as far as that is looked up.
    fn insert(&mut self, number: Number, form: Form) -> bool {
        match (number, form.0) {
            (Number::Integer(integer), Kind::Integer) => match i64::try_from(integer) {
                Ok(integer) if self.others.is_empty() && self.integers.is_empty() => {
                    self.first.push(integer);
                    true
                }
                _ => self.integers.insert(integer),
            },
            _ => self.others.insert(number, form).is_none(),
        }
    }
}

/// Returns the number that Python compares, and how it is written.
fn numeric(key: &Value, hasher: &RandomState) -> Option<(Number, Kind)> {
    Some(match key {
        Value::Bool(v) => (Number::Integer(i128::from(*v)), Kind::Bool),
        Value::Int(v) => (Number::Integer(i128::from(*v)), Kind::Integer),
        Value::UInt(v) => (Number::Integer(i128::from(*v)), Kind::Integer),
        Value::BigInt { negative, magnitude } => {
            let number = match number::to_i128(*negative, magnitude) {
                Some(integer) => Number::Integer(integer),
                None => exact(
                    &number::big_int_text(BigInt::Binary { negative: *negative, magnitude }),
                    hasher,
                )?,
            };
            (number, Kind::Integer)
        }
        Value::F32(v) => double(number::widened(*v), hasher)?,
        Value::F64(v) => double(*v, hasher)?,
        Value::Decimal(text) => (exact(text, hasher)?, Kind::Decimal),
        _ => return None,
    })
}

/// Returns the number of a double; `None` for a NaN, which equals nothing.
fn double(v: f64, hasher: &RandomState) -> Option<(Number, Kind)> {
    /// 2¹²⁷.
    const LIMIT: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    let kind = if v == 0.0 && v.is_sign_negative() { Kind::NegativeZero } else { Kind::Double };
    let number = match v.fract() == 0.0 {
        true if v.abs() < LIMIT => Number::Integer(v as i128),
        true => exact(&format!("{v:.0}"), hasher)?,
        false if v.is_nan() => return None,
        false => Number::Double(v.to_bits()),
    };
    Some((number, kind))
}

/// Returns the number that a decimal text stands for; `None` for a NaN.
fn exact(text: &str, hasher: &RandomState) -> Option<Number> {
    /// How many digits after the point a double may have.
    const FRACTION_MAX: usize = 1074;
    let near: f64 = text.parse().ok()?;
    let Some(digits) = Digits::of(text) else {
        return (!near.is_nan()).then(|| Number::Double(near.to_bits()));
    };
    if let Some(integer) = digits.integer() {
        return Some(Number::Integer(integer));
    }
    // The last digit of a double's fraction is a 5.
    let is_double = digits.exponent < 0
        && digits.digits.ends_with('5')
        && near.is_finite()
        && Digits::of(&format!("{near:.FRACTION_MAX$}")).as_ref() == Some(&digits);
    Some(if is_double {
        Number::Double(near.to_bits())
    } else {
        Number::Decimal(hasher.hash_one(digits))
    })
}

impl Digits {
    /// Returns those of a decimal text; `None` if it is a name, such as `Infinity`.
    fn of(text: &str) -> Option<Digits> {
        let (is_negative, text) = match text.strip_prefix(['-', '+']) {
            Some(rest) => (text.starts_with('-'), rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        if !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = all.trim_end_matches('0');
        let zeros = (all.len() - digits.len()) as i64;
        // Decimals have no larger exponents than fit.
        let exponent = exponent.parse::<i64>().ok()?.checked_sub(fraction.len() as i64)?;
        let digits = digits.trim_start_matches('0').to_owned();
        Some(match digits.is_empty() {
            true => Digits { is_negative: false, digits, exponent: 0 },
            false => Digits { is_negative, digits, exponent: exponent.checked_add(zeros)? },
        })
    }

    /// Returns the integer that these are, if it is one of 128 bits.
    fn integer(&self) -> Option<i128> {
        if self.digits.is_empty() {
            return Some(0);
        }
        let zeros = usize::try_from(self.exponent).ok().filter(|zeros| *zeros < 40)?;
        let sign = if self.is_negative { "-" } else { "" };
        format!("{sign}{}{}", self.digits, "0".repeat(zeros)).parse().ok()
    }
}

/// Hashes what Python compares of a key.
fn hash_compared(key: &Value, state: &RandomState, hasher: &mut DefaultHasher) {
    if let Some((number, _)) = numeric(key, state) {
        return number.hash(hasher);
    }
    match key {
        Value::Timestamp(at) => ("time", at.seconds, at.nanoseconds / 1000).hash(hasher),
        Value::Ext(one) => match one.as_ext() {
            Ext::OffsetDateTime(text) => match times::instant(text) {
                Some((seconds, microseconds)) => ("time", seconds, microseconds).hash(hasher),
                None => text.hash(hasher),
            },
            _ => key.to_string().hash(hasher),
        },
        Value::Anchor(_, inner) => hash_compared(inner, state, hasher),
        Value::Array(elements) => {
            ("tuple", elements.len()).hash(hasher);
            elements.iter().for_each(|one| hash_compared(one, state, hasher));
        }
        Value::Typed(t, inner) => match (t.kind.as_str(), &**inner) {
            ("tuple" | "fold", inner) => hash_compared(inner, state, hasher),
            ("frozenset", Value::Array(elements)) => {
                // In any order.
                let hash = |one| {
                    let mut hasher = state.build_hasher();
                    hash_compared(one, state, &mut hasher);
                    hasher.finish()
                };
                let sum = elements.iter().fold(0, |sum: u64, one| sum.wrapping_add(hash(one)));
                ("frozenset", elements.len(), sum).hash(hasher);
            }
            (_, inner) => {
                format!("{t:?}").hash(hasher);
                hash_compared(inner, state, hasher);
            }
        },
        key => key.to_string().hash(hasher),
    }
}
