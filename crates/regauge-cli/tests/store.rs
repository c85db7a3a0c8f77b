//! `regauge store`, the way users type it.

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
fn what_is_kept_in_the_notation_comes_out_of_it() {
    let folder = Folder::new();
    let json = r#"{"$q":1,"x":{"$numberDouble":"NaN"}}"#;
    folder.write("alike.json", json);
    folder.run("convert alike.json alike.msgpack").status(0);
    folder.write("raw.msgpack", b"\x81\xA1b\xC4\x02\x00\xFF");
    for file in ["alike.json", "alike.msgpack", "raw.msgpack"] {
        let key = file.replace('.', "_");
        let put = format!("store put {DB} {key} {file} --codec json --on-loss wrap");
        folder.run(&put).status(0);
        folder.run(&format!("store get {DB} {key} out_{file} --unwrap")).status(0);
        let (got, put) = (folder.read(&format!("out_{file}")), folder.read(file));
        assert_eq!(got.trim_ascii(), put.trim_ascii(), "{file}");
    }
    // A file in the notation is stored with its original values.
    let other = "--db sqlite:o.db";
    folder.run("convert raw.msgpack raw.json --on-loss wrap").status(0);
    folder.run(&format!("store put {other} raw raw.json --unwrap")).status(0);
    folder.run(&format!("store get {other} raw got.msgpack")).status(0);
    assert_eq!(folder.read("got.msgpack"), folder.read("raw.msgpack"));
    // The same for a stream.
    folder.run(&format!("store export {other} all.ndjson --on-loss wrap")).status(0);
    folder.run(&format!("store export {DB} plain.msgpack --unwrap")).status(0);
    folder.run(&format!("store import {other} all.ndjson --unwrap")).status(0);
    folder.run(&format!("store import {other} plain.msgpack")).status(0);
    folder.run(&format!("store get {other} alike_json again.json")).status(0);
    assert_eq!(folder.text("again.json").trim(), json);
    folder.run(&format!("store get {other} raw_msgpack again.msgpack")).status(0);
    assert_eq!(folder.read("again.msgpack"), folder.read("raw.msgpack"));
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

#[test]
fn a_file_that_an_sqlite_with_a_fault_wrote_is_named() {
    let folder = Folder::new();
    folder.write("one.json", "{}");
    folder.run(&format!("store put {DB} a one.json")).status(0);
    assert_eq!(folder.run(&format!("store stat {DB}")).status(0).stderr, "");
    let mut bytes = folder.read("s.db");
    for (number, is_named) in [(3_040_001_u32, true), (3_051_003, false), (3_006_023, false)] {
        bytes[96..100].copy_from_slice(&number.to_be_bytes());
        folder.write("s.db", &bytes);
        for command in ["stat", "verify"] {
            let ran = folder.run(&format!("store {command} {DB}")).status(0);
            assert_eq!(
                ran.stderr.contains("last written by SQLite 3."),
                is_named,
                "{}",
                ran.stderr
            );
        }
    }
    // Without WAL mode there is no such fault.
    bytes[96..100].copy_from_slice(&3_040_001_u32.to_be_bytes());
    bytes[18..20].copy_from_slice(&[1, 1]);
    folder.write("s.db", &bytes);
    assert_eq!(folder.run(&format!("store stat {DB}")).status(0).stderr, "");
}

/// A Ruby Hash with a Symbol as its key: `{a: 1}`.
const SYMBOLS: &[u8] = b"\x04\x08{\x06:\x06ai\x06";

#[test]
fn objects_are_refused_or_written_as_their_data() {
    let folder = Folder::new();
    folder.write("a.marshal", SYMBOLS);
    folder.run(&format!("store put {DB} a a.marshal --codec marshal")).status(0);
    let reencode = format!("store reencode {DB} --to msgpack");
    for run in [format!("store get {DB} a"), format!("store export {DB}"), reencode.clone()] {
        let refused = folder.run(&run).status(3);
        assert!(refused.stderr.contains("pass --objects data"), "{run}: {}", refused.stderr);
        // Each option that it names is one of this command.
        let command = run.split_once(" --db").unwrap().0;
        let help = folder.run(&format!("{command} --help")).text();
        let flags = refused.stderr.split([' ', ',', ';']).filter(|word| word.starts_with("--"));
        flags.for_each(|flag| assert!(help.contains(flag), "{run} names {flag}"));
    }
    let text = folder.run(&format!("store get {DB} a --objects data")).status(0).text();
    assert_eq!(text, "{\"a\":1}\n");
    let other = format!("{DB} -c other");
    folder.run(&format!("store put {other} b a.marshal --codec marshal --objects data")).status(0);
    let bytes = folder.run(&format!("store get {other} b --to marshal")).status(0).stdout;
    assert_eq!(bytes, SYMBOLS, "Marshal has symbols, so they stay");
    folder.run(&format!("{reencode} --objects data")).status(0);
    let bytes = folder.run(&format!("store get {DB} a --to msgpack")).status(0).stdout;
    assert_eq!(bytes, b"\x81\xA1a\x01");
}

#[test]
fn what_is_not_there_is_an_error_and_nothing_is_made() {
    let folder = Folder::new();
    for command in ["stat", "verify", "export", "reencode", "ls", "train"] {
        let to = if command == "reencode" { " --to json" } else { "" };
        let ran = folder.run(&format!("store {command} {DB}{to}")).status(2);
        assert_eq!(ran.stderr, "regauge: no such file: s.db\n", "{command}");
        assert_eq!(ran.text(), "");
    }
    folder.run(&format!("store ls --collections {DB}")).status(2);
    folder.run(&format!("store get {DB} k")).status(4);
    folder.run(&format!("store delete {DB} k")).status(4);
    let adopt = "--table t --key-column k --assume json";
    folder.run(&format!("store adopt {DB} -c theirs {adopt}")).status(2);
    assert_eq!(folder.names(), Vec::<String>::new());
    folder.write("one.json", "1");
    folder.run(&format!("store put {DB} -c mine k one.json")).status(0);
    let ran = folder.run(&format!("store stat {DB}")).status(2);
    assert_eq!(ran.stderr, "regauge: the database has no collection objects; it has mine\n");
}

/// Changes one byte in the middle of the value stored under a key.
fn damage(folder: &Folder, key: &str) {
    let connection = rusqlite::Connection::open(folder.path("s.db")).unwrap();
    let sql = "UPDATE objects SET value = CAST(substr(value, 1, 17) || x'FF' || substr(value, 19) AS BLOB) \
               WHERE key = CAST(?1 AS BLOB)";
    assert_eq!(connection.execute(sql, [key]).unwrap(), 1);
}

#[test]
fn damaged_values_are_named_and_the_rest_goes_on() {
    let folder = Folder::new();
    let lines: String = (0..9).map(|at| format!("{{\"id\":{at},\"s\":\"text\"}}\n")).collect();
    folder.write("in.ndjson", &lines);
    folder.run(&format!("store import {DB} in.ndjson --key id --codec json")).status(0);
    damage(&folder, "3");
    damage(&folder, "7");
    let ran = folder.run(&format!("store export {DB} --values")).status(4);
    assert_eq!(ran.text().lines().count(), 7, "{}", ran.text());
    for key in ["3", "7"] {
        assert!(ran.stderr.contains(&format!("key \"{key}\": the checksum")), "{}", ran.stderr);
    }
    assert!(ran.stderr.ends_with("2 values are damaged or cannot be decoded\n"), "{}", ran.stderr);
    folder.run(&format!("store export {DB} out.json")).status(4);
    assert!(folder.text("out.json").ends_with("}]\n"));
    let ran = folder.run(&format!("store stat {DB}")).status(4);
    assert!(ran.text().contains("2 bad"), "{}", ran.text());
    let ran = folder.run(&format!("store ls -l {DB}")).status(4);
    assert_eq!(ran.text().lines().count(), 9, "{}", ran.text());
    assert_eq!(ran.text().lines().filter(|line| line.starts_with("bad ")).count(), 2);
    assert_eq!(folder.run(&format!("store ls {DB}")).status(0).text().lines().count(), 9);
    let ran = folder.run(&format!("store verify {DB}")).status(4);
    assert_eq!(ran.text(), "9 values, 2 bad\n");
    let ran = folder.run(&format!("store verify {DB} --limit 3")).status(0);
    assert_eq!(ran.text(), "3 values, 0 bad\n");
    let ran = folder.run(&format!("store verify {DB} --limit 2 --descending")).status(4);
    assert_eq!(ran.text(), "2 values, 1 bad\n");
    assert_eq!(
        folder.run(&format!("store verify {DB} --limit 0")).status(0).text(),
        "0 values, 0 bad\n"
    );
    let ran = folder.run(&format!("store reencode {DB} --to msgpack")).status(4);
    assert!(
        ran.text().starts_with("7 of 9 values changed: 245 bytes to 196 (-20.0%);"),
        "{}",
        ran.text()
    );
    assert!(ran.stderr.ends_with("2 damaged values were left unchanged\n"), "{}", ran.stderr);
}

#[test]
fn a_document_without_its_key_is_bad_data() {
    let folder = Folder::new();
    folder.write("in.ndjson", "{\"id\":1}\n{\"other\":2}\n");
    let ran = folder.run(&format!("store import {DB} in.ndjson --key id")).status(1);
    let stderr = "regauge: 1 document was stored; the import ends with an error:\nregauge: in.ndjson: document 2: \
                  found no member id at $, expected the key\n";
    assert_eq!((ran.stdout.as_slice(), ran.stderr.as_str()), (&b""[..], stderr));
    folder.run(&format!("store get {DB} 1")).status(0);
}

#[test]
fn an_import_says_what_it_stored_and_which_documents_replaced_others() {
    let folder = Folder::new();
    folder.write("in.ndjson", "{\"id\":1}\n{\"id\":\"1\"}\n{\"id\":2}\n{\"id\":1,\"a\":3}\n");
    let ran = folder.run(&format!("store import {DB} in.ndjson --key id")).status(0);
    assert_eq!(ran.stdout, b"4 documents were stored\n");
    assert_eq!(
        ran.stderr,
        "regauge: 2 of them replaced an earlier one of the file with the same key; the first is \
         document 2, key \"1\"\n"
    );
}

#[test]
fn a_key_stands_in_a_nested_member() {
    let folder = Folder::new();
    folder.write("in.ndjson", "{\"id\":{\"bioguide\":\"A1\",\"a.b\":7}}\n");
    folder.run(&format!("store import {DB} in.ndjson --key id.bioguide")).status(0);
    folder.run(&format!(r"store import {DB} in.ndjson --key id.a\.b")).status(0);
    assert_eq!(folder.run(&format!("store ls {DB}")).status(0).text(), "7\nA1\n");
    folder.write("bad.ndjson", "{\"id\":{\"bioguide\":\"A2\"}}\n{\"id\":{\"x.y\":1}}\n");
    let told = |key: &str, status: i32| {
        folder.run(&format!("store import {DB} bad.ndjson --key {key}")).status(status).stderr
    };
    let missing = told("id.bioguide", 1);
    assert!(
        missing
            .contains("bad.ndjson: document 2: found no member bioguide at $.id, expected the key"),
        "{missing}"
    );
    let beyond = told("id.bioguide.x", 1);
    assert!(beyond.contains("document 1: found text at $.id.bioguide, expected a map"), "{beyond}");
    let container = told("id", 1);
    assert!(container.contains("document 1: found a map at $.id, expected text"), "{container}");
    assert!(told("id..x", 2).contains("found an empty name"));
    folder.write("dots.ndjson", "{\"id.x\":1}\n");
    let dots = folder.run(&format!("store import {DB} dots.ndjson --key id.x")).status(1).stderr;
    assert!(dots.contains(r"pass --key 'id\.x' for the member of that name"), "{dots}");
}

#[test]
fn records_are_exported_as_one_collection_of_marcxml() {
    let folder = Folder::new();
    let record = |number: u32| {
        format!(
            "{{\"leader\":\"00000nam a2200000 a 4500\",\"fields\":[{{\"001\":\"{number}\"}},\
             {{\"245\":{{\"ind1\":\"0\",\"ind2\":\"0\",\"subfields\":[{{\"a\":\"A title\"}}]}}}}]}}"
        )
    };
    for number in 1..=3 {
        folder.write("one.mij", record(number));
        folder
            .run(&format!("store put {DB} {number} one.mij --from marc-json --codec marc"))
            .status(0);
    }
    folder.run(&format!("store export {DB} --values all.marcxml --to marcxml")).status(0);
    let text = folder.text("all.marcxml");
    assert_eq!(text.matches("<?xml").count(), 1, "{text}");
    assert_eq!(text.matches("<collection").count(), 1, "{text}");
    assert_eq!(text.matches("<record").count(), 3, "{text}");
    folder.run("convert all.marcxml back.ndjson --from marcxml").status(0);
    assert_eq!(folder.text("back.ndjson").lines().count(), 3);
}

#[test]
fn keys_that_are_numbers_have_no_prefix() {
    let folder = Folder::new();
    let connection = rusqlite::Connection::open(folder.path("app.db")).unwrap();
    connection
        .execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, '[1]'), (10, '[]')")
        .unwrap();
    let db = "--db sqlite:app.db -c theirs";
    let adopt = "--table t --value-column v --assume json --text";
    folder.run(&format!("store adopt {db} {adopt}")).status(0);
    let ran = folder.run(&format!("store ls {db} --prefix 1")).status(2);
    assert!(ran.stderr.contains("whole numbers, which have no prefix"), "{}", ran.stderr);
    let ran = folder.run(&format!("store ls {db} --from-key 2")).status(0);
    assert_eq!(ran.text(), "10\n");
}

