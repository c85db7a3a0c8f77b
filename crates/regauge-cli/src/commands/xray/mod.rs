//! `regauge xray`: what is in a cache or in a column of a table.

mod reading;

use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use regauge_caches::look::Codec;
use regauge_caches::{Report, Xray as Looking};
use regauge_report::xray::{About, json, line, page, screen};
use regauge_sources::sql::Access;
use regauge_sources::{Sample, Summary, Wanted};

use crate::args::{Limit, When, jobs, limit, threads};
use crate::commands::sources;
use crate::failure::{Failure, Result};
use crate::output::Destination;
use crate::report::print;

const EXAMPLES: &str = "\
Examples:
  regauge xray dump.rdb
  regauge xray dump.rdb --prefix views/ --full
  regauge xray dump.rdb --out cache.html
      the same with sizes in other formats, classes and the largest values, as
      a page that works offline
  regauge xray dump.rdb --time
      also how long these values take to read in Ruby and Python, now and in
      other formats; half a minute
  regauge xray dump.rdb.gz --json > cache.json
  ssh cache 'redis-cli --rdb -' | regauge xray -
  regauge xray redis://cache:6379 --rate 100 --max-load 50
  regauge xray 'sqlite:app.db?table=jobs&column=body'
  regauge xray 'postgres://user@host/base?table=jobs&column=body&key=slug'
      a column of a table, also with mysql://; rows by their primary key, or by
      another unique column
  regauge xray 'mongodb://host/base.jobs?field=body'
      a field of the documents of a collection; also mongodb+srv://, and
      field=job.body in a document
  regauge xray 'cassandra://host/app.jobs?column=body'
      a column of the table jobs in the keyspace app
  regauge xray dump.rdb --list --prefix session: \\
      | jq -r 'select(.codec == \"pickle\").key'
  regauge xray dump.rdb --prefix views/ --save sample \\
      && regauge measure sample/marshal
      what these values cost in other formats, in the runtimes of this machine
  regauge xray dump.rdb --one-in 100
      looks into one key of a hundred; sizes and counts are those of these keys

Keys fold into prefixes: user:8123:session is user:*:session. Values are compared with what Rails,
Django, Celery, Sidekiq and others write; nothing is loaded or called. The keys of rows are
TABLE.COLUMN/KEY, those of documents COLLECTION.FIELD/ID.

Exit status: 0 done, 1 bad data or a failed read, 2 wrong usage.";

/// Show what is in a cache or a table: envelopes, formats, classes and sizes, by prefix of the keys
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Xray {
    /// Dump of Redis or Valkey, perhaps compressed; - is one on standard input. Or the address of a server, such as
    /// redis://localhost or memcached://localhost, of a column: 'sqlite:FILE?table=T&column=C', or of a field:
    /// 'mongodb://HOST/DATABASE.COLLECTION?field=F'
    #[arg(value_name = "SOURCE")]
    pub source: String,
    /// Look only at keys that begin with this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub prefix: String,
    /// Look only at this database
    #[arg(long, value_name = "N")]
    pub database: Option<u64>,
    /// Look at one key in N
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub one_in: u64,
    /// Most keys per second that are read from a server or a table; 0 for no limit [default: 500 from Redis and
    /// Memcached]
    #[arg(long, value_name = "N")]
    pub rate: Option<u32>,
    /// Wait, however long, while a Redis spends more than this percentage of a core on all its clients
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub max_load: Option<u8>,
    /// Count keys and bytes, and do not look into values
    #[arg(long)]
    pub no_values: bool,
    /// Write JSON
    #[arg(long)]
    pub json: bool,
    /// Write a line of JSON for each value instead: its key, its place in the key and what it is
    #[arg(long, conflicts_with_all = ["json", "full", "no_values"])]
    pub list: bool,
    /// Show every prefix and all advice
    #[arg(long)]
    pub full: bool,
    /// Also write a page that works offline: advice, prefixes, and the details; - is standard output, in place of the
    /// screen
    #[arg(long, value_name = "FILE", conflicts_with = "list")]
    pub out: Option<PathBuf>,
    /// Replace the file of --out if it exists
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Time how long sampled values take to read in Ruby and Python: as they are, and as MessagePack, JSON and CBOR;
    /// 6 s for each format and runtime. Only plain data is decoded, written again by regauge
    #[arg(long, conflicts_with_all = ["list", "no_values"])]
    pub time: bool,
    /// Keep a sample of the values in FOLDER, without their envelopes, for `regauge measure FOLDER/FORMAT`
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["list", "no_values"])]
    pub save: Option<PathBuf>,
    #[arg(long, short, value_name = "N", value_parser = jobs)]
    pub jobs: Option<usize>,
    #[arg(long, value_name = "NAME=VALUE", value_parser = limit)]
    pub limit: Vec<Limit>,
    /// Show a progress bar
    #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub progress: When,
}

