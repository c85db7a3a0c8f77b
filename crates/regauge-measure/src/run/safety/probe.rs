//! Runs one contender's process in a sandbox folder: gives it documents and reports what happened.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bombs;
use super::bounds::{self, Bounds};
use super::payloads::{self, Evidence, Payload};
use crate::model::protocol::{Command, Counted};
use crate::model::report::BombOutcome;
use crate::plan::launch::Launch;
use crate::run::process::{Process, Trouble};

/// Messages of libraries and runtimes when an allocation fails.
const MEMORY_WORDS: [&str; 9] = [
    "MemoryError",
    "memory allocation of",
    "failed to allocate memory",
    "OutOfMemoryError",
    "Array buffer allocation failed",
    "heap out of memory",
    "Cannot allocate memory",
    "bad_alloc",
    "Out of memory",
];

/// The result for one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tried {
    pub outcome: BombOutcome,
    /// Whether the process ended or had to be stopped.
    pub ended: bool,
    /// The library's message, if any.
    pub words: String,
    /// Bytes above what the process had before.
    pub peak: Option<u64>,
}

/// Gives documents to a contender. Processes are started as they are needed: one that a document
/// ended is followed by a fresh one.
pub(crate) struct Prober {
    launch: Launch,
    /// The working folder of the process, which holds nothing else.
    sandbox: PathBuf,
    /// Where the documents are.
    document: PathBuf,
    smallest: Option<PathBuf>,
    patience: Duration,
    bounds: Bounds,
    process: Option<Process>,
    /// How many processes were started.
    pub starts: u64,
}

impl Prober {
    /// Prepares a probe in `folder`, which is the contender's own. `gadgets` is the folder of
    /// `lab/payloads`.
    pub(crate) fn new(
        launch: &Launch,
        format: &str,
        folder: &Path,
        gadgets: &Path,
        patience: Duration,
        bounds: Bounds,
    ) -> std::io::Result<Prober> {
        let sandbox = folder.join("sandbox");
        std::fs::create_dir_all(&sandbox)?;
        let smallest = match bombs::smallest(format) {
            None => None,
            Some(bytes) => {
                let path = folder.join("smallest");
                std::fs::write(&path, bytes)?;
                Some(path)
            }
        };
        let mut launch = launch.clone();
        launch.folder.clone_from(&sandbox);
        // Each runtime heeds its own variable and no other's.
        let environment = launch.environment.clone();
        let before = |name: &str| -> String {
            let given = environment.iter().rev().find(|(one, _)| one == name);
            given.map_or_else(
                || std::env::var(name).unwrap_or_default(),
                |(_, value)| value.to_string_lossy().into_owned(),
            )
        };
        let library = format!("{}:{}", gadgets.display(), before("RUBYLIB"));
        launch.environment.push(("RUBYLIB".into(), library.into()));
        let options = format!("-rregauge_probe {}", before("RUBYOPT"));
        launch.environment.push(("RUBYOPT".into(), options.trim_end().into()));
        Ok(Prober {
            launch,
            sandbox,
            document: folder.join("hostile"),
            smallest,
            patience,
            bounds,
            process: None,
            starts: 0,
        })
    }

    /// Returns whether a payload leaves its trace, and what became of it.
    pub(crate) fn payload(&mut self, payload: &Payload) -> Result<(bool, Tried), Trouble> {
        for name in [payloads::MARKER, payloads::METHOD, payloads::OBJECT] {
            self.remove(name);
        }
        // Objects are counted at the end of a process, so it must have seen no other.
        let alone = payload.evidence == Evidence::File(payloads::OBJECT);
        if alone {
            self.stop();
        }
        let tried = self.give(&payload.document, !alone)?;
        if alone {
            self.stop();
        }
        let worked = match payload.evidence {
            Evidence::File(name) => self.sandbox.join(name).symlink_metadata().is_ok(),
            Evidence::Told(words) => tried.words.contains(words),
        };
        if alone || worked {
            self.stop();
        }
        Ok((worked, tried))
    }

