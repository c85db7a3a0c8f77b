//! Checks correctness before speed: regauge reads a contender's output for the reference bytes back
//! and compares it with the original.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use regauge::Format;
use regauge::compare::{Change, Comparison};
use regauge::convert;
use regauge::yaml::Schema;

use crate::model::error::Error;
use crate::model::protocol::{Checked, Command, Counted, Hello, Op, Sampled};
use crate::model::report::{Example, Loss, Memory};
use crate::model::wire::Wire;
use crate::plan::contender::{Contender, Hindrance};
use crate::plan::launch::Launch;
use crate::plan::reference::{self, Bytes, References, Shape, Values};
use crate::run::compression::{GZIP, Outputs};
use crate::run::gzip::gzip_bytes;
use crate::run::process::{Process, Trouble};
use crate::run::sampler::{FirstLap, Live, Load, first_lap};

/// The result of trying a contender.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// There was no time for it, or the run was interrupted before its turn.
    NotReached,
    /// Its library or its interpreter is not there.
    Missing(String),
    /// It ran, and broke off.
    Failed { hello: Option<Hello>, why: String, blame: Blame },
    /// It was stopped because it took too long. `after` is the longest that one of its calls is known
    /// to take at least; nothing if it had not begun any.
    Late { hello: Option<Hello>, after: Option<Duration>, why: String },
    /// It returned bytes.
    Compared(Box<Compared>),
}

/// What failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blame {
    /// The library, on this data: it cannot be used for it.
    Library,
    /// Its adapter, its runner or the preparation of its data: it might be the best.
    Runner,
}

impl Outcome {
    /// Returns the result for a contender that could not be started.
    pub(crate) fn hindered(hindrance: &Hindrance) -> Outcome {
        match hindrance {
            Hindrance::Missing(why) => Outcome::Missing(why.clone()),
            Hindrance::Broken(why) => {
                Outcome::Failed { hello: None, why: why.clone(), blame: Blame::Runner }
            }
        }
    }
}

/// What a contender's own output is like.
#[derive(Debug)]
pub(crate) struct Compared {
    pub hello: Hello,
    /// From its start to its first word, with other checks at the same time.
    pub start: Duration,
    pub checked: Checked,
    /// The short fixed piece of work before and after it, in nanoseconds.
    pub probes_ns: [f64; 2],
    pub output_bytes: u64,
    pub output_gzip_bytes: u64,
    /// Its sizes after every compression; empty if it is the reference.
    pub output_compressed: BTreeMap<String, u64>,
    pub losses: Vec<Loss>,
    pub wrong: Vec<Loss>,
    pub wrong_documents: u64,
    /// Reference bytes that its runtime wrote itself: size and gzipped size.
    pub own_reference: Option<(u64, u64)>,
    /// What it was given.
    pub load: Load,
    /// The first decoding of its process.
    pub first_decode_ns: f64,
    /// The fastest pass of decoding and encoding while its runtime compiled; infinite if it did not.
    pub fastest_ns: [f64; 2],
    pub memory: Option<Memory>,
    /// Samples that it gave beside other checks, if it was to.
    pub first: Option<FirstLap>,
    /// The process, if it is to give samples.
    pub live: Option<Live>,
}

/// The time budget of a check, and what is left of it.
pub(crate) struct Terms<'t> {
    /// How long it may take.
    pub patience: Duration,
    /// How long any check may take.
    pub most: Duration,
    /// A folder of the contender's own that stays, for reference bytes that its runtime writes.
    pub folder: &'t Path,
    /// Whether its process is to give samples after it.
    pub goes_on: bool,
    /// If so, how long it may decode, and encode, to be compiled.
    pub compile: Duration,
    /// How long a sample is, if some are to be taken at once.
    pub sample_min: Option<Duration>,
    /// The short fixed piece of work.
    pub probe: fn() -> Duration,
    /// Returns whether the user wants an end.
    pub is_stopped: &'t dyn Fn() -> bool,
    /// The compressed sizes of the outputs so far.
    pub outputs: &'t Outputs,
}

