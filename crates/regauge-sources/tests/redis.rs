//! Redis: a single server, through TCP, a socket and TLS; a cluster; a master with a Sentinel.

#![cfg(feature = "redis")]

mod caches;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use caches::{Raw, read, url};
use regauge::ErrorKind;
use regauge_sources::redis::Redis;
use regauge_sources::{At, Flow, Kind, Part, Replaced, Sample, Source, Wanted};

/// The server, with a database for each test, which is emptied.
fn server(database: u64) -> Option<(String, Raw)> {
    let base = url("redis", "")?;
    let mut raw = Raw::open(&base);
    raw.run(&format!("SELECT {database}"));
    raw.run("FLUSHDB");
    Some((format!("{base}/{database}"), raw))
}

/// Puts a key of each kind; returns the items that are to be read.
fn fill(raw: &mut Raw) -> Vec<String> {
    let mut expected = Vec::new();
    raw.ask(&[b"SET", b"text \xff\n", b"value \x00"]);
    expected.push("string text \\xff\\n - value \\x00".to_owned());
    raw.ask(&[b"SET", b"empty", b""]);
    expected.push("string empty - ".into());
    for index in 0..1234 {
        raw.run(&format!("RPUSH list e{index}"));
        expected.push(format!("list list {index} e{index}"));
        raw.run(&format!("SADD set m{index}"));
        expected.push(format!("set set member m{index}"));
        raw.run(&format!("ZADD zset {index}.5 m{index}"));
        expected.push(format!("zset zset {index}.5 m{index}"));
        raw.run(&format!("HSET hash f{index} v{index}"));
        expected.push(format!("hash hash f{index} v{index}"));
    }
    for index in 0..700 {
        raw.run(&format!("SET user:{index} {index}"));
        expected.push(format!("string user:{index} - {index}"));
    }
    raw.run("ZADD zset inf most -inf least");
    expected.extend(["zset zset inf most".into(), "zset zset -inf least".into()]);
    raw.run("RPUSH small a b");
    expected.extend(["list small 0 a".into(), "list small 1 b".into()]);
    raw.run("XADD stream * a 1");
    expected.push("stream stream - -".into());
    expected.sort();
    expected
}

#[test]
fn every_value_comes_with_its_place() {
    let Some((url, mut raw)) = server(1) else { return };
    let expected = fill(&mut raw);
    let mut source = Redis::open(&url).unwrap();
    let (lines, summary) = read(&mut source, &Wanted::default());
    let summary = summary.unwrap();
    assert_eq!(lines, expected);
    assert_eq!((summary.keys, summary.items), (708, expected.len() as u64));
    assert_eq!((summary.vanished, summary.skipped.streams, summary.is_whole), (0, 1, true));
    assert!(summary.title.starts_with("Redis "), "{}", summary.title);
    // The same again, from the same connection.
    assert_eq!(read(&mut source, &Wanted::default()).0, expected);
}

#[test]
fn keys_are_chosen_and_counted() {
    let Some((url, mut raw)) = server(2) else { return };
    fill(&mut raw);
    raw.run("SET u*er[1] x");
    let mut source = Redis::open(&url).unwrap();
    let mut count = |wanted: &Wanted<'_>| {
        let (lines, summary) = read(&mut source, wanted);
        let summary = summary.unwrap();
        (lines.len(), summary.keys, summary.is_whole)
    };
    let all = Wanted { values: false, ..Wanted::default() };
    assert_eq!(count(&all), (709, 709, true));
    assert_eq!(count(&Wanted { prefix: b"user:1", ..all }), (111, 111, true));
    assert_eq!(count(&Wanted { prefix: b"u*er[", ..all }), (1, 1, true));
    assert_eq!(count(&Wanted { kind: Some(Kind::Hash), values: true, ..all }), (1234, 1, true));
    assert_eq!(count(&Wanted { database: Some(3), ..all }), (0, 0, true));
    assert_eq!(count(&Wanted { sample: Sample::EveryNth(10), ..all }), (71, 71, true));
    assert_eq!(count(&Wanted { sample: Sample::First(5), ..all }), (5, 5, false));
    assert_eq!(count(&Wanted { rate: Some(1_000_000), ..all }), (709, 709, true));
    let mut found = Vec::new();
    source
        .read(&Wanted { prefix: b"l", ..all }, &mut |item| {
            found.push((
                item.key.to_vec(),
                item.value.is_none(),
                item.parts,
                item.bytes > 1000,
                item.is_first,
            ));
            Ok(Flow::Continue)
        })
        .unwrap();
    assert_eq!(found, [(b"list".to_vec(), true, Some(1234), true, true)]);
    // The caller goes to the next key, or stops.
    let mut firsts = 0;
    let summary = source.read(&Wanted::default(), &mut |item| {
        firsts += u64::from(item.is_first);
        Ok(Flow::SkipKey)
    });
    assert_eq!((firsts, summary.unwrap().items), (709, 709));
    let summary = source.read(&Wanted::default(), &mut |_| Ok(Flow::Stop)).unwrap();
    assert_eq!((summary.items, summary.is_whole), (1, false));
}

