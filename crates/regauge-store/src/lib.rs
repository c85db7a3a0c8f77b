//! An object store that knows, for every stored byte, which codec, version and checksum it has.
//!
//! A [`Store`] is one collection of an [`Engine`], which is a table of a database: keys are bytes
//! in the order of their bytes, values are documents in a [`Codec`] (a format and a compression)
//! behind an [`envelope`] of 16 bytes. What a reader asks for is converted on the way out, what a
//! writer brings on the way in, by regauge's core: exactly, or not at all.
//!
//! A table that others have written can be adopted as it stands: its values have no envelope, and
//! the collection says what they are. `docs/store.md` has every byte.

// One module may, by name: it reads memory that processes share.
#![deny(unsafe_code)]

pub mod codec;
pub mod engine;
pub mod envelope;
mod error;
pub mod reencode;
pub mod series;
mod settings;
pub mod slices;
mod store;
pub mod verify;

pub use codec::{Codec, Compression};
pub use engine::{Engine, KeyKind, Layout, Order, Range};
pub use error::{Error, Result, shown};
pub use settings::{Assume, Settings};
pub use store::{DEFAULT_COLLECTION, Each, Entry, Store, Walk};
