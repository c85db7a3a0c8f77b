//! What every engine must do, in one suite. SQLite's always runs.

use regauge::{Format, OnLoss};
use regauge_store::engine::{self, Engine};
use regauge_store::reencode::{self, Plan};
use regauge_store::{Assume, verify};
use regauge_store::{Codec, Error, KeyKind, Layout, Order, Range, Settings, Store, series::Series};

/// Runs a test on every engine that is here.
fn on_every_engine(test: fn(&dyn Fn() -> Box<dyn Engine>)) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("store.db").display());
    test(&|| engine::open(&url).unwrap());
}

fn store(open: &dyn Fn() -> Box<dyn Engine>, collection: &str, codec: &str) -> Store {
    Store::with_engine(open(), collection, Some(codec.parse().unwrap())).unwrap()
}

/// All keys and documents of a range, as JSON.
fn listed(store: &mut Store, range: &Range, order: Order) -> Vec<(Vec<u8>, String)> {
    let mut found = Vec::new();
    store
        .scan(range, order, &mut |store, key, value| {
            let entry = store.unseal(key, value)?;
            let json = store.document(key, entry, Format::Json)?;
            found.push((key.to_vec(), String::from_utf8(json).unwrap()));
            Ok(true)
        })
        .unwrap();
    found
}

#[test]
fn a_document_comes_back_in_any_format_and_from_another_handle() {
    on_every_engine(|open| {
        for codec in ["json", "msgpack", "cbor+zstd", "marshal+lz4", "pickle+gzip", "yaml", "bson"]
        {
            let name = codec.replace('+', "_");
            let mut one = store(open, &name, codec);
            assert_eq!(one.get(b"a", Format::Json).unwrap(), None);
            assert!(!one.exists(b"a").unwrap());
            one.put(b"a", br#"{"n": [1, 2.5, null], "t": "\u00e9"}"#, Format::Json).unwrap();
            let mut other = store(open, &name, "json");
            assert_eq!(other.settings().codec.to_string(), codec, "the collection keeps its codec");
            let expected = "{\"n\":[1,2.5,null],\"t\":\"é\"}";
            assert_eq!(other.get(b"a", Format::Json).unwrap().unwrap(), expected.as_bytes());
            let msgpack = other.get(b"a", Format::Msgpack).unwrap().unwrap();
            assert_eq!(msgpack, b"\x82\xA1n\x93\x01\xCB\x40\x04\0\0\0\0\0\0\xC0\xA1t\xA2\xC3\xA9");
            assert!(other.exists(b"a").unwrap());
            assert!(other.delete(b"a").unwrap());
            assert!(!other.delete(b"a").unwrap());
            assert_eq!(one.get(b"a", Format::Json).unwrap(), None);
        }
    });
}

#[test]
fn what_the_codec_cannot_hold_is_refused_and_nothing_is_stored() {
    on_every_engine(|open| {
        let mut store = store(open, "strict", "json");
        let error = store.put(b"k", b"\x81\xA1b\xC4\x02\x00\xFF", Format::Msgpack).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("key \"k\": "), "{text}");
        assert!(text.contains("$.b"), "{text}");
        assert!(!store.exists(b"k").unwrap());
        store.on_loss = OnLoss::Wrap;
        store.put(b"k", b"\x81\xA1b\xC4\x02\x00\xFF", Format::Msgpack).unwrap();
        let back = store.get(b"k", Format::Msgpack).unwrap().unwrap();
        assert_eq!(back, b"\x81\xA1b\xC4\x02\x00\xFF");
        let broken = store.put(b"k2", b"{\"a\": ", Format::Json).unwrap_err();
        assert!(matches!(broken, Error::Document { .. }), "{broken}");
    });
}

