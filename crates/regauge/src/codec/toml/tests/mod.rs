//! The format's rules, table by table.

mod feeding;
mod suites;
mod writing;

use super::*;
use crate::model::value::Value;
use crate::policy::event::Source as _;
use crate::policy::event::{Ext, ExtBuf, Timestamp};
use crate::policy::tree::Builder;
use crate::{Error, OnLoss};

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn map<const N: usize>(pairs: [(&str, Value); N]) -> Value {
    Value::Map(pairs.into_iter().map(|(key, value)| (text(key), value)).collect())
}

fn ext(v: Ext<'_>) -> Value {
    Value::Ext(ExtBuf::from(v))
}

fn read(input: &str) -> Value {
    from_slice(input.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{input}"))
}

/// The value that stands under `a`.
#[track_caller]
fn check(written: &str, expected: Value) {
    assert_eq!(read(&format!("a = {written}\n")), map([("a", expected)]));
}

/// A document as JSON in the wrapped notation.
#[track_caller]
fn check_document(input: &str, expected: &str) {
    assert_eq!(read(input).to_string(), expected, "{input}");
}

#[track_caller]
fn check_fault(input: &str, offset: u64, message: &str) {
    let error = from_slice(input.as_bytes()).unwrap_err();
    assert_eq!((error.offset(), error.message()), (Some(offset), message), "{input}");
}

#[test]
fn integers() {
    check("0", Value::Int(0));
    check("+99", Value::Int(99));
    check("-17", Value::Int(-17));
    check("1_000", Value::Int(1000));
    check("0xDEAD_beef", Value::Int(0xDEAD_BEEF));
    check("0o755", Value::Int(0o755));
    check("0b1101", Value::Int(13));
    check("9223372036854775807", Value::Int(i64::MAX));
    check("-9223372036854775808", Value::Int(i64::MIN));
    check("0x7fffffffffffffff", Value::Int(i64::MAX));
    let beyond = "found the integer 9223372036854775808, expected one from -2^63 to 2^63-1";
    check_fault("a = 9223372036854775808", 4, beyond);
    let beyond = "found the integer 0x8000000000000000, expected one from -2^63 to 2^63-1";
    check_fault("a = 0x8000000000000000", 4, beyond);
}

#[test]
fn floats() {
    check("1.0", Value::F64(1.0));
    check("-0.0", Value::F64(-0.0));
    check("5e+22", Value::F64(5e22));
    check("6.626e-34", Value::F64(6.626e-34));
    check("1_0.2_5E0_1", Value::F64(102.5));
    check("inf", Value::F64(f64::INFINITY));
    check("+inf", Value::F64(f64::INFINITY));
    check("-inf", Value::F64(f64::NEG_INFINITY));
    for nan in ["nan", "+nan", "-nan"] {
        let Value::Map(pairs) = read(&format!("a = {nan}")) else { panic!() };
        assert!(matches!(pairs[0].1, Value::F64(v) if v.to_bits() == f64::NAN.to_bits()));
    }
    let beyond = "found the number 1e400, expected one within the range of a double";
    check_fault("a = 1e400", 4, beyond);
}

#[test]
fn strings() {
    check(r#""""#, text(""));
    check(
        r#""\b\t\n\f\r\"\\\e\x41\u00e9\U0001F600""#,
        text("\u{8}\t\n\u{c}\r\"\\\u{1b}Aé\u{1F600}"),
    );
    check(r"'C:\temp'", text(r"C:\temp"));
    check("\"\"\"\na\n b\"\"\"", text("a\n b"));
    check("\"\"\"a\\\n   b\\  \n\n c\"\"\"", text("abc"));
    check("\"\"\"\"quoted\"\"\"\"", text("\"quoted\""));
    check("'''\n''x''''", text("''x'"));
    check("\"\"\"a\r\nb\"\"\"", text("a\r\nb"));
    // Texts that are decoded, one after the other.
    check_document(
        "a = '''x'''\nb = \"\"\"y\\\\z\"\"\"\nc = \"\\t\"\nd = 'w'\n\"\\u0065\" = \"\\n\"\n",
        r#"{"a":"x","b":"y\\z","c":"\t","d":"w","e":"\n"}"#,
    );
}

#[test]
fn dates_and_times() {
    let at = |seconds, nanoseconds| Value::Timestamp(Timestamp { seconds, nanoseconds });
    check("1970-01-01T00:00:01Z", at(1, 0));
    check("1970-01-01 00:00:01.25z", at(1, 250_000_000));
    check("1970-01-01 07:32", ext(Ext::DateTime("1970-01-01T07:32:00")));
    check("1970-01-01T07:32:00.10-07:00", ext(Ext::OffsetDateTime("1970-01-01T07:32:00.1-07:00")));
    check("1970-01-01", ext(Ext::Date("1970-01-01")));
    check("07:32", ext(Ext::Time("07:32:00")));
    check("[1970-01-01, 07:32:01]", {
        Value::Array(vec![ext(Ext::Date("1970-01-01")), ext(Ext::Time("07:32:01"))])
    });
}

#[test]
fn containers() {
    check("[]", Value::Array(vec![]));
    check("[ 1, [ 'a' ], # one\n\n 2, ]", {
        Value::Array(vec![Value::Int(1), Value::Array(vec![text("a")]), Value::Int(2)])
    });
    check("{}", map([]));
    check(
        "{\n b = 1,\n  # c\n c.d = 2, \n}",
        map([("b", Value::Int(1)), ("c", map([("d", Value::Int(2))]))]),
    );
}

/// Pairs come in the order in which their keys first appear.
#[test]
fn tables() {
    check_document("", "{}");
    check_document("\u{FEFF}# only a comment", "{}");
    check_document("b = 1\na = 2\n'b c'.\"\" = 3", r#"{"b":1,"a":2,"b c":{"":3}}"#);
    check_document("[x.y.z]\nk=1\n[x]\nl=2", r#"{"x":{"y":{"z":{"k":1}},"l":2}}"#);
    check_document("[a.b]\n[c]\n[a.d]", r#"{"a":{"b":{},"d":{}},"c":{}}"#);
    check_document(
        "[[a]]\nb=1\n[a.c]\nd=2\n[[a]]\n[[a.e]]\n[[a.e]]",
        r#"{"a":[{"b":1,"c":{"d":2}},{"e":[{},{}]}]}"#,
    );
    check_document("[a]\nb.c=1\nb.d=2\n[a.b.e]\nf=3", r#"{"a":{"b":{"c":1,"d":2,"e":{"f":3}}}}"#);
    check_document("[ a . 'b' ]\r\nc=1\r\n", r#"{"a":{"b":{"c":1}}}"#);
}

/// What may not stand together, and where the first was.
#[test]
fn conflicts() {
    let twice = |key, line| {
        format!(
            "found the key {key:?} a second time in its table, expected it once (the first is on line {line})"
        )
    };
    check_fault("a = 1\nb = 2\na = 3", 12, &twice("a", 1));
    check_fault("a = { b = 1, b = 2 }", 13, &twice("b", 1));
    check_fault("[a]\nb = 1\n[a.c]\n[x]\n[a.c.b]\n[a.b]", 31, {
        "found more of \"b\", expected another name: it is an integer on line 2, which cannot be extended"
    });
    let redefined = |key, line| {
        format!(
            "found a second definition of the table {key:?}, expected one (the first is on line {line})"
        )
    };
    check_fault("[a]\n[b]\n[a]", 9, &redefined("a", 1));
    check_fault("a.b = 1\n[a]", 9, &redefined("a", 1));
    check_fault("[a.b]\n[a]\nb.c = 1", 10, &redefined("b", 1));
    check_fault("[a.b]\n[[a]]", 8, &redefined("a", 1));
    let more = |key, what| {
        let so =
            if what == "an array of tables" { "`[[…]]` extends" } else { "cannot be extended" };
        format!("found more of {key:?}, expected another name: it is {what} on line 1, which {so}")
    };
    check_fault("a = {}\na.b = 1", 7, &more("a", "an inline table"));
    check_fault("a = {}\n[a.b]", 8, &more("a", "an inline table"));
    check_fault("a = []\n[[a]]", 9, &more("a", "an array"));
    check_fault("[[a]]\n[a]", 7, &more("a", "an array of tables"));
    check_fault("a = 1\na.b = 2", 6, &more("a", "an integer"));
}

/// The path of a fault is that of the value at hand.
#[test]
fn paths() {
    for (input, path) in [
        ("a = ", "$.a"),
        ("[x]\na.b = [1, [2, @]]", "$.x.a.b[1][1]"),
        ("[[x]]\n[[x]]\na = {b = 2, b = 3}", "$.x[1].a.b"),
        ("[x]\n[x.y]\n[x]", "$.x"),
    ] {
        let error = from_slice(input.as_bytes()).unwrap_err();
        assert_eq!(error.path().unwrap().to_string(), path, "{error}");
    }
}

#[test]
fn detection() {
    for (head, is_toml) in [
        ("[package]\nname = \"regauge\"\n", true),
        ("# c\n\na = 1", true),
        ("a = {}\n", true),
        ("", false),
        ("[1]", false),
        ("[[1, 2]]", false),
        ("[\"a\"]\n", false),
        ("[section]\nkey=value\n", false),
        ("a: 1\n", false),
        ("{\"a\": 1}", false),
        ("a = 1\nb = [", false),
    ] {
        assert_eq!(Toml::is_likely(head.as_bytes(), true), is_toml, "{head}");
    }
    assert!(Toml::is_likely(b"a = 1\nb = [\n1,\n2", false));
    assert!(!Toml::is_likely(b"[\n1,\n2", false));
}
