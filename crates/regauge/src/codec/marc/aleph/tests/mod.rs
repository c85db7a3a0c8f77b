//! The rules of Aleph sequential, table by table.

mod feeding;
mod writing;

use crate::convert::Input;
use crate::{ErrorKind, Format, Options, Result, StreamOutput, convert, convert_bytes};

const LEADER: &str = "00000nam a2200000 i 4500";
const BEGIN: &str = "000000007 LDR   L 00000nam^a2200000^i^4500\n000000007 001   L 000000007\n";

/// Reads records, and returns them in MARC-in-JSON, and what was lost.
fn read(lines: &[u8]) -> Result<(String, Vec<String>)> {
    let options = Options::new(Format::AlephSeq, Format::MarcJson);
    let mut text = Vec::new();
    let output = StreamOutput::new(&mut text);
    let summary = convert(Input::Bytes(lines), output, &options, &mut |_| Ok(()))?;
    let losses = summary.fidelity.losses().iter().flat_map(|loss| &loss.examples);
    let losses = losses.map(|one| one.found.clone()).collect();
    Ok((String::from_utf8(text).unwrap(), losses))
}

/// Returns the fields of a record as they are in MARC-in-JSON, with single quotes.
fn fields_of(json: &str) -> String {
    let start = json.find("\"fields\":[").unwrap() + 10;
    json[start..json.rfind("]}").unwrap()].replace('"', "'")
}

/// Checks the fields after 001.
#[track_caller]
fn check(lines: &str, fields: &str) {
    let (json, losses) = read(format!("{BEGIN}{lines}").as_bytes()).unwrap();
    let found = fields_of(&json);
    assert_eq!(found.strip_prefix("{'001':'000000007'},"), Some(fields));
    assert!(losses.is_empty(), "{losses:?}");
}

#[track_caller]
fn check_error(lines: &str, offset: usize, message: &str) {
    let error = read(format!("{BEGIN}{lines}").as_bytes()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Syntax, "{error}");
    let offset = (BEGIN.len() + offset) as u64;
    assert_eq!((error.message(), error.offset()), (message, Some(offset)));
}

#[test]
fn fields() {
    let (json, _) = read(BEGIN.as_bytes()).unwrap();
    let expected = format!("{{\"leader\":\"{LEADER}\",\"fields\":[{{\"001\":\"000000007\"}}]}}\n");
    assert_eq!(json, expected);
    assert_eq!(read(BEGIN.replace('\n', "\r\n").as_bytes()).unwrap().0, expected);
    check("000000007 008   L a^^b c", "{'008':'a  b c'}");
    check("000000007 008   L", "{'008':''}");
    check("000000007 FMT   L BK^", "{'FMT':'BK^'}");
    check(
        "000000007 24514 L $$aA $5 ^$$b$$cé",
        "{'245':{'ind1':'1','ind2':'4','subfields':[{'a':'A $5 ^'},{'b':''},{'c':'é'}]}}",
    );
    check("000000007 650 0 L $$ax$", "{'650':{'ind1':' ','ind2':'0','subfields':[{'a':'x$'}]}}");
    check("000000007 650 0 L $$$x", "{'650':{'ind1':' ','ind2':'0','subfields':[{'$':'x'}]}}");
    check("000000007 650 0 L ", "{'650':{'ind1':' ','ind2':'0','subfields':[]}}");
    check("000000007 650   L", "{'650':{'ind1':' ','ind2':' ','subfields':[]}}");
    check("\n000000007 005   L $$a1\n\n", "{'005':'$$a1'}");
    check("000000007 Z30-1 L $$a1", "{'Z30':{'ind1':'-','ind2':'1','subfields':[{'a':'1'}]}}");
}

