//! Adopting other programs' tables in an SQLite file, and files that are not databases.

use regauge::Format;
use regauge_store::engine;
use regauge_store::reencode::{self, Plan};
use regauge_store::{Assume, Error, KeyKind, Layout, Order, Range, Settings, Store, verify};

#[test]
fn a_table_of_others_is_adopted_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    // As ActiveRecord writes it: Marshal in a binary column, Marshal in Base64 with line breaks
    // (Ruby's encode64), YAML in a text column.
    connection
        .execute_batch(
            "CREATE TABLE pending (id INTEGER PRIMARY KEY, object BLOB, coded TEXT, yaml TEXT);
             INSERT INTO pending VALUES
               (2, x'04085b07690669077', NULL, NULL) ON CONFLICT DO NOTHING;"
                .replace("x'04085b07690669077'", "x'04085b0769066907'")
                .as_str(),
        )
        .unwrap();
    connection
        .execute(
            "UPDATE pending SET coded = ?1, yaml = ?2 WHERE id = 2",
            ("BAhbB2kG\naQc=\n", "---\n- 1\n- 2\n"),
        )
        .unwrap();
    connection.execute("INSERT INTO pending VALUES (10, x'0408', '!', '[')", []).unwrap();
    drop(connection);
    let url = format!("sqlite:{}", path.display());
    for (column, assume, text) in
        [("object", "marshal", false), ("coded", "base64:marshal", true), ("yaml", "yaml", true)]
    {
        let mut store = Store::open(&url, column, None).unwrap();
        let assume: Assume = assume.parse().unwrap();
        let layout = Layout {
            table: "pending".into(),
            key: "id".into(),
            value: column.into(),
            key_kind: KeyKind::Integer,
            text,
        };
        let codec = "msgpack".parse().unwrap();
        store.adopt(Settings { codec, assume: Some(assume), layout }).unwrap();
        assert_eq!(store.get(b"2", Format::Json).unwrap().unwrap(), b"[1,2]", "{column}");
        assert!(store.get(b"10", Format::Json).is_err());
        let plan = Plan { to: codec, dry_run: false, rate: None };
        let mut told = 0;
        let mut on_refused = |_: &Error| {
            told += 1;
            Ok(())
        };
        let outcome = reencode::reencode(&mut store, &plan, &mut on_refused, &mut |_| ()).unwrap();
        assert_eq!((outcome.values, outcome.changed, outcome.refused), (2, 1, 1), "{column}");
        assert_eq!(told, 1);
        let entry = store.entry(b"2").unwrap().unwrap();
        assert_eq!(entry.document, b"\x92\x01\x02", "{column}");
        assert!(entry.created.is_some());
        // The broken value stays unchanged.
        assert!(store.get(b"10", Format::Json).is_err());
        assert!(
            store.put(b"x", b"1", Format::Json).unwrap_err().to_string().contains("whole numbers")
        );
    }
    let engine = engine::open(&url).unwrap();
    assert_eq!(Store::collections(&*engine).unwrap(), ["coded", "object", "yaml"]);
    let mut store = Store::open(&url, "nothing", None).unwrap();
    let layout = Layout { table: "absent".into(), ..store.settings().layout.clone() };
    let error = store.adopt(Settings { layout, ..store.settings().clone() }).unwrap_err();
    assert!(error.to_string().contains("absent"), "{error}");
}

#[test]
fn names_urls_and_damaged_files() {
    let folder = tempfile::tempdir().unwrap();
    let told = |url: &str| engine::open(url).err().unwrap().to_string();
    assert!(told("redis://x").contains("expected sqlite:PATH"));
    assert!(told("sqlite:/no/such/folder/x.db").starts_with("cannot open /no/such/folder/x.db: "));
    let junk = folder.path().join("junk.db");
    std::fs::write(&junk, "this is no database, whatever its name says".repeat(100)).unwrap();
    assert!(told(&format!("sqlite:{}", junk.display())).contains("not an SQLite database"));
    let url = format!("sqlite:{}", folder.path().join("a.db").display());
    for name in ["", "a b", "x;drop", "regauge_notes", "é"] {
        assert!(Store::open(&url, name, None).is_err(), "{name}");
    }
}

