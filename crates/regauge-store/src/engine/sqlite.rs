//! SQLite, the default: a single file that any tool can read.
//!
//! A collection is a table of `key BLOB UNIQUE, value BLOB` with SQLite's own row numbers, which
//! keeps large values out of the index, and a view `NAME_text` that shows keys as text. The file is
//! in WAL mode: readers and one writer do not block each other. Every change is synced before it is
//! acknowledged (`synchronous = FULL`).
//!
//! An adopted text column may have a collation in which `A` equals `a`. Keys are still matched exactly,
//! and a key that the column takes for another cannot be put.

mod cells;
mod connect;
mod patience;
mod recent;
mod sql;
#[allow(unsafe_code, reason = "memory that processes share")]
mod wal_index;
mod writer;
mod writing;

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Row};

use super::column::{Key, Stored};
use super::{Change, Engine, Layout, Order, Pair, Range};
use crate::error::{Error, Result, shown};
pub(super) use cells::SqliteCells;
use connect::{connect, unopened};
use patience::PATIENCE;
use recent::Recent;
use sql::{
    Texts, exact, identifier, key_bytes, literal, quoted, same, stored_bytes, table_of, text_view,
};
use writing::Writing;

/// Bytes of values after which a page ends early.
const PAGE_BYTES: usize = 4 << 20;
/// Statements kept prepared: about ten for each collection in use.
const STATEMENTS: usize = 64;

/// Statement that creates the table of notes.
const NOTES: &str = "CREATE TABLE IF NOT EXISTS regauge_notes (\
                     name TEXT NOT NULL PRIMARY KEY, note BLOB NOT NULL)";

/// An SQLite file.
pub struct Sqlite {
    /// Dropped before the connection, whose memory it reads.
    recent: RefCell<Recent>,
    connection: Connection,
    /// The statements of the most recently used collection.
    texts: RefCell<Option<Arc<Texts>>>,
}

