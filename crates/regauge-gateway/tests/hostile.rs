//! Clients that send too much, too slowly, too many requests at once, or something that expands.

mod common;

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Request, Response, Server, raw};
use regauge_gateway::tenants::{Place, Scope};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Returns the resident memory of this process, in MB.
fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

fn head(method: &str, path: &str, token: &str, more: &str) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\n{more}\r\n"
    )
    .into_bytes()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), |config| config.limits.body_bytes = 1 << 20).await;
    let (_, token) = server.both("t", Place::Own, "json");
    let before = resident_mb();
    // Announced in Content-Length.
    let request = head("PUT", "/v1/objects/k", &token, "content-length: 99999999999\r\n");
    let answer = Response::parse(&raw(server.address, &request).await).unwrap();
    answer.status(413);
    // Not announced: chunk after chunk.
    let mut request = head("PUT", "/v1/objects/k", &token, "transfer-encoding: chunked\r\n");
    for _ in 0..64 {
        request.extend_from_slice(b"40000\r\n");
        request.extend_from_slice(&[b'1'; 0x40000]);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"0\r\n\r\n");
    let answer = raw(server.address, &request).await;
    // The server closes while the client is still sending, so the answer may be lost.
    if let Some(answer) = Response::parse(&answer) {
        answer.status(413);
    }
    for (more, name) in [
        ((0..100).map(|number| format!("x-{number}: 1\r\n")).collect::<String>(), "many headers"),
        (format!("x: {}\r\n", "y".repeat(20 << 10)), "a long header"),
    ] {
        let request = head("GET", "/v1/objects/k", &token, &more);
        let answer = Response::parse(&raw(server.address, &request).await);
        assert_eq!(answer.expect(name).status, 431, "{name}");
    }
    let path = format!("/v1/objects/{}", "k".repeat(70_000));
    let answer = raw(server.address, &head("GET", &path, &token, "")).await;
    let status = Response::parse(&answer).expect("a long address").status;
    assert!(matches!(status, 414 | 431), "{status}");
    assert!(resident_mb() < before + 64, "{before} MB became {}", resident_mb());
    server.send(&Request::new("GET", "/v1/objects/k", &token)).await.status(404);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_too_slow_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), |config| {
        config.connections.header_seconds = 1;
        config.connections.body_seconds = 1;
    })
    .await;
    let (_, token) = server.both("t", Place::Own, "json");
    let drip = async |start: Vec<u8>, byte: &[u8]| {
        let begun = Instant::now();
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(&start).await.unwrap();
        let mut answer = Vec::new();
        // A byte now and then, forever.
        loop {
            let read =
                tokio::time::timeout(Duration::from_millis(100), stream.read_buf(&mut answer));
            match read.await {
                Ok(Ok(0) | Err(_)) => break,
                Ok(Ok(_)) => {}
                Err(_) => {
                    if stream.write_all(byte).await.is_err() {
                        break;
                    }
                }
            }
            assert!(begun.elapsed() < Duration::from_secs(10), "nobody gives up");
        }
        answer
    };
    drip(b"GET /health HTTP/1.1\r\n".to_vec(), b"x").await;
    drip(Vec::new(), b"\r\n").await;
    let body = head("PUT", "/v1/objects/k", &token, "content-length: 1000\r\n");
    let answer = Response::parse(&drip(body, b" ").await).expect("an answer to a slow body");
    answer.status(408);
    server.send(&Request::new("GET", "/v1/objects/k", &token)).await.status(404);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_idle_connections_are_no_trouble() {
    regauge_os::raise_open_files();
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), |config| config.connections.max = 1_050).await;
    let (_, token) = server.both("t", Place::Own, "json");
    server.send(&Request::new("PUT", "/v1/objects/k", &token).json("1")).await.status(201);
    let before = resident_mb();
    let mut idle = Vec::new();
    for number in 0..1_000 {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        // Half of them send something first.
        if number % 2 == 0 {
            stream.write_all(b"GET /he").await.unwrap();
        }
        idle.push(stream);
    }
    let begun = Instant::now();
    for _ in 0..50 {
        let got = server.send(&Request::new("GET", "/v1/objects/k", &token)).await;
        assert_eq!(got.status(200).text(), "1");
    }
    let each = begun.elapsed() / 50;
    println!("beside 1,000 idle connections a request takes {each:?}");
    assert!(each < Duration::from_millis(100), "{each:?}");
    assert!(resident_mb() < before + 100, "{before} MB became {}", resident_mb());
    // One beyond the limit is closed, and the next finds room once others have gone.
    for _ in 0..100 {
        idle.push(TcpStream::connect(server.address).await.unwrap());
    }
    assert!(raw(server.address, b"GET /health HTTP/1.1\r\n\r\n").await.is_empty());
    drop(idle);
    let begun = Instant::now();
    while raw(server.address, b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .await
        .is_empty()
    {
        assert!(begun.elapsed() < Duration::from_secs(5), "the gateway does not recover");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_swells_is_refused_in_bounded_memory() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), |config| {
        config.limits.converted_bytes = 8 << 20;
    })
    .await;
    let (tenant, token) = server.both("t", Place::Own, "json");
    let (_, yaml_token) = server.both("y", Place::Own, "yaml");
    let before = resident_mb();
    let begun = Instant::now();
    // Ten levels of ten aliases each: ten billion values.
    let mut laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..10 {
        let inner = format!("*a{}", level - 1);
        laughs += &format!("a{level}: &a{level} [{}]\n", [&*inner; 10].join(","));
    }
    // One long text, referenced a thousand times.
    let long = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 1_000].join(","));
    // The same in Ruby's Marshal: an array of links to its first element.
    let mut marshal = b"\x04\x08[\x02\xE8\x03\"\x03\x00\x00\x10".to_vec();
    marshal.extend_from_slice(&[b'x'; 1 << 20]);
    for _ in 0..999 {
        marshal.extend_from_slice(b"@\x06");
    }
    // And in pickle: a text that is memoized, and fetched from the memo again and again.
    let mut pickle = b"\x80\x04](X\x00\x00\x10\x00".to_vec();
    pickle.extend_from_slice(&[b'x'; 1 << 20]);
    pickle.extend_from_slice(b"\x94");
    pickle.extend_from_slice(&b"h\x00".repeat(999));
    pickle.extend_from_slice(b"e.");
    for (media, body) in [
        ("application/yaml", laughs.as_bytes()),
        ("application/yaml", long.as_bytes()),
        ("application/x-ruby-marshal", &marshal),
        ("application/x-python-pickle", &pickle),
    ] {
        let put = Request::new("PUT", "/v1/objects/k", &token).body(media, body);
        let refused = server.send(&put).await;
        assert!(
            matches!(refused.status, 413 | 422),
            "{media} {} {}",
            refused.status,
            refused.text()
        );
        assert!(refused.body.len() < 10_000);
    }
    // If the tenant's codec has references it is stored, but refused to clients that want it
    // written out.
    let put =
        Request::new("PUT", "/v1/objects/k", &yaml_token).body("application/yaml", long.as_bytes());
    if server.send(&put).await.status == 201 {
        let get = Request::new("GET", "/v1/objects/k", &yaml_token);
        server.send(&get.with("accept", "application/json")).await.status(406);
    }
    // A compressed body is not inspected.
    let bomb = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        for _ in 0..64 {
            encoder.write_all(&vec![b' '; 1 << 20]).unwrap();
        }
        encoder.finish().unwrap()
    };
    for encoding in ["gzip", "zstd", "br", "deflate", "gzip, gzip", "identity, gzip"] {
        let put = Request::new("PUT", "/v1/objects/k", &token)
            .body("application/json", &bomb)
            .with("content-encoding", encoding);
        server.send(&put).await.status(415);
    }
    let batch = format!("{{\"operations\":{}}}", "[".repeat(100_000));
    let batch = Request::new("POST", "/v1/batch", &token).json(&batch);
    server.send(&batch).await.status(413);
    let grown = resident_mb().saturating_sub(before);
    println!("bombs took {:?} and {grown} MB", begun.elapsed());
    assert!(grown < 256, "{before} MB became {}", resident_mb());
    let reader = server.token(Some(&tenant), &[Scope::Read], None);
    server.send(&Request::new("GET", "/v1/objects/k", &reader)).await.status(404);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_under_way_comes_to_its_end_when_the_gateway_stops() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), |_| ()).await;
    let (_, token) = server.both("t", Place::Own, "json");
    let address = server.address;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut start = head("PUT", "/v1/objects/k", &token, "content-length: 9\r\n");
    start.extend_from_slice(b"[1,2");
    stream.write_all(&start).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let stopping = tokio::spawn(server.stop());
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(TcpStream::connect(address).await.is_err(), "nobody is let in any more");
    stream.write_all(b",3,4]").await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    Response::parse(&answer).unwrap().status(201);
    stopping.await.unwrap();
    let server = Server::start(folder.path(), |_| ()).await;
    let get = Request::new("GET", "/v1/objects/k", &token);
    assert_eq!(server.send(&get).await.status(200).text(), "[1,2,3,4]");
    server.stop().await;
}

