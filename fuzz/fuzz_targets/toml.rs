//! Any bytes as TOML: whole and in pieces alike, no panic, a round trip that changes nothing; and the
//! `toml` crate reads what we read, and refuses what we refuse, but for what is listed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regauge::{Format, toml as ours};
use regauge_fuzz::checks::check_reader;

fuzz_target!(|data: &[u8]| {
    let error = check_reader(Format::Toml, data);
    let Ok(text) = std::str::from_utf8(data) else { return };
    let theirs = text.parse::<toml::Table>();
    match (error, &theirs) {
        (None, Ok(_)) | (Some(_), Err(_)) => {}
        // Integers of more than 64 bits, floats beyond a double, nesting of more than 80 levels.
        (Some(ours), Ok(_)) if LAXER.iter().any(|part| ours.message().contains(part)) => {}
        (None, Err(theirs)) if STRICTER.iter().any(|part| theirs.message().contains(part)) => {}
        (None, Err(theirs)) => panic!("only we read it: {theirs}\n{text:?}"),
        (Some(ours), Ok(_)) => panic!("only they read it: {ours}\n{text:?}"),
    }
    // What we write, they read too.
    if let Ok(value) = ours::from_slice(data)
        && theirs.is_ok()
    {
        let written = ours::to_vec(&value, regauge::OnLoss::Refuse).expect("read from TOML");
        let written = String::from_utf8(written).expect("TOML is text");
        let again = written.parse::<toml::Table>().unwrap_or_else(|e| panic!("{e}\n{written}"));
        // Debug, since a NaN is not equal to itself. It tells spellings of a time apart, as 07:32.
        if !text.contains(':') {
            assert_eq!(format!("{again:?}"), format!("{:?}", theirs.expect("seen before")));
        }
    }
});

/// What the crate reads and we do not.
const LAXER: [&str; 3] = [
    "within the range of a double",
    "one from -2^63 to 2^63-1",
    // In braces, a line may end between entries, not around a key's `=` (`keyval-sep`).
    "expected a key and its value on one line",
];

/// What we read and the crate does not.
const STRICTER: [&str; 1] = ["recursion"];
