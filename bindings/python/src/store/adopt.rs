//! Operations on a database before one of its collections is opened.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regauge_store::{Assume, Codec, Compression, KeyKind, Layout, Settings, Store};

use crate::errors::{self, Way};

/// Returns the names of the collections in a database.
#[pyfunction]
pub fn collections(py: Python<'_>, url: &str) -> PyResult<Vec<String>> {
    let listed = py.detach(|| Store::collections(&*regauge_store::engine::open(url)?));
    listed.map_err(|error| errors::stored(py, &error, Way::Decode))
}

/// Adopts another program's table as a collection, unchanged.
#[pyfunction]
#[pyo3(signature = (url, collection, table, key_column, value_column, key_kind, assume, text, codec))]
#[allow(clippy::too_many_arguments, reason = "named where it is called from")]
pub fn adopt(
    py: Python<'_>,
    url: &str,
    collection: &str,
    table: String,
    key_column: String,
    value_column: String,
    key_kind: &str,
    assume: &str,
    text: bool,
    codec: Option<&str>,
) -> PyResult<()> {
    let key_kind = match key_kind {
        "bytes" => KeyKind::Bytes,
        "text" => KeyKind::Text,
        "integer" => KeyKind::Integer,
        other => {
            return Err(PyValueError::new_err(format!(
                "found {other:?} as key_kind, expected \"bytes\", \"text\" or \"integer\""
            )));
        }
    };
    let layout = Layout { table, key: key_column, value: value_column, key_kind, text };
    let adopted = py.detach(|| {
        let assume: Assume = assume.parse()?;
        let codec = match codec {
            Some(codec) => codec.parse()?,
            None => Codec::new(assume.format, Compression::None)?,
        };
        let mut store = Store::open(url, collection, None)?;
        store.adopt(Settings { codec, assume: Some(assume), layout })
    });
    adopted.map_err(|error| errors::stored(py, &error, Way::Decode))
}
