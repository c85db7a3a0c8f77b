//! Small texts: bytes as digits, text cut to a length that fits a message, and foreign text made safe to show.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns whether a character cannot be seen or changes how the text around it is shown: a control, a line or
/// paragraph separator, a direction mark, a zero-width character, a tag or a noncharacter.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FDD0}'..='\u{FDEF}' | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
        || u32::from(character) & 0xFFFE == 0xFFFE
}

/// Returns foreign text on one line, with hidden characters as escapes such as `\n` and `\u{202e}`: a terminal
/// obeys nothing in it, and a page shows its characters in their order. Anything that prints a name, a key or a
/// message from a file uses this function, because text that looks like other text misleads the reader.
#[must_use]
pub fn escape_hidden(text: &str) -> Cow<'_, str> {
    escape(text, is_hidden)
}

/// Returns the same for text of several lines: line feeds and tabs stay.
#[must_use]
pub fn escape_hidden_in_lines(text: &str) -> Cow<'_, str> {
    escape(text, |character| is_hidden(character) && !matches!(character, '\n' | '\t'))
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_escaped(character) {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// Cuts the text of a number or a key to a length that fits a message.
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN: usize = 40;
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    let mut shown: String = text.chars().take(SHOWN).collect();
    let _ = write!(shown, "… ({} characters)", text.chars().count());
    shown
}

/// Returns bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Parses exactly `N` bytes from lower-case hexadecimal digits.
pub(crate) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

/// Returns a UUID in the notation of RFC 9562 §4: lower case, groups of 8, 4, 4, 4 and 12 digits.
pub(crate) fn uuid_text(v: &[u8; 16]) -> String {
    let digits = hex(v);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped() {
        for (text, line, lines) in [
            ("naïve 日本 😀 \"a\\b\"", "naïve 日本 😀 \"a\\b\"", "naïve 日本 😀 \"a\\b\""),
            ("a\nb\tc\rd", r"a\nb\tc\rd", "a\nb\tc\\rd"),
            (
                "\u{1B}[31m\0\u{7F}\u{9B}",
                r"\u{1b}[31m\u{0}\u{7f}\u{9b}",
                r"\u{1b}[31m\u{0}\u{7f}\u{9b}",
            ),
            ("c\u{202E}mod\u{2066}", r"c\u{202e}mod\u{2066}", r"c\u{202e}mod\u{2066}"),
            ("\u{200B}\u{FEFF}\u{FFFE}", r"\u{200b}\u{feff}\u{fffe}", r"\u{200b}\u{feff}\u{fffe}"),
            ("\u{2027}\u{202F}\u{E0080}", "\u{2027}\u{202F}\u{E0080}", "\u{2027}\u{202F}\u{E0080}"),
        ] {
            assert_eq!(escape_hidden(text), line);
            assert_eq!(escape_hidden_in_lines(text), lines);
        }
    }
}
