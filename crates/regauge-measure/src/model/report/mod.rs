//! The results of a measurement: plain data, for JSON and for the tables of `regauge-report`.

#[cfg(test)]
pub(crate) mod small;

use regauge::compare::Change;
use serde::{Deserialize, Serialize};

use crate::model::machine::Machine;
use crate::model::runtime::Runtime;
use crate::model::stats::{self, Estimate};
use crate::model::wire::Gives;

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
    /// The tests produced nothing but data.
    #[default]
    Data,
    /// Objects of a class that the document names were made; no method of it was seen to run.
    Objects,
    /// A method of a class that the document names ran, with arguments from the document.
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
    /// The additional memory that it took, in bytes, if the system reports it.
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
    /// Bandwidth between writer and reader, in bytes per second.
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
    /// Whether it loses data or runs code without permission, so that it cannot be recommended.
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

/// What to use, for each runtime and use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The summary in plain words, the most important sentence first.
    pub summary: Vec<String>,
    /// One for each runtime and use. An undecided runtime has choices without winners.
    pub choices: Vec<Choice>,
    /// How many of the possible winners were timed, for each runtime and kind of objects.
    #[serde(default)]
    pub fields: Vec<Field>,
}

/// The contenders of one runtime that give the same objects, and how many of them were timed.
///
/// There is no winner unless every usual library that is installed was timed, or was ruled out by
/// something that was measured: see [`Field::is_decided`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Where.
    pub runtime: Runtime,
    /// What they decode to.
    pub gives: Gives,
    /// Contenders that are installed.
    pub found: u64,
    /// Those of them that have times.
    pub timed: u64,
    /// Usual ones that are installed.
    pub usual: u64,
    /// Usual ones that were timed or ruled out.
    pub usual_timed: u64,
    /// Usual ones that are not installed, by name.
    pub usual_missing: Vec<String>,
    /// Everyone that is installed and has no times, the usual ones first.
    pub not_timed: Vec<NotTimed>,
    /// What the user has now: the runtime's own library for the file's format, uncompressed. As in
    /// [`Choice::winners`]. The gains of the choices are over this.
    pub now: Option<String>,
}

impl Field {
    /// Returns whether a winner may be named: every usual library that is installed was timed or
    /// ruled out, and at least one has times.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.usual_timed == self.usual && self.timed > 0
    }
}

/// A contender that is installed and has no times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotTimed {
    /// Its name.
    pub contender: String,
    /// Whether it is one of the usual ones.
    pub usual: bool,
    /// Why, in words: "its output is wrong", "the budget ran out" …
    pub why: String,
    /// Whether it cannot win anyway: its output is wrong, it fails on this data, or it was stopped
    /// after many times the time of the best. Otherwise it might win, and if it is a usual library
    /// its runtime has no winner.
    pub is_ruled_out: bool,
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
    /// The winner, or all that tie for first, the best first.
    pub winners: Vec<String>,
    /// Whether more than one is named because their intervals overlap.
    pub too_close: bool,
    /// How the three parts of the cost were weighed, and what was left out and why.
    pub because: String,
    /// What the first of the winners saves over what the user has now ([`Field::now`]); nothing
    /// when there is no winner, or nothing to compare it with.
    #[serde(default)]
    pub gain: Option<Gain>,
}

/// What a winner saves over what the user has now. Each figure is how many times less: 2 is half.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// Whether the winner is what the user has, or ties with it.
    pub is_same: bool,
    /// How many times fewer bytes. Below 1, it needs more.
    pub size: f64,
    /// How many times less processor time, with one writing and the readings of this use;
    /// compression is part of it.
    pub time: Estimate,
    /// How many times less everything together, as this use weighs it: for "wire" the time of
    /// writing, moving and reading, for "cache" of writing and reading, for "storage" the price.
    pub cost: Estimate,
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
    /// Where two alternatives cross as numbers grow, in a sentence each.
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

/// A figure in a task's table, beside the published one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Measured now.
    pub today: Option<Estimate>,
    /// Measured now, against the table's baseline.
    pub today_ratio: Option<Estimate>,
    /// What the post says, in the same unit.
    pub published: Option<f64>,
    /// Its upper end, if the post gives a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_to: Option<f64>,
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
}

