//! The opcode machine: runs the instructions of one pickle over a stack, a memo and an arena.
//!
//! It only ever creates nodes. `GLOBAL` creates one that holds a name, `REDUCE` one that holds a
//! callable and arguments; nothing here could look a name up or call it.
//!
//! Advice for those who change this file: `run` may stop before any incomplete instruction and is
//! called again with more bytes, so an instruction must change nothing until all its bytes have
//! arrived. Everything that is pushed costs at least one byte of input, and `cells` bounds how much
//! it may take.

use std::collections::BTreeMap;

use super::arena::{Arena, Kind, Node, Span, Step};
use super::arrays;
use super::extent::{Extent, is_large};
use super::stop::{Ran, Stop, empty, line, odd, syntax, syntax_of, too_long};
use super::types::*;
use crate::model::hint::Hint;
use crate::model::limits::{Limit, Limits};
use crate::{Error, ErrorKind, Result};

/// Places in a pickle take 32 bits, and every byte creates fewer than two nodes.
const BYTES_MAX: u64 = i32::MAX as u64;

/// How often memory is compared with its limit, in instructions.
const CHECK_EVERY: u64 = 4096;

/// See [`crate::codec::pickle`].
#[derive(Debug)]
pub(super) struct Machine {
    pub arena: Arena,
    pub(super) stack: Vec<Node>,
    /// The stack positions of the marks.
    pub(super) marks: Vec<u32>,
    /// The topmost mark: nothing below it can be reached.
    pub(super) floor: usize,
    memo: Vec<Node>,
    /// Entries with a number far above how many there can be.
    sparse: BTreeMap<u32, Node>,
    /// The next instruction.
    pub(super) pos: usize,
    instructions: u64,
    /// Where the current frame ends; 0 outside a frame.
    frame_end: usize,
    pub(super) buffers: i64,
    pub(super) protocol: u8,
    pub(super) bytes_max: usize,
    pub(super) integer_digits: usize,
    nodes: u64,
    /// Whether a [large](is_large) pickle has to be whole before more of its values are built.
    pub(super) looks_ahead: bool,
    extent: Extent,
}

impl Machine {
    pub fn new(limits: &Limits) -> Machine {
        Machine {
            arena: Arena::default(),
            stack: Vec::new(),
            marks: Vec::new(),
            floor: 0,
            memo: Vec::new(),
            sparse: BTreeMap::new(),
            pos: 0,
            instructions: 0,
            frame_end: 0,
            buffers: 0,
            protocol: 0,
            bytes_max: limits.record_bytes.min(BYTES_MAX) as usize,
            integer_digits: limits.integer_digits as usize,
            nodes: limits.nodes,
            looks_ahead: false,
            extent: Extent::Unknown,
        }
    }

    /// Prepares for another pickle.
    pub fn reset(&mut self) {
        self.arena.clear();
        self.stack.clear();
        self.marks.clear();
        self.memo.clear();
        self.sparse.clear();
        (self.floor, self.pos, self.frame_end) = (0, 0, 0);
        (self.instructions, self.buffers, self.protocol) = (0, 0, 0);
        self.extent = Extent::Unknown;
    }

    /// Returns how many bytes of the pickle have been consumed.
    pub fn pos(&self) -> usize {
        self.pos
    }

    /// Returns the protocol that the last `PROTO` instruction named.
    pub fn protocol(&self) -> u8 {
        self.protocol
    }

    /// Returns how many instructions have been run.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Continues, up to `STOP`. `input` begins where the pickle begins. Returns the value, or
    /// `None` if the input ends before an instruction is complete.
    ///
    /// # Errors
    /// `Syntax`, `Truncated`, `Unsupported` and `Limit`, with the instruction's place in `input`.
    pub fn run(&mut self, input: &[u8], last: bool) -> Result<Option<Node>> {
        loop {
            match self.step(input, last) {
                Ok(Some(root)) => return Ok(Some(root)),
                Ok(None) => {}
                Err(Stop::Cut(wanted)) => {
                    let had = input.len() - self.pos;
                    if had > self.bytes_max {
                        return Err(self.too_long());
                    }
                    if !last {
                        return Ok(None);
                    }
                    return Err(arrays::explain(&self.arena, input, self.cut(input, wanted)));
                }
                Err(Stop::Error(error)) => {
                    let error = match error.offset() {
                        Some(_) => error,
                        None => error.at(self.pos as u64),
                    };
                    return Err(arrays::explain(&self.arena, input, error));
                }
            }
        }
    }

