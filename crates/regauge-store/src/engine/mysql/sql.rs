//! Statements for MySQL and MariaDB, and the conversion of keys and values for them.

use mysql_async::{Row, Value};

use super::super::column::{self, Key, Stored};
use super::super::{KeyKind, Layout, Order, Range};
use crate::error::{Error, Result, shown};

/// Bytes of keys requested per statement.
const KEYS_BYTES: usize = 256 << 10;

/// A statement and its parameters.
pub(super) struct Step {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
    /// Runs if it matched nothing.
    pub(super) or_insert: Option<(String, Vec<Value>)>,
}

impl Step {
    pub(super) fn new(sql: String, values: Vec<Value>) -> Step {
        Step { sql, values, or_insert: None }
    }
}

pub(super) const NOTES: &str = "CREATE TABLE IF NOT EXISTS regauge_notes (\
                     name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin \
                     NOT NULL PRIMARY KEY, note LONGBLOB NOT NULL) ENGINE=InnoDB";

/// The quoted names of a layout, and expressions built from them.
pub(super) struct Names {
    pub(super) table: String,
    pub(super) key: String,
    pub(super) value: String,
    /// The bytes of a key, whatever its column's character set and collation.
    pub(super) exact: String,
    /// Matches the row of a key through an index; takes the parameters from `Mysql::bound`.
    pub(super) same: String,
    /// Matches this exact value, byte by byte.
    pub(super) is: String,
}

impl Names {
    pub(super) fn new(layout: &Layout) -> Names {
        let (table, key, value) =
            (identifier(&layout.table), identifier(&layout.key), identifier(&layout.value));
        let bytes = |column: &str| format!("CAST(CONVERT({column} USING utf8mb4) AS BINARY)");
        let exact = match layout.key_kind {
            KeyKind::Text => bytes(&key),
            KeyKind::Bytes | KeyKind::Integer => key.clone(),
        };
        let same = match layout.key_kind {
            KeyKind::Text => format!("{key} = ? AND {exact} = CAST(? AS BINARY)"),
            KeyKind::Bytes | KeyKind::Integer => format!("{key} = ?"),
        };
        let is = match layout.text {
            true => format!("{} = CAST(? AS BINARY)", bytes(&value)),
            false => format!("{value} = ?"),
        };
        Names { table, key, value, exact, same, is }
    }

    pub(super) fn put(&self, rows: usize) -> String {
        let Names { table, key, value, .. } = self;
        let marks = vec!["(?, ?)"; rows].join(", ");
        format!(
            "INSERT INTO {table} ({key}, {value}) VALUES {marks} \
             ON DUPLICATE KEY UPDATE {value} = VALUES({value})"
        )
    }

    /// Builds a put that never changes the row of a different key that is only equal by collation.
    pub(super) fn put_exactly(&self, pair: Vec<Value>, bound: Vec<Value>) -> Step {
        let Names { table, key, value, same, .. } = self;
        let mut values = vec![pair[1].clone()];
        values.extend(bound);
        let insert = format!("INSERT INTO {table} ({key}, {value}) VALUES (?, ?)");
        let sql = format!("UPDATE {table} SET {value} = ? WHERE {same}");
        Step { sql, values, or_insert: Some((insert, pair)) }
    }

    pub(super) fn swap(&self, new: Value, bound: Vec<Value>, seen: Value) -> Step {
        let Names { table, value, same, is, .. } = self;
        let mut values = vec![new];
        values.extend(bound);
        values.push(seen);
        Step::new(format!("UPDATE {table} SET {value} = ? WHERE {same} AND {is}"), values)
    }
}

/// Builds the selection of part of a table in an order, and its parameters; `None` if no key can be
/// in the range.
pub(super) fn select(
    layout: &Layout,
    columns: &str,
    range: &Range,
    order: Order,
    limit: usize,
) -> Result<Option<(String, Vec<Value>)>> {
    let Some((from, to)) = Key::ends(layout, range, Key::end)? else { return Ok(None) };
    let Names { table, key, value, exact, .. } = Names::new(layout);
    let mut sql =
        format!("SELECT {columns} FROM {table} WHERE {key} IS NOT NULL AND {value} IS NOT NULL");
    let mut values = Vec::new();
    let mark = if layout.key_kind == KeyKind::Text { "CAST(? AS BINARY)" } else { "?" };
    for (end, sign) in [(from, ">="), (to, "<")] {
        if let Some(end) = end {
            sql += &format!(" AND {exact} {sign} {mark}");
            values.push(value_of_key(end));
        }
    }
    let direction = if order == Order::Ascending { "ASC" } else { "DESC" };
    // As a literal: not all servers accept a parameter here.
    sql += &format!(" ORDER BY {exact} {direction} LIMIT {limit}");
    Ok(Some((sql, values)))
}

/// Splits keys into chunks that fit in one statement each.
pub(super) fn by_bytes<'k, 'a>(keys: &'a [&'k [u8]]) -> Vec<&'a [&'k [u8]]> {
    let mut parts = Vec::new();
    let mut rest = keys;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = |key: &&&[u8]| {
            bytes += key.len() * 2 + 16;
            bytes <= KEYS_BYTES
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (part, others) = rest.split_at(count);
        parts.push(part);
        rest = others;
    }
    parts
}

pub(super) fn value_of_key(key: Key<'_>) -> Value {
    match key {
        Key::Bytes(bytes) => Value::Bytes(bytes.into_owned()),
        Key::Text(text) => Value::Bytes(text.into_owned().into_bytes()),
        Key::Integer(number) => Value::Int(number),
    }
}

/// Returns a value as stored in its column.
pub(super) fn stored(layout: &Layout, key: &[u8], value: &[u8]) -> Result<Value> {
    match Stored::new(layout, value) {
        Stored::Bytes(_) if layout.text => Err(Error::usage(format!(
            "key {}: column {} takes text only",
            shown(key),
            layout.value
        ))),
        Stored::Bytes(bytes) => Ok(Value::Bytes(bytes.to_vec())),
        Stored::Text(text) => Ok(Value::Bytes(text.into_owned().into_bytes())),
    }
}

pub(super) fn taken(row: &mut Row, at: usize) -> Value {
    row.take(at).unwrap_or(Value::NULL)
}

pub(super) fn length_of(value: &Value) -> usize {
    if let Value::Bytes(bytes) = value { bytes.len() } else { 0 }
}

pub(super) fn bytes_of(value: &Value) -> Vec<u8> {
    match value {
        Value::Bytes(bytes) => bytes.clone(),
        Value::Int(number) => number.to_string().into_bytes(),
        Value::UInt(number) => number.to_string().into_bytes(),
        other => other.as_sql(true).into_bytes(),
    }
}

pub(super) fn read_value(layout: &Layout, value: Value) -> Vec<u8> {
    match value {
        Value::Bytes(bytes) if layout.text => column::from_text(&bytes),
        Value::Bytes(bytes) => bytes,
        other => bytes_of(&other),
    }
}

/// Quotes a name for SQL, whatever it contains.
pub(super) fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    format!("x'{}'", data_encoding::HEXLOWER.encode(bytes))
}
