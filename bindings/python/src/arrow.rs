//! Documents as Arrow record batches, through the Arrow PyCapsule interface: Polars, DuckDB, pandas
//! and PyArrow take them without a copy and without Python objects in between.
//!
//! A thread reads and builds batches, which wait in a queue of two; the consumer runs in parallel,
//! and memory is bounded. The elements of a top-level array become rows, also in bounded memory.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use regauge::convert::{self, Input as CoreInput};
use regauge::documents::Documents;
use regauge::{Error, ErrorKind, Format, OnLoss, Options, Value};
use regauge_arrow::rows::{self, Rows, Shape};
use regauge_arrow::{Losses, Words, column, infer};

use crate::errors::{self, Way};
use crate::options::{For, Given, Keywords};
use crate::raw::bytes::Input;
use crate::{raw, stream};

/// Maximum number of batches in the queue.
const WAITING: usize = 2;

/// The source of the bytes: each pass starts over.
#[derive(Clone)]
enum Source {
    Path(PathBuf),
    Bytes(Arc<[u8]>),
}

/// The source and the options.
#[derive(Clone)]
struct Job {
    source: Source,
    options: Options,
    shape: Shape,
    schema: SchemaRef,
    batch_size: usize,
    on_loss: OnLoss,
    losses: Losses,
    /// What its errors suggest.
    words: &'static Words,
}

/// Documents of a file as record batches: the result of `to_arrow`.
#[pyclass(module = "regauge", name = "ArrowStream", frozen)]
pub struct PyArrowStream {
    job: Job,
}

/// Implements `regauge.to_arrow`, and the source for PySpark, whose errors have its words.
#[pyfunction]
#[pyo3(signature = (source, format, batch_size, schema, sample, on_loss, arguments = None, is_spark = false))]
#[expect(clippy::too_many_arguments, reason = "those of the public function")]
pub fn to_arrow(
    source: &Bound<'_, PyAny>,
    format: &str,
    batch_size: usize,
    schema: Option<&Bound<'_, PyAny>>,
    sample: usize,
    on_loss: &str,
    arguments: Option<&Bound<'_, PyDict>>,
    is_spark: bool,
) -> PyResult<PyArrowStream> {
    let py = source.py();
    let format = stream::format(format)?;
    let given = Given::parse(format, format, For::Loading, true, arguments)?;
    let on_loss = match on_loss {
        "refuse" => OnLoss::Refuse,
        "wrap" => OnLoss::Wrap,
        "approximate" => OnLoss::Approximate,
        other => {
            return Err(PyValueError::new_err(format!(
                "found {other:?} as on_loss, expected \"refuse\", \"wrap\" or \"approximate\""
            )));
        }
    };
    if given.hooks.some().is_some() || given.on_bad.is_some() {
        return Err(PyTypeError::new_err("found a hook, but no Python objects are created here"));
    }
    if batch_size == 0 || sample == 0 {
        return Err(PyValueError::new_err("found 0 as batch_size or sample, expected 1 or more"));
    }
    let mut options = given.options;
    // A stream of records keeps its documents; a file with one array is a table.
    options.documents = match format {
        Format::Ndjson | Format::Bson => Documents::Keep,
        format if format.is_table() => Documents::Keep,
        format if format.is_marc() => Documents::Auto,
        _ => Documents::Split,
    };
    let source = match stream::path(source)? {
        Some(path) => Source::Path(path),
        None => Source::Bytes(Input::new(source)?.as_slice().into()),
    };
    let given = schema.map(imported).transpose()?;
    let shape = if format.is_marc() { Shape::Marc } else { Shape::Plain };
    let mut job = Job {
        source,
        options,
        shape,
        schema: Arc::new(Schema::empty()),
        batch_size,
        on_loss,
        losses: Losses::default(),
        words: if is_spark { &Words::SPARK } else { &Words::PYTHON },
    };
    let found = py.detach(|| match given {
        // The column `value` is a field of each document, or the document itself.
        Some(schema) if shape == Shape::Plain && rows::is_single(&schema) => {
            job.infer(1, OnLoss::Wrap).map(|(_, shape)| (schema, shape))
        }
        Some(schema) => Ok((schema, shape)),
        None if shape == Shape::Marc => Ok((rows::marc_schema(), shape)),
        None => job.infer(sample, on_loss),
    });
    let keywords = Keywords::new(For::Loading, format, true);
    let told = |error, way| errors::exception(py, &error, way, keywords);
    let (schema, shape) = found.map_err(|error| told(error, Way::Decode))?;
    (job.schema, job.shape) = (Arc::new(schema), shape);
    job.columns().map_err(|error| told(error, Way::Encode))?;
    Ok(PyArrowStream { job })
}

