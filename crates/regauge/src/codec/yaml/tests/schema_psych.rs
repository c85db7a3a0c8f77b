//! What Psych 4.0.3 makes of plain scalars, as `Psych.load` prints it.

use super::super::schema::Time;
use super::*;

#[track_caller]
fn check(text: &str, meaning: Meaning<'_>) {
    assert_eq!(resolve(text), meaning, "{text}");
    // The shortcut must let every scalar through that is not text.
    if meaning != Meaning::Text && !text.is_empty() {
        assert!(schema_11::may_mean(text.as_bytes()[0]), "{text}");
    }
}

#[test]
fn words() {
    for text in ["", "~", "null", "nULL", "Null"] {
        check(text, Meaning::Null);
    }
    for (text, value) in
        [("yEs", true), ("ON", true), ("tRue", true), ("nO", false), ("oFF", false)]
    {
        check(text, Meaning::Bool(value));
    }
    check("no\nno", Meaning::Bool(false));
    for text in ["y", "n", "nope", "no\na", "nulls", "null\nnull", "~a", "=", "é"] {
        check(text, Meaning::Text);
    }
    check("<<", Meaning::Merge);
}

#[test]
fn symbols() {
    for (text, name) in [
        (":a", "a"),
        (":a b", "a b"),
        ("::a", ":a"),
        (":1", "1"),
        (":\"a b\"", "a b"),
        (":'a'b", "a"),
        (":\":a\"", "a"),
        (":\"a", "\"a"),
        (":''", ""),
        (":é", "é"),
    ] {
        check(text, Meaning::Symbol(name));
    }
    check(":", Meaning::Text);
    check(":a\nb", Meaning::Text);
}

#[test]
fn numbers() {
    for (text, value) in [
        ("0", 0),
        ("-0", 0),
        ("+12", 12),
        ("1,000", 1000),
        ("1_000,000", 1_000_000),
        ("0777", 511),
        ("0_7", 7),
        ("0b101", 5),
        ("-0x1F", -31),
        ("1:30", 5400),
        ("-1:30", -1800),
        ("190:20:30", 685_230),
        ("1__0:00", 3600),
    ] {
        check(text, Meaning::I64(value));
    }
    for (text, digits) in
        [("1.5", "1.5"), ("1,000.5", "1000.5"), ("-.5", "-.5"), ("1.", "1."), ("1.e+3", "1.e+3")]
    {
        check(text, Meaning::Decimal(digits.into()));
    }
    check("190:20:30.15", Meaning::Double(685_230.15));
    check("1:30.", Meaning::Double(5400.0));
    check(".INF", Meaning::NonFinite(f64::INFINITY));
    check("+.inf", Meaning::NonFinite(f64::INFINITY));
    check("-.iNf", Meaning::NonFinite(f64::NEG_INFINITY));
    for text in
        [".e+1", "0b_", "0x,", "0_", "0,", "9223372036854775807:00", "12345678901234567890:12"]
    {
        check(text, Meaning::Unknown);
    }
    for text in [
        "1e3", "1.5e3", "08", "0o7", "1_", "1,,0", "1__0", "1:60", "1:2:3:4", ".", "-", "+", "--1",
        "1.2.3",
    ] {
        check(text, Meaning::Text);
    }
}

#[test]
fn times() {
    let utc = |text: &str| Meaning::Time(Time::Utc(text.into()));
    let offset = |text: &str| Meaning::Time(Time::Offset(text.into()));
    check("2001-12-15 02:59:43", utc("2001-12-15T02:59:43Z"));
    check("2001-12-15t2:59:43.10 Z", utc("2001-12-15T02:59:43.1Z"));
    check("2001-12-14 21:59:43 -0530", offset("2001-12-14T21:59:43-05:30"));
    check("2001-12-14 21:59:43+05:", offset("2001-12-14T21:59:43+05:00"));
    check("2001-1-4", Meaning::Time(Time::Date("2001-01-04".into())));
    for text in [
        "2001-13-01",
        "2001-12",
        "2001-12-14x",
        "2001-12-14 1:2",
        "2001--1",
        "2001-12-32",
        "2001-12-14 21:59:43 +05:3",
    ] {
        check(text, Meaning::Text);
    }
    for text in [
        "2001-02-30",
        "2001-0-1",
        "-0001-12-16 00:00:00 Z",
        "2001-02-30 00:00:00",
        "2001-12-14 21:59:43 -00:30",
        "2001-12-14 21:59:43 +053",
    ] {
        check(text, Meaning::Unknown);
    }
}
