//! The arguments of `regauge store`. Options without a help text have that of the library's table.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use regauge::{Format, Options};
use regauge_store::series::Buckets;
use regauge_store::{Assume, Codec, Store};

use super::key_path::KeyPath;
use crate::args::{Loss, ObjectsArg, When, format};

const STORE_EXAMPLES: &str = "\
Examples:
  regauge store put --db sqlite:objects.db user/17 user.json
  regauge store get --db sqlite:objects.db user/17 - --to yaml
  regauge store import --db sqlite:objects.db orders.ndjson --key id \\
      -c orders --codec msgpack+zstd
  regauge store ls --db sqlite:objects.db --prefix user/
  regauge store put --db sqlite:objects.db \\
      --series sensor7 2026-11-21T12:00:00Z slice.json
  regauge store scan --db sqlite:objects.db --series sensor7 \\
      --from 2026-11-21 --newest --limit 500
  regauge store verify --db sqlite:objects.db
  regauge store adopt --db sqlite:app.db -c pending --table pending_objects \\
      --key-column id --value-column object --assume marshal
  regauge store reencode --db sqlite:app.db -c pending --to msgpack+zstd \\
      --dry-run
      measures the saving and lists what would be lost

A codec is a format and a compression: msgpack, json+gzip, cbor+zstd, marshal+lz4.

Exit status: 0 done, 1 bad data or a failed read or write, 2 wrong usage, 3 refused because
something would be lost, 4 no such key, or a damaged value.";

/// Keep documents in a database, with a codec per value, checksums, and re-encoding
#[derive(Debug, Args)]
#[command(after_help = STORE_EXAMPLES)]
pub struct StoreArguments {
    #[command(subcommand)]
    pub command: StoreCommand,
}

/// Where the collection is.
#[derive(Debug, Args)]
pub struct Place {
    /// Database: sqlite:PATH, postgres://…, mysql://…, mongodb://…, cassandra://…
    #[arg(long, value_name = "URL", env = "REGAUGE_DB")]
    pub db: String,
    /// Collection in the database
    #[arg(long, short, value_name = "NAME", default_value = regauge_store::DEFAULT_COLLECTION)]
    pub collection: String,
}

/// What to do with a value that the other format cannot hold.
#[derive(Clone, Copy, Debug, Args)]
pub struct Policy {
    #[arg(long, value_enum, default_value_t = Loss::Refuse, value_name = "POLICY")]
    pub on_loss: Loss,
    #[arg(long, value_enum, value_name = "POLICY")]
    pub objects: Option<ObjectsArg>,
    #[arg(long)]
    pub unwrap: bool,
}

impl Policy {
    /// Has a store convert by it.
    pub fn apply(self, store: &mut Store) {
        let converted = self.options(Format::Json, Format::Json);
        (store.on_loss, store.objects) = (converted.on_loss, converted.objects);
        store.unwrap = self.unwrap;
    }

    /// Returns the options of a conversion by it.
    pub fn options(self, from: Format, to: Format) -> Options {
        let mut options = Options::new(from, to);
        options.on_loss = self.on_loss.into();
        options.objects = self.objects.map(Into::into);
        options.unwrap = self.unwrap;
        options
    }
}

