//! Compares pickle to JSON with Python's own `pickle.loads`, which builds objects and no JSON, with
//! `pickletools.genops`, which only lists opcodes, and with the crate serde-pickle.
//!
//! `pickle [ROUNDS [NAME …]]` uses the files `json/NAME.json` of the data instead of the default
//! ones.
//!
//! The pickles are written by Python from JSON files, with protocol 4. A Python process runs
//! alongside this one and does its part of each round on request; all figures are thread CPU time,
//! and the rounds of all routes alternate.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use regauge::{Fidelity, Format, Limits, OnLoss, Source as _, Writer as _, json, out::Out, pickle};
use regauge_bench::{record, thread_time};
use regauge_testdata::path;

/// The script of the Python process: it reads `loads 10` and prints nanoseconds per call.
const PYTHON: &str = r#"
import gc, json, pickle, pickletools, sys, time
value = json.load(open(sys.argv[1], "rb"))
data = pickle.dumps(value, 4)
open(sys.argv[2], "wb").write(data)
def genops(data):
    for _ in pickletools.genops(data):
        pass
print(sys.version.split()[0], flush=True)
for line in sys.stdin:
    name, count = line.split()
    run = genops if name == "genops" else pickle.loads
    gc.collect()
    if name == "loads_gc_off":
        gc.disable()
    start = time.thread_time_ns()
    for _ in range(int(count)):
        run(data)
    spent = time.thread_time_ns() - start
    gc.enable()
    print(spent / int(count), flush=True)
"#;

struct Python {
    child: Child,
    ask: ChildStdin,
    answer: BufReader<ChildStdout>,
}

impl Python {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.answer.read_line(&mut line).expect("Python answers");
        line.trim().to_owned()
    }

    fn time(&mut self, name: &str, count: u32) -> f64 {
        writeln!(self.ask, "{name} {count}").expect("Python listens");
        self.line().parse().expect("a number")
    }
}

/// The parser and the buffer keep their memory between calls, like Python's.
fn ours(data: &[u8], parser: &mut Option<pickle::Parser>, buffer: &mut Vec<u8>) {
    let out = Out::reusing(std::mem::take(buffer));
    let fidelity = Fidelity::new(OnLoss::Refuse, Format::Json);
    let mut writer = json::Writer::new(out, json::WriteOptions::default(), fidelity);
    let new = || pickle::Parser::new(pickle::Options::default(), Limits::default());
    let mut reader = pickle::Reader::from_slice(parser.take().unwrap_or_else(new), data);
    while reader.next(&mut writer).expect("valid") {
        writer.end_document().expect("in memory");
    }
    writer.finish().expect("in memory");
    *parser = Some(reader.into_parser());
    *buffer = writer.into_out().into_vec();
}

fn serde(data: &[u8]) -> serde_pickle::Value {
    serde_pickle::value_from_slice(data, Default::default()).expect("valid")
}

fn timed(count: u32, mut run: impl FnMut()) -> f64 {
    let start = thread_time();
    for _ in 0..count {
        run();
    }
    (thread_time() - start).as_secs_f64() * 1e9 / f64::from(count)
}

fn main() {
    let rounds: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(9);
    println!("thread CPU time, median of {rounds} rounds, routes in turn");
    let named: Vec<String> = std::env::args().skip(2).collect();
    let usual = ["twitter", "canada", "citm_catalog", "senators-48k", "random", "instruments"];
    let names = if named.is_empty() { usual.map(str::to_owned).to_vec() } else { named };
    for name in names {
        let text = path(&format!("json/{name}.json"));
        let pickled = std::env::temp_dir().join(format!("regauge-bench-{name}.pickle"));
        let mut child = Command::new("python3")
            .args(["-c", PYTHON])
            .args([&text, &pickled])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 runs");
        let (ask, answer) = (child.stdin.take().expect("piped"), child.stdout.take());
        let mut python = Python { child, ask, answer: BufReader::new(answer.expect("piped")) };
        let version = python.line();
        let data = std::fs::read(&pickled).expect("Python wrote it");
        // A wrong answer is not timed.
        let (mut parser, mut buffer) = (None, Vec::new());
        ours(&data, &mut parser, &mut buffer);
        let same: serde_json::Value = serde_json::from_slice(&buffer).expect("JSON");
        let text = std::fs::read(&text).expect("readable");
        assert!(same == serde_json::from_slice::<serde_json::Value>(&text).expect("JSON"));
        serde(&data);

        let mut samples: [Vec<f64>; 5] = Default::default();
        for _ in 0..rounds {
            samples[0].push(timed(20, || ours(&data, &mut parser, &mut buffer)));
            samples[1].push(python.time("loads", 10));
            samples[2].push(python.time("loads_gc_off", 10));
            samples[3].push(timed(3, || drop(serde(&data))));
            samples[4].push(python.time("genops", 1));
        }
        drop(python.ask);
        python.child.wait().expect("Python ends");
        let names = [
            "regauge, pickle to JSON".to_owned(),
            format!("Python {version}, pickle.loads alone"),
            format!("Python {version}, the same, collector off"),
            "serde-pickle to its Value".to_owned(),
            format!("Python {version}, pickletools.genops"),
        ];
        println!("\n{name}, {} bytes of pickle", data.len());
        let mut first = 0.0;
        let short = name.as_str();
        for (name, mut samples) in names.iter().zip(samples) {
            record("pickle to JSON", short, name, "ns", data.len(), &samples);
            samples.sort_by(f64::total_cmp);
            let median = samples[samples.len() / 2];
            first = if first == 0.0 { median } else { first };
            println!(
                "  {name:46} {:>10.1} us  {:>6.2}x the first (least {:.1} us)",
                median / 1e3,
                median / first,
                samples[0] / 1e3,
            );
        }
    }
}
