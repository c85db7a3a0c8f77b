//! Events asked for one by one are those that a reader sends.

use std::io::Read;

use super::{Event, Pull};
use crate::options::{DuplicateKeys, Options};
use crate::policy::event::recorder::Pieces;
use crate::policy::tree::Builder;
use crate::{ErrorKind, Format, Limits, OnLoss, Result, Sink, Source as _, Value, convert_bytes};

fn options(format: Format) -> Options {
    Options::new(format, format)
}

/// Builds the documents from the events.
fn documents(read: impl Read + Send, options: &Options) -> Result<Vec<Value>> {
    let mut pull = Pull::new(read, options);
    let (mut builder, mut found, mut is_inside) = (Builder::new(&Limits::NONE), vec![], false);
    while let Some(event) = pull.next()? {
        assert_eq!(is_inside, !matches!(event, Event::BeginDocument));
        match event {
            Event::BeginDocument => is_inside = true,
            Event::EndDocument => {
                is_inside = false;
                found.push(builder.take().expect("a document has a value"));
            }
            Event::BeginMap => builder.begin_map(None)?,
            Event::EndMap => builder.end_map()?,
            Event::BeginArray => builder.begin_array(None)?,
            Event::EndArray => builder.end_array()?,
            Event::Key(part) | Event::Value(part) => part.drive(&mut builder)?,
            Event::Bad(_) => unreachable!("broken records are not skipped"),
        }
    }
    assert!(!is_inside && pull.next()?.is_none());
    Ok(found)
}

const ALL: &[u8] = br#"{"a": [1, -2.5, 18446744073709551615, 99999999999999999999, true, null],
    "text": "\u00e9", "empty": [{}, [], ""], "last": {"b": {"c": "d"}}}"#;

#[test]
fn every_format_gives_what_its_reader_gives() {
    for format in Format::ALL.into_iter().filter(|format| !format.is_marc()) {
        let mut to = Options::new(Format::Json, format);
        to.on_loss = OnLoss::Approximate;
        let bytes = convert_bytes(ALL, &to).unwrap();
        let options = options(format);
        struct Read<'a>(&'a [u8], &'a Options);
        impl crate::codec::Visitor for Read<'_> {
            type Output = Vec<Value>;
            fn visit<C: crate::codec::Codec>(self) -> Vec<Value> {
                let mut reader = crate::reader::Reader::from_slice(C::parser(self.1), self.0);
                let mut builder = Builder::new(&Limits::NONE);
                let mut found = Vec::new();
                while reader.next(&mut builder).unwrap() {
                    found.push(builder.take().unwrap());
                }
                found
            }
        }
        let expected = format.visit(Read(&bytes, &options));
        assert_eq!(documents(&bytes[..], &options).unwrap(), expected, "{format}");
        assert_eq!(documents(Pieces(&bytes, 1), &options).unwrap(), expected, "{format}, slowly");
    }
}

#[test]
fn what_is_not_wanted_is_skipped() {
    let json =
        b"{\"a\": {\"b\": [1, {\"c\": 2}]}, \"d\": 3, \"e\": [4, 5], \"f\": \"g\"}\n[6]\n7\n";
    let options = options(Format::Ndjson);
    for read in [&mut &json[..] as &mut (dyn Read + Send), &mut Pieces(json, 1)] {
        let mut pull = Pull::new(read, &options);
        assert!(matches!(pull.next(), Ok(Some(Event::BeginDocument))));
        assert!(matches!(pull.next(), Ok(Some(Event::BeginMap))));
        assert!(matches!(pull.next(), Ok(Some(Event::Key(k))) if k.as_str() == Some("a")));
        pull.skip().unwrap();
        // There is nothing more to skip.
        pull.skip().unwrap();
        assert!(matches!(pull.next(), Ok(Some(Event::Key(k))) if k.as_str() == Some("d")));
        pull.skip().unwrap();
        assert!(matches!(pull.next(), Ok(Some(Event::Key(k))) if k.as_str() == Some("e")));
        assert!(matches!(pull.next(), Ok(Some(Event::BeginArray))));
        assert!(matches!(pull.next(), Ok(Some(Event::Value(v))) if v.to_value() == Value::Int(4)));
        pull.skip().unwrap();
        assert!(matches!(pull.next(), Ok(Some(Event::Value(v))) if v.to_value() == Value::Int(5)));
        assert!(matches!(pull.next(), Ok(Some(Event::EndArray))));
        assert!(
            matches!(pull.next(), Ok(Some(Event::Key(k))) if k.to_value() == Value::Text("f".into()))
        );
        pull.skip().unwrap();
        assert!(matches!(pull.next(), Ok(Some(Event::EndMap))));
        assert!(matches!(pull.next(), Ok(Some(Event::EndDocument))));
        assert!(matches!(pull.next(), Ok(Some(Event::BeginDocument))));
        pull.skip().unwrap();
        assert!(matches!(pull.next(), Ok(Some(Event::BeginDocument))));
        assert!(matches!(pull.next(), Ok(Some(Event::Value(v))) if v.to_value() == Value::Int(7)));
        assert!(matches!(pull.next(), Ok(Some(Event::EndDocument))));
        assert!(matches!(pull.next(), Ok(None)));
    }
}

