//! Holds what is known of one contender: its output, its times, its samples.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::loss::Loss;
use super::safety::Safety;
use crate::model::runtime::Runtime;
use crate::model::stats::Estimate;
use crate::model::wire::Gives;

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
    /// The same after each compression, by its name: "zstd -3". Empty if it wrote the reference bytes, whose
    /// sizes the report has. If a part was timed, these are the sizes of the part's output, scaled.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub output_compressed: BTreeMap<String, u64>,
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
    /// Whether it takes and returns text instead of bytes, so that it is no candidate for what is
    /// stored or sent.
    #[serde(default)]
    pub is_text: bool,
    /// How it left the race before the end; nothing when it stayed, or never ran.
    #[serde(default)]
    pub dropped: Option<Dropped>,
    /// One pass over the whole document, where only a part of it was timed and this contender was
    /// among the best: nanoseconds to decode and to encode, one sample of each.
    #[serde(default)]
    pub whole: Option<Whole>,
}

impl Row {
    /// Returns whether its times may be shown.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.timing.is_some()
    }
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

/// A fresh process's way to its first document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cold {
    /// From the start of the process to its first answer: interpreter, library, in nanoseconds.
    pub start_ns: Estimate,
    /// The first decoding of all timed documents, or of the first, in that process.
    pub first_decode_ns: Estimate,
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
    /// Whether the estimate is of processor time, because it was asked for or hardly a sample was quiet, and the
    /// contender has one thread. `samples_ns` then is processor time, too.
    #[serde(default)]
    pub by_processor_time: bool,
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
