//! Parquet from the outside: in and out, detected, refused, and what a build without it says.

mod common;

use common::Folder;

/// Rows with a bit of everything that JSON has.
const LINES: &str = "\
{\"id\":1,\"name\":\"Ada\",\"tags\":[\"a\",null],\"at\":{\"x\":1.5,\"y\":null}}
{\"id\":2,\"name\":null,\"tags\":[],\"at\":{\"x\":2.5,\"y\":true}}
";

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_it_says_how_to_get_it() {
    let folder = Folder::new();
    folder.write("in.ndjson", LINES);
    folder.write("in.parquet", "PAR1\x15PAR1");
    for words in
        ["convert in.ndjson out.parquet", "convert in.parquet out.json", "inspect in.parquet"]
    {
        let ran = folder.run(words).status(2);
        assert!(ran.stderr.contains("built without Parquet"), "{}", ran.stderr);
        assert!(ran.stderr.contains("--features parquet"), "{}", ran.stderr);
    }
    assert_eq!(folder.names(), ["in.ndjson", "in.parquet"]);
}

#[cfg(feature = "parquet")]
mod with_it {
    use super::*;

    #[test]
    fn lines_become_a_table_and_the_same_lines_again() {
        let folder = Folder::new();
        folder.write("in.ndjson", LINES);
        folder.run("convert in.ndjson out.parquet").silent();
        let bytes = folder.read("out.parquet");
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
        folder.run("convert out.parquet back.ndjson").silent();
        assert_eq!(folder.text("back.ndjson"), LINES);
        // One document holds the rows as an array.
        folder.run("convert out.parquet back.json").silent();
        assert!(folder.text("back.json").starts_with("[{\"id\":1,"));
        // The elements of an array are rows.
        folder.run("convert back.json again.parquet").silent();
        folder.run("convert again.parquet again.ndjson").silent();
        assert_eq!(folder.text("again.ndjson"), folder.text("back.ndjson"));
    }

    #[test]
    fn numbers_of_another_type_or_with_other_digits_are_counted() {
        let folder = Folder::new();
        folder.write("mixed.ndjson", "{\"x\":1.5}\n{\"x\":2}\n");
        let ran = folder.run("convert mixed.ndjson mixed.parquet --report report.json").status(0);
        assert_eq!(
            ran.stderr,
            "regauge: mixed.ndjson: integer: once: record 2, at $.x, found an integer, wrote a double\n"
        );
        assert!(folder.text("report.json").contains("\"exact\": false"));
        let back = folder.run("convert mixed.parquet - --to ndjson").silent().text();
        assert_eq!(back, "{\"x\":1.5}\n{\"x\":2.0}\n");
        folder.write("same.ndjson", "{\"d\":1.50}\n{\"d\":-2.25}\n");
        folder.run("convert --numbers exact same.ndjson same.parquet").silent();
        let back = folder.run("convert same.parquet - --to ndjson").silent().text();
        assert_eq!(back, "{\"d\":1.50}\n{\"d\":-2.25}\n");
        folder.write("other.ndjson", "{\"d\":1.5}\n{\"d\":2.25}\n{\"d\":3}\n{\"d\":-0.00}\n");
        let ran = folder.run("convert --numbers exact other.ndjson other.parquet").status(0);
        assert_eq!(
            ran.stderr,
            "regauge: other.ndjson: decimal: 3 times, first: record 1, at $.d, found a decimal, wrote the digits \
             of the column\n"
        );
        let back = folder.run("convert other.parquet - --to ndjson").silent().text();
        assert_eq!(back, "{\"d\":1.50}\n{\"d\":2.25}\n{\"d\":3.00}\n{\"d\":0.00}\n");
    }

    #[test]
    fn standard_streams() {
        let folder = Folder::new();
        let ran = folder.feed("convert - - --from ndjson --to parquet", LINES.as_bytes()).silent();
        folder.write("plain", &ran.stdout);
        // By content, without a suffix.
        assert_eq!(folder.run("convert plain - --to ndjson").silent().text().lines().count(), 2);
        let piped = folder.feed("convert - out.json", &ran.stdout).status(2);
        assert!(
            piped.stderr.contains("standard input: is a pipe, and Parquet is read from its end")
        );
        assert!(piped.stderr.contains("write it to a file first"), "{}", piped.stderr);
        let file = std::fs::File::open(folder.path("plain")).unwrap();
        let output = folder.command("convert - - --to ndjson").stdin(file).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn the_compression_of_pages() {
        let folder = Folder::new();
        folder.write("in.ndjson", LINES.repeat(500));
        for words in ["none", "snappy", "gzip", "zstd", "lz4", "zstd --level 19"] {
            folder
                .run(&format!("convert in.ndjson out.parquet --force --compress {words}"))
                .silent();
            let text = folder.run("inspect out.parquet").silent().text();
            let name = words.split(' ').next().unwrap();
            let shown = match name {
                "none" => "uncompressed",
                "lz4" => "lz4_raw",
                name => name,
            };
            assert!(text.contains(&format!("pages      {shown}\n")), "{text}");
            assert!(text.contains("rows       1,000\n"), "{text}");
        }
        for (words, message) in [
            ("out.parquet --compress xz", "Parquet has no pages of xz"),
            ("out.parquet --level 3", "--level needs --compress"),
            ("out.parquet --compress zstd --level 99", "out of range"),
            ("out.parquet.gz", "drop the second suffix"),
            ("out.json --compress snappy", "for the pages of Parquet"),
        ] {
            let ran = folder.run(&format!("convert in.ndjson {words} --force")).status(2);
            assert!(ran.stderr.contains(message), "{}", ran.stderr);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_and_nothing_is_written() {
        let folder = Folder::new();
        folder.write("in.ndjson", "{\"a\":1}\n{\"a\":2}\n{\"a\":\"x\"}\n");
        let ran = folder.run("convert in.ndjson out.parquet").status(3);
        assert!(
            ran.stderr.starts_with("regauge: in.ndjson: record 3, at $.a: found the text"),
            "{}",
            ran.stderr
        );
        let ran = folder.run("convert in.ndjson out.parquet --parquet-sample 2").status(3);
        assert!(ran.stderr.contains("record 3, byte 16"), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("--parquet-sample to look at more documents"),
            "{}",
            ran.stderr
        );
        assert_eq!(folder.names(), ["in.ndjson"]);
        let near = "convert in.ndjson out.parquet --parquet-sample 2 --on-loss approximate --report r.json";
        let ran = folder.run(near).status(0);
        assert!(
            ran.stderr.contains("special: once: record 3, at $.a, found text, wrote null"),
            "{}",
            ran.stderr
        );
        let report = folder.text("r.json");
        assert!(
            report.contains("\"to\": \"parquet\"") && report.contains("\"exact\": false"),
            "{report}"
        );
        folder.run("convert in.ndjson wrapped.parquet --on-loss wrap").status(0);
        let text = folder.run("convert wrapped.parquet - --to ndjson").silent().text();
        assert_eq!(text, "{\"a\":\"1\"}\n{\"a\":\"2\"}\n{\"a\":\"x\"}\n");
    }

    #[test]
    fn missing_fields_are_null_and_counted() {
        let folder = Folder::new();
        folder.write("in.ndjson", "{\"a\":1}\n{\"b\":2}\n");
        let ran = folder.run("convert in.ndjson out.parquet").status(0);
        let expected = "absent: 2 times, first: record 1, at $.b, found nothing, wrote null";
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        let text = folder.run("convert out.parquet - --to ndjson").silent().text();
        assert_eq!(text, "{\"a\":1,\"b\":null}\n{\"a\":null,\"b\":2}\n");
    }

    #[test]
    fn points_in_time_follow_the_policy_of_the_output() {
        let folder = Folder::new();
        folder.write("in.ndjson", "{\"t\":{\"$time\":\"2026-11-21T12:00:00.5Z\"}}\n");
        folder.run("convert --unwrap in.ndjson out.parquet").silent();
        let ran = folder.run("convert out.parquet out.ndjson").status(3);
        let expected = "regauge: out.parquet: record 1, at $.t: found the point in time";
        assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
        folder.run("convert out.parquet out.ndjson --on-loss wrap").silent();
        assert_eq!(folder.text("out.ndjson"), folder.text("in.ndjson"));
        folder.run("convert out.parquet out.msgpack").silent();
    }

    #[test]
    fn filters_selections_and_samples() {
        let folder = Folder::new();
        let lines: String = (0..100).map(|n| format!("{{\"n\":{n},\"t\":\"{n}\"}}\n")).collect();
        folder.write("in.ndjson", lines);
        folder.run("convert in.ndjson in.parquet").silent();
        assert_eq!(folder.run("query -c .n in.parquet").silent().text().lines().count(), 100);
        assert_eq!(folder.run("query select(.n==7).t in.parquet").silent().text(), "\"7\"\n");
        assert_eq!(folder.run("query -s map(.n)|add in.parquet").silent().text(), "4950\n");
        folder.run("query select(.n>97) in.parquet some.parquet").silent();
        folder.run("convert some.parquet some.ndjson --only n").silent();
        assert_eq!(folder.text("some.ndjson"), "{\"n\":98}\n{\"n\":99}\n");
        let head = folder.run("convert in.parquet - --to ndjson --head 3").silent().text();
        assert_eq!(head.lines().count(), 3);
        let sample =
            folder.run("convert in.parquet - --to ndjson --sample 10 --seed 7").silent().text();
        let same =
            folder.run("convert in.ndjson - --to ndjson --sample 10 --seed 7").silent().text();
        assert_eq!(sample, same);
        folder.run("convert in.ndjson few.parquet --sample 10 --seed 7").silent();
        assert_eq!(folder.run("convert few.parquet - --to ndjson").silent().text(), sample);
        let ran = folder.run("query -n [inputs] in.parquet").status(2);
        assert!(ran.stderr.contains("works on streams"), "{}", ran.stderr);
    }

    #[test]
    fn the_columns_of_another_file() {
        let folder = Folder::new();
        folder.write("old.ndjson", "{\"a\":1.5,\"b\":\"x\"}\n");
        folder.run("convert old.ndjson old.parquet").silent();
        folder.write("new.ndjson", "{\"a\":2}\n{\"b\":null,\"a\":null}\n");
        let ran =
            folder.run("convert new.ndjson new.parquet --parquet-schema old.parquet").status(0);
        assert!(ran.stderr.contains("absent: once"), "{}", ran.stderr);
        let text = folder.run("convert new.parquet - --to ndjson").silent().text();
        assert_eq!(text, "{\"a\":2.0,\"b\":null}\n{\"a\":null,\"b\":null}\n");
        let ran = folder.run("convert new.ndjson x.parquet --parquet-schema old.ndjson").status(2);
        assert!(ran.stderr.contains("old.ndjson: is NDJSON, expected Parquet"), "{}", ran.stderr);
    }

    #[test]
    fn broken_files_are_named() {
        let folder = Folder::new();
        folder.write("in.ndjson", LINES.repeat(100));
        folder.run("convert in.ndjson in.parquet").silent();
        let bytes = folder.read("in.parquet");
        folder.write("cut.parquet", &bytes[..bytes.len() - 9]);
        let ran = folder.run("convert cut.parquet out.json").status(1);
        assert!(ran.stderr.contains("found no \"PAR1\" at the end"), "{}", ran.stderr);
        folder.write("text.parquet", "id,name\n1,x\n");
        let ran = folder.run("convert text.parquet out.json").status(2);
        assert!(
            ran.stderr.contains("text.parquet: is not Parquet: it begins with \"id,name"),
            "{}",
            ran.stderr
        );
        folder.write("in.json", &bytes);
        let ran = folder.run("convert in.json out.yaml").status(2);
        assert!(ran.stderr.contains("looks like Parquet"), "{}", ran.stderr);
        let ran = folder.run("store put in.parquet key --db s.db").status(2);
        assert!(!ran.stderr.is_empty());
        assert!(!folder.names().contains(&"out.json".to_owned()));
    }

    #[test]
    fn records_of_marc_have_columns_of_their_own() {
        let folder = Folder::new();
        folder.write("in.mrc", common::marc("one", "Title"));
        folder.run("convert in.mrc out.parquet").status(0);
        let text = folder.run("query -c .fields[1].subfields[0].value out.parquet").silent().text();
        assert_eq!(text, "\"Title\"\n");
    }

    #[test]
    fn a_record_in_another_charset_than_its_leader_says_is_refused() {
        let folder = Folder::new();
        let record = r#"{"leader":"00000nam  2200000 i 4500","charset":"utf-8","fields":[{"001":"1"},
            {"245":{"ind1":"1","ind2":"0","subfields":[{"a":"é"}]}}]}"#;
        folder.write("in.marc.json", record.replace('\n', ""));
        folder.run("convert in.marc.json in.mrc").silent();
        let ran = folder.run("convert in.mrc out.parquet").status(3);
        assert!(
            ran.stderr.contains("a record in utf-8 whose leader/09 declares another"),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains("pass --on-loss approximate to leave the charset out"));
        let ran = folder.run("convert --on-loss approximate in.mrc out.parquet").status(0);
        assert!(ran.stderr.contains("$.charset"), "{}", ran.stderr);
    }

    #[test]
    fn records_of_marc_come_back() {
        let folder = Folder::new();
        folder.run("sample catalog in.mrc --count 50").status(0);
        folder.run("convert in.mrc out.parquet").status(0);
        folder.run("convert out.parquet back.mrc").silent();
        assert_eq!(folder.read("back.mrc"), folder.read("in.mrc"));
        folder.run("convert out.parquet back.xml --to marcxml").silent();
        folder.run("convert in.mrc direct.xml --to marcxml").silent();
        assert_eq!(folder.text("back.xml"), folder.text("direct.xml"));
        // Other rows are no records.
        folder.write("in.ndjson", LINES);
        folder.run("convert in.ndjson other.parquet").silent();
        folder.run("convert other.parquet other.mrc").status(3);
    }
}

#[test]
fn a_value_that_holds_itself_is_refused_in_words_of_columns() {
    let folder = Folder::new();
    folder.write("cycle.yaml", "&x [*x]\n");
    for option in ["", " --on-loss wrap"] {
        let ran = folder.run(&format!("convert cycle.yaml cycle.parquet{option}"));
        assert_ne!(ran.status, Some(0));
        assert!(
            ran.stderr.contains("columns cannot hold a cycle; write another format"),
            "{}",
            ran.stderr
        );
    }
}
