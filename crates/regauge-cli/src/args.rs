//! The command line: every option and its help text. Options without one here have theirs from the
//! library's table: see [`command`].

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use regauge::Format;
use regauge::convert::Rule;
use regauge_measure::setup::Wanted;

use crate::encoded::Encoding;
use crate::flags::FormatFlags;
use crate::tables::Form;

mod line;
pub mod refusal;
mod values;

pub use line::{command, given, old_names, warn_without_effect};
pub use values::*;
use values::{bad, compression, drop, form, interpreter, only, packed, rename, seconds};

const AFTER: &str = "\
Examples:
  regauge measure orders.json
      which library and format to take, on your own data
  regauge convert orders.json orders.msgpack
      the same document in another format, or a refusal
  regauge inspect suspicious.pkl
      what is in a file, and what loading it would run
  regauge xray dump.rdb
      the same for all of a cache, by prefix of its keys

Exit status: 0 done, 1 bad data or a failed read or write, 2 wrong usage (an unknown option or \
format, a missing input, an output that exists), 3 refused because something would be lost, or \
because the output format cannot hold it.";

/// Measure serialization on your own data, and convert it safely.
#[derive(Debug, Parser)]
#[command(name = "regauge", version, about, propagate_version = true)]
#[command(after_help = AFTER, subcommand_required = true, arg_required_else_help = true)]
pub struct Cli {
    /// With --version: also print the commit, target and features of this build
    #[arg(long, requires = "version")]
    verbose: bool,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Convert(Box<Convert>),
    Query(Box<crate::commands::query::Query>),
    Inspect(Inspect),
    Xray(crate::commands::xray::Xray),
    Migrate(Box<crate::commands::migrate::Migrate>),
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
      names broken records, saves their bytes and skips them
  regauge convert events.ndjson - --to json --only user.name \\
      --only 'items[*].price' --head 100
  regauge convert users.json public.json --drop '[*].password' \\
      --rename '[*].mail=email'
      paths as `regauge inspect` shows them; $. in front may be left out
  regauge convert cached.bin value.json --objects data
      the value in an entry of Rails.cache, a file of Django's cache, a
      session; says what was around it

Formats come from the names (catalog.marc.json.gz is MARC-in-JSON, compressed), else from the first
bytes, or from --from and --to; `regauge formats` lists them. The output appears whole or not at
all.

Exit status: 0 done, 1 bad data or a failed read or write, 2 wrong usage, 3 refused because
something would be lost, or because the output format cannot hold it.";

/// Convert a file from one format to another, without silent loss
#[derive(Debug, Args)]
#[command(after_help = CONVERT_EXAMPLES)]
pub struct Convert {
    /// File to read; - is standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// File to write; - is standard output
    #[arg(value_name = "OUT")]
    pub output: PathBuf,

    #[command(flatten)]
    pub reading: Reading,

    #[command(flatten)]
    pub filter: crate::flags::filter::FilterFlags,

    #[arg(help_heading = "Output", long, value_name = "FORMAT", value_parser = form)]
    pub to: Option<Form>,
    /// Compress the output [default: from the file name]; of Parquet its pages, which snappy can
    /// compress as well [default: snappy]
    #[arg(help_heading = "Output", long, value_name = "none|gzip|zstd|lz4|xz|bzip2", value_parser = packed)]
    pub compress: Option<Packed>,
    /// Compression level: gzip and bzip2 1 to 9, zstd 1 to 22, xz 0 to 9; high levels of zstd and
    /// xz use a lot of memory
    #[arg(help_heading = "Output", long, value_name = "N")]
    pub level: Option<u32>,
    /// Replace the output if it exists
    #[arg(help_heading = "Output", long, short)]
    pub force: bool,

    #[arg(help_heading = "Fidelity", long, value_enum, default_value_t = Loss::Refuse, value_name = "POLICY")]
    pub on_loss: Loss,
    #[arg(help_heading = "Fidelity", long)]
    pub unwrap: bool,
    #[arg(help_heading = "Fidelity", long, value_enum, value_name = "POLICY")]
    pub objects: Option<ObjectsArg>,
    #[arg(help_heading = "Fidelity", long, value_enum, default_value_t = Numbers::Double, value_name = "HOW")]
    pub numbers: Numbers,
    #[arg(help_heading = "Fidelity", long, value_enum, default_value_t = DuplicateKeys::Keep, value_name = "HOW")]
    pub duplicate_keys: DuplicateKeys,
    #[arg(help_heading = "Fidelity", long, value_enum, default_value_t = DocumentsArg::Auto, value_name = "HOW")]
    pub documents: DocumentsArg,
    #[arg(help_heading = "Fidelity", long, value_name = "stop|skip|FILE", default_value = "stop", value_parser = bad)]
    pub bad: Bad,

