//! Encodes fields as a record: in ISO 2709, and as MARCXML.

use std::cell::Cell;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple, PyType};
use regauge::event::Writer as _;
use regauge::fidelity::Fidelity;
use regauge::marc::{
    self, FIELD_TERMINATOR, RECORD_TERMINATOR, Record, SUBFIELD_DELIMITER, is_control_tag,
};
use regauge::out::Out;
use regauge::{Format, OnLoss};

use super::layout::LEADER_BYTES;
use super::make::slots;
use crate::errors::{self, Way};
use crate::options::Keywords;
use crate::raw::marc as raw;
use crate::raw::view::{self, Kind};

/// The parts of a field.
enum Said<'a> {
    Control(&'a str),
    Data(&'a str, &'a str),
    Subfield(&'a str, &'a str),
}

/// Reads fields: everything that is looked up once for all of them.
struct Taker<'py> {
    field: Bound<'py, PyType>,
    slots: &'static [raw::Slot; 5],
}

impl<'py> Taker<'py> {
    fn new(field: &Bound<'py, PyType>) -> PyResult<Taker<'py>> {
        Ok(Taker { field: field.clone(), slots: slots(field)? })
    }

    /// Passes the tag and the parts of a field to `say`, in order; `None` if it is not a plain
    /// `Field`, or something in it is not text.
    #[inline(always)]
    fn take(&self, one: &Bound<'py, PyAny>, mut say: impl FnMut(&str, Said<'_>)) -> Option<()> {
        if !one.get_type().is(&self.field) {
            return None;
        }
        let [tags, datas, pairs, lists, controls] = self.slots;
        let tag = tags.read(one)?;
        let tag = text_of(&tag)?;
        let control = controls.read(one)?;
        if view::is_true(&control) {
            let data = datas.read(one)?;
            say(tag, Said::Control(text_of(&data)?));
            return Some(());
        }
        let pair = pairs.read(one)?;
        let pair = pair.cast::<PyTuple>().ok()?;
        let first = view::item(pair.as_any(), Kind::Tuple, 0)?;
        let second = view::item(pair.as_any(), Kind::Tuple, 1)?;
        say(tag, Said::Data(text_of(&first)?, text_of(&second)?));
        let list = lists.read(one)?;
        let list = list.cast::<PyList>().ok()?;
        let (list, of) = view::still(list.as_any(), Kind::List)?;
        for index in 0..view::count(&list, of) {
            let part = view::item(&list, of, index)?;
            let part = part.cast::<PyTuple>().ok()?;
            let code = view::item(part.as_any(), Kind::Tuple, 0)?;
            let value = view::item(part.as_any(), Kind::Tuple, 1)?;
            say(tag, Said::Subfield(text_of(&code)?, text_of(&value)?));
        }
        Some(())
    }
}

/// Returns the text of a `str`.
#[inline(always)]
fn text_of<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a str> {
    if view::kind(object) != Kind::Text {
        return None;
    }
    view::text(object)
}

/// Encodes a record from its leader and its fields, in UTF-8; `None` if it needs the slow path: a
/// field that is not a plain `Field`, a value that is not a str, a length that does not fit.
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
    let taker = Taker::new(field)?;
    // The previous record's buffers: reallocating them took a tenth of the time.
    let (mut record, body) = HALVES.take();
    record.clear();
    record.extend_from_slice(leader.as_bytes());
    let mut body = Out::reusing(body);
    let (fields, of) = view::still(fields.as_any(), Kind::List).ok_or_else(|| PyErr::fetch(py))?;
    for index in 0..view::count(&fields, of) {
        let Some(one) = view::item(&fields, of, index) else { return Ok(None) };
        let start = body.held().len();
        let mut name = None;
        let took = taker.take(&one, |tag, said| {
            name.get_or_insert_with(|| {
                tag.as_bytes()
                    .first_chunk::<3>()
                    .copied()
                    .filter(|_| tag.len() == 3 && tag.is_ascii())
            });
            match said {
                Said::Control(data) => body.extend_short(data.as_bytes()),
                Said::Data(first, second) => {
                    body.extend_short(first.as_bytes());
                    body.extend_short(second.as_bytes());
                }
                Said::Subfield(code, value) => {
                    body.extend_with_header([SUBFIELD_DELIMITER], code.as_bytes());
                    body.extend_short(value.as_bytes());
                }
            }
        });
        let (Some(()), Some(Some(name))) = (took, name) else { return Ok(None) };
        body.extend(&[FIELD_TERMINATOR]);
        let length = body.held().len() - start;
        if length > 9_999 || start > 99_999 {
            return Ok(None);
        }
        record.extend_from_slice(&name);
        let mut entry = [b'0'; 9];
        write(&mut entry[..4], length);
        write(&mut entry[4..], start);
        record.extend_from_slice(&entry);
    }
    record.push(FIELD_TERMINATOR);
    body.extend(&[RECORD_TERMINATOR]);
    let base = record.len();
    let length = base + body.held().len();
    if length > 99_999 {
        return Ok(None);
    }
    write(&mut record[..5], length);
    write(&mut record[12..17], base);
    let body = body.into_vec();
    let made = PyBytes::new_with(py, length, |bytes| {
        let (head, tail) = bytes.split_at_mut(base);
        head.copy_from_slice(&record);
        tail.copy_from_slice(&body);
        Ok(())
    })?;
    HALVES.set((record, body));
    Ok(Some(made))
}

