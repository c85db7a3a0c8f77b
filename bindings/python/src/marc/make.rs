//! Creates the fields of a record: instances of Python classes, without calling them.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::{MutexExt, PyOnceLock};
use pyo3::types::{PyBytes, PyType};
use regauge::marc::{Field, Record, SUBFIELD_DELIMITER};

use super::layout::{LEADER_BYTES, entries, is_regular, parts};
use crate::build::Keys;
use crate::raw::collector::Pause;
use crate::raw::{container, marc as raw, number, text};

/// Creates fields: everything that is looked up once for all fields of a record.
pub struct Maker<'py> {
    field: Bound<'py, PyType>,
    subfield: Bound<'py, PyType>,
    indicators: Bound<'py, PyType>,
    slots: &'static [raw::Slot; 5],
    keys: Option<Keys>,
    pairs: Option<Box<Pairs>>,
    none: Bound<'py, PyAny>,
    /// Subfields of the current field.
    parts: Vec<Bound<'py, PyAny>>,
    made: Vec<Bound<'py, PyAny>>,
}

impl<'py> Maker<'py> {
    /// Creates a maker for these classes.
    ///
    /// # Errors
    /// `TypeError` for classes other than those of `regauge.marc`.
    pub fn new(
        field: &Bound<'py, PyType>,
        subfield: &Bound<'py, PyType>,
        indicators: &Bound<'py, PyType>,
    ) -> PyResult<Maker<'py>> {
        static TUPLES: PyOnceLock<[Py<PyType>; 2]> = PyOnceLock::new();
        let py = field.py();
        // Checked once: these are the classes of regauge.marc, and never others.
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

    /// Returns a text that recurs often.
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

