//! The records of a file in any of the three serialisations.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::PyType;
use regauge::fidelity::Fidelity;
use regauge::marc::{self, RecordBuilder};
use regauge::reader::{BadRecord, Parse, Reader};
use regauge::{Error, Format, Limits, OnLoss, json};

use super::make::{Maker, fields_of};
use crate::errors::{self, Way};
use crate::raw::text;
use crate::stream;

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
