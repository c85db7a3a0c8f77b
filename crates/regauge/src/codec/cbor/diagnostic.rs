//! Diagnostic notation (RFC 8949 §8): the bytes in human-readable form.

use std::fmt::Write as _;

use super::half;
use super::reader::reserved;
use super::types::*;
use crate::{Error, Format, Limits, Result};

/// An open item, and how it ends.
enum Open {
    /// An array, a map or a chunked string: the items so far, the number of items if it is known,
    /// and the closing bracket.
    Items { seen: u64, count: Option<u64>, map: bool, close: &'static str },
    /// A tag.
    Tag,
}

/// Returns the items of `bytes` in diagnostic notation, separated by commas like the items of a
/// CBOR sequence (RFC 8742 §4.2). Indefinite lengths show as `_`.
///
/// ```
/// let text = regauge::cbor::diagnostic(b"\xC1\x9F\x18\x2A\x41\x01\xF9\x3E\x00\xFF")?;
/// assert_eq!(text, "1([_ 42, h'01', 1.5])");
/// # Ok::<(), regauge::Error>(())
/// ```
///
/// # Errors
/// `Syntax` and `Truncated` with their offset; `Limit` beyond [`Limits::DEPTH_CEILING`].
pub fn diagnostic(bytes: &[u8]) -> Result<String> {
    let mut text = String::new();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    let fail = |error: Error, at: usize| Err(error.at(at as u64).in_format(Format::Cbor));
    loop {
        if at == bytes.len() {
            if open.is_empty() {
                return Ok(text);
            }
            return fail(Error::truncated("the input ends inside an item"), at);
        }
        let Some((initial, word)) = token(&bytes[at..]) else {
            return fail(Error::truncated("the input ends inside the head of an item"), at);
        };
        let (major, info) = (initial >> 5, initial & 31);
        let argument = argument(initial, word);
        if initial == BREAK {
            let Some(Open::Items { count: None, close, .. }) = open.pop() else {
                return fail(Error::syntax("found a break, expected an item"), at);
            };
            text.push_str(close);
            at += 1;
            finish(&mut open, &mut text);
            continue;
        }
        let no_length = matches!(major, major::UNSIGNED | major::NEGATIVE | major::TAG);
        if (28..INDEFINITE).contains(&info) || info == INDEFINITE && no_length {
            return fail(reserved(initial), at);
        }
        text.push_str(separator(&open, &text));
        let start = at;
        at += head_bytes(initial);
        let container = match major {
            major::BYTES | major::TEXT if info == INDEFINITE => Some((None, false, "(_ ", ")")),
            major::BYTES | major::TEXT => {
                let length = usize::try_from(argument).unwrap_or(usize::MAX);
                let Some(string) = bytes[at..].get(..length) else {
                    return fail(Error::truncated("the input ends inside a string"), start);
                };
                at += length;
                if major == major::BYTES {
                    let _ = write!(text, "h'{}'", crate::model::text::hex(string));
                } else {
                    let _ = write!(text, "{:?}", String::from_utf8_lossy(string));
                }
                None
            }
            major::ARRAY if info == INDEFINITE => Some((None, false, "[_ ", "]")),
            major::ARRAY => Some((Some(argument), false, "[", "]")),
            major::MAP if info == INDEFINITE => Some((None, true, "{_ ", "}")),
            major::MAP => Some((Some(argument.saturating_mul(2)), true, "{", "}")),
            major::TAG => {
                let _ = write!(text, "{argument}(");
                open.push(Open::Tag);
                if open.len() > Limits::DEPTH_CEILING as usize {
                    return fail(Error::limit("found items nested too deep"), start);
                }
                continue;
            }
            major::UNSIGNED => {
                let _ = write!(text, "{argument}");
                None
            }
            major::NEGATIVE => {
                let _ = write!(text, "{}", -1 - i128::from(argument));
                None
            }
            _ => {
                other(initial, word, &mut text);
                None
            }
        };
        let Some((count, map, opening, close)) = container else {
            finish(&mut open, &mut text);
            continue;
        };
        text.push_str(opening);
        if count == Some(0) {
            text.push_str(close);
            finish(&mut open, &mut text);
            continue;
        }
        open.push(Open::Items { seen: 0, count, map, close });
        if open.len() > Limits::DEPTH_CEILING as usize {
            return fail(Error::limit("found items nested too deep"), start);
        }
    }
}

/// Returns the text that goes before the next item.
fn separator(open: &[Open], text: &str) -> &'static str {
    match open.last() {
        None if text.is_empty() => "",
        Some(Open::Tag | Open::Items { seen: 0, .. }) => "",
        Some(Open::Items { seen, map: true, .. }) if seen % 2 == 1 => ": ",
        _ => ", ",
    }
}

/// Ends an item, and every container whose last item it is.
fn finish(open: &mut Vec<Open>, text: &mut String) {
    loop {
        match open.last_mut() {
            None => return,
            Some(Open::Tag) => text.push(')'),
            Some(Open::Items { seen, count, close, .. }) => {
                *seen += 1;
                if Some(*seen) != *count {
                    return;
                }
                text.push_str(close);
            }
        }
        open.pop();
    }
}

/// Writes a simple value or a float.
fn other(initial: u8, word: u64, text: &mut String) {
    let number = match initial {
        FALSE => return text.push_str("false"),
        TRUE => return text.push_str("true"),
        NULL => return text.push_str("null"),
        UNDEFINED => return text.push_str("undefined"),
        FLOAT16 => f64::from(half::to_f32((word >> 48) as u16)),
        FLOAT32 => f64::from(f32::from_bits((word >> 32) as u32)),
        FLOAT64 => f64::from_bits(word),
        _ => {
            let _ = write!(text, "simple({})", argument(initial, word));
            return;
        }
    };
    if number.is_finite() {
        let _ = write!(text, "{number:?}");
    } else if number.is_nan() {
        text.push_str("NaN");
    } else {
        text.push_str(if number > 0.0 { "Infinity" } else { "-Infinity" });
    }
}
