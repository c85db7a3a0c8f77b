//! A measurement from beginning to end: references, checks, rounds, report.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use regauge::Format;

use crate::assets;
use crate::check::{self, Compared, Outcome};
use crate::contender::{self, Contender, Runtime, Source};
use crate::error::Error;
use crate::machine::Machine;
use crate::process::Launch;
use crate::protocol::Op;
use crate::reference::{self, References, Shape};
use crate::report::{self, Input, Method, Missing, Reference, Report, Rounds, Row};
use crate::sampler::{self, Plan, Runner};
use crate::setup;
use crate::summary;

/// What to measure, and how.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The file to measure on.
    pub input: PathBuf,
    /// Its name in the report, when the file is only a copy (a decompressed one).
    pub name: Option<String>,
    /// Its format, when neither name nor first bytes tell.
    pub from: Option<Format>,
    /// Parts of names: only contenders whose name, library, format or runtime holds one of them.
    pub only: Vec<String>,
    /// Adapter files of the user's own.
    pub adapters: Vec<PathBuf>,
    /// Exactly so many rounds, instead of as many as the budget allows.
    pub rounds: Option<u64>,
    /// The time that the whole run should take. Checks and five rounds are made in any case, and
    /// timing gets 40% of it whatever the checks took.
    pub budget: Duration,
    /// The shortest time of a sample.
    pub sample_min: Duration,
    /// How long a contender may take for one answer.
    pub patience: Duration,
    /// Seed of the shuffles and of the bootstrap.
    pub seed: u64,
    /// The Python to use, instead of the one that was set up or is found.
    pub python: Option<PathBuf>,
    /// The Ruby to use, instead of the one that is found.
    pub ruby: Option<PathBuf>,
    /// Where the set-up keeps its libraries; see [`setup::data_dir`].
    pub data_dir: Option<PathBuf>,
    /// Where to keep reference bytes during the run, instead of the system's temporary folder.
    pub work_dir: Option<PathBuf>,
    /// The command that serves a native contender, whose name is appended: this binary, and what
    /// leads it to [`crate::serve_native`].
    pub native: Vec<OsString>,
    /// The command line, for the report.
    pub command: Vec<String>,
}

impl Options {
    /// Measures `input` with every contender, in two minutes. `native` is the command that serves
    /// a native contender.
    #[must_use]
    pub fn new(input: PathBuf, native: Vec<OsString>) -> Options {
        Options {
            input,
            name: None,
            from: None,
            only: Vec::new(),
            adapters: Vec::new(),
            rounds: None,
            budget: Duration::from_secs(120),
            sample_min: Duration::from_millis(10),
            patience: Duration::from_secs(120),
            seed: 1,
            python: None,
            ruby: None,
            data_dir: None,
            work_dir: None,
            native,
            command: Vec::new(),
        }
    }
}

/// A part of the run, for a progress display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Reference bytes are written.
    References,
    /// Contenders are checked, several at a time.
    Check,
    /// Contenders warm up for decoding.
    WarmDecode,
    /// Rounds of decoding.
    Decode,
    /// Objects are made, and contenders warm up for encoding.
    WarmEncode,
    /// Rounds of encoding.
    Encode,
}

impl Stage {
    /// What is being done, for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Stage::References => "writing reference bytes",
            Stage::Check => "checking what comes back",
            Stage::WarmDecode => "warming up to decode",
            Stage::Decode => "decoding, round by round",
            Stage::WarmEncode => "warming up to encode",
            Stage::Encode => "encoding, round by round",
        }
    }
}

/// Is told how far the run is. Nothing else in the engine speaks to people.
pub trait Progress {
    /// A stage of so many steps begins.
    fn begin(&mut self, stage: Stage, steps: u64);
    /// A step is done or begins; `what` names it, or is empty.
    fn step(&mut self, what: &str);
}

/// Says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn begin(&mut self, _: Stage, _: u64) {}
    fn step(&mut self, _: &str) {}
}