#[test]
fn a_server_that_is_not_compiled_in_says_so_without_secrets() {
    let folder = Folder::new();
    let ran = folder.run("store stat --db redis://user:s3cret@host/base").status(2);
    assert!(
        ran.stderr.contains("found \"redis://…@host/base\", expected sqlite:PATH"),
        "{}",
        ran.stderr
    );
    if !cfg!(feature = "servers") {
        let ran = folder.run("store stat --db postgres://user:s3cret@host/base").status(2);
        assert!(ran.stderr.contains("which is not compiled in"), "{}", ran.stderr);
    }
}

#[test]
fn an_import_takes_along_what_a_value_refers_to() {
    let folder = Folder::new();
    folder.write("a.yaml", "base: &b {x: 1}\nkey: k1\nvalue: {y: *b}\n");
    // The members beside key and value are not lost without a word.
    let told = folder.run(&format!("store import {DB} a.yaml")).status(1).stderr;
    assert!(
        told.contains("document 1: found the member base, expected only key and value"),
        "{told}"
    );
    assert!(told.contains("pass --key key to store whole documents"), "{told}");
    folder.write("twice.json", "{\"key\":1,\"value\":1,\"value\":2}");
    let told = folder.run(&format!("store import {DB} twice.json")).status(1).stderr;
    assert!(told.contains("found the member value twice"), "{told}");
    folder.write("key.yaml", "key: &k k1\nvalue: {y: [*k, *k]}\n");
    let other = "--db sqlite:o.db";
    folder.run(&format!("store import {other} key.yaml --codec json --on-loss wrap")).status(0);
    let got = folder.run(&format!("store get {other} k1 --unwrap --to yaml")).status(0).text();
    assert_eq!(got, "'y':\n- k1\n- k1\n");
    // The elements of one JSON array are documents of their own.
    folder.write(
        "array.json",
        r#"[{"key":"a","value":{"$anchor":1,"value":[1]}},{"key":"b","value":{"$alias":1}}]"#,
    );
    folder.run(&format!("store import {DB} array.json --unwrap")).status(0);
    assert_eq!(folder.run(&format!("store get {DB} b")).status(0).text(), "[1]\n");
}

