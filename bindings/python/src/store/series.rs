//! The keys of time series, for `regauge.Series`.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use regauge_store::series::Series;

use crate::errors::{self, Way};

fn series(py: Python<'_>, name: &str, bucket_ns: u64) -> PyResult<Series> {
    let made = Series::new(name, Duration::from_nanos(bucket_ns));
    made.map_err(|error| errors::stored(py, &error, Way::Encode))
}

/// Returns the key of the value at a time, in nanoseconds since 1970.
#[pyfunction]
pub fn series_key<'py>(
    py: Python<'py>,
    name: &str,
    bucket_ns: u64,
    time_ns: i64,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &series(py, name, bucket_ns)?.key(time_ns)))
}

type Bounds<'py> = (Option<Bound<'py, PyBytes>>, Option<Bound<'py, PyBytes>>);

/// Returns the first key of a series and the first one after it.
#[pyfunction]
pub fn series_range<'py>(py: Python<'py>, name: &str, bucket_ns: u64) -> PyResult<Bounds<'py>> {
    let range = series(py, name, bucket_ns)?.whole();
    let bytes = |key: Option<Vec<u8>>| key.map(|key| PyBytes::new(py, &key));
    Ok((bytes(range.from), bytes(range.to)))
}

/// Returns the time in a key of the series, in nanoseconds since 1970; `None` for another key.
#[pyfunction]
pub fn series_time(
    py: Python<'_>,
    name: &str,
    bucket_ns: u64,
    key: &Bound<'_, PyBytes>,
) -> PyResult<Option<i64>> {
    Ok(series(py, name, bucket_ns)?.time(key.as_bytes()))
}
