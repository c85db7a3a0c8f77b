//! Changing a value in place, and comparing one with Rust's own types.

use super::Value;
use super::access::is_key;

/// Every method here looks through types and anchors, as those that only look do; what stands around a value stays.
impl Value {
    /// Returns the value without the types and anchors around it.
    #[must_use]
    pub fn untyped_mut(&mut self) -> &mut Value {
        let mut value = self;
        while let Value::Typed(_, inside) | Value::Anchor(_, inside) = value {
            value = inside;
        }
        value
    }

    /// Returns the elements, if the value is an array.
    ///
    /// ```
    /// use regauge::Value;
    ///
    /// let mut value = Value::from_iter([1, 2]);
    /// value.as_array_mut().unwrap().push(Value::from("three"));
    /// assert_eq!(value[2], "three");
    /// ```
    #[must_use]
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Value>> {
        match self.untyped_mut() {
            Value::Array(values) => Some(values),
            _ => None,
        }
    }

    /// Returns the pairs in their order, if the value is a map.
    #[must_use]
    pub fn as_map_mut(&mut self) -> Option<&mut Vec<(Value, Value)>> {
        match self.untyped_mut() {
            Value::Map(pairs) => Some(pairs),
            _ => None,
        }
    }

    /// Returns what stands under a text key of a map: the first, if the key occurs twice.
    #[must_use]
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.as_map_mut()?.iter_mut().find_map(|(name, value)| is_key(name, key).then_some(value))
    }

    /// Returns the element of an array at this index, counted from 0.
    #[must_use]
    pub fn get_index_mut(&mut self, index: usize) -> Option<&mut Value> {
        self.as_array_mut()?.get_mut(index)
    }

    /// Puts a value under a text key of a map: in the place of the one that is there, which is returned, or at the end.
    ///
    /// ```
    /// use regauge::Value;
    ///
    /// let mut value = Value::from([("port", 80)]);
    /// assert_eq!(value.insert("port", 8080), Some(Value::from(80)));
    /// assert_eq!(value.insert("host", "localhost"), None);
    /// assert_eq!(value.to_string(), r#"{"port":8080,"host":"localhost"}"#);
    /// ```
    ///
    /// # Panics
    /// If the value is no map.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        let kind = self.type_name();
        let Some(pairs) = self.as_map_mut() else { panic!("found {kind}, expected a map") };
        match pairs.iter_mut().find(|(name, _)| is_key(name, &key)) {
            Some((_, place)) => Some(std::mem::replace(place, value)),
            None => {
                pairs.push((Value::Text(key), value));
                None
            }
        }
    }

    /// Takes a text key out of a map, with the value under it; the first, if the key occurs twice. `None` if there is no
    /// such key, or no map. What follows keeps its order.
    #[must_use]
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let pairs = self.as_map_mut()?;
        let at = pairs.iter().position(|(name, _)| is_key(name, key))?;
        Some(pairs.remove(at).1)
    }

    /// Takes the value, and leaves null.
    #[must_use]
    pub fn take(&mut self) -> Value {
        std::mem::take(self)
    }
}

/// Compares a value with one of Rust's own types, by the accessor of that type: an integer equals no double.
macro_rules! equals {
    ($($rust:ty: $value:ident, $other:ident => $is:expr;)*) => {$(
        impl PartialEq<$rust> for Value {
            fn eq(&self, $other: &$rust) -> bool {
                let $value = self;
                $is
            }
        }

        impl PartialEq<Value> for $rust {
            fn eq(&self, value: &Value) -> bool {
                value == self
            }
        }
    )*};
}
equals! {
    str: value, other => value.as_str() == Some(other);
    &str: value, other => value.as_str() == Some(other);
    String: value, other => value.as_str() == Some(other);
    bool: value, other => value.as_bool() == Some(*other);
    i32: value, other => value.as_i64() == Some(i64::from(*other));
    i64: value, other => value.as_i64() == Some(*other);
    u32: value, other => value.as_i64() == Some(i64::from(*other));
    u64: value, other => value.as_u64() == Some(*other);
    usize: value, other => value.as_u64() == Some(*other as u64);
    f64: value, other => matches!(value.untyped(), Value::F64(v) if v == other);
}

#[cfg(test)]
mod tests {
    use crate::model::ext::Type;
    use crate::{Origin, TypeBuf, Value};

    #[test]
    fn what_is_under_a_key_is_changed_in_its_place() {
        let tag = TypeBuf::from(&Type { origin: Origin::Yaml, kind: "tag", name: "!a" });
        let map = Value::from([("a", Value::from(1)), ("b", Value::from_iter([1, 2]))]);
        let mut value = Value::Typed(Box::new(tag), Box::new(map));
        *value.get_mut("a").unwrap() = Value::from("x");
        *value.get_mut("b").unwrap().get_index_mut(1).unwrap() = Value::from(true);
        assert_eq!(value.get_mut("c"), None);
        assert!(value["a"] == "x" && value["b"][0] == 1 && value["b"][1] == true);
        assert_eq!(value.insert("a", 2.5), Some(Value::from("x")));
        assert_eq!(value.insert("c", ()), None);
        assert_eq!(value.remove("b"), Some(Value::from_iter([Value::from(1), Value::from(true)])));
        assert_eq!(value.remove("b"), None);
        assert!(matches!(&value, Value::Typed(..)), "the tag stays");
        assert_eq!(value.untyped(), &Value::from([("a", Value::from(2.5)), ("c", Value::Null)]));
        assert_eq!(value.get_mut("a").unwrap().take(), 2.5);
        assert!(value["a"].is_null());
    }

    #[test]
    fn values_compare_with_those_of_rust() {
        let [one, most, text] = [Value::from(1), Value::from(u64::MAX), Value::from("a")];
        let owned = "a".to_owned();
        assert!(one == 1 && one == 1_u64 && one == 1_usize && 1_i64 == one);
        assert!(one != 2 && one != 1.0 && one != "1" && one != true);
        assert!(most == u64::MAX && most != -1_i64);
        assert!(text == "a" && *"a" == text && text == owned);
        assert_eq!(Value::default(), Value::Null);
    }

    #[test]
    #[should_panic(expected = "found an array, expected a map")]
    fn nothing_is_inserted_into_an_array() {
        Value::from_iter([1]).insert("a", 1);
    }
}