    fn remove(&self, name: &str) {
        let path = self.sandbox.join(name);
        let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path));
    }

    /// Returns what happens to a document.
    pub(crate) fn bomb(&mut self, document: &[u8]) -> Result<Tried, Trouble> {
        self.give(document, true)
    }

    /// Gives it one document; `release` has it let go of what it made.
    ///
    /// # Errors
    /// The process cannot be started, or the document cannot be written.
    fn give(&mut self, document: &[u8], release: bool) -> Result<Tried, Trouble> {
        std::fs::write(&self.document, document).map_err(|error| {
            Trouble::Raised(format!("cannot write {}: {error}", self.document.display()))
        })?;
        let mut process = match self.process.take() {
            Some(process) => process,
            None => {
                self.starts += 1;
                let (process, _) = Process::start(&self.launch, self.patience)?;
                bounds::bind(&process, self.bounds.memory);
                process
            }
        };
        let bounds = self.bounds;
        let fresh_peak = process.forget_peak();
        let before = process.memory().map(|(resident, _)| resident);
        let mut highest = before.unwrap_or(0);
        let mut too_much = false;
        let mut watch = |process: &Process| {
            if let (Some((now, _)), Some(before)) = (process.memory(), before) {
                highest = highest.max(now);
                too_much |= now > before + bounds.memory;
            }
            !too_much
        };
        let mut ask = |process: &mut Process, command: &Command| -> Result<Counted, Trouble> {
            process.ask_watched(command, bounds.time, &mut watch)
        };
        let mut result = ask(&mut process, &Command::Load { path: &self.document, spans: None })
            .and_then(|_| ask(&mut process, &Command::Hold))
            .map(|_| ());
        let alive = |result: &Result<(), Trouble>| {
            matches!(result, Ok(()) | Err(Trouble::Raised(_) | Trouble::Missing(_)))
        };
        let told_peak =
            process.memory().filter(|_| fresh_peak && alive(&result)).map_or(0, |(_, peak)| peak);
        let mut late = false;
        if let Some(smallest) = self.smallest.as_ref().filter(|_| release && alive(&result)) {
            // Letting go of what is deep can end a process, too.
            let gone = smaller(&mut process, smallest, bounds.time, &mut watch);
            if let Err(trouble) = gone
                && !matches!(trouble, Trouble::Raised(_) | Trouble::Missing(_))
            {
                late = true;
                result = Err(trouble);
            }
        }
        if alive(&result) && (self.smallest.is_some() || !release) {
            self.process = Some(process);
        } else {
            drop(process);
        }
        let ended = !alive(&result);
        let peak = before.map(|before| highest.max(told_peak).saturating_sub(before));
        let (outcome, mut words) = told(result, too_much, bounds.memory);
        if late {
            words = format!("while it let go of what it had decoded: {words}");
        }
        Ok(Tried { outcome, ended, words, peak })
    }

    /// Ends the process, if there is one, in its own way.
    pub(crate) fn stop(&mut self) {
        if let Some(process) = self.process.take() {
            process.stop();
        }
    }
}

/// Has the smallest document decoded in place of what is held.
fn smaller(
    process: &mut Process,
    path: &Path,
    time: Duration,
    watch: &mut dyn FnMut(&Process) -> bool,
) -> Result<(), Trouble> {
    process.ask_watched::<Counted>(&Command::Load { path, spans: None }, time, watch)?;
    process.ask_watched::<Counted>(&Command::Hold, time, watch)?;
    Ok(())
}

/// Returns the outcome in one word, and the words of the library.
fn told(result: Result<(), Trouble>, too_much: bool, memory: u64) -> (BombOutcome, String) {
    match result {
        Ok(()) => (BombOutcome::Decoded, String::new()),
        _ if too_much => {
            let words = format!("took more than {} MB more and was stopped", memory >> 20);
            (BombOutcome::OutOfMemory, words)
        }
        Err(Trouble::Silent(after)) => (
            BombOutcome::OutOfTime,
            format!("was not done after {:.0} s and was stopped", after.as_secs_f64()),
        ),
        Err(trouble) => {
            let words = trouble.to_string();
            let outcome = match &trouble {
                _ if MEMORY_WORDS.iter().any(|one| words.contains(one)) => BombOutcome::OutOfMemory,
                Trouble::Raised(_) | Trouble::Missing(_) => BombOutcome::Refused,
                _ => BombOutcome::Crashed,
            };
            match outcome {
                BombOutcome::OutOfMemory => {
                    (outcome, format!("was refused the memory that it asked for: {words}"))
                }
                outcome => (outcome, words),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_in_words() {
        let raised = |text: &str| Err(Trouble::Raised(text.to_owned()));
        let died = |text: &str| Err(Trouble::Died(text.to_owned()));
        for (result, too_much, outcome, words) in [
            (Ok(()), false, BombOutcome::Decoded, ""),
            (raised("RecursionError: deep"), false, BombOutcome::Refused, "RecursionError: deep"),
            (
                raised("MemoryError: "),
                false,
                BombOutcome::OutOfMemory,
                "was refused the memory that it asked for: MemoryError: ",
            ),
            (
                died("ended by itself (signal: 6), saying: memory allocation of 8 bytes failed"),
                false,
                BombOutcome::OutOfMemory,
                "was refused the memory that it asked for: ended by itself (signal: 6), saying: \
                 memory allocation of 8 bytes failed",
            ),
            (
                died("ended by itself (signal: 9)"),
                true,
                BombOutcome::OutOfMemory,
                "took more than 512 MB more and was stopped",
            ),
            (
                died("ended by itself (signal: 11)"),
                false,
                BombOutcome::Crashed,
                "ended by itself (signal: 11)",
            ),
            (
                Err(Trouble::Silent(Duration::from_secs(5))),
                false,
                BombOutcome::OutOfTime,
                "was not done after 5 s and was stopped",
            ),
        ] {
            assert_eq!(told(result, too_much, 512 << 20), (outcome, words.to_owned()));
        }
    }
}
