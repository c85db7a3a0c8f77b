//! Any bytes as CSV and TSV: whole and in pieces alike, no panic, a round trip that changes nothing; and
//! what we read, with and without inferred types, the `csv` crate reads as the same fields.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regauge::csv::Types;
use regauge::{Format, Options, Value, convert_bytes, read_values};
use regauge_fuzz::checks::check_reader;

fuzz_target!(|data: &[u8]| {
    for (format, delimiter) in [(Format::Csv, b','), (Format::Tsv, b'\t')] {
        check_reader(format, data);
        let mut options = Options::new(format, format);
        options.csv.types = Types::Infer;
        // What is inferred is written as it was read.
        if let Ok(written) = convert_bytes(data, &options) {
            assert_eq!(convert_bytes(&written, &options).expect("written by us"), written);
            options.csv.types = Types::Text;
            let text = |bytes: &[u8]| read_values(bytes, &options).expect("read before");
            assert_eq!(text(data), text(&written));
        }
        let mut options = Options::new(format, format);
        options.csv.header = false;
        let Ok(rows) = read_values(data, &options) else { continue };
        let mut theirs = csv::ReaderBuilder::new();
        let theirs = theirs.has_headers(false).flexible(true).delimiter(delimiter);
        let theirs: Vec<Value> = theirs
            .from_reader(data)
            .records()
            .map(|row| {
                let row = row.expect("UTF-8, as we have seen");
                row.iter().map(|field| Value::Text(field.to_owned())).collect()
            })
            .collect();
        assert_eq!(theirs, rows);
    }
});
