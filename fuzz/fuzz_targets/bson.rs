//! Any bytes as BSON: whole and in pieces alike, no panic, a round trip that changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regauge::Format;

fuzz_target!(|data: &[u8]| {
    regauge_fuzz::checks::check_reader(Format::Bson, data);
});
