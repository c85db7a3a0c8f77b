//! YAML 1.2 (revision 1.2.2), all of it: block and flow style, every scalar style, anchors and
//! aliases, tags, directives, streams of documents.
//!
//! The reader resolves plain scalars by the core schema unless [`Options`] says otherwise: `1` is
//! an integer of any size, `1.5` a double, `true` and `null` are what they say, and anything else
//! is text. Keys are resolved the same way, so `1: a` has an integer key. Anchors become references
//! if the target holds them; otherwise their values are repeated, within
//! [`Limits::aliases`](crate::Limits::aliases).
//!
//! Deviations from the specification, and what is lost in conversions to other formats, are listed
//! in `docs/formats/yaml.md`. Comments, styles, the order of directives and the names of anchors
//! are read but not kept.

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

/// Turns bytes into events: a [`Parser`] over a slice or a stream.
pub type Reader<'a> = crate::reader::Reader<'a, Parser>;
