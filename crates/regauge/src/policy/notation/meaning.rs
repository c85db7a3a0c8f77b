//! Finds the value that a map in the notation stands for.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::model::{number, time};
use crate::policy::event::Timestamp;

/// The names of the notation, besides those in [`NAMES`](super::NAMES), `$literal` and those that
/// open types and anchors.
const NAMES: [&str; 9] = [
    "$numberDouble",
    "$integer",
    "$decimal",
    "$time",
    "$ext",
    "$surrogates",
    "$text",
    "$alias",
    "$null",
];

/// Returns whether a map that begins with this key stands for a value.
pub(crate) fn is_name(key: &str) -> bool {
    NAMES.contains(&key) || super::NAMES.contains(&key)
}

/// Returns the value that a map stands for, if it matches the notation exactly.
pub(crate) fn meaning(map: &Value, limits: &Limits) -> Option<Value> {
    let Value::Map(pairs) = map else { return None };
    let [(Value::Text(name), content)] = pairs.as_slice() else { return None };
    let text = |value: &Value| match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    let field = |name: &str| match content {
        Value::Map(pairs) => pairs
            .iter()
            .find(|(key, _)| matches!(key, Value::Text(key) if key == name))
            .map(|(_, value)| value),
        _ => None,
    };
    let fields = match content {
        Value::Map(pairs) => pairs.len(),
        _ => 0,
    };
    let base64 = || BASE64.decode(text(field("base64")?)?).ok();
    match name.as_str() {
        "$binary" if fields == 2 && text(field("subType")?)? == "00" => {
            Some(Value::Bytes(base64()?))
        }
        "$numberDouble" => super::non_finite(content).map(Value::F64),
        "$alias" => match super::int(content)? {
            id @ 1.. => Some(Value::Alias(id.unsigned_abs())),
            _ => None,
        },
        "$null" => matches!(content, Value::Bool(true)).then_some(Value::Null),
        "$integer" => integer(&text(content)?, limits),
        "$decimal" => {
            let text = text(content)?;
            number::is_number(&text).then_some(Value::Decimal(text))
        }
        "$time" => match content {
            Value::Text(text) => time::parse_rfc3339(text).map(Value::Timestamp),
            _ if fields == 2 => {
                let seconds = super::int(field("seconds")?)?;
                let nanoseconds = super::nanoseconds(field("nanoseconds")?)?;
                Some(Value::Timestamp(Timestamp { seconds, nanoseconds }))
            }
            _ => None,
        },
        "$ext" if fields == 2 => {
            let kind = super::int(field("type")?)?;
            Some(Value::MsgpackExt(i8::try_from(kind).ok()?, base64()?))
        }
        // Bytes that are proper text only look like these: they would be written as text.
        "$surrogates" if fields == 1 => {
            base64().filter(|bytes| has_surrogates(bytes)).map(Value::Surrogates)
        }
        "$text" if fields == 1 => {
            base64().filter(|bytes| std::str::from_utf8(bytes).is_err()).map(Value::BrokenText)
        }
        name => super::read(name, content),
    }
}

/// Returns whether bytes are UTF-8 except for at least one surrogate. Two may form a pair: Python has such text, and it
/// is another one than that of the character.
fn has_surrogates(bytes: &[u8]) -> bool {
    let (mut rest, mut found) = (bytes, false);
    loop {
        let Err(error) = std::str::from_utf8(rest) else { return found };
        let [0xED, 0xA0..=0xBF, 0x80..=0xBF, after @ ..] = &rest[error.valid_up_to()..] else {
            return false;
        };
        (found, rest) = (true, after);
    }
}

/// Parses a text of canonical digits, into the narrowest integer.
fn integer(text: &str, limits: &Limits) -> Option<Value> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let is_written_so = !digits.is_empty()
        && (!digits.starts_with('0') || text == "0")
        && digits.len() <= limits.integer_digits as usize
        && digits.bytes().all(|b| b.is_ascii_digit());
    if !is_written_so {
        return None;
    }
    if let Ok(v) = text.parse::<i64>() {
        return Some(Value::Int(v));
    }
    if let Ok(v) = text.parse::<u64>() {
        return Some(Value::UInt(v));
    }
    Some(Value::BigInt { negative, magnitude: number::magnitude(digits) })
}
