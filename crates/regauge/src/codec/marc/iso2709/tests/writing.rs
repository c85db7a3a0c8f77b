//! What is written, what is mended, and what cannot be.

use super::*;

#[test]
fn numbers_too_large_for_their_digits() {
    let options = Options { oversize: true, ..Options::default() };
    let mut long = Record::new();
    long.set_leader(UTF8);
    long.add_text("001", "id");
    long.add_data("500", " ", " ");
    long.add_subfield("a", &"x".repeat(9_995));
    let check_refused = |record: &Record, message: &str| {
        let error = write(record, &Options::default(), OnLoss::Refuse).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Refused, message));
    };
    let read_back = |bytes: &[u8]| {
        let mut builder =
            RecordBuilder::new(&Limits::default(), Fidelity::new(OnLoss::Refuse, Format::Marc));
        let mut reader = Reader::from_slice(Parser::default(), bytes);
        assert!(reader.next(&mut builder).unwrap());
        assert_eq!(builder.fidelity().count(), 0);
        builder.record().clone()
    };
    // One below, at, one above.
    for (more, length) in [(0, 10_000), (1, 10_001)] {
        let mut record = long.clone();
        if more > 0 {
            record.add_subfield("b", "");
            record.add_data("500", " ", " ");
        }
        check_refused(
            &record,
            &format!(
                "found field 500 of {} bytes, more than the ISO 2709 maximum of 9999",
                length + more
            ),
        );
        let (bytes, _) = write(&record, &options, OnLoss::Refuse).unwrap();
        assert!(bytes[36..].starts_with(b"500999900003"));
        assert_eq!(fields_of(&read_back(&bytes)), fields_of(&record));
    }
    let mut short = Record::new();
    short.set_leader(UTF8);
    short.add_data("500", " ", " ");
    short.add_subfield("a", &"x".repeat(9_994));
    let (bytes, _) = write(&short, &Options::default(), OnLoss::Refuse).unwrap();
    assert_eq!(fields_of(&read_back(&bytes)), fields_of(&short));

    // A record of 99,999 bytes fits, one of 100,000 does not.
    let sized = |last: usize| {
        let mut record = Record::new();
        record.set_leader(UTF8);
        for _ in 0..10 {
            record.add_text("009", &"x".repeat(9_000));
        }
        record.add_text("009", &"x".repeat(last));
        record
    };
    let frame = 24 + 11 * 12 + 1 + 10 * 9_001 + 1 + 1;
    let (bytes, _) = write(&sized(99_999 - frame), &Options::default(), OnLoss::Refuse).unwrap();
    assert_eq!(bytes.len(), 99_999);
    check_refused(
        &sized(100_000 - frame),
        "found a record of 100000 bytes, more than the ISO 2709 maximum of 99999",
    );
    let mut large = sized(5_000);
    (0..20).for_each(|_| large.add_text("009", &"y".repeat(8_000)));
    let (bytes, _) = write(&large, &options, OnLoss::Refuse).unwrap();
    assert!(bytes.starts_with(b"99999"));
    assert_eq!(fields_of(&read_back(&bytes)), fields_of(&large));
    // In a stream, the record after it is found.
    let got = read(&[bytes.as_slice(), &record(UTF8, &[("001", b"next")])].concat());
    assert_eq!((got.len(), got[1].as_str()), (2, "001=next"));
}

fn fields_of(record: &Record) -> String {
    shown(record)
}

#[test]
fn repair_goes_by_terminators() {
    let mut bytes = record(UTF8, &[("001", b"id"), ("245", b"10\x1Fax"), ("500", b"  \x1Fay")]);
    bytes[42] = b'9';
    let options = Options { repair: true, ..Options::default() };
    let got = read_with(&bytes, &options);
    assert_eq!(got.lines, ["001=id 245[1][0]$a=x 500[ ][ ]$a=y"]);
    assert_eq!(
        got.losses,
        ["a record whose directory is wrong (found the directory entry \"245000900003\", which \
          does not end at a field's terminator)"]
    );
}

