//! What the options accept, how documents are separated in a file, how faults are handled, and the
//! limits.

use super::{Events, Pieces, build, check_pieces, pieces, refuse_with, whole};
use crate::bytes::buffer::Out;
use crate::bytes::output::StreamOutput;
use crate::codec::json::{Framing, Parser, ReadOptions, Reader, WriteOptions, Writer};
use crate::model::value::Value;
use crate::policy::event::{Sink, Source, Writer as _};
use crate::policy::fidelity::Fidelity;
use crate::{Error, ErrorKind, Format, Limits, OnLoss};

#[test]
fn relaxed_reading() {
    let options = ReadOptions {
        comments: true,
        trailing_commas: true,
        non_finite: true,
        ..ReadOptions::default()
    };
    let text = b"// head\n{/**/\"a\" /* \n * ** */ : // x /* \n [NaN, -Infinity, Infinity /*y*/ ,],\"b\":{\"c\":1,},}// end";
    let (events, error) = whole(options, text);
    assert_eq!(error, None);
    assert_eq!(
        events.join(" "),
        r#"{ key "a" [ f64 NaN f64 -inf f64 inf ] key "b" { key "c" i64 1 } } document"#
    );
    check_pieces(options, text);
    let refuse =
        |input: &str, offset, message| refuse_with(options, input.as_bytes(), offset, message);
    refuse("[1,,]", 3, "found `,`, expected a value");
    refuse("[,]", 1, "found `,`, expected a value or `]`");
    refuse("1 /* x *", 8, "found the end of the input inside a comment, expected `*/`");
    refuse("1 / 2", 2, "found `/` after the document, expected the end of the input");
    refuse("[Nan]", 1, "found `Nan`, expected a value or `]`");
    refuse("[-Inf]", 2, "found `Inf`, expected a digit");
    // Each option allows only its own extension.
    for (option, text) in [
        (ReadOptions { comments: true, ..ReadOptions::default() }, "[1,/**/]"),
        (ReadOptions { trailing_commas: true, ..ReadOptions::default() }, "[1,/**/]"),
        (ReadOptions { non_finite: true, ..ReadOptions::default() }, "[NaN,]"),
    ] {
        assert!(whole(option, text.as_bytes()).1.is_some(), "{text}");
    }
}

#[test]
fn lines() {
    let options = ReadOptions { framing: Framing::Lines, ..ReadOptions::default() };
    let shown = |input: &[u8]| {
        let (events, error) = whole(options, input);
        check_pieces(options, input);
        (events.join(" "), error.unwrap_or_default())
    };
    for text in ["1\n[2]\n", "1\n[2]", "\n\n1\r\n\r\n [2]\t\r\n\n", "\u{feff}1\n[2]\n  "] {
        assert_eq!(shown(text.as_bytes()).0, "i64 1 document [ i64 2 ] document", "{text:?}");
        assert_eq!(shown(text.as_bytes()).1, "");
    }
    assert_eq!(shown(b""), (String::new(), String::new()));
    let hint = "set `from` to `Format::Json` if a document spans several lines";
    for (text, error) in [
        (
            "1 2\n",
            "record 1, byte 2: found `2` after the document, expected the end of the line"
                .to_owned(),
        ),
        (
            "1\n[\n2]\n",
            format!("record 2, byte 3: found the end of the line, expected a value or `]`; {hint}"),
        ),
        (
            "{\"a\":1,\n",
            format!(
                "record 1, byte 7: found the end of the line, expected a key in double quotes; {hint}"
            ),
        ),
        ("[1", "record 1, byte 2: found the end of the input, expected `,` or `]`".to_owned()),
        ("tru\n", "record 1, byte 0: found `tru`, expected `true`".to_owned()),
    ] {
        assert_eq!(shown(text.as_bytes()).1, format!("ndjson: {error}"));
    }
    let comments = ReadOptions { comments: true, ..options };
    assert_eq!(
        whole(comments, b"// a\n1 // b\n/* c */ 2").0.join(" "),
        "i64 1 document i64 2 document"
    );
    check_pieces(comments, b"// a\n1 // b\n/* c */ 2");
    let hint = "pass --from json if a document spans several lines";
    refuse_with(
        comments,
        b"1 /*\n*/",
        4,
        &format!("found the end of the line inside a comment, expected `*/`; {hint}"),
    );
}

