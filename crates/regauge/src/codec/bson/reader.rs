//! Reads BSON into events.
//!
//! Advice for editors: an element is two tokens, its type with its name, and its value. Each is
//! consumed whole or not at all: `at` moves on only after the event was accepted. Every length is
//! checked against the end of the surrounding document before it is checked against the window, so
//! that a fault is the same however the bytes arrive.

mod coordinates;
mod names;

use self::coordinates::{PAIR, TRIPLE, pair, triple};
use self::names::until_zero;
use super::faults::*;
use super::types::*;
use crate::bytes::reader::{Parse, Resync, Status};
use crate::model::faults::{token_too_long, too_deep};
use crate::model::limits::Limits;
use crate::model::utf8::{ShortText, from_utf8};
use crate::model::value::Value;
use crate::policy::event::{Ext, Origin, Sink, Timestamp, Type};
use crate::policy::fidelity::LossKind;
use crate::{Error, Format, Result};

/// The state machine of the BSON reader: see [`mod@crate::codec::bson`].
#[derive(Debug)]
pub struct Parser {
    limits: Limits,
    int64: bool,
    /// Whether the names of array elements are checked.
    count_names: bool,
    /// For each depth, the end of the last array there and the next position in it.
    positions: Vec<(u64, u64)>,
    depth: usize,
    token_bytes: usize,
    /// The documents around the current one.
    outer: Vec<Frame>,
    /// The current document; [`CLOSED`] between documents.
    frame: Frame,
    /// The type of the element whose name has been sent, but not its value; 0 for none.
    kind: u8,
    /// The start of a name or a pattern whose end has not been found yet, and how many of its bytes
    /// are known not to contain the end.
    scanned: (u64, usize),
    /// Bytes of input before the window while one is read; otherwise before the next token.
    base: u64,
    /// Bytes of a broken document past the window, which are skipped.
    passing: usize,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The end of the document, after its last byte, counted from the first byte of the input.
    end: u64,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Map,
    Array,
    /// The map of a code's variables.
    Scope,
}

/// Between two documents.
const CLOSED: Frame = Frame { end: 0, form: Form::Map };

