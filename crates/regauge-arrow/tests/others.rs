//! Files of other writers: see tools/parquet_corpus.py.
#![cfg(feature = "parquet")]

mod common;

use std::sync::Arc;

use arrow_schema::DataType;
use common::{corpus, lines, read};
use regauge::tree::Builder;
use regauge::{ErrorKind, Limits};
use regauge_arrow::parquet::FileReader;

#[test]
fn they_hold_what_pyarrow_reads() {
    for (name, bytes) in corpus("valid") {
        let path = format!("{}/tests/files/valid/{name}.ndjson", env!("CARGO_MANIFEST_DIR"));
        let expected = std::fs::read_to_string(path).unwrap();
        let found = lines(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        for (found, expected) in found.lines().zip(expected.lines()) {
            assert_eq!(found, expected, "{name}");
        }
        assert_eq!(found.lines().count(), expected.lines().count(), "{name}");
    }
}

#[test]
fn a_column_with_a_dictionary_is_written_as_one_of_its_values() {
    let (_, bytes) = corpus("valid").into_iter().find(|(name, _)| name == "types").unwrap();
    let columns = FileReader::open(Arc::new(bytes), &Limits::default()).unwrap().columns();
    assert_eq!(columns.field_with_name("category").unwrap().data_type(), &DataType::Utf8);
}

#[test]
fn a_zone_is_counted() {
    let (_, bytes) = corpus("valid").into_iter().find(|(name, _)| name == "types").unwrap();
    let mut reader = FileReader::open(Arc::new(bytes), &Limits::default()).unwrap();
    let mut builder = Builder::new(&Limits::default());
    reader.next(&mut builder).unwrap();
    let fidelity = regauge::Sink::fidelity(&mut builder);
    let example = &fidelity.losses()[0].examples[0];
    assert_eq!(example.found, "points in time in the zone Europe/Berlin");
    assert_eq!(fidelity.count(), 1);
}

/// The message for each file, as it is kept next to them. `UPDATE=1` writes it anew.
#[test]
fn broken_files_have_their_messages() {
    let mut found = String::new();
    for (name, bytes) in corpus("invalid") {
        let error = read(bytes, &Limits::default()).expect_err(&name);
        found += &format!("{name}: {}: {error}\n", error.kind().name());
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/invalid/messages.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &found).unwrap();
    }
    assert_eq!(found, std::fs::read_to_string(path).unwrap());
}

#[test]
fn limits() {
    let (_, bytes) = corpus("valid").into_iter().find(|(name, _)| name == "types").unwrap();
    let check = |name: &str, value: u64, message: &str| {
        let mut limits = Limits::default();
        limits.set(name, Some(value)).unwrap();
        let error = read(bytes.clone(), &limits).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert!(error.to_string().contains(message), "{error}");
    };
    check("record_bytes", 4096, "footer");
    check("token_bytes", 8, "bytes");
    check("nodes", 0, "values in lists");
}
