//! Writes events as JSON.
//!
//! Every value is followed by a comma, and the end of its container overwrites the last one, so
//! that nothing has to be checked before a value. The last byte gives the writer's state: `[` or
//! `{` before the first value, `,` after a value. So that byte stays in memory when the others are
//! flushed. Advice for editors: keep to that, and [`rollback`](crate::Writer::rollback) needs no
//! state but the depth.

use super::escape::{self, quoted, quoted_short};
use super::numbers;
use crate::bytes::buffer::Out;
use crate::model::hint::Hint;
use crate::model::number;
use crate::model::number::float::FloatStyle;
use crate::model::option::Opt;
use crate::model::value::Value;
use crate::options::json::WriteOptions;
use crate::policy::event::{BigInt, Ext, ShortText, Sink};
use crate::policy::fidelity::{self, Fidelity, OnLoss};
use crate::{Error, Format, Result};

/// Turns events into bytes.
#[derive(Debug)]
pub struct Writer<'o> {
    out: Out<'o>,
    options: WriteOptions,
    /// No indentation, no spaces, no escapes of characters outside ASCII, default float style: tokens
    /// are simply concatenated.
    plain: bool,
    fidelity: Fidelity,
    documents: u64,
    /// How many containers are open, counted only with indentation or raw text: counting them always
    /// made MessagePack to JSON take 4% more time on citm_catalog, 8% on twitter.
    depth: u32,
    /// Bytes must stay in memory from this position on: the byte before the position that a
    /// rollback returns to; `u64::MAX` without a checkpoint, and with one that the output returns to.
    floor: u64,
    /// The depth that a rollback returns to.
    checkpoint_depth: u32,
}

/// The bytes after a text, and after a key's text.
const COMMA: [u8; 2] = *b"\",";
const COLON: [u8; 2] = *b"\":";

/// The room that [`quoted_short`] needs.
const SHORT_BYTES: usize = 35;

/// The room that one token other than text needs at most, with a comma and the preceding newline.
const TOKEN_BYTES: usize = 48;

