//! `regauge convert` from the outside: formats, streams, files that appear whole or not at all.

mod common;

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use common::{Folder, lines, marc};
use regauge_testdata::unix;

#[test]
fn a_file_becomes_another_and_the_same_again() {
    let folder = Folder::new();
    folder.write("in.json", r#"{"a": [1, 2.5, "x"], "b": null}"#);
    folder.run("convert in.json out.msgpack").silent();
    assert_eq!(
        folder.read("out.msgpack").escape_ascii().to_string(),
        r"\x82\xa1a\x93\x01\xcb@\x04\x00\x00\x00\x00\x00\x00\xa1x\xa1b\xc0"
    );
    folder.run("convert out.msgpack back.json").silent();
    assert_eq!(folder.text("back.json").trim_end(), r#"{"a":[1,2.5,"x"],"b":null}"#);
}

#[test]
fn the_standard_streams_are_a_dash() {
    let folder = Folder::new();
    let ran = folder.feed("convert - - --from json --to ndjson", b"[1,[2],\"three\"]").silent();
    assert_eq!(ran.text(), "1\n[2]\n\"three\"\n");
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn standard_input_may_be_a_file_that_is_read_from_where_it_stands() {
    let folder = Folder::new();
    folder.write("in.json", "[1,\n 2");
    let file = fs::File::open(folder.path("in.json")).unwrap();
    let output = folder.command("convert - out.msgpack").stdin(file).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    // Line and column are found by a second pass.
    assert!(
        stderr.starts_with("regauge: standard input: json: byte 6 (line 2, column 3), at $[2]"),
        "{stderr}"
    );
    assert!(stderr.contains("\n   2\n    ^\n"), "{stderr}");
}

#[test]
fn standard_output_may_be_a_file_that_is_patched() {
    let folder = Folder::new();
    // More elements than fit in memory at once, so the header is written before their number is
    // known.
    let text = format!("[{}1]", "\"some text that takes room\",".repeat(400_000));
    folder.write("in.json", &text);
    folder.run("convert in.json there.msgpack").silent();
    let file = fs::File::create(folder.path("here.msgpack")).unwrap();
    let status = folder.command("convert in.json - --to msgpack").stdout(file).status().unwrap();
    assert!(status.success());
    let piped = folder.run("convert in.json - --to msgpack").silent();
    assert!(folder.read("here.msgpack") == folder.read("there.msgpack"));
    assert!(piped.stdout == folder.read("there.msgpack"));
    let appended =
        fs::File::options().append(true).create(true).open(folder.path("appended")).unwrap();
    let status =
        folder.command("convert in.json - --to msgpack").stdout(appended).status().unwrap();
    assert!(status.success());
    assert!(folder.read("appended") == folder.read("there.msgpack"));
}

#[test]
fn first_bytes_tell_what_the_name_does_not() {
    let folder = Folder::new();
    for (bytes, out) in [
        (&b"{\"a\":1}"[..], "{\"a\":1}\n"),
        (b"{\"a\":1}\n{\"a\":2}\n", "[{\"a\":1},{\"a\":2}]\n"),
        (b"\x81\xA1a\x01", "{\"a\":1}\n"),
    ] {
        folder.write("in", bytes);
        let ran = folder.run("convert in - --to json").silent();
        assert_eq!(ran.text(), out, "{}", bytes.escape_ascii());
    }
    folder.write("in", marc("1", "T"));
    let ran = folder.run("convert in - --to marc-json").silent();
    assert!(ran.text().starts_with("{\"leader\":\""), "{}", ran.text());
    let ran = folder.feed("convert - - --to json", b"\x92\x01\x02").silent();
    assert_eq!(ran.text(), "[1,2]\n");
}

#[test]
fn every_compression_goes_both_ways_by_suffix_and_is_known_by_its_first_bytes() {
    let folder = Folder::new();
    let text = lines(20_000);
    folder.write("in.ndjson", &text);
    for suffix in ["gz", "zst", "lz4", "xz", "bz2"] {
        for jobs in [1, 3] {
            let packed = format!("packed.ndjson.{suffix}");
            folder.run(&format!("convert in.ndjson {packed} --force --jobs {jobs}")).silent();
            let bytes = folder.read(&packed);
            assert!(bytes.len() < text.len() / 2, "{suffix}");
            let back =
                folder.run(&format!("convert {packed} - --to ndjson --jobs {jobs}")).silent();
            assert!(back.text() == text, "{suffix}");
            // No names to go by: the first bytes determine both, in a file and in a stream.
            folder.write("nameless", &bytes);
            let back =
                folder.run(&format!("convert nameless - --to ndjson --jobs {jobs}")).silent();
            assert!(back.text() == text, "{suffix}");
            let back =
                folder.feed(&format!("convert - - --to ndjson --jobs {jobs}"), &bytes).silent();
            assert!(back.text() == text, "{suffix}");
        }
    }
    let packed = folder.run("convert in.ndjson - --to ndjson --compress zstd --level 9").silent();
    assert!(packed.stdout.starts_with(b"\x28\xB5\x2F\xFD"));
}

#[test]
fn two_members_of_gzip_are_one_file_and_a_cut_one_is_an_error() {
    let folder = Folder::new();
    folder.write("in.ndjson", "{\"a\":1}\n");
    folder.run("convert in.ndjson one.ndjson.gz").silent();
    let one = folder.read("one.ndjson.gz");
    folder.write("two.ndjson.gz", [one.clone(), one.clone()].concat());
    assert_eq!(
        folder.run("convert two.ndjson.gz - --to ndjson").silent().text(),
        "{\"a\":1}\n".repeat(2)
    );
    folder.write("cut.ndjson.gz", &one[..one.len() - 4]);
    let ran = folder.run("convert cut.ndjson.gz out.ndjson").status(1);
    assert!(ran.stderr.contains("cut.ndjson.gz: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("the gzip data ends early"), "{}", ran.stderr);
    assert!(!folder.names().contains(&"out.ndjson".into()));
}

#[test]
fn a_failure_leaves_no_file_and_an_existing_one_as_it_was() {
    let folder = Folder::new();
    folder.write("in.json", "[1, 2,, 3]");
    folder.run("convert in.json out.msgpack").status(1);
    assert_eq!(folder.names(), ["in.json"]);
    folder.write("out.msgpack", "precious");
    folder.run("convert in.json out.msgpack --force").status(1);
    assert_eq!(folder.text("out.msgpack"), "precious");
    assert_eq!(folder.names(), ["in.json", "out.msgpack"]);
}

#[test]
fn an_existing_file_is_kept_unless_forced_and_keeps_its_mode() {
    let folder = Folder::new();
    folder.write("in.json", "[1]");
    folder.write("out.msgpack", "precious");
    let ran = folder.run("convert in.json out.msgpack").status(2);
    assert_eq!(
        ran.stderr,
        "regauge: out.msgpack: already exists and was kept; pass --force to replace it\n"
    );
    assert_eq!(folder.text("out.msgpack"), "precious");
    unix::set_mode(folder.path("out.msgpack"), 0o640);
    folder.run("convert in.json out.msgpack --force").silent();
    assert_eq!(folder.read("out.msgpack"), b"\x91\x01");
    let mode = |name| unix::mode(folder.path(name));
    assert_eq!(mode("out.msgpack"), 0o640);
    // A new file has the default permissions.
    folder.run("convert in.json new.msgpack").silent();
    fs::write(folder.path("plain"), "").unwrap();
    assert_eq!(mode("new.msgpack"), mode("plain"));
    assert_eq!(folder.names(), ["in.json", "new.msgpack", "out.msgpack", "plain"]);
}

#[test]
fn a_file_may_be_written_onto_itself_and_through_a_link() {
    let folder = Folder::new();
    folder.write("it.json", r#"{ "a" : 1 }"#);
    unix::symlink("it.json", folder.path("link.json")).unwrap();
    folder.run("convert it.json it.json").status(2);
    folder.run("convert it.json it.json --force").silent();
    assert_eq!(folder.text("it.json"), "{\"a\":1}\n");
    folder.run("convert link.json link.json --force --pretty").silent();
    assert_eq!(folder.text("it.json"), "{\n  \"a\": 1\n}\n");
    assert!(fs::symlink_metadata(folder.path("link.json")).unwrap().is_symlink());
}

#[test]
fn devices_and_fifos_are_written_directly() {
    let folder = Folder::new();
    folder.write("in.json", "[1]");
    folder.run("convert in.json /dev/null --to msgpack").silent();
    let fifo = folder.path("fifo.msgpack");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let mut child = folder.command("convert in.json fifo.msgpack").spawn().unwrap();
    let mut got = Vec::new();
    fs::File::open(&fifo).unwrap().read_to_end(&mut got).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(got, b"\x91\x01");
}

#[test]
fn a_broken_pipe_ends_quietly_by_its_signal() {
    let folder = Folder::new();
    folder.write("in.ndjson", lines(200_000));
    for jobs in [1, 2] {
        let mut child = folder
            .command(&format!("convert in.ndjson - --to ndjson --jobs {jobs}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        // SIGPIPE, which a shell shows as 141.
        assert_eq!(unix::signal(output.status), Some(13));
    }
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    let folder = Folder::new();
    let mut child =
        folder.command("convert - out.ndjson --from ndjson").stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Larger than a window, so that writing has started.
    std::io::Write::write_all(&mut stdin, lines(30_000).as_bytes()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn two_jobs_give_what_one_gives() {
    let folder = Folder::new();
    folder.write("in.ndjson", lines(60_000));
    let records: Vec<u8> =
        (0..20_000).flat_map(|n| marc(&format!("id{n}"), "A title, and more")).collect();
    folder.write("in.mrc", records);
    for (input, to) in [
        ("in.ndjson", "json"),
        ("in.ndjson", "ndjson"),
        ("in.ndjson", "msgpack"),
        ("in.mrc", "marcxml"),
        ("in.mrc", "marc-json"),
        ("in.mrc", "marc"),
        ("in.mrc", "mrk"),
        ("in.mrc", "alephseq"),
        ("in.mrc", "msgpack"),
    ] {
        let run = |jobs| {
            folder.run(&format!("convert {input} - --to {to} --jobs {jobs}")).silent().stdout
        };
        assert!(run(1) == run(2), "{input} to {to}");
    }
}

#[test]
fn options_reach_the_codecs() {
    let folder = Folder::new();
    let run = |arguments: &str, input: &str| {
        folder
            .feed(&format!("convert - - --from json {arguments}"), input.as_bytes())
            .silent()
            .text()
    };
    assert_eq!(run("--to json --json-indent 4", "[1]"), "[\n    1\n]\n");
    assert_eq!(run("--to json --json-ascii", "\"é\""), "\"\\u00e9\"\n");
    assert_eq!(run("--to json --json-comments", "[1] // one"), "[1]\n");
    assert_eq!(run("--to json --json-trailing-commas", "[1,]"), "[1]\n");
    assert_eq!(
        run("--to json --json-allow-nan --on-loss approximate --quiet", "[Infinity]"),
        "[null]\n"
    );
    assert_eq!(run("--to json --numbers exact --on-loss wrap", "1.10"), "1.10\n");
    assert_eq!(run("--to ndjson --documents keep", "[1,2]"), "[1,2]\n");
    assert_eq!(run("--to json --limit depth=3", "[[[1]]]"), "[[[1]]]\n");
    let ran =
        folder.feed("convert - - --from json --to json --limit depth=2", b"[[[1]]]").status(1);
    assert!(ran.stderr.contains("--limit depth="), "{}", ran.stderr);
    let ran = folder
        .feed("convert - - --from json --to json --duplicate-keys refuse", br#"{"a":1,"a":2}"#);
    assert!(ran.status(3).stderr.contains("\"a\" a second time"));
}

/// An option of formats that are neither read nor written changes nothing, and the user hears of it.
#[test]
fn options_without_effect_are_answered_with_a_warning() {
    let folder = Folder::new();
    let warning = |line: &str, input: &[u8]| {
        let ran = folder.feed(line, input).status(0);
        assert!(!folder.feed(&format!("{line} --quiet"), input).stderr.contains("effect"));
        ran.stderr
    };
    let json = |flags: &str| format!("convert - - --from json --to msgpack {flags}");
    for (flags, flag, formats) in [
        ("--csv-header no", "--csv-header", "CSV or TSV"),
        ("--pretty --json-comments", "--pretty", "writing JSON"),
        ("--parquet-sample=5", "--parquet-sample", "writing Parquet"),
    ] {
        let line = format!(
            "warning: {flag} has no effect: it is for {formats}, and this converts JSON to MessagePack\n"
        );
        assert_eq!(warning(&json(flags), b"[1]"), line);
    }
    assert_eq!(
        warning(&json("--seed 7"), b"[1]"),
        "warning: --seed has no effect without --sample\n"
    );
    // The reader's option does not help the writer.
    assert_eq!(
        warning("convert - - --from msgpack --to yaml --yaml-schema 1.1", b"\x91\x01"),
        "warning: --yaml-schema has no effect: it is for reading YAML, and this converts MessagePack to YAML\n"
    );
    let ran = folder.feed("inspect - --from json --marshal-binary text", b"[1]").status(0);
    assert_eq!(
        ran.stderr,
        "warning: --marshal-binary has no effect: it is for reading Ruby Marshal, and this reads JSON\n"
    );
    for silent in [
        json("--numbers exact --limit depth=9 --extended-json relaxed"),
        "convert - - --from json --to csv --csv-nested flatten --csv-header no".to_owned(),
        "query .[0] - --from json --to cbor --numbers exact".to_owned(),
        "query --null-input 1 --json-comments".to_owned(),
    ] {
        let ran = folder.feed(&silent, b"[1]");
        assert!(!ran.stderr.contains("effect"), "{silent}: {}", ran.stderr);
    }
}

/// A name that an option had before works, with a warning, and the help does not show it.
#[test]
fn old_names_of_options_are_answered_with_a_warning() {
    let folder = Folder::new();
    let ran = folder.feed("convert - - --from json --to json --indent 4", b"[1]").status(0);
    assert_eq!(ran.text(), "[\n    1\n]\n");
    assert_eq!(ran.stderr, "warning: --indent is now --json-indent; the old name will go away\n");
    let ran = folder.feed("inspect - --from json --json-nan", b"[NaN]").status(0);
    assert_eq!(
        ran.stderr,
        "warning: --json-nan is now --json-allow-nan; the old name will go away\n"
    );
    folder.feed("convert - - --from json --to json --indent=4 --quiet", b"[1]").silent();
    let help = folder.run("convert --help").silent().text();
    assert!(help.contains("--json-indent <N>") && !help.contains("--indent "));
    assert!(help.contains("Accept NaN"));
}

#[test]
fn wrapped_values_come_back() {
    let folder = Folder::new();
    let bytes =
        b"\x83\x01\xC4\x02\x00\xFF\xA1t\xD6\xFF\x00\x00\x00\x05\xA1f\xCB\x7F\xF0\0\0\0\0\0\0";
    folder.write("in.msgpack", bytes);
    folder.run("convert in.msgpack out.json --on-loss wrap").silent();
    folder.run("convert out.json back.msgpack --unwrap").silent();
    assert_eq!(folder.read("back.msgpack"), bytes);
}

/// Plain data that looks like the notation is data, and is escaped exactly once.
#[test]
fn look_alikes_of_the_notation_come_back() {
    let folder = Folder::new();
    for json in [
        r#"{"m":{"$numberDouble":"NaN"},"$key:1":2}"#,
        r#"{"a":{"$q":1}}"#,
        r#"{"$literal":{"$literal":{"$q":[{"$binary":{"base64":"","subType":"00"}}]}}}"#,
    ] {
        folder.write("in.json", json);
        for flags in [["", ""], ["--on-loss wrap", "--unwrap"]] {
            let [there, back] = flags;
            folder.run(&format!("convert -f in.json there.msgpack {there}")).silent();
            folder.run(&format!("convert -f there.msgpack back.json {back}")).silent();
            assert_eq!(folder.text("back.json").trim(), json, "{there}");
        }
        // Unwrapping again undoes nothing that was not wrapped.
        let wrap = "--on-loss wrap";
        folder.run("convert -f in.json plain.msgpack").silent();
        folder.run(&format!("convert -f plain.msgpack once.json {wrap}")).silent();
        folder.run(&format!("convert -f once.json twice.msgpack {wrap}")).silent();
        folder.run("convert -f twice.msgpack once.msgpack --unwrap").silent();
        folder.run("convert -f once.msgpack out.json --unwrap").silent();
        assert_eq!(folder.text("out.json").trim(), json);
    }
    folder.write("plain.json", r#"{"a":{"$q":1}}"#);
    let ran = folder.run("convert plain.json out.msgpack --unwrap").status(1);
    assert!(ran.stderr.contains("at $.a") && ran.stderr.contains("`$q`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("read without --unwrap"), "{}", ran.stderr);
}

#[test]
fn yaml_is_laid_out_as_asked() {
    let folder = Folder::new();
    folder.write("in.json", r#"{"a": {"b": [1, {"c": "yes"}]}}"#);
    folder.run("convert in.json out.yaml").silent();
    assert_eq!(folder.text("out.yaml"), "a:\n  b:\n  - 1\n  - c: 'yes'\n");
    let flags = "--yaml-indent 4 --yaml-indent-sequences --yaml-document-start";
    folder.run(&format!("convert in.json wide.yml {flags}")).silent();
    let wide = "---\na:\n    b:\n        - 1\n        - c: 'yes'\n";
    assert_eq!(folder.text("wide.yml"), wide);
}

#[test]
fn lines_of_marc_are_read_and_written() {
    let folder = Folder::new();
    let records = [marc("1", "A $5 title"), marc("2", "Another {one}")].concat();
    folder.write("in.mrc", &records);
    folder.run("convert in.mrc out.mrk").silent();
    folder.run("convert in.mrc out.seq").silent();
    let mrk = "=LDR  00067nam a2200049   4500\n=001  1\n=245  10$aA {dollar}5 title\n\n";
    assert!(folder.text("out.mrk").starts_with(mrk), "{}", folder.text("out.mrk"));
    let seq = "000000001 LDR   L 00067nam^a2200049^^^4500\n000000001 001   L 1\n\
               000000001 24510 L $$aA $5 title\n";
    assert!(folder.text("out.seq").starts_with(seq), "{}", folder.text("out.seq"));
    for name in ["out.mrk", "out.seq"] {
        folder.run(&format!("convert {name} back.mrc --force")).silent();
        assert!(folder.read("back.mrc") == records, "{name}");
        folder.run(&format!("convert {name} - --to marcxml")).silent();
        folder.write("nameless", folder.read(name));
        let titles = folder.run(r#"query marc("245$a") nameless - --to ndjson"#).silent().text();
        assert_eq!(titles, "\"A $5 title\"\n\"Another {one}\"\n");
        let text = folder.run(&format!("inspect {name}")).text();
        assert!(text.contains("records"), "{text}");
    }
    let broken = folder.text("out.mrk").replace("=245  10$aA {dollar}", "=245  10$aA {zilch}");
    folder.write("broken.mrk", broken);
    let ran = folder.run("convert broken.mrk out.xml").status(1);
    assert!(ran.stderr.contains("mrk: record 1 (001 1), byte"), "{}", ran.stderr);
    folder.run("convert broken.mrk out.seq --bad skip --force").status(0);
    assert!(folder.text("out.seq").starts_with("000000002 LDR"));
}

#[test]
fn tables_are_read_and_written() {
    let folder = Folder::new();
    let json = "[{\"a\":1,\"b\":\"1\"},{\"a\":2.5,\"b\":\"x\"}]\n";
    folder.write("in.json", json);
    let ran = folder.run("convert in.json out.csv").status(0);
    assert_eq!(folder.text("out.csv"), "a,b\n1,1\n2.5,x\n");
    let counted = "in.json: untyped: 2 times, first: found an integer, wrote its text";
    assert!(ran.stderr.contains(counted), "{}", ran.stderr);
    folder.run("convert in.json typed.tsv --csv-types infer").silent();
    assert_eq!(folder.text("typed.tsv"), "a\tb\n1\t\"1\"\n2.5\tx\n");
    folder.run("convert typed.tsv out.json --csv-types infer").silent();
    assert_eq!(folder.text("out.json"), json);
    folder.run("convert out.csv - --to ndjson --only a").silent();
    folder.write("bad.csv", "a,b\n1,2\n3\n4,5\n");
    let ran = folder.run("convert bad.csv out.ndjson").status(1);
    let told = "csv: record 2, byte 9 (line 3, column 2), at $: found 1 field, expected 2 as in the header";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    folder.run("convert bad.csv out.ndjson --bad skip --force").status(0);
    assert_eq!(folder.text("out.ndjson"), "{\"a\":\"1\",\"b\":\"2\"}\n{\"a\":\"4\",\"b\":\"5\"}\n");
    let text = folder.run("inspect bad.csv").text();
    assert!(text.contains("CSV") && text.contains("$.b"), "{text}");
    folder.write("nested.json", "[{\"a\":{\"b\":[1]}}]");
    let ran = folder.run("convert nested.json out.csv --force").status(3);
    let hint = "pass --csv-nested flatten to write a column for each value in it";
    assert!(ran.stderr.contains(hint), "{}", ran.stderr);
    folder.run("convert nested.json out.csv --force --csv-nested flatten").status(0);
    assert_eq!(folder.text("out.csv"), "a.b.0\n1\n");
    folder.write("json.csv", "{\"a\": 1}\n");
    let ran = folder.run("convert json.csv out.json --force").status(2);
    assert!(ran.stderr.contains("looks like JSON"), "{}", ran.stderr);
}

/// A CSV file whose rows are all left out keeps its header.
#[test]
fn csv_without_rows() {
    let folder = Folder::new();
    folder.write("header.csv", "a,b\n");
    folder.write("rows.csv", "a,b\n1,2\n3,4\n");
    folder.write("bad.csv", "a,b\n1\n2\n");
    folder.write("empty.ndjson", "");
    for (arguments, expected) in [
        ("convert header.csv out.csv", "a,b\n"),
        ("convert header.csv out.tsv --on-loss wrap --rename b=c", "a\tc\n"),
        ("convert header.csv out.csv --only b --report report.json", "b\n"),
        ("convert header.csv out.csv --head 1", "a,b\n"),
        ("convert bad.csv out.csv --bad skip", "a,b\n"),
        ("query select(false) rows.csv out.csv", "a,b\n"),
        ("query {x:.a} header.csv out.csv", "a,b\n"),
        ("query {x:.a} rows.csv out.csv", "x\n1\n3\n"),
        ("query -s .[] rows.csv out.csv", "a,b\n1,2\n3,4\n"),
        ("query -s map({x:.a})[] rows.csv out.csv", "x\n1\n3\n"),
        ("convert empty.ndjson out.csv", ""),
        ("convert header.csv out.csv --csv-header no", "a,b\n"),
        ("convert header.csv out.ndjson", ""),
    ] {
        folder.run(&format!("{arguments} --force")).status(0);
        let output = if arguments.contains(".tsv") { "out.tsv" } else { "out.csv" };
        let output = if arguments.contains("out.ndjson") { "out.ndjson" } else { output };
        assert_eq!(folder.text(output), expected, "{arguments}");
    }
    let piped = folder.feed("convert - - --from csv --to csv", b"a;b\n");
    assert_eq!(piped.text(), "a,b\n");
}

/// The file of broken rows is a table, whichever row is the first of them.
#[test]
fn csv_of_broken_rows() {
    let folder = Folder::new();
    let broken = "\"a\";b\r\nbad\r\n3;4;5\r\n";
    for (number, rows) in ["1;2\r\nbad\r\n3;4;5\r\n", "bad\r\n1;2\r\n3;4;5\r\n"].iter().enumerate()
    {
        folder.write("in.csv", format!("\"a\";b\r\n{rows}"));
        let kept = format!("kept{number}.csv");
        let report = format!("--report report{number}.json");
        folder.run(&format!("convert in.csv out.csv --force --bad {kept} {report}")).status(0);
        assert_eq!(folder.text(&kept), broken);
        assert_eq!(folder.text("out.csv"), "a,b\n1,2\n");
    }
    assert!(folder.text("report0.json").replace(' ', "").contains("\"bytes\":5"));
}
