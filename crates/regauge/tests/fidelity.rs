//! What JSON and MessagePack cannot hold of each other: refused with its path, wrapped and
//! unwrapped, or approximated and counted.

use regauge::convert::{Input, convert};
use regauge::fidelity::LossKind;
use regauge::output::StreamOutput;
use regauge::{ErrorKind, Format, OnLoss, Options, convert_bytes};

/// `packed` is MessagePack of `{"a": [null, VALUE]}`; `wrapped` and `nearest` are the value's
/// representations in JSON.
#[track_caller]
fn check(value: &[u8], kind: LossKind, found: &str, wrapped: &str, nearest: &str) {
    let packed = [b"\x81\xA1a\x92\xC0", value].concat();
    let document = |value: &str| format!("{{\"a\":[null,{value}]}}\n");

    let mut options = Options::new(Format::Msgpack, Format::Json);
    let error = convert_bytes(&packed, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(error.path().unwrap().to_string(), "$.a[1]");
    assert!(error.message().contains(found), "{error}");
    let hint = error.hint_for(&regauge::hint::Surface::COMMAND).unwrap();
    assert!(hint.contains("--on-loss wrap") && hint.contains("--on-loss approximate"), "{hint}");

    options.on_loss = OnLoss::Wrap;
    let text = convert_bytes(&packed, &options).unwrap();
    assert_eq!(String::from_utf8(text.clone()).unwrap(), document(wrapped));
    let mut back = Options::new(Format::Json, Format::Msgpack);
    back.unwrap = true;
    assert_eq!(convert_bytes(&text, &back).unwrap(), packed);

    options.on_loss = OnLoss::Approximate;
    let mut text = Vec::new();
    let output = StreamOutput::new(&mut text);
    let summary = convert(Input::Bytes(&packed), output, &options, &mut |_| Ok(())).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), document(nearest));
    let [loss] = summary.fidelity.losses() else { panic!("{:?}", summary.fidelity) };
    assert_eq!((loss.kind, loss.count), (kind, 1));
    assert_eq!(loss.examples[0].path.as_ref().unwrap().to_string(), "$.a[1]");
}

#[test]
fn msgpack_to_json() {
    check(
        b"\xC4\x02\x01\xFF",
        LossKind::Bytes,
        "2 bytes of binary data",
        r#"{"$binary":{"base64":"Af8=","subType":"00"}}"#,
        "\"Af8=\"",
    );
    check(
        b"\xCB\x7F\xF0\0\0\0\0\0\0",
        LossKind::NonFinite,
        "Infinity",
        r#"{"$numberDouble":"Infinity"}"#,
        "null",
    );
    check(
        b"\xD6\xFF\x5E\x0B\xE1\x00",
        LossKind::Timestamp,
        "2020-01-01T00:00:00Z",
        r#"{"$time":"2020-01-01T00:00:00Z"}"#,
        "\"2020-01-01T00:00:00Z\"",
    );
    check(
        b"\xD4\x05\x2A",
        LossKind::MsgpackExt,
        "extension of type 5",
        r#"{"$ext":{"type":5,"base64":"Kg=="}}"#,
        "\"Kg==\"",
    );
    check(
        b"\xA2a\xFF",
        LossKind::Text,
        "not UTF-8",
        r#"{"$text":{"base64":"Yf8="}}"#,
        "\"a\u{FFFD}\"",
    );
}

#[test]
fn keys_that_are_not_text() {
    // {1: "a", "$key:x": {"$binary": 0}}
    let packed = b"\x82\x01\xA1a\xA6$key:x\x81\xA7$binary\x00";
    let mut options = Options::new(Format::Msgpack, Format::Json);
    let error = convert_bytes(packed, &options).unwrap_err();
    assert!(error.message().contains("the key 1, which is an integer"), "{error}");
    options.on_loss = OnLoss::Wrap;
    let text = convert_bytes(packed, &options).unwrap();
    assert_eq!(
        String::from_utf8(text.clone()).unwrap(),
        "{\"$key:1\":\"a\",\"$key:\\\"$key:x\\\"\":{\"$literal\":{\"$binary\":0}}}\n"
    );
    let mut back = Options::new(Format::Json, Format::Msgpack);
    back.unwrap = true;
    assert_eq!(convert_bytes(&text, &back).unwrap(), packed);
    // From one file in the notation to another: the user's own `$binary` is guarded in MessagePack.
    back.on_loss = OnLoss::Wrap;
    let wrapped = convert_bytes(&text, &back).unwrap();
    assert!(wrapped.starts_with(b"\x82\x01\xA1a\xAD$key:\"$key:x\"\x81\xA8$literal"));
    options.unwrap = true;
    assert_eq!(convert_bytes(&wrapped, &options).unwrap(), text);
}

