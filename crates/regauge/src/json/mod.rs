//! JSON (RFC 8259) and NDJSON (one document per line).
//!
//! The reader is strict unless [`ReadOptions`] says otherwise. Choices that the RFC leaves open: a
//! byte order mark at the start is skipped, integers are exact at any size, a number with a
//! fraction or an exponent is the nearest double, `-0` is the double -0.0, duplicate keys and the
//! order of keys are kept, a lone surrogate is kept ([`Ext::Surrogates`](crate::Ext::Surrogates)),
//! text that is not UTF-8 is refused.
//!
//! The writer preserves all of that: a double is always written with a fraction or an exponent, so
//! that it reads back as a double. NaN, infinities, bytes, points in time, keys that are not text
//! and similar values are subject to the policy of [`crate::fidelity`].
//!
//! `docs/formats/json.md` has the tables.

mod escape;
mod float;
#[cfg(test)]
mod framing_tests;
pub(crate) mod number;
mod rare;
mod reader;
mod simd;
mod string;
#[cfg(test)]
mod suites;
mod table_powers;
#[cfg(test)]
mod tests;
mod writer;

pub use float::FloatStyle;
pub use number::is_number;
pub use reader::{Framing, Parser, ReadOptions};
pub(crate) use writer::notation;
pub use writer::{WriteOptions, Writer, to_vec};

/// Turns bytes into events: a [`Parser`] over a slice or a stream.
pub type Reader<'a> = crate::reader::Reader<'a, Parser>;