/// Measures, and gives the report. Contenders that are missing, broken or wrong are part of it.
///
/// # Errors
/// `Input` for data that cannot be measured, `Adapter` and `NoContender` for the choice of
/// contenders, `Io` for the work folder.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report, Error> {
    let began = Instant::now();
    let machine = Machine::here();
    let from = match options.from {
        Some(format) => format,
        None => reference::detect(&options.input)?,
    };
    let work = work_dir(options)?;
    assets::unpack(work.path()).map_err(Error::io("write", work.path()))?;

    progress.begin(Stage::References, 1);
    let whole = subfolder(work.path(), "whole")?;
    let references = References::write(&options.input, from, &whole)?;
    let contenders = chosen(options, &references)?;
    let launches = launches(options, &contenders, work.path());
    let gzip = gzip_all(&references)?;
    let gzip_of =
        |format: Format| gzip.iter().find(|(one, _)| *one == format).map_or(0, |(_, bytes)| *bytes);
    progress.step("");

    let outcomes =
        check_all(&contenders, &launches, &references, &gzip_of, work.path(), options, progress)?;

    let (timed, every, slice) =
        slice(&contenders, &outcomes, &references, options, began, work.path())?;
    let mut runners =
        start_all(&contenders, &launches, &timed, &slice, work.path(), options.patience)?;
    let rounds = time_all(&mut runners, &outcomes, options, began, progress);

    let report = Report {
        schema: report::SCHEMA.to_owned(),
        regauge: env!("CARGO_PKG_VERSION").to_owned(),
        command: options.command.clone(),
        input: Input {
            name: options.name.clone().unwrap_or_else(|| file_name(&options.input)),
            format: from.name().to_owned(),
            bytes: std::fs::metadata(&options.input)
                .map_err(Error::io("read", &options.input))?
                .len(),
            documents: references.documents,
        },
        machine,
        method: Method {
            seed: options.seed,
            rounds,
            sample_min_ns: u64::try_from(options.sample_min.as_nanos()).unwrap_or(u64::MAX),
            budget_s: options.budget.as_secs_f64(),
            took_s: began.elapsed().as_secs_f64(),
            timed_documents: slice.documents,
            every,
        },
        references: report_references(&references, &gzip_of, &contenders, &outcomes),
        rows: Vec::new(),
        missing: Vec::new(),
        notes: references.notes.clone(),
    };
    Ok(fill(report, contenders, outcomes, runners, &references, options.seed))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn work_dir(options: &Options) -> Result<tempfile::TempDir, Error> {
    let parent = options.work_dir.clone().unwrap_or_else(std::env::temp_dir);
    tempfile::Builder::new()
        .prefix("regauge-measure-")
        .tempdir_in(&parent)
        .map_err(Error::io("make a work folder in", &parent))
}

fn subfolder(parent: &Path, name: &str) -> Result<PathBuf, Error> {
    let folder = parent.join(name);
    std::fs::create_dir_all(&folder).map_err(Error::io("make", &folder))?;
    Ok(folder)
}

/// The contenders that can take part in this shape of data and that the user wants.
fn chosen(options: &Options, references: &References) -> Result<Vec<Contender>, Error> {
    let mut list = contender::all();
    for path in &options.adapters {
        list.push(Contender::from_file(path)?);
    }
    let catalogue = references.shape == Shape::Catalogue;
    list.retain(|one| {
        let wire = if one.made_from_json { contender::Wire::Json } else { one.wire };
        (catalogue || !one.marc_only && one.gives == contender::Gives::Data)
            && references.of(wire).is_some()
    });
    if !options.only.is_empty() {
        let known: Vec<String> = list.iter().map(|one| one.name.clone()).collect();
        list.retain(|one| options.only.iter().any(|part| is_named(one, part)));
        if list.is_empty() {
            return Err(Error::NoContender(format!(
                "no contender for this data is called {}; there are {}",
                options.only.join(" or "),
                known.join(", ")
            )));
        }
    }
    Ok(list)
}

fn is_named(contender: &Contender, part: &str) -> bool {
    let part = part.to_lowercase();
    contender.name.to_lowercase().contains(&part)
        || contender.library.to_lowercase() == part
        || contender.wire.name() == part
        || contender.runtime.name().to_lowercase() == part
        || format!("{:?}", contender.runtime).to_lowercase() == part
}

/// How each contender is started.
fn launches(options: &Options, contenders: &[Contender], work: &Path) -> Vec<Launch> {
    let data_dir = options.data_dir.clone().or_else(setup::data_dir);
    let python = setup::find_python(options.python.as_deref(), data_dir.as_deref());
    let ruby = options.ruby.clone().unwrap_or_else(|| "ruby".into());
    let ruby_environment = setup::ruby_environment(data_dir.as_deref());
    let script = |program: &Path, runner: &str, contender: &Contender, flags: &[&str]| {
        let adapter = match &contender.source {
            Source::Carried(path) => work.join(path),
            Source::File(path) => path.clone(),
            Source::Native(name) => name.into(),
        };
        let mut arguments: Vec<OsString> = flags.iter().map(Into::into).collect();
        arguments.push(work.join("runners").join(runner).into());
        arguments.push(adapter.into());
        (program.as_os_str().to_owned(), arguments)
    };
    contenders
        .iter()
        .map(|contender| {
            let mut environment = Vec::new();
            let (program, arguments) = match contender.runtime {
                Runtime::Native => {
                    let (program, rest) = options
                        .native
                        .split_first()
                        .map_or((OsString::new(), &[][..]), |parts| (parts.0.clone(), parts.1));
                    let mut arguments = rest.to_vec();
                    arguments.push(contender.name.clone().into());
                    (program, arguments)
                }
                Runtime::Python => {
                    // The same order of hashed strings in every process and every run.
                    environment.push(("PYTHONHASHSEED".into(), "0".into()));
                    script(&python, "python.py", contender, &["-B"])
                }
                Runtime::Ruby => {
                    environment.extend(ruby_environment.iter().cloned());
                    script(&ruby, "ruby.rb", contender, &[])
                }
            };
            Launch { program, arguments, environment, folder: work.to_path_buf() }
        })
        .collect()
}

