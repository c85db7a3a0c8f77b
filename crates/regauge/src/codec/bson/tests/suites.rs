//! MongoDB's BSON corpus, its tests of binary vectors, and documents.

use std::path::PathBuf;

use regauge_testdata::{needs_data, path};
use serde_json::Value as Json;

use super::*;
use crate::policy::documents::Documents;

fn suite(folder: &str) -> Vec<(String, Json)> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(path(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (name, serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
    };
    files.into_iter().map(read).collect()
}

/// Converts one document, whatever the framing of its format.
fn converted(
    bytes: &[u8],
    from: Format,
    to: Format,
    form: Option<ExtendedJson>,
    on_loss: OnLoss,
) -> Result<Vec<u8>> {
    let mut options = crate::Options::new(from, to);
    options.documents = Documents::Keep;
    options.bson.extended_json = form;
    options.on_loss = on_loss;
    crate::convert_bytes(bytes, &options)
}

/// Returns whether the JSON values are equal; doubles, also those in text, are compared by value.
fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, a)| {
                    b.get(key).is_some_and(|b| match (key.as_str(), a, b) {
                        ("$numberDouble", Json::String(a), Json::String(b)) if a != b => {
                            a.parse::<f64>().unwrap().to_bits()
                                == b.parse::<f64>().unwrap().to_bits()
                        }
                        _ => same(a, b),
                    })
                })
        }
        _ => a == b,
    }
}

#[track_caller]
fn check_json(what: &str, ours: &[u8], theirs: &str) {
    let ours: Json = serde_json::from_slice(ours).unwrap();
    let theirs: Json = serde_json::from_str(theirs).unwrap();
    assert!(same(&ours, &theirs), "{what}: {ours} for {theirs}");
}

const CANONICAL: Option<ExtendedJson> = Some(ExtendedJson::Canonical);
const RELAXED: Option<ExtendedJson> = Some(ExtendedJson::Relaxed);

/// Makes the assertions of the specification's "Testing validity" for one case. Returns how many
/// were made.
fn check_valid(what: &str, case: &Json) -> usize {
    use Format::{Bson, Json as Text};
    let text = |name: &str| case.get(name).map(|text| text.as_str().unwrap());
    let refuse = OnLoss::Refuse;
    let canonical = hex(text("canonical_bson").unwrap());
    let json = text("canonical_extjson").unwrap();
    let lossy = case.get("lossy").is_some_and(|lossy| lossy.as_bool().unwrap());
    let mut count = 0;
    let mut bson = |bytes: &[u8], from, form, on_loss| {
        count += 1;
        converted(bytes, from, Bson, form, on_loss).unwrap_or_else(|e| panic!("{what}: {e}"))
    };
    assert_eq!(bson(&canonical, Bson, None, refuse), canonical, "{what}");
    if let Some(degenerate) = text("degenerate_bson") {
        assert_eq!(bson(&hex(degenerate), Bson, None, refuse), canonical, "{what}");
    }
    if !lossy {
        assert_eq!(bson(json.as_bytes(), Text, CANONICAL, refuse), canonical, "{what}");
        if let Some(degenerate) = text("degenerate_extjson") {
            assert_eq!(bson(degenerate.as_bytes(), Text, CANONICAL, refuse), canonical, "{what}");
        }
    }
    // Values that the notation would not restore are refused; the nearest is written on request.
    let on_loss = if lossy { OnLoss::Approximate } else { refuse };
    let mut extended = |bytes: &[u8], from, form, expected: &str| {
        count += 1;
        let written = converted(bytes, from, Text, form, on_loss)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        check_json(what, &written, expected);
    };
    extended(&canonical, Bson, CANONICAL, json);
    extended(json.as_bytes(), Text, CANONICAL, json);
    if let Some(degenerate) = text("degenerate_extjson") {
        extended(degenerate.as_bytes(), Text, CANONICAL, json);
    }
    if let Some(relaxed) = text("relaxed_extjson") {
        extended(&canonical, Bson, RELAXED, relaxed);
        extended(relaxed.as_bytes(), Text, RELAXED, relaxed);
    }
    count
}

