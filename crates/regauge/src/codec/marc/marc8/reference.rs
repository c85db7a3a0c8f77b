//! Numeric character references, the Library's lossless technique for characters without a MARC-8
//! code.
//!
//! A reference is `&#x`, four to six digits `0-9A-F` without unnecessary zeros, `;`. Only
//! references that the encoder writes are resolved, that is those to characters without a code, so
//! that other text of this form is left alone. If text would be resolved by accident, its ampersand
//! is written as `&#x0026;`, and that is resolved only before such text: the two directions are
//! inverses.

use std::borrow::Cow;

use unicode_normalization::char::decompose_canonical;

use super::encode::is_syllable;
use super::lookup::{code_of, is_mark_character};

/// Returns `text` with the references that [`super::encode_with_references`] writes turned back
/// into characters. Everything else is unchanged, including references to characters that MARC-8
/// has.
pub fn resolve_references(text: &str) -> Cow<'_, str> {
    if !text.contains("#x") {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut kept = 0;
    for (at, _) in text.match_indices('&') {
        // Marks over a referenced character come after its first byte.
        let rest = &text[at + 1..];
        let marks = rest.len() - rest.trim_start_matches(is_mark_character).len();
        let (marks, rest) = rest.split_at(marks);
        let Some((c, length)) = parse(rest) else { continue };
        if !(is_referred(c) || c == '&' && needs_escape(&rest[length..])) {
            continue;
        }
        out.push_str(&text[kept..at]);
        out.push(c);
        out.push_str(marks);
        kept = at + 1 + marks.len() + length;
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// Returns whether an ampersand before `text` would form a reference that is resolved.
pub(super) fn needs_escape(text: &str) -> bool {
    let mut rest = text;
    while let Some((c, length)) = parse(rest) {
        if is_referred(c) {
            return true;
        }
        if c != '&' {
            return false;
        }
        rest = &rest[length..];
    }
    false
}

/// Writes the reference to `c`.
pub(super) fn write(c: char, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("&#x{:04X};", c as u32).as_bytes());
}

/// Returns whether the encoder writes `c` as a reference: no set has it, and it has no parts that
/// would be written in its place.
fn is_referred(c: char) -> bool {
    if c.is_ascii() || code_of(c).is_some() || matches!(c, '\u{360}' | '\u{361}') {
        return false;
    }
    let mut whole = true;
    decompose_canonical(c, |part| whole &= part == c);
    whole || is_syllable(c)
}

/// Parses `#x`, digits and `;` at the start of `text`. Returns the character and the length.
fn parse(text: &str) -> Option<(char, usize)> {
    let digits = text.strip_prefix("#x")?;
    let length = digits.bytes().take(7).position(|b| b == b';')?;
    let digits = &digits[..length];
    let canonical = length == 4 || (length > 4 && !digits.starts_with('0'));
    if !canonical || !digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F')) {
        return None;
    }
    Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, length + 3))
}
