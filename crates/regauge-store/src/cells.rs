//! The cells of one column of another program's table, in the order of the table's key.
//!
//! Unlike a [`Store`](crate::Store), this needs to know nothing of what is in them, and keeps nothing of its own in the
//! database. A cell is replaced only if it still is what was read.
//!
//! ```
//! use regauge_store::cells::{self, Access, Column};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("app.db");
//! let made = rusqlite::Connection::open(&path)?;
//! made.execute_batch("CREATE TABLE jobs (id INTEGER PRIMARY KEY, body BLOB); INSERT INTO jobs VALUES (7, x'0408')")?;
//!
//! let column = Column { table: "jobs".into(), column: "body".into(), key: None };
//! let cells = cells::open(&format!("sqlite:{}", path.display()), &column, Access::Read)?;
//! let heads = cells.heads(None, 100)?;
//! assert_eq!((heads[0].key.text(), heads[0].bytes), ("7".into(), 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::engine;
use crate::error::{Error, Result};

/// How many names of tables or columns a message lists.
const NAMES_MAX: usize = 20;

/// Which column of which table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The table.
    pub table: String,
    /// The column with the values, binary or text.
    pub column: String,
    /// The column that identifies a row; `None` for the primary key.
    pub key: Option<String>,
}

/// What a connection may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only: the database itself refuses to write. In MongoDB and Cassandra, which have no such mode, `swap`
    /// does.
    Read,
    /// Read, and replace cells.
    Write,
}

/// The key of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A whole number.
    Integer(i64),
    /// Text; or another type, as the database writes it.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Key {
    /// Returns the key as text, by which [`Cells::swap`] finds its row: bytes in hexadecimal digits.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Key::Integer(number) => number.to_string(),
            Key::Text(text) => text.clone(),
            Key::Bytes(bytes) => data_encoding::HEXLOWER.encode(bytes),
        }
    }
}

/// A cell that holds a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The key of its row.
    pub key: Key,
    /// The length of the value in bytes, as it is stored.
    pub bytes: u64,
    /// Whether it is text, rather than bytes.
    pub is_text: bool,
}

/// How an attempt to replace a cell ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swapped {
    /// It has the new value.
    Done,
    /// Its value is no longer the old one, and stays as it is.
    Changed,
    /// It is null, or its row does not exist any more.
    Gone,
    /// The column cannot hold the new value, because of this. It still has the old one.
    Unfit(String),
}

/// The cells of a column. Those that are null are passed over.
pub trait Cells {
    /// Returns the name of the database for display: `SQLite 3.50`.
    fn name(&self) -> String;

