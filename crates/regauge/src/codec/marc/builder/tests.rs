//! Records built from events.

use super::*;
use crate::{Format, OnLoss, Value};

fn map(pairs: Vec<(&str, Value)>) -> Value {
    Value::Map(pairs.into_iter().map(|(k, v)| (text(k), v)).collect())
}
fn text(v: &str) -> Value {
    Value::Text(v.into())
}
fn builder() -> RecordBuilder {
    RecordBuilder::new(&Limits::default(), Fidelity::new(OnLoss::Refuse, Format::Marc))
}
fn subfield(code: &str, value: &str) -> Value {
    map(vec![(code, text(value))])
}

#[test]
fn keys_come_in_any_order() {
    let subfields = Value::Array(vec![subfield("a", "x"), subfield("b", "")]);
    let data = map(vec![("subfields", subfields), ("ind2", text("0")), ("ind1", text("1"))]);
    let fields = Value::Array(vec![map(vec![("001", text("id"))]), map(vec![("245", data)])]);
    let value = map(vec![("fields", fields), ("charset", text("utf-8")), ("leader", text("L"))]);
    let mut builder = builder();
    // Twice, to check that nothing of the first remains.
    value.drive(&mut builder).unwrap();
    value.drive(&mut builder).unwrap();
    assert!(builder.is_done());

    let mut expected = Record::new();
    expected.set_leader("L");
    expected.set_charset(Some(Charset::Utf8));
    expected.add_text("001", "id");
    expected.add_data("245", "1", "0");
    expected.add_subfield("a", "x");
    expected.add_subfield("b", "");
    assert_eq!(*builder.record(), expected);
    assert_eq!(builder.record().id(), Some("id"));

    // And it accepts what it emits.
    let mut again = super::tests::builder();
    expected.drive(&mut again).unwrap();
    assert_eq!(*again.record(), expected);
}

#[test]
fn what_is_no_record_is_refused_with_what_was_expected() {
    let check = |value: Value, message: &str| {
        let error = value.drive(&mut builder()).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Unrepresentable);
        assert_eq!(error.message(), message);
    };
    let fields = |field| map(vec![("leader", text("")), ("fields", Value::Array(vec![field]))]);
    let data = |pairs| fields(map(vec![("245", map(pairs))]));
    let record = "expected a MARC record: a map with leader and fields";
    check(Value::Int(1), &format!("found the number 1, {record}"));
    check(Value::Array(vec![]), &format!("found an array, {record}"));
    check(map(vec![]), &format!("found a map without leader, {record}"));
    check(map(vec![("leader", text(""))]), &format!("found a map without fields, {record}"));
    check(
        map(vec![("_id", text(""))]),
        "found the key \"_id\", expected one of the keys leader, fields and charset",
    );
    check(
        map(vec![("leader", text("")), ("leader", text(""))]),
        "found the key leader twice, expected it once",
    );
    check(
        map(vec![("charset", text("latin-1"))]),
        "found the charset \"latin-1\", expected the charset: utf-8 or marc-8",
    );
    check(fields(text("x")), "found text, expected a field: a map from its tag to its content");
    check(
        fields(map(vec![("001", text("x")), ("002", text("x"))])),
        "found a second key \"002\", expected the end of the field's map, which has one tag",
    );
    check(
        fields(map(vec![("001", Value::Null)])),
        "found null, expected a control field's text or a data field's map",
    );
    check(
        data(vec![("ind1", text(" ")), ("ind2", text(" "))]),
        "found a data field without subfields, expected ind1, ind2 and subfields",
    );
    check(
        data(vec![("ind1", Value::Bool(true))]),
        "found true, expected an indicator: text of one character",
    );
    check(
        data(vec![("subfields", Value::Array(vec![map(vec![("a", Value::Int(7))])]))]),
        "found the number 7, expected a subfield's text",
    );
    check(fields(map(vec![])), "found the end of a map, expected the tag of a field");
}

#[test]
fn a_record_is_bounded() {
    let limits = Limits { record_bytes: 40, ..Limits::default() };
    let mut builder = RecordBuilder::new(&limits, Fidelity::new(OnLoss::Refuse, Format::Marc));
    let value =
        |n: usize| map(vec![("leader", text(&"x".repeat(n))), ("fields", Value::Array(vec![]))]);
    value(34).drive(&mut builder).unwrap();
    value(41).drive(&mut builder).unwrap_err();
    builder.reset();
    value(34).drive(&mut builder).unwrap();
}

#[test]
fn a_record_is_exchanged_for_memory() {
    let sized = |n: usize| {
        let mut record = Record::new();
        record.set_leader(&"l".repeat(24));
        record.set_charset((n % 2 == 1).then_some(Charset::Utf8));
        record.add_text("001", &"é".repeat(n));
        for index in 0..n {
            record.add_data("245", "1", " ");
            record.add_subfield("a", &index.to_string());
        }
        record
    };
    let mut builder = builder();
    let mut spare = Record::new();
    for n in [3, 400, 0, 1, 380, 399, 2, 2, 1000, 7] {
        let expected = sized(n);
        expected.drive(&mut builder).unwrap();
        let found = builder.exchange(spare);
        assert_eq!(found, expected);
        assert_eq!(*builder.record(), Record::new());
        assert!(found.memory() <= 2 * found.memory_used() + 256, "{n}");
        spare = found;
    }
}

#[test]
fn a_reader_of_xml_hands_over_what_its_events_say() {
    let mut xml = b"<collection>".to_vec();
    for n in [2, 30, 0, 5] {
        let body = "<datafield tag='245' ind1='1' ind2=' '><subfield code='a'>x &amp; é</subfield></datafield>";
        let text = body.repeat(n);
        xml.extend(
            format!(
                "<record> <leader>00000nam a2200000 a 4500</leader>\n<controlfield tag='001'>{n}</controlfield>\
                 {text}</record>"
            )
            .bytes(),
        );
    }
    xml.extend(b"</collection>");
    let reader = || crate::codec::marc::xml::Reader::from_slice(Default::default(), &xml);
    let (mut whole, mut by_events) = (reader(), reader());
    let mut records = builder();
    let mut values = crate::policy::tree::Builder::new(&Limits::default());
    for n in [2, 30, 0, 5] {
        records.reset();
        assert!(crate::Source::next(&mut whole, &mut records).unwrap());
        assert!(crate::Source::next(&mut by_events, &mut values).unwrap());
        let mut expected = builder();
        values.take().unwrap().drive(&mut expected).unwrap();
        assert_eq!(records.record(), expected.record());
        assert_eq!(records.record().fields().len(), n + 1);
    }
    // A record that is too large is reported through its events.
    let limits = Limits { record_bytes: 60, ..Limits::default() };
    let mut small = RecordBuilder::new(&limits, Fidelity::new(OnLoss::Refuse, Format::Marc));
    let error = crate::Source::next(&mut reader(), &mut small).unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Limit);
}
