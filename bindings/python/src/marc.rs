//! What `regauge.marc` does with a record's bytes natively: checks them, makes its fields, writes
//! them again. Records that are odd in any way are left to the Python code, which says how.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple, PyType};
use regauge::marc::{
    FIELD_TERMINATOR, RECORD_TERMINATOR, SUBFIELD_DELIMITER, is_control_tag, marc8,
};

use crate::raw::{container, marc as raw, number, text};

const LEADER_BYTES: usize = 24;
const ENTRY_BYTES: usize = 12;

/// The number of ASCII digits.
fn digits(bytes: &[u8]) -> Option<usize> {
    bytes.iter().try_fold(0usize, |sum, byte| {
        byte.is_ascii_digit().then(|| sum * 10 + usize::from(byte - b'0'))
    })
}

/// The directory and the data of a record.
struct Parts<'a> {
    directory: &'a [u8],
    data: &'a [u8],
}

fn parts(record: &[u8]) -> Option<Parts<'_>> {
    let leader = record.get(..LEADER_BYTES)?;
    let base = digits(&leader[12..17])?;
    let directory = record.get(LEADER_BYTES..base.checked_sub(1)?)?;
    let data = record.get(base..record.len() - 1)?;
    let whole = record.last() == Some(&RECORD_TERMINATOR)
        && record[base - 1] == FIELD_TERMINATOR
        && !directory.is_empty()
        && directory.len().is_multiple_of(ENTRY_BYTES);
    whole.then_some(Parts { directory, data })
}

/// The tag and the content of each field, without its terminator; `None` at an entry that is wrong.
fn entries<'a>(parts: &Parts<'a>) -> impl Iterator<Item = Option<(&'a str, &'a [u8])>> {
    let data = parts.data;
    parts.directory.chunks_exact(ENTRY_BYTES).map(move |entry| {
        let tag = std::str::from_utf8(&entry[..3]).ok().filter(|tag| tag.is_ascii())?;
        let (length, start) = (digits(&entry[3..7])?, digits(&entry[7..12])?);
        let end = start.checked_add(length.checked_sub(1)?)?;
        let field = data.get(start..end)?;
        (data.get(end) == Some(&FIELD_TERMINATOR)).then_some((tag, field))
    })
}

/// Whether a data field is as the standard says: two ASCII indicators, subfields with ASCII codes.
fn is_regular_field(field: &[u8]) -> bool {
    if field.len() < 2 || !field[..2].is_ascii() || field[..2].contains(&SUBFIELD_DELIMITER) {
        return false;
    }
    if field.len() > 2 && field[2] != SUBFIELD_DELIMITER {
        return false;
    }
    memchr(field).all(|at| {
        field.get(at + 1).is_some_and(|code| code.is_ascii() && *code != SUBFIELD_DELIMITER)
    })
}

fn memchr(field: &[u8]) -> impl Iterator<Item = usize> {
    field.iter().enumerate().filter(|(_, byte)| **byte == SUBFIELD_DELIMITER).map(|(at, _)| at)
}

/// Whether a record can be kept as its bytes, and made into fields when somebody asks for them,
/// without an error then: its directory holds, and its text is UTF-8 (with `utf8`), or ASCII
/// without escapes, which every charset of MARC agrees on.
#[pyfunction]
pub fn is_regular(record: &[u8], utf8: bool) -> bool {
    let Some(parts) = parts(record) else { return false };
    if !record[..LEADER_BYTES].is_ascii() {
        return false;
    }
    // What is written anew has its fields in order, without gaps, and says its length.
    let mut next = 0;
    let in_order = parts.directory.chunks_exact(ENTRY_BYTES).all(|entry| {
        let start = next;
        next += digits(&entry[3..7]).unwrap_or(0);
        digits(&entry[7..12]) == Some(start)
    });
    if !in_order || next != parts.data.len() || digits(&record[..5]) != Some(record.len()) {
        return false;
    }
    let text = match utf8 {
        true => std::str::from_utf8(parts.data).is_ok(),
        false => parts.data.is_ascii() && !parts.data.contains(&0x1B),
    };
    text && entries(&parts).all(|entry| {
        entry.is_some_and(|(tag, field)| {
            (is_control_tag(tag.as_bytes()) && tag.as_bytes()[2].is_ascii_digit())
                || is_regular_field(field)
        })
    })
}

