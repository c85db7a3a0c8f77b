//! Another reader of MARCMaker: MARC::File::MARCMaker, if there is a Perl that has it. It makes ISO 2709 of our
//! lines, in bytes, so that mnemonics become MARC-8 again.

use std::io::Write as _;
use std::process::{Command, Stdio};

use regauge_testdata::{has, needs_data, path};

use super::*;

const SCRIPT: &str = r"
use MARC::File::MARCMaker;
local $/;
my $lines = <STDIN>;
binmode STDOUT;
for my $record (split /\n\n/, $lines) {
    print MARC::File::MARCMaker->decode($record)->as_usmarc();
}
";

/// Returns what Perl makes of lines.
fn in_perl(lines: &[u8]) -> Vec<u8> {
    let mut perl = Command::new("perl")
        .args(["-e", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = perl.stdin.take().unwrap();
    let lines = lines.to_vec();
    let fed = std::thread::spawn(move || input.write_all(&lines).unwrap());
    let output = perl.wait_with_output().unwrap();
    fed.join().unwrap();
    assert!(output.status.success());
    output.stdout
}

/// Returns the bytes of each record after its leader.
fn records(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == 0x1D).filter_map(|record| record.get(24..)).collect()
}

/// Whether a subfield has no text, or not even a code: the other reader leaves these out.
fn has_empty_subfield(record: &[u8]) -> bool {
    let ends = |byte: u8| matches!(byte, 0x1E | 0x1F);
    record.windows(3).any(|bytes| bytes[0] == 0x1F && (ends(bytes[1]) || ends(bytes[2])))
}

needs_data!(perl_makes_the_same_records);
fn perl_makes_the_same_records() {
    if !has("perl", &["-MMARC::File::MARCMaker", "-e1"]) {
        return;
    }
    let mut count = 0;
    for name in FILES {
        let bytes = std::fs::read(path("marc/binary").join(name)).unwrap();
        // In our spelling of MARC-8.
        let own = convert_bytes(&bytes, &Options::new(Format::Marc, Format::MarcJson)).unwrap();
        let own = convert_bytes(&own, &Options::new(Format::MarcJson, Format::Marc)).unwrap();
        let lines = convert_bytes(&own, &Options::new(Format::Marc, Format::Mrk)).unwrap();
        let theirs = in_perl(&lines);
        let (ours, theirs) = (records(&own), records(&theirs));
        assert_eq!(ours.len(), theirs.len(), "{name}");
        for (index, (one, other)) in ours.iter().zip(&theirs).enumerate() {
            if has_empty_subfield(one) {
                continue;
            }
            assert!(one == other, "{name}, record {index}: {}", other.escape_ascii());
        }
        count += ours.len();
    }
    println!("{count} records");
}

/// Files in MARC-8 and in UTF-8.
const FILES: [&str; 6] = [
    "edsu+pymarc/marc.dat",
    "edsu+pymarc/marc8.dat",
    "evergreen-library-system+Evergreen/Open-ILS/datasets/hebrew.marc",
    "evergreen-library-system+Evergreen/Open-ILS/datasets/jazz_1k.mrc",
    "evergreen-library-system+Evergreen/Open-ILS/datasets/lul_fre_500.mrc",
    "crkn-rcdr+demo-blacklight/5.mrc",
];
