//! What `regauge.marc` does with a record's bytes natively: checks them, makes its fields, writes
//! them again. Records that are odd in any way are left to the Python code, which says how.

use std::cell::Cell;
use std::sync::Mutex;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyTuple, PyType};
use regauge::event::Writer as _;
use regauge::fidelity::Fidelity;
use regauge::marc::{
    self, FIELD_TERMINATOR, Field, RECORD_TERMINATOR, Record, RecordBuilder, SUBFIELD_DELIMITER,
    is_control_tag, marc8,
};
use regauge::out::Out;
use regauge::reader::{BadRecord, Parse, Reader};
use regauge::{Error, Format, Limits, OnLoss, json};

use crate::build::Keys;
use crate::errors::{self, Way};
use crate::raw::collector::Pause;
use crate::raw::view::{self, Kind};
use crate::raw::{container, marc as raw, number, text};
use crate::stream;

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
    memchr::memchr_iter(SUBFIELD_DELIMITER, field).all(|at| {
        field.get(at + 1).is_some_and(|code| code.is_ascii() && *code != SUBFIELD_DELIMITER)
    })
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

/// Makes fields: what is looked up once for all fields of a record.
struct Maker<'py> {
    field: Bound<'py, PyType>,
    subfield: Bound<'py, PyType>,
    indicators: Bound<'py, PyType>,
    slots: &'static [raw::Slot; 5],
    keys: Option<Keys>,
    pairs: Option<Box<Pairs>>,
    none: Bound<'py, PyAny>,
    /// Subfields of the field at hand.
    parts: Vec<Bound<'py, PyAny>>,
    made: Vec<Bound<'py, PyAny>>,
}

impl<'py> Maker<'py> {
    fn new(
        field: &Bound<'py, PyType>,
        subfield: &Bound<'py, PyType>,
        indicators: &Bound<'py, PyType>,
    ) -> PyResult<Maker<'py>> {
        static TUPLES: PyOnceLock<[Py<PyType>; 2]> = PyOnceLock::new();
        let py = field.py();
        // Asked once: these are the classes of regauge.marc, and never others.
        let checked = TUPLES.get_or_try_init(py, || {
            if !raw::is_tuple(subfield)? || !raw::is_tuple(indicators)? {
                return Err(PyTypeError::new_err("found a class that is no plain tuple"));
            }
            Ok([subfield.clone().unbind(), indicators.clone().unbind()])
        })?;
        if !checked[0].is(subfield) || !checked[1].is(indicators) {
            return Err(PyTypeError::new_err("found other classes than those of regauge.marc"));
        }
        let slots = slots(field)?;
        Ok(Maker {
            field: field.clone(),
            subfield: subfield.clone(),
            indicators: indicators.clone(),
            slots,
            keys: Some(Keys::take()),
            pairs: Some(PAIRS.take().unwrap_or_default()),
            none: number::none(py),
            parts: Vec::with_capacity(16),
            made: Vec::with_capacity(32),
        })
    }

    fn memory(&self) -> PyErr {
        PyErr::fetch(self.none.py())
    }

    /// A text that comes again and again.
    #[inline(always)]
    fn key(&mut self, v: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = self.none.py();
        let made = match &mut self.keys {
            Some(keys) => keys.get(py, v),
            None => text::new(py, v),
        };
        made.ok_or_else(|| PyErr::fetch(py))
    }

    #[inline(always)]
    fn field(
        &mut self,
        tag: &str,
        data: Bound<'py, PyAny>,
        indicators: Bound<'py, PyAny>,
        control: bool,
    ) -> PyResult<()> {
        let py = self.none.py();
        let tag = self.key(tag)?;
        let list = container::list(py, &mut self.parts, 0).ok_or_else(|| self.memory())?;
        let one = raw::empty(&self.field).ok_or_else(|| self.memory())?;
        let [tags, datas, pairs, lists, controls] = self.slots;
        tags.fill(&one, tag);
        datas.fill(&one, data);
        pairs.fill(&one, indicators);
        lists.fill(&one, list);
        controls.fill(&one, number::bool(py, control));
        self.made.push(one);
        Ok(())
    }

    fn control(&mut self, tag: &str, data: &str) -> PyResult<()> {
        let data = text::new(self.none.py(), data).ok_or_else(|| self.memory())?;
        let none = self.none.clone();
        self.field(tag, data, none, true)
    }

    #[inline(always)]
    fn subfield(&mut self, code: &str, value: &str) -> PyResult<()> {
        let code = self.key(code)?;
        let value = text::new(self.none.py(), value).ok_or_else(|| self.memory())?;
        let pair = raw::pair(&self.subfield, code, value).ok_or_else(|| self.memory())?;
        self.parts.push(pair);
        Ok(())
    }

    /// The data field of the subfields so far. `head` are both indicators.
    fn data(&mut self, tag: &str, head: &str, middle: usize) -> PyResult<()> {
        let py = self.none.py();
        let place = match head.as_bytes() {
            &[first, second] if middle == 1 => {
                usize::from(first ^ second.rotate_left(3)) % PAIRS_KEPT
            }
            _ => PAIRS_KEPT,
        };
        let pair = match self.pairs.as_ref().and_then(|pairs| pairs.0.get(place)) {
            Some(Some((text, pair))) if text == head.as_bytes() => pair.bind(py).clone(),
            _ => {
                let (first, second) = head.split_at(middle);
                let (first, second) = (self.key(first)?, self.key(second)?);
                let pair = raw::pair(&self.indicators, first, second);
                let pair = pair.ok_or_else(|| self.memory())?;
                if let (Some(kept), &[first, second]) =
                    (self.pairs.as_mut().and_then(|pairs| pairs.0.get_mut(place)), head.as_bytes())
                {
                    *kept = Some(([first, second], pair.clone().unbind()));
                }
                pair
            }
        };
        let none = self.none.clone();
        self.field(tag, none, pair, false)
    }

    fn list(&mut self) -> PyResult<Bound<'py, PyAny>> {
        container::list(self.none.py(), &mut self.made, 0).ok_or_else(|| self.memory())
    }
}

