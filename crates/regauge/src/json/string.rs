//! Strings of JSON (RFC 8259 §7): [`plain`] for those without escapes, [`unescape`] for the rest.
//!
//! Text is UTF-8 only after it was checked: ASCII by the masks of the scan itself, the rest by
//! [`Utf8`], which looks ahead in growing steps, since checking many short pieces costs more than
//! checking one long one.

#![allow(unsafe_code, reason = "text that was checked to be UTF-8")]

use super::simd::{Block, sixteen};
use crate::event::ShortText;

/// How far a window is known to be UTF-8. Belongs to one window: a new one needs a new `Utf8`.
pub(super) struct Utf8<'a> {
    bytes: &'a [u8],
    /// Everything between some checked place before and this index is UTF-8, and no character
    /// goes across it.
    to: usize,
    /// Everything from this index to `to` is checked.
    from: usize,
    step: usize,
}

/// The first step of looking ahead, doubled each time: a short document pays for little more
/// than itself.
const FIRST_STEP: usize = 256;
const LAST_STEP: usize = 16 << 10;

impl<'a> Utf8<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Utf8 { bytes, to: 0, from: 0, step: FIRST_STEP }
    }

    /// Tells whether `start..end`, which begins and ends beside an ASCII byte, is UTF-8.
    #[inline]
    fn check(&mut self, start: usize, end: usize) -> bool {
        (self.from <= start && end <= self.to) || self.look_ahead(start, end)
    }

    #[inline(never)]
    fn look_ahead(&mut self, start: usize, end: usize) -> bool {
        let mut ahead = (start + self.step).max(end).min(self.bytes.len());
        if ahead > end {
            // Not into the middle of a character: one has three continuation bytes at most.
            let floor = ahead.saturating_sub(3).max(end);
            while ahead > floor && self.bytes.get(ahead).is_some_and(|b| b & 0xC0 == 0x80) {
                ahead -= 1;
            }
        }
        if simdutf8::basic::from_utf8(&self.bytes[start..ahead]).is_ok() {
            (self.from, self.to) = (start, ahead);
            self.step = (self.step * 2).min(LAST_STEP);
            return true;
        }
        // What is wrong may lie behind the string, or be cut off by the window.
        simdutf8::basic::from_utf8(&self.bytes[start..end]).is_ok()
    }
}

/// The string without escapes whose first byte stands at `at`, and the index behind its closing
/// quote. Otherwise `Err` with an index up to which it has neither quote, escape, nor control
/// character: the window ends there, or [`unescape`] tells what it is.
#[inline(always)]
pub(super) fn plain<'a>(
    bytes: &'a [u8],
    start: usize,
    utf8: &mut Utf8<'a>,
) -> Result<(Plain<'a>, usize), usize> {
    let mut at = start;
    let mut high = 0;
    // Two blocks at once: whether a text ends in the first or in the second nobody foresees.
    if let Some(window) = bytes.get(start..).and_then(|rest| rest.first_chunk::<32>()) {
        let (first, second) = Block::load_two(window);
        let stops = first.string_stops() | second.string_stops() << 16;
        high = first.high() | second.high() << 16;
        if stops != 0 {
            let length = stops.trailing_zeros() as usize;
            at += length;
            if bytes[at] != b'"' {
                return Err(at);
            }
            // The bits below the first stop.
            high &= (stops ^ (stops - 1)) >> 1;
            if high == 0 {
                // SAFETY: no byte of it is outside of ASCII, and it is shorter than 32.
                return Ok((Plain::Short(unsafe { ShortText::known(window, length) }), at + 1));
            }
            return finish_plain(bytes, start, at, high, utf8);
        }
        at += 32;
    }
    loop {
        let Some(block) = sixteen(bytes, at) else {
            return plain_tail(bytes, start, at, high, utf8);
        };
        let block = Block::load(block);
        let stops = block.string_stops();
        if stops != 0 {
            // The bits below the first stop.
            high |= block.high() & (stops ^ (stops - 1)) >> 1;
            at += stops.trailing_zeros() as usize;
            break;
        }
        high |= block.high();
        at += 16;
    }
    if bytes[at] != b'"' {
        return Err(at);
    }
    finish_plain(bytes, start, at, high, utf8)
}

