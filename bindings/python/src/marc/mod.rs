//! The native parts of `regauge.marc`: checks a record's bytes, creates its fields, writes them
//! again. Irregular records are left to the Python code, which reports the problem.

mod layout;
mod make;
mod records;
mod take;

use pyo3::prelude::*;
use regauge::marc::marc8;

/// Converts MARC-8 to text, and counts the characters that were not MARC-8 (each became U+FFFD).
#[pyfunction]
pub fn marc8_decode(data: &[u8]) -> (String, usize) {
    let mut out = String::new();
    let bad = marc8::decode_lossy(data, &mut marc8::State::default(), &mut out);
    (marc8::compose(&out).into_owned(), bad)
}

/// Returns the functions in a module of their own.
pub fn add(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "regauge._marc")?;
    module.add_function(wrap_pyfunction!(layout::is_regular, &module)?)?;
    module.add_function(wrap_pyfunction!(make::fields, &module)?)?;
    module.add_function(wrap_pyfunction!(make::record, &module)?)?;
    module.add_function(wrap_pyfunction!(make::settle, &module)?)?;
    module.add_function(wrap_pyfunction!(take::encode, &module)?)?;
    module.add_function(wrap_pyfunction!(marc8_decode, &module)?)?;
    module.add_function(wrap_pyfunction!(take::write_xml, &module)?)?;
    module.add_class::<records::PyRecords>()?;
    module.add_class::<records::PyFields>()?;
    parent.add("_marc", module)
}
