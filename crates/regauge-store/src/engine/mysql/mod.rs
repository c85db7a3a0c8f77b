//! MySQL 8 or newer and MariaDB 10.6 or newer, with InnoDB.
//!
//! A collection is a table of `key VARBINARY(3072) PRIMARY KEY, value LONGBLOB`: binary, so that
//! keys sort by their bytes, whatever the database's collation is. A batch is one transaction; many
//! keys are fetched in one round trip.
//!
//! An adopted text column may have a collation in which `A` equals `a`, and its index then follows
//! it. Keys are still matched exactly, and a key that the index considers equal to another cannot
//! be put. A walk over such a table has to sort it.

mod cells;
mod link;
mod sql;

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use mysql_async::prelude::Queryable as _;
use mysql_async::{Error as Failure, Params, Row, Value};

use super::column::{Key, TypeNames, check_types};
use super::line::{Call, Line};
use super::{Change, Engine, KeyKind, Layout, Order, Pair, Range};
use crate::error::{Error, Result, shown};
pub(super) use cells::MysqlCells;
use link::{Link, Server, is_absent, is_duplicate};
use sql::{
    NOTES, Names, Step, by_bytes, bytes_of, hexadecimal, length_of, read_value, select, stored,
    taken, value_of_key,
};

/// Bytes of values after which a page ends early.
const PAGE_BYTES: usize = 4 << 20;
/// Values in the first page, while their size is unknown.
const PAGE_FIRST: usize = 64;
/// The longest key: the InnoDB index limit.
const KEY_BYTES_MAX: usize = 3_072;
/// Rows per statement. Few different numbers, because each is a statement that stays prepared.
const ROWS: [usize; 3] = [128, 16, 1];

/// A MySQL or MariaDB database.
pub struct Mysql {
    line: Line<Server>,
    name: String,
    packet_bytes: usize,
    /// Size of a value in the last page, used to choose the length of the next.
    value_bytes: Cell<usize>,
}

impl Mysql {
    /// Connects to `mysql://USER:PASSWORD@HOST:PORT/DATABASE`. In addition to the driver's own
    /// parameters (`require_ssl=true`), `timeout=SECONDS` limits a call and `sslrootcert=PATH`
    /// names the certificates to trust.
    ///
    /// # Errors
    /// `Usage` for an invalid URL; `Engine` if the server cannot be reached.
    pub fn open(url: &str) -> Result<Mysql> {
        let (server, timeout) = Server::new(url)?;
        let line = Line::new(server, timeout)?;
        let (name, packet_bytes) = line.call("connect", Call::Read, async |link: &mut Link| {
            Ok((link.name.clone(), link.packet_bytes))
        })?;
        Ok(Mysql { line, name, packet_bytes, value_bytes: Cell::new(PAGE_BYTES / PAGE_FIRST) })
    }

    /// Runs a statement verbatim, for callers that create and drop databases.
    ///
    /// # Errors
    /// `Engine`.
    pub fn run_sql(&self, sql: &str) -> Result {
        self.make("run a statement", sql)
    }

    fn rows(&self, doing: &str, sql: &str, values: &[Value]) -> Result<Vec<Row>> {
        self.line.call(doing, Call::Read, async |link: &mut Link| {
            link.conn.exec(sql, positional(values)).await
        })
    }

    /// Returns the number of rows that a change matched.
    fn change(&self, doing: &str, sql: &str, values: &[Value]) -> Result<u64> {
        self.line.call(doing, Call::Change, async |link: &mut Link| {
            executed(link, sql, positional(values)).await
        })
    }

