//! A column of a table in an SQLite file.

#![cfg(feature = "sql")]

mod caches;

use std::path::PathBuf;

use caches::read;
use regauge::ErrorKind;
use regauge_sources::sql::{Access, Sql};
use regauge_sources::{At, Flow, Replaced, Sample, Source, Wanted};
use rusqlite::Connection;

/// A database of its own, with these statements run in it.
struct Database {
    _folder: tempfile::TempDir,
    path: PathBuf,
    raw: Connection,
}

fn database(statements: &str) -> Database {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch(statements).unwrap();
    Database { _folder: folder, path, raw }
}

impl Database {
    fn url(&self, parameters: &str) -> String {
        format!("sqlite:{}?{parameters}", self.path.display())
    }

    fn open(&self, parameters: &str) -> Sql {
        Sql::open(&self.url(parameters), Access::Write).unwrap()
    }

    fn refused(&self, parameters: &str) -> String {
        let error = Sql::open(&self.url(parameters), Access::Read).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        error.to_string()
    }

    fn lines(&self, parameters: &str) -> Vec<String> {
        let (lines, summary) = read(&mut self.open(parameters), &Wanted::default());
        assert!(summary.unwrap().is_whole);
        lines
    }

    /// The value and its type.
    fn cell(&self, select: &str) -> (Vec<u8>, String) {
        let sql = format!("SELECT CAST(v AS BLOB), typeof(v) FROM ({select})");
        self.raw.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    }
}

fn at(key: &str) -> At<'_> {
    At { database: 0, key: key.as_bytes(), part: None }
}

#[test]
fn values_come_with_the_keys_of_their_rows() {
    let made = database(
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY, body BLOB, n INTEGER);
         INSERT INTO jobs VALUES (10, x'0408', 1), (9, 'tëxt', 2), (-1, NULL, 3), (11, x'', 4), (12, 1.5, 5);",
    );
    let mut expected = ["9 - t\\xc3\\xabxt", "10 - \\x04\\x08", "11 - ", "12 - 1.5"]
        .map(|line| format!("string jobs.body/{line}"));
    expected.sort();
    assert_eq!(made.lines("table=jobs&column=body"), expected);
    // In the order of the keys, and text is text.
    let mut found = Vec::new();
    let mut source = made.open("table=jobs&column=body");
    let summary = source
        .read(&Wanted { values: false, ..Wanted::default() }, &mut |item| {
            found.push((String::from_utf8(item.key.to_vec()).unwrap(), item.bytes, item.is_text));
            Ok(Flow::Continue)
        })
        .unwrap();
    let expected = [("9", 5, true), ("10", 2, false), ("11", 0, false), ("12", 3, false)];
    assert_eq!(
        found,
        expected.map(|(key, bytes, is_text)| (format!("jobs.body/{key}"), bytes, is_text))
    );
    assert!(
        summary.title.starts_with("SQLite 3.") && summary.title.ends_with(", body of jobs"),
        "{}",
        summary.title
    );
    // Another unique column, and the number of a row.
    assert_eq!(made.lines("table=jobs&column=n&key=rowid").len(), 5);
    assert!(made.refused("table=jobs&column=body&key=n").contains("column n is not unique"));
}

#[test]
fn every_row_comes_once_whatever_its_key_and_the_pages() {
    let made = database(
        "CREATE TABLE a (k TEXT PRIMARY KEY COLLATE NOCASE, v BLOB) WITHOUT ROWID;
         CREATE TABLE b (k PRIMARY KEY, v BLOB);
         CREATE TABLE c (k BLOB NOT NULL, v BLOB);
         CREATE UNIQUE INDEX one ON c (k);
         CREATE TABLE d (k TEXT COLLATE NOCASE, v BLOB);
         CREATE UNIQUE INDEX two ON d (k COLLATE BINARY);
         WITH RECURSIVE n(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM n WHERE n < 1700)
         INSERT INTO a SELECT 'K' || n, zeroblob(n % 7) FROM n;
         INSERT INTO b SELECT k, v FROM a;
         INSERT INTO b SELECT CAST(k AS BLOB), v FROM a;
         INSERT INTO b SELECT CAST(substr(k, 2) AS INTEGER), v FROM a;
         INSERT INTO c SELECT CAST(k AS BLOB), zeroblob(100000) FROM a WHERE k < 'K15';
         INSERT INTO d VALUES ('a', 'x'), ('A', 'y'), ('b', 'z');",
    );
    for (table, rows) in [("a", 1701), ("b", 3 * 1701), ("c", 557), ("d", 3)] {
        let parameters = format!("table={table}&column=v&key=k");
        let mut source = made.open(&parameters);
        let mut keys = Vec::new();
        let summary = source
            .read(&Wanted { rate: Some(100_000), ..Wanted::default() }, &mut |item| {
                keys.push(item.key.to_vec());
                Ok(Flow::Continue)
            })
            .unwrap();
        assert_eq!((keys.len(), summary.keys), (rows, rows as u64), "{table}");
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), rows, "{table}");
    }
}

