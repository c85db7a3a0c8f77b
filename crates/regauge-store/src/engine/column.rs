//! Keys and values as stored in the columns of a table, the same for every engine.

use std::borrow::Cow;

use data_encoding::BASE64;

use super::{KeyKind, Layout, Range};
use crate::envelope::{BASE64_OF_MAGIC, MAGIC};
use crate::error::{Error, Result, shown};

/// What a database calls the types that a column may have.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(crate) struct TypeNames {
    /// Those of keys.
    pub keys: &'static str,
    /// Those of values that are bytes.
    pub bytes: &'static str,
    /// Those of values that are text.
    pub text: &'static str,
}

/// Checks the types of an adopted table's columns, and what they are for: the kind of the keys, and whether the
/// values are text.
///
/// # Errors
/// `Usage` for a type that is none of these, or not the one of the layout.
#[cfg(any(feature = "mysql", feature = "postgres"))]
pub(crate) fn check_types(
    layout: &Layout,
    (key_type, kind): (&str, Option<KeyKind>),
    (value_type, is_text): (&str, Option<bool>),
    names: &TypeNames,
) -> Result {
    let Layout { table, key, value, .. } = layout;
    let TypeNames { keys, bytes, text } = names;
    if kind != Some(layout.key_kind) {
        let hint = match kind {
            Some(kind) => format!("adopt it with the key kind {}", kind.name()),
            None => format!("a key is {keys}"),
        };
        let expected = layout.key_kind.name();
        return Err(Error::usage(format!(
            "table {table}: column {key} holds keys of type {key_type}, expected {expected}; {hint}"
        )));
    }
    if is_text != Some(layout.text) {
        let expected = match (is_text, layout.text) {
            (Some(true), _) => format!("{bytes}; adopt it as text"),
            (_, true) => "text; adopt it as bytes".to_owned(),
            (_, false) => format!("{bytes}, or {text} adopted as text"),
        };
        return Err(Error::usage(format!(
            "table {table}: column {value} holds values of type {value_type}, expected {expected}"
        )));
    }
    Ok(())
}

