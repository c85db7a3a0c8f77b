//! Plain data as a flat sequence: what nearly every pickle is, without the arena.
//!
//! Picklers write scalars, lists, dicts and tuples that are referenced only once in the order in
//! which they are read. They need no stack of values and no objects: a sequence with one [`Cell`]
//! each, and an end after the contents of each container, is enough for [the walk](super::walk).
//!
//! Advice for those who change this file: [`Flat::run`] accepts only what [`Machine::run`] accepts,
//! with the same events, and reports no faults. It gives up on anything not plain or not valid, and
//! the machine starts from the beginning; nothing has been sent to the sink by then.
//!
//! [`Machine::run`]: super::machine::Machine::run

use super::arena::{Node, Span};
use super::cell::{Cell, Kind};
use super::extent::{Extent, is_large};
use super::types::*;
use crate::model::limits::Limits;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ran {
    /// The pickle is complete.
    Whole,
    /// More bytes are needed.
    More,
    /// The machine has to run it.
    GivenUp,
    /// The pickle is longer than the limit.
    TooLong,
}

/// State from below a mark.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The first cell after the mark.
    from: u32,
    /// How many values there are below the mark and above the previous one.
    count: u32,
    /// Like [`Flat::keyed`].
    keyed: u32,
}

/// Memo entry of a container.
const CONTAINER: u32 = u32::MAX;
/// Memo entry that has not been set.
const HOLE: u32 = u32::MAX - 1;

/// How often room is made and counted, in instructions or pairs of them.
const BLOCK: usize = 4096;

/// How many cells may be moved to make room for the tuples of a small pickle.
const FREE_MOVES: usize = 1 << 16;

/// See the module documentation.
#[derive(Debug)]
pub(super) struct Flat {
    /// The first `filled` cells are used; the rest is spare room.
    cells: Vec<Cell>,
    filled: usize,
    /// The places of the opcodes of memoized values; the first `put` entries are used.
    memo: Vec<u32>,
    put: usize,
    levels: Vec<Level>,
    /// How many values are above the topmost mark.
    count: u32,
    /// The first of these that is a container in the position of a dict key; `u32::MAX` if none is.
    keyed: u32,
    /// The topmost value, as a memo entry.
    top: u32,
    /// The next instruction.
    pos: usize,
    /// Where the current frame ends; `usize::MAX` outside a frame.
    frame_end: usize,
    /// What the machine would hold in addition to one cell for each of ours.
    beside: usize,
    /// How many cells were moved for tuples.
    moved: usize,
    given_up: bool,
    bytes_max: usize,
    nodes: u64,
    extent: Extent,
}

impl Flat {
    pub fn new(limits: &Limits, bytes_max: usize) -> Flat {
        Flat {
            cells: Vec::new(),
            filled: 0,
            memo: Vec::new(),
            put: 0,
            levels: Vec::new(),
            count: 0,
            keyed: u32::MAX,
            top: HOLE,
            pos: 0,
            frame_end: usize::MAX,
            beside: 0,
            moved: 0,
            given_up: false,
            bytes_max,
            nodes: limits.nodes,
            extent: Extent::Unknown,
        }
    }

    /// Prepares for another pickle.
    pub fn reset(&mut self) {
        self.levels.clear();
        (self.filled, self.put, self.pos, self.frame_end) = (0, 0, 0, usize::MAX);
        (self.count, self.keyed, self.top) = (0, u32::MAX, HOLE);
        (self.beside, self.moved, self.given_up) = (0, 0, false);
        self.extent = Extent::Unknown;
    }

    /// Leaves the next pickle to the machine.
    #[cfg(test)]
    pub fn give_up(&mut self) {
        self.given_up = true;
    }

    /// Returns how many bytes of the pickle have been consumed.
    pub fn pos(&self) -> usize {
        self.pos
    }

    /// Returns the cells of a complete pickle.
    pub fn cells(&self) -> &[Cell] {
        &self.cells[..self.filled]
    }

    /// Continues, up to `STOP`. `input` begins where the pickle begins. With `exact`, tuples are
    /// distinct from lists.
    pub fn run(&mut self, input: &[u8], last: bool, exact: bool) -> Ran {
        if self.given_up {
            return Ran::GivenUp;
        }
        if self.pos > self.bytes_max {
            return Ran::TooLong;
        }
        let ran = loop {
            let paid = self.pos;
            self.make_room(input.len() - paid);
            let ran = self.block(input, exact);
            // The machine compares what it holds with its limit at intervals. Nothing that is
            // counted here ever decreases, so this is more than the machine finds in between.
            let held = self.filled + self.put + self.beside + self.levels.len() + BLOCK;
            let many = held as u64 > self.nodes.saturating_add(paid as u64 / 2);
            if many || self.pos > self.bytes_max {
                break Ran::GivenUp;
            }
            if is_large(held, self.pos, self.nodes) && ran.is_none() {
                self.extent = self.extent.search(input, self.pos, self.bytes_max, last);
                match self.extent {
                    Extent::Whole | Extent::Unknown => {}
                    Extent::Open(_) => break Ran::More,
                    Extent::Fault(_) => break Ran::GivenUp,
                }
            }
            match ran {
                None => {}
                Some(Ran::More) if last || input.len() - self.pos > self.bytes_max => {
                    break Ran::GivenUp;
                }
                Some(ran) => break ran,
            }
        };
        if ran == Ran::GivenUp {
            // The machine needs the memory.
            (self.cells, self.memo, self.levels) = Default::default();
            self.given_up = true;
        }
        ran
    }