/// Looks into a cache or a table, and prints what is there.
pub fn run(arguments: &Xray) -> Result {
    let limits = Limit::apply(&arguments.limit);
    let name = &sources::name(&arguments.source);
    if let Some(folder) = &arguments.save
        && folder.read_dir().is_ok_and(|mut files| files.next().is_some())
    {
        let folder = folder.display();
        return Err(Failure::usage(format!("{folder}: has files in it, expected a new folder")));
    }
    let is_page_alone = arguments.out.as_deref() == Some(Path::new("-"));
    if is_page_alone && arguments.json {
        let message = "--json and --out - both write to standard output; name a file for --out";
        return Err(Failure::usage(message));
    }
    let out = arguments.out.as_deref();
    let out = out.map(|path| Destination::open(path, arguments.force)).transpose()?;
    let load = sources::load(&arguments.source, arguments.max_load)?;
    let mut source = sources::open(&arguments.source, &limits, arguments.progress, Access::Read)?;
    let wanted = Wanted {
        prefix: arguments.prefix.as_bytes(),
        database: arguments.database,
        sample: match arguments.one_in {
            1 => Sample::All,
            one_in => Sample::EveryNth(one_in),
        },
        values: !arguments.no_values,
        rate: sources::rate(&arguments.source, arguments.rate),
        load,
        ..Wanted::default()
    };
    let mut looking = Looking::new(limits);
    let mut lines = BufWriter::new(io::stdout().lock());
    // What is read at a rate needs no second core, and a line of --list should not wait for others.
    let jobs = if wanted.rate.is_some() { 1 } else { threads(arguments.jobs) };
    let ran = looking.read(&mut *source, &wanted, jobs, &mut |item, looked| {
        if let Some(looked) = looked.filter(|_| arguments.list) {
            writeln!(lines, "{}", line(item, looked))?;
        }
        Ok(())
    });
    lines.flush().map_err(|error| Failure::io("standard output", &error))?;
    drop(lines);
    if arguments.list {
        return ran.map(drop).map_err(|error| super::sources::failed(name, error));
    }
    let unread = Summary::default();
    let (summary, failed) = match &ran {
        Ok(summary) => (summary, None),
        Err(error) => (&unread, Some(error)),
    };
    let report = looking.finish();
    // What precedes an error is worth showing, unless there is nothing.
    if failed.is_none() || report.all.keys > 0 {
        let readings = match arguments.time {
            true => reading::all(&report, &limits, arguments.progress)?,
            false => Vec::new(),
        };
        let about = About {
            name,
            summary,
            one_in: arguments.one_in,
            prefix: &arguments.prefix,
            database: arguments.database,
            has_values: !arguments.no_values,
            readings: &readings,
        };
        let text = match arguments.json {
            true => format!("{:#}\n", json(&report, &about)),
            false => screen(&report, &about, arguments.full),
        };
        if !is_page_alone {
            print(text.as_bytes())?;
        }
        if let Some(out) = out {
            put(out, &page(&report, &about), !is_page_alone && !arguments.json)?;
        }
    }
    if let Some(folder) = &arguments.save {
        save(&report, folder).map_err(|error| Failure::io(folder.display(), &error))?;
    }
    ran.map(drop).map_err(|error| super::sources::failed(name, error))
}

/// Writes the page, and says where it is.
fn put(out: Destination, page: &str, is_told: bool) -> Result {
    let name = out.name.clone();
    out.write_all(page.as_bytes())?;
    out.commit()?;
    if is_told { print(format!("\nPage: {name}\n").as_bytes()) } else { Ok(()) }
}

/// Writes the samples of all prefixes into a folder per format.
fn save(report: &Report, folder: &Path) -> io::Result<()> {
    let samples = report.rows.iter().flat_map(|row| &row.tally.sample.values);
    for (at, (form, _, inside)) in samples.enumerate() {
        let Codec::Format(format) = form.codec else { continue };
        let folder = folder.join(format.name());
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(format!("{at:05}.{}", format.suffixes()[0])), inside)?;
    }
    Ok(())
}