#[test]
fn keys_are_any_bytes_in_the_order_of_their_bytes() {
    on_every_engine(|open| {
        let mut store = store(open, "keys", "msgpack");
        let keys: [&[u8]; 8] =
            [b"", b"\0", b"a", b"a\0b", b"ab", b"b", b"\xC3\xA9", b"\xFF\xFF\xFE"];
        for (index, key) in keys.iter().enumerate().rev() {
            store.put(key, index.to_string().as_bytes(), Format::Json).unwrap();
        }
        let all = listed(&mut store, &Range::all(), Order::Ascending);
        assert_eq!(all.iter().map(|(key, _)| &key[..]).collect::<Vec<_>>(), keys);
        assert_eq!(all[3].1, "3");
        let mut down = listed(&mut store, &Range::all(), Order::Descending);
        down.reverse();
        assert_eq!(down, all);
        let a = listed(&mut store, &Range::prefix(b"a"), Order::Ascending);
        assert_eq!(a.len(), 3);
        assert_eq!(listed(&mut store, &Range::prefix(b"\xFF"), Order::Ascending).len(), 1);
        let part = Range { from: Some(b"a".to_vec()), to: Some(b"ab".to_vec()) };
        assert_eq!(listed(&mut store, &part, Order::Descending).len(), 2);
    });
}

#[test]
fn a_long_range_comes_page_by_page_and_whole() {
    on_every_engine(|open| {
        let mut store = store(open, "long", "msgpack");
        let keys: Vec<String> = (0..3_500).map(|i| format!("{i:05}")).collect();
        let documents: Vec<(&[u8], Option<&[u8]>)> =
            keys.iter().map(|key| (key.as_bytes(), Some(&b"[1,2,3]"[..]))).collect();
        store.put_many(&documents, Format::Json).unwrap();
        for order in [Order::Ascending, Order::Descending] {
            let mut found = listed(&mut store, &Range::all(), order);
            if order == Order::Descending {
                found.reverse();
            }
            let found: Vec<_> = found.into_iter().map(|(key, _)| key).collect();
            assert!(found.iter().map(|key| &key[..]).eq(keys.iter().map(String::as_bytes)));
        }
        // Large values end a page early, and none is lost.
        let large = format!("\"{}\"", "x".repeat(3_000_000));
        for index in 0..5 {
            store.put(format!("z{index}").as_bytes(), large.as_bytes(), Format::Json).unwrap();
        }
        assert_eq!(listed(&mut store, &Range::prefix(b"z"), Order::Ascending).len(), 5);
    });
}

#[test]
fn a_batch_is_put_as_a_whole() {
    on_every_engine(|open| {
        let mut store = store(open, "batch", "json");
        store.put(b"old", b"0", Format::Json).unwrap();
        store
            .put_many(&[(b"a", Some(b"1")), (b"old", None), (b"b", Some(b"2"))], Format::Json)
            .unwrap();
        assert_eq!(listed(&mut store, &Range::all(), Order::Ascending).len(), 2);
        let failed = store.put_many(&[(b"c", Some(b"3")), (b"d", Some(b"{"))], Format::Json);
        assert!(failed.is_err());
        assert!(!store.exists(b"c").unwrap());
        let many = store.get_many(&[b"b", b"no", b"a"], Format::Json).unwrap();
        assert_eq!(many, [Some(b"2".to_vec()), None, Some(b"1".to_vec())]);
    });
}

#[test]
fn a_value_is_changed_only_if_it_is_still_the_one_that_was_seen() {
    on_every_engine(|open| {
        let mut one = store(open, "swap", "json");
        let mut two = store(open, "swap", "json");
        one.put_if(b"k", None, b"1", Format::Json).unwrap();
        assert!(matches!(two.put_if(b"k", None, b"2", Format::Json), Err(Error::Conflict { .. })));
        let seen = one.stored(b"k").unwrap().unwrap();
        two.put_if(b"k", Some(&seen), b"3", Format::Json).unwrap();
        assert!(one.put_if(b"k", Some(&seen), b"4", Format::Json).is_err());
        assert_eq!(one.get(b"k", Format::Json).unwrap().unwrap(), b"3");
    });
}

#[test]
fn a_series_is_read_newest_first() {
    on_every_engine(|open| {
        let mut store = store(open, "series", "msgpack+zstd");
        let day = std::time::Duration::from_secs(86_400);
        let series = Series::new("sensor 7", day).unwrap();
        let hour = 3_600_000_000_000;
        for step in -30..30 {
            let key = series.key(step * hour);
            store.put(&key, step.to_string().as_bytes(), Format::Json).unwrap();
        }
        store.put(b"sensor 70\0", b"0", Format::Json).unwrap();
        let range = series.range(-2 * hour, 3 * hour);
        let found = listed(&mut store, &range, Order::Descending);
        let values: Vec<&str> = found.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["2", "1", "0", "-1", "-2"]);
        assert_eq!(series.time(&found[0].0), Some(2 * hour));
        assert_eq!(listed(&mut store, &series.whole(), Order::Ascending).len(), 60);
    });
}

