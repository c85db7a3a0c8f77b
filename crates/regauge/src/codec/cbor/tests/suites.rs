//! Published suites and documents.

use regauge_testdata::{needs_data, path};
use serde_json::Value as Json;

use super::*;

/// Returns whether `json` is `value`, with numbers as JSON has them.
fn same(value: &Value, json: &Json) -> bool {
    match (value, json) {
        (Value::Null, Json::Null) => true,
        (Value::Bool(a), Json::Bool(b)) => a == b,
        (Value::Int(v), Json::Number(n)) => n.as_i64() == Some(*v),
        (Value::UInt(v), Json::Number(n)) => n.as_u64() == Some(*v),
        // serde_json may get the last bit wrong.
        (Value::F32(v), Json::Number(n)) => close(f64::from(*v), n.as_f64().unwrap()),
        (Value::F64(v), Json::Number(n)) => close(*v, n.as_f64().unwrap()),
        // serde_json reads integers beyond 64 bits as doubles.
        (Value::BigInt { .. }, Json::Number(n)) => {
            let nearest: f64 =
                value.to_string().trim_matches(|c| "{}\":$integr".contains(c)).parse().unwrap();
            close(nearest, n.as_f64().unwrap())
        }
        (Value::Text(a), Json::String(b)) => a == b,
        (Value::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Map(pairs), Json::Object(b)) => {
            pairs.len() == b.len()
                && pairs.iter().all(|(key, value)| match key {
                    Value::Text(key) => b.get(key).is_some_and(|b| same(value, b)),
                    _ => false,
                })
        }
        _ => false,
    }
}

fn close(a: f64, b: f64) -> bool {
    a.is_sign_negative() == b.is_sign_negative() && (a - b).abs() <= a.abs() * f64::EPSILON
}

needs_data!(appendix_a);
/// Appendix A of RFC 7049, which differs from that of RFC 8949 in one vector.
fn appendix_a() {
    let folder = path("conformance/cbor-test-vectors");
    let suite = std::fs::read(folder.join("appendix_a.json")).unwrap();
    let suite: Json = serde_json::from_slice(&suite).unwrap();
    let (mut cases, mut round_trips) = (0, 0);
    for case in suite.as_array().unwrap() {
        let name = case["hex"].as_str().unwrap();
        let bytes = hex(name);
        cases += 1;
        if name == "f818" {
            // Well-formed in RFC 7049, but no longer in RFC 8949 (§3.3 and Appendix F).
            assert!(from_slice(&bytes).is_err());
            continue;
        }
        let value = from_slice(&bytes).unwrap();
        match case.get("diagnostic") {
            Some(notation) => assert_eq!(diagnostic(&bytes).unwrap(), notation.as_str().unwrap()),
            None => assert!(same(&value, &case["decoded"]), "{name}: {value}"),
        }
        let keep = crate::Options::new(Format::Cbor, Format::Cbor);
        let again = crate::convert_bytes(&bytes, &keep).unwrap();
        if case["roundtrip"].as_bool().unwrap() {
            assert_eq!(again, bytes, "{name}");
            round_trips += 1;
        }
        assert_eq!(crate::convert_bytes(&again, &keep).unwrap(), again, "{name}");
    }
    assert_eq!((cases, round_trips), (82, 64));
}

needs_data!(the_documents_of_json_org);
fn the_documents_of_json_org() {
    let folder = path("pairs/json.org");
    for number in 1..=5 {
        let binary = std::fs::read(folder.join(format!("{number}.json.cbor"))).unwrap();
        let json = std::fs::read(folder.join(format!("{number}.json"))).unwrap();
        let json: Json = serde_json::from_slice(&json).unwrap();
        let value = from_slice(&binary).unwrap();
        assert!(same(&value, &json), "{number}");
        assert_eq!(written(&value), binary, "{number}");
    }
}
