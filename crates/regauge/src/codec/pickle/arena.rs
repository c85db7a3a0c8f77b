//! What the opcodes of one pickle have built: 16-byte nodes, objects that record what they consist
//! of, and nothing that could run.
//!
//! A [`Node`] is a scalar, or names an [`Object`]. Text and bytes stay in the input; a node has
//! their place. An object is created in one way and then changed in an order that matters
//! (`APPENDS`, `SETITEMS`, `BUILD`), so it keeps its changes as a list of chunks, each a run of
//! adjacent nodes. A list that grows while others do gets another chunk; nothing ever moves.

use std::borrow::Cow;

use super::{names, text};

/// The place of a node's opcode, in bytes from the beginning of the pickle. Pickles are shorter
/// than 4 GiB (see [`super::machine`]).
pub(super) type At = u32;

/// A range of bytes of the pickle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub at: u32,
    pub length: u32,
}

impl Span {
    /// Returns the bytes.
    #[inline]
    pub fn of(self, input: &[u8]) -> &[u8] {
        let at = self.at as usize;
        input.get(at..at + self.length as usize).unwrap_or_default()
    }
}

/// A value on the stack, in the memo or in a container.
#[derive(Clone, Copy, Debug)]
pub(super) enum Node {
    None(At),
    Bool(At, bool),
    Int(At, i64),
    Float(At, f64),
    /// UTF-8, which may contain surrogates; checked on use.
    Text(At, Span),
    /// Text with the escapes of `UNICODE`.
    Escaped(At, Span),
    /// An 8-bit string of Python 2.
    Old(At, Span),
    /// An 8-bit string of Python 2 with the escapes of `STRING`.
    OldEscaped(At, Span),
    Bytes(At, Span),
    /// A little-endian two's complement integer beyond 64 bits.
    Long(At, Span),
    /// An integer beyond 64 bits in decimal: an optional sign, and digits.
    LongText(At, Span),
    /// The index of an [`Object`].
    Object(At, u32),
    /// A memo entry that has not been set.
    Hole,
}

impl Node {
    /// Returns the place of its opcode.
    pub fn at(self) -> At {
        match self {
            Node::None(at)
            | Node::Bool(at, _)
            | Node::Int(at, _)
            | Node::Float(at, _)
            | Node::Text(at, _)
            | Node::Escaped(at, _)
            | Node::Old(at, _)
            | Node::OldEscaped(at, _)
            | Node::Bytes(at, _)
            | Node::Long(at, _)
            | Node::LongText(at, _)
            | Node::Object(at, _) => at,
            Node::Hole => 0,
        }
    }
}

/// How an object was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Dict,
    Tuple,
    Set,
    FrozenSet,
    /// Its one node is the bytes.
    ByteArray,
    /// Two nodes: module and qualified name.
    Global,
    /// `REDUCE`: a callable and its arguments, a tuple.
    Call,
    /// `NEWOBJ`: a class and its arguments.
    New,
    /// `NEWOBJ_EX`: a class, its arguments and its keyword arguments.
    NewEx,
    /// `INST` and `OBJ`: a class, and its arguments as a tuple.
    Instance,
    /// Its one node is the identifier.
    PersistentId,
    /// Its one node is the code.
    Extension,
    /// Its one node is the number of the buffer, from 0.
    Buffer,
    /// Its one node is the buffer.
    ReadonlyBuffer,
}

impl Kind {
    /// Returns the name used in messages: `a list`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::List => "a list",
            Kind::Dict => "a dict",
            Kind::Tuple => "a tuple",
            Kind::Set => "a set",
            Kind::FrozenSet => "a frozenset",
            Kind::ByteArray => "a bytearray",
            Kind::Global => "a global",
            Kind::Call => "the result of a call",
            Kind::New | Kind::NewEx | Kind::Instance => "an object",
            Kind::PersistentId => "a persistent id",
            Kind::Extension => "an extension code",
            Kind::Buffer | Kind::ReadonlyBuffer => "a buffer",
        }
    }

    /// Returns whether loading would run code to create it.
    pub fn is_call(self) -> bool {
        matches!(self, Kind::Call | Kind::New | Kind::NewEx | Kind::Instance)
    }
}

