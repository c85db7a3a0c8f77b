//! What happens to every request: it gets an ID, is checked, logged and counted. The log contains no
//! token, no key, no body.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use tracing::Instrument as _;

use crate::server::gateway::Gateway;
use crate::server::http::{Problem, Told};
use crate::tenants::{TenantId, now};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Attached to a response: the tenant it is for.
#[derive(Clone)]
pub(crate) struct Whose(pub TenantId);

/// Returns the request's own ID if it is a plain word, else a new one.
fn name(headers: &HeaderMap) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static RANDOM: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let given = headers.get(&REQUEST_ID).and_then(|value| value.to_str().ok());
    let plain = |one: u8| one.is_ascii_alphanumeric() || matches!(one, b'-' | b'_' | b'.');
    match given {
        Some(name) if (1..=64).contains(&name.len()) && name.bytes().all(plain) => name.to_owned(),
        _ => {
            let random = *RANDOM.get_or_init(|| {
                let mut bytes = [0; 8];
                // An ID that is not random still works; it protects nothing.
                let _ = getrandom::fill(&mut bytes);
                u64::from_le_bytes(bytes)
            });
            format!("{random:016x}-{:x}", NEXT.fetch_add(1, Ordering::Relaxed))
        }
    }
}

/// Wraps every request: assigns its ID, rejects what is wrong in any request, logs it, and counts
/// it in the metrics.
pub(crate) async fn watch(
    State(gateway): State<Arc<Gateway>>,
    request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let id = name(request.headers());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let span = tracing::info_span!("request", id = %id);
    let refused = refuse(&request);
    let mut response = match refused {
        Some(problem) => problem.into_response(),
        None => next.run(request).instrument(span).await,
    };
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, value);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));

    let status = response.status();
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    let whose = response.extensions_mut().remove::<Whose>();
    let tenant = whose.as_ref().map_or("", |whose| whose.0.as_str());
    let told = response.extensions_mut().remove::<Told>();
    let took = begun.elapsed();
    gateway.metrics.count(&method, route, status, took);
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    let kind = told.as_ref().map_or("", |told| told.kind);
    if status.is_server_error() {
        let reason = told.as_ref().and_then(|told| told.private.as_deref()).unwrap_or("");
        tracing::error!(
            id, %method, route, tenant, status = status.as_u16(), micros, kind, reason, "failed"
        );
    } else {
        tracing::info!(id, %method, route, tenant, status = status.as_u16(), micros, kind, "done");
    }
    // Shows client errors, except those that anybody can cause without a token.
    if status.is_server_error() || (status.is_client_error() && !tenant.is_empty()) {
        gateway.errors.add(json!({
            "time": now(),
            "request": id,
            "tenant": tenant,
            "method": method.as_str(),
            "route": route,
            "status": status.as_u16(),
            "kind": kind,
        }));
    }
    response
}

/// Rejects what two servers in a chain could interpret differently.
fn refuse(request: &Request) -> Option<Problem> {
    let headers = request.headers();
    if headers.get_all(header::HOST).iter().count() > 1 {
        return Some(Problem::request("found several Host headers, expected one"));
    }
    if headers.get_all(header::CONTENT_LENGTH).iter().count() > 1 {
        return Some(Problem::request("found several Content-Length headers, expected one"));
    }
    if headers.contains_key(header::TRANSFER_ENCODING)
        && headers.contains_key(header::CONTENT_LENGTH)
    {
        return Some(Problem::request(
            "found both Transfer-Encoding and Content-Length, expected one of them",
        ));
    }
    if request.method() == axum::http::Method::CONNECT {
        return Some(Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this is not a proxy"));
    }
    None
}
