//! What a store must survive: a writer killed at any moment, and its server with it; a server
//! restart; a dropped connection; a read-only file; a file that cannot grow.

mod engines;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use engines::{Fresh, Kind};
use regauge::Format;
use regauge_store::{Error, Range, Store, verify};

/// Rounds of killing: `REGAUGE_KILLS`, if set.
fn rounds(few: u32) -> u32 {
    std::env::var("REGAUGE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// The process that is killed: this test in a child process, which puts values and prints which are
/// acknowledged. Does nothing in an ordinary run.
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
    let fresh = Fresh::new(Kind::Sqlite).unwrap();
    let mut next = 0;
    let rounds = rounds(12);
    for round in 0..rounds {
        // At another moment in every round, the first ones while the table is being created.
        let moment = Duration::from_micros(u64::from(round) * 7_919 % 60_000);
        next = killed_round(&fresh.url, round, next, |acknowledged| {
            // On a busy machine, a process may need all of that to start.
            if round % 2 != 0 {
                acknowledged();
            }
            std::thread::sleep(moment);
        });
    }
    println!("killed: sqlite {rounds} rounds, {next} batches");
    assert!(next > 0, "something was written in some round");
}

/// Lets a process write, runs what ends in its death, and checks what is stored then. Returns the
/// number of the next batch. `meanwhile` gets a function that waits until something is
/// acknowledged.
fn killed_round(url: &str, round: u32, next: u64, meanwhile: impl FnOnce(&dyn Fn())) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_writes", "--nocapture"])
        .env("REGAUGE_KILLED_STORE", url)
        .env("REGAUGE_KILLED_FROM", next.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = child.stdout.take().unwrap();
    let (sender, first) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        let batches =
            lines.filter_map(|line| line.strip_prefix("acknowledged ")?.parse::<u64>().ok());
        // Nobody may be waiting for it.
        batches.inspect(|_| sender.send(()).unwrap_or_default()).max()
    });
    meanwhile(&|| {
        first.recv_timeout(Duration::from_secs(60)).expect("something is acknowledged");
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let acknowledged = reader.join().unwrap();

    let mut store = Store::open(url, "killed", None).unwrap();
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
    // Without transactions, an unacknowledged batch may be half-stored, and is put again.
    let mut torn = false;
    if !store.engine().is_atomic() {
        torn = batches.pop_if(|(batch, parts)| *parts != 1 + *batch % 5).is_some();
    }
    for (place, (batch, parts)) in batches.iter().enumerate() {
        assert_eq!(*batch, place as u64, "round {round}: a batch is missing");
        assert_eq!(*parts, 1 + batch % 5, "round {round}: batch {batch} is torn");
    }
    if let Some(acknowledged) = acknowledged {
        assert!(batches.len() as u64 > acknowledged, "round {round}: lost {acknowledged}");
    }
    if torn {
        println!("round {round}: the batch that was not acknowledged is half there");
    }
    batches.len() as u64
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
    assert!(error.to_string().contains("read-only"), "{error}");
    assert_eq!(store.get(b"k", Format::Json).unwrap().unwrap(), b"1");
}

/// A database that may not grow simulates a full disk: SQLite's own page limit gives the same error
/// in the same places.
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
    assert!(matches!(&error, regauge_store::Error::Full { .. }), "{error:?}");
    assert!(error.to_string().contains("the disk is full; nothing was changed"), "{error}");
    assert!(!store.exists(b"a").unwrap());
    assert_eq!(store.get(b"small", Format::Json).unwrap().unwrap(), b"1");
    store.put(b"small", b"2", Format::Json).unwrap();
    assert_eq!(store.get(b"small", Format::Json).unwrap().unwrap(), b"2");
}

