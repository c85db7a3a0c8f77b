//! The rules of ISO 2709, table by table.

use super::{Parser, Reader, Writer};
use crate::bytes::buffer::Out;
use crate::codec::marc::{Charset, CharsetChoice};
use crate::codec::marc::{Field, Record, RecordBuilder};
use crate::codec::marc::{Options, leader};
use crate::policy::event::forward;
use crate::policy::event::recorder::Pieces;
use crate::policy::fidelity::LossKind;
use crate::{
    Error, ErrorKind, Fidelity, Format, Limits, OnLoss, Result, Sink, Source, Writer as _,
};

mod broken;
mod writing;

const MARC8: &str = "00000nam  2200000   4500";
const UTF8: &str = "00000nam a2200000   4500";

/// Returns the bytes of a record with correct numbers.
fn record(leader: &str, fields: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut directory, mut data) = (Vec::new(), Vec::new());
    for (tag, content) in fields {
        let entry = format!("{tag}{:04}{:05}", content.len() + 1, data.len());
        directory.extend_from_slice(entry.as_bytes());
        data.extend_from_slice(content);
        data.push(0x1E);
    }
    let mut bytes = leader.as_bytes().to_vec();
    let base = 24 + directory.len() + 1;
    leader::write_number(&mut bytes[..5], base + data.len() + 1);
    leader::write_number(&mut bytes[12..17], base);
    bytes.extend_from_slice(&directory);
    bytes.push(0x1E);
    bytes.extend_from_slice(&data);
    bytes.push(0x1D);
    bytes
}

/// Formats a record on one line, without its leader: `001=id 245[1][0]$a=Title`.
fn shown(record: &Record) -> String {
    let mut text = String::new();
    if let Some(charset) = record.charset_key() {
        text += &format!("({}) ", charset.name());
    }
    for field in record.fields() {
        match field {
            Field::Text { tag, text: content } => text += &format!("{tag}={content} "),
            Field::Data { tag, ind1, ind2, subfields } => {
                text += &format!("{tag}[{ind1}][{ind2}]");
                for (code, value) in subfields {
                    text += &format!("${code}={value}");
                }
                text += " ";
            }
        }
    }
    text.trim_end_matches(' ').to_owned()
}

struct Got {
    /// Records and the messages of broken ones, in order.
    lines: Vec<String>,
    losses: Vec<String>,
}

/// Passes on the events, so that no record is filled in at once.
struct Events<'a> {
    inner: &'a mut RecordBuilder,
}

impl Sink for Events<'_> {
    forward!(null bool i64 u64 f64 f32 str bytes big_int ext begin_array end_array);
    forward!(begin_map key key_value end_map text_pair fidelity);
}

fn read_all(reader: Reader<'_>) -> Got {
    read_by(reader, |reader, builder| reader.next(builder))
}

fn read_by<'a>(
    mut reader: Reader<'a>,
    next: impl Fn(&mut Reader<'a>, &mut RecordBuilder) -> crate::Result<bool>,
) -> Got {
    reader.keep_records(true);
    let fidelity = Fidelity::new(OnLoss::Refuse, Format::Json);
    let mut builder = RecordBuilder::new(&Limits::default(), fidelity);
    let mut lines = Vec::new();
    loop {
        match next(&mut reader, &mut builder) {
            Ok(true) => lines.push(shown(builder.record())),
            Ok(false) => break,
            Err(error) => match reader.skip_bad(error) {
                Ok(bad) => {
                    builder.reset();
                    lines.push(format!("bad ({} bytes) {}", bad.bytes.len(), bad.error));
                }
                Err(error) => {
                    lines.push(format!("end {error}"));
                    break;
                }
            },
        }
    }
    let losses = builder.fidelity().losses().iter().flat_map(|loss| &loss.examples);
    Got { lines, losses: losses.map(|example| example.found.clone()).collect() }
}

