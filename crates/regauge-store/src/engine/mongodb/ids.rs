//! The identifiers of documents as text, and back.
//!
//! | `_id` | text |
//! |---|---|
//! | ObjectId | its 24 hexadecimal digits |
//! | whole number, of any of BSON's types | its digits |
//! | text | itself; a JSON string if another identifier has this text, or if it begins with `"` |
//! | binary of subtype 4 | `UUID/` and its usual form |
//! | other binary | `BinData/SUBTYPE/`, both in hexadecimal digits |
//! | anything else | canonical Extended JSON |
//!
//! Two different identifiers never have the same text. Numbers of different types that are equal are the same
//! identifier in MongoDB.

use mongodb::bson::oid::ObjectId;
use mongodb::bson::spec::BinarySubtype;
use mongodb::bson::{Binary, Bson, RawBsonRef, RawDocument, RawDocumentBuf, Uuid, cstr};
use regauge::options::bson::ExtendedJson;
use regauge::{Format, Options, convert_bytes};

use super::fields::{field, unreadable};
use crate::error::Result;

/// Whole numbers up to this one are exact in a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

const UUID: &str = "UUID/";
const BINARY: &str = "BinData/";

/// Returns the text of an identifier.
///
/// # Errors
/// `Engine` for one that is not valid BSON.
pub(super) fn text_of(id: RawBsonRef<'_>) -> Result<String> {
    Ok(match id {
        RawBsonRef::ObjectId(id) => id.to_hex(),
        RawBsonRef::Int32(number) => number.to_string(),
        RawBsonRef::Int64(number) => number.to_string(),
        RawBsonRef::Double(number) if number.fract() == 0.0 && number.abs() <= EXACT => {
            (number as i64).to_string()
        }
        RawBsonRef::String(text) if is_plain(text) => text.to_owned(),
        RawBsonRef::String(text) => Extended::of(id)?.unwrap_or_else(|| text.to_owned()),
        RawBsonRef::Binary(binary) => {
            let uuid: Option<[u8; 16]> = match binary.subtype {
                BinarySubtype::Uuid => binary.bytes.try_into().ok(),
                _ => None,
            };
            match uuid {
                Some(bytes) => format!("{UUID}{}", Uuid::from_bytes(bytes)),
                None => {
                    let digits = data_encoding::HEXLOWER.encode(binary.bytes);
                    format!("{BINARY}{:02x}/{digits}", u8::from(binary.subtype))
                }
            }
        }
        other => match Extended::of(other)? {
            Some(text) => text,
            None => return Err(unreadable(&"an _id that Extended JSON cannot hold")),
        },
    })
}

/// Returns the identifier with this text; `None` if there is none.
pub(super) fn parse(text: &str) -> Option<Bson> {
    match special(text) {
        Some(id) => Some(id),
        None if text.starts_with(['"', '{']) => Extended::parse(text),
        None => Some(Bson::String(text.to_owned())),
    }
}

/// Returns whether a text stands for itself.
fn is_plain(text: &str) -> bool {
    !text.starts_with(['"', '{']) && special(text).is_none()
}

/// Returns the identifier of a type that has a form of its own.
fn special(text: &str) -> Option<Bson> {
    if let Some(form) = text.strip_prefix(UUID) {
        let id = Uuid::parse_str(form).ok().filter(|id| id.to_string() == form)?;
        return Some(id.into());
    }
    if let Some(form) = text.strip_prefix(BINARY) {
        let (subtype, digits) = form.split_once('/')?;
        let [subtype] = hexadecimal(subtype)?[..] else { return None };
        return Some(Binary { subtype: subtype.into(), bytes: hexadecimal(digits)? }.into());
    }
    if text.len() == 24 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return ObjectId::parse_str(text).ok().map(Bson::ObjectId);
    }
    let number = text.parse::<i64>().ok().filter(|number| number.to_string() == text)?;
    Some(Bson::Int64(number))
}

fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    data_encoding::HEXLOWER.decode(digits.as_bytes()).ok()
}

