//! How YAML is read, line by line.

mod marks;
mod peer;
mod round_trip;
mod suites;

use std::fmt::Write;

use super::{Options, Parser, Reader, Schema};
use crate::bytes::reader::Skipped;
use crate::policy::event::Source;
use crate::policy::event::recorder::Pieces;
use crate::policy::fidelity::{Fidelity, OnLoss};
use crate::policy::tree::Builder;
use crate::{Error, ErrorKind, Format, Limits, Options as ConvertOptions, Result, convert_bytes};

/// Returns the documents of the text as values in the wrapped notation, one per line.
fn read_as(schema: Schema, text: &str) -> Result<String> {
    let options = Options { schema, ..Options::default() };
    let mut reader = Reader::from_slice(Parser::new(options, Limits::default()), text.as_bytes());
    let mut lines = Vec::new();
    loop {
        let mut builder = Builder::new(&Limits::default());
        if !reader.next(&mut builder)? {
            return Ok(lines.join("\n"));
        }
        lines.push(builder.take().expect("a document is one value").to_string());
    }
}

#[track_caller]
fn check(text: &str, wanted: &str) {
    assert_eq!(read_as(Schema::Core, text).unwrap(), wanted, "{text}");
}

#[track_caller]
fn check_11(text: &str, wanted: &str) {
    assert_eq!(read_as(Schema::Yaml11, text).unwrap(), wanted, "{text}");
}

/// Converts to JSON, whose writer holds no references.
fn to_json(text: &str, change: impl FnOnce(&mut ConvertOptions)) -> Result<String> {
    let mut options = ConvertOptions::new(Format::Yaml, Format::Json);
    change(&mut options);
    Ok(String::from_utf8(convert_bytes(text.as_bytes(), &options)?).unwrap().trim_end().to_owned())
}

fn fails(text: &str) -> Error {
    read_as(Schema::Core, text).expect_err(text)
}

