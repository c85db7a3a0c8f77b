//! The format's rules, table by table.

mod extended;
mod feeding;
mod suites;

use super::*;
use crate::bytes::buffer::Out;
use crate::bytes::output::StreamOutput;
use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::policy::event::Source as _;
use crate::policy::event::Writer as _;
use crate::policy::event::recorder::hex;
use crate::policy::event::{Ext, ExtBuf, Sink, Timestamp, TypeBuf};
use crate::policy::fidelity::Fidelity;
use crate::policy::tree::Builder;
use crate::{Error, OnLoss, Result};
use crate::{ErrorKind, Origin};

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn time(seconds: i64, nanoseconds: u32) -> Value {
    Value::Timestamp(Timestamp { seconds, nanoseconds })
}

fn ext(ext: Ext<'_>) -> Value {
    Value::Ext(ExtBuf::from(ext))
}

fn scope(code: &str, map: Value) -> Value {
    let of = TypeBuf { origin: Origin::Bson, kind: "scope".to_owned(), name: code.to_owned() };
    Value::Typed(Box::new(of), Box::new(map))
}

fn document(value: Value) -> Value {
    Value::Map(vec![(text("a"), value)])
}

/// Adds the length and the final zero byte to `bytes` (hexadecimal), which makes a document.
fn framed(bytes: &str) -> Vec<u8> {
    let body = hex(bytes);
    let length = (body.len() as u32 + 5).to_le_bytes();
    [&length[..], &body, &[0]].concat()
}

/// Checks that an element `a` of this type (its number first, in hexadecimal) is what we write for
/// `value`, and that it reads back.
#[track_caller]
fn check(element: &str, value: Value) {
    let (kind, content) = element.split_at(2);
    let bytes = framed(&format!("{kind} 6100 {content}"));
    let value = document(value);
    let written = to_vec(&value, OnLoss::Refuse).unwrap();
    assert_eq!(written.escape_ascii().to_string(), bytes.escape_ascii().to_string());
    assert_eq!(from_slice(&bytes).unwrap(), value);
}

/// Checks that reading `bytes` (hexadecimal, with their frame) fails with this message.
#[track_caller]
fn fails(bytes: &str, kind: ErrorKind, message: &str) {
    let error = from_slice(&hex(bytes)).unwrap_err();
    assert_eq!(error.to_string(), message);
    assert_eq!(error.kind(), kind);
}

#[test]
fn every_type() {
    check("10 01000000", Value::Int(1));
    check("10 00000080", Value::Int(-2_147_483_648));
    check("12 0000008000000000", Value::Int(2_147_483_648));
    check("12 ffffff7fffffffff", Value::Int(-2_147_483_649));
    check("12 0000000000000080", Value::Int(i64::MIN));
    check("01 000000000000f83f", Value::F64(1.5));
    check("02 01000000 00", text(""));
    check("02 03000000 c3a900", text("é"));
    check("02 04000000 61006200", text("a\0b"));
    check("03 0500000000", Value::Map(vec![]));
    check("04 0500000000", Value::Array(vec![]));
    check(
        "04 10000000 0a3000 083100 01 0a3200 00".replace("10000000", "0f000000").as_str(),
        Value::Array(vec![Value::Null, Value::Bool(true), Value::Null]),
    );
    check("05 02000000 00 0102", Value::Bytes(vec![1, 2]));
    check("05 06000000 02 02000000 0102", ext(Ext::Binary(2, &[1, 2])));
    check("05 02000000 04 0102", ext(Ext::Binary(4, &[1, 2])));
    check(
        "05 10000000 04 000102030405060708090a0b0c0d0e0f",
        ext(Ext::Uuid(std::array::from_fn(|i| i as u8))),
    );
    check("05 01000000 80 ff", ext(Ext::Binary(0x80, &[0xFF])));
    check("06", ext(Ext::Undefined));
    check("07 000102030405060708090a0b", ext(Ext::ObjectId(std::array::from_fn(|i| i as u8))));
    check("08 00", Value::Bool(false));
    check("09 e803000000000000", time(1, 0));
    check("09 ffffffffffffffff", time(-1, 999_000_000));
    check("09 0000000000000080", time(-9_223_372_036_854_776, 192_000_000));
    check("0a", Value::Null);
    check("0b 612e2a00 696d00", ext(Ext::Regex { pattern: "a.*", options: "im" }));
    check(
        "0c 02000000 6200 000102030405060708090a0b",
        ext(Ext::DbPointer { namespace: "b", id: std::array::from_fn(|i| i as u8) }),
    );
    check("0d 02000000 6200", ext(Ext::Code("b")));
    check("0e 02000000 6200", ext(Ext::Symbol("b")));
    check(
        "0f 16000000 02000000 6200 0c000000 107800 01000000 00",
        scope("b", Value::Map(vec![(text("x"), Value::Int(1))])),
    );
    check("11 0200000001000000", ext(Ext::BsonTimestamp { seconds: 1, increment: 2 }));
    check(
        "13 01000000000000000000000000004030",
        ext(Ext::Decimal128(crate::model::decimal128::from_text("1").unwrap())),
    );
    check("7f", ext(Ext::MaxKey));
    check("ff", ext(Ext::MinKey));
}