/// Returns the file that a contender loads. A format that only its runtime writes is written first,
/// by a separate process.
pub(crate) fn load_for(
    contender: &Contender,
    launch: &Launch,
    references: &References,
    folder: &Path,
    patience: Duration,
) -> Result<Load, Trouble> {
    let wire = if contender.made_from_json { Wire::Json } else { contender.wire };
    let Some(reference) = references.of(wire) else {
        return Err(Trouble::Raised(format!("the data cannot be written as {}", wire.name())));
    };
    if !contender.made_from_json {
        return Ok(Load { path: reference.path.clone(), spans: reference.spans.clone() });
    }
    let out = folder.join("own-reference");
    let (mut process, _) = Process::start(launch, patience).map_err(unprepared)?;
    let command =
        Command::Prepare { path: &reference.path, spans: reference.spans.as_deref(), out: &out };
    process.ask::<Counted>(&command, patience).map_err(|trouble| match trouble {
        // The library itself cannot encode this data.
        Trouble::Raised(_) => trouble,
        _ => unprepared(trouble),
    })?;
    process.stop();
    let spans = (references.shape != Shape::Document).then(|| beside(&out));
    Ok(Load { path: out, spans })
}

/// Returns the trouble of a step that is the runner's work, and not the library's.
fn unprepared(trouble: Trouble) -> Trouble {
    match trouble {
        Trouble::Missing(_) | Trouble::NoRuntime(_) | Trouble::Unprepared(_) => trouble,
        _ => Trouble::Unprepared(trouble.to_string()),
    }
}

/// Returns the file of spans that a runner writes beside its output.
fn beside(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".spans");
    PathBuf::from(name)
}

/// Runs a contender once over everything and compares. `folder` is the contender's own; the
/// patience is what the budget allows, and what it is at most.
pub(crate) fn check(
    contender: &Contender,
    launch: &Launch,
    references: &References,
    reference_gzip: &dyn Fn(&str) -> u64,
    folder: &Path,
    terms: &Terms,
) -> Outcome {
    let (mut hello, mut first) = (None, None);
    let said = (&mut hello, &mut first);
    match try_check(contender, launch, references, reference_gzip, folder, terms, said) {
        Ok(compared) => Outcome::Compared(Box::new(compared)),
        Err(Trouble::Missing(why) | Trouble::NoRuntime(why)) => Outcome::Missing(why),
        Err(trouble @ (Trouble::Silent(_) | Trouble::NotStarted(_))) => {
            let mut why = trouble.to_string();
            if terms.patience < terms.most && !(terms.is_stopped)() {
                why.push_str("; a longer --budget gives it more time");
            }
            let after = match trouble {
                Trouble::Silent(limit) => Some(first.map_or(limit, |first| limit.max(first))),
                _ => None,
            };
            Outcome::Late { hello, after, why }
        }
        Err(trouble) => {
            // A contender that never said hello was not given the data.
            let is_unprepared = hello.is_none() || matches!(trouble, Trouble::Unprepared(_));
            let blame = if is_unprepared { Blame::Runner } else { Blame::Library };
            Outcome::Failed { hello, why: trouble.to_string(), blame }
        }
    }
}

