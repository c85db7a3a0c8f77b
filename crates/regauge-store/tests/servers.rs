//! PostgreSQL and MySQL beyond the contract: adopted tables, limits, and error messages.

#![cfg(any(feature = "postgres", feature = "mysql"))]

mod engines;

use engines::{Fresh, Kind};
use regauge::Format;
use regauge_store::reencode::{self, Plan};
use regauge_store::{
    Assume, Codec, Compression, Error, KeyKind, Layout, Order, Range, Settings, Store, engine,
    verify,
};

/// Runs statements on the database of a test.
fn run(kind: Kind, url: &str, statements: &[&str]) {
    for sql in statements {
        match kind {
            #[cfg(feature = "postgres")]
            Kind::Postgres => engine::Postgres::open(url).unwrap().run_sql(sql).unwrap(),
            #[cfg(feature = "mysql")]
            Kind::Mysql => engine::Mysql::open(url).unwrap().run_sql(sql).unwrap(),
            other => unreachable!("{other:?} has no SQL of a server"),
        }
    }
}

fn adopt(
    url: &str,
    key_kind: KeyKind,
    value: &str,
    text: bool,
    assume: &str,
) -> Result<Store, String> {
    let mut store = Store::open(url, "theirs", None).unwrap();
    let layout = Layout { table: "t".into(), key: "k".into(), value: value.into(), key_kind, text };
    let assume: Assume = assume.parse().unwrap();
    let codec = Codec::new(assume.format, Compression::None).unwrap();
    let settings = Settings { codec, assume: Some(assume), layout };
    store.adopt(settings).map(|()| store).map_err(|error| error.to_string())
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

/// A table as a program would create it, with text keys, small-number keys, and both kinds of
/// values.
fn table(kind: Kind) -> Vec<&'static str> {
    match kind {
        #[cfg(feature = "postgres")]
        Kind::Postgres => vec![
            "CREATE TABLE t (k varchar(100) UNIQUE, b bytea, c varchar(200), i integer UNIQUE, \
             j jsonb, u uuid UNIQUE)",
            "INSERT INTO t (k, b, c, i) VALUES \
             ('b', '\\x04085b0769066907', '- 1\n- 2\n', 10), ('B', '\\x0408', '[', 9), \
             ('a', NULL, NULL, -1), ('\u{e9}', '\\x04085b00', '[]', 2147483647), \
             (NULL, '\\x', '', NULL)",
        ],
        #[cfg(feature = "mysql")]
        Kind::Mysql => vec![
            "CREATE TABLE t (k varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin UNIQUE, \
             b longblob, c varchar(200), i int UNIQUE, j json, u datetime UNIQUE)",
            "INSERT INTO t (k, b, c, i) VALUES \
             ('b', x'04085b0769066907', '- 1\n- 2\n', 10), ('B', x'0408', '[', 9), \
             ('a', NULL, NULL, -1), ('\u{e9}', x'04085b00', '[]', 2147483647), \
             (NULL, x'', '', NULL)",
        ],
        other => unreachable!("{other:?} has no SQL of a server"),
    }
}

