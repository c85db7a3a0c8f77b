//! Tests the text of fixed reports; no clock is involved.

use regauge_measure::report::{
    self, Example, Input, Memory, Method, Missing, Noise, Reference, Rounds, Series, Timing,
};
use regauge_measure::{Gives, Machine, Runtime, rank, stats};

use super::*;

fn series(samples: &[f64], gc_share: Option<f64>) -> Series {
    Series {
        iterations: 10,
        samples_ns: samples.to_vec(),
        estimate_ns: stats::estimate(samples, 1),
        cpu_share: Some(1.0),
        gc_share,
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

fn row(contender: &str, format: &str, times: Option<(&[f64], &[f64])>) -> Row {
    Row {
        contender: contender.into(),
        runtime: Runtime::of("python"),
        runtime_version: "CPython 3.11.7".into(),
        library: contender.into(),
        version: "1.2".into(),
        format: format.into(),
        gives: Gives::Data,
        unsafe_because: None,
        output_bytes: Some(31_000_000),
        output_gzip_bytes: Some(9_000_000),
        output_compressed: std::collections::BTreeMap::new(),
        losses: Vec::new(),
        wrong: Vec::new(),
        wrong_documents: 0,
        failure: None,
        timing: times.map(|(decode, encode)| {
            let (decode, encode) = (series(decode, Some(0.25)), series(encode, Some(0.0)));
            Timing {
                total_ns: stats::estimate_of(
                    &[&decode.samples_ns, &encode.samples_ns],
                    1,
                    |medians| medians[0] + medians[1],
                ),
                decode,
                encode,
                ratio: stats::Estimate::exact(1.0),
                decode_ratio: None,
                encode_ratio: None,
                memory: Some(Memory { idle: 10_000_000, decode_peak: 0, peak: 52_000_000 }),
            }
        }),
        cold: None,
        safety: None,
        usual: false,
        is_text: false,
        dropped: None,
        whole: None,
    }
}

fn loss(kind: &str, count: u64, before: &str, after: &str) -> Loss {
    Loss {
        kind: kind.into(),
        count,
        examples: vec![Example {
            document: 3,
            path: "$.a[0]".into(),
            before: before.into(),
            after: after.into(),
        }],
    }
}

pub(crate) fn report() -> Report {
    let quick = [1.00e6, 1.01e6, 1.02e6, 1.03e6, 1.04e6, 1.05e6, 1.06e6];
    let close = [1.02e6, 1.00e6, 1.07e6, 1.03e6, 1.05e6, 1.04e6, 1.08e6];
    let slow = [3.00e6, 3.03e6, 3.06e6, 3.09e6, 3.12e6, 3.15e6, 3.18e6];
    let mut lossy = row("slow", "msgpack", Some((&slow, &slow)));
    lossy.losses = vec![loss("negative zero", 1_234, "-0.0", "0.0")];
    let mut wrong = row("wrong", "ndjson", None);
    wrong.wrong = vec![loss("value", 7, "\"x\"", "\"y\""), loss("missing", 1, "null", "")];
    wrong.wrong_documents = 7;
    let mut failed = row("failed", "ndjson", None);
    failed.failure = Some("ended by itself (signal: 11)".into());
    failed.output_bytes = None;
    failed.output_gzip_bytes = None;
    failed.unsafe_because = Some("runs code: never load bytes that you did not write".into());
    let mut report = Report {
        schema: report::SCHEMA.into(),
        regauge: "0.1.0".into(),
        command: vec!["regauge".into(), "measure".into(), "catalog.mrc".into()],
        input: Input {
            name: "catalog.mrc".into(),
            format: "marc".into(),
            bytes: 31_000_000,
            documents: 18_881,
        },
        machine: Machine {
            processor: "Example 9000".into(),
            cores: 2,
            memory_bytes: Some(8_000_000_000),
            system: "linux 6.1".into(),
            load: Some(0.1),
        },
        method: Method {
            seed: 1,
            rounds: Rounds { decode: 7, encode: 7 },
            sample_min_ns: 10_000_000,
            budget_s: 120.0,
            took_s: 93.4,
            timed_documents: 6_294,
            every: 3,
            part: None,
            checked_on_part: false,
            has_finals: false,
        },
        references: [("marc", 31, 90), ("msgpack", 42, 82), ("marc-json", 56, 81)]
            .iter()
            .map(|(format, size, gzip)| Reference {
                format: (*format).into(),
                bytes: size * 1_000_000,
                gzip_bytes: gzip * 100_000,
                written_by: "regauge".into(),
                losses: Vec::new(),
                compressions: Vec::new(),
            })
            .collect(),
        rows: vec![
            wrong,
            failed,
            lossy,
            row("close", "ndjson", Some((&close, &slow))),
            row("quick", "ndjson", Some((&quick, &quick))),
        ],
        missing: vec![Missing {
            contender: "oj".into(),
            runtime: Runtime::of("ruby"),
            install: "gem install oj".into(),
            reason: "cannot load such file -- oj\nand more".into(),
            usual: false,
            gives: None,
        }],
        notes: vec!["3 broken records were left out.".into()],
        noise: None,
        costs: None,
        verdict: None,
        task: None,
        interrupted: false,
    };
    rank(&mut report, 1);
    report
}

#[test]
fn the_whole_text_in_a_pipe() {
    let expected = include_str!("snapshot.txt");
    let found = render(&report(), Layout::default());
    if found != expected && std::env::var_os("REGAUGE_UPDATE_SNAPSHOTS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/full/snapshot.txt");
        std::fs::write(path, &found).unwrap();
        return;
    }
    assert_eq!(found, expected, "set REGAUGE_UPDATE_SNAPSHOTS=1 to accept the change");
}

#[test]
fn a_terminal_gets_lines_no_wider_than_itself() {
    let text = render(&report(), Layout { width: Some(120), lines: true });
    assert!(text.contains('┌'), "{text}");
    for line in text.lines().filter(|line| line.contains(['┆', '─'])) {
        assert!(line.chars().count() <= 120, "{line}");
    }
}

#[test]
fn a_narrow_terminal_gets_two_tables_whose_figures_are_whole() {
    let mut report = report();
    // The longest names and figures that there are.
    let row = report.rows.iter_mut().find(|row| row.contender == "close").unwrap();
    row.contender = "ruby-marc (marcxml, nokogiri)".into();
    row.format = "marc-json".into();
    for width in [72, 80, 100, 120, 200] {
        let text = render(&report, Layout { width: Some(width), lines: true });
        for line in text.lines() {
            assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
        }
        for figure in ["2.00 (1.96–2.05)", "3.09 ms ±2%", "31.0 MB", "25/0%"] {
            assert!(text.contains(figure), "{width}: {figure} is broken\n{text}");
        }
        let heads = text.lines().filter(|line| line.starts_with("│ library")).count();
        assert_eq!(heads, if width < 200 { 2 } else { 1 }, "{text}");
        assert!(text.contains("ruby-marc") && text.contains("quick 1.2"), "{width}: {text}");
    }
}

#[test]
fn on_a_noisy_machine_everything_is_ranked_and_the_noise_is_told() {
    let mut report = report();
    let probes: Vec<f64> = (0..30).map(|i| if i % 3 == 0 { 9e6 } else { 1e6 }).collect();
    report.noise = Some(Noise {
        spread: stats::spread(&probes),
        best_probe_ns: 1e6,
        quiet_share: Some(0.44),
        probes_ns: probes,
    });
    rank(&mut report, 1);
    let text = render(&report, Layout::default());
    assert!(text.contains("; 44% of the samples were quiet"), "{text}");
    assert!(text.contains("Both: quick is fastest"), "{text}");
}

#[test]
fn too_few_samples_name_nobody_the_fastest() {
    let mut report = report();
    let times = |ns: f64| [ns];
    report.rows = vec![
        row("quick", "json", Some((&times(1e6), &times(1e6)))),
        row("close", "json", Some((&times(1.6e6), &times(1.6e6)))),
        row("slow", "json", Some((&times(9e6), &times(9e6)))),
    ];
    let rows: Vec<&Row> = report.rows.iter().collect();
    let sentences = fastest::sentences(&rows, 1);
    assert_eq!(
        sentences[0],
        "Decoding: too few samples to tell quick (1.00 ms) from close; slow is about 9.0x slower."
    );
}

#[test]
fn a_stopped_run_and_one_that_was_too_slow_are_told() {
    let mut report = report();
    report.interrupted = true;
    let row = report.rows.iter_mut().find(|row| row.contender == "slow").unwrap();
    row.timing = None;
    row.failure = Some("too slow for this budget".into());
    let text = render(&report, Layout::default());
    assert!(text.contains("Note: The run was interrupted"), "{text}");
    assert!(text.contains("- slow (Python) was not timed: too slow for this budget"), "{text}");
    let line = text.lines().find(|line| line.starts_with("| slow 1.2 ")).unwrap();
    assert!(line.contains(" not timed |"), "{line}");
}

#[test]
fn compression_and_cold_starts_have_their_place() {
    let mut report = report();
    let estimate = |ns| stats::Estimate::exact(ns);
    report.references[0].compressions.push(report::Compression {
        codec: "zstd -3".into(),
        bytes: 7_750_000,
        compress_ns: estimate(80e6),
        decompress_ns: estimate(20e6),
    });
    let row = report.rows.iter_mut().find(|row| row.contender == "quick").unwrap();
    row.cold = Some(report::Cold { start_ns: estimate(31e6), first_decode_ns: estimate(4e6) });
    let text = render(&report, Layout::default());
    assert!(text.contains("Compressed, on one thread"), "{text}");
    let line = text.lines().find(|line| line.contains("zstd -3")).unwrap();
    for cell in ["| marc ", " 7.75 MB ", " 25.0% ", " 80.0 ms |", " 20.0 ms |"] {
        assert!(line.contains(cell), "{cell}: {line}");
    }
    assert!(text.contains("| 31.0 ms + 4.00 ms |"), "{text}");
}

#[test]
fn the_busy_machine_is_told() {
    let mut report = report();
    let shares = |report: &mut Report, share| {
        for timing in report.rows.iter_mut().filter_map(|row| row.timing.as_mut()) {
            (timing.decode.cpu_share, timing.encode.cpu_share) = (Some(1.0), Some(share));
        }
    };
    // One that waits for itself is no busy machine.
    shares(&mut report, 1.0);
    report.rows[0].timing.as_mut().unwrap().decode.cpu_share = Some(0.0);
    assert!(!render(&report, Layout::default()).contains("busy"));
    shares(&mut report, 0.5);
    assert!(render(&report, Layout::default()).contains("for only 75% of their time"));
}

#[test]
fn ordinals() {
    for (count, text) in [(2, "2nd"), (3, "3rd"), (11, "11th"), (21, "21st"), (100, "100th")] {
        assert_eq!(ordinal(count), text);
    }
}