fn try_check(
    contender: &Contender,
    launch: &Launch,
    references: &References,
    reference_gzip: &dyn Fn(&str) -> u64,
    folder: &Path,
    terms: &Terms,
    (said, first): (&mut Option<Hello>, &mut Option<Duration>),
) -> Result<Compared, Trouble> {
    let here = |error: Error| Trouble::Unprepared(error.to_string());
    let began = Instant::now();
    let (mut process, hello) = Process::start(launch, terms.patience)?;
    let start = began.elapsed();
    *said = Some(hello.clone());
    // A slow start leaves half of the time at least. All other steps share it, and the last one
    // always gets a moment.
    let until = began + terms.patience.max(start + terms.patience / 2);
    let patience = || until.saturating_duration_since(Instant::now()).max(LEAST);
    // What the start took at its highest is not the data's.
    process.forget_peak();
    let idle = process.memory().map(|(resident, _)| resident);
    let peak = |process: &Process| process.memory().map(|(_, peak)| peak);
    let load = load_for(contender, launch, references, terms.folder, patience())?;
    let spans = load.spans.as_deref();
    let command = Command::Load { path: &load.path, spans };
    process.ask::<Counted>(&command, patience()).map_err(unprepared)?;
    let command = Command::Sample { op: Op::Decode, iterations: 1, gc: false };
    let first_decode: Sampled = process.ask(&command, patience())?;
    *first = Some(Duration::from_nanos(first_decode.ns));
    let decode_peak = peak(&process);
    let out = folder.join("output");
    let lines = spans.is_some() && matches!(contender.wire, Wire::Json | Wire::MarcJson);
    let probe = || (terms.probe)().as_nanos() as f64;
    let before = probe();
    let checked: Checked = process.ask(&Command::Check { out: &out, lines }, patience())?;
    let probes_ns = [before, probe()];
    let memory = idle
        .zip(decode_peak)
        .zip(peak(&process))
        .map(|((idle, decode_peak), peak)| Memory { idle, decode_peak, peak });
    let wire = if contender.made_from_json { Wire::Json } else { contender.wire };
    let original = references.of(wire).expect("load_for found it");
    // A format that regauge cannot read yet is turned into JSON by its own runtime.
    let readable = if contender.made_from_json {
        let revealed = folder.join("revealed");
        let own_spans = spans.map(|_| beside(&out));
        // The library has decoded its output once: what can fail now is showing it as JSON.
        let command = Command::Reveal { path: &out, spans: own_spans.as_deref(), out: &revealed };
        process.ask::<Counted>(&command, patience()).map_err(unprepared)?;
        revealed
    } else {
        out.clone()
    };
    let (output_bytes, same) = same_bytes(&load.path, &out).map_err(here)?;
    let marc = references.shape == Shape::Catalogue;
    // The same bytes are the same documents; most libraries write just what regauge writes.
    let comparison = if same && !contender.made_from_json {
        Comparison::new()
    } else {
        let options = reference::options_for(contender, original.format);
        compare(original, &readable, &options, marc).map_err(Trouble::Raised)?
    };
    let (output_gzip_bytes, output_compressed) = match (same, contender.made_from_json) {
        (true, false) => (reference_gzip(&original.name()), BTreeMap::new()),
        _ => {
            let sizes = terms.outputs.sizes(&out).map_err(here)?;
            (sizes[GZIP], sizes)
        }
    };
    let own_reference = if contender.made_from_json {
        let bytes = std::fs::metadata(&load.path).map(|data| data.len()).unwrap_or_default();
        Some((bytes, if same { output_gzip_bytes } else { gzip_bytes(&load.path).map_err(here)? }))
    } else {
        None
    };
    let wrong_documents = comparison.wrong_documents();
    let (wrong, losses): (Vec<&Change>, Vec<&Change>) =
        comparison.changes().iter().partition(|change| change.kind.is_wrong());
    let mut losses: Vec<Loss> = losses.into_iter().map(Loss::of).collect();
    if contender.yaml_schema != Schema::Core && !same && wrong.is_empty() {
        losses.extend(read_otherwise(original, &readable, marc));
    }
    let (mut first, mut live, mut fastest_ns) = (None, None, [f64::INFINITY; 2]);
    if wrong.is_empty() && (terms.goes_on || terms.sample_min.is_some()) {
        let compiled = compile(&mut process, terms.compile, patience());
        let mut is_alive = compiled.is_ok();
        fastest_ns = compiled.unwrap_or(fastest_ns);
        if let Some(sample_min) = terms.sample_min.filter(|_| is_alive) {
            first = first_lap(&mut process, &load, sample_min, &probe, patience()).ok();
            is_alive = first.is_some();
        }
        live = (is_alive && terms.goes_on).then(|| Live::new(process));
    } else {
        process.stop();
    }
    Ok(Compared {
        hello,
        start,
        checked,
        probes_ns,
        output_bytes,
        output_gzip_bytes,
        output_compressed,
        losses,
        wrong: wrong.into_iter().map(Loss::of).collect(),
        wrong_documents,
        own_reference,
        load,
        first_decode_ns: first_decode.ns as f64,
        fastest_ns,
        memory,
        first,
        live,
    })
}

/// The last step of a check always gets this much.
const LEAST: Duration = Duration::from_millis(100);
/// Samples while a compiler works are about this long.
const COMPILED_IN: Duration = Duration::from_millis(20);

