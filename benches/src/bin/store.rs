//! Compares the store with bare rusqlite running the same transactions on the same file layout.
//!
//! Both get the same MessagePack and the same keys. The store reads each document in full, adds its
//! envelope and checksum, and verifies them on the way out; rusqlite binds the bytes and returns
//! them. Each round creates two new files, one for each, and does the same with both, one directly
//! after the other, alternating which goes first; the figure is the ratio of the two wall-clock
//! times of a round. Results are compared before anything is timed.

use std::path::Path;
use std::time::Instant;

use regauge::Format;
use regauge_bench::record;
use regauge_store::{Order, Range, Store};
use rusqlite::Connection;

/// A document and its key.
type Pair = (Vec<u8>, Vec<u8>);

fn main() {
    let rounds = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(11);
    let folder = std::env::args().nth(2).unwrap_or_else(|| ".".to_owned());
    println!("wall time, {rounds} rounds, median of bare rusqlite's time over the store's");
    println!("| | bare rusqlite, a second | store, a second | store's speed over bare |");
    println!("|---|--:|--:|--:|");
    for (name, pairs, batch) in
        [("1 KB", pairs(20_000, order), 1_000), ("14 KB", pairs(4_000, slice), 100)]
    {
        check(Path::new(&folder), &pairs[..batch]);
        let mut rows = Rows::default();
        for round in 0..rounds {
            let place = tempfile::tempdir_in(&folder).expect("a folder to write in");
            let mut both = Both::new(place.path());
            let random = shuffled(&pairs);
            let few = &replaced(&pairs)[..];
            rows.time(
                round,
                &format!("put {name}, {batch} a transaction"),
                pairs.len(),
                &mut both,
                Job::Put(&pairs, batch),
            );
            rows.time(round, &format!("get {name}"), random.len(), &mut both, Job::Get(&random));
            rows.time(
                round,
                &format!("get {name}, 500 a call"),
                random.len(),
                &mut both,
                Job::GetMany(&random),
            );
            rows.time(
                round,
                &format!("scan {name}"),
                pairs.len(),
                &mut both,
                Job::Scan(pairs.len()),
            );
            rows.time(
                round,
                &format!("replace {name}, one a transaction"),
                few.len(),
                &mut both,
                Job::Put(few, 1),
            );
        }
        rows.print();
    }
}

/// Returns documents like a shop's: short texts and numbers.
fn order(number: u64) -> Vec<u8> {
    let lines: Vec<String> = (0..9)
        .map(|line| {
            let item = mixed(number * 16 + line);
            format!(
                "{{\"sku\":\"{:08x}\",\"title\":\"item number {}\",\"count\":{},\"price\":{}.25,\"gift\":{}}}",
                item >> 32,
                item % 100_000,
                item % 7 + 1,
                item % 900,
                item.is_multiple_of(5)
            )
        })
        .collect();
    let text = format!(
        "{{\"id\":{number},\"customer\":\"customer {:06}\",\"state\":\"paid\",\"at\":\"2026-11-21T12:00:00Z\",\
         \"notes\":null,\"lines\":[{}]}}",
        mixed(number) % 1_000_000,
        lines.join(",")
    );
    packed(text.as_bytes())
}

/// Returns a slice of a time series: times and measured values.
fn slice(number: u64) -> Vec<u8> {
    let values: Vec<String> =
        (0..1_560).map(|at| format!("{:?}", mixed(number * 2_000 + at) as f64 / 1e17)).collect();
    packed(format!("{{\"series\":{number},\"values\":[{}]}}", values.join(",")).as_bytes())
}

fn packed(json: &[u8]) -> Vec<u8> {
    let options = regauge::Options::new(Format::Json, Format::Msgpack);
    regauge::convert_bytes(json, &options).expect("valid")
}

/// SplitMix64: the same numbers in every run.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn pairs(count: u64, document: fn(u64) -> Vec<u8>) -> Vec<Pair> {
    (0..count).map(|at| (format!("objects/{at:08}").into_bytes(), document(at))).collect()
}

