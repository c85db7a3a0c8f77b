//! `marc`: MARCspec on the records of MARC-in-JSON.

use std::sync::Arc;

use regauge::convert::convert_bytes;
use regauge::{Format, Options, Value, read_values};
use regauge_query::{Filter, Settings, on_large_stack};

const RECORD: &str = r#"{"leader":"00714cam a2200205 a 4500","fields":[
    {"001":"12883376"},
    {"008":"030616s2003    enka          000 0 pol  "},
    {"020":{"ind1":" ","ind2":" ","subfields":[{"a":"9780132350884"},{"a":"0132350882"}]}},
    {"245":{"ind1":"1","ind2":"0","subfields":[{"a":"Zażółć /"},{"b":"gęślą"},{"c":"by N."}]}},
    {"650":{"ind1":" ","ind2":"0","subfields":[{"a":"First."},{"x":"Sub"}]}},
    {"650":{"ind1":" ","ind2":"2","subfields":[{"a":"Second."}]}},
    {"650":{"ind1":"1","ind2":"0","subfields":[{"a":"Third."}]}},
    {"FMT":"BK"}]}"#;

fn record() -> Value {
    let options = Options::new(Format::Json, Format::Json);
    read_values(RECORD.as_bytes(), &options).unwrap().remove(0)
}

fn run(code: &str) -> Result<String, String> {
    let filter = Filter::compile(code, &[]).unwrap_or_else(|fault| panic!("{code}: {fault}"));
    let outputs = filter.run(&record()).map_err(|error| error.to_string())?;
    Ok(outputs.iter().map(Value::to_string).collect::<Vec<_>>().join(" "))
}