#[test]
fn keys_are_chosen_and_counted() {
    let made = database(
        "CREATE TABLE t (k TEXT NOT NULL PRIMARY KEY, v BLOB);
         WITH RECURSIVE n(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM n WHERE n < 1199)
         INSERT INTO t SELECT 'user:' || n, 'value' || n FROM n;",
    );
    let count = |wanted: &Wanted<'_>| {
        let (lines, summary) = read(&mut made.open("table=t&column=v"), wanted);
        let summary = summary.unwrap();
        assert!(lines.iter().all(|line| {
            line.rsplit("user:")
                .next()
                .unwrap()
                .replace(" - value", "=")
                .split_once('=')
                .is_some_and(|(key, value)| key == value)
        }));
        (lines.len(), summary.keys, summary.passed_over, summary.is_whole)
    };
    let all = Wanted::default();
    assert_eq!(count(&all), (1200, 1200, 0, true));
    assert_eq!(count(&Wanted { prefix: b"t.v/user:11", ..all }), (111, 111, 1089, true));
    assert_eq!(count(&Wanted { prefix: b"user:", ..all }), (0, 0, 1200, true));
    assert_eq!(count(&Wanted { sample: Sample::EveryNth(100), ..all }), (12, 12, 1188, true));
    let first = count(&Wanted { sample: Sample::First(3), ..all });
    assert_eq!((first.0, first.3), (3, false));
    let longest = Wanted { value_bytes_max: 8, ..all };
    let (lines, result) = read(&mut made.open("table=t&column=v"), &longest);
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.to_string().contains("found a value of 9 bytes, expected at most 8"), "{error}");
    assert!(!lines.is_empty());
}

#[test]
fn a_value_is_replaced_only_if_it_is_still_the_old_one() {
    let made = database(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT COLLATE NOCASE, n INTEGER DEFAULT 7);
         INSERT INTO t (id, v) VALUES (1, x'04085b00'), (2, 'Text é'), (3, NULL), (4, 17);",
    );
    let mut source = made.open("table=t&column=v");
    let mut replace = |key: &str, old: &[u8], new: &[u8]| {
        source.replace_if_unchanged(&at(key), old, new).unwrap()
    };
    assert_eq!(replace("t.v/1", b"\x04\x08[\0", b"\x90\xff"), Replaced::Done);
    assert_eq!(made.cell("SELECT v FROM t WHERE id = 1"), (b"\x90\xff".to_vec(), "blob".into()));
    assert_eq!(replace("t.v/1", b"\x04\x08[\0", b"x"), Replaced::Changed);
    // Equal by the collation of the column, but not byte by byte.
    assert_eq!(replace("t.v/2", "text é".as_bytes(), b"x"), Replaced::Changed);
    assert_eq!(replace("t.v/2", "Text é".as_bytes(), "néw".as_bytes()), Replaced::Done);
    assert_eq!(made.cell("SELECT v FROM t WHERE id = 2"), ("néw".into(), "text".into()));
    assert_eq!(replace("t.v/3", b"", b"x"), Replaced::Gone);
    assert_eq!(replace("t.v/5", b"", b"x"), Replaced::Gone);
    assert_eq!(replace("t.v/x", b"", b"x"), Replaced::Gone);
    let n: i64 = made.raw.query_row("SELECT sum(n) FROM t", [], |row| row.get(0)).unwrap();
    assert_eq!(n, 28);
    let replaced = source.replace_if_unchanged(&at("u.v/1"), b"", b"").unwrap();
    assert_eq!(replaced, Replaced::Elsewhere);
}

#[test]
fn text_in_utf_16_and_text_that_is_none() {
    let made = database(
        "PRAGMA encoding = 'UTF-16le';
         CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT);
         INSERT INTO t VALUES (1, 'gdkpé');",
    );
    assert_eq!(made.lines("table=t&column=v"), ["string t.v/1 - gdkp\\xc3\\xa9"]);
    let mut source = made.open("table=t&column=v");
    let old = "gdkpé".as_bytes();
    assert_eq!(
        source.replace_if_unchanged(&at("t.v/1"), old, "{\"é\":1}".as_bytes()).unwrap(),
        Replaced::Done
    );
    let now: String = made.raw.query_row("SELECT v FROM t", [], |row| row.get(0)).unwrap();
    assert_eq!(now, "{\"é\":1}");
    // Bytes that a program stored as text come, and go back, as they are.
    let made = database(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, CAST(x'0408ff00' AS TEXT))",
    );
    assert_eq!(made.lines("table=t&column=v"), ["string t.v/1 - \\x04\\x08\\xff\\x00"]);
    let mut source = made.open("table=t&column=v");
    assert_eq!(
        source.replace_if_unchanged(&at("t.v/1"), b"\x04\x08\xff\0", b"[1]").unwrap(),
        Replaced::Done
    );
    assert_eq!(
        source.replace_if_unchanged(&at("t.v/1"), b"[1]", b"\x04\x08\xff\0").unwrap(),
        Replaced::Done
    );
    assert_eq!(made.cell("SELECT v FROM t"), (b"\x04\x08\xff\0".to_vec(), "text".into()));
}

