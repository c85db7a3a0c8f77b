//! The events that have been parsed and not yet been asked for.

use std::ops::Range;

use crate::model::ext::{BigInt, Ext, Type, TypeBuf};
use crate::model::format::Format;
use crate::model::value::Value;
use crate::policy::event::Sink;
use crate::policy::fidelity::{Fidelity, OnLoss};
use crate::policy::tree::Builder;
use crate::{Limits, Result};

/// An event of the queue. Text is in the queue's one buffer, and what is rare in its lists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Node {
    BeginDocument,
    EndDocument,
    Null,
    Bool(bool),
    I64(i64),
    U64(u64),
    F64(f64),
    F32(f32),
    Text { len: u32, start: u64 },
    Key { len: u32, start: u64 },
    Value(u32),
    KeyValue(u32),
    BeginArray,
    EndArray,
    BeginMap,
    EndMap,
    BeginTyped(u32),
    EndTyped,
}

const _: () = assert!(size_of::<Node>() == 16);

#[derive(Debug)]
pub(super) struct Queue {
    nodes: Vec<Node>,
    text: String,
    values: Vec<Value>,
    types: Vec<TypeBuf>,
    /// How many types are open, and where the outermost begins.
    open: (u32, usize),
    fidelity: Fidelity,
}

/// Memory beyond this, in nodes and in bytes of text, is released when the queue is empty.
const KEPT: usize = 1 << 20;

