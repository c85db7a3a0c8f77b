//! A document kept in memory as a flat list of its events: for data that is read once and walked
//! often.
//!
//! A [`Value`] is a tree of small allocations; a tape is two vectors, however large the document.
//! Filling it costs little more than reading, and walking it is a loop over 16-byte nodes. Its
//! [`root`](Tape::root) looks like a tree: members by key, items one after the other.

mod item;

pub use item::{Item, Items, Members, View};

use std::ops::Range;

use crate::Result;
use crate::model::format::Format;
use crate::model::limits::Limit;
use crate::model::utf8::ShortText;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, Sink, Type, TypeBuf};
use crate::policy::fidelity::{Fidelity, OnLoss};
use crate::policy::tree::{Builder, too_large};
use crate::{Limits, Source};

/// The events of one document, in order.
#[derive(Debug)]
pub struct Tape {
    nodes: Vec<Node>,
    /// The bytes of all texts, concatenated.
    text: String,
    /// Payloads that do not fit a node: bytes, big integers, keys that are not text.
    values: Vec<Value>,
    /// The types around values.
    types: Vec<TypeBuf>,
    /// Where the open containers begin, with their number of members so far.
    open: Vec<(usize, u64)>,
    /// The largest number of nodes allowed.
    most: u64,
    /// Whether anchors and aliases may come.
    references: bool,
    fidelity: Fidelity,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Node {
    Null,
    Bool(bool),
    I64(i64),
    U64(u64),
    F64(f64),
    F32(f32),
    Text {
        len: u32,
        start: u64,
    },
    Key {
        len: u32,
        start: u64,
    },
    /// An index into `values`.
    Value(u32),
    KeyValue(u32),
    BeginArray {
        /// How many nodes ahead its end is; 0 if that does not fit these 32 bits.
        end: u32,
        members: u64,
    },
    EndArray,
    BeginMap {
        end: u32,
        members: u64,
    },
    EndMap,
    BeginTyped {
        end: u32,
        /// An index into `types`.
        index: u32,
    },
    EndTyped,
    BeginAnchor {
        end: u32,
        id: u64,
    },
    EndAnchor,
    Alias(u64),
}

// Two nodes fit a load of 32 bytes; a third word would make a tape half as large again.
const _: () = assert!(size_of::<Node>() == 16);

impl Default for Tape {
    fn default() -> Tape {
        Tape::new()
    }
}

impl Tape {
    /// Creates an empty tape, bounded only by memory.
    pub fn new() -> Tape {
        Tape::bounded(&Limits::NONE)
    }

    /// Creates an empty tape, bounded by [`Limits::nodes`]; the size of its text is bounded by its
    /// reader.
    #[inline]
    pub fn bounded(limits: &Limits) -> Tape {
        Tape {
            nodes: Vec::new(),
            text: String::new(),
            values: Vec::new(),
            types: Vec::new(),
            open: Vec::new(),
            most: limits.nodes,
            references: true,
            // A tape holds everything, so its policy is never consulted.
            fidelity: Fidelity::new(OnLoss::Refuse, Format::Json),
        }
    }

    /// The same without references: a reader gives a value that stands in several places in each
    /// of them, within [`Limits::aliases`], and refuses one that holds itself.
    #[inline]
    #[must_use]
    pub fn without_references(mut self) -> Tape {
        self.references = false;
        self
    }

    /// Reads the next document of a source; returns `None` at the end.
    ///
    /// # Errors
    /// The source's.
    pub fn read<S: Source>(source: &mut S) -> Result<Option<Tape>> {
        let mut tape = Tape::new();
        Ok(source.next(&mut tape)?.then_some(tape))
    }

    /// Clears the events and keeps the memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.text.clear();
        self.values.clear();
        self.types.clear();
        self.open.clear();
    }

    /// Reserves memory for a typical document of this many bytes; the tape grows if it needs more.
    pub fn reserve(&mut self, bytes: usize) {
        /// Unused memory costs only address space, up to this size.
        const MOST: usize = 1 << 20;
        /// A small document may have a node for each byte.
        const SMALL: usize = 32;
        let bytes = bytes.min(MOST);
        self.nodes.reserve((bytes / 4).max(bytes.min(SMALL)));
        // A short text is copied with the rest of its window.
        self.text.reserve(bytes + 32);
    }

