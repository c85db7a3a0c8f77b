//! Options of Ruby's Marshal.

use clap::{Args, ValueEnum};
use regauge::{Options, marshal};

/// Ruby Marshal flags of `convert` and `inspect`.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Flags {
    #[arg(long, value_name = "AS", value_enum, default_value_t, help_heading = "Ruby Marshal")]
    marshal_binary: Binary,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Binary {
    #[default]
    Bytes,
    Text,
}

impl Flags {
    /// Applies the flags.
    pub fn apply(&self, options: &mut Options) {
        options.marshal.binary = match self.marshal_binary {
            Binary::Bytes => marshal::Binary::Bytes,
            Binary::Text => marshal::Binary::Text,
        };
    }
}
