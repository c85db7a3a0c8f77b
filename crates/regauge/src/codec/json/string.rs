//! JSON strings (RFC 8259 §7): [`plain`] for those without escapes, [`unescape`] for the rest.
//!
//! Text is trusted as UTF-8 only after a check: ASCII by the masks of the scan itself, the rest by
//! [`Utf8`], which looks ahead in growing steps because checking many short pieces costs more than
//! checking one long one.

#![allow(unsafe_code, reason = "text that was checked to be UTF-8")]

use crate::bytes::simd::{Block, sixteen};
use crate::policy::event::ShortText;

/// How far a window is known to be UTF-8. Belongs to one window: a new one needs a new `Utf8`.
pub(super) struct Utf8<'a> {
    bytes: &'a [u8],
    /// Everything between an earlier checked place and this index is UTF-8, and no character
    /// crosses it.
    to: usize,
    /// Everything from this index to `to` is checked.
    from: usize,
    step: usize,
}

/// The first look-ahead step, doubled each time: a short document pays for little more than its own
/// length.
const FIRST_STEP: usize = 256;
const LAST_STEP: usize = 16 << 10;

impl<'a> Utf8<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Utf8 { bytes, to: 0, from: 0, step: FIRST_STEP }
    }

    /// Returns whether `start..end`, which begins and ends next to an ASCII byte, is UTF-8.
    #[inline]
    fn check(&mut self, start: usize, end: usize) -> bool {
        (self.from <= start && end <= self.to) || self.look_ahead(start, end)
    }

    #[inline(never)]
    fn look_ahead(&mut self, start: usize, end: usize) -> bool {
        let mut ahead = (start + self.step).max(end).min(self.bytes.len());
        if ahead > end {
            // Not into the middle of a character: it has at most three continuation bytes.
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
        // The fault may be after the string, or be a character cut off by the window.
        simdutf8::basic::from_utf8(&self.bytes[start..end]).is_ok()
    }
}

/// Returns the string without escapes whose first byte is at `at`, and the index after its closing
/// quote. Otherwise returns `Err` with an index up to which it has neither quote, escape nor
/// control character: either the window ends there, or [`unescape`] decides.
#[inline(always)]
pub(super) fn plain<'a>(
    bytes: &'a [u8],
    start: usize,
    utf8: &mut Utf8<'a>,
) -> Result<(Plain<'a>, usize), usize> {
    let mut at = start;
    let mut high = 0;
    // Two blocks at once: whether a text ends in the first or the second is unpredictable.
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
                // SAFETY: all its bytes are ASCII, and it is shorter than 32.
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

/// Handles the last bytes of a window, which do not fill a register.
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

/// Returns the text of `start..at`, which has no quote and no escape; `high` is not 0 if it has any
/// byte outside ASCII.
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
    // SAFETY: all its bytes are ASCII, or it was checked to be UTF-8.
    Ok((Plain::Text(unsafe { std::str::from_utf8_unchecked(text) }), at + 1))
}

/// The text of a string without escapes.
pub(super) enum Plain<'a> {
    /// The usual case. A sink copies it without a branch on its length, which is unpredictable if
    /// texts have many lengths.
    Short(ShortText<'a>),
    Text(&'a str),
}

/// The buffer for the text of a string with escapes.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    bytes: Vec<u8>,
    /// Whether it contains lone surrogates; otherwise it is UTF-8.
    surrogates: bool,
}

/// The content of a string with escapes.
pub(super) enum Text<'a> {
    /// Valid text.
    Utf8(&'a str),
    /// Generalized UTF-8 with lone surrogates.
    Surrogates(&'a [u8]),
}

impl Scratch {
    /// Returns what [`unescape`] left here.
    #[inline]
    pub(super) fn text(&self) -> Text<'_> {
        if self.surrogates {
            return Text::Surrogates(&self.bytes);
        }
        debug_assert!(std::str::from_utf8(&self.bytes).is_ok());
        // SAFETY: only `unescape` writes here, and leaves nothing after a fault. It has checked the
        // raw text to be UTF-8, and an escape puts a whole character between two ASCII bytes of it,
        // so the result is UTF-8 too.
        Text::Utf8(unsafe { std::str::from_utf8_unchecked(&self.bytes) })
    }
}

