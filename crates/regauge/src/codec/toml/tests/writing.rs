//! What is written, and what becomes of values that TOML does not have.

use super::*;
use crate::{ErrorKind, Options as Conversion, convert_bytes};

/// JSON in the wrapped notation as TOML, which reads as the same again.
#[track_caller]
fn check_layout(json: &str, expected: &str) {
    let value: Value = json.parse().unwrap();
    let written = String::from_utf8(to_vec(&value, OnLoss::Refuse).unwrap()).unwrap();
    assert_eq!(written, expected);
    assert_eq!(read(&written), value);
}

#[test]
fn layout() {
    check_layout("{}", "");
    check_layout(
        r#"{"a":1,"b c":"x\ny\u0000\u007f\u001b","":true}"#,
        concat!("a = 1\n", "\"b c\" = \"x\\ny\\u0000\\u007F\\u001B\"\n", "\"\" = true\n",),
    );
    check_layout(
        r#"{"a":1.0,"b":1e100,"c":-0.0,"d":{"$numberDouble":"-Infinity"}}"#,
        "a = 1.0\nb = 1e+100\nc = -0.0\nd = -inf\n",
    );
    check_layout(r#"{"a":[],"b":{},"c":[1,[2]]}"#, "a = []\nb = {}\nc = [1, [2]]\n");
    check_layout(r#"{"a":{"b":{"c":1},"d":{"e":{}}}}"#, "[a.b]\nc = 1\n\n[a.d.e]\n");
    check_layout(r#"{"a":{"x":1,"b":{"c":1}}}"#, "[a]\nx = 1\n\n[a.b]\nc = 1\n");
    check_layout(
        r#"{"a":[{"x":1,"b":{"c":1}},{}],"d":{}}"#,
        "[[a]]\nx = 1\n\n[a.b]\nc = 1\n\n[[a]]\n\n[d]\n",
    );
    check_layout(r#"{"a":[{"b":[{"c":1}]}]}"#, "[[a]]\n\n[[a.b]]\nc = 1\n");
    check_layout(r#"{"a":[{"b":1},2]}"#, "a = [{ b = 1 }, 2]\n");
}

/// Tables that a plain value follows are written in their place.
#[test]
fn order_is_kept() {
    check_layout(
        r#"{"a":{"b":1,"c":{}},"d":2,"e":{"f":3}}"#,
        "a = { b = 1, c = {} }\nd = 2\n\n[e]\nf = 3\n",
    );
    check_layout(r#"{"a":{"b":{"c":1},"d":1}}"#, "[a]\nb = { c = 1 }\nd = 1\n");
}

#[test]
fn long_arrays() {
    let numbers: Vec<String> = (1000..1012).map(|number| number.to_string()).collect();
    let json = format!("{{\"key\":[{}]}}", numbers.join(","));
    check_layout(&json, &format!("key = [{}]\n", numbers.join(", ")));
    let json = format!("{{\"longer_key\":[{}]}}", numbers.join(","));
    check_layout(&json, &format!("longer_key = [\n    {},\n]\n", numbers.join(",\n    ")));
}

/// A header that would be long is not repeated for each table in it.
#[test]
fn long_keys() {
    let key = "k".repeat(300);
    let json = format!("{{\"{key}\":{{\"a\":{{}},\"b\":{{}}}}}}");
    check_layout(&json, &format!("{key} = {{ a = {{}}, b = {{}} }}\n"));
}

#[test]
fn dates_and_times_stay_what_they_are() {
    for written in [
        "a = 2026-11-21T12:00:00.5Z\n",
        "a = 2026-11-21T12:00:00+02:00\n",
        "a = 2026-11-21T12:00:00-00:00\n",
        "a = 2026-11-21T12:00:00\n",
        "a = 2026-11-21\n",
        "a = 12:00:00.123456789012\n",
        "a = 2016-12-31T23:59:60Z\n",
    ] {
        assert_eq!(
            to_vec(&read(written), OnLoss::Refuse).unwrap().escape_ascii().to_string(),
            written.as_bytes().escape_ascii().to_string()
        );
    }
}

/// JSON, or MessagePack, that TOML cannot hold: refused with this in the message, wrapped as
/// `wrapped`, which unwraps to the same, and as `nearest` with so many losses.
#[track_caller]
fn check_loss(from: Format, input: &[u8], refused: &str, wrapped: &str, nearest: &str) {
    let mut options = Conversion::new(from, Format::Toml);
    options.documents = crate::policy::documents::Documents::Keep;
    let error = convert_bytes(input, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    assert!(error.to_string().contains(refused), "{error}");
    options.on_loss = OnLoss::Wrap;
    let written = convert_bytes(input, &options).unwrap();
    assert_eq!(String::from_utf8_lossy(&written), wrapped);
    let mut back = Conversion::new(Format::Toml, from);
    back.unwrap = true;
    assert_eq!(
        convert_bytes(&written, &back).unwrap().escape_ascii().to_string(),
        input.escape_ascii().to_string()
    );
    options.on_loss = OnLoss::Approximate;
    let written = convert_bytes(input, &options).unwrap();
    assert_eq!(String::from_utf8_lossy(&written), nearest);
}

#[test]
fn losses() {
    let json = |input: &str, refused, wrapped, nearest| {
        check_loss(Format::Json, format!("{input}\n").as_bytes(), refused, wrapped, nearest);
    };
    json(
        r#"{"a":null,"b":[null]}"#,
        "at $.a: found null, which TOML cannot hold; set `on_loss` to `Wrap` to write {\"$null\": true} \
         (reversible), or `on_loss` to `Approximate` to write nothing, and leave its key out",
        "[a]\n\"$null\" = true\n\n[[b]]\n\"$null\" = true\n",
        "b = [\"null\"]\n",
    );
    json(
        "[1,{\"a\":2}]",
        "at $: found an array as a whole document, which TOML cannot hold; set `on_loss` to `Wrap` to \
         write {\"$value\": …} (reversible)",
        "\"$value\" = [1, { a = 2 }]\n",
        "value = [1, { a = 2 }]\n",
    );
    json("null", "found null as", "[\"$value\"]\n\"$null\" = true\n", "");
    json("3", "found a single value as", "\"$value\" = 3\n", "value = 3\n");
    json(
        r#"{"a":18446744073709551615}"#,
        "at $.a: found the integer 18446744073709551615",
        "[a]\n\"$integer\" = \"18446744073709551615\"\n",
        "a = 1.8446744073709552e+19\n",
    );
    json(
        r#"{"a":1,"b":{},"a":{"c":2},"a":3,"$key:1":4,"$key:1":5}"#,
        "at $.a: found the key \"a\" a second time in one map, which TOML cannot hold",
        "a = 1\nb = {}\n\"$key:\\\"a\\\"\" = { c = 2 }\n\"$key: \\\"a\\\"\" = 3\n\
         \"$key:\\\"$key:1\\\"\" = 4\n\"$key: \\\"$key:1\\\"\" = 5\n",
        "b = {}\na = 3\n\"$key:1\" = 5\n",
    );
    check_loss(
        Format::Msgpack,
        b"\x82\x01\xC4\x01\xFF\xA1a\xD4\x05\x2A",
        "found the key 1, which is an integer",
        "[\"$key:1\".\"$binary\"]\nbase64 = \"/w==\"\nsubType = \"00\"\n\n\
         [a.\"$ext\"]\ntype = 5\nbase64 = \"Kg==\"\n",
        "1 = \"/w==\"\na = \"Kg==\"\n",
    );
}

#[test]
fn one_document() {
    let mut options = Conversion::new(Format::Yaml, Format::Toml);
    let error = convert_bytes(b"a: 1\n---\nb: 2\n", &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable);
    assert!(error.to_string().contains("found a second document, TOML holds one"), "{error}");
    let error = convert_bytes(b"", &options).unwrap_err();
    assert_eq!(error.message(), "found no document, TOML holds one");
    // Records become one array, which is no map.
    options.from = Format::Ndjson;
    options.on_loss = OnLoss::Wrap;
    let lines = b"{\"a\":1}\n{\"a\":2}\n";
    let written = convert_bytes(lines, &options).unwrap();
    assert_eq!(written, b"[[\"$value\"]]\na = 1\n\n[[\"$value\"]]\na = 2\n");
    let mut back = Conversion::new(Format::Toml, Format::Ndjson);
    back.unwrap = true;
    assert_eq!(convert_bytes(&written, &back).unwrap(), lines);
}

/// A broken record leaves no trace.
#[test]
fn rollback() {
    let mut options = Conversion::new(Format::Ndjson, Format::Toml);
    (options.on_loss, options.skip_bad) = (OnLoss::Wrap, true);
    let lines = b"{\"a\":1}\n{\"a\":{\"b\":[1,]}}\n{\"a\":[2]}\n{\"x\n";
    let written = convert_bytes(lines, &options).unwrap();
    assert_eq!(written, b"[[\"$value\"]]\na = 1\n\n[[\"$value\"]]\na = [2]\n");
}

#[test]
fn limits() {
    let mut options = Conversion::new(Format::Json, Format::Toml);
    let json = br#"{"a":[1,2],"b":"xyz"}"#;
    // Four values.
    for (nodes, is_held) in [(3, false), (4, true)] {
        options.limits.nodes = nodes;
        assert_eq!(convert_bytes(json, &options).is_ok(), is_held, "{nodes}");
    }
    options.limits.nodes = 4;
    // Two keys, two digits, and text with its quotes.
    for (bytes, is_held) in [(8, false), (9, true)] {
        options.limits.record_bytes = bytes;
        let result = convert_bytes(json, &options);
        assert_eq!(result.is_ok(), is_held, "{bytes}");
        if let Err(error) = result {
            assert_eq!(error.kind(), ErrorKind::Limit);
        }
    }
}
