//! The runtime of the drivers that are asynchronous: one thread, the caller's.
//!
//! Nothing runs between two calls, so a driver must not need its tasks to run in the background:
//! a connection that the server has closed meanwhile is found out by the next call.

use std::future::Future;
use std::time::Duration;

use crate::error::{Error, Result};

/// How long a connection may take to be made.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long one call may take till its answer is there.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// A runtime on the thread of whoever calls.
pub(super) struct Runtime {
    /// There till it is dropped.
    tokio: Option<tokio::runtime::Runtime>,
}

impl Runtime {
    /// A runtime of its own for one engine.
    ///
    /// # Errors
    /// `Engine`: the system has no more descriptors.
    pub(super) fn new() -> Result<Runtime> {
        // Drivers that ask rustls for cryptography take what the process has. Only the first who
        // says it counts; others have chosen then, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let tokio = tokio.map_err(|error| Error::Engine {
            doing: "start a driver".to_owned(),
            message: error.to_string(),
            passing: false,
        })?;
        Ok(Runtime { tokio: Some(tokio) })
    }

    /// Waits for some work of a driver, at most so long.
    ///
    /// # Errors
    /// Those of the work; `Engine` when it took too long. Whether the server has done what it was
    /// told is not known then, and a connection in that state is of no more use.
    ///
    /// # Panics
    /// On a thread that runs asynchronous tasks, which must not wait: use one that may block.
    pub(super) fn wait<T>(
        &self,
        doing: &str,
        limit: Duration,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let tokio = self.tokio.as_ref().expect("there till it is dropped");
        tokio.block_on(async {
            tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
                Err(Error::Engine {
                    doing: doing.to_owned(),
                    message: format!("no answer within {} s", limit.as_secs()),
                    passing: false,
                })
            })
        })
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // An engine may be dropped by an asynchronous task, where waiting for the driver's own
        // tasks would panic.
        if let Some(tokio) = self.tokio.take() {
            tokio.shutdown_background();
        }
    }
}

/// What is said of a change whose answer never came.
#[cfg(any(feature = "mongodb", feature = "cassandra"))]
pub(super) fn lost(words: &str) -> String {
    format!(
        "the connection was lost before the answer came ({words}), so it is not known whether this \
         was done; the next call connects again"
    )
}
