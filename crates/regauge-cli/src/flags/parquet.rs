//! Options of Parquet.

use std::path::PathBuf;

use clap::Args;

/// Parquet flags of `convert` and `query`. They are there in every build, so that a build without Parquet can say so.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Flags {
    /// Infer the columns from the first N documents; a later document that does not fit is an error
    #[arg(help_heading = "Parquet", long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub parquet_sample: u64,
    /// Write the columns of this Parquet file instead of inferring them
    #[arg(help_heading = "Parquet", long, value_name = "FILE", conflicts_with = "parquet_sample")]
    pub parquet_schema: Option<PathBuf>,
}
