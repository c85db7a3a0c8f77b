//! What is written, and what a line cannot hold.

use super::*;
use crate::OnLoss;

/// Writes records that are given in MARC-in-JSON with single quotes.
fn write_with(records: &str, set: impl FnOnce(&mut Options)) -> Result<String> {
    let mut options = Options::new(Format::MarcJson, Format::AlephSeq);
    set(&mut options);
    let written = convert_bytes(records.replace('\'', "\"").as_bytes(), &options)?;
    Ok(String::from_utf8(written).unwrap())
}

fn record(fields: &str) -> String {
    format!("{{'leader':'{LEADER}','fields':[{fields}]}}\n")
}

/// Writes a record with a field 001.
fn write(field: &str, on_loss: OnLoss) -> Result<String> {
    let record = record(&format!("{{'001':'7'}},{field}"));
    let written = write_with(&record, |options| options.on_loss = on_loss)?;
    let begin = "000000007 LDR   L 00000nam^a2200000^i^4500\n000000007 001   L 7\n";
    Ok(written.strip_prefix(begin).unwrap().to_owned())
}

#[test]
fn fields() {
    for (field, line) in [
        ("{'008':'a  b'}", "000000007 008   L a^^b"),
        ("{'FMT':'BK '}", "000000007 FMT   L BK "),
        ("{'FMT':'10'}", "000000007 FMT   L 10"),
        (
            "{'245':{'ind1':' ','ind2':'4','subfields':[{'a':'$5 ^'},{'b':''},{'$':'é'}]}}",
            "000000007 245 4 L $$a$5 ^$$b$$$é",
        ),
        ("{'245':{'ind1':'A','ind2':'-','subfields':[]}}", "000000007 245A- L "),
    ] {
        let written = write(field, OnLoss::Refuse).unwrap();
        assert_eq!(written, format!("{line}\n"));
        check(&format!("000000007{}", &line[9..]), field);
    }
}

#[test]
fn records_have_different_numbers() {
    let numbers = |ids: &[&str]| -> Vec<String> {
        let records: String = ids.iter().map(|id| record(&format!("{{'001':'{id}'}}"))).collect();
        let written = write_with(&records, |_| {}).unwrap();
        written.lines().step_by(2).map(|line| line[..9].to_owned()).collect()
    };
    assert_eq!(numbers(&["123", "000000124", " 5 "]), ["000000123", "000000124", "000000005"]);
    assert_eq!(numbers(&["ocm1", "1234567890", "0"]), ["000000001", "000000002", "000000003"]);
    assert_eq!(
        numbers(&["2", "x", "3", "y"]),
        ["000000002", "000000003", "000000004", "000000005"]
    );
    assert_eq!(numbers(&["7", "7", "7"]), ["000000007", "000000002", "000000007"]);
    let error = write_with(&record("{'003':'x'}"), |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(error.message(), "found a record without 001, which Aleph sequential cannot hold");
    let approximate = |options: &mut Options| options.on_loss = OnLoss::Approximate;
    let written = write_with(&record("{'003':'x'}"), approximate).unwrap();
    assert!(written.starts_with("000000001 LDR"));
}

#[test]
fn what_a_line_cannot_hold() {
    let refused = |field: &str, message: &str, written: &str| {
        for on_loss in [OnLoss::Refuse, OnLoss::Wrap] {
            let error = write(field, on_loss).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Refused);
            assert_eq!(
                error.message(),
                format!("found {message}, which Aleph sequential cannot hold")
            );
        }
        assert_eq!(write(field, OnLoss::Approximate).unwrap(), format!("000000007 {written}\n"));
    };
    let data =
        |subfields: &str| format!("{{'245':{{'ind1':'1','ind2':'0','subfields':[{subfields}]}}}}");
    refused("{'008':'a^b c'}", "\"^\" in 008, where it stands for a blank", "008   L a^b^c");
    refused("{'008':'a\\nb'}", "a line end in 008", "008   L a^b");
    refused(&data("{'a':'x\\r\\ny'}"), "a line end in 245", "24510 L $$ax  y");
    let found = "dollar signs in 245 that would begin a subfield";
    refused(&data("{'a':'x$$$y'}"), found, "24510 L $$ax$ $ $y");
    refused(&data("{'a':'x$'},{'b':'y'}"), found, "24510 L $$ax$ $$by");
    for (field, message) in [
        (
            "{'LDR':'x'}".to_owned(),
            "found the field LDR, whose tag stands for the leader in Aleph sequential",
        ),
        (
            "{'FMT':''}".to_owned(),
            "found no text in FMT, expected some: it would be read as indicators",
        ),
        (data("{'':''}"), "found a subfield without a code in 245, expected a character"),
        (
            data("{'9':'^^'},{'a':'x'}"),
            "found \"^\" in the first subfield $9 of 245, which marks a field that continues another",
        ),
        (
            data("").replace("'1'", "''"),
            "found the indicators \"\" and \"0\" in 245, expected one printable ASCII character each",
        ),
    ] {
        assert_eq!(write(&field, OnLoss::Approximate).unwrap_err().message(), message);
    }
}

#[test]
fn the_leader_declares_the_charset() {
    let fields = "'charset':'utf-8','fields':[{'001':'1'},{'002':'é'}]";
    let record = format!("{{'leader':'00000nam  2200000 i 4500',{fields}}}");
    let error = write_with(&record, |_| {}).unwrap_err();
    assert_eq!(
        error.message(),
        "found a record in UTF-8 whose leader declares MARC-8, which Aleph sequential cannot hold"
    );
    let utf8 = |options: &mut Options| options.marc.write_charset = "utf8".parse().unwrap();
    assert!(write_with(&record, utf8).unwrap().contains("nam^a22"));
    let plain = record.replace('é', "e");
    assert!(write_with(&plain, |_| {}).unwrap().contains("nam^^22"));
}
