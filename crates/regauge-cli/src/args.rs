//! The command line: every option, and the help a stranger reads.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use regauge::Format;
use regauge_measure::setup::Wanted;

use crate::flags::FormatFlags;

mod values;

pub use values::*;
use values::{bad, compression, interpreter, jobs, limit};

const AFTER: &str = "\
Exit status: 0 done, 1 bad data or a failed read or write, 2 wrong usage (an unknown option or \
format, a missing input, an output that exists), 3 refused because something would be lost, or \
because the output's format cannot hold it.";

/// Measure serialization on your own data, convert it safely.
#[derive(Debug, Parser)]
#[command(name = "regauge", version, about, propagate_version = true)]
#[command(after_help = AFTER, subcommand_required = true, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Convert(Box<Convert>),
    Inspect(Inspect),
    Measure(Box<Measure>),
    Report(Report),
    Sample(Sample),
    Store(Box<crate::commands::store::args::StoreArguments>),
    Serve(crate::commands::serve::Serve),
    Formats(Formats),
    Completions(Completions),
    Man(Man),
    #[command(hide = true)]
    Contender(Contender),
}

const CONVERT_EXAMPLES: &str = "\
Examples:
  regauge convert orders.json orders.msgpack
  regauge convert events.ndjson.zst - --to msgpack | consumer
  regauge convert --on-loss wrap data.msgpack data.json
  regauge convert --unwrap data.json data.msgpack
      bytes, NaN, … in a reversible notation, and back
  regauge convert --bad broken.mrc catalog.mrc catalog.xml
      broken records are named, kept apart and passed over

Formats come from the names (catalog.marc.json.gz is MARC-in-JSON, compressed), else from the first
bytes, or from --from and --to; `regauge formats` lists them. The output appears whole or not at
all.

Exit status: 0 done, 1 bad data or a failed read or write, 2 wrong usage, 3 refused because
something would be lost, or because the output's format cannot hold it.";

/// Convert a file from one format to another, losing nothing in silence
#[derive(Debug, Args)]
#[command(after_help = CONVERT_EXAMPLES)]
pub struct Convert {
    /// The file to read; - is standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The file to write; - is standard output
    #[arg(value_name = "OUT")]
    pub output: PathBuf,

    #[command(flatten)]
    pub reading: Reading,

    /// The format of the output [default: as its name tells]
    #[arg(help_heading = "Output", long, value_name = "FORMAT", value_parser = format)]
    pub to: Option<Format>,
    /// Compress the output [default: as its name tells]
    #[arg(help_heading = "Output", long, value_name = "none|gzip|zstd|lz4|xz|bzip2", value_parser = compression)]
    pub compress: Option<Packing>,
    /// How hard to compress: gzip and bzip2 1 to 9, zstd 1 to 22, xz 0 to 9; high levels of zstd and
    /// xz take much memory
    #[arg(help_heading = "Output", long, value_name = "N")]
    pub level: Option<u32>,
    /// Replace the output if it exists
    #[arg(help_heading = "Output", long, short)]
    pub force: bool,

    /// What to do with a value that the output's format cannot hold exactly
    #[arg(help_heading = "What is kept", long, value_enum, default_value_t = Loss::Refuse, value_name = "POLICY")]
    pub on_loss: Loss,
    /// The input is in the notation that --on-loss wrap writes: read it as what it stands for
    #[arg(help_heading = "What is kept", long)]
    pub unwrap: bool,
    /// What to do with classes, tags and symbols that the output's format does not have [default:
    /// as --on-loss says, data where that says approximate]
    #[arg(help_heading = "What is kept", long, value_enum, value_name = "POLICY")]
    pub objects: Option<ObjectsArg>,
    /// What a number with a fraction or an exponent is: the nearest double, or its digits
    #[arg(help_heading = "What is kept", long, value_enum, default_value_t = Numbers::Double, value_name = "HOW")]
    pub numbers: Numbers,
    /// What to do with a key that stands twice in one map
    #[arg(help_heading = "What is kept", long, value_enum, default_value_t = DuplicateKeys::Keep, value_name = "HOW")]
    pub duplicate_keys: DuplicateKeys,
    /// How documents become documents: an array is split into its elements where the output is a
    /// stream of records, a stream is joined into one array where it holds a single document
    #[arg(help_heading = "What is kept", long, value_enum, default_value_t = DocumentsArg::Auto, value_name = "HOW")]
    pub documents: DocumentsArg,
    /// What to do with a broken record: stop, skip it, or keep its bytes in a FILE and skip it
    #[arg(help_heading = "What is kept", long, value_name = "stop|skip|FILE", default_value = "stop", value_parser = bad)]
    pub bad: Bad,

