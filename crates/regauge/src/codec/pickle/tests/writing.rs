//! What the writer writes, byte by byte, and that the reader returns it unchanged.

use super::*;
use crate::bytes::buffer::Out;
use crate::policy::event::{Sink as _, Writer as _};
use crate::policy::fidelity::Fidelity;
use crate::{OnLoss, Timestamp};

fn write(value: &Value, protocol: u8) -> Result<Vec<u8>> {
    let fidelity = Fidelity::new(OnLoss::Refuse, Format::Pickle);
    let options = Options { protocol: Some(protocol), calls: true, ..Options::default() };
    let mut writer = Writer::new(Out::in_memory(), options, fidelity);
    value.drive(&mut writer)?;
    writer.end_document()?;
    writer.finish()?;
    Ok(writer.into_vec())
}

#[track_caller]
fn check_bytes(value: &Value, protocol: u8, expected: &[u8]) {
    let bytes = write(value, protocol).unwrap();
    assert_eq!(bytes.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

/// Writes in every protocol from `least` on and reads the result back.
#[track_caller]
fn check_from(least: u8, value: &Value) {
    for protocol in least..=5 {
        let bytes = write(value, protocol).unwrap_or_else(|e| panic!("{protocol}: {value:?}: {e}"));
        let seen = survey(&bytes, &Limits::default());
        assert_eq!(seen.protocol, if protocol < 2 { 0 } else { protocol });
        match read(&bytes) {
            Ok(again) => assert_eq!(&again, value, "{protocol}: {}", bytes.escape_ascii()),
            Err(error) => panic!("{protocol}: {}: {error}", bytes.escape_ascii()),
        }
    }
}

#[track_caller]
fn check_all(value: &Value) {
    check_from(0, value);
}

#[test]
fn plain_values_as_python_writes_them() {
    check_bytes(&Value::Null, 4, b"\x80\x04N.");
    check_bytes(&Value::Int(300), 4, b"\x80\x04\x95\x04\0\0\0\0\0\0\0M\x2c\x01.");
    check_bytes(&ints(&[1]), 3, b"\x80\x03]K\x01a.");
    check_bytes(&ints(&[1, 2]), 3, b"\x80\x03](K\x01K\x02e.");
    check_bytes(&ints(&[1, 2]), 0, b"(lI1\naI2\na.");
    check_bytes(&text("a\\\n€"), 0, b"Va\\u005c\\u000a\\u20ac\n.");
    check_bytes(&Value::Bytes(vec![255]), 2, {
        b"\x80\x02c_codecs\nencode\nq\0X\x02\0\0\0\xc3\xbfX\x06\0\0\0latin1\x86R."
    });
    check_bytes(&Value::Bool(true), 1, b"I01\n.");
    let map = Value::Map(vec![(text("a"), Value::Int(1)), (text("b"), Value::Null)]);
    check_bytes(&map, 3, b"\x80\x03}(X\x01\0\0\0aK\x01X\x01\0\0\0bNu.");
}

#[test]
fn plain_values_come_back() {
    let edges = [0, 1, 255, 256, 65535, 65536, i64::from(i32::MAX), 1 << 31, 1 << 62, i64::MAX];
    for edge in edges {
        for v in [edge, -edge, -edge - 1] {
            check_all(&Value::Int(v));
        }
    }
    check_all(&Value::UInt(u64::MAX));
    for negative in [false, true] {
        for magnitude in [vec![0, 0, 0, 0, 0, 0, 0, 0, 1], vec![255; 9], vec![128; 300]] {
            check_all(&Value::BigInt { negative, magnitude });
        }
    }
    for v in [0.0, -0.0, 1.5, 1e300, 5e-324, f64::INFINITY, f64::NEG_INFINITY] {
        check_all(&Value::F64(v));
    }
    for length in [0, 1, 31, 32, 255, 256, 70_000] {
        check_all(&text(&"é".repeat(length)));
        check_all(&Value::Bytes(vec![200; length]));
    }
    check_all(&text("\0\r\n\x1a\\u0041 \u{ff}\u{100}😀"));
    check_all(&Value::Surrogates(b"a\xED\xA0\x80\\\n\xED\xBF\xBFb".to_vec()));
    check_all(&Value::Array((0..2500).map(Value::Int).collect()));
    check_all(&Value::Map((0..2500).map(|v| (Value::Int(v), text("x"))).collect()));
    let row = |n: i64| {
        Value::Map(vec![(text("identifier"), Value::Int(n)), (text("name"), text("name"))])
    };
    check_all(&Value::Array((0..3000).map(row).collect()));
}

#[test]
fn values_of_python_come_back() {
    for value in [
        Value::Timestamp(Timestamp { seconds: 1_577_934_245, nanoseconds: 6000 }),
        ext(Ext::Date("0001-01-01")),
        ext(Ext::Time("23:59:59.999999")),
        ext(Ext::DateTime("9999-12-31T00:00:00")),
        ext(Ext::OffsetDateTime("2020-01-02T03:04:05-12:34")),
        ext(Ext::OffsetDateTime("2020-01-02T03:04:05+00:00:30")),
        typed("fold", "", ext(Ext::DateTime("2020-01-02T03:04:05"))),
        typed("fold", "", ext(Ext::Time("01:02:03.5"))),
        ext(Ext::Duration { seconds: -86_399, nanoseconds: 5000 }),
        ext(Ext::Uuid([0xFF; 16])),
        ext(Ext::Uuid([0; 16])),
        ext(Ext::Complex(-0.0, 1e300)),
        Value::Decimal("1.10".to_owned()),
        typed("decimal", "", text("-Infinity")),
        typed("fraction", "", text("-1/3")),
        tuple(vec![]),
        tuple(vec![Value::Int(1), tuple(vec![])]),
        tuple((0..5).map(Value::Int).collect()),
        typed("set", "", ints(&[1, 2])),
        typed("frozenset", "", Value::Array(vec![tuple(vec![Value::Int(1)])])),
        typed("bytearray", "", Value::Bytes(vec![1, 255])),
        typed("bytearray", "", Value::Bytes(vec![])),
        typed("ordered_dict", "", Value::Map(vec![(Value::Int(1), ints(&[]))])),
        typed("defaultdict", "", Value::Map(vec![])),
        typed("deque", "", ints(&[1, 2])),
        typed("deque", "7", ints(&[])),
        typed("counter", "", Value::Map(vec![(text("a"), Value::Int(2))])),
        typed("range", "", ints(&[0, 5, 1])),
        typed("slice", "", Value::Array(vec![Value::Null, Value::Int(1), Value::Null])),
        typed("path", "pathlib.PurePosixPath", text("/usr/lib")),
        Value::Map(vec![(tuple(vec![Value::Int(1), Value::Null]), Value::Int(1))]),
    ] {
        check_all(&value);
    }
}

#[test]
fn descriptions_come_back() {
    let map = |pairs: &[(&str, Value)]| {
        Value::Map(pairs.iter().map(|(key, value)| (text(key), value.clone())).collect())
    };
    let callable = typed("global", "m.a.f", text("m:a.f"));
    for value in [
        typed("global", "m.C", text("m:C")),
        callable.clone(),
        typed("call", "m.f", map(&[("args", ints(&[1, 2, 3, 4]))])),
        typed("call", "m.a.f", map(&[("callable", callable), ("args", ints(&[]))])),
        typed("new", "m.C", {
            map(&[("args", ints(&[1])), ("items", ints(&[1])), ("state", Value::Int(1))])
        }),
        typed("instance", "m.C", map(&[])),
        typed("instance", "m.C", Value::Null),
        typed("instance_call", "m.C", map(&[("args", ints(&[1]))])),
        typed("reconstructed", "m.C", map(&[("a", Value::Int(1))])),
        typed("persistent_id", "", tuple(vec![text("a"), Value::Null])),
        typed("changed", "m.g", map(&[("pairs", map(&[("a", Value::Int(1))]))])),
        typed("call", "m.f", {
            let steps = [ints(&[1]), ints(&[2])].map(|items| map(&[("items", items)]));
            let mut all = steps.to_vec();
            all.insert(1, map(&[("members", ints(&[3]))]));
            map(&[("args", ints(&[])), ("steps", Value::Array(all))])
        }),
    ] {
        check_all(&value);
    }
    for value in [
        typed("object", "m.C", map(&[("a", Value::Int(1))])),
        typed("set", "", Value::Array(vec![typed("object", "m.C", map(&[("a", ints(&[1]))]))])),
        typed("object", "m.C", Value::Null),
        typed("extension", "", Value::Int(300)),
    ] {
        check_from(2, &value);
    }
    check_from(4, &typed("new_ex", "m.C", map(&[("args", ints(&[])), ("kwargs", map(&[]))])));
    check_from(5, &typed("readonly_buffer", "", typed("buffer", "", Value::Int(0))));
}

#[test]
fn references_come_back() {
    let anchor = |id, value| Value::Anchor(id, Box::new(value));
    let twice = |value| Value::Array(vec![anchor(1, value), Value::Alias(1)]);
    check_all(&twice(ints(&[])));
    check_all(&twice(typed("set", "", ints(&[1]))));
    check_all(&twice(typed("deque", "", ints(&[1]))));
    check_all(&twice(typed("instance", "m.C", Value::Map(vec![]))));
    check_all(&twice(tuple(vec![ints(&[])])));
    check_all(&anchor(1, Value::Array(vec![Value::Alias(1), Value::Int(1)])));
    check_all(&anchor(1, Value::Map(vec![(text("me"), Value::Alias(1))])));
    check_all(&anchor(1, {
        typed("instance", "m.C", Value::Map(vec![(text("me"), Value::Alias(1))]))
    }));
    // A tuple that contains itself through a list cannot be created in one step.
    let cycle = anchor(1, tuple(vec![Value::Array(vec![Value::Alias(1)])]));
    assert_eq!(write(&cycle, 4).unwrap_err().kind(), ErrorKind::Unrepresentable);
}

#[test]
fn arrays_in_keys_become_tuples() {
    let key = Value::Array(vec![Value::Int(1), ints(&[2])]);
    let bytes = write(&Value::Map(vec![(key, Value::Null)]), 4).unwrap();
    let expected = tuple(vec![Value::Int(1), tuple(vec![Value::Int(2)])]);
    assert_eq!(read(&bytes).unwrap(), Value::Map(vec![(expected, Value::Null)]));
    let error = write(&Value::Map(vec![(Value::Map(vec![]), Value::Null)]), 4).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
}

#[test]
fn what_pickle_cannot_hold_is_refused() {
    for value in [
        Value::Timestamp(Timestamp { seconds: 0, nanoseconds: 1 }),
        Value::Timestamp(Timestamp { seconds: 253_402_300_800, nanoseconds: 0 }),
        ext(Ext::Date("0000-01-01")),
        ext(Ext::Time("23:59:60")),
        ext(Ext::Duration { seconds: i64::MAX, nanoseconds: 0 }),
        ext(Ext::ObjectId([0; 12])),
        Value::BrokenText(vec![255]),
    ] {
        assert_eq!(write(&value, 4).unwrap_err().kind(), ErrorKind::Refused, "{value:?}");
    }
}

#[test]
fn types_around_what_they_are_not_are_refused() {
    let map = Value::Map(vec![(text("x"), Value::Null)]);
    for value in [
        typed("set", "", Value::Int(5)),
        typed("fold", "", Value::F64(1.0)),
        typed("range", "", ints(&[1])),
        typed("global", "m.C", text("os:system")),
        typed("call", "m.f", map.clone()),
        typed("call", "m.f", Value::Map(vec![])),
        typed("call", "", Value::Map(vec![(text("args"), ints(&[]))])),
        typed("bytearray", "", text("a")),
        typed("extension", "", Value::Int(0)),
        typed("decimal", "", Value::Surrogates(vec![0xED, 0xA0, 0x80])),
        typed("set", "", Value::Array(vec![map.clone()])),
        typed("set", "", Value::Array(vec![typed("tuple", "", Value::Array(vec![map.clone()]))])),
        typed("frozenset", "", Value::Array(vec![typed("set", "", ints(&[1]))])),
        typed("frozenset", "", Value::Array(vec![typed("bytearray", "", Value::Bytes(vec![1]))])),
        typed("tuple", "", map),
    ] {
        let error = write(&value, 5).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Unrepresentable | ErrorKind::Refused),
            "{value:?}: {error}"
        );
    }
}

