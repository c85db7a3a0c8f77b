//! The rules of MARCMaker, table by table.

mod feeding;
mod oracles;
mod real;
mod writing;

use crate::convert::Input;
use crate::{ErrorKind, Format, OnLoss, Options, Result, StreamOutput, convert, convert_bytes};

const LEADER: &str = "00000nam a2200000   4500";
const BLANK: &str = "00000nam  2200000   4500";

/// Reads records, and returns them in MARC-in-JSON.
fn read_with(lines: &[u8], set: impl FnOnce(&mut Options)) -> Result<String> {
    let mut options = Options::new(Format::Mrk, Format::MarcJson);
    set(&mut options);
    let written = convert_bytes(lines, &options)?;
    Ok(String::from_utf8(written).unwrap())
}

/// Returns the fields of a record as they are in MARC-in-JSON, with single quotes.
fn fields_of(json: &str) -> String {
    let start = json.find("\"fields\":[").unwrap() + 10;
    json[start..json.rfind("]}").unwrap()].replace('"', "'")
}

#[track_caller]
fn check(leader: &str, lines: &str, fields: &str) {
    let text = format!("=LDR  {leader}\n{lines}\n");
    let json = read_with(text.as_bytes(), |_| {}).unwrap();
    assert_eq!(fields_of(&json), fields, "{lines}");
}

#[track_caller]
fn check_error(lines: &[u8], offset: u64, message: &str) {
    let error = read_with(lines, |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Syntax, "{error}");
    assert_eq!((error.offset(), error.message()), (Some(offset), message));
}

#[test]
fn a_record_is_a_leader_and_fields() {
    let lines = "=LDR  00714cam a2200205 a 4500\n=001  12883376\n=245  10$aTransformations\n\n";
    let json = concat!(
        r#"{"leader":"00714cam a2200205 a 4500","fields":[{"001":"12883376"},"#,
        r#"{"245":{"ind1":"1","ind2":"0","subfields":[{"a":"Transformations"}]}}]}"#,
        "\n"
    );
    assert_eq!(read_with(lines.as_bytes(), |_| {}).unwrap(), json);
    // The manual's tag, and backslashes.
    let lines =
        lines.replace("LDR", "000").replace("cam a2200205 a 4500", "cam\\a2200205\\a\\4500");
    assert_eq!(read_with(lines.as_bytes(), |_| {}).unwrap(), json);
    assert_eq!(read_with(lines.replace('\n', "\r\n").as_bytes(), |_| {}).unwrap(), json);
    assert_eq!(read_with(lines.trim_end().as_bytes(), |_| {}).unwrap(), json);
}

#[test]
fn fields() {
    check(LEADER, "=008  a\\\\b c", "{'008':'a  b c'}");
    check(LEADER, "=001  a$b", "{'001':'a$b'}");
    check(LEADER, "=001", "{'001':''}");
    check(LEADER, "=001 ", "{'001':''}");
    check(
        LEADER,
        "=245  \\4$aA \\ B$bc",
        "{'245':{'ind1':' ','ind2':'4','subfields':[{'a':'A \\\\ B'},{'b':'c'}]}}",
    );
    check(LEADER, "=500  \\\\", "{'500':{'ind1':' ','ind2':' ','subfields':[]}}");
    check(LEADER, "=FMT  BK", "{'FMT':'BK'}");
    check(LEADER, "=500  $a", "{'500':{'ind1':'','ind2':'','subfields':[{'a':''}]}}");
    check(LEADER, "=500  1\\2$ab", "{'500':{'ind1':'1','ind2':' 2','subfields':[{'a':'b'}]}}");
    // As two delimiters in ISO 2709.
    check(
        LEADER,
        "=500  11$$ab",
        "{'500':{'ind1':'1','ind2':'1','subfields':[{'':''},{'a':'b'}]}}",
    );
    check(LEADER, "=500  11$éb", "{'500':{'ind1':'1','ind2':'1','subfields':[{'é':'b'}]}}");
}