impl Sqlite {
    /// Opens a file, creating it if missing. `:memory:` is discarded on close.
    ///
    /// # Errors
    /// `Engine`: no such folder, no permission, no database.
    pub fn open(path: &str) -> Result<Sqlite> {
        Sqlite::open_with(path, OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens an existing file.
    ///
    /// # Errors
    /// `Absent`, and those of `open`.
    pub fn open_existing(path: &str) -> Result<Sqlite> {
        let is_plain = !path.starts_with("file:") && path != ":memory:";
        if is_plain && !path.is_empty() && !Path::new(path).exists() {
            return Err(Error::Absent(format!("no such file: {path}")));
        }
        Sqlite::open_with(path, OpenFlags::empty())
    }

    /// Turns off the cache of recently read values: every read goes to the file.
    #[must_use]
    pub fn without_memory(self) -> Sqlite {
        self.recent.borrow_mut().stop();
        self
    }

    /// Limits the pages that the connection keeps in memory; SQLite's own limit is 2 MB.
    ///
    /// # Errors
    /// `Engine`.
    pub fn with_page_cache(self, bytes: u32) -> Result<Sqlite> {
        let kib = -i64::from(bytes >> 10);
        let set = self.connection.pragma_update(None, "cache_size", kib);
        set.map_err(failed("limit the page cache"))?;
        Ok(self)
    }

    fn open_with(path: &str, more: OpenFlags) -> Result<Sqlite> {
        if path.is_empty() {
            return Err(Error::usage("found \"sqlite:\", expected a path after it"));
        }
        if path.contains('?') && !path.starts_with("file:") && !Path::new(path).exists() {
            return Err(Error::usage(format!(
                "found \"?\" in the path {path}, expected a path alone: SQLite's URL takes no parameters"
            )));
        }
        let doing = format!("open {path}");
        let failed = |error| unopened(path, &doing, error);
        let connection = connect(path, more | OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        // A file created by another program keeps its journal mode.
        let tables: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(failed)?;
        let set_up = match tables == 0 && more.contains(OpenFlags::SQLITE_OPEN_CREATE) {
            true => "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;",
            false => "PRAGMA synchronous = FULL;",
        };
        match connection.execute_batch(set_up) {
            Ok(()) => {}
            // A read-only file is opened as it is.
            Err(error) if code(&error) == Some(ErrorCode::ReadOnly) => {}
            Err(error) => return Err(failed(error)),
        }
        let recent = RefCell::new(Recent::new());
        Ok(Sqlite { recent, connection, texts: RefCell::new(None) })
    }

    /// Limits the file to this many pages of 4 KiB, for hosts that share a disk.
    ///
    /// # Errors
    /// `Engine`.
    pub fn limit_pages(&self, pages: u32) -> Result {
        let limit = self.connection.pragma_update(None, "max_page_count", pages);
        limit.map_err(failed("limit the file"))
    }

    /// The table of notes is created with the first note: a file that is only read stays unchanged.
    fn has_notes(&self) -> Result<bool> {
        self.has_table("regauge_notes")
    }

    fn find_table(&self, name: &str) -> Result<bool> {
        let sql = "SELECT 1 FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view')";
        let mut find = self.connection.prepare_cached(sql).map_err(failed("look for a table"))?;
        find.exists([name]).map_err(failed("look for a table"))
    }

    fn check_columns(&self, layout: &Layout) -> Result {
        if !self.has_table(&layout.table)? {
            return Err(Error::usage(format!("the database has no table {}", layout.table)));
        }
        let sql = format!("SELECT name FROM pragma_table_info({})", literal(&layout.table));
        let mut list = self.connection.prepare(&sql).map_err(failed("look at a table"))?;
        let names: Vec<String> = list
            .query_map([], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(failed("look at a table"))?;
        for column in [&layout.key, &layout.value] {
            if !names.contains(column) {
                return Err(Error::usage(format!(
                    "table {} has no column {column}, but {}",
                    layout.table,
                    names.join(", ")
                )));
            }
        }
        let (table, key) = (literal(&layout.table), literal(&layout.key));
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM pragma_index_list({table}) AS one \
             WHERE one.\"unique\" AND NOT one.partial \
             AND (SELECT count(*) FROM pragma_index_info(one.name)) = 1 \
             AND (SELECT name FROM pragma_index_info(one.name)) = {key}) \
             OR ((SELECT count(*) FROM pragma_table_info({table}) WHERE pk > 0) = 1 \
             AND EXISTS (SELECT 1 FROM pragma_table_info({table}) WHERE pk = 1 AND name = {key}))"
        );
        let unique: bool = self
            .connection
            .query_row(&sql, [], |row| row.get(0))
            .map_err(failed("look at a table"))?;
        match unique {
            true => Ok(()),
            false => Err(Error::usage(format!(
                "table {}: column {} is not unique, so it cannot be a key; make a unique index on it",
                layout.table, layout.key
            ))),
        }
    }

    fn texts(&self, layout: &Layout) -> Arc<Texts> {
        let mut held = self.texts.borrow_mut();
        match &*held {
            Some(texts) if texts.layout == *layout => Arc::clone(texts),
            _ => Arc::clone(held.insert(Arc::new(Texts::new(layout)))),
        }
    }

    fn writing(&self, doing: &str) -> Result<Writing<'_>> {
        Writing::begin(&self.connection).map_err(failed(doing))
    }

    fn change(&self, layout: &Layout, (key, value): &Change<'_>) -> Result {
        let doing = || format!("change {}", shown(key));
        let bound = Key::new(layout, key)?;
        match value {
            Some(value) => {
                let texts = self.texts(layout);
                let put = self.connection.prepare_cached(&texts.put);
                let changed = put
                    .and_then(|mut put| put.execute((bound, Stored::new(layout, value))))
                    .map_err(|error| failed(&doing())(error))?;
                if changed == 0 {
                    return Err(Error::usage(format!(
                        "key {}: the collation of column {} equates the key with another one of \
                         table {}",
                        shown(key),
                        layout.key,
                        layout.table
                    )));
                }
            }
            None => {
                self.remove(layout, &bound).map_err(|error| failed(&doing())(error))?;
            }
        }
        Ok(())
    }

    fn remove(&self, layout: &Layout, key: &Key<'_>) -> rusqlite::Result<usize> {
        self.connection.prepare_cached(&self.texts(layout).delete)?.execute([key])
    }

    fn swap_one(
        &self,
        layout: &Layout,
        key: &[u8],
        seen: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool> {
        let doing = format!("change {}", shown(key));
        let bound = Key::new(layout, key)?;
        let (table, key_name, value_name) = quoted(layout);
        let same = same(layout);
        // An adopted column may hold text where it is compared with bytes.
        let is = format!("CAST({value_name} AS BLOB) = CAST(?2 AS BLOB)");
        let done = match (seen, new) {
            (Some(seen), Some(new)) => {
                let sql = format!("UPDATE {table} SET {value_name} = ?3 WHERE {same} AND {is}");
                let mut update = self.connection.prepare_cached(&sql).map_err(failed(&doing))?;
                update.execute((bound, Stored::new(layout, seen), Stored::new(layout, new)))
            }
            (Some(seen), None) => {
                let sql = format!("DELETE FROM {table} WHERE {same} AND {is}");
                let mut delete = self.connection.prepare_cached(&sql).map_err(failed(&doing))?;
                delete.execute((bound, Stored::new(layout, seen)))
            }
            (None, Some(new)) => {
                let sql = format!(
                    "INSERT INTO {table} ({key_name}, {value_name}) VALUES (?1, ?2) \
                     ON CONFLICT ({key_name}) DO NOTHING"
                );
                let mut insert = self.connection.prepare_cached(&sql).map_err(failed(&doing))?;
                insert.execute((bound, Stored::new(layout, new)))
            }
            (None, None) => return Ok(!self.exists(layout, key)?),
        };
        Ok(done.map_err(failed(&doing))? == 1)
    }

    fn select(
        &self,
        layout: &Layout,
        columns: &str,
        range: &Range,
        order: Order,
        limit: usize,
        each: &mut dyn FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result {
        const DOING: &str = "read a range";
        let ((table, key_name, value_name), exact) = (quoted(layout), exact(layout));
        let Some((from, to)) = Key::ends(layout, range, Key::end)? else { return Ok(()) };
        // Conditions that are always true would keep SQLite from using its index.
        let mut conditions = String::new();
        if from.is_some() {
            conditions += &format!(" AND {exact} >= ?1");
        }
        if to.is_some() {
            conditions += &format!(" AND {exact} < ?2");
        }
        let direction = if order == Order::Ascending { "ASC" } else { "DESC" };
        let sql = format!(
            "SELECT {columns} FROM {table} WHERE {key_name} IS NOT NULL AND {value_name} IS NOT NULL{conditions} \
             ORDER BY {exact} {direction} LIMIT ?3"
        );
        let mut select = self.connection.prepare_cached(&sql).map_err(failed(DOING))?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut bind = || -> rusqlite::Result<()> {
            if let Some(from) = &from {
                select.raw_bind_parameter(1, from)?;
            }
            if let Some(to) = &to {
                select.raw_bind_parameter(2, to)?;
            }
            select.raw_bind_parameter(3, limit)
        };
        bind().map_err(failed(DOING))?;
        let mut rows = select.raw_query();
        while let Some(row) = rows.next().map_err(failed(DOING))? {
            if !each(row)? {
                break;
            }
        }
        Ok(())
    }
}

impl Engine for Sqlite {
    fn name(&self) -> String {
        format!("SQLite {}", super::sqlite_version())
    }

    fn warning(&self) -> Option<String> {
        writer::warning(std::path::Path::new(self.connection.path()?))
    }

    fn is_atomic(&self) -> bool {
        true
    }

    /// In memory, or in a file without a name: <https://sqlite.org/inmemorydb.html>.
    fn is_temporary(&self) -> bool {
        self.connection.path().is_none_or(str::is_empty)
    }

    fn sync_each_change(&self, each: bool) -> Result {
        let doing = "choose when to sync";
        let journal: String = self
            .connection
            .query_row("PRAGMA journal_mode", [], |row| row.get(0))
            .map_err(failed(doing))?;
        // Without syncing, the file stays intact only in WAL mode.
        let level = if each || journal != "wal" { "FULL" } else { "NORMAL" };
        self.connection.pragma_update(None, "synchronous", level).map_err(failed(doing))
    }

    fn has_table(&self, name: &str) -> Result<bool> {
        self.find_table(name)
    }

    fn check(&self, layout: &Layout) -> Result {
        self.check_columns(layout)
    }

    fn create(&self, layout: &Layout) -> Result {
        let doing = format!("make table {}", layout.table);
        let transaction = self.writing(&doing)?;
        self.connection.execute_batch(&table_of(layout)).map_err(failed(&doing))?;
        transaction.commit().map_err(failed(&doing))
    }

    fn drop_table(&self, layout: &Layout) -> Result {
        let doing = format!("remove table {}", layout.table);
        let (table, view) = (identifier(&layout.table), identifier(&text_view(layout)));
        let transaction = self.writing(&doing)?;
        let sql = format!("DROP VIEW IF EXISTS {view}; DROP TABLE IF EXISTS {table}");
        self.connection.execute_batch(&sql).map_err(failed(&doing))?;
        transaction.commit().map_err(failed(&doing))
    }

    fn create_noted(&self, layout: &Layout, name: &str, note: &[u8]) -> Result {
        let doing = format!("make table {}", layout.table);
        let transaction = self.writing(&doing)?;
        let make = || -> rusqlite::Result<usize> {
            self.connection.execute_batch(&table_of(layout))?;
            self.connection.execute_batch(NOTES)?;
            let sql = "INSERT INTO regauge_notes VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING";
            self.connection.execute(sql, (name, note))
        };
        make().map_err(failed(&doing))?;
        transaction.commit().map_err(failed(&doing))
    }

    fn get(&self, layout: &Layout, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let doing = "read a value";
        let bound = Key::new(layout, key)?;
        let mut recent = self.recent.borrow_mut();
        let before = recent.now(layout);
        if before.is_some()
            && let Some(value) = recent.get(key)
        {
            return Ok(Some(value));
        }
        let texts = self.texts(layout);
        let mut select = self.connection.prepare_cached(&texts.get).map_err(failed(doing))?;
        let found = select
            .query_row([bound], |row| Ok(stored_bytes(layout, row.get_ref(0)?)))
            .optional()
            .map_err(failed(doing))?;
        drop(select);
        recent.look(&self.connection);
        if let (Some(before), Some(value)) = (before, &found) {
            recent.keep(before, key, value);
        }
        Ok(found)
    }

    fn exists(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        let doing = "look for a key";
        let ((table, _, value), same) = (quoted(layout), same(layout));
        let bound = Key::new(layout, key)?;
        let sql = format!("SELECT 1 FROM {table} WHERE {same} AND {value} IS NOT NULL");
        let mut select = self.connection.prepare_cached(&sql).map_err(failed(doing))?;
        select.exists([bound]).map_err(failed(doing))
    }

    fn apply(&self, layout: &Layout, changes: &[Change<'_>]) -> Result {
        // A single statement is a transaction of its own.
        if let [one] = changes {
            return self.change(layout, one);
        }
        let transaction = self.writing("change values")?;
        for one in changes {
            self.change(layout, one)?;
        }
        transaction.commit().map_err(failed("change values"))
    }

    fn swap(
        &self,
        layout: &Layout,
        key: &[u8],
        seen: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool> {
        self.swap_one(layout, key, seen, new)
    }

    fn swap_many(&self, layout: &Layout, swaps: &[(&[u8], &[u8], &[u8])]) -> Result<Vec<bool>> {
        let transaction = self.writing("change values")?;
        let one = |&(key, seen, new): &_| self.swap_one(layout, key, Some(seen), Some(new));
        let done: Vec<bool> = swaps.iter().map(one).collect::<Result<_>>()?;
        transaction.commit().map_err(failed("change values"))?;
        Ok(done)
    }

    fn delete(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        let bound = Key::new(layout, key)?;
        let doing = format!("delete {}", shown(key));
        Ok(self.remove(layout, &bound).map_err(failed(&doing))? > 0)
    }

    fn page(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Pair>> {
        let (_, key, value) = quoted(layout);
        let mut pairs = Vec::new();
        let mut bytes = 0;
        self.select(layout, &format!("{key}, {value}"), range, order, limit, &mut |row| {
            let key = key_bytes(layout, row.get_ref(0).map_err(failed("read a key"))?)?;
            let value = stored_bytes(layout, row.get_ref(1).map_err(failed("read a value"))?);
            bytes += value.len();
            pairs.push((key, value));
            Ok(bytes < PAGE_BYTES)
        })?;
        Ok(pairs)
    }

    fn keys(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>> {
        let (_, key, _) = quoted(layout);
        let mut keys = Vec::new();
        self.select(layout, &key, range, order, limit, &mut |row| {
            keys.push(key_bytes(layout, row.get_ref(0).map_err(failed("read a key"))?)?);
            Ok(true)
        })?;
        Ok(keys)
    }

    fn keys_by_age(
        &self,
        layout: &Layout,
        after: Option<i64>,
        order: Order,
        limit: usize,
    ) -> Result<Vec<(i64, Vec<u8>)>> {
        const DOING: &str = "read keys by age";
        let (table, key, value) = quoted(layout);
        let (first, above, direction) = match order {
            Order::Ascending => (i64::MIN, ">", "ASC"),
            Order::Descending => (i64::MAX, "<", "DESC"),
        };
        // A row keeps its number while its value is replaced.
        let sql = format!(
            "SELECT rowid, {key} FROM {table} WHERE rowid {above} ?1 AND {key} IS NOT NULL \
             AND {value} IS NOT NULL ORDER BY rowid {direction} LIMIT ?2"
        );
        let mut select = self.connection.prepare_cached(&sql).map_err(failed(DOING))?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = select.query((after.unwrap_or(first), limit)).map_err(failed(DOING))?;
        let mut keys = Vec::new();
        while let Some(row) = rows.next().map_err(failed(DOING))? {
            let key = key_bytes(layout, row.get_ref(1).map_err(failed(DOING))?)?;
            keys.push((row.get(0).map_err(failed(DOING))?, key));
        }
        Ok(keys)
    }

    fn begin(&self) -> Result {
        // What it reads now may be its own, which the file does not show.
        self.recent.borrow_mut().stop();
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(failed("begin a transaction"))
    }

    fn end(&self, commit: bool) -> Result {
        let end = if commit { "COMMIT" } else { "ROLLBACK" };
        self.connection.execute_batch(end).map_err(failed("end a transaction"))
    }

    fn count(&self, layout: &Layout) -> Result<(u64, u64)> {
        let (table, key, value) = quoted(layout);
        let sql = format!(
            "SELECT count(*), coalesce(sum(length(CAST({value} AS BLOB))), 0) FROM {table} \
             WHERE {key} IS NOT NULL AND {value} IS NOT NULL"
        );
        let numbers: (i64, i64) = self
            .connection
            .query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(failed("count the values"))?;
        Ok((numbers.0.unsigned_abs(), numbers.1.unsigned_abs()))
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        if !self.has_notes()? {
            return Ok(None);
        }
        let sql = "SELECT note FROM regauge_notes WHERE name = ?1";
        let mut select = self.connection.prepare_cached(sql).map_err(failed("read a note"))?;
        select.query_row([name], |row| row.get(0)).optional().map_err(failed("read a note"))
    }

    fn set_note(&self, name: &str, note: Option<&[u8]>) -> Result {
        let doing = format!("keep the note {name}");
        self.connection.execute_batch(NOTES).map_err(failed(&doing))?;
        let done = match note {
            Some(note) => self.connection.execute(
                "INSERT INTO regauge_notes VALUES (?1, ?2) \
                 ON CONFLICT (name) DO UPDATE SET note = excluded.note",
                (name, note),
            ),
            None => self.connection.execute("DELETE FROM regauge_notes WHERE name = ?1", [name]),
        };
        done.map_err(failed(&doing))?;
        Ok(())
    }

    fn notes(&self, prefix: &str) -> Result<Vec<String>> {
        if !self.has_notes()? {
            return Ok(Vec::new());
        }
        let sql = "SELECT name FROM regauge_notes ORDER BY name";
        let mut select = self.connection.prepare_cached(sql).map_err(failed("read the notes"))?;
        let names: Vec<String> = select
            .query_map([], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(failed("read the notes"))?;
        Ok(names.into_iter().filter(|name| name.starts_with(prefix)).collect())
    }
}

fn code(error: &rusqlite::Error) -> Option<ErrorCode> {
    error.sqlite_error_code()
}

/// Returns the database's message, with what to do if known.
fn failed(doing: &str) -> impl Fn(rusqlite::Error) -> Error + '_ {
    move |error| {
        if code(&error) == Some(ErrorCode::DiskFull) {
            let message = "the disk is full; nothing was changed".to_owned();
            return Error::Full { doing: doing.to_owned(), message };
        }
        let passing =
            matches!(code(&error), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked));
        let message = match code(&error) {
            Some(ErrorCode::NotADatabase) => "the file is not an SQLite database".to_owned(),
            Some(ErrorCode::ReadOnly) => "the file is read-only".to_owned(),
            Some(ErrorCode::DatabaseBusy) => {
                format!("another writer held the file for {} s", PATIENCE.as_secs())
            }
            _ => error.to_string(),
        };
        Error::Engine { doing: doing.to_owned(), message, passing }
    }
}
