//! A line to a server: a connection that is made when it is first needed, looked at before it is
//! used again, and made anew when it was lost.
//!
//! **What is repeated.** A call that only reads is made once more when its connection is lost. A
//! change is repeated where it cannot have been done: when the connection is found dead before
//! anything of it was sent, and when the server says that it undid the change because of another
//! one (a deadlock, a failed serialization). When the connection is lost after that, nobody knows
//! whether the change was done, and the error says so: the caller reads the key, or puts again.

use std::cell::RefCell;
use std::future::Future;
use std::time::{Duration, Instant};

use super::runtime::{CONNECT_TIMEOUT, Runtime};
use crate::error::{Error, Result};

/// How often a change is made that the server undoes because of others.
const ATTEMPTS: u32 = 6;
/// How long the server may take to say that it is still there.
const PATIENCE: Duration = Duration::from_secs(3);
/// A connection that was used less long ago is taken for sound without asking the server.
const FRESH: Duration = Duration::from_secs(1);

/// How a driver makes a connection, and what its errors mean.
pub(super) trait Dial {
    /// A connection.
    type Link;
    /// The driver's error.
    type Failure;

    /// The server, as errors may show it.
    fn place(&self) -> &str;

    /// Makes a connection.
    fn dial(&self) -> impl Future<Output = Result<Self::Link, Self::Failure>>;

    /// Whether the connection is not known to be lost; costs no answer of the server.
    fn is_open(&self, link: &mut Self::Link) -> impl Future<Output = bool>;

    /// Asks the server for an answer that means nothing.
    fn ping(&self, link: &mut Self::Link) -> impl Future<Output = bool>;

    /// What an error means.
    fn verdict(&self, failure: &Self::Failure) -> Verdict;

    /// What an error says, with what to do about it where that is known.
    fn words(&self, failure: &Self::Failure) -> String;
}

/// What a driver's error means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The connection is of no more use.
    Lost,
    /// The server undid the change because of another one.
    Undone,
    /// The server is busy: the same may work a moment later.
    Busy,
    /// The server says no.
    Refused,
}

/// Whether a call may be made twice.
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

/// How a call ended, beside its link.
enum Ended<T, F> {
    Done(T),
    Failed(F),
    NotConnected(F),
}

impl<D: Dial> Line<D> {
    /// A line that gives up a call after `timeout`.
    ///
    /// # Errors
    /// As `Runtime::new`.
    pub(super) fn new(dial: D, timeout: Duration) -> Result<Line<D>> {
        Ok(Line { held: RefCell::new(None), runtime: Runtime::new()?, dial, timeout })
    }

    /// Does some work on the connection.
    ///
    /// # Errors
    /// `Engine`; see the module for what is repeated before.
    pub(super) fn call<T>(
        &self,
        doing: &str,
        call: Call,
        work: impl AsyncFn(&mut D::Link) -> Result<T, D::Failure>,
    ) -> Result<T> {
        let failed =
            |message: String, passing| Error::Engine { doing: doing.to_owned(), message, passing };
        for attempt in 1.. {
            // A link that is not put back, because time ran out or the thread unwinds, is closed.
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

/// Longer each time, and not the same for two who undid each other.
fn pause(attempt: u32) -> Duration {
    let odd = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.subsec_nanos() % 20);
    Duration::from_millis(u64::from(attempt * 10 + odd))
}