    /// Runs many instructions; returns `None` after a block of them.
    #[inline]
    fn step(&mut self, input: &[u8], last: bool) -> Ran<Option<Node>> {
        let cells = self.arena.cells() + self.stack.len() + self.memo.len() + self.marks.len();
        // Half a cell per byte allows everything picklers write, which is at most one cell per two
        // bytes, and keeps memory within eight times the input.
        if cells as u64 > self.nodes.saturating_add(self.pos as u64 / 2) {
            return Err(Stop::Error(self.too_many()));
        }
        if self.looks_ahead
            && is_large(cells, self.pos, self.nodes)
            && !self.look_ahead(input, last)
        {
            return Err(Stop::Cut(1));
        }
        if self.pos > self.bytes_max {
            return Err(Stop::Error(self.too_long()));
        }
        // The place is also kept here, so that no instruction waits for the last one's store.
        let mut place = self.pos;
        for _ in 0..CHECK_EVERY {
            let pos = place;
            let Some((&opcode, rest)) = input.get(pos..).and_then(|rest| rest.split_first()) else {
                return Err(Stop::Cut(1));
            };
            let at = pos as u32;
            // Reads the number that ends the instruction, or precedes its payload.
            macro_rules! number {
                ($bytes:literal) => {{
                    let Some(number) = rest.first_chunk::<$bytes>() else {
                        return Err(Stop::Cut(1 + $bytes));
                    };
                    number
                }};
            }
            macro_rules! payload {
                ($bytes:literal, $length:expr) => {{
                    let length: u64 = $length;
                    let header = 1 + $bytes;
                    if length.saturating_add(pos as u64) > self.bytes_max as u64 {
                        return Err(Stop::Error(self.too_long()));
                    }
                    let length = length as usize;
                    if rest.len() < $bytes + length {
                        return Err(Stop::Cut(header + length));
                    }
                    let span = Span { at: (pos + header) as u32, length: length as u32 };
                    (span, pos + header + length)
                }};
            }
            let next = match opcode {
                SHORT_BINUNICODE => {
                    let (span, next) = payload!(1, u64::from(number!(1)[0]));
                    self.stack.push(Node::Text(at, span));
                    next
                }
                MEMOIZE => {
                    let node = self.top()?;
                    self.memo.push(node);
                    pos + 1
                }
                BINGET => {
                    let index = u32::from(number!(1)[0]);
                    self.get(at, index)?;
                    pos + 2
                }
                LONG_BINGET => {
                    let index = u32::from_le_bytes(*number!(4));
                    self.get(at, index)?;
                    pos + 5
                }
                BINPUT => {
                    let index = u32::from(number!(1)[0]);
                    self.put(index)?;
                    pos + 2
                }
                LONG_BINPUT => {
                    let index = u32::from_le_bytes(*number!(4));
                    self.put(index)?;
                    pos + 5
                }
                BININT1 => {
                    self.stack.push(Node::Int(at, i64::from(number!(1)[0])));
                    pos + 2
                }
                BININT2 => {
                    let v = u16::from_le_bytes(*number!(2));
                    self.stack.push(Node::Int(at, i64::from(v)));
                    pos + 3
                }
                BININT => {
                    let v = i32::from_le_bytes(*number!(4));
                    self.stack.push(Node::Int(at, i64::from(v)));
                    pos + 5
                }
                BINFLOAT => {
                    let v = f64::from_be_bytes(*number!(8));
                    self.stack.push(Node::Float(at, v));
                    pos + 9
                }
                NONE => {
                    self.stack.push(Node::None(at));
                    pos + 1
                }
                NEWTRUE | NEWFALSE => {
                    self.stack.push(Node::Bool(at, opcode == NEWTRUE));
                    pos + 1
                }
                BINUNICODE => {
                    let (span, next) = payload!(4, u64::from(u32::from_le_bytes(*number!(4))));
                    self.stack.push(Node::Text(at, span));
                    next
                }
                BINUNICODE8 => {
                    let (span, next) = payload!(8, u64::from_le_bytes(*number!(8)));
                    self.stack.push(Node::Text(at, span));
                    next
                }
                MARK => {
                    self.marks.push(self.stack.len() as u32);
                    self.floor = self.stack.len();
                    pos + 1
                }
                EMPTY_LIST => self.make(at, Kind::List),
                EMPTY_DICT => self.make(at, Kind::Dict),
                EMPTY_TUPLE => self.make(at, Kind::Tuple),
                EMPTY_SET => self.make(at, Kind::Set),
                APPENDS => {
                    self.add_marked(Step::Append)?;
                    pos + 1
                }
                SETITEMS => {
                    self.add_marked(Step::SetItems)?;
                    pos + 1
                }
                ADDITEMS => {
                    self.add_marked(Step::Add)?;
                    pos + 1
                }
                APPEND => {
                    self.add(Step::Append, 1)?;
                    pos + 1
                }
                SETITEM => {
                    self.add(Step::SetItems, 2)?;
                    pos + 1
                }
                BUILD => {
                    self.add(Step::Build, 1)?;
                    pos + 1
                }
                LIST | DICT | TUPLE | FROZENSET => {
                    let from = self.mark()?;
                    let kind = match opcode {
                        LIST => Kind::List,
                        DICT => Kind::Dict,
                        TUPLE => Kind::Tuple,
                        _ => Kind::FrozenSet,
                    };
                    if kind == Kind::Dict && (self.stack.len() - from) % 2 == 1 {
                        return Err(odd(DICT));
                    }
                    self.pop_mark();
                    self.collect(kind, at, from);
                    pos + 1
                }
                TUPLE1..=TUPLE3 => {
                    let from = self.reach(usize::from(opcode - TUPLE1) + 1)?;
                    self.collect(Kind::Tuple, at, from);
                    pos + 1
                }
                STOP => {
                    let root = self.top()?;
                    self.arena.drops |= self.stack.len() > 1;
                    self.instructions += 1;
                    self.check_frame(input, pos, pos + 1)?;
                    self.pos = pos + 1;
                    return Ok(Some(root));
                }
                PROTO => {
                    let protocol = number!(1)[0];
                    if protocol > HIGHEST_PROTOCOL {
                        return Err(Stop::Error(Error::new(
                            ErrorKind::Unsupported,
                            format!(
                                "found protocol {protocol}, expected at most {HIGHEST_PROTOCOL}"
                            ),
                        )));
                    }
                    self.protocol = protocol;
                    pos + 2
                }
                FRAME => {
                    let (_, end) = payload!(8, u64::from_le_bytes(*number!(8)));
                    let next = pos + 9;
                    self.check_frame(input, pos, next)?;
                    if self.frame_end > next {
                        return Err(syntax("found a frame inside another frame"));
                    }
                    self.frame_end = end;
                    next
                }
                _ => self.rare(input, opcode)?,
            };
            if self.frame_end != 0 && next >= self.frame_end {
                self.check_frame(input, pos, next)?;
            }
            (place, self.pos) = (next, next);
            self.instructions += 1;
        }
        Ok(None)
    }

