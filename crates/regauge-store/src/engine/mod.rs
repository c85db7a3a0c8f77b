//! The operations a database needs to hold a store, and the databases that provide them.
//!
//! The trait is blocking: SQLite is, a command line is, and a server calls it from a thread pool.
//! Asynchronous drivers bring a small runtime of their own.
//!
//! Each server's driver is behind its own feature, because it takes minutes to build.

#[cfg(feature = "cassandra")]
pub(crate) mod cassandra;
mod chunked;
mod column;
#[cfg(any(feature = "mysql", feature = "postgres"))]
mod line;
#[cfg(feature = "mongodb")]
pub(crate) mod mongodb;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(any(feature = "mongodb", feature = "mysql", feature = "postgres"))]
mod parameters;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "runtime")]
mod runtime;
mod sqlite;

use std::time::Duration;

use crate::cells::{Access, Cells, Column};
use crate::error::{Error, Result};

#[cfg(feature = "cassandra")]
pub use self::cassandra::Cassandra;
#[cfg(feature = "mongodb")]
pub use self::mongodb::MongoDb;
pub use chunked::{ABANDONED, Chunked};
#[cfg(feature = "mysql")]
pub use mysql::Mysql;
#[cfg(feature = "postgres")]
pub use postgres::Postgres;
pub use sqlite::Sqlite;

/// Why bytes cannot be put into a column of text.
#[cfg(any(feature = "cassandra", feature = "mysql", feature = "postgres"))]
const NOT_TEXT: &str = "found bytes that are not UTF-8, expected text: the column holds text";

/// A range of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The first key that belongs to it; `None` starts at the very first.
    pub from: Option<Vec<u8>>,
    /// The first key after it; `None` has no end.
    pub to: Option<Vec<u8>>,
}

impl Range {
    /// Returns the range of all keys.
    #[must_use]
    pub fn all() -> Range {
        Range::default()
    }

    /// Creates the range of keys that begin with these bytes.
    #[must_use]
    pub fn prefix(prefix: &[u8]) -> Range {
        let mut to = prefix.to_vec();
        // The first key after all with this prefix: the last byte that can be incremented,
        // incremented.
        while let Some(last) = to.pop() {
            if last < u8::MAX {
                to.push(last + 1);
                return Range { from: Some(prefix.to_vec()), to: Some(to) };
            }
        }
        Range { from: Some(prefix.to_vec()), to: None }
    }
}

/// The order of a scan, by the bytes of the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Smallest first.
    #[default]
    Ascending,
    /// Largest first.
    Descending,
}

/// The location of a collection in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The table (the collection of documents, the column family).
    pub table: String,
    /// The key column.
    pub key: String,
    /// The value column.
    pub value: String,
    /// The type of the key column.
    pub key_kind: KeyKind,
    /// Whether the value column accepts only text: values are then in Base64.
    pub text: bool,
}

/// The type of a key column. Everywhere else keys are bytes: the text, or the decimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Any bytes.
    Bytes,
    /// UTF-8 text.
    Text,
    /// Whole numbers; a scan is in numeric order.
    Integer,
}

impl KeyKind {
    /// Returns its name in the table of collections.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            KeyKind::Bytes => "bytes",
            KeyKind::Text => "text",
            KeyKind::Integer => "integer",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<KeyKind> {
        [KeyKind::Bytes, KeyKind::Text, KeyKind::Integer].into_iter().find(|one| one.name() == name)
    }
}

/// Bytes of values after which a page ends early.
pub(crate) const PAGE_BYTES: usize = 4 << 20;

/// Keys per deletion when a table is emptied.
const DELETED_AT_ONCE: usize = 1_000;

/// A key and its stored value.
pub type Pair = (Vec<u8>, Vec<u8>);

/// A change to many values at once: a value to put, or `None` to delete.
pub type Change<'b> = (&'b [u8], Option<&'b [u8]>);

/// A database that holds collections of keys and values. To it, values are opaque bytes.
pub trait Engine: Send {
    /// Returns the name of the engine for display: "SQLite 3.50".
    fn name(&self) -> String;

    /// Returns what users should know of a fault in the program that wrote the database last.
    fn warning(&self) -> Option<String> {
        None
    }

    /// Returns whether a batch is stored as a whole or not at all.
    fn is_atomic(&self) -> bool;

    /// Returns whether the database is gone once this connection is closed, and no other sees it.
    fn is_temporary(&self) -> bool {
        false
    }

    /// Returns the maximum size of a stored value; `None` if the limit is irrelevant next to that
    /// of documents.
    fn value_limit(&self) -> Option<usize> {
        None
    }

