//! The rules of JSON, table by table.

use std::io::Read;
use std::path::PathBuf;

use super::{Parser, ReadOptions, Reader, WriteOptions, Writer, is_number, to_vec};
use crate::event::{BigInt, Ext, Sink, Source, Writer as _};
use crate::fidelity::{Fidelity, LossKind};
use crate::out::Out;
use crate::output::StreamOutput;
use crate::value::{Builder, Value};
use crate::{Error, ErrorKind, Format, Limits, OnLoss, Result};

/// Writes down every event.
pub(super) struct Events {
    pub(super) list: Vec<String>,
    fidelity: Fidelity,
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
        self.add(crate::number::big_int_text(v))
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        self.add(format!("{v:?}"))
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

/// Everything that comes of an input: the events of all documents, and the error that ended it.
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

fn whole(options: ReadOptions, input: &[u8]) -> (Vec<String>, Option<String>) {
    run(Reader::from_slice(Parser::new(options, Limits::default()), input))
}

/// Gives its bytes in two parts, or one at a time.
struct Pieces<'a> {
    rest: &'a [u8],
    first: usize,
    then: usize,
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

fn pieces(
    options: ReadOptions,
    input: &[u8],
    first: usize,
    then: usize,
) -> (Vec<String>, Option<String>) {
    let parser = Parser::new(options, Limits::default());
    run(Reader::from_read(parser, Pieces { rest: input, first, then }))
}

/// The same events and the same error, however the input comes.
#[track_caller]
fn check_pieces(options: ReadOptions, input: &[u8]) {
    let wanted = whole(options, input);
    let shown = String::from_utf8_lossy(&input[..input.len().min(80)]);
    assert_eq!(pieces(options, input, 1, 1), wanted, "byte by byte: {shown}");
    if input.len() < 3000 {
        for cut in 1..input.len() {
            assert_eq!(pieces(options, input, cut, usize::MAX), wanted, "cut at {cut}: {shown}");
        }
    }
}

fn data(path: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("REGAUGE_DATA") {
        Some(root) => PathBuf::from(root),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    let path = root.join(path);
    if !path.exists() {
        println!("skipped: no {} (set REGAUGE_DATA)", path.display());
        return None;
    }
    Some(path)
}

fn files(path: &str) -> Vec<(String, Vec<u8>)> {
    let Some(path) = data(path) else { return Vec::new() };
    let mut files: Vec<_> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn json_test_suite() {
    for (name, input) in files("conformance/JSONTestSuite/test_parsing") {
        let (_, error) = whole(ReadOptions::default(), &input);
        match name.as_bytes()[0] {
            b'y' => assert_eq!(error, None, "{name}"),
            b'n' => assert!(error.is_some(), "{name} was accepted"),
            _ => println!("{name}: {error:?}"),
        }
        if input.len() < 3000 {
            check_pieces(ReadOptions::default(), &input);
        }
    }
}

fn build(input: &[u8]) -> Value {
    let mut builder = Builder::new(&Limits::NONE);
    let mut reader = Reader::from_slice(Parser::new(ReadOptions::default(), Limits::NONE), input);
    assert!(reader.next(&mut builder).unwrap());
    assert!(!reader.next(&mut builder).unwrap());
    builder.take().unwrap()
}

#[test]
fn real_files_come_back() {
    for (name, input) in files("json").into_iter().chain(files("json/small")) {
        if !name.ends_with(".json") {
            continue;
        }
        let value = build(&input);
        let text = to_vec(&value, OnLoss::Refuse).unwrap();
        assert_eq!(build(&text), value, "{name}");
        if input.len() < 300_000 {
            check_pieces(ReadOptions::default(), &input);
        }
    }
}