impl Method {
    /// Says what was looked at beyond the part that was timed.
    #[must_use]
    pub fn beyond_the_part(&self) -> &'static str {
        match self.checked_on_part {
            true => "the winners are also checked on the whole",
            false => "sizes and checks cover all",
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
    /// Why it must not decode untrusted bytes, if so.
    pub unsafe_because: Option<String>,
    /// Size of what it encodes.
    pub output_bytes: Option<u64>,
    /// The same after gzip -6.
    pub output_gzip_bytes: Option<u64>,
    /// What its own output has lost, kind by kind.
    pub losses: Vec<Loss>,
    /// What is wrong in its own output; it then has no times.
    pub wrong: Vec<Loss>,
    /// In how many documents something is wrong.
    pub wrong_documents: u64,
    /// What stopped it, in words.
    pub failure: Option<String>,
    /// Its times, when its output was right.
    pub timing: Option<Timing>,
    /// A fresh process's first decoding, if it was measured.
    #[serde(default)]
    pub cold: Option<Cold>,
    /// The results of hostile documents, if they were tested.
    #[serde(default)]
    pub safety: Option<Safety>,
    /// Whether its library is one of the usual ones of its runtime and format: what comes with the
    /// runtime, what most people use, and the fastest known.
    #[serde(default)]
    pub usual: bool,
    /// How it left the race before the end; nothing when it stayed, or never ran.
    #[serde(default)]
    pub dropped: Option<Dropped>,
    /// One pass over the whole document, where only a part of it was timed and this contender was
    /// among the best: nanoseconds to decode and to encode, one sample of each.
    #[serde(default)]
    pub whole: Option<Whole>,
}

/// How a contender left the race: it was too slow to be among the best.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    /// The minimum ratio of its time to the best of its group, decoding and encoding together.
    pub at_least: f64,
    /// The processes that gave its samples. With few of them its own times have no interval
    /// ([`Estimate::too_few`]). 0 when it was stopped before it had answered: there are no times,
    /// and `at_least` comes from the time it had been given.
    pub processes: u64,
}

/// The whole of a large document, decoded and encoded once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Whole {
    /// Nanoseconds to decode it.
    pub decode_ns: f64,
    /// Nanoseconds to encode it.
    pub encode_ns: f64,
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

impl Loss {
    /// Returns a difference between two documents as reports show it.
    pub(crate) fn of(change: &Change) -> Loss {
        Loss {
            kind: change.kind.name().to_owned(),
            count: change.count,
            examples: change
                .examples
                .iter()
                .map(|one| Example {
                    document: one.document,
                    path: one.path.to_string(),
                    before: one.before.clone(),
                    after: one.after.clone(),
                })
                .collect(),
        }
    }
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
    /// Where both have too few samples for an interval, it is [`Estimate::too_few`].
    pub ratio: Estimate,
    /// Decoding against the fastest decoder of the group.
    #[serde(default)]
    pub decode_ratio: Option<Estimate>,
    /// Encoding against the fastest encoder of the group.
    #[serde(default)]
    pub encode_ratio: Option<Estimate>,
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
    /// Nanoseconds of the short probes before and after each sample, in their order; empty where
    /// there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes_ns: Vec<[f64; 2]>,
    /// The share of the samples that were quiet, 0 to 1. Where there are enough of them, the
    /// estimate is made of these alone; all stay in `samples_ns`.
    #[serde(default)]
    pub quiet_share: Option<f64>,
    /// Which samples, from 0, the estimate is made without: they were not quiet, or their process
    /// compiled on after them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<u64>,
    /// How much processes of this runtime differ, as the contenders of the run tell together: the
    /// standard deviation of the logarithm. The interval takes it into account. 0: not known.
    #[serde(default)]
    pub process_spread: f64,
    /// Whether the estimate is of processor time, because hardly a sample was quiet and the
    /// contender has one thread. `samples_ns` then is processor time, too.
    #[serde(default)]
    pub by_processor_time: bool,
}

/// The part of a fresh process in a series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sitting {
    /// How many of the samples it gave.
    pub samples: u64,
    /// Which process, from 0: a long-lived one gives samples in several laps.
    #[serde(default)]
    pub process: u64,
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
    /// Whether its library is one of the usual ones.
    #[serde(default)]
    pub usual: bool,
    /// What it would decode to.
    #[serde(default)]
    pub gives: Option<Gives>,
}

impl Row {
    /// Returns whether its times may be shown.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.timing.is_some()
    }
}

impl Series {
    /// Returns how many samples each lap gave.
    #[must_use]
    pub fn sizes(&self) -> Vec<usize> {
        self.sittings.iter().map(|sitting| sitting.samples as usize).collect()
    }

    /// Returns how many processes gave samples.
    #[must_use]
    pub fn processes(&self) -> usize {
        let mut processes: Vec<u64> = self.sittings.iter().map(|one| one.process).collect();
        processes.dedup();
        // Earlier versions gave no numbers, and each sitting was a process.
        if processes == [0] { self.sittings.len() } else { processes.len().max(1) }
    }
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
