//! Open stores of the most recently used tenants, up to a limit.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use regauge_store::Store;

use crate::server::http::{Answer, reading};
use crate::server::operate::IDLE_MAX;
use crate::server::operate::config::Limits;
use crate::tenants::{Home, Place, Tenant};

/// The open tenants.
pub(crate) struct Handles {
    home: Arc<Home>,
    open: Mutex<LruCache<i64, Arc<Handle>>>,
}

/// The open stores of one tenant.
pub(crate) struct Handle {
    tenant: Arc<Tenant>,
    idle: Mutex<Vec<Store>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Handles {
    pub fn new(home: Arc<Home>, limit: usize) -> Handles {
        let limit = NonZeroUsize::new(limit).unwrap_or(NonZeroUsize::MIN);
        Handles { home, open: Mutex::new(LruCache::new(limit)) }
    }

    /// Returns the stores of a tenant; if too many tenants are open, closes those of the least
    /// recently used. May wait for a disk.
    pub fn get(&self, tenant: &Arc<Tenant>) -> Arc<Handle> {
        let mut open = locked(&self.open);
        if let Some(handle) = open.get(&tenant.number)
            && handle.tenant.place == tenant.place
        {
            return Arc::clone(handle);
        }
        let handle = Arc::new(Handle { tenant: Arc::clone(tenant), idle: Mutex::new(Vec::new()) });
        let pushed_out = open.push(tenant.number, Arc::clone(&handle));
        // Files are closed after the lock on the list is released.
        drop(open);
        drop(pushed_out);
        handle
    }

    /// Returns the stores of a tenant, if one is open and idle.
    pub fn warm(&self, tenant: &Tenant) -> Option<Arc<Handle>> {
        let mut open = locked(&self.open);
        let handle = open.get(&tenant.number)?;
        let is_warm = handle.tenant.place == tenant.place
            && !locked(&handle.idle).is_empty()
            && (tenant.place == Place::Own || self.home.shared_is_warm());
        is_warm.then(|| Arc::clone(handle))
    }

    /// Closes a tenant's stores.
    pub fn close(&self, number: i64) {
        let closed = locked(&self.open).pop(&number);
        drop(closed);
    }

    /// Returns how many tenants are open.
    pub fn count(&self) -> usize {
        locked(&self.open).len()
    }
}

impl Handle {
    /// Runs a function with a store of this tenant, opening one if none is idle.
    pub fn with<T>(
        &self,
        home: &Home,
        limits: Limits,
        act: impl FnOnce(&mut Store) -> Answer<T>,
    ) -> Answer<T> {
        let lent = locked(&self.idle).pop();
        let mut store = match lent {
            Some(store) => store,
            None => home.store(&self.tenant).map_err(reading)?,
        };
        // Stored values are readable whatever the current limits are.
        store.limits = regauge::Limits::default();
        store.limits.depth = regauge::Limits::DEPTH_CEILING;
        store.limits.record_bytes = limits.converted_bytes;
        (store.on_loss, store.unwrap) = (regauge::OnLoss::Refuse, false);
        let done = act(&mut store);
        let mut idle = locked(&self.idle);
        if idle.len() < IDLE_MAX {
            idle.push(store);
        }
        done
    }
}
