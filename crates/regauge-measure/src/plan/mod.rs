//! Who is measured, on what: contenders and how each is started, the input and its reference bytes.

pub(crate) mod contender;
pub(crate) mod folders;
pub(crate) mod input;
pub(crate) mod launch;
pub(crate) mod native;
pub(crate) mod nearest;
pub(crate) mod options;
pub(crate) mod order;
mod parallel;
pub(crate) mod reference;
pub mod sample;
pub mod setup;
