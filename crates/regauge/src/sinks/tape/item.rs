//! Lookups in a tape.

use std::fmt;
use std::iter::FusedIterator;

use super::{Node, Tape};
use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::policy::event::TypeBuf;
use crate::policy::tree::Builder;

/// One value of a tape, or a key of a map. As cheap to copy as a reference.
#[derive(Clone, Copy)]
pub struct Item<'t> {
    tape: &'t Tape,
    at: usize,
}

/// The content of an [`Item`]: the kinds of [`Value`], borrowed from the tape.
#[derive(Clone, Debug)]
pub enum View<'t> {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer that fits `i64`.
    Int(i64),
    /// An integer above `i64::MAX`.
    UInt(u64),
    /// A single-precision number.
    F32(f32),
    /// A double.
    F64(f64),
    /// Text.
    Text(&'t str),
    /// An array.
    Array(Items<'t>),
    /// A map in its original order, including duplicate keys.
    Map(Members<'t>),
    /// A value with a type around it.
    Typed(&'t TypeBuf, Item<'t>),
    /// A value that aliases refer to.
    Anchor(u64, Item<'t>),
    /// The value of that anchor, repeated.
    Alias(u64),
    /// Anything else: bytes, larger integers, values that only some formats have. Never one of the
    /// kinds above, except for text over 4 GiB and keys that are not text.
    Other(&'t Value),
}

impl<'t> Item<'t> {
    pub(super) fn first(tape: &'t Tape) -> Option<Item<'t>> {
        (!tape.nodes.is_empty()).then_some(Item { tape, at: 0 })
    }

    /// Returns the content. Takes constant time whatever the value holds.
    #[inline]
    pub fn view(self) -> View<'t> {
        let Item { tape, at } = self;
        let next = Item { tape, at: at + 1 };
        let text = |len, start| View::Text(tape.text_at(len, start));
        match tape.nodes[at] {
            Node::Null => View::Null,
            Node::Bool(v) => View::Bool(v),
            Node::I64(v) => View::Int(v),
            Node::U64(v) => match i64::try_from(v) {
                Ok(v) => View::Int(v),
                Err(_) => View::UInt(v),
            },
            Node::F64(v) => View::F64(v),
            Node::F32(v) => View::F32(v),
            Node::Text { len, start } | Node::Key { len, start } => text(len, start),
            Node::Value(index) | Node::KeyValue(index) => View::Other(&tape.values[index as usize]),
            Node::BeginArray { members, .. } => View::Array(Items { next, left: members }),
            Node::BeginMap { members, .. } => View::Map(Members { next, left: members }),
            Node::BeginTyped { index, .. } => View::Typed(&tape.types[index as usize], next),
            Node::BeginAnchor { id, .. } => View::Anchor(id, next),
            Node::Alias(id) => View::Alias(id),
            Node::EndArray | Node::EndMap | Node::EndTyped | Node::EndAnchor => {
                unreachable!("an item is where a value begins")
            }
        }
    }

    /// Returns the value of a key of a map, ignoring types and anchors around the map: the first if
    /// the key is repeated, `None` if it is missing or if this is not a map. Scans the keys
    /// linearly.
    pub fn get(self, key: &str) -> Option<Item<'t>> {
        match self.view() {
            View::Map(mut members) => members.find_map(|(name, value)| {
                let found = match name.view() {
                    View::Text(text) => text == key,
                    View::Other(Value::Text(text)) => text == key,
                    _ => false,
                };
                found.then_some(value)
            }),
            View::Typed(_, inside) | View::Anchor(_, inside) => inside.get(key),
            _ => None,
        }
    }

    /// Copies the value into a tree.
    pub fn to_value(self) -> Value {
        // Everything on a tape has passed the limits of its reader, or of the code that filled it.
        let mut builder = Builder::new(&Limits::NONE);
        let nodes = self.at..self.end();
        let given = match self.tape.nodes[self.at] {
            Node::Key { len, start } => {
                return Value::Text(self.tape.text_at(len, start).to_owned());
            }
            Node::KeyValue(index) => return self.tape.values[index as usize].clone(),
            _ => self.tape.drive_nodes(nodes, &mut builder),
        };
        given.expect("a builder accepts whatever a tape accepted");
        builder.take().expect("a value is between its nodes")
    }

    /// Returns the node after the last one of the value.
    #[inline]
    fn end(self) -> usize {
        match self.tape.nodes[self.at] {
            Node::BeginArray { end, .. }
            | Node::BeginMap { end, .. }
            | Node::BeginTyped { end, .. }
            | Node::BeginAnchor { end, .. } => match end {
                0 => self.walk(),
                end => self.at + end as usize + 1,
            },
            _ => self.at + 1,
        }
    }

    /// Same as [`end`](Item::end), for a container whose end is too far away to be stored.
    #[cold]
    fn walk(self) -> usize {
        let mut depth = 0_usize;
        for (distance, node) in self.tape.nodes[self.at..].iter().enumerate() {
            match node {
                Node::BeginArray { .. }
                | Node::BeginMap { .. }
                | Node::BeginTyped { .. }
                | Node::BeginAnchor { .. } => depth += 1,
                Node::EndArray | Node::EndMap | Node::EndTyped | Node::EndAnchor => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return self.at + distance + 1;
            }
        }
        self.tape.nodes.len()
    }
}

/// Shows the value in the wrapped notation (see [`crate::policy::fidelity`]).
impl fmt::Debug for Item<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.to_value(), f)
    }
}

