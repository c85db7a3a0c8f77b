//! Flags of `measure` for hostile documents, the cost of use, and what may be recommended.

use std::path::Path;

use clap::{Args, ValueEnum};
use regauge_measure::cost::parse_bandwidth;
use regauge_measure::report::Assumptions;
use regauge_measure::{Allow, Options, safety};

/// How thoroughly hostile documents are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SafetyArg {
    /// None, and known results are not looked up
    Off,
    /// None, but results that are known for these versions count
    Auto,
    /// With all libraries, discarding earlier results
    All,
    /// Like all, without timing anything
    Only,
}

/// What may be recommended although it is normally refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AllowArg {
    /// Libraries that run code chosen by a document, or that a small document can stop
    Unsafe,
    /// Libraries that lose some of the data
    Lossy,
}

#[derive(Debug, Args)]
#[group(skip)]
pub struct VerdictFlags {
    /// Test each library with hostile (but harmless) documents, in a process with limits
    #[arg(help_heading = "Safety", long, value_enum, default_value_t = SafetyArg::Auto, value_name = "WHEN")]
    pub safety: SafetyArg,
    /// Also recommend these; repeatable
    #[arg(help_heading = "Cost and recommendation", long, value_enum, value_name = "unsafe|lossy")]
    pub allow: Vec<AllowArg>,
    /// Bandwidth between writer and reader, such as 10MB/s or 100Mbit/s [default: 1Gbit/s]
    #[arg(help_heading = "Cost and recommendation", long, value_name = "RATE", value_parser = parse_bandwidth)]
    pub bandwidth: Option<f64>,
    /// Number of reads per write of a document [default: 10]
    #[arg(help_heading = "Cost and recommendation", long, value_name = "N", value_parser = not_negative)]
    pub reads_per_write: Option<f64>,
    /// Number of months a document is stored [default: 12]
    #[arg(help_heading = "Cost and recommendation", long, value_name = "N", value_parser = not_negative)]
    pub store_months: Option<f64>,
}

fn not_negative(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|value| value.is_finite() && *value >= 0.0)
        .ok_or_else(|| format!("found \"{text}\", expected a number of at least 0"))
}

impl VerdictFlags {
    /// Applies the flags to the engine's options. `folder` is the one given for the set-up, if any:
    /// results of the trials are then kept there.
    pub fn apply(&self, options: &mut Options, folder: Option<&Path>) {
        options.safety = match self.safety {
            SafetyArg::Off => safety::When::Off,
            SafetyArg::Auto => safety::When::Auto,
            SafetyArg::All => safety::When::All,
            SafetyArg::Only => safety::When::Only,
        };
        options.cache_dir =
            folder.map(|folder| folder.join("cache/safety")).or_else(safety::cache_dir);
        options.allow = Allow {
            unsafe_ones: self.allow.contains(&AllowArg::Unsafe),
            lossy: self.allow.contains(&AllowArg::Lossy),
        };
        let usual = Assumptions::default();
        options.assumed = Assumptions {
            bandwidth: self.bandwidth.unwrap_or(usual.bandwidth),
            reads_per_write: self.reads_per_write.unwrap_or(usual.reads_per_write),
            store_months: self.store_months.unwrap_or(usual.store_months),
            ..usual
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regauge_measure::cost::bandwidth_text;

    /// The help states the defaults; they are defined in the engine.
    #[test]
    fn the_help_tells_the_defaults() {
        let usual = Assumptions::default();
        assert_eq!(parse_bandwidth("1Gbit/s"), Ok(usual.bandwidth));
        assert_eq!(bandwidth_text(usual.bandwidth), "125 MB/s");
        assert_eq!((usual.reads_per_write, usual.store_months), (10.0, 12.0));
    }

    #[test]
    fn numbers() {
        assert_eq!(not_negative("2.5"), Ok(2.5));
        for text in ["-1", "many", "NaN", "inf"] {
            assert!(not_negative(text).unwrap_err().contains("expected a number"), "{text}");
        }
    }
}