    /// Runs all steps or none.
    fn transaction(&self, doing: &str, steps: &[Step]) -> Result<Vec<u64>> {
        self.line.call(doing, Call::Change, async |link: &mut Link| {
            if let [Step { sql, values, or_insert: None }] = steps {
                return Ok(vec![executed(link, sql, positional(values)).await?]);
            }
            link.conn.query_drop("START TRANSACTION").await?;
            match all_of(link, steps).await {
                Ok(done) => {
                    link.conn.query_drop("COMMIT").await?;
                    Ok(done)
                }
                Err(failure) => {
                    // Some errors roll back only the last statement. If this fails, the connection
                    // is lost, and the server rolls back what it started.
                    if link.conn.query_drop("ROLLBACK").await.is_err() {
                        return Err(mysql_async::DriverError::ConnectionClosed.into());
                    }
                    Err(failure)
                }
            }
        })
    }

    /// Bytes of keys and values per statement.
    fn statement_bytes(&self) -> usize {
        (self.packet_bytes / 2).clamp(64 << 10, 32 << 20)
    }

    fn checked<'k>(&self, layout: &Layout, key: &'k [u8]) -> Result<Key<'k>> {
        let found = Key::new(layout, key)?;
        match key.len() > KEY_BYTES_MAX && layout.key_kind != KeyKind::Integer {
            true => Err(Error::usage(format!(
                "key {}…: found {} bytes, an index of MySQL takes keys of at most {KEY_BYTES_MAX}",
                shown(&key[..40]),
                key.len()
            ))),
            false => Ok(found),
        }
    }

    /// Returns the parameters for a condition of `Names::same`.
    fn bound(&self, layout: &Layout, key: &[u8]) -> Result<Vec<Value>> {
        let value = value_of_key(self.checked(layout, key)?);
        Ok(match layout.key_kind {
            KeyKind::Text => vec![value.clone(), value],
            KeyKind::Bytes | KeyKind::Integer => vec![value],
        })
    }

    /// Builds the steps that put these values, in as few statements as possible.
    fn puts(&self, layout: &Layout, pairs: &[(&[u8], &[u8])]) -> Result<Vec<Step>> {
        let names = Names::new(layout);
        let mut steps = Vec::new();
        let mut rest = pairs;
        while !rest.is_empty() {
            let fits = |rows: usize| {
                let bytes = |(key, value): &(&[u8], &[u8])| key.len() + value.len() * 4 / 3 + 64;
                rest.get(..rows).is_some_and(|some| {
                    some.iter().map(bytes).sum::<usize>() <= self.statement_bytes()
                })
            };
            let exact = layout.key_kind == KeyKind::Text;
            let rows = match exact {
                true => 1,
                false => ROWS.into_iter().find(|rows| fits(*rows)).unwrap_or(1),
            };
            let (some, others) = rest.split_at(rows);
            rest = others;
            let mut values = Vec::with_capacity(rows * 2);
            for (key, value) in some {
                values.push(value_of_key(self.checked(layout, key)?));
                values.push(stored(layout, key, value)?);
            }
            steps.push(match exact {
                true => names.put_exactly(values, self.bound(layout, some[0].0)?),
                false => Step::new(names.put(rows), values),
            });
        }
        Ok(steps)
    }

    fn deletes(&self, layout: &Layout, keys: &[&[u8]]) -> Result<Vec<Step>> {
        let names = Names::new(layout);
        let mut steps = Vec::new();
        for some in by_bytes(keys) {
            let list = self.listed(layout, some)?;
            let Names { table, key, exact, .. } = &names;
            let sql = match layout.key_kind {
                KeyKind::Text => {
                    let hex: Vec<String> = some.iter().map(|one| hexadecimal(one)).collect();
                    let hex = hex.join(",");
                    format!("DELETE FROM {table} WHERE {key} IN ({list}) AND {exact} IN ({hex})")
                }
                _ => format!("DELETE FROM {table} WHERE {key} IN ({list})"),
            };
            steps.push(Step::new(sql, Vec::new()));
        }
        Ok(steps)
    }

    /// Formats keys in SQL.
    fn listed(&self, layout: &Layout, keys: &[&[u8]]) -> Result<String> {
        let literals = keys.iter().map(|key| {
            Ok(match self.checked(layout, key)? {
                Key::Bytes(bytes) => hexadecimal(&bytes),
                Key::Text(text) => format!("_utf8mb4 {}", hexadecimal(text.as_bytes())),
                Key::Integer(number) => number.to_string(),
            })
        });
        Ok(literals.collect::<Result<Vec<String>>>()?.join(","))
    }
}