#[test]
fn both_widths_of_integers_stay_from_bson_to_bson() {
    let bytes = framed("12 6100 0100000000000000 10 6200 01000000");
    let options = crate::Options::new(Format::Bson, Format::Bson);
    assert_eq!(crate::convert_bytes(&bytes, &options).unwrap(), bytes);
    // An integer is an ordinary integer in every other format.
    assert_eq!(
        from_slice(&bytes).unwrap(),
        Value::Map(vec![(text("a"), Value::Int(1)), (text("b"), Value::Int(1))])
    );
}

#[test]
fn what_is_not_canonical() {
    let read = |body: &str| from_slice(&framed(body)).unwrap();
    assert_eq!(
        read("04 6100 0c000000 107800 0a000000 00"),
        document(Value::Array(vec![Value::Int(10)]))
    );
    let regex = ext(Ext::Regex { pattern: "a", options: "imx" });
    assert_eq!(read("0b 6100 6100 6d697800"), document(regex));
    let broken = Value::BrokenText(vec![0xE9]);
    assert_eq!(read("02 6100 02000000 e900"), document(broken.clone()));
    assert_eq!(read("0a e900"), Value::Map(vec![(broken, Value::Null)]));
}

#[test]
fn messages() {
    let syntax = ErrorKind::Syntax;
    fails(
        "04000000 00",
        syntax,
        "bson: record 1, byte 0: found 4 as the length of a document, \
        expected at least 5",
    );
    fails(
        "0500000001",
        syntax,
        "bson: record 1, byte 4: found the byte 0x01 at the declared \
        end of the document, expected a zero byte",
    );
    fails(
        "06000000 00 00",
        syntax,
        "bson: record 1, byte 4: found a document's final zero \
        byte 1 bytes before its declared end",
    );
    fails(
        "08000000 14 6100 00",
        syntax,
        "bson: record 1, byte 4: found an element of type 0x14, \
        expected 0x01 to 0x13, 0x7F or 0xFF",
    );
    fails(
        "09000000 08 6100 02 00",
        syntax,
        "bson: record 1, byte 7: found the byte 0x02 as a \
        boolean, expected 0 or 1",
    );
    fails(
        "0d000000 02 6100 03000000 00 00",
        syntax,
        "bson: record 1, byte 7: found a value of at \
        least 7 bytes with only 5 left in the document around it",
    );
    fails(
        "0e000000 02 6100 02000000 6161 00",
        syntax,
        "bson: record 1, byte 7: found the byte \
        0x61 at the end of a string, expected a zero byte",
    );
    fails(
        "0c000000 0d 6100 00000000 00",
        syntax,
        "bson: record 1, byte 7: found 0 as the length \
        of a string, expected at least 1",
    );
    fails(
        "08000000 0a 6161 00",
        syntax,
        "bson: record 1, byte 4: found no zero byte at the end of \
        a name before the end of its document",
    );
    fails(
        "0c000000 10 6100 01",
        ErrorKind::Truncated,
        "bson: record 1, byte 7: the input ends 4 \
        bytes before the end of its document",
    );
    fails(
        "0c00",
        ErrorKind::Truncated,
        "bson: record 1, byte 0: the input ends inside the length \
        of a document",
    );
    fails(
        "0500000000 0500000000",
        syntax,
        "bson: byte 5: found 5 trailing bytes after the document, \
        expected the end of the input",
    );
    let mut nested = Value::Map(vec![]);
    for _ in 0..512 {
        nested = document(nested);
    }
    let error = from_slice(&to_vec(&nested, OnLoss::Refuse).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().contains("more than 512 nested"), "{error}");
}

