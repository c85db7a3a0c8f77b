//! Shows the place of a fault: a line with a caret for text, a window of bytes for binary data.

use std::fmt::Write as _;
use std::io::{self, Read};

use crate::model::text::is_hidden;

/// Characters of a line that are shown before and after the fault.
const CONTEXT_CHARS: usize = 36;
/// Bytes of a line that are kept on each side before they are cut to characters.
const CONTEXT_BYTES: usize = 4 * CONTEXT_CHARS;

/// The position of an offset, and what the input looks like there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line and column, both from 1, the column in characters; for text only.
    pub line_column: Option<(u64, u64)>,
    /// Two lines: the input, and marks under the fault.
    pub excerpt: String,
}

/// Reads `input` to a little after `offset` and shows the place.
///
/// # Errors
/// `Io` errors from reading.
pub fn place(mut input: impl Read, offset: u64, is_text: bool) -> io::Result<Place> {
    let mut buffer = vec![0; 64 << 10];
    let mut seen: u64 = 0;
    let mut line: u64 = 1;
    let mut column: u64 = 1;
    // The last bytes before the offset (of its line, in text), and the first bytes from the offset
    // on.
    let mut before: Vec<u8> = Vec::new();
    let mut after: Vec<u8> = Vec::new();
    while after.len() < CONTEXT_BYTES {
        let got = input.read(&mut buffer)?;
        if got == 0 {
            break;
        }
        let cut = (offset.saturating_sub(seen)).min(got as u64) as usize;
        let (head, tail) = buffer[..got].split_at(cut);
        if is_text {
            line += memchr::memchr_iter(b'\n', head).count() as u64;
            if let Some(end) = memchr::memrchr(b'\n', head) {
                column = 1;
                before.clear();
                column += characters(&head[end + 1..]);
            } else {
                column += characters(head);
            }
        }
        let start = match memchr::memrchr(b'\n', head) {
            Some(end) if is_text => end + 1,
            _ => 0,
        };
        before.extend_from_slice(&head[start..]);
        let excess = before.len().saturating_sub(CONTEXT_BYTES);
        before.drain(..excess);
        after.extend_from_slice(&tail[..tail.len().min(CONTEXT_BYTES)]);
        seen += got as u64;
    }
    let excerpt = if is_text { text_window(&before, &after) } else { hex_window(&before, &after) };
    Ok(Place { line_column: is_text.then_some((line, column)), excerpt })
}

/// Counts the characters of UTF-8 by their first bytes.
fn characters(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| (**byte as i8) >= -0x40).count() as u64
}

fn text_window(before: &[u8], after: &[u8]) -> String {
    let clean = |bytes: &[u8]| -> Vec<char> {
        String::from_utf8_lossy(bytes)
            .chars()
            .map(|c| if is_hidden(c) { '\u{FFFD}' } else { c })
            .collect()
    };
    let line_end = memchr::memchr(b'\n', after).unwrap_or(after.len());
    let before = clean(before);
    let after = clean(after[..line_end].strip_suffix(b"\r").unwrap_or(&after[..line_end]));
    let start = before.len().saturating_sub(CONTEXT_CHARS);
    let mut text: String = if start > 0 { "…".into() } else { String::new() };
    text.extend(&before[start..]);
    let indent = text.chars().count();
    text.extend(after.iter().take(CONTEXT_CHARS));
    if after.len() > CONTEXT_CHARS {
        text.push('…');
    }
    let _ = write!(text, "\n{}^", " ".repeat(indent));
    text
}

fn hex_window(before: &[u8], after: &[u8]) -> String {
    let before = &before[before.len().saturating_sub(8)..];
    let after = &after[..after.len().min(8)];
    let mut hex = String::new();
    let mut text = String::new();
    for byte in before.iter().chain(after) {
        let _ = write!(hex, "{byte:02x} ");
        text.push(if byte.is_ascii_graphic() { char::from(*byte) } else { '.' });
    }
    let indent = " ".repeat(3 * before.len());
    format!("{hex} |{text}|\n{indent}^^")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &[u8], offset: u64, line_column: (u64, u64), excerpt: &str) {
        let found = place(input, offset, true).unwrap();
        assert_eq!(found.line_column, Some(line_column));
        assert_eq!(found.excerpt, excerpt);
    }

    #[test]
    fn text() {
        check(b"[1, 2}", 5, (1, 6), "[1, 2}\n     ^");
        check("[\n \"é\", x\n]".as_bytes(), 9, (2, 7), " \"é\", x\n      ^");
        check(b"[1", 2, (1, 3), "[1\n  ^");
    }

    #[test]
    fn a_long_line_is_cut() {
        let line = [b'a'; 1000];
        let found = place(&line[..], 500, true).unwrap();
        assert_eq!(found.line_column, Some((1, 501)));
        assert_eq!(found.excerpt.lines().next().unwrap().chars().count(), 2 * CONTEXT_CHARS + 2);
    }

    #[test]
    fn binary() {
        let found = place(&b"\x82\xA1a\xC1\xFF"[..], 3, false).unwrap();
        assert_eq!(found.line_column, None);
        assert_eq!(found.excerpt, "82 a1 61 c1 ff  |..a..|\n         ^^");
    }
}
