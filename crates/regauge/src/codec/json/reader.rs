//! Reads JSON into events: one pass, no recursion, no tree.
//!
//! Advice for editors: [`Parser::parse`] is one loop over [`State`], and every token pays for every
//! branch in it. Rare cases belong in [`Parser::unusual`], to which every state falls back for a
//! byte that it does not expect. A token that is cut off by the end of a window must produce the
//! same result as a whole one: an event is sent only for a token that has ended, and the text of an
//! error may use only bytes up to the fault, or wait for more of them.

use super::rare::{Slow, Unusual};
use super::string::{self, Plain, Scratch, Text, Utf8};
use crate::bytes::digits::{self, Quick};
use crate::bytes::reader::{Parse, Resync, Status};
use crate::bytes::simd::{Block, sixteen};
use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::options::json::{Framing, ReadOptions};
use crate::policy::event::{Ext, Sink};
use crate::{Error, Format, Result};

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum State {
    /// A key, or the end of an empty map.
    FirstKey,
    /// A key after a comma.
    Key,
    /// The colon after a key.
    Colon,
    /// A value after a colon.
    Value,
    /// A value, or the end of an empty array.
    FirstElement,
    /// A value after a comma.
    Element,
    /// A document.
    Document,
    /// A comma or the end of the container.
    After,
    /// The document is complete.
    Done,
    /// The very first byte, or a byte order mark.
    Start,
}

/// A comment that was cut off by the end of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comment {
    None,
    Line,
    Block,
}

/// The state machine: see [`Parse`].
#[derive(Debug)]
pub struct Parser {
    pub(super) options: ReadOptions,
    pub(super) limits: Limits,
    state: State,
    pub(super) comment: Comment,
    /// The last number of whitespace bytes before a token, by depth.
    indents: [u8; DEPTHS],
    /// The limit on open containers, and how many are open.
    depth_max: u32,
    pub(super) depth: u32,
    /// One bit per level: whether the container is a map.
    maps: [u64; (Limits::DEPTH_CEILING / 64) as usize],
    /// The text of a string with escapes.
    pub(super) scratch: Scratch,
    /// How many bytes of the current token, which an earlier window cut off, are known not to end
    /// it.
    pub(super) searched: usize,
    pub(super) rounded: u64,
    /// Skipping a broken document whose beginning has left the window.
    passing: bool,
}

impl Default for Parser {
    fn default() -> Parser {
        Parser::new(ReadOptions::default(), Limits::default())
    }
}

impl Parser {
    /// Creates a parser at the start of a stream.
    pub fn new(options: ReadOptions, limits: Limits) -> Parser {
        Parser {
            options,
            limits,
            state: State::Start,
            comment: Comment::None,
            indents: [0; DEPTHS],
            depth_max: limits.depth.min(Limits::DEPTH_CEILING),
            depth: 0,
            maps: [0; (Limits::DEPTH_CEILING / 64) as usize],
            scratch: Scratch::default(),
            searched: 0,
            rounded: 0,
            passing: false,
        }
    }

    /// Returns how many numbers lost digits to a double so far, if
    /// [`count_rounded`](ReadOptions::count_rounded) is set.
    pub fn rounded(&self) -> u64 {
        self.rounded
    }

    /// Returns whether the current container is a map; there must be one.
    #[inline(always)]
    pub(super) fn in_map(&self) -> bool {
        let level = self.depth.wrapping_sub(1);
        self.maps[(level / 64) as usize % self.maps.len()] >> (level % 64) & 1 != 0
    }

    /// Records a container that begins at `at`.
    #[inline(always)]
    fn open(&mut self, map: bool, at: usize) -> Result {
        let level = self.depth;
        if level >= self.depth_max {
            return Err(self.too_deep(at));
        }
        let word = &mut self.maps[(level / 64) as usize % (Limits::DEPTH_CEILING / 64) as usize];
        *word = *word & !(1 << (level % 64)) | u64::from(map) << (level % 64);
        self.depth = level + 1;
        Ok(())
    }

    #[cold]
    fn too_deep(&self, at: usize) -> Error {
        let most = self.depth_max;
        Error::limit(format!("found more than {most} nested containers, the limit of depth"))
            .hint_depth(most)
            .at(at as u64)
    }

