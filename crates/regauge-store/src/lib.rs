//! An object store that knows, for every stored byte, which codec, version and checksum it has.
//!
//! A [`Store`] is one collection of an [`Engine`], which is a table of a database: keys are bytes
//! in byte order, values are documents in a [`Codec`] (a format and a compression) after an
//! [`envelope`] of 16 bytes. Regauge's core converts documents on the way in and out: exactly, or
//! not at all.
//!
//! ```
//! use regauge::Format;
//! use regauge_store::{DEFAULT_COLLECTION, Store};
//!
//! let folder = tempfile::tempdir()?;
//! let url = format!("sqlite:{}", folder.path().join("objects.db").display());
//! let mut store = Store::open(&url, DEFAULT_COLLECTION, Some("msgpack+zstd".parse()?))?;
//! store.put(b"user/17", b"name: Ada\n", Format::Yaml)?;
//! assert_eq!(store.get(b"user/17", Format::Json)?.unwrap(), b"{\"name\":\"Ada\"}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Another program's table can be adopted unchanged: its values have no envelope, and the
//! collection's settings say what they are. `docs/store.md` documents every byte.

// One module is exempt by name: it reads memory that processes share.
#![deny(unsafe_code)]

pub mod cells;
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
#[cfg(feature = "cassandra")]
pub use engine::cassandra::rows;
#[cfg(feature = "mongodb")]
pub use engine::mongodb::documents;
pub use engine::{Engine, KeyKind, Layout, Order, Range};
pub use error::{Error, Result, legible, shown};
pub use settings::{Assume, Settings};
pub use store::{DEFAULT_COLLECTION, Each, Entry, Store, Walk};
