//! What every engine must do, in one suite. It always runs on SQLite, and on a server with its
//! feature and if its URL is given (`make test-servers`).

mod engines;

use engines::{Fresh, Kind};
use regauge::{Format, OnLoss};
use regauge_store::engine::{self, Engine};
use regauge_store::reencode::{self, Plan};
use regauge_store::verify;
use regauge_store::{Codec, Error, Order, Range, Settings, Store, series::Series};

/// Reopens a test's database.
type Open<'o> = &'o dyn Fn() -> Box<dyn Engine>;

/// Runs a test on an engine, if it is available.
fn on(kind: Kind, test: fn(Open<'_>)) {
    if let Some(fresh) = Fresh::new(kind) {
        test(&|| fresh.open());
    }
}

macro_rules! contract {
    ($($name:ident),* $(,)?) => {
        contract! { @on sqlite Sqlite $($name)* }
        #[cfg(feature = "postgres")]
        contract! { @on postgres Postgres $($name)* }
        #[cfg(feature = "mysql")]
        contract! { @on mysql Mysql $($name)* }
        #[cfg(feature = "mongodb")]
        contract! { @on mongodb MongoDb $($name)* }
        #[cfg(feature = "cassandra")]
        contract! { @on cassandra Cassandra $($name)* }
    };
    (@on $module:ident $kind:ident $($name:ident)*) => {
        mod $module {
            $(
                #[test]
                fn $name() {
                    super::on(super::Kind::$kind, super::$name);
                }
            )*
        }
    };
}

contract! {
    a_document_comes_back_in_any_format_and_from_another_handle,
    what_the_codec_cannot_hold_is_refused_and_nothing_is_stored,
    keys_are_any_bytes_in_the_order_of_their_bytes,
    a_long_range_comes_page_by_page_and_whole,
    a_batch_is_put_as_a_whole,
    a_value_is_changed_only_if_it_is_still_the_one_that_was_seen,
    a_series_is_read_newest_first,
    every_flipped_bit_is_found_by_get_and_by_verify_and_the_rest_stays_readable,
    reencoding_saves_goes_on_and_leaves_others_changes_alone,
    what_the_new_codec_cannot_hold_stays_and_is_told,
    dictionaries_are_kept_with_the_collection,
    a_value_is_one_document_and_keeps_its_time,
    a_large_batch_puts_and_deletes_and_the_last_change_of_a_key_counts,
    large_values_come_back_whole,
    batches_at_the_same_time_do_not_undo_each_other,
    others_see_a_new_collection_and_its_settings,
    a_collection_whose_making_was_cut_short_is_made_again,
    notes_are_kept_by_name,
    a_later_run_looks_again_at_what_an_earlier_one_had_passed,
    a_collection_is_removed_with_all_that_is_noted_of_it,
    a_plain_table_holds_values_in_a_binary_column_or_in_base64,
}

fn store(open: Open<'_>, collection: &str, codec: &str) -> Store {
    Store::with_engine(open(), collection, Some(codec.parse().unwrap())).unwrap()
}

/// Returns all keys and documents of a range, as JSON.
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

fn a_collection_is_removed_with_all_that_is_noted_of_it(open: Open<'_>) {
    let mut stays = store(open, "stays", "json");
    stays.put(b"k", b"1", Format::Json).unwrap();
    let mut goes = store(open, "goes", "json");
    let large = format!("\"{}\"", "x".repeat(5 << 20));
    goes.put(b"k", large.as_bytes(), Format::Json).unwrap();
    goes.put_slices("s", None, &[(5, b"[1]")], Format::Json).unwrap();
    goes.remove().unwrap();
    assert_eq!(Store::collections(stays.engine()).unwrap(), ["stays"]);
    assert!(!goes.engine().has_table("goes").unwrap());
    assert_eq!(goes.get(b"k", Format::Json).unwrap(), None);
    assert!(goes.series_names().unwrap().is_empty());
    // A new one of the same name starts empty, with its own codec.
    let mut again = store(open, "goes", "msgpack");
    again.put(b"other", b"2", Format::Json).unwrap();
    assert_eq!(again.settings().codec.to_string(), "msgpack");
    assert_eq!(again.count().unwrap().0, 1);
    assert_eq!(stays.get(b"k", Format::Json).unwrap().unwrap(), b"1");
}

fn a_plain_table_holds_values_in_a_binary_column_or_in_base64(open: Open<'_>) {
    let mut sizes = Vec::new();
    for (name, text) in [("plain_binary", false), ("plain_text", true)] {
        let engine = open();
        let mut settings = Settings::new(name, "msgpack".parse().unwrap()).unwrap();
        engine.key_column().clone_into(&mut settings.layout.key);
        settings.layout.text = text;
        engine.create_plain(&settings.layout).unwrap();
        let mut store = Store::with_engine(engine, name, None).unwrap();
        store.adopt(settings).unwrap();
        let changes: [(&[u8], Option<&[u8]>); 2] = [(b"a", Some(b"[1,2]")), (b"b", Some(b"[3]"))];
        store.put_many(&changes, Format::Json).unwrap();
        let found = store.get_many(&[b"b", b"a"], Format::Json).unwrap();
        assert_eq!(found, [Some(b"[3]".to_vec()), Some(b"[1,2]".to_vec())]);
        let all = listed(&mut store, &Range::all(), Order::Ascending);
        assert_eq!(all, [(b"a".to_vec(), "[1,2]".to_owned()), (b"b".to_vec(), "[3]".to_owned())]);
        sizes.push(store.count().unwrap());
        store.remove().unwrap();
    }
    // Envelopes of 16 bytes and documents of 3 and 2. In text columns, an engine that counts by
    // reading values counts decoded bytes, and one with a built-in function counts characters.
    assert_eq!(sizes[0], (2, 16 + 3 + 16 + 2));
    assert!([(2, 37), (2, 28 + 24)].contains(&sizes[1]), "{sizes:?}");
}

fn a_document_comes_back_in_any_format_and_from_another_handle(open: Open<'_>) {
    for codec in ["json", "msgpack", "cbor+zstd", "marshal+lz4", "pickle+gzip", "yaml", "bson"] {
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
}

fn what_the_codec_cannot_hold_is_refused_and_nothing_is_stored(open: Open<'_>) {
    let mut store = store(open, "strict", "json");
    let error = store.put(b"k", b"\x81\xA1b\xC4\x02\x00\xFF", Format::Msgpack).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("key \"k\": "), "{text}");
    assert!(text.contains("$.b"), "{text}");
    assert!(!store.exists(b"k").unwrap());
    store.on_loss = OnLoss::Wrap;
    store.put(b"k", b"\x81\xA1b\xC4\x02\x00\xFF", Format::Msgpack).unwrap();
    // The codec's own maps that look like the notation are distinguished from it.
    let alike = b"\x82\xA2$q\x01\xA1x\x81\xAD$numberDouble\xA3NaN";
    store.put(b"alike", alike, Format::Msgpack).unwrap();
    (store.on_loss, store.unwrap) = (OnLoss::Refuse, true);
    let back = store.get(b"k", Format::Msgpack).unwrap().unwrap();
    assert_eq!(back, b"\x81\xA1b\xC4\x02\x00\xFF");
    assert_eq!(store.get(b"alike", Format::Msgpack).unwrap().unwrap(), alike);
    let json = store.get(b"alike", Format::Json).unwrap().unwrap();
    assert_eq!(json, br#"{"$q":1,"x":{"$numberDouble":"NaN"}}"#);
    store.unwrap = false;
    assert!(store.get(b"alike", Format::Json).unwrap().unwrap().starts_with(b"{\"$literal\""));
    store.put(b"alike", alike, Format::Msgpack).unwrap();
    assert_eq!(store.get(b"alike", Format::Msgpack).unwrap().unwrap(), alike, "plain is plain");
    let broken = store.put(b"k2", b"{\"a\": ", Format::Json).unwrap_err();
    assert!(matches!(broken, Error::Document { .. }), "{broken}");
}

fn keys_are_any_bytes_in_the_order_of_their_bytes(open: Open<'_>) {
    let mut store = store(open, "keys", "msgpack");
    let keys: [&[u8]; 8] = [b"", b"\0", b"a", b"a\0b", b"ab", b"b", b"\xC3\xA9", b"\xFF\xFF\xFE"];
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
}

fn a_long_range_comes_page_by_page_and_whole(open: Open<'_>) {
    let mut store = store(open, "long", "msgpack");
    // FerretDB on SQLite reads the whole table for each key: this would take minutes.
    let count = if store.engine().name().contains("FerretDB") { 1_300 } else { 3_500 };
    let keys: Vec<String> = (0..count).map(|i| format!("{i:05}")).collect();
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
}

fn a_batch_is_put_as_a_whole(open: Open<'_>) {
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
}

fn a_value_is_changed_only_if_it_is_still_the_one_that_was_seen(open: Open<'_>) {
    let mut one = store(open, "swap", "json");
    let mut two = store(open, "swap", "json");
    one.put_if(b"k", None, b"1", Format::Json).unwrap();
    assert!(matches!(two.put_if(b"k", None, b"2", Format::Json), Err(Error::Conflict { .. })));
    let seen = one.stored(b"k").unwrap().unwrap();
    two.put_if(b"k", Some(&seen), b"3", Format::Json).unwrap();
    assert!(one.put_if(b"k", Some(&seen), b"4", Format::Json).is_err());
    assert_eq!(one.get(b"k", Format::Json).unwrap().unwrap(), b"3");
}

fn a_series_is_read_newest_first(open: Open<'_>) {
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
}

fn every_flipped_bit_is_found_by_get_and_by_verify_and_the_rest_stays_readable(open: Open<'_>) {
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
}

fn reencoding_saves_goes_on_and_leaves_others_changes_alone(open: Open<'_>) {
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

    // Interrupted midway, as by an error from its callback.
    let plan = Plan { dry_run: false, ..dry };
    let mut other = store(open, "re", "json");
    let mut seen = 0;
    let stopped = {
        let mut stop = |outcome: &reencode::Outcome| {
            seen = outcome.values;
            if outcome.values == 500 {
                // Another writer changes a value that has been read already, and one that has not.
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
    assert_eq!(outcome.values, 1_000, "what the first run had passed is looked at again");
    // The other handle has seen the new codec already, if its engine takes more than a second.
    let others = outcome.already - 400;
    assert!(others <= 2 && outcome.changed == 600 - others, "{outcome:?}");
    let found = verify::verify(&mut one, &Range::all(), quiet, &mut |_| ()).unwrap();
    assert_eq!((found.values, found.bad), (1_000, 0));
    assert_eq!(found.codecs.len(), 1, "{:?}", found.codecs);
    assert_eq!(found.codecs[0].0, to);
    assert_eq!(one.get(b"0499", Format::Json).unwrap().unwrap(), b"\"mine\"");
    assert_eq!(one.get(b"0900", Format::Json).unwrap().unwrap(), b"\"mine\"");
}

fn what_the_new_codec_cannot_hold_stays_and_is_told(open: Open<'_>) {
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
}

fn dictionaries_are_kept_with_the_collection(open: Open<'_>) {
    let mut one = store(open, "dict", "json+zstd");
    let document = |i: u64| {
        let state = ["open", "paid", "sent"][(i % 3) as usize];
        format!("{{\"order\":{i},\"state\":\"{state}\",\"customer\":{{\"number\":{}}}}}", i * 31)
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
}

fn a_value_is_one_document_and_keeps_its_time(open: Open<'_>) {
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
}

fn a_large_batch_puts_and_deletes_and_the_last_change_of_a_key_counts(open: Open<'_>) {
    let mut store = store(open, "large", "msgpack");
    let keys: Vec<String> = (0..777).map(|i| format!("key {i:03}")).collect();
    let texts: Vec<String> = (0..777).map(|i| format!("[{i}]")).collect();
    let pairs = keys.iter().zip(&texts);
    let mut changes: Vec<(&[u8], Option<&[u8]>)> =
        pairs.clone().map(|(key, text)| (key.as_bytes(), Some(text.as_bytes()))).collect();
    changes.push((b"key 005", Some(b"\"again\"")));
    changes.push((b"key 006", None));
    changes.push((b"never there", None));
    changes.push((b"gone and back", None));
    changes.push((b"gone and back", Some(b"true")));
    store.put_many(&changes, Format::Json).unwrap();
    let mut asked: Vec<&[u8]> = keys.iter().map(String::as_bytes).collect();
    asked.extend([&b"no"[..], b"key 007", b"gone and back"]);
    let found = store.get_many(&asked, Format::Json).unwrap();
    for (index, text) in texts.iter().enumerate() {
        let expected = match index {
            5 => Some("\"again\""),
            6 => None,
            _ => Some(text.as_str()),
        };
        let found = found[index].as_deref().map(|one| std::str::from_utf8(one).unwrap());
        assert_eq!(found, expected, "{index}");
    }
    assert_eq!(found[777..], [None, Some(b"[7]".to_vec()), Some(b"true".to_vec())]);
    let gone: Vec<(&[u8], Option<&[u8]>)> = keys.iter().map(|key| (key.as_bytes(), None)).collect();
    store.put_many(&gone, Format::Json).unwrap();
    assert_eq!(listed(&mut store, &Range::all(), Order::Ascending).len(), 1);
    store.put_many(&[], Format::Json).unwrap();
    assert_eq!(store.get_many(&[], Format::Json).unwrap(), Vec::<Option<Vec<u8>>>::new());
}

fn large_values_come_back_whole(open: Open<'_>) {
    let mut one = store(open, "wide", "msgpack");
    // Incompressible, non-repeating data.
    let mut state = 1_u64;
    let mut bytes = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    for (key, length) in [(&b"a"[..], 70_000), (b"b", 1 << 20), (b"c", 9_000_001)] {
        let mut document = vec![0xC6];
        document.extend_from_slice(&u32::try_from(length).unwrap().to_be_bytes());
        document.extend((0..length).map(|_| bytes()));
        one.put(key, &document, Format::Msgpack).unwrap();
        let mut other = store(open, "wide", "json");
        assert!(other.get(key, Format::Msgpack).unwrap().unwrap() == document, "{length}");
        let seen = other.stored(key).unwrap().unwrap();
        other.put_if(key, Some(&seen), &document, Format::Msgpack).unwrap();
    }
    let mut found = Vec::new();
    let each = &mut |_: &mut Store, key: &[u8], value: &[u8]| {
        found.push((key.to_vec(), value.len()));
        Ok(true)
    };
    one.scan(&Range::all(), Order::Descending, each).unwrap();
    let lengths: Vec<usize> = found.iter().map(|(_, length)| *length).collect();
    assert_eq!(lengths, [9_000_001 + 21, (1 << 20) + 21, 70_000 + 21]);
    assert!(one.delete(b"c").unwrap());
    assert_eq!(one.get(b"c", Format::Json).unwrap(), None);
}

fn batches_at_the_same_time_do_not_undo_each_other(open: Open<'_>) {
    const ROUNDS: u32 = 25;
    store(open, "busy", "json").put(b"k", b"0", Format::Json).unwrap();
    let keys: Vec<String> = (0..20).map(|i| i.to_string()).collect();
    // Opened here: the test's opener belongs to its own thread.
    let stores = [store(open, "busy", "json"), store(open, "busy", "json")];
    std::thread::scope(|scope| {
        for (worker, mut store) in stores.into_iter().enumerate() {
            let mut keys = keys.clone();
            if worker == 1 {
                keys.reverse();
            }
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let text = format!("[{worker},{round}]");
                    let batch: Vec<(&[u8], Option<&[u8]>)> =
                        keys.iter().map(|key| (key.as_bytes(), Some(text.as_bytes()))).collect();
                    store.put_many(&batch, Format::Json).unwrap();
                }
            });
        }
    });
    let engine = open();
    let mut store = store(open, "busy", "json");
    let asked: Vec<&[u8]> = keys.iter().map(String::as_bytes).collect();
    let found = store.get_many(&asked, Format::Json).unwrap();
    let last = format!("{}]", ROUNDS - 1);
    for one in &found {
        let text = String::from_utf8(one.clone().unwrap()).unwrap();
        assert!(text.ends_with(&last), "{text}");
        assert!(!engine.is_atomic() || *one == found[0], "a batch is torn: {text}");
    }
}

fn others_see_a_new_collection_and_its_settings(open: Open<'_>) {
    let mut one = store(open, "first", "json");
    let mut two = store(open, "first", "cbor+gzip");
    two.put(b"k", b"1", Format::Json).unwrap();
    one.put(b"l", b"2", Format::Json).unwrap();
    assert_eq!(one.entry(b"l").unwrap().unwrap().codec.to_string(), "cbor+gzip");
    let to: Codec = "msgpack".parse().unwrap();
    one.save(Settings { codec: to, ..one.settings().clone() }).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    two.put(b"k", b"3", Format::Json).unwrap();
    assert_eq!(two.entry(b"k").unwrap().unwrap().codec, to);
    let names = Store::collections(&*open()).unwrap();
    assert_eq!(names, ["first"]);
}

fn a_collection_whose_making_was_cut_short_is_made_again(open: Open<'_>) {
    let layout = Settings::new("half", "json".parse().unwrap()).unwrap().layout;
    let engine = open();
    engine.set_note(&engine::making("collection/half"), Some(b"")).unwrap();
    engine.create(&layout).unwrap();
    let mut one = store(open, "half", "json");
    one.put(b"k", b"1", Format::Json).unwrap();
    assert_eq!(store(open, "half", "json").get(b"k", Format::Json).unwrap().unwrap(), b"1");
    // And a table that was not being created belongs to somebody.
    let layout = Settings::new("theirs", "json".parse().unwrap()).unwrap().layout;
    engine.create(&layout).unwrap();
    let told = store(open, "theirs", "json").put(b"k", b"1", Format::Json).unwrap_err();
    assert!(told.to_string().contains("has a table theirs already"), "{told}");
}

fn notes_are_kept_by_name(open: Open<'_>) {
    let engine = open();
    assert_eq!(engine.note("a/1").unwrap(), None);
    assert_eq!(engine.notes("").unwrap(), Vec::<String>::new());
    engine.set_note("a/1", None).unwrap();
    let bytes: Vec<u8> = (0..=255).collect();
    engine.set_note("a/2", Some(&bytes)).unwrap();
    engine.set_note("a/1", Some(b"")).unwrap();
    engine.set_note("b_%", Some(b"old")).unwrap();
    engine.set_note("b_%", Some(b"new")).unwrap();
    engine.set_note("bxx", Some(b"x")).unwrap();
    assert_eq!(open().note("a/2").unwrap().unwrap(), bytes);
    assert_eq!(engine.note("a/1").unwrap().unwrap(), b"");
    assert_eq!(engine.note("b_%").unwrap().unwrap(), b"new");
    assert_eq!(engine.notes("a/").unwrap(), ["a/1", "a/2"]);
    assert_eq!(engine.notes("b_").unwrap(), ["b_%"]);
    engine.set_note("a/1", None).unwrap();
    assert_eq!(engine.notes("").unwrap(), ["a/2", "b_%", "bxx"]);
}

fn a_later_run_looks_again_at_what_an_earlier_one_had_passed(open: Open<'_>) {
    let mut one = store(open, "again", "msgpack");
    let keys: Vec<String> = (0..500).map(|i| format!("{i:03}")).collect();
    let documents: Vec<(&[u8], Option<&[u8]>)> =
        keys.iter().map(|key| (key.as_bytes(), Some(&b"\x93\x01\x02\x03"[..]))).collect();
    one.put_many(&documents, Format::Msgpack).unwrap();
    // JSON cannot hold bytes.
    one.put(b"005", b"\xC4\x01\xFF", Format::Msgpack).unwrap();
    let plan = Plan { to: "json".parse().unwrap(), dry_run: false, rate: None };
    let mut told = 0;
    let stop = std::panic::AssertUnwindSafe(|| {
        let mut refused = |_: &Error| {
            told += 1;
            Ok(())
        };
        reencode::reencode(&mut one, &plan, &mut refused, &mut |outcome| {
            assert!(outcome.values < 450, "stopped");
        })
    });
    assert!(std::panic::catch_unwind(stop).is_err());
    assert_eq!(told, 1);
    // A value that is acceptable now, and one that a stale handle puts where the run has passed.
    one.put(b"005", b"\x07", Format::Msgpack).unwrap();
    let engine = open();
    let layout = one.settings().layout.clone();
    let mut old = store(open, "elsewhere", "msgpack");
    engine.put(&layout, b"007", &old.seal(b"007", b"\x01", Format::Msgpack).unwrap()).unwrap();
    engine
        .put(&layout, b"009", &old.seal(b"009", b"\xC4\x01\xFF", Format::Msgpack).unwrap())
        .unwrap();
    let mut one = store(open, "again", "json");
    let mut told = Vec::new();
    let mut refused = |error: &Error| {
        told.push(error.to_string());
        Ok(())
    };
    let outcome = reencode::reencode(&mut one, &plan, &mut refused, &mut |_| ()).unwrap();
    assert!(outcome.resumed_after.is_some());
    assert_eq!((outcome.values, outcome.refused), (500, 1));
    assert!(told[0].starts_with("key \"009\": "), "{told:?}");
    let found = verify::verify(&mut one, &Range::all(), &mut |_| Ok(()), &mut |_| ()).unwrap();
    let codecs: Vec<(String, u64)> =
        found.codecs.iter().map(|(codec, values, _)| (codec.to_string(), *values)).collect();
    assert_eq!(codecs, [("json".to_owned(), 499), ("msgpack".to_owned(), 1)]);
}
