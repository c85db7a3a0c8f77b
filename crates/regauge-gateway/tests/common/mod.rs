//! A gateway on its own port, and a client that sends exactly what it is told.

#![allow(dead_code, reason = "every test file uses a part of it")]

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use regauge_gateway::server::{Config, Gateway, OPENAPI, Running, start};
use regauge_gateway::tenants::{Limits, Place, Scope, Scopes, Tenant, now};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A listening gateway.
pub struct Server {
    pub gateway: Arc<Gateway>,
    pub address: SocketAddr,
    running: Option<Running>,
}

impl Server {
    /// Starts one for a folder, with a configuration that `change` can adjust.
    pub async fn start(folder: &Path, change: impl FnOnce(&mut Config)) -> Server {
        let mut config = Config { data: folder.join("data"), ..Config::default() };
        config.listen = SocketAddr::from(([127, 0, 0, 1], 0));
        change(&mut config);
        // A stopped gateway's last connection may need a moment to release the folder.
        let begun = Instant::now();
        let gateway = loop {
            match Gateway::open(config.clone()) {
                Ok(gateway) => break gateway,
                Err(_) if begun.elapsed() < Duration::from_secs(5) => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(error) => panic!("{error}"),
            }
        };
        let running = start(Arc::clone(&gateway), |router| router).await.unwrap();
        let address = running.address;
        Server { gateway, address, running: Some(running) }
    }

    pub async fn stop(mut self) {
        self.running.take().unwrap().stop().await.unwrap();
    }

    pub fn reload(&self) -> regauge_store::Result {
        self.running.as_ref().unwrap().reload()
    }

    /// Creates a tenant.
    pub fn tenant(&self, id: &str, place: Place, codec: &str) -> Tenant {
        self.tenant_with(id, place, codec, Limits::default())
    }

    pub fn tenant_with(&self, id: &str, place: Place, codec: &str, limits: Limits) -> Tenant {
        let registry = &self.gateway.home().registry;
        let made = registry.create(&id.parse().unwrap(), place, codec.parse().unwrap(), limits);
        let made = made.unwrap();
        self.gateway.refresh().unwrap();
        made
    }

    /// Creates a token that expires in this many seconds.
    pub fn token(&self, tenant: Option<&Tenant>, scopes: &[Scope], seconds: Option<i64>) -> String {
        let registry = &self.gateway.home().registry;
        let expires = seconds.map(|seconds| now() + seconds);
        let (_, text) = registry.add_token(tenant, Scopes::of(scopes), expires).unwrap();
        self.gateway.refresh().unwrap();
        text.reveal().to_owned()
    }

    /// Creates a tenant with a token that may read and write.
    pub fn both(&self, id: &str, place: Place, codec: &str) -> (Tenant, String) {
        let tenant = self.tenant(id, place, codec);
        let token = self.token(Some(&tenant), &[Scope::Read, Scope::Write], None);
        (tenant, token)
    }

    /// Sends a request and reads the answer.
    pub async fn send(&self, request: &Request<'_>) -> Response {
        let answer = raw(self.address, &request.bytes()).await;
        let answer = Response::parse(&answer).unwrap_or_else(|| panic!("no answer to {request:?}"));
        check_told(request, &answer);
        answer
    }
}

/// A request.
#[derive(Clone, Debug, Default)]
pub struct Request<'r> {
    pub method: &'r str,
    pub path: &'r str,
    pub token: &'r str,
    pub headers: Vec<(&'r str, &'r str)>,
    pub body: &'r [u8],
}

impl<'r> Request<'r> {
    pub fn new(method: &'r str, path: &'r str, token: &'r str) -> Request<'r> {
        Request { method, path, token, ..Request::default() }
    }

    #[must_use]
    pub fn with(mut self, name: &'r str, value: &'r str) -> Request<'r> {
        self.headers.push((name, value));
        self
    }

    #[must_use]
    pub fn body(self, media: &'r str, body: &'r [u8]) -> Request<'r> {
        let mut request = self.with("content-type", media);
        request.body = body;
        request
    }

    #[must_use]
    pub fn json(self, body: &'r str) -> Request<'r> {
        self.body("application/json", body.as_bytes())
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nhost: gateway\r\n", self.method, self.path);
        if !self.token.is_empty() {
            head += &format!("authorization: Bearer {}\r\n", self.token);
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if !self.body.is_empty() || matches!(self.method, "PUT" | "POST" | "PATCH") {
            head += &format!("content-length: {}\r\n", self.body.len());
        }
        head += "connection: close\r\n\r\n";
        [head.as_bytes(), self.body].concat()
    }
}

/// Checks that the OpenAPI document describes every answer in every test.
fn check_told(request: &Request<'_>, answer: &Response) {
    static DOCUMENT: LazyLock<serde_json::Value> =
        LazyLock::new(|| serde_json::from_str(OPENAPI).unwrap());
    let path = request.path.split('?').next().unwrap_or_default();
    let fits = |template: &str| match template.strip_suffix("{key}") {
        Some(prefix) => path.len() > prefix.len() && path.starts_with(prefix),
        None => {
            let (ours, theirs): (Vec<_>, Vec<_>) =
                (template.split('/').collect(), path.split('/').collect());
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(our, their)| {
                    our == &their || (our.starts_with('{') && !their.is_empty())
                })
        }
    };
    let paths = DOCUMENT["paths"].as_object().unwrap();
    let Some((template, item)) = paths.iter().find(|(template, _)| fits(template)) else {
        assert_eq!(answer.status, 404, "{request:?}");
        return;
    };
    let Some(operation) = item.get(request.method.to_lowercase()) else {
        assert!(matches!(answer.status, 405 | 200), "{request:?} {}", answer.status);
        return;
    };
    // Answers that are always possible are not listed per operation.
    if answer.status == 500 {
        return;
    }
    let told = &operation["responses"][answer.status.to_string()];
    assert!(!told.is_null(), "{} {template} does not tell of {}", request.method, answer.status);
    let told = match told.get("$ref").and_then(serde_json::Value::as_str) {
        Some(target) => DOCUMENT.pointer(&target[1..]).unwrap(),
        None => told,
    };
    if let Some(media) = answer.header("content-type")
        && request.method != "HEAD"
    {
        let media = media.split(';').next().unwrap();
        assert!(told["content"].get(media).is_some(), "{} {template}: {media}", request.method);
    }
}

/// Sends bytes over a new connection, and returns everything that comes back.
pub async fn raw(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may close before it has read everything.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let _ = tokio::time::timeout(Duration::from_secs(60), read).await.expect("an answer in time");
    answer
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn parse(bytes: &[u8]) -> Option<Response> {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).ok()?;
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let mut response = Response { status, headers, body: bytes[end + 4..].to_vec() };
        if response.header("transfer-encoding") == Some("chunked") {
            response.body = unchunked(&response.body);
        }
        Some(response)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// Checks the status, and shows the answer if it differs.
    #[track_caller]
    pub fn status(self, expected: u16) -> Response {
        assert_eq!(self.status, expected, "{:?}\n{}", self.headers, self.text());
        if self.status >= 400 && !self.body.is_empty() {
            assert_eq!(self.header("content-type"), Some("application/problem+json"));
            assert_eq!(self.json()["status"], expected);
        }
        self
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&bytes[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        let chunk = &bytes[end + 2..];
        if size == 0 || chunk.len() < size {
            break;
        }
        body.extend_from_slice(&chunk[..size]);
        bytes = &chunk[size + 2..];
    }
    body
}

/// Returns all files of a folder and its subfolders, by name.
pub fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    found.sort();
    found
}