fn shuffled(pairs: &[Pair]) -> Vec<&Pair> {
    let mut all: Vec<(u64, &Pair)> =
        pairs.iter().enumerate().map(|(at, pair)| (mixed(at as u64), pair)).collect();
    all.sort_by_key(|(order, _)| *order);
    all.into_iter().map(|(_, pair)| pair).collect()
}

/// Replaces the document of every tenth key: SQLite writes nothing if the bytes are the same.
fn replaced(pairs: &[Pair]) -> Vec<Pair> {
    let count = pairs.len() / 10;
    let others = pairs[1..].iter().map(|(_, document)| document.clone());
    pairs.iter().map(|(key, _)| key.clone()).zip(others).take(count).collect()
}

#[derive(Clone, Copy)]
enum Job<'p> {
    /// Values per transaction.
    Put(&'p [Pair], usize),
    Get(&'p [&'p Pair]),
    GetMany(&'p [&'p Pair]),
    Scan(usize),
}

struct Both {
    store: Store,
    bare: Connection,
}

impl Both {
    fn new(folder: &Path) -> Both {
        let url = format!("sqlite:{}", folder.join("store.db").display());
        let codec = "msgpack".parse().expect("a codec");
        let store = Store::open(&url, "objects", Some(codec)).expect("opens");
        let bare = Connection::open(folder.join("bare.db")).expect("opens");
        bare.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE objects (key BLOB NOT NULL UNIQUE, value BLOB NOT NULL);",
        )
        .expect("set up");
        Both { store, bare }
    }

    fn by_store(&mut self, job: Job<'_>) -> usize {
        let mut bytes = 0;
        match job {
            Job::Put(pairs, 1) => {
                for (key, document) in pairs {
                    self.store.put(key, document, Format::Msgpack).expect("put");
                }
            }
            Job::Put(pairs, batch) => {
                for some in pairs.chunks(batch) {
                    let some: Vec<(&[u8], Option<&[u8]>)> =
                        some.iter().map(|(key, one)| (&key[..], Some(&one[..]))).collect();
                    self.store.put_many(&some, Format::Msgpack).expect("put");
                }
            }
            Job::Get(pairs) => {
                for (key, _) in pairs {
                    let found = self.store.get(key, Format::Msgpack).expect("got");
                    bytes += found.expect("there").len();
                }
            }
            Job::GetMany(pairs) => {
                for some in pairs.chunks(500) {
                    let keys: Vec<&[u8]> = some.iter().map(|(key, _)| &key[..]).collect();
                    let found = self.store.get_many(&keys, Format::Msgpack).expect("got");
                    bytes += found.into_iter().map(|one| one.expect("there").len()).sum::<usize>();
                }
            }
            Job::Scan(count) => {
                let mut seen = 0;
                self.store
                    .scan(&Range::all(), Order::Ascending, &mut |store, key, value| {
                        seen += 1;
                        bytes += store.unseal(key, value)?.document.len();
                        Ok(true)
                    })
                    .expect("walked");
                assert_eq!(seen, count);
            }
        }
        bytes
    }

    fn bare_get(&self, key: &[u8]) -> Vec<u8> {
        let sql = "SELECT value FROM objects WHERE key = ?1";
        let mut get = self.bare.prepare_cached(sql).expect("prepared");
        get.query_row([key], |row| row.get(0)).expect("got")
    }

    fn by_bare(&mut self, job: Job<'_>) -> usize {
        let mut bytes = 0;
        match job {
            Job::Put(pairs, batch) => {
                for some in pairs.chunks(batch) {
                    let transaction = (batch > 1).then(|| self.bare.unchecked_transaction());
                    let mut put = self
                        .bare
                        .prepare_cached(
                            "INSERT INTO objects (key, value) VALUES (?1, ?2) \
                             ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                        )
                        .expect("prepared");
                    for pair in some {
                        put.execute((&pair.0, &pair.1)).expect("put");
                    }
                    drop(put);
                    if let Some(transaction) = transaction {
                        transaction.expect("begun").commit().expect("committed");
                    }
                }
            }
            Job::Get(pairs) => {
                for (key, _) in pairs {
                    bytes += self.bare_get(key).len();
                }
            }
            // Like the store: all 500 of a call are in memory at once.
            Job::GetMany(pairs) => {
                for some in pairs.chunks(500) {
                    let found: Vec<_> = some.iter().map(|(key, _)| self.bare_get(key)).collect();
                    bytes += found.iter().map(Vec::len).sum::<usize>();
                }
            }
            Job::Scan(count) => {
                let sql = "SELECT key, value FROM objects ORDER BY key";
                let mut all = self.bare.prepare_cached(sql).expect("prepared");
                let rows = all.query_map([], |row| {
                    Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?))
                });
                let mut seen = 0;
                for row in rows.expect("walked") {
                    seen += 1;
                    bytes += row.expect("a row").1.len();
                }
                assert_eq!(seen, count);
            }
        }
        bytes
    }
}