/// Reads whole, byte by byte, and through the events; all results must be the same.
fn read_with(bytes: &[u8], options: &Options) -> Got {
    let parser = || Parser::new(options.clone(), Limits::default());
    let whole = read_all(Reader::from_slice(parser(), bytes));
    let pieces = read_all(Reader::from_read(parser(), Pieces(bytes, 1)));
    assert_eq!(whole.lines, pieces.lines);
    assert_eq!(whole.losses, pieces.losses);
    let events = read_by(Reader::from_slice(parser(), bytes), |reader, builder| {
        reader.next(&mut Events { inner: builder })
    });
    assert_eq!(whole.lines, events.lines);
    assert_eq!(whole.losses, events.losses);
    whole
}

fn read(bytes: &[u8]) -> Vec<String> {
    read_with(bytes, &Options::default()).lines
}

fn write(record: &Record, options: &Options, on_loss: OnLoss) -> Result<(Vec<u8>, Fidelity)> {
    let fidelity = Fidelity::new(on_loss, Format::Marc);
    let mut writer = Writer::new(Out::in_memory(), options.clone(), fidelity);
    record.drive(&mut writer)?;
    writer.end_document()?;
    writer.finish()?;
    let fidelity = writer.fidelity().clone();
    Ok((writer.into_out().into_vec(), fidelity))
}

/// Checks that the record is read as `expected` and written back as the same bytes.
fn check(leader: &str, fields: &[(&str, &[u8])], expected: &str) {
    let bytes = record(leader, fields);
    let got = read_with(&bytes, &Options::default());
    assert_eq!(got.lines, [expected]);
    assert_eq!(got.losses, [""; 0]);
    let mut reader = Reader::from_slice(Parser::default(), &bytes);
    let mut writer = Writer::new(
        Out::in_memory(),
        Options::default(),
        Fidelity::new(OnLoss::Refuse, Format::Marc),
    );
    reader.next(&mut writer).unwrap();
    writer.end_document().unwrap();
    let back = writer.into_out().into_vec();
    assert_eq!(back.escape_ascii().to_string(), bytes.escape_ascii().to_string(), "{expected}");
    check_whole(&bytes);
}

/// Checks that the one record is written back as the same bytes: from its own bytes, from its parts
/// and, after a change of its leader, from its events.
fn check_whole(bytes: &[u8]) {
    let mut reader = Reader::from_slice(Parser::default(), bytes);
    let mut builder =
        RecordBuilder::new(&Limits::default(), Fidelity::new(OnLoss::Refuse, Format::Marc));
    assert!(reader.next(&mut builder).unwrap());
    let mut record = builder.take();
    let by = |record: &Record| {
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Marc);
        let mut writer = Writer::new(Out::in_memory(), Options::default(), fidelity);
        writer.record(record).map(|()| writer.into_out().into_vec().escape_ascii().to_string())
    };
    let by_events = |record: &Record| {
        let written = write(record, &Options::default(), OnLoss::Refuse);
        written.map(|(bytes, _)| bytes.escape_ascii().to_string())
    };
    assert_eq!(by(&record).unwrap(), bytes.escape_ascii().to_string());
    let mut parts = Record::new();
    parts.clone_from(&record);
    parts.is_verbatim_from(u32::MAX);
    assert!(parts.verbatim().is_none());
    assert_eq!(by(&parts).unwrap(), bytes.escape_ascii().to_string());
    for leader in [MARC8, UTF8, "short", "00000nam a22\u{e9}0000   4500"] {
        record.set_leader(leader);
        match (by(&record), by_events(&record)) {
            (Ok(whole), Ok(events)) => assert_eq!(whole, events),
            (whole, events) => {
                assert_eq!(whole.unwrap_err().to_string(), events.unwrap_err().to_string());
            }
        }
    }
    record.add_text("999", "more");
    assert!(record.verbatim().is_none());
    assert_eq!(by(&record).is_ok(), by_events(&record).is_ok());
}