    /// Sets whether each change is synced to the disk before it is acknowledged, which is the
    /// default. Otherwise the last changes may be missing after a power failure, but never after a
    /// killed program, and the remaining data is intact.
    ///
    /// # Errors
    /// `Usage` for an engine without a choice; `Engine`.
    fn sync_each_change(&self, each: bool) -> Result {
        if each {
            return Ok(());
        }
        Err(Error::usage(format!("{} syncs as its server is configured", self.name())))
    }

    /// Returns the key column of regauge's own collections.
    fn key_column(&self) -> &'static str {
        "key"
    }

    /// Returns whether the database has a table of this name, ignoring case.
    ///
    /// # Errors
    /// `Engine`.
    fn has_table(&self, name: &str) -> Result<bool>;

    /// Checks whether another program's table can be used as a collection: it exists, has these
    /// columns, and no key occurs in two rows.
    ///
    /// # Errors
    /// `Usage`, saying what is missing; `Engine`.
    fn check(&self, layout: &Layout) -> Result;

    /// Creates the table of a collection, unless it exists.
    ///
    /// # Errors
    /// `Engine`.
    fn create(&self, layout: &Layout) -> Result;

    /// Creates a table as a program unaware of regauge would: a key column, which is the whole
    /// primary key, and a value column, binary or text as the layout says.
    ///
    /// # Errors
    /// `Engine`.
    fn create_plain(&self, layout: &Layout) -> Result {
        self.create(layout)
    }

    /// Removes a table with everything in it. If the collection is part of a table, removes that
    /// part.
    ///
    /// # Errors
    /// `Engine`.
    fn drop_table(&self, layout: &Layout) -> Result {
        loop {
            let keys = self.keys(layout, &Range::all(), Order::Ascending, DELETED_AT_ONCE)?;
            if keys.is_empty() {
                return Ok(());
            }
            let changes: Vec<Change<'_>> = keys.iter().map(|key| (&key[..], None)).collect();
            self.apply(layout, &changes)?;
        }
    }

    /// Creates the table of a collection and stores the note that describes it, both or neither;
    /// anything that exists already stays unchanged. If the engine has no transactions for this, a
    /// second note says meanwhile that the table is being created ([`making`]), so that a run
    /// killed in between can be repeated.
    ///
    /// # Errors
    /// `Engine`.
    fn create_noted(&self, layout: &Layout, name: &str, note: &[u8]) -> Result {
        self.set_note(&making(name), Some(b""))?;
        self.create(layout)?;
        if self.note(name)?.is_none() {
            self.set_note(name, Some(note))?;
        }
        self.set_note(&making(name), None)
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    /// `Engine`; `Usage` for a key that the column cannot hold.
    fn get(&self, layout: &Layout, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// Returns the values of many keys, in their order.
    ///
    /// # Errors
    /// Those of `get`.
    fn get_many(&self, layout: &Layout, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>> {
        keys.iter().map(|key| self.get(layout, key)).collect()
    }

    /// Returns whether this key has a value.
    ///
    /// # Errors
    /// Those of `get`.
    fn exists(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        Ok(self.get(layout, key)?.is_some())
    }

    /// Stores one value, replacing an existing one.
    ///
    /// # Errors
    /// Those of `get`.
    fn put(&self, layout: &Layout, key: &[u8], value: &[u8]) -> Result {
        self.apply(layout, &[(key, Some(value))])
    }

    /// Puts and deletes many values: all of them or, if `is_atomic`, none.
    ///
    /// # Errors
    /// Those of `get`.
    fn apply(&self, layout: &Layout, changes: &[Change<'_>]) -> Result;

    /// Puts a value (or deletes it: `None`) if the present one is still what the caller has seen
    /// (or still absent: `None`). Returns whether it did.
    ///
    /// # Errors
    /// Those of `get`.
    fn swap(
        &self,
        layout: &Layout,
        key: &[u8],
        seen: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool>;

    /// Performs many such swaps, in one transaction if the engine has transactions; returns which
    /// were done.
    ///
    /// # Errors
    /// Those of `get`.
    fn swap_many(&self, layout: &Layout, swaps: &[(&[u8], &[u8], &[u8])]) -> Result<Vec<bool>> {
        let one = |&(key, seen, new): &_| self.swap(layout, key, Some(seen), Some(new));
        swaps.iter().map(one).collect()
    }

    /// Deletes a value; returns whether there was one.
    ///
    /// # Errors
    /// Those of `get`.
    fn delete(&self, layout: &Layout, key: &[u8]) -> Result<bool>;

    /// Returns the first keys and values of a range, at most `limit` of them and, after the first,
    /// at most a few megabytes.
    ///
    /// # Errors
    /// Those of `get`.
    fn page(&self, layout: &Layout, range: &Range, order: Order, limit: usize)
    -> Result<Vec<Pair>>;

    /// Returns the first keys of a range.
    ///
    /// # Errors
    /// Those of `get`.
    fn keys(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>>;

    /// Returns keys in the order in which they were first put, each with its place in that order: at
    /// most `limit`, from the first after (or, descending, before) the place `after`.
    ///
    /// # Errors
    /// `Usage` for an engine that does not know that order; `Engine`.
    fn keys_by_age(
        &self,
        _layout: &Layout,
        _after: Option<i64>,
        _order: Order,
        _limit: usize,
    ) -> Result<Vec<(i64, Vec<u8>)>> {
        Err(Error::usage(format!("{} does not know the order in which keys were put", self.name())))
    }

    /// Begins a transaction. Until [`end`](Engine::end), changes by this handle are visible to it
    /// alone, and changes by others wait.
    ///
    /// # Errors
    /// `Usage` for an engine without transactions that last for several calls; `Engine`.
    fn begin(&self) -> Result {
        Err(no_transactions(&self.name()))
    }

    /// Ends the transaction that [`begin`](Engine::begin) began: stores all its changes, or none.
    ///
    /// # Errors
    /// Those of `begin`.
    fn end(&self, _commit: bool) -> Result {
        Err(no_transactions(&self.name()))
    }

    /// Returns the number of values and their total size.
    ///
    /// # Errors
    /// `Engine`.
    fn count(&self, layout: &Layout) -> Result<(u64, u64)>;

    /// Removes what crashed writers left of large values ([`Chunked`]), if it is older than this.
    /// Returns the number of these values.
    ///
    /// # Errors
    /// `Engine`.
    fn sweep(&self, _layout: &Layout, _older_than: Duration) -> Result<u64> {
        Ok(0)
    }

    /// Returns a note that regauge keeps alongside the collections, by its name.
    ///
    /// # Errors
    /// `Engine`.
    fn note(&self, name: &str) -> Result<Option<Vec<u8>>>;

    /// Stores a note, or removes it: `None`.
    ///
    /// # Errors
    /// `Engine`.
    fn set_note(&self, name: &str, note: Option<&[u8]>) -> Result;

    /// Returns the names of all notes with this prefix, sorted.
    ///
    /// # Errors
    /// `Engine`.
    fn notes(&self, prefix: &str) -> Result<Vec<String>>;
}

fn no_transactions(engine: &str) -> Error {
    Error::usage(format!("{engine} has no transactions that last for several calls"))
}

/// Returns the name of the note that marks a collection being created.
#[must_use]
pub fn making(name: &str) -> String {
    format!("making/{name}")
}

/// The error for a URL whose driver is not in this build.
#[cfg(not(all(
    feature = "postgres",
    feature = "mysql",
    feature = "mongodb",
    feature = "cassandra"
)))]
fn missing<E: ?Sized>(url: &str, feature: &str) -> Result<Box<E>> {
    Err(Error::usage(format!(
        "{} needs the driver of a server, which is not compiled in; build with the feature \
         \"{feature}\", or \"servers\" for all",
        shown_url(url)
    )))
}

/// Opens the database of a URL: `sqlite:PATH`, `postgres://…`, `mysql://…`, `mongodb://…`,
/// `cassandra://…`.
///
/// # Errors
/// `Usage` for a URL of an unknown kind or one that is not compiled in, and the engine's own.
/// No error shows a password.
pub fn open(url: &str) -> Result<Box<dyn Engine>> {
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    match scheme {
        "sqlite" => Ok(Box::new(Sqlite::open(rest)?)),
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => Ok(in_chunks(Postgres::open(url)?)),
        #[cfg(not(feature = "postgres"))]
        "postgres" | "postgresql" => missing(url, "postgres"),
        #[cfg(feature = "mysql")]
        "mysql" => Ok(in_chunks(Mysql::open(url)?)),
        #[cfg(not(feature = "mysql"))]
        "mysql" => missing(url, "mysql"),
        #[cfg(feature = "mongodb")]
        "mongodb" | "mongodb+srv" => Ok(in_chunks(MongoDb::open(url)?)),
        #[cfg(not(feature = "mongodb"))]
        "mongodb" | "mongodb+srv" => missing(url, "mongodb"),
        #[cfg(feature = "cassandra")]
        "cassandra" => Ok(in_chunks(Cassandra::open(url)?)),
        #[cfg(not(feature = "cassandra"))]
        "cassandra" => missing(url, "cassandra"),
        _ => Err(Error::usage(format!(
            "found \"{}\", expected sqlite:PATH, postgres://, mysql://, mongodb:// or cassandra://",
            shown_url(url)
        ))),
    }
}

/// Opens an existing database: like [`open`], but without creating an SQLite file.
///
/// # Errors
/// `Absent` if the file is missing, and those of `open`.
pub fn open_existing(url: &str) -> Result<Box<dyn Engine>> {
    match url.split_once(':') {
        Some(("sqlite", path)) => Ok(Box::new(Sqlite::open_existing(path)?)),
        // A server either has the database or reports that it does not.
        _ => open(url),
    }
}

/// Returns the version of the SQLite that is built in.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// Wraps an engine with a size limit, so that large values are stored in chunks.
#[cfg_attr(not(feature = "runtime"), allow(dead_code, reason = "SQLite has no limit that matters"))]
fn in_chunks(engine: impl Engine + 'static) -> Box<dyn Engine> {
    match engine.value_limit() {
        Some(limit) => Box::new(Chunked::new(Box::new(engine), limit)),
        None => Box::new(engine),
    }
}

/// Returns the first key after this one; `None` if this is the last possible one.
pub(crate) fn successor(layout: &Layout, key: &[u8]) -> Option<Vec<u8>> {
    if layout.key_kind == KeyKind::Integer
        && let Some(number) =
            std::str::from_utf8(key).ok().and_then(|text| text.parse::<i64>().ok())
    {
        return number.checked_add(1).map(|next| next.to_string().into_bytes());
    }
    let mut next = key.to_vec();
    next.push(0);
    Some(next)
}

/// Narrows a range to what follows this key, in an order; returns whether anything can be left.
pub(crate) fn narrow_after(rest: &mut Range, layout: &Layout, key: &[u8], order: Order) -> bool {
    match order {
        Order::Ascending => match successor(layout, key) {
            Some(next) => rest.from = Some(next),
            None => return false,
        },
        Order::Descending => rest.to = Some(key.to_vec()),
    }
    true
}

/// Opens a column of the database of a URL, as `cells::open` says.
pub(crate) fn open_cells(url: &str, column: &Column, access: Access) -> Result<Box<dyn Cells>> {
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    match scheme {
        "sqlite" => Ok(Box::new(sqlite::SqliteCells::open(rest, column, access)?)),
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => {
            Ok(Box::new(postgres::PostgresCells::open(url, column, access)?))
        }
        #[cfg(not(feature = "postgres"))]
        "postgres" | "postgresql" => missing(url, "postgres"),
        #[cfg(feature = "mysql")]
        "mysql" => Ok(Box::new(mysql::MysqlCells::open(url, column, access)?)),
        #[cfg(not(feature = "mysql"))]
        "mysql" => missing(url, "mysql"),
        _ => Err(Error::usage(format!(
            "found \"{}\", expected sqlite:PATH, postgres:// or mysql://",
            shown_url(url)
        ))),
    }
}

/// Returns a URL for error messages: without user, password and parameters.
pub(crate) fn shown_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        // A path, or something that is not a URL and should not be repeated.
        return match url.split_once(':') {
            Some((scheme, path)) if !path.contains('@') => format!("{scheme}:{path}"),
            Some((scheme, _)) => format!("{scheme}:…"),
            None => url.to_owned(),
        };
    };
    // A password may contain any character, even if it should not: what precedes the last @ is
    // never shown, and nothing at all if that @ may be part of a parameter.
    let (hidden, place) = match rest.rsplit_once('@') {
        Some((before, _)) if before.contains('?') => ("…", ""),
        Some((_, place)) => ("…@", place),
        None => ("", rest),
    };
    let place = place.split(['?', '#']).next().unwrap_or_default();
    format!("{scheme}://{hidden}{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes() {
        let range = |from: &[u8], to: Option<&[u8]>| Range {
            from: Some(from.to_vec()),
            to: to.map(<[u8]>::to_vec),
        };
        assert_eq!(Range::prefix(b"ab"), range(b"ab", Some(b"ac")));
        assert_eq!(Range::prefix(b"a\xFF\xFF"), range(b"a\xFF\xFF", Some(b"b")));
        assert_eq!(Range::prefix(b"\xFF"), range(b"\xFF", None));
        assert_eq!(Range::prefix(b""), range(b"", None));
    }

    #[test]
    fn a_url_is_shown_without_its_secrets() {
        for (url, shown) in [
            ("sqlite:objects.db", "sqlite:objects.db"),
            ("postgres://host/base", "postgres://host/base"),
            (
                "postgres://user:secret@host:5432/base?sslmode=require",
                "postgres://…@host:5432/base",
            ),
            ("mysql://user:se/c@ret@host/base", "mysql://…@host/base"),
            ("mongodb://user:se?cret@host/base", "mongodb://…"),
            ("postgres://host/base?user=u&password=secret", "postgres://host/base"),
            ("postgres://host/base?password=sec@ret", "postgres://…"),
            ("postgres:user:secret@host", "postgres:…"),
        ] {
            assert_eq!(shown_url(url), shown);
            if url.contains("se") && !url.starts_with("sqlite") && url.contains("://") {
                let told = open(&url.replacen("://", "s://", 1)).err().unwrap().to_string();
                assert!(!told.contains("ret") && told.contains("expected sqlite:PATH"), "{told}");
            }
        }
    }
}
