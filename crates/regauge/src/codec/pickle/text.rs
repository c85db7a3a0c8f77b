//! The notations of protocol 0: numbers and text that end with their line, and escapes.

use std::borrow::Cow;

/// The value of an `INT` or `LONG` line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Integer {
    Small(i64),
    /// Beyond 64 bits: these bytes of the line are a sign and decimal digits without leading zeros.
    Digits {
        start: usize,
        length: usize,
    },
}

/// Returns the integer of a line, as Python's `int(line, 0)` reads it: decimal, or hexadecimal,
/// octal and binary after `0x`, `0o` and `0b`, with surrounding blanks allowed. Underscores between
/// digits are not accepted, and only decimal goes beyond 64 bits. `None` for anything else.
pub(super) fn integer(line: &[u8]) -> Option<Integer> {
    let start = line.len() - line.trim_ascii_start().len();
    let text = std::str::from_utf8(line.trim_ascii()).ok()?;
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let other_base = |base: u32| {
        let digits = &digits[2..];
        // `from_str_radix` would accept another sign.
        let clean = digits.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let magnitude = clean.then(|| i64::from_str_radix(digits, base).ok())??;
        Some(Integer::Small(if negative { -magnitude } else { magnitude }))
    };
    match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => return other_base(16),
        [b'0', b'o' | b'O', ..] => return other_base(8),
        [b'0', b'b' | b'B', ..] => return other_base(2),
        _ => {}
    }
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if digits.starts_with('0') && !digits.bytes().all(|byte| byte == b'0') {
        // Octal in Python 2, an error in Python 3.
        return None;
    }
    let signed = text.strip_prefix('+').unwrap_or(text);
    match signed.parse() {
        Ok(small) => Some(Integer::Small(small)),
        Err(_) => {
            let start = start + (text.len() - signed.len());
            Some(Integer::Digits { start, length: signed.len() })
        }
    }
}

/// Returns the number of a memo line: decimal digits with an optional sign.
pub(super) fn memo_index(line: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(line.trim_ascii()).ok()?;
    text.parse().ok()
}

/// Returns the double of a line, as Python's `float(line)` reads it, without underscores.
pub(super) fn float(line: &[u8]) -> Option<f64> {
    std::str::from_utf8(line.trim_ascii()).ok()?.parse().ok()
}

/// Returns what is between the quotes of a `STRING` line; `None` if they are missing or differ.
pub(super) fn unquote(line: &[u8]) -> Option<&[u8]> {
    match line {
        [first @ (b'\'' | b'"'), inner @ .., last] if first == last => Some(inner),
        _ => None,
    }
}

/// Returns the bytes of a `STRING` without its escapes, by the rules of `codecs.escape_decode`: an
/// unknown escape keeps its backslash.
///
/// # Errors
/// A description of the fault: a lone backslash at the end, or `\x` without two digits.
pub(super) fn unescape_string(text: &[u8]) -> Result<Cow<'_, [u8]>, &'static str> {
    let Some(first) = text.iter().position(|byte| *byte == b'\\') else {
        return Ok(Cow::Borrowed(text));
    };
    let mut bytes = Vec::with_capacity(text.len());
    bytes.extend_from_slice(&text[..first]);
    let mut rest = &text[first..];
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'\\' {
            bytes.push(*byte);
            continue;
        }
        let [escape, after @ ..] = rest else { return Err("a lone backslash at the end") };
        rest = after;
        match escape {
            b'\n' => {}
            b'\\' | b'\'' | b'"' => bytes.push(*escape),
            b'b' => bytes.push(8),
            b'f' => bytes.push(12),
            b't' => bytes.push(b'\t'),
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b'v' => bytes.push(11),
            b'a' => bytes.push(7),
            b'0'..=b'7' => {
                let mut code = u32::from(escape - b'0');
                for _ in 0..2 {
                    let [digit @ b'0'..=b'7', after @ ..] = rest else { break };
                    code = code * 8 + u32::from(digit - b'0');
                    rest = after;
                }
                // Three digits can exceed a byte; CPython takes the lowest eight bits.
                bytes.push(code as u8);
            }
            b'x' => {
                let (code, after) =
                    hexadecimal(rest, 2).ok_or(r"\x without two digits after it")?;
                bytes.push(code as u8);
                rest = after;
            }
            other => bytes.extend_from_slice(&[b'\\', *other]),
        }
    }
    Ok(Cow::Owned(bytes))
}

/// Returns the text of a `UNICODE` without its escapes, by the rules of `raw_unicode_escape`: `\u`
/// and `\U` are escapes, any other byte is the character of its number. The result is UTF-8 that
/// may contain lone surrogates.
///
/// # Errors
/// A description of the fault: missing digits, a number beyond U+10FFFF, or a backslash at the end.
pub(super) fn unescape_unicode(text: &[u8]) -> Result<Cow<'_, [u8]>, &'static str> {
    let plain = |byte: &u8| *byte != b'\\' && byte.is_ascii();
    let Some(first) = text.iter().position(|byte| !plain(byte)) else {
        return Ok(Cow::Borrowed(text));
    };
    let mut bytes = Vec::with_capacity(text.len() + text.len() / 8);
    bytes.extend_from_slice(&text[..first]);
    let mut rest = &text[first..];
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'\\' {
            push_code(&mut bytes, u32::from(*byte));
            continue;
        }
        let [escape, after @ ..] = rest else { return Err("a lone backslash at the end") };
        rest = after;
        let digits = match escape {
            b'u' => 4,
            b'U' => 8,
            other => {
                bytes.push(b'\\');
                push_code(&mut bytes, u32::from(*other));
                continue;
            }
        };
        let (code, after) =
            hexadecimal(rest, digits).ok_or(r"an escape with too few hexadecimal digits")?;
        if code > 0x10_FFFF {
            return Err("an escape beyond U+10FFFF");
        }
        push_code(&mut bytes, code);
        rest = after;
    }
    Ok(Cow::Owned(bytes))
}

