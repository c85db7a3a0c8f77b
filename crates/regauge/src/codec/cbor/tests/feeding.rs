//! Bytes in pieces, bytes cut off, random bytes: the same events, the same error, no panic.

use regauge_testdata::Random;

use super::*;
use crate::policy::event::recorder::Pieces;

/// Random values that CBOR holds.
pub(super) struct Values(pub(super) Random);

impl Values {
    pub(super) fn new(seed: u64) -> Values {
        Values(Random::new(seed))
    }

    /// Returns a value of any type that CBOR holds, some of them at width boundaries.
    pub(super) fn value(&mut self, depth: u32) -> Value {
        let kinds = if depth == 0 { 20 } else { 30 };
        match self.0.below(kinds) {
            0 => Value::Null,
            1 => Value::Bool(self.0.below(2) == 0),
            2 | 3 => Value::Int(self.0.skewed(63) as i64),
            4 => Value::Int(!(self.0.skewed(63) as i64)),
            5 => Value::UInt(self.0.bits() | 1 << 63),
            6 => Value::F64(self.0.bits() as i32 as f64 / 8.0),
            7 => Value::F32(self.0.bits() as i16 as f32 / 8.0),
            8 | 9 => text(&"a".repeat(self.0.skewed(9) as usize)),
            10 => text(&"né€𝄞".repeat(self.0.skewed(5) as usize)),
            11 => Value::Bytes(self.0.bytes(300)),
            12 => time(self.0.skewed(40) as i64 - 5, self.0.below(1_000_000_000) as u32),
            13 => time(self.0.bits() as i64, self.0.below(512) as u32 * 1_953_125),
            14 => {
                let mut magnitude = self.0.bytes(12);
                magnitude.extend([1; 9]);
                big(self.0.below(2) == 0, &magnitude)
            }
            15 => Value::Decimal(format!("{}.{}", self.0.bits() as i32, self.0.below(1000))),
            16 => ext([Ext::Undefined, Ext::Simple(3), Ext::Simple(99)][self.0.below(3)]),
            17 => ext(Ext::Uuid(std::array::from_fn(|_| self.0.bits() as u8))),
            18 => ext(Ext::Symbol("name")),
            19 => ext(Ext::Duration { seconds: self.0.bits() as i64, nanoseconds: 7 }),
            20..23 => tagged(1 << self.0.below(64) | 1 << 12, self.value(depth - 1)),
            23..27 => {
                let count =
                    if self.0.below(8) == 0 { 22 + self.0.below(5) } else { self.0.below(5) };
                Value::Array((0..count).map(|_| self.value(depth - 1)).collect())
            }
            _ => {
                let count =
                    if self.0.below(8) == 0 { 22 + self.0.below(5) } else { self.0.below(5) };
                let key = |random: &mut Values| match random.0.below(6) {
                    0 => random.value(depth - 1),
                    _ => text(&format!("key{}", random.0.below(30))),
                };
                Value::Map((0..count).map(|_| (key(self), self.value(depth - 1))).collect())
            }
        }
    }
}

/// Reads the documents up to the first error.
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
    assert_eq!(error.map(|e| e.to_string()), other.map(|e| e.to_string()));
}

/// Returns one of everything.
fn everything() -> Vec<u8> {
    hex(
        "01 9a 0000000a f4 f6 f5 05 20 18c8 191000 1a10000000 1b1000000000000000 1bffffffffffffffff \
         89 3880 398000 3a80000000 3b7000000000000000 3b8000000000000000 f93e00 fa47c35000 \
         fb3ff199999999999a 60 a8 6161 01 05 6162 f6 80 9f 02 ff f4 81 a0 03 04 f5 7803 646566 05 \
         61ff 06 d81863 010203 5f 4101 420203 ff bf 7f 6161 ff 9f 9f ff bf ff ff ff \
         c074323031332d30332d32315432303a30343a30305a c1fb41d452d9ec200000 c249010000000000000000 \
         c4 9f 21 c3 5f 4101 ff ff d9d9f7 d825 50 000102030405060708090a0b0c0d0e0f e0 f820 f7 \
         7f ff 5f ff c4 9f 21 c3 41 01 01 ff d903e9 bf 01 02 28 03 ff",
    )
}

#[test]
fn everything_whole_and_in_pieces() {
    let bytes = everything();
    let (values, error) = whole(&bytes);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(values.len(), 19);
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
        let (values, error) = whole(cut);
        assert!(all.starts_with(&values), "invented values in the first {end} bytes");
        if let Some(error) = error {
            assert_eq!(error.kind(), ErrorKind::Truncated, "{error}");
        }
        check_pieces(cut, 1);
        check_pieces(cut, 4);
    }
}

#[test]
fn random_documents_come_back() {
    let mut random = Values::new(2);
    for round in 0..3000 {
        let value = random.value(4);
        let bytes = written(&value);
        assert!(from_slice(&bytes).unwrap() == value, "round {round}");
        if round % 8 == 0 {
            check_pieces(&bytes, 1 + random.0.below(40));
        }
    }
}

#[test]
fn flipped_bytes_never_panic() {
    let mut random = Values::new(3);
    let mut failures = 0;
    for _ in 0..4000 {
        let mut bytes = written(&random.value(4));
        for _ in 0..1 + random.0.below(3) {
            let place = random.0.below(bytes.len());
            bytes[place] = random.0.bits() as u8;
        }
        failures += usize::from(whole(&bytes).1.is_some());
        check_pieces(&bytes, 1 + random.0.below(9));
        let _ = diagnostic(&bytes);
    }
    assert!(failures > 500, "{failures}");
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Values::new(4);
    let mut read = 0;
    for _ in 0..20_000 {
        let bytes = random.0.bytes(40);
        check_pieces(&bytes, 1 + random.0.below(5));
        // Whatever can be read can be written, and then reads the same.
        let Ok(value) = from_slice(&bytes) else { continue };
        let Ok(written) = to_vec(&value, OnLoss::Refuse) else { continue };
        let again = from_slice(&written).unwrap();
        assert_eq!(format!("{again:?}"), format!("{value:?}"));
        assert_eq!(self::written(&again), written);
        assert!(diagnostic(&bytes).is_ok());
        read += 1;
    }
    assert!(read > 200, "{read}");
}

#[test]
fn hostile_nesting_is_refused_in_time() {
    // Tag content that is read as a whole, nested in itself: read once, not once per level.
    for (head, end) in [("c48200", "00"), ("c49f00", "00ff"), ("c2", "4101"), ("d903e9a101", "00")]
    {
        let bytes = hex(&(head.repeat(500) + end));
        let (_, error) = whole(&bytes);
        assert!(error.is_none_or(|error| error.kind() != ErrorKind::Io));
    }
    // Empty chunks, fed byte by byte, are not scanned again from the beginning.
    let bytes = [&b"\x5F"[..], &[0x40; 300_000], b"\xFF"].concat();
    check_pieces(&bytes, 1000);
    // Counts that no file can hold.
    for head in ["9b", "bb", "5b", "7b"] {
        let bytes = hex(&(head.to_owned() + "ffffffffffffffff"));
        assert!(whole(&bytes).1.is_some());
        check_pieces(&bytes, 1);
    }
}
