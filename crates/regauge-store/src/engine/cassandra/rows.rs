//! One column of the rows of another program's table in Cassandra.
//!
//! Like [`cells`](crate::cells) for a column of a table of SQL, this needs to know nothing of what is in the column, and
//! keeps nothing of its own in the database. A value is replaced only if it still is what was read.
//!
//! - **Values** are those of a column of blob, text or ascii. A row in which it is null is handed out without a value.
//! - **Order**: that of the tokens, by one scan of the whole table, page by page. Nothing is filtered or sorted.
//! - **Reads and changes** are acknowledged by a quorum of the local data centre.
//! - **Memory**: one page of at most 100 rows, and fewer if their values are long.
//!
//! # Changes
//!
//! A value is replaced by an ordinary update whose time is a microsecond after that of the value that was read. What any
//! other program writes or deletes meanwhile, at any level of consistency, is newer, and wins on every replica. A
//! lightweight transaction would not do that: its own time is that of the server's clock, so that it replaces a write
//! that its quorum has not seen, or one from a clock that is slow. It could not compare the expiry either. What
//! became of the update is read afterwards.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use scylla::response::PagingState;
use scylla::value::{CqlValue, Row as Found};

use super::cql::{Cql, unreadable};
use super::primary::{self, Primary, Type};
use super::url::Place;
use super::{quoted, server_name, text};
use crate::cells::{self, Access, Column, Swapped, listed};
use crate::engine::runtime::{CONNECT_TIMEOUT, Runtime};
use crate::engine::{NOT_TEXT, shown_url};
use crate::error::{Error, Result};

/// The most rows of a page. Cassandra counts rows rather than bytes.
pub const PAGE_ROWS: u32 = 100;
/// The rows of the first page.
const FIRST_ROWS: u32 = 10;
/// The bytes of a page, if all its values are as long as the longest one of the page before.
const PAGE_BYTES: usize = 4 << 20;
/// The least time of a write that can be one of a clock: 2001, in microseconds since 1970. Smaller ones may be numbers
/// of versions, of which the program that counts them would use the next one as well.
const CLOCK_MIN: i64 = 1_000_000_000_000_000;

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its primary key as text, by which [`Rows::swap`] finds it. Those of several columns have `/` between them, and in
    /// each `/` is `%2F` and `%` is `%25`.
    pub key: String,
    /// The value of the column; `None` for null.
    pub value: Option<Vec<u8>>,
    /// When the value expires, in milliseconds since 1970, UTC, to the second; `None` for never.
    pub expires_at: Option<i64>,
}

/// The rows of a table, with one of its columns.
pub struct Rows {
    runtime: Runtime,
    cql: Cql,
    timeout: Duration,
    name: String,
    column: Column,
    access: Access,
    primary: Primary,
    /// The type of the column.
    value: Value,
    /// Reads all rows.
    scan: String,
    /// Reads the value of one row, its write time and what is left of its life.
    look: String,
    update: String,
}

/// The types of columns that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Ascii,
    Blob,
    Text,
}

/// A walk over the rows.
pub struct Reading<'r> {
    rows: &'r Rows,
    /// Where the next page begins; `None` after the last one, and after an error.
    next: Option<PagingState>,
    most: u32,
    size: u32,
}

/// The value of one row.
struct Cell {
    bytes: Vec<u8>,
    written: i64,
    /// Seconds; `None` for ever.
    left: Option<i64>,
}

