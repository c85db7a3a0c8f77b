//! `regauge store` with time series, the way users type it.

mod common;

use common::Folder;

const DB: &str = "--db sqlite:s.db -c slices --series s";

#[test]
fn slices_are_put_scanned_and_deleted_by_their_times() {
    let folder = Folder::new();
    for hour in 0..5 {
        folder.write("slice.json", format!("{{\"hour\":{hour}}}"));
        folder
            .run(&format!("store put {DB} 2026-11-21T0{hour}:00:00Z slice.json --buckets hour"))
            .status(0);
    }
    let scan = |more: &str| folder.run(&format!("store scan {DB} {more}")).status(0).text();
    let line = |hour: u32| {
        format!("{{\"time\":\"2026-11-21T0{hour}:00:00Z\",\"value\":{{\"hour\":{hour}}}}}\n")
    };
    let all: String = (0..5).map(line).collect();
    assert_eq!(scan(""), all);
    assert_eq!(scan("--newest --limit 2"), line(4) + &line(3));
    assert_eq!(
        scan("--from 2026-11-21T02:00:00+01:00 --to 2026-11-21T03:00:00Z"),
        line(1) + &line(2)
    );
    assert_eq!(scan("--from 2026-11-22"), "");
    assert_eq!(scan("--values --to 2026-11-21T01:00:00Z"), "{\"hour\":0}\n");
    assert_eq!(scan("--values --newest --limit 2 --format json"), "[{\"hour\":4},{\"hour\":3}]\n");

    let one = folder.run(&format!("store get {DB} 2026-11-21T02:00:00Z")).status(0).text();
    assert_eq!(one, "{\"hour\":2}\n");
    folder.run(&format!("store delete {DB} 2026-11-21T02:00:00Z")).status(0);
    folder.run(&format!("store delete {DB} 2026-11-21T02:00:00Z")).status(4);
    assert_eq!(scan(""), all.replace(&line(2), ""));

    // The output of a scan can be imported again, here with other buckets.
    folder.run(&format!("store scan {DB} all.msgpack")).status(0);
    let other = DB.replace("s.db", "o.db");
    folder.run(&format!("store import {other} all.msgpack --buckets size")).status(0);
    let text = folder.run(&format!("store scan {other}")).status(0).text();
    assert_eq!(text, all.replace(&line(2), ""));

    folder.run(&format!("store scan {DB} --from yesterday")).status(2);
    folder.run(&format!("store put {DB} noon slice.json")).status(2);
    folder.run(&format!("store put {DB} 0 slice.json --buckets week")).status(2);
    folder.run(&format!("store put {DB} 0 slice.json --buckets day")).status(2);
}

#[test]
fn an_import_counts_the_documents_of_a_series_that_replaced_others() {
    let folder = Folder::new();
    folder.write(
        "in.ndjson",
        "{\"time\":\"1970-01-01T00:00:05Z\",\"value\":1}\n{\"time\":5,\"value\":2}\n",
    );
    let ran = folder.run(&format!("store import {DB} in.ndjson")).status(0);
    assert!(ran.stderr.contains("1 of them replaced an earlier one"), "{}", ran.stderr);
    assert_eq!(ran.stdout, b"2 documents were stored\n");
    folder.write("bad.ndjson", "{\"time\":\"noon\",\"value\":1}\n");
    let told = folder.run(&format!("store import {DB} bad.ndjson")).status(1).stderr;
    assert!(told.contains("bad.ndjson: document 1: found time \"noon\""), "{told}");
}
