//! A document kept in memory as its events, flat: for what has to be read once and walked often.
//!
//! A [`Value`] is a tree of small allocations; a tape is two vectors, however large the document.
//! Filling it costs little more than reading, and walking it is a loop over 16-byte nodes.

use crate::Result;
use crate::event::{BigInt, Ext, Sink, Type, TypeBuf};
use crate::fidelity::{Fidelity, OnLoss};
use crate::format::Format;
use crate::value::{Builder, Value};
use crate::{Limits, Source};

/// The events of one document, in order.
#[derive(Debug)]
pub struct Tape {
    nodes: Vec<Node>,
    /// The bytes of every text, one after the other.
    text: String,
    /// What has no place in a node: bytes, big integers, keys that are not text.
    values: Vec<Value>,
    /// The types that stand around values.
    types: Vec<TypeBuf>,
    /// Where containers that are not closed yet begin, with their members so far.
    open: Vec<(usize, u64)>,
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
    /// With the number of members.
    BeginArray(u64),
    EndArray,
    BeginMap(u64),
    EndMap,
    /// An index into `types`.
    BeginTyped(u32),
    EndTyped,
    BeginAnchor(u64),
    EndAnchor,
    Alias(u64),
}

// Two nodes to a load of 32 bytes; a third word would make a tape half as large again.
const _: () = assert!(size_of::<Node>() == 16);

impl Default for Tape {
    fn default() -> Tape {
        Tape::new()
    }
}

impl Tape {
    /// An empty tape.
    pub fn new() -> Tape {
        Tape {
            nodes: Vec::new(),
            text: String::new(),
            values: Vec::new(),
            types: Vec::new(),
            open: Vec::new(),
            // A tape holds everything, so its policy is never asked.
            fidelity: Fidelity::new(OnLoss::Refuse, Format::Json),
        }
    }

    /// The next document of a source, or nothing at the end.
    ///
    /// # Errors
    /// The source's.
    pub fn read<S: Source>(source: &mut S) -> Result<Option<Tape>> {
        let mut tape = Tape::new();
        Ok(source.next(&mut tape)?.then_some(tape))
    }

    /// Forgets the events and keeps the memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.text.clear();
        self.values.clear();
        self.types.clear();
        self.open.clear();
    }

    /// How many events there are.
    pub fn events(&self) -> usize {
        self.nodes.len()
    }

    /// Gives the events to `sink`, with the length of every container.
    ///
    /// # Errors
    /// The sink's.
    pub fn drive<S: Sink + ?Sized>(&self, sink: &mut S) -> Result {
        let text = |len: u32, start: u64| &self.text[start as usize..start as usize + len as usize];
        for node in &self.nodes {
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
                Node::BeginArray(len) => sink.begin_array(Some(len))?,
                Node::EndArray => sink.end_array()?,
                Node::BeginMap(len) => sink.begin_map(Some(len))?,
                Node::EndMap => sink.end_map()?,
                Node::BeginTyped(index) => {
                    sink.begin_typed(&self.types[index as usize].as_type())?;
                }
                Node::EndTyped => sink.end_typed()?,
                Node::BeginAnchor(id) => sink.begin_anchor(id)?,
                Node::EndAnchor => sink.end_anchor()?,
                Node::Alias(id) => sink.alias(id)?,
            }
        }
        Ok(())
    }

    #[inline]
    fn value(&mut self, node: Node) -> Result {
        if let Some((_, members)) = self.open.last_mut() {
            *members += 1;
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

    fn begin(&mut self, node: Node) -> Result {
        self.value(node)?;
        self.open.push((self.nodes.len() - 1, 0));
        Ok(())
    }

    fn end(&mut self, node: Node) -> Result {
        let (begin, members) = self.open.pop().expect("begin before end");
        match &mut self.nodes[begin] {
            Node::BeginArray(len) | Node::BeginMap(len) => *len = members,
            // A type or an anchor, around one value.
            _ => {}
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
        self.begin(Node::BeginArray(0))
    }
    fn end_array(&mut self) -> Result {
        self.end(Node::EndArray)
    }
    fn begin_map(&mut self, _len: Option<u64>) -> Result {
        self.begin(Node::BeginMap(0))
    }
    #[inline]
    fn key(&mut self, k: &str) -> Result {
        // A key is no member: its value is.
        match self.push_text(k) {
            Some((len, start)) => self.nodes.push(Node::Key { len, start }),
            None => {
                self.values.push(Value::Text(k.to_owned()));
                self.nodes.push(Node::KeyValue(self.values.len() as u32 - 1));
            }
        }
        Ok(())
    }
    fn key_value(&mut self, k: &Value) -> Result {
        self.values.push(k.clone());
        self.nodes.push(Node::KeyValue(self.values.len() as u32 - 1));
        Ok(())
    }
    fn end_map(&mut self) -> Result {
        self.end(Node::EndMap)
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        self.types.push(t.into());
        self.begin(Node::BeginTyped(self.types.len() as u32 - 1))
    }
    fn end_typed(&mut self) -> Result {
        self.end(Node::EndTyped)
    }
    fn holds_references(&mut self) -> bool {
        true
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        self.begin(Node::BeginAnchor(id))
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
    fn lengths_are_known_even_where_the_source_did_not_know_them() {
        let mut tape = Tape::new();
        tape.begin_array(None).unwrap();
        tape.begin_map(None).unwrap();
        tape.key("a").unwrap();
        tape.null().unwrap();
        tape.end_map().unwrap();
        tape.i64(1).unwrap();
        tape.end_array().unwrap();
        let nodes: Vec<Node> = tape.nodes.clone();
        assert_eq!((nodes[0], nodes[1]), (Node::BeginArray(2), Node::BeginMap(1)));
    }
}
