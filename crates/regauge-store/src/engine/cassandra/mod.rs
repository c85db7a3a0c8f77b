//! Cassandra and ScyllaDB.
//!
//! A collection is a table whose rows are spread over partitions, and sorted by key within each:
//!
//! ```cql
//! CREATE TABLE objects (bucket blob, key blob, bytes bigint, value blob,
//!                       PRIMARY KEY ((bucket), key))
//! ```
//!
//! `partitions` determines which key is where, `walk` reads ranges across partitions in order,
//! `adopted` serves tables created by other programs, and `rows` reads and replaces one column of
//! any table.
//!
//! Every change is acknowledged by a quorum of the local data centre, and every read comes from
//! one. A conditional change is a lightweight transaction. There are no other transactions: a batch
//! of up to 40 KiB is a logged one, which is eventually applied as a whole, though not at one
//! instant; a larger one is many separate changes.

mod adopted;
mod cql;
mod own;
mod partitions;
mod primary;
pub mod rows;
mod url;
mod walk;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use scylla::value::CqlValue;

use self::adopted::Adopted;
use self::cql::{Cql, server_name, unreadable};
use self::partitions::Partition;
use self::url::Place;
use super::runtime::{CONNECT_TIMEOUT, Runtime};
use super::{Change, Engine, KeyKind, Layout, Order, Pair, Range, shown_url};
use crate::error::{Error, Result, shown};

/// The maximum size of a value in a row of its own. A server refuses a change larger than half a
/// segment of its commit log (16 MiB, or 4 if memory is small), and its documentation advises 1 MB.
const VALUE_LIMIT: usize = 1 << 20;
/// The longest key: its length is a 16-bit number.
const KEY_BYTES_MAX: usize = u16::MAX as usize;
/// Maximum number of requests in flight.
const AT_ONCE: usize = 32;
/// Conditional changes at a time. Those of a series have one partition, where the server takes one after
/// the other: more at once gain little (400 of them took 4.3 s one at a time, and 3.8 s by 32), and those
/// that wait run into the server's time limit, which leaves open whether they were done.
const SWAPS_AT_ONCE: usize = 4;

/// How a table was created.
#[derive(Clone, Debug)]
enum Shape {
    /// By regauge, with this many numbered partitions.
    Own(u16),
    /// By another program.
    Adopted(Adopted),
}

/// A Cassandra or ScyllaDB keyspace.
pub struct Cassandra {
    runtime: Runtime,
    cql: Cql,
    place: Place,
    name: String,
    shapes: Mutex<HashMap<String, Shape>>,
    /// Partitions of series that are listed in the partition table, each with the largest size
    /// class recorded there; and regauge's own tables known to exist.
    known: Mutex<HashMap<(String, Vec<u8>), u8>>,
    /// The keys of an adopted table during a walk.
    walked: Mutex<Option<adopted::Walked>>,
}

impl Cassandra {
    /// Connects to the keyspace of a URL:
    /// `cassandra://[user:password@]host[:port][,host…]/keyspace`, and creates the keyspace if
    /// `?replication=N` gives its replication factor.
    ///
    /// # Errors
    /// `Usage` for an invalid URL, or a missing keyspace; `Engine` if no server answers.
    pub fn open(url: &str) -> Result<Cassandra> {
        let place = Place::parse(url)?;
        let doing = format!("open {}", shown_url(url));
        let runtime = Runtime::new()?;
        let (cql, name) = runtime.wait(&doing, CONNECT_TIMEOUT * 2, async {
            let cql = Cql::open(&place, &doing).await?;
            let name = server_name(&cql, &doing).await?;
            let sql = "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?";
            let found = cql.read(&doing, sql, &[text(&place.keyspace)]).await?;
            // One that is listed but unknown is half-created, as a table may be.
            let notes = format!("{}.regauge_notes", quoted(&place.keyspace));
            let known = found.rows_num() > 0
                && (place.replication.is_none() || cql.knows(&doing, &notes).await?);
            match (known, place.replication) {
                (false, None) => {
                    return Err(Error::usage(format!(
                        "there is no keyspace {}; add ?replication=N to the URL to create it, N being \
                         how many nodes keep each value",
                        place.keyspace
                    )));
                }
                (false, Some(copies)) => {
                    let sql = format!(
                        "CREATE KEYSPACE IF NOT EXISTS {} WITH replication = \
                         {{'class': 'NetworkTopologyStrategy', 'replication_factor': {copies}}}",
                        quoted(&place.keyspace)
                    );
                    cql.define(&doing, &sql).await?;
                }
                _ => {}
            }
            Ok((cql, name))
        })?;
        Ok(Cassandra {
            runtime,
            cql,
            place,
            name,
            shapes: Mutex::default(),
            known: Mutex::default(),
            walked: Mutex::default(),
        })
    }