#[test]
fn shared_values_are_written_as_copies_where_that_is_asked_for() {
    let folder = Folder::new();
    folder.write("s.yaml", "key: a\nvalue: [&x [1], *x]\n");
    let import = format!("store import {DB} s.yaml");
    let told = folder.run(&import).status(3).stderr;
    assert!(told.contains("a shared value"), "{told}");
    folder.run(&format!("{import} --on-loss approximate")).status(0);
    assert_eq!(folder.run(&format!("store get {DB} a")).status(0).text(), "[[1],[1]]\n");
    let other = "--db sqlite:o.db";
    folder.run(&format!("store import {other} s.yaml --codec yaml")).status(0);
    let export = format!("store export {other} --to ndjson --on-loss approximate");
    let all = folder.run(&export).status(0).text();
    assert_eq!(all, "{\"key\":\"a\",\"value\":[[1],[1]]}\n");
}

#[test]
fn a_collection_that_would_be_half_in_the_notation_is_refused() {
    let folder = Folder::new();
    folder.write("plain.json", "{\"$numberDouble\":\"NaN\"}");
    folder.write("raw.msgpack", b"\x81\xA1b\xC4\x02\x00\xFF");
    for (key, file) in [("plain", "plain.json"), ("raw", "raw.msgpack")] {
        folder.run(&format!("store put {DB} {key} {file}")).status(0);
    }
    folder.run(&format!("store reencode {DB} --to json")).status(3);
    let wrap = format!("store reencode {DB} --to json --on-loss wrap");
    let told = folder.run(&wrap).status(2).stderr;
    assert!(told.contains("key \"plain\": the document has the codec json already"), "{told}");
    let get = |key: &str, more: &str| {
        folder.run(&format!("store get {DB} {key} - --to msgpack {more}")).status(0).stdout
    };
    assert_eq!(get("raw", ""), folder.read("raw.msgpack"), "nothing was changed");
    // By way of another codec, all of it is in the notation.
    folder.run(&format!("store reencode {DB} --to msgpack")).status(0);
    folder.run(&wrap).status(0);
    assert_eq!(get("raw", "--unwrap"), folder.read("raw.msgpack"));
    let plain = folder.run(&format!("store get {DB} plain --unwrap")).status(0).text();
    assert_eq!(plain.trim(), "{\"$numberDouble\":\"NaN\"}");
    folder.run(&wrap).status(2);
    folder.run(&format!("store reencode {DB} --to msgpack --unwrap")).status(0);
    assert_eq!(get("raw", ""), folder.read("raw.msgpack"));
}

#[test]
fn what_is_not_one_document_in_a_database_that_stays_is_refused() {
    let folder = Folder::new();
    folder.write("a.json", "1");
    for name in [":memory:", "file::memory:", "file:x?mode=memory", "file:"] {
        let told = folder.run(&format!("store put --db sqlite:{name} k a.json")).status(2).stderr;
        assert!(told.contains("expected a database that keeps what is put"), "{told}");
    }
    folder.write("two.ndjson", "{\"a\":1}\n{\"a\":2}\n");
    let told = folder.run(&format!("store put {DB} k two.ndjson")).status(2).stderr;
    assert!(told.contains("expected one; `regauge store import` stores each"), "{told}");
    folder.write("big.ndjson", "{\"id\":123456789012345678901234567890}\n");
    let told = folder.run(&format!("store import {DB} big.ndjson --key id")).status(1).stderr;
    assert!(told.contains("found an integer beyond 64 bits at $.id"), "{told}");
}
