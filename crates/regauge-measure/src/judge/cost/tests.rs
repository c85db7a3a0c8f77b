//! Cost arithmetic by hand.

use super::*;
use crate::model::report::{Compression, Reference, small};

/// Returns a measurement of 4 documents of which 2 were timed: `quick` takes 20 ns to encode and 10
/// ns to decode a document of 1,000 bytes, `small` 80 and 40 ns for 250 bytes.
fn report() -> Report {
    let mut report = small::empty();
    report.input.documents = 4;
    report.method.timed_documents = 2;
    report.rows = vec![
        small::row("quick", "json", 4_000, &[20.0; 5], &[40.0; 5]),
        small::row("small", "msgpack", 1_000, &[80.0; 5], &[160.0; 5]),
    ];
    let exact = |ns: f64| Estimate::exact(ns);
    report.references = vec![Reference {
        format: "json".into(),
        bytes: 2_000,
        gzip_bytes: 0,
        written_by: "regauge".into(),
        losses: Vec::new(),
        compressions: vec![Compression {
            codec: "gzip -6".into(),
            bytes: 200,
            compress_ns: exact(400.0),
            decompress_ns: exact(100.0),
        }],
    }];
    report
}

fn assumed() -> Assumptions {
    Assumptions {
        // A byte a nanosecond.
        bandwidth: 1e9,
        reads_per_write: 3.0,
        store_months: 2.0,
        gigabyte_months_per_core_hour: 2.0,
    }
}

#[test]
fn writing_moving_and_reading_add_up() {
    let costs = costs(&report(), &assumed(), &|_| true);
    let find = |name: &str, compression: &str| {
        costs
            .rows
            .iter()
            .find(|one| one.contender == name && one.compression == compression)
            .unwrap_or_else(|| panic!("no {name} {compression}: {costs:?}"))
    };
    let quick = find("quick", "none");
    assert_eq!((quick.write_ns, quick.read_ns, quick.bytes), (20.0, 10.0, 1_000.0));
    assert_eq!(quick.move_ns, 1_000.0);
    // 20 + 3 × (1,000 + 10)
    assert_eq!(quick.total_ns.median, 3_050.0);
    assert_eq!((quick.total_ns.low, quick.total_ns.high), (3_050.0, 3_050.0));
    // A million of 50 ns are 0.05 s of a core.
    assert!((quick.core_hours_per_million - 0.05 / 3600.0).abs() < 1e-12);
    assert_eq!(quick.byte_months_per_million, 2e9);

    // Its own output is twice the reference: twice the bytes and times of the compressor, for 4
    // documents. 100 bytes; 20 + 200 to write, 10 + 50 to read.
    let packed = find("quick", "gzip -6");
    assert_eq!((packed.bytes, packed.write_ns, packed.read_ns), (100.0, 220.0, 60.0));
    assert_eq!(packed.total_ns.median, 220.0 + 3.0 * (100.0 + 60.0));

    let small = find("small", "none");
    assert_eq!((small.write_ns, small.read_ns, small.bytes), (80.0, 40.0, 250.0));
    assert!(costs.rows.iter().all(|one| one.contender != "small" || one.compression == "none"));
}

/// A library may write twice the bytes that hold no more: they do not compress to twice the size.
#[test]
fn the_compressed_size_is_that_of_the_librarys_own_output() {
    let mut report = report();
    report.rows[0].output_compressed.insert("gzip -6".into(), 240);
    let packed = &costs(&report, &assumed(), &|_| true).rows[1];
    assert_eq!((packed.compression.as_str(), packed.bytes), ("gzip -6", 60.0));
    assert_eq!(packed.write_ns, 220.0, "time is by length");
    assert_eq!(compressed(&report, &report.rows[0], "gzip -6"), Some(240));
    assert_eq!(compressed(&report, &report.rows[0], "zstd -3"), None);
    report.rows[0].output_compressed.clear();
    assert_eq!(compressed(&report, &report.rows[0], "gzip -6"), Some(400), "results of 0.1.0");
}