    /// Removes the keyspace with everything in it.
    ///
    /// # Errors
    /// `Engine`.
    pub fn drop_keyspace(&self) -> Result {
        let doing = "drop the keyspace";
        let sql = format!("DROP KEYSPACE IF EXISTS {}", quoted(&self.place.keyspace));
        self.wait(doing, self.cql.define(doing, &sql))
    }

    fn wait<T>(&self, doing: &str, work: impl Future<Output = Result<T>>) -> Result<T> {
        self.runtime.wait(doing, self.place.timeout, work)
    }

    /// Returns the name of a table in CQL.
    fn table(&self, name: &str) -> String {
        format!("{}.{}", quoted(&self.place.keyspace), quoted(name))
    }

    async fn find_table(&self, name: &str) -> Result<bool> {
        let doing = "look for a table";
        for of in ["table", "view"] {
            let sql = format!("SELECT {of}_name FROM system_schema.{of}s WHERE keyspace_name = ?");
            let found = self.cql.read(doing, &sql, &[text(&self.place.keyspace)]).await?;
            let names = found.rows::<(&str,)>().map_err(|error| unreadable(doing, &error))?;
            for one in names {
                let (one,) = one.map_err(|error| unreadable(doing, &error))?;
                if one.eq_ignore_ascii_case(name) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Returns how a table was created: regauge notes the number of partitions of its own tables.
    async fn shape(&self, layout: &Layout) -> Result<Shape> {
        let name = format!("{}/{}/{}", layout.table, layout.key, layout.value);
        if let Some(shape) = locked(&self.shapes).get(&name) {
            return Ok(shape.clone());
        }
        let shape = match self.read_note(&buckets_note(&layout.table)).await? {
            Some(note) => {
                let number = std::str::from_utf8(&note).ok().and_then(|text| text.parse().ok());
                Shape::Own(number.ok_or_else(|| {
                    Error::usage(format!(
                        "the note {} holds no number",
                        buckets_note(&layout.table)
                    ))
                })?)
            }
            None => Shape::Adopted(self.look_at(layout).await?),
        };
        locked(&self.shapes).insert(name, shape.clone());
        Ok(shape)
    }

    async fn read_note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let doing = "read a note";
        if !self.has_notes().await? {
            return Ok(None);
        }
        let sql = format!("SELECT note FROM {} WHERE name = ?", self.table("regauge_notes"));
        let found = self.cql.read(doing, &sql, &[text(name)]).await?;
        let row = found.maybe_first_row::<(Vec<u8>,)>();
        Ok(row.map_err(|error| unreadable(doing, &error))?.map(|(note,)| note))
    }

    /// The table of notes is created with the first note.
    async fn has_notes(&self) -> Result<bool> {
        self.has_own("regauge_notes").await
    }

    /// Returns whether one of regauge's own tables exists; once it does, this is not asked again.
    async fn has_own(&self, name: &str) -> Result<bool> {
        let mark = (name.to_owned(), Vec::new());
        if locked(&self.known).contains_key(&mark) {
            return Ok(true);
        }
        let found = self.find_table(name).await?
            && self.cql.knows("look for a table", &self.table(name)).await?;
        if found {
            locked(&self.known).insert(mark, 0);
        }
        Ok(found)
    }

    async fn swap_one(
        &self,
        layout: &Layout,
        swap: (&[u8], Option<&[u8]>, Option<&[u8]>),
    ) -> Result<bool> {
        match self.shape(layout).await? {
            Shape::Own(numbered) => self.swap_own(layout, numbered, swap).await,
            Shape::Adopted(adopted) => self.swap_adopted(layout, adopted, swap).await,
        }
    }

    async fn make_notes(&self, doing: &str) -> Result {
        if self.has_notes().await? {
            return Ok(());
        }
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS {} (name text PRIMARY KEY, note blob)",
            self.table("regauge_notes")
        );
        self.cql.define(doing, &sql).await
    }
}

impl Engine for Cassandra {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_atomic(&self) -> bool {
        false
    }

