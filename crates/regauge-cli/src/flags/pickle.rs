//! Options of Python's pickle.

use clap::{Args, ValueEnum};
use regauge::Options;
use regauge::pickle::Strings;

/// Pickle flags of `convert` and `inspect`.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Flags {
    #[arg(long, value_name = "0..5", help_heading = "Pickle",
          value_parser = clap::value_parser!(u8).range(0..=5))]
    pickle_protocol: Option<u8>,

    #[arg(
        long,
        value_name = "CODING",
        help_heading = "Pickle",
        default_value = "ascii",
        hide_default_value = true
    )]
    pickle_strings: StringsFlag,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum StringsFlag {
    /// Text; anything beyond ASCII is an error (the default, as in Python)
    Ascii,
    /// Text in UTF-8
    Utf8,
    /// Text in Latin-1
    Latin1,
    /// Bytes
    Bytes,
}

impl Flags {
    /// Applies the flags.
    pub fn apply(&self, options: &mut Options) {
        options.pickle.protocol = self.pickle_protocol;
        options.pickle.strings = match self.pickle_strings {
            StringsFlag::Ascii => Strings::Ascii,
            StringsFlag::Utf8 => Strings::Utf8,
            StringsFlag::Latin1 => Strings::Latin1,
            StringsFlag::Bytes => Strings::Bytes,
        };
    }
}