#[test]
fn lines_are_continued() {
    check(LEADER, "=001  ab\ncd", "{'001':'abcd'}");
    // The manual's example.
    check(
        LEADER,
        "=245  10$aA /$cB III\r\n ; with C.\r\n=001  1",
        "{'245':{'ind1':'1','ind2':'0','subfields':[{'a':'A /'},{'c':'B III ; with C.'}]}},{'001':'1'}",
    );
    check(LEADER, "=001  {lc\nub}", "{'001':'{'}");
}

#[test]
fn mnemonics_are_characters() {
    for leader in [LEADER, BLANK] {
        check(leader, "=001  {dollar}{lcub}{rcub}{bsol}{24}", "{'001':'${}\\\\$'}");
        check(leader, "=001  cafe{acute}", "{'001':'cafe\u{25CC}\u{301}'}");
        check(leader, "=001  caf{acute}e, {eacute}", "{'001':'cafe\u{301}, e\u{301}'}");
        check(leader, "=001  {llig}i{rlig}a", "{'001':'i\u{FE20}a\u{FE21}'}");
        check(leader, "=001  x{sup2}y", "{'001':'x²y'}");
        check(leader, "=001  a{0A}{09}{7F}b", "{'001':'a\\n\\t\u{7F}b'}");
        check(leader, "=001  {no name} {softsigns} {", "{'001':'{no name} {softsigns} {'}");
        check(
            leader,
            "=650  \\0$ax{Lstrok}{acute}od{acute}z{dollar}$b{pound}",
            "{'650':{'ind1':' ','ind2':'0','subfields':[{'a':'xŁo\u{301}dz\u{301}$'},{'b':'£'}]}}",
        );
    }
    // Escape sequences have a meaning in MARC-8 only.
    check(BLANK, "=001  {esc}(NmOSKWA{esc}(B", "{'001':'Москва'}");
    check(LEADER, "=001  {esc}(Nm", "{'001':'\\u001b(Nm'}");
    // A mark over a character that is not ASCII.
    check(LEADER, "=001  {acute}ж{acute}{breve}ё", "{'001':'ж\u{301}ё\u{301}\u{306}'}");
}

#[test]
fn the_charset_is_that_of_iso_2709() {
    let charset = |leader: &str, field: &[u8], choice: &str| {
        let lines = [b"=LDR  ", leader.as_bytes(), b"\n=001  ", field, b"\n"].concat();
        let json = read_with(&lines, |options| options.marc.charset = choice.parse().unwrap());
        json.map(|json| json.replace(leader, "").replace('"', "'"))
    };
    let plain = |text: &str| format!("{{'leader':'','fields':[{{'001':'{text}'}}]}}\n");
    let carried = |name: &str, text: &str| {
        plain(text).replace("'fields'", &format!("'charset':'{name}','fields'"))
    };
    for (leader, field, choice, found) in [
        (LEADER, "é".as_bytes(), "auto", plain("é")),
        (BLANK, "é".as_bytes(), "auto", carried("utf-8", "é")),
        (BLANK, &b"\xE2e"[..], "auto", plain("e\u{301}")),
        (BLANK, &b"{acute}e"[..], "auto", plain("e\u{301}")),
        (BLANK, &b"{acute}e"[..], "utf8", carried("utf-8", "e\u{301}")),
        (LEADER, &b"{acute}e"[..], "marc8", carried("marc-8", "e\u{301}")),
        (LEADER, &b"e"[..], "marc8", plain("e")),
        (BLANK, &b"e"[..], "utf8", plain("e")),
    ] {
        assert_eq!(charset(leader, field, choice).unwrap(), found, "{field:?} {choice}");
    }
    let error = charset(LEADER, b"\xE9", "auto").unwrap_err();
    assert_eq!(error.message(), "found byte 0xE9, expected UTF-8 (leader/09 is \"a\")");
    assert_eq!(error.offset(), Some(6 + 24 + 1 + 6));
    let error = charset(BLANK, b"\xE9", "utf8").unwrap_err();
    assert_eq!(error.message(), "found byte 0xE9, expected UTF-8 (as requested)");
    // Comments are not part of it.
    let lines = format!("=LDR  {BLANK}\n# é\n=001  {{acute}}e\n");
    assert!(!read_with(lines.as_bytes(), |_| {}).unwrap().contains("charset"));
}

