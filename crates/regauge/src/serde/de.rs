//! The deserializer over a tree.
//!
//! Advice for those who change this file: it is compiled anew for every type that is read, so
//! what is rare belongs into a `#[cold]` function.

use std::{fmt, iter};

use ::serde::de::value::{
    BorrowedStrDeserializer, MapAccessDeserializer, MapDeserializer, U32Deserializer,
};
use ::serde::de::{self, DeserializeSeed, Deserializer, Error as _, Unexpected, Visitor};
use ::serde::forward_to_deserialize_any;

use super::key::KeyDeserializer;
use super::lower::Policy;
use super::node::{Kind, Node};
use super::owned::Owned;
use super::value::{NOTATION, VALUE};
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::model::path::Step;
use crate::model::value::Value;
use crate::policy::fidelity::{Objects, OnLoss};
use crate::sinks::tape::{Item, Tape};
use crate::{Error, ErrorKind, Result};

/// A node, and how it is read.
#[derive(Clone, Copy)]
pub(super) struct TreeDeserializer<N> {
    node: N,
    how: How,
}

/// How a tree is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    pub(super) policy: Policy,
    /// Whether types that have a form for people and one for machines are read in the former.
    pub(super) human_readable: bool,
    /// The same for keys.
    pub(super) readable_keys: bool,
}

impl How {
    /// For a tree without a format.
    pub(super) const STRICT: How =
        How { policy: Policy::STRICT, human_readable: true, readable_keys: true };
}

impl<'de, N: Node<'de>> TreeDeserializer<N> {
    #[inline]
    pub(super) fn new(node: N, how: How) -> TreeDeserializer<N> {
        TreeDeserializer { node, how }
    }

    #[inline]
    fn with<M: Node<'de>>(self, node: M) -> TreeDeserializer<M> {
        TreeDeserializer { node, how: self.how }
    }

    /// What serde's model lacks, as something that it has.
    #[cold]
    fn lowered(self) -> Result<Owned> {
        let lowered = self.how.policy.lower(&self.node.to_value())?;
        Ok(Owned { value: lowered, how: self.how })
    }

    #[inline]
    fn array<V: Visitor<'de>>(self, elements: N::Elements, visitor: V) -> Result<V::Value> {
        let mut access = ElementAccess { length: elements.len(), elements, how: self.how };
        let value = visitor.visit_seq(&mut access)?;
        match access.elements.len() {
            0 => Ok(value),
            left => Err(too_long("an array", access.length, left)),
        }
    }

    #[inline]
    fn members(self, members: N::Members) -> MemberAccess<N::Members, N> {
        MemberAccess { length: members.len(), members, at: None, how: self.how }
    }

    #[inline]
    fn map<V: Visitor<'de>>(self, members: N::Members, visitor: V) -> Result<V::Value> {
        let mut access = self.members(members);
        let value = visitor.visit_map(&mut access)?;
        match access.members.len() {
            0 => Ok(value),
            left => Err(too_long("a map", access.length, left)),
        }
    }

    /// Returns the integer that stands here, if it is one.
    fn integer(&self) -> Option<Integer> {
        match self.node.kind() {
            Kind::Int(v) => Some(v.into()),
            Kind::UInt(v) => Some(v.into()),
            Kind::Int128(v) => Some(v.into()),
            Kind::UInt128(v) => Some(v.into()),
            _ => None,
        }
    }

    /// Reads a double where something else stands: an integer must be one that a double holds.
    fn double<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.node.kind() {
            Kind::Tree(value) => return self.with(value).double(visitor),
            Kind::Anchor(inside) => return self.with(inside).double(visitor),
            _ => {}
        }
        let Some(integer) = self.integer() else { return self.deserialize_any(visitor) };
        match integer.is_double() || self.rounds() {
            true => visitor.visit_f64(integer.nearest()),
            false => Err(inexact(format_args!("the integer {integer}"), "a double")),
        }
    }

    /// Reads an `f32` where something else stands. A double is rounded, as everywhere in Rust, but has to stay finite;
    /// an integer must be one that an `f32` holds.
    #[cold]
    fn single<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.node.kind() {
            Kind::F64(v) if v.is_finite() && (v as f32).is_infinite() && !self.rounds() => {
                return Err(inexact(format_args!("the number {v:?}"), "an f32"));
            }
            Kind::Tree(value) => return self.with(value).single(visitor),
            Kind::Anchor(inside) => return self.with(inside).single(visitor),
            _ => {}
        }
        let Some(integer) = self.integer() else { return self.double(visitor) };
        let nearest = integer.nearest() as f32;
        let is_exact = integer.is_double() && f64::from(nearest) == integer.nearest();
        match is_exact || self.rounds() {
            true => visitor.visit_f32(nearest),
            false => Err(inexact(format_args!("the integer {integer}"), "an f32")),
        }
    }

    /// Returns whether the policy takes the nearest number.
    fn rounds(&self) -> bool {
        self.how.policy.on_loss == OnLoss::Approximate
    }
}