    #[inline(always)]
    pub(super) fn lines(&self) -> bool {
        self.options.framing == Framing::Lines
    }

    /// Returns what counts as whitespace besides space, tab and carriage return: a newline, except
    /// within a document that must be on one line.
    #[inline(always)]
    fn line_end(&self) -> u8 {
        if self.lines() { b' ' } else { b'\n' }
    }
}

/// How many depths remember their indentation; deeper ones share an entry.
const DEPTHS: usize = 64;

/// Returns the index of the first byte from `at` on that is not whitespace. There is usually as
/// much whitespace as there last was at this depth.
///
/// Adding the count of whitespace would make the position of everything that follows wait for the
/// count. Adding the expected count and checking it separately does not wait; this makes reading
/// indented files 10% to 20% faster.
#[inline(always)]
fn skip_indent(bytes: &[u8], at: usize, line_end: u8, indent: &mut u8) -> usize {
    let expected = usize::from(*indent);
    if let Some(block) = sixteen(bytes, at) {
        let others = !Block::load(block).spaces(line_end) & 0xFFFF;
        if expected < 16 {
            // The first byte that is not whitespace is exactly at the expected place.
            if others & ((2 << expected) - 1) == 1 << expected {
                return at + expected;
            }
        } else if others == 0
            && let Some(block) = sixteen(bytes, at + 16)
        {
            let others = !Block::load(block).spaces(line_end) & 0xFFFF;
            if others & ((2 << (expected - 16)) - 1) == 1 << (expected - 16) {
                return at + expected;
            }
        }
    }
    let end = skip_spaces(bytes, at, line_end);
    // A closing bracket is indented less than what comes next at this depth.
    if end - at < 32 && !matches!(bytes.get(end), Some(b'}' | b']')) {
        *indent = (end - at) as u8;
    }
    end
}

/// Returns the index of the first byte from `at` on that is not whitespace.
#[inline(always)]
fn skip_spaces(bytes: &[u8], mut at: usize, line_end: u8) -> usize {
    while let Some(block) = sixteen(bytes, at) {
        let others = !Block::load(block).spaces(line_end) & 0xFFFF;
        if others != 0 {
            return at + others.trailing_zeros() as usize;
        }
        at += 16;
    }
    while let Some(byte) = bytes.get(at) {
        if !matches!(byte, b' ' | b'\t' | b'\r') && *byte != line_end {
            break;
        }
        at += 1;
    }
    at
}

impl Parse for Parser {
    const FORMAT: Format = Format::Json;

