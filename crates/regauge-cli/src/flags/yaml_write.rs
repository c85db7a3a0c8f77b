//! Options of writing YAML.

use clap::Args;
use regauge::Options;

/// How YAML is written.
#[derive(Debug, Args)]
#[group(skip)]
pub struct YamlWriteFlags {
    #[arg(help_heading = "YAML", long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=16))]
    yaml_indent: u8,
    #[arg(help_heading = "YAML", long)]
    yaml_indent_sequences: bool,
    #[arg(help_heading = "YAML", long)]
    yaml_document_start: bool,
}

impl YamlWriteFlags {
    /// Applies the flags.
    pub fn apply(&self, options: &mut Options) {
        options.yaml_write.indent = self.yaml_indent;
        options.yaml_write.indent_sequences = self.yaml_indent_sequences;
        options.yaml_write.document_start = self.yaml_document_start;
    }
}