/// What a chunk does with its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// `APPEND`, `APPENDS`: values.
    Append,
    /// `SETITEM`, `SETITEMS`: alternating keys and values.
    SetItems,
    /// `ADDITEMS`: members.
    Add,
    /// `BUILD`: one value.
    Build,
}

/// No further chunk, no anchor.
pub(super) const NOTHING: u32 = u32::MAX;

/// A run of adjacent nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub step: Step,
    pub start: u32,
    pub end: u32,
    pub next: u32,
}

/// See [`Kind`]. The first run of nodes is what the object was created from; for a list, a dict or
/// a set, it is the first chunk that was added.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    pub at: At,
    pub start: u32,
    pub end: u32,
    first_chunk: u32,
    last_chunk: u32,
    /// Number of references to it, once the walk has counted them.
    pub references: u32,
    /// The number of its anchor, if it has one.
    pub anchor: u32,
    pub kind: Kind,
    /// Whether it is a global with a Python 2 name.
    pub old_name: bool,
    /// Whether it is part of the value, once the walk has counted.
    pub reached: bool,
    /// Whether the walk has visited it.
    pub seen: bool,
    /// Whether its nodes were emitted as part of something else: as arguments, as members of a set.
    pub consumed: bool,
    /// Whether the walk is inside it.
    pub open: bool,
}

/// All nodes and objects of a pickle.
#[derive(Debug, Default)]
pub(super) struct Arena {
    pub slots: Vec<Node>,
    pub objects: Vec<Object>,
    chunks: Vec<Chunk>,
    /// Whether a container or a described object was pushed again, or may have been dropped.
    pub shares: bool,
    pub drops: bool,
}

