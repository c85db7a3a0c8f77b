//! `/v1/admin`: tenants and tokens, for a token with scope admin.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use regauge::Format;
use regauge_store::{Codec, Error};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::OwnedRwLockWriteGuard;

use crate::member::{object, present, present_object, whole};
use crate::server::gateway::Gateway;
use crate::server::http::{Answer, Problem, media, reading};
use crate::server::request::Call;
use crate::tenants::{
    ID_MAX, Limits, Place, Scope, Scopes, State, Tenant, TenantId, Token, TokenId, TokenText, now,
};

/// Maximum size of an administrator's body in bytes.
const BODY_MAX: u64 = 64 << 10;
/// Tenants per page.
const PAGE: usize = 1_000;
/// Seconds for which a token keeps working after it was rotated, by default.
const OVERLAP_SECONDS: u32 = 3_600;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Create {
    id: String,
    #[serde(default, deserialize_with = "present")]
    place: Option<String>,
    #[serde(default, deserialize_with = "present")]
    codec: Option<String>,
    #[serde(default, deserialize_with = "present_object")]
    limits: Option<Limits>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    #[serde(default, deserialize_with = "present")]
    state: Option<String>,
    #[serde(default, deserialize_with = "present")]
    place: Option<String>,
    #[serde(default, deserialize_with = "present_object")]
    limits: Option<Limits>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddToken {
    scopes: Vec<String>,
    #[serde(default, deserialize_with = "whole")]
    expires_in_seconds: Option<u32>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Rotate {
    #[serde(default, deserialize_with = "whole")]
    overlap_seconds: Option<u32>,
}

/// Builds an uncacheable answer in JSON.
pub(crate) fn answer(status: StatusCode, value: &Value) -> Response {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn nothing() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

async fn body<T: DeserializeOwned>(call: Call) -> Answer<T> {
    media::of_body(call.headers(), &[Format::Json])?;
    let (parts, body) = call.request.into_parts();
    let taken = call.gateway.take(&parts.headers, body, BODY_MAX).await?;
    let mut input = serde_json::Deserializer::from_slice(&taken.bytes);
    let wanted = object(&mut input).and_then(|wanted| input.end().map(|()| wanted));
    wanted.map_err(|error| Problem::request(format!("the body is not what is expected: {error}")))
}

impl Gateway {
    /// Returns a tenant by its name.
    pub(crate) fn known(&self, id: &TenantId) -> Answer<Arc<Tenant>> {
        let found = self.home.registry.find(id).map_err(reading)?;
        found.map(Arc::new).ok_or_else(|| Problem::not_found(format!("no such tenant {id}")))
    }

    fn shown(&self, tenant: &Tenant) -> Value {
        json!({
            "id": tenant.id.as_str(),
            "state": tenant.state.name(),
            "place": tenant.place.name(),
            "codec": tenant.codec.to_string(),
            "created": tenant.created,
            "limits": tenant.limits,
            "file_bytes": self.home.file_bytes(tenant),
            "requests_last_minute": self.runtime(tenant.number).minute(),
        })
    }

    /// Waits until nobody uses a tenant's files, and keeps others out.
    async fn alone(&self, tenant: &Tenant) -> OwnedRwLockWriteGuard<()> {
        Arc::clone(&self.runtime(tenant.number).gate).write_owned().await
    }

    async fn off<T: Send + 'static>(
        self: &Arc<Gateway>,
        act: impl FnOnce(&Gateway) -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let gateway = Arc::clone(self);
        self.blocking(move || act(&gateway)).await
    }
}

pub(crate) async fn list(call: Call) -> Answer {
    let query = call.query(&["after", "limit"])?;
    let limit = query.number("limit", PAGE)?.unwrap_or(100);
    let after = query.text("after")?.map(str::to_owned);
    if let Some(after) = after.as_deref().filter(|after| after.len() > ID_MAX) {
        return Err(Problem::request(format!(
            "parameter after: found {} bytes, expected the name of a tenant, at most {}",
            after.len(),
            ID_MAX
        )));
    }
    call.gateway
        .off(move |gateway| {
            let found = gateway.home.registry.list(after.as_deref(), limit + 1).map_err(reading)?;
            let next = (found.len() > limit).then(|| found[limit - 1].id.as_str().to_owned());
            let shown: Vec<_> =
                found.iter().take(limit).map(|tenant| gateway.shown(tenant)).collect();
            let value = json!({
                "tenants": shown,
                "next": next,
                "open_tenants": gateway.handles.count(),
            });
            Ok(answer(StatusCode::OK, &value))
        })
        .await
}

pub(crate) async fn create(call: Call) -> Answer {
    let gateway = Arc::clone(&call.gateway);
    let wanted: Create = body(call).await?;
    let defaults = &gateway.config.tenants;
    let id: TenantId = wanted.id.parse().map_err(reading)?;
    let place = parsed(wanted.place.as_deref(), defaults.place)?;
    let codec: Codec = parsed(wanted.codec.as_deref(), defaults.codec)?;
    let limits = wanted.limits.unwrap_or_default();
    limits.check().map_err(reading)?;
    gateway
        .off(move |gateway| {
            let registry = &gateway.home.registry;
            let tenant = registry.create(&id, place, codec, limits).map_err(reading)?;
            gateway.refresh().map_err(reading)?;
            Ok(answer(StatusCode::CREATED, &gateway.shown(&tenant)))
        })
        .await
}

fn parsed<T: std::str::FromStr<Err = Error>>(text: Option<&str>, default: T) -> Answer<T> {
    text.map_or(Ok(default), |text| text.parse().map_err(reading))
}

pub(crate) async fn get(call: Call) -> Answer {
    call.query(&[])?;
    let id = call.tenant()?;
    let tenant = call.gateway.known(&id)?;
    let gate = Arc::clone(&call.gateway.runtime(tenant.number).gate).read_owned().await;
    call.gateway
        .off(move |gateway| {
            let _gate = gate;
            let tenant = gateway.known(&id)?;
            let limits = gateway.limits_of(&tenant);
            let (values, bytes) =
                gateway.handles.get(&tenant).with(&gateway.home, limits, |store| {
                    let layout = store.settings().layout.clone();
                    match store.engine().has_table(&layout.table).map_err(reading)? {
                        true => store.engine().count(&layout).map_err(reading),
                        false => Ok((0, 0)),
                    }
                })?;
            let mut shown = gateway.shown(&tenant);
            shown["values"] = json!(values);
            shown["stored_bytes"] = json!(bytes);
            Ok(answer(StatusCode::OK, &shown))
        })
        .await
}

pub(crate) async fn change(call: Call) -> Answer {
    let id = call.tenant()?;
    let gateway = Arc::clone(&call.gateway);
    let wanted: Change = body(call).await?;
    let tenant = gateway.known(&id)?;
    let state = match wanted.state.as_deref() {
        None => None,
        Some("active") => Some(State::Active),
        Some("suspended") => Some(State::Suspended),
        Some(_) => return Err(Problem::request("state: expected active or suspended")),
    };
    let place: Option<Place> =
        wanted.place.as_deref().map(str::parse).transpose().map_err(reading)?;
    // A change of place has to wait; suspending a tenant does not.
    let alone = match place {
        Some(_) => Some(gateway.alone(&tenant).await),
        None => None,
    };
    gateway
        .off(move |gateway| {
            let _alone = alone;
            let registry = &gateway.home.registry;
            if let Some(limits) = wanted.limits {
                registry.set_limits(&id, limits).map_err(reading)?;
            }
            if let Some(state) = state {
                registry.set_state(&id, state).map_err(reading)?;
            }
            gateway.refresh().map_err(reading)?;
            let mut moved = None;
            if let Some(place) = place.filter(|place| *place != tenant.place) {
                gateway.handles.close(tenant.number);
                let done = gateway.home.move_tenant(&gateway.lock, &id, place);
                gateway.refresh().map_err(reading)?;
                moved = Some(done.map_err(reading)?);
            }
            let mut shown = gateway.shown(&*gateway.known(&id)?);
            if let Some(moved) = moved {
                shown["moved"] = json!({"values": moved.values, "bytes": moved.bytes});
            }
            Ok(answer(StatusCode::OK, &shown))
        })
        .await
}

pub(crate) async fn remove(call: Call) -> Answer {
    let id = call.tenant()?;
    let gateway = call.gateway;
    let tenant = gateway.known(&id)?;
    let number = tenant.number;
    let name = id.clone();
    gateway
        .off(move |gateway| {
            gateway.home.registry.set_state(&name, State::Dropping).map_err(reading)?;
            gateway.refresh().map_err(reading)
        })
        .await?;
    let alone = gateway.alone(&tenant).await;
    gateway
        .off(move |gateway| {
            let _alone = alone;
            gateway.handles.close(number);
            gateway.home.drop_tenant(&gateway.lock, &id).map_err(reading)?;
            gateway.idempotency.forget(number)?;
            gateway.refresh().map_err(reading)?;
            Ok(nothing())
        })
        .await
}

fn token_shown(token: &Token) -> Value {
    let scopes: Vec<_> = token.scopes.iter().map(Scope::name).collect();
    json!({
        "id": token.id.to_string(),
        "scopes": scopes,
        "created": token.created,
        "expires": token.expires,
    })
}

/// Builds the answer for a new token, including its text.
fn made((token, text): &(Token, TokenText)) -> Response {
    let mut shown = token_shown(token);
    shown["token"] = json!(text.reveal());
    answer(StatusCode::CREATED, &shown)
}

pub(crate) async fn tokens(call: Call) -> Answer {
    call.query(&[])?;
    let id = call.tenant()?;
    call.gateway
        .off(move |gateway| {
            let tenant = gateway.known(&id)?;
            let found = gateway.home.registry.tokens(Some(&*tenant)).map_err(reading)?;
            let shown: Vec<_> = found.iter().map(token_shown).collect();
            Ok(answer(StatusCode::OK, &json!({"tokens": shown})))
        })
        .await
}

pub(crate) async fn add_token(call: Call) -> Answer {
    let id = call.tenant()?;
    let gateway = Arc::clone(&call.gateway);
    let wanted: AddToken = body(call).await?;
    let scopes: Scopes = wanted.scopes.join(",").parse().map_err(reading)?;
    if wanted.expires_in_seconds == Some(0) {
        return Err(Problem::request("expires_in_seconds: found 0, expected at least 1"));
    }
    gateway
        .off(move |gateway| {
            let tenant = gateway.known(&id)?;
            let expires = wanted.expires_in_seconds.map(|seconds| now() + i64::from(seconds));
            let registry = &gateway.home.registry;
            let token = registry.add_token(Some(&*tenant), scopes, expires).map_err(reading)?;
            gateway.refresh().map_err(reading)?;
            Ok(made(&token))
        })
        .await
}

fn token_id(call: &Call) -> Answer<TokenId> {
    let text = call.part(5)?;
    text.parse().map_err(|_| no_token(&text))
}

fn no_token(id: &str) -> Problem {
    Problem::not_found(format!("the tenant has no token \"{}\"", id.escape_debug()))
}

pub(crate) async fn revoke_token(call: Call) -> Answer {
    let (id, token) = (call.tenant()?, token_id(&call)?);
    call.gateway
        .off(move |gateway| {
            let tenant = gateway.known(&id)?;
            let registry = &gateway.home.registry;
            let gone = registry.revoke_token(Some(&*tenant), token).map_err(reading)?;
            gateway.refresh().map_err(reading)?;
            if gone { Ok(nothing()) } else { Err(no_token(&token.to_string())) }
        })
        .await
}

pub(crate) async fn rotate_token(call: Call) -> Answer {
    let (id, token) = (call.tenant()?, token_id(&call)?);
    let gateway = Arc::clone(&call.gateway);
    let wanted: Rotate = match call.headers().contains_key(header::CONTENT_TYPE) {
        true => body(call).await?,
        false => Rotate::default(),
    };
    gateway
        .off(move |gateway| {
            let tenant = gateway.known(&id)?;
            let until = now() + i64::from(wanted.overlap_seconds.unwrap_or(OVERLAP_SECONDS));
            let registry = &gateway.home.registry;
            let rotated = match registry.rotate_token(Some(&*tenant), token, until) {
                Err(Error::Absent(_)) => return Err(no_token(&token.to_string())),
                other => other.map_err(reading)?,
            };
            gateway.refresh().map_err(reading)?;
            Ok(made(&rotated))
        })
        .await
}

pub(crate) async fn errors(call: Call) -> Answer {
    call.query(&[])?;
    Ok(answer(StatusCode::OK, &json!({"errors": call.gateway.errors.list()})))
}
