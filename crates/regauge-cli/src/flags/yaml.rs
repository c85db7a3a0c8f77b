//! Options of YAML.

use clap::Args;
use regauge::Options;

/// What `convert` and `inspect` take for YAML.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Flags {}

impl Flags {
    /// Takes over what was said.
    pub fn apply(&self, _options: &mut Options) {}
}
