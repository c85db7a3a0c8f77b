//! The cells of a column in MySQL and MariaDB.

use mysql_async::prelude::Queryable as _;
use mysql_async::{Error as Failure, Row, Value};

use super::link::{Link, Server};
use super::sql::{bytes_of, identifier, taken};
use super::{executed, positional};
use crate::cells::{self, Access, Cells, Column, Head, Key, Swapped};
use crate::engine::NOT_TEXT;
use crate::engine::line::{Call, Line};
use crate::error::{Error, Result};

/// Bytes of a statement beside the values in it.
const STATEMENT_BYTES: usize = 16 << 10;

/// A column of a table.
pub(in crate::engine) struct MysqlCells {
    line: Line<Server>,
    name: String,
    packet_bytes: usize,
    column: Column,
    is_text: bool,
    key_kind: KeyKind,
    /// The quoted names.
    table: String,
    value: String,
    key: String,
}

/// What keys are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyKind {
    Integer,
    Text,
    Bytes,
}

/// A column as the schema describes it.
struct Described {
    name: String,
    kind: String,
    is_primary: bool,
    is_unique: bool,
}

impl MysqlCells {
    /// Connects, and finds the column.
    ///
    /// # Errors
    /// `Usage` and `Engine`, as `cells::open`.
    pub(in crate::engine) fn open(
        url: &str,
        column: &Column,
        access: Access,
    ) -> Result<MysqlCells> {
        let (server, timeout) = Server::new(url)?;
        let server = if access == Access::Read { server.read_only() } else { server };
        let line = Line::new(server, timeout)?;
        let (name, packet_bytes) = line.call("connect", Call::Read, async |link: &mut Link| {
            Ok((link.name.clone(), link.packet_bytes))
        })?;
        let mut cells = MysqlCells {
            line,
            name,
            packet_bytes,
            column: column.clone(),
            is_text: false,
            key_kind: KeyKind::Text,
            table: identifier(&column.table),
            value: identifier(&column.column),
            key: String::new(),
        };
        cells.look()?;
        Ok(cells)
    }

    fn rows(&self, doing: &str, sql: &str, values: &[Value]) -> Result<Vec<Row>> {
        self.line.call(doing, Call::Read, async |link: &mut Link| {
            link.conn.exec(sql, positional(values)).await
        })
    }

    /// Finds the types and the key.
    fn look(&mut self) -> Result {
        self.check_table()?;
        let columns = self.columns()?;
        let names: Vec<String> = columns.iter().map(|one| one.name.clone()).collect();
        cells::check_names(&self.column, self.column.key.as_deref(), &names)?;
        let of = |name: &str| columns.iter().find(|one| one.name == name);
        let table = &self.column.table;
        if let Some(value) = of(&self.column.column) {
            self.is_text = match value.kind.as_str() {
                "tinyblob" | "blob" | "mediumblob" | "longblob" | "varbinary" => false,
                "tinytext" | "text" | "mediumtext" | "longtext" | "varchar" => true,
                other => {
                    let expected = "a blob, a text, varchar or varbinary";
                    return Err(cells::wrong_type(table, &value.name, other, expected));
                }
            };
        }
        let primary: Vec<String> =
            columns.iter().filter(|one| one.is_primary).map(|one| one.name.clone()).collect();
        let key = cells::key_of(&self.column, &primary)?;
        let Some(described) = of(&key).filter(|one| one.is_unique) else {
            return Err(cells::not_unique(&self.column, &key));
        };
        self.key_kind = match described.kind.as_str() {
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint" => KeyKind::Integer,
            "binary" | "varbinary" => KeyKind::Bytes,
            "char" | "varchar" | "uuid" => KeyKind::Text,
            other => {
                let expected =
                    "a whole number, char, varchar, binary, varbinary or uuid as the key";
                return Err(cells::wrong_type(table, &key, other, expected));
            }
        };
        self.key = identifier(&key);
        let MysqlCells { table, value, .. } = &*self;
        let sql = format!(
            "SELECT 1 FROM {table} WHERE {} IS NULL AND {value} IS NOT NULL LIMIT 1",
            self.key
        );
        match self.rows("look at a table", &sql, &[])?.is_empty() {
            true => Ok(()),
            false => Err(cells::null_keys(&self.column, &key)),
        }
    }

