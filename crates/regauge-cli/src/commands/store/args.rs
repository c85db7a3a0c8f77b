//! The arguments of `regauge store`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use regauge::Format;
use regauge_store::series::Buckets;
use regauge_store::{Assume, Codec};

use super::key_path::KeyPath;
use crate::args::{Loss, When, format};

const STORE_EXAMPLES: &str = "\
Examples:
  regauge store put --db sqlite:objects.db user/17 user.json
  regauge store get --db sqlite:objects.db user/17 - --to yaml
  regauge store import --db sqlite:objects.db orders.ndjson --key id --codec msgpack+zstd
  regauge store ls --db sqlite:objects.db --prefix user/
  regauge store put --db sqlite:objects.db --series sensor7 2026-11-21T12:00:00Z slice.json
  regauge store scan --db sqlite:objects.db --series sensor7 --from 2026-11-21 --newest --limit 500
  regauge store verify --db sqlite:objects.db
  regauge store adopt --db sqlite:app.db -c pending --table pending_objects --key-column id \\
      --value-column object --assume marshal
  regauge store reencode --db sqlite:app.db -c pending --to msgpack+zstd --dry-run
      measures the saving and lists what would be lost

A codec is a format and a compression: msgpack, json+gzip, cbor+zstd, marshal+lz4.

Exit status: 0 done, 1 bad data or a failed read or write, 2 wrong usage, 3 refused because
something would be lost, 4 no such key, or a value that is damaged.";

/// Keep documents in a database: a codec per value, checksums, re-encoding
#[derive(Debug, Args)]
#[command(after_help = STORE_EXAMPLES)]
pub struct StoreArguments {
    #[command(subcommand)]
    pub command: StoreCommand,
}

/// Where the collection is.
#[derive(Debug, Args)]
pub struct Place {
    /// The database: sqlite:PATH, postgres://…, mysql://…, mongodb://…, cassandra://…
    #[arg(long, value_name = "URL", env = "REGAUGE_DB")]
    pub db: String,
    /// The collection in it
    #[arg(long, short, value_name = "NAME", default_value = regauge_store::DEFAULT_COLLECTION)]
    pub collection: String,
}

/// Which keys.
#[derive(Debug, Args)]
pub struct Keys {
    /// Only keys that begin so
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["from_key", "to_key"])]
    pub prefix: Option<String>,
    /// From this key on
    #[arg(long, value_name = "KEY")]
    pub from_key: Option<String>,
    /// Up to before this key
    #[arg(long, value_name = "KEY")]
    pub to_key: Option<String>,
    /// The largest key first
    #[arg(long)]
    pub descending: bool,
    /// At most so many
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

