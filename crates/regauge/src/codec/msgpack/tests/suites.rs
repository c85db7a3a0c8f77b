//! Published suites and documents, and the repository's own corpus.

use std::path::{Path, PathBuf};

use regauge_testdata::{needs_data, path};
use serde_json::Value as Json;

use super::super::types::{FLOAT32, FLOAT64};
use super::*;
use crate::model::hint::Surface;

/// Returns whether the values are equal except for the widths and types of numbers: the suite lists
/// `1.0` as an encoding of 1.
fn same(a: &Value, b: &Value) -> bool {
    let number = |v: &Value| match *v {
        Value::Int(v) => Some(v as f64),
        Value::UInt(v) => Some(v as f64),
        Value::F32(v) => Some(v.into()),
        Value::F64(v) => Some(v),
        _ => None,
    };
    match (a, b) {
        (Value::Int(_) | Value::UInt(_), Value::Int(_) | Value::UInt(_)) => a == b,
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| same(k, l) && same(a, b))
        }
        _ => match (number(a), number(b)) {
            (Some(a), Some(b)) => a == b,
            _ => a == b,
        },
    }
}

fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(v) => Value::Bool(*v),
        Json::Number(v) => match (v.as_i64(), v.as_u64()) {
            (Some(v), _) => Value::Int(v),
            (_, Some(v)) => Value::UInt(v),
            _ => Value::F64(v.as_f64().unwrap()),
        },
        Json::String(v) => text(v),
        Json::Array(values) => Value::Array(values.iter().map(from_json).collect()),
        Json::Object(pairs) => {
            Value::Map(pairs.iter().map(|(k, v)| (text(k), from_json(v))).collect())
        }
    }
}

/// Returns the value that a case of msgpack-test-suite describes, under the name of its type.
fn described(kind: &str, json: &Json) -> Value {
    let bytes = |json: &Json| hex(json.as_str().unwrap());
    match kind {
        "binary" => Value::Bytes(bytes(json)),
        "bignum" => match json.as_str().unwrap().parse::<i64>() {
            Ok(v) => Value::Int(v),
            Err(_) => Value::UInt(json.as_str().unwrap().parse().unwrap()),
        },
        "timestamp" => {
            time(json[0].as_i64().unwrap(), u32::try_from(json[1].as_u64().unwrap()).unwrap())
        }
        "ext" => {
            let kind = i8::try_from(json[0].as_i64().unwrap()).unwrap();
            Value::MsgpackExt(kind, bytes(&json[1]))
        }
        "nil" | "bool" | "number" | "string" | "array" | "map" => from_json(json),
        other => panic!("unknown type {other}"),
    }
}

needs_data!(msgpack_test_suite);
fn msgpack_test_suite() {
    let folder = path("conformance/msgpack-test-suite");
    let suite = std::fs::read(folder.join("msgpack-test-suite.json")).unwrap();
    let suite: Json = serde_json::from_slice(&suite).unwrap();
    let (mut cases, mut encodings) = (0, 0);
    for (group, list) in suite.as_object().unwrap() {
        for case in list.as_array().unwrap() {
            let listed: Vec<Vec<u8>> = case["msgpack"]
                .as_array()
                .unwrap()
                .iter()
                .map(|encoding| hex(encoding.as_str().unwrap()))
                .collect();
            for (kind, json) in case.as_object().unwrap().iter().filter(|(k, _)| *k != "msgpack") {
                let value = described(kind, json);
                for encoding in &listed {
                    let read = from_slice(encoding).unwrap();
                    assert!(same(&read, &value), "{group}: {read:?} for {value:?}");
                    let again = to_vec(&read, OnLoss::Refuse).unwrap();
                    assert!(listed.contains(&again), "{group}: {}", again.escape_ascii());
                    encodings += 1;
                }
                let written = to_vec(&value, OnLoss::Refuse).unwrap();
                // An integer stays one, although a float 32 of the same value can be shorter.
                let floats = |encoding: &&Vec<u8>| matches!(encoding[0], FLOAT32 | FLOAT64);
                let whole = listed.iter().filter(|encoding| !floats(encoding));
                let shortest = whole.map(Vec::len).min().unwrap_or(9);
                assert!(listed.contains(&written), "{group}: {}", written.escape_ascii());
                assert!(written.len() == shortest, "{group}: {value:?}");
            }
            cases += 1;
        }
    }
    assert_eq!((cases, encodings), (85, 246));
}

/// Sorts keys like the binary file, which holds them sorted.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(values) => Value::Array(values.into_iter().map(sorted).collect()),
        Value::Map(mut pairs) => {
            pairs.sort_by(|(a, _), (b, _)| format!("{a:?}").cmp(&format!("{b:?}")));
            Value::Map(pairs.into_iter().map(|(k, v)| (k, sorted(v))).collect())
        }
        leaf => leaf,
    }
}

needs_data!(the_documents_of_json_org);
fn the_documents_of_json_org() {
    let folder = path("pairs/json.org");
    for number in 1..=5 {
        let binary = std::fs::read(folder.join(format!("{number}.json.msgpack"))).unwrap();
        let json = std::fs::read(folder.join(format!("{number}.json"))).unwrap();
        let json: Json = serde_json::from_slice(&json).unwrap();
        let value = from_slice(&binary).unwrap();
        assert_eq!(sorted(value.clone()), sorted(from_json(&json)), "{number}");
        // The file comes from an encoder without str 8, so ours is shorter but equivalent.
        let written = to_vec(&value, OnLoss::Refuse).unwrap();
        assert!(written.len() <= binary.len(), "{number}");
        assert_eq!(from_slice(&written).unwrap(), value, "{number}");
    }
}

/// Returns the events of a stream, one per line, and the error that ends it.
fn events_of(bytes: &[u8]) -> String {
    let mut events = Events::new();
    let mut reader = Reader::from_slice(Parser::default(), bytes);
    loop {
        match reader.next(&mut events) {
            Ok(true) => events.lines.push("document".to_owned()),
            Ok(false) => return events.lines.join("\n"),
            Err(error) => {
                events.lines.push(error.display(&Surface::COMMAND).to_string());
                return events.lines.join("\n");
            }
        }
    }
}

/// Checks the events of every corpus file against `events.txt` beside the folders.
#[test]
fn events_of_the_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/msgpack");
    let mut text = String::new();
    for folder in ["invalid", "valid"] {
        let entries = std::fs::read_dir(corpus.join(folder)).unwrap();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|suffix| suffix == "msgpack"));
        files.sort();
        assert!(files.len() > 10);
        for path in files {
            let events = events_of(&std::fs::read(&path).unwrap());
            let name = path.file_name().unwrap().to_string_lossy();
            text.push_str(&format!("{folder}/{name}\n"));
            for line in events.lines() {
                text.push_str(&format!("  {line}\n"));
            }
        }
    }
    let expected = corpus.join("events.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&expected, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&expected).unwrap_or_default();
    assert!(text == expected, "events have changed (BLESS=1 writes them):\n{text}");
}
