//! `regauge convert` with `--only`, `--drop`, `--rename`, `--head` and `--sample`.

mod common;

use common::{Folder, lines, marc};

/// Runs a conversion of standard input, and returns the output.
#[track_caller]
fn converted(arguments: &str, input: &str) -> String {
    let folder = Folder::new();
    folder.feed(&format!("convert - - {arguments}"), input.as_bytes()).silent().text()
}

#[test]
fn values_are_selected_by_their_paths() {
    let input = "{\"id\":1,\"user\":{\"name\":\"x\",\"mail\":\"y\"}}\n{\"id\":2}\n";
    let ndjson = "--from ndjson --to ndjson";
    assert_eq!(converted(&format!("{ndjson} --only id"), input), "{\"id\":1}\n{\"id\":2}\n");
    assert_eq!(
        converted(&format!("{ndjson} --drop $.user.mail --rename user.name=called"), input),
        "{\"id\":1,\"user\":{\"called\":\"x\"}}\n{\"id\":2}\n"
    );
    assert_eq!(
        converted("--from ndjson --to yaml --only user --drop user.name", input),
        "user:\n  mail: 'y'\n---\n{}\n"
    );
    // Paths are those of the input, which is one array here.
    let array = "[{\"a\":1,\"b\":2},{\"b\":3}]";
    let to_lines = "--from json --to ndjson";
    assert_eq!(converted(&format!("{to_lines} --only [*].b"), array), "{\"b\":2}\n{\"b\":3}\n");
    assert_eq!(converted(&format!("{to_lines} --drop [0]"), array), "{\"b\":3}\n");
    // The notation is undone first, and what is dropped is no loss.
    let wrapped = "{\"at\":{\"$time\":\"1970-01-01T00:00:00Z\"},\"n\":1}";
    assert_eq!(converted("--from json --to json --unwrap --drop at", wrapped), "{\"n\":1}\n");
}

#[test]
fn faults_in_paths_are_usage_errors() {
    let folder = Folder::new();
    folder.write("in.json", "{\"a\":{\"b\":1},\"c\":2}");
    for (arguments, expected) in [
        ("--only a[x]", "found 'x' at character 3, expected an index"),
        ("--drop a..b", "found an empty name"),
        ("--drop $", "the whole document"),
        ("--rename a", "found no new name, expected PATH=NAME"),
        ("--rename a[0]=b", "expected one that ends in a key"),
        ("--rename a=b --rename a=c", "found the names b and c for $.a"),
        ("--head 0", "0 is not in"),
        ("--head 1 --sample 1", "cannot be used with"),
    ] {
        let ran = folder.run(&format!("convert in.json out.json {arguments}"));
        assert_eq!(ran.status, Some(2), "{arguments}");
        assert!(ran.stderr.contains(expected), "{arguments}: {}", ran.stderr);
    }
    let ran = folder.feed("convert - - --from json --to json --sample 1", b"{}");
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("reads the input twice"), "{}", ran.stderr);
    let ran = folder.run("convert in.json out.json --rename a=c");
    assert_eq!(ran.status, Some(3), "{}", ran.stderr);
    assert!(ran.stderr.contains("at $.c: found a map in which a renamed key"), "{}", ran.stderr);
    assert_eq!(folder.names(), ["in.json"]);
}

#[test]
fn paths_without_a_match_are_reported() {
    let folder = Folder::new();
    folder.write("in.json", "[{\"a\":1}]");
    let ran = folder.run("convert in.json out.json --only [*].a --drop b --report report.json");
    assert_eq!(ran.status, Some(0));
    let warning = "regauge: in.json: --drop $.b matched nothing\n";
    assert_eq!(ran.stderr, warning);
    let report = folder.text("report.json");
    assert!(report.contains("\"unmatched\": [\n    \"drop $.b\"\n  ]"), "{report}");
    let ran = folder.run("convert in.json out.json --force --only a");
    assert!(ran.stderr.contains("--only $.a matched nothing; a document is an array"));
    assert_eq!(folder.text("out.json"), "[]\n");
    folder.run("convert in.json out.json --force --only a --quiet").silent();
}

