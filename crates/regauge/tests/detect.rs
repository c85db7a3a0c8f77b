//! Detection by a file's name and first bytes: right for every valid small file, with and without
//! its name, and never wrong about the beginning of another format.

use std::fs;
use std::path::{Path, PathBuf};

use regauge::detect::{HEAD_BYTES, detect};
use regauge::{Format, convert_bytes};
use regauge_testdata::needs_data;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// Returns whether a file can be both formats.
fn is_as_good(told: Format, format: Format) -> bool {
    let is_json = |format: Format| format.is_json() || format == Format::MarcJson;
    told == format
        // JSON is YAML, and one line of NDJSON is JSON.
        || is_json(told) && (is_json(format) || format == Format::Yaml)
}

/// Checks every file that has a format by its suffix and can be read in it. Returns how many.
fn check(files: &[PathBuf]) -> usize {
    let mut checked = 0;
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let Some(format) = Format::from_name(name) else { continue };
        let bytes = fs::read(path).unwrap();
        if bytes.len() > 1 << 20 {
            continue;
        }
        let options = {
            let mut options = regauge::Options::new(format, format);
            options.on_loss = regauge::OnLoss::Wrap;
            options
        };
        let is_valid = convert_bytes(&bytes, &options).is_ok();
        if !is_valid || bytes.is_empty() {
            continue;
        }
        checked += 1;
        let head = &bytes[..bytes.len().min(HEAD_BYTES)];
        let shown = path.display();
        match detect(name, head) {
            Ok(told) => assert_eq!(told, Some(format), "{shown}"),
            Err(error) => panic!("{shown}: {error}"),
        }
        // Without a name, detection is right or gives no answer.
        let told = detect("", head).unwrap();
        assert!(told.is_none_or(|told| is_as_good(told, format)), "{shown} is taken for {told:?}");
    }
    checked
}

#[test]
fn every_valid_file_of_the_corpus() {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus"), &mut found);
    found.retain(|path| path.components().any(|part| part.as_os_str() == "valid"));
    assert!(check(&found) > 80);
}

needs_data!(every_valid_file_of_the_real_ones);
fn every_valid_file_of_the_real_ones() {
    let mut found = Vec::new();
    files(&regauge_testdata::folder(), &mut found);
    println!("checked {} files", check(&found));
}

#[test]
fn what_contradicts_the_name_is_refused() {
    for (name, head, message) in [
        (
            "file.msgpack",
            &b"{\"a\": 1}\n"[..],
            "looks like JSON (begins with `{\"a\": 1}`), not MessagePack; set `from` to \
             `Format::Json`, or `from` to `Format::Msgpack` if it is MessagePack",
        ),
        ("a.msgpack", b"[1, 2]", "looks like JSON"),
        ("a.msgpack", b"{\"a\":1}\n{\"a\":2}\n", "looks like NDJSON"),
        ("a.msgpack", b"<?xml version=\"1.0\"?>", "looks like XML"),
        ("a.msgpack", b"name: value\n", "looks like text"),
        ("a.msgpack", b"42\n", "looks like text"),
        ("a.msgpack", b"\x93NUMPY\x01\0v\0{'descr'", "looks like a NumPy array"),
        ("a.msgpack", b"\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR", "looks like a PNG image"),
        ("a.msgpack", b"\x80\x04\x95\x05\0\0\0\0\0\0\0]\x94.", "looks like Python pickle"),
        ("a.msgpack", b"\x04\x08[\x06i\x06", "looks like Ruby Marshal"),
        ("a.msgpack", b"00714cam a2200205 a 4500001", "looks like MARC 21"),
        ("a.cbor", b"{\"a\": 1}", "looks like JSON"),
        ("a.cbor", b"PK\x03\x04\x14\0", "looks like a ZIP archive (begins with `PK"),
        ("a.pkl", b"{\"a\": 1}", "looks like JSON"),
        ("a.mrc", b"<?xml version=\"1.0\"?>", "looks like XML"),
        ("a.mrc", b"{\"leader\": \"\", \"fields\": []}", "looks like MARC-in-JSON"),
        ("a.json", b"<html><head>", "looks like XML"),
        ("a.json", b"00714cam a2200205 a 4500001", "looks like MARC 21"),
        ("a.yaml", b"\x89PNG\r\n\x1A\n", "looks like a PNG image"),
        ("a.xml", b"{}", "looks like JSON"),
        ("a.mrk", b"00714cam a2200205 a 4500001", "looks like MARC 21"),
        ("a.seq", b"=LDR  00714cam a2200205 a 4500", "looks like MARCMaker"),
        ("a.mrc", b"=LDR  00714cam a2200205 a 4500", "looks like MARCMaker"),
    ] {
        let error = detect(name, head).expect_err(name).to_string();
        assert!(error.starts_with(message), "{name}: {error}");
    }
}

