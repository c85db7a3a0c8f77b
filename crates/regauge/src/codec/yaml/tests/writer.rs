use super::*;
use crate::bytes::output::StreamOutput;
use crate::convert::{Options, convert_bytes};
use crate::model::format::Format;
use crate::model::value::Value;
use crate::policy::event::{Ext, Timestamp, Writer as _};
use crate::policy::fidelity::OnLoss;

/// Checks that the JSON converts to this YAML.
#[track_caller]
fn check(json: &str, yaml: &str) {
    check_with(json, yaml, |_| {});
}

#[track_caller]
fn check_with(json: &str, yaml: &str, change: impl FnOnce(&mut Options)) {
    let mut options = Options::new(Format::Json, Format::Yaml);
    change(&mut options);
    let written = convert_bytes(json.as_bytes(), &options).unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), yaml);
}

/// Returns what a writer produces for these events in memory.
fn written(policy: OnLoss, drive: impl FnOnce(&mut Writer<'_>) -> Result) -> Result<String> {
    let fidelity = Fidelity::new(policy, Format::Yaml);
    let mut writer = Writer::new(Out::in_memory(), WriteOptions::default(), fidelity);
    drive(&mut writer)?;
    writer.end_document()?;
    writer.finish()?;
    Ok(String::from_utf8(writer.into_out().into_vec()).unwrap())
}

/// Checks that the value is written as this YAML.
#[track_caller]
fn check_value(value: &Value, yaml: &str) {
    assert_eq!(written(OnLoss::Refuse, |writer| value.drive(writer)).unwrap(), yaml);
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn containers() {
    check(r#"{"a": 1, "b": [1, 2], "c": {"d": null}}"#, "a: 1\nb:\n- 1\n- 2\nc:\n  d: null\n");
    check(
        r#"[[1, [2, 3]], [], [[]], {}, [{}]]"#,
        "- - 1\n  - - 2\n    - 3\n- []\n- - []\n- {}\n- - {}\n",
    );
    check(r#"[{"a": 1, "b": 2}, {"c": [{"d": 3}]}]"#, "- a: 1\n  b: 2\n- c:\n  - d: 3\n");
    check(r#"{"a": {}, "b": [], "c": {"d": {"e": []}}}"#, "a: {}\nb: []\nc:\n  d:\n    e: []\n");
    check("[]", "[]\n");
    check("{}", "{}\n");
    check("1", "1\n");
    check("\"text\"", "text\n");
}

#[test]
fn indentation() {
    let json = r#"{"a": {"b": [{"c": 1, "d": {"e": "x\ny"}}]}, "f": ["x\ny"]}"#;
    check(
        json,
        "a:\n  b:\n  - c: 1\n    d:\n      e: |-\n        x\n        y\nf:\n- |-\n  x\n  y\n",
    );
    check_with(
        json,
        "a:\n    b:\n    - c: 1\n      d:\n          e: |-\n              x\n              y\nf:\n- |-\n  x\n  y\n",
        |options| options.yaml_write.indent = 4,
    );
    check_with(
        json,
        "a:\n  b:\n    - c: 1\n      d:\n        e: |-\n          x\n          y\nf:\n  - |-\n    x\n    y\n",
        |options| options.yaml_write.indent_sequences = true,
    );
}

#[test]
fn many_documents() {
    for (json, yaml) in [
        ("1\n2\n", "1\n---\n2\n"),
        ("{\"a\":1}\n[]\n\"x\\ny\"\n{}\n", "a: 1\n---\n[]\n---\n|-\n  x\n  y\n---\n{}\n"),
        ("", ""),
    ] {
        let mut options = Options::new(Format::Ndjson, Format::Yaml);
        assert_eq!(convert_bytes(json.as_bytes(), &options).unwrap(), yaml.as_bytes());
        options.yaml_write.document_start = true;
        let marked = if json.is_empty() { String::new() } else { format!("---\n{yaml}") };
        assert_eq!(convert_bytes(json.as_bytes(), &options).unwrap(), marked.as_bytes());
    }
}

#[test]
fn text_in_each_style() {
    check_value(&text("plain text"), "plain text\n");
    check_value(&text("yes"), "'yes'\n");
    check_value(&text("it's: x"), "\"it's: x\"\n");
    check_value(
        &text("a\tb\\\"\u{1}\u{85}\u{A0}\u{2028}\u{2029}\u{FEFF}\u{FFFE}\u{7F}\u{9F}é"),
        "\"a\\tb\\\\\\\"\\x01\\N\u{A0}\\L\\P\\uFEFF\\uFFFE\\x7F\\x9Fé\"\n",
    );
    check_value(&text("\0\u{7}\u{8}\t\n\u{B}\u{C}\r\u{1B}"), "\"\\0\\a\\b\\t\\n\\v\\f\\r\\e\"\n");
    check_value(&text("a\nb"), "|-\n  a\n  b\n");
    check_value(&text("a\nb\n"), "|\n  a\n  b\n");
    check_value(&text("a\n\n  b\n\n\n"), "|+\n  a\n\n    b\n\n\n");
    check_value(&text("\na"), "\"\\na\"\n");
    check(
        r#"{"a\nb": "c\nd", "yes": {"- x": 1}}"#,
        "\"a\\nb\": |-\n  c\n  d\n'yes':\n  '- x': 1\n",
    );
}

#[test]
fn merge_keys_are_text() {
    check(r#"{"<<": {"a": "<<"}, "=": "="}"#, "!!str '<<':\n  a: '<<'\n'=': '='\n");
}

#[test]
fn long_keys_stand_behind_a_question_mark() {
    for (length, escaped) in [(1000, false), (1001, false), (250, true), (251, true)] {
        let key = if escaped { "\u{1}".repeat(length) } else { "k".repeat(length) };
        let shown = if escaped { format!("\"{}\"", "\\x01".repeat(length)) } else { key.clone() };
        let map = |value| Value::Array(vec![Value::Map(vec![(text(&key), value)])]);
        let (scalar, nested) = match length {
            251 | 1001 => {
                (format!("- ? {shown}\n  : v\n"), format!("- ? {shown}\n  :\n    a: 1\n"))
            }
            _ => (format!("- {shown}: v\n"), format!("- {shown}:\n    a: 1\n")),
        };
        check_value(&map(text("v")), &scalar);
        check_value(&map(Value::Map(vec![(text("a"), Value::Int(1))])), &nested);
    }
}

#[test]
fn numbers() {
    for (value, yaml) in [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (-2.5, "-2.5"),
        (1e15, "1000000000000000.0"),
        (1e16, "1.0e+16"),
        (1.5e300, "1.5e+300"),
        (5e-324, "5.0e-324"),
        (1e-5, "0.00001"),
        (1e-6, "1.0e-6"),
        (1.25e-7, "1.25e-7"),
        (123456.789, "123456.789"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::INFINITY, ".inf"),
        (f64::NEG_INFINITY, "-.inf"),
        (f64::NAN, ".nan"),
    ] {
        let written = written(OnLoss::Refuse, |writer| writer.f64(value)).unwrap();
        assert_eq!(written, format!("{yaml}\n"));
    }
    for exponent in -340..308 {
        for digits in ["1", "1.5", "9.875"] {
            let value: f64 = format!("{digits}e{exponent}").parse().unwrap();
            let text = written(OnLoss::Refuse, |writer| writer.f64(value)).unwrap();
            let text = text.trim_end();
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits());
            assert!(text.contains('.'), "{text}");
            if let Some((_, exponent)) = text.split_once('e') {
                assert!(exponent.starts_with(['+', '-']), "{text}");
            }
        }
    }
    check(
        "[9223372036854775807, -9223372036854775808, 18446744073709551615]",
        "- 9223372036854775807\n- -9223372036854775808\n- 18446744073709551615\n",
    );
    check(
        "[170141183460469231731687303715884105728, -18446744073709551616]",
        "- 170141183460469231731687303715884105728\n- -18446744073709551616\n",
    );
}

#[test]
fn decimals_keep_their_digits() {
    for (decimal, yaml) in [
        ("1.10", "1.10"),
        ("12e3", "12.0e+3"),
        ("-1.50E-7", "-1.50e-7"),
        ("1", "1.0"),
        ("1e999999", "1.0e+999999"),
    ] {
        let decimal = Ext::Decimal(decimal);
        let text = written(OnLoss::Refuse, |writer| writer.ext(decimal)).unwrap();
        assert_eq!(text, format!("{yaml}\n"));
    }
    let wrapped = written(OnLoss::Wrap, |writer| writer.ext(Ext::Decimal("1.10"))).unwrap();
    assert_eq!(wrapped, "$decimal: '1.10'\n");
}

#[test]
fn values_with_tags_of_their_own() {
    check_value(&Value::Bytes(vec![1, 2]), "!!binary AQI=\n");
    check_value(&Value::Bytes(vec![]), "!!binary ''\n");
    let long: Vec<u8> = (0..10_000).map(|n| n as u8).collect();
    let base64 = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &long);
    check_value(&Value::Bytes(long), &format!("!!binary {base64}\n"));
    let at = Timestamp { seconds: 1_582_934_400, nanoseconds: 500_000_000 };
    check_value(&Value::Timestamp(at), "!!timestamp 2020-02-29T00:00:00.5Z\n");
    for (ext, yaml) in [
        (Ext::Date("2026-11-21"), "!!timestamp 2026-11-21\n"),
        (Ext::DateTime("2026-11-21T12:00:00"), "!!timestamp 2026-11-21T12:00:00\n"),
        (
            Ext::OffsetDateTime("2026-11-21T12:00:00+02:00"),
            "!!timestamp 2026-11-21T12:00:00+02:00\n",
        ),
        (Ext::Int64(7), "7\n"),
    ] {
        assert_eq!(written(OnLoss::Refuse, |writer| writer.ext(ext)).unwrap(), yaml);
    }
    let late = Timestamp { seconds: 253_402_300_800, nanoseconds: 0 };
    assert!(written(OnLoss::Refuse, |writer| writer.ext(Ext::Timestamp(late))).is_err());
    let wrapped = written(OnLoss::Wrap, |writer| writer.ext(Ext::Timestamp(late))).unwrap();
    assert_eq!(wrapped, "$time:\n  seconds: 253402300800\n  nanoseconds: 0\n");
}

#[test]
fn what_yaml_does_not_hold_is_refused() {
    for ext in [
        Ext::MsgpackExt(5, b"x"),
        Ext::Surrogates(b"\xED\xA0\x80"),
        Ext::BrokenText(b"\xFF"),
        Ext::Symbol("a"),
        Ext::Time("12:00:00"),
        Ext::Uuid([0; 16]),
        Ext::Undefined,
    ] {
        let error = written(OnLoss::Refuse, |writer| writer.ext(ext)).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Refused, "{ext:?}");
        assert!(error.to_string().contains("which YAML cannot hold"), "{error}");
    }
}

#[test]
fn keys_of_every_kind() {
    let map = |key| Value::Map(vec![(key, text("v")), (text("b"), Value::Array(vec![]))]);
    let at = Timestamp { seconds: 0, nanoseconds: 0 };
    for (key, yaml) in [
        (Value::Null, "null: v\nb: []\n"),
        (Value::Bool(true), "true: v\nb: []\n"),
        (Value::Int(-1), "-1: v\nb: []\n"),
        (Value::F64(1.0), "1.0: v\nb: []\n"),
        (text("x"), "x: v\nb: []\n"),
        (Value::Bytes(vec![1, 2]), "!!binary AQI=: v\nb: []\n"),
        (Value::Timestamp(at), "!!timestamp 1970-01-01T00:00:00Z: v\nb: []\n"),
        (Value::Array(vec![]), "? []\n: v\nb: []\n"),
        (
            Value::Array(vec![Value::Int(1), text("a,b"), Value::Map(vec![])]),
            "? [1, 'a,b', {}]\n: v\nb: []\n",
        ),
        (map(Value::Array(vec![Value::Null])), "? {? [null] : v, b: []}\n: v\nb: []\n"),
        (map(Value::Int(1)), "? {1: v, b: []}\n: v\nb: []\n"),
        (Value::Bytes(vec![0; 600]), &*format!("? !!binary {}\n: v\nb: []\n", "A".repeat(800))),
    ] {
        check_value(&map(key), yaml);
    }
    let nested = Value::Map(vec![(Value::Array(vec![]), map(Value::Int(1)))]);
    check_value(&Value::Array(vec![nested]), "- ? []\n  :\n    1: v\n    b: []\n");
    let key = Value::Map(vec![(Value::Array(vec![]), Value::Array(vec![Value::Int(1)]))]);
    check_value(&key, "? []\n:\n- 1\n");

    let broken = map(Value::Array(vec![Value::BrokenText(vec![0xFF])]));
    assert!(written(OnLoss::Refuse, |writer| broken.drive(writer)).is_err());
    let wrapped = written(OnLoss::Wrap, |writer| broken.drive(writer)).unwrap();
    assert_eq!(wrapped, "$key:[{\"$text\":{\"base64\":\"/w==\"}}]: v\nb: []\n");
}

/// Returns a value with a tag.
fn typed(tag: &str, value: Value) -> Value {
    let t = Type { origin: Origin::Yaml, kind: "tag", name: tag };
    Value::Typed(Box::new((&t).into()), Box::new(value))
}

fn anchor(id: u64, value: Value) -> Value {
    Value::Anchor(id, Box::new(value))
}

#[test]
fn tags_and_anchors() {
    let one = || Value::Array(vec![Value::Int(1)]);
    let map = || Value::Map(vec![(text("a"), Value::Int(1))]);
    check_value(&typed("!x", Value::Int(1)), "!x 1\n");
    check_value(&typed("!x", text("1")), "!x '1'\n");
    check_value(&typed("!x", text("a\nb")), "!x |-\n  a\n  b\n");
    check_value(&typed("!x", one()), "!x\n- 1\n");
    check_value(&typed("!x", map()), "!x\na: 1\n");
    check_value(&typed("!x", Value::Array(vec![])), "!x []\n");
    check_value(
        &Value::Array(vec![
            anchor(1, map()),
            anchor(2, one()),
            anchor(3, typed("!x", map())),
            anchor(4, text("x")),
            anchor(5, Value::Map(vec![])),
            Value::Alias(1),
        ]),
        "- &1\n  a: 1\n- &2\n  - 1\n- &3 !x\n  a: 1\n- &4 x\n- &5 {}\n- *1\n",
    );
    check_value(
        &Value::Map(vec![
            (text("a"), anchor(1, map())),
            (text("b"), anchor(2, one())),
            (text("c"), typed("!x", text("yes"))),
            (text("d"), Value::Alias(2)),
            (anchor(3, one()), Value::Alias(1)),
            (Value::Alias(3), typed("!x", one())),
        ]),
        "a: &1\n  a: 1\nb: &2\n- 1\nc: !x 'yes'\nd: *2\n? &3 [1]\n: *1\n? *3\n: !x\n- 1\n",
    );
    let twice = typed("!x", typed("!y", Value::Null));
    assert!(written(OnLoss::Refuse, |writer| twice.drive(writer)).is_err());
    // A cycle.
    check_value(&anchor(1, Value::Array(vec![Value::Alias(1)])), "&1\n- *1\n");
}

/// Checks two anchors on one value, which the data policy can leave for objects in objects.
#[test]
fn a_value_has_one_anchor() {
    let t = Type { origin: Origin::Ruby, kind: "marshal_dump", name: "Foo" };
    let object = |value| Value::Typed(Box::new((&t).into()), Box::new(value));
    let list = |values: Vec<Value>| Value::Array(values);
    let data = |value: &Value| written(OnLoss::Approximate, |writer| value.drive(writer)).unwrap();
    let nested = || anchor(1, object(anchor(2, list(vec![Value::Int(1)]))));
    let all = list(vec![nested(), Value::Alias(1), Value::Alias(2)]);
    assert_eq!(data(&all), "- &1\n  - 1\n- *1\n- *1\n");
    let map = Value::Map(vec![
        (text("a"), anchor(1, list(vec![]))),
        (text("b"), anchor(2, object(Value::Alias(1)))),
        (text("c"), anchor(3, typed("!x", object(anchor(4, text("x")))))),
        (
            text("d"),
            list(vec![Value::Alias(2), Value::Alias(4), anchor(5, object(Value::Alias(2)))]),
        ),
    ]);
    assert_eq!(data(&map), "a: &1 []\nb: *1\nc: &3 !x x\nd:\n- *1\n- *3\n- *1\n");
    // Names are local to one document.
    let two = written(OnLoss::Approximate, |writer| {
        nested().drive(writer)?;
        writer.end_document()?;
        list(vec![anchor(1, text("a")), anchor(2, text("b")), Value::Alias(2)]).drive(writer)
    });
    assert_eq!(two.unwrap(), "&1\n- 1\n---\n- &1 a\n- &2 b\n- *2\n");
    let itself = anchor(1, object(Value::Alias(1)));
    assert!(written(OnLoss::Approximate, |writer| itself.drive(writer)).is_err());
}

#[test]
fn an_alias_has_no_tag() {
    let tagged = Value::Array(vec![anchor(1, text("a")), typed("!x", Value::Alias(1))]);
    assert!(written(OnLoss::Refuse, |writer| tagged.drive(writer)).is_err());
    let wrapped = written(OnLoss::Wrap, |writer| tagged.drive(writer)).unwrap();
    assert_eq!(wrapped, "- &1 a\n- !x\n  $alias: 1\n");
}

#[test]
fn notations_of_tags() {
    for (tag, yaml) in [
        ("!foo", "!foo"),
        ("!ruby/object:Foo::Bar", "!ruby/object:Foo::Bar"),
        ("!a b", "!a%20b"),
        ("!a,b", "!a%2Cb"),
        ("!50%", "!50%25"),
        ("!é", "!%C3%A9"),
        ("!a!b", "!<!a!b>"),
        ("tag:yaml.org,2002:set", "!!set"),
        ("tag:yaml.org,2002:python/tuple", "!!python/tuple"),
        ("tag:yaml.org,2002:a!b", "!<tag:yaml.org,2002:a!b>"),
        ("tag:example.com,2000:app/x", "!<tag:example.com,2000:app/x>"),
        ("tag:x{y}", "!<tag:x%7By%7D>"),
    ] {
        check_value(&typed(tag, text("x")), &format!("{yaml} x\n"));
    }
}

/// Checks that a tag of YAML's own is written only around a value that is read back under it.
#[test]
fn tags_of_yaml_go_around_what_they_do_not_change() {
    let own = |name: &str, value| typed(&format!("tag:yaml.org,2002:{name}"), value);
    let map = || Value::Map(vec![(text("a"), Value::Null)]);
    check_value(&own("set", map()), "!!set\na: null\n");
    check_value(&anchor(1, own("omap", Value::Array(vec![map()]))), "&1 !!omap\n- a: null\n");
    check_value(&own("bool", text("yes")), "!!bool 'yes'\n");
    check_value(&own("map", text("1")), "!!map '1'\n");
    check_value(&Value::Array(vec![own("set", Value::Map(vec![]))]), "- !!set {}\n");
    check_value(
        &Value::Map(vec![(own("set", map()), own("", text("")))]),
        "? !!set {a: null}\n: !<tag:yaml.org,2002:> ''\n",
    );
    for misfit in [
        own("map", map()),
        own("seq", Value::Array(vec![])),
        own("str", text("1")),
        own("int", text("12")),
        own("int", Value::Int(12)),
        own("foo", Value::Null),
        own("foo", Value::F64(1.5)),
        own("foo", Value::Bytes(vec![1])),
        own("foo", anchor(1, map())),
        own("foo", typed("!x", text("a"))),
        own("foo", own("bar", text("a"))),
        typed("!", text("a")),
    ] {
        for value in [
            misfit.clone(),
            Value::Array(vec![Value::Null, misfit.clone()]),
            Value::Map(vec![(text("a"), misfit.clone())]),
        ] {
            assert!(written(OnLoss::Refuse, |writer| value.drive(writer)).is_err(), "{value}");
            let wrapped = written(OnLoss::Wrap, |writer| value.drive(writer)).unwrap();
            assert!(wrapped.contains("$yaml:tag: "), "{wrapped}");
            let back = convert_bytes(wrapped.as_bytes(), &unwrapping(Format::Yaml, Format::Json));
            let shown = format!("{}\n", value);
            assert_eq!(String::from_utf8(back.unwrap()).unwrap(), shown);
        }
        let key = Value::Map(vec![(misfit.clone(), Value::Null)]);
        assert!(written(OnLoss::Refuse, |writer| key.drive(writer)).is_err(), "{key}");
    }
    // By the schema of YAML 1.1, `yes` is a boolean and `0o7` is not an integer.
    let by_11 = |value: Value| {
        let options = WriteOptions { schema: Schema::Yaml11, ..WriteOptions::default() };
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Yaml);
        let mut writer = Writer::new(Out::in_memory(), options, fidelity);
        value.drive(&mut writer).map(|()| writer.into_out().into_vec())
    };
    assert!(by_11(own("bool", text("yes"))).is_err());
    assert_eq!(by_11(own("int", text("0o7"))).unwrap(), b"!!int '0o7'\n");
}

/// Options that read the notation and write it again.
fn unwrapping(from: Format, to: Format) -> Options {
    let mut options = Options::new(from, to);
    options.unwrap = true;
    options.on_loss = OnLoss::Wrap;
    options
}

#[test]
fn other_types_go_by_the_policy() {
    let t = Type { origin: Origin::Ruby, kind: "object", name: "Foo" };
    let value = Value::Typed(Box::new((&t).into()), Box::new(Value::Map(vec![])));
    assert!(written(OnLoss::Refuse, |writer| value.drive(writer)).is_err());
    let wrapped = written(OnLoss::Wrap, |writer| value.drive(writer)).unwrap();
    assert_eq!(wrapped, "$ruby:object: Foo\nvalue: {}\n");
    let data = written(OnLoss::Approximate, |writer| value.drive(writer)).unwrap();
    assert_eq!(data, "{}\n");
    let both = anchor(1, typed("!x", value));
    let wrapped = written(OnLoss::Wrap, |writer| both.drive(writer)).unwrap();
    assert_eq!(wrapped, "&1 !x\n$ruby:object: Foo\nvalue: {}\n");
}

#[test]
fn deep_containers_are_in_flow_style() {
    for depth in [BLOCK_DEPTH - 1, BLOCK_DEPTH, BLOCK_DEPTH + 1, BLOCK_DEPTH + 2, 500] {
        let json = format!("{}1,\"a,b\"{}", "[".repeat(depth), "]".repeat(depth));
        let block = depth.min(BLOCK_DEPTH);
        let yaml = match depth - block {
            0 => format!("{}1\n{}- 'a,b'\n", "- ".repeat(block), "  ".repeat(block - 1)),
            flow => {
                format!("{}{}1, 'a,b'{}\n", "- ".repeat(block), "[".repeat(flow), "]".repeat(flow))
            }
        };
        let yaml = if depth == block { yaml.replace("'a,b'", "a,b") } else { yaml };
        check(&json, &yaml);
    }
    let depth = BLOCK_DEPTH;
    let json = format!(
        "{}{{\"a\":{{\"b\":[],\"c:\":\"x\\ny\"}},\"d\":1}},2{}",
        "[".repeat(depth),
        "]".repeat(depth)
    );
    check(
        &json,
        &format!(
            "{}{{a: {{b: [], 'c:': \"x\\ny\"}}, d: 1}}\n{}- 2\n",
            "- ".repeat(depth),
            "  ".repeat(depth - 1)
        ),
    );
}

#[test]
fn a_rollback_leaves_no_trace() {
    // Before the first item, and between items; between documents in the middle of one.
    for items in 0..3 {
        let mut writer = new_writer(Out::in_memory());
        writer.begin_map(None).unwrap();
        writer.key("list").unwrap();
        writer.begin_array(None).unwrap();
        for item in 0..items {
            writer.i64(item).unwrap();
        }
        writer.checkpoint();
        let broken = typed("!x", Value::Map(vec![(text("a"), Value::Array(vec![Value::Int(1)]))]));
        broken.drive(&mut writer).unwrap();
        writer.begin_array(None).unwrap();
        writer.begin_map(None).unwrap();
        writer.key("b").unwrap();
        writer.rollback();
        writer.str("last").unwrap();
        writer.end_array().unwrap();
        writer.end_map().unwrap();
        writer.end_document().unwrap();
        writer.checkpoint();
        writer.begin_map(None).unwrap();
        writer.rollback();
        writer.null().unwrap();
        writer.end_document().unwrap();
        writer.finish().unwrap();
        let list: String = (0..items).map(|item| format!("- {item}\n")).collect();
        let bytes = writer.into_out().into_vec();
        assert_eq!(String::from_utf8(bytes).unwrap(), format!("list:\n{list}- last\n---\nnull\n"));
    }
}

fn new_writer(out: Out<'_>) -> Writer<'_> {
    Writer::new(out, WriteOptions::default(), Fidelity::new(OnLoss::Refuse, Format::Yaml))
}

#[test]
fn the_size_of_the_buffer_changes_nothing() {
    let value = Value::Array(
        (0..50)
            .map(|n| {
                Value::Map(vec![
                    (text("plain"), text(&"p".repeat(n * 7))),
                    (text("yes"), text(&"l\n".repeat(n))),
                    (text(&"\u{1}".repeat(n * 10)), text(&"'\u{1}".repeat(n * 3))),
                    (Value::Bytes(vec![n as u8; n * 40]), Value::F64(n as f64 * 1e20)),
                    (Value::Array(vec![Value::Null; n]), typed("!é", Value::Bool(true))),
                ])
            })
            .collect(),
    );
    let mut whole = new_writer(Out::in_memory());
    value.drive(&mut whole).unwrap();
    let whole = whole.into_out().into_vec();
    for size in [1, 7, 64, 100, 1000] {
        let mut bytes = Vec::new();
        let mut writer = new_writer(Out::flushing_at(size, StreamOutput::new(&mut bytes), 1 << 20));
        value.drive(&mut writer).unwrap();
        writer.finish().unwrap();
        drop(writer);
        assert!(bytes == whole, "a buffer of {size} bytes");
    }
}
