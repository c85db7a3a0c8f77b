//! From a token to a tenant.

use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderMap, StatusCode, header};
use governor::{DefaultDirectRateLimiter, Quota as Rate, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::{Answer, Problem};
use super::recent::Changes;
use super::{Gateway, config};
use crate::tenants::{Presented, Scope, Scopes, State, Tenant, Token, now};

/// Maximum length of an Authorization header that is examined.
const AUTHORIZATION_MAX: usize = 256;

/// A request's right to access the values of one tenant.
pub(super) struct Grant {
    pub tenant: Arc<Tenant>,
    pub runtime: Arc<Runtime>,
    pub quota: Arc<Quota>,
    pub scopes: Scopes,
    /// One of the tenant's concurrent requests.
    _permit: OwnedSemaphorePermit,
}

/// State kept for a tenant that has sent requests.
#[derive(Default)]
pub(super) struct Runtime {
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
pub(super) struct Quota {
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
    /// Returns the number of requests in the last minute.
    pub fn minute(&self) -> u32 {
        self.rate.lock().unwrap_or_else(PoisonError::into_inner).sum()
    }

    /// Returns the limits in effect, with their current use.
    fn quota(&self, limits: config::Limits) -> Arc<Quota> {
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
pub(super) fn suspended() -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "suspended", "this tenant is suspended")
}

/// 403: the token does not allow this.
pub(super) fn forbidden(scope: Scope) -> Problem {
    let detail = format!("this token lacks the scope {}", scope.name());
    Problem::new(StatusCode::FORBIDDEN, "forbidden", detail)
}

impl Gateway {
    /// Returns the tenant that a request's token is for, if it is a tenant's token, allows this,
    /// and is within the limits.
    pub(super) fn admit(&self, headers: &HeaderMap, scope: Scope) -> Answer<Grant> {
        let token = self.token(headers)?;
        let Some(number) = token.tenant else { return Err(forbidden(scope)) };
        let tenant = match self.snapshot().tenants.get(&number) {
            Some(tenant) => Arc::clone(tenant),
            None => return Err(Problem::unauthorized()),
        };
        if tenant.state != State::Active {
            return Err(suspended());
        }
        if !token.scopes.has(scope) {
            return Err(forbidden(scope));
        }
        let runtime = self.runtime(number);
        runtime.rate.lock().unwrap_or_else(PoisonError::into_inner).count();
        let quota = runtime.quota(self.limits_of(&tenant));
        let permit = quota.admit()?;
        Ok(Grant { tenant, runtime, quota, scopes: token.scopes, _permit: permit })
    }

    /// Admits a gateway-wide request, if its token allows this.
    pub(super) fn admit_gateway(&self, headers: &HeaderMap, scope: Scope) -> Answer<()> {
        let token = self.token(headers)?;
        match token.tenant.is_none() && token.scopes.has(scope) {
            true => Ok(()),
            false => Err(forbidden(scope)),
        }
    }

    /// Returns the verified token of a request.
    fn token(&self, headers: &HeaderMap) -> Answer<Token> {
        let shown = bearer(headers).ok_or_else(Problem::unauthorized)?;
        let snapshot = self.snapshot();
        let known = snapshot.tokens.get(&shown.id);
        // First the verification, which takes constant time, then what the token allows.
        if !self.home.registry.proves(&shown, known) {
            return Err(Problem::unauthorized());
        }
        match known {
            Some(token) if token.expires.is_none_or(|expires| now() < expires) => Ok(token.clone()),
            _ => Err(Problem::unauthorized()),
        }
    }

    /// Returns the state kept for a tenant, by number.
    pub(super) fn runtime(&self, number: i64) -> Arc<Runtime> {
        let mut runtimes = self.runtimes.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(runtimes.entry(number).or_default())
    }

    /// Returns the limits of a tenant: its own, else the configured ones.
    pub(super) fn limits_of(&self, tenant: &Tenant) -> config::Limits {
        let default = self.config.limits;
        let own = &tenant.limits;
        config::Limits {
            body_bytes: own.body_bytes.unwrap_or(default.body_bytes),
            depth: own.depth.unwrap_or(default.depth).min(regauge::Limits::DEPTH_CEILING),
            rate: own.rate.unwrap_or(default.rate),
            // A lower rate also means a smaller burst.
            burst: own.rate.unwrap_or(default.burst),
            concurrency: own.concurrency.unwrap_or(default.concurrency),
            ..default
        }
    }
}

/// Returns the only token of a request.
fn bearer(headers: &HeaderMap) -> Option<Presented<'_>> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    // A proxy in front of us could read two of them differently.
    let (Some(value), None) = (all.next(), all.next()) else { return None };
    if value.len() > AUTHORIZATION_MAX {
        return None;
    }
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    match scheme.eq_ignore_ascii_case("bearer") {
        true => Presented::parse(token),
        false => None,
    }
}