fn a_table_of_others_is_adopted_with_keys_of_text(kind: Kind) {
    let Some(fresh) = Fresh::new(kind) else { return };
    run(kind, &fresh.url, &table(kind));
    for (value, text, assume) in [("b", false, "marshal"), ("c", true, "yaml")] {
        let mut store = adopt(&fresh.url, KeyKind::Text, value, text, assume).unwrap();
        // By bytes, whatever the collation is; without those that have no value.
        let expected = ["B", "b", "\u{e9}"];
        assert_eq!(keys(&mut store, &Range::all(), Order::Ascending), expected);
        let mut down = keys(&mut store, &Range::all(), Order::Descending);
        down.reverse();
        assert_eq!(down, expected);
        let range = store.prefix(b"b").unwrap();
        assert_eq!(keys(&mut store, &range, Order::Ascending), ["b"]);
        // The end of this prefix is not UTF-8.
        let range = store.prefix("\u{e9}".as_bytes()).unwrap();
        assert_eq!(keys(&mut store, &range, Order::Ascending), ["\u{e9}"]);
        assert_eq!(store.get(b"b", Format::Json).unwrap().unwrap(), b"[1,2]", "{value}");
        assert_eq!(store.get("\u{e9}".as_bytes(), Format::Json).unwrap().unwrap(), b"[]");
        assert!(store.get(b"B", Format::Json).is_err());
        assert_eq!(store.get(b"a", Format::Json).unwrap(), None);
        assert_eq!(store.get(b"b ", Format::Json).unwrap(), None);
        let many = store.get_many(&[b"b", b"x", "\u{e9}".as_bytes()], Format::Json).unwrap();
        assert_eq!(many, [Some(b"[1,2]".to_vec()), None, Some(b"[]".to_vec())]);
        store.put_many(&[(b"new", Some(b"[3]")), (b"b", Some(b"[4]"))], Format::Json).unwrap();
        assert_eq!(store.get(b"new", Format::Json).unwrap().unwrap(), b"[3]");
        let seen = store.stored(b"b").unwrap().unwrap();
        store.put_if(b"b", Some(&seen), b"[1,2]", Format::Json).unwrap();
        assert!(store.put_if(b"b", Some(&seen), b"[5]", Format::Json).is_err());
        assert!(store.put_if(b"b", None, b"[5]", Format::Json).is_err());
        let plan = Plan { to: "msgpack".parse().unwrap(), dry_run: false, rate: None };
        let mut told = 0;
        let mut refused = |_: &Error| {
            told += 1;
            Ok(())
        };
        let outcome = reencode::reencode(&mut store, &plan, &mut refused, &mut |_| ()).unwrap();
        assert_eq!((outcome.values, outcome.changed, outcome.refused), (4, 3, 1), "{value}");
        assert_eq!(told, 1);
        assert_eq!(store.entry(b"b").unwrap().unwrap().document, b"\x92\x01\x02");
        assert_eq!(store.engine().count(&store.settings().layout).unwrap().0, 4);
        let gone: Vec<(&[u8], Option<&[u8]>)> = vec![(b"new", None), (b"x", None)];
        store.put_many(&gone, Format::Json).unwrap();
        assert!(!store.delete(b"new").unwrap());
    }
}

fn a_table_of_others_is_adopted_with_keys_that_are_numbers(kind: Kind) {
    let Some(fresh) = Fresh::new(kind) else { return };
    run(kind, &fresh.url, &table(kind));
    let mut store = Store::open(&fresh.url, "theirs", None).unwrap();
    let layout = Layout {
        table: "t".into(),
        key: "i".into(),
        value: "b".into(),
        key_kind: KeyKind::Integer,
        text: false,
    };
    let settings = Settings {
        codec: "marshal".parse().unwrap(),
        assume: Some("marshal".parse().unwrap()),
        layout,
    };
    store.adopt(settings).unwrap();
    assert_eq!(keys(&mut store, &Range::all(), Order::Ascending), ["9", "10", "2147483647"]);
    assert_eq!(store.get(b"10", Format::Json).unwrap().unwrap(), b"[1,2]");
    assert_eq!(store.get(b"3000000000", Format::Json).unwrap(), None);
    let range = Range { from: Some(b"10".to_vec()), to: None };
    assert_eq!(keys(&mut store, &range, Order::Descending), ["2147483647", "10"]);
    store.put_many(&[(b"-7", Some(b"[7]")), (b"9", Some(b"[9]"))], Format::Json).unwrap();
    assert_eq!(store.get(b"-7", Format::Json).unwrap().unwrap(), b"[7]");
    let told = store.put(b"3000000000", b"1", Format::Json).unwrap_err().to_string();
    assert!(told.to_lowercase().contains("out of range"), "{told}");
    let told = store.put(b"x", b"1", Format::Json).unwrap_err().to_string();
    assert!(told.contains("takes whole numbers"), "{told}");
    assert_eq!(store.get(b"9", Format::Json).unwrap().unwrap(), b"[9]");
}

fn a_table_that_cannot_be_a_collection_is_refused_with_the_reason(kind: Kind) {
    let Some(fresh) = Fresh::new(kind) else { return };
    run(kind, &fresh.url, &table(kind));
    let told = |key: &str, key_kind, value: &str, text| {
        let mut store = Store::open(&fresh.url, "theirs", None).unwrap();
        let layout =
            Layout { table: "t".into(), key: key.into(), value: value.into(), key_kind, text };
        let assume = Some("json".parse().unwrap());
        let settings = Settings { codec: "json".parse().unwrap(), assume, layout };
        store.adopt(settings).unwrap_err().to_string()
    };
    let check = |found: String, expected: &str| assert!(found.contains(expected), "{found}");
    check(told("kk", KeyKind::Text, "b", false), "no column kk, but k, b, c, i, j, u");
    check(told("k", KeyKind::Bytes, "b", false), "adopt it with the key kind text");
    check(told("i", KeyKind::Text, "b", false), "adopt it with the key kind integer");
    check(told("u", KeyKind::Text, "b", false), "a key is ");
    check(told("k", KeyKind::Text, "c", false), "adopt it as text");
    check(told("k", KeyKind::Text, "b", true), "adopt it as bytes");
    check(told("c", KeyKind::Text, "b", false), "column c is not unique");
    #[cfg(feature = "mysql")]
    if kind == Kind::Mysql {
        run(kind, &fresh.url, &["ALTER TABLE t ADD p binary(4) UNIQUE"]);
        check(told("p", KeyKind::Bytes, "b", false), "make it a varbinary");
    }
    let mut store = Store::open(&fresh.url, "theirs", None).unwrap();
    let layout = Layout { table: "absent".into(), ..store.settings().layout.clone() };
    let error = store.adopt(Settings { layout, ..store.settings().clone() }).unwrap_err();
    check(error.to_string(), "no table absent");
    // Nor is it taken over by accident, in any letter case.
    let mut store = Store::open(&fresh.url, "T", None).unwrap();
    check(store.put(b"k", b"1", Format::Json).unwrap_err().to_string(), "has a table T already");
}

