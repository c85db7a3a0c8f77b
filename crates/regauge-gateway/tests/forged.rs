//! More than ten thousand unauthorized requests: none may read or change a byte of a tenant.

mod common;

use std::path::Path;

use common::{Request, Response, Server, files, raw};
use regauge_gateway::tenants::{Place, Scope, State};

const CANARY: &str = "CANARY-6f1d0c";
/// Requests without a working token.
const UNPROVED: usize = 12_000;
/// Requests with a working token, for somebody else's values.
const STRANGERS: usize = 4_000;
/// Concurrent requests.
const AT_ONCE: usize = 8;

/// Random numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }
}

const METHODS: [&str; 9] =
    ["GET", "HEAD", "PUT", "DELETE", "POST", "PATCH", "OPTIONS", "TRACE", "get"];

/// Where an attacker would look for the values of alice, or for a way around the tokens.
const PATHS: [&str; 52] = [
    "/v1/objects/secret/1",
    "/v1/objects/secret%2F1",
    "/v1/objects/secret%2f1?on_loss=wrap",
    "/v1/objects/../alice/secret/1",
    "/v1/objects/../../tenants/alice.db",
    "/v1/objects/%2e%2e/%2e%2e/tenants/alice.db",
    "/v1/objects/%2e%2e%2f%2e%2e%2ftenants%2falice.db",
    "/v1/objects/..%5c..%5ctenants%5calice.db",
    "/v1/objects/%252e%252e/secret/1",
    "/v1/objects//secret/1",
    "/v1//objects/secret/1",
    "//v1/objects/secret/1",
    "/v1/objects/./secret/1",
    "/v1/./objects/secret/1",
    "/v1/objects/secret/1/",
    "/v1/objects/secret/1%00",
    "/v1/objects/%00secret/1",
    "/v1/objects/%00%00%00%00%00%00%00%01secret/1",
    "/v1/objects/%C0%AE%C0%AE/secret/1",
    "/v1/objects/secret/1;tenant=alice",
    "/v1/objects/secret/1?tenant=alice",
    "/v1/objects/secret/1#alice",
    "/v1/objects/alice/secret/1",
    "/v1/objects?prefix=secret&values=true",
    "/v1/objects?prefix=",
    "/v1/objects?prefix=%00%00%00%00%00%00%00%01",
    "/v1/objects?after=%00&order=descending&values=true",
    "/v1/batch",
    "/v1/series/secret",
    "/v1/series/secret/0",
    "/v1/series/..%2Falice/0",
    "/v1/admin/tenants",
    "/v1/admin/tenants/alice",
    "/v1/admin/tenants/alice/export",
    "/v1/admin/tenants/alice/tokens",
    "/v1/admin/tenants/..%2f..%2fserver.key/export",
    "/v1/admin/tenants/carol/export?on_loss=wrap",
    "/v1/admin/errors",
    "/metrics",
    "/admin/../v1/objects/secret/1",
    "/health/../v1/objects/secret/1",
    "/openapi.json/../v1/admin/tenants",
    "/tenants/alice.db",
    "/server.key",
    "/..%2fserver.key",
    "/data/server.key",
    "http://alice/v1/objects/secret/1",
    "http://gateway/v1/objects/secret/1",
    "http://127.0.0.1/v1/admin/tenants/alice/export",
    "HTTP://gateway:80/v1/objects?prefix=&values=true",
    "*",
    "gateway:443",
];

/// Real client requests: a forged token gets no further with these.
const REAL: [(&str, &str); 10] = [
    ("GET", "/v1/objects/secret/1"),
    ("HEAD", "/v1/objects/secret/2"),
    ("PUT", "/v1/objects/secret/1"),
    ("DELETE", "/v1/objects/secret/2"),
    ("GET", "/v1/objects?prefix=secret&values=true"),
    ("POST", "/v1/batch"),
    ("GET", "/v1/series/secret"),
    ("PUT", "/v1/series/secret/0"),
    ("GET", "/v1/admin/tenants/alice/export"),
    ("DELETE", "/v1/admin/tenants/alice"),
];

const BATCH: &str = r#"{"operations":[{"op":"get","key":"secret/1"},{"op":"delete","key":"secret/1"},{"op":"put","key":"secret/1","value":"forged"}]}"#;

