//! The rules of JSON, table by table.

mod framing;
mod suites;

use std::io::Read;

use super::{Parser, ReadOptions, Reader, WriteOptions, Writer, is_number, to_vec};
use crate::bytes::buffer::Out;
use crate::bytes::output::StreamOutput;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, Sink, Source, Writer as _};
use crate::policy::fidelity::{Fidelity, LossKind};
use crate::policy::tree::Builder;
use crate::{ErrorKind, Format, Limits, OnLoss, Result};

/// Records every event.
pub(super) struct Events {
    pub(super) list: Vec<String>,
    pub(super) fidelity: Fidelity,
}

impl Default for Events {
    fn default() -> Events {
        Events { list: Vec::new(), fidelity: Fidelity::new(OnLoss::Refuse, Format::Json) }
    }
}

impl Events {
    fn add(&mut self, event: String) -> Result {
        self.list.push(event);
        Ok(())
    }
}

impl Sink for Events {
    fn null(&mut self) -> Result {
        self.add("null".into())
    }
    fn bool(&mut self, v: bool) -> Result {
        self.add(format!("{v}"))
    }
    fn i64(&mut self, v: i64) -> Result {
        self.add(format!("i64 {v}"))
    }
    fn u64(&mut self, v: u64) -> Result {
        self.add(format!("u64 {v}"))
    }
    fn f64(&mut self, v: f64) -> Result {
        self.add(format!("f64 {v:?}"))
    }
    fn str(&mut self, v: &str) -> Result {
        self.add(format!("{v:?}"))
    }
    fn begin_array(&mut self, _: Option<u64>) -> Result {
        self.add("[".into())
    }
    fn end_array(&mut self) -> Result {
        self.add("]".into())
    }
    fn begin_map(&mut self, _: Option<u64>) -> Result {
        self.add("{".into())
    }
    fn key(&mut self, k: &str) -> Result {
        self.add(format!("key {k:?}"))
    }
    fn key_value(&mut self, k: &Value) -> Result {
        self.add(format!("key {k:?}"))
    }
    fn end_map(&mut self) -> Result {
        self.add("}".into())
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        self.add(crate::model::number::big_int_text(v))
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        self.add(format!("{v:?}"))
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

/// Returns everything that an input yields: the events of all documents, and the error that ended
/// it.
fn run(mut reader: Reader<'_>) -> (Vec<String>, Option<String>) {
    let mut events = Events::default();
    loop {
        match reader.next(&mut events) {
            Ok(true) => events.list.push("document".into()),
            Ok(false) => return (events.list, None),
            Err(error) => return (events.list, Some(error.to_string())),
        }
    }
}

pub(super) fn whole(options: ReadOptions, input: &[u8]) -> (Vec<String>, Option<String>) {
    run(Reader::from_slice(Parser::new(options, Limits::default()), input))
}

/// Reads its bytes in two parts, or one at a time.
pub(super) struct Pieces<'a> {
    pub(super) rest: &'a [u8],
    pub(super) first: usize,
    pub(super) then: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.first.min(self.rest.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&self.rest[..count]);
        self.rest = &self.rest[count..];
        self.first = self.then;
        Ok(count)
    }
}

pub(super) fn pieces(
    options: ReadOptions,
    input: &[u8],
    first: usize,
    then: usize,
) -> (Vec<String>, Option<String>) {
    let parser = Parser::new(options, Limits::default());
    run(Reader::from_read(parser, Pieces { rest: input, first, then }))
}

/// Checks that the events and the error are the same however the input is split.
#[track_caller]
pub(super) fn check_pieces(options: ReadOptions, input: &[u8]) {
    let wanted = whole(options, input);
    let shown = String::from_utf8_lossy(&input[..input.len().min(80)]);
    assert_eq!(pieces(options, input, 1, 1), wanted, "byte by byte: {shown}");
    if input.len() < 3000 {
        for cut in 1..input.len() {
            assert_eq!(pieces(options, input, cut, usize::MAX), wanted, "cut at {cut}: {shown}");
        }
    }
}

