//! Broken files: no panic leaves the reader. A test of its own, because it keeps panics quiet.
#![cfg(feature = "parquet")]

mod common;

use common::{corpus, read};
use regauge::Limits;

/// A file that is cut anywhere is an error, and one with a wrong byte anywhere is read or is an error.
#[test]
fn broken_files_are_errors() {
    std::panic::set_hook(Box::new(|_| {}));
    for (name, bytes) in corpus("valid") {
        let step = if bytes.len() > 3000 { 17 } else { 1 };
        for cut in (0..bytes.len()).step_by(step) {
            let found = read(bytes[..cut].to_vec(), &Limits::default());
            assert!(found.is_err(), "{name}: cut at {cut}");
        }
        for at in (0..bytes.len()).step_by(step) {
            for flip in [0x01, 0x80, 0xFF] {
                let mut wrong = bytes.clone();
                wrong[at] ^= flip;
                let _ = read(wrong, &Limits::default());
            }
        }
    }
}
