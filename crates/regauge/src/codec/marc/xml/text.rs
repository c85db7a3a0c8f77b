//! Text of XML: references, line ends and characters that are not allowed.

use super::is_forbidden;
use super::scan::first_special;
use crate::{Error, Result};

/// Appends the text of `bytes` to `out`: references are resolved and line ends are `\n`
/// (XML 1.0 §2.11). In an attribute, white space becomes blanks (§3.3.3).
///
/// # Errors
/// For anything that is not text of XML 1.0, with an offset from the start of `bytes`.
#[inline]
pub(super) fn append(bytes: &[u8], out: &mut String, attribute: bool) -> Result {
    let Some(text) = crate::model::utf8::from_utf8(bytes) else { return Err(not_utf8(bytes)) };
    if first_special(bytes) == bytes.len() {
        out.push_str(text);
        return Ok(());
    }
    append_slowly(text, out, attribute, true)
}

/// Like [`append`], for a CDATA section: nothing is a reference.
pub(super) fn append_literally(bytes: &[u8], out: &mut String) -> Result {
    let Some(text) = crate::model::utf8::from_utf8(bytes) else { return Err(not_utf8(bytes)) };
    append_slowly(text, out, false, false)
}

#[cold]
fn append_slowly(text: &str, out: &mut String, attribute: bool, references: bool) -> Result {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        let run = first_special(&bytes[at..]);
        out.push_str(&text[at..at + run]);
        at += run;
        let Some(byte) = bytes.get(at) else { return Ok(()) };
        match byte {
            b'&' if references => {
                let (c, length) =
                    reference(&text[at + 1..]).map_err(|error| error.at(at as u64))?;
                out.push(c);
                at += length;
                continue;
            }
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => {}
            b'\r' | b'\n' | b'\t' if attribute => out.push(' '),
            b'\r' => out.push('\n'),
            b'>' if references && !attribute && text[..at].ends_with("]]") => {
                let message = "found \"]]>\" in text, expected \"]]&gt;\"";
                return Err(Error::syntax(message).at(at as u64 - 2));
            }
            _ => {
                let c = text[at..].chars().next().expect("a byte is there");
                if is_forbidden(c) {
                    return Err(Error::syntax(format!(
                        "found the character U+{:04X}, which XML 1.0 does not allow",
                        u32::from(c)
                    ))
                    .hint("remove it, or read the records from another serialisation")
                    .at(at as u64));
                }
                out.push(c);
                at += c.len_utf8();
                continue;
            }
        }
        at += 1;
    }
}

/// Returns the character of a reference and the length with both ends; `text` is what follows the
/// ampersand.
fn reference(text: &str) -> Result<(char, usize)> {
    // The longest is &#x0010FFFF; with a few zeros to spare.
    let head = &text.as_bytes()[..text.len().min(16)];
    let Some(end) = memchr::memchr(b';', head) else {
        return Err(Error::syntax("found a lone \"&\", expected a reference such as \"&amp;\""));
    };
    let name = &text[..end];
    let c = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let code = match name.strip_prefix('#') {
                Some(number) => match number.strip_prefix('x') {
                    Some(hex) if !hex.starts_with('+') => u32::from_str_radix(hex, 16).ok(),
                    None if !number.starts_with('+') => number.parse().ok(),
                    _ => None,
                },
                None => {
                    return Err(Error::syntax(format!(
                        "found the entity \"&{};\", expected one of amp, lt, gt, quot and apos",
                        name.escape_debug()
                    ))
                    .hint("entities of a document type are not expanded"));
                }
            };
            match code.and_then(char::from_u32).filter(|c| !is_forbidden(*c)) {
                Some(c) => c,
                None => {
                    return Err(Error::syntax(format!(
                        "found \"&{};\", expected the number of a character that XML 1.0 allows",
                        name.escape_debug()
                    )));
                }
            }
        }
    };
    Ok((c, end + 2))
}

#[cold]
fn not_utf8(bytes: &[u8]) -> Error {
    let at = std::str::from_utf8(bytes).err().map_or(0, |error| error.valid_up_to());
    Error::syntax(format!("found byte 0x{:02X}, expected UTF-8", bytes[at])).at(at as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_and_line_ends() {
        let check = |text: &str, attribute, expected: &str| {
            let mut out = String::new();
            append(text.as_bytes(), &mut out, attribute).unwrap();
            assert_eq!(out, expected, "{text}");
        };
        check("plain", false, "plain");
        check("a &amp; b &lt;&gt;&quot;&apos;", false, "a & b <>\"'");
        check("&#65;&#x42;&#x1F600;&#13;é&amp;é", false, "AB\u{1F600}\ré&é");
        check("a\r\nb\rc\nd\te", false, "a\nb\nc\nd\te");
        check("a\r\nb\rc\nd\te&#10;", true, "a b c d e\n");
        check("a]]b]", false, "a]]b]");
        check("]]>", true, "]]>");
        check("\u{FEFF}\u{FF01}", false, "\u{FEFF}\u{FF01}");
    }

    #[test]
    fn what_is_no_text() {
        let check = |text: &[u8], offset, message: &str| {
            let error = append(text, &mut String::new(), false).unwrap_err();
            assert_eq!((error.offset(), error.message()), (Some(offset), message));
        };
        check(b"ab\x01", 2, "found the character U+0001, which XML 1.0 does not allow");
        check(
            "a\u{FFFF}".as_bytes(),
            1,
            "found the character U+FFFF, which XML 1.0 does not allow",
        );
        check(b"a\xFFb", 1, "found byte 0xFF, expected UTF-8");
        check(b"a & b", 2, "found a lone \"&\", expected a reference such as \"&amp;\"");
        check(b"a]]>", 1, "found \"]]>\" in text, expected \"]]&gt;\"");
        for number in ["#0", "#1", "#xD800", "#x110000", "#", "#x", "#+65", "#x+41", "#xFFFE"] {
            check(
                format!("&{number};").as_bytes(),
                0,
                &format!(
                    "found \"&{number};\", expected the number of a character that XML 1.0 allows"
                ),
            );
        }
        check(
            b"&nbsp;",
            0,
            "found the entity \"&nbsp;\", expected one of amp, lt, gt, quot and apos",
        );
    }
}
