//! Events to bytes.
//!
//! Text becomes a UTF-8 string, bytes a string without an encoding, keys strings. Symbols are
//! written once and linked to afterwards. Types that the reader made from Ruby's objects
//! ([`super::objects`]) are written natively, anchors as links. Every string, float, big integer,
//! array, hash and object has a number, in the order in which Ruby's reader numbers them.
//!
//! Advice for those who change this file: the common events check one flag, `plain`, and write. It
//! is false if state is pending for the next value, or in a set; events then go through `prepare`
//! in [`super::typed`]. Every value that gets a number in Ruby must call `register`.

use std::collections::HashMap;

use super::counted::{Counted, Kind};
use super::equal::EqualKeys;
use super::typed::{Frame, Pending};
use super::types::*;
use super::{Options, classes, float, moment};
use crate::bytes::buffer::Out;
use crate::model::number;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, Sink, Type};
use crate::policy::fidelity::{self, Fidelity};
use crate::policy::notation;
use crate::{Error, Result};

/// Turns events into Ruby Marshal.
pub struct Writer<'o> {
    pub(super) counted: Counted<'o>,
    pub(super) fidelity: Fidelity,
    /// Whether the current document has its version.
    begun: bool,
    /// Whether no state is pending for the next value.
    pub(super) plain: bool,
    pub(super) pending: Pending,
    /// The anchors around the next value.
    pub(super) named: Vec<u64>,
    /// Types and anchors that are open and written natively.
    pub(super) frames: Vec<Frame>,
    /// Number of objects numbered so far.
    pub(super) objects: u64,
    symbols: HashMap<Box<[u8]>, u32>,
    /// What follows the bytes of a text, once the symbol `E` has been written: `E` is true.
    tail: Option<[u8; 4]>,
    /// The names of encodings that have been written, with the number of the string.
    pub(super) encodings: HashMap<Box<str>, u64>,
    /// Anchored values.
    pub(super) anchors: HashMap<u64, Anchored>,
    /// Of the open maps of [`Kind::WatchedMap`].
    pub(super) equal_keys: EqualKeys,
    mark: Mark,
}

/// What an alias becomes.
#[derive(Clone, Debug)]
pub(super) enum Anchored {
    /// A link to the object of this number.
    Object(u64),
    /// A value without a number: a copy of it.
    Leaf(Value),
}

/// The state at a checkpoint.
#[derive(Default)]
struct Mark {
    begun: bool,
    objects: u64,
    symbols: u32,
    /// How many maps are watched.
    watched: usize,
}

impl<'o> Writer<'o> {
    /// Creates a writer to `out`. The policy of `fidelity` decides what happens to values that Ruby
    /// Marshal cannot hold.
    pub fn new(out: Out<'o>, _options: Options, fidelity: Fidelity) -> Writer<'o> {
        Writer {
            counted: Counted::new(out),
            fidelity,
            begun: false,
            plain: false,
            pending: Pending::default(),
            named: Vec::new(),
            frames: Vec::new(),
            objects: 0,
            symbols: HashMap::new(),
            tail: None,
            encodings: HashMap::new(),
            anchors: HashMap::new(),
            equal_keys: EqualKeys::default(),
            mark: Mark::default(),
        }
    }

    /// Returns the buffer, with everything that has not been passed on to an output.
    #[inline]
    pub fn into_out(self) -> Out<'o> {
        self.counted.out
    }

    /// Replaces the bound on what open containers pin, for tests.
    #[cfg(test)]
    pub(super) fn set_hold_bytes(&mut self, bytes: u64) {
        self.counted.set_hold_bytes(bytes);
    }