/// An integer of any width that serde has.
struct Integer {
    is_negative: bool,
    magnitude: u128,
}

impl Integer {
    /// Returns the nearest double.
    fn nearest(&self) -> f64 {
        let magnitude = self.magnitude as f64;
        if self.is_negative { -magnitude } else { magnitude }
    }

    /// Returns whether the nearest double is the same number.
    fn is_double(&self) -> bool {
        let magnitude = self.magnitude as f64;
        // 2¹²⁸ as an integer again would be one less.
        magnitude < u128::MAX as f64 && magnitude as u128 == self.magnitude
    }
}

impl From<i64> for Integer {
    fn from(v: i64) -> Integer {
        Integer { is_negative: v < 0, magnitude: v.unsigned_abs().into() }
    }
}

impl From<u64> for Integer {
    fn from(v: u64) -> Integer {
        Integer { is_negative: false, magnitude: v.into() }
    }
}

impl From<i128> for Integer {
    fn from(v: i128) -> Integer {
        Integer { is_negative: v < 0, magnitude: v.unsigned_abs() }
    }
}

impl From<u128> for Integer {
    fn from(magnitude: u128) -> Integer {
        Integer { is_negative: false, magnitude }
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_negative { "-" } else { "" }, self.magnitude)
    }
}

/// Refuses a number that the type asked for does not have.
#[cold]
fn inexact(found: fmt::Arguments<'_>, wanted: &str) -> Error {
    let message = format!("found {found}, which {wanted} cannot hold");
    Error::new(ErrorKind::Data, message)
        .hint(Hint::set(Opt::OnLoss, "approximate").to("read the nearest number"))
}

/// What came has more in it than was asked for.
#[cold]
fn too_long(what: &str, length: usize, left: usize) -> Error {
    let message = format!("found {what} of {length}, expected {}", length - left);
    Error::new(ErrorKind::Data, message)
}

