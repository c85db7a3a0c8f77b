//! Time series on every available engine: put, read newest or oldest first, decoded by threads.

mod engines;

use std::time::Duration;

use engines::{Fresh, Kind};
use regauge::{Format, Value};
use regauge_store::series::{Buckets, TimeNs};
use regauge_store::slices::Span;
use regauge_store::{Error, Order, Store};

const MINUTE: TimeNs = 60_000_000_000;

fn on(kind: Kind, test: fn(&Fresh)) {
    if let Some(fresh) = Fresh::new(kind) {
        test(&fresh);
    }
}

macro_rules! on_engines {
    ($($name:ident),* $(,)?) => {
        on_engines! { @on sqlite Sqlite $($name)* }
        #[cfg(feature = "postgres")]
        on_engines! { @on postgres Postgres $($name)* }
        #[cfg(feature = "mysql")]
        on_engines! { @on mysql Mysql $($name)* }
        #[cfg(feature = "mongodb")]
        on_engines! { @on mongodb MongoDb $($name)* }
        #[cfg(feature = "cassandra")]
        on_engines! { @on cassandra Cassandra $($name)* }
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

on_engines! {
    spans_come_in_order_and_whole,
    buckets_are_said_once,
    a_damaged_slice_is_named,
    a_dictionary_of_somebody_else_is_found,
    slices_of_any_size_stand_side_by_side,
    keys_of_others_and_pages_of_large_slices_hide_nothing,
}

fn store(fresh: &Fresh, collection: &str, codec: &str) -> Store {
    Store::with_engine(fresh.open(), collection, Some(codec.parse().unwrap())).unwrap()
}

/// Returns the slice of a step, a few kilobytes long.
fn slice(step: i64) -> String {
    let points: Vec<String> =
        (0..200).map(|i| format!("{{\"t\":{i},\"v\":{}.5}}", step * i)).collect();
    format!("{{\"step\":{step},\"points\":[{}]}}", points.join(","))
}

/// Puts the slices of the steps, a minute apart.
fn put(store: &mut Store, name: &str, buckets: Option<Buckets>, steps: std::ops::Range<i64>) {
    let texts: Vec<String> = steps.clone().map(slice).collect();
    let slices: Vec<(TimeNs, &[u8])> =
        steps.zip(&texts).map(|(step, text)| (step * MINUTE, text.as_bytes())).collect();
    store.put_slices(name, buckets, &slices, Format::Json).unwrap();
}

fn step(value: &Value) -> i64 {
    let Value::Map(members) = value else { panic!("{value:?}") };
    match &members[0].1 {
        Value::Int(step) => *step,
        Value::UInt(step) => i64::try_from(*step).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn spans_come_in_order_and_whole(fresh: &Fresh) {
    let mut store = store(fresh, "slices", "msgpack");
    let hour = Buckets::Every(Duration::from_secs(3_600));
    assert!(store.series_names().unwrap().is_empty());
    put(&mut store, "a", Some(hour), -150..350);
    put(&mut store, "a2", None, 0..3);
    put(&mut store, "b", Some(hour), 0..3);
    store.put(b"a", b"1", Format::Json).unwrap();
    assert_eq!(store.series_names().unwrap(), ["a", "a2", "b"]);
    let series = store.series("a").unwrap();
    assert_eq!(series.bucket_ns(), 3_600_000_000_000);
    let whole = Span::whole(series.clone());
    let all = store.slice_values(&whole).unwrap();
    assert_eq!(all.len(), 500);
    for (place, (time, value)) in all.iter().enumerate() {
        let expected = place as i64 - 150;
        assert_eq!((*time, step(value)), (expected * MINUTE, expected));
    }
    // Newest first, a limited number, with a start and an end time.
    let newest = Span { order: Order::Descending, limit: 70, ..whole.clone() };
    let found = store.slice_values(&newest).unwrap();
    assert!(found.iter().map(|(_, value)| step(value)).eq((280..350).rev()));
    let span = Span { from: Some(-5 * MINUTE), till: Some(65 * MINUTE + 1), ..whole.clone() };
    let found = store.slices(&span, Format::Json).unwrap();
    assert_eq!(found.len(), 71, "until just before the end of the span");
    for (place, (time, document)) in found.iter().enumerate() {
        let step = place as i64 - 5;
        assert_eq!(*time, step * MINUTE);
        assert_eq!(String::from_utf8_lossy(document), slice(step), "{step}");
    }
    let span = Span { from: Some(65 * MINUTE), till: Some(65 * MINUTE), ..whole.clone() };
    assert!(store.slices(&span, Format::Json).unwrap().is_empty());
    let few = Span { bytes: 1, ..whole.clone() };
    let few = store.slices(&few, Format::Msgpack).unwrap().len();
    assert!((1..=500).contains(&few), "at least a page");
    // Values of one series are replaced and deleted by their times.
    let text = slice(7);
    store.put_slices("a", Some(hour), &[(0, text.as_bytes())], Format::Json).unwrap();
    assert!(store.delete(&series.key(MINUTE)).unwrap());
    let span = Span { from: Some(0), till: Some(3 * MINUTE), ..whole };
    let found = store.slice_values(&span).unwrap();
    assert!(found.iter().map(|(_, value)| step(value)).eq([7, 2]));
    assert_eq!(store.get(&series.key(0), Format::Json).unwrap().unwrap(), text.as_bytes());
}

fn buckets_are_said_once(fresh: &Fresh) {
    let mut one = store(fresh, "rules", "json");
    put(&mut one, "sized", Some("size:1000000".parse().unwrap()), 0..20);
    let series = one.series("sized").unwrap();
    // About 4 KB a minute: 1 MB is four hours, so an hour.
    assert_eq!(series.bucket_ns(), 3_600_000_000_000);
    let mut other = store(fresh, "rules", "json");
    put(&mut other, "sized", None, 20..40);
    put(&mut other, "sized", Some(Buckets::Bytes(5)), 40..41);
    assert_eq!(other.series("sized").unwrap(), series);
    let text = slice(0);
    let told = other
        .put_slices(
            "sized",
            Some(Buckets::Every(Duration::from_secs(60))),
            &[(0, text.as_bytes())],
            Format::Json,
        )
        .unwrap_err();
    assert!(told.to_string().contains("has buckets of 3600 s"), "{told}");
    assert_eq!(one.slice_values(&Span::whole(series)).unwrap().len(), 41);
    assert_eq!(one.series("new").unwrap().bucket_ns(), 86_400_000_000_000);
    assert!(one.series("").is_err());
}

fn a_damaged_slice_is_named(fresh: &Fresh) {
    let mut store = store(fresh, "bad", "msgpack+lz4");
    put(&mut store, "s", None, 0..100);
    let series = store.series("s").unwrap();
    let key = series.key(50 * MINUTE);
    let mut stored = store.stored(&key).unwrap().unwrap();
    let last = stored.len() - 1;
    stored[last] ^= 1;
    let layout = store.settings().layout.clone();
    store.engine().put(&layout, &key, &stored).unwrap();
    let told = store.slice_values(&Span::whole(series.clone())).unwrap_err();
    assert!(matches!(told, Error::Damaged { .. }), "{told}");
    let shown = regauge_store::shown(&key);
    assert!(told.to_string().starts_with(&format!("key {shown}: the checksum")), "{told}");
    let around = Span { till: Some(50 * MINUTE), ..Span::whole(series) };
    assert_eq!(store.slice_values(&around).unwrap().len(), 50);
}

fn a_dictionary_of_somebody_else_is_found(fresh: &Fresh) {
    let mut one = store(fresh, "trained", "json+zstd");
    put(&mut one, "s", None, 0..200);
    let mut other = store(fresh, "trained", "json+zstd");
    assert_eq!(other.slice_values(&Span::whole(other.series("s").unwrap())).unwrap().len(), 200);
    one.train(200, 4_096).unwrap();
    put(&mut one, "s", None, 100..300);
    let found = other.slice_values(&Span::whole(other.series("s").unwrap())).unwrap();
    assert!(found.iter().map(|(_, value)| step(value)).eq(0..300));
}

fn slices_of_any_size_stand_side_by_side(fresh: &Fresh) {
    let mut store = store(fresh, "sizes", "json");
    let hour = Buckets::Every(Duration::from_secs(3_600));
    put(&mut store, "s", Some(hour), 0..300);
    let series = store.series("s").unwrap();
    let whole = Span::whole(series.clone());
    let newest = Span { order: Order::Descending, ..whole.clone() };
    let steps = |store: &mut Store, span: &Span| -> Vec<i64> {
        store.slice_values(span).unwrap().iter().map(|(_, value)| step(value)).collect()
    };
    assert!(steps(&mut store, &whole).into_iter().eq(0..300));
    // One of 200 KB and one of 3 MB, put by another store, and one put conditionally.
    let large =
        |step: i64, bytes: usize| format!("{{\"step\":{step},\"x\":\"{}\"}}", "x".repeat(bytes));
    let mut other = self::store(fresh, "sizes", "json");
    for (at, bytes) in [(70, 200_000), (71, 3_000_000)] {
        let text = large(at, bytes);
        other.put_slices("s", None, &[(at * MINUTE, text.as_bytes())], Format::Json).unwrap();
    }
    let key = series.key(200 * MINUTE);
    let layout = other.settings().layout.clone();
    let seen = other.stored(&key).unwrap().unwrap();
    let grown = other.seal(&key, large(200, 500_000).as_bytes(), Format::Json).unwrap();
    assert!(other.engine().swap(&layout, &key, Some(&seen), Some(&grown)).unwrap());
    assert!(steps(&mut store, &whole).into_iter().eq(0..300));
    assert!(steps(&mut other, &newest).into_iter().eq((0..300).rev()));
    let found =
        store.slices(&Span { from: Some(70 * MINUTE), ..whole.clone() }, Format::Json).unwrap();
    assert_eq!(found[0].1, large(70, 200_000).as_bytes());
    assert_eq!(found[1].1, large(71, 3_000_000).as_bytes());
    assert_eq!(found[130].1, large(200, 500_000).as_bytes());
    // Entirely empty buckets, at both ends and in between.
    for step in (0..60).chain(120..180).chain(240..300) {
        assert!(store.delete(&series.key(step * MINUTE)).unwrap());
    }
    assert!(steps(&mut store, &whole).into_iter().eq((60..120).chain(180..240)));
    for limit in [1, 59, 60, 61, 119] {
        let first = Span { limit, ..newest.clone() };
        assert!(
            steps(&mut store, &first).into_iter().eq((60..120).chain(180..240).rev().take(limit))
        );
    }
    // A key with the series' name but without a time sorts between them.
    let beside = [b"s\0", &series.key(100 * MINUTE)[2..12]].concat();
    store.put(&beside, b"1", Format::Json).unwrap();
    let keys = store.engine().keys(&layout, &series.whole(), Order::Ascending, 1_000).unwrap();
    assert_eq!(keys.len(), 121);
    let page = store.engine().page(&layout, &series.whole(), Order::Ascending, 1_000).unwrap();
    assert!(keys.iter().zip(&page).all(|(key, (other, _))| key == other));
}

fn keys_of_others_and_pages_of_large_slices_hide_nothing(fresh: &Fresh) {
    let mut store = store(fresh, "mixed", "json");
    put(&mut store, "s", None, 0..3);
    let series = store.series("s").unwrap();
    let foreign = |text: &str| [b"s\0", text.as_bytes()].concat();
    for text in ["", "a", "abcdefghijklmnop", "\u{7f}bcdefghijklmnop", "zz"] {
        store.put(&foreign(text), b"1", Format::Json).unwrap();
    }
    for number in 0..1_100 {
        store.put(&foreign(&format!("!{number}")), b"1", Format::Json).unwrap();
    }
    let whole = Span::whole(series.clone());
    for (order, limit) in [(Order::Ascending, 3), (Order::Descending, 3), (Order::Ascending, 9)] {
        let span = Span { order, limit, ..whole.clone() };
        let mut found: Vec<i64> =
            store.slice_values(&span).unwrap().iter().map(|(_, value)| step(value)).collect();
        found.sort_unstable();
        assert_eq!(found, [0, 1, 2], "{order:?}");
    }
    // A page of an engine ends early when its values are large.
    let large = format!("{{\"step\":1,\"x\":\"{}\"}}", "x".repeat(1_500_000));
    for at in 0..9 {
        store.put_slices("l", None, &[(at, large.as_bytes())], Format::Json).unwrap();
    }
    let span = Span::whole(store.series("l").unwrap());
    assert_eq!(store.slices(&span, Format::Json).unwrap().len(), 9);
}
