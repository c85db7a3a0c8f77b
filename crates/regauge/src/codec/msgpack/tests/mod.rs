//! The format's rules, table by table.

mod feeding;
mod suites;
mod writing;

use super::*;
use crate::ErrorKind;
use crate::OnLoss;
use crate::model::value::Value;
use crate::policy::event::Writer as _;
use crate::policy::event::recorder::hex;
use crate::policy::event::{BigInt, Ext, Sink, Timestamp};
use crate::policy::fidelity::Fidelity;
use crate::policy::tree::Builder;

/// Checks that `bytes` (hexadecimal) is the encoding that we write for `value`, and that it reads
/// back.
#[track_caller]
fn check(bytes: &str, value: Value) {
    check_bytes(&hex(bytes), bytes.split_ascii_whitespace().collect::<String>().len() / 2, value);
}

/// Checks that the encoding of `value` begins with `head` (hexadecimal), is `size` bytes long, and
/// reads back.
#[track_caller]
fn check_size(head: &str, size: usize, value: Value) {
    check_bytes(&hex(head), size, value);
}

#[track_caller]
fn check_bytes(head: &[u8], size: usize, value: Value) {
    let written = to_vec(&value, OnLoss::Refuse).unwrap();
    assert_eq!(written.len(), size);
    assert_eq!(written[..head.len()].escape_ascii().to_string(), head.escape_ascii().to_string());
    let read = from_slice(&written).unwrap();
    assert_eq!(read, value);
    assert_eq!(to_vec(&read, OnLoss::Refuse).unwrap(), written, "encoded again");
    assert_eq!(documents_end(&written, usize::MAX), size);
    assert_eq!(documents_end(&written[..size - 1], usize::MAX), 0);
}

