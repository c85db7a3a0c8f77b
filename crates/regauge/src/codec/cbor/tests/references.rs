//! Shared values (tags 28 and 29): kept if the sink holds references, otherwise expanded.

use super::*;
use crate::policy::fidelity::LossKind;
use crate::{Options, convert_bytes};

fn to_json(bytes: &str) -> Result<String> {
    let options = Options::new(Format::Cbor, Format::Json);
    let text = convert_bytes(&hex(bytes), &options)?;
    Ok(String::from_utf8(text).unwrap().trim_end().to_owned())
}

#[test]
fn references_are_read_as_such() {
    let shared = Value::Anchor(1, Box::new(Value::Array(vec![])));
    let read = |bytes: &str| {
        let options = Options::new(Format::Cbor, Format::Cbor);
        crate::read_values(&hex(bytes), &options).unwrap().remove(0)
    };
    assert_eq!(read("82 d81c 80 d81d 00"), Value::Array(vec![shared, Value::Alias(1)]));
    let inner = Value::Anchor(2, Box::new(text("a")));
    let cycle = Value::Anchor(1, Box::new(Value::Array(vec![inner, Value::Alias(1)])));
    let bytes = "82 d81c 82 d81c 6161 d81d 00 d81d 01";
    assert_eq!(read(bytes), Value::Array(vec![cycle, Value::Alias(2)]));
    // One document by itself has copies in place of references.
    let copies = Value::Array(vec![Value::Array(vec![]), Value::Array(vec![])]);
    assert_eq!(from_slice(&hex("82 d81c 80 d81d 00")).unwrap(), copies);
    fails(
        "82 d81d 00 d81c 80",
        ErrorKind::Syntax,
        "cbor: byte 1: found a reference to shared value 0 with 0 shared values before it",
    );
    fails(
        "a1 d81c 01 02",
        ErrorKind::Unsupported,
        "cbor: byte 1: found a shared value inside a key, expected the key written out",
    );
}

#[test]
fn documents_number_their_values_anew() {
    let bytes = hex("82 d81c 80 d81d 00 82 d81c a0 d81d 00");
    let options = Options::new(Format::Cbor, Format::Ndjson);
    assert_eq!(convert_bytes(&bytes, &options).unwrap(), b"[[],[]]\n[{},{}]\n");
    let options = Options::new(Format::Cbor, Format::Cbor);
    assert_eq!(convert_bytes(&bytes, &options).unwrap(), bytes);
}

#[test]
fn other_numbers_become_ours() {
    let value = Value::Array(vec![
        Value::Anchor(7, Box::new(Value::Array(vec![]))),
        Value::Anchor(2, Box::new(Value::Map(vec![]))),
        Value::Alias(2),
        Value::Alias(7),
    ]);
    let bytes = super::written(&value);
    assert_eq!(bytes, hex("84 d81c 80 d81c a0 d81d 01 d81d 00"));
    let error = super::super::to_vec(&Value::Alias(1), OnLoss::Refuse);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Unrepresentable);
}

#[test]
fn references_are_written_out_for_json() {
    assert_eq!(to_json("82 d81c 81 01 d81d 00").unwrap(), "[[1],[1]]");
    // A reference inside a shared value, and one to a value inside it.
    assert_eq!(
        to_json("84 d81c 82 d81c 6161 02 d81c 81 d81d 00 d81d 02 d81d 01").unwrap(),
        r#"[["a",2],[["a",2]],[["a",2]],"a"]"#
    );
    let mut options = Options::new(Format::Cbor, Format::Json);
    options.on_loss = OnLoss::Wrap;
    let bytes = hex("82 d81c 81 01 d81d 00");
    assert_eq!(
        convert_bytes(&bytes, &options).unwrap().trim_ascii(),
        br#"[{"$anchor":1,"value":[1]},{"$alias":1}]"#
    );
    let mut output = Vec::new();
    let options = Options::new(Format::Cbor, Format::Json);
    let stream = crate::bytes::output::StreamOutput::new(&mut output);
    let input = crate::convert::Input::Bytes(&bytes);
    let summary = crate::convert(input, stream, &options, &mut |_| Ok(())).unwrap();
    assert_eq!(summary.fidelity.losses()[0].kind, LossKind::Reference);
}

#[test]
fn a_cycle_is_refused_with_both_places() {
    let error = to_json("81 d81c 82 01 d81d 00").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(error.offset(), Some(5));
    assert!(
        error.message().contains("at byte 5 to the value that contains it, which begins at byte 1")
    );
}

#[test]
fn a_billion_laughs() {
    // Each shared array holds ten references to the previous one.
    let mut bytes = "8a d81c 8a 01 01 01 01 01 01 01 01 01 01".to_owned();
    for level in 0..9 {
        bytes += "d81c 8a";
        bytes += &format!("d81d {level:02x}").repeat(10);
    }
    let error = to_json(&bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.message().contains("limit of aliases"), "{error}");
    // A chain: each refers to the previous one.
    let mut bytes = "98c8 d81c 80".to_owned();
    for level in 0..199 {
        bytes += &format!("d81c 81 d81d 18{level:02x}");
    }
    let error = to_json(&bytes).unwrap_err();
    assert!(error.message().contains("more than 64 deep"), "{error}");
}
