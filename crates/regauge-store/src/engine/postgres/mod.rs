//! PostgreSQL, 12 or newer.
//!
//! A collection is a table of `key bytea PRIMARY KEY, value bytea`, whose values are not compressed
//! a second time. A batch is one statement, and so a transaction of its own; many keys are fetched
//! in one round trip. The keys of an adopted text column sort by their bytes: if the column has
//! another collation, an index on `(key COLLATE "C")` makes walks fast.

mod cells;
mod link;
mod sql;

use std::collections::{HashMap, HashSet};

use tokio_postgres::Row;

use super::column::{TypeNames, check_types};
use super::line::{Call, Line};
use super::{Change, Engine, KeyKind, Layout, Order, Pair, Range};
use crate::error::{Error, Result, shown};
pub(super) use cells::PostgresCells;
use link::{Link, Server, is_absent};
use sql::{
    LOCK, NOTES, Names, Parameter, Select, array, borrowed, bound, column_of, groups, hexadecimal,
    identifier, key_of, literal, put_sql, stored, table_of, unnest, value_of, values,
};

/// Bytes of values after which a page ends early.
const PAGE_BYTES: i64 = 4 << 20;
/// The largest value: a field is limited to 1 GiB, and so is the statement that carries it.
const VALUE_BYTES_MAX: usize = 256 << 20;

/// A PostgreSQL database.
pub struct Postgres {
    line: Line<Server>,
    name: String,
}

impl Postgres {
    /// Connects to `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. In addition to the parameters of
    /// libpq that the driver knows, `timeout=SECONDS` limits a call and `sslrootcert=PATH` names
    /// the certificates to trust.
    ///
    /// # Errors
    /// `Usage` for an invalid URL; `Engine` if the server cannot be reached.
    pub fn open(url: &str) -> Result<Postgres> {
        let (server, timeout) = Server::new(url)?;
        let line = Line::new(server, timeout)?;
        let version =
            line.call("connect", Call::Read, async |link: &mut Link| Ok(link.version.clone()))?;
        Ok(Postgres { line, name: format!("PostgreSQL {version}") })
    }

    /// Runs statements verbatim, for callers that create and drop schemas and databases.
    ///
    /// # Errors
    /// `Engine`.
    pub fn run_sql(&self, sql: &str) -> Result {
        self.run("run statements", sql)
    }

