//! Puts a gateway under load and reports what it can take: ratios in one run, and a soak.
//!
//!     cargo run --release -p regauge-gateway --example load -- ratio|half|tenants|soak [SECONDS]
//!
//! The gateway runs in a separate process (this program again), so that its memory can be measured.
//! The client is as simple as possible, because both share the machine. The gateway has the default
//! configuration of `regauge serve`, except for the rate limit, which would cap a single tenant at
//! 20,000 requests a second, and for what a row's name says. Samples are appended to the file named
//! by `REGAUGE_BENCH_JSON`, for `tools/figures.py`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::response::IntoResponse as _;
use bytes::Bytes;
use regauge_gateway::server::{Config, Gateway, start};
use regauge_gateway::tenants::{Home, Limits, Place, Scope, Scopes, TenantId};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Bytes per value, as in a slice of measurements.
const VALUE_BYTES: usize = 14_336;
/// Values per tenant.
const VALUES: usize = 64;
/// Tenants in the comparison with a single one.
const TENANTS: usize = 1_000;
const CONNECTIONS: usize = 16;
const OK: &[u16] = &[200];

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = |place: usize| arguments.get(place).map_or("", String::as_str);
    let seconds = text(1).parse().unwrap_or(0);
    let runtime = tokio::runtime::Runtime::new()?;
    match text(0) {
        "server" => runtime.block_on(server(Path::new(text(1)), text(2))),
        "ratio" => runtime.block_on(ratio(seconds.max(3))),
        "half" => runtime.block_on(half(seconds.max(10))),
        "tenants" => runtime.block_on(tenants(seconds.max(3))),
        "soak" => runtime.block_on(soak(seconds.max(60))),
        _ => Err("expected ratio, half, tenants or soak, and a number of seconds".into()),
    }
}

/// Runs the gateway, plus an address that serves static bytes. `settings` are lines of
/// configuration.
async fn server(folder: &Path, settings: &str) -> Outcome {
    let mut config = Config { data: folder.to_owned(), ..Config::parse(settings)? };
    config.listen = SocketAddr::from(([127, 0, 0, 1], 0));
    (config.limits.rate, config.limits.burst) = (10_000_000, 10_000_000);
    let gateway = Gateway::open(config)?;
    let bytes = Bytes::from(value());
    let running = start(gateway, |router| {
        let fixed = move || {
            let bytes = bytes.clone();
            async move { ([("content-type", "application/json")], bytes).into_response() }
        };
        router.route("/bench/static", axum::routing::get(fixed))
    })
    .await?;
    println!("{}", running.address);
    std::io::stdout().flush()?;
    // Until the other process exits.
    tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new())).await??;
    running.stop().await?;
    Ok(())
}

/// Returns numbers that do not compress to nothing, as JSON.
fn value() -> Vec<u8> {
    let mut number = 88_172_645_463_325_252_u64;
    let mut text = b"[1".to_vec();
    while text.len() < VALUE_BYTES - 25 {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        text.extend_from_slice(format!(",{}", number >> 12).as_bytes());
    }
    text.push(b']');
    text
}

/// A gateway in a separate process.
struct World {
    child: Child,
    address: SocketAddr,
    tokens: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Drop for World {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

impl World {
    fn start(tenants: usize, settings: &str) -> Outcome<World> {
        let folder = tempfile::tempdir()?;
        let home = Home::open(folder.path())?;
        let ids: Vec<TenantId> =
            (0..tenants).map(|number| format!("t{number}").parse()).collect::<Result<_, _>>()?;
        let made =
            home.registry.create_many(&ids, Place::Own, "json".parse()?, Limits::default())?;
        let all: Vec<_> = made.iter().map(Some).collect();
        let scopes = Scopes::of(&[Scope::Read, Scope::Write]);
        let tokens = home.registry.add_tokens(&all, scopes, None)?;
        let document = value();
        // The same total number of values, for one tenant or many.
        let each = (TENANTS * 4 / tenants).clamp(4, VALUES * 100);
        for tenant in &made {
            let mut store = home.store(tenant)?;
            let keys: Vec<String> = (0..each).map(|number| format!("k{number}")).collect();
            let changes: Vec<(&[u8], Option<&[u8]>)> =
                keys.iter().map(|key| (key.as_bytes(), Some(&document[..]))).collect();
            store.put_many(&changes, regauge::Format::Json)?;
        }
        drop(home);
        let mut child = Command::new(std::env::current_exe()?)
            .args(["server".as_ref(), folder.path().as_os_str(), settings.as_ref()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let tokens = tokens.iter().map(|(_, text)| text.reveal().to_owned()).collect();
        Ok(World { address: line.trim().parse()?, child, tokens, _folder: folder })
    }

    fn get(&self, tenant: usize, key: usize) -> Vec<u8> {
        request("GET", &format!("/v1/objects/k{key}"), &self.tokens[tenant], b"")
    }

    /// Returns the number of files that the gateway has open.
    fn files(&self) -> u64 {
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.child.id()));
        open.map_or(0, |files| files.count() as u64)
    }

    fn resident_kb(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}

fn request(method: &str, path: &str, token: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A keep-alive connection.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    async fn open(address: SocketAddr) -> Outcome<Client> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Client { stream, buffer: Vec::with_capacity(64 << 10) })
    }

    /// Sends a request, reads the whole answer, and returns its status.
    async fn send(&mut self, request: &[u8]) -> Outcome<u16> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let mut whole = usize::MAX;
        let mut status = 0;
        while self.buffer.len() < whole {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err("the gateway closed the connection".into());
            }
            if whole == usize::MAX
                && let Some(end) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n")
            {
                let head = std::str::from_utf8(&self.buffer[..end])?;
                status = head.get(9..12).ok_or("no status")?.parse()?;
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                whole = end + 4 + length.map_or(Ok(0), str::parse)?;
            }
        }
        Ok(status)
    }
}

