//! Extended JSON beyond the corpus: what is refused, what streams, and conversions to other
//! formats.

use super::*;
use crate::policy::fidelity::LossKind;
use crate::{Options, convert_bytes};

fn options(from: Format, to: Format, form: ExtendedJson) -> Options {
    let mut options = Options::new(from, to);
    options.documents = crate::policy::documents::Documents::Keep;
    options.bson.extended_json = Some(form);
    options
}

/// Converts Extended JSON to Extended JSON in this form.
#[track_caller]
fn check(json: &str, form: ExtendedJson, expected: &str) {
    let written = convert_bytes(json.as_bytes(), &options(Format::Json, Format::Json, form));
    assert_eq!(String::from_utf8(written.unwrap()).unwrap().trim_end(), expected);
}

#[test]
fn from_one_form_to_the_other() {
    let (canonical, relaxed) = (ExtendedJson::Canonical, ExtendedJson::Relaxed);
    for (a, b) in [
        (r#"[{"$numberInt":"1"},{"$numberLong":"3000000000"}]"#, "[1,3000000000]"),
        (
            r#"{"a":{"$numberDouble":"1.5"},"b":[{"$numberDouble":"-0.0"}]}"#,
            r#"{"a":1.5,"b":[-0.0]}"#,
        ),
        (
            r#"{"a":{"$date":{"$numberLong":"1356351330501"}}}"#,
            r#"{"a":{"$date":"2012-12-24T12:15:30.501Z"}}"#,
        ),
        (r#"{"a":{"$date":{"$numberLong":"-1"}}}"#, r#"{"a":{"$date":{"$numberLong":"-1"}}}"#),
        (
            r#"{"a":{"$code":"f()","$scope":{"x":{"$numberInt":"1"}}}}"#,
            r#"{"a":{"$code":"f()","$scope":{"x":1}}}"#,
        ),
        (
            r#"{"$ref":"a","$id":{"$oid":"000102030405060708090a0b"}}"#,
            r#"{"$ref":"a","$id":{"$oid":"000102030405060708090a0b"}}"#,
        ),
    ] {
        check(a, canonical, a);
        check(a, relaxed, b);
        check(b, relaxed, b);
        check(b, canonical, a);
    }
    // A long that would fit 32 bits stays a long only in the canonical form.
    check(r#"{"a":{"$numberLong":"1"}}"#, canonical, r#"{"a":{"$numberLong":"1"}}"#);
    check(r#"{"a":{"$numberLong":"1"}}"#, relaxed, r#"{"a":1}"#);
    check(
        r#"{"a":{"$date":"2012-12-24T14:15:30.50+02:00"}}"#,
        relaxed,
        r#"{"a":{"$date":"2012-12-24T12:15:30.500Z"}}"#,
    );
    check(r#"{"$scope":{},"$code":"a"}"#, relaxed, r#"{"$code":"a","$scope":{}}"#);
}

#[test]
fn malformed_notation_says_what_was_expected() {
    for (json, expected) in [
        (r#"{"a": {"$oid": "xyz"}}"#, "24 hexadecimal digits and nothing else"),
        (r#"{"a": {"$numberInt": "2147483648"}}"#, "32-bit integer"),
        (r#"{"a": {"$numberInt": "+1"}}"#, "32-bit integer"),
        (r#"{"a": {"$numberDouble": "inf"}}"#, "digits of a number"),
        (r#"{"a": {"$date": "yesterday"}}"#, "a date as text"),
        (r#"{"a": {"$date": "2012-12-24T12:15:30+2:000"}}"#, "a date as text"),
        (r#"{"a": {"$code": "a", "$scope": {"$oid": "000102030405060708090a0b"}}}"#, "$scope"),
        (r#"{"a": {"$uuid": "73ffd264-44b34c69-90e8-e7d1dfc035d4"}}"#, "a UUID"),
    ] {
        let options = options(Format::Json, Format::Bson, ExtendedJson::Canonical);
        let error = convert_bytes(json.as_bytes(), &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Syntax);
        assert!(error.message().contains(expected), "{error}");
        assert_eq!(error.path().unwrap().to_string(), "$.a", "{error}");
    }
}

#[test]
fn a_map_of_the_users_own_that_looks_like_the_notation() {
    let bytes =
        framed("03 6100 15000000 02 246f696400 02000000 6200 00".replace("15", "11").as_str());
    let mut options = options(Format::Bson, Format::Json, ExtendedJson::Canonical);
    let error = convert_bytes(&bytes, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.message().contains("first key is `$oid`"), "{error}");
    options.on_loss = OnLoss::Approximate;
    let mut text = Vec::new();
    let output = StreamOutput::new(&mut text);
    let input = crate::convert::Input::Bytes(&bytes);
    let summary = crate::convert(input, output, &options, &mut |_| Ok(())).unwrap();
    assert_eq!(text, b"{\"a\":{\"$oid\":\"b\"}}\n");
    assert_eq!(summary.fidelity.losses()[0].kind, LossKind::Key);
}

#[test]
fn what_extended_json_cannot_hold() {
    let cbor = b"\xA1\x61a\xC1\xFB\x3F\xF0\x00\x00\x00\x00\x00\x00";
    let json = convert_bytes(cbor, &options(Format::Cbor, Format::Json, ExtendedJson::Relaxed));
    assert_eq!(json.unwrap(), b"{\"a\":{\"$date\":\"1970-01-01T00:00:01Z\"}}\n");
    let finer = b"\xA1\x61a\xC1\xFB\x3F\x60\x00\x00\x00\x00\x00\x00";
    let error = convert_bytes(finer, &options(Format::Cbor, Format::Json, ExtendedJson::Relaxed));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Refused);
}

#[test]
fn lines_of_extended_json() {
    let lines =
        b"{\"a\":{\"$numberLong\":\"1\"}}\n{\"b\":{\"$oid\":\"000102030405060708090a0b\"}}\n";
    let there = options(Format::Ndjson, Format::Bson, ExtendedJson::Canonical);
    let bson = convert_bytes(lines, &there).unwrap();
    assert_eq!(bson[4], 0x12);
    let back = options(Format::Bson, Format::Ndjson, ExtendedJson::Canonical);
    assert_eq!(convert_bytes(&bson, &back).unwrap(), lines);
    // In a format other than BSON, an integer is an ordinary integer.
    let packed =
        convert_bytes(lines, &options(Format::Ndjson, Format::Cbor, ExtendedJson::Relaxed));
    assert_eq!(packed.unwrap_err().kind(), ErrorKind::Refused);
}
