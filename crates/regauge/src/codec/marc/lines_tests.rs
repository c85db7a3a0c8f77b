//! What the tests of the formats of lines have in common.

use crate::convert::Input;
use crate::policy::event::recorder::Pieces;
use crate::reader::Skipped;
use crate::{Error, Format, OnLoss, Options, StreamOutput, convert, convert_bytes};

fn shown(error: &Error) -> String {
    let place = (error.kind(), error.offset(), error.record(), error.record_id());
    format!("{place:?} {}", error.message())
}

/// Converts to MARC-in-JSON, and shows what came of it, broken records included.
fn outcome(bytes: &[u8], is_whole: bool, options: &Options) -> String {
    let mut output = Vec::new();
    let input = match is_whole {
        true => Input::Bytes(bytes),
        false => Input::Once(Box::new(Pieces(bytes, 1))),
    };
    let mut bad = Vec::new();
    let mut on_bad = |piece: Skipped| {
        let error = piece.error.map(|error| shown(&error));
        bad.push((error, piece.offset, piece.bytes));
        Ok(())
    };
    let ran = convert(input, StreamOutput::new(&mut output), options, &mut on_bad);
    let ran = ran.map(|summary| (summary.documents, summary.fidelity.count())).map_err(|error| {
        (error.kind(), error.offset(), error.record(), error.message().to_owned())
    });
    format!("{ran:?} {bad:?} {}", output.escape_ascii())
}

/// Checks that bytes give the same whole and one by one.
#[track_caller]
pub(super) fn check_pieces(format: Format, bytes: &[u8], skip_bad: bool) {
    let mut options = Options::new(format, Format::MarcJson);
    options.skip_bad = skip_bad;
    let whole = outcome(bytes, true, &options);
    let pieces = outcome(bytes, false, &options);
    assert_eq!(whole, pieces, "{}", bytes.escape_ascii());
}

/// Checks that what is read can be written and read again as the same records.
#[track_caller]
pub(super) fn check_round_trip(format: Format, bytes: &[u8]) {
    let mut options = Options::new(format, Format::MarcJson);
    let Ok(read) = convert_bytes(bytes, &options) else { return };
    options = Options::new(Format::MarcJson, format);
    options.on_loss = OnLoss::Wrap;
    let shown = bytes.escape_ascii();
    let written = convert_bytes(&read, &options).unwrap_or_else(|error| panic!("{shown}: {error}"));
    options = Options::new(format, Format::MarcJson);
    options.unwrap = true;
    let again =
        convert_bytes(&written, &options).unwrap_or_else(|error| panic!("{shown}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&again), text(&read), "{shown}");
}
