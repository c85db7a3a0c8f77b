//! Compares YAML to events with the parsers that others build on.
//!
//! libyaml (C) is loaded from the system if it is installed, rapidyaml through its Python package
//! if `RAPIDYAML_PYTHON` names an interpreter that has it: one call per document, which builds its
//! tree. None of them does more than events, or a tree of text; we also resolve the core schema and
//! pass events of the model to a sink that sums them up. All routes run in turn; the figures are
//! CPU time.

#![allow(unsafe_code, reason = "libyaml is a C library")]

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use regauge::value::Value;
use regauge::{
    Fidelity, Format, OnLoss, Options, Result, Sink, Source as _, Writer as _, convert_bytes, json,
    out::Out, yaml,
};
use regauge_bench::{record, thread_time};
use regauge_testdata::path;

/// Sums up the events, so that nothing can be optimised away.
struct Sum {
    sum: u64,
    events: u64,
    fidelity: Fidelity,
}

impl Sum {
    fn new() -> Sum {
        Sum { sum: 0, events: 0, fidelity: Fidelity::new(OnLoss::Refuse, Format::Json) }
    }

    #[inline(always)]
    fn add(&mut self, value: u64) -> Result {
        self.sum = self.sum.wrapping_add(value);
        self.events += 1;
        Ok(())
    }
}

