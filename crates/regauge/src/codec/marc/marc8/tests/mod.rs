//! MARC-8: each set by hand, whole tables, real records, another library's output, and random
//! input.

use super::lookup::{Code, code_of, eacc_character, is_mark_character};
use super::table::SINGLE;
use super::*;
use regauge_testdata::{needs_data, path};
use std::path::PathBuf;
use unicode_normalization::UnicodeNormalization;

fn decoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    decode(bytes, &mut State::default(), &mut text).unwrap_or_else(|e| panic!("{bytes:02X?}: {e}"));
    text
}

fn encoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(text, &mut bytes).unwrap_or_else(|e| panic!("{text:?}: {e}"));
    bytes
}

fn files(path: PathBuf, out: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(&path).unwrap() {
            files(entry.unwrap().path(), out);
        }
    } else {
        out.push(path);
    }
}

/// Returns the bodies (control and data fields without their terminators) of the records in `bytes`
/// whose leader/09 is blank, split by record length and directory.
fn marc8_records(bytes: &[u8]) -> Vec<Vec<&[u8]>> {
    let number = |b: &[u8]| std::str::from_utf8(b).ok()?.parse::<usize>().ok();
    let mut records = Vec::new();
    let mut at = 0;
    while bytes.len() - at > 26 {
        let rest = &bytes[at..];
        let record = number(&rest[..5])
            .and_then(|length| rest.get(..length))
            .filter(|r| r.len() > 25 && r.ends_with(b"\x1D"));
        let Some(record) = record else {
            match memchr::memchr(0x1D, rest) {
                Some(end) => at += end + 1,
                None => break,
            }
            continue;
        };
        at += record.len();
        at += bytes[at..].iter().take_while(|b| b" \r\n".contains(b)).count();
        let Some(base) = number(&record[12..17]).filter(|base| *base > 24 && *base < record.len())
        else {
            continue;
        };
        if record[9] == b' ' {
            records.push(record[base..].split(|b| *b == 0x1E).collect());
        }
    }
    records
}

/// Checks that the bytes decode to the text, and that the text is written as these bytes.
#[track_caller]
fn check(bytes: &[u8], text: &str) {
    assert_eq!(decoded(bytes), text);
    assert_eq!(encoded(text), bytes, "{}", encoded(text).escape_ascii());
}

/// Checks that the bytes decode to the text, which is written as other bytes.
#[track_caller]
fn check_read(bytes: &[u8], text: &str, written: &[u8]) {
    assert_eq!(decoded(bytes), text);
    assert_eq!(encoded(text), written, "{}", encoded(text).escape_ascii());
}

#[test]
fn each_set_by_hand() {
    check(b"plain ASCII, ~^`{|}", "plain ASCII, ~^`{|}");
    check(b"\xA1\xA2\xA3\xB1\xB7\xC0\xC3\xC7\xC8", "ŁØĐłʺ°©ß€");
    check(b"Dvo\xE9r\xE2ak", "Dvor\u{30C}a\u{301}k");
    check(b"\x88The \x89end", "\u{98}The \u{9C}end");
    check(b"\x1B(S%Ak$jpal\x1B(B", "Α\u{313}θη\u{342}ναι");
    check(b"\x1Bga\x1Bs-rays, \x1Bgb\x1Bs-rays", "α-rays, β-rays");
    check(b"\x1B(2AMylEem.\x1B(B", "ש\u{5B8}\u{5C1}לו\u{5B9}ם.");
    check(b"\x1B(NwOJNA I MIR.\x1B(B", "Война и мир.");
    check(b"\x1B(QfF \x1B(NMIJ\x1B(QP\x1B(B", "Іі мийѣ");
    check(b"\x1B(3GdcJGH, peUrQ \x1B(B1", "الكتاب، م\u{650}صر\u{652} 1");
    check(b"\x1B(4)\x1B(3G\x1B(4X\x1B(3SJGf\x1B(B", "پاکستان");
    check(b"H\x1Bb2\x1BsO, x\x1Bp2+1\x1Bs.", "H₂O, x²⁺¹.");
    check(b"\x1B$1!D&!0a\x1B(B 1", "東京 1");
    check(b"\x1B$1o\\eoIo!#!i%+!+3\x1B(B.", "한국\u{3000}カ。.");
    check(b"\x1B(NmIR\x1B$1!04\x1B(2y\x1B(B", "Мир中ש");
}

