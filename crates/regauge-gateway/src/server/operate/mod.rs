//! What the operator sets and sees: the configuration, certificates, log and metrics, and the question
//! whether the gateway is ready.

mod capacity;
pub(crate) mod config;
mod log;
mod metrics;
mod probe;
pub(crate) mod tls;

pub use config::Config;
pub use log::start as start_log;
pub use probe::ask_ready;

pub(crate) use capacity::IDLE_MAX;
pub(crate) use log::Errors;
pub(crate) use metrics::{Connected, Metrics};
