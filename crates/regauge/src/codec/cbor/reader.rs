//! Bytes to events.
//!
//! Advice for those who change this file: `run` is one loop over items, and everything uncommon is
//! a call out of it. A head (the initial byte and up to eight bytes of argument) is loaded in one
//! go, with one bounds check; `rest` shrinks only once the event has been accepted, so an item that
//! is cut off, or whose event fails, is still there in full.
//!
//! Items that must be complete before their event is known are in `whole.rs`.

use super::half;
use super::sharing::Sharing;
use super::skip::{
    Frame, IN_TAG, ONE, OPEN_ENDED, Skip, array_frame, is_open_ended, map_frame, may_break,
};
use super::types::*;
use crate::bytes::reader::{Parse, Status};
use crate::model::faults::{token_too_long, too_deep};
use crate::model::limits::Limits;
use crate::model::utf8::{ShortText, from_utf8};
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, Sink};
use crate::{Error, Format, Result};

/// The head of a short text string and the window of [`ShortText`].
const SHORT_TOKEN: usize = 33;

/// The state machine of the CBOR reader: see [`mod@crate::codec::cbor`].
#[derive(Debug)]
pub struct Parser {
    pub(super) limits: Limits,
    pub(super) keep_tags: bool,
    pub(super) depth: usize,
    token_bytes: usize,
    /// The containers around the current one: the first `open` entries. The rest is spare room.
    pub(super) outer: Vec<Frame>,
    pub(super) open: usize,
    pub(super) frame: Frame,
    /// What to do at the end of each open tag.
    pub(super) tags: Vec<OpenTag>,
    /// How far the search for the end of an item has got.
    pub(super) skip: Skip,
    /// How many items the last such search skipped.
    pub(super) items: u64,
    /// How many keys enclose this parser.
    pub(super) keys: u8,
    /// Whether all tags are types: true within the content of a tag that is read as a whole.
    pub(super) raw: bool,
    pub(super) sharing: Sharing,
    /// Input offset of the window while one is being read, otherwise of the next item.
    pub(super) base: u64,
}

/// A tag whose content is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenTag {
    /// Produces no event, or its value has already been handled.
    Silent,
    /// A type.
    Typed,
    /// A shared value, for a sink that holds references.
    Anchor,
    /// A shared value with this number; references to it are expanded.
    Shared(usize),
}

/// The result of reading a tag's head.
pub(super) enum Tagged {
    /// The content is incomplete.
    More,
    /// The tag and this many bytes of content became an event.
    Done(usize),
    /// The content follows.
    Open(OpenTag),
}

impl Parser {
    /// Creates a parser at the beginning of a stream.
    pub fn new(options: super::Options, limits: Limits) -> Parser {
        let depth = limits.depth.min(Limits::DEPTH_CEILING) as usize;
        Parser { keep_tags: options.keep_tags, ..Parser::nested(limits, depth) }
    }

    /// Creates a parser for one item inside another, with `depth` levels left.
    pub(super) fn nested(limits: Limits, depth: usize) -> Parser {
        Parser {
            limits,
            keep_tags: false,
            depth,
            token_bytes: usize::try_from(limits.token_bytes).unwrap_or(usize::MAX),
            outer: Vec::new(),
            open: 0,
            frame: ONE,
            tags: Vec::new(),
            skip: Skip::new(),
            items: 0,
            keys: 0,
            raw: false,
            sharing: Sharing::default(),
            base: 0,
        }
    }
}

impl Default for Parser {
    /// Creates a parser with the default limits.
    fn default() -> Parser {
        Parser::new(super::Options::default(), Limits::default())
    }
}

impl Parse for Parser {
    const FORMAT: Format = Format::Cbor;

    fn parse<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        // Bytes before the position have been counted already.
        let before = self.base - *pos as u64;
        self.base = before;
        let result = self.run(bytes, pos, last, sink);
        self.base = before + *pos as u64;
        result
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}

impl Parser {
    pub(super) fn run<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        let mut rest = bytes.get(*pos..).unwrap_or_default();
        let (mut frame, mut open) = (self.frame, self.open);