/// The fields of a record that is regular, as a list of `field`, whose subfields are `subfield` and
/// whose indicators are `indicators`.
#[pyfunction]
pub fn fields<'py>(
    record: &Bound<'py, PyBytes>,
    field: &Bound<'py, PyType>,
    subfield: &Bound<'py, PyType>,
    indicators: &Bound<'py, PyType>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = record.py();
    if !raw::is_tuple(subfield)? || !raw::is_tuple(indicators)? {
        return Err(pyo3::exceptions::PyTypeError::new_err("found a class that is not a tuple"));
    }
    let parts = parts(record.as_bytes());
    let parts = parts.ok_or_else(irregular)?;
    let names = [
        pyo3::intern!(py, "tag"),
        pyo3::intern!(py, "data"),
        pyo3::intern!(py, "_indicators"),
        pyo3::intern!(py, "subfields"),
        pyo3::intern!(py, "control_field"),
    ];
    let (none, yes, no) = (number::none(py), number::bool(py, true), number::bool(py, false));
    let mut keys = crate::build::Keys::take();
    let mut made = Vec::with_capacity(parts.directory.len() / ENTRY_BYTES);
    let mut stack = Vec::with_capacity(16);
    let memory = || PyErr::fetch(py);
    // The indicators of most fields are the same few, and cannot change.
    let mut last: Option<([u8; 2], Bound<'py, PyAny>)> = None;
    for entry in entries(&parts) {
        let (tag, content) = entry.ok_or_else(irregular)?;
        let one = raw::empty(field).ok_or_else(memory)?;
        let control = tag.starts_with("00") && tag.as_bytes()[2].is_ascii_digit();
        let tag = keys.get(py, tag).ok_or_else(memory)?;
        let mut all = raw::set(&one, names[0], &tag);
        if control {
            let data = std::str::from_utf8(content).map_err(|_| irregular())?;
            let data = text::new(py, data).ok_or_else(memory)?;
            let list = container::list(py, &mut stack, 0).ok_or_else(memory)?;
            all &= raw::set(&one, names[1], &data);
            all &= raw::set(&one, names[2], &none);
            all &= raw::set(&one, names[3], &list);
            all &= raw::set(&one, names[4], &yes);
        } else {
            let content = std::str::from_utf8(content).map_err(|_| irregular())?;
            let mut pieces = content.split(char::from(SUBFIELD_DELIMITER));
            let first = pieces.next().and_then(|head| head.as_bytes().first_chunk::<2>());
            let first = *first.ok_or_else(irregular)?;
            let pair = match &last {
                Some((bytes, pair)) if *bytes == first => pair.clone(),
                _ => {
                    let one = |byte: u8| {
                        let mut buffer = [0; 4];
                        text::new(py, char::from(byte).encode_utf8(&mut buffer))
                    };
                    let (ind1, ind2) = (one(first[0]), one(first[1]));
                    let pair =
                        raw::pair(indicators, ind1.ok_or_else(memory)?, ind2.ok_or_else(memory)?);
                    let pair = pair.ok_or_else(memory)?;
                    last = Some((first, pair.clone()));
                    pair
                }
            };
            for piece in pieces {
                if piece.is_empty() || !piece.is_char_boundary(1) {
                    return Err(irregular());
                }
                let (code, value) = piece.split_at(1);
                let code = text::new(py, code).ok_or_else(memory)?;
                let value = text::new(py, value).ok_or_else(memory)?;
                stack.push(raw::pair(subfield, code, value).ok_or_else(memory)?);
            }
            let list = container::list(py, &mut stack, 0).ok_or_else(memory)?;
            all &= raw::set(&one, names[1], &none);
            all &= raw::set(&one, names[2], &pair);
            all &= raw::set(&one, names[3], &list);
            all &= raw::set(&one, names[4], &no);
        }
        if !all {
            return Err(PyErr::fetch(py));
        }
        made.push(one);
    }
    keys.give_back();
    container::list(py, &mut made, 0).ok_or_else(memory)
}

#[cold]
fn irregular() -> PyErr {
    pyo3::exceptions::PyValueError::new_err("found a record that is not regular")
}

