//! What rules do to documents, from JSON to JSON, and to what JSON does not have.

use super::*;
use crate::model::value::Value;
use crate::policy::event::{Origin, Sink, Type};
use crate::policy::select::sink::{Marks, Select};
use crate::{ErrorKind, Ext, Format, Options, convert, convert_bytes};

/// Parses rules of the form `only a.b`, `drop c`, `rename a=b`, separated by semicolons.
fn selection(rules: &str) -> Selection {
    let mut selection = Selection::new();
    for rule in rules.split(';').map(str::trim).filter(|rule| !rule.is_empty()) {
        let (action, path) = rule.split_once(' ').unwrap();
        let added = match action {
            "only" => selection.only(path),
            "drop" => selection.drop(path),
            _ => selection.rename_to(path),
        };
        added.unwrap();
    }
    selection
}

fn options(rules: &str, from: Format, to: Format) -> Options {
    let mut options = Options::new(from, to);
    options.select = selection(rules);
    options
}

#[track_caller]
fn check(rules: &str, input: &str, expected: &str) {
    let options = options(rules, Format::Json, Format::Json);
    let output = convert_bytes(input.as_bytes(), &options).unwrap();
    assert_eq!(String::from_utf8(output).unwrap().trim_end(), expected, "{rules}");
    // A path or a report puts another adapter in between.
    let options = Options { report: true, ..options };
    let output = convert_bytes(input.as_bytes(), &options).unwrap();
    assert_eq!(String::from_utf8(output).unwrap().trim_end(), expected, "{rules}, tracked");
}

/// Returns the paths that matched nothing.
fn unmatched(rules: &str, input: &str) -> (Vec<String>, bool) {
    let options = options(rules, Format::Ndjson, Format::Ndjson);
    let mut output = Vec::new();
    let input = convert::Input::Bytes(input.as_bytes());
    let out = crate::StreamOutput::new(&mut output);
    let summary = convert::convert(input, out, &options, &mut |_| Ok(())).unwrap();
    let rules = summary.matches.unmatched(&options.select).map(ToString::to_string).collect();
    (rules, summary.matches.met_arrays())
}