#[test]
fn halves_of_a_mark_over_two_letters_are_a_character_each() {
    check(b"\xEBi\xECa", "i\u{FE20}a\u{FE21}");
    check(b"\xFAn\xFBg", "n\u{FE22}g\u{FE23}");
    // Unicode's single mark over both is written as its halves, and counted.
    let mut bytes = Vec::new();
    let done = encode("i\u{361}a\u{306}, n\u{360}g", &mut bytes).unwrap();
    assert_eq!((done.halved, bytes.as_slice()), (2, &b"\xEBi\xEC\xE6a, \xFAn\xFBg"[..]));
}

#[test]
fn escape_sequences_in_every_spelling() {
    for sequence in [&b"\x1B(N"[..], b"\x1B,N"] {
        check_read(&[sequence, b"m\x1Bs."].concat(), "М.", b"\x1B(Nm.\x1B(B");
    }
    for sequence in [&b"\x1B)N"[..], b"\x1B-N"] {
        check_read(&[sequence, b"a\xCD"].concat(), "aм", b"a\x1B(NM\x1B(B");
    }
    for sequence in [&b"\x1B$1"[..], b"\x1B$,1", b"\x1B$(1"] {
        check_read(&[sequence, b"!04\x1B(B"].concat(), "中", b"\x1B$1!04\x1B(B");
    }
    for sequence in [&b"\x1B$)1"[..], b"\x1B$-1"] {
        check_read(&[sequence, b"a\xA1\xB0\xB4"].concat(), "a中", b"a\x1B$1!04\x1B(B");
    }
    for sequence in [&b"\x1B(!E"[..], b"\x1B,!E", b"\x1B(E"] {
        check_read(&[sequence, b"!b1"].concat(), "Łł\u{301}", b"\xA1\xE2\xB1");
    }
    // A mark waits for its letter across an escape sequence.
    check_read(b"\xE2\x1B(NA\x1B(B", "а\u{301}", b"\x1B(N\xE2A\x1B(B");
}

#[test]
fn characters_without_a_code_of_their_own_are_decomposed() {
    let cases: [(&str, &[u8]); 8] = [
        ("Café", b"Caf\xE2e"),
        ("ệ", b"\xF2\xE3e"),
        // O and U with horn have a code; the horn has none.
        ("ớ o\u{31B}\u{301} o\u{301}\u{31B}", b"\xE2\xBC \xE2\xBC \xE2\xBC"),
        ("ǿ Ǽ", b"\xE2\xB2 \xE2\xA5"),
        // Arabic letters with hamza have codes; hamza above has none.
        ("\u{627}\u{654}", b"\x1B(3C\x1B(B"),
        // Hangul spelled out in letters.
        ("\u{1112}\u{1161}\u{11AB}", b"\x1B$1o\\e\x1B(B"),
        ("й и\u{306}", b"\x1B(NJ \xE6I\x1B(B"),
        ("\u{212B}", b"\xEAA"),
    ];
    for (text, bytes) in cases {
        assert_eq!(encoded(text), bytes, "{text}: {}", encoded(text).escape_ascii());
        let back = decoded(bytes);
        assert!(back.nfd().eq(text.nfd()), "{text} came back as {back}");
        let done = encode(text, &mut Vec::new()).unwrap();
        assert_eq!(done.recomposed > 0, back != text, "{text} came back as {back}: {done:?}");
    }
    assert_eq!(encode("Café ệ ł 中", &mut Vec::new()).unwrap().recomposed, 2);
    assert_eq!(encode("Cafe\u{301} ł 中", &mut Vec::new()).unwrap().recomposed, 0);
}

#[test]
fn a_mark_without_a_letter_is_kept() {
    check(b"e\xE2", "e\u{25CC}\u{301}");
    check(b"e\xE2\xE8\x1F\x61b", "e\u{25CC}\u{301}\u{308}\u{1F}ab");
    check(b"e\xE2 ", "e \u{301}");
}