/// Asserts that the store returns what was put, and the same as rusqlite.
fn check(folder: &Path, pairs: &[Pair]) {
    let place = tempfile::tempdir_in(folder).expect("a folder to write in");
    let mut both = Both::new(place.path());
    both.by_store(Job::Put(pairs, 10));
    both.by_bare(Job::Put(pairs, 10));
    for (key, document) in pairs {
        let found = both.store.get(key, Format::Msgpack).expect("got");
        assert_eq!(found.as_ref(), Some(document));
        let sql = "SELECT value FROM objects WHERE key = ?1";
        let bare: Vec<u8> = both.bare.query_row(sql, [key], |row| row.get(0)).expect("got");
        assert_eq!(&bare, document);
    }
}

/// Seconds of both, per row.
#[derive(Default)]
struct Rows(Vec<Row>);

/// A name, the number of values, and the seconds of both in each round.
type Row = (String, usize, Vec<(f64, f64)>);

impl Rows {
    fn time(&mut self, round: usize, name: &str, count: usize, both: &mut Both, job: Job<'_>) {
        let began = Instant::now();
        let (store, bare, first, second);
        if round.is_multiple_of(2) {
            first = both.by_store(job);
            store = began.elapsed();
            second = both.by_bare(job);
            bare = began.elapsed() - store;
        } else {
            second = both.by_bare(job);
            bare = began.elapsed();
            first = both.by_store(job);
            store = began.elapsed() - bare;
        }
        assert_eq!(first, second, "{name}: as many bytes");
        let times = (store.as_secs_f64(), bare.as_secs_f64());
        match self.0.iter_mut().find(|row| row.0 == name) {
            Some(row) => row.2.push(times),
            None => self.0.push((name.to_owned(), count, vec![times])),
        }
    }

    fn print(&self) {
        for (name, count, times) in &self.0 {
            let store: Vec<f64> = times.iter().map(|(store, _)| *store).collect();
            let bare: Vec<f64> = times.iter().map(|(_, bare)| *bare).collect();
            record("store", name, "regauge", "s", *count, &store);
            record("store", name, "bare rusqlite", "s", *count, &bare);
            let of = |value: fn(&(f64, f64)) -> f64| {
                let mut values: Vec<f64> = times.iter().map(value).collect();
                values.sort_by(f64::total_cmp);
                (values[values.len() / 2], values[0], values[values.len() - 1])
            };
            let rate = |seconds: f64| (*count as f64 / seconds).round();
            let (ratio, low, high) = of(|(store, bare)| bare / store);
            println!(
                "| {name} | {} | {} | {ratio:.2}x ({low:.2} to {high:.2}) |",
                rate(of(|(_, bare)| *bare).0),
                rate(of(|(store, _)| *store).0)
            );
        }
    }
}
