//! Documents as Arrow record batches, and record batches as documents.
//!
//! A map is a row. [`infer`] finds the columns of the first documents, [`mod@column`] fills them exactly or refuses,
//! and [`rows`] is the sink between a reader and both. [`events`] goes the other way: it sends the rows of a
//! batch to any [`Sink`](regauge::Sink). With the feature `parquet`, `parquet` writes and reads files of such
//! batches.
//!
//! The Python package hands the batches to other libraries; the command writes Parquet. Both build them here, so
//! a value that one of them refuses is refused by the other, in the same words.

#![forbid(unsafe_code)]

pub mod column;
mod decimal;
pub mod events;
mod exact;
mod found;
pub mod infer;
mod losses;
mod moment;
mod nested;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod rows;
mod state;
mod times;
mod words;

pub use losses::Losses;
pub use words::Words;

use regauge::path::{Path, Step};
use regauge::{Error, ErrorKind};

/// Returns the error for a value that does not fit, with its position in a row.
fn misfit(message: String, number: u64, path: &[Step]) -> Error {
    Error::new(ErrorKind::Refused, message).in_record(number).at_path(Path(path.to_vec()))
}