#[test]
fn a_delimiter_puts_the_default_sets_in_force() {
    check_read(
        b"\x1Fa\x1B(Nm\x1Fbm\x1E",
        "\u{1F}aМ\u{1F}bm\u{1E}",
        b"\x1Fa\x1B(Nm\x1B(B\x1Fbm\x1E",
    );
}

#[test]
fn sets_stay_in_force_from_piece_to_piece() {
    let (mut state, mut text) = (State::default(), String::new());
    for piece in [&b"\x1B(N"[..], b"m", b"I\x1B(B", b"I"] {
        decode(piece, &mut state, &mut text).unwrap();
    }
    assert_eq!((text.as_str(), state), ("МиI", State::default()));
}

#[test]
fn faults_say_where_and_what() {
    let cases: [(&[u8], &str, &str); 9] = [
        (
            b"ab\xFF",
            "ab",
            "byte 2: found byte 0xFF, expected a character of the set Extended Latin",
        ),
        (b"a\x80", "a", "byte 1: found byte 0x80, expected a character of the set Extended Latin"),
        (
            b"\x1B(N\x1B(Q!A",
            "",
            "byte 6: found byte 0x21, expected a character of the set Extended Cyrillic",
        ),
        (
            b"\x1B$1!04!0",
            "中",
            "byte 6: found the end of the text inside an East Asian character, expected three bytes",
        ),
        (
            b"\x1B$1!!!",
            "",
            "byte 3: found bytes 0x21 0x21 0x21, expected a character of the set East Asian (EACC)",
        ),
        (
            b"\x1B$1!\xB04",
            "",
            "byte 3: found bytes 0x21 0xB0 0x34, expected a character of the set East Asian (EACC)",
        ),
        (
            b"a\x1Bxyz",
            "a",
            "byte 1: found ESC 0x78 0x79 0x7A, expected an escape sequence that designates a MARC-8 set",
        ),
        (
            b"a\x1B(1",
            "a",
            "byte 1: found ESC 0x28 0x31, expected an escape sequence that designates a MARC-8 set",
        ),
        (
            b"a\x1B",
            "a",
            "byte 1: found ESC, expected an escape sequence that designates a MARC-8 set",
        ),
    ];
    for (bytes, before, message) in cases {
        let mut text = String::new();
        let error = decode(bytes, &mut State::default(), &mut text).unwrap_err();
        assert_eq!((text.as_str(), error.to_string().as_str()), (before, message));
        let mut lossy = String::new();
        assert!(decode_lossy(bytes, &mut State::default(), &mut lossy) > 0);
        assert!(lossy.starts_with(&format!("{before}\u{FFFD}")), "{lossy:?}");
    }
    let faults = [
        (
            "a•",
            "byte 1: found U+2022, expected a character that MARC-8 has; write it as a numeric character reference",
        ),
        (
            "é\u{336}",
            "byte 2: found U+0336, expected a character that MARC-8 has; write it as a numeric character reference",
        ),
        ("\u{301}a", "byte 0: found the combining mark U+0301, expected a letter before it"),
        ("a\n\u{301}", "byte 2: found the combining mark U+0301, expected a letter before it"),
    ];
    for (text, message) in faults {
        let mut bytes = b"kept".to_vec();
        let error = encode(text, &mut bytes).unwrap_err();
        assert_eq!((bytes.as_slice(), error.to_string().as_str()), (&b"kept"[..], message));
    }
}

#[test]
fn a_slip_in_east_asian_text_does_not_garble_what_follows() {
    let mut text = String::new();
    let faults = decode_lossy(b"\x1B$1!04!0\x1B(B rest", &mut State::default(), &mut text);
    assert_eq!((faults, text.as_str()), (1, "中\u{FFFD} rest"));
}

