//! Any bytes as pickle: whole and in pieces alike, no panic, a round trip that changes nothing. What
//! comes as a pickle and goes as one means the same and would do the same when loaded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regauge::Format;

fuzz_target!(|data: &[u8]| {
    regauge_fuzz::checks::check_reader(Format::Pickle, data);
    regauge_fuzz::checks::check_pickle(data);
});
