//! Options of CBOR.

use clap::Args;
use regauge::Options;

/// What `convert` and `inspect` take for CBOR.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Flags {
    /// Write the deterministic encoding of RFC 8949: sorted keys, shortest numbers.
    #[arg(long, help_heading = "CBOR", conflicts_with = "cbor_indefinite")]
    cbor_deterministic: bool,

    /// Write arrays and maps with a break at their end where their length is not known beforehand.
    #[arg(long, help_heading = "CBOR")]
    cbor_indefinite: bool,
}

impl Flags {
    /// Takes over what was said.
    pub fn apply(&self, options: &mut Options) {
        options.cbor.deterministic = self.cbor_deterministic;
        options.cbor.indefinite = self.cbor_indefinite;
    }
}
