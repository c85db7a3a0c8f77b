//! Long work that Ctrl-C ends, as it ends Python's own.

use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors;

/// How long a signal waits for its handler, at most.
const PAUSE: Duration = Duration::from_millis(20);

/// Files below this size are read before a thread has started.
const SMALL_BYTES: u64 = 1 << 20;

/// Whether the work is to end early. What it reads, it opens here.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Opens a file, of which nothing more is read once the work is to end.
    ///
    /// # Errors
    /// Those of [`errors::open`].
    pub fn open<'s>(&'s self, path: &Path) -> io::Result<Box<dyn Read + Send + 's>> {
        Ok(Box::new(Stoppable { file: errors::open(path)?, stop: &self.0 }))
    }
}

struct Stoppable<'s, R> {
    file: R,
    stop: &'s AtomicBool,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(io::Error::other("a signal ended the call")),
            false => self.file.read(buffer),
        }
    }
}

/// Runs work on a file without the GIL. If the file is large, the work has a thread of its own, and this one calls
/// the handlers of signals meanwhile, which Python does in its main thread alone.
///
/// # Errors
/// What a handler raised, such as `KeyboardInterrupt`; the work has ended then.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    path: &Path,
    work: impl FnOnce(&Stop) -> T + Send,
) -> PyResult<T> {
    let stop = Stop::default();
    if path.metadata().is_ok_and(|of| of.is_file() && of.len() < SMALL_BYTES) {
        return Ok(py.detach(|| work(&stop)));
    }
    let ended = AtomicBool::new(false);
    let waiting = thread::current();
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let done = work(&stop);
            ended.store(true, Ordering::Release);
            waiting.unpark();
            done
        });
        let mut raised = Ok(());
        while !worker.is_finished() {
            py.detach(|| {
                if !ended.load(Ordering::Acquire) {
                    thread::park_timeout(PAUSE);
                } else {
                    thread::yield_now();
                }
            });
            if raised.is_ok() {
                raised = py.check_signals();
                stop.0.store(raised.is_err(), Ordering::Relaxed);
            }
        }
        let done = py.detach(|| worker.join());
        raised.map(|()| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