    /// Looks for the end of the pickle. Continues at the instruction that keeps it from being whole,
    /// if there is one. Returns `false` if more bytes are needed.
    #[cold]
    fn look_ahead(&mut self, input: &[u8], last: bool) -> bool {
        self.extent = self.extent.search(input, self.pos, self.bytes_max, last);
        if let Extent::Fault(at) = self.extent {
            self.pos = at;
        }
        !matches!(self.extent, Extent::Open(_))
    }

    /// Handles an instruction that ends at or after the end of a frame. What Python reads in one go
    /// must be entirely inside a frame or entirely outside.
    #[cold]
    fn check_frame(&mut self, input: &[u8], pos: usize, next: usize) -> Ran {
        let end = self.frame_end;
        if end == 0 || next < end {
            return Ok(());
        }
        let header = match input[pos] {
            SHORT_BINSTRING | SHORT_BINBYTES | SHORT_BINUNICODE | LONG1 => 1,
            BINSTRING | BINBYTES | BINUNICODE | LONG4 => 4,
            BINUNICODE8 | BINBYTES8 | BYTEARRAY8 => 8,
            GLOBAL | INST => line(&input[pos + 1..]).map_or(0, |line| line.len() + 1),
            _ => 0,
        };
        if pos < end && end < next && end != pos + 1 && end != pos + 1 + header {
            return Err(syntax("found an instruction that crosses the end of its frame"));
        }
        self.frame_end = 0;
        Ok(())
    }