    fn value_limit(&self) -> Option<usize> {
        Some(VALUE_LIMIT)
    }

    fn has_table(&self, name: &str) -> Result<bool> {
        self.wait("look for a table", self.find_table(name))
    }

    fn check(&self, layout: &Layout) -> Result {
        self.wait("look at a table", async {
            match self.read_note(&buckets_note(&layout.table)).await? {
                Some(_) => Ok(()),
                None => self.look_at(layout).await.map(drop),
            }
        })
    }

    fn create(&self, layout: &Layout) -> Result {
        let doing = format!("make table {}", layout.table);
        self.wait(&doing, self.create_own(layout, &doing))
    }

    fn create_plain(&self, layout: &Layout) -> Result {
        let doing = format!("make table {}", layout.table);
        let key_type = match layout.key_kind {
            KeyKind::Bytes => "blob",
            KeyKind::Text => "text",
            KeyKind::Integer => "bigint",
        };
        let value_type = if layout.text { "text" } else { "blob" };
        let (table, key, value) =
            (self.table(&layout.table), quoted(&layout.key), quoted(&layout.value));
        let sql = format!(
            "CREATE TABLE IF NOT EXISTS {table} ({key} {key_type} PRIMARY KEY, {value} {value_type})"
        );
        self.wait(&doing, self.cql.define(&doing, &sql))
    }

    fn drop_table(&self, layout: &Layout) -> Result {
        let doing = format!("remove table {}", layout.table);
        let sql = format!("DROP TABLE IF EXISTS {}", self.table(&layout.table));
        self.wait(&doing, self.cql.define(&doing, &sql))?;
        locked(&self.shapes).clear();
        locked(&self.known).retain(|(table, _), _| *table != layout.table);
        self.wait(&doing, async {
            if self.has_own("regauge_partitions").await? {
                let table = self.table("regauge_partitions");
                let sql = format!("DELETE FROM {table} WHERE collection = ?");
                self.cql.write(&doing, &sql, &[text(&layout.table)]).await?;
            }
            Ok(())
        })?;
        self.set_note(&buckets_note(&layout.table), None)
    }

    fn get(&self, layout: &Layout, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.wait("read a value", async {
            match self.shape(layout).await? {
                Shape::Own(numbered) => self.get_own(layout, numbered, key).await,
                Shape::Adopted(adopted) => self.get_adopted(layout, adopted, key).await,
            }
        })
    }

