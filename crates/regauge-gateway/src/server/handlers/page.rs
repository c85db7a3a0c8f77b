//! Everything that is public: health, the OpenAPI document, and the admin page, which is empty
//! until a token is typed into it.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::json;

use super::admin::answer;
use crate::server::http::{Answer, Problem, reading};
use crate::server::request::Call;

/// The OpenAPI document.
pub const OPENAPI: &str = include_str!("../../../assets/openapi.json");

/// The page loads its own script and style, calls its own server, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

fn fixed(media: &'static str, body: &'static str) -> Answer {
    let mut response = Response::new(Body::from(body));
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    set(header::CONTENT_TYPE, media);
    set(header::CONTENT_SECURITY_POLICY, POLICY);
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::CACHE_CONTROL, "no-cache");
    Ok(response)
}

pub(crate) async fn html(_: Call) -> Answer {
    fixed("text/html; charset=utf-8", include_str!("../../../assets/page.html"))
}

pub(crate) async fn script(_: Call) -> Answer {
    fixed("text/javascript; charset=utf-8", include_str!("../../../assets/page.js"))
}

pub(crate) async fn style(_: Call) -> Answer {
    fixed("text/css; charset=utf-8", include_str!("../../../assets/page.css"))
}

pub(crate) async fn openapi(_: Call) -> Answer {
    fixed("application/json", OPENAPI)
}

/// The process is alive.
pub(crate) async fn health(_: Call) -> Answer {
    Ok(answer(StatusCode::OK, &json!({"status": "ok"})))
}

/// It accepts requests: the registry responds, and nobody has asked it to stop.
pub(crate) async fn ready(call: Call) -> Answer {
    if call.gateway.is_stopping() {
        return Err(Problem::busy("the gateway is stopping"));
    }
    let gateway = std::sync::Arc::clone(&call.gateway);
    call.gateway
        .blocking(move || gateway.home.registry.version().map(|_| ()).map_err(reading))
        .await?;
    Ok(answer(StatusCode::OK, &json!({"status": "ready"})))
}

pub(crate) async fn metrics(call: Call) -> Answer {
    call.query(&[])?;
    let tenants = call.gateway.snapshot().tenants.len();
    let text = call.gateway.metrics.text(tenants, call.gateway.handles.count());
    let mut response = Response::new(Body::from(text));
    let media = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    Ok(response)
}