#[test]
fn expiry_and_use_are_told() {
    let Some((url, mut raw)) = server(3) else { return };
    raw.run("SET later x PX 3600123");
    raw.run("SET never x");
    let due: i64 = str::from_utf8(&raw.run("PEXPIRETIME later")[0]).unwrap().parse().unwrap();
    let mut source = Redis::open(&url).unwrap();
    let mut found = Vec::new();
    source
        .read(&Wanted::default(), &mut |item| {
            assert!(item.idle.is_some_and(|idle| idle < 60) && item.frequency.is_none());
            found.push((item.key.to_vec(), item.expires_at));
            Ok(Flow::Continue)
        })
        .unwrap();
    found.sort();
    assert_eq!(found[1], (b"never".to_vec(), None));
    // Two clocks are read, a moment apart.
    assert!((found[0].1.unwrap() - due).abs() < 1000, "{found:?}, {due}");
}

#[test]
fn a_busy_server_is_left_alone() {
    let Some((url, mut raw)) = server(14) else { return };
    raw.run("SET a x");
    let is_over = AtomicBool::new(false);
    let mut source = Redis::open(&url).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(1500) {
                raw.run("GET a");
            }
            is_over.store(true, Ordering::SeqCst);
        });
        std::thread::sleep(Duration::from_millis(200));
        let (lines, summary) = read(&mut source, &Wanted { load: Some(1), ..Wanted::default() });
        assert_eq!((lines, summary.unwrap().keys), (vec!["string a - x".to_owned()], 1));
        assert!(is_over.load(Ordering::SeqCst), "the key came while the server was busy");
    });
}

#[test]
fn all_databases_are_read_unless_the_url_names_one() {
    let Some(base) = url("redis", "") else { return };
    let mut raw = Raw::open(&base);
    for database in [4, 5] {
        raw.run(&format!("SELECT {database}"));
        raw.run("FLUSHDB");
        raw.run(&format!("SET only-here {database}"));
    }
    let databases = |url: &str, database| {
        let mut found = Vec::new();
        let wanted = Wanted { prefix: b"only-here", database, ..Wanted::default() };
        let mut each = |item: &regauge_sources::Item<'_>| {
            found.push(item.database);
            Ok(Flow::Continue)
        };
        Redis::open(url).unwrap().read(&wanted, &mut each).unwrap();
        found
    };
    assert_eq!(databases(&base, None), [4, 5]);
    assert_eq!(databases(&base, Some(5)), [5]);
    assert_eq!(databases(&format!("{base}/4"), None), [4]);
    assert_eq!(databases(&format!("{base}/0"), None), Vec::<u64>::new());
}

