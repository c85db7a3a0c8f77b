//! A field of a collection in MongoDB, by FerretDB.

#![cfg(feature = "mongodb")]

mod caches;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use caches::{read, url};
use regauge::ErrorKind;
use regauge_sources::mongodb::MongoDb;
use regauge_sources::sql::Access;
use regauge_sources::{At, Flow, Kind, Replaced, Sample, Source, Wanted};
use regauge_store::{KeyKind, Layout, engine};

/// Keys with their values.
type Values = Vec<(String, Vec<u8>)>;

/// A database of its own, with documents that have these fields.
fn filled(name: &str, fields: &[(&str, Values)]) -> Option<String> {
    let base = url("mongodb", "")?;
    let (server, _) = base.rsplit_once('/').unwrap();
    let database = format!("regauge_sources_{}_{name}", std::process::id());
    let engine = engine::open(&format!("{server}/{database}")).unwrap();
    for (field, documents) in fields {
        let layout = Layout {
            table: "jobs".into(),
            key: "_id".into(),
            value: (*field).into(),
            key_kind: KeyKind::Text,
            text: false,
        };
        let changes: Vec<(&[u8], Option<&[u8]>)> =
            documents.iter().map(|(key, value)| (key.as_bytes(), Some(&value[..]))).collect();
        engine.apply(&layout, &changes).unwrap();
    }
    Some(format!("{server}/{database}.jobs?field=body"))
}

fn documents(count: usize, value: impl Fn(usize) -> Vec<u8>) -> Values {
    (0..count).map(|n| (format!("page:{n:04}"), value(n))).collect()
}

fn at(key: &str) -> At<'_> {
    At { database: 0, key: key.as_bytes(), part: None }
}

#[test]
fn values_come_with_their_keys() {
    let bodies = documents(30, |n| vec![n as u8]);
    let others = vec![("session:1".to_owned(), b"x".to_vec())];
    let Some(url) = filled("keys", &[("body", bodies), ("other", others)]) else { return };
    let mut source = MongoDb::open(&url, Access::Read).unwrap();
    let (lines, summary) = read(&mut source, &Wanted::default());
    let expected: Vec<_> = (0..30_u8)
        .map(|n| format!("string jobs.body/page:{n:04} - {}", [n].escape_ascii()))
        .collect();
    assert_eq!(lines, expected);
    let summary = summary.unwrap();
    assert!(summary.title.ends_with(", body of jobs"), "{}", summary.title);
    assert!(summary.is_whole);
    assert_eq!((summary.keys, summary.skipped.absent, summary.skipped.others), (30, 1, 0));

    let of = |wanted: Wanted<'_>| {
        let mut source = MongoDb::open(&url, Access::Read).unwrap();
        let (lines, summary) = read(&mut source, &wanted);
        (lines.len(), summary.unwrap())
    };
    let prefix = b"jobs.body/page:000";
    let (count, summary) = of(Wanted { prefix, ..Wanted::default() });
    assert_eq!((count, summary.passed_over, summary.skipped.absent), (10, 20, 0));
    assert_eq!(of(Wanted { sample: Sample::EveryNth(7), ..Wanted::default() }).0, 5);
    let (count, summary) = of(Wanted { sample: Sample::First(4), ..Wanted::default() });
    assert_eq!((count, summary.is_whole), (4, false));
    assert_eq!(of(Wanted { rate: Some(1000), ..Wanted::default() }).0, 30);
    let mut sizes = 0;
    let wanted = Wanted { values: false, ..Wanted::default() };
    MongoDb::open(&url, Access::Read)
        .unwrap()
        .read(&wanted, &mut |item| {
            assert_eq!((item.value, item.kind, item.is_text), (None, Kind::String, false));
            assert!(!item.knows_expiry && item.expires_at.is_none());
            sizes += item.bytes;
            Ok(Flow::Continue)
        })
        .unwrap();
    assert_eq!(sizes, 30);
    let wanted = Wanted { value_bytes_max: 0, ..Wanted::default() };
    let error = read(&mut source, &wanted).1.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[test]
fn a_value_is_replaced_while_it_is_read() {
    let Some(url) = filled("swap", &[("body", documents(600, |_| b"old".to_vec()))]) else {
        return;
    };
    let mut writer = MongoDb::open(&url, Access::Write).unwrap();
    let mut reader = MongoDb::open(&url, Access::Read).unwrap();
    let mut seen = 0;
    let each = &mut |item: &regauge_sources::Item<'_>| {
        seen += 1;
        assert_eq!(item.value, Some(&b"old"[..]));
        let replaced = writer.replace_if_unchanged(&At::from(item), b"old", b"another")?;
        assert_eq!(replaced, Replaced::Done);
        Ok(Flow::Continue)
    };
    reader.read(&Wanted::default(), each).unwrap();
    assert_eq!(seen, 600);
    let mut replace = |key: &str| writer.replace_if_unchanged(&at(key), b"old", b"new");
    assert_eq!(replace("jobs.body/page:0001").unwrap(), Replaced::Changed);
    assert_eq!(replace("jobs.body/none").unwrap(), Replaced::Gone);
    assert_eq!(replace("other.body/page:0001").unwrap(), Replaced::Elsewhere);
    let error = reader.replace_if_unchanged(&at("jobs.body/page:0001"), b"another", b"new");
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains("opened to read only"), "{error}");
}

#[test]
fn what_precedes_a_lost_connection_was_read() {
    let bodies = documents(4000, |_| vec![7; 1000]);
    let Some(url) = filled("lost", &[("body", bodies)]) else { return };
    let (scheme, rest) = url.split_once("://").unwrap();
    let (server, path) = rest.split_once('/').unwrap();
    let left = Arc::new(AtomicI64::new(i64::MAX));
    let port = between(server.to_owned(), left.clone());
    let mut source =
        MongoDb::open(&format!("{scheme}://127.0.0.1:{port}/{path}"), Access::Read).unwrap();
    left.store(1_500_000, Ordering::SeqCst);
    let (lines, summary) = read(&mut source, &Wanted::default());
    assert!((100..4000).contains(&lines.len()), "{}", lines.len());
    let error = summary.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let told = error.to_string();
    assert!(told.contains("cannot read a collection: the connection was lost"), "{told}");
}

/// Passes connections on to a server, and cuts them all once it has sent this many more bytes. Returns the port.
fn between(server: String, left: Arc<AtomicI64>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.unwrap();
            if left.load(Ordering::SeqCst) <= 0 {
                continue;
            }
            let server = TcpStream::connect(&server).unwrap();
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || pass(from, to, &AtomicI64::new(i64::MAX)));
            let left = left.clone();
            std::thread::spawn(move || pass(server, client, &left));
        }
    });
    port
}

fn pass(mut from: TcpStream, mut to: TcpStream, left: &AtomicI64) {
    let mut buffer = [0; 16 << 10];
    while let Ok(got @ 1..) = from.read(&mut buffer) {
        if left.fetch_sub(got as i64, Ordering::SeqCst) <= got as i64
            || to.write_all(&buffer[..got]).is_err()
        {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