    /// Writes the version, before the first value.
    pub(super) fn begin_document(&mut self) -> Result {
        if !self.begun {
            self.begun = true;
            self.counted.room(VERSION.len())?;
            self.counted.out.push_array(VERSION);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn long(&mut self, v: i32) {
        let (bytes, count) = long_bytes(v);
        match count {
            1 => self.counted.out.push(bytes[0]),
            _ => self.counted.out.extend(&bytes[..count]),
        }
    }

    /// Writes a length and bytes, with `kind` before them if it is not 0.
    pub(super) fn sized(&mut self, kind: u8, bytes: &[u8]) -> Result {
        let length = i32::try_from(bytes.len()).map_err(|_| too_long(bytes.len()))?;
        self.counted.room(1 + LONG_BYTES + bytes.len())?;
        if kind != 0 {
            self.counted.out.push(kind);
        }
        self.long(length);
        self.counted.out.extend_short(bytes);
        Ok(())
    }

    /// Writes UTF-8 text, wrapped in `I` and its encoding.
    #[inline]
    pub(super) fn plain_text(&mut self, v: &str) -> Result {
        let bytes = v.as_bytes();
        self.objects += 1;
        let Some(tail) = self.tail else { return self.long_text(bytes) };
        self.counted.room(3 + LONG_BYTES + bytes.len() + tail.len())?;
        if bytes.len() <= 122 {
            let length = if bytes.is_empty() { 0 } else { bytes.len() as u8 + 5 };
            self.counted.out.extend_with_header([IVARS, STRING, length], bytes);
            self.counted.out.push_array(tail);
            return Ok(());
        }
        self.long_text(bytes)
    }

    #[inline(never)]
    fn long_text(&mut self, bytes: &[u8]) -> Result {
        self.counted.room(1)?;
        self.counted.out.push(IVARS);
        self.sized(STRING, bytes)?;
        self.counted.room(1)?;
        self.counted.out.push(6);
        self.encoding_flag(true)
    }

    /// Writes the symbol `E` and whether it is true.
    pub(super) fn encoding_flag(&mut self, utf8: bool) -> Result {
        let index = self.symbol(b"E", Spelling::Ascii)?;
        if let Some(link) = super::scan::short_link(index) {
            self.tail = Some([6, SYMLINK, link, TRUE]);
        }
        self.counted.room(1)?;
        self.counted.out.push(if utf8 { TRUE } else { FALSE });
        Ok(())
    }

    /// Writes a symbol, or a link to it. Returns its number.
    pub(super) fn symbol(&mut self, raw: &[u8], spelling: Spelling<'_>) -> Result<u32> {
        let spelled;
        let key = match spelling {
            Spelling::Ascii => raw,
            // No real name holds a zero byte followed by the mark; only a deliberate attempt would.
            Spelling::Utf8 => {
                spelled = [raw, b"\0\0E"].concat();
                &spelled[..]
            }
            Spelling::Named(name) => {
                spelled = [raw, b"\0\0", name.as_bytes()].concat();
                &spelled[..]
            }
        };
        if let Some(index) = self.symbols.get(key) {
            let index = *index;
            self.counted.room(1 + LONG_BYTES)?;
            self.counted.out.push(SYMLINK);
            self.long(index as i32);
            return Ok(index);
        }
        let index = self.symbols.len() as u32;
        self.symbols.insert(key.into(), index);
        if spelling != Spelling::Ascii {
            self.counted.room(1)?;
            self.counted.out.push(IVARS);
        }
        self.sized(SYMBOL, raw)?;
        match spelling {
            Spelling::Ascii => {}
            Spelling::Utf8 => {
                self.long(1);
                self.encoding_flag(true)?;
            }
            Spelling::Named(name) => {
                self.long(1);
                self.encoding_name(name)?;
            }
        }
        Ok(index)
    }

    /// Writes a symbol of text.
    #[inline]
    pub(super) fn text_symbol(&mut self, name: &str) -> Result {
        let spelling = if name.is_ascii() { Spelling::Ascii } else { Spelling::Utf8 };
        self.symbol(name.as_bytes(), spelling).map(drop)
    }

    /// Writes the symbol `encoding` and the name: the string the first time, then a link to it.
    pub(super) fn encoding_name(&mut self, name: &str) -> Result {
        self.symbol(b"encoding", Spelling::Ascii)?;
        match self.encodings.get(name) {
            Some(object) => {
                let object = *object;
                self.link(object)
            }
            None => {
                self.encodings.insert(name.into(), self.objects);
                self.objects += 1;
                self.sized(STRING, name.as_bytes())
            }
        }
    }

    pub(super) fn link(&mut self, object: u64) -> Result {
        let object = i32::try_from(object).map_err(|_| {
            Error::unrepresentable("found more objects than Ruby Marshal can number: 2147483647")
        })?;
        self.counted.room(1 + LONG_BYTES)?;
        self.counted.out.push(LINK);
        self.long(object);
        Ok(())
    }

    /// Writes an integer that is not a fixnum.
    #[inline(never)]
    fn big_integer(&mut self, negative: bool, magnitude: &[u8]) -> Result {
        self.prepare_object()?;
        let words = magnitude.len().div_ceil(2);
        let count = i32::try_from(words).map_err(|_| too_long(magnitude.len()))?;
        self.counted.room(2 + LONG_BYTES + 2 * words)?;
        self.counted.out.push_array([BIGNUM, if negative { b'-' } else { b'+' }]);
        self.long(count);
        self.counted.out.extend(magnitude);
        if magnitude.len() % 2 == 1 {
            self.counted.out.push(0);
        }
        self.counted.count += 1;
        Ok(())
    }

    #[inline(never)]
    fn word(&mut self, negative: bool, v: u64) -> Result {
        let bytes = v.to_le_bytes();
        let length = 8 - v.leading_zeros() as usize / 8;
        self.big_integer(negative, &bytes[..length])
    }

    /// Numbers the current value.
    #[inline]
    pub(super) fn prepare_object(&mut self) -> Result {
        if !self.plain {
            self.prepare()?;
            self.take_anchors();
        }
        self.objects += 1;
        Ok(())
    }

    /// Writes a value of one byte.
    #[inline]
    fn byte(&mut self, byte: u8, leaf: impl FnOnce() -> Value) -> Result {
        if !self.plain {
            self.prepare_leaf(leaf)?;
        }
        self.counted.room(1)?;
        self.counted.out.push(byte);
        self.counted.count += 1;
        Ok(())
    }

    pub(super) fn fixnum(&mut self, v: i32) {
        self.counted.out.push(FIXNUM);
        self.long(v);
    }
}

/// How a symbol's encoding is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Spelling<'a> {
    /// Not at all: ASCII, or bytes.
    Ascii,
    Utf8,
    Named(&'a str),
}

#[cold]
fn too_long(length: usize) -> Error {
    Error::unrepresentable(format!(
        "found a value of {length} bytes, which Ruby Marshal cannot hold: its largest length is {}",
        i32::MAX
    ))
}

impl Sink for Writer<'_> {
    #[inline]
    fn null(&mut self) -> Result {
        self.byte(NIL, || Value::Null)
    }
    #[inline]
    fn bool(&mut self, v: bool) -> Result {
        self.byte(if v { TRUE } else { FALSE }, || Value::Bool(v))
    }
    #[inline]
    fn i64(&mut self, v: i64) -> Result {
        if !FIXNUM_RANGE.contains(&v) {
            return self.word(v < 0, v.unsigned_abs());
        }
        if !self.plain {
            self.prepare_leaf(|| Value::Int(v))?;
        }
        self.counted.room(1 + LONG_BYTES)?;
        self.fixnum(v as i32);
        self.counted.count += 1;
        Ok(())
    }
    #[inline]
    fn u64(&mut self, v: u64) -> Result {
        match i64::try_from(v) {
            Ok(v) => self.i64(v),
            Err(_) => self.word(false, v),
        }
    }
    #[inline]
    fn f64(&mut self, v: f64) -> Result {
        if notation::has_payload(v) && fidelity::nan_payload(self, v)? {
            return Ok(());
        }
        self.prepare_object()?;
        let mut buffer = [0; float::TEXT_BYTES];
        let text = float::text(v, &mut buffer);
        self.counted.room(2 + float::TEXT_BYTES)?;
        self.counted.out.extend_with_header([FLOAT, text.len() as u8 + 5], text);
        self.counted.count += 1;
        Ok(())
    }
    #[inline]
    fn str(&mut self, v: &str) -> Result {
        if !self.plain {
            return self.special_text(v.as_bytes(), Some(v));
        }
        self.counted.count += 1;
        self.plain_text(v)
    }
    #[inline]
    fn key(&mut self, k: &str) -> Result {
        match self.counted.kind() {
            Kind::Map => self.plain_text(k),
            Kind::Fields => self.text_symbol(k),
            Kind::WatchedMap => self.watched_text(k),
            Kind::IdentityMap => self.plain_text(k),
            _ => self.special_key(k),
        }
    }
    #[inline]
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        if !self.plain && !self.prepare_array(len)? {
            return Ok(());
        }
        self.objects += 1;
        self.counted.room(1)?;
        self.counted.out.push(ARRAY);
        self.counted.begin(Kind::Array, len, 0)
    }
    #[inline]
    fn end_array(&mut self) -> Result {
        if self.counted.kind() == Kind::Set {
            return self.end_set();
        }
        self.counted.end()?;
        self.settle();
        Ok(())
    }
    #[inline]
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        let (mut byte, mut kind) = (HASH, Kind::Map);
        if !self.plain {
            match self.prepare_map(len)? {
                Some(found) => (byte, kind) = found,
                None => return Ok(()),
            }
        }
        self.objects += 1;
        self.counted.room(1)?;
        self.counted.out.push(byte);
        self.counted.begin(kind, len, 0)
    }
    #[inline]
    fn end_map(&mut self) -> Result {
        match self.counted.kind() {
            Kind::Ivars | Kind::Default => self.end_wrapper_map()?,
            Kind::WatchedMap => {
                self.equal_keys.close();
                self.counted.end()?;
            }
            _ => self.counted.end()?,
        }
        self.settle();
        Ok(())
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        if !self.plain {
            return self.special_text(v, None);
        }
        self.objects += 1;
        self.counted.count += 1;
        self.sized(STRING, v)
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        match v {
            BigInt::Binary { negative, magnitude } => self.big_integer(negative, magnitude),
            BigInt::Decimal { negative, digits } => {
                self.big_integer(negative, &number::magnitude(digits))
            }
        }
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        let written = match v {
            Ext::Symbol(name) => {
                if !self.plain {
                    self.prepare_leaf(|| Value::Ext(v.into()))?;
                }
                self.text_symbol(name)?;
                self.counted.count += 1;
                true
            }
            // A string marked as UTF-8 whose bytes are not: Ruby has those too.
            Ext::BrokenText(raw) => {
                self.broken_text(raw)?;
                true
            }
            Ext::Timestamp(at) => self.time(at, None)?,
            Ext::OffsetDateTime(text) => match moment::parse(text) {
                Some((at, offset)) => self.time(at, Some(offset))?,
                None => false,
            },
            Ext::Date(text) => match classes::julian_day(text) {
                Some(day) => {
                    self.date(day)?;
                    true
                }
                None => false,
            },
            Ext::Decimal(text) if !self.is_number(text) => match classes::decimal(text) {
                Some(payload) => {
                    self.decimal(&payload)?;
                    true
                }
                None => false,
            },
            Ext::Complex(real, imaginary)
                if !notation::has_payload(real) && !notation::has_payload(imaginary) =>
            {
                self.complex(real, imaginary)?;
                true
            }
            _ => false,
        };
        if written { Ok(()) } else { fidelity::ext(self, v) }
    }
    fn key_value(&mut self, k: &Value) -> Result {
        let kind = self.counted.kind();
        match (kind, k) {
            (Kind::Map | Kind::WatchedMap | Kind::IdentityMap, Value::Ext(name))
                if matches!(name.as_ext(), Ext::Symbol(_)) =>
            {
                let Ext::Symbol(name) = name.as_ext() else { unreachable!("just matched") };
                self.text_symbol(name)
            }
            (Kind::Map | Kind::WatchedMap | Kind::IdentityMap, k) => {
                if kind != Kind::IdentityMap
                    && let Some(clash) = self.clash(k)
                {
                    return self.equal_key(k, clash);
                }
                // A key is not an entry.
                let count = self.counted.count;
                k.drive(self)?;
                self.counted.count = count;
                Ok(())
            }
            (_, k) => self.special_key_value(k),
        }
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        self.begin_native(t)
    }
    fn end_typed(&mut self) -> Result {
        self.end_native()
    }
    fn holds_references(&mut self) -> bool {
        true
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        self.begin_named(id)
    }
    fn end_anchor(&mut self) -> Result {
        self.end_named()
    }
    fn alias(&mut self, id: u64) -> Result {
        self.refer(id)
    }
}

