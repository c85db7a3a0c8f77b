//! What the text of a field stands for.

use crate::model::number;

/// What begins a field that holds a value in the wrapped notation.
pub(super) const VALUE_PREFIX: &str = "$value:";

/// The column of a document that is not a map: in the wrapped notation, and approximated.
pub(super) const WRAPPED_COLUMN: &str = "$value";
pub(super) const PLAIN_COLUMN: &str = "value";

/// The byte order mark.
pub(super) const MARK: &str = "\u{FEFF}";

/// A field without quotes, as [`Types::Infer`](super::Types::Infer) reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Inferred<'t> {
    Text,
    Bool(bool),
    Int(i64),
    UInt(u64),
    /// An integer outside both, and its digits without the sign.
    Big {
        negative: bool,
        digits: &'t str,
    },
    Double(f64),
}

/// Returns the value whose text this is. A value is recognized only if the writer spells it exactly so:
/// `1.50`, `1e3`, `007`, `+1` and `-0` are text.
pub(super) fn infer(text: &str) -> Inferred<'_> {
    match text.as_bytes() {
        b"true" => return Inferred::Bool(true),
        b"false" => return Inferred::Bool(false),
        [b'-' | b'0'..=b'9', ..] if number::is_number(text) => {}
        _ => return Inferred::Text,
    }
    if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        return match text.parse::<f64>() {
            Ok(v) if v.is_finite() && spelled(v).as_str() == text => Inferred::Double(v),
            _ => Inferred::Text,
        };
    }
    if text == "-0" {
        return Inferred::Text;
    }
    if let Ok(v) = text.parse() {
        return Inferred::Int(v);
    }
    if let Ok(v) = text.parse() {
        return Inferred::UInt(v);
    }
    match text.strip_prefix('-') {
        Some(digits) => Inferred::Big { negative: true, digits },
        None => Inferred::Big { negative: false, digits: text },
    }
}

/// Returns the text of a finite double: the shortest that reads as the same double, with a fraction or an
/// exponent.
pub(super) fn spelled(v: f64) -> String {
    zmij::Buffer::new().format_finite(v).to_owned()
}
