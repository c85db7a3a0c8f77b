//! Input in pieces, truncated and random input: the same events, the same error, no panic.

use regauge_testdata::Random;

use super::*;
use crate::Error;
use crate::policy::event::recorder::Pieces;

/// Random values that MessagePack holds.
pub(super) struct Values(pub(super) Random);

impl Values {
    pub(super) fn new(seed: u64) -> Values {
        Values(Random::new(seed))
    }

    /// Returns a value of any type, some of them at the boundaries of widths.
    pub(super) fn value(&mut self, depth: u32) -> Value {
        let kinds = if depth == 0 { 14 } else { 20 };
        match self.0.below(kinds) {
            0 => Value::Null,
            1 => Value::Bool(self.0.below(2) == 0),
            2 | 3 => Value::Int(self.0.skewed(63) as i64),
            4 => Value::Int(!(self.0.skewed(63) as i64)),
            5 => Value::UInt(self.0.bits() | 1 << 63),
            6 => Value::F64(self.0.bits() as i32 as f64 / 8.0),
            7 => Value::F32(self.0.bits() as i16 as f32 / 8.0),
            8 => Value::Text("a".repeat(self.0.skewed(9) as usize)),
            9 => Value::Text("né€𝄞".repeat(self.0.skewed(5) as usize)),
            10 => Value::Bytes(self.0.bytes(300)),
            11 => time(self.0.skewed(40) as i64 - 5, self.0.below(1_000_000_000) as u32),
            12 => Value::MsgpackExt(self.0.below(100) as i8, self.0.bytes(20)),
            13 => Value::BrokenText([&self.0.bytes(50)[..], b"\xFF"].concat()),
            14..17 => {
                let count =
                    if self.0.below(8) == 0 { 14 + self.0.below(5) } else { self.0.below(5) };
                Value::Array((0..count).map(|_| self.value(depth - 1)).collect())
            }
            _ => {
                let count =
                    if self.0.below(8) == 0 { 14 + self.0.below(5) } else { self.0.below(5) };
                let key = |random: &mut Values| match random.0.below(6) {
                    0 => random.value(depth - 1),
                    _ => Value::Text(format!("key{}", random.0.below(30))),
                };
                Value::Map((0..count).map(|_| (key(self), self.value(depth - 1))).collect())
            }
        }
    }
}

fn run(mut reader: Reader<'_>) -> (Vec<String>, Option<Error>) {
    let mut events = Events::new();
    loop {
        match reader.next(&mut events) {
            Ok(true) => events.lines.push("document".to_owned()),
            Ok(false) => return (events.lines, None),
            Err(error) => return (events.lines, Some(error)),
        }
    }
}

fn whole(bytes: &[u8]) -> (Vec<String>, Option<Error>) {
    run(Reader::from_slice(Parser::default(), bytes))
}

fn in_pieces(bytes: &[u8], size: usize) -> (Vec<String>, Option<Error>) {
    run(Reader::from_read(Parser::default(), Pieces(bytes, size)))
}

/// Checks that whole input and pieces give the same result. The one difference: if the input is too
/// short for what a header declares, a stream yields more events before it fails.
#[track_caller]
fn check_pieces(bytes: &[u8], size: usize) {
    let (expected, error) = whole(bytes);
    let (events, other) = in_pieces(bytes, size);
    match (error, other) {
        (None, None) => assert_eq!(events, expected),
        (Some(error), Some(other)) => {
            assert_eq!(error.kind(), other.kind(), "{error} / {other}");
            if error.kind() == ErrorKind::Truncated {
                assert!(events.starts_with(&expected));
                assert!(error.offset() <= other.offset(), "{error} / {other}");
            } else {
                assert_eq!(error.to_string(), other.to_string());
                assert!(events.starts_with(&expected));
            }
        }
        (error, other) => panic!("whole {error:?}, in pieces {other:?}"),
    }
}

/// Returns one token of every kind.
fn everything() -> Vec<u8> {
    let mut bytes =
        hex("01 9a c0 c2 c3 05 ff ccc8 cd1000 ce10000000 cf1000000000000000 cfffffffffffffffff \
         99 d080 d18000 d280000000 d38000000000000000 ca3fc00000 cb3ff8000000000000 a0 a3616263 \
         a1ff 8a a161 01 05 a162 c0 90 91 02 c0 81 80 03 04 c3 d903 646566 05 a1ff 06 \
         c40101 07 d6ff00000001 08 a3c3a978 da0001 41 da0002 c3a9 c403 000102 c500020304 \
         97 d401aa d5020102 d6ff00000005 d7ff0000000400000000 c70cff0000000000000000000000ff \
         c70309010203 c80004ff000000ff dd00000001 df00000001 a0 db00000002 6869 80 90");
    bytes.extend([&[0xD9, 200][..], "é".repeat(100).as_bytes()].concat());
    bytes
}