/// A key as stored in its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key<'k> {
    Bytes(Cow<'k, [u8]>),
    Text(Cow<'k, str>),
    Integer(i64),
}

impl<'k> Key<'k> {
    /// # Errors
    /// `Usage` for a key that the column cannot hold.
    pub(crate) fn new(layout: &Layout, key: &'k [u8]) -> Result<Key<'k>> {
        match layout.key_kind {
            KeyKind::Bytes => Ok(Key::Bytes(key.into())),
            KeyKind::Text => std::str::from_utf8(key)
                .map(|text| Key::Text(text.into()))
                .map_err(|_| wrong(layout, key, "UTF-8 text")),
            KeyKind::Integer => std::str::from_utf8(key)
                .ok()
                // Numbers have one canonical form: "007" is not the key 7.
                .and_then(|text| text.parse::<i64>().ok().filter(|one| one.to_string() == text))
                .map(Key::Integer)
                .ok_or_else(|| wrong(layout, key, "whole numbers")),
        }
    }

    /// Returns the first key that a column can hold at or after these bytes, for the end of a
    /// range; `None` if no key is that large.
    ///
    /// # Errors
    /// `Usage` for an end that is not a number in a column of numbers.
    pub(crate) fn end(layout: &Layout, bytes: &'k [u8]) -> Result<Option<Key<'k>>> {
        match layout.key_kind {
            KeyKind::Text => Ok(text_from(bytes).map(Key::Text)),
            KeyKind::Bytes | KeyKind::Integer => Key::new(layout, bytes).map(Some),
        }
    }

    /// The same for a column whose texts contain no zero bytes.
    ///
    /// # Errors
    /// Those of `end`.
    #[cfg(feature = "postgres")]
    pub(crate) fn end_without_zero(layout: &Layout, bytes: &'k [u8]) -> Result<Option<Key<'k>>> {
        let found = Key::end(layout, bytes)?;
        let Some(Key::Text(text)) = &found else { return Ok(found) };
        match text.find('\0') {
            // The first text after everything that continues with a zero byte.
            Some(at) => Ok(Some(Key::Text(format!("{}\u{1}", &text[..at]).into()))),
            None => Ok(found),
        }
    }
}

type Ends<'k> = (Option<Key<'k>>, Option<Key<'k>>);

impl<'k> Key<'k> {
    /// Returns the ends of a range, each found by `end`; `None` if no key can be in it.
    ///
    /// # Errors
    /// Those of `end`.
    pub(crate) fn ends(
        layout: &Layout,
        range: &'k Range,
        end: fn(&Layout, &'k [u8]) -> Result<Option<Key<'k>>>,
    ) -> Result<Option<Ends<'k>>> {
        let from = match &range.from {
            Some(bytes) => match end(layout, bytes)? {
                Some(key) => Some(key),
                None => return Ok(None),
            },
            None => None,
        };
        let to = match &range.to {
            Some(bytes) => end(layout, bytes)?,
            None => None,
        };
        Ok(Some((from, to)))
    }
}

/// Creates the error for a key that this table cannot hold.
pub(crate) fn wrong(layout: &Layout, key: &[u8], expected: &str) -> Error {
    Error::usage(format!("key {}: table {} takes {expected}", shown(key), layout.table))
}

/// Returns the smallest UTF-8 text that does not precede these bytes, in byte order.
fn text_from(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let good = match std::str::from_utf8(bytes) {
        Ok(text) => return Some(text.into()),
        Err(error) => error.valid_up_to(),
    };
    let (good, rest) = bytes.split_at(good);
    let mut text = String::from_utf8(good.to_vec()).expect("valid up to there");
    // Characters sort like their bytes.
    if let Some(next) = first_char(|one| encoded(one).as_bytes() > rest) {
        text.push(next);
        return Some(text.into());
    }
    // No character begins this high: one of the preceding characters has to be incremented.
    while let Some(last) = text.pop() {
        if let Some(next) = first_char(|one| one > last) {
            text.push(next);
            return Some(text.into());
        }
    }
    None
}

fn encoded(one: char) -> String {
    one.to_string()
}

/// Returns the first character for which this holds; it must hold for all later ones too.
fn first_char(holds: impl Fn(char) -> bool) -> Option<char> {
    // Surrogates are not characters: they count as the character after them.
    let at = |code: u32| char::from_u32(code).unwrap_or('\u{E000}');
    let (mut low, mut high) = (0, u32::from(char::MAX) + 1);
    while low < high {
        let middle = low.midpoint(high);
        if holds(at(middle)) { high = middle } else { low = middle + 1 }
    }
    (low <= u32::from(char::MAX)).then(|| at(low))
}

/// A value as stored in its column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stored<'v> {
    Bytes(&'v [u8]),
    Text(Cow<'v, str>),
}

impl<'v> Stored<'v> {
    /// In a text column, values with an envelope are in Base64; values from other programs are
    /// stored verbatim.
    pub(crate) fn new(layout: &Layout, value: &'v [u8]) -> Stored<'v> {
        match layout.text {
            true if value.starts_with(&MAGIC) => Stored::Text(BASE64.encode(value).into()),
            true => match std::str::from_utf8(value) {
                Ok(text) => Stored::Text(text.into()),
                Err(_) => Stored::Bytes(value),
            },
            false => Stored::Bytes(value),
        }
    }
}

/// Returns the bytes of a value in a text column: only what begins like an envelope's Base64 is
/// decoded; anything that turns out not to be Base64 stays unchanged, and `Store::unseal` reports
/// it.
pub(crate) fn from_text(text: &[u8]) -> Vec<u8> {
    match text.starts_with(BASE64_OF_MAGIC) {
        true => BASE64.decode(text).unwrap_or_else(|_| text.to_vec()),
        false => text.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_text_behind_bytes() {
        let check = |bytes: &[u8], expected: Option<&str>| {
            assert_eq!(text_from(bytes).as_deref(), expected, "{bytes:02x?}");
        };
        check(b"", Some(""));
        check(b"a\xC3\xA9", Some("a\u{e9}"));
        // The ends that `Range::prefix` builds for U+007F, U+00FF, U+FFFF and the very last
        // character.
        check(b"\x80", Some("\u{80}"));
        check(b"\xC3\xC0", Some("\u{100}"));
        check(b"x\xEF\xBF\xC0", Some("x\u{10000}"));
        check(b"x\xF4\x8F\xBF\xC0", Some("y"));
        check(b"\xF4\x8F\xBF\xC0", None);
        check(b"\xFF", None);
        check(b"a\xFFb", Some("b"));
        check("\u{10FFFF}\u{D7FF}".as_bytes(), Some("\u{10FFFF}\u{D7FF}"));
        // Half a character, and half a surrogate pair.
        check(b"\xC3", Some("\u{c0}"));
        check(b"\xED\xA0\x80", Some("\u{E000}"));
        check("\u{D7FF}\u{ff}".as_bytes().split_last().unwrap().1, Some("\u{D7FF}\u{c0}"));
    }

    #[test]
    fn the_first_text_is_behind_its_bytes_and_no_other_is_between() {
        let pieces: [&[u8]; 8] =
            [b"a", b"\x7F", b"\x80", b"\xC3", b"\xED", b"\xA0", b"\xF4", b"\xFF"];
        let texts = [
            "",
            "a",
            "a\u{7f}",
            "\u{7f}",
            "\u{80}",
            "\u{c0}",
            "\u{100}",
            "\u{E000}",
            "\u{10FFFF}",
            "b",
        ];
        for one in pieces {
            for two in pieces {
                for three in pieces {
                    let bytes = [one, two, three].concat();
                    let found = text_from(&bytes);
                    for text in texts {
                        let after = text.as_bytes() >= &bytes[..];
                        let covered = found.as_deref().is_some_and(|found| text >= found);
                        assert_eq!(after, covered, "{bytes:02x?}: {found:?}, {text:?}");
                    }
                }
            }
        }
    }

    #[test]
    #[cfg(feature = "postgres")]
    fn ends_without_zero_bytes() {
        let layout = crate::Settings::new("t", "json".parse().unwrap()).unwrap().layout;
        let layout = Layout { key_kind: KeyKind::Text, ..layout };
        let end = |bytes| Key::end_without_zero(&layout, bytes).unwrap();
        assert_eq!(end(b"ab\0"), Some(Key::Text("ab\u{1}".into())));
        assert_eq!(end(b"ab\0c"), Some(Key::Text("ab\u{1}".into())));
        assert_eq!(end(b"ab"), Some(Key::Text("ab".into())));
    }
}
