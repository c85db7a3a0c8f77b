//! What a store must survive: a writer that is killed at any moment, a file that may only be read,
//! a file that cannot grow.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use regauge::Format;
use regauge_store::{Error, Range, Store, verify};

/// Rounds of killing; `REGAUGE_KILLS=200` for the whole of them.
fn rounds() -> u32 {
    std::env::var("REGAUGE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

/// The process that is killed: this test in a process of its own, which puts values and says which
/// are acknowledged. Does nothing in an ordinary run.
#[test]
fn child_that_writes() {
    let Ok(url) = std::env::var("REGAUGE_KILLED_STORE") else { return };
    let start: u64 = std::env::var("REGAUGE_KILLED_FROM").unwrap().parse().unwrap();
    let mut store = Store::open(&url, "killed", Some("msgpack+zstd".parse().unwrap())).unwrap();
    let filler = "some text that fills a page ".repeat(40);
    for batch in start.. {
        let documents: Vec<(Vec<u8>, String)> = (0..1 + batch % 5)
            .map(|part| (key(batch, part), format!("{{\"batch\":{batch},\"f\":\"{filler}\"}}")))
            .collect();
        let documents: Vec<(&[u8], Option<&[u8]>)> =
            documents.iter().map(|(key, one)| (&key[..], Some(one.as_bytes()))).collect();
        store.put_many(&documents, Format::Json).unwrap();
        println!("acknowledged {batch}");
    }
}

fn key(batch: u64, part: u64) -> Vec<u8> {
    format!("{batch:010}/{part}").into_bytes()
}

#[test]
fn no_acknowledged_write_is_lost_and_none_is_torn() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("killed.db").display());
    let mut next = 0;
    for round in 0..rounds() {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_writes", "--nocapture"])
            .env("REGAUGE_KILLED_STORE", &url)
            .env("REGAUGE_KILLED_FROM", next.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = child.stdout.take().unwrap();
        let reader = std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.filter_map(|line| line.strip_prefix("acknowledged ")?.parse::<u64>().ok()).max()
        });
        // Another moment in every round, the first ones while the table is made.
        std::thread::sleep(Duration::from_micros(u64::from(round) * 7_919 % 60_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let acknowledged = reader.join().unwrap();

        let mut store = Store::open(&url, "killed", None).unwrap();
        let mut batches: Vec<(u64, u64)> = Vec::new();
        let none = &mut |error: &Error| panic!("{error}");
        verify::verify(&mut store, &Range::all(), none, &mut |_| ()).unwrap();
        store
            .scan(&Range::all(), regauge_store::Order::Ascending, &mut |_, key, _| {
                let batch = std::str::from_utf8(&key[..10]).unwrap().parse().unwrap();
                match batches.last_mut() {
                    Some((last, parts)) if *last == batch => *parts += 1,
                    _ => batches.push((batch, 1)),
                }
                Ok(true)
            })
            .unwrap();
        for (place, (batch, parts)) in batches.iter().enumerate() {
            assert_eq!(*batch, place as u64, "round {round}: a batch is missing");
            assert_eq!(*parts, 1 + batch % 5, "round {round}: batch {batch} is torn");
        }
        if let Some(acknowledged) = acknowledged {
            assert!(batches.len() as u64 > acknowledged, "round {round}: lost {acknowledged}");
        }
        next = batches.len() as u64;
    }
    assert!(next > 0, "something was written in some round");
}

#[test]
fn a_file_that_may_only_be_read_is_read_and_says_so_when_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("read.db");
    let mut store = Store::open(&format!("sqlite:{}", path.display()), "objects", None).unwrap();
    store.put(b"k", b"1", Format::Json).unwrap();
    drop(store);
    let url = format!("sqlite:file:{}?mode=ro", path.display());
    let mut store = Store::open(&url, "objects", None).unwrap();
    assert_eq!(store.get(b"k", Format::Json).unwrap().unwrap(), b"1");
    let error = store.put(b"k", b"2", Format::Json).unwrap_err();
    assert!(error.to_string().contains("may only be read"), "{error}");
    assert_eq!(store.get(b"k", Format::Json).unwrap().unwrap(), b"1");
}

/// A database that may not grow stands for a full disk: SQLite's own limit of pages gives the same
/// error at the same places.
#[test]
fn a_full_disk_is_told_nothing_is_changed_and_the_next_operation_works() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("full.db");
    let engine = regauge_store::engine::Sqlite::open(path.to_str().unwrap()).unwrap();
    let mut store = Store::with_engine(Box::new(engine), "objects", None).unwrap();
    store.put(b"small", b"1", Format::Json).unwrap();
    drop(store);
    let engine = regauge_store::engine::Sqlite::open(path.to_str().unwrap()).unwrap();
    engine.limit_pages(20).unwrap();
    let mut store = Store::with_engine(Box::new(engine), "objects", None).unwrap();
    let large = format!("\"{}\"", "x".repeat(200_000));
    let error = store
        .put_many(&[(b"a", Some(b"1")), (b"b", Some(large.as_bytes()))], Format::Json)
        .unwrap_err();
    assert!(error.to_string().contains("the disk is full; nothing was changed"), "{error}");
    assert!(!store.exists(b"a").unwrap());
    assert_eq!(store.get(b"small", Format::Json).unwrap().unwrap(), b"1");
    store.put(b"small", b"2", Format::Json).unwrap();
    assert_eq!(store.get(b"small", Format::Json).unwrap().unwrap(), b"2");
}
