//! What is said of an envelope: its layers, and the value inside.

use super::Row;
use crate::Options;
use crate::model::ext::Timestamp;
use crate::model::format::Format;
use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::sinks::memory::read_values;

/// Something that an envelope says about its value: `expires`, `version`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Its name, as text shows it; reports have underscores.
    pub name: &'static str,
    /// A point in time, text or a number.
    pub value: Value,
}

impl Fact {
    pub(super) fn text(name: &'static str, value: impl Into<String>) -> Fact {
        Fact { name, value: Value::Text(value.into()) }
    }

    /// Whether a signature was checked.
    pub(super) fn signature(is_checked: bool) -> Fact {
        Fact::text("signature", if is_checked { "checked" } else { "not checked" })
    }

    /// A point in time, from seconds since 1970 in a double.
    pub(super) fn seconds(name: &'static str, seconds: f64) -> Fact {
        let whole = seconds.floor();
        // The fraction of a double around 2026 is exact to 240 ns: microseconds are what is meant.
        let micros = ((seconds - whole) * 1e6).round().clamp(0.0, 999_999.0);
        let value = match whole.abs() < 1e15 {
            true => Value::Timestamp(Timestamp {
                seconds: whole as i64,
                nanoseconds: micros as u32 * 1000,
            }),
            false => Value::F64(seconds),
        };
        Fact { name, value }
    }

    /// Returns the fact in words: `expires 2026-11-26T15:00:00Z`.
    #[must_use]
    pub fn words(&self) -> String {
        let value = match &self.value {
            Value::Timestamp(at) => {
                at.to_rfc3339().unwrap_or_else(|| format!("{} seconds from 1970", at.seconds))
            }
            // Nothing in an untrusted file moves the cursor.
            Value::Text(text) => text.escape_debug().to_string(),
            other => other.to_string(),
        };
        format!("{} {value}", self.name)
    }
}

/// An envelope that was taken off.
#[derive(Debug)]
pub struct Layer {
    /// The row of the table.
    pub row: &'static Row,
    /// What it says about the value, in its order.
    pub facts: Vec<Fact>,
    /// What was undone on the way, such as `zlib`.
    pub steps: Vec<&'static str>,
    /// The format of what it holds.
    pub format: Format,
    /// Whether it was signed or encrypted with the secret that was given.
    pub is_checked: bool,
    /// The bytes with the envelope.
    pub(super) around: Vec<u8>,
}

impl Layer {
    /// Returns the layer in words: `Rails.cache 7.1, zlib`.
    #[must_use]
    pub fn words(&self) -> String {
        let parts: Vec<_> =
            std::iter::once(self.row.title).chain(self.steps.iter().copied()).collect();
        parts.join(", ")
    }
}

/// A value without its envelopes.
#[derive(Debug)]
pub struct Opened {
    /// The envelopes, from the outermost.
    pub layers: Vec<Layer>,
    /// The format of the value.
    pub format: Format,
    /// The value.
    pub bytes: Vec<u8>,
}

impl Opened {
    /// Returns the names of the layers: `Rails.cache 7.1, zlib`.
    #[must_use]
    pub fn names(&self) -> String {
        self.layers.iter().map(Layer::words).collect::<Vec<_>>().join(", in it ")
    }

    /// Returns all in words: `Rails.cache 7.1, zlib, Ruby Marshal: a Hash of 12 keys; version 3`.
    #[must_use]
    pub fn words(&self, limits: &Limits) -> String {
        let mut words = format!("{}, {}", self.names(), self.format.title());
        if let Some(summary) = summary(&self.bytes, self.format, limits) {
            words += &format!(": {summary}");
        }
        for fact in self.layers.iter().flat_map(|layer| &layer.facts) {
            words += &format!("; {}", fact.words());
        }
        words
    }
}

/// Returns what a document is, in the words of its language: `a Hash of 12 keys`, `a list of 3`; `None` if
/// it cannot be read within the limits.
#[must_use]
pub fn summary(bytes: &[u8], format: Format, limits: &Limits) -> Option<String> {
    let mut options = Options::new(format, format);
    options.limits = *limits;
    let values = read_values(bytes, &options).ok()?;
    let [value] = values.as_slice() else { return None };
    let (map, array, text) = match format {
        Format::Marshal => ("a Hash", "an Array", "a String"),
        Format::Pickle => ("a dict", "a list", "a str"),
        _ => ("a map", "an array", "text"),
    };
    let outer = match value {
        Value::Anchor(_, inside) => inside,
        value => value,
    };
    Some(match outer {
        Value::Map(pairs) => format!("{map} of {}", counted(pairs.len(), "key")),
        Value::Array(items) => format!("{array} of {}", counted(items.len(), "item")),
        Value::Text(value) => format!("{text} of {}", counted(value.len(), "byte")),
        Value::Typed(of, _) => of.as_type().to_string(),
        other => other.type_name().to_owned(),
    })
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
