//! The format's rules, table by table.

mod feeding;
mod oracles;
mod writing;

use super::*;
use crate::convert::Input;
use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::{ErrorKind, OnLoss, Options as All, StreamOutput, convert, convert_bytes, read_values};

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn options(from: Format, to: Format) -> All {
    All::new(from, to)
}

/// Returns the rows as JSON, in one array.
fn rows(input: &[u8], options: &All) -> Result<String, crate::Error> {
    let values = read_values(input, options)?;
    Ok(Value::Array(values).to_string())
}

#[track_caller]
fn check(input: &str, expected: &str) {
    let found = rows(input.as_bytes(), &options(Format::Csv, Format::Csv));
    assert_eq!(found.unwrap_or_else(|error| panic!("{error}\n{input}")), expected, "{input}");
}

#[track_caller]
fn check_with(input: &str, expected: &str, set: impl FnOnce(&mut Options)) {
    let mut options = options(Format::Csv, Format::Csv);
    set(&mut options.csv);
    let found = rows(input.as_bytes(), &options);
    assert_eq!(found.unwrap_or_else(|error| panic!("{error}\n{input}")), expected, "{input}");
}

#[track_caller]
fn check_fault(input: &[u8], offset: u64, message: &str) {
    let error = rows(input, &options(Format::Csv, Format::Csv)).unwrap_err();
    let input = input.escape_ascii();
    assert_eq!((error.offset(), error.message()), (Some(offset), message), "{input}");
}

