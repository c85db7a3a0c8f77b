//! What follows from the samples: estimates and ratios, costs, what to use, what has changed.

pub mod compare;
pub mod cost;
pub(crate) mod fill;
pub(crate) mod summary;
pub(crate) mod verdict;