        // Leaves the loop at the current item.
        macro_rules! leave {
            () => {
                *pos = bytes.len() - rest.len();
                (self.frame, self.open) = (frame, open);
            };
        }
        // Emits an event; if that fails, the position is that of its item.
        macro_rules! emit {
            ($event:expr) => {
                if let Err(error) = $event {
                    leave!();
                    return Err(error);
                }
            };
        }
        // Handles an incomplete item.
        macro_rules! cut {
            ($wanted:expr) => {{
                leave!();
                return self.cut(rest, last, *pos, $wanted);
            }};
        }
        macro_rules! fail {
            ($error:expr) => {{
                leave!();
                return Err($error.at(*pos as u64));
            }};
        }
        // Calls out of the loop; the call returns the size of what it read, or nothing if that is
        // incomplete.
        macro_rules! out {
            ($method:ident) => {{
                leave!();
                match self.$method(rest, *pos, last, sink)? {
                    None => return Ok(Status::More),
                    Some(size) => rest = &rest[size..],
                }
            }};
        }
        // Passes the bytes of a string after `$header` bytes to `$take`.
        macro_rules! payload {
            ($header:expr, $length:expr, |$payload:ident| $take:expr) => {{
                let length: u64 = $length;
                if length > self.token_bytes as u64 {
                    fail!(token_too_long(&self.limits, length));
                }
                let Some(($payload, after)) = rest[$header..].split_at_checked(length as usize)
                else {
                    cut!(Some(length))
                };
                $take;
                rest = after;
            }};
        }
        macro_rules! number {
            ($size:expr, $event:expr) => {{
                emit!($event);
                rest = &rest[$size..];
            }};
        }
        macro_rules! text {
            ($header:expr, $length:expr) => {
                payload!($header, $length, |text| {
                    match from_utf8(text) {
                        Some(text) => emit!(sink.str(text)),
                        None => emit!(sink.ext(Ext::BrokenText(text))),
                    }
                })
            };
        }
        // Opens a frame for the items that follow.
        macro_rules! enter {
            ($header:expr, $outer:expr, $inner:expr, $begin:expr) => {{
                if open == self.outer.len() && !self.deepen() {
                    fail!(too_deep(&self.limits, "arrays, maps and tags"));
                }
                emit!($begin);
                rest = &rest[$header..];
                self.outer[open] = $outer;
                open += 1;
                frame = $inner;
                continue;
            }};
        }
        macro_rules! open_array {
            ($header:expr, $count:expr) => {{
                let count: u64 = $count;
                enter!($header, frame - 2, array_frame(count), sink.begin_array(Some(count)))
            }};
        }
        macro_rules! open_map {
            ($header:expr, $count:expr) => {{
                let count: u64 = $count;
                enter!($header, frame - 2, map_frame(count), sink.begin_map(Some(count)))
            }};
        }

