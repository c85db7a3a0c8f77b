//! Compares Ruby Marshal to JSON with Ruby's own `Marshal.load` of the same bytes and with alox-48.
//!
//! The files are JSON documents that Ruby loaded and dumped. Ruby builds objects from them and we
//! do not: the comparison is about turning a dump into something that another program can use, of
//! which loading is only the first half for Ruby. All routes run in turn, Ruby in a separate
//! process that times itself; the figures are thread CPU time.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use regauge::{Format, Options, convert_bytes};
use regauge_bench::{Route, interleave, record};
use regauge_testdata::path;

/// Reads a line with a number, loads that many times, and prints the nanoseconds per load.
const LOAD: &str = r#"
bytes = File.binread(ARGV[0])
clock = Process::CLOCK_THREAD_CPUTIME_ID
$stdout.sync = true
while (line = $stdin.gets)
  start = Process.clock_gettime(clock)
  line.to_i.times { Marshal.load(bytes) }
  puts((Process.clock_gettime(clock) - start) * 1e9 / line.to_i)
end
"#;

const DUMP: &str = r#"
require "json"
File.binwrite(ARGV[1], Marshal.dump(JSON.parse(File.read(ARGV[0]))))
"#;

fn main() {
    let rounds = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(15);
    println!("thread CPU time, median of {rounds} rounds, routes in turn; Ruby times itself");
    println!("regauge builds no objects, Marshal.load does; alox-48 builds its Value");
    for name in ["twitter", "canada", "citm_catalog"] {
        one(name, rounds);
    }
}

fn one(name: &str, rounds: usize) {
    let dump = std::env::temp_dir().join(format!("regauge-bench-{name}.marshal"));
    let json = path(&format!("json/{name}.json"));
    let made = Command::new("ruby").args(["-e", DUMP]).arg(&json).arg(&dump).status();
    assert!(made.is_ok_and(|status| status.success()), "Ruby dumps {name}");
    let bytes = std::fs::read(&dump).expect("written above");

    // The same document as the original JSON.
    let ours = convert_bytes(&bytes, &to_json()).expect("valid");
    let minified = convert_bytes(
        &std::fs::read(&json).expect("readable"),
        &Options::new(Format::Json, Format::Json),
    );
    assert!(minified.expect("valid") == ours, "{name} is read as what it was");

    let mut routes = vec![Route {
        name: "regauge, Marshal to JSON",
        run: Box::new(|out| *out = convert_bytes(&bytes, &to_json()).expect("valid")),
    }];
    match alox_48::from_bytes::<alox_48::Value>(&bytes) {
        Ok(_) => routes.push(Route {
            name: "alox-48, Marshal to its Value",
            run: Box::new(|out| {
                out.clear();
                let value: alox_48::Value = alox_48::from_bytes(&bytes).expect("read before");
                out.push(matches!(value, alox_48::Value::Nil).into());
            }),
        }),
        Err(error) => println!("\nalox-48 cannot read {name}: {error}"),
    }
    let mut ruby = Ruby::start(&dump);
    let calls = (50_000_000.0 / ruby.load(3)).ceil() as u32;
    let (mut loads, mut samples) = (Vec::new(), vec![Vec::new(); routes.len()]);
    for _ in 0..rounds {
        loads.push(ruby.load(calls));
        let times = interleave(&mut routes, 1, Duration::from_millis(50));
        for (samples, times) in samples.iter_mut().zip(times) {
            samples.push(times.median);
        }
    }
    for (route, samples) in routes.iter().zip(&samples) {
        record("Marshal to JSON", name, route.name, "ns", bytes.len(), samples);
    }
    record("Marshal to JSON", name, "Ruby's Marshal.load alone", "ns", bytes.len(), &loads);
    let load = median(&mut loads);
    println!("\n{name}, {} bytes", bytes.len());
    println!("{:>10.0} us         Marshal.load", load / 1e3);
    for (route, samples) in routes.iter().zip(&mut samples) {
        let time = median(samples);
        println!("{:>10.0} us  {:>5.1}x {}", time / 1e3, load / time, route.name);
    }
    let _ = std::fs::remove_file(dump);
}

fn to_json() -> Options {
    Options::new(Format::Marshal, Format::Json)
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// A Ruby process that waits for the number of times to load.
struct Ruby {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Ruby {
    fn start(dump: &Path) -> Ruby {
        let mut process = Command::new("ruby")
            .args(["-e", LOAD])
            .arg(dump)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Ruby is installed");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("piped"));
        Ruby { process, input, output }
    }

    /// Returns nanoseconds per iteration.
    fn load(&mut self, times: u32) -> f64 {
        let input = self.input.as_mut().expect("open until the end");
        writeln!(input, "{times}").expect("Ruby reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("Ruby answers");
        line.trim().parse().expect("a number")
    }
}

impl Drop for Ruby {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.wait();
    }
}