impl crate::Writer for Writer<'_> {
    fn end_document(&mut self) -> Result {
        debug_assert!(self.counted.depth() == 0, "a document ends when its containers have");
        self.counted.count = 0;
        self.begun = false;
        self.plain = false;
        self.objects = 0;
        self.symbols.clear();
        self.tail = None;
        self.encodings.clear();
        self.anchors.clear();
        debug_assert!(self.equal_keys.depth() == 0, "a map is forgotten when it ends");
        Ok(())
    }
    fn finish(&mut self) -> Result {
        self.counted.finish()
    }
    fn checkpoint(&mut self) {
        let symbols = self.symbols.len() as u32;
        let watched = self.equal_keys.depth();
        self.mark = Mark { begun: self.begun, objects: self.objects, symbols, watched };
        self.counted.checkpoint();
    }
    fn rollback(&mut self) {
        self.counted.rollback();
        let Mark { begun, objects, symbols, watched } = self.mark;
        while self.equal_keys.depth() > watched {
            self.equal_keys.close();
        }
        (self.begun, self.objects) = (begun, objects);
        self.symbols.retain(|_, index| *index < symbols);
        self.encodings.retain(|_, object| *object < objects);
        self.tail = self.tail.filter(|_| self.symbols.contains_key(&b"E"[..]));
        self.anchors.clear();
        self.frames.clear();
        self.named.clear();
        self.pending = Pending::default();
        self.plain = false;
    }
}
