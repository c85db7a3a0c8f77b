//! The cells of a column in SQLite, where each has its own type.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};

use super::connect::connect;
use super::sql::{identifier, literal};
use super::writing::Writing;
use super::{code, failed};
use crate::cells::{self, Access, Cells, Column, Head, Key, Swapped};
use crate::error::{Error, Result};

/// The names by which every table with row numbers has a key, if no column is called so.
const ROW_NUMBER: [&str; 3] = ["rowid", "oid", "_rowid_"];

/// The longest pause after a change. Writers of SQLite do not queue, but look again and again whether the file is free:
/// one that never paused would keep the others out.
const PAUSE_MAX: Duration = Duration::from_millis(10);

/// Why a column does not take a text.
const CONVERTS: &str = "it stores such a text as a number, because of its declared type";

/// A column of a table.
pub(in crate::engine) struct SqliteCells {
    connection: Connection,
    column: Column,
    /// The quoted names, and the key with the order of its index.
    table: String,
    value: String,
    key: String,
    by: String,
}

impl SqliteCells {
    /// Opens an existing file, and finds the column.
    ///
    /// # Errors
    /// `Absent`, `Usage` and `Engine`, as `cells::open`.
    pub(in crate::engine) fn open(
        path: &str,
        column: &Column,
        access: Access,
    ) -> Result<SqliteCells> {
        if !path.starts_with("file:") && !Path::new(path).is_file() {
            return Err(Error::Absent(format!("no such file: {path}")));
        }
        let connection = open(path, access).map_err(failed(&format!("open {path}")))?;
        let columns = columns(&connection, column)?;
        cells::check_names(column, None, &names(&columns))?;
        let key = cells::key_of(column, &primary(&columns))?;
        let collation = collation(&connection, column, &key, &columns)?;
        let (table, value) = (identifier(&column.table), identifier(&column.column));
        let key = identifier(&key);
        let by = match collation {
            Some(collation) => format!("{key} COLLATE {}", identifier(&collation)),
            None => key.clone(),
        };
        let column = column.clone();
        let cells = SqliteCells { connection, column, table, value, key, by };
        cells.check_keys()?;
        Ok(cells)
    }

