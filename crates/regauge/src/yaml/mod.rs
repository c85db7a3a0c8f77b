//! YAML 1.2 (revision 1.2.2), the whole of it: block and flow style, every style of scalars,
//! anchors and aliases, tags, directives, streams of documents.
//!
//! The reader resolves plain scalars by the core schema unless [`Options`] says otherwise: `1` is
//! an integer of any size, `1.5` a double, `true` and `null` what they say, and anything else text.
//! Keys are resolved in the same way, so `1: a` has an integer as its key. Anchors become
//! references where the target holds them; elsewhere their values are given again, within
//! [`Limits::aliases`](crate::Limits::aliases).
//!
//! What is different from the specification, and what is lost on the way to other formats, is in
//! `docs/formats/yaml.md`. Comments, styles, the order of directives and names of anchors are read
//! and not kept.

mod block;
mod breaks;
mod compose;
mod event;
mod fault;
mod flow;
mod keys;
mod literal;
mod machine;
mod merge;
mod notation;
mod plain;
mod props;
mod quote;
mod quote_simd;
mod quoted;
mod reader;
mod references;
#[cfg(test)]
mod round_trip_tests;
mod scalar;
mod schema;
mod schema_11;
mod simd;
#[cfg(test)]
mod suites;
mod tags;
#[cfg(test)]
mod tests;
mod view;
mod writer;

pub use notation::events;
pub use reader::{Options, Parser, Schema};
pub use writer::{WriteOptions, Writer};

/// Bytes to events: a [`Parser`] over a slice or a stream.
pub type Reader<'a> = crate::reader::Reader<'a, Parser>;
