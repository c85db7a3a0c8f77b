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

/// Writes a record with this text in 245 $a, and reads it back.
fn there_and_back(leader: &str, charset: Option<Charset>, text: &str) -> Result<String> {
    let mut record = Record::new();
    record.set_leader(leader);
    record.set_charset(charset);
    record.add_text("001", "1");
    record.add_data("245", "1", "0");
    record.add_subfield("a", text);
    record.add_data("500", " ", " ");
    record.add_subfield("a", "plain");
    let (bytes, _) = write(&record, &Options::default(), OnLoss::Refuse)?;
    let read = read(&bytes);
    assert_eq!(read.len(), 1, "{text}: {read:?}");
    Ok(read[0].clone())
}

#[test]
fn marc8_that_would_be_taken_for_utf8_says_what_it_is() {
    for text in ["€£100 a week", "©♭", "¿Øystein", "Øre ¿Ø"] {
        let read = there_and_back(MARC8, None, text).unwrap();
        assert_eq!(read, format!("001=1 245[1][0]$a={text} 500[ ][ ]$a=plain"));
    }
    // The bytes themselves, with the escape sequence that a reader needs and another one does not mind.
    let bytes = record(MARC8, &[("245", b"10\x1Fa\xC5\xA2ystein?\x1B(B")]);
    let mut builder =
        RecordBuilder::new(&Limits::default(), Fidelity::new(OnLoss::Refuse, Format::Marc));
    assert!(Reader::from_slice(Parser::default(), &bytes).next(&mut builder).unwrap());
    let (again, _) = write(builder.record(), &Options::default(), OnLoss::Refuse).unwrap();
    assert_eq!(again.escape_ascii().to_string(), bytes.escape_ascii().to_string());
}

#[test]
fn a_charset_that_a_reader_would_not_find_is_refused() {
    for (leader, charset, text, told) in [
        (MARC8, Charset::Utf8, "é\u{1B}(Nv", "in UTF-8 whose leader declares MARC-8"),
        (MARC8, Charset::Utf8, "a\u{1B}(Nv", "found U+001B in 245 $a (MARC-8)"),
        (UTF8, Charset::Marc8, "Ж", "in MARC-8 whose leader declares UTF-8"),
        (UTF8, Charset::Marc8, "©♭", "in MARC-8 whose leader declares UTF-8"),
    ] {
        let error = there_and_back(leader, Some(charset), text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{text}");
        assert!(error.to_string().contains(told), "{text}: {error}");
    }
    assert!(there_and_back(MARC8, Some(Charset::Utf8), "é").unwrap().contains('é'));
    assert!(there_and_back(MARC8, Some(Charset::Utf8), "e").unwrap().contains('e'));
}

#[test]
fn a_letter_that_marc8_takes_apart_is_no_code() {
    for (ind1, code) in [("1", "é"), ("é", "a")] {
        let mut record = Record::new();
        record.set_leader(MARC8);
        record.add_data("245", ind1, "0");
        record.add_subfield(code, "x");
        let error = write(&record, &Options::default(), OnLoss::Refuse).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.to_string().contains("only as a letter and a mark"), "{error}");
    }
    // What is one character there stays one.
    let mut record = Record::new();
    record.set_leader(MARC8);
    record.add_data("245", "£", "0");
    record.add_subfield("©", "x");
    let (bytes, _) = write(&record, &Options::default(), OnLoss::Refuse).unwrap();
    assert!(read(&bytes)[0].contains('©'), "{:?}", read(&bytes));
}