/// Servers that tests stop, start and kill, and the connections to them.
#[cfg(feature = "runtime")]
mod server {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex, MutexGuard};

    use super::*;
    use regauge_store::{Order, Settings, engine};

    /// One test at a time per server: stopping it stops it for all.
    fn alone(kind: Kind) -> MutexGuard<'static, ()> {
        static ALONE: [Mutex<()>; 4] = [const { Mutex::new(()) }; 4];
        let names = ["postgres", "mysql", "mongodb", "cassandra"];
        let place = names.iter().position(|name| kind.server() == Some(name)).unwrap();
        ALONE[place].lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Makes `tools/servers.py` act on a server that it has started.
    fn control(kind: Kind, what: &str, folder: &str) {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/servers.py");
        let name = kind.server().unwrap();
        let done = Command::new("python3")
            .args([program, what, name, "--folder", folder])
            .output()
            .unwrap();
        assert!(done.status.success(), "{what} {name}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn folder() -> Option<String> {
        let folder = std::env::var("REGAUGE_TEST_SERVERS").ok();
        if folder.is_none() {
            println!("skipped: the server is not ours to stop; `make test-servers` starts some");
        }
        folder
    }

    pub fn no_acknowledged_write_is_lost_when_the_server_is_killed_too(kind: Kind) {
        let _alone = alone(kind);
        let (Some(folder), Some(fresh)) = (folder(), Fresh::new(kind)) else { return };
        let mut next = 0;
        // Each requires restarting the server.
        let rounds = rounds(20).min(20);
        for round in 0..rounds {
            let moment = Duration::from_millis(u64::from(round) * 79 % 400);
            next = killed_round(&fresh.url, round, next, |acknowledged| {
                // Some die while they connect or create the table.
                if round % 4 != 0 {
                    acknowledged();
                }
                std::thread::sleep(moment);
                control(kind, "kill", &folder);
                control(kind, "start", &folder);
            });
        }
        println!("killed: {} {rounds} rounds, {next} batches", kind.server().unwrap());
        assert!(next > 0, "something was written in some round");
    }

    pub fn a_server_that_was_restarted_is_found_again(kind: Kind) {
        let _alone = alone(kind);
        let (Some(folder), Some(fresh)) = (folder(), Fresh::new(kind)) else { return };
        let mut store = Store::open(&fresh.url, "restarted", None).unwrap();
        store.put(b"k", b"1", Format::Json).unwrap();
        // A read is not affected.
        control(kind, "stop", &folder);
        control(kind, "start", &folder);
        assert_eq!(store.get(b"k", Format::Json).unwrap().unwrap(), b"1");
        // Nor is a change, if the connection was found dead before it was sent.
        control(kind, "stop", &folder);
        control(kind, "start", &folder);
        std::thread::sleep(Duration::from_millis(1_100));
        store.put(b"k", b"2", Format::Json).unwrap();
        for stop in ["stop", "kill"] {
            control(kind, stop, &folder);
            for _ in 0..2 {
                let told = store.get(b"k", Format::Json).unwrap_err().to_string();
                let unconnected = told.starts_with("cannot read a value: no connection: ");
                // Drivers with their own connections report either.
                let lost = told.starts_with("cannot read a value: the connection was lost");
                assert!(unconnected || (lost && !kind.has_line()), "{told}");
                assert!(told.ends_with("; try again"), "{told}");
                assert!(!told.contains("regauge:regauge"), "{told}");
            }
            let told = store.put(b"k", b"3", Format::Json).unwrap_err().to_string();
            assert!(told.contains("no connection"), "{told}");
            control(kind, "start", &folder);
            assert_eq!(store.get(b"k", Format::Json).unwrap().unwrap(), b"2");
            store.put(b"k", b"2", Format::Json).unwrap();
        }
    }

    /// Sits between a client and its server, and cuts the connection once the client has sent this
    /// many more bytes.
    struct Between {
        port: u16,
        left: Arc<AtomicU64>,
    }

    impl Between {
        fn new(server: String) -> Between {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let left = Arc::new(AtomicU64::new(u64::MAX));
            let shared = Arc::clone(&left);
            std::thread::spawn(move || {
                for client in listener.incoming() {
                    let Ok(client) = client else { return };
                    let server = TcpStream::connect(&server).unwrap();
                    let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                    let left = Arc::clone(&shared);
                    std::thread::spawn(move || Between::forward(from, to, Some(&left)));
                    std::thread::spawn(move || Between::forward(server, client, None));
                }
            });
            Between { port, left }
        }

        fn forward(mut from: TcpStream, mut to: TcpStream, left: Option<&AtomicU64>) {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                if let Some(left) = left {
                    let before = left.load(Ordering::SeqCst);
                    if before < count as u64 {
                        left.store(u64::MAX, Ordering::SeqCst);
                        break;
                    }
                    if before != u64::MAX {
                        left.store(before - count as u64, Ordering::SeqCst);
                    }
                }
                if to.write_all(&buffer[..count]).is_err() {
                    break;
                }
            }
            let _ = from.shutdown(std::net::Shutdown::Both);
            let _ = to.shutdown(std::net::Shutdown::Both);
        }
    }

    pub fn a_line_that_is_cut_in_mid_batch_changes_nothing(kind: Kind) {
        let _alone = alone(kind);
        let Some(fresh) = Fresh::new(kind) else { return };
        let (start, rest) = fresh.url.split_once("127.0.0.1:").expect("a server on loopback");
        let (port, rest) = rest.split_once('/').unwrap();
        let between = Between::new(format!("127.0.0.1:{port}"));
        let engine = engine::open(&format!("{start}127.0.0.1:{}/{rest}", between.port)).unwrap();
        let layout = Settings::new("cut", "json".parse().unwrap()).unwrap().layout;
        engine.create(&layout).unwrap();
        engine.put(&layout, b"before", b"1").unwrap();
        let filler = vec![b'x'; 50_000];
        let keys: Vec<String> = (0..40).map(|i| format!("batch {i}")).collect();
        let batch: Vec<(&[u8], Option<&[u8]>)> =
            keys.iter().map(|key| (key.as_bytes(), Some(&filler[..]))).collect();
        for bytes in [0, 10_000, 500_000, 1_900_000] {
            // A recently used connection is not checked first.
            assert!(engine.exists(&layout, b"before").unwrap());
            between.left.store(bytes, Ordering::SeqCst);
            let told = engine.apply(&layout, &batch).unwrap_err().to_string();
            assert!(told.contains("the connection was lost before the answer came"), "{told}");
            assert!(told.contains("not known whether this was done"), "{told}");
            // The next operation works, and nothing of the batch is stored.
            let found = engine.keys(&layout, &Range::all(), Order::Ascending, 100).unwrap();
            if engine.is_atomic() {
                assert_eq!(found, [b"before".to_vec()], "{bytes}");
            } else {
                // What is stored of it is intact.
                assert!(found.contains(&b"before".to_vec()) && found.len() <= 41, "{bytes}");
                for key in found.iter().filter(|key| **key != b"before") {
                    let value = engine.get(&layout, key).unwrap().unwrap();
                    assert!(value == filler, "{bytes}: half a value");
                }
            }
            engine.put(&layout, b"before", b"2").unwrap();
        }
        // A read is repeated once.
        between.left.store(0, Ordering::SeqCst);
        assert_eq!(engine.get(&layout, b"before").unwrap().unwrap(), b"2");
        engine.apply(&layout, &batch).unwrap();
        assert_eq!(engine.count(&layout).unwrap(), (41, 40 * 50_000 + 1));
    }
}

