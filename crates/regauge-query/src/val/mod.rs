//! The values that filters work on: those of regauge, cheap to copy.
//!
//! What JSON has is a variant of [`Val`]; everything else is a [`Rare`] value, which a filter passes
//! on untouched unless it looks at it. A value never contains itself.

mod access;
mod compare;
mod delete;
mod math;
pub(crate) mod number;
mod text;

pub(crate) use access::positions;
pub(crate) use delete::delete_paths;
pub(crate) use math::{seconds_of, time, to_nanoseconds};

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::rc::Rc;

use num_bigint::{BigInt, Sign};
use num_traits::ToPrimitive as _;
use regauge::{Ext, TypeBuf, Value};

use crate::guard::{self, Count};

/// An error of a filter.
pub(crate) type Error = jaq_core::Error<Val>;
/// The result of an operation on values.
pub(crate) type ValR = jaq_core::ValR<Val>;

/// A value. Copies share what is in it.
#[derive(Clone, Debug)]
pub(crate) enum Val {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Rc<str>),
    Array(Rc<List>),
    Map(Rc<Map>),
    Rare(Rc<Rare>),
}

/// A value that JSON has not, or has no short form for.
#[derive(Clone, Debug)]
pub(crate) enum Rare {
    /// An integer outside `i64`.
    Big(BigInt),
    Single(f32),
    /// A number as written.
    Decimal(Box<str>),
    Bytes(Box<[u8]>),
    /// A class or a tag around a value.
    Typed(TypeBuf, Val),
    /// Any other leaf.
    Other(Value),
}

/// The elements of an array.
#[derive(Clone, Debug)]
pub(crate) struct List {
    pub values: Vec<Val>,
    depth: u16,
    count: Count,
}

/// The pairs of a map in their order. A key may occur twice: the last one counts.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    pairs: Vec<(Val, Val)>,
    /// Where the names are, once they have been looked for in a large map.
    index: OnceCell<HashMap<Rc<str>, usize>>,
    /// How often a key has been looked for without an index.
    scans: Cell<usize>,
    depth: u16,
    count: Count,
}

/// Up to this many pairs, comparing one key after the other is quicker than an index.
const SMALL_MAP: usize = 16;
/// In a larger map, an index takes as long as this many scans.
const SCANS_MAX: usize = 16;

/// Returns the depth of a container around these values.
fn depth_of<'v>(values: impl Iterator<Item = &'v Val>) -> u16 {
    values.map(Val::depth).max().unwrap_or(0) + 1
}

impl List {
    /// Creates an array. Stops the filter if it is too large or nests too deeply.
    pub fn new(values: Vec<Val>) -> List {
        let depth = depth_of(values.iter());
        guard::check_depth(depth);
        List { count: Count::of(values.len()), depth, values }
    }

    /// Changes the elements.
    pub fn edit<T>(&mut self, change: impl FnOnce(&mut Vec<Val>) -> T) -> T {
        let result = change(&mut self.values);
        self.count.set(self.values.len());
        result
    }

    /// Accounts for a value that was put into the list.
    pub fn holds(&mut self, depth: u16) {
        self.depth = self.depth.max(depth + 1);
        guard::check_depth(self.depth);
    }
}

impl Map {
    /// Creates a map. Stops the filter if it is too large or nests too deeply.
    pub fn new(pairs: Vec<(Val, Val)>) -> Map {
        let depth = depth_of(pairs.iter().map(|(_, value)| value));
        guard::check_depth(depth);
        Map {
            count: Count::of(2 * pairs.len()),
            depth,
            pairs,
            index: OnceCell::new(),
            scans: Cell::new(0),
        }
    }

    pub fn pairs(&self) -> &[(Val, Val)] {
        &self.pairs
    }

    /// Returns the pairs, copied only if another value shares them.
    pub fn into_pairs(map: Rc<Map>) -> Vec<(Val, Val)> {
        match Rc::try_unwrap(map) {
            Ok(map) => map.pairs,
            Err(shared) => shared.pairs.clone(),
        }
    }

