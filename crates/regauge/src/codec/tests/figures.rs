//! Documents and a writer for the figures of second readers, which docs/design.md lists.

use crate::bytes::reader::{Parse, Reader};
use crate::codec::msgpack;
use crate::policy::event::Source as _;
use crate::{Format, OnLoss, Options};

/// Documents of several kinds, below `build/data/json`.
pub(in crate::codec) const DOCUMENTS: [&str; 4] =
    ["twitter.json", "canada.json", "citm_catalog.json", "small/demo.json"];

/// Returns a document in another format.
pub(in crate::codec) fn document(name: &str, format: Format) -> Vec<u8> {
    let text = std::fs::read(regauge_testdata::path("json").join(name)).unwrap();
    crate::convert_bytes(&text, &Options::new(Format::Json, format)).unwrap()
}

/// Reads a document, writing MessagePack.
pub(in crate::codec) fn to_msgpack<P: Parse>(reader: &mut Reader<'_, P>) -> Vec<u8> {
    let mut writer = msgpack::Writer::in_memory(OnLoss::Refuse);
    assert!(reader.next(&mut writer).unwrap());
    writer.into_vec()
}