#[test]
fn what_bson_cannot_hold() {
    for value in [
        Value::UInt(u64::MAX),
        Value::BigInt { negative: false, magnitude: vec![0, 0, 0, 0, 0, 0, 0, 0, 1] },
        time(0, 1),
        time(i64::MAX, 0),
        Value::Decimal("1.10".into()),
        Value::MsgpackExt(1, vec![]),
        ext(Ext::Date("2026-11-21")),
        ext(Ext::Simple(3)),
    ] {
        let value = document(value);
        let error = to_vec(&value, OnLoss::Refuse).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{value}");
        let bytes = to_vec(&value, OnLoss::Wrap).unwrap();
        let mut builder = Builder::new(&Limits::default());
        let mut unwrap = crate::policy::notation::Unwrap::new(&mut builder, &Limits::default());
        Reader::from_slice(Parser::default(), &bytes).next(&mut unwrap).unwrap();
        assert_eq!(builder.take().unwrap(), value);
    }
    for value in [
        Value::Int(1),
        Value::Array(vec![]),
        text("a"),
        Value::Map(vec![(text("a\0b"), Value::Null)]),
        document(ext(Ext::Regex { pattern: "a\0", options: "" })),
        document(scope("a", Value::Int(1))),
        document(scope("a", Value::Array(vec![]))),
    ] {
        let error = to_vec(&value, OnLoss::Wrap).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unrepresentable, "{value}");
    }
}

#[test]
fn scopes_in_an_array() {
    let code = |name| scope(name, Value::Map(vec![(text("x"), Value::Array(vec![]))]));
    let value = document(Value::Array(vec![code("a"), Value::Int(1), code("b"), code("c")]));
    let bytes = to_vec(&value, OnLoss::Refuse).unwrap();
    assert_eq!(from_slice(&bytes).unwrap(), value);
    for inner in [Value::Int(1), Value::Array(vec![]), text("a")] {
        let value = document(Value::Array(vec![scope("a", inner)]));
        let error = to_vec(&value, OnLoss::Wrap).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unrepresentable, "{value}");
    }
}

#[test]
fn arrays_are_split_into_documents() {
    let json = br#"[{"a":1},{"b":[1,2]}]"#;
    let options = crate::Options::new(Format::Json, Format::Bson);
    let bytes = crate::convert_bytes(json, &options).unwrap();
    let options = crate::Options::new(Format::Bson, Format::Json);
    assert_eq!(crate::convert_bytes(&bytes, &options).unwrap().trim_ascii(), json);
    let options = crate::Options::new(Format::Json, Format::Bson);
    let error = crate::convert_bytes(b"[{}, 1]", &options).unwrap_err();
    assert!(error.message().contains("an integer as a top-level document"), "{error}");
}

/// Writes through a small buffer into a stream, with lengths filled in in the output.
#[test]
fn documents_that_do_not_fit_into_memory() {
    let mut random = feeding::Values::new(12);
    let mut expected = Vec::new();
    let mut bytes = Vec::new();
    let out = Out::flushing_at(64, StreamOutput::new(&mut bytes), 1 << 20);
    let mut writer =
        Writer::new(out, Options::default(), Fidelity::new(OnLoss::Refuse, Format::Bson));
    writer.set_hold_bytes(200);
    for _ in 0..300 {
        let value =
            Value::Map((0..20).map(|i| (text(&i.to_string()), random.document(4))).collect());
        value.drive(&mut writer).unwrap();
        writer.end_document().unwrap();
        expected.extend(to_vec(&value, OnLoss::Refuse).unwrap());
    }
    writer.finish().unwrap();
    drop(writer);
    assert!(bytes == expected);
}