#[test]
fn head_stops_reading_and_keeps_bytes() {
    let folder = Folder::new();
    let text = lines(5000);
    folder.write("in.ndjson", &text);
    folder.run("convert in.ndjson out.ndjson --head 3").silent();
    assert_eq!(folder.text("out.ndjson"), lines(3));
    folder.run("convert in.ndjson out.json --head 2 --jobs 2").silent();
    assert_eq!(folder.text("out.json"), format!("[{}]\n", lines(2).trim_end().replace('\n', ",")));
    // More than there are.
    folder.run("convert in.ndjson all.ndjson --head 10000").silent();
    assert!(folder.text("all.ndjson") == text);
    // What follows is not read.
    let broken = "{\"a\":1}\n{\"a\":2}\n{\"a\":";
    assert_eq!(converted("--from ndjson --to json --head 2", broken), "[{\"a\":1},{\"a\":2}]\n");
    // The elements of an array at the top are documents.
    let array = "[[1],{\"a\":[2]},3,4,";
    assert_eq!(converted("--from json --to json --head 3", array), "[[1],{\"a\":[2]},3]\n");
    assert_eq!(converted("--from json --to ndjson --head 2", array), "[1]\n{\"a\":[2]}\n");
    assert_eq!(converted("--from json --to json --head 3 --only [*].a", array), "[{\"a\":[2]}]\n");
    assert_eq!(converted("--from json --to json --head 1", "[]"), "[]\n");
    assert_eq!(converted("--from json --to json --head 1", "[0.5,1.5]"), "[0.5]\n");
    assert_eq!(converted("--from json --to json --head 1", "{\"a\":[1,2]}"), "{\"a\":[1,2]}\n");
    assert_eq!(
        converted("--from json --to json --head 1 --unwrap", "[{\"$literal\":{\"$x\":1}},2]"),
        "[{\"$x\":1}]\n"
    );
    // A MessagePack stream counts documents.
    folder.write("in.msgpack", b"\x92\x01\x02\x92\x03\x04\xC1");
    folder.run("convert in.msgpack two.ndjson --head 2").silent();
    assert_eq!(folder.text("two.ndjson"), "[1,2]\n[3,4]\n");
    folder.run("convert in.msgpack three.ndjson --head 3 --documents split").silent();
    assert_eq!(folder.text("three.ndjson"), "1\n2\n3\n");
    // Broken records do not count.
    let ran = folder.feed(
        "convert - - --from ndjson --to ndjson --head 2 --bad skip --quiet",
        b"{\"a\":\n1\n]\n2\n3\n",
    );
    assert_eq!(ran.text(), "1\n2\n");
}

#[test]
fn a_sample_is_random_and_repeatable() {
    let folder = Folder::new();
    let text = lines(1000);
    folder.write("in.ndjson", &text);
    let sample = |seed: u64| {
        folder
            .run(&format!("convert in.ndjson - --to ndjson --sample 50 --seed {seed}"))
            .silent()
            .text()
    };
    let first = sample(1);
    assert_eq!(first.lines().count(), 50);
    // In the order of the input, and each line of it at most once.
    let mut rest = text.lines();
    for line in first.lines() {
        assert!(rest.any(|other| other == line), "{line}");
    }
    assert_eq!(first, sample(1));
    assert_ne!(first, sample(2));
    folder.run("convert in.ndjson all.ndjson --sample 1000").silent();
    assert!(folder.text("all.ndjson") == text);
    folder.run("convert in.ndjson more.ndjson --sample 1001").silent();
    assert!(folder.text("more.ndjson") == text);
    // The elements of an array, with paths.
    folder.write("in.json", format!("[{}]", text.trim_end().replace('\n', ",")));
    folder.run("convert in.json some.json --sample 50 --seed 1 --only [*].id").silent();
    let ids: Vec<&str> = first.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(folder.text("some.json"), format!("[{}}}]\n", ids.join("},")));
    // Each document is taken about as often as any other.
    let mut counts = [0; 10];
    folder.write("ten.ndjson", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    for seed in 0..200 {
        let ran = folder.run(&format!("convert ten.ndjson - --to ndjson --sample 3 --seed {seed}"));
        ran.text().lines().for_each(|line| counts[line.parse::<usize>().unwrap()] += 1);
    }
    assert_eq!(counts.iter().sum::<u32>(), 600);
    assert!(counts.iter().all(|count| (35..=85).contains(count)), "{counts:?}");
}

#[test]
fn marc_records_lose_fields_and_keep_what_they_need() {
    let folder = Folder::new();
    folder.write("in.mrc", [marc("1", "One"), marc("2", "Two")].concat());
    folder.run("convert in.mrc only.mrc --only fields[*].245").silent();
    let ran = folder.run("convert only.mrc - --to ndjson").silent();
    let text = ran.text();
    assert_eq!(text.lines().count(), 2);
    assert!(text.contains("\"leader\":\"") && text.contains("One") && !text.contains("\"001\""));
    folder.run("convert in.mrc drop.xml --drop fields[*].245").silent();
    let xml = folder.text("drop.xml");
    assert!(xml.contains("tag=\"001\"") && !xml.contains("245"), "{xml}");
    let subfields = "--only fields[*].245.subfields[*].a";
    folder.run(&format!("convert in.mrc sub.mrc {subfields}")).silent();
    assert!(String::from_utf8_lossy(&folder.read("sub.mrc")).contains("10\x1FaOne"));
    let ran = folder.run(&format!("convert in.mrc - --to ndjson --head 1 {subfields}")).silent();
    assert_eq!(ran.text(), "{\"fields\":[{\"245\":{\"subfields\":[{\"a\":\"One\"}]}}]}\n");
    folder.run("convert in.mrc tag.mrc --rename fields[*].245=246").silent();
    assert!(String::from_utf8_lossy(&folder.read("tag.mrc")).contains("246"));
    // A file of MARC-in-JSON may be an array.
    folder.run("convert in.mrc in.json --documents join").silent();
    folder.run("convert in.json array.mrc --only [*].fields[*].001").silent();
    assert!(folder.read("array.mrc").starts_with(b"00"));
    let ran = folder.run("convert in.mrc none.mrc --drop leader");
    assert_ne!(ran.status, Some(0));
    assert!(ran.stderr.contains("without"), "{}", ran.stderr);
    // Whole records are copied.
    folder.run("convert in.mrc head.mrc --head 1").silent();
    assert!(folder.read("head.mrc") == marc("1", "One"));
}
