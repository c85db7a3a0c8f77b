//! What is written, and what is not.

use super::*;
use crate::convert::{Action, Rule, convert_counted};
use crate::model::path::Pattern;
use crate::policy::fidelity::LossKind;

fn written(json: &str, options: &All) -> Result<(String, Vec<(LossKind, u64)>), crate::Error> {
    let mut output = Vec::new();
    let to = StreamOutput::new(&mut output);
    let summary = convert(Input::Bytes(json.as_bytes()), to, options, &mut |_| Ok(()))?;
    let losses = summary.fidelity.losses().iter().map(|loss| (loss.kind, loss.count)).collect();
    Ok((String::from_utf8(output).unwrap(), losses))
}

fn to_csv(on_loss: OnLoss) -> All {
    let mut options = options(Format::Json, Format::Csv);
    options.on_loss = on_loss;
    options
}

/// Written as it is, with these losses.
#[track_caller]
fn check_written(json: &str, options: &All, expected: &str, losses: &[(LossKind, u64)]) {
    let found = written(json, options).unwrap_or_else(|error| panic!("{json}: {error}"));
    assert_eq!(found, (expected.to_owned(), losses.to_vec()), "{json}");
}

/// Written in the notation, and read back the same.
#[track_caller]
fn check_wrapped(json: &str, expected: &str) {
    check_written(json, &to_csv(OnLoss::Wrap), expected, &[]);
    let mut back = options(Format::Csv, Format::Json);
    back.unwrap = true;
    let back = convert_bytes(expected.as_bytes(), &back).unwrap();
    let json = match json.starts_with('[') {
        true => json.to_owned(),
        false => format!("[{json}]"),
    };
    assert_eq!(String::from_utf8(back).unwrap().trim_end(), json);
}

#[track_caller]
fn check_refused(json: &str, options: &All, kind: ErrorKind, message: &str) {
    let error = written(json, options).unwrap_err();
    assert_eq!((error.kind(), error.message()), (kind, message), "{json}");
}