    fn rows(&self, doing: &str, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>> {
        self.line.call(doing, Call::Read, async |link: &mut Link| {
            let statement = link.statement(sql).await?;
            link.client.query(&statement, &borrowed(parameters)).await
        })
    }

    fn change(&self, doing: &str, sql: &str, parameters: &[Parameter<'_>]) -> Result<u64> {
        self.line.call(doing, Call::Change, async |link: &mut Link| {
            let statement = link.statement(sql).await?;
            link.client.execute(&statement, &borrowed(parameters)).await
        })
    }

    fn run(&self, doing: &str, sql: &str) -> Result {
        self.line
            .call(doing, Call::Change, async |link: &mut Link| link.client.batch_execute(sql).await)
    }

    /// Returns the columns with their types, and whether equality there means identity.
    fn columns(&self, table: &str) -> Result<Vec<(String, String, bool)>> {
        let sql = "SELECT a.attname::text, t.typname::text, coalesce(c.collisdeterministic, true) \
                   FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid \
                   LEFT JOIN pg_collation c ON c.oid = a.attcollation \
                   WHERE a.attrelid = to_regclass($1)::oid AND a.attnum > 0 \
                   AND NOT a.attisdropped ORDER BY a.attnum";
        let rows = self.rows("look at a table", sql, &[Box::new(identifier(table))])?;
        rows.iter()
            .map(|row| Ok((column_of(row, 0)?, column_of(row, 1)?, column_of(row, 2)?)))
            .collect()
    }
}

impl Engine for Postgres {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_atomic(&self) -> bool {
        true
    }

    fn value_limit(&self) -> Option<usize> {
        Some(VALUE_BYTES_MAX)
    }

    fn has_table(&self, name: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM pg_class c \
                   JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE lower(c.relname) = lower($1::text) AND c.relkind IN ('r','v','m','f','p') \
                   AND n.nspname = ANY(current_schemas(false)))";
        let rows = self.rows("look for a table", sql, &[Box::new(name)])?;
        column_of(&rows[0], 0)
    }

    fn check(&self, layout: &Layout) -> Result {
        let table = &layout.table;
        let columns = self.columns(table)?;
        if columns.is_empty() {
            return Err(Error::usage(format!("the database has no table {table}")));
        }
        let find = |wanted: &str| {
            columns.iter().find(|(name, ..)| name == wanted).ok_or_else(|| {
                let names: Vec<&str> = columns.iter().map(|(name, ..)| name.as_str()).collect();
                Error::usage(format!(
                    "table {table} has no column {wanted}, but {}",
                    names.join(", ")
                ))
            })
        };
        let (_, key_type, exact) = find(&layout.key)?;
        let (_, value_type, _) = find(&layout.value)?;
        let kind = match key_type.as_str() {
            "bytea" => Some(KeyKind::Bytes),
            "text" | "varchar" if *exact => Some(KeyKind::Text),
            "int2" | "int4" | "int8" => Some(KeyKind::Integer),
            _ => None,
        };
        let is_text = match value_type.as_str() {
            "bytea" => Some(false),
            "text" | "varchar" => Some(true),
            _ => None,
        };
        let names = TypeNames {
            keys: "bytea, text, varchar or a whole number",
            bytes: "bytea",
            text: "text or varchar",
        };
        check_types(layout, (key_type.as_str(), kind), (value_type.as_str(), is_text), &names)?;
        let sql = "SELECT EXISTS (SELECT 1 FROM pg_index i JOIN pg_attribute a \
                   ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] \
                   WHERE i.indrelid = to_regclass($1)::oid AND i.indisunique AND i.indisvalid \
                   AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL \
                   AND i.indnkeyatts = 1 AND a.attname = $2::text)";
        let parameters: [Parameter<'_>; 2] = [Box::new(identifier(table)), Box::new(&layout.key)];
        let rows = self.rows("look at a table", sql, &parameters)?;
        match column_of(&rows[0], 0)? {
            true => Ok(()),
            false => Err(Error::usage(format!(
                "table {table}: column {} is not unique, so it cannot be a key; make a unique \
                 index on it",
                layout.key
            ))),
        }
    }

    fn create(&self, layout: &Layout) -> Result {
        // Statements sent together are one transaction.
        self.run(&format!("make table {}", layout.table), &table_of(layout))
    }

    fn drop_table(&self, layout: &Layout) -> Result {
        let Names { table, .. } = Names::new(layout);
        self.run(
            &format!("remove table {}", layout.table),
            &format!("DROP TABLE IF EXISTS {table}"),
        )
    }

    fn create_noted(&self, layout: &Layout, name: &str, note: &[u8]) -> Result {
        let sql = format!(
            "{};{NOTES};INSERT INTO regauge_notes VALUES ({}, {}) ON CONFLICT (name) DO NOTHING",
            table_of(layout),
            literal(name),
            hexadecimal(note)
        );
        self.run(&format!("make table {}", layout.table), &sql)
    }

    fn get(&self, layout: &Layout, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Names { table, key: name, value, k, .. } = Names::new(layout);
        let sql =
            format!("SELECT {value} FROM {table} WHERE {name} = $1::{k} AND {value} IS NOT NULL");
        let rows = self.rows("read a value", &sql, &[bound(layout, key)?])?;
        rows.first().map(|row| value_of(layout, row, 0)).transpose()
    }

    fn get_many(&self, layout: &Layout, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>> {
        let Names { table, key: name, value, k, .. } = Names::new(layout);
        let sql = format!(
            "SELECT {name}, {value} FROM {table} WHERE {name} = ANY($1::{k}[]) AND {value} IS NOT NULL"
        );
        let rows = self.rows("read values", &sql, &[array(layout, keys.iter().copied())?])?;
        let mut found = HashMap::with_capacity(rows.len());
        for row in &rows {
            found.insert(key_of(layout, row, 0)?, value_of(layout, row, 1)?);
        }
        Ok(keys.iter().map(|key| found.get(*key).cloned()).collect())
    }

    fn exists(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        let Names { table, key: name, value, k, .. } = Names::new(layout);
        let sql = format!("SELECT 1 FROM {table} WHERE {name} = $1::{k} AND {value} IS NOT NULL");
        Ok(!self.rows("look for a key", &sql, &[bound(layout, key)?])?.is_empty())
    }

    fn apply(&self, layout: &Layout, changes: &[Change<'_>]) -> Result {
        if let [(key, change)] = changes {
            return match change {
                Some(value) => {
                    let Names { k, v, .. } = Names::new(layout);
                    let parameters = [bound(layout, key)?, stored(layout, key, value)?];
                    let doing = format!("change {}", shown(key));
                    self.change(
                        &doing,
                        &put_sql(layout, &format!("VALUES ($1::{k}, $2::{v})")),
                        &parameters,
                    )?;
                    Ok(())
                }
                None => self.delete(layout, key).map(|_| ()),
            };
        }
        let groups = groups(layout, changes)?;
        let puts = put_sql(layout, &format!("SELECT * FROM {}", unnest(layout, 2)));
        let Names { table, key: name, k, .. } = Names::new(layout);
        // A statement is atomic by itself, so it may both delete and put.
        let sql =
            format!("WITH gone AS (DELETE FROM {table} WHERE {name} = ANY($3::{k}[])) {puts}");
        let doing = "change values";
        if let [one] = &groups[..] {
            self.change(doing, &sql, one)?;
            return Ok(());
        }
        self.line.call(doing, Call::Change, async |link: &mut Link| {
            let statement = link.statement(&sql).await?;
            // Rolled back if it is dropped early.
            let transaction = link.client.transaction().await?;
            for one in &groups {
                transaction.execute(&statement, &borrowed(one)).await?;
            }
            transaction.commit().await
        })
    }

    fn swap(
        &self,
        layout: &Layout,
        key: &[u8],
        seen: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool> {
        let doing = format!("change {}", shown(key));
        let Names { table, key: name, value, k, v, .. } = Names::new(layout);
        let bound = bound(layout, key)?;
        let done = match (seen, new) {
            (Some(seen), Some(new)) => {
                let sql = format!(
                    "UPDATE {table} SET {value} = $3::{v} WHERE {name} = $1::{k} \
                     AND {value} = $2::{v}"
                );
                let (seen, new) = (stored(layout, key, seen)?, stored(layout, key, new)?);
                self.change(&doing, &sql, &[bound, seen, new])?
            }
            (Some(seen), None) => {
                let sql =
                    format!("DELETE FROM {table} WHERE {name} = $1::{k} AND {value} = $2::{v}");
                self.change(&doing, &sql, &[bound, stored(layout, key, seen)?])?
            }
            (None, Some(new)) => {
                let sql = format!(
                    "INSERT INTO {table} ({name}, {value}) VALUES ($1::{k}, $2::{v}) \
                     ON CONFLICT ({name}) DO NOTHING"
                );
                self.change(&doing, &sql, &[bound, stored(layout, key, new)?])?
            }
            (None, None) => return Ok(!self.exists(layout, key)?),
        };
        Ok(done == 1)
    }

    fn swap_many(&self, layout: &Layout, swaps: &[(&[u8], &[u8], &[u8])]) -> Result<Vec<bool>> {
        let Names { table, key: name, value, .. } = Names::new(layout);
        // No collection has a name with this prefix.
        let sql = format!(
            "UPDATE {table} SET {value} = regauge_new.c FROM {} AS regauge_new (a, b, c) \
             WHERE {table}.{name} = regauge_new.a AND {table}.{value} = regauge_new.b RETURNING {table}.{name}",
            unnest(layout, 3)
        );
        let keys = array(layout, swaps.iter().map(|(key, ..)| *key))?;
        let seen = values(layout, swaps.iter().map(|(key, seen, _)| (*key, *seen)))?;
        let new = values(layout, swaps.iter().map(|(key, _, new)| (*key, *new)))?;
        let parameters = [keys, seen, new];
        let rows = self.line.call("change values", Call::Change, async |link: &mut Link| {
            let statement = link.statement(&sql).await?;
            link.client.query(&statement, &borrowed(&parameters)).await
        })?;
        let done: HashSet<Vec<u8>> =
            rows.iter().map(|row| key_of(layout, row, 0)).collect::<Result<_>>()?;
        Ok(swaps.iter().map(|(key, ..)| done.contains(*key)).collect())
    }

    fn delete(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        let Names { table, key: name, k, .. } = Names::new(layout);
        let sql = format!("DELETE FROM {table} WHERE {name} = $1::{k}");
        let doing = format!("delete {}", shown(key));
        Ok(self.change(&doing, &sql, &[bound(layout, key)?])? > 0)
    }

    fn page(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Pair>> {
        let Some(select) = Select::new(layout, range, order, limit)? else {
            return Ok(Vec::new());
        };
        let Names { key, value, .. } = Names::new(layout);
        let inner = select.sql(&format!("{key} AS k, {value} AS v, {} AS o", select.by));
        // The server sums the lengths, which it knows without reading the values, and sends no more
        // than a page.
        let direction = select.direction;
        let sql = format!(
            "SELECT k, v FROM (SELECT k, v, o, sum(octet_length(v)) OVER (ORDER BY o {direction} \
             ROWS UNBOUNDED PRECEDING) - octet_length(v) AS ahead FROM ({inner}) AS one) AS two \
             WHERE ahead < {PAGE_BYTES} ORDER BY o {direction}"
        );
        let rows = self.rows("read a range", &sql, &select.parameters)?;
        rows.iter().map(|row| Ok((key_of(layout, row, 0)?, value_of(layout, row, 1)?))).collect()
    }

    fn keys(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>> {
        let Some(select) = Select::new(layout, range, order, limit)? else {
            return Ok(Vec::new());
        };
        let sql = select.sql(&Names::new(layout).key);
        let rows = self.rows("read a range", &sql, &select.parameters)?;
        rows.iter().map(|row| key_of(layout, row, 0)).collect()
    }

    fn count(&self, layout: &Layout) -> Result<(u64, u64)> {
        let Names { table, key, value, .. } = Names::new(layout);
        let sql = format!(
            "SELECT count(*), coalesce(sum(octet_length({value})), 0)::bigint FROM {table} \
             WHERE {key} IS NOT NULL AND {value} IS NOT NULL"
        );
        let rows = self.rows("count the values", &sql, &[])?;
        let (values, bytes): (i64, i64) = (column_of(&rows[0], 0)?, column_of(&rows[0], 1)?);
        Ok((values.unsigned_abs(), bytes.unsigned_abs()))
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let sql = "SELECT note FROM regauge_notes WHERE name = $1";
        let rows = self.notes_rows("read a note", sql, name)?;
        rows.first().map(|row| column_of(row, 0)).transpose()
    }

    fn set_note(&self, name: &str, note: Option<&[u8]>) -> Result {
        let doing = format!("keep the note {name}");
        let sql = match note {
            Some(_) => {
                "INSERT INTO regauge_notes VALUES ($1, $2) \
                 ON CONFLICT (name) DO UPDATE SET note = excluded.note"
            }
            None => "DELETE FROM regauge_notes WHERE name = $1 AND $2::bytea IS NULL",
        };
        let put = || {
            self.line.call(&doing, Call::Change, async |link: &mut Link| {
                let statement = match link.statement(sql).await {
                    Err(failure) if is_absent(&failure) => return Ok(false),
                    other => other?,
                };
                link.client.execute(&statement, &[&name, &note]).await.map(|_| true)
            })
        };
        // The table is created with the first note.
        if put()? || note.is_none() {
            return Ok(());
        }
        self.run(&doing, &format!("{LOCK};{NOTES}"))?;
        put().map(|_| ())
    }

    fn notes(&self, prefix: &str) -> Result<Vec<String>> {
        let sql = "SELECT name FROM regauge_notes WHERE left(name, length($1)) = $1 ORDER BY name";
        let rows = self.notes_rows("read the notes", sql, prefix)?;
        rows.iter().map(|row| column_of(row, 0)).collect()
    }
}

impl Postgres {
    /// Returns rows of the table of notes; none if the table does not exist yet.
    fn notes_rows(&self, doing: &str, sql: &str, name: &str) -> Result<Vec<Row>> {
        self.line.call(doing, Call::Read, async |link: &mut Link| match link.statement(sql).await {
            Ok(statement) => link.client.query(&statement, &[&name]).await,
            Err(failure) if is_absent(&failure) => Ok(Vec::new()),
            Err(other) => Err(other),
        })
    }
}
