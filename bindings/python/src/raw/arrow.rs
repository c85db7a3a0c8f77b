//! Arrow's structures in the capsules of other libraries.

use std::ptr::NonNull;

use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The schema in a capsule, copied out of it.
///
/// # Errors
/// Python's for a capsule of another name; Arrow's for a schema that is none.
pub fn schema(capsule: &Bound<'_, PyCapsule>) -> PyResult<Result<Schema, ArrowError>> {
    let held: NonNull<FFI_ArrowSchema> = capsule.pointer_checked(Some(c"arrow_schema"))?.cast();
    // SAFETY: a capsule of this name holds such a structure (the Arrow PyCapsule interface), which
    // stays its own: it is only read, and while the capsule is held.
    let held = unsafe { held.as_ref() };
    if held.release().is_none() {
        return Ok(Err(ArrowError::CDataInterface("found a schema that was taken already".into())));
    }
    Ok(Schema::try_from(held))
}
