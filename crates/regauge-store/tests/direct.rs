//! Documents created by a regauge writer are stored unchanged, and keys are returned without
//! values.

use regauge::Format;
use regauge_store::{Order, Range, Store};

fn store(codec: &str) -> Store {
    Store::open("sqlite::memory:", "objects", Some(codec.parse().unwrap())).unwrap()
}

#[test]
fn a_written_document_is_stored_as_it_is() {
    let mut one = store("json");
    // With a blank, which the JSON writer would not write.
    one.put_written(b"a", b"{\"n\": 1}", Format::Json).unwrap();
    assert_eq!(one.entry(b"a").unwrap().unwrap().document, b"{\"n\": 1}");
    one.put(b"a", b"{\"n\": 1}", Format::Json).unwrap();
    assert_eq!(one.entry(b"a").unwrap().unwrap().document, b"{\"n\":1}");
    // One in another format is read and converted, or refused.
    one.put_written(b"b", b"\x81\xA1n\x01", Format::Msgpack).unwrap();
    assert_eq!(one.entry(b"b").unwrap().unwrap().document, b"{\"n\":1}");
    assert!(one.put_written(b"c", b"\x81\xA1n", Format::Msgpack).is_err());
    assert!(!one.exists(b"c").unwrap());
}

#[test]
fn every_compression_takes_written_documents() {
    for codec in ["json+zstd", "json+lz4", "json+gzip"] {
        let mut one = store(codec);
        let document = format!("[{}]", vec!["\"text\""; 500].join(","));
        one.put_written(b"a", document.as_bytes(), Format::Json).unwrap();
        let entry = one.entry(b"a").unwrap().unwrap();
        assert_eq!(entry.document, document.as_bytes());
        assert!(entry.stored_bytes < 200, "{codec}: {} bytes", entry.stored_bytes);
    }
}

#[test]
fn many_at_once_and_keys_alone() {
    let mut one = store("json");
    assert_eq!(one.count().unwrap(), (0, 0));
    assert_eq!(one.entries(&[b"a"]).unwrap(), [None]);
    assert!(one.keys(&Range::all(), Order::Ascending, 9).unwrap().is_empty());
    one.put_many_written(&[(b"a", Some(b"1")), (b"b", Some(b"2")), (b"c", None)], Format::Json)
        .unwrap();
    assert_eq!(one.count().unwrap(), (2, 34));
    let entries = one.entries(&[b"b", b"none", b"a"]).unwrap();
    let documents: Vec<_> = entries.into_iter().map(|one| one.map(|one| one.document)).collect();
    assert_eq!(documents, [Some(b"2".to_vec()), None, Some(b"1".to_vec())]);
    let keys = one.keys(&Range::all(), Order::Descending, 9).unwrap();
    assert_eq!(keys, [b"b".to_vec(), b"a".to_vec()]);
    // One that cannot be stored leaves all of them unchanged.
    let broken: &[(&[u8], Option<&[u8]>)] = &[(b"a", Some(b"\x01")), (b"d", Some(b"\xC1"))];
    assert!(one.put_many_written(broken, Format::Msgpack).is_err());
    assert_eq!(one.entry(b"a").unwrap().unwrap().document, b"1");
}

#[test]
fn a_swap_needs_what_was_seen() {
    let mut one = store("json");
    assert!(!one.swap_written(b"a", Some(b"x"), Some(b"1"), Format::Json).unwrap());
    assert!(one.swap_written(b"a", None, Some(b"1"), Format::Json).unwrap());
    assert!(!one.swap_written(b"a", None, Some(b"2"), Format::Json).unwrap());
    let seen = one.stored(b"a").unwrap().unwrap();
    assert!(one.swap_written(b"a", Some(&seen), Some(b"2"), Format::Json).unwrap());
    assert!(!one.swap_written(b"a", Some(&seen), None, Format::Json).unwrap());
    let seen = one.stored(b"a").unwrap().unwrap();
    assert!(one.swap_written(b"a", Some(&seen), None, Format::Json).unwrap());
    assert!(!one.exists(b"a").unwrap());
}

#[test]
fn syncing_can_be_left_to_the_checkpoints() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("store.db").display());
    let mut one = Store::open(&url, "objects", None).unwrap();
    one.engine().sync_each_change(false).unwrap();
    one.put(b"a", b"1", Format::Json).unwrap();
    one.engine().sync_each_change(true).unwrap();
    one.put(b"b", b"2", Format::Json).unwrap();
    let mut other = Store::open(&url, "objects", None).unwrap();
    assert_eq!(other.count().unwrap().0, 2);
    assert!(other.get(b"a", Format::Json).unwrap().is_some());
}
