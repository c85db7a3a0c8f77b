//! Conversions between streams and arrays; duplicate keys.

use regauge::codec::{Codec, Visitor};
use regauge::convert::DuplicateKeys;
use regauge::documents::Documents;
use regauge::event::Writer;
use regauge::out::Out;
use regauge::{ErrorKind, Format, Options, convert_bytes};

#[track_caller]
fn check(from: Format, to: Format, documents: Documents, input: &[u8], output: &[u8]) {
    let mut options = Options::new(from, to);
    options.documents = documents;
    let found = convert_bytes(input, &options).unwrap();
    assert_eq!(found.escape_ascii().to_string(), output.escape_ascii().to_string());
}

use Documents::{Auto, Join, Keep, Split};
use Format::{Json, Msgpack, Ndjson};

#[test]
fn an_array_is_a_stream() {
    check(Json, Ndjson, Auto, b"[1,[2],{\"a\":[3]}]", b"1\n[2]\n{\"a\":[3]}\n");
    check(Json, Ndjson, Auto, b"[]", b"");
    check(Json, Ndjson, Auto, b"{\"a\":[1]}", b"{\"a\":[1]}\n");
    check(Json, Ndjson, Keep, b"[1,2]", b"[1,2]\n");
    check(Json, Msgpack, Auto, b"[1,2]", b"\x92\x01\x02");
    check(Json, Msgpack, Split, b"[1,2]", b"\x01\x02");
}

#[test]
fn a_stream_is_an_array() {
    check(Ndjson, Json, Auto, b"1\n[2]\n", b"[1,[2]]\n");
    check(Ndjson, Json, Auto, b"1\n", b"[1]\n");
    check(Ndjson, Json, Auto, b"", b"[]\n");
    check(Ndjson, Msgpack, Auto, b"1\n2\n", b"\x01\x02");
    check(Ndjson, Msgpack, Join, b"1\n2\n", b"\x92\x01\x02");
    check(Msgpack, Json, Auto, b"\x92\x01\x02", b"[1,2]\n");
    check(Msgpack, Json, Join, b"\x92\x01\x02\x03", b"[[1,2],3]\n");
    check(Msgpack, Ndjson, Auto, b"\x92\x01\x02\x03", b"[1,2]\n3\n");
}

#[test]
fn json_holds_one_document() {
    let error = convert_bytes(b"\x01\x02", &Options::new(Msgpack, Json)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable);
    assert!(
        error.hint_for(&regauge::hint::Surface::COMMAND).unwrap().contains("--documents join"),
        "{error}"
    );
}

#[test]
fn a_key_that_stands_twice() {
    let input = br#"{"a":1,"b":{"a":2,"a":3},"a":4}"#;
    check(Json, Json, Keep, input, b"{\"a\":1,\"b\":{\"a\":2,\"a\":3},\"a\":4}\n");
    let mut options = Options::new(Json, Msgpack);
    options.duplicate_keys = DuplicateKeys::Refuse;
    let error = convert_bytes(input, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(error.path().unwrap().to_string(), "$.b.a");
    assert!(error.message().contains("\"a\" a second time"), "{error}");
    let many: String = (0..100).map(|n| format!("\"k{n}\":{n},")).collect();
    let one_twice = format!("{{{many}\"k42\":0}}");
    assert!(convert_bytes(one_twice.as_bytes(), &options).is_err());
    let none_twice = format!("{{{many}\"k100\":0}}");
    assert!(convert_bytes(none_twice.as_bytes(), &options).is_ok());
}

/// Writes an array of null, true and false with the event for any of them, or with those that it stands for.
struct Constants<'o> {
    options: &'o Options,
    is_any: bool,
}

impl Visitor for Constants<'_> {
    type Output = Vec<u8>;

    fn visit<C: Codec>(self) -> Vec<u8> {
        let mut writer = C::writer(Out::in_memory(), self.options, self.options.fidelity());
        let sink: &mut dyn Writer = &mut writer;
        sink.begin_map(Some(1)).unwrap();
        sink.key("a").unwrap();
        sink.begin_array(Some(300)).unwrap();
        for constant in [None, Some(true), Some(false)].repeat(100) {
            match (self.is_any, constant) {
                (true, constant) => sink.constant(constant),
                (false, None) => sink.null(),
                (false, Some(v)) => sink.bool(v),
            }
            .unwrap();
        }
        sink.end_array().unwrap();
        sink.end_map().unwrap();
        sink.end_document().unwrap();
        sink.finish().unwrap();
        C::into_out(writer).into_vec()
    }
}

#[test]
fn constants_are_written_as_usual() {
    use Format::{Bson, Cbor, Marshal, Pickle, Yaml};
    for format in [Json, Ndjson, Yaml, Msgpack, Cbor, Bson, Marshal, Pickle] {
        for variant in 0..6 {
            let mut options = Options::new(Json, format);
            options.pickle.protocol = Some(variant as u8);
            options.json_write.indent = (format == Json && variant % 2 == 1).then_some(2);
            let written = |is_any| options.visit_sized(Constants { options: &options, is_any });
            assert_eq!(written(true), written(false), "{format:?}, variant {variant}");
        }
    }
}
