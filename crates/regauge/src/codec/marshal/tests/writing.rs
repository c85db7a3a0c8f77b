//! What the writer makes of events from any format.

use super::*;
use crate::bytes::buffer::Out;
use crate::bytes::output::StreamOutput;
use crate::marshal::Writer;
use crate::policy::event::{Ext, ExtBuf, Sink, Writer as _};
use crate::policy::fidelity::Fidelity;
use crate::{ErrorKind, Timestamp};

/// Checks that a JSON document becomes these bytes, after the version.
#[track_caller]
fn check(json: &str, bytes: &[u8]) {
    let mut options = Options::new(Format::Json, Format::Marshal);
    options.documents = crate::policy::documents::Documents::Keep;
    let written = convert_bytes(json.as_bytes(), &options).unwrap();
    let expected = [b"\x04\x08", bytes].concat();
    assert_eq!(written.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

#[test]
fn plain_data() {
    check("null", b"0");
    check("true", b"T");
    check("[false]", b"[\x06F");
    check("[]", b"[\0");
    check("{}", b"{\0");
    check("1", b"i\x06");
    check("-129", b"i\xFF\x7F");
    check("1073741823", b"i\x04\xFF\xFF\xFF\x3F");
    check("1073741824", b"l+\x07\0\0\0\x40");
    check("-1073741825", b"l-\x07\x01\0\0\x40");
    check("18446744073709551615", b"l+\x09\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF");
    check("18446744073709551616", b"l+\x0A\0\0\0\0\0\0\0\0\x01\0");
    check("1.5e300", b"f\x0C1.5e300");
    check("\"a\"", b"I\"\x06a\x06:\x06ET");
    check(
        r#"{"a": "é", "b": ["", "a"]}"#,
        b"{\x07I\"\x06a\x06:\x06ETI\"\x07\xC3\xA9\x06;\0TI\"\x06b\x06;\0T[\x07I\"\0\x06;\0TI\"\x06a\x06;\0T",
    );
}

#[test]
fn counts_of_every_width() {
    for count in [1, 122, 123, 255, 256, 65_535, 65_536] {
        let mut json = "[[".to_owned();
        json.push_str(&vec!["1"; count].join(","));
        json.push_str("],[2]]");
        let (number, length) = crate::codec::marshal::types::long_bytes(count as i32);
        let expected =
            [b"[\x07[", &number[..length], &b"i\x06".repeat(count), b"[\x06i\x07"].concat();
        check(&json, &expected);
    }
}

/// A value in nested containers of unknown length, written through an output that receives its
/// bytes in pieces.
#[test]
fn containers_that_do_not_fit_into_memory() {
    let mut bytes = Vec::new();
    {
        let out = Out::flushing_at(64, StreamOutput::new(&mut bytes), 1 << 20);
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Marshal);
        let mut writer = crate::codec::marshal::Writer::new(out, Default::default(), fidelity);
        writer.set_hold_bytes(256);
        writer.begin_array(None).unwrap();
        for outer in 0..200 {
            writer.begin_map(None).unwrap();
            for inner in 0..outer {
                writer.key(&format!("key {inner}")).unwrap();
                writer.i64(inner).unwrap();
            }
            writer.end_map().unwrap();
        }
        writer.end_array().unwrap();
        writer.end_document().unwrap();
        writer.finish().unwrap();
    }
    let value = read(&bytes);
    let Value::Array(maps) = value else { panic!("no array") };
    assert_eq!(maps.len(), 200);
    for (outer, map) in maps.iter().enumerate() {
        let Value::Map(pairs) = map else { panic!("no map") };
        assert_eq!(pairs.len(), outer);
        for (inner, (key, value)) in pairs.iter().enumerate() {
            assert_eq!(key, &Value::Text(format!("key {inner}")));
            assert_eq!(value, &Value::Int(inner as i64));
        }
    }
    // The outermost count was patched: five bytes, whatever its value.
    assert_eq!(bytes[..8], *b"\x04\x08[\x04\xC8\0\0\0");
}

/// Values that would be something else in Ruby are refused.
#[test]
fn types_that_do_not_fit() {
    for (json, message) in [
        (
            r#"{"$ruby:object": "Foo", "value": 1}"#,
            "found a plain value in a Ruby type, expected the map of its fields",
        ),
        (
            r#"{"$ruby:regexp": "q", "value": "a"}"#,
            "found the options \"q\" of a Ruby regular expression, expected letters of mixfn",
        ),
        (
            r#"{"$ruby:class": "Foo", "value": "Bar"}"#,
            "found text in a Ruby type, expected its name",
        ),
        (
            r#"{"$ruby:raw": "", "value": {"$binary": {"base64": "bzoIRm9vAA==", "subType": "00"}}}"#,
            "found other bytes in a Ruby type, expected the bytes of one number",
        ),
        (
            r#"{"$ruby:encoding": "EUC-TW", "value": "a"}"#,
            "found text in the encoding \"EUC-TW\", which is unknown or lacks one of its characters",
        ),
        (
            r#"{"$ruby:ivars": "", "value": {"value": 1}}"#,
            "found a map that ends early in a Ruby type, expected a map of `value` and `ivars`",
        ),
        (
            r#"{"$ruby:set": "Set", "value": {"a": 1}}"#,
            "found a map in a Ruby type, expected an array",
        ),
        (r#"[{"$alias": 1}]"#, "found an alias of value 1, which has not been written yet"),
    ] {
        let error = unwrapped(json.as_bytes()).unwrap_err();
        assert_eq!(error.message(), message, "{json}");
    }
}

fn map(keys: &[Value]) -> Value {
    Value::Map(keys.iter().map(|key| (key.clone(), Value::Null)).collect())
}

fn write_with(value: &Value, policy: OnLoss) -> crate::Result<Vec<u8>> {
    let fidelity = Fidelity::new(policy, Format::Marshal);
    let mut writer = Writer::new(Out::in_memory(), Default::default(), fidelity);
    value.drive(&mut writer)?;
    writer.end_document()?;
    writer.finish()?;
    Ok(writer.into_out().into_vec())
}

/// Ruby's Hash keeps one of `"a"` and the byte `a`, and one of `0.0` and `-0.0`.
#[test]
fn keys_that_ruby_takes_for_one_are_refused() {
    let write = |keys: &[Value]| write_with(&map(keys), OnLoss::Refuse);
    let bytes = |raw: &[u8]| Value::Bytes(raw.to_vec());
    let offset = |text| Value::Ext(ExtBuf::from(Ext::OffsetDateTime(text)));
    let noon = Value::Timestamp(Timestamp { seconds: 43_200, nanoseconds: 0 });
    for (one, other) in [
        ("a".into(), bytes(b"a")),
        ("".into(), bytes(b"")),
        (Value::F64(0.0), Value::F64(-0.0)),
        (noon.clone(), offset("1970-01-01T13:00:00+01:00")),
        (offset("1970-01-01T12:00:00+00:00"), offset("1970-01-01T13:00:00+01:00")),
        (Value::Array(vec!["a".into()]), Value::Array(vec![bytes(b"a")])),
        (map(&[Value::F64(0.0)]), map(&[Value::F64(-0.0)])),
    ] {
        for keys in [[&one, &other], [&other, &one]] {
            let error = write(&[Value::Int(1), keys[0].clone(), Value::Null, keys[1].clone()]);
            let error = error.expect_err("equal in Ruby");
            assert_eq!(error.kind(), ErrorKind::Refused, "{one} {other}");
            let message = error.to_string();
            assert!(message.contains("which equals another key of the map in Ruby"), "{message}");
        }
    }
    // Ruby tells these apart.
    for keys in [
        ["é".into(), bytes("é".as_bytes())],
        ["a".into(), bytes(b"b")],
        [Value::Int(1), Value::F64(1.0)],
        [Value::Int(0), Value::F64(-0.0)],
        [Value::F64(f64::NAN), Value::F64(f64::NAN)],
        ["a".into(), Value::Ext(ExtBuf::from(Ext::Symbol("a")))],
        [Value::Array(vec!["a".into()]), Value::Array(vec![bytes(b"b")])],
        [noon, offset("1970-01-01T13:00:00+02:00")],
        ["a".into(), "a".into()],
        [bytes(b"a"), bytes(b"a")],
    ] {
        assert_eq!(read(&write(&keys).unwrap()).to_string(), map(&keys).to_string());
    }
}

/// The earlier keys of a map are found in what was written of it.
#[test]
fn earlier_keys_are_looked_up_where_the_map_is_in_memory() {
    let inner = |count: i64| Value::Array((0..count).map(Value::Int).collect());
    let bytes = |raw: &[u8]| Value::Bytes(raw.to_vec());
    let document = |last: Value| {
        Value::Map(vec![
            ("long".into(), inner(400)),
            (Value::Int(7), map(&["x".into(), bytes(b"long")])),
            ("é".into(), "x".into()),
            ("short".into(), Value::F64(1.5)),
            (bytes(b"other"), Value::Null),
            (last, Value::Null),
        ])
    };
    for last in [bytes(b"long"), bytes(b"short"), "other".into()] {
        write_with(&document(last), OnLoss::Refuse).expect_err("equal in Ruby");
    }
    let last = document(bytes(b"x"));
    assert_eq!(read(&write_with(&last, OnLoss::Refuse).unwrap()), last);

    // What was passed on to an output is not known any more.
    let mut output = Vec::new();
    let out = Out::flushing_at(64, StreamOutput::new(&mut output), 1 << 20);
    let fidelity = Fidelity::new(OnLoss::Refuse, Format::Marshal);
    let mut writer = Writer::new(out, Default::default(), fidelity);
    writer.begin_map(Some(2)).unwrap();
    writer.key("a").unwrap();
    writer.str(&"long text ".repeat(100)).unwrap();
    writer.key("b").unwrap();
    writer.null().unwrap();
    let error = writer.key_value(&bytes(b"c")).unwrap_err();
    assert!(error.to_string().contains("whose earlier keys are no longer known"), "{error}");
}

#[test]
fn equal_keys_become_others_or_are_reported() {
    let keys = [Value::Bytes(b"a".to_vec()), "a".into(), Value::F64(0.0), Value::F64(-0.0)];
    let mut wrapped = Options::new(Format::Msgpack, Format::Marshal);
    wrapped.on_loss = OnLoss::Wrap;
    let msgpack = crate::msgpack::to_vec(&map(&keys), OnLoss::Refuse).unwrap();
    let marshal = convert_bytes(&msgpack, &wrapped).unwrap();
    let mut unwrapped = Options::new(Format::Marshal, Format::Msgpack);
    unwrapped.unwrap = true;
    assert_eq!(convert_bytes(&marshal, &unwrapped).unwrap(), msgpack);

    // Otherwise the report says so.
    let fidelity = Fidelity::new(OnLoss::Approximate, Format::Marshal);
    let mut writer = Writer::new(Out::in_memory(), Default::default(), fidelity);
    map(&keys).drive(&mut writer).unwrap();
    assert_eq!(writer.fidelity().count(), 2);
}

/// A hash that compares its keys by identity keeps each of them.
#[test]
fn keys_by_identity_may_be_equal() {
    let raw = b"\x04\x08C:\x09Hash{\x07\"\x06ai\x06I\"\x06a\x06:\x06ETi\x07";
    let options = Options::new(Format::Marshal, Format::Marshal);
    assert_eq!(convert_bytes(raw, &options).unwrap(), raw);
}
