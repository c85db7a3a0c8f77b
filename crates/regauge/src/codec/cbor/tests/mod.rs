//! The format's rules, table by table.

mod feeding;
mod references;
mod suites;
mod writing;

use super::*;
use crate::Error;
use crate::model::limits::Limits;
use crate::policy::event::Source as _;
use crate::policy::event::recorder::hex;
use crate::policy::event::{BigInt, Ext, ExtBuf, Sink, Timestamp, Type, TypeBuf};
use crate::policy::fidelity::Fidelity;
use crate::policy::tree::Builder;
use crate::{ErrorKind, Origin};

fn written(value: &Value) -> Vec<u8> {
    // As for a source that is CBOR itself.
    let options = Options { keep_tags: true, ..Options::default() };
    to_vec_with(value, &options, OnLoss::Refuse).unwrap()
}

/// Checks that `bytes` (hexadecimal) is the encoding written for `value`, and reads back as `value`.
#[track_caller]
fn check(bytes: &str, value: Value) {
    let bytes = hex(bytes);
    assert_eq!(written(&value).escape_ascii().to_string(), bytes.escape_ascii().to_string());
    assert_eq!(from_slice(&bytes).unwrap(), value);
}

/// Checks that the encoding of `value` begins with `head` (hexadecimal), is `size` bytes long, and
/// reads back as `value`.
#[track_caller]
fn check_size(head: &str, size: usize, value: Value) {
    let bytes = written(&value);
    assert_eq!(bytes.len(), size);
    assert!(bytes.starts_with(&hex(head)), "{}", bytes[..16].escape_ascii());
    assert_eq!(from_slice(&bytes).unwrap(), value);
}

/// Checks that `bytes` (hexadecimal) reads as `value`, though we would write it differently.
#[track_caller]
fn reads(bytes: &str, value: Value) {
    let bytes = hex(bytes);
    assert_eq!(from_slice(&bytes).unwrap(), value);
    assert_eq!(from_slice(&written(&value)).unwrap(), value);
}

/// Checks that reading `bytes` (hexadecimal) fails with this message.
#[track_caller]
fn fails(bytes: &str, kind: ErrorKind, message: &str) {
    let error = from_slice(&hex(bytes)).unwrap_err();
    assert_eq!(error.to_string(), message);
    assert_eq!(error.kind(), kind);
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn time(seconds: i64, nanoseconds: u32) -> Value {
    Value::Timestamp(Timestamp { seconds, nanoseconds })
}

fn ext(ext: Ext<'_>) -> Value {
    Value::Ext(ExtBuf::from(ext))
}

fn tagged(number: u64, value: Value) -> Value {
    let name = number.to_string();
    let of = TypeBuf { origin: Origin::Cbor, kind: "tag".to_owned(), name };
    Value::Typed(Box::new(of), Box::new(value))
}

fn big(negative: bool, magnitude: &[u8]) -> Value {
    Value::BigInt { negative, magnitude: magnitude.to_vec() }
}

#[test]
fn integers_at_every_width() {
    check("f6", Value::Null);
    check("f4", Value::Bool(false));
    check("00", Value::Int(0));
    check("17", Value::Int(23));
    check("1818", Value::Int(24));
    check("18ff", Value::Int(255));
    check("190100", Value::Int(256));
    check("19ffff", Value::Int(65_535));
    check("1a00010000", Value::Int(65_536));
    check("1affffffff", Value::Int(4_294_967_295));
    check("1b0000000100000000", Value::Int(4_294_967_296));
    check("1b7fffffffffffffff", Value::Int(i64::MAX));
    check("1b8000000000000000", Value::UInt(1 << 63));
    check("1bffffffffffffffff", Value::UInt(u64::MAX));
    check("20", Value::Int(-1));
    check("37", Value::Int(-24));
    check("3818", Value::Int(-25));
    check("38ff", Value::Int(-256));
    check("390100", Value::Int(-257));
    check("39ffff", Value::Int(-65_536));
    check("3a00010000", Value::Int(-65_537));
    check("3affffffff", Value::Int(-4_294_967_296));
    check("3b0000000100000000", Value::Int(-4_294_967_297));
    check("3b7fffffffffffffff", Value::Int(i64::MIN));
    check("3b8000000000000000", big(true, &[1, 0, 0, 0, 0, 0, 0, 0x80]));
    check("3bffffffffffffffff", big(true, &[0, 0, 0, 0, 0, 0, 0, 0, 1]));
    for (bytes, value) in [("1b000000000000000c", 12), ("3a00000004", -5), ("1800", 0)] {
        reads(bytes, Value::Int(value));
    }
}

#[test]
fn bignums() {
    check("c249010000000000000000", big(false, &[0, 0, 0, 0, 0, 0, 0, 0, 1]));
    check("c349010000000000000000", big(true, &[1, 0, 0, 0, 0, 0, 0, 0, 1]));
    check("c349ffffffffffffffffff", big(true, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 1]));
    // Those that fit in an integer are read as one; leading zeros and chunks do not matter.
    reads("c240", Value::Int(0));
    reads("c340", Value::Int(-1));
    reads("c2420001", Value::Int(1));
    reads("c3480000000000000001", Value::Int(-2));
    reads("c248ffffffffffffffff", Value::UInt(u64::MAX));
    reads("c25f4101420000ff", Value::Int(65_536));
    reads("c2 61 61", tagged(2, text("a")));
    let digits = "c2 59 0700".to_owned() + &"ff".repeat(0x700);
    let error = from_slice(&hex(&digits)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().contains("digits"), "{error}");
}

