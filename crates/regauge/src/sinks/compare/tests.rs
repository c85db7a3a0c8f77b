//! What is a loss, and what is wrong.

use super::*;
use crate::model::number;

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

fn map(pairs: Vec<(&str, Value)>) -> Value {
    Value::Map(pairs.into_iter().map(|(key, value)| (text(key), value)).collect())
}

fn kinds(before: &Value, after: &Value) -> Vec<(ChangeKind, u64)> {
    let mut comparison = Comparison::new();
    comparison.next(Some(before), Some(after));
    comparison.changes().iter().map(|change| (change.kind, change.count)).collect()
}

#[test]
fn scalars() {
    use ChangeKind as C;
    let big =
        |digits: &str| Value::BigInt { negative: false, magnitude: number::magnitude(digits) };
    let next = f64::from_bits(1.5_f64.to_bits() + 1);
    for (before, after, expected) in [
        (Value::Null, Value::Null, None),
        (Value::F64(f64::NAN), Value::F64(f64::NAN), None),
        (Value::F32(0.5), Value::F64(0.5), None),
        (Value::Int(1), Value::F64(1.0), Some(C::IntegerToDouble)),
        (Value::Int(1), Value::F64(2.0), Some(C::Value)),
        (Value::UInt(u64::MAX), Value::F64(18446744073709551616.0), Some(C::IntegerToDouble)),
        (big("100000000000000000000"), Value::F64(1e20), Some(C::IntegerToDouble)),
        (Value::Int(9007199254740993), Value::F64(9007199254740992.0), Some(C::IntegerToDouble)),
        (Value::F64(9007199254740992.0), Value::Int(9007199254740993), Some(C::Value)),
        (Value::F64(3.0), Value::Int(3), Some(C::DoubleToInteger)),
        (Value::F64(3.5), Value::Int(3), Some(C::Value)),
        (Value::F64(-0.0), Value::F64(0.0), Some(C::NegativeZero)),
        (Value::F64(-0.0), Value::Int(0), Some(C::NegativeZero)),
        (Value::F64(f64::INFINITY), Value::Null, Some(C::NonFinite)),
        (Value::F64(1.5), Value::Null, Some(C::Value)),
        (Value::F64(1.5), Value::F64(next), Some(C::DoubleRounded)),
        (Value::F64(-65.61361699999998), Value::F64(-65.613617), Some(C::DoubleRounded)),
        (Value::F64(0.12345678901234), Value::F64(0.12345678901233), Some(C::Value)),
        (Value::F64(0.1), Value::F64(f64::from(0.1_f32)), Some(C::Value)),
        (Value::Bytes(vec![1, 2]), text("AQI="), Some(C::BytesToText)),
        (Value::Bytes(b"ab".to_vec()), text("ab"), Some(C::BytesToText)),
        (Value::Bytes(vec![1, 2]), text("AQM="), Some(C::Value)),
        (text("e\u{301}"), text("\u{e9}"), Some(C::Normalization)),
        (text("e"), text("\u{e9}"), Some(C::Value)),
        (text("1"), Value::Int(1), Some(C::Value)),
        (Value::Int(1), Value::Array(vec![]), Some(C::Value)),
    ] {
        let found = kinds(&before, &after);
        let expected: Vec<_> = expected.into_iter().map(|kind| (kind, 1)).collect();
        assert_eq!(found, expected, "{before:?} {after:?}");
    }
}

#[test]
fn maps() {
    use ChangeKind as C;
    let before = map(vec![("a", Value::Int(1)), ("b", Value::Int(2))]);
    let turned = map(vec![("b", Value::Int(2)), ("a", Value::Int(1))]);
    assert_eq!(kinds(&before, &turned), [(C::KeyOrder, 1)]);
    let poorer = map(vec![("a", Value::Int(1))]);
    assert_eq!(kinds(&before, &poorer), [(C::Missing, 1)]);
    assert_eq!(kinds(&poorer, &before), [(C::Added, 1)]);
    let twice = map(vec![("a", Value::Int(0)), ("a", Value::Int(1))]);
    assert_eq!(kinds(&twice, &poorer), [(C::DuplicateKey, 1)]);
    let numbered = Value::Map(vec![(Value::Int(1), Value::Null), (text("x"), Value::Null)]);
    let named = map(vec![("1", Value::Null), ("x", Value::Null)]);
    assert_eq!(kinds(&numbered, &named), [(C::KeyToText, 1)]);
    let both = map(vec![("b", Value::Int(3)), ("a", Value::Int(1))]);
    assert_eq!(kinds(&before, &both), [(C::KeyOrder, 1), (C::Value, 1)]);
}