#[test]
fn text_is_written_as_it_is() {
    let strict = to_csv(OnLoss::Refuse);
    check_written(r#"[{"a":"1","b":""}]"#, &strict, "a,b\n1,\n", &[]);
    check_written(r#"[{"a":"x,y","b":"\"q\""}]"#, &strict, "a,b\n\"x,y\",\"\"\"q\"\"\"\n", &[]);
    check_written(r#"[{"a":"1\n2"},{"a":""}]"#, &strict, "a\n\"1\n2\"\n\"\"\n", &[]);
    check_written(r#"[{"":""}]"#, &strict, "\"\"\n\"\"\n", &[]);
    check_written("[{\"\u{FEFF}a\":\"\"}]", &strict, "\"\u{FEFF}a\"\n\"\"\n", &[]);
    check_written(r#"[{"a":"=1+1","b":" x "}]"#, &strict, "a,b\n=1+1, x \n", &[]);
    check_written("[]", &strict, "", &[]);
    let tabs = { All { to: Format::Tsv, ..strict } };
    check_written(r#"[{"a":"1,2","b":"3\t4"}]"#, &tabs, "a\tb\n1,2\t\"3\t4\"\n", &[]);
}

#[test]
fn numbers_are_written_and_counted() {
    let json = r#"[{"a":1,"b":1.5,"c":true},{"a":18446744073709551616,"b":-0.0,"c":"x"}]"#;
    let expected = "a,b,c\n1,1.5,true\n18446744073709551616,-0.0,x\n";
    for on_loss in [OnLoss::Refuse, OnLoss::Approximate] {
        check_written(json, &to_csv(on_loss), expected, &[(LossKind::Untyped, 5)]);
    }
    let mut infer = to_csv(OnLoss::Refuse);
    infer.csv.types = Types::Infer;
    check_written(json, &infer, expected, &[]);
    check_written(r#"[{"a":"1","b":1}]"#, &infer, "a,b\n\"1\",1\n", &[]);
    let mut exact = to_csv(OnLoss::Refuse);
    exact.json_read.exact_numbers = true;
    check_written(r#"[{"a":1.10}]"#, &exact, "a\n1.10\n", &[(LossKind::Untyped, 1)]);
}

#[test]
fn what_csv_cannot_hold_is_refused() {
    let strict = to_csv(OnLoss::Refuse);
    let refused = ErrorKind::Refused;
    check_refused(r#"[{"a":null}]"#, &strict, refused, "found null, which CSV cannot hold");
    let map = "found a map in a row, which CSV cannot hold";
    check_refused(r#"[{"a":{"b":"c"}}]"#, &strict, refused, map);
    let array = "found an array in a row, which CSV cannot hold";
    check_refused(r#"[{"a":[]}]"#, &strict, refused, array);
    let missing = "found a row without a value for the column \"b\", which CSV cannot hold";
    check_refused(r#"[{"a":"1","b":"2"},{"a":"3"}]"#, &strict, refused, missing);
    let order =
        "found the keys of a row in another order than those of the first, which CSV cannot hold";
    check_refused(r#"[{"a":"1","b":"2"},{"b":"3","a":"4"}]"#, &strict, refused, order);
    let again = "found the column \"a\" a second time in one row, which CSV cannot hold";
    check_refused(r#"[{"a":"1","a":"2"}]"#, &strict, refused, again);
    let whole = "found an array as a whole document, which CSV cannot hold";
    check_refused("[[\"a\"]]", &strict, refused, whole);
    let whole = "found text as a whole document, which CSV cannot hold";
    check_refused("[\"a\"]", &strict, refused, whole);
    // Under any policy.
    for on_loss in [OnLoss::Refuse, OnLoss::Wrap, OnLoss::Approximate] {
        let options = to_csv(on_loss);
        let key = "found the key \"b\", which is not in the first row; CSV names its columns once";
        let json = r#"[{"a":"1"},{"a":"2","b":"3"}]"#;
        check_refused(json, &options, ErrorKind::Unrepresentable, key);
        let error = written(json, &options).unwrap_err();
        assert_eq!(
            error.hint_for(&crate::model::hint::Surface::COMMAND).unwrap(),
            "pass --only … to keep what all rows have"
        );
        assert_eq!(error.path().map(ToString::to_string).as_deref(), Some("$[1].b"));
    }
    let empty = "found nothing in the first row, expected at least one value: CSV has no row without \
                 a field";
    check_refused("[{}]", &strict, ErrorKind::Unrepresentable, empty);
}

#[test]
fn approximated() {
    let about = to_csv(OnLoss::Approximate);
    check_written(r#"[{"a":null}]"#, &about, "a\n\"\"\n", &[(LossKind::Null, 1)]);
    let json = r#"[{"a":{"b":[1,null]},"c":"d"}]"#;
    let expected = "a,c\n\"{\"\"b\"\":[1,null]}\",d\n";
    check_written(json, &about, expected, &[(LossKind::Special, 1)]);
    let json = r#"[{"a":"1","b":"2"},{"b":"3"},{"b":"4","a":"5"}]"#;
    let losses = [(LossKind::Special, 1), (LossKind::Key, 1)];
    check_written(json, &about, "a,b\n1,2\n,3\n5,4\n", &losses);
    check_written(r#"[{"a":"1","a":"2"}]"#, &about, "a\n2\n", &[(LossKind::Key, 1)]);
    let losses = [(LossKind::Special, 2), (LossKind::Untyped, 1)];
    check_written(r#"[1,"a"]"#, &about, "value\n1\na\n", &losses);
}

#[test]
fn wrapped() {
    check_wrapped(r#"[{"a":null,"b":1,"c":"x"}]"#, "a,b,c\n$value:null,$value:1,x\n");
    check_wrapped(r#"[{"a":[1.5,{"b":true}]}]"#, "a\n\"$value:[1.5,{\"\"b\"\":true}]\"\n");
    check_wrapped(r#"[{"a":"$value:1"}]"#, "a\n\"$value:\"\"$value:1\"\"\"\n");
    check_wrapped(r#"[{"a":1,"a":2}]"#, "a,\"$key:\"\"a\"\"\"\n$value:1,$value:2\n");
    check_wrapped(r#"[1,"a",[]]"#, "$value\n$value:1\na\n$value:[]\n");
    check_wrapped("[{}]", "$value\n$value:{}\n");
    let literal =
        "$literal\n\"$value:{\"\"$a\"\":1,\"\"b\"\":{\"\"$literal\"\":{\"\"$c\"\":2}}}\"\n";
    check_wrapped(r#"[{"$a":1,"b":{"$c":2}}]"#, literal);
    let mut infer = to_csv(OnLoss::Wrap);
    infer.csv.types = Types::Infer;
    check_written(r#"[{"a":1,"b":"1"}]"#, &infer, "a,b\n1,\"1\"\n", &[]);
}

#[test]
fn flattened() {
    let mut flat = to_csv(OnLoss::Refuse);
    flat.csv.nested = Nested::Flatten;
    let json = r#"[{"a":{"b":"1","c":["2",{"d":"3"}]},"e":"4"}]"#;
    check_written(json, &flat, "a.b,a.c.0,a.c.1.d,e\n1,2,3,4\n", &[(LossKind::Special, 3)]);
    let again = "found the column \"a.b\" a second time in one row, which CSV cannot hold";
    check_refused(r#"[{"a.b":"1","a":{"b":"2"}}]"#, &flat, ErrorKind::Refused, again);
    let key = "found the key \"a.1\", which is not in the first row; CSV names its columns once";
    check_refused(r#"[{"a":["1"]},{"a":["1","2"]}]"#, &flat, ErrorKind::Unrepresentable, key);
    let empty = "found an empty map in a row, which CSV cannot hold";
    check_refused(r#"[{"a":{"b":{}}}]"#, &flat, ErrorKind::Refused, empty);
    flat.on_loss = OnLoss::Approximate;
    let json = r#"[{"a":{"b":{},"c":[[]]},"d":"1"}]"#;
    check_written(json, &flat, "a.b,a.c.0,d\n{},[],1\n", &[(LossKind::Special, 6)]);
    // The notation keeps what is nested.
    flat.on_loss = OnLoss::Wrap;
    check_written(r#"[{"a":{"b":"1"}}]"#, &flat, "a\n\"$value:{\"\"b\"\":\"\"1\"\"}\"\n", &[]);
}

#[test]
fn rows_without_a_header() {
    let mut plain = to_csv(OnLoss::Refuse);
    plain.csv.header = false;
    check_written(r#"[["a","b"],["1",""]]"#, &plain, "a,b\n1,\n", &[]);
    check_written(r#"[[""]]"#, &plain, "\"\"\n", &[]);
    let few = "found 1 value in a row, expected 2 as in the first";
    check_refused(r#"[["a","b"],["1"]]"#, &plain, ErrorKind::Unrepresentable, few);
    let many = "found 2 values in a row, expected 1 as in the first";
    check_refused(r#"[["a"],["1","2"]]"#, &plain, ErrorKind::Unrepresentable, many);
    let keys = "found keys without a header, which CSV cannot hold";
    check_refused(r#"[{"a":"1"}]"#, &plain, ErrorKind::Refused, keys);
    let nothing = "found nothing in the first row, expected at least one value: CSV has no row \
                   without a field";
    check_refused("[[]]", &plain, ErrorKind::Unrepresentable, nothing);
    plain.on_loss = OnLoss::Approximate;
    check_written(r#"[{"a":"1"},{"a":"2"}]"#, &plain, "1\n2\n", &[(LossKind::Key, 2)]);
    let mixed = "found a map and an array as rows of one table, expected one kind";
    check_refused(r#"[{"a":"1"},["2"]]"#, &plain, ErrorKind::Unrepresentable, mixed);
}

/// A row that is too large is refused, as its bytes come.
#[test]
fn a_row_is_bounded() {
    let mut options = to_csv(OnLoss::Refuse);
    options.limits.record_bytes = 100;
    let error = written(&format!(r#"[{{"a":"{}"}}]"#, "x".repeat(200)), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    options.limits.record_bytes = 1 << 20;
    options.limits.nodes = 2;
    let error = written(r#"[{"a":"1","b":"2","c":"3"}]"#, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

/// Several threads would each write a header.
#[test]
fn the_header_is_written_once() {
    let json: String = (0..200_000).map(|n| format!("{{\"n\":\"{n}\"}}\n")).collect();
    let mut options = options(Format::Ndjson, Format::Csv);
    options.jobs = 4;
    let mut output = Vec::new();
    let to = StreamOutput::new(&mut output);
    convert(Input::Bytes(json.as_bytes()), to, &options, &mut |_| Ok(())).unwrap();
    assert_eq!(output.iter().filter(|byte| **byte == b'\n').count(), 200_001);
    assert_eq!(memchr::memmem::find_iter(&output, "n\n").count(), 1);
}

/// A row that was taken back leaves no column.
#[test]
fn a_rollback_forgets_the_columns() {
    let mut options = options(Format::Ndjson, Format::Csv);
    options.skip_bad = true;
    let mut output = Vec::new();
    let to = StreamOutput::new(&mut output);
    let lines =
        b"{\"x\":\"1\",\n{\"a\":\"1\",\"b\":\"2\"}\n{\"a\":\"3\",\n{\"a\":\"4\",\"b\":\"5\"}\n";
    let summary = convert(Input::Bytes(lines), to, &options, &mut |_| Ok(())).unwrap();
    assert_eq!((summary.documents, summary.bad_records), (2, 2));
    assert_eq!(output, b"a,b\n1,2\n4,5\n");
}

/// A table without rows keeps its header, unless the names are unknown.
#[test]
fn a_header_alone() {
    let convert = |input: &str, set: &dyn Fn(&mut All)| {
        let mut options = options(Format::Csv, Format::Csv);
        set(&mut options);
        String::from_utf8(convert_bytes(input.as_bytes(), &options).unwrap()).unwrap()
    };
    assert_eq!(convert("a,b\n", &|_| {}), "a,b\n");
    assert_eq!(convert("a;\"b,c\"", &|_| {}), "a,\"b,c\"\n");
    assert_eq!(convert("\"\"\n", &|_| {}), "\"\"\n");
    assert_eq!(convert("", &|_| {}), "");
    assert_eq!(convert("a,b\n", &|options| options.to = Format::Tsv), "a\tb\n");
    assert_eq!(convert("a,b\n1\n", &|options| options.skip_bad = true), "a,b\n");
    assert_eq!(convert("a,b\n1\n2,3\n", &|options| options.skip_bad = true), "a,b\n2,3\n");
    assert_eq!(convert("a,b\n", &|options| options.csv.types = Types::Infer), "a,b\n");
    assert_eq!(convert("a,b\n", &|options| options.csv.nested = Nested::Flatten), "a,b\n");
    let wrap = |options: &mut All| options.on_loss = OnLoss::Wrap;
    assert_eq!(
        convert("$key:1,b\n", &wrap),
        convert("$key:1,b\n1,2\n", &wrap).replace("1,2\n", "")
    );
    let both = |options: &mut All| (options.on_loss, options.unwrap) = (OnLoss::Wrap, true);
    assert_eq!(convert("$key:1,b\n", &both), "$key:1,b\n");
    assert_eq!(convert("$literal\n", &both), "$literal\n");
    assert_eq!(convert("", &|options| options.from = Format::Ndjson), "");
}

/// What a selection does to the rows, it does to the header.
#[test]
fn a_header_alone_that_is_selected() {
    let mut options = options(Format::Csv, Format::Csv);
    for (action, path) in [(Action::Drop, "a"), (Action::Rename("x".into()), "b")] {
        options.select.add(Rule { action, path: Pattern::parse(path).unwrap() }).unwrap();
    }
    let (bytes, summary) = convert_counted(b"a,b,c\n", &options).unwrap();
    assert_eq!(bytes, b"x,c\n");
    assert_eq!(summary.matches.unmatched(&options.select).count(), 0);
}
