//! Compares CBOR and BSON with MessagePack, and with the crates that a Rust programmer would use.
//!
//! Every route's output is read back and compared before anything is timed. All routes of a table
//! run in turn in one process; the figures are thread CPU time. The first route of a table is the
//! baseline.

use std::time::Duration;

use regauge::{
    Fidelity, Format, OnLoss, Options, bson, cbor, convert_bytes, json, msgpack, out::Out,
};
use regauge::{Source as _, Writer as _};
use regauge_bench::{Route, interleave, record_all};
use regauge_testdata::path;

fn main() {
    let rounds = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(15);
    println!("thread CPU time, median of {rounds} rounds, routes in turn in one process");
    for name in ["twitter", "canada", "citm_catalog"] {
        let text = std::fs::read(path(&format!("json/{name}.json"))).expect("readable");
        to_json(name, &text, rounds);
        from_json(name, &text, rounds);
    }
}

fn converted(bytes: &[u8], from: Format, to: Format) -> Vec<u8> {
    convert_bytes(bytes, &Options::new(from, to)).expect("the file is valid")
}

/// Drives a reader into a writer, both of which are made by these expressions.
macro_rules! pump {
    ($buffer:expr, $reader:expr, |$out:ident, $fidelity:ident| $writer:expr) => {{
        let $out = Out::reusing(std::mem::take($buffer));
        let $fidelity = Fidelity::new(OnLoss::Refuse, Format::Json);
        let mut writer = $writer;
        let mut reader = $reader;
        while reader.next(&mut writer).expect("valid") {
            writer.end_document().expect("in memory");
        }
        writer.finish().expect("in memory");
        *$buffer = writer.into_out().into_vec();
    }};
}

fn to_json(name: &str, text: &[u8], rounds: usize) {
    let packed = converted(text, Format::Json, Format::Msgpack);
    let cbor = converted(text, Format::Json, Format::Cbor);
    let bson = converted(text, Format::Json, Format::Bson);
    let mut routes = vec![
        Route {
            name: "regauge, CBOR",
            run: Box::new(|buffer| {
                pump!(
                    buffer,
                    cbor::Reader::from_slice(Default::default(), &cbor),
                    |out, fidelity| {
                        json::Writer::new(out, json::WriteOptions::default(), fidelity)
                    }
                )
            }),
        },
        Route {
            name: "regauge, MessagePack",
            run: Box::new(|buffer| {
                pump!(
                    buffer,
                    msgpack::Reader::from_slice(Default::default(), &packed),
                    |out, fidelity| {
                        json::Writer::new(out, json::WriteOptions::default(), fidelity)
                    }
                )
            }),
        },
        Route {
            name: "regauge, BSON",
            run: Box::new(|buffer| {
                pump!(
                    buffer,
                    bson::Reader::from_slice(Default::default(), &bson),
                    |out, fidelity| {
                        json::Writer::new(out, json::WriteOptions::default(), fidelity)
                    }
                )
            }),
        },
        Route {
            name: "bson (its Document) + serde_json",
            run: Box::new(|out| {
                out.clear();
                let document = ::bson::Document::from_reader(&bson[..]).expect("valid");
                let value = ::bson::Bson::Document(document).into_relaxed_extjson();
                serde_json::to_writer(out, &value).expect("serializable");
            }),
        },
        Route {
            name: "ciborium (its Value) + serde_json",
            run: Box::new(|out| {
                out.clear();
                let value: ciborium::Value = ciborium::from_reader(&cbor[..]).expect("valid");
                serde_json::to_writer(out, &value).expect("serializable");
            }),
        },
        Route {
            name: "cbor4ii + serde_json",
            run: Box::new(|out| {
                out.clear();
                let reader = cbor4ii::core::utils::SliceReader::new(&cbor);
                let mut from = cbor4ii::serde::Deserializer::new(reader);
                let mut to = serde_json::Serializer::new(out);
                serde_transcode::transcode(&mut from, &mut to).expect("valid");
            }),
        },
    ];
    let expected = converted(text, Format::Json, Format::Json);
    check(&mut routes, &expected, |bytes| serde_json::from_slice(bytes).expect("JSON"));
    print(name, "to JSON", text.len(), &mut routes, rounds);
}

fn from_json(name: &str, text: &[u8], rounds: usize) {
    let mut routes = vec![
        Route {
            name: "regauge, CBOR",
            run: Box::new(|buffer| {
                pump!(
                    buffer,
                    json::Reader::from_slice(json::Parser::default(), text),
                    |out, fidelity| { cbor::Writer::new(out, cbor::Options::default(), fidelity) }
                )
            }),
        },
        Route {
            name: "serde_json (its Value) + ciborium",
            run: Box::new(|out| {
                out.clear();
                let value: serde_json::Value = serde_json::from_slice(text).expect("valid");
                ciborium::into_writer(&value, out).expect("serializable");
            }),
        },
    ];
    let expected = converted(text, Format::Json, Format::Cbor);
    check(&mut routes, &expected, |bytes| {
        let value: ciborium::Value = ciborium::from_reader(bytes).expect("CBOR");
        serde_json::to_value(&value).expect("what JSON holds")
    });
    let mut packed = vec![Route {
        name: "regauge, MessagePack",
        run: Box::new(|buffer| {
            pump!(
                buffer,
                json::Reader::from_slice(json::Parser::default(), text),
                |out, fidelity| { msgpack::Writer::new(out, fidelity) }
            )
        }),
    }];
    check(&mut packed, &converted(text, Format::Json, Format::Msgpack), |bytes| {
        rmp_serde::from_slice(bytes).expect("MessagePack")
    });
    let mut documents = vec![
        Route {
            name: "regauge, BSON",
            run: Box::new(|buffer| {
                pump!(
                    buffer,
                    json::Reader::from_slice(json::Parser::default(), text),
                    |out, fidelity| { bson::Writer::new(out, bson::Options::default(), fidelity) }
                )
            }),
        },
        Route {
            name: "serde_json (its Value) + bson",
            run: Box::new(|out| {
                let value: serde_json::Map<_, _> = serde_json::from_slice(text).expect("valid");
                let document = ::bson::Document::try_from(value).expect("a document");
                out.clear();
                document.to_writer(out).expect("in memory");
            }),
        },
    ];
    check(&mut documents, &converted(text, Format::Json, Format::Bson), |bytes| {
        let document = ::bson::Document::from_reader(bytes).expect("BSON");
        ::bson::Bson::Document(document).into_relaxed_extjson()
    });
    routes.splice(1..1, packed);
    routes.extend(documents);
    print(name, "from JSON", text.len(), &mut routes, rounds);
}

/// A route whose output does not contain the same document is not timed: the benchmark ends.
fn check(routes: &mut [Route<'_>], expected: &[u8], read: impl Fn(&[u8]) -> serde_json::Value) {
    let expected = read(expected);
    for route in routes {
        let mut output = Vec::new();
        (route.run)(&mut output);
        assert!(read(&output) == expected, "{} gives another document", route.name);
    }
}

fn print(name: &str, table: &str, bytes: usize, routes: &mut [Route<'_>], rounds: usize) {
    let times = interleave(routes, rounds, Duration::from_millis(20));
    record_all(table, name, bytes, &times);
    println!("\n{name}: {table}, {bytes} bytes of JSON");
    for route in &times {
        println!(
            "  {:38} {:>9.1} us  {:>5.2} GB/s  {:>5.2}x the first (by the least: {:.2}x)",
            route.name,
            route.median / 1e3,
            bytes as f64 / route.median,
            route.median / times[0].median,
            route.least / times[0].least,
        );
    }
}
