//! Manages one contender's process: started, asked with a timeout, measured from outside, stopped.
//!
//! Nothing that a contender does may end the run: it may be absent, raise, print, hang or die. Each
//! is a [`Trouble`] with wording for the report.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use regauge_os::{self as os, Group};
use serde::de::DeserializeOwned;

use crate::model::protocol::{Answer, Command, Hello};
use crate::model::text::shortened;
use crate::plan::launch::Launch;

/// The longest line that counts as an answer: real ones are below 1 KB, error messages of
/// libraries may quote data.
const LINE_MAX: u64 = 1 << 20;
/// How much of the end of standard error is kept; the reason is usually there.
const TAIL_MAX: usize = 4 << 10;

/// Why a contender gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The interpreter is not there or cannot be run.
    NoRuntime(String),
    /// The library is not installed.
    Missing(String),
    /// It raised an error.
    Raised(String),
    /// Its runner, or the preparation of its data, failed: that says nothing about the library.
    Unprepared(String),
    /// It printed something other than an answer.
    Junk(String),
    /// It did not answer in time, and was stopped.
    Silent(Duration),
    /// It was given nothing yet: its process had not started in time, and was stopped.
    NotStarted(Duration),
    /// It exited on its own.
    Died(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::NoRuntime(why) | Trouble::Missing(why) | Trouble::Raised(why) => {
                out.write_str(why)
            }
            Trouble::Unprepared(why) => write!(out, "its data could not be prepared: {why}"),
            Trouble::Junk(line) => {
                write!(out, "found {line:?} on its output, expected a reply from the runner")
            }
            Trouble::Silent(after) | Trouble::NotStarted(after) => {
                let digits = usize::from(*after < Duration::from_secs(2));
                let seconds = after.as_secs_f64().max(0.1);
                let what = match self {
                    Trouble::Silent(_) => "gave no answer",
                    _ => "did not start",
                };
                write!(out, "{what} within {seconds:.digits$} s and was stopped")
            }
            Trouble::Died(how) => out.write_str(how),
        }
    }
}

/// A running contender.
pub(crate) struct Process {
    child: Child,
    group: Group,
    commands: Option<ChildStdin>,
    lines: Receiver<String>,
    tail: Arc<Mutex<Vec<u8>>>,
    readers: Vec<JoinHandle<()>>,
}

