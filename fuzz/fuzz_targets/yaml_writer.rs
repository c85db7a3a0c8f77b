//! Any MessagePack as YAML, in any layout: our reader reads the output as the same values, and the
//! writer writes it again identically. So every text and key was quoted where necessary.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regauge::{Format, Options, convert_bytes};
use regauge_fuzz::checks::lossless;

fuzz_target!(|data: &[u8]| {
    let [layout, data @ ..] = data else { return };
    let mut there = lossless(Format::Msgpack, Format::Yaml);
    there.yaml_write.indent = 1 + layout % 9;
    there.yaml_write.indent_sequences = layout & 16 != 0;
    there.yaml_write.document_start = layout & 32 != 0;
    let Ok(written) = convert_bytes(data, &there) else { return };
    // Text that is not UTF-8, for example, is read but never written.
    if convert_bytes(data, &Options::new(Format::Msgpack, Format::Msgpack)).is_err() {
        return;
    }
    let mut back = Options::new(Format::Yaml, Format::Msgpack);
    back.unwrap = true;
    let read = convert_bytes(&written, &back)
        .unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&written)));
    // Singles become doubles, and the sign of a NaN, which has no meaning, is not kept, as in
    // Marshal.
    let shown = |bytes: &[u8]| {
        convert_bytes(bytes, &lossless(Format::Msgpack, Format::Marshal)).expect("read before")
    };
    assert!(shown(data) == shown(&read), "{}", String::from_utf8_lossy(&written));
    assert!(convert_bytes(&read, &there).expect("written before") == written);
});
