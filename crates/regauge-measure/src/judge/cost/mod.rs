//! Combines size and time into one figure: the cost to write, move and read a document.
//!
//! Everything here is linear. A *way* is a contender with a compression; it has a time to write
//! (encode and compress), a time to read (decompress and decode) and a size, each for one document.
//! A *use* weighs the three. Plotted over the inverse of the bandwidth, the cost of a way is a
//! straight line, so the cheapest way at each bandwidth is the lower envelope of straight lines,
//! and the bandwidths where it changes are exact (`envelope`).
//!
//! Intervals: encoding and decoding times are resampled, as everywhere. For compression, the report
//! has only the ends of the interval; three samples (low, median, high) represent it, and their
//! bootstrap returns exactly these ends.

mod envelope;
mod units;

use crate::judge::summary;
use crate::model::report::{Assumptions, Compression, Cost, Costs, Crossing, Report, Row, Series};
use crate::model::runtime::Runtime;
use crate::model::stats::{self, Estimate, Grouped, List};
use crate::model::wire::Gives;
use crate::plan::order::family;

pub use units::{bandwidth_text, parse_bandwidth};

/// Hours of a core in nanoseconds.
const HOUR_NS: f64 = 3.6e12;
/// The number of documents that figures are given for.
const MILLION: f64 = 1e6;

impl Default for Assumptions {
    /// Returns the defaults: 1 Gbit/s, ten reads per write, stored for a year. A core-hour costs
    /// about as much to rent as two gigabytes for a month.
    fn default() -> Assumptions {
        Assumptions {
            bandwidth: 125e6,
            reads_per_write: 10.0,
            store_months: 12.0,
            gigabyte_months_per_core_hour: 2.0,
        }
    }
}

/// How much writing, reading and size count in one use of a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weights {
    /// Times that it is written.
    pub writes: f64,
    /// Times that it is read.
    pub reads: f64,
    /// Nanoseconds that one byte of it costs.
    pub byte_ns: f64,
}

impl Weights {
    /// Returns the weights of one write and the assumed number of transfers and reads.
    pub(crate) fn total(assumed: &Assumptions) -> Weights {
        Weights {
            writes: 1.0,
            reads: assumed.reads_per_write,
            byte_ns: assumed.reads_per_write * 1e9 / assumed.bandwidth,
        }
    }

    /// Returns the weights of a message: written, transferred and read once.
    pub(crate) fn wire(assumed: &Assumptions) -> Weights {
        Weights { writes: 1.0, reads: 1.0, byte_ns: 1e9 / assumed.bandwidth }
    }

    /// Returns the weights of storage for the assumed months. Storing a byte for a month costs the
    /// assumed part of a core-hour.
    pub(crate) fn storage(assumed: &Assumptions) -> Weights {
        let byte_month_ns = HOUR_NS / (assumed.gigabyte_months_per_core_hour * 1e9);
        Weights {
            writes: 1.0,
            reads: assumed.reads_per_write,
            byte_ns: assumed.store_months * byte_month_ns,
        }
    }

    /// Returns the weights within one process: nothing is transferred or stored.
    pub(crate) fn cache(assumed: &Assumptions) -> Weights {
        Weights { writes: 1.0, reads: assumed.reads_per_write, byte_ns: 0.0 }
    }
}

/// A contender with a compression: samples in nanoseconds for one document.
#[derive(Debug, Clone)]
pub(crate) struct Way<'r> {
    pub row: &'r Row,
    /// The compressor, or "none".
    pub compression: &'r str,
    /// Bytes of a document.
    pub bytes: f64,
    encode: List,
    decode: List,
    compress: List,
    decompress: List,
}

/// Adds the format to a library's name, unless that contains it.
fn with_format(name: &str, format: &str) -> String {
    let lower = name.to_lowercase();
    // "fastjson2 (jsonb)" says fastjson2-jsonb, and any JSON library that it is MARC-in-JSON.
    let told = format.split('-').all(|word| lower.contains(word))
        || format.contains(&lower)
        || lower.contains(family(format));
    match name.strip_suffix(')') {
        _ if told => name.to_owned(),
        Some(open) => format!("{open}, {format})"),
        None => format!("{name} ({format})"),
    }
}

