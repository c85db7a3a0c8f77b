//! Statements for PostgreSQL, and the conversion of keys and values into their parameters.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::super::column::{self, Key, Stored};
use super::super::{Change, KeyKind, Layout, Order, Range};
use crate::error::{Error, Result, shown};

/// Bytes of changes per statement; larger batches are several statements in one transaction.
const STATEMENT_BYTES: usize = 64 << 20;
/// The longest key of a collection created by regauge: a B-tree entry has at most 2,704 bytes,
/// including its header.
const KEY_BYTES_MAX: usize = 2_600;

pub(super) type Parameter<'p> = Box<dyn ToSql + Sync + 'p>;

/// Serializes concurrent creation of tables.
pub(super) const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtext('regauge'))";
pub(super) const NOTES: &str = "CREATE TABLE IF NOT EXISTS regauge_notes (\
                     name text COLLATE \"C\" NOT NULL PRIMARY KEY, note bytea NOT NULL)";

/// Builds the statement that creates the table of a collection.
pub(super) fn table_of(layout: &Layout) -> String {
    let Names { table, key, value, k, v, .. } = Names::new(layout);
    let order = if layout.key_kind == KeyKind::Text { "COLLATE \"C\"" } else { "" };
    format!(
        "{LOCK};CREATE TABLE IF NOT EXISTS {table} (\
         {key} {k} {order} NOT NULL PRIMARY KEY, {value} {v} NOT NULL);\
         ALTER TABLE {table} ALTER COLUMN {value} SET STORAGE EXTERNAL"
    )
}

/// The names of a layout, quoted for SQL.
pub(super) struct Names {
    pub(super) table: String,
    pub(super) key: String,
    pub(super) value: String,
    /// The expression that sorts keys by their bytes.
    pub(super) by: String,
    /// The type of key parameters; an adopted column may have a narrower one.
    pub(super) k: &'static str,
    /// The type of value parameters.
    pub(super) v: &'static str,
}

impl Names {
    pub(super) fn new(layout: &Layout) -> Names {
        let key = identifier(&layout.key);
        let by = match layout.key_kind {
            KeyKind::Text => format!("{key} COLLATE \"C\""),
            KeyKind::Bytes | KeyKind::Integer => key.clone(),
        };
        let k = match layout.key_kind {
            KeyKind::Bytes => "bytea",
            KeyKind::Text => "text",
            KeyKind::Integer => "bigint",
        };
        let v = if layout.text { "text" } else { "bytea" };
        let (table, value) = (identifier(&layout.table), identifier(&layout.value));
        Names { table, key, value, by, k, v }
    }
}

/// The selection of part of a table in an order.
pub(super) struct Select<'p> {
    from_where: String,
    pub(super) by: String,
    pub(super) direction: &'static str,
    pub(super) parameters: Vec<Parameter<'p>>,
}

impl<'p> Select<'p> {
    /// Returns `None` if no key can be in the range.
    pub(super) fn new(
        layout: &Layout,
        range: &'p Range,
        order: Order,
        limit: usize,
    ) -> Result<Option<Select<'p>>> {
        let Some((from, to)) = Key::ends(layout, range, Key::end_without_zero)? else {
            return Ok(None);
        };
        let Names { table, key, value, by, k, .. } = Names::new(layout);
        let mut from_where =
            format!("FROM {table} WHERE {key} IS NOT NULL AND {value} IS NOT NULL");
        let mut parameters: Vec<Parameter<'p>> = Vec::new();
        for (end, sign) in [(from, ">="), (to, "<")] {
            if let Some(end) = end {
                parameters.push(parameter(end));
                from_where += &format!(" AND {by} {sign} ${}::{k}", parameters.len());
            }
        }
        parameters.push(Box::new(i64::try_from(limit).unwrap_or(i64::MAX)));
        let direction = if order == Order::Ascending { "ASC" } else { "DESC" };
        Ok(Some(Select { from_where, by, direction, parameters }))
    }

    pub(super) fn sql(&self, columns: &str) -> String {
        let Select { from_where, by, direction, parameters } = self;
        let limit = parameters.len();
        format!("SELECT {columns} {from_where} ORDER BY {by} {direction} LIMIT ${limit}")
    }
}