/// Reads on after every broken record: returns the events and the raw bytes of what was skipped.
fn skipping(framing: Framing, input: &[u8], piece: usize) -> (String, Vec<String>) {
    let options = ReadOptions { framing, ..ReadOptions::default() };
    let parser = Parser::new(options, Limits::default());
    let mut reader = Reader::from_read(parser, Pieces { rest: input, first: piece, then: piece });
    reader.keep_records(true);
    let (mut list, mut bad) = (Vec::new(), Vec::new());
    loop {
        let mut events = Events::default();
        match reader.next(&mut events) {
            Ok(true) => list.push(events.list.join(" ")),
            Ok(false) => return (list.join(" | "), bad),
            Err(error) => {
                let record = reader.skip_bad(error).unwrap();
                bad.push(record.bytes.escape_ascii().to_string());
            }
        }
    }
}

#[test]
fn broken_lines_are_passed_over() {
    for piece in [1, 2, 3, 7, 1000] {
        let input = b"1\n[2,\n\"x\n{\"a\":[tru]} \r\n3\n\n4 5\n6\n[";
        let (events, bad) = skipping(Framing::Lines, input, piece);
        assert_eq!(events, "i64 1 | i64 3 | i64 6");
        assert_eq!(bad, ["[2,\\n", "\\\"x\\n", "{\\\"a\\\":[tru]} \\r\\n", "\\n4 5\\n", "["]);
        let input = b"{\"a\":1}\n{\"a\":\n x\n }\n{\"a\":2} {\"b\":[}\n{\"a\":3}";
        let (events, bad) = skipping(Framing::Concatenated, input, piece);
        assert_eq!(events.matches("i64").count(), 3, "{events}");
        assert_eq!(bad.len(), 2);
    }
    let mut reader = Reader::from_slice(Parser::default(), b"[x]");
    reader.keep_records(true);
    let error = reader.next(&mut Events::default()).unwrap_err();
    assert!(reader.skip_bad(error).is_err(), "a single document has nothing after it");
}

#[test]
fn concatenated_documents() {
    let options = ReadOptions { framing: Framing::Concatenated, ..ReadOptions::default() };
    for text in ["{}[1]\"a\"2 3\ntrue", " {} [1]\n\n\"a\" 2 3 true \n"] {
        let (events, error) = whole(options, text.as_bytes());
        assert_eq!(error, None);
        assert_eq!(
            events.join(" "),
            r#"{ } document [ i64 1 ] document "a" document i64 2 document i64 3 document true document"#
        );
        check_pieces(options, text.as_bytes());
    }
    assert_eq!(whole(options, b" \n"), (vec![], None));
}

fn limited(limits: Limits, input: &[u8]) -> Option<Error> {
    let mut reader = Reader::from_slice(Parser::new(ReadOptions::default(), limits), input);
    let mut events = Events::default();
    let error = reader.next(&mut events).err();
    for piece in [1, 5] {
        let parser = Parser::new(ReadOptions::default(), limits);
        let mut reader =
            Reader::from_read(parser, Pieces { rest: input, first: piece, then: piece });
        let mut again = Events::default();
        let other = reader.next(&mut again).err();
        assert_eq!(other.map(|e| e.to_string()), error.as_ref().map(|e| e.to_string()));
        assert_eq!(again.list, events.list);
    }
    error
}

