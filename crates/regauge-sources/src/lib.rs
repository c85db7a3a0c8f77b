//! The keys and values of a cache as one stream of items, wherever they are.
//!
//! A [`Source`] hands each value to a function, with its key, its place in the key and its expiry. What is
//! read, and how much of it, is [`Wanted`]. The items are borrowed: nothing is held but the value at hand.
//!
//! | source | what |
//! |---|---|
//! | [`rdb`] | a dump of Redis or Valkey, `dump.rdb` |
//! | `redis`, with the feature of that name | a running Redis or Valkey, a cluster of them, what Sentinels watch |
//! | `memcached`, with the feature of that name | a running Memcached |
//! | `sql`, with the feature of that name | a column of a table in SQLite; with `postgres` and `mysql`, also there |
//! | `mongodb`, with the feature of that name | a field of a collection in MongoDB |
//! | `cassandra`, with the feature of that name | a column of a table in Cassandra |
//!
//! ```
//! use regauge_sources::{Flow, Source, Wanted, rdb::Rdb};
//!
//! let dump = b"REDIS0003\xFE\x00\x00\x04user\x03Ada\xFF";
//! let mut found = Vec::new();
//! let summary = Rdb::new(&dump[..]).read(&Wanted::default(), &mut |item| {
//!     found.push((item.key.to_vec(), item.value.map(<[u8]>::to_vec)));
//!     Ok(Flow::Continue)
//! })?;
//! assert_eq!(found, [(b"user".to_vec(), Some(b"Ada".to_vec()))]);
//! assert_eq!(summary.keys, 1);
//! # Ok::<(), regauge::Error>(())
//! ```
//!
//! Errors are [`regauge::Error`]: a dump gives the offset and the key, a server its address, without the
//! password. What was handed out before an error is the caller's to keep.

#![forbid(unsafe_code)]

#[cfg(feature = "cassandra")]
pub mod cassandra;
#[cfg(feature = "sql")]
mod database;
mod feed;
mod item;
#[cfg(feature = "memcached")]
pub mod memcached;
#[cfg(feature = "mongodb")]
pub mod mongodb;
mod pace;
pub mod rdb;
#[cfg(feature = "redis")]
pub mod redis;
mod source;
#[cfg(feature = "sql")]
pub mod sql;

pub use item::{Item, Kind, Part};
pub use pace::Pace;
pub use regauge::{Error, Result};
pub use source::{At, Flow, Replaced, Sample, Skipped, Source, Summary, Wanted};