/// Returns the events of one document.
pub(super) fn events(input: &[u8]) -> Vec<String> {
    let (events, error) = whole(ReadOptions::default(), input);
    assert_eq!(error, None);
    events
}

/// Returns the value of one document.
pub(super) fn build(input: &[u8]) -> Value {
    let mut builder = Builder::new(&Limits::NONE);
    let mut reader = Reader::from_slice(Parser::new(ReadOptions::default(), Limits::NONE), input);
    assert!(reader.next(&mut builder).unwrap());
    assert!(!reader.next(&mut builder).unwrap());
    builder.take().unwrap()
}

pub(super) fn write(value: &Value, options: WriteOptions) -> String {
    let mut writer =
        Writer::new(Out::in_memory(), options, Fidelity::new(OnLoss::Refuse, Format::Json));
    value.drive(&mut writer).unwrap();
    writer.end_document().unwrap();
    writer.finish().unwrap();
    String::from_utf8(writer.into_out().into_vec()).unwrap()
}

/// Checks one value: its event, and how it is written again.
#[track_caller]
fn check(text: &str, event: &str, written: &str) {
    assert_eq!(events(text.as_bytes()), [event, "document"], "{text}");
    assert_eq!(events(format!("[{text},{text}]  ").as_bytes())[1..3], [event, event], "{text}");
    check_pieces(ReadOptions::default(), format!("[{text}]").as_bytes());
    let value = build(text.as_bytes());
    assert_eq!(String::from_utf8(to_vec(&value, OnLoss::Refuse).unwrap()).unwrap(), written);
    assert_eq!(write(&value, WriteOptions::default()), format!("{written}\n"));
    assert_eq!(format!("{:?}", build(written.as_bytes())), format!("{value:?}"));
}

/// Checks that an input is refused at this offset with this message.
#[track_caller]
pub(super) fn refuse_with(options: ReadOptions, input: &[u8], offset: u64, message: &str) {
    let mut reader = Reader::from_slice(Parser::new(options, Limits::default()), input);
    let mut events = Events::default();
    let error = loop {
        match reader.next(&mut events) {
            Ok(true) => {}
            Ok(false) => panic!("{} was accepted", input.escape_ascii()),
            Err(error) => break error,
        }
    };
    let text = match error.hint_text() {
        Some(hint) => format!("{}; {hint}", error.message()),
        None => error.message().to_owned(),
    };
    assert_eq!(text, message, "{}", input.escape_ascii());
    assert_eq!(error.offset(), Some(offset), "{}", input.escape_ascii());
    check_pieces(options, input);
}

#[track_caller]
fn refuse(input: impl AsRef<[u8]>, offset: u64, message: &str) {
    refuse_with(ReadOptions::default(), input.as_ref(), offset, message);
}

#[test]
fn integers_at_every_boundary() {
    for text in [
        "0",
        "1",
        "9",
        "10",
        "12345678",
        "123456789",
        "9999999999999999",
        "12345678901234567",
        "999999999999999999",
        "9223372036854775807",
        "-1",
        "-9223372036854775807",
        "-9223372036854775808",
        "1000000000000000000",
    ] {
        check(text, &format!("i64 {text}"), text);
    }
    for text in ["9223372036854775808", "9999999999999999999", "18446744073709551615"] {
        check(text, &format!("u64 {text}"), text);
    }
    for text in [
        "18446744073709551616",
        "-9223372036854775809",
        "-18446744073709551616",
        "123456789012345678901234567890",
        "-99999999999999999999999999999999999999999",
    ] {
        check(text, text, text);
    }
    check("-0", "f64 -0.0", "-0.0");
}

