//! Every kind of type in every format, and back.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use regauge::serde::{Decoded, from_reader, from_slice, from_value, to_value, to_vec};
use regauge::{ErrorKind, Format, Value};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{ANY, Person, Shape, wrong};

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
    let packed = to_vec(v, Format::Msgpack).unwrap();
    let by_name = rmp_serde::to_vec_named(v).unwrap();
    // It writes a struct without fields as an empty array, which is null here as in serde_json.
    if json != "null" || by_name != [0x90] {
        assert_eq!(packed, by_name, "as rmp-serde has it");
        assert_eq!(&rmp_serde::from_slice::<T>(&packed).unwrap(), v, "read by rmp-serde");
        // Its default is structs as arrays, of which untagged enums know no variant.
        let compact = rmp_serde::to_vec(v).unwrap();
        if rmp_serde::from_slice::<T>(&compact).is_ok() {
            assert_eq!(&from_slice::<T>(&compact, Format::Msgpack).unwrap(), v, "its arrays");
        }
    }
    round_trip(v);
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Unit;

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Meters(f64);

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Pair(u8, String);

#[test]
fn every_kind_of_type_is_as_serde_json_and_rmp_serde_have_it() {
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
    // The example of rmp-serde.
    is_json(&Human { age: 42, name: "John".into() }, r#"{"age":42,"name":"John"}"#);
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Human {
    age: u32,
    name: String,
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
        "json: at $: found the integer 9007199254740993, which a double cannot hold; set \
         `on_loss` to `Approximate` to read the nearest number"
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

/// In text a type has its form for people, also where it is a key; elsewhere that for machines.
#[test]
fn keys_have_the_form_of_their_format() {
    use std::net::{IpAddr, Ipv4Addr};
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let map = BTreeMap::from([(address, 1)]);
    for format in
        [Format::Json, Format::Yaml, Format::Bson, Format::Msgpack, Format::Cbor, Format::Marshal]
    {
        let bytes = to_vec(&map, format).unwrap_or_else(|error| panic!("{format}: {error}"));
        let back: BTreeMap<IpAddr, i32> = from_slice(&bytes, format).unwrap();
        assert_eq!(back, map, "{format}");
    }
    assert_eq!(to_vec(&map, Format::Json).unwrap(), b"{\"127.0.0.1\":1}\n");
    assert_eq!(to_vec(&map, Format::Msgpack).unwrap(), b"\x81\x81\xa2V4\x94\x7f\0\0\x01\x01");
    // Python has no dict as a key.
    assert!(to_vec(&map, Format::Pickle).is_err());
}

#[test]
fn none_is_null_wherever_it_stands() {
    let map = BTreeMap::from([(None::<u8>, 1)]);
    for format in [Format::Yaml, Format::Msgpack, Format::Cbor, Format::Marshal, Format::Pickle] {
        let back: BTreeMap<Option<u8>, i32> =
            from_slice(&to_vec(&map, format).unwrap(), format).unwrap();
        assert_eq!(back, map, "{format}");
    }
    let anchor = Value::Anchor(1, Box::new(Value::Null));
    assert_eq!(from_value::<Option<u8>>(&anchor).unwrap(), None);
    let mut options = regauge::Options::new(Format::Cbor, Format::Cbor);
    options.on_loss = regauge::OnLoss::Approximate;
    assert_eq!(from_slice::<Option<u8>>(b"\xf7", &options).unwrap(), None);
}

#[test]
fn a_number_is_what_its_type_holds() {
    assert_eq!(from_slice::<f64>(b"100000000000000000000", Format::Json).unwrap(), 1e20);
    assert_eq!(
        from_slice::<f64>(b"-170141183460469231731687303715884105728", Format::Json).unwrap(),
        -2f64.powi(127)
    );
    // 2^128 - 1 and beyond: the nearest double is another number.
    let widest = "340282366920938463463374607431768211455";
    assert!(wrong::<f64>(widest).contains("which a double cannot hold"));
    assert!(wrong::<f32>(widest).contains("which an f32 cannot hold"));
    assert_eq!(from_slice::<f32>(b"0.1", Format::Json).unwrap(), 0.1);
    assert_eq!(from_slice::<f32>(b"16777216", Format::Json).unwrap(), 16_777_216.0);
    for (text, said) in [
        ("16777217", "the integer 16777217, which an f32 cannot hold"),
        ("1e300", "the number 1e300, which an f32 cannot hold"),
    ] {
        assert!(wrong::<f32>(text).contains(said), "{}", wrong::<f32>(text));
    }
    // What JavaScript prints for 2^63 is no double.
    let text = b"9223372036854776000";
    assert!(wrong::<f64>("9223372036854776000").contains("which a double cannot hold; set "));
    let mut options = regauge::Options::new(Format::Json, Format::Json);
    options.on_loss = regauge::OnLoss::Approximate;
    assert_eq!(from_slice::<f64>(text, &options).unwrap(), 9_223_372_036_854_775_808.0);
    assert!(from_slice::<f32>(b"1e300", &options).unwrap().is_infinite());
    assert!(
        wrong::<u8>("18446744073709551616").contains("found the integer 18446744073709551616, ")
    );
}

/// The number of a variant, which some libraries write, is no text.
#[test]
fn variants_are_numbers_for_machines_alone() {
    assert_eq!(from_slice::<Shape>(b"\0", Format::Msgpack).unwrap(), Shape::Unit);
    assert!(wrong::<Shape>("0").contains("found the integer 0"));
}

/// Types by which other libraries tell their own serializers more than serde knows.
#[test]
fn private_types_of_other_libraries_are_refused() {
    #[derive(Serialize)]
    #[serde(rename = "$serde_json::private::RawValue")]
    struct Raw {
        #[serde(rename = "$serde_json::private::RawValue")]
        text: &'static str,
    }
    let error = to_vec(&[Raw { text: "[1]" }], Format::Json).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        error.to_string().contains("a raw value of serde_json, which only serde_json writes"),
        "{error}"
    );
}

#[test]
fn streams_go_to_other_threads() {
    fn is_send<T: Send>(_: &T) {}
    is_send(
        &regauge::serde::Stream::<u8>::open(regauge::convert::Input::Bytes(b"1"), Format::Json)
            .unwrap(),
    );
}