#[test]
fn an_error_comes_after_the_events_before_it() {
    let mut pull = Pull::new(&b"[1, {\"a\": tru}]"[..], &options(Format::Json));
    let mut events = 0;
    let error = loop {
        match pull.next() {
            Ok(Some(_)) => events += 1,
            Ok(None) => panic!("expected an error"),
            Err(error) => break error,
        }
    };
    assert_eq!((events, error.offset()), (5, Some(10)));
    assert!(matches!(pull.next(), Ok(None)));
    let mut unique = options(Format::Json);
    unique.duplicate_keys = DuplicateKeys::Refuse;
    let twice = documents(&br#"{"a": 1, "a": 2}"#[..], &unique).unwrap_err();
    assert_eq!(twice.kind(), ErrorKind::Refused);
}

#[test]
fn a_typed_value_is_one_event_and_the_notation_is_read() {
    let yaml = b"a: !point {x: [1, 2]}\nb: *x\n";
    let mut pull = Pull::new(Pieces(&yaml[..22], 1), &options(Format::Yaml));
    for _ in 0..3 {
        pull.next().unwrap();
    }
    let Ok(Some(Event::Value(point))) = pull.next() else { panic!("expected a value") };
    assert!(matches!(point.to_value(), Value::Typed(..)), "{:?}", point.to_value());
    assert!(matches!(pull.next(), Ok(Some(Event::EndMap))));
    let shared = documents(&b"a: &x [1]\nb: *x\n"[..], &options(Format::Yaml)).unwrap();
    let Value::Map(pairs) = &shared[0] else { panic!("expected a map") };
    assert_eq!(pairs[0].1, pairs[1].1);
    assert!(documents(&b"&x [*x]"[..], &options(Format::Yaml)).is_err());
    let mut notation = options(Format::Json);
    notation.unwrap = true;
    let json = br#"[{"$binary": {"base64": "AQI=", "subType": "00"}}]"#;
    for unique in [DuplicateKeys::Keep, DuplicateKeys::Refuse] {
        notation.duplicate_keys = unique;
        let found = documents(Pieces(json, 1), &notation).unwrap();
        assert_eq!(found, [Value::Array(vec![Value::Bytes(vec![1, 2])])]);
    }
}

#[test]
fn a_broken_record_has_no_events() {
    let mut skipping = options(Format::Ndjson);
    skipping.skip_bad = true;
    let mut pull = Pull::new(&b"1\n[2, x]\n{\"a\": 3}\n"[..], &skipping);
    let mut seen = String::new();
    while let Some(event) = pull.next().unwrap() {
        seen.push(match event {
            Event::BeginDocument => '<',
            Event::EndDocument => '>',
            Event::BeginMap => '{',
            Event::EndMap => '}',
            Event::Key(_) => 'k',
            Event::Value(_) => 'v',
            Event::Bad(bad) => {
                assert_eq!((bad.error.record(), &bad.bytes[..]), (Some(2), &b"[2, x]\n"[..]));
                '!'
            }
            Event::BeginArray | Event::EndArray => panic!("an event of the broken record"),
        });
    }
    assert_eq!(seen, "<v>!<{kv}>");
}
