//! What is written, and what a line cannot hold.

use super::*;

/// Writes a record that is given in MARC-in-JSON with single quotes.
fn write_with(leader: &str, fields: &str, set: impl FnOnce(&mut Options)) -> Result<String> {
    let json = format!("{{'leader':'{leader}',{fields}}}").replace('\'', "\"");
    let mut options = Options::new(Format::MarcJson, Format::Mrk);
    set(&mut options);
    let written = convert_bytes(json.as_bytes(), &options)?;
    Ok(String::from_utf8(written).unwrap())
}

#[track_caller]
fn check_write(leader: &str, fields: &str, lines: &str) {
    let written = write_with(leader, &format!("'fields':[{fields}]"), |_| {}).unwrap();
    assert_eq!(written, format!("=LDR  {leader}\n{lines}\n\n"));
    // And back.
    let again = read_with(written.as_bytes(), |_| {}).unwrap();
    assert_eq!(fields_of(&again), fields);
}

#[test]
fn fields() {
    check_write(LEADER, "{'001':'a b'},{'008':' '}", "=001  a\\b\n=008  \\");
    check_write(LEADER, "{'001':''},{'FMT':'BK '}", "=001  \n=FMT  BK\\");
    check_write(
        LEADER,
        "{'245':{'ind1':' ','ind2':'0','subfields':[{'a':'A $1 {x} \\\\'},{'b':' é'}]}}",
        "=245  \\0$aA {dollar}1 {lcub}x{rcub} {bsol}$b é",
    );
    check_write(
        LEADER,
        "{'245':{'ind1':'$','ind2':'\\\\','subfields':[{'$':''},{'':''},{'=':'a\\nb\\r\u{7F}'}]}}",
        "=245  {dollar}{bsol}${dollar}$$=a{0A}b{0D}{7F}",
    );
    check_write(LEADER, "{'001':'\\u001b\\u001f'}", "=001  {esc}{1F}");
    check_write(LEADER, "{'   ':'= #'}", "=     =\\#");
}

#[test]
fn marc8_is_written_as_mnemonics() {
    check_write(BLANK, "{'001':'Ło\u{301}dz\u{301}'}", "=001  {Lstrok}{acute}od{acute}z");
    check_write(BLANK, "{'001':'Москва'}", "=001  {esc}(NmOSKWA{esc}(B");
    let refused = write_with(BLANK, "'fields':[{'001':'•'}]", |_| {}).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused);
    let wrapped = write_with(BLANK, "'fields':[{'001':'•'}]", |options| {
        options.on_loss = OnLoss::Wrap;
    });
    let wrapped = wrapped.unwrap();
    assert_eq!(wrapped, format!("=LDR  {BLANK}\n=001  &#x2022;\n\n"));
    let unwrap = |options: &mut Options| options.unwrap = true;
    assert_eq!(fields_of(&read_with(wrapped.as_bytes(), unwrap).unwrap()), "{'001':'•'}");
}

#[test]
fn the_charset_is_carried_or_refused() {
    let fields = "'charset':'utf-8','fields':[{'001':'é'}]";
    let written = write_with(BLANK, fields, |_| {}).unwrap();
    assert_eq!(written, format!("=LDR  {BLANK}\n=001  é\n\n"));
    assert!(read_with(written.as_bytes(), |_| {}).unwrap().contains("\"charset\":\"utf-8\""));

    let fields = "'charset':'marc-8','fields':[{'001':'e\u{301}'}]";
    let error = write_with(LEADER, fields, |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(
        error.message(),
        "found a record in MARC-8 whose leader declares UTF-8, which MARCMaker cannot hold"
    );
    let approximate = |options: &mut Options| options.on_loss = OnLoss::Approximate;
    assert!(write_with(LEADER, fields, approximate).unwrap().contains("e\u{301}"));
    let choice = |name: &'static str| {
        move |options: &mut Options| options.marc.write_charset = name.parse().unwrap()
    };
    let written = write_with(LEADER, fields, choice("marc8")).unwrap();
    assert_eq!(written, format!("=LDR  {BLANK}\n=001  é\n\n").replace('é', "{acute}e"));
    let written = write_with(BLANK, "'fields':[{'001':'•'}]", choice("utf8")).unwrap();
    assert_eq!(written, format!("=LDR  {LEADER}\n=001  •\n\n"));
}

#[test]
fn what_a_line_cannot_hold() {
    for (fields, message) in [
        ("{'LDR':'x'}", "found the field LDR, whose tag stands for the leader in MARCMaker"),
        ("{'000':'x'}", "found the field 000, whose tag stands for the leader in MARCMaker"),
        ("{'1':'x'}", "found the tag \"1\", expected three printable ASCII characters"),
        (
            "{'245':{'ind1':'12','ind2':'0','subfields':[]}}",
            "found the indicators \"12\" and \"0\" in 245, expected one character each",
        ),
        (
            "{'245':{'ind1':'1','ind2':'0','subfields':[{'a':'\\u001f'}]}}",
            "found the control character U+001F in 245, which is a delimiter in ISO 2709",
        ),
    ] {
        let error = write_with(LEADER, &format!("'fields':[{fields}]"), |_| {}).unwrap_err();
        assert_eq!(error.message(), message);
    }
}
