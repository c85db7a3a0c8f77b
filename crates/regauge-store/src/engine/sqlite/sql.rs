//! Names, columns and values in SQLite's SQL.

use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};

use crate::engine::column::{self, Key, Stored};
use crate::engine::{KeyKind, Layout};
use crate::error::{Error, Result};

/// The statements for single values, which are too fast to build their texts each time.
pub(super) struct Texts {
    pub(super) layout: Layout,
    pub(super) get: String,
    pub(super) put: String,
    pub(super) delete: String,
}

impl Texts {
    pub(super) fn new(layout: &Layout) -> Texts {
        let (table, key, value) = quoted(layout);
        let (exact, same) = (exact(layout), same(layout));
        Texts {
            layout: layout.clone(),
            get: format!("SELECT {value} FROM {table} WHERE {same} AND {value} IS NOT NULL"),
            // Changes nothing if the row has a different key that is only equal by collation.
            put: format!(
                "INSERT INTO {table} ({key}, {value}) VALUES (?1, ?2) \
                 ON CONFLICT ({key}) DO UPDATE SET {value} = excluded.{value} \
                 WHERE {table}.{exact} = excluded.{key}"
            ),
            delete: format!("DELETE FROM {table} WHERE {same}"),
        }
    }
}

impl ToSql for Key<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Key::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Key::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Key::Integer(number) => ToSqlOutput::Owned(Value::Integer(*number)),
        })
    }
}

/// Returns the bytes of a key. A key of another type than the column's declared one would sort
/// elsewhere: a walk would miss rows.
pub(super) fn key_bytes(layout: &Layout, key: ValueRef<'_>) -> Result<Vec<u8>> {
    match (layout.key_kind, key) {
        (KeyKind::Integer, ValueRef::Integer(number)) => Ok(number.to_string().into_bytes()),
        (KeyKind::Text, ValueRef::Text(bytes)) | (KeyKind::Bytes, ValueRef::Blob(bytes)) => {
            Ok(bytes.to_vec())
        }
        (kind, other) => Err(Error::usage(format!(
            "table {}: column {} holds a key of type {}, expected {}; adopt it with the right \
             key kind",
            layout.table,
            layout.key,
            other.data_type(),
            kind.name()
        ))),
    }
}

impl ToSql for Stored<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Stored::Bytes(bytes) => ValueRef::Blob(bytes),
            Stored::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

pub(super) fn stored_bytes(layout: &Layout, value: ValueRef<'_>) -> Vec<u8> {
    match value {
        ValueRef::Text(text) if layout.text => column::from_text(text),
        ValueRef::Blob(bytes) | ValueRef::Text(bytes) => bytes.to_vec(),
        ValueRef::Integer(number) => number.to_string().into_bytes(),
        ValueRef::Real(number) => number.to_string().into_bytes(),
        ValueRef::Null => Vec::new(),
    }
}

/// Builds the statements that create the table of a collection, and its view for humans.
pub(super) fn table_of(layout: &Layout) -> String {
    let (table, key, value) = quoted(layout);
    let view = identifier(&text_view(layout));
    let key_type = match layout.key_kind {
        KeyKind::Bytes => "BLOB",
        KeyKind::Text => "TEXT",
        KeyKind::Integer => "INTEGER",
    };
    let value_type = if layout.text { "TEXT" } else { "BLOB" };
    format!(
        "CREATE TABLE IF NOT EXISTS {table} (\
           {key} {key_type} NOT NULL UNIQUE, {value} {value_type} NOT NULL);\
         CREATE VIEW IF NOT EXISTS {view} AS SELECT CAST({key} AS TEXT) AS {key}, {value} \
           FROM {table}"
    )
}

/// Builds the view that shows keys as text.
pub(super) fn text_view(layout: &Layout) -> String {
    format!("{}_text", layout.table)
}

pub(super) fn quoted(layout: &Layout) -> (String, String, String) {
    (identifier(&layout.table), identifier(&layout.key), identifier(&layout.value))
}

/// Returns the key column, compared by its bytes whatever its collation is.
pub(super) fn exact(layout: &Layout) -> String {
    let key = identifier(&layout.key);
    match layout.key_kind {
        KeyKind::Text => format!("{key} COLLATE BINARY"),
        KeyKind::Bytes | KeyKind::Integer => key,
    }
}

/// Returns the condition that matches the row of the key `?1` through an index.
pub(super) fn same(layout: &Layout) -> String {
    let key = identifier(&layout.key);
    match layout.key_kind {
        // The index of a column follows the column's own collation.
        KeyKind::Text => format!("{key} = ?1 AND {} = ?1", exact(layout)),
        KeyKind::Bytes | KeyKind::Integer => format!("{key} = ?1"),
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
