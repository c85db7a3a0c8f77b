//! A cached document is never older than the last acknowledged change.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use common::{Request, Server};
use regauge::Format;
use regauge_gateway::tenants::{Place, Scope};

/// Returns how often documents were sent from memory.
async fn from_memory(server: &Server) -> u64 {
    let token = server.token(None, &[Scope::Metrics], None);
    let metrics = server.send(&Request::new("GET", "/metrics", &token)).await.status(200).text();
    let line = metrics.lines().find(|line| line.starts_with("regauge_gateway_recent_total "));
    line.unwrap().split(' ').nth(1).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_to_change_a_value_changes_what_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), |_| ()).await;
    for place in [Place::Own, Place::Shared] {
        let (_, token) = server.both(place.name(), place, "msgpack");
        let path = "/v1/objects/k";
        let get = async |accept: &str| {
            let get = Request::new("GET", path, &token).with("accept", accept);
            // Twice: from the database, from memory.
            let first = server.send(&get).await;
            let second = server.send(&get).await;
            assert_eq!((first.status, &first.body), (second.status, &second.body));
            if first.status == 200 {
                assert_eq!(first.header("etag"), second.header("etag"));
                assert_eq!(first.header("content-type"), second.header("content-type"));
                assert_eq!(second.header("regauge-codec"), Some("msgpack"));
            }
            (first.status, first.text())
        };
        let put = async |text: &str| {
            server.send(&Request::new("PUT", path, &token).json(text)).await;
        };
        put("1").await;
        assert_eq!(get("application/json").await, (200, "1".into()));
        assert_eq!(get("application/cbor").await, (200, "\u{1}".into()));
        put("2").await;
        assert_eq!(get("application/cbor").await, (200, "\u{2}".into()));
        assert_eq!(get("application/json").await, (200, "2".into()));
        let batch = async |operations: &str| {
            let body = format!("{{\"operations\": [{operations}]}}");
            server.send(&Request::new("POST", "/v1/batch", &token).json(&body)).await.status(200);
        };
        batch(r#"{"op": "get", "key": "k"}, {"op": "put", "key": "k", "value": 3}"#).await;
        assert_eq!(get("application/json").await, (200, "3".into()));
        batch(r#"{"op": "delete", "key": "k"}"#).await;
        assert_eq!(get("application/json").await.0, 404);
        put("4").await;
        assert_eq!(get("application/json").await, (200, "4".into()));
        server.send(&Request::new("DELETE", path, &token)).await.status(204);
        assert_eq!(get("application/json").await.0, 404);

        let series = "/v1/series/s/2026-01-02T03:04:05Z";
        for value in ["5", "6"] {
            server.send(&Request::new("PUT", series, &token).json(value)).await;
            for _ in 0..2 {
                let get = Request::new("GET", series, &token).with("accept", "application/json");
                assert_eq!(server.send(&get).await.status(200).text(), value);
            }
        }
    }
    assert!(from_memory(&server).await > 0);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_beside_a_writer_see_no_older_value() {
    let folder = tempfile::tempdir().unwrap();
    let server = Arc::new(Server::start(folder.path(), |_| ()).await);
    let (_, token) = server.both("t", Place::Own, "json");
    let token: Arc<str> = token.into();
    server.send(&Request::new("PUT", "/v1/objects/k", &token).json("0")).await.status(201);
    let acknowledged = Arc::new(AtomicU64::new(0));
    let mut readers = Vec::new();
    for _ in 0..4 {
        let (server, token) = (Arc::clone(&server), Arc::clone(&token));
        let acknowledged = Arc::clone(&acknowledged);
        readers.push(tokio::spawn(async move {
            let mut last = 0;
            while last < 200 {
                let least = acknowledged.load(Ordering::SeqCst).max(last);
                let got = server.send(&Request::new("GET", "/v1/objects/k", &token)).await;
                last = got.status(200).text().parse().unwrap();
                assert!(last >= least, "found {last} after {least}");
            }
        }));
    }
    for number in 1..=200_u64 {
        let text = number.to_string();
        server.send(&Request::new("PUT", "/v1/objects/k", &token).json(&text)).await.status(204);
        acknowledged.store(number, Ordering::SeqCst);
    }
    for reader in readers {
        reader.await.unwrap();
    }
    assert!(from_memory(&server).await > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_writes_into_the_file_is_seen_after_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), |_| ()).await;
    let (tenant, token) = server.both("t", Place::Own, "json");
    let get = Request::new("GET", "/v1/objects/k", &token);
    server.send(&Request::new("PUT", "/v1/objects/k", &token).json("1")).await.status(201);
    for _ in 0..2 {
        assert_eq!(server.send(&get).await.status(200).text(), "1");
    }
    server.gateway.home().store(&tenant).unwrap().put(b"k", b"2", Format::Json).unwrap();
    let written = Instant::now();
    while server.send(&get).await.status(200).text() != "2" {
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(written.elapsed() < Duration::from_secs(15), "the old value is still sent");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_kept_where_that_is_not_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), |config| config.recent_bytes = 0).await;
    let (_, token) = server.both("t", Place::Own, "json");
    server.send(&Request::new("PUT", "/v1/objects/k", &token).json("1")).await.status(201);
    for _ in 0..3 {
        server.send(&Request::new("GET", "/v1/objects/k", &token)).await.status(200);
    }
    assert_eq!(from_memory(&server).await, 0);
    server.stop().await;
}