#[test]
fn hostile_names_are_names() {
    let made = database(
        "CREATE TABLE \"a \"\"b'; DROP TABLE x;--é\" (\"k`[]\" TEXT NOT NULL PRIMARY KEY, \"c?1 \"\"\" BLOB);
         INSERT INTO \"a \"\"b'; DROP TABLE x;--é\" VALUES ('k''1', x'00'), ('', x'01');",
    );
    let parameters = "table=a%20%22b'%3B%20DROP%20TABLE%20x%3B--%C3%A9&column=c%3F1%20%22";
    let lines = made.lines(parameters);
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().any(|line| line.ends_with("/k\\'1 - \\x00")), "{lines:?}");
    let mut source = made.open(parameters);
    let key = "a \"b'; DROP TABLE x;--é.c?1 \"/k'1";
    assert_eq!(source.replace_if_unchanged(&at(key), b"\0", b"new").unwrap(), Replaced::Done);
    assert_eq!(made.lines(parameters).len(), 2);
}

#[test]
fn what_cannot_be_read_is_named() {
    let made = database(
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY, body BLOB);
         CREATE TABLE pairs (a, b, v, PRIMARY KEY (a, b));
         CREATE TABLE loose (v BLOB);
         CREATE TABLE holes (k TEXT PRIMARY KEY, v BLOB);
         INSERT INTO holes VALUES (NULL, x'00');
         CREATE TABLE reals (k REAL PRIMARY KEY, v BLOB);
         INSERT INTO reals VALUES (1.5, x'00');
         CREATE VIEW seen AS SELECT * FROM jobs;",
    );
    for (parameters, expected) in [
        (
            "",
            "found no table in the address, expected table=NAME&column=NAME; the database has holes, jobs, loose",
        ),
        (
            "table=job&column=body",
            "found no table job; the database has holes, jobs, loose, pairs, reals, seen",
        ),
        (
            "table=jobs",
            "found no column in the address, expected column=NAME; table jobs has id, body",
        ),
        ("table=jobs&column=data", "table jobs has no column data, but id, body"),
        ("table=jobs&column=body&key=uuid", "table jobs has no column uuid, but id, body"),
        (
            "table=pairs&column=v",
            "found a primary key of several columns (a, b), expected one of a single column",
        ),
        (
            "table=loose&column=v",
            "found no primary key, expected one of a single column; add key=COLUMN",
        ),
        ("table=seen&column=body", "found seen, which is a view"),
        ("table=seen&column=body&key=id", "found seen, which is a view"),
        ("table=holes&column=v", "rows in which the key"),
    ] {
        let told = made.refused(parameters);
        assert!(told.contains(expected), "{told}");
    }
    // The number of a row is a key if somebody says so.
    made.raw.execute("INSERT INTO loose VALUES (x'05')", []).unwrap();
    assert_eq!(made.lines("table=loose&column=v&key=rowid"), ["string loose.v/1 - \\x05"]);
    let (_, result) = read(&mut made.open("table=reals&column=v"), &Wanted::default());
    assert!(result.unwrap_err().to_string().contains("a number with a fraction"));
    let missing = Sql::open("sqlite:/nowhere/a.db?table=t&column=c", Access::Read).err().unwrap();
    assert!(missing.to_string().contains("no such file: /nowhere/a.db"), "{missing}");
    let told = made.refused("table=jobs&column=body&timeout=5");
    assert!(told.contains("its parameter timeout is not known"), "{told}");
}

#[test]
fn what_was_opened_to_read_cannot_write_and_a_lock_is_waited_for() {
    let made = database(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a'), (2, 'b');",
    );
    let mut reader = Sql::open(&made.url("table=t&column=v"), Access::Read).unwrap();
    let error = reader.replace_if_unchanged(&at("t.v/1"), b"a", b"b").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("the file is read-only"), "{error}");
    // Reading holds no lock between pages, not even within one.
    reader
        .read(&Wanted::default(), &mut |_| {
            made.raw.execute("UPDATE t SET v = v || 'x'", []).unwrap();
            Ok(Flow::Continue)
        })
        .unwrap();
    // Another writer lets go in time.
    made.raw.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let url = made.url("table=t&column=v");
    let waiting = std::thread::spawn(move || {
        let mut source = Sql::open(&url, Access::Write).unwrap();
        source.replace_if_unchanged(&at("t.v/1"), b"axx", b"new").unwrap()
    });
    std::thread::sleep(std::time::Duration::from_millis(300));
    made.raw.execute_batch("COMMIT").unwrap();
    assert_eq!(waiting.join().unwrap(), Replaced::Done);
}

#[test]
fn a_table_that_refuses_a_value_keeps_the_old_one() {
    let made = database(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB CHECK (length(v) < 5));
         INSERT INTO t VALUES (1, x'0408');",
    );
    let mut source = made.open("table=t&column=v");
    let error = source.replace_if_unchanged(&at("t.v/1"), b"\x04\x08", b"too long").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable);
    assert!(error.to_string().contains("refuses the new value"), "{error}");
    assert_eq!(made.cell("SELECT v FROM t").0, b"\x04\x08");
}
