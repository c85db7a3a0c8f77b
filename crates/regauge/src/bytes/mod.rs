//! Windows in, buffers out: what all readers and writers share, whatever the format.

pub mod buffer;
pub(crate) mod digits;
pub mod excerpt;
pub(crate) mod here;
pub mod memory;
pub mod output;
pub mod reader;
pub(crate) mod simd;
mod table_powers;
