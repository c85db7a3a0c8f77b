//! A cache of recently read values, valid as long as nobody has committed anything.
//!
//! Reading one row costs SQLite about 4 µs, most of it for file locks. The header of the WAL index
//! shows in 20 ns that nothing has changed since: a value that was read twice is then returned from
//! memory, and is what SQLite would return. Any commit, from any process, invalidates it.

use std::hash::{BuildHasher as _, RandomState};

use quick_cache::Weighter;
use quick_cache::unsync::Cache;
use rusqlite::Connection;

use super::wal_index::{Moment, WalIndex};
use crate::engine::Layout;

/// The environment variable that turns off all code that reads other programs' memory.
const PUBLIC_API: &str = "REGAUGE_PUBLIC_API";
/// Maximum size of the cache in bytes, including keys.
const BYTES: u64 = 8 << 20;
/// A larger value is not cached: the locks cost little in comparison.
const VALUE_BYTES: usize = 256 << 10;
/// Number of reads without an intervening commit before values are cached: under constant writes,
/// caching them would be pointless.
const CALM: u32 = 16;
/// Keys whose last read is remembered: only values read twice are cached.
const SEEN: usize = 4_096;
/// Keys that share a slot there by their hashes, the most recent ones. With only one per slot, two
/// keys read alternately would evict each other, and neither would ever be cached.
const SHARING: usize = 4;

#[derive(Clone)]
struct Size;

impl Weighter<Vec<u8>, Vec<u8>> for Size {
    fn weight(&self, key: &Vec<u8>, value: &Vec<u8>) -> u64 {
        (key.len() + value.len() + 64) as u64
    }
}

/// The cached values of one collection, and the state they are valid for.
pub(super) struct Recent {
    /// `None` if the file has no log: nothing is cached then.
    index: Option<WalIndex>,
    looked: bool,
    since: Option<Moment>,
    calm: u32,
    layout: Option<Layout>,
    /// Created when the first value is cached.
    values: Option<Cache<Vec<u8>, Vec<u8>, Size>>,
    /// Indexed by the lower bits of the keys' hashes; the hashes, newest first.
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

    /// Returns the current commit state, and discards what was cached for another state or another
    /// collection. `None` if it cannot be determined.
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

    /// Returns the cached value of a key, if any. `now` was obtained just before.
    pub(super) fn get(&mut self, key: &[u8]) -> Option<Vec<u8>> {
        self.values.as_ref()?.get(key).cloned()
    }

    /// Caches a value that was read after `before`, if nothing was committed meanwhile and this is
    /// the second read of the key.
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

    /// Returns whether a key was read recently, and records this read.
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

    /// Disables the cache.
    pub(super) fn stop(&mut self) {
        self.forget();
        (self.index, self.looked) = (None, true);
    }

    /// Looks for the index, once, after the connection has read something. If `REGAUGE_PUBLIC_API`
    /// is set, as for the bindings, none is looked for, and nothing is cached.
    #[allow(unsafe_code, reason = "the index goes with the connection")]
    pub(super) fn look(&mut self, connection: &Connection) {
        if !self.looked {
            self.looked = true;
            if cfg!(regauge_public_api) || std::env::var_os(PUBLIC_API).is_some() {
                return;
            }
            // SAFETY: `Sqlite` owns both, drops this before the connection, and never changes the
            // mode of a file once it is open.
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
        let kept = std::env::var_os(PUBLIC_API).is_none();
        for (kept, again) in [(kept, kept), (false, false)] {
            for _ in 0..2 * CALM {
                assert_eq!(sqlite.get(&layout, b"k").unwrap().unwrap(), b"v");
            }
            let mut recent = sqlite.recent.borrow_mut();
            assert_eq!((recent.now(&layout).is_some(), recent.get(b"k").is_some()), (kept, again));
            drop(recent);
            sqlite = sqlite.without_memory();
        }
    }

    /// The same test in a process of its own, because the environment is all threads'.
    #[test]
    fn nothing_is_kept_by_the_public_api() {
        let name = module_path!().split_once("::").unwrap().1;
        let done = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("{name}::nothing_is_kept_without_memory")])
            .env(PUBLIC_API, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && said.contains("1 passed"), "{said}");
    }

    #[test]
    fn keys_that_are_read_in_turn_are_seen() {
        let mut recent = Recent::new();
        let keys: Vec<[u8; 2]> = (0..500u16).map(u16::to_be_bytes).collect();
        for key in &keys {
            assert!(!recent.is_seen(key));
        }
        // A slot shared by more than four of 500 keys is rare, but it happens.
        let seen = keys.iter().filter(|key| recent.is_seen(*key)).count();
        assert!(seen >= 490, "{seen}");
        // More than are remembered: the oldest are gone.
        for number in 0..100_000u32 {
            recent.is_seen(&number.to_be_bytes());
        }
        assert!(!recent.is_seen(&keys[0]));
    }
}
