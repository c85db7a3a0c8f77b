//! MongoDB, and servers that speak its protocol (FerretDB).
//!
//! A collection is a collection of documents `{_id: key, value: Binary}`: keys as described in
//! `keys`, values in BSON's own binary type. The driver is the official one.
//!
//! Writes are acknowledged by the majority of a replica set, including their journals, unless the
//! URL says otherwise. Batches are transactions if the server is a replica set or a cluster; a
//! standalone server has none, and neither has FerretDB.
//!
//! *Retries.* The driver repeats a read once, and on a replica set also a write, which it numbers
//! so that the server applies it only once. Commands that hold a whole batch are never repeated.
//! After a second of idle time a ping precedes a write, so that it does not go to a dead
//! connection.

mod changes;
mod connect;
pub mod documents;
mod fields;
mod ids;
mod keys;
mod ttl;

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use mongodb::bson::{Bson, Document, RawDocument, RawDocumentBuf, doc};
use mongodb::options::IndexOptions;
use mongodb::{Collection, Cursor, Database, IndexModel};

use self::fields::{
    NAMESPACE_EXISTS, Server, binary, bytes_of, code, commands, failed, field, numbers, only,
    unreadable, with_value,
};
use self::keys::Form;
use super::runtime::Runtime;
use super::{Change, Engine, Layout, Order, Pair, Range};
use crate::error::{Error, Result, shown};

/// The maximum size of a value in a document of its own: a quarter of the 16 MB limit for
/// documents, so that a page or a message of several stays small.
const VALUE_LIMIT: usize = 4 << 20;
/// Keys per request.
const ASKED: usize = 1_000;
/// Documents that are examined to find the fields of a collection.
const LOOKED_AT: i64 = 20;
/// Maximum number of conditional changes in flight.
const AT_ONCE: usize = 16;

/// Idle time after which the connection is checked before a write.
const IDLE: Duration = Duration::from_secs(1);

/// A MongoDB database.
pub struct MongoDb {
    runtime: Runtime,
    database: Database,
    server: Server,
    /// Whether the server has transactions.
    transactions: bool,
    /// The write concern of a command.
    write_concern: Document,
    /// When the server last answered.
    answered: Mutex<Instant>,
    /// How collections represent their keys, as far as their first document has shown.
    forms: Mutex<HashMap<String, Form>>,
    /// Timeout of a call.
    timeout: Duration,
}

impl MongoDb {
    /// Waits for a read.
    fn ask<T>(
        &self,
        doing: &str,
        work: impl Future<Output = mongodb::error::Result<T>>,
    ) -> Result<T> {
        self.waited(doing, async { work.await.map_err(failed(doing, true)) })
    }

    fn waited<T>(&self, doing: &str, work: impl Future<Output = Result<T>>) -> Result<T> {
        let result = self.runtime.wait(doing, self.timeout, work);
        if result.is_ok() {
            *self.answered.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Instant::now();
        }
        result
    }

    /// Waits for a write whose caller interprets the errors itself.
    fn written<T>(&self, doing: &str, work: impl Future<Output = Result<T>>) -> Result<T> {
        let answered = *self.answered.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.waited(doing, async {
            if answered.elapsed() > IDLE {
                // The first ping detects a dead connection, and the second opens a new one.
                let ping = || self.database.run_command(doc! { "ping": 1 });
                if ping().await.is_err() {
                    ping().await.map_err(failed(doing, true))?;
                }
            }
            work.await
        })
    }

    /// Waits for a write.
    fn tell<T>(
        &self,
        doing: &str,
        work: impl Future<Output = mongodb::error::Result<T>>,
    ) -> Result<T> {
        self.written(doing, async { work.await.map_err(failed(doing, false)) })
    }

    fn collection(&self, layout: &Layout) -> Collection<RawDocumentBuf> {
        self.database.collection(&layout.table)
    }

    fn notes_collection(&self) -> Collection<RawDocumentBuf> {
        self.database.collection("regauge_notes")
    }

    /// Returns how the collection represents its keys: if unknown, its first document shows it.
    fn form(&self, layout: &Layout) -> Result<Form> {
        let known = || self.forms.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(form) = known().get(&layout.table) {
            return Ok(*form);
        }
        let open = Form::of(layout.key_kind, None);
        if open != Form::Text {
            return Ok(open);
        }
        let first = self.ask("look at a collection", async {
            self.collection(layout).find_one(doc! {}).projection(only(&layout.key)).await
        })?;
        let Some(first) = first else { return Ok(open) };
        let form = Form::of(layout.key_kind, field(&first, &layout.key)?);
        known().insert(layout.table.clone(), form);
        Ok(form)
    }

