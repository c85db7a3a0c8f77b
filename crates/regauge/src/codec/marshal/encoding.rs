//! Text in Ruby's encodings other than UTF-8.
//!
//! Only encodings on which `encoding_rs` and Ruby agree are known; text in any other stays bytes.

use std::borrow::Cow;

use encoding_rs::Encoding;

/// Returns the text of `raw`, if the encoding of this name is known and the text encodes back to
/// the same bytes.
pub(super) fn decode<'a>(name: &str, raw: &'a [u8]) -> Option<Cow<'a, str>> {
    let text: Cow<'a, str> = match known(name)? {
        Known::Ascii if raw.is_ascii() => String::from_utf8_lossy(raw),
        Known::Ascii => return None,
        Known::Latin1 => encoding_rs::mem::decode_latin1(raw),
        Known::Utf16 { big } => Cow::Owned(utf16(raw, big)?),
        Known::Utf32 { big } => Cow::Owned(utf32(raw, big)?),
        Known::Table(table) => table.decode_without_bom_handling_and_without_replacement(raw)?,
    };
    (!is_disputed(name, &text) && encode(name, &text)? == raw).then_some(text)
}

/// Returns `text` in the encoding of this name, if it is known and has all the characters.
pub(super) fn encode<'a>(name: &str, text: &'a str) -> Option<Cow<'a, [u8]>> {
    Some(match known(name)? {
        Known::Ascii if text.is_ascii() => Cow::Borrowed(text.as_bytes()),
        Known::Ascii => return None,
        Known::Latin1 if text.chars().all(|c| u32::from(c) < 256) => {
            encoding_rs::mem::encode_latin1_lossy(text)
        }
        Known::Latin1 => return None,
        Known::Utf16 { big } => {
            let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
            Cow::Owned(text.encode_utf16().flat_map(bytes).collect())
        }
        Known::Utf32 { big } => {
            let bytes = |c: char| match big {
                true => u32::from(c).to_be_bytes(),
                false => u32::from(c).to_le_bytes(),
            };
            Cow::Owned(text.chars().flat_map(bytes).collect())
        }
        Known::Table(table) => match table.encode(text) {
            (bytes, _, false) => bytes,
            _ => return None,
        },
    })
}

enum Known {
    Ascii,
    Latin1,
    Utf16 { big: bool },
    Utf32 { big: bool },
    Table(&'static Encoding),
}

/// Ruby's names. Ruby compares them case-insensitively, and writes them as here.
fn known(name: &str) -> Option<Known> {
    Some(match name {
        "US-ASCII" => Known::Ascii,
        "ISO-8859-1" => Known::Latin1,
        "UTF-16LE" => Known::Utf16 { big: false },
        "UTF-16BE" => Known::Utf16 { big: true },
        "UTF-32LE" => Known::Utf32 { big: false },
        "UTF-32BE" => Known::Utf32 { big: true },
        _ => Known::Table(TABLES.iter().find(|(known, _)| *known == name)?.1),
    })
}

/// Encodings in which `encoding_rs` and Ruby 3.1 never read the same bytes as different characters,
/// except for [`DISPUTED`] in the two Japanese ones.
static TABLES: [(&str, &Encoding); 28] = [
    ("Shift_JIS", encoding_rs::SHIFT_JIS),
    ("Windows-31J", encoding_rs::SHIFT_JIS),
    ("EUC-JP", encoding_rs::EUC_JP),
    ("EUC-KR", encoding_rs::EUC_KR),
    ("CP949", encoding_rs::EUC_KR),
    ("GBK", encoding_rs::GBK),
    ("IBM866", encoding_rs::IBM866),
    ("ISO-8859-2", encoding_rs::ISO_8859_2),
    ("ISO-8859-3", encoding_rs::ISO_8859_3),
    ("ISO-8859-4", encoding_rs::ISO_8859_4),
    ("ISO-8859-5", encoding_rs::ISO_8859_5),
    ("ISO-8859-6", encoding_rs::ISO_8859_6),
    ("ISO-8859-7", encoding_rs::ISO_8859_7),
    ("ISO-8859-8", encoding_rs::ISO_8859_8),
    ("ISO-8859-10", encoding_rs::ISO_8859_10),
    ("ISO-8859-13", encoding_rs::ISO_8859_13),
    ("ISO-8859-14", encoding_rs::ISO_8859_14),
    ("ISO-8859-15", encoding_rs::ISO_8859_15),
    ("ISO-8859-16", encoding_rs::ISO_8859_16),
    ("KOI8-R", encoding_rs::KOI8_R),
    ("Windows-1250", encoding_rs::WINDOWS_1250),
    ("Windows-1251", encoding_rs::WINDOWS_1251),
    ("Windows-1252", encoding_rs::WINDOWS_1252),
    ("Windows-1253", encoding_rs::WINDOWS_1253),
    ("Windows-1254", encoding_rs::WINDOWS_1254),
    ("Windows-1255", encoding_rs::WINDOWS_1255),
    ("Windows-1256", encoding_rs::WINDOWS_1256),
    ("Windows-1257", encoding_rs::WINDOWS_1257),
];

/// The seven characters of Shift_JIS and EUC-JP that `encoding_rs` reads as Microsoft does and Ruby
/// reads by the Japanese standard: dashes, the wave dash, the double bar, currency signs.
const DISPUTED: [char; 7] =
    ['\u{2015}', '\u{FF5E}', '\u{2225}', '\u{FF0D}', '\u{FFE0}', '\u{FFE1}', '\u{FFE2}'];

fn is_disputed(name: &str, text: &str) -> bool {
    matches!(name, "Shift_JIS" | "EUC-JP") && text.contains(DISPUTED)
}

fn utf16(raw: &[u8], big: bool) -> Option<String> {
    let (pairs, rest) = raw.as_chunks::<2>();
    let unit =
        |pair: &[u8; 2]| if big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) };
    let text = char::decode_utf16(pairs.iter().map(unit)).collect::<Result<String, _>>().ok()?;
    rest.is_empty().then_some(text)
}

