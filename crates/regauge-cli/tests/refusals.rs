//! The command's messages and exit status when it does not do what it was asked.

mod common;

use common::{Folder, lines, marc};

#[track_caller]
fn check(folder: &Folder, arguments: &str, status: i32, stderr: &str) {
    let ran = folder.run(arguments);
    assert_eq!((ran.stderr.as_str(), ran.status), (stderr, Some(status)));
    assert_eq!(ran.text(), "");
}

#[test]
fn three_refusals() {
    let folder = Folder::new();
    folder.write("bytes.msgpack", b"\x81\xA4file\xC4\x03\x01\x02\x03");
    check(
        &folder,
        "convert bytes.msgpack out.json",
        3,
        "regauge: bytes.msgpack: msgpack: byte 6, at $.file: found 3 bytes of binary data, which \
         JSON cannot hold; pass --on-loss wrap to write {\"$binary\": …} (reversible), or \
         --on-loss approximate to write Base64 text\n  \
         81 a4 66 69 6c 65 c4 03 01 02 03  |..file.....|\n  \
         \u{20}                 ^^\n",
    );
    folder.write("big.json", "{\"n\": [1,\n 123456789012345678901234567890]}");
    check(
        &folder,
        "convert big.json out.msgpack",
        3,
        "regauge: big.json: json: byte 11 (line 2, column 2), at $.n[1]: found the integer \
         123456789012345678901234567890, which MessagePack cannot hold; pass --on-loss wrap to \
         write {\"$integer\": …} (reversible), or --on-loss approximate to write the nearest \
         double\n   123456789012345678901234567890]}\n   ^\n",
    );
    folder.write("not.json", "{\"leader\": 5}");
    let ran = folder.run("convert not.json out.mrc").status(3);
    assert!(ran.stderr.starts_with("regauge: not.json: json: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("at $.leader"), "{}", ran.stderr);
    assert_eq!(folder.names(), ["big.json", "bytes.msgpack", "not.json"]);
}

#[test]
fn wrong_usage_is_status_2() {
    let folder = Folder::new();
    folder.write("in.json", "[1]");
    folder.write("what", "hello");
    folder.write("empty", "");
    folder.write("it.png", b"\x89PNG\r\n\x1A\n\0");
    folder.write("in.json.gz", "{}");
    let formats = "json, ndjson, yaml, msgpack, bson, cbor, marshal, pickle, marc, marcxml, marc-json, mrk, alephseq, toml, csv, tsv, parquet";
    for (arguments, message) in [
        ("convert none.json out.msgpack", "none.json: No such file or directory".to_owned()),
        ("convert in.json out.what", format!("out.what: cannot tell the format to write; pass --to with one of {formats}")),
        ("convert in.json -", format!("standard output: cannot tell the format to write; pass --to with one of {formats}")),
        ("convert what out.json", format!("what: cannot tell the format, it begins with \"hello\"; pass --from with one of {formats}")),
        ("convert empty out.json", "empty: is empty, expected a document; for a stream without documents, pass --from ndjson or the like".to_owned()),
        ("convert it.png out.json", format!("it.png: looks like a PNG image, expected one of {formats}")),
        ("convert in.json.gz out.json", "in.json.gz: begins with \"{}\", which is not gzip; pass --decompress with what it is, or none".to_owned()),
        ("query in.json .a", "found the file in.json, expected a filter; `query` takes the filter first, then the files".to_owned()),
        ("measure in.json --interpreter pythn=/bin/sh", "no runtime is called pythn, expected one of native, java, jruby, node, python, ruby; the nearest name is python".to_owned()),
        ("convert in.json out.json -f --bad in.json", "IN and --bad name the same file, in.json".to_owned()),
        ("convert in.json out.json -f --report ./in.json", "IN and --report name the same file, ./in.json".to_owned()),
        ("convert in.json out.json --report ./out.json", "OUT and --report name the same file, ./out.json".to_owned()),
        ("convert . out.json", ".: is a directory, expected a file".to_owned()),
        ("convert in.json no/such/out.json", "no/such/out.json: cannot be written: No such file or directory".to_owned()),
        ("convert in.json out.json.gz --level 10", "--level 10 is out of range for gzip, which takes 1 to 9".to_owned()),
        ("convert in.json out.json --level 1", "--level needs a compressed output; pass --compress".to_owned()),
        ("convert in.json out.json --report out.json", "OUT and --report name the same file, out.json".to_owned()),
        ("sample types out.parquet", "out.parquet: a sample cannot be written as Parquet; write another format, and convert it".to_owned()),
        ("man nonsense", "unknown command `nonsense`, expected one of convert, query, inspect, xray, migrate, measure, report, sample, store, serve, formats, completions, man".to_owned()),
    ] {
        check(&folder, arguments, 2, &format!("regauge: {message}\n"));
    }
    // Messages that come from the argument parser.
    for (arguments, part) in [
        ("convert in.json", "<OUT>"),
        ("convert in.json out.json --from ini", "unknown format `ini`"),
        ("convert in.json out.json --from jsn", "tsv, parquet; the nearest is json\n"),
        ("measure in.json --from jsn", "csv, tsv; the nearest is json\n"),
        ("convert in.json out.json --limit width=3", "unknown limit `width`"),
        ("convert in.json out.json --limit dept=3", "; the nearest is depth\n"),
        ("convert in.json out.json --limit depth=x", "found `x`, expected none or a number"),
        (
            "convert in.json out.json --limit depth=1025",
            "the limit of depth can be 1024 at most, found 1025",
        ),
        (
            "convert in.json out.json --head x",
            "error: found x for --head <N>, expected a whole number from 0\n",
        ),
        (
            "measure in.json --budget 1h",
            "invalid value '1h' for '--budget <SECONDS>': expected a number of seconds from 0, such as 14.8\n",
        ),
        ("convrt in.json out.json", "a similar subcommand exists: 'convert'\n"),
        ("convert in.json out.json --jobs 0", "from 1 to 256"),
        ("convert in.json out.json --bad -", "expected stop, skip or the name of a file"),
        ("nonsense", "unrecognized subcommand"),
        ("", "Usage: regauge [OPTIONS] <COMMAND>"),
    ] {
        let ran = folder.run(arguments).status(2);
        assert!(ran.stderr.contains(part), "{arguments}: {}", ran.stderr);
    }
    assert_eq!(folder.names(), ["empty", "in.json", "in.json.gz", "it.png", "what"]);
}

#[test]
fn broken_data_is_status_1_with_its_place() {
    let folder = Folder::new();
    folder.write("in.json", "{\"a\": [1, 2}\n");
    let ran = folder.run("convert in.json out.msgpack").status(1);
    assert!(
        ran.stderr.starts_with("regauge: in.json: json: byte 11 (line 1, column 12), at $.a"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.ends_with("  {\"a\": [1, 2}\n             ^\n"), "{}", ran.stderr);
}

#[test]
fn a_full_disk_is_status_1_and_named() {
    let folder = Folder::new();
    folder.write("in.ndjson", lines(10_000));
    if !std::path::Path::new("/dev/full").exists() {
        println!("skipped: there is no /dev/full here");
        return;
    }
    for jobs in [1, 2] {
        let ran = folder.run(&format!("convert in.ndjson /dev/full --to ndjson --jobs {jobs}"));
        assert_eq!(
            ran.status(1).stderr,
            "regauge: cannot write /dev/full: No space left on device\n"
        );
    }
}

#[test]
fn bad_records_are_passed_over_when_asked_and_kept_byte_by_byte() {
    let folder = Folder::new();
    let text = "{\"a\":1}\n{\"b\":\n{\"c\":3}\nnonsense \u{FFFD}\n{\"d\":4}\n";
    folder.write("in.ndjson", text);
    assert_eq!(check_bad(&folder, 1), check_bad(&folder, 2));
    // Large enough to be split into parts, whose broken records have paths, too.
    folder.write("in.ndjson", format!("{}{{\"a\":{{\"b\":[1,x]}}}}\n", lines(60_000)));
    for jobs in [1, 2] {
        let ran = folder
            .run(&format!("convert in.ndjson /dev/null --to ndjson --jobs {jobs} --bad skip"));
        assert!(ran.stderr.contains("record 60001, byte "), "{}", ran.stderr);
        assert!(ran.stderr.contains(", at $.a.b[1]: found `x`"), "{}", ran.stderr);
        let ran = folder.feed(
            &format!("convert - /dev/null --to ndjson --jobs {jobs}"),
            &folder.read("in.ndjson"),
        );
        assert!(ran.stderr.contains(", at $.a.b[1]: found `x`"), "{}", ran.stderr);
    }
}

fn check_bad(folder: &Folder, jobs: usize) -> String {
    let out = "{\"a\":1}\n{\"c\":3}\n{\"d\":4}\n";
    folder.run(&format!("convert in.ndjson stop.ndjson --jobs {jobs}")).status(1);
    let ran = folder.run(&format!("convert in.ndjson - --to ndjson --bad skip --jobs {jobs}"));
    assert_eq!((ran.status, ran.text().as_str()), (Some(0), out));
    let said: Vec<_> = ran.stderr.lines().collect();
    assert_eq!(said.len(), 3, "{}", ran.stderr);
    assert!(said[0].starts_with("regauge: in.ndjson: ndjson: record 2, byte 1"), "{}", said[0]);
    assert!(said[1].starts_with("regauge: in.ndjson: ndjson: record 4, byte 22"), "{}", said[1]);
    assert_eq!(said[2], "regauge: in.ndjson: 2 of 5 records were broken and skipped");
    let arguments = format!("convert in.ndjson out.ndjson --bad bad --quiet --force --jobs {jobs}");
    folder.run(&arguments).silent();
    assert_eq!(folder.text("out.ndjson"), out);
    assert_eq!(folder.text("bad"), "{\"b\":\nnonsense \u{FFFD}\n");
    ran.stderr
}

#[test]
fn a_stream_that_ends_inside_a_document_has_a_bad_last_one() {
    let folder = Folder::new();
    folder.write("in.ndjson", "{\"n\":[1,2.5]}\n{\"n\":[3]}\n{\"n\":\"four\"}\n");
    for format in ["bson", "msgpack", "cbor", "pickle", "marshal"] {
        folder.run(&format!("convert in.ndjson whole.{format} --force")).silent();
        let whole = folder.read(&format!("whole.{format}"));
        for cut in 1..4 {
            folder.write(&format!("cut.{format}"), &whole[..whole.len() - cut]);
            for jobs in [1, 2] {
                let to = format!("convert cut.{format} - --to ndjson --jobs {jobs}");
                let ran = folder.run(&to);
                assert_ne!(ran.status, Some(0), "{format} -{cut}");
                let ran = folder.run(&format!("{to} --bad skip")).status(0);
                assert_eq!(ran.text(), "{\"n\":[1,2.5]}\n{\"n\":[3]}\n", "{format} -{cut}");
                let last = ran.stderr.lines().last().unwrap();
                let said = format!("regauge: cut.{format}: 1 of 3 records were broken and skipped");
                assert_eq!(last, said, "{format} -{cut}");
            }
        }
    }
    // The only document of a file is not passed over.
    folder.write("one.msgpack", b"\x92\x01");
    folder.run("convert one.msgpack - --to json --bad skip").status(1);
}

#[test]
fn broken_marc_records_are_named_by_their_001_and_kept() {
    let folder = Folder::new();
    let mut broken = marc("second", "Broken");
    // The base address points into the directory.
    broken[12..17].copy_from_slice(b"00030");
    let records = [marc("first", "One"), broken.clone(), marc("third", "Three")];
    folder.write("in.mrc", records.concat());
    let ran = folder.run("convert in.mrc out.xml --bad bad.mrc --report report.json").status(0);
    assert!(ran.stderr.starts_with("regauge: in.mrc: marc: record 2"), "{}", ran.stderr);
    assert!(
        ran.stderr
            .ends_with("1 of 3 records were broken and skipped; their bytes are in bad.mrc\n")
    );
    assert_eq!(folder.read("bad.mrc"), broken);
    let xml = folder.text("out.xml");
    assert!(xml.contains("One") && xml.contains("Three") && !xml.contains("Broken"), "{xml}");
    let report = folder.text("report.json");
    assert!(report.contains("\"bad_records\": 1"), "{report}");
    assert!(report.contains("\"exact\": false"), "{report}");
    folder.run("convert in.mrc all.xml").status(1);
}

/// A hint names only what the subcommand takes.
#[test]
fn inspect_advises_its_own_options_alone() {
    let folder = Folder::new();
    folder.write("comma.json", "[1,]");
    let ran = folder.run("inspect comma.json").status(1);
    assert!(ran.stderr.contains("; pass --json-trailing-commas to accept it"), "{}", ran.stderr);
    folder.run("inspect comma.json --json-trailing-commas").status(0);
    folder.write("large.json", "[1e999]");
    let converted = folder.run("convert large.json out.yaml").status(3);
    assert!(converted.stderr.contains("; pass --numbers exact to"), "{}", converted.stderr);
    folder.run("convert large.json out.yaml --numbers exact").status(0);
    let inspected = folder.run("inspect large.json");
    assert!(inspected.stderr.contains("beyond the range of a double"), "{}", inspected.stderr);
    assert!(!inspected.stderr.contains("--numbers"), "{}", inspected.stderr);
    folder.write("line.ndjson", "[1,]\n");
    let json = folder.run("inspect line.ndjson --json").text();
    assert!(json.contains("\"hint\": \"pass --json-trailing-commas to accept it\""), "{json}");
}

#[test]
fn what_a_format_cannot_hold_at_all_is_status_3() {
    let folder = Folder::new();
    folder.write("nul.json", "{\"a\\u0000b\": 1}");
    let ran = folder.run("convert nul.json out.bson").status(3);
    assert!(ran.stderr.contains("zero byte"), "{}", ran.stderr);
    folder.write("no.json", "[{\"title\": \"no record\"}]");
    for to in ["out.mrc", "out.xml", "out.marc.json"] {
        let ran = folder.run(&format!("convert no.json {to}")).status(3);
        assert!(ran.stderr.contains("only MARC records can be written as MARC"), "{}", ran.stderr);
    }
    folder.write("short.json", "[{\"leader\": \"00000nam\", \"fields\": []}]");
    let ran = folder.run("convert short.json out.mrc").status(3);
    assert!(ran.stderr.contains("found a leader of 8 characters, expected 24"), "{}", ran.stderr);
    assert_eq!(folder.names(), ["no.json", "nul.json", "short.json"]);
}

#[test]
fn xml_and_json_without_a_record_are_no_catalogue() {
    let folder = Folder::new();
    folder.write("r.xml", "<r/>");
    for more in ["", "--bad skip"] {
        let ran = folder.run(&format!("convert {more} r.xml out.mrc")).status(1);
        assert!(ran.stderr.contains("found <r> and no MARC record"), "{}", ran.stderr);
    }
    // No element at all.
    folder.write("none.xml", "<?xml version=\"1.0\"?><!-- nothing -->\n");
    let ran = folder.run("convert none.xml out.mrc").status(1);
    assert!(ran.stderr.contains("found the end of the input and no element"), "{}", ran.stderr);
    folder.write("any.marc.json", "{\"any\": [1, 2]}");
    let ran = folder.run("convert any.marc.json out.marc.json").status(3);
    assert!(ran.stderr.contains("expected one of the keys leader"), "{}", ran.stderr);
    assert_eq!(folder.names(), ["any.marc.json", "none.xml", "r.xml"]);
}

#[test]
fn a_name_that_the_content_contradicts_is_status_2() {
    let folder = Folder::new();
    folder.write("file.msgpack", "{\"a\": 1}\n");
    check(
        &folder,
        "convert file.msgpack out.yaml",
        2,
        "regauge: file.msgpack: looks like JSON (begins with `{\"a\": 1}`), not MessagePack; pass \
         --from json, or --from msgpack if it is MessagePack\n",
    );
    folder.run("inspect file.msgpack").status(2);
    folder.run("store import --db sqlite:db file.msgpack").status(2);
    folder.run("measure file.msgpack").status(2);
    // --from always wins.
    folder.run("convert --from json file.msgpack out.yaml").silent();
    assert_eq!(folder.text("out.yaml"), "a: 1\n");
    folder.run("convert --from msgpack file.msgpack out.ndjson").silent();
    assert!(folder.text("out.ndjson").starts_with("123\n34\n"));
    folder.write("png.msgpack", b"\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR");
    let ran = folder.run("convert png.msgpack png.json").status(2);
    assert!(ran.stderr.contains("looks like a PNG image"), "{}", ran.stderr);
}

#[test]
fn text_with_the_name_of_a_binary_format_is_refused() {
    let folder = Folder::new();
    for text in ["name: Ada\nborn: 1815\n", "a,b\n1,2\n"] {
        folder.write("text.cbor", text);
        let ran = folder.run("convert text.cbor - --to ndjson").status(2);
        assert!(ran.stderr.contains("looks like text"), "{}", ran.stderr);
    }
    // The heads of short texts are letters.
    folder.write("text.cbor", "ehelloeworld");
    assert_eq!(
        folder.run("convert text.cbor - --to ndjson").status(0).text(),
        "\"hello\"\n\"world\"\n"
    );
}

/// The name of a file may hold what a terminal would obey.
#[cfg(unix)]
#[test]
fn names_do_not_control_the_terminal() {
    let folder = Folder::new();
    folder.write("b\u{1b}[31m.json", "[1");
    let ran = folder.run("convert b\u{1b}[31m.json o.yaml").status(1);
    assert!(ran.stderr.starts_with("regauge: b\\u{1b}[31m.json: json: "), "{}", ran.stderr);
}

/// A direction mark makes one name look like another.
#[test]
fn hidden_characters_are_shown() {
    let folder = Folder::new();
    folder.write("a.pkl", "c\u{202E}mod\nname\n(tR.");
    folder.write("a.marshal", "\x04\x08oI:\x0BA\u{202E}bC\x06:\x06ET\0");
    folder.write("a.json", "{\"\u{202E}b\": 1, x}");
    for (file, shown) in [
        ("a.pkl", r"\u{202e}mod.name"),
        ("a.marshal", r"A\u{202e}bC"),
        ("a.json", "{\"\u{FFFD}b\": 1, x}"),
    ] {
        let ran = folder.run(&format!("inspect {file}"));
        let all = ran.text() + &ran.stderr;
        assert!(all.contains(shown), "{all}");
        assert!(!all.contains('\u{202E}'), "{all}");
    }
    folder.write("one.json", "1");
    for key in ["a\u{202E}b", "grüße"] {
        folder.run(&format!("store put --db sqlite:s.db {key} one.json")).status(0);
    }
    let keys = folder.run("store ls --db sqlite:s.db").status(0).text();
    assert_eq!(keys, "x'61e280ae62'\ngrüße\n");
}

/// A key that becomes text may be there already.
#[test]
fn keys_that_become_one_are_seen() {
    let folder = Folder::new();
    folder.write("keys.yaml", "1: a\n\"1\": b\n");
    let command = "convert keys.yaml - --to json --on-loss approximate";
    let ran = folder.run(&format!("{command} --duplicate-keys refuse")).status(3);
    assert!(ran.stderr.contains("found the key \"1\" a second time"), "{}", ran.stderr);
    folder.run(&format!("{command} --report report.json")).status(0);
    assert!(folder.text("report.json").contains("duplicate-key"), "{}", folder.text("report.json"));
}

/// What is written to a pipe waits in a temporary file, if its length comes first.
#[cfg(unix)]
#[test]
fn a_missing_folder_for_temporary_files_is_named() {
    let folder = Folder::new();
    folder.write("lines.ndjson", lines(200_000));
    let ran = folder
        .command("convert lines.ndjson - --to msgpack --documents join")
        .env("TMPDIR", folder.path("missing"))
        .output()
        .unwrap();
    let stderr = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(1), "{stderr}");
    assert!(stderr.starts_with("regauge: cannot create a temporary file in "), "{stderr}");
    assert!(
        stderr.contains("missing: No such file or directory; set the environment variable TMPDIR"),
        "{stderr}"
    );
}