    /// Returns the document of a key, if it has a value.
    fn of_key(&self, layout: &Layout, key: &[u8]) -> Result<Document> {
        let mut filter = with_value(layout);
        filter.insert(&layout.key, self.form(layout)?.field(layout, key)?);
        Ok(filter)
    }

    /// Passes the documents of a range to `each`, which returns whether to continue.
    fn walk(
        &self,
        layout: &Layout,
        range: &Range,
        (order, limit): (Order, usize),
        values: bool,
        each: &mut dyn FnMut(Vec<u8>, &RawDocument) -> Result<bool>,
    ) -> Result {
        const DOING: &str = "read a range";
        let form = self.form(layout)?;
        let mut filter = with_value(layout);
        let mut ends = Document::new();
        if let Some(from) = &range.from {
            let Some(from) = form.end(layout, from)? else { return Ok(()) };
            ends.insert("$gte", from);
        }
        if let Some(to) = &range.to
            && let Some(to) = form.end(layout, to)?
        {
            ends.insert("$lt", to);
        }
        if !ends.is_empty() {
            filter.insert(&layout.key, ends);
        }
        let mut fields = only(&layout.key);
        if values {
            fields.insert(&layout.value, 1);
        }
        let mut sort = Document::new();
        sort.insert(&layout.key, if order == Order::Ascending { 1 } else { -1 });
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.waited(DOING, async {
            let collection = self.collection(layout);
            let mut find = collection.find(filter).sort(sort).limit(limit);
            // Documents of regauge's own collections have exactly these two fields.
            if !(values && (&*layout.key, &*layout.value) == ("_id", "value")) {
                find = find.projection(fields);
            }
            let mut cursor = find.await.map_err(failed(DOING, true))?;
            while cursor.advance().await.map_err(failed(DOING, true))? {
                let document = cursor.current();
                let key = form.key(layout, field(document, &layout.key)?)?;
                if !each(key, document)? {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Counts values and bytes here, if the server cannot.
    fn count_here(&self, layout: &Layout) -> Result<(u64, u64)> {
        let (mut values, mut bytes) = (0, 0);
        let all = (Order::Ascending, usize::MAX);
        self.walk(layout, &Range::all(), all, true, &mut |_, document| {
            values += 1;
            let value = bytes_of(layout, field(document, &layout.value)?)?;
            bytes += value.map_or(0, |value| value.len()) as u64;
            Ok(true)
        })?;
        Ok((values, bytes))
    }
}

impl Engine for MongoDb {
    fn name(&self) -> String {
        self.server.name.clone()
    }

    fn is_atomic(&self) -> bool {
        self.transactions
    }

    fn value_limit(&self) -> Option<usize> {
        Some(VALUE_LIMIT)
    }

    fn key_column(&self) -> &'static str {
        "_id"
    }

    fn has_table(&self, name: &str) -> Result<bool> {
        let names = self
            .ask("list the collections", async { self.database.list_collection_names().await })?;
        Ok(names.iter().any(|one| one.eq_ignore_ascii_case(name)))
    }

    fn check(&self, layout: &Layout) -> Result {
        let doing = "look at a collection";
        let Layout { table, key, value, .. } = layout;
        let names = self.ask(doing, async { self.database.list_collection_names().await })?;
        if !names.contains(table) {
            return Err(Error::usage(format!("the database has no collection {table}")));
        }
        // Documents have no fixed schema: one with both fields is enough, and so is an empty
        // collection.
        let fields = self.ask(doing, async {
            let mut fields = BTreeSet::new();
            let mut cursor = self.collection(layout).find(doc! {}).limit(LOOKED_AT).await?;
            while cursor.advance().await? {
                let names = cursor.current().iter().filter_map(std::result::Result::ok);
                fields.extend(names.map(|(name, _)| name.as_str().to_owned()));
            }
            Ok(fields)
        })?;
        for name in [key, value] {
            let mut filter = Document::new();
            filter.insert(name, doc! { "$exists": true });
            let with = self.ask(doing, async { self.collection(layout).find_one(filter).await })?;
            if with.is_none() && !fields.is_empty() {
                return Err(Error::usage(format!(
                    "no document of collection {table} has a field {name}; the first have {}",
                    Vec::from_iter(fields).join(", ")
                )));
            }
        }
        if key == "_id" {
            return Ok(());
        }
        let indexes = self.ask(doing, async {
            let mut found = Vec::new();
            let mut cursor = self.collection(layout).list_indexes().await?;
            while cursor.advance().await? {
                found.push(cursor.deserialize_current()?);
            }
            Ok(found)
        })?;
        let serves = |one: &IndexModel| {
            let whole = |options: &IndexOptions| {
                options.unique == Some(true) && options.partial_filter_expression.is_none()
            };
            one.keys.len() == 1
                && one.keys.contains_key(key)
                && one.options.as_ref().is_some_and(whole)
        };
        match indexes.iter().any(serves) {
            true => Ok(()),
            false => Err(Error::usage(format!(
                "collection {table}: field {key} is not unique, so it cannot be a key; make a \
                 unique index on it"
            ))),
        }
    }

    fn create(&self, layout: &Layout) -> Result {
        let doing = format!("make collection {}", layout.table);
        self.tell(&doing, async {
            match self.database.create_collection(&layout.table).await {
                Err(error) if code(&error) == Some(NAMESPACE_EXISTS) => {}
                other => other?,
            }
            if layout.key != "_id" {
                let mut keys = Document::new();
                keys.insert(&layout.key, 1);
                let unique = IndexOptions::builder().unique(true).build();
                let index = IndexModel::builder().keys(keys).options(unique).build();
                self.collection(layout).create_index(index).await?;
            }
            Ok(())
        })
    }

    fn drop_table(&self, layout: &Layout) -> Result {
        let doing = format!("remove collection {}", layout.table);
        self.tell(&doing, async { self.collection(layout).drop().await })
    }

    fn get(&self, layout: &Layout, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let filter = self.of_key(layout, key)?;
        let found = self.ask("read a value", async {
            self.collection(layout).find_one(filter).projection(only(&layout.value)).await
        })?;
        match found {
            Some(document) => bytes_of(layout, field(&document, &layout.value)?),
            None => Ok(None),
        }
    }

    fn get_many(&self, layout: &Layout, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>> {
        const DOING: &str = "read values";
        let form = self.form(layout)?;
        let mut found: HashMap<Vec<u8>, Vec<u8>> = HashMap::with_capacity(keys.len());
        for some in keys.chunks(ASKED) {
            let asked = some.iter().map(|key| form.field(layout, key));
            let asked: Vec<Bson> = asked.collect::<Result<_>>()?;
            let mut filter = with_value(layout);
            filter.insert(&layout.key, doc! { "$in": asked });
            let mut fields = only(&layout.key);
            fields.insert(&layout.value, 1);
            self.waited(DOING, async {
                let collection = self.collection(layout);
                let find = collection.find(filter).projection(fields);
                let mut cursor: Cursor<RawDocumentBuf> = find.await.map_err(failed(DOING, true))?;
                while cursor.advance().await.map_err(failed(DOING, true))? {
                    let document = cursor.current();
                    let key = form.key(layout, field(document, &layout.key)?)?;
                    if let Some(value) = bytes_of(layout, field(document, &layout.value)?)? {
                        found.insert(key, value);
                    }
                }
                Ok(())
            })?;
        }
        // A key may be requested twice.
        Ok(keys.iter().map(|key| found.get(*key).cloned()).collect())
    }

    fn exists(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        let filter = self.of_key(layout, key)?;
        let found = self.ask("look for a key", async {
            self.collection(layout).find_one(filter).projection(only(&layout.key)).await
        })?;
        Ok(found.is_some())
    }

    fn apply(&self, layout: &Layout, changes: &[Change<'_>]) -> Result {
        let form = self.form(layout)?;
        let sorted;
        let changes = if self.server.locks {
            // Of two changes to a key, the last one stays the last.
            let mut all = changes.to_vec();
            all.sort_by_key(|(key, _)| *key);
            sorted = all;
            &sorted[..]
        } else {
            changes
        };
        // A single document is changed atomically in any case.
        let together = self.transactions && changes.len() > 1;
        self.written("change values", async {
            let inserted = match self.server.inserts {
                // Any other field may hold a key twice.
                Some(at_most) if layout.key == "_id" && !together => {
                    self.insert_new(layout, form, changes, at_most).await?
                }
                _ => 0,
            };
            let commands = commands(layout, form, &changes[inserted..], self.server.changes)?;
            match together {
                true => self.change_at_once(layout, commands).await,
                false => self.change(layout, commands, None).await,
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
        let form = self.form(layout)?;
        let work = self.swap_one(layout, form, (key, seen, new));
        self.written("change a value", work)
    }

    fn swap_many(&self, layout: &Layout, swaps: &[(&[u8], &[u8], &[u8])]) -> Result<Vec<bool>> {
        let form = self.form(layout)?;
        self.written("change values", async {
            let mut done = Vec::with_capacity(swaps.len());
            for some in swaps.chunks(AT_ONCE) {
                let work = some.iter().map(|&(key, seen, new)| {
                    self.swap_one(layout, form, (key, Some(seen), Some(new)))
                });
                done.extend(try_join_all(work).await?);
            }
            Ok(done)
        })
    }

    fn delete(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        let doing = format!("delete {}", shown(key));
        let mut filter = Document::new();
        filter.insert(&layout.key, self.form(layout)?.field(layout, key)?);
        let done = self.tell(&doing, async { self.collection(layout).delete_one(filter).await })?;
        Ok(done.deleted_count > 0)
    }

    fn page(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Pair>> {
        let mut pairs = Vec::new();
        let mut bytes = 0;
        self.walk(layout, range, (order, limit), true, &mut |key, document| {
            if let Some(value) = bytes_of(layout, field(document, &layout.value)?)? {
                bytes += value.len();
                pairs.push((key, value));
            }
            Ok(bytes < self.server.page_bytes)
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
        let mut keys = Vec::new();
        self.walk(layout, range, (order, limit), false, &mut |key, _| {
            keys.push(key);
            Ok(true)
        })?;
        Ok(keys)
    }

    fn count(&self, layout: &Layout) -> Result<(u64, u64)> {
        let size = doc! { "$binarySize": format!("${}", layout.value) };
        let sums = doc! { "_id": null, "values": { "$sum": 1 }, "bytes": { "$sum": size } };
        let steps = [doc! { "$match": with_value(layout) }, doc! { "$group": sums }];
        let counted = self.ask("count the values", async {
            match self.collection(layout).aggregate(steps).await {
                Ok(mut cursor) => match cursor.advance().await? {
                    true => Ok(Some(numbers(cursor.current()))),
                    false => Ok(Some(Some((0, 0)))),
                },
                // A server that cannot measure binaries, or a field that holds other types.
                Err(error) if code(&error).is_some() => Ok(None),
                Err(error) => Err(error),
            }
        })?;
        match counted.flatten() {
            // For Base64, the server counts characters.
            Some(numbers) if !layout.text => Ok(numbers),
            _ => self.count_here(layout),
        }
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let found = self.ask("read a note", async {
            self.notes_collection().find_one(doc! { "_id": name }).await
        })?;
        let note = found.as_ref().map(|one| one.get_binary("note").map(|note| note.bytes.to_vec()));
        note.transpose().map_err(|error| unreadable(&error))
    }

    fn set_note(&self, name: &str, note: Option<&[u8]>) -> Result {
        let doing = format!("keep the note {name}");
        self.tell(&doing, async {
            let notes = self.notes_collection();
            match note {
                Some(note) => {
                    let change = doc! { "$set": { "note": binary(note) } };
                    notes.update_one(doc! { "_id": name }, change).upsert(true).await?;
                }
                None => {
                    notes.delete_one(doc! { "_id": name }).await?;
                }
            }
            Ok(())
        })
    }

    fn notes(&self, prefix: &str) -> Result<Vec<String>> {
        let mut names = self.ask("read the notes", async {
            let mut names = Vec::new();
            let collection = self.notes_collection();
            let find = collection.find(doc! {}).projection(only("_id"));
            let mut cursor = find.await?;
            while cursor.advance().await? {
                if let Ok(name) = cursor.current().get_str("_id") {
                    names.push(name.to_owned());
                }
            }
            Ok(names)
        })?;
        names.retain(|name| name.starts_with(prefix));
        names.sort();
        Ok(names)
    }
}
