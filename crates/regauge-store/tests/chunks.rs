//! Chunked values: whole or absent, even if a writer crashes, and for concurrent readers. The
//! underlying engine is SQLite, with an artificial limit of a few hundred bytes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering as Atomic};
use std::time::Duration;

use regauge::Format;
use regauge_store::engine::{Change, Chunked, Engine, Pair, Sqlite};
use regauge_store::reencode::{self, Plan};
use regauge_store::{Error, Layout, Order, Range, Result, Settings, Store, verify};

/// The underlying engine's limit in bytes.
const LIMIT: usize = 300;

fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chunks.db");
    (folder, path)
}

fn sqlite(path: &Path) -> Box<dyn Engine> {
    Box::new(Sqlite::open(path.to_str().unwrap()).unwrap())
}

fn chunked(path: &Path) -> Box<dyn Engine> {
    Box::new(Chunked::new(sqlite(path), LIMIT))
}

fn store(path: &Path, collection: &str, codec: &str) -> Store {
    Store::with_engine(chunked(path), collection, Some(codec.parse().unwrap())).unwrap()
}

/// Returns an incompressible JSON text of about this many bytes.
fn document(seed: u64, bytes: usize) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text = String::from("\"");
    while text.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text += &format!("{state:016x}");
    }
    text + "\""
}

/// Returns the rows of the chunk table.
fn rows(path: &Path, prefix: &str) -> usize {
    let layout = Layout {
        table: "regauge_chunks".into(),
        ..Settings::new("x", "json".parse().unwrap()).unwrap().layout
    };
    let engine = sqlite(path);
    match engine.has_table(&layout.table).unwrap() {
        true => {
            let range = Range::prefix(prefix.as_bytes());
            engine.keys(&layout, &range, Order::Ascending, usize::MAX).unwrap().len()
        }
        false => 0,
    }
}

#[test]
fn large_values_come_back_and_leave_nothing_behind() {
    let (_folder, path) = file();
    let mut store = store(&path, "objects", "json");
    // Around the limit, which includes the envelope of 16 bytes, and around two chunks.
    for bytes in [0, 282, 283, 284, 285, 299, 300, 583, 584, 585, 2_000, 50_000] {
        let text = document(7, bytes);
        store.put(b"k", text.as_bytes(), Format::Json).unwrap();
        assert_eq!(store.get(b"k", Format::Json).unwrap().unwrap(), text.as_bytes(), "{bytes}");
        let stored = text.len() + 16;
        let parts = if stored > LIMIT { stored.div_ceil(LIMIT) } else { 0 };
        assert_eq!(rows(&path, "part/"), parts, "{bytes}: the chunks of older ones are gone");
        assert_eq!(rows(&path, "head/"), usize::from(parts > 0), "{bytes}");
        let layout = store.settings().layout.clone();
        assert_eq!(store.engine().count(&layout).unwrap(), (1, stored as u64), "{bytes}");
    }
    assert!(store.exists(b"k").unwrap());
    assert!(store.delete(b"k").unwrap());
    assert!(!store.delete(b"k").unwrap());
    assert_eq!(rows(&path, ""), 0);
}

