//! Rules of a selection (one per tab on the first line) on JSON: no panic, and the same documents
//! directly and by way of MessagePack.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regauge::convert::Selection;
use regauge::{Format, Options, convert_bytes};

fuzz_target!(|data: &[u8]| {
    let Some(line) = data.iter().position(|byte| *byte == b'\n') else { return };
    let (rules, document) = (&data[..line], &data[line + 1..]);
    let Ok(rules) = std::str::from_utf8(rules) else { return };
    let mut selection = Selection::new();
    for rule in rules.split('\t') {
        let added = match rule.split_at_checked(1) {
            Some(("+", path)) => selection.only(path),
            Some(("=", path)) => selection.rename_to(path),
            Some((_, path)) => selection.drop(path),
            None => continue,
        };
        if added.is_err() {
            return;
        }
    }
    let plain = |bytes: &[u8], from, to| convert_bytes(bytes, &Options::new(from, to));
    let selected = |bytes: &[u8], from, to| {
        let mut options = Options::new(from, to);
        options.select = selection.clone();
        convert_bytes(bytes, &options)
    };
    let Ok(packed) = plain(document, Format::Json, Format::Msgpack) else { return };
    let direct = selected(document, Format::Json, Format::Msgpack);
    let after = selected(&packed, Format::Msgpack, Format::Msgpack);
    match (direct, after) {
        (Ok(direct), Ok(after)) => assert!(direct == after, "{rules}"),
        (Err(direct), Err(after)) => assert_eq!(direct.kind(), after.kind(), "{rules}"),
        (direct, after) => panic!("{rules}: {direct:?}, {after:?}"),
    }
});
