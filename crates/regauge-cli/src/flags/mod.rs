//! Flags that belong to one format each, and groups of flags of `measure`.

pub mod bson;
pub mod cbor;
pub mod csv;
pub mod filter;
pub mod marshal;
pub mod parquet;
pub mod pickle;
pub mod verdict;
pub mod yaml;
pub mod yaml_write;

use clap::Args;
use regauge::Options;

/// The flags of all formats that have a file here.
#[derive(Debug, Args)]
pub struct FormatFlags {
    #[command(flatten)]
    yaml: yaml::Flags,
    #[command(flatten)]
    bson: bson::Flags,
    #[command(flatten)]
    cbor: cbor::Flags,
    #[command(flatten)]
    marshal: marshal::Flags,
    #[command(flatten)]
    pickle: pickle::Flags,
    #[command(flatten)]
    csv: csv::Flags,
}

impl FormatFlags {
    /// Applies the flags.
    pub fn apply(&self, options: &mut Options) {
        self.yaml.apply(options);
        self.bson.apply(options);
        self.cbor.apply(options);
        self.marshal.apply(options);
        self.pickle.apply(options);
        self.csv.apply(options);
    }
}
