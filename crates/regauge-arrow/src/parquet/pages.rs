//! The pages of a column in a row group. Their headers are walked over before the crate reads them, because it
//! allocates what they claim.
//!
//! What the crate holds in memory at a time is a page of each column, decompressed, and the values of a batch. So a
//! page may not be larger than a token, and a batch has so few rows that their values fit, whatever the pages say:
//! see [`Column::bytes_a_row`].

use std::io::Read;

use ::parquet::basic::{Compression, Type};
use ::parquet::file::metadata::ColumnChunkMetaData;
use flate2::read::MultiGzDecoder;
use regauge::hint::Hint;
use regauge::limits::Limit;
use regauge::{Error, ErrorKind, Limits, Result};

use super::file::At;
use super::guard::guarded;
use super::thrift::{Compact, FALSE, Fault, I32, STRUCT};

/// How many values of lists a column may have in a row group, for each node that a document may have: a row of lists
/// is in memory as a whole, and only its end says how long it is. By default that is 67 million.
const VALUES_A_NODE: u64 = 64;

/// The bytes that a value takes in a batch; text and bytes are views of so many.
const USUAL_WIDTH: u64 = 16;

/// `DELTA_BYTE_ARRAY`: each value may repeat all of the one before.
const DELTA_BYTE_ARRAY: i64 = 7;

/// The largest page of the old LZ4 framing, which may expand 255-fold without saying so.
const OLD_LZ4_MAX: u64 = 4 << 20;

/// A page header, as far as it matters here.
#[derive(Clone, Copy, Debug, Default)]
struct Header {
    /// 0 and 3 are data, 2 is a dictionary, 1 an index.
    kind: i64,
    plain_bytes: i64,
    packed_bytes: i64,
    values: i64,
    encoding: i64,
    /// The bytes of levels in front of the values, which are not compressed.
    levels_bytes: i64,
    is_packed: bool,
}

/// What was found in the pages of a column.
#[derive(Clone, Copy, Debug, Default)]
pub struct Column {
    /// Values, with nulls and empty lists.
    pub values: u64,
    /// The size of the largest page when it is decompressed.
    pub page_bytes: u64,
    /// What the value of a row takes at most, as far as the pages bound it.
    pub bytes_a_row: u64,
}

/// Walks over the pages of a column.
///
/// # Errors
/// `Limit` for a page that is too large; `Syntax` and `Truncated` for pages that are not what they claim.
pub fn check(file: &At, chunk: &ColumnChunkMetaData, limits: &Limits) -> Result<Column> {
    let (start, length) = guarded(|| Ok(chunk.byte_range()))?;
    let end = start.checked_add(length).filter(|end| *end <= file.size());
    let Some(end) = end else {
        return Err(
            Error::truncated("found a column that goes on after the end of the file").at(start)
        );
    };
    check_codec(chunk.compression())?;
    let mut column = Column { bytes_a_row: width(chunk, limits)?, ..Column::default() };
    let mut offset = start;
    while offset < end {
        let (header, size) = header(file, offset, end)?;
        let body = offset + size;
        let header = header.checked(end - body, limits).map_err(|error| error.at(offset))?;
        check_expansion(file, chunk.compression(), &header, body)?;
        column.add(&header);
        offset = body + header.packed_bytes as u64;
    }
    let values_max = limits.nodes.saturating_mul(VALUES_A_NODE);
    // Wide values count as so many of the usual width.
    let widths = width(chunk, limits)?.div_ceil(USUAL_WIDTH);
    if chunk.column_descr().max_rep_level() > 0 && column.values.saturating_mul(widths) > values_max
    {
        return Err(Error::limit(format!(
            "found {} values in lists of one column and row group, more than {VALUES_A_NODE} for each of the \
             limit of nodes",
            column.values
        ))
        .hint(Hint::raise(Limit::Nodes)));
    }
    Ok(column)
}

/// Refuses pages in a compression that this build does not decode.
fn check_codec(codec: Compression) -> Result {
    let name = match codec {
        Compression::BROTLI(_) => "Brotli",
        Compression::LZO => "LZO",
        _ => return Ok(()),
    };
    Err(Error::new(ErrorKind::Unsupported, format!("found pages that are compressed with {name}"))
        .hint("write the file with zstd or snappy"))
}