    /// Creates the data field of the subfields so far. `head` is both indicators.
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

/// Number of cached indicator pairs: most fields use the same few, and they are immutable.
const PAIRS_KEPT: usize = 64;

/// Pairs of one-byte indicators, by value.
struct Pairs([Option<([u8; 2], Py<PyAny>)>; PAIRS_KEPT]);

impl Default for Pairs {
    fn default() -> Pairs {
        Pairs([const { None }; PAIRS_KEPT])
    }
}

thread_local! {
    /// This thread's pairs, while nobody uses them.
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

/// Returns the slots of `Field`, looked up once. There is one such class, that of `regauge.marc`.
pub fn slots(field: &Bound<'_, PyType>) -> PyResult<&'static [raw::Slot; 5]> {
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

/// The slots for filling instances of `Record` and `Leader`.
struct RecordSlots {
    leader_class: Py<PyType>,
    /// Of `Leader`.
    text: raw::Slot,
    /// Of `Record`: `leader`, `_first`, `_raw`, `_fields`, `_regular`, `pos`, `force_utf8`, `to_unicode`.
    record: [raw::Slot; 8],
}

/// Creates a record of `class` that keeps its bytes, if they are [regular](is_regular); `None`
/// otherwise.
///
/// `class` is `regauge.marc.Record`, or a subclass without slots or a constructor of its own; the
/// leader becomes a `leader`.
#[pyfunction]
pub fn record<'py>(
    class: &Bound<'py, PyType>,
    leader: &Bound<'py, PyType>,
    bytes: &Bound<'py, PyBytes>,
    force_utf8: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    static SLOTS: PyOnceLock<RecordSlots> = PyOnceLock::new();
    let py = class.py();
    let raw = bytes.as_bytes();
    let utf8 = force_utf8 || raw.get(9) == Some(&b'a');
    if !is_regular(raw, utf8) {
        return Ok(None);
    }
    let slots = SLOTS.get_or_try_init(py, || {
        let slot = |name: &str| raw::Slot::new(class, name);
        let (held, first) = (slot("leader")?, slot("_first")?);
        let record = [
            held,
            first,
            slot("_raw")?,
            slot("_fields")?,
            slot("_regular")?,
            slot("pos")?,
            slot("force_utf8")?,
            slot("to_unicode")?,
        ];
        let text = raw::Slot::new(leader, "leader")?;
        Ok::<_, PyErr>(RecordSlots { leader_class: leader.clone().unbind(), text, record })
    })?;
    if !slots.leader_class.is(leader) {
        return Err(PyTypeError::new_err("found another class than regauge.marc.Leader"));
    }
    let memory = || PyErr::fetch(py);
    let text = raw.first_chunk::<LEADER_BYTES>().and_then(|text| str::from_utf8(text).ok());
    let text = text::new(py, text.ok_or_else(irregular)?).ok_or_else(memory)?;
    let head = raw::empty(leader).ok_or_else(memory)?;
    slots.text.fill(&head, text.clone());
    let made = raw::empty(class).ok_or_else(memory)?;
    let [held, first, kept, fields, regular, pos, forced, unicode] = &slots.record;
    held.fill(&made, head);
    first.fill(&made, text);
    kept.fill(&made, bytes.clone().into_any());
    fields.fill(&made, number::none(py));
    regular.fill(&made, number::bool(py, true));
    pos.fill(&made, number::i64(py, 0).ok_or_else(memory)?);
    forced.fill(&made, number::bool(py, force_utf8));
    unicode.fill(&made, number::bool(py, true));
    Ok(Some(made))
}

/// Returns whether `regauge.marc` treats a tag as one of a control field: `001` to `009`.
fn is_control(tag: &str) -> bool {
    tag.starts_with("00") && tag.len() == 3 && tag.as_bytes()[2].is_ascii_digit()
}

/// Gives a `record` the fields of its `bytes`, which are regular, as a list of `field`, with
/// subfields of type `subfield` and indicators of type `indicators`: see [`settle`].
#[pyfunction]
pub fn fields<'py>(
    record: &Bound<'py, PyAny>,
    bytes: &Bound<'py, PyBytes>,
    field: &Bound<'py, PyType>,
    subfield: &Bound<'py, PyType>,
    indicators: &Bound<'py, PyType>,
) -> PyResult<Bound<'py, PyAny>> {
    let made = fields_in(bytes.as_bytes(), field, subfield, indicators)?;
    settle(record, made)
}

/// Returns the fields of a record's bytes.
fn fields_in<'py>(
    bytes: &[u8],
    field: &Bound<'py, PyType>,
    subfield: &Bound<'py, PyType>,
    indicators: &Bound<'py, PyType>,
) -> PyResult<Bound<'py, PyAny>> {
    let _pause = Pause::new(field.py(), true);
    let parts = parts(bytes).ok_or_else(irregular)?;
    let data = parts.text().ok_or_else(irregular)?;
    let mut maker = Maker::new(field, subfield, indicators)?;
    for entry in entries(&parts) {
        let (tag, place) = entry.ok_or_else(irregular)?;
        let content = data.get(place).ok_or_else(irregular)?;
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

/// Gives a record the fields that were `made` for it, unless another thread was faster: then that
/// one's. So all callers get the same list, and see what others add to it.
#[pyfunction]
pub fn settle<'py>(
    record: &Bound<'py, PyAny>,
    made: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    /// Locks for records, chosen by address.
    static LOCKS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];
    let py = record.py();
    let lock = &LOCKS[record.as_ptr() as usize / 64 % LOCKS.len()];
    let _held = lock.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
    let there = record.getattr(intern!(py, "_fields"))?;
    if !there.is_none() {
        return Ok(there);
    }
    record.setattr(intern!(py, "_fields"), &made)?;
    Ok(made)
}

/// Returns what [`fields_in`] returns, for a record that the core has read.
pub fn fields_of<'py>(record: &Record, maker: &mut Maker<'py>) -> PyResult<Bound<'py, PyAny>> {
    let _pause = Pause::new(maker.none.py(), true);
    for field in record.fields() {
        match field {
            Field::Text { tag, text } if is_control(tag) => maker.control(tag, text)?,
            // A text field whose tag is not a control field's: its text takes the place of
            // subfields.
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