impl Rows {
    /// Connects to the keyspace of a URL, `cassandra://…`, and finds the table and the column. A key that is named is
    /// not looked at: it always is the whole primary key.
    ///
    /// # Errors
    /// `Usage` for a keyspace, table or column that does not exist, which names those that do, and for a column of a
    /// type that cannot be read. `Engine` if no server answers, or refuses the user.
    pub fn open(url: &str, column: &Column, access: Access) -> Result<Rows> {
        let place = Place::parse(url)?;
        let doing = format!("open {}", shown_url(url));
        let runtime = Runtime::new()?;
        let (cql, name) = runtime.wait(&doing, CONNECT_TIMEOUT * 2, async {
            let cql = Cql::open(&place, &doing).await?;
            let name = server_name(&cql, &doing).await?;
            Ok((cql, name))
        })?;
        let look = look_at(&cql, &place.keyspace, column);
        let (primary, value) = runtime.wait("look at a table", place.timeout, look)?;
        let from = format!("{}.{}", quoted(&place.keyspace), quoted(&column.table));
        let (keys, cell) = (primary.names("").join(", "), quoted(&column.column));
        let of_row = primary.names(" = ?").join(" AND ");
        Ok(Rows {
            scan: format!("SELECT {keys}, {cell}, ttl({cell}) FROM {from}"),
            look: format!(
                "SELECT {cell}, writetime({cell}), ttl({cell}) FROM {from} WHERE {of_row}"
            ),
            update: format!(
                "UPDATE {from} USING TIMESTAMP ? AND TTL ? SET {cell} = ? WHERE {of_row}"
            ),
            timeout: place.timeout,
            column: column.clone(),
            runtime,
            cql,
            name,
            access,
            primary,
            value,
        })
    }

    /// Returns the name of the server for display: `Cassandra 5.0.6`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the column is one of text.
    #[must_use]
    pub fn is_text(&self) -> bool {
        self.value != Value::Blob
    }

    /// Begins to read all rows, at most this many per request.
    #[must_use]
    pub fn read(&self, most: u32) -> Reading<'_> {
        let most = most.clamp(1, PAGE_ROWS);
        Reading { rows: self, next: Some(PagingState::start()), most, size: most.min(FIRST_ROWS) }
    }

    /// Replaces a value if it still is `old`, byte by byte. `key` is [`Row::key`]. The value expires when the old one
    /// would have, to the second; one that would not does not, whatever the default of the table.
    ///
    /// # Errors
    /// `Engine`: the server refuses to write, or it is not known whether it wrote. `Usage` for a key that no row can
    /// have, and if this was opened to read only.
    pub fn swap(&self, key: &str, old: &[u8], new: &[u8]) -> Result<Swapped> {
        let Column { table, column, .. } = &self.column;
        if self.access == Access::Read {
            return Err(Error::usage(format!("found {table} opened to read only")));
        }
        let of_row = self.primary.parse(key);
        let of_row = of_row.ok_or_else(|| cells::wrong_key(&self.column, key))?;
        let doing = format!("replace {column} of {key:?} in {table}");
        let asked = Instant::now();
        let Some(found) = self.cell(&doing, &of_row)? else { return Ok(Swapped::Gone) };
        if found.bytes != old {
            return Ok(Swapped::Changed);
        }
        let value = match self.value.of(new) {
            Ok(value) => value,
            Err(words) => return Ok(Swapped::Unfit(words.to_owned())),
        };
        let after = found.written.checked_add(1).filter(|_| found.written >= CLOCK_MIN);
        let Some(after) = after else { return Ok(Swapped::Unfit(no_clock(found.written))) };
        // None would be the default of the table, and 0 is for ever.
        let left = match found.left {
            None => 0,
            Some(left) => match left.saturating_sub_unsigned(asked.elapsed().as_secs()) {
                left @ 1.. => left,
                _ => return Ok(Swapped::Gone),
            },
        };
        let left = i32::try_from(left).map_err(|error| unreadable(&doing, &error))?;
        let mut values = vec![CqlValue::BigInt(after), CqlValue::Int(left), value];
        values.extend(of_row.iter().cloned());
        let write = self.cql.try_write(&doing, &self.update, &values);
        if let Err(words) = self.runtime.wait_for_change(&doing, self.timeout, write)? {
            return Ok(Swapped::Unfit(words));
        }
        let doing = format!("see whether {column} of {key:?} in {table} was replaced");
        Ok(match self.cell(&doing, &of_row)? {
            None => Swapped::Gone,
            // Another data centre may not have it yet.
            Some(now) if now.bytes == new || now.written < after => Swapped::Done,
            Some(_) => Swapped::Changed,
        })
    }

    /// Reads the value of a row; `None` if there is none.
    fn cell(&self, doing: &str, of_row: &[CqlValue]) -> Result<Option<Cell>> {
        let read = self.cql.read(doing, &self.look, of_row);
        let found = self.runtime.wait(doing, self.timeout, read)?;
        let row = found.maybe_first_row::<Found>().map_err(|error| unreadable(doing, &error))?;
        let Some(row) = row else { return Ok(None) };
        match <[_; 3]>::try_from(row.columns) {
            Ok([None, ..]) => Ok(None),
            Ok([Some(value), Some(CqlValue::BigInt(written)), left]) => {
                let left = seconds(left);
                Ok(Some(Cell { bytes: bytes_of(value), written, left }))
            }
            _ => Err(unreadable(doing, &"a value without the time at which it was written")),
        }
    }
}