/// Returns the width of values that all have the same.
fn width(chunk: &ColumnChunkMetaData, limits: &Limits) -> Result<u64> {
    if chunk.column_type() != Type::FIXED_LEN_BYTE_ARRAY {
        return Ok(USUAL_WIDTH);
    }
    let width = u64::try_from(chunk.column_descr().type_length()).unwrap_or_default();
    if width > limits.token_bytes {
        return Err(Error::limit(format!("found a column of {width} bytes a value"))
            .hint(Hint::raise(Limit::TokenBytes)));
    }
    Ok(width)
}

impl Column {
    fn add(&mut self, header: &Header) {
        let plain = header.plain_bytes as u64;
        self.page_bytes = self.page_bytes.max(plain);
        let is_data = header.kind != 2;
        let values = header.values as u64;
        self.values += if is_data { values } else { 0 };
        if is_data {
            // Values of a dictionary are not copied.
            let each = match header.encoding {
                DELTA_BYTE_ARRAY => plain,
                _ => plain / values.max(1),
            };
            self.bytes_a_row = self.bytes_a_row.max(each);
        }
    }
}

/// Reads a header, and returns its size.
fn header(file: &At, offset: u64, end: u64) -> Result<(Header, u64)> {
    // Nearly all take less than 100 bytes; one with statistics of long texts takes more.
    for room in [256, 16 << 10, 1 << 20] {
        let room = (end - offset).min(room);
        let bytes = file.bytes(offset, room)?;
        let mut compact = Compact::new(&bytes);
        match walk(&mut compact) {
            Ok(header) => return Ok((header, compact.position() as u64)),
            Err(Fault::Short) if room < end - offset => {}
            Err(Fault::Short) => {
                return Err(Error::truncated("found the end of a column inside of a page header")
                    .at(offset));
            }
            Err(Fault::Wrong) => break,
        }
    }
    Err(Error::syntax("found no page header").at(offset))
}

