//! What filters do with values that JSON lacks, and what stops a filter.

use regauge::{ErrorKind, Ext, Format, Options, Origin, Timestamp, TypeBuf, Value, read_values};
use regauge_query::{Filter, Settings, on_large_stack};

fn filter(code: &str) -> Filter {
    Filter::compile(code, &[]).unwrap_or_else(|fault| panic!("{code}: {fault}"))
}

fn run(code: &str, input: &Value) -> Vec<Value> {
    filter(code).run(input).unwrap_or_else(|error| panic!("{code}: {error}"))
}

/// Checks the outputs of a filter, written as JSON, one after the other.
#[track_caller]
fn check(code: &str, input: &Value, wanted: &str) {
    let outputs: Vec<_> = run(code, input).iter().map(Value::to_string).collect();
    assert_eq!(outputs.join(" "), wanted, "{code}");
}

#[track_caller]
fn check_json(code: &str, input: &str, wanted: &str) {
    let mut options = Options::new(Format::Json, Format::Json);
    options.json_read.exact_numbers = code.starts_with("#exact\n");
    check(code, &read_values(input.as_bytes(), &options).unwrap()[0], wanted);
}

fn symbol(name: &str) -> Value {
    Value::Ext(Ext::Symbol(name).into())
}

fn time(seconds: i64, nanoseconds: u32) -> Value {
    Value::Timestamp(Timestamp { seconds, nanoseconds })
}

fn class(name: &str, value: Value) -> Value {
    let class = TypeBuf { origin: Origin::Ruby, kind: "object".into(), name: name.into() };
    Value::Typed(Box::new(class), Box::new(value))
}

/// One value of each kind.
fn all_kinds() -> Vec<Value> {
    vec![
        Value::Null,
        Value::Bool(true),
        Value::Int(i64::MIN),
        Value::UInt(u64::MAX),
        Value::from(-(1_i128 << 80)),
        Value::F32(0.1),
        Value::F64(-0.0),
        Value::Decimal("1.10".into()),
        Value::from("text"),
        Value::Bytes(vec![0, 255]),
        time(1, 500_000_000),
        Value::MsgpackExt(5, vec![1]),
        Value::Surrogates(b"\xED\xA0\x80".to_vec()),
        Value::BrokenText(vec![0xFF]),
        symbol("s"),
        Value::Ext(Ext::Date("2026-11-25").into()),
        Value::Ext(Ext::Int64(7).into()),
        Value::Ext(Ext::ObjectId([1; 12]).into()),
        Value::Ext(Ext::Regex { pattern: "a", options: "i" }.into()),
        class("Point", Value::from_iter([("x", Value::Int(1))])),
        Value::Map(vec![
            (Value::Int(1), Value::from("a")),
            (Value::from("k"), Value::Int(1)),
            (Value::from("k"), Value::Int(2)),
        ]),
    ]
}

#[test]
fn every_kind_passes_through_unchanged() {
    let all = Value::Array(all_kinds());
    assert_eq!(run(".", &all), std::slice::from_ref(&all));
    assert_eq!(run(".[]", &all), all_kinds());
    assert_eq!(run("map(.)", &all), std::slice::from_ref(&all));
    assert_eq!(run("{a: .} | .b = 1 | .a", &all), std::slice::from_ref(&all));
    // The notation knows neither single precision nor BSON's 64-bit integers.
    let code = "map(select((kind == \"single\" or . == 7) | not)) | [., map(wrapped | unwrapped)]";
    let wrapped = run(code, &all);
    let pair = wrapped[0].as_array().unwrap();
    assert_eq!(pair[0], pair[1]);
}