/// Runs every case of a corpus; returns how many were valid, and how many were refused.
fn check_corpus(folder: &str, exceptions: &[(&str, &str)]) -> (usize, usize) {
    let (mut valid, mut refused) = (0, 0);
    let mut excused = 0;
    for (file, suite) in suite(folder) {
        let cases =
            |name: &str| suite.get(name).and_then(Json::as_array).cloned().unwrap_or_default();
        for case in cases("valid") {
            let what = format!("{file}: {}", case["description"].as_str().unwrap());
            if exceptions.iter().any(|(name, _)| *name == what) {
                excused += 1;
                continue;
            }
            assert!(check_valid(&what, &case) >= 3);
            valid += 1;
        }
        for case in cases("decodeErrors") {
            let what = format!("{file}: {}", case["description"].as_str().unwrap());
            let bytes = hex(case["bson"].as_str().unwrap());
            let read = converted(&bytes, Format::Bson, Format::Json, CANONICAL, OnLoss::Refuse);
            assert!(read.is_err(), "{what}");
            refused += 1;
        }
        for case in cases("parseErrors") {
            let what = format!("{file}: {}", case["description"].as_str().unwrap());
            let text = case["string"].as_str().unwrap();
            // For decimals, the case is only the number.
            let json = match suite["bson_type"].as_str().unwrap() {
                "0x13" => serde_json::json!({"d": {"$numberDecimal": text}}).to_string(),
                _ => text.to_owned(),
            };
            let written =
                converted(json.as_bytes(), Format::Json, Format::Bson, CANONICAL, OnLoss::Refuse);
            if exceptions.iter().any(|(name, _)| *name == what) {
                // A case that is no longer an exception must be removed from the list.
                assert!(written.is_ok(), "{what}");
                excused += 1;
                continue;
            }
            assert!(written.is_err(), "{what}: {text}");
            refused += 1;
        }
    }
    assert_eq!(excused, exceptions.len());
    (valid, refused)
}

needs_data!(the_corpus);
fn the_corpus() {
    assert_eq!(check_corpus("conformance/bson-corpus", &[]), (728, 255));
}

needs_data!(an_older_copy_of_the_corpus);
fn an_older_copy_of_the_corpus() {
    // A coefficient above 10^34 - 1, which this copy reads as a number of 35 digits: by IEEE 754
    // and the current specification it is zero. We keep its bytes.
    let database_reference = "an ordinary map: the current corpus lists it as valid";
    let exceptions = [
        ("decimal128-mongoc: Scientific - Longest", "coefficient of 35 digits"),
        ("top: Bad DBRef (ref is number, not string)", database_reference),
        ("top: Bad DBRef (db is number, not string)", database_reference),
    ];
    let folder = "conformance/bson-corpus-apache";
    assert_eq!(check_corpus(folder, &exceptions), (706, 244));
}

needs_data!(binary_vectors);
fn binary_vectors() {
    let mut count = 0;
    for (file, suite) in suite("conformance/bson-binary-vector") {
        for case in suite["tests"].as_array().unwrap() {
            let what = format!("{file}: {}", case["description"]);
            let Some(bytes) = case.get("canonical_bson") else { continue };
            // A vector is bytes with a subtype, whatever they contain: even those that a vector's
            // own reader would refuse come back.
            let bytes = hex(bytes.as_str().unwrap());
            let json = converted(&bytes, Format::Bson, Format::Json, CANONICAL, OnLoss::Refuse);
            let back =
                converted(&json.unwrap(), Format::Json, Format::Bson, CANONICAL, OnLoss::Refuse);
            assert_eq!(back.unwrap(), bytes, "{what}");
            count += 1;
        }
    }
    assert!(count >= 15, "{count}");
}

needs_data!(the_documents_of_json_org);
fn the_documents_of_json_org() {
    let folder = path("pairs/json.org");
    for number in 1..=5 {
        let binary = std::fs::read(folder.join(format!("{number}.json.bson"))).unwrap();
        let json = std::fs::read(folder.join(format!("{number}.json"))).unwrap();
        let text = converted(&binary, Format::Bson, Format::Json, None, OnLoss::Refuse).unwrap();
        check_json(&number.to_string(), &text, std::str::from_utf8(&json).unwrap());
        let again = converted(&binary, Format::Bson, Format::Bson, None, OnLoss::Refuse).unwrap();
        assert_eq!(again, binary, "{number}");
    }
}

needs_data!(benchmark_documents);
/// Converts MongoDB's benchmark documents to Extended JSON and back.
fn benchmark_documents() {
    for (name, _) in suite("bson/benchmark") {
        let text = std::fs::read(path(&format!("bson/benchmark/{name}.json"))).unwrap();
        let bson = converted(&text, Format::Json, Format::Bson, CANONICAL, OnLoss::Refuse).unwrap();
        let again =
            converted(&bson, Format::Bson, Format::Json, CANONICAL, OnLoss::Refuse).unwrap();
        let back =
            converted(&again, Format::Json, Format::Bson, CANONICAL, OnLoss::Refuse).unwrap();
        assert_eq!(back, bson, "{name}");
    }
}