fn utf32(raw: &[u8], big: bool) -> Option<String> {
    let (quads, rest) = raw.as_chunks::<4>();
    let point =
        |quad: &[u8; 4]| if big { u32::from_be_bytes(*quad) } else { u32::from_le_bytes(*quad) };
    let text = quads.iter().map(|quad| char::from_u32(point(quad))).collect::<Option<String>>()?;
    rest.is_empty().then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, raw: &[u8], text: &str) {
        assert_eq!(decode(name, raw).as_deref(), Some(text));
        assert_eq!(encode(name, text).as_deref(), Some(raw));
    }

    #[test]
    fn there_and_back() {
        check("US-ASCII", b"abc", "abc");
        check("ISO-8859-1", b"m\xF6hre\x80", "möhre\u{80}");
        check("UTF-16LE", b"m\0\xF6\0\x34\xD8\x1E\xDD", "mö𝄞");
        check("UTF-16BE", b"\0m\0\xF6\xD8\x34\xDD\x1E", "mö𝄞");
        check("UTF-32LE", b"\x1E\xD1\x01\0", "𝄞");
        check("UTF-32BE", b"\0\x01\xD1\x1E", "𝄞");
        check("Shift_JIS", b"\x82\xA0", "あ");
        check("EUC-JP", b"\xA4\xA2", "あ");
        check("Windows-31J", b"\x81\x60", "～");
        check("Windows-1251", b"\xCC\xE8\xF0", "Мир");
    }

    #[test]
    fn what_is_not_surely_text_stays_bytes() {
        for (name, raw) in [
            ("US-ASCII", &b"\xE9"[..]),
            ("UTF-16LE", b"a"),
            ("UTF-16LE", b"\x00\xD8"),
            ("UTF-32LE", b"\0\xD8\0\0"),
            ("UTF-32LE", b"a\0\0"),
            ("Shift_JIS", b"\x81"),
            ("Shift_JIS", b"\x81\x60"),
            ("EUC-JP", b"\xA1\xC1"),
            ("Emacs-Mule", b"abc"),
        ] {
            assert_eq!(decode(name, raw), None, "{name} {raw:?}");
        }
        assert_eq!(encode("ISO-8859-1", "€"), None);
        assert_eq!(encode("US-ASCII", "é"), None);
        assert_eq!(encode("Windows-1251", "𝄞"), None);
    }
}