    /// Returns the number of events.
    pub fn events(&self) -> usize {
        self.nodes.len()
    }

    /// Replays the events into `sink`, with the length of every container.
    ///
    /// # Errors
    /// The sink's.
    pub fn drive<S: Sink + ?Sized>(&self, sink: &mut S) -> Result {
        self.drive_nodes(0..self.nodes.len(), sink)
    }

    fn drive_nodes<S: Sink + ?Sized>(&self, nodes: Range<usize>, sink: &mut S) -> Result {
        let text = |len, start| self.text_at(len, start);
        for node in &self.nodes[nodes] {
            match *node {
                Node::Null => sink.null()?,
                Node::Bool(v) => sink.bool(v)?,
                Node::I64(v) => sink.i64(v)?,
                Node::U64(v) => sink.u64(v)?,
                Node::F64(v) => sink.f64(v)?,
                Node::F32(v) => sink.f32(v)?,
                Node::Text { len, start } => sink.str(text(len, start))?,
                Node::Key { len, start } => sink.key(text(len, start))?,
                Node::Value(index) => self.values[index as usize].drive(sink)?,
                Node::KeyValue(index) => sink.key_value(&self.values[index as usize])?,
                Node::BeginArray { members, .. } => sink.begin_array(Some(members))?,
                Node::EndArray => sink.end_array()?,
                Node::BeginMap { members, .. } => sink.begin_map(Some(members))?,
                Node::EndMap => sink.end_map()?,
                Node::BeginTyped { index, .. } => {
                    sink.begin_typed(&self.types[index as usize].as_type())?;
                }
                Node::EndTyped => sink.end_typed()?,
                Node::BeginAnchor { id, .. } => sink.begin_anchor(id)?,
                Node::EndAnchor => sink.end_anchor()?,
                Node::Alias(id) => sink.alias(id)?,
            }
        }
        Ok(())
    }

    /// Returns whether two documents have the same events in the same order, numbers with a fraction by
    /// their bits.
    pub fn is_same(&self, other: &Tape) -> bool {
        let same = |(one, two): (&Node, &Node)| match (*one, *two) {
            (Node::Text { len, start }, Node::Text { len: other_len, start: other_start })
            | (Node::Key { len, start }, Node::Key { len: other_len, start: other_start }) => {
                self.text_at(len, start) == other.text_at(other_len, other_start)
            }
            (Node::F64(one), Node::F64(two)) => one.to_bits() == two.to_bits(),
            (Node::F32(one), Node::F32(two)) => one.to_bits() == two.to_bits(),
            (Node::Value(one), Node::Value(two)) | (Node::KeyValue(one), Node::KeyValue(two)) => {
                self.values[one as usize] == other.values[two as usize]
            }
            (Node::BeginTyped { index: one, .. }, Node::BeginTyped { index: two, .. }) => {
                self.types[one as usize] == other.types[two as usize]
            }
            (one, two) => one == two,
        };
        self.nodes.len() == other.nodes.len() && self.nodes.iter().zip(&other.nodes).all(same)
    }