    fn check_table(&self) -> Result {
        let doing = "look for a table";
        let sql = "SELECT table_type FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?";
        let mut rows = self.rows(doing, sql, &[Value::from(&self.column.table)])?;
        match rows.first_mut().map(|row| bytes_of(&taken(row, 0))).as_deref() {
            Some(b"BASE TABLE") => Ok(()),
            Some(_) => Err(cells::no_plain_table(&self.column)),
            None => {
                let sql = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() \
                           AND table_type = 'BASE TABLE' ORDER BY 1";
                let mut rows = self.rows(doing, sql, &[])?;
                let names: Vec<String> = rows.iter_mut().map(|row| text_of(row, 0)).collect();
                Err(cells::no_table(&self.column, &names))
            }
        }
    }

    fn columns(&self) -> Result<Vec<Described>> {
        let sql = "SELECT c.column_name, LOWER(c.data_type), c.column_key = 'PRI', EXISTS (\
                     SELECT 1 FROM information_schema.statistics s WHERE s.table_schema = c.table_schema \
                     AND s.table_name = c.table_name AND s.non_unique = 0 GROUP BY s.index_name \
                     HAVING COUNT(*) = 1 AND MAX(s.column_name) = c.column_name AND MAX(s.sub_part) IS NULL) \
                   FROM information_schema.columns c WHERE c.table_schema = DATABASE() AND c.table_name = ? \
                   ORDER BY c.ordinal_position";
        let mut rows = self.rows("look at a table", sql, &[Value::from(&self.column.table)])?;
        let is_set = |row: &mut Row, at| bytes_of(&taken(row, at)) == b"1";
        Ok(rows
            .iter_mut()
            .map(|row| Described {
                name: text_of(row, 0),
                kind: text_of(row, 1),
                is_primary: is_set(row, 2),
                is_unique: is_set(row, 3),
            })
            .collect())
    }

    fn key_in(&self, row: &mut Row) -> Key {
        let bytes = bytes_of(&taken(row, 0));
        match self.key_kind {
            KeyKind::Bytes => Key::Bytes(bytes),
            KeyKind::Integer | KeyKind::Text => {
                Key::Text(String::from_utf8_lossy(&bytes).into_owned())
            }
        }
    }

    /// Returns a key as a parameter. A number is one, because text would be compared as a double.
    fn parameter(&self, key: &Key) -> Result<Value> {
        match (key, self.key_kind) {
            (Key::Bytes(bytes), _) => Ok(Value::Bytes(bytes.clone())),
            (Key::Integer(number), _) => Ok(Value::Int(*number)),
            (Key::Text(text), KeyKind::Integer) => match (text.parse(), text.parse()) {
                (Ok(number), _) => Ok(Value::Int(number)),
                (_, Ok(number)) => Ok(Value::UInt(number)),
                _ => Err(cells::wrong_key(&self.column, text)),
            },
            (Key::Text(text), _) => Ok(Value::Bytes(text.clone().into_bytes())),
        }
    }

    /// Returns the outcome of a change that matched no row.
    fn unchanged(&self, key: Value) -> Result<Swapped> {
        let MysqlCells { table, value, key: name, .. } = self;
        let sql = format!("SELECT 1 FROM {table} WHERE {name} = ? AND {value} IS NOT NULL");
        let rows = self.rows("read a value", &sql, &[key])?;
        Ok(if rows.is_empty() { Swapped::Gone } else { Swapped::Changed })
    }

    /// Returns why the new value cannot be sent or stored, as far as that is known beforehand.
    fn unfit(&self, old: &[u8], new: &[u8]) -> Option<String> {
        if self.is_text && std::str::from_utf8(new).is_err() {
            return Some(NOT_TEXT.to_owned());
        }
        // The text of a value may take twice its length.
        let bytes = old.len() + new.len() + STATEMENT_BYTES;
        (bytes > self.packet_bytes).then(|| {
            format!(
                "found values of {} and {} bytes, which together exceed max_allowed_packet of the server, {}",
                old.len(),
                new.len(),
                self.packet_bytes
            )
        })
    }
}