    fn get_many(&self, layout: &Layout, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>> {
        self.wait("read values", async {
            match self.shape(layout).await? {
                Shape::Own(numbered) => {
                    let found = self.get_many_own(layout, numbered, keys).await?;
                    // A key may be requested twice.
                    Ok(keys.iter().map(|key| found.get(*key).cloned()).collect())
                }
                Shape::Adopted(adopted) => {
                    let work = keys.iter().map(|key| self.get_adopted(layout, adopted, key));
                    let work: Vec<_> = work.collect();
                    stream::iter(work).buffered(AT_ONCE).try_collect().await
                }
            }
        })
    }

    fn apply(&self, layout: &Layout, changes: &[Change<'_>]) -> Result {
        self.wait("change values", async {
            match self.shape(layout).await? {
                Shape::Own(numbered) => self.apply_own(layout, numbered, changes).await,
                Shape::Adopted(adopted) => self.apply_adopted(layout, adopted, changes).await,
            }
        })
    }

    fn swap(
        &self,
        layout: &Layout,
        key: &[u8],
        seen: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool> {
        self.wait("change a value", self.swap_one(layout, (key, seen, new)))
    }

    fn swap_many(&self, layout: &Layout, swaps: &[(&[u8], &[u8], &[u8])]) -> Result<Vec<bool>> {
        self.wait("change values", async {
            let work = swaps
                .iter()
                .map(|&(key, seen, new)| self.swap_one(layout, (key, Some(seen), Some(new))));
            let work: Vec<_> = work.collect();
            stream::iter(work).buffered(SWAPS_AT_ONCE).try_collect().await
        })
    }

    fn delete(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        let doing = format!("delete {}", shown(key));
        self.wait(&doing, async {
            match self.shape(layout).await? {
                Shape::Own(numbered) => {
                    check_key(key)?;
                    let sql = format!(
                        "DELETE FROM {} WHERE bucket = ? AND {} = ? IF EXISTS",
                        self.table(&layout.table),
                        quoted(&layout.key)
                    );
                    let bucket = CqlValue::Blob(Partition::of(key, numbered).bytes());
                    let values = [bucket, CqlValue::Blob(key.to_vec())];
                    self.cql.write_if(&doing, &sql, &values).await
                }
                Shape::Adopted(adopted) => self.delete_adopted(layout, adopted, key).await,
            }
        })
    }

    fn page(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Pair>> {
        self.wait("read a range", async {
            match self.shape(layout).await? {
                Shape::Own(numbered) => {
                    self.page_own(layout, numbered, range, (order, limit)).await
                }
                Shape::Adopted(adopted) => {
                    self.page_adopted(layout, adopted, range, (order, limit)).await
                }
            }
        })
    }

    fn keys(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>> {
        self.wait("read a range", async {
            match self.shape(layout).await? {
                Shape::Own(numbered) => {
                    let found =
                        self.find_own(layout, numbered, range, (order, limit), u64::MAX).await?;
                    Ok(found.into_iter().map(|one| one.key).collect())
                }
                Shape::Adopted(adopted) => {
                    self.keys_adopted(layout, adopted, range, (order, limit)).await
                }
            }
        })
    }

    fn count(&self, layout: &Layout) -> Result<(u64, u64)> {
        self.wait("count the values", async {
            match self.shape(layout).await? {
                Shape::Own(numbered) => self.count_own(layout, numbered).await,
                Shape::Adopted(adopted) => self.count_adopted(layout, adopted).await,
            }
        })
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.wait("read a note", self.read_note(name))
    }

    fn set_note(&self, name: &str, note: Option<&[u8]>) -> Result {
        let doing = format!("keep the note {name}");
        self.wait(&doing, async {
            self.make_notes(&doing).await?;
            let table = self.table("regauge_notes");
            match note {
                Some(note) => {
                    let sql = format!("INSERT INTO {table} (name, note) VALUES (?, ?)");
                    let values = [text(name), CqlValue::Blob(note.to_vec())];
                    self.cql.write(&doing, &sql, &values).await
                }
                None => {
                    let sql = format!("DELETE FROM {table} WHERE name = ?");
                    self.cql.write(&doing, &sql, &[text(name)]).await
                }
            }
        })
    }

    fn notes(&self, prefix: &str) -> Result<Vec<String>> {
        let doing = "read the notes";
        self.wait(doing, async {
            if !self.has_notes().await? {
                return Ok(Vec::new());
            }
            let sql = format!("SELECT name FROM {}", self.table("regauge_notes"));
            let found = self.cql.read(doing, &sql, &[]).await?;
            let rows = found.rows::<(String,)>().map_err(|error| unreadable(doing, &error))?;
            let mut names = Vec::new();
            for row in rows {
                let (name,) = row.map_err(|error| unreadable(doing, &error))?;
                if name.starts_with(prefix) {
                    names.push(name);
                }
            }
            names.sort();
            Ok(names)
        })
    }
}

/// Runs all of these, several at a time.
async fn run(work: impl Iterator<Item = impl Future<Output = Result>>) -> Result {
    let work: Vec<_> = work.collect();
    stream::iter(work).buffer_unordered(AT_ONCE).try_collect().await
}

fn check_key(key: &[u8]) -> Result {
    match key.len() {
        0..=KEY_BYTES_MAX => Ok(()),
        length => Err(Error::usage(format!(
            "found a key of {length} bytes, expected at most {KEY_BYTES_MAX} with this database"
        ))),
    }
}

fn buckets_note(table: &str) -> String {
    format!("buckets/{table}")
}

fn locked<T>(one: &Mutex<T>) -> MutexGuard<'_, T> {
    one.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn text(text: &str) -> CqlValue {
    CqlValue::Text(text.to_owned())
}

/// Quotes a name for CQL, whatever it contains.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