#[test]
fn specifications_name_parts_of_a_record() {
    for (spec, wanted) in [
        ("001", r#""12883376""#),
        ("LDR", r#""00714cam a2200205 a 4500""#),
        ("LDR/6", r#""a""#),
        ("LDR/6-7", r#""am""#),
        ("008/35-37", r#""pol""#),
        ("008/#", r#"" ""#),
        ("008/#-2", r#""l  ""#),
        ("008/38-#", r#""  ""#),
        ("008/90", ""),
        ("245$a", r#""Zażółć /""#),
        ("245$a/0-5", r#""Zażółć""#),
        ("245$a$c", r#""Zażółć /" "by N.""#),
        ("245$a-b", r#""Zażółć /" "gęślą""#),
        ("245^1", r#""1""#),
        ("001^1", ""),
        ("020$a", r#""9780132350884" "0132350882""#),
        ("020$a[0]", r#""9780132350884""#),
        ("020$a[#]", r#""0132350882""#),
        ("020$a[7]", ""),
        ("650$a", r#""First." "Second." "Third.""#),
        ("650[0]$a", r#""First.""#),
        ("650[#]$a", r#""Third.""#),
        ("650[1-2]$a", r#""Second." "Third.""#),
        ("650[2-1]$a", ""),
        ("650[#-1]$a", r#""Second." "Third.""#),
        ("650[_2]$a", r#""Second.""#),
        ("650[_*]$a", r#""First." "Second.""#),
        ("650[*0]$a", r#""First." "Third.""#),
        ("6..$x", r#""Sub""#),
        ("FMT", r#""BK""#),
        ("999$a", ""),
        ("650[0]", r#"{"ind1":" ","ind2":"0","subfields":[{"a":"First."},{"x":"Sub"}]}"#),
    ] {
        assert_eq!(run(&format!("marc(\"{spec}\")")).as_deref(), Ok(wanted), "{spec}");
    }
}

#[test]
fn a_wrong_specification_shows_the_place() {
    for (spec, wanted) in [
        ("", "found the end in the MARCspec ``, position 0, expected a tag of three characters"),
        ("24", "found the end in the MARCspec `24`, position 2, expected a tag"),
        ("245a", "found `a` in the MARCspec `245a`, position 3, expected `[`, `$`, `^`, `/`"),
        ("245$", "position 4, expected the code of a subfield"),
        ("245$a-", "position 6, expected the last code of a range"),
        ("245[x", "position 3, expected `[`, `$`, `^`, `/` or the end"),
        ("245[xyz]", "position 3, expected an index such as `[0]`, or indicators such as `[_2]`"),
        ("245$a[x]", "expected an index such as `[0]`"),
        ("008/", "found the end in the MARCspec `008/`, position 4, expected positions"),
        ("245^3", "expected `^1` or `^2`"),
        ("245$a{b}", "expected the end; subspecs are not supported"),
    ] {
        let message = run(&format!("marc(\"{spec}\")")).unwrap_err();
        assert!(message.contains(wanted), "{spec}: {message}");
    }
    let message = run(".leader | marc(\"245\")").unwrap_err();
    assert!(message.contains("cannot index"), "{message}");
    let message = run("{a: 1} | marc(\"245\")").unwrap_err();
    assert!(message.contains("expected") || message.contains("MARC record"), "{message}");
}

#[test]
fn no_specification_panics() {
    let alphabet = "2.[]$^/#-a0_é".chars().collect::<Vec<_>>();
    let filter = Filter::compile("[.[] as $spec | $r | marc($spec)?]", &[("r", record())]).unwrap();
    let mut specs = Vec::new();
    for head in ["245", "650[", "650$a[", "008/", "020$a"] {
        for a in &alphabet {
            for b in &alphabet {
                for c in &alphabet {
                    specs.push(Value::from(format!("{head}{a}{b}{c}").as_str()));
                }
            }
        }
    }
    let found = filter.run(&Value::Array(specs)).unwrap();
    assert!(found[0].as_array().is_some_and(|found| found.len() >= 10));
}

#[test]
fn parts_can_be_changed_and_deleted() {
    let changed = run("marc(\"650$a\") |= rtrimstr(\".\") | [marc(\"650$a\")]").unwrap();
    assert_eq!(changed, r#"["First","Second","Third"]"#);
    for (code, wanted) in [
        (r#"del(marc("650"))"#, r#""001 008 020 245 FMT""#),
        // The last subfield of a field takes the field along.
        (r#"del(marc("650[1-2]$a"))"#, r#""001 008 020 245 650 FMT""#),
        (
            r#"del(marc("020$a[0]"), marc("245$a-c"), marc("245^1"))"#,
            r#""001 008 020 650 650 650 FMT""#,
        ),
        (r#"[.] | del(.[0] | marc("245"), .fields[0]) | .[0]"#, r#""008 020 650 650 650 FMT""#),
        (r#"{a: .} | del(.a.leader, (.a | marc("001"))) | .a"#, r#""008 020 245 650 650 650 FMT""#),
    ] {
        let tags = format!("{code} | [.fields[] | keys[]] | join(\" \")");
        assert_eq!(run(&tags).as_deref(), Ok(wanted), "{code}");
    }
    let left = run(r#"del(marc("020$a[0]")) | .fields[2]."020".subfields"#).unwrap();
    assert_eq!(left, r#"[{"a":"0132350882"}]"#);
    // Only in records.
    let left = run(r#"{fields: [{a: 1}, {b: 2}]} | del(.fields[0].a) | .fields"#).unwrap();
    assert_eq!(left, r#"[{},{"b":2}]"#);
}

#[test]
fn what_a_specification_does_not_find_is_added_by_its_place() {
    assert_eq!(run(r#"(marc("245$z") = "new") == ."#).unwrap(), "true");
    let added = run(r#"marc("245").subfields += [{z: "new"}] | marc("245$z")"#).unwrap();
    assert_eq!(added, r#""new""#);
    let field = r#"{"500": {ind1: " ", ind2: " ", subfields: [{a: "A note"}]}}"#;
    let added = run(&format!(r#".fields += [{field}] | marc("500$a")"#)).unwrap();
    assert_eq!(added, r#""A note""#);
}

#[test]
fn deleted_fields_and_subfields_are_gone_from_records() {
    let bytes = [numbered(1), numbered(2)].concat();
    let convert = |code: &str, to| {
        let mut options = Options::new(Format::Marc, to);
        let filter = Filter::compile(code, &[]).unwrap();
        options.stage = Some(Arc::new(filter.into_stage(Settings::default())));
        on_large_stack(|| convert_bytes(&bytes, &options)).unwrap()
    };
    let tags = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        text.matches("<datafield").count()
    };
    let before = tags(&convert(".", Format::MarcXml));
    assert_eq!(tags(&convert("del(marc(\"245\"))", Format::MarcXml)), before - 2);
    let without_titles = convert("del(marc(\"245$a\"))", Format::Marc);
    assert!(!String::from_utf8(without_titles).unwrap().contains("title"));
    assert_eq!(tags(&convert("del(marc(\"500$a\"))", Format::MarcXml)), before - 2);
    assert_eq!(tags(&convert("marc(\"500$a\") |= empty", Format::MarcXml)), before - 2);
    let json = String::from_utf8(convert("del(marc(\"245\"))", Format::Json)).unwrap();
    assert!(!json.contains("{}"), "{json}");
}

#[test]
fn records_that_a_filter_leaves_alone_stay_byte_for_byte() {
    let records: Vec<Vec<u8>> = (0..300).map(numbered).collect();
    let bytes = records.concat();
    let code = "if marc(\"001\") | endswith(\"7\") then marc(\"245$a\") |= ascii_upcase else . end";
    let mut options = Options::new(Format::Marc, Format::Marc);
    let filter = Filter::compile(code, &[]).unwrap();
    options.stage = Some(Arc::new(filter.into_stage(Settings::default())));
    let changed = on_large_stack(|| convert_bytes(&bytes, &options)).unwrap();
    let found: Vec<_> = changed.split_inclusive(|byte| *byte == 0x1D).collect();
    assert_eq!(found.len(), records.len());
    for (at, (before, after)) in records.iter().zip(found).enumerate() {
        let upper = String::from_utf8_lossy(before).replace("title", "TITLE");
        let wanted = if at % 10 == 7 { upper.as_bytes() } else { before };
        assert_eq!(after, wanted, "record {at}");
    }
}

/// A record with a number, a title and a note, in UTF-8.
fn numbered(at: usize) -> Vec<u8> {
    let fields = [
        ("001", format!("{at}\x1E")),
        ("245", "10\x1Fatitle /\x1Fcń.\x1E".to_owned()),
        ("500", "  \x1Fanote\x1E".to_owned()),
    ];
    let (mut directory, mut body) = (String::new(), String::new());
    for (tag, text) in &fields {
        directory += &format!("{tag}{:04}{:05}", text.len(), body.len());
        body += text;
    }
    let base = 24 + directory.len() + 1;
    let length = base + body.len() + 1;
    format!("{length:05}nam a22{base:05} a 4500{directory}\x1E{body}\x1D").into_bytes()
}

#[test]
fn characters_of_a_record_are_changed_and_deleted() {
    for (code, wanted) in [
        (
            r#"marc("008/35-37") = "eng" | marc("008")"#,
            r#""030616s2003    enka          000 0 eng  ""#,
        ),
        (r#"marc("LDR/5") = "d" | marc("LDR")"#, r#""00714dam a2200205 a 4500""#),
        (r#"marc("245$a/0") |= ascii_downcase | marc("245$a")"#, r#""zażółć /""#),
        (r#"del(marc("245$a/6-7")) | marc("245$a")"#, r#""Zażółć""#),
        (r#"del(marc("008/0-5")) | marc("008/0-6")"#, r#""s2003  ""#),
    ] {
        assert_eq!(run(code).unwrap(), wanted, "{code}");
    }
    for (code, wanted) in [
        (
            r#"marc("008/0-5") = "12345""#,
            "found 5 characters at position 0 of a MARC field, expected 6",
        ),
        (r#"marc("LDR/5") = """#, "found 0 characters at position 5 of a MARC field, expected 1"),
        (
            r#"marc("008/38-45") |= . + "x""#,
            "found 3 characters at position 38 of a MARC field, expected 2",
        ),
    ] {
        let error = run(code).unwrap_err();
        assert!(error.contains(wanted), "{code}: {error}");
    }
    let longer = run(r#"marc("245$a/0-5") = "Ż" | marc("245$a")"#).unwrap();
    assert_eq!(longer, r#""Ż /""#);
    let error = run(r#"marc("245^3")"#).unwrap_err();
    assert!(error.contains("found `3`"), "{error}");
}