fn walk(compact: &mut Compact<'_>) -> std::result::Result<Header, Fault> {
    let mut header = Header { is_packed: true, ..Header::default() };
    compact.structure(&mut |compact, field, kind| {
        match (field, kind) {
            (1, I32) => header.kind = compact.int()?,
            (2, I32) => header.plain_bytes = compact.int()?,
            (3, I32) => header.packed_bytes = compact.int()?,
            // Of data pages, of a dictionary, of data pages in version 2.
            (5 | 7 | 8, STRUCT) => walk_kind(compact, field == 8, &mut header)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(header)
}

fn walk_kind(
    compact: &mut Compact<'_>,
    is_second: bool,
    header: &mut Header,
) -> std::result::Result<(), Fault> {
    compact.structure(&mut |compact, field, kind| {
        match (is_second, field, kind) {
            (_, 1, I32) => header.values = compact.int()?,
            (false, 2, I32) | (true, 4, I32) => header.encoding = compact.int()?,
            (true, 5 | 6, I32) => {
                header.levels_bytes = header.levels_bytes.saturating_add(compact.int()?);
            }
            (true, 7, FALSE) => header.is_packed = false,
            _ => return Ok(false),
        }
        Ok(true)
    })
}

impl Header {
    /// Checks the header of a page, of which so many bytes can follow.
    fn checked(self, rest: u64, limits: &Limits) -> Result<Header> {
        let Header { plain_bytes, packed_bytes, values, levels_bytes, .. } = self;
        if plain_bytes < 0 || packed_bytes < 0 || values < 0 || levels_bytes < 0 {
            return Err(Error::syntax("found a page header with a negative size"));
        }
        if packed_bytes as u64 > rest {
            return Err(Error::truncated(format!(
                "found a page of {packed_bytes} bytes, expected at most the {rest} bytes left of its column"
            )));
        }
        if levels_bytes > plain_bytes.min(packed_bytes) {
            return Err(Error::syntax("found a page with more bytes of levels than of both"));
        }
        // Each value of a dictionary takes a byte at least.
        if self.kind == 2 && values > plain_bytes {
            return Err(Error::syntax(format!(
                "found a dictionary of {values} values in {plain_bytes} bytes"
            )));
        }
        if plain_bytes as u64 > limits.token_bytes {
            return Err(Error::limit(format!(
                "found a page of {plain_bytes} bytes, more than {}, the limit of {}",
                limits.token_bytes,
                Limit::TokenBytes.name()
            ))
            .hint(Hint::raise(Limit::TokenBytes)));
        }
        Ok(self)
    }
}

/// Checks that a page does not expand beyond the size that it claims, for codecs whose decoder would only notice
/// afterwards.
fn check_expansion(file: &At, codec: Compression, header: &Header, body: u64) -> Result {
    let packed = (header.packed_bytes - header.levels_bytes) as u64;
    let plain = (header.plain_bytes - header.levels_bytes) as u64;
    match codec {
        Compression::GZIP(_) if header.is_packed => {
            let bytes = file.bytes(body + header.levels_bytes as u64, packed)?;
            let mut counted = MultiGzDecoder::new(&bytes[..]).take(plain + 1);
            let expanded = std::io::copy(&mut counted, &mut std::io::sink());
            match expanded {
                Ok(bytes) if bytes <= plain => Ok(()),
                Ok(_) => Err(Error::syntax("found a page that expands beyond its size").at(body)),
                Err(error) => Err(Error::syntax(format!("found a broken page: {error}")).at(body)),
            }
        }
        Compression::LZ4 if packed > OLD_LZ4_MAX => Err(Error::limit(format!(
            "found a page of {packed} bytes in the old framing of LZ4, expected at most {OLD_LZ4_MAX}"
        ))
        .hint("write the file with lz4_raw, zstd or snappy")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;

    use ::parquet::basic::GzipLevel;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn a_page_that_expands_beyond_its_size() {
        let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(&[0; 100_000]).unwrap();
        let packed = packed.finish().unwrap();
        let mut header =
            Header { packed_bytes: packed.len() as i64, is_packed: true, ..Header::default() };
        let file = At::new(Arc::new(packed)).unwrap();
        let codec = Compression::GZIP(GzipLevel::default());
        header.plain_bytes = 100_000;
        check_expansion(&file, codec, &header, 0).unwrap();
        header.plain_bytes = 99_999;
        let error = check_expansion(&file, codec, &header, 0).unwrap_err();
        assert!(error.to_string().contains("expands beyond its size"), "{error}");
    }

    #[test]
    fn what_a_header_may_claim() {
        let limits = Limits::default();
        let sound = Header { plain_bytes: 100, packed_bytes: 50, values: 3, ..Header::default() };
        sound.checked(50, &limits).unwrap();
        for (header, message) in [
            (Header { plain_bytes: -1, ..sound }, "negative size"),
            (Header { packed_bytes: -1, ..sound }, "negative size"),
            (Header { values: -1, ..sound }, "negative size"),
            (Header { packed_bytes: 51, ..sound }, "expected at most the 50 bytes"),
            (Header { levels_bytes: 51, ..sound }, "more bytes of levels"),
            (Header { kind: 2, values: 101, ..sound }, "a dictionary of 101 values in 100 bytes"),
            (Header { plain_bytes: 1 << 40, ..sound }, "the limit of token_bytes"),
        ] {
            let error = header.checked(50, &limits).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
    }

    #[test]
    fn the_header_of_a_data_page() {
        // type 0, 100 bytes, 50 of them packed; a data page header of 3 values in encoding 7; then other bytes.
        let bytes = [0x15, 0, 0x15, 200, 1, 0x15, 100, 0x2C, 0x15, 6, 0x15, 14, 0, 0, 0xFF];
        let file = At::new(Arc::new(bytes.to_vec())).unwrap();
        let (found, size) = header(&file, 0, bytes.len() as u64).unwrap();
        assert_eq!((found.plain_bytes, found.packed_bytes, found.values), (100, 50, 3));
        assert_eq!((found.encoding, size), (DELTA_BYTE_ARRAY, 14));
        let mut column = Column::default();
        column.add(&found);
        // Each value may repeat all of the one before.
        assert_eq!(column.bytes_a_row, 100);
        assert!(header(&file, 0, 5).is_err());
    }
}