    /// Returns the document as a tree for lookups; `None` if the tape is empty.
    pub fn root(&self) -> Option<Item<'_>> {
        Item::first(self)
    }

    #[inline]
    fn text_at(&self, len: u32, start: u64) -> &str {
        &self.text[start as usize..start as usize + len as usize]
    }

    #[inline]
    fn value(&mut self, node: Node) -> Result {
        if let Some((_, members)) = self.open.last_mut() {
            *members += 1;
        }
        self.push(node)
    }

    #[inline]
    fn push(&mut self, node: Node) -> Result {
        if self.nodes.len() as u64 >= self.most {
            return Err(too_large("nodes", Limit::Nodes));
        }
        self.nodes.push(node);
        Ok(())
    }

    #[cold]
    fn aside(&mut self, give: impl FnOnce(&mut Builder) -> Result) -> Result<u32> {
        let mut builder = Builder::new(&Limits::NONE);
        give(&mut builder)?;
        self.values.push(builder.take().expect("one value was given"));
        Ok((self.values.len() - 1) as u32)
    }

    #[inline]
    fn push_text(&mut self, v: &str) -> Option<(u32, u64)> {
        let len = u32::try_from(v.len()).ok()?;
        let start = self.text.len() as u64;
        self.text.push_str(v);
        Some((len, start))
    }

    #[inline]
    fn push_short(&mut self, v: ShortText<'_>) -> (u32, u64) {
        let start = self.text.len() as u64;
        v.push_to(&mut self.text);
        (v.len() as u32, start)
    }

    fn begin(&mut self, node: Node) -> Result {
        self.value(node)?;
        self.open.push((self.nodes.len() - 1, 0));
        Ok(())
    }

    fn end(&mut self, node: Node) -> Result {
        let (begin, members) = self.open.pop().expect("begin before end");
        let distance = u32::try_from(self.nodes.len() - begin).unwrap_or(0);
        match &mut self.nodes[begin] {
            Node::BeginArray { end, members: all } | Node::BeginMap { end, members: all } => {
                (*end, *all) = (distance, members);
            }
            // These wrap one value.
            Node::BeginTyped { end, .. } | Node::BeginAnchor { end, .. } => *end = distance,
            _ => unreachable!("only these are opened"),
        }
        self.nodes.push(node);
        Ok(())
    }
}

