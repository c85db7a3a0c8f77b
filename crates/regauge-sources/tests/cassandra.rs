//! A column of a table in Cassandra.

#![cfg(feature = "cassandra")]

mod caches;

use caches::{read, url};
use regauge::ErrorKind;
use regauge_sources::cassandra::Cassandra;
use regauge_sources::sql::Access;
use regauge_sources::{At, Flow, Kind, Replaced, Sample, Source, Wanted};
use regauge_store::{KeyKind, Layout, engine};

/// The address of a table with these values, `text` for a column of text. The tests share a keyspace.
fn filled(table: &str, text: bool, values: &[(String, &[u8])]) -> Option<String> {
    let base = url("cassandra", "")?;
    let engine = engine::open(&base).unwrap();
    let table = format!("{table}_{}", std::process::id());
    let layout = Layout {
        table: table.clone(),
        key: "id".into(),
        value: "body".into(),
        key_kind: KeyKind::Text,
        text,
    };
    engine.create_plain(&layout).unwrap();
    let changes: Vec<(&[u8], Option<&[u8]>)> =
        values.iter().map(|(key, value)| (key.as_bytes(), Some(*value))).collect();
    engine.apply(&layout, &changes).unwrap();
    let keyspace = base.split('?').next().unwrap();
    Some(format!("{keyspace}.{table}?column=body"))
}

/// The name of the table in an address.
fn table(url: &str) -> &str {
    url.rsplit_once('.').unwrap().1.split_once('?').unwrap().0
}

fn pages(count: usize, value: &[u8]) -> Vec<(String, &[u8])> {
    (0..count).map(|n| (format!("page:{n:04}"), value)).collect()
}

#[test]
fn values_come_with_their_keys() {
    let Some(url) = filled("keys", false, &pages(230, b"v\xFF")) else { return };
    let table = table(&url);
    let mut source = Cassandra::open(&url, Access::Read).unwrap();
    let (lines, summary) = read(&mut source, &Wanted::default());
    let expected: Vec<_> =
        (0..230).map(|n| format!("string {table}.body/page:{n:04} - v\\xff")).collect();
    assert_eq!(lines, expected);
    let summary = summary.unwrap();
    assert!(summary.title.ends_with(&format!(", body of {table}")), "{}", summary.title);
    assert!(summary.is_whole);
    assert_eq!((summary.keys, summary.skipped.absent), (230, 0));

    let mut of = |wanted: Wanted<'_>| {
        let (lines, summary) = read(&mut source, &wanted);
        (lines.len(), summary.unwrap())
    };
    let prefix = format!("{table}.body/page:000");
    let (count, summary) = of(Wanted { prefix: prefix.as_bytes(), ..Wanted::default() });
    assert_eq!((count, summary.passed_over), (10, 220));
    assert_eq!(of(Wanted { sample: Sample::EveryNth(7), ..Wanted::default() }).0, 33);
    let (count, summary) = of(Wanted { sample: Sample::First(12), ..Wanted::default() });
    assert_eq!((count, summary.is_whole), (12, false));
    assert_eq!(of(Wanted { rate: Some(1000), ..Wanted::default() }).0, 230);
    let mut sizes = 0;
    let wanted = Wanted { values: false, ..Wanted::default() };
    let each = &mut |item: &regauge_sources::Item<'_>| {
        assert_eq!((item.value, item.kind, item.is_text), (None, Kind::String, false));
        assert!(item.knows_expiry && item.expires_at.is_none());
        sizes += item.bytes;
        Ok(Flow::Continue)
    };
    source.read(&wanted, each).unwrap();
    assert_eq!(sizes, 460);
    let wanted = Wanted { value_bytes_max: 1, ..Wanted::default() };
    let error = read(&mut source, &wanted).1.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[test]
fn a_value_is_replaced_while_it_is_read() {
    let Some(url) = filled("swap", true, &pages(120, b"old")) else { return };
    let mut writer = Cassandra::open(&url, Access::Write).unwrap();
    let mut reader = Cassandra::open(&url, Access::Read).unwrap();
    let mut seen = 0;
    let each = &mut |item: &regauge_sources::Item<'_>| {
        seen += 1;
        assert_eq!((item.value, item.is_text), (Some(&b"old"[..]), true));
        let replaced = writer.replace_if_unchanged(&At::from(item), b"old", b"another")?;
        assert_eq!(replaced, Replaced::Done);
        Ok(Flow::Continue)
    };
    reader.read(&Wanted::default(), each).unwrap();
    assert_eq!(seen, 120);
    let table = table(&url);
    let replace = |source: &mut Cassandra, key: &str, new: &[u8]| {
        let at = At { database: 0, key: key.as_bytes(), part: None };
        source.replace_if_unchanged(&at, b"old", new)
    };
    let key = format!("{table}.body/page:0001");
    assert_eq!(replace(&mut writer, &key, b"new").unwrap(), Replaced::Changed);
    let none = format!("{table}.body/none");
    assert_eq!(replace(&mut writer, &none, b"new").unwrap(), Replaced::Gone);
    assert_eq!(replace(&mut writer, "jobs.body/page:0001", b"new").unwrap(), Replaced::Elsewhere);
    let error = replace(&mut reader, &key, b"new").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains("opened to read only"), "{error}");
    let at = At { database: 0, key: key.as_bytes(), part: None };
    let error = writer.replace_if_unchanged(&at, b"another", b"\xFF").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable);
    assert!(error.to_string().contains("a column that refuses the new value"), "{error}");
}

#[test]
fn what_is_missing_is_refused() {
    let Some(url) = filled("refused", false, &[]) else { return };
    for (url, expected) in [
        (url.replace("column=body", "column=bod"), "has no column bod, but body, id"),
        (url.replace("refused_", "refuse_"), "found no table refuse_"),
        (url.replace('?', "?replication=1&"), "its parameter replication is for what a store"),
        (url.replace('?', "?speed=1&"), "its parameters are"),
    ] {
        let error = Cassandra::open(&url, Access::Read).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}
