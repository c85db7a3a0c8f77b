//! What else takes events: documents in memory, the shape of a stream, the comparison of two values.

pub mod compare;
pub mod memory;
pub mod pull;
mod references;
pub mod shape;
pub mod tape;
pub mod whole;
