//! Properties that hold for every input of every format. Tests check them over the corpus and over
//! real files, fuzzing over everything else.

use std::io::Read;

use regauge::convert::{Input, Options, convert};
use regauge::output::StreamOutput;
use regauge::{Error, ErrorKind, Format, OnLoss, convert_bytes};

/// A stream that delivers its bytes in pieces of 1 to 7, with sizes derived from `seed`.
struct Drip<'a> {
    bytes: &'a [u8],
    seed: u64,
}

impl Read for Drip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let piece = (1 + (self.seed >> 33) as usize % 7).min(buffer.len()).min(self.bytes.len());
        buffer[..piece].copy_from_slice(&self.bytes[..piece]);
        self.bytes = &self.bytes[piece..];
        Ok(piece)
    }
}

/// Returns options that keep everything: `from` to `to` in the reversible notation.
pub fn lossless(from: Format, to: Format) -> Options {
    let mut options = Options::new(from, to);
    options.on_loss = OnLoss::Wrap;
    options
}

/// Returns the same for a document that is itself in the notation.
pub fn rewrapped(from: Format, to: Format) -> Options {
    let mut options = lossless(from, to);
    options.unwrap = true;
    options
}

/// Converts from a stream that drips.
pub fn convert_dripping(bytes: &[u8], seed: u64, options: &Options) -> Result<Vec<u8>, Error> {
    let mut output = Vec::new();
    let input = Input::Once(Box::new(Drip { bytes, seed }));
    convert(input, StreamOutput::new(&mut output), options, &mut |_| Ok(()))?;
    Ok(output)
}

/// Reads `bytes` as `format` and checks:
/// - the whole input and pieces give the same events, or the same error at the same offset;
/// - an error has a place and a message;
/// - a document that is written in its own format and read again is unchanged (compared in
///   MessagePack, which holds nearly everything);
/// - what the writer wrote once, it writes again.
///
/// Returns the error, if there was one.
pub fn check_reader(format: Format, bytes: &[u8]) -> Option<Error> {
    let read = check_pieces(bytes, &lossless(format, Format::Msgpack));
    read.map(|packed| check_round_trip(format, &packed)).err()
}

/// Converts input whole and in pieces, and checks that both give the same bytes or the same error,
/// with its place.
pub fn check_pieces(bytes: &[u8], options: &Options) -> Result<Vec<u8>, Error> {
    let format = options.from;
    let whole = convert_bytes(bytes, options);
    let pieces = convert_dripping(bytes, bytes.len() as u64, options);
    match (whole, pieces) {
        (Ok(whole), Ok(pieces)) => {
            assert!(whole == pieces, "{format}: whole and in pieces differ");
            Ok(whole)
        }
        (Err(whole), Err(pieces)) => {
            assert_eq!(whole.kind(), pieces.kind(), "{whole} / {pieces}");
            assert_eq!(whole.record(), pieces.record(), "{whole} / {pieces}");
            // A reader of the whole input can tell earlier that announced bytes are missing.
            if whole.kind() != ErrorKind::Truncated {
                assert_eq!(whole.message(), pieces.message());
                assert_eq!(whole.offset(), pieces.offset(), "{whole} / {pieces}");
            }
            let offset = whole.offset().expect("an error has an offset");
            assert!(offset <= bytes.len() as u64, "{whole}");
            assert!(!whole.message().is_empty());
            Err(whole)
        }
        (Ok(_), Err(error)) => panic!("{format}: only in pieces: {error}"),
        (Err(error), Ok(_)) => panic!("{format}: only whole: {error}"),
    }
}

fn check_round_trip(format: Format, packed: &[u8]) {
    let mut back = rewrapped(Format::Msgpack, format);
    // A call in the pickle becomes a call again: its description could not be in a set.
    back.pickle.calls = true;
    if matches!(format, Format::Json | Format::MarcJson) {
        // A JSON file is one document, and so is its MessagePack; an array is not a MARC record.
        back.documents = regauge::documents::Documents::Keep;
    }
    let written = match convert_bytes(packed, &back) {
        Ok(written) => written,
        // Its reader accepts any JSON, its writer only records.
        Err(error) if format == Format::MarcJson && error.kind() == ErrorKind::Unrepresentable => {
            return;
        }
        Err(error) => panic!("{format}: cannot write what it read: {error}"),
    };
    let again = convert_bytes(&written, &rewrapped(format, Format::Msgpack))
        .unwrap_or_else(|error| panic!("{format}: cannot read what it wrote: {error}"));
    let same = comparable(format, &again) == comparable(format, packed);
    assert!(same, "{format}: a round trip through the format changes the document");
    let twice = convert_bytes(&again, &back).expect("written once already");
    assert!(twice == written, "{format}: the second write differs from the first");
}