impl Cells for MysqlCells {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn heads(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Head>> {
        let MysqlCells { table, value, key, .. } = self;
        let from = if after.is_some() { format!("AND {key} > ?") } else { String::new() };
        // The limit as a literal: not all servers accept a parameter here.
        let sql = format!(
            "SELECT {key}, OCTET_LENGTH({value}) FROM {table} WHERE {value} IS NOT NULL {from} ORDER BY {key} LIMIT {limit}"
        );
        let parameters = after.map(|after| self.parameter(after)).transpose()?;
        let mut rows = self.rows("read a range of keys", &sql, parameters.as_slice())?;
        rows.iter_mut()
            .map(|row| {
                let key = self.key_in(row);
                let bytes = text_of(row, 1).parse().map_err(|_| unreadable())?;
                Ok(Head { key, bytes, is_text: self.is_text })
            })
            .collect()
    }

    fn values(&self, first: &Key, last: &Key) -> Result<Vec<(Key, Vec<u8>)>> {
        let MysqlCells { table, value, key, .. } = self;
        let sql = format!(
            "SELECT {key}, {value} FROM {table} WHERE {value} IS NOT NULL AND {key} >= ? AND {key} <= ? ORDER BY {key}"
        );
        let ends = [self.parameter(first)?, self.parameter(last)?];
        let rows = self.rows("read a range of values", &sql, &ends)?;
        let pair = |mut row: Row| match taken(&mut row, 1) {
            Value::Bytes(bytes) => (self.key_in(&mut row), bytes),
            other => (self.key_in(&mut row), bytes_of(&other)),
        };
        Ok(rows.into_iter().map(pair).collect())
    }

    fn swap(&self, key: &str, old: &[u8], new: &[u8]) -> Result<Swapped> {
        let found = match self.key_kind {
            KeyKind::Bytes => data_encoding::HEXLOWER.decode(key.as_bytes()).ok().map(Key::Bytes),
            KeyKind::Integer | KeyKind::Text => Some(Key::Text(key.to_owned())),
        };
        let found = found.ok_or_else(|| cells::wrong_key(&self.column, key))?;
        let found = self.parameter(&found)?;
        if let Some(words) = self.unfit(old, new) {
            return Ok(Swapped::Unfit(words));
        }
        let MysqlCells { table, value, key: name, .. } = self;
        let same = match self.is_text {
            true => format!("CAST(CONVERT({value} USING utf8mb4) AS BINARY) = CAST(? AS BINARY)"),
            false => format!("{value} = ?"),
        };
        let sql = format!("UPDATE {table} SET {value} = ? WHERE {name} = ? AND {same}");
        let values = [Value::Bytes(new.to_vec()), found.clone(), Value::Bytes(old.to_vec())];
        let doing = format!("replace {} of {key:?} in {}", self.column.column, self.column.table);
        let done =
            self.line.call(&doing, Call::Change, async |link: &mut Link| {
                match executed(link, &sql, positional(&values)).await {
                    Ok(rows) => Ok(Ok(rows)),
                    Err(Failure::Server(error)) if UNFIT.contains(&error.code) => {
                        Ok(Err(error.message))
                    }
                    Err(failure) => Err(failure),
                }
            })?;
        match done {
            Ok(0) => self.unchanged(found),
            Ok(_) => Ok(Swapped::Done),
            Err(words) => Ok(Swapped::Unfit(words)),
        }
    }
}

/// The errors of a table that refuses a value, but would take another one: ER_TRUNCATED_WRONG_VALUE_FOR_FIELD,
/// ER_DATA_TOO_LONG, ER_CHECK_CONSTRAINT_VIOLATED of MySQL, ER_CONSTRAINT_FAILED of MariaDB.
const UNFIT: [u16; 4] = [1366, 1406, 3819, 4025];

fn text_of(row: &mut Row, at: usize) -> String {
    String::from_utf8_lossy(&bytes_of(&taken(row, at))).into_owned()
}

#[cold]
fn unreadable() -> Error {
    Error::Engine {
        doing: "read a range of keys".to_owned(),
        message: "found a length that is not a number".to_owned(),
        passing: false,
    }
}
