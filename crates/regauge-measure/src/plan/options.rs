//! Options that a caller passes to the engine, and the progress it reports.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use regauge::Format;

use crate::model::error::Error;
use crate::model::noise;
use crate::model::report::Assumptions;
use crate::model::runtime::Runtime;
use crate::model::wire::Gives;
use crate::plan::input::{Files, InputFile};

/// The time that a run may take unless another is asked for: a minute, with what the command does before and after.
pub(crate) const BUDGET: Duration = Duration::from_secs(57);

/// What to measure, and how.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The file to measure on, or a folder of files.
    pub input: PathBuf,
    /// The files of `input`, if the caller has already found (and decompressed) them; empty to look
    /// for them.
    pub files: Vec<InputFile>,
    /// Its name in the report, when the file is only a copy (a decompressed one).
    pub name: Option<String>,
    /// Sentences for the notes of the report, on what the caller did with the input.
    pub notes: Vec<String>,
    /// Its format, if neither name nor first bytes identify it.
    pub from: Option<Format>,
    /// Parts of names: only contenders whose name, library, format or runtime contains one of them.
    pub only: Vec<String>,
    /// Which contenders take part: `runtime/data`, `runtime/record` or `runtime/name`, in small
    /// letters; all, when it is empty. `only` chooses among them.
    pub take_part: Vec<String>,
    /// Contenders that are checked and timed before all others, as `runtime/name`: the published
    /// rows of a task.
    pub published: Vec<String>,
    /// Whether usual libraries of other formats come before the other ones of the data's own.
    pub usual_first: bool,
    /// Take a first lap of samples beside the checks, on all cores: rough, but enough to see
    /// what is much slower than the best.
    pub sample_at_once: bool,
    /// Which data is timed on a part.
    pub part_size: PartSize,
    /// Whether everything is checked and timed on that part, the winners too: for a task that has
    /// much less than its own time.
    pub part_only: bool,
    /// No check begins after this share of the budget; the rest is for timing.
    pub check_share: f64,
    /// Adapter files of the user's own.
    pub adapters: Vec<PathBuf>,
    /// Runner files of the user's own: more runtimes.
    pub runners: Vec<PathBuf>,
    /// Leave out the documents of a stream that some contender does not return intact, and measure
    /// all contenders on the rest.
    pub common: bool,
    /// An exact number of rounds, instead of as many as the budget allows.
    pub rounds: Option<u64>,
    /// The time that the whole run may take: it ends soon after.
    pub budget: Duration,
    /// What is added to it if a runtime that takes seconds to start takes part (JRuby).
    pub slow_start: Duration,
    /// The shortest time of a sample.
    pub sample_min: Duration,
    /// The longest warm-up of decoding or encoding, in one process.
    pub warm: Duration,
    /// The same for runtimes that compile while they run.
    pub warm_compiler: Duration,
    /// How long those decode, and encode, before the race.
    pub compile: Duration,
    /// Pin contenders to one core, if the system allows it and they have no threads of their own.
    pub pin: bool,
    /// Take estimates from processor time, also on a quiet machine: of contenders that are pinned, which have one
    /// thread. Others are timed by the clock.
    pub processor_time: bool,
    /// The short fixed piece of work that is timed before and after each sample: it gives the time
    /// it took. Only tests need another.
    pub probe: fn() -> Duration,
    /// Set it, and the run ends soon and gives what it has.
    pub stop: Option<Arc<AtomicBool>>,
    /// How long a contender may take for one answer.
    pub patience: Duration,
    /// Seed of the shuffles and of the bootstrap.
    pub seed: u64,
    /// Interpreters to use, by the ids of their runtimes, instead of those that were set up or
    /// are found.
    pub interpreters: BTreeMap<String, PathBuf>,
    /// The Python to use; the same as an entry `python` of `interpreters`.
    pub python: Option<PathBuf>,
    /// The Ruby to use; the same as an entry `ruby` of `interpreters`.
    pub ruby: Option<PathBuf>,
    /// Where the set-up keeps its libraries; see [`crate::setup::data_dir`].
    pub data_dir: Option<PathBuf>,
    /// Where to keep reference bytes during the run, instead of the system's temporary folder.
    pub work_dir: Option<PathBuf>,
    /// The command that serves a native contender, whose name is appended: this binary, with the
    /// arguments that call [`crate::serve_native`].
    pub native: Vec<OsString>,
    /// URLs of databases, for tasks that work on some; handed to `native`, which knows them.
    pub databases: Vec<String>,
    /// What the cost figures assume.
    pub assumed: Assumptions,
    /// Whether hostile documents are tested.
    pub safety: When,
    /// Where to keep the results for the next run, if anywhere. See [`crate::safety::cache_dir`].
    pub cache_dir: Option<PathBuf>,
    /// What may be recommended although it is unsafe or lossy.
    pub allow: Allow,
    /// The command line, for the report.
    pub command: Vec<String>,
}

