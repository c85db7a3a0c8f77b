//! Where `xray` and `migrate` read from: dumps, servers, tables and collections.

use std::io::{self, Cursor, Read};
use std::path::Path;

use regauge::{Error, ErrorKind, Limits};
use regauge_packing::files::Compression;
use regauge_sources::Source;
use regauge_sources::rdb::{Rdb, is_rdb};
use regauge_sources::sql::{self, Access, Sql};

use crate::args::When;
use crate::failure::{Failure, Result, named};
use crate::progress::Meter;
use crate::words;

/// How the addresses of servers begin.
const SCHEMES: [&str; 8] = [
    "redis://",
    "rediss://",
    "valkey://",
    "valkeys://",
    "unix:",
    "redis+unix:",
    "valkey+unix:",
    "memcached://",
];

/// How the addresses of MongoDB begin.
const MONGODB: [&str; 2] = ["mongodb://", "mongodb+srv://"];

/// How the addresses of Cassandra begin.
const CASSANDRA: &str = "cassandra://";

/// Returns the name of a source in messages: without the password of a server.
pub fn name(source: &str) -> String {
    match source {
        "-" => "standard input".to_owned(),
        _ if is_database(source) => sql::name(source),
        _ => match source.split_once("://") {
            Some((scheme, rest)) => {
                let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
                format!("{scheme}://{host}")
            }
            None => source.to_owned(),
        },
    }
}

/// Returns whether a source is a dump, which cannot be changed.
pub fn is_dump(source: &str) -> bool {
    !is_server(source) && !is_database(source)
}

/// The keys per second that are read from a server unless the user says otherwise: they take less than a hundredth of a
/// core of Redis, and other clients do not notice (docs/caches.md).
const RATE: u32 = 500;

/// Returns the most keys per second to read: as the user said, where 0 means no limit.
pub fn rate(source: &str, given: Option<u32>) -> Option<u32> {
    match given {
        None => is_server(source).then_some(RATE),
        given => given.filter(|rate| *rate > 0),
    }
}

/// Returns the load of the server at which reading waits, as the user said.
///
/// # Errors
/// Usage if the source does not tell its load.
pub fn load(source: &str, given: Option<u8>) -> Result<Option<u8>> {
    let is_redis = is_server(source) && !source.starts_with("memcached://");
    if given.is_some() && !is_redis {
        let message = format!(
            "{}: found --max-load, expected a running Redis or Valkey: nothing else tells its load; use --rate",
            name(source)
        );
        return Err(Failure::usage(message));
    }
    Ok(given)
}

/// Returns whether a source is a column of a table or a field of a collection.
fn is_database(source: &str) -> bool {
    sql::is_url(source)
        || source.starts_with(CASSANDRA)
        || MONGODB.iter().any(|scheme| source.starts_with(scheme))
}

fn is_server(source: &str) -> bool {
    SCHEMES.iter().any(|scheme| source.starts_with(scheme))
}

/// Opens a source: a server or a column by its address, a dump by its path, `-` for standard input. A database lets
/// nobody write through what was opened to read.
///
/// # Errors
/// Usage if it is none, I/O if it cannot be opened.
pub fn open(
    source: &str,
    limits: &Limits,
    progress: When,
    access: Access,
) -> Result<Box<dyn Source>> {
    let name = &name(source);
    if is_server(source) {
        return server(source, name);
    }
    if is_database(source) {
        return database(source, access).map_err(|error| match error.kind() {
            // What the driver says of an address begins with it.
            ErrorKind::Refused if error.message().starts_with(name) => {
                Failure::usage(words::text(&error))
            }
            ErrorKind::Refused => Failure::usage(format!("{name}: {}", words::text(&error))),
            _ => Failure::data(name, error),
        });
    }
    if let Some((scheme, _)) = source.split_once("://") {
        return Err(Failure::usage(format!(
            "{name}: found an address that begins with {scheme}://, expected redis, valkey, unix, memcached, sqlite, \
             postgres, mysql, mongodb or cassandra"
        )));
    }
    let unreadable = |error: io::Error| Failure::io(name, &error);
    let path = Path::new(source);
    let (mut read, size): (Box<dyn Read + Send>, _) = match source {
        "-" => (Box::new(io::stdin()), None),
        _ if path.is_dir() => {
            return Err(Failure::usage(format!("{name}: is a directory, expected a dump")));
        }
        _ => {
            let cannot = |error| Failure::usage(named("open", name, &error));
            let file = std::fs::File::open(path).map_err(cannot)?;
            let size = file.metadata().ok().map(|data| data.len());
            (Box::new(file), size)
        }
    };
    let mut head = Vec::new();
    read.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(unreadable)?;
    let compression = Compression::from_magic(&head);
    let meter = Meter::new(progress, false).with_total(size);
    let whole = Metered {
        read: Cursor::new(head.clone()).chain(read),
        name: name.clone(),
        consumed: 0,
        meter,
    };
    let read: Box<dyn Read + Send> = match compression {
        Some(compression) => compression.decoder(whole, limits).map_err(unreadable)?,
        None if is_rdb(&head) => Box::new(whole),
        None => return Err(Failure::data(name, no_dump(&head))),
    };
    Ok(Box::new(Rdb::new(read)))
}

