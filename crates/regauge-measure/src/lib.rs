//! The measuring engine: serialization libraries of several runtimes on a user's own data.
//!
//! [`run`] writes the user's file once in every format as reference bytes, has every contender
//! decode them and encode what it got, compares that with the original, and only then times those
//! that gave the right data. The [`Report`] is plain data; `regauge-report` shows it. The engine prints
//! nothing; it tells a [`Progress`]. `docs/measure.md` has the method and its reasons.

#![forbid(unsafe_code)]

mod assets;
mod check;
pub mod compare;
mod compression;
mod contender;
pub mod cost;
mod error;
mod fill;
mod finals;
mod launch;
mod machine;
mod native;
mod nearest;
mod noise;
mod options;
mod order;
mod parallel;
mod pin;
mod process;
mod protocol;
mod random;
mod reference;
pub mod report;
mod run;
mod runtime;
pub mod safety;
pub mod sample;
mod sampler;
pub mod setup;
mod sift;
pub mod stats;
mod summary;
pub mod task;
mod text;
mod timed;
mod verdict;

pub use contender::{Contender, Gives, Source, Wire, all as contenders};
pub use error::Error;
pub use machine::Machine;
pub use native::{program, serve as serve_native};
pub use options::{Options, Progress, Quiet, Stage};
pub use process::end_all;
pub use reference::{InputFile, PartSize, files_in, name_in, note_of_unknown};
pub use report::Report;
pub use run::run;
pub use runtime::Runtime;
pub use summary::{groups, is_in, rank, ratio};
pub use text::{bytes, plain, thousands, three_digits, time};
pub use verdict::Allow;