pub(super) fn put_sql(layout: &Layout, rows: &str) -> String {
    let Names { table, key, value, .. } = Names::new(layout);
    format!(
        "INSERT INTO {table} ({key}, {value}) {rows} \
         ON CONFLICT ({key}) DO UPDATE SET {value} = excluded.{value}"
    )
}

/// Unnests arrays into a table of keys and values.
pub(super) fn unnest(layout: &Layout, columns: usize) -> String {
    let Names { k, v, .. } = Names::new(layout);
    let values: Vec<String> = (2..=columns).map(|at| format!("${at}::{v}[]")).collect();
    format!("unnest($1::{k}[], {})", values.join(", "))
}

/// Changes as statement parameters: keys and values to put, and keys to delete. The last change to
/// a key counts, because a statement changes a row only once.
pub(super) fn groups<'c>(
    layout: &Layout,
    changes: &[Change<'c>],
) -> Result<Vec<Vec<Parameter<'c>>>> {
    let mut last = BTreeMap::new();
    for (key, value) in changes {
        last.insert(*key, *value);
    }
    let mut groups = Vec::new();
    let mut group: Vec<Change<'c>> = Vec::new();
    let mut bytes = 0;
    let mut close = |group: &mut Vec<Change<'c>>| -> Result {
        let puts = || group.iter().filter_map(|(key, value)| Some((*key, (*value)?)));
        let keys = array(layout, puts().map(|(key, _)| key))?;
        let gone = group.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| *key);
        groups.push(vec![keys, values(layout, puts())?, array(layout, gone)?]);
        group.clear();
        Ok(())
    };
    // Sorted by key, so that two batches rarely wait for each other.
    for (key, value) in last {
        let more = key.len() + value.map_or(0, <[u8]>::len);
        if bytes + more > STATEMENT_BYTES && !group.is_empty() {
            close(&mut group)?;
            bytes = 0;
        }
        bytes += more;
        group.push((key, value));
    }
    if !group.is_empty() {
        close(&mut group)?;
    }
    Ok(groups)
}

pub(super) fn borrowed<'p>(parameters: &'p [Parameter<'_>]) -> Vec<&'p (dyn ToSql + Sync)> {
    parameters.iter().map(|one| &**one as &(dyn ToSql + Sync)).collect()
}

pub(super) fn parameter(key: Key<'_>) -> Parameter<'_> {
    match key {
        Key::Bytes(bytes) => Box::new(bytes),
        Key::Text(text) => Box::new(text),
        Key::Integer(number) => Box::new(number),
    }
}

/// Checks that a key can occur in a row.
pub(super) fn checked<'k>(layout: &Layout, key: &'k [u8]) -> Result<Key<'k>> {
    let found = Key::new(layout, key)?;
    match &found {
        Key::Text(text) if text.contains('\0') => {
            Err(column::wrong(layout, key, "text without zero bytes"))
        }
        Key::Bytes(bytes) if bytes.len() > KEY_BYTES_MAX => Err(Error::usage(format!(
            "key {}…: found {} bytes, the index of PostgreSQL takes keys of at most \
             {KEY_BYTES_MAX}",
            shown(&key[..40]),
            bytes.len()
        ))),
        _ => Ok(found),
    }
}

/// Returns a key as a parameter, of the type its column is compared with.
pub(super) fn bound<'k>(layout: &Layout, key: &'k [u8]) -> Result<Parameter<'k>> {
    checked(layout, key).map(parameter)
}

