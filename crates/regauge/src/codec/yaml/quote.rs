//! Chooses how text is written, so that every reader reads the same text.
//!
//! Readers differ in what plain text means: `yes` is a boolean in YAML 1.1, `1:30` the number 90,
//! `2001-01-01` a date; Psych takes `1,000` for a number and `:a` for a symbol, and merges a map
//! under the key `"<<"` even though it is quoted. So text is plain only if no reader of YAML 1.1 or
//! 1.2 takes it for anything else, whichever reader is used:
//!
//! - text that begins like a number (a digit, `+`, `-`, `.`) needs a letter that no number, date or
//!   time of day has in any of these grammars: `10 Downing Street` is plain, `'1.2.3'` is not;
//! - the words that mean null or a boolean anywhere, in any case, are quoted;
//! - an initial indicator is quoted whatever follows, except a dash as in `-v`.
//!
//! Advice for editors: `tools/yaml_readers_check.py` checks everything that is decided here with
//! PyYAML, ruamel.yaml and Psych.

use super::quote_simd::{Marks, doubtful};

/// How a piece of text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Unchanged.
    Plain,
    /// In single quotes, without escapes.
    Single,
    /// In double quotes, with escapes.
    Double,
    /// A block of lines after `|`.
    Literal,
}

/// The position of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a block sequence, or after a key of a block map.
    Value,
    /// A key of a block map, which stays on its line.
    Key,
    /// Anywhere between brackets, where `,` and the brackets are separators.
    Flow,
}

/// Returns the style for this text.
pub(super) fn style(text: &str, place: Place) -> Style {
    let bytes = text.as_bytes();
    if is_plain(bytes) && (place != Place::Flow || !separates(text)) {
        return Style::Plain;
    }
    quoted_style(bytes, place)
}

/// Returns whether text has a character that is a separator between brackets, so that it must be
/// quoted there.
pub(crate) fn separates(text: &str) -> bool {
    text.bytes().any(|byte| FLOW.contains(&byte))
}

/// Returns the style for text that cannot be plain.
#[inline(never)]
pub(super) fn quoted_style(bytes: &[u8], place: Place) -> Style {
    let mut seen = 0;
    for byte in bytes {
        seen |= KINDS[usize::from(*byte)];
    }
    if seen & DOUBTFUL != 0 && !is_printable(bytes) {
        return Style::Double;
    }
    match seen & (ESCAPED | LINE | QUOTE) {
        0 => Style::Single,
        QUOTE => Style::Double,
        found if found & ESCAPED != 0 => Style::Double,
        _ if place == Place::Value && is_literal(bytes) => Style::Literal,
        _ => Style::Double,
    }
}

/// Returns whether text with lines, whose characters are all allowed in a literal block, comes back
/// from one, even after an editor that strips trailing blanks.
fn is_literal(bytes: &[u8]) -> bool {
    !matches!(bytes.first(), None | Some(b' ' | b'\n'))
        && bytes.last() != Some(&b' ')
        && memchr::memmem::find(bytes, b" \n").is_none()
}

/// Separators between brackets, now or for older readers.
const FLOW: [u8; 7] = *b",[]{}:?";

/// Kinds of bytes inside text, as bits.
static KINDS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = ESCAPED;
        byte += 1;
    }
    table[b'\n' as usize] = LINE;
    table[0x7F] = ESCAPED;
    table[b'\'' as usize] = QUOTE;
    table[0xC2] = DOUBTFUL;
    table[0xE2] = DOUBTFUL;
    table[0xEF] = DOUBTFUL;
    table
};

/// Must be escaped. A tab could be literal except at the edge of a line, but it would be invisible.
const ESCAPED: u8 = 1;
/// A newline.
const LINE: u8 = 2;
/// `'`
const QUOTE: u8 = 4;
/// Begins a character that may need an escape.
const DOUBTFUL: u8 = 8;

/// Returns whether the text can be written without quotes in a block; between brackets, [`FLOW`]
/// also matters. The bytes must be UTF-8.
#[inline]
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return false };
    if matches!(last, b' ' | b':') || FIRST[usize::from(first)] != LETTER && !begins_plain(bytes) {
        return false;
    }
    let mut high = 0;
    if bytes.len() < 16 {
        let marks = Marks::of(&padded(bytes));
        let inside = (1 << bytes.len()) - 1;
        if marks.bad() & inside != 0 {
            return false;
        }
        high = marks.high & inside;
    } else {
        // The last byte before a block counts for the block's pairs, and the last block overlaps.
        let (mut before_colon, mut before_space) = (0, 0);
        let mut blocks = bytes.chunks_exact(16);
        for block in &mut blocks {
            let marks = Marks::of(block.try_into().expect("sixteen bytes"));
            if marks.bad() | before_colon & marks.space | before_space & marks.hash != 0 {
                return false;
            }
            (before_colon, before_space) = (marks.colon >> 15, marks.space >> 15);
            high |= marks.high;
        }
        if !blocks.remainder().is_empty() {
            let marks = Marks::of(bytes.last_chunk().expect("sixteen bytes at least"));
            if marks.bad() != 0 {
                return false;
            }
            high |= marks.high;
        }
    }
    high == 0 || is_printable(bytes)
}

