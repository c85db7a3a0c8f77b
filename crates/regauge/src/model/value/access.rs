//! Looking at a value: what it is, and what is in it.

use std::ops::Index;

use super::Value;
use crate::model::ext::{Ext, Timestamp};
use crate::model::number;

/// What indexing gives where there is nothing.
static NULL: Value = Value::Null;

/// Every method here looks through types and anchors: a map is a map, whatever class or tag stands
/// around it. [`Value::untyped`] is what they look at.
impl Value {
    /// Returns the value without the types and anchors around it.
    ///
    /// ```
    /// use regauge::{Format, Options, Value, read_values};
    ///
    /// let options = Options::new(Format::Yaml, Format::Yaml);
    /// let value = read_values(b"!point {x: 1}", &options)?.remove(0);
    /// assert!(matches!(value, Value::Typed(..)));
    /// assert!(matches!(value.untyped(), Value::Map(_)));
    /// assert_eq!(value["x"].as_i64(), Some(1));
    /// # Ok::<(), regauge::Error>(())
    /// ```
    #[must_use]
    pub fn untyped(&self) -> &Value {
        let mut value = self;
        while let Value::Typed(_, inside) | Value::Anchor(_, inside) = value {
            value = inside;
        }
        value
    }

    /// Returns whether the value is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.untyped(), Value::Null)
    }

    /// Returns the truth value, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.untyped() {
            Value::Bool(v) => Some(*v),
            _ => None,
        }
    }

    /// Returns the integer, if it is one and fits. A double is never an integer, not even `1.0`.
    ///
    /// ```
    /// use regauge::Value;
    ///
    /// assert_eq!(Value::from(7_u8).as_i64(), Some(7));
    /// assert_eq!(Value::from(u64::MAX).as_i64(), None);
    /// assert_eq!(Value::from(1.0).as_i64(), None);
    /// ```
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.as_i128()?.try_into().ok()
    }

    /// Returns the integer, if it is one and fits.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.as_i128()?.try_into().ok()
    }

    /// Returns the integer, if it is one and fits.
    #[must_use]
    pub fn as_i128(&self) -> Option<i128> {
        match self.untyped() {
            Value::Int(v) => Some(i128::from(*v)),
            Value::UInt(v) => Some(i128::from(*v)),
            Value::BigInt { negative, magnitude } => number::to_i128(*negative, magnitude),
            Value::Ext(v) => match v.as_ext() {
                Ext::Int64(v) => Some(i128::from(v)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the integer, if it is one and fits.
    #[must_use]
    pub fn as_u128(&self) -> Option<u128> {
        match self.untyped() {
            Value::BigInt { negative: false, magnitude } => number::to_u128(magnitude),
            value => value.as_i128()?.try_into().ok(),
        }
    }

    /// Returns the number as a double: a double, a single-precision number, or an integer that a
    /// double holds exactly.
    ///
    /// ```
    /// use regauge::Value;
    ///
    /// assert_eq!(Value::from(0.5_f32).as_f64(), Some(0.5));
    /// assert_eq!(Value::from(3).as_f64(), Some(3.0));
    /// assert_eq!(Value::from((1_i64 << 53) + 1).as_f64(), None);
    /// ```
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self.untyped() {
            Value::F64(v) => Some(*v),
            Value::F32(v) => Some(number::widened(*v)),
            value => number::exact_double(value.as_i128()?),
        }
    }

    /// Returns the text, if it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self.untyped() {
            Value::Text(v) => Some(v),
            _ => None,
        }
    }

    /// Returns the bytes, if it is binary data. Text is not.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self.untyped() {
            Value::Bytes(v) => Some(v),
            _ => None,
        }
    }

    /// Returns the point in time, if it is one.
    #[must_use]
    pub fn as_timestamp(&self) -> Option<Timestamp> {
        match self.untyped() {
            Value::Timestamp(v) => Some(*v),
            _ => None,
        }
    }

    /// Returns the elements, if the value is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Value]> {
        match self.untyped() {
            Value::Array(values) => Some(values),
            _ => None,
        }
    }

    /// Returns the pairs in their order, if the value is a map. A key may occur twice, and need
    /// not be text.
    ///
    /// ```
    /// use regauge::Value;
    ///
    /// let value = Value::from([("b", 1), ("a", 2)]);
    /// let keys: Vec<_> = value.as_map().unwrap().iter().map(|(key, _)| key.as_str()).collect();
    /// assert_eq!(keys, [Some("b"), Some("a")]);
    /// ```
    #[must_use]
    pub fn as_map(&self) -> Option<&[(Value, Value)]> {
        match self.untyped() {
            Value::Map(pairs) => Some(pairs),
            _ => None,
        }
    }

    /// Returns what stands under a text key of a map: the first, if the key occurs twice. Compares
    /// one key after the other.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map()?.iter().find_map(|(name, value)| is_key(name, key).then_some(value))
    }

    /// Returns the element of an array at this index, counted from 0.
    #[must_use]
    pub fn get_index(&self, index: usize) -> Option<&Value> {
        self.as_array()?.get(index)
    }

    /// Returns the value that a JSON pointer (RFC 6901) names: the empty pointer is the value
    /// itself.
    ///
    /// ```
    /// use regauge::Value;
    ///
    /// let value = Value::from([("items", Value::from_iter([Value::from([("a/b", 1)])]))]);
    /// assert_eq!(value.pointer("/items/0/a~1b"), Some(&Value::Int(1)));
    /// assert_eq!(value.pointer("/items/1"), None);
    /// ```
    #[must_use]
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        if pointer.is_empty() {
            return Some(self);
        }
        let mut value = self;
        for token in pointer.strip_prefix('/')?.split('/') {
            value = match value.untyped() {
                Value::Array(values) => values.get(array_index(token)?)?,
                // RFC 6901 §4: `~1` first, so that `~01` is `~1` and not `/`.
                map => map.get(&token.replace("~1", "/").replace("~0", "~"))?,
            };
        }
        Some(value)
    }
}

