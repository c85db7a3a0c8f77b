//! Options of YAML.

use clap::{Args, ValueEnum};
use regauge::Options;
use regauge::yaml::Schema;

/// What `convert` and `inspect` take for YAML.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Flags {
    /// What words and numbers without quotes mean in YAML: `1.1` reads `yes`, `0777` and dates as
    /// PyYAML does
    #[arg(help_heading = "YAML", long, value_name = "SCHEMA", default_value = "core")]
    yaml_schema: YamlSchema,
}

/// The schemas by their names.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum YamlSchema {
    /// YAML 1.2's own: true, 1, 0x1F, 1.5, .inf, null
    Core,
    /// Only what JSON has; all text is in quotes
    Json,
    /// Everything is text
    Failsafe,
    /// YAML 1.1 as PyYAML reads it
    #[value(name = "1.1")]
    Yaml11,
}

impl Flags {
    /// Takes over what was said.
    pub fn apply(&self, options: &mut Options) {
        options.yaml.schema = match self.yaml_schema {
            YamlSchema::Core => Schema::Core,
            YamlSchema::Json => Schema::Json,
            YamlSchema::Failsafe => Schema::Failsafe,
            YamlSchema::Yaml11 => Schema::Yaml11,
        };
    }
}
