//! JSON to events: one pass, no recursion, no tree.
//!
//! Advice for those who change this file: [`Parser::parse`] is one loop over [`State`], and every
//! branch in it is paid for by each token. What is rare belongs into [`Parser::unusual`], which
//! every state falls back to for a byte that it does not expect. Whatever the window's end cuts
//! off must come out as if it had been whole: an event goes out only for a token that has ended,
//! and an error's text may use only bytes up to the fault, or wait for more of them.

use super::number::{self, Quick, Scan};
use super::simd::{Block, sixteen};
use super::string::{self, Fault, Scratch, Search, Text, Utf8};
use crate::event::{BigInt, Ext, Sink};
use crate::fidelity::{LossKind, shorten};
use crate::limits::Limits;
use crate::reader::{Parse, Resync, Status};
use crate::value::Value;
use crate::{Error, ErrorKind, Format, Result, number as digits};

/// How documents stand in the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// One document, as RFC 8259 has it.
    #[default]
    Single,
    /// NDJSON: any number of documents, each on a line of its own. Blank lines are passed over.
    Lines,
    /// Any number of documents, with any white space or none between them.
    Concatenated,
}

/// What the reader accepts, and how it gives numbers. By default RFC 8259 to the letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// How documents stand in the input.
    pub framing: Framing,
    /// Accept `// …` to the end of the line and `/* … */` wherever white space may stand.
    pub comments: bool,
    /// Accept a comma before a closing bracket.
    pub trailing_commas: bool,
    /// Accept `NaN`, `Infinity` and `-Infinity` as numbers.
    pub non_finite: bool,
    /// Give a number with a fraction or an exponent as [`Ext::Decimal`], with its digits.
    pub exact_numbers: bool,
    /// Count the numbers whose digits a double does not keep ([`LossKind::Rounded`]).
    pub count_rounded: bool,
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum State {
    /// A key, or the end of a map that is empty so far.
    FirstKey,
    /// A key behind a comma.
    Key,
    /// The colon behind a key.
    Colon,
    /// A value behind a colon.
    Value,
    /// A value, or the end of an array that is empty so far.
    FirstElement,
    /// A value behind a comma.
    Element,
    /// A document.
    Document,
    /// A comma or the end of the container.
    After,
    /// The document is whole.
    Done,
    /// The very first byte, or a byte order mark.
    Start,
}

impl State {
    fn expects(self, in_map: bool) -> &'static str {
        match self {
            State::Start | State::Document | State::Value => "a value",
            State::FirstElement => "a value or `]`",
            State::Element => "a value",
            State::FirstKey => "a key in double quotes or `}`",
            State::Key => "a key in double quotes",
            State::Colon => "`:`",
            State::After if in_map => "`,` or `}`",
            State::After => "`,` or `]`",
            State::Done => "nothing more",
        }
    }
}

/// A comment that the window's end cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comment {
    None,
    Line,
    Block,
}

/// The state machine: see [`Parse`].
#[derive(Debug)]
pub struct Parser {
    options: ReadOptions,
    limits: Limits,
    state: State,
    comment: Comment,
    /// How many containers are open.
    depth: u32,
    /// A bit a level: whether the container is a map.
    maps: [u64; (Limits::DEPTH_CEILING / 64) as usize],
    /// The text of a string with escapes.
    scratch: Scratch,
    /// How much of the token at hand, which an earlier window cut, is known to be no end.
    searched: usize,
    rounded: u64,
}

impl Default for Parser {
    fn default() -> Parser {
        Parser::new(ReadOptions::default(), Limits::default())
    }
}

/// What [`Parser::unusual`] made of a byte.
enum Unusual {
    /// White space or a comment ends here: look again.
    GoOn(usize),
    /// The window ends inside of it.
    More(usize),
    /// A container ends behind a comma, which was allowed.
    Close,
    /// One of the numbers that are none, and the index behind it.
    NonFinite(f64, usize),
}

