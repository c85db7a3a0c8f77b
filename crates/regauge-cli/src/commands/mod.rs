//! One file for each command.

pub mod completions;
pub mod convert;
pub mod formats;
pub mod inspect;
pub mod man;
pub mod measure;
pub mod sample;
pub mod survey;