impl Sink for Sum {
    fn null(&mut self) -> Result {
        self.add(1)
    }
    fn bool(&mut self, v: bool) -> Result {
        self.add(u64::from(v))
    }
    fn i64(&mut self, v: i64) -> Result {
        self.add(v as u64)
    }
    fn u64(&mut self, v: u64) -> Result {
        self.add(v)
    }
    fn f64(&mut self, v: f64) -> Result {
        self.add(v.to_bits())
    }
    fn str(&mut self, v: &str) -> Result {
        self.add(v.len() as u64)
    }
    fn begin_array(&mut self, _len: Option<u64>) -> Result {
        self.add(2)
    }
    fn end_array(&mut self) -> Result {
        self.add(3)
    }
    fn begin_map(&mut self, _len: Option<u64>) -> Result {
        self.add(4)
    }
    fn key(&mut self, k: &str) -> Result {
        self.add(k.len() as u64)
    }
    fn key_value(&mut self, _k: &Value) -> Result {
        self.add(5)
    }
    fn end_map(&mut self) -> Result {
        self.add(6)
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

fn ours(text: &[u8]) -> u64 {
    let mut sink = Sum::new();
    let mut reader = yaml::Reader::from_slice(yaml::Parser::default(), text);
    while reader.next(&mut sink).expect("valid") {}
    black_box(sink.sum);
    sink.events
}

fn ours_to_json(text: &[u8], buffer: &mut Vec<u8>) {
    let out = Out::reusing(std::mem::take(buffer));
    let fidelity = Fidelity::new(OnLoss::Refuse, Format::Json);
    let mut writer = json::Writer::new(out, json::WriteOptions::default(), fidelity);
    let mut reader = yaml::Reader::from_slice(yaml::Parser::default(), text);
    while reader.next(&mut writer).expect("valid") {
        writer.end_document().expect("in memory");
    }
    writer.finish().expect("in memory");
    *buffer = writer.into_out().into_vec();
}

/// Returns the number of events of a stream besides those of its values: stream and document, begin
/// and end.
fn saphyr(text: &str) -> u64 {
    let mut count = 0;
    for event in saphyr_parser::Parser::new_from_str(text) {
        let (event, _) = event.expect("valid");
        count += u64::from(!matches!(
            event,
            saphyr_parser::Event::StreamStart
                | saphyr_parser::Event::StreamEnd
                | saphyr_parser::Event::DocumentStart(_)
                | saphyr_parser::Event::DocumentEnd
                | saphyr_parser::Event::Nothing
        ));
        black_box(&event);
    }
    count
}

/// The C library, loaded at run time.
struct LibYaml {
    library: libloading::Library,
}

/// Larger than `yaml_parser_t` (480 bytes) and `yaml_event_t` (104 bytes).
#[repr(align(16))]
struct Room([u8; 2048]);

impl LibYaml {
    fn open() -> Option<LibYaml> {
        // SAFETY: the library's initialisers only set up tables.
        let library = unsafe { libloading::Library::new("libyaml-0.so.2") }.ok()?;
        Some(LibYaml { library })
    }

    fn events(&self, text: &[u8]) -> u64 {
        type Plain = unsafe extern "C" fn(*mut Room) -> i32;
        type Input = unsafe extern "C" fn(*mut Room, *const u8, usize);
        type Parse = unsafe extern "C" fn(*mut Room, *mut Room) -> i32;
        let (mut parser, mut event) = (Room([0; 2048]), Room([0; 2048]));
        let mut count = 0;
        // SAFETY: the signatures are those of yaml.h 0.2; both buffers are large and aligned enough
        // for the structures they hold, the text outlives the parser, and every event is deleted
        // before the next.
        unsafe {
            let get = |name: &[u8]| self.library.get::<Plain>(name).expect("libyaml 0.2");
            let initialize = get(b"yaml_parser_initialize");
            let delete = get(b"yaml_parser_delete");
            let delete_event = get(b"yaml_event_delete");
            let input =
                self.library.get::<Input>(b"yaml_parser_set_input_string").expect("libyaml 0.2");
            let parse = self.library.get::<Parse>(b"yaml_parser_parse").expect("libyaml 0.2");
            assert_eq!(initialize(&mut parser), 1);
            input(&mut parser, text.as_ptr(), text.len());
            loop {
                assert_eq!(parse(&mut parser, &mut event), 1, "valid");
                // The kind of event comes first: 1 to 4 are stream and document.
                let kind = i32::from_ne_bytes(event.0[..4].try_into().expect("four bytes"));
                delete_event(&mut event);
                count += u64::from(kind > 4);
                if kind == 2 {
                    break;
                }
            }
            delete(&mut parser);
        }
        count
    }
}

/// An interpreter with rapidyaml, which times its own calls.
struct RapidYaml {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

const RAPIDYAML: &str = "
import sys, time, ryml
data = open(sys.argv[1], 'rb').read()
tree = ryml.parse_in_arena(data)
print(tree.size(), flush=True)
for line in sys.stdin:
    start = time.thread_time_ns()
    for _ in range(int(line)):
        tree.clear()
        tree.clear_arena()
        ryml.parse_in_arena(data, tree=tree)
    print(time.thread_time_ns() - start, flush=True)
";

impl RapidYaml {
    fn open(file: &Path) -> Option<RapidYaml> {
        let python = std::env::var_os("RAPIDYAML_PYTHON")?;
        let mut child = Command::new(python)
            .args(["-c", RAPIDYAML])
            .arg(file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let input = child.stdin.take()?;
        let output = BufReader::new(child.stdout.take()?);
        let mut peer = RapidYaml { child, input, output };
        (peer.line()? > 1).then_some(peer)
    }

    fn line(&mut self) -> Option<u64> {
        let mut line = String::new();
        self.output.read_line(&mut line).ok()?;
        line.trim().parse().ok()
    }

    fn time(&mut self, calls: u32) -> f64 {
        writeln!(self.input, "{calls}").expect("the interpreter runs");
        self.line().expect("the interpreter answers") as f64
    }
}

impl Drop for RapidYaml {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The duration of this many calls, in nanoseconds.
type Timed<'a> = Box<dyn FnMut(u32) -> f64 + 'a>;

fn timed<'a>(mut job: impl FnMut() + 'a) -> Timed<'a> {
    Box::new(move |calls| {
        let start = thread_time();
        for _ in 0..calls {
            job();
        }
        (thread_time() - start).as_secs_f64() * 1e9
    })
}

fn main() {
    let rounds: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(11);
    let only = std::env::args().nth(2);
    println!("processor time, median of {rounds} rounds, routes in turn");
    let json = std::fs::read(path("json/twitter.json")).expect("readable");
    let block = convert_bytes(&json, &Options::new(Format::Json, Format::Yaml)).expect("valid");
    let folder = std::env::temp_dir().join(format!("regauge-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("writable");
    std::fs::write(folder.join("twitter.yaml"), &block).expect("writable");
    let crd = "yaml/kube-prometheus/0prometheusCustomResourceDefinition.yaml";
    for (name, file) in [
        ("legislators", path("yaml/legislators-current.yaml")),
        ("CRD", path(crd)),
        ("twitter", folder.join("twitter.yaml")),
        ("twilio", path("yaml/openapi/twilio_api_v2010.yaml")),
    ] {
        if only.as_ref().is_none_or(|only| only == name) {
            compare(name, &file, rounds);
        }
    }
    std::fs::remove_dir_all(&folder).expect("ours");
}

fn compare(name: &str, file: &Path, rounds: usize) {
    let bytes = std::fs::read(file).expect("readable");
    let text = std::str::from_utf8(&bytes).expect("UTF-8");
    let events = ours(&bytes);
    let library = LibYaml::open();
    let mut rapid = RapidYaml::open(file);
    let mut buffer = Vec::new();
    let mut routes: Vec<(&str, Timed<'_>)> = vec![
        ("regauge, events with core schema", timed(|| assert_eq!(ours(&bytes), events))),
        ("regauge, to JSON", timed(|| ours_to_json(&bytes, &mut buffer))),
    ];
    match &library {
        None => println!("libyaml: skipped, no libyaml-0.so.2"),
        Some(library) => {
            routes.push((
                "libyaml (C), events",
                timed(|| {
                    assert_eq!(library.events(&bytes), events);
                }),
            ));
        }
    }
    match &mut rapid {
        None => println!("rapidyaml: skipped, RAPIDYAML_PYTHON names no Python that has it"),
        Some(rapid) => {
            routes.push(("rapidyaml, tree", Box::new(|calls| rapid.time(calls))));
        }
    }
    routes.push(("saphyr-parser, events", timed(|| assert_eq!(saphyr(text), events))));
    let calls: Vec<u32> = routes
        .iter_mut()
        .map(|(_, run)| {
            run(1);
            (20e6 / run(1).max(100.0)).ceil().clamp(1.0, 1e6) as u32
        })
        .collect();
    let mut samples = vec![Vec::new(); routes.len()];
    for _ in 0..rounds {
        for (((_, run), calls), samples) in routes.iter_mut().zip(&calls).zip(&mut samples) {
            samples.push(run(*calls) / f64::from(*calls));
        }
    }
    println!("\n{name}, {} bytes, {events} events", bytes.len());
    let mut first = 0.0;
    for ((route, _), samples) in routes.iter().zip(&mut samples) {
        record("YAML", name, route, "ns", bytes.len(), samples);
        samples.sort_by(f64::total_cmp);
        let median = samples[samples.len() / 2];
        if first == 0.0 {
            first = median;
        }
        println!(
            "  {route:36} {:>9.1} us  {:>7.1} MB/s  {:>6.2}x ours",
            median / 1e3,
            bytes.len() as f64 / median * 1e3,
            median / first,
        );
    }
}
