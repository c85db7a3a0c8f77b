//! The wire format: the byte before an element's name gives its type
//! (<https://bsonspec.org/spec.html>).

/// A double.
pub(super) const DOUBLE: u8 = 0x01;
/// Text.
pub(super) const STRING: u8 = 0x02;
/// An embedded document.
pub(super) const DOCUMENT: u8 = 0x03;
/// An array: a document whose names are the indexes.
pub(super) const ARRAY: u8 = 0x04;
/// Bytes with a subtype.
pub(super) const BINARY: u8 = 0x05;
/// Undefined, deprecated.
pub(super) const UNDEFINED: u8 = 0x06;
/// An ObjectId.
pub(super) const OBJECT_ID: u8 = 0x07;
/// A boolean.
pub(super) const BOOL: u8 = 0x08;
/// A point in time, in milliseconds since 1970.
pub(super) const DATE_TIME: u8 = 0x09;
/// Null.
pub(super) const NULL: u8 = 0x0A;
/// A regular expression.
pub(super) const REGEX: u8 = 0x0B;
/// A pointer to a document, deprecated.
pub(super) const DB_POINTER: u8 = 0x0C;
/// JavaScript.
pub(super) const CODE: u8 = 0x0D;
/// A symbol, deprecated.
pub(super) const SYMBOL: u8 = 0x0E;
/// JavaScript with the values of its variables, deprecated.
pub(super) const SCOPED_CODE: u8 = 0x0F;
/// An integer of 32 bits.
pub(super) const INT32: u8 = 0x10;
/// A timestamp for MongoDB's internal use: seconds and a counter.
pub(super) const TIMESTAMP: u8 = 0x11;
/// An integer of 64 bits.
pub(super) const INT64: u8 = 0x12;
/// A decimal of 128 bits.
pub(super) const DECIMAL128: u8 = 0x13;
/// Sorts below all other values.
pub(super) const MIN_KEY: u8 = 0xFF;
/// Sorts above all other values.
pub(super) const MAX_KEY: u8 = 0x7F;

/// The subtype of generic bytes.
pub(super) const GENERIC: u8 = 0x00;
/// The deprecated subtype whose payload begins with its own length.
pub(super) const OLD_BINARY: u8 = 0x02;
/// The subtype of UUIDs.
pub(super) const UUID: u8 = 0x04;

/// The shortest document: its length and the final zero byte.
pub(super) const DOCUMENT_MIN: i32 = 5;

/// Returns whether elements can have this type.
pub(super) fn is_type(kind: u8) -> bool {
    matches!(kind, DOUBLE..=DECIMAL128 | MIN_KEY | MAX_KEY)
}