        loop {
            while frame < 2 {
                if open == 0 {
                    (self.frame, self.open) = (ONE, 0);
                    if !self.sharing.is_replaying() {
                        self.sharing.end_document();
                    }
                    *pos = bytes.len() - rest.len();
                    return Ok(Status::Document);
                }
                let outer = self.outer[open - 1];
                let end = if outer & IN_TAG != 0 {
                    self.end_tag(sink)
                } else if frame & 1 == 1 {
                    sink.end_map()
                } else {
                    sink.end_array()
                };
                open -= 1;
                frame = outer & !IN_TAG;
                emit!(end);
            }

            if frame & 3 == 1 {
                // Nearly every key: short, ASCII, and far enough from the end of the bytes that one
                // bounds check covers all of it.
                if let Some([initial, window @ ..]) = rest.first_chunk::<SHORT_TOKEN>()
                    && (TEXT..TEXT + ARGUMENT8).contains(initial)
                    && let Some(text) = ShortText::ascii(window, usize::from(initial & 31))
                    && text.len() <= self.token_bytes
                {
                    emit!(sink.short_key(text));
                    rest = &rest[1 + text.len()..];
                } else {
                    let Some((initial, word)) = token(rest) else { cut!(None) };
                    if initial >> 5 == major::TEXT && initial & 31 < 28 {
                        payload!(head_bytes(initial), argument(initial, word), |text| {
                            match from_utf8(text) {
                                Some(text) => emit!(sink.key(text)),
                                None => emit!(sink.key_value(&Value::BrokenText(text.to_vec()))),
                            }
                        });
                    } else if initial == BREAK && may_break(frame) {
                        rest = &rest[1..];
                        frame = 1;
                        continue;
                    } else {
                        out!(key);
                        frame -= 2;
                        continue;
                    }
                }
                frame -= 2;
            }

            let Some((initial, word)) = token(rest) else { cut!(None) };
            // A chain of tests, the most common first, as in the MessagePack reader, where a single
            // jump through a table made canada.json twice as slow.
            if initial < UNSIGNED + ARGUMENT8 {
                number!(1, sink.i64(i64::from(initial)));
            } else if initial & 0xE0 == TEXT {
                let info = initial & 31;
                if info < ARGUMENT8 {
                    if let Some([_, window @ ..]) = rest.first_chunk::<SHORT_TOKEN>()
                        && let Some(text) = ShortText::ascii(window, usize::from(info))
                        && text.len() <= self.token_bytes
                    {
                        emit!(sink.short_str(text));
                        rest = &rest[1 + text.len()..];
                    } else {
                        text!(1, u64::from(info));
                    }
                } else if info == ARGUMENT8 {
                    text!(2, word >> 56);
                } else if info < 28 {
                    text!(head_bytes(initial), argument(initial, word));
                } else if info == INDEFINITE {
                    out!(chunks);
                } else {
                    fail!(reserved(initial));
                }
            } else if initial == FLOAT64 {
                number!(9, sink.f64(f64::from_bits(word)));
            } else if initial < NEGATIVE {
                // 24 to 27: a width of 1, 2, 4, 8 bytes.
                if initial & 31 > 27 {
                    fail!(reserved(initial));
                }
                let bytes = 1 << (initial & 3);
                let value = word >> (64 - 8 * bytes as u32);
                match i64::try_from(value) {
                    Ok(value) => number!(1 + bytes, sink.i64(value)),
                    Err(_) => number!(9, sink.u64(value)),
                }
            } else if initial & 0xE0 == MAP {
                let info = initial & 31;
                if info < ARGUMENT8 {
                    open_map!(1, u64::from(info));
                } else if info < 28 {
                    open_map!(head_bytes(initial), argument(initial, word));
                } else if info == INDEFINITE {
                    enter!(1, frame - 2, OPEN_ENDED | 1, sink.begin_map(None));
                }
                fail!(reserved(initial));
            } else if initial & 0xE0 == ARRAY {
                let info = initial & 31;
                if info < ARGUMENT8 {
                    open_array!(1, u64::from(info));
                } else if info < 28 {
                    open_array!(head_bytes(initial), argument(initial, word));
                } else if info == INDEFINITE {
                    enter!(1, frame - 2, OPEN_ENDED, sink.begin_array(None));
                }
                fail!(reserved(initial));
            } else if initial < BYTES {
                if initial & 31 > 27 {
                    fail!(reserved(initial));
                }
                let value = argument(initial, word);
                match i64::try_from(value) {
                    // The complement is -1 - value.
                    Ok(value) => number!(head_bytes(initial), sink.i64(!value)),
                    Err(_) => number!(9, big_negative(sink, value)),
                }
            } else if initial < TEXT {
                let info = initial & 31;
                if info < 28 {
                    let length = argument(initial, word);
                    payload!(head_bytes(initial), length, |v| emit!(sink.bytes(v)));
                } else if info == INDEFINITE {
                    out!(chunks);
                } else {
                    fail!(reserved(initial));
                }
            } else if initial < SIMPLE {
                if initial & 31 > 27 {
                    fail!(reserved(initial));
                }
                leave!();
                let size = head_bytes(initial);
                let number = argument(initial, word);
                match self.tag(number, &rest[size..], (*pos, size, last), sink)? {
                    Tagged::More => cut!(None),
                    Tagged::Done(content) => rest = &rest[size + content..],
                    Tagged::Open(kind) => {
                        enter!(size, (frame - 2) | IN_TAG, ONE, {
                            let begun = self.begin_tag(kind, number, sink);
                            if begun.is_ok() {
                                self.tags.push(kind);
                            }
                            begun
                        });
                    }
                }
            } else {
                match initial {
                    FALSE | TRUE => number!(1, sink.bool(initial == TRUE)),
                    NULL => number!(1, sink.null()),
                    UNDEFINED => number!(1, sink.ext(Ext::Undefined)),
                    FLOAT16 => number!(3, sink.f32(half::to_f32((word >> 48) as u16))),
                    FLOAT32 => number!(5, sink.f32(f32::from_bits((word >> 32) as u32))),
                    SIMPLE8 => {
                        let value = (word >> 56) as u8;
                        if value < 32 {
                            fail!(reserved_simple(value));
                        }
                        number!(2, sink.ext(Ext::Simple(value)));
                    }
                    BREAK if may_break(frame) => {
                        rest = &rest[1..];
                        frame &= 1;
                        continue;
                    }
                    BREAK => fail!(self.misplaced_break(frame, open)),
                    SIMPLE..FALSE => number!(1, sink.ext(Ext::Simple(initial - SIMPLE))),
                    _ => fail!(reserved(initial)),
                }
            }
            frame -= 2;
        }
    }

    /// Handles an incomplete item: more bytes are needed, or the input is truncated, or no item was
    /// expected. `wanted` is the number of bytes that its head announced.
    #[cold]
    fn cut(&self, rest: &[u8], last: bool, pos: usize, wanted: Option<u64>) -> Result<Status> {
        if !last {
            return Ok(Status::More);
        }
        if rest.is_empty() && self.open == 0 {
            return Ok(Status::End);
        }
        let message = match (rest.first(), wanted) {
            (None, _) if self.in_tag() => "the input ends before the content of a tag".into(),
            (None, _) if is_open_ended(self.frame) => {
                let what = if self.frame & 1 == 1 { "a map" } else { "an array" };
                format!("the input ends inside {what} of indefinite length, before its break")
            }
            (None, _) => {
                let (left, what) = match self.frame & 3 {
                    1 => (self.frame / 4, "pairs of a map"),
                    3 => (self.frame / 4 + 1, "values of a map"),
                    _ => (self.frame / 2, "values of an array"),
                };
                format!("the input ends with {left} {what} missing")
            }
            (Some(initial), Some(wanted)) => {
                let left = rest.len() - head_bytes(*initial);
                format!("found a length of {wanted} bytes with only {left} left")
            }
            (Some(_), None) => "the input ends inside the head of an item".to_owned(),
        };
        Err(Error::truncated(message).at(pos as u64))
    }

    /// Returns whether the current item is the content of a tag.
    fn in_tag(&self) -> bool {
        self.open > 0 && self.outer[self.open - 1] & IN_TAG != 0
    }

    /// Makes room for more open containers, if the limit allows.
    #[cold]
    #[inline(never)]
    fn deepen(&mut self) -> bool {
        let room = (2 * self.outer.len()).max(16).min(self.depth);
        let more = room > self.outer.len();
        self.outer.resize(room, 0);
        more
    }

    #[cold]
    pub(super) fn misplaced_break(&self, frame: Frame, open: usize) -> Error {
        let place = match frame {
            _ if open == 0 => "a document",
            _ if self.outer[open - 1] & IN_TAG != 0 => "the content of a tag",
            _ if is_open_ended(frame) => "the value of a map's pair",
            _ if frame & 1 == 1 => "a pair of a map that has a length",
            _ => "a value of an array that has a length",
        };
        Error::syntax(format!("found a break (0xFF), expected {place}"))
    }
}

