//! Input in pieces, truncated and random input: the same values, the same error, no panic.

use regauge_testdata::Random;

use super::*;
use crate::policy::event::recorder::Pieces;

/// Random values that BSON holds.
pub(super) struct Values(pub(super) Random);

impl Values {
    pub(super) fn new(seed: u64) -> Values {
        Values(Random::new(seed))
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.0.bits() as u8)
    }

    /// Returns a value of any type that BSON holds.
    fn value(&mut self, depth: u32) -> Value {
        let kinds = if depth == 0 { 20 } else { 27 };
        match self.0.below(kinds) {
            0 => Value::Null,
            1 => Value::Bool(self.0.below(2) == 0),
            2 => Value::Int(i64::from(self.0.bits() as i32)),
            3 => Value::Int(self.0.bits() as i64),
            4 => Value::F64(self.0.bits() as i32 as f64 / 8.0),
            5 | 6 => text(&"a".repeat(self.0.below(70))),
            7 => text(&"né€𝄞".repeat(self.0.below(20))),
            8 => Value::Bytes(self.0.bytes(300)),
            9 => time(self.0.bits() as i64 >> 12, self.0.below(1000) as u32 * 1_000_000),
            10 => ext(Ext::ObjectId(self.array())),
            11 => ext(Ext::Uuid(self.array())),
            12 => ext(Ext::Decimal128(self.array())),
            13 => ext(Ext::Binary(1 + self.0.below(3) as u8, &self.0.bytes(30))),
            14 => ext(Ext::Regex { pattern: "a.*b", options: "imx" }),
            15 => ext(Ext::BsonTimestamp { seconds: self.0.bits() as u32, increment: 7 }),
            16 => ext([Ext::MinKey, Ext::MaxKey, Ext::Undefined][self.0.below(3)]),
            17 => ext(Ext::Code("f()")),
            18 => ext(Ext::Symbol("name")),
            19 => ext(Ext::DbPointer { namespace: "a.b", id: self.array() }),
            20 => scope("x", self.document(depth - 1)),
            21..24 => {
                let count =
                    if self.0.below(8) == 0 { 95 + self.0.below(10) } else { self.0.below(5) };
                Value::Array((0..count).map(|_| self.value(depth - 1)).collect())
            }
            _ => self.document(depth - 1),
        }
    }

    /// Returns a document: a map whose keys are text.
    pub(super) fn document(&mut self, depth: u32) -> Value {
        let count = self.0.below(6);
        let key = |random: &mut Values| match random.0.below(8) {
            0 => text(&"long".repeat(random.0.below(20))),
            1 => text("schlüssel"),
            _ => text(&format!("key{}", random.0.below(30))),
        };
        Value::Map((0..count).map(|_| (key(self), self.value(depth))).collect())
    }
}

/// Returns the documents up to the first error.
fn run(mut reader: Reader<'_>) -> (Vec<Value>, Option<Error>) {
    let mut values = Vec::new();
    loop {
        let mut builder = Builder::new(&Limits::default());
        match reader.next(&mut builder) {
            Ok(true) => values.push(builder.take().unwrap()),
            Ok(false) => return (values, None),
            Err(error) => return (values, Some(error)),
        }
    }
}

fn whole(bytes: &[u8]) -> (Vec<Value>, Option<Error>) {
    run(Reader::from_slice(Parser::default(), bytes))
}

#[track_caller]
fn check_pieces(bytes: &[u8], size: usize) {
    let (expected, error) = whole(bytes);
    let (values, other) = run(Reader::from_read(Parser::default(), Pieces(bytes, size)));
    // NaN is not equal to itself, but its text is.
    assert!(format!("{values:?}") == format!("{expected:?}"), "in pieces of {size}");
    let (error, other) = (error.map(|e| e.to_string()), other.map(|e| e.to_string()));
    assert_eq!(error, other);
}

#[test]
fn random_documents_come_back() {
    let mut random = Values::new(2);
    for round in 0..3000 {
        let value = random.document(4);
        let bytes = to_vec(&value, OnLoss::Refuse).unwrap();
        assert!(from_slice(&bytes).unwrap() == value, "round {round}");
        if round % 8 == 0 {
            check_pieces(&bytes, 1 + random.0.below(40));
        }
    }
}

