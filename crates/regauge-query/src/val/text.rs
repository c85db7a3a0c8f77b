//! Texts: what jaq's library needs, and how values are written as text.

use jaq_core::val::Range;
use regauge::{Ext, Format, OnLoss, Options, Value, decimal128, write_values};

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
    /// notation, anything else as JSON. It shows the type of an array and a map, but not that of another value.
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
            Val::Array(_) | Val::Map(_) => self.json(),
            leaf => leaf.json(),
        })
    }

    /// Returns the value as JSON, in which decimals are numbers as they were written; what JSON lacks, such as a type, is
    /// in regauge's notation.
    pub fn json(&self) -> String {
        let mut options = Options::new(Format::Json, Format::Json);
        options.on_loss = OnLoss::Wrap;
        options.json_write.exact_numbers = true;
        let value = Value::from(&self.with_json_numbers().unwrap_or_else(|| self.clone()));
        let written = write_values(&[value], &options);
        let text =
            written.map(|(bytes, _)| String::from_utf8_lossy(bytes.trim_ascii_end()).into_owned());
        // Refused is only what no notation holds.
        text.unwrap_or_else(|_| self.to_string())
    }

    /// Returns the value with the decimals of BSON that are numbers as such; nothing if it has none.
    fn with_json_numbers(&self) -> Option<Val> {
        let changed = |values: Vec<Option<Val>>| {
            values.iter().any(Option::is_some).then_some(values).into_iter().flatten()
        };
        match self {
            Val::Array(list) => {
                let new = changed(list.values.iter().map(Val::with_json_numbers).collect());
                let new =
                    new.zip(&list.values).map(|(new, old)| new.unwrap_or_else(|| old.clone()));
                let new: Vec<Val> = new.collect();
                (!new.is_empty()).then(|| Val::array(new))
            }
            Val::Map(map) => {
                let values = map.pairs().iter().map(|(_, one)| one.with_json_numbers());
                let new = changed(values.collect()).zip(map.pairs());
                let new =
                    new.map(|(new, (key, old))| (key.clone(), new.unwrap_or_else(|| old.clone())));
                let new: Vec<_> = new.collect();
                (!new.is_empty()).then(|| Val::map(new))
            }
            Val::Rare(rare) => match &**rare {
                Rare::Typed(class, inside) => {
                    let inside = inside.with_json_numbers()?;
                    Some(Val::rare(Rare::Typed(class.clone(), inside)))
                }
                Rare::Other(Value::Ext(ext)) => match ext.as_ext() {
                    Ext::Decimal128(bytes) => {
                        let text = decimal128::nearest_text(&bytes);
                        let is_number = text.ends_with(|last: char| last.is_ascii_digit());
                        is_number.then(|| Val::rare(Rare::Decimal(text.into())))
                    }
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
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
