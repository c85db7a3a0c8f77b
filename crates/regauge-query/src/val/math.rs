//! Arithmetic, as jq defines it, and with points in time.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};
use std::rc::Rc;

use jaq_core::ops::Math;
use num_bigint::BigInt;
use num_traits::ToPrimitive as _;
use regauge::{Timestamp, Value};

use super::{Error, Map, Rare, Val, ValR};
use crate::guard;

const NANOSECONDS: i64 = 1_000_000_000;

fn too_long() -> Error {
    Error::str(format_args!("the filter makes a text of more than {} bytes", guard::TEXT_MAX))
}

/// Joins two texts.
fn joined(a: &str, b: &str) -> ValR {
    if a.len() + b.len() > guard::TEXT_MAX {
        return Err(too_long());
    }
    let mut text = String::with_capacity(a.len() + b.len());
    text.push_str(a);
    text.push_str(b);
    Ok(Val::from(text))
}

impl Val {
    fn time(&self) -> Option<Timestamp> {
        match self.other() {
            Some(Value::Timestamp(v)) => Some(*v),
            _ => None,
        }
    }

    fn array_ref(&self) -> Option<&Rc<super::List>> {
        match self.untyped() {
            Val::Array(list) => Some(list),
            _ => None,
        }
    }

    fn map_ref(&self) -> Option<&Rc<Map>> {
        match self.untyped() {
            Val::Map(map) => Some(map),
            _ => None,
        }
    }
}

/// Returns a point in time as nanoseconds since 1970.
fn nanoseconds(at: Timestamp) -> i128 {
    i128::from(at.seconds) * i128::from(NANOSECONDS) + i128::from(at.nanoseconds)
}

/// Returns nanoseconds as exact seconds: an integer, or a decimal.
pub(crate) fn seconds(nanoseconds: i128) -> Val {
    let unit = i128::from(NANOSECONDS);
    if nanoseconds % unit == 0 {
        return Val::big(BigInt::from(nanoseconds / unit));
    }
    let (sign, rest) = (if nanoseconds < 0 { "-" } else { "" }, nanoseconds.unsigned_abs());
    let unit = unit.unsigned_abs();
    let text = format!("{sign}{}.{:09}", rest / unit, rest % unit);
    Val::rare(Rare::Decimal(text.trim_end_matches('0').into()))
}

/// Returns a number of seconds in nanoseconds, exact if the number is.
pub(crate) fn to_nanoseconds(seconds: &Val) -> Option<i128> {
    use super::number::Num;
    let num = seconds.num()?;
    if let Num::Float(v) = num {
        let whole = v.floor();
        let fraction = ((v - whole) * NANOSECONDS as f64).round();
        return (v.abs() < 1e15)
            .then(|| whole as i128 * i128::from(NANOSECONDS) + fraction as i128);
    }
    match Val::from(num.mul(Num::Int(NANOSECONDS))) {
        Val::Int(v) => Some(i128::from(v)),
        Val::Rare(rare) => match &*rare {
            Rare::Big(v) => v.to_i128(),
            // Digits beyond nanoseconds are cut off.
            Rare::Decimal(text) => {
                text.split_once('.').map_or(&**text, |(whole, _)| whole).parse().ok()
            }
            _ => None,
        },
        _ => None,
    }
}

/// Creates the point in time that is this many nanoseconds after 1970.
pub(crate) fn time(nanoseconds: i128) -> Option<Val> {
    let unit = i128::from(NANOSECONDS);
    let seconds = i64::try_from(nanoseconds.div_euclid(unit)).ok()?;
    let nanoseconds = nanoseconds.rem_euclid(unit) as u32;
    Some(Val::rare(Rare::Other(Value::Timestamp(Timestamp { seconds, nanoseconds }))))
}

/// Returns the exact seconds since 1970 of a point in time.
pub(crate) fn seconds_of(val: &Val) -> Option<Val> {
    val.time().map(|at| seconds(nanoseconds(at)))
}

impl Add for Val {
    type Output = ValR;

    fn add(self, other: Val) -> ValR {
        guard::step();
        match (self, other) {
            (Val::Null, val) | (val, Val::Null) => Ok(val),
            (Val::Int(a), Val::Int(b)) if a.checked_add(b).is_some() => Ok(Val::Int(a + b)),
            (Val::Array(mut a), Val::Array(b)) => {
                guard::check_room(b.values.len());
                let list = Rc::make_mut(&mut a);
                list.edit(|values| values.extend(b.values.iter().cloned()));
                list.holds(Val::Array(b).depth() - 1);
                Ok(Val::Array(a))
            }
            (Val::Map(mut a), Val::Map(b)) => {
                let map = Rc::make_mut(&mut a);
                b.pairs().iter().for_each(|(key, value)| map.insert(key.clone(), value.clone()));
                Ok(Val::Map(a))
            }
            (a, b) => add_rare(a, b),
        }
    }
}