/// Lets a process decode and encode for a while, so that its runtime compiles the code, and returns
/// the fastest pass of each, in nanoseconds. This takes no time from the race: it is done here, on
/// all cores.
fn compile(process: &mut Process, each: Duration, patience: Duration) -> Result<[f64; 2], Trouble> {
    let mut fastest = [f64::INFINITY; 2];
    if each == Duration::ZERO {
        return Ok(fastest);
    }
    for (op, fastest) in [Op::Decode, Op::Encode].into_iter().zip(&mut fastest) {
        if op == Op::Encode {
            process.ask::<Counted>(&Command::Hold, patience)?;
        }
        let began = Instant::now();
        let mut iterations: u64 = 1;
        while began.elapsed() < each {
            let command = Command::Sample { op, iterations, gc: false };
            let sampled: Sampled = process.ask(&command, patience)?;
            *fastest = fastest.min(sampled.ns as f64 / iterations as f64);
            let wanted =
                COMPILED_IN.as_nanos() as f64 * iterations as f64 / sampled.ns.max(1) as f64;
            iterations = (wanted as u64).clamp(1, iterations.saturating_mul(10));
        }
    }
    Ok(fastest)
}

/// Compares what a contender wrote with the reference, document by document.
fn compare(
    original: &Bytes,
    copy: &Path,
    options: &convert::Options,
    marc: bool,
) -> Result<Comparison, String> {
    let told = |error: Error| error.to_string();
    let mut exact = reference::options(original.format);
    exact.yaml.exact_numbers = options.yaml.exact_numbers;
    let mut before = Values::open_with(&original.path, &exact).map_err(told)?;
    // YAML documents that were written one by one need separators to form a stream.
    let spans = beside(copy);
    let pieces = match original.format == Format::Yaml && spans.exists() {
        true => reference::read_spans(&spans).map_err(told)?,
        false => Vec::new(),
    };
    let mut after = match pieces.is_empty() {
        true => Values::open_with(copy, options),
        false => Values::open_pieces(copy, pieces, options),
    }
    .map_err(told)?;
    let mut comparison = if marc { Comparison::of_marc() } else { Comparison::new() };
    loop {
        let original =
            before.next().map_err(|error| format!("the reference: {}", reference::told(&error)))?;
        let copy = after.next().map_err(|error| {
            format!("wrote what regauge cannot read back: {}", reference::told(&error))
        })?;
        if original.is_none() && copy.is_none() {
            return Ok(comparison);
        }
        comparison.next(original.as_ref(), copy.as_ref());
    }
}

/// Finds text that a YAML 1.2 reader misreads in the output of a library that follows YAML 1.1: its
/// plain text `1e3` is a number there.
fn read_otherwise(original: &Bytes, copy: &Path, marc: bool) -> Option<Loss> {
    let mut options = reference::options(original.format);
    // Text like `3E4415` is a number, but not a double.
    options.yaml.exact_numbers = true;
    let kind = "read otherwise by YAML 1.2".to_owned();
    let comparison = match compare(original, copy, &options, marc) {
        Ok(comparison) => comparison,
        Err(why) => {
            let example =
                Example { document: 1, path: "$".into(), before: "the output".into(), after: why };
            return Some(Loss { kind, count: 1, examples: vec![example] });
        }
    };
    let mut wrong = comparison.changes().iter().filter(|change| change.kind.is_wrong());
    let first = Loss::of(wrong.next()?);
    let count = first.count + wrong.map(|change| change.count).sum::<u64>();
    Some(Loss { kind, count, examples: first.examples })
}

/// Returns the size of `two`, and whether the files are identical.
fn same_bytes(one: &Path, two: &Path) -> Result<(u64, bool), Error> {
    let size = |path: &Path| std::fs::metadata(path).map_err(Error::io("read", path));
    let (first, second) = (size(one)?.len(), size(two)?.len());
    if first != second {
        return Ok((second, false));
    }
    let mut one_file = File::open(one).map_err(Error::io("read", one))?;
    let mut two_file = File::open(two).map_err(Error::io("read", two))?;
    let mut buffers = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let got = one_file.read(&mut buffers.0).map_err(Error::io("read", one))?;
        if got == 0 {
            return Ok((second, true));
        }
        two_file.read_exact(&mut buffers.1[..got]).map_err(Error::io("read", two))?;
        if buffers.0[..got] != buffers.1[..got] {
            return Ok((second, false));
        }
    }
}