#[test]
fn batches_scans_and_swaps_see_values_and_never_heads() {
    let (_folder, path) = file();
    let mut one = store(&path, "objects", "msgpack+zstd");
    let texts: Vec<String> = (0..40).map(|i| document(i, (i as usize % 8) * 150)).collect();
    let keys: Vec<String> = (0..40).map(|i| format!("{i:02}")).collect();
    let all: Vec<(&[u8], Option<&[u8]>)> = keys
        .iter()
        .zip(&texts)
        .map(|(key, text)| (key.as_bytes(), Some(text.as_bytes())))
        .collect();
    one.put_many(&all, Format::Json).unwrap();
    let bytes: Vec<&[u8]> = keys.iter().map(|key| key.as_bytes()).collect();
    let many = one.get_many(&bytes, Format::Json).unwrap();
    assert!(many.iter().zip(&texts).all(|(found, text)| found.as_deref() == Some(text.as_bytes())));
    for order in [Order::Ascending, Order::Descending] {
        let mut seen = Vec::new();
        one.scan(&Range::all(), order, &mut |store, key, value| {
            let entry = store.unseal(key, value)?;
            seen.push(store.document(key, entry, Format::Json)?);
            Ok(true)
        })
        .unwrap();
        if order == Order::Descending {
            seen.reverse();
        }
        assert!(seen.iter().zip(&texts).all(|(seen, text)| seen == text.as_bytes()));
        assert_eq!(seen.len(), 40);
    }
    // The last of several changes to a key counts, as it does without chunks.
    let (large, small) = (document(99, 900), document(98, 20));
    let twice: [(&[u8], Option<&[u8]>); 3] =
        [(b"00", Some(large.as_bytes())), (b"00", None), (b"00", Some(small.as_bytes()))];
    one.put_many(&twice, Format::Json).unwrap();
    assert_eq!(one.get(b"00", Format::Json).unwrap().unwrap(), small.as_bytes());

    // From small to large, large to large, large to small, and to absent.
    let mut two = store(&path, "objects", "msgpack+zstd");
    for (from, to) in [(&small, &large), (&large, &texts[7]), (&texts[7], &small)] {
        let seen = two.stored(b"00").unwrap().unwrap();
        assert_eq!(two.get(b"00", Format::Json).unwrap().unwrap(), from.as_bytes());
        one.put_if(b"00", Some(&seen), to.as_bytes(), Format::Json).unwrap();
        let told = two.put_if(b"00", Some(&seen), from.as_bytes(), Format::Json);
        assert!(matches!(told, Err(Error::Conflict { .. })));
        let told = two.put_if(b"00", None, large.as_bytes(), Format::Json);
        assert!(matches!(told, Err(Error::Conflict { .. })));
    }
    two.put_if(b"new", None, large.as_bytes(), Format::Json).unwrap();
    assert_eq!(one.get(b"new", Format::Json).unwrap().unwrap(), large.as_bytes());
    let layout = one.settings().layout.clone();
    let seen = one.stored(b"new").unwrap().unwrap();
    assert!(one.engine().swap(&layout, b"new", Some(&seen), None).unwrap());
    let large = one.stored(b"07").unwrap().unwrap();
    let none = one.engine().swap_many(&layout, &[(b"07", &large, b"x"), (b"07", &large, b"y")]);
    assert_eq!(none.unwrap(), [true, false]);
    for key in &keys {
        one.delete(key.as_bytes()).unwrap();
    }
    assert_eq!(rows(&path, ""), 0, "nothing is left of any of them");
}

#[test]
fn reencoding_takes_values_out_of_chunks_and_into_them() {
    let (_folder, path) = file();
    let mut one = store(&path, "objects", "json");
    let text = format!("[{}1]", "1000000000000, ".repeat(100));
    for key in [&b"a"[..], b"b", b"c"] {
        one.put(key, text.as_bytes(), Format::Json).unwrap();
    }
    assert_eq!(rows(&path, "head/"), 3);
    for (codec, heads) in [("json+zstd", 0), ("msgpack", 3), ("cbor", 3), ("json+gzip", 0)] {
        let plan = Plan { to: codec.parse().unwrap(), dry_run: false, rate: None };
        let outcome = reencode::reencode(&mut one, &plan, &mut |_| Ok(()), &mut |_| ()).unwrap();
        assert_eq!((outcome.changed, outcome.overtaken), (3, 0), "{codec}");
        assert_eq!(rows(&path, "head/"), heads, "{codec}");
        let found = verified(&mut one);
        assert_eq!((found.values, found.bad), (3, 0), "{codec}");
    }
}

fn verified(store: &mut Store) -> verify::Findings {
    verify::verify(store, &Range::all(), &mut |_| Ok(()), &mut |_| ()).unwrap()
}