/// Same as [`is_plain`], for ASCII of less than 32 bytes at the beginning of a window, with no
/// branch on the length.
#[inline(always)]
pub(super) fn is_plain_short(window: &[u8; 32], length: usize) -> bool {
    if length == 0 || length >= 32 {
        return false;
    }
    let (first, last) = (window[0], window[length - 1]);
    if matches!(last, b' ' | b':') {
        return false;
    }
    let (low, high) = window.split_at(16);
    let (Some(low), Some(high)) = (low.first_chunk(), high.first_chunk()) else { return false };
    let marks = Marks::of(low).and(Marks::of(high));
    if marks.bad() & ((1 << length) - 1) != 0 {
        return false;
    }
    FIRST[usize::from(first)] == LETTER || begins_plain(&window[..length])
}

/// Returns text of less than 16 bytes, padded with zeros.
#[inline(always)]
fn padded(bytes: &[u8]) -> [u8; 16] {
    let length = bytes.len();
    // Two overlapping loads; the second is shifted to its place.
    let whole = if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        u128::from(first) | u128::from(last) << (8 * (length - 8))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        u128::from(u64::from(first) | u64::from(last) << (8 * (length - 4)))
    } else {
        bytes.iter().rev().fold(0, |whole, byte| whole << 8 | u128::from(*byte))
    };
    whole.to_le_bytes()
}

/// Returns whether every character outside ASCII can be written unescaped: not those that YAML
/// forbids (C1 controls, U+FFFE, U+FFFF), not those that YAML 1.1 treats as line breaks (U+0085,
/// U+2028, U+2029), not the byte order mark. The bytes must be UTF-8.
#[inline(never)]
pub(super) fn is_printable(bytes: &[u8]) -> bool {
    let mut at = 0;
    while let Some(block) = bytes[at..].first_chunk() {
        let mut found = doubtful(block);
        while found != 0 {
            if !is_printable_at(&bytes[at + found.trailing_zeros() as usize..]) {
                return false;
            }
            found &= found - 1;
        }
        at += 16;
    }
    (at..bytes.len()).all(|at| is_printable_at(&bytes[at..]))
}

/// Returns whether the character whose first byte this is can be written unescaped; `true` inside a
/// character.
pub(super) fn is_printable_at(bytes: &[u8]) -> bool {
    !matches!(
        bytes,
        [0xC2, 0x80..=0x9F, ..]
            | [0xE2, 0x80, 0xA8 | 0xA9, ..]
            | [0xEF, 0xBB, 0xBF, ..]
            | [0xEF, 0xBF, 0xBE | 0xBF, ..]
    )
}

/// What a first byte implies.
static FIRST: [u8; 256] = {
    let mut table = [LETTER; 256];
    let mut byte = 0;
    while byte <= 0x20 {
        table[byte] = INDICATOR;
        byte += 1;
    }
    let mut list = b"?:,[]{}#&*!|>'\"%@`".as_slice();
    while let [byte, rest @ ..] = list {
        table[*byte as usize] = INDICATOR;
        list = rest;
    }
    list = b"0123456789+-.";
    while let [byte, rest @ ..] = list {
        table[*byte as usize] = NUMBER;
        list = rest;
    }
    list = b"ynYNtfTFoO~=<";
    while let [byte, rest @ ..] = list {
        table[*byte as usize] = WORD;
        list = rest;
    }
    table
};

/// Nothing.
const LETTER: u8 = 0;
/// It may begin a word with a meaning.
const WORD: u8 = 1;
/// It may begin a number, a date, a time of day, or the end of a document.
const NUMBER: u8 = 2;
/// It must be quoted.
const INDICATOR: u8 = 3;

/// Returns whether text that does not begin with an indicator is also not taken for anything else.
#[inline(never)]
fn begins_plain(bytes: &[u8]) -> bool {
    match FIRST[usize::from(bytes[0])] {
        WORD => !is_word(bytes),
        NUMBER => {
            // A dash before a blank is an item; three dashes or dots are a document marker.
            !matches!(bytes, [b'-'] | [b'-', b' ', ..] | [b'-', b'-', b'-', ..])
                && !bytes.starts_with(b"...")
                && bytes.iter().any(|byte| !IN_NUMBERS[usize::from(*byte)])
        }
        LETTER => true,
        _ => false,
    }
}

/// Returns whether the text is null or a boolean of YAML 1.1 in any case, or its value or merge
/// key.
fn is_word(bytes: &[u8]) -> bool {
    const WORDS: [&[u8]; 12] =
        [b"~", b"=", b"<<", b"y", b"n", b"no", b"on", b"off", b"yes", b"true", b"null", b"false"];
    bytes.len() <= 5 && WORDS.iter().any(|word| bytes.eq_ignore_ascii_case(word))
}

/// The characters of numbers, dates and times: those of the core schema, of YAML 1.1 (with `_`,
/// base 60, `0b`), of Psych (with `,`), `.inf` and `.nan`.
static IN_NUMBERS: [bool; 256] = {
    let mut table = [false; 256];
    let mut list = b"0123456789abcdefABCDEFxXoOtTzZiInN+-._,: ".as_slice();
    while let [byte, rest @ ..] = list {
        table[*byte as usize] = true;
        list = rest;
    }
    table
};

#[cfg(test)]
#[path = "tests/quote.rs"]
mod tests;
