//! Bytes in pieces, bytes cut off, bytes at random: the same rows, the same error, no panic.

use regauge_testdata::Random;

use super::*;
use crate::policy::event::recorder::Pieces;

/// How the bytes come.
#[derive(Clone, Copy)]
enum Feed {
    Whole,
    ByWindow,
    ByByte,
}

/// Converts to NDJSON, and shows what came of it, broken rows included.
fn outcome(bytes: &[u8], feed: Feed, options: &All) -> String {
    let mut output = Vec::new();
    let input = match feed {
        Feed::Whole => Input::Bytes(bytes),
        Feed::ByWindow => Input::Once(Box::new(bytes)),
        Feed::ByByte => Input::Once(Box::new(Pieces(bytes, 1))),
    };
    let mut bad = Vec::new();
    let mut on_bad = |piece: crate::reader::Skipped| {
        let error = piece.error.map(|error| (error.kind(), error.offset(), error.record()));
        bad.push((error, piece.offset, piece.head, piece.bytes));
        Ok(())
    };
    let ran = convert(input, StreamOutput::new(&mut output), options, &mut on_bad);
    let ran = ran.map(|summary| summary.documents).map_err(|error| {
        (error.kind(), error.offset(), error.record(), error.message().to_owned())
    });
    format!("{ran:?} {bad:?} {}", output.escape_ascii())
}

#[track_caller]
fn check_pieces(bytes: &[u8], options: &All) {
    let whole = outcome(bytes, Feed::Whole, options);
    let pieces = outcome(bytes, Feed::ByByte, options);
    assert_eq!(whole, pieces, "{}", bytes.escape_ascii());
}

/// Parts of tables, valid and not, put together at random: whole and in pieces give the same, and what
/// was read can be written and read.
#[test]
fn at_random() {
    const PARTS: [&[u8]; 18] = [
        b"a",
        b"b",
        b",",
        b",",
        b"\n",
        b"\n",
        b"\r\n",
        b"\r",
        b"\"",
        b"\"\"",
        b"\"x\"",
        b" ",
        b"1",
        b"true",
        b"$value:1",
        b"\xEF\xBB\xBF",
        b"\xFF",
        b"\t",
    ];
    let mut read = 0;
    for seed in 1..6_000 {
        let mut random = Random::new(seed);
        let count = random.below(24);
        let mut bytes = b"a,b\n1,2\n"[..random.below(3) * 4].to_vec();
        (0..count).for_each(|_| bytes.extend(PARTS[random.below(PARTS.len())]));
        let mut options = options(Format::Csv, Format::Ndjson);
        options.csv.header = random.below(3) > 0;
        options.csv.types = [Types::Text, Types::Infer][random.below(2)];
        options.skip_bad = random.below(2) > 0;
        check_pieces(&bytes, &options);
        let mut same = options.clone();
        same.to = Format::Csv;
        if let Ok(written) = convert_bytes(&bytes, &same) {
            let found = convert_bytes(&bytes, &options).unwrap();
            assert_eq!(convert_bytes(&written, &options).unwrap(), found);
            assert_eq!(convert_bytes(&written, &same).unwrap(), written);
            read += 1;
        }
    }
    assert!(read > 1000, "{read}");
}

/// A field larger than a window, in quotes and not, with what may end it in odd places.
#[test]
fn long_fields() {
    let long = "x".repeat(300_000);
    let quotes = "\"\"".repeat(200_000);
    for input in [
        format!("a,b\r\n{long},{long}\r\n1,{long}"),
        format!("a,b\n\"{quotes}\",\"{long}\n\"\r\n"),
        format!("{long},\"{quotes}\"\n1,2"),
        format!("a,b\n1,\"{quotes}"),
        format!("a,b\n1,{long}\"\n"),
    ] {
        let options = options(Format::Csv, Format::Ndjson);
        let whole = outcome(input.as_bytes(), Feed::Whole, &options);
        assert_eq!(whole, outcome(input.as_bytes(), Feed::ByWindow, &options));
    }
}

/// A broken row may be longer than a window, and an open quote takes all that follows.
#[test]
fn long_broken_rows_are_passed_over() {
    let long = "x\n".repeat(400_000);
    let input = format!("a,b\n1,2\n\"{long}\"y,3\n4,5\n6,\"{long}");
    let mut options = options(Format::Csv, Format::Ndjson);
    options.skip_bad = true;
    let mut lengths = Vec::new();
    let mut output = Vec::new();
    let summary = convert(
        Input::Once(Box::new(input.as_bytes())),
        StreamOutput::new(&mut output),
        &options,
        &mut |piece| {
            match piece.continues {
                true => *lengths.last_mut().unwrap() += piece.bytes.len(),
                false => lengths.push(piece.bytes.len()),
            }
            Ok(())
        },
    );
    let summary = summary.unwrap();
    assert_eq!((summary.documents, summary.bad_records), (2, 2));
    assert_eq!(lengths, [long.len() + 6, long.len() + 3]);
}