#[test]
fn keys_that_are_not_text() {
    use ChangeKind as C;
    let keyed = |keys: &[Value]| {
        let pairs = keys.iter().enumerate();
        Value::Map(pairs.map(|(index, key)| (key.clone(), Value::Int(index as i64))).collect())
    };
    // The width of a float and the kind of NaN are not the data's.
    assert_eq!(kinds(&keyed(&[Value::F64(1.5)]), &keyed(&[Value::F32(1.5)])), []);
    let nan = keyed(&[Value::F64(f64::NAN)]);
    assert_eq!(kinds(&nan, &nan), []);
    let list = |value| Value::Array(vec![value]);
    assert_eq!(kinds(&keyed(&[list(Value::F64(1.5))]), &keyed(&[list(Value::F32(1.5))])), []);
    // `1` and "1" are two keys, also in another order.
    let both = Value::Map(vec![
        (text("b"), text("x")),
        (Value::Int(1), text("y")),
        (text("1"), text("z")),
    ]);
    let Value::Map(pairs) = &both else { unreachable!() };
    for places in [[1, 2, 0], [2, 1, 0]] {
        let turned = Value::Map(places.iter().map(|place| pairs[*place].clone()).collect());
        assert_eq!(kinds(&both, &turned), [(C::KeyOrder, 1)]);
    }
    let exchanged = Value::Map(vec![
        (text("1"), text("y")),
        (Value::Int(1), text("z")),
        (text("b"), text("x")),
    ]);
    assert_eq!(kinds(&both, &exchanged), [(C::KeyOrder, 1), (C::Value, 2)]);
    // A format of text keys has one of the two.
    let poorer = map(vec![("b", text("x")), ("1", text("z"))]);
    assert_eq!(kinds(&both, &poorer), [(C::DuplicateKey, 1)]);
}

#[test]
fn times_as_doubles() {
    use crate::model::ext::TypeBuf;
    use ChangeKind as C;
    let at =
        |nanoseconds| Value::Timestamp(crate::Timestamp { seconds: 1_600_000_000, nanoseconds });
    let tagged = |name: &str, seconds: &str| {
        let t = TypeBuf { origin: Origin::Cbor, kind: "tag".into(), name: name.into() };
        Value::Typed(Box::new(t), Box::new(Value::F64(seconds.parse().unwrap())))
    };
    for (before, after, expected) in [
        (at(123_456_000), tagged("1", "1600000000.123456"), C::TimeRounded),
        (at(123_456_789), tagged("1", "1600000000.123456789"), C::TimeRounded),
        (at(123_456_789), tagged("1", "1600000000.123456"), C::TimeRounded),
        (at(123_456_789), tagged("1", "1600000000.123457"), C::TimeRounded),
        (at(123_456_789), tagged("1", "1600000000.123"), C::TimeRounded),
        (at(123_456_789), tagged("1", "1600000000.124"), C::TimeRounded),
        (at(123_456_789), tagged("1", "1600000000.125"), C::Value),
        (at(123_456_789), tagged("1", "1600000001.123"), C::Value),
        (at(123_456_789), tagged("1", "1600000000.1235"), C::Value),
        (at(123_456_000), tagged("2", "1600000000.123456"), C::Value),
        (at(0), tagged("1", "NaN"), C::Value),
        (at(0), tagged("1", "inf"), C::Value),
        (tagged("1", "1600000000.123456"), at(123_456_000), C::TimeRounded),
        (tagged("1", "1600000000.123456"), at(123_000_000), C::TimeRounded),
        (tagged("1", "1600000000.123456"), at(125_000_000), C::Value),
        (tagged("1", "1600000000.123456"), tagged("1", "1600000000.123"), C::TimeRounded),
        (tagged("1", "1600000000.123456"), tagged("1", "1600000000.125"), C::Value),
        (tagged("1", "1.5"), Value::F64(1.5), C::Type),
    ] {
        assert_eq!(kinds(&before, &after), [(expected, 1)], "{before:?} {after:?}");
    }
    let seconds = tagged("1", "1600000000.123456");
    assert_eq!(kinds(&seconds, &seconds), []);
}

