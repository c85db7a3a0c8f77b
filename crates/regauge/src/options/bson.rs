//! How BSON and Extended JSON are read and written.

/// How BSON and Extended JSON are read and written.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Reading: an `int64` that would fit 32 bits becomes [`Ext::Int64`](crate::Ext::Int64). Set by
    /// a conversion to BSON or to canonical Extended JSON.
    pub int64: bool,
    /// Reading: an array element whose name is not its position is counted as a loss, because a
    /// writer names it by its position. Set by a conversion with a report.
    pub count_names: bool,
    /// Writing: larger documents, in bytes, are refused. MongoDB accepts 16 MiB.
    pub document_bytes: Option<u64>,
    /// Read and write JSON as MongoDB's Extended JSON v2.
    pub extended_json: Option<ExtendedJson>,
}

/// Which of the two forms is written. Both are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtendedJson {
    /// Every number with its type: `{"$numberInt": "1"}`.
    Canonical,
    /// Numbers as plain JSON, dates as text: for human readers.
    Relaxed,
}
