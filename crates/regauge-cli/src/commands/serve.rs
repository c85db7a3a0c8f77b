//! `regauge serve`: the gateway.

use std::path::PathBuf;

use clap::Args;

use crate::failure::Result;

const EXAMPLES: &str = "\
Examples:
  regauge store tenants --data gateway-data create acme
  regauge store tenants --data gateway-data token create acme
  regauge serve --config gateway.toml

Without a configuration it listens on 127.0.0.1:8750 and keeps its data in gateway-data. SIGTERM
lets running requests finish, SIGHUP reloads the certificate.

Exit status: 0 stopped, or ready; 1 a system error, or not ready; 2 an invalid configuration.";

/// Serve the stores of many tenants over HTTP
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Serve {
    /// Configuration file in TOML [default: none; every setting has a default]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Ask the gateway that runs with this configuration whether it accepts requests, and exit
    #[arg(long)]
    pub ready: bool,
}

/// Runs until asked to stop.
#[cfg(feature = "gateway")]
pub fn run(arguments: &Serve) -> Result {
    use regauge_gateway::server::{Config, ask_ready, serve, start_log};

    use super::store::failure;

    let config = match &arguments.config {
        Some(path) => Config::load(path).map_err(failure)?,
        None => Config::default(),
    };
    if arguments.ready {
        return ask_ready(&config).map_err(failure);
    }
    start_log(&config.log);
    serve(config).map_err(failure)
}

/// Reports that the gateway is missing.
#[cfg(not(feature = "gateway"))]
pub fn run(_: &Serve) -> Result {
    Err(crate::failure::Failure::usage(
        "this regauge was built without the gateway; build it with \
         `cargo build --release -p regauge-cli --features gateway`",
    ))
}
