//! Every address, the scope it requires, and its handler. A request passes through here before any
//! handler sees it.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use percent_encoding::percent_decode_str;
use regauge::OnLoss;
use tower_http::catch_panic::CatchPanicLayer;
use xxhash_rust::xxh3::Xxh3Default;

use super::body::Taken;
use super::grant::Grant;
use super::idempotency::{self, Next};
use super::problem::{Answer, Problem};
use super::{Gateway, admin, batch, listing, log, objects, page, series};
use crate::tenants::{Scope, TenantId};

/// The longest key, in bytes.
pub(super) const KEY_MAX: usize = 1_024;

/// A request that may be carried out.
pub(super) struct Call {
    pub gateway: Arc<Gateway>,
    /// The tenant; `None` if the token is a gateway token, or none is needed.
    pub grant: Option<Arc<Grant>>,
    pub request: Request,
}

type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// An address and what it does with a request.
pub struct Route {
    /// The method.
    pub method: Method,
    /// The address, as written in OpenAPI and axum, except for the last part of an object's.
    pub path: &'static str,
    /// The scope it requires; `None` if it is public.
    pub scope: Option<Scope>,
    handler: fn(Call) -> Answering,
}

macro_rules! table {
    ($($method:ident $path:literal $scope:expr => $handler:path;)*) => {
        vec![$(Route {
            method: Method::$method,
            path: $path,
            scope: $scope,
            handler: |call| Box::pin($handler(call)),
        }),*]
    };
}

/// Returns every address.
#[must_use]
pub fn routes() -> Vec<Route> {
    use Scope::{Admin, Metrics, Read, Write};
    table! {
        GET "/health" None => page::health;
        GET "/ready" None => page::ready;
        GET "/openapi.json" None => page::openapi;
        GET "/admin" None => page::html;
        GET "/admin/page.js" None => page::script;
        GET "/admin/page.css" None => page::style;
        GET "/metrics" Some(Metrics) => page::metrics;
        GET "/v1/objects" Some(Read) => listing::objects;
        GET "/v1/objects/{key}" Some(Read) => objects::get;
        HEAD "/v1/objects/{key}" Some(Read) => objects::get;
        PUT "/v1/objects/{key}" Some(Write) => objects::put;
        DELETE "/v1/objects/{key}" Some(Write) => objects::delete;
        POST "/v1/batch" Some(Read) => batch::post;
        GET "/v1/series/{name}" Some(Read) => listing::series;
        GET "/v1/series/{name}/{time}" Some(Read) => series::get;
        PUT "/v1/series/{name}/{time}" Some(Write) => series::put;
        DELETE "/v1/series/{name}/{time}" Some(Write) => series::delete;
        GET "/v1/admin/tenants" Some(Admin) => admin::list;
        POST "/v1/admin/tenants" Some(Admin) => admin::create;
        GET "/v1/admin/tenants/{tenant}" Some(Admin) => admin::get;
        PATCH "/v1/admin/tenants/{tenant}" Some(Admin) => admin::change;
        DELETE "/v1/admin/tenants/{tenant}" Some(Admin) => admin::remove;
        GET "/v1/admin/tenants/{tenant}/export" Some(Admin) => listing::export;
        GET "/v1/admin/tenants/{tenant}/tokens" Some(Admin) => admin::tokens;
        POST "/v1/admin/tenants/{tenant}/tokens" Some(Admin) => admin::add_token;
        DELETE "/v1/admin/tenants/{tenant}/tokens/{token}" Some(Admin) => admin::revoke_token;
        POST "/v1/admin/tenants/{tenant}/tokens/{token}/rotate" Some(Admin) => admin::rotate_token;
        GET "/v1/admin/errors" Some(Admin) => admin::errors;
    }
}

impl Gateway {
    /// Builds the service: every address, with tokens, logs and metrics.
    pub fn router(self: &Arc<Gateway>) -> Router {
        let mut paths: HashMap<&'static str, MethodRouter<()>> = HashMap::new();
        for route in routes() {
            // Keys may contain slashes.
            let path = match route.path {
                "/v1/objects/{key}" => "/v1/objects/{*key}",
                other => other,
            };
            let (method, scope, handler) = (route.method.clone(), route.scope, route.handler);
            let gateway = Arc::clone(self);
            let answer = move |request: Request| {
                let gateway = Arc::clone(&gateway);
                async move { admitted(gateway, scope, handler, request).await }
            };
            let filter = MethodFilter::try_from(method).expect("one of the usual methods");
            let router = paths.remove(path).unwrap_or_default();
            paths.insert(path, router.merge(on(filter, answer)));
        }
        let mut router = Router::new();
        for (path, methods) in paths {
            router = router.route(path, methods);
        }
        router
            .method_not_allowed_fallback(|| async { not_allowed() })
            .fallback(|uri: Uri| async move { nowhere(&uri) })
            .layer(CatchPanicLayer::custom(panicked))
            .layer(axum::middleware::from_fn_with_state(Arc::clone(self), log::watch))
    }
}

