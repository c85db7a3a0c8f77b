//! Every address, the scope it requires, and its handler. A request passes through here before any
//! handler sees it.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use tower_http::catch_panic::CatchPanicLayer;

use super::watch::{self, watch};
use crate::server::gateway::Gateway;
use crate::server::handlers::{admin, batch, listing, objects, page, series};
use crate::server::http::{Answer, Problem};
use crate::server::request::Call;
use crate::tenants::Scope;

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
        // A GET's route answers HEAD, too.
        for route in routes().into_iter().filter(|route| route.method != Method::HEAD) {
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
            .layer(axum::middleware::from_fn_with_state(Arc::clone(self), watch))
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
    let whose = grant.as_ref().map(|grant| watch::Whose(grant.tenant.id.clone()));
    let mut response =
        handler(Call { gateway, grant, request }).await.unwrap_or_else(Problem::into_response);
    if let Some(whose) = whose {
        response.extensions_mut().insert(whose);
    }
    response
}