#[test]
fn scalars_and_collections() {
    check("a: 1\nb: [x, 2.5, ~]\n", r#"{"a":1,"b":["x",2.5,null]}"#);
    check("- a\n- - b\n  - c\n-\n  d: e\n", r#"["a",["b","c"],{"d":"e"}]"#);
    check("a:\n- 1\n- 2\nb:\n", r#"{"a":[1,2],"b":null}"#);
    check("{a: b, c, d: }", r#"{"a":"b","c":null,"d":null}"#);
    check("[a: b, {c: d}: e]", r#"[{"a":"b"},{"$key:{\"c\":\"d\"}":"e"}]"#);
    check("a: |\n  x\n   y\nb: >-\n  x\n  y\n\n  z\n", r#"{"a":"x\n y\n","b":"x y\nz"}"#);
    check("'it''s'", r#""it's""#);
    check(
        r#""a\n\x41\u00e9\ud83d\ude00\
        b""#,
        r#""a\nAé😀b""#,
    );
    check("--- a\n--- b\n...\n", "\"a\"\n\"b\"");
    check("", "");
    check("# nothing\n", "");
    check("---\n---\n", "null\nnull");
    check("a:   # comment\n  b # no value\n", r#"{"a":"b"}"#);
    check("? - a\n  - b\n: - c\n", r#"{"$key:[\"a\",\"b\"]":["c"]}"#);
    check("\u{FEFF}a: 1", r#"{"a":1}"#);
    check("a: b\r\nc:\r\n  - d\r\n", r#"{"a":"b","c":["d"]}"#);
}

#[test]
fn keys_that_are_not_text() {
    check("1: a\n", r#"{"$key:1":"a"}"#);
    check("null: a\n~: b\n: c\n", r#"{"$key:null":"a","$key:null":"b","$key:null":"c"}"#);
    check("'1': a\n!!str 2: b", r#"{"1":"a","2":"b"}"#);
    check("? {a: 1}\n: b\n", r#"{"$key:{\"a\":1}":"b"}"#);
    check("? ? [a]\n  : b\n: c", r#"{"$key:{\"$key:[\\\"a\\\"]\":\"b\"}":"c"}"#);
}

#[test]
fn numbers_keep_their_value() {
    check("[0o17, 0x1F, +1, -0, 007]", "[15,31,1,0,7]");
    check("18446744073709551615", "18446744073709551615");
    check("-170141183460469231731687303715884105729", "-170141183460469231731687303715884105729");
    check("0x100000000000000000000", "1208925819614629174706176");
    check("[.5, 1., -1.5e3, +.inf]", r#"[0.5,1.0,-1500.0,{"$numberDouble":"Infinity"}]"#);
    assert_eq!(fails("1e400").kind(), ErrorKind::Refused);
    assert_eq!(fails(&"9".repeat(4301)).kind(), ErrorKind::Limit);
    let exact = |text: &str| to_json(text, |options| options.yaml.exact_numbers = true).unwrap();
    assert_eq!(exact("[1.10, .5, 1e400]"), "[1.10,0.5,1e400]");
}

#[test]
fn tags() {
    check("!!str 1", r#""1""#);
    check("!!int '1'", "1");
    check("!!float 1", "1.0");
    check("! 1", r#""1""#);
    check("!!binary aGk=", r#"{"$binary":{"base64":"aGk=","subType":"00"}}"#);
    check("!!timestamp 2001-12-14", r#"{"$localDate":"2001-12-14"}"#);
    check("!foo {a: 1}", r#"{"$yaml:tag":"!foo","value":{"a":1}}"#);
    check(
        "%TAG !e! tag:example.com,2000:\n---\n!e!x 1.10",
        r#"{"$yaml:tag":"tag:example.com,2000:x","value":"1.10"}"#,
    );
    check("!!set {a, b}", r#"{"$yaml:tag":"tag:yaml.org,2002:set","value":{"a":null,"b":null}}"#);
    check("!!map {a: !!seq [1]}", r#"{"a":[1]}"#);
    check("!<tag:x,1:y> [1]", r#"{"$yaml:tag":"tag:x,1:y","value":[1]}"#);
    check("!!int x", r#"{"$yaml:tag":"tag:yaml.org,2002:int","value":"x"}"#);
    check("? !foo a\n: b", r#"{"$key:{\"$yaml:tag\":\"!foo\",\"value\":\"a\"}":"b"}"#);
    assert_eq!(to_json("!foo 1", |_| ()).unwrap_err().kind(), ErrorKind::Refused);
}

/// A value is found in each of its places.
#[test]
fn aliases_are_copies_where_one_document_is_read() {
    let value = crate::yaml::from_slice(b"base: &b {port: 80}\nprod: *b\n").unwrap();
    assert_eq!(value["prod"]["port"], crate::Value::Int(80));
    assert_eq!(value["base"]["port"], crate::Value::Int(80));
    assert_eq!(crate::yaml::from_slice(b"&a [*a]").unwrap_err().kind(), crate::ErrorKind::Refused);
}

#[test]
fn references() {
    check(
        "a: &x [1]\nb: *x\nc: &y 5\nd: *y\n",
        r#"{"a":{"$anchor":1,"value":[1]},"b":{"$alias":1},"c":5,"d":5}"#,
    );
    check("&a [*a]", r#"{"$anchor":1,"value":[{"$alias":1}]}"#);
    check("&k key: *k", r#"{"key":"key"}"#);
    // A name may be reused, and is local to its document.
    check("[&a 1, *a, &a 2, *a]\n--- &a 3", "[1,1,2,2]\n3");
    assert!(fails("--- &a 1\n--- *a\n").message().contains("*a"));

    let json = |text: &str| to_json(text, |_| ());
    assert_eq!(
        json("a: &x {p: [1, &z 2]}\nb: *x\nc: [*x, *z]").unwrap(),
        r#"{"a":{"p":[1,2]},"b":{"p":[1,2]},"c":[{"p":[1,2]},2]}"#
    );
    assert_eq!(
        json("- &a [x]\n- &b [*a, *a]\n- *b").unwrap(),
        r#"[["x"],[["x"],["x"]],[["x"],["x"]]]"#
    );
    let cycle = json("- &a\n  - *a\n").unwrap_err();
    assert_eq!((cycle.kind(), cycle.offset()), (ErrorKind::Refused, Some(9)));
    assert!(cycle.message().contains("byte 2"), "{cycle}");
    // A key that is a collection is a copy.
    let wrapped = to_json("? &a [1]\n: *a", |options| options.on_loss = OnLoss::Wrap).unwrap();
    assert_eq!(wrapped, r#"{"$key:{\"$anchor\":1,\"value\":[1]}":{"$alias":1}}"#);
}

#[test]
fn aliases_have_a_budget() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        text.push_str(&format!("a{level}: &a{level} [{}]\n", vec![before; 9].join(", ")));
    }
    let error = to_json(&text, |_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().contains("aliases"), "{error}");
    // As references, it is as small as it looks.
    assert!(to_json(&text, |options| options.on_loss = OnLoss::Wrap).unwrap().len() < 4000);
    // A long text counts too, however few values there are.
    let long = format!("- &a {}\n{}", "x".repeat(1 << 20), "- *a\n".repeat(100));
    assert_eq!(to_json(&long, |_| ()).unwrap_err().kind(), ErrorKind::Limit);
    // Each level alone is flat.
    let mut deep = "- &a0 [x]\n".to_owned();
    for level in 1..600 {
        deep.push_str(&format!("- &a{level} [*a{}]\n", level - 1));
    }
    assert_eq!(to_json(&deep, |_| ()).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn schemas() {
    assert_eq!(read_as(Schema::Failsafe, "[1, true, ~, a]").unwrap(), r#"["1","true","~","a"]"#);
    assert_eq!(read_as(Schema::Json, r#"{"a": [1, 1.5, null]}"#).unwrap(), r#"{"a":[1,1.5,null]}"#);
    let error = read_as(Schema::Json, "[1, abc]").unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Syntax, Some(4)));
    check_11("[yes, off, 0777, 1_000, 1:30, y]", r#"[true,false,511,1000,90,"y"]"#);
    check_11("2001-12-14", r#"{"$localDate":"2001-12-14"}"#);
    let text = to_json("{2001-12-14: [2001-12-14 1:2:3, 2001-12-14T01:02:03Z, 1:30]}", |options| {
        options.yaml.schema = Schema::Yaml11;
        options.yaml.text_times = true;
    });
    let wanted = r#"{"2001-12-14":["2001-12-14 1:2:3","2001-12-14T01:02:03Z",90]}"#;
    assert_eq!(text.unwrap(), wanted);
    check("[yes, off, 1_000, 1:30, 2001-12-14]", r#"["yes","off","1_000","1:30","2001-12-14"]"#);
}

#[test]
fn merge_keys() {
    // The keys of the mapping itself win, wherever they are.
    check_11(
        "- &a {x: 1, y: 2}\n- <<: *a\n  y: 3\n  z: 4\n",
        r#"[{"$anchor":1,"value":{"x":1,"y":2}},{"y":3,"z":4,"x":1}]"#,
    );
    check_11(
        "- &a {x: 1}\n- &b {x: 2, y: 5}\n- {w: 0, <<: [*a, *b]}\n",
        r#"[{"$anchor":1,"value":{"x":1}},{"$anchor":2,"value":{"x":2,"y":5}},{"w":0,"x":1,"y":5}]"#,
    );
    // A merged mapping may itself merge others, and may be written inline.
    check_11("<<: {a: 1, <<: {a: 2, b: 3}}\n", r#"{"a":1,"b":3}"#);
    let json = |text: &str| to_json(text, |options| options.yaml.schema = Schema::Yaml11).unwrap();
    assert_eq!(
        json("a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: *b\nd: {<<: *b}\n"),
        r#"{"a":{"x":1},"b":{"y":2,"x":1},"c":{"y":2,"x":1},"d":{"y":2,"x":1}}"#
    );
    // Nested mappings have keys of their own, and a key is the same however it is written.
    assert_eq!(
        json("a: &a {x: 1, in: {<<: {y: 2, x: 5}, x: 3}}\nb: {p: {q: 1}, <<: *a, x: 4, q: 0}\n"),
        r#"{"a":{"x":1,"in":{"x":3,"y":2}},"b":{"p":{"q":1},"x":4,"q":0,"in":{"x":3,"y":2}}}"#
    );
    check_11("{<<: {'k': 1, j: 2, name: 3}, \"k\": 4, name: 5}\n", r#"{"k":4,"name":5,"j":2}"#);
    check_11(
        "- {<<: {k: 1}}\n- {j: 2, <<: {k: 3}}\n- {k: 4}\n",
        r#"[{"k":1},{"j":2,"k":3},{"k":4}]"#,
    );
    check("<<: {a: 1}\n", r#"{"<<":{"a":1}}"#);
    check_11("'<<': {a: 1}\n", r#"{"<<":{"a":1}}"#);
    let error = read_as(Schema::Yaml11, "<<: 1\n").unwrap_err();
    assert!(error.message().contains("merge"), "{error}");
}

#[test]
fn expansion_is_reported() {
    let mut sink = crate::codec::json::Writer::new(
        crate::bytes::buffer::Out::in_memory(),
        Default::default(),
        Fidelity::new(OnLoss::Refuse, Format::Json),
    );
    let mut reader = Reader::from_slice(Parser::default(), b"- &a []\n- *a\n- &b 1\n- *b\n");
    reader.next(&mut sink).unwrap();
    let losses = crate::Sink::fidelity(&mut sink).losses();
    assert_eq!(losses.len(), 1);
    assert_eq!((losses[0].kind.name(), losses[0].count), ("reference", 1));
}

#[test]
fn limits() {
    let nested = |count: usize| format!("{}{}", "[".repeat(count), "]".repeat(count));
    check(&nested(3), "[[[]]]");
    assert!(read_as(Schema::Core, &nested(512)).is_ok());
    assert_eq!(fails(&nested(513)).kind(), ErrorKind::Limit);
    assert_eq!(fails(&"- ".repeat(513)).kind(), ErrorKind::Limit);
    assert_eq!(fails(&"? ".repeat(100_000)).kind(), ErrorKind::Limit);
    let key = |count: usize| format!("{}: 1", "k".repeat(count));
    assert!(read_as(Schema::Core, &key(1024)).is_ok());
    assert!(fails(&key(1025)).message().contains("1024"));
    let quoted = |count: usize| format!("'{}': 1", "k".repeat(count));
    assert!(read_as(Schema::Core, &quoted(1022)).is_ok());
    assert!(fails(&quoted(1023)).message().contains("1024"));
    let flow = |count: usize| format!("[{}]: 1", "é".repeat(count));
    assert!(read_as(Schema::Core, &flow(1022)).is_ok());
    assert!(read_as(Schema::Core, &flow(1023)).is_err());
    // After a question mark, a key may be of any length.
    assert!(read_as(Schema::Core, &format!("? {}\n: 1", "k".repeat(5000))).is_ok());
}

#[test]
fn encodings() {
    for (bytes, name) in [
        (&b"\xFF\xFEa\0"[..], "UTF-16LE"),
        (b"\xFE\xFF\0a", "UTF-16BE"),
        (b"a\0:\0", "UTF-16LE"),
        (b"\0a\0:", "UTF-16BE"),
        (b"\xFF\xFE\0\0a\0\0\0", "UTF-32LE"),
        (b"\0\0\xFE\xFF\0\0\0a", "UTF-32BE"),
        (b"a\0\0\0", "UTF-32LE"),
    ] {
        let error = super::events(bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains(name), "{error}");
    }
    let error = super::events(b"a: b\nc: \xE9t\xE9\n").unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Syntax, Some(8)));
    // What precedes it is still read, and a fault there is reported first.
    assert_eq!(super::events(b"a: ]\nc: \xE9t\xE9\n").unwrap_err().offset(), Some(3));
}

#[test]
fn a_document_is_read_when_its_end_is_known() {
    let mut reader = Reader::from_slice(Parser::default(), b"--- 1\n--- [\n");
    let mut builder = Builder::new(&Limits::default());
    assert!(reader.next(&mut builder).unwrap());
    let error = reader.next(&mut builder).unwrap_err();
    assert_eq!((error.kind(), error.record()), (ErrorKind::Truncated, Some(2)));
}

#[test]
fn broken_documents_are_passed_over() {
    let text = b"--- 1\n--- [}\n--- x\n...\n--- 3\n";
    let mut reader = Reader::from_slice(Parser::default(), text);
    reader.keep_records(true);
    let mut values = Vec::new();
    loop {
        let mut builder = Builder::new(&Limits::default());
        match reader.next(&mut builder) {
            Ok(true) => values.push(builder.take().unwrap().to_string()),
            Ok(false) => break,
            Err(error) => {
                let bad = reader.skip_bad(error).unwrap();
                assert_eq!(bad.bytes, b"--- [}\n");
                assert_eq!(bad.error.offset(), Some(11));
            }
        }
    }
    assert_eq!(values, ["1", r#""x""#, "3"]);
}

#[test]
fn a_broken_document_is_passed_over_without_its_bytes() {
    let long = "- a\n".repeat(1 << 18);
    let text = format!("--- 1\n---\n{long}\t: [\n--- 3\n");
    let mut reader = Reader::from_read(Parser::default(), text.as_bytes());
    reader.skip_records();
    let mut builder = Builder::new(&Limits::default());
    assert!(reader.next(&mut builder).unwrap());
    let error = reader.next(&mut Builder::new(&Limits::default())).unwrap_err();
    let mut pieces = Vec::new();
    let mut take = |piece: Skipped| -> Result {
        pieces.push((piece.error.is_some(), piece.offset));
        Ok(())
    };
    reader.pass_over(error, &mut take).unwrap();
    assert_eq!(pieces[0], (true, 6), "where the document begins");
    let mut builder = Builder::new(&Limits::default());
    assert!(reader.next(&mut builder).unwrap());
    assert_eq!(builder.take().unwrap().to_string(), "3");
}

#[test]
fn line_breaks_of_yaml_1_1_break_lines_there() {
    // What PyYAML reads; `tools/yaml_11_check.py` checks more cases with it.
    let next = [
        ("a: b\u{85}c: d", r#"{"a":"b","c":"d"}"#),
        ("a: b\u{85} c", r#"{"a":"b c"}"#),
        ("a: b\u{85}\u{85} c", r#"{"a":"b\nc"}"#),
        ("a: 'b \u{85} c'\n", r#"{"a":"b c"}"#),
        ("a: \"b\\\u{85} c\"", r#"{"a":"bc"}"#),
        ("a: |\u{85}  b\r\u{85}  c\u{85}", r#"{"a":"b\n\nc\n"}"#),
        ("a: >\u{85}  b\u{85}  c\u{85}\u{85}d: e", r#"{"a":"b c\n","d":"e"}"#),
        ("# \u{85}a:\u{85}- b\u{85}- c", r#"{"a":["b","c"]}"#),
    ];
    for (text, value) in next {
        assert_eq!(read_as(Schema::Yaml11, text).unwrap(), value, "{text:?}");
    }
    // U+2028 and U+2029 stay in the text, and are not folded.
    for c in ["\u{2028}", "\u{2029}"] {
        let kept = [
            (format!("a: b{c}c: d"), r#"{"a":"b","c":"d"}"#.to_owned()),
            (format!("a: b {c} c"), format!(r#"{{"a":"b{c}c"}}"#)),
            (format!("a: b\n{c} c"), format!(r#"{{"a":"b{c}c"}}"#)),
            (format!("a: b{c}\n c"), format!(r#"{{"a":"b{c}\nc"}}"#)),
            (format!("a: 'b {c} {c} c'"), format!(r#"{{"a":"b{c}{c}c"}}"#)),
            (format!("a: \"b\\{c} {c} c\""), format!(r#"{{"a":"b{c}c"}}"#)),
            (format!("a: |\n  b{c}  c{c}"), format!(r#"{{"a":"b{c}c{c}"}}"#)),
            (format!("a: >\n{c}  b{c}{c}  c\n  d\n{c}"), format!(r#"{{"a":"{c}b{c}{c}c d\n"}}"#)),
            (format!("a: |+\n  b\n{c}\nc: d"), format!(r#"{{"a":"b\n{c}\n","c":"d"}}"#)),
            (format!("# {c}a:{c}- b # c{c}- d"), r#"{"a":["b","d"]}"#.to_owned()),
        ];
        for (text, value) in kept {
            assert_eq!(read_as(Schema::Yaml11, &text).unwrap(), value, "{text:?}");
        }
    }
    assert!(read_as(Schema::Yaml11, "\u{C2}\u{201C}: \u{2030}").is_ok());
}

#[test]
fn line_breaks_of_yaml_1_1_are_found_wherever_a_window_ends() {
    let mut text = String::new();
    for index in 0..3000 {
        let c = ["\u{85}", "\u{2028}", "\u{2029}", "\n", "\u{2030}"][index % 5];
        writeln!(text, "---\na{index}: b\u{2028}  c{c}  d").unwrap();
    }
    // One token that is longer than a piece.
    writeln!(text, "--- '{}'", "e\u{2029}f ".repeat(40_000)).unwrap();
    let read = |mut reader: Reader| {
        let mut values = Vec::new();
        loop {
            let mut builder = Builder::new(&Limits::default());
            if !reader.next(&mut builder).unwrap() {
                return values;
            }
            values.push(builder.take());
        }
    };
    let parser =
        || Parser::new(Options { schema: Schema::Yaml11, ..Options::default() }, Limits::default());
    let whole = read(Reader::from_slice(parser(), text.as_bytes()));
    assert_eq!(whole.len(), 3001);
    for size in [1000, 4097, 70_000] {
        let pieces = Pieces(text.as_bytes(), size);
        assert!(read(Reader::from_read(parser(), pieces)) == whole, "{size}");
    }
}

#[test]
fn what_is_written_reads_the_same_in_yaml_1_1() {
    for c in ['\u{85}', '\u{2028}', '\u{2029}'] {
        for text in [format!("a: b{c}c"), format!("a: 'b{c}c'\n"), format!("a: |\n  b{c}  c\n")] {
            let core = ConvertOptions::new(Format::Yaml, Format::Yaml);
            let written = convert_bytes(text.as_bytes(), &core).unwrap();
            let mut old = ConvertOptions::new(Format::Yaml, Format::Yaml);
            old.yaml.schema = Schema::Yaml11;
            assert_eq!(convert_bytes(&written, &old).unwrap(), written, "{text:?}");
        }
    }
}

#[test]
fn long_quoted_scalars_are_read_to_their_end_before_they_are_copied() {
    let text = "a\\tb\\u00E9 \n  c\\\n  d".repeat(100_000);
    let value = "a\tb\u{E9} cd".repeat(100_000);
    let got = read_as(Schema::Core, &format!("x: \"{text}\"\n")).unwrap();
    let wanted = serde_json::json!({ "x": value }).to_string();
    assert!(got == wanted);
    let error = fails(&format!("x: \"{text}\\q\"\n"));
    assert_eq!(error.offset(), Some(4 + text.len() as u64));
    let error = fails(&format!("x: \"{text}"));
    assert_eq!(error.offset(), Some(4 + text.len() as u64));
}
