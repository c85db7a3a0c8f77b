//! Options of Ruby's Marshal.

use clap::{Args, ValueEnum};
use regauge::{Options, marshal};

/// What `convert` and `inspect` take for Ruby Marshal.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Flags {
    /// What a string without an encoding is: bytes as Ruby says, or text where its bytes are UTF-8
    /// (for files of Ruby 1.8)
    #[arg(long, value_name = "AS", value_enum, default_value_t, help_heading = "Ruby Marshal")]
    ruby_binary: Binary,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Binary {
    #[default]
    Bytes,
    Text,
}

impl Flags {
    /// Takes over what was said.
    pub fn apply(&self, options: &mut Options) {
        options.marshal.binary = match self.ruby_binary {
            Binary::Bytes => marshal::Binary::Bytes,
            Binary::Text => marshal::Binary::Text,
        };
    }
}
