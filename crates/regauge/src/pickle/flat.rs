//! Plain data in one row: what nearly every pickle is, without the arena.
//!
//! Scalars, lists, dicts and tuples that nothing refers to twice are written down by picklers in the
//! order in which they are read. So they need no stack of values and no objects: a [`Cell`] each, in
//! that order, with an end behind what is in a container, does for [the walk](super::walk).
//!
//! Advice for those who change this file: [`Flat::run`] takes only what [`Machine::run`] takes, with
//! the same events, and says nothing of faults. Whatever is not plain, or not right, it gives up, and
//! the machine begins at the beginning; nothing has been said to the sink by then.
//!
//! [`Machine::run`]: super::machine::Machine::run

use super::arena::{Node, Span};
use super::types::*;
use crate::limits::Limits;

/// A scalar, or a container's beginning or end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell {
    Leaf(Node),
    /// Of so many cells' worth of values; keys count too. One without any has no end.
    Begin {
        kind: Kind,
        at: u32,
        count: u32,
    },
    /// So many cells behind the beginning.
    End {
        back: u32,
    },
    /// Nothing: where a container ended before more was added to it.
    Gap,
}

const _: () = assert!(size_of::<Cell>() == 16);

/// What a container is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Dict,
    Tuple,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ran {
    /// The pickle is whole.
    Whole,
    /// More bytes are needed.
    More,
    /// The machine has to do it.
    GivenUp,
    /// There are more bytes than there may be.
    TooLong,
}

/// What stands below a mark.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The first cell behind the mark.
    from: u32,
    /// How many values there are below the mark and above the one before.
    count: u32,
    /// As [`Flat::keyed`].
    keyed: u32,
}

/// A number of the memo that is a container's.
const CONTAINER: u32 = u32::MAX;
/// A number of the memo that nothing was put in.
const HOLE: u32 = u32::MAX - 1;

/// How often room is made and counted, in instructions or pairs of them.
const BLOCK: usize = 4096;

/// What cells may be moved up for the tuples of a small pickle.
const FREE_MOVES: usize = 1 << 16;

/// See the module's text.
#[derive(Debug)]
pub(super) struct Flat {
    /// The first `filled` count; the others are room.
    cells: Vec<Cell>,
    filled: usize,
    /// The places of the opcodes of what was put in; the first `put` count.
    memo: Vec<u32>,
    put: usize,
    levels: Vec<Level>,
    /// How many values stand above the topmost mark.
    count: u32,
    /// The first of these that is a container where a dict would have a key; `u32::MAX` for none.
    keyed: u32,
    /// As an entry of the memo: the topmost value.
    top: u32,
    /// The next instruction.
    pos: usize,
    /// Where the frame at hand ends; `usize::MAX` without one.
    frame_end: usize,
    /// What the machine would hold beside a cell for each of ours.
    beside: usize,
    /// How many cells were moved for tuples.
    moved: usize,
    given_up: bool,
    bytes_max: usize,
    nodes: u64,
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
        }
    }

    /// Ready for another pickle.
    pub fn reset(&mut self) {
        self.levels.clear();
        (self.filled, self.put, self.pos, self.frame_end) = (0, 0, 0, usize::MAX);
        (self.count, self.keyed, self.top) = (0, u32::MAX, HOLE);
        (self.beside, self.moved, self.given_up) = (0, 0, false);
    }

    /// Leaves the next pickle to the machine.
    #[cfg(test)]
    pub fn give_up(&mut self) {
        self.given_up = true;
    }

    /// How many bytes of the pickle are behind.
    pub fn pos(&self) -> usize {
        self.pos
    }

    /// The cells of a pickle that is whole.
    pub fn cells(&self) -> &[Cell] {
        &self.cells[..self.filled]
    }

    /// Runs on, up to `STOP`. `input` begins where the pickle begins. Tuples are no lists where they
    /// are to be `exact`.
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
            // The machine compares what it holds every so often with what it may by then. Nothing of
            // what is counted here ever becomes less, so this is more than it finds in between.
            let held = self.filled + self.put + self.beside + self.levels.len() + BLOCK;
            let many = held as u64 > self.nodes.saturating_add(paid as u64 / 2);
            if many || self.pos > self.bytes_max {
                break Ran::GivenUp;
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

    /// Room for what the instructions of a block make: two cells each, and two numbers of the memo.
    fn make_room(&mut self, left: usize) {
        let most = 2 * left.min(BLOCK) + 2;
        if self.cells.len() < self.filled + most {
            self.cells.resize(self.filled + most, Cell::Gap);
        }
        if self.memo.len() < self.put + most {
            self.memo.resize(self.put + most, HOLE);
        }
    }

    /// Runs many instructions; gives `None` after some of them.
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
        // The number behind the opcode.
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
        // Text and containers are put into the memo by most picklers as soon as they are there.
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
        // A container comes as the value of this number.
        macro_rules! key_at {
            ($number:expr) => {
                if $number % 2 == 0 {
                    keyed = keyed.min($number);
                }
            };
        }
        // Values were taken away, down to `count`.
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
                // An object is two of the machine's cells beside its place on the stack.
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
        // Adds what stands from `from` on, so many values, to the container below.
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
        // A tuple of so many values, which stand from `from` on.
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
                // Some picklers count from 1. What lies beyond may be of the pickle before.
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
            // A chain of tests, the common first.
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
                // Their widths follow no pattern, so nothing branches on them.
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
                        // A frame may end here, but not go on.
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
                // What goes beyond the end of a frame is right in some ways and wrong in others.
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

/// Where the value begins that ends before this cell.
#[inline]
fn begin(cells: &[Cell], end: usize) -> usize {
    match cells[end - 1] {
        Cell::End { back } => end - 1 - back as usize,
        _ => end - 1,
    }
}

/// The text or the bytes of the instruction at a place that was seen before; `None` for any other.
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

/// An integer of one to eight bytes in two's complement.
#[inline]
fn long(bytes: &[u8]) -> i64 {
    let sign = if bytes.last().is_some_and(|top| *top >= 0x80) { 0xFF } else { 0 };
    let mut eight = [sign; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(eight)
}
