//! Compression as regauge reads and writes it: complete, and within limits. And the cryptography of signed values.
//!
//! - [`Values`] compresses and decompresses a value in memory: what
//!   [`regauge::envelope`] asks for.
//! - [`Secrets`] checks signatures and decrypts, for [`regauge::envelope`] too.
//! - `files` (a feature) is for files of any size: detection by suffix and first bytes, levels, several cores.
//!
//! The algorithms are well-maintained crates'. What is added: a stream that ends early is always an error,
//! a bomb stops at a limit, and errors say which limit it is.

#[cfg(feature = "files")]
pub mod files;
mod lz4;
mod secrets;
mod values;

pub use secrets::Secrets;
pub use values::Values;

/// What is wrong with bytes after the end of compressed data.
const TRAILING: &str = "found other bytes after its end";