#[test]
fn a_record_is_rolled_back() {
    let mut writer = Writer::in_memory(Options::default(), OnLoss::Refuse);
    document(Value::Int(1)).drive(&mut writer).unwrap();
    writer.end_document().unwrap();
    writer.checkpoint();
    writer.begin_map(None).unwrap();
    writer.key("b").unwrap();
    writer.begin_array(None).unwrap();
    writer.i64(2).unwrap();
    writer.rollback();
    document(Value::Int(3)).drive(&mut writer).unwrap();
    writer.end_document().unwrap();
    let expected =
        [1, 3].map(|value| to_vec(&document(Value::Int(value)), OnLoss::Refuse).unwrap()).concat();
    assert_eq!(writer.into_vec(), expected);
}

#[test]
fn a_largest_document_on_demand() {
    let options = Options { document_bytes: Some(12), ..Options::default() };
    for (value, fits) in [(Value::Int(1), true), (Value::F64(1.0), false)] {
        let mut writer = Writer::in_memory(options.clone(), OnLoss::Refuse);
        let written = document(value).drive(&mut writer);
        assert_eq!(written.is_ok(), fits);
        if let Err(error) = written {
            assert_eq!(error.kind(), ErrorKind::Unrepresentable);
            assert!(error.message().contains("16 bytes of BSON, more than 12"), "{error}");
        }
    }
}

#[test]
fn first_bytes_tell_the_format() {
    let document = to_vec(&document(text("b")), OnLoss::Refuse).unwrap();
    assert_eq!(Format::from_magic(&document), Some(Format::Bson));
    assert_eq!(Format::from_magic(b"\x05\0\0\0\0"), Some(Format::Bson));
    // The lengths of these begin like Marshal and pickle.
    for length in [0x0804, 0x0280] {
        let mut bytes = framed(&format!("02 6100 {}", hex_of(length - 13)));
        bytes.resize(length - 2, b'a');
        bytes.extend([0, 0]);
        bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
        from_slice(&bytes).unwrap();
        assert_eq!(Format::from_magic(&bytes), Some(Format::Bson));
    }
    for other in [&b"\x04\x08[\0"[..], b"\x80\x04]\x94.", b"{\"a\":1}", b"\x82\xA1a\x01\xA1b\x02"] {
        assert_ne!(Format::from_magic(other), Some(Format::Bson));
    }
}

fn hex_of(length: usize) -> String {
    crate::model::text::hex(&(length as u32 + 1).to_le_bytes())
}

#[test]
fn arrays_of_doubles_in_one_event_are_as_in_many() {
    let written = |whole: bool, count: usize| {
        let values: Vec<f64> = (0..count).map(|index| index as f64 / 4.0).collect();
        let mut writer = Writer::in_memory(Options::default(), OnLoss::Refuse);
        let array = |writer: &mut Writer<'_>| match whole {
            true => writer.f64_array(&values),
            false => {
                writer.begin_array(None)?;
                values.iter().try_for_each(|v| writer.f64(*v))?;
                writer.end_array()
            }
        };
        let act = |writer: &mut Writer<'_>| {
            writer.begin_map(None)?;
            writer.key("a")?;
            array(writer)?;
            writer.key("b")?;
            writer.begin_array(None)?;
            (0..12).try_for_each(|_| array(writer))?;
            writer.end_array()?;
            writer.key("c")?;
            writer.begin_map(None)?;
            writer.key("d")?;
            array(writer)?;
            writer.end_map()?;
            writer.end_map()
        };
        act(&mut writer).unwrap();
        writer.into_vec().escape_ascii().to_string()
    };
    for count in 0..13 {
        assert_eq!(written(true, count), written(false, count), "{count}");
    }
    let at_the_top = |whole: bool| {
        let mut writer = Writer::in_memory(Options::default(), OnLoss::Refuse);
        let result = if whole { writer.f64_array(&[0.5]) } else { writer.begin_array(Some(1)) };
        result.unwrap_err().to_string()
    };
    assert_eq!(at_the_top(true), at_the_top(false));
}