    fn format(&self) -> Format {
        if self.lines() { Format::Ndjson } else { Format::Json }
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn resync(&mut self, bytes: &[u8], start: usize, pos: usize, last: bool) -> Resync {
        let line = match self.options.framing {
            Framing::Single => return Resync::Never,
            Framing::Lines => memchr::memchr(b'\n', &bytes[pos..]).map(|index| pos + index + 1),
            // Nothing marks the end of a document here, so a line that begins with the brace of a
            // document, following one that did the same, is the next one.
            Framing::Concatenated
                if !self.passing && !bytes[start..].trim_ascii_start().starts_with(b"{") =>
            {
                return Resync::Never;
            }
            Framing::Concatenated => {
                memchr::memmem::find(&bytes[pos..], b"\n{").map(|index| pos + index + 1)
            }
        };
        if line.is_none() && !last {
            self.passing = true;
            // A newline at the end may be followed by a brace.
            return Resync::Past(bytes.len().saturating_sub(1).max(pos));
        }
        self.passing = false;
        self.state = State::Document;
        (self.comment, self.depth, self.searched) = (Comment::None, 0, 0);
        Resync::At(line.unwrap_or(bytes.len()))
    }

    #[inline]
    fn parse<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        let mut at = *pos;
        let mut state = self.state;
        let mut utf8 = Utf8::new(bytes);
        let line_end = self.line_end();

        // Returns with everything before the index consumed.
        macro_rules! leave {
            ($index:expr, $status:expr) => {{
                self.state = state;
                *pos = $index;
                return Ok($status);
            }};
        }
        // Our own errors already have an offset; those of the sink get the offset of the event.
        macro_rules! check {
            ($index:expr, $result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(error) => {
                        *pos = $index;
                        return Err(error);
                    }
                }
            };
        }
        // Finds the next byte that is not whitespace, at `at`. Uses branches instead of arithmetic:
        // a predicted branch costs nothing, while the position of every byte depends on what is
        // added to the position of the byte before it.
        macro_rules! next_byte {
            () => {{
                match bytes.get(at) {
                    Some(&byte) if byte > b' ' => byte,
                    Some(b' ') if bytes.get(at + 1).is_some_and(|byte| *byte > b' ') => {
                        at += 1;
                        bytes[at]
                    }
                    _ => {
                        let indent = &mut self.indents[self.depth as usize % DEPTHS];
                        at = skip_indent(bytes, at, line_end, indent);
                        match bytes.get(at) {
                            Some(&byte) => byte,
                            None => match check!(at, self.at_end(at, last, state)) {
                                Some(status) => {
                                    if state == State::Done && status == Status::Document {
                                        state = State::Document;
                                    }
                                    leave!(at, status)
                                }
                                None => leave!(at, Status::More),
                            },
                        }
                    }
                }
            }};
        }
        // Handles a byte that the state does not expect.
        macro_rules! unusual {
            ($next:lifetime) => {
                match check!(at, self.unusual(bytes, at, last, state)) {
                    Unusual::GoOn(index) => {
                        at = index;
                        continue $next;
                    }
                    Unusual::More(index) => leave!(index, Status::More),
                    Unusual::NonFinite(value, end) => {
                        check!(at, sink.f64(value));
                        at = end;
                        state = State::After;
                        continue $next;
                    }
                    Unusual::Close => {
                        close!();
                        continue $next;
                    }
                }
            };
        }
        // Closes the current container, which ends at `at`.
        macro_rules! close {
            () => {{
                match self.in_map() {
                    true => check!(at, sink.end_map()),
                    false => check!(at, sink.end_array()),
                }
                self.depth -= 1;
                at += 1;
                state = State::After;
            }};
        }
        // Reads the string whose opening quote is at `at`.
        macro_rules! text {
            ($event:ident, $short:ident, $surrogates:expr) => {
                match string::plain(bytes, at + 1, &mut utf8) {
                    Ok((text, end)) if (end - at) as u64 <= self.limits.token_bytes => {
                        match text {
                            Plain::Short(text) => check!(at, sink.$short(text)),
                            Plain::Text(text) => check!(at, sink.$event(text)),
                        }
                        at = end;
                    }
                    Ok(_) => check!(at, Err(self.too_long(at))),
                    Err(plain) => {
                        match check!(at, self.slow_text(bytes, at, plain, last, &mut utf8)) {
                            Slow::More => leave!(at, Status::More),
                            Slow::Token(end) => {
                                match self.scratch.text() {
                                    Text::Utf8(text) => check!(at, sink.$event(text)),
                                    Text::Surrogates(text) => {
                                        check!(at, $surrogates(&mut *sink, text));
                                    }
                                }
                                at = end;
                            }
                        }
                    }
                }
            };
        }

        // Reads the number whose first digit is at the index. Occurs twice in the code, once for
        // each sign.
        macro_rules! number {
            ($digits:expr, $negative:literal) => {{
                match digits::quick(bytes, $digits) {
                    Some((Quick::Integer(v), end))
                        if v <= i64::MAX as u64 && !($negative && v == 0) =>
                    {
                        let v = v as i64;
                        check!(at, sink.i64(if $negative { -v } else { v }));
                        at = end;
                    }
                    Some((Quick::Double(v), end)) if !self.numbers_are_special() => {
                        check!(at, sink.f64(if $negative { -v } else { v }));
                        at = end;
                    }
                    _ => match check!(at, self.slow_number(bytes, at, last, sink)) {
                        Slow::More => leave!(at, Status::More),
                        Slow::Token(end) => at = end,
                    },
                }
                state = State::After;
            }};
        }

        // Reads one of the three literals.
        macro_rules! word {
            ($word:literal, $event:ident($($value:expr)?)) => {{
                // Of known length, so that this is a comparison and never a call.
                if bytes[at..].first_chunk() != Some($word)
                    && check!(at, self.cut_word(bytes, at, last, $word))
                {
                    leave!(at, Status::More);
                }
                check!(at, sink.$event($($value)?));
                at += $word.len();
                state = State::After;
            }};
        }

