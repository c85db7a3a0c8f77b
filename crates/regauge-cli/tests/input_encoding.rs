//! `--input-encoding`: a value in hexadecimal digits or base64.

mod common;

use std::fmt::Write as _;

use common::Folder;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A file that a framework made.
fn made(path: &str) -> Vec<u8> {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/envelopes");
    std::fs::read(corpus.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn a_value_is_decoded_first() {
    let folder = Folder::new();
    let convert = "convert - - --to json --objects data -q --input-encoding";
    let ran = folder.feed(&format!("{convert} hex"), b"04 08 5B 07\n69066907\n").silent();
    assert_eq!(ran.text(), "[1,2]\n");
    let ran = folder.feed(&format!("{convert} base64"), b"gARdlChLAUsCZS4").silent();
    assert_eq!(ran.text(), "[1,2]\n");
    let ran = folder.feed(&format!("{convert} base64"), b"BAhbB2kGaQc=\n").silent();
    assert_eq!(ran.text(), "[1,2]\n");
    // Envelopes, compressions and files too.
    let entry = made("rails-7.1.6/7.1-hash.bin");
    let plain = folder.feed("convert - - --to json --objects data -q", &entry).silent().text();
    folder.write("value.txt", hex(&entry));
    let ran = folder.run("convert value.txt - --to json --objects data -q --input-encoding hex");
    assert_eq!(ran.silent().text(), plain);
}

#[test]
fn inspect_surveys_what_is_decoded() {
    let folder = Folder::new();
    let ran = folder
        .feed(
            "inspect - --from pickle --input-encoding hex",
            hex(b"cos\nsystem\n(S'id'\ntR.").as_bytes(),
        )
        .silent();
    assert!(ran.text().contains("os.system"), "{}", ran.text());
    let foo = hex(b"\x04\x08o:\x08Foo\x06:\x0B@itemsi\x06");
    folder.write("value.hex", &foo);
    let ran = folder.run("inspect value.hex --input-encoding hex").silent();
    assert!(ran.text().contains("Foo"), "{}", ran.text());
}

#[test]
fn more_than_memory_should_hold_is_streamed() {
    let folder = Folder::new();
    let lines: String = (0..300_000).map(|n| format!("{{\"n\":{n}}}\n")).collect();
    let ran = folder
        .feed("convert - - --to ndjson --input-encoding hex", hex(lines.as_bytes()).as_bytes());
    assert_eq!(ran.silent().text(), lines);
    // A fault at the end is named as well, with the name of the input and the place in it.
    let broken = format!("{}zz", hex(lines.as_bytes()));
    folder.write("lines.hex", &broken);
    let ran =
        folder.run("convert lines.hex out.ndjson --from ndjson --input-encoding hex").status(1);
    let expected = format!("regauge: lines.hex: byte {}: found `z`, expected a", broken.len() - 2);
    assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
    assert!(!folder.names().contains(&"out.ndjson".to_owned()));
}

#[test]
fn what_is_not_encoded_is_named() {
    let folder = Folder::new();
    for (encoding, input, expected) in [
        (
            "hex",
            &b"{\"a\": 1}"[..],
            "regauge: standard input: byte 0: found `{`, expected a hexadecimal digit; leave out --input-encoding if",
        ),
        (
            "hex",
            b"04085",
            "regauge: standard input: byte 5: found an odd number of hexadecimal digits",
        ),
        ("base64", b"BAhbB2kGaQc=x", "byte 12: found `x`, expected the end after the padding"),
    ] {
        let ran = folder.feed(&format!("inspect - --input-encoding {encoding}"), input).status(1);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    let ran = folder.feed("inspect - --input-encoding octal", b"").status(2);
    assert!(ran.stderr.contains("[possible values: hex, base64]"), "{}", ran.stderr);
}