/// A record's bytes from its leader and its fields, in UTF-8; `None` where something in it needs
/// more care: a field that is no plain `Field`, a text that is no str, a length that does not fit.
#[pyfunction]
pub fn encode<'py>(
    py: Python<'py>,
    leader: &str,
    fields: &Bound<'py, PyList>,
    field: &Bound<'py, PyType>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    if leader.len() != LEADER_BYTES || !leader.is_ascii() {
        return Ok(None);
    }
    let (tag, data, indicators, subfields, control) = (
        pyo3::intern!(py, "tag"),
        pyo3::intern!(py, "data"),
        pyo3::intern!(py, "_indicators"),
        pyo3::intern!(py, "subfields"),
        pyo3::intern!(py, "control_field"),
    );
    let mut directory = Vec::with_capacity(LEADER_BYTES + fields.len() * ENTRY_BYTES + 1);
    directory.extend_from_slice(leader.as_bytes());
    let mut body: Vec<u8> = Vec::with_capacity(2048);
    for one in fields.iter() {
        if !one.get_type().is(field) {
            return Ok(None);
        }
        let start = body.len();
        let name = one.getattr(tag)?;
        let Ok(name) = name.cast::<PyString>() else { return Ok(None) };
        let Ok(name) = name.to_str() else { return Ok(None) };
        if name.len() != 3 || !name.is_ascii() {
            return Ok(None);
        }
        if one.getattr(control)?.is_truthy()? {
            let data = one.getattr(data)?;
            let Ok(data) = data.cast::<PyString>() else { return Ok(None) };
            let Ok(data) = data.to_str() else { return Ok(None) };
            body.extend_from_slice(data.as_bytes());
        } else {
            let pair = one.getattr(indicators)?;
            let Ok(pair) = pair.cast::<PyTuple>() else { return Ok(None) };
            for indicator in pair.iter() {
                let Ok(indicator) = indicator.cast::<PyString>() else { return Ok(None) };
                let Ok(indicator) = indicator.to_str() else { return Ok(None) };
                body.extend_from_slice(indicator.as_bytes());
            }
            let list = one.getattr(subfields)?;
            let Ok(list) = list.cast::<PyList>() else { return Ok(None) };
            for part in list.iter() {
                let Ok(part) = part.cast::<PyTuple>() else { return Ok(None) };
                let (Ok(code), Ok(value)) = (part.get_item(0), part.get_item(1)) else {
                    return Ok(None);
                };
                let (Ok(code), Ok(value)) = (code.cast::<PyString>(), value.cast::<PyString>())
                else {
                    return Ok(None);
                };
                let (Ok(code), Ok(value)) = (code.to_str(), value.to_str()) else {
                    return Ok(None);
                };
                body.push(SUBFIELD_DELIMITER);
                body.extend_from_slice(code.as_bytes());
                body.extend_from_slice(value.as_bytes());
            }
        }
        body.push(FIELD_TERMINATOR);
        let length = body.len() - start;
        if length > 9_999 || start > 99_999 {
            return Ok(None);
        }
        directory.extend_from_slice(name.as_bytes());
        let mut entry = [b'0'; 9];
        write(&mut entry[..4], length);
        write(&mut entry[4..], start);
        directory.extend_from_slice(&entry);
    }
    directory.push(FIELD_TERMINATOR);
    let base = directory.len();
    let length = base + body.len() + 1;
    if length > 99_999 {
        return Ok(None);
    }
    write(&mut directory[..5], length);
    write(&mut directory[12..17], base);
    directory.extend_from_slice(&body);
    directory.push(RECORD_TERMINATOR);
    Ok(Some(PyBytes::new(py, &directory)))
}

/// Writes a number with leading zeros.
fn write(digits: &mut [u8], mut value: usize) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

/// Text from MARC-8, and how many of its characters were not MARC-8 (each became U+FFFD).
#[pyfunction]
pub fn marc8_decode(data: &[u8]) -> (String, usize) {
    let mut out = String::new();
    let bad = marc8::decode_lossy(data, &mut marc8::State::default(), &mut out);
    (marc8::compose(&out).into_owned(), bad)
}

/// The functions in a module of their own.
pub fn add(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "regauge._marc")?;
    module.add_function(wrap_pyfunction!(is_regular, &module)?)?;
    module.add_function(wrap_pyfunction!(fields, &module)?)?;
    module.add_function(wrap_pyfunction!(encode, &module)?)?;
    module.add_function(wrap_pyfunction!(marc8_decode, &module)?)?;
    parent.add("_marc", module)
}