/// A token that is written in one piece.
enum Token<'a> {
    /// A literal of the grammar with its comma.
    Word(&'static [u8]),
    /// Whether it is negative, and its bits.
    Integer(bool, u64),
    Double(f64),
    Text(&'a str),
    Key(&'a str),
    Begin(u8),
    End(u8),
}

impl<'o> Writer<'o> {
    /// Creates a writer into `out`. Values that JSON cannot hold follow the policy of `fidelity`.
    pub fn new(out: Out<'o>, options: WriteOptions, fidelity: Fidelity) -> Writer<'o> {
        Writer {
            out,
            plain: options.indent.is_none()
                && !options.spaced
                && !options.raw_text
                && !options.escape_non_ascii
                && options.float_style == FloatStyle::Shortest,
            options,
            fidelity,
            documents: 0,
            depth: 0,
            floor: u64::MAX,
            checkpoint_depth: 0,
        }
    }

    /// Returns the buffer, for the bytes that are in memory: see [`Out::into_vec`].
    #[inline]
    pub fn into_out(self) -> Out<'o> {
        self.out
    }

    /// Returns the position from which on bytes must stay in memory: that of the last byte, unless
    /// a rollback needs more.
    #[inline(always)]
    fn keep(&self) -> u64 {
        self.out.position().saturating_sub(1).min(self.floor)
    }

    /// Returns whether a token of this many bytes can be written directly. If not, the whole token
    /// goes through [`slow`](Writer::slow), so that the fast path saves no registers for it.
    #[inline(always)]
    fn ready(&self, bytes: usize) -> bool {
        self.plain && self.out.has_room(bytes)
    }

    #[cold]
    #[inline(never)]
    fn slow(&mut self, token: Token<'_>) -> Result {
        match token {
            Token::Text(text) => return self.slow_text(text),
            Token::Key(key) => return self.slow_key(key),
            Token::End(bracket) => return self.slow_end(bracket),
            _ => self.value()?,
        }
        match token {
            Token::Word(word) => self.out.extend(word),
            Token::Integer(negative, bits) => {
                numbers::integer(&mut self.out, negative, bits);
            }
            Token::Double(v) => match self.options.float_style {
                FloatStyle::Shortest => numbers::double(&mut self.out, v),
                style => {
                    self.out.extend(style.text(v).as_bytes());
                    self.out.push(b',');
                }
            },
            Token::Begin(bracket) => {
                self.depth += u32::from(self.counts_depth());
                self.out.push(bracket);
            }
            Token::Text(_) | Token::Key(_) | Token::End(_) => unreachable!("handled above"),
        }
        Ok(())
    }

    fn holds_many(&self) -> bool {
        self.options.lines || self.options.sequence
    }

    fn counts_depth(&self) -> bool {
        self.options.indent.is_some() || self.options.raw_text
    }

    fn slow_text(&mut self, text: &str) -> Result {
        if self.options.raw_text && self.depth == 0 {
            return self.token(text);
        }
        self.value()?;
        escape::escaped(&mut self.out, text, COMMA, self.floor, self.options.escape_non_ascii)
    }

    fn slow_key(&mut self, key: &str) -> Result {
        self.before_key()?;
        escape::escaped(&mut self.out, key, COLON, self.floor, self.options.escape_non_ascii)?;
        self.space_after_colon()
    }

    fn slow_end(&mut self, bracket: u8) -> Result {
        if self.counts_depth() {
            debug_assert!(self.depth > 0, "an end without a beginning");
            self.depth -= 1;
        }
        self.out.room(TOKEN_BYTES, self.keep())?;
        if self.options.indent.is_some() && self.out.last() == Some(b',') {
            return self.end_on_new_line(bracket);
        }
        self.close(bracket);
        Ok(())
    }

    /// Makes room for a token of up to [`TOKEN_BYTES`], and starts its line.
    fn value(&mut self) -> Result {
        self.out.room(TOKEN_BYTES, self.keep())?;
        if self.options.indent.is_some() {
            return self.new_line_in_array();
        }
        self.space_after_comma();
        Ok(())
    }

    /// The same for a key.
    fn before_key(&mut self) -> Result {
        self.out.room(TOKEN_BYTES, self.keep())?;
        if self.options.indent.is_some() {
            return self.new_line();
        }
        self.space_after_comma();
        Ok(())
    }

    fn space_after_comma(&mut self) {
        if self.options.spaced && self.out.last() == Some(b',') {
            self.out.push(b' ');
        }
    }

    #[inline(never)]
    fn new_line_in_array(&mut self) -> Result {
        if self.options.lines {
            return Err(Error::unrepresentable(
                "found an indentation in the options, expected each document on one line of NDJSON",
            )
            .hint(Hint::into(Format::Json).to("indent")));
        }
        match self.out.last() {
            Some(b'[' | b',') => self.new_line(),
            // After a key, or at the beginning of a document.
            _ => Ok(()),
        }
    }

    #[inline(never)]
    fn new_line(&mut self) -> Result {
        let width = usize::from(self.options.indent.unwrap_or(0)) * self.depth as usize;
        // Room for the token's own bytes was made before and still exists.
        self.out.room(width + 1 + TOKEN_BYTES, self.keep())?;
        self.out.push(b'\n');
        for _ in 0..width {
            self.out.push(b' ');
        }
        Ok(())
    }

    #[inline(always)]
    fn begin(&mut self, bracket: u8) -> Result {
        if !self.ready(1) {
            return self.slow(Token::Begin(bracket));
        }
        self.out.push(bracket);
        Ok(())
    }

    #[inline(always)]
    fn end(&mut self, bracket: u8) -> Result {
        if !self.ready(2) {
            return self.slow(Token::End(bracket));
        }
        self.close(bracket);
        Ok(())
    }

    /// Closes a container, overwriting the comma after its last value if any.
    #[inline(always)]
    fn close(&mut self, bracket: u8) {
        match self.out.last() {
            Some(b',') => {
                self.out.replace_last(bracket);
                self.out.push(b',');
            }
            _ => self.out.push_array([bracket, b',']),
        }
    }

    #[inline(never)]
    fn end_on_new_line(&mut self, bracket: u8) -> Result {
        self.out.replace_last(b'\n');
        for _ in 0..usize::from(self.options.indent.unwrap_or(0)) * self.depth as usize {
            self.out.room(1, self.keep())?;
            self.out.push(b' ');
        }
        self.out.room(2, self.keep())?;
        self.out.push_array([bracket, b',']);
        Ok(())
    }

    /// Writes an unquoted token of any length.
    fn token(&mut self, text: &str) -> Result {
        self.value()?;
        self.out.room(text.len() + 1, self.keep())?;
        self.out.extend(text.as_bytes());
        self.out.push(b',');
        Ok(())
    }

    fn space_after_colon(&mut self) -> Result {
        if self.options.indent.is_some() || self.options.spaced {
            self.out.room(1, self.keep())?;
            self.out.push(b' ');
        }
        Ok(())
    }

    /// Writes generalized UTF-8 with its lone surrogates as escapes; the caller has checked that it
    /// is well formed.
    fn surrogates(&mut self, parts: &[Part<'_>], tail: [u8; 2]) -> Result {
        self.out.push(b'"');
        for part in parts {
            match part {
                Part::Text(text) => {
                    let ascii = self.options.escape_non_ascii;
                    escape::unquoted(&mut self.out, text, self.floor, ascii)?;
                }
                Part::Surrogate(unit) => {
                    self.out.room(6, self.keep())?;
                    self.out.push_array(escape::unicode(*unit));
                }
            }
        }
        self.out.room(2, self.keep())?;
        self.out.push_array(tail);
        Ok(())
    }
}

impl Sink for Writer<'_> {
    #[inline]
    fn null(&mut self) -> Result {
        if !self.ready(5) {
            return self.slow(Token::Word(b"null,"));
        }
        self.out.push_array(*b"null,");
        Ok(())
    }
    #[inline]
    fn bool(&mut self, v: bool) -> Result {
        if !self.ready(6) {
            return self.slow(Token::Word(if v { b"true," } else { b"false," }));
        }
        match v {
            true => self.out.push_array(*b"true,"),
            false => self.out.push_array(*b"false,"),
        }
        Ok(())
    }
    #[inline]
    fn constant(&mut self, v: Option<bool>) -> Result {
        const WORDS: [([u8; 8], usize); 3] =
            [(*b"false,..", 6), (*b"true,...", 5), (*b"null,...", 5)];
        let (word, count) = WORDS[v.map_or(2, usize::from)];
        if !self.ready(word.len()) {
            return match v {
                None => self.null(),
                Some(v) => self.bool(v),
            };
        }
        self.out.push_filled(count, |to| *to = word);
        Ok(())
    }
    // A function call for each integer, which moves the state through memory, made citm_catalog
    // from MessagePack take 12% more time.
    #[inline(always)]
    fn i64(&mut self, v: i64) -> Result {
        if !self.ready(TOKEN_BYTES) {
            return self.slow(Token::Integer(v < 0, v as u64));
        }
        numbers::integer(&mut self.out, v < 0, v as u64);
        Ok(())
    }
    #[inline]
    fn u64(&mut self, v: u64) -> Result {
        if !self.ready(TOKEN_BYTES) {
            return self.slow(Token::Integer(false, v));
        }
        numbers::integer(&mut self.out, false, v);
        Ok(())
    }
    #[inline]
    fn f64(&mut self, v: f64) -> Result {
        if !v.is_finite() {
            return fidelity::non_finite(self, v);
        }
        if !self.ready(TOKEN_BYTES) {
            return self.slow(Token::Double(v));
        }
        numbers::double(&mut self.out, v);
        Ok(())
    }
    #[inline]
    fn str(&mut self, v: &str) -> Result {
        if self.ready(v.len() + 3) && quoted(&mut self.out, v, COMMA) {
            return Ok(());
        }
        self.slow(Token::Text(v))
    }
    #[inline]
    fn begin_array(&mut self, _len: Option<u64>) -> Result {
        self.begin(b'[')
    }
    #[inline]
    fn end_array(&mut self) -> Result {
        self.end(b']')
    }
    #[inline]
    fn begin_map(&mut self, _len: Option<u64>) -> Result {
        self.begin(b'{')
    }
    #[inline]
    fn key(&mut self, k: &str) -> Result {
        if self.ready(k.len() + 3) && quoted(&mut self.out, k, COLON) {
            return Ok(());
        }
        self.slow(Token::Key(k))
    }
    #[inline]
    fn end_map(&mut self) -> Result {
        self.end(b'}')
    }
    #[inline]
    fn text_pair(&mut self, k: &str, v: &str) -> Result {
        if self.ready(k.len() + v.len() + 8) {
            let start = self.out.held().len();
            self.out.push(b'{');
            if quoted(&mut self.out, k, COLON) && quoted(&mut self.out, v, *b"\"}") {
                self.out.push(b',');
                return Ok(());
            }
            self.out.held_mut().truncate(start);
        }
        self.begin_map(Some(1))?;
        self.key(k)?;
        self.str(v)?;
        self.end_map()
    }

    #[inline]
    fn short_str(&mut self, v: ShortText<'_>) -> Result {
        if self.ready(SHORT_BYTES) && quoted_short(&mut self.out, v, COMMA) {
            return Ok(());
        }
        self.slow(Token::Text(v.as_str()))
    }
    #[inline]
    fn short_key(&mut self, k: ShortText<'_>) -> Result {
        if self.ready(SHORT_BYTES) && quoted_short(&mut self.out, k, COLON) {
            return Ok(());
        }
        self.slow(Token::Key(k.as_str()))
    }

    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }

    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        self.token(&number::big_int_text(v))
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        match v {
            Ext::Decimal(text)
                if self.options.exact_numbers || self.fidelity.policy() != OnLoss::Wrap =>
            {
                self.token(text)
            }
            Ext::Surrogates(text) => match parts(text) {
                Some(parts) => {
                    self.value()?;
                    self.surrogates(&parts, COMMA)
                }
                None => fidelity::ext(self, v),
            },
            _ => fidelity::ext(self, v),
        }
    }
    fn key_value(&mut self, k: &Value) -> Result {
        let parts = match k {
            Value::Surrogates(text) => parts(text),
            _ => None,
        };
        let Some(parts) = parts else { return fidelity::key_value(self, k) };
        self.before_key()?;
        self.surrogates(&parts, COLON)?;
        self.space_after_colon()
    }
}