#[test]
fn records_keep_their_bytes_where_a_writer_would_write_the_same() {
    let is_kept = |bytes: &[u8]| {
        let mut reader = Reader::from_slice(Parser::default(), bytes);
        let mut builder =
            RecordBuilder::new(&Limits::default(), Fidelity::new(OnLoss::Refuse, Format::Marc));
        assert!(reader.next(&mut builder).unwrap());
        builder.record().verbatim().is_some()
    };
    let usual: &[(&str, &[u8])] = &[("001", b"id"), ("245", b"10\x1FaTitle\x1Fb")];
    assert!(is_kept(&record(UTF8, usual)));
    assert!(is_kept(&record(MARC8, usual)));
    // Decoded MARC-8; a different order of the directory; an unusual field.
    assert!(!is_kept(&record(MARC8, &[("245", b"10\x1Fa\xE1a")])));
    let mut wrong = record(UTF8, usual);
    wrong[24..48].rotate_left(12);
    assert!(!is_kept(&wrong));
    for content in [&b"1\x1Fax"[..], b"\x1Fax", b"text", b"\xC3\xA9\x1Fax"] {
        assert!(!is_kept(&record(UTF8, &[("245", content)])), "{}", content.escape_ascii());
    }
    assert!(!is_kept(&record(UTF8, &[("001", b"a\x1Fb")])));
}

#[test]
fn every_shape_of_field_goes_both_ways() {
    check(UTF8, &[], "");
    check(UTF8, &[("001", b"id"), ("008", b"")], "001=id 008=");
    check(UTF8, &[("245", b"10\x1FaTitle /\x1FcName")], "245[1][0]$a=Title /$c=Name");
    check(UTF8, &[("245", b"  \x1Fa\x1Fb\x1F\x1F")], "245[ ][ ]$a=$b=$=$=");
    check(UTF8, &[("245", b"10")], "245[1][0]");
    check(UTF8, &[("245", b"\x1Fax")], "245[][]$a=x");
    check(UTF8, &[("245", b"1\x1Fax")], "245[1][]$a=x");
    check(UTF8, &[("245", b"1 \\\x1Fax")], "245[1][ \\]$a=x");
    check(UTF8, &[("245", "é\u{1F}éx".as_bytes())], "245[é][]$é=x");
    check(UTF8, &[("FMT", b"BK"), ("FMT", b""), ("CAT", b"1")], "FMT=BK FMT= CAT=1");
    check(UTF8, &[("007", b"\x1Fav\x1Fbf")], "007=\u{1F}av\u{1F}bf");
    check(UTF8, &[("0A1", b"x"), ("   ", b"  \x1Fax")], "0A1=x    [ ][ ]$a=x");
    check(UTF8, &[("245", b"10\x1Fa\x01\t\r\n")], "245[1][0]$a=\u{1}\t\r\n");
    check("00000nam a11000000004\u{1}0 ", &[("001", b"x")], "001=x");
}

#[test]
fn the_charset_is_what_the_record_says_unless_it_lies() {
    let title = |bytes: &[u8]| [b"10\x1Fa", bytes].concat();
    check(UTF8, &[("245", &title("é".as_bytes()))], "245[1][0]$a=é");
    check(MARC8, &[("245", &title(b"\xE2e"))], "245[1][0]$a=e\u{301}");
    check(
        MARC8,
        &[("245", &title(b"\x1B(NmOSKWA\x1B(B")), ("500", b"  \x1Fa\xC3")],
        "245[1][0]$a=Москва 500[ ][ ]$a=©",
    );
    check(MARC8, &[("245", &title(b"plain"))], "245[1][0]$a=plain");
    // UTF-8 with a blank leader/09.
    check(MARC8, &[("245", &title("é".as_bytes()))], "(utf-8) 245[1][0]$a=é");
    // UNIMARC declares its charset in 100$a.
    check(
        "00000nam0 2200000   450 ",
        &[
            ("100", b"  \x1Fa20000101d2000    u  y0frey50      ba"),
            ("200", "1 \x1Faété".as_bytes()),
        ],
        "(utf-8) 100[ ][ ]$a=20000101d2000    u  y0frey50      ba 200[1][ ]$a=été",
    );
    // An escape sequence means MARC-8, whatever else there is.
    check(
        MARC8,
        &[("245", &title(b"\x1B(Nm\x1B(B")), ("246", &title(b"\xC3\xA9"))],
        "245[1][0]$a=М 246[1][0]$a=©\u{266D}",
    );
}

