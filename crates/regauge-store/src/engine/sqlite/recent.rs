//! Values that were read lately, for as long as nobody has committed anything.
//!
//! A read of one row costs SQLite some 4 µs, most of it for locks of the file. The header of the
//! WAL index tells for 20 ns that nothing has changed since: then a value that was read twice is
//! given from memory, and is what SQLite would give. Any commit, of whichever process, ends it.

use std::hash::{BuildHasher as _, RandomState};

use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use rusqlite::Connection;

use super::wal_index::{Moment, WalIndex};
use crate::engine::Layout;

/// Bytes that are kept, keys included.
const BYTES: u64 = 8 << 20;
/// A value of more bytes is not kept: what its locks cost is little beside it.
const VALUE_BYTES: usize = 256 << 10;
/// Reads with no commit between them, after which values are kept: where somebody writes all the
/// time, keeping them would be for nothing.
const CALM: u32 = 16;
/// Keys whose last read is remembered: only who is read twice is kept.
const SEEN: usize = 4_096;
/// Keys that share a place there by their hashes, the last ones read. With one alone, two keys that
/// are read in turn would drive each other out, and neither would ever be kept.
const SHARING: usize = 4;

#[derive(Clone)]
struct Size;

impl Weighter<Vec<u8>, Vec<u8>> for Size {
    fn weight(&self, key: &Vec<u8>, value: &Vec<u8>) -> u64 {
        (key.len() + value.len() + 64) as u64
    }
}

/// The values of one collection, and since when they hold.
pub(super) struct Recent {
    /// Nothing where the file has no log: then nothing is kept.
    index: Option<WalIndex>,
    looked: bool,
    since: Option<Moment>,
    calm: u32,
    layout: Option<Layout>,
    /// Made when the first value is kept.
    values: Option<Cache<Vec<u8>, Vec<u8>, Size>>,
    /// By the lower bits of the hashes of keys, the hashes, the newest first.
    seen: Vec<[u64; SHARING]>,
    hashing: RandomState,
}

impl Recent {
    pub(super) fn new() -> Recent {
        Recent {
            index: None,
            looked: false,
            since: None,
            calm: 0,
            layout: None,
            values: None,
            seen: Vec::new(),
            hashing: RandomState::new(),
        }
    }

    /// What is committed now; what was kept of another moment, or of another collection, is gone.
    /// Nothing where that cannot be known.
    pub(super) fn now(&mut self, layout: &Layout) -> Option<Moment> {
        let now = self.index.as_ref()?.now();
        if now.is_none() || now != self.since || self.layout.as_ref() != Some(layout) {
            self.forget();
            self.since = now;
            if self.layout.as_ref() != Some(layout) {
                self.layout = Some(layout.clone());
            }
        }
        now
    }

    /// The value of a key, if it is kept. `now` was asked a moment ago.
    pub(super) fn get(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        self.values.as_ref()?.get(key).cloned()
    }

    /// Keeps a value that was read after `before`, if nothing was committed meanwhile and the key
    /// is read for the second time.
    pub(super) fn keep(&mut self, before: Moment, key: &[u8], value: &[u8]) {
        if self.index.as_ref().and_then(WalIndex::now) != Some(before) {
            return;
        }
        self.calm = self.calm.saturating_add(1);
        if self.calm < CALM || value.len() > VALUE_BYTES {
            return;
        }
        if !self.is_seen(key) {
            return;
        }
        let values = self
            .values
            .get_or_insert_with(|| Cache::with_weighter((BYTES >> 10) as usize, BYTES, Size));
        values.insert(key.to_vec(), value.to_vec());
    }

    /// Whether a key was read before, and lately; it is from now on.
    fn is_seen(&mut self, key: &[u8]) -> bool {
        const PLACES: usize = SEEN / SHARING;
        self.seen.resize(PLACES, [0; SHARING]);
        let hash = self.hashing.hash_one(key);
        let place = &mut self.seen[hash as usize % PLACES];
        if place.contains(&hash) {
            return true;
        }
        place.rotate_right(1);
        place[0] = hash;
        false
    }

    /// Keeps nothing from now on.
    pub(super) fn stop(&mut self) {
        self.forget();
        (self.index, self.looked) = (None, true);
    }

    /// Looks for the index, once, when the connection has read something.
    #[allow(unsafe_code, reason = "the index goes with the connection")]
    pub(super) fn look(&mut self, connection: &Connection) {
        if !self.looked {
            self.looked = true;
            // SAFETY: `Sqlite` has both, drops this before the connection, and never changes the
            // mode of a file again once it is open.
            self.index = unsafe { WalIndex::of(connection) };
        }
    }

    fn forget(&mut self) {
        self.calm = 0;
        if let Some(values) = &mut self.values
            && !values.is_empty()
        {
            values.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine as _, Sqlite};
    use crate::settings::Settings;

    #[test]
    fn nothing_is_kept_without_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("objects.db");
        let layout = Settings::new("objects", "json".parse().unwrap()).unwrap().layout;
        let mut sqlite = Sqlite::open(path.to_str().unwrap()).unwrap();
        sqlite.create(&layout).unwrap();
        sqlite.put(&layout, b"k", b"v").unwrap();
        for (kept, again) in [(true, true), (false, false)] {
            for _ in 0..2 * CALM {
                assert_eq!(sqlite.get(&layout, b"k").unwrap().unwrap(), b"v");
            }
            let mut recent = sqlite.recent.borrow_mut();
            assert_eq!((recent.now(&layout).is_some(), recent.get(b"k").is_some()), (kept, again));
            drop(recent);
            sqlite = sqlite.without_memory();
        }
    }

    #[test]
    fn keys_that_are_read_in_turn_are_seen() {
        let mut recent = Recent::new();
        let keys: Vec<[u8; 2]> = (0..500u16).map(u16::to_be_bytes).collect();
        for key in &keys {
            assert!(!recent.is_seen(key));
        }
        // A place that more than four of 500 share is rare, but there is one at times.
        let seen = keys.iter().filter(|key| recent.is_seen(*key)).count();
        assert!(seen >= 490, "{seen}");
        // More than are remembered: those of long ago are gone.
        for number in 0..100_000u32 {
            recent.is_seen(&number.to_be_bytes());
        }
        assert!(!recent.is_seen(&keys[0]));
    }
}