#[test]
fn everything_whole_and_in_pieces() {
    let bytes = everything();
    let (events, error) = whole(&bytes);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(events.iter().filter(|line| *line == "document").count(), 13);
    for size in [1, 2, 3, 5, 7, 64, 1000] {
        check_pieces(&bytes, size);
    }
}

#[test]
fn cut_at_every_byte() {
    let bytes = everything();
    let (all, _) = whole(&bytes);
    for end in 0..bytes.len() {
        let cut = &bytes[..end];
        let (events, error) = whole(cut);
        assert!(all.starts_with(&events), "invented events in the first {end} bytes");
        let at_boundary = documents_end(cut, usize::MAX) == end;
        match error {
            None => assert!(at_boundary, "{end}"),
            Some(error) => {
                assert!(!at_boundary);
                assert_eq!(error.kind(), ErrorKind::Truncated, "{error}");
                let (_, error) = in_pieces(cut, 1);
                assert_eq!(error.unwrap().kind(), ErrorKind::Truncated);
            }
        }
        check_pieces(cut, 1);
        check_pieces(cut, 4);
    }
}

#[test]
fn random_documents_in_pieces() {
    let mut random = Values::new(1);
    for round in 0..400 {
        let mut bytes = Vec::new();
        for _ in 0..random.0.below(4) {
            bytes.extend(to_vec(&random.value(4), OnLoss::Refuse).unwrap());
        }
        let (_, error) = whole(&bytes);
        assert!(error.is_none(), "round {round}: {error:?}");
        check_pieces(&bytes, 1 + random.0.below(40));
    }
}

#[test]
fn random_documents_come_back() {
    let mut random = Values::new(2);
    for _ in 0..2000 {
        let value = random.value(4);
        let bytes = to_vec(&value, OnLoss::Refuse).unwrap();
        let read = from_slice(&bytes).unwrap();
        assert_eq!(read, value);
        assert_eq!(documents_end(&bytes, usize::MAX), bytes.len());
    }
}

#[test]
fn flipped_bytes_never_panic() {
    let mut random = Values::new(3);
    let mut failures = 0;
    for _ in 0..4000 {
        let mut bytes = to_vec(&random.value(4), OnLoss::Refuse).unwrap();
        for _ in 0..1 + random.0.below(3) {
            let place = random.0.below(bytes.len());
            bytes[place] = random.0.bits() as u8;
        }
        failures += usize::from(whole(&bytes).1.is_some());
        check_pieces(&bytes, 1 + random.0.below(9));
    }
    assert!(failures > 500, "{failures}");
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Values::new(4);
    for _ in 0..20_000 {
        let bytes = random.0.bytes(40);
        check_pieces(&bytes, 1 + random.0.below(5));
        // What can be read can be written, and then reads back the same.
        if let Ok(value) = from_slice(&bytes) {
            let written = to_vec(&value, OnLoss::Refuse).unwrap();
            let again = from_slice(&written).unwrap();
            assert_eq!(to_vec(&again, OnLoss::Refuse).unwrap(), written);
            assert!(written.len() <= bytes.len());
        }
    }
}

#[test]
fn a_splitter_finds_every_end_in_pieces() {
    let mut random = Values::new(5);
    let documents: Vec<Vec<u8>> =
        (0..200).map(|_| to_vec(&random.value(4), OnLoss::Refuse).unwrap()).collect();
    let stream = documents.concat();
    let mut ends = vec![0];
    for document in &documents {
        ends.push(ends.last().unwrap() + document.len());
    }
    for size in [1, 3, 100, 5000] {
        let mut splitter = Splitter::new();
        let (mut start, mut found) = (0, vec![0]);
        let mut filled = 0;
        while start < stream.len() {
            filled = (filled + size).min(stream.len());
            loop {
                let end = splitter.documents_end(&stream[start..filled], 0);
                if end == 0 {
                    break;
                }
                start += end;
                found.push(start);
            }
        }
        assert_eq!(found, ends, "in pieces of {size}");
    }
}