#[test]
fn only_keeps_paths_and_the_containers_around_them() {
    let record = r#"{"id":1,"user":{"name":"x","mail":"y"},"items":[{"p":1,"q":2},{"q":3},4]}"#;
    check("only id", record, r#"{"id":1}"#);
    check("only user.name", record, r#"{"user":{"name":"x"}}"#);
    check("only user; only id", record, r#"{"id":1,"user":{"name":"x","mail":"y"}}"#);
    check("only user; only user.name", record, r#"{"user":{"name":"x","mail":"y"}}"#);
    // A container stays, another value in its place does not.
    check("only items[*].p", record, r#"{"items":[{"p":1},{}]}"#);
    check("only items[].q", record, r#"{"items":[{"q":2},{"q":3}]}"#);
    check("only items[1]", record, r#"{"items":[{"q":3}]}"#);
    check("only items[2]; only items[0].p", record, r#"{"items":[{"p":1},4]}"#);
    check("only id.x", record, "{}");
    check("only user[0]", record, "{}");
    check("only items.p", record, "{}");
    check("only *.name", record, r#"{"user":{"name":"x"}}"#);
    check("only $", record, record);
    check("only [*].id", record, "{}");
    check("only a", "[1,2]", "[]");
    check("only a", "5", "null");
    check("only a.b", r#"{"a":{"b":[]},"a":{"c":1},"b":1}"#, r#"{"a":{"b":[]},"a":{}}"#);
    check(r#"only ["k y"]["\u00e9"]"#, r#"{"k y":{"é":1,"e":2}}"#, r#"{"k y":{"é":1}}"#);
    check("only pos[0]", r#"{"pos":[1.5,2.5]}"#, r#"{"pos":[1.5]}"#);
    check("only pos", r#"{"pos":[1.5,2.5],"x":[0.5,1.5]}"#, r#"{"pos":[1.5,2.5]}"#);
}

#[test]
fn drop_leaves_out_what_lies_at_a_path() {
    let record = r#"{"a":{"b":1,"c":[1,{"b":2},[3]]},"b":[0.5,1.5]}"#;
    check("drop a", record, r#"{"b":[0.5,1.5]}"#);
    check("drop a.b", record, r#"{"a":{"c":[1,{"b":2},[3]]},"b":[0.5,1.5]}"#);
    check("drop a.c[1].b", record, r#"{"a":{"b":1,"c":[1,{},[3]]},"b":[0.5,1.5]}"#);
    check("drop a.c[*]", record, r#"{"a":{"b":1,"c":[]},"b":[0.5,1.5]}"#);
    check("drop a.c[2]; drop a.c[0]", record, r#"{"a":{"b":1,"c":[{"b":2}]},"b":[0.5,1.5]}"#);
    check("drop b[0]", record, r#"{"a":{"b":1,"c":[1,{"b":2},[3]]},"b":[1.5]}"#);
    check("drop *.b; drop b", record, r#"{"a":{"c":[1,{"b":2},[3]]}}"#);
    check("only a; drop a.c", record, r#"{"a":{"b":1}}"#);
    check("drop a; only a.b", record, "{}");
    check("drop a.x; drop a.b.c.d; drop q", record, record);
    check("drop [1]", "[1,2,3]", "[1,3]");
    check("drop a", "5", "5");
    check("drop a", r#"{"a":1,"a":2,"b":3}"#, r#"{"b":3}"#);
    // More names than are compared one after the other.
    let many: Vec<String> = (0..20).map(|n| format!("drop k{n}")).collect();
    check(&many.join(";"), r#"{"k0":0,"x":1,"k19":2,"k2":3,"k20":4}"#, r#"{"x":1,"k20":4}"#);
}

#[test]
fn rename_gives_a_key_another_name() {
    check("rename a=b", r#"{"a":1,"c":{"a":2}}"#, r#"{"b":1,"c":{"a":2}}"#);
    check("rename a.b=c", r#"{"a":{"b":{"b":1}}}"#, r#"{"a":{"c":{"b":1}}}"#);
    check("rename [*].a=b.c=d", r#"[{"a":1},{"x":2}]"#, r#"[{"b.c=d":1},{"x":2}]"#);
    check("rename a=b; rename b=a", r#"{"a":1,"b":2}"#, r#"{"b":1,"a":2}"#);
    check("rename a=c; rename b=c", r#"{"b":2}"#, r#"{"c":2}"#);
    // Paths are those of the input.
    check("rename a=b; only a.x", r#"{"a":{"x":1,"y":2},"b":3}"#, r#"{"b":{"x":1}}"#);
    check("rename a=b; drop b", r#"{"a":1,"b":2}"#, r#"{"b":1}"#);
    check("rename a=b; drop a.x", r#"{"a":{"x":1,"y":2}}"#, r#"{"b":{"y":2}}"#);
    check("rename *.a=z", r#"{"p":{"a":1},"q":{"a":2}}"#, r#"{"p":{"z":1},"q":{"z":2}}"#);
    // The key was there twice before.
    check("rename a=b", r#"{"a":1,"a":2}"#, r#"{"b":1,"b":2}"#);
    check("rename a=a", r#"{"a":1,"b":2}"#, r#"{"a":1,"b":2}"#);
    // No key is lost to a value that is left out.
    check("rename x=a; only a.b; only x", r#"{"a":5,"x":1}"#, r#"{"a":1}"#);
}

#[test]
fn two_keys_of_one_name_are_refused() {
    for (rules, input) in [
        ("rename a=b", r#"{"a":1,"b":2}"#),
        ("rename a=b", r#"{"b":1,"a":2}"#),
        ("rename a=c; rename b=c", r#"{"a":1,"b":2}"#),
        ("rename p[*].a=b", r#"{"p":[{"b":1},{"b":1,"a":2}]}"#),
        ("rename a=b; only a.x; only b", r#"{"b":1,"a":{"x":2}}"#),
    ] {
        let options = options(rules, Format::Json, Format::Json);
        let error = convert_bytes(input.as_bytes(), &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{rules}");
        assert!(error.to_string().contains("has the name of another key"), "{error}");
        assert!(error.path().is_some(), "{error}");
    }
}

#[test]
fn keys_that_were_different_do_not_get_one_name() {
    let options = options("rename 1=z", Format::Yaml, Format::Yaml);
    for input in ["1: a\n\"1\": b\n", "\"1\": a\n1: b\n"] {
        let error = convert_bytes(input.as_bytes(), &options).unwrap_err();
        assert!(error.to_string().contains("has the name of another key"), "{error}");
    }
    assert_eq!(convert_bytes(b"1: a\n", &options).unwrap(), b"z: a\n");
}

#[test]
fn rules_that_make_no_sense_are_refused() {
    let mut selection = Selection::new();
    assert!(selection.drop("$").unwrap_err().contains("whole document"));
    for path in ["$", "a[0]", "a[*]", "a.*"] {
        let fault = selection.rename(path, "b").unwrap_err();
        assert!(fault.contains("ends in a key"), "{fault}");
    }
    for text in ["a", "a=", "a[0=b"] {
        assert!(selection.rename_to(text).is_err(), "{text}");
    }
    assert!(selection.is_empty());
    selection.rename("a.b", "x").unwrap();
    selection.check().unwrap();
    selection.rename("*.b", "y").unwrap();
    let fault = selection.check().unwrap_err();
    assert_eq!(fault, "found the names x and y for $.*.b");
    let options = Options { select: selection, ..Options::new(Format::Json, Format::Json) };
    let error = convert_bytes(b"{}", &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    // Each star doubles the states.
    let mut selection = Selection::new();
    for place in 0..16 {
        let path = format!("{}x{}", "*.".repeat(place), ".*".repeat(16 - place));
        selection.drop(&path).unwrap();
    }
    assert!(selection.check().unwrap_err().contains("overlap"));
}

#[test]
fn paths_that_match_nothing_are_known() {
    let input = "{\"a\":{\"b\":1}}\n{\"c\":[1]}\n";
    assert_eq!(unmatched("only a.b; only c[0]", input), (vec![], false));
    let rules = "only a.c; only c[1]; drop x; rename a.b=z; rename y=w; only a";
    let expected = ["only $.a.c", "only $.c[1]", "drop $.x", "rename $.y"];
    assert_eq!(unmatched(rules, input), (expected.map(String::from).to_vec(), false));
    // The element after the last one does not count.
    assert_eq!(unmatched("drop c[0]; drop c[1]", input).0, ["drop $.c[1]"]);
    assert_eq!(unmatched("only $; only q", input).0, ["only $.q"]);
    assert_eq!(unmatched("only a", "[{\"a\":1}]\n"), (vec!["only $.a".to_owned()], true));
    assert_eq!(unmatched("only [*].a", "[{\"a\":1}]\n"), (vec![], false));
}

#[test]
fn keys_that_are_not_text_have_paths() {
    let pairs = vec![
        (Value::Int(1), Value::Text("one".into())),
        (Value::Ext(Ext::Symbol("name").into()), Value::Int(2)),
        (Value::Text("t".into()), Value::Int(3)),
    ];
    let bytes = crate::write_values(
        &[Value::Map(pairs.clone())],
        &Options::new(Format::Marshal, Format::Marshal),
    );
    let bytes = bytes.unwrap().0;
    let after = |rules: &str| {
        let options = options(rules, Format::Marshal, Format::Marshal);
        let output = convert_bytes(&bytes, &options).unwrap();
        let plain = Options::new(Format::Marshal, Format::Marshal);
        match crate::read_values(&output, &plain).unwrap().remove(0) {
            Value::Map(pairs) => pairs,
            other => panic!("{other}"),
        }
    };
    assert_eq!(after("only name; only 1"), pairs[..2]);
    assert_eq!(after("drop 1"), pairs[1..]);
    let symbol = Value::Ext(Ext::Symbol("title").into());
    assert_eq!(after("only name; rename name=title"), [(symbol, Value::Int(2))]);
    assert_eq!(after("only 1; rename 1=x")[0].0, Value::Text("x".into()));
    assert_eq!(after("drop t; drop name; drop q"), pairs[..1]);
}

/// Types and anchors are part of the value in them: they come and go with it.
#[test]
fn types_belong_to_their_value() {
    use crate::policy::event::recorder::Recorder;
    let of = |name: &'static str| Type { origin: Origin::Ruby, kind: "object", name };
    let drive = |sink: &mut dyn Sink| -> crate::Result {
        sink.begin_typed(&of("Root"))?;
        sink.begin_map(Some(3))?;
        sink.key("a")?;
        sink.begin_typed(&of("A"))?;
        sink.begin_map(Some(2))?;
        sink.key("x")?;
        sink.i64(1)?;
        sink.key("y")?;
        sink.i64(2)?;
        sink.end_map()?;
        sink.end_typed()?;
        sink.key("b")?;
        sink.begin_typed(&of("B"))?;
        sink.i64(3)?;
        sink.end_typed()?;
        sink.key("c")?;
        sink.i64(4)?;
        sink.end_map()?;
        sink.end_typed()
    };
    let after = |rules: &str| {
        let selection = selection(rules);
        let plan = Plan::new(&selection, false).unwrap();
        let marks = Marks::new(Some(&plan));
        let mut recorder = Recorder::default();
        let mut select = Select::new(&mut recorder, &plan, &marks);
        drive(&mut select).unwrap();
        drop(select);
        recorder.lines.join(" ")
    };
    let everything = after("only $");
    // The key could be there, so the length is not known.
    assert_eq!(after("drop q"), everything.replacen("Some(3)", "None", 1));
    let dropped = after("drop b");
    assert!(!dropped.contains("\"B\""), "{dropped}");
    // A length is exact, or not known.
    let lengths = |events: &str| {
        let maps = events.split("\"begin_map\", ").skip(1);
        maps.map(|rest| rest.split(')').next().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(lengths(&everything), "Some(3 Some(2");
    assert_eq!(lengths(&dropped), "None Some(2");
    assert_eq!(lengths(&after("drop a.x")), "Some(3 None");
    assert_eq!(lengths(&after("rename a.x=z")), "Some(3 Some(2");
    assert_eq!(lengths(&after("only a")), "None Some(2");
    assert!(!after("only a.x; only b.x").contains("\"B\""));
    assert!(after("only a.x").contains("\"A\""));
    assert!(after("only a.x").contains("Root"));
    assert!(!after("only c").contains("\"A\""));
}
