//! What a measurement found: plain data, for JSON and for the tables of `crate::table`.

use serde::{Deserialize, Serialize};

use crate::contender::Gives;
use crate::machine::Machine;
use crate::runtime::Runtime;
use crate::stats::Estimate;

/// The name of this shape of JSON. A change that a reader would notice raises the number.
pub const SCHEMA: &str = "regauge-measure/2";

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
    /// How quiet the machine was, where it was looked at.
    #[serde(default)]
    pub noise: Option<Noise>,
    /// What the formats and libraries cost in use, under stated assumptions.
    #[serde(default)]
    pub costs: Option<Costs>,
    /// What to take, and why.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// The named task's own tables, if it was one.
    #[serde(default)]
    pub task: Option<Task>,
    /// Whether the run was stopped before its end: what is there is what was measured till then.
    #[serde(default)]
    pub interrupted: bool,
}

/// How quiet the machine was: a fixed piece of work, timed again and again between the rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Nanoseconds of each probe, in the order they were taken.
    pub probes_ns: Vec<f64>,
    /// Half of the distance between the quartiles, divided by the median: 0.01 is quiet.
    pub spread: f64,
    /// The spread beyond which nothing is ranked.
    pub limit: f64,
    /// What to do about it, if it is beyond the limit.
    pub advice: Option<String>,
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

/// A fresh process's way to its first document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cold {
    /// From the start of the process to its first answer: interpreter, library, in nanoseconds.
    pub start_ns: Estimate,
    /// The first decoding of all timed documents, or of the first, in that process.
    pub first_decode_ns: Estimate,
}

/// What decoding bytes of a stranger would risk, tried out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Safety {
    /// Whether a harmless payload that was hidden in a document ran while it was decoded; nothing
    /// where the format has no means to name code and none was tried.
    pub runs_code: Option<bool>,
    /// How far the documents that were tried reached into the runtime.
    #[serde(default)]
    pub reach: Reach,
    /// What proved it, in words.
    pub proof: String,
    /// What became of each small document that asks for much.
    pub bombs: Vec<Bomb>,
    /// The limits that the library has by default, in words.
    pub limits: String,
}

/// How far a document reaches into the runtime that decodes it: what was seen, not what may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// Nothing but data came of what was tried.
    #[default]
    Data,
    /// Objects of a class that the document names were made; no method of it was seen to run.
    Objects,
    /// A method of a class that the document names ran, with what the document gave it.
    Methods,
    /// A function of the document's choice ran, with its arguments, by the runtime's own library
    /// alone: the document can do what the program can do.
    Code,
}

/// A small document that asks a decoder for much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bomb {
    /// What kind: "depth 100,000", "declared length 2^31", "aliases 9^9" …
    pub kind: String,
    /// Bytes of it.
    pub bytes: u64,
    /// What happened.
    pub outcome: BombOutcome,
    /// Whether the process ended by it, or had to be stopped: one document ends a server then.
    #[serde(default)]
    pub ended: bool,
    /// In words: the error it raised, the memory it took.
    pub detail: String,
    /// The memory that it took above what the process had before, in bytes, where the system
    /// tells.
    #[serde(default)]
    pub peak_bytes: Option<u64>,
}

/// What a bomb did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BombOutcome {
    /// It raised an error at once: the library has a limit.
    Refused,
    /// It was decoded without harm.
    Decoded,
    /// It took more memory than the probe allows, or was refused what it asked for.
    OutOfMemory,
    /// It took longer than the probe allows.
    OutOfTime,
    /// The process died.
    Crashed,
}

/// Size and time as one figure, for every row that was timed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// What was assumed.
    pub assumed: Assumptions,
    /// One for each timed row and compression ("none" among them).
    pub rows: Vec<Cost>,
    /// Where the cheapest changes as the bandwidth grows, for each runtime and kind of objects,
    /// among what the verdict may choose from.
    pub crossings: Vec<Crossing>,
}

/// The assumptions of the cost figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assumptions {
    /// Bytes a second between the one who writes and the one who reads.
    pub bandwidth: f64,
    /// How often a document is read for each time it is written.
    pub reads_per_write: f64,
    /// How many months it is stored.
    pub store_months: f64,
    /// How many gigabytes stored for a month are worth one hour of a core.
    pub gigabyte_months_per_core_hour: f64,
}

/// What a document costs with one library, format and compression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// The contender's name.
    pub contender: String,
    /// Where it ran.
    pub runtime: Runtime,
    /// What it decodes to: only equals are compared.
    pub gives: Gives,
    /// The format.
    pub format: String,
    /// The compressor, or "none".
    pub compression: String,
    /// Nanoseconds to encode and compress a document.
    pub write_ns: f64,
    /// Nanoseconds to move it once.
    pub move_ns: f64,
    /// Nanoseconds to decompress and decode it.
    pub read_ns: f64,
    /// Bytes of it.
    pub bytes: f64,
    /// All together under the assumptions: one writing, and as many moves and readings as assumed.
    pub total_ns: Estimate,
    /// Hours of one core for a million documents, so written and read.
    pub core_hours_per_million: f64,
    /// Bytes of a million documents, times months.
    pub byte_months_per_million: f64,
    /// Whether it loses or runs what nobody allowed, so that no recommendation is among it.
    #[serde(default)]
    pub is_refused: bool,
}