/// Sends requests as fast as they are answered; returns the rate per second, and the latencies.
async fn run(
    address: SocketAddr,
    duration: Duration,
    rate: Option<f64>,
    make: impl Fn(u64) -> (Arc<Vec<u8>>, &'static [u16]) + Send + Sync + 'static,
) -> Outcome<(f64, Vec<Duration>)> {
    let make = Arc::new(make);
    let stop = Arc::new(AtomicBool::new(false));
    let next = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        let (make, stop, next) = (make.clone(), stop.clone(), next.clone());
        clients.push(tokio::spawn(async move {
            let mut client = Client::open(address).await?;
            let mut took = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let (request, expected) = make(number);
                let mut start = Instant::now();
                if let Some(rate) = rate {
                    // Measured from when it was due: a slow gateway delays all the following
                    // requests.
                    start = begun + Duration::from_secs_f64(number as f64 / rate);
                    tokio::time::sleep_until(start.into()).await;
                }
                let status = client.send(&request).await?;
                if !expected.contains(&status) {
                    return Err(format!("answered {status}").into());
                }
                took.push(start.elapsed());
            }
            Outcome::Ok(took)
        }));
    }
    tokio::time::sleep(duration).await;
    stop.store(true, Ordering::Relaxed);
    let mut all = Vec::new();
    for client in clients {
        all.extend(client.await??);
    }
    Ok((all.len() as f64 / begun.elapsed().as_secs_f64(), all))
}

fn median(numbers: &[f64]) -> f64 {
    let mut numbers = numbers.to_vec();
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Saves samples for `tools/figures.py`, in the format that all benchmarks share.
fn record(table: &str, case: &str, route: &str, unit: &str, samples: &[f64]) -> Outcome {
    if let Some(path) = std::env::var_os("REGAUGE_BENCH_JSON") {
        let line = serde_json::json!({
            "table": table, "case": case, "route": route, "unit": unit, "samples": samples,
        });
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
        writeln!(file, "{line}")?;
    }
    Ok(())
}

const ROUNDS: usize = 7;
/// Settings that make every document come from the database.
const DATABASE: &str = "recent_bytes = 0";
/// The sources of answers: recently read documents, which is the default, and otherwise the
/// database.
const SOURCES: [(&str, &str); 2] = [("memory", ""), ("database", DATABASE)];

/// Measures GET of static bytes, of documents in memory, and of documents in the database.
async fn ratio(seconds: u64) -> Outcome {
    let fixed = Arc::new(request("GET", "/bench/static", "", b""));
    let mut worlds = Vec::new();
    for (name, settings) in SOURCES {
        let world = World::start(1, settings)?;
        let objects: Vec<_> = (0..VALUES).map(|key| Arc::new(world.get(0, key))).collect();
        worlds.push((name, world, objects, Vec::new()));
    }
    let address = worlds[0].1.address;
    let duration = Duration::from_secs(seconds);
    let mut statics = Vec::new();
    for round in 0..ROUNDS {
        let fixed = fixed.clone();
        statics.push(run(address, duration, None, move |_| (fixed.clone(), OK)).await?.0);
        for (name, world, objects, rates) in &mut worlds {
            let objects = objects.clone();
            let all = move |number: u64| (objects[number as usize % VALUES].clone(), OK);
            rates.push(run(world.address, duration, None, all).await?.0);
            println!("round {round}: {name}, {:.3} of static", rates[round] / statics[round]);
        }
    }
    for (name, _, _, rates) in worlds {
        record("get", name, "static bytes", "1/s", &statics)?;
        record("get", name, "regauge", "1/s", &rates)?;
        let (object, fixed) = (median(&rates), median(&statics));
        println!(
            "GET of {VALUE_BYTES} bytes from {name}: {object:.0}/s, {:.2}x static bytes",
            object / fixed
        );
    }
    Ok(())
}

async fn half(seconds: u64) -> Outcome {
    for (name, settings) in SOURCES {
        let world = World::start(1, settings)?;
        let objects: Vec<_> = (0..VALUES).map(|key| Arc::new(world.get(0, key))).collect();
        let all = move |number: u64| (objects[number as usize % VALUES].clone(), OK);
        let brief = Duration::from_secs(seconds / 2);
        let most = run(world.address, brief, None, all.clone()).await?.0;
        let duration = Duration::from_secs(seconds);
        let (rate, mut took) = run(world.address, duration, Some(most / 2.0), all).await?;
        took.sort();
        let at = |part: f64| took[((took.len() - 1) as f64 * part) as usize];
        println!(
            "from {name} at {rate:.0}/s, half of {most:.0}/s: p50 {:?}, p99 {:?}, p99.9 {:?}, \
             longest {:?}",
            at(0.5),
            at(0.99),
            at(0.999),
            at(1.0)
        );
        record("half", name, "rate", "1/s", &[rate])?;
        for (route, part) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
            record("half", name, route, "ms", &[at(part).as_secs_f64() * 1e3])?;
        }
    }
    Ok(())
}