#[test]
fn every_flipped_bit_is_found_by_get_and_by_verify_and_the_rest_stays_readable() {
    on_every_engine(|open| {
        let engine = open();
        let mut store = store(open, "bits", "msgpack+zstd");
        for index in 0..20 {
            let document = format!("{{\"id\": {index}, \"text\": \"some text that is stored\"}}");
            store.put(&[index], document.as_bytes(), Format::Json).unwrap();
        }
        let layout = store.settings().layout.clone();
        let good = engine.get(&layout, &[7]).unwrap().unwrap();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            engine.put(&layout, &[7], &bad).unwrap();
            let error = store.get(&[7], Format::Json).unwrap_err();
            assert!(error.to_string().starts_with("key x'07': "), "bit {bit}: {error}");
        }
        let mut told = Vec::new();
        let mut on_bad = |error: &Error| {
            told.push(error.to_string());
            Ok(())
        };
        let found = verify::verify(&mut store, &Range::all(), &mut on_bad, &mut |_| ()).unwrap();
        assert_eq!((found.values, found.bad, found.bare), (20, 1, 0));
        assert_eq!(told.len(), 1);
        assert!(told[0].contains("x'07'"), "{told:?}");
        assert_eq!(found.codecs.len(), 1);
        assert_eq!(found.codecs[0].1, 19);
        for index in (0..20).filter(|index| *index != 7) {
            assert!(store.get(&[index], Format::Json).unwrap().is_some());
        }
    });
}

#[test]
fn reencoding_saves_goes_on_and_leaves_others_changes_alone() {
    on_every_engine(|open| {
        let mut one = store(open, "re", "json");
        let keys: Vec<String> = (0..1_000).map(|i| format!("{i:04}")).collect();
        let text: String = (0..40).map(|i| format!("\"field {i}\": \"value\", ")).collect();
        let document = format!("{{{text}\"end\": 1.5}}");
        let documents: Vec<(&[u8], Option<&[u8]>)> =
            keys.iter().map(|key| (key.as_bytes(), Some(document.as_bytes()))).collect();
        one.put_many(&documents, Format::Json).unwrap();
        let to: Codec = "msgpack+zstd".parse().unwrap();
        let quiet = &mut |_: &Error| Ok(());
        let dry = Plan { to, dry_run: true, rate: None };
        let would = reencode::reencode(&mut one, &dry, quiet, &mut |_| ()).unwrap();
        assert_eq!((would.values, would.changed), (1_000, 1_000));
        assert!(would.bytes_after * 2 < would.bytes_before, "{would:?}");
        assert_eq!(one.settings().codec.to_string(), "json", "a dry run changes nothing");

        // Stopped on the way, as by an error of its caller.
        let plan = Plan { dry_run: false, ..dry };
        let mut other = store(open, "re", "json");
        let mut seen = 0;
        let stopped = {
            let mut stop = |outcome: &reencode::Outcome| {
                seen = outcome.values;
                if outcome.values == 500 {
                    // Somebody else changes a value that is already read, and one that is not.
                    other.put(b"0499", b"\"mine\"", Format::Json).unwrap();
                    other.put(b"0900", b"\"mine\"", Format::Json).unwrap();
                    panic!("stopped");
                }
            };
            let run = std::panic::AssertUnwindSafe(|| {
                reencode::reencode(&mut one, &plan, &mut |_: &Error| Ok(()), &mut stop)
            });
            std::panic::catch_unwind(run)
        };
        assert!(stopped.is_err() && seen == 500);
        let mut one = store(open, "re", "json");
        let outcome = reencode::reencode(&mut one, &plan, quiet, &mut |_| ()).unwrap();
        assert_eq!(outcome.resumed_after.as_deref(), Some(&b"0399"[..]));
        assert_eq!(outcome.values, 601, "the last key of the note is looked at again");
        let found = verify::verify(&mut one, &Range::all(), quiet, &mut |_| ()).unwrap();
        assert_eq!((found.values, found.bad), (1_000, 0));
        assert_eq!(found.codecs.len(), 1, "{:?}", found.codecs);
        assert_eq!(found.codecs[0].0, to);
        assert_eq!(one.get(b"0499", Format::Json).unwrap().unwrap(), b"\"mine\"");
        assert_eq!(one.get(b"0900", Format::Json).unwrap().unwrap(), b"\"mine\"");
    });
}

