//! PyYAML, for `regauge.compat.yaml`: which documents it reads and writes as regauge does, and whether
//! its classes still do.

mod bare;
mod registered;

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
    simdutf8::basic::from_utf8(bytes).map_or(true, |text| yaml::differs(text, Peer::PyYaml))
}
