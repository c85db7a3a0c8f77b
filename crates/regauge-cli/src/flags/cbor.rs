//! Options of CBOR.

use clap::Args;
use regauge::Options;

/// CBOR flags of `convert` and `inspect`.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Flags {
    #[arg(long, help_heading = "CBOR", conflicts_with = "cbor_indefinite")]
    cbor_deterministic: bool,

    #[arg(long, help_heading = "CBOR")]
    cbor_indefinite: bool,
}

impl Flags {
    /// Applies the flags.
    pub fn apply(&self, options: &mut Options) {
        options.cbor.deterministic = self.cbor_deterministic;
        options.cbor.indefinite = self.cbor_indefinite;
    }
}