#[test]
fn what_only_seems_to_contradict_is_believed() {
    for (name, head, format) in [
        // A single small integer, and one before something else.
        ("a.msgpack", &b"{"[..], Format::Msgpack),
        ("a.msgpack", b"\x7B\xA1a", Format::Msgpack),
        ("a.msgpack", b"\xA5hello", Format::Msgpack),
        ("a.msgpack", b"\xDC\0\x10\x01\x02AB\0", Format::Msgpack),
        ("a.cbor", b"\x65hello", Format::Cbor),
        ("a.cbor", b"\x04\x08\x30", Format::Cbor),
        ("a.yaml", b"<<: *other\n", Format::Yaml),
        ("a.yaml", b"{a: 1}", Format::Yaml),
        ("a.yaml", b"{\"a\": 1}", Format::Yaml),
        ("a.json", b"{\"leader\":\"\",\"fields\":[]}", Format::Json),
        ("a.json", b"{\"a\":1}\n{\"a\":2}\n", Format::Json),
        ("a.json", b"123456789012345678901234567890", Format::Json),
        ("a.mrc", b"", Format::Marc),
        ("a.mrc", b"\x1D\x1D\x1D\x1D", Format::Marc),
        ("a.pkl", b"(lp0\nI1\na.", Format::Pickle),
    ] {
        assert_eq!(detect(name, head).unwrap(), Some(format), "{}", head.escape_ascii());
    }
}

#[test]
fn first_bytes_tell_the_format() {
    for (head, format) in [
        (&b"{\"a\":1}"[..], Some(Format::Json)),
        (b"{\"a\":1}\n", Some(Format::Json)),
        (b"{\"a\":1}\n{\"a\":2}\n", Some(Format::Ndjson)),
        (b"[\n{},\n{}]", Some(Format::Json)),
        (b"  [1]", Some(Format::Json)),
        (b"[1,", Some(Format::Json)),
        (b"{\"a\": oops]}", Some(Format::Json)),
        (b"{a: 1}", Some(Format::Yaml)),
        // Broken JSON, or YAML.
        (b"{\"a\": oops}", None),
        (b"{\"a\": 1, // note\n}", Some(Format::Json)),
        (b"{\"leader\":\"x\",\"fields\":[]}", Some(Format::MarcJson)),
        (b"<?xml version='1.0'?>", Some(Format::MarcXml)),
        (b"\x82\xA1a\x01\xA1b\x02", Some(Format::Msgpack)),
        (b"\xA2\x61a\x01\x61b\x02", Some(Format::Cbor)),
        (b"\x83\x01\x02\x03", Some(Format::Cbor)),
        (b"\xDC\x00\x10", Some(Format::Msgpack)),
        (b"00714cam a2200205 a 4500", Some(Format::Marc)),
        (b"\xEF\xBB\xBF\n=LDR  00714cam a2200205 a 4500\n", Some(Format::Mrk)),
        (b"=000  00000nam\\\\2200000\\a\\4500\r\n", Some(Format::Mrk)),
        (b"000000228 LDR   L ^^^^^nam^a22002891^^4500", Some(Format::AlephSeq)),
        (b"000000228 24510 L $$aTitle\n", Some(Format::AlephSeq)),
        (b"000000228 245 a line of text", None),
        (b"123456789012345678901234567890", Some(Format::Json)),
        // A number beyond a double, at the end of the input.
        (b"{\"x\":1e400}", Some(Format::Json)),
        // An empty map in one, an empty array in the other.
        (b"\x80", None),
        (b"\x07", None),
        (b"\x93NUMPY\x01\0v\0{'descr'", None),
        (b"\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR", None),
        (b"name: value", None),
        (b"a=1", Some(Format::Toml)),
        (b"a = -inf\n", Some(Format::Toml)),
        (b"a = 'b=='\nc = [1]\n", Some(Format::Toml)),
        (b"a.b=--", None),
        (b"YWJj=", None),
        (b"YWJjZA==--0c4f7a", None),
        (b"", None),
        (b"hello", None),
    ] {
        assert_eq!(Format::from_magic(head), format, "{}", head.escape_ascii());
    }
}

/// MessagePack reads text as small integers, so a name is not enough for it.
#[test]
fn text_has_no_control_characters_but_those_of_lines_and_tabs() {
    for c in '\0'..'\u{3000}' {
        let text = format!("ab{c}cd");
        let is_text = !c.is_control() || matches!(c, '\t' | '\n' | '\r');
        let is_refused = detect("a.msgpack", text.as_bytes()).is_err();
        assert_eq!(is_refused, is_text, "{}", text.escape_debug());
    }
}

/// Numbers in columns are no leader.
#[test]
fn numbers_in_columns_are_no_catalogue() {
    for text in [
        "10001: 1234567890123456789\n10002: 1\n",
        "12345,6789012345678,12,x\n",
        "10001 12.5 3 4 5 6 7 8 9 10\n",
    ] {
        assert_ne!(detect("-", text.as_bytes()).unwrap(), Some(Format::Marc), "{text}");
    }
    let leader = b"00000nam a2200000 a 4500";
    assert_eq!(detect("-", leader).unwrap(), Some(Format::Marc));
}
