//! Every real record, through every other format and back: which come back byte for byte.
//!
//! The records are not part of the repository; `make data` downloads them. `marc_exceptions.txt`
//! lists the records that do not come back as the same bytes, with the reason; any other difference
//! fails the test. `BLESS=1` writes that list.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regauge::convert::Options;
use regauge::marc::{Record, RecordBuilder, iso2709, xml};
use regauge::reader::{Parse, Reader};
use regauge::{Error, ErrorKind, Fidelity, Format, Limits, OnLoss, Sink, Source, convert_bytes};
use regauge_testdata::{needs_data, path};

/// The formats that a record goes through.
const TRIPS: [Format; 7] = [
    Format::Marc,
    Format::MarcXml,
    Format::MarcJson,
    Format::Mrk,
    Format::AlephSeq,
    Format::Ndjson,
    Format::Msgpack,
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

fn builder() -> RecordBuilder {
    RecordBuilder::new(&Limits::default(), Fidelity::new(OnLoss::Refuse, Format::Marc))
}

/// The records of a file, each with its bytes, its place, and whether its numbers had to be
/// corrected; and the broken ones.
struct Records {
    good: Vec<(u64, Vec<u8>, Record, bool)>,
    broken: Vec<Error>,
}

fn read<P: Parse>(parser: P, bytes: &[u8]) -> Records {
    let mut reader = Reader::from_slice(parser, bytes);
    reader.keep_records(true);
    let mut builder = builder();
    let mut records = Records { good: Vec::new(), broken: Vec::new() };
    loop {
        let start = reader.offset() as usize;
        let losses = builder.fidelity().count();
        match reader.next(&mut builder) {
            Ok(true) => {
                let raw = &bytes[start..reader.offset() as usize];
                let digits = raw.iter().position(u8::is_ascii_digit).unwrap_or(0);
                let mended = builder.fidelity().count() > losses;
                let place = (start + digits) as u64;
                let raw = raw[digits..].to_vec();
                records.good.push((place, raw, builder.record().clone(), mended));
            }
            Ok(false) => return records,
            Err(error) => {
                builder.reset();
                records.broken.push(reader.skip_bad(error).expect("a record is skipped").error);
            }
        }
    }
}

fn record_of(bytes: &[u8]) -> Record {
    let parser = iso2709::Parser::default();
    let mut reader = iso2709::Reader::from_slice(parser, bytes);
    let mut builder = builder();
    assert!(reader.next(&mut builder).unwrap());
    builder.record().clone()
}

/// Returns why a record did not come back as the same bytes.
fn trip(raw: &[u8], record: &Record, mended: bool, through: Format) -> Result<(), &'static str> {
    let there_and_back = || -> Result<Vec<u8>, Error> {
        if through == Format::Marc {
            return convert_bytes(raw, &Options::new(Format::Marc, Format::Marc));
        }
        let there = convert_bytes(raw, &Options::new(Format::Marc, through))?;
        convert_bytes(&there, &Options::new(through, Format::Marc))
    };
    let back = match there_and_back() {
        Ok(back) => back,
        Err(error) if through == Format::AlephSeq => return Err(refused_by_aleph(&error)),
        Err(error) if error.kind() == ErrorKind::Refused => {
            let message = error.message();
            return Err(if message.contains("which XML cannot hold") {
                "refused: a control character, which XML cannot hold"
            } else if message.contains("the ISO 2709 maximum") {
                "refused: longer than ISO 2709 allows"
            } else {
                panic!("{through}: {error}")
            });
        }
        Err(error) => panic!("{through}: {error}"),
    };
    if back == raw {
        return Ok(());
    }
    // Whatever happened to the bytes, the text is the same.
    let mut again = record_of(&back);
    if mended {
        again.set_leader(record.leader());
        assert_eq!(again, *record);
        return Err("the numbers in the leader or directory were wrong, and are now corrected");
    }
    let numbers = |record: &Record| {
        let leader = record.leader();
        [&leader[5..12], &leader[17..]].concat()
    };
    assert_eq!(numbers(&again), numbers(record));
    again.set_leader(record.leader());
    assert_eq!(again, *record, "{through}: the text changes");
    Err("MARC-8 spelt differently, the same text")
}

/// Returns what Aleph sequential cannot hold of a record.
fn refused_by_aleph(error: &Error) -> &'static str {
    const REASONS: [(&str, &str); 7] = [
        ("without 001", "refused: no field 001, which Aleph sequential needs"),
        (
            "whose leader declares",
            "refused: another charset than the leader's, for Aleph sequential",
        ),
        ("a line end in", "refused: a line end, which Aleph sequential cannot hold"),
        ("dollar signs in", "refused: dollar signs, which Aleph sequential cannot hold"),
        ("where it stands for a blank", "refused: a caret, which Aleph sequential cannot hold"),
        (
            "one printable ASCII character each",
            "refused: indicators, which Aleph sequential cannot hold",
        ),
        ("without a code", "refused: a subfield without a code, for Aleph sequential"),
    ];
    let found = REASONS.iter().find(|(part, _)| error.message().contains(part));
    match found {
        Some((_, reason)) => reason,
        None if error.message().contains("the ISO 2709 maximum") => {
            "refused: longer than ISO 2709 allows"
        }
        None => panic!("{error}"),
    }
}

