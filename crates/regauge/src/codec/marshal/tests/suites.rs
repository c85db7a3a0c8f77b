//! Published suites and real files: reading and writing them back gives the same bytes.

use std::io::Read;
use std::path::Path;

use regauge_testdata::{needs_data, path};
use serde_json::Value as Json;

use super::*;

/// Decompresses a packed file. The library has no decompressor, and `gzip` is available everywhere.
fn unpacked(path: &Path) -> Vec<u8> {
    let file = std::fs::File::open(path).unwrap();
    let mut gzip = std::process::Command::new("gzip")
        .arg("-dc")
        .stdin(file)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("gzip is installed");
    let mut bytes = Vec::new();
    gzip.stdout.take().unwrap().read_to_end(&mut bytes).unwrap();
    assert!(gzip.wait().unwrap().success());
    bytes
}
/// Checks that reading and writing gives the same bytes, and that every conversion can read them.
#[track_caller]
fn check_same(name: &str, bytes: &[u8]) {
    let written = exact(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let text = |bytes: &[u8]| bytes[..bytes.len().min(2000)].escape_ascii().to_string();
    let (ours, theirs) = (text(&written), text(bytes));
    assert!(written == bytes, "{name}:\n  {theirs}\n  {ours}");
    let wrapped = wrapped(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let back = unwrapped(&wrapped).unwrap_or_else(|error| panic!("{name}: {error}"));
    let again = self::wrapped(&back).unwrap_or_else(|error| panic!("{name}: {error}"));
    let text = |json: &[u8]| String::from_utf8_lossy(&json[..json.len().min(2000)]).into_owned();
    assert!(again == wrapped, "{name}: through JSON:\n  {}\n  {}", text(&wrapped), text(&again));
}

#[test]
fn ruby_spec() {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/suites");
    let folder = suites.join("ruby-spec-marshal");
    let cases = std::fs::read_to_string(folder.join("marshal-cases.jsonl")).unwrap();
    let (mut same, mut refused, mut read) = (0, 0, 0);
    for line in cases.lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let bytes = hex(case["hex"].as_str().unwrap());
        let name = format!("{} {}", case["where"], case["line"]);
        if case["ruby_3_1"] == "loads" {
            check_same(&name, &bytes);
            same += 1;
            continue;
        }
        // Ruby refuses these for a class that it does not have, which we do not look up, or because
        // they are cut off or broken.
        match exact(&bytes) {
            Ok(written) => {
                // One has a count in two bytes that fits in one, which Ruby never writes.
                assert!(
                    written == bytes || bytes.starts_with(b"\x04\x08o:\x09File\x01\x01"),
                    "{name}"
                );
                read += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert_eq!((same, read, refused), (223, 20, 21));
    // Two integers of 6,011 digits: valid numbers for Marshal, but not for JSON.
    let random = std::fs::read(folder.join("random.dump")).unwrap();
    assert!(exact(&random).unwrap() == random);
    assert_eq!(wrapped(&random).unwrap_err().kind(), crate::ErrorKind::Limit);
}

needs_data!(the_index_of_rubygems);
fn the_index_of_rubygems() {
    let folder = path("marshal/rubygems");
    for (name, entries) in [("latest_specs.4.8.gz", 32_241), ("prerelease_specs.4.8.gz", 6_004)] {
        let bytes = unpacked(&folder.join(name));
        check_same(name, &bytes);
        let json: Json = serde_json::from_slice(&as_data(&bytes).unwrap()).unwrap();
        assert_eq!(json.as_array().unwrap().len(), entries);
    }
}

needs_data!(specifications_of_gems);
fn specifications_of_gems() {
    let mut count = 0;
    for entry in std::fs::read_dir(path("marshal/gemspecs")).unwrap() {
        let path = entry.unwrap().path();
        check_same(&path.display().to_string(), &std::fs::read(&path).unwrap());
        count += 1;
    }
    assert_eq!(count, 126);
}

needs_data!(documentation_of_ruby);
fn documentation_of_ruby() {
    let (mut paths, mut count) = (vec![path("marshal/ri")], 0);
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        check_same(&path.display().to_string(), &std::fs::read(&path).unwrap());
        count += 1;
    }
    assert_eq!(count, 728);
}