#[test]
fn doubles_at_every_boundary() {
    for (text, event, written) in [
        ("0.0", "0.0", "0.0"),
        ("-0.0", "-0.0", "-0.0"),
        ("0e5", "0.0", "0.0"),
        ("-0e-5", "-0.0", "-0.0"),
        ("1.0", "1.0", "1.0"),
        ("1.5", "1.5", "1.5"),
        ("1E2", "100.0", "100.0"),
        ("1e+2", "100.0", "100.0"),
        ("100e-2", "1.0", "1.0"),
        ("0.1", "0.1", "0.1"),
        ("1e15", "1000000000000000.0", "1000000000000000.0"),
        ("1e16", "1e16", "1e+16"),
        ("1e-5", "1e-5", "0.00001"),
        ("0.00001234", "1.234e-5", "0.00001234"),
        ("1e22", "1e22", "1e+22"),
        ("1e23", "1e23", "1e+23"),
        ("9007199254740993.0", "9007199254740992.0", "9007199254740992.0"),
        ("9007199254740993.00000000000000000001", "9007199254740994.0", "9007199254740994.0"),
        ("0.30000000000000004", "0.30000000000000004", "0.30000000000000004"),
        ("-65.613616999999977", "-65.61361699999998", "-65.61361699999998"),
        ("1.7976931348623157e308", "1.7976931348623157e308", "1.7976931348623157e+308"),
        ("1.7976931348623158e308", "1.7976931348623157e308", "1.7976931348623157e+308"),
        ("2.2250738585072014e-308", "2.2250738585072014e-308", "2.2250738585072014e-308"),
        ("2.2250738585072011e-308", "2.225073858507201e-308", "2.225073858507201e-308"),
        ("5e-324", "5e-324", "5e-324"),
        ("2.4703282292062328e-324", "5e-324", "5e-324"),
        ("2.4703282292062327e-324", "0.0", "0.0"),
        ("1e-400", "0.0", "0.0"),
        ("0.000000000000000000000000000000000000000000000000001", "1e-51", "1e-51"),
        ("123456789012345678901234567890.5", "1.2345678901234568e29", "1.2345678901234568e+29"),
    ] {
        check(text, &format!("f64 {event}"), written);
    }
}

#[test]
fn numbers_beyond_the_double() {
    let hint = "which is beyond the range of a double; pass --numbers exact to keep its digits";
    for text in ["1e309", "-1e400", "1.7976931348623159e308"] {
        refuse(text, 0, &format!("found the number {text}, {hint}"));
    }
    let exact = ReadOptions { exact_numbers: true, ..ReadOptions::default() };
    for text in ["1e400", "-0.10", "1E5", "123.456789012345678901234567890"] {
        let (events, error) = whole(exact, format!("[{text}]").as_bytes());
        assert_eq!((error, events[1].as_str()), (None, format!("Decimal({text:?})").as_str()));
        check_pieces(exact, format!("[{text}, 1]").as_bytes());
    }
    assert_eq!(whole(exact, b"12").0[0], "i64 12");
}

#[test]
fn random_numbers_are_read_and_written_as_std_does() {
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut texts = Vec::new();
    for _ in 0..60_000 {
        // Random bits; with as many digits as a double needs, and fewer; a fraction; many digits.
        let bits = f64::from_bits(random());
        if bits.is_finite() {
            texts.push(format!("{bits:e}"));
            texts.push(format!("{:.*e}", (random() % 25) as usize, bits));
        }
        let (a, b) = (random(), random());
        texts.push(format!("{}.{}", a >> (a % 64), b >> (b % 64)));
        texts.push(format!("-{}.{:0width$}", a % 1000, b >> (b % 64), width = (a >> 58) as usize));
        texts.push(format!("{}e{}", a >> (a % 64), (b % 660) as i64 - 340));
    }
    // Halfway between two doubles, and just next to it.
    for _ in 0..10_000 {
        let low = (1 << 53 | random() >> 11) as u128;
        let half = (low << 1 | 1) << (random() % 60);
        for text in [half - 1, half, half + 1] {
            texts.push(format!("{text}.0"));
            texts.push(format!("{text}e-7"));
        }
    }
    for text in texts {
        let wanted: f64 = text.parse().unwrap();
        if wanted.is_infinite() {
            continue;
        }
        // What follows decides whether the fast path is taken.
        for input in [format!("[{text},                                        1]"), text.clone()] {
            let number =
                events(input.as_bytes()).into_iter().find(|e| e.starts_with("f64")).unwrap();
            assert_eq!(number, format!("f64 {wanted:?}"), "{input}");
        }
        let written = to_vec(&Value::F64(wanted), OnLoss::Refuse).unwrap();
        let written = String::from_utf8(written).unwrap();
        assert!(written.contains(['.', 'e']), "{written} would be read as an integer");
        assert_eq!(written.parse::<f64>().unwrap().to_bits(), wanted.to_bits(), "{written}");
    }
    for _ in 0..20_000 {
        let value = random() as i64 >> (random() % 64);
        check_integer(&value.to_string());
        check_integer(&(random() >> (random() % 64)).to_string());
    }
}

