//! What the deserializer walks over: a tape, or a value.

use std::slice;

use crate::model::number;
use crate::model::path::Step;
use crate::model::value::Value;
use crate::policy::event::Ext;
use crate::sinks::tape::{Item, Items, Members, View};

/// A value of a tree that lives as long as `'de`.
pub(super) trait Node<'de>: Copy {
    type Elements: ExactSizeIterator<Item = Self>;
    type Members: ExactSizeIterator<Item = (Self, Self)>;

    fn kind(self) -> Kind<'de, Self>;

    /// The value as a tree of its own.
    fn to_value(self) -> Value;

    /// As the key of a map: the step to what stands under it.
    #[cold]
    fn to_step(self) -> Step {
        match self.to_value() {
            Value::Text(text) => Step::Key(text.into()),
            key => Step::Key(key.to_string().into()),
        }
    }
}

/// What a node is.
pub(super) enum Kind<'de, N: Node<'de>> {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    /// An integer beyond both, as wide as serde has them.
    Int128(i128),
    UInt128(u128),
    F32(f32),
    F64(f64),
    Text(&'de str),
    Bytes(&'de [u8]),
    Array(N::Elements),
    Map(N::Members),
    /// A value of the other kind of tree: a tape keeps some of its values as such.
    Tree(&'de Value),
    /// An anchor, which says nothing about the value in it.
    Anchor(N),
    /// A value with a type around it.
    Typed(N),
    /// What serde's model lacks.
    Special,
}

impl<'de> Node<'de> for Item<'de> {
    type Elements = Items<'de>;
    type Members = Members<'de>;

    #[inline]
    fn kind(self) -> Kind<'de, Self> {
        match self.view() {
            View::Null => Kind::Null,
            View::Bool(v) => Kind::Bool(v),
            View::Int(v) => Kind::Int(v),
            View::UInt(v) => Kind::UInt(v),
            View::F32(v) => Kind::F32(v),
            View::F64(v) => Kind::F64(v),
            View::Text(v) => Kind::Text(v),
            View::Array(items) => Kind::Array(items),
            View::Map(members) => Kind::Map(members),
            View::Typed(_, inside) => Kind::Typed(inside),
            View::Anchor(_, inside) => Kind::Anchor(inside),
            View::Alias(_) => Kind::Special,
            View::Other(value) => Kind::Tree(value),
        }
    }

    fn to_value(self) -> Value {
        Item::to_value(self)
    }
}

impl<'de> Node<'de> for &'de Value {
    type Elements = slice::Iter<'de, Value>;
    type Members = Pairs<'de>;

    fn kind(self) -> Kind<'de, Self> {
        match self {
            Value::Null => Kind::Null,
            Value::Bool(v) => Kind::Bool(*v),
            Value::Int(v) => Kind::Int(*v),
            Value::UInt(v) => match i64::try_from(*v) {
                Ok(v) => Kind::Int(v),
                Err(_) => Kind::UInt(*v),
            },
            Value::BigInt { negative, magnitude } => {
                match (number::to_i128(*negative, magnitude), number::to_u128(magnitude)) {
                    (Some(v), _) => Kind::Int128(v),
                    (None, Some(v)) if !negative => Kind::UInt128(v),
                    _ => Kind::Special,
                }
            }
            Value::F32(v) => Kind::F32(*v),
            Value::F64(v) => Kind::F64(*v),
            Value::Text(v) => Kind::Text(v),
            Value::Bytes(v) => Kind::Bytes(v),
            Value::Array(values) => Kind::Array(values.iter()),
            Value::Map(pairs) => Kind::Map(Pairs(pairs.iter())),
            Value::Typed(_, inside) => Kind::Typed(inside),
            Value::Anchor(_, inside) => Kind::Anchor(inside),
            Value::Ext(v) => match v.as_ext() {
                Ext::Int64(v) => Kind::Int(v),
                _ => Kind::Special,
            },
            Value::Timestamp(_) | Value::Decimal(_) | Value::MsgpackExt(..) => Kind::Special,
            Value::Surrogates(_) | Value::BrokenText(_) | Value::Alias(_) => Kind::Special,
        }
    }

    fn to_value(self) -> Value {
        self.clone()
    }
}

/// The pairs of a map.
pub(super) struct Pairs<'de>(slice::Iter<'de, (Value, Value)>);

impl<'de> Iterator for Pairs<'de> {
    type Item = (&'de Value, &'de Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Pairs<'_> {}
