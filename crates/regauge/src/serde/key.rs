//! Keys of maps. In formats whose keys are text, numbers and truth values as keys are text, too:
//! a type that asks for a number gets it.

use ::serde::de::value::BorrowedStrDeserializer;
use ::serde::de::{Deserializer, Visitor};
use ::serde::forward_to_deserialize_any;

use super::de::{How, TreeDeserializer};
use super::node::{Kind, Node};
use crate::model::value::Value;
use crate::{Error, Result};

/// A key, and how it is read.
pub(super) struct KeyDeserializer<N> {
    key: N,
    how: How,
}

impl<'de, N: Node<'de>> KeyDeserializer<N> {
    #[inline]
    pub(super) fn new(key: N, how: How) -> KeyDeserializer<N> {
        KeyDeserializer { key, how }
    }

    #[inline]
    fn plain(self) -> TreeDeserializer<N> {
        TreeDeserializer::new(self.key, self.how)
    }
}

/// The integer that a text writes in the one way that there is, so that no two keys become one.
pub(super) fn integer<T: std::str::FromStr + itoa::Integer>(text: &str) -> Option<T> {
    let v: T = text.parse().ok()?;
    (itoa::Buffer::new().format(v) == text).then_some(v)
}

macro_rules! integers {
    ($($method:ident $integer:ty => $visit:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            match self.key.kind() {
                Kind::Text(text) => match integer::<$integer>(text) {
                    Some(v) => visitor.$visit(v),
                    None => visitor.visit_borrowed_str(text),
                },
                _ => self.plain().$method(visitor),
            }
        }
    )*};
}

impl<'de, N: Node<'de>> Deserializer<'de> for KeyDeserializer<N> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.key.kind() {
            Kind::Text(text) => visitor.visit_borrowed_str(text),
            _ => self.plain().deserialize_any(visitor),
        }
    }

    integers! {
        deserialize_i8 i8 => visit_i8,
        deserialize_i16 i16 => visit_i16,
        deserialize_i32 i32 => visit_i32,
        deserialize_i64 i64 => visit_i64,
        deserialize_i128 i128 => visit_i128,
        deserialize_u8 u8 => visit_u8,
        deserialize_u16 u16 => visit_u16,
        deserialize_u32 u32 => visit_u32,
        deserialize_u64 u64 => visit_u64,
        deserialize_u128 u128 => visit_u128,
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.key.kind() {
            Kind::Text("true") => visitor.visit_bool(true),
            Kind::Text("false") => visitor.visit_bool(false),
            _ => self.plain().deserialize_bool(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.key.kind() {
            Kind::Null => visitor.visit_none(),
            Kind::Tree(Value::Null) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        match self.key.kind() {
            Kind::Text(_) => visitor.visit_newtype_struct(self),
            _ => self.plain().deserialize_newtype_struct(name, visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.key.kind() {
            Kind::Text(text) => visitor.visit_enum(BorrowedStrDeserializer::new(text)),
            _ => self.plain().deserialize_enum(name, variants, visitor),
        }
    }

    fn is_human_readable(&self) -> bool {
        self.how.readable_keys
    }

    forward_to_deserialize_any! {
        f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}
