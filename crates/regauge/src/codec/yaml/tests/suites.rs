//! The whole yaml-test-suite: the events of every valid case, the refusal of every invalid one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use regauge_testdata::{needs_data, path};

use crate::codec::json;
use crate::codec::yaml::{Parser, Reader, events};
use crate::model::value::Value;
use crate::policy::event::recorder::Pieces;
use crate::policy::tree::Builder;
use crate::{Limits, Result, Source};

fn cases(folder: &Path, cases_found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    if folder.join("in.yaml").is_file() {
        cases_found.push(folder.to_owned());
        return;
    }
    for entry in entries.iter().filter(|entry| entry.is_dir()) {
        cases(entry, cases_found);
    }
}

needs_data!(every_case_of_the_suite);
fn every_case_of_the_suite() {
    let folder = path("conformance/yaml-test-suite");
    let mut all = Vec::new();
    cases(&folder, &mut all);
    assert_eq!(all.len(), 402);
    let (mut valid, mut invalid) = (0, 0);
    let mut wrong = Vec::new();
    for case in &all {
        let name = case.strip_prefix(&folder).unwrap().display().to_string();
        let input = std::fs::read(case.join("in.yaml")).unwrap();
        let found = events(&input);
        if case.join("error").exists() {
            match found {
                Err(error) => {
                    assert!(error.offset().is_some_and(|at| at <= input.len() as u64), "{name}");
                    invalid += 1;
                }
                Ok(_) => wrong.push(format!("{name}: read, but it is invalid")),
            }
            continue;
        }
        let expected = std::fs::read_to_string(case.join("test.event")).unwrap();
        match found {
            Ok(found) if found == expected => valid += 1,
            Ok(found) => wrong.push(format!("{name}:\n{expected}but found\n{found}")),
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    println!("yaml-test-suite: {valid} of 308 valid, {invalid} of 94 invalid");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the documents of a source as values.
fn values<S: Source>(mut source: S) -> Result<Vec<Value>> {
    let mut values = Vec::new();
    loop {
        let mut builder = Builder::new(&Limits::default());
        if !source.next(&mut builder)? {
            return Ok(values);
        }
        values.push(builder.take().expect("a document is one value"));
    }
}

/// Returns a value in JSON's data model: references written out, types dropped, keys as text.
fn as_json(value: &Value, anchors: &mut HashMap<u64, Value>) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(|v| as_json(v, anchors)).collect()),
        Value::Map(pairs) => {
            let pair = |(key, value): &(Value, Value)| {
                let key = match as_json(key, anchors) {
                    Value::Null => Value::Text(String::new()),
                    Value::Text(key) => Value::Text(key),
                    key => Value::Text(key.to_string()),
                };
                (key, as_json(value, anchors))
            };
            Value::Map(pairs.iter().map(pair).collect())
        }
        Value::Typed(_, value) => as_json(value, anchors),
        Value::Anchor(id, value) => {
            let value = as_json(value, anchors);
            anchors.insert(*id, value.clone());
            value
        }
        Value::Alias(id) => anchors[id].clone(),
        Value::F64(v) if v.fract() == 0.0 && v.abs() < 1e15 => Value::Int(*v as i64),
        value => value.clone(),
    }
}

/// Cases whose `in.json` differs from what we read, with the reason.
const OTHER_JSON: [(&str, &str); 2] = [
    ("565N", "it gives !!binary as the text in the file, we give its bytes"),
    ("RR7F", "it has the keys in another order than the file"),
];

needs_data!(values_are_those_of_the_suite);
fn values_are_those_of_the_suite() {
    let folder = path("conformance/yaml-test-suite");
    let mut all = Vec::new();
    cases(&folder, &mut all);
    let (mut same, mut wrong) = (0, Vec::new());
    for case in all.iter().filter(|case| !case.join("error").exists()) {
        let Ok(json) = std::fs::read(case.join("in.json")) else { continue };
        let name = case.strip_prefix(&folder).unwrap().display().to_string();
        let options =
            json::ReadOptions { framing: json::Framing::Concatenated, ..Default::default() };
        let parser = json::Parser::new(options, Limits::default());
        let expected = values(json::Reader::from_slice(parser, &json)).unwrap();
        let input = std::fs::read(case.join("in.yaml")).unwrap();
        let found = values(Reader::from_slice(Parser::default(), &input)).unwrap();
        let plain = |values: Vec<Value>| -> Vec<Value> {
            values.iter().map(|value| as_json(value, &mut HashMap::new())).collect()
        };
        let (found, expected) = (plain(found), plain(expected));
        match OTHER_JSON.iter().any(|(other, _)| *other == name) {
            true => assert_ne!(found, expected, "{name} does not differ any longer"),
            false if found == expected => same += 1,
            false => wrong.push(format!("{name}: {expected:?} but found {found:?}")),
        }
    }
    println!("yaml-test-suite: the values of {same} cases");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

needs_data!(real_files_are_the_same_in_pieces_and_come_back);
fn real_files_are_the_same_in_pieces_and_come_back() {
    let mut folders = vec![path("yaml")];
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let whole = values(Reader::from_slice(Parser::default(), &bytes))
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let pieces =
                values(Reader::from_read(Parser::default(), Pieces(&bytes, 4099))).unwrap();
            assert!(whole == pieces, "{}", path.display());
            let options = crate::Options::new(crate::Format::Yaml, crate::Format::Yaml);
            let written = crate::convert_bytes(&bytes, &options).unwrap();
            let again = values(Reader::from_slice(Parser::default(), &written)).unwrap();
            assert!(again == whole, "{}", path.display());
            count += 1;
        }
    }
    println!("{count} real files");
    assert!(count > 20);
    // The same document in both formats.
    let yaml = std::fs::read(path("yaml/senators-48k.yaml")).unwrap();
    let json = std::fs::read(path("json/senators-48k.json")).unwrap();
    let yaml = values(Reader::from_slice(Parser::default(), &yaml)).unwrap();
    assert!(yaml == values(json::Reader::from_slice(json::Parser::default(), &json)).unwrap());
}
