//! Published suites and real files.

use regauge_testdata::{needs_data, path};

use super::{build, check_pieces, events, whole};
use crate::codec::json::{Framing, ReadOptions, WriteOptions, to_vec};
use crate::{Format, OnLoss, Options, convert_bytes};

/// Returns the files of a folder of the data, by name.
fn files(folder: &str) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(path(folder)).unwrap();
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Files that RFC 8259 leaves open (`i_`) and that are accepted; all others are refused. The table
/// in `docs/formats/json.md` gives the reasons.
const ACCEPTED: [&str; 17] = [
    "i_number_double_huge_neg_exp.json",
    "i_number_real_underflow.json",
    "i_number_too_big_neg_int.json",
    "i_number_too_big_pos_int.json",
    "i_number_very_big_negative_int.json",
    "i_object_key_lone_2nd_surrogate.json",
    "i_string_1st_surrogate_but_2nd_missing.json",
    "i_string_1st_valid_surrogate_2nd_invalid.json",
    "i_string_incomplete_surrogate_and_escape_valid.json",
    "i_string_incomplete_surrogate_pair.json",
    "i_string_incomplete_surrogates_escape_valid.json",
    "i_string_invalid_lonely_surrogate.json",
    "i_string_invalid_surrogate.json",
    "i_string_inverted_surrogates_U+1D11E.json",
    "i_string_lone_second_surrogate.json",
    "i_structure_500_nested_arrays.json",
    "i_structure_UTF-8_BOM_empty_object.json",
];

needs_data!(json_test_suite_parsing);
fn json_test_suite_parsing() {
    let files = files("conformance/JSONTestSuite/test_parsing");
    for (name, input) in &files {
        let (_, error) = whole(ReadOptions::default(), input);
        let accepted = match name.as_bytes()[0] {
            b'y' => true,
            b'n' => false,
            _ => ACCEPTED.contains(&name.as_str()),
        };
        assert_eq!(error.is_none(), accepted, "{name}: {error:?}");
        check_pieces(ReadOptions::default(), input);
    }
    let count = |letter: u8| files.iter().filter(|(name, _)| name.as_bytes()[0] == letter).count();
    assert_eq!((count(b'y'), count(b'n'), count(b'i')), (95, 188, 35));
}

needs_data!(json_test_suite_transform);
fn json_test_suite_transform() {
    let answers = [
        ("number_-9223372036854775808", "i64 -9223372036854775808"),
        ("number_-9223372036854775809", "-9223372036854775809"),
        ("number_1.0", "f64 1.0"),
        ("number_1.000000000000000005", "f64 1.0"),
        ("number_1000000000000000", "i64 1000000000000000"),
        ("number_10000000000000000999", "u64 10000000000000000999"),
        ("number_1e-999", "f64 0.0"),
        ("number_1e6", "f64 1000000.0"),
        ("number_9223372036854775807", "i64 9223372036854775807"),
        ("number_9223372036854775808", "u64 9223372036854775808"),
        ("object_key_nfc_nfd", "key \"\u{e9}\" \"NFC\" key \"e\u{301}\" \"NFD\""),
        ("object_key_nfd_nfc", "key \"e\u{301}\" \"NFD\" key \"\u{e9}\" \"NFC\""),
        ("object_same_key_different_values", "key \"a\" i64 1 key \"a\" i64 2"),
        ("object_same_key_same_value", "key \"a\" i64 1 key \"a\" i64 1"),
        ("object_same_key_unclear_values", "key \"a\" i64 0 key \"a\" f64 -0.0"),
        ("string_1_escaped_invalid_codepoint", "Surrogates([237, 160, 128])"),
        ("string_2_escaped_invalid_codepoints", "Surrogates([237, 160, 128, 237, 160, 128])"),
        (
            "string_3_escaped_invalid_codepoints",
            "Surrogates([237, 160, 128, 237, 160, 128, 237, 160, 128])",
        ),
        ("string_with_escaped_NULL", "\"A\\0B\""),
    ];
    for (name, input) in files("conformance/JSONTestSuite/test_transform") {
        let stem = name.strip_suffix(".json").unwrap();
        let (events, error) = whole(ReadOptions::default(), &input);
        match answers.iter().find(|(name, _)| *name == stem) {
            Some((_, answer)) => {
                let inner = &events[1..events.len() - 2];
                let shown = inner.join(" ").replace("e\u{301}", "e\\u{301}");
                assert_eq!(shown, answer.replace("e\u{301}", "e\\u{301}"), "{name}");
                assert_eq!(error, None);
            }
            None => {
                let error = error.unwrap_or_else(|| panic!("{name} was accepted"));
                assert!(
                    stem.ends_with("invalid_codepoint") || stem.ends_with("invalid_codepoints")
                );
                assert!(error.contains("found byte 0xED in a string, expected UTF-8"), "{error}");
            }
        }
    }
}

needs_data!(simdjson_checker);
fn simdjson_checker() {
    for (name, input) in files("conformance/simdjson-jsonchecker") {
        let framing = match name.as_str() {
            // Its documents span lines.
            "pass01.ndjson" => Framing::Concatenated,
            name if name.ends_with(".ndjson") => Framing::Lines,
            _ => Framing::Single,
        };
        let options = ReadOptions { framing, ..ReadOptions::default() };
        // An integer beyond 64 bits is too large for simdjson; we read it exactly.
        let accepted =
            name.starts_with("pass") || name.contains("_EXCLUDE") || name == "fail41_toolarge.json";
        let (_, error) = whole(options, &input);
        assert_eq!(error.is_none(), accepted, "{name}: {error:?}");
        check_pieces(options, &input);
    }
}

needs_data!(real_files_come_back);
fn real_files_come_back() {
    for (name, input) in files("json") {
        if !name.ends_with(".json") {
            continue;
        }
        let value = build(&input);
        let text = to_vec(&value, OnLoss::Refuse).unwrap();
        assert_eq!(build(&text), value, "{name}");
        let ours = events(&input);
        assert_eq!(events(&text), ours, "{name}");
        let mut pretty = Options::new(Format::Json, Format::Json);
        pretty.json_write = WriteOptions { indent: Some(2), ..WriteOptions::default() };
        let pretty = convert_bytes(&input, &pretty).unwrap();
        assert_eq!(events(&pretty), ours, "{name}, pretty");
        let mut ascii = Options::new(Format::Json, Format::Json);
        ascii.json_write.escape_non_ascii = true;
        let ascii = convert_bytes(&input, &ascii).unwrap();
        assert!(ascii.is_ascii());
        assert_eq!(events(&ascii), ours, "{name}, ASCII");
        if input.len() < 300_000 {
            check_pieces(ReadOptions::default(), &input);
        }
    }
}

needs_data!(real_lines_come_back);
fn real_lines_come_back() {
    for (name, input) in files("ndjson") {
        if !name.ends_with(".ndjson") {
            continue;
        }
        let options = ReadOptions { framing: Framing::Lines, ..ReadOptions::default() };
        let (wanted, error) = whole(options, &input);
        assert_eq!(error, None, "{name}");
        let lines = input.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty());
        assert_eq!(wanted.iter().filter(|event| *event == "document").count(), lines.count());
        let text = convert_bytes(&input, &Options::new(Format::Ndjson, Format::Ndjson)).unwrap();
        assert_eq!(whole(options, &text).0, wanted, "{name}");
    }
}
