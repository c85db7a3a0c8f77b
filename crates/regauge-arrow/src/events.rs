//! Record batches as documents: each row is a map, sent as events.
//!
//! Every type that [`Columns`](crate::column::Columns) writes comes back as the value that it was written from.
//! A type that documents do not have, such as an interval of months, is refused with its column.

mod cells;
mod numbers;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};
use regauge::fidelity::LossKind;
use regauge::path::{Path, Step};
use regauge::{Error, ErrorKind, Result, Sink};

use crate::column::DEPTH_MAX;
use crate::rows::is_single;
use cells::Cells;
#[cfg(feature = "parquet")]
pub(crate) use cells::{EXTENSION, UUID};

/// The rows of a batch.
pub struct Table {
    columns: Vec<(String, Cells)>,
    /// Whether the only column holds the documents themselves.
    is_single: bool,
    rows: usize,
}

impl Table {
    /// Creates the rows of a batch. The schema is that of the batch, or one that says more about the same columns.
    ///
    /// # Errors
    /// Those of [`check`].
    pub fn new(batch: &RecordBatch, schema: &Schema) -> Result<Table> {
        let columns = schema.fields().iter().zip(batch.columns());
        let columns =
            columns.map(|(field, array)| Ok((field.name().clone(), Cells::new(field, array)?)));
        Ok(Table {
            columns: columns.collect::<Result<_>>()?,
            is_single: is_single(schema) && is_marked(schema),
            rows: batch.num_rows(),
        })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Sends a row, counted from 0.
    ///
    /// # Errors
    /// The sink's, and `Refused` for a value that documents do not have.
    pub fn send(&self, row: usize, sink: &mut dyn Sink) -> Result {
        if self.is_single {
            return self.columns.iter().try_for_each(|(_, cells)| cells.send(row, sink));
        }
        sink.begin_map(Some(self.columns.len() as u64))?;
        for (name, cells) in &self.columns {
            sink.key(name)?;
            cells.send(row, sink)?;
        }
        sink.end_map()
    }
}

/// The key in the metadata of a schema that marks documents which are not maps: a table of one column that
/// happens to have the same name has none.
pub const SINGLE_MARK: &str = "regauge:documents";

fn is_marked(schema: &Schema) -> bool {
    schema.metadata().contains_key(SINGLE_MARK)
}

/// Checks that documents have the types of all columns.
///
/// # Errors
/// `Refused` with the column for a type that they do not have; `Limit` for too many levels.
pub fn check(schema: &Schema) -> Result {
    schema.fields().iter().try_for_each(|field| check_field(field, &mut Vec::new()))
}

fn check_field(field: &Field, path: &mut Vec<Step>) -> Result {
    path.push(Step::Key(field.name().as_str().into()));
    if path.len() > DEPTH_MAX {
        return Err(Error::limit(format!("found columns of more than {DEPTH_MAX} levels")));
    }
    inside(field.data_type()).iter().try_for_each(|field| check_field(field, path))?;
    if !cells::is_known(field.data_type()) {
        let message =
            format!("found a column of type {}, which documents do not have", field.data_type());
        return Err(Error::new(ErrorKind::Refused, message).at_path(Path(path.clone())));
    }
    path.pop();
    Ok(())
}

/// Returns the fields inside a type, through those that only repeat or encode.
pub(crate) fn inside(of: &DataType) -> Vec<Field> {
    match of {
        DataType::Struct(fields) => fields.iter().map(|field| field.as_ref().clone()).collect(),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => vec![field.as_ref().clone()],
        DataType::Dictionary(_, values) => {
            vec![Field::new("values", values.as_ref().clone(), true)]
        }
        _ => Vec::new(),
    }
}

/// Counts what the columns say about all of their values, and documents do not: the zone in which points in time
/// are shown.
pub fn note_zones(schema: &Schema, sink: &mut dyn Sink) {
    for field in schema.fields() {
        note_zone(field, &mut Vec::new(), sink);
    }
}

fn note_zone(field: &Field, path: &mut Vec<Step>, sink: &mut dyn Sink) {
    path.push(Step::Key(field.name().as_str().into()));
    if let DataType::Timestamp(_, Some(zone)) = field.data_type()
        && !matches!(&**zone, "UTC" | "Etc/UTC" | "Z" | "+00:00" | "utc")
    {
        let found = format!("points in time in the zone {zone}");
        let path = || Path(path.clone());
        sink.fidelity().note_at(1, path, LossKind::Special, found, "them in UTC");
    }
    inside(field.data_type()).iter().for_each(|field| note_zone(field, path, sink));
    path.pop();
}
