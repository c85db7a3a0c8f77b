//! Sample documents, made up on the spot: `regauge sample`.
//!
//! A sample stands in for data that cannot be handed around: a library catalogue, a slice of a
//! time series, biographies of legislators, small documents of each type. All persons, titles,
//! numbers and events in them are invented; what is real is the shape, and how often each part
//! occurs. `docs/samples.md` says how near that comes to the real thing.
//!
//! The bytes depend on the kind, the count and the seed alone: not on the machine, the time, or
//! the version of regauge within a major version. A sample of K documents begins the sample of
//! any larger count (for `legislators`, one JSON array, up to its closing bracket). Documents are
//! made one at a time, so memory does not grow with the count.

mod catalog;
mod json;
mod legislators;
mod rng;
mod time_slice;
mod types;
mod words;

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, Write};
use std::str::FromStr;

/// A kind of sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Bibliographic records of a library catalogue: MARC 21 in ISO 2709, UTF-8.
    Catalog,
    /// Slices of a time series, about 16 KB each: one JSON object a line.
    TimeSlice,
    /// Members of a legislature with their terms of office: one JSON array.
    Legislators,
    /// Small documents of each of several types in turn: one JSON object a line.
    Types,
}

impl Kind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Kind; 4] = [Kind::Catalog, Kind::TimeSlice, Kind::Legislators, Kind::Types];

    /// Returns the kind's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Catalog => "catalog",
            Kind::TimeSlice => "time-slice",
            Kind::Legislators => "legislators",
            Kind::Types => "types",
        }
    }

    /// Returns how many documents are made where the caller does not say: the numbers of the
    /// published measurements that the samples stand in for.
    pub fn default_count(self) -> u64 {
        match self {
            Kind::Catalog => 18_881,
            Kind::TimeSlice => 1,
            Kind::Legislators => 23,
            Kind::Types => 4_000,
        }
    }

    /// Returns the suffix, without a dot, that a file of this kind with `count` documents should
    /// bear, so that its format is known from its name.
    pub fn suffix(self, count: u64) -> &'static str {
        match self {
            Kind::Catalog => "mrc",
            Kind::Legislators => "json",
            Kind::TimeSlice if count == 1 => "json",
            Kind::TimeSlice | Kind::Types => "ndjson",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = String;

    /// Returns the kind of that name.
    ///
    /// # Errors
    /// A sentence naming what was found and the kinds there are.
    fn from_str(name: &str) -> Result<Kind, String> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names = Kind::ALL.map(Kind::name).join(", ");
            format!("found sample `{name}`, expected one of: {names}")
        })
    }
}

/// How much to make, and which of the endless samples of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The number of documents; `None` is [`Kind::default_count`].
    pub count: Option<u64>,
    /// Other seeds give other documents of the same kind.
    pub seed: u64,
}

/// What [`generate`] wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Documents written: records, slices, legislators.
    pub documents: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// Writes a sample of `kind` and says how much it was.
///
/// Each document is handed to `write` in one call, so a plain file needs no buffer in between.
///
/// # Errors
/// Only those of `write`.
pub fn generate(kind: Kind, options: &Options, write: &mut dyn Write) -> io::Result<Summary> {
    let count = options.count.unwrap_or(kind.default_count());
    let mut summary = Summary { documents: count, bytes: 0 };
    let mut put = |bytes: &[u8]| {
        summary.bytes += bytes.len() as u64;
        write.write_all(bytes)
    };
    match kind {
        Kind::Catalog => catalog::generate(options.seed, count, &mut put)?,
        Kind::TimeSlice => time_slice::generate(options.seed, count, &mut put)?,
        Kind::Legislators => legislators::generate(options.seed, count, &mut put)?,
        Kind::Types => types::generate(options.seed, count, &mut put)?,
    }
    write.flush()?;
    Ok(summary)
}

/// Takes the bytes of each finished document.
type Put<'a> = dyn FnMut(&[u8]) -> io::Result<()> + 'a;