/// Headers that a proxy in front of us might trust.
const HEADERS: [&str; 20] = [
    "",
    "x-tenant: alice\r\n",
    "x-forwarded-user: alice\r\n",
    "x-remote-user: alice\r\n",
    "x-original-url: /v1/admin/tenants/alice/export\r\n",
    "x-rewrite-url: /v1/objects/secret/1\r\n",
    "x-http-method-override: GET\r\n",
    "x-forwarded-for: 127.0.0.1\r\n",
    "forwarded: for=127.0.0.1;host=alice\r\n",
    "host: alice\r\n",
    "cookie: token=alice; tenant=alice\r\n",
    "connection: authorization\r\n",
    "content-length: 0\r\ncontent-length: 41\r\n",
    "content-length: +5\r\n",
    "transfer-encoding: chunked\r\ncontent-length: 5\r\n",
    "transfer-encoding: identity, chunked\r\n",
    "transfer-encoding : chunked\r\n",
    "transfer-encoding: xchunked\r\n",
    "if-match: *\r\nif-none-match: *\r\n",
    "idempotency-key: forged\r\nexpect: 100-continue\r\n",
];

struct World {
    /// Working tokens of alice and carol; the forger never has a whole one.
    victims: Vec<String>,
    /// Tokens that worked once, or work for something else.
    dead: Vec<String>,
    /// Working tokens of other tenants, and of the gateway without admin.
    strangers: Vec<String>,
}

/// Returns a token that is almost valid, or used to be.
fn broken_token(numbers: &mut Numbers, world: &World) -> Vec<u8> {
    let good = numbers.one(&world.victims).clone().into_bytes();
    let other = numbers.one(&world.strangers).clone().into_bytes();
    match numbers.below(12) {
        0 => good[..numbers.below(good.len())].to_vec(),
        1 => [&good[..], &[*numbers.one(b"Aa0-_=.,/")]].concat(),
        2 | 3 => {
            let mut flipped = good;
            let at = numbers.below(flipped.len());
            flipped[at] ^= 1 << numbers.below(8);
            flipped
        }
        4 => {
            // The number of one token and the secret of another.
            let (at, from) = (position(&good), position(&other));
            [&good[..at], &other[from..]].concat()
        }
        5 => good.to_ascii_uppercase(),
        6 => numbers.one(&world.dead).clone().into_bytes(),
        7 => (0..64).map(|_| *numbers.one(b"abcdef0123456789rgt_.-")).collect(),
        8 => [&good[..20], b"\0", &good[20..]].concat(),
        9 => {
            let mut swapped = good;
            let (one, two) = (numbers.below(swapped.len() - 1), swapped.len() - 1);
            swapped.swap(one, two);
            swapped
        }
        10 => b"' OR '1'='1".to_vec(),
        _ => [&b"rgt_"[..], &good[4..20], b"."].concat(),
    }
}

fn position(token: &[u8]) -> usize {
    token.iter().position(|byte| *byte == b'.').unwrap()
}

/// Returns header lines that should authenticate, but do not.
fn unproved(numbers: &mut Numbers, world: &World) -> Vec<u8> {
    let mut broken = broken_token(numbers, world);
    if world.victims.iter().any(|good| good.as_bytes() == broken) {
        // A swap of identical characters.
        broken.push(b'x');
    }
    let good = numbers.one(&world.victims).as_bytes();
    let line = |parts: &[&[u8]]| parts.concat();
    match numbers.below(14) {
        0 => Vec::new(),
        1 => line(&[b"authorization: Basic ", good, b"\r\n"]),
        2 => line(&[b"authorization: ", good, b"\r\n"]),
        3 => line(&[b"x-authorization: Bearer ", good, b"\r\n"]),
        4 => line(&[b"proxy-authorization: Bearer ", good, b"\r\n"]),
        5 => line(&[b"cookie: authorization=Bearer ", good, b"\r\n"]),
        6 => line(&[b"authorization: Bearer ", good, b"\r\nauthorization: Bearer ", good, b"\r\n"]),
        7 => line(&[b"authorization: Bearer x\r\nauthorization: Bearer ", good, b"\r\n"]),
        8 => line(&[b"authorization: Bearer  ", good, b"\r\n"]),
        9 => line(&[b"authorization: Bearer ", good, b", Bearer ", good, b"\r\n"]),
        10 => line(&[b"authorization: Bearer ", good, b"\0\r\n"]),
        _ => line(&[b"authorization: Bearer ", &broken, b"\r\n"]),
    }
}