    /// Write JSON over several lines, with so many spaces a level
    #[arg(help_heading = "JSON", long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=16))]
    pub indent: Option<u8>,
    /// The same as --indent 2
    #[arg(help_heading = "JSON", long, conflicts_with = "indent")]
    pub pretty: bool,
    /// Write JSON in ASCII alone, other characters as \uXXXX
    #[arg(help_heading = "JSON", long)]
    pub escape_non_ascii: bool,
    #[command(flatten)]
    pub yaml_write: crate::flags::yaml_write::YamlWriteFlags,

    /// Write ISO 2709 in this charset [default: the one that the record had]
    #[arg(
        help_heading = "MARC",
        long,
        value_name = "auto|utf8|marc8",
        default_value = "auto",
        hide_default_value = true
    )]
    pub marc_write_charset: regauge::marc::CharsetChoice,
    /// Write MARC fields above 9,999 bytes and records above 99,999 to ISO 2709 all the same
    #[arg(help_heading = "MARC", long)]
    pub marc_oversize: bool,
    /// Write MARCXML without line breaks and indentation
    #[arg(help_heading = "MARC", long)]
    pub marc_compact: bool,

    /// Write what was read, written, passed over, lost and approximated to a JSON file (- is
    /// standard output)
    #[arg(help_heading = "What is said", long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Say nothing on standard error but why the command failed
    #[arg(help_heading = "What is said", long, short)]
    pub quiet: bool,
    /// Show a progress bar
    #[arg(help_heading = "What is said", long, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub progress: When,
}

/// What `convert` and `inspect` have in common: how the input is read.
#[derive(Debug, Args)]
pub struct Reading {
    /// The format of the input [default: as its name or its first bytes tell]
    #[arg(help_heading = "Input", long, value_name = "FORMAT", value_parser = format)]
    pub from: Option<Format>,
    /// How the input is compressed [default: as its name or its first bytes tell]
    #[arg(help_heading = "Input", long, value_name = "none|gzip|zstd|lz4|xz|bzip2", value_parser = compression)]
    pub decompress: Option<Packing>,
    /// Threads that work on the file at most [default: one for each core]
    #[arg(help_heading = "Input", long, short, value_name = "N", value_parser = jobs)]
    pub jobs: Option<usize>,
    /// Set a limit, or take it away with NAME=none, all with none: depth, token_bytes,
    /// record_bytes, integer_digits, nodes, expansion, aliases, window_bytes. Bytes take KiB, MiB,
    /// GiB
    #[arg(help_heading = "Input", long, value_name = "NAME=VALUE", value_parser = limit)]
    pub limit: Vec<Limit>,
    /// Read JSON with comments, // and /* */
    #[arg(help_heading = "JSON", long)]
    pub json_comments: bool,
    /// Read JSON with commas before ] and }
    #[arg(help_heading = "JSON", long)]
    pub json_trailing_commas: bool,
    /// Read JSON with NaN, Infinity and -Infinity
    #[arg(help_heading = "JSON", long)]
    pub json_nan: bool,
    /// Read ISO 2709 in this charset, whatever the records say
    #[arg(
        help_heading = "MARC",
        long,
        value_name = "auto|utf8|marc8",
        default_value = "auto",
        hide_default_value = true
    )]
    pub charset: regauge::marc::CharsetChoice,
    /// Read MARC records whose directory is wrong by their field terminators
    #[arg(help_heading = "MARC", long)]
    pub marc_repair: bool,
    /// Read references such as &#x4E2D; in MARC-8 as the characters that they stand for
    #[arg(help_heading = "MARC", long)]
    pub marc_references: bool,
    #[command(flatten)]
    pub formats: FormatFlags,
}

const INSPECT_EXAMPLES: &str = "\
Examples:
  regauge inspect orders.json
  regauge inspect catalog.mrc.gz
      also charsets, record types, tags, and each broken record with the reason
  curl -s https://example.org/feed | regauge inspect - --json

Sizes are those of compact JSON, escapes aside. Memory is bounded: a map of more than 1,000
different keys is summed up as `.*`.

Exit status: 0 done, 1 bad data or a failed read, 2 wrong usage.";

