//! A cache of recently read documents, as they are sent.
//!
//! An answer from here is the one that the database would give. Every change to a value goes
//! through the gateway, which has the data folder to itself, and removes the value from here before
//! it is changed; a document read during a change is not cached. Should another process write to a
//! tenant's file anyway, cached documents are trusted for [`BELIEVED`] and no longer.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::HeaderValue;
use bytes::Bytes;
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};
use regauge::Format;

use crate::server::http::Tag;

/// How long a cached document is trusted without checking the database.
const BELIEVED: Duration = Duration::from_secs(5);
/// Approximate overhead of a cached document.
const OVERHEAD: u64 = 512;
/// Bytes of a typical document: determines the capacity of the table.
const USUAL: u64 = 4 << 10;

#[derive(PartialEq, Eq, Hash)]
struct Key {
    tenant: i64,
    key: Box<[u8]>,
}

/// A key to look up. It has the members of [`Key`], in the same order, so it has the same hash.
#[derive(Hash)]
struct Sought<'k> {
    tenant: i64,
    key: &'k [u8],
}

impl Equivalent<Key> for Sought<'_> {
    fn equivalent(&self, other: &Key) -> bool {
        self.tenant == other.tenant && *self.key == *other.key
    }
}

/// A document, with the metadata its answers contain.
#[derive(Clone)]
pub(crate) struct Kept {
    /// The format in which it is stored.
    pub stored: Format,
    pub codec: HeaderValue,
    pub tag: Tag,
    /// Its bytes in the formats requested so far.
    pub sent: Vec<(Format, Bytes)>,
}

struct Entry {
    kept: Kept,
    read: Instant,
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Arc<Entry>> for Weight {
    fn weight(&self, key: &Key, entry: &Arc<Entry>) -> u64 {
        let bytes: usize = entry.kept.sent.iter().map(|(_, bytes)| bytes.len()).sum();
        (key.key.len() + bytes) as u64 + OVERHEAD
    }
}

/// The recently read documents of all tenants, up to a number of bytes.
pub(crate) struct Recent(Option<Cache<Key, Arc<Entry>, Weight>>);

/// The number of changes to one tenant's values that have started, plus those that have ended. It
/// is odd while one is in progress: a tenant has one writer at a time.
#[derive(Default)]
pub(crate) struct Changes(Mutex<u64>);

/// Proof that no write was in progress, and the count at that time.
pub(crate) struct Calm(u64);

/// A change in progress, until this is dropped.
pub(crate) struct Changing(Arc<Changes>);

impl Changes {
    fn locked(&self) -> MutexGuard<'_, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called before reading a value to be cached; returns `None` if one is being changed.
    pub fn calm(&self) -> Option<Calm> {
        let count = *self.locked();
        count.is_multiple_of(2).then_some(Calm(count))
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        *self.0.locked() += 1;
    }
}

impl Recent {
    /// Creates a cache of this many bytes; 0 disables it.
    pub fn new(bytes: u64) -> Recent {
        let usual = usize::try_from(bytes / USUAL).unwrap_or(usize::MAX);
        Recent((bytes > 0).then(|| Cache::with_weighter(usual.max(16), bytes, Weight)))
    }

    /// Returns the document of a key, if it was read recently and not changed since.
    pub fn get(&self, tenant: i64, key: &[u8]) -> Option<Kept> {
        let entry = self.0.as_ref()?.get(&Sought { tenant, key })?;
        (entry.read.elapsed() < BELIEVED).then(|| entry.kept.clone())
    }

    /// Caches a document, if there was no write when it was read and there has been none since.
    pub fn keep(&self, changes: &Changes, calm: Calm, tenant: i64, key: &[u8], kept: Kept) {
        let Some(cache) = &self.0 else { return };
        let mut kept = kept;
        // No change can start before it is in the cache, so a change will remove it again.
        let count = changes.locked();
        if *count != calm.0 {
            return;
        }
        // Formats requested by others stay alongside it.
        if let Some(before) = cache.peek(&Sought { tenant, key })
            && before.kept.tag == kept.tag
        {
            let is_new = |one: &&(Format, Bytes)| kept.sent.iter().all(|(to, _)| *to != one.0);
            let others: Vec<_> = before.kept.sent.iter().filter(is_new).cloned().collect();
            kept.sent.extend(others);
        }
        let key = Key { tenant, key: key.into() };
        cache.insert(key, Arc::new(Entry { kept, read: Instant::now() }));
    }