#[test]
fn calls_are_written_only_when_asked_for() {
    let call = typed("call", "os.system", Value::Map(vec![(text("args"), ints(&[]))]));
    let mut writer = Writer::in_memory(OnLoss::Refuse);
    assert_eq!(call.drive(&mut writer).unwrap_err().kind(), ErrorKind::Refused);
    for harmless in [
        typed("global", "os.system", text("os:system")),
        typed("object", "m.C", Value::Null),
        typed("persistent_id", "", Value::Int(1)),
        typed("defaultdict", "os.system", Value::Map(vec![])),
    ] {
        let mut writer = Writer::in_memory(OnLoss::Refuse);
        assert!(harmless.drive(&mut writer).is_err(), "{harmless:?}");
    }
    // A time zone by its name needs no asking.
    let args = Value::Array(vec![text("Europe/Warsaw")]);
    let zone = typed("call", "zoneinfo.ZoneInfo", Value::Map(vec![(text("args"), args)]));
    let mut writer = Writer::in_memory(OnLoss::Refuse);
    zone.drive(&mut writer).unwrap();
    writer.end_document().unwrap();
    assert_eq!(read(&writer.into_vec()).unwrap(), zone);
    // Wrapped, it is data.
    let mut writer = Writer::in_memory(OnLoss::Wrap);
    call.drive(&mut writer).unwrap();
    writer.end_document().unwrap();
    assert_eq!(survey(&writer.into_vec(), &Limits::default()).verdict(), Verdict::Data);
}

