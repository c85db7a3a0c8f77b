//! The reader's rare cases: unusual whitespace, comments, cut-off tokens, unusual numbers and
//! strings, and the text of every error.

use super::reader::{Comment, Parser, State};
use super::string::{self, Fault, Search, Utf8};
use crate::bytes::reader::Status;
use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::model::number as digits;
use crate::model::number::grammar::{self, Scan};
use crate::model::option::Opt;
use crate::model::text::shorten;
use crate::options::json::Framing;
use crate::policy::event::{BigInt, Ext, Sink};
use crate::policy::fidelity::LossKind;
use crate::{Error, ErrorKind, Format, Result};

/// How [`Parser::unusual`] handled a byte.
pub(super) enum Unusual {
    /// Whitespace or a comment ends here: look again.
    GoOn(usize),
    /// The window ends inside it.
    More(usize),
    /// A container ends after a comma, which was allowed.
    Close,
    /// One of the non-finite numbers, and the index after it.
    NonFinite(f64, usize),
}

/// How a string or a number that the fast path did not accept was handled.
pub(super) enum Slow {
    /// It was sent, or is in the scratch buffer, and ends before this index.
    Token(usize),
    /// It is cut off by the window.
    More,
}

impl State {
    /// Returns what a message gives as expected.
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

impl Parser {
    /// Returns whether a double needs further processing before it is sent.
    #[inline(always)]
    pub(super) fn numbers_are_special(&self) -> bool {
        self.options.exact_numbers | self.options.count_rounded
    }

    /// Handles a window that ends where a token should begin: how the call ends, or `None` for
    /// [`Status::More`].
    #[cold]
    pub(super) fn at_end(&self, at: usize, last: bool, state: State) -> Result<Option<Status>> {
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

    /// Returns the index after the byte order mark, if any; `None` while that is undecided.
    #[cold]
    pub(super) fn start(&self, bytes: &[u8], at: usize, last: bool) -> Result<Option<usize>> {
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

    /// Handles a byte that `state` does not expect.
    #[cold]
    #[inline(never)]
    pub(super) fn unusual(
        &mut self,
        bytes: &[u8],
        at: usize,
        last: bool,
        state: State,
    ) -> Result<Unusual> {
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
                (format!("{found} after a comma"), state.expects(in_map))
            }
            (_, State::Done) if self.lines() => {
                (format!("{found} after the document"), "the end of the line")
            }
            (_, State::Done) => (format!("{found} after the document"), "the end of the input"),
            _ => (found, state.expects(in_map)),
        };
        let error = Error::syntax(format!("found {found}, expected {expected}")).at(at as u64);
        Err(match self.advice(bytes, at, state, is_value) {
            Some(hint) => error.hint(hint),
            None => error,
        })
    }

    /// Suggests a remedy for an unexpected byte. May look at later bytes only as far as [`found`]
    /// waits for them.
    fn advice(&self, bytes: &[u8], at: usize, state: State, is_value: bool) -> Option<Hint> {
        let word = word(bytes, at);
        Some(match bytes[at] {
            b'\n' => Hint::from(Format::Json).when("a document spans several lines"),
            b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n'
                if state == State::Done && !self.lines() =>
            {
                Hint::from(Format::Ndjson).when("every line holds a document")
            }
            b'/' if !self.options.comments => Hint::on(Opt::JsonComments).to("accept // and /* */"),
            b'}' if state == State::Key => Hint::on(Opt::JsonTrailingCommas).to("accept it"),
            b']' if state == State::Element => Hint::on(Opt::JsonTrailingCommas).to("accept it"),
            b'N' | b'I' if is_value && matches!(word, b"NaN" | b"Infinity") => accept_nan(),
            b'T' if is_value && word == b"True" => "JSON writes `true`".into(),
            b'F' if is_value && word == b"False" => "JSON writes `false`".into(),
            b'N' | b'u' if is_value && matches!(word, b"None" | b"NULL" | b"undefined") => {
                "JSON writes `null`".into()
            }
            b'+' if is_value => "JSON writes numbers without a plus sign".into(),
            b'.' if is_value => "JSON requires a digit before the decimal point".into(),
            b'\'' => "JSON strings need double quotes".into(),
            0xE2 if matches!(&bytes[at + 1..], [0x80, 0x9C | 0x9D, ..]) => {
                "JSON strings need straight double quotes".into()
            }
            _ => return None,
        })
    }