needs_data!(records_come_back_to_the_same_bytes);
fn records_come_back_to_the_same_bytes() {
    let root = path("marc/binary");
    let mut found = Vec::new();
    files(&root, &mut found);
    // By trip and charset: the number of records, and how many were unchanged.
    let mut shares: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    let mut exceptions: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let (mut total, mut broken) = (0, 0);
    for path in found {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let records = read(iso2709::Parser::default(), &bytes);
        broken += records.broken.len();
        for (place, raw, record, mended) in records.good {
            total += 1;
            let plain = raw.is_ascii() && !raw.contains(&0x1B);
            let charset = match record.charset() {
                _ if plain => "ASCII",
                regauge::marc::Charset::Utf8 => "UTF-8",
                regauge::marc::Charset::Marc8 => "MARC-8",
            };
            for through in TRIPS {
                let share = shares.entry((charset, through.title())).or_default();
                share.0 += 1;
                match trip(&raw, &record, mended, through) {
                    Ok(()) => share.1 += 1,
                    Err(reason) => {
                        let line = format!("{name} {place}");
                        let line = match reason {
                            _ if reason.contains("XML") => format!("{line} (MARCXML)"),
                            _ if reason.contains("Aleph") => format!("{line} (Aleph sequential)"),
                            _ => line,
                        };
                        let lines = exceptions.entry(reason).or_default();
                        if lines.last() != Some(&line) {
                            lines.push(line);
                        }
                    }
                }
            }
        }
    }
    println!("{total} records, {broken} broken ones skipped; unchanged after the trip:");
    for ((charset, through), (count, same)) in &shares {
        let share = *same as f64 * 100.0 / *count as f64;
        println!("{charset:>7} through {through:<12} {same:>6} of {count:>6}  {share:.3}%");
        // Aleph sequential refuses what it cannot hold: the list of exceptions says what.
        let least = match *charset {
            _ if *through == Format::AlephSeq.title() => 0.0,
            "MARC-8" => 95.0,
            _ => 99.5,
        };
        assert!(share >= least, "{charset} through {through}: {share}%");
    }
    assert!(total > 20_000, "only {total} records");
    let mut list = String::from(
        "# Records that do not come back as the same bytes, by reason: file, and the byte where the \
         record begins.\n# Written by the test marc_identity with BLESS=1.\n",
    );
    for (reason, lines) in &exceptions {
        list += &format!("\n## {reason}\n");
        lines.iter().for_each(|line| list += &format!("{line}\n"));
    }
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/marc_exceptions.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&place, &list).unwrap();
    }
    let expected = std::fs::read_to_string(&place).unwrap_or_default();
    assert!(list == expected, "the exceptions have changed (BLESS=1 writes them):\n{list}");
}

/// Files that no strict reader accepts, and how many broken records we find in them.
const BROKEN_XML: [(&str, usize); 11] = [
    // An element in a record that MARCXML does not define.
    ("marc4j+marc4j/resources/1474920681_KOHA_LFL_5.xml", 1),
    ("marc4j+marc4j/resources/1474920681_KOHA_LFL_6_with_comment.xml", 1),
    ("marc4j+marc4j/resources/chabon-bad-subfields-element.xml", 1),
    ("marc4j+marc4j/resources/chabon-missing-datafield-tag.xml", 1),
    // A tag or a code is missing.
    ("marc4j+marc4j/resources/chabon-missing-controlfield-tag.xml", 1),
    ("marc4j+marc4j/resources/chabon-missing-subfield-code.xml", 1),
    // A field outside of a record.
    ("perl4lib+marc-perl/marc-xml/invalid.xml", 1),
    // Not well-formed: a lone ampersand, a missing end, escaped quotes, a control character.
    ("pulibrary+bibdata/files/alma/comparison/voyager_scsb_32101089814220.xml", 1),
    ("pulibrary+bibdata/marc_to_solr/SCSB-9879349.mrx", 1),
    ("pulibrary+bibdata/mms_id_array.xml", 7),
    ("ruby-marc+ruby-marc/three-records-second-bad.xml", 1),
];

needs_data!(every_marcxml_file_is_read);
fn every_marcxml_file_is_read() {
    let root = path("marc/xml");
    let mut found = Vec::new();
    files(&root, &mut found);
    let (mut total, mut back) = (0, 0);
    for path in found.iter().filter(|path| path.extension().is_some_and(|suffix| suffix != "gz")) {
        let bytes = std::fs::read(path).unwrap();
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let records = read(xml::Parser::default(), &bytes);
        let expected = BROKEN_XML.iter().find(|(broken, _)| *broken == name);
        assert_eq!(
            records.broken.len(),
            expected.map_or(0, |(_, count)| *count),
            "{name}: {:?}",
            records.broken
        );
        total += records.good.len();
        if records.broken.is_empty() {
            // Writing and reading them again gives the same records.
            let options = Options::new(Format::MarcXml, Format::MarcXml);
            let again = convert_bytes(&bytes, &options).unwrap();
            let again = read(xml::Parser::default(), &again);
            assert_eq!(again.good.len(), records.good.len(), "{name}");
            for (one, other) in records.good.iter().zip(&again.good) {
                assert_eq!(one.2, other.2, "{name}");
                back += 1;
            }
        }
    }
    println!("{total} records in MARCXML, {back} of them written and read again");
    assert!(total > 500, "only {total} records");
}
