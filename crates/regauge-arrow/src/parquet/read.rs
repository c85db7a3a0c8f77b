//! Reads the rows of a Parquet file, one row group after the other, in batches that fit into memory.

use std::sync::Arc;

use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
};
use ::parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels};
use ::parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use regauge::convert::ReadAt;
use regauge::hint::Hint;
use regauge::limits::Limit;
use regauge::path::{Path, Step};
use regauge::tree::Builder;
use regauge::{Error, Limits, Result, Sink};

use super::file::At;
use super::group::Group;
use super::guard::{batch_failed, failed, guarded};
use super::{footer, int96, pages, schema};
use crate::events::{self, Table};
use crate::rows;

/// Rows that are decoded at a time.
const BATCH_ROWS: u64 = 4_096;
/// What the values of a batch may take in memory, as far as the pages bound it.
const BATCH_BYTES: u64 = 64 << 20;
/// The largest pages of all columns are in memory at the same time: together they may take so many tokens.
const PAGES_MAX: u64 = 4;

/// A file that is being read.
pub struct FileReader {
    file: At,
    limits: Limits,
    metadata: Arc<ParquetMetaData>,
    /// The columns as they are decoded.
    levels: FieldLevels,
    /// The same with INT96 in microseconds, if there is any.
    micros: Option<FieldLevels>,
    /// The schema as it is written, without views.
    schema: SchemaRef,
    /// The next row group.
    group: usize,
    batches: Option<Batches>,
    table: Option<Table>,
    row: usize,
    has_begun: bool,
    /// Whether rows are sent as MARC records.
    is_marc: bool,
}