async fn all_of(link: &mut Link, steps: &[Step]) -> Result<Vec<u64>, Failure> {
    let mut done = Vec::with_capacity(steps.len());
    for Step { sql, values, or_insert } in steps {
        let mut matched = match values.is_empty() {
            // Not a statement that will recur: preparing it is pointless.
            true => {
                let result = link.conn.query_iter(sql.as_str()).await?;
                let matched = result.affected_rows();
                result.drop_result().await?;
                matched
            }
            false => executed(link, sql, positional(values)).await?,
        };
        if matched == 0
            && let Some((sql, values)) = or_insert
        {
            matched = executed(link, sql, positional(values)).await?;
        }
        done.push(matched);
    }
    Ok(done)
}

async fn executed(link: &mut Link, sql: &str, params: Params) -> Result<u64, Failure> {
    let result = link.conn.exec_iter(sql, params).await?;
    let matched = result.affected_rows();
    result.drop_result().await?;
    Ok(matched)
}

fn positional(values: &[Value]) -> Params {
    match values {
        [] => Params::Empty,
        some => Params::Positional(some.to_vec()),
    }
}

impl Engine for Mysql {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_atomic(&self) -> bool {
        true
    }

    /// Two values fit in one statement, as a swap requires, even in Base64.
    fn value_limit(&self) -> Option<usize> {
        Some((self.packet_bytes.saturating_sub(16 << 10) / 8 * 3).max(16 << 10))
    }

    fn has_table(&self, name: &str) -> Result<bool> {
        let sql = "SELECT 1 FROM information_schema.tables \
                   WHERE table_schema = DATABASE() AND LOWER(table_name) = LOWER(?) LIMIT 1";
        Ok(!self.rows("look for a table", sql, &[Value::from(name)])?.is_empty())
    }

    fn check(&self, layout: &Layout) -> Result {
        let table = &layout.table;
        let doing = "look at a table";
        let sql = "SELECT column_name, LOWER(data_type) FROM information_schema.columns \
                   WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position";
        let rows = self.rows(doing, sql, &[Value::from(table.as_str())])?;
        let text = |row: &Row, at: usize| {
            String::from_utf8_lossy(&bytes_of(row.as_ref(at).unwrap_or(&Value::NULL))).into_owned()
        };
        let columns: Vec<(String, String)> =
            rows.iter().map(|row| (text(row, 0), text(row, 1))).collect();
        if columns.is_empty() {
            return Err(Error::usage(format!("the database has no table {table}")));
        }
        let find = |wanted: &str| {
            columns
                .iter()
                .find(|(name, _)| name == wanted)
                .map(|(_, kind)| kind.as_str())
                .ok_or_else(|| {
                    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
                    Error::usage(format!(
                        "table {table} has no column {wanted}, but {}",
                        names.join(", ")
                    ))
                })
        };
        let (key_type, value_type) = (find(&layout.key)?, find(&layout.value)?);
        if key_type == "binary" {
            return Err(Error::usage(format!(
                "table {table}: column {} holds keys of type binary, which pads them with zero bytes: \
                 two keys could be one row; make it a varbinary",
                layout.key
            )));
        }
        let kind = match key_type {
            "varbinary" | "tinyblob" | "blob" | "mediumblob" => Some(KeyKind::Bytes),
            "char" | "varchar" | "tinytext" | "text" | "mediumtext" => Some(KeyKind::Text),
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint" => Some(KeyKind::Integer),
            _ => None,
        };
        let is_text = match value_type {
            "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => Some(false),
            "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => Some(true),
            _ => None,
        };
        let names =
            TypeNames { keys: "binary, text or a whole number", bytes: "a blob", text: "text" };
        check_types(layout, (key_type, kind), (value_type, is_text), &names)?;
        let sql = "SELECT 1 FROM information_schema.statistics s \
                   WHERE table_schema = DATABASE() AND table_name = ? AND non_unique = 0 \
                   GROUP BY index_name HAVING COUNT(*) = 1 AND MAX(sub_part) IS NULL \
                   AND MAX(column_name = ?) = 1 LIMIT 1";
        let names = [Value::from(table.as_str()), Value::from(layout.key.as_str())];
        match self.rows(doing, sql, &names)?.is_empty() {
            false => Ok(()),
            true => Err(Error::usage(format!(
                "table {table}: column {} is not unique, so it cannot be a key; make a unique \
                 index on it",
                layout.key
            ))),
        }
    }