fn request(numbers: &mut Numbers, proof: &[u8]) -> Vec<u8> {
    let (method, path, headers) = if numbers.below(2) == 0 {
        let (method, path) = *numbers.one(&REAL);
        (method, path, "")
    } else {
        (*numbers.one(&METHODS), *numbers.one(&PATHS), *numbers.one(&HEADERS))
    };
    let body = if path == "/v1/batch" { BATCH } else { "{\"forged\":true}" };
    let mut all = format!("{method} {path} HTTP/1.1\r\nhost: gateway\r\n").into_bytes();
    if numbers.below(40) == 0 {
        // A stray byte, anywhere in the first line.
        let at = numbers.below(all.len());
        all[at] = *numbers.one(&[0, b'\r', b'\n', b' ', 0x80, 0xFF]);
    }
    all.extend_from_slice(proof);
    all.extend_from_slice(headers.as_bytes());
    all.extend_from_slice(b"content-type: application/json\r\naccept: */*\r\n");
    if !headers.contains("content-length") && !headers.contains("transfer-encoding") {
        all.extend_from_slice(format!("content-length: {}\r\n", body.len()).as_bytes());
    }
    all.extend_from_slice(b"connection: close\r\n\r\n");
    if headers.contains("chunked") {
        // What follows the end is another request to a server that counts differently.
        let smuggled = "0\r\n\r\nGET /v1/objects/secret/1 HTTP/1.1\r\nhost: gateway\r\n\r\n";
        all.extend_from_slice(format!("{:x}\r\n{body}\r\n{smuggled}", body.len()).as_bytes());
    } else {
        all.extend_from_slice(body.as_bytes());
    }
    all
}

fn holds(answer: &[u8], text: &str) -> bool {
    answer.windows(text.len()).any(|part| part == text.as_bytes())
}

/// Sends all requests, and returns them with their answers.
async fn send_all(server: &Server, requests: Vec<Vec<u8>>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut done = Vec::with_capacity(requests.len());
    for part in requests.chunks(AT_ONCE) {
        let running: Vec<_> = part
            .iter()
            .cloned()
            .map(|one| {
                let address = server.address;
                tokio::spawn(async move {
                    let answer = raw(address, &one).await;
                    (one, answer)
                })
            })
            .collect();
        for one in running {
            done.push(one.await.unwrap());
        }
    }
    done
}