/// How many pairs of indicators are remembered: they are the same few in most fields, and cannot
/// change.
const PAIRS_KEPT: usize = 64;

/// Pairs of indicators, each of one byte, by what they are.
struct Pairs([Option<([u8; 2], Py<PyAny>)>; PAIRS_KEPT]);

impl Default for Pairs {
    fn default() -> Pairs {
        Pairs([const { None }; PAIRS_KEPT])
    }
}

thread_local! {
    /// Those of this thread, when nobody uses them.
    static PAIRS: Cell<Option<Box<Pairs>>> = const { Cell::new(None) };
}

impl Drop for Maker<'_> {
    fn drop(&mut self) {
        PAIRS.set(self.pairs.take());
        if let Some(keys) = self.keys.take() {
            keys.give_back();
        }
    }
}

/// The slots of `Field`, looked up once. There is one such class, that of `regauge.marc`.
fn slots(field: &Bound<'_, PyType>) -> PyResult<&'static [raw::Slot; 5]> {
    static SLOTS: PyOnceLock<(Py<PyType>, [raw::Slot; 5])> = PyOnceLock::new();
    let (class, slots) = SLOTS.get_or_try_init(field.py(), || {
        let slot = |name: &str| raw::Slot::new(field, name);
        let (tag, data) = (slot("tag")?, slot("data")?);
        let slots = [tag, data, slot("_indicators")?, slot("subfields")?, slot("control_field")?];
        Ok::<_, PyErr>((field.clone().unbind(), slots))
    })?;
    if !class.is(field) {
        return Err(PyTypeError::new_err("found another class than regauge.marc.Field"));
    }
    Ok(slots)
}

/// Whether a tag is one of a control field in the eyes of `regauge.marc`: `001` to `009`.
fn is_control(tag: &str) -> bool {
    tag.starts_with("00") && tag.len() == 3 && tag.as_bytes()[2].is_ascii_digit()
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
    let _pause = Pause::new(record.py(), true);
    let parts = parts(record.as_bytes()).ok_or_else(irregular)?;
    let mut maker = Maker::new(field, subfield, indicators)?;
    for entry in entries(&parts) {
        let (tag, content) = entry.ok_or_else(irregular)?;
        let content = std::str::from_utf8(content).map_err(|_| irregular())?;
        if is_control(tag) {
            maker.control(tag, content)?;
            continue;
        }
        let bytes = content.as_bytes();
        let mut ends = memchr::memchr_iter(SUBFIELD_DELIMITER, bytes).skip(1);
        let mut start = 3;
        while start <= bytes.len() {
            let end = ends.next().unwrap_or(bytes.len());
            let piece = content.get(start..end).ok_or_else(irregular)?;
            if piece.is_empty() || !piece.is_char_boundary(1) {
                return Err(irregular());
            }
            let (code, value) = piece.split_at(1);
            maker.subfield(code, value)?;
            start = end + 1;
        }
        let head = content.get(..2).ok_or_else(irregular)?;
        maker.data(tag, head, 1)?;
    }
    maker.list()
}

/// The same of a record that the core has read.
fn fields_of<'py>(record: &Record, maker: &mut Maker<'py>) -> PyResult<Bound<'py, PyAny>> {
    let _pause = Pause::new(maker.none.py(), true);
    for field in record.fields() {
        match field {
            Field::Text { tag, text } if is_control(tag) => maker.control(tag, text)?,
            // A field that is text, with a tag that is not: its text is where subfields would be.
            Field::Text { tag, text } => {
                maker.subfield("", text)?;
                maker.data(tag, "  ", 1)?;
            }
            Field::Data { tag, ind1, ind2, subfields } => {
                for (code, value) in subfields {
                    maker.subfield(code, value)?;
                }
                maker.data(tag, &format!("{ind1}{ind2}"), ind1.len())?;
            }
        }
    }
    maker.list()
}

