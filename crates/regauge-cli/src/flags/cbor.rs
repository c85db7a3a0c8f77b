//! Options of CBOR.

use clap::Args;
use regauge::Options;

/// CBOR flags of `convert` and `inspect`.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Flags {
    /// Write the deterministic encoding of RFC 8949: sorted keys, shortest numbers
    #[arg(long, help_heading = "CBOR", conflicts_with = "cbor_indefinite")]
    cbor_deterministic: bool,

    /// Write arrays and maps with a closing break if their length is not known up front
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
