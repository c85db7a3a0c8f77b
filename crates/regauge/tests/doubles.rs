//! BSON and MessagePack emit arrays of two or three doubles as one event. They must read as they
//! would value by value: in any pieces, cut anywhere, and at the limit on depth.

use std::io::Read;

use regauge::reader::{Parse, Reader};
use regauge::tree::Builder;
use regauge::{Limits, OnLoss, Source, Value, bson, msgpack};

/// Delivers one byte at a time, so that no array is complete in the window when it begins.
struct Drip<'a>(&'a [u8]);

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
        (buffer[0], self.0) = (*first, rest);
        Ok(1)
    }
}

/// Returns the value or the error as text, because NaN is not equal to itself.
fn outcome<P: Parse>(mut reader: Reader<'_, P>) -> String {
    let mut builder = Builder::new(&Limits::default());
    match reader.next(&mut builder) {
        Ok(_) => format!("{:?} up to {}", builder.take(), reader.offset()),
        Err(error) => error.to_string(),
    }
}

fn documents() -> Vec<Value> {
    let numbers = [0.5, -1e300, f64::NAN, f64::INFINITY, 0.0, -0.0];
    let mut lists = Vec::new();
    for count in 0..6 {
        for start in 0..numbers.len() {
            let list = numbers.iter().cycle().skip(start).take(count);
            lists.push(Value::Array(list.map(|v| Value::F64(*v)).collect()));
        }
    }
    lists.push(Value::Array(vec![Value::F64(1.5), Value::Int(1)]));
    lists.push(Value::Array(vec![Value::Null, Value::F64(1.5)]));
    let map = |value: Value| Value::Map(vec![(Value::Text("a".to_owned()), value)]);
    let mut documents: Vec<_> = lists.iter().cloned().map(map).collect();
    documents.push(map(Value::Array(lists)));
    documents
}

/// Reads whole and byte by byte, cut at every length. With all bytes of MessagePack at hand, the
/// reader notices missing ones sooner, so the messages may differ.
fn check<P: Parse>(parser: impl Fn() -> P, bytes: &[u8], same_message: bool) {
    for end in (0..=bytes.len()).rev().take(80) {
        let whole = outcome(Reader::from_slice(parser(), &bytes[..end]));
        let pieces = outcome(Reader::from_read(parser(), Drip(&bytes[..end])));
        if same_message || end == bytes.len() {
            assert_eq!(whole, pieces, "{}", bytes[..end].escape_ascii());
        }
        assert_eq!(whole.starts_with("Some"), pieces.starts_with("Some"));
    }
}

#[test]
fn in_any_pieces() {
    for document in documents() {
        let bytes = msgpack::to_vec(&document, OnLoss::Refuse).unwrap();
        check(msgpack::Parser::default, &bytes, false);
        assert_eq!(format!("{:?}", msgpack::from_slice(&bytes).unwrap()), format!("{document:?}"));
        let bytes = bson::to_vec(&document, OnLoss::Refuse).unwrap();
        check(bson::Parser::default, &bytes, true);
        assert_eq!(format!("{:?}", bson::from_slice(&bytes).unwrap()), format!("{document:?}"));
        // A name other than the index, or a wrong byte, anywhere.
        for at in 4..bytes.len().min(60) {
            for byte in [0, 1, b'0', b'7', 0xFF] {
                let mut other = bytes.clone();
                other[at] = byte;
                let whole = outcome(Reader::from_slice(bson::Parser::default(), &other));
                let pieces = outcome(Reader::from_read(bson::Parser::default(), Drip(&other)));
                assert_eq!(whole, pieces, "{}", other.escape_ascii());
            }
        }
    }
}

#[test]
fn at_the_limit_on_depth() {
    let nested = |depth: usize, list: Value| {
        (0..depth).fold(list, |value, _| Value::Map(vec![(Value::Text("a".to_owned()), value)]))
    };
    let doubles = Value::Array(vec![Value::F64(0.5), Value::F64(0.25)]);
    let others = Value::Array(vec![Value::F64(0.5), Value::Bool(true)]);
    let mut refused = 0;
    for depth in 1..6 {
        for limit in 1..8 {
            let mut limits = Limits::default();
            limits.depth = limit;
            let is_read = |list: &Value| {
                let value = nested(depth, list.clone());
                let bytes = bson::to_vec(&value, OnLoss::Refuse).unwrap();
                let parser = bson::Parser::new(bson::Options::default(), limits);
                let bson = outcome(Reader::from_slice(parser, &bytes)).starts_with("Some");
                let bytes = msgpack::to_vec(&value, OnLoss::Refuse).unwrap();
                let parser = msgpack::Parser::new(limits);
                [bson, outcome(Reader::from_slice(parser, &bytes)).starts_with("Some")]
            };
            assert_eq!(is_read(&doubles), is_read(&others), "{depth} {limit}");
            refused += usize::from(is_read(&doubles) == [false, false]);
        }
    }
    assert!(refused > 5);
}
