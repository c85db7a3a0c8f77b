//! Values as errors show them.

use regauge::Value;

/// The characters of a text that an error shows.
const SHOWN_MAX: usize = 40;

/// Returns what was found: the value itself if it is a scalar, otherwise its kind.
pub fn found(value: &Value) -> String {
    match value {
        Value::Bool(v) => v.to_string(),
        Value::Int(_) | Value::UInt(_) => format!("the integer {value}"),
        Value::F32(_) | Value::F64(_) => format!("the double {value}"),
        Value::Decimal(digits) if digits.len() <= SHOWN_MAX => format!("the decimal {digits}"),
        Value::Text(text) => match text.char_indices().nth(SHOWN_MAX) {
            Some((end, _)) => format!("the text {:?}…", &text[..end]),
            None => format!("the text {text:?}"),
        },
        other => other.type_name().to_owned(),
    }
}
