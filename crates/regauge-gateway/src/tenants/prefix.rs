//! One file for many tenants: every key and every note has the tenant's prefix.
//!
//! The prefix is the tenant's number in 8 bytes, big-endian. All prefixes have the same length, so
//! none is the beginning of another, and whatever key follows stays inside: a key is only ever
//! appended to the prefix, a range never extends beyond it, and a key returned without it is an
//! error, not an answer.

use std::sync::{Arc, Mutex, PoisonError};

use regauge_store::engine::{Change, Pair};
use regauge_store::{Engine, Error, Layout, Order, Range, Result};

/// Bytes of every prefix.
pub const PREFIX_BYTES: usize = 8;
/// Pages per count.
const PAGE: usize = 1_000;

type Open = dyn Fn() -> Result<Box<dyn Engine>> + Send + Sync;

/// Connections to one database, lent out one at a time.
pub struct Lanes {
    open: Box<Open>,
    idle: Mutex<Vec<Box<dyn Engine>>>,
    keep: usize,
}

impl Lanes {
    /// Creates a pool of connections opened by `open`, of which this many are kept for reuse.
    pub fn new(
        open: impl Fn() -> Result<Box<dyn Engine>> + Send + Sync + 'static,
        keep: usize,
    ) -> Lanes {
        Lanes { open: Box::new(open), idle: Mutex::new(Vec::new()), keep }
    }

    /// Runs a function with a connection.
    ///
    /// # Errors
    /// Those of opening one, and of the function.
    pub fn with<T>(&self, act: impl FnOnce(&dyn Engine) -> Result<T>) -> Result<T> {
        let lent = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let engine = match lent {
            Some(engine) => engine,
            None => (self.open)()?,
        };
        let done = act(&*engine);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < self.keep {
            idle.push(engine);
        }
        done
    }

