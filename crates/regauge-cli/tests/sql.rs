//! `regauge xray` and `regauge migrate` on a column of a table in SQLite. `make test-caches` does the same with servers.

mod common;

use std::path::Path;

use common::Folder;
use rusqlite::Connection;
use serde_json::{Value, json};

/// A file that a framework made.
fn made(path: &str) -> Vec<u8> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/envelopes");
    std::fs::read(corpus.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Marshal of `[n]` for a small number.
fn marshal(n: u8) -> Vec<u8> {
    vec![4, 8, b'[', 6, b'i', n + 5]
}

const PENDING: &str = "sqlite:app.db?table=pending&column=object";

/// `app.db`: pending objects as bytes, some of which name a class; sessions and a cache as Django has them, as text.
fn application(folder: &Folder) -> Connection {
    let raw = Connection::open(folder.path("app.db")).unwrap();
    raw.execute_batch(
        "CREATE TABLE pending (id INTEGER PRIMARY KEY, object BLOB, note TEXT DEFAULT 'kept');
         CREATE TABLE django_session (session_key VARCHAR(40) NOT NULL PRIMARY KEY, session_data TEXT NOT NULL);
         CREATE TABLE cache (cache_key VARCHAR(255) NOT NULL PRIMARY KEY, value TEXT NOT NULL);
         CREATE TABLE texts (id INTEGER PRIMARY KEY, old TEXT);",
    )
    .unwrap();
    for n in 1..=100 {
        let object = match n % 10 {
            0 => b"\x04\x08o:\x08Foo\x06:\x0B@itemsi\x06".to_vec(),
            1 => format!("{{\"n\":{n}}}").into_bytes(),
            _ => marshal(n),
        };
        raw.execute("INSERT INTO pending (id, object) VALUES (?1, ?2)", (n, object)).unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().trim_end().to_owned();
        let session = text(made("django-5.2.19/session-dict.txt"));
        raw.execute("INSERT INTO django_session VALUES (?1, ?2)", (format!("{n:032x}"), session))
            .unwrap();
        let cached = text(made("django-5.2.19/table-dict.txt"));
        raw.execute("INSERT INTO cache VALUES (?1, ?2)", (format!(":1:page:{n}"), cached)).unwrap();
        raw.execute("INSERT INTO texts VALUES (?1, '(lp0\nI1\na.')", [n]).unwrap();
    }
    raw.execute("INSERT INTO pending (object) VALUES (NULL)", []).unwrap();
    raw
}

fn objects(raw: &Connection) -> Vec<Option<Vec<u8>>> {
    let mut select = raw.prepare("SELECT object FROM pending ORDER BY id").unwrap();
    select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn the_screen_names_what_is_in_a_column() {
    let folder = Folder::new();
    application(&folder);
    let ran = folder.run("xray app.db").status(1);
    assert!(ran.stderr.contains("sqlite:FILE?table=NAME&column=NAME"), "{}", ran.stderr);
    let text = folder.run(&format!("xray {PENDING}")).silent().text();
    for line in [
        "sqlite:app.db: SQLite 3.",
        ", object of pending, 100 keys, 100 values, ",
        "pending.object/*                100    749 B      –  90% marshal",
        "in formats that can run code when they are loaded: 90 values (90%)",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for (table, column, prefix, form) in [
        (
            "django_session",
            "session_data",
            "django_session.session_data/*",
            json!([["django-signed"], "json"]),
        ),
        ("cache", "value", "cache.value/:1:page:*", json!([["django-cache-table"], "pickle"])),
        ("texts", "old", "texts.old/*", json!([[], "pickle"])),
    ] {
        let ran = folder.run(&format!("xray sqlite:app.db?table={table}&column={column} --json"));
        let report: Value = serde_json::from_slice(&ran.silent().stdout).unwrap();
        let row = &report["prefixes"][0];
        let found = json!([row["forms"][0]["envelopes"], row["forms"][0]["codec"]]);
        assert_eq!((&row["prefix"], found), (&json!(prefix), form));
        assert_eq!(row["forms"][0]["values"], 100);
        // A table does not say when its rows expire.
        assert_eq!((&row["expiry"], &report["all"]["expiry"]), (&Value::Null, &Value::Null));
    }
    let listed = folder.run(&format!("xray {PENDING} --list --one-in 50")).silent().text();
    let keys: Vec<Value> = listed
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["key"].clone())
        .collect();
    assert_eq!(keys, ["pending.object/1", "pending.object/51"]);
    let counted =
        folder.run(&format!("xray {PENDING} --no-values --json --prefix pending.object/9"));
    let report: Value = serde_json::from_slice(&counted.silent().stdout).unwrap();
    assert_eq!(report["all"]["keys"], 11);
}

#[test]
fn a_column_moves_and_comes_back() {
    let folder = Folder::new();
    let raw = application(&folder);
    let before = objects(&raw);
    let dry = folder.run(&format!("migrate {PENDING} --to msgpack")).status(3).text();
    for line in [
        "would move to MessagePack: 80 values, ",
        "cannot move: 10 values",
        "(the first: pending.object/10)",
    ] {
        assert!(dry.contains(line), "{line}\n{dry}");
    }
    assert_eq!(objects(&raw), before);
    // What a program writes meanwhile stays.
    let applied = folder
        .run(&format!("migrate {PENDING} --to msgpack --apply --journal moved.ndjson"))
        .status(3);
    assert!(applied.text().starts_with("moved to MessagePack: 80 values, "), "{}", applied.text());
    let now = objects(&raw);
    for (n, (old, new)) in (1..).zip(before.iter().zip(&now)) {
        match n % 10 {
            0 | 1 => assert_eq!(old, new),
            _ => assert_eq!(new.as_deref().unwrap(), [0x91, n], "{n}"),
        }
    }
    raw.execute("UPDATE pending SET object = x'92' WHERE id = 3", []).unwrap();
    raw.execute("DELETE FROM pending WHERE id = 4", []).unwrap();
    let text = folder.run(&format!("migrate {PENDING} --undo moved.ndjson")).silent().text();
    assert_eq!(text, "put back: 78 values; written since, or never moved: 1; gone: 1\n");
    let mut expected = before;
    expected[2] = Some(vec![0x92]);
    expected.remove(3);
    assert_eq!(objects(&raw), expected);
    let kept: i64 = raw
        .query_row("SELECT count(*) FROM pending WHERE note = 'kept'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(kept, 100);
}

#[test]
fn text_stays_text_and_what_is_none_stays_as_it_is() {
    let folder = Folder::new();
    let raw = application(&folder);
    let url = "sqlite:app.db?table=texts&column=old";
    let ran = folder.run(&format!("migrate {url} --to msgpack")).status(3);
    assert!(
        ran.text().contains("100 found a column of text, which cannot hold MessagePack"),
        "{}",
        ran.text()
    );
    let ran =
        folder.run(&format!("migrate {url} --to json --apply --journal moved.ndjson")).silent();
    assert!(ran.text().starts_with("moved to JSON: 100 values"), "{}", ran.text());
    let all = "SELECT count(*) FROM texts WHERE typeof(old) = 'text' AND old = ?1";
    let count = |text: &str| raw.query_row(all, [text], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("[1]"), 100);
    folder.run(&format!("migrate {url} --undo moved.ndjson")).silent();
    assert_eq!(count("(lp0\nI1\na."), 100);
    // Django reads nothing but pickles in its cache, and only the application can sign a session.
    let ran = folder.run("migrate sqlite:app.db?table=cache&column=value --to json").status(3);
    assert!(ran.text().contains("cannot move: 100 values"), "{}", ran.text());
    folder.run("migrate sqlite:app.db?table=django_session&column=session_data --to json").silent();
}

#[test]
fn a_column_that_refuses_a_value_is_a_reason() {
    let folder = Folder::new();
    let raw = Connection::open(folder.path("app.db")).unwrap();
    raw.execute_batch(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB CHECK (substr(v, 1, 1) <> x'91'));
         INSERT INTO t VALUES (1, x'04085b066906'), (2, x'04085b00');",
    )
    .unwrap();
    let ran = folder
        .run("migrate sqlite:app.db?table=t&column=v --to msgpack --apply --journal j")
        .status(3);
    for line in [
        "moved to MessagePack: 1 value, ",
        "cannot move: 1 value\n",
        "a column that refuses the new value",
    ] {
        assert!(ran.text().contains(line), "{line}\n{}", ran.text());
    }
}

#[test]
fn what_is_wrong_is_named() {
    let folder = Folder::new();
    application(&folder);
    for (source, status, expected) in [
        ("sqlite:none.db?table=t&column=c", 2, "sqlite:none.db: no such file: none.db"),
        (
            "sqlite:app.db",
            2,
            "sqlite:app.db: found no table in the address, expected table=NAME&column=NAME; the \
          database has cache, django_session, pending, texts",
        ),
        ("sqlite:app.db?table=jobs&column=c", 2, "found no table jobs; the database has cache"),
        (
            "sqlite:app.db?table=pending&column=c",
            2,
            "table pending has no column c, but id, object, note",
        ),
        (
            "couchdb://u:secret@h/d",
            2,
            "found an address that begins with couchdb://, expected redis, ",
        ),
        #[cfg(feature = "servers")]
        (
            "mongodb://u:secret@h/d",
            2,
            "mongodb://…@h/d: found an address that names no field: it has no DATABASE.COLLECTION",
        ),
        #[cfg(feature = "servers")]
        (
            "cassandra://u:secret@h/k.t",
            2,
            "cassandra://…@h/k.t: found an address that names no column: its column is missing",
        ),
        #[cfg(not(feature = "servers"))]
        ("mongodb://u:secret@h/d", 2, "mongodb://…@h/d: this regauge was built without servers"),
        #[cfg(not(feature = "servers"))]
        ("cassandra://h/k.t", 2, "cassandra://h/k.t: this regauge was built without servers"),
    ] {
        let ran = folder.run(&format!("xray {source}")).status(status);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
    }
    folder.write("text.db", "this is not a database, but long enough to have a head of one: 100 bytes are what it takes to be sure");
    let ran = folder.run("xray sqlite:text.db?table=t&column=c").status(1);
    assert!(ran.stderr.contains("the file is not an SQLite database"), "{}", ran.stderr);
    #[cfg(not(feature = "servers"))]
    {
        let ran = folder.run("xray postgres://u:secret@h/d?table=t&column=c").status(2);
        assert!(
            ran.stderr.contains("which is not compiled in; build with the feature"),
            "{}",
            ran.stderr
        );
    }
}

/// A folder with `app.db`: the tables `a` and `b` of pickles.
fn pickles(values: &[&[u8]]) -> (Folder, Connection) {
    let folder = Folder::new();
    let raw = Connection::open(folder.path("app.db")).unwrap();
    for table in ["a", "b"] {
        raw.execute(&format!("CREATE TABLE {table} (id INTEGER PRIMARY KEY, v BLOB)"), []).unwrap();
        for value in values {
            raw.execute(&format!("INSERT INTO {table} (v) VALUES (?1)"), [value]).unwrap();
        }
    }
    (folder, raw)
}

const LIST: &[u8] = b"\x80\x04]\x94K\x01a.";

#[test]
fn a_file_that_is_no_journal_stays_as_it_is() {
    let (folder, _) = pickles(&[LIST]);
    folder.write("note.txt", "no newline");
    let migrate = "migrate sqlite:app.db?table=a&column=v --to msgpack --apply --journal note.txt";
    let ran = folder.run(migrate).status(2);
    assert!(ran.stderr.contains("note.txt: found a file that is not a journal"), "{}", ran.stderr);
    assert_eq!(folder.text("note.txt"), "no newline");
}

#[test]
fn a_journal_that_is_in_use_is_refused() {
    let (folder, _) = pickles(&[LIST]);
    folder.write("j", "");
    let held = std::fs::File::options().append(true).open(folder.path("j")).unwrap();
    held.try_lock().unwrap();
    for options in ["--to msgpack --apply --journal j", "--undo j"] {
        let ran =
            folder.run(&format!("migrate sqlite:app.db?table=a&column=v {options}")).status(2);
        assert!(ran.stderr.contains("j: another process is using this journal"), "{}", ran.stderr);
    }
}

#[test]
fn a_journal_of_two_tables_is_undone_one_after_the_other() {
    let (folder, raw) = pickles(&[LIST, LIST]);
    for table in ["a", "b"] {
        let source = format!("sqlite:app.db?table={table}&column=v");
        folder.run(&format!("migrate {source} --to msgpack --apply --journal j")).silent();
    }
    let count = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table} WHERE v = ?1");
        raw.query_row(&sql, [LIST], |row| row.get::<_, i64>(0)).unwrap()
    };
    let text = folder.run("migrate sqlite:app.db?table=b&column=v --undo j").silent().text();
    assert_eq!(
        text,
        "put back: 2 values; written since, or never moved: 0; gone: 0\n\
         in another table or collection, and left alone: 2 values\n"
    );
    assert_eq!((count("a"), count("b")), (0, 2));
    let text =
        folder.run("migrate sqlite:app.db?table=a&column=v --undo j --database 3").silent().text();
    assert!(text.contains("in another database, and left alone: 4 values"), "{text}");
    assert_eq!(count("a"), 0);
    folder.run("migrate sqlite:app.db?table=a&column=v --undo j").silent();
    assert_eq!((count("a"), count("b")), (2, 2));
    raw.execute("CREATE TABLE c (id INTEGER PRIMARY KEY, v BLOB)", []).unwrap();
    let ran = folder.run("migrate sqlite:app.db?table=c&column=v --undo j").status(2);
    assert!(ran.stderr.contains("found no value of this table"), "{}", ran.stderr);
    for option in ["--objects data", "--on-loss wrap"] {
        folder.run(&format!("migrate sqlite:app.db?table=a&column=v --undo j {option}")).status(2);
    }
}