#[test]
fn arrays() {
    use ChangeKind as C;
    let list = |values: &[i64]| Value::Array(values.iter().map(|v| Value::Int(*v)).collect());
    assert_eq!(kinds(&list(&[1, 2, 3]), &list(&[1, 2, 3])), []);
    assert_eq!(kinds(&list(&[1, 2, 3]), &list(&[3, 1, 2])), [(C::ItemOrder, 1)]);
    assert_eq!(kinds(&list(&[1, 2, 2]), &list(&[1, 1, 2])), [(C::Value, 1)]);
    assert_eq!(kinds(&list(&[1, 2, 3]), &list(&[1])), [(C::Missing, 2)]);
    assert_eq!(kinds(&list(&[1]), &list(&[2, 3])), [(C::Value, 1), (C::Added, 1)]);
}

#[test]
fn widths_of_numbers_are_no_order() {
    let before = Value::Array(vec![Value::F64(0.1), Value::F64(2.0)]);
    let after = Value::Array(vec![Value::F64(0.1), Value::F32(2.0)]);
    assert_eq!(kinds(&before, &after), []);
    let turned = Value::Array(vec![Value::F32(2.0), Value::F64(0.1)]);
    assert_eq!(kinds(&before, &turned), [(ChangeKind::ItemOrder, 1)]);
}

#[test]
fn a_difference_has_its_document_path_and_values() {
    let mut comparison = Comparison::new();
    let document =
        |value| map(vec![("items", Value::Array(vec![Value::Null, map(vec![("when", value)])]))]);
    comparison.next(Some(&document(Value::Int(1))), Some(&document(Value::Int(1))));
    comparison.next(Some(&document(Value::F64(-0.0))), Some(&document(Value::F64(0.0))));
    comparison.next(Some(&document(text("x"))), Some(&document(text("y"))));
    comparison.next(Some(&Value::Null), None);
    assert_eq!(comparison.documents(), 4);
    assert_eq!(comparison.wrong_documents(), 2);
    let told: Vec<String> = comparison
        .changes()
        .iter()
        .flat_map(|change| &change.examples)
        .map(|one| format!("{} {}: {} {}", one.document, one.path, one.before, one.after))
        .collect();
    assert_eq!(
        told,
        ["2 $.items[1].when: -0.0 0.0", "3 $.items[1].when: \"x\" \"y\"", "4 $: null "]
    );
}

#[test]
fn leaders_of_marc_records() {
    let record = |leader: &str| map(vec![("leader", text(leader))]);
    let compared = |before: &str, after: &str| {
        let mut comparison = Comparison::of_marc();
        comparison.next(Some(&record(before)), Some(&record(after)));
        comparison.changes().iter().map(|change| change.kind).collect::<Vec<_>>()
    };
    let leader = "00714cam a2200205 a 4500";
    assert_eq!(compared(leader, "00999cam a2200300 a 4500"), []);
    assert_eq!(compared(leader, "00714cam  2200205 a 4500"), [ChangeKind::Leader]);
    // Elsewhere a text is plain text.
    assert_eq!(
        kinds(&record(leader), &record("00999cam a2200300 a 4500")),
        [(ChangeKind::Value, 1)]
    );
}

#[test]
fn many_differences_keep_the_first_few() {
    let mut comparison = Comparison::new();
    for _ in 0..100 {
        comparison.next(Some(&Value::Int(1)), Some(&Value::Int(2)));
    }
    let change = &comparison.changes()[0];
    assert_eq!((change.count, change.examples.len()), (100, Comparison::EXAMPLES));
}