/// Connects to a server.
#[cfg(feature = "servers")]
fn server(address: &str, name: &str) -> Result<Box<dyn Source>> {
    let failed = |error: Error| match error.kind() {
        // A wrong address, user or password.
        ErrorKind::Refused => Failure::usage(format!("{name}: {}", words::text(&error))),
        _ => Failure::data(name, error),
    };
    if address.starts_with("memcached://") {
        let source = regauge_sources::memcached::Memcached::open(address).map_err(failed)?;
        return Ok(Box::new(source));
    }
    Ok(Box::new(regauge_sources::redis::Redis::open(address).map_err(failed)?))
}

/// Reports that servers are missing.
#[cfg(not(feature = "servers"))]
fn server(_: &str, name: &str) -> Result<Box<dyn Source>> {
    Err(Failure::usage(format!("{name}: {WITHOUT_SERVERS}, or give a dump")))
}

/// Wraps an error of reading or writing a source. What a server refuses is no refusal of data.
pub fn failed(name: &str, error: Error) -> Failure {
    match error.kind() {
        ErrorKind::Refused => Failure::Io(format!("{name}: {}", words::text(&error))),
        _ => Failure::data(name, error),
    }
}

/// Opens a column of a table or a field of a collection.
fn database(source: &str, access: Access) -> regauge::Result<Box<dyn Source>> {
    if sql::is_url(source) {
        return Ok(Box::new(Sql::open(source, access)?));
    }
    #[cfg(feature = "servers")]
    return match source.starts_with(CASSANDRA) {
        true => Ok(Box::new(regauge_sources::cassandra::Cassandra::open(source, access)?)),
        false => Ok(Box::new(regauge_sources::mongodb::MongoDb::open(source, access)?)),
    };
    #[cfg(not(feature = "servers"))]
    Err(Error::new(ErrorKind::Refused, WITHOUT_SERVERS))
}

#[cfg(not(feature = "servers"))]
const WITHOUT_SERVERS: &str = "this regauge was built without servers; build it with \
                               `cargo build --release -p regauge-cli --features servers`";

/// Enough to tell a dump from a compressed file.
const HEAD_BYTES: u64 = 16;

/// Shows how far the file has been read.
struct Metered<R> {
    read: R,
    name: String,
    consumed: u64,
    meter: Meter,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.read.read(buffer).map_err(|error| named("read", &self.name, &error))?;
        self.consumed += got as u64;
        self.meter.reached(self.consumed);
        Ok(got)
    }
}

impl<R> Drop for Metered<R> {
    fn drop(&mut self) {
        self.meter.finish();
    }
}

#[cold]
fn no_dump(head: &[u8]) -> Error {
    let begins = head[..head.len().min(8)].escape_ascii();
    let hint = match head.starts_with(b"SQLite format 3") {
        true => "look at a column of a table in it: sqlite:FILE?table=NAME&column=NAME",
        false => "look at a single value with `regauge inspect`",
    };
    Error::syntax(format!(
        "found a file that begins with `{begins}`, expected a dump of Redis or Valkey, which begins with REDIS or VALKEY"
    ))
    .hint(hint)
}