    /// Returns the first cells after this key, in the order of the keys: at most `limit`.
    ///
    /// # Errors
    /// `Engine`; `Usage` for a key of a type that cannot be looked up.
    fn heads(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Head>>;

    /// Returns the values from one key to another, both included, in their order.
    ///
    /// # Errors
    /// Those of `heads`.
    fn values(&self, first: &Key, last: &Key) -> Result<Vec<(Key, Vec<u8>)>>;

    /// Replaces a value if it still is `old`, byte by byte, in one statement with its own transaction. `key` is
    /// [`Key::text`]. Text stays text.
    ///
    /// # Errors
    /// `Engine`: the database is read-only or locked, or the connection was lost. `Usage` for a key that the column
    /// cannot have.
    fn swap(&self, key: &str, old: &[u8], new: &[u8]) -> Result<Swapped>;
}

/// Opens a column of the database of a URL: `sqlite:PATH`, `postgres://…` or `mysql://…`. An SQLite file must exist.
///
/// # Errors
/// `Usage` for a URL of another kind or one that is not compiled in; for a table or column that does not exist, which
/// names those that do; and for one whose rows have no single key. `Absent` for a missing file. `Engine` if the
/// database cannot be opened. No error shows a password.
pub fn open(url: &str, column: &Column, access: Access) -> Result<Box<dyn Cells>> {
    engine::open_cells(url, column, access)
}

/// Returns the address of a database for messages: without user, password and parameters.
#[must_use]
pub fn shown(url: &str) -> String {
    let shown = engine::shown_url(url);
    shown.split('?').next().unwrap_or_default().to_owned()
}

/// Chooses the column of the key.
///
/// # Errors
/// `Usage`: none is named, and the primary key is not exactly one column.
pub(crate) fn key_of(column: &Column, primary: &[String]) -> Result<String> {
    if let Some(key) = &column.key {
        return Ok(key.clone());
    }
    let found = match primary {
        [one] => return Ok(one.clone()),
        [] => "no primary key".to_owned(),
        several => format!("a primary key of several columns ({})", listed(several)),
    };
    Err(Error::usage(format!(
        "table {}: found {found}, expected one of a single column; add key=COLUMN to the address, the name of a column \
         that is different in every row",
        column.table
    )))
}

#[cold]
pub(crate) fn no_table(column: &Column, tables: &[String]) -> Error {
    let found = match tables {
        [] => "has no tables".to_owned(),
        some => format!("has {}", listed(some)),
    };
    match column.table.as_str() {
        "" => Error::usage(format!(
            "found no table in the address, expected table=NAME&column=NAME; the database {found}"
        )),
        table => Error::usage(format!("found no table {table}; the database {found}")),
    }
}

/// Checks that these columns are there.
///
/// # Errors
/// `Usage`, which names those that are.
pub(crate) fn check_names(column: &Column, key: Option<&str>, columns: &[String]) -> Result {
    let table = &column.table;
    if column.column.is_empty() {
        let columns = listed(columns);
        return Err(Error::usage(format!(
            "found no column in the address, expected column=NAME; table {table} has {columns}"
        )));
    }
    let wanted = [Some(column.column.as_str()), key];
    match wanted.into_iter().flatten().find(|name| !columns.iter().any(|one| one == name)) {
        None => Ok(()),
        Some(name) => {
            let columns = listed(columns);
            Err(Error::usage(format!("table {table} has no column {name}, but {columns}")))
        }
    }
}

#[cold]
pub(crate) fn no_plain_table(column: &Column) -> Error {
    Error::usage(format!(
        "found {}, which is a view or another table without rows of its own; name the table that it reads from",
        column.table
    ))
}

#[cold]
pub(crate) fn not_unique(column: &Column, key: &str) -> Error {
    Error::usage(format!(
        "table {}: column {key} is not unique, so it cannot be the key; name another column, or make a unique index on it",
        column.table
    ))
}

#[cold]
pub(crate) fn null_keys(column: &Column, key: &str) -> Error {
    Error::usage(format!(
        "table {}: found rows in which the key {key} is null, so they cannot be told apart; name another column with \
         key=COLUMN",
        column.table
    ))
}

#[cfg(any(feature = "cassandra", feature = "mysql", feature = "postgres"))]
#[cold]
pub(crate) fn wrong_type(table: &str, column: &str, found: &str, expected: &str) -> Error {
    Error::usage(format!("table {table}: column {column} is of type {found}, expected {expected}"))
}

#[cfg(any(feature = "cassandra", feature = "mysql", feature = "postgres"))]
#[cold]
pub(crate) fn wrong_key(column: &Column, key: &str) -> Error {
    Error::usage(format!(
        "table {}: found the key {key:?}, which its rows cannot have",
        column.table
    ))
}

pub(crate) fn listed(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_column() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let mut column = Column { table: "t".into(), column: "c".into(), key: None };
        assert_eq!(key_of(&column, &names(&["id"])).unwrap(), "id");
        let told = key_of(&column, &names(&["a", "b"])).unwrap_err().to_string();
        assert!(
            told.contains("several columns (a, b)") && told.contains("add key=COLUMN"),
            "{told}"
        );
        assert!(key_of(&column, &[]).unwrap_err().to_string().contains("no primary key"));
        column.key = Some("slug".into());
        assert_eq!(key_of(&column, &[]).unwrap(), "slug");
        let many: Vec<String> = (0..25).map(|n| format!("t{n}")).collect();
        let told = no_table(&column, &many).to_string();
        assert!(told.ends_with("t18, t19 and 5 more"), "{told}");
    }

    #[test]
    fn keys_as_text() {
        assert_eq!(Key::Integer(-7).text(), "-7");
        assert_eq!(Key::Text("é".into()).text(), "é");
        assert_eq!(Key::Bytes(b"\x00\xff".to_vec()).text(), "00ff");
    }

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        assert_eq!(shown("sqlite:a.db?table=t"), "sqlite:a.db");
        assert_eq!(shown("postgres://u:se?cret@h/d?table=t"), "postgres://…");
        assert_eq!(shown("mysql://u:secret@h/d?table=t"), "mysql://…@h/d");
    }
}
