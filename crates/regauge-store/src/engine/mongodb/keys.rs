//! Keys as stored in document fields.
//!
//! MongoDB sorts binary values by length first, so they cannot be walked in byte order. Keys of
//! regauge's own collections are therefore texts in which the character U+00XX stands for the byte
//! XX: MongoDB compares texts by the bytes of their UTF-8, which is the order of the characters,
//! which is the order of the bytes. An ASCII key looks the same.

use mongodb::bson::{Bson, RawBsonRef, oid::ObjectId};

use crate::engine::column::{Key, wrong};
use crate::engine::{KeyKind, Layout};
use crate::error::{Error, Result};

/// The representation of keys in their field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Any bytes, one character each.
    Bytes,
    /// Text, unchanged.
    Text,
    /// Whole numbers.
    Integer,
    /// MongoDB's own identifiers; the key is their 24 hexadecimal digits.
    ObjectId,
}

impl Form {
    /// Determines the form from the first key of a collection, if there is one.
    pub(super) fn of(kind: KeyKind, first: Option<RawBsonRef<'_>>) -> Form {
        match (kind, first) {
            (KeyKind::Bytes, _) => Form::Bytes,
            (KeyKind::Integer, _) => Form::Integer,
            (KeyKind::Text, Some(RawBsonRef::ObjectId(_))) => Form::ObjectId,
            (KeyKind::Text, _) => Form::Text,
        }
    }

    /// Returns a key as stored in the field.
    pub(super) fn field(self, layout: &Layout, key: &[u8]) -> Result<Bson> {
        if self == Form::Bytes {
            return Ok(Bson::String(to_characters(key)));
        }
        if self == Form::ObjectId {
            let text = std::str::from_utf8(key).ok();
            let lower = text.filter(|text| !text.bytes().any(|byte| byte.is_ascii_uppercase()));
            let id = lower.and_then(|text| ObjectId::parse_str(text).ok());
            let expected = "an ObjectId: 24 hexadecimal digits in lower case";
            return id.map(Bson::ObjectId).ok_or_else(|| wrong(layout, key, expected));
        }
        Key::new(layout, key).map(plain)
    }

    /// Returns the first field value at or after these bytes; `None` if there cannot be one.
    pub(super) fn end(self, layout: &Layout, bytes: &[u8]) -> Result<Option<Bson>> {
        match self {
            Form::Bytes => Ok(Some(Bson::String(to_characters(bytes)))),
            Form::ObjectId => Ok(object_id_from(bytes).map(Bson::ObjectId)),
            Form::Text | Form::Integer => Ok(Key::end(layout, bytes)?.map(plain)),
        }
    }

    /// Returns the key that a field holds.
    pub(super) fn key(self, layout: &Layout, field: Option<RawBsonRef<'_>>) -> Result<Vec<u8>> {
        let found = match (self, field) {
            (Form::Bytes, Some(RawBsonRef::String(text))) => from_characters(text),
            (Form::Text, Some(RawBsonRef::String(text))) => Some(text.as_bytes().to_vec()),
            (Form::Integer, Some(RawBsonRef::Int64(number))) => {
                Some(number.to_string().into_bytes())
            }
            (Form::Integer, Some(RawBsonRef::Int32(number))) => {
                Some(number.to_string().into_bytes())
            }
            (Form::ObjectId, Some(RawBsonRef::ObjectId(id))) => Some(id.to_hex().into_bytes()),
            _ => None,
        };
        found.ok_or_else(|| {
            let kind =
                field.map_or("nothing".to_owned(), |one| format!("{:?}", one.element_type()));
            Error::usage(format!(
                "collection {}: field {} holds a key of type {kind}, expected {}; adopt it with \
                 the right key kind",
                layout.table,
                layout.key,
                match self {
                    Form::Bytes => "bytes as regauge writes them",
                    Form::Text => "text",
                    Form::Integer => "integer",
                    Form::ObjectId => "ObjectId",
                }
            ))
        })
    }
}

fn plain(key: Key<'_>) -> Bson {
    match key {
        Key::Bytes(bytes) => Bson::String(to_characters(&bytes)),
        Key::Text(text) => Bson::String(text.into_owned()),
        Key::Integer(number) => Bson::Int64(number),
    }
}

/// Maps each byte to a character.
fn to_characters(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn from_characters(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|one| u8::try_from(u32::from(one)).ok()).collect()
}

/// Returns the smallest identifier whose digits, as text, do not precede these bytes.
fn object_id_from(bytes: &[u8]) -> Option<ObjectId> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut id = [0_u8; 12];
    let mut put = |place: usize, digit: u8| id[place / 2] |= digit << (4 * (1 - place % 2));
    for place in 0..24 {
        let Some(byte) = bytes.get(place) else { return Some(ObjectId::from_bytes(id)) };
        // The first digit at or after this byte; if there is none, the preceding digits are
        // incremented.
        match DIGITS.iter().position(|digit| digit >= byte) {
            Some(digit) => {
                put(place, digit as u8);
                if DIGITS[digit] != *byte {
                    return Some(ObjectId::from_bytes(id));
                }
            }
            None => return after(id, place),
        }
    }
    if bytes.len() > 24 { after(id, 24) } else { Some(ObjectId::from_bytes(id)) }
}

/// Returns the first identifier after all that begin with these digits.
fn after(id: [u8; 12], digits: usize) -> Option<ObjectId> {
    let mut wide = [0; 16];
    wide[4..].copy_from_slice(&id);
    let unit = 1_u128.checked_shl(4 * (24 - digits as u32)).filter(|_| digits > 0)?;
    let next = (u128::from_be_bytes(wide) & !(unit - 1)).checked_add(unit)?;
    let next = next.to_be_bytes();
    if next[..4] != [0; 4] {
        return None;
    }
    let id: [u8; 12] = next[4..].try_into().expect("12 of 16 bytes");
    Some(ObjectId::from_bytes(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_for_each_byte_keeps_the_order() {
        let keys: [&[u8]; 9] =
            [b"", b"\0", b"a", b"a\0b", b"ab", b"\x7F", b"\x80", b"\xC3\xA9", b"\xFF\xFF\xFE"];
        let texts: Vec<String> = keys.iter().map(|key| to_characters(key)).collect();
        assert!(texts.is_sorted());
        for (key, text) in keys.iter().zip(&texts) {
            assert_eq!(from_characters(text).as_deref(), Some(*key));
        }
        assert_eq!(texts[3], "a\0b");
        assert_eq!(from_characters("\u{100}"), None);
    }

    #[test]
    fn the_first_identifier_behind_bytes() {
        let check = |bytes: &[u8], expected: Option<&str>| {
            let found = object_id_from(bytes).map(ObjectId::to_hex);
            assert_eq!(found.as_deref(), expected, "{bytes:?}");
        };
        check(b"", Some("000000000000000000000000"));
        check(b"65a", Some("65a000000000000000000000"));
        check(b"65a0000000000000000000ff", Some("65a0000000000000000000ff"));
        check(b"65a0000000000000000000ff\0", Some("65a000000000000000000100"));
        check(b"65G", Some("65a000000000000000000000"));
        check(b"65:", Some("65a000000000000000000000"));
        check(b"65g", Some("660000000000000000000000"));
        check(b"6 ", Some("600000000000000000000000"));
        check(b"fg", None);
        check(b"g", None);
        check(b"ffffffffffffffffffffffff\0", None);
    }
}
