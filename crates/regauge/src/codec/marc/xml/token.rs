//! The tokens of XML in a window, always whole.
//!
//! The boundaries are found here and not by quick-xml, because a window may end anywhere, and only
//! code that sees the boundaries can stop before a token that is cut off.

use crate::{Error, ErrorKind, Result};

/// A token and its parts, as ranges of the bytes examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'x> {
    /// Text up to the next markup, references not resolved.
    Text(&'x [u8]),
    /// A start tag or an empty element: everything from the name's first byte to `>` or `/>`.
    Start { content: &'x [u8], name: &'x [u8], empty: bool },
    /// An end tag: its name.
    End(&'x [u8]),
    /// The content of a CDATA section.
    CData(&'x [u8]),
    /// A processing instruction or the XML declaration: everything between `<?` and `?>`.
    Instruction(&'x [u8]),
    /// A comment, or a document type that declares nothing.
    Nothing,
}

/// Longer text is returned in pieces if it is added to what came before.
pub(super) const TEXT_PIECE: usize = 64 << 10;

/// Returns the token at the start of `bytes`, which must not be empty, and its length; `None` if it
/// is cut off. With `last`, nothing follows. With `pieces`, long text is returned in pieces.
///
/// # Errors
/// For invalid markup, with an offset from the start of `bytes`.
#[inline]
pub(super) fn token(bytes: &[u8], last: bool, pieces: bool) -> Result<Option<(Token<'_>, usize)>> {
    if bytes[0] != b'<' {
        let end = memchr::memchr(b'<', bytes);
        if pieces
            && end.unwrap_or(bytes.len()) > TEXT_PIECE
            && let Some(cut) = text_cut(&bytes[..TEXT_PIECE])
        {
            return Ok(Some((Token::Text(&bytes[..cut]), cut)));
        }
        return match end {
            Some(end) => Ok(Some((Token::Text(&bytes[..end]), end))),
            None if last => Ok(Some((Token::Text(bytes), bytes.len()))),
            None => Ok(None),
        };
    }
    match bytes.get(1) {
        Some(b'/') => {
            let Some(end) = memchr::memchr(b'>', bytes) else { return cut(bytes, last, "a tag") };
            Ok(Some((Token::End(bytes[2..end].trim_ascii_end()), end + 1)))
        }
        Some(b'!') => bang(bytes, last),
        Some(b'?') => match memchr::memmem::find(&bytes[2..], b"?>") {
            Some(end) => Ok(Some((Token::Instruction(&bytes[2..end + 2]), end + 4))),
            None => cut(bytes, last, "a processing instruction"),
        },
        Some(_) => start(bytes, last),
        None => cut(bytes, last, "a tag"),
    }
}

/// Returns where `text`, which goes on, may be cut: not inside a character, a reference, a line end
/// or `]]>`.
#[cold]
fn text_cut(text: &[u8]) -> Option<usize> {
    // No reference is longer.
    let tail = text.len().checked_sub(16)?;
    let mut cut = memchr::memrchr(b'&', &text[tail..]).map_or(text.len(), |at| tail + at);
    while cut > 0 {
        let splits = match (text[cut - 1], text.get(cut)) {
            (b']' | b'\r', _) => true,
            (_, Some(next)) => next & 0xC0 == 0x80,
            (before, None) => before >= 0x80,
        };
        if !splits {
            break;
        }
        cut -= 1;
    }
    (cut > 0).then_some(cut)
}

/// Reads a start tag, which ends at the first `>` outside quotes.
#[inline]
fn start(bytes: &[u8], last: bool) -> Result<Option<(Token<'_>, usize)>> {
    let mut end = 1;
    loop {
        let Some(found) = memchr::memchr3(b'>', b'"', b'\'', &bytes[end..]) else {
            return cut(bytes, last, "a tag");
        };
        let at = end + found;
        if bytes[at] == b'>' {
            end = at;
            break;
        }
        let Some(close) = memchr::memchr(bytes[at], &bytes[at + 1..]) else {
            return cut(bytes, last, "an attribute");
        };
        end = at + close + 2;
    }
    let empty = bytes[end - 1] == b'/';
    let content = &bytes[1..end - usize::from(empty)];
    let name_end = content.iter().position(u8::is_ascii_whitespace).unwrap_or(content.len());
    let name = &content[..name_end];
    if !name.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_' || *b >= 0x80) {
        return Err(Error::syntax(format!(
            "found \"<{}\", expected a tag (write a lone \"<\" as \"&lt;\")",
            name[..name.len().min(20)].escape_ascii()
        ))
        .at(0));
    }
    Ok(Some((Token::Start { content, name, empty }, end + 1)))
}

/// Reads a comment, a CDATA section or a document type.
#[cold]
fn bang(bytes: &[u8], last: bool) -> Result<Option<(Token<'_>, usize)>> {
    let opens = |with: &[u8]| bytes.starts_with(with) || !last && with.starts_with(bytes);
    if opens(b"<!--") {
        let body = bytes.get(4..).unwrap_or_default();
        return match memchr::memmem::find(body, b"-->") {
            Some(end) => Ok(Some((Token::Nothing, 4 + end + 3))),
            None => cut(bytes, last, "a comment"),
        };
    }
    if opens(b"<![CDATA[") {
        let body = bytes.get(9..).unwrap_or_default();
        return match memchr::memmem::find(body, b"]]>") {
            Some(end) => Ok(Some((Token::CData(&body[..end]), 9 + end + 3))),
            None => cut(bytes, last, "a CDATA section"),
        };
    }
    if opens(b"<!DOCTYPE") {
        return match memchr::memchr2(b'>', b'[', bytes) {
            Some(end) if bytes[end] == b'>' => Ok(Some((Token::Nothing, end + 1))),
            Some(_) => Err(Error::new(
                ErrorKind::Unsupported,
                "found a document type with declarations, expected none: \
                 entities are not expanded",
            )
            .hint("remove the declarations, or expand them with xmllint --noent")
            .at(0)),
            None => cut(bytes, last, "a document type"),
        };
    }
    Err(Error::syntax("found \"<!\", expected a comment, a CDATA section or a tag").at(0))
}

/// Handles a token without its end.
#[cold]
fn cut<'x>(bytes: &[u8], last: bool, what: &str) -> Result<Option<(Token<'x>, usize)>> {
    if !last {
        return Ok(None);
    }
    Err(Error::truncated(format!("found the end of the input inside {what}"))
        .at(bytes.len() as u64))
}
