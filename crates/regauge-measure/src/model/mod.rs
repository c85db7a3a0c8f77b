//! What all rooms use: the data of a report, runtimes and formats by name, estimates, errors.

pub(crate) mod assets;
pub(crate) mod error;
pub(crate) mod machine;
pub(crate) mod noise;
pub(crate) mod protocol;
pub(crate) mod random;
pub mod report;
pub(crate) mod runtime;
pub mod stats;
pub(crate) mod text;
pub(crate) mod wire;