        if self.comment != Comment::None {
            match check!(at, self.comment(bytes, at, last)) {
                Unusual::More(index) => leave!(index, Status::More),
                Unusual::GoOn(index) => at = index,
                _ => unreachable!("a comment ends or goes on"),
            }
        }
        if self.searched > 0 && !self.search(bytes, at, last) {
            leave!(at, Status::More);
        }
        if state == State::Start {
            match check!(at, self.start(bytes, at, last)) {
                Some(index) => at = index,
                None => leave!(at, Status::More),
            }
            state = State::Document;
        }
        // Each part leads to the one below it or back to the top, so that the most likely successor
        // is reached without a jump table.
        'next: loop {
            if state <= State::Key {
                match next_byte!() {
                    b'"' => {
                        text!(key, short_key, surrogates_key);
                        state = State::Colon;
                    }
                    b'}' if state == State::FirstKey => close!(),
                    _ => unusual!('next),
                }
            }
            if state == State::Colon {
                match bytes.get(at) {
                    Some(b':') => {}
                    _ => match next_byte!() {
                        b':' => {}
                        _ => unusual!('next),
                    },
                }
                at += 1;
                state = State::Value;
            }
            if state <= State::Document {
                // An `if` chain, because these are the most frequent bytes and a jump table is
                // poorly predicted.
                let first = next_byte!();
                if first == b'"' {
                    text!(str, short_str, surrogates_value);
                    state = State::After;
                } else if first.is_ascii_digit() {
                    let is_element = matches!(state, State::FirstElement | State::Element);
                    loop {
                        number!(at, false);
                        if !is_element {
                            break;
                        }
                        // In an array, a number mostly follows a number.
                        at += match bytes.get(at..at + 3) {
                            Some([b',', b'0'..=b'9', _]) => 1,
                            Some([b',', b' ', b'0'..=b'9']) => 2,
                            _ => break,
                        };
                        state = State::Element;
                    }
                } else if first == b'-' {
                    number!(at + 1, true);
                } else if first == b'{' {
                    check!(at, self.open(true, at));
                    check!(at, sink.begin_map(None));
                    at += 1;
                    state = State::FirstKey;
                    continue 'next;
                } else if first == b'[' {
                    check!(at, self.open(false, at));
                    check!(at, sink.begin_array(None));
                    at += 1;
                    state = State::FirstElement;
                    continue 'next;
                } else {
                    let is_element = matches!(state, State::FirstElement | State::Element);
                    let mut first = first;
                    loop {
                        match first {
                            b'n' => word!(b"null", null()),
                            b't' => word!(b"true", bool(true)),
                            b'f' => word!(b"false", bool(false)),
                            b']' if state == State::FirstElement => {
                                close!();
                                break;
                            }
                            _ => unusual!('next),
                        }
                        if !is_element {
                            break;
                        }
                        // In an array, a literal mostly follows a literal.
                        at += match bytes.get(at..at + 3) {
                            Some([b',', b't' | b'f' | b'n', _]) => 1,
                            Some([b',', b' ', b't' | b'f' | b'n']) => 2,
                            _ => break,
                        };
                        state = State::Element;
                        first = bytes[at];
                    }
                }
            }
            while state == State::After {
                if self.depth == 0 {
                    state = match self.options.framing {
                        Framing::Concatenated => State::Document,
                        _ => State::Done,
                    };
                    if !self.lines() {
                        leave!(at, Status::Document);
                    }
                    break;
                }
                let in_map = self.in_map();
                match next_byte!() {
                    b',' => {
                        at += 1;
                        state = if in_map { State::Key } else { State::Element };
                        continue 'next;
                    }
                    b'}' if in_map => close!(),
                    b']' if !in_map => close!(),
                    _ => unusual!('next),
                }
            }
            if state == State::Done {
                match next_byte!() {
                    b'\n' if self.lines() => {
                        at += 1;
                        state = State::Document;
                        leave!(at, Status::Document);
                    }
                    _ => unusual!('next),
                }
            }
        }
    }
}

fn surrogates_value<S: Sink + ?Sized>(sink: &mut S, text: &[u8]) -> Result {
    sink.ext(Ext::Surrogates(text))
}

fn surrogates_key<S: Sink + ?Sized>(sink: &mut S, text: &[u8]) -> Result {
    sink.key_value(&Value::Surrogates(text.to_vec()))
}