/// The last bytes of a window, which fill no register.
#[cold]
fn plain_tail<'a>(
    bytes: &'a [u8],
    start: usize,
    mut at: usize,
    mut high: u32,
    utf8: &mut Utf8<'a>,
) -> Result<(Plain<'a>, usize), usize> {
    loop {
        match bytes.get(at) {
            Some(b'"') => return finish_plain(bytes, start, at, high, utf8),
            Some(b'\\' | 0..0x20) | None => return Err(at),
            Some(byte) => {
                high |= u32::from(*byte) & 0x80;
                at += 1;
            }
        }
    }
}

/// The text of `start..at`, which has no quote and no escape; `high` is not 0 if there is something
/// outside of ASCII in it.
#[inline(always)]
fn finish_plain<'a>(
    bytes: &'a [u8],
    start: usize,
    at: usize,
    high: u32,
    utf8: &mut Utf8<'a>,
) -> Result<(Plain<'a>, usize), usize> {
    if high != 0 && !utf8.check(start, at) {
        return Err(at);
    }
    let text = &bytes[start..at];
    // SAFETY: no byte of it is outside of ASCII, or it was checked to be UTF-8.
    Ok((Plain::Text(unsafe { std::str::from_utf8_unchecked(text) }), at + 1))
}

/// The text of a string without escapes.
pub(super) enum Plain<'a> {
    /// Nearly every one. A sink that copies it has no branch on its length, which nobody foresees where texts
    /// are of all lengths.
    Short(ShortText<'a>),
    Text(&'a str),
}

/// The text of a string with escapes.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    bytes: Vec<u8>,
    /// Whether there are lone surrogates in it; otherwise it is UTF-8.
    surrogates: bool,
}

/// What a string with escapes holds.
pub(super) enum Text<'a> {
    /// Text as it should be.
    Utf8(&'a str),
    /// Generalized UTF-8 with lone surrogates.
    Surrogates(&'a [u8]),
}

impl Scratch {
    /// What [`unescape`] left here.
    #[inline]
    pub(super) fn text(&self) -> Text<'_> {
        if self.surrogates {
            return Text::Surrogates(&self.bytes);
        }
        debug_assert!(std::str::from_utf8(&self.bytes).is_ok());
        // SAFETY: only `unescape` writes here, and leaves nothing behind a fault. It has checked
        // the raw text to be UTF-8, and an escape puts a whole character between two ASCII bytes
        // of it, so that what came out is UTF-8 as well.
        Text::Utf8(unsafe { std::str::from_utf8_unchecked(&self.bytes) })
    }
}

/// Why [`unescape`] failed.
#[derive(Debug, PartialEq)]
pub(super) enum Fault {
    /// The bytes end inside the string.
    Cut,
    /// A control character stands there.
    Control,
    /// What follows the backslash at the index is no escape.
    Escape,
    /// A `\u` escape lacks hexadecimal digits; the index is that of the byte that is none.
    Hex,
    /// A byte that is not UTF-8.
    Utf8,
}

/// Puts the text of a string with escapes, whose first byte stands at `start` and which is plain up
/// to `at`, into `scratch`; gives the index behind its closing quote.
///
/// A fault comes with its index, and is the first of the string.
pub(super) fn unescape(
    bytes: &[u8],
    start: usize,
    at: usize,
    utf8: &mut Utf8<'_>,
    scratch: &mut Scratch,
) -> Result<usize, (Fault, usize)> {
    let Scratch { bytes: text, surrogates } = scratch;
    text.clear();
    text.extend_from_slice(&bytes[start..at]);
    *surrogates = false;
    let found = unescape_into(bytes, at, text, surrogates);
    let end = match found {
        Ok(end) | Err((_, end)) => end,
    };
    // A fault of the text before the end, or before another fault, comes first.
    if !utf8.check(start, end) {
        text.clear();
        if let Err(error) = std::str::from_utf8(&bytes[start..end]) {
            let cut = error.error_len().is_none() && matches!(found, Err((Fault::Cut, _)));
            if !cut {
                return Err((Fault::Utf8, start + error.valid_up_to()));
            }
        }
    }
    if found.is_err() {
        text.clear();
    }
    found.map(|end| end + 1)
}

