//! The measuring itself: contenders are checked, tested with hostile documents, and timed.

pub(crate) mod check;
pub(crate) mod checks;
pub(crate) mod compression;
#[cfg(test)]
mod conformance;
pub(crate) mod gzip;
pub(crate) mod interpreters;
mod pin;
pub(crate) mod process;
pub mod safety;
pub(crate) mod sampler;
pub(crate) mod sift;
pub(crate) mod timed;