    fn find(&self, key: &Val) -> Option<usize> {
        let Some(name) = key.text() else {
            return self.pairs.iter().rposition(|(other, _)| other == key);
        };
        let scans = self.scans.get();
        if self.pairs.len() <= SMALL_MAP || scans < SCANS_MAX {
            self.scans.set(scans + 1);
            return self.pairs.iter().rposition(|(other, _)| match other {
                Val::Text(other) => **other == *name,
                other => other.text() == Some(name),
            });
        }
        let index = self.index.get_or_init(|| {
            let names = self.pairs.iter().enumerate();
            names.filter_map(|(at, (key, _))| Some((key.text()?.into(), at))).collect()
        });
        index.get(name).copied()
    }

    /// Returns what stands under a key; the last, if the key occurs twice.
    pub fn get(&self, key: &Val) -> Option<&Val> {
        self.find(key).map(|at| &self.pairs[at].1)
    }

    /// Takes what stands under a key, to be put back changed.
    pub fn take(&mut self, key: &Val) -> Val {
        match self.find(key) {
            Some(at) => std::mem::replace(&mut self.pairs[at].1, Val::Null),
            None => Val::Null,
        }
    }

    /// Replaces what stands under a key, or adds the pair at the end.
    pub fn insert(&mut self, key: Val, value: Val) {
        self.depth = self.depth.max(value.depth() + 1);
        guard::check_depth(self.depth);
        match self.find(&key) {
            Some(at) => self.pairs[at].1 = value,
            None => {
                if let (Some(index), Some(name)) = (self.index.get_mut(), key.text()) {
                    index.insert(name.into(), self.pairs.len());
                }
                self.pairs.push((key, value));
                self.count.set(2 * self.pairs.len());
            }
        }
    }

    /// Removes a key, wherever it occurs. The others keep their order.
    pub fn remove(&mut self, key: &Val) {
        self.index = OnceCell::new();
        self.pairs.retain(|(other, _)| other != key);
        self.count.set(2 * self.pairs.len());
    }
}

impl Val {
    pub fn array(values: Vec<Val>) -> Val {
        Val::Array(Rc::new(List::new(values)))
    }

    pub fn map(pairs: Vec<(Val, Val)>) -> Val {
        Val::Map(Rc::new(Map::new(pairs)))
    }

    /// Creates a map of pairs in which a later key replaces an earlier one.
    pub fn map_of(pairs: impl IntoIterator<Item = (Val, Val)>) -> Val {
        let mut map = Map::new(Vec::new());
        pairs.into_iter().for_each(|(key, value)| map.insert(key, value));
        Val::Map(Rc::new(map))
    }

    pub fn rare(rare: Rare) -> Val {
        Val::Rare(Rc::new(rare))
    }

    pub fn bytes(bytes: impl Into<Box<[u8]>>) -> Val {
        Val::rare(Rare::Bytes(bytes.into()))
    }

    /// Creates an integer of any size.
    pub fn big(v: BigInt) -> Val {
        match v.to_i64() {
            Some(v) => Val::Int(v),
            None => Val::rare(Rare::Big(v)),
        }
    }

    /// How deep arrays and maps nest in the value.
    fn depth(&self) -> u16 {
        match self {
            Val::Array(list) => list.depth,
            Val::Map(map) => map.depth,
            Val::Rare(rare) => match &**rare {
                Rare::Typed(_, inside) => inside.depth() + 1,
                _ => 0,
            },
            _ => 0,
        }
    }

    /// Returns the value without the types around it.
    pub fn untyped(&self) -> &Val {
        let mut value = self;
        while let Val::Rare(rare) = value
            && let Rare::Typed(_, inside) = &**rare
        {
            value = inside;
        }
        value
    }

    /// Returns another value with the types that are around this one.
    pub fn around(&self, inside: Val) -> Val {
        match self {
            Val::Rare(rare) => match &**rare {
                Rare::Typed(class, old) => {
                    Val::rare(Rare::Typed(class.clone(), old.around(inside)))
                }
                _ => inside,
            },
            _ => inside,
        }
    }