#[test]
fn what_is_wrapped_is_no_member_of_a_set() {
    let call = typed("call", "os.system", Value::Map(vec![(text("args"), ints(&[]))]));
    let mut writer = Writer::in_memory(OnLoss::Wrap);
    let error = typed("set", "", Value::Array(vec![call])).drive(&mut writer).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable);
    assert!(error.to_string().contains("a map as a member of a Python set"), "{error}");
}

#[test]
fn frames_hold_64_kib_each() {
    let value = Value::Array((0..40_000).map(|v| text(&format!("text {v}"))).collect());
    let bytes = write(&value, 4).unwrap();
    let frames = bytes.windows(9).filter(|w| w[0] == types::FRAME && w[5..] == [0; 4]).count();
    assert!(frames >= bytes.len() >> 16, "{frames} frames in {} bytes", bytes.len());
    // Only the current frame waits in memory.
    let mut output = Vec::new();
    let fidelity = Fidelity::new(OnLoss::Refuse, Format::Pickle);
    let out =
        Out::flushing_at(1 << 10, crate::bytes::output::StreamOutput::new(&mut output), u64::MAX);
    let mut writer = Writer::new(out, Options::default(), fidelity);
    value.drive(&mut writer).unwrap();
    writer.end_document().unwrap();
    writer.finish().unwrap();
    drop(writer);
    assert!(output == bytes);
}