/// Which keys.
#[derive(Debug, Args)]
pub struct Keys {
    /// Only keys with this prefix
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["from_key", "to_key"])]
    pub prefix: Option<String>,
    /// First key to include
    #[arg(long, value_name = "KEY")]
    pub from_key: Option<String>,
    /// First key to exclude
    #[arg(long, value_name = "KEY")]
    pub to_key: Option<String>,
    /// Largest key first
    #[arg(long)]
    pub descending: bool,
    /// Maximum number of keys
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// A span of a time series.
#[derive(Debug, Args)]
pub struct SpanArguments {
    /// Name of the series
    #[arg(long, value_name = "NAME")]
    pub series: String,
    /// Start time, inclusive: 2026-11-21T12:00:00Z, a day, or seconds since 1970
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<String>,
    /// End time, exclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<String>,
    /// Newest first
    #[arg(long)]
    pub newest: bool,
    /// Maximum number of values
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Store a document under a key
    Put {
        #[command(flatten)]
        place: Place,
        /// Key
        key: String,
        /// File that holds the document; - is standard input
        file: PathBuf,
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        from: Option<Format>,
        /// Codec of a new collection's values [default: msgpack]
        #[arg(long, value_name = "CODEC")]
        codec: Option<Codec>,
        #[command(flatten)]
        policy: Policy,
        /// Keep an existing document instead of replacing it
        #[arg(long)]
        new: bool,
        /// Store it in this time series; the key is its time
        #[arg(long, value_name = "NAME", conflicts_with = "new")]
        series: Option<String>,
        /// Bucket length of a new series: day, 6h, 90s, or size for buckets below 50 MB [default:
        /// day]
        #[arg(long, value_name = "LENGTH", requires = "series")]
        buckets: Option<Buckets>,
    },
    /// Fetch the document stored under a key
    Get {
        #[command(flatten)]
        place: Place,
        /// Key
        key: String,
        /// File to write; - is standard output
        #[arg(default_value = "-")]
        output: PathBuf,
        /// Output format [default: from the file name, else JSON]
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        to: Option<Format>,
        #[command(flatten)]
        policy: Policy,
        /// Replace the file if it exists
        #[arg(long, short)]
        force: bool,
        /// Fetch it from this time series; the key is its time
        #[arg(long, value_name = "NAME")]
        series: Option<String>,
    },
    /// Delete the document stored under a key
    Delete {
        #[command(flatten)]
        place: Place,
        /// Key
        key: String,
        /// Delete it from this time series; the key is its time
        #[arg(long, value_name = "NAME")]
        series: Option<String>,
    },
    /// Write a span of a time series as a stream of {"time": …, "value": …}
    Scan {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        span: SpanArguments,
        /// File to write; - is standard output
        #[arg(default_value = "-")]
        output: PathBuf,
        /// Output format [default: from the file name, else NDJSON]
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        format: Option<Format>,
        /// Write only the documents
        #[arg(long)]
        values: bool,
        #[command(flatten)]
        policy: Policy,
        /// Replace the file if it exists
        #[arg(long, short)]
        force: bool,
    },
    /// List the keys, or the collections of the database
    Ls {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        keys: Keys,
        /// Include codec, sizes and time
        #[arg(long, short)]
        long: bool,
        /// List the collections instead
        #[arg(long, conflicts_with_all = ["prefix", "from_key", "to_key", "limit"])]
        collections: bool,
    },
    /// Store every document of a file, in batches: those before a wrong one stay; one whose key is
    /// there already replaces that value
    Import {
        #[command(flatten)]
        place: Place,
        /// File to read; - is standard input
        file: PathBuf,
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        from: Option<Format>,
        /// Member that holds the key, which is taken as text; `id.bioguide` is the member bioguide
        /// of the member id, and `\.` is a dot in a name [default: documents of the form {"key": …,
        /// "value": …}, as written by `export`]
        #[arg(long, value_name = "PATH", value_parser = KeyPath::parse)]
        key: Option<KeyPath>,
        /// Codec of a new collection's values [default: msgpack]
        #[arg(long, value_name = "CODEC")]
        codec: Option<Codec>,
        #[command(flatten)]
        policy: Policy,
        /// Show a progress bar
        #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
        progress: When,
        /// Store them in this time series; --key names the member that holds the time [default:
        /// documents of the form {"time": …, "value": …}, as written by `scan`]
        #[arg(long, value_name = "NAME")]
        series: Option<String>,
        /// Bucket length of a new series: day, 6h, 90s, or size for buckets below 50 MB [default:
        /// day]
        #[arg(long, value_name = "LENGTH", requires = "series")]
        buckets: Option<Buckets>,
    },
    /// Write keys and documents as a stream of {"key": …, "value": …}
    Export {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        keys: Keys,
        /// File to write; - is standard output
        #[arg(default_value = "-")]
        output: PathBuf,
        /// Output format [default: from the file name, else NDJSON]
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        to: Option<Format>,
        /// Write only the documents
        #[arg(long)]
        values: bool,
        #[command(flatten)]
        policy: Policy,
        /// Replace the file if it exists
        #[arg(long, short)]
        force: bool,
    },
    /// Show the number of values, their codecs, and their sizes
    Stat {
        #[command(flatten)]
        place: Place,
    },
    /// Check every checksum, and that every value decodes
    Verify {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        keys: Keys,
    },
    /// Re-encode every value with another codec, while other processes read and write
    Reencode {
        #[command(flatten)]
        place: Place,
        /// New codec
        #[arg(long, value_name = "CODEC")]
        to: Codec,
        /// Change nothing: measure the saving, and list what would be lost
        #[arg(long)]
        dry_run: bool,
        /// Maximum number of values per second
        #[arg(long, value_name = "N", value_parser = rate)]
        rate: Option<f64>,
        #[command(flatten)]
        policy: Policy,
    },
    /// Use another program's existing table as a collection
    Adopt {
        #[command(flatten)]
        place: Place,
        /// Table name
        #[arg(long, value_name = "TABLE")]
        table: String,
        /// Column that holds the key
        #[arg(long, value_name = "COLUMN", default_value = "id")]
        key_column: String,
        /// Type of the key column: bytes, text or integer
        #[arg(long, value_name = "KIND", default_value = "integer", value_parser = key_kind)]
        key_kind: regauge_store::KeyKind,
        /// Column that holds the value
        #[arg(long, value_name = "COLUMN", default_value = "value")]
        value_column: String,
        /// Format of the existing values: a format, or base64:FORMAT
        #[arg(long, value_name = "FORMAT")]
        assume: Assume,
        /// Store new values in Base64, for a column that takes only text; adds a third to their
        /// size
        #[arg(long)]
        text: bool,
        /// Codec for new values [default: the existing format, with an envelope]
        #[arg(long, value_name = "CODEC")]
        codec: Option<Codec>,
    },
    Tenants(super::tenants::TenantsArguments),
    /// Train a zstd dictionary on stored values; useful for many small ones
    Train {
        #[command(flatten)]
        place: Place,
        /// Number of values to train on, at most 64 MiB of them
        #[arg(long, value_name = "N", default_value_t = 10_000)]
        samples: usize,
        /// Maximum size of the dictionary, in bytes
        #[arg(long, value_name = "BYTES", default_value_t = 64 << 10)]
        size: usize,
    },
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err("expected a number above 0".to_owned()),
    }
}

fn key_kind(text: &str) -> Result<regauge_store::KeyKind, String> {
    use regauge_store::KeyKind::{Bytes, Integer, Text};
    [Bytes, Text, Integer]
        .into_iter()
        .find(|kind| kind.name() == text)
        .ok_or_else(|| "expected bytes, text or integer".to_owned())
}