impl Options {
    /// Measures `input` with every contender, in about a minute. `native` is the command that
    /// serves a native contender.
    #[must_use]
    pub fn new(input: PathBuf, native: Vec<OsString>) -> Options {
        Options {
            input,
            files: Vec::new(),
            name: None,
            notes: Vec::new(),
            from: None,
            only: Vec::new(),
            take_part: Vec::new(),
            published: Vec::new(),
            usual_first: false,
            sample_at_once: false,
            part_size: PartSize::DEFAULT,
            part_only: false,
            check_share: 0.5,
            adapters: Vec::new(),
            runners: Vec::new(),
            common: false,
            rounds: None,
            budget: BUDGET,
            slow_start: Duration::from_secs(30),
            sample_min: Duration::from_millis(5),
            warm: Duration::from_millis(40),
            warm_compiler: Duration::from_millis(400),
            compile: Duration::from_millis(300),
            pin: true,
            processor_time: false,
            probe: noise::work,
            stop: None,
            patience: Duration::from_secs(180),
            seed: 1,
            interpreters: BTreeMap::new(),
            python: None,
            ruby: None,
            data_dir: None,
            work_dir: None,
            native,
            databases: Vec::new(),
            assumed: Assumptions::default(),
            safety: When::Off,
            cache_dir: None,
            allow: Allow::default(),
            command: Vec::new(),
        }
    }

    /// Returns the files to measure on, and finds them if the caller has not.
    ///
    /// # Errors
    /// Those of [`Files::find`].
    pub(crate) fn input_files(&self) -> Result<Files, Error> {
        if self.files.is_empty() {
            return Files::find(&self.input, self.from);
        }
        Ok(Files { list: self.files.clone(), notes: self.notes.clone() })
    }

    /// Returns whether the caller wants an end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Switches to a quick look: within 15 seconds, with shorter samples and warm-ups.
    pub fn make_quick(&mut self) {
        self.budget = Duration::from_millis(14_800);
        self.usual_first = true;
        self.slow_start = Duration::ZERO;
        self.sample_at_once = true;
        self.part_size = PartSize::QUICK;
        self.check_share = 0.8;
        self.sample_min = Duration::from_millis(3);
        self.warm = Duration::from_millis(15);
        self.warm_compiler = Duration::from_millis(60);
        self.compile = Duration::from_millis(120);
    }
}

/// A smaller budget has room for a quick look only ([`Options::make_quick`]).
pub const QUICK_BELOW: Duration = Duration::from_secs(20);

/// Which data is timed on a part, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct PartSize {
    /// Data of so many bytes is timed whole.
    pub whole: u64,
    /// A part of larger data is about so large.
    pub part: u64,
}

impl PartSize {
    /// In a run of a minute.
    pub(crate) const DEFAULT: PartSize = PartSize { whole: 3 << 20, part: 256 << 10 };
    /// In a quick look.
    pub(crate) const QUICK: PartSize = PartSize { whole: 128 << 10, part: 64 << 10 };
    /// In a task that has much less than its own time.
    pub(crate) const TASK: PartSize = PartSize { whole: 6 << 20, part: 3 << 20 };
}

/// Whether hostile documents are tested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum When {
    /// Not at all.
    #[default]
    Off,
    /// Looks up known results for these versions, from earlier runs or built into the binary. Tests
    /// nothing, as that would take time from the race.
    Auto,
    /// Tests all contenders again, regardless of time.
    All,
    /// Tests all contenders again, and times nothing.
    Only,
}

/// What may win although it is refused by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Allow {
    /// Libraries that run code a document names, or that a small document can stop.
    pub unsafe_ones: bool,
    /// Libraries that lose some of the user's data.
    pub lossy: bool,
}

/// A part of the run, for a progress display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Reference bytes are written.
    References,
    /// Contenders are checked, several at a time.
    Check,
    /// Contenders that were not right take the documents one by one.
    Sift,
    /// Contenders are given hostile documents, several at a time.
    Safety,
    /// Reference bytes are compressed and decompressed.
    Compress,
    /// A lap of the clock, from 1: fresh processes, warm-up, samples in rounds.
    Lap(u64),
    /// The winners on the whole of large data.
    Finals,
    /// A task's own programs make their objects.
    Prepare,
    /// What a task times warms up.
    Warm,
    /// Rounds of a task's own work.
    Rounds,
}

impl Stage {
    /// Returns the name of the stage, for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Stage::References => "writing the reference bytes",
            Stage::Check => "checking output",
            Stage::Sift => "looking for documents that all return intact",
            Stage::Safety => "testing hostile documents",
            Stage::Compress => "compressing",
            Stage::Lap(_) => "timing, lap by lap",
            Stage::Finals => "checking the winners on the whole file",
            Stage::Prepare => "making the task's objects",
            Stage::Warm => "warming up",
            Stage::Rounds => "timing the task, round by round",
        }
    }
}

/// Called with the progress of the run. Nothing else in the engine prints anything.
pub trait Progress {
    /// Called when a stage with this many steps begins.
    fn begin(&mut self, stage: Stage, steps: u64);
    /// Called when a step ends or begins; `what` names it, or is empty.
    fn step(&mut self, what: &str);
    /// Called between two steps with what is being worked on.
    fn name(&mut self, _what: &str) {}
    /// Called with the current leader of a group, and its time to decode and encode, in
    /// nanoseconds.
    fn leader(&mut self, _runtime: Runtime, _gives: Gives, _name: &str, _total_ns: f64) {}
    /// Called with the longest time that the rest of the run may take.
    fn left(&mut self, _time: Duration) {}
}

/// Says nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn begin(&mut self, _: Stage, _: u64) {}
    fn step(&mut self, _: &str) {}
}