/// What a string, or a number, became that the quick way did not take.
enum Slow {
    /// It went out, or is in the scratch buffer, and ends before this index.
    Token(usize),
    /// The window cuts it off.
    More,
}

impl Parser {
    /// A parser at the start of a stream.
    pub fn new(options: ReadOptions, limits: Limits) -> Parser {
        Parser {
            options,
            limits,
            state: State::Start,
            comment: Comment::None,
            depth: 0,
            maps: [0; (Limits::DEPTH_CEILING / 64) as usize],
            scratch: Scratch::default(),
            searched: 0,
            rounded: 0,
        }
    }

    /// How many numbers so far lost digits to a double, if
    /// [`count_rounded`](ReadOptions::count_rounded) asked for it.
    pub fn rounded(&self) -> u64 {
        self.rounded
    }

    /// Whether the container at hand, of which there must be one, is a map.
    #[inline(always)]
    fn in_map(&self) -> bool {
        let level = self.depth.wrapping_sub(1);
        self.maps[(level / 64) as usize % self.maps.len()] >> (level % 64) & 1 != 0
    }

    #[inline(always)]
    fn open(&mut self, map: bool) -> Result {
        let level = self.depth;
        if level >= self.limits.depth.min(Limits::DEPTH_CEILING) {
            return Err(self.too_deep());
        }
        let word = &mut self.maps[(level / 64) as usize % (Limits::DEPTH_CEILING / 64) as usize];
        *word = *word & !(1 << (level % 64)) | u64::from(map) << (level % 64);
        self.depth = level + 1;
        Ok(())
    }

    #[cold]
    fn too_deep(&self) -> Error {
        let most = self.limits.depth.min(Limits::DEPTH_CEILING);
        Error::limit(format!("found more than {most} nested containers, the limit of depth"))
            .hint(format!("pass --limit depth=… to raise it, up to {}", Limits::DEPTH_CEILING))
    }

    #[inline(always)]
    fn lines(&self) -> bool {
        self.options.framing == Framing::Lines
    }

    /// What is white space beside space, tab and carriage return: a newline, but not within a
    /// document that has to stand on one line.
    #[inline(always)]
    fn line_end(&self) -> u8 {
        if self.lines() { b' ' } else { b'\n' }
    }
}

