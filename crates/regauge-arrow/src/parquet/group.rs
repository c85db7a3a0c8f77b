//! A row group, whose pages are looked at once more after they were decompressed.
//!
//! The encodings of deltas say how many values there are, and the crate allocates that number before it reads one. They
//! also repeat the beginning of the value before, so that a page can hold values of any length.

use std::iter;
use std::sync::Arc;

use ::parquet::arrow::arrow_reader::RowGroups;
use ::parquet::basic::Encoding;
use ::parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use ::parquet::file::reader::SerializedPageReader;

use super::deltas;
use super::file::At;

/// A row group of a file.
pub struct Group {
    pub file: At,
    pub metadata: Arc<ParquetMetaData>,
    pub index: usize,
    /// What the values of a page may take in memory.
    pub bytes_max: u64,
}

impl RowGroups for Group {
    fn num_rows(&self) -> usize {
        usize::try_from(self.metadata.row_group(self.index).num_rows()).unwrap_or_default()
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let chunk = self.metadata.row_group(self.index).column(column);
        let file = Arc::new(self.file.clone());
        let pages = Pages {
            inner: SerializedPageReader::new(file, chunk, self.num_rows(), None)?,
            levels_max: [
                chunk.column_descr().max_rep_level(),
                chunk.column_descr().max_def_level(),
            ],
            bytes_max: self.bytes_max,
        };
        Ok(Box::new(Only(Some(pages))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(iter::once(self.metadata.row_group(self.index)))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The pages of the only row group.
struct Only(Option<Pages>);

impl Iterator for Only {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(|pages| Ok(Box::new(pages) as Box<dyn PageReader>))
    }
}

impl PageIterator for Only {}

struct Pages {
    inner: SerializedPageReader<At>,
    /// The highest level of repetition and of definition.
    levels_max: [i16; 2],
    bytes_max: u64,
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.inner.get_next_page()?;
        if let Some(page) = &page {
            self.check(page)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.inner.skip_next_page()
    }

    fn supports_deferred_dictionary(&self) -> bool {
        self.inner.supports_deferred_dictionary()
    }

    fn take_deferred_dictionary(&mut self) -> Result<Option<Page>> {
        self.inner.take_deferred_dictionary()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.inner.at_record_boundary()
    }
}

impl Pages {
    fn check(&self, page: &Page) -> Result<()> {
        let repeats = match page.encoding() {
            Encoding::DELTA_BINARY_PACKED | Encoding::DELTA_LENGTH_BYTE_ARRAY => false,
            Encoding::DELTA_BYTE_ARRAY => true,
            _ => return Ok(()),
        };
        let broken =
            || ParquetError::General("the deltas of a page are not what they claim".into());
        let bytes = self.values(page).ok_or_else(broken)?;
        let first = deltas::walk(bytes, page.num_values(), repeats).ok_or_else(broken)?;
        if !repeats {
            return Ok(());
        }
        // The beginnings of values that are repeated, and then what follows in each.
        let rest = bytes.get(first.end..).ok_or_else(broken)?;
        deltas::walk(rest, page.num_values(), false).ok_or_else(broken)?;
        match first.sum.saturating_add(bytes.len() as u64) > self.bytes_max {
            true => Err(ParquetError::General(format!(
                "the values of a page take more than {} bytes",
                self.bytes_max
            ))),
            false => Ok(()),
        }
    }

    /// Returns the bytes of a page after its levels.
    fn values<'p>(&self, page: &'p Page) -> Option<&'p [u8]> {
        let (buffer, start) = match page {
            Page::DataPage { buf, num_values, rep_level_encoding, def_level_encoding, .. } => {
                let mut start = 0_usize;
                let encodings = [*rep_level_encoding, *def_level_encoding];
                for (most, encoding) in self.levels_max.into_iter().zip(encodings) {
                    start = start.checked_add(levels(
                        buf.get(start..)?,
                        most,
                        encoding,
                        *num_values,
                    )?)?;
                }
                (buf, start)
            }
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                (buf, usize::try_from(def_levels_byte_len.checked_add(*rep_levels_byte_len)?).ok()?)
            }
            Page::DictionaryPage { buf, .. } => (buf, 0),
        };
        buffer.get(start..)
    }
}

/// Returns how many bytes levels take, of which the highest is given.
fn levels(bytes: &[u8], most: i16, encoding: Encoding, values: u32) -> Option<usize> {
    if most == 0 {
        return Some(0);
    }
    if encoding == Encoding::RLE {
        let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
        return usize::try_from(length).ok()?.checked_add(4);
    }
    let bits = u64::from(u16::BITS - most.unsigned_abs().leading_zeros());
    usize::try_from((bits * u64::from(values)).div_ceil(8)).ok()
}
