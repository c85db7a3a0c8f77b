//! What HTTP says, without the gateway: errors, media types, entity tags.

pub(crate) mod media;
mod problem;
mod tag;

pub(crate) use problem::{Answer, Doing, Problem, Told, reading, writing};
pub(crate) use tag::{Conditions, Tag};