pub(super) fn array<'k>(
    layout: &Layout,
    keys: impl Iterator<Item = &'k [u8]>,
) -> Result<Parameter<'k>> {
    let keys = keys.map(|key| checked(layout, key)).collect::<Result<Vec<_>>>()?;
    Ok(match layout.key_kind {
        KeyKind::Bytes => Box::new(
            keys.into_iter()
                .filter_map(|key| if let Key::Bytes(one) = key { Some(one) } else { None })
                .collect::<Vec<Cow<'k, [u8]>>>(),
        ),
        KeyKind::Text => Box::new(
            keys.into_iter()
                .filter_map(|key| if let Key::Text(one) = key { Some(one) } else { None })
                .collect::<Vec<Cow<'k, str>>>(),
        ),
        KeyKind::Integer => Box::new(
            keys.into_iter()
                .filter_map(|key| if let Key::Integer(one) = key { Some(one) } else { None })
                .collect::<Vec<i64>>(),
        ),
    })
}

/// Returns a value as stored in its column.
pub(super) fn stored<'v>(layout: &Layout, key: &[u8], value: &'v [u8]) -> Result<Parameter<'v>> {
    match Stored::new(layout, value) {
        Stored::Bytes(_) if layout.text => Err(not_text(layout, key)),
        Stored::Bytes(bytes) => Ok(Box::new(bytes)),
        Stored::Text(text) => Ok(Box::new(text)),
    }
}

pub(super) fn values<'v>(
    layout: &Layout,
    pairs: impl Iterator<Item = (&'v [u8], &'v [u8])>,
) -> Result<Parameter<'v>> {
    if !layout.text {
        return Ok(Box::new(pairs.map(|(_, value)| value).collect::<Vec<&[u8]>>()));
    }
    let texts = pairs.map(|(key, value)| match Stored::new(layout, value) {
        Stored::Text(text) => Ok(text),
        Stored::Bytes(_) => Err(not_text(layout, key)),
    });
    Ok(Box::new(texts.collect::<Result<Vec<Cow<'v, str>>>>()?))
}

pub(super) fn not_text(layout: &Layout, key: &[u8]) -> Error {
    Error::usage(format!("key {}: column {} takes text only", shown(key), layout.value))
}

pub(super) fn column_of<'r, T: tokio_postgres::types::FromSql<'r>>(
    row: &'r Row,
    at: usize,
) -> Result<T> {
    row.try_get(at).map_err(|error| {
        let source = std::error::Error::source(&error).map(ToString::to_string);
        Error::Engine {
            doing: "read a row".to_owned(),
            message: source.unwrap_or_else(|| error.to_string()),
            passing: false,
        }
    })
}

pub(super) fn key_of(layout: &Layout, row: &Row, at: usize) -> Result<Vec<u8>> {
    let kind = row.columns()[at].type_();
    Ok(match layout.key_kind {
        KeyKind::Bytes => column_of::<&[u8]>(row, at)?.to_vec(),
        KeyKind::Text => column_of::<&str>(row, at)?.as_bytes().to_vec(),
        KeyKind::Integer if *kind == Type::INT2 => {
            column_of::<i16>(row, at)?.to_string().into_bytes()
        }
        KeyKind::Integer if *kind == Type::INT4 => {
            column_of::<i32>(row, at)?.to_string().into_bytes()
        }
        KeyKind::Integer => column_of::<i64>(row, at)?.to_string().into_bytes(),
    })
}

pub(super) fn value_of(layout: &Layout, row: &Row, at: usize) -> Result<Vec<u8>> {
    match layout.text {
        true => Ok(column::from_text(column_of::<&str>(row, at)?.as_bytes())),
        false => Ok(column_of::<&[u8]>(row, at)?.to_vec()),
    }
}

/// Quotes a name for SQL, whatever it contains.
pub(super) fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Quotes a text for SQL.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    format!("'\\x{}'::bytea", data_encoding::HEXLOWER.encode(bytes))
}