    /// Removes the values that are about to change. Nothing is cached until the change has ended.
    pub fn change(&self, changes: &Arc<Changes>, tenant: i64, keys: &[Vec<u8>]) -> Changing {
        let mut count = changes.locked();
        *count += 1;
        if let Some(cache) = &self.0 {
            for key in keys {
                cache.remove(&Sought { tenant, key });
            }
        }
        drop(count);
        Changing(Arc::clone(changes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(bytes: &'static [u8]) -> Kept {
        Kept {
            stored: Format::Json,
            codec: HeaderValue::from_static("json"),
            tag: Tag::of(bytes),
            sent: vec![(Format::Json, Bytes::from_static(bytes))],
        }
    }

    fn found(recent: &Recent, tenant: i64, key: &[u8]) -> Option<Bytes> {
        recent.get(tenant, key).map(|kept| kept.sent[0].1.clone())
    }

    #[test]
    fn a_change_takes_out_what_it_changes() {
        let (recent, changes) = (Recent::new(1 << 20), Arc::new(Changes::default()));
        for key in [b"a", b"b"] {
            recent.keep(&changes, changes.calm().unwrap(), 1, key, kept(b"1"));
        }
        assert!(found(&recent, 1, b"a").is_some() && found(&recent, 2, b"a").is_none());
        let changing = recent.change(&changes, 1, &[b"a".to_vec()]);
        assert!(found(&recent, 1, b"a").is_none() && found(&recent, 1, b"b").is_some());
        assert!(changes.calm().is_none(), "nothing that is read now is kept");
        drop(changing);
        recent.keep(&changes, changes.calm().unwrap(), 1, b"a", kept(b"2"));
        assert_eq!(found(&recent, 1, b"a").unwrap(), &b"2"[..]);
    }

    #[test]
    fn what_was_read_before_a_change_is_not_kept_after_it() {
        let (recent, changes) = (Recent::new(1 << 20), Arc::new(Changes::default()));
        let before = changes.calm().unwrap();
        drop(recent.change(&changes, 1, &[b"a".to_vec()]));
        recent.keep(&changes, before, 1, b"a", kept(b"old"));
        assert!(found(&recent, 1, b"a").is_none());
    }

    #[test]
    fn formats_of_one_value_stand_side_by_side() {
        let (recent, changes) = (Recent::new(1 << 20), Arc::new(Changes::default()));
        recent.keep(&changes, changes.calm().unwrap(), 1, b"a", kept(b"1"));
        let mut other = kept(b"1");
        other.sent = vec![(Format::Cbor, Bytes::from_static(b"\x01"))];
        recent.keep(&changes, changes.calm().unwrap(), 1, b"a", other);
        assert_eq!(recent.get(1, b"a").unwrap().sent.len(), 2);
        // Another value displaces all of them.
        recent.keep(&changes, changes.calm().unwrap(), 1, b"a", kept(b"2"));
        assert_eq!(recent.get(1, b"a").unwrap().sent.len(), 1);
    }

    #[test]
    fn no_more_is_kept_than_allowed() {
        let (recent, changes) = (Recent::new(64 << 10), Arc::new(Changes::default()));
        for number in 0..1_000_u32 {
            let calm = changes.calm().unwrap();
            recent.keep(&changes, calm, 1, &number.to_be_bytes(), kept(&[7; 4_096]));
        }
        let cache = recent.0.as_ref().unwrap();
        assert!(cache.weight() <= 64 << 10, "{}", cache.weight());
        assert!(!cache.is_empty());
        let none = Recent::new(0);
        none.keep(&changes, changes.calm().unwrap(), 1, b"a", kept(b"1"));
        assert!(none.get(1, b"a").is_none());
    }
}