impl Arena {
    /// Forgets everything, but keeps its memory.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.objects.clear();
        self.chunks.clear();
        (self.shares, self.drops) = (false, false);
    }

    /// Returns how much it holds, in units of 16 bytes.
    pub fn cells(&self) -> usize {
        self.slots.len() + 2 * self.objects.len() + self.chunks.len()
    }

    /// Usually there are few nodes, and copying them one by one is cheaper than a call of memcpy.
    #[inline]
    fn push_all(&mut self, nodes: &[Node]) {
        match *nodes {
            [] => {}
            [one] => self.slots.push(one),
            [one, two] => self.slots.extend_from_slice(&[one, two]),
            [one, two, three] => self.slots.extend_from_slice(&[one, two, three]),
            _ => self.slots.extend_from_slice(nodes),
        }
    }

    /// Adds an object created from these nodes.
    #[inline]
    pub fn make(&mut self, kind: Kind, at: At, nodes: &[Node]) -> Node {
        let start = self.slots.len() as u32;
        self.push_all(nodes);
        let index = self.objects.len() as u32;
        self.objects.push(Object {
            at,
            start,
            end: self.slots.len() as u32,
            first_chunk: NOTHING,
            last_chunk: NOTHING,
            references: 0,
            anchor: NOTHING,
            kind,
            old_name: false,
            reached: false,
            seen: false,
            consumed: false,
            open: false,
        });
        Node::Object(at, index)
    }

    /// Adds nodes to an object.
    #[inline]
    pub fn add(&mut self, index: u32, step: Step, nodes: &[Node]) {
        let start = self.slots.len() as u32;
        self.push_all(nodes);
        let end = self.slots.len() as u32;
        let object = &mut self.objects[index as usize];
        let plain = matches!(object.kind, Kind::List | Kind::Dict | Kind::Set);
        if plain && object.first_chunk == NOTHING {
            if object.start == object.end {
                (object.start, object.end) = (start, end);
                return;
            }
            if object.end == start {
                object.end = end;
                return;
            }
        }
        self.add_chunk(index, Chunk { step, start, end, next: NOTHING });
    }

    fn add_chunk(&mut self, index: u32, chunk: Chunk) {
        let object = &mut self.objects[index as usize];
        let number = self.chunks.len() as u32;
        if object.first_chunk == NOTHING {
            object.first_chunk = number;
        } else {
            let last = &mut self.chunks[object.last_chunk as usize];
            if last.step == chunk.step && last.end == chunk.start && chunk.step != Step::Build {
                last.end = chunk.end;
                return;
            }
            last.next = number;
        }
        object.last_chunk = number;
        self.chunks.push(chunk);
    }

    /// Returns the object.
    #[inline]
    pub fn object(&self, index: u32) -> &Object {
        &self.objects[index as usize]
    }

    /// Returns the object, to mark it.
    #[inline]
    pub fn object_mut(&mut self, index: u32) -> &mut Object {
        &mut self.objects[index as usize]
    }

    /// Returns the nodes that an object was created from: see [`Kind`].
    #[inline]
    pub fn made_of(&self, index: u32) -> &[Node] {
        let object = self.object(index);
        &self.slots[object.start as usize..object.end as usize]
    }

    /// Returns what was added to an object after its first run of nodes, in order.
    pub fn chunks(&self, index: u32) -> impl Iterator<Item = Chunk> {
        let mut next = self.object(index).first_chunk;
        std::iter::from_fn(move || {
            let chunk = *self.chunks.get(next as usize)?;
            next = chunk.next;
            Some(chunk)
        })
    }

    /// Returns the nodes of a chunk.
    pub fn nodes(&self, chunk: Chunk) -> &[Node] {
        &self.slots[chunk.start as usize..chunk.end as usize]
    }

    /// Returns the number of the first chunk, for [`chunk`](Arena::chunk).
    #[inline]
    pub fn first_chunk(&self, index: u32) -> u32 {
        self.object(index).first_chunk
    }

    /// Returns the chunk of this number, if that is not [`NOTHING`].
    #[inline]
    pub fn chunk(&self, number: u32) -> Option<Chunk> {
        self.chunks.get(number as usize).copied()
    }

    /// Returns all nodes of a list, a dict or a set if they are in one run. `None` if they are not,
    /// which no pickler produces for the small ones that this is used for.
    pub fn single_run(&self, index: u32) -> Option<&[Node]> {
        (self.first_chunk(index) == NOTHING).then(|| self.made_of(index))
    }

    /// Returns how many nodes a list, a dict, a tuple or a set holds.
    #[inline]
    pub fn count(&self, index: u32) -> u64 {
        let object = self.object(index);
        let first = u64::from(object.end - object.start);
        if object.first_chunk == NOTHING {
            return first;
        }
        first + self.chunks(index).map(|chunk| u64::from(chunk.end - chunk.start)).sum::<u64>()
    }

    /// Returns the text of a text node of any opcode; `None` for anything else, and for text that
    /// is not UTF-8.
    pub fn text<'i>(node: Node, input: &'i [u8]) -> Option<Cow<'i, str>> {
        match node {
            Node::Text(_, span) => std::str::from_utf8(span.of(input)).ok().map(Cow::Borrowed),
            Node::Escaped(_, span) => match text::unescape_unicode(span.of(input)).ok()? {
                Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
                Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
            },
            Node::Old(..) | Node::OldEscaped(..) => {
                let bytes = Arena::old_bytes(node, input)?;
                match bytes {
                    _ if !bytes.is_ascii() => None,
                    Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
                    Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
                }
            }
            _ => None,
        }
    }

    /// Returns the bytes of an 8-bit string of Python 2.
    pub fn old_bytes(node: Node, input: &[u8]) -> Option<Cow<'_, [u8]>> {
        match node {
            Node::Old(_, span) => Some(Cow::Borrowed(span.of(input))),
            Node::OldEscaped(_, span) => text::unescape_string(span.of(input)).ok(),
            _ => None,
        }
    }

    /// Returns whether nothing was added to an object.
    pub fn is_untouched(&self, node: Node) -> bool {
        match node {
            Node::Object(_, index) => self.first_chunk(index) == NOTHING,
            _ => true,
        }
    }

    /// Returns the module and qualified name of a global, as Python 3 looks it up.
    pub fn global<'i>(&self, node: Node, input: &'i [u8]) -> Option<(Cow<'i, str>, Cow<'i, str>)> {
        let Node::Object(_, index) = node else { return None };
        let (module, name) = self.written_global(node, input)?;
        if self.object(index).old_name {
            return Some(names::renamed(module, name));
        }
        Some((module, name))
    }

    /// Returns the module and qualified name of a global, as written.
    pub fn written_global<'i>(
        &self,
        node: Node,
        input: &'i [u8],
    ) -> Option<(Cow<'i, str>, Cow<'i, str>)> {
        let Node::Object(_, index) = node else { return None };
        if self.object(index).kind != Kind::Global {
            return None;
        }
        let &[module, name] = self.made_of(index) else { return None };
        Some((Arena::text(module, input)?, Arena::text(name, input)?))
    }
}