/// Say what is in a file: format, records, types, depth, largest paths
#[derive(Debug, Args)]
#[command(after_help = INSPECT_EXAMPLES)]
pub struct Inspect {
    /// The file to read; - is standard input
    #[arg(value_name = "FILE")]
    pub input: PathBuf,
    #[command(flatten)]
    pub reading: Reading,
    /// Write JSON
    #[arg(long)]
    pub json: bool,
    /// How many paths, tags and broken records to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// Show a progress bar
    #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub progress: When,
}

const MEASURE_EXAMPLES: &str = "\
Examples:
  regauge measure orders.json
  regauge measure catalog.mrc.gz --json raw.json
  regauge measure orders.json --only python --budget 60
  regauge measure cache/ --from marshal
  regauge measure orders.json --bandwidth 10MB/s --reads-per-write 100
  regauge measure orders.json --safety only
      gives every library hostile documents, and times nothing
  regauge measure orders.json --quick
  regauge measure orders.json --compare last-week.json
      what changed, and whether it is more than noise
  regauge measure --task marc-catalog
      a published comparison, measured again; --task alone lists them
  regauge measure --task object-store --db postgres://user@localhost/test
  regauge measure --setup
      says what it would install, and asks
  regauge measure --setup node java jruby
  regauge measure --setup ruby=forky
      Ruby and its gems as that Debian suite has them, in a folder

Every library runs in a process of its own, on identical bytes. What it gives back is compared with
the original first, and a library that returns wrong data gets no time.

Exit status: 0 done, 1 bad data or a failed step, 2 wrong usage.";

/// Measure serialization libraries on your own data
#[derive(Debug, Args)]
#[command(after_help = MEASURE_EXAMPLES)]
pub struct Measure {
    /// The file to measure on, or a folder of files; - is standard input
    #[arg(value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Measure a published comparison again, by name, with its sample or with FILE; without a name
    /// (or with a wrong one), list them
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "setup")]
    pub task: Option<String>,
    /// Take so many documents, records or objects, instead of the task's own number
    #[arg(long, value_name = "N", requires = "task", value_parser = clap::value_parser!(u64).range(1..))]
    pub records: Option<u64>,
    /// A server for a --task that works on databases, beside files of SQLite: postgres://…,
    /// mysql://…, mongodb://…, cassandra://…; may be repeated, one of each. Schemas, databases or
    /// keyspaces named regauge_task_… are made on it, and dropped in the end
    #[arg(
        long,
        value_name = "URL",
        env = crate::engines::GIVEN,
        value_delimiter = ' ',
        hide_env_values = true
    )]
    pub db: Vec<String>,
    /// The format of the file [default: as its name or its first bytes tell]
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub from: Option<Format>,
    /// Measure those alone whose name, library, format or runtime holds this; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// Measure with this adapter, too; may be repeated
    #[arg(long, value_name = "FILE")]
    pub contender: Vec<PathBuf>,
    /// Leave out the documents of a stream that some contender does not give back, and measure
    /// all contenders on the rest
    #[arg(long)]
    pub common: bool,
    /// Take at most about so many seconds in all [default: 57, with --quick 14.8]
    #[arg(long, value_name = "SECONDS")]
    pub budget: Option<u64>,
    /// Look quickly: 15 seconds, with short samples
    #[arg(long)]
    pub quick: bool,
    /// Say what changed since an earlier run whose --json is this FILE, and whether it is more
    /// than noise
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
    /// Do not bind contenders to one core
    #[arg(long)]
    pub no_pin: bool,
    /// Take exactly so many samples of each, whatever time they take
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: Option<u64>,
    /// Shuffle the rounds otherwise
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Run the adapters of one more language, with this runner; may be repeated
    #[arg(long, value_name = "FILE")]
    pub runner: Vec<PathBuf>,
    /// The interpreter of a runtime [default: as its runner says]; may be repeated
    #[arg(long, value_name = "RUNTIME=FILE", value_parser = interpreter)]
    pub interpreter: Vec<(String, PathBuf)>,
    /// The Python to run [default: that of --setup, else python3]
    #[arg(long, value_name = "FILE")]
    pub python: Option<PathBuf>,
    /// The Ruby to run [default: ruby]
    #[arg(long, value_name = "FILE")]
    pub ruby: Option<PathBuf>,
    /// The folder that --setup installs into [default: regauge in the folder for user data]
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
    /// Show everything, not one screen: all contenders, sizes, costs, what hostile input does
    #[arg(long)]
    pub full: bool,
    /// Write everything as JSON, raw samples included (- is standard output, in place of tables)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a report into this folder: report.html (one page that works offline), results.json,
    /// tables as CSV, charts as SVG and PNG
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Replace the JSON file, or the report in the folder, if it exists
    #[arg(long, short)]
    pub force: bool,
    /// Install the libraries to measure, after saying what will be done: of the runtimes named,
    /// or of all that are here; ruby=SUITE unpacks the Ruby of another Debian suite
    #[arg(long, value_name = "RUNTIME[=SUITE]", num_args = 0.., conflicts_with_all = ["input", "list"])]
    pub setup: Option<Vec<Wanted>>,
    #[command(flatten)]
    pub verdict: crate::flags::verdict::VerdictFlags,
    /// Do not ask before the set-up
    #[arg(long, short, requires = "setup")]
    pub yes: bool,
    /// List the contenders
    #[arg(long, conflicts_with = "input")]
    pub list: bool,
    /// Show progress: a bar on a terminal, a line for each stage elsewhere
    #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub progress: When,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  regauge measure orders.json --out report
  regauge report report/results.json
  regauge report report/results.json --out again
  regauge report results.json --out report --force