/// The items of an array.
#[derive(Clone, Debug)]
pub struct Items<'t> {
    next: Item<'t>,
    left: u64,
}

impl<'t> Iterator for Items<'t> {
    type Item = Item<'t>;

    #[inline]
    fn next(&mut self) -> Option<Item<'t>> {
        self.left = self.left.checked_sub(1)?;
        let item = self.next;
        self.next.at = item.end();
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Items<'_> {}
impl FusedIterator for Items<'_> {}

/// The members of a map: key and value.
#[derive(Clone, Debug)]
pub struct Members<'t> {
    next: Item<'t>,
    left: u64,
}

impl<'t> Iterator for Members<'t> {
    type Item = (Item<'t>, Item<'t>);

    #[inline]
    fn next(&mut self) -> Option<(Item<'t>, Item<'t>)> {
        self.left = self.left.checked_sub(1)?;
        let key = self.next;
        let value = Item { at: key.at + 1, ..key };
        self.next.at = value.end();
        Some((key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Members<'_> {}
impl FusedIterator for Members<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::event::Sink as _;

    fn tape(document: &Value) -> Tape {
        let mut tape = Tape::new();
        document.drive(&mut tape).unwrap();
        tape
    }

    /// Rebuilds the tree using only views.
    fn rebuilt(item: Item<'_>) -> Value {
        match item.view() {
            View::Null => Value::Null,
            View::Bool(v) => Value::Bool(v),
            View::Int(v) => Value::Int(v),
            View::UInt(v) => Value::UInt(v),
            View::F32(v) => Value::F32(v),
            View::F64(v) => Value::F64(v),
            View::Text(v) => Value::Text(v.to_owned()),
            View::Array(items) => Value::Array(items.map(rebuilt).collect()),
            View::Map(members) => {
                Value::Map(members.map(|(k, v)| (rebuilt(k), rebuilt(v))).collect())
            }
            View::Typed(around, inside) => {
                Value::Typed(Box::new(around.clone()), Box::new(rebuilt(inside)))
            }
            View::Anchor(id, inside) => Value::Anchor(id, Box::new(rebuilt(inside))),
            View::Alias(id) => Value::Alias(id),
            View::Other(value) => value.clone(),
        }
    }

    fn document() -> Value {
        let text = |v: &str| Value::Text(v.to_owned());
        Value::Map(vec![
            (text("a"), Value::Array(vec![Value::Int(1), Value::Map(vec![]), Value::Null])),
            (text("b"), Value::Anchor(1, Box::new(Value::Map(vec![(text("c"), text("d"))])))),
            (Value::Int(3), Value::Alias(1)),
            (text("a"), Value::UInt(u64::MAX)),
            (text("bytes"), Value::Bytes(vec![0, 255])),
            (text("half"), Value::F32(0.5)),
        ])
    }

    #[test]
    fn the_tree_of_views_is_the_tree() {
        let document = document();
        let tape = tape(&document);
        let root = tape.root().unwrap();
        assert_eq!(rebuilt(root), document);
        assert_eq!(root.to_value(), document);
        let View::Map(members) = root.view() else { panic!("{root:?}") };
        assert_eq!(members.len(), 6);
        for ((key, value), (own_key, own_value)) in members.zip(match &document {
            Value::Map(members) => members,
            _ => unreachable!(),
        }) {
            assert_eq!((&key.to_value(), &value.to_value()), (own_key, own_value));
        }
        assert!(Tape::new().root().is_none());
    }

    #[test]
    fn members_are_found_by_their_keys() {
        let tape = tape(&document());
        let root = tape.root().unwrap();
        // The first of two, one inside an anchor, and a missing one.
        assert!(matches!(root.get("a").unwrap().view(), View::Array(items) if items.len() == 3));
        let inside = root.get("b").and_then(|b| b.get("c")).unwrap();
        assert!(matches!(inside.view(), View::Text("d")));
        assert!(matches!(root.get("bytes").unwrap().view(), View::Other(Value::Bytes(_))));
        assert!(root.get("c").is_none() && inside.get("x").is_none());
        assert!(matches!(root.get("b").unwrap().view(), View::Anchor(1, _)));
    }

    #[test]
    fn an_end_that_is_too_far_is_walked_to() {
        let document = document();
        let mut tape = tape(&document);
        for node in &mut tape.nodes {
            if let Node::BeginArray { end, .. }
            | Node::BeginMap { end, .. }
            | Node::BeginAnchor { end, .. } = node
            {
                *end = 0;
            }
        }
        assert_eq!(rebuilt(tape.root().unwrap()), document);
    }

    #[test]
    fn an_integer_is_shown_as_the_kind_that_it_fits() {
        let mut tape = Tape::new();
        tape.u64(7).unwrap();
        assert!(matches!(tape.root().unwrap().view(), View::Int(7)));
    }
}