#[test]
fn a_missing_chunk_is_told_with_its_key_and_the_rest_stays_readable() {
    let (_folder, path) = file();
    let mut one = store(&path, "objects", "json");
    let texts: Vec<String> = (0..3).map(|i| document(i, 1_000)).collect();
    for (key, text) in [b"a", b"b", b"c"].iter().zip(&texts) {
        one.put(&key[..], text.as_bytes(), Format::Json).unwrap();
    }
    let connection = rusqlite::Connection::open(&path).unwrap();
    let keys: Vec<Vec<u8>> = connection
        .prepare("SELECT key FROM regauge_chunks WHERE key >= CAST('part/' AS BLOB) ORDER BY rowid")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    // The value "b" has the chunks in the middle: first one is removed, then one of "c" is
    // truncated.
    connection.execute("DELETE FROM regauge_chunks WHERE key = ?1", [&keys[5]]).unwrap();
    let cut = "UPDATE regauge_chunks SET value = substr(value, 2) WHERE key = ?1";
    connection.execute(cut, [&keys[keys.len() - 1]]).unwrap();
    for key in [b"b", b"c"] {
        let told = one.get(key, Format::Json).unwrap_err().to_string();
        let expected = format!("key \"{}\": ", char::from(key[0]));
        assert!(told.starts_with(&expected) && told.contains("chunks"), "{told}");
    }
    assert_eq!(one.get(b"a", Format::Json).unwrap().unwrap(), texts[0].as_bytes());
    let found = verified(&mut one);
    assert_eq!((found.values, found.bad), (3, 2));
    // It can be put again, or deleted.
    one.put(b"b", texts[1].as_bytes(), Format::Json).unwrap();
    assert!(one.delete(b"c").unwrap());
    assert_eq!(verified(&mut one).bad, 0);
}

/// An engine that crashes before the Nth writing call and stays dead.
struct Dying {
    inner: Box<dyn Engine>,
    left: Arc<AtomicUsize>,
}

impl Dying {
    fn live(&self) -> Result {
        let left =
            self.left.fetch_update(Atomic::SeqCst, Atomic::SeqCst, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| Error::Engine {
            doing: "write".into(),
            message: "the process is dead".into(),
            passing: false,
        })
    }
}

