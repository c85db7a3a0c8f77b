//! Names what to use in each runtime, as far as enough was timed to say so.

mod choose;
mod field;
mod refusal;

pub(crate) use choose::{decide, leaders};
pub(crate) use field::Untimed;
pub(crate) use refusal::refusal;