macro_rules! on_servers {
    ($($test:ident)*) => {
        #[cfg(feature = "postgres")]
        on_servers! { @on postgres Postgres $($test)* }
        #[cfg(feature = "mysql")]
        on_servers! { @on mysql Mysql $($test)* }
        #[cfg(feature = "mongodb")]
        on_servers! { @on mongodb MongoDb $($test)* }
        #[cfg(feature = "cassandra")]
        on_servers! { @on cassandra Cassandra $($test)* }
    };
    (@on $module:ident $kind:ident $($test:ident)*) => {
        mod $module {
            $(
                #[test]
                fn $test() {
                    super::server::$test(super::Kind::$kind);
                }
            )*
        }
    };
}

on_servers! {
    no_acknowledged_write_is_lost_when_the_server_is_killed_too
    a_server_that_was_restarted_is_found_again
    a_line_that_is_cut_in_mid_batch_changes_nothing
}

/// A program that is nearly always in a transaction must not shut out a store.
#[test]
fn a_busy_writer_does_not_starve_another() {
    const PUTS: u32 = 10;
    let fresh = Fresh::new(Kind::Sqlite).unwrap();
    let mut store = Store::open(&fresh.url, "starved", None).unwrap();
    store.put(b"first", b"0", Format::Json).unwrap();

    let path = fresh.url.strip_prefix("sqlite:").unwrap().to_owned();
    let (tell, told) = mpsc::channel::<()>();
    let (begun, holds) = mpsc::channel::<()>();
    let other = std::thread::spawn(move || {
        let mut bare = rusqlite::Connection::open(path).unwrap();
        bare.busy_handler(Some(|_| {
            std::thread::sleep(Duration::from_micros(100));
            true
        }))
        .unwrap();
        let mut turns = 0;
        while told.try_recv() == Err(mpsc::TryRecvError::Empty) {
            bare.execute_batch("BEGIN IMMEDIATE").unwrap();
            let _ = begun.send(());
            std::thread::sleep(Duration::from_millis(50));
            bare.execute_batch("COMMIT").unwrap();
            turns += 1;
            std::thread::sleep(Duration::from_millis(2));
        }
        turns
    });
    holds.recv().unwrap();
    for number in 0..PUTS {
        // Otherwise the next change begins before the other writer is back.
        std::thread::sleep(Duration::from_millis(10));
        store.put(b"next", number.to_string().as_bytes(), Format::Json).unwrap();
    }
    tell.send(()).unwrap();
    let turns = other.join().unwrap();
    // SQLite's own timeout asks too rarely to meet a pause of 2 ms.
    assert!(turns <= 6 * PUTS, "{turns} turns of the other writer for {PUTS} of ours");
}
