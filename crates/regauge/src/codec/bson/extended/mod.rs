//! MongoDB's Extended JSON v2: BSON's types in JSON, as maps with keys that start with `$`.
//!
//! The specification is MongoDB's "Extended JSON", version 2. [`ToExtended`] wraps the JSON writer,
//! [`FromExtended`] the sink of the JSON reader; both stream. The notation cannot express a user's
//! own map whose first key is one of its names: such a map is refused.

mod from;
mod to;

pub use crate::options::bson::ExtendedJson;
pub use from::FromExtended;
pub use to::ToExtended;

/// The keys that open the notation.
const NAMES: [&str; 17] = [
    "$oid",
    "$symbol",
    "$numberInt",
    "$numberLong",
    "$numberDouble",
    "$numberDecimal",
    "$binary",
    "$uuid",
    "$code",
    "$scope",
    "$timestamp",
    "$regularExpression",
    "$dbPointer",
    "$date",
    "$minKey",
    "$maxKey",
    "$undefined",
];
