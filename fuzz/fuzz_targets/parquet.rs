//! Any bytes as Parquet: no panic that leaves the reader, no memory beyond what the limits allow, and a round trip
//! that changes nothing: what is read is written with the same columns, and read again as the same.
#![no_main]

use std::sync::{Arc, Once};

use libfuzzer_sys::fuzz_target;
use regauge::tree::Builder;
use regauge::{Format, Limits, OnLoss, Options, Value};
use regauge_arrow::Losses;
use regauge_arrow::parquet::{Compression, FileReader, How, write};

/// A few bytes can stand for any number of rows.
const ROWS_MAX: usize = 300;

fn limits() -> Limits {
    let mut limits = Limits::default();
    for (name, value) in [("record_bytes", 4 << 20), ("token_bytes", 1 << 20), ("nodes", 4096)] {
        limits.set(name, Some(value));
    }
    limits
}

/// Returns the first rows of a file, if it has no fault before them.
fn rows(reader: &mut FileReader, limits: &Limits) -> Option<Vec<Value>> {
    let mut rows = Vec::new();
    while rows.len() < ROWS_MAX {
        let mut builder = Builder::new(limits);
        if !reader.next(&mut builder).ok()? {
            break;
        }
        rows.extend(builder.take());
    }
    Some(rows)
}

fuzz_target!(|data: &[u8]| {
    // Panics of the decoder become errors; those of ours end the process all the same.
    static QUIET: Once = Once::new();
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    let limits = limits();
    let Ok(mut reader) = FileReader::open(Arc::new(data.to_vec()), &limits) else { return };
    let schema = reader.columns();
    let Some(found) = rows(&mut reader, &limits) else { return };
    let how = How {
        compression: Compression::None,
        sample: 1,
        schema: Some(schema),
        on_loss: OnLoss::Refuse,
        is_marc: false,
    };
    let options = Options::new(Format::Cbor, Format::Ndjson);
    let mut bytes = Vec::new();
    let written = write(&mut bytes, &options, &how, &Losses::strict(), |sink| {
        found.iter().try_for_each(|row| {
            row.drive(sink)?;
            sink.end_document()
        })
    });
    // There are types that are read and not written, and names of columns that stand twice.
    if written.is_err() {
        return;
    }
    let mut again = FileReader::open(Arc::new(bytes), &Limits::default()).expect("written by us");
    let again = rows(&mut again, &Limits::default()).expect("written by us");
    // NaN is no equal of itself.
    assert_eq!(format!("{again:?}"), format!("{found:?}"));
});
