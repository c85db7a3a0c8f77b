//! From a request to a grant.

use std::sync::{Arc, PoisonError};

use axum::http::{HeaderMap, header};

use super::Gateway;
use super::grant::{Grant, Runtime, forbidden, suspended};
use crate::server::http::{Answer, Problem};
use crate::server::operate::config;
use crate::tenants::{Presented, Scope, State, Tenant, Token, now};

/// Maximum length of an Authorization header that is examined.
const AUTHORIZATION_MAX: usize = 256;

impl Gateway {
    /// Returns the tenant that a request's token is for, if it is a tenant's token, allows this,
    /// and is within the limits.
    pub(crate) fn admit(&self, headers: &HeaderMap, scope: Scope) -> Answer<Grant> {
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
        runtime.count();
        let quota = runtime.quota(self.limits_of(&tenant));
        Grant::new(tenant, runtime, quota, token.scopes)
    }

    /// Admits a gateway-wide request, if its token allows this.
    pub(crate) fn admit_gateway(&self, headers: &HeaderMap, scope: Scope) -> Answer<()> {
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
    pub(crate) fn runtime(&self, number: i64) -> Arc<Runtime> {
        let mut runtimes = self.runtimes.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(runtimes.entry(number).or_default())
    }

    /// Returns the limits of a tenant: its own, else the configured ones.
    pub(crate) fn limits_of(&self, tenant: &Tenant) -> config::Limits {
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