#[cold]
fn irregular() -> PyErr {
    pyo3::exceptions::PyValueError::new_err("found a record that is not regular")
}

/// The parts of a field.
enum Said<'a> {
    Control(&'a str),
    Data(&'a str, &'a str),
    Subfield(&'a str, &'a str),
}

/// Reads fields: what is looked up once for all of them.
struct Taker<'py> {
    field: Bound<'py, PyType>,
    slots: &'static [raw::Slot; 5],
}

impl<'py> Taker<'py> {
    fn new(field: &Bound<'py, PyType>) -> PyResult<Taker<'py>> {
        Ok(Taker { field: field.clone(), slots: slots(field)? })
    }

    /// Tells `say` the tag and the parts of a field, in their order; `None` where it is no plain
    /// `Field`, or something in it is no text.
    #[inline(always)]
    fn take(&self, one: &Bound<'py, PyAny>, mut say: impl FnMut(&str, Said<'_>)) -> Option<()> {
        if !one.get_type().is(&self.field) {
            return None;
        }
        let [tags, datas, pairs, lists, controls] = self.slots;
        let tag = tags.read(one)?;
        let tag = text_of(&tag)?;
        let control = controls.read(one)?;
        if view::kind(&control) == Kind::Bool && view::is_true(&control) {
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
        for index in 0..view::count(list.as_any(), Kind::List) {
            let part = view::item(list.as_any(), Kind::List, index)?;
            let part = part.cast::<PyTuple>().ok()?;
            let code = view::item(part.as_any(), Kind::Tuple, 0)?;
            let value = view::item(part.as_any(), Kind::Tuple, 1)?;
            say(tag, Said::Subfield(text_of(&code)?, text_of(&value)?));
        }
        Some(())
    }
}

/// The text of a `str`.
#[inline(always)]
fn text_of<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a str> {
    if view::kind(object) != Kind::Text {
        return None;
    }
    view::text(object)
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
    let taker = Taker::new(field)?;
    let mut record = Vec::with_capacity(LEADER_BYTES + fields.len() * ENTRY_BYTES + 1);
    record.extend_from_slice(leader.as_bytes());
    let mut body: Vec<u8> = Vec::with_capacity(2048);
    for index in 0..view::count(fields.as_any(), Kind::List) {
        let Some(one) = view::item(fields.as_any(), Kind::List, index) else { return Ok(None) };
        let start = body.len();
        let mut name = None;
        let took = taker.take(&one, |tag, said| {
            name.get_or_insert_with(|| {
                tag.as_bytes()
                    .first_chunk::<3>()
                    .copied()
                    .filter(|_| tag.len() == 3 && tag.is_ascii())
            });
            match said {
                Said::Control(data) => body.extend_from_slice(data.as_bytes()),
                Said::Data(first, second) => {
                    body.extend_from_slice(first.as_bytes());
                    body.extend_from_slice(second.as_bytes());
                }
                Said::Subfield(code, value) => {
                    body.push(SUBFIELD_DELIMITER);
                    body.extend_from_slice(code.as_bytes());
                    body.extend_from_slice(value.as_bytes());
                }
            }
        });
        let (Some(()), Some(Some(name))) = (took, name) else { return Ok(None) };
        body.push(FIELD_TERMINATOR);
        let length = body.len() - start;
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
    let base = record.len();
    let length = base + body.len() + 1;
    if length > 99_999 {
        return Ok(None);
    }
    write(&mut record[..5], length);
    write(&mut record[12..17], base);
    record.extend_from_slice(&body);
    record.push(RECORD_TERMINATOR);
    Ok(Some(PyBytes::new(py, &record)))
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

/// Gives records one by one.
trait Records: Send {
    fn next(&mut self, builder: &mut RecordBuilder) -> regauge::Result<bool>;
    fn skip(&mut self, error: Error) -> regauge::Result<BadRecord>;
}

impl<P: Parse + Send> Records for Reader<'static, P> {
    fn next(&mut self, builder: &mut RecordBuilder) -> regauge::Result<bool> {
        regauge::event::Source::next(self, builder)
    }
    fn skip(&mut self, error: Error) -> regauge::Result<BadRecord> {
        self.skip_bad(error)
    }
}

/// The records of a file as leader and fields.
#[pyclass(module = "regauge._marc", name = "Records")]
pub struct PyRecords {
    reading: Mutex<Option<(Box<dyn Records>, RecordBuilder)>>,
    classes: [Py<PyType>; 3],
}

#[pymethods]
impl PyRecords {
    /// Of a path, a file object or bytes, in the format of this name.
    #[new]
    fn new(
        format: &str,
        source: &Bound<'_, PyAny>,
        field: Py<PyType>,
        subfield: Py<PyType>,
        indicators: Py<PyType>,
    ) -> PyResult<PyRecords> {
        let read = stream::From::new(source)?.open()?;
        let limits = Limits::default();
        let options = marc::Options::default();
        let records: Box<dyn Records> = match stream::format(format)? {
            Format::MarcXml => {
                keeping(Reader::from_read(marc::xml::Parser::new(options, limits), read))
            }
            Format::Marc => {
                keeping(Reader::from_read(marc::iso2709::Parser::new(options, limits), read))
            }
            _ => {
                let framing = json::Framing::Concatenated;
                let read_options = json::ReadOptions { framing, ..json::ReadOptions::default() };
                keeping(Reader::from_read(json::Parser::new(read_options, limits), read))
            }
        };
        let builder = RecordBuilder::new(&limits, Fidelity::new(OnLoss::Refuse, Format::MarcJson));
        let classes = [field, subfield, indicators];
        Ok(PyRecords { reading: Mutex::new(Some((records, builder))), classes })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// Leader and fields of the next record; a broken one raises, and the one behind it is next.
    fn __next__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        let lock = || self.reading.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let taken = lock().take();
        let Some((mut records, mut builder)) = taken else { return Ok(None) };
        match records.next(&mut builder) {
            Ok(false) => Ok(None),
            Ok(true) => {
                let class = |index: usize| self.classes[index].bind(py);
                let mut maker = Maker::new(class(0), class(1), class(2))?;
                let record = builder.record();
                let leader = text::new(py, record.leader()).ok_or_else(|| PyErr::fetch(py))?;
                let fields = fields_of(record, &mut maker)?;
                *lock() = Some((records, builder));
                Ok(Some((leader, fields)))
            }
            Err(error) => {
                let limits = Limits::default();
                let error = match records.skip(error) {
                    Ok(bad) => {
                        let fidelity = Fidelity::new(OnLoss::Refuse, Format::MarcJson);
                        *lock() = Some((records, RecordBuilder::new(&limits, fidelity)));
                        bad.error
                    }
                    Err(error) => error,
                };
                Err(errors::exception(py, &error, Way::Decode))
            }
        }
    }
}

fn keeping<P: Parse + Send + 'static>(mut reader: Reader<'static, P>) -> Box<dyn Records> {
    reader.keep_records(true);
    Box::new(reader)
}

/// The bytes of one record of MARCXML, with the beginning of the collection if `head` says so;
/// `None` where something in it is no plain field or no text.
#[pyfunction]
pub fn write_xml<'py>(
    py: Python<'py>,
    leader: &str,
    fields: &Bound<'py, PyList>,
    field: &Bound<'py, PyType>,
    head: bool,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let taker = Taker::new(field)?;
    let mut record = Record::new();
    record.set_leader(leader);
    for index in 0..view::count(fields.as_any(), Kind::List) {
        let Some(one) = view::item(fields.as_any(), Kind::List, index) else { return Ok(None) };
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
    done.map_err(|error| errors::exception(py, &error, Way::Encode))?;
    let bytes = writer.into_out().into_vec();
    // The collection is begun by whoever writes the first record, and ended by whoever closes it.
    let start = match head {
        true => 0,
        false => memchr::memmem::find(&bytes, b"<record").unwrap_or(0),
    };
    Ok(Some(PyBytes::new(py, &bytes[start..])))
}

/// The functions in a module of their own.
pub fn add(parent: &Bound<'_, PyModule>) -> PyResult<()> {
    let module = PyModule::new(parent.py(), "regauge._marc")?;
    module.add_function(wrap_pyfunction!(is_regular, &module)?)?;
    module.add_function(wrap_pyfunction!(fields, &module)?)?;
    module.add_function(wrap_pyfunction!(encode, &module)?)?;
    module.add_function(wrap_pyfunction!(marc8_decode, &module)?)?;
    module.add_function(wrap_pyfunction!(write_xml, &module)?)?;
    module.add_class::<PyRecords>()?;
    parent.add("_marc", module)
}
