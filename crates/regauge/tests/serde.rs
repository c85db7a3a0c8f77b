//! Rust's own types through serde: what each becomes in each format, and that it comes back; what
//! serde's model lacks; what messages say.

#![cfg(feature = "serde")]

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use regauge::serde::{
    Decoded, Stream, from_reader, from_slice, from_value, to_value, to_vec, to_writer,
};
use regauge::{
    ErrorKind, Ext, ExtBuf, Format, Objects, OnLoss, Options, Origin, Timestamp, Type, Value,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The formats that hold any document. BSON's documents are maps, MARC's are records.
const ANY: [Format; 7] = [
    Format::Json,
    Format::Ndjson,
    Format::Yaml,
    Format::Msgpack,
    Format::Cbor,
    Format::Marshal,
    Format::Pickle,
];

/// That a type comes back from every format, alone and as a field, and from a `Value`.
#[track_caller]
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(v: &T) {
    let mut formats: Vec<_> = ANY.iter().map(|format| (*format, false)).collect();
    formats.extend(ANY.iter().map(|format| (*format, true)));
    formats.push((Format::Bson, true));
    for (format, in_map) in formats {
        if in_map {
            let map = BTreeMap::from([("v", v)]);
            let bytes = to_vec(&map, format).unwrap_or_else(|error| panic!("{format}: {error}"));
            let mut back: BTreeMap<String, T> = from_slice(&bytes, format)
                .unwrap_or_else(|error| panic!("{format}: {error}: {}", bytes.escape_ascii()));
            assert_eq!(back.remove("v").as_ref(), Some(v), "{format}");
        } else {
            let bytes = to_vec(v, format).unwrap_or_else(|error| panic!("{format}: {error}"));
            let back: T = from_slice(&bytes, format)
                .unwrap_or_else(|error| panic!("{format}: {error}: {}", bytes.escape_ascii()));
            assert_eq!(&back, v, "{format}");
            let streamed: T = from_reader(&bytes[..], format).unwrap();
            assert_eq!(&streamed, v, "{format}");
        }
    }
    let value = to_value(v).unwrap();
    assert_eq!(&from_value::<T>(&value).unwrap(), v);
}

/// That a type is this JSON, and comes back from everywhere.
#[track_caller]
fn is_json<T: Serialize + DeserializeOwned + PartialEq + Debug>(v: &T, json: &str) {
    let written = String::from_utf8(to_vec(v, Format::Json).unwrap()).unwrap();
    assert_eq!(written.trim_end(), json);
    assert_eq!(serde_json::to_string(v).unwrap(), json, "as serde_json has it");
    round_trip(v);
}

/// What reading says is wrong.
#[track_caller]
fn wrong<T: DeserializeOwned + Debug>(json: &str) -> String {
    let error = from_slice::<T>(json.as_bytes(), Format::Json).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data, "{error}");
    error.to_string()
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Person {
    name: String,
    age: u8,
    phones: Vec<String>,
}

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
enum Shape {
    Unit,
    Newtype(u32),
    Tuple(u32, String),
    Struct { x: i32, y: i32 },
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Unit;
#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Meters(f64);
#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Pair(u8, String);

#[test]
fn every_kind_of_type_is_as_serde_json_has_it() {
    let person = Person { name: "John Doe".into(), age: 43, phones: vec!["+44 1234567".into()] };
    is_json(&person, r#"{"name":"John Doe","age":43,"phones":["+44 1234567"]}"#);
    is_json(&true, "true");
    is_json(&'\u{1F600}', "\"\u{1F600}\"");
    is_json(&"a\nb".to_owned(), r#""a\nb""#);
    is_json(&(1_u8, -2_i8, 0.5_f64), "[1,-2,0.5]");
    is_json(&0.5_f32, "0.5");
    is_json(&Unit, "null");
    is_json(&(), "null");
    is_json(&Meters(1.5), "1.5");
    is_json(&Pair(1, "a".into()), r#"[1,"a"]"#);
    is_json(&vec![Some(1), None], "[1,null]");
    is_json(&Shape::Unit, r#""Unit""#);
    is_json(&Shape::Newtype(1), r#"{"Newtype":1}"#);
    is_json(&Shape::Tuple(1, "b".into()), r#"{"Tuple":[1,"b"]}"#);
    is_json(&Shape::Struct { x: 1, y: -1 }, r#"{"Struct":{"x":1,"y":-1}}"#);
    is_json(&BTreeMap::from([("a".to_owned(), vec![1, 2])]), r#"{"a":[1,2]}"#);
    is_json(&Vec::<u8>::new(), "[]");
    is_json(&HashMap::<String, u8>::new(), "{}");
    is_json(&Box::new(Ok::<u8, String>(1)), r#"{"Ok":1}"#);
}

#[test]
fn integers_at_every_width() {
    round_trip(&(u8::MAX, u16::MAX, u32::MAX));
    round_trip(&(i8::MIN, i16::MIN, i32::MIN, i64::MIN, i64::MAX));
    for wide in [i128::from(u64::MAX) + 1, i128::MIN, i128::MAX] {
        for format in [Format::Json, Format::Yaml, Format::Cbor, Format::Marshal, Format::Pickle] {
            let bytes = to_vec(&wide, format).unwrap();
            assert_eq!(from_slice::<i128>(&bytes, format).unwrap(), wide, "{format}");
            let value: Value = from_slice(&bytes, format).unwrap();
            assert_eq!(value, Value::from(wide), "{format}");
        }
        // MessagePack has 64 bits.
        let error = to_vec(&vec![wide], Format::Msgpack).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.to_string().starts_with("msgpack: at $[0]: found the integer"), "{error}");
    }
    for format in [Format::Json, Format::Cbor, Format::Yaml] {
        let bytes = to_vec(&u128::MAX, format).unwrap();
        assert_eq!(from_slice::<u128>(&bytes, format).unwrap(), u128::MAX, "{format}");
        let error = from_slice::<u64>(&bytes, format).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data, "{error}");
    }
    assert_eq!(from_slice::<u64>(b"18446744073709551615", Format::Json).unwrap(), u64::MAX);
}

#[test]
fn an_integer_is_a_double_only_where_it_is_the_same_number() {
    assert_eq!(from_slice::<f64>(b"9007199254740992", Format::Json).unwrap(), 9007199254740992.0);
    assert_eq!(
        wrong::<f64>("9007199254740993"),
        "json: at $: found the integer 9007199254740993, which a double cannot hold"
    );
    assert_eq!(from_slice::<f32>(b"3", Format::Json).unwrap(), 3.0);
}

#[test]
fn keys_are_what_their_type_is() {
    let by_number = BTreeMap::from([(-1_i32, "a".to_owned()), (2, "b".to_owned())]);
    is_json(&by_number, r#"{"-1":"a","2":"b"}"#);
    is_json(&BTreeMap::from([(true, 1)]), r#"{"true":1}"#);
    is_json(&BTreeMap::from([('x', 1)]), r#"{"x":1}"#);
    let wide = BTreeMap::from([(u128::MAX, 1)]);
    let written = to_vec(&wide, Format::Json).unwrap();
    assert_eq!(written.trim_ascii_end(), br#"{"340282366920938463463374607431768211455":1}"#);
    assert_eq!(from_slice::<BTreeMap<u128, u8>>(&written, Format::Json).unwrap(), wide);
    #[derive(Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum Color {
        Red,
    }
    is_json(&BTreeMap::from([(Color::Red, 1)]), r#"{"Red":1}"#);
    // A format with such keys has them.
    assert_eq!(to_vec(&BTreeMap::from([(1, 2)]), Format::Msgpack).unwrap(), b"\x81\x01\x02");
    let by_pair = BTreeMap::from([((1, 2), "a".to_owned())]);
    for format in [Format::Msgpack, Format::Cbor, Format::Yaml, Format::Pickle] {
        let bytes = to_vec(&by_pair, format).unwrap();
        assert_eq!(from_slice::<BTreeMap<(u8, u8), String>>(&bytes, format).unwrap(), by_pair);
    }
    assert_eq!(to_vec(&by_pair, Format::Json).unwrap_err().kind(), ErrorKind::Refused);
    // No two keys of a document become one.
    assert_eq!(
        wrong::<BTreeMap<u8, u8>>(r#"{"01": 1}"#),
        "json: at $.01: found the text \"01\", expected u8"
    );
}

#[test]
fn bytes_are_bytes() {
    let bytes = serde_bytes::ByteBuf::from(vec![0, 255]);
    for format in [Format::Msgpack, Format::Cbor, Format::Yaml, Format::Marshal, Format::Pickle] {
        let written = to_vec(&bytes, format).unwrap();
        assert_eq!(from_slice::<serde_bytes::ByteBuf>(&written, format).unwrap(), bytes);
    }
    let error = to_vec(&BTreeMap::from([("k", &bytes)]), Format::Json).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.to_string().starts_with("json: at $.k: found 2 bytes of binary"), "{error}");
    // An array of numbers is read as bytes, too, as serde_json writes them.
    let read: serde_bytes::ByteBuf = from_slice(b"[0, 255]", Format::Json).unwrap();
    assert_eq!(read, bytes);
}

#[test]
fn attributes_of_serde_work() {
    #[derive(Serialize, Deserialize, PartialEq, Debug, Default)]
    #[serde(rename_all = "camelCase")]
    struct Config {
        listen_port: u16,
        #[serde(default)]
        verbose: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        log_file: Option<String>,
        #[serde(skip)]
        cached: u32,
        #[serde(flatten)]
        rest: BTreeMap<String, i64>,
    }
    let config = Config {
        listen_port: 80,
        rest: BTreeMap::from([("extra".to_owned(), -1)]),
        ..Config::default()
    };
    is_json(&config, r#"{"listenPort":80,"verbose":false,"extra":-1}"#);
    let read: Config = from_slice(b"listenPort: 80\nextra: -1\n", Format::Yaml).unwrap();
    assert_eq!(read, config);

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(untagged)]
    enum Any {
        Number(i64),
        Text(String),
        List(Vec<Any>),
        Point { x: f64 },
    }
    is_json(
        &vec![Any::Number(-5), Any::Text("t".into()), Any::Point { x: 0.5 }, Any::List(vec![])],
        r#"[-5,"t",{"x":0.5},[]]"#,
    );

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(tag = "type")]
    enum Message {
        Request { id: u64, body: Vec<Option<bool>> },
        Quit,
    }
    is_json(
        &vec![Message::Request { id: 1, body: vec![None, Some(true)] }, Message::Quit],
        r#"[{"type":"Request","id":1,"body":[null,true]},{"type":"Quit"}]"#,
    );

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(tag = "t", content = "c")]
    enum Block {
        Para(Vec<String>),
        Rule,
    }
    is_json(
        &vec![Block::Para(vec!["a".into()]), Block::Rule],
        r#"[{"t":"Para","c":["a"]},{"t":"Rule"}]"#,
    );
}

#[test]
fn what_other_libraries_write_is_read() {
    let person = Person { name: "A".into(), age: 1, phones: vec![] };
    // rmp-serde writes structs as arrays by default.
    let read: Person = from_slice(b"\x93\xa1A\x01\x90", Format::Msgpack).unwrap();
    assert_eq!(read, person);
    let read: Shape = from_slice(br#"{"Unit": null}"#, Format::Json).unwrap();
    assert_eq!(read, Shape::Unit);
    // Some number their variants.
    let read: Shape = from_slice(b"\x00", Format::Msgpack).unwrap();
    assert_eq!(read, Shape::Unit);
}

#[test]
fn text_is_borrowed_from_what_was_decoded() {
    #[derive(Deserialize, PartialEq, Debug)]
    struct Borrowed<'a> {
        name: &'a str,
        #[serde(borrow)]
        raw: Option<&'a serde_bytes::Bytes>,
    }
    for format in [Format::Json, Format::Msgpack] {
        let bytes = to_vec(&BTreeMap::from([("name", "é\n")]), format).unwrap();
        let decoded = Decoded::from_slice(&bytes, format).unwrap();
        let read: Borrowed<'_> = decoded.get().unwrap();
        assert_eq!(read, Borrowed { name: "é\n", raw: None }, "{format}");
    }
    let value = Value::from([("name", Value::from("a")), ("raw", Value::from(b"\xFF"))]);
    let read: Borrowed<'_> = from_value(&value).unwrap();
    assert_eq!(read.raw.map(|raw| &raw[..]), Some(&b"\xFF"[..]));
}

#[test]
fn messages_say_where_and_what() {
    assert_eq!(
        wrong::<Vec<Person>>(r#"[{"name": "a", "age": 300, "phones": []}]"#),
        "json: at $[0].age: found the integer 300, expected u8"
    );
    assert_eq!(
        wrong::<Person>(r#"{"name": "a", "phones": []}"#),
        "json: at $: found no field `age`"
    );
    assert_eq!(
        wrong::<Person>(r#"{"name": "a", "age": 1, "phones": ["b", null]}"#),
        "json: at $.phones[1]: found null, expected a string"
    );
    assert_eq!(wrong::<bool>("\"yes\""), "json: at $: found the text \"yes\", expected a boolean");
    assert_eq!(wrong::<(u8, u8)>("[1]"), "json: at $: found 1 values, expected a tuple of size 2");
    assert_eq!(wrong::<(u8, u8)>("[1, 2, 3]"), "json: at $: found an array of 3, expected 2");
    assert_eq!(
        wrong::<Shape>(r#"{"Circle": 1}"#),
        "json: at $.Circle: found the variant `Circle`, expected `Unit`, `Newtype`, `Tuple`, or \
         `Struct`"
    );
    assert_eq!(
        wrong::<Shape>(r#"{"Struct": {"x": 1, "y": "a"}}"#),
        "json: at $.Struct.y: found the text \"a\", expected i32"
    );
    assert_eq!(
        wrong::<Shape>("{}"),
        "json: at $: found a map, expected a map with the variant as its only key"
    );
    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only read")]
    struct Strict {
        a: u8,
    }
    assert_eq!(wrong::<Strict>(r#"{"b": 1}"#), "json: at $.b: found the field `b`, expected `a`");
    assert_eq!(
        wrong::<Strict>(r#"{"a": 1, "a": 1}"#),
        "json: at $: found the field `a` a second time"
    );
    assert_eq!(wrong::<u8>("1.5"), "json: at $: found the number 1.5, expected u8");

    // What breaks the grammar has its line.
    let error = from_slice::<Person>(b"{\n  \"name\": }", Format::Json).unwrap_err();
    assert_eq!((error.kind(), error.line_column()), (ErrorKind::Syntax, Some((2, 11))));
    let error = from_slice::<Person>(b"", Format::Msgpack).unwrap_err();
    assert_eq!(error.to_string(), "msgpack: found no document");
    let error = from_slice::<u8>(b"\x01\x02", Format::Msgpack).unwrap_err();
    assert!(error.to_string().contains("more than one document"), "{error}");
    assert!(from_slice::<u8>(b"1 2", Format::Json).is_err());
}

#[test]
fn what_serializing_refuses_has_its_path() {
    let bytes = serde_bytes::Bytes::new(b"\xFF");
    #[derive(Serialize)]
    enum Nested<'a> {
        Struct { list: Vec<BTreeMap<u8, &'a serde_bytes::Bytes>> },
        Tuple(u8, f64),
    }
    let nested = Nested::Struct { list: vec![BTreeMap::new(), BTreeMap::from([(7, bytes)])] };
    let error = to_vec(&nested, Format::Json).unwrap_err();
    assert!(error.to_string().starts_with("json: at $.Struct.list[1].7: "), "{error}");
    let error = to_vec(&[Nested::Tuple(1, f64::NAN)], Format::Json).unwrap_err();
    assert!(
        error.to_string().starts_with("json: at $[0].Tuple[1]: found the number NaN"),
        "{error}"
    );
    let error = to_vec(&1, Format::Bson).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable, "{error}");
    // A type that announces another length than it has.
    struct Liar;
    impl Serialize for Liar {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeSeq as _;
            let mut seq = s.serialize_seq(Some(3))?;
            seq.serialize_element(&1)?;
            seq.end()
        }
    }
    assert!(to_vec(&Liar, Format::Msgpack).is_err());
    assert!(to_vec(&Liar, Format::Cbor).is_err());
}

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
    // What nobody reads is nobody's loss.
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

#[test]
fn shared_values_are_read_again_and_cycles_are_refused() {
    let read: Vec<Vec<u8>> = from_slice(b"[&a [1, 2], *a]", Format::Yaml).unwrap();
    assert_eq!(read, [[1, 2], [1, 2]]);
    assert!(from_slice::<Value>(b"&a [*a]", Format::Yaml).is_err());
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        laughs += &format!("a{level}: &a{level} [{aliases}]\n");
    }
    let error = from_slice::<Value>(laughs.as_bytes(), Format::Yaml).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[test]
fn documents_of_a_stream_come_one_by_one_or_joined() {
    let lines = b"1\n2\n\"x\"\n3\n";
    let mut stream =
        Stream::<u8>::open(regauge::convert::Input::Bytes(lines), Format::Ndjson).unwrap();
    assert_eq!(stream.next().unwrap().unwrap(), 1);
    assert_eq!(stream.next().unwrap().unwrap(), 2);
    let error = stream.next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "ndjson: record 3, at $: found the text \"x\", expected u8");
    assert!(stream.next().is_none());

    let mut options = Options::new(Format::Ndjson, Format::Ndjson);
    options.documents = regauge::documents::Documents::Join;
    assert_eq!(from_slice::<Vec<u8>>(b"1\n2\n", &options).unwrap(), [1, 2]);
    options.documents = regauge::documents::Documents::Split;
    assert_eq!(to_vec(&[1, 2], &options).unwrap(), b"1\n2\n");
}

#[test]
fn options_apply() {
    let mut options = Options::new(Format::Json, Format::Json);
    options.json_read.comments = true;
    options.json_write.indent = Some(2);
    assert_eq!(from_slice::<Vec<u8>>(b"[1] // one", &options).unwrap(), [1]);
    let written = String::from_utf8(to_vec(&[1], &options).unwrap()).unwrap();
    assert_eq!(written.trim_end(), "[\n  1\n]");
    options.limits.depth = 2;
    let error = from_slice::<Value>(b"[[[1]]]", &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    options.limits.nodes = 3;
    assert_eq!(from_slice::<Value>(b"[1,2,3,4]", &options).unwrap_err().kind(), ErrorKind::Limit);
    // The losses of an approximation are told.
    options.on_loss = OnLoss::Approximate;
    let mut out = Vec::new();
    let summary = to_writer(&mut out, &[f64::NAN], &options).unwrap();
    assert_eq!((summary.documents, summary.fidelity.count()), (1, 1));
    // The reversible notation, there and back.
    let options = |format| {
        let mut options = Options::new(format, format);
        (options.on_loss, options.unwrap) = (OnLoss::Wrap, true);
        options
    };
    let bytes = serde_bytes::ByteBuf::from(b"\xFF".to_vec());
    let written = to_vec(&bytes, options(Format::Json)).unwrap();
    assert!(written.starts_with(br#"{"$binary""#));
    let mut back = options(Format::Json);
    back.on_loss = OnLoss::Refuse;
    assert_eq!(from_slice::<serde_bytes::ByteBuf>(&written, &back).unwrap(), bytes);
    let mut strict = Options::new(Format::Json, Format::Json);
    strict.duplicate_keys = regauge::convert::DuplicateKeys::Refuse;
    let twice = br#"{"a": {"b": 1, "b": 2}}"#;
    let error = from_slice::<HashMap<String, Value>>(twice, &strict).unwrap_err();
    assert!(error.to_string().starts_with("json: at $.a.b: found the key \"b\""), "{error}");
}

/// The deepest nesting that readers let through by default, in the small stack of a test's thread.
#[test]
fn deep_documents_fit_the_stack() {
    #[derive(Deserialize, Serialize, Debug)]
    struct Chain {
        next: Option<Box<Chain>>,
    }
    #[derive(Deserialize, Debug)]
    #[serde(untagged)]
    #[allow(dead_code, reason = "only read")]
    enum Tree {
        Leaf(u8),
        Branch(Vec<Tree>),
    }
    let depth = regauge::Limits::default().depth as usize;
    let nested = "[".repeat(depth) + &"]".repeat(depth);
    from_slice::<Value>(nested.as_bytes(), Format::Json).unwrap();
    from_slice::<Tree>(nested.as_bytes(), Format::Json).unwrap();
    let chain = "{\"next\":".repeat(depth) + "null" + &"}".repeat(depth);
    let chain: Chain = from_slice(chain.as_bytes(), Format::Json).unwrap();
    to_vec(&chain, Format::Json).unwrap();
    assert!(from_slice::<Value>("[".repeat(100_000).as_bytes(), Format::Json).is_err());
}