impl Reading<'_> {
    /// Returns the next rows, perhaps none; `None` after the last ones.
    ///
    /// # Errors
    /// `Engine`. What precedes was read; what follows needs a new reading.
    pub fn page(&mut self) -> Result<Option<Vec<Row>>> {
        const DOING: &str = "read a table";
        let Some(next) = self.next.take() else { return Ok(None) };
        let Rows { runtime, cql, timeout, primary, scan, .. } = self.rows;
        let page = cql.read_some(DOING, scan, next, Some(self.size));
        let (found, next) = runtime.wait(DOING, *timeout, page)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let now = i64::try_from(now).unwrap_or_default();
        let mut page = Vec::new();
        let mut longest = 1;
        for row in found.rows::<Found>().map_err(|error| unreadable(DOING, &error))? {
            let mut columns = row.map_err(|error| unreadable(DOING, &error))?.columns;
            let left = columns.pop().and_then(seconds);
            let value = columns.pop().flatten().map(bytes_of);
            // A partition without rows, which has values for all its rows only.
            if columns.iter().any(Option::is_none) {
                continue;
            }
            let key = primary.text(&columns);
            let key = key.ok_or_else(|| unreadable(DOING, &"a key of another type"))?;
            longest = longest.max(value.as_ref().map_or(0, Vec::len));
            let expires_at = left.map(|left| (now + left) * 1000);
            page.push(Row { key, value, expires_at });
        }
        let fitting = u32::try_from(PAGE_BYTES / longest).unwrap_or(u32::MAX);
        self.size = (self.size * 2).min(fitting).clamp(1, self.most);
        self.next = next;
        Ok(Some(page))
    }
}

impl Value {
    fn parse(name: &str) -> Option<Value> {
        Some(match name {
            "ascii" => Value::Ascii,
            "blob" => Value::Blob,
            "text" | "varchar" => Value::Text,
            _ => return None,
        })
    }

    /// Returns a value as its column holds it.
    ///
    /// # Errors
    /// Why the column cannot hold it.
    fn of(self, bytes: &[u8]) -> std::result::Result<CqlValue, &'static str> {
        match (self, str::from_utf8(bytes)) {
            (Value::Blob, _) => Ok(CqlValue::Blob(bytes.to_vec())),
            (Value::Text, Ok(text)) => Ok(CqlValue::Text(text.to_owned())),
            (Value::Text, Err(_)) => Err(NOT_TEXT),
            (Value::Ascii, Ok(text)) if text.is_ascii() => Ok(CqlValue::Ascii(text.to_owned())),
            (Value::Ascii, _) => Err("found a value that is not ASCII, as the column is"),
        }
    }
}

fn bytes_of(value: CqlValue) -> Vec<u8> {
    match value {
        CqlValue::Blob(bytes) => bytes,
        CqlValue::Ascii(text) | CqlValue::Text(text) => text.into_bytes(),
        _ => Vec::new(),
    }
}

