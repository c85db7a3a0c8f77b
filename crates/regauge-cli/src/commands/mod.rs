//! One file per command.

pub mod completions;
pub mod convert;
pub mod enveloped;
pub mod formats;
pub mod inspect;
pub mod man;
pub mod marshal_survey;
pub mod measure;
pub mod migrate;
pub mod pickle_survey;
pub mod query;
pub mod report;
pub mod sample;
pub mod serve;
pub mod sources;
pub mod stages;
pub mod store;
pub mod tasks;
pub mod xray;
