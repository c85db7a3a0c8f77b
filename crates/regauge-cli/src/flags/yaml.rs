//! Options of YAML.

use clap::{Args, ValueEnum};
use regauge::Options;
use regauge::yaml::Schema;

/// YAML flags of `convert` and `inspect`.
#[derive(Debug, Args)]
#[group(skip)]
pub struct Flags {
    #[arg(help_heading = "YAML", long, value_name = "SCHEMA", default_value = "core")]
    yaml_schema: YamlSchema,
}

/// The schemas by their names.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum YamlSchema {
    /// YAML 1.2's own: true, 1, 0x1F, 1.5, .inf, null
    Core,
    /// Only JSON's types; all text is quoted
    Json,
    /// Everything is text
    Failsafe,
    /// YAML 1.1 as PyYAML reads it
    #[value(name = "1.1")]
    Yaml11,
    /// YAML 1.1 as Ruby's Psych reads it
    Psych,
}

impl Flags {
    /// Applies the flags.
    pub fn apply(&self, options: &mut Options) {
        options.yaml.schema = match self.yaml_schema {
            YamlSchema::Core => Schema::Core,
            YamlSchema::Json => Schema::Json,
            YamlSchema::Failsafe => Schema::Failsafe,
            YamlSchema::Yaml11 => Schema::Yaml11,
            YamlSchema::Psych => Schema::Psych,
        };
    }
}
