//! The measuring engine: serialization libraries of several runtimes on a user's own data.
//!
//! [`run`] writes the user's file once in every format as reference bytes, has every contender
//! decode them and encode what it got, compares that with the original, and only then times those
//! that gave the right data. The [`Report`] is plain data; `regauge-report` shows it. The engine prints
//! nothing; it tells a [`Progress`]. `docs/measure.md` has the method and its reasons.

#![forbid(unsafe_code)]

mod judge;
mod measure;
mod model;
mod plan;
mod run;
pub mod task;

pub use judge::summary::{groups, is_in, rank, ratio};
pub use judge::{compare, cost};
pub use measure::{chosen, run};
pub use model::error::Error;
pub use model::machine::Machine;
pub use model::report::{self, Report};
pub use model::runtime::{Runtime, has_program};
pub use model::stats;
pub use model::text::{bytes, plain, thousands, three_digits, time};
pub use model::wire::{Gives, Wire};
pub use plan::contender::{Contender, Source, all as contenders};
pub use plan::input::{InputFile, files_in, name_in, note_of_unknown};
pub use plan::native::{program, serve as serve_native};
pub use plan::nearest::nearest;
pub use plan::options::{Allow, Options, PartSize, Progress, QUICK_BELOW, Quiet, Stage};
pub use plan::{sample, setup};
pub use run::process::end_all;
pub use run::safety;