#[test]
fn values_that_few_formats_know() {
    use crate::model::ext::{Origin, TypeBuf};
    use ChangeKind as C;
    let ext = |v: Ext<'_>| Value::Ext(v.into());
    let at =
        |nanoseconds| Value::Timestamp(crate::Timestamp { seconds: 1_600_000_000, nanoseconds });
    let decimal = |digits: &str| Value::Decimal(digits.into());
    let typed = |origin, kind: &str, name: &str, inside: Value| {
        let t = TypeBuf { origin, kind: kind.into(), name: name.into() };
        Value::Typed(Box::new(t), Box::new(inside))
    };
    let one = || Value::Array(vec![Value::Int(1), Value::Int(2)]);
    let turned = || Value::Array(vec![Value::Int(2), Value::Int(1)]);
    let offset = Ext::OffsetDateTime("2020-09-13T14:26:40+02:00");
    let mut eleven_tenths = [0; 16];
    (eleven_tenths[0], eleven_tenths[14], eleven_tenths[15]) = (11, 0x3E, 0x30);
    for (before, after, expected) in [
        (ext(Ext::Symbol("a")), text("a"), C::SymbolToText),
        (ext(Ext::Symbol("a")), text("b"), C::Value),
        (text("a"), ext(Ext::Symbol("a")), C::Value),
        (at(0), text("2020-09-13T12:26:40Z"), C::TimeToText),
        (at(0), text("2020-09-13 12:26:40 UTC"), C::TimeToText),
        (at(0), text("2020-09-13T12:26:41Z"), C::Value),
        (at(1_234_567), at(1_234_000), C::TimeRounded),
        (at(1_234_567), at(1_000_000), C::TimeRounded),
        (at(1_234_567), at(0), C::Value),
        (at(0), ext(offset), C::TimeOffset),
        (ext(offset), at(0), C::TimeOffset),
        (ext(offset), at(1), C::Value),
        (ext(Ext::Date("2026-11-21")), text("2026-11-21"), C::TimeToText),
        (ext(Ext::Date("2026-11-21")), text("2026-11-22"), C::Value),
        (
            ext(Ext::Uuid([0x5E; 16])),
            text("5e5e5e5e-5e5e-5e5e-5e5e-5e5e5e5e5e5e"),
            C::SpecialToText,
        ),
        (ext(Ext::ObjectId([7; 12])), text("070707070707070707070707"), C::SpecialToText),
        (ext(Ext::ObjectId([7; 12])), text("070707070707070707070708"), C::Value),
        (ext(Ext::MinKey), Value::Null, C::SpecialToText),
        (ext(Ext::Binary(128, b"ab")), Value::Bytes(b"ab".to_vec()), C::BytesSubtype),
        (ext(Ext::Decimal128(eleven_tenths)), Value::F64(1.1), C::DecimalToDouble),
        (ext(Ext::Decimal128(eleven_tenths)), Value::F64(1.2), C::Value),
        (decimal("1.10000000000000000001"), Value::F64(1.1), C::DecimalToDouble),
        (decimal("1.10"), text("1.1"), C::DecimalToText),
        (decimal("1.10"), decimal("110e-2"), C::DecimalDigits),
        (decimal("1.10"), decimal("1.11"), C::Value),
        (Value::Int(12), text("12"), C::IntegerToText),
        (Value::BrokenText(b"caf\xE9".to_vec()), text("caf\u{FFFD}"), C::TextRepaired),
        (typed(Origin::Python, "tuple", "", one()), one(), C::TupleToList),
        (typed(Origin::Python, "set", "", one()), one(), C::SetToList),
        (typed(Origin::Ruby, "object", "Foo", one()), one(), C::Type),
        (typed(Origin::Yaml, "tag", "!a", one()), typed(Origin::Yaml, "tag", "!b", one()), C::Type),
    ] {
        let found = kinds(&before, &after);
        assert_eq!(found, [(expected, 1)], "{before:?} {after:?}");
    }
    let set = |inside| typed(Origin::Python, "set", "", inside);
    assert_eq!(kinds(&set(one()), &set(turned())), []);
    assert_eq!(kinds(&Value::Int(1), &ext(Ext::Int64(1))), []);
    let keyed = |key: Value| Value::Map(vec![(key, Value::Null)]);
    assert_eq!(kinds(&keyed(ext(Ext::Symbol("a"))), &keyed(text("a"))), [(C::SymbolToText, 1)]);
    assert_eq!(kinds(&keyed(text("1")), &keyed(Value::Int(1))), [(C::Value, 1)]);
}

#[test]
fn shared_values() {
    use ChangeKind as C;
    let list = |value| Value::Array(vec![value]);
    let anchor = |id, value| Value::Anchor(id, Box::new(value));
    let shared =
        |id| Value::Array(vec![anchor(id, list(Value::Int(1))), Value::Alias(id), Value::Int(7)]);
    // The numbers of anchors have no meaning.
    assert_eq!(kinds(&shared(1), &shared(2)), []);
    let copied =
        |last| Value::Array(vec![list(Value::Int(1)), list(Value::Int(last)), Value::Int(7)]);
    assert_eq!(kinds(&shared(1), &copied(1)), [(C::Sharing, 1)]);
    assert_eq!(kinds(&shared(1), &copied(2)), [(C::Sharing, 1), (C::Value, 1)]);
    assert_eq!(kinds(&copied(1), &shared(1)), []);
    let cycle = |id| anchor(id, Value::Array(vec![Value::Alias(id)]));
    assert_eq!(kinds(&cycle(1), &cycle(2)), []);
    assert_eq!(kinds(&cycle(1), &list(list(Value::Int(1)))), [(C::Sharing, 2), (C::Value, 1)]);
}