#[test]
fn floats_keep_their_value_and_their_bits() {
    check("f93e00", Value::F32(1.5));
    check("fa47c35000", Value::F32(100_000.0));
    check("fb3ff8000000000000", Value::F64(1.5));
    check("fb8000000000000000", Value::F64(-0.0));
    check("f98000", Value::F32(-0.0));
    check("f97c00", Value::F32(f32::INFINITY));
    check("fb7ff0000000000000", Value::F64(f64::INFINITY));
    reads("fa3fc00000", Value::F32(1.5));
    // NaN with a payload, and a signalling one: not equal to themselves, so compared by their
    // bytes.
    for nan in ["fb7ff8000000000001", "fbfff0000000000123", "fa7fc00001", "f97e00", "f97c01"] {
        let value = from_slice(&hex(nan)).unwrap();
        assert_eq!(written(&value), hex(nan), "{nan}");
    }
}

#[test]
fn strings_and_chunks() {
    check("60", text(""));
    check("6449455446", text("IETF"));
    check("7818 616161616161616161616161616161616161616161616161", text(&"a".repeat(24)));
    check_size("78ff", 257, text(&"a".repeat(255)));
    check_size("790100", 259, text(&"a".repeat(256)));
    check_size("7a00010000", 65_541, text(&"a".repeat(65_536)));
    check("4401020304", Value::Bytes(vec![1, 2, 3, 4]));
    check_size("5818", 26, Value::Bytes(vec![0; 24]));
    reads("7f657374726561646d696e67ff", text("streaming"));
    reads("7fff", text(""));
    reads("5f42010243030405ff", Value::Bytes(vec![1, 2, 3, 4, 5]));
    // A character split between two chunks: read, though each chunk should hold whole characters.
    reads("7f61c361a9ff", text("é"));
    let broken = Value::BrokenText(vec![b'a', 0xFF]);
    assert_eq!(from_slice(&hex("6261ff")).unwrap(), broken);
    assert_eq!(from_slice(&hex("7f616161ffff")).unwrap(), broken);
    let error = to_vec(&broken, OnLoss::Refuse).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
}

#[test]
fn containers_at_every_width() {
    let ints = |count| Value::Array(vec![Value::Int(1); count]);
    let pairs =
        |count: i64| Value::Map((0..count).map(|i| (text(&i.to_string()), Value::Null)).collect());
    check("80", ints(0));
    check("a0", pairs(0));
    check("a1 6130 f6", pairs(1));
    check_size("97", 24, ints(23));
    check_size("9818", 26, ints(24));
    check_size("98ff", 257, ints(255));
    check_size("990100", 259, ints(256));
    check_size("9a00010000", 65_541, ints(65_536));
    check_size("b7", 1 + 10 * 3 + 13 * 4, pairs(23));
    check_size("b818", 2 + 10 * 3 + 14 * 4, pairs(24));
    reads("9f0101ff", ints(2));
    reads("9b000000000000000101", ints(1));
    reads("bf6130f6ff", pairs(1));
    reads("bfff", pairs(0));
}

