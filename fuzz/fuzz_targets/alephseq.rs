//! Any bytes as Aleph sequential: same result whole and in pieces, no panic, a lossless round trip.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regauge::Format;

fuzz_target!(|data: &[u8]| {
    regauge_fuzz::checks::check_reader(Format::AlephSeq, data);
});
