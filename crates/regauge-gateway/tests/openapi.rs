//! The OpenAPI document matches the gateway: the same addresses, and no undocumented status.

mod common;

use std::collections::BTreeSet;

use regauge_gateway::server::{OPENAPI, routes};
use regauge_gateway::tenants::Scope;
use serde_json::Value;

const METHODS: [&str; 7] = ["get", "head", "put", "post", "patch", "delete", "options"];

fn document() -> Value {
    serde_json::from_str(OPENAPI).unwrap()
}

fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if METHODS.contains(&method.as_str()) {
                found.push((method.to_uppercase(), path.clone(), operation));
            }
        }
    }
    found
}

#[test]
fn every_address_is_told_and_every_told_address_is_there() {
    let document = document();
    let told: BTreeSet<_> =
        operations(&document).into_iter().map(|(method, path, _)| (method, path)).collect();
    let there: BTreeSet<_> =
        routes().iter().map(|one| (one.method.to_string(), one.path.to_owned())).collect();
    assert_eq!(told, there);
}

#[test]
fn what_an_address_asks_of_a_token_is_told() {
    let document = document();
    for route in routes() {
        let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
        let expected = match route.scope {
            None => serde_json::json!([]),
            Some(Scope::Read | Scope::Write) => serde_json::json!([{"tenant": []}]),
            Some(_) => serde_json::json!([{"gateway": []}]),
        };
        assert_eq!(operation["security"], expected, "{} {}", route.method, route.path);
        if route.scope.is_some() {
            for status in ["401", "403"] {
                assert!(operation["responses"].get(status).is_some(), "{} {status}", route.path);
            }
        }
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_part_is_used() {
    let document = document();
    let mut used = BTreeSet::new();
    walk(&document, &mut |value| {
        if let Some(target) = value.get("$ref").and_then(Value::as_str) {
            let pointer = target.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{target}");
            used.insert(pointer.to_owned());
        }
    });
    for kind in ["parameters", "headers", "responses", "schemas"] {
        for name in document["components"][kind].as_object().unwrap().keys() {
            let pointer = format!("/components/{kind}/{name}");
            assert!(used.contains(&pointer), "{pointer} is used by nobody");
        }
    }
    let mut ids = BTreeSet::new();
    for (_, path, operation) in operations(&document) {
        assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{path}");
    }
}

fn walk(value: &Value, each: &mut dyn FnMut(&Value)) {
    each(value);
    match value {
        Value::Object(members) => members.values().for_each(|one| walk(one, each)),
        Value::Array(items) => items.iter().for_each(|one| walk(one, each)),
        _ => {}
    }
}
