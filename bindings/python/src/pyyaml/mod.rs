//! PyYAML, for `regauge.compat.yaml`: which documents it reads and writes as regauge does, and whether
//! its classes still do.

mod bare;
mod registered;

use memchr::memchr2_iter;
use pyo3::prelude::*;
use regauge::yaml::{self, Peer};

use crate::raw::bytes::Input;
pub use bare::Bare;
pub use registered::PyRegistered;

/// Returns whether PyYAML may refuse a document that regauge reads, or read it differently.
#[pyfunction]
pub fn yaml_differs(data: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(differs(Input::new(data)?.as_slice()))
}

/// The same for its bytes.
pub fn differs(bytes: &[u8]) -> bool {
    let text_differs = |text| has_control(bytes) || yaml::differs(text, Peer::PyYaml);
    simdutf8::basic::from_utf8(bytes).map_or(true, text_differs)
}

/// Returns whether UTF-8 has a control character that YAML 1.2 has in quoted text, and PyYAML nowhere.
fn has_control(bytes: &[u8]) -> bool {
    memchr2_iter(0x7F, 0xC2, bytes)
        .any(|at| matches!(bytes[at..], [0x7F, ..] | [0xC2, 0x80..=0x84 | 0x86..=0x9F, ..]))
}
