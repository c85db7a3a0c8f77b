//! The jq language over regauge's own values.
//!
//! A [`Filter`] is compiled once and runs over any number of documents, in every format that regauge
//! reads. What JSON lacks (bytes, big integers, decimals as written, times, symbols, classes and
//! tags, keys that are not text) passes through unchanged, and functions beside jq's look at it.
//!
//! ```
//! use regauge::Value;
//! use regauge_query::Filter;
//!
//! let filter = Filter::compile(".name, (.born + 100)", &[])?;
//! let ada = Value::from_iter([("name", Value::from("Ada")), ("born", Value::from(1815))]);
//! assert_eq!(filter.run(&ada)?, [Value::from("Ada"), Value::from(1915)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Filter::into_stage`] puts a filter between a reader and a writer of a conversion.

#![forbid(unsafe_code)]

mod build;
mod compile;
mod each;
mod emit;
mod funs;
mod guard;
mod marc;
mod needs;
mod pattern;
mod pull;
mod run;
mod stage;
mod val;

pub use compile::{Fault, Filter};
pub use each::Each;
pub use guard::on_large_stack;
pub use pull::Feed;
pub use stage::{Settings, Stage};