fn nowhere(uri: &Uri) -> Response {
    Problem::not_found(format!("there is nothing at {}", uri.path().escape_debug())).into_response()
}

fn not_allowed() -> Response {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method",
        "this address does not support this method; Allow lists those it does",
    )
    .into_response()
}

fn panicked(reason: Box<dyn std::any::Any + Send>) -> Response {
    let text = reason.downcast_ref::<String>().cloned();
    let text = text.or_else(|| reason.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    Problem::internal(format!("panicked: {}", text.unwrap_or_default())).into_response()
}

async fn admitted(
    gateway: Arc<Gateway>,
    scope: Option<Scope>,
    handler: fn(Call) -> Answering,
    request: Request,
) -> Response {
    let grant = match scope {
        None => None,
        Some(Scope::Metrics) if gateway.config.metrics_open => None,
        Some(scope) if scope.is_of_tenant() => match gateway.admit(request.headers(), scope) {
            Ok(grant) => Some(Arc::new(grant)),
            Err(problem) => return problem.into_response(),
        },
        Some(scope) => match gateway.admit_gateway(request.headers(), scope) {
            Ok(()) => None,
            Err(problem) => return problem.into_response(),
        },
    };
    let whose = grant.as_ref().map(|grant| log::Whose(grant.tenant.id.clone()));
    let mut response =
        handler(Call { gateway, grant, request }).await.unwrap_or_else(Problem::into_response);
    if let Some(whose) = whose {
        response.extensions_mut().insert(whose);
    }
    response
}

impl Call {
    /// Returns the tenant.
    pub fn grant(&self) -> &Grant {
        self.grant.as_ref().expect("the table asks for a tenant's scope")
    }

    /// Returns the headers.
    pub fn headers(&self) -> &HeaderMap {
        self.request.headers()
    }

    /// Returns the exact bytes of the key in the address. `..` and `//` are part of a key like any
    /// other bytes: it does not name a file.
    pub fn key(&self) -> Answer<Vec<u8>> {
        let raw = self.request.uri().path().strip_prefix("/v1/objects/").unwrap_or_default();
        checked_key(decoded(raw)?)
    }

    /// Returns a part of the address, decoded.
    pub fn part(&self, index: usize) -> Answer<String> {
        let raw = self.request.uri().path().split('/').nth(index + 1).unwrap_or_default();
        String::from_utf8(decoded(raw)?)
            .map_err(|_| Problem::request("found a part of the address that is not UTF-8"))
    }

    /// Returns the tenant in an administrator's address.
    pub fn tenant(&self) -> Answer<TenantId> {
        let name = self.part(3)?;
        name.parse()
            .map_err(|_| Problem::not_found(format!("no such tenant \"{}\"", name.escape_debug())))
    }

    /// Parses the parameters after the `?`, of which only these are known.
    pub fn query(&self, known: &[&str]) -> Answer<Query> {
        let mut values = HashMap::new();
        for pair in self.request.uri().query().unwrap_or_default().split('&') {
            if pair.is_empty() {
                continue;
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !known.contains(&name) {
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(Problem::request(format!(
                    "found parameter \"{}\", expected {known}",
                    name.escape_debug()
                )));
            }
            let value = decoded(&value.replace('+', " "))?;
            if values.insert(name.to_owned(), value).is_some() {
                return Err(Problem::request(format!("found parameter {name} twice")));
            }
        }
        Ok(Query(values))
    }

    /// Reads the body and makes a change; with an Idempotency-Key only once, and to completion even
    /// if the client goes away.
    pub async fn once<F>(
        self,
        is_repeatable: bool,
        body_bytes: u64,
        act: impl FnOnce(Arc<Gateway>, Arc<Grant>, Taken) -> F + Send + 'static,
    ) -> Answer
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        let Call { gateway, grant, request } = self;
        let grant = grant.expect("the table asks for a tenant's scope");
        let (parts, body) = request.into_parts();
        let key = idempotency::key(&parts.headers)?;
        let body = gateway.take(&parts.headers, body, body_bytes).await?;
        let Some(key) = key else { return act(gateway, grant, body).await };

        let mut hasher = Xxh3Default::new();
        for one in [parts.method.as_str(), &parts.uri.to_string()] {
            hasher.update(one.as_bytes());
            hasher.update(b"\0");
        }
        for name in [header::CONTENT_TYPE, header::ACCEPT, header::IF_MATCH, header::IF_NONE_MATCH]
        {
            for value in parts.headers.get_all(&name) {
                hasher.update(value.as_bytes());
                hasher.update(b"\0");
            }
            hasher.update(b"\n");
        }
        hasher.update(&body.bytes);
        let fingerprint = hasher.digest128();
        let done = async move {
            let number = grant.tenant.number;
            let kept = gateway.idempotency.clone();
            let begin = move || kept.begin(number, key, fingerprint, is_repeatable);
            let turn = match gateway.blocking(begin).await? {
                Next::Again(response) => return Ok(response),
                Next::Do(turn) => turn,
            };
            let response = act(Arc::clone(&gateway), grant, body).await;
            let response = response.unwrap_or_else(Problem::into_response);
            let (parts, body) = response.into_parts();
            let bytes = axum::body::to_bytes(body, usize::MAX).await;
            let bytes = bytes.map_err(|error| Problem::internal(error.to_string()))?;
            let (status, headers, answer) = (parts.status, parts.headers.clone(), bytes.clone());
            gateway.blocking(move || turn.end(status, &headers, &answer)).await?;
            Ok(Response::from_parts(parts, Body::from(bytes)))
        };
        let done = tokio::spawn(done).await;
        done.unwrap_or_else(|error| Err(Problem::internal(error.to_string())))
    }
}

/// Parameters of a request.
pub(super) struct Query(HashMap<String, Vec<u8>>);

impl Query {
    /// Returns a parameter's bytes.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// Returns a parameter's text.
    pub fn text(&self, name: &str) -> Answer<Option<&str>> {
        let text = self.bytes(name).map(std::str::from_utf8).transpose();
        text.map_err(|_| Problem::request(format!("parameter {name} is not UTF-8")))
    }

    /// Returns the bytes of a key, or of a key prefix.
    pub fn key_bytes(&self, name: &str) -> Answer<Option<&[u8]>> {
        let bytes = self.bytes(name);
        match bytes {
            Some(bytes) if bytes.len() > KEY_MAX => Err(Problem::request(format!(
                "parameter {name}: found {} bytes, expected at most {KEY_MAX}",
                bytes.len()
            ))),
            _ => Ok(bytes),
        }
    }

    /// Returns a whole number between 1 and `most`.
    pub fn number(&self, name: &str, most: usize) -> Answer<Option<usize>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let digits = !text.is_empty() && text.bytes().all(|one| one.is_ascii_digit());
        let number = text.parse::<usize>().ok().filter(|one| digits && (1..=most).contains(one));
        number.map(Some).ok_or_else(|| {
            let found = text.escape_debug();
            Problem::request(format!(
                "parameter {name}: found \"{found}\", expected a number from 1 to {most}"
            ))
        })
    }

    /// Returns one of a few words; `None` if the parameter is missing.
    pub fn word<T: Copy>(&self, name: &str, known: &[(&str, T)]) -> Answer<Option<T>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let found = known.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        found.map(Some).ok_or_else(|| {
            let words: Vec<_> = known.iter().map(|(word, _)| *word).collect();
            Problem::request(format!(
                "parameter {name}: found \"{}\", expected {}",
                text.escape_debug(),
                words.join(", ")
            ))
        })
    }

    /// Returns the policy for values that a format cannot hold.
    pub fn on_loss(&self) -> Answer<OnLoss> {
        let known = [
            ("refuse", OnLoss::Refuse),
            ("wrap", OnLoss::Wrap),
            ("approximate", OnLoss::Approximate),
        ];
        Ok(self.word("on_loss", &known)?.unwrap_or_default())
    }

    /// Returns whether the input, a body or a stored document, is in the wrapped notation.
    pub fn unwrap(&self) -> Answer<bool> {
        let known = [("true", true), ("false", false)];
        Ok(self.word("unwrap", &known)?.unwrap_or_default())
    }
}

/// Decodes percent-encoded text; every % must be followed by two digits.
pub(super) fn decoded(raw: &str) -> Answer<Vec<u8>> {
    let bytes = raw.as_bytes();
    for (place, _) in raw.match_indices('%') {
        let digits = bytes.get(place + 1..place + 3);
        if !digits.is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit)) {
            return Err(Problem::request(format!(
                "found % without two hexadecimal digits after it, in \"{}\"",
                raw.escape_debug()
            )));
        }
    }
    Ok(percent_decode_str(raw).collect())
}

/// Validates a key.
pub(super) fn checked_key(key: Vec<u8>) -> Answer<Vec<u8>> {
    match key.len() {
        1..=KEY_MAX => Ok(key),
        length => {
            Err(Problem::request(format!("found a key of {length} bytes, expected 1 to {KEY_MAX}")))
        }
    }
}
