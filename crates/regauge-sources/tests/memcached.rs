//! Memcached, and servers that break off or speak otherwise.

#![cfg(feature = "memcached")]

mod caches;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use caches::{read, url};
use regauge::ErrorKind;
use regauge_sources::memcached::Memcached;
use regauge_sources::{At, Flow, Part, Replaced, Sample, Source, Wanted};

/// A connection of its own, which fills the server and looks into it.
struct Raw(BufReader<TcpStream>);

impl Raw {
    fn open(url: &str) -> Raw {
        Raw(BufReader::new(TcpStream::connect(url.rsplit('/').next().unwrap()).unwrap()))
    }

    fn ask(&mut self, request: &[u8]) -> String {
        self.0.get_mut().write_all(request).unwrap();
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Puts a value. `flags` are those of the request.
    fn put(&mut self, name: &str, flags: &str, value: &[u8]) {
        let head = format!("ms {name} {} {flags}\r\n", value.len());
        assert_eq!(self.ask(&[head.as_bytes(), value, b"\r\n"].concat()), "HD");
    }
}

#[test]
fn values_come_with_flags_and_expiry() {
    let Some(url) = url("memcached", "") else { return };
    let mut raw = Raw::open(&url);
    let long = vec![b'x'; 900_000];
    raw.put("one:plain", "F5", b"value\r\n");
    raw.put("one:empty", "", b"");
    raw.put("one:later", "T3600", b"x");
    raw.put("one:long", "", &long);
    // `one:` and bytes that are no text.
    raw.put("b25lOv8A", "b F7", b"x");
    let mut source = Memcached::open(&url).unwrap();
    let wanted = Wanted { prefix: b"one:", ..Wanted::default() };
    let mut found = Vec::new();
    let summary = source.read(&wanted, &mut |item| {
        let value = item.value.unwrap();
        assert_eq!((item.bytes, item.parts, item.is_first), (value.len() as u64, Some(1), true));
        assert!(item.idle.is_some_and(|idle| idle < 60));
        let left = item.expires_at.map(|time| {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
            time / 1000 - now.as_secs() as i64
        });
        found.push((item.key.escape_ascii().to_string(), value.len(), item.flags, left.is_some()));
        assert!(left.is_none_or(|left| (3590..=3601).contains(&left)), "{left:?}");
        Ok(Flow::Continue)
    });
    let summary = summary.unwrap();
    found.sort();
    let expected = [
        ("one:\\xff\\x00", 1, Some(7), false),
        ("one:empty", 0, Some(0), false),
        ("one:later", 1, Some(0), true),
        ("one:long", 900_000, Some(0), false),
        ("one:plain", 7, Some(5), false),
    ];
    let expected =
        expected.map(|(key, length, flags, later)| (key.to_owned(), length, flags, later));
    assert_eq!(found, expected);
    assert!(summary.is_whole && summary.title.starts_with("Memcached 1.6"), "{}", summary.title);
    // Nobody has used them, as far as the server knows.
    assert_eq!(raw.ask(b"mg one:plain h u\r\n"), "HD h0");

    let keys = Wanted { values: false, ..wanted };
    let (lines, summary) = read(&mut source, &keys);
    assert_eq!((lines.len(), summary.unwrap().items), (5, 5));
    assert_eq!(lines[4], "string one:plain - -");
    let first = read(&mut source, &Wanted { sample: Sample::First(2), ..keys });
    assert_eq!((first.0.len(), first.1.unwrap().is_whole), (2, false));
    let limited = Wanted { value_bytes_max: 899_999, ..wanted };
    let error = read(&mut source, &limited).1.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.to_string().contains("key \"one:long\""), "{error}");
    // The connection works after it, and after a caller that has stopped.
    let summary = source.read(&wanted, &mut |_| Ok(Flow::Stop)).unwrap();
    assert_eq!((summary.items, summary.is_whole), (1, false));
    assert_eq!(read(&mut source, &wanted).0.len(), 5);
}

#[test]
fn many_keys_are_read() {
    let Some(url) = url("memcached", "") else { return };
    let mut raw = Raw::open(&url);
    for index in 0..3000 {
        raw.put(&format!("many:{index}"), "", index.to_string().as_bytes());
    }
    let mut source = Memcached::open(&url).unwrap();
    let wanted = Wanted { prefix: b"many:", ..Wanted::default() };
    let (lines, summary) = read(&mut source, &wanted);
    let mut expected: Vec<_> =
        (0..3000).map(|index| format!("string many:{index} - {index}")).collect();
    expected.sort();
    assert_eq!(lines, expected);
    assert_eq!(summary.unwrap().vanished, 0);
}