#[test]
fn lines_are_continued() {
    let field =
        |subfields: &str| format!("{{'505':{{'ind1':'0','ind2':' ','subfields':[{subfields}]}}}}");
    let line = |content: &str| format!("000000007 5050  L {content}\n");
    for (contents, subfields) in [
        (&["$$aOne --^", "$$9^^$$atwo"][..], "{'a':'One -- two'}"),
        (&["$$aOne", "$$9^^$$atwo"][..], "{'a':'Onetwo'}"),
        (&["$$aOne^", "$$9^$$bTwo"][..], "{'a':'One^'},{'b':'Two'}"),
        (&["$$aOne", "$$9^$$bTwo^", "$$9^^$$b^", "$$9^^$$bx"][..], "{'a':'One'},{'b':'Two  x'}"),
        (
            &["$$aOne", "$$9^x"][..],
            "{'a':'One'}]}},{'505':{'ind1':'0','ind2':' ','subfields':[{'9':'^x'}",
        ),
    ] {
        let lines: String = contents.iter().map(|content| line(content)).collect();
        check(&lines, &field(subfields));
    }
    // Without the line that they continue.
    for (content, subfields) in [("$$9^^$$aText", "{'a':'Text'}"), ("$$9^$$aText", "{'a':'Text'}")]
    {
        let lines = format!("{BEGIN}{}", line(content));
        let (json, losses) = read(lines.as_bytes()).unwrap();
        assert!(fields_of(&json).ends_with(&field(subfields)), "{json}");
        assert_eq!(losses, ["a mark that 505 continues a field before it"]);
    }
    let lines = line("$$aOne") + &line("$$9^^$$btwo");
    check_error(
        &lines,
        0,
        "found more of $b in 505, expected more of $a, which is the last subfield",
    );
}

#[test]
fn what_is_lost_is_counted() {
    for (lines, losses) in [
        ("000000001 LDR   L x\n000000001 24510 L $$aT\n", &["a record without 001"][..]),
        (
            "000000001 LDR   L x\n000000001 001   L ocm1\n",
            &["the system number 000000001, which is not in field 001"][..],
        ),
        ("000000001 LDR   L x\n000000001 001   L 1 \n", &[][..]),
        ("000000001 001   L 1\n", &["a record without a leader"][..]),
        (
            "000000001 LDR   L x\n000000001 001   L 1\n000000001 24510 H $$aT\n",
            &["the alphabet code H of 245"][..],
        ),
    ] {
        assert_eq!(read(lines.as_bytes()).unwrap().1, losses);
    }
    let (json, _) = read(b"000000001 LDR   L x\n000000001 24510 L $$aT\n").unwrap();
    assert!(fields_of(&json).starts_with("{'001':'000000001'},{'245'"), "{json}");
}

#[test]
fn what_is_wrong() {
    check_error(
        "and more\n",
        0,
        "found \"and more\", expected a line that begins with the nine digits of a system number and a blank",
    );
    let columns = ", expected a tag and indicators in five printable ASCII characters, and the alphabet code \
                   between two blanks";
    check_error("000000007 245", 0, &format!("found \"000000007 245\"{columns}"));
    check_error("000000007 2451 L $$ax", 0, &format!("found \"000000007 2451 L $$a…\"{columns}"));
    check_error(
        "000000007 008 1 L x",
        0,
        "found indicators in 008, expected two blanks: it has no subfields",
    );
    check_error(
        "000000007 24510 L x",
        0,
        "found \"x\" in 245, expected $$ and the code of a subfield",
    );
    check_error(
        "000000007 245   L x$$ay",
        0,
        "found \"x$$ay\" in 245, expected $$ and the code of a subfield",
    );
    check_error(
        "000000007 24510 L $$ax$$",
        0,
        "found $$ at the end of 245, expected the code of a subfield",
    );
    check_error("000000007 LDR   L x", 0, "found a second LDR in a record, expected one");
    check_error(
        "000000007 24510 L $$aa\rb",
        0,
        "found the control character U+000D in 245, expected none that ends a line, or a field in ISO 2709",
    );
    let error = read(b"000000001 24510 L $$a\xE9\n").unwrap_err();
    assert_eq!((error.message(), error.offset()), ("found byte 0xE9, expected UTF-8", Some(21)));
}

#[test]
fn a_broken_record_does_not_take_the_next_one() {
    let mut options = Options::new(Format::AlephSeq, Format::MarcJson);
    options.skip_bad = true;
    let good = BEGIN.replace("007 ", "008 ");
    for broken in ["x\n", "000000009 2\n", "000000009 24510 L x\n000000009 001   L 9\n"] {
        let lines = format!("{BEGIN}{broken}{good}");
        let text = convert_bytes(lines.as_bytes(), &options).unwrap();
        let count = text.iter().filter(|byte| **byte == b'\n').count();
        // A line without a number belongs to the record before it.
        assert_eq!(count, if broken == "x\n" { 1 } else { 2 }, "{lines}");
    }
}

#[test]
fn a_record_is_bounded() {
    let mut options = Options::new(Format::AlephSeq, Format::MarcJson);
    options.limits.record_bytes = 1000;
    for content in ["x".repeat(1000), "$$a".repeat(60)] {
        let lines = format!("{BEGIN}000000007 24510 L $$a{content}\n");
        let error = convert_bytes(lines.as_bytes(), &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
    }
}
