//! Parquet files: row groups of pages, and a footer that says where they are.
//!
//! Specification: <https://github.com/apache/parquet-format>. The crate `parquet` encodes and decodes. This module
//! gives it rows, bounds what it holds in memory, and checks what a file claims before the crate allocates for it:
//! see `footer` and `pages`.

mod deltas;
mod file;
mod footer;
mod group;
mod guard;
mod int96;
mod pages;
mod read;
mod schema;
mod thrift;
mod write;

pub use read::FileReader;
pub use write::{How, write};

use ::parquet::basic;

/// The first and the last bytes of a file.
pub const MAGIC: &[u8; 4] = b"PAR1";

/// How pages are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// Fast, and what every reader of Parquet knows: the default of pyarrow, DuckDB and Spark too.
    #[default]
    Snappy,
    /// Smaller, with a level from 1 to 22.
    Zstd(u32),
    /// For old readers, with a level from 1 to 9.
    Gzip(u32),
    /// Fast, without a frame.
    Lz4,
}

impl Compression {
    /// Returns what the crate calls it; a level that is out of range is the nearest that is not.
    fn basic(self) -> basic::Compression {
        match self {
            Compression::None => basic::Compression::UNCOMPRESSED,
            Compression::Snappy => basic::Compression::SNAPPY,
            Compression::Zstd(level) => {
                let level = basic::ZstdLevel::try_new(level.clamp(1, 22) as i32);
                basic::Compression::ZSTD(level.unwrap_or_default())
            }
            Compression::Gzip(level) => {
                let level = basic::GzipLevel::try_new(level.clamp(1, 9));
                basic::Compression::GZIP(level.unwrap_or_default())
            }
            Compression::Lz4 => basic::Compression::LZ4_RAW,
        }
    }
}