    /// Refuses rows without a key, which an old SQLite allows in a primary key.
    fn check_keys(&self) -> Result {
        let SqliteCells { connection, column, table, value, key, .. } = self;
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM {table} WHERE {key} IS NULL AND {value} IS NOT NULL)"
        );
        let found: bool =
            connection.query_row(&sql, [], |row| row.get(0)).map_err(failed("look at a table"))?;
        if found { Err(cells::null_keys(column, key)) } else { Ok(()) }
    }

    fn key(&self, found: ValueRef<'_>) -> Result<Key> {
        let wrong = |what: &str| {
            Error::usage(format!(
                "table {}: found a key that is {what}, expected whole numbers, text or bytes; name another column with \
                 key=COLUMN",
                self.column.table
            ))
        };
        match found {
            ValueRef::Integer(number) => Ok(Key::Integer(number)),
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Key::Text(text.to_owned())),
                Err(_) => Err(wrong("text, but not UTF-8")),
            },
            ValueRef::Blob(bytes) => Ok(Key::Bytes(bytes.to_vec())),
            ValueRef::Real(_) => Err(wrong("a number with a fraction")),
            ValueRef::Null => Err(wrong("null")),
        }
    }

    /// Returns the condition that finds the row of a key given as text, and its parameters: what it may be stored as.
    fn row_of<'k>(&self, key: &'k str, bytes: &'k Option<Vec<u8>>) -> (String, Vec<ValueRef<'k>>) {
        let mut found = vec![ValueRef::Text(key.as_bytes())];
        if let Ok(number) = key.parse() {
            found.push(ValueRef::Integer(number));
        }
        if let Some(bytes) = bytes {
            found.push(ValueRef::Blob(bytes));
        }
        let marks: Vec<String> = (1..=found.len()).map(|at| format!("?{at}")).collect();
        (format!("{} IN ({})", self.key, marks.join(", ")), found)
    }

    /// Replaces a value; returns whether the row holds what was put, and takes it back if not. `None` if no row was found.
    fn replace(&self, sql: &str, parameters: &[ValueRef<'_>]) -> rusqlite::Result<Option<bool>> {
        let mut update = self.connection.prepare_cached(sql)?;
        let writing = Writing::begin(&self.connection)?;
        let parameters = rusqlite::params_from_iter(parameters.iter().map(|one| Bound(*one)));
        let holds = update.query_row(parameters, |row| row.get(0)).optional()?;
        if holds != Some(false) {
            writing.commit()?;
        }
        Ok(holds)
    }

    /// Returns whether the value of this row is text; `None` if there is none.
    fn is_text(&self, row: &str, key: &[ValueRef<'_>]) -> Result<Option<bool>> {
        let SqliteCells { table, value, .. } = self;
        let sql = format!(
            "SELECT typeof({value}) = 'text' FROM {table} WHERE {row} AND {value} IS NOT NULL"
        );
        let mut select = self.connection.prepare_cached(&sql).map_err(failed("read a value"))?;
        let key = rusqlite::params_from_iter(key.iter().map(|one| Bound(*one)));
        select.query_row(key, |row| row.get(0)).optional().map_err(failed("read a value"))
    }
}

impl Cells for SqliteCells {
    fn name(&self) -> String {
        format!("SQLite {}", rusqlite::version())
    }

    fn heads(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Head>> {
        const DOING: &str = "read a range of keys";
        let SqliteCells { table, value, key, by, .. } = self;
        let from = if after.is_some() { format!("AND {by} > ?2") } else { String::new() };
        let sql = format!(
            "SELECT {key}, octet_length({value}), typeof({value}) = 'text' FROM {table} \
             WHERE {value} IS NOT NULL {from} ORDER BY {by} LIMIT ?1"
        );
        let mut select = self.connection.prepare_cached(&sql).map_err(failed(DOING))?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = match after {
            Some(after) => select.query((limit, after)),
            None => select.query([limit]),
        }
        .map_err(failed(DOING))?;
        let mut heads = Vec::new();
        while let Some(row) = rows.next().map_err(failed(DOING))? {
            let key = self.key(row.get_ref(0).map_err(failed(DOING))?)?;
            let bytes: i64 = row.get(1).map_err(failed(DOING))?;
            let is_text = row.get(2).map_err(failed(DOING))?;
            heads.push(Head { key, bytes: bytes.unsigned_abs(), is_text });
        }
        Ok(heads)
    }

    fn values(&self, first: &Key, last: &Key) -> Result<Vec<(Key, Vec<u8>)>> {
        const DOING: &str = "read a range of values";
        let SqliteCells { table, value, key, by, .. } = self;
        let sql = format!(
            "SELECT {key}, {value} FROM {table} WHERE {value} IS NOT NULL AND {by} >= ?1 AND {by} <= ?2 ORDER BY {by}"
        );
        let mut select = self.connection.prepare_cached(&sql).map_err(failed(DOING))?;
        let mut rows = select.query((first, last)).map_err(failed(DOING))?;
        let mut values = Vec::new();
        while let Some(row) = rows.next().map_err(failed(DOING))? {
            let key = self.key(row.get_ref(0).map_err(failed(DOING))?)?;
            let value = match row.get_ref(1).map_err(failed(DOING))? {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
                ValueRef::Integer(number) => number.to_string().into_bytes(),
                ValueRef::Real(number) => number.to_string().into_bytes(),
                ValueRef::Null => continue,
            };
            values.push((key, value));
        }
        Ok(values)
    }

    fn swap(&self, key: &str, old: &[u8], new: &[u8]) -> Result<Swapped> {
        let doing = format!("replace {} of {key:?} in {}", self.column.column, self.column.table);
        let bytes = data_encoding::HEXLOWER.decode(key.as_bytes()).ok();
        let (row, mut parameters) = self.row_of(key, &bytes);
        let Some(is_text) = self.is_text(&row, &parameters)? else { return Ok(Swapped::Gone) };
        let of_type = |bytes| if is_text { ValueRef::Text(bytes) } else { ValueRef::Blob(bytes) };
        let (seen, put) = (parameters.len() + 1, parameters.len() + 2);
        parameters.extend([of_type(old), of_type(new)]);
        let SqliteCells { table, value, .. } = self;
        // Text is compared as bytes too, whatever the column's collation is.
        let (kind, same) = match is_text {
            true => ("text", format!("CAST({value} AS BLOB) = CAST(?{seen} AS BLOB)")),
            false => ("blob", format!("{value} = ?{seen}")),
        };
        // A column of numbers stores text that looks like one as a number.
        let sql = format!(
            "UPDATE {table} SET {value} = ?{put} WHERE {row} AND typeof({value}) = '{kind}' AND {same} \
             RETURNING typeof({value}) = '{kind}' AND CAST({value} AS BLOB) = CAST(?{put} AS BLOB)"
        );
        let begun = Instant::now();
        let done = self.replace(&sql, &parameters);
        std::thread::sleep(begun.elapsed().min(PAUSE_MAX));
        match done {
            Ok(None) => Ok(Swapped::Changed),
            Ok(Some(true)) => Ok(Swapped::Done),
            Ok(Some(false)) => Ok(Swapped::Unfit(CONVERTS.to_owned())),
            Err(error) if is_unfit(&error) => Ok(Swapped::Unfit(error.to_string())),
            Err(error) => Err(failed(&doing)(error)),
        }
    }
}

fn open(path: &str, access: Access) -> rusqlite::Result<Connection> {
    if access == Access::Read {
        return connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    }
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.execute_batch("PRAGMA synchronous = FULL")?;
    Ok(connection)
}

/// A column as the schema describes it.
struct Described {
    name: String,
    /// Its place in the primary key, from 1; 0 if it is not in it.
    primary: u32,
    is_integer: bool,
}

/// Returns the columns of the table.
fn columns(connection: &Connection, column: &Column) -> Result<Vec<Described>> {
    const DOING: &str = "look at a table";
    let sql = "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
               AND type IN ('table', 'view', 'virtual') ORDER BY name";
    let mut list = connection.prepare(sql).map_err(failed(DOING))?;
    let tables: Vec<(String, String)> = list
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .and_then(Iterator::collect)
        .map_err(failed(DOING))?;
    let Some((_, kind)) = tables.iter().find(|(name, _)| *name == column.table) else {
        let names: Vec<String> = tables.iter().map(|(name, _)| name.clone()).collect();
        return Err(cells::no_table(column, &names));
    };
    if kind != "table" {
        return Err(cells::no_plain_table(column));
    }
    let sql = format!("SELECT name, pk, type FROM pragma_table_xinfo({})", literal(&column.table));
    let mut list = connection.prepare(&sql).map_err(failed(DOING))?;
    let columns = list
        .query_map([], |row| {
            let is_integer = row.get::<_, String>(2)?.eq_ignore_ascii_case("integer");
            Ok(Described { name: row.get(0)?, primary: row.get(1)?, is_integer })
        })
        .and_then(Iterator::collect)
        .map_err(failed(DOING))?;
    Ok(columns)
}

fn names(columns: &[Described]) -> Vec<String> {
    columns.iter().map(|one| one.name.clone()).collect()
}

fn primary(columns: &[Described]) -> Vec<String> {
    let mut found: Vec<&Described> = columns.iter().filter(|one| one.primary > 0).collect();
    found.sort_by_key(|one| one.primary);
    found.into_iter().map(|one| one.name.clone()).collect()
}

/// Returns the collation of the index that makes this column unique; `None` for the number of a row.
fn collation(
    connection: &Connection,
    column: &Column,
    key: &str,
    columns: &[Described],
) -> Result<Option<String>> {
    const DOING: &str = "look at a table";
    let described = columns.iter().find(|one| one.name == key);
    let table = literal(&column.table);
    let sql = format!(
        "SELECT (SELECT coll FROM pragma_index_xinfo(one.name) WHERE key) FROM pragma_index_list({table}) AS one \
         WHERE one.\"unique\" AND NOT one.partial \
         AND (SELECT count(*) FROM pragma_index_xinfo(one.name) WHERE key) = 1 \
         AND (SELECT name FROM pragma_index_xinfo(one.name) WHERE key) = ?1"
    );
    let found: Option<String> =
        connection.query_row(&sql, [key], |row| row.get(0)).optional().map_err(failed(DOING))?;
    if found.is_some() {
        return Ok(found);
    }
    let names = names(columns);
    match described {
        // A primary key without an index is the number of a row.
        Some(one) if one.primary > 0 && one.is_integer && primary(columns).len() == 1 => Ok(None),
        Some(_) => Err(cells::not_unique(column, key)),
        None if ROW_NUMBER.iter().any(|name| name.eq_ignore_ascii_case(key)) => {
            let sql = format!(
                "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = {table}"
            );
            let has_none: bool =
                connection.query_row(&sql, [], |row| row.get(0)).map_err(failed(DOING))?;
            if has_none {
                cells::check_names(column, Some(key), &names)?
            }
            Ok(None)
        }
        None => {
            cells::check_names(column, Some(key), &names)?;
            Err(cells::not_unique(column, key))
        }
    }
}

/// Returns whether the table refuses a value, but would take another one.
fn is_unfit(error: &rusqlite::Error) -> bool {
    matches!(
        code(error),
        Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch)
    )
}

/// A parameter that is borrowed.
struct Bound<'v>(ValueRef<'v>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(self.0))
    }
}

impl ToSql for Key {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Key::Integer(number) => ValueRef::Integer(*number),
            Key::Text(text) => ValueRef::Text(text.as_bytes()),
            Key::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