    #[inline]
    fn make(&mut self, at: u32, kind: Kind) -> usize {
        let node = self.arena.make(kind, at, &[]);
        self.stack.push(node);
        at as usize + 1
    }

    /// Creates an object from everything on the stack from `from` on, and replaces it.
    #[inline]
    pub(super) fn collect(&mut self, kind: Kind, at: u32, from: usize) {
        let node = self.arena.make(kind, at, &self.stack[from..]);
        self.stack.truncate(from);
        self.stack.push(node);
    }

    /// Returns the topmost node.
    #[inline]
    pub(super) fn top(&self) -> Ran<Node> {
        match self.stack.last() {
            Some(node) if self.stack.len() > self.floor => Ok(*node),
            _ => Err(empty()),
        }
    }

    /// Returns where the topmost `count` nodes begin.
    #[inline]
    pub(super) fn reach(&self, count: usize) -> Ran<usize> {
        if self.stack.len() - self.floor < count {
            Err(empty())
        } else {
            Ok(self.stack.len() - count)
        }
    }

    /// Returns the stack position of the topmost mark.
    #[inline]
    pub(super) fn mark(&self) -> Ran<usize> {
        if self.marks.is_empty() {
            return Err(syntax("found no mark on the stack, expected one"));
        }
        Ok(self.floor)
    }

    #[inline]
    pub(super) fn pop_mark(&mut self) {
        self.marks.pop();
        self.floor = self.marks.last().map_or(0, |mark| *mark as usize);
    }

    /// Adds everything above the topmost mark to the object below it.
    #[inline]
    fn add_marked(&mut self, step: Step) -> Ran {
        let from = self.mark()?;
        let below =
            if self.marks.len() > 1 { self.marks[self.marks.len() - 2] as usize } else { 0 };
        if from <= below {
            return Err(empty());
        }
        if step == Step::SetItems && (self.stack.len() - from) % 2 == 1 {
            return Err(odd(SETITEMS));
        }
        self.add_from(step, from)?;
        self.pop_mark();
        Ok(())
    }

    /// Adds the topmost `count` nodes to the object below them.
    #[inline]
    fn add(&mut self, step: Step, count: usize) -> Ran {
        let from = self.reach(count + 1)? + 1;
        self.add_from(step, from)
    }

