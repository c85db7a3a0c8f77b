//! The runtime of the asynchronous drivers: one thread, the caller's.
//!
//! Nothing runs between two calls, so a driver must not rely on background tasks: a connection that
//! the server has closed meanwhile is discovered by the next call.

use std::future::Future;
use std::time::Duration;

use crate::error::{Error, Result};

/// Timeout for establishing a connection.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Default timeout of a call.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// A runtime on the caller's thread.
pub(super) struct Runtime {
    /// `Some` until it is dropped.
    tokio: Option<tokio::runtime::Runtime>,
}

impl Runtime {
    /// Creates a runtime for one engine.
    ///
    /// # Errors
    /// `Engine`: the system has no descriptors left.
    pub(super) fn new() -> Result<Runtime> {
        // Drivers that use rustls for cryptography take the process's default provider. Only the
        // first to install one counts; if another has been chosen by then, that is just as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let tokio = tokio.map_err(|error| Error::Engine {
            doing: "start a driver".to_owned(),
            message: error.to_string(),
            passing: false,
        })?;
        Ok(Runtime { tokio: Some(tokio) })
    }

    /// Waits for an operation of a driver, up to a timeout.
    ///
    /// # Errors
    /// Those of the operation; `Engine` if it took too long. It is then unknown whether the server
    /// did what it was told, and the connection is unusable.
    ///
    /// # Panics
    /// On a thread that runs asynchronous tasks, which must not block: use one that may.
    pub(super) fn wait<T>(
        &self,
        doing: &str,
        limit: Duration,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        self.within(doing, limit, "", work)
    }

    /// Waits like [`Runtime::wait`] for an operation that changes one value, and says what a timeout means.
    ///
    /// # Errors
    /// Those of `wait`.
    #[cfg(feature = "cassandra")]
    pub(super) fn wait_for_change<T>(
        &self,
        doing: &str,
        limit: Duration,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        self.within(doing, limit, ", so it is not known whether this was done", work)
    }

    /// Waits, and appends `meaning` to the error of a timeout.
    fn within<T>(
        &self,
        doing: &str,
        limit: Duration,
        meaning: &str,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let tokio = self.tokio.as_ref().expect("there till it is dropped");
        let answered = tokio.block_on(async { tokio::time::timeout(limit, work).await });
        answered.unwrap_or_else(|_| {
            Err(Error::Engine {
                doing: doing.to_owned(),
                message: format!("no answer within {} s{meaning}", limit.as_secs()),
                passing: false,
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

/// Returns the message for a change whose answer never came.
#[cfg(any(feature = "mongodb", feature = "cassandra"))]
pub(super) fn lost(words: &str) -> String {
    format!(
        "the connection was lost before the answer came ({words}), so it is not known whether this \
         was done; the next call connects again"
    )
}