impl Engine for Dying {
    fn name(&self) -> String {
        self.inner.name()
    }
    fn is_atomic(&self) -> bool {
        true
    }
    fn has_table(&self, name: &str) -> Result<bool> {
        self.inner.has_table(name)
    }
    fn check(&self, layout: &Layout) -> Result {
        self.inner.check(layout)
    }
    fn create(&self, layout: &Layout) -> Result {
        self.live()?;
        self.inner.create(layout)
    }
    fn get(&self, layout: &Layout, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.inner.get(layout, key)
    }
    fn apply(&self, layout: &Layout, changes: &[Change<'_>]) -> Result {
        self.live()?;
        self.inner.apply(layout, changes)
    }
    fn swap(
        &self,
        layout: &Layout,
        key: &[u8],
        seen: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool> {
        self.live()?;
        self.inner.swap(layout, key, seen, new)
    }
    fn delete(&self, layout: &Layout, key: &[u8]) -> Result<bool> {
        self.live()?;
        self.inner.delete(layout, key)
    }
    fn page(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Pair>> {
        self.inner.page(layout, range, order, limit)
    }
    fn keys(
        &self,
        layout: &Layout,
        range: &Range,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Vec<u8>>> {
        self.inner.keys(layout, range, order, limit)
    }
    fn count(&self, layout: &Layout) -> Result<(u64, u64)> {
        self.inner.count(layout)
    }
    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.inner.note(name)
    }
    fn set_note(&self, name: &str, note: Option<&[u8]>) -> Result {
        self.live()?;
        self.inner.set_note(name, note)
    }
    fn notes(&self, prefix: &str) -> Result<Vec<String>> {
        self.inner.notes(prefix)
    }
}

/// The operations on a store before it crashes.
type Deed = fn(&mut Store, &str) -> Result;

#[test]
fn a_writer_that_dies_between_any_two_writes_leaves_the_old_value_or_the_new() {
    // Nine chunks of 300 bytes each, four per call.
    let (old, new) = (document(1, 2_500), document(2, 2_600));
    let deeds: [(&str, Deed, Option<&str>); 5] = [
        ("put", |store, new| store.put(b"k", new.as_bytes(), Format::Json), Some(&new)),
        ("put a small one", |store, _| store.put(b"k", b"1", Format::Json), Some("1")),
        (
            "swap",
            |store, new| {
                let seen = store.stored(b"k")?;
                store.put_if(b"k", seen.as_deref(), new.as_bytes(), Format::Json)
            },
            Some(&new),
        ),
        ("delete", |store, _| store.delete(b"k").map(drop), None),
        (
            "put many",
            |store, new| {
                store.put_many(&[(b"k", Some(new.as_bytes())), (b"l", Some(b"2"))], Format::Json)
            },
            Some(&new),
        ),
    ];
    for (name, deed, after) in deeds {
        let mut deaths = 0;
        for writes in 0.. {
            let (_folder, path) = file();
            let mut before = store(&path, "objects", "json");
            before.put(b"k", old.as_bytes(), Format::Json).unwrap();
            drop(before);
            let left = Arc::new(AtomicUsize::new(writes));
            let dying = Dying { inner: sqlite(&path), left };
            let engine = Box::new(Chunked::new(Box::new(dying), LIMIT));
            let mut store = Store::with_engine(engine, "objects", None).unwrap();
            let done = deed(&mut store, &new);
            drop(store);
            let mut survivor = self::store(&path, "objects", "json");
            let found = survivor.get(b"k", Format::Json).unwrap();
            let found = found.as_deref().map(|found| std::str::from_utf8(found).unwrap());
            assert!(found == Some(&old) || found == after, "{name} after {writes} writes");
            if done.is_ok() {
                assert_eq!(found, after, "{name}: what was acknowledged is there");
            }
            let is_new = found == after;
            assert_eq!(survivor.exists(b"l").unwrap(), name == "put many" && is_new);
            assert_eq!(verified(&mut survivor).bad, 0, "{name} after {writes} writes");
            // The leftovers belong to nobody, and are removed once they are old enough.
            let layout = survivor.settings().layout.clone();
            let standing = usize::from(found.is_some_and(|found| found.len() > LIMIT));
            survivor.engine().sweep(&layout, Duration::from_secs(3_600)).unwrap();
            let heads = rows(&path, "head/");
            let swept = survivor.engine().sweep(&layout, Duration::ZERO).unwrap();
            assert_eq!(swept as usize, heads - standing, "{name} after {writes} writes");
            assert_eq!(rows(&path, "head/"), standing);
            let found = survivor.get(b"k", Format::Json).unwrap();
            let parts =
                found.filter(|_| standing > 0).map_or(0, |one| (one.len() + 16).div_ceil(LIMIT));
            assert_eq!(rows(&path, "part/"), parts, "{name} after {writes} writes");
            // Only the removal of the old chunks may fail silently: continue until nothing crashes.
            if done.is_err() {
                deaths += 1;
            } else if swept == 0 {
                break;
            }
            assert!(writes < 100, "{name} ends");
        }
        assert!(deaths > 0, "{name}");
    }
}

#[test]
fn readers_see_whole_values_while_writers_replace_them() {
    let (_folder, path) = file();
    let values: Vec<String> = vec![
        document(1, 3_000),
        document(2, 700),
        "1".to_owned(),
        document(3, 5_000),
        document(4, 301),
    ];
    store(&path, "objects", "json").put(b"k", values[0].as_bytes(), Format::Json).unwrap();
    let stop = AtomicBool::new(false);
    let reads = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for reader in 0..3 {
            let (path, values, stop, reads) = (&path, &values, &stop, &reads);
            scope.spawn(move || {
                let mut store = store(path, "objects", "json");
                let whole = |found: &[u8]| {
                    assert!(values.iter().any(|one| one.as_bytes() == found), "half a value");
                };
                while !stop.load(Atomic::SeqCst) {
                    match reader {
                        0 => {
                            if let Some(found) = store.get(b"k", Format::Json).unwrap() {
                                whole(&found);
                            }
                        }
                        1 => {
                            let found = store.get_many(&[b"k", b"k"], Format::Json).unwrap();
                            found.iter().flatten().for_each(|found| whole(found));
                        }
                        _ => store
                            .scan(&Range::all(), Order::Ascending, &mut |store, key, value| {
                                let entry = store.unseal(key, value)?;
                                whole(&store.document(key, entry, Format::Json)?);
                                Ok(true)
                            })
                            .unwrap(),
                    }
                    reads.fetch_add(1, Atomic::SeqCst);
                }
            });
        }
        let mut writer = store(&path, "objects", "json");
        for round in 0..150 {
            match round % 7 {
                6 => drop(writer.delete(b"k").unwrap()),
                number => {
                    let value = &values[number % values.len()];
                    writer.put(b"k", value.as_bytes(), Format::Json).unwrap();
                }
            }
        }
        stop.store(true, Atomic::SeqCst);
    });
    assert!(reads.load(Atomic::SeqCst) > 10);
    let mut store = store(&path, "objects", "json");
    assert_eq!(verified(&mut store).bad, 0);
    store.delete(b"k").unwrap();
    assert_eq!(rows(&path, ""), 0, "one writer leaves nothing behind");
}

#[test]
fn writers_at_once_leave_one_value_and_a_sweep_finds_the_rest() {
    let (_folder, path) = file();
    store(&path, "objects", "json").put(b"k", b"0", Format::Json).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..3_u64 {
            let path = &path;
            scope.spawn(move || {
                let mut store = store(path, "objects", "json");
                for round in 0..20 {
                    let text = document(writer * 1_000 + round, 1_000);
                    store.put(b"k", text.as_bytes(), Format::Json).unwrap();
                }
            });
        }
    });
    let mut store = store(&path, "objects", "json");
    let layout = store.settings().layout.clone();
    assert_eq!(verified(&mut store).bad, 0);
    store.engine().sweep(&layout, Duration::ZERO).unwrap();
    assert_eq!(rows(&path, "head/"), 1);
    assert_eq!(verified(&mut store).bad, 0);
}