/// Imports a schema from another library, through its `__arrow_c_schema__` or as the capsule
/// itself.
fn imported(given: &Bound<'_, PyAny>) -> PyResult<Schema> {
    let capsule = match given.cast::<PyCapsule>() {
        Ok(capsule) => capsule.clone(),
        Err(_) if given.hasattr("__arrow_c_schema__")? => {
            given.call_method0("__arrow_c_schema__")?.cast_into::<PyCapsule>()?
        }
        Err(_) => {
            return Err(PyTypeError::new_err(format!(
                "found {} as schema, expected one of Arrow's, such as a pyarrow.Schema",
                given.get_type().name()?
            )));
        }
    };
    raw::arrow::schema(&capsule)?.map_err(|error| PyValueError::new_err(error.to_string()))
}

impl Job {
    /// Reads the documents into a sink.
    fn read(&self, sink: &mut Rows<'_>) -> regauge::Result<()> {
        let ran = match &self.source {
            Source::Bytes(bytes) => {
                convert::read(CoreInput::Bytes(bytes), &self.options, sink, &mut |_| Ok(()))
            }
            Source::Path(path) => {
                let open =
                    || -> io::Result<Box<dyn Read + Send>> { Ok(Box::new(errors::open(path)?)) };
                convert::read(CoreInput::Again(&open), &self.options, sink, &mut |_| Ok(()))
            }
        };
        ran.map(drop)
    }

    /// Returns the schema of the first documents.
    fn infer(&self, sample: usize, on_loss: OnLoss) -> regauge::Result<(Schema, Shape)> {
        let mut seen = infer::Seen::new(sample, self.words);
        let mut look = |row: Value, number: u64| seen.look(&row, number);
        let done = self.read(&mut Rows::new(&self.options, self.shape, &mut look));
        match done {
            Err(error) if !seen.is_full() => Err(error),
            _ => seen.schema(on_loss),
        }
    }

    /// Creates empty columns for the schema.
    ///
    /// # Errors
    /// `Unsupported` for a type that no document contains.
    fn columns(&self) -> regauge::Result<column::Columns> {
        column::Columns::new(&self.schema, self.on_loss, &self.losses, self.words)
    }

    /// Builds batches until the end, or until there is no consumer any more.
    fn run(&self, sender: &SyncSender<Result<RecordBatch, ArrowError>>) -> regauge::Result<()> {
        let mut columns = self.columns()?;
        let mut gone = false;
        // A value that does not fit ends the run, even if broken records are skipped.
        let mut fault = None;
        let mut take = |row: Value, number: u64| {
            if gone || fault.is_some() {
                return Err(rows::stop());
            }
            if let Err(error) = columns.append(&row, number) {
                fault = Some(error);
                return Err(rows::stop());
            }
            if columns.rows() >= self.batch_size || columns.bytes() >= column::BATCH_BYTES {
                gone = sender.send(columns.finish().map_err(arrow)).is_err();
            }
            if gone { Err(rows::stop()) } else { Ok(()) }
        };
        let done = self.read(&mut Rows::new(&self.options, self.shape, &mut take));
        if gone {
            return Ok(());
        }
        if let Some(fault) = fault {
            return Err(fault);
        }
        done?;
        if columns.rows() > 0 {
            let _ = sender.send(columns.finish().map_err(arrow));
        }
        Ok(())
    }

    /// Returns a reader of the batches; its thread ends when it is dropped.
    fn reader(&self) -> Batches {
        let (sender, batches) = sync_channel(WAITING);
        let job = self.clone();
        std::thread::spawn(move || {
            if let Err(error) = job.run(&sender) {
                let _ = sender.send(Err(arrow(error)));
            }
        });
        Batches { schema: Arc::clone(&self.schema), batches: Mutex::new(batches), ended: false }
    }
}

struct Batches {
    schema: SchemaRef,
    batches: Mutex<Receiver<Result<RecordBatch, ArrowError>>>,
    ended: bool,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let batches = self.batches.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        let next = batches.recv().ok();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

#[pymethods]
impl PyArrowStream {
    /// Returns a stream of batches from the beginning (the Arrow PyCapsule interface).
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let mut job = self.job.clone();
        if let Some(requested) = requested_schema {
            job.schema = Arc::new(imported(requested)?);
            let told = |error| errors::exception(py, &error, Way::Encode, Keywords::NONE);
            job.columns().map_err(told)?;
        }
        let stream = FFI_ArrowArrayStream::new(Box::new(job.reader()));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Returns the schema (the Arrow PyCapsule interface).
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.job.schema.as_ref())
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Counts what was not kept in the batches built so far, by kind.
    #[getter]
    fn losses(&self) -> BTreeMap<&'static str, u64> {
        self.job.losses.counts()
    }

    fn __repr__(&self) -> String {
        let names: Vec<_> =
            self.job.schema.fields().iter().map(|field| field.name().as_str()).collect();
        format!("ArrowStream({})", names.join(", "))
    }
}

/// Formats an error for the consumer of the batches.
fn arrow(error: Error) -> ArrowError {
    let format = error.format().unwrap_or(Format::Json);
    let text = errors::text(&error, Keywords::new(For::Loading, format, true));
    match error.kind() {
        ErrorKind::Io => ArrowError::IoError(text, std::io::Error::other("regauge")),
        _ => ArrowError::InvalidArgumentError(text),
    }
}