#[test]
fn rollback_leaves_no_trace() {
    let mut writer = Writer::in_memory(OnLoss::Refuse);
    writer.begin_array(None).unwrap();
    for round in 0..3 {
        writer.checkpoint();
        let row = Value::Map(vec![(text("some key"), Value::Int(round))]);
        row.drive(&mut writer).unwrap();
        if round == 1 {
            writer.rollback();
        }
    }
    writer.end_array().unwrap();
    writer.end_document().unwrap();
    let row = |v| Value::Map(vec![(text("some key"), Value::Int(v))]);
    assert_eq!(read(&writer.into_vec()).unwrap(), Value::Array(vec![row(0), row(2)]));
}

/// Python's dict keeps one of `1`, `True` and `1.0`.
#[test]
fn keys_that_python_takes_for_one_are_refused() {
    let map =
        |keys: &[Value]| Value::Map(keys.iter().map(|key| (key.clone(), Value::Null)).collect());
    let decimal = |text: &str| Value::Decimal(text.into());
    let big_int = |digits: &str| Value::BigInt {
        negative: false,
        magnitude: crate::model::number::magnitude(digits),
    };
    let time = |text: &str| ext(Ext::OffsetDateTime(text));
    let frozen = |members: &[Value]| typed("frozenset", "", Value::Array(members.to_vec()));
    for (one, other) in [
        (Value::Int(1), Value::Bool(true)),
        (Value::Bool(false), Value::F64(-0.0)),
        (Value::F64(0.0), Value::F64(-0.0)),
        (Value::UInt(1 << 63), Value::F64(9_223_372_036_854_775_808.0)),
        (Value::F32(0.5), decimal("0.5")),
        (Value::Int(2), decimal("2.00")),
        (decimal("1.10"), decimal("1.100")),
        (decimal("-12E+1"), Value::Int(-120)),
        (decimal("5E-324"), decimal("0.05E-322")),
        (big_int("1361129467683753853853498429727072845824"), Value::F64(2f64.powi(130))),
        (big_int("1000000000000000000000000000000000000000000"), decimal("1E+42")),
        (decimal("Infinity"), Value::F64(f64::INFINITY)),
        (time("2020-01-01T00:00:00Z"), time("2020-01-01T01:00:00.000+01:00")),
        (tuple(vec![text("a"), Value::Int(1)]), tuple(vec![text("a"), Value::Bool(true)])),
        (frozen(&[Value::Int(1), Value::F64(0.5)]), frozen(&[decimal("0.5"), Value::F64(1.0)])),
        (
            tuple(vec![frozen(&[time("0099-12-31T23:00:00-01:00")])]),
            tuple(vec![frozen(&[time("0100-01-01T00:00:00Z")])]),
        ),
    ] {
        let error = write(&map(&[one.clone(), other.clone()]), 4).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{one} {other}");
        assert!(
            error.to_string().contains("which equals another key of the map in Python"),
            "{error}"
        );
        assert!(write(&map(&[other, one]), 4).is_err());
    }
    // In maps of their own, and beside each other, they are no others' concern.
    let inner = map(&[Value::Bool(true), Value::Int(0)]);
    let outer = Value::Map(vec![
        (Value::Int(1), inner.clone()),
        (Value::F64(0.5), inner.clone()),
        (Value::Int(0), inner),
    ]);
    check_all(&outer);
    write(&map(&[Value::Int(1), Value::Int(1)]), 4).unwrap();
    write(&map(&[tuple(vec![]), frozen(&[]), Value::Int(0), Value::Text("".into())]), 4).unwrap();
    // A decimal is compared as it is, not as the double next to it.
    write(&map(&[decimal("0.1"), Value::F64(0.1), decimal("1E-400"), Value::Int(0)]), 4).unwrap();
    write(&map(&[decimal("1E+400"), Value::F64(f64::INFINITY), decimal("1E+401")]), 4).unwrap();
    write(&map(&[tuple(vec![decimal("0.1")]), tuple(vec![Value::F64(0.1)])]), 4).unwrap();
    write(&map(&[time("2020-01-01T00:00:00Z"), time("2020-01-01T00:00:00+01:00")]), 4).unwrap();
    write(&map(&[tuple(vec![Value::Int(1)]), frozen(&[Value::Bool(true)]), Value::Int(1)]), 4)
        .unwrap();
    write(&map(&[Value::F64(f64::NAN), Value::F64(f64::NAN), Value::F64(1e300)]), 4).unwrap();
    // Beyond what is remembered, a map of one kind of number has no doubts.
    let doubles: Vec<Value> = (0..(1 << 18) + 10).map(|n| Value::F64(f64::from(n) / 2.0)).collect();
    write(&map(&doubles), 4).unwrap();
    let mixed = [&doubles[..], &[Value::Int(7)]].concat();
    assert!(write(&map(&mixed), 4).is_err());
    let mut many: Vec<Value> = (0..(1 << 18) + 10).map(Value::Int).collect();
    write(&map(&many), 4).unwrap();
    many.push(Value::Bool(true));
    let error = write(&map(&many), 4).unwrap_err();
    assert!(error.to_string().contains("equals another key"), "{error}");
    many.pop();
    many.push(Value::F64(1e9));
    let error = write(&map(&many), 4).unwrap_err();
    assert!(error.to_string().contains("after 262144 others"), "{error}");
    // As text it is a key of its own.
    let fidelity = Fidelity::new(OnLoss::Wrap, Format::Pickle);
    let mut writer = Writer::new(Out::in_memory(), Options::default(), fidelity);
    map(&[Value::Int(1), Value::Bool(true)]).drive(&mut writer).unwrap();
    writer.end_document().unwrap();
    writer.finish().unwrap();
    assert_eq!(read(&writer.into_vec()).unwrap(), map(&[Value::Int(1), "$key:true".into()]));
}