#[test]
fn an_adopted_column_of_text_holds_heads_in_base64() {
    let (_folder, path) = file();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, yaml TEXT)").unwrap();
    connection.execute("INSERT INTO t VALUES (1, '- 1')", []).unwrap();
    let mut store = store(&path, "theirs", "yaml");
    let layout = Layout {
        table: "t".into(),
        key: "id".into(),
        value: "yaml".into(),
        key_kind: regauge_store::KeyKind::Integer,
        text: true,
    };
    let assume = Some("yaml".parse().unwrap());
    store.adopt(Settings { codec: "json".parse().unwrap(), assume, layout }).unwrap();
    let text = document(5, 1_000);
    store.put(b"2", text.as_bytes(), Format::Json).unwrap();
    let kind: String = connection
        .query_row("SELECT typeof(yaml) FROM t WHERE id = 2", [], |row| row.get(0))
        .unwrap();
    assert_eq!(kind, "text");
    assert_eq!(store.get(b"2", Format::Json).unwrap().unwrap(), text.as_bytes());
    assert_eq!(store.get(b"1", Format::Json).unwrap().unwrap(), b"[1]");
    let found = verified(&mut store);
    assert_eq!((found.values, found.bare, found.bad), (2, 1, 0));
    let layout = store.settings().layout.clone();
    assert_eq!(store.engine().count(&layout).unwrap(), (2, 3 + text.len() as u64 + 16));
}
