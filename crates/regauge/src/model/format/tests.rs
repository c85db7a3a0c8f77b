//! What the rows have to keep.

use super::*;

#[test]
fn suffix_tells_the_format() {
    for (name, format) in [
        ("a.json", Some(Format::Json)),
        ("a.JSON", Some(Format::Json)),
        ("a.marc.json", Some(Format::MarcJson)),
        ("a.mrc", Some(Format::Marc)),
        ("a.xml", Some(Format::MarcXml)),
        ("a.mrk", Some(Format::Mrk)),
        ("a.SEQ", Some(Format::AlephSeq)),
        ("a.jsonl", Some(Format::Ndjson)),
        ("a.csv", Some(Format::Csv)),
        ("a.TAB", Some(Format::Tsv)),
        ("json", None),
        ("a.txt", None),
    ] {
        assert_eq!(Format::from_name(name), format, "{name}");
    }
}

#[test]
fn names_parse_back() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    assert!("xml".parse::<Format>().is_err());
}

#[test]
fn names_suffixes_and_numbers_are_given_once() {
    let mut seen = std::collections::HashSet::new();
    for format in Format::ALL {
        let info = format.info();
        let number = info.store_number.map(|number| format!("number {number}"));
        let media = info.media_types.iter().map(|media| format!("type {media}"));
        let suffixes = info.suffixes.iter().map(|suffix| format!(".{suffix}"));
        for one in suffixes.chain(media).chain(number).chain([info.name.to_owned()]) {
            assert!(seen.insert(one.clone()), "{one} stands in two rows");
        }
    }
}