impl<'de, N: Node<'de>> Deserializer<'de> for TreeDeserializer<N> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.node.kind() {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool(v) => visitor.visit_bool(v),
            // Most formats have more than one type of integer, and visitors expect `u64` where
            // there is no sign.
            Kind::Int(v) => match u64::try_from(v) {
                Ok(v) => visitor.visit_u64(v),
                Err(_) => visitor.visit_i64(v),
            },
            Kind::UInt(v) => visitor.visit_u64(v),
            Kind::Int128(v) => visitor.visit_i128(v),
            Kind::UInt128(v) => visitor.visit_u128(v),
            Kind::F32(v) => visitor.visit_f32(v),
            Kind::F64(v) => visitor.visit_f64(v),
            Kind::Text(v) => visitor.visit_borrowed_str(v),
            Kind::Bytes(v) => visitor.visit_borrowed_bytes(v),
            Kind::Array(elements) => self.array(elements, visitor),
            Kind::Map(members) => self.map(members, visitor),
            Kind::Tree(value) => self.with(value).deserialize_any(visitor),
            Kind::Anchor(inside) => self.with(inside).deserialize_any(visitor),
            Kind::Typed(inside) if self.how.policy.objects == Objects::Data => {
                self.with(inside).deserialize_any(visitor)
            }
            Kind::Typed(..) | Kind::Special => self.lowered()?.deserialize_any(visitor),
        }
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.node.kind() {
            Kind::F64(v) => visitor.visit_f64(v),
            _ => self.double(visitor),
        }
    }

    #[inline]
    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.node.kind() {
            Kind::F32(v) => visitor.visit_f32(v),
            Kind::F64(v) if v.abs() <= f64::from(f32::MAX) => visitor.visit_f64(v),
            _ => self.single(visitor),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.node.kind() {
            Kind::Null => visitor.visit_none(),
            Kind::Tree(value) => self.with(value).deserialize_option(visitor),
            Kind::Anchor(inside) => self.with(inside).deserialize_option(visitor),
            Kind::Typed(inside) if self.how.policy.objects == Objects::Data => {
                self.with(inside).deserialize_option(visitor)
            }
            Kind::Special if self.rounds() => match self.lowered()?.value {
                Value::Null => visitor.visit_none(),
                _ => visitor.visit_some(self),
            },
            _ => visitor.visit_some(self),
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        if name != VALUE {
            return visitor.visit_newtype_struct(self);
        }
        // A `Value` takes everything, and what serde's model lacks by a way of its own.
        match self.node.kind() {
            Kind::Tree(value) => self.with(value).deserialize_newtype_struct(name, visitor),
            Kind::Anchor(inside) => self.with(inside).deserialize_newtype_struct(name, visitor),
            // An enum, because no document comes as one: plain data is never taken for a notation.
            Kind::Typed(..) | Kind::Special => {
                let notation = self.node.to_value().to_string();
                let notation = MapDeserializer::new(iter::once((NOTATION, notation)));
                visitor.visit_enum(MapAccessDeserializer::new(notation))
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.node.kind() {
            Kind::Text(variant) => visitor.visit_enum(BorrowedStrDeserializer::new(variant)),
            // Some libraries write the number of a variant, none of them into text.
            Kind::Int(index) if !self.how.human_readable && u32::try_from(index).is_ok() => {
                visitor.visit_enum(U32Deserializer::new(index as u32))
            }
            Kind::Map(members) => match members.len() {
                // The variant, and what is in it.
                1 => visitor.visit_enum(MapAccessDeserializer::new(self.members(members))),
                count => Err(several_keys(count)),
            },
            Kind::Tree(value) => self.with(value).deserialize_enum(name, variants, visitor),
            Kind::Anchor(inside) => self.with(inside).deserialize_enum(name, variants, visitor),
            Kind::Typed(inside) if self.how.policy.objects == Objects::Data => {
                self.with(inside).deserialize_enum(name, variants, visitor)
            }
            Kind::Typed(..) | Kind::Special => {
                self.lowered()?.deserialize_enum(name, variants, visitor)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    /// Whatever it is, and whatever the policy says about it: nobody looks.
    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        self.how.human_readable
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier
    }
}

/// A map that should have been an enum has not one key.
#[cold]
pub(super) fn several_keys(count: usize) -> Error {
    let found = format!("a map of {count} keys");
    Error::invalid_value(Unexpected::Other(&found), &"a map with the variant as its only key")
}

/// The elements of an array that are still to come.
struct ElementAccess<I> {
    elements: I,
    length: usize,
    how: How,
}

impl<'de, N: Node<'de>, I: ExactSizeIterator<Item = N>> de::SeqAccess<'de> for ElementAccess<I> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some(node) = self.elements.next() else { return Ok(None) };
        match seed.deserialize(TreeDeserializer { node, how: self.how }) {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                let index = self.length - self.elements.len() - 1;
                Err(error.below(Step::Index(index as u64)))
            }
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len())
    }
}

/// The members of a map that are still to come.
struct MemberAccess<I, N> {
    members: I,
    length: usize,
    /// The member whose key was the last.
    at: Option<(N, N)>,
    how: How,
}

impl<'de, N: Node<'de>, I: ExactSizeIterator<Item = (N, N)>> de::MapAccess<'de>
    for MemberAccess<I, N>
{
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        self.at = self.members.next();
        let Some((key, _)) = self.at else { return Ok(None) };
        match seed.deserialize(KeyDeserializer::new(key, self.how)) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(error.below(key.to_step())),
        }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        let (key, node) = self.at.expect("a visitor asks for a key first");
        seed.deserialize(TreeDeserializer { node, how: self.how })
            .map_err(|error| error.below(key.to_step()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.members.len())
    }
}

/// Forwards every method to the deserializer that this expression makes.
macro_rules! by_tree {
    ($this:ident => $tree:expr) => {
        by_tree! { @ $this $tree,
            deserialize_any() deserialize_bool() deserialize_i8() deserialize_i16()
            deserialize_i32() deserialize_i64() deserialize_i128() deserialize_u8()
            deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
            deserialize_f32() deserialize_f64() deserialize_char() deserialize_str()
            deserialize_string() deserialize_bytes() deserialize_byte_buf() deserialize_option()
            deserialize_unit() deserialize_seq() deserialize_map() deserialize_identifier()
            deserialize_ignored_any()
            deserialize_unit_struct(name: &'static str)
            deserialize_newtype_struct(name: &'static str)
            deserialize_tuple(len: usize)
            deserialize_tuple_struct(name: &'static str, len: usize)
            deserialize_struct(name: &'static str, fields: &'static [&'static str])
            deserialize_enum(name: &'static str, variants: &'static [&'static str])
        }
    };
    (@ $this:ident $tree:expr, $($method:ident($($argument:ident: $of:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $of,)* visitor: V) -> Result<V::Value> {
            let $this = self;
            $tree.$method($($argument,)* visitor)
        }
    )*};
}

/// Strict: what serde's model lacks is refused. Text is borrowed from the value.
impl<'de> Deserializer<'de> for &'de Value {
    type Error = Error;
    by_tree!(value => TreeDeserializer::new(value, How::STRICT));
}

/// Strict: what serde's model lacks is refused. Text is borrowed from the tape.
impl<'de> Deserializer<'de> for Item<'de> {
    type Error = Error;
    by_tree!(item => TreeDeserializer::new(item, How::STRICT));
}

/// The document on a tape. An empty tape has none, which is an error.
pub(super) fn root(tape: &Tape) -> Result<Item<'_>> {
    tape.root().ok_or_else(|| Error::truncated("found no document"))
}
