//! The policies decide about what serde's model lacks.

use std::collections::BTreeMap;

use regauge::serde::{from_slice, to_vec};
use regauge::{ErrorKind, Format, Objects, OnLoss, Options, Timestamp, Value};
use serde::Deserialize;

#[derive(Deserialize, Debug, PartialEq)]
struct Event {
    name: String,
    at: serde_json::Value,
}

fn event() -> Vec<u8> {
    let at = Value::Timestamp(Timestamp { seconds: 0, nanoseconds: 0 });
    let event = Value::from([("name", Value::from("start")), ("at", at)]);
    to_vec(&event, Format::Msgpack).unwrap()
}

#[test]
fn the_policy_decides_about_what_serde_lacks() {
    let error = from_slice::<Event>(&event(), Format::Msgpack).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(
        error.to_string().starts_with(
            "msgpack: at $.at: found the point in time 1970-01-01T00:00:00Z, which serde's data \
             model cannot hold"
        ),
        "{error}"
    );
    let mut options = Options::new(Format::Msgpack, Format::Msgpack);
    options.on_loss = OnLoss::Approximate;
    let read: Event = from_slice(&event(), &options).unwrap();
    assert_eq!(read.at, serde_json::json!("1970-01-01T00:00:00Z"));
    options.on_loss = OnLoss::Wrap;
    let read: Event = from_slice(&event(), &options).unwrap();
    assert_eq!(read.at, serde_json::json!({"$time": "1970-01-01T00:00:00Z"}));
    // A value that is not read cannot be lost.
    #[derive(Deserialize, Debug, PartialEq)]
    struct Name {
        name: String,
    }
    assert_eq!(from_slice::<Name>(&event(), Format::Msgpack).unwrap().name, "start");
}

#[test]
fn tags_classes_and_symbols_go_by_the_policy_for_objects() {
    let yaml = b"!circle {r: 1}";
    let error = from_slice::<BTreeMap<String, u8>>(yaml, Format::Yaml).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().contains("!circle"), "{error}");
    let mut options = Options::new(Format::Yaml, Format::Yaml);
    options.objects = Some(Objects::Data);
    let read: BTreeMap<String, u8> = from_slice(yaml, &options).unwrap();
    assert_eq!(read, BTreeMap::from([("r".to_owned(), 1)]));
    options.objects = Some(Objects::Wrap);
    let read: serde_json::Value = from_slice(yaml, &options).unwrap();
    assert_eq!(read, serde_json::json!({"$yaml:tag": "!circle", "value": {"r": 1}}));
    // `{a: 1}` in Ruby.
    let ruby = b"\x04\x08{\x06:\x06ai\x06";
    let error = from_slice::<BTreeMap<String, u8>>(ruby, Format::Marshal).unwrap_err();
    assert!(error.to_string().contains("found the symbol a, which serde"), "{error}");
    let mut options = Options::new(Format::Marshal, Format::Marshal);
    options.objects = Some(Objects::Data);
    let read: BTreeMap<String, u8> = from_slice(ruby, &options).unwrap();
    assert_eq!(read, BTreeMap::from([("a".to_owned(), 1)]));
}

#[test]
fn the_wrapped_notation_is_guarded() {
    let at = Value::Timestamp(Timestamp { seconds: 0, nanoseconds: 0 });
    let list = Value::from_iter([Value::from([("$x", at)])]);
    let document = Value::from([("$binary", Value::from("mine")), ("list", list)]);
    let packed = to_vec(&document, Format::Msgpack).unwrap();
    let mut options = Options::new(Format::Msgpack, Format::Json);
    options.on_loss = OnLoss::Wrap;
    let read: serde_json::Value = from_slice(&packed, &options).unwrap();
    assert_eq!(read["$literal"]["list"][0]["$literal"]["$x"]["$time"], "1970-01-01T00:00:00Z");
    let converted = regauge::convert_bytes(&packed, &options).unwrap();
    assert_eq!(read, serde_json::from_slice::<serde_json::Value>(&converted).unwrap());
}
