//! A filter (the first line) on a JSON document: no panic, an end within the limit of time, and
//! outputs that can be read again.
#![no_main]

use std::sync::Arc;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use regauge::{Format, OnLoss, Options, convert_bytes};
use regauge_query::{Filter, Settings};

fuzz_target!(|data: &[u8]| {
    let Some(line) = data.iter().position(|byte| *byte == b'\n') else { return };
    let (code, document) = (&data[..line], &data[line + 1..]);
    let Ok(filter) = std::str::from_utf8(code).map(|code| Filter::compile(code, &[])) else { return };
    let filter = match filter {
        Ok(filter) => filter,
        Err(fault) => return assert!(!fault.to_string().is_empty()),
    };
    let time = Some(Duration::from_secs(1));
    let mut options = Options::new(Format::Json, Format::Ndjson);
    options.on_loss = OnLoss::Approximate;
    options.stage = Some(Arc::new(filter.into_stage(Settings { time, ..Settings::default() })));
    let Ok(written) = convert_bytes(document, &options) else { return };
    // A decimal is written with its digits, however large.
    let mut exact = Options::new(Format::Ndjson, Format::Ndjson);
    exact.json_read.exact_numbers = true;
    let again = convert_bytes(&written, &exact);
    assert!(again.is_ok(), "{again:?}");
});
