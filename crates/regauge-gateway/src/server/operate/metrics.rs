//! Metrics for Prometheus. No label names a tenant: ten thousand of them would make ten thousand
//! series. The admin page shows a tenant's numbers.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    method: &'static str,
    route: String,
}

/// The metrics.
pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    requests: Family<Labels, Counter>,
    seconds: Family<RouteLabels, Histogram, fn() -> Histogram>,
    recent: Counter,
    open_tenants: Gauge,
    tenants: Gauge,
    connections: Gauge,
}

/// Returns the label of a method; unknown methods from clients get none.
fn label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "PUT" => "PUT",
        "POST" => "POST",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        _ => "other",
    }
}

fn histogram() -> Histogram {
    // 0.1 ms to 3.3 s.
    Histogram::new(exponential_buckets(0.0001, 2.0, 16))
}

impl Metrics {
    pub fn new() -> Metrics {
        let mut registry = Registry::with_prefix("regauge_gateway");
        let requests = Family::default();
        let seconds: Family<RouteLabels, Histogram, fn() -> Histogram> =
            Family::new_with_constructor(histogram);
        let recent = Counter::default();
        let (open_tenants, tenants, connections) =
            (Gauge::default(), Gauge::default(), Gauge::default());
        registry.register("requests", "Requests answered", requests.clone());
        registry.register("request_seconds", "Response time", seconds.clone());
        registry.register("recent", "Documents sent from memory", recent.clone());
        registry.register("open_tenants", "Tenants whose files are open", open_tenants.clone());
        registry.register("tenants", "Tenants", tenants.clone());
        registry.register("connections", "Connections", connections.clone());
        let registry = Mutex::new(registry);
        Metrics { registry, requests, seconds, recent, open_tenants, tenants, connections }
    }

    pub fn count(&self, method: &Method, route: &str, status: StatusCode, took: Duration) {
        let method = label(method);
        let route = route.to_owned();
        self.requests
            .get_or_create(&Labels { method, route: route.clone(), status: status.as_u16() })
            .inc();
        self.seconds.get_or_create(&RouteLabels { method, route }).observe(took.as_secs_f64());
    }

    /// Counts a document sent from memory.
    pub fn recent(&self) {
        self.recent.inc();
    }

    /// Counts a connection; the gauge goes down when the guard is dropped.
    pub fn connection(&self) -> Connected {
        self.connections.inc();
        Connected(self.connections.clone())
    }

    /// Returns the metrics as text.
    pub fn text(&self, tenants: usize, open: usize) -> String {
        self.tenants.set(i64::try_from(tenants).unwrap_or(i64::MAX));
        self.open_tenants.set(i64::try_from(open).unwrap_or(i64::MAX));
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing to a string does not fail.
        let _ = encode(&mut text, &registry);
        text
    }
}

/// A counted connection.
pub(crate) struct Connected(Gauge);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.dec();
    }
}