#[test]
fn fields() {
    check("a,b\n1,2\n", r#"[{"a":"1","b":"2"}]"#);
    check("a,b\r\n1,2\r\n3,4", r#"[{"a":"1","b":"2"},{"a":"3","b":"4"}]"#);
    check("a,b\n,\n", r#"[{"a":"","b":""}]"#);
    check("a,b\n1,", r#"[{"a":"1","b":""}]"#);
    check("a,b\n x, y \n", r#"[{"a":" x","b":" y "}]"#);
}

#[test]
fn the_header_tells_the_delimiter() {
    check("a;b\n1,5;2\n", r#"[{"a":"1,5","b":"2"}]"#);
    check("a\tb\n1\t2\n", r#"[{"a":"1","b":"2"}]"#);
    check("a|b;c|d\n1|2|3\n", r#"[{"a":"1","b;c":"2","d":"3"}]"#);
    check("\"a,b\";c\r\n1;2\r\n", r#"[{"a,b":"1","c":"2"}]"#);
    check("a;b,c\n1,2\n", r#"[{"a;b":"1","c":"2"}]"#);
    check("\"a;b\"\n1;2\n", r#"[{"a;b":"1;2"}]"#);
    check("a b\n1;2\n", r#"[{"a b":"1;2"}]"#);
    let comma = |csv: &mut Options| csv.delimiter = Some(Delimiter::Comma);
    check_with("a;b\n1;2\n", r#"[{"a;b":"1;2"}]"#, comma);
    // What is written is read again without an option.
    for (delimiter, written) in [
        (Delimiter::Comma, "\"a;b\"\n1\n"),
        (Delimiter::Semicolon, "\"a;b\"\n1\n"),
        (Delimiter::Pipe, "\"a;b\"\n1\n"),
    ] {
        let mut options = options(Format::Json, Format::Csv);
        options.csv.delimiter = Some(delimiter);
        let bytes = convert_bytes(br#"[{"a;b":"1"}]"#, &options).unwrap();
        assert_eq!(bytes, written.as_bytes());
        check(written, r#"[{"a;b":"1"}]"#);
    }
    let mut options = options(Format::Json, Format::Csv);
    options.csv.delimiter = Some(Delimiter::Semicolon);
    let bytes = convert_bytes(br#"[{"a,b":"1","c":"2,5"}]"#, &options).unwrap();
    assert_eq!(bytes, b"\"a,b\";c\n1;2,5\n");
    check("\"a,b\";c\n1;2,5\n", r#"[{"a,b":"1","c":"2,5"}]"#);
    // A long header is looked at up to a bound.
    let long = format!("{}\n1,2\n", ["x".repeat(70_000), "y".to_owned()].join(";"));
    assert!(rows(long.as_bytes(), &All::new(Format::Csv, Format::Csv)).is_err());
}

#[test]
fn quotes() {
    check("a,b\n\"1\",\"\"\n", r#"[{"a":"1","b":""}]"#);
    check("a\n\"1,\"\"2\"\"\n3\"\n", r#"[{"a":"1,\"2\"\n3"}]"#);
    check("a\n\"\"\"\"\"\"\n", r#"[{"a":"\"\""}]"#);
    check("\"a\",b\n\"\r\",2", r#"[{"a":"\r","b":"2"}]"#);
}

#[test]
fn the_beginning_and_the_end() {
    check("", "[]");
    check("\u{FEFF}", "[]");
    check("a,b", "[]");
    check("\u{FEFF}a,b\n1,2", r#"[{"a":"1","b":"2"}]"#);
    check("\u{FEFF}\"\u{FEFF}a\",b\n1,2", "[{\"\u{FEFF}a\":\"1\",\"b\":\"2\"}]");
    check("a,b\n\n1,2\n\r\n\n", r#"[{"a":"1","b":"2"}]"#);
}

#[test]
fn faults_have_their_place() {
    check_fault(b"a,b\n1,2\n3\n", 9, "found 1 field, expected 2 as in the header");
    check_fault(b"a,b\n1,2,3,4\n", 11, "found 4 fields, expected 2 as in the header");
    let again = "found the name \"a\" for columns 1 and 3, expected each name once";
    check_fault(b"a,b,a\n1,2,3\n", 4, again);
    let stray = "found a quote in a field that does not begin with one, expected none";
    check_fault(b"a,b\n1,x\"\n", 7, stray);
    let after = "found text after a closing quote, expected the delimiter or the end of the line";
    check_fault(b"a,b\n\"1\"x,2\n", 7, after);
    let unclosed = "found the end of the file in a field in quotes, expected a closing quote";
    check_fault(b"a,b\n1,\"2\n\n", 6, unclosed);
    check_fault(b"a,b\n1,\"2\"\"", 6, unclosed);
    let lone = "found a carriage return without a line feed, expected both or a line feed alone";
    check_fault(b"a,b\r1,2", 3, lone);
    check_fault(b"a,b\n1,\"2\"\r", 9, lone);
    check_fault(b"a,b\n1,caf\xE9\n", 9, "found byte 0xE9, expected UTF-8");
    check_fault(b"a,b\n1,\"\"\"\xE9\"\n", 9, "found byte 0xE9, expected UTF-8");
    let column = "found a blank line in a table of one column, expected a field";
    check_fault(b"a\n1\n\n2\n", 4, column);
    check_fault(b"\na\n1\n", 0, "found a blank line, expected the first row");
    let error = convert_bytes(b"a,b\n1,x\"\n", &options(Format::Csv, Format::Json)).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "csv: record 1, byte 7 (line 2, column 4), at $.b: {stray}; such a field belongs in \
             quotes, with each quote in it doubled"
        )
    );
}

#[test]
fn without_a_header_rows_are_arrays() {
    let no_header = |csv: &mut Options| csv.header = false;
    check_with("a,b\n1,2\n", r#"[["a","b"],["1","2"]]"#, no_header);
    check_with("a,a\n", r#"[["a","a"]]"#, no_header);
    check_with("a\n\"\"\n", r#"[["a"],[""]]"#, no_header);
    check_with("", "[]", no_header);
    let mut options = options(Format::Csv, Format::Csv);
    options.csv.header = false;
    let error = rows(b"1,2\n3\n", &options).unwrap_err();
    assert_eq!(error.message(), "found 1 field, expected 2 as in the first row");
}

#[test]
fn delimiters() {
    for (name, delimiter) in Delimiter::NAMES {
        let byte = char::from(delimiter.byte());
        let input = format!("a{byte}b\n1{byte}\"2{byte}3\"\n");
        let expected = Value::Array(vec![Value::Map(vec![
            (text("a"), text("1")),
            (text("b"), text(&format!("2{byte}3"))),
        ])]);
        check_with(&input, &expected.to_string(), |csv| csv.delimiter = Some(delimiter));
        let mut back = options(Format::Json, Format::Csv);
        back.csv.delimiter = Some(delimiter);
        let written = convert_bytes(expected.to_string().as_bytes(), &back).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), input, "{name}");
    }
    // It is an option of CSV, not of TSV.
    let mut options = options(Format::Tsv, Format::Tsv);
    options.csv.delimiter = Some(Delimiter::Pipe);
    assert_eq!(rows(b"a\tb|c\n1\t2\n", &options).unwrap(), r#"[{"a":"1","b|c":"2"}]"#);
}

#[test]
fn types_are_inferred_if_they_are_spelled_as_written() {
    let infer = |csv: &mut Options| csv.types = Types::Infer;
    for field in [
        "true",
        "false",
        "0",
        "-1",
        "9223372036854775807",
        "18446744073709551615",
        "-99999999999999999999",
        "1.5",
        "-0.0",
        "0.1",
        "1e+300",
    ] {
        check_with(&format!("a\n{field}\n"), &format!(r#"[{{"a":{field}}}]"#), infer);
        check_with(&format!("a\n\"{field}\"\n"), &format!(r#"[{{"a":"{field}"}}]"#), infer);
        check(&format!("a\n{field}\n"), &format!(r#"[{{"a":"{field}"}}]"#));
    }
    for field in [
        "True",
        "null",
        "007",
        "+1",
        "-0",
        "1.50",
        "1.",
        ".5",
        "1e3",
        "1E300",
        "1e300",
        " 1",
        "1 ",
        "1_000",
        "0x10",
        "NaN",
        "inf",
        "1e999",
        "-",
        "1e",
        "0.1000000000000000055",
        "1,5",
    ] {
        let field = if field.contains(',') { format!("\"{field}\"") } else { field.to_owned() };
        let shown = field.trim_matches('"');
        check_with(&format!("a\n{field}\n"), &format!(r#"[{{"a":"{shown}"}}]"#), infer);
    }
    check_with("a,b\n,\n", r#"[{"a":"","b":""}]"#, infer);
    // What is inferred is written as it was.
    let bytes = b"a,b,c\n1,1.50,true\n-0,\"1\",1e+300\n007,,\"true\"\n";
    let mut same = options(Format::Csv, Format::Csv);
    same.csv.types = Types::Infer;
    assert_eq!(convert_bytes(bytes, &same).unwrap(), bytes);
}

#[test]
fn long_integers_are_bounded() {
    let mut options = options(Format::Csv, Format::Csv);
    options.csv.types = Types::Infer;
    options.limits.integer_digits = 30;
    let read =
        |digits: usize| rows(format!("a,b\n1,{}\n", "9".repeat(digits)).as_bytes(), &options);
    assert!(read(30).is_ok());
    let error = read(31).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Limit, Some(6)));
}

#[test]
fn the_notation_is_read_back() {
    let mut options = options(Format::Csv, Format::Csv);
    options.unwrap = true;
    let read = |input: &str| rows(input.as_bytes(), &options);
    let found = read("a,b\n$value:null,\"$value:[1,{\"\"x\"\":1.5}]\"\n").unwrap();
    assert_eq!(found, r#"[{"a":null,"b":[1,{"x":1.5}]}]"#);
    let found = read("$value\n$value:{}\n$value:1\n").unwrap();
    assert_eq!(found, "[{},1]");
    assert_eq!(read("a\n\"$value:\"\"$value:x\"\"\"\n").unwrap(), r#"[{"a":"$value:x"}]"#);
    let error = read("a,b\n1,$value:\n").unwrap_err();
    let expected = "found the field `$value:`, expected a value after `$value:`";
    assert_eq!((error.offset(), error.message()), (Some(6), expected));
    assert!(read("a\n$value:1 2\n").is_err() && read("a\n\"$value:{\"\"$x\"\":1}\"\n").is_err());
    // Without the option, it is text.
    check("a\n$value:1\n", r#"[{"a":"$value:1"}]"#);
}

#[test]
fn broken_rows_are_skipped() {
    let input = b"a,b\n1,2\n3\n4,\"5\"6\n7,x\"y\n8,9,10\n\"11\n12\",\xFF\n13,14\n";
    let mut options = options(Format::Csv, Format::Ndjson);
    options.skip_bad = true;
    let mut bad = Vec::new();
    let mut output = Vec::new();
    let summary = crate::convert(
        crate::convert::Input::Bytes(input),
        crate::StreamOutput::new(&mut output),
        &options,
        &mut |piece| {
            bad.push((piece.offset, String::from_utf8_lossy(&piece.bytes).into_owned()));
            Ok(())
        },
    );
    let summary = summary.unwrap();
    assert_eq!((summary.documents, summary.bad_records), (2, 5));
    assert_eq!(output, b"{\"a\":\"1\",\"b\":\"2\"}\n{\"a\":\"13\",\"b\":\"14\"}\n");
    let expected = [
        (8, "3\n"),
        (10, "4,\"5\"6\n"),
        (17, "7,x\"y\n"),
        (23, "8,9,10\n"),
        (30, "\"11\n12\",\u{FFFD}\n"),
    ];
    let bad: Vec<_> = bad.iter().map(|(at, text)| (*at, text.as_str())).collect();
    assert_eq!(bad, expected);
}

/// The header goes in front of the first broken row, whichever that is.
#[test]
fn the_head_of_broken_rows() {
    let kept = |input: &[u8], header: bool| {
        let mut options = options(Format::Csv, Format::Ndjson);
        (options.skip_bad, options.csv.header) = (true, header);
        let (mut output, mut kept) = (Vec::new(), Vec::new());
        let mut on_bad = |piece: crate::reader::Skipped| {
            kept.extend(piece.head);
            kept.extend(piece.bytes);
            Ok(())
        };
        let output = StreamOutput::new(&mut output);
        convert(Input::Bytes(input), output, &options, &mut on_bad).unwrap();
        String::from_utf8(kept).unwrap()
    };
    assert_eq!(kept(b"a,b\n1,2\n3\n4,5\n6\n", true), "a,b\n3\n6\n");
    assert_eq!(kept(b"a,b\n3\n1,2\n6\n", true), "a,b\n3\n6\n");
    let marked = "\u{FEFF}\"a\";b\r\n1;2\r\n3\r\n";
    assert_eq!(kept(marked.as_bytes(), true), "\u{FEFF}\"a\";b\r\n3\r\n");
    assert_eq!(kept(b"a,b\n1,2\n3\n", false), "3\n");
}

#[test]
fn a_broken_header_is_the_end() {
    let mut options = options(Format::Csv, Format::Ndjson);
    options.skip_bad = true;
    let error = convert_bytes(b"a,a\n1,2\n", &options).unwrap_err();
    assert!(error.message().contains("for columns 1 and 2"), "{error}");
}

#[test]
fn limits_hold() {
    let limited = |set: fn(&mut Limits)| {
        let mut options = options(Format::Csv, Format::Csv);
        set(&mut options.limits);
        options
    };
    let nodes = limited(|limits| limits.nodes = 2);
    assert!(rows(b"a,b\n1,2\n", &nodes).is_err_and(|error| error.kind() == ErrorKind::Limit));
    let bytes = limited(|limits| limits.record_bytes = 3);
    let error = rows(b"aa,bb\n1,2\n", &bytes).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Limit, Some(3)));
}