/// Gives the index of the closing quote.
fn unescape_into(
    bytes: &[u8],
    mut at: usize,
    scratch: &mut Vec<u8>,
    surrogates: &mut bool,
) -> Result<usize, (Fault, usize)> {
    loop {
        // The plain run: copied sixteen at a time, then cut to what belongs to it.
        while let Some(run) = sixteen(bytes, at) {
            scratch.extend_from_slice(run);
            let stops = Block::load(run).string_stops();
            if stops != 0 {
                let count = stops.trailing_zeros() as usize;
                scratch.truncate(scratch.len() - 16 + count);
                at += count;
                break;
            }
            at += 16;
        }
        let byte = match bytes.get(at) {
            None => return Err((Fault::Cut, at)),
            Some(b'"') => return Ok(at),
            Some(0..0x20) => return Err((Fault::Control, at)),
            Some(b'\\') => match bytes.get(at + 1) {
                None => return Err((Fault::Cut, bytes.len())),
                Some(b'"') => b'"',
                Some(b'\\') => b'\\',
                Some(b'/') => b'/',
                Some(b'b') => 8,
                Some(b'f') => 12,
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                Some(b'u') => {
                    at = unicode(bytes, at, scratch, surrogates)?;
                    continue;
                }
                Some(_) => return Err((Fault::Escape, at)),
            },
            Some(byte) => {
                scratch.push(*byte);
                at += 1;
                continue;
            }
        };
        scratch.push(byte);
        at += 2;
    }
}

/// The escape `\uXXXX` at `at`, or two of them that are a pair; gives the index behind.
#[inline]
fn unicode(
    bytes: &[u8],
    at: usize,
    scratch: &mut Vec<u8>,
    surrogates: &mut bool,
) -> Result<usize, (Fault, usize)> {
    let first = hex(bytes, at + 2)?;
    let mut end = at + 6;
    let mut code = u32::from(first);
    if first & 0xFC00 == 0xD800 {
        // The other half may be cut off: then the string is cut anyway.
        if bytes.get(end) == Some(&b'\\') && bytes.get(end + 1) == Some(&b'u') {
            let second = hex(bytes, end + 2)?;
            if second & 0xFC00 == 0xDC00 {
                code = 0x10000 + (u32::from(first & 0x3FF) << 10) + u32::from(second & 0x3FF);
                end += 6;
            }
        }
    }
    match char::from_u32(code) {
        Some(char) => {
            let mut buffer = [0; 4];
            scratch.extend_from_slice(char.encode_utf8(&mut buffer).as_bytes());
        }
        None => {
            *surrogates = true;
            let code = code as u16;
            scratch.extend_from_slice(&[
                0xE0 | (code >> 12) as u8,
                0x80 | (code >> 6 & 0x3F) as u8,
                0x80 | (code & 0x3F) as u8,
            ]);
        }
    }
    Ok(end)
}

/// The value of each hexadecimal digit; 0xFF for a byte that is none.
static HEX: [u8; 256] = {
    let mut table = [0xFF; 256];
    let mut digit = 0;
    while digit < 16 {
        table[b"0123456789abcdef"[digit] as usize] = digit as u8;
        table[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    table
};

fn hex(bytes: &[u8], at: usize) -> Result<u16, (Fault, usize)> {
    let digits = bytes.get(at..).unwrap_or(&[]);
    let mut code = 0;
    let mut all = 0;
    if let Some(four) = digits.first_chunk::<4>() {
        for byte in four {
            let digit = HEX[usize::from(*byte)];
            code = code << 4 | u16::from(digit & 15);
            all |= digit;
        }
        if all <= 15 {
            return Ok(code);
        }
    }
    match digits.iter().take(4).position(|b| HEX[usize::from(*b)] > 15) {
        Some(index) => Err((Fault::Hex, at + index)),
        None => Err((Fault::Cut, bytes.len())),
    }
}

/// Where the search for the end of a string went, which the window cut off.
#[derive(Debug, PartialEq)]
pub(super) enum Search {
    /// The string can be read whole, or to its fault.
    Found,
    /// Not before this index, where a later search goes on.
    GoOn(usize),
}

/// Looks for the closing quote or a control character from `at` on, which must not lie within an
/// escape. So a long string in many small pieces is not scanned from its start each time.
pub(super) fn find_end(bytes: &[u8], mut at: usize) -> Search {
    loop {
        while let Some(run) = sixteen(bytes, at) {
            let stops = Block::load(run).string_stops();
            if stops != 0 {
                at += stops.trailing_zeros() as usize;
                break;
            }
            at += 16;
        }
        match bytes.get(at) {
            None => return Search::GoOn(at),
            Some(b'\\') if at + 1 >= bytes.len() => return Search::GoOn(at),
            Some(b'\\') => at += 2,
            Some(b'"' | 0..0x20) => return Search::Found,
            Some(_) => at += 1,
        }
    }
}