The folder appears whole or not at all. With --force it replaces a report, and never a folder that
holds anything else.

Exit status: 0 done, 1 a bad file or a failed read or write, 2 wrong usage (a folder that is not
empty).";

/// Show a kept measurement again, or make its page, from its results.json
#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct Report {
    /// What `regauge measure --json` or `--out` wrote; - is standard input
    #[arg(value_name = "RESULTS")]
    pub input: PathBuf,
    /// Write a folder: report.html, results.json, tables, charts [default: show it here]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Replace the report in the folder, if there is one
    #[arg(long, short, requires = "out")]
    pub force: bool,
    /// Show everything, not one screen
    #[arg(long, conflicts_with = "out")]
    pub full: bool,
}

/// Serve a native contender over the standard streams.
#[derive(Debug, Args)]
pub struct Contender {
    pub name: String,
}

const SAMPLE_EXAMPLES: &str = "\
Examples:
  regauge sample catalog catalog.mrc
  regauge sample catalog catalog.xml.gz --count 100
  regauge sample types | head -3
  regauge sample time-slice slice.msgpack --seed 7

The same kind, count and seed give the same bytes on every machine. Names and numbers are invented.

Exit status: 0 done, 1 a failed write, 2 wrong usage.";

/// Make up documents: a library catalogue, a time series, legislators, all types
#[derive(Debug, Args)]
#[command(after_help = SAMPLE_EXAMPLES)]
pub struct Sample {
    /// What to make: catalog, time-slice, legislators or types
    #[arg(value_name = "KIND")]
    pub kind: regauge_measure::sample::Kind,
    /// The file to write; - is standard output
    #[arg(value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// How many documents [default: catalog 18881, time-slice 1, legislators 23, types 4000]
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// Other seeds give other documents
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// The format [default: as the name tells; to standard output MARC 21, JSON or NDJSON]
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub to: Option<Format>,
    /// Compress the output [default: as its name tells]
    #[arg(long, value_name = "none|gzip|zstd|lz4|xz|bzip2", value_parser = compression)]
    pub compress: Option<Packing>,
    /// How hard to compress
    #[arg(long, value_name = "N")]
    pub level: Option<u32>,
    /// Replace the output if it exists
    #[arg(long, short)]
    pub force: bool,
}

const FORMATS_EXAMPLES: &str = "\
Examples:
  regauge formats
  regauge formats --matrix
      what becomes of dates, symbols, shared values, … from each format to each other
  regauge formats --json";

/// List the formats, and what each of them cannot hold
#[derive(Debug, Args)]
#[command(after_help = FORMATS_EXAMPLES)]
pub struct Formats {
    /// What becomes of each kind of value from each format to each other
    #[arg(long)]
    pub matrix: bool,
    /// Write JSON
    #[arg(long)]
    pub json: bool,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  regauge completions bash > ~/.local/share/bash-completion/completions/regauge
  regauge completions zsh > ~/.zfunc/_regauge
  regauge completions fish > ~/.config/fish/completions/regauge.fish";

/// Write the completions of a shell to standard output
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

const MAN_EXAMPLES: &str = "\
Examples:
  regauge man | man -l -
  regauge man convert > regauge-convert.1
  regauge man --folder ~/.local/share/man/man1";

/// Write a manual page to standard output, or all of them to a folder
#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub struct Man {
    /// The command that the page is about [default: regauge itself]
    #[arg(value_name = "COMMAND")]
    pub about: Option<String>,
    /// Write the pages of all commands to this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "about")]
    pub folder: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_hold_together() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }
}
