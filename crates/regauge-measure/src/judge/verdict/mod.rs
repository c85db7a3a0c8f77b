//! Names what to use in each runtime, as far as enough was timed to say so.

mod choose;
mod field;

pub(crate) use choose::{decide, leaders, refusal};
pub(crate) use field::Untimed;