/// Returns the MessagePack of documents without what their format recomputes on writing: the two
/// numbers in the leader of a MARC record, which change if MARC-8 is spelt differently.
fn comparable(format: Format, packed: &[u8]) -> Vec<u8> {
    let mut bytes = packed.to_vec();
    if format == Format::Marc {
        let key = b"\xA6leader";
        let mut at = 0;
        while let Some(found) = bytes[at..].windows(key.len()).position(|part| part == key) {
            at += found + key.len();
            // The key is followed by the header of a text of 24 to 48 bytes.
            at += if bytes[at] == 0xD9 { 2 } else { 1 };
            let characters = bytes[at..].iter_mut().filter(|byte| **byte & 0xC0 != 0x80).take(17);
            for (_, byte) in characters.enumerate().filter(|(n, _)| !(5..12).contains(n)) {
                *byte = b'0';
            }
        }
    }
    bytes
}

/// Cuts `bytes` at every place (at most `most` of them, evenly spread) and reads what is left.
/// Checks that there is no panic, that any error lies within what is left, and that there are never
/// more documents than before.
#[allow(dead_code, reason = "not every test that includes this cuts its inputs")]
pub fn check_cuts(format: Format, bytes: &[u8], most: usize) {
    let options = lossless(format, Format::Msgpack);
    let documents = |bytes: &[u8]| {
        let output = StreamOutput::new(std::io::sink());
        convert(Input::Bytes(bytes), output, &options, &mut |_| Ok(()))
            .map(|summary| summary.documents)
    };
    let whole = documents(bytes).expect("the whole input is valid");
    let step = (bytes.len() / most.max(1)).max(1);
    for cut in (0..bytes.len()).step_by(step) {
        match documents(&bytes[..cut]) {
            Ok(left) => assert!(left <= whole, "{format}: {left} documents up to byte {cut}"),
            Err(error) => assert!(error.offset().is_some_and(|at| at <= cut as u64), "{error}"),
        }
    }
}

/// Reads `bytes` as pickles and writes them as pickles. Checks that the result means the same, and
/// that loading it would make the same imports and calls, apart from harmless ones.
pub fn check_pickle(bytes: &[u8]) {
    use regauge::pickle::{Risk, Verdict, survey};
    let mut same = Options::new(Format::Pickle, Format::Pickle);
    same.pickle.protocol = Some(5);
    let Ok(written) = convert_bytes(bytes, &same) else { return };
    let neutral = |bytes: &[u8]| convert_bytes(bytes, &lossless(Format::Pickle, Format::Msgpack));
    let told = |bytes: &[u8]| {
        let survey = survey(bytes, &Default::default());
        let calls = survey.calls.iter().filter(|call| call.risk > Risk::Harmless);
        let mut calls: Vec<_> = calls.map(|call| call.callable.clone()).collect();
        calls.sort();
        let mut extensions = survey.extensions.clone();
        extensions.sort();
        // Bytes are a call in old protocols, but not in new ones.
        let verdict = survey.verdict().max(Verdict::HarmlessTypes);
        (verdict, calls, extensions, survey.persistent_ids)
    };
    let (verdict, calls, extensions, persistent_ids) = told(bytes);
    let before = neutral(bytes).expect("read once already");
    let after = neutral(&written).unwrap_or_else(|error| panic!("wrote a broken pickle: {error}"));
    assert!(before == after, "the round trip through pickle changes the document");
    let (verdict_after, calls_after, extensions_after, persistent_ids_after) = told(&written);
    assert_eq!(verdict, verdict_after);
    assert_same_and_no_fewer(&calls, &calls_after);
    assert_same_and_no_fewer(&extensions, &extensions_after);
    assert!(
        persistent_ids_after >= persistent_ids
            && (persistent_ids > 0) == (persistent_ids_after > 0)
    );
}

/// Checks for the same items, each at least as often: one in a key as well as elsewhere is created
/// twice.
fn assert_same_and_no_fewer<T: Clone + std::fmt::Debug + Ord>(before: &[T], after: &[T]) {
    let times = |all: &[T], one: &T| all.iter().filter(|other| *other == one).count();
    for one in before.iter().chain(after) {
        let (first, second) = (times(before, one), times(after, one));
        assert!(
            first > 0 && second >= first,
            "{one:?} occurred {first} times before and {second} times after"
        );
    }
}