/// The index of the first byte from `at` on that is no white space.
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
            // Where nothing says where a document ends, one that begins a line with its brace,
            // after one that did the same, is the next.
            Framing::Concatenated if !bytes[start..].trim_ascii_start().starts_with(b"{") => {
                return Resync::Never;
            }
            Framing::Concatenated => {
                memchr::memmem::find(&bytes[pos..], b"\n{").map(|index| pos + index + 1)
            }
        };
        if line.is_none() && !last {
            return Resync::More;
        }
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

        // Leaves with what is before the index done.
        macro_rules! leave {
            ($index:expr, $status:expr) => {{
                self.state = state;
                *pos = $index;
                return Ok($status);
            }};
        }
        // An error of our own has its offset already; the sink's gets the place of the event.
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
        // The next byte that is no white space, at `at`.
        // Branches where arithmetic would do: a branch that is foreseen costs nothing, but the
        // place of every byte depends on what is added to the place of the byte before.
        macro_rules! next_byte {
            () => {{
                match bytes.get(at) {
                    Some(&byte) if byte > b' ' => byte,
                    Some(b' ') if bytes.get(at + 1).is_some_and(|byte| *byte > b' ') => {
                        at += 1;
                        bytes[at]
                    }
                    _ => {
                        at = skip_spaces(bytes, at, line_end);
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
        // A byte that the state does not know.
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
                    }
                    Unusual::Close => close!(),
                }
            };
        }
        // The container at hand ends at `at`.
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
        // The string whose opening quote stands at `at`.
        macro_rules! text {
            ($event:ident, $surrogates:expr) => {
                match string::plain(bytes, at + 1, &mut utf8) {
                    Ok((text, end)) if (end - at) as u64 <= self.limits.token_bytes => {
                        check!(at, sink.$event(text));
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

        // The number whose first digit stands at the index. Twice in the code, once for each sign.
        macro_rules! number {
            ($digits:expr, $negative:literal) => {{
                match number::quick(bytes, $digits) {
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
        // Each part leads to the one below it or back to the top, so that what mostly follows is
        // reached without a jump through a table.
        'next: loop {
            if state <= State::Key {
                match next_byte!() {
                    b'"' => {
                        text!(key, surrogates_key);
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
                // A chain, because these two are most of all, and a table's jump is not foreseen.
                let first = next_byte!();
                if first == b'"' {
                    text!(str, surrogates_value);
                    state = State::After;
                } else if first.is_ascii_digit() {
                    number!(at, false);
                } else if first == b'-' {
                    number!(at + 1, true);
                } else {
                    match first {
                        b'{' => {
                            check!(at, self.open(true).map_err(|error| error.at(at as u64)));
                            check!(at, sink.begin_map(None));
                            at += 1;
                            state = State::FirstKey;
                            continue 'next;
                        }
                        b'[' => {
                            check!(at, self.open(false).map_err(|error| error.at(at as u64)));
                            check!(at, sink.begin_array(None));
                            at += 1;
                            state = State::FirstElement;
                            continue 'next;
                        }
                        b't' | b'f' | b'n' => {
                            let word: &[u8] = match first {
                                b't' => b"true",
                                b'f' => b"false",
                                _ => b"null",
                            };
                            if !bytes[at..].starts_with(word)
                                && check!(at, self.cut_word(bytes, at, last, word))
                            {
                                leave!(at, Status::More);
                            }
                            match first {
                                b'n' => check!(at, sink.null()),
                                _ => check!(at, sink.bool(first == b't')),
                            }
                            at += word.len();
                            state = State::After;
                        }
                        b']' if state == State::FirstElement => close!(),
                        _ => unusual!('next),
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

/// The part that is not hot.
impl Parser {
    /// Whether a double may not go out as it is.
    #[inline(always)]
    fn numbers_are_special(&self) -> bool {
        self.options.exact_numbers | self.options.count_rounded
    }

    /// The window ends where a token should begin: how that ends the call, or `None` for
    /// [`Status::More`].
    #[cold]
    fn at_end(&self, at: usize, last: bool, state: State) -> Result<Option<Status>> {
        match state {
            _ if !last => Ok(None),
            State::Document if self.options.framing != Framing::Single => Ok(Some(Status::End)),
            State::Done if self.lines() => Ok(Some(Status::Document)),
            State::Done => Ok(Some(Status::End)),
            _ => Err(Error::truncated(format!(
                "found the end of the input, expected {}",
                state.expects(self.depth > 0 && self.in_map())
            ))
            .at(at as u64)),
        }
    }

    /// Behind the byte order mark, if there is one; `None` while that cannot be told.
    #[cold]
    fn start(&self, bytes: &[u8], at: usize, last: bool) -> Result<Option<usize>> {
        let head = &bytes[at..];
        if head.len() < 4 && !last {
            return Ok(None);
        }
        match head {
            [0xEF, 0xBB, 0xBF, ..] => Ok(Some(at + 3)),
            [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] | [0, _, ..] | [_, 0, ..] => {
                Err(Error::syntax("found UTF-16 or UTF-32, expected UTF-8 (RFC 8259 §8.1)")
                    .hint("convert it first: iconv -f UTF-16 -t UTF-8")
                    .at(at as u64))
            }
            _ => Ok(Some(at)),
        }
    }

    /// What to do about a byte that `state` does not know.
    #[cold]
    #[inline(never)]
    fn unusual(&mut self, bytes: &[u8], at: usize, last: bool, state: State) -> Result<Unusual> {
        let byte = bytes[at];
        let is_value =
            matches!(state, State::Document | State::Value | State::Element | State::FirstElement);
        match byte {
            b'\n' if state == State::Document => return Ok(Unusual::GoOn(at + 1)),
            b'/' if self.options.comments => match bytes.get(at + 1) {
                None if !last => return Ok(Unusual::More(at)),
                Some(b'/') => {
                    self.comment = Comment::Line;
                    return self.comment(bytes, at + 2, last);
                }
                Some(b'*') => {
                    self.comment = Comment::Block;
                    return self.comment(bytes, at + 2, last);
                }
                _ => {}
            },
            b'}' if state == State::Key && self.options.trailing_commas => {
                return Ok(Unusual::Close);
            }
            b']' if state == State::Element && self.options.trailing_commas => {
                return Ok(Unusual::Close);
            }
            _ => {}
        }
        let Some(found) = found(bytes, at, last) else { return Ok(Unusual::More(at)) };
        if is_value && self.options.non_finite {
            match found.as_str() {
                "`NaN`" => return Ok(Unusual::NonFinite(f64::NAN, at + 3)),
                "`Infinity`" => return Ok(Unusual::NonFinite(f64::INFINITY, at + 8)),
                _ => {}
            }
        }
        let in_map = self.depth > 0 && self.in_map();
        let (found, expected) = match (byte, state) {
            (b'}', State::Key) | (b']', State::Element) => {
                (format!("{found} behind a comma"), state.expects(in_map))
            }
            (_, State::Done) if self.lines() => {
                (format!("{found} behind the document"), "the end of the line")
            }
            (_, State::Done) => (format!("{found} behind the document"), "the end of the input"),
            _ => (found, state.expects(in_map)),
        };
        let error = Error::syntax(format!("found {found}, expected {expected}")).at(at as u64);
        Err(match self.advice(bytes, at, state, is_value) {
            Some(hint) => error.hint(hint),
            None => error,
        })
    }

    /// What to do about an unexpected byte. May look at bytes behind it only as far as
    /// [`found`] waits for them.
    fn advice(
        &self,
        bytes: &[u8],
        at: usize,
        state: State,
        is_value: bool,
    ) -> Option<&'static str> {
        let word = word(bytes, at);
        Some(match bytes[at] {
            b'\n' => "pass --from json if a document spans several lines",
            b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n'
                if state == State::Done && !self.lines() =>
            {
                "pass --from ndjson if every line holds a document"
            }
            b'/' if !self.options.comments => "pass --json-comments to accept // and /* */",
            b'}' if state == State::Key => "pass --json-trailing-commas to accept it",
            b']' if state == State::Element => "pass --json-trailing-commas to accept it",
            b'N' | b'I' if is_value && matches!(word, b"NaN" | b"Infinity") => {
                "pass --json-nan to accept NaN, Infinity and -Infinity"
            }
            b'T' if is_value && word == b"True" => "JSON writes `true`",
            b'F' if is_value && word == b"False" => "JSON writes `false`",
            b'N' | b'u' if is_value && matches!(word, b"None" | b"NULL" | b"undefined") => {
                "JSON writes `null`"
            }
            b'+' if is_value => "JSON writes numbers without a plus sign",
            b'.' if is_value => "JSON writes a digit in front of the decimal point",
            b'\'' => "JSON puts strings between double quotes",
            0xE2 if matches!(&bytes[at + 1..], [0x80, 0x9C | 0x9D, ..]) => {
                "JSON puts strings between straight double quotes"
            }
            _ => return None,
        })
    }

    /// Passes over the comment at hand, which goes on at `at`.
    #[cold]
    fn comment(&mut self, bytes: &[u8], at: usize, last: bool) -> Result<Unusual> {
        let rest = &bytes[at..];
        let line_end = memchr::memchr(b'\n', rest);
        let end = match self.comment {
            Comment::Block => {
                let end = memchr::memmem::find(rest, b"*/").map(|index| index + 2);
                if let (true, Some(line_end)) = (self.lines(), line_end) {
                    if end.is_none_or(|end| line_end < end) {
                        return Err(Error::syntax(
                            "found the end of the line inside a comment, expected `*/`",
                        )
                        .hint("pass --from json if a document spans several lines")
                        .at((at + line_end) as u64));
                    }
                }
                end
            }
            _ => line_end,
        };
        match end {
            Some(end) => {
                self.comment = Comment::None;
                Ok(Unusual::GoOn(at + end))
            }
            None if !last => {
                // The star may belong to the end.
                let star = self.comment == Comment::Block && rest.ends_with(b"*");
                Ok(Unusual::More(bytes.len() - usize::from(star)))
            }
            None if self.comment == Comment::Block => {
                Err(Error::truncated("found the end of the input inside a comment, expected `*/`")
                    .at(bytes.len() as u64))
            }
            None => {
                self.comment = Comment::None;
                Ok(Unusual::GoOn(bytes.len()))
            }
        }
    }

    /// The bytes at `at` are not the `word` that their first one promised: whether more of them
    /// have to come to tell.
    #[cold]
    fn cut_word(&self, bytes: &[u8], at: usize, last: bool, word: &[u8]) -> Result<bool> {
        let word = std::str::from_utf8(word).expect("a literal");
        if word.as_bytes().starts_with(&bytes[at..]) {
            return match last {
                false => Ok(true),
                true => Err(Error::truncated(format!(
                    "found the end of the input, expected the rest of `{word}`"
                ))
                .at(bytes.len() as u64)),
            };
        }
        match found(bytes, at, last) {
            None => Ok(true),
            Some(found) => {
                Err(Error::syntax(format!("found {found}, expected `{word}`")).at(at as u64))
            }
        }
    }

    #[cold]
    fn too_long(&self, at: usize) -> Error {
        let most = self.limits.token_bytes;
        Error::limit(format!("found a token of more than {most} bytes, the limit of token_bytes"))
            .hint("pass --limit token_bytes=… to raise it")
            .at(at as u64)
    }

    /// Goes on looking for the end of the token at `at` that an earlier window cut off: whether
    /// it can be read now.
    #[cold]
    fn search(&mut self, bytes: &[u8], at: usize, last: bool) -> bool {
        let from = at + std::mem::take(&mut self.searched);
        let stop = match bytes[at] {
            b'"' => match string::find_end(bytes, from) {
                Search::Found => return true,
                Search::GoOn(stop) => stop,
            },
            _ => {
                let goes_on = |b: &u8| b.is_ascii_digit() || b"+-.eE".contains(b);
                if !bytes[from..].iter().all(goes_on) {
                    return true;
                }
                bytes.len()
            }
        };
        // Near the limit a full look tells which comes first, the limit or a fault.
        if last || self.cut(bytes, at, stop).is_err() {
            return true;
        }
        false
    }

    /// The token at `at` is cut off by the window, and `stop` is where the search for its end
    /// will go on.
    fn cut(&mut self, bytes: &[u8], at: usize, stop: usize) -> Result {
        // A string has a closing quote to come.
        let length = bytes.len() - at + usize::from(bytes[at] == b'"');
        if length as u64 > self.limits.token_bytes {
            return Err(self.too_long(at));
        }
        self.searched = stop - at;
        Ok(())
    }

    /// The string at `at`, which is plain up to the index `plain` and not beyond, into the
    /// scratch buffer.
    #[inline(never)]
    fn slow_text(
        &mut self,
        bytes: &[u8],
        at: usize,
        plain: usize,
        last: bool,
        utf8: &mut Utf8<'_>,
    ) -> Result<Slow> {
        let (fault, index) = match string::unescape(bytes, at + 1, plain, utf8, &mut self.scratch) {
            Ok(end) if (end - at) as u64 > self.limits.token_bytes => {
                return Err(self.too_long(at));
            }
            Ok(end) => return Ok(Slow::Token(end)),
            Err(fault) => fault,
        };
        if fault == Fault::Cut && !last {
            if let Search::GoOn(stop) = string::find_end(bytes, plain) {
                self.cut(bytes, at, stop)?;
            }
            return Ok(Slow::More);
        }
        // An escape is known to be none only by its second byte.
        let seen = index + usize::from(fault == Fault::Escape);
        if (seen - at + 1) as u64 > self.limits.token_bytes {
            return Err(self.too_long(at));
        }
        let error = match fault {
            Fault::Cut => {
                Error::truncated("found the end of the input inside a string, expected `\"`")
            }
            Fault::Control => {
                let byte = bytes[index];
                let escape = match byte {
                    b'\n' => "\\n".to_owned(),
                    b'\r' => "\\r".to_owned(),
                    b'\t' => "\\t".to_owned(),
                    _ => format!("\\u{byte:04x}"),
                };
                Error::syntax(format!(
                    "found the control character 0x{byte:02X} in a string, expected `{escape}`"
                ))
            }
            Fault::Escape => {
                let byte = bytes[index + 1];
                let shown = match byte {
                    0x21..=0x7E => format!("`\\{}`", char::from(byte)),
                    _ => format!("a backslash before byte 0x{byte:02X}"),
                };
                Error::syntax(format!(
                    "found {shown} in a string, expected one of the escapes \
                     \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u"
                ))
            }
            Fault::Hex => {
                let Some(found) = found_byte(bytes, index, last) else { return Ok(Slow::More) };
                Error::syntax(format!("found {found}, expected a hexadecimal digit of `\\u`"))
            }
            Fault::Utf8 => Error::syntax(format!(
                "found byte 0x{:02X} in a string, expected UTF-8 (RFC 8259 §8.1)",
                bytes[index]
            ))
            .hint("convert it first, for instance: iconv -f LATIN1 -t UTF-8"),
        };
        Err(error.at(index as u64))
    }

    /// The number at `at`, whatever it looks like, to the sink.
    #[inline(never)]
    fn slow_number<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        at: usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Slow> {
        let scan = number::scan(bytes, at);
        let (end, integer) = match scan {
            Scan::Number { end, integer } => (end, integer),
            Scan::Cut { .. } if !last => {
                self.cut(bytes, at, bytes.len())?;
                return Ok(Slow::More);
            }
            Scan::Cut { missing: None } => {
                (bytes.len(), !bytes[at..].iter().any(|b| b".eE".contains(b)))
            }
            Scan::Cut { missing: Some(expected) } => {
                return Err(Error::truncated(format!(
                    "found the end of the input inside a number, expected {expected}"
                ))
                .at(bytes.len() as u64));
            }
            Scan::Fault(index, expected) => {
                if (index - at) as u64 > self.limits.token_bytes {
                    return Err(self.too_long(at));
                }
                let Some(found) = found(bytes, index, last) else { return Ok(Slow::More) };
                let infinity = found == "`Infinity`" && index == at + 1;
                if infinity && self.options.non_finite {
                    sink.f64(f64::NEG_INFINITY)?;
                    return Ok(Slow::Token(index + 8));
                }
                let error = Error::syntax(format!("found {found}, expected {expected}"));
                let error = match infinity {
                    true => error.hint("pass --json-nan to accept NaN, Infinity and -Infinity"),
                    false => error,
                };
                return Err(error.at(index as u64));
            }
            Scan::LeadingZero(index) => {
                return Err(Error::syntax(
                    "found a digit behind a leading zero, expected a number without it",
                )
                .at(index as u64));
            }
        };
        if (end - at) as u64 > self.limits.token_bytes {
            return Err(self.too_long(at));
        }
        let text = std::str::from_utf8(&bytes[at..end]).expect("the grammar is ASCII");
        match integer {
            true => self.integer(text, at, sink)?,
            false => self.double(text, at, sink)?,
        }
        Ok(Slow::Token(end))
    }

    fn integer<S: Sink + ?Sized>(&mut self, text: &str, at: usize, sink: &mut S) -> Result {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        if negative && digits == "0" {
            // The sign is all that distinguishes it, and an integer has no place for it.
            return sink.f64(-0.0);
        }
        match text.parse::<i64>() {
            Ok(v) => return sink.i64(v),
            Err(_) if negative => {}
            Err(_) => {
                if let Ok(v) = text.parse::<u64>() {
                    return sink.u64(v);
                }
            }
        }
        if digits.len() > self.limits.integer_digits as usize {
            let (have, most) = (digits.len(), self.limits.integer_digits);
            return Err(Error::limit(format!(
                "found an integer of {have} digits, more than {most}, the limit of integer_digits"
            ))
            .hint("pass --limit integer_digits=… to raise it")
            .at(at as u64));
        }
        sink.big_int(BigInt::Decimal { negative, digits })
    }

    fn double<S: Sink + ?Sized>(&mut self, text: &str, at: usize, sink: &mut S) -> Result {
        if self.options.exact_numbers {
            return sink.ext(Ext::Decimal(text));
        }
        let value: f64 = text.parse().expect("JSON's grammar is a part of Rust's");
        if value.is_infinite() {
            return Err(Error::new(
                ErrorKind::Refused,
                format!(
                    "found the number {}, which is beyond the range of a double",
                    shorten(text)
                ),
            )
            .hint("pass --numbers exact to keep its digits")
            .at(at as u64));
        }
        if self.options.count_rounded && !digits::is_value_kept(text, value) {
            self.rounded += 1;
            let written = zmij::Buffer::new().format_finite(value).to_owned();
            sink.fidelity().note(LossKind::Rounded, shorten(text), written);
        }
        sink.f64(value)
    }
}

/// How long a word a message shows.
const WORD_BYTES: usize = 16;

/// The letters and digits at `at`, as far as a message shows them.
fn word(bytes: &[u8], at: usize) -> &[u8] {
    let rest = &bytes[at..bytes.len().min(at + WORD_BYTES)];
    let length = rest.iter().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(rest.len());
    &rest[..length]
}

/// What stands at `at`, as messages name it; `None` if the window cuts it off.
fn found(bytes: &[u8], at: usize, last: bool) -> Option<String> {
    if !bytes[at].is_ascii_alphabetic() {
        return found_byte(bytes, at, last);
    }
    let word = word(bytes, at);
    if at + word.len() == bytes.len() && word.len() < WORD_BYTES && !last {
        return None;
    }
    let more = if word.len() == WORD_BYTES { "…" } else { "" };
    Some(format!("`{}{more}`", word.escape_ascii()))
}

/// The same for a single character, even if it is a letter.
fn found_byte(bytes: &[u8], at: usize, last: bool) -> Option<String> {
    let byte = bytes[at];
    Some(match byte {
        b'\n' => "the end of the line".to_owned(),
        0x21..=0x7E => format!("`{}`", char::from(byte)),
        b' ' => "a space".to_owned(),
        0..0x20 | 0x7F => format!("the control character 0x{byte:02X}"),
        _ => {
            let rest = &bytes[at..bytes.len().min(at + 4)];
            let valid = match std::str::from_utf8(rest) {
                Ok(text) => text,
                Err(error) if error.valid_up_to() > 0 => {
                    std::str::from_utf8(&rest[..error.valid_up_to()]).expect("just checked")
                }
                Err(error) if error.error_len().is_none() && !last => return None,
                Err(_) => "",
            };
            match valid.chars().next() {
                Some(char) => {
                    format!("`{}` (U+{:04X})", char.escape_debug(), u32::from(char))
                }
                None => format!("byte 0x{byte:02X}, which is not UTF-8"),
            }
        }
    })
}
