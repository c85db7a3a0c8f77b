//! Writes documents as a Parquet file.
//!
//! The first documents wait in memory until the columns are known. From then on, a document is in memory until its
//! row is encoded, and an encoded row until its row group is full.

use std::io;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::file::properties::WriterProperties;
use arrow_schema::{FieldRef, Fields, Schema, SchemaRef};
use regauge::{Error, ErrorKind, OnLoss, Options, Result, Value, Writer};

use super::Compression;
use super::guard::{failed, guarded};
use crate::column::Columns;
use crate::events::{self, SINGLE_MARK};
use crate::infer::Seen;
use crate::rows::{self, Rows, Shape};
use crate::{Losses, Words};

/// Rows that are encoded at a time, and the size of their values that ends a batch early.
const BATCH_ROWS: usize = 8_192;
const BATCH_BYTES: u64 = 16 << 20;
/// Rows of a row group, as in pyarrow; and what its encoded pages may take in memory, which ends it early.
const GROUP_ROWS: usize = 1 << 20;
const GROUP_BYTES: usize = 64 << 20;
/// What the documents may take in memory that the columns are inferred from, before they are taken to be enough.
const SAMPLE_BYTES: u64 = 64 << 20;

/// How deep columns may nest. Readers of the schema that Arrow adds to a file stop at 64 structures, of which each
/// level is one, and a few more are around them.
const LEVELS_MAX: usize = 50;

/// How a file is written.
#[derive(Clone, Debug)]
pub struct How {
    /// How pages are compressed.
    pub compression: Compression,
    /// How many documents the columns are inferred from.
    pub sample: u64,
    /// The columns, unless they are inferred.
    pub schema: Option<SchemaRef>,
    /// What happens to a value that its column cannot hold.
    pub on_loss: OnLoss,
    /// Whether documents are MARC records, which have columns of their own.
    pub is_marc: bool,
}

/// Writes the documents that `read` sends, and returns its result. On an error, the output is incomplete.
///
/// # Errors
/// Those of `read`, those of the output, and `Refused` for a document that does not fit the columns.
pub fn write<T>(
    out: impl io::Write + Send,
    options: &Options,
    how: &How,
    losses: &Losses,
    read: impl FnOnce(&mut dyn Writer) -> Result<T>,
) -> Result<T> {
    let mut file = File { out: Some(out), how, losses, state: State::Sampling(Sample::new(how)) };
    let shape = if how.is_marc && how.schema.is_none() { Shape::Marc } else { Shape::Plain };
    match &how.schema {
        // The first document says whether the column `value` is a field of each, or the document itself.
        Some(schema) if rows::is_single(schema) => {}
        Some(schema) => file.open(Arc::clone(schema), Shape::Plain)?,
        None if shape == Shape::Marc => file.open(Arc::new(rows::marc_schema()), Shape::Plain)?,
        None => {}
    }
    let done = {
        let mut take = |row: Value, number: u64| file.take(row, number);
        let mut rows = Rows::new(options, shape, &mut take);
        if how.on_loss != OnLoss::Approximate {
            rows = rows.refusing_charset();
        }
        read(&mut rows)?
    };
    file.close()?;
    Ok(done)
}

struct File<'h, W: io::Write + Send> {
    /// The output, until the columns are known.
    out: Option<W>,
    how: &'h How,
    losses: &'h Losses,
    state: State<W>,
}

enum State<W: io::Write + Send> {
    Sampling(Sample),
    Writing(Box<Rest<W>>),
}

/// What the other documents need.
struct Rest<W: io::Write + Send> {
    columns: Columns,
    writer: ArrowWriter<W>,
    shape: Shape,
}

/// The first documents.
struct Sample {
    seen: Seen,
    /// Each with its number.
    rows: Vec<(Value, u64)>,
    bytes: u64,
}

impl Sample {
    fn new(how: &How) -> Sample {
        let size = if how.schema.is_some() { 1 } else { how.sample };
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        Sample { seen: Seen::new(size, &Words::COMMAND), rows: Vec::new(), bytes: 0 }
    }

    /// Adds a document; returns whether they are enough.
    fn add(&mut self, row: Value, number: u64) -> Result<bool> {
        self.bytes += memory(&row);
        let looked = self.seen.look(&row, number);
        self.rows.push((row, number));
        match looked {
            Err(_) if self.seen.is_full() => Ok(true),
            Err(error) => Err(error),
            Ok(()) => Ok(self.bytes >= SAMPLE_BYTES),
        }
    }
}