    /// Makes room for what the instructions of a block create: two cells and two memo entries each.
    fn make_room(&mut self, left: usize) {
        let most = 2 * left.min(BLOCK) + 2;
        if self.cells.len() < self.filled + most {
            self.cells.resize(self.filled + most, Cell::Gap);
        }
        if self.memo.len() < self.put + most {
            self.memo.resize(self.put + most, HOLE);
        }
    }

    /// Runs many instructions; returns `None` after a block of them.
    fn block(&mut self, input: &[u8], exact: bool) -> Option<Ran> {
        let Flat { cells, memo, levels, beside, .. } = self;
        let (cells, memo) = (cells.as_mut_slice(), memo.as_mut_slice());
        let (mut filled, mut put, mut pos) = (self.filled, self.put, self.pos);
        let (mut count, mut keyed, mut top) = (self.count, self.keyed, self.top);
        let mut frame_end = self.frame_end;

        macro_rules! leave {
            ($ran:expr) => {{
                (self.filled, self.put, self.pos) = (filled, put, pos);
                (self.count, self.keyed, self.top) = (count, keyed, top);
                self.frame_end = frame_end;
                return $ran;
            }};
        }
        macro_rules! give_up {
            () => {
                return Some(Ran::GivenUp)
            };
        }
        // Reads the number after the opcode.
        macro_rules! number {
            ($bytes:literal) => {{
                match input[pos + 1..].first_chunk::<$bytes>() {
                    Some(number) => *number,
                    None => leave!(Some(Ran::More)),
                }
            }};
        }
        macro_rules! payload {
            ($bytes:literal, $length:expr) => {{
                let length: u64 = $length;
                if length.saturating_add(pos as u64) > self.bytes_max as u64 {
                    give_up!();
                }
                let (start, length) = (pos + 1 + $bytes, length as usize);
                if input.len() - start < length {
                    leave!(Some(Ran::More));
                }
                (Span { at: start as u32, length: length as u32 }, start + length)
            }};
        }
        macro_rules! leaf {
            ($node:expr, $next:expr) => {{
                cells[filled] = Cell::Leaf($node);
                filled += 1;
                count += 1;
                top = pos as u32;
                $next
            }};
        }
        // Most picklers put text and containers into the memo immediately.
        macro_rules! memoize {
            ($next:ident) => {
                if $next < frame_end && input.get($next) == Some(&MEMOIZE) {
                    memo[put] = top;
                    put += 1;
                    $next += 1;
                }
            };
        }
        macro_rules! text {
            ($node:expr, $next:expr) => {{
                let mut next = leaf!($node, $next);
                memoize!(next);
                next
            }};
        }
        // The value of this number is a container.
        macro_rules! key_at {
            ($number:expr) => {
                if $number % 2 == 0 {
                    keyed = keyed.min($number);
                }
            };
        }
        // Values were removed, down to `count`.
        macro_rules! forget_keys {
            () => {
                if keyed >= count {
                    keyed = u32::MAX;
                }
            };
        }
        macro_rules! begin {
            ($kind:expr) => {{
                cells[filled] = Cell::Begin { kind: $kind, at: pos as u32, count: 0 };
                filled += 1;
                // An object is two of the machine's cells in addition to its place on the stack.
                *beside += 2;
                key_at!(count);
                count += 1;
                top = CONTAINER;
                pos + 1
            }};
        }
        macro_rules! mark {
            () => {{
                levels.push(Level { from: filled as u32, count, keyed });
                (count, keyed) = (0, u32::MAX);
            }};
        }
        // Adds `$more` values, starting at cell `$from`, to the container below.
        macro_rules! add {
            ($kind:expr, $from:expr, $more:expr) => {{
                let below = $from - 1;
                let begin = match cells[below] {
                    Cell::End { back } => below - back as usize,
                    _ => below,
                };
                let Cell::Begin { kind, at, count } = cells[begin] else { give_up!() };
                if kind != $kind {
                    give_up!();
                }
                if $more > 0 {
                    cells[begin] = Cell::Begin { kind, at, count: count + $more };
                    if begin < below {
                        cells[below] = Cell::Gap;
                        // A chunk of its own.
                        *beside += 1;
                    }
                    cells[filled] = Cell::End { back: (filled - begin) as u32 };
                    filled += 1;
                }
                top = CONTAINER;
            }};
        }
        // Makes a tuple of `$count` values, starting at cell `$from`.
        macro_rules! tuple {
            ($from:expr, $count:expr) => {{
                let from: usize = $from;
                if exact {
                    give_up!();
                }
                self.moved += filled - from;
                if self.moved > FREE_MOVES + 4 * pos {
                    give_up!();
                }
                cells.copy_within(from..filled, from + 1);
                cells[from] = Cell::Begin { kind: Kind::Tuple, at: pos as u32, count: $count };
                filled += 1;
                if $count > 0 {
                    cells[filled] = Cell::End { back: (filled - from) as u32 };
                    filled += 1;
                }
                *beside += 2;
                top = CONTAINER;
            }};
        }
        macro_rules! get {
            ($index:expr, $next:expr) => {{
                let Some(&place) = memo[..put].get($index as usize) else { give_up!() };
                let Some(node) = text_at(input, place) else { give_up!() };
                cells[filled] = Cell::Leaf(node);
                filled += 1;
                count += 1;
                top = place;
                $next
            }};
        }
        macro_rules! put {
            ($index:expr, $next:expr) => {{
                let index = $index as usize;
                if count == 0 || index > put + 1 {
                    give_up!();
                }
                // Some picklers count from 1. Entries beyond may be left over from the previous
                // pickle.
                if index == put + 1 {
                    memo[put] = HOLE;
                }
                memo[index] = top;
                put = put.max(index + 1);
                $next
            }};
        }

        for _ in 0..BLOCK {
            let Some(&opcode) = input.get(pos) else { leave!(Some(Ran::More)) };
            // A chain of tests, the most common first.
            let next = if opcode == SHORT_BINUNICODE {
                let [length] = number!(1);
                let (span, next) = payload!(1, u64::from(length));
                text!(Node::Text(pos as u32, span), next)
            } else if opcode == BINGET {
                let [index] = number!(1);
                get!(index, pos + 2)
            } else if opcode == LONG_BINGET {
                let index = u32::from_le_bytes(number!(4));
                get!(index, pos + 5)
            } else if opcode == BINFLOAT {
                let v = f64::from_be_bytes(number!(8));
                leaf!(Node::Float(pos as u32, v), pos + 9)
            } else if matches!(opcode, BININT | BININT1 | BININT2) {
                // Their widths follow no pattern, so this avoids branching on them.
                let width =
                    if opcode == BININT { 4 } else { usize::from(opcode - BININT1) / 2 + 1 };
                if input.len() - pos <= width {
                    leave!(Some(Ran::More));
                }
                let v = match input[pos + 1..].first_chunk() {
                    Some(four) => u32::from_le_bytes(*four) & (u32::MAX >> (32 - 8 * width)),
                    None => {
                        let bytes = &input[pos + 1..=pos + width];
                        bytes.iter().rev().fold(0, |v, byte| v << 8 | u32::from(*byte))
                    }
                };
                let v = if opcode == BININT { i64::from(v as i32) } else { i64::from(v) };
                leaf!(Node::Int(pos as u32, v), pos + 1 + width)
            } else if matches!(opcode, NONE | NEWTRUE | NEWFALSE) {
                let at = pos as u32;
                let node =
                    if opcode == NONE { Node::None(at) } else { Node::Bool(at, opcode == NEWTRUE) };
                leaf!(node, pos + 1)
            } else if opcode == EMPTY_LIST || opcode == EMPTY_DICT {
                let mut next = begin!(if opcode == EMPTY_LIST { Kind::List } else { Kind::Dict });
                memoize!(next);
                if next < frame_end && input.get(next) == Some(&MARK) {
                    mark!();
                    next += 1;
                }
                next
            } else if opcode == SETITEMS || opcode == APPENDS {
                let Some(level) = levels.pop() else { give_up!() };
                if level.count == 0 {
                    give_up!();
                }
                let kind = if opcode == APPENDS { Kind::List } else { Kind::Dict };
                if kind == Kind::Dict && (count % 2 == 1 || keyed != u32::MAX) {
                    give_up!();
                }
                add!(kind, level.from as usize, count);
                (count, keyed) = (level.count, level.keyed);
                pos + 1
            } else if opcode == BINUNICODE {
                let length = u32::from_le_bytes(number!(4));
                let (span, next) = payload!(4, u64::from(length));
                text!(Node::Text(pos as u32, span), next)
            } else if opcode == MEMOIZE {
                if count == 0 {
                    give_up!();
                }
                memo[put] = top;
                put += 1;
                pos + 1
            } else if opcode == BINPUT {
                let [index] = number!(1);
                put!(index, pos + 2)
            } else if opcode == LONG_BINPUT {
                let index = u32::from_le_bytes(number!(4));
                put!(index, pos + 5)
            } else {
                match opcode {
                    LONG1 => {
                        let [length @ 1..=8] = number!(1) else { give_up!() };
                        let (span, next) = payload!(1, u64::from(length));
                        leaf!(Node::Int(pos as u32, long(span.of(input))), next)
                    }
                    MARK => {
                        mark!();
                        pos + 1
                    }
                    APPEND => {
                        if count < 2 {
                            give_up!();
                        }
                        add!(Kind::List, begin(cells, filled), 1);
                        count -= 1;
                        forget_keys!();
                        pos + 1
                    }
                    SETITEM => {
                        if count < 3 {
                            give_up!();
                        }
                        let key = begin(cells, filled) - 1;
                        if !matches!(cells[key], Cell::Leaf(_)) {
                            give_up!();
                        }
                        add!(Kind::Dict, key, 2);
                        count -= 2;
                        forget_keys!();
                        pos + 1
                    }
                    EMPTY_TUPLE => {
                        if exact {
                            give_up!();
                        }
                        begin!(Kind::Tuple)
                    }
                    TUPLE1..=TUPLE3 => {
                        let values = u32::from(opcode - TUPLE1) + 1;
                        if count < values {
                            give_up!();
                        }
                        let from = (0..values).fold(filled, |end, _| begin(cells, end));
                        tuple!(from, values);
                        count -= values;
                        forget_keys!();
                        key_at!(count);
                        count += 1;
                        pos + 1
                    }
                    TUPLE => {
                        let Some(level) = levels.pop() else { give_up!() };
                        tuple!(level.from as usize, count);
                        (count, keyed) = (level.count, level.keyed);
                        key_at!(count);
                        count += 1;
                        pos + 1
                    }
                    BINUNICODE8 => {
                        let (span, next) = payload!(8, u64::from_le_bytes(number!(8)));
                        text!(Node::Text(pos as u32, span), next)
                    }
                    SHORT_BINBYTES => {
                        let [length] = number!(1);
                        let (span, next) = payload!(1, u64::from(length));
                        text!(Node::Bytes(pos as u32, span), next)
                    }
                    BINBYTES => {
                        let length = u32::from_le_bytes(number!(4));
                        let (span, next) = payload!(4, u64::from(length));
                        text!(Node::Bytes(pos as u32, span), next)
                    }
                    PROTO => {
                        let [protocol] = number!(1);
                        if protocol > HIGHEST_PROTOCOL {
                            give_up!();
                        }
                        pos + 2
                    }
                    FRAME => {
                        let (_, end) = payload!(8, u64::from_le_bytes(number!(8)));
                        // A frame may end here, but not continue.
                        if frame_end != usize::MAX && frame_end != pos + 9 {
                            give_up!();
                        }
                        pos += 9;
                        frame_end = if end > pos { end } else { usize::MAX };
                        continue;
                    }
                    STOP => {
                        if count != 1 || !levels.is_empty() {
                            give_up!();
                        }
                        pos += 1;
                        leave!(Some(Ran::Whole))
                    }
                    _ => give_up!(),
                }
            };
            if next >= frame_end {
                // Crossing the end of a frame is valid in some ways and invalid in others.
                if next > frame_end {
                    give_up!();
                }
                frame_end = usize::MAX;
            }
            pos = next;
        }
        leave!(None)
    }
}