/// Why [`unescape`] failed.
#[derive(Debug, PartialEq)]
pub(super) enum Fault {
    /// The bytes end inside the string.
    Cut,
    /// A control character.
    Control,
    /// The bytes from the backslash at the index are not an escape.
    Escape,
    /// A `\u` escape lacks hexadecimal digits; the index is that of the invalid byte.
    Hex,
    /// A byte that is not UTF-8.
    Utf8,
}

/// Decodes a string with escapes, whose first byte is at `start` and which is plain up to `at`,
/// into `scratch`; returns the index after its closing quote.
///
/// A fault is returned with its index, and is the first in the string.
pub(super) fn unescape(
    bytes: &[u8],
    start: usize,
    at: usize,
    utf8: &mut Utf8<'_>,
    scratch: &mut Scratch,
) -> Result<usize, (Fault, usize)> {
    let Scratch { bytes: text, surrogates } = scratch;
    text.clear();
    *surrogates = false;
    let found = if at - start <= LARGE {
        text.extend_from_slice(&bytes[start..at]);
        unescape_into(bytes, at, text, surrogates, LARGE)
    } else {
        Ok(Stop::Long(at))
    };
    let found = match found {
        Ok(Stop::Quote(end)) => Ok(end),
        Ok(Stop::Long(from)) => unescape_long(bytes, (start, at, from), text, surrogates),
        Err(fault) => Err(fault),
    };
    let end = match found {
        Ok(end) | Err((_, end)) => end,
    };
    // Invalid UTF-8 before the end, or before another fault, is reported first.
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

/// A string that is longer is read to its end before it is copied: a copy of one that is broken, or has no
/// end yet, is of no use.
const LARGE: usize = 1 << 20;

/// Decodes a long string that begins at `start`, has its first escape at `at`, and is known to be right
/// up to `from`. Returns the index of the closing quote.
#[cold]
fn unescape_long(
    bytes: &[u8],
    (start, at, mut from): (usize, usize, usize),
    scratch: &mut Vec<u8>,
    surrogates: &mut bool,
) -> Result<usize, (Fault, usize)> {
    let end = loop {
        scratch.clear();
        match unescape_into(bytes, from, scratch, surrogates, LARGE)? {
            Stop::Long(next) => from = next,
            Stop::Quote(end) => break end,
        }
    };
    scratch.clear();
    scratch.extend_from_slice(&bytes[start..at]);
    unescape_into(bytes, at, scratch, surrogates, usize::MAX)?;
    Ok(end)
}

/// Where decoding stopped.
enum Stop {
    /// The index of the closing quote.
    Quote(usize),
    /// The index to continue from.
    Long(usize),
}

/// How much text is decoded with one reservation.
const PIECE: usize = 16 << 10;

/// Decodes up to the closing quote, or until the scratch buffer has more than `most` bytes.
fn unescape_into(
    bytes: &[u8],
    mut at: usize,
    scratch: &mut Vec<u8>,
    surrogates: &mut bool,
    most: usize,
) -> Result<Stop, (Fault, usize)> {
    loop {
        if scratch.len() > most {
            return Ok(Stop::Long(at));
        }
        let end = bytes.len().min(at + PIECE);
        scratch.reserve(end - at + 16);
        let length = scratch.len();
        // SAFETY: there is room for as many bytes as the piece has, and for sixteen more.
        let (written, found) = unsafe {
            let to = scratch.as_mut_ptr().add(length);
            unescape_piece(&bytes[..end], bytes, &mut at, to, surrogates)
        };
        debug_assert!(length + written <= scratch.capacity());
        // SAFETY: so many bytes were written.
        unsafe { scratch.set_len(length + written) };
        match found {
            End::Quote(quote) => return Ok(Stop::Quote(quote)),
            End::Fault(fault) => return Err(fault),
            End::OfPiece => {}
        }
    }
}

/// Where decoding a piece ended.
enum End {
    /// The index of the closing quote.
    Quote(usize),
    Fault((Fault, usize)),
    OfPiece,
}

/// Decodes up to the closing quote, a fault, or the end of a piece of the window, whichever comes first; an escape that
/// begins in the piece may end after it. Moves `at` on; returns how many bytes were written, and what was found.
///
/// # Safety
/// As many bytes as the piece has after `at`, and sixteen, must be writable at `to`.
unsafe fn unescape_piece(
    piece: &[u8],
    bytes: &[u8],
    at: &mut usize,
    to: *mut u8,
    surrogates: &mut bool,
) -> (usize, End) {
    let (mut from, mut written) = (*at, 0);
    // At each step at most as much was written as was read: an escape is longer than its character.
    let found = loop {
        // The plain run: copied sixteen bytes at a time, of which those count that belong to it.
        while let Some(run) = sixteen(piece, from) {
            // SAFETY: not more was written than read, so there is room for sixteen.
            unsafe { to.add(written).cast::<[u8; 16]>().write_unaligned(*run) };
            let stops = Block::load(run).string_stops();
            if stops != 0 {
                let count = stops.trailing_zeros() as usize;
                (from, written) = (from + count, written + count);
                break;
            }
            (from, written) = (from + 16, written + 16);
        }
        let byte = match piece.get(from) {
            None if piece.len() < bytes.len() => break End::OfPiece,
            None => break End::Fault((Fault::Cut, from)),
            Some(b'"') => break End::Quote(from),
            Some(0..0x20) => break End::Fault((Fault::Control, from)),
            Some(b'\\') => match bytes.get(from + 1) {
                None => break End::Fault((Fault::Cut, bytes.len())),
                Some(b'u') => match unicode(bytes, from, surrogates) {
                    Err(fault) => break End::Fault(fault),
                    Ok((text, length, end)) => {
                        // SAFETY: the escape is longer than the text, so there is room for four bytes.
                        unsafe { to.add(written).cast::<[u8; 4]>().write_unaligned(text) };
                        (from, written) = (end, written + length);
                        continue;
                    }
                },
                Some(&letter) => match UNESCAPED[usize::from(letter)] {
                    0 => break End::Fault((Fault::Escape, from)),
                    byte => {
                        from += 1;
                        byte
                    }
                },
            },
            Some(&byte) => byte,
        };
        // SAFETY: as above.
        unsafe { to.add(written).write(byte) };
        (from, written) = (from + 1, written + 1);
    };
    *at = from;
    (written, found)
}

/// The byte that each letter after a backslash stands for; 0 if it is not an escape, or `u`.
static UNESCAPED: [u8; 256] = {
    let mut table = [0; 256];
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'/' as usize] = b'/';
    table[b'b' as usize] = 8;
    table[b'f' as usize] = 12;
    table[b'n' as usize] = b'\n';
    table[b'r' as usize] = b'\r';
    table[b't' as usize] = b'\t';
    table
};