impl Way<'_> {
    /// Returns the name for people: the library, its format unless the name contains it, the
    /// compressor.
    pub(crate) fn label(&self) -> String {
        let library = with_format(&self.row.contender, &self.row.format);
        match self.compression {
            "none" => library,
            codec => format!("{library} + {codec}"),
        }
    }

    fn lists(&self) -> [Grouped<'_>; 4] {
        [&self.encode, &self.decode, &self.compress, &self.decompress].map(Grouped::from)
    }

    /// Returns the nanoseconds to write it once.
    pub(crate) fn write_ns(&self) -> f64 {
        stats::median(&self.encode.samples) + stats::median(&self.compress.samples)
    }

    /// Returns the nanoseconds to read it once.
    pub(crate) fn read_ns(&self) -> f64 {
        stats::median(&self.decode.samples) + stats::median(&self.decompress.samples)
    }

    /// Returns the cost of one document, in nanoseconds.
    pub(crate) fn cost(&self, weights: Weights) -> f64 {
        weights.writes * self.write_ns()
            + weights.reads * self.read_ns()
            + weights.byte_ns * self.bytes
    }

    /// Returns the cost with its interval.
    fn estimate(&self, weights: Weights, seed: u64) -> Estimate {
        let (bytes, lists) = (self.bytes, self.lists());
        let number = |medians: &[f64]| weigh(medians, bytes, weights);
        summary::judged(stats::estimate_of_processes(&lists, seed, number), &lists)
    }

    /// Returns the ratio of this cost to that of `other`.
    pub(crate) fn against(&self, other: &Way, weights: Weights, seed: u64) -> Estimate {
        let lists: Vec<Grouped> = self.lists().into_iter().chain(other.lists()).collect();
        let number = |medians: &[f64]| {
            weigh(&medians[..4], self.bytes, weights) / weigh(&medians[4..], other.bytes, weights)
        };
        summary::judged(stats::estimate_of_processes(&lists, seed, number), &lists)
    }
}

/// Combines the medians of encoding, decoding, compressing and decompressing into one figure.
fn weigh(medians: &[f64], bytes: f64, weights: Weights) -> f64 {
    weights.writes * (medians[0] + medians[2])
        + weights.reads * (medians[1] + medians[3])
        + weights.byte_ns * bytes
}

/// Returns every way that was timed: each row uncompressed, and with each compression that was
/// tried on its format's reference.
pub(crate) fn ways(report: &Report) -> Vec<Way<'_>> {
    let share = report.method.part.as_ref().map_or(1.0, |part| part.share);
    let timed = report.method.timed_documents.max(1) as f64 * share;
    let all = report.input.documents.max(1) as f64;
    let each = |series: &Series| -> List {
        let mut list = summary::list(series);
        list.samples.iter_mut().for_each(|ns| *ns /= timed);
        list
    };
    let mut list = Vec::new();
    for row in &report.rows {
        let (Some(timing), Some(output)) = (&row.timing, row.output_bytes) else { continue };
        let way = |compression, bytes: f64, compress: List, decompress: List| Way {
            row,
            compression,
            bytes: bytes / all,
            encode: each(&timing.encode),
            decode: each(&timing.decode),
            compress,
            decompress,
        };
        let output = output as f64;
        list.push(way("none", output, List::default(), List::default()));
        let Some((reference_bytes, compressions)) = compressions_of(report, row) else { continue };
        // Only the reference's compression is timed: the library's own output takes time by its length.
        let longer = output / reference_bytes.max(1.0);
        for one in compressions {
            let spread = |estimate: Estimate| -> List {
                let ends = [estimate.low, estimate.median, estimate.high];
                ends.map(|ns| ns * longer / all).to_vec().into()
            };
            list.push(way(
                &one.codec,
                packed_bytes(row, output, reference_bytes, one),
                spread(one.compress_ns),
                spread(one.decompress_ns),
            ));
        }
    }
    list
}