impl Sink for Tape {
    #[inline]
    fn null(&mut self) -> Result {
        self.value(Node::Null)
    }
    #[inline]
    fn bool(&mut self, v: bool) -> Result {
        self.value(Node::Bool(v))
    }
    #[inline]
    fn i64(&mut self, v: i64) -> Result {
        self.value(Node::I64(v))
    }
    #[inline]
    fn u64(&mut self, v: u64) -> Result {
        self.value(Node::U64(v))
    }
    #[inline]
    fn f64(&mut self, v: f64) -> Result {
        self.value(Node::F64(v))
    }
    #[inline]
    fn f32(&mut self, v: f32) -> Result {
        self.value(Node::F32(v))
    }
    #[inline]
    fn str(&mut self, v: &str) -> Result {
        match self.push_text(v) {
            Some((len, start)) => self.value(Node::Text { len, start }),
            None => {
                let index = self.aside(|builder| builder.str(v))?;
                self.value(Node::Value(index))
            }
        }
    }
    #[inline]
    fn short_str(&mut self, v: ShortText<'_>) -> Result {
        let (len, start) = self.push_short(v);
        self.value(Node::Text { len, start })
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        let index = self.aside(|builder| builder.bytes(v))?;
        self.value(Node::Value(index))
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        let index = self.aside(|builder| builder.big_int(v))?;
        self.value(Node::Value(index))
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        let index = self.aside(|builder| builder.ext(v))?;
        self.value(Node::Value(index))
    }
    fn begin_array(&mut self, _len: Option<u64>) -> Result {
        self.begin(Node::BeginArray { end: 0, members: 0 })
    }
    fn end_array(&mut self) -> Result {
        self.end(Node::EndArray)
    }
    fn begin_map(&mut self, _len: Option<u64>) -> Result {
        self.begin(Node::BeginMap { end: 0, members: 0 })
    }
    #[inline]
    fn key(&mut self, k: &str) -> Result {
        // A key is not a member: its value is.
        match self.push_text(k) {
            Some((len, start)) => self.push(Node::Key { len, start }),
            None => self.key_value(&Value::Text(k.to_owned())),
        }
    }
    #[inline]
    fn short_key(&mut self, k: ShortText<'_>) -> Result {
        let (len, start) = self.push_short(k);
        self.push(Node::Key { len, start })
    }
    fn key_value(&mut self, k: &Value) -> Result {
        self.values.push(k.clone());
        self.push(Node::KeyValue(self.values.len() as u32 - 1))
    }
    fn end_map(&mut self) -> Result {
        self.end(Node::EndMap)
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        self.types.push(t.into());
        self.begin(Node::BeginTyped { end: 0, index: self.types.len() as u32 - 1 })
    }
    fn end_typed(&mut self) -> Result {
        self.end(Node::EndTyped)
    }
    fn holds_references(&mut self) -> bool {
        self.references
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        self.begin(Node::BeginAnchor { end: 0, id })
    }
    fn end_anchor(&mut self) -> Result {
        self.end(Node::EndAnchor)
    }
    fn alias(&mut self, id: u64) -> Result {
        self.value(Node::Alias(id))
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(give: impl FnOnce(&mut Builder) -> Result) -> Value {
        let mut builder = Builder::new(&Limits::NONE);
        give(&mut builder).unwrap();
        builder.take().unwrap()
    }

    #[test]
    fn two_documents_are_the_same_if_every_event_is() {
        let tape = |text: &str| {
            let mut tape = Tape::new();
            crate::yaml::from_slice(text.as_bytes()).unwrap().drive(&mut tape).unwrap();
            tape
        };
        let texts = [
            "null",
            "true",
            "1",
            "18446744073709551615",
            "1.5",
            "-0.0",
            "0.0",
            ".nan",
            "''",
            "a",
            "'a longer text'",
            "!!binary AAEC",
            "!!binary AAED",
            "123456789012345678901234567890",
            "[]",
            "[1]",
            "[[1]]",
            "{}",
            "{a: 1}",
            "{a: b}",
            "{b: 1}",
            "{1: a}",
            "!ruby/sym a",
            "!t [1]",
            "!u [1]",
            "[1, 2]",
            "[2, 1]",
        ];
        for (i, one) in texts.iter().enumerate() {
            for (j, two) in texts.iter().enumerate() {
                assert_eq!(tape(one).is_same(&tape(two)), i == j, "{one} {two}");
            }
        }
    }

    #[test]
    fn every_kind_of_event_comes_back() {
        let document = Value::Map(vec![
            (Value::Text("null".into()), Value::Null),
            (Value::Text("bool".into()), Value::Bool(true)),
            (
                Value::Text("numbers".into()),
                Value::Array(vec![
                    Value::Int(-1),
                    Value::UInt(u64::MAX),
                    Value::F64(-0.0),
                    Value::F32(0.5),
                    Value::BigInt {
                        negative: true,
                        magnitude: vec![0; 9].into_iter().chain([1]).collect(),
                    },
                ]),
            ),
            (Value::Text("text".into()), Value::Text("é".into())),
            (Value::Text(String::new()), Value::Text(String::new())),
            (Value::Int(7), Value::Bytes(vec![1, 2])),
            (Value::Text("ext".into()), Value::MsgpackExt(5, vec![3])),
            (Value::Text("empty".into()), Value::Array(vec![Value::Map(vec![])])),
        ]);
        let mut tape = Tape::new();
        document.drive(&mut tape).unwrap();
        assert_eq!(built(|builder| tape.drive(builder)), document);
        tape.clear();
        Value::Int(1).drive(&mut tape).unwrap();
        assert_eq!((tape.events(), built(|builder| tape.drive(builder))), (1, Value::Int(1)));
    }

    #[test]
    fn a_bounded_tape_ends_at_its_limit() {
        let mut tape = Tape::bounded(&Limits { nodes: 3, ..Limits::default() });
        let fits = Value::Map(vec![(Value::Text("a".into()), Value::Null)]);
        fits.drive(&mut tape).unwrap();
        tape.clear();
        let told = Value::Array(vec![fits]).drive(&mut tape).unwrap_err();
        assert_eq!(told.kind(), crate::ErrorKind::Limit, "{told}");
    }

    #[test]
    fn lengths_are_known_even_where_the_source_did_not_know_them() {
        let mut tape = Tape::new();
        tape.begin_array(None).unwrap();
        tape.begin_map(None).unwrap();
        tape.key("a").unwrap();
        tape.null().unwrap();
        tape.end_map().unwrap();
        tape.i64(1).unwrap();
        tape.end_array().unwrap();
        assert_eq!(tape.nodes[0], Node::BeginArray { end: 6, members: 2 });
        assert_eq!(tape.nodes[1], Node::BeginMap { end: 3, members: 1 });
    }
}