#[test]
fn values_are_replaced_if_they_are_unchanged() {
    let Some((url, mut raw)) = server(6) else { return };
    for command in [
        "SET string old PX 3600123",
        "RPUSH list a old c",
        "SADD set old other",
        "ZADD zset 1.25 old 2 other",
        "HSET hash field old",
    ] {
        raw.run(command);
    }
    for key in ["list", "set", "zset", "hash"] {
        raw.run(&format!("PEXPIRE {key} 3600123"));
    }
    let expiries = |raw: &mut Raw| {
        ["string", "list", "set", "zset", "hash"]
            .map(|key| raw.run(&format!("PEXPIRETIME {key}")).concat())
    };
    let before = expiries(&mut raw);
    assert!(before.iter().all(|time| time.len() > 10));
    let mut source = Redis::open(&url).unwrap();
    let places: [(&[u8], Option<Part<'_>>); 5] = [
        (b"string", None),
        (b"list", Some(Part::Index(1))),
        (b"set", Some(Part::Member)),
        (b"zset", Some(Part::Score(1.25))),
        (b"hash", Some(Part::Field(b"field"))),
    ];
    for (key, part) in places {
        let at = At { database: 6, key, part };
        let mut replace =
            |old: &[u8], new: &[u8]| source.replace_if_unchanged(&at, old, new).unwrap();
        let lost = if matches!(key, b"set" | b"zset") { Replaced::Gone } else { Replaced::Changed };
        assert_eq!(replace(b"another", b"new"), lost);
        assert_eq!(replace(b"old", b"new \xff\x00"), Replaced::Done);
        assert_eq!(replace(b"old", b"new"), lost);
        assert_eq!(replace(b"new \xff\x00", b"old"), Replaced::Done);
        assert_eq!(replace(b"old", b"old"), Replaced::Done);
    }
    assert_eq!(expiries(&mut raw), before);
    let (lines, _) = read(&mut source, &Wanted::default());
    let expected = [
        "hash hash field old",
        "list list 0 a",
        "list list 1 old",
        "list list 2 c",
        "set set member old",
        "set set member other",
        "string string - old",
        "zset zset 1.25 old",
        "zset zset 2 other",
    ];
    assert_eq!(lines, expected);

    let at = |key, part| At { database: 6, key, part };
    let mut replace = |at: &At<'_>| source.replace_if_unchanged(at, b"old", b"other");
    assert_eq!(replace(&at(b"nothing", None)).unwrap(), Replaced::Gone);
    assert_eq!(replace(&at(b"hash", Some(Part::Field(b"none")))).unwrap(), Replaced::Gone);
    assert_eq!(replace(&at(b"list", Some(Part::Index(9)))).unwrap(), Replaced::Gone);
    assert_eq!(replace(&at(b"hash", None)).unwrap(), Replaced::Changed);
    assert_eq!(replace(&at(b"zset", Some(Part::Score(9.0)))).unwrap(), Replaced::Changed);
    for place in [at(b"set", Some(Part::Member)), at(b"zset", Some(Part::Score(1.25)))] {
        let error = replace(&place).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unrepresentable);
        assert!(error.to_string().contains("among the members"), "{error}");
    }
    // A server that has restarted knows no scripts.
    raw.run("SCRIPT FLUSH");
    assert_eq!(replace(&at(b"string", None)).unwrap(), Replaced::Done);
}

/// What was read before is kept, and the error says what happened.
#[test]
fn a_connection_that_is_lost_is_told() {
    let Some((url, mut raw)) = server(7) else { return };
    raw.run("ACL SETUSER vanish on >secret ~* &* +@all");
    for index in 0..2000 {
        raw.run(&format!("SET key:{index} x"));
    }
    let mut source = Redis::open(&url.replace("://", "://vanish:secret@")).unwrap();
    let mut items = 0;
    let result = source.read(&Wanted::default(), &mut |_| {
        items += 1;
        if items == 10 {
            raw.run("CLIENT KILL USER vanish");
        }
        Ok(Flow::Continue)
    });
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!((10..2000).contains(&items), "{items}");
    let text = error.to_string();
    assert!(text.contains("127.0.0.1:") && text.contains("try again"), "{text}");
    assert!(!text.contains("secret"), "{text}");
}

#[test]
fn what_the_server_refuses_is_told() {
    let Some((url, mut raw)) = server(8) else { return };
    raw.run("ACL SETUSER reader on >secret ~user:* &* +@read +@connection +type +pttl +object +time +select");
    raw.run("SET user:1 x");
    let mut source = Redis::open(&url.replace("://", "://reader:secret@")).unwrap();
    // It may not ask for the version either, which does not matter.
    let (lines, summary) = read(&mut source, &Wanted { prefix: b"user:", ..Wanted::default() });
    assert_eq!(lines, ["string user:1 - x"]);
    assert_eq!(summary.unwrap().title, "Redis of an unknown version");
    let at = At { database: 8, key: b"user:1", part: None };
    let error = source.replace_if_unchanged(&at, b"x", b"y").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    // A key that it may not read ends the reading.
    raw.run("SET other x");
    let error = read(&mut source, &Wanted::default()).1.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");

    let error = Redis::open(&url.replace("://", "://reader:wrong@")).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    assert!(!error.to_string().contains("wrong@"), "{error}");
    let error = Redis::open("redis://127.0.0.1:1").err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
}