    #[inline]
    fn add_from(&mut self, step: Step, from: usize) -> Ran {
        let target = self.stack[from - 1];
        let Node::Object(_, index) = target else { return Err(self.cannot_add(step, target)) };
        match (self.arena.object(index).kind, step) {
            (Kind::List, Step::Append) | (Kind::Dict, Step::SetItems) | (Kind::Set, Step::Add) => {}
            (
                Kind::List
                | Kind::Dict
                | Kind::Set
                | Kind::Tuple
                | Kind::FrozenSet
                | Kind::ByteArray
                | Kind::Buffer
                | Kind::ReadonlyBuffer,
                _,
            ) => return Err(self.cannot_add(step, target)),
            // From now on it matters that it is the same global.
            (Kind::Global, _) => self.arena.shares = true,
            _ => {}
        }
        if self.stack.len() > from {
            self.arena.add(index, step, &self.stack[from..]);
            self.stack.truncate(from);
        }
        Ok(())
    }

    #[cold]
    fn cannot_add(&self, step: Step, target: Node) -> Stop {
        let expected = match step {
            Step::Append => "items on {}, expected a list or an object",
            Step::SetItems => "keys and values on {}, expected a dict or an object",
            Step::Add => "members on {}, expected a set or an object",
            Step::Build => "state on {}, expected an object",
        };
        syntax_of(format!("found {}", expected.replace("{}", self.describe(target))))
    }

    #[inline]
    pub(super) fn get(&mut self, at: u32, index: u32) -> Ran {
        let node = match self.memo.get(index as usize) {
            Some(Node::Hole) | None => match self.sparse.get(&index) {
                Some(node) => *node,
                None => {
                    return Err(syntax_of(format!(
                        "found memo number {index}, which has not been set"
                    )));
                }
            },
            Some(node) => *node,
        };
        self.push_again(at, node);
        Ok(())
    }

    #[inline]
    pub(super) fn push_again(&mut self, at: u32, node: Node) {
        let Node::Object(_, index) = node else { return self.stack.push(node) };
        if self.arena.object(index).kind != Kind::Global {
            self.arena.shares = true;
        }
        // Its place is that of the reference, so that a cycle can be shown.
        self.stack.push(Node::Object(at, index));
    }

    #[inline]
    pub(super) fn put(&mut self, index: u32) -> Ran {
        let node = self.top()?;
        let place = index as usize;
        if place < self.memo.len() {
            self.memo[place] = node;
        } else if index as u64 <= self.instructions + 16 {
            // Picklers count up, some from 1.
            self.memo.resize(place, Node::Hole);
            self.memo.push(node);
        } else {
            self.sparse.insert(index, node);
        }
        Ok(())
    }

    pub(super) fn describe(&self, node: Node) -> &'static str {
        match node {
            Node::None(_) => "None",
            Node::Bool(..) => "a boolean",
            Node::Int(..) | Node::Long(..) | Node::LongText(..) => "an integer",
            Node::Float(..) => "a float",
            Node::Text(..) | Node::Escaped(..) => "text",
            Node::Old(..) | Node::OldEscaped(..) => "an 8-bit string",
            Node::Bytes(..) => "bytes",
            Node::Object(_, index) => self.arena.object(index).kind.name(),
            Node::Hole => "nothing",
        }
    }

    #[cold]
    fn cut(&self, input: &[u8], wanted: usize) -> Error {
        let found = input.len() - self.pos;
        let Some(opcode) = input.get(self.pos) else {
            return Error::truncated(
                "found the end of the input, expected another instruction or STOP",
            )
            .at(self.pos as u64);
        };
        let name = opcode_name(*opcode).unwrap_or("an instruction");
        let message = match name {
            "GLOBAL" | "INST" | "INT" | "LONG" | "FLOAT" | "STRING" | "UNICODE" | "GET" | "PUT"
            | "PERSID" => format!("found the end of the input in {name}, expected a line break"),
            _ => format!("found {found} of the {wanted} bytes of {name}"),
        };
        Error::truncated(message).at(self.pos as u64)
    }

    #[cold]
    fn too_long(&self) -> Error {
        too_long(self.bytes_max).at(self.pos as u64)
    }

    #[cold]
    fn too_many(&self) -> Error {
        Error::limit(format!(
            "found more than {} values plus one for every two bytes, the limit of nodes",
            self.nodes
        ))
        .hint(Hint::raise(Limit::Nodes))
    }
}
