//! What the operator sets and sees: the configuration, certificates, log and metrics.

mod capacity;
pub(crate) mod config;
mod log;
mod metrics;
pub(crate) mod tls;

pub use config::Config;
pub use log::start as start_log;

pub(crate) use capacity::IDLE_MAX;
pub(crate) use log::Errors;
pub(crate) use metrics::{Connected, Metrics};
