//! [`Value`] as a type that any deserializer makes and any serializer takes.
//!
//! A value is written as what it is: nothing stands around it. What serde's model lacks comes and
//! goes exactly with this module's own deserializers and serializers, which know the names below
//! and hand over the value's notation; those of other crates refuse it.

use std::fmt;

use ::serde::de::{self, Deserialize, Deserializer, VariantAccess as _, Visitor};
use ::serde::ser::{Error as _, Serialize, SerializeMap as _, Serializer};

use crate::model::limits::Limits;
use crate::model::number;
use crate::model::value::Value;
use crate::policy::event::Ext;
use crate::policy::tree::Builder;
use crate::{Error, Result};

/// The name of the newtype that asks a deserializer for any value, and tells a serializer of one
/// that serde's model lacks. To a deserializer and a serializer of another crate a newtype is what
/// is in it.
pub(super) const VALUE: &str = "$regauge::Value";

/// The same around a key that is not text.
pub(super) const KEY: &str = "$regauge::Key";

/// The variant that carries a value's notation.
pub(super) const NOTATION: &str = "$regauge::notation";

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_newtype_struct(VALUE, AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }
    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Value, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_i128<E>(self, v: i128) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_u128<E>(self, v: u128) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_f32<E>(self, v: f32) -> Result<Value, E> {
        Ok(Value::F32(v))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Value, E> {
        Ok(Value::F64(v))
    }
    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_string<E>(self, v: String) -> Result<Value, E> {
        Ok(Value::Text(v))
    }
    fn visit_bytes<E>(self, v: &[u8]) -> Result<Value, E> {
        Ok(v.into())
    }
    fn visit_byte_buf<E>(self, v: Vec<u8>) -> Result<Value, E> {
        Ok(Value::Bytes(v))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::with_capacity(room(seq.size_hint()));
        while let Some(value) = seq.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut pairs = Vec::with_capacity(room(map.size_hint()));
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Value::Map(pairs))
    }

    fn visit_enum<A: de::EnumAccess<'de>>(self, data: A) -> Result<Value, A::Error> {
        let (variant, content) = data.variant::<String>()?;
        if variant != NOTATION {
            let found = de::Unexpected::Other("an enum");
            return Err(de::Error::invalid_type(found, &self));
        }
        let text: String = content.newtype_variant()?;
        // Of a document that has passed its limits already.
        Value::from_notation(&text, Limits::NONE).map_err(de::Error::custom)
    }
}

/// What a deserializer announces need not come.
fn room(announced: Option<usize>) -> usize {
    announced.unwrap_or(0).min(1024)
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(v) => serializer.serialize_bool(*v),
            Value::Int(v) => serializer.serialize_i64(*v),
            Value::UInt(v) => serializer.serialize_u64(*v),
            Value::BigInt { negative, magnitude } => {
                match (number::to_i128(*negative, magnitude), number::to_u128(magnitude)) {
                    (Some(v), _) => serializer.serialize_i128(v),
                    (None, Some(v)) if !negative => serializer.serialize_u128(v),
                    _ => serializer.serialize_newtype_struct(VALUE, &Special(self)),
                }
            }
            Value::F32(v) => serializer.serialize_f32(*v),
            Value::F64(v) => serializer.serialize_f64(*v),
            Value::Text(v) => serializer.serialize_str(v),
            Value::Bytes(v) => serializer.serialize_bytes(v),
            Value::Array(values) => serializer.collect_seq(values),
            Value::Map(pairs) => {
                let mut map = serializer.serialize_map(Some(pairs.len()))?;
                for (key, value) in pairs {
                    match key {
                        Value::Text(key) => map.serialize_entry(key, value)?,
                        key => map.serialize_entry(&Key(key), value)?,
                    }
                }
                map.end()
            }
            Value::Ext(v) => match v.as_ext() {
                // Serde has no width beside the number.
                Ext::Int64(v) => serializer.serialize_i64(v),
                _ => serializer.serialize_newtype_struct(VALUE, &Special(self)),
            },
            _ => serializer.serialize_newtype_struct(VALUE, &Special(self)),
        }
    }
}

/// A key that is not text.
struct Key<'v>(&'v Value);

impl Serialize for Key<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(KEY, self.0)
    }
}

/// A value that serde's model lacks. It gives its notation as text, and then an error all the same:
/// every serializer fails with it but ours, which keeps the text in [`taken`].
struct Special<'v>(&'v Value);

impl Serialize for Special<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self.0)?;
        let found = self.0.type_name();
        Err(S::Error::custom(format!("found {found}, which serde's data model cannot hold")))
    }
}

/// Returns the value in the content of a [`VALUE`] newtype, whatever serializers other crates have
/// put around it.
///
/// # Errors
/// `Data` if it is no value of ours.
pub(super) fn taken<T: Serialize + ?Sized>(special: &T) -> Result<Value> {
    let mut builder = Builder::new(&Limits::NONE);
    let refused = special.serialize(super::Serializer::new(&mut builder));
    match (refused, builder.take()) {
        // Of a value that is in memory already.
        (Err(_), Some(Value::Text(notation))) => Value::from_notation(&notation, Limits::NONE),
        (Err(error), _) => Err(error),
        (Ok(()), _) => {
            Err(Error::custom("found a newtype with the name of regauge's values that is none"))
        }
    }
}
