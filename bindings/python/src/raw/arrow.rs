//! Imports Arrow structures from capsules of other libraries.

use std::ptr::NonNull;

use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// Copies the schema out of a capsule.
///
/// # Errors
/// Python's for a capsule of another name; Arrow's for an invalid schema.
pub fn schema(capsule: &Bound<'_, PyCapsule>) -> PyResult<Result<Schema, ArrowError>> {
    let held: NonNull<FFI_ArrowSchema> = capsule.pointer_checked(Some(c"arrow_schema"))?.cast();
    // SAFETY: a capsule of this name holds such a structure (the Arrow PyCapsule interface), which
    // it keeps owning: it is only read, and only while the capsule is held.
    let held = unsafe { held.as_ref() };
    if held.release().is_none() {
        return Ok(Err(ArrowError::CDataInterface(
            "found a schema that was already consumed".into(),
        )));
    }
    Ok(Schema::try_from(held))
}
