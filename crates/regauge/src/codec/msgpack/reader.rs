//! Reads MessagePack into events.
//!
//! Advice for editors: `run` is one loop over tokens, and everything uncommon is a call out of it.
//! A token's fixed part (the marker and up to eight bytes) is loaded at once, with one bounds
//! check; `rest` shrinks only after the event was accepted, so a token that is cut off, or whose
//! event fails, is still there in full.

use super::sinks::{KeyBuilder, Null};
use super::skip::Skip;
use super::types::*;
use crate::bytes::reader::{Parse, Status};
use crate::model::faults::{token_too_long, too_deep};
use crate::model::hint::Hint;
use crate::model::limits::{Limit, Limits};
use crate::model::utf8::{ShortText, from_utf8};
use crate::model::value::Value;
use crate::policy::event::{Ext, Sink, Timestamp};
use crate::{Error, ErrorKind, Format, Result};

/// What is still to come in a container: twice the number of values, counting keys, plus one for a
/// map. So a key is next if the lowest two bits are `01`, and the container is at its end below 2.
type Frame = u64;

/// The document itself: one value.
const DOCUMENT: Frame = 2;

/// A short text's marker and the window of [`ShortText`].
const SHORT_TOKEN: usize = 33;

/// Returns the two or three numbers of an array of doubles that begins here, and its size:
/// coordinates, of which files hold tens of thousands. `None` for any other array, and if one of
/// the numbers is not finite, because not every sink takes those.
#[inline(always)]
fn doubles(rest: &[u8]) -> Option<([f64; 3], usize)> {
    const PAIR: u8 = FIXARRAY | 2;
    const TRIPLE: u8 = FIXARRAY | 3;
    let double = |at: usize| -> Option<f64> {
        let [FLOAT64, bytes @ ..] = rest.get(at..)?.first_chunk::<9>()? else { return None };
        Some(f64::from_be_bytes(*bytes)).filter(|v| v.is_finite())
    };
    match *rest.first()? {
        PAIR => Some(([double(1)?, double(10)?, 0.0], 19)),
        TRIPLE => Some(([double(1)?, double(10)?, double(19)?], 28)),
        _ => None,
    }
}

/// The state machine of the MessagePack reader: see [`mod@crate::codec::msgpack`].
#[derive(Debug)]
pub struct Parser {
    limits: Limits,
    depth: usize,
    token_bytes: usize,
    /// The containers around the current one: the first `open` of these. The rest is spare room.
    outer: Vec<Frame>,
    open: usize,
    frame: Frame,
    /// How far the search for the end of a key has progressed.
    key: Skip,
    /// Whether the input is known to be too short, and is only searched for an earlier fault.
    probing: bool,
}

impl Parser {
    /// Creates a parser at the beginning of a stream.
    pub fn new(limits: Limits) -> Parser {
        Parser::nested(limits, limits.depth.min(Limits::DEPTH_CEILING) as usize)
    }

    fn nested(limits: Limits, depth: usize) -> Parser {
        Parser {
            limits,
            depth,
            token_bytes: usize::try_from(limits.token_bytes).unwrap_or(usize::MAX),
            outer: Vec::new(),
            open: 0,
            frame: DOCUMENT,
            key: Skip::new(),
            probing: false,
        }
    }
}

impl Default for Parser {
    /// Creates a parser with the default limits.
    fn default() -> Parser {
        Parser::new(Limits::default())
    }
}

impl Parse for Parser {
    const FORMAT: Format = Format::Msgpack;

    fn parse<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        self.run::<S, true>(bytes, pos, last, sink)
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}

impl Parser {
    /// Runs the main loop. Without `KEYS`, the keys of maps arrive as values: so a key that is itself a
    /// container is read without recursion, whatever keys it contains.
    fn run<S: Sink + ?Sized, const KEYS: bool>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        let mut rest = bytes.get(*pos..).unwrap_or_default();
        let (mut frame, mut open) = (self.frame, self.open);

