//! The rules of JSON, table by table.

mod framing;
mod numbers;
mod refusals;
mod strings;
mod suites;

use std::io::Read;

use super::{Parser, ReadOptions, Reader, WriteOptions, Writer, to_vec};
use crate::bytes::buffer::Out;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, Sink, Source, Writer as _};
use crate::policy::fidelity::Fidelity;
use crate::policy::tree::Builder;
use crate::{Format, Limits, OnLoss, Result};

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
    let text = match error.hint_for(&crate::model::hint::Surface::COMMAND) {
        Some(hint) => format!("{}; {hint}", error.message()),
        None => error.message().to_owned(),
    };
    assert_eq!(text, message, "{}", input.escape_ascii());
    assert_eq!(error.offset(), Some(offset), "{}", input.escape_ascii());
    check_pieces(options, input);
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
    let spaced = r#"{"a": [], "": {}, "b": [[1, [2]], {"c": null}], "a": true, "a": false}"#;
    let options = WriteOptions { spaced: true, ..WriteOptions::default() };
    assert_eq!(write(&value, options), format!("{spaced}\n"));
    let odd = build(br#"{"\ud800":"\ud800","a":[1.5,"b",12345678901234567890123,"\udfff"]}"#);
    let text = r#"{"\ud800": "\ud800", "a": [1.5, "b", 12345678901234567890123, "\udfff"]}"#;
    assert_eq!(write(&odd, options), format!("{text}\n"));
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