fn hexadecimal(text: &[u8], digits: usize) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_at_checked(digits)?;
    let code = digits
        .iter()
        .try_fold(0, |code: u32, digit| Some(code << 4 | char::from(*digit).to_digit(16)?))?;
    Some((code, rest))
}

/// Appends a code point in UTF-8, even a surrogate.
pub(super) fn push_code(bytes: &mut Vec<u8>, code: u32) {
    match char::from_u32(code) {
        Some(character) => {
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        None => bytes.extend_from_slice(&[
            0xE0 | (code >> 12) as u8,
            0x80 | (code >> 6 & 0x3F) as u8,
            0x80 | (code & 0x3F) as u8,
        ]),
    }
}

/// Returns whether the bytes are UTF-8 that may contain surrogates, as Python writes and reads such
/// text (`surrogatepass`).
pub(super) fn is_utf8_with_surrogates(mut bytes: &[u8]) -> bool {
    loop {
        let Err(error) = std::str::from_utf8(bytes) else { return true };
        match &bytes[error.valid_up_to()..] {
            [0xED, 0xA0..=0xBF, 0x80..=0xBF, rest @ ..] => bytes = rest,
            _ => return false,
        }
    }
}

/// Returns each character of the text as one byte, if all are below U+0100: the inverse of Latin-1.
pub(super) fn latin1_bytes(text: &str) -> Option<Cow<'_, [u8]>> {
    if text.is_ascii() {
        return Some(Cow::Borrowed(text.as_bytes()));
    }
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    bytes.map(Cow::Owned)
}

/// Returns each byte as the character of its number.
pub(super) fn latin1_text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if bytes.is_ascii() => Cow::Borrowed(text),
        _ => Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_integer(line: &str, expected: Option<Integer>) {
        assert_eq!(integer(line.as_bytes()), expected, "{line}");
    }

    #[test]
    fn integers_as_python_reads_them() {
        use Integer::{Digits, Small};
        check_integer("0", Some(Small(0)));
        check_integer("-0", Some(Small(0)));
        check_integer("000", Some(Small(0)));
        check_integer("+7", Some(Small(7)));
        check_integer(" -12 ", Some(Small(-12)));
        check_integer("0x1F", Some(Small(31)));
        check_integer("-0b101", Some(Small(-5)));
        check_integer("0o17", Some(Small(15)));
        check_integer("-9223372036854775808", Some(Small(i64::MIN)));
        check_integer("9223372036854775808", Some(Digits { start: 0, length: 19 }));
        check_integer(" +9223372036854775808", Some(Digits { start: 2, length: 19 }));
        check_integer(" -9223372036854775809", Some(Digits { start: 1, length: 20 }));
        for broken in ["", "-", "+-1", "010", "1.0", "0x", "0x-1", "0x+1", "1L", "1_0", "--1"] {
            check_integer(broken, None);
        }
    }

    #[track_caller]
    fn check_string(text: &str, expected: &[u8]) {
        assert_eq!(unescape_string(text.as_bytes()).as_deref(), Ok(expected), "{text}");
    }

    #[test]
    fn escapes_of_byte_strings() {
        check_string("plain", b"plain");
        check_string(r#"\\\'\"\n\t\r\b\f\v\a"#, b"\\'\"\n\t\r\x08\x0C\x0B\x07");
        check_string(r"\0\12\0123\400", b"\0\n\n3\0");
        check_string(r"\xe9\q", b"\xE9\\q");
        check_string("a\\\nb", b"ab");
        for broken in [r"\", r"\x", r"\x1", r"\xg1"] {
            assert!(unescape_string(broken.as_bytes()).is_err(), "{broken}");
        }
    }

    #[track_caller]
    fn check_unicode(text: &[u8], expected: &[u8]) {
        assert_eq!(unescape_unicode(text).as_deref(), Ok(expected));
    }

    #[test]
    fn escapes_of_text() {
        check_unicode(b"plain", b"plain");
        check_unicode(b"\\u00e9\\U0001f600", "é😀".as_bytes());
        check_unicode(b"\xE9\\n", "é\\n".as_bytes());
        check_unicode(b"\\\\u0041", b"\\\\u0041");
        check_unicode(b"\\ud800", b"\xED\xA0\x80");
        for broken in [&b"\\"[..], b"\\u", b"\\u12", b"\\U00110000", b"\\uzzzz"] {
            assert!(unescape_unicode(broken).is_err());
        }
    }

    #[test]
    fn surrogates_within_utf8() {
        for good in [&b""[..], b"abc", b"\xED\xA0\x80", b"a\xED\xBF\xBFb", "é".as_bytes()] {
            assert!(is_utf8_with_surrogates(good));
        }
        for bad in [&b"\xFF"[..], b"\xED\xA0", b"\xED\xA0\x80\xC3", b"\xC0\x80"] {
            assert!(!is_utf8_with_surrogates(bad));
        }
    }

    #[test]
    fn latin1_both_ways() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(latin1_bytes(&latin1_text(&all)).as_deref(), Some(all.as_slice()));
        assert_eq!(latin1_bytes("ā"), None);
    }
}
