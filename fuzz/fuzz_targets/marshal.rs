//! Any bytes as Marshal: same result whole and in pieces, no panic, a lossless round trip. Writing
//! back what was read is stable; neither a policy nor the survey panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regauge::{Format, OnLoss, Options, convert_bytes, marshal};

fuzz_target!(|data: &[u8]| {
    let error = regauge_fuzz::checks::check_reader(Format::Marshal, data);
    let survey = marshal::survey(data, &Default::default());
    assert!(survey.error.is_none() || error.is_some(), "{survey:?}");
    let mut data_only = Options::new(Format::Marshal, Format::Json);
    data_only.on_loss = OnLoss::Approximate;
    let _ = convert_bytes(data, &data_only);
    let exact = Options::new(Format::Marshal, Format::Marshal);
    if let Ok(written) = convert_bytes(data, &exact) {
        let again = convert_bytes(&written, &exact).expect("what was written can be read");
        assert!(again == written, "written differently the second time");
    }
});