/// Canonical Extended JSON.
struct Extended;

impl Extended {
    const BEFORE: &str = "{\"_id\":";

    fn options(from: Format, to: Format) -> Options {
        let mut options = Options::new(from, to);
        options.bson.extended_json = Some(ExtendedJson::Canonical);
        options
    }

    fn of(id: RawBsonRef<'_>) -> Result<Option<String>> {
        let mut document = RawDocumentBuf::new();
        document.append(cstr!("_id"), id);
        let options = Extended::options(Format::Bson, Format::Ndjson);
        let json =
            convert_bytes(document.as_bytes(), &options).map_err(|error| unreadable(&error))?;
        let text = str::from_utf8(&json).ok().map(str::trim_end);
        let inside = text.and_then(|text| text.strip_prefix(Extended::BEFORE)?.strip_suffix('}'));
        Ok(inside.map(str::to_owned))
    }

    fn parse(text: &str) -> Option<Bson> {
        let json = format!("{}{text}}}", Extended::BEFORE);
        let options = Extended::options(Format::Json, Format::Bson);
        let bytes = convert_bytes(json.as_bytes(), &options).ok()?;
        let document = RawDocument::from_bytes(&bytes).ok()?;
        Bson::try_from(field(document, "_id").ok()??).ok()
    }
}

#[cfg(test)]
mod tests {
    use mongodb::bson::{DateTime, RawBson, doc};

    use super::*;

    /// The text of an identifier, which gives this one again.
    fn check(id: impl Into<Bson>, text: &str) {
        let id = id.into();
        let raw = RawBson::try_from(id.clone()).unwrap();
        assert_eq!(text_of(raw.as_raw_bson_ref()).unwrap(), text);
        let expected = match id {
            Bson::Int32(number) => Bson::Int64(number.into()),
            Bson::Double(number) if number.fract() == 0.0 && number.abs() <= EXACT => {
                Bson::Int64(number as i64)
            }
            other => other,
        };
        assert_eq!(parse(text), Some(expected));
    }

    #[test]
    fn identifiers_as_text_and_back() {
        check("session é/1", "session é/1");
        check("", "");
        check("007", "007");
        check("-0", "-0");
        check("17", "\"17\"");
        check("\"a\"", "\"\\\"a\\\"\"");
        check("{}", "\"{}\"");
        check("0123456789abcdef01234567", "\"0123456789abcdef01234567\"");
        check("0123456789ABCDEF01234567", "0123456789ABCDEF01234567");
        check(ObjectId::from_bytes([10; 12]), "0a0a0a0a0a0a0a0a0a0a0a0a");
        check(17, "17");
        check(i64::MIN, "-9223372036854775808");
        check(-3.0, "-3");
        check(1.5, "{\"$numberDouble\":\"1.5\"}");
        check(1e300, "{\"$numberDouble\":\"1e+300\"}");
        check(DateTime::from_millis(0), "{\"$date\":{\"$numberLong\":\"0\"}}");
        check(doc! { "a": 1, "b": "x" }, "{\"a\":{\"$numberInt\":\"1\"},\"b\":\"x\"}");
        check(Uuid::from_bytes([1; 16]), "UUID/01010101-0101-0101-0101-010101010101");
        let binary = |subtype, bytes: &[u8]| Binary { subtype, bytes: bytes.to_vec() };
        check(binary(BinarySubtype::Generic, b"\0\xFF"), "BinData/00/00ff");
        check(binary(BinarySubtype::UuidOld, b""), "BinData/03/");
        check(binary(BinarySubtype::Uuid, b"short"), "BinData/04/73686f7274");
        check("BinData/00/00FF", "BinData/00/00FF");
        check("BinData/00/00ff", "\"BinData/00/00ff\"");
        check("UUID/1", "UUID/1");
    }

    #[test]
    fn what_is_no_identifier() {
        for text in ["\"a", "{", "{\"a\":1", "\"a\"}, {\"_id\": 1", "{\"$oid\":\"1\"}"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
