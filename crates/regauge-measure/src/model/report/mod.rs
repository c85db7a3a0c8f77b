//! The results of a measurement: plain data, for JSON and for `regauge-report`.

mod loss;
mod row;
mod safety;
#[cfg(test)]
pub(crate) mod small;
mod task;
mod verdict;

use serde::{Deserialize, Serialize};

use crate::model::machine::Machine;
use crate::model::stats::{self, Estimate};

pub use loss::{Example, Loss};
pub use row::{Cold, Dropped, Memory, Missing, Row, Series, Sitting, Timing, Whole};
pub use safety::{Bomb, BombOutcome, Reach, Safety};
pub use task::{Axis, Cell, Chart, Column, Line, Task, TaskRow, TaskTable};
pub use verdict::{Assumptions, Choice, Cost, Costs, Crossing, Field, Gain, NotTimed, Verdict};

/// The name of this shape of JSON. A change that a reader would notice raises the number.
pub const SCHEMA: &str = "regauge-measure/3";

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
    /// How quiet the machine was, if that was measured.
    #[serde(default)]
    pub noise: Option<Noise>,
    /// What the formats and libraries cost in use, under stated assumptions.
    #[serde(default)]
    pub costs: Option<Costs>,
    /// What to use, and why.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// The named task's own tables, if it was one.
    #[serde(default)]
    pub task: Option<Task>,
    /// Whether the run was interrupted: the report then has the results up to that point.
    #[serde(default)]
    pub interrupted: bool,
}

impl Report {
    /// Returns the report as JSON, indented.
    ///
    /// # Panics
    /// Never: it is plain data.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data")
    }

    /// The part of its own time that a contender typically had the processor for, if that is so little
    /// that the machine was busy: the median of all contenders. A single one may wait for itself.
    #[must_use]
    pub fn busy_share(&self) -> Option<f64> {
        let timed = self.rows.iter().filter_map(|row| row.timing.as_ref());
        let shares: Vec<f64> = timed
            .flat_map(|timing| [timing.decode.cpu_share, timing.encode.cpu_share])
            .flatten()
            .collect();
        let share = if shares.is_empty() { 1.0 } else { stats::median(&shares) };
        (share < 0.9).then_some(share)
    }
}

/// How quiet the machine was: a fixed piece of work, timed again and again between the rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Nanoseconds of each probe, in the order they were taken.
    pub probes_ns: Vec<f64>,
    /// Half of the distance between the quartiles, divided by the median: 0.01 is quiet.
    pub spread: f64,
    /// The machine's best time for a short probe, in nanoseconds; 0 without probes. A sample is
    /// *quiet* when the probes before and after it are within 8% of this.
    #[serde(default)]
    pub best_probe_ns: f64,
    /// The share of all samples that were quiet, 0 to 1, or nothing without probes.
    #[serde(default)]
    pub quiet_share: Option<f64>,
}

/// Compressed reference bytes of one format, all documents as one stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compression {
    /// The compressor and its level: "gzip -6", "zstd -3", "lz4".
    pub codec: String,
    /// Size.
    pub bytes: u64,
    /// Nanoseconds to compress everything.
    pub compress_ns: Estimate,
    /// Nanoseconds to decompress it.
    pub decompress_ns: Estimate,
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
    /// Documents or records that were measured; `notes` mention others.
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
    /// The part of one large document that was timed; nothing when it was timed whole.
    #[serde(default)]
    pub part: Option<Part>,
    /// Whether all but the winners were checked on what was timed, and not on the whole.
    #[serde(default)]
    pub checked_on_part: bool,
    /// If so, whether the winners were then checked on the whole.
    #[serde(default = "has_finals")]
    pub has_finals: bool,
}

/// Results of the first version, which do not say it, have them.
fn has_finals() -> bool {
    true
}

impl Method {
    /// Says what was looked at beyond the part that was timed.
    #[must_use]
    pub fn beyond_the_part(&self) -> &'static str {
        match (self.checked_on_part, self.has_finals) {
            (true, true) => "the winners are also checked on the whole",
            (true, false) => "checks cover a part as well, and all of them without --budget",
            (false, _) => "sizes and checks cover all",
        }
    }
}

/// A part of a large document: elements of its largest array, evenly spread, with everything that
/// is around the array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The path of the array: "$.features".
    pub path: String,
    /// Elements that were kept.
    pub elements: u64,
    /// Elements that there are.
    pub of: u64,
    /// Bytes of the part against those of the whole, in the input's format: 0 to 1. A time of the
    /// part divided by this is about the time of the whole.
    pub share: f64,
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
    /// What wrote them: regauge, or the contender's runtime.
    pub written_by: String,
    /// What the format itself cannot hold of the data: the nearest that it can hold was written.
    #[serde(default)]
    pub losses: Vec<Loss>,
    /// The same bytes compressed, with times.
    #[serde(default)]
    pub compressions: Vec<Compression>,
}
