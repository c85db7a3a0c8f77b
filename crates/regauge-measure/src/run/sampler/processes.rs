//! The real world, as opposed to tests: child processes, the system's clock, pinning.

use std::fmt;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::model::protocol::{Command, Counted, Op, Sampled};
use crate::plan::launch::Launch;
use crate::run::pin::Core;
use crate::run::process::{Process, Trouble};
use crate::run::sampler::{Started, Subject, World};

/// Reference bytes that a contender is told to load.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    pub path: PathBuf,
    pub spans: Option<PathBuf>,
}

/// The inputs for starting each contender.
pub(crate) struct Processes<'p> {
    pub launches: &'p [Launch],
    /// The bytes of each contender, by its index.
    pub loads: Vec<Option<Load>>,
    pub began: Instant,
    pub core: Option<Core>,
    pub probe: fn() -> Duration,
    pub stop: Option<&'p AtomicBool>,
}

impl World for Processes<'_> {
    fn start(&mut self, index: usize, patience: Duration) -> Result<Started, Trouble> {
        let Some(load) = &self.loads[index] else {
            return Err(Trouble::Raised("it has no bytes to load".to_owned()));
        };
        let began = Instant::now();
        let (mut process, _) = Process::start(&self.launches[index], patience)?;
        let start_ns = began.elapsed().as_nanos() as f64;
        let pinned = self.pin(&process);
        // What the start took at its highest is not the data's.
        process.forget_peak();
        let idle = process.memory().map(|(resident, _)| resident);
        let command = Command::Load { path: &load.path, spans: load.spans.as_deref() };
        process.ask::<Counted>(&command, patience)?;
        let subject = Running { process: Some(process), load: load.clone() };
        Ok(Started { subject: Box::new(subject), start_ns, idle, pinned })
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn probe(&mut self) -> f64 {
        let probe = self.probe;
        let spent = match &self.core {
            Some(core) => core.on_it(probe),
            None => probe(),
        };
        spent.as_nanos() as f64
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

impl Processes<'_> {
    fn pin(&self, process: &Process) -> bool {
        self.core.as_ref().is_some_and(|core| core.pin_process(process.id()))
    }

    /// Continues with the process of a check; returns whether it is pinned to the core.
    pub(crate) fn take(&self, index: usize, live: Live) -> Option<(Box<dyn Subject>, bool)> {
        let load = self.loads[index].clone()?;
        let process = live.0.into_inner().ok()?;
        let pinned = self.pin(&process);
        Some((Box::new(Running { process: Some(process), load }), pinned))
    }
}

/// A process that has been checked and goes on. Nobody waits for the lock: it lets outcomes be
/// looked at by several threads.
pub(crate) struct Live(Mutex<Process>);

impl Live {
    pub(crate) fn new(process: Process) -> Live {
        Live(Mutex::new(process))
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a process")
    }
}

/// A process that is told to exit when dropped.
struct Running {
    process: Option<Process>,
    load: Load,
}

impl Running {
    fn process(&mut self) -> Result<&mut Process, Trouble> {
        self.process.as_mut().ok_or_else(|| Trouble::Raised("it was told to exit".to_owned()))
    }
}

impl Subject for Running {
    fn sample(
        &mut self,
        op: Op,
        iterations: u64,
        gc: bool,
        patience: Duration,
    ) -> Result<Sampled, Trouble> {
        self.process()?.ask(&Command::Sample { op, iterations, gc }, patience)
    }

    fn hold(&mut self, patience: Duration) -> Result<(), Trouble> {
        self.process()?.ask::<Counted>(&Command::Hold, patience).map(|_| ())
    }

    fn reload(&mut self, patience: Duration) -> Result<(), Trouble> {
        let load = self.load.clone();
        let command = Command::Load { path: &load.path, spans: load.spans.as_deref() };
        self.process()?.ask::<Counted>(&command, patience).map(|_| ())
    }

    fn peak(&self) -> Option<u64> {
        self.process.as_ref()?.memory().map(|(_, peak)| peak)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            process.stop();
        }
    }
}
