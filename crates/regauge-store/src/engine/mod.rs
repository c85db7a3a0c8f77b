//! What a database must be able to do to hold a store, and the databases that can.
//!
//! The trait is blocking: SQLite is, a command line is, and a server asks from a thread of its
//! pool. Drivers that are asynchronous bring a small runtime of their own.
//!
//! Each server's driver is behind a feature of its own, since it takes minutes to build.

#[cfg(feature = "cassandra")]
mod cassandra;
mod chunked;
mod column;
#[cfg(any(feature = "mysql", feature = "postgres"))]
mod line;
#[cfg(feature = "mongodb")]
mod mongodb;
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

/// A range of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The first key that belongs to it; nothing is the very first.
    pub from: Option<Vec<u8>>,
    /// The first key behind it; nothing is no end.
    pub to: Option<Vec<u8>>,
}

impl Range {
    /// All keys.
    #[must_use]
    pub fn all() -> Range {
        Range::default()
    }

    /// The keys that begin with these bytes.
    #[must_use]
    pub fn prefix(prefix: &[u8]) -> Range {
        let mut to = prefix.to_vec();
        // The first key behind all with this prefix: the last byte that can grow, grown.
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

/// Where in the database a collection is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The table (the collection of documents, the column family).
    pub table: String,
    /// The column of the key.
    pub key: String,
    /// The column of the value.
    pub value: String,
    /// What the database holds in the column of the key.
    pub key_kind: KeyKind,
    /// Whether the column of the value takes text only: then values are in Base64.
    pub text: bool,
}

/// What a column of keys holds. Keys are bytes everywhere else: the text, or the decimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// Any bytes.
    Bytes,
    /// UTF-8 text.
    Text,
    /// Whole numbers; a scan is in the order of the numbers.
    Integer,
}

impl KeyKind {
    /// Its name in the table of collections.
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

/// Keys of a deletion, where a table is emptied.
const DELETED_AT_ONCE: usize = 1_000;

/// A key and its stored value.
pub type Pair = (Vec<u8>, Vec<u8>);

/// A change of many values at once: a value to put, or nothing to delete.
pub type Change<'b> = (&'b [u8], Option<&'b [u8]>);

/// A database that holds collections of keys and values. Values are bytes to it.
pub trait Engine: Send {
    /// The name of the engine for people: "SQLite 3.50".
    fn name(&self) -> String;

    /// Whether a batch is put as a whole or not at all.
    fn is_atomic(&self) -> bool;

    /// The most bytes that one stored value may have; nothing is no limit that matters beside
    /// that of documents.
    fn value_limit(&self) -> Option<usize> {
        None
    }

    /// Whether each change is synced to the disk before it is acknowledged, as it is at first.
    /// Without, the last changes may be missing after the machine has lost its power; never after
    /// a program was killed, and what is there is whole.
    ///
    /// # Errors
    /// `Usage` for an engine that leaves no choice; `Engine`.
    fn sync_each_change(&self, each: bool) -> Result {
        if each {
            return Ok(());
        }
        Err(Error::usage(format!("{} syncs as its server is configured", self.name())))
    }

    /// The column of the keys in collections of regauge's own.
    fn key_column(&self) -> &'static str {
        "key"
    }

    /// Whether the database has a table of this name, however its letters are written.
    ///
    /// # Errors
    /// `Engine`.
    fn has_table(&self, name: &str) -> Result<bool>;

    /// Looks whether a table that others have made can be a collection: it is there, has these
    /// columns, and no two rows of one key.
    ///
    /// # Errors
    /// `Usage`, saying what it lacks; `Engine`.
    fn check(&self, layout: &Layout) -> Result;

    /// Makes the table of a collection, if it is not there.
    ///
    /// # Errors
    /// `Engine`.
    fn create(&self, layout: &Layout) -> Result;

    /// Makes a table as a program would that knows nothing of regauge: a column of keys, which is
    /// the whole primary key, and one of values, binary or text as the layout says.
    ///
    /// # Errors
    /// `Engine`.
    fn create_plain(&self, layout: &Layout) -> Result {
        self.create(layout)
    }

    /// Removes a table with all that is in it. What holds a part of a table removes that part.
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

    /// Makes the table of a collection and keeps the note that describes it, both or none; what is
    /// there already stays as it is. Where the engine has no transactions for this, a second note
    /// says meanwhile that the table is being made ([`making`]), so that a run that was
    /// killed in between can be done again.
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