    fn create(&self, layout: &Layout) -> Result {
        let Names { table, key, value, .. } = Names::new(layout);
        let key_type = match layout.key_kind {
            KeyKind::Bytes => format!("VARBINARY({KEY_BYTES_MAX})"),
            // Four bytes per character.
            KeyKind::Text => format!("VARCHAR({})", KEY_BYTES_MAX / 4),
            KeyKind::Integer => "BIGINT".to_owned(),
        };
        let value_type = if layout.text { "LONGTEXT" } else { "LONGBLOB" };
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS {table} (\
             {key} {key_type} NOT NULL PRIMARY KEY, {value} {value_type} NOT NULL) \
             ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
        );
        self.make(&format!("make table {}", layout.table), &sql)
    }

    fn drop_table(&self, layout: &Layout) -> Result {
        let Names { table, .. } = Names::new(layout);
        let sql = format!("DROP TABLE IF EXISTS {table}");
        self.make(&format!("remove table {}", layout.table), &sql)
    }

    fn get(&self, layout: &Layout, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Names { table, value, same, .. } = Names::new(layout);
        let sql = format!("SELECT {value} FROM {table} WHERE {same} AND {value} IS NOT NULL");
        let mut rows = self.rows("read a value", &sql, &self.bound(layout, key)?)?;
        Ok(rows.pop().map(|mut row| read_value(layout, taken(&mut row, 0))))
    }

    fn get_many(&self, layout: &Layout, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>> {
        let Names { table, key: name, value, .. } = Names::new(layout);
        let mut found = HashMap::with_capacity(keys.len());
        for some in by_bytes(keys) {
            let list = self.listed(layout, some)?;
            let sql = format!(
                "SELECT {name}, {value} FROM {table} WHERE {name} IN ({list}) AND {value} IS NOT NULL"
            );
            let rows: Vec<Row> =
                self.line.call("read values", Call::Read, async |link: &mut Link| {
                    link.conn.query(sql.as_str()).await
                })?;
            for mut row in rows {
                let key = bytes_of(&taken(&mut row, 0));
                found.insert(key, read_value(layout, taken(&mut row, 1)));
            }
        }
        Ok(keys.iter().map(|key| found.get(*key).cloned()).collect())
    }

    fn exists(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        let Names { table, value, same, .. } = Names::new(layout);
        let sql = format!("SELECT 1 FROM {table} WHERE {same} AND {value} IS NOT NULL");
        Ok(!self.rows("look for a key", &sql, &self.bound(layout, key)?)?.is_empty())
    }

    fn apply(&self, layout: &Layout, changes: &[Change<'_>]) -> Result {
        // The last change to a key counts; sorted by key, so that two batches rarely wait for each
        // other.
        let last: BTreeMap<&[u8], Option<&[u8]>> = changes.iter().copied().collect();
        let puts: Vec<(&[u8], &[u8])> =
            last.iter().filter_map(|(key, value)| Some((*key, (*value)?))).collect();
        let gone: Vec<&[u8]> =
            last.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| *key).collect();
        let mut steps = self.puts(layout, &puts)?;
        steps.extend(self.deletes(layout, &gone)?);
        if steps.is_empty() {
            return Ok(());
        }
        let doing = match changes {
            [(key, _)] => format!("change {}", shown(key)),
            _ => "change values".to_owned(),
        };
        self.transaction(&doing, &steps).map(|_| ())
    }

    fn swap(
        &self,
        layout: &Layout,
        key: &[u8],
        seen: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool> {
        let doing = format!("change {}", shown(key));
        let names = Names::new(layout);
        let Names { table, key: name, value, same, is, .. } = &names;
        match (seen, new) {
            (Some(seen), Some(new)) => {
                let step = names.swap(
                    stored(layout, key, new)?,
                    self.bound(layout, key)?,
                    stored(layout, key, seen)?,
                );
                Ok(self.change(&doing, &step.sql, &step.values)? == 1)
            }
            (Some(seen), None) => {
                let sql = format!("DELETE FROM {table} WHERE {same} AND {is}");
                let mut values = self.bound(layout, key)?;
                values.push(stored(layout, key, seen)?);
                Ok(self.change(&doing, &sql, &values)? == 1)
            }
            (None, Some(new)) => {
                let sql = format!("INSERT INTO {table} ({name}, {value}) VALUES (?, ?)");
                let values = [value_of_key(self.checked(layout, key)?), stored(layout, key, new)?];
                self.line.call(&doing, Call::Change, async |link: &mut Link| {
                    match executed(link, &sql, positional(&values)).await {
                        Err(failure) if is_duplicate(&failure) => Ok(false),
                        other => other.map(|_| true),
                    }
                })
            }
            (None, None) => Ok(!self.exists(layout, key)?),
        }
    }

    fn swap_many(&self, layout: &Layout, swaps: &[(&[u8], &[u8], &[u8])]) -> Result<Vec<bool>> {
        let names = Names::new(layout);
        let step = |&(key, seen, new): &(&[u8], &[u8], &[u8])| {
            let (seen, new) = (stored(layout, key, seen)?, stored(layout, key, new)?);
            Ok(names.swap(new, self.bound(layout, key)?, seen))
        };
        let steps: Vec<Step> = swaps.iter().map(step).collect::<Result<_>>()?;
        if steps.is_empty() {
            return Ok(Vec::new());
        }
        let done = self.transaction("change values", &steps)?;
        Ok(done.into_iter().map(|matched| matched == 1).collect())
    }

    fn delete(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        let Names { table, same, .. } = Names::new(layout);
        let sql = format!("DELETE FROM {table} WHERE {same}");
        let doing = format!("delete {}", shown(key));
        Ok(self.change(&doing, &sql, &self.bound(layout, key)?)? > 0)
    }

    fn page(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Pair>> {
        let Names { key, value, .. } = Names::new(layout);
        // As many as will fill a page: the server sends everything it was asked for, wanted or not.
        // A power of two, because each number is a separate statement that stays prepared.
        let filling = (PAGE_BYTES / self.value_bytes.get().max(1)).max(1);
        let limit = limit.min(1 << filling.ilog2());
        let Some((sql, values)) = select(layout, &format!("{key}, {value}"), range, order, limit)?
        else {
            return Ok(Vec::new());
        };
        let rows = self.line.call("read a range", Call::Read, async |link: &mut Link| {
            let mut rows = Vec::new();
            let mut bytes = 0;
            let mut result = link.conn.exec_iter(sql.as_str(), positional(&values)).await?;
            while let Some(row) = result.next().await? {
                if bytes < PAGE_BYTES {
                    bytes += row.as_ref(1).map_or(0, length_of);
                    rows.push(row);
                }
            }
            result.drop_result().await?;
            Ok((rows, bytes))
        });
        let (rows, bytes) = rows?;
        if !rows.is_empty() {
            self.value_bytes.set(bytes / rows.len());
        }
        let pair =
            |mut row: Row| (bytes_of(&taken(&mut row, 0)), read_value(layout, taken(&mut row, 1)));
        Ok(rows.into_iter().map(pair).collect())
    }

    fn keys(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>> {
        let key = Names::new(layout).key;
        let Some((sql, values)) = select(layout, &key, range, order, limit)? else {
            return Ok(Vec::new());
        };
        let rows = self.rows("read a range", &sql, &values)?;
        Ok(rows.into_iter().map(|mut row| bytes_of(&taken(&mut row, 0))).collect())
    }

    fn count(&self, layout: &Layout) -> Result<(u64, u64)> {
        let Names { table, key, value, .. } = Names::new(layout);
        let sql = format!(
            "SELECT COUNT(*), CAST(COALESCE(SUM(LENGTH({value})), 0) AS UNSIGNED) FROM {table} \
             WHERE {key} IS NOT NULL AND {value} IS NOT NULL"
        );
        let rows = self.rows("count the values", &sql, &[])?;
        let number = |at| {
            let text = rows.first().and_then(|row| row.as_ref(at)).map(bytes_of);
            text.and_then(|text| String::from_utf8(text).ok()?.parse().ok()).unwrap_or(0)
        };
        Ok((number(0), number(1)))
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let sql = "SELECT note FROM regauge_notes WHERE name = ?";
        let mut rows = self.notes_rows("read a note", sql, &[Value::from(name)])?;
        Ok(rows.pop().map(|mut row| bytes_of(&taken(&mut row, 0))))
    }

    fn set_note(&self, name: &str, note: Option<&[u8]>) -> Result {
        let doing = format!("keep the note {name}");
        let (sql, values) = match note {
            Some(note) => (
                "INSERT INTO regauge_notes (name, note) VALUES (?, ?) \
                 ON DUPLICATE KEY UPDATE note = VALUES(note)",
                vec![Value::from(name), Value::from(note)],
            ),
            None => ("DELETE FROM regauge_notes WHERE name = ?", vec![Value::from(name)]),
        };
        let put = || {
            self.line.call(&doing, Call::Change, async |link: &mut Link| {
                match executed(link, sql, positional(&values)).await {
                    Err(failure) if is_absent(&failure) => Ok(false),
                    other => other.map(|_| true),
                }
            })
        };
        // The table is created with the first note.
        if put()? || note.is_none() {
            return Ok(());
        }
        self.make(&doing, NOTES)?;
        put().map(|_| ())
    }

    fn notes(&self, prefix: &str) -> Result<Vec<String>> {
        let sql = "SELECT name FROM regauge_notes WHERE LEFT(name, CHAR_LENGTH(?)) = ? \
                   ORDER BY name";
        let prefix = Value::from(prefix);
        let rows = self.notes_rows("read the notes", sql, &[prefix.clone(), prefix])?;
        let name =
            |mut row: Row| String::from_utf8_lossy(&bytes_of(&taken(&mut row, 0))).into_owned();
        Ok(rows.into_iter().map(name).collect())
    }
}

impl Mysql {
    /// Returns rows of the table of notes; none if the table does not exist yet.
    fn notes_rows(&self, doing: &str, sql: &str, values: &[Value]) -> Result<Vec<Row>> {
        self.line.call(doing, Call::Read, async |link: &mut Link| {
            match link.conn.exec(sql, positional(values)).await {
                Err(failure) if is_absent(&failure) => Ok(Vec::new()),
                other => other,
            }
        })
    }

    fn make(&self, doing: &str, sql: &str) -> Result {
        self.line.call(doing, Call::Change, async |link: &mut Link| link.conn.query_drop(sql).await)
    }
}
