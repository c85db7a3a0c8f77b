//! JSON.

use regauge::Format;

use crate::check;

const CONFIG: &str = "\
{
    // the strictness
    \"strict\": true, /* always */
    \"lib\": [\"dom\", \"es2020\"],
    \"paths\": {
        \"a\": [1],
        // the other
        \"b\": {\"c\": null}
    }
}
";

#[test]
fn json_values_are_replaced() {
    let change = |filter: &str, from: &str, to: &str| {
        assert!(CONFIG.contains(from), "{from}");
        check(Format::Json, filter, CONFIG, &CONFIG.replace(from, to));
    };
    change(".", "true", "true");
    change(".strict = false", "true", "false");
    change(".lib[1] = \"es\\u0007 \\\"x\\\"\"", "\"es2020\"", "\"es\\u0007 \\\"x\\\"\"");
    change(".paths.b.c = [1, {d: 2}]", "null", "[1, {\"d\": 2}]");
    change(".lib = {x: [1]}", "[\"dom\", \"es2020\"]", "{\"x\": [1]}");
    change(".strict = {x: [1]}", "true,", "{\n        \"x\": [\n            1\n        ]\n    },");
    change(".lib |= . + [1]", "\"es2020\"]", "\"es2020\", 1]");
}

#[test]
fn json_entries_come_and_go() {
    let change = |filter: &str, from: &str, to: &str| {
        assert!(CONFIG.contains(from), "{from}");
        check(Format::Json, filter, CONFIG, &CONFIG.replace(from, to));
    };
    change("del(.strict)", "    // the strictness\n    \"strict\": true, /* always */\n", "");
    change("del(.paths.b)", "[1],\n        // the other\n        \"b\": {\"c\": null}", "[1]");
    change("del(.paths.a)", "        \"a\": [1],\n", "");
    change(
        "del(.paths)",
        "],\n    \"paths\": {\n        \"a\": [1],\n        // the other\n        \"b\": {\"c\": null}\n    }",
        "]",
    );
    change("del(.lib[0])", "\"dom\", ", "");
    change("del(.lib[1])", ", \"es2020\"", "");
    change("del(.lib[])", "[\"dom\", \"es2020\"]", "[]");
    change(
        ".paths.d = {x: 1}",
        "null}\n",
        "null},\n        \"d\": {\n            \"x\": 1\n        }\n",
    );
    change(".paths |= {z: 0} + .", "        \"a\"", "        \"z\": 0,\n        \"a\"");
    change(".end = 1", "    }\n}", "    },\n    \"end\": 1\n}");
    change(
        "del(.paths.b) | .paths.x = 2",
        "        // the other\n        \"b\": {\"c\": null}",
        "        \"x\": 2",
    );
    check(Format::Json, ".c = 1 | del(.a)", "{\"a\":1,\"b\":2}\n", "{\"b\":2,\"c\":1}\n");
    check(Format::Json, ".b = [1, {}]", "{\"a\": 1, \"b\": 2}\n", "{\"a\": 1, \"b\": [1, {}]}\n");
    check(
        Format::Json,
        ".[2] = 3",
        "[\n  1, // one\n  2 // two\n]\n",
        "[\n  1, // one\n  2, // two\n  3\n]\n",
    );
    check(Format::Json, ".[2] = 3", "[\n  1,\n  2,\n]\n", "[\n  1,\n  2,\n  3,\n]\n");
    check(Format::Json, ".a += 1", "{\"a\":1} {\"a\":2}\n", "{\"a\":2} {\"a\":3}\n");
    check(Format::Ndjson, ".a += 1", "{\"a\":1}\n\n{\"a\": 2}\n", "{\"a\":2}\n\n{\"a\": 3}\n");
    check(
        Format::Ndjson,
        ".b = {c: [1]}",
        "{\"a\":1}\n{\"b\":2}\n",
        "{\"a\":1,\"b\":{\"c\":[1]}}\n{\"b\":{\"c\":[1]}}\n",
    );
}

#[test]
fn json_keys_are_renamed() {
    let change = |filter: &str, from: &str, to: &str| check(Format::Json, filter, from, to);
    let rename = "with_entries(if .key == \"a\" then .key = \"c\" else . end)";
    let was = "{\"a\": {\"x\": 0.1234567890123456789}, \"b\": 1}\n";
    change(rename, was, &was.replace("\"a\"", "\"c\""));
    let was = "{\n  // the first\n  \"a\" : 1.0e3, // one\n  \"b\": 1\n}\n";
    change(rename, was, &was.replace("\"a\"", "\"c\""));
    change(rename, "{\"a\" /* x */: 1}\n", "{\"c\": 1}\n");
}

#[test]
fn json_brackets_keep_their_comments() {
    let change = |filter: &str, from: &str, to: &str| check(Format::Json, filter, from, to);
    change(
        ".a += [1, {b: 2}]",
        "{\n  \"a\": [\n    // none\n  ]\n}\n",
        "{\n  \"a\": [\n    // none\n    1,\n    {\n      \"b\": 2\n    }\n  ]\n}\n",
    );
    change(".a += [1, 2]", "{\"a\": [ /* none */ ]}\n", "{\"a\": [ /* none */ 1, 2 ]}\n");
    change(".a.b = 1", "{\"a\": { // none\n}}\n", "{\"a\": { // none\n  \"b\": 1\n}}\n");
}
