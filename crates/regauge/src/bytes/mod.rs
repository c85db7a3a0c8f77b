//! What formats share in handling bytes.

pub(crate) mod digits;
pub(crate) mod simd;
mod table_powers;