/// Decodes the escape `\uXXXX` at `at`, or two that form a pair; returns its bytes, how many they are, and the index
/// after it.
#[inline]
fn unicode(
    bytes: &[u8],
    at: usize,
    surrogates: &mut bool,
) -> Result<([u8; 4], usize, usize), (Fault, usize)> {
    let first = hex(bytes, at + 2)?;
    let mut end = at + 6;
    let mut code = u32::from(first);
    if first & 0xFC00 == 0xD800 {
        // If the other half is cut off, so is the string.
        if bytes.get(end) == Some(&b'\\') && bytes.get(end + 1) == Some(&b'u') {
            let second = hex(bytes, end + 2)?;
            if second & 0xFC00 == 0xDC00 {
                code = 0x10000 + (u32::from(first & 0x3FF) << 10) + u32::from(second & 0x3FF);
                end += 6;
            }
        }
    }
    let mut buffer = [0; 4];
    let length = match char::from_u32(code) {
        Some(char) => char.encode_utf8(&mut buffer).len(),
        None => {
            *surrogates = true;
            let code = code as u16;
            buffer[..3].copy_from_slice(&[
                0xE0 | (code >> 12) as u8,
                0x80 | (code >> 6 & 0x3F) as u8,
                0x80 | (code & 0x3F) as u8,
            ]);
            3
        }
    };
    Ok((buffer, length, end))
}

/// The value of each hexadecimal digit; 0xFF for other bytes.
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

/// The result of a search for the end of a string that the window cut off.
#[derive(Debug, PartialEq)]
pub(super) enum Search {
    /// The string can be read whole, or to its fault.
    Found,
    /// Not before this index, where a later search continues.
    GoOn(usize),
}

/// Looks for the closing quote or a control character from `at` on, which must not be inside an
/// escape. Avoids scanning a long string from its start for each of many small pieces.
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
