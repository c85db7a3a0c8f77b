//! Decimal numbers of 128 bits (IEEE 754-2008, binary integer encoding) and their text.

/// The text of a number, as MongoDB's specification of Decimal128 writes it; `None` for an encoding
/// that the text would not give back.
pub fn to_text(_bytes: &[u8; 16]) -> Option<String> {
    None
}

/// The number of a text, the least significant byte first; `None` if it is none, or needs more
/// digits or a wider exponent than there are.
pub fn from_text(_text: &str) -> Option<[u8; 16]> {
    None
}
