//! What the SQLite driver returns from memory is what the file holds, whoever changed it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use regauge::Format;
use regauge_store::Store;
use rusqlite::Connection;

fn store(path: &Path, collection: &str) -> Store {
    let url = format!("sqlite:{}", path.display());
    let store = Store::open(&url, collection, Some("json".parse().unwrap())).unwrap();
    store.engine().sync_each_change(false).unwrap();
    store
}

fn put(store: &mut Store, key: &str, number: u64) {
    store.put(key.as_bytes(), number.to_string().as_bytes(), Format::Json).unwrap();
}

fn get(store: &mut Store, key: &str) -> Option<u64> {
    let found = store.get(key.as_bytes(), Format::Json).unwrap()?;
    Some(std::str::from_utf8(&found).unwrap().trim().parse().unwrap())
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }
}

#[test]
fn a_reader_sees_what_anybody_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (mut reader, mut writer) = (store(&path, "objects"), store(&path, "objects"));
    let mut other = store(&path, "others");
    let mut model: HashMap<(bool, String), u64> = HashMap::new();
    put(&mut writer, "0", 0);
    put(&mut other, "0", 1);
    model.insert((false, "0".into()), 0);
    model.insert((true, "0".into()), 1);
    let bare = Connection::open(&path).unwrap();
    bare.busy_timeout(Duration::from_secs(10)).unwrap();
    let mut random = Random(7);
    let mut reads = 0;
    for step in 2..4_000 {
        let key = random.below(8).to_string();
        match random.below(12) {
            0 => {
                put(&mut writer, &key, step);
                model.insert((false, key.clone()), step);
            }
            1 => {
                put(&mut reader, &key, step);
                model.insert((false, key.clone()), step);
            }
            2 => {
                put(&mut other, &key, step);
                model.insert((true, key.clone()), step);
            }
            3 => {
                writer.delete(key.as_bytes()).unwrap();
                model.remove(&(false, key.clone()));
            }
            4 => {
                // Another program, unaware of the store.
                bare.execute("DELETE FROM objects WHERE key = ?1", [key.as_bytes()]).unwrap();
                model.remove(&(false, key.clone()));
            }
            5 => {
                let how = ["PASSIVE", "RESTART", "TRUNCATE"][random.below(3) as usize];
                let checkpoint = format!("PRAGMA wal_checkpoint({how})");
                bare.query_row(&checkpoint, [], |_| Ok(())).unwrap();
            }
            _ => {}
        }
        // Often enough to be cached.
        for _ in 0..random.below(60) {
            let key = random.below(8).to_string();
            assert_eq!(get(&mut reader, &key), model.get(&(false, key.clone())).copied(), "{step}");
            if step % 5 == 0 {
                let theirs = get(&mut other, &key);
                assert_eq!(theirs, model.get(&(true, key)).copied(), "{step}");
            }
            reads += 1;
        }
    }
    assert!(reads > 100_000, "{reads}");
}

#[test]
fn no_reader_sees_less_than_what_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut writer = store(&path, "objects");
    put(&mut writer, "counter", 0);
    let acknowledged = AtomicU64::new(0);
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut reader = store(&path, "objects");
                let (mut last, mut reads) = (0, 0_u64);
                while done.load(Ordering::SeqCst) == 0 {
                    let least = acknowledged.load(Ordering::SeqCst).max(last);
                    let found = get(&mut reader, "counter").unwrap();
                    assert!(found >= least, "found {found}, {least} was there before");
                    (last, reads) = (found, reads + 1);
                }
                assert!(reads > 100, "{reads}");
            });
        }
        let began = Instant::now();
        for number in 1.. {
            put(&mut writer, "counter", number);
            acknowledged.store(number, Ordering::SeqCst);
            // In bursts, with enough time between them for values to be cached.
            if number % 10 == 0 {
                std::thread::sleep(Duration::from_millis(2));
            }
            if began.elapsed() > Duration::from_secs(2) {
                break;
            }
        }
        done.store(1, Ordering::SeqCst);
    });
}

#[test]
fn a_file_in_another_journal_mode_is_read_as_ever() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    let bare = Connection::open(&path).unwrap();
    let mode = "PRAGMA journal_mode = DELETE; CREATE TABLE before (a)";
    bare.execute_batch(mode).unwrap();
    let mut store = store(&path, "objects");
    put(&mut store, "a", 1);
    for _ in 0..100 {
        assert_eq!(get(&mut store, "a"), Some(1));
    }
    bare.execute("DELETE FROM objects", []).unwrap();
    assert_eq!(get(&mut store, "a"), None);
    let shared = std::fs::read_dir(folder.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().ends_with("-shm"));
    assert_eq!(shared.count(), 0, "nobody made shared memory for it");
}