/// Returns the compressed size of a contender's output. If that was too large to compress, it is taken to
/// compress as well as the reference.
fn packed_bytes(row: &Row, output: f64, reference_bytes: f64, one: &Compression) -> f64 {
    match row.output_compressed.get(&one.codec) {
        Some(bytes) => *bytes as f64,
        None => one.bytes as f64 * output / reference_bytes.max(1.0),
    }
}

/// Returns the size of what a contender writes after `codec`, if both were measured.
#[must_use]
pub fn compressed(report: &Report, row: &Row, codec: &str) -> Option<u64> {
    let output = row.output_bytes?;
    if let Some(bytes) = row.output_compressed.get(codec) {
        return Some(*bytes);
    }
    let (reference_bytes, compressions) = compressions_of(report, row)?;
    let one = compressions.iter().find(|one| one.codec == codec)?;
    Some(packed_bytes(row, output as f64, reference_bytes, one).round() as u64)
}

/// Returns the bytes of the reference that a row read, and its compressions. Where runtimes wrote
/// the format themselves, there are several; a row reads its own.
fn compressions_of<'r>(report: &'r Report, row: &Row) -> Option<(f64, &'r [Compression])> {
    let own = format!("{} ({})", row.contender, row.runtime.name());
    let mut fitting: Vec<_> =
        report.references.iter().filter(|one| one.format == row.format).collect();
    fitting.sort_by_key(|one| one.written_by != own);
    fitting.first().map(|one| (one.bytes as f64, one.compressions.as_slice()))
}

/// Returns the cost figures of a report; `may_win` says which rows the crossings are among.
pub(crate) fn costs(
    report: &Report,
    assumed: &Assumptions,
    may_win: &dyn Fn(&Row) -> bool,
) -> Costs {
    let ways = ways(report);
    let weights = Weights::total(assumed);
    let rows = ways
        .iter()
        .map(|way| {
            let (write_ns, read_ns) = (way.write_ns(), way.read_ns());
            let core_ns = write_ns + assumed.reads_per_write * read_ns;
            Cost {
                contender: way.row.contender.clone(),
                runtime: way.row.runtime,
                gives: way.row.gives,
                format: way.row.format.clone(),
                compression: way.compression.to_owned(),
                write_ns,
                move_ns: way.bytes * 1e9 / assumed.bandwidth,
                read_ns,
                bytes: way.bytes,
                total_ns: way.estimate(weights, report.method.seed),
                core_hours_per_million: core_ns * MILLION / HOUR_NS,
                byte_months_per_million: way.bytes * MILLION * assumed.store_months,
                is_refused: !may_win(way.row),
            }
        })
        .collect();
    let crossings = summary::groups(report)
        .into_iter()
        .flat_map(|group| crossings(&ways, group, assumed, may_win))
        .collect();
    Costs { assumed: assumed.clone(), rows, crossings }
}

/// Returns where the cheapest way of one group changes, the lowest bandwidth first.
fn crossings(
    ways: &[Way],
    (runtime, gives): (Runtime, Gives),
    assumed: &Assumptions,
    may_win: &dyn Fn(&Row) -> bool,
) -> Vec<Crossing> {
    let group: Vec<&Way> = ways
        .iter()
        .filter(|way| summary::is_in(way.row, runtime, gives) && may_win(way.row))
        .collect();
    // Nanoseconds are the constant part; each unit of the inverse of the bandwidth (seconds a
    // byte) adds what is moved.
    let lines: Vec<envelope::Line> = group
        .iter()
        .map(|way| envelope::Line {
            constant: way.write_ns() + assumed.reads_per_write * way.read_ns(),
            slope: assumed.reads_per_write * way.bytes * 1e9,
        })
        .collect();
    let lowest = envelope::lowest(&lines);
    lowest
        .windows(2)
        .map(|pair| Crossing {
            runtime,
            gives,
            bandwidth: 1.0 / pair[1].until,
            below: group[pair[0].line].label(),
            above: group[pair[1].line].label(),
        })
        .collect()
}

#[cfg(test)]
mod tests;
