//! Options of CSV and TSV.

use clap::{Args, ValueEnum};
use regauge::Options;
use regauge::csv::{Delimiter, Nested, Types};

/// CSV flags of `convert` and `inspect`.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Flags {
    #[arg(help_heading = "CSV", long, value_name = "yes|no", default_value = "yes")]
    csv_header: Header,
    #[arg(help_heading = "CSV", long, value_name = "NAME", hide_default_value = true)]
    csv_delimiter: Option<DelimiterFlag>,
    #[arg(help_heading = "CSV", long, value_name = "HOW", default_value = "text")]
    csv_types: TypesFlag,
    #[arg(help_heading = "CSV", long, value_name = "HOW", default_value = "refuse")]
    csv_nested: NestedFlag,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Header {
    /// The first row names the columns
    Yes,
    /// There are only rows, which are arrays
    No,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DelimiterFlag {
    /// , (the default)
    Comma,
    /// ; as spreadsheets write it where the comma is the decimal point
    Semicolon,
    /// As in TSV
    Tab,
    /// |
    Pipe,
    /// :
    Colon,
    /// One space
    Space,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TypesFlag {
    /// Every field is text
    Text,
    /// Fields without quotes that are spelled like a number, true or false are one
    Infer,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum NestedFlag {
    /// Stop, or follow --on-loss
    Refuse,
    /// Write a column for each value in it
    Flatten,
}

impl Flags {
    /// Applies the flags.
    pub fn apply(&self, options: &mut Options) {
        options.csv.header = self.csv_header == Header::Yes;
        options.csv.delimiter = self.csv_delimiter.map(|delimiter| match delimiter {
            DelimiterFlag::Comma => Delimiter::Comma,
            DelimiterFlag::Semicolon => Delimiter::Semicolon,
            DelimiterFlag::Tab => Delimiter::Tab,
            DelimiterFlag::Pipe => Delimiter::Pipe,
            DelimiterFlag::Colon => Delimiter::Colon,
            DelimiterFlag::Space => Delimiter::Space,
        });
        options.csv.types = match self.csv_types {
            TypesFlag::Text => Types::Text,
            TypesFlag::Infer => Types::Infer,
        };
        options.csv.nested = match self.csv_nested {
            NestedFlag::Refuse => Nested::Refuse,
            NestedFlag::Flatten => Nested::Flatten,
        };
    }
}
