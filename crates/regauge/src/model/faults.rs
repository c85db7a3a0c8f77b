//! Errors that several readers report: a limit is exceeded.

use crate::Error;
use crate::model::hint::Hint;
use crate::model::limits::{Limit, Limits};

/// Returns the error for a single value of this many bytes.
#[cold]
pub(crate) fn token_too_long(limits: &Limits, bytes: u64) -> Error {
    let bound = limits.token_bytes;
    Error::limit(format!(
        "found a single value of {bytes} bytes, more than {bound}, the limit of token_bytes"
    ))
    .hint(Hint::raise(Limit::TokenBytes))
}

/// Returns the error for containers of these kinds that nest too deep.
#[cold]
pub(crate) fn too_deep(limits: &Limits, kinds: &str) -> Error {
    let depth = limits.depth.min(Limits::DEPTH_CEILING);
    Error::limit(format!("found more than {depth} nested {kinds}, the limit of depth"))
        .hint_depth(depth)
}
