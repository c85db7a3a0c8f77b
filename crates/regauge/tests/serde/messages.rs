//! What messages say, and where.

use std::collections::BTreeMap;

use regauge::serde::{from_slice, to_vec};
use regauge::{ErrorKind, Format};
use serde::{Deserialize, Serialize};

use crate::{Person, Shape, wrong};

#[test]
fn messages_say_where_and_what() {
    assert_eq!(
        wrong::<Vec<Person>>(r#"[{"name": "a", "age": 300, "phones": []}]"#),
        "json: at $[0].age: found the integer 300, expected u8"
    );
    assert_eq!(
        wrong::<Person>(r#"{"name": "a", "phones": []}"#),
        "json: at $: found no field `age`"
    );
    assert_eq!(
        wrong::<Person>(r#"{"name": "a", "age": 1, "phones": ["b", null]}"#),
        "json: at $.phones[1]: found null, expected a string"
    );
    assert_eq!(wrong::<bool>("\"yes\""), "json: at $: found the text \"yes\", expected a boolean");
    assert_eq!(wrong::<(u8, u8)>("[1]"), "json: at $: found 1 value, expected a tuple of size 2");
    assert_eq!(wrong::<(u8, u8)>("[1, 2, 3]"), "json: at $: found an array of 3, expected 2");
    assert_eq!(
        wrong::<Shape>(r#"{"Circle": 1}"#),
        "json: at $.Circle: found the variant `Circle`, expected `Unit`, `Newtype`, `Tuple`, or \
         `Struct`"
    );
    assert_eq!(
        wrong::<Shape>(r#"{"Struct": {"x": 1, "y": "a"}}"#),
        "json: at $.Struct.y: found the text \"a\", expected i32"
    );
    assert_eq!(
        wrong::<Shape>("{}"),
        "json: at $: found a map of 0 keys, expected a map with the variant as its only key"
    );
    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only read")]
    struct Strict {
        a: u8,
    }
    assert_eq!(wrong::<Strict>(r#"{"b": 1}"#), "json: at $.b: found the field `b`, expected `a`");
    assert_eq!(
        wrong::<Strict>(r#"{"a": 1, "a": 1}"#),
        "json: at $: found the field `a` a second time"
    );
    assert_eq!(wrong::<u8>("1.5"), "json: at $: found the number 1.5, expected u8");

    // What breaks the grammar has its line.
    let error = from_slice::<Person>(b"{\n  \"name\": }", Format::Json).unwrap_err();
    assert_eq!((error.kind(), error.line_column()), (ErrorKind::Syntax, Some((2, 11))));
    let error = from_slice::<Person>(b"", Format::Msgpack).unwrap_err();
    assert_eq!(error.to_string(), "msgpack: found no document");
    let error = from_slice::<u8>(b"\x01\x02", Format::Msgpack).unwrap_err();
    assert!(error.to_string().contains("more than one document"), "{error}");
    assert!(from_slice::<u8>(b"1 2", Format::Json).is_err());
}

#[test]
fn what_serializing_refuses_has_its_path() {
    let bytes = serde_bytes::Bytes::new(b"\xFF");
    #[derive(Serialize)]
    enum Nested<'a> {
        Struct { list: Vec<BTreeMap<u8, &'a serde_bytes::Bytes>> },
        Tuple(u8, f64),
    }
    let nested = Nested::Struct { list: vec![BTreeMap::new(), BTreeMap::from([(7, bytes)])] };
    let error = to_vec(&nested, Format::Json).unwrap_err();
    assert!(error.to_string().starts_with("json: at $.Struct.list[1].7: "), "{error}");
    let error = to_vec(&[Nested::Tuple(1, f64::NAN)], Format::Json).unwrap_err();
    assert!(
        error.to_string().starts_with("json: at $[0].Tuple[1]: found the number NaN"),
        "{error}"
    );
    let error = to_vec(&1, Format::Bson).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable, "{error}");
    // A type that announces another length than it has.
    struct Liar;
    impl Serialize for Liar {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeSeq as _;
            let mut seq = s.serialize_seq(Some(3))?;
            seq.serialize_element(&1)?;
            seq.end()
        }
    }
    assert!(to_vec(&Liar, Format::Msgpack).is_err());
    assert!(to_vec(&Liar, Format::Cbor).is_err());
}
