//! An admitted request, as a handler gets it.

use std::future::Future;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use xxhash_rust::xxh3::Xxh3Default;

use super::body::Taken;
use super::query::{Query, checked_key, decoded};
use crate::server::gateway::{Gateway, Grant, Next, idempotency_key};
use crate::server::http::{Answer, Problem};
use crate::tenants::TenantId;

/// A request that may be carried out.
pub(crate) struct Call {
    pub gateway: Arc<Gateway>,
    /// The tenant; `None` if the token is a gateway token, or none is needed.
    pub grant: Option<Arc<Grant>>,
    pub request: Request,
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
        Query::parse(self.request.uri().query().unwrap_or_default(), known)
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
        let key = idempotency_key(&parts.headers)?;
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
