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

/// Returns the character of a number in the set with this final byte, and whether it is a mark on the next one. Sets
/// have one half, as in pymarc's tables.
#[pyfunction]
pub fn marc8_character(set: u32, code: u32) -> Option<(String, bool)> {
    let set = u8::try_from(set).ok()?;
    let [_, first, second, third] = code.to_be_bytes();
    let bytes = match (set, code) {
        (b'B' | b'S' | b'N' | b'2' | b'3', 0x21..0x7F) => vec![0x1B, b'(', set, third],
        (b'g' | b'b' | b'p', 0x21..0x7F) => vec![0x1B, set, third],
        (b'B', 0x20) => vec![third],
        (b'E', 0xA1..0xFF) => vec![third],
        (b'4' | b'Q', 0xA1..0xFF) => vec![0x1B, b')', set, third],
        (b'1', 0x21_2121..=0x7E_7E7E) => vec![0x1B, b'$', b'1', first, second, third],
        _ => return None,
    };
    let mut out = String::new();
    marc8::decode(&bytes, &mut marc8::State::default(), &mut out).ok()?;
    let is_mark = out.chars().count() == 2;
    Some((out.chars().last()?.to_string(), is_mark))
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
    module.add_function(wrap_pyfunction!(marc8_character, &module)?)?;
    module.add_function(wrap_pyfunction!(take::write_xml, &module)?)?;
    module.add_class::<records::PyRecords>()?;
    module.add_class::<records::PyFields>()?;
    parent.add("_marc", module)
}