fn add_rare(a: Val, b: Val) -> ValR {
    if let (Some(a), Some(b)) = (a.text(), b.text()) {
        return joined(a, b);
    }
    if let (Some(a), Some(b)) = (a.num(), b.num()) {
        return Ok(a.add(b).into());
    }
    let moved = |at: &Val, by: &Val| time(nanoseconds(at.time()?) + to_nanoseconds(by)?);
    if let Some(time) = moved(&a, &b).or_else(|| moved(&b, &a)) {
        return Ok(time);
    }
    if let (Some(a), Some(b)) = (a.array_ref(), b.array_ref()) {
        return Val::Array(Rc::clone(a)) + Val::Array(Rc::clone(b));
    }
    if let (Some(a), Some(b)) = (a.map_ref(), b.map_ref()) {
        return Val::Map(Rc::clone(a)) + Val::Map(Rc::clone(b));
    }
    match (a.binary(), b.binary()) {
        (Some(a), Some(b)) if a.len() + b.len() <= guard::TEXT_MAX => {
            Ok(Val::bytes([a, b].concat()))
        }
        _ => Err(Error::math(a, Math::Add, b)),
    }
}

impl Sub for Val {
    type Output = ValR;

    fn sub(self, other: Val) -> ValR {
        if let (Some(a), Some(b)) = (self.num(), other.num()) {
            return Ok(a.sub(b).into());
        }
        if let (Some(a), Some(b)) = (self.array_ref(), other.array_ref()) {
            #[expect(
                clippy::mutable_key_type,
                reason = "a cache, which the order does not look at"
            )]
            let gone: std::collections::BTreeSet<_> = b.values.iter().collect();
            let kept = a.values.iter().filter(|value| !gone.contains(value));
            return Ok(Val::array(kept.cloned().collect()));
        }
        if let Some(at) = self.time() {
            if let Some(earlier) = other.time() {
                return Ok(seconds(nanoseconds(at) - nanoseconds(earlier)));
            }
            if let Some(time) = to_nanoseconds(&other).and_then(|by| time(nanoseconds(at) - by)) {
                return Ok(time);
            }
        }
        Err(Error::math(self, Math::Sub, other))
    }
}

/// Merges maps into maps; anything else is replaced.
fn merge(a: &mut Map, b: &Map) {
    for (key, value) in b.pairs() {
        let merged = match (a.take(key), value) {
            (Val::Map(mut old), Val::Map(new)) => {
                merge(Rc::make_mut(&mut old), new);
                Val::Map(old)
            }
            (old, new) => merged_typed(&old, new).unwrap_or_else(|| new.clone()),
        };
        a.insert(key.clone(), merged);
    }
}

/// Merges two maps with types around one or both of them. The result has the type of the second, or else of the first.
fn merged_typed(old: &Val, new: &Val) -> Option<Val> {
    let (mut merged, more) = (Rc::clone(old.map_ref()?), new.map_ref()?);
    merge(Rc::make_mut(&mut merged), more);
    let types = if matches!(new, Val::Map(_)) { old } else { new };
    Some(types.around(Val::Map(merged)))
}

/// Repeats a text; a negative number of times gives null, as in jq.
fn repeated(text: &str, times: f64) -> ValR {
    if times < 0.0 || times.is_nan() {
        return Ok(Val::Null);
    }
    if text.len() as f64 * times > guard::TEXT_MAX as f64 {
        return Err(too_long());
    }
    Ok(Val::from(text.repeat(times as usize)))
}

impl Mul for Val {
    type Output = ValR;

    fn mul(self, other: Val) -> ValR {
        if let (Some(a), Some(b)) = (self.num(), other.num()) {
            return Ok(a.mul(b).into());
        }
        match (self.text(), other.num(), self.num(), other.text()) {
            (Some(text), Some(times), ..) | (.., Some(times), Some(text)) => {
                return repeated(text, times.to_f64());
            }
            _ => {}
        }
        if let (Some(_), Some(b), Val::Map(a)) = (self.map_ref(), other.map_ref(), self.untyped()) {
            let mut a = Rc::clone(a);
            drop(self);
            merge(Rc::make_mut(&mut a), b);
            return Ok(Val::Map(a));
        }
        Err(Error::math(self, Math::Mul, other))
    }
}

impl Div for Val {
    type Output = ValR;

    fn div(self, other: Val) -> ValR {
        if let (Some(a), Some(b)) = (self.num(), other.num()) {
            let quotient = a.div(b);
            return quotient.map(Val::from).ok_or_else(|| Error::math(self, Math::Div, other));
        }
        match (self.text(), other.text()) {
            (Some(""), Some(_)) => Ok(Val::array(Vec::new())),
            (Some(text), Some("")) => {
                Ok(text.chars().map(|letter| Val::from(letter.to_string())).collect())
            }
            (Some(text), Some(by)) => {
                Ok(text.split(by).map(|part| Val::Text(part.into())).collect())
            }
            _ => Err(Error::math(self, Math::Div, other)),
        }
    }
}

impl Rem for Val {
    type Output = ValR;

    fn rem(self, other: Val) -> ValR {
        if let (Some(a), Some(b)) = (self.num(), other.num())
            && let Some(rest) = a.rem(b)
        {
            return Ok(rest.into());
        }
        Err(Error::math(self, Math::Rem, other))
    }
}

impl Neg for Val {
    type Output = ValR;

    fn neg(self) -> ValR {
        match self.num() {
            Some(num) => Ok(num.neg().into()),
            None => Err(Error::typ(self, "number")),
        }
    }
}
