//! Bytes in pieces and bytes at random: the same records, the same error, no panic; and what is read can be
//! written and read.

use regauge_testdata::Random;

use super::*;
use crate::codec::marc::lines_tests::{check_pieces, check_round_trip};

const PARTS: &[&str] = &[
    "000000001 LDR   L ^^^^^nam^a22000001i^4500\n",
    "000000001 LDR   L ^^^^^nam^^22000001i^4500\n",
    "000000001 001   L 000000001\n",
    "000000001 001   L 2\n",
    "000000002 001   L 1\n",
    "000000002 24510 L $$a",
    "000000001 24510 L ",
    "000000001 24510 L $$9^",
    "000000001 24510 L $$9^^$$a",
    "000000001 24510 L $$9^^$$b",
    "000000001 FMT   L BK",
    "000000003 008   L ",
    "000000003 ",
    "00000",
    "L",
    "$$a",
    "$$b",
    "$$9^",
    "$$",
    "$",
    "^",
    "^^",
    "x",
    "é",
    "0",
    " ",
    "\n",
    "\n",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    "\u{1F}",
    "\u{1D}",
    "\u{FEFF}",
    "H ",
    "\u{1A}",
];

#[test]
fn at_random() {
    for seed in 1..20_000 {
        let mut random = Random::new(seed);
        let mut text = if seed % 2 == 0 { String::new() } else { PARTS[0].to_owned() };
        for _ in 0..random.below(14) {
            text += random.of(PARTS);
        }
        let mut bytes = text.into_bytes();
        if seed % 16 == 0 {
            let at = random.below(bytes.len());
            bytes.insert(at, 0xFF);
        }
        for skip_bad in [false, true] {
            check_pieces(Format::AlephSeq, &bytes, skip_bad);
        }
        check_round_trip(Format::AlephSeq, &bytes);
    }
}

/// Long fields of any length and content come back from their lines.
#[test]
fn long_fields() {
    const WORDS: [&str; 9] = ["a", "word ", " -- ", "Ж", "^", ". ", " ", "$", "longerword"];
    for seed in 1..400 {
        let mut random = Random::new(seed);
        let mut subfields = String::new();
        for _ in 0..1 + random.below(5) {
            let few = 1 + random.below(WORDS.len());
            let length = random.below(3000);
            let mut value = String::new();
            while value.len() < length {
                value += WORDS[random.below(few)];
                value = value.replace("$$", "$");
            }
            let value = value.trim_end_matches('$');
            subfields += &format!("{{\"{}\":\"{value}\"}},", ["a", "b", "9"][random.below(3)]);
        }
        let field = format!(
            "{{\"505\":{{\"ind1\":\"0\",\"ind2\":\" \",\"subfields\":[{}]}}}}",
            subfields.trim_end_matches(',')
        );
        let fields = format!("\"fields\":[{{\"001\":\"1\"}},{field}]");
        let json = format!("{{\"leader\":\"{LEADER}\",{fields}}}\n");
        let written =
            convert_bytes(json.as_bytes(), &Options::new(Format::MarcJson, Format::AlephSeq));
        let Ok(written) = written else {
            assert!(written.unwrap_err().message().contains("which marks a field"));
            continue;
        };
        let options = Options::new(Format::AlephSeq, Format::MarcJson);
        let back = convert_bytes(&written, &options).unwrap();
        assert!(back == json.as_bytes(), "{seed}");
        let longest = written.split(|byte| *byte == b'\n').map(<[u8]>::len).max();
        // Nothing but carets cannot be cut.
        assert!(longest < Some(2019) || field.contains(&"^".repeat(900)), "{longest:?}");
    }
}
