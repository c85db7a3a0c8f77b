//! Options of BSON and Extended JSON.

use clap::{Args, ValueEnum};
use regauge::Options;
use regauge::bson::ExtendedJson;

/// BSON flags of `convert` and `inspect`.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Flags {
    #[arg(long, value_name = "FORM", help_heading = "BSON")]
    json_extended: Option<Form>,

    #[arg(long, value_name = "BYTES", help_heading = "BSON")]
    bson_document_bytes: Option<u64>,
}

/// The forms of Extended JSON.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// Every number with its type.
    Canonical,
    /// Plain JSON numbers, dates as text.
    Relaxed,
}

impl Flags {
    /// Applies the flags.
    pub fn apply(&self, options: &mut Options) {
        options.bson.document_bytes = self.bson_document_bytes;
        options.bson.extended_json = self.json_extended.map(|form| match form {
            Form::Canonical => ExtendedJson::Canonical,
            Form::Relaxed => ExtendedJson::Relaxed,
        });
    }
}