#[test]
fn long_strings_are_refused_and_can_be_passed_over() {
    let Some((url, mut raw)) = server(9) else { return };
    let long = vec![b'x'; 5 << 20];
    for key in ["a", "b", "c"] {
        raw.ask(&[b"SET", key.as_bytes(), &long]);
    }
    let mut source = Redis::open(&url).unwrap();
    let summary = read(&mut source, &Wanted::default()).1.unwrap();
    assert_eq!(summary.item_bytes, 3 * (5 << 20) + 3);
    let limited = Wanted { value_bytes_max: 1 << 20, ..Wanted::default() };
    let error = read(&mut source, &limited).1.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    assert!(read(&mut source, &Wanted { values: false, ..limited }).1.is_ok());
}

#[test]
fn a_socket_and_tls_lead_to_the_same_keys() {
    let Some((_, mut raw)) = server(10) else { return };
    raw.run("SET here x");
    if let Some(socket) = url("redis", "_SOCKET") {
        let mut source = Redis::open(&format!("{socket}?db=10")).unwrap();
        assert_eq!(read(&mut source, &Wanted::default()).0, ["string here - x"]);
    }
    // Without openssl, the server has no TLS.
    if let Ok(tls) = std::env::var("REGAUGE_TEST_REDIS_TLS") {
        let mut source = Redis::open(&format!("{tls}/10")).unwrap();
        assert_eq!(read(&mut source, &Wanted::default()).0, ["string here - x"]);
    }
}

#[test]
fn all_masters_of_a_cluster_are_read_and_written() {
    let Some(url) = url("redis-cluster", "") else { return };
    let mut source = Redis::open(&url).unwrap();
    let mut nodes: Vec<Raw> = Vec::new();
    let slots = Raw::open(&url).run("CLUSTER SLOTS");
    for (place, word) in slots.iter().enumerate() {
        if word == b"127.0.0.1" {
            let port = str::from_utf8(&slots[place + 1]).unwrap();
            nodes.push(Raw::open(&format!("redis://127.0.0.1:{port}")));
        }
    }
    assert_eq!(nodes.len(), 3);
    let mut expected = Vec::new();
    for index in 0..300 {
        let command = format!("SET key:{index} {index} PX 3600123");
        let words: Vec<&[u8]> = command.split(' ').map(str::as_bytes).collect();
        let holders = nodes.iter_mut().map(|node| node.ask(&words)).filter(|said| said[0] == b"OK");
        assert_eq!(holders.count(), 1);
        expected.push(format!("string key:{index} - {index}"));
    }
    expected.sort();
    let (lines, summary) = read(&mut source, &Wanted::default());
    assert_eq!(lines, expected);
    let title = summary.unwrap().title;
    assert!(title.ends_with("3 masters of a cluster"), "{title}");
    for index in 0..30 {
        let key = format!("key:{index}");
        let at = At { database: 0, key: key.as_bytes(), part: None };
        let old = index.to_string();
        assert_eq!(
            source.replace_if_unchanged(&at, old.as_bytes(), b"new").unwrap(),
            Replaced::Done
        );
        assert_eq!(
            source.replace_if_unchanged(&at, old.as_bytes(), b"new").unwrap(),
            Replaced::Changed
        );
    }
    let (lines, _) = read(&mut source, &Wanted::default());
    assert_eq!(lines.iter().filter(|line| line.ends_with(" new")).count(), 30);
}

#[test]
fn a_sentinel_names_the_master() {
    let (Some(url), Some(locked)) =
        (url("redis-sentinel", ""), std::env::var("REGAUGE_TEST_REDIS_LOCKED").ok())
    else {
        return;
    };
    let mut raw = Raw::open(&locked);
    raw.run("AUTH p@ss");
    raw.run("SET here x");
    // The Sentinel has no password, and the master has one.
    let mut source = Redis::open(&format!("{url}?master=main")).unwrap();
    assert_eq!(read(&mut source, &Wanted::default()).0, ["string here - x"]);
    let error = Redis::open(&format!("{url}?master=other")).err().unwrap().to_string();
    assert!(
        error.contains("found no master \"other\"") && error.ends_with("it watches: main"),
        "{error}"
    );
    let bare = url.split_once('@').unwrap().1;
    // It knows one master only, whose password is missing.
    let error = Redis::open(&format!("redis://{bare}")).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    let error = Redis::open(&locked).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    assert!(error.to_string().contains("put user and password into the URL"), "{error}");
    let error = Redis::open(&format!("{}?master=main", locked.replace("://", "://:p%40ss@")))
        .err()
        .unwrap();
    assert!(error.to_string().contains("expected a Sentinel"), "{error}");
}