/// Suggests formats for several documents: the lines of NDJSON or an array hold any number.
#[cold]
fn one_only(purpose: &'static str) -> Hint {
    Hint::into(Format::Ndjson).or(Hint::set(Opt::Documents, "join").to(purpose))
}

impl crate::policy::event::Writer for Writer<'_> {
    fn end_document(&mut self) -> Result {
        if self.documents > 0 && !self.holds_many() {
            return Err(Error::unrepresentable(
                "found a second document, expected one in a JSON file",
            )
            .hint(one_only("put them into an array")));
        }
        debug_assert_eq!(self.out.last(), Some(b','));
        self.out.replace_last(b'\n');
        self.documents += 1;
        Ok(())
    }

    fn finish(&mut self) -> Result {
        if self.documents == 0 && !self.holds_many() {
            return Err(Error::unrepresentable("found no document, expected one in a JSON file")
                .hint(one_only("write an empty array")));
        }
        self.out.finish()
    }

    fn checkpoint(&mut self) {
        self.checkpoint_depth = self.depth;
        if self.out.checkpoint_in_output() {
            return;
        }
        self.floor = self.out.position().saturating_sub(1);
        self.out.checkpoint();
    }

    fn rollback(&mut self) {
        self.depth = self.checkpoint_depth;
        self.out.rollback();
    }
}

/// A run of generalized UTF-8.
#[derive(Debug, PartialEq)]
enum Part<'a> {
    Text(&'a str),
    Surrogate(u16),
}

/// Splits generalized UTF-8 into runs; `None` if it is invalid, or if two successive surrogates
/// form a pair, because reading the escapes back would combine them.
fn parts(mut bytes: &[u8]) -> Option<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    loop {
        let valid = match std::str::from_utf8(bytes) {
            Ok(_) => bytes.len(),
            Err(error) => error.valid_up_to(),
        };
        let (text, rest) = bytes.split_at(valid);
        if !text.is_empty() {
            parts.push(Part::Text(std::str::from_utf8(text).ok()?));
        }
        match rest {
            [] => return Some(parts),
            [0xED, second @ 0xA0..=0xBF, third @ 0x80..=0xBF, after @ ..] => {
                let unit = 0xD000 | u16::from(second & 0x3F) << 6 | u16::from(third & 0x3F);
                if let (Some(Part::Surrogate(0xD800..0xDC00)), 0xDC00..) = (parts.last(), unit) {
                    return None;
                }
                parts.push(Part::Surrogate(unit));
                bytes = after;
            }
            _ => return None,
        }
    }
}