#[test]
fn cut_at_every_byte() {
    let mut random = Values::new(5);
    let bytes: Vec<u8> =
        (0..30).flat_map(|_| to_vec(&random.document(3), OnLoss::Refuse).unwrap()).collect();
    let (all, error) = whole(&bytes);
    assert!(error.is_none() && all.len() == 30);
    for end in 0..bytes.len().min(3000) {
        let cut = &bytes[..end];
        let (values, error) = whole(cut);
        assert!(all.starts_with(&values), "invented values in the first {end} bytes");
        assert!(error.is_none_or(|error| error.kind() == ErrorKind::Truncated), "{end}");
        check_pieces(cut, 1 + end % 7);
    }
}

#[test]
fn flipped_bytes_never_panic() {
    let mut random = Values::new(3);
    let mut failures = 0;
    for _ in 0..6000 {
        let mut bytes = to_vec(&random.document(4), OnLoss::Refuse).unwrap();
        for _ in 0..1 + random.0.below(3) {
            let place = random.0.below(bytes.len());
            bytes[place] = random.0.bits() as u8;
        }
        failures += usize::from(whole(&bytes).1.is_some());
        check_pieces(&bytes, 1 + random.0.below(9));
    }
    assert!(failures > 1000, "{failures}");
}

#[test]
fn random_elements_never_panic() {
    let mut random = Values::new(4);
    let mut read = 0;
    for _ in 0..30_000 {
        let mut body = vec![];
        for _ in 0..random.0.below(3) {
            body.extend([1 + random.0.below(20) as u8, b'a', 0]);
            body.extend([random.0.below(8) as u8, 0, 0, 0]);
            body.extend(random.0.bytes(12));
        }
        let mut bytes = (body.len() as u32 + 5).to_le_bytes().to_vec();
        bytes.extend(body);
        bytes.push(0);
        check_pieces(&bytes, 1 + random.0.below(5));
        let Ok(value) = from_slice(&bytes) else { continue };
        let Ok(written) = to_vec(&value, OnLoss::Refuse) else { continue };
        assert_eq!(format!("{:?}", from_slice(&written).unwrap()), format!("{value:?}"));
        read += 1;
    }
    assert!(read > 300, "{read}");
}

/// Checks that a document with a correct length is skipped if it is broken inside.
#[test]
fn broken_documents_are_passed_over() {
    let good = to_vec(&Value::Map(vec![(text("a"), Value::Int(1))]), OnLoss::Refuse).unwrap();
    let mut bad = good.clone();
    bad[4] = 0x55;
    let mut shortened = good.clone();
    shortened[0] = 3;
    let bytes = [&good[..], &bad, &good].concat();
    let mut options = crate::Options::new(Format::Bson, Format::Ndjson);
    options.skip_bad = true;
    for stream in [false, true] {
        let mut output = Vec::new();
        let mut errors = Vec::new();
        let input = match stream {
            false => crate::convert::Input::Bytes(&bytes),
            true => {
                let pieces = Pieces(&bytes, 5);
                crate::convert::Input::Once(Box::new(pieces))
            }
        };
        let summary = crate::convert(
            input,
            crate::bytes::output::StreamOutput::new(&mut output),
            &options,
            &mut |bad_one| {
                assert_eq!(bad_one.bytes, bad);
                errors.push(bad_one.error.unwrap().to_string());
                Ok(())
            },
        )
        .unwrap();
        assert_eq!((summary.documents, summary.bad_records), (2, 1));
        assert_eq!(output, b"{\"a\":1}\n{\"a\":1}\n");
        assert!(errors[0].starts_with("bson: record 2, byte 16"), "{errors:?}");
    }
    // If the length itself is broken, there is no place to continue from.
    let bytes = [&good[..], &shortened, &good].concat();
    let mut output = Vec::new();
    let output = crate::bytes::output::StreamOutput::new(&mut output);
    let input = crate::convert::Input::Bytes(&bytes);
    assert!(crate::convert(input, output, &options, &mut |_| Ok(())).is_err());
}

#[test]
fn a_long_name_in_pieces_is_sought_once() {
    let name = "n".repeat(3 << 20);
    let bytes = to_vec(&Value::Map(vec![(text(&name), Value::Null)]), OnLoss::Refuse).unwrap();
    check_pieces(&bytes, 100);
    let pattern = ext(Ext::Regex { pattern: &name, options: "i" });
    let bytes = to_vec(&Value::Map(vec![(text("a"), pattern)]), OnLoss::Refuse).unwrap();
    check_pieces(&bytes, 100);
}
