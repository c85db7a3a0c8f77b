//! The records of a file in ISO 2709, MARCXML or MARC-in-JSON.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use regauge::event::{Source, Writer as _};
use regauge::fidelity::Fidelity;
use regauge::marc::{self, Record, RecordBuilder};
use regauge::out::Out;
use regauge::reader::{BadRecord, Parse, Reader};
use regauge::{Error, Format, Limits, OnLoss, json};

use super::make::{Maker, fields_of};
use crate::errors::{self, Way};
use crate::options::Keywords;
use crate::raw::text;
use crate::stream;
use crate::turn::Turn;

/// A reader of single records.
trait Records: Send {
    fn next(&mut self, builder: &mut RecordBuilder) -> regauge::Result<bool>;
    fn skip(&mut self, error: Error) -> regauge::Result<BadRecord>;
}

impl<P: Parse + Send> Records for Reader<'static, P> {
    fn next(&mut self, builder: &mut RecordBuilder) -> regauge::Result<bool> {
        Source::next(self, builder)
    }
    fn skip(&mut self, error: Error) -> regauge::Result<BadRecord> {
        self.skip_bad(error)
    }
}

/// The fields of a record, created on first access.
#[pyclass(module = "regauge._marc", name = "Fields", frozen)]
pub struct PyFields {
    record: Record,
}

#[pymethods]
impl PyFields {
    /// Creates them from a MARC-in-JSON record.
    #[new]
    fn new(py: Python<'_>, document: &[u8]) -> PyResult<PyFields> {
        let (limits, options) = (Limits::default(), json::ReadOptions::default());
        let mut reader = Reader::from_slice(json::Parser::new(options, limits), document);
        let mut builder = builder(&limits);
        match Source::next(&mut reader, &mut builder) {
            Ok(_) => Ok(PyFields { record: builder.record().clone() }),
            Err(error) => Err(errors::exception(py, &error, Way::Decode, Keywords::NONE)),
        }
    }

    /// Returns the fields as a list of `field`, with subfields of type `subfield` and indicators of
    /// type `indicators`.
    fn make<'py>(
        &self,
        field: &Bound<'py, PyType>,
        subfield: &Bound<'py, PyType>,
        indicators: &Bound<'py, PyType>,
    ) -> PyResult<Bound<'py, PyAny>> {
        fields_of(&self.record, &mut Maker::new(field, subfield, indicators)?)
    }

    /// Returns the record as MARC-in-JSON: the state for `copy` and `pickle`.
    fn document<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::MarcJson);
        let mut writer = marc::json::Writer::new(Out::in_memory(), fidelity);
        let done = self.record.drive(&mut writer).and_then(|()| writer.end_document());
        done.map_err(|error| errors::exception(py, &error, Way::Encode, Keywords::NONE))?;
        Ok(PyBytes::new(py, &writer.into_out().into_vec()))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let maker = py.import("regauge.marc._record")?.getattr("_fields_of")?;
        Ok((maker, (self.document(py)?,)))
    }
}

/// Returns a builder for a record that another reader has checked.
fn builder(limits: &Limits) -> RecordBuilder {
    RecordBuilder::new(limits, Fidelity::new(OnLoss::Refuse, Format::MarcJson))
}

/// Iterates over the records of a file as leader and fields.
#[pyclass(module = "regauge._marc", name = "Records", frozen)]
pub struct PyRecords {
    reading: Turn<(Box<dyn Records>, RecordBuilder)>,
}

#[pymethods]
impl PyRecords {
    /// Opens a path, a file object or bytes, in the format of this name.
    #[new]
    fn new(format: &str, source: &Bound<'_, PyAny>) -> PyResult<PyRecords> {
        let (read, _) = stream::From::new(source)?.open(source.py())?;
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
        Ok(PyRecords { reading: Turn::new((records, builder(&limits)), "a reader") })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// Returns leader and fields of the next record; a broken one raises, and the following one is
    /// next.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyAny>, PyFields)>> {
        let Some(mut reading) = self.reading.take(py)? else { return Ok(None) };
        let (records, builder) = &mut *reading;
        match records.next(builder) {
            Ok(false) => {
                reading.end();
                Ok(None)
            }
            Ok(true) => {
                let record = builder.record().clone();
                drop(reading);
                let leader = text::new(py, record.leader()).ok_or_else(|| PyErr::fetch(py))?;
                Ok(Some((leader, PyFields { record })))
            }
            Err(error) => {
                let error = match records.skip(error) {
                    Ok(bad) => {
                        *builder = self::builder(&Limits::default());
                        bad.error
                    }
                    Err(error) => {
                        reading.end();
                        error
                    }
                };
                Err(errors::exception(py, &error, Way::Decode, Keywords::NONE))
            }
        }
    }
}

fn keeping<P: Parse + Send + 'static>(mut reader: Reader<'static, P>) -> Box<dyn Records> {
    reader.keep_records(true);
    Box::new(reader)
}
