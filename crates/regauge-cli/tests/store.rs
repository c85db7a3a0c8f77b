//! `regauge store`, as its user types it.

mod common;

use common::Folder;

const DB: &str = "--db sqlite:s.db";

#[test]
fn a_document_is_put_got_listed_and_deleted() {
    let folder = Folder::new();
    folder.write("one.json", r#"{"n": [1, 2.5], "t": "é"}"#);
    folder.run(&format!("store put {DB} user/1 one.json --codec msgpack+zstd")).status(0);
    let text = folder.run(&format!("store get {DB} user/1")).status(0).text();
    assert_eq!(text, "{\"n\":[1,2.5],\"t\":\"é\"}\n");
    folder.run(&format!("store get {DB} user/1 one.yaml")).status(0);
    assert_eq!(folder.read("one.yaml"), "'n':\n- 1\n- 2.5\nt: é\n".as_bytes());
    folder.run(&format!("store put {DB} user/1 one.json --new")).status(3);
    assert_eq!(folder.run(&format!("store ls {DB}")).status(0).text(), "user/1\n");
    let long = folder.run(&format!("store ls {DB} --long")).status(0).text();
    assert!(long.starts_with("msgpack+zstd ") && long.ends_with(" user/1\n"), "{long}");
    folder.run(&format!("store delete {DB} user/1")).status(0);
    folder.run(&format!("store delete {DB} user/1")).status(4);
    folder.run(&format!("store get {DB} user/1")).status(4);
}

#[test]
fn a_file_goes_in_and_comes_out_again() {
    let folder = Folder::new();
    folder.write("orders.ndjson", "{\"id\":7,\"s\":\"a\"}\n{\"id\":12,\"s\":\"b\"}\n");
    folder.run(&format!("store import {DB} orders.ndjson --key id --codec json+gzip")).status(0);
    let text = folder.run(&format!("store export {DB}")).status(0).text();
    let expected = "{\"key\":\"12\",\"value\":{\"id\":12,\"s\":\"b\"}}\n\
                    {\"key\":\"7\",\"value\":{\"id\":7,\"s\":\"a\"}}\n";
    assert_eq!(text, expected);
    for format in ["json", "yaml", "msgpack", "cbor", "bson", "marshal", "pickle"] {
        folder.run(&format!("store export {DB} all.{format}")).status(0);
        let other = format!("--db sqlite:{format}.db");
        folder.run(&format!("store import {other} all.{format}")).status(0);
        let text = folder.run(&format!("store export {other}")).status(0).text();
        assert_eq!(text, expected, "{format}");
    }
    let text = folder.run(&format!("store stat {DB}")).status(0).text();
    assert!(text.contains("2 values, ") && text.contains("json+gzip"), "{text}");
    let text = folder.run(&format!("store reencode {DB} --to cbor --dry-run")).status(0).text();
    assert!(text.starts_with("2 of 2 values would change: "), "{text}");
    folder.run(&format!("store reencode {DB} --to cbor")).status(0);
    assert_eq!(folder.run(&format!("store verify {DB}")).status(0).text(), "2 values, 0 bad\n");
    assert_eq!(folder.run(&format!("store export {DB}")).status(0).text(), expected);
}

#[test]
fn what_cannot_be_is_refused_and_nothing_is_stored() {
    let folder = Folder::new();
    folder.write("two.yaml", "a: 1\n---\nb: 2\n");
    folder.run(&format!("store put {DB} k two.yaml")).status(4);
    folder.write("broken.json", "{");
    folder.run(&format!("store put {DB} k broken.json")).status(1);
    folder.run(&format!("store get {DB} k")).status(4);
    folder.run("store put --db redis:x k two.yaml").status(2);
    folder.run(&format!("store put {DB} k two.yaml --codec json+snappy")).status(2);
}
