//! What the reader returns for each type, its limits, and hostile input.

use super::*;
use crate::ErrorKind;
use crate::codec::marshal;

/// Checks that a document (after the version) becomes this in the reversible notation.
#[track_caller]
fn check(bytes: &[u8], notation: &str) {
    let bytes = [b"\x04\x08", bytes].concat();
    let json = wrapped(&bytes).unwrap();
    assert_eq!(std::str::from_utf8(&json).unwrap().trim_end(), notation);
    assert_eq!(exact(&bytes).unwrap().escape_ascii().to_string(), bytes.escape_ascii().to_string());
}

/// Checks that it becomes this as data alone.
#[track_caller]
fn check_data(bytes: &[u8], json: &str) {
    let data = as_data(&[b"\x04\x08", bytes].concat()).unwrap();
    assert_eq!(std::str::from_utf8(&data).unwrap().trim_end(), json);
}

#[test]
fn strings_by_their_encoding() {
    check(b"I\"\x07\xC3\xA9\x06:\x06ET", r#""é""#);
    check(b"I\"\x06a\x06:\x06EF", r#""a""#);
    check(b"\"\x06a", r#"{"$binary":{"base64":"YQ==","subType":"00"}}"#);
    check(b"I\"\x06\xFF\x06:\x06ET", r#"{"$text":{"base64":"/w=="}}"#);
    check(
        b"I\"\x06\xE9\x06:\x06EF",
        r#"{"$ruby:encoding":"US-ASCII","value":{"$binary":{"base64":"6Q==","subType":"00"}}}"#,
    );
    check(
        b"I\"\x06\xE9\x06:\x0Dencoding\"\x0FISO-8859-1",
        r#"{"$ruby:encoding":"ISO-8859-1","value":"é"}"#,
    );
    check(
        b"[\x07I\"\x07\xA4\xA2\x06:\x0Dencoding\"\x0BEUC-JPI\"\x06b\x06;\x00@\x07",
        r#"[{"$ruby:encoding":"EUC-JP","value":"あ"},{"$ruby:encoding":"EUC-JP","value":"b"}]"#,
    );
    check(
        b"I\"\x06a\x07:\x06ET:\x07@n[\x00",
        r#"{"$ruby:ivars":"","value":{"value":"a","ivars":{"@n":[]}}}"#,
    );
}

#[test]
fn bytes_as_text_where_asked() {
    let mut options = Options::new(Format::Marshal, Format::Json);
    options.marshal.binary = crate::codec::marshal::Binary::Text;
    let json = convert_bytes(b"\x04\x08[\x07\"\x06a\"\x07\xC3\xA9", &options).unwrap();
    assert_eq!(json, "[\"a\",\"é\"]\n".as_bytes());
    let error = convert_bytes(b"\x04\x08\"\x06\xFF", &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
}

#[test]
fn symbols() {
    check(b"[\x07:\x06a;\x00", r#"[{"$symbol":"a"},{"$symbol":"a"}]"#);
    check(b"I:\x07\xC3\xA9\x06:\x06ET", r#"{"$symbol":"é"}"#);
    check(
        b":\x06\xFF",
        r#"{"$ruby:symbol":"","value":{"$binary":{"base64":"/w==","subType":"00"}}}"#,
    );
    check(
        b"I:\x07\xA4\xA2\x06:\x0Dencoding\"\x0BEUC-JP",
        r#"{"$ruby:symbol":"","value":{"$ruby:encoding":"EUC-JP","value":"あ"}}"#,
    );
    check(b"{\x06:\x06ai\x06", r#"{"$key:{\"$symbol\":\"a\"}":1}"#);
    check_data(b"{\x07:\x06ai\x06:\x06b;\x00", r#"{"a":1,"b":"a"}"#);
}

#[test]
fn objects() {
    check(b"o:\x08Foo\x06:\x07@ai\x06", r#"{"$ruby:object":"Foo","value":{"@a":1}}"#);
    check(b"S:\x08Foo\x06:\x06ai\x06", r#"{"$ruby:struct":"Foo","value":{"a":1}}"#);
    check(
        b"u:\x08Foo\x06a",
        r#"{"$ruby:dump":"Foo","value":{"$binary":{"base64":"YQ==","subType":"00"}}}"#,
    );
    check(b"Iu:\x08Foo\x06a\x06:\x06ET", r#"{"$ruby:dump":"Foo","value":"a"}"#);
    check(b"U:\x08Foo[\x06i\x06", r#"{"$ruby:marshal_dump":"Foo","value":[1]}"#);
    check(b"d:\x08Foo[\x06i\x06", r#"{"$ruby:data":"Foo","value":[1]}"#);
    check(b"C:\x08Foo[\x06i\x06", r#"{"$ruby:subclass":"Foo","value":[1]}"#);
    check(b"IC:\x08Foo\"\x06a\x06:\x06ET", r#"{"$ruby:subclass":"Foo","value":"a"}"#);
    check(b"e:\x08Foo[\x06i\x06", r#"{"$ruby:extended":"Foo","value":[1]}"#);
    check(b"C:\x09Hash{\x00", r#"{"$ruby:identity":"","value":{}}"#);
    check(b"}\x00i\x06", r#"{"$ruby:default":"","value":{"hash":{},"default":1}}"#);
    check(b"c\x0BString", r#"{"$ruby:class":"String","value":"String"}"#);
    check(b"m\x0BKernel", r#"{"$ruby:module":"Kernel","value":"Kernel"}"#);
    check(b"M\x0BKernel", r#"{"$ruby:class_or_module":"Kernel","value":"Kernel"}"#);
    check(b"I/\x06a\x07\x06:\x06EF", r#"{"$ruby:regexp":"mix","value":"a"}"#);
    check(b"o:\x08Set\x06:\x0A@hash}\x07i\x06Ti\x07TF", r#"{"$ruby:set":"Set","value":[1,2]}"#);
    check(b"I[\x00\x06:\x07@ai\x06", r#"{"$ruby:ivars":"","value":{"value":[],"ivars":{"@a":1}}}"#);
}

#[test]
fn objects_as_data() {
    check_data(b"o:\x08Foo\x06:\x07@ai\x06", r#"{"@a":1}"#);
    check_data(b"}\x06I\"\x06a\x06:\x06ETi\x07i\x06", r#"{"a":2}"#);
    check_data(b"o:\x08Set\x06:\x0A@hash}\x07i\x06Ti\x07TF", "[1,2]");
    check_data(b"[\x07I[\x00\x06:\x07@ai\x06T", "[[],true]");
    check_data(b"[\x07I\"\x06a\x07:\x06ET:\x07@n[\x00T", r#"["a",true]"#);
    check_data(b"[\x07[\x06i\x06@\x06", "[[1],[1]]");
}

#[test]
fn values_that_are_understood() {
    check(
        b"Iu:\x09Time\x0D \x80\x11\xC0\0\0\0\0\x06:\x09zoneI\"\x08UTC\x06:\x06EF",
        r#"{"$time":"1970-01-01T00:00:00Z"}"#,
    );
    check(
        b"Iu:\x09Time\x0D \x80\x11\xC0\x40\xE2\x01\0\x09:\x09zoneI\"\x08UTC\x06:\x06EF:\x0Dnano_numi\x02\x15\x03:\x0Dnano_deni\x06:\x0Dsubmicro\"\x07\x78\x90",
        r#"{"$time":"1970-01-01T00:00:00.123456789Z"}"#,
    );
    check(
        b"Iu:\x09Time\x0DA\0\x1E\x80\0\0P\x10\x07:\x09zone0:\x0Boffseti\x02 \x1C",
        r#"{"$offsetDateTime":"2020-01-02T03:04:05+02:00"}"#,
    );
    check(
        b"U:\x09Date[\x0Bi\0i\x03\xE3\x84%i\0i\0i\0f\x0C2299161",
        r#"{"$localDate":"2020-01-02"}"#,
    );
    check(
        b"U:\x0DDateTime[\x0Bi\0i\x03\xE3\x84%i\x02\x05\x0Fi\x04\0e\xCD\x1Di\x02 \x1Cf\x0C2299161",
        r#"{"$ruby:marshal_dump":"DateTime","value":[0,2458851,3845,500000000,7200,2299161.0]}"#,
    );
    check(
        b"u:\x0FBigDecimal\x2036:0.10000000000000000001e1",
        r#"{"$decimal":"1.0000000000000000001"}"#,
    );
    // A decimal that a double also represents comes back as a decimal.
    check(b"u:\x0FBigDecimal\x0E18:0.11e1", r#"{"$decimal":"1.1"}"#);
    check(b"u:\x0FBigDecimal\x0D18:0.5e1", r#"{"$decimal":"5.0"}"#);
    check(b"u:\x0FBigDecimal\x1418:-0.123456e73", r#"{"$decimal":"-1.23456e72"}"#);
    check(b"u:\x0FBigDecimal\x0C18:-0.0", r#"{"$decimal":"-0.0"}"#);
    check(b"U:\x0CComplex[\x07f\x081.5f\x082.5", r#"{"$complex":[1.5,2.5]}"#);
    check(b"U:\x0DRational[\x07i\x06i\x08", r#"{"$ruby:marshal_dump":"Rational","value":[1,3]}"#);
}

#[test]
fn references_and_cycles() {
    check(b"[\x07[\x00@\x06", r#"[{"$anchor":1,"value":[]},{"$alias":1}]"#);
    check(b"[\x06@\x00", r#"{"$anchor":1,"value":[{"$alias":1}]}"#);
    check(
        b"U:\x08Foo[\x06@\x00",
        r#"{"$anchor":1,"value":{"$ruby:marshal_dump":"Foo","value":[{"$alias":1}]}}"#,
    );
    check(b"[\x07f\x081.5@\x06", "[1.5,1.5]");
    check(b"{\x06[\x00@\x06", r#"{"$key:{\"$anchor\":1,\"value\":[]}":{"$alias":1}}"#);

    for cycle in [
        &b"[\x06@\x00"[..],
        b"{\x06i\x06@\x00",
        b"o:\x06A\x06:\x07@a@\x00",
        b"U:\x06A@\x00",
        b"[\x06[\x06@\x00",
        b"I\"\x00\x06:\x07@a@\x00",
        b"I[\x00\x06:\x07@a@\x00",
    ] {
        let bytes = [b"\x04\x08", cycle].concat();
        let mut options = Options::new(Format::Marshal, Format::Json);
        options.on_loss = OnLoss::Approximate;
        match convert_bytes(&bytes, &options) {
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Refused);
                assert!(error.message().contains("cannot hold a cycle"), "{error}");
            }
            // As data, the instance variables of text and arrays are omitted.
            Ok(_) => assert!(cycle.starts_with(b"I"), "{cycle:?}"),
        }
    }
}

/// Levels of arrays, each of which holds the previous one nine times.
fn laughs(levels: usize) -> Vec<u8> {
    let mut bytes = b"\x04\x08[".to_vec();
    bytes.push(levels as u8 + 6);
    bytes.extend(b"[\x00");
    for level in 1..=levels {
        bytes.extend(b"[\x0E");
        for _ in 0..9 {
            bytes.push(b'@');
            bytes.push(level as u8 + 5);
        }
    }
    bytes
}

/// Refused before much work is done: counts allocate nothing, and links have a budget.
#[test]
fn hostile_input_is_refused_at_once() {
    let nest = |open: &[u8], count: usize| [b"\x04\x08", &*open.repeat(count), b"0"].concat();
    let strings = {
        // One text of 1 MB, and 300,000 links to it.
        let mut bytes = b"\x04\x08[\x03\xE1\x93\x04\"\x03\x40\x42\x0F".to_vec();
        bytes.extend(vec![b'a'; 1_000_000]);
        bytes.extend(b"@\x06".repeat(300_000));
        bytes
    };
    for (name, bytes, kind) in [
        ("laughs", laughs(40), ErrorKind::Limit),
        ("strings", strings, ErrorKind::Limit),
        ("arrays", nest(b"[\x06", 1_000_000), ErrorKind::Limit),
        ("ivars", nest(b"I", 1_000_000), ErrorKind::Limit),
        ("classes", nest(b"C:\x06A", 300_000), ErrorKind::Limit),
        ("modules", nest(b"e:\x06A", 300_000), ErrorKind::Limit),
        ("objects", nest(b"o:\x06A\x06:\x06a", 300_000), ErrorKind::Limit),
        ("dumps", nest(b"U:\x06A", 300_000), ErrorKind::Limit),
        ("keys", nest(b"{\x06", 1_000_000), ErrorKind::Limit),
        ("count", b"\x04\x08[\x04\xFF\xFF\xFF\x7F0".to_vec(), ErrorKind::Truncated),
        ("hash", b"\x04\x08{\x04\xFF\xFF\xFF\x7F0".to_vec(), ErrorKind::Truncated),
        ("length", b"\x04\x08\"\x04\xFF\xFF\xFF\x7F0".to_vec(), ErrorKind::Limit),
        ("integer", b"\x04\x08l+\x04\xFF\xFF\xFF\x7F0".to_vec(), ErrorKind::Limit),
    ] {
        let error = as_data(&bytes).unwrap_err();
        assert_eq!(error.kind(), kind, "{name}: {error}");
    }
}

/// Text in text in text, each with instance variables, and sets in sets: looking past them at every
/// level would take minutes here.
#[test]
fn looking_ahead_is_bounded() {
    for (open, close) in [
        (&b"I\"\x00\x07:\x06ET:\x06a"[..], &b""[..]),
        (b"o:\x08Set\x06:\x0A@hash}\x06", b"TF"),
        (b"}\x00", b""),
        (b"I[\x00\x06:\x06a", b""),
    ] {
        let levels = 60;
        let filling = [b"[\x03\x20\xA1\x07".to_vec(), b"i\x00".repeat(500_000)].concat();
        let bytes =
            [b"\x04\x08", &*open.repeat(levels), &*filling, &*close.repeat(levels)].concat();
        for policy in [OnLoss::Wrap, OnLoss::Approximate] {
            let mut options = Options::new(Format::Marshal, Format::Json);
            options.on_loss = policy;
            match convert_bytes(&bytes, &options) {
                Ok(_) => {}
                // Sets that are not examined are hashes with hashes as keys.
                Err(error) => assert!(error.message().contains("in one another's keys"), "{error}"),
            }
        }
    }
}

#[test]
fn limits_one_below_at_and_above() {
    let nested = |count: usize| [b"\x04\x08", &*b"[\x06".repeat(count), b"0"].concat();
    let mut options = Options::new(Format::Marshal, Format::Json);
    options.limits.depth = 10;
    assert!(convert_bytes(&nested(9), &options).is_ok());
    assert!(convert_bytes(&nested(10), &options).is_ok());
    assert_eq!(convert_bytes(&nested(11), &options).unwrap_err().kind(), ErrorKind::Limit);

    let text = |length: u8| [&[4, 8, b'"', length + 5][..], &vec![b'a'; length.into()]].concat();
    let mut options = Options::new(Format::Marshal, Format::Msgpack);
    options.limits.token_bytes = 10;
    assert!(convert_bytes(&text(10), &options).is_ok());
    assert_eq!(convert_bytes(&text(11), &options).unwrap_err().kind(), ErrorKind::Limit);
    options.limits.token_bytes = 100;
    options.limits.record_bytes = 14;
    assert!(convert_bytes(&text(10), &options).is_ok());
    assert_eq!(convert_bytes(&text(11), &options).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn what_ruby_needs_is_kept_where_it_is_asked_for() {
    let read = |bytes: &[u8]| {
        let options = marshal::Options { inert: true, ..Default::default() };
        let limits = Limits::default();
        let mut builder = Builder::new(&limits);
        let parser = marshal::Parser::new(options, limits);
        let mut reader = marshal::Reader::from_slice(parser, bytes);
        assert!(reader.next(&mut builder).unwrap());
        builder.take().unwrap().to_string()
    };
    // A time keeps the string of its `_dump`, text in ASCII keeps its encoding, and a number is a
    // number.
    assert_eq!(
        read(b"\x04\x08u:\x09Time\x0D\0\0\0\0\0\0\0\0"),
        r#"{"$ruby:dump":"Time","value":{"$binary":{"base64":"AAAAAAAAAAA=","subType":"00"}}}"#
    );
    assert_eq!(
        read(b"\x04\x08I\"\x06a\x06:\x06EF"),
        r#"{"$ruby:encoding":"US-ASCII","value":"a"}"#
    );
    assert_eq!(read(b"\x04\x08i\x01\x01"), "1");
    // Text in two places is one value; as a key it is text, and so is a link to a key.
    assert_eq!(
        read(b"\x04\x08[\x07I\"\x06a\x06:\x06ET@\x06"),
        r#"[{"$anchor":1,"value":"a"},{"$alias":1}]"#
    );
    assert_eq!(
        read(b"\x04\x08[\x07{\x06I\"\x06a\x06:\x06ETi\x06{\x06@\x07@\x07"),
        r#"[{"a":1},{"a":"a"}]"#
    );
}