impl Queue {
    pub fn new(format: Format) -> Queue {
        Queue {
            nodes: Vec::new(),
            text: String::new(),
            values: Vec::new(),
            types: Vec::new(),
            open: (0, 0),
            // A queue holds everything, so its policy is never consulted.
            fidelity: Fidelity::new(OnLoss::Refuse, format),
        }
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns where the events end that can be given out: before a type that is still open.
    pub fn complete(&self) -> usize {
        match self.open {
            (0, _) => self.nodes.len(),
            (_, start) => start,
        }
    }

    pub fn node(&self, at: usize) -> Node {
        self.nodes[at]
    }

    /// Returns the end of the event that begins here: a typed value is one event.
    pub fn end(&self, at: usize) -> usize {
        if !matches!(self.nodes[at], Node::BeginTyped(_)) {
            return at + 1;
        }
        let mut depth = 0;
        let end = self.nodes[at..].iter().position(|node| {
            match node {
                Node::BeginTyped(_) => depth += 1,
                Node::EndTyped => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        at + end.expect("only complete values are given out") + 1
    }

    pub fn part(&self, nodes: Range<usize>) -> Part<'_> {
        Part { queue: self, nodes }
    }

    pub fn clear(&mut self) {
        self.nodes.clear();
        self.text.clear();
        self.values.clear();
        self.types.clear();
        self.nodes.shrink_to(KEPT);
        self.text.shrink_to(KEPT);
    }

    pub fn truncate(&mut self, len: usize) {
        self.nodes.truncate(len);
    }

    pub fn push(&mut self, node: Node) {
        self.nodes.push(node);
    }

    #[inline]
    fn add(&mut self, node: Node) -> Result {
        self.nodes.push(node);
        Ok(())
    }

    #[inline]
    fn add_text(&mut self, v: &str) -> Option<(u32, u64)> {
        let len = u32::try_from(v.len()).ok()?;
        let start = self.text.len() as u64;
        self.text.push_str(v);
        Some((len, start))
    }

    /// Adds a value that does not fit a node.
    #[cold]
    fn aside(&mut self, give: impl FnOnce(&mut Builder) -> Result) -> Result {
        let mut builder = Builder::new(&Limits::NONE);
        give(&mut builder)?;
        self.values.push(builder.take().expect("one value was given"));
        self.add(Node::Value(self.values.len() as u32 - 1))
    }

    fn text_at(&self, len: u32, start: u64) -> &str {
        &self.text[start as usize..start as usize + len as usize]
    }
}

impl Sink for Queue {
    #[inline]
    fn null(&mut self) -> Result {
        self.add(Node::Null)
    }
    #[inline]
    fn bool(&mut self, v: bool) -> Result {
        self.add(Node::Bool(v))
    }
    #[inline]
    fn i64(&mut self, v: i64) -> Result {
        self.add(Node::I64(v))
    }
    #[inline]
    fn u64(&mut self, v: u64) -> Result {
        self.add(Node::U64(v))
    }
    #[inline]
    fn f64(&mut self, v: f64) -> Result {
        self.add(Node::F64(v))
    }
    #[inline]
    fn f32(&mut self, v: f32) -> Result {
        self.add(Node::F32(v))
    }
    #[inline]
    fn str(&mut self, v: &str) -> Result {
        match self.add_text(v) {
            Some((len, start)) => self.add(Node::Text { len, start }),
            None => self.aside(|builder| builder.str(v)),
        }
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.aside(|builder| builder.bytes(v))
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        self.aside(|builder| builder.big_int(v))
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        self.aside(|builder| builder.ext(v))
    }
    #[inline]
    fn begin_array(&mut self, _len: Option<u64>) -> Result {
        self.add(Node::BeginArray)
    }
    #[inline]
    fn end_array(&mut self) -> Result {
        self.add(Node::EndArray)
    }
    #[inline]
    fn begin_map(&mut self, _len: Option<u64>) -> Result {
        self.add(Node::BeginMap)
    }
    #[inline]
    fn key(&mut self, k: &str) -> Result {
        match self.add_text(k) {
            Some((len, start)) => self.add(Node::Key { len, start }),
            None => self.key_value(&Value::Text(k.to_owned())),
        }
    }
    fn key_value(&mut self, k: &Value) -> Result {
        self.values.push(k.clone());
        self.add(Node::KeyValue(self.values.len() as u32 - 1))
    }
    #[inline]
    fn end_map(&mut self) -> Result {
        self.add(Node::EndMap)
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        if self.open.0 == 0 {
            self.open.1 = self.nodes.len();
        }
        self.open.0 += 1;
        self.types.push(t.into());
        self.add(Node::BeginTyped(self.types.len() as u32 - 1))
    }
    fn end_typed(&mut self) -> Result {
        self.open.0 -= 1;
        self.add(Node::EndTyped)
    }
    fn holds_references(&mut self) -> bool {
        false
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

/// A key, or a value that is one event.
#[derive(Debug, Clone)]
pub struct Part<'q> {
    queue: &'q Queue,
    nodes: Range<usize>,
}

impl Part<'_> {
    /// Returns the text of a key or value that is text.
    pub fn as_str(&self) -> Option<&str> {
        match self.queue.nodes[self.nodes.start] {
            Node::Text { len, start } | Node::Key { len, start } => {
                Some(self.queue.text_at(len, start))
            }
            Node::Value(index) | Node::KeyValue(index) => {
                match &self.queue.values[index as usize] {
                    Value::Text(text) => Some(text),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the key or value.
    pub fn to_value(&self) -> Value {
        match self.queue.nodes[self.nodes.start] {
            Node::Key { len, start } => Value::Text(self.queue.text_at(len, start).to_owned()),
            Node::KeyValue(index) => self.queue.values[index as usize].clone(),
            _ => {
                let mut builder = Builder::new(&Limits::NONE);
                self.drive(&mut builder).expect("a value can be built from any events");
                builder.take().expect("the events of a value")
            }
        }
    }

    /// Drives the events of the value into a sink; of a key, its one event.
    ///
    /// # Errors
    /// The sink's.
    #[inline]
    pub fn drive<S: Sink + ?Sized>(&self, sink: &mut S) -> Result {
        let queue = self.queue;
        for node in &queue.nodes[self.nodes.clone()] {
            match *node {
                Node::Null => sink.null()?,
                Node::Bool(v) => sink.bool(v)?,
                Node::I64(v) => sink.i64(v)?,
                Node::U64(v) => sink.u64(v)?,
                Node::F64(v) => sink.f64(v)?,
                Node::F32(v) => sink.f32(v)?,
                Node::Text { len, start } => sink.str(queue.text_at(len, start))?,
                Node::Key { len, start } => sink.key(queue.text_at(len, start))?,
                Node::Value(index) => queue.values[index as usize].drive(sink)?,
                Node::KeyValue(index) => sink.key_value(&queue.values[index as usize])?,
                Node::BeginArray => sink.begin_array(None)?,
                Node::EndArray => sink.end_array()?,
                Node::BeginMap => sink.begin_map(None)?,
                Node::EndMap => sink.end_map()?,
                Node::BeginTyped(index) => {
                    sink.begin_typed(&queue.types[index as usize].as_type())?;
                }
                Node::EndTyped => sink.end_typed()?,
                Node::BeginDocument | Node::EndDocument => {}
            }
        }
        Ok(())
    }
}