#[test]
fn a_forced_charset_is_carried() {
    let marc8 = Options { charset: CharsetChoice::Always(Charset::Marc8), ..Options::default() };
    let utf8 = Options { charset: CharsetChoice::Always(Charset::Utf8), ..Options::default() };
    let lying = record(UTF8, &[("245", b"10\x1Fa\xE2e")]);
    assert_eq!(read_with(&lying, &marc8).lines, ["(marc-8) 245[1][0]$a=e\u{301}"]);
    let right = record(MARC8, &[("245", b"10\x1Fa\xE2e")]);
    assert_eq!(read_with(&right, &marc8).lines, ["245[1][0]$a=e\u{301}"]);
    assert_eq!(
        read_with(&right, &utf8).lines,
        ["bad (45 bytes) marc: record 1, byte 41: found byte 0xE2 in 245 $a, expected UTF-8 \
          (as requested); set `marc.charset` to `Auto` to use leader/09"]
    );
    // And it round-trips to the same bytes.
    let mut carried = Record::new();
    carried.set_leader(UTF8);
    carried.set_charset(Some(Charset::Marc8));
    carried.add_data("245", "1", "0");
    carried.add_subfield("a", "e\u{301}");
    let (bytes, _) = write(&carried, &Options::default(), OnLoss::Refuse).unwrap();
    assert_eq!(bytes, lying);
}

#[test]
fn wrong_numbers_are_read_where_they_leave_no_doubt() {
    let good = record(UTF8, &[("001", b"id"), ("245", b"10\x1Fax")]);
    let read = |bytes: &[u8]| {
        let got = read_with(bytes, &Options::default());
        assert_eq!(got.lines, ["001=id 245[1][0]$a=x"]);
        got.losses
    };
    assert_eq!(read(&good), [""; 0]);
    for length in ["00050", "99999", "00000"] {
        let mut bytes = good.clone();
        bytes[..5].copy_from_slice(length.as_bytes());
        let stated: usize = length.parse().unwrap();
        let expected = format!("a record of {} bytes whose leader says {stated}", good.len());
        assert_eq!(read(&bytes), [expected]);
    }
    // The data in a different order from the directory.
    let mut bytes = record(UTF8, &[("245", b"10\x1Fax"), ("001", b"id")]);
    let (head, tail) = bytes[24..48].split_at_mut(12);
    head.swap_with_slice(tail);
    assert_eq!(read(&bytes), ["a directory in a different order from the data"]);
    // Bytes that no entry names.
    let mut bytes = record(UTF8, &[("001", b"id"), ("245", b"10\x1Fax"), ("999", b"gone")]);
    bytes.drain(48..60);
    let length = bytes.len();
    leader::write_number(&mut bytes[..5], length);
    leader::write_number(&mut bytes[12..17], 49);
    assert_eq!(read(&bytes), ["5 bytes that no directory entry names"]);
}

#[test]
fn a_field_does_not_begin_inside_of_a_character() {
    let mut bytes = record(UTF8, &[("500", "éx".as_bytes()), ("001", b"id")]);
    // The first entry begins at the second byte of the é.
    bytes[24..36].copy_from_slice(b"500000300001");
    assert_eq!(
        read(&bytes),
        [
            "bad (57 bytes) marc: record 1 (001 id), byte 50: found byte 0xA9 in 500, expected UTF-8 \
          (leader/09 is \"a\"); set `marc.charset` to `Marc8` if the leader is wrong and the record is in \
          MARC-8"
        ]
    );
}
