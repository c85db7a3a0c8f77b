//! The deserializer of a value that was made on the way, and lives no longer than it is read: the
//! nearest value, say, of one that serde's model lacks.

use ::serde::de::value::{
    MapAccessDeserializer, MapDeserializer, SeqDeserializer, StringDeserializer, U32Deserializer,
};
use ::serde::de::{Deserializer, IntoDeserializer, MapAccess, Visitor};
use ::serde::forward_to_deserialize_any;

use super::de::{How, several_keys};
use crate::model::number;
use crate::model::value::Value;
use crate::{Error, Result};

/// A value, and how it is read.
pub(super) struct Owned {
    pub(super) value: Value,
    pub(super) how: How,
}

impl Owned {
    fn with(&self, value: Value) -> Owned {
        Owned { value, how: self.how }
    }

    fn members<'de>(&self, pairs: Vec<(Value, Value)>) -> impl MapAccess<'de, Error = Error> {
        let pairs = pairs.into_iter();
        MapDeserializer::new(pairs.map(|(key, value)| (self.with(key), self.with(value))))
    }
}

impl IntoDeserializer<'_, Error> for Owned {
    type Deserializer = Owned;

    fn into_deserializer(self) -> Owned {
        self
    }
}

impl<'de> Deserializer<'de> for Owned {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        match std::mem::replace(&mut self.value, Value::Null) {
            Value::Null => visitor.visit_unit(),
            Value::Bool(v) => visitor.visit_bool(v),
            Value::Int(v) => match u64::try_from(v) {
                Ok(v) => visitor.visit_u64(v),
                Err(_) => visitor.visit_i64(v),
            },
            Value::UInt(v) => visitor.visit_u64(v),
            Value::BigInt { negative, magnitude } => {
                match (number::to_i128(negative, &magnitude), number::to_u128(&magnitude)) {
                    (Some(v), _) => visitor.visit_i128(v),
                    (None, Some(v)) if !negative => visitor.visit_u128(v),
                    _ => {
                        let lowered = self.how.policy.lower(&Value::BigInt { negative, magnitude });
                        self.with(lowered?).deserialize_any(visitor)
                    }
                }
            }
            Value::F32(v) => visitor.visit_f32(v),
            Value::F64(v) => visitor.visit_f64(v),
            Value::Text(v) => visitor.visit_string(v),
            Value::Bytes(v) => visitor.visit_byte_buf(v),
            Value::Array(values) => {
                let values = values.into_iter().map(|value| self.with(value));
                visitor.visit_seq(SeqDeserializer::new(values))
            }
            Value::Map(pairs) => visitor.visit_map(self.members(pairs)),
            Value::Anchor(_, inside) => self.with(*inside).deserialize_any(visitor),
            // Lowered once, nothing of the kind is left; the policy has the last word all the same.
            special => {
                let lowered = self.how.policy.lower(&special)?;
                self.with(lowered).deserialize_any(visitor)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match std::mem::replace(&mut self.value, Value::Null) {
            Value::Text(variant) => visitor.visit_enum(StringDeserializer::new(variant)),
            Value::Int(index) if !self.how.human_readable && u32::try_from(index).is_ok() => {
                visitor.visit_enum(U32Deserializer::new(index as u32))
            }
            Value::Map(pairs) => match pairs.len() {
                // The variant, and what is in it.
                1 => visitor.visit_enum(MapAccessDeserializer::new(self.members(pairs))),
                count => Err(several_keys(count)),
            },
            value => self.with(value).deserialize_any(visitor),
        }
    }

    fn is_human_readable(&self) -> bool {
        self.how.human_readable
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
