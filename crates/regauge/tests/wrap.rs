//! The reversible notation: every value goes to JSON and to MessagePack and comes back, even if a
//! user's own maps look like the notation.

use regauge::event::Writer as _;
use regauge::json;
use regauge::notation::{Escape, Unwrap};
use regauge::out::Out;
use regauge::tree::Builder;
use regauge::{Ext, Fidelity, Format, Limits, OnLoss, Origin, Sink, Source, Timestamp, Type};
use regauge::{Value, msgpack};

/// Returns the value's text in the notation.
fn to_json(value: &Value) -> String {
    let fidelity = Fidelity::new(OnLoss::Wrap, Format::Json);
    let mut writer = json::Writer::new(Out::in_memory(), json::WriteOptions::default(), fidelity);
    value.drive(&mut Escape::new(&mut writer)).unwrap();
    writer.end_document().unwrap();
    writer.finish().unwrap();
    String::from_utf8(writer.into_out().into_vec()).unwrap()
}

fn from_json(text: &str) -> Value {
    read(json::Reader::from_slice(json::Parser::default(), text.as_bytes()))
}

fn read(mut source: impl Source) -> Value {
    let mut builder = Builder::new(&Limits::default());
    assert!(source.next(&mut Unwrap::new(&mut builder, &Limits::default())).unwrap());
    builder.take().expect("a whole value")
}

fn to_msgpack(value: &Value) -> Vec<u8> {
    let mut writer = msgpack::Writer::in_memory(OnLoss::Wrap);
    value.drive(&mut Escape::new(&mut writer)).unwrap();
    writer.end_document().unwrap();
    writer.finish().unwrap();
    writer.into_vec()
}

/// Compares bit for bit: NaN is equal to itself here, and -0.0 is not 0.0.
fn same(a: &Value, b: &Value) -> bool {
    let bits = |v: &Value| match v {
        Value::F64(v) => v.to_bits(),
        _ => 0,
    };
    format!("{a:?}") == format!("{b:?}") && bits(a) == bits(b)
}

