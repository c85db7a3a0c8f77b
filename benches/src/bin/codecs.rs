//! Compares JSON to MessagePack and back in memory with the crates that a Rust programmer would
//! use.
//!
//! Every route's output is read back and compared before anything is timed. All routes of a table
//! run in turn in one process; the figures are thread CPU time.

use std::time::Duration;

use regauge::{Fidelity, OnLoss, json, msgpack, out::Out};
use regauge::{Format, Options, Source as _, Writer as _, convert_bytes};
use regauge_bench::{Route, Times, interleave, record_all};
use regauge_testdata::path;
use serde::Serialize as _;

fn main() {
    let rounds = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(15);
    println!("thread CPU time, median of {rounds} rounds, routes in turn in one process");
    println!("serde_json with float_roundtrip; all built for plain {}", std::env::consts::ARCH);
    for name in ["twitter", "canada", "citm_catalog"] {
        let text = std::fs::read(path(&format!("json/{name}.json"))).expect("readable");
        let packed = convert_bytes(&text, &Options::new(Format::Json, Format::Msgpack))
            .expect("the file is valid");
        to_msgpack(name, &text, &packed, rounds);
        to_json(name, &packed, rounds);
    }
}

fn to_msgpack(name: &str, text: &[u8], expected: &[u8], rounds: usize) {
    let mut routes = vec![
        Route { name: "regauge", run: Box::new(|out| ours_to_msgpack(text, out)) },
        Route {
            name: "serde_json (bytes) + rmp-serde",
            run: Box::new(|out| {
                out.clear();
                let mut from = serde_json::Deserializer::from_slice(text);
                let mut to = rmp_serde::Serializer::new(out);
                serde_transcode::transcode(&mut from, &mut to).expect("valid");
            }),
        },
        Route {
            name: "serde_json (str) + rmp-serde",
            run: Box::new(|out| {
                out.clear();
                let text = std::str::from_utf8(text).expect("UTF-8");
                let mut from = serde_json::Deserializer::from_str(text);
                let mut to = rmp_serde::Serializer::new(out);
                serde_transcode::transcode(&mut from, &mut to).expect("valid");
            }),
        },
        Route {
            name: "sonic-rs + rmp-serde",
            run: Box::new(|out| {
                out.clear();
                let mut from = sonic_rs::Deserializer::from_slice(text);
                let mut to = rmp_serde::Serializer::new(out);
                serde_transcode::transcode(&mut from, &mut to).expect("valid");
            }),
        },
        Route {
            name: "simd-json (with its copy) + rmp-serde",
            run: Box::new(|out| {
                out.clear();
                let mut copy = text.to_vec();
                let value = simd_json::to_borrowed_value(&mut copy).expect("valid");
                value.serialize(&mut rmp_serde::Serializer::new(out)).expect("serializable");
            }),
        },
    ];
    check(&mut routes, Format::Msgpack, expected);
    let times = interleave(&mut routes, rounds, Duration::from_millis(20));
    record_all("JSON to MessagePack", name, text.len(), &times);
    print(&format!("{name}: JSON to MessagePack"), text.len(), &times);
}

fn to_json(name: &str, packed: &[u8], rounds: usize) {
    let expected = convert_bytes(packed, &Options::new(Format::Msgpack, Format::Json))
        .expect("the file is valid");
    let mut routes = vec![
        Route { name: "regauge", run: Box::new(|out| ours_to_json(packed, out)) },
        Route {
            name: "rmp-serde + serde_json",
            run: Box::new(|out| {
                out.clear();
                let mut from = rmp_serde::Deserializer::from_read_ref(packed);
                let mut to = serde_json::Serializer::new(out);
                serde_transcode::transcode(&mut from, &mut to).expect("valid");
            }),
        },
        Route {
            name: "rmp-serde + sonic-rs",
            run: Box::new(|out| {
                out.clear();
                let mut from = rmp_serde::Deserializer::from_read_ref(packed);
                let mut to = sonic_rs::Serializer::new(out);
                serde_transcode::transcode(&mut from, &mut to).expect("valid");
            }),
        },
    ];
    check(&mut routes, Format::Json, &expected);
    let times = interleave(&mut routes, rounds, Duration::from_millis(20));
    record_all("MessagePack to JSON", name, expected.len(), &times);
    print(&format!("{name}: MessagePack to JSON"), expected.len(), &times);
}

fn ours_to_msgpack(text: &[u8], buffer: &mut Vec<u8>) {
    let out = Out::reusing(std::mem::take(buffer));
    let fidelity = Fidelity::new(OnLoss::Refuse, Format::Msgpack);
    let mut writer = msgpack::Writer::new(out, fidelity);
    let mut reader = json::Reader::from_slice(json::Parser::default(), text);
    while reader.next(&mut writer).expect("valid") {
        writer.end_document().expect("in memory");
    }
    writer.finish().expect("in memory");
    *buffer = writer.into_out().into_vec();
}

fn ours_to_json(packed: &[u8], buffer: &mut Vec<u8>) {
    let out = Out::reusing(std::mem::take(buffer));
    let fidelity = Fidelity::new(OnLoss::Refuse, Format::Json);
    let mut writer = json::Writer::new(out, json::WriteOptions::default(), fidelity);
    let mut reader = msgpack::Reader::from_slice(msgpack::Parser::default(), packed);
    while reader.next(&mut writer).expect("valid") {
        writer.end_document().expect("in memory");
    }
    writer.finish().expect("in memory");
    *buffer = writer.into_out().into_vec();
}

/// A route whose output does not contain the same document is not timed: the benchmark ends. Maps
/// are compared regardless of order, which one of the peers does not preserve.
fn check(routes: &mut [Route<'_>], format: Format, expected: &[u8]) {
    let value = |bytes: &[u8]| -> serde_json::Value {
        match format {
            Format::Msgpack => rmp_serde::from_slice(bytes).expect("MessagePack"),
            _ => serde_json::from_slice(bytes).expect("JSON"),
        }
    };
    let expected = value(expected);
    for route in routes {
        let mut output = Vec::new();
        (route.run)(&mut output);
        assert!(value(&output) == expected, "{} gives another document", route.name);
    }
}

fn print(title: &str, bytes: usize, times: &[Times]) {
    println!("\n{title}, {bytes} bytes of JSON");
    for route in times {
        println!(
            "  {:38} {:>9.1} us  {:>5.2} GB/s  {:>5.2}x ours (by the least: {:.2}x)",
            route.name,
            route.median / 1e3,
            bytes as f64 / route.median,
            route.median / times[0].median,
            route.least / times[0].least,
        );
    }
}