#[test]
fn references_stand_for_what_has_no_code() {
    let cases: [(&str, &[u8]); 9] = [
        ("a • b", b"a &#x2022; b"),
        ("😀", b"&#x1F600;"),
        ("\u{AC03}", b"&#xAC03;"),
        ("e\u{301}\u{336}\u{302}", b"\xE2e\xE3&#x0336;"),
        ("Мир•", b"\x1B(NmIR\x1B(B&#x2022;"),
        ("&#x00E9; &#xE9; &#x2022 &amp; &#x02022;", b"&#x00E9; &#xE9; &#x2022 &amp; &#x02022;"),
        ("&#x2022;", b"&#x0026;#x2022;"),
        ("&#x0026;#x2022; &\u{301}#x2022;", b"&#x0026;#x0026;#x2022; \xE2&#x0026;#x2022;"),
        ("&#x0026; &#x0026;#x0041;", b"&#x0026; &#x0026;#x0041;"),
    ];
    for (text, bytes) in cases {
        let mut out = Vec::new();
        encode_with_references(text, &mut out).unwrap();
        assert_eq!(out, bytes, "{text}: {}", out.escape_ascii());
        assert_eq!(resolve_references(&decoded(bytes)), text);
    }
    // Unless requested, they are text like any other.
    check(b"a &#x2022; &#x0026;#x2022;", "a &#x2022; &#x0026;#x2022;");
}

/// Returns every code of every set, with its character and the escape sequence that precedes it.
fn whole_tables() -> Vec<(Set, Vec<u8>, char)> {
    let mut all = Vec::new();
    for set in Set::SINGLE {
        for (index, c) in SINGLE[set as usize].iter().enumerate().filter(|(_, c)| **c != 0) {
            all.push((set, vec![index as u8 + 0x20], char::from_u32(*c as u32).unwrap()));
        }
    }
    for a in 0x21..0x7F {
        for b in 0x21..0x7F {
            for c in 0x20..0x7F {
                if let Some(character) = eacc_character([a, b, c]) {
                    all.push((Set::Eacc, vec![a, b, c], character));
                }
            }
        }
    }
    all
}

#[test]
fn whole_tables_there_and_back() {
    let all = whole_tables();
    assert_eq!(all.len(), 16_389);
    let (mut variants, mut elsewhere) = (0, 0);
    for (set, code, character) in all {
        let designate: &[u8] = match set {
            Set::Ascii => b"\x1B(B",
            Set::Ansel => b"\x1B(!E",
            Set::Greek => b"\x1B(S",
            Set::GreekSymbols => b"\x1Bg",
            Set::Hebrew => b"\x1B(2",
            Set::Cyrillic => b"\x1B(N",
            Set::ExtendedCyrillic => b"\x1B(Q",
            Set::Arabic => b"\x1B(3",
            Set::ExtendedArabic => b"\x1B(4",
            Set::Subscripts => b"\x1Bb",
            Set::Superscripts => b"\x1Bp",
            Set::Eacc => b"\x1B$1",
        };
        let mark = is_mark_character(character);
        let bytes = [designate, &code, if mark { b" " } else { b"" }, b"\x1B(B"].concat();
        let text = decoded(&bytes);
        assert_eq!(text, if mark { format!(" {character}") } else { character.to_string() });
        assert_eq!(decoded(&encoded(&text)), text);
        let preferred = code_of(character).unwrap();
        let number = code.iter().fold(0, |n, byte| n << 8 | *byte as u32);
        if preferred != (Code { set, code: number }) {
            let both_eacc = set == Set::Eacc && preferred.set == Set::Eacc;
            let shared =
                set != Set::Eacc && super::lookup::code_in(set, character) == Some(code[0]);
            assert!(both_eacc || shared, "{set:?} {code:02X?} is lost");
            *if both_eacc { &mut variants } else { &mut elsewhere } += 1;
        }
    }
    // The figures in the module's documentation.
    assert_eq!((variants, elsewhere), (226, 93));
}

#[test]
fn canonical_equivalents_of_the_tables_encode_too() {
    for (_, _, character) in whole_tables() {
        if is_mark_character(character) {
            continue;
        }
        let text: String = [character].into_iter().nfd().collect();
        let back = decoded(&encoded(&text));
        assert!(back.nfd().eq(text.nfd()), "U+{:04X}", character as u32);
    }
}