#[test]
fn json_to_msgpack() {
    let mut options = Options::new(Format::Json, Format::Msgpack);
    let big = b"[18446744073709551616]";
    let error = convert_bytes(big, &options).unwrap_err();
    assert_eq!(error.path().unwrap().to_string(), "$[0]");
    assert_eq!(error.line_column(), Some((1, 2)));
    let surrogate = br#"{"a":"x\ud800"}"#;
    let error = convert_bytes(surrogate, &options).unwrap_err();
    assert!(error.message().contains("lone surrogates"), "{error}");
    options.on_loss = OnLoss::Wrap;
    for text in [&big[..], surrogate] {
        let packed = convert_bytes(text, &options).unwrap();
        let mut back = Options::new(Format::Msgpack, Format::Json);
        back.unwrap = true;
        let again = convert_bytes(&packed, &back).unwrap();
        assert_eq!(again.trim_ascii(), text, "{}", again.escape_ascii());
    }
}

#[test]
fn exact_numbers() {
    let text = b"[1.10,0.1000000000000000055511151231257827,1e400,-0.0,0.5,123456789012345678901234567890]";
    let mut options = Options::new(Format::Json, Format::Json);
    let error = convert_bytes(text, &options).unwrap_err();
    assert!(
        error.hint_for(&regauge::hint::Surface::COMMAND).unwrap().contains("--numbers exact"),
        "{error}"
    );
    options.json_read.exact_numbers = true;
    assert_eq!(convert_bytes(text, &options).unwrap().trim_ascii(), text);
    options.to = Format::Msgpack;
    let error = convert_bytes(text, &options).unwrap_err();
    assert_eq!(error.path().unwrap().to_string(), "$[0]");
    assert!(error.message().contains("the decimal 1.10"), "{error}");
    options.on_loss = OnLoss::Wrap;
    let packed = convert_bytes(text, &options).unwrap();
    let mut back = Options::new(Format::Msgpack, Format::Json);
    back.unwrap = true;
    back.json_read.exact_numbers = true;
    assert_eq!(convert_bytes(&packed, &back).unwrap().trim_ascii(), text);
    // Without the option for exact numbers, a reader would round them, so they stay wrapped.
    back.json_read.exact_numbers = false;
    back.on_loss = OnLoss::Wrap;
    let wrapped = String::from_utf8(convert_bytes(&packed, &back).unwrap()).unwrap();
    assert!(wrapped.starts_with(r#"[{"$decimal":"1.10"},{"$decimal":"0.1000"#), "{wrapped}");
    let mut again = Options::new(Format::Json, Format::Msgpack);
    (again.unwrap, again.on_loss) = (true, OnLoss::Wrap);
    assert!(convert_bytes(wrapped.as_bytes(), &again).unwrap() == packed);
}

#[test]
fn a_report_counts_what_was_rounded_and_what_stands_twice() {
    let text = br#"{"a":0.30000000000000000001,"b":[0.1,1.10],"a":2}"#;
    let mut options = Options::new(Format::Json, Format::Msgpack);
    options.report = true;
    let mut packed = Vec::new();
    let output = StreamOutput::new(&mut packed);
    let summary = convert(Input::Bytes(text), output, &options, &mut |_| Ok(())).unwrap();
    let losses: Vec<_> =
        summary.fidelity.losses().iter().map(|loss| (loss.kind, loss.count)).collect();
    assert_eq!(losses, [(LossKind::Rounded, 1), (LossKind::DuplicateKey, 1)]);
    let example = &summary.fidelity.losses()[0].examples[0];
    assert_eq!(example.path.as_ref().unwrap().to_string(), "$.a");
}

#[test]
fn keys_nested_in_keys() {
    // {{{…{1: 0}: 0}: 0}: 0}: each level doubles the notation of the level inside it.
    let nested = |levels: usize| [vec![0x81; levels], vec![1], vec![0; levels]].concat();
    let mut options = Options::new(Format::Msgpack, Format::Json);
    options.on_loss = OnLoss::Wrap;
    let text = convert_bytes(&nested(9), &options).unwrap();
    let mut back = Options::new(Format::Json, Format::Msgpack);
    back.unwrap = true;
    assert_eq!(convert_bytes(&text, &back).unwrap(), nested(9));
    for levels in [10, 200] {
        let error = convert_bytes(&nested(levels), &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    }
    // On the way back from the notation, deeper nesting is refused.
    let mut text = String::from("1");
    for _ in 0..18 {
        text = format!("{{{:?}:0}}", format!("$key:{text}"));
    }
    let error = convert_bytes(text.as_bytes(), &back).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}