/// A change of the cheapest way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Crossing {
    /// Where.
    pub runtime: Runtime,
    /// What both decode to.
    pub gives: Gives,
    /// Bytes a second at which the two cost the same.
    pub bandwidth: f64,
    /// The cheapest below.
    pub below: String,
    /// The cheapest above.
    pub above: String,
}

/// What to take, for each runtime and use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The summary in plain words, the most important sentence first.
    pub summary: Vec<String>,
    /// One for each runtime and use.
    pub choices: Vec<Choice>,
}

/// The winner for one use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Where.
    pub runtime: Runtime,
    /// What they decode to.
    pub gives: Gives,
    /// "storage", "wire" or "cache".
    pub purpose: String,
    /// The winner, or all that are too close to call, the best first.
    pub winners: Vec<String>,
    /// Whether more than one is named because their intervals overlap.
    pub too_close: bool,
    /// How the three parts of the cost were weighed, and what was left out and why.
    pub because: String,
}

/// A founding comparison, measured again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its name: "marc-catalog" …
    pub name: String,
    /// The question that it answers.
    pub question: String,
    /// Where the published figures come from.
    pub source: String,
    /// Its tables: the same rows and columns as published, and what came since.
    pub tables: Vec<TaskTable>,
    /// Lines over a common axis.
    pub charts: Vec<Chart>,
    /// What has changed since, a sentence each.
    pub changed: Vec<String>,
    /// Where two ways of doing a thing cross as numbers grow, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossings: Vec<String>,
}

/// A table of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskTable {
    /// What it shows.
    pub title: String,
    /// The columns after the first, which names the row.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<TaskRow>,
    /// The row that ratios refer to.
    pub baseline: Option<String>,
}

/// A column of a task's table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its head.
    pub name: String,
    /// The unit of its numbers, as `table` prints them: "ns", "bytes", "per second", "ratio".
    pub unit: String,
    /// Whether less is better.
    pub less_is_better: bool,
}

/// A row of a task's table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRow {
    /// What it is: as the post calls it, with the library and version of today.
    pub name: String,
    /// Whether the post has it.
    pub published: bool,
    /// One for each column.
    pub cells: Vec<Cell>,
    /// Why there are no figures, or what to know about them.
    pub note: Option<String>,
}

/// A figure of a task's table, beside the published one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Measured now.
    pub today: Option<Estimate>,
    /// Measured now, against the table's baseline.
    pub today_ratio: Option<Estimate>,
    /// What the post says, in the same unit.
    pub published: Option<f64>,
    /// The same against the post's own figure for the baseline.
    pub published_ratio: Option<f64>,
}

/// Lines over a common axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis, with its unit.
    pub x: Axis,
    /// The vertical axis, with its unit.
    pub y: Axis,
    /// The lines.
    pub lines: Vec<Line>,
}

/// An axis of a chart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What it counts.
    pub label: String,
    /// The unit, as of a table's column.
    pub unit: String,
    /// Whether equal steps are equal factors.
    pub log: bool,
}

/// A line of a chart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// What it is.
    pub name: String,
    /// Places on both axes, from left to right.
    pub points: Vec<[f64; 2]>,
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
    /// What the format itself cannot hold of the data: the nearest that it can hold was written.
    #[serde(default)]
    pub losses: Vec<Loss>,
    /// The same bytes compressed, with times.
    #[serde(default)]
    pub compressions: Vec<Compression>,
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
    /// Whether it only builds the objects, with no parsing: the floor of its runtime.
    #[serde(default)]
    pub is_floor: bool,
    /// A fresh process's first decoding, where it was measured.
    #[serde(default)]
    pub cold: Option<Cold>,
    /// What became of hostile documents, where they were tried.
    #[serde(default)]
    pub safety: Option<Safety>,
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
    /// 1 for all where nothing is ranked ([`Report::is_ranked`]).
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
    /// Collections in one pass, where the runtime tells them.
    #[serde(default)]
    pub gc_count: Option<f64>,
    /// Objects allocated in one pass, where the runtime tells them.
    #[serde(default)]
    pub allocations: Option<f64>,
    /// Which samples, from 0, lie more than three times the distance of the quartiles away from
    /// them. They are shown, and count.
    #[serde(default)]
    pub outliers: Vec<u64>,
    /// The processes that gave the samples, one after the other. Empty: it was one.
    #[serde(default)]
    pub sittings: Vec<Sitting>,
}

/// The part of a fresh process in a series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sitting {
    /// How many of the samples it gave.
    pub samples: u64,
    /// Samples before those, for warming up. They do not count.
    pub warm_up_samples: u64,
    /// Nanoseconds that warming up took.
    pub warm_up_ns: f64,
    /// Whether the last three of them agreed with the three before; nothing when there were fewer
    /// than six.
    pub settled: Option<bool>,
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

impl Series {
    /// How many samples each process gave.
    #[must_use]
    pub fn sizes(&self) -> Vec<usize> {
        self.sittings.iter().map(|sitting| sitting.samples as usize).collect()
    }

    /// Whether it was warm when its samples were taken, in every process that can tell.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.sittings.iter().all(|sitting| sitting.settled != Some(false))
    }
}

impl Report {
    /// Whether contenders may be ranked: not when the machine was too noisy.
    #[must_use]
    pub fn is_ranked(&self) -> bool {
        self.noise.as_ref().is_none_or(|noise| noise.advice.is_none())
    }

    /// The report as JSON, indented.
    ///
    /// # Panics
    /// Never: it is plain data.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data")
    }
}