/// Checks that `bytes` (hexadecimal) reads as `value`, although we would write it shorter.
#[track_caller]
fn reads(bytes: &str, value: Value) {
    let bytes = hex(bytes);
    assert_eq!(from_slice(&bytes).unwrap(), value);
    assert!(to_vec(&value, OnLoss::Refuse).unwrap().len() < bytes.len());
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

fn ints(count: usize) -> Value {
    Value::Array(vec![Value::Int(1); count])
}

fn pairs(count: i64) -> Value {
    Value::Map((0..count).map(|i| (text(&i.to_string()), Value::Null)).collect())
}

/// Records every event as a line.
struct Events {
    lines: Vec<String>,
    fidelity: Fidelity,
}

impl Events {
    fn new() -> Events {
        Events { lines: Vec::new(), fidelity: Fidelity::new(OnLoss::Refuse, Format::Msgpack) }
    }

    fn note(&mut self, line: impl std::fmt::Debug) -> Result {
        self.lines.push(format!("{line:?}"));
        Ok(())
    }
}

impl Sink for Events {
    fn null(&mut self) -> Result {
        self.note("null")
    }
    fn bool(&mut self, v: bool) -> Result {
        self.note(("bool", v))
    }
    fn i64(&mut self, v: i64) -> Result {
        self.note(("i64", v))
    }
    fn u64(&mut self, v: u64) -> Result {
        self.note(("u64", v))
    }
    fn f64(&mut self, v: f64) -> Result {
        self.note(("f64", v.to_bits()))
    }
    fn f32(&mut self, v: f32) -> Result {
        self.note(("f32", v.to_bits()))
    }
    fn str(&mut self, v: &str) -> Result {
        self.note(("str", v))
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.note(("bytes", v))
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        self.note(("big_int", v))
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        self.note(("ext", v))
    }
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        self.note(("begin_array", len))
    }
    fn end_array(&mut self) -> Result {
        self.note("end_array")
    }
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        self.note(("begin_map", len))
    }
    fn key(&mut self, k: &str) -> Result {
        self.note(("key", k))
    }
    fn key_value(&mut self, k: &Value) -> Result {
        self.note(("key_value", k))
    }
    fn end_map(&mut self) -> Result {
        self.note("end_map")
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

#[test]
fn the_example_of_the_home_page() {
    check(
        "82 a7 636f6d70616374 c3 a6 736368656d61 00",
        Value::Map(vec![(text("compact"), Value::Bool(true)), (text("schema"), Value::Int(0))]),
    );
}

#[test]
fn integers_at_every_width() {
    check("c0", Value::Null);
    check("c2", Value::Bool(false));
    check("00", Value::Int(0));
    check("7f", Value::Int(127));
    check("cc80", Value::Int(128));
    check("ccff", Value::Int(255));
    check("cd0100", Value::Int(256));
    check("cdffff", Value::Int(65_535));
    check("ce00010000", Value::Int(65_536));
    check("ceffffffff", Value::Int(4_294_967_295));
    check("cf0000000100000000", Value::Int(4_294_967_296));
    check("cf7fffffffffffffff", Value::Int(i64::MAX));
    check("cf8000000000000000", Value::UInt(1 << 63));
    check("cfffffffffffffffff", Value::UInt(u64::MAX));
    check("ff", Value::Int(-1));
    check("e0", Value::Int(-32));
    check("d0df", Value::Int(-33));
    check("d080", Value::Int(-128));
    check("d1ff7f", Value::Int(-129));
    check("d18000", Value::Int(-32_768));
    check("d2ffff7fff", Value::Int(-32_769));
    check("d280000000", Value::Int(-2_147_483_648));
    check("d3ffffffff7fffffff", Value::Int(-2_147_483_649));
    check("d38000000000000000", Value::Int(i64::MIN));
    for (bytes, value) in [("d3000000000000000c", 12), ("d2fffffffb", -5), ("d0ff", -1)] {
        reads(bytes, Value::Int(value));
    }
}

#[test]
fn floats_keep_their_width_and_their_bits() {
    check("ca3fc00000", Value::F32(1.5));
    check("cb3ff8000000000000", Value::F64(1.5));
    check("cb8000000000000000", Value::F64(-0.0));
    check("ca80000000", Value::F32(-0.0));
    check("cb7ff0000000000000", Value::F64(f64::INFINITY));
    assert!(
        matches!(from_slice(&hex("cb8000000000000000")), Ok(Value::F64(v)) if v.is_sign_negative())
    );
    // NaN with a payload, and a signalling NaN: not equal to themselves, so compared by their
    // bytes.
    for nan in ["cb7ff8000000000001", "cbfff0000000000123", "ca7fc00001", "caffa00001"] {
        let value = from_slice(&hex(nan)).unwrap();
        assert_eq!(to_vec(&value, OnLoss::Refuse).unwrap(), hex(nan), "{nan}");
    }
}

#[test]
fn text_at_every_width() {
    check("a0", text(""));
    check("a1 61", text("a"));
    check_size("bf", 32, text(&"x".repeat(31)));
    check_size("d920", 34, text(&"x".repeat(32)));
    check_size("d9ff", 257, text(&format!("{}x", "é".repeat(127))));
    check_size("da0100", 259, text(&"x".repeat(256)));
    check_size("daffff", 65_538, text(&"x".repeat(65_535)));
    check_size("db00010000", 65_541, text(&"é".repeat(32_768)));
    reads("d901 61", text("a"));
    reads("da0001 61", text("a"));
    reads("db00000001 61", text("a"));
}

#[test]
fn bytes_at_every_width() {
    check("c400", Value::Bytes(vec![]));
    check("c403 00c1ff", Value::Bytes(vec![0, 0xC1, 0xFF]));
    check_size("c4ff", 257, Value::Bytes(vec![7; 255]));
    check_size("c50100", 259, Value::Bytes(vec![7; 256]));
    check_size("c5ffff", 65_538, Value::Bytes(vec![7; 65_535]));
    check_size("c600010000", 65_541, Value::Bytes(vec![7; 65_536]));
    reads("c60000000101", Value::Bytes(vec![1]));
}

#[test]
fn containers_at_every_width() {
    check("90", ints(0));
    check_size("9f", 16, ints(15));
    check_size("dc0010", 19, ints(16));
    check_size("dcffff", 65_538, ints(65_535));
    check_size("dd00010000", 65_541, ints(65_536));
    check("80", pairs(0));
    check_size("8f a130", 1 + 10 * 3 + 5 * 4, pairs(15));
    check_size("de0010 a130", 3 + 10 * 3 + 6 * 4, pairs(16));
    let keys = |count: usize| (0..count).map(|i| i.to_string().len() + 2).sum::<usize>();
    check_size("deffff", 3 + keys(65_535), pairs(65_535));
    check_size("df00010000", 5 + keys(65_536), pairs(65_536));
    reads("dd00000001 c0", Value::Array(vec![Value::Null]));
    reads("df00000001 a161 dc0000", Value::Map(vec![(text("a"), ints(0))]));
}

#[test]
fn extensions_at_every_width() {
    let ext = |kind, length| Value::MsgpackExt(kind, vec![9; length]);
    check("c70005", ext(5, 0));
    check("d405 09", ext(5, 1));
    check("d580 0909", ext(-128, 2));
    check("c7037f 090909", ext(127, 3));
    check("d605 09090909", ext(5, 4));
    check("d705 0909090909090909", ext(5, 8));
    check_size("d800", 18, ext(0, 16));
    check_size("c71105", 20, ext(5, 17));
    check_size("c7ff05", 258, ext(5, 255));
    check_size("c8010005", 260, ext(5, 256));
    check_size("c8ffff05", 65_539, ext(5, 65_535));
    check_size("c90001000005", 65_542, ext(5, 65_536));
    reads("c70105 09", ext(5, 1));
    reads("c9000000020509 09", ext(5, 2));
}

#[test]
fn timestamps_at_every_width() {
    check("d6ff 00000000", time(0, 0));
    check("d6ff ffffffff", time(u32::MAX.into(), 0));
    check("d7ff 0000000100000000", time(1 << 32, 0));
    check("d7ff 0000000400000000", time(0, 1));
    check("d7ff ee6b27ffffffffff", time((1 << 34) - 1, 999_999_999));
    check("c70cff 00000000 0000000400000000", time(1 << 34, 0));
    check("c70cff 3b9ac9ff ffffffffffffffff", time(-1, 999_999_999));
    check("c70cff 00000000 8000000000000000", time(i64::MIN, 0));
    // Wider than necessary: the same point in time, written shorter.
    reads("d7ff 0000000000000001", time(1, 0));
    reads("c70cff 00000000 0000000000000001", time(1, 0));
    reads("c70cff 00000001 0000000000000001", time(1, 1));
}

#[test]
fn what_is_no_timestamp_stays_an_extension() {
    for bytes in [
        // 1,000,000,000 nanoseconds, in eight and in twelve bytes.
        "d7ff ee6b280000000000",
        "c70cff 3b9aca00 0000000000000000",
        // Lengths that no timestamp has.
        "d5ff 0000",
        "c705ff 0000000000",
        "c700ff",
        "d8ff 00000000000000000000000000000000",
    ] {
        let bytes = hex(bytes);
        let value = from_slice(&bytes).unwrap();
        assert!(matches!(value, Value::MsgpackExt(-1, _)), "{value:?}");
        assert_eq!(to_vec(&value, OnLoss::Refuse).unwrap(), bytes);
    }
}

#[test]
fn text_that_is_not_utf8_is_kept_byte_for_byte() {
    check("a1 ff", Value::BrokenText(vec![0xFF]));
    check("a3 eda080", Value::BrokenText(vec![0xED, 0xA0, 0x80]));
    check_size("d940", 66, Value::BrokenText([&[b'x'; 63][..], b"\xC3"].concat()));
    check("81 a2 c328 01", Value::Map(vec![(Value::BrokenText(vec![0xC3, 0x28]), Value::Int(1))]));
}

#[test]
fn keys_of_every_type() {
    for key in [
        "c0",
        "c3",
        "05",
        "cfffffffffffffffff",
        "d3ffffffff7fffffff",
        "ca3fc00000",
        "cb3ff8000000000000",
        "c402 0001",
        "90",
        "93 01 a161 90",
        "80",
        "81 81 a161 01 82 02 03 90 04",
        "d6ff00000001",
        "d405 09",
        "92 a1ff 81 a1ff a1ff",
    ] {
        let bytes = hex(&format!("82 {key} a176 a16b 07"));
        let value = from_slice(&bytes).unwrap();
        let Value::Map(pairs) = &value else { panic!("{value:?}") };
        assert_eq!(pairs[0].0, from_slice(&hex(key)).unwrap());
        assert_eq!(pairs[0].1, text("v"));
        assert_eq!(pairs[1], (text("k"), Value::Int(7)));
        assert_eq!(to_vec(&value, OnLoss::Refuse).unwrap(), bytes);
    }
}

#[test]
fn duplicate_keys_are_kept_in_order() {
    check(
        "83 a161 01 a162 02 a161 03",
        Value::Map(vec![
            (text("a"), Value::Int(1)),
            (text("b"), Value::Int(2)),
            (text("a"), Value::Int(3)),
        ]),
    );
}

#[test]
fn what_msgpack_cannot_hold_goes_by_policy() {
    let big = Value::BigInt { negative: false, magnitude: vec![0, 0, 0, 0, 0, 0, 0, 0, 1] };
    let error = to_vec(&big, OnLoss::Refuse).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(
        to_vec(&big, OnLoss::Approximate).unwrap(),
        hex("cb43f0000000000000"),
        "the nearest double"
    );
    assert_eq!(
        from_slice(&to_vec(&big, OnLoss::Wrap).unwrap()).unwrap(),
        Value::Map(vec![(text("$integer"), text("18446744073709551616"))]),
    );
    let surrogates = Value::Surrogates(vec![0xED, 0xA0, 0x80]);
    assert_eq!(to_vec(&surrogates, OnLoss::Refuse).unwrap_err().kind(), ErrorKind::Refused);
    // A decimal whose digits a double keeps is written as a double.
    check_decimal("1.5", Ok("cb3ff8000000000000"));
    check_decimal("1.10", Err(ErrorKind::Refused));
}

#[track_caller]
fn check_decimal(digits: &str, expected: std::result::Result<&str, ErrorKind>) {
    let written = to_vec(&Value::Decimal(digits.into()), OnLoss::Refuse);
    assert_eq!(written.map_err(|error| error.kind()), expected.map(hex));
}

#[test]
fn errors_say_where_and_what() {
    use ErrorKind::{Limit, Syntax, Truncated};
    fails("", Truncated, "msgpack: byte 0: found no bytes, expected a value");
    fails(
        "92 01 c1",
        Syntax,
        "msgpack: byte 2: found the byte 0xC1, which MessagePack never uses, expected a value",
    );
    fails(
        "81 c1 01",
        Syntax,
        "msgpack: byte 1: found the byte 0xC1, which MessagePack never uses, expected a value",
    );
    fails(
        "81 91 c1 01",
        Syntax,
        "msgpack: byte 2: found the byte 0xC1, which MessagePack never uses, expected a value",
    );
    fails(
        "01 02",
        Syntax,
        "msgpack: byte 1: found 1 trailing bytes after the value, expected the end of the input",
    );
    fails("cd 01", Truncated, "msgpack: byte 0: the input ends inside the header of a value");
    fails("a3 61", Truncated, "msgpack: byte 0: found a length of 3 bytes with only 1 left");
    fails(
        "92 9101",
        Truncated,
        "msgpack: byte 3: the input ends with 1 values of an array missing",
    );
    fails(
        "82 a161 01 c0",
        Truncated,
        "msgpack: byte 5: the input ends with 1 values of a map missing",
    );
    fails(
        "82 a161 a161",
        Truncated,
        "msgpack: byte 5: the input ends with 1 pairs of a map missing",
    );
    fails(
        "c9 00000005 01 00",
        Truncated,
        "msgpack: byte 0: found a length of 5 bytes with only 1 left",
    );
    fails(
        "dd ffffffff",
        Truncated,
        "msgpack: byte 0: found an array of 4294967295 values with only 0 bytes left",
    );
    fails(
        "91 df 80000000 00",
        Truncated,
        "msgpack: byte 1: found a map of 2147483648 pairs with only 1 bytes left",
    );
    fails("81 92 01", Truncated, "msgpack: byte 1: the input ends inside the key of a map");
    fails(
        "db ffffffff",
        Limit,
        "msgpack: byte 0: found a single value of 4294967295 bytes, more than 268435456, the limit \
         of token_bytes; set `limits.token_bytes` to raise it",
    );
}

#[test]
fn every_document_of_a_stream_comes_by_itself() {
    let bytes = hex("01 90 a161 8101c0 c0");
    let mut reader = Reader::from_slice(Parser::default(), &bytes);
    let mut ends = Vec::new();
    let mut events = Events::new();
    while reader.next(&mut events).unwrap() {
        ends.push(reader.offset());
    }
    assert_eq!(ends, [1, 2, 4, 7, 8]);
    assert_eq!(reader.records(), 5);
    assert_eq!(documents_end(&bytes, usize::MAX), 8);
    for (want, end) in [(0, 1), (1, 1), (2, 2), (3, 4), (5, 7), (8, 8), (9, 8)] {
        assert_eq!(documents_end(&bytes, want), end, "{want}");
    }
    let broken = hex("01 02 c1");
    let mut reader = Reader::from_slice(Parser::default(), &broken);
    assert!(reader.next(&mut events).unwrap() && reader.next(&mut events).unwrap());
    let error = reader.next(&mut events).unwrap_err();
    assert_eq!((error.offset(), error.record()), (Some(2), Some(3)));
}

#[test]
fn limits_below_at_and_above() {
    let read = |bytes: &[u8], limits: Limits| {
        Reader::from_slice(Parser::new(limits), bytes).next(&mut Events::new())
    };
    let kind = |bytes: &[u8], limits| read(bytes, limits).map_err(|error| error.kind());
    let limit = Err(ErrorKind::Limit);

    let nested = |depth: usize| [vec![0x91; depth], vec![0x01]].concat();
    let depth = |depth| Limits { depth, ..Limits::default() };
    assert_eq!(kind(&nested(6), depth(7)), Ok(true));
    assert_eq!(kind(&nested(7), depth(7)), Ok(true));
    assert_eq!(kind(&nested(8), depth(7)), limit);
    assert_eq!(read(&nested(8), depth(7)).unwrap_err().offset(), Some(7));
    assert_eq!(kind(&[0x01], depth(0)), Ok(true));
    assert_eq!(kind(&nested(1024), Limits::NONE), Ok(true));
    assert_eq!(kind(&nested(1025), Limits::NONE), limit);
    assert_eq!(kind(&nested(1025), depth(u32::MAX)), limit);
    // A key counts together with the maps around it.
    let key = |outer, inner| [vec![0x81; outer], nested(inner), vec![0x01; outer]].concat();
    assert_eq!(kind(&key(3, 4), depth(7)), Ok(true));
    assert_eq!(kind(&key(3, 5), depth(7)), limit);
    let in_array = |outer| [vec![0x91; outer], key(1, 512)].concat();
    assert_eq!(kind(&in_array(511), Limits::NONE), Ok(true));
    assert_eq!(kind(&in_array(512), Limits::NONE), limit);
    // Keys inside one another's keys have a limit of their own.
    assert_eq!(kind(&key(9, 1), Limits::NONE), Ok(true));
    assert_eq!(kind(&key(10, 1), Limits::NONE), limit);

    let token = |token_bytes| Limits { token_bytes, ..Limits::default() };
    for header in ["a5", "d905", "da0005", "db00000005", "c405", "c50005", "c70501"] {
        let bytes = [hex(header), b"abcde".to_vec()].concat();
        assert_eq!(kind(&bytes, token(6)), Ok(true));
        assert_eq!(kind(&bytes, token(5)), Ok(true));
        assert_eq!(kind(&bytes, token(4)), limit, "{header}");
        assert_eq!(kind(&[vec![0x81], bytes, vec![1]].concat(), token(4)), limit, "key {header}");
    }

    // A key of four values in five bytes.
    let key = hex("81 93 01 02 a1 61 c0");
    let nodes = |nodes| Limits { nodes, ..Limits::default() };
    assert_eq!(kind(&key, nodes(5)), Ok(true));
    assert_eq!(kind(&key, nodes(4)), Ok(true));
    assert_eq!(kind(&key, nodes(3)), limit);
    let record = |record_bytes| Limits { record_bytes, ..Limits::default() };
    assert_eq!(kind(&key, record(6)), Ok(true));
    assert_eq!(kind(&key, record(5)), Ok(true));
    assert_eq!(kind(&key, record(4)), limit);
}

#[test]
fn hostile_headers_fail_at_once() {
    // The first of them would need a gigabyte; nothing is allocated for any of them.
    let header = hex("ddffffffff");
    let mut events = Events::new();
    let error = Reader::from_slice(Parser::default(), &header).next(&mut events).unwrap_err();
    assert_eq!((error.kind(), events.lines.len()), (ErrorKind::Truncated, 0));

    // The length of a stream is not known in advance: only its end shows the fault.
    let mut reader = Reader::from_read(Parser::default(), &header[..]);
    let error = reader.next(&mut events).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Truncated, Some(5)));

    let nested = header.repeat(2000);
    let mut reader = Reader::from_read(Parser::default(), &nested[..]);
    assert_eq!(reader.next(&mut Events::new()).unwrap_err().kind(), ErrorKind::Limit);
    assert_eq!(documents_end(&nested, usize::MAX), 0);

    let mut events = Events::new();
    let error = Reader::from_slice(Parser::default(), &nested).next(&mut events).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Limit, Some(512 * 5)));
    assert!(events.lines.is_empty());
}

#[test]
fn checking_is_reading() {
    let limits = Limits { depth: 3, ..Limits::default() };
    for (bytes, fine) in [
        (&b"\x81\xA1a\x93\x01\xC0\xCB\0\0\0\0\0\0\0\0"[..], true),
        (b"\xA1\xFF", true),
        (b"\xD9\x01a", true),
        (b"\x91\x91\x91\x01", true),
        (b"\x91\x91\x91\x91\x01", false),
        (b"", false),
        (b"\x92\x01", false),
        (b"\x01\x02", false),
        (b"\xC1", false),
    ] {
        let checked = super::check(bytes, &limits);
        assert_eq!(checked.is_ok(), fine, "{bytes:02x?}");
        if let (Err(checked), Err(read)) = (checked, super::from_slice(bytes)) {
            assert_eq!(checked.to_string(), read.to_string());
        }
    }
}
