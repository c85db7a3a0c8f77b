//! `--envelope`: when an envelope is taken off, how it is reported, and how it is put back.

mod common;

use std::path::Path;

use common::Folder;
use serde_json::{Value, json};

/// A file that a framework made.
fn made(path: &str) -> Vec<u8> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/envelopes");
    std::fs::read(corpus.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

const HASH: &str = "{\"id\":7,\"name\":\"Ada\",\"price\":2.5,\"tags\":[\"a\",\"b\"],\"in\":{\"yes\":true,\"none\":null}}\n";

#[test]
fn what_can_be_nothing_else_is_taken_off() {
    let folder = Folder::new();
    for (path, note) in [
        ("rails-7.1.6/7.1-hash.bin", "Rails.cache 7.1 (expires 2096-10-02T07:06:40Z; version vé4)"),
        (
            "rails-8.0.5.1/7.1-hash.bin",
            "Rails.cache 7.1 (expires 2096-10-02T07:06:40Z; version vé4)",
        ),
        (
            "rails-7.0.10/7.0-hash.bin",
            "Rails.cache 7.0 (expires 2096-10-02T07:06:40Z; version vé4)",
        ),
        (
            "django-5.2.19/file-dict.djcache",
            "a file of Django's cache, zlib (expires 2096-10-02T07:06:40.5Z)",
        ),
        ("django-5.2.19/table-dict.txt", "a row of Django's cache table, base64"),
        (
            "django-5.2.19/session-dict.txt",
            "a signed value of Django, base64 (signed 2027-01-15T08:00:00Z; signature not checked)",
        ),
        ("django-redis-7.0.0/zlib-dict.bin", "zlib"),
    ] {
        let ran = folder.feed("convert - - --to json --objects data", &made(path)).status(0);
        assert_eq!(ran.text(), HASH, "{path}");
        let line = ran.stderr.lines().next().unwrap_or_default();
        assert_eq!(line, format!("regauge: standard input: envelope: {note}, taken off"));
        let ran = folder.feed("convert - - --to json --objects data --quiet", &made(path));
        assert_eq!(ran.silent().text(), HASH, "{path}");
        // As before there were envelopes: no format, or one that cannot read it.
        let ran = folder.feed("convert - - --to json --envelope none", &made(path));
        let is_detected = path.contains("file-dict") || path.contains("zlib-dict");
        ran.status(if is_detected { 1 } else { 2 });
    }
}

#[test]
fn a_document_stays_a_document_unless_asked() {
    let folder = Folder::new();
    for (path, inside) in [
        ("rails-6.1.7.10/6.1-hash.bin", HASH),
        ("sidekiq-6.5.12/job.json", "[7,\"Ada\",{\"price\":2.5,\"tags\":[\"a\"]}]\n"),
        (
            "celery-5.7.0/pickle-zlib.json",
            "[[1,2.5],{\"note\":\"héllo\"},{\"callbacks\":null,\"errbacks\":null,\"chain\":null,\"chord\":null}]\n",
        ),
    ] {
        let bytes = made(path);
        let convert =
            |options: &str| folder.feed(&format!("convert - - --objects wrap {options}"), &bytes);
        assert_eq!(
            convert("--to yaml").silent().text(),
            convert("--to yaml --envelope none").silent().text()
        );
        let opened = folder.feed("convert - - --to json --objects data --envelope open", &bytes);
        assert_eq!(opened.status(0).text(), inside, "{path}");
    }
    // A name says what the file is.
    folder.write("in.msgpack", made("rails-7.1.6/7.1-hash.bin"));
    let ran = folder.run("convert in.msgpack - --to json --documents join").silent();
    assert!(ran.text().starts_with("[0,17,1,"), "{}", ran.text());
}

#[test]
fn an_input_without_an_envelope_is_named() {
    let folder = Folder::new();
    let ran = folder.feed("convert - - --to json --envelope open", b"{\"a\": 1}").status(1);
    assert!(
        ran.stderr.starts_with(
            "regauge: standard input: found no envelope, expected one of Rails.cache 7.1, "
        ),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.ends_with("; read it without --envelope\n"), "{}", ran.stderr);
}

#[test]
fn errors_count_inside_the_envelope() {
    let folder = Folder::new();
    let mut bytes = made("rails-7.1.6/7.1-hash.bin");
    let end = bytes.len() - 1;
    bytes.truncate(end);
    folder.write("value.bin", &bytes);
    let ran = folder.run("convert value.bin - --to json --objects data").status(1);
    assert!(
        ran.stderr.starts_with("regauge: value.bin (inside Rails.cache 7.1): marshal: byte "),
        "{}",
        ran.stderr
    );
    folder.write("cut.bin", &bytes[..9]);
    let ran = folder.run("convert cut.bin - --to json").status(1);
    assert_eq!(
        ran.stderr,
        "regauge: cut.bin: byte 9: in Rails.cache 7.1: found the end after 9 bytes, expected a head of 15; \
         check that the value was copied whole\n"
    );
}

#[test]
fn what_was_taken_off_is_put_back() {
    let folder = Folder::new();
    folder.write("value.bin", made("rails-7.1.6/7.1-long.bin"));
    // Marshal and MessagePack are what Rails reads there.
    let keep = "convert value.bin - --envelope keep --objects data";
    let ran = folder.run(&format!("{keep} --to msgpack")).status(0);
    assert_eq!(
        ran.stderr,
        "regauge: value.bin: envelope: Rails.cache 7.1, zlib (expires 2096-10-02T07:06:40Z; version vé4), kept\n"
    );
    // Signature, type, expiry and version are the same.
    assert_eq!(ran.stdout[..19], made("rails-7.1.6/7.1-long.bin")[..19]);
    let back = folder.feed("convert - - --to marshal --envelope keep", &ran.stdout).status(0);
    let value = folder.feed("convert - - --to json", &back.stdout).status(0);
    assert_eq!(value.text(), folder.run("convert value.bin - --to json").text());

    let ran = folder.run(&format!("{keep} --to json")).status(3);
    assert_eq!(
        ran.stderr,
        "regauge: value.bin (inside Rails.cache 7.1, zlib): found JSON to put into Rails.cache 7.1, expected Ruby \
         Marshal or MessagePack, which is read there; pass --to marshal, or --envelope open to write the value \
         without it\n"
    );
    let session = made("flask-3.1.3/session-dict.txt");
    let ran = folder.feed("convert - - --to json --envelope keep", &session).status(3);
    assert!(
        ran.stderr.contains(
            "cannot be made around the output, because regauge neither signs nor encrypts"
        ),
        "{}",
        ran.stderr
    );
}

/// Rails does not read the extension of MessagePack for a point in time.
#[test]
fn what_the_framework_would_not_read_is_refused() {
    let folder = Folder::new();
    // An entry with a Time in UTC.
    let time = folder.feed(
        "convert - - --from json --to marshal --unwrap",
        b"{\"at\":{\"$time\":\"2026-11-26T12:00:00Z\"}}",
    );
    let head = &made("rails-7.1.6/7.1-hash.bin")[..19];
    folder.write("value.bin", [head, &time.silent().stdout].concat());
    let ran = folder.run("convert value.bin - --to msgpack --envelope keep").status(3);
    assert_eq!(
        ran.stderr,
        "regauge: value.bin (inside Rails.cache 7.1): in Rails.cache 7.1: found a point in time (the extension -1), \
         which ActiveSupport::MessagePack does not read; pass --to marshal\n"
    );
}

#[test]
fn inspect_names_the_envelope() {
    let folder = Folder::new();
    folder.write("value.bin", made("rails-7.1.6/7.1-long.bin"));
    let text = folder.run("inspect value.bin").silent().text();
    assert!(
        text.contains(
            "envelope   Rails.cache 7.1, zlib, Ruby Marshal: a Hash of 1 key; expires 2096-10-02T07:06:40Z; version vé4\n"
        ),
        "{text}"
    );
    let found: Value =
        serde_json::from_slice(&folder.run("inspect value.bin --json").silent().stdout).unwrap();
    assert_eq!(
        found["envelopes"],
        json!([{
            "name": "rails-cache-7.1",
            "title": "Rails.cache 7.1",
            "steps": ["zlib"],
            "holds": "marshal",
            "expires": "2096-10-02T07:06:40Z",
            "version": "vé4",
        }])
    );
    assert_eq!((&found["name"], &found["format"]), (&json!("value.bin"), &json!("marshal")));

    folder.write("job.json", made("sidekiq-6.5.12/job.json"));
    let text = folder.run("inspect job.json").silent().text();
    assert!(
        text.contains("looks like a job of Sidekiq; --envelope open reads what is inside\n"),
        "{text}"
    );
    assert!(text.contains("$.jid"), "{text}");
    let text = folder.run("inspect job.json --envelope open").silent().text();
    assert!(
        text.contains("envelope   a job of Sidekiq, JSON: an array of 3 items; class HardJob; "),
        "{text}"
    );
    // Nothing is added for documents that look like nothing.
    folder.write("plain.json", "{\"class\": 1}");
    let found: Value =
        serde_json::from_slice(&folder.run("inspect plain.json --json").silent().stdout).unwrap();
    assert_eq!((found.get("looks_like"), found.get("envelopes")), (None, None));
}

/// The job that Sidekiq carries is opened with it, and what is changed is put back into both.
#[test]
fn a_job_of_active_job_is_opened_and_kept() {
    let folder = Folder::new();
    let bytes = made("activejob-7.1.6/retried.json");
    folder.write("job.json", &bytes);
    let text = folder.run("inspect job.json").silent().text();
    assert!(
        text.contains("looks like a job of Active Job; --envelope open reads what is inside\n"),
        "{text}"
    );
    let text = folder.run("inspect job.json --envelope open").silent().text();
    assert!(
        text.contains(
            "envelope   a job of Active Job, JSON: an array of 1 item; class ReportJob; job \
             3d968b56-a63c-e32b-3299-d40a68f1194b; queue reports; executions 2; exceptions [IOError, EOFError] 2; \
             enqueued 2027-01-15T08:00:00.500000000Z; scheduled 2027-01-15T08:00:00.500000000Z; locale en\n"
        ),
        "{text}"
    );
    let ran = folder.run("inspect job.json --envelope open --json").silent();
    let found: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(found["envelopes"][0]["executions"], 2);
    let carried = made("activejob-7.1.6/sidekiq-plain.json");
    folder.write("carried.json", &carried);
    let text = folder.run("inspect carried.json --envelope open").silent().text();
    let expected = "envelope   a job of Sidekiq, in it a job of Active Job, JSON: an array of 6 items; class \
                    ActiveJob::QueueAdapters::SidekiqAdapter::JobWrapper; ";
    assert!(text.contains(expected), "{text}");
    let plain = folder.run("convert carried.json - --to json --envelope open --quiet").silent();
    assert!(plain.text().starts_with("[7,\"h\u{e9}llo\",2.5,true,null,["), "{}", plain.text());
    for bytes in [bytes, carried] {
        let text = String::from_utf8(bytes.clone()).unwrap();
        for keep in [
            "convert - - --to json --envelope keep --quiet --filter .[0]=8",
            "query .[0]=8 - --envelope keep --quiet",
        ] {
            let kept = folder.feed(keep, &bytes).silent();
            assert_eq!(kept.text(), text.replace("\"arguments\":[7", "\"arguments\":[8"), "{keep}");
        }
    }
}

#[test]
fn a_report_lists_the_layers() {
    let folder = Folder::new();
    folder.write("value.bin", made("django-5.2.19/file-dict.djcache"));
    folder.run("convert value.bin out.json --report report.json --quiet").silent();
    let report: Value = serde_json::from_slice(&folder.read("report.json")).unwrap();
    assert_eq!(report["envelopes"][0]["name"], "django-cache-file");
    assert_eq!(report["input"]["name"], "value.bin");
    assert_eq!(report["input"]["format"], "pickle");
}

/// Files of joblib are a pickle, compressed or not; only the oldest have an envelope of their own.
#[test]
fn files_of_joblib_and_rows_of_diskcache_are_read() {
    let folder = Folder::new();
    for file in [
        "joblib-1.6.0/zfile-dict.bin",
        "joblib-1.6.0/zlib-dict.joblib",
        "joblib-1.6.0/gzip-dict.joblib",
        "joblib-1.6.0/bz2-dict.joblib",
        "joblib-1.6.0/xz-dict.joblib",
        "joblib-1.6.0/lzma-dict.joblib",
        "joblib-1.6.0/lz4-dict.joblib",
        "diskcache-5.6.3/pickle-dict.bin",
        "diskcache-5.6.3/json-dict.bin",
    ] {
        let ran = folder.feed("convert - - --to json --quiet", &made(file));
        assert_eq!(ran.silent().text(), HASH, "{file}");
    }
    // A name says that a file is a pickle, and then nothing is taken off without asking.
    folder.write("old.pkl", made("joblib-1.6.0/zfile-dict.bin"));
    let text = folder.run("inspect old.pkl").status(1).text();
    assert!(text.contains("looks like a compressed file of joblib; --envelope open"), "{text}");
    let ran = folder.run("convert old.pkl - --to json --envelope open").status(0);
    assert_eq!(ran.text(), HASH);
    let mut wrong = made("joblib-1.6.0/zfile-dict.bin");
    wrong[4] = b'1';
    let ran = folder.feed("convert - - --to json", &wrong).status(1);
    assert!(
        ran.stderr.contains(": byte 2: in a compressed file of joblib: found "),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_value_of_paquito_keeps_the_format_of_its_coder() {
    let folder = Folder::new();
    for (file, format, layer) in [
        ("comment-yaml.bin", "yaml", "a value of paquito with a comment (version 1)"),
        ("comment-msgpack.bin", "msgpack", "a value of paquito with a comment (version 3)"),
        ("byte-marshal.bin", "marshal", "a value of paquito with a byte (version 1)"),
    ] {
        let bytes = made(&format!("paquito-1.0.2/{file}"));
        let ran = folder.feed("convert - - --to json", &bytes).status(0);
        assert_eq!(ran.text(), HASH, "{file}");
        assert_eq!(ran.stderr, format!("regauge: standard input: envelope: {layer}, taken off\n"));
        let keep = format!("convert - - --envelope keep --quiet --to {format}");
        let kept = folder.feed(&keep, &bytes).silent().stdout;
        assert_eq!(kept[..1], bytes[..1]);
        assert_eq!(folder.feed("convert - - --to json -q", &kept).silent().text(), HASH);
        let other = if format == "marshal" { "msgpack" } else { "marshal" };
        let ran = folder.feed(&format!("convert - - --envelope keep --to {other}"), &bytes);
        let ran = ran.status(3);
        let expected =
            format!("; pass --to {format}, or --envelope open to write the value without it\n");
        assert!(ran.stderr.ends_with(&expected), "{}", ran.stderr);
    }
}
