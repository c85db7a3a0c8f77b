//! Numbers: integers of any size and decimals are exact; a double makes a result a double.

use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};
use num_traits::{Pow as _, Signed as _, ToPrimitive as _, Zero as _};
use regauge::{Ext, Value, decimal128};

use super::{Rare, Val};
use crate::guard;

thread_local! {
    static EXACT: Cell<bool> = const { Cell::new(false) };
}

/// Says whether numbers with a fraction in the filters of this thread are decimals.
pub(crate) fn set_exact(exact: bool) {
    EXACT.set(exact);
}

/// Returns whether they are.
pub(super) fn is_exact() -> bool {
    EXACT.get()
}

/// A number, as a value has it.
#[derive(Clone, Debug)]
pub(crate) enum Num<'v> {
    Int(i64),
    Big(Cow<'v, BigInt>),
    Float(f64),
    Decimal(Decimal),
}

/// `digits` × 10^-`scale`.
#[derive(Clone, Debug)]
pub(crate) struct Decimal {
    digits: BigInt,
    scale: i64,
}

/// The largest exponent that is taken into account exactly: beyond it, a decimal is a double.
const SCALE_MAX: i64 = 5_000;

/// Doubles below this are written as integers if they are whole, as jq does.
const WHOLE_MAX: f64 = 1e17;

impl Val {
    /// Returns the number, if the value is one.
    pub fn num(&self) -> Option<Num<'_>> {
        Some(match self.untyped() {
            Val::Int(v) => Num::Int(*v),
            Val::Float(v) => Num::Float(*v),
            Val::Rare(rare) => match &**rare {
                Rare::Big(v) => Num::Big(Cow::Borrowed(v)),
                Rare::Single(v) => Num::Float(f64::from(*v)),
                Rare::Decimal(text) => Num::of_text(text),
                Rare::Other(Value::Ext(ext)) => match ext.as_ext() {
                    Ext::Int64(v) => Num::Int(v),
                    Ext::Decimal128(bytes) => Num::of_text(&decimal128::nearest_text(&bytes)),
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Returns a double as a number: an integer if it is whole and all of its digits count.
    pub fn float(v: f64) -> Val {
        let is_whole = v.fract() == 0.0 && v.abs() < WHOLE_MAX;
        match is_whole && !(v == 0.0 && v.is_sign_negative()) {
            true => Val::Int(v as i64),
            false => Val::Float(v),
        }
    }

    /// Returns the position that an index means, counted from the end if it is negative.
    pub fn position(&self) -> Option<i64> {
        match self.num()? {
            Num::Int(v) => Some(v),
            Num::Big(v) => Some(if v.sign() == Sign::Minus { i64::MIN } else { i64::MAX }),
            Num::Float(v) if v.is_nan() => None,
            num => Some(num.to_f64().floor() as i64),
        }
    }
}

impl From<Num<'_>> for Val {
    fn from(num: Num<'_>) -> Val {
        match num {
            Num::Int(v) => Val::Int(v),
            Num::Big(v) => Val::big(v.into_owned()),
            Num::Float(v) => Val::float(v),
            Num::Decimal(v) => Val::rare(Rare::Decimal(v.to_string().into())),
        }
    }
}

impl Num<'_> {
    fn of_text(text: &str) -> Num<'static> {
        match Decimal::parse(text) {
            Some(decimal) => Num::Decimal(decimal),
            None => Num::Float(text.parse().unwrap_or(f64::NAN)),
        }
    }

    pub fn is_int(&self) -> bool {
        matches!(self, Num::Int(_) | Num::Big(_))
    }

    pub fn to_f64(&self) -> f64 {
        match self {
            Num::Int(v) => *v as f64,
            Num::Big(v) => v.to_f64().unwrap_or(f64::INFINITY),
            Num::Float(v) => *v,
            Num::Decimal(v) => v.to_string().parse().unwrap_or(f64::NAN),
        }
    }

    fn to_big(&self) -> BigInt {
        match self {
            Num::Int(v) => BigInt::from(*v),
            Num::Big(v) => v.clone().into_owned(),
            Num::Float(_) | Num::Decimal(_) => BigInt::zero(),
        }
    }

    fn to_decimal(&self) -> Option<Decimal> {
        match self {
            Num::Int(v) => Some(Decimal { digits: BigInt::from(*v), scale: 0 }),
            Num::Big(v) => Some(Decimal { digits: v.clone().into_owned(), scale: 0 }),
            Num::Decimal(v) => Some(v.clone()),
            Num::Float(_) => None,
        }
    }

    /// Applies an operation in the narrowest kind of number that holds both operands and the result.
    fn apply(
        self,
        other: Num<'_>,
        int: fn(i64, i64) -> Option<i64>,
        big: fn(BigInt, BigInt) -> BigInt,
        decimal: fn(Decimal, Decimal) -> Decimal,
        float: fn(f64, f64) -> f64,
    ) -> Num<'static> {
        if let (Num::Int(a), Num::Int(b)) = (&self, &other)
            && let Some(v) = int(*a, *b)
        {
            return Num::Int(v);
        }
        if self.is_int() && other.is_int() {
            let v = big(self.to_big(), other.to_big());
            return match v.bits() <= guard::INTEGER_BITS_MAX {
                true => Num::Big(Cow::Owned(v)),
                false => {
                    Num::Float(if v.is_negative() { f64::NEG_INFINITY } else { f64::INFINITY })
                }
            };
        }
        if let (Some(a), Some(b)) = (self.to_decimal(), other.to_decimal()) {
            let v = decimal(a, b);
            if v.digits.bits() <= guard::INTEGER_BITS_MAX && v.scale.abs() <= SCALE_MAX {
                return Num::Decimal(v);
            }
        }
        Num::Float(float(self.to_f64(), other.to_f64()))
    }