fn keys_that_are_too_long_and_values_of_a_narrow_column_are_refused(kind: Kind) {
    let Some(fresh) = Fresh::new(kind) else { return };
    let mut store = Store::open(&fresh.url, "long", None).unwrap();
    // Data that an index cannot compress.
    let key: Vec<u8> =
        (0..2_600_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    store.put(&key, b"1", Format::Json).unwrap();
    assert_eq!(store.get(&key, Format::Json).unwrap().unwrap(), b"1");
    let key = vec![b'k'; 3_073];
    let told = store.put(&key, b"1", Format::Json).unwrap_err().to_string();
    assert!(told.contains("found 3073 bytes") && told.contains("takes keys of at most"), "{told}");
    assert!(told.len() < 300, "{told}");
    run(kind, &fresh.url, &table(kind));
    let mut store = adopt(&fresh.url, KeyKind::Text, "c", true, "yaml").unwrap();
    let long = format!("\"{}\"", "x".repeat(300));
    let told = store.put(b"b", long.as_bytes(), Format::Json).unwrap_err().to_string();
    assert!(told.contains("too long") || told.contains("longer than"), "{told}");
    assert_eq!(store.get(b"b", Format::Json).unwrap().unwrap(), b"[1,2]");
    let told = store.put("k".repeat(101).as_bytes(), b"1", Format::Json).unwrap_err().to_string();
    assert!(told.contains("too long") || told.contains("longer than"), "{told}");
}

fn what_cannot_be_reached_is_told_without_its_secrets(kind: Kind) {
    let Some(fresh) = Fresh::new(kind) else { return };
    let told = |url: &str| {
        let told = engine::open(url).err().unwrap().to_string();
        assert!(!told.contains("s3cret"), "{told}");
        told
    };
    let scheme = fresh.url.split_once(':').unwrap().0.to_owned();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let text = told(&format!("{scheme}://user:s3cret@127.0.0.1:{closed}/base"));
    let expected = format!("cannot connect: no connection: {scheme}://…@127.0.0.1:{closed}/base: ");
    assert!(text.starts_with(&expected), "{text}");
    assert!(text.to_lowercase().contains("connection refused"), "{text}");
    let text = told(&format!("{scheme}://user:s3cret@127.0.0.1:99999999/base"));
    assert!(text.contains("port"), "{text}");
    let text = told(&format!("{scheme}://user:s3cret@127.0.0.1/base?no_such_thing=1"));
    assert!(text.contains("no_such_thing"), "{text}");
    let text = told(&format!("{scheme}://user:s3cret@127.0.0.1/base?timeout=soon"));
    assert!(text.contains("found timeout=soon, expected seconds"), "{text}");
    // A user unknown to the server.
    let (_, place) = fresh.url.rsplit_once('@').unwrap();
    let text = told(&format!("{scheme}://nobody_here:s3cret@{place}"));
    assert!(text.contains("nobody_here"), "{text}");
    assert!(!text.ends_with("try again"), "{text}");
}

/// A server that accepts a connection and stays silent.
fn a_server_that_does_not_answer_is_given_up(kind: Kind) {
    let scheme = kind.server().unwrap();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let began = std::time::Instant::now();
    let told = engine::open(&format!("{scheme}://u:s3cret@127.0.0.1:{port}/b?timeout=1"));
    let told = told.err().unwrap().to_string();
    assert!(told.contains("no answer within "), "{told}");
    assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
}

fn a_statement_that_takes_too_long_is_given_up_and_the_next_works(kind: Kind) {
    let Some(fresh) = Fresh::new(kind) else { return };
    let sign = if fresh.url.contains('?') { '&' } else { '?' };
    let url = format!("{}{sign}timeout=1", fresh.url);
    let sleep = match kind {
        #[cfg(feature = "postgres")]
        Kind::Postgres => {
            let engine = engine::Postgres::open(&url).unwrap();
            let told = engine.run_sql("SELECT pg_sleep(30)").unwrap_err().to_string();
            engine.run_sql("SELECT 1").unwrap();
            told
        }
        #[cfg(feature = "mysql")]
        Kind::Mysql => {
            let engine = engine::Mysql::open(&url).unwrap();
            // Endless rows: SLEEP and BENCHMARK may end normally when their time is up.
            let rows = "SELECT count(*) FROM information_schema.collations AS a, \
                        information_schema.collations AS b, information_schema.collations AS c, \
                        information_schema.collations AS d";
            let told = engine.run_sql(rows).unwrap_err().to_string();
            engine.run_sql("SELECT 1").unwrap();
            told
        }
        other => unreachable!("{other:?} has no SQL of a server"),
    };
    assert!(sleep.contains("no answer within 1 s"), "{sleep}");
}

fn a_flipped_bit_in_a_column_of_text_is_found(kind: Kind) {
    let Some(fresh) = Fresh::new(kind) else { return };
    run(kind, &fresh.url, &table(kind));
    let mut store = adopt(&fresh.url, KeyKind::Text, "c", true, "yaml").unwrap();
    store.put(b"b", b"[1,2]", Format::Json).unwrap();
    for (find, put) in [("wWc", "wWb"), ("wWc", "vWc"), ("wWc", "wVc")] {
        let change = format!("UPDATE t SET c = replace(c, '{find}', '{put}') WHERE k = 'b'");
        let back = format!("UPDATE t SET c = replace(c, '{put}', '{find}') WHERE k = 'b'");
        run(kind, &fresh.url, &[&change]);
        let told = store.get(b"b", Format::Json).unwrap_err();
        assert!(matches!(told, Error::Damaged { .. }), "{told}");
        run(kind, &fresh.url, &[&back]);
        assert_eq!(store.get(b"b", Format::Json).unwrap().unwrap(), b"[1,2]");
    }
    let found = verify::verify(&mut store, &Range::all(), &mut |_| Ok(()), &mut |_| ()).unwrap();
    assert_eq!((found.values, found.bad), (3, 1));
}

#[cfg(feature = "mysql")]
mod mysql_alone {
    use super::*;

    /// In this collation, `b` and `B` are equal.
    #[test]
    fn a_collation_never_mixes_up_keys() {
        let Some(fresh) = Fresh::new(Kind::Mysql) else { return };
        let make = [
            "CREATE TABLE t (k varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci \
             PRIMARY KEY, b longblob)",
            "INSERT INTO t VALUES ('b', '[1]'), ('A', '[2]')",
        ];
        run(Kind::Mysql, &fresh.url, &make);
        let mut store = adopt(&fresh.url, KeyKind::Text, "b", false, "json").unwrap();
        assert_eq!(store.get(b"B", Format::Json).unwrap(), None);
        assert_eq!(store.get_many(&[b"B", b"b"], Format::Json).unwrap()[0], None);
        assert!(!store.delete(b"B").unwrap());
        let told = store.put(b"B", b"3", Format::Json).unwrap_err().to_string();
        assert!(told.contains("equates the key with another one"), "{told}");
        assert!(store.put_if(b"B", None, b"3", Format::Json).is_err());
        store.put_many(&[(b"a", None), (b"b", Some(b"4"))], Format::Json).unwrap();
        assert_eq!(keys(&mut store, &Range::all(), Order::Ascending), ["A", "b"]);
        assert_eq!(store.get(b"b", Format::Json).unwrap().unwrap(), b"4");
    }
}

macro_rules! on_servers {
    ($($test:ident)*) => {
        #[cfg(feature = "postgres")]
        on_servers! { @on postgres Postgres $($test)* }
        #[cfg(feature = "mysql")]
        on_servers! { @on mysql Mysql $($test)* }
    };
    (@on $module:ident $kind:ident $($test:ident)*) => {
        mod $module {
            $(
                #[test]
                fn $test() {
                    super::$test(super::Kind::$kind);
                }
            )*
        }
    };
}

on_servers! {
    a_table_of_others_is_adopted_with_keys_of_text
    a_table_of_others_is_adopted_with_keys_that_are_numbers
    a_table_that_cannot_be_a_collection_is_refused_with_the_reason
    keys_that_are_too_long_and_values_of_a_narrow_column_are_refused
    what_cannot_be_reached_is_told_without_its_secrets
    a_server_that_does_not_answer_is_given_up
    a_statement_that_takes_too_long_is_given_up_and_the_next_works
    a_flipped_bit_in_a_column_of_text_is_found
}