/// Returns what is left of the life of a value.
fn seconds(left: Option<CqlValue>) -> Option<i64> {
    left.and_then(|left| left.as_int()).map(i64::from)
}

#[cold]
fn no_clock(written: i64) -> String {
    format!(
        "found a value written at {written}, expected a time in microseconds since 1970: a program that counts its \
         writes could not replace the new value"
    )
}

/// Finds a table and its column.
async fn look_at(cql: &Cql, keyspace: &str, column: &Column) -> Result<(Primary, Value)> {
    const DOING: &str = "look at a table";
    let names = async |what: &str, of: &[CqlValue]| -> Result<Vec<String>> {
        let condition = if of.is_empty() { "" } else { " WHERE keyspace_name = ?" };
        let sql = format!("SELECT {what}_name FROM system_schema.{what}s{condition}");
        let found = cql.read(DOING, &sql, of).await?;
        let rows = found.rows::<(String,)>().map_err(|error| unreadable(DOING, &error))?;
        let mut names = rows
            .map(|row| row.map(|(name,)| name))
            .collect::<std::result::Result<Vec<String>, _>>()
            .map_err(|error| unreadable(DOING, &error))?;
        names.sort();
        Ok(names)
    };
    let keyspaces = names("keyspace", &[]).await?;
    if !keyspaces.iter().any(|name| name == keyspace) {
        let own = |name: &String| !(name == "system" || name.starts_with("system_"));
        let others: Vec<String> = keyspaces.into_iter().filter(own).collect();
        let found = if others.is_empty() { "none".to_owned() } else { listed(&others) };
        return Err(Error::usage(format!("found no keyspace {keyspace}; the server has {found}")));
    }
    let of = [text(keyspace)];
    if names("view", &of).await?.contains(&column.table) {
        return Err(cells::no_plain_table(column));
    }
    let tables = names("table", &of).await?;
    if !tables.contains(&column.table) {
        return Err(cells::no_table(column, &tables));
    }
    let sql = "SELECT column_name, kind, position, type FROM system_schema.columns \
               WHERE keyspace_name = ? AND table_name = ?";
    let found = cql.read(DOING, sql, &[text(keyspace), text(&column.table)]).await?;
    let rows = found.rows::<(String, String, i32, String)>();
    let columns = rows
        .map_err(|error| unreadable(DOING, &error))?
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(|error| unreadable(DOING, &error))?;
    chosen(column, &columns)
}

/// Returns the primary key, and the type of the column, from name, kind, position and type of all columns.
fn chosen(column: &Column, columns: &[(String, String, i32, String)]) -> Result<(Primary, Value)> {
    let all: Vec<String> = columns.iter().map(|(name, ..)| name.clone()).collect();
    cells::check_names(column, None, &all)?;
    let Column { table, column: name, .. } = column;
    let mut found = None;
    for (one, kind, _, of) in columns {
        if one != name {
            continue;
        }
        let why = match kind.as_str() {
            "regular" => {
                let expected = "blob, text or ascii";
                let value = Value::parse(of);
                found = Some(value.ok_or_else(|| cells::wrong_type(table, name, of, expected))?);
                continue;
            }
            "static" => "is static: it has one value for all rows of a partition",
            _ => "is part of the primary key, which cannot be changed",
        };
        return Err(Error::usage(format!(
            "table {table}: column {name} {why}; name another column"
        )));
    }
    let value = found.ok_or_else(|| unreadable("look at a table", &"a column is missing"))?;
    let mut keys: Vec<_> = columns
        .iter()
        .filter(|(_, kind, ..)| matches!(kind.as_str(), "partition_key" | "clustering"))
        .collect();
    keys.sort_by_key(|(_, kind, position, _)| (kind == "clustering", *position));
    let typed = keys.into_iter().map(|(name, _, _, of)| match Type::parse(of) {
        Some(key) => Ok((name.clone(), key)),
        None => Err(cells::wrong_type(table, name, of, primary::EXPECTED)),
    });
    Ok((Primary(typed.collect::<Result<_>>()?), value))
}