    pub fn add(self, other: Num<'_>) -> Num<'static> {
        let decimal = |a: Decimal, b: Decimal| a.aligned(b, |a, b| a + b);
        self.apply(other, i64::checked_add, |a, b| a + b, decimal, |a, b| a + b)
    }

    pub fn sub(self, other: Num<'_>) -> Num<'static> {
        let decimal = |a: Decimal, b: Decimal| a.aligned(b, |a, b| a - b);
        self.apply(other, i64::checked_sub, |a, b| a - b, decimal, |a, b| a - b)
    }

    pub fn mul(self, other: Num<'_>) -> Num<'static> {
        let decimal = |a: Decimal, b: Decimal| Decimal {
            digits: a.digits * b.digits,
            scale: a.scale + b.scale,
        };
        self.apply(other, i64::checked_mul, |a, b| a * b, decimal, |a, b| a * b)
    }

    /// Divides: an integer by a divisor of it gives an integer, anything else a double. `None` by
    /// zero.
    pub fn div(self, other: Num<'_>) -> Option<Num<'static>> {
        if other.is_zero() {
            return None;
        }
        if self.is_int() && other.is_int() {
            let (a, b) = (self.to_big(), other.to_big());
            if (&a % &b).is_zero() {
                return Some(Num::Big(Cow::Owned(a / b)));
            }
        }
        Some(Num::Float(self.to_f64() / other.to_f64()))
    }

    /// Returns the remainder of the integers before the points, with the sign of the first; `None`
    /// by zero.
    pub fn rem(self, other: Num<'_>) -> Option<Num<'static>> {
        let whole = |num: Num<'_>| match num {
            Num::Int(v) => Some(BigInt::from(v)),
            Num::Big(v) => Some(v.into_owned()),
            // As jq does: beyond 64 bits, a double is the nearest integer of 64 bits.
            num => match num.to_f64() {
                v if v.is_nan() => None,
                v => Some(BigInt::from(v as i64)),
            },
        };
        let (Some(a), Some(b)) = (whole(self), whole(other)) else {
            return Some(Num::Float(f64::NAN));
        };
        (!b.is_zero()).then(|| Num::Big(Cow::Owned(a % b)))
    }

    pub fn neg(self) -> Num<'static> {
        match self {
            Num::Int(v) => match v.checked_neg() {
                Some(v) => Num::Int(v),
                None => Num::Big(Cow::Owned(-BigInt::from(v))),
            },
            Num::Big(v) => Num::Big(Cow::Owned(-v.into_owned())),
            Num::Float(v) => Num::Float(-v),
            Num::Decimal(v) => Num::Decimal(Decimal { digits: -v.digits, scale: v.scale }),
        }
    }

    pub fn is_negative(&self) -> bool {
        match self {
            Num::Int(v) => *v < 0,
            Num::Big(v) => v.is_negative(),
            Num::Float(v) => *v < 0.0,
            Num::Decimal(v) => v.digits.is_negative(),
        }
    }

    fn is_zero(&self) -> bool {
        match self {
            Num::Int(v) => *v == 0,
            Num::Big(v) => v.is_zero(),
            Num::Float(v) => *v == 0.0,
            Num::Decimal(v) => v.digits.is_zero(),
        }
    }

    /// Compares the numbers; NaN is below all others and equal to itself.
    pub fn compare(&self, other: &Num<'_>) -> Ordering {
        match (self, other) {
            (Num::Int(a), Num::Int(b)) => a.cmp(b),
            (Num::Float(a), Num::Float(b)) => compare_floats(*a, *b),
            (Num::Float(a), b) => b.compare_float(*a).reverse(),
            (a, Num::Float(b)) => a.compare_float(*b),
            (a, b) => match (a.to_decimal(), b.to_decimal()) {
                (Some(a), Some(b)) => a.aligned(b, |a, b| a - b).digits.cmp(&BigInt::zero()),
                _ => Ordering::Equal,
            },
        }
    }

    /// Compares an exact number with a double: exactly, if the double is whole.
    fn compare_float(&self, other: f64) -> Ordering {
        match self {
            _ if !other.is_finite() => compare_floats(0.0, other),
            Num::Int(v) if v.unsigned_abs() < 1 << 53 => compare_floats(*v as f64, other),
            Num::Int(_) | Num::Big(_) => {
                let whole = num_traits::FromPrimitive::from_f64(other.floor());
                let whole: BigInt = whole.unwrap_or_default();
                self.to_big().cmp(&whole).then(compare_floats(0.0, other.fract().abs()))
            }
            num => compare_floats(num.to_f64(), other),
        }
    }
}

/// Compares doubles; NaN is below all others.
fn compare_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
}

impl Decimal {
    /// Parses a number in decimal notation; `None` if it is none, or its exponent is too large.
    fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let scale = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        if scale.abs() > SCALE_MAX || mantissa.len() as i64 > SCALE_MAX {
            return None;
        }
        Some(Decimal { digits: format!("{whole}{fraction}").parse().ok()?, scale })
    }

    /// Applies an operation to the digits at the same scale.
    fn aligned(self, other: Decimal, act: fn(BigInt, BigInt) -> BigInt) -> Decimal {
        let scale = self.scale.max(other.scale);
        let raised = |v: Decimal| v.digits * BigInt::from(10).pow((scale - v.scale) as u64);
        Decimal { digits: act(raised(self), raised(other)), scale }
    }
}

/// Writes all digits, with as many after the point as the scale says.
impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.digits.is_negative() { "-" } else { "" };
        let digits = self.digits.magnitude().to_string();
        if self.scale <= 0 {
            return match self.scale {
                0 => write!(f, "{sign}{digits}"),
                scale => write!(f, "{sign}{digits}e{}", -scale),
            };
        }
        let places = self.scale as usize;
        let digits = format!("{digits:0>width$}", width = places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        write!(f, "{sign}{whole}.{fraction}")
    }
}