/// Emits -1 - `value`, which is below `i64::MIN`.
#[cold]
fn big_negative<S: Sink + ?Sized>(sink: &mut S, value: u64) -> Result {
    let magnitude = (u128::from(value) + 1).to_le_bytes();
    let length = 16 - magnitude.iter().rev().take_while(|byte| **byte == 0).count();
    sink.big_int(BigInt::Binary { negative: true, magnitude: &magnitude[..length] })
}

/// Describes the kind of item that an initial byte begins.
pub(super) fn name(initial: u8) -> &'static str {
    match initial >> 5 {
        major::UNSIGNED | major::NEGATIVE => "an integer",
        major::BYTES => "a byte string",
        major::TEXT => "a text string",
        major::ARRAY => "an array",
        major::MAP => "a map",
        major::TAG => "a tag",
        _ => "a simple value or a float",
    }
}

#[cold]
pub(super) fn reserved(initial: u8) -> Error {
    let what = match initial & 31 {
        INDEFINITE => format!("{} of indefinite length, which is not allowed", name(initial)),
        info => format!("additional information {info}, which is reserved"),
    };
    Error::syntax(format!("found the initial byte {initial:#04X} ({what}), expected an item"))
}

#[cold]
fn reserved_simple(value: u8) -> Error {
    Error::syntax(format!(
        "found the simple value {value} in two bytes (0xF8 {value:#04X}), expected 32 to 255 there"
    ))
}
