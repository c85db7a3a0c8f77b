//! Small reports for tests; no clock is involved.

use crate::model::machine::Machine;
use crate::model::report::{self, Input, Method, Report, Rounds, Row, Series, Timing};
use crate::model::runtime::Runtime;
use crate::model::stats::{self, Estimate};
use crate::model::wire::Gives;

/// Returns a measurement of one JSON document in which nobody took part.
pub(crate) fn empty() -> Report {
    Report {
        schema: report::SCHEMA.to_owned(),
        regauge: "0.0.0".to_owned(),
        command: Vec::new(),
        input: Input {
            name: "a.json".to_owned(),
            format: "json".to_owned(),
            bytes: 4_000,
            documents: 1,
        },
        machine: Machine {
            processor: "a processor".to_owned(),
            cores: 2,
            memory_bytes: None,
            system: "linux".to_owned(),
            load: None,
        },
        method: Method {
            seed: 1,
            rounds: Rounds { decode: 5, encode: 5 },
            sample_min_ns: 0,
            budget_s: 1.0,
            took_s: 1.0,
            timed_documents: 1,
            every: 1,
            part: None,
            checked_on_part: false,
            has_finals: false,
        },
        references: Vec::new(),
        rows: Vec::new(),
        missing: Vec::new(),
        notes: Vec::new(),
        noise: None,
        costs: None,
        verdict: None,
        task: None,
        interrupted: false,
    }
}

fn series(samples: &[f64]) -> Series {
    Series {
        iterations: 1,
        samples_ns: samples.to_vec(),
        estimate_ns: stats::estimate(samples, 1),
        cpu_share: None,
        gc_share: None,
        gc_count: None,
        allocations: None,
        outliers: Vec::new(),
        sittings: Vec::new(),
        probes_ns: Vec::new(),
        quiet_share: None,
        left_out: Vec::new(),
        process_spread: 0.0,
        by_processor_time: false,
    }
}

/// Returns a row of Python that was right, with these samples.
pub(crate) fn row(
    name: &str,
    format: &str,
    output_bytes: u64,
    decode: &[f64],
    encode: &[f64],
) -> Row {
    let total_ns = stats::estimate_of(&[decode, encode], 1, |medians| medians[0] + medians[1]);
    Row {
        contender: name.to_owned(),
        runtime: Runtime::of("python"),
        runtime_version: "CPython 3".to_owned(),
        library: name.to_owned(),
        version: "1".to_owned(),
        format: format.to_owned(),
        gives: Gives::Data,
        unsafe_because: None,
        output_bytes: Some(output_bytes),
        output_gzip_bytes: None,
        output_compressed: std::collections::BTreeMap::new(),
        losses: Vec::new(),
        wrong: Vec::new(),
        wrong_documents: 0,
        failure: None,
        timing: Some(Timing {
            decode: series(decode),
            encode: series(encode),
            total_ns,
            ratio: Estimate::exact(1.0),
            decode_ratio: None,
            encode_ratio: None,
            memory: None,
        }),
        cold: None,
        safety: None,
        usual: false,
        is_text: false,
        dropped: None,
        whole: None,
    }
}