/// Compares many tenants with one that has the same number of values, requests and distinct
/// requests.
async fn tenants(seconds: u64) -> Outcome {
    let few = format!("{DATABASE}\nopen_tenants = {}", TENANTS / 4);
    let rows = [("memory", ""), ("database", DATABASE), ("database, a quarter open", &few)];
    for (name, settings) in rows {
        against_one(name, settings, Duration::from_secs(seconds)).await?;
    }
    Ok(())
}

async fn against_one(name: &str, settings: &str, duration: Duration) -> Outcome {
    let (one, many) = (World::start(1, settings)?, World::start(TENANTS, settings)?);
    let before = (many.resident_kb(), many.files());
    let values = TENANTS * 4;
    let single: Vec<_> = (0..values).map(|number| Arc::new(one.get(0, number))).collect();
    let several: Vec<_> =
        (0..values).map(|number| Arc::new(many.get(number % TENANTS, number / TENANTS))).collect();
    let (mut ones, mut manys) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (single, several) = (single.clone(), several.clone());
        let next = move |number: u64| (single[number as usize % values].clone(), OK);
        let first = run(one.address, duration, None, next).await?.0;
        let next = move |number: u64| (several[number as usize % values].clone(), OK);
        let second = run(many.address, duration, None, next).await?.0;
        // The first opens the files.
        if round > 0 {
            println!("round {round}: 1 tenant {first:.0}/s, {TENANTS} tenants {second:.0}/s");
            ones.push(first);
            manys.push(second);
        }
    }
    let cost = 1.0 - median(&manys) / median(&ones);
    println!("{name}: {TENANTS} tenants cost {:.1}% against one", cost * 100.0);
    record("tenants", name, "1 tenant", "1/s", &ones)?;
    record("tenants", name, "1,000 tenants", "1/s", &manys)?;
    let more = |after: u64, before: u64| after.saturating_sub(before) as f64 / TENANTS as f64;
    let (kb, files) = (more(many.resident_kb(), before.0), more(many.files(), before.1));
    println!("{name}: {kb:.0} KB and {files:.1} files a tenant");
    record("tenants", name, "memory of a tenant", "KB", &[kb])?;
    record("tenants", name, "files of a tenant", "files", &[files])
}

async fn soak(seconds: u64) -> Outcome {
    let world = Arc::new(World::start(100, "")?);
    let document = value();
    // Seven reads, two writes and a miss for each tenant.
    let mut requests: Vec<(Arc<Vec<u8>>, &'static [u16])> = Vec::new();
    for tenant in 0..100 {
        for key in 0..7 {
            requests.push((Arc::new(world.get(tenant, key % 4)), OK));
        }
        let token = &world.tokens[tenant];
        for key in 0..2 {
            let path = format!("/v1/objects/k{key}");
            requests.push((Arc::new(request("PUT", &path, token, &document)), &[201, 204]));
        }
        requests.push((Arc::new(request("GET", "/v1/objects/none", token, b"")), &[404]));
    }
    let watched = world.clone();
    let resident = Arc::new(Mutex::new(Vec::new()));
    let seen = resident.clone();
    let watching = tokio::spawn(async move {
        let begun = Instant::now();
        loop {
            let (at, mb) = (begun.elapsed().as_secs(), watched.resident_kb() as f64 / 1024.0);
            println!("{at:>5} s {mb:>7.1} MB");
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(mb);
            tokio::time::sleep(Duration::from_secs(30)).await;
        }
    });
    let count = requests.len();
    let next = move |number: u64| requests[(number as usize).wrapping_mul(7_919) % count].clone();
    let (rate, mut took) = run(world.address, Duration::from_secs(seconds), None, next).await?;
    watching.abort();
    took.sort();
    let p99 = took[(took.len() - 1) * 99 / 100];
    println!(
        "{seconds} s, {} requests, {rate:.0}/s, p99 {p99:?}, {:.1} MB at the end",
        took.len(),
        world.resident_kb() as f64 / 1024.0
    );
    record("soak", "all", "requests", "1", &[took.len() as f64])?;
    record("soak", "all", "seconds", "s", &[seconds as f64])?;
    let resident = resident.lock().unwrap_or_else(PoisonError::into_inner);
    for (route, mb) in [
        ("resident at two thirds", resident.get(resident.len() * 2 / 3)),
        ("resident at the end", resident.last()),
    ] {
        record("soak", "all", route, "MB", &[mb.copied().unwrap_or_default()])?;
    }
    Ok(())
}