#[test]
fn the_writer_refuses_what_would_not_come_back() {
    let check = |build: &dyn Fn(&mut Record), message: &str| {
        let mut record = Record::new();
        record.set_leader(UTF8);
        build(&mut record);
        let error: Error = write(&record, &Options::default(), OnLoss::Refuse).unwrap_err();
        assert_eq!(error.message(), message);
    };
    check(
        &|record| record.add_text("1", "x"),
        "found the tag \"1\", expected three printable ASCII characters",
    );
    check(
        &|record| record.add_data("001", " ", " "),
        "found indicators and subfields in 001, expected text: the fields 00X are control fields",
    );
    check(
        &|record| record.add_text("245", "10"),
        "found the text \"10\" in 245, which would be read back as two indicators, expected a data field without subfields",
    );
    check(
        &|record| record.add_text("245", "a\u{1F}b"),
        "found the control character U+001F in 245, which is a delimiter in ISO 2709",
    );
    check(
        &|record| record.add_text("001", "a\u{1E}b"),
        "found the control character U+001E in 001, which is a delimiter in ISO 2709",
    );
    check(
        &|record| {
            record.add_data("245", "1", "0");
            record.add_subfield("a", "x\u{1D}");
        },
        "found the control character U+001D in 245, which is a delimiter in ISO 2709",
    );
    check(
        &|record| {
            record.add_data("245", "1", "0");
            record.add_subfield("ab", "x");
        },
        "found the subfield code \"ab\" in 245, expected one character",
    );
    check(
        &|record| record.add_data("245", "B", "K"),
        "found the indicators \"B\" and \"K\" in 245, expected one character each",
    );
    check(
        &|record| {
            record.add_data("245", "", "0");
            record.add_subfield("a", "x");
        },
        "found the indicators \"\" and \"0\" in 245, expected one character each",
    );
    check(&|record| record.set_leader("short"), "found a leader of 5 characters, expected 24");
}

#[test]
fn what_marc8_has_no_code_for() {
    let mut record = Record::new();
    record.set_leader(MARC8);
    record.add_data("245", "1", "0");
    record.add_subfield("a", "a\u{2022}b");
    let error = write(&record, &Options::default(), OnLoss::Refuse).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert!(error.message().contains("U+2022") && error.message().contains("245 $a"), "{error}");
    let (bytes, fidelity) = write(&record, &Options::default(), OnLoss::Wrap).unwrap();
    assert!(bytes.ends_with(b"\x1Faa&#x2022;b\x1E\x1D"));
    assert_eq!(fidelity.count(), 0);
    let references = Options { references: true, ..Options::default() };
    assert_eq!(read_with(&bytes, &references).lines, ["245[1][0]$a=a\u{2022}b"]);
    assert_eq!(read(&bytes), ["245[1][0]$a=a&#x2022;b"]);
    let (_, fidelity) = write(&record, &Options::default(), OnLoss::Approximate).unwrap();
    assert_eq!(fidelity.count(), 1);
    // Or in UTF-8, with a leader that says so.
    let utf8 =
        Options { write_charset: CharsetChoice::Always(Charset::Utf8), ..Options::default() };
    let (bytes, _) = write(&record, &utf8, OnLoss::Refuse).unwrap();
    assert_eq!(bytes[9], b'a');
    assert_eq!(read(&bytes), ["245[1][0]$a=a\u{2022}b"]);
}

/// MARC-8 has é only as its accent and its letter: the same text to Unicode, and counted all the same.
#[test]
fn another_composition_is_counted() {
    let title = |text: &str| {
        let mut record = Record::new();
        record.set_leader(MARC8);
        record.add_data("245", "1", "0");
        record.add_subfield("a", text);
        record
    };
    for policy in [OnLoss::Refuse, OnLoss::Wrap, OnLoss::Approximate] {
        let (bytes, fidelity) = write(&title("Café ệ"), &Options::default(), policy).unwrap();
        let loss = &fidelity.losses()[0];
        assert_eq!((loss.kind, loss.count), (LossKind::Marc, 1));
        assert_eq!(read(&bytes), ["245[1][0]$a=Cafe\u{301} e\u{323}\u{302}"]);
        let same = title("Cafe\u{301} e\u{323}\u{302} ł");
        let (_, fidelity) = write(&same, &Options::default(), policy).unwrap();
        assert_eq!(fidelity.count(), 0);
    }
}