    #[arg(help_heading = "Selection", long, value_name = "PATH", value_parser = only)]
    pub only: Vec<Rule>,
    #[arg(help_heading = "Selection", long, value_name = "PATH", value_parser = drop)]
    pub drop: Vec<Rule>,
    #[arg(help_heading = "Selection", long, value_name = "PATH=NAME", value_parser = rename)]
    pub rename: Vec<Rule>,
    #[arg(help_heading = "Selection", long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub head: Option<u64>,
    #[arg(help_heading = "Selection", long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "head")]
    pub sample: Option<u64>,
    #[arg(help_heading = "Selection", long, value_name = "N")]
    pub seed: Option<u64>,

    #[arg(help_heading = "JSON", long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=16))]
    pub json_indent: Option<u8>,
    /// Same as --json-indent 2
    #[arg(help_heading = "JSON", long, conflicts_with = "json_indent")]
    pub pretty: bool,
    #[arg(help_heading = "JSON", long)]
    pub json_ascii: bool,
    #[command(flatten)]
    pub yaml_write: crate::flags::yaml_write::YamlWriteFlags,

    #[arg(
        help_heading = "MARC",
        long,
        value_name = "auto|utf8|marc8",
        default_value = "auto",
        hide_default_value = true
    )]
    pub marc_write_charset: regauge::marc::CharsetChoice,
    #[arg(help_heading = "MARC", long)]
    pub marc_oversize: bool,
    #[arg(help_heading = "MARC", long)]
    pub marc_compact: bool,
    #[command(flatten)]
    pub parquet: crate::flags::parquet::Flags,

    #[arg(help_heading = "Reporting", long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print nothing on standard error except why the command failed
    #[arg(help_heading = "Reporting", long, short)]
    pub quiet: bool,
    /// Show a progress bar
    #[arg(help_heading = "Reporting", long, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub progress: When,
}

/// How the input is read; shared by `convert` and `inspect`.
#[derive(Debug, Args)]
pub struct Reading {
    #[arg(help_heading = "Input", long, value_name = "FORMAT", value_parser = form)]
    pub from: Option<Form>,
    /// Decode hex or base64 first, the form in which Redis clients export values; whitespace is ignored
    #[arg(help_heading = "Input", long, value_enum, value_name = "hex|base64")]
    pub input_encoding: Option<Encoding>,
    /// Input compression [default: from the file name or the first bytes]
    #[arg(help_heading = "Input", long, value_name = "none|gzip|zstd|lz4|xz|bzip2", value_parser = compression)]
    pub decompress: Option<Packing>,
    #[arg(help_heading = "Input", long, value_enum, default_value_t = EnvelopeArg::Auto, value_name = "WHAT")]
    pub envelope: EnvelopeArg,
    #[arg(help_heading = "Input", long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,
    #[arg(help_heading = "Input", long, value_name = "TEXT")]
    pub salt: Option<String>,
    #[arg(help_heading = "Input", long, short, value_name = "N", value_parser = jobs)]
    pub jobs: Option<usize>,
    #[arg(help_heading = "Input", long, value_name = "NAME=VALUE", value_parser = limit)]
    pub limit: Vec<Limit>,
    #[arg(help_heading = "JSON", long)]
    pub json_comments: bool,
    #[arg(help_heading = "JSON", long)]
    pub json_trailing_commas: bool,
    #[arg(help_heading = "JSON", long)]
    pub json_allow_nan: bool,
    #[arg(
        help_heading = "MARC",
        long,
        value_name = "auto|utf8|marc8",
        default_value = "auto",
        hide_default_value = true
    )]
    pub marc_charset: regauge::marc::CharsetChoice,
    #[arg(help_heading = "MARC", long)]
    pub marc_repair: bool,
    #[arg(help_heading = "MARC", long)]
    pub marc_references: bool,
    #[command(flatten)]
    pub formats: FormatFlags,
}