#[test]
fn values_are_replaced_if_they_are_unchanged() {
    let Some(url) = url("memcached", "") else { return };
    let mut raw = Raw::open(&url);
    raw.put("two:a", "F5 T1000", b"old");
    raw.put("dHdvOv8A", "b F7", b"old");
    let mut source = Memcached::open(&url).unwrap();
    for key in [&b"two:a"[..], b"two:\xff\0"] {
        let at = At { database: 0, key, part: None };
        let mut replace =
            |old: &[u8], new: &[u8]| source.replace_if_unchanged(&at, old, new).unwrap();
        assert_eq!(replace(b"another", b"new"), Replaced::Changed);
        assert_eq!(replace(b"old", b"new\r\n\0"), Replaced::Done);
        assert_eq!(replace(b"old", b"new"), Replaced::Changed);
    }
    let about = raw.ask(b"mg two:a f s t u\r\n");
    let left: u32 = about.strip_prefix("HD f5 s6 t").unwrap().parse().unwrap();
    assert!((990..=1001).contains(&left), "{about}");
    let about = raw.ask(b"mg dHdvOv8A b f t s u\r\n");
    assert!(about.starts_with("HD f7 t-1 s6"), "{about}");
    let at = At { database: 0, key: b"two:none", part: None };
    assert_eq!(source.replace_if_unchanged(&at, b"", b"").unwrap(), Replaced::Gone);
    let at = At { part: Some(Part::Member), ..at };
    assert_eq!(source.replace_if_unchanged(&at, b"", b"").unwrap_err().kind(), ErrorKind::Refused);
}

/// A server that gives these answers to the requests of a connection, and closes it; one list for each connection.
fn pretend(connections: &'static [&'static [&'static str]]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("memcached://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for answers in connections {
            let (mut stream, _) = listener.accept().unwrap();
            open.push(std::thread::spawn(move || {
                for answer in *answers {
                    let mut request = [0; 65536];
                    if stream.read(&mut request).unwrap_or(0) == 0 {
                        return;
                    }
                    stream.write_all(answer.as_bytes()).unwrap();
                }
            }));
        }
        open.into_iter().for_each(|one| one.join().unwrap());
    });
    url
}

fn check(connections: &'static [&'static [&'static str]], kind: ErrorKind, expected: &str) {
    let url = pretend(connections);
    let opened = Memcached::open(&url);
    let error = match opened {
        Err(error) => error,
        Ok(mut source) => read(&mut source, &Wanted::default()).1.unwrap_err(),
    };
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn servers_that_break_off_are_told() {
    const KEYS: &str = "key=a exp=-1 la=1\nkey=b exp=-1 la=1\nEND\r\n";
    let io = ErrorKind::Io;
    check(&[&[]], io, "");
    check(&[&["VERSION 1.6.18\r\n"], &["key=a exp=-1 la=1\n"]], io, "expected an answer");
    check(
        &[&["VERSION 1.6.18\r\n"], &["BUSY currently processing\r\n"]],
        io,
        "another client lists the keys",
    );
    check(&[&["VERSION 1.6.18\r\n", "VA 5 f0\r\nab"], &[KEYS]], io, "in a value of 5 bytes");
    check(&[&["VERSION 1.6.18\r\n", "EN\r\n"], &[KEYS]], io, "expected an answer");
}

#[test]
fn servers_that_speak_otherwise_are_told() {
    let unsupported = ErrorKind::Unsupported;
    check(&[&["VERSION 1.5.22\r\n"]], unsupported, "found version 1.5.22, expected 1.6");
    check(
        &[&["HTTP/1.1 400 Bad Request\r\n"]],
        unsupported,
        "is a server there that speaks as Memcached does?",
    );
    check(&[&["VERSION 1.6.18\r\n"], &["ERROR\r\n"]], unsupported, "crawler");
    check(
        &[&["VERSION 1.6.18\r\n"], &["nonsense\r\n"]],
        unsupported,
        "cannot list the keys: found \"nonsense\"",
    );
    check(&[&["CLIENT_ERROR unauthenticated\r\n"]], ErrorKind::Refused, "password");
    check(&[&["VERSION 1.6.18\r\n", "VA x\r\n"], &["key=a exp=-1\nEND\r\n"]], unsupported, "VA x");
}
