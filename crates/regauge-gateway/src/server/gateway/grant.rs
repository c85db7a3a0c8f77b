//! The right to access one tenant's values, within its limits.

use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{StatusCode, header};
use governor::{DefaultDirectRateLimiter, Quota as Rate, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::recent::Changes;
use crate::server::http::{Answer, Problem};
use crate::server::operate::config;
use crate::tenants::{Scope, Scopes, Tenant, now};

/// A request's right to access the values of one tenant.
pub(crate) struct Grant {
    pub tenant: Arc<Tenant>,
    pub runtime: Arc<Runtime>,
    pub quota: Arc<Quota>,
    pub scopes: Scopes,
    /// One of the tenant's concurrent requests.
    _permit: OwnedSemaphorePermit,
}

impl Grant {
    /// Grants it, unless too many requests of the tenant are running.
    pub fn new(
        tenant: Arc<Tenant>,
        runtime: Arc<Runtime>,
        quota: Arc<Quota>,
        scopes: Scopes,
    ) -> Answer<Grant> {
        let permit = quota.admit()?;
        Ok(Grant { tenant, runtime, quota, scopes, _permit: permit })
    }
}

/// State kept for a tenant that has sent requests.
#[derive(Default)]
pub(crate) struct Runtime {
    /// Held shared while the tenant's files are in use; exclusively to move or drop them.
    pub gate: Arc<tokio::sync::RwLock<()>>,
    /// Held by the tenant's writer.
    pub writing: Arc<tokio::sync::Mutex<()>>,
    /// Write counts, for the cache of recent documents.
    pub changes: Arc<Changes>,
    quota: Mutex<Option<Arc<Quota>>>,
    rate: Mutex<Minute>,
}

/// A tenant's limits, and their current use.
pub(crate) struct Quota {
    pub limits: config::Limits,
    limiter: DefaultDirectRateLimiter,
    concurrency: Arc<Semaphore>,
}

/// Requests in the last minute, in six slots.
#[derive(Default)]
struct Minute {
    slots: [u32; 6],
    last: u64,
}

impl Minute {
    const SLOT_SECONDS: u64 = 10;

    fn turn(&mut self) {
        let slot = now().unsigned_abs() / Minute::SLOT_SECONDS;
        for passed in self.last + 1..=slot.min(self.last + 6) {
            self.slots[(passed % 6) as usize] = 0;
        }
        self.last = self.last.max(slot);
    }

    fn count(&mut self) {
        self.turn();
        self.slots[(self.last % 6) as usize] += 1;
    }

    fn sum(&mut self) -> u32 {
        self.turn();
        self.slots.iter().sum()
    }
}

impl Runtime {
    /// Counts a request.
    pub fn count(&self) {
        self.rate.lock().unwrap_or_else(PoisonError::into_inner).count();
    }

    /// Returns the number of requests in the last minute.
    pub fn minute(&self) -> u32 {
        self.rate.lock().unwrap_or_else(PoisonError::into_inner).sum()
    }

    /// Returns the limits in effect, with their current use.
    pub fn quota(&self, limits: config::Limits) -> Arc<Quota> {
        let mut quota = self.quota.lock().unwrap_or_else(PoisonError::into_inner);
        match &*quota {
            Some(quota) if quota.is_for(&limits) => Arc::clone(quota),
            _ => Arc::clone(quota.insert(Arc::new(Quota::new(limits)))),
        }
    }
}

impl Quota {
    fn new(limits: config::Limits) -> Quota {
        let some = |number: u32| std::num::NonZeroU32::new(number.max(1)).expect("at least 1");
        let rate = Rate::per_second(some(limits.rate)).allow_burst(some(limits.burst));
        let concurrency = Arc::new(Semaphore::new(limits.concurrency.max(1) as usize));
        Quota { limits, limiter: RateLimiter::direct(rate), concurrency }
    }

    fn is_for(&self, limits: &config::Limits) -> bool {
        let key = |one: &config::Limits| (one.body_bytes, one.depth, one.rate, one.concurrency);
        key(&self.limits) == key(limits)
    }

    fn admit(&self) -> Answer<OwnedSemaphorePermit> {
        let many = |detail: &str, seconds: u64| {
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "too-many", detail)
                .header(header::RETRY_AFTER, &seconds.to_string())
        };
        if let Err(not_yet) = self.limiter.check() {
            use governor::clock::{Clock as _, DefaultClock};
            let wait = not_yet.wait_time_from(DefaultClock::default().now());
            let detail = format!("this tenant may send {} requests a second", self.limits.rate);
            return Err(many(&detail, wait.as_secs() + 1));
        }
        Arc::clone(&self.concurrency).try_acquire_owned().map_err(|_| {
            let limit = self.limits.concurrency;
            many(&format!("this tenant may have {limit} concurrent requests"), 1)
        })
    }
}

/// 403: the tenant is currently suspended.
pub(crate) fn suspended() -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "suspended", "this tenant is suspended")
}

/// 403: the token does not allow this.
pub(crate) fn forbidden(scope: Scope) -> Problem {
    let detail = format!("this token lacks the scope {}", scope.name());
    Problem::new(StatusCode::FORBIDDEN, "forbidden", detail)
}