impl Parser {
    /// Creates a parser at the start of a stream.
    pub fn new(options: super::Options, limits: Limits) -> Parser {
        Parser {
            limits,
            int64: options.int64,
            count_names: options.count_names,
            positions: Vec::new(),
            depth: limits.depth.min(Limits::DEPTH_CEILING) as usize,
            token_bytes: usize::try_from(limits.token_bytes).unwrap_or(usize::MAX),
            outer: Vec::new(),
            frame: CLOSED,
            kind: 0,
            scanned: (0, 0),
            base: 0,
            passing: 0,
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
    const FORMAT: Format = Format::Bson;

    fn parse<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        let before = self.base - *pos as u64;
        self.base = before;
        let mut at = *pos;
        let result = self.run(bytes, &mut at, last, sink);
        *pos = at;
        self.base = before + at as u64;
        result
    }

    fn resync(&mut self, bytes: &[u8], start: usize, pos: usize, last: bool) -> Resync {
        let window = self.base - pos as u64;
        self.outer.clear();
        (self.frame, self.kind) = (CLOSED, 0);
        // The document's own length gives the start of the next one, if a zero byte precedes that.
        let length = match std::mem::take(&mut self.passing) {
            0 => {
                let Some(length) = bytes.get(start..).and_then(|rest| rest.first_chunk()) else {
                    return Resync::Never;
                };
                let length = i32::from_le_bytes(*length);
                if length < DOCUMENT_MIN {
                    return Resync::Never;
                }
                length as usize
            }
            left => left,
        };
        let next = start + length;
        match bytes.get(next - 1) {
            Some(0) => {
                self.base = window + next as u64;
                Resync::At(next)
            }
            None if !last => {
                self.passing = next - bytes.len();
                self.base = window + bytes.len() as u64;
                Resync::Past(bytes.len())
            }
            _ => Resync::Never,
        }
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}

impl Parser {
    /// Checks the name of an element of the array with this end: a loss if it is not its position.
    #[cold]
    fn count_name<S: Sink + ?Sized>(&mut self, end: u64, name: &[u8], sink: &mut S) {
        let depth = self.outer.len();
        self.positions.resize(depth + 1, (0, 0));
        let place = &mut self.positions[depth];
        if place.0 != end {
            *place = (end, 0);
        }
        let mut buffer = itoa::Buffer::new();
        let position = buffer.format(place.1);
        if name != position.as_bytes() {
            let name = crate::model::text::shorten(&String::from_utf8_lossy(name));
            let found = format!("the name {name:?} of an element of an array");
            sink.fidelity().note(LossKind::ArrayName, found, format!("{position:?}"));
        }
        place.1 += 1;
    }

    fn run<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        let base = self.base;
        let (mut frame, mut kind) = (self.frame, self.kind);
        // The end of the current document, as an index of the window.
        let mut end = frame.end.wrapping_sub(base) as usize;
        let mut rest_at = *at;

        macro_rules! leave {
            () => {
                *at = rest_at;
                (self.frame, self.kind) = (frame, kind);
            };
        }
        // Sends an event; if it fails, the position is that of its token.
        macro_rules! emit {
            ($event:expr) => {
                if let Err(error) = $event {
                    leave!();
                    return Err(error);
                }
            };
        }
        // Handles a token that is incomplete.
        macro_rules! cut {
            () => {{
                leave!();
                return self.cut(bytes, rest_at, last);
            }};
        }
        macro_rules! fail {
            ($error:expr) => {{
                leave!();
                return Err($error.at(rest_at as u64));
            }};
        }
        // Takes this many bytes of the value, which must be within the document.
        macro_rules! take {
            ($size:expr) => {{
                let size: usize = $size;
                if size >= end.saturating_sub(rest_at) {
                    fail!(beyond(size, end.saturating_sub(rest_at)));
                }
                match bytes[rest_at..].get(..size) {
                    Some(value) => value,
                    None => cut!(),
                }
            }};
        }
        macro_rules! fixed {
            ($size:literal) => {{
                let value: &[u8; $size] =
                    take!($size).try_into().expect("exactly this many were taken");
                *value
            }};
        }
        macro_rules! done {
            ($size:expr, $event:expr) => {{
                let size = $size;
                emit!($event);
                rest_at += size;
            }};
        }
        // Takes a string's bytes, without its final zero byte, and the bytes before them.
        macro_rules! string {
            ($before:expr) => {{
                let length = i32::from_le_bytes(
                    take!($before + 4)[$before..].try_into().expect("four bytes were taken"),
                );
                if length < 1 {
                    fail!(bad_length("a string", length, 1));
                }
                if length as usize > self.token_bytes {
                    fail!(token_too_long(&self.limits, length as u64));
                }
                let string = &take!($before + 4 + length as usize)[$before + 4..];
                let Some((0, string)) = string.split_last() else { fail!(unterminated(string)) };
                string
            }};
        }
        macro_rules! utf8 {
            ($string:expr, $what:literal) => {
                match from_utf8($string) {
                    Some(text) => text,
                    None => fail!(not_utf8($what, $string)),
                }
            };
        }
        macro_rules! open {
            ($size:expr, $form:expr, $begin:expr, $length:expr) => {{
                if self.outer.len() + 1 >= self.depth {
                    fail!(too_deep(&self.limits, "documents and arrays"));
                }
                emit!($begin);
                self.outer.push(frame);
                frame = Frame {
                    end: base + (rest_at + $size - 4 + $length as usize) as u64,
                    form: $form,
                };
                end = rest_at + $size - 4 + $length as usize;
                rest_at += $size;
            }};
        }
        macro_rules! document {
            ($form:expr, $begin:expr) => {{
                let length = i32::from_le_bytes(fixed!(4));
                if length < DOCUMENT_MIN {
                    fail!(bad_length("a document", length, DOCUMENT_MIN));
                }
                if length as usize >= end - rest_at {
                    fail!(beyond(length as usize, end - rest_at));
                }
                open!(4, $form, $begin, length)
            }};
        }

        if frame.end == 0 {
            let Some(length) = bytes[rest_at..].first_chunk() else { cut!() };
            let length = i32::from_le_bytes(*length);
            if length < DOCUMENT_MIN {
                fail!(bad_length("a document", length, DOCUMENT_MIN));
            }
            emit!(sink.begin_map(None));
            frame = Frame { end: base + rest_at as u64 + length as u64, form: Form::Map };
            end = rest_at + length as usize;
            rest_at += 4;
        }
        loop {
            if kind == 0 {
                let Some(&next) = bytes.get(rest_at) else { cut!() };
                if rest_at + 1 >= end || next == 0 {
                    if next != 0 || rest_at + 1 != end {
                        fail!(misplaced_end(next, end - rest_at));
                    }
                    emit!(match frame.form {
                        Form::Map => sink.end_map(),
                        Form::Array => sink.end_array(),
                        Form::Scope => sink.end_map().and_then(|()| sink.end_typed()),
                    });
                    rest_at += 1;
                    match self.outer.pop() {
                        Some(outer) => {
                            frame = outer;
                            end = (frame.end - base) as usize;
                            continue;
                        }
                        None => {
                            frame = CLOSED;
                            leave!();
                            return Ok(Status::Document);
                        }
                    }
                }
                // Checked before the name, which may be long and may not be an element's at all.
                if !matches!(next, 0x01..=0x13 | 0x7F | 0xFF) {
                    fail!(bad_type(next));
                }
                let named = &bytes[rest_at + 1..];
                // The name of an array element is its position; if it is not, only a report notes
                // it.
                if frame.form == Form::Array
                    && !self.count_names
                    && let Some(size) = named.first_chunk().and_then(|eight| until_zero(*eight))
                    && rest_at + size + 2 < end
                {
                    rest_at += size + 2;
                } else if let Some(window) = named.first_chunk()
                    && let Some(name) = ShortText::until_zero(window)
                    && rest_at + name.len() + 2 < end
                {
                    if frame.form != Form::Array {
                        emit!(sink.short_key(name));
                    } else if self.count_names {
                        self.count_name(frame.end, name.as_str().as_bytes(), sink);
                    }
                    rest_at += name.len() + 2;
                } else {
                    let size = match self.zero(named, end - rest_at - 2, rest_at) {
                        Ok(Some(size)) => size,
                        Ok(None) => cut!(),
                        Err(error) => fail!(error),
                    };
                    if frame.form == Form::Array {
                        if self.count_names {
                            self.count_name(frame.end, &named[..size], sink);
                        }
                    } else {
                        match from_utf8(&named[..size]) {
                            Some(name) => emit!(sink.key(name)),
                            None => {
                                let name = Value::BrokenText(named[..size].to_vec());
                                emit!(sink.key_value(&name));
                            }
                        }
                    }
                    rest_at += size + 2;
                }
                kind = next;
            }

            match kind {
                STRING => {
                    // Nearly every text: short, ASCII, and far enough from the end of the bytes.
                    if let Some([a, b, c, d, window @ ..]) = bytes[rest_at..].first_chunk::<36>()
                        && let length @ 1..=32 = u32::from_le_bytes([*a, *b, *c, *d])
                        && window[length as usize - 1] == 0
                        && let Some(text) = ShortText::ascii(window, length as usize - 1)
                        && rest_at + 4 + (length as usize) < end
                        && length as usize <= self.token_bytes
                    {
                        done!(4 + length as usize, sink.short_str(text));
                    } else {
                        let string = string!(0);
                        let size = string.len() + 5;
                        match from_utf8(string) {
                            Some(text) => done!(size, sink.str(text)),
                            None => done!(size, sink.ext(Ext::BrokenText(string))),
                        }
                    }
                }
                INT32 => done!(4, sink.i64(i64::from(i32::from_le_bytes(fixed!(4))))),
                DOUBLE => done!(8, sink.f64(f64::from_le_bytes(fixed!(8)))),
                DOCUMENT => document!(Form::Map, sink.begin_map(None)),
                ARRAY => {
                    let array = &bytes[rest_at..];
                    if self.outer.len() + 1 >= self.depth {
                        document!(Form::Array, sink.begin_array(None));
                    } else if let Some((x, y)) = pair(array)
                        && PAIR < end - rest_at
                    {
                        done!(PAIR, sink.f64_pair(x, y));
                        // After one, another usually follows.
                        while frame.form == Form::Array
                            && !self.count_names
                            && let [ARRAY, named @ ..] = &bytes[rest_at..]
                            && let Some(name) = named.first_chunk().and_then(|v| until_zero(*v))
                            && let Some((x, y)) = pair(&named[name + 1..])
                            && name + 2 + PAIR < end - rest_at
                        {
                            rest_at += name + 2;
                            done!(PAIR, sink.f64_pair(x, y));
                        }
                    } else if let Some(values) = triple(array)
                        && TRIPLE < end - rest_at
                    {
                        done!(TRIPLE, sink.f64_array(&values));
                    } else {
                        document!(Form::Array, sink.begin_array(None));
                    }
                }
                BOOL => match fixed!(1) {
                    [truth @ (0 | 1)] => done!(1, sink.bool(truth == 1)),
                    [other] => fail!(bad_bool(other)),
                },
                NULL => done!(0, sink.null()),
                INT64 => {
                    let value = i64::from_le_bytes(fixed!(8));
                    if self.int64 && i32::try_from(value).is_ok() {
                        done!(8, sink.ext(Ext::Int64(value)));
                    } else {
                        done!(8, sink.i64(value));
                    }
                }
                OBJECT_ID => done!(12, sink.ext(Ext::ObjectId(fixed!(12)))),
                DATE_TIME => {
                    let milliseconds = i64::from_le_bytes(fixed!(8));
                    let seconds = milliseconds.div_euclid(1000);
                    let nanoseconds = milliseconds.rem_euclid(1000) as u32 * 1_000_000;
                    done!(8, sink.ext(Ext::Timestamp(Timestamp { seconds, nanoseconds })));
                }
                BINARY => {
                    let head = fixed!(5);
                    let length = i32::from_le_bytes([head[0], head[1], head[2], head[3]]);
                    if length < 0 {
                        fail!(bad_length("binary data", length, 0));
                    }
                    if length as usize > self.token_bytes {
                        fail!(token_too_long(&self.limits, length as u64));
                    }
                    let payload = &take!(5 + length as usize)[5..];
                    let size = 5 + payload.len();
                    match (head[4], <[u8; 16]>::try_from(payload)) {
                        (GENERIC, _) => done!(size, sink.bytes(payload)),
                        (UUID, Ok(uuid)) => done!(size, sink.ext(Ext::Uuid(uuid))),
                        (OLD_BINARY, _) => match old_binary(payload) {
                            Some(inner) => done!(size, sink.ext(Ext::Binary(OLD_BINARY, inner))),
                            None => fail!(bad_old_binary(payload)),
                        },
                        (subtype, _) => done!(size, sink.ext(Ext::Binary(subtype, payload))),
                    }
                }
                UNDEFINED => done!(0, sink.ext(Ext::Undefined)),
                MIN_KEY => done!(0, sink.ext(Ext::MinKey)),
                MAX_KEY => done!(0, sink.ext(Ext::MaxKey)),
                TIMESTAMP => {
                    let [a, b, c, d, e, f, g, h] = fixed!(8);
                    let increment = u32::from_le_bytes([a, b, c, d]);
                    let seconds = u32::from_le_bytes([e, f, g, h]);
                    done!(8, sink.ext(Ext::BsonTimestamp { seconds, increment }));
                }
                DECIMAL128 => done!(16, sink.ext(Ext::Decimal128(fixed!(16)))),
                CODE => {
                    let code = string!(0);
                    let text = utf8!(code, "code");
                    done!(code.len() + 5, sink.ext(Ext::Code(text)));
                }
                SYMBOL => {
                    let name = string!(0);
                    let text = utf8!(name, "a symbol");
                    done!(name.len() + 5, sink.ext(Ext::Symbol(text)));
                }
                DB_POINTER => {
                    let name = string!(0);
                    let namespace = utf8!(name, "a namespace");
                    let size = name.len() + 5;
                    let id = take!(size + 12)[size..].try_into().expect("12 bytes were taken");
                    done!(size + 12, sink.ext(Ext::DbPointer { namespace, id }));
                }
                REGEX => {
                    let parts = self.regex(&bytes[rest_at..], end - rest_at - 1, rest_at);
                    let (pattern, options) = match parts {
                        Ok(Some(parts)) => parts,
                        Ok(None) => cut!(),
                        Err(error) => fail!(error),
                    };
                    let size = pattern.len() + options.len() + 2;
                    let pattern = utf8!(pattern, "a regular expression");
                    let options = utf8!(options, "the options of a regular expression");
                    let event = if options.bytes().is_sorted() {
                        sink.ext(Ext::Regex { pattern, options })
                    } else {
                        // The specification requires them in alphabetical order.
                        let mut sorted: Vec<char> = options.chars().collect();
                        sorted.sort_unstable();
                        let options: String = sorted.into_iter().collect();
                        sink.ext(Ext::Regex { pattern, options: &options })
                    };
                    done!(size, event);
                }
                SCOPED_CODE => {
                    let total = i32::from_le_bytes(fixed!(4));
                    if total < 14 {
                        fail!(bad_length("code with a scope", total, 14));
                    }
                    let total = total as usize;
                    if total >= end - rest_at {
                        fail!(beyond(total, end - rest_at));
                    }
                    let code = string!(4);
                    let size = 4 + 5 + code.len();
                    let length = &take!(size + 4)[size..];
                    let length = i32::from_le_bytes(length.try_into().expect("4 bytes were taken"));
                    if length < DOCUMENT_MIN || size + length as usize != total {
                        fail!(bad_scope(total, size, length));
                    }
                    let name = utf8!(code, "code");
                    let of = Type { origin: Origin::Bson, kind: "scope", name };
                    open!(
                        size + 4,
                        Form::Scope,
                        sink.begin_typed(&of).and_then(|()| sink.begin_map(None)),
                        length
                    );
                }
                _ => unreachable!("the type was checked before the name"),
            }
            kind = 0;
        }
    }

    /// Handles an incomplete token: asks for more input, or reports that the input is truncated, or
    /// that no document was expected.
    #[cold]
    fn cut(&self, bytes: &[u8], at: usize, last: bool) -> Result<Status> {
        if !last {
            return Ok(Status::More);
        }
        if self.frame.end == 0 {
            if at == bytes.len() {
                return Ok(Status::End);
            }
            return Err(
                Error::truncated("the input ends inside the length of a document").at(at as u64)
            );
        }
        let end = self.outer.first().unwrap_or(&self.frame).end;
        let missing = end - self.base - bytes.len() as u64;
        Err(Error::truncated(format!(
            "the input ends {missing} bytes before the end of its document"
        ))
        .at(at as u64))
    }
}

/// Returns the bytes of the deprecated subtype, which begin with a length of their own.
fn old_binary(payload: &[u8]) -> Option<&[u8]> {
    let (length, inner) = payload.split_first_chunk()?;
    (usize::try_from(i32::from_le_bytes(*length)) == Ok(inner.len())).then_some(inner)
}