/// Whether a key of a map is this text.
pub(super) fn is_key(name: &Value, key: &str) -> bool {
    matches!(name, Value::Text(text) if text == key)
}

/// An index as RFC 6901 §4 writes it: without sign and leading zeros.
fn array_index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with(['0', '+']);
    token.parse().ok().filter(|_| plain)
}

/// Returns what stands under the key, or [`Value::Null`] if there is nothing: so a long way down
/// needs one check at its end.
///
/// ```
/// use regauge::Value;
///
/// let value = Value::from([("user", Value::from([("name", "Ada")]))]);
/// assert_eq!(value["user"]["name"].as_str(), Some("Ada"));
/// assert_eq!(value["user"]["address"]["city"].as_str(), None);
/// ```
impl Index<&str> for Value {
    type Output = Value;

    fn index(&self, key: &str) -> &Value {
        self.get(key).unwrap_or(&NULL)
    }
}

/// Returns the element at the index, or [`Value::Null`] if there is none.
impl Index<usize> for Value {
    type Output = Value;

    fn index(&self, index: usize) -> &Value {
        self.get_index(index).unwrap_or(&NULL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ext::{ExtBuf, Type};
    use crate::{Origin, TypeBuf};

    #[test]
    fn integers_at_every_boundary() {
        for (v, i, u) in [
            (i128::from(i64::MIN) - 1, None, None),
            (i128::from(i64::MIN), Some(i64::MIN), None),
            (-1, Some(-1), None),
            (0, Some(0), Some(0)),
            (i128::from(i64::MAX), Some(i64::MAX), Some(i64::MAX as u64)),
            (i128::from(i64::MAX) + 1, None, Some(1 << 63)),
            (i128::from(u64::MAX), None, Some(u64::MAX)),
            (i128::from(u64::MAX) + 1, None, None),
            (i128::MIN, None, None),
            (i128::MAX, None, None),
        ] {
            let value = Value::from(v);
            assert_eq!((value.as_i64(), value.as_u64()), (i, u), "{v}");
            assert_eq!(value.as_i128(), Some(v));
            assert_eq!(value.as_u128(), u128::try_from(v).ok());
            assert!(value.to_string().contains(&v.to_string()), "{value}");
        }
        let most = Value::from(u128::MAX);
        assert_eq!((most.as_u128(), most.as_i128()), (Some(u128::MAX), None));
        assert_eq!(Value::Ext(ExtBuf::from(Ext::Int64(5))).as_i64(), Some(5));
    }

    #[test]
    fn doubles_are_exact_or_none() {
        for (v, exact) in [(1_i64 << 53, true), ((1 << 53) + 1, false), (i64::MAX, false)] {
            assert_eq!(Value::from(v).as_f64().is_some(), exact, "{v}");
        }
        assert_eq!(Value::from(i64::MIN).as_f64(), Some(-9_223_372_036_854_775_808.0));
        assert_eq!(Value::from("1").as_f64(), None);
    }

    #[test]
    fn what_is_not_there_is_null() {
        let value = Value::from([("a", Value::from_iter([1, 2]))]);
        assert_eq!(value["a"][1], Value::Int(2));
        for missing in [&value["b"], &value["a"][2], &value[0], &value["a"]["x"], &value["b"][0]] {
            assert!(missing.is_null());
        }
        assert_eq!((value.get("b"), value.get_index(0)), (None, None));
    }

    #[test]
    fn types_and_anchors_are_looked_through() {
        let tag = TypeBuf::from(&Type { origin: Origin::Yaml, kind: "tag", name: "!a" });
        let inner = Value::Typed(Box::new(tag), Box::new(Value::from([("k", "v")])));
        let value = Value::Anchor(1, Box::new(inner));
        assert_eq!(value["k"].as_str(), Some("v"));
        assert_eq!(value.as_map().map(<[_]>::len), Some(1));
        assert_eq!(value.pointer("/k"), Some(&Value::from("v")));
    }

    #[test]
    fn pointers_of_rfc_6901() {
        let value = Value::from([
            ("foo", Value::from_iter(["bar", "baz"])),
            ("", Value::from(0)),
            ("a/b", Value::from(1)),
            ("m~n", Value::from(8)),
        ]);
        assert_eq!(value.pointer(""), Some(&value));
        for (pointer, found) in [
            ("/foo/0", Some(Value::from("bar"))),
            ("/", Some(Value::from(0))),
            ("/a~1b", Some(Value::from(1))),
            ("/m~0n", Some(Value::from(8))),
            ("/foo/00", None),
            ("/foo/+1", None),
            ("/foo/-", None),
            ("/foo/2", None),
            ("foo", None),
        ] {
            assert_eq!(value.pointer(pointer), found.as_ref(), "{pointer}");
        }
    }
}
