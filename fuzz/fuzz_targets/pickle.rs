//! Any bytes as pickle: same result whole and in pieces, no panic, a lossless round trip. A pickle
//! that is read and written as a pickle means the same and would do the same when loaded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regauge::Format;

fuzz_target!(|data: &[u8]| {
    regauge_fuzz::checks::check_reader(Format::Pickle, data);
    regauge_fuzz::checks::check_pickle(data);
});