impl<W: io::Write + Send> File<'_, W> {
    fn take(&mut self, row: Value, number: u64) -> Result {
        match &mut self.state {
            State::Sampling(sample) => {
                if sample.add(row, number)? {
                    self.end_sample()?;
                }
                Ok(())
            }
            State::Writing(rest) => {
                let Rest { columns, writer, shape } = &mut **rest;
                columns.append(&shape.row(row), number)?;
                if columns.rows() >= BATCH_ROWS || columns.bytes() >= BATCH_BYTES {
                    flush(columns, writer)?;
                }
                Ok(())
            }
        }
    }

    /// Determines the columns, and writes the documents that waited for them.
    fn end_sample(&mut self) -> Result {
        let State::Sampling(sample) = &mut self.state else { return Ok(()) };
        let rows = std::mem::take(&mut sample.rows);
        let seen = std::mem::replace(&mut sample.seen, Seen::new(1, &Words::COMMAND));
        let (schema, shape) = match &self.how.schema {
            Some(schema) => (schema.as_ref().clone(), seen.schema(OnLoss::Wrap)?.1),
            None => seen.schema(self.how.on_loss)?,
        };
        self.open(Arc::new(marked(schema, shape)), shape)?;
        rows.into_iter().try_for_each(|(row, number)| self.take(row, number))
    }

    fn open(&mut self, schema: SchemaRef, shape: Shape) -> Result {
        if schema.fields().is_empty() {
            let message =
                "found no document with a field, expected one, because a table has columns";
            return Err(Error::new(ErrorKind::Unrepresentable, message)
                .hint(format!("pass {} with the columns", Words::COMMAND.schema)));
        }
        let levels = levels(schema.fields());
        if levels > LEVELS_MAX {
            return Err(Error::limit(format!(
                "found columns of {levels} levels, expected at most {LEVELS_MAX}"
            )));
        }
        let columns = Columns::new(&schema, self.how.on_loss, self.losses, &Words::COMMAND)?;
        let properties = WriterProperties::builder()
            .set_created_by(concat!("regauge version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(self.how.compression.basic())
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES))
            .build();
        let Some(out) = self.out.take() else { return Ok(()) };
        let writer = ArrowWriter::try_new(out, schema, Some(properties)).map_err(failed)?;
        self.state = State::Writing(Box::new(Rest { columns, writer, shape }));
        Ok(())
    }

    fn close(mut self) -> Result {
        self.end_sample()?;
        let State::Writing(rest) = self.state else { return Ok(()) };
        let Rest { mut columns, mut writer, .. } = *rest;
        flush(&mut columns, &mut writer)?;
        guarded(|| writer.close().map(drop).map_err(failed))
    }
}

/// Encodes the rows of the columns, and writes a row group that is full.
fn flush<W: io::Write + Send>(columns: &mut Columns, writer: &mut ArrowWriter<W>) -> Result {
    if columns.rows() == 0 {
        return Ok(());
    }
    let batch = columns.finish()?;
    guarded(|| {
        writer.write(&batch).map_err(failed)?;
        if writer.memory_size() >= GROUP_BYTES {
            writer.flush().map_err(failed)?;
        }
        Ok(())
    })
}

/// Returns how many levels of fields there are.
fn levels(fields: &Fields) -> usize {
    let below = |field: &FieldRef| 1 + levels(&events::inside(field.data_type()).into());
    fields.iter().map(below).max().unwrap_or(0)
}

/// Marks a schema of documents that are no maps, so that they are read back as what they were.
fn marked(schema: Schema, shape: Shape) -> Schema {
    if shape != Shape::Single {
        return schema;
    }
    let mark = (SINGLE_MARK.to_owned(), "values".to_owned());
    schema.with_metadata([mark])
}

/// Returns about how many bytes a document takes in memory.
fn memory(value: &Value) -> u64 {
    let own = size_of::<Value>() as u64;
    own + match value {
        Value::Text(text) => text.len() as u64,
        Value::Bytes(bytes) => bytes.len() as u64,
        Value::Array(values) => values.iter().map(memory).sum(),
        Value::Map(pairs) => pairs.iter().map(|(key, value)| memory(key) + memory(value)).sum(),
        Value::Typed(_, value) | Value::Anchor(_, value) => memory(value),
        _ => 0,
    }
}