/// Sends a GET over TLS, trusting only this certificate.
fn over_tls(address: std::net::SocketAddr, certificate: &str) -> Result<String, String> {
    use rustls::pki_types::pem::PemObject as _;
    let mut roots = rustls::RootCertStore::empty();
    let der = rustls::pki_types::CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
    roots.add(der).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "localhost".try_into().unwrap();
    let connection = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let socket = std::net::TcpStream::connect(address).map_err(|error| error.to_string())?;
    let mut stream = rustls::StreamOwned::new(connection, socket);
    stream
        .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .map_err(|error| error.to_string())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(|error| error.to_string())?;
    Ok(answer)
}

/// Asks as `regauge serve --ready` does, with this configuration.
async fn asked(configuration: &str) -> Result<(), String> {
    let config = regauge_gateway::server::Config::parse(configuration).unwrap();
    let asked = move || regauge_gateway::server::ask_ready(&config);
    tokio::task::spawn_blocking(asked).await.unwrap().map_err(|error| error.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn whether_it_is_ready_can_be_asked() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), |_| ()).await;
    let here = format!("listen = '{}'", server.address);
    asked(&here).await.unwrap();
    // What listens on all addresses is asked on the loopback interface.
    asked(&format!("listen = '0.0.0.0:{}'", server.address.port())).await.unwrap();
    server.stop().await;
    assert!(asked(&here).await.unwrap_err().contains("whether it is ready"));
    // Whatever else listens there is not the gateway.
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let there = format!("listen = '{}'", other.local_addr().unwrap());
    let answers = std::thread::spawn(move || {
        for answer in ["", "HTTP/1.1 503 Service Unavailable\r\n\r\n"] {
            let (mut stream, _) = other.accept().unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    assert!(asked(&there).await.unwrap_err().contains("it closed the connection"));
    assert!(asked(&there).await.unwrap_err().contains("503 Service Unavailable"));
    answers.join().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_is_spoken_and_its_certificate_can_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("c.pem"), folder.path().join("k.pem"));
    let make = || {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        std::fs::write(&certificate, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        made.cert.pem()
    };
    let first = make();
    let server = Server::start(folder.path(), |config| {
        let text = "[tls]\ncertificate = 'c.pem'\nkey = 'k.pem'";
        config.tls = regauge_gateway::server::Config::parse(text).unwrap().tls;
        let tls = config.tls.as_mut().unwrap();
        (tls.certificate, tls.key) = (certificate.clone(), key.clone());
    })
    .await;
    let address = server.address;
    let ask = async |trusted: &str| {
        let trusted = trusted.to_owned();
        tokio::task::spawn_blocking(move || over_tls(address, &trusted)).await.unwrap()
    };
    let ready = async || {
        let text = format!(
            "listen = '{address}'\n[tls]\ncertificate = '{}'\nkey = 'k.pem'",
            certificate.display()
        );
        asked(&text).await
    };
    assert!(ask(&first).await.unwrap().starts_with("HTTP/1.1 200"));
    ready().await.unwrap();
    let second = make();
    assert!(ask(&second).await.is_err(), "not before it is told");
    let error = ready().await.unwrap_err();
    assert!(error.contains("found another certificate than that of the configuration"), "{error}");
    server.reload().unwrap();
    assert!(ask(&second).await.unwrap().starts_with("HTTP/1.1 200"));
    ready().await.unwrap();
    assert!(ask(&first).await.is_err());
    // A broken certificate changes nothing.
    std::fs::write(&certificate, "nothing").unwrap();
    assert!(server.reload().unwrap_err().to_string().contains("found no certificate"));
    assert!(ask(&second).await.unwrap().starts_with("HTTP/1.1 200"));
    // A client without TLS gets nothing.
    let plain = raw(address, b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(!plain.starts_with(b"HTTP/1.1 200"));
    server.stop().await;
}