    /// Returns the text of a text or a symbol.
    pub fn text(&self) -> Option<&str> {
        match self.untyped() {
            Val::Text(text) => Some(text),
            Val::Rare(rare) => match &**rare {
                Rare::Other(Value::Ext(ext)) => match ext.as_ext() {
                    Ext::Symbol(text) => Some(text),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the bytes of binary data.
    pub fn binary(&self) -> Option<&[u8]> {
        match self.untyped() {
            Val::Rare(rare) => match &**rare {
                Rare::Bytes(bytes) => Some(bytes),
                Rare::Other(Value::BrokenText(bytes) | Value::Surrogates(bytes)) => Some(bytes),
                Rare::Other(Value::Ext(ext)) => match ext.as_ext() {
                    Ext::Binary(_, bytes) => Some(bytes),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the value that a filter does not know more of.
    pub fn other(&self) -> Option<&Value> {
        match self.untyped() {
            Val::Rare(rare) => match &**rare {
                Rare::Other(value) => Some(value),
                _ => None,
            },
            _ => None,
        }
    }
}

impl From<&Value> for Val {
    fn from(value: &Value) -> Val {
        match value {
            Value::Null => Val::Null,
            Value::Bool(v) => Val::Bool(*v),
            Value::Int(v) => Val::Int(*v),
            Value::UInt(v) => Val::big(BigInt::from(*v)),
            Value::BigInt { negative, magnitude } => {
                let sign = if *negative { Sign::Minus } else { Sign::Plus };
                Val::big(BigInt::from_bytes_le(sign, magnitude))
            }
            Value::F64(v) => Val::Float(*v),
            Value::F32(v) => Val::rare(Rare::Single(*v)),
            Value::Text(text) => Val::Text(text.as_str().into()),
            Value::Bytes(bytes) => Val::bytes(bytes.as_slice()),
            Value::Decimal(text) => Val::rare(Rare::Decimal(text.as_str().into())),
            Value::Array(values) => Val::array(values.iter().map(Val::from).collect()),
            Value::Map(pairs) => {
                Val::map(pairs.iter().map(|(k, v)| (Val::from(k), Val::from(v))).collect())
            }
            Value::Typed(class, inside) => {
                Val::rare(Rare::Typed((**class).clone(), Val::from(&**inside)))
            }
            Value::Anchor(_, inside) => Val::from(&**inside),
            leaf => Val::rare(Rare::Other(leaf.clone())),
        }
    }
}

impl From<&Val> for Value {
    fn from(val: &Val) -> Value {
        match val {
            Val::Null => Value::Null,
            Val::Bool(v) => Value::Bool(*v),
            Val::Int(v) => Value::Int(*v),
            Val::Float(v) => Value::F64(*v),
            Val::Text(text) => Value::Text(text.to_string()),
            Val::Array(list) => Value::Array(list.values.iter().map(Value::from).collect()),
            Val::Map(map) => Value::Map(
                map.pairs.iter().map(|(k, v)| (Value::from(k), Value::from(v))).collect(),
            ),
            Val::Rare(rare) => match &**rare {
                Rare::Big(v) => match v.to_u64() {
                    Some(v) => Value::UInt(v),
                    None => Value::BigInt {
                        negative: v.sign() == Sign::Minus,
                        magnitude: v.magnitude().to_bytes_le(),
                    },
                },
                Rare::Single(v) => Value::F32(*v),
                Rare::Decimal(text) => Value::Decimal(text.to_string()),
                Rare::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
                Rare::Typed(class, inside) => {
                    Value::Typed(Box::new(class.clone()), Box::new(Value::from(inside)))
                }
                Rare::Other(value) => value.clone(),
            },
        }
    }
}

/// Displays the value as JSON, with regauge's notation for what JSON lacks.
impl std::fmt::Display for Val {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Value::from(self).fmt(f)
    }
}
