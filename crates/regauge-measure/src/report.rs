//! What a measurement found: plain data, for JSON and for the tables of `crate::table`.

use serde::{Deserialize, Serialize};

use crate::contender::{Gives, Runtime};
use crate::machine::Machine;
use crate::stats::Estimate;

/// The name of this shape of JSON. A change that a reader would notice raises the number.
pub const SCHEMA: &str = "regauge-measure/1";

/// A whole measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of regauge.
    pub regauge: String,
    /// The command line as it was given.
    pub command: Vec<String>,
    /// What was measured on.
    pub input: Input,
    /// Where.
    pub machine: Machine,
    /// How.
    pub method: Method,
    /// The bytes that were decoded, per format.
    pub references: Vec<Reference>,
    /// Every contender that could be run.
    pub rows: Vec<Row>,
    /// Every contender that could not.
    pub missing: Vec<Missing>,
    /// What a reader of the figures must know, in sentences.
    pub notes: Vec<String>,
}

/// The user's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The file's name without its folder.
    pub name: String,
    /// Its format.
    pub format: String,
    /// Bytes of the file, decompressed.
    pub bytes: u64,
    /// Documents or records of it that were measured; `notes` tell of others.
    pub documents: u64,
}

/// How it was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// Seed of the shuffles and of the bootstrap.
    pub seed: u64,
    /// Rounds of decoding and of encoding: samples of each contender.
    pub rounds: Rounds,
    /// The shortest time that a sample was planned to take.
    pub sample_min_ns: u64,
    /// The time that the run was allowed, in seconds.
    pub budget_s: f64,
    /// The time that it took.
    pub took_s: f64,
    /// The documents that were timed: all, or an evenly spaced part of a record stream.
    pub timed_documents: u64,
    /// Every which document was timed: 1 for all.
    pub every: u64,
}

/// Numbers of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rounds {
    /// Of decoding.
    pub decode: u64,
    /// Of encoding.
    pub encode: u64,
}

/// Reference bytes of one format, of all documents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// The format.
    pub format: String,
    /// Size.
    pub bytes: u64,
    /// Size after gzip -6.
    pub gzip_bytes: u64,
    /// Who wrote them: regauge, or the contender's runtime.
    pub written_by: String,
}

/// A contender that could be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The contender's name.
    pub contender: String,
    /// Where it ran.
    pub runtime: Runtime,
    /// The interpreter and its version.
    pub runtime_version: String,
    /// The library.
    pub library: String,
    /// Its version.
    pub version: String,
    /// The format, as its reference names it.
    pub format: String,
    /// What it decodes to.
    pub gives: Gives,
    /// Why it must not be given bytes of strangers, if so.
    pub unsafe_because: Option<String>,
    /// Size of what it encodes.
    pub output_bytes: Option<u64>,
    /// The same after gzip -6.
    pub output_gzip_bytes: Option<u64>,
    /// What its own output has lost, kind by kind.
    pub losses: Vec<Loss>,
    /// What is wrong in its own output: then there are no times.
    pub wrong: Vec<Loss>,
    /// In how many documents something is wrong.
    pub wrong_documents: u64,
    /// What stopped it, in words.
    pub failure: Option<String>,
    /// Its times, when its output was right.
    pub timing: Option<Timing>,
}

/// Differences of one kind between the original and a contender's own output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// The kind: "key order", "negative zero", "value" …
    pub kind: String,
    /// How often.
    pub count: u64,
    /// The first few.
    pub examples: Vec<Example>,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// The document, from 1.
    pub document: u64,
    /// Where in it.
    pub path: String,
    /// What stood there.
    pub before: String,
    /// What stands there now.
    pub after: String,
}

/// The times of one contender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Bytes to objects.
    pub decode: Series,
    /// Objects to bytes.
    pub encode: Series,
    /// The sum of the two, in nanoseconds.
    pub total_ns: Estimate,
    /// The sum against the best of the same runtime that gives the same objects: 1 is the best.
    pub ratio: Estimate,
    /// Memory, where the system tells.
    pub memory: Option<Memory>,
}

/// Samples of one kind of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Passes over the timed documents in each sample.
    pub iterations: u64,
    /// Nanoseconds for one pass: sample by sample, in the order they were taken.
    pub samples_ns: Vec<f64>,
    /// The median of them.
    pub estimate_ns: Estimate,
    /// Processor time against time by the clock: well below 1, and something else had the core.
    pub cpu_share: Option<f64>,
    /// The part of the time that the collector took, 0 to 1, where the runtime tells it.
    pub gc_share: Option<f64>,
}

/// Resident memory of the process, in bytes, as the system sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Interpreter and library, before any data.
    pub idle: u64,
    /// The most while decoding.
    pub decode_peak: u64,
    /// The most at all: all objects held, and encoded.
    pub peak: u64,
}

/// A contender that could not be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The contender's name.
    pub contender: String,
    /// Where it would run.
    pub runtime: Runtime,
    /// How to get it.
    pub install: String,
    /// What was said when it was tried.
    pub reason: String,
}

impl Row {
    /// Whether its times may be shown.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.timing.is_some()
    }
}

impl Report {
    /// The report as JSON, indented.
    ///
    /// # Panics
    /// Never: it is plain data.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data")
    }
}