const INSPECT_EXAMPLES: &str = "\
Examples:
  regauge inspect orders.json
  regauge inspect catalog.mrc.gz
      also shows charsets, record types, tags, and each broken record with the
      reason
  curl -s https://example.org/feed | regauge inspect - --json
  echo 04085b066906 | regauge inspect - --input-encoding hex

Sizes are those of compact JSON, not counting escapes. Memory is bounded: a map with more than
1,000 different keys is summarised as `.*`.

Exit status: 0 done, 1 bad data or a failed read, 2 wrong usage.";

/// Show what is in a file: format, records, types, depth, largest paths
#[derive(Debug, Args)]
#[command(after_help = INSPECT_EXAMPLES)]
pub struct Inspect {
    /// File to read; - is standard input
    #[arg(value_name = "FILE")]
    pub input: PathBuf,
    #[command(flatten)]
    pub reading: Reading,
    /// Write JSON
    #[arg(long)]
    pub json: bool,
    /// Number of paths, tags and broken records to show
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
      tests every library with hostile documents, and times nothing
  regauge measure orders.json --quick
  regauge measure orders.json --compare last-week.json
      shows what changed, and whether it is more than noise
  regauge measure --task marc-catalog
      re-runs a published comparison; --task alone lists them
  regauge measure --task object-store --db postgres://user@localhost/test
  regauge measure --setup
      shows what it would install, and asks first
  regauge measure --setup node java jruby
  regauge measure --setup ruby=forky
      unpacks the Ruby and gems of that Debian suite into a folder

Every library runs in its own process, on identical bytes. Its output is compared with the original
first; a library that returns wrong data is not timed.

Exit status: 0 done, 1 bad data or a failed step, 2 wrong usage, 130 ended early by Ctrl-C, with the
results so far.";

/// Measure serialization libraries on your own data
#[derive(Debug, Args)]
#[command(after_help = MEASURE_EXAMPLES)]
pub struct Measure {
    /// File to measure, or a folder of files; - is standard input
    #[arg(value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Re-run a published comparison by name, with its sample or with FILE; without a name (or with
    /// an unknown one), list them
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "setup")]
    pub task: Option<String>,
    /// Use N documents, records or objects instead of the task's default
    #[arg(long, value_name = "N", requires = "task", value_parser = clap::value_parser!(u64).range(1..))]
    pub records: Option<u64>,
    /// Database server for a --task that uses one, in addition to SQLite files: postgres://…,
    /// mysql://…, mongodb://…, cassandra://…; repeatable, one of each kind. Creates schemas,
    /// databases or keyspaces named regauge_task_… and drops them at the end
    #[arg(
        long,
        value_name = "URL",
        env = crate::engines::GIVEN,
        value_delimiter = ' ',
        hide_env_values = true
    )]
    pub db: Vec<String>,
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub from: Option<Format>,
    /// Measure only contenders whose name, library, format or runtime is TEXT, or else whose name
    /// contains it; python/json takes those to which both apply; repeatable
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// Also measure this adapter; repeatable
    #[arg(long, value_name = "FILE")]
    pub contender: Vec<PathBuf>,
    /// Skip the documents of a stream that some contender does not return intact, and measure all
    /// contenders on the rest
    #[arg(long)]
    pub common: bool,
    /// Total time in seconds, approximately; below 20, a quick look [default: 57, 30 more with JRuby;
    /// 14.8 with --quick]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub budget: Option<Duration>,
    /// Take a quick look: 15 seconds, with short samples
    #[arg(long)]
    pub quick: bool,
    /// Compare with an earlier run, whose --json output is FILE, and tell changes from noise
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
    /// Do not pin contenders to one core
    #[arg(long)]
    pub no_pin: bool,
    /// Take exactly N samples of each, however long that takes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: Option<u64>,
    /// Seed for shuffling the rounds
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Run the adapters of another language with this runner; repeatable
    #[arg(long, value_name = "FILE")]
    pub runner: Vec<PathBuf>,
    /// Interpreter of a runtime [default: the runner's choice]; repeatable
    #[arg(long, value_name = "RUNTIME=FILE", value_parser = interpreter)]
    pub interpreter: Vec<(String, PathBuf)>,
    /// Python to run [default: the one --setup installed, else python3]
    #[arg(long, value_name = "FILE")]
    pub python: Option<PathBuf>,
    /// Ruby to run [default: ruby]
    #[arg(long, value_name = "FILE")]
    pub ruby: Option<PathBuf>,
    /// Folder that --setup installs into [default: regauge in the user data folder]
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
    /// Show everything instead of one screen: all contenders, sizes, costs, hostile-input results
    #[arg(long)]
    pub full: bool,
    /// Write everything as JSON, including raw samples (- is standard output, instead of tables)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a report to this folder: report.html (one page that works offline), results.json,
    /// tables as CSV, charts as SVG and PNG; only the page, if the name ends in .html
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Replace the JSON file, or the report in the folder, if it exists
    #[arg(long, short)]
    pub force: bool,
    /// Install the libraries to measure, after showing what will be done: for the runtimes named,
    /// or for all found here; ruby=SUITE unpacks the Ruby of another Debian suite
    #[arg(long, value_name = "RUNTIME[=SUITE]", num_args = 0.., conflicts_with_all = ["input", "list"])]
    pub setup: Option<Vec<Wanted>>,
    #[command(flatten)]
    pub verdict: crate::flags::verdict::VerdictFlags,
    /// Run --setup without asking first
    #[arg(long, short, requires = "setup")]
    pub yes: bool,
    /// List the contenders; with FILE, those that would take part, first the ones that are timed first
    #[arg(long, conflicts_with_all = ["task", "json", "out", "compare"])]
    pub list: bool,
    /// Show progress
    #[arg(long, value_enum, default_value_t = StageDisplay::Auto, value_name = "WHEN")]
    pub progress: StageDisplay,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  regauge measure orders.json --out report
  regauge report report/results.json
  regauge report report/results.json --out again
  regauge report results.json --out report --force

