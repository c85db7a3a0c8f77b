//! Texts: what jaq's library needs, and how values are written as text.

use jaq_core::val::Range;
use regauge::{Ext, Value, decimal128};

use super::access::bounds;
use super::number::Num;
use super::{Error, Rare, Val};

/// A part of a text, in bytes.
pub(crate) struct TextRange {
    pub start: usize,
    pub end: usize,
}

/// Returns the part of a text that a range of characters means.
pub(crate) fn slice(text: &str, range: &Range<&Val>) -> Result<TextRange, Error> {
    let (start, end) = bounds(range, text.chars().count())?;
    let mut places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let first = places.nth(start).unwrap_or(text.len());
    let last = match end - start {
        0 => first,
        more => places.nth(more - 1).unwrap_or(text.len()),
    };
    Ok(TextRange { start: first, end: last })
}

/// Writes bytes in hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Val {
    /// Returns the value as text: a text as it is, a time, a symbol or an identifier in its usual
    /// notation, anything else as JSON.
    pub fn shown(&self) -> String {
        if let Some(text) = self.text() {
            return text.to_owned();
        }
        match self.other() {
            Some(Value::Timestamp(at)) => at.to_rfc3339(),
            Some(Value::BrokenText(bytes)) => Some(String::from_utf8_lossy(bytes).into_owned()),
            Some(Value::Ext(ext)) => match ext.as_ext() {
                Ext::Date(v) | Ext::Time(v) | Ext::DateTime(v) | Ext::OffsetDateTime(v) => {
                    Some(v.to_owned())
                }
                Ext::Code(v) => Some(v.to_owned()),
                Ext::Int64(v) => Some(v.to_string()),
                Ext::Decimal128(v) => Some(decimal128::nearest_text(&v)),
                Ext::ObjectId(id) => Some(hex(&id)),
                Ext::Uuid(id) => {
                    let digits = hex(&id);
                    let ends = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)];
                    Some(ends.map(|(from, to)| &digits[from..to]).join("-"))
                }
                _ => None,
            },
            _ => None,
        }
        .unwrap_or_else(|| match self.untyped() {
            Val::Rare(rare) => match &**rare {
                Rare::Decimal(text) => text.to_string(),
                _ => self.untyped().to_string(),
            },
            val => val.to_string(),
        })
    }
}

impl jaq_std::ValT for Val {
    fn into_seq<S: FromIterator<Val>>(self) -> Result<S, Val> {
        match self.untyped().clone() {
            Val::Array(list) => {
                drop(self);
                Ok(match std::rc::Rc::try_unwrap(list) {
                    Ok(list) => list.values.into_iter().collect(),
                    Err(list) => list.values.iter().cloned().collect(),
                })
            }
            _ => Err(self),
        }
    }

    fn is_int(&self) -> bool {
        self.num().is_some_and(|num| num.is_int())
    }

    fn as_isize(&self) -> Option<isize> {
        match self.num()? {
            Num::Int(v) => isize::try_from(v).ok(),
            _ => None,
        }
    }

    fn as_f64(&self) -> Option<f64> {
        match self.num() {
            Some(num) => Some(num.to_f64()),
            // So that the functions of times take points in time.
            None => super::math::seconds_of(self)?.num().map(|num| num.to_f64()),
        }
    }

    fn is_utf8_str(&self) -> bool {
        self.text().is_some()
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        self.text().map(str::as_bytes).or_else(|| self.binary())
    }

    fn as_sub_str(&self, part: &[u8]) -> Val {
        match (self.text(), std::str::from_utf8(part)) {
            (Some(_), Ok(text)) => Val::from(text),
            _ => Val::bytes(part),
        }
    }

    /// Makes a text; bytes that are not UTF-8 stay what they are.
    fn from_utf8_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Val {
        match std::str::from_utf8(bytes.as_ref()) {
            Ok(text) => Val::from(text),
            Err(_) => Val::bytes(bytes.as_ref()),
        }
    }
}