fn check_integer(text: &str) {
    let wanted = match text.parse::<i64>() {
        Ok(value) => format!("i64 {value}"),
        Err(_) => format!("u64 {text}"),
    };
    let input = format!("[{text},                       0]");
    assert_eq!(events(input.as_bytes())[1], wanted);
    assert_eq!(events(text.as_bytes())[0], wanted);
    assert_eq!(to_vec(&build(text.as_bytes()), OnLoss::Refuse).unwrap(), text.as_bytes());
}

#[test]
fn rounded_numbers_are_counted() {
    let options = ReadOptions { count_rounded: true, ..ReadOptions::default() };
    let input = b"[1.10, 0.1, 0.30000000000000000001, 1e2, 9007199254740993.0, 1e-400, 12]";
    let mut reader = Reader::from_slice(Parser::new(options, Limits::default()), input);
    let mut events = Events::default();
    assert!(reader.next(&mut events).unwrap());
    assert_eq!(reader.parser().rounded(), 3);
    let [loss] = events.fidelity.losses() else { panic!("{:?}", events.fidelity) };
    assert_eq!((loss.kind, loss.count), (LossKind::Rounded, 3));
    let shown: Vec<_> =
        loss.examples.iter().map(|e| (e.found.as_str(), e.written.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("0.30000000000000000001", "0.3"),
            ("9007199254740993.0", "9007199254740992.0"),
            ("1e-400", "0.0")
        ]
    );
}

#[test]
fn the_grammar_of_numbers() {
    for text in ["0", "-0", "10", "1.0", "1e1", "1E+1", "-1.5e-10", "0.0"] {
        assert!(is_number(text), "{text}");
    }
    for text in [
        "", "-", "+1", "01", "-01", "1.", ".1", "1e", "1e+", "1.e1", " 1", "1 ", "0x1", "NaN", "1,",
    ] {
        assert!(!is_number(text), "{text}");
    }
}