#[test]
fn records_end_at_a_blank_line_or_a_leader() {
    let two = |between: &str| {
        let lines = format!("\n=LDR  {LEADER}\n=001  1\n{between}=LDR  {LEADER}\n=001  2\n\x1A\n");
        read_with(lines.as_bytes(), |_| {}).unwrap().lines().count()
    };
    for between in ["", "\n", "\r\n", " \n\n\t\n", "\u{FEFF}\n", "\n# one\n\n# two\n"] {
        assert_eq!(two(between), 2, "{between:?}");
    }
    for nothing in ["", "\n\n", "\u{FEFF}", "# only\n# comments", "\r\n\x1A"] {
        assert_eq!(read_with(nothing.as_bytes(), |_| {}).unwrap(), "", "{nothing:?}");
    }
}

#[test]
fn what_is_wrong() {
    check_error(b"=001  1\n", 0, "found \"=001  1\", expected =LDR, which begins a record");
    let lines = format!("=LDR  {LEADER}\n=001 x\n");
    let expected =
        ", expected an equals sign, a tag of three printable ASCII characters and two blanks";
    check_error(lines.as_bytes(), 31, &format!("found \"=001 x\"{expected}"));
    let lines = format!("=LDR  {LEADER}\n=2\n");
    check_error(lines.as_bytes(), 31, &format!("found \"=2\"{expected}"));
    let lines = format!("=LDR  {LEADER}\n=245  10$aThe {{zilch}}\n");
    check_error(
        lines.as_bytes(),
        31 + 14,
        "found {zilch} in 245, expected a mnemonic of the Library of Congress's tables",
    );
    let lines = format!("=LDR  {LEADER}\n=245  10$a{{C7}}{{FF}}\n");
    check_error(
        lines.as_bytes(),
        31 + 14,
        "found byte 0xFF in 245 (MARC-8), expected a character of the set Extended Latin",
    );
    let lines = format!("=LDR  {LEADER}\n=245  10$a{{rs}}\n");
    check_error(
        lines.as_bytes(),
        31 + 6,
        "found the control character U+001E in 245, expected none that ends a field or a record in \
         ISO 2709",
    );
}

#[test]
fn what_is_lost_is_counted() {
    let mut options = Options::new(Format::Mrk, Format::MarcJson);
    options.on_loss = OnLoss::Approximate;
    let lines = format!("# a\n=LDR  {LEADER}\n# b\n=001  {{zilch}}\n\n# c\n");
    let mut text = Vec::new();
    let (input, output) = (Input::Bytes(lines.as_bytes()), StreamOutput::new(&mut text));
    let summary = convert(input, output, &options, &mut |_| Ok(())).unwrap();
    assert_eq!(fields_of(std::str::from_utf8(&text).unwrap()), "{'001':'{zilch}'}");
    assert_eq!(summary.fidelity.count(), 4);
}

#[test]
fn a_broken_record_does_not_take_the_next_one() {
    let mut options = Options::new(Format::Mrk, Format::MarcJson);
    options.skip_bad = true;
    for broken in
        ["=24", "=001  1\n=001 x\nand more\n", "text\n", "=LDR  x\n=001  {zilch}\n=002  2\n"]
    {
        for between in ["\n", "\n\n", ""] {
            if between.is_empty() && !broken.ends_with('\n') {
                continue;
            }
            let good = format!("=LDR  {LEADER}\n=001  good\n");
            let lines = format!("{good}\n# one\n{broken}{between}{good}");
            let text =
                String::from_utf8(convert_bytes(lines.as_bytes(), &options).unwrap()).unwrap();
            assert_eq!(text.lines().count(), 2, "{lines}");
        }
    }
}

#[test]
fn a_record_is_bounded() {
    let record = |length: usize| format!("=LDR  {LEADER}\n=001  {}\n", "x".repeat(length));
    let read = |lines: &str| {
        let limit = |options: &mut Options| options.limits.record_bytes = 1000;
        read_with(lines.as_bytes(), limit)
    };
    assert!(read(&record(900)).is_ok());
    let error = read(&record(1000)).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Limit, Some(0)));
    let subfields = format!("=LDR  {LEADER}\n=500  11{}\n", "$".repeat(100));
    assert_eq!(read(&subfields).unwrap_err().kind(), ErrorKind::Limit);
}