/// The gzipped size of each reference, one thread each.
fn gzip_all(references: &References) -> Result<Vec<(Format, u64)>, Error> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = references
            .list
            .iter()
            .map(|one| scope.spawn(|| Ok((one.format, check::gzip_bytes(&one.path)?))))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// Checks every contender, as many at a time as there are cores.
fn check_all(
    contenders: &[Contender],
    launches: &[Launch],
    references: &References,
    gzip_of: &(dyn Fn(Format) -> u64 + Sync),
    work: &Path,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Vec<Outcome>, Error> {
    progress.begin(Stage::Check, contenders.len() as u64);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = AtomicUsize::new(0);
    let outcomes: Vec<Mutex<Option<Outcome>>> =
        contenders.iter().map(|_| Mutex::new(None)).collect();
    let (sender, done) = channel();
    std::thread::scope(|scope| -> Result<(), Error> {
        for _ in 0..cores.min(contenders.len()) {
            let sender = sender.clone();
            let (next, outcomes) = (&next, &outcomes);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(contender) = contenders.get(index) else { return };
                    let result = subfolder(work, &format!("check-{index}")).map(|folder| {
                        let outcome = check::check(
                            contender,
                            &launches[index],
                            references,
                            gzip_of,
                            &folder,
                            options.patience,
                        );
                        // Outputs are as large as the data: they go at once.
                        let _ = std::fs::remove_dir_all(&folder);
                        *outcomes[index].lock().expect("no panic while locked") = Some(outcome);
                    });
                    if sender.send(result.map(|()| index)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for result in done {
            progress.step(&contenders[result?].name);
        }
        Ok(())
    })?;
    Ok(outcomes
        .into_iter()
        .map(|outcome| {
            outcome.into_inner().expect("no panic while locked").expect("every index was checked")
        })
        .collect())
}

/// Those that gave the right data.
fn right(outcomes: &[Outcome]) -> impl Iterator<Item = (usize, &Compared)> {
    outcomes.iter().enumerate().filter_map(|(index, outcome)| match outcome {
        Outcome::Compared(compared) if compared.wrong.is_empty() => Some((index, &**compared)),
        _ => None,
    })
}

/// Chooses what is timed: all documents, or of a record stream every n-th, the same for all, so
/// that warm-up and five rounds fit into what is left of the budget.
fn slice(
    contenders: &[Contender],
    outcomes: &[Outcome],
    references: &References,
    options: &Options,
    began: Instant,
    work: &Path,
) -> Result<(Vec<usize>, u64, References), Error> {
    // Five rounds, and what warming up takes.
    const PASSES: f64 = 9.0;
    const DOCUMENTS_MIN: u64 = 200;
    let timed: Vec<usize> = right(outcomes).map(|(index, _)| index).collect();
    debug_assert!(timed.iter().all(|index| *index < contenders.len()));
    let pass_s: f64 = right(outcomes)
        .map(|(_, one)| (one.checked.decode_ns + one.checked.encode_ns) as f64 / 1e9)
        .sum();
    let left = time_left(options, began).as_secs_f64();
    let wanted = (pass_s * PASSES / left).ceil() as u64;
    let most = (references.documents / DOCUMENTS_MIN).max(1);
    let every = if options.rounds.is_some() || references.shape == Shape::Document {
        1
    } else {
        wanted.clamp(1, most)
    };
    let folder = subfolder(work, "timed")?;
    let whole = work.join("whole");
    let slice = if references.shape == Shape::Document {
        references.clone()
    } else {
        references.slice(every, &whole, &folder)?
    };
    Ok((timed, every, slice))
}

/// What checks have left of the budget for timing, and 40% of it in any case: checks are made in
/// full, and slow ones must not leave a handful of records to time.
fn time_left(options: &Options, began: Instant) -> Duration {
    options.budget.saturating_sub(began.elapsed()).max(options.budget.mul_f64(0.4))
}

/// Starts the processes that will be timed. What a runtime has to write itself is written before,
/// by another process: it must not weigh on the memory of this one.
fn start_all(
    contenders: &[Contender],
    launches: &[Launch],
    timed: &[usize],
    slice: &References,
    work: &Path,
    patience: Duration,
) -> Result<Vec<Runner>, Error> {
    let mut runners = Vec::with_capacity(timed.len());
    for &index in timed {
        let contender = &contenders[index];
        let folder = subfolder(work, &format!("time-{index}"))?;
        let who = (index, contender.name.clone(), contender.runtime);
        let runner = match check::load_for(contender, &launches[index], slice, &folder, patience) {
            Ok(load) => Runner::start(who, &launches[index], &load, patience),
            Err(trouble) => Runner::failed(who, trouble),
        };
        runners.push(runner);
    }
    Ok(runners)
}

/// Both kinds of rounds; each gets the part of the budget that it needs.
fn time_all(
    runners: &mut [Runner],
    outcomes: &[Outcome],
    options: &Options,
    began: Instant,
    progress: &mut dyn Progress,
) -> Rounds {
    let plan = Plan {
        rounds: options.rounds,
        sample_min: options.sample_min,
        patience: options.patience,
        seed: options.seed,
    };
    let floor = options.sample_min.as_nanos() as f64;
    let cost = |time: fn(&Compared) -> u64| -> f64 {
        right(outcomes).map(|(_, one)| (time(one) as f64).max(floor)).sum::<f64>().max(1.0)
    };
    let (decode, encode) = (cost(|one| one.checked.decode_ns), cost(|one| one.checked.encode_ns));
    let left = time_left(options, began);
    let timing = Instant::now();
    let decode_budget = left.mul_f64(decode / (decode + encode));
    let decode = sampler::rounds(runners, Op::Decode, decode_budget, &plan, progress);
    let encode_budget = left.saturating_sub(timing.elapsed());
    let encode = sampler::rounds(runners, Op::Encode, encode_budget, &plan, progress);
    for runner in runners {
        runner.stop();
    }
    Rounds { decode, encode }
}

/// The sizes: regauge's references, and those that a runtime wrote itself.
fn report_references(
    references: &References,
    gzip_of: &dyn Fn(Format) -> u64,
    contenders: &[Contender],
    outcomes: &[Outcome],
) -> Vec<Reference> {
    let mut list: Vec<Reference> = references
        .list
        .iter()
        .map(|one| Reference {
            format: one.format.name().to_owned(),
            bytes: one.bytes,
            gzip_bytes: gzip_of(one.format),
            written_by: "regauge".to_owned(),
        })
        .collect();
    for (contender, outcome) in contenders.iter().zip(outcomes) {
        if let Outcome::Compared(compared) = outcome
            && let Some((bytes, gzip_bytes)) = compared.own_reference
        {
            list.push(Reference {
                format: contender.wire.name().to_owned(),
                bytes,
                gzip_bytes,
                written_by: format!("{} ({})", contender.name, contender.runtime.name()),
            });
        }
    }
    list
}

/// Puts the findings of checks and rounds into the report.
fn fill(
    mut report: Report,
    contenders: Vec<Contender>,
    outcomes: Vec<Outcome>,
    runners: Vec<Runner>,
    references: &References,
    seed: u64,
) -> Report {
    for (index, (contender, outcome)) in contenders.into_iter().zip(outcomes).enumerate() {
        let format = if contender.made_from_json {
            contender.wire.name().to_owned()
        } else {
            references
                .of(contender.wire)
                .map_or(contender.wire.name(), |one| one.format.name())
                .to_owned()
        };
        let mut row = Row {
            contender: contender.name.clone(),
            runtime: contender.runtime,
            runtime_version: String::new(),
            library: contender.library,
            version: String::new(),
            format,
            gives: contender.gives,
            unsafe_because: contender.unsafe_because,
            output_bytes: None,
            output_gzip_bytes: None,
            losses: Vec::new(),
            wrong: Vec::new(),
            wrong_documents: 0,
            failure: None,
            timing: None,
        };
        match outcome {
            Outcome::Missing(reason) => {
                report.missing.push(Missing {
                    contender: contender.name,
                    runtime: contender.runtime,
                    install: contender.install,
                    reason,
                });
                continue;
            }
            Outcome::Failed { hello, why } => {
                if let Some(hello) = hello {
                    (row.runtime_version, row.version) = (hello.runtime, hello.version);
                }
                row.failure = Some(why);
            }
            Outcome::Compared(compared) => {
                row.runtime_version = compared.hello.runtime;
                row.version = compared.hello.version;
                row.output_bytes = Some(compared.output_bytes);
                row.output_gzip_bytes = Some(compared.output_gzip_bytes);
                row.losses = compared.losses;
                row.wrong = compared.wrong;
                row.wrong_documents = compared.wrong_documents;
                if let Some(runner) = runners.iter().find(|runner| runner.index == index) {
                    row.failure = runner.trouble.as_ref().map(ToString::to_string);
                    row.timing = summary::timing(runner, seed);
                }
            }
        }
        report.rows.push(row);
    }
    summary::rank(&mut report, seed);
    report
}