#[test]
fn strings() {
    for (text, event, written) in [
        (r#""""#, "", r#""""#),
        (r#""a""#, "a", r#""a""#),
        (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t", r#""\"\\/\b\f\n\r\t""#),
        (r#""\u0041\u00e9\u20AC\ud83d\uDE00""#, "Aé€😀", r#""Aé€😀""#),
        (r#""\u0000\u001f\u007f""#, "\0\u{1f}\u{7f}", "\"\\u0000\\u001f\u{7f}\""),
        ("\"é€😀\u{2028}\u{2029}\"", "é€😀\u{2028}\u{2029}", "\"é€😀\u{2028}\u{2029}\""),
        (r#""exactly sixteen!""#, "exactly sixteen!", r#""exactly sixteen!""#),
        (r#""fifteen letters""#, "fifteen letters", r#""fifteen letters""#),
    ] {
        check(text, &format!("{event:?}"), written);
    }
}

#[test]
fn strings_of_every_length_with_something_at_every_place() {
    for length in 0..70 {
        for (raw, escaped) in [
            ("x", "x"),
            ("é", "é"),
            ("\n", "\\n"),
            ("\"", "\\\""),
            ("😀", "😀"),
            ("\u{1}", "\\u0001"),
        ] {
            for place in 0..=length {
                let (head, tail) = ("a".repeat(place), "b".repeat(length - place));
                let text = format!("{head}{raw}{tail}");
                let json = format!("\"{head}{escaped}{tail}\"");
                assert_eq!(events(json.as_bytes())[0], format!("{text:?}"));
                assert_eq!(build(json.as_bytes()), Value::Text(text.clone()));
                assert_eq!(to_vec(&Value::Text(text), OnLoss::Refuse).unwrap(), json.as_bytes());
            }
        }
    }
}

#[test]
fn long_strings_go_through_a_small_buffer() {
    let text = "0123456789\n\"é😀\u{1}".repeat(9_000);
    let value = Value::Array(vec![Value::Text(text.clone()), Value::Text(text)]);
    let expected = write(&value, WriteOptions::default());
    for options in [
        WriteOptions::default(),
        WriteOptions { escape_non_ascii: true, ..WriteOptions::default() },
        WriteOptions { indent: Some(1), ..WriteOptions::default() },
    ] {
        let mut bytes = Vec::new();
        let out = Out::flushing_at(64, StreamOutput::new(&mut bytes), 1 << 20);
        let mut writer = Writer::new(out, options, Fidelity::new(OnLoss::Refuse, Format::Json));
        value.drive(&mut writer).unwrap();
        writer.end_document().unwrap();
        writer.finish().unwrap();
        drop(writer);
        assert_eq!(build(&bytes), value);
        assert!(options != WriteOptions::default() || bytes == expected.as_bytes());
        check_pieces(ReadOptions::default(), &bytes[..2_000]);
    }
}

#[test]
fn lone_surrogates_are_kept() {
    for (text, bytes, written) in [
        (r#""\ud800""#, &b"\xED\xA0\x80"[..], r#""\ud800""#),
        (r#""a\udfffb""#, b"a\xED\xBF\xBFb", r#""a\udfffb""#),
        (r#""\uD83D\uD83D\uDE00\n""#, b"\xED\xA0\xBD\xF0\x9F\x98\x80\n", r#""\ud83d😀\n""#),
        (r#""\udc00\ud800""#, b"\xED\xB0\x80\xED\xA0\x80", r#""\udc00\ud800""#),
        (r#""\ud800A\"""#, b"\xED\xA0\x80A\"", r#""\ud800A\"""#),
    ] {
        check(text, &format!("{:?}", Ext::Surrogates(bytes)), written);
        let map = format!("{{{text}:1}}");
        let key = Value::Surrogates(bytes.to_vec());
        assert_eq!(build(map.as_bytes()), Value::Map(vec![(key, Value::Int(1))]));
        check_pieces(ReadOptions::default(), map.as_bytes());
        let again = to_vec(&build(map.as_bytes()), OnLoss::Refuse).unwrap();
        assert_eq!(again, format!("{{{written}:1}}").as_bytes());
    }
    // Two halves that would come back as one character, and bytes that are not surrogates.
    for bytes in [&b"\xED\xA0\xBD\xED\xB8\x80"[..], b"\xFF"] {
        let error = to_vec(&Value::Surrogates(bytes.to_vec()), OnLoss::Refuse).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
    }
}

#[test]
fn containers() {
    let text = r#" { "a" : [ ] , "" : { } , "b":[[1,[2]],{"c":null}],"a":true , "a" : false } "#;
    let events = events(text.as_bytes());
    let shown = r#"{ key "a" [ ] key "" { } key "b" [ [ i64 1 [ i64 2 ] ] { key "c" null } ] key "a" true key "a" false } document"#;
    assert_eq!(events.join(" "), shown);
    check_pieces(ReadOptions::default(), text.as_bytes());
    let value = build(text.as_bytes());
    let compact = r#"{"a":[],"":{},"b":[[1,[2]],{"c":null}],"a":true,"a":false}"#;
    assert_eq!(write(&value, WriteOptions::default()), format!("{compact}\n"));
    let pretty = "{\n  \"a\": [],\n  \"\": {},\n  \"b\": [\n    [\n      1,\n      [\n        2\n      ]\n    ],\n    {\n      \"c\": null\n    }\n  ],\n  \"a\": true,\n  \"a\": false\n}\n";
    let options = WriteOptions { indent: Some(2), ..WriteOptions::default() };
    assert_eq!(write(&value, options), pretty);
    assert_eq!(write(&Value::Array(vec![]), options), "[]\n");
    assert_eq!(write(&Value::Int(1), options), "1\n");
}

#[test]
fn white_space() {
    for space in ["", " ", "\n", "\r\n", "\t", "  \n\t\r  ", &" ".repeat(15), &"\n ".repeat(40)] {
        let text =
            ["", "{", "\"a\"", ":", "[", "1", ",", "true", "]", ",", "\"b\"", ":", "0", "}", ""]
                .join(space);
        assert_eq!(
            events(text.as_bytes()).join(" "),
            r#"{ key "a" [ i64 1 true ] key "b" i64 0 } document"#
        );
        check_pieces(ReadOptions::default(), text.as_bytes());
    }
}

#[test]
fn refusals() {
    refuse("", 0, "found the end of the input, expected a value");
    refuse("  ", 2, "found the end of the input, expected a value");
    refuse("[1", 2, "found the end of the input, expected `,` or `]`");
    refuse("{\"a\"", 4, "found the end of the input, expected `:`");
    refuse("{\"a\":1,", 7, "found the end of the input, expected a key in double quotes");
    refuse("\"abc", 4, "found the end of the input inside a string, expected `\"`");
    refuse("\"ab\\", 4, "found the end of the input inside a string, expected `\"`");
    refuse("[tru", 4, "found the end of the input, expected the rest of `true`");
    refuse("-", 1, "found the end of the input inside a number, expected a digit");
    refuse(
        "1.",
        2,
        "found the end of the input inside a number, expected a digit after the decimal point",
    );
    refuse("[1 2]", 3, "found `2`, expected `,` or `]`");
    refuse("{\"a\" 1}", 5, "found `1`, expected `:`");
    refuse("{a:1}", 1, "found `a`, expected a key in double quotes or `}`");
    refuse("[1}", 2, "found `}`, expected `,` or `]`");
    refuse("{\"a\":1]", 6, "found `]`, expected `,` or `}`");
    refuse("[,1]", 1, "found `,`, expected a value or `]`");
    refuse("]", 0, "found `]`, expected a value");
    refuse(
        "[1,]",
        3,
        "found `]` after a comma, expected a value; pass --json-trailing-commas to accept it",
    );
    refuse(
        "{\"a\":1,}",
        7,
        "found `}` after a comma, expected a key in double quotes; pass --json-trailing-commas to accept it",
    );
    refuse(
        "[1] 2",
        4,
        "found `2` after the document, expected the end of the input; pass --from ndjson if every line holds a document",
    );
    refuse("1 ]", 2, "found `]` after the document, expected the end of the input");
    refuse(
        "// x\n1",
        0,
        "found `/`, expected a value; pass --json-comments to accept // and /* */",
    );
    refuse(
        "[NaN]",
        1,
        "found `NaN`, expected a value or `]`; pass --json-allow-nan to accept NaN, Infinity and -Infinity",
    );
    refuse(
        "[-Infinity]",
        2,
        "found `Infinity`, expected a digit; pass --json-allow-nan to accept NaN, Infinity and -Infinity",
    );
    refuse("[None]", 1, "found `None`, expected a value or `]`; JSON writes `null`");
    refuse("[True]", 1, "found `True`, expected a value or `]`; JSON writes `true`");
    refuse("[truth]", 1, "found `truth`, expected `true`");
    refuse("[nul]", 1, "found `nul`, expected `null`");
    refuse("['a']", 1, "found `'`, expected a value or `]`; JSON strings need double quotes");
    refuse(
        "{“a”:1}",
        1,
        "found `“` (U+201C), expected a key in double quotes or `}`; JSON strings need straight double quotes",
    );
    refuse(
        "[+1]",
        1,
        "found `+`, expected a value or `]`; JSON writes numbers without a plus sign",
    );
    refuse(
        "[.5]",
        1,
        "found `.`, expected a value or `]`; JSON requires a digit before the decimal point",
    );
    refuse(
        "[01]",
        2,
        "found a digit after a leading zero, expected a number without leading zeros",
    );
    refuse("[1.e5]", 3, "found `e5`, expected a digit after the decimal point");
    refuse("[1ex]", 3, "found `x`, expected a digit of the exponent");
    refuse("[1x]", 2, "found `x`, expected `,` or `]`");
    refuse("\"a\nb\"", 2, "found the control character 0x0A in a string, expected `\\n`");
    refuse("\"\u{1}\"", 1, "found the control character 0x01 in a string, expected `\\u0001`");
    refuse(
        "\"\\x41\"",
        1,
        "found `\\x` in a string, expected one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u",
    );
    refuse("\"\\u12G4\"", 5, "found `G`, expected a hexadecimal digit of `\\u`");
    refuse("[\u{1}]", 1, "found the control character 0x01, expected a value or `]`");
    refuse("[\u{a0}1]", 1, "found `\\u{a0}` (U+00A0), expected a value or `]`");
    refuse(b"[\xFF]", 1, "found byte 0xFF, which is not UTF-8, expected a value or `]`");
    let utf8 = "expected UTF-8 (RFC 8259 §8.1)";
    let latin = "convert it first, for example: iconv -f LATIN1 -t UTF-8";
    refuse(b"\"caf\xE9\"", 4, &format!("found byte 0xE9 in a string, {utf8}; {latin}"));
    refuse(b"[\"\xC3\xA9\xC3\", 1]", 4, &format!("found byte 0xC3 in a string, {utf8}; {latin}"));
    refuse(b"\"\xE9 \\x\"", 1, &format!("found byte 0xE9 in a string, {utf8}; {latin}"));
    let utf16 = "found UTF-16 or UTF-32, expected UTF-8 (RFC 8259 §8.1); convert it first: iconv -f UTF-16 -t UTF-8";
    for input in [&b"\xFF\xFE[\0]\0"[..], b"\xFE\xFF\0[\0]", b"[\0]\0", b"\0[\0]"] {
        refuse(input, 0, utf16);
    }
    refuse(b"\xEF\xBB\xBF\xEF\xBB\xBF1", 3, "found `\\u{feff}` (U+FEFF), expected a value");
}

#[test]
fn long_strings_are_read_to_their_end_before_they_are_copied() {
    // Escapes and pairs at every place around the bounds, and none at all.
    for (pattern, value) in [(r"x\n\u00e9\ud834\udd1e", "x\n\u{E9}\u{1D11E}"), ("xyz", "xyz")] {
        let text = format!("\"\\t{}", pattern.repeat(200_000));
        let value = format!("\t{}", value.repeat(200_000));
        let whole = format!("{text}\"");
        for reader in [
            Reader::from_slice(Parser::default(), whole.as_bytes()),
            Reader::from_read(Parser::default(), whole.as_bytes()),
        ] {
            let (events, error) = run(reader);
            assert_eq!(error, None);
            assert!(events == [format!("{value:?}"), "document".to_owned()]);
        }
        for (broken, at) in [(format!("{text}\\q\""), text.len()), (text.clone(), text.len())] {
            let mut reader = Reader::from_slice(Parser::default(), broken.as_bytes());
            let error = reader.next(&mut Events::default()).unwrap_err();
            assert_eq!(error.offset(), Some(at as u64));
        }
    }
}
