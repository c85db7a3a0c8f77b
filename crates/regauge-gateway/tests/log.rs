//! The log's contents, and that it leaks no secrets.

mod common;

use std::io;
use std::sync::{Arc, Mutex};

use common::{Request, Server};
use regauge_gateway::tenants::{Place, Scope};

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_is_a_line_without_tokens_keys_and_bodies() {
    let written = Written::default();
    let writer = written.clone();
    tracing_subscriber::fmt()
        .json()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .init();
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), |_| ()).await;
    let (tenant, token) = server.both("acme", Place::Own, "json");
    let admin = server.token(None, &[Scope::Admin], None);
    let path = "/v1/objects/private-key";
    let put = Request::new("PUT", path, &token).json("\"private-body\"");
    server.send(&put.with("x-request-id", "put-1")).await.status(201);
    server.send(&Request::new("GET", path, &token)).await.status(200);
    server.send(&Request::new("PUT", path, &token).json("{\"private-body\":")).await.status(400);
    let broken = format!("{}x", &token[..token.len() - 1]);
    server.send(&Request::new("GET", path, &broken)).await.status(401);
    server.send(&Request::new("GET", "/v1/objects?prefix=private-key", &token)).await.status(200);
    let tokens = format!("/v1/admin/tenants/{}/tokens", tenant.id);
    let made = Request::new("POST", &tokens, &admin).json("{\"scopes\":[\"read\"]}");
    let made = server.send(&made).await.status(201).json()["token"].as_str().unwrap().to_owned();
    server.stop().await;

    let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    for secret in [&token[21..], &admin[21..], &made[21..], &broken[21..60]] {
        assert!(!text.contains(secret), "{text}");
    }
    assert!(!text.contains("private-"), "{text}");
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let put = lines.iter().find(|line| line["fields"]["id"] == "put-1").expect("a line for it");
    let fields = &put["fields"];
    assert_eq!((&fields["tenant"], &fields["status"]), (&"acme".into(), &201.into()));
    assert_eq!(fields["route"], "/v1/objects/{*key}");
    let refused = lines.iter().find(|line| line["fields"]["status"] == 401).unwrap();
    assert_eq!(
        (&refused["fields"]["tenant"], &refused["fields"]["kind"]),
        (&"".into(), &"unauthorized".into())
    );
}