#[test]
fn limits() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let maps = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    for (asked, most) in [(1, 1), (7, 7), (64, 64), (65, 65), (1024, 1024), (5000, 1024)] {
        let limits = Limits { depth: asked, ..Limits::default() };
        for text in [maps(most - 1), nested(most), maps(most)] {
            assert!(limited(limits, text.as_bytes()).is_none());
        }
        let error = limited(limits, nested(most + 1).as_bytes()).unwrap();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Limit, Some(most as u64)));
        assert!(limited(limits, maps(most + 1).as_bytes()).is_some());
    }
    assert_eq!(limited(Limits { depth: 0, ..Limits::default() }, b"1").map(|e| e.kind()), None);

    let limits = Limits { token_bytes: 20, ..Limits::default() };
    let string = |length: usize| format!("[\"{}\"]", "x".repeat(length));
    let escaped = |length: usize| format!("[\"{}\\n\"]", "x".repeat(length - 2));
    let number = |length: usize| format!("[0.{}]", "1".repeat(length - 2));
    for length in [17, 18] {
        assert!(limited(limits, string(length).as_bytes()).is_none());
        assert!(limited(limits, escaped(length).as_bytes()).is_none());
        assert!(limited(limits, number(length + 2).as_bytes()).is_none());
    }
    for text in [string(19), escaped(19), number(21), string(100), number(100)] {
        let error = limited(limits, text.as_bytes()).expect(&text);
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Limit, Some(1)), "{text}");
    }
    // A fault after the limit is not reached, one before it is.
    assert_eq!(limited(limits, b"\"0123456789012345678\\x").unwrap().kind(), ErrorKind::Limit);
    assert_eq!(limited(limits, b"\"01234567890123456\\x").unwrap().kind(), ErrorKind::Syntax);

    let limits = Limits { integer_digits: 30, ..Limits::default() };
    let integer = |digits: usize| format!("[-{}]", "9".repeat(digits));
    assert!(limited(limits, integer(29).as_bytes()).is_none());
    assert!(limited(limits, integer(30).as_bytes()).is_none());
    let error = limited(limits, integer(31).as_bytes()).unwrap();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Limit, Some(1)));
    assert!(limited(limits, format!("{}.5", "9".repeat(40)).as_bytes()).is_none());
}

#[test]
fn a_long_token_in_small_pieces_is_scanned_once() {
    // Quadratic scanning would look at 2⁴¹ bytes here.
    let text = format!("[\"{}\\n\", 0.{}]", "x".repeat(4 << 20), "1".repeat(4 << 20));
    let (events, error) = pieces(ReadOptions::default(), text.as_bytes(), 17, 17);
    assert_eq!(error, None);
    assert_eq!(events.len(), 5);
}

#[test]
fn one_document_in_a_json_file() {
    let fidelity = || Fidelity::new(OnLoss::Refuse, Format::Json);
    let mut writer = Writer::new(Out::in_memory(), WriteOptions::default(), fidelity());
    assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::Unrepresentable);
    writer.i64(1).unwrap();
    writer.end_document().unwrap();
    writer.i64(2).unwrap();
    let error = writer.end_document().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable);
    assert_eq!(error.message(), "found a second document, expected one in a JSON file");
    assert!(error.hint_for(&crate::model::hint::Surface::COMMAND).unwrap().contains("--to ndjson"));

    let lines = WriteOptions { lines: true, ..WriteOptions::default() };
    let mut writer = Writer::new(Out::in_memory(), lines, fidelity());
    for value in 1..4 {
        writer.i64(value).unwrap();
        writer.end_document().unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(writer.into_out().into_vec(), b"1\n2\n3\n");

    let both = WriteOptions { indent: Some(2), ..lines };
    let mut writer = Writer::new(Out::in_memory(), both, fidelity());
    assert_eq!(writer.begin_map(None).unwrap_err().kind(), ErrorKind::Unrepresentable);
}

#[test]
fn a_rollback_leaves_no_trace() {
    let record =
        |n: i64| Value::Map(vec![(Value::Text("n".into()), Value::Array(vec![Value::Int(n)]))]);
    for indent in [None, Some(1)] {
        for flush_bytes in [64, 100, 4096] {
            let mut bytes = Vec::new();
            let out = Out::flushing_at(flush_bytes, StreamOutput::new(&mut bytes), 1 << 20);
            let options = WriteOptions { indent, ..WriteOptions::default() };
            let mut writer = Writer::new(out, options, Fidelity::new(OnLoss::Refuse, Format::Json));
            let mut wanted = Vec::new();
            writer.begin_array(None).unwrap();
            for n in 0..200 {
                writer.checkpoint();
                if n % 3 == 1 {
                    record(n).drive(&mut writer).unwrap();
                    wanted.push(record(n));
                } else {
                    // Interrupted inside containers, after more than a buffer.
                    writer.begin_array(None).unwrap();
                    writer.begin_map(None).unwrap();
                    writer.key("k").unwrap();
                    writer.str(&"long ".repeat(n as usize)).unwrap();
                    writer.rollback();
                }
            }
            writer.end_array().unwrap();
            writer.end_document().unwrap();
            writer.finish().unwrap();
            drop(writer);
            assert_eq!(build(&bytes), Value::Array(wanted));
        }
    }
}
