//! Any bytes as a dump: no panic, no memory beyond the limit, the same items whole and in pieces, and without values
//! as many keys as with them.
#![no_main]

use std::io::Read;

use libfuzzer_sys::fuzz_target;
use regauge_sources::rdb::Rdb;
use regauge_sources::{Flow, Result, Source, Summary, Wanted};

/// A few bytes at a time.
struct Pieces<'a>(&'a [u8]);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.len().min(buffer.len()).min(3);
        self.0.read(&mut buffer[..count])
    }
}

fn read(dump: impl Read, values: bool) -> (Vec<String>, Result<Summary>) {
    let wanted = Wanted { values, value_bytes_max: 1 << 20, ..Wanted::default() };
    let mut items = Vec::new();
    let result = Rdb::new(dump).read(&wanted, &mut |item| {
        // NaN is no equal of itself.
        items.push(format!("{item:?}"));
        Ok(if items.len() < 10_000 { Flow::Continue } else { Flow::Stop })
    });
    (items, result)
}

fuzz_target!(|data: &[u8]| {
    let (items, result) = read(data, true);
    let (again, same) = read(Pieces(data), true);
    assert_eq!(items, again);
    let said = |result: &Result<Summary>| result.as_ref().err().map(ToString::to_string);
    assert_eq!(said(&result), said(&same));
    if let Some(error) = result.as_ref().err() {
        assert!(error.offset().is_some_and(|offset| offset <= data.len() as u64), "{error}");
    }
    let (keys, skipped) = read(data, false);
    if let (Ok(read), Ok(skipped)) = (result, skipped) {
        if read.is_whole && skipped.is_whole {
            assert_eq!((read.keys, read.skipped), (skipped.keys, skipped.skipped));
            assert_eq!(keys.len() as u64, skipped.keys);
        }
    }
});