    /// The value of a key.
    ///
    /// # Errors
    /// `Engine`; `Usage` for a key that the column cannot hold.
    fn get(&self, layout: &Layout, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// The values of many keys, in their order.
    ///
    /// # Errors
    /// As `get`.
    fn get_many(&self, layout: &Layout, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>> {
        keys.iter().map(|key| self.get(layout, key)).collect()
    }

    /// Whether there is a value of this key.
    ///
    /// # Errors
    /// As `get`.
    fn exists(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        Ok(self.get(layout, key)?.is_some())
    }

    /// Puts one value, in the place of an older one if there is one.
    ///
    /// # Errors
    /// As `get`.
    fn put(&self, layout: &Layout, key: &[u8], value: &[u8]) -> Result {
        self.apply(layout, &[(key, Some(value))])
    }

    /// Puts and deletes many values: all of them or, where `is_atomic`, none.
    ///
    /// # Errors
    /// As `get`.
    fn apply(&self, layout: &Layout, changes: &[Change<'_>]) -> Result;

    /// Puts a value (or deletes it: nothing) if the present one is still what the caller has seen
    /// (or is still not there: nothing). Tells whether it did.
    ///
    /// # Errors
    /// As `get`.
    fn swap(
        &self,
        layout: &Layout,
        key: &[u8],
        seen: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool>;

    /// Many such swaps in one transaction where there are transactions; tells which were done.
    ///
    /// # Errors
    /// As `get`.
    fn swap_many(&self, layout: &Layout, swaps: &[(&[u8], &[u8], &[u8])]) -> Result<Vec<bool>> {
        let one = |&(key, seen, new): &_| self.swap(layout, key, Some(seen), Some(new));
        swaps.iter().map(one).collect()
    }

    /// Deletes a value; tells whether there was one.
    ///
    /// # Errors
    /// As `get`.
    fn delete(&self, layout: &Layout, key: &[u8]) -> Result<bool>;

    /// The first keys and values of a range, at most `limit` of them and, after the first, at most
    /// some megabytes.
    ///
    /// # Errors
    /// As `get`.
    fn page(&self, layout: &Layout, range: &Range, order: Order, limit: usize)
    -> Result<Vec<Pair>>;

    /// The first keys of a range.
    ///
    /// # Errors
    /// As `get`.
    fn keys(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>>;

    /// Values and their bytes, all together.
    ///
    /// # Errors
    /// `Engine`.
    fn count(&self, layout: &Layout) -> Result<(u64, u64)>;

    /// Removes what a writer that died has left of large values ([`Chunked`]), where it is older
    /// than this. Gives the number of these values.
    ///
    /// # Errors
    /// `Engine`.
    fn sweep(&self, _layout: &Layout, _older_than: Duration) -> Result<u64> {
        Ok(0)
    }

    /// A note that regauge keeps beside the collections, by its name.
    ///
    /// # Errors
    /// `Engine`.
    fn note(&self, name: &str) -> Result<Option<Vec<u8>>>;

    /// Keeps a note, or removes it: nothing.
    ///
    /// # Errors
    /// `Engine`.
    fn set_note(&self, name: &str, note: Option<&[u8]>) -> Result;

    /// The names of all notes that begin so, in their order.
    ///
    /// # Errors
    /// `Engine`.
    fn notes(&self, prefix: &str) -> Result<Vec<String>>;
}

/// The name of the note that says that a collection is being made.
#[must_use]
pub fn making(name: &str) -> String {
    format!("making/{name}")
}

/// The error for a URL whose driver this build has left out.
#[cfg(not(all(
    feature = "postgres",
    feature = "mysql",
    feature = "mongodb",
    feature = "cassandra"
)))]
fn missing(url: &str, feature: &str) -> Result<Box<dyn Engine>> {
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
/// `Usage` for a URL of no known kind or of a kind that is not compiled in, and the engine's own.
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

/// Opens a database that must be there: as [`open`], but a file of SQLite is not made.
///
/// # Errors
/// `Absent` where the file is not there, and as `open`.
pub fn open_existing(url: &str) -> Result<Box<dyn Engine>> {
    match url.split_once(':') {
        Some(("sqlite", path)) => Ok(Box::new(Sqlite::open_existing(path)?)),
        // A server has a database or says that it has none.
        _ => open(url),
    }
}

/// The engine, with large values in chunks where it has a limit.
#[cfg_attr(not(feature = "runtime"), allow(dead_code, reason = "SQLite has no limit that matters"))]
fn in_chunks(engine: impl Engine + 'static) -> Box<dyn Engine> {
    match engine.value_limit() {
        Some(limit) => Box::new(Chunked::new(Box::new(engine), limit)),
        None => Box::new(engine),
    }
}

/// The first key behind this one; nothing behind the last that there can be.
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

/// Leaves of a range what is behind this key, in an order; tells whether there can be something.
pub(crate) fn behind(rest: &mut Range, layout: &Layout, key: &[u8], order: Order) -> bool {
    match order {
        Order::Ascending => match successor(layout, key) {
            Some(next) => rest.from = Some(next),
            None => return false,
        },
        Order::Descending => rest.to = Some(key.to_vec()),
    }
    true
}

/// A URL as an error may show it: without user, password and parameters.
pub(crate) fn shown_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        // A path, or something that is no URL at all and had better not be repeated.
        return match url.split_once(':') {
            Some((scheme, path)) if !path.contains('@') => format!("{scheme}:{path}"),
            Some((scheme, _)) => format!("{scheme}:…"),
            None => url.to_owned(),
        };
    };
    // A password may hold any sign, if it should not: what stands before the last @ is never
    // shown, and nothing at all where that @ may be a part of a parameter.
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
