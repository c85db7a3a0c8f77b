//! A line to a server: a connection that is established on first use, checked before reuse, and
//! re-established when lost.
//!
//! **What is repeated.** A read-only call is repeated once if its connection is lost. A change is
//! repeated if it cannot have been done: if the connection is found dead before anything was sent,
//! and if the server says that it rolled the change back because of another one (a deadlock, a
//! serialization failure). If the connection is lost later, nobody knows whether the change was
//! done, and the error says so: the caller reads the key, or puts it again.

use std::cell::RefCell;
use std::future::Future;
use std::time::{Duration, Instant};

use super::runtime::{CONNECT_TIMEOUT, Runtime};
use crate::error::{Error, Result};

/// Maximum attempts at a change that the server keeps rolling back because of others.
const ATTEMPTS: u32 = 6;
/// Timeout for checking that the server is still there.
const PATIENCE: Duration = Duration::from_secs(3);
/// A connection used more recently than this is assumed alive without asking the server.
const FRESH: Duration = Duration::from_secs(1);

/// How a driver connects, and what its errors mean.
pub(super) trait Dial {
    /// A connection.
    type Link;
    /// The driver's error.
    type Failure;

    /// Returns the server's name for error messages.
    fn place(&self) -> &str;

    /// Opens a connection.
    fn dial(&self) -> impl Future<Output = Result<Self::Link, Self::Failure>>;

    /// Returns whether the connection is not known to be lost; needs no round trip.
    fn is_open(&self, link: &mut Self::Link) -> impl Future<Output = bool>;

    /// Pings the server.
    fn ping(&self, link: &mut Self::Link) -> impl Future<Output = bool>;

    /// Classifies an error.
    fn verdict(&self, failure: &Self::Failure) -> Verdict;

    /// Returns an error's message, with what to do about it if known.
    fn words(&self, failure: &Self::Failure) -> String;
}

/// What a driver's error means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The connection is unusable.
    Lost,
    /// The server rolled the change back because of another one.
    Undone,
    /// The server is busy: the same call may work a moment later.
    Busy,
    /// The server's disk is full.
    Full,
    /// The server refused.
    Refused,
}

/// Whether a call may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// It changes nothing.
    Read,
    /// It changes something.
    Change,
}

/// A line to a server.
pub(super) struct Line<D: Dial> {
    /// Dropped before the runtime, which its tasks need.
    held: RefCell<Option<(D::Link, Instant)>>,
    runtime: Runtime,
    dial: D,
    timeout: Duration,
}

/// How a call ended, apart from its link.
enum Ended<T, F> {
    Done(T),
    Failed(F),
    NotConnected(F),
}

impl<D: Dial> Line<D> {
    /// Creates a line that abandons a call after `timeout`.
    ///
    /// # Errors
    /// Those of `Runtime::new`.
    pub(super) fn new(dial: D, timeout: Duration) -> Result<Line<D>> {
        Ok(Line { held: RefCell::new(None), runtime: Runtime::new()?, dial, timeout })
    }

    /// Runs an operation on the connection.
    ///
    /// # Errors
    /// `Engine`; the module describes what is repeated first.
    pub(super) fn call<T>(
        &self,
        doing: &str,
        call: Call,
        work: impl AsyncFn(&mut D::Link) -> Result<T, D::Failure>,
    ) -> Result<T> {
        let failed =
            |message: String, passing| Error::Engine { doing: doing.to_owned(), message, passing };
        for attempt in 1.. {
            // A link that is not put back, because of a timeout or a panic, is closed.
            let held = self.held.borrow_mut().take();
            let limit = self.timeout + CONNECT_TIMEOUT;
            let (link, ended) =
                self.runtime.wait(doing, limit, async { Ok(self.once(held, &work).await) })?;
            let keep = || *self.held.borrow_mut() = link.map(|link| (link, Instant::now()));
            let failure = match ended {
                Ended::Done(result) => {
                    keep();
                    return Ok(result);
                }
                Ended::NotConnected(failure) => {
                    let message = format!("{}: {}", self.dial.place(), self.dial.words(&failure));
                    let passing = self.dial.verdict(&failure) != Verdict::Refused;
                    return Err(Error::Engine {
                        doing: format!("{doing}: no connection"),
                        message,
                        passing,
                    });
                }
                Ended::Failed(failure) => failure,
            };
            let words = self.dial.words(&failure);
            match self.dial.verdict(&failure) {
                Verdict::Lost if call == Call::Read && attempt == 1 => {}
                Verdict::Lost if call == Call::Read => {
                    return Err(failed(format!("the connection was lost ({words})"), true));
                }
                Verdict::Lost => {
                    return Err(failed(
                        format!(
                            "the connection was lost before the answer came ({words}), so it is \
                             not known whether this was done; the next call connects again"
                        ),
                        false,
                    ));
                }
                Verdict::Undone if attempt < ATTEMPTS => {
                    keep();
                    std::thread::sleep(pause(attempt));
                }
                Verdict::Undone | Verdict::Busy => {
                    keep();
                    return Err(failed(words, true));
                }
                Verdict::Full => {
                    keep();
                    let message =
                        format!("the server's disk is full, nothing was changed: {words}");
                    return Err(Error::Full { doing: doing.to_owned(), message });
                }
                Verdict::Refused => {
                    keep();
                    return Err(failed(words, false));
                }
            }
        }
        unreachable!("the loop ends by returning")
    }

    async fn once<T>(
        &self,
        held: Option<(D::Link, Instant)>,
        work: &impl AsyncFn(&mut D::Link) -> Result<T, D::Failure>,
    ) -> (Option<D::Link>, Ended<T, D::Failure>) {
        let mut sound = None;
        if let Some((mut link, used)) = held
            && self.dial.is_open(&mut link).await
            && (used.elapsed() < FRESH || self.answers(&mut link).await)
        {
            sound = Some(link);
        }
        let mut link = match sound {
            Some(link) => link,
            None => match self.dial.dial().await {
                Ok(link) => link,
                Err(failure) => return (None, Ended::NotConnected(failure)),
            },
        };
        match work(&mut link).await {
            Ok(result) => (Some(link), Ended::Done(result)),
            Err(failure) => {
                let lost = self.dial.verdict(&failure) == Verdict::Lost;
                ((!lost).then_some(link), Ended::Failed(failure))
            }
        }
    }

    async fn answers(&self, link: &mut D::Link) -> bool {
        tokio::time::timeout(PATIENCE, self.dial.ping(link)).await.unwrap_or(false)
    }
}

/// Returns a delay: longer each time, and different for two calls that keep aborting each other.
fn pause(attempt: u32) -> Duration {
    let odd = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.subsec_nanos() % 20);
    Duration::from_millis(u64::from(attempt * 10 + odd))
}