impl FileReader {
    /// Opens a file.
    ///
    /// # Errors
    /// `Io`; `Syntax`, `Truncated` and `Limit` for a file that is broken or claims too much; `Refused` for columns
    /// of a type that documents do not have.
    pub fn open(file: Arc<impl ReadAt + Send + 'static>, limits: &Limits) -> Result<FileReader> {
        let file = At::new(file)?;
        let footer = footer::read(&file, limits)?;
        guarded(|| {
            let metadata = ParquetMetaDataReader::decode_metadata(&footer).map_err(failed)?;
            drop(footer);
            check_metadata(&metadata)?;
            let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Skip);
            let metadata = Arc::new(metadata);
            let plain =
                ArrowReaderMetadata::try_new(Arc::clone(&metadata), options).map_err(failed)?;
            let own = schema::marked(plain.schema(), plain.parquet_schema());
            events::check(&own)?;
            let decoded_as = |schema: &Schema| {
                let views = schema::with_views(schema);
                let all = ProjectionMask::all();
                let fields = Some(views.fields());
                parquet_to_arrow_field_levels(plain.parquet_schema(), all, fields).map_err(failed)
            };
            let micros = match schema::has_int96(plain.parquet_schema()) {
                true => Some(decoded_as(&schema::in_microseconds(&own, plain.parquet_schema()))?),
                false => None,
            };
            let levels = decoded_as(&own)?;
            Ok(FileReader {
                file,
                limits: *limits,
                metadata,
                levels,
                micros,
                schema: Arc::new(own),
                group: 0,
                batches: None,
                table: None,
                row: 0,
                has_begun: false,
                is_marc: false,
            })
        })
    }

    /// Returns how many rows the file has, as its footer says.
    pub fn rows(&self) -> u64 {
        let groups = self.metadata.row_groups();
        groups.iter().map(|group| u64::try_from(group.num_rows()).unwrap_or_default()).sum()
    }

    /// Returns the columns, as a file with the same ones is written.
    pub fn columns(&self) -> SchemaRef {
        // What is written gets metadata of its own.
        Arc::new(Schema::new(schema::without_dictionaries(self.schema.fields())))
    }

    /// Returns facts about the file, each with its name.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let metadata = &self.metadata;
        let mut facts = vec![("row groups", metadata.num_row_groups().to_string())];
        if let Some(writer) = metadata.file_metadata().created_by() {
            facts.push((
                "written by",
                regauge::text::escape_hidden(writer).chars().take(100).collect(),
            ));
        }
        let mut codecs = Vec::new();
        for column in metadata.row_groups().iter().flat_map(|group| group.columns()) {
            let codec = column.compression().to_string();
            let codec = codec.split('(').next().unwrap_or_default().to_ascii_lowercase();
            if !codecs.contains(&codec) {
                codecs.push(codec);
            }
        }
        if !codecs.is_empty() {
            facts.push(("pages", codecs.join(", ")));
        }
        facts
    }

    /// Sends rows with the columns of MARC records as such records from now on, if the file has them.
    pub fn as_records(&mut self) {
        self.is_marc = rows::is_marc(&self.schema);
    }

    /// Sends the next row; returns `false` at the end.
    ///
    /// # Errors
    /// The sink's; those of a broken file; `Refused` for a value that documents do not have.
    pub fn next(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        if !self.is_marc {
            return self.next_row(sink);
        }
        let mut row = Builder::new(&self.limits);
        let is_there = self.next_row(&mut row)?;
        row.take().map_or(Ok(()), |row| rows::marc_record(row).drive(sink))?;
        Ok(is_there)
    }

    fn next_row(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        if !self.has_begun {
            self.has_begun = true;
            events::note_zones(&self.schema, sink);
        }
        loop {
            if let Some(table) = self.table.as_ref().filter(|table| self.row < table.rows()) {
                self.row += 1;
                return table.send(self.row - 1, sink).map(|()| true);
            }
            self.table = None;
            self.row = 0;
            if !self.advance()? {
                return Ok(false);
            }
        }
    }

    /// Decodes the next batch, or goes on to the next row group; returns `false` after the last.
    fn advance(&mut self) -> Result<bool> {
        if let Some(batches) = &mut self.batches {
            let next = guarded(|| match batches.next()? {
                Some(batch) => Table::new(&batch, &self.schema).map(Some),
                None => Ok(None),
            });
            match next.map_err(|error| self.file.explain(error))? {
                Some(table) => self.table = Some(table),
                None => self.batches = None,
            }
            return Ok(true);
        }
        if self.group >= self.metadata.num_row_groups() {
            return Ok(false);
        }
        self.batches = Some(self.open_group()?);
        self.group += 1;
        Ok(true)
    }

    /// Checks the pages of a row group, and opens it.
    fn open_group(&self) -> Result<Batches> {
        let rows = self.batch_rows()?;
        let group = Group {
            file: self.file.clone(),
            metadata: Arc::clone(&self.metadata),
            index: self.group,
            bytes_max: self.limits.token_bytes.saturating_mul(PAGES_MAX),
        };
        let open = |levels: &FieldLevels| {
            ParquetRecordBatchReader::try_new_with_row_groups(levels, &group, rows, None)
                .map_err(failed)
        };
        let opened = guarded(|| {
            let micros = self.micros.as_ref().map(open).transpose()?;
            Ok(Batches { plain: open(&self.levels)?, micros })
        });
        opened.map_err(|error| self.file.explain(error))
    }

    /// Returns how many rows of the row group may be decoded at a time.
    fn batch_rows(&self) -> Result<usize> {
        let group = self.metadata.row_group(self.group);
        let rows = u64::try_from(group.num_rows()).unwrap_or_default();
        let (mut pages_bytes, mut bytes_a_row) = (0_u64, 1_u64);
        for chunk in group.columns() {
            let path = chunk.column_path().parts();
            let path = || Path(path.iter().map(|part| Step::Key(part.as_str().into())).collect());
            let column = pages::check(&self.file, chunk, &self.limits);
            let column = column.map_err(|error| error.at_path(path()))?;
            if chunk.column_descr().max_rep_level() == 0 && column.values != rows {
                let message = format!(
                    "found {} values in a row group, expected one for each of its {rows} rows",
                    column.values
                );
                return Err(Error::syntax(message).at_path(path()));
            }
            pages_bytes = pages_bytes.saturating_add(column.page_bytes);
            bytes_a_row = bytes_a_row.saturating_add(column.bytes_a_row);
        }
        let most = self.limits.token_bytes.saturating_mul(PAGES_MAX);
        if pages_bytes > most {
            return Err(Error::limit(format!(
                "found columns whose largest pages take {pages_bytes} bytes together, more than {PAGES_MAX} times \
                 the limit of {}",
                Limit::TokenBytes.name()
            ))
            .hint(Hint::raise(Limit::TokenBytes)));
        }
        Ok((BATCH_BYTES / bytes_a_row).clamp(1, BATCH_ROWS) as usize)
    }
}

/// The batches of a row group.
struct Batches {
    plain: ParquetRecordBatchReader,
    /// The same with INT96 in microseconds.
    micros: Option<ParquetRecordBatchReader>,
}

impl Batches {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batch) = self.plain.next().transpose().map_err(batch_failed)? else {
            return Ok(None);
        };
        match self.micros.as_mut().and_then(Iterator::next) {
            Some(micros) => int96::exact(micros.map_err(batch_failed)?, batch).map(Some),
            None => Ok(Some(batch)),
        }
    }
}

/// Checks what the footer says about row groups.
fn check_metadata(metadata: &ParquetMetaData) -> Result {
    let columns = metadata.file_metadata().schema_descr().num_columns();
    for group in metadata.row_groups() {
        if group.num_rows() < 0 {
            return Err(Error::syntax("found a row group with a negative number of rows"));
        }
        if group.num_columns() != columns {
            return Err(Error::syntax(format!(
                "found {} columns in a row group, expected {columns}",
                group.num_columns()
            )));
        }
        if columns == 0 && group.num_rows() > 0 {
            return Err(Error::syntax("found rows without a column"));
        }
    }
    Ok(())
}