/// Which part of a time series.
#[derive(Debug, Args)]
pub struct SpanArguments {
    /// The series
    #[arg(long, value_name = "NAME")]
    pub series: String,
    /// From this time on: 2026-11-21T12:00:00Z, a day, or seconds since 1970
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<String>,
    /// Up to before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<String>,
    /// The newest first
    #[arg(long)]
    pub newest: bool,
    /// At most so many
    #[arg(long, value_name = "N")]
    pub limit: Option<u64>,
}

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Put a document under a key
    Put {
        #[command(flatten)]
        place: Place,
        /// The key
        key: String,
        /// The file that holds the document; - is standard input
        file: PathBuf,
        /// Its format [default: as its name or its first bytes tell]
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        from: Option<Format>,
        /// How a new collection stores its values [default: msgpack]
        #[arg(long, value_name = "CODEC")]
        codec: Option<Codec>,
        /// What to do with a value that the codec cannot hold exactly
        #[arg(long, value_enum, default_value_t = Loss::Refuse, value_name = "POLICY")]
        on_loss: Loss,
        /// The file is in the notation that --on-loss wrap writes: read it as what it stands for
        #[arg(long)]
        unwrap: bool,
        /// Keep a document that is there already
        #[arg(long)]
        new: bool,
        /// Put it into this time series; the key is its time
        #[arg(long, value_name = "NAME", conflicts_with = "new")]
        series: Option<String>,
        /// How long the buckets of a new series are: day, 6h, 90s, or size for what stays below
        /// 50 MB [default: day]
        #[arg(long, value_name = "LENGTH", requires = "series")]
        buckets: Option<Buckets>,
    },
    /// Get the document of a key
    Get {
        #[command(flatten)]
        place: Place,
        /// The key
        key: String,
        /// The file to write; - is standard output
        #[arg(default_value = "-")]
        output: PathBuf,
        /// The format to write [default: as the file's name tells, else JSON]
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        to: Option<Format>,
        /// What to do with a value that the format cannot hold exactly
        #[arg(long, value_enum, default_value_t = Loss::Refuse, value_name = "POLICY")]
        on_loss: Loss,
        /// The stored documents are in the notation that --on-loss wrap writes: read them as what
        /// they stand for
        #[arg(long)]
        unwrap: bool,
        /// Replace the file if it exists
        #[arg(long, short)]
        force: bool,
        /// Get it from this time series; the key is its time
        #[arg(long, value_name = "NAME")]
        series: Option<String>,
    },
    /// Delete the document of a key
    Delete {
        #[command(flatten)]
        place: Place,
        /// The key
        key: String,
        /// Delete it from this time series; the key is its time
        #[arg(long, value_name = "NAME")]
        series: Option<String>,
    },
    /// Write a part of a time series as a stream of {"time": …, "value": …}
    Scan {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        span: SpanArguments,
        /// The file to write; - is standard output
        #[arg(default_value = "-")]
        output: PathBuf,
        /// The format to write [default: as the file's name tells, else NDJSON]
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        format: Option<Format>,
        /// Write the documents alone
        #[arg(long)]
        values: bool,
        /// What to do with a value that the format cannot hold exactly
        #[arg(long, value_enum, default_value_t = Loss::Refuse, value_name = "POLICY")]
        on_loss: Loss,
        /// The stored documents are in the notation that --on-loss wrap writes: read them as what
        /// they stand for
        #[arg(long)]
        unwrap: bool,
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
        /// With codec, sizes and time
        #[arg(long, short)]
        long: bool,
        /// List the collections instead
        #[arg(long, conflicts_with_all = ["prefix", "from_key", "to_key", "limit"])]
        collections: bool,
    },
    /// Put every document of a file, all in one go or, in a large file, batch by batch
    Import {
        #[command(flatten)]
        place: Place,
        /// The file; - is standard input
        file: PathBuf,
        /// Its format [default: as its name or its first bytes tell]
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        from: Option<Format>,
        /// The member that holds the key, which is taken as text; `id.bioguide` is the member
        /// bioguide of the member id, and `\.` a dot in a name [default: documents of the form
        /// {"key": …, "value": …}, as `export` writes them]
        #[arg(long, value_name = "PATH", value_parser = KeyPath::parse)]
        key: Option<KeyPath>,
        /// How a new collection stores its values [default: msgpack]
        #[arg(long, value_name = "CODEC")]
        codec: Option<Codec>,
        /// What to do with a value that the codec cannot hold exactly
        #[arg(long, value_enum, default_value_t = Loss::Refuse, value_name = "POLICY")]
        on_loss: Loss,
        /// The file is in the notation that --on-loss wrap writes: read it as what it stands for
        #[arg(long)]
        unwrap: bool,
        /// Show a progress bar
        #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
        progress: When,
        /// Put them into this time series; --key names the member that holds the time [default:
        /// documents of the form {"time": …, "value": …}, as `scan` writes them]
        #[arg(long, value_name = "NAME")]
        series: Option<String>,
        /// How long the buckets of a new series are: day, 6h, 90s, or size for what stays below
        /// 50 MB [default: day]
        #[arg(long, value_name = "LENGTH", requires = "series")]
        buckets: Option<Buckets>,
    },
    /// Write keys and documents as a stream of {"key": …, "value": …}
    Export {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        keys: Keys,
        /// The file to write; - is standard output
        #[arg(default_value = "-")]
        output: PathBuf,
        /// The format to write [default: as the file's name tells, else NDJSON]
        #[arg(long, value_name = "FORMAT", value_parser = format)]
        to: Option<Format>,
        /// Write the documents alone
        #[arg(long)]
        values: bool,
        /// What to do with a value that the format cannot hold exactly
        #[arg(long, value_enum, default_value_t = Loss::Refuse, value_name = "POLICY")]
        on_loss: Loss,
        /// The stored documents are in the notation that --on-loss wrap writes: read them as what
        /// they stand for
        #[arg(long)]
        unwrap: bool,
        /// Replace the file if it exists
        #[arg(long, short)]
        force: bool,
    },
    /// Say how many values there are, in which codecs, and how large
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
    /// Store every value in another codec, while others read and write
    Reencode {
        #[command(flatten)]
        place: Place,
        /// The new codec
        #[arg(long, value_name = "CODEC")]
        to: Codec,
        /// Change nothing: measure the saving, and list what would be lost
        #[arg(long)]
        dry_run: bool,
        /// At most so many values a second
        #[arg(long, value_name = "N", value_parser = rate)]
        rate: Option<f64>,
        /// What to do with a value that the codec cannot hold exactly
        #[arg(long, value_enum, default_value_t = Loss::Refuse, value_name = "POLICY")]
        on_loss: Loss,
        /// The stored documents are in the notation that --on-loss wrap writes: read them as what
        /// they stand for
        #[arg(long)]
        unwrap: bool,
    },
    /// Take a table of another program for a collection, as it stands
    Adopt {
        #[command(flatten)]
        place: Place,
        /// The table
        #[arg(long, value_name = "TABLE")]
        table: String,
        /// The column that holds the key
        #[arg(long, value_name = "COLUMN", default_value = "id")]
        key_column: String,
        /// What that column holds: bytes, text or integer
        #[arg(long, value_name = "KIND", default_value = "integer", value_parser = key_kind)]
        key_kind: regauge_store::KeyKind,
        /// The column that holds the value
        #[arg(long, value_name = "COLUMN", default_value = "value")]
        value_column: String,
        /// What the values are: a format, or base64:FORMAT
        #[arg(long, value_name = "FORMAT")]
        assume: Assume,
        /// The column takes text only: what is put is in Base64, which costs a third more
        #[arg(long)]
        text: bool,
        /// How values are stored from now on [default: as they are, behind an envelope]
        #[arg(long, value_name = "CODEC")]
        codec: Option<Codec>,
    },
    Tenants(super::tenants::TenantsArguments),
    /// Train a dictionary for zstd from the values that are there; for many small ones
    Train {
        #[command(flatten)]
        place: Place,
        /// Values to train from
        #[arg(long, value_name = "N", default_value_t = 10_000)]
        samples: usize,
        /// The largest size of the dictionary, in bytes
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