#[test]
fn keys_of_any_type() {
    check(
        "a2 01 02 03 04",
        Value::Map(vec![(Value::Int(1), Value::Int(2)), (Value::Int(3), Value::Int(4))]),
    );
    let inner = Value::Map(vec![(Value::Bytes(vec![1]), Value::Null)]);
    check("a1 a1 4101 f6 81 20", Value::Map(vec![(inner, Value::Array(vec![Value::Int(-1)]))]));
    check("a1 d82563616263 f5", Value::Map(vec![(tagged(37, text("abc")), Value::Bool(true))]));
    reads(
        "bf 7f 6161 6162 ff 01 9f ff 02 ff",
        Value::Map(vec![(text("ab"), Value::Int(1)), (Value::Array(vec![]), Value::Int(2))]),
    );
    let nested = |levels: usize| "a1".repeat(levels) + "80" + &"f6".repeat(levels);
    assert!(from_slice(&hex(&nested(8))).is_ok());
    let error = from_slice(&hex(&nested(10))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn simple_values() {
    check("f7", ext(Ext::Undefined));
    check("e0", ext(Ext::Simple(0)));
    check("f0", ext(Ext::Simple(16)));
    check("f3", ext(Ext::Simple(19)));
    check("f820", ext(Ext::Simple(32)));
    check("f8ff", ext(Ext::Simple(255)));
    // These values do not exist: they are other values, or reserved.
    for value in 20..32 {
        let error = to_vec(&ext(Ext::Simple(value)), OnLoss::Refuse);
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Refused, "{value}");
    }
}

#[test]
fn points_in_time() {
    check("c11a514b67b0", time(1_363_896_240, 0));
    check("c120", time(-1, 0));
    check("c1fb41d452d9ec200000", time(1_363_896_240, 500_000_000));
    reads("c074323031332d30332d32315432303a30343a30305a", time(1_363_896_240, 0));
    reads("c1f93800", time(0, 500_000_000));
    reads("c1fb41d452d9ec000000", time(1_363_896_240, 0));
    // A billionth has no double: text, and a map beyond the years that text can express.
    let text = "c0 781e 323031332d30332d32315432303a30343a30302e3030303030303030315a";
    check(text, time(1_363_896_240, 1));
    let map = "d903e9 a2 01 1b000000e8d4a51000 28 01";
    check(map, time(1_000_000_000_000, 1));
    // A bignum that fits in an integer is one, also under a tag.
    reads("c1c2420001", time(1, 0));
    reads("c4 82 c34101 c24105", Value::Decimal("0.05".into()));
    // Content that is not such a point in time stays what it is.
    check("c1fb3fb999999999999a", tagged(1, Value::F64(0.1)));
    check("c16131", tagged(1, self::text("1")));
    check("c06131", tagged(0, self::text("1")));
    let offset = "323031332d30332d32315432303a30343a30302b30323a3030";
    check(&format!("c07819{offset}"), ext(Ext::OffsetDateTime("2013-03-21T20:04:00+02:00")));
    check("d903ec6a323032362d31312d3231", ext(Ext::Date("2026-11-21")));
    check("d903ec6a323032362d31332d3231", tagged(1004, self::text("2026-13-21")));
    check("d903ea a1 01 05", ext(Ext::Duration { seconds: 5, nanoseconds: 0 }));
    check("d903ea a2 01 20 28 03", ext(Ext::Duration { seconds: -1, nanoseconds: 3 }));
    reads("d903ea bf 01 05 ff", ext(Ext::Duration { seconds: 5, nanoseconds: 0 }));
    let pair = (Value::Int(1), Value::Null);
    check("d903ea a1 01 f6", tagged(1002, Value::Map(vec![pair])));
}

#[test]
fn other_tags_with_an_event() {
    check("c4 82 21 19 6ab3", Value::Decimal("273.15".into()));
    check("c4 82 20 24", Value::Decimal("-0.5".into()));
    check(
        "c4 82 20 c2 4a 00ffffffffffffffffff".replace("4a 00", "49 ").as_str(),
        Value::Decimal("472236648286964521369.5".into()),
    );
    reads("c4 9f 21 c2420001 ff", Value::Decimal("0.01".into()));
    check("c4 82 f6 01", tagged(4, Value::Array(vec![Value::Null, Value::Int(1)])));
    check("c5 82 20 01", tagged(5, Value::Array(vec![Value::Int(-1), Value::Int(1)])));
    check("d823 63 61 2e 2a", ext(Ext::Regex { pattern: "a.*", options: "" }));
    check("d827 63 61 62 63", ext(Ext::Symbol("abc")));
    check(
        "d825 50 000102030405060708090a0b0c0d0e0f",
        ext(Ext::Uuid(std::array::from_fn(|i| i as u8))),
    );
    check("d825 41 00", tagged(37, Value::Bytes(vec![0])));
    check("d81845 6449455446", tagged(24, Value::Bytes(b"dIETF".to_vec())));
    check("db ffffffffffffffff 80", tagged(u64::MAX, Value::Array(vec![])));
    check("c6 c6 01", tagged(6, tagged(6, Value::Int(1))));
}

#[test]
fn a_tag_that_says_that_this_is_cbor() {
    reads("d9d9f7 01", Value::Int(1));
    reads("d9d9f7 d9d9f7 01", Value::Int(1));
    check("81 d9d9f7 01", Value::Array(vec![tagged(55_799, Value::Int(1))]));
    fails(
        "d9d9f7",
        ErrorKind::Truncated,
        "cbor: byte 3: the input ends before the content of a tag",
    );
}

#[test]
fn tags_stay_what_they_are_from_cbor_to_cbor() {
    for bytes in [
        "d9d9f7 c074323031332d30332d32315432303a30343a30305a",
        "c1fb41d452d9ec000000",
        "c4 82 00 05",
        "d81c 82 d81d 00 d81c 80",
        "a1 c101 01",
    ] {
        let bytes = hex(bytes);
        let options = crate::Options::new(Format::Cbor, Format::Cbor);
        assert_eq!(crate::convert_bytes(&bytes, &options).unwrap(), bytes);
    }
}

#[test]
fn messages() {
    let truncated = ErrorKind::Truncated;
    fails("83 01 02", truncated, "cbor: byte 3: the input ends with 1 values of an array missing");
    fails(
        "bf 61 61",
        truncated,
        "cbor: byte 3: the input ends inside a map of indefinite length, \
        before its break",
    );
    fails("62 61", truncated, "cbor: byte 0: found a length of 2 bytes with only 1 left");
    fails("81 19 01", truncated, "cbor: byte 1: the input ends inside the head of an item");
    fails("7f 61 61", truncated, "cbor: byte 0: the input ends inside a chunked string");
    fails(
        "81 1c",
        ErrorKind::Syntax,
        "cbor: byte 1: found the initial byte 0x1C (additional \
        information 28, which is reserved), expected an item",
    );
    fails(
        "1f",
        ErrorKind::Syntax,
        "cbor: byte 0: found the initial byte 0x1F (an integer of \
        indefinite length, which is not allowed), expected an item",
    );
    fails(
        "82 01 ff",
        ErrorKind::Syntax,
        "cbor: byte 2: found a break (0xFF), expected a value of \
        an array that has a length",
    );
    fails(
        "f8 18",
        ErrorKind::Syntax,
        "cbor: byte 0: found the simple value 24 in two bytes (0xF8 \
        0x18), expected 32 to 255 there",
    );
    fails(
        "7f 6161 4161 ff",
        ErrorKind::Syntax,
        "cbor: byte 3: found a byte string inside a text \
        string of indefinite length, expected a text string or the break",
    );
    fails(
        "01 02",
        ErrorKind::Syntax,
        "cbor: byte 1: found 1 trailing bytes after the item, expected \
        the end of the input",
    );
    let deep = "81".repeat(513) + "80";
    fails(
        &deep,
        ErrorKind::Limit,
        "cbor: byte 512: found more than 512 nested arrays, maps and \
        tags, the limit of depth; set `limits.depth` to raise it, up to 1024",
    );
}

/// RFC 8949 Appendix F: malformed inputs, by cause.
const MALFORMED: [(&str, &[&str]); 12] = [
    (
        "end of input in a head",
        &[
            "18",
            "19",
            "1a",
            "1b",
            "19 01",
            "1a 01 02",
            "1b 01 02 03 04 05 06 07",
            "38",
            "58",
            "78",
            "98",
            "9a 01 ff 00",
            "b8",
            "d8",
            "f8",
            "f9 00",
            "fa 00 00",
            "fb 00 00 00",
        ],
    ),
    (
        "strings with short data",
        &[
            "41",
            "61",
            "5a ff ff ff ff 00",
            "5b ff ff ff ff ff ff ff ff 01 02 03",
            "7a ff ff ff ff 00",
            "7b 7f ff ff ff ff ff ff ff 01 02 03",
        ],
    ),
    (
        "arrays and maps with too few items",
        &["81", "81 81 81 81 81 81 81 81 81", "82 00", "a1", "a2 01 02", "a1 00", "a2 00 00 00"],
    ),
    ("a tag without content", &["c0"]),
    ("strings without a break", &["5f 41 00", "7f 61 00"]),
    (
        "arrays and maps without a break",
        &[
            "9f",
            "9f 01 02",
            "bf",
            "bf 01 02 01 02",
            "81 9f",
            "9f 80 00",
            "9f 9f 9f 9f 9f ff ff ff ff",
            "9f 81 9f 81 9f 9f ff ff ff",
        ],
    ),
    (
        "reserved additional information",
        &[
            "1c", "1d", "1e", "3c", "3d", "3e", "5c", "5d", "5e", "7c", "7d", "7e", "9c", "9d",
            "9e", "bc", "bd", "be", "dc", "dd", "de", "fc", "fd", "fe",
        ],
    ),
    ("reserved encodings of simple values", &["f8 00", "f8 01", "f8 18", "f8 1f"]),
    (
        "chunks of the wrong type",
        &[
            "5f 00 ff",
            "5f 21 ff",
            "5f 61 00 ff",
            "5f 80 ff",
            "5f a0 ff",
            "5f c0 00 ff",
            "5f e0 ff",
            "7f 41 00 ff",
        ],
    ),
    ("chunks of indefinite length", &["5f 5f 41 00 ff ff", "7f 7f 61 00 ff ff"]),
    (
        "a misplaced break",
        &[
            "ff",
            "81 ff",
            "82 00 ff",
            "a1 ff",
            "a1 ff 00",
            "a1 00 ff",
            "a2 00 00 ff",
            "9f 81 ff",
            "9f 82 9f 81 9f 9f ff ff ff ff",
            "bf 00 ff",
            "bf 00 00 00 ff",
            "c0 ff",
        ],
    ),
    ("indefinite length of what has none", &["1f", "3f", "df"]),
];

#[test]
fn what_is_not_well_formed() {
    let mut count = 0;
    for (why, cases) in MALFORMED {
        for case in cases {
            let error = from_slice(&hex(case)).expect_err(case);
            let mut kinds = vec![ErrorKind::Syntax, ErrorKind::Truncated];
            if case.contains("ff ff ff ff 0") {
                // Such a length is over the limit, whatever follows.
                kinds.push(ErrorKind::Limit);
            }
            assert!(kinds.contains(&error.kind()), "{why}: {case}: {error}");
            assert!(
                diagnostic(&hex(case)).is_err()
                    || case.starts_with("f8")
                    || case.contains("5f ")
                    || case.contains("7f ")
                    || case.contains("bf 00"),
                "{why}: {case}"
            );
            count += 1;
        }
    }
    assert_eq!(count, 95);
}

#[test]
fn diagnostic_notation() {
    for (bytes, notation) in [
        ("", ""),
        ("01 20 f6", "1, -1, null"),
        ("83 01 82 02 03 a0", "[1, [2, 3], {}]"),
        ("a2 6161 01 6162 82 02 03", r#"{"a": 1, "b": [2, 3]}"#),
        ("bf 6161 9f ff ff", r#"{_ "a": [_ ]}"#),
        ("7f 657374726561 646d696e67 ff", r#"(_ "strea", "ming")"#),
        ("c1 c2 4101", "1(2(h'01'))"),
        ("81 c1 80", "[1([])]"),
        ("fb 3ff199999999999a fa 47c35000 f9 8000", "1.1, 100000.0, -0.0"),
        ("3bffffffffffffffff", "-18446744073709551616"),
    ] {
        assert_eq!(diagnostic(&hex(bytes)).unwrap(), notation);
    }
}