#[test]
fn kinds_and_types_have_names() {
    let all = Value::Array(all_kinds());
    let wanted = "null bool integer integer integer single float decimal text bytes timestamp \
                  extension broken text broken text symbol date integer objectid regex map map";
    let kinds = run("[.[] | kind] | join(\" \")", &all);
    assert_eq!(kinds, [Value::from(wanted)]);
    check_json(
        "map(type)",
        "[null, true, 1, 1.5, \"a\", [], {}]",
        r#"["null","boolean","number","number","string","array","object"]"#,
    );
    let rare = Value::Array(vec![symbol("s"), Value::Bytes(vec![1]), class("P", Value::Int(1))]);
    check("map(type)", &rare, r#"["string","bytes","number"]"#);
}

#[test]
fn the_order_of_values_is_total() {
    let mut options = Options::new(Format::Json, Format::Json);
    options.json_read.non_finite = true;
    let json = b"[{}, [], \"b\", \"a\", 2, 1.5, true, false, null, NaN, {\"a\": 1}, [0]]";
    let mut mixed = match read_values(json, &options).unwrap().remove(0) {
        Value::Array(values) => values,
        other => panic!("{other}"),
    };
    mixed.extend([Value::Bytes(vec![1]), time(5, 0), time(4, 0), Value::from(1_i128 << 70)]);
    let sorted = run("sort | map(tostring) | join(\" \")", &Value::Array(mixed));
    let text = sorted[0].as_str().unwrap();
    assert!(text.starts_with("null false true"), "{text}");
    let places: Vec<_> =
        ["1.5 2 1180591620717411303424 a b", "1970-01-01T00:00:04Z", "[] [0] {} {"]
            .iter()
            .map(|part| text.find(part).unwrap_or_else(|| panic!("{part} in {text}")))
            .collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn equality_looks_at_the_value() {
    check_json(
        "1 == 1.0, [1] == [1.0], {a: 1, b: 2} == {b: 2, a: 1}, 1 == \"1\"",
        "null",
        "true true true false",
    );
    check_json("9007199254740993 == 9007199254740992.0, nan == nan", "null", "false false");
    let pair = Value::Array(vec![symbol("a"), class("X", Value::from("a")), Value::from("a")]);
    check("unique | length", &pair, "1");
    check("map(. == \"a\") | all", &pair, "true");
    let bytes = Value::Array(vec![Value::Bytes(b"a".to_vec()), Value::from("a")]);
    check(".[0] == .[1]", &bytes, "false");
}

#[test]
fn integers_are_exact() {
    check_json("9223372036854775807 + 1", "null", "9223372036854775808");
    check_json("-9223372036854775808 - 1", "null", "-9223372036854775809");
    check_json(". * .", "18446744073709551616", "340282366920938463463374607431768211456");
    check_json("100000000000000000000 / 10", "null", "10000000000000000000");
    check_json("100000000000000000001 % 10, -7 % 3, 7 % -3", "null", "1 -1 1");
    check_json("7 / 2, 6 / 2, 1.5 + 1.5", "null", "3.5 3 3");
    check_json("[.[] | tojson]", "[18446744073709551616]", r#"["18446744073709551616"]"#);
    check_json(
        "-(-9223372036854775808), (. | abs)",
        "-9223372036854775808",
        "9223372036854775808 9223372036854775808",
    );
}

#[test]
fn decimals_keep_their_digits() {
    let decimal = |text: &str| Value::Decimal(text.into());
    let pair = Value::Array(vec![decimal("0.10"), decimal("0.20")]);
    let digits = |code: &str| run(code, &pair)[0].clone();
    assert_eq!(digits("add"), decimal("0.30"));
    assert_eq!(digits(".[0] - .[1]"), decimal("-0.10"));
    assert_eq!(digits(".[0] * .[1]"), decimal("0.0200"));
    assert_eq!(digits(".[0] + 1"), decimal("1.10"));
    check(".[0] == 0.1, .[0] < .[1], (.[0] / .[1])", &pair, "true true 0.5");
    check("map(tostring)", &pair, r#"["0.10","0.20"]"#);
    assert_eq!(run(".[0] + .[1]", &Value::Array(vec![decimal("1e9999"), decimal("1")])).len(), 1);
}

#[test]
fn times_have_arithmetic() {
    let times = Value::Array(vec![time(1_700_000_000, 250_000_000), time(1_700_000_000, 0)]);
    assert_eq!(run(".[0] - .[1]", &times), [Value::Decimal("0.25".into())]);
    assert_eq!(run(".[1] + 60", &times), [time(1_700_000_060, 0)]);
    assert_eq!(run(".[0] - 0.25", &times), [time(1_700_000_000, 0)]);
    assert_eq!(run(".[1] - .[0] | . * 4", &times), [Value::Decimal("-1.00".into())]);
    check(
        ".[0] > .[1], (.[1] | seconds), (.[1] | tostring)",
        &times,
        r#"true 1700000000 "2023-11-14T22:13:20Z""#,
    );
    check(
        ".[1] | strftime(\"%Y\"), (\"2023-11-14T22:13:20Z\" | totime) == .",
        &times,
        r#""2023" true"#,
    );
}

#[test]
fn classes_and_tags_are_looked_through_and_kept() {
    let point = class("Point", Value::from_iter([("x", Value::Int(1)), ("y", Value::Int(2))]));
    check(".x, (class | .name), keys", &point, r#"1 "Point" ["x","y"]"#);
    let moved = run(".x += 1", &point).remove(0);
    assert_eq!(
        moved,
        class("Point", Value::from_iter([("x", Value::Int(2)), ("y", Value::Int(2))]))
    );
    assert_eq!(run("untyped | class", &point), [Value::Null]);
    assert_eq!(run(". as $p | untyped | typed($p | class)", &point), [point]);
}

#[test]
fn a_value_that_is_made_of_others_has_no_type() {
    let point = class("Point", Value::from_iter([("x", Value::Int(1)), ("y", Value::Int(2))]));
    let list = class("List", Value::Array(vec![Value::Int(1), Value::Int(2)]));
    for (code, input, stays) in [
        (".x = 2", &point, true),
        ("setpath([\"x\"]; 5)", &point, true),
        ("del(.x)", &point, true),
        ("map_values(. + 1)", &point, true),
        ("walk(.)", &point, true),
        (".[0:1] = [5]", &list, true),
        ("null + .", &list, true),
        (". + {}", &point, false),
        (". * {}", &point, false),
        (". - []", &list, false),
        ("with_entries(.)", &point, false),
        ("map(.)", &list, false),
        ("sort", &list, false),
        ("walk(.)", &list, false),
    ] {
        let class = run(&format!("{code} | class"), input).remove(0);
        assert_eq!(class != Value::Null, stays, "{code}");
    }
    let a = Value::from_iter([("a", point.clone())]);
    check(".a += {z: 3} | .a | class", &a, "null");
    check(".a |= (class as $c | . + {z: 3} | typed($c)) | .a | class.name, .z", &a, r#""Point" 3"#);
}

#[test]
fn maps_inside_are_merged_whatever_their_types() {
    let point = class("Point", Value::from_iter([("x", Value::Int(1))]));
    let a = Value::from_iter([("a", point.clone())]);
    let merged = |name: &str, pairs: &[(&str, i64)]| {
        let pairs = pairs.iter().map(|(key, value)| (*key, Value::Int(*value)));
        let map = Value::from_iter(pairs);
        [Value::from_iter([("a", if name.is_empty() { map } else { class(name, map) })])]
    };
    assert_eq!(run(". * {a: {z: 1}}", &a), merged("Point", &[("x", 1), ("z", 1)]));
    assert_eq!(run("{a: {x: 0, w: 1}} * .", &a), merged("Point", &[("x", 1), ("w", 1)]));
    assert_eq!(run(". * {a: {z: 1}} | .a |= untyped", &a), merged("", &[("x", 1), ("z", 1)]));
    let line = class("Line", Value::from_iter([("y", Value::Int(2))]));
    let both = Value::from_iter([("a", a), ("b", Value::from_iter([("a", line)]))]);
    assert_eq!(run(".a * .b", &both), merged("Line", &[("x", 1), ("y", 2)]));
    assert_eq!(run("{a: 1} * .a", &both), [Value::from_iter([("a", point)])]);
}

#[test]
fn symbols_bytes_and_keys_can_be_looked_at() {
    let map =
        Value::Map(vec![(symbol("name"), symbol("ada")), (Value::Int(1), Value::from("one"))]);
    check(".name | ascii_upcase, startswith(\"a\")", &map, r#""ADA" true"#);
    check(".[1]", &map, r#""one""#);
    let changed = run(".name = 5", &map).remove(0);
    assert_eq!(changed.as_map().unwrap()[0], (symbol("name"), Value::Int(5)));
    let bytes = Value::Bytes(vec![0, 255, 7]);
    check("bytes, length, @base64, .[1]", &bytes, "[0,255,7] 3 \"AP8H\" 255");
    assert_eq!(run(".[1:]", &bytes), [Value::Bytes(vec![255, 7])]);
    assert_eq!(run("\"AP8H\" | @base64d", &Value::Null), std::slice::from_ref(&bytes));
    assert_eq!(run("bytes | tobytes", &bytes), [bytes]);
    let id = Value::Ext(Ext::ObjectId([0xAB; 12]).into());
    check("tostring", &id, "\"abababababababababababab\"");
    assert_eq!(run("{\"$oid\": \"abababababababababababab\"} | unwrapped", &Value::Null), [id]);
}

#[test]
fn keys_keep_their_order_and_the_last_of_two_counts() {
    check_json(
        ".c = 1 | .a = 2 | del(.b)",
        r#"{"z": 0, "b": 1, "a": 1}"#,
        r#"{"z":0,"a":2,"c":1}"#,
    );
    check_json(". + {b: 3, d: 4}", r#"{"c": 1, "b": 2}"#, r#"{"c":1,"b":3,"d":4}"#);
    check_json("., .a", r#"{"a": 1, "a": 2}"#, r#"{"a":1,"a":2} 2"#);
    // More keys than are compared one after the other.
    let code = "[range(200) | {key: \"k\\(199 - .)\", value: .}] | from_entries \
                | .k7, length, (.k7 = 0 | .k7), (del(.k7) | .k7), (keys_unsorted | .[0])";
    check_json(code, "null", r#"192 200 0 null "k199""#);
}

#[test]
fn a_filter_that_takes_too_much_is_stopped() {
    for code in [
        "def f: 1 + f; f",
        "def f: [f]; f",
        "def f: f | f; f",
        "[range(1e9)]",
        "reduce range(1e9) as $i ([range(16e6)]; . + [$i])",
        "reduce range(1e6) as $i (null; [.])",
        "reduce range(1e6) as $i (null; {a: .})",
        ".[1e12] = 1",
        "try ([range(17e6)] | length) catch 0",
    ] {
        let error = on_large_stack(|| filter(code).run(&Value::Null)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{code}: {error}");
    }
    for code in ["\"a\" * 1e9", "reduce range(100) as $i (\"a\"; . + .)"] {
        let error = filter(code).run(&Value::Null).unwrap_err();
        assert!(error.to_string().contains("bytes"), "{code}: {error}");
    }
    // What was stopped holds nothing any more.
    assert!(filter("[range(1e9)]").run(&Value::Null).is_err());
    check_json("[range(1e7)] | length", "null", "10000000");
}

#[test]
fn a_filter_of_any_shape_is_compiled_or_refused() {
    let most = 128 << 10;
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("-", ""),
        (".|", ""),
        ("1,", ""),
        ("{a:", "}"),
        ("\"\\(", ")\""),
        ("try ", ""),
        ("def f: ", "; ."),
        ("(", ""),
    ] {
        let times = (most - 1) / (open.len() + close.len());
        let code = format!("{}1{}", open.repeat(times), close.repeat(times));
        let is_closed = Filter::compile(&code, &[]).is_ok();
        assert_eq!(is_closed, open != "(" || close == ")", "{open}");
    }
    let fault = Filter::compile(&"1,".repeat(most), &[]).unwrap_err();
    assert!(fault.message().contains("at most 131072 are allowed"), "{fault}");
    let fault = Filter::compile(&format!("{}foo", "1,".repeat(5000)), &[]).unwrap_err();
    assert!(fault.message().contains("column 10001: there is no function `foo`"), "{fault}");
    let excerpt = fault.excerpt();
    assert!(excerpt.ends_with(&format!("1,foo\n{}^^^", " ".repeat(60))), "{excerpt}");
}

#[test]
fn deep_recursion_and_nesting_work_up_to_the_limits() {
    let deep = on_large_stack(|| {
        filter("[def f: if . == 0 then 0 else (. - 1 | f) + 1 end; 20000 | f] | .[0]")
            .run(&Value::Null)
    });
    assert_eq!(deep.unwrap(), [Value::Int(20_000)]);
    check_json(
        "last(range(1e5)), (reduce range(1e5) as $i (0; . + $i))",
        "null",
        "99999 4999950000",
    );
    check_json("[limit(5; def f: ., (. + 1 | f); 0 | f)]", "null", "[0,1,2,3,4]");
    let nested = "reduce range(1000) as $i (1; [.]) | [..] | length, (tojson | length)";
    let found = on_large_stack(|| filter(nested).run(&Value::Null)).unwrap();
    assert_eq!(found[0], Value::Int(1001));
    check_json("[recurse(if . < 50000 then . + 1 else empty end)] | length", "0", "50001");
}

#[test]
fn a_wrong_filter_shows_its_place() {
    for (code, wanted) in [
        (".a | foo", "column 6: there is no function `foo`\n.a | foo\n     ^^^"),
        ("[1, 2", "found `[`, which is not closed\n[1, 2\n^"),
        (".a |", "column 5: found the end, expected a term"),
        ("1 +\n $x", "line 2, column 2: there is no variable `$x`\n $x\n ^^"),
        ("foo(1)", "there is no function `foo` with 1 argument\n"),
        (". § 1", "column 3: found `§`, expected"),
    ] {
        let fault = Filter::compile(code, &[]).unwrap_err().to_string();
        assert!(fault.contains(wanted), "{code}: {fault}");
    }
}

#[test]
fn a_group_that_took_no_part_in_a_match_is_null() {
    for (code, wanted) in [
        (
            r#""2020-" | [match("(a)?(-)").captures[] | [.offset, .length, .string, .name]]"#,
            r#"[[-1,0,null,null],[4,1,"-",null]]"#,
        ),
        (r#""2020-" | capture("(?<y>\\d+)-(?<m>\\d+)?")"#, r#"{"y":"2020","m":null}"#),
        (r#"["xb" | scan("(a)?(b)")]"#, r#"[[null,"b"]]"#),
        (r#"["źaa" | match("a"; "g").offset]"#, "[1,2]"),
        // The second group matches before the first.
        (r#""ba" | [match("(?:(a)|(b))*").captures[].string]"#, r#"["a","b"]"#),
        (r#""a-b-c" | gsub("(?<x>[a-z])(-)?"; "\(.x)\(.x)")"#, r#""aabbcc""#),
        (r#""aXbxc" | [splits("x"; "i")]"#, r#"["a","b","c"]"#),
    ] {
        check_json(code, "null", wanted);
    }
}

#[test]
fn entries_keep_keys_that_are_not_text() {
    let map = Value::Map(vec![
        (Value::Int(1), Value::from("a")),
        (Value::from("1"), Value::from("b")),
        (Value::Null, Value::from("c")),
    ]);
    assert_eq!(filter("with_entries(.)").run(&map).unwrap(), std::slice::from_ref(&map));
    let found = filter("with_entries(select(.value != \"b\"))").run(&map).unwrap();
    let Value::Map(pairs) = &found[0] else { panic!("{found:?}") };
    assert_eq!((pairs.len(), &pairs[0].0, &pairs[1].0), (2, &Value::Int(1), &Value::Null));
    // Other maps follow jq, which makes texts of numbers.
    check_json("with_entries(.key = 5)", r#"{"a":1}"#, r#"{"5":1}"#);
    check_json("from_entries", r#"[{"key":1,"value":2},{"k":null,"v":3}]"#, r#"{"1":2,"null":3}"#);
}

#[test]
fn what_a_terminal_would_obey_is_shown_in_a_message() {
    let error = filter("error(\"\\u001b[31mred\")").run(&Value::Null).unwrap_err();
    assert!(error.to_string().contains(r"\u{1b}[31mred"), "{error}");
}

#[test]
fn a_filter_that_fails_says_why() {
    for (code, wanted) in [
        (".a", "the filter failed: cannot index"),
        ("error(\"own words\")", "the filter failed: own words"),
        ("error({a: 1})", "the filter failed: {\"a\":1} (not a text)"),
        ("1 / 0", "cannot calculate 1 / 0"),
        ("halt", "`halt` is not supported"),
        ("halt_error", "the filter failed: 5 (not a text)"),
        ("\"own words\" | halt_error(3)", "the filter failed: own words"),
    ] {
        let error = filter(code).run(&Value::Int(5)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().contains(wanted), "{code}: {error}");
    }
    check_json("try error(\"x\") catch ., (.a?), (.a // 1)?", "{}", r#""x" null 1"#);
}

#[test]
fn regular_expressions_know_all_letters() {
    let input = r#""Zażółć gęś""#;
    check_json(r#"gsub("\\W"; "_")"#, input, r#""Zażółć_gęś""#);
    check_json(r#"gsub("\\w"; "x")"#, input, r#""xxxxxx xxx""#);
    check_json(r#"test("ŻÓŁĆ"; "i"), test("ŻÓŁĆ")"#, input, "true false");
    check_json(r#"[scan("\\p{Lu}"), scan("\\b\\w")]"#, input, r#"["Z","Z","g"]"#);
    check_json(
        r#"test(["ŻÓŁĆ", "i"]), test("gęś"; null), ([match(["[ęś]", "g"]).offset] | add)"#,
        input,
        "true true 17",
    );
    check_json(
        r#"[split("[ę ]"; null), splits("ż"; "i")]"#,
        input,
        r#"[["Zażółć","g","ś"],"Za","ółć gęś"]"#,
    );
    // `s` says what `^` and `$` mean anyway; `p` also lets a dot match the end of a line.
    check_json(
        r#"test("a.c"; "s"), test("a.c"; "p"), test("^c"; "p")"#,
        r#""a\nc""#,
        "false true false",
    );
}

#[test]
fn decimals_are_numbers_in_text_too() {
    check_json(
        "#exact\ntojson, @json, (tojson | fromjson | .p + 1)",
        r#"{"p":1.10}"#,
        r#""{\"p\":1.10}" "{\"p\":1.10}" 2.1"#,
    );
    check_json(
        "#exact\n\"\\([.p])\", ([.p, 2] | join(\";\")), ([.p, \"a\"] | @csv), ([.p] | @tsv)",
        r#"{"p":1.10}"#,
        r#""[1.10]" "1.10;2" "1.10,\"a\"" "1.10""#,
    );
    let bson = r#"{"$numberDecimal":"12.50"}"#;
    check_json("unwrapped | [[.] | @csv, tojson] | join(\" \")", bson, r#""12.50 [12.50]""#);
}

#[test]
fn rows_hold_no_arrays_and_no_infinities() {
    for code in ["[{a: 1}] | @csv", "[[1]] | @tsv", "[infinite] | @csv", "[nan] | @tsv"] {
        let error = filter(code).run(&Value::Null).unwrap_err().to_string();
        assert!(error.contains("is not valid in a"), "{code}: {error}");
    }
    check_json("[1, null, true, \"a\\\"b\"] | @csv", "null", r#""1,,true,\"a\"\"b\"""#);
}

#[test]
fn constants_are_exact_where_numbers_are() {
    let exact = |code: &str| {
        let settings = Settings { exact_numbers: true, ..Settings::default() };
        let outputs =
            filter(code).into_stage(settings).over(&Value::Decimal("0.10".into())).unwrap();
        outputs.iter().map(Value::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        exact(". + 0.20, 1.10 * 3, 1.50"),
        r#"{"$decimal":"0.30"} {"$decimal":"3.30"} {"$decimal":"1.50"}"#
    );
    check_json("0.1 + 0.2", "null", "0.30000000000000004");
}

#[test]
fn parts_of_texts_are_replaced_and_deleted() {
    check_json(
        ".[1:3] = \"xyz\", (.[:1] |= ascii_upcase), del(.[0:1], .[2:]), del(.[0:3], .[1:2], .[2:4])",
        r#""abćd""#,
        r#""axyzd" "Abćd" "b" """#,
    );
    let error = filter(".[0:1] = 1").run(&Value::from("ab")).unwrap_err().to_string();
    assert!(error.contains("text"), "{error}");
    let error = filter("del(.[0:1])").run(&Value::Bytes(vec![1, 2])).unwrap_err().to_string();
    assert!(error.contains("array or text"), "{error}");
    let name = class("Name", Value::from("abc"));
    assert_eq!(run("del(.[0:1])", &name), [class("Name", Value::from("bc"))]);
    assert_eq!(run(".[0:1] = \"x\"", &name), [class("Name", Value::from("xbc"))]);
}

#[test]
fn functions_of_mathematics_are_those_of_jq() {
    check_json(
        "[(5 | gamma == lgamma), (2.5 | nearbyint), (3.5 | nearbyint), (-0.5 | nearbyint)]",
        "null",
        "[true,2,4,-0.0]",
    );
    check_json("\"aGVsbG8\" | @base64d", "null", r#""hello""#);
}

#[test]
fn what_is_no_character_and_no_time_is_an_error() {
    for (code, wanted) in [
        ("[-1] | implode", "cannot use -1 as character"),
        ("[1114112] | implode", "cannot use 1114112 as character"),
        ("[nan] | implode", "nan"),
        ("nan | todate", "cannot convert nan to time"),
        ("nan | gmtime", "cannot convert nan to time"),
        ("nan | strftime(\"%Y\")", "cannot convert nan to time"),
    ] {
        let error = filter(code).run(&Value::Null).unwrap_err().to_string();
        assert!(error.to_lowercase().contains(wanted), "{code}: {error}");
    }
    check_json(
        "([65, 0, 128512] | implode), (1.5 | todate), (0 | todateiso8601, date)",
        "null",
        r#""A\u0000😀" "1970-01-01T00:00:01Z" "1970-01-01T00:00:00Z" "1970-01-01T00:00:00Z""#,
    );
}

#[test]
fn json_in_a_text_shows_types_at_every_level() {
    let map = Value::from_iter([
        ("a", class("Point", Value::from_iter([("x", Value::Int(1))]))),
        ("s", class("Name", Value::from("b"))),
        ("n", class("Count", Value::Int(5))),
    ]);
    check("map(tojson) == map([.] | tojson[1:-1])", &map, "true");
    check(".[] | tojson | fromjson | unwrapped | class.name", &map, r#""Point" "Name" "Count""#);
    check(
        "(.a | tostring == tojson), (.s, .n | tostring, \"\\(.)\")",
        &map,
        r#"true "b" "b" "5" "5""#,
    );
    check("[.s, .n] | @csv, join(\"-\")", &map, r#""\"b\",5" "b-5""#);
}

#[test]
fn filters_are_read_as_jq_reads_them() {
    check_json(r#""\ud83d\uDE00 \\ud83d""#, "null", r#""😀 \\ud83d""#);
    check_json(r#"{"\uD83D\uDE00": .}"#, "1", r#"{"😀":1}"#);
    check_json("", "[1]", "[1]");
    check_json("  # a comment\n# and another", "[1]", "[1]");
    assert!(Filter::compile(r#""\ud83d""#, &[]).is_err());
    let error = filter("@csv").run(&Value::Map(vec![])).unwrap_err();
    assert!(error.to_string().contains("object ({}) cannot be csv-formatted"), "{error}");
}