#[test]
fn the_cheapest_changes_where_the_lines_cross() {
    let report = report();
    let costs = costs(&report, &assumed(), &|_| true);
    // Constant parts 50 (quick), 400 (quick + gzip), 200 (small); bytes moved 3,000, 300, 750.
    // gzip and small meet where 200 = 450 / b, small and quick where 150 = 2,250 / b (b in bytes
    // a nanosecond).
    let found: Vec<(f64, &str, &str)> = costs
        .crossings
        .iter()
        .map(|one| (one.bandwidth, one.below.as_str(), one.above.as_str()))
        .collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!((found[0].0 - 2.25e9).abs() < 1.0 && (found[1].0 - 15e9).abs() < 10.0, "{found:?}");
    assert_eq!((found[0].1, found[0].2), ("quick (json) + gzip -6", "small (msgpack)"));
    assert_eq!((found[1].1, found[1].2), ("small (msgpack)", "quick (json)"));
    // Those that may not win have no crossings.
    let safe = super::costs(&report, &assumed(), &|row| row.contender != "small");
    assert_eq!(safe.crossings.len(), 1);
    // 350 = 2,700 / b
    assert!((safe.crossings[0].bandwidth - 2.7e9 / 0.35).abs() < 10.0);
    assert_eq!(safe.rows.len(), 3);
}

#[test]
fn rows_without_times_cost_nothing() {
    let mut report = report();
    for row in &mut report.rows {
        row.timing = None;
    }
    assert!(ways(&report).is_empty());
    let costs = costs(&report, &assumed(), &|_| true);
    assert!(costs.rows.is_empty() && costs.crossings.is_empty());
}

#[test]
fn intervals_are_carried_through() {
    let mut report = report();
    report.references[0].compressions[0].compress_ns = Estimate::between(360.0, 400.0, 480.0);
    // Encoding and decoding are steady, so the compressor's interval is all that moves this.
    let packed = costs(&report, &assumed(), &|_| true).rows[1].total_ns;
    assert!((packed.low - (packed.median - 20.0)).abs() < 1e-9, "{packed:?}");
    assert!((packed.high - (packed.median + 40.0)).abs() < 1e-9, "{packed:?}");
    let noisy: Vec<f64> = (0..11).map(|i| 30.0 + f64::from(i)).collect();
    report.rows[0] = small::row("quick", "json", 4_000, &[20.0; 5], &noisy);
    let plain = costs(&report, &assumed(), &|_| true).rows[0].total_ns;
    assert!(plain.low < plain.median && plain.median < plain.high, "{plain:?}");
    // Two documents were timed, so encoding takes from 15 to 20 ns each.
    assert!(plain.low >= 3_045.0 && plain.high <= 3_050.0, "{plain:?}");
}

#[test]
fn uses_weigh_as_stated() {
    let assumed = assumed();
    assert_eq!(Weights::wire(&assumed), Weights { writes: 1.0, reads: 1.0, byte_ns: 1.0 });
    assert_eq!(Weights::cache(&assumed).byte_ns, 0.0);
    // An hour of a core is worth 2 GB for a month: 1,800 ns for a byte and month.
    assert_eq!(Weights::storage(&assumed).byte_ns, 3_600.0);
}

#[test]
fn a_label_says_the_format_once() {
    for (name, format, label) in [
        ("oj (Parser)", "marc-json", "oj (Parser, marc-json)"),
        ("oj", "json", "oj (json)"),
        ("fastjson2 (json)", "marc-json", "fastjson2 (json)"),
        ("fastjson2 (jsonb)", "fastjson2-jsonb", "fastjson2 (jsonb)"),
        ("orjson", "marc-json", "orjson"),
        ("pickle (protocol 5)", "pickle5", "pickle (protocol 5)"),
        ("fory", "fory", "fory"),
    ] {
        assert_eq!(with_format(name, format), label);
    }
}