        // Sends an event; if it fails, the position is that of its token.
        macro_rules! emit {
            ($event:expr) => {
                if let Err(error) = $event {
                    *pos = bytes.len() - rest.len();
                    (self.frame, self.open) = (frame, open);
                    return Err(error);
                }
            };
        }
        // Handles a token that is incomplete.
        macro_rules! cut {
            ($wanted:expr) => {{
                *pos = bytes.len() - rest.len();
                (self.frame, self.open) = (frame, open);
                return self.cut(rest, last, *pos, $wanted);
            }};
        }
        macro_rules! fail {
            ($error:expr) => {{
                *pos = bytes.len() - rest.len();
                (self.frame, self.open) = (frame, open);
                return Err($error.at(*pos as u64));
            }};
        }
        // Passes a payload of `$length` bytes, after a header of `$header` bytes, to `$take`.
        macro_rules! payload {
            ($header:expr, $length:expr, |$payload:ident| $take:expr) => {{
                let length: usize = $length;
                if length > self.token_bytes {
                    fail!(token_too_long(&self.limits, length as u64));
                }
                let Some(($payload, after)) = rest[$header..].split_at_checked(length) else {
                    cut!(Some(length as u64))
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
        macro_rules! ext {
            ($header:expr, $kind:expr, $length:expr) => {
                payload!($header, $length, |payload| emit!(sink.ext(ext($kind as i8, payload))))
            };
        }
        macro_rules! open {
            ($header:expr, $begin:ident, $count:expr, $inner:expr) => {{
                let count: u64 = $count;
                let inner: Frame = $inner;
                if last && inner / 2 > (rest.len() - $header) as u64 && !self.probing {
                    *pos = bytes.len() - rest.len();
                    (self.frame, self.open) = (frame, open);
                    return Err(self.too_few(bytes, *pos, count));
                }
                if open == self.outer.len() && !self.deepen() {
                    fail!(too_deep(&self.limits, "arrays and maps"));
                }
                emit!(sink.$begin(Some(count)));
                rest = &rest[$header..];
                self.outer[open] = frame - 2;
                open += 1;
                frame = inner;
                continue;
            }};
        }
        macro_rules! open_array {
            ($header:expr, $count:expr) => {
                open!($header, begin_array, $count, 2 * $count)
            };
        }
        macro_rules! open_map {
            ($header:expr, $count:expr) => {
                open!($header, begin_map, $count, 4 * $count + 1)
            };
        }

        loop {
            while frame < 2 {
                if open == 0 {
                    (self.frame, self.open) = (DOCUMENT, 0);
                    *pos = bytes.len() - rest.len();
                    return Ok(Status::Document);
                }
                let end = if frame & 1 == 1 { sink.end_map() } else { sink.end_array() };
                open -= 1;
                frame = self.outer[open];
                emit!(end);
            }

            if KEYS && frame & 3 == 1 {
                // Nearly every key: short, ASCII, and far enough from the end of the bytes that a
                // single bounds check covers it. MessagePack to JSON takes 3% less time on
                // citm_catalog, and 4% less on twitter.
                if let Some([marker, window @ ..]) = rest.first_chunk::<SHORT_TOKEN>()
                    && marker & 0xE0 == FIXSTR
                    && let Some(text) = ShortText::ascii(window, usize::from(marker & 31))
                    && text.len() <= self.token_bytes
                {
                    emit!(sink.short_key(text));
                    rest = &rest[1 + text.len()..];
                } else {
                    let Some((marker, word)) = token(rest) else { cut!(None) };
                    let (header, length) = match marker {
                        FIXSTR..NIL => (1, usize::from(marker & 31)),
                        STR8 => (2, (word >> 56) as usize),
                        STR16 => (3, (word >> 48) as usize),
                        STR32 => (5, (word >> 32) as usize),
                        _ => {
                            *pos = bytes.len() - rest.len();
                            (self.frame, self.open) = (frame, open);
                            match self.key_value(rest, *pos, last, sink)? {
                                None => return Ok(Status::More),
                                Some(size) => rest = &rest[size..],
                            }
                            frame -= 2;
                            continue;
                        }
                    };
                    payload!(header, length, |text| {
                        match from_utf8(text) {
                            Some(text) => emit!(sink.key(text)),
                            None => emit!(sink.key_value(&Value::BrokenText(text.to_vec()))),
                        }
                    });
                }
                frame -= 2;
            }

            let Some((marker, word)) = token(rest) else { cut!(None) };
            // A chain of tests, most common first: on real documents each test nearly always goes
            // the same way. A jump table, as a `match` compiles to, made canada.json twice as slow.
            if marker < FIXMAP {
                number!(1, sink.i64(i64::from(marker)));
            } else if marker & 0xE0 == FIXSTR {
                if let Some([_, window @ ..]) = rest.first_chunk::<SHORT_TOKEN>()
                    && let Some(text) = ShortText::ascii(window, usize::from(marker & 31))
                    && text.len() <= self.token_bytes
                {
                    emit!(sink.short_str(text));
                    rest = &rest[1 + text.len()..];
                } else {
                    text!(1, usize::from(marker & 31));
                }
            } else if marker == FLOAT64 {
                number!(9, sink.f64(f64::from_bits(word)));
            } else if marker < FIXARRAY {
                open_map!(1, u64::from(marker & 15));
            } else if marker < FIXSTR {
                if let Some((values, size)) = doubles(rest)
                    && open < self.outer.len()
                {
                    emit!(sink.f64_array(&values[..size / 9]));
                    rest = &rest[size..];
                } else {
                    open_array!(1, u64::from(marker & 15));
                }
            } else if (UINT8..=INT64).contains(&marker) {
                // Both kinds are ordered by width: 1, 2, 4, 8 bytes.
                let bytes = 1 << (marker & 3);
                let shift = 64 - 8 * bytes as u32;
                if marker >= INT8 {
                    // The shift of a signed number extends its sign.
                    number!(1 + bytes, sink.i64(word as i64 >> shift));
                } else if let Ok(v) = i64::try_from(word >> shift) {
                    number!(1 + bytes, sink.i64(v));
                } else {
                    number!(9, sink.u64(word));
                }
            } else if (STR8..=STR32).contains(&marker) {
                let bytes = 1 << (marker - STR8);
                text!(1 + bytes, (word >> (64 - 8 * bytes as u32)) as usize);
            } else if marker <= TRUE {
                match marker {
                    NIL => number!(1, sink.null()),
                    NEVER_USED => fail!(Error::syntax(
                        "found the byte 0xC1, which MessagePack never uses, expected a value"
                    )),
                    _ => number!(1, sink.bool(marker == TRUE)),
                }
            } else if marker > MAP32 {
                number!(1, sink.i64(i64::from(marker as i8)));
            } else if marker >= ARRAY16 {
                match marker {
                    ARRAY16 => open_array!(3, word >> 48),
                    ARRAY32 => open_array!(5, word >> 32),
                    MAP16 => open_map!(3, word >> 48),
                    _ => open_map!(5, word >> 32),
                }
            } else {
                match marker {
                    BIN8 => payload!(2, (word >> 56) as usize, |v| emit!(sink.bytes(v))),
                    BIN16 => payload!(3, (word >> 48) as usize, |v| emit!(sink.bytes(v))),
                    BIN32 => payload!(5, (word >> 32) as usize, |v| emit!(sink.bytes(v))),
                    EXT8 => ext!(3, word >> 48, (word >> 56) as usize),
                    EXT16 => ext!(4, word >> 40, (word >> 48) as usize),
                    EXT32 => ext!(6, word >> 24, (word >> 32) as usize),
                    FLOAT32 => number!(5, sink.f32(f32::from_bits((word >> 32) as u32))),
                    // The rest: fixext 1 to 16.
                    _ => ext!(2, word >> 56, 1 << (marker - FIXEXT1)),
                }
            }
            frame -= 2;
        }
    }

    /// Handles an incomplete token: asks for more input, or reports that the input is truncated, or
    /// that no token was expected. `wanted` is the number of bytes that its header declares.
    #[cold]
    fn cut(&self, rest: &[u8], last: bool, pos: usize, wanted: Option<u64>) -> Result<Status> {
        let at_start = self.open == 0 && self.frame == DOCUMENT;
        if !last {
            return Ok(Status::More);
        }
        if rest.is_empty() && at_start {
            return Ok(Status::End);
        }
        let message = match (rest.first(), wanted) {
            (None, _) => {
                let (left, what) = match self.frame & 1 {
                    1 if self.frame & 2 == 0 => (self.frame / 4, "pairs of a map"),
                    1 => (self.frame / 4 + 1, "values of a map"),
                    _ => (self.frame / 2, "values of an array"),
                };
                format!("the input ends with {left} {what} missing")
            }
            (Some(marker), Some(wanted)) => {
                let header = usize::from(HEADER_BYTES[usize::from(*marker)]);
                let left = rest.len() - header;
                format!("found a length of {wanted} bytes with only {left} left")
            }
            (Some(_), None) => "the input ends inside the header of a value".to_owned(),
        };
        Err(Error::truncated(message).at(pos as u64))
    }

    /// Handles a container that declares more values than bytes follow. The sink never sees it; but
    /// an earlier fault in the remaining input is reported first, as when the bytes arrive in
    /// pieces.
    #[cold]
    #[inline(never)]
    fn too_few(&mut self, bytes: &[u8], pos: usize, count: u64) -> Error {
        self.probing = true;
        let mut end = pos;
        let found = self.run::<_, true>(bytes, &mut end, true, &mut Null::new());
        let error = found.expect_err("there are fewer bytes than values");
        if error.kind() != ErrorKind::Truncated {
            return error;
        }
        let header = usize::from(HEADER_BYTES[usize::from(bytes[pos])]);
        let left = bytes.len() - pos - header;
        let what = match bytes[pos] {
            FIXMAP..FIXARRAY | MAP16 | MAP32 => format!("a map of {count} pairs"),
            _ => format!("an array of {count} values"),
        };
        Error::truncated(format!("found {what} with only {left} bytes left")).at(pos as u64)
    }

    /// Makes room for more open containers, if the limit allows more.
    #[cold]
    #[inline(never)]
    fn deepen(&mut self) -> bool {
        let room = (2 * self.outer.len()).max(16).min(self.depth);
        let more = room > self.outer.len();
        self.outer.resize(room, 0);
        more
    }

    /// Reads a key that is not text, at the start of `rest`; returns its size, or `None` if it is
    /// incomplete.
    #[cold]
    #[inline(never)]
    fn key_value<S: Sink + ?Sized>(
        &mut self,
        rest: &[u8],
        pos: usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Option<usize>> {
        let end = self.key.end(rest);
        let bound = self.limits.record_bytes;
        if end.unwrap_or(rest.len()) as u64 > bound {
            return Err(Error::limit(format!(
                "found a key of more than {bound} bytes, the limit of record_bytes"
            ))
            .hint(Hint::raise(Limit::RecordBytes))
            .at(pos as u64));
        }
        let Some(end) = end else {
            if last {
                return Err(
                    Error::truncated("the input ends inside the key of a map").at(pos as u64)
                );
            }
            return Ok(None);
        };
        self.key = Skip::new();
        let mut inner = Parser::nested(self.limits, self.depth - self.open);
        let mut builder = KeyBuilder::new(&self.limits);
        let mut inner_pos = 0;
        let parsed = inner.run::<_, false>(&rest[..end], &mut inner_pos, true, &mut builder);
        if let Err(error) = parsed {
            let offset = error.offset().unwrap_or(inner_pos as u64);
            return Err(error.at(pos as u64 + offset));
        }
        let key = builder.into_value().expect("a complete value was read");
        key.check_key().map_err(|error| error.at(pos as u64))?;
        sink.key_value(&key)?;
        Ok(Some(end))
    }
}

/// Returns the marker at the start of `rest` and the eight bytes after it, the first in the highest
/// place; zeros for missing bytes. `None` if the fixed part of the token is incomplete.
#[inline(always)]
fn token(rest: &[u8]) -> Option<(u8, u64)> {
    match rest.first_chunk::<HEADER_MAX>() {
        Some(&[marker, word @ ..]) => Some((marker, u64::from_be_bytes(word))),
        None => token_near_the_end(rest),
    }
}

#[cold]
#[inline(never)]
fn token_near_the_end(rest: &[u8]) -> Option<(u8, u64)> {
    let (&marker, tail) = rest.split_first()?;
    let mut word = [0; 8];
    word[..tail.len()].copy_from_slice(tail);
    let whole = rest.len() >= usize::from(HEADER_BYTES[usize::from(marker)]);
    whole.then_some((marker, u64::from_be_bytes(word)))
}

/// Returns an extension, or the point in time that it holds.
fn ext(kind: i8, payload: &[u8]) -> Ext<'_> {
    if kind == TIMESTAMP
        && let Some(at) = timestamp(payload)
    {
        return Ext::Timestamp(at);
    }
    Ext::MsgpackExt(kind, payload)
}

/// Decodes a point in time of 4, 8 or 12 bytes; `None` if the payload is not one.
fn timestamp(payload: &[u8]) -> Option<Timestamp> {
    let at = match *payload {
        [a, b, c, d] => {
            Timestamp { seconds: i64::from(u32::from_be_bytes([a, b, c, d])), nanoseconds: 0 }
        }
        [a, b, c, d, e, f, g, h] => {
            let word = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
            let seconds = (word & ((1 << 34) - 1)) as i64;
            Timestamp { seconds, nanoseconds: (word >> 34) as u32 }
        }
        [a, b, c, d, ref seconds @ ..] => Timestamp {
            seconds: i64::from_be_bytes(seconds.try_into().ok()?),
            nanoseconds: u32::from_be_bytes([a, b, c, d]),
        },
        _ => return None,
    };
    (at.nanoseconds < 1_000_000_000).then_some(at)
}