needs_data!(agrees_with_another_library);
fn agrees_with_another_library() {
    let marc8 = std::fs::read(path("marc/marc8-pairs/test_marc8.txt")).unwrap();
    let utf8 = std::fs::read_to_string(path("marc/marc8-pairs/test_utf8.txt")).unwrap();
    // The other library composes. It also reads six three-byte codes of one vendor that the Library
    // of Congress does not list; they are on one line of the set.
    let vendor = b"\x1B$1\x21\x20\x3D";
    let (mut lines, mut tolerated) = (0, 0);
    let mut differences = Vec::new();
    for (bytes, text) in marc8.split(|b| *b == b'\n').zip(utf8.split('\n')) {
        lines += 1;
        if memchr::memmem::find(bytes, vendor).is_some() {
            tolerated += 1;
            continue;
        }
        let ours = decoded(bytes);
        if compose(&ours) != compose(text) {
            differences.push(format!("{}: {ours} / {text}", bytes.escape_ascii()));
        }
        assert_eq!(decoded(&encoded(&ours)), ours);
        let from_theirs = decoded(&encoded(text));
        assert!(from_theirs.nfd().eq(text.nfd()), "{text} came back as {from_theirs}");
    }
    println!("{lines} lines, {} differ: {differences:#?}", differences.len());
    assert!(lines > 1_500 && tolerated == 1 && differences.is_empty());
}

/// Why a field of a record came back as other bytes, or did not decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    /// A subfield ends in another set, contrary to the specification; ours returns to ASCII.
    NoReturn,
    /// The escape sequences differ or are elsewhere; the characters are the same bytes.
    Escapes,
    /// One of the 226 variant codes of EACC.
    Variant,
    /// Bytes that are not MARC-8.
    Faulty,
}

/// Returns `bytes` without escape sequences.
fn without_escapes(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        rest = match after {
            _ if *first != 0x1B => {
                out.push(*first);
                after
            }
            [b'(' | b')' | b',' | b'-', b'!', ..] => &after[3..],
            [b'(' | b')' | b',' | b'-' | b'$', _, ..] => &after[2..],
            [_, ..] => &after[1..],
            [] => after,
        };
    }
    out
}

fn difference(field: &[u8]) -> Option<Difference> {
    let mut text = String::new();
    if decode(field, &mut State::default(), &mut text).is_err() {
        return Some(Difference::Faulty);
    }
    let back = encoded(&text);
    assert_eq!(decoded(&back), text, "{}", field.escape_ascii());
    if back == field {
        return None;
    }
    let returns = field.split(|b| *b == 0x1F).all(|piece| {
        let mut state = State::default();
        decode(piece, &mut state, &mut String::new()).is_ok() && state == State::default()
    });
    Some(if !returns {
        Difference::NoReturn
    } else if without_escapes(&back) == without_escapes(field) {
        Difference::Escapes
    } else {
        Difference::Variant
    })
}

needs_data!(real_records_come_back_to_identical_bytes);
fn real_records_come_back_to_identical_bytes() {
    let mut paths = Vec::new();
    files(path("marc/binary"), &mut paths);
    let (mut records, mut in_utf8) = (0, 0);
    let mut differences = std::collections::BTreeMap::new();
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        for record in marc8_records(&bytes) {
            if record.iter().all(|field| is_plain(field)) {
                continue;
            }
            // A record in UTF-8 whose leader says MARC-8: every field beyond ASCII is UTF-8.
            let mut high = record.iter().filter(|field| !field.is_ascii()).peekable();
            if high.peek().is_some() && high.all(|field| std::str::from_utf8(field).is_ok()) {
                in_utf8 += 1;
                continue;
            }
            records += 1;
            // A record is classified by the worst of its fields.
            if let Some(worst) = record.iter().filter_map(|field| difference(field)).max() {
                *differences.entry(worst).or_insert(0) += 1;
            }
        }
    }
    let faulty = differences.get(&Difference::Faulty).copied().unwrap_or(0);
    let identical = records - differences.values().sum::<usize>();
    let share = 100.0 * identical as f64 / (records - faulty) as f64;
    println!(
        "{records} MARC-8 records beyond ASCII ({in_utf8} more are UTF-8 with a wrong leader)"
    );
    println!(
        "{identical} come back to identical bytes, {share:.2}% of those that decode; the others: {differences:?}"
    );
    assert!(records > 0 && share >= 97.0);
}

/// A small generator (xorshift64*): the same numbers in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Checks that whatever decodes without a fault encodes, and comes back as the very same text.
fn check_any(bytes: &[u8]) {
    let (mut text, mut lossy) = (String::new(), String::new());
    let result = decode(bytes, &mut State::default(), &mut text);
    let faults = decode_lossy(bytes, &mut State::default(), &mut lossy);
    assert_eq!(result.is_err(), faults > 0);
    match result {
        Ok(()) => {
            assert_eq!(text, lossy);
            assert_eq!(decoded(&encoded(&text)), text, "{}", bytes.escape_ascii());
        }
        Err(error) => {
            assert!(error.length > 0 && error.offset + error.length <= bytes.len());
            assert!(faults <= bytes.len());
        }
    }
}

