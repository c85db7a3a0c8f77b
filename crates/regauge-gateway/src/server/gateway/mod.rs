//! What all requests share, and the way from a token to one tenant's values.
//!
//! If you change this room: a handler never names a tenant. It gets a [`Grant`] from
//! `Gateway::admit`, and `Gateway::with_store` is the only way from there to values.

mod admit;
mod grant;
mod handles;
mod idempotency;
mod recent;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use regauge_store::{Result, Store};
use tokio::sync::Semaphore;

use super::http::{Answer, Problem};
use super::operate::{Config, Errors, Metrics};
use crate::tenants::{Home, Lock, Snapshot, State, Tenant};

pub(crate) use grant::{Grant, forbidden};
pub(crate) use idempotency::{Next, key as idempotency_key};
pub(crate) use recent::Kept;

use grant::{Runtime, suspended};
use handles::Handles;
use idempotency::Idempotency;
use recent::Recent;

/// Bytes of one permit of [`Gateway::memory`].
pub(crate) const MEMORY_UNIT: usize = 1 << 10;
/// Total size of all request bodies in memory, in such units: 512 MiB.
const MEMORY_UNITS: usize = 512 << 10;

/// A gateway over a data folder.
pub struct Gateway {
    /// Its configuration.
    pub config: Config,
    pub(crate) home: Arc<Home>,
    pub(crate) lock: Lock,
    snapshot: RwLock<Arc<Snapshot>>,
    version: AtomicI64,
    runtimes: Mutex<HashMap<i64, Arc<Runtime>>>,
    pub(crate) handles: Handles,
    pub(crate) recent: Recent,
    blocking: Arc<Semaphore>,
    pub(crate) memory: Arc<Semaphore>,
    pub(crate) idempotency: Idempotency,
    pub(crate) metrics: Metrics,
    pub(crate) errors: Errors,
    pub(crate) stopping: AtomicBool,
}

impl Gateway {
    /// Opens the data folder, which no other gateway may be using.
    ///
    /// # Errors
    /// `Usage` if another process has the folder, or others can read its key; `Engine`.
    pub fn open(config: Config) -> Result<Arc<Gateway>> {
        let home = Arc::new(Home::open(&config.data)?);
        let lock = home.lock()?;
        for tenant in home.recover(&lock)? {
            tracing::warn!(%tenant, "an interrupted move was undone or completed");
        }
        let open_tenants = config.open_tenants();
        tracing::info!(open_tenants, "this many tenants stay open at most");
        let version = home.registry.version()?;
        let snapshot = home.registry.snapshot()?;
        Ok(Arc::new(Gateway {
            recent: Recent::new(config.recent_bytes),
            handles: Handles::new(Arc::clone(&home), open_tenants),
            blocking: Arc::new(Semaphore::new(config.blocking())),
            memory: Arc::new(Semaphore::new(MEMORY_UNITS)),
            idempotency: Idempotency::open(home.folder())?,
            snapshot: RwLock::new(Arc::new(snapshot)),
            version: AtomicI64::new(version),
            runtimes: Mutex::new(HashMap::new()),
            metrics: Metrics::new(),
            errors: Errors::default(),
            stopping: AtomicBool::new(false),
            home,
            lock,
            config,
        }))
    }

    /// Returns the tenants and their tokens.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Checks whether another process has changed the registry, and reloads it if so.
    ///
    /// # Errors
    /// `Engine`.
    pub fn follow(&self) -> Result {
        let version = self.home.registry.version()?;
        if self.version.swap(version, Ordering::SeqCst) != version {
            self.refresh()?;
        }
        Ok(())
    }

    /// Reloads the registry.
    ///
    /// # Errors
    /// `Engine`.
    pub fn refresh(&self) -> Result {
        let snapshot = Arc::new(self.home.registry.snapshot()?);
        // A tenant dropped by another process keeps no file open here.
        let mut runtimes = self.runtimes.lock().unwrap_or_else(PoisonError::into_inner);
        runtimes.retain(|number, _| snapshot.tenants.contains_key(number));
        drop(runtimes);
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = snapshot;
        Ok(())
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns whether the gateway is about to stop.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Runs a function that waits for a database, on a thread that may block. It runs to completion
    /// even if the client goes away.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        act: impl FnOnce() -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let permits = Arc::clone(&self.blocking).acquire_owned();
        let permit = match tokio::time::timeout(self.config.queue(), permits).await {
            Ok(Ok(permit)) => permit,
            _ => return Err(Problem::busy("too many requests wait for the databases; try again")),
        };
        let span = tracing::Span::current();
        let run = move || {
            let _permit = permit;
            span.in_scope(act)
        };
        match tokio::task::spawn_blocking(run).await {
            Ok(done) => done,
            Err(error) => Err(Problem::internal(error.to_string())),
        }
    }

    /// Runs a function with the values of the tenant that a request was admitted for.
    pub(crate) async fn with_store<T: Send + 'static>(
        self: &Arc<Gateway>,
        grant: &Grant,
        access: Access,
        act: impl FnOnce(&mut Store) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let late = || Problem::busy("too many requests of this tenant wait; try again");
        let wait = self.config.queue();
        let gate = Arc::clone(&grant.runtime.gate).read_owned();
        let gate = tokio::time::timeout(wait, gate).await.map_err(|_| late())?;
        // Writers of a tenant run one at a time, in order of arrival.
        let turn = match &access {
            Access::Read | Access::ReadOne => None,
            Access::Write(_) => {
                let turn = Arc::clone(&grant.runtime.writing).lock_owned();
                Some(tokio::time::timeout(wait, turn).await.map_err(|_| late())?)
            }
        };
        // The location of the values is certain only once the gate is held.
        let tenant = self.active(grant.tenant.number)?;
        let limits = grant.quota.limits;
        if matches!(access, Access::ReadOne)
            && self.config.read_inline
            && let Some(handle) = self.handles.warm(&tenant)
        {
            return handle.with(&self.home, limits, act);
        }
        let gateway = Arc::clone(self);
        let changes = Arc::clone(&grant.runtime.changes);
        self.blocking(move || {
            let (_gate, _turn) = (gate, turn);
            let _changing = match &access {
                Access::Read | Access::ReadOne => None,
                Access::Write(keys) => Some(gateway.recent.change(&changes, tenant.number, keys)),
            };
            let handle = gateway.handles.get(&tenant);
            handle.with(&gateway.home, limits, act)
        })
        .await
    }

    /// Returns the tenant with this number, if it is active.
    fn active(&self, number: i64) -> Answer<Arc<Tenant>> {
        match self.snapshot().tenants.get(&number) {
            Some(tenant) if tenant.state == State::Active => Ok(Arc::clone(tenant)),
            Some(_) => Err(suspended()),
            None => Err(Problem::unauthorized()),
        }
    }
}

/// How a request uses a tenant's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// They are read.
    Read,
    /// One of them is read, which takes a few microseconds if the file is open.
    ReadOne,
    /// Only those with these keys are changed.
    Write(Vec<Vec<u8>>),
}