#[track_caller]
fn check(value: &Value) {
    let places = [
        value.clone(),
        Value::Array(vec![value.clone(), Value::Null, value.clone()]),
        Value::Map(vec![
            (text("a"), value.clone()),
            (text("b"), Value::Array(vec![value.clone()])),
            (value.clone(), text("under it")),
        ]),
        Value::Map(vec![(text("$binary"), value.clone())]),
        Value::Map(vec![(text("$literal"), value.clone()), (text("$literal"), value.clone())]),
        Value::Map(vec![(Value::Array(vec![value.clone()]), value.clone())]),
    ];
    for value in &places {
        let json = to_json(value);
        let back = from_json(&json);
        assert!(same(&back, value), "{json} gives\n{back:?}\nrather than\n{value:?}");
        let back =
            read(msgpack::Reader::from_slice(msgpack::Parser::default(), &to_msgpack(value)));
        assert!(same(&back, value), "MessagePack gives\n{back:?}\nrather than\n{value:?}");
        // Display uses the writer's notation, and its output parses back.
        let shown = value.to_string();
        assert_eq!(shown, json.trim_end());
        assert!(same(&shown.parse().unwrap(), value), "{shown}");
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn ext(v: Ext<'_>) -> Value {
    Value::Ext(v.into())
}

fn typed(origin: Origin, kind: &str, name: &str, value: Value) -> Value {
    Value::Typed(Box::new((&Type { origin, kind, name }).into()), Box::new(value))
}

fn map(pairs: &[(&str, Value)]) -> Value {
    Value::Map(pairs.iter().map(|(key, value)| (text(key), value.clone())).collect())
}

fn big(negative: bool, digits: &str) -> Value {
    Value::BigInt { negative, magnitude: regauge::number::magnitude(digits) }
}

#[test]
fn every_kind_of_value() {
    let at = |seconds, nanoseconds| Value::Timestamp(Timestamp { seconds, nanoseconds });
    for value in [
        Value::Null,
        Value::Bool(true),
        Value::Int(0),
        Value::Int(i64::MIN),
        Value::UInt(u64::MAX),
        big(false, "18446744073709551616"),
        big(true, "170141183460469231731687303715884105728"),
        Value::F64(1.0),
        Value::F64(-0.0),
        Value::F64(1e300),
        Value::F64(f64::NAN),
        Value::F64(f64::from_bits(0xFFF8_0000_0000_0000)),
        Value::F64(f64::from_bits(0x7FF0_0000_DEAD_BEEF)),
        Value::Decimal("1.5".into()),
        Value::F64(f64::INFINITY),
        Value::F64(f64::NEG_INFINITY),
        text(""),
        text("$binary"),
        text("$key:1"),
        Value::Bytes(vec![]),
        Value::Bytes((0..=255).collect()),
        Value::Array(vec![]),
        Value::Map(vec![]),
        ext(Ext::Symbol("name")),
        ext(Ext::Date("2026-11-21")),
        ext(Ext::Time("12:00:00.5")),
        ext(Ext::DateTime("2026-11-21T12:00:00")),
        ext(Ext::OffsetDateTime("2026-11-21T12:00:00+02:00")),
        ext(Ext::Duration { seconds: -90, nanoseconds: 5 }),
        ext(Ext::Decimal128([0x7F; 16])),
        ext(Ext::ObjectId([0xAB; 12])),
        ext(Ext::Uuid([0x5E; 16])),
        ext(Ext::Binary(128, b"mine")),
        ext(Ext::Regex { pattern: "^a+$", options: "ix" }),
        ext(Ext::BsonTimestamp { seconds: u32::MAX, increment: 1 }),
        ext(Ext::MinKey),
        ext(Ext::MaxKey),
        ext(Ext::Undefined),
        ext(Ext::Code("function () {}")),
        ext(Ext::DbPointer { namespace: "db.c", id: [1; 12] }),
        ext(Ext::Simple(32)),
        ext(Ext::Complex(-0.0, f64::INFINITY)),
        typed(Origin::Ruby, "object", "Foo", Value::Map(vec![(text("@a"), Value::Int(1))])),
        typed(Origin::Yaml, "tag", "!foo", Value::Null),
        typed(Origin::Cbor, "tag", "100", typed(Origin::Cbor, "tag", "101", text("in two"))),
        typed(Origin::Python, "set", "", Value::Array(vec![Value::Int(1)])),
        typed(Origin::Bson, "scope", "x", Value::Map(vec![(text("$alias"), Value::Int(1))])),
        Value::Anchor(1, Box::new(Value::Array(vec![Value::Alias(1)]))),
        Value::Anchor(2, Box::new(typed(Origin::Ruby, "object", "A", Value::Alias(2)))),
        // A user's maps that look like those.
        map(&[("$alias", Value::Int(1))]),
        map(&[("$anchor", Value::Int(1)), ("value", Value::Null)]),
        map(&[("$ruby:object", text("Foo")), ("value", Value::Null)]),
        map(&[("$oid", text("ababababababababababab00"))]),
        map(&[("$ruby:object", text("Foo"))]),
        map(&[("a", Value::Null), ("$ruby:object", text("Foo"))]),
        at(0, 0),
        at(1_600_000_000, 500_000_000),
        at(-1, 999_999_999),
        at(-62_167_219_200, 0),
        at(253_402_300_800, 1),
        at(i64::MIN, 0),
        at(i64::MAX, 999_999_999),
        Value::Decimal("1.10".into()),
        Value::MsgpackExt(5, vec![1, 2, 3]),
        Value::MsgpackExt(-128, vec![]),
        Value::Surrogates(b"a\xED\xA0\x80b".to_vec()),
        Value::Surrogates(b"\xED\xA0\xBD\xED\xB8\x80".to_vec()),
        Value::BrokenText(b"caf\xE9".to_vec()),
    ] {
        check(&value);
    }
}

#[test]
fn maps_that_look_like_the_notation() {
    for map in [
        r#"{"$literal":{"$binary":{"base64":"AQI=","subType":"00"}}}"#,
        r#"{"$literal":{"$numberDouble":"NaN"}}"#,
        r#"{"$literal":{"$literal":{"$literal":{"$literal":1}}}}"#,
        r#"{"$literal":{"$literal":{"$literal":{"$binary":1}}}}"#,
        r#"{"$literal":{"$":1,"a":2}}"#,
        r#"{"a":1,"$binary":{"base64":"AQI=","subType":"00"}}"#,
        r#"{"$key:1":1,"$key:\"$key:1\"":{"$literal":{"$time":"2026-11-21T12:00:00Z"}}}"#,
        r#"[{"$literal":{"$ext":{"type":5,"base64":"AQI="}}},{"$ext":{"type":5,"base64":"AQI="}}]"#,
    ] {
        let value = from_json(map);
        assert_eq!(to_json(&value).trim_end(), map);
        check(&value);
    }
}

/// A guess would change a document that is mistaken for one in the notation.
#[test]
fn what_is_not_the_notation_is_refused() {
    for (map, why) in [
        (r#"{"$binary":1}"#, "does not match"),
        (r#"{"$binary":{"base64":"AQI="}}"#, "does not match"),
        (r#"{"$binary":{"base64":"?","subType":"00"}}"#, "does not match"),
        (r#"{"$binary":{"base64":"AQI=","subType":"00"},"more":1}"#, "does not match"),
        (r#"{"$binary":{"base64":"AQI=","subType":"00","more":1}}"#, "does not match"),
        (r#"{"$numberDouble":"nan"}"#, "does not match"),
        (r#"{"$numberDouble":{"bits":"3ff0000000000000"}}"#, "does not match"),
        (r#"{"$integer":"12x"}"#, "does not match"),
        (r#"{"$integer":"-"}"#, "does not match"),
        (r#"{"$integer":"01"}"#, "does not match"),
        (r#"{"$integer":"+1"}"#, "does not match"),
        (r#"{"$integer":"-0"}"#, "does not match"),
        (r#"{"$decimal":"1."}"#, "does not match"),
        (r#"{"$time":"yesterday"}"#, "does not match"),
        (r#"{"$time":{"seconds":1}}"#, "does not match"),
        (r#"{"$ext":{"type":200,"base64":""}}"#, "does not match"),
        (r#"{"$surrogates":"7aCA"}"#, "does not match"),
        (r#"{"$surrogates":{"base64":"YQ=="}}"#, "does not match"),
        (r#"{"$text":{}}"#, "does not match"),
        (r#"{"$integer":{"$integer":{"a":[1,{"b":null}]}}}"#, "does not match"),
        (r#"{"$unknown":1}"#, "begins with `$unknown`"),
        (r#"[{"a":{"$":1}}]"#, "begins with `$`"),
        (r#"{"$other:object":"Foo","value":1}"#, "begins with `$other:object`"),
        (r#"{"$literal":1}"#, "does not match"),
        (r#"{"$literal":[{"$binary":1}]}"#, "does not match"),
        (r#"{"$key:":1}"#, "found the key `$key:`"),
        (r#"{"a":0,"$key:1 2":3}"#, "found the key `$key:1 2`"),
        (r#"{"$ruby:object":1}"#, "does not match"),
        (r#"{"$ruby:object":"Foo"}"#, "does not match"),
        (r#"{"$ruby:object":[{}]}"#, "does not match"),
        (r#"{"$ruby:object":{"$alias":1}}"#, "does not match"),
        (r#"{"$ruby:object":"Foo","x":[1]}"#, "does not match"),
        (r#"{"$anchor":-1,"value":1}"#, "does not match"),
        (r#"{"$alias":0}"#, "does not match"),
    ] {
        let error = map.parse::<Value>().unwrap_err();
        assert_eq!(error.kind(), regauge::ErrorKind::Syntax, "{map}: {error}");
        assert!(error.message().contains(why), "{map}: {error}");
        assert!(
            error.hint_for(&regauge::hint::Surface::COMMAND).unwrap().contains("--unwrap"),
            "{error}"
        );
        // As plain data, it goes through the notation and comes back.
        let mut builder = Builder::new(&Limits::default());
        let mut reader = json::Reader::from_slice(json::Parser::default(), map.as_bytes());
        assert!(reader.next(&mut builder).unwrap());
        check(&builder.take().unwrap());
    }
}

#[test]
fn narrow_integers_stay_narrow() {
    // The notation of an integer that the target can hold becomes the narrowest integer.
    for (text, value) in [
        ("12", Value::Int(12)),
        ("-9223372036854775808", Value::Int(i64::MIN)),
        ("18446744073709551615", Value::UInt(u64::MAX)),
        ("18446744073709551616", big(false, "18446744073709551616")),
    ] {
        let notation = format!(r#"{{"$integer":"{text}"}}"#);
        assert!(same(&notation.parse().unwrap(), &value), "{notation}");
    }
}

#[test]
fn a_key_behind_a_literal_map_is_an_error() {
    let error = r#"{"$literal":{"a":1},"b":2}"#.parse::<Value>().unwrap_err();
    assert!(error.message().contains("second key next to `$literal`"), "{error}");
}

#[test]
fn a_sink_can_be_a_trait_object() {
    let fidelity = Fidelity::new(OnLoss::Wrap, Format::Json);
    let mut writer = json::Writer::new(Out::in_memory(), json::WriteOptions::default(), fidelity);
    let sink: &mut dyn Sink = &mut writer;
    Value::Bytes(vec![1, 2]).drive(sink).unwrap();
    writer.end_document().unwrap();
    assert_eq!(
        writer.into_out().into_vec(),
        b"{\"$binary\":{\"base64\":\"AQI=\",\"subType\":\"00\"}}\n"
    );
}

/// Anything next to the value of a type would be lost.
#[test]
fn third_key_beside_a_type_is_refused() {
    let json = br#"{"$ruby:object": "Foo", "value": 1, "more": 2}"#;
    let mut source = json::Reader::from_slice(json::Parser::default(), json);
    let mut builder = Builder::new(&Limits::default());
    let error = source.next(&mut Unwrap::new(&mut builder, &Limits::default())).unwrap_err();
    assert!(error.message().contains("second key next to `value`"), "{error}");
}
