//! Holds the costs, and what to use.

use serde::{Deserialize, Serialize};

use crate::model::runtime::Runtime;
use crate::model::stats::Estimate;
use crate::model::wire::Gives;

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
    /// Whether it loses data, runs code without permission, or gives text instead of bytes, so that
    /// it cannot be recommended.
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