/// Another program's database, and the message from adopting a part of it.
fn refused_to_adopt(sql: &str, key: &str, kind: KeyKind, value: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let url = format!("sqlite:{}", path.display());
    let mut store = Store::open(&url, "theirs", None).unwrap();
    let layout = Layout {
        table: "t".into(),
        key: key.into(),
        value: value.into(),
        key_kind: kind,
        text: false,
    };
    let settings =
        Settings { codec: "json".parse().unwrap(), assume: Some("json".parse().unwrap()), layout };
    match store.adopt(settings) {
        Ok(()) => {
            let quiet = &mut |_: &Error| Ok(());
            let found = verify::verify(&mut store, &Range::all(), quiet, &mut |_| ());
            found.map_or_else(
                |error| error.to_string(),
                |found| format!("{} good", found.values - found.bad),
            )
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_table_that_cannot_be_a_collection_is_refused_with_the_reason() {
    let make = "CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT);
                INSERT INTO t VALUES ('1', '1'), ('2', NULL), ('3', 3), ('x', '[');";
    assert_eq!(refused_to_adopt(make, "k", KeyKind::Text, "v"), "2 good");
    let told = refused_to_adopt(make, "kk", KeyKind::Text, "v");
    assert!(told.contains("no column kk, but k, v"), "{told}");
    let told = refused_to_adopt(make, "v", KeyKind::Text, "k");
    assert!(told.contains("column v is not unique"), "{told}");
    for kind in [KeyKind::Integer, KeyKind::Bytes] {
        let told = refused_to_adopt(make, "k", kind, "v");
        assert!(told.contains("holds a key of type Text, expected "), "{told}");
    }
    let last = "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT);
                INSERT INTO t VALUES (9223372036854775807, '1'), (-1, '2');";
    assert_eq!(refused_to_adopt(last, "k", KeyKind::Integer, "v"), "2 good");
}

#[test]
fn a_table_of_another_program_is_not_taken_over_by_chance() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE kv (key TEXT PRIMARY KEY, value TEXT)").unwrap();
    let url = format!("sqlite:{}", path.display());
    for name in ["kv", "KV"] {
        let mut store = Store::open(&url, name, None).unwrap();
        let told = store.put(b"a", b"1", Format::Json).unwrap_err().to_string();
        assert!(told.contains("has a table"), "{told}");
    }
    let count: i64 = connection.query_row("SELECT count(*) FROM kv", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 0);
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "delete", "their journal is theirs");
}

/// Another program's table `t` with these rows, adopted as a collection of values of a format.
fn adopted(
    folder: &tempfile::TempDir,
    sql: &str,
    kind: KeyKind,
    assume: &str,
    text: bool,
) -> Store {
    let path = folder.path().join("app.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let mut store = Store::open(&format!("sqlite:{}", path.display()), "theirs", None).unwrap();
    let layout =
        Layout { table: "t".into(), key: "k".into(), value: "v".into(), key_kind: kind, text };
    let assume: Assume = assume.parse().unwrap();
    let codec = regauge_store::Codec::new(assume.format, regauge_store::Compression::None).unwrap();
    store.adopt(Settings { codec, assume: Some(assume), layout }).unwrap();
    store
}

fn keys(store: &mut Store, range: &Range, order: Order) -> Vec<String> {
    let mut found = Vec::new();
    let each = &mut |_: &mut Store, key: &[u8], _: &[u8]| {
        found.push(String::from_utf8(key.to_vec()).unwrap());
        Ok(true)
    };
    store.scan(range, order, each).unwrap();
    found
}

#[test]
fn every_flipped_bit_of_what_regauge_put_into_an_adopted_table_is_found() {
    for (assume, column, text) in
        [("yaml", "BLOB", false), ("json", "TEXT", true), ("base64:marshal", "TEXT", true)]
    {
        let folder = tempfile::tempdir().unwrap();
        let sql = format!("CREATE TABLE t (k TEXT PRIMARY KEY, v {column})");
        let mut store = adopted(&folder, &sql, KeyKind::Text, assume, text);
        store.put(b"k", b"[1,2,3]", Format::Json).unwrap();
        let path = folder.path().join("app.db");
        let connection = rusqlite::Connection::open(&path).unwrap();
        let good: Vec<u8> =
            connection.query_row("SELECT CAST(v AS BLOB) FROM t", [], |row| row.get(0)).unwrap();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let sql = match text {
                true => "UPDATE t SET v = CAST(?1 AS TEXT)",
                false => "UPDATE t SET v = ?1",
            };
            connection.execute(sql, [&bad]).unwrap();
            let told = store.get(b"k", Format::Json);
            let told = told.map(|found| String::from_utf8(found.unwrap()).unwrap());
            assert!(matches!(told, Err(Error::Damaged { .. })), "{assume} bit {bit}: {told:?}");
        }
    }
}

#[test]
fn bson_whose_length_begins_like_an_envelope_is_bson() {
    // 0x67C1 bytes, little-endian: C1 67 00 00.
    let length = 0x67C1_u32;
    let text = "x".repeat(length as usize - 4 - 3 - 4 - 2);
    let mut document = length.to_le_bytes().to_vec();
    document.extend_from_slice(b"\x02s\0");
    document.extend_from_slice(&u32::try_from(text.len() + 1).unwrap().to_le_bytes());
    document.extend_from_slice(text.as_bytes());
    document.extend_from_slice(b"\0\0");
    assert_eq!(document.len(), length as usize);
    let folder = tempfile::tempdir().unwrap();
    let hex: String = document.iter().map(|byte| format!("{byte:02x}")).collect();
    let sql = format!(
        "CREATE TABLE t (k TEXT PRIMARY KEY, v BLOB);
         INSERT INTO t VALUES ('good', x'{hex}'), ('cut', substr(x'{hex}', 1, 1000));"
    );
    let mut store = adopted(&folder, &sql, KeyKind::Text, "bson", false);
    let json = store.get(b"good", Format::Json).unwrap().unwrap();
    assert_eq!(String::from_utf8(json).unwrap(), format!("{{\"s\":\"{text}\"}}"));
    assert!(store.get(b"cut", Format::Json).is_err());
}

#[test]
fn ranges_of_numbers_and_of_texts() {
    let folder = tempfile::tempdir().unwrap();
    let sql = "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT);
               INSERT INTO t VALUES (-5, '1'), (1, '1'), (9, '1'), (10, '1'), (100, '1');";
    let mut store = adopted(&folder, sql, KeyKind::Integer, "json", false);
    let told = store.prefix(b"1").unwrap_err().to_string();
    assert!(told.contains("whole numbers, which have no prefix"), "{told}");
    let range = Range { from: Some(b"9".to_vec()), to: Some(b"100".to_vec()) };
    assert_eq!(keys(&mut store, &range, Order::Ascending), ["9", "10"]);
    assert_eq!(keys(&mut store, &range, Order::Descending), ["10", "9"]);
    let all = store.prefix(b"").unwrap();
    assert_eq!(keys(&mut store, &all, Order::Ascending).len(), 5);

    let folder = tempfile::tempdir().unwrap();
    let sql = "CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT);
               INSERT INTO t VALUES ('a', '1'), ('a\u{7f}', '1'), ('a\u{7f}b', '1'), ('a\u{80}', '1'),
                 ('\u{ff}', '1'), ('\u{ff}x', '1'), ('\u{100}', '1'), ('\u{10FFFF}', '1');";
    let mut store = adopted(&folder, sql, KeyKind::Text, "json", false);
    for (prefix, expected) in [
        ("a\u{7f}", &["a\u{7f}", "a\u{7f}b"][..]),
        ("\u{ff}", &["\u{ff}", "\u{ff}x"]),
        ("\u{10FFFF}", &["\u{10FFFF}"]),
    ] {
        let range = store.prefix(prefix.as_bytes()).unwrap();
        assert_eq!(keys(&mut store, &range, Order::Ascending), expected);
        let mut down = keys(&mut store, &range, Order::Descending);
        down.reverse();
        assert_eq!(down, expected);
    }
    let none = Range { from: Some(b"\xFF".to_vec()), to: None };
    assert_eq!(keys(&mut store, &none, Order::Ascending), Vec::<String>::new());
}

#[test]
fn what_is_not_there_is_told_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.db");
    let url = format!("sqlite:{}", path.display());
    let told = Store::open_existing(&url, "objects").err().unwrap();
    assert!(matches!(told, Error::Absent(_)), "{told}");
    assert!(told.to_string().starts_with("no such file: "), "{told}");
    assert!(!path.exists());
    Store::open(&url, "one", None).unwrap().put(b"k", b"1", Format::Json).unwrap();
    let told = Store::open_existing(&url, "objects").err().unwrap().to_string();
    assert_eq!(told, "the database has no collection objects; it has one");
    assert!(Store::open_existing(&url, "one").unwrap().exists(b"k").unwrap());
}