    /// Returns whether a connection is open and idle.
    #[must_use]
    pub fn is_warm(&self) -> bool {
        !self.idle.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// One tenant's part of a shared database.
pub struct Prefixed {
    lanes: Arc<Lanes>,
    prefix: [u8; PREFIX_BYTES],
    notes: String,
}

impl Prefixed {
    /// Returns the part of the tenant with this number.
    #[must_use]
    pub fn new(lanes: Arc<Lanes>, number: i64) -> Prefixed {
        // Tenant numbers begin at 1; as unsigned, their bytes sort in numeric order.
        let prefix = number.cast_unsigned().to_be_bytes();
        Prefixed { lanes, prefix, notes: format!("tenant/{number:016x}/") }
    }

    fn key(&self, key: &[u8]) -> Vec<u8> {
        [&self.prefix[..], key].concat()
    }

    fn range(&self, range: &Range) -> Range {
        let whole = Range::prefix(&self.prefix);
        let inside = |key: &Vec<u8>| self.key(key);
        Range {
            from: range.from.as_ref().map(inside).or(whole.from),
            to: range.to.as_ref().map(inside).or(whole.to),
        }
    }

    fn bare(&self, mut key: Vec<u8>) -> Result<Vec<u8>> {
        if !key.starts_with(&self.prefix) {
            return Err(Error::Engine {
                doing: "read a range".to_owned(),
                message: "the database returned another tenant's key".to_owned(),
                passing: false,
            });
        }
        key.drain(..PREFIX_BYTES);
        Ok(key)
    }
}

impl Engine for Prefixed {
    fn name(&self) -> String {
        self.lanes.with(|engine| Ok(engine.name())).unwrap_or_else(|error| error.to_string())
    }

    fn is_atomic(&self) -> bool {
        self.lanes.with(|engine| Ok(engine.is_atomic())).unwrap_or(false)
    }

    /// The file's tables are shared: a tenant sees those of its own collections.
    fn has_table(&self, name: &str) -> Result<bool> {
        Ok(self.note(&format!("collection/{}", name.to_ascii_lowercase()))?.is_some())
    }

    fn check(&self, layout: &Layout) -> Result {
        self.lanes.with(|engine| engine.check(layout))
    }

    fn create(&self, layout: &Layout) -> Result {
        self.lanes.with(|engine| engine.create(layout))
    }

    fn create_noted(&self, layout: &Layout, name: &str, note: &[u8]) -> Result {
        let name = format!("{}{name}", self.notes);
        self.lanes.with(|engine| engine.create_noted(layout, &name, note))
    }

    fn value_limit(&self) -> Option<usize> {
        self.lanes.with(|engine| Ok(engine.value_limit())).ok().flatten()
    }

    fn get(&self, layout: &Layout, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.lanes.with(|engine| engine.get(layout, &self.key(key)))
    }

    fn get_many(&self, layout: &Layout, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>> {
        let keys: Vec<Vec<u8>> = keys.iter().map(|key| self.key(key)).collect();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        self.lanes.with(|engine| engine.get_many(layout, &keys))
    }

    fn exists(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        self.lanes.with(|engine| engine.exists(layout, &self.key(key)))
    }

    fn put(&self, layout: &Layout, key: &[u8], value: &[u8]) -> Result {
        self.lanes.with(|engine| engine.put(layout, &self.key(key), value))
    }

    fn apply(&self, layout: &Layout, changes: &[Change<'_>]) -> Result {
        let keys: Vec<Vec<u8>> = changes.iter().map(|(key, _)| self.key(key)).collect();
        let changes: Vec<Change<'_>> =
            keys.iter().zip(changes).map(|(key, (_, value))| (&key[..], *value)).collect();
        self.lanes.with(|engine| engine.apply(layout, &changes))
    }

    fn swap(
        &self,
        layout: &Layout,
        key: &[u8],
        seen: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool> {
        self.lanes.with(|engine| engine.swap(layout, &self.key(key), seen, new))
    }

    fn swap_many(&self, layout: &Layout, swaps: &[(&[u8], &[u8], &[u8])]) -> Result<Vec<bool>> {
        let keys: Vec<Vec<u8>> = swaps.iter().map(|(key, ..)| self.key(key)).collect();
        let swaps: Vec<(&[u8], &[u8], &[u8])> =
            keys.iter().zip(swaps).map(|(key, (_, seen, new))| (&key[..], *seen, *new)).collect();
        self.lanes.with(|engine| engine.swap_many(layout, &swaps))
    }

    fn delete(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        self.lanes.with(|engine| engine.delete(layout, &self.key(key)))
    }

    fn page(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Pair>> {
        let range = self.range(range);
        let pairs = self.lanes.with(|engine| engine.page(layout, &range, order, limit))?;
        pairs.into_iter().map(|(key, value)| Ok((self.bare(key)?, value))).collect()
    }

    fn keys(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>> {
        let range = self.range(range);
        let keys = self.lanes.with(|engine| engine.keys(layout, &range, order, limit))?;
        keys.into_iter().map(|key| self.bare(key)).collect()
    }

    fn count(&self, layout: &Layout) -> Result<(u64, u64)> {
        let (mut values, mut bytes) = (0, 0);
        let mut rest = Range::all();
        loop {
            let page = self.page(layout, &rest, Order::Ascending, PAGE)?;
            let Some((last, _)) = page.last() else { return Ok((values, bytes)) };
            let mut next = last.clone();
            next.push(0);
            rest.from = Some(next);
            values += page.len() as u64;
            bytes += page.iter().map(|(_, value)| value.len() as u64).sum::<u64>();
        }
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.lanes.with(|engine| engine.note(&format!("{}{name}", self.notes)))
    }

    fn set_note(&self, name: &str, note: Option<&[u8]>) -> Result {
        self.lanes.with(|engine| engine.set_note(&format!("{}{name}", self.notes), note))
    }

    fn notes(&self, prefix: &str) -> Result<Vec<String>> {
        let names = self.lanes.with(|engine| engine.notes(&format!("{}{prefix}", self.notes)))?;
        Ok(names
            .into_iter()
            .filter_map(|name| Some(name.strip_prefix(&self.notes)?.to_owned()))
            .collect())
    }
}