/// Returns the files that hold values: of all tenants, or of one.
fn values(folder: &Path, of: &str) -> Vec<(String, Vec<u8>)> {
    let wanted = |name: &str| {
        name.contains(of) && (name.contains("/tenants/") || name.contains("shared.db"))
            // Readers leave marks in the -shm file: it holds no values.
            && !name.ends_with("-shm")
    };
    files(&folder.join("data")).into_iter().filter(|(name, _)| wanted(name)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forged_requests_read_nothing_and_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), |config| {
        // No request is stopped by a limit: only by its lack of authorization.
        config.limits.rate = 1_000_000;
        config.limits.burst = 1_000_000;
        config.connections.header_seconds = 2;
        config.connections.body_seconds = 2;
    })
    .await;
    let (alice, alice_token) = server.both("alice", Place::Own, "msgpack");
    let (_, carol_token) = server.both("carol", Place::Shared, "json+zstd");
    let (bob, bob_token) = server.both("bob", Place::Own, "json");
    let (_, dave_token) = server.both("dave", Place::Shared, "json");
    let (erin, erin_token) = server.both("erin", Place::Own, "json");
    let canary = format!("{{\"canary\":\"{CANARY}\"}}");
    for token in [&alice_token, &carol_token, &erin_token] {
        for path in ["/v1/objects/secret/1", "/v1/objects/secret/2", "/v1/series/secret/0"] {
            let put = Request::new("PUT", path, token).json(&canary);
            server.send(&put).await.status(201);
        }
        let got = server.send(&Request::new("GET", "/v1/objects/secret/1", token)).await;
        assert!(holds(&got.status(200).body, CANARY), "the canary is there to be found");
    }
    let registry = &server.gateway.home().registry;
    registry.set_state(&erin.id, State::Suspended).unwrap();
    let expired = server.token(Some(&alice), &[Scope::Read, Scope::Write], Some(0));
    let revoked = server.token(Some(&alice), &[Scope::Read, Scope::Write], None);
    let rotated = server.token(Some(&alice), &[Scope::Read, Scope::Write], None);
    let number = |token: &str| token[4..20].parse().unwrap();
    assert!(registry.revoke_token(Some(&alice), number(&revoked)).unwrap());
    let now = regauge_gateway::tenants::now();
    registry.rotate_token(Some(&alice), number(&rotated), now).unwrap();
    // Made with the key of another server.
    let elsewhere = {
        let other = tempfile::tempdir().unwrap();
        let server = Server::start(other.path(), |_| ()).await;
        let token = server.both("alice", Place::Own, "json").1;
        server.stop().await;
        token
    };
    let metrics = server.token(None, &[Scope::Metrics], None);
    let world = World {
        victims: vec![alice_token.clone(), carol_token.clone()],
        dead: vec![expired, revoked, rotated, elsewhere, erin_token],
        strangers: vec![bob_token.clone(), dave_token, metrics],
    };

    let before = values(folder.path(), "");
    assert!(before.len() >= 6, "the files of three tenants and the shared one: {}", before.len());
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let requests: Vec<Vec<u8>> = (0..UNPROVED)
        .map(|_| {
            let proof = unproved(&mut numbers, &world);
            request(&mut numbers, &proof)
        })
        .collect();
    let mut statuses = std::collections::BTreeMap::new();
    for (request, answer) in send_all(&server, requests).await {
        let shown = String::from_utf8_lossy(&request);
        assert!(!holds(&answer, CANARY), "{shown}");
        assert!(!world.victims.iter().any(|one| holds(&answer, &one[21..])), "{shown}");
        let status = Response::parse(&answer).map_or(0, |answer| answer.status);
        *statuses.entry(status).or_insert(0) += 1;
        assert!(!(200..400).contains(&status), "{status}: {shown}");
        assert!(status < 500, "{status}: {shown}");
    }
    println!("{UNPROVED} without a proof, by status: {statuses:?}");
    assert!(statuses[&401] > UNPROVED / 3, "most come as far as the token");
    assert!(values(folder.path(), "") == before, "a byte of a tenant has changed");

    // Working tokens, and other tenants' values.
    let alices = values(folder.path(), "alice");
    let carols = dump(&server, &carol_token).await;
    let requests: Vec<Vec<u8>> = (0..STRANGERS)
        .map(|_| {
            let token = numbers.one(&world.strangers).clone();
            request(&mut numbers, format!("authorization: Bearer {token}\r\n").as_bytes())
        })
        .collect();
    let mut statuses = std::collections::BTreeMap::new();
    for (request, answer) in send_all(&server, requests).await {
        let shown = String::from_utf8_lossy(&request);
        assert!(!holds(&answer, CANARY), "{shown}");
        let status = Response::parse(&answer).map_or(0, |answer| answer.status);
        *statuses.entry(status).or_insert(0) += 1;
        assert!(status < 500, "{status}: {shown}");
    }
    println!("{STRANGERS} of strangers, by status: {statuses:?}");
    assert!(values(folder.path(), "alice") == alices, "a byte of alice's has changed");
    assert_eq!(dump(&server, &carol_token).await, carols, "a value of carol's has changed");
    assert!(
        statuses.keys().any(|status| (200..300).contains(status)),
        "strangers do work, at home"
    );
    server.send(&Request::new("GET", "/v1/objects/secret/1", &bob_token)).await;

    // The legitimate request, to show that the test could have failed.
    let put = Request::new("PUT", "/v1/objects/secret/1", &alice_token).json("{\"forged\":true}");
    server.send(&put).await.status(204);
    assert!(values(folder.path(), "alice") != alices, "a change would have been seen");
    assert_eq!(bob.id.as_str(), "bob");
    server.stop().await;
}

async fn dump(server: &Server, token: &str) -> String {
    let list = Request::new("GET", "/v1/objects?values=true", token);
    let text = server.send(&list).await.status(200).text();
    assert!(holds(text.as_bytes(), CANARY));
    text
}
