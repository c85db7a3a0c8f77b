//! What the writer makes of events from any format.

use super::*;
use crate::bytes::buffer::Out;
use crate::bytes::output::StreamOutput;
use crate::policy::event::{Sink, Writer as _};
use crate::policy::fidelity::Fidelity;

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