impl Process {
    /// Starts it and waits for its first line.
    pub(crate) fn start(launch: &Launch, patience: Duration) -> Result<(Process, Hello), Trouble> {
        let mut command = std::process::Command::new(&launch.program);
        // Ctrl-C on a terminal reaches a whole group of processes. The contenders are to answer
        // what they were asked, so that what was measured is kept: they get a group each. Whatever
        // they start is in it, and ends with them.
        os::lead_group(&mut command);
        let mut child = command
            .args(&launch.arguments)
            .envs(launch.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&launch.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| {
                let program = launch.program.to_string_lossy();
                Trouble::NoRuntime(format!("{program} cannot be started: {error}"))
            })?;
        let group = Group::of(&child);
        note(child.id(), &group);
        let commands = child.stdin.take();
        let output = child.stdout.take().expect("piped above");
        let errors = child.stderr.take().expect("piped above");
        // One place is enough for honest runners; a flood of lines waits in the pipe.
        let (sender, lines) = sync_channel(1);
        let tail = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&tail);
        let readers = vec![
            std::thread::spawn(move || {
                let mut output = BufReader::new(output);
                loop {
                    let mut line = Vec::new();
                    match output.by_ref().take(LINE_MAX).read_until(b'\n', &mut line) {
                        Ok(1..) => {
                            let line = String::from_utf8_lossy(&line).into_owned();
                            if sender.send(line).is_err() {
                                return;
                            }
                        }
                        _ => return,
                    }
                }
            }),
            std::thread::spawn(move || keep_tail(errors, &kept)),
        ];
        let mut process = Process { child, group, commands, lines, tail, readers };
        let hello = process.hear(patience).map_err(|trouble| match trouble {
            Trouble::Silent(after) => Trouble::NotStarted(after),
            trouble => trouble,
        })?;
        Ok((process, hello))
    }

    /// Sends a command and waits for its answer.
    pub(crate) fn ask<T: DeserializeOwned>(
        &mut self,
        command: &Command,
        patience: Duration,
    ) -> Result<T, Trouble> {
        self.tell(command)?;
        self.hear(patience)
    }

    fn tell(&mut self, command: &Command) -> Result<(), Trouble> {
        // A path that is not UTF-8 cannot be JSON.
        let mut line =
            serde_json::to_vec(command).map_err(|error| Trouble::Raised(error.to_string()))?;
        line.push(b'\n');
        let sent = self
            .commands
            .as_mut()
            .is_some_and(|pipe| pipe.write_all(&line).and_then(|()| pipe.flush()).is_ok());
        if sent { Ok(()) } else { Err(self.post_mortem()) }
    }

    fn understand<T: DeserializeOwned>(&mut self, line: &str) -> Result<T, Trouble> {
        match Answer::read(line) {
            Some(Answer::Done(value)) => Ok(value),
            Some(Answer::Missing(message)) => Err(Trouble::Missing(message)),
            Some(Answer::Raised(message)) => Err(Trouble::Raised(shortened(&message))),
            Some(Answer::Unprepared(message)) => Err(Trouble::Unprepared(shortened(&message))),
            None => {
                self.kill();
                Err(Trouble::Junk(shortened(line.trim_end())))
            }
        }
    }

    fn hear<T: DeserializeOwned>(&mut self, patience: Duration) -> Result<T, Trouble> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => self.understand(&line),
            Err(RecvTimeoutError::Timeout) => {
                self.kill();
                Err(Trouble::Silent(patience))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.post_mortem()),
        }
    }

    /// Asks, and calls `watch` every few milliseconds to decide whether the process may continue;
    /// if not, it is killed.
    pub(crate) fn ask_watched<T: DeserializeOwned>(
        &mut self,
        command: &Command,
        patience: Duration,
        watch: &mut dyn FnMut(&Process) -> bool,
    ) -> Result<T, Trouble> {
        const GLANCE: Duration = Duration::from_millis(4);
        self.tell(command)?;
        let until = Instant::now() + patience;
        loop {
            match self.lines.recv_timeout(GLANCE) {
                Ok(line) => return self.understand(&line),
                Err(RecvTimeoutError::Disconnected) => return Err(self.post_mortem()),
                Err(RecvTimeoutError::Timeout) if Instant::now() >= until => {
                    self.kill();
                    return Err(Trouble::Silent(patience));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if !watch(self) {
                        return Err(self.obituary());
                    }
                }
            }
        }
    }

    /// Returns the number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the process itself.
    pub(crate) fn child(&self) -> &Child {
        &self.child
    }

    /// Resets the memory peak to the current value, if the system can (Linux); returns whether it
    /// did. If not, the peak at start-up remains.
    pub(crate) fn forget_peak(&self) -> bool {
        os::forget_peak(&self.child)
    }

    /// Returns the current memory of the process in bytes: (resident, peak resident). `None` if the
    /// system does not report it (other than Linux and Windows).
    pub(crate) fn memory(&self) -> Option<(u64, u64)> {
        os::memory(&self.child).map(|memory| (memory.resident, memory.peak))
    }

    /// Asks it to end, and makes it after a second.
    pub(crate) fn stop(self) {
        self.stop_within(Duration::from_secs(1));
    }

    /// Stops it with more time, for one that has to clean up.
    pub(crate) fn stop_within(mut self, limit: Duration) {
        if let Some(mut pipe) = self.commands.take() {
            // A contender that is gone already needs no goodbye.
            let line = serde_json::to_string(&Command::Exit).unwrap_or_default();
            let _ = writeln!(pipe, "{line}");
        }
        let limit = Instant::now() + limit;
        while Instant::now() < limit {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn kill(&mut self) {
        self.group.kill();
        let _ = self.child.kill();
    }

    /// Returns how it ended, and its last output. It has closed its output, so it is given a moment to
    /// end by itself.
    fn post_mortem(&mut self) -> Trouble {
        let limit = Instant::now() + Duration::from_millis(500);
        while Instant::now() < limit && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.obituary()
    }

    fn obituary(&mut self) -> Trouble {
        self.kill();
        let status = self.child.wait();
        forget(self.child.id());
        self.commands = None;
        // Its last words may still be on their way; a grandchild that holds the pipe open must
        // not hold us up.
        let limit = Instant::now() + Duration::from_millis(500);
        while Instant::now() < limit && !self.readers.iter().all(JoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(2));
        }
        let how = match status {
            Ok(status) => format!("ended by itself ({status})"),
            Err(error) => format!("ended by itself ({error})"),
        };
        let tail = self.tail.lock().map(|tail| tail.clone()).unwrap_or_default();
        let tail = String::from_utf8_lossy(&tail);
        match telling(&tail) {
            Some(line) => Trouble::Died(shortened(&format!("{how}, saying: {line}"))),
            None => Trouble::Died(how),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        // Without this it would stay as a zombie until the run ends.
        let _ = self.child.wait();
        forget(self.child.id());
    }
}

/// The contenders that are alive, for [`end_all`], which keeps the lock.
static ALIVE: Mutex<Vec<(u32, Group)>> = Mutex::new(Vec::new());

fn note(id: u32, group: &Group) {
    if let Ok(mut alive) = ALIVE.lock() {
        alive.push((id, group.clone()));
    }
}

fn forget(id: u32) {
    if let Ok(mut alive) = ALIVE.lock() {
        alive.retain(|(one, _)| *one != id);
    }
}

/// Kills all contenders at once, for a program that is about to exit. Threads that wait for a
/// contender then wait for ever: a contender killed this way is not a result, and the program must
/// not reach its normal end meanwhile.
pub fn end_all() {
    let Ok(alive) = ALIVE.lock() else { return };
    for (_, group) in alive.iter() {
        group.kill();
    }
    // Never unlocked: see `forget`.
    std::mem::forget(alive);
}

/// Returns the line of a program's last words that says most: the last that names an error, outside a
/// list of calls; otherwise the last with a letter.
fn telling(tail: &str) -> Option<&str> {
    let lines = || tail.lines().rev().map(str::trim);
    let names_error = |line: &&str| {
        let is_call = line.starts_with("at ") || line.starts_with("from ");
        !is_call && ["Error", "Exception", "error"].iter().any(|word| line.contains(word))
    };
    let has_letter = |line: &&str| line.contains(char::is_alphabetic);
    lines().find(names_error).or_else(|| lines().find(has_letter))
}

/// Reads standard error to its end and keeps the last of it.
fn keep_tail(mut errors: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 1024];
    while let Ok(length @ 1..) = errors.read(&mut chunk) {
        if let Ok(mut kept) = kept.lock() {
            kept.extend_from_slice(&chunk[..length]);
            let excess = kept.len().saturating_sub(TAIL_MAX);
            kept.drain(..excess);
        }
    }
}

#[cfg(test)]
mod tests;