#[test]
fn a_collation_never_mixes_up_keys() {
    let folder = tempfile::tempdir().unwrap();
    for (place, (collation, one, other)) in
        [("NOCASE", "a", "A"), ("RTRIM", "a", "a ")].into_iter().enumerate()
    {
        let make = format!(
            "DROP TABLE IF EXISTS t; CREATE TABLE t (k TEXT COLLATE {collation} PRIMARY KEY, v TEXT);
             INSERT INTO t VALUES ('{one}', '1'), ('B', '2');"
        );
        let mut store = adopted(&folder, &make, KeyKind::Text, "json", true);
        assert_eq!(store.get(other.as_bytes(), Format::Json).unwrap(), None, "{place}");
        assert!(!store.exists(other.as_bytes()).unwrap());
        assert!(!store.delete(other.as_bytes()).unwrap());
        let error = store.put(other.as_bytes(), b"3", Format::Json).unwrap_err();
        assert!(error.to_string().contains("equates the key with another one"), "{error}");
        let seen = store.stored(one.as_bytes()).unwrap();
        let error = store.put_if(other.as_bytes(), seen.as_deref(), b"3", Format::Json);
        assert!(matches!(error, Err(Error::Conflict { .. })));
        assert_eq!(store.get(one.as_bytes(), Format::Json).unwrap().unwrap(), b"1");
        assert_eq!(keys(&mut store, &Range::all(), Order::Ascending), ["B", one]);
        assert_eq!(keys(&mut store, &Range::prefix(b"A"), Order::Ascending), [""; 0]);
        store.put(one.as_bytes(), b"4", Format::Json).unwrap();
        store.put(b"c", b"5", Format::Json).unwrap();
        assert_eq!(keys(&mut store, &Range::all(), Order::Descending), ["c", one, "B"]);
    }
}