The folder appears whole or not at all. With --force it replaces an existing report, but never a
folder that holds anything else.

Exit status: 0 done, 1 a bad file or a failed read or write, 2 wrong usage (a folder that is not
empty).";

/// Show a saved measurement again, or rebuild its page, from its results.json
#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct Report {
    /// Output of `regauge measure --json` or `--out`; - is standard input
    #[arg(value_name = "RESULTS")]
    pub input: PathBuf,
    /// Write a folder: report.html, results.json, tables, charts; only the page, if the name ends in
    /// .html [default: print to the terminal]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Replace the report in the folder, if any
    #[arg(long, short, requires = "out")]
    pub force: bool,
    /// Show everything instead of one screen
    #[arg(long, conflicts_with = "out")]
    pub full: bool,
}

/// Serves a native contender over the standard streams.
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

/// Generate sample documents: a library catalogue, a time series, legislators, all types
#[derive(Debug, Args)]
#[command(after_help = SAMPLE_EXAMPLES)]
pub struct Sample {
    /// What to generate: catalog, time-slice, legislators or types
    #[arg(value_name = "KIND")]
    pub kind: regauge_measure::sample::Kind,
    /// File to write; - is standard output
    #[arg(value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Number of documents [default: catalog 18881, time-slice 1, legislators 23, types 4000]
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// Random seed; a different seed gives different documents
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Output format [default: from the file name; on standard output MARC 21, JSON or NDJSON]
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub to: Option<Format>,
    /// Compress the output [default: from the file name]
    #[arg(long, value_name = "none|gzip|zstd|lz4|xz|bzip2", value_parser = compression)]
    pub compress: Option<Packing>,
    /// Compression level
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
      shows what happens to dates, symbols, shared values, … from every format
      to every other
  regauge formats --json";

/// List the formats and what each cannot hold
#[derive(Debug, Args)]
#[command(after_help = FORMATS_EXAMPLES)]
pub struct Formats {
    /// Show what happens to each kind of value, from every format to every other
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

/// Write a shell completion script to standard output
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct Completions {
    /// Shell
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
    /// Command that the page describes [default: regauge itself]
    #[arg(value_name = "COMMAND")]
    pub about: Option<String>,
    /// Write the pages of all commands to this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "about")]
    pub folder: Option<PathBuf>,
}