#[test]
fn cut_anywhere() {
    let whole = b"Caf\xE2e \x1B(NwOJNA\x1B(B \x1B$1!D&!0a\x1B(B \x1Bp2\x1Bs\xE2\xE3\x1B)Qa\xE0\x1B-!E\x1B$)1\xA1\xB0\xB4\x1B(2AMy";
    for start in 0..whole.len() {
        for end in start..=whole.len() {
            check_any(&whole[start..end]);
        }
    }
}

#[test]
fn random_bytes() {
    let mut chance = Chance(0x9E37_79B9_7F4A_7C15);
    let finals = b"B!EESg2NQ34bp1()-,$s";
    for round in 0..60_000 {
        let bytes: Vec<u8> = (0..chance.below(40))
            .flat_map(|_| match (round % 3, chance.below(6)) {
                (0, _) => vec![chance.below(256) as u8],
                (_, 0) => vec![0x1B, b"(,)-$gbps"[chance.below(9)], *chance.pick(finals)],
                (_, 1) => vec![0x1B, b"$()"[chance.below(3)], *chance.pick(finals)],
                (_, 2) => vec![0xE0 + chance.below(0x1F) as u8],
                (1, 3) => vec![0x21, 0x30 + chance.below(3) as u8, 0x21 + chance.below(0x5E) as u8],
                _ => vec![0x20 + chance.below(0x5F) as u8],
            })
            .collect();
        check_any(&bytes);
    }
}

#[test]
fn random_text_comes_back() {
    let mut chance = Chance(42);
    let tables: Vec<char> = whole_tables().into_iter().map(|(_, _, c)| c).collect();
    let marks: Vec<char> = tables.iter().copied().filter(|c| is_mark_character(*c)).collect();
    let composed: Vec<char> = ('\u{C0}'..'\u{250}')
        .chain('\u{1E00}'..'\u{1F00}')
        .chain('\u{AC00}'..'\u{AD00}')
        .filter(|c| encode(&c.to_string(), &mut Vec::new()).is_ok())
        .collect();
    assert!(composed.len() > 300);
    for _ in 0..30_000 {
        let mut text = String::from("a");
        for _ in 0..chance.below(20) {
            text.push(match chance.below(5) {
                0 => *chance.pick(&tables[..800]),
                1 => *chance.pick(&tables),
                2 => *chance.pick(&composed),
                3 => *chance.pick(&marks),
                _ => chance.below(0x5F) as u8 as char,
            });
        }
        let text =
            text.replace('\u{1B}', "").chars().filter(|c| !c.is_control()).collect::<String>();
        let back = decoded(&encoded(&text));
        assert!(back.nfd().eq(text.nfd()), "{text:?} came back as {back:?}");
        let done = encode(&text, &mut Vec::new()).unwrap();
        assert!(back == text || done.recomposed > 0, "{text:?} came back as {back:?}");
        assert_eq!(decoded(&encoded(&back)), back);
        assert_eq!(encode(&back, &mut Vec::new()).unwrap(), Encoded::default());
    }
}

#[test]
fn random_text_with_references_comes_back() {
    let mut chance = Chance(7);
    let parts = [
        "&", "#x", "&#x", "0026;", "2022;", "0336;", "\u{301}", "\u{336}", "•", "é", "◌", "М",
        "東", "\u{5C1}", "😀", ";", "1F600;", "ớ",
    ];
    for _ in 0..60_000 {
        let text: String = std::iter::once("a")
            .chain((0..chance.below(12)).map(|_| *chance.pick(&parts)))
            .collect();
        let mut bytes = Vec::new();
        encode_with_references(&text, &mut bytes).unwrap();
        let read = decoded(&bytes);
        let back = resolve_references(&read);
        assert!(
            back.nfd().eq(text.nfd()),
            "{text:?} came back as {back:?} from {}",
            bytes.escape_ascii()
        );
    }
}