    /// Skips the current comment, which continues at `at`.
    #[cold]
    pub(super) fn comment(&mut self, bytes: &[u8], at: usize, last: bool) -> Result<Unusual> {
        let rest = &bytes[at..];
        let line_end = memchr::memchr(b'\n', rest);
        let end = match self.comment {
            Comment::Block => {
                let end = memchr::memmem::find(rest, b"*/").map(|index| index + 2);
                if let Some(line_end) = line_end
                    && self.lines()
                    && end.is_none_or(|end| line_end < end)
                {
                    return Err(Error::syntax(
                        "found the end of the line inside a comment, expected `*/`",
                    )
                    .hint(Hint::from(Format::Json).when("a document spans several lines"))
                    .at((at + line_end) as u64));
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
                // The star may belong to the end of the comment.
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

    /// Handles bytes at `at` that are not the `word` that their first byte suggested: returns
    /// whether more bytes are needed to decide.
    #[cold]
    pub(super) fn cut_word(
        &self,
        bytes: &[u8],
        at: usize,
        last: bool,
        word: &[u8],
    ) -> Result<bool> {
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
    pub(super) fn too_long(&self, at: usize) -> Error {
        let most = self.limits.token_bytes;
        Error::limit(format!("found a token of more than {most} bytes, the limit of token_bytes"))
            .hint(Hint::raise(Limit::TokenBytes))
            .at(at as u64)
    }

    /// Continues the search for the end of the token at `at` that an earlier window cut off:
    /// returns whether it can be read now.
    #[cold]
    pub(super) fn search(&mut self, bytes: &[u8], at: usize, last: bool) -> bool {
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
        // Near the limit, a full scan decides which comes first, the limit or a fault.
        if last || self.cut(bytes, at, stop).is_err() {
            return true;
        }
        false
    }

    /// Handles a token at `at` that is cut off by the window; the search for its end will continue
    /// at `stop`.
    pub(super) fn cut(&mut self, bytes: &[u8], at: usize, stop: usize) -> Result {
        // A string still needs its closing quote.
        let length = bytes.len() - at + usize::from(bytes[at] == b'"');
        if length as u64 > self.limits.token_bytes {
            return Err(self.too_long(at));
        }
        self.searched = stop - at;
        Ok(())
    }

    /// Decodes the string at `at`, which is plain only up to the index `plain`, into the scratch
    /// buffer.
    #[inline(never)]
    pub(super) fn slow_text(
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
        // Its second byte is needed to see that an escape is invalid.
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
            .hint("convert it first, for example: iconv -f LATIN1 -t UTF-8"),
        };
        Err(error.at(index as u64))
    }

    /// Sends the number at `at`, whatever its form, to the sink.
    #[inline(never)]
    pub(super) fn slow_number<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        at: usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Slow> {
        let scan = grammar::scan(bytes, at);
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
                    true => error.hint(accept_nan()),
                    false => error,
                };
                return Err(error.at(index as u64));
            }
            Scan::LeadingZero(index) => {
                return Err(Error::syntax(
                    "found a digit after a leading zero, expected a number without leading zeros",
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
            // Only the sign distinguishes it from 0, and an integer cannot hold it.
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
            .hint(Hint::raise(Limit::IntegerDigits))
            .at(at as u64));
        }
        sink.big_int(BigInt::Decimal { negative, digits })
    }

    fn double<S: Sink + ?Sized>(&mut self, text: &str, at: usize, sink: &mut S) -> Result {
        if self.options.exact_numbers {
            return sink.ext(Ext::Decimal(text));
        }
        let value: f64 = text.parse().expect("JSON's grammar is a subset of Rust's");
        if value.is_infinite() {
            return Err(Error::new(
                ErrorKind::Refused,
                format!(
                    "found the number {}, which is beyond the range of a double",
                    shorten(text)
                ),
            )
            .hint(Hint::set(Opt::Numbers, "exact").to("keep its digits"))
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

/// The number of bytes of a word that a message shows.
const WORD_BYTES: usize = 16;

fn accept_nan() -> Hint {
    Hint::on(Opt::JsonNan).to("accept NaN, Infinity and -Infinity")
}

/// Returns the letters and digits at `at`, as far as a message shows them.
fn word(bytes: &[u8], at: usize) -> &[u8] {
    let rest = &bytes[at..bytes.len().min(at + WORD_BYTES)];
    let length = rest.iter().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(rest.len());
    &rest[..length]
}

/// Describes the input at `at` for messages; `None` if the window cuts it off.
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

/// Same for a single character, even if it is a letter.
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