/// Writes a number with leading zeros.
fn write(digits: &mut [u8], mut value: usize) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

thread_local! {
    /// Leader and directory, and the fields, of this thread's last ISO 2709 record: at most 99,999
    /// bytes.
    static HALVES: Cell<(Vec<u8>, Vec<u8>)> = const { Cell::new((Vec::new(), Vec::new())) };
    /// The buffer of this thread's last MARCXML record.
    static IDLE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Encodes one record of MARCXML, preceded by the start of the collection if `head` is set; `None`
/// if it contains anything but plain fields and text.
#[pyfunction]
pub fn write_xml<'py>(
    py: Python<'py>,
    leader: &str,
    fields: &Bound<'py, PyList>,
    field: &Bound<'py, PyType>,
    head: bool,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let taker = Taker::new(field)?;
    if !head {
        let mut bytes = IDLE.take();
        bytes.clear();
        let done = plain_xml(leader, fields, &taker, &mut bytes);
        let made = done.map(|()| PyBytes::new(py, &bytes));
        IDLE.set(bytes);
        if made.is_some() {
            return Ok(made);
        }
    }
    let mut record = Record::new();
    record.set_leader(leader);
    let (fields, of) = view::still(fields.as_any(), Kind::List).ok_or_else(|| PyErr::fetch(py))?;
    for index in 0..view::count(&fields, of) {
        let Some(one) = view::item(&fields, of, index) else { return Ok(None) };
        let took = taker.take(&one, |tag, said| match said {
            Said::Control(data) => record.add_text(tag, data),
            Said::Data(first, second) => record.add_data(tag, first, second),
            Said::Subfield(code, value) => record.add_subfield(code, value),
        });
        if took.is_none() {
            return Ok(None);
        }
    }
    let options = marc::Options { compact: true, ..marc::Options::default() };
    let fidelity = Fidelity::new(OnLoss::Refuse, Format::MarcXml);
    let mut writer = marc::xml::Writer::new(Out::in_memory(), options, fidelity);
    let done = record.drive(&mut writer).and_then(|()| writer.end_document());
    done.map_err(|error| errors::exception(py, &error, Way::Encode, Keywords::NONE))?;
    let bytes = writer.into_out().into_vec();
    // The writer of the first record starts the collection, and close ends it.
    let start = match head {
        true => 0,
        false => memchr::memmem::find(&bytes, b"<record").unwrap_or(0),
    };
    Ok(Some(PyBytes::new(py, &bytes[start..])))
}

/// Writes a record whose text needs no special treatment exactly as the core's writer would,
/// without collecting the record first. `None` for any other, and for anything that is not a
/// record.
fn plain_xml(
    leader: &str,
    fields: &Bound<'_, PyList>,
    taker: &Taker<'_>,
    out: &mut Vec<u8>,
) -> Option<()> {
    use marc::xml::is_plain;
    if leader.len() != LEADER_BYTES || !leader.is_ascii() || !is_plain(leader) {
        return None;
    }
    out.extend_from_slice(b"<record><leader>");
    out.extend_from_slice(leader.as_bytes());
    out.extend_from_slice(b"</leader>");
    let (fields, of) = view::still(fields.as_any(), Kind::List)?;
    for index in 0..view::count(&fields, of) {
        let one = view::item(&fields, of, index)?;
        let (mut plain, mut data, mut subfields) = (true, false, 0);
        taker.take(&one, |tag, said| match said {
            Said::Control(text) => {
                plain &= is_digits(tag) && is_plain(text);
                out.extend_from_slice(b"<controlfield tag=\"");
                out.extend_from_slice(tag.as_bytes());
                out.extend_from_slice(b"\">");
                out.extend_from_slice(text.as_bytes());
                out.extend_from_slice(b"</controlfield>");
            }
            Said::Data(first, second) => {
                let (&[first], &[second]) = (first.as_bytes(), second.as_bytes()) else {
                    plain = false;
                    return;
                };
                // Control field tags must not be used for data fields.
                plain &= is_digits(tag) && !is_control_tag(tag.as_bytes());
                plain &= is_simple(first) && is_simple(second);
                data = true;
                out.extend_from_slice(b"<datafield tag=\"");
                out.extend_from_slice(tag.as_bytes());
                out.extend_from_slice(b"\" ind1=\"");
                out.extend_from_slice(&[
                    first, b'"', b' ', b'i', b'n', b'd', b'2', b'=', b'"', second,
                ]);
                out.extend_from_slice(b"\">");
            }
            Said::Subfield(code, text) => {
                let &[code] = code.as_bytes() else {
                    plain = false;
                    return;
                };
                plain &= code.is_ascii_alphanumeric() && is_plain(text);
                subfields += 1;
                out.extend_from_slice(b"<subfield code=\"");
                out.extend_from_slice(&[code, b'"', b'>']);
                out.extend_from_slice(text.as_bytes());
                out.extend_from_slice(b"</subfield>");
            }
        })?;
        // A field without subfields is left to the core.
        if !plain || (data && subfields == 0) {
            return None;
        }
        if data {
            out.extend_from_slice(b"</datafield>");
        }
    }
    out.extend_from_slice(b"</record>\n");
    Some(())
}

/// Returns whether a tag is three digits.
fn is_digits(tag: &str) -> bool {
    tag.len() == 3 && tag.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether an indicator is a blank, a letter or a digit.
fn is_simple(indicator: u8) -> bool {
    indicator == b' ' || indicator.is_ascii_alphanumeric()
}
