//! A [`Value`] in Rust's own types keeps what serde's model lacks.

use std::collections::BTreeMap;

use regauge::serde::{Decoded, from_slice, from_value, to_value, to_vec};
use regauge::{ErrorKind, Ext, ExtBuf, Format, OnLoss, Options, Origin, Timestamp, Type, Value};
use serde::{Deserialize, Serialize};

use crate::ANY;

/// A document with what serde's model lacks.
fn special() -> Value {
    let tag = Type { origin: Origin::Yaml, kind: "tag", name: "!point" };
    Value::from([
        ("at", Value::Timestamp(Timestamp { seconds: 0, nanoseconds: 0 })),
        ("id", Value::Ext(ExtBuf::from(Ext::ObjectId([7; 12])))),
        ("ext", Value::MsgpackExt(5, vec![1])),
        ("symbol", Value::Ext(ExtBuf::from(Ext::Symbol("name")))),
        ("decimal", Value::Decimal("1.10".into())),
        ("big", Value::BigInt { negative: true, magnitude: vec![1; 20] }),
        ("broken", Value::BrokenText(vec![0xFF])),
        ("tagged", Value::Typed(Box::new((&tag).into()), Box::new(Value::from([("$x", 1)])))),
        ("bytes", Value::from(b"\x00")),
        ("map", Value::Map(vec![(Value::Int(1), Value::Null), (Value::from("a"), Value::Null)])),
    ])
}

#[test]
fn a_value_keeps_everything() {
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Holder {
        value: Value,
        other: u8,
    }
    let holder = Holder { value: special(), other: 1 };
    // As a tree, and through every format with the wrapped notation.
    let value = to_value(&holder).unwrap();
    assert_eq!(value["value"], special());
    assert_eq!(from_value::<Holder>(&value).unwrap(), holder);
    for format in ANY.into_iter().chain([Format::Bson]) {
        let mut options = Options::new(format, format);
        options.on_loss = OnLoss::Wrap;
        let bytes = to_vec(&holder, &options).unwrap_or_else(|error| panic!("{format}: {error}"));
        let direct = regauge::values::write_values(std::slice::from_ref(&value), &options).unwrap();
        assert_eq!(bytes, direct.0, "{format}");
        (options.on_loss, options.unwrap) = (OnLoss::Refuse, true);
        let read: Holder = from_slice(&bytes, &options).unwrap();
        assert_eq!(read, holder, "{format}");
    }
    let single = BTreeMap::from([("v", Value::F32(0.1))]);
    let bytes = to_vec(&single, Format::Msgpack).unwrap();
    let decoded = Decoded::from_slice(&bytes, Format::Msgpack).unwrap();
    assert_eq!(decoded.get::<BTreeMap<&str, Value>>().unwrap(), single);
    // An integer as a key of a `Value` becomes no text.
    let error = to_vec(&Value::from([(1, 2)]), Format::Json).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
}

#[test]
fn plain_values_pass_through_other_crates_and_special_ones_do_not() {
    let plain: Value =
        from_slice(br#"{"a": [1, -1, 1.5, null, true, "x"]}"#, Format::Json).unwrap();
    let text = serde_json::to_string(&plain).unwrap();
    assert_eq!(text, plain.to_string());
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), plain);
    let error = serde_json::to_string(&special()).unwrap_err();
    assert_eq!(error.to_string(), "found a point in time, which serde's data model cannot hold");
    // What looks like a notation of ours is data.
    let lookalike = r#"{"$regauge::notation":"{\"$time\":\"1970-01-01T00:00:00Z\"}"}"#;
    let expected = Value::from([("$regauge::notation", "{\"$time\":\"1970-01-01T00:00:00Z\"}")]);
    assert_eq!(serde_json::from_str::<Value>(lookalike).unwrap(), expected);
    assert_eq!(from_slice::<Value>(lookalike.as_bytes(), Format::Json).unwrap(), expected);
    let time = Value::from([("$time", "1970-01-01T00:00:00Z")]);
    assert_eq!(
        from_slice::<Value>(br#"{"$time":"1970-01-01T00:00:00Z"}"#, Format::Json).unwrap(),
        time
    );
}

/// Another crate's type with the name of our newtype is no value of ours, whatever is in it.
#[test]
fn the_private_name_alone_makes_no_value() {
    #[derive(Serialize)]
    #[serde(rename = "$regauge::Value")]
    struct Named<T>(T);

    let notation = r#"{"$time":"1970-01-01T00:00:00Z"}"#;
    for error in [
        to_value(&Named(notation)).unwrap_err(),
        to_value(&Named(Named(notation))).unwrap_err(),
        to_vec(&Named([1, 2]), Format::Msgpack).unwrap_err(),
    ] {
        assert!(
            error.to_string().contains("found a newtype with the name of regauge's"),
            "{error}"
        );
    }
}
