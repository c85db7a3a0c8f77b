//! Streaming conversion between schema-less data formats, lossless or refused.
//!
//! Every format is a folder with a reader (bytes to events) and a writer (events to bytes). They
//! meet in [`event`]; [`mod@convert`] is the loop from one to the other, and [`fidelity`] decides
//! what happens to a value that the target cannot hold. The library uses no terminal and no
//! globals. `unsafe` is denied except in leaf modules that allow it at the top.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

pub mod bson;
pub mod cbor;
pub mod codec;
pub mod compare;
pub mod convert;
pub mod decimal128;
pub mod detect;
pub mod documents;
pub mod error;
pub mod event;
pub mod excerpt;
pub mod ext;
pub mod fidelity;
pub mod hint;
pub mod json;
pub mod limits;
pub mod marc;
pub mod marshal;
pub mod matrix;
pub mod msgpack;
mod notation;
pub mod number;
pub mod options;
pub mod out;
pub mod output;
pub mod parallel;
pub mod path;
pub mod pickle;
pub mod reader;
#[cfg(feature = "serde")]
pub mod serde;
pub mod shape;
pub mod tape;
pub mod time;
pub mod toml;
mod utf8;
pub mod value;
pub mod values;
pub mod wrap;
pub mod yaml;

pub use codec::Format;
pub use convert::{Options, convert, convert_bytes};
pub use error::{Error, ErrorKind, Result};
pub use event::{BigInt, Ext, Sink, Source, Timestamp, Writer};
pub use ext::{ExtBuf, Origin, Type, TypeBuf};
pub use fidelity::{Fidelity, Objects, OnLoss};
pub use limits::Limits;
pub use path::Path;
pub use value::Value;