/// Returns where the value that ends before this cell begins.
#[inline]
fn begin(cells: &[Cell], end: usize) -> usize {
    match cells[end - 1] {
        Cell::End { back } => end - 1 - back as usize,
        _ => end - 1,
    }
}

/// Returns the text or the bytes of the instruction at a place seen before; `None` for any other.
#[inline]
fn text_at(input: &[u8], place: u32) -> Option<Node> {
    let at = place as usize;
    let rest = input.get(at..)?;
    let (header, length) = match *rest.first()? {
        SHORT_BINUNICODE | SHORT_BINBYTES => (2, u32::from(*rest.get(1)?)),
        BINUNICODE | BINBYTES => (5, u32::from_le_bytes(*rest[1..].first_chunk()?)),
        _ => return None,
    };
    let span = Span { at: place + header, length };
    match rest[0] {
        SHORT_BINUNICODE | BINUNICODE => Some(Node::Text(place, span)),
        _ => Some(Node::Bytes(place, span)),
    }
}

/// Reads a two's complement integer of one to eight bytes.
#[inline]
fn long(bytes: &[u8]) -> i64 {
    let sign = if bytes.last().is_some_and(|top| *top >= 0x80) { 0xFF } else { 0 };
    let mut eight = [sign; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(eight)
}