#[test]
fn what_the_new_codec_cannot_hold_stays_and_is_told() {
    on_every_engine(|open| {
        let mut store = store(open, "refusing", "msgpack");
        store.put(b"bytes", b"\xC4\x01\xFF", Format::Msgpack).unwrap();
        store.put(b"plain", b"\x01", Format::Msgpack).unwrap();
        let plan = Plan { to: "json".parse().unwrap(), dry_run: false, rate: None };
        let mut told = Vec::new();
        let mut on_refused = |error: &Error| {
            told.push(error.to_string());
            Ok(())
        };
        let outcome = reencode::reencode(&mut store, &plan, &mut on_refused, &mut |_| ()).unwrap();
        assert_eq!((outcome.changed, outcome.refused), (1, 1));
        assert!(told[0].starts_with("key \"bytes\": "), "{told:?}");
        assert_eq!(store.get(b"bytes", Format::Msgpack).unwrap().unwrap(), b"\xC4\x01\xFF");
        assert_eq!(store.get(b"plain", Format::Json).unwrap().unwrap(), b"1");
    });
}

#[test]
fn dictionaries_are_kept_with_the_collection() {
    on_every_engine(|open| {
        let mut one = store(open, "dict", "json+zstd");
        let document = |i: u64| {
            let state = ["open", "paid", "sent"][(i % 3) as usize];
            format!(
                "{{\"order\":{i},\"state\":\"{state}\",\"customer\":{{\"number\":{}}}}}",
                i * 31
            )
        };
        for i in 0..600_u64 {
            one.put(&i.to_be_bytes(), document(i).as_bytes(), Format::Json).unwrap();
        }
        let before = one.stored(&5_u64.to_be_bytes()).unwrap().unwrap().len();
        one.train(600, 4_096).unwrap();
        one.put(&5_u64.to_be_bytes(), document(5).as_bytes(), Format::Json).unwrap();
        let after = one.stored(&5_u64.to_be_bytes()).unwrap().unwrap().len();
        assert!(after + 10 < before, "{before} to {after}");
        let mut other = store(open, "dict", "json");
        for i in [5, 6] {
            let back = other.get(&u64::to_be_bytes(i), Format::Json).unwrap().unwrap();
            assert_eq!(String::from_utf8(back).unwrap(), document(i));
        }
    });
}

#[test]
fn a_table_of_others_is_adopted_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    // As ActiveRecord makes it: Marshal in a column of bytes, Marshal in Base64 with broken lines
    // (Ruby's encode64), YAML in a column of text.
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
        // The broken value stays what it was.
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
    assert!(told(&format!("sqlite:{}", junk.display())).contains("no database of SQLite"));
    let url = format!("sqlite:{}", folder.path().join("a.db").display());
    for name in ["", "a b", "x;drop", "regauge_notes", "é"] {
        assert!(Store::open(&url, name, None).is_err(), "{name}");
    }
}

/// A database of others, and what adopting a part of it says.
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

#[test]
fn a_value_is_one_document_and_keeps_its_time() {
    on_every_engine(|open| {
        let mut store = store(open, "one", "msgpack");
        for several in [&b""[..], b"\x01\x02"] {
            let told = store.put(b"k", several, Format::Msgpack).unwrap_err().to_string();
            assert!(told.contains("documents, expected one"), "{told}");
        }
        store.put(b"k", b"1", Format::Json).unwrap();
        let before = store.entry(b"k").unwrap().unwrap().created;
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        let plan = Plan { to: "cbor".parse().unwrap(), dry_run: false, rate: None };
        reencode::reencode(&mut store, &plan, &mut |_| Ok(()), &mut |_| ()).unwrap();
        assert_eq!(store.entry(b"k").unwrap().unwrap().created, before);
    });
}