#[test]
fn an_undo_keeps_to_the_rate() {
    let (folder, _) = pickles(&[LIST; 20]);
    folder.run("migrate sqlite:app.db?table=a&column=v --to msgpack --apply --journal j").silent();
    let began = std::time::Instant::now();
    folder.run("migrate sqlite:app.db?table=a&column=v --undo j --rate 20").silent();
    assert!(began.elapsed() >= std::time::Duration::from_millis(1000));
}

#[test]
fn what_is_not_kept_exactly_is_told() {
    // decimal.Decimal('3.5'), and NaN.
    let decimal = b"cdecimal\nDecimal\n(X\x03\0\0\x003.5tR.";
    let nan = b"\x80\x02G\x7F\xF8\0\0\0\0\0\0.";
    let (folder, _) = pickles(&[decimal, nan]);
    let source = "sqlite:app.db?table=a&column=v";
    let text =
        folder.run(&format!("migrate {source} --to json --on-loss approximate")).silent().text();
    assert!(text.contains("would move to JSON: 2 values"), "{text}");
    assert!(text.contains("not kept exactly, non-finite: once in 1 value (found "), "{text}");
    assert!(text.contains("would write null; the first: a.v/2)"), "{text}");
    let text = folder
        .run(&format!("migrate {source} --to msgpack --on-loss approximate --apply --journal j"));
    let text = text.silent().text();
    assert!(text.contains("not kept exactly, decimal: once in 1 value (found "), "{text}");
}

#[test]
fn pickles_with_trailing_bytes_stay_with_the_reason() {
    let (folder, _) = pickles(&[b"cos\nsystem\n(S\"id\"\ntR.zzz", LIST, b"Mrs."]);
    let ran = folder.run("migrate sqlite:app.db?table=a&column=v --to msgpack").status(3);
    for line in [
        "would move to MessagePack: 1 value, ",
        "cannot move: 1 value\n",
        "pickle: 1 value\n",
        "the first: a.v/1)",
    ] {
        assert!(ran.text().contains(line), "{line}\n{}", ran.text());
    }
    let report = folder.run("xray sqlite:app.db?table=a&column=v --json").silent().text();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["all"]["values"], 3);
    assert!(report.to_string().contains("os.system"), "{report}");
}
