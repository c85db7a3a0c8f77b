//! Values from Rust's own types.
//!
//! `Vec<u8>` and `&[u8]` are bytes. There is no `From<Vec<T>>` for other elements, because it would
//! make an array of integers out of bytes; an iterator of anything that is a value collects into
//! an array, and an iterator of pairs into a map:
//!
//! ```
//! use regauge::Value;
//!
//! assert_eq!(Value::from(vec![1_u8, 2]), Value::Bytes(vec![1, 2]));
//! let array: Value = vec![1, 2].into_iter().collect();
//! assert_eq!(array, Value::Array(vec![Value::Int(1), Value::Int(2)]));
//! let map: Value = [("a", 1)].into_iter().collect();
//! assert_eq!(map, Value::from([("a", 1)]));
//! ```

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::Value;
use crate::model::ext::{ExtBuf, Timestamp};

/// Integers that fit `i64`.
macro_rules! from_signed {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Value {
            fn from(v: $integer) -> Value {
                Value::Int(v as i64)
            }
        }
    )*};
}
from_signed!(i8 i16 i32 i64 isize u8 u16 u32);

/// Integers of which some are beyond `i64`: the model has one way to hold each integer.
macro_rules! from_wide {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Value {
            fn from(v: $integer) -> Value {
                if let Ok(v) = i64::try_from(v) {
                    return Value::Int(v);
                }
                #[allow(irrefutable_let_patterns, reason = "also for 64 bits")]
                if let Ok(v) = u64::try_from(v) {
                    return Value::UInt(v);
                }
                #[allow(unused_comparisons, reason = "also for unsigned integers")]
                let negative = v < 0;
                #[allow(clippy::unnecessary_cast, reason = "also for 64 bits")]
                let magnitude = if negative { (v as i128).unsigned_abs() } else { v as u128 };
                Value::BigInt { negative, magnitude: crate::model::number::to_magnitude(magnitude) }
            }
        }
    )*};
}
from_wide!(u64 usize i128 u128);

macro_rules! from_owned {
    ($($owned:ty => $variant:ident,)*) => {$(
        impl From<$owned> for Value {
            fn from(v: $owned) -> Value {
                Value::$variant(v)
            }
        }
    )*};
}
from_owned! {
    bool => Bool,
    f32 => F32,
    f64 => F64,
    String => Text,
    Vec<u8> => Bytes,
    Vec<Value> => Array,
    Vec<(Value, Value)> => Map,
    Timestamp => Timestamp,
    ExtBuf => Ext,
}

impl From<()> for Value {
    fn from((): ()) -> Value {
        Value::Null
    }
}

impl From<char> for Value {
    fn from(v: char) -> Value {
        Value::Text(v.into())
    }
}

impl From<&str> for Value {
    fn from(v: &str) -> Value {
        Value::Text(v.to_owned())
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(v: Cow<'_, str>) -> Value {
        Value::Text(v.into_owned())
    }
}

impl From<&[u8]> for Value {
    fn from(v: &[u8]) -> Value {
        Value::Bytes(v.to_owned())
    }
}

impl<const N: usize> From<&[u8; N]> for Value {
    fn from(v: &[u8; N]) -> Value {
        Value::Bytes(v.to_vec())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    /// Null for `None`.
    fn from(v: Option<T>) -> Value {
        v.map_or(Value::Null, T::into)
    }
}

impl<K: Into<Value>, V: Into<Value>, const N: usize> From<[(K, V); N]> for Value {
    /// A map in the order of the pairs.
    fn from(pairs: [(K, V); N]) -> Value {
        pairs.into_iter().collect()
    }
}

impl<K: Into<Value>, V: Into<Value>> From<BTreeMap<K, V>> for Value {
    fn from(map: BTreeMap<K, V>) -> Value {
        map.into_iter().collect()
    }
}

impl<K: Into<Value>, V: Into<Value>, S> From<HashMap<K, V, S>> for Value {
    fn from(map: HashMap<K, V, S>) -> Value {
        map.into_iter().collect()
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    /// An array.
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Value {
        Value::Array(values.into_iter().map(T::into).collect())
    }
}

impl<K: Into<Value>, V: Into<Value>> FromIterator<(K, V)> for Value {
    /// A map in the order of the pairs, those with the same key included.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Value {
        Value::Map(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_integer_has_one_value() {
        for (value, expected) in [
            (Value::from(i8::MIN), Value::Int(-128)),
            (Value::from(u32::MAX), Value::Int(4_294_967_295)),
            (Value::from(i64::MAX as u64), Value::Int(i64::MAX)),
            (Value::from(i64::MAX as u64 + 1), Value::UInt(1 << 63)),
            (Value::from(7_usize), Value::Int(7)),
            (Value::from(u128::from(u64::MAX)), Value::UInt(u64::MAX)),
            (Value::from(i128::from(i64::MIN)), Value::Int(i64::MIN)),
            (
                Value::from(u128::from(u64::MAX) + 1),
                Value::BigInt { negative: false, magnitude: vec![0, 0, 0, 0, 0, 0, 0, 0, 1] },
            ),
            (
                Value::from(-(1_i128 << 64)),
                Value::BigInt { negative: true, magnitude: vec![0, 0, 0, 0, 0, 0, 0, 0, 1] },
            ),
        ] {
            assert_eq!(value, expected);
        }
    }

    #[test]
    fn bytes_are_bytes_and_what_is_collected_is_an_array() {
        let bytes = Value::Bytes(vec![1, 2]);
        assert_eq!(Value::from(vec![1_u8, 2]), bytes);
        assert_eq!(Value::from(b"\x01\x02"), bytes);
        assert_eq!(Value::from(&b"\x01\x02"[..]), bytes);
        assert_eq!(Value::from_iter([1_u8, 2]), Value::Array(vec![Value::Int(1), Value::Int(2)]));
        assert_eq!(Value::from(vec![Value::Null]), Value::Array(vec![Value::Null]));
        assert_eq!(Value::from(Some("a")), Value::from('a'));
        assert_eq!(Value::from(None::<bool>), Value::from(()));
        assert_eq!(Value::from(BTreeMap::from([(1, "a")])), Value::from([(1, "a")]));
    }
}
