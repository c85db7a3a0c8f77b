//! Bytes in pieces and bytes at random: the same records, the same error, no panic; and what is read can be
//! written and read.

use regauge_testdata::Random;

use super::*;
use crate::codec::marc::lines_tests::{check_pieces, check_round_trip};

const PARTS: &[&[u8]] = &[
    b"=LDR  00000nam a2200000   4500\n",
    b"=LDR  00000nam  2200000   4500\n",
    b"=000  \n",
    b"=245  10",
    b"=001  ",
    b"=FMT  ",
    b"=LDR",
    b"=",
    b"$a",
    b"$",
    b"$",
    b"\\",
    b"\\\\",
    b"{acute}",
    b"{esc}",
    b"{esc}(N",
    b"{dollar}",
    b"&#x2022;",
    b"{zilch}",
    b"\xF3",
    b"=LDR  0\xF3{zilch}",
    b"{1F}",
    b"{1D}",
    b"{",
    b"e",
    b"0",
    b" ",
    b"#",
    b"\n",
    b"\n",
    b"\n",
    b"\r\n",
    b"\n\n",
    "é".as_bytes(),
    b"\xE2",
    b"\xEF\xBB\xBF",
    b"\x1F",
];

#[test]
fn a_leader_in_latin_1() {
    let bytes = b"=LDR  0\xF3\xF3am {zilch}   4500\n=001  1\n";
    check_pieces(Format::Mrk, bytes, false);
    let error = crate::convert_bytes(bytes, &crate::Options::new(Format::Mrk, Format::MarcJson));
    assert_eq!(error.unwrap_err().offset(), Some(12));
}

#[test]
fn at_random() {
    for seed in 1..20_000 {
        let mut random = Random::new(seed);
        let mut bytes = if seed % 2 == 0 { Vec::new() } else { PARTS[0].to_vec() };
        for _ in 0..random.below(14) {
            bytes.extend_from_slice(PARTS[random.below(PARTS.len())]);
        }
        for skip_bad in [false, true] {
            check_pieces(Format::Mrk, &bytes, skip_bad);
        }
        check_round_trip(Format::Mrk, &bytes);
    }
}
